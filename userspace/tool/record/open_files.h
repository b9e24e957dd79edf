/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that processes have open when the recording starts: the recording does not have the
 * calls that opened them.  Written behind the blocks (TB_EV_OPEN_FILE in notes).
 */
#ifndef TRACEBUF_OPEN_FILES_H
#define TRACEBUF_OPEN_FILES_H

#include <stddef.h>
#include <stdint.h>

struct open_files;

/**
 * open_files_start - start a thread that reads /proc/PID/fd
 * @pids: the processes, @count of them; 0: all processes
 *
 * Call this after the recording has started, so that it has all later calls that open or close
 * files.  Return: NULL: no memory, or no thread.
 */
struct open_files *open_files_start(const uint32_t *pids, size_t count);

/* Wait until the thread has ended.  Return: how many processes it left out, for lack of permission
 * or time */
unsigned int open_files_wait(struct open_files *files);
/* The same, but tell the thread to stop reading */
unsigned int open_files_stop(struct open_files *files);

/**
 * open_files_notes - make notes of the files
 * @first: sequence number of the first block of notes
 * @provider: provider of the recording
 * @data: out: blocks of notes, which the caller frees; NULL: none
 * @bytes: out: size of @data
 *
 * Call this after open_files_wait() or open_files_stop().  Return: 0 or -ENOMEM.
 */
int open_files_notes(const struct open_files *files, uint64_t first, uint16_t provider,
		     void **data, size_t *bytes);

void open_files_free(struct open_files *files);

#endif /* TRACEBUF_OPEN_FILES_H */
