// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf verify - does a trace keep what the format promises?
 *
 * One pass over the blocks in the file's order.  Per ring it keeps the counts:
 * the sequence number, the time, the events counted and those the headers
 * say were lost, and holds them at the end against the totals written when
 * the recording stopped:  attempted = in the file + overwritten + dropped.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/show/writers.h"
#include "tool/show/input.h"

#define MESSAGES_MAX 10

struct ring {
	bool     seen;			/* a block, or that there were some in the file before */
	uint64_t sequence;		/* of the last block */
	uint64_t ticks;			/* of the last event */
	uint64_t blocks, events, bytes;
	uint64_t overwritten, dropped;	/* by the last block's header */
	struct tb_block last;		/* that header; magic 0: there is none in this file */
	uint64_t gap_overwritten, gap_dropped;	/* sums of the gap slots */
	uint64_t gaps;
	bool     untold;		/* blocks are missing that a later one has to tell of */
	struct tb_part before;		/* where this file begins; zero: with the ring */
	bool     continues;		/* the next file does */
};

struct verify {
	const char *file;
	struct tb_trace *trace;
	bool quiet, analysis, disagree;
	unsigned int problems;
	/* of the recording at hand */
	const struct tb_init *init;
	uint64_t recording;		/* tb_gap.recording of its blocks, 0: not known yet */
	struct ring *rings;
	unsigned int nr_rings;
	struct ring durable;
	uint64_t note_blocks, names;
	unsigned int open;		/* rings whose end is not known, of all recordings */
	bool attached;			/* stacks and counters may come */
	/* of the block at hand */
	const struct tb_block *block;
	uint64_t offset;
};

static int verify_run(int argc, char **argv);

const struct command cmd_verify = {
	.name  = "verify",
	.run   = verify_run,
	.brief = "check that a trace is complete and consistent",
	.help  =
	"usage: tracebuf verify [-q] [--analysis] [FILE]\n"
	"\n"
	"Checks a trace file (" DEFAULT_FILE "; '-' is standard input): blocks and their\n"
	"order, sequence numbers, the structure of every event, time per CPU, what each\n"
	"field points to, and for each CPU the counts:\n"
	"\n"
	"  attempted = events in the file + overwritten + dropped\n"
	"\n"
	"For each writer of a program: attempted = records in the file + missing. The\n"
	"counts of a snapshot are those at its beginning. '>=' means that the end of a CPU\n"
	"is not known: the recording was not stopped, or the file is cut.\n"
	"\n"
	"Prints a line per CPU and writer, or where and how the file is wrong; the exit\n"
	"status is 1 then.\n"
	"\n"
	"With --analysis also what 'why' and 'report' conclude: that the times of each thread\n"
	"and CPU add up to their interval, that no two overlap, and that both commands have\n"
	"the same times. A CPU that is idle while a thread waits for it is a doubt, which\n"
	"does not change the exit status.\n"
	"\n"
	"      --analysis        check the conclusions of 'why' and 'report', too\n"
	"  -i, --input FILE      the same as FILE\n"
	"  -q, --quiet           print only complaints\n"
	"  -h, --help            show this text\n",
};

/* ---- complaining ---- */

__attribute__((format(printf, 3, 4)))
static void broken(struct verify *verify, uint64_t offset, const char *text, ...)
{
	const struct tb_block *block = verify->block;
	va_list arguments;
	char what[256];

	if (++verify->problems > MESSAGES_MAX)
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
		broken(verify, offset, "event id %u is not described", walk->id);
		return;
	}
	if (!(format->flags & TB_EVENT_SIMPLE) !=
	    (walk->structure == TB_STRUCT_COMPOSITE)) {
		broken(verify, offset, "%s:%s is described as %s, but is %s",
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
		broken(verify, offset,
		       "%s:%s has %u bytes, its field '%s' lies outside",
		       format->system, format->name, walk->bytes, field->name);
		return;
	}
}

