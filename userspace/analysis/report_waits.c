// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections about waiting: from wake-ups to running, and off the CPU.
 */
#include <stdio.h>
#include "sections.h"

/* Without any wake-up events, a remark says what to record */
static bool needs_wakeups(struct report_builder *m)
{
	bool has = needs(m, "latency", ANALYSIS_SWITCH, ANALYSIS_NEEDS);

	if (analysis_has(m->a, ANALYSIS_WAKING) || analysis_has(m->a, ANALYSIS_WAKEUP))
		return has;
	return needs(m, "latency", ANALYSIS_WAKEUP, ANALYSIS_NEEDS);
}

static const char *context_name(enum analysis_context context)
{
	static const char *const names[] = {
		[ANALYSIS_FROM_TASK] = "task",
		[ANALYSIS_FROM_SOFTIRQ] = "softirq", [ANALYSIS_FROM_IRQ] = "irq",
		[ANALYSIS_FROM_NMI] = "nmi",
	};

	return names[context];
}

static void cells_waker(struct report_builder *m, const struct analysis_wait *wait)
{
	if (wait->woken) {
		number(m, wait->waker);
		text(m, !wait->waker ? "<idle>" : wait->comm[0] ? wait->comm : "<...>");
		text(m, context_name(wait->context));
		return;
	}
	report_unknown(m->report, m->section);
	report_unknown(m->report, m->section);
	report_unknown(m->report, m->section);
}

static void cell_call(struct report_builder *m, int64_t call)
{
	const char *name = call_name(m->trace, call);

	if (name)
		text(m, name);
	else
		report_unknown(m->report, m->section);
}

/* ---- latency ---- */

static void section_latency(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("count", "wake-ups", REPORT_COUNT),
		COLUMN_NUMBER("mean", "mean", REPORT_NS),
		COLUMN_NUMBER("p50", "p50", REPORT_NS),
		COLUMN_NUMBER("p90", "p90", REPORT_NS),
		COLUMN_NUMBER("p99", "p99", REPORT_NS),
		COLUMN_NUMBER("p999", "p99.9", REPORT_NS),
		COLUMN_NUMBER("max", "max", REPORT_NS),
		COLUMN_NUMBER("total", "total", REPORT_NS),
		COLUMN_NUMBER("uncertain", "unsure", REPORT_COUNT),
	};
	static const unsigned int percentiles[] = { 5000, 9000, 9900, 9990 };
	const struct analysis_histogram *of = analysis_latency(m->a);
	const struct analysis_stat *stat = analysis_latency_stat(m->a);
	size_t i;

	section(m, "latency", "From wake-up to running", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs_wakeups(m))
		return;
	remark(m, analysis_has(m->a, ANALYSIS_WAKING) ?
	       "From sched_waking on, where there is one, but not before the task left its CPU; "
	       "a task that was woken before it slept does not count." :
	       "There is no sched_waking in this trace: from sched_wakeup on, which may come later.");
	remark_uncertain(m, stat, "wake-ups");
	if (!stat->count && !stat->uncertain)
		return;
	number(m, stat->count);
	cell_mean(m, stat);
	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		number_if(m, stat->count, analysis_percentile(of, percentiles[i]));
	number_if(m, stat->count, stat->max);
	number(m, stat->sum);
	number(m, stat->uncertain);
	remark(m, "Percentiles are the ends of buckets, at most a sixteenth too much.");
}

static void section_latency_worst(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("case", "#", REPORT_PLAIN),
		COLUMN_NUMBER("time", "ran at", REPORT_TIME),
		COLUMN_NUMBER("latency", "waited", REPORT_NS),
		COLUMN_NUMBER("tid", "tid", REPORT_PLAIN),
		COLUMN_TEXT("comm", "task"),
		COLUMN_NUMBER("cpu", "CPU", REPORT_PLAIN),
		COLUMN_NUMBER("waker", "by", REPORT_PLAIN),
		COLUMN_TEXT("waker_comm", "woken by"),
		COLUMN_TEXT("context", "in"),
	};
	const struct analysis_wait *wait;
	unsigned int i;

	section(m, "latency-worst", "The longest waits after a wake-up", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs_wakeups(m))
		return;
	for (i = 0; (wait = analysis_worst(m->a, ANALYSIS_WORST_WAKEUP, i)); i++) {
		number(m, i + 1);
		number(m, wait->end);
		number(m, wait->end - wait->begin);
		cells_task(m, wait->task);
		number(m, wait->cpu);
		cells_waker(m, wait);
	}
	if (i)
		remark(m, "Woken in irq or softirq: the task is only the one that was interrupted.");
}

/* tid and name of what ran; an interrupt has no tid */
static void cells_ran(struct report_builder *m, const struct analysis_task *task,
		      const struct analysis_handler *handler)
{
	char name[96];

	if (!handler) {
		cells_task(m, task);
		return;
	}
	report_unknown(m->report, m->section);
	snprintf(name, sizeof(name), "%s %s",
		 handler->kind == ANALYSIS_IRQS ? "irq" : "softirq", handler->name);
	text(m, name);
}

