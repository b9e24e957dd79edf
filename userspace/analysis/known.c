// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time in which it is known of every CPU what ran: shares of tasks are relative to it.
 *
 * A CPU is tracked from the beginning of the recording or from a switch until its events are
 * missing or switches are not recorded, and again from the next switch.  The clock advances while
 * all CPUs are tracked that were tracked once.  When a CPU is tracked for the first time, the clock
 * and the shares restart.
 *
 * Memory: O(gaps); each switch costs a look-up of O(log gaps).
 */
#include <errno.h>
#include "engine.h"

static int add_unselected(struct analysis *a, uint64_t from, uint64_t to)
{
	int result = spans_add(&a->known.unselected, from, to);

	if (!result)
		result = spans_add(&a->known.blind, from, to);
	return result ? result : spans_add(&a->known.hidden, from, to);
}

/* Find when switches are not recorded: between changes that deselect and select them */
static int find_unselected(struct analysis *a)
{
	bool off = false, selects;
	uint64_t ticks, ns, since = 0;
	unsigned int i;
	int result = 0;

	for (i = 0; !result && !tb_trace_selection(a->trace, i, &ticks); i++) {
		ns = tb_trace_ns(a->trace, ticks, a->options.base);
		selects = spans_selects_switches(a->trace, i);
		if (off && selects)
			result = add_unselected(a, since, ns);
		else if (!off)
			since = ns;
		off = !selects;
	}
	if (!result && off)
		result = add_unselected(a, since, UINT64_MAX);
	spans_settle(&a->known.unselected);
	return result;
}

int known_start(struct analysis *a)
{
	const struct spans *missing = &a->missing;
	struct spans *blind = &a->known.blind;
	const struct gap_span *gap;
	unsigned int i;
	int result = find_unselected(a);

	a->known.at = a->options.from;
	for (i = 0; !result && i < missing->count; i++)
		result = spans_add(&a->known.hidden, missing->list[i].first, missing->list[i].last);
	spans_settle(&a->known.hidden);
	for (i = 0; !result && i < missing->nr_own; i++) {
		gap = &missing->own[i];
		if (analysis_wants_cpu(a, gap->cpu))
			result = spans_add(blind, gap->first, gap->reported);
	}
	for (i = 0; !result && i < missing->nr_cpus; i++)
		if (missing->cpus[i].any && missing->cpus[i].end != UINT64_MAX &&
		    analysis_wants_cpu(a, i))
			result = spans_add(blind, missing->cpus[i].end, UINT64_MAX);
	spans_settle(blind);
	return result;
}

void known_advance(struct analysis *a, uint64_t ns)
{
	struct known *known = &a->known;

	if (ns <= known->at)
		return;
	if (known->tracked && known->tracked == known->counted)
		a->total.known_ns += spans_outside(&known->blind, known->at, ns);
	known->at = ns;
}

/* Restart the clock at 0, for all tracked CPUs */
static void restart(struct analysis *a)
{
	unsigned int i;

	a->total.known_ns = 0;
	a->known.generation++;
	for (i = 0; i < a->nr_cpus; i++)
		if (a->cpus[i])
			a->cpus[i]->known_at = 0;
}

void known_track(struct analysis *a, struct cpu_state *cpu)
{
	if (!cpu->counted) {
		cpu->counted = true;
		a->known.counted++;
		restart(a);
	}
	cpu->tracked = true;
	a->known.tracked++;
	cpu->known_at = a->total.known_ns;
}

void known_run(struct analysis *a, struct cpu_state *cpu, uint64_t begin, uint64_t end)
{
	if (!cpu->tracked)
		return;
	known_advance(a, end);
	cpu->tracked = false;
	a->known.tracked--;
	cpu->it.tracked_ns += end - begin;
}

void known_add(const struct analysis *a, struct task *task, uint64_t share_ns)
{
	if (task->generation != a->known.generation) {
		task->generation = a->known.generation;
		task->it.share_ns = 0;
	}
	task->it.share_ns += share_ns;
}

void known_share(struct analysis *a, const struct cpu_state *cpu, struct task *task,
		 uint64_t run_ns)
{
	uint64_t share = a->total.known_ns - cpu->known_at;

	known_add(a, task, share < run_ns ? share : run_ns);
}

static bool is_wanted(const struct analysis *a, unsigned int cpu)
{
	return cpu < a->nr_cpus && a->cpus[cpu] && a->cpus[cpu]->it.seen &&
	       analysis_wants_cpu(a, cpu);
}

/* The part of [@from, @to) for which the file has the events of @cpu, switches included */
static uint64_t recorded_time(const struct analysis *a, unsigned int cpu, uint64_t from,
			      uint64_t to)
{
	uint64_t begin = a->total.begin, end = a->cpus[cpu]->known_until;

	if (cpu < a->missing.nr_cpus && a->missing.cpus[cpu].begin > begin)
		begin = a->missing.cpus[cpu].begin;
	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return spans_outside(&a->known.unselected, from, to);
}

/* Set total.recorded_ns, after known_until of all CPUs */
static void sum_recorded(struct analysis *a)
{
	const struct spans *missing = &a->missing;
	const struct gap_span *gap;
	uint64_t sum = 0, lost = 0;
	unsigned int cpu, cpus = 0;
	size_t i;

	for (cpu = 0; cpu < a->nr_cpus; cpu++) {
		if (!is_wanted(a, cpu))
			continue;
		sum += recorded_time(a, cpu, 0, UINT64_MAX);
		cpus++;
	}
	for (i = 0; i < missing->nr_own; i++) {
		gap = &missing->own[i];
		if (is_wanted(a, gap->cpu))
			lost += recorded_time(a, gap->cpu, gap->first, gap->reported);
	}
	a->total.recorded_ns = cpus && sum > lost ? (sum - lost) / cpus : 0;
}

/* All runs of a chosen thread are known while its events are, whatever else the CPUs run */
static void end_share(const struct analysis *a, struct task *task)
{
	known_add(a, task, 0);
	if (a->total.of_threads)
		task->it.share_ns = task->it.run_ns;
}

void known_end(struct analysis *a)
{
	const struct cpu_state *cpu;
	size_t i;

	a->total.of_threads = slices_hides_threads(a->slices);
	for (i = 0; i < a->tasks.count; i++)
		end_share(a, a->tasks.list[i]);
	for (i = 0; i < a->rest.count; i++)
		end_share(a, a->rest.list[i]);
	/* damaged file: the clock has advanced beyond the last event of a CPU */
	for (i = 0; a->total.cut && i < a->nr_cpus; i++) {
		cpu = a->cpus[i];
		if (cpu && cpu->counted && cpu->known_until < a->known.at &&
		    (i >= a->missing.nr_cpus || a->missing.cpus[i].end == UINT64_MAX))
			a->total.known_ns = 0;
	}
	sum_recorded(a);
	a->total.shares_ns = a->total.of_threads ? a->total.recorded_ns : a->total.known_ns;
}
