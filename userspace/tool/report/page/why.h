/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of threads went, in the page's timeline.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_WHY_H
#define TRACEBUF_TOOL_REPORT_HTML_WHY_H

#include <stdint.h>
#include "row.h"
#include "tool/show/why_threads.h"

/* Add rows ROW_WHY of all @threads.  0, -ENOMEM; -E2BIG: more than @items_max items.  After a
 * failure @rows are incomplete */
int page_why(struct rows *rows, const struct why_threads *threads, uint64_t items_max);

#endif /* TRACEBUF_TOOL_REPORT_HTML_WHY_H */
