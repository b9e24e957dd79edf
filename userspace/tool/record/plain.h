/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing with writev(): into pipes, sockets, and files that are not written by direct.c.
 */
#ifndef TRACEBUF_PLAIN_H
#define TRACEBUF_PLAIN_H

#include <stdint.h>
#include <sys/uio.h>
#include "sink.h"

/**
 * struct piece - something that is in the file as a whole, or not at all
 * @rolling: the rolling blocks in it
 * @events: the events of these blocks
 */
struct piece {
	uint32_t rolling;
	uint64_t events;
};

/* Open standard output for writing.  If it is a pipe, writing does not block here, and still does
 * in other programs that have it.  Returns the file, or -errno. */
int plain_stdout(void);

/*
 * Write @count pieces, which @vectors describe and which are changed here.  @written: so many
 * pieces are in the file as a whole.  Waits for the reader of a pipe; after a signal that ends the
 * recording, only as long as the reader takes something within 5 s.  Returns 0; -EIO: it failed,
 * and the sink has the reason and the events that are missing.
 */
int plain_write(struct sink *sink, struct iovec *vectors, const struct piece *pieces,
		unsigned int count, unsigned int *written);

#endif /* TRACEBUF_PLAIN_H */
