// SPDX-License-Identifier: GPL-2.0-only
/*
 * The times of --from and --to; see moment.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "moment.h"
#include "values.h"
#include "lib/bisect.h"

#define NS_PER_S 1000000000ull
#define DIGITS "0123456789"
#define NEAR_BLOCKS 64		/* blocks at the end of the file that ticks_near_end() reads */
#define MARKS_SHOWN 8		/* in a message */

/* ---- parsing ---- */

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "", NS_PER_S }, { "s", NS_PER_S }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	{ "m", 60 * NS_PER_S },
};

#define NR_UNITS (sizeof(units) / sizeof(units[0]))

/* Parse "12.000000345" with one of the first @nr_units as nanoseconds.  0, -EINVAL, -ERANGE */
static int parse_span(const char *text, size_t nr_units, uint64_t *ns)
{
	size_t whole = strspn(text, DIGITS), part = 0, i;
	const char *dot = text + whole, *unit = dot, *digit;
	uint64_t value = 0, step;

	if (*dot == '.') {
		part = strspn(dot + 1, DIGITS);
		unit = dot + 1 + part;
	}
	for (i = 0; i < nr_units && strcmp(unit, units[i].name); i++)
		;
	if (i == nr_units || !(whole + part))
		return -EINVAL;
	for (digit = text; digit < dot; digit++) {
		if (value >= UINT64_MAX / 10)
			return -ERANGE;
		value = value * 10 + (uint64_t)(*digit - '0');
	}
	if (value >= UINT64_MAX / units[i].ns)
		return -ERANGE;
	*ns = value * units[i].ns;
	for (digit = dot + 1, step = units[i].ns / 10; digit < unit; digit++, step /= 10)
		*ns += step * (uint64_t)(*digit - '0');
	return 0;
}

/* Parse @digits digits from @min to @max and the character @end; set @text behind it */
static int parse_field(const char **text, size_t digits, unsigned int min, unsigned int max,
		       char end, unsigned int *value)
{
	const char *at = *text;

	if (strspn(at, DIGITS) != digits || at[digits] != end)
		return -EINVAL;
	for (*value = 0; *at != end; at++)
		*value = *value * 10 + (unsigned int)(*at - '0');
	*text = at + 1;
	return *value < min || *value > max ? -ERANGE : 0;
}

/* "14:03:05.25" */
static int parse_time_of_day(const char *text, struct moment *moment)
{
	unsigned int hour, minute;
	int result = parse_field(&text, 2, 0, 23, ':', &hour);

	if (!result)
		result = parse_field(&text, 2, 0, 59, ':', &minute);
	if (!result && strspn(text, DIGITS) != 2)
		result = -EINVAL;
	if (!result)
		result = parse_span(text, 1, &moment->ns);
	if (result)
		return result;
	if (moment->ns >= 60 * NS_PER_S)
		return -ERANGE;
	moment->ns += (60 * hour + minute) * 60 * NS_PER_S;
	return 0;
}

static unsigned int days_of(unsigned int month, unsigned int year)
{
	bool leap = !(year % 4) && (year % 100 || !(year % 400));

	return month == 2 ? leap ? 29 : 28 : 30 + (month + month / 8) % 2;
}

/* "2026-11-27 14:03:05.25" */
static int parse_date(const char *text, struct moment *moment)
{
	char end = strchr(text, 'T') ? 'T' : ' ';
	int result = parse_field(&text, 4, 1970, 2500, '-', &moment->year);

	if (!result)
		result = parse_field(&text, 2, 1, 12, '-', &moment->month);
	if (!result)
		result = parse_field(&text, 2, 1, days_of(moment->month, moment->year), end,
				     &moment->day);
	return result ? result : parse_time_of_day(text, moment);
}

static int parse(const char *text, struct moment *moment)
{
	if (!strncmp(text, "mark:", 5)) {
		moment->kind = MOMENT_MARK;
		moment->mark = text + 5;
		return *moment->mark ? 0 : -EINVAL;
	}
	if (strchr(text, ':')) {
		moment->kind = strchr(text, '-') ? MOMENT_OF_DATE : MOMENT_OF_DAY;
		return moment->kind == MOMENT_OF_DATE ? parse_date(text, moment) :
							parse_time_of_day(text, moment);
	}
	if (*text != '+' && *text != '-') {
		moment->kind = MOMENT_CLOCK;
		return parse_span(text, 1, &moment->ns);
	}
	moment->kind = *text == '+' ? MOMENT_AFTER_FIRST : MOMENT_BEFORE_LAST;
	return parse_span(text + 1, NR_UNITS, &moment->ns);
}

