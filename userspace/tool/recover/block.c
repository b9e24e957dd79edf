// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check whether memory has a block, and find its valid part.
 *
 * A complete block must be valid up to its last element.  A block that was being written has, in
 * any order, committed events, begun events (with a length, or without: holes), and leftovers of
 * earlier laps.  An event is valid if its first word has the low bits of the block's number and a
 * length that fits, if its time is between its valid neighbours' times, and if its place is certain
 * (classify()).  Numbers repeat every 64 blocks: then only times reveal leftovers.  Without the
 * ring's head the valid part ends at the first element that is not an event.
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
	/* durable blocks are cut to what they need, so the next begins at any 4 KiB */
	if (address % (uint64_t)(durable ? 1 << DURABLE_LOG2_MIN : size))
		return -1;
	return (size_t)size > bytes ? 0 : size;
}

/* ---- elements ---- */

static const struct tb_element *element(const struct tb_block *block, uint32_t at)
{
	return (const struct tb_element *)block + at;
}

/* May a block of this kind have an event of this id, in this form? */
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

/* Length of the event at @at, committed or begun; 0: no event of this block can be there */
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

/* Is the padding of a block that was closed at @at? */
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

/* ---- chains of events in a block that was being written ---- */

/**
 * struct event_chain - the elements from which a chain of events leads to the end
 * @block: the block
 * @end: number of elements that may have events of this lap
 * @leads: [at]: each event from @at on ends where the next begins, and the last one at @end or at
 *	the padding
 * @bounded: [at]: events of a chain from @at on are not before @time[at], which has the same upper
 *	half
 * @time: [at]: low half of the time of the first event of a chain from @at on
 */
struct event_chain {
	const struct tb_block *block;
	uint32_t end;
	unsigned char leads[ELEMENTS_MAX + 1];
	unsigned char bounded[ELEMENTS_MAX + 1];
	uint32_t time[ELEMENTS_MAX + 1];
};

/* The lowest low half of a time: that of the block's start, or 0 if the upper half changes in it */
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

/*
 * Fill in @chain backwards, so that each element is read once.  Low halves of times go up from
 * event to event, until the upper half changes.
 */