/* A stack, or counters: of which event, and are they whole? */
static void verify_extra(struct verify *verify, const struct tb_walk *walk,
			 uint64_t offset)
{
	bool stack = walk->id == TB_EV_STACK;
	const struct tb_counters *counters = walk->payload;
	const struct tb_stack *ips = walk->payload;
	const char *what = stack ? "a stack" : "a set of counters";
	uint64_t wanted;

	if (!verify->attached) {
		broken(verify, offset, "%s that comes after no event", what);
		return;
	}
	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes < 8) {
		broken(verify, offset, "%s of %u bytes", what, walk->bytes);
		return;
	}
	wanted = 8 + 8 * (stack ? (uint64_t)ips->count : (uint64_t)
			  __builtin_popcount(counters->mask));
	if (wanted > walk->bytes)
		broken(verify, offset, "%s takes %" PRIu64 " bytes, it has %u",
		       what, wanted, walk->bytes);
	if (stack && ips->kind != TB_STACK_KERNEL && ips->kind != TB_STACK_USER)
		broken(verify, offset, "a stack of unknown kind %u", ips->kind);
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
			broken(verify, offset, "a gap event that is not the first of a rolling block");
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
		broken(verify, offset, "event at %" PRIu64 ", before its block was opened at %" PRIu64,
		       walk->ticks, (uint64_t)block->time_start);
		return false;
	}
	if (walk->ticks > block->time_end) {
		broken(verify, offset, "event at %" PRIu64 ", after its block was complete at %" PRIu64,
		       walk->ticks, (uint64_t)block->time_end);
		return false;
	}
	if (!durable && walk->ticks < ring->ticks) {
		broken(verify, offset, "time goes backwards, from %" PRIu64 " to %" PRIu64,
		       ring->ticks, walk->ticks);
		return false;
	}
	ring->ticks = walk->ticks;
	if (walk->id >= TB_EV_FIRST)
		verify_fields(verify, walk, offset);
	else if (!durable && walk->id >= TB_EV_INIT && walk->id < TB_EV_USER)
		broken(verify, offset, "control event %u does not belong into a rolling block",
		       walk->id);
	return true;
}

/* ---- one block ---- */