int moment_parse(const struct command *command, const char *text, struct moment *moment)
{
	int result = parse(text, moment);

	moment->given = true;
	moment->text = text;
	if (result == -ERANGE)
		return misused(command, "'%s' is not a time: a number in it is out of range", text);
	if (result)
		return misused(command, "'%s' is not a time: 12.5 (seconds as print shows them), +200ms, "
			       "-2s, 14:03:05, '2026-11-27 14:03:05' or mark:TEXT",
			       text);
	return EXIT_FINE;
}

/* ---- ticks of times, and of the first and last event ---- */

static uint64_t sync_ns(const struct tb_clock_sync *sync, enum tb_timebase base)
{
	return base == TB_TIME_REALTIME ? sync->realtime :
	       base == TB_TIME_BOOTTIME ? sync->boottime : sync->monotonic;
}

bool clock_rises(const struct tb_trace *trace, enum tb_timebase base)
{
	const struct tb_clock_sync *syncs;
	size_t count, i;

	syncs = tb_trace_syncs(trace, &count);
	/* between records with equal times tb_trace_ns() goes on, and then back */
	for (i = 1; i < count; i++)
		if (sync_ns(&syncs[i], base) <= sync_ns(&syncs[i - 1], base))
			return false;
	return true;
}

uint64_t ticks_at_rising(const struct tb_trace *trace, enum tb_timebase base, uint64_t ns)
{
	uint64_t low = 0, high = 1;

	if (tb_trace_ns(trace, 0, base) >= ns)
		return 0;
	while (high < 1ull << 62 && tb_trace_ns(trace, high, base) < ns)
		high *= 2;
	BISECT(low, high, i, tb_trace_ns(trace, i, base) < ns);
	return low;
}

uint64_t ticks_at(const struct tb_trace *trace, enum tb_timebase base, uint64_t ns)
{
	const struct tb_clock_sync *syncs;
	uint64_t low = 0, high = 1ull << 62;
	size_t count, i;

	if (clock_rises(trace, base))
		return ticks_at_rising(trace, base, ns);
	/* between two records the clock rises: find the first two between which it reaches @ns */
	syncs = tb_trace_syncs(trace, &count);
	for (i = 1; i < count && tb_trace_ns(trace, syncs[i].clock - 1, base) < ns; i++)
		low = syncs[i].clock;
	if (i < count)
		high = syncs[i].clock - 1;
	BISECT(low, high, k, tb_trace_ns(trace, k, base) < ns);
	return low;
}

uint64_t ticks_near_end(const struct tb_trace *trace)
{
	unsigned int recording = tb_trace_selected(trace);
	const struct tb_block *block;
	uint64_t ticks = 0;
	size_t end, i;

	tb_trace_range(trace, recording, 0, &end);
	for (i = end < NEAR_BLOCKS ? 0 : end - NEAR_BLOCKS + 1;
	     (i = tb_trace_range(trace, recording, i, &end)) < end; i++) {
		block = tb_trace_header(trace, i, NULL, NULL);
		if (block && block->kind == TB_BLOCK_ROLLING && block->time_start > ticks)
			ticks = block->time_start;
	}
	return ticks;
}

/* Find the first (@last: the last) event from @from on that is no control event.  1: found, 0,
 * -ENOMEM */
static int find_event(struct tb_trace *trace, uint64_t from, bool last, uint64_t *ticks)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	bool found = false;
	int result = tb_cursor_open(trace, &cursor);

	if (result < 0)
		return result;
	if (from)
		result = tb_cursor_seek(cursor, from);
	while (result >= 0 && (last || !found) && (result = next_event(cursor, &view)) > 0) {
		if (is_control(&view))
			continue;
		*ticks = view.ticks;
		found = true;
	}
	tb_cursor_close(cursor);
	return result < 0 ? result : found;
}

static int first_ticks(struct tb_trace *trace, uint64_t *ticks)
{
	return find_event(trace, 0, false, ticks);
}

static int last_ticks(struct tb_trace *trace, uint64_t *ticks)
{
	uint64_t near = ticks_near_end(trace);
	int result = find_event(trace, near, true, ticks);

	/* the blocks near the end may be damaged, or have only control events */
	return result || !near ? result : find_event(trace, 0, true, ticks);
}

int moment_span(struct tb_trace *trace, uint64_t *first, uint64_t *last)
{
	int result = first_ticks(trace, first);

	return result > 0 ? last_ticks(trace, last) : result;
}

/* ---- local time ---- */

/* The time of @moment on the day of @date, with daylight saving time as @date says.  UINT64_MAX:
 * clocks do not show it on that day, or the C library cannot compute it */
