// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf verify - check one block: its header, its sequence number, its gap, and each event.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "tool/command/command.h"
#include "verify.h"

/* ---- complaining ---- */

void verify_broken(struct verify *verify, uint64_t offset, const char *text, ...)
{
	const struct tb_block *block = verify->block;
	va_list arguments;
	char what[256];

	if (++verify->problems > VERIFY_MESSAGES)
		return;
	va_start(arguments, text);
	vsnprintf(what, sizeof(what), text, arguments);
	va_end(arguments);
	if (!block)
		complain("%s: %s", verify->file, what);
	else if (block->kind != TB_BLOCK_ROLLING)
		complain("%s: at byte %" PRIu64 " (%s %" PRIu64 "): %s",
			 verify->file, offset, block->kind == TB_BLOCK_NOTE ?
			 "note" : "durable block", (uint64_t)block->sequence,
			 what);
	else
		complain("%s: at byte %" PRIu64 " (CPU %u, block %" PRIu64 "): %s",
			 verify->file, offset, block->cpu,
			 (uint64_t)block->sequence, what);
}

/* ---- one event ---- */

static void verify_fields(struct verify *verify, const struct tb_walk *walk,
			  uint64_t offset)
{
	const struct tb_format *format = tb_trace_format(verify->trace, walk->id);
	const struct tb_format_field *field;
	struct tb_view view = {
		.payload = walk->payload,
		.length = walk->bytes,
	};
	const void *data;
	size_t length;
	uint32_t i;

	if (!format) {
		verify_broken(verify, offset, "event id %u is not described", walk->id);
		return;
	}
	if (!(format->flags & TB_EVENT_SIMPLE) !=
	    (walk->structure == TB_STRUCT_COMPOSITE)) {
		verify_broken(verify, offset, "%s:%s is described as %s, but is %s",
		       format->system, format->name,
		       format->flags & TB_EVENT_SIMPLE ? "simple" : "composite",
		       walk->structure == TB_STRUCT_COMPOSITE ? "composite" : "simple");
		return;
	}
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		if (tb_field_data(&view, field, &data, &length) == 0)
			continue;
		if (format->flags & TB_EVENT_SHORT &&
		    (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_ARRAY) ||
		     field->offset >= walk->bytes))
			continue;
		verify_broken(verify, offset,
		       "%s:%s has %u bytes, its field '%s' lies outside",
		       format->system, format->name, walk->bytes, field->name);
		return;
	}
}

/* A stack or counters: they must follow an event, and be complete */
static void verify_extra(struct verify *verify, const struct tb_walk *walk,
			 uint64_t offset)
{
	bool stack = walk->id == TB_EV_STACK;
	const struct tb_counters *counters = walk->payload;
	const struct tb_stack *ips = walk->payload;
	const char *what = stack ? "a stack" : "a set of counters";
	uint64_t wanted;

	if (!verify->attached) {
		verify_broken(verify, offset, "%s that comes after no event", what);
		return;
	}
	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes < 8) {
		verify_broken(verify, offset, "%s of %u bytes", what, walk->bytes);
		return;
	}
	wanted = 8 + 8 * (stack ? (uint64_t)ips->count : (uint64_t)
			  __builtin_popcount(counters->mask));
	if (wanted > walk->bytes)
		verify_broken(verify, offset, "%s takes %" PRIu64 " bytes, it has %u",
		       what, wanted, walk->bytes);
	if (stack && ips->kind != TB_STACK_KERNEL && ips->kind != TB_STACK_USER)
		verify_broken(verify, offset, "a stack of unknown kind %u", ips->kind);
}

