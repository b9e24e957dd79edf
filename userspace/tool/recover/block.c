// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block in an image of memory: is it one, and what of it is good?
 *
 * A block that is complete must be so to the last element.  One that was being written
 * has, in any order, events that are committed, events that were begun, which say how long they
 * are or do not even that (holes), and what earlier blocks have left behind.  An event is taken if
 *
 *   its first word carries the number of this block, and fits;
 *   it is not before the one that was taken last, nor after the next;
 *   it is where the one before it ends; or, behind a hole, what follows it, event by event,
 *   leads exactly to where the ring says that this block ends, or to the padding of one that
 *   was closed; or, between holes, it is in time between those that are sure.
 *
 * Numbers come again every 64 blocks, and may be those of what was there before: it is the time
 * that tells then.  Without the ring's word the good part ends at the first thing that is no event.
 */
#include <stdlib.h>
#include <string.h>
#include "recover.h"

#define LOG2_MIN		10	/* 64 elements */
#define LOG2_MAX		20
#define DURABLE_LOG2_MIN	12
#define DURABLE_LOG2_MAX	14
#define ELEMENTS_MAX		(RECOVER_BLOCK_MAX / TB_ELEMENT_SIZE)

int64_t recover_header(const void *data, size_t bytes, uint64_t address)
{
	const struct tb_block *block = data;
	bool durable = block->kind == TB_BLOCK_DURABLE;
	int64_t size;

	if (block->version != TB_BLOCK_VERSION || (!durable && block->kind != TB_BLOCK_ROLLING) ||
	    block->flags & ~(TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED | TB_BLOCK_GAP |
			     TB_BLOCK_UNSETTLED) ||
	    block->size_log2 < (durable ? DURABLE_LOG2_MIN : LOG2_MIN) ||
	    block->size_log2 > (durable ? DURABLE_LOG2_MAX : LOG2_MAX))
		return -1;
	size = 1ll << block->size_log2;
	/* durable ones are cut to what they need, and the next begins there */
	if (address % (uint64_t)(durable ? 1 << DURABLE_LOG2_MIN : size))
		return -1;
	return (size_t)size > bytes ? 0 : size;
}

/* ---- elements ---- */

static const struct tb_element *element(const struct tb_block *block, uint32_t at)
{
	return (const struct tb_element *)block + at;
}

/* May an event of this id be in such a block, in this form? */
static bool id_fits(const struct tb_block *block, uint32_t id, bool simple)
{
	if (block->kind == TB_BLOCK_DURABLE)
		return !simple && id >= TB_EV_CLOCK && id < TB_EV_SYMBOL;
	if (id == TB_EV_TIME)
		return simple;
	if (id <= TB_EV_STRUCTURAL_LAST)
		return !simple && (id == TB_EV_STACK || id == TB_EV_COUNTERS);
	if (id < TB_EV_USER)
		return !simple && id <= TB_EV_PATCH;
	return true;
}

/* Elements of what is at @at, committed or begun, if it can be an event of this block; else 0 */
static uint32_t length_at(const struct tb_block *block, uint32_t at, uint32_t end)
{
	const struct tb_composite *composite = (const void *)element(block, at);
	uint32_t head = composite->head, length = TB_HEAD_LENGTH(head);

	if (TB_HEAD_SEQ(head) != (block->sequence & 0x3f) || !length || length > end - at)
		return 0;
	switch (TB_HEAD_STRUCT(head)) {
	case TB_STRUCT_RESERVED:
		return TB_HEAD_ID(head) ? 0 : length;
	case TB_STRUCT_SIMPLE:
		return id_fits(block, TB_HEAD_ID(head), true) ? length : 0;
	case TB_STRUCT_COMPOSITE:
		return composite->length <= (length - 1) * TB_ELEMENT_SIZE &&
		       id_fits(block, TB_HEAD_ID(head), false) ? length : 0;
	}
	return 0;
}

