// SPDX-License-Identifier: GPL-2.0-only
/*
 * Select events of a trace by name, CPU, thread and time.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "selection.h"
#include "analysis/slices.h"
#include "analysis/spans.h"
#include "tool/choose/cgroup.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"
#include "tool/command/number.h"

/* ---- options ---- */

/* Complain of a second value of an option that takes one */
static bool is_second(const struct command *command, int option, const struct selection *selection)
{
	const char *name = option == OPTION_COMM && selection->comm ? "--comm" :
			   option == OPTION_CGROUP && selection->cgroup ? "--cgroup" : NULL;

	if (name)
		misused(command, "%s is given twice: only one value is possible", name);
	return name;
}

const char *timebase_name(enum tb_timebase base)
{
	return base == TB_TIME_BOOTTIME ? "boot" : base == TB_TIME_REALTIME ? "real" : "mono";
}

int selection_option(const struct command *command, int option,
		     const char *value, struct selection *selection)
{
	if (is_second(command, option, selection))
		return -1;
	switch (option) {
	case 'e':
		return patterns_add(&selection->patterns, value) ?
		       -misused(command, "a name is missing in '%s'", value) : 1;
	case 'f':
		if (selection->filter.text)
			return -misused(command, "-f is given twice: join the expressions by &&");
		selection->filter.text = value;
		return 1;
	case 'C':
		if (selection->cpu_list)
			return -misused(command, "-C is given twice: join the lists, as in 0-3,7");
		selection->cpu_list = value;
		return parse_cpus(value, NULL, &selection->cpus) ?
		       -misused(command, "'%s' is not a list of CPUs up to %u, as in 0-3,7", value,
				CPUS_MAX - 1) : 1;
	case 't':
		return number_option(command, value, 0, UINT32_MAX, "thread",
				     &selection->tids) ? -1 : 1;
	case OPTION_PID:
		return number_option(command, value, 1, UINT32_MAX, "process",
				     &selection->pids) ? -1 : 1;
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
			return -misused(command, "time: '%s' is not mono, boot or real", value);
		return 1;
	case 'r':
		return parse_u32(value, 1, UINT32_MAX, &selection->recording) ?
		       -misused(command, "'%s' is not a recording's number", value) : 1;
	case OPTION_FROM:
		return moment_parse(command, value, &selection->from) ? -1 : 1;
	case OPTION_TO:
		return moment_parse(command, value, &selection->to) ? -1 : 1;
	default:
		return 0;
	}
}

bool selection_of_cpus(const struct selection *selection, const struct tb_trace *trace)
{
	unsigned int cpus = tb_trace_nr_cpus(trace), i;

	for (i = 0; i < cpus && selection_wants_cpu(selection, i); i++)
		;
	return i < cpus;
}

/* ---- names ---- */

/* True if @text is printable ASCII without blanks */
static bool is_plain(const char *text)
{
	while (*text > 0x20 && *text < 0x7f)
		text++;
	return !*text;
}

/* True if the pattern matches a category of the recording's programs */
static bool matches_category(const struct tb_trace *trace,
			     const struct patterns *one,
			     struct nearest *nearest)
{
	const struct tb_user_name *name;
	unsigned int i;

	/* "-" stands for records without a category */
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
		bool excludes = pattern_excludes(selection->patterns.list[p]), found = false;
		char *pattern = selection->patterns.list[p] + excludes;
		struct patterns one = { .list = &pattern, .count = 1 };
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
			if (matches_category(trace, &one, &nearest)) {
				found = true;
				selection->users |= !excludes;
			}
		}
		selection->users |= excludes && !p;
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

/* True if @to is not after @from.  Only moments of one kind can be compared without the trace */
static bool is_empty(const struct moment *from, const struct moment *to)
{
	if (!from->given || !to->given || from->kind != to->kind)
		return false;
	switch (from->kind) {
	case MOMENT_CLOCK:
	case MOMENT_AFTER_FIRST:
		return to->ns <= from->ns;
	case MOMENT_BEFORE_LAST:
		return to->ns >= from->ns;
	default:
		return false;
	}
}

