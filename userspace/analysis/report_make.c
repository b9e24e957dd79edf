// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a report: what all sections share, and the summary.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sections.h"

/* ---- cells ---- */

void section(struct report_builder *m, const char *id, const char *title, enum report_kind kind)
{
	m->section = report_section(m->report, id, title, kind);
}

void columns(struct report_builder *m, const struct column *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		report_column(m->report, m->section, list[i].id, list[i].title,
			      list[i].type, list[i].unit);
}

void number(struct report_builder *m, uint64_t value)
{
	report_number(m->report, m->section, value);
}

void number_if(struct report_builder *m, bool known, uint64_t value)
{
	if (known)
		number(m, value);
	else
		report_unknown(m->report, m->section);
}

void cell_mean(struct report_builder *m, const struct analysis_stat *stat)
{
	number_if(m, stat->count, stat->count ? stat->sum / stat->count : 0);
}

void text(struct report_builder *m, const char *value)
{
	report_text(m->report, m->section, value);
}

void cells_stat(struct report_builder *m, const struct analysis_stat *stat,
		const struct analysis_histogram *of)
{
	number(m, stat->count);
	number(m, stat->sum);
	cell_mean(m, stat);
	number_if(m, stat->count, stat->max);
	number_if(m, stat->count, analysis_percentile(of, 9900));
	number_if(m, stat->count, analysis_percentile(of, 5000));
	number(m, stat->uncertain);
	number(m, stat->open);
}

void cell_share(struct report_builder *m, uint64_t part, uint64_t whole)
{
	number_if(m, whole, whole ? (uint64_t)((unsigned __int128)part * 1000000 / whole) : 0);
}

void cells_task(struct report_builder *m, const struct analysis_task *task)
{
	number(m, task ? task->tid : 0);
	text(m, task ? task->comm : "<idle>");
}

void remark(struct report_builder *m, const char *format, ...)
{
	va_list arguments;
	char *line = NULL;

	va_start(arguments, format);
	if (vasprintf(&line, format, arguments) < 0)
		m->report->failed = true;
	else
		report_note(m->report, m->section, "%s", line);
	va_end(arguments);
	free(line);
}

/* ---- recorded events ---- */

static const struct {
	const char *system, *name;
} events[ANALYSIS_NEEDS] = {
	[ANALYSIS_SWITCH] = { "sched", "sched_switch" },
	[ANALYSIS_WAKING] = { "sched", "sched_waking" },
	[ANALYSIS_WAKEUP] = { "sched", "sched_wakeup" },
	[ANALYSIS_IRQ] = { "irq", "irq_handler_entry" },
	[ANALYSIS_IRQ_EXIT] = { "irq", "irq_handler_exit" },
	[ANALYSIS_SOFTIRQ] = { "irq", "softirq_entry" },
	[ANALYSIS_SOFTIRQ_EXIT] = { "irq", "softirq_exit" },
	[ANALYSIS_CALL] = { "raw_syscalls", "sys_enter" },
	[ANALYSIS_CALL_EXIT] = { "raw_syscalls", "sys_exit" },
	[ANALYSIS_ISSUE] = { "block", "block_rq_issue" },
	[ANALYSIS_COMPLETE] = { "block", "block_rq_complete" },
	[ANALYSIS_MIGRATE] = { "sched", "sched_migrate_task" },
};

static bool is_of(const struct tb_format *format, enum analysis_need need)
{
	return !strcmp(format->name, events[need].name) &&
	       !strcmp(format->system, events[need].system);
}

/* The format of an event by the id of its wide form, or its compact form */
static const struct tb_format *format_of(const struct tb_trace *trace, uint32_t id)
{
	const struct tb_format *format = tb_trace_format(trace, (uint16_t)id);

	return format ? format : tb_trace_format(trace, (uint16_t)(id + 1));
}

