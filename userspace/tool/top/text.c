// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture as lines of text: the machine above, one of the tables below, as wide and high as the
 * room.  The screen and --batch show the same lines.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "top.h"

#define LINE_MAX_BYTES 512
#define BAR_MIN 38			/* least columns of a CPU */
#define WAKEUPS (1 << ANALYSIS_WAKING | 1 << ANALYSIS_WAKEUP)
#define BAR_MOST 60			/* most columns of its bar */

/* Decimals of a column's numbers */
enum how { NUMBER, ONE, TWO, THREE };

struct column {
	const char *title;
	int width;
	enum how how;
};

struct view {
	const char *name;
	const char *names;		/* title of the last column */
	unsigned int sort;
	enum analysis_need need;	/* events without which the table is empty */
	const char *hint;
	struct column columns[TOP_VALUES];
};

static const struct view views[TOP_VIEWS] = {
	[TOP_TASKS] = {
		"tasks", "COMMAND", 2, ANALYSIS_SWITCH, "no sched_switch is recorded",
		{ { "TID", 7, NUMBER }, { "PID", 7, NUMBER }, { "%CPU", 6, ONE },
		  { "TIME", 7, TWO }, { "RUN", 5, NUMBER }, { "PRE", 5, NUMBER },
		  { "MIG", 4, NUMBER }, { "WAIT", 7, NUMBER }, { "MAX", 7, NUMBER } },
	},
	[TOP_EVENTS] = {
		"events", "EVENT", 0, ANALYSIS_NEEDS, "",
		{ { "EVENTS/s", 10, NUMBER }, { "%", 6, ONE }, { "ALL", 12, NUMBER } },
	},
	[TOP_IRQS] = {
		"irqs", "HANDLER", 1, ANALYSIS_IRQ, "no interrupts are recorded",
		{ { "NR", 5, NUMBER }, { "IRQ/s", 9, ONE }, { "%CPU", 6, TWO },
		  { "AVG us", 9, TWO }, { "MAX us", 10, TWO }, { "ALL", 11, NUMBER } },
	},
	[TOP_CALLS] = {
		"calls", "SYSTEM CALL", 1, ANALYSIS_CALL,
		"no system calls are recorded: 'tracebuf top --syscalls' does",
		{ { "NR", 5, NUMBER }, { "CALLS/s", 9, ONE }, { "%TIME", 8, TWO },
		  { "AVG us", 10, TWO }, { "MAX us", 12, TWO }, { "ALL", 10, NUMBER },
		  { "FAIL/s", 8, ONE } },
	},
	[TOP_LATENCY] = {
		"latency", "WAKE-UP TO RUNNING", TOP_VALUES, ANALYSIS_SWITCH,
		"no sched_switch is recorded",
		{ { "NOW", 8, NUMBER }, { "%", 6, ONE }, { "SUM %", 6, ONE },
		  { "ALL", 11, NUMBER }, { "SUM %", 6, ONE } },
	},
	[TOP_CPUS] = {
		"cpus", "NOW", 0, ANALYSIS_SWITCH, "no sched_switch is recorded",
		{ { "CPU", 4, NUMBER }, { "BUSY%", 6, ONE }, { "IDLE%", 6, ONE },
		  { "IRQ%", 6, TWO }, { "SOFT%", 6, TWO }, { "UNKN%", 6, ONE },
		  { "SWITCH/s", 9, NUMBER }, { "QUEUE", 5, NUMBER } },
	},
	[TOP_CONTAINERS] = {
		"containers", "CONTAINER", 1, ANALYSIS_SWITCH, "no sched_switch is recorded",
		{ { "TASKS", 6, NUMBER }, { "%CPU", 6, ONE }, { "TIME", 7, TWO },
		  { "RUN", 6, NUMBER }, { "WAIT", 7, NUMBER }, { "MAX", 7, NUMBER } },
	},
};

