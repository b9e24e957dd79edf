/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf report - what becomes of a report: text, JSON, a page.
 */
#ifndef TRACEBUF_TOOL_REPORT_OUT_H
#define TRACEBUF_TOOL_REPORT_OUT_H

#include <stdio.h>
#include "out.h"
#include "report.h"
#include "selection.h"

/** report_text - as text of @width columns; @section: this one alone, NULL: all that have something to say */
void report_text_write(const struct report *report, const char *section,
		       unsigned int width, FILE *out);

/** report_json - as one JSON object, see report.h; errors are kept in @out */
void report_json(const struct report *report, const char *section, struct out *out);

/**
 * report_html - as a page that needs nothing else
 * @trace: for the timeline; no cursor is open
 * @selection: started: the part of it that is reported: from_ticks, to_ticks
 * @path: where to write it; nothing is left there if that fails
 * Complains; EXIT_*
 *
 * A tool that was built without it has none.
 */
__attribute__((weak))
int report_html(const struct report *report, struct tb_trace *trace,
		const struct selection *selection, const char *path);

#endif /* TRACEBUF_TOOL_REPORT_OUT_H */
