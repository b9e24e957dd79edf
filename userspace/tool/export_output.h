/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an export goes: nothing that has that name is half an export, or one that broke off.
 */
#ifndef TRACEBUF_EXPORT_OUTPUT_H
#define TRACEBUF_EXPORT_OUTPUT_H

#include "tool.h"

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
 */
struct output {
	const char *name;
	FILE *stream;
	char *path;
	char *target;
	enum output_kind kind;
};

/* @trace: the file that is exported, which @name must not be.  Complains, EXIT_* */
int output_open(struct output *output, const char *name, const char *trace,
		enum output_kind kind);

/* The export is complete: it gets its name.  Complains, EXIT_* */
int output_finish(struct output *output);

/* It is not: what there is of it goes */
void output_drop(struct output *output);

#endif /* TRACEBUF_EXPORT_OUTPUT_H */
