// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that an expression selects; see event_filter.h.
 */
#include <errno.h>
#include <stdlib.h>
#include "event_filter.h"

void event_filter_free(struct event_filter *filter)
{
	unsigned int i;

	for (i = 0; i < filter->count; i++)
		free(filter->codes[i]);
	free(filter->codes);
	filter->codes = NULL;
	filter->count = 0;
}

/* Compile for one format, into its slot; 0 if it does not have the fields, or as other types */
static int compile(struct event_filter *filter, const struct tb_format *format,
		   struct tb_filter_code **slot, int *misfit)
{
	struct tb_filter_code *code = malloc(sizeof(*code));
	struct tb_error error;
	int result = code ? tb_filter_compile(filter->text, format, code, &error) : -ENOMEM;

	if (!result) {
		*slot = code;
		filter->fits = true;
		return 1;
	}
	free(code);
	if (result == -ENOMEM)
		return result;
	/* -EINVAL: the expression is wrong, or a field is of another type here */
	if (*misfit != -EINVAL) {
		*misfit = result;
		filter->error = error;
	}
	return 0;
}

int event_filter_start(struct event_filter *filter, const struct tb_trace *trace,
		       const unsigned char *wanted)
{
	unsigned int i, count = tb_trace_formats(trace), fitting = 0;
	const struct tb_format *format;
	int result, misfit = -ENOENT;

	event_filter_free(filter);
	if (!filter->text)
		return 0;
	filter->codes = calloc(count + 1, sizeof(struct tb_filter_code *));
	if (!filter->codes)
		return -ENOMEM;
	filter->count = count;
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(trace, i);
		if ((wanted && !wanted[i]) || format->index >= count)
			continue;
		result = compile(filter, format, &filter->codes[format->index], &misfit);
		if (result < 0)
			return result;
		fitting += (unsigned int)result;
	}
	return fitting ? 0 : misfit;
}

bool event_filter_passes(const struct event_filter *filter, const struct tb_view *view)
{
	const struct tb_filter_code *code;

	if (!filter->text || view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST)
		return true;
	if (view->kind != TB_VIEW_EVENT || !view->format || view->format->index >= filter->count)
		return false;
	code = filter->codes[view->format->index];
	return code && tb_filter_matches(code, view);
}