/* Number of these events that rules kept out; @by_thread: of all that the choice of threads did */
static uint64_t kept_out(const struct report_builder *m, enum analysis_need need, bool by_thread)
{
	const struct tb_suppressed *list;
	const struct tb_format *format;
	uint64_t sum = 0;
	size_t count, i;

	list = tb_trace_suppressed(m->trace, &count);
	for (i = 0; i < count; i++) {
		format = list[i].id ? format_of(m->trace, list[i].id) : NULL;
		if (by_thread ? !list[i].id : format && is_of(format, need))
			sum += list[i].filtered + list[i].sampled + list[i].limited +
			       list[i].vetoed + list[i].nested;
	}
	return sum;
}

bool needs(struct report_builder *m, const char *what, ...)
{
	enum analysis_need need;
	bool all = true;
	va_list list;
	uint64_t out;

	va_start(list, what);
	while ((need = va_arg(list, enum analysis_need)) != ANALYSIS_NEEDS) {
		out = kept_out(m, need, false);
		if (out)
			remark(m, "A rule kept %llu events %s out of the recording: they are missing here.",
			       (unsigned long long)out, events[need].name);
		if (analysis_has(m->a, need))
			continue;
		if (analysis_of_events(m->a))
			remark(m, "No %s is among the chosen events (-e).", events[need].name);
		else if (!analysis_lacks(m->a, need))
			remark(m, "%s was recorded, and did not occur.", events[need].name);
		else
			remark(m, "There is no %s in this trace: %s needs -e %s:%s.",
			       events[need].name, what, events[need].system,
			       events[need].name);
		all = false;
	}
	va_end(list);
	return all;
}

size_t rows_of(struct report_builder *m, size_t count, const char *what)
{
	if (!m->top || count <= m->top)
		return count;
	remark(m, "%u of %zu %s are shown.", m->top, count, what);
	return m->top;
}

void remark_uncertain(struct report_builder *m, const struct analysis_stat *stat, const char *what)
{
	if (stat->uncertain)
		remark(m, "%llu %s lasted while events were missing, and are counted as unsure: in no time, mean, percentile or maximum.",
		       (unsigned long long)stat->uncertain, what);
	if (stat->open)
		remark(m, "%llu %s have no end in the trace, and are counted as open: in no time either.",
		       (unsigned long long)stat->open, what);
}

const void **sorted(struct report_builder *m,
		    const void *(*get)(struct report_builder *m, size_t index),
		    size_t *count, int (*compare)(const void *a, const void *b))
{
	const void **list;
	size_t i;

	for (*count = 0; get(m, *count); ++*count)
		;
	list = *count ? malloc(*count * sizeof(*list)) : NULL;
	if (!list) {
		m->report->failed |= *count;
		return NULL;
	}
	for (i = 0; i < *count; i++)
		list[i] = get(m, i);
	qsort(list, *count, sizeof(*list), compare);
	return list;
}

void histogram(struct report_builder *m, const struct analysis_histogram *of)
{
	static const struct column list[] = {
		COLUMN_NUMBER("from", "from", REPORT_NS),
		COLUMN_NUMBER("to", "to", REPORT_NS),
		COLUMN_NUMBER("count", "count", REPORT_COUNT),
	};
	unsigned int power, first = 64, last = 0;

	COLUMNS(m, list);
	for (power = 0; power < 64; power++) {
		if (!analysis_log2(of, power))
			continue;
		first = first == 64 ? power : first;
		last = power;
	}
	for (power = first; power <= last; power++) {
		number(m, power ? 1ull << power : 0);
		number(m, power < 63 ? 2ull << power : INT64_MAX);
		number(m, analysis_log2(of, power));
	}
}

/* ---- summary ---- */

/* A task that is not seen may run on a CPU that is not recorded */
static void remark_unrecorded(struct report_builder *m)
{
	const struct tb_init *init = tb_trace_init(m->trace);
	unsigned int cpu, recorded = 0;

	for (cpu = 0; cpu < tb_trace_nr_cpus(m->trace); cpu++)
		recorded += tb_trace_totals(m->trace, cpu) != NULL;
	/* without totals, the recording was not stopped: its CPUs are unknown */
	if (!init || !recorded || recorded >= init->nr_cpus || init->flags & TB_INIT_ALL_CPUS)
		return;
	remark(m, "%u of %u CPUs were recorded: a task may have run on another one while it seems to wait, or to be off the CPU.",
	       recorded, init->nr_cpus);
}

