/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What processes have open when the recording starts: the calls that opened these files are not in
 * it.  Written behind the blocks (TB_EV_OPEN_FILE in notes).
 */
#ifndef TRACEBUF_OPEN_FILES_H
#define TRACEBUF_OPEN_FILES_H

#include <stddef.h>
#include <stdint.h>

struct open_files;

/**
 * open_files_start - read /proc/PID/fd, in a thread of its own
 * @pids: of these processes, @count of them; 0: of all
 *
 * Call this once the recording runs: then the recording has each call that changes what was read.
 * Return: NULL: no memory.
 */
struct open_files *open_files_start(const uint32_t *pids, size_t count);

/* Wait until all is read.  Return: how many processes were left out, for lack of permission or
 * time */
unsigned int open_files_wait(struct open_files *files);
/* The same, but nothing more is read from now on */
unsigned int open_files_stop(struct open_files *files);

/**
 * open_files_notes - what was read, as notes
 * @first: number of the first note
 * @provider: whose recording it is
 * @data: out: to be freed; NULL: there is none
 *
 * After open_files_wait() or open_files_stop().  Return: 0 or -ENOMEM.
 */
int open_files_notes(const struct open_files *files, uint64_t first, uint16_t provider,
		     void **data, size_t *bytes);

void open_files_free(struct open_files *files);

#endif /* TRACEBUF_OPEN_FILES_H */
