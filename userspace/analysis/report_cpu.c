// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections about CPUs, tasks, and run queues.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "sections.h"

static uint64_t span(const struct report_builder *m)
{
	return analysis_total(m->a)->end - analysis_total(m->a)->begin;
}

/* ---- over time ---- */

static void series_start(struct report_builder *m)
{
	if (m->section)
		m->section->width = analysis_axis(m->a)->width;
	report_column(m->report, m->section, "time", "time", REPORT_NUMBER, REPORT_TIME);
}

static void series_time(struct report_builder *m, unsigned int bucket)
{
	const struct analysis_axis *axis = analysis_axis(m->a);

	number(m, axis->begin + bucket * axis->width);
}

static bool cpu_wanted(const struct report_builder *m, unsigned int cpu)
{
	const struct analysis_cpu *it = analysis_cpu(m->a, cpu);

	return it && it->seen && analysis_wants_cpu(m->a, cpu);
}

static void cpu_columns(struct report_builder *m, enum report_unit unit)
{
	unsigned int i;
	char id[24], title[24];

	series_start(m);
	for (i = 0; i < analysis_nr_cpus(m->a); i++) {
		if (!cpu_wanted(m, i))
			continue;
		snprintf(id, sizeof(id), "cpu%u", i);
		snprintf(title, sizeof(title), "CPU %u", i);
		report_column(m->report, m->section, id, title, REPORT_NUMBER, unit);
	}
}

enum of_cpu { BUSY, WAITING, DEEPEST };

static void cpu_series(struct report_builder *m, enum of_cpu what)
{
	const bool hides = analysis_total(m->a)->of_threads;
	const struct analysis_cpu *cpu;
	unsigned int i, bucket;

	cpu_columns(m, what == BUSY ? REPORT_PPM : what == WAITING ? REPORT_MICRO : REPORT_COUNT);
	for (bucket = 0; bucket < analysis_axis(m->a)->count; bucket++) {
		series_time(m, bucket);
		for (i = 0; i < analysis_nr_cpus(m->a); i++) {
			if (!cpu_wanted(m, i))
				continue;
			cpu = analysis_cpu(m->a, i);
			if (what == BUSY)
				cell_share(m, cpu->busy[bucket], hides ? 0 : cpu->known[bucket]);
			else if (what == WAITING)
				cell_share(m, cpu->waiting[bucket], cpu->depth_known[bucket]);
			else
				number_if(m, cpu->depth_known[bucket], cpu->deepest[bucket]);
		}
	}
}

/* ---- CPUs ---- */

/* Append a time between events @begin and @end.  0 is unknown if these were not recorded */
static void number_of_pair(struct report_builder *m, enum analysis_need begin,
			   enum analysis_need end, uint64_t ns)
{
	number_if(m, ns || (!analysis_lacks(m->a, begin) && !analysis_lacks(m->a, end)), ns);
}