static void section_summary(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("begin", "from", REPORT_TIME),
		COLUMN_NUMBER("end", "to", REPORT_TIME),
		COLUMN_NUMBER("span", "time", REPORT_NS),
		COLUMN_NUMBER("known", "known", REPORT_NS),
		COLUMN_NUMBER("events", "events", REPORT_COUNT),
		COLUMN_NUMBER("cpus", "CPUs", REPORT_COUNT),
		COLUMN_NUMBER("tasks", "tasks", REPORT_COUNT),
		COLUMN_NUMBER("losses", "losses", REPORT_COUNT),
		COLUMN_NUMBER("lost", "lost", REPORT_COUNT),
	};
	const struct analysis_total *total = analysis_total(m->a);
	const struct analysis_task *task;
	uint64_t tasks = 0, cpus = 0, by_thread;
	unsigned int i;

	section(m, "summary", "The trace", REPORT_TABLE);
	COLUMNS(m, list);
	if (!total->events && !total->losses && !total->known_ns)
		remark(m, "The trace has no events: nothing is known.");
	if (total->cut)
		remark(m, "The file breaks off, or is damaged: nothing is known of a CPU after its last event.");
	else if (total->open)
		remark(m, "The file ends before the recording: what %u CPU%s did after the last event is unknown.",
		       total->open, total->open == 1 ? "" : "s");
	if (total->losses)
		remark(m, "Events are missing: what runs on a CPU is known again from the next switch on. See losses.");
	if (total->late)
		remark(m, "%llu events arrived after later ones were counted: conclusions from them may be wrong.",
		       (unsigned long long)total->late);
	remark_unrecorded(m);
	if (total->back)
		remark(m, "By the clock records time goes back before %llu events: they count as of the latest time before them.",
		       (unsigned long long)total->back);
	by_thread = kept_out(m, ANALYSIS_SWITCH, true);
	if (by_thread)
		remark(m, "%llu events of other threads were not recorded: CPUs and queues are known only as far as the threads that were recorded tell.",
		       (unsigned long long)by_thread);
	for (i = 0; (task = analysis_task(m->a, i)); i++)
		tasks += analysis_ran(task);
	for (i = 0; (task = analysis_rest(m->a, i)); i++)
		tasks += task->tasks;
	for (i = 0; i < analysis_nr_cpus(m->a); i++)
		cpus += analysis_cpu(m->a, i) && analysis_cpu(m->a, i)->seen;
	number(m, total->begin);
	number(m, total->end);
	number(m, total->end - total->begin);
	number(m, total->known_ns);
	number(m, total->events);
	number(m, cpus);
	number(m, tasks);
	number(m, total->losses);
	number(m, total->lost);
}

/* The findings, too, show fewer tasks than REPORT_SERIES_TASKS */
uint32_t report_ended(unsigned int top)
{
	return top && top < REPORT_SERIES_TASKS ? REPORT_SERIES_TASKS : top;
}

struct report *report_make(struct analysis *a, const struct tb_trace *trace,
			   const char *title, const struct report_shell *shell,
			   unsigned int top)
{
	struct report_builder m = {
		.report = report_new(title), .a = a, .trace = trace, .top = top
	};

	if (!m.report)
		return NULL;
	m.report->base = analysis_base(a);
	m.report->begin = analysis_total(a)->begin;
	m.report->end = analysis_total(a)->end;
	section_findings(&m, shell);
	section_summary(&m);
	sections_cpu(&m);
	sections_latency(&m);
	sections_queue(&m);
	sections_off(&m);
	sections_handlers(&m);
	sections_block(&m);
	sections_losses(&m);
	sections_events(&m);
	if (!m.report->failed)
		return m.report;
	report_free(m.report);
	return NULL;
}