static uint64_t ns_on_day(const struct moment *moment, const struct tm *date)
{
	uint64_t seconds = moment->ns / NS_PER_S;
	struct tm tm = *date, shown;
	time_t time;

	tm.tm_hour = (int)(seconds / 3600);
	tm.tm_min = (int)(seconds / 60 % 60);
	tm.tm_sec = (int)(seconds % 60);
	time = mktime(&tm);
	if (time < 0 || (uint64_t)time >= UINT64_MAX / NS_PER_S || !localtime_r(&time, &shown) ||
	    (uint64_t)shown.tm_hour != seconds / 3600 ||
	    (uint64_t)shown.tm_min != seconds / 60 % 60)
		return UINT64_MAX;
	return (uint64_t)time * NS_PER_S + moment->ns % NS_PER_S;
}

/* Return the first time from @from to @to (ns of CLOCK_REALTIME) at which clocks show @moment */
static uint64_t find_on_clock(const struct moment *moment, uint64_t from, uint64_t to)
{
	time_t start = (time_t)(from / NS_PER_S);
	uint64_t found = UINT64_MAX, ns;
	struct tm date, tm;
	int day, dst;

	if (!localtime_r(&start, &date))
		return found;
	/* clocks show an hour twice when daylight saving time ends, and skip one when it begins */
	for (day = 0; day <= 2; day++)
		for (dst = 0; dst <= 1; dst++) {
			tm = date;
			tm.tm_mday += day;
			tm.tm_isdst = dst;
			ns = ns_on_day(moment, &tm);
			if (ns >= from && ns <= to && ns < found)
				found = ns;
		}
	return found;
}

static const char *format_local(uint64_t ns, char *text, size_t size)
{
	time_t time = (time_t)(ns / NS_PER_S);
	char whole[64];
	struct tm tm;

	if (!localtime_r(&time, &tm) || !strftime(whole, sizeof(whole), "%Y-%m-%d %H:%M:%S", &tm))
		whole[0] = 0;
	snprintf(text, size, "%s.%06u", whole, (unsigned int)(ns % NS_PER_S / 1000));
	return text;
}

static int find_time_of_day(const struct moment *moment, struct tb_trace *trace, uint64_t after,
			    uint64_t *ticks, char *lack, size_t size)
{
	uint64_t first = 0, last = 0, from, to, ns;
	int result = moment_span(trace, &first, &last);
	char begin[96], end[96], fraction[16];

	if (result < 0)
		return result;
	if (!result) {
		snprintf(lack, size, "the recording has no event, so no time of day lies in it");
		return -ENODATA;
	}
	from = tb_trace_ns(trace, first > after ? first : after, TB_TIME_REALTIME);
	to = tb_trace_ns(trace, last, TB_TIME_REALTIME);
	ns = find_on_clock(moment, from, to);
	if (ns == UINT64_MAX) {
		snprintf(fraction, sizeof(fraction), ".%09llu", moment->ns % NS_PER_S);
		snprintf(lack, size, "%02u:%02u:%02u%s is not in the recording%s, "
			 "which is from %s to %s (local time)",
			 (unsigned int)(moment->ns / NS_PER_S / 3600),
			 (unsigned int)(moment->ns / NS_PER_S / 60 % 60),
			 (unsigned int)(moment->ns / NS_PER_S % 60),
			 moment->ns % NS_PER_S ? fraction : "", after ? " after --from" : "",
			 format_local(tb_trace_ns(trace, first, TB_TIME_REALTIME), begin,
				      sizeof(begin)),
			 format_local(to, end, sizeof(end)));
		return -ENODATA;
	}
	*ticks = ticks_at(trace, TB_TIME_REALTIME, ns);
	return 0;
}

static int find_date(const struct moment *moment, const struct tb_trace *trace, uint64_t *ticks,
		     char *lack, size_t size)
{
	struct tm date = {
		.tm_year = (int)moment->year - 1900, .tm_mon = (int)moment->month - 1,
		.tm_mday = (int)moment->day, .tm_isdst = -1,
	};
	uint64_t ns = ns_on_day(moment, &date);

	if (ns == UINT64_MAX) {
		snprintf(lack, size, "%u-%02u-%02u has no such time in the local time zone",
			 moment->year, moment->month, moment->day);
		return -ENODATA;
	}
	*ticks = ticks_at(trace, TB_TIME_REALTIME, ns);
	return 0;
}

/* ---- marks ---- */

