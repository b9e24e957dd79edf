/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packing blocks: frames of a packed trace (lib/pack/, docs/abi.md), made by several threads.
 */
#ifndef TRACEBUF_PACK_H
#define TRACEBUF_PACK_H

#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct pack;

/**
 * struct frame - some blocks
 * @blocks: the first of them, one after the other in an array
 * @count: how many
 * @content: bytes of them
 * @data: the frame, memory of the struct pack
 * @bytes: of this; 0: there was no memory
 */
struct frame {
	const struct tb_block *const *blocks;
	unsigned int count;
	size_t content;
	const void *data;
	size_t bytes;
};

/* At most so many at once */
#define PACK_FRAMES 16

/* @level: of zstd, 0: the usual one; by @threads; NULL: no memory */
struct pack *pack_open(int level, unsigned int threads);
void pack_close(struct pack *pack);

/* Pack the first of @count blocks.  Returns how many frames these are; they stay as they are until
 * the next call.  Blocks are not needed any more. */
unsigned int pack_blocks(struct pack *pack, const struct tb_block *const *blocks,
			 unsigned int count, struct frame frames[PACK_FRAMES]);

#endif /* TRACEBUF_PACK_H */