int selection_recordings(struct selection *selection, const struct tb_trace *trace,
			 const char *file, unsigned int *first, unsigned int *count)
{
	unsigned int all = tb_trace_recordings(trace), number = selection->recording;

	if (number > all)
		return complain("%s holds %u recording%s, there is no number %u", file, all,
				all == 1 ? "" : "s", number);
	if (is_empty(&selection->from, &selection->to))
		return complain("--to is not later than --from: no time lies between them");
	*first = number ? number - 1 : 0;
	*count = number ? 1 : all;
	selection->several = *count > 1;
	return EXIT_FINE;
}

/* Find the ticks of --from and --to; returns as moment_ticks() */
static int find_times(struct selection *selection, struct tb_trace *trace)
{
	const struct moment *from = &selection->from, *to = &selection->to;
	size_t size = sizeof(selection->lack);
	int result = 0;

	if (from->given)
		result = moment_ticks(from, trace, selection->base, 0, &selection->from_ticks,
				      selection->lack, size);
	if (!result && to->given)
		result = moment_ticks(to, trace, selection->base,
				      from->given ? selection->from_ticks + 1 : 0,
				      &selection->to_ticks, selection->lack, size);
	return result;
}

int selection_start(struct selection *selection, struct tb_trace *trace, const char *file)
{
	int result = find_wanted(selection, trace);

	selection->trace = trace;
	selection->last_cgroup = 0;
	selection->from_ticks = 0;
	selection->to_ticks = UINT64_MAX;
	if (!result)
		result = event_filter_start(&selection->filter, trace, selection->wanted);
	/* another recording of the file may have the fields */
	if (result == -ENOENT && selection->several)
		result = 0;
	if (result == -EINVAL || result == -ENOENT)
		return complain("%s: -f: %s%s", file, result == -ENOENT ?
				"no event has these fields: " : "", selection->filter.error.text);
	if (!result)
		result = find_times(selection, trace);
	if (!result)
		return EXIT_FINE;
	if (result != -ENODATA)
		return complain("out of memory");
	if (!selection->several)
		return complain("%s: %s", file, selection->lack);
	/* select nothing: another recording of the file may have that time */
	selection->from_ticks = UINT64_MAX;
	selection->to_ticks = 0;
	return EXIT_FINE;
}

int selection_one(struct selection *selection, struct tb_trace *trace, const char *file,
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
	selection->several = false;
	status = selection_check(selection, trace, file, *number, 1);
	return status == EXIT_FINE ? selection_start(selection, trace, file) : status;
}

void selection_free(struct selection *selection)
{
	patterns_free(&selection->patterns);
	event_filter_free(&selection->filter);
	free(selection->wanted);
	selection->wanted = NULL;
}

/* ---- an event ---- */

bool selection_of_threads(const struct selection *selection)
{
	return selection->tids.count || selection->pids.count || selection->comm ||
	       selection->cgroup;
}

/* Successive events are often of one cgroup: compare the pattern once for them */
static bool wants_cgroup(struct selection *selection, uint32_t cgroup)
{
	if (cgroup != selection->last_cgroup)
		selection->last_matches = cgroup_matches(selection->trace, cgroup,
							 selection->cgroup);
	selection->last_cgroup = cgroup;
	return cgroup && selection->last_matches;
}

static bool wants_task(struct selection *selection, uint32_t tid, const struct tb_task *task,
		       const char *comm)
{
	if (selection->tids.count && !number_list_has(&selection->tids, tid))
		return false;
	if (selection->pids.count && (!task || !number_list_has(&selection->pids, task->tgid)))
		return false;
	if (selection->cgroup && !wants_cgroup(selection, task ? task->cgroup : 0))
		return false;
	return !selection->comm || !fnmatch(selection->comm, comm, 0);
}

