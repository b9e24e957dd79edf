/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeping the recordings that tests make: files 000.tbuf, 001.tbuf ... in the folder that the
 * environment names as TRACEBUF_RECORDINGS. recordings_check.py exports them when the guest has
 * ended.
 */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include <stddef.h>

#define RECORDING_MAX	(1u << 20)	/* bytes: of a longer one its first blocks are kept */
#define RECORDINGS_MAX	64		/* of one test */

/* A new file; -1: none is wanted, or there are enough. */
int recording_new(void);

/* Write all of it, or end the program. */
void recording_write(int fd, const void *data, size_t bytes);

#endif /* RECORDINGS_H */
