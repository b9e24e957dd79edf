/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing to a file while the reader goes on: blocks straight from where they are, by io_uring
 * and past the page cache where the kernel and the file system let us.
 */
#ifndef TRACEBUF_DIRECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sink.h"
#include "tracebuf.h"
#define TRACEBUF_DIRECT_H


struct direct;

/* What one of several that write into a file tells: a block that begins at @at is in the file; or
 * it could not be written, nor anything that was added later */
struct direct_lane {
	void (*written)(void *context, uint64_t at, uint32_t events);
	void (*failed)(void *context, uint64_t at);
	void *context;
};

/* For the file of @sink, blocks of @least bytes and more; @lane: one of several, or NULL.
 * NULL: not for this file, or no memory */
struct direct *direct_open(struct sink *sink, size_t least, const struct direct_lane *lane);
/* All that is left is written, and the file is as long as its blocks; what fails is in the sink */
void direct_close(struct direct *direct);

/* Is the file in memory, so that there is nothing to allocate ahead? */
bool direct_in_memory(int fd);

/* For -v: "io_uring, O_DIRECT ...", and why not */
const char *direct_way(const struct direct *direct, char text[256]);

/* How many blocks it can take now */
unsigned int direct_room(const struct direct *direct);
/* Bytes of those that are not written yet */
uint64_t direct_waiting(const struct direct *direct);
/* One more, for @at of the file, where those of one writer are in their order: @ref is given back to @device when it is written; or @owned is
 * freed then.  There must be room.  Where the ring has many here direct_step() copies some and gives
 * them back at once, as far as the sink's backlog goes. */
void direct_add(struct direct *direct, uint64_t at, const struct tb_block *block,
		struct tb_device *device, const struct tb_ref *ref, void *owned);
/* Where the first is that is not written yet; UINT64_MAX: all are */
uint64_t direct_first(const struct direct *direct);
/* See what is finished, go on with what waits; @wait: until something is finished */
void direct_step(struct direct *direct, bool wait);
/* Until nothing is left */
void direct_finish(struct direct *direct);
/* For poll(): POLLIN when direct_step() has something to do; -1: never */
int direct_fd(const struct direct *direct);

#endif /* TRACEBUF_DIRECT_H */
