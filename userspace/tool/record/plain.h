/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write with writev() into pipes, sockets, and files that direct.c does not write.
 */
#ifndef TRACEBUF_PLAIN_H
#define TRACEBUF_PLAIN_H

#include <stdint.h>
#include <sys/uio.h>
#include "output_file.h"

/**
 * struct piece - a block or frame, which is written whole or not at all
 * @rolling: number of rolling blocks in it
 * @events: events of these blocks
 */
struct piece {
	uint32_t rolling;
	uint64_t events;
};

/* Open standard output again.  If it is a pipe, the new file does not block; other programs that
 * have the pipe still block.  Returns the file, or -errno. */
int plain_stdout(void);

/*
 * Write @count pieces.  @vectors: their memory; this function changes the array.  @written: out:
 * how many pieces are in the file.  Waits for the reader of a pipe; after a signal that ends the
 * recording, at most 5 s.  Returns 0, or -EIO: out->failed has the reason, and out->unwritten
 * counts the missing events.
 */
int plain_write(struct output_file *out, struct iovec *vectors, const struct piece *pieces,
		unsigned int count, unsigned int *written);

#endif /* TRACEBUF_PLAIN_H */
