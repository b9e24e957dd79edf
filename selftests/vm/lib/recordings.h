/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeping the recordings that tests make: files 000.tbuf, 001.tbuf ... in the folder that the
 * environment names as TRACEBUF_RECORDINGS. recordings_check.py exports them when the guest has
 * ended.
 */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include <stddef.h>

#define RECORDING_MAX	(1u << 20)	/* bytes; of a longer recording the first blocks are kept */
#define RECORDINGS_MAX	64		/* of one test */

/* Returns a new file, or -1 if none is wanted or there are RECORDINGS_MAX. */
int recording_new(void);

/* Writes all of @data, or exits the program with an error. */
void recording_write(int fd, const void *data, size_t bytes);

#endif /* RECORDINGS_H */
