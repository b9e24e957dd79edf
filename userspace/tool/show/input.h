/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace file that a command reads: choose it, open it, report its damage.
 */
#ifndef TRACEBUF_INPUT_H
#define TRACEBUF_INPUT_H

#include <string.h>
#include "tracebuf.h"
#include "tool/command/command.h"

/* Set @file, which has the value of -i or NULL, to the operand of the command line behind the
 * options, or to DEFAULT_FILE if there is none.  Complains; EXIT_FINE or EXIT_USAGE */
int input_choose(const struct command *command, int argc, char **argv, const char **file);

/* Complains, EXIT_* */
int input_open(const char *file, struct tb_trace **trace);

/* Close @trace, which may be NULL.  Complains of damage of the file, unless @status is EXIT_USAGE.
 * Returns @status, or EXIT_WRONG if there was damage. */
int input_close(const char *file, struct tb_trace *trace, int status);

/* The length of @path without the ending of the file's name; ".x" has none */
static inline size_t file_stem(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	return dot && dot > (slash ? slash + 1 : path) ? (size_t)(dot - path) : strlen(path);
}

/* "x.tbuf" -> "x.svg", for the file that a command writes; the caller frees it.  NULL: ENOMEM */
char *file_with_ending(const char *path, const char *ending);

#endif /* TRACEBUF_INPUT_H */