static bool verify_event(struct verify *verify, struct ring *ring,
			 const struct tb_walk *walk, uint32_t *events)
{
	const struct tb_block *block = verify->block;
	uint64_t offset = verify->offset +
			  (uint64_t)walk->index * TB_ELEMENT_SIZE;
	bool durable = block->kind == TB_BLOCK_DURABLE;

	if (walk->id == TB_EV_GAP) {
		if (durable || walk->index != TB_BLOCK_HEADER_ELEMENTS) {
			verify_broken(verify, offset, "a gap event that is not the first of a rolling block");
			return false;
		}
		return true;
	}
	if (walk->id == TB_EV_STACK || walk->id == TB_EV_COUNTERS)
		verify_extra(verify, walk, offset);
	else
		verify->attached = !durable && walk->id > TB_EV_STRUCTURAL_LAST;
	if (walk->id > TB_EV_STRUCTURAL_LAST)
		++*events;
	if (walk->ticks < block->time_start) {
		verify_broken(verify, offset, "event at %" PRIu64 ", before its block was opened at %" PRIu64,
		       walk->ticks, (uint64_t)block->time_start);
		return false;
	}
	if (walk->ticks > block->time_end) {
		verify_broken(verify, offset, "event at %" PRIu64 ", after its block was complete at %" PRIu64,
		       walk->ticks, (uint64_t)block->time_end);
		return false;
	}
	if (!durable && walk->ticks < ring->ticks) {
		verify_broken(verify, offset, "time goes backwards, from %" PRIu64 " to %" PRIu64,
		       ring->ticks, walk->ticks);
		return false;
	}
	ring->ticks = walk->ticks;
	if (walk->id >= TB_EV_FIRST)
		verify_fields(verify, walk, offset);
	else if (!durable && walk->id >= TB_EV_INIT && walk->id < TB_EV_USER)
		verify_broken(verify, offset, "control event %u does not belong into a rolling block",
		       walk->id);
	return true;
}

/* ---- one block ---- */

static void verify_number(struct verify *verify, uint64_t offset, uint64_t recording)
{
	if (recording && verify->recording && recording != verify->recording)
		verify_broken(verify, offset, "it is of recording 0x%" PRIx64 ", blocks before it are of 0x%" PRIx64,
		       recording, verify->recording);
	if (!verify->recording)
		verify->recording = recording;
}

/* Padding must follow the events of a block that was closed before it was full */
static void verify_padding(struct verify *verify)
{
	const struct tb_block *block = verify->block;
	const struct tb_element *pad = (const void *)((const char *)block + block->data);

	if (!(block->flags & TB_BLOCK_COMPLETE) || block->data >= 1u << block->size_log2)
		return;
	if (TB_HEAD_STRUCT(pad->head) != TB_STRUCT_PAD ||
	    TB_HEAD_SEQ(pad->head) != (block->sequence & 0x3f))
		verify_broken(verify, verify->offset + block->data, "no padding behind the events");
}

static void verify_gap(struct verify *verify, struct ring *ring)
{
	const struct tb_block *block = verify->block;
	uint64_t offset = verify->offset + sizeof(*block);
	const struct tb_gap *gap;
	struct tb_walk walk;
	bool whole = verify->init != NULL;	/* the file has the recording's beginning */
	bool ordered = !ring->seen || block->sequence > ring->sequence;

	if (!ordered)
		verify_broken(verify, verify->offset, "comes after block %" PRIu64,
		       ring->sequence);
	tb_walk_trace(&walk, verify->trace, block);
	if (tb_walk_next(&walk) != 1 || walk.id != TB_EV_GAP ||
	    walk.structure != TB_STRUCT_COMPOSITE ||
	    walk.length != TB_GAP_ELEMENTS || walk.bytes < sizeof(*gap)) {
		verify_broken(verify, offset, "the block does not start with a gap slot");
		return;
	}
	verify_padding(verify);
	gap = walk.payload;
	verify_number(verify, offset, gap->recording);
	if (!(block->flags & TB_BLOCK_GAP) !=
	    (!gap->overwritten && !gap->dropped))
		verify_broken(verify, offset, "the block's flags and its gap slot (%" PRIu64 " overwritten, %" PRIu64 " dropped) disagree",
		       (uint64_t)gap->overwritten, (uint64_t)gap->dropped);
	if (gap->oversize > gap->dropped)
		verify_broken(verify, offset, "gap slot: more events too large (%" PRIu64 ") than dropped (%" PRIu64 ")",
		       (uint64_t)gap->oversize, (uint64_t)gap->dropped);
	if (gap->first > gap->last || gap->last > block->time_end)
		verify_broken(verify, offset, "gap slot: impossible span of time, %" PRIu64 " to %" PRIu64,
		       (uint64_t)gap->first, (uint64_t)gap->last);
	if ((ring->seen || whole) &&
	    (block->overwritten - ring->overwritten != gap->overwritten ||
	     block->dropped - ring->dropped != gap->dropped))
		verify_broken(verify, offset, "header totals went from %" PRIu64 "+%" PRIu64 " to %" PRIu64 "+%" PRIu64
		       " (overwritten+dropped), the gap slot says %" PRIu64 "+%" PRIu64,
		       ring->overwritten, ring->dropped,
		       (uint64_t)block->overwritten, (uint64_t)block->dropped,
		       (uint64_t)gap->overwritten, (uint64_t)gap->dropped);
	ring->unreported |= ordered && (ring->seen || whole) &&
			block->sequence != (ring->seen ? ring->sequence + 1 : 0);
	if (ring->unreported && !gap->overwritten && !(block->flags & TB_BLOCK_UNSETTLED))
		verify_broken(verify, verify->offset, "the block before it is missing, and nothing says that it was overwritten (last seen: %s%" PRIu64 ")",
		       ring->seen ? "" : "none, ", ring->sequence);
	if (gap->overwritten || !(block->flags & TB_BLOCK_UNSETTLED))
		ring->unreported = false;
	ring->gaps += gap->overwritten || gap->dropped;
	ring->gap_overwritten += gap->overwritten;
	ring->gap_dropped += gap->dropped;
}

