/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checker's counts of what the sources of the torture module recorded: every
 * event is held to what it says of itself, and counted.
 */
#ifndef TORTURE_ACCOUNTING_H
#define TORTURE_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "../vm/lib/stream.h"
#include "torture.h"

#define ACCOUNTING_CPUS	8

/*
 * Events of a recording's ring that are not ours: threads that begin and end while a CPU
 * comes and goes, and the clock.  So few that none of ours, counted twice, hides among them
 * for long.
 */
#define OTHERS_MAX	40

/* spans of time */
struct accounting_spans {
	struct { uint64_t first, last; } *span;
	size_t count, room;
};

struct accounting {
	char error[256];
	/* of each source on each CPU: delivered, and 1 + the number of the last one */
	uint64_t seen[ACCOUNTING_CPUS][TT_SOURCES];
	uint64_t next[ACCOUNTING_CPUS][TT_SOURCES];
	/* of each CPU: numbers passed by so far, in this recording */
	uint64_t missing[ACCOUNTING_CPUS];
	bool begun[ACCOUNTING_CPUS][TT_SOURCES];
	uint64_t time[ACCOUNTING_CPUS][TT_SOURCES];	/* of the last one */
	/* of each CPU: where numbers were passed by, where gaps say that events are missing */
	struct accounting_spans passed[ACCOUNTING_CPUS], told[ACCOUNTING_CPUS];
	uint64_t last_start[ACCOUNTING_CPUS];	/* of its last block */
	/* of each CPU: events that are not the torture module's */
	uint64_t others[ACCOUNTING_CPUS];
	uint64_t composites;
	uint64_t bytes;			/* of payload, the largest */
};

/* A stream's event() and block(), with the counts as its ctx. */
void accounting_event(void *ctx, const struct stream_event *e);
void accounting_block(void *ctx, const struct tb_block *block, const struct tb_gap *gap);

/* Does a gap cover each place where numbers were passed by?  False: b->error. */
bool accounting_cover(struct accounting *b);

/* A new recording, of sources that may be at work already. */
void accounting_begin(struct accounting *b);

/*
 * After a recording that began when the sources were at rest, and ended so: do the
 * counts @b, the stream @s, the statistics and what the module says (@fd of
 * /dev/tb_torture, @control of /dev/tracebuf) agree on CPU @cpu?
 * False: b->error.
 */
bool accounting_close(struct accounting *b, const struct stream *s, int fd, int control,
		      uint32_t cpu);

/* What the sources on @cpu did, all together. */
struct tt_counts counts_of(int fd, uint32_t cpu);

#endif /* TORTURE_ACCOUNTING_H */
