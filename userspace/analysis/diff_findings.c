// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes between two traces, as sentences with figures: first what is missing in one of them,
 * then what changed most, each with the command that shows more of it.
 *
 * Two recordings of the same load differ a little in all figures; a change beyond the limits below
 * is more than that (docs/report.md).
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diff_findings.h"
#include "sections.h"
#include "lib/array.h"

#define MS 1000000ll
#define MOST 3			/* findings of each section */
#define SHOWN 10		/* rows of a table that diff shows without --top */

/* Findings that are no change, and come first */
enum { CHOSEN, UNCOMPARED, MISSING };
#define NO_CHANGE(what) (INT64_MAX - MISSING + (what))

struct diff_finding {
	int64_t ns;		/* change of time per second, or NO_CHANGE() */
	const char *id;
	char name[160], text[512];
	char *command;
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

/* ---- commands ---- */

/* Set the command of @finding */
__attribute__((format(printf, 3, 4)))
static void command(struct diff *diff, struct diff_finding *finding, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (vasprintf(&finding->command, format, list) < 0) {
		finding->command = NULL;
		diff->report->failed = true;
	}
	va_end(list);
}

/* Set the command to that for a section of the report about the trace @side */
static void command_report(struct diff *diff, struct diff_finding *finding, const char *section,
			   unsigned int side)
{
	const struct diff_shell *shell = diff->shell;

	command(diff, finding, "tracebuf report --section %s %s%s%s%s", section, shell->times,
		shell->rest, shell->clock, shell->files[side]);
}

/* Set the command to that for row @row, from 0, of the table */
static void command_row(struct diff *diff, struct diff_finding *finding, size_t row)
{
	const struct diff_shell *shell = diff->shell;

	command(diff, finding, "tracebuf diff --section %s %s%s%s%s%s %s", finding->id,
		row < SHOWN ? "" : "--top 0 ", shell->times, shell->rest, shell->clock,
		shell->files[0], shell->files[1]);
}

/* True if the name of a task can be a value of --comm, without quotes */
static bool is_plain(const char *name)
{
	const char *at = name;

	while (isalnum((unsigned char)*at) || (*at && strchr("_./+,:@%-", *at)))
		at++;
	return *name && *name != '-' && !*at;
}

/* Set the command to that for where the time of the task went in trace @side.  Other options may
 * exclude --comm, or why may not have them: then row @row shows the change */
static void command_task(struct diff *diff, struct diff_finding *finding, unsigned int side,
			 size_t row)
{
	const struct diff_shell *shell = diff->shell;

	if (*shell->rest || !is_plain(finding->name))
		command_row(diff, finding, row);
	else
		command(diff, finding, "tracebuf why --comm %s %s%s%s", finding->name,
			shell->times, shell->clock, shell->files[side]);
}

/* Set the command to that for the causes of a wait in trace @side */
static void command_wait(struct diff *diff, struct diff_finding *finding,
			 const struct analysis_wait *wait, unsigned int side)
{
	command(diff, finding, "tracebuf why -t %u --from %" PRIu64 ".%09" PRIu64 " --to %" PRIu64
		".%09" PRIu64 " %s%s", wait->task->tid, wait->begin / 1000000000,
		wait->begin % 1000000000, wait->end / 1000000000, wait->end % 1000000000,
		diff->shell->clock, diff->shell->files[side]);
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
		finding = add(diff, NO_CHANGE(MISSING), "summary", i ? "B" : "A");
		if (!finding)
			return;
		TEXT(finding->text, "%s lacks %" PRIu64 " of its %" PRIu64 " events: waits, calls "
		     "and interrupts of that time are in no figure of %s.",
		     finding->name, total->lost, total->lost + total->events, finding->name);
		command_report(diff, finding, "losses", i);
	}
}

