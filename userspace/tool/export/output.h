/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of an export, which gets its name only when it is complete.
 */
#ifndef TRACEBUF_EXPORT_OUTPUT_H
#define TRACEBUF_EXPORT_OUTPUT_H
#include <stdio.h>


enum output_kind {
	OUTPUT_STREAM,		/* a stream: a file, pipe or device */
	OUTPUT_PATH,		/* a file that the exporter opens by its name */
	OUTPUT_DIRECTORY,
};

/**
 * struct output - a file, directory, pipe or device
 * @name: for messages
 * @stream: OUTPUT_STREAM: the stream to write to
 * @path: the temporary file or directory beside @target; NULL: a pipe or device
 * @target: the name that output_finish() gives it
 * @mode: of the directory that is replaced; 0: there is none
 * @file_mode, @group: mode and group of new files, from the trace
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

/*
 * Open @name.  @trace: the exported file: @name must be another one; a new file gets its mode and
 * group.  NULL: there is none, and only the owner can read a new file.  Complains, EXIT_*
 */
int output_open(struct output *output, const char *name, const char *trace,
		enum output_kind kind);

/* Rename the complete export to its name.  Complains, EXIT_* */
int output_finish(struct output *output);

/* Remove an export that is not complete */
void output_drop(struct output *output);

#endif /* TRACEBUF_EXPORT_OUTPUT_H */
