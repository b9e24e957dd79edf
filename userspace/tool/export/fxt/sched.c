// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - context switches and wake-ups in FXT.
 *
 * FXT has other states and priorities than Linux.  Uninterruptible sleep is "blocked", and the
 * argument "prev_state" has Linux's state.  The weight of a thread is the kernel's priority; the
 * lowest weight marks an idle thread.
 *
 * Where the trace does not tell what a CPU runs, a reader would draw the last thread on.  So the
 * CPU switches to a thread "not recorded" until the next switch.  FXT has no state "unknown": the
 * last thread gets one that FXT reserves, and that readers do not show.
 */
#include <errno.h>
#include "plan.h"

/* Bits of scheduling records */
#define SCHED_CPU_SHIFT		20
#define SCHED_STATE_SHIFT	36
#define SCHED_TYPE_SHIFT	60
#define SCHED_ARG_SHIFT		16
enum { SCHED_SWITCH = 1, SCHED_WAKEUP = 2 };
enum { STATE_RUNNING = 1, STATE_SUSPENDED = 2, STATE_BLOCKED = 3, STATE_DYING = 4, STATE_DEAD = 5,
       STATE_UNKNOWN = 15 };

/* sched_switch's prev_state */
#define TASK_STOPPED	0x0c	/* and traced */
#define TASK_DEAD	0x10
#define TASK_ZOMBIE	0x20
#define TASK_SLEEPING	0xff

/* Marks an idle thread */
#define WEIGHT_IDLE	INT32_MIN

static uint64_t state_of(uint64_t state)
{
	if (state & TASK_DEAD)
		return STATE_DEAD;
	if (state & TASK_ZOMBIE)
		return STATE_DYING;
	if (state & TASK_STOPPED)
		return STATE_SUSPENDED;
	return state & TASK_SLEEPING ? STATE_BLOCKED : STATE_RUNNING;
}

static struct fxt_name *state_name(struct fxt_events *events, uint64_t state)
{
	struct fxt_name *spare = NULL, **at;
	char text[24];

	at = state < FXT_STATES_MAX ? &events->plans->states[state] : &spare;
	if (!*at)
		*at = fxt_events_name(events, tb_task_state(state, text, sizeof(text)));
	return *at;
}

static void put_switch(struct fxt_events *events, uint32_t cpu, uint64_t state, uint32_t args,
		       uint64_t ns, const struct fxt_thread *from, const struct fxt_thread *to)
{
	fxt_record(events->out, FXT_SCHEDULING, (uint64_t)cpu << SCHED_CPU_SHIFT |
		   state << SCHED_STATE_SHIFT | (uint64_t)SCHED_SWITCH << SCHED_TYPE_SHIFT,
		   args, SCHED_ARG_SHIFT);
	fxt_word(events->out, ns);
	fxt_word(events->out, from->koid);
	fxt_word(events->out, to->koid);
}

static struct fxt_thread *thread_of(struct fxt_events *events, uint32_t cpu,
				    const struct fxt_current *current)
{
	return current->lost ? fxt_thread_lost(events->threads, cpu) :
			       fxt_thread(events->threads, cpu, current->tid);
}

/* Write a switch that is not in the trace: @cpu runs @next from @ns on */
static int add_switch(struct fxt_events *events, uint32_t cpu, const struct fxt_current *next,
		      uint64_t ns)
{
	struct fxt_plans *plans = events->plans;
	struct fxt_current *current = &plans->current[cpu];
	const struct fxt_thread *from = thread_of(events, cpu, current);
	const struct fxt_thread *to = thread_of(events, cpu, next);

	if (!from || !to)
		return -ENOMEM;
	put_switch(events, cpu, STATE_UNKNOWN, (uint32_t)!next->lost + !current->lost, ns, from,
		   to);
	if (!next->lost)
		fxt_arg_signed(events->out, plans->incoming, next->prio);
	if (!current->lost)
		fxt_arg_signed(events->out, plans->outgoing, current->prio);
	fxt_record_end(events->out, NULL);
	*current = *next;
	return 0;
}

int fxt_events_runs(struct fxt_events *events, uint32_t cpu, uint32_t tid, uint64_t ns)
{
	const struct tb_task *task = tb_cursor_task(events->cursor, tid);
	const struct fxt_current next = {
		.tid = tid, .known = true,
		.prio = task && task->flags & TB_TASK_LISTED ? task->prio : 120,
	};

	/* a reader shows nothing of the idle thread before its first record */
	events->plans->current[cpu] = (struct fxt_current){ .known = true, .prio = WEIGHT_IDLE };
	return tid ? add_switch(events, cpu, &next, ns) : 0;
}

