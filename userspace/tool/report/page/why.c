// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --html --why - where the time of threads went, as 'tracebuf why' shows it.
 *
 * analysis/why.c calls take_stretch() for each stretch of time, for a cause before the causes below
 * it.  A thread has a row for each depth; an item is a stretch within the item of the row above.
 */
#include <errno.h>
#include "why.h"
#include "analysis/slices.h"
#include "tool/show/causes.h"

struct writer {
	struct rows *rows;
	const struct why *why;
	uint32_t tid;
	uint64_t items, max;
};

static int take_stretch(void *context, uint32_t index, uint64_t from, uint64_t to)
{
	struct writer *writer = context;
	struct rows *rows = writer->rows;
	size_t count;
	const struct why_node *node = &why_nodes(writer->why, &count)[index];
	struct row *row;
	char text[256];

	if (!node->depth)
		return 0;
	if (writer->items++ == writer->max)
		return -E2BIG;
	row = rows_at(rows, ROW_WHY, writer->tid, node->depth - 1);
	if (!row)
		return -ENOMEM;
	row_name(row, rows_string(rows, cause_text(writer->why, node, text, sizeof(text))));
	row_time(rows, row, from, to, SLICE_WHOLE);
	details_start(rows, NULL);
	details_text(rows, "cause", cause_name(node->cause));
	if (node->cause == WHY_RUNS || node->cause == WHY_WOKEN)
		details_signed(rows, "tid", why_tid(writer->why, (uint32_t)node->who));
	details_end(rows, row);
	return 0;
}

int page_why(struct rows *rows, const struct why_threads *threads, uint64_t items_max)
{
	struct writer writer = { .rows = rows, .why = threads->why, .max = items_max };
	unsigned int i;
	int result = 0;

	why_watch(threads->why, take_stretch, &writer);
	for (i = 0; !result && i < threads->count; i++) {
		why_clear(threads->why);
		writer.tid = why_tid(threads->why, threads->list[i].thread);
		result = why_add(threads->why, threads->list[i].thread, threads->list[i].from,
				 threads->list[i].to);
	}
	why_watch(threads->why, NULL, NULL);
	return result;
}
