/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An expression over the fields of events (-f), as record has it.
 */
#ifndef TRACEBUF_EVENT_FILTER_H
#define TRACEBUF_EVENT_FILTER_H

#include <stdbool.h>
#include "tracebuf.h"

struct filtered_format;

/**
 * struct event_filter - the expression, compiled for each format when its first event comes
 * @text: NULL: all events pass
 * @formats: by index of the format
 * @fits: the fields of some format are those of the expression
 * @error: why the expression does not fit the last format that it does not fit
 * @result: -EINVAL: the expression is wrong; -ENOMEM
 */
struct event_filter {
	const char *text;
	struct filtered_format *formats;
	unsigned int count;
	bool fits;
	struct tb_error error;
	int result;
};

#define EVENT_FILTER_HELP \
	"  -f, --filter FILTER   only events for which FILTER is true: 'prev_prio < 100 &&\n" \
	"                        next_comm ~ \"ff*\"'; events without these fields are left out\n"

/* True if an event passes; losses always do.  After an error none does */
bool event_filter_passes(struct event_filter *filter, const struct tb_view *view);

/* Forget the formats of a recording */
void event_filter_reset(struct event_filter *filter);

#endif /* TRACEBUF_EVENT_FILTER_H */