/* All blocks of a recording have the same number */
static void verify_number(struct verify *verify, uint64_t offset, uint64_t recording)
{
	if (recording && verify->recording && recording != verify->recording)
		broken(verify, offset, "it is of recording 0x%" PRIx64 ", blocks before it are of 0x%" PRIx64,
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
		broken(verify, verify->offset + block->data, "no padding behind the events");
}

static void verify_gap(struct verify *verify, struct ring *ring)
{
	const struct tb_block *block = verify->block;
	uint64_t offset = verify->offset + sizeof(*block);
	const struct tb_gap *gap;
	struct tb_walk walk;
	bool whole = verify->init != NULL;	/* the file has the beginning */
	bool ordered = !ring->seen || block->sequence > ring->sequence;

	if (!ordered)
		broken(verify, verify->offset, "comes after block %" PRIu64,
		       ring->sequence);
	tb_walk_trace(&walk, verify->trace, block);
	if (tb_walk_next(&walk) != 1 || walk.id != TB_EV_GAP ||
	    walk.structure != TB_STRUCT_COMPOSITE ||
	    walk.length != TB_GAP_ELEMENTS || walk.bytes < sizeof(*gap)) {
		broken(verify, offset, "the block does not start with a gap slot");
		return;
	}
	verify_padding(verify);
	gap = walk.payload;
	verify_number(verify, offset, gap->recording);
	if (!(block->flags & TB_BLOCK_GAP) !=
	    (!gap->overwritten && !gap->dropped))
		broken(verify, offset, "the block's flags and its gap slot (%" PRIu64 " overwritten, %" PRIu64 " dropped) disagree",
		       (uint64_t)gap->overwritten, (uint64_t)gap->dropped);
	if (gap->oversize > gap->dropped)
		broken(verify, offset, "gap slot: more events too large (%" PRIu64 ") than dropped (%" PRIu64 ")",
		       (uint64_t)gap->oversize, (uint64_t)gap->dropped);
	if (gap->first > gap->last || gap->last > block->time_end)
		broken(verify, offset, "gap slot: impossible span of time, %" PRIu64 " to %" PRIu64,
		       (uint64_t)gap->first, (uint64_t)gap->last);
	if ((ring->seen || whole) &&
	    (block->overwritten - ring->overwritten != gap->overwritten ||
	     block->dropped - ring->dropped != gap->dropped))
		broken(verify, offset, "header totals went from %" PRIu64 "+%" PRIu64 " to %" PRIu64 "+%" PRIu64
		       " (overwritten+dropped), the gap slot says %" PRIu64 "+%" PRIu64,
		       ring->overwritten, ring->dropped,
		       (uint64_t)block->overwritten, (uint64_t)block->dropped,
		       (uint64_t)gap->overwritten, (uint64_t)gap->dropped);
	ring->untold |= ordered && (ring->seen || whole) &&
			block->sequence != (ring->seen ? ring->sequence + 1 : 0);
	if (ring->untold && !gap->overwritten && !(block->flags & TB_BLOCK_UNSETTLED))
		broken(verify, verify->offset, "the block before it is missing, and nothing says that it was overwritten (last seen: %s%" PRIu64 ")",
		       ring->seen ? "" : "none, ", ring->sequence);
	if (gap->overwritten || !(block->flags & TB_BLOCK_UNSETTLED))
		ring->untold = false;
	ring->gaps += gap->overwritten || gap->dropped;
	ring->gap_overwritten += gap->overwritten;
	ring->gap_dropped += gap->dropped;
}

static void verify_durable_header(struct verify *verify, struct ring *ring)
{
	struct tb_walk walk;

	if (ring->seen && verify->block->sequence != ring->sequence + 1)
		broken(verify, verify->offset, "comes after durable block %" PRIu64,
		       ring->sequence);
	if (!ring->seen && verify->init) {
		tb_walk_trace(&walk, verify->trace, verify->block);
		if (tb_walk_next(&walk) != 1 || walk.id != TB_EV_INIT)
			broken(verify, verify->offset, "the recording does not start with its initialisation record");
	}
}

/*
 * A block may come again, unchanged, where pieces of a recording that were read one after the other
 * have been put together: a durable one for each reader, a rolling one that a recorder had written
 * when it was killed, and had not given back.  @number: of this block in the file.
 */
static bool verify_repeated(const struct verify *verify, size_t number)
{
	const struct tb_block *block = verify->block, *other = NULL;
	const struct ring *ring = block->kind == TB_BLOCK_DURABLE ? &verify->durable :
				  &verify->rings[block->cpu];
	size_t bytes = (size_t)1 << block->size_log2;

	if (!ring->seen || block->sequence > ring->sequence)
		return false;
	/* what is behind the data may differ in a packed one */
	if (block->data < bytes)
		bytes = block->data;
	while (number && (!other || memcmp(other, block, sizeof(*other))))
		other = tb_trace_header(verify->trace, --number, NULL, NULL);
	if (!other || memcmp(other, block, sizeof(*other)))
		return false;
	/* only one other: blocks of a packed file do not stay in memory for long */
	other = tb_trace_block(verify->trace, number, NULL, NULL);
	return other && !memcmp(other, block, bytes);
}

/* Where the file before this one ends, or this one does, as its writer has it */
static void verify_part(struct verify *verify, const struct tb_walk *walk,
			uint64_t offset)
{
	const struct tb_part *part = walk->payload;
	struct ring *ring;

	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes < sizeof(*part) ||
	    part->cpu >= verify->nr_rings || !part->blocks) {
		broken(verify, offset, "what it says of the other files of the recording is impossible");
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
		broken(verify, offset, "CPU %u: the recording's parts had %" PRIu64 " events in blocks up to %" PRIu64
		       ", here are %" PRIu64 " up to %" PRIu64 ": a part is missing, or not whole",
		       part->cpu, (uint64_t)part->events, (uint64_t)part->blocks - 1,
		       (uint64_t)ring->before.events + ring->events, ring->sequence);
}

static void verify_mapping(struct verify *verify, const struct tb_walk *walk, uint64_t offset)
{
	const struct tb_mapping *mapping = walk->payload;

	if (walk->structure != TB_STRUCT_COMPOSITE || walk->bytes < sizeof(*mapping) ||
	    walk->bytes - sizeof(*mapping) < (size_t)mapping->build_id + mapping->path)
		broken(verify, offset, "a mapping is too short");
	else if (mapping->kind < TB_MAPPING_CODE || mapping->kind > TB_MAPPING_UNKNOWN ||
		 mapping->size > UINT64_MAX - mapping->start)
		broken(verify, offset, "a mapping is impossible");
}

/* What the reader of the recording wrote: of no time and no order */
static void verify_note(struct verify *verify)
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
		else if (walk.id == TB_EV_STRING && walk.bytes >= sizeof(struct tb_string))
			;
		else if (walk.id != TB_EV_SYMBOL)
			broken(verify, offset, "event %u does not belong into a note",
			       walk.id);
		else if (walk.structure != TB_STRUCT_COMPOSITE ||
			 walk.bytes < sizeof(struct tb_symbol))
			broken(verify, offset, "a symbol is too short");
		verify->names += walk.id != TB_EV_PART;
		events++;
	}
	if (step < 0)
		broken(verify, verify->offset +
		       (uint64_t)walk.index * TB_ELEMENT_SIZE, "%s",
		       walk.wrong ? walk.wrong : "an event that is not complete");
	else if (events != verify->block->events)
		broken(verify, verify->offset, "the header counts %u events, there are %u",
		       verify->block->events, events);
	verify->note_blocks++;
}

