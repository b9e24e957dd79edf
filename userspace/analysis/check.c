// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariants of the analyses; see check.h.
 *
 * Memory: that of why_open(), and the causes of one thread at a time.  Work: CHECK_STRETCHES bounds
 * the number of stretches into which the time of threads is divided.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "check.h"
#include "spans.h"
#include "why_lines.h"

/* In a hostile file, threads can wait for each other such that each one has the stretches of all */
#define CHECK_STRETCHES 100000000ull

/* The figures of "report" for the TID @tid, summed over threads that had it */
struct reported {
	uint32_t tid;
	uint64_t run_ns, off_ns;
};

/* The stretches of one depth have filled the time up to @at, and must fill it up to @end */
struct window {
	uint64_t at, end;
};

/**
 * struct check - the check of a recording
 * @reported: sorted by TID
 * @filtered: switches may be missing without a record of a loss
 * @windows: by depth of the nodes, for the current thread
 * @wrong: a wrong stretch of the current thread was reported
 * @idle_from, @idle_ns: time for which the CPU has been idle in the current wait of the thread
 */
struct check {
	struct tb_trace *trace;
	check_tell *tell;
	void *context;
	struct check_counts *counts;
	struct why *why;
	struct analysis *a;
	struct spans missing;
	struct reported *reported;
	size_t nr_reported;
	bool filtered;

	const struct why_line *line;
	struct window windows[WHY_LEVELS + 2];
	bool wrong;
	uint64_t stretches, idle_from, idle_ns;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- reporting ---- */

static void tell(struct check *check, const struct check_found *found)
{
	check->counts->violated += !found->doubt;
	check->counts->doubts += found->doubt;
	check->tell(check->context, found);
}

static void hold(struct check *check, bool of_cpu, uint32_t number, uint64_t from, uint64_t to,
		 const char *one, uint64_t ns, const char *other, uint64_t expected)
{
	const struct check_found found = {
		.of_cpu = of_cpu, .number = number, .from = from, .to = to,
		.one = one, .ns = ns, .other = other, .expected = expected,
	};

	if (ns != expected)
		tell(check, &found);
}

/* Check that elements of @size, which begin with begin and end, do not overlap */
static void check_order(struct check *check, bool of_cpu, uint32_t number,
			const struct why_list *list, size_t size, const char *what)
{
	uint64_t span[2], at = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		memcpy(span, (const char *)list->at + i * size, sizeof(span));
		if (span[0] < at || span[1] <= span[0]) {
			tell(check, &(struct check_found){
				.of_cpu = of_cpu, .number = number, .from = span[0],
				.to = span[1], .one = what,
				.ns = at > span[0] ? at - span[0] : 0,
			});
			return;
		}
		at = span[1];
	}
}

/* ---- a thread: the tree of "why" ---- */

/* Report a CPU that was idle, then ran another thread, or this thread after a long time */
static void tell_idle(struct check *check)
{
	const struct why_list *list = &check->line->offs;
	const struct why_off *off = list->at;
	size_t i = why_first(list, sizeof(*off), check->idle_from);

	if (i < list->count)
		tell(check, &(struct check_found){
			.doubt = true, .of_cpu = true, .number = off[i].cpu,
			.tid = check->line->tid, .from = check->idle_from,
			.to = check->windows[2].at, .one = "idle", .ns = check->idle_ns,
		});
	check->idle_ns = 0;
}

/* Take a stretch of the CPU for which the thread waits */
static void take_instead(struct check *check, enum why_cause cause, uint64_t from, uint64_t to)
{
	if (cause == WHY_IDLE) {
		if (!check->idle_ns)
			check->idle_from = from;
		check->idle_ns += to - from;
	} else if (check->idle_ns && cause != WHY_IRQ && cause != WHY_SOFTIRQ) {
		tell_idle(check);
	}
}

/* The wait ends, and the thread runs */
static void end_wait(struct check *check)
{
	if (check->idle_ns >= CHECK_WAKE_NS)
		tell_idle(check);
	check->idle_ns = 0;
}

static void tell_stretch(struct check *check, uint64_t from, uint64_t to, uint64_t expected)
{
	if (!check->wrong)
		tell(check, &(struct check_found){
			.number = check->line->tid, .from = from, .to = to,
			.one = "a stretch of time begins at", .ns = from,
			.other = "the one before it ended at", .expected = expected,
		});
	check->wrong = true;
}