static void section_cpu(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("cpu", "CPU", REPORT_PLAIN),
		COLUMN_NUMBER("busy", "busy", REPORT_NS),
		COLUMN_NUMBER("share", "share", REPORT_PPM),
		COLUMN_NUMBER("idle", "idle", REPORT_NS),
		COLUMN_NUMBER("unknown", "unknown", REPORT_NS),
		COLUMN_NUMBER("switches", "switches", REPORT_COUNT),
		COLUMN_NUMBER("irq", "irq", REPORT_NS),
		COLUMN_NUMBER("softirq", "softirq", REPORT_NS),
	};
	const struct analysis_cpu *cpu;
	uint64_t known, unknown = 0;
	unsigned int i;

	section(m, "cpu", "CPU use", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs(m, "CPU use", ANALYSIS_SWITCH, ANALYSIS_NEEDS))
		return;
	for (i = 0; i < analysis_nr_cpus(m->a); i++) {
		if (!cpu_wanted(m, i))
			continue;
		cpu = analysis_cpu(m->a, i);
		known = cpu->busy_ns + cpu->idle_ns;
		unknown += known < span(m) ? span(m) - known : 0;
		number(m, i);
		number(m, cpu->busy_ns);
		cell_share(m, cpu->busy_ns, analysis_total(m->a)->of_threads ? 0 : cpu->tracked_ns);
		if (analysis_of_threads(m->a)) {
			report_unknown(m->report, m->section);
			report_unknown(m->report, m->section);
		} else {
			number(m, cpu->idle_ns);
			number(m, known < span(m) ? span(m) - known : 0);
		}
		number(m, cpu->switches);
		number_of_pair(m, ANALYSIS_IRQ, ANALYSIS_IRQ_EXIT, cpu->irq_ns);
		number_of_pair(m, ANALYSIS_SOFTIRQ, ANALYSIS_SOFTIRQ_EXIT, cpu->softirq_ns);
	}
	if (unknown && !analysis_of_threads(m->a))
		remark(m, "unknown: the trace does not tell what ran between a loss and the next switch, while switches are not recorded, and before the first switch of a CPU if the trace lacks the beginning of the recording, or is of chosen threads. The share is of the rest.");
	remark(m, "A CPU is busy while it runs a task. Interrupts and softirqs count in the time of the task that they interrupted, and not as busy on an idle CPU.");
}

static void section_cpu_time(struct report_builder *m)
{
	section(m, "cpu-time", "CPU use over time", REPORT_SERIES);
	if (needs(m, "CPU use", ANALYSIS_SWITCH, ANALYSIS_NEEDS))
		cpu_series(m, BUSY);
}

/* ---- tasks ---- */

static const void *get_task(struct report_builder *m, size_t index)
{
	return analysis_task(m->a, (unsigned int)index);
}

static int by_run(const void *one, const void *other)
{
	const struct analysis_task *const *a = one, *const *b = other;

	if ((*a)->run_ns != (*b)->run_ns)
		return (*a)->run_ns > (*b)->run_ns ? -1 : 1;
	return (*a)->index < (*b)->index ? -1 : 1;
}

/* The tasks that ran, the busiest first; for free() */
static const void **busiest(struct report_builder *m, size_t *count)
{
	const void **list = sorted(m, get_task, count, by_run);
	size_t i, kept = 0;

	for (i = 0; i < *count && list; i++)
		if (analysis_ran(list[i]))
			list[kept++] = list[i];
	*count = list ? kept : 0;
	return list;
}

static void cell_container(struct report_builder *m, const struct analysis_task *task)
{
	char buffer[CGROUP_NAME_MAX];
	const char *name = task_container(m, task, buffer);

	if (name)
		text(m, name);
	else
		report_unknown(m->report, m->section);
}

static void task_row(struct report_builder *m, const struct analysis_task *task, bool containers)
{
	const struct analysis_stat *wait = &task->wait;

	cells_task(m, task);
	number(m, task->run_ns);
	cell_share(m, task->share_ns, analysis_total(m->a)->shares_ns);
	number(m, task->runs);
	number(m, wait->count);
	cell_mean(m, wait);
	number_if(m, wait->count, wait->max);
	if (containers)
		cell_container(m, task);
	number(m, task->preempted);
	number(m, task->migrations);
	number(m, wait->sum);
	number(m, wait->uncertain);
	number(m, task->tgid);
	number(m, task->runnable.sum);
	number(m, task->blocked.sum);
	number(m, task->sleeping.sum);
	number(m, task->stuck.sum);
	number(m, task->before_waited + task->last_waited);
	number(m, task->last_stuck);
	number(m, task->before_slept + task->last_slept);
}

