/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checker's counts of the events that the torture module recorded: it compares each event with
 * its own hash, and counts it.
 */
#ifndef TORTURE_ACCOUNTING_H
#define TORTURE_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "../vm/lib/stream.h"
#include "torture.h"

#define ACCOUNTING_CPUS	8

/*
 * The most events in a ring that are not of the torture module: threads that start and exit during
 * hotplug, and the clock. So few that an event that was counted twice cannot hide among them for
 * long.
 */
#define OTHERS_MAX	40

/* spans of time */
struct accounting_spans {
	struct { uint64_t first, last; } *span;
	size_t count, room;
};

struct accounting {
	char error[256];
	/* of each source on each CPU: delivered events, and 1 + the number of the last one */
	uint64_t seen[ACCOUNTING_CPUS][TT_SOURCES];
	uint64_t next[ACCOUNTING_CPUS][TT_SOURCES];
	/* of each CPU: missing numbers so far, in this recording */
	uint64_t missing[ACCOUNTING_CPUS];
	bool begun[ACCOUNTING_CPUS][TT_SOURCES];
	uint64_t time[ACCOUNTING_CPUS][TT_SOURCES];	/* of the last event */
	/* of each CPU: spans of missing numbers, and spans that gaps count */
	struct accounting_spans passed[ACCOUNTING_CPUS], reported[ACCOUNTING_CPUS];
	uint64_t last_start[ACCOUNTING_CPUS];	/* of the last block */
	/* of each CPU: events that are not the torture module's */
	uint64_t others[ACCOUNTING_CPUS];
	uint64_t composites;
	uint64_t bytes;			/* of the largest payload */
};

/* event() and block() of a stream, with the counts as ctx. */
void accounting_event(void *ctx, const struct stream_event *e);
void accounting_block(void *ctx, const struct tb_block *block, const struct tb_gap *gap);

/* Does a gap cover each span of missing numbers? False: b->error. */
bool accounting_cover(struct accounting *b);

/* Begins a recording; sources may be active already. */
void accounting_begin(struct accounting *b);

/*
 * Call it after a recording that began and ended without active sources. Do the counts @b, the
 * stream @s, the statistics and the counts of the module (@fd of /dev/tb_torture, @control of
 * /dev/tracebuf) agree on @cpu? False: b->error.
 */
bool accounting_close(struct accounting *b, const struct stream *s, int fd, int control,
		      uint32_t cpu);

/* The sum over the sources of @cpu. */
struct tt_counts counts_of(int fd, uint32_t cpu);

#endif /* TORTURE_ACCOUNTING_H */
