/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pack blocks into frames of a packed trace (lib/pack/, docs/abi.md), with several threads.
 */
#ifndef TRACEBUF_PACK_H
#define TRACEBUF_PACK_H

#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct pack;

/**
 * struct frame - some blocks, and their packed form
 * @blocks: array of the blocks
 * @count: number of blocks
 * @content: bytes of the blocks
 * @data: the packed frame, in memory of the struct pack
 * @bytes: size of @data; 0: packing failed, for lack of memory
 */
struct frame {
	const struct tb_block *const *blocks;
	unsigned int count;
	size_t content;
	const void *data;
	size_t bytes;
};

/* Most frames that one pack_blocks() makes */
#define PACK_FRAMES 16

/* @level: of zstd, 0: the default; @threads: including the caller; NULL: no memory */
struct pack *pack_open(int level, unsigned int threads);
void pack_close(struct pack *pack);

/* Pack blocks from the first of @count on, into at most PACK_FRAMES frames.  Returns the number of
 * frames, which are valid until the next call.  The caller may release the blocks in them. */
unsigned int pack_blocks(struct pack *pack, const struct tb_block *const *blocks,
			 unsigned int count, struct frame frames[PACK_FRAMES]);

#endif /* TRACEBUF_PACK_H */
