// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --html - write a page that contains the report, as the JSON of "report --json",
 * and a timeline.  The page loads nothing else.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool/command/command.h"
#include "tool/export/output.h"
#include "page.h"
#include "timeline.h"
#include "tool/report/out.h"

static void put_part(struct out *out, unsigned int number)
{
	out_data(out, page_parts[number].data, page_parts[number].length);
}

/* Escape '<', so that a task called "</script>" does not end the data.  JSON has '<' only in
 * strings. */
static void put_json(struct out *out, const char *json, size_t length)
{
	const char *next;

	while (length) {
		next = memchr(json, '<', length);
		if (!next) {
			out_data(out, json, length);
			return;
		}
		out_data(out, json, (size_t)(next - json));
		out_text(out, "\\u003c");
		length -= (size_t)(next - json) + 1;
		json = next + 1;
	}
}

static int put_report(const struct report *report, struct out *out)
{
	struct out *json = calloc(1, sizeof(*json));
	char *text = NULL;
	size_t length;
	int result = -ENOMEM;

	if (json)
		json->file = open_memstream(&text, &length);
	if (!json || !json->file) {
		free(json);
		return result;
	}
	report_json(report, &(struct report_ids){ .count = 0 }, json);
	out_write(json);
	result = json->error;
	if (fclose(json->file) && !result)
		result = -ENOMEM;
	if (!result)
		put_json(out, text, length);
	free(text);
	free(json);
	return result;
}

static int fill(struct timeline *timeline, struct tb_trace *trace,
		struct selection *selection, const struct why_threads *why)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	int result = tb_cursor_open(trace, &cursor);

	if (result)
		return result;
	if (selection->from.given)
		result = tb_cursor_seek(cursor, selection->from_ticks);
	while (result >= 0 && (result = next_event(cursor, &view)) > 0 &&
	       !selection_over(selection, &view))
		if (selection_wants_event(selection, &view))
			result = timeline_take(timeline, cursor, &view);
	if (result >= 0 && why)
		result = timeline_why(timeline, why);
	if (result >= 0)
		result = timeline_end(timeline, cursor, tb_cursor_fault(cursor) ||
				      tb_trace_fault(trace));
	tb_cursor_close(cursor);
	return result;
}

static int put_page(const struct report *report, const struct timeline *timeline, FILE *file)
{
	struct out *out = calloc(1, sizeof(*out));
	int result;

	if (!out)
		return -ENOMEM;
	out->file = file;
	put_part(out, 0);
	result = put_report(report, out);
	put_part(out, 1);
	if (!result)
		result = timeline_write(timeline, out);
	put_part(out, 2);
	if (!result)
		result = out_write(out);
	free(out);
	return result;
}

int report_html(const struct report *report, struct tb_trace *trace,
		struct selection *selection, const struct why_threads *why, const char *path,
		uint64_t items_max)
{
	struct timeline *timeline;
	struct output output;
	int status, result;

	items_max = items_max ? items_max : TIMELINE_ITEMS_MAX;
	status = output_open(&output, path, report->title, OUTPUT_STREAM);
	if (status != EXIT_FINE) {
		output_drop(&output);
		return status;
	}
	timeline = timeline_open(trace, selection, items_max);
	result = timeline ? fill(timeline, trace, selection, why) : -ENOMEM;
	if (!result)
		result = put_page(report, timeline, output.stream);
	if (!result && timeline_left_out(timeline))
		note("%s: the timeline ends after %" PRIu64 " items: %" PRIu64 " later events are only in the figures (--max-events, --from)",
		     path, timeline_items(timeline), timeline_left_out(timeline));
	timeline_close(timeline);
	if (!result)
		return output_finish(&output);
	output_drop(&output);
	if (result == -E2BIG)
		return complain("%s: not written: the causes of these threads change more than %"
				PRIu64 " times: choose fewer (--why), or a part of the time "
				"(--from, --to), or more (--max-events)", path, items_max);
	return complain("%s: not written: %s", path, strerror(-result));
}
