// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which threads a recording of chosen threads has; see the opening of slices.c.
 *
 * An event is recorded if it happens in a chosen thread; those of "sched" also if they name one.
 * Idle CPUs are chosen if all but some threads are; else the thread before or after an idle CPU is
 * chosen.
 */
#include <errno.h>
#include "slices_parts.h"

/* Threads that are in each switch so far; none after the first one: the file does not tell */
struct candidates {
	bool begun;
	unsigned int count;
	int64_t tids[2];
};

/* The threads of a switch; false: it does not name both */
static bool sides_of(const struct plan *plan, const struct tb_view *view, int64_t sides[2])
{
	bool has_prev, has_next;

	sides[0] = plan_number(view, plan->fields[SWITCH_PREV], &has_prev);
	sides[1] = plan_number(view, plan->fields[SWITCH_NEXT], &has_next);
	return has_prev && has_next;
}

int slices_note_chosen(struct slices *slices, const struct plan *plan, const struct tb_view *view)
{
	int64_t tid = view->tid, sides[2];
	struct thread *thread;

	if (plan->role == ROLE_SWITCH) {
		if (!sides_of(plan, view, sides) || (sides[0] && sides[1]) || slices->idle_chosen)
			return 0;
		tid = sides[0] ? sides[0] : sides[1];
	} else if (!strcmp(view->format->system, "sched")) {
		return 0;
	} else {
		slices->idle_chosen |= !tid;
	}
	thread = tid ? slices_thread(slices, (uint32_t)tid) : NULL;
	if (thread)
		thread->chosen = true;
	return thread || !tid ? 1 : -ENOMEM;
}

/* Keep the candidates that are in this switch, too */
static void narrow(struct candidates *candidates, const struct plan *plan,
		   const struct tb_view *view)
{
	unsigned int i, kept = 0;
	int64_t sides[2];

	if (plan->role != ROLE_SWITCH || !sides_of(plan, view, sides))
		return;
	if (!candidates->begun) {
		candidates->begun = true;
		candidates->count = 2;
		memcpy(candidates->tids, sides, sizeof(sides));
		return;
	}
	for (i = 0; i < candidates->count; i++)
		if (candidates->tids[i] == sides[0] || candidates->tids[i] == sides[1])
			candidates->tids[kept++] = candidates->tids[i];
	candidates->count = kept;
}

/* Read all events: 1 if a thread was found, 0, -ENOMEM */
static int read_events(struct slices *slices, struct tb_cursor *cursor,
		       struct candidates *candidates)
{
	const struct tb_choice choice = {
		.flags = TB_CHOICE_NO_USER | TB_CHOICE_NO_CONTROL | TB_CHOICE_NO_TASKS,
	};
	int result = tb_cursor_choose(cursor, &choice), noted, found = 0;
	const struct plan *plan;
	struct tb_view view;

	while (!result && (result = tb_cursor_next(cursor, &view)) > 0) {
		result = 0;
		if (view.kind != TB_VIEW_EVENT || !view.format)
			continue;
		plan = plan_of(&slices->plans, view.format);
		noted = plan ? slices_note_chosen(slices, plan, &view) : -ENOMEM;
		if (noted < 0)
			return noted;
		found |= noted;
		narrow(candidates, plan, &view);
	}
	/* of a damaged file, the events before the damage tell */
	return result == -ENOMEM ? result : found;
}

int slices_find_chosen(struct slices *slices, struct tb_trace *trace)
{
	struct candidates candidates = { .begun = false };
	struct tb_cursor *cursor;
	struct thread *thread;
	int result;

	if (!slices->of_threads)
		return 0;
	result = tb_cursor_open(trace, &cursor);
	if (result)
		return result;
	result = read_events(slices, cursor, &candidates);
	tb_cursor_close(cursor);
	/* only switches: the one thread that is in all of them */
	if (result || candidates.count != 1)
		return result < 0 ? result : 0;
	thread = slices_thread(slices, (uint32_t)candidates.tids[0]);
	if (thread)
		thread->chosen = true;
	return thread ? 0 : -ENOMEM;
}

bool slices_sees(const struct slices *slices, uint32_t tid)
{
	const struct thread *thread = map_get(&slices->threads, tid);

	return !slices->of_threads || (tid ? thread && thread->chosen : slices->idle_chosen);
}