const char *top_view_name(unsigned int view)
{
	return view < TOP_VIEWS ? views[view].name : NULL;
}

void top_look_start(struct top_look *look)
{
	unsigned int view;

	for (view = 0; view < TOP_VIEWS; view++)
		look->sort[view] = views[view].sort;
}

static unsigned int nr_columns(const struct view *view)
{
	unsigned int count = 0;

	while (count < TOP_VALUES && view->columns[count].title)
		count++;
	return count;
}

/* ---- sorting and filtering ---- */

/* The key of a row, for descending order: ids are negated, so that they ascend */
static double order_of(const struct top_row *row, enum top_view view, unsigned int column)
{
	bool number = column == 0 && view != TOP_EVENTS && view != TOP_CONTAINERS;

	return number || (view == TOP_TASKS && column == 1) ? -row->values[column] :
							      row->values[column];
}

/* for compare(): qsort() has no context */
static const struct top_look *sorting;

static int compare(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;
	enum top_view view = sorting->view;
	unsigned int column = sorting->sort[view];
	double first, second;
	int order = 0;

	if (column < TOP_VALUES) {
		first = order_of(x, view, column);
		second = order_of(y, view, column);
		order = first > second ? -1 : first < second;
	} else if (view != TOP_LATENCY) {
		order = strcmp(x->name, y->name);
	}
	if (sorting->reverse[view])
		order = -order;
	return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

void top_sort_step(struct top_look *look, int step)
{
	unsigned int count = nr_columns(&views[look->view]);
	unsigned int at = look->sort[look->view];

	/* the name is the last column */
	at = at >= TOP_VALUES ? count : at;
	at = (at + count + 1 + (unsigned int)step) % (count + 1);
	look->sort[look->view] = at == count ? TOP_VALUES : at;
}

bool top_sort_by(struct top_look *look, const char *name)
{
	const struct view *view = &views[look->view];
	unsigned int i, count = nr_columns(view);

	for (i = 0; i < count; i++)
		if (!strcasecmp(view->columns[i].title, name) ||
		    !strncasecmp(view->columns[i].title, name, strlen(name)))
			break;
	if (i == count && strncasecmp(view->names, name, strlen(name)))
		return false;
	look->sort[look->view] = i == count ? TOP_VALUES : i;
	return true;
}

static bool passes(const struct top_row *row, const struct top_look *look)
{
	const char *filter = look->filter[look->view];
	char number[16];

	if (row->quiet && !look->quiet)
		return false;
	if (!filter[0])
		return true;
	snprintf(number, sizeof(number), "%" PRIu32, row->id);
	return strcasestr(row->name, filter) || !strcmp(number, filter);
}

/* ---- lines ---- */

static void put(const struct top_lines *lines, enum top_line kind, char *text)
{
	size_t length;

	if (lines->width && strlen(text) > lines->width)
		text[lines->width] = 0;
	for (length = strlen(text); length && text[length - 1] == ' '; length--)
		text[length - 1] = 0;
	lines->put(lines->context, kind, text);
}

static const char *time_text(uint64_t ns, char text[24])
{
	static const struct { double unit; const char *name; } units[] = {
		{ 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" },
	};
	unsigned int i = ns < 999500 ? 0 : ns < 999500000 ? 1 : 2;
	double value = (double)ns / units[i].unit;

	snprintf(text, 24, "%.*f %s", value < 9.95 ? 1 : 0, value, units[i].name);
	return text;
}

/* "999", "9.9k", "123k": at most four characters */
static const char *count_text(double count, char text[24])
{
	static const char *const units[] = { "", "k", "M", "G" };
	unsigned int i = 0;

	for (; count >= 999.5 && i < 3; i++)
		count /= 1000;
	snprintf(text, 24, "%.*f%s", i && count < 9.95 ? 1 : 0, count, units[i]);
	return text;
}

static void put_title(const struct top_picture *picture, const struct top_look *look,
		      const char *called, const struct top_lines *lines)
{
	const char *filter = look->filter[look->view];
	struct tm *local = localtime(&picture->taken);
	char text[LINE_MAX_BYTES], clock[16] = "", only[TOP_NAME + 16] = "";

	if (local)
		strftime(clock, sizeof(clock), "%H:%M:%S", local);
	if (filter[0])
		snprintf(only, sizeof(only), "only '%s', ", filter);
	snprintf(text, sizeof(text), "tracebuf top  %s%s, %severy %g s (last %.2f s), %u tasks, %.100s",
		 clock, look->paused ? " PAUSED" : "", only, look->interval,
		 (double)picture->ns / 1e9, picture->nr_tasks, called);
	put(lines, look->paused ? TOP_WARN : TOP_TITLE, text);
}

/* Leave out rates of events that are not recorded: they are unknown, not 0 */
static void put_rates(const struct top_picture *picture, const struct top_lines *lines)
{
	const struct { uint32_t needs; const char *name; double value; } rates[] = {
		{ 1 << ANALYSIS_SWITCH, "switches", picture->switches },
		{ WAKEUPS, "wake-ups", picture->wakeups },
		{ 1 << ANALYSIS_IRQ, "irqs", picture->irqs },
		{ 1 << ANALYSIS_SOFTIRQ, "soft", picture->softirqs },
		{ 1 << ANALYSIS_CALL, "calls", picture->calls },
	};
	char text[LINE_MAX_BYTES], count[24];
	size_t used, i;

	used = (size_t)snprintf(text, sizeof(text), "/s: %s events",
				count_text(picture->events, count));
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (picture->has & rates[i].needs)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 ", %s %s", count_text(rates[i].value, count),
						 rates[i].name);
	put(lines, TOP_PLAIN, text);
}

static void put_latency(const struct top_picture *picture, const struct top_lines *lines)
{
	char text[LINE_MAX_BYTES], median[24], high[24], max[24], since[16] = "";
	struct tm *local = localtime(&picture->since);
	size_t used;

	if (!(picture->has & WAKEUPS)) {
		put(lines, TOP_DIM, strcpy(text, "wait: no wake-ups are recorded"));
		return;
	}
	if (local)
		strftime(since, sizeof(since), "%H:%M", local);
	used = (size_t)snprintf(text, sizeof(text), "wait: ");
	if (picture->waits)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "50 %% %s, 99 %% %s, max %s",
					 time_text(picture->median, median),
					 time_text(picture->high, high),
					 time_text(picture->max, max));
	else
		used += (size_t)snprintf(text + used, sizeof(text) - used, "no wake-ups");
	snprintf(text + used, sizeof(text) - used, "; since %s 99 %% %s, max %s", since,
		 time_text(picture->all_high, high), time_text(picture->all_max, max));
	put(lines, TOP_PLAIN, text);
}

