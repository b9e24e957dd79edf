// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans of time in which events are missing: a sorted list with binary search.
 */
#include <errno.h>
#include <stdlib.h>
#include "spans.h"
#include "lib/array.h"
#include "lib/bisect.h"

int spans_add(struct spans *spans, uint64_t first, uint64_t last)
{
	if (tb_array_grow(&spans->list, &spans->room, spans->count, sizeof(*spans->list)))
		return -ENOMEM;
	spans->list[spans->count++] = (struct span){ first, last > first ? last : first };
	return 0;
}

static int compare(const void *one, const void *other)
{
	const struct span *a = one, *b = other;

	return a->first < b->first ? -1 : a->first > b->first;
}

/* By CPU, then by the time of the record */
static int compare_own(const void *one, const void *other)
{
	const struct gap_span *a = one, *b = other;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->reported < b->reported ? -1 : a->reported > b->reported;
}

/* Sort; then begin each span with the earliest gap of its CPU that is recorded later */
static void settle_own(struct gap_span *own, size_t count)
{
	size_t i;

	if (!count)
		return;
	qsort(own, count, sizeof(*own), compare_own);
	for (i = count - 1; i > 0; i--)
		if (own[i - 1].cpu == own[i].cpu && own[i - 1].first > own[i].first)
			own[i - 1].first = own[i].first;
}

void spans_settle(struct spans *spans)
{
	struct span *list = spans->list;
	size_t i, kept = 0;

	settle_own(spans->own, spans->nr_own);
	if (!spans->count)
		return;
	qsort(list, spans->count, sizeof(*list), compare);
	for (i = 1; i < spans->count; i++) {
		if (list[i].first > list[kept].last)
			list[++kept] = list[i];
		else if (list[i].last > list[kept].last)
			list[kept].last = list[i].last;
	}
	spans->count = kept + 1;
}

void spans_free(struct spans *spans)
{
	free(spans->list);
	free(spans->own);
	free(spans->cpus);
	*spans = (struct spans){ 0 };
}

size_t spans_from(const struct spans *spans, uint64_t ns)
{
	size_t low = 0;

	BISECT(low, spans->count, i, spans->list[i].last <= ns);
	return low;
}

bool spans_meet(const struct spans *spans, uint64_t begin, uint64_t end)
{
	size_t at = spans_from(spans, begin);

	return at < spans->count && spans->list[at].first < end;
}

uint64_t spans_unreported(const struct spans *spans, uint32_t cpu, uint64_t ns)
{
	const struct gap_span *own = spans->own;
	uint64_t since = ns;
	size_t low = 0;

	if (cpu < spans->nr_cpus && spans->cpus[cpu].end < since)
		since = spans->cpus[cpu].end;
	BISECT(low, spans->nr_own, i,
	       own[i].cpu < cpu || (own[i].cpu == cpu && own[i].reported <= ns));
	if (low < spans->nr_own && own[low].cpu == cpu && own[low].first < since)
		since = own[low].first;
	return since;
}

bool spans_first_thread(const struct spans *spans, uint32_t cpu, uint64_t ticks, uint32_t *tid)
{
	const struct cpu_span *span = cpu < spans->nr_cpus ? &spans->cpus[cpu] : NULL;

	if (!span || !span->has_tid || span->first < ticks ||
	    (span->first == ticks && span->first_is_switch))
		return false;
	*tid = span->tid;
	return true;
}

uint64_t spans_outside(const struct spans *spans, uint64_t begin, uint64_t end)
{
	uint64_t outside = end > begin ? end - begin : 0, from, to;
	size_t i;

	for (i = spans_from(spans, begin); i < spans->count && spans->list[i].first < end; i++) {
		from = spans->list[i].first > begin ? spans->list[i].first : begin;
		to = spans->list[i].last < end ? spans->list[i].last : end;
		outside -= to > from ? to - from : 0;
	}
	return outside;
}