/* A why_stretch function; stops after CHECK_STRETCHES */
static int take_stretch(void *context, uint32_t index, uint64_t from, uint64_t to)
{
	struct check *check = context;
	size_t count;
	const struct why_node *nodes = why_nodes(check->why, &count);
	const struct why_node *node = &nodes[index];
	struct window *window = &check->windows[node->depth], *below = window + 1;

	if (++check->stretches > CHECK_STRETCHES)
		return -E2BIG;
	if (node->depth && (from != window->at || to <= from || to > window->end))
		tell_stretch(check, from, to, window->at);
	if (node->depth == 2 && nodes[node->parent].cause == WHY_WAITS)
		take_instead(check, node->cause, from, to);
	window->at = to;
	if (node->depth == 1)
		end_wait(check);
	if (!why_divides(node->cause))
		return 0;
	if (below->at != below->end)
		tell_stretch(check, below->end, below->end, below->at);
	*below = (struct window){ from, to };
	return 0;
}

/* Time between @from and @to in which the thread neither runs nor is off a CPU */
static uint64_t holes_of(const struct why_line *line, uint64_t from, uint64_t to)
{
	const struct why_run *run = line->runs.at;
	const struct why_off *off = line->offs.at;
	uint64_t holes = 0, at = from, begin;
	size_t r = 0, o = 0;
	bool runs;

	while (r < line->runs.count || o < line->offs.count) {
		runs = r < line->runs.count &&
		       (o == line->offs.count || run[r].begin <= off[o].begin);
		begin = runs ? run[r].begin : off[o].begin;
		holes += begin > at ? begin - at : 0;
		at = later(at, runs ? run[r].end : off[o].end);
		r += runs;
		o += !runs;
	}
	return holes + (to > at ? to - at : 0);
}

/* Check that each node has the time of its children, and that the states fill the interval */
static int check_tree(struct check *check, uint64_t from, uint64_t to, uint64_t holes)
{
	uint32_t tid = check->line->tid;
	uint64_t ran, waited, off, of[WHY_UNKNOWN + 1] = { 0 }, runs, blocked;
	const struct why_node *nodes;
	size_t count, i;
	uint64_t *below;

	nodes = why_nodes(check->why, &count);
	below = calloc(count, sizeof(*below));
	if (!below)
		return -ENOMEM;
	for (i = 1; i < count; i++) {
		below[nodes[i].parent] += nodes[i].ns;
		if (nodes[i].depth == 1)
			of[nodes[i].cause] += nodes[i].ns;
	}
	for (i = 0; i < count; i++)
		if (why_divides(nodes[i].cause))
			hold(check, false, tid, from, to, "the parts of a cause", below[i],
			     "the cause", nodes[i].ns);
	free(below);
	why_times(check->why, check->line->thread, 0, UINT64_MAX, &ran, &waited, &off);
	runs = of[WHY_RUNS] + of[WHY_IRQ] + of[WHY_SOFTIRQ];
	blocked = of[WHY_BLOCKED] + of[WHY_NO_WORK] + of[WHY_SLEEPS] + of[WHY_OFF];
	hold(check, false, tid, from, to, "running + runnable + blocked + unknown",
	     runs + of[WHY_WAITS] + blocked + of[WHY_UNKNOWN], "its interval", to - from);
	hold(check, false, tid, from, to, "runnable by its causes", of[WHY_WAITS],
	     "by its stretches", waited);
	hold(check, false, tid, from, to, "blocked by its causes", blocked, "by its stretches", off);
	/* unknown time that may have been an interrupt was on the thread's CPU */
	hold(check, false, tid, from, to, "running + unknown by their causes",
	     runs + of[WHY_UNKNOWN], "by their stretches", ran + holes);
	return 0;
}