void diff_find_chosen(struct diff *diff)
{
	struct diff_finding *finding;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (!analysis_total(diff->a[i])->of_threads)
			continue;
		finding = add(diff, NO_CHANGE(CHOSEN), "summary", i ? "B" : "A");
		if (!finding)
			return;
		TEXT(finding->text,
		     "%s has only chosen threads: it hides what has changed of others.",
		     finding->name);
		command_report(diff, finding, "tasks", i);
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
		finding = !used ? NULL :
			  add(diff, NO_CHANGE(UNCOMPARED), "summary", side ? "B" : "A");
		if (!finding)
			continue;
		TEXT(finding->text, "%s hides what has changed of: %s. The sections below say what to record.",
		     finding->name, titles);
		command_report(diff, finding, "events", side);
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

/* The effect of a change: "3.2 ms more of each second"; @longer: each case takes longer */
static const char *effect_text(int64_t change, bool longer, char text[96])
{
	char time[32];

	snprintf(text, 96, "%s %s of each second%s", time_text((uint64_t)llabs(change), time),
		 change < 0 ? "less" : "more", (change > 0) == longer ? "" :
		 longer ? ", because there are fewer" : ", because there are more");
	return text;
}

/* The wait of @ns of a task of this name, if it is among the worst; NULL: it is not */
static const struct analysis_wait *worst_wait(struct analysis *a, const char *name, uint64_t ns)
{
	const struct analysis_wait *wait;
	unsigned int i;

	for (i = 0; (wait = analysis_worst(a, ANALYSIS_WORST_WAKEUP, i)); i++)
		if (wait->end - wait->begin == ns && !strcmp(wait->task->comm, name))
			return wait;
	return NULL;
}

/* Say what ran in a wait, if that is known */
static void instead_text(const struct analysis_wait *wait, char *text, size_t size)
{
	*text = 0;
	if (!wait || wait->moved_at || !wait->nr_instead || wait->instead[0].ns < wait->unknown_ns)
		return;
	if (wait->instead[0].handler)
		snprintf(text, size, "; meanwhile %s had CPU %u", wait->instead[0].handler->name,
			 wait->cpu);
	else if (wait->instead[0].task)
		snprintf(text, size, "; meanwhile %s ran on CPU %u",
			 wait->instead[0].task->comm, wait->cpu);
	else
		snprintf(text, size, "; meanwhile CPU %u was idle%s", wait->cpu,
			 wait->quota ? QUOTA_TEXT : "");
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

static void find_rate(struct diff *diff, const struct limit *limit, const struct item *item,
		      size_t row)
{
	int64_t a = diff_rate(diff, 0, item), b = diff_rate(diff, 1, item);
	bool task = !strcmp(limit->id, "tasks");
	struct diff_finding *finding;

	if (llabs(b - a) < limit->rate || !is_changed((uint64_t)a, (uint64_t)b, limit->tenths) ||
	    diff_hides(diff, 0, item) || diff_hides(diff, 1, item))
		return;
	/* a recording of chosen threads has an interrupt only if it interrupted one of them */
	if (!task && analysis_total(diff->a[0])->of_threads !=
		     analysis_total(diff->a[1])->of_threads)
		return;
	finding = add(diff, llabs(b - a), limit->id, item->name);
	if (!finding)
		return;
	say_rate(finding, a, b);
	if (task)
		command_task(diff, finding, b > a, row);
	else
		command_row(diff, finding, row);
}

static void find_wait(struct diff *diff, const struct limit *limit, const struct item *item,
		      size_t row)
{
	uint64_t a = item->side[0].max, b = item->side[1].max;
	int64_t change = diff_rate(diff, 1, item) - diff_rate(diff, 0, item);
	char before[32], after[32], instead[128], effect[96];
	const struct analysis_wait *wait;
	struct diff_finding *finding;

	if (!item->side[0].count || !item->side[1].count ||
	    (a > b ? a - b : b - a) < (uint64_t)WAIT_LEAST || !is_changed(a, b, limit->tenths))
		return;
	finding = add(diff, a > b ? (int64_t)(a - b) : (int64_t)(b - a), limit->id, item->name);
	if (!finding)
		return;
	wait = worst_wait(diff->a[b > a], item->name, b > a ? b : a);
	instead_text(wait, instead, sizeof(instead));
	TEXT(finding->text,
	     "Waits of %s for a CPU: the longest %s -> %s%s%s. All its waits take %s.", item->name,
	     time_text(a, before), time_text(b, after), instead,
	     *instead && a > b ? ", in A" : "", effect_text(change, change > 0, effect));
	if (wait)
		command_wait(diff, finding, wait, b > a);
	else
		command_task(diff, finding, b > a, row);
}

static void find_mean(struct diff *diff, const struct limit *limit, const struct item *item,
		      size_t row)
{
	int64_t change = diff_rate(diff, 1, item) - diff_rate(diff, 0, item);
	char before[32], after[32], times[48], effect[96];
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
	if (!finding)
		return;
	TEXT(finding->text, "%s%s takes %s: %s -> %s on average, altogether %s.",
	     strcmp(limit->id, "block") ? "" : "A request to disk ", item->name,
	     a ? times_text(a, b, times) : "longer", time_text(a, before), time_text(b, after),
	     effect_text(change, b > a, effect));
	command_row(diff, finding, row);
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
				    const struct item *item, size_t row) = {
		[BY_RATE] = find_rate, [BY_WAIT] = find_wait, [BY_MEAN] = find_mean,
	};
	size_t before = diff->find.count, i, k;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strcmp(limits[i].id, id))
			for (k = 0; k < items->count; k++)
				find[limits[i].measure](diff, &limits[i], &items->list[k], k);
	if (diff->find.count <= before + MOST)
		return;
	qsort(diff->find.list + before, diff->find.count - before, sizeof(*diff->find.list),
	      most_first);
	while (diff->find.count > before + MOST)
		free(diff->find.list[--diff->find.count].command);
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
	report_column(report, section, "command", "shows more", REPORT_TEXT, REPORT_PLAIN);
	if (diff->find.count)
		qsort(diff->find.list, diff->find.count, sizeof(*diff->find.list), most_first);
	else
		report_note(report, section, diff->compared ?
			    "Nothing: no time differs by more than two recordings of the same load "
			    "do." :
			    "Nothing was compared: the sections say which events are needed.");
	for (i = 0; i < diff->find.count; i++) {
		finding = &diff->find.list[i];
		if (finding->ns >= NO_CHANGE(CHOSEN))
			report_unknown(report, section);
		else
			report_signed(report, section, finding->ns);
		report_text(report, section, finding->id);
		report_text(report, section, finding->name);
		report_text(report, section, finding->text);
		if (finding->command)
			report_text(report, section, finding->command);
		free(finding->command);
	}
	free(diff->find.list);
}