static void section_latency_instead(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("case", "#", REPORT_PLAIN),
		COLUMN_NUMBER("cpu", "CPU", REPORT_PLAIN),
		COLUMN_NUMBER("tid", "tid", REPORT_PLAIN),
		COLUMN_TEXT("comm", "what ran instead"),
		COLUMN_NUMBER("ran", "for", REPORT_NS),
		COLUMN_NUMBER("share", "of the wait", REPORT_PPM),
	};
	const struct analysis_wait *wait;
	unsigned int i, k;

	section(m, "latency-instead", "What ran there meanwhile", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs_wakeups(m))
		return;
	for (i = 0; (wait = analysis_worst(m->a, ANALYSIS_WORST_WAKEUP, i)); i++) {
		uint64_t whole = wait->end - wait->begin;

		if (wait->moved_at) {
			number(m, i + 1);
			report_unknown(m->report, m->section);
			report_unknown(m->report, m->section);
			text(m, "(in the queue of another CPU)");
			number(m, wait->moved_at - wait->begin);
			cell_share(m, wait->moved_at - wait->begin, whole);
		}
		for (k = 0; k < wait->nr_instead; k++) {
			number(m, i + 1);
			number(m, wait->cpu);
			cells_ran(m, wait->instead[k].task, wait->instead[k].handler);
			number(m, wait->instead[k].ns);
			cell_share(m, wait->instead[k].ns, whole);
		}
		for (k = 0; k < 2; k++) {
			uint64_t ns = k ? wait->unknown_ns : wait->others_ns;

			if (!ns)
				continue;
			number(m, i + 1);
			number(m, wait->cpu);
			report_unknown(m->report, m->section);
			text(m, k ? "(not known)" : "(others)");
			number(m, ns);
			cell_share(m, ns, whole);
		}
	}
	if (i)
		remark(m, "These ran on the CPU on which the task ran at last, while the task was "
		       "in the queue of that CPU. The time of a task is without what "
		       "interrupted it. At most %d runs, interrupts and softirqs are looked at.",
		       ANALYSIS_HISTORY);
}

void sections_latency(struct report_builder *m)
{
	section_latency(m);
	section(m, "latency-histogram", "From wake-up to running, how often", REPORT_HISTOGRAM);
	if (needs_wakeups(m))
		histogram(m, analysis_latency(m->a));
	section_latency_worst(m);
	section_latency_instead(m);
}

/* ---- off the CPU ---- */

static const struct analysis_stat *off_of(const struct analysis_task *task,
					  enum analysis_worst kind)
{
	return kind == ANALYSIS_WORST_RUNNABLE ? &task->runnable :
	       kind == ANALYSIS_WORST_BLOCKED ? &task->blocked : &task->sleeping;
}

static void sum_off(struct report_builder *m, enum analysis_worst kind, struct analysis_stat *sum)
{
	const struct analysis_task *task;
	unsigned int i;

	for (i = 0; (task = analysis_task(m->a, i)); i++)
		sum->uncertain += off_of(task, kind)->uncertain;
	for (i = 0; (task = analysis_rest(m->a, i)); i++)
		sum->uncertain += off_of(task, kind)->uncertain;
}

static void section_off(struct report_builder *m, const char *id, const char *title,
			enum analysis_worst kind)
{
	static const struct column list[] = {
		COLUMN_NUMBER("from", "from", REPORT_TIME),
		COLUMN_NUMBER("time", "off for", REPORT_NS),
		COLUMN_NUMBER("tid", "tid", REPORT_PLAIN),
		COLUMN_TEXT("comm", "task"),
		COLUMN_TEXT("state", "state"),
		COLUMN_TEXT("call", "in call"),
		COLUMN_NUMBER("before", "left", REPORT_PLAIN),
		COLUMN_NUMBER("cpu", "CPU", REPORT_PLAIN),
		COLUMN_NUMBER("waker", "by", REPORT_PLAIN),
		COLUMN_TEXT("waker_comm", "woken by"),
		COLUMN_TEXT("context", "in"),
		COLUMN_NUMBER("woken_at", "woken at", REPORT_TIME),
	};
	struct analysis_stat sum = { 0 };
	const struct analysis_wait *wait;
	char state[24];
	unsigned int i;

	section(m, id, title, REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs(m, "time off the CPU", ANALYSIS_SWITCH, ANALYSIS_NEEDS))
		return;
	sum_off(m, kind, &sum);
	remark_uncertain(m, &sum, "of these");
	if (kind != ANALYSIS_WORST_RUNNABLE)
		needs_wakeups(m);
	for (i = 0; (wait = analysis_worst(m->a, kind, i)); i++) {
		number(m, wait->begin);
		number(m, wait->end - wait->begin);
		cells_task(m, wait->task);
		text(m, tb_task_state((uint64_t)wait->state, state, sizeof(state)));
		cell_call(m, wait->call);
		number(m, wait->before);
		number(m, wait->cpu);
		cells_waker(m, wait);
		number_if(m, wait->woken, wait->woken_at);
	}
}

void sections_off(struct report_builder *m)
{
	section_off(m, "offcpu-runnable", "Longest off the CPU: made way for another one",
		    ANALYSIS_WORST_RUNNABLE);
	section_off(m, "offcpu-blocked", "Longest off the CPU: blocked (state D)",
		    ANALYSIS_WORST_BLOCKED);
	section_off(m, "offcpu-sleeping", "Longest off the CPU: asleep",
		    ANALYSIS_WORST_SLEEPING);
}
