// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that an expression selects; see event_filter.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "event_filter.h"

/* @code: NULL: the expression has fields that the format does not have */
struct filtered_format {
	bool compiled;
	struct tb_filter_code *code;
};

static int compile(struct event_filter *filter, struct filtered_format *slot,
		   const struct tb_format *format)
{
	struct tb_filter_code *code = malloc(sizeof(*code));
	struct tb_error error = { 0 };
	int result = code ? tb_filter_compile(filter->text, format, code, &error) : -ENOMEM;

	slot->compiled = true;
	if (!result) {
		slot->code = code;
		filter->fits = true;
		return 0;
	}
	free(code);
	filter->error = error;
	return result == -ENOENT ? 0 : result;
}

/* The slot of a format; NULL: no memory */
static struct filtered_format *slot_of(struct event_filter *filter, const struct tb_format *format)
{
	unsigned int wanted = format->index + 1;
	struct filtered_format *grown;

	if (wanted > filter->count) {
		grown = realloc(filter->formats, wanted * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + filter->count, 0, (wanted - filter->count) * sizeof(*grown));
		filter->formats = grown;
		filter->count = wanted;
	}
	return &filter->formats[format->index];
}

bool event_filter_passes(struct event_filter *filter, const struct tb_view *view)
{
	struct filtered_format *slot;

	if (!filter->text || view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST)
		return true;
	if (view->kind != TB_VIEW_EVENT || !view->format || filter->result)
		return false;
	slot = slot_of(filter, view->format);
	if (!slot)
		filter->result = -ENOMEM;
	else if (!slot->compiled)
		filter->result = compile(filter, slot, view->format);
	return !filter->result && slot->code && tb_filter_matches(slot->code, view);
}

void event_filter_reset(struct event_filter *filter)
{
	unsigned int i;

	for (i = 0; i < filter->count; i++)
		free(filter->formats[i].code);
	free(filter->formats);
	filter->formats = NULL;
	filter->count = 0;
}
