/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An expression over the fields of events (-f), as record has it.
 */
#ifndef TRACEBUF_EVENT_FILTER_H
#define TRACEBUF_EVENT_FILTER_H

#include <stdbool.h>
#include "tracebuf.h"

/**
 * struct event_filter - the expression, compiled for the formats of a recording
 * @text: NULL: all events pass
 * @codes: by index of the format; NULL: the format does not have the fields of the expression
 * @fits: some format of any recording has them
 * @error: why the expression does not fit a format, or any
 */
struct event_filter {
	const char *text;
	struct tb_filter_code **codes;
	unsigned int count;
	bool fits;
	struct tb_error error;
};

#define EVENT_FILTER_HELP \
	"  -f, --filter FILTER   only events for which FILTER is true: 'prev_prio < 100 &&\n" \
	"                        next_comm ~ \"ff*\"'; no marks, no events of programs or\n" \
	"                        without these fields\n"

/**
 * event_filter_start - compile the expression for the selected recording of @trace
 * @wanted: by index of the format: not 0: its events are selected; NULL: all
 *
 * Return: 0; -EINVAL, with @error: the expression is wrong; -ENOENT, with @error: no event that is
 * selected has these fields; -ENOMEM.
 */
int event_filter_start(struct event_filter *filter, const struct tb_trace *trace,
		       const unsigned char *wanted);
void event_filter_free(struct event_filter *filter);

/* True if an event passes; losses always do, records of programs and control events never */
bool event_filter_passes(const struct event_filter *filter, const struct tb_view *view);

#endif /* TRACEBUF_EVENT_FILTER_H */
