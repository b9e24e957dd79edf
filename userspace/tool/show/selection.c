// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events of a trace are shown, by name, CPU, thread and time.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "selection.h"
#include "analysis/spans.h"
#include "tool/choose/cgroup.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"
#include "tool/command/number.h"

/* ---- options ---- */

/* "12.000000345", exactly, or "+0.5" */
static int parse_moment(const char *text, struct moment *moment)
{
	uint64_t seconds = 0, ns = 0, unit = 1000000000;
	const char *digit = text + (*text == '+');
	bool some = false;

	for (; *digit >= '0' && *digit <= '9'; digit++, some = true) {
		if (seconds > UINT64_MAX / 1000000000 / 10 - 1)
			return -ERANGE;
		seconds = seconds * 10 + (uint64_t)(*digit - '0');
	}
	if (*digit == '.')
		for (digit++; *digit >= '0' && *digit <= '9'; digit++, some = true) {
			unit /= 10;
			ns += unit * (uint64_t)(*digit - '0');
		}
	if (*digit || !some)
		return -EINVAL;
	moment->given = true;
	moment->relative = *text == '+';
	moment->ns = seconds * 1000000000 + ns;
	return 0;
}

static int wrong_moment(const struct command *command, const char *value)
{
	misused(command, "'%s' is not a time: seconds as print shows them, or +seconds after the first event",
		value);
	return -1;
}

int selection_option(const struct command *command, int option,
		     const char *value, struct selection *selection)
{
	switch (option) {
	case 'e':
		if (!patterns_add(&selection->patterns, value))
			return 1;
		misused(command, "no events in '%s'", value);
		return -1;
	case 'C':
		selection->one_cpu = true;
		if (!parse_u32(value, 0, 65535, &selection->cpu))
			return 1;
		misused(command, "'%s' is not a CPU number", value);
		return -1;
	case 't':
		selection->one_tid = true;
		if (!parse_u32(value, 0, UINT32_MAX, &selection->tid))
			return 1;
		misused(command, "'%s' is not a thread id", value);
		return -1;
	case OPTION_PID:
		if (!parse_u32(value, 1, UINT32_MAX, &selection->pid))
			return 1;
		misused(command, "'%s' is not the number of a process", value);
		return -1;
	case OPTION_COMM:
		selection->comm = value;
		return 1;
	case OPTION_CGROUP:
		selection->cgroup = value;
		return 1;
	case 'T':
		if (!strncmp(value, "mono", 4))
			selection->base = TB_TIME_MONOTONIC;
		else if (!strncmp(value, "boot", 4))
			selection->base = TB_TIME_BOOTTIME;
		else if (!strncmp(value, "real", 4))
			selection->base = TB_TIME_REALTIME;
		else
			break;
		return 1;
	case 'r':
		if (!parse_u32(value, 1, UINT32_MAX, &selection->recording))
			return 1;
		misused(command, "'%s' is not a recording's number", value);
		return -1;
	case OPTION_FROM:
		return parse_moment(value, &selection->from) ?
		       wrong_moment(command, value) : 1;
	case OPTION_TO:
		return parse_moment(value, &selection->to) ?
		       wrong_moment(command, value) : 1;
	default:
		return 0;
	}
	misused(command, "time: '%s' is not mono, boot or real", value);
	return -1;
}

/* ---- names ---- */

/* Nothing a terminal would obey */
static bool is_plain(const char *text)
{
	while (*text > 0x20 && *text < 0x7f)
		text++;
	return !*text;
}

/* Does the pattern match a category of the recording's programs? */
static bool matches_category(const struct tb_trace *trace,
			     const struct patterns *one,
			     struct nearest *nearest)
{
	const struct tb_user_name *name;
	unsigned int i;

	/* what has no category */
	if (tb_trace_user_writer(trace, 0) && patterns_match(one, "user", "-"))
		return true;
	for (i = 0; (name = tb_trace_user_name(trace, i)); i++) {
		if (name->kind != TB_NAME_CATEGORY)
			continue;
		if (patterns_match(one, "user", name->text))
			return true;
		if (is_plain(name->text))
			nearest_offer(nearest, "user", name->text);
	}
	return false;
}

int selection_check(struct selection *selection, struct tb_trace *trace,
		    const char *file, unsigned int first, unsigned int count)
{
	const struct tb_format *format;
	struct nearest nearest;
	unsigned int i, j;
	size_t p;

	selection->users = !selection->patterns.count;
	for (p = 0; p < selection->patterns.count; p++) {
		struct patterns one = { .list = &selection->patterns.list[p],
					.count = 1 };
		bool found = false;
		char text[512];

		nearest_start(&nearest, one.list[0]);
		for (i = first; i < first + count; i++) {
			tb_trace_select(trace, i);
			for (j = 0; (format = tb_trace_format_at(trace, j)) &&
				    !found; j++) {
				found = patterns_match(&one, format->system,
						       format->name);
				nearest_offer(&nearest, format->system,
					      format->name);
			}
			if (matches_category(trace, &one, &nearest))
				selection->users = found = true;
		}
		if (!found)
			return complain("%s has no event that matches '%s'%s",
					file, one.list[0],
					nearest_text(&nearest, text,
						     sizeof(text)));
	}
	return EXIT_FINE;
}

