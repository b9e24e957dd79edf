/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf report - what becomes of a report: text, JSON, a page.
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
 * report_analyse - all that @selection has chosen of the selected recording
 * @worst: how many of the worst cases; 0: as many as is usual
 * @cut: not NULL: analyse only the time in which the file has events of all CPUs; out: true if the
 *	file has more than that
 * @analysis: out: at its end; NULL on failure, and where nothing was selected: selection_found()
 * Complains, of a damaged block as well; EXIT_*
 */
int report_analyse(const char *file, struct tb_trace *trace, struct selection *selection,
		   uint32_t worst, bool *cut, struct analysis **analysis);

/** report_text_write - as text of @width columns; @section: this one alone, NULL: all that
 *  have something to say.  0, -ENOMEM: it breaks off */
int report_text_write(const struct report *report, const char *section,
		      unsigned int width, FILE *out);

/** report_json - as one JSON object, see report.h; errors are kept in @out */
void report_json(const struct report *report, const char *section, struct out *out);

/** report_why - add the section "why": @threads and their causes; @top: rows of each, 0: all.
 *  0, -ENOMEM */
int report_why(struct report *report, const struct why_threads *threads, uint32_t top);

/* ---- what report and diff have in common ---- */

#define REPORT_TOP 10

/**
 * struct report_look - how a report is shown
 * @section: this one alone; NULL: all
 * @top: rows of long tables; 0: all.  @top_given: it was asked for
 * @width: columns of the text; 0: the terminal's
 * @json: instead of text
 */
struct report_look {
	const char *section;
	uint32_t top, width;
	bool json, top_given;
};

/* To standard output.  Complains if there is no such section; EXIT_* */
int report_write(const struct report *report, const struct report_look *look);

#define REPORT_LONG \
	{ "top",       required_argument, NULL, OPTION_TOP }, \
	{ "section",   required_argument, NULL, OPTION_SECTION }, \
	{ "json",      no_argument,       NULL, OPTION_JSON }, \
	{ "width",     required_argument, NULL, OPTION_WIDTH }

/* 1: taken; 0: it is none of these; -1: complained */
int report_option(const struct command *command, int option, const char *value,
		  struct report_look *look);

/**
 * report_html - as a page that needs nothing else
 * @trace: for the timeline; no cursor is open
 * @selection: started: the part of it that is reported: from_ticks, to_ticks
 * @why: threads that have a lane of causes; NULL: none
 * @path: where to write it; nothing is left there if that fails
 * @items_max: what the timeline has at most, the first; 0: as much as is usual
 * Complains; EXIT_*
 *
 * A tool that was built without it has none.
 */
__attribute__((weak))
int report_html(const struct report *report, struct tb_trace *trace,
		struct selection *selection, const struct why_threads *why, const char *path,
		uint64_t items_max);

#endif /* TRACEBUF_TOOL_REPORT_OUT_H */
