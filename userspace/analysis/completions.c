// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completed requests of each CPU; see completions.h.
 *
 * If a rule, or the choice of threads, kept completions out of the recording, or if the selection of
 * events changed in between, the last one that is known may not be the last one: none is known then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "completions.h"
#include "requests.h"
#include "roles.h"
#include "lib/array.h"
#include "lib/bisect.h"

struct done {
	uint64_t ns, made;
	uint32_t number;
};

struct done_list {
	struct done *at;
	size_t count, room;
};

/**
 * struct completions - the requests of a trace
 * @format: block_rq_complete, or NULL
 * @kinds: what the numbers of requests mean
 * @cpus: completed requests of each CPU, in order of time
 * @requests: those that are not complete
 * @whole: all completions are in the recording, as far as they were selected
 */
struct completions {
	struct tb_trace *trace;
	enum tb_timebase base;
	const struct tb_format *format;
	const struct tb_format_field *device, *kind;
	struct completion *kinds;
	uint32_t nr_kinds;
	struct done_list *cpus;
	uint32_t nr_cpus;
	struct requests *requests;
	bool whole;
};

struct completions *completions_open(struct tb_trace *trace, enum tb_timebase base)
{
	struct completions *completions = calloc(1, sizeof(*completions));
	const struct tb_format *format;
	unsigned int i;

	if (!completions)
		return NULL;
	completions->requests = requests_open(trace, NULL, NULL);
	if (!completions->requests) {
		free(completions);
		return NULL;
	}
	completions->trace = trace;
	completions->base = base;
	for (i = 0; i < tb_trace_formats(trace); i++) {
		format = tb_trace_format_at(trace, i);
		if (strcmp(format->system, "block") || strcmp(format->name, "block_rq_complete"))
			continue;
		completions->format = format;
		completions->device = tb_format_field(format, "dev");
		completions->kind = tb_format_field(format, "rwbs");
		completions->whole = is_whole(trace, format, false);
	}
	return completions;
}

void completions_close(struct completions *completions)
{
	uint32_t i;

	if (!completions)
		return;
	for (i = 0; i < completions->nr_cpus; i++)
		free(completions->cpus[i].at);
	free(completions->cpus);
	requests_close(completions->requests);
	free(completions->kinds);
	free(completions);
}

/* No machine has as many kinds of requests: with more, none is known */
#define KINDS_MAX 4096

/* Number of the requests like @one; 0: no memory, or too many kinds */
static uint32_t number_of(struct completions *completions, const struct completion *one)
{
	uint32_t i;

	for (i = 0; i < completions->nr_kinds; i++)
		if (!memcmp(&completions->kinds[i], one, sizeof(*one)))
			return i + 1;
	if (completions->nr_kinds == KINDS_MAX) {
		completions->whole = false;
		return 0;
	}
	if (tb_array_reach(&completions->kinds, &completions->nr_kinds, i, sizeof(*one)))
		return 0;
	completions->kinds[i] = *one;
	return i + 1;
}

static struct done_list *list_of(struct completions *completions, uint32_t cpu)
{
	if (tb_array_reach(&completions->cpus, &completions->nr_cpus, cpu,
			   sizeof(*completions->cpus)))
		return NULL;
	return &completions->cpus[cpu];
}

int completions_take(struct completions *completions, const struct tb_view *view, uint64_t ns)
{
	struct completion one = { 0 };
	struct done_list *list;
	const char *text;
	uint64_t device;
	uint32_t number;
	size_t length;
	int result;

	result = requests_take(completions->requests, view, ns);
	if (result)
		return result;
	if (view->kind != TB_VIEW_EVENT || !view->format || view->format != completions->format ||
	    !completions->whole || !completions->device ||
	    tb_field_u64(view, completions->device, &device))
		return 0;
	one.device = (uint32_t)device;
	if (completions->kind && !tb_field_str(view, completions->kind, &text, &length))
		memcpy(one.kind, text, length < sizeof(one.kind) ? length : sizeof(one.kind) - 1);
	number = number_of(completions, &one);
	list = list_of(completions, view->cpu);
	if (!completions->whole)
		return 0;
	if (!number || !list)
		return -ENOMEM;
	if (tb_array_grow(&list->at, &list->room, list->count, sizeof(*list->at)))
		return -ENOMEM;
	list->at[list->count++] = (struct done){ ns, requests_made(completions->requests), number };
	return 0;
}

/* True if the selection of events changed in (@from, @to] */
static bool has_changed(const struct completions *completions, uint64_t from, uint64_t to)
{
	unsigned int i;
	uint64_t ticks, ns;

	for (i = 0; !tb_trace_selection(completions->trace, i, &ticks); i++) {
		ns = tb_trace_ns(completions->trace, ticks, completions->base);
		if (ns > from && ns <= to)
			return true;
	}
	return false;
}

uint32_t completions_at(const struct completions *completions, uint32_t cpu, uint64_t from,
			uint64_t to, uint64_t *made)
{
	const struct done_list *list;
	size_t low = 0;

	if (!completions->whole || cpu >= completions->nr_cpus)
		return 0;
	list = &completions->cpus[cpu];
	/* the first one after @to */
	BISECT(low, list->count, i, list->at[i].ns <= to);
	if (!low || list->at[low - 1].ns < from ||
	    has_changed(completions, list->at[low - 1].ns, to))
		return 0;
	*made = list->at[low - 1].made;
	return list->at[low - 1].number;
}

const struct completion *completions_get(const struct completions *completions, uint32_t number)
{
	return &completions->kinds[number - 1];
}