static int switch_to_unknown(struct fxt_events *events, uint32_t cpu, uint64_t ns)
{
	static const struct fxt_current lost = { .known = true, .lost = true };

	return add_switch(events, cpu, &lost, ns);
}

int fxt_events_hidden(struct fxt_events *events, uint32_t cpu, uint64_t ns)
{
	struct fxt_current *current = &events->plans->current[cpu];

	/* as fxt_events_runs() does */
	if (!current->known)
		*current = (struct fxt_current){ .known = true, .prio = WEIGHT_IDLE };
	return current->lost ? 0 : switch_to_unknown(events, cpu, ns);
}

int fxt_events_unknown(struct fxt_events *events, uint32_t cpu, uint64_t ns)
{
	struct fxt_thread *track = fxt_thread_cpu(events->threads, cpu);
	struct fxt_current *current = &events->plans->current[cpu];

	if (!track)
		return -ENOMEM;
	fxt_close_to(events->threads, track, 0, ns, NULL, NULL);
	return current->known && !current->lost ? switch_to_unknown(events, cpu, ns) : 0;
}

int fxt_events_switch(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, uint64_t ns)
{
	struct fxt_plans *plans = events->plans;
	struct fxt_current *current = &plans->current[view->cpu];
	uint64_t prev, next, state, prio, prev_prio;
	struct fxt_current before = { .known = true };
	struct fxt_thread *from, *to;
	int result = 0;

	if (tb_field_u64(view, plan->fields[0], &prev) ||
	    tb_field_u64(view, plan->fields[1], &next) ||
	    tb_field_u64(view, plan->fields[2], &state) ||
	    tb_field_u64(view, plan->fields[3], &prio) ||
	    tb_field_u64(view, plan->fields[4], &prev_prio))
		return -EINVAL;
	from = fxt_thread(events->threads, view->cpu, (uint32_t)prev);
	to = fxt_thread(events->threads, view->cpu, (uint32_t)next);
	if (!from || !to)
		return -ENOMEM;
	/* the thread has exited: it ends its open slices no more */
	if (prev && state & (TASK_DEAD | TASK_ZOMBIE))
		fxt_close_to(events->threads, from, 0, ns, events->popped,
			     events->context);
	before.tid = (uint32_t)prev;
	before.prio = prev ? (int32_t)prev_prio : WEIGHT_IDLE;
	/* another thread is switched out than the last one switched in: a switch is missing */
	if (current->known && (current->lost || current->tid != before.tid))
		result = add_switch(events, view->cpu, &before, ns);
	if (result)
		return result;
	put_switch(events, view->cpu, state_of(state),
		   3 + fxt_events_nr_extras(view), ns, from, to);
	fxt_arg_signed(events->out, plans->incoming, next ? (int64_t)prio : WEIGHT_IDLE);
	fxt_arg_signed(events->out, plans->outgoing, before.prio);
	fxt_arg_name(events->out, plans->state, state_name(events, state));
	fxt_events_extras(events, view);
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
	*current = (struct fxt_current){
		.tid = (uint32_t)next, .prio = next ? (int32_t)prio : WEIGHT_IDLE,
		.known = true,
	};
	return 0;
}

int fxt_events_wakeup(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, uint64_t ns)
{
	struct fxt_plans *plans = events->plans;
	struct fxt_thread *thread, *waker;
	uint64_t tid, prio, cpu;

	if (tb_field_u64(view, plan->fields[0], &tid) ||
	    tb_field_u64(view, plan->fields[1], &prio) ||
	    tb_field_u64(view, plan->fields[2], &cpu) || !tid || cpu >= FXT_CPUS_MAX)
		return -EINVAL;
	waker = fxt_thread(events->threads, view->cpu, view->tid);
	thread = fxt_thread(events->threads, view->cpu, (uint32_t)tid);
	if (!thread || !waker)
		return -ENOMEM;
	fxt_record(events->out, FXT_SCHEDULING, cpu << SCHED_CPU_SHIFT |
		   (uint64_t)SCHED_WAKEUP << SCHED_TYPE_SHIFT, 3 + fxt_events_nr_extras(view),
		   SCHED_ARG_SHIFT);
	fxt_word(events->out, ns);
	fxt_word(events->out, thread->koid);
	fxt_arg_signed(events->out, plans->weight, (int64_t)prio);
	fxt_arg_koid(events->out, plans->waker, waker->koid);
	fxt_arg_unsigned(events->out, plans->cpu, view->cpu);
	fxt_events_extras(events, view);
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
	return 0;
}
