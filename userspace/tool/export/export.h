/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf export - the interface between the subcommand and the exporters.
 *
 * An exporter is a function that writes all events of a trace that options->next() returns.  Each
 * format is a row of the table in cmd/export.c.
 */
#ifndef TRACEBUF_TOOL_EXPORT_H
#define TRACEBUF_TOOL_EXPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"
#include "tool/command/command.h"

struct selection;
struct symbols;
struct why_threads;

/**
 * struct tb_export_options - how to export
 * @verbose: report on standard error what was left out and why; formats that list events also
 *	list control events
 * @error: buffer for an error message (without newline)
 * @error_size: bytes of @error
 * @path: EXPORT_PATH, EXPORT_DIRECTORY: the empty file or directory to write to
 * @base: the clock of times, where the format leaves a choice
 * @switches_from: @next returns all switches from this time on, in ticks; UINT64_MAX: not all
 * @wanted: by index of the format: true if @next returns its events; NULL: it returns all
 * @next: see tb_export_next(); without a cursor it returns 0, and begins anew with the next cursor
 * @selected: the user selected the event that @next returned last.  Exporters that make slices or
 *	draw runs also get events of other threads and CPUs that show where these begin and end
 * @selection: what the user selected, for slices
 * @found: @next has returned an event that the user asked for; an exporter that reads the trace in
 *	another process sets it in this one
 * @over: an exporter that reads the trace in another process calls it in this one, with the state
 *	of its cursor at the end: a damaged block, or NULL; the number of uncommitted elements
 * @stop_signal: not zero after a signal that ends the command
 * @context: for @next, @over
 * @symbols: names for functions, for formats that show events as text; NULL: none
 * @fields: formats that are text show all fields of an event
 * @why: perfetto shows why these threads waited, on CLOCK_BOOTTIME; NULL: no threads
 * @one_event: all wanted events of the kernel have the same name
 */
struct tb_export_options {
	int    verbose;
	char  *error;
	size_t error_size;
	const char *path;
	enum tb_timebase base;
	uint64_t switches_from;
	const unsigned char *wanted;
	int (*next)(void *context, struct tb_cursor *cursor,
		    struct tb_view *view);
	const bool *selected;
	struct selection *selection;
	bool  *found;
	void (*over)(void *context, const struct tb_error *damage,
		     uint64_t uncommitted);
	const volatile sig_atomic_t *stop_signal;
	void  *context;
	struct symbols *symbols;
	const struct why_threads *why;
	bool   fields;
	bool   one_event;
};

/**
 * tb_export_next - read the next event that is to be exported
 * Return: as tb_cursor_next(); -EINTR: a signal ends the command.
 */
static inline int tb_export_next(const struct tb_export_options *options,
				 struct tb_cursor *cursor, struct tb_view *view)
{
	return options && options->next ?
	       options->next(options->context, cursor, view) :
	       next_event(cursor, view);
}

/*
 * Exporters: @trace has no open cursor.  @out is a binary stream that the caller closes; NULL for
 * formats that write to options->path.
 * Return: 0, or -errno (also of writing); options->error may have a message.  -ENODATA: nothing was
 * written.
 */
typedef int tb_exporter(struct tb_trace *trace, FILE *out,
			const struct tb_export_options *options);

tb_exporter tb_export_perfetto, tb_export_json, tb_export_jsonl,
	tb_export_text, tb_export_csv, tb_export_sqlite, tb_export_fxt, tb_export_ctf;

/* ---- one JSON object per event, for print as well ---- */

struct jsonl;

/* @base: clock of times.  NULL: ENOMEM */
struct jsonl *jsonl_open(const struct tb_trace *trace, FILE *out,
			 enum tb_timebase base);
/* Errors are kept until jsonl_close() */
void jsonl_event(struct jsonl *jsonl, const struct tb_view *view);
/* Write buffered data, free @jsonl; 0 or the first -errno */
int jsonl_close(struct jsonl *jsonl);

#endif /* TRACEBUF_TOOL_EXPORT_H */
