// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare two traces.
 *
 * Items are the same if their names are the same: thread ids, numbers of interrupts and so on
 * differ from boot to boot.  Totals are divided by the time of their trace in which no events are
 * missing, so traces of different length can be compared.  The tables are sorted by the change of
 * time per second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"
#include "diff_findings.h"
#include "lib/array.h"

/* ---- collecting ---- */

static void add(struct items *items, unsigned int side, const char *name, uint64_t count,
		uint64_t sum, uint64_t part, uint64_t max)
{
	struct item *item;

	if (tb_array_grow(&items->list, &items->room, items->count, sizeof(*items->list))) {
		items->failed = true;
		return;
	}
	item = &items->list[items->count++];
	memset(item, 0, sizeof(*item));
	snprintf(item->name, sizeof(item->name), "%s", name);
	item->side[side].count = count;
	item->side[side].sum = sum;
	item->side[side].part = part;
	item->side[side].max = max;
}

static void add_stat(struct items *items, unsigned int side, const char *name,
		     const struct analysis_stat *stat)
{
	if (stat->count)
		add(items, side, name, stat->count, stat->sum, stat->sum, stat->max);
	items->uncertain[side] += stat->uncertain + stat->open;
}

static void collect_cpu(struct analysis *a, unsigned int side, struct items *items)
{
	const struct analysis_task *task;
	unsigned int i;

	for (i = 0; (task = analysis_task(a, i)); i++)
		if (task->run_ns)
			add(items, side, task->comm, task->runs, task->run_ns, task->share_ns, 0);
}

static void collect_waits(struct analysis *a, unsigned int side, struct items *items)
{
	const struct analysis_task *task;
	unsigned int i;

	for (i = 0; (task = analysis_task(a, i)); i++)
		add_stat(items, side, task->comm, &task->wait);
}

static void collect_handlers(struct analysis *a, unsigned int side, struct items *items,
			     enum analysis_kind kind)
{
	const struct analysis_handler *handler;
	char name[160];
	unsigned int i;

	for (i = 0; (handler = analysis_handler(a, kind, i)); i++) {
		/* without a name, the number is all that is known of it */
		if (!strcmp(handler->name, "?"))
			snprintf(name, sizeof(name), "number %" PRId64, handler->number);
		else
			snprintf(name, sizeof(name), "%s", handler->name);
		add_stat(items, side, name, &handler->stat);
	}
}

static void collect_calls(struct analysis *a, unsigned int side, struct items *items)
{
	collect_handlers(a, side, items, ANALYSIS_CALLS);
}

static void collect_irqs(struct analysis *a, unsigned int side, struct items *items)
{
	collect_handlers(a, side, items, ANALYSIS_IRQS);
}

static void collect_softirqs(struct analysis *a, unsigned int side, struct items *items)
{
	collect_handlers(a, side, items, ANALYSIS_SOFTIRQS);
}

static void collect_blocks(struct analysis *a, unsigned int side, struct items *items)
{
	const struct analysis_block *block;
	char name[40];
	unsigned int i;

	for (i = 0; (block = analysis_block(a, i)); i++) {
		snprintf(name, sizeof(name), "%u:%u %c", block->dev >> 20,
			 block->dev & 0xfffff, block->op);
		add_stat(items, side, name, &block->stat);
	}
}

/* ---- comparing ---- */

static int by_name(const void *one, const void *other)
{
	const struct item *a = one, *b = other;

	return strcmp(a->name, b->name);
}

static void merge(struct items *items)
{
	struct item *to = items->list, *from;
	size_t i, k;

	if (!items->count)
		return;
	qsort(items->list, items->count, sizeof(*items->list), by_name);
	for (i = 1; i < items->count; i++) {
		from = &items->list[i];
		if (strcmp(to->name, from->name)) {
			*++to = *from;
			continue;
		}
		for (k = 0; k < 2; k++) {
			to->side[k].count += from->side[k].count;
			to->side[k].sum += from->side[k].sum;
			to->side[k].part += from->side[k].part;
			if (from->side[k].max > to->side[k].max)
				to->side[k].max = from->side[k].max;
		}
	}
	items->count = (size_t)(to - items->list) + 1;
}

