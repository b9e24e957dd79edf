// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf verify - compare the counts of a recording's blocks with the totals that the kernel
 * wrote when recording stopped, and print the table.
 */
#include <inttypes.h>
#include <stdio.h>
#include "tool/command/command.h"
#include "tool/show/writers.h"
#include "verify.h"

/* Check the time span of the events that were dropped after the last block */
static void verify_span(struct verify *verify, unsigned int cpu,
			const struct tb_totals *totals)
{
	if (totals->first > totals->last || totals->last > totals->time)
		verify_broken(verify, 0, "CPU %u: totals of %" PRIu64 ": impossible span of time, %" PRIu64 " to %" PRIu64,
		       cpu, (uint64_t)totals->time, (uint64_t)totals->first,
		       (uint64_t)totals->last);
}

/* The counts of a ring when the snapshot began; NULL: none that belong to this ring's blocks */
static const struct tb_totals *snapshot_totals(const struct verify *verify,
					   unsigned int cpu)
{
	const struct ring *ring = &verify->rings[cpu];
	const struct tb_totals *accounting = tb_trace_snapshot(verify->trace, cpu);

	/* counts with fewer blocks than the file has are of an earlier snapshot */
	if (!accounting || ring->before.blocks || ring->continues ||
	    accounting->blocks < (ring->last.magic ? ring->sequence + 1 : 0))
		return NULL;
	return accounting;
}

/*
 * Did the ring have a block that the file lacks when the snapshot began?  It was still being
 * filled, or was overwritten before the snapshot read it.
 */
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
	const struct tb_totals *accounting = snapshot_totals(verify, cpu);
	const struct ring *ring = &verify->rings[cpu];
	uint64_t accounted;

	if (!accounting || snapshot_open(ring, accounting))
		return;
	verify_span(verify, cpu, accounting);
	if (accounting->dropped < ring->dropped)
		verify_broken(verify, 0, "CPU %u: when the snapshot began %" PRIu64 " events had been dropped, but before its last block %" PRIu64,
		       cpu, (uint64_t)accounting->dropped, ring->dropped);
	accounted = ring->events + ring->overwritten + accounting->dropped;
	/* snapshot_rest(): overwritten events that only a later block would count */
	accounted += snapshot_rest(ring, accounting);
	if (!(accounting->flags & TB_TOTALS_UNCOUNTED) && accounting->attempted != accounted)
		verify_broken(verify, 0, "CPU %u: %" PRIu64 " events attempted when the snapshot began, but %" PRIu64
		       " in the file + %" PRIu64 " overwritten + %" PRIu64
		       " dropped = %" PRIu64, cpu, (uint64_t)accounting->attempted,
		       ring->events, ring->overwritten,
		       (uint64_t)accounting->dropped, accounted);
}

void verify_totals(struct verify *verify, unsigned int cpu)
{
	const struct ring *ring = &verify->rings[cpu];
	const struct tb_totals *totals = tb_trace_totals(verify->trace, cpu);
	uint64_t accounted;

	if (!totals)
		verify_snapshot(verify, cpu);
	/* totals in a file that another one continues are for the last file */
	if (!totals || ring->continues)
		return;
	if (totals->time)
		verify_span(verify, cpu, totals);
	accounted = ring->before.events + ring->events + totals->overwritten +
		    totals->dropped;
	if (totals->attempted != accounted)
		verify_broken(verify, 0, "CPU %u: %" PRIu64 " events attempted, but %" PRIu64
		       " in the file%s + %" PRIu64 " overwritten + %" PRIu64
		       " dropped = %" PRIu64, cpu, (uint64_t)totals->attempted,
		       (uint64_t)ring->before.events + ring->events,
		       ring->before.blocks ? " and those before it" : "",
		       (uint64_t)totals->overwritten,
		       (uint64_t)totals->dropped, accounted);
	if (totals->recorded != totals->attempted - totals->dropped)
		verify_broken(verify, 0, "CPU %u: totals: recorded %" PRIu64 " is not attempted %" PRIu64 " - dropped %" PRIu64,
		       cpu, (uint64_t)totals->recorded,
		       (uint64_t)totals->attempted, (uint64_t)totals->dropped);
	if (totals->overwritten < ring->overwritten ||
	    totals->dropped < ring->dropped)
		verify_broken(verify, 0, "CPU %u: totals (%" PRIu64 " overwritten, %" PRIu64 " dropped) are less than the last block's (%" PRIu64 ", %" PRIu64 ")",
		       cpu, (uint64_t)totals->overwritten,
		       (uint64_t)totals->dropped, ring->overwritten,
		       ring->dropped);
	if (ring->unreported && totals->overwritten == ring->overwritten)
		verify_broken(verify, 0, "CPU %u: blocks are missing, and not even the totals say that they were overwritten",
		       cpu);
	if (ring->seen && (ring->sequence >= totals->blocks ||
	    (ring->sequence + 1 != totals->blocks &&
	     totals->overwritten == ring->overwritten)))
		verify_broken(verify, 0, "CPU %u: %" PRIu64 " blocks opened, but the last is number %" PRIu64,
		       cpu, (uint64_t)totals->blocks, ring->sequence);
}

static void summary_threads(const struct verify *verify)
{
	struct tb_threads_lost lost;

	if (!tb_trace_threads_lost(verify->trace, &lost))
		return;
	if (lost.records)
		printf("threads: %" PRIu64 " records lost: some names may be missing or old\n",
		       (uint64_t)lost.records);
	if (lost.before)
		printf("threads: the oldest records were dropped for lack of room: early events may lack names, or show later ones\n");
}

/* Events that rules or thread sets kept out: no count of a block has them */
static void summary_suppressed(const struct verify *verify)
{
	const struct tb_suppressed *list;
	const struct tb_format *format;
	char text[256];
	size_t i, count;

	list = tb_trace_suppressed(verify->trace, &count);
	for (i = 0; i < count; i++) {
		if (!suppressed_total(&list[i])) {
			if (!list[i].id)
				printf("not recorded, as asked for: not all counts are known\n");
			continue;
		}
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

/* Print which events are missing after the last block of a ring */
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

/* Print the line of a ring: the counts of this file only, if the recording has several */
static void summary_ring(struct verify *verify, unsigned int cpu)
{
	const struct tb_totals *totals = tb_trace_totals(verify->trace, cpu);
	const struct tb_totals *snapshot = totals ? NULL : snapshot_totals(verify, cpu);
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
	if (ring->unreported && !known)
		printf("      more were overwritten than that: blocks are missing whose events a later block would have counted\n");
	summary_tail(verify, cpu);
}

void verify_summary(struct verify *verify)
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
