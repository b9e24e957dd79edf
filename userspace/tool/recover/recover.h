/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf recover: find blocks and rings in an image of a machine's memory, and write traces.
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

/* How much of a block is valid, best first */
enum recover_state {
	RECOVER_WHOLE,		/* complete and valid */
	RECOVER_OPEN,		/* was being written */
	RECOVER_DAMAGED,	/* complete, but partly replaced by other data */
};

/**
 * struct recover_block - a block in the image
 * @recording, @sequence, @start, @dropped, @provider, @cpu, @kind: from its header
 * @end: time of its end, or of its last event if it is not whole
 * @order: time by which blocks are sorted in the trace; never less than that of the ring's block
 *	before it
 * @part: part of the image
 * @at: offset in that part
 * @data: bytes that belong to the block for certain: other blocks among them are contents of events
 * @log2: binary logarithm of its size
 * @state: enum recover_state
 * @init: it begins with TB_EV_INIT
 * @opening: the sequence word of a header that was being replaced; else 0.  opening.c then makes
 *	the header
 * @events: number of events
 * @unfinished: events that were begun and never committed
 * @limit: elements that are of this lap, by the ring's head; 0: not known
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
 * struct recover - all blocks and rings found
 * @blocks: sorted by recording, kind, CPU and number; of copies the best comes first
 * @rings: the kernel's states of rings, sorted by recording and CPU; of copies the newest first
 * @unknown: number of blocks without a recording number
 * @refused: number of places with the magic number of a block, but no valid header
 * @cut: number of blocks that end beyond the image
 * @inside: number of blocks inside an event of another block of the same recording
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
 * @cpu: CPU of the ring
 * @ring: the kernel's state of the ring, or NULL
 * @totals: without @ring: the counts that the kernel wrote when it stopped, or NULL
 * @blocks: blocks found
 * @events: events in these blocks
 * @unfinished: events that were begun and never committed
 * @gaps: places where blocks are missing
 * @missing: events in complete blocks that were not found; a minimum without @ring and @totals
 * @dropped: events that found no room; a minimum without @ring and @totals
 * @damaged: blocks of which a part is missing
 * @last: sequence number of the last block
 */
struct recover_cpu {
	uint32_t cpu;
	const struct tb_ring_image *ring;
	const struct tb_totals *totals;
	uint64_t blocks, events, unfinished, gaps, missing, dropped, damaged, last;
};

/**
 * struct recover_recording - one of the recordings in an image
 * @id: tb_gap.recording
 * @durable, @nr_durable: its useful durable blocks, in order (durable_choose())
 * @rolling, @nr_rolling: its rolling blocks, sorted by CPU and number
 * @durable_missing: number of durable blocks missing among @durable
 * @contradicting: number of blocks left out: they contradict @init or have another provider
 * @has_init: @init is valid
 * @init: its initialisation
 * @realtime: time of its last clock record, ns; 0: none
 * @totals, @nr_totals: what the kernel wrote when it stopped, sorted by CPU
 * @cpus, @nr_cpus: counts of the CPUs that have blocks or a ring, sorted
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
	struct tb_totals *totals;
	size_t nr_totals, room_totals;
	struct recover_cpu *cpus;
	size_t nr_cpus;
};

/* ---- one block (block.c) ---- */

/* Check the header at @data, which has @bytes at physical address @address.  Returns the size of
 * the block; -1: not a block; 0: the block is larger than @bytes */
int64_t recover_header(const void *data, size_t bytes, uint64_t address);
/* Check the block, and fill in @found but for part, at and limit; false: not a block */
bool recover_check(const struct tb_block *block, struct recover_block *found);
/* Make a complete block in @out of the valid part of @data; both have the block's size.  Updates
 * end, events and unfinished of @found; false: nothing is valid */
bool recover_extract(const struct tb_block *data, struct recover_block *found, struct tb_block *out);

/* ---- headers that were being replaced (opening.c) ---- */

/* Among a ring's blocks, sorted by number, find those whose header was being replaced.  Complete
 * their data, and remove those that the ring's head has not reached; @ring may be NULL.  Returns
 * how many blocks are left */
size_t recover_openings(struct recover_block **blocks, size_t count, const struct tb_ring_image *ring);
/* Make the header of such a block; false: the image has changed since the scan */
bool recover_make_header(const struct recover_block *found, struct tb_block *block);

/* ---- the image (scan.c) ---- */

/* Find all blocks and rings; @tick shows progress, or NULL.  0 or -ENOMEM */
int recover_scan(struct recover *recover, struct image *image,
		 void (*tick)(uint64_t bytes, uint64_t of));
void recover_free(struct recover *recover);

/* ---- recordings (accounting.c) ---- */

/* Sequence number of the ring's current block.  The ring's state has only its low bits: take the
 * number nearest to @near */
uint64_t recover_current(const struct tb_ring_image *ring, uint64_t near);
/* Make recordings of the blocks and rings found; 0 or -errno; -ESTALE: the image has changed */
int recover_recordings(struct recover *recover, const struct image *image,
		       struct recover_recording **recordings, size_t *count);
void recover_recordings_free(struct recover_recording *recordings, size_t count);
/* Write a recording as a trace; 0 or -errno; -ESTALE: the image has changed since the scan */
int recover_write(const struct recover_recording *recording, const struct image *image, FILE *out);

#endif /* TRACEBUF_RECOVER_H */
