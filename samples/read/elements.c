// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are in a trace, how many, and how large: from raw elements.
 *
 *	build/user/samples/read/elements trace.tbuf
 */
#include <inttypes.h>
#include <stdio.h>
#include "tracebuf.h"

#define IDS 16384	/* an id has 14 bits */

static uint64_t counts[IDS], bytes[IDS];

int main(int argc, char **argv)
{
	const struct tb_format *format;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_walk element;
	struct tb_error error;
	unsigned int id;

	if (argc != 2) {
		fprintf(stderr, "usage: elements FILE\n");
		return 2;
	}
	if (tb_trace_open_with(argv[1], TB_OPEN_HEADERS, &trace, &error) < 0) {
		fprintf(stderr, "elements: %s: %s\n", argv[1], error.text);
		return 1;
	}
	if (tb_cursor_open(trace, &cursor) < 0)
		return 1;
	while (tb_cursor_next_element(cursor, &element, NULL) == 1) {
		counts[element.id]++;
		bytes[element.id] += element.length * TB_ELEMENT_SIZE;
	}
	for (id = TB_EV_FIRST; id < IDS; id++) {
		format = tb_trace_format(trace, (uint16_t)id);
		if (counts[id])
			printf("%10" PRIu64 " events %12" PRIu64 " bytes  %s:%s%s\n",
			       counts[id], bytes[id], format ? format->system : "?",
			       format ? format->name : "?",
			       format && format->flags & TB_EVENT_SIMPLE ? " (simple)" : "");
	}
	if (tb_cursor_fault(cursor))
		fprintf(stderr, "elements: %s: at byte %" PRIu64 ": %s\n", argv[1],
			tb_cursor_fault(cursor)->offset, tb_cursor_fault(cursor)->text);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	return 0;
}
