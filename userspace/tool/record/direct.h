/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing to a file while the reader goes on: blocks straight from where they are, by io_uring
 * and past the page cache where the kernel and the file system let us.
 */
#ifndef TRACEBUF_DIRECT_H
#define TRACEBUF_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sink.h"
#include "tracebuf.h"

struct direct;

/* For the file of @sink, blocks of @least bytes and more; NULL: not for this file, or no memory */
struct direct *direct_open(struct sink *sink, size_t least);
/* All that is left is written, and the file is as long as its blocks; what fails is in the sink */
void direct_close(struct direct *direct);

/* For -v: "io_uring, O_DIRECT ...", and why not */
const char *direct_way(const struct direct *direct, char text[256]);

/* How many blocks it can take now */
unsigned int direct_room(const struct direct *direct);
/* Bytes of those that are not written yet */
uint64_t direct_waiting(const struct direct *direct);
/* Add a block behind the others.  When it is written @ref is given back to @device, or @owned is
 * freed.  There must be room.  Where a ring has many blocks here direct_step() copies some of them
 * and gives them back at once, within the limit of the sink's backlog. */
void direct_add(struct direct *direct, const struct tb_block *block, struct tb_device *device,
		const struct tb_ref *ref, void *owned);
/* See what is finished, go on with what waits; @wait: until something is finished */
void direct_step(struct direct *direct, bool wait);
/* Until nothing is left */
void direct_finish(struct direct *direct);
/* For poll(): POLLIN when direct_step() has something to do; -1: never */
int direct_fd(const struct direct *direct);

#endif /* TRACEBUF_DIRECT_H */