static void section_tasks(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("tid", "tid", REPORT_PLAIN),
		COLUMN_TEXT("comm", "task"),
		COLUMN_NUMBER("cpu", "CPU", REPORT_NS),
		COLUMN_NUMBER("share", "share", REPORT_PPM),
		COLUMN_NUMBER("runs", "runs", REPORT_COUNT),
		COLUMN_NUMBER("wakeups", "wakeups", REPORT_COUNT),
		COLUMN_NUMBER("wait_mean", "mean wait", REPORT_NS),
		COLUMN_NUMBER("wait_max", "max wait", REPORT_NS),
	}, more[] = {
		COLUMN_NUMBER("preempted", "preempted", REPORT_COUNT),
		COLUMN_NUMBER("migrations", "migrations", REPORT_COUNT),
		COLUMN_NUMBER("wait_total", "all waits", REPORT_NS),
		COLUMN_NUMBER("wait_uncertain", "unsure", REPORT_COUNT),
		COLUMN_NUMBER("pid", "pid", REPORT_PLAIN),
		COLUMN_NUMBER("runnable", "off, ready", REPORT_NS),
		COLUMN_NUMBER("blocked", "off, D", REPORT_NS),
		COLUMN_NUMBER("sleeping", "off, asleep", REPORT_NS),
		COLUMN_NUMBER("stuck", "in D", REPORT_NS),
		COLUMN_NUMBER("cut_wait", "ready, cut off", REPORT_NS),
		COLUMN_NUMBER("cut_stuck", "in D, cut off", REPORT_NS),
		COLUMN_NUMBER("cut_slept", "asleep, cut off", REPORT_NS),
	}, container[] = {
		COLUMN_TEXT("container", "container"),
	};
	const struct analysis_task *rest;
	const void **tasks;
	bool containers = knows_containers(m);
	size_t count, all, i;

	section(m, "tasks", "Tasks", REPORT_TABLE);
	COLUMNS(m, list);
	if (containers)
		COLUMNS(m, container);
	COLUMNS(m, more);
	if (!needs(m, "CPU time of tasks", ANALYSIS_SWITCH, ANALYSIS_NEEDS))
		return;
	if (analysis_lacks(m->a, ANALYSIS_WAKING) && analysis_lacks(m->a, ANALYSIS_WAKEUP))
		remark(m, "There is no sched_waking or sched_wakeup in this trace: waits need -e sched:sched_waking,sched:sched_wakeup.");
	if (analysis_total(m->a)->of_threads)
		remark(m, "Only chosen threads were recorded. "
		       "Others may have run unseen: their times are lower limits.");
	else if (analysis_total(m->a)->known_ns < span(m))
		remark(m, "The share of a task is of the time in which the trace tells what ran on each CPU: known in the summary. A CPU of which the trace tells nothing is left out of this.");
	tasks = busiest(m, &count);
	if (!tasks)
		return;
	for (i = 0, all = count; (rest = analysis_rest(m->a, (unsigned int)i)); i++)
		all += rest->tasks;
	all = rows_of(m, all, "tasks");
	count = count < all ? count : all;
	for (i = 0; i < count; i++)
		task_row(m, tasks[i], containers);
	free(tasks);
}

/* Get the least and the most time of the bucket in which it is known what ran on a CPU */
static void known_in(const struct report_builder *m, unsigned int bucket, uint64_t *least,
		     uint64_t *most)
{
	uint64_t known;
	unsigned int i;

	/* all runs of a chosen thread are known, whatever else the CPUs run */
	*least = *most = analysis_axis(m->a)->width;
	if (analysis_total(m->a)->of_threads)
		return;
	*least = UINT64_MAX;
	*most = 0;
	for (i = 0; i < analysis_nr_cpus(m->a); i++) {
		if (!cpu_wanted(m, i))
			continue;
		known = analysis_cpu(m->a, i)->known[bucket];
		*least = known < *least ? known : *least;
		*most = known > *most ? known : *most;
	}
}

/* A task that did not run on the known CPUs may have run on an unknown one */
static void task_cell(struct report_builder *m, uint64_t ran, uint64_t least, uint64_t most)
{
	if (ran || least)
		cell_share(m, ran, most);
	else
		number_if(m, false, 0);
}

