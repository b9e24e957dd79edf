/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf recover: what is found in an image of a machine's memory, and what becomes of it.
 */
#ifndef TRACEBUF_RECOVER_H
#define TRACEBUF_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "image.h"
#include "tracebuf.h"

#define RECOVER_BLOCK_MAX (1u << 20)

/* How much of a block is there, best first */
enum recover_state {
	RECOVER_WHOLE,		/* complete, and all of it is as its header says */
	RECOVER_OPEN,		/* it was being written */
	RECOVER_DAMAGED,	/* complete, but part of it is something else by now */
};

/**
 * struct recover_block - a block in the image
 * @recording: which it is of
 * @sequence: as its header says, and so on
 * @start: likewise
 * @end: time of its end; of its last event, if it is not whole
 * @order: where in time it is written: not before the one before it of its ring
 * @dropped: as its header says
 * @part: where in the image it is
 * @at: where in that part
 * @provider: as its header says, and so on
 * @cpu: likewise
 * @data: bytes of it that are checked, so that what lies among them is in an event of it
 * @kind: likewise
 * @log2: of its size
 * @state: how much is there
 * @init: it begins with TB_EV_INIT
 * @opening: what its header has for a number, if that was being replaced; else 0.  The header is
 *	then made from what this says (opening.c)
 * @events: in it
 * @unfinished: events that were begun and never committed
 * @limit: elements of it that are this lap's, where the ring says so; 0: not known
 */
struct recover_block {
	uint64_t recording, sequence;
	uint64_t start, end, order;
	uint64_t opening;
	uint64_t dropped;
	uint64_t at;
	uint32_t part, data;
	uint16_t provider, cpu;
	uint8_t  kind, log2, state;
	bool     init;
	uint32_t events, unfinished, limit;
};

/**
 * struct recover - all that was found
 * @blocks: sorted by recording, kind, CPU, number; best first where there are several
 * @rings: what the kernel kept of rings, sorted by recording and CPU
 * @unknown: blocks that do not say which recording they are of
 * @refused: headers of blocks that are none
 * @cut: blocks that go on where there is no more of the image
 * @inside: blocks that lie in an event of another of the same recording
 */
struct recover {
	struct recover_block *blocks;
	size_t nr_blocks, room_blocks;
	struct tb_ring_image *rings;
	size_t nr_rings, room_rings;
	uint64_t unknown, refused, cut, inside;
};

/**
 * struct recover_cpu - the counts of a ring
 * @cpu: whose
 * @ring: what the kernel kept, or NULL
 * @blocks: that were found of it
 * @events: in them
 * @unfinished: likewise
 * @gaps: places where blocks before one are missing
 * @missing: events in complete blocks that are not there, as far as known
 * @dropped: events that found no room, as far as known
 * @damaged: blocks of which a part is missing
 * @last: number of the last block
 */
struct recover_cpu {
	uint32_t cpu;
	const struct tb_ring_image *ring;
	uint64_t blocks, events, unfinished, gaps, missing, dropped, damaged, last;
};

/**
 * struct recover_recording - one of the recordings in an image
 * @id: tb_gap.recording
 * @durable: its durable blocks from the first that is of use, in order
 * @nr_durable: how many
 * @rolling: its rolling blocks by CPU, in order
 * @nr_rolling: how many
 * @durable_missing: durable blocks that should be among these
 * @contradicting: blocks that its initialisation says cannot be
 * @has_init: what follows is valid
 * @init: its initialisation
 * @realtime: of its last clock record, ns; 0: none
 * @cpus: counts of those that there is anything of, in order
 * @nr_cpus: how many
 */
struct recover_recording {
	uint64_t id;
	struct recover_block **durable;
	size_t nr_durable;
	struct recover_block **rolling;
	size_t nr_rolling;
	uint64_t durable_missing, contradicting;
	bool has_init;
	struct tb_init init;
	uint64_t realtime;
	struct recover_cpu *cpus;
	size_t nr_cpus;
};

/* ---- one block (block.c) ---- */

/* What may be a block in @data, @bytes of memory that begin at physical address @address: its
 * size, or -1 if there is none; 0: it would be larger than @bytes */
int64_t recover_header(const void *data, size_t bytes, uint64_t address);
/* What is in it: @found but for part, at and limit; false: it is no block */
bool recover_check(const struct tb_block *block, struct recover_block *found);
/* What is good of the block in @data, as a whole block in @out, both as large as it says; updates
 * end, events, unfinished of @found.  false: there is nothing */
bool recover_extract(const struct tb_block *data, struct recover_block *found, struct tb_block *out);

/* ---- headers that were being replaced (opening.c) ---- */

/* Works out of such among a ring's blocks, by number, what their headers do not say, and
 * leaves out those that are none; @ring may be NULL.  How many blocks are left */
size_t recover_openings(struct recover_block **blocks, size_t count, const struct tb_ring_image *ring);
/* The header of such a block; false: it is none any more */
bool recover_make_header(const struct recover_block *found, struct tb_block *block);

/* ---- the image (scan.c) ---- */

/* Find everything; @tick is called now and then with how much was looked at.  0 or -ENOMEM */
int recover_scan(struct recover *recover, struct image *image,
		 void (*tick)(uint64_t bytes, uint64_t of));
void recover_free(struct recover *recover);

/* ---- a recording (counts.c) ---- */

/* Number of the block that the ring is at, whose low bits it says: the nearest to @near */
uint64_t recover_current(const struct tb_ring_image *ring, uint64_t near);
/* The recordings of what was found; 0 or -errno */
int recover_recordings(struct recover *recover, const struct image *image,
		       struct recover_recording **recordings, size_t *count);
void recover_recordings_free(struct recover_recording *recordings, size_t count);
/* Write one as a trace; 0 or -errno, -ESTALE: the image is another than before */
int recover_write(const struct recover_recording *recording, const struct image *image, FILE *out);

#endif /* TRACEBUF_RECOVER_H */
