/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of programs in the page's timeline.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_USER_H
#define TRACEBUF_TOOL_REPORT_HTML_USER_H

#include <stdint.h>
#include "tracebuf.h"
#include "tool/show/slots.h"
#include "tool/export/common.h"
#include "row.h"
#include "timeline.h"

struct report_users {
	struct rows *rows;
	struct slots writers;
};

void report_users_init(struct report_users *users, struct rows *rows);
void report_users_free(struct report_users *users);

/* Take a record or a loss of records, until @end; return the number of items it makes */
unsigned int report_users_take(struct report_users *users, const struct tb_view *view,
			       uint64_t begin, uint64_t end);

/* End all open slices: the trace ends */
void report_users_end(struct report_users *users, uint64_t ns);

#endif /* TRACEBUF_TOOL_REPORT_HTML_USER_H */