static void put_losses(const struct top_picture *picture, const struct top_look *look,
		       const struct top_lines *lines)
{
	/* events are held back for their order, and until the next sample */
	uint64_t usual = (uint64_t)(look->interval * 1e9) + 1000000000;
	char text[LINE_MAX_BYTES];
	size_t used;

	if (!picture->lost_all && picture->behind < usual && !picture->late) {
		put(lines, TOP_DIM, strcpy(text, "lost: none"));
		return;
	}
	used = (size_t)snprintf(text, sizeof(text), "lost: %" PRIu64 " in this interval, %" PRIu64 " in all%s",
				picture->lost, picture->lost_all,
				picture->lost ? ": there was more than is shown" : "");
	if (picture->behind >= usual)
		used = (size_t)snprintf(text, sizeof(text), "%.1f s behind; lost: %" PRIu64 " in this interval, %" PRIu64 " in all",
					(double)picture->behind / 1e9, picture->lost,
					picture->lost_all);
	if (picture->late)
		snprintf(text + used, sizeof(text) - used, "; %" PRIu64 " out of order",
			 picture->late);
	put(lines, picture->lost || picture->behind >= usual ? TOP_WARN : TOP_PLAIN, text);
}

static unsigned int part_of(double percent, unsigned int whole)
{
	return percent >= 100 ? whole : (unsigned int)(percent / 100 * whole + 0.5);
}