int64_t diff_rate(const struct diff *diff, unsigned int side, const struct item *item)
{
	uint64_t whole = diff->whole[side];

	return whole ? (int64_t)((unsigned __int128)item->side[side].part * 1000000000 / whole) : 0;
}

bool diff_hides(const struct diff *diff, unsigned int side, const struct item *item)
{
	return !item->side[side].count && analysis_total(diff->a[side])->of_threads;
}

/* 0: also if it is not known */
static int64_t change(const struct diff *diff, const struct item *item)
{
	if (diff_hides(diff, 0, item) || diff_hides(diff, 1, item))
		return 0;
	return diff_rate(diff, 1, item) - diff_rate(diff, 0, item);
}

static int compare(const void *one, const void *other, void *context)
{
	const struct item *a = one, *b = other;
	int64_t first = llabs(change(context, a)), second = llabs(change(context, b));

	if (first != second)
		return first > second ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void relative(struct diff *diff, int64_t before, int64_t after)
{
	if (before)
		report_signed(diff->report, diff->section,
			      (int64_t)((__int128)(after - before) * 1000000 / before));
	else
		report_unknown(diff->report, diff->section);
}

/* The times per second, and their change */
static void cells_rate(struct diff *diff, const struct item *item)
{
	struct report_section *section = diff->section;
	struct report *report = diff->report;
	bool hidden = false;
	unsigned int k;

	for (k = 0; k < 2; k++) {
		if (diff_hides(diff, k, item)) {
			report_unknown(report, section);
			hidden = true;
		} else {
			report_signed(report, section, diff_rate(diff, k, item));
		}
	}
	if (hidden) {
		report_unknown(report, section);
		report_unknown(report, section);
	} else {
		report_signed(report, section, change(diff, item));
		relative(diff, diff_rate(diff, 0, item), diff_rate(diff, 1, item));
	}
}

static void row(struct diff *diff, const struct item *item)
{
	struct report_section *section = diff->section;
	struct report *report = diff->report;
	int64_t means[2] = { 0, 0 };
	unsigned int k;

	for (k = 0; k < 2; k++)
		if (item->side[k].count)
			means[k] = (int64_t)(item->side[k].sum / item->side[k].count);
	report_text(report, section, item->name);
	cells_rate(diff, item);
	for (k = 0; k < 2; k++)
		if (item->side[k].count)
			report_signed(report, section, means[k]);
		else
			report_unknown(report, section);
	if (item->side[0].count && item->side[1].count) {
		report_signed(report, section, means[1] - means[0]);
		relative(diff, means[0], means[1]);
	} else {
		report_unknown(report, section);
		report_unknown(report, section);
	}
	for (k = 0; k < 2; k++)
		report_number(report, section, item->side[k].count);
	for (k = 0; k < 2; k++)
		report_number(report, section, item->side[k].max);
}

static const struct {
	const char *id, *title;
	enum report_type type;
	enum report_unit unit;
} columns[] = {
	{ "name", "name", REPORT_TEXT, REPORT_PLAIN },
	{ "a", "A per s", REPORT_NUMBER, REPORT_NS },
	{ "b", "B per s", REPORT_NUMBER, REPORT_NS },
	{ "change", "change", REPORT_NUMBER, REPORT_NS },
	{ "relative", "%", REPORT_NUMBER, REPORT_PPM },
	{ "a_mean", "mean A", REPORT_NUMBER, REPORT_NS },
	{ "b_mean", "mean B", REPORT_NUMBER, REPORT_NS },
	{ "mean_change", "of mean", REPORT_NUMBER, REPORT_NS },
	{ "mean_relative", "%", REPORT_NUMBER, REPORT_PPM },
	{ "a_count", "count A", REPORT_NUMBER, REPORT_COUNT },
	{ "b_count", "count B", REPORT_NUMBER, REPORT_COUNT },
	{ "a_max", "max A", REPORT_NUMBER, REPORT_NS },
	{ "b_max", "max B", REPORT_NUMBER, REPORT_NS },
};

/* Sections that are compared, and the events that they need */
static const struct {
	const char *id, *title;
	void (*collect)(struct analysis *a, unsigned int side, struct items *items);
	uint32_t needs, either;
	const char *events;
} kinds[DIFF_KINDS] = {
	{ "tasks", "CPU time by task", collect_cpu, 1u << ANALYSIS_SWITCH, 0, "sched_switch" },
	{ "latency", "From wake-up to running, by task", collect_waits,
	  1u << ANALYSIS_SWITCH, 1u << ANALYSIS_WAKING | 1u << ANALYSIS_WAKEUP,
	  "sched_switch,sched_waking,sched_wakeup" },
	{ "syscalls", "System calls", collect_calls,
	  1u << ANALYSIS_CALL | 1u << ANALYSIS_CALL_EXIT, 0, "raw_syscalls" },
	{ "irq", "Interrupts", collect_irqs, 1u << ANALYSIS_IRQ | 1u << ANALYSIS_IRQ_EXIT, 0,
	  "irq_handler_entry,irq_handler_exit" },
	{ "softirq", "Softirqs", collect_softirqs,
	  1u << ANALYSIS_SOFTIRQ | 1u << ANALYSIS_SOFTIRQ_EXIT, 0,
	  "softirq_entry,softirq_exit" },
	{ "block", "Block devices: requests, from issue to completion", collect_blocks,
	  1u << ANALYSIS_ISSUE | 1u << ANALYSIS_COMPLETE, 0,
	  "block_rq_issue,block_rq_complete" },
};

static bool has(uint32_t have, size_t kind)
{
	return (have & kinds[kind].needs) == kinds[kind].needs &&
	       (!kinds[kind].either || have & kinds[kind].either);
}

static void rows(struct diff *diff, struct items *items)
{
	size_t i, count = items->count;

	merge(items);
	qsort_r(items->list, items->count, sizeof(*items->list), compare, diff);
	count = items->count;
	if (diff->top && count > diff->top) {
		report_note(diff->report, diff->section, "%u of %zu are shown.", diff->top, count);
		count = diff->top;
	}
	for (i = 0; i < count; i++)
		row(diff, &items->list[i]);
}

static void compare_kind(struct diff *diff, size_t kind)
{
	bool all = true, is_share = kinds[kind].collect == collect_cpu;
	struct items items = { .count = 0 };
	const struct analysis_total *total;
	size_t i;

	diff->section = report_section(diff->report, kinds[kind].id, kinds[kind].title,
				       REPORT_TABLE);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		report_column(diff->report, diff->section, columns[i].id, columns[i].title,
			      columns[i].type, columns[i].unit);
	for (i = 0; i < 2; i++) {
		total = analysis_total(diff->a[i]);
		diff->whole[i] = is_share ? total->shares_ns : total->recorded_ns;
		if (has(total->has, kind) && diff->whole[i])
			continue;
		if (!has(total->has, kind) && analysis_of_events(diff->a[i]))
			report_note(diff->report, diff->section,
				    "%c cannot be compared: "
				    "%s are not all among the chosen events (-e).",
				    "AB"[i], kinds[kind].events);
		else if (!has(total->has, kind) && has(total->has | total->selected, kind))
			report_note(diff->report, diff->section,
				    "%c cannot be compared: %s were recorded, and did not all occur.",
				    "AB"[i], kinds[kind].events);
		else if (!has(total->has, kind))
			report_note(diff->report, diff->section,
				    "%c cannot be compared: record it with -e %s.", "AB"[i],
				    kinds[kind].events);
		else
			report_note(diff->report, diff->section,
				    "%c cannot be compared: at no time is it known what %s on all CPUs.",
				    "AB"[i], is_share ? "ran" : "happened");
		diff->lacks[i][kind] = kinds[kind].title;
		all = false;
	}
	if (!all)
		return;
	diff->compared = true;
	for (i = 0; i < 2; i++)
		kinds[kind].collect(diff->a[i], (unsigned int)i, &items);
	for (i = 0; i < 2; i++)
		if (items.uncertain[i])
			report_note(diff->report, diff->section,
				    "%c has %" PRIu64 " more that do not count: events are missing in between, or they had not ended.",
				    "AB"[i], items.uncertain[i]);
	if (items.count && !items.failed) {
		rows(diff, &items);
		diff_find(diff, kinds[kind].id, &items);
	}
	diff->report->failed |= items.failed;
	free(items.list);
}

static void sum_up(struct diff *diff)
{
	static const struct {
		const char *id, *title;
		enum report_unit unit;
	} list[] = {
		{ "begin", "from", REPORT_TIME }, { "end", "to", REPORT_TIME },
		{ "known", "known", REPORT_NS }, { "covered", "covered", REPORT_NS },
		{ "events", "events", REPORT_COUNT }, { "losses", "losses", REPORT_COUNT },
		{ "lost", "lost", REPORT_COUNT },
	};
	const struct analysis_total *total;
	unsigned int i;

	diff->section = report_section(diff->report, "summary", "The traces", REPORT_TABLE);
	report_column(diff->report, diff->section, "trace", "trace", REPORT_TEXT, REPORT_PLAIN);
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		report_column(diff->report, diff->section, list[i].id, list[i].title, REPORT_NUMBER,
			      list[i].unit);
	for (i = 0; i < 2; i++) {
		total = analysis_total(diff->a[i]);
		report_text(diff->report, diff->section, i ? "B" : "A");
		report_number(diff->report, diff->section, total->begin);
		report_number(diff->report, diff->section, total->end);
		report_number(diff->report, diff->section, total->known_ns);
		report_number(diff->report, diff->section, total->recorded_ns);
		report_number(diff->report, diff->section, total->events);
		report_number(diff->report, diff->section, total->losses);
		report_number(diff->report, diff->section, total->lost);
	}
	report_note(diff->report, diff->section,
		    "Times are for each second of a trace; what has changed most comes first. CPU time is for each second in which the trace tells what ran on each CPU (known; a CPU of which a trace tells nothing is left out of this); the rest is for each second in which the trace has all events (covered: the mean of the CPUs).");
	for (i = 0; i < 2; i++)
		if (analysis_total(diff->a[i])->of_threads)
			report_note(diff->report, diff->section,
				    "%c has only chosen threads: "
				    "their CPU time is for each covered second.",
				    "AB"[i]);
	if (analysis_total(diff->a[0])->losses || analysis_total(diff->a[1])->losses)
		report_note(diff->report, diff->section,
			    "Events are missing: waits and calls that lasted while they are missing are in no time.");
}

struct report *diff_make(struct analysis *a, struct analysis *b, const char *title,
			 const struct diff_shell *shell, unsigned int top)
{
	struct diff diff = {
		.report = report_new(title), .a = { a, b }, .shell = shell, .top = top,
	};
	size_t i;

	if (!diff.report)
		return NULL;
	diff.report->base = analysis_base(a);
	diff.find.section = report_section(diff.report, "findings", "What has changed",
					   REPORT_TABLE);
	sum_up(&diff);
	diff_find_missing(&diff);
	diff_find_chosen(&diff);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		compare_kind(&diff, i);
	diff_find_uncompared(&diff);
	diff_write_findings(&diff);
	if (!diff.report->failed)
		return diff.report;
	report_free(diff.report);
	return NULL;
}
