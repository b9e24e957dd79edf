/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressing blocks: zstd frames, each of whole blocks (docs/abi.md), by several threads.
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
 * @data: compressed, memory of the struct pack
 * @bytes: of this; 0: it could not be compressed
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

/* Of this level (0: the usual one), by @threads; NULL: no memory */
struct pack *pack_open(int level, unsigned int threads);
void pack_close(struct pack *pack);

/* Compress the first of @count blocks.  Returns how many frames these are; they stay as they
 * are until the next call.  Blocks are not needed any more. */
unsigned int pack_blocks(struct pack *pack, const struct tb_block *const *blocks,
			 unsigned int count, struct frame frames[PACK_FRAMES]);

/* The table for seeking that goes behind the frames of a file (the seekable format of zstd), to
 * be freed; those after it are of another file.  @bytes 0: there were none, or no memory */
void *pack_table(struct pack *pack, size_t *bytes);
/* A frame is in the file */
void pack_written(struct pack *pack, const struct frame *frame);

#endif /* TRACEBUF_PACK_H */
