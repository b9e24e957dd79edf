/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write blocks to a file while the reader goes on: straight from the rings, with io_uring and
 * O_DIRECT where the kernel and the file system support them.
 */
#ifndef TRACEBUF_DIRECT_H
#define TRACEBUF_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "output_file.h"
#include "tracebuf.h"

struct direct;

/* Open a writer for the file of @out; @least: size of the smallest block.  NULL: not a regular
 * file, or no memory */
struct direct *direct_open(struct output_file *out, size_t least);
/* Write the rest of the queue, and truncate the file to its blocks; errors go into @out->failed */
void direct_close(struct direct *direct);

/* For -v: "io_uring, O_DIRECT ...", or the reason why one of them is not used */
const char *direct_way(const struct direct *direct, char text[256]);

/* How many blocks the queue has room for */
unsigned int direct_room(const struct direct *direct);
/* Bytes of the blocks in the queue */
uint64_t direct_waiting(const struct direct *direct);
/* Append a block to the queue, which must have room.  Once the block is written, @ref is released
 * to @device, and @owned is freed.  If a ring has many blocks in the queue, direct_step() copies
 * some of them and releases them early, within the limit of @out's backlog. */
void direct_add(struct direct *direct, const struct tb_block *block, struct tb_device *device,
		const struct tb_ref *ref, void *owned);
/* Process a finished write, and start the next; @wait: first wait for the running write */
void direct_step(struct direct *direct, bool wait);
void direct_finish(struct direct *direct);
/* File for poll(): POLLIN when the running write has finished; -1: no write runs */
int direct_fd(const struct direct *direct);

#endif /* TRACEBUF_DIRECT_H */