static bool wants_thread(struct selection *selection, const struct tb_view *view)
{
	return wants_task(selection, view->tid, view->task, view->comm);
}

bool selection_wants_tid(struct selection *selection, const struct tb_cursor *cursor,
			 uint32_t tid)
{
	const struct tb_task *task = tid && cursor ? tb_cursor_task(cursor, tid) : NULL;
	const struct tb_task none = { .tid = tid };

	return selection_wants_task(selection, task ? task : &none);
}

bool selection_wants_slice(struct selection *selection, const struct tb_cursor *cursor,
			   uint32_t cpu, uint32_t tid)
{
	return selection_wants_cpu(selection, cpu) &&
	       (!selection_of_threads(selection) || selection_wants_tid(selection, cursor, tid));
}

bool selection_wants_task(struct selection *selection, const struct tb_task *task)
{
	/* names of threads without a name are those that the cursor sets in a view */
	return wants_task(selection, task->tid, task,
			  !task->tid ? "<idle>" : task->comm[0] ? task->comm : "<...>");
}

/* True for a control event, which the cursor returns whatever was chosen */
static bool is_of_all(const struct tb_view *view)
{
	return view->kind == TB_VIEW_EVENT && !view->format && view->id < TB_EV_USER;
}

bool selection_wants_event(const struct selection *selection, const struct tb_view *view)
{
	if (view->kind == TB_VIEW_LOST || is_of_all(view))
		return true;
	if (view->kind == TB_VIEW_USER_LOST)
		return selection->users;
	if (view->kind == TB_VIEW_USER)
		return !selection->patterns.count ||
		       patterns_match(&selection->patterns, "user", view->user->category);
	return !selection->wanted || (view->format && selection->wanted[view->format->index]);
}

static bool wants(struct selection *selection, const struct tb_view *view)
{
	if (!selection_wants_cpu(selection, view->cpu))
		return false;
	if (view->ticks < selection->from_ticks)
		return false;
	if (view->kind == TB_VIEW_LOST)
		return true;
	if (!wants_thread(selection, view))
		return false;
	if (is_of_all(view))
		return view->id == TB_EV_MARK || selection->control;
	return selection_wants_event(selection, view);
}

static bool losses_count(const struct selection *selection, const struct tb_view *view)
{
	return (view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST) &&
	       !selection_of_threads(selection) && !selection->patterns.count &&
	       !selection->filter.text;
}

bool selection_wants(struct selection *selection, const struct tb_view *view)
{
	bool wanted = wants(selection, view) && event_filter_passes(&selection->filter, view);

	/* control events do not count, nor losses if only some events or threads are selected */
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
	    selection_wants_cpu(selection, view->cpu) &&
	    (view->kind == TB_VIEW_LOST || wants_thread(selection, view)))
		selection->found = true;
}

uint64_t selection_switches_from(const struct selection *selection)
{
	return selection->wanted ? UINT64_MAX : selection->from_ticks;
}

/* True if -e leaves out no event of "sched" that is called @name */
static bool wants_all(const struct selection *selection, const struct tb_trace *trace,
		      const char *name)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; selection->wanted && (format = tb_trace_format_at(trace, i)); i++)
		if (!selection->wanted[i] && !strcmp(format->name, name) &&
		    !strcmp(format->system, "sched"))
			return false;
	return true;
}

void selection_before(const struct selection *selection, const struct tb_trace *trace,
		      struct slices *slices)
{
	if (spans_lacks(trace, "sched:sched_switch") ||
	    !wants_all(selection, trace, "sched_switch"))
		return;
	slices_before(slices);
	if (!wants_all(selection, trace, "sched_waking") ||
	    !wants_all(selection, trace, "sched_wakeup_new"))
		slices_not_all_wakeups(slices);
}

bool selection_asks(const struct selection *selection)
{
	return selection->patterns.count || selection->cpu_list ||
	       selection_of_threads(selection) || selection->filter.text ||
	       selection->from.given || selection->to.given;
}