static void verify_durable_header(struct verify *verify, struct ring *ring)
{
	struct tb_walk walk;

	if (ring->seen && verify->block->sequence != ring->sequence + 1)
		verify_broken(verify, verify->offset, "comes after durable block %" PRIu64,
		       ring->sequence);
	if (!ring->seen && verify->init) {
		tb_walk_trace(&walk, verify->trace, verify->block);
		if (tb_walk_next(&walk) != 1 || walk.id != TB_EV_INIT)
			verify_broken(verify, verify->offset, "the recording does not start with its initialisation record");
	}
}

/*
 * The recorder's counts of a ring at the end of the file before this one: begin with them.  At the
 * end of this file (TB_PART_END): compare with them.
 */
static void verify_part(struct verify *verify, const struct tb_walk *walk,
			uint64_t offset)
{
	const struct tb_part *part = walk->payload;
	struct ring *ring;

	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes < sizeof(*part) ||
	    part->cpu >= verify->nr_rings || !part->blocks) {
		verify_broken(verify, offset, "the counts of another file of the recording are impossible");
		return;
	}
	ring = &verify->rings[part->cpu];
	ring->continues = part->flags & TB_PART_END;
	if (!ring->seen && !ring->continues) {
		ring->seen = true;
		ring->before = *part;
		ring->sequence = part->blocks - 1;
		ring->overwritten = part->overwritten;
		ring->dropped = part->dropped;
		return;
	}
	if (ring->seen ? part->blocks != ring->sequence + 1 ||
			 part->events != ring->before.events + ring->events ||
			 part->overwritten != ring->overwritten ||
			 part->dropped != ring->dropped : true)
		verify_broken(verify, offset, "CPU %u: the recording's files had %" PRIu64 " events in blocks up to %" PRIu64
		       ", but here are %" PRIu64 " up to %" PRIu64 ": a file is missing, or not complete",
		       part->cpu, (uint64_t)part->events, (uint64_t)part->blocks - 1,
		       (uint64_t)ring->before.events + ring->events, ring->sequence);
}

static void verify_mapping(struct verify *verify, const struct tb_walk *walk, uint64_t offset)
{
	const struct tb_mapping *mapping = walk->payload;

	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes < sizeof(*mapping) ||
	    walk->bytes - sizeof(*mapping) < (size_t)mapping->build_id + mapping->path)
		verify_broken(verify, offset, "a mapping is too short");
	else if (mapping->kind < TB_MAPPING_CODE || mapping->kind > TB_MAPPING_FUNCTION ||
		 mapping->size > UINT64_MAX - (mapping->kind == TB_MAPPING_FUNCTION ?
					       mapping->since : mapping->start))
		verify_broken(verify, offset, "a mapping is impossible");
}

static void verify_open_file(struct verify *verify, const struct tb_walk *walk, uint64_t offset)
{
	const struct tb_open_file *file = walk->payload;

	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes <= sizeof(*file))
		verify_broken(verify, offset, "a record of an open file is too short");
	else if (file->flags & ~TB_OPEN_FILE_EXEC || file->reserved || !file->pid)
		verify_broken(verify, offset, "a record of an open file is impossible");
}

