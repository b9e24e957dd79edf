/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the numbers of files stand for, by the system calls of a recording that open, copy and close
 * files.
 *
 * Known are files that were opened during the recording, with the name that the program opened them
 * by.  A child has those of its parent.  After each loss of events nothing is known: what closes a
 * file may be missing.
 */
#ifndef TRACEBUF_FILES_H
#define TRACEBUF_FILES_H

#include <stdint.h>
#include "tracebuf.h"

struct files;

struct files *files_open(const struct tb_trace *trace);		/* NULL: no memory */
void files_close(struct files *files);

/* The next event or loss, in the order of time, @ns its time; 0, -ENOMEM */
int files_take(struct files *files, const struct tb_view *view, uint64_t ns);

/**
 * files_of_call - what a system call is about
 * @begin: when the call began, as given to files_take(); it is the last call of @tid
 *
 * Return: a number for files_name(); 0: not known, or nothing.
 */
uint32_t files_of_call(const struct files *files, uint32_t tid, uint64_t begin);

/* "of /etc/passwd", "of a socket (AF_INET)", "at 0x7f0012345678"; nothing a terminal would obey */
const char *files_name(const struct files *files, uint32_t number);

#endif /* TRACEBUF_FILES_H */
