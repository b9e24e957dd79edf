/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf report - analyse a trace, and write the report as text, JSON or a page.
 */
#ifndef TRACEBUF_TOOL_REPORT_OUT_H
#define TRACEBUF_TOOL_REPORT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"
#include "tool/command/command.h"
#include "tool/show/out.h"
#include "analysis/report.h"
#include "tool/show/selection.h"
#include "tool/show/why_threads.h"

/**
 * report_analyse - analyse the events of the selected recording that @selection selects
 * @worst: number of worst cases to keep; 0: the default
 * @ended: as in struct analysis_options
 * @cut: not NULL: analyse only the time in which the file has events of all CPUs; out: true if the
 *	file has more than that
 * @analysis: out: the analysis; NULL on failure, and without @cut also if nothing was selected
 *	(selection_found())
 * Complains, also of a damaged block; EXIT_*
 */
int report_analyse(const char *file, struct tb_trace *trace, struct selection *selection,
		   uint32_t worst, uint32_t ended, bool *cut, struct analysis **analysis);

#define REPORT_IDS_MAX 32

/* IDs of the sections to show; none: all */
struct report_ids {
	const char *ids[REPORT_IDS_MAX];
	unsigned int count;
};

bool report_shows(const struct report_ids *sections, const char *id);

/** report_text_write - write text of @width columns; without @sections, all that are not empty.
 *  0, -ENOMEM: the text is incomplete */
int report_text_write(const struct report *report, const struct report_ids *sections,
		      unsigned int width, FILE *out);

/** report_json - write one JSON object, see report.h; errors are kept in @out */
void report_json(const struct report *report, const struct report_ids *sections, struct out *out);

/** report_why - add the section "why": causes of @threads; @top: rows for each thread, 0: all.
 *  0, -ENOMEM */
int report_why(struct report *report, const struct why_threads *threads, uint32_t top);

/* ---- options that report and diff share ---- */

#define REPORT_TOP 10

/**
 * struct report_look - how a report is shown
 * @sections: show only these; none: all
 * @top: rows of long tables; 0: all
 * @top_given: the user gave @top
 * @width: columns of the text; 0: those of the terminal
 * @json: write JSON instead of text
 */
struct report_look {
	struct report_ids sections;
	uint32_t top, width;
	bool json, top_given;
};

/* Write to standard output.  Complains if there is no such section; EXIT_* */
int report_write(const struct report *report, const struct report_look *look);

/* 1: @option is one of these; 0: it is not; -1: complained */
int report_option(const struct command *command, int option, const char *value,
		  struct report_look *look);

/* ---- commands in findings (shell.c) ---- */

/* True if a shell does not interpret any character of @path, and the command takes it for a file */
bool shell_is_plain(const char *path);

/* Options of a selection: -r, -T; --from, --to; all others */
enum shell_options { SHELL_CLOCK, SHELL_TIMES, SHELL_REST };

/* Write options as they were given, as a shell reads them, each with a space behind it.  The caller
 * frees the text; NULL: no memory */
char *shell_options(const struct selection *selection, enum shell_options which);

/* Write the name of a file as a shell reads it; "FILE" if it is no name.  The caller frees the
 * text; NULL: no memory */
char *shell_file(const char *path);

/**
 * report_html - write a page that needs no other file
 * @trace: for the timeline; no cursor is open
 * @selection: started; the part of @trace that is reported
 * @why: threads that get a lane of causes; NULL: none
 * @path: the file to write; on failure it stays as it was
 * @items_max: the timeline ends after so many items; 0: the default
 * Complains; EXIT_*
 *
 * Weak: a tool may be built without it.
 */
__attribute__((weak))
int report_html(const struct report *report, struct tb_trace *trace,
		struct selection *selection, const struct why_threads *why, const char *path,
		uint64_t items_max);

#endif /* TRACEBUF_TOOL_REPORT_OUT_H */