/* "0 [||||||      ]  50.0  i 0.1 s 0.2" in @width columns */
static void bar_text(char *text, const struct top_cpu *cpu, unsigned int number,
		     unsigned int width)
{
	unsigned int inside = width - 26, busy, unknown, i;
	char bar[BAR_MOST + 1];

	if (inside > BAR_MOST)
		inside = BAR_MOST;
	busy = part_of(cpu->busy, inside);
	unknown = part_of(cpu->unknown, inside);
	for (i = 0; i < inside; i++)
		bar[i] = i < busy ? '|' : i < busy + unknown ? '?' : ' ';
	bar[inside] = 0;
	snprintf(text, BAR_MOST + 64, "%3u [%s]%6.1f i%5.1f s%5.1f", number, bar, cpu->busy,
		 cpu->irq, cpu->softirq);
	/* cut it off, so that the next bar begins at its column */
	text[width] = 0;
}

/* Put one line for all CPUs */
static void put_summary(const struct top_picture *picture, const struct top_lines *lines)
{
	double busy = 0, irq = 0, softirq = 0, unknown = 0, most = -1;
	unsigned int i, seen = 0, busiest = 0;
	char text[LINE_MAX_BYTES];

	for (i = 0; i < picture->nr_cpus; i++) {
		const struct top_cpu *cpu = &picture->cpus[i];

		if (!cpu->seen)
			continue;
		seen++;
		busy += cpu->busy;
		irq += cpu->irq;
		softirq += cpu->softirq;
		unknown += cpu->unknown;
		if (cpu->busy > most) {
			most = cpu->busy;
			busiest = i;
		}
	}
	seen = seen ? seen : 1;
	snprintf(text, sizeof(text), "%u CPUs: busy %.1f %%, irq %.1f, softirq %.1f, unknown %.1f; busiest %u: %.1f %%",
		 seen, busy / seen, irq / seen, softirq / seen, unknown / seen, busiest,
		 most < 0 ? 0 : most);
	put(lines, TOP_PLAIN, text);
}

static unsigned int put_cpus(const struct top_picture *picture,
			     const struct top_lines *lines)
{
	unsigned int width = lines->width ? lines->width : 80, beside = width / (BAR_MIN + 2);
	unsigned int i, seen = 0, most = lines->height ? lines->height / 6 : 8, used = 0, at = 0;
	char text[LINE_MAX_BYTES] = "";

	for (i = 0; i < picture->nr_cpus; i++)
		seen += picture->cpus[i].seen;
	beside = beside > 5 ? 5 : beside;
	if (!beside || (seen + beside - 1) / beside > (most ? most : 1)) {
		put_summary(picture, lines);
		return 1;
	}
	beside = seen < beside ? (seen ? seen : 1) : beside;
	width = width / beside > 90 ? 90 : width / beside;
	for (i = 0; i < picture->nr_cpus; i++) {
		if (!picture->cpus[i].seen)
			continue;
		memset(text + strlen(text), ' ', at * width - strlen(text));
		bar_text(text + at * width, &picture->cpus[i], i, width - 2);
		if (++at < beside)
			continue;
		put(lines, TOP_PLAIN, text);
		memset(text, 0, sizeof(text));
		at = 0;
		used++;
	}
	if (at)
		put(lines, TOP_PLAIN, text);
	return used + !!at;
}

/* ---- the table ---- */

