/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a recording with --rotate: when the next one begins, their names, and which old ones
 * are deleted.
 */
#ifndef TRACEBUF_ROTATION_H
#define TRACEBUF_ROTATION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tool/command/command.h"

#define ROTATION_HELP \
	"      --rotate WHEN     begin a new file at a size (100M, 1G), after a time (10m,\n" \
	"                        1h), or at SIGUSR2 ('signal': only then). Each file,\n" \
	"                        FILE-0001.tbuf ..., is a trace by itself\n" \
	"      --keep N          keep the last N files, fewer on a full disk; delete older\n" \
	"                        ones (keep all, and end the recording on a full disk)\n"

/* Parse "100M" into bytes; 0: invalid */
uint64_t parse_size(const char *text);

/* Finished files in the list with @memory: 32 by size, 32 by time, and one for each snapshot */
#define ROTATION_FILES 1024

/**
 * struct rotation_file - a file that has been finished
 * @number: in its name
 * @bytes: memory that it takes
 * @ended: when it was finished, ns of CLOCK_MONOTONIC
 */
struct rotation_file {
	unsigned int number;
	uint64_t bytes;
	uint64_t ended;
};

/**
 * struct rotation - the options of a rotation, and its state
 * @given: the recording may have several files
 * @bytes, @seconds: begin a new file at this size or time; 0: no limit
 * @keep: number of files to keep; 0: all
 * @memory: bytes that all files together may take; 0: no limit
 * @age: with @memory, seconds to keep a finished file; 0: no limit
 * @request: file to delete once all files up to SIGUSR2 are finished, or NULL
 * @files: finished files, oldest first, only with @memory
 * @output: name of which the files' names are made
 * @number: number of the current file
 * @before: number of the file before it
 * @name: name of the current file, one of @names
 * @turn: index of @name in @names; the other one is free for the next name
 * @deleted: a file was deleted because the disk was full
 */
struct rotation {
	bool     given;
	uint64_t bytes;
	double   seconds;
	uint32_t keep;
	uint64_t memory;
	double   age;
	const char *request;
	struct rotation_file files[ROTATION_FILES];
	unsigned int nr_files;
	const char *output;
	unsigned int number, before;
	const char *name;
	bool     turn;
	bool     deleted;
	char     names[2][PATH_MAX];
};

/* Parse an option of ROTATION_HELP.  Returns 1; 0: another option; -1 after complaining */
int rotation_option(const struct command *command, int option, const char *value,
		    struct rotation *rotation);

/* Choose the number and name of the next file, after all existing files; complains, EXIT_* */
int rotation_next(struct rotation *rotation, const char *output);
/* Undo rotation_next(): the file could not be created */
void rotation_back(struct rotation *rotation);
/* After rotation_next(), delete the files beyond the limits; @now: ns of CLOCK_MONOTONIC;
 * complains.  With @memory, the first call deletes all files of earlier recordings. */
void rotation_trim(struct rotation *rotation, uint64_t now);
/* Get the numbers of the files up to rotation->number, ascending.  The caller frees @numbers.  0,
 * -errno */
int rotation_numbers(const struct rotation *rotation, unsigned int **numbers, size_t *count);
/* Make the name of file @number; @name has room for PATH_MAX bytes; -ENAMETOOLONG */
int rotation_file_name(const struct rotation *rotation, unsigned int number, char *name);
/* The disk is full: delete the oldest file, if --keep or @memory allows that.  Returns false if
 * no file was deleted: none is older than @current, the file being written. */
bool rotation_make_room(struct rotation *rotation, const char *current);

#endif /* TRACEBUF_ROTATION_H */