static void section_tasks_time(struct report_builder *m)
{
	const struct analysis_task *task;
	size_t count, i, most = REPORT_SERIES_TASKS;
	const void **tasks;
	unsigned int bucket;
	uint64_t least, most_ns;
	char id[24], title[48];

	section(m, "tasks-time", "CPU use of the busiest tasks over time", REPORT_SERIES);
	if (!needs(m, "CPU time of tasks", ANALYSIS_SWITCH, ANALYSIS_NEEDS))
		return;
	tasks = busiest(m, &count);
	if (!tasks)
		return;
	if (m->top && m->top < most)
		most = m->top;
	count = count < most ? count : most;
	series_start(m);
	for (i = 0; i < count; i++) {
		task = tasks[i];
		snprintf(id, sizeof(id), "task%" PRIu32, task->index);
		snprintf(title, sizeof(title), "%s/%" PRIu32, task->comm, task->tid);
		report_column(m->report, m->section, id, title, REPORT_NUMBER, REPORT_PPM);
	}
	for (bucket = 0; bucket < analysis_axis(m->a)->count; bucket++) {
		series_time(m, bucket);
		known_in(m, bucket, &least, &most_ns);
		for (i = 0; i < count; i++)
			task_cell(m, analysis_task_series(tasks[i], bucket), least, most_ns);
	}
	free(tasks);
}

void sections_cpu(struct report_builder *m)
{
	section_cpu(m);
	section_cpu_time(m);
	section_tasks(m);
	section_tasks_time(m);
	section_containers(m);
}

/* ---- run queues ---- */

static bool needs_queue(struct report_builder *m)
{
	bool all = needs(m, "the depth of run queues", ANALYSIS_SWITCH, ANALYSIS_WAKEUP,
			 ANALYSIS_NEEDS);

	if (all && analysis_of_threads(m->a))
		remark(m, "These figures are of all tasks, not only of the chosen ones.");
	return all;
}

static void section_queue(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("cpu", "CPU", REPORT_PLAIN),
		COLUMN_NUMBER("mean", "mean depth", REPORT_MICRO),
		COLUMN_NUMBER("max", "max", REPORT_COUNT),
		COLUMN_NUMBER("waiting", "task time", REPORT_NS),
		COLUMN_NUMBER("deep", "not empty", REPORT_NS),
		COLUMN_NUMBER("known", "known for", REPORT_NS),
	};
	const struct analysis_cpu *cpu;
	unsigned int i;

	section(m, "runqueue", "Run queues: tasks that are waiting for a CPU", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs_queue(m))
		return;
	remark(m, "These are lower limits: tasks that waited before the first event are not known.");
	if (analysis_lacks(m->a, ANALYSIS_MIGRATE))
		remark(m, "There is no sched_migrate_task in this trace: a task that moved to another CPU while it waited counts on the CPU for which it was woken.");
	if (analysis_total(m->a)->losses)
		remark(m, "While events of any CPU are missing no task is known to wait: that time is not in these figures, and counting restarts after it.");
	for (i = 0; i < analysis_nr_cpus(m->a); i++) {
		if (!cpu_wanted(m, i))
			continue;
		cpu = analysis_cpu(m->a, i);
		number(m, i);
		cell_share(m, cpu->waiting_ns, cpu->known_ns);
		number(m, cpu->depth_max);
		number(m, cpu->waiting_ns);
		number(m, cpu->deep_ns);
		number(m, cpu->known_ns);
	}
}

void sections_queue(struct report_builder *m)
{
	section_queue(m);
	section(m, "runqueue-time", "Run queues over time: mean depth", REPORT_SERIES);
	if (needs_queue(m))
		cpu_series(m, WAITING);
	section(m, "runqueue-most", "Run queues over time: most at once", REPORT_SERIES);
	if (needs_queue(m))
		cpu_series(m, DEEPEST);
}