/* The padding of a block that was closed */
static bool pad_at(const struct tb_block *block, uint32_t at)
{
	uint32_t rest = (1u << block->size_log2) / TB_ELEMENT_SIZE - at;

	return element(block, at)->head ==
	       TB_HEAD(TB_STRUCT_PAD, TB_EV_NONE, rest < TB_EVENT_ELEMENTS_MAX ?
		       rest : TB_EVENT_ELEMENTS_MAX, block->sequence);
}

static bool is_time(uint32_t head)
{
	return TB_HEAD_STRUCT(head) == TB_STRUCT_SIMPLE && TB_HEAD_ID(head) == TB_EV_TIME;
}

/* ---- the way through a block that was being written ---- */

/**
 * struct way - which elements lead to the end
 * @block: of which block
 * @end: elements that may have something of it
 * @leads: [at]: from the event there, one leads to the next, and the last to the end
 * @bounded: [at]: events from there on are not before @time[at], which has the same upper half
 * @time: low half of the time of the first event that leads to the end from there on
 */
struct way {
	const struct tb_block *block;
	uint32_t end;
	unsigned char leads[ELEMENTS_MAX + 1];
	unsigned char bounded[ELEMENTS_MAX + 1];
	uint32_t time[ELEMENTS_MAX + 1];
};

/* The least that the low half of a time in the block can be: until the upper half moves, that of its start */
static uint32_t least_time(const struct tb_block *block, uint32_t end)
{
	uint32_t at;

	for (at = TB_BLOCK_FIRST_ELEMENT; at < end; at++)
		if (is_time(element(block, at)->head) && length_at(block, at, end) &&
		    (uint32_t)element(block, at)->payload == element(block, at)->time &&
		    element(block, at)->payload >> 32 > block->time_start >> 32)
			return 0;
	return (uint32_t)block->time_start;
}

/* Backwards, so each element is looked at once.  Times between two upper halves of the clock only go up */
static void way_find(struct way *way, const struct tb_block *block, uint32_t end)
{
	uint32_t at, next, length, head, least = least_time(block, end);

	way->block = block;
	way->end = end;
	way->leads[end] = 1;
	way->bounded[end] = 0;
	for (at = end; at-- > TB_BLOCK_FIRST_ELEMENT; ) {
		/* as what comes next, if there is nothing here */
		way->bounded[at] = way->bounded[at + 1];
		way->time[at] = way->time[at + 1];
		way->leads[at] = pad_at(block, at);
		if (way->leads[at])
			way->bounded[at] = 0;
		length = length_at(block, at, end);
		next = at + length;
		if (!length || !way->leads[next])
			continue;
		head = element(block, at)->head;
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_RESERVED) {
			way->leads[at] = 1;
			way->bounded[at] = way->bounded[next];
			way->time[at] = way->time[next];
		} else if (element(block, at)->time >= least &&
			   (!way->bounded[next] || element(block, at)->time <= way->time[next])) {
			way->leads[at] = 1;
			way->bounded[at] = !is_time(head);
			way->time[at] = element(block, at)->time;
		}
	}
}

/* Time of the event at @at after one at @last, or 0 if it cannot be after that */
static uint64_t time_at(const struct tb_block *block, uint32_t at, uint64_t last)
{
	const struct tb_element *e = element(block, at);
	uint64_t time = (last & ~0xffffffffull) | e->time;

	if (is_time(e->head)) {
		if ((uint32_t)e->payload != e->time)
			return 0;
		time = e->payload;
	}
	return time >= last ? time : 0;
}

enum what {
	NOTHING,	/* that is of this block */
	BEGUN,		/* an event that was, and says how long it is */
	EVENT,
	END,		/* of the block: its padding */
};

/* What is at @at, behind an event at @last.  @sure: it is where something begins */
static enum what what_at(const struct way *way, uint32_t at, uint64_t last, bool sure)
{
	uint32_t length = length_at(way->block, at, way->end), next = at + length;

	if (way->leads[at] && pad_at(way->block, at))
		return END;
	if (!length || (!sure && !way->leads[at] && !way->bounded[next]))
		return NOTHING;
	if (TB_HEAD_STRUCT(element(way->block, at)->head) == TB_STRUCT_RESERVED)
		return sure || way->leads[at] ? BEGUN : NOTHING;
	if (!time_at(way->block, at, last))
		return NOTHING;
	/* what is later than what is behind it is what was there before */
	if (!way->leads[at] && way->bounded[next] && !is_time(element(way->block, at)->head) &&
	    element(way->block, at)->time > way->time[next])
		return NOTHING;
	return EVENT;
}

