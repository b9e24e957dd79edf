// SPDX-License-Identifier: GPL-2.0-only
/*
 * Missing events: of which CPU or program, how many, and when.
 *
 * A block begins with a record of the gap before it, so a cursor shows events of other CPUs from
 * that time earlier.  For a file, spans_trace.c reads these records first.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine.h"

/* True if both are of the same CPU or writer */
static bool is_same(const struct analysis_loss *it, const struct analysis_loss *other)
{
	return it->user == other->user && it->cpu == other->cpu &&
	       it->producer == other->producer && it->writer == other->writer &&
	       it->pid == other->pid;
}

static uint64_t key_of(struct map *map, const struct analysis_loss *it)
{
	const uint32_t parts[] = { it->user, it->cpu, it->producer, it->writer, it->pid };

	return map_key(map, parts, sizeof(parts));
}

static struct analysis_loss *loss_of(struct analysis *a, const struct tb_view *view)
{
	const struct tb_user *user = view->kind == TB_VIEW_USER_LOST ? view->user : NULL;
	struct analysis_loss key = { .user = user, .cpu = user ? 0 : view->cpu };
	struct loss *loss;
	void **slot;

	if (user) {
		key.producer = user->producer;
		key.writer = user->writer_id;
		key.pid = user->pid;
	}
	slot = map_at(&a->loss_hashes, key_of(&a->loss_hashes, &key));
	if (!slot)
		return NULL;
	for (loss = *slot; loss; loss = loss->next)
		if (is_same(&loss->it, &key))
			return &loss->it;
	loss = listed_add(&a->losses, sizeof(*loss));
	if (!loss)
		return NULL;
	loss->it = key;
	loss->next = *slot;
	*slot = loss;
	return &loss->it;
}

/* Longest first; then the one that began first; then in the order of appearance */
static int compare(const void *one, const void *other)
{
	const struct kept_gap *a = one, *b = other;
	uint64_t length = a->it.last - a->it.first, others = b->it.last - b->it.first;

	if (length != others)
		return length > others ? -1 : 1;
	if (a->it.first != b->it.first)
		return a->it.first < b->it.first ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Sort, and keep the @kept longest */
static void sort_gaps(struct gaps *gaps, size_t kept)
{
	qsort(gaps->list, gaps->count, sizeof(*gaps->list), compare);
	if (gaps->count > kept)
		gaps->count = kept;
	gaps->sorted = true;
}

static void keep_gap(struct analysis *a, const struct analysis_gap *gap)
{
	struct gaps *gaps = &a->gaps;
	size_t kept = a->options.worst;

	if (gaps->count == 2 * kept)
		sort_gaps(gaps, kept);
	gaps->list[gaps->count++] = (struct kept_gap){ *gap, gaps->seen++ };
	gaps->sorted = false;
}

int losses_take(struct analysis *a, const struct tb_view *view)
{
	bool user = view->kind == TB_VIEW_USER_LOST;
	struct analysis_loss *loss = loss_of(a, view);
	struct analysis_gap gap = {
		.of = loss,
		.first = tb_trace_ns(a->trace, view->lost.first, a->options.base),
		.last = tb_trace_ns(a->trace, view->lost.last, a->options.base),
		.events = user ? view->user->lost : view->lost.overwritten + view->lost.dropped,
	};

	if (!loss)
		return -ENOMEM;
	if (gap.last < gap.first)
		gap.last = gap.first;
	if (user) {
		a->total.user_losses++;
		a->total.user_lost += gap.events;
	} else {
		a->total.losses++;
		a->total.lost += gap.events;
		loss->overwritten += view->lost.overwritten;
		loss->dropped += view->lost.dropped;
	}
	if (!loss->count || gap.first < loss->first)
		loss->first = gap.first;
	if (gap.last > loss->last)
		loss->last = gap.last;
	loss->count++;
	loss->events += gap.events;
	loss->span_ns += gap.last - gap.first;
	if (gap.last - gap.first > loss->longest_ns)
		loss->longest_ns = gap.last - gap.first;
	a->lost[series_at(a, gap.last)] += gap.events;
	keep_gap(a, &gap);
	return 0;
}

bool losses_since(const struct analysis *a, uint64_t losses, uint64_t begin, uint64_t ns)
{
	return a->options.whole ? spans_meet(&a->missing, begin, ns) : losses != a->total.losses;
}

bool analysis_lost_later(const struct analysis *a)
{
	const struct gap_span *gap;
	size_t i;

	for (i = 0; i < a->missing.nr_own; i++) {
		gap = &a->missing.own[i];
		if (gap->first < a->total.end && gap->reported > a->total.begin)
			return true;
	}
	return false;
}

/* ---- queries ---- */

const struct analysis_loss *analysis_loss(const struct analysis *a, unsigned int index)
{
	const struct loss *loss = index < a->losses.count ? a->losses.list[index] : NULL;

	return loss ? &loss->it : NULL;
}

const struct analysis_gap *analysis_gap(struct analysis *a, unsigned int index)
{
	if (!a->gaps.sorted)
		sort_gaps(&a->gaps, a->options.worst);
	return index < a->gaps.count ? &a->gaps.list[index].it : NULL;
}

const uint64_t *analysis_lost(const struct analysis *a)
{
	return a->lost;
}
