// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes between two traces, as sentences with figures: first what is missing in one of them,
 * then what changed most.
 *
 * Two recordings of the same load differ a little in all figures; a change beyond the limits below
 * is more than that (docs/report.md).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diff_findings.h"
#include "sections.h"
#include "lib/array.h"

#define MS 1000000ll
#define MOST 3			/* findings of each section */

struct diff_finding {
	int64_t ns;		/* change of time per second; INT64_MAX: comes first */
	const char *id;
	char name[160], text[512];
};

/* The figure of a section that decides whether something has changed */
enum measure {
	BY_RATE,		/* time per second */
	BY_WAIT,		/* longest wait */
	BY_MEAN,		/* mean duration */
};

/**
 * struct limit - when an item of section @id has changed
 * @rate: its time per second has changed by this, ns
 * @tenths: the larger figure is at least this many tenths of the smaller one
 */
static const struct limit {
	const char *id;
	enum measure measure;
	int64_t rate;
	unsigned int tenths;
} limits[] = {
	{ "tasks",    BY_RATE, 50 * MS, 15 },
	{ "latency",  BY_WAIT, 0, 40 },
	{ "syscalls", BY_MEAN, 10 * MS, 30 },
	{ "irq",      BY_RATE, 20 * MS, 20 },
	{ "softirq",  BY_RATE, 20 * MS, 20 },
	{ "block",    BY_MEAN, 10 * MS, 30 },
};

#define WAIT_LEAST (10 * MS)	/* BY_WAIT: the longest waits differ by this */
#define COUNT_LEAST 10		/* BY_MEAN: both traces have this many */

#define TEXT(to, ...) snprintf((to), sizeof(to), __VA_ARGS__)

/* Add a finding, for the caller to fill in; NULL: no memory */
static struct diff_finding *add(struct diff *diff, int64_t ns, const char *id, const char *name)
{
	struct diff_finding *finding;

	if (tb_array_grow(&diff->find.list, &diff->find.room, diff->find.count,
			  sizeof(*diff->find.list))) {
		diff->report->failed = true;
		return NULL;
	}
	finding = &diff->find.list[diff->find.count++];
	*finding = (struct diff_finding){ .ns = ns, .id = id };
	TEXT(finding->name, "%s", name);
	return finding;
}

/* ---- what is missing ---- */

void diff_find_missing(struct diff *diff)
{
	const struct analysis_total *total;
	struct diff_finding *finding;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		total = analysis_total(diff->a[i]);
		if (!total->lost)
			continue;
		finding = add(diff, INT64_MAX, "summary", i ? "B" : "A");
		if (finding)
			TEXT(finding->text, "%s lacks %" PRIu64 " of its %" PRIu64 " events: waits, calls and interrupts of that time are in no figure of %s.",
			     finding->name, total->lost, total->lost + total->events,
			     finding->name);
	}
}

void diff_find_uncompared(struct diff *diff)
{
	struct diff_finding *finding;
	unsigned int side, kind, used;
	char titles[256];

	for (side = 0; side < 2; side++) {
		used = 0;
		for (kind = 0; kind < DIFF_KINDS && used < sizeof(titles); kind++)
			/* if both lack a section, the tables say so */
			if (diff->lacks[side][kind] && !diff->lacks[!side][kind])
				used += (unsigned int)snprintf(titles + used, sizeof(titles) - used,
							       "%s%s", used ? "; " : "",
							       diff->lacks[side][kind]);
		finding = used ? add(diff, INT64_MAX - 1, "summary", side ? "B" : "A") : NULL;
		if (finding)
			TEXT(finding->text, "%s hides what has changed of: %s. The sections below say what to record.",
			     finding->name, titles);
	}
}

/* ---- changes ---- */

/* True if @one is at least @tenths tenths of @other */
static bool is_more(uint64_t one, uint64_t other, unsigned int tenths)
{
	return (unsigned __int128)one * 10 >= (unsigned __int128)other * tenths;
}

static bool is_changed(uint64_t a, uint64_t b, unsigned int tenths)
{
	return is_more(a, b, tenths) || is_more(b, a, tenths);
}

/* "3.2 times as long", or "only 31.0 % as long"; @a is not 0 */
static const char *times_text(uint64_t a, uint64_t b, char text[48])
{
	if (b >= a)
		snprintf(text, 48, "%.1f times as long", (double)b / (double)a);
	else
		snprintf(text, 48, "only %.1f %% as long", 100.0 * (double)b / (double)a);
	return text;
}

/* Say what ran in a wait of @ns of a task of this name, if that wait is among the worst */
static void instead_text(struct analysis *a, const char *name, uint64_t ns, char *text,
			 size_t size)
{
	const struct analysis_wait *wait;
	unsigned int i;

	*text = 0;
	for (i = 0; (wait = analysis_worst(a, ANALYSIS_WORST_WAKEUP, i)); i++) {
		if (wait->end - wait->begin != ns || strcmp(wait->task->comm, name) ||
		    !wait->nr_instead || wait->instead[0].ns < wait->unknown_ns)
			continue;
		if (wait->instead[0].handler)
			snprintf(text, size, "; meanwhile %s had CPU %u",
				 wait->instead[0].handler->name, wait->cpu);
		else if (wait->instead[0].task)
			snprintf(text, size, "; meanwhile %s ran on CPU %u",
				 wait->instead[0].task->comm, wait->cpu);
		else
			snprintf(text, size, "; meanwhile CPU %u was idle", wait->cpu);
		return;
	}
}