/* The text of a mark, of the kernel or of a program; NULL: @view is none */
static const char *mark_of(const struct tb_view *view, size_t *length)
{
	if (view->kind == TB_VIEW_EVENT && !view->format && view->id == TB_EV_MARK) {
		*length = view->length;
		return view->payload;
	}
	if (view->kind == TB_VIEW_USER && view->user->type == TB_REC_MARK) {
		*length = view->user->data_bytes;
		return view->user->data;
	}
	return NULL;
}

/* The texts of marks that a message lists, each once */
struct marks {
	char list[MARKS_SHOWN][48];
	unsigned int count;
	bool more;
};

/* Note a mark once, without control characters */
static void note_mark(struct marks *marks, const char *text, size_t length)
{
	char *shown = marks->list[marks->count < MARKS_SHOWN ? marks->count : 0];
	char clean[sizeof(marks->list[0])];
	size_t i;

	for (i = 0; i < length && i < sizeof(clean) - 1; i++)
		clean[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
	clean[i] = 0;
	for (i = 0; i < marks->count; i++)
		if (!strcmp(marks->list[i], clean))
			return;
	if (marks->count == MARKS_SHOWN) {
		marks->more = true;
		return;
	}
	strcpy(shown, clean);
	marks->count++;
}

static void format_lack(const struct moment *moment, const struct marks *marks, uint64_t after,
			char *lack, size_t size)
{
	size_t used = (size_t)snprintf(lack, size, "the recording has no mark '%.100s'%s; ",
				       moment->mark, after ? " after --from" : "");
	unsigned int i;

	if (!marks->count)
		snprintf(lack + used, size - used, "it has no marks");
	for (i = 0; i < marks->count && used < size; i++)
		used += (size_t)snprintf(lack + used, size - used, "%s'%s'",
					 i ? ", " : "its marks are ", marks->list[i]);
	if (marks->more && used < size)
		snprintf(lack + used, size - used, ", ...");
}

static int find_mark(const struct moment *moment, struct tb_trace *trace, uint64_t after,
		     uint64_t *ticks, char *lack, size_t size)
{
	struct tb_choice choice = { .flags = TB_CHOICE_NO_TASKS };
	unsigned char *none = calloc(tb_trace_formats(trace) + 1, 1);
	struct tb_cursor *cursor = NULL;
	struct marks marks = { .count = 0 };
	bool found = false;
	const char *text;
	struct tb_view view;
	size_t length;
	int result = none ? tb_cursor_open(trace, &cursor) : -ENOMEM;

	choice.formats = none;
	if (!result)
		result = tb_cursor_choose(cursor, &choice);
	while (!found && result >= 0 && (result = next_event(cursor, &view)) > 0) {
		text = mark_of(&view, &length);
		if (!text)
			continue;
		note_mark(&marks, text, length);
		found = view.ticks >= after && length == strlen(moment->mark) &&
			!memcmp(text, moment->mark, length);
	}
	tb_cursor_close(cursor);
	free(none);
	if (result < 0)
		return result;
	if (found) {
		*ticks = view.ticks;
		return 0;
	}
	format_lack(moment, &marks, after, lack, size);
	return -ENODATA;
}

/* ---- any moment as ticks ---- */

int moment_ticks(const struct moment *moment, struct tb_trace *trace, enum tb_timebase base,
		 uint64_t after, uint64_t *ticks, char *lack, size_t size)
{
	uint64_t at = 0, ns = moment->ns;
	int result = 0;

	/* a span is as long as it is, also if the clock is set back meanwhile */
	if ((moment->kind == MOMENT_AFTER_FIRST || moment->kind == MOMENT_BEFORE_LAST) &&
	    !clock_rises(trace, base))
		base = TB_TIME_MONOTONIC;
	switch (moment->kind) {
	case MOMENT_AFTER_FIRST:
		result = first_ticks(trace, &at);
		at = result > 0 ? tb_trace_ns(trace, at, base) : 0;
		ns = ns < UINT64_MAX - at ? at + ns : UINT64_MAX;
		break;
	case MOMENT_BEFORE_LAST:
		result = last_ticks(trace, &at);
		at = result > 0 ? tb_trace_ns(trace, at, base) : 0;
		ns = ns < at ? at - ns : 0;
		break;
	case MOMENT_OF_DAY:
		return find_time_of_day(moment, trace, after, ticks, lack, size);
	case MOMENT_OF_DATE:
		return find_date(moment, trace, ticks, lack, size);
	case MOMENT_MARK:
		return find_mark(moment, trace, after, ticks, lack, size);
	case MOMENT_CLOCK:
		break;
	}
	*ticks = ticks_at(trace, base, ns);
	return result < 0 ? result : 0;
}