/* ---- copying what is good ---- */

struct copy {
	struct tb_block *out;
	uint32_t used;			/* elements */
	uint64_t last;			/* time of the last event */
	uint64_t most;			/* time of the latest that can be */
	bool     follows;		/* what belongs to an event can belong to the last one */
};

static void copy_event(struct copy *copy, const struct tb_block *block, uint32_t at, uint32_t length)
{
	uint32_t head = element(block, at)->head, id = TB_HEAD_ID(head);

	copy->last = time_at(block, at, copy->last);
	/* without the event that they are of they would be another's */
	if ((id == TB_EV_STACK || id == TB_EV_COUNTERS) && !copy->follows)
		return;
	memcpy((struct tb_element *)copy->out + copy->used, element(block, at),
	       (size_t)length * TB_ELEMENT_SIZE);
	copy->used += length;
	if (id > TB_EV_STRUCTURAL_LAST) {
		copy->out->events++;
		copy->follows = true;
	}
}

/* Where its events begin.  That of who was replacing the header was not committed before */
static uint32_t first_of(const struct recover_block *found)
{
	if (found->kind == TB_BLOCK_DURABLE)
		return TB_BLOCK_HEADER_ELEMENTS;
	return TB_BLOCK_FIRST_ELEMENT +
	       (found->opening ? TB_BLOCK_OPENING_ELEMENTS(found->opening) : 0);
}

/* With the ring's word: up to element @end */
static void copy_all(struct copy *copy, struct recover_block *found, const struct tb_block *block,
		     uint32_t end)
{
	static struct way way;
	uint32_t at = first_of(found), length;
	bool sure = true;
	enum what what;

	way_find(&way, block, end);
	for (; at < end; at += length) {
		what = what_at(&way, at, copy->last, sure);
		if (what == END)
			break;
		if (what == NOTHING) {
			/* a hole; behind it something begins, but nobody says where */
			found->unfinished += sure;
			copy->follows = false;
			sure = false;
			length = 1;
			continue;
		}
		sure = true;
		length = length_at(block, at, end);
		if (what == EVENT) {
			copy_event(copy, block, at, length);
		} else {
			found->unfinished++;
			copy->follows = false;
		}
	}
}

/* Without: as far as it is clear */
static void copy_first(struct copy *copy, struct recover_block *found,
		       const struct tb_block *block, uint32_t end)
{
	uint32_t at = first_of(found), length;

	while (at < end && (length = length_at(block, at, end))) {
		if (TB_HEAD_STRUCT(element(block, at)->head) == TB_STRUCT_RESERVED) {
			found->unfinished++;
			copy->follows = false;
		} else if (time_at(block, at, copy->last) &&
			   time_at(block, at, copy->last) <= copy->most) {
			copy_event(copy, block, at, length);
		} else {
			break;
		}
		at += length;
	}
}

bool recover_extract(const struct tb_block *block, struct recover_block *found, struct tb_block *out)
{
	uint32_t elements = (1u << found->log2) / TB_ELEMENT_SIZE, end = elements, rest;
	struct copy copy = { .out = out, .last = block->time_start, .most = UINT64_MAX };
	struct tb_element *pad;

	if (found->state == RECOVER_WHOLE) {
		memcpy(out, block, 1u << found->log2);
		return true;
	}
	memset(out, 0, 1u << found->log2);
	copy.used = block->kind == TB_BLOCK_DURABLE ? TB_BLOCK_HEADER_ELEMENTS : TB_BLOCK_FIRST_ELEMENT;
	memcpy(out, block, copy.used * TB_ELEMENT_SIZE);
	out->events = 0;
	found->unfinished = found->opening != 0;
	/* what is later is of the next lap */
	if (found->state == RECOVER_DAMAGED)
		copy.most = block->time_end;
	if (block->data >= sizeof(*block) && block->data / TB_ELEMENT_SIZE < end)
		end = block->data / TB_ELEMENT_SIZE;
	if (found->state == RECOVER_OPEN && found->limit)
		copy_all(&copy, found, block, found->limit < elements ? found->limit : elements);
	else
		copy_first(&copy, found, block, end);
	out->data = copy.used * TB_ELEMENT_SIZE;
	out->time_end = copy.last;
	out->flags = TB_BLOCK_COMPLETE;
	rest = elements - copy.used;
	if (rest) {
		out->flags |= TB_BLOCK_FLUSHED;
		pad = (struct tb_element *)out + copy.used;
		pad->head = TB_HEAD(TB_STRUCT_PAD, TB_EV_NONE, rest < TB_EVENT_ELEMENTS_MAX ?
				    rest : TB_EVENT_ELEMENTS_MAX, out->sequence);
	}
	found->events = out->events;
	found->end = copy.last;
	return true;
}

