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
	bool     seen;			/* a block, or the counts of an earlier file */
	uint64_t sequence;		/* of the last block */
	uint64_t ticks;			/* of the last event */
	uint64_t blocks, events, bytes;
	uint64_t overwritten, dropped;	/* totals in the last block's header */
	struct tb_block last;		/* header of the last block; magic 0: none in this file */
	uint64_t gap_overwritten, gap_dropped;	/* sums of the gap slots */
	uint64_t gaps;
	bool     unreported;		/* a later block must count the missing blocks */
	struct tb_part before;		/* counts of the files before this one; zero: none */
	bool     continues;		/* the recording goes on in the next file */
};

struct verify {
	const char *file;
	struct tb_trace *trace;
	bool quiet, analysis, disagree;
	unsigned int problems;
	/* of the current recording */
	const struct tb_init *init;
	uint64_t recording;		/* its number (tb_gap.recording); 0: not known yet */
	struct ring *rings;
	unsigned int nr_rings;
	struct ring durable;
	uint64_t note_blocks, names;
	unsigned int open;		/* rings of all recordings with an unknown end */
	bool attached;			/* the next event may be a stack or counters */
	struct numbered_header *headers;	/* sorted; NULL: not needed yet */
	size_t nr_headers;
	/* of the current block */
	const struct tb_block *block;
	uint64_t offset;
};

/* Complain about @offset of the file; after VERIFY_MESSAGES complaints only count */
__attribute__((format(printf, 3, 4)))
void verify_broken(struct verify *verify, uint64_t offset, const char *text, ...);

/* Check the current block, and count it in its ring; verify_note(): a block of notes */
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