static void say_rate(struct diff_finding *finding, int64_t a, int64_t b)
{
	bool task = !strcmp(finding->id, "tasks");
	const char *what = !strcmp(finding->id, "irq") ? "Interrupt " :
			   task ? "" : "Softirq ";
	char before[32], after[32], times[48];

	if (!a && task)
		TEXT(finding->text, "New: %s uses %.0f %% of a CPU.", finding->name,
		     (double)b / 1e7);
	else if (!b && task)
		TEXT(finding->text, "Gone: %s used %.0f %% of a CPU.", finding->name,
		     (double)a / 1e7);
	else if (!a || !b)
		TEXT(finding->text, "%s%s is %s: it %s %s of each second.", what, finding->name,
		     a ? "gone" : "new", a ? "took" : "takes", time_text((uint64_t)(a ? a : b), after));
	else
		TEXT(finding->text, "%s%s runs %s: %s -> %s of each second.", what, finding->name,
		     times_text((uint64_t)a, (uint64_t)b, times), time_text((uint64_t)a, before),
		     time_text((uint64_t)b, after));
}

static void find_rate(struct diff *diff, const struct limit *limit, const struct item *item)
{
	int64_t a = diff_rate(diff, 0, item), b = diff_rate(diff, 1, item);
	struct diff_finding *finding;

	if (llabs(b - a) < limit->rate || !is_changed((uint64_t)a, (uint64_t)b, limit->tenths))
		return;
	finding = add(diff, llabs(b - a), limit->id, item->name);
	if (finding)
		say_rate(finding, a, b);
}

static void find_wait(struct diff *diff, const struct limit *limit, const struct item *item)
{
	uint64_t a = item->side[0].max, b = item->side[1].max;
	char before[32], after[32], instead[128];
	struct diff_finding *finding;

	if (!item->side[0].count || !item->side[1].count ||
	    (a > b ? a - b : b - a) < (uint64_t)WAIT_LEAST || !is_changed(a, b, limit->tenths))
		return;
	finding = add(diff, a > b ? (int64_t)(a - b) : (int64_t)(b - a), limit->id, item->name);
	if (!finding)
		return;
	instead_text(diff->a[b > a], item->name, b > a ? b : a, instead, sizeof(instead));
	TEXT(finding->text, "Waits of %s for a CPU: the longest %s -> %s%s%s.", item->name,
	     time_text(a, before), time_text(b, after), instead,
	     *instead && a > b ? ", in A" : "");
}

static void find_mean(struct diff *diff, const struct limit *limit, const struct item *item)
{
	int64_t change = diff_rate(diff, 1, item) - diff_rate(diff, 0, item);
	char before[32], after[32], times[48];
	struct diff_finding *finding;
	uint64_t a, b;

	if (item->side[0].count < COUNT_LEAST || item->side[1].count < COUNT_LEAST ||
	    llabs(change) < limit->rate)
		return;
	a = item->side[0].sum / item->side[0].count;
	b = item->side[1].sum / item->side[1].count;
	if (!is_changed(a, b, limit->tenths))
		return;
	finding = add(diff, llabs(change), limit->id, item->name);
	if (finding)
		TEXT(finding->text, "%s%s takes %s: %s -> %s on average.",
		     strcmp(limit->id, "block") ? "" : "A request to disk ", item->name,
		     a ? times_text(a, b, times) : "longer", time_text(a, before),
		     time_text(b, after));
}

static int most_first(const void *a, const void *b)
{
	const struct diff_finding *first = a, *second = b;

	if (first->ns != second->ns)
		return first->ns > second->ns ? -1 : 1;
	return strcmp(first->name, second->name);
}

void diff_find(struct diff *diff, const char *id, const struct items *items)
{
	static void (*const find[])(struct diff *diff, const struct limit *limit,
				    const struct item *item) = {
		[BY_RATE] = find_rate, [BY_WAIT] = find_wait, [BY_MEAN] = find_mean,
	};
	size_t before = diff->find.count, i, k;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strcmp(limits[i].id, id))
			for (k = 0; k < items->count; k++)
				find[limits[i].measure](diff, &limits[i], &items->list[k]);
	if (diff->find.count <= before + MOST)
		return;
	qsort(diff->find.list + before, diff->find.count - before, sizeof(*diff->find.list),
	      most_first);
	diff->find.count = before + MOST;
}

/* ---- writing ---- */

void diff_write_findings(struct diff *diff)
{
	struct report_section *section = diff->find.section;
	const struct diff_finding *finding;
	struct report *report = diff->report;
	size_t i;

	if (section)
		section->sentences = true;
	report_column(report, section, "ns", "of each second", REPORT_NUMBER, REPORT_NS);
	report_column(report, section, "section", "section", REPORT_TEXT, REPORT_PLAIN);
	report_column(report, section, "name", "name", REPORT_TEXT, REPORT_PLAIN);
	report_column(report, section, "finding", "what has changed", REPORT_TEXT, REPORT_PLAIN);
	if (diff->find.count)
		qsort(diff->find.list, diff->find.count, sizeof(*diff->find.list), most_first);
	else
		report_note(report, section,
			    "Nothing: no time differs by more than two recordings of the same load do.");
	for (i = 0; i < diff->find.count; i++) {
		finding = &diff->find.list[i];
		if (finding->ns >= INT64_MAX - 1)
			report_unknown(report, section);
		else
			report_signed(report, section, finding->ns);
		report_text(report, section, finding->id);
		report_text(report, section, finding->name);
		report_text(report, section, finding->text);
	}
	free(diff->find.list);
}