static int find_wanted(struct selection *selection,
		       const struct tb_trace *trace)
{
	unsigned int count = tb_trace_formats(trace), i;
	const struct tb_format *format;

	free(selection->wanted);
	selection->wanted = NULL;
	if (!selection->patterns.count)
		return 0;
	selection->wanted = calloc(count + 1, 1);
	if (!selection->wanted)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(trace, i);
		selection->wanted[i] = patterns_match(&selection->patterns,
						      format->system,
						      format->name);
	}
	return 0;
}

/* ---- time ---- */

/* Times go up with ticks */
int selection_recordings(const struct selection *selection, const struct tb_trace *trace,
			 const char *file, unsigned int *first, unsigned int *count)
{
	unsigned int all = tb_trace_recordings(trace), number = selection->recording;

	if (number > all)
		return complain("%s holds %u recording%s, there is no number %u", file, all,
				all == 1 ? "" : "s", number);
	if (selection->from.given && selection->to.given &&
	    selection->from.relative == selection->to.relative &&
	    selection->to.ns <= selection->from.ns)
		return complain("--to is not later than --from: no time lies between them");
	*first = number ? number - 1 : 0;
	*count = number ? 1 : all;
	return EXIT_FINE;
}

int selection_one(const struct selection *selection, struct tb_trace *trace, const char *file,
		  const char *done, unsigned int *number)
{
	unsigned int count = 0;
	int status = selection_recordings(selection, trace, file, number, &count);

	if (status != EXIT_FINE)
		return status;
	if (count > 1)
		note("%s holds %u recordings; the first is %s (choose with -r)", file, count,
		     done);
	tb_trace_select(trace, *number);
	return EXIT_FINE;
}