int selection_note_gaps(const struct selection *selection, const struct tb_trace *trace,
			const char *file)
{
	uint64_t to = tb_trace_ns(trace, selection->to_ticks, selection->base), since = to;
	struct spans missing = { 0 };
	const struct gap_span *gap;
	unsigned int cpu = 0, count = 0;
	int result = 0;
	size_t i;

	if (selection->to.given)
		result = spans_of_trace(&missing, trace, selection->base);
	for (i = 0; i < missing.nr_own; i++) {
		gap = &missing.own[i];
		if (gap->first >= to || gap->reported < to ||
		    !selection_wants_cpu(selection, gap->cpu))
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

/* Say that no event is in the chosen time, and in which time there are events */
static const char *time_text(const struct selection *selection, struct tb_trace *trace,
			     char *text, size_t size)
{
	uint64_t first, last;

	if (!selection->from.given && !selection->to.given)
		return "";
	if (moment_span(trace, &first, &last) <= 0)
		return " in that time (--from, --to)";
	snprintf(text, size, " in that time (--from, --to); all its events are from %.6f to %.6f s",
		 (double)tb_trace_ns(trace, first, selection->base) / 1e9,
		 (double)tb_trace_ns(trace, last, selection->base) / 1e9);
	return text;
}

const char *selection_threads_text(const struct selection *selection, char *text, size_t size)
{
	char numbers[128];
	size_t used = 0;

	text[0] = 0;
	if (!selection_of_threads(selection))
		return text;
	if (selection->tids.count)
		used += (size_t)snprintf(text, size, " of thread%s %s",
			 plural(selection->tids.count),
			 number_list_text(&selection->tids, numbers, sizeof(numbers)));
	if (selection->pids.count)
		used += (size_t)snprintf(text + used, size - used, " of process%s %s",
			 selection->pids.count == 1 ? "" : "es",
			 number_list_text(&selection->pids, numbers, sizeof(numbers)));
	if (!used)
		used += (size_t)snprintf(text, size, " of a thread");
	if (selection->comm)
		used += (size_t)snprintf(text + used, size - used, " named '%.64s'",
			 selection->comm);
	if (selection->cgroup)
		snprintf(text + used, size - used, " in a cgroup '%.64s'", selection->cgroup);
	return text;
}

int selection_found(const struct selection *selection, struct tb_trace *trace, const char *file)
{
	const struct event_filter *filter = &selection->filter;
	unsigned int cpus = tb_trace_nr_cpus(trace), i;
	char threads[512], hint[192] = "", cpu[128] = "", time[256];

	if (selection->found || !selection_asks(selection))
		return EXIT_FINE;
	if (filter->text && !filter->fits)
		return complain("-f: no event has these fields: %s", filter->error.text);
	if (selection->lack[0])
		return complain("%s: %s", file, selection->lack);
	if (selection_of_threads(selection))
		snprintf(hint, sizeof(hint),
			 " ('tracebuf query FILE \"SELECT tid, pid, comm, cgroup FROM threads\"' "
			 "lists the threads%s)", selection->from.given || selection->to.given ?
			 "; 'tracebuf why' explains also a time without events" : "");
	if (selection->cpu_list)
		snprintf(cpu, sizeof(cpu), " of CPU%s %.64s", strpbrk(selection->cpu_list, "-,") ?
			 "s" : "", selection->cpu_list);
	for (i = 0; i < cpus && !selection_wants_cpu(selection, i); i++)
		;
	if (cpus && i == cpus)
		snprintf(cpu + strlen(cpu), sizeof(cpu) - strlen(cpu), " (its last CPU is %u)",
			 cpus - 1);
	return complain("%s holds no such event%s%s%s%s%s", file,
			selection->patterns.count ? " as -e asks for" : filter->text ?
			" as -f asks for" : "",
			selection_threads_text(selection, threads, sizeof(threads)), hint, cpu,
			time_text(selection, trace, time, sizeof(time)));
}
