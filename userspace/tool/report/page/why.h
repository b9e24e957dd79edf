/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of threads went, in the page's timeline.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_WHY_H
#define TRACEBUF_TOOL_REPORT_HTML_WHY_H

#include <stdint.h>
#include "row.h"
#include "tool/show/why_threads.h"

/* Rows of ROW_WHY of all @threads.  At most @items_max items: -E2BIG, and nothing of @rows is of
 * use then.  0, -ENOMEM */
int page_why(struct rows *rows, const struct why_threads *threads, uint64_t items_max);

#endif /* TRACEBUF_TOOL_REPORT_HTML_WHY_H */