uint64_t ticks_at(const struct tb_trace *trace, enum tb_timebase base, uint64_t ns)
{
	uint64_t low = 0, high = 1, middle;

	if (tb_trace_ns(trace, 0, base) >= ns)
		return 0;
	while (high < 1ull << 62 && tb_trace_ns(trace, high, base) < ns)
		high *= 2;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (tb_trace_ns(trace, middle, base) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The time of the recording's first event; 0 if there is none */
static int first_ns(struct tb_trace *trace, enum tb_timebase base, uint64_t *ns)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	int result = tb_cursor_open(trace, &cursor);

	*ns = 0;
	if (result < 0)
		return result;
	do
		result = next_event(cursor, &view);
	while (result > 0 && view.kind == TB_VIEW_EVENT &&
	       view.id < TB_EV_USER && view.id != TB_EV_MARK);
	if (result > 0)
		*ns = tb_trace_ns(trace, view.ticks, base);
	tb_cursor_close(cursor);
	return result < 0 ? result : 0;
}

static uint64_t moment_ticks(const struct selection *selection,
			     const struct tb_trace *trace,
			     const struct moment *moment, uint64_t first)
{
	return ticks_at(trace, selection->base,
			moment->ns + (moment->relative ? first : 0));
}

int selection_start(struct selection *selection, struct tb_trace *trace)
{
	uint64_t first = 0;
	int result = find_wanted(selection, trace);

	selection->trace = trace;
	selection->last_cgroup = 0;
	selection->from_ticks = 0;
	selection->to_ticks = UINT64_MAX;
	if (!result && (selection->from.relative || selection->to.relative))
		result = first_ns(trace, selection->base, &first);
	if (selection->from.given)
		selection->from_ticks = moment_ticks(selection, trace,
						     &selection->from, first);
	if (selection->to.given)
		selection->to_ticks = moment_ticks(selection, trace,
						   &selection->to, first);
	return result;
}

void selection_free(struct selection *selection)
{
	patterns_free(&selection->patterns);
	free(selection->wanted);
	selection->wanted = NULL;
}

/* ---- an event ---- */

static bool chooses_threads(const struct selection *selection)
{
	return selection->one_tid || selection->pid || selection->comm || selection->cgroup;
}

/* Threads of one cgroup come one after the other: a pattern is compared once for them */
static bool wants_cgroup(struct selection *selection, uint32_t cgroup)
{
	if (cgroup != selection->last_cgroup)
		selection->last_matches = cgroup_matches(selection->trace, cgroup,
							 selection->cgroup);
	selection->last_cgroup = cgroup;
	return cgroup && selection->last_matches;
}

static bool wants_thread(struct selection *selection, const struct tb_view *view)
{
	if (selection->one_tid && view->tid != selection->tid)
		return false;
	if (selection->pid && (!view->task || view->task->tgid != selection->pid))
		return false;
	if (selection->cgroup && !wants_cgroup(selection, view->task ? view->task->cgroup : 0))
		return false;
	return !selection->comm || !fnmatch(selection->comm, view->comm, 0);
}

static bool wants(struct selection *selection, const struct tb_view *view)
{
	if (selection->one_cpu && view->cpu != selection->cpu)
		return false;
	if (view->ticks < selection->from_ticks)
		return false;
	if (view->kind == TB_VIEW_LOST)
		return true;
	if (!wants_thread(selection, view))
		return false;
	if (view->kind == TB_VIEW_USER_LOST)
		return selection->users;
	if (view->kind == TB_VIEW_USER)
		return !selection->patterns.count ||
		       patterns_match(&selection->patterns, "user",
				      view->user->category);
	if (view->format)
		return !selection->wanted ||
		       selection->wanted[view->format->index];
	if (view->id < TB_EV_USER)
		return view->id == TB_EV_MARK || selection->control;
	return !selection->wanted;
}

static bool losses_count(const struct selection *selection, const struct tb_view *view)
{
	return (view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST) &&
	       !chooses_threads(selection) && !selection->patterns.count;
}

bool selection_wants(struct selection *selection, const struct tb_view *view)
{
	bool wanted = wants(selection, view);

	/* control events come by whatever was asked for, losses whichever events and threads */
	if (wanted && (view->kind == TB_VIEW_USER || losses_count(selection, view) ||
		       (view->kind == TB_VIEW_EVENT &&
			(view->format || view->id >= TB_EV_USER || view->id == TB_EV_MARK))))
		selection->found = true;
	return wanted || (selection->threads && view->kind == TB_VIEW_EVENT &&
			  view->id == TB_EV_THREAD);
}

void selection_finds(struct selection *selection, const struct tb_view *view)
{
	if ((view->kind == TB_VIEW_EVENT || view->kind == TB_VIEW_USER ||
	     losses_count(selection, view)) && view->ticks >= selection->from_ticks &&
	    (!selection->one_cpu || view->cpu == selection->cpu) &&
	    (view->kind == TB_VIEW_LOST || wants_thread(selection, view)))
		selection->found = true;
}

bool selection_asks(const struct selection *selection)
{
	return selection->patterns.count || selection->one_cpu || chooses_threads(selection) ||
	       selection->from.given || selection->to.given;
}

int selection_note_gaps(const struct selection *selection, const struct tb_trace *trace,
			const char *file)
{
	uint64_t to = tb_trace_ns(trace, selection->to_ticks, selection->base), since = to;
	struct spans missing = { 0 };
	const struct told_span *gap;
	unsigned int cpu = 0, count = 0;
	int result = 0;
	size_t i;

	if (selection->to.given)
		result = spans_of_trace(&missing, trace, selection->base);
	for (i = 0; i < missing.nr_own; i++) {
		gap = &missing.own[i];
		if (gap->first >= to || gap->told < to ||
		    (selection->one_cpu && gap->cpu != selection->cpu))
			continue;
		count++;
		if (gap->first < since) {
			since = gap->first;
			cpu = gap->cpu;
		}
	}
	if (count)
		note("%s: at the end of this part (--to) events are missing, of CPU %u from %"
		     PRIu64 ".%09" PRIu64 " on%s", file, cpu, since / 1000000000,
		     since % 1000000000, count > 1 ? ", and of other CPUs" : "");
	spans_free(&missing);
	return result;
}

int selection_found(const struct selection *selection, const struct tb_trace *trace,
		    const char *file)
{
	unsigned int cpus = tb_trace_nr_cpus(trace);
	char thread[256] = "", cpu[96] = "";

	if (selection->found || !selection_asks(selection))
		return EXIT_FINE;
	if (selection->one_tid)
		snprintf(thread, sizeof(thread), " of thread %u", selection->tid);
	else if (selection->pid)
		snprintf(thread, sizeof(thread), " of process %u", selection->pid);
	else if (selection->comm)
		snprintf(thread, sizeof(thread), " of a thread named '%s'", selection->comm);
	else if (selection->cgroup)
		snprintf(thread, sizeof(thread), " of a thread in a cgroup '%s' ('tracebuf query FILE \"SELECT DISTINCT cgroup FROM threads\"' shows those it knows)",
			 selection->cgroup);
	if (selection->one_cpu && cpus && selection->cpu >= cpus)
		snprintf(cpu, sizeof(cpu), " of CPU %u (its last CPU is %u)", selection->cpu,
			 cpus - 1);
	else if (selection->one_cpu)
		snprintf(cpu, sizeof(cpu), " of CPU %u", selection->cpu);
	return complain("%s holds no such event%s%s%s%s", file,
			selection->patterns.count ? " as -e asks for" : "", thread, cpu,
			selection->from.given || selection->to.given ?
			" in that time (--from, --to)" : "");
}