static void find_chains(struct event_chain *chain, const struct tb_block *block, uint32_t end)
{
	uint32_t at, next, length, head, least = least_time(block, end);

	chain->block = block;
	chain->end = end;
	chain->leads[end] = 1;
	chain->bounded[end] = 0;
	for (at = end; at-- > TB_BLOCK_FIRST_ELEMENT; ) {
		/* without an event here, as for the next element */
		chain->bounded[at] = chain->bounded[at + 1];
		chain->time[at] = chain->time[at + 1];
		chain->leads[at] = pad_at(block, at);
		if (chain->leads[at])
			chain->bounded[at] = 0;
		length = length_at(block, at, end);
		next = at + length;
		if (!length || !chain->leads[next])
			continue;
		head = element(block, at)->head;
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_RESERVED) {
			chain->leads[at] = 1;
			chain->bounded[at] = chain->bounded[next];
			chain->time[at] = chain->time[next];
		} else if (element(block, at)->time >= least &&
			   (!chain->bounded[next] ||
			    element(block, at)->time <= chain->time[next])) {
			chain->leads[at] = 1;
			chain->bounded[at] = !is_time(head);
			chain->time[at] = element(block, at)->time;
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

enum element_kind {
	NOTHING,	/* no event of this block */
	BEGUN,		/* an event that was begun, and has a length */
	EVENT,		/* a committed event */
	END,		/* the padding */
};

/*
 * Find out what is at @at, behind an event of time @last.  An event's place is certain if the event
 * before ends there (@sure); or, behind a hole, if a chain leads from it to the end; or if its time
 * is between @last and the first event of the next chain.
 */
static enum element_kind classify(const struct event_chain *chain, uint32_t at, uint64_t last,
				  bool sure)
{
	uint32_t length = length_at(chain->block, at, chain->end), next = at + length;

	if (chain->leads[at] && pad_at(chain->block, at))
		return END;
	if (!length || (!sure && !chain->leads[at] && !chain->bounded[next]))
		return NOTHING;
	if (TB_HEAD_STRUCT(element(chain->block, at)->head) == TB_STRUCT_RESERVED)
		return sure || chain->leads[at] ? BEGUN : NOTHING;
	if (!time_at(chain->block, at, last))
		return NOTHING;
	/* later than an event behind it: a leftover of an earlier lap */
	if (!chain->leads[at] && chain->bounded[next] &&
	    !is_time(element(chain->block, at)->head) &&
	    element(chain->block, at)->time > chain->time[next])
		return NOTHING;
	return EVENT;
}

/* ---- copying the valid part ---- */

struct copy {
	struct tb_block *out;
	uint32_t used;			/* elements */
	uint64_t last;			/* time of the last event */
	uint64_t most;			/* latest time of a valid event */
	bool     follows;		/* stacks and counters belong to the event copied last */
};

static void copy_event(struct copy *copy, const struct tb_block *block, uint32_t at, uint32_t length)
{
	uint32_t head = element(block, at)->head, id = TB_HEAD_ID(head);

	copy->last = time_at(block, at, copy->last);
	/*
	 * leave out a stack or counters whose event is not valid: readers would assign it wrongly
	 */
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

/* Where events begin.  The event of a writer that was replacing the header is not committed */
static uint32_t first_event(const struct recover_block *found)
{
	if (found->kind == TB_BLOCK_DURABLE)
		return TB_BLOCK_HEADER_ELEMENTS;
	return TB_BLOCK_FIRST_ELEMENT +
	       (found->opening ? TB_BLOCK_OPENING_ELEMENTS(found->opening) : 0);
}

/* Copy the events up to element @end, which the ring's head has reached */
static void copy_all(struct copy *copy, struct recover_block *found, const struct tb_block *block,
		     uint32_t end)
{
	static struct event_chain chain;
	uint32_t at = first_event(found), length;
	enum element_kind kind;
	bool sure = true;

	find_chains(&chain, block, end);
	for (; at < end; at += length) {
		kind = classify(&chain, at, copy->last, sure);
		if (kind == END)
			break;
		if (kind == NOTHING) {
			/* a hole: where the next event begins is not known */
			found->unfinished += sure;
			copy->follows = false;
			sure = false;
			length = 1;
			continue;
		}
		sure = true;
		length = length_at(block, at, end);
		if (kind == EVENT) {
			copy_event(copy, block, at, length);
		} else {
			found->unfinished++;
			copy->follows = false;
		}
	}
}

/* Without the ring's head: copy the events up to the first element without one */
static void copy_first(struct copy *copy, struct recover_block *found,
		       const struct tb_block *block, uint32_t end)
{
	uint32_t at = first_event(found), length;

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
	/* later events are of the next lap */
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

/* ---- checking ---- */

static bool has_gap_slot(const struct tb_block *block)
{
	const struct tb_composite *slot = (const void *)(block + 1);

	return slot->head == TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS, block->sequence) &&
	       slot->length == sizeof(struct tb_gap) && slot->tid == block->tid &&
	       slot->time == (uint32_t)block->time_start;
}

static bool is_whole(const struct tb_block *block)
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
		/* the rest of the header is not valid yet */
		found->opening = block->sequence;
		found->sequence = TB_BLOCK_OPENING_NUMBER(block->sequence);
		found->start = block->time_start;
		found->end = block->time_start;
		found->state = RECOVER_OPEN;
		found->data = 1u << block->size_log2;
		return true;
	}
	if (durable ? block->cpu || block->dropped : !has_gap_slot(block))
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
		/* the ring owns the whole block */
		found->data = durable ? 0 : 1u << block->size_log2;
	} else if (is_whole(block)) {
		found->state = RECOVER_WHOLE;
		found->events = block->events;
		found->end = block->time_end;
		found->data = block->data;
	} else {
		found->state = RECOVER_DAMAGED;
	}
	return true;
}
