// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ended tasks: a machine that starts many processes has hundreds of thousands of them, of which a
 * report shows a few.  With options.ended the analysis keeps only those that a report can show, and
 * sums up the others by cgroup.
 *
 * The times of an ended task no longer change, so the ones with the most time are known.
 * ended_remove() visits all tasks, so it runs only after as many tasks have ended as it kept.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine.h"

const struct analysis_task *analysis_rest(const struct analysis *a, unsigned int index)
{
	const struct task *rest = index < a->rest.count ? a->rest.list[index] : NULL;

	return rest ? &rest->it : NULL;
}

/* ---- which tasks are needed ---- */

static int compare(const struct task *a, const struct task *b, uint64_t of_a, uint64_t of_b)
{
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a->it.index < b->it.index ? -1 : 1;
}

static int by_run(const void *one, const void *other)
{
	const struct task *a = *(struct task *const *)one, *b = *(struct task *const *)other;

	return compare(a, b, a->it.run_ns, b->it.run_ns);
}

static int by_waited(const void *one, const void *other)
{
	const struct task *a = *(struct task *const *)one, *b = *(struct task *const *)other;

	return compare(a, b, analysis_all_waited(&a->it),
		       analysis_all_waited(&b->it));
}

static int by_stuck(const void *one, const void *other)
{
	const struct task *a = *(struct task *const *)one, *b = *(struct task *const *)other;

	return compare(a, b, analysis_all_stuck(&a->it), analysis_all_stuck(&b->it));
}

/* @it: NULL, or the first member of a struct task */
static void need(const struct analysis_task *it)
{
	if (it)
		((struct task *)(uintptr_t)it)->needed = true;
}

/* The worst cases and the recent runs of each CPU point to tasks */
static void need_referenced(struct analysis *a)
{
	const struct analysis_wait *wait;
	unsigned int i, instead;
	size_t k;

	for (i = 0; i < ANALYSIS_WORSTS; i++)
		for (k = 0; k < a->worst[i].count; k++) {
			wait = &a->worst[i].list[k];
			need(wait->task);
			for (instead = 0; instead < wait->nr_instead; instead++)
				need(wait->instead[instead].task);
		}
	for (i = 0; i < a->nr_cpus; i++)
		for (k = 0; a->cpus[i] && k < ANALYSIS_HISTORY; k++)
			need(a->cpus[i]->history[k].task);
}

static void need_first(struct task **tasks, size_t count, uint32_t most,
		       int (*order)(const void *a, const void *b))
{
	size_t i;

	qsort(tasks, count, sizeof(*tasks), order);
	for (i = 0; i < count && i < most; i++)
		tasks[i]->needed = true;
}

/* Set struct task.needed of all tasks.  0, -ENOMEM */
static int find_needed(struct analysis *a)
{
	struct task **ended = malloc((a->tasks.count + 1) * sizeof(*ended)), *task;
	size_t count = 0, i;

	if (!ended)
		return -ENOMEM;
	for (i = 0; i < a->tasks.count; i++) {
		task = a->tasks.list[i];
		task->needed = !task->it.ended || task->queued_on != NO_CPU;
		if (task->it.ended)
			ended[count++] = task;
	}
	need_first(ended, count, a->options.ended, by_run);
	need_first(ended, count, a->options.ended, by_waited);
	need_first(ended, count, a->options.ended, by_stuck);
	free(ended);
	need_referenced(a);
	return 0;
}

/* ---- removing ---- */

static void sum_stat(struct analysis_stat *sum, const struct analysis_stat *stat)
{
	sum->count += stat->count;
	sum->sum += stat->sum;
	if (stat->max > sum->max)
		sum->max = stat->max;
	sum->uncertain += stat->uncertain;
	sum->open += stat->open;
}

/* Add @task to the sum of its cgroup.  0, -ENOMEM */
static int sum_up(struct analysis *a, const struct task *task)
{
	void **slot = map_at(&a->rest_of, task->it.cgroup);
	struct task *rest;

	if (slot && !*slot)
		*slot = listed_add(&a->rest, sizeof(struct task));
	if (!slot || !*slot)
		return -ENOMEM;
	rest = *slot;
	rest->it.cgroup = task->it.cgroup;
	rest->it.ended = true;
	rest->it.tasks += analysis_ran(&task->it);
	rest->it.run_ns += task->it.run_ns;
	rest->it.runs += task->it.runs;
	if (task->generation == a->known.generation)
		known_add(a, rest, task->it.share_ns);
	rest->it.preempted += task->it.preempted;
	rest->it.migrations += task->it.migrations;
	sum_stat(&rest->it.wait, &task->it.wait);
	sum_stat(&rest->it.runnable, &task->it.runnable);
	sum_stat(&rest->it.blocked, &task->it.blocked);
	sum_stat(&rest->it.sleeping, &task->it.sleeping);
	sum_stat(&rest->it.stuck, &task->it.stuck);
	sum_stat(&rest->it.waiting, &task->it.waiting);
	return 0;
}

static void remove_task(struct analysis *a, struct task *task)
{
	if (map_get(&a->threads, task->it.tid) == task)
		map_remove(&a->threads, task->it.tid);
	free(task->it.series);
	free(task->it.instead);
	free(task->it.stuck_by);
	free(task->it.waiting_by);
	free(task);
}

int ended_remove(struct analysis *a)
{
	size_t i, kept = 0, ended = 0;
	struct task *task;
	int result = find_needed(a);

	for (i = 0; i < a->tasks.count; i++) {
		task = a->tasks.list[i];
		if (!result && !task->needed)
			result = sum_up(a, task);
		if (!result && !task->needed) {
			remove_task(a, task);
			continue;
		}
		a->tasks.list[kept++] = task;
		ended += task->it.ended;
	}
	a->tasks.count = kept;
	a->ended = ended;
	a->ended_limit = ended + kept + ENDED_MIN;
	return result;
}
