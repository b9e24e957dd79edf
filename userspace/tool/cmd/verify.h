/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of tracebuf verify: verify.c goes through the file, verify_block.c checks blocks and
 * events, verify_counts.c compares the counts of blocks and totals, and prints them.
 */
#ifndef TRACEBUF_VERIFY_H
#define TRACEBUF_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"

#define VERIFY_MESSAGES 10

/* The header of block number @number */
struct numbered_header {
	struct tb_block header;
	size_t number;
};

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
	struct numbered_header *headers;	/* sorted; NULL: not needed yet */
	size_t nr_headers;
	/* of the block at hand */
	const struct tb_block *block;
	uint64_t offset;
};

/* Complain about @offset of the file; after VERIFY_MESSAGES complaints only count */
__attribute__((format(printf, 3, 4)))
void verify_broken(struct verify *verify, uint64_t offset, const char *text, ...);

/* Check the block at hand, and count in its ring */
void verify_block(struct verify *verify);
void verify_note(struct verify *verify);
/* Compare the counts of a CPU's blocks with its totals */
void verify_totals(struct verify *verify, unsigned int cpu);
/* Print the table of a recording */
void verify_summary(struct verify *verify);

/* Check the invariants of the analyses of the selected recording (verify_analysis.c), and print
 * what was checked unless @quiet.  Complains, EXIT_* */
int verify_analysis(const char *file, struct tb_trace *trace, bool quiet);

#endif /* TRACEBUF_VERIFY_H */