/* A block that the recorder wrote: its events have neither time nor order */
void verify_note(struct verify *verify)
{
	struct tb_walk walk;
	uint32_t events = 0;
	uint64_t offset;
	int step;

	tb_walk_trace(&walk, verify->trace, verify->block);
	while ((step = tb_walk_next(&walk)) == 1) {
		offset = verify->offset + (uint64_t)walk.index * TB_ELEMENT_SIZE;
		if (walk.id == TB_EV_PART)
			verify_part(verify, &walk, offset);
		else if (walk.id == TB_EV_MAPPING)
			verify_mapping(verify, &walk, offset);
		else if (walk.id == TB_EV_OPEN_FILE)
			verify_open_file(verify, &walk, offset);
		else if (walk.id == TB_EV_STRING && walk.bytes >= sizeof(struct tb_string))
			;
		else if (walk.id != TB_EV_SYMBOL)
			verify_broken(verify, offset, "event %u does not belong into a note",
			       walk.id);
		else if (walk.structure != TB_STRUCT_COMPOSITE ||
			 walk.bytes < sizeof(struct tb_symbol))
			verify_broken(verify, offset, "a symbol is too short");
		verify->names += walk.id != TB_EV_PART;
		events++;
	}
	if (step < 0)
		verify_broken(verify, verify->offset +
		       (uint64_t)walk.index * TB_ELEMENT_SIZE, "%s",
		       walk.wrong ? walk.wrong : "an event that is not complete");
	else if (events != verify->block->events)
		verify_broken(verify, verify->offset, "the header counts %u events, there are %u",
		       verify->block->events, events);
	verify->note_blocks++;
}

void verify_block(struct verify *verify)
{
	const struct tb_block *block = verify->block;
	bool durable = block->kind == TB_BLOCK_DURABLE;
	struct ring *ring = durable ? &verify->durable :
			    &verify->rings[block->cpu];
	unsigned int problems = verify->problems;
	uint32_t events = 0;
	struct tb_walk walk;
	int step;

	if (!(block->flags & TB_BLOCK_COMPLETE))
		verify_broken(verify, verify->offset, "the block was not complete");
	if (block->flags & ~(TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED | TB_BLOCK_GAP |
			     TB_BLOCK_UNSETTLED))
		verify_broken(verify, verify->offset, "unknown flags 0x%x", block->flags);
	if (block->time_end < block->time_start)
		verify_broken(verify, verify->offset, "it ends (%" PRIu64 ") before it starts (%" PRIu64 ")",
		       (uint64_t)block->time_end, (uint64_t)block->time_start);
	if (durable) {
		verify_number(verify, verify->offset, block->overwritten);
		verify_durable_header(verify, ring);
	} else {
		if (verify->init && block->cpu >= verify->init->nr_cpus)
			verify_broken(verify, verify->offset, "CPU %u of %u",
			       block->cpu, verify->init->nr_cpus);
		if (verify->init && 1ull << block->size_log2 !=
		    (uint64_t)verify->init->elements * TB_ELEMENT_SIZE)
			verify_broken(verify, verify->offset, "%llu bytes, but the recording's buffers have %u elements",
			       1ull << block->size_log2, verify->init->elements);
		verify_gap(verify, ring);
	}

	verify->attached = false;
	tb_walk_trace(&walk, verify->trace, block);
	while ((step = tb_walk_next(&walk)) != 0) {
		uint64_t offset = verify->offset +
				  (uint64_t)walk.index * TB_ELEMENT_SIZE;

		if (step == 1) {
			if (verify_event(verify, ring, &walk, &events))
				continue;
		} else if (step < 0 && walk.wrong) {
			verify_broken(verify, offset, "%s", walk.wrong);
		} else {
			verify_broken(verify, offset, "an event was reserved, but never committed");
			continue;
		}
		break;
	}
	if (events != block->events && verify->problems == problems)
		verify_broken(verify, verify->offset, "the header counts %u events, there are %u",
		       block->events, events);
	ring->seen = true;
	ring->last = *block;
	ring->sequence = block->sequence;
	ring->overwritten = block->overwritten;
	ring->dropped = block->dropped;
	ring->events += events;
	ring->blocks++;
	ring->bytes += 1ull << block->size_log2;
}