static int compare_reported(const void *a, const void *b)
{
	const struct reported *one = a, *other = b;

	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

/* Check that "why" and "report" have the same times of a thread, where both are certain */
static void compare_thread(struct check *check, uint64_t from, uint64_t to)
{
	const struct reported key = { .tid = check->line->tid }, none = { 0 }, *found;
	const struct why_line *line;
	uint64_t ran, waited, blocked, runs = 0, sum = 0;
	const struct why_off *off;
	size_t i;

	/* of a TID that several threads had in turn, compare the sums, once */
	if (check->line->after)
		return;
	found = bsearch(&key, check->reported, check->nr_reported, sizeof(key), compare_reported);
	found = found ? found : &none;
	for (line = check->line; line; line = line->before) {
		why_times(check->why, line->thread, 0, UINT64_MAX, &ran, &waited, &blocked);
		runs += ran;
		off = line->offs.at;
		for (i = 0; i < line->offs.count; i++) {
			/* 'report' does not count what has no beginning or no end */
			if (!off[i].open && !off[i].before)
				sum += off[i].end - off[i].begin;
		}
	}
	hold(check, false, key.tid, from, to, "running by 'why'", runs, "by 'report'",
	     found->run_ns);
	hold(check, false, key.tid, from, to, "off a CPU by 'why'", sum, "by 'report'",
	     found->off_ns);
}

static int check_thread(struct check *check, uint32_t thread)
{
	const struct why_line *line = why_line_of(why_lines(check->why), thread);
	uint64_t from, to, holes, ran, waited, off;
	uint32_t tid = line->tid;
	size_t i;
	int result;

	if (!why_limits(check->why, thread, &from, &to))
		return 0;
	check->line = line;
	check->wrong = false;
	check_order(check, false, tid, &line->runs, sizeof(struct why_run),
		    "two times on a CPU overlap");
	check_order(check, false, tid, &line->offs, sizeof(struct why_off),
		    "two times off a CPU overlap");
	check_order(check, false, tid, &line->calls, sizeof(struct why_call),
		    "two system calls overlap");
	holes = holes_of(line, from, to);
	why_times(check->why, thread, 0, UINT64_MAX, &ran, &waited, &off);
	hold(check, false, tid, from, to, "running + runnable + blocked + unknown by stretches",
	     ran + waited + off + holes, "its interval", to - from);
	if (!check->counts->uncompared)
		compare_thread(check, from, to);
	if (check->stretches > CHECK_STRETCHES) {
		check->counts->unchecked++;
		return 0;
	}
	memset(check->windows, 0, sizeof(check->windows));
	why_clear(check->why);
	result = why_add(check->why, thread, from, to);
	if (result == -E2BIG) {
		check->counts->unchecked++;
		return 0;
	}
	end_wait(check);
	for (i = 1; !result && i <= WHY_LEVELS; i++)
		if (check->windows[i].at != check->windows[i].end)
			tell_stretch(check, check->windows[i].end, check->windows[i].end,
				     check->windows[i].at);
	return result ? result : check_tree(check, from, to, holes);
}

/* ---- a CPU ---- */

/* True if the recording says why it is unknown what @cpu ran */
static bool is_explained(const struct check *check, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct spans *missing = &check->missing;
	uint64_t ticks;

	return spans_meet(missing, from, to) || !tb_trace_selection(check->trace, 0, &ticks) ||
	       (cpu < missing->nr_cpus && missing->cpus[cpu].end < to);
}

static void check_hole(struct check *check, uint32_t cpu, uint64_t from, uint64_t to)
{
	if (from < to && !check->counts->uncompared && !is_explained(check, cpu, from, to))
		tell(check, &(struct check_found){
			.doubt = check->filtered, .of_cpu = true, .number = cpu, .from = from,
			.to = to, .ns = to - from,
			.one = "it is not known what ran, and no event is missing",
		});
}

/* Compare interrupts, if all have ended: "report" has their sum, "why" the parts */
static void compare_interrupts(struct check *check, uint32_t cpu, const struct why_list *list,
			       const struct analysis_cpu *reported)
{
	const struct analysis_total *total = analysis_total(check->a);
	const struct why_irq_part *part = list->at;
	uint64_t irq = 0, softirq = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (part[i].cause == WHY_UNKNOWN)
			return;
		*(part[i].cause == WHY_IRQ ? &irq : &softirq) += part[i].end - part[i].begin;
	}
	hold(check, true, cpu, total->begin, total->end, "interrupts by 'why'", irq,
	     "by 'report'", reported->irq_ns);
	/* "report" counts softirqs with the interrupts in them */
	if (softirq > reported->softirq_ns || softirq + irq < reported->softirq_ns)
		hold(check, true, cpu, total->begin, total->end,
		     "softirqs by 'why', without interrupts", softirq,
		     "by 'report', with interrupts", reported->softirq_ns);
}

