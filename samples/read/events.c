// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoded events in order of time: who was switched to, and how often.  With a second argument only
 * what comes after so many seconds of the trace: the way there is through headers.
 *
 *	build/user/samples/read/events trace.tbuf [SECONDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tracebuf.h"

#define ROWS 1024

static struct row {
	char     comm[24];
	uint64_t switches;
} rows[ROWS];

static void count(const char *comm, size_t length)
{
	unsigned int i;

	if (length >= sizeof(rows[0].comm))
		length = sizeof(rows[0].comm) - 1;
	for (i = 0; i < ROWS - 1 && rows[i].switches; i++)
		if (!strncmp(rows[i].comm, comm, length) && !rows[i].comm[length])
			break;
	if (!rows[i].switches)
		memcpy(rows[i].comm, i < ROWS - 1 ? comm : "(others)",
		       i < ROWS - 1 ? length : 9);
	rows[i].switches++;
}

static int more_first(const void *a, const void *b)
{
	uint64_t first = ((const struct row *)a)->switches;
	uint64_t second = ((const struct row *)b)->switches;

	return first < second ? 1 : first > second ? -1 : 0;
}

/* Fields are found by their names once for each format, not for each event */
static const struct tb_format_field *field_of(const struct tb_format *format)
{
	return strcmp(format->system, "sched") || strcmp(format->name, "sched_switch") ?
	       NULL : tb_format_field(format, "next_comm");
}

static int seek(struct tb_trace *trace, struct tb_cursor *cursor, double seconds)
{
	struct tb_view first;

	if (tb_cursor_next(cursor, &first) != 1)
		return 0;
	return tb_cursor_seek(cursor, tb_trace_ticks(trace, first.ns +
						     (uint64_t)(seconds * 1e9)));
}

int main(int argc, char **argv)
{
	const struct tb_format_field *wanted = NULL;
	const struct tb_format *format = NULL;
	uint64_t events = 0, lost = 0;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_error error;
	struct tb_view view;
	const char *text;
	size_t length;
	int result, i;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: events FILE [SECONDS]\n");
		return 2;
	}
	if (tb_trace_open(argv[1], &trace, &error) < 0) {
		fprintf(stderr, "events: %s: %s\n", argv[1], error.text);
		return 1;
	}
	if (tb_cursor_open(trace, &cursor) < 0)
		return 1;
	if (argc == 3 && seek(trace, cursor, strtod(argv[2], NULL)) < 0)
		return 1;
	while ((result = tb_cursor_next(cursor, &view)) == 1) {
		if (view.kind == TB_VIEW_LOST)
			lost += view.lost.overwritten + view.lost.dropped;
		if (view.kind != TB_VIEW_EVENT)
			continue;
		events++;
		if (!view.format)
			continue;
		if (view.format != format) {
			format = view.format;
			wanted = field_of(format);
		}
		if (wanted && !tb_field_str(&view, wanted, &text, &length))
			count(text, length);
	}
	printf("%" PRIu64 " events, %" PRIu64 " lost\n", events, lost);
	qsort(rows, ROWS, sizeof(rows[0]), more_first);
	for (i = 0; i < 10 && rows[i].switches; i++)
		printf("%10" PRIu64 " %s\n", rows[i].switches, rows[i].comm);
	/* what was counted is not all if the file breaks off or is damaged */
	if (tb_cursor_error(cursor, result, &error) < 0)
		fprintf(stderr, "events: %s: %s\n", argv[1], error.text);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	return result < 0;
}