static void verify_block(struct verify *verify)
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
		broken(verify, verify->offset, "the block was not complete");
	if (block->flags & ~(TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED | TB_BLOCK_GAP |
			     TB_BLOCK_UNSETTLED))
		broken(verify, verify->offset, "unknown flags 0x%x", block->flags);
	if (block->time_end < block->time_start)
		broken(verify, verify->offset, "it ends (%" PRIu64 ") before it starts (%" PRIu64 ")",
		       (uint64_t)block->time_end, (uint64_t)block->time_start);
	if (durable) {
		verify_number(verify, verify->offset, block->overwritten);
		verify_durable_header(verify, ring);
	} else {
		if (verify->init && block->cpu >= verify->init->nr_cpus)
			broken(verify, verify->offset, "CPU %u of %u",
			       block->cpu, verify->init->nr_cpus);
		if (verify->init && 1ull << block->size_log2 !=
		    (uint64_t)verify->init->elements * TB_ELEMENT_SIZE)
			broken(verify, verify->offset, "%llu bytes, but the recording's buffers have %u elements",
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
			broken(verify, offset, "%s", walk.wrong);
		} else {
			broken(verify, offset, "an event was reserved, but never committed");
			continue;
		}
		break;
	}
	if (events != block->events && verify->problems == problems)
		broken(verify, verify->offset, "the header counts %u events, there are %u",
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

/* ---- the counts ---- */

/* When the events were dropped that no block tells of */
static void verify_span(struct verify *verify, unsigned int cpu,
			const struct tb_totals *totals)
{
	if (totals->first > totals->last || totals->last > totals->time)
		broken(verify, 0, "CPU %u: totals of %" PRIu64 ": impossible span of time, %" PRIu64 " to %" PRIu64,
		       cpu, (uint64_t)totals->time, (uint64_t)totals->first,
		       (uint64_t)totals->last);
}

/* The counts of a ring in a snapshot, NULL if the file has none of what is in it */
static const struct tb_totals *snapshot_of(const struct verify *verify,
					   unsigned int cpu)
{
	const struct ring *ring = &verify->rings[cpu];
	const struct tb_totals *accounting = tb_trace_snapshot(verify->trace, cpu);

	/* fewer blocks: the counts of an earlier snapshot */
	if (!accounting || ring->before.blocks || ring->continues ||
	    accounting->blocks < (ring->last.magic ? ring->sequence + 1 : 0))
		return NULL;
	return accounting;
}

/* Has the ring taken events that are behind the last block here?  Some block may be gone by then. */
static bool snapshot_open(const struct ring *ring, const struct tb_totals *accounting)
{
	return accounting->flags & TB_TOTALS_OPEN ||
	       accounting->blocks > (ring->last.magic ? ring->sequence + 1 : 0);
}

/*
 * Return the overwritten events that the last block does not count: it is marked as unsettled, and
 * the block that would have counted them is not in the snapshot.
 */
static uint64_t snapshot_rest(const struct ring *ring, const struct tb_totals *accounting)
{
	uint64_t counted = ring->events + ring->overwritten + accounting->dropped;

	return ring->last.flags & TB_BLOCK_UNSETTLED && !snapshot_open(ring, accounting) &&
	       !(accounting->flags & TB_TOTALS_UNCOUNTED) && accounting->attempted > counted ?
	       accounting->attempted - counted : 0;
}

static void verify_snapshot(struct verify *verify, unsigned int cpu)
{
	const struct tb_totals *accounting = snapshot_of(verify, cpu);
	const struct ring *ring = &verify->rings[cpu];
	uint64_t accounted;

	if (!accounting || snapshot_open(ring, accounting))
		return;
	verify_span(verify, cpu, accounting);
	if (accounting->dropped < ring->dropped)
		broken(verify, 0, "CPU %u: when the snapshot began %" PRIu64 " events had been dropped, but before its last block %" PRIu64,
		       cpu, (uint64_t)accounting->dropped, ring->dropped);
	accounted = ring->events + ring->overwritten + accounting->dropped;
	/* snapshot_rest() is what a later block would have told */
	accounted += snapshot_rest(ring, accounting);
	if (!(accounting->flags & TB_TOTALS_UNCOUNTED) && accounting->attempted != accounted)
		broken(verify, 0, "CPU %u: %" PRIu64 " events attempted when the snapshot began, but %" PRIu64
		       " in the file + %" PRIu64 " overwritten + %" PRIu64
		       " dropped = %" PRIu64, cpu, (uint64_t)accounting->attempted,
		       ring->events, ring->overwritten,
		       (uint64_t)accounting->dropped, accounted);
}

static void verify_totals(struct verify *verify, unsigned int cpu)
{
	const struct ring *ring = &verify->rings[cpu];
	const struct tb_totals *totals = tb_trace_totals(verify->trace, cpu);
	uint64_t accounted;

	if (!totals)
		verify_snapshot(verify, cpu);
	/* those of a recording that was stopped just then are for its last file */
	if (!totals || ring->continues)
		return;
	if (totals->time)
		verify_span(verify, cpu, totals);
	accounted = ring->before.events + ring->events + totals->overwritten +
		    totals->dropped;
	if (totals->attempted != accounted)
		broken(verify, 0, "CPU %u: %" PRIu64 " events attempted, but %" PRIu64
		       " in the file%s + %" PRIu64 " overwritten + %" PRIu64
		       " dropped = %" PRIu64, cpu, (uint64_t)totals->attempted,
		       (uint64_t)ring->before.events + ring->events,
		       ring->before.blocks ? " and those before it" : "",
		       (uint64_t)totals->overwritten,
		       (uint64_t)totals->dropped, accounted);
	if (totals->recorded != totals->attempted - totals->dropped)
		broken(verify, 0, "CPU %u: totals: recorded %" PRIu64 " is not attempted %" PRIu64 " - dropped %" PRIu64,
		       cpu, (uint64_t)totals->recorded,
		       (uint64_t)totals->attempted, (uint64_t)totals->dropped);
	if (totals->overwritten < ring->overwritten ||
	    totals->dropped < ring->dropped)
		broken(verify, 0, "CPU %u: totals (%" PRIu64 " overwritten, %" PRIu64 " dropped) are less than the last block's (%" PRIu64 ", %" PRIu64 ")",
		       cpu, (uint64_t)totals->overwritten,
		       (uint64_t)totals->dropped, ring->overwritten,
		       ring->dropped);
	if (ring->untold && totals->overwritten == ring->overwritten)
		broken(verify, 0, "CPU %u: blocks are missing, and not even the totals say that they were overwritten",
		       cpu);
	if (ring->seen && (ring->sequence >= totals->blocks ||
	    (ring->sequence + 1 != totals->blocks &&
	     totals->overwritten == ring->overwritten)))
		broken(verify, 0, "CPU %u: %" PRIu64 " blocks opened, but the last is number %" PRIu64,
		       cpu, (uint64_t)totals->blocks, ring->sequence);
}

/* What is in no counts, because nobody wanted it */
static void summary_threads(const struct verify *verify)
{
	struct tb_threads_lost lost;

	if (!tb_trace_threads_lost(verify->trace, &lost))
		return;
	if (lost.records)
		printf("threads: %" PRIu64 " records lost: some names may be missing or old\n",
		       (uint64_t)lost.records);
	if (lost.before)
		printf("threads: the oldest records had to make room: at first some names may be missing or later ones\n");
}

static void summary_suppressed(const struct verify *verify)
{
	const struct tb_suppressed *list;
	const struct tb_format *format;
	char text[256];
	size_t i, count;

	list = tb_trace_suppressed(verify->trace, &count);
	for (i = 0; i < count; i++) {
		if (!suppressed_total(&list[i]))
			continue;
		suppressed_text(&list[i], text, sizeof(text));
		format = tb_trace_format(verify->trace, (uint16_t)list[i].id);
		if (!format)	/* described in its compact form only */
			format = tb_trace_format(verify->trace,
						 (uint16_t)(list[i].id + 1));
		if (format)
			printf("not recorded, as asked for: %s:%s: %s\n",
			       format->system, format->name, text);
		else if (list[i].id)
			printf("not recorded, as asked for: event %u: %s\n",
			       list[i].id, text);
		else
			printf("not recorded, as asked for: %" PRIu64 " of other threads\n",
			       suppressed_total(&list[i]));
	}
}

/* The end of a ring: what is missing there, and when */
static void summary_tail(const struct verify *verify, unsigned int cpu)
{
	const struct ring *ring = &verify->rings[cpu];
	uint64_t ticks, from, to;
	struct tb_gap lost;

	if (ring->continues ||
	    !tb_trace_tail(verify->trace, cpu, ring->last.magic ? &ring->last : NULL,
			   &lost, &ticks))
		return;
	from = tb_trace_ns(verify->trace, lost.first, TB_TIME_MONOTONIC);
	to = tb_trace_ns(verify->trace, lost.last, TB_TIME_MONOTONIC);
	printf("      of these, after its last block: %" PRIu64 " overwritten, %" PRIu64
	       " dropped; nothing is known of it from %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 "\n",
	       (uint64_t)lost.overwritten, (uint64_t)lost.dropped,
	       from / 1000000000, from % 1000000000, to / 1000000000, to % 1000000000);
}

/* What its counts are: of a stop, of a snapshot, or only those of its last block */
static const char *accounting_text(const struct verify *verify, const struct ring *ring,
			      const struct tb_totals *snapshot)
{
	if (verify->problems)
		return "see above";
	if (!snapshot)
		return "exact";
	if (snapshot_open(ring, snapshot))
		return "exact up to its last block: a snapshot, recording went on";
	if (snapshot->flags & TB_TOTALS_UNCOUNTED)
		return "by its blocks: an event was being recorded when the snapshot began";
	return "exact when the snapshot began";
}

/* What is in this file, where the recording has several */
static void summary_ring(struct verify *verify, unsigned int cpu)
{
	const struct tb_totals *totals = tb_trace_totals(verify->trace, cpu);
	const struct tb_totals *snapshot = totals ? NULL : snapshot_of(verify, cpu);
	const struct ring *ring = &verify->rings[cpu];
	uint64_t overwritten, dropped;
	char attempted[32];
	bool known;

	if (ring->continues)
		totals = NULL;
	if (!ring->seen && !totals && !snapshot)
		return;
	known = totals || snapshot || ring->continues;
	overwritten = (totals ? totals->overwritten : ring->overwritten) -
		      ring->before.overwritten;
	if (snapshot)
		overwritten += snapshot_rest(ring, snapshot);
	dropped = (totals ? totals->dropped :
		   snapshot && !snapshot_open(ring, snapshot) ? snapshot->dropped :
		   ring->dropped) - ring->before.dropped;
	snprintf(attempted, sizeof(attempted), "%s%" PRIu64, known ? "" : ">=",
		 ring->events + overwritten + dropped);
	printf("%5u %8" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %12s %6" PRIu64,
	       cpu, ring->blocks, ring->events, overwritten, dropped, attempted,
	       ring->gaps);
	if (known)
		printf("  %s%s%s\n", accounting_text(verify, ring, snapshot),
		       ring->before.blocks ? ", continued" : "",
		       ring->continues ? ", goes on in another file" : "");
	else
		printf("  open: no totals (not stopped, or cut): nothing tells what came after its last block\n");
	verify->open += !known;
	if (ring->untold && !known)
		printf("      more were overwritten than that: blocks are missing whose events a later block would have counted\n");
	summary_tail(verify, cpu);
}

static void summary(struct verify *verify)
{
	unsigned int cpu;

	if (verify->init)
		printf("%s, %s, clock %s, mode %s, policy %s, %u buffers of %u elements per CPU\n",
		       verify->init->nodename, verify->init->release,
		       tb_clock_name(verify->init->clock),
		       tb_mode_name(verify->init->mode),
		       tb_policy_name(verify->init->policy),
		       verify->init->buffers, verify->init->elements);
	else
		printf("no initialisation record: cut from a longer trace\n");
	printf("%5s %8s %12s %12s %10s %12s %6s  %s\n", "CPU", "blocks",
	       "events", "overwritten", "dropped", "attempted", "gaps", "counts");
	for (cpu = 0; cpu < verify->nr_rings; cpu++)
		summary_ring(verify, cpu);
	printf("  dur %8" PRIu64 " %12" PRIu64 "\n", verify->durable.blocks,
	       verify->durable.events);
	if (verify->note_blocks)
		printf("notes %8" PRIu64 " %12" PRIu64 "\n", verify->note_blocks,
		       verify->names);
	writers_show(verify->trace);
	summary_suppressed(verify);
	summary_threads(verify);
}

static int verify_recording(struct verify *verify, unsigned int number)
{
	unsigned int recording, cpu;
	size_t i;

	tb_trace_select(verify->trace, number);
	verify->init = tb_trace_init(verify->trace);
	verify->nr_rings = tb_trace_nr_cpus(verify->trace);
	/* those of which nothing is in this file, but in those before it */
	if (verify->init && verify->init->nr_cpus > verify->nr_rings &&
	    verify->init->nr_cpus <= UINT16_MAX + 1u)
		verify->nr_rings = verify->init->nr_cpus;
	verify->rings = calloc(verify->nr_rings + 1, sizeof(*verify->rings));
	memset(&verify->durable, 0, sizeof(verify->durable));
	verify->note_blocks = verify->names = 0;
	verify->recording = 0;
	if (!verify->rings)
		return complain("out of memory");
	for (i = 0; (verify->block = tb_trace_block(verify->trace, i,
			&verify->offset, &recording)); i++)
		if (recording == number && verify->block->kind == TB_BLOCK_NOTE)
			verify_note(verify);
		else if (recording == number && !verify_repeated(verify, i))
			verify_block(verify);
	for (cpu = 0; cpu < verify->nr_rings; cpu++)
		verify_totals(verify, cpu);
	verify->problems += writers_check(verify->trace, verify->file);
	if (!verify->quiet)
		summary(verify);
	free(verify->rings);
	return EXIT_FINE;
}

static int verify_run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "analysis", no_argument,    NULL, OPTION_ANALYSIS },
		{ "input", required_argument, NULL, 'i' },
		{ "quiet", no_argument,       NULL, 'q' },
		{ "help",  no_argument,       NULL, 'h' },
		{ 0 }
	};
	struct verify verify = { .file = NULL };
	const struct tb_error *fault;
	unsigned int i;
	int option;

	while ((option = getopt_long(argc, argv, "i:qh", long_options,
				     NULL)) >= 0) {
		switch (option) {
		case 'i':
			verify.file = optarg;
			break;
		case OPTION_ANALYSIS:
			verify.analysis = true;
			break;
		case 'q':
			verify.quiet = true;
			break;
		default:
			return show_help(&cmd_verify, option);
		}
	}
	if (input_choose(&cmd_verify, argc, argv, &verify.file))
		return EXIT_USAGE;
	if (input_open(verify.file, &verify.trace))
		return EXIT_WRONG;
	for (i = 0; i < tb_trace_recordings(verify.trace); i++) {
		if (verify_recording(&verify, i))
			verify.problems++;
		if (verify.analysis && verify_analysis(verify.file, verify.trace, verify.quiet))
			verify.disagree = true;
	}
	fault = tb_trace_fault(verify.trace);
	if (fault) {
		complain_file(verify.file, fault);
		note("%zu blocks before it were checked",
		     tb_trace_blocks(verify.trace));
		verify.problems++;
	}
	if (verify.problems > MESSAGES_MAX)
		note("and %u more", verify.problems - MESSAGES_MAX);
	tb_trace_close(verify.trace);
	if (verify.disagree)
		return EXIT_WRONG;
	if (!verify.problems && !verify.quiet && verify.open)
		printf("%s: fine as far as it goes: of %u CPU%s the end is not known\n",
		       verify.file, verify.open, verify.open == 1 ? "" : "s");
	else if (!verify.problems && !verify.quiet)
		printf("%s: fine\n", verify.file);
	return verify.problems ? EXIT_WRONG : EXIT_FINE;
}