static void check_cpu(struct check *check, uint32_t cpu, const struct why_cpu *why)
{
	const struct analysis_total *total = analysis_total(check->a);
	const struct analysis_cpu *reported = analysis_cpu(check->a, cpu);
	uint64_t busy = 0, idle = 0, holes = 0, at = total->begin, ns;
	const struct why_run *run = why->runs.at;
	size_t i;

	check_order(check, true, cpu, &why->runs, sizeof(*run), "two runs overlap");
	check_order(check, true, cpu, &why->irqs, sizeof(struct why_irq_part),
		    "two interrupts overlap, and are not within each other");
	for (i = 0; i < why->runs.count; i++) {
		if (i)
			check_hole(check, cpu, at, run[i].begin);
		*(run[i].other ? &busy : &idle) += run[i].end - run[i].begin;
		holes += run[i].begin > at ? run[i].begin - at : 0;
		at = later(at, run[i].end);
	}
	if (i)
		check_hole(check, cpu, at, total->end);
	holes += total->end > at ? total->end - at : 0;
	if (check->counts->uncompared || !reported)
		return;
	hold(check, true, cpu, total->begin, total->end, "busy + idle + unknown",
	     busy + idle + holes, "the recording's interval", total->end - total->begin);
	hold(check, true, cpu, total->begin, total->end, "busy by 'why'", busy, "by 'report'",
	     reported->busy_ns);
	hold(check, true, cpu, total->begin, total->end, "idle by 'why'", idle, "by 'report'",
	     reported->idle_ns);
	ns = reported->busy_ns + reported->idle_ns;
	if (ns > total->end - total->begin)
		hold(check, true, cpu, total->begin, total->end, "busy + idle by 'report'", ns,
		     "the recording's interval", total->end - total->begin);
	compare_interrupts(check, cpu, &why->irqs, reported);
}

/* ---- the recording ---- */

/* Run the analysis of "report" over all events */
static int analyse(struct check *check)
{
	const struct analysis_options options = { .whole = true };
	struct tb_cursor *cursor;
	struct tb_view view;
	int result, step;

	check->a = analysis_new(check->trace, &options);
	result = check->a ? tb_cursor_open(check->trace, &cursor) : -ENOMEM;
	if (result)
		return result;
	while (!result && (step = tb_cursor_next(cursor, &view)) > 0)
		result = analysis_event(check->a, cursor, &view);
	if (!result && step == -ENOMEM)
		result = step;
	check->counts->uncompared = tb_cursor_fault(cursor) || tb_trace_fault(check->trace);
	if (!result)
		result = analysis_end(check->a, cursor,
				      check->counts->uncompared ? ANALYSIS_CUT : 0);
	check->counts->uncompared |= analysis_total(check->a)->back;
	tb_cursor_close(cursor);
	return result < 0 ? result : 0;
}

/* Sum the figures of "report" by TID */
static int gather_reported(struct check *check)
{
	const struct analysis_task *task;
	struct reported *list;
	unsigned int count = 0, i;
	size_t kept = 0;

	while (analysis_task(check->a, count))
		count++;
	list = check->reported = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		task = analysis_task(check->a, i);
		list[i] = (struct reported){
			task->tid, task->run_ns,
			task->runnable.sum + task->blocked.sum + task->sleeping.sum,
		};
	}
	qsort(list, count, sizeof(*list), compare_reported);
	for (i = 0; i < count; i++) {
		if (!kept || list[kept - 1].tid != list[i].tid) {
			list[kept++] = list[i];
			continue;
		}
		list[kept - 1].run_ns += list[i].run_ns;
		list[kept - 1].off_ns += list[i].off_ns;
	}
	check->nr_reported = kept;
	return 0;
}

static int check_all(struct check *check)
{
	const struct why_lines *lines = why_lines(check->why);
	struct check_counts *counts = check->counts;
	unsigned int cpu;
	int result = 0;
	size_t i;

	why_watch(check->why, take_stretch, check);
	for (i = 0; !result && i < why_threads(check->why); i++)
		result = check_thread(check, why_thread(check->why, i));
	counts->threads = (unsigned int)i;
	for (cpu = 0; cpu < lines->nr_cpus; cpu++)
		if (lines->cpus[cpu].runs.count || lines->cpus[cpu].irqs.count) {
			check_cpu(check, cpu, &lines->cpus[cpu]);
			counts->cpus++;
		}
	return result;
}

int check_analyses(struct tb_trace *trace, check_tell *tell_found, void *context,
		   struct check_counts *counts)
{
	struct check check = {
		.trace = trace, .tell = tell_found, .context = context, .counts = counts,
	};
	struct tb_error error;
	size_t suppressed;
	int result;

	memset(counts, 0, sizeof(*counts));
	tb_trace_suppressed(trace, &suppressed);
	check.filtered = suppressed;
	result = why_open(trace, TB_TIME_MONOTONIC, NULL, &check.why, &error);
	counts->switches = !result && why_has_switches(check.why);
	if (counts->switches)
		result = analyse(&check);
	if (!result && counts->switches)
		result = gather_reported(&check);
	if (!result && counts->switches)
		result = spans_of_trace(&check.missing, trace, TB_TIME_MONOTONIC);
	if (!result && counts->switches)
		result = check_all(&check);
	why_close(check.why);
	analysis_free(check.a);
	spans_free(&check.missing);
	free(check.reported);
	return result;
}
