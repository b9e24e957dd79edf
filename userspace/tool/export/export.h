/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf export - what the subcommand and the exporters agree on.
 *
 * An exporter is a function that gets a trace and writes all of the selected recording that
 * options->next brings.  A format is a row of the table in cmd/export.c.
 */
#ifndef TRACEBUF_TOOL_EXPORT_H
#define TRACEBUF_TOOL_EXPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"
#include "tool/command/command.h"

struct symbols;
struct why_threads;

/**
 * struct tb_export_options - how to export
 * @verbose: say on standard error what was left out and why; the formats that are one event
 *	after the other have control events, too
 * @error: where an exporter writes what went wrong (without newline)
 * @error_size: bytes there
 * @path: EXPORT_PATH, EXPORT_DIRECTORY: the empty file or directory to write to
 * @base: the clock that times are of, where the format leaves a choice
 * @wanted: of events with a format, by its index: those that @next brings; NULL: all
 * @next: see tb_export_next()
 * @over: for exporters that read in a process of their own: to be told in this one what the
 *	cursor knew at the end: a damaged block, or NULL; how many elements were left out
 * @told_to_stop: not zero once it is, by a signal
 * @context: for @next, @over
 * @symbols: names for functions, for formats that show events as text; NULL: none
 * @fields: formats that are text show all fields of an event
 * @why: perfetto shows the time of these threads by causes, on CLOCK_BOOTTIME; NULL: of none
 * @one_event: the events wanted of the kernel are all called the same
 */
struct tb_export_options {
	int    verbose;
	char  *error;
	size_t error_size;
	const char *path;
	enum tb_timebase base;
	const unsigned char *wanted;
	int (*next)(void *context, struct tb_cursor *cursor,
		    struct tb_view *view);
	void (*over)(void *context, const struct tb_error *damage,
		     uint64_t uncommitted);
	const volatile sig_atomic_t *told_to_stop;
	void  *context;
	struct symbols *symbols;
	const struct why_threads *why;
	bool   fields;
	bool   one_event;
};

/**
 * tb_export_next - the next event that is to be exported; as tb_cursor_next()
 * Return: also -EINTR: told to stop.
 */
static inline int tb_export_next(const struct tb_export_options *options,
				 struct tb_cursor *cursor, struct tb_view *view)
{
	return options && options->next ?
	       options->next(options->context, cursor, view) :
	       next_event(cursor, view);
}

/*
 * Exporters: @trace has no cursor open; @out is a binary stream, not closed, NULL for formats
 * that write to options->path.
 * Return: 0, or -errno (write errors included); text in options->error if there is more to say.
 */
typedef int tb_exporter(struct tb_trace *trace, FILE *out,
			const struct tb_export_options *options);

tb_exporter tb_export_perfetto, tb_export_json, tb_export_jsonl,
	tb_export_text, tb_export_csv, tb_export_sqlite, tb_export_fxt, tb_export_ctf;

/* ---- one JSON object per event, for print as well ---- */

struct jsonl;

/* @base: of times; NULL: ENOMEM */
struct jsonl *jsonl_open(const struct tb_trace *trace, FILE *out,
			 enum tb_timebase base);
/* Errors are kept until jsonl_close() */
void jsonl_event(struct jsonl *jsonl, const struct tb_view *view);
/* Writes what is left; 0 or -errno */
int jsonl_close(struct jsonl *jsonl);

#endif /* TRACEBUF_TOOL_EXPORT_H */
