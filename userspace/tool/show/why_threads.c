// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose the threads to explain; see why_threads.h.
 */
#include <string.h>
#include "tool/choose/cgroup.h"
#include "tool/command/number.h"
#include "tool/show/why_threads.h"

#define ITEM_MAX 128		/* bytes of an item of the list, with the NUL */

/* Copy the next item of a list; NULL: there are no more, or it is too long */
static const char *next_item(const char *at, char item[ITEM_MAX])
{
	size_t length;

	at += strspn(at, ",");
	length = strcspn(at, ",");
	if (!length || length >= ITEM_MAX)
		return NULL;
	memcpy(item, at, length);
	item[length] = 0;
	return at + length;
}

/* A name matches from the first to the last time that the thread had it, a number always */
static bool item_matches(const struct why *why, const char *item, uint32_t thread, uint64_t *from,
			 uint64_t *to)
{
	uint32_t number;

	*from = 0;
	*to = UINT64_MAX;
	if (!parse_u32(item, 0, UINT32_MAX, &number))
		return why_tid(why, thread) == number;
	return why_named(why, thread, item, from, to);
}

/* Limit [@from, @to) to the time from the first to the last item of @text that matches; false:
 * nothing is left */
static bool is_chosen(const struct why *why, const char *text, uint32_t thread, uint64_t *from,
		      uint64_t *to)
{
	uint64_t first = UINT64_MAX, last = 0, begin, end;
	char item[ITEM_MAX];

	while ((text = next_item(text, item)))
		if (item_matches(why, item, thread, &begin, &end)) {
			first = begin < first ? begin : first;
			last = end > last ? end : last;
		}
	*from = first > *from ? first : *from;
	*to = last < *to ? last : *to;
	return *from < *to;
}

/* Check that every item of @text matches a thread that the trace tells something about */
static int check_items(const struct why *why, const char *file, const char *text)
{
	const char *at = text;
	char item[ITEM_MAX];
	uint64_t from, to;
	uint32_t thread;
	size_t i;

	while ((text = next_item(at, item))) {
		for (i = 0; i < why_threads(why); i++) {
			thread = why_thread(why, i);
			if (item_matches(why, item, thread, &from, &to) &&
			    why_limits(why, thread, &from, &to))
				break;
		}
		if (i == why_threads(why))
			return complain("%s: --why %s: nothing is known of such a thread; "
					"'tracebuf why %s' lists the threads",
					file, item, file);
		at = text;
	}
	if (at[strspn(at, ",")])
		return complain("--why: '%s' is too long for the name of a thread", at);
	return EXIT_FINE;
}

static int choose(struct why_threads *threads, const char *file, const struct selection *selection,
		  enum tb_timebase base, const char *text)
{
	uint64_t from, to;
	size_t i, count = 0;
	uint32_t thread;

	for (i = 0; i < why_threads(threads->why); i++) {
		thread = why_thread(threads->why, i);
		if (!why_threads_time(selection, threads->why, base, thread, &from, &to) ||
		    !is_chosen(threads->why, text, thread, &from, &to) ||
		    count++ >= WHY_THREADS_MAX)
			continue;
		threads->list[threads->count].thread = thread;
		threads->list[threads->count].from = from;
		threads->list[threads->count++].to = to;
	}
	if (count > WHY_THREADS_MAX)
		return complain("%s: --why %s: these are %zu threads; at most %u can be explained "
				"at a time: choose fewer, by their TIDs",
				file, text, count, WHY_THREADS_MAX);
	if (!count)
		return complain("%s: --why %s: nothing is known of these threads in that time",
				file, text);
	return EXIT_FINE;
}

int why_threads_open(struct why_threads *threads, struct tb_trace *trace, const char *file,
		     const struct selection *selection, enum tb_timebase base, const char *text)
{
	struct tb_error error = { .offset = TB_OFFSET_NONE };
	int result, status;

	memset(threads, 0, sizeof(*threads));
	if (!text[strspn(text, ",")])
		return complain("--why: of which threads? TIDs or names, with * and ?, "
				"a comma between two");
	/* do not complain of damage: the caller will, when it reads the events */
	result = why_open(trace, base, NULL, &threads->why, &error);
	if (result)
		return complain("%s: %s", file, strerror(-result));
	if (!why_has_switches(threads->why))
		return complain("%s has no sched_switch, which --why needs: "
				"record it with sched_switch and sched_wak*",
				file);
	if (!why_has_wakeups(threads->why))
		note("%s has no wake-ups: what a thread waited for is not known "
		     "(record sched_waking and sched_wakeup)",
		     file);
	status = check_items(threads->why, file, text);
	return status == EXIT_FINE ? choose(threads, file, selection, base, text) : status;
}

bool why_threads_wanted(const struct selection *selection, const struct why *why, uint32_t thread,
			uint64_t *from, uint64_t *to)
{
	if (selection->tids.count && !number_list_has(&selection->tids, why_tid(why, thread)))
		return false;
	if (selection->pids.count && !number_list_has(&selection->pids, why_tgid(why, thread)))
		return false;
	if (selection->comm && !why_named(why, thread, selection->comm, from, to))
		return false;
	return !selection->cgroup ||
	       cgroup_matches(selection->trace, why_cgroup(why, thread), selection->cgroup);
}

bool why_threads_time(const struct selection *selection, const struct why *why,
		      enum tb_timebase base, uint32_t thread, uint64_t *from, uint64_t *to)
{
	uint64_t first, last, since, until;

	if (!why_limits(why, thread, from, to) || !why_span(why, &first, &last))
		return false;
	since = tb_trace_ns(selection->trace, selection->from_ticks, base);
	until = tb_trace_ns(selection->trace, selection->to_ticks, base);
	if (selection->from.given)
		*from = since > first ? since : first;
	if (selection->to.given)
		*to = until < last ? until : last;
	return why_cut(why, thread, from, to);
}

void why_threads_close(struct why_threads *threads)
{
	why_close(threads->why);
	threads->why = NULL;
}
