// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is missing: of which CPU or program, how much, when.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine.h"

static struct analysis_loss *loss_of(struct analysis *a, const struct tb_view *view)
{
	const struct tb_user *user = view->kind == TB_VIEW_USER_LOST ? view->user : NULL;
	struct analysis_loss *loss;
	size_t i;

	for (i = 0; i < a->losses.count; i++) {
		loss = a->losses.list[i];
		if (user ? loss->user && loss->producer == user->producer &&
			   loss->writer == user->writer_id && loss->pid == user->pid :
			   !loss->user && loss->cpu == view->cpu)
			return loss;
	}
	loss = listed_add(&a->losses, sizeof(*loss));
	if (!loss)
		return NULL;
	loss->user = user;
	loss->cpu = user ? 0 : view->cpu;
	if (user) {
		loss->producer = user->producer;
		loss->writer = user->writer_id;
		loss->pid = user->pid;
	}
	return loss;
}

static bool is_longer(const struct analysis_gap *a, const struct analysis_gap *b)
{
	if (a->last - a->first != b->last - b->first)
		return a->last - a->first > b->last - b->first;
	return a->first < b->first;
}

/* Gaps are rare: the list is kept in order */
static void keep_gap(struct analysis *a, const struct analysis_gap *gap)
{
	struct gaps *gaps = &a->gaps;
	size_t i = gaps->count;

	if (i == a->options.worst) {
		if (!is_longer(gap, &gaps->list[i - 1]))
			return;
		i--;
	} else {
		gaps->count++;
	}
	for (; i && is_longer(gap, &gaps->list[i - 1]); i--)
		gaps->list[i] = gaps->list[i - 1];
	gaps->list[i] = *gap;
}

int losses_take(struct analysis *a, const struct tb_view *view)
{
	bool user = view->kind == TB_VIEW_USER_LOST;
	struct analysis_loss *loss = loss_of(a, view);
	struct analysis_gap gap = {
		.of = loss,
		.first = tb_trace_ns(a->trace, view->lost.first, TB_TIME_MONOTONIC),
		.last = tb_trace_ns(a->trace, view->lost.last, TB_TIME_MONOTONIC),
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

const struct analysis_loss *analysis_loss(const struct analysis *a, unsigned int index)
{
	return index < a->losses.count ? a->losses.list[index] : NULL;
}

const struct analysis_gap *analysis_gap(const struct analysis *a, unsigned int index)
{
	return index < a->gaps.count ? &a->gaps.list[index] : NULL;
}

const uint64_t *analysis_lost(const struct analysis *a)
{
	return a->lost;
}
