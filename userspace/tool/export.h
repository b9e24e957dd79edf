/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf export - what the subcommand and the exporters agree on.
 */
#ifndef TRACEBUF_TOOL_EXPORT_H
#define TRACEBUF_TOOL_EXPORT_H

#include <stdio.h>
#include "tracebuf.h"

/**
 * struct tb_export_options - how to export
 * @verbose: say on standard error what was left out and why
 * @error: where an exporter writes what went wrong (without newline)
 * @error_size: bytes there
 */
struct tb_export_options {
	int    verbose;
	char  *error;
	size_t error_size;
};

/**
 * tb_export_perfetto - write the selected recording as a native Perfetto trace
 * @trace: the trace; no cursor may be open on it
 * @out: binary stream; not closed
 * Return: 0, or -errno (write errors of @out included); text in
 * @options->error.
 */
int tb_export_perfetto(struct tb_trace *trace, FILE *out,
		       const struct tb_export_options *options);

/**
 * tb_export_ctf - write it as CTF, into the directory @path, which must not exist or be empty
 *
 * When this fails there is nothing at @path, except for -EBADMSG: then a block of the
 * trace is damaged, and all the others are there.
 */
int tb_export_ctf(struct tb_trace *trace, const char *path,
		  const struct tb_export_options *options);

#endif /* TRACEBUF_TOOL_EXPORT_H */
