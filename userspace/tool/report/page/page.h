/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page without its data: HTML, style sheet and program, which bundle.py joins.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_H
#define TRACEBUF_TOOL_REPORT_HTML_H

#include <stddef.h>

/* The report's JSON is written between the first and second part, the timeline before the third */
struct page_part {
	const unsigned char *data;
	size_t length;
};

extern const struct page_part page_parts[3];

#endif /* TRACEBUF_TOOL_REPORT_HTML_H */