/* ---- is it one? ---- */

static bool gap_slot(const struct tb_block *block)
{
	const struct tb_composite *slot = (const void *)(block + 1);

	return slot->head == TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS, block->sequence) &&
	       slot->length == sizeof(struct tb_gap) && slot->tid == block->tid &&
	       slot->time == (uint32_t)block->time_start;
}

static bool whole(const struct tb_block *block)
{
	uint64_t last = block->time_start;
	struct tb_walk walk;
	uint32_t events = 0;
	int step;

	if (block->time_end < block->time_start)
		return false;
	tb_walk_start(&walk, block);
	while ((step = tb_walk_next(&walk)) == 1) {
		if (walk.ticks < last || walk.ticks > block->time_end)
			return false;
		last = walk.ticks;
		if (walk.index != TB_BLOCK_HEADER_ELEMENTS || block->kind == TB_BLOCK_DURABLE)
			if (!id_fits(block, walk.id, walk.structure == TB_STRUCT_SIMPLE))
				return false;
		events += walk.id > TB_EV_STRUCTURAL_LAST;
	}
	return !step && events == block->events;
}

bool recover_check(const struct tb_block *block, struct recover_block *found)
{
	const struct tb_gap *gap = (const void *)((const struct tb_composite *)(block + 1) + 1);
	bool durable = block->kind == TB_BLOCK_DURABLE;
	uint32_t first = durable ? sizeof(*block) : TB_BLOCK_FIRST_ELEMENT * TB_ELEMENT_SIZE;

	memset(found, 0, sizeof(*found));
	found->recording = durable ? block->overwritten : gap->recording;
	found->sequence = block->sequence;
	found->provider = block->provider;
	found->cpu = block->cpu;
	found->kind = block->kind;
	found->log2 = block->size_log2;
	if (!durable && block->sequence & TB_BLOCK_OPENING) {
		/* nothing else is to be believed */
		found->opening = block->sequence;
		found->sequence = TB_BLOCK_OPENING_NUMBER(block->sequence);
		found->start = block->time_start;
		found->end = block->time_start;
		found->state = RECOVER_OPEN;
		found->data = 1u << block->size_log2;
		return true;
	}
	if (durable ? block->cpu || block->dropped : !gap_slot(block))
		return false;
	if ((durable || block->flags & TB_BLOCK_COMPLETE) &&
	    (block->data < first || block->data > 1u << block->size_log2 ||
	     block->data % TB_ELEMENT_SIZE))
		return false;
	found->start = block->time_start;
	found->end = block->time_start;
	found->dropped = block->dropped;
	if (durable)
		found->init = TB_HEAD_ID(element(block, TB_BLOCK_HEADER_ELEMENTS)->head) == TB_EV_INIT;
	if (!(block->flags & TB_BLOCK_COMPLETE)) {
		found->state = RECOVER_OPEN;
		/* all of it is the ring's */
		found->data = durable ? 0 : 1u << block->size_log2;
	} else if (whole(block)) {
		found->state = RECOVER_WHOLE;
		found->events = block->events;
		found->end = block->time_end;
		found->data = block->data;
	} else {
		found->state = RECOVER_DAMAGED;
	}
	return true;
}
