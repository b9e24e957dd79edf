/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an export goes: nothing that has that name is half an export, or one that broke off.
 */
#ifndef TRACEBUF_EXPORT_OUTPUT_H
#define TRACEBUF_EXPORT_OUTPUT_H
#include <stdio.h>


enum output_kind {
	OUTPUT_STREAM,		/* what is written one byte after the other */
	OUTPUT_PATH,		/* a file that needs a name */
	OUTPUT_DIRECTORY,
};

/**
 * struct output - a file, directory, pipe or device
 * @name: for messages
 * @stream: OUTPUT_STREAM: to write to
 * @path: else: to be written to, an empty file or directory; what is not finished has this
 *	name, beside the one it is to get.  NULL: a stream that has no other name
 * @target: the name it is to get
 * @mode: of the directory that is replaced; 0: there is none
 * @file_mode, @group: who may read files: the bits and the group of the trace
 */
struct output {
	const char *name;
	FILE *stream;
	char *path;
	char *target;
	enum output_kind kind;
	mode_t mode, file_mode;
	gid_t group;
};

/* @trace: the file that is exported, which @name must not be, and whose bits a new file gets; NULL:
 *  there is none, and a new file is for its owner alone.  Complains, EXIT_* */
int output_open(struct output *output, const char *name, const char *trace,
		enum output_kind kind);

/* The export is complete: it gets its name.  Complains, EXIT_* */
int output_finish(struct output *output);

/* It is not: what there is of it goes */
void output_drop(struct output *output);

#endif /* TRACEBUF_EXPORT_OUTPUT_H */