static int add_value(char *at, const struct column *column, double value)
{
	static const int digits[] = { [NUMBER] = 0, [ONE] = 1, [TWO] = 2, [THREE] = 3 };

	if (value < 0)
		return sprintf(at, "%*s ", column->width, "-");
	/* do not show a small number as 0 */
	if (column->how == NUMBER && value > 0 && value < 0.5)
		return sprintf(at, "%*s ", column->width, "<1");
	return sprintf(at, "%*.*f ", column->width, digits[column->how], value);
}

static void put_head(const struct view *view, const struct top_look *look,
		     const struct top_lines *lines)
{
	unsigned int i, count = nr_columns(view), sort = look->sort[look->view];
	char text[LINE_MAX_BYTES], *at = text, title[32];
	const char *mark = look->reverse[look->view] ? "^" : "*";

	for (i = 0; i < count; i++) {
		snprintf(title, sizeof(title), "%s%s", i == sort ? mark : "",
			 view->columns[i].title);
		at += sprintf(at, "%*s ", view->columns[i].width, title);
	}
	sprintf(at, "%s%s", sort >= TOP_VALUES && look->view != TOP_LATENCY ? mark : "",
		view->names);
	put(lines, TOP_HEAD, text);
}

static void put_row(const struct view *view, const struct top_row *row,
		    const struct top_look *look, const struct top_lines *lines)
{
	unsigned int i, count = nr_columns(view), stars;
	char text[LINE_MAX_BYTES], *at = text;

	for (i = 0; i < count; i++)
		at += add_value(at, &view->columns[i], row->values[i]);
	at += sprintf(at, "%s", row->name);
	if (look->view == TOP_LATENCY) {
		at += sprintf(at, "%*s", 20 - (int)strlen(row->name) > 0 ?
			      20 - (int)strlen(row->name) : 1, "");
		for (stars = (unsigned int)(row->values[1] / 4 + 0.99); stars && stars <= 25;
		     stars--)
			*at++ = '#';
		*at = 0;
	}
	put(lines, TOP_PLAIN, text);
}

static void put_table(const struct top_table *table, struct top_look *look,
		      const struct top_lines *lines, unsigned int room, size_t passing)
{
	const struct view *view = &views[look->view];
	size_t i, seen = 0;

	if (look->first + (room ? room : passing) > passing)
		look->first = passing > room && room ? passing - room : 0;
	for (i = 0; i < table->count; i++) {
		if (!passes(&table->rows[i], look))
			continue;
		if (seen++ < look->first)
			continue;
		if (room && seen > look->first + room)
			break;
		put_row(view, &table->rows[i], look, lines);
	}
}

static void put_nothing(const struct top_picture *picture, const struct top_look *look,
			const struct top_lines *lines)
{
	const struct view *view = &views[look->view];
	char text[LINE_MAX_BYTES];

	if (view->need < ANALYSIS_NEEDS && !(picture->has >> view->need & 1))
		snprintf(text, sizeof(text), "%s", view->hint);
	else if (look->filter[look->view][0])
		snprintf(text, sizeof(text), "nothing that happened matches '%s'", look->filter[look->view]);
	else
		snprintf(text, sizeof(text), "nothing has happened");
	put(lines, TOP_DIM, text);
}

size_t top_show(struct top_picture *picture, struct top_look *look,
		const char *called, const struct top_lines *lines)
{
	struct top_table *table = &picture->tables[look->view];
	unsigned int used = 5;
	size_t i, passing = 0;

	sorting = look;
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), compare);
	for (i = 0; i < table->count; i++)
		passing += passes(&table->rows[i], look);
	put_title(picture, look, called, lines);
	put_rates(picture, lines);
	put_latency(picture, lines);
	put_losses(picture, look, lines);
	used += put_cpus(picture, lines);
	put_head(&views[look->view], look, lines);
	if (!passing)
		put_nothing(picture, look, lines);
	else if (!lines->height || lines->height > used)
		put_table(table, look, lines, lines->height ? lines->height - used : 0,
			  passing);
	return passing;
}
