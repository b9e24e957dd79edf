/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a recording that begins a new one now and then: when, their names, and how many
 * of them stay.
 */
#ifndef TRACEBUF_SERIES_H
#define TRACEBUF_SERIES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tool/command/command.h"

#define SERIES_LONG \
	{ "rotate", required_argument, NULL, OPTION_ROTATE }, \
	{ "keep",   required_argument, NULL, OPTION_KEEP }
#define SERIES_HELP \
	"      --rotate WHEN     begin a new file at a size (100M, 1G), after a time (10m,\n" \
	"                        1h), or at SIGUSR2 ('signal': only then). Each file,\n" \
	"                        FILE-0001.tbuf ..., is a trace by itself\n" \
	"      --keep N          keep the last N files, fewer on a full disk; delete older\n" \
	"                        ones (keep all, and end the recording on a full disk)\n"

/* "100M": bytes; 0 if it is no such thing */
uint64_t parse_size(const char *text);

/**
 * struct series - as the command line has it, and how far it has got
 * @given: there are several files
 * @bytes, @seconds: a file's most, 0: any
 * @keep: how many stay, 0: all
 * @output: the name they are made of
 * @number: of the file that is written now, @before: of the one before it
 * @name: its name: of @names, one stays while the next is made, by @turn
 * @deleted: the disk was full, and a file was deleted
 */
struct series {
	bool     given;
	uint64_t bytes;
	double   seconds;
	uint32_t keep;
	const char *output;
	unsigned int number, before;
	const char *name;
	bool     turn;
	bool     deleted;
	char     names[2][PATH_MAX];
};

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int series_option(const struct command *command, int option, const char *value,
		  struct series *series);

/* Name the next file, behind those there are; complains, EXIT_* */
int series_next(struct series *series, const char *output);
/* That one could not be made: its number is free again */
void series_back(struct series *series);
/* Delete what is too much, now that there is one more; complains */
void series_trim(const struct series *series);
/* The disk is full: delete the oldest file, if --keep allows deleting at
 * all.  Returns false if there is none older than @current, which is being written. */
bool series_make_room(struct series *series, const char *current);

#endif /* TRACEBUF_SERIES_H */
