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

/* Files that series_trim() knows: 32 by size, 32 by time, and one for each snapshot */
#define SERIES_FILES 1024

/**
 * struct series_file - a file that has been finished
 * @number: in its name
 * @bytes: memory that it takes
 * @ended: when it was finished, ns of CLOCK_MONOTONIC
 */
struct series_file {
	unsigned int number;
	uint64_t bytes;
	uint64_t ended;
};

/**
 * struct series - as the command line has it, and how far it has got
 * @given: there are several files
 * @bytes, @seconds: a file's most, 0: any
 * @keep: how many stay, 0: all
 * @memory: bytes that all files together take at most, 0: any
 * @age: with @memory, seconds that a finished file stays, 0: any
 * @request: file that is deleted once all files up to SIGUSR2 are finished, or NULL
 * @files: those that are finished, oldest first, only with @memory
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
	uint64_t memory;
	double   age;
	const char *request;
	struct series_file files[SERIES_FILES];
	unsigned int nr_files;
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
/* Delete what is too much, now that there is one more, at @now ns of CLOCK_MONOTONIC; complains.
 * With @memory, files of an earlier recording go at the first one. */
void series_trim(struct series *series, uint64_t now);
/* The numbers of the files up to series->number, ascending.  @numbers to be freed; -errno */
int series_numbers(const struct series *series, unsigned int **numbers, size_t *count);
/* The name of file @number, PATH_MAX bytes at @name; -ENAMETOOLONG */
int series_file_name(const struct series *series, unsigned int number, char *name);
/* The disk is full: delete the oldest file, if --keep or @memory allows deleting at
 * all.  Returns false if there is none older than @current, which is being written. */
bool series_make_room(struct series *series, const char *current);

#endif /* TRACEBUF_SERIES_H */
