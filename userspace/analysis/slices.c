// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices: everything that lasts, from the events at which it begins and ends.
 *
 * Where events of a CPU are missing, it is unknown what happened there: the running thread runs
 * until then, and interrupts are dropped.  A system call may have ended and begun again on a CPU
 * where events are missing: it gets SLICE_LOSSY.  A thread that was woken before may have run.
 *
 * While the event that ends a slice is not recorded, the event that begins it opens none.  A call
 * that is open when that event is deselected ends there (SLICE_UNENDED).  An interrupt may still
 * end, because the record of a change is written just before the change takes effect.  So open
 * interrupts are dropped at the next change only, and an event that is no longer selected still
 * opens an interrupt.
 */
#include <errno.h>
#include "slices_parts.h"
#include "lib/array.h"

struct slices *slices_open(const struct tb_trace *trace, enum tb_timebase base,
			   void (*each)(void *context, const struct slice *slice),
			   void *context)
{
	struct slices *slices = calloc(1, sizeof(*slices));

	if (!slices)
		return NULL;
	slices->trace = trace;
	slices->base = base;
	slices->raises_from = UINT64_MAX;
	slices->of_threads = is_of_threads(trace);
	slices->each = each;
	slices->context = context;
	return slices;
}

void slices_off(struct slices *slices)
{
	slices->off = true;
}

void slices_before(struct slices *slices)
{
	/* a thread that begins to wait for a CPU, and was not on one, has one of these events */
	static const char *const wakeups[] = { "sched:sched_waking", "sched:sched_wakeup_new" };
	/* an interrupt in NET_RX may give it packets without raising it again */
	static const char *const raises[] = {
		"irq:softirq_raise", "irq:irq_handler_entry", "sched:sched_switch",
	};
	const struct spans *missing = slices->missing;
	uint64_t from, ticks;
	unsigned int i;

	slices->before = true;
	for (i = 0; i < sizeof(wakeups) / sizeof(wakeups[0]); i++) {
		from = spans_recorded_from(slices->trace, wakeups[i], slices->base);
		slices->wakeups_from = later(slices->wakeups_from, from);
	}
	slices->calls_from = spans_recorded_from(slices->trace, "raw_syscalls:sys_enter",
						 slices->base);
	slices->raises_from = 0;
	for (i = 0; i < sizeof(raises) / sizeof(raises[0]); i++) {
		from = spans_recorded_from(slices->trace, raises[i], slices->base);
		slices->raises_from = later(slices->raises_from, from);
	}
	for (i = 0; i < FORMS; i++)
		slices->unruled_from[i] = missing->rules_known ? 0 : UINT64_MAX;
	/* before the first change, it is not known what was selected */
	if (!tb_trace_selection(slices->trace, 0, &ticks))
		slices->begin = tb_trace_ns(slices->trace, ticks, slices->base);
	slices->end = UINT64_MAX;
	for (i = 0; i < missing->nr_cpus; i++) {
		if (!missing->cpus[i].any)
			continue;
		slices->begin = later(slices->begin, missing->cpus[i].begin);
		if (missing->cpus[i].end < slices->end)
			slices->end = missing->cpus[i].end;
	}
}

void slices_not_all_wakeups(struct slices *slices)
{
	slices->wakeups_from = UINT64_MAX;
}

void slices_first_event(struct slices *slices, uint64_t ns)
{
	slices->begin = later(slices->begin, ns);
	slices->begun = true;
}

void slices_missing(struct slices *slices, const struct spans *missing)
{
	slices->missing = missing;
}

void slices_switches_from(struct slices *slices, uint64_t ticks)
{
	slices->switches_from = ticks;
	slices->first_runs = ticks < UINT64_MAX;
}

bool slices_wants(struct slices *slices, const struct tb_format *format,
		  unsigned int kinds)
{
	static const unsigned int made_of[ROLES] = {
		/* a switch ends interrupts; one to a dead state ends a call */
		[ROLE_SWITCH] = 1 << SLICE_RUN | 1 << SLICE_WAKEUP | 1 << SLICE_OFF |
				1 << SLICE_IRQ | 1 << SLICE_SYSCALL,
		[ROLE_WAKING] = 1 << SLICE_RUN | 1 << SLICE_WAKEUP | 1 << SLICE_OFF,
		[ROLE_WAKEUP] = 1 << SLICE_RUN | 1 << SLICE_WAKEUP | 1 << SLICE_OFF,
		[ROLE_IRQ] = 1 << SLICE_IRQ,
		[ROLE_IRQ_EXIT] = 1 << SLICE_IRQ,
		[ROLE_SOFTIRQ] = 1 << SLICE_SOFTIRQ,
		[ROLE_SOFTIRQ_EXIT] = 1 << SLICE_SOFTIRQ,
		[ROLE_SYSCALL] = 1 << SLICE_SYSCALL,
		[ROLE_SYSCALL_EXIT] = 1 << SLICE_SYSCALL,
	};
	const struct plan *plan = plan_of(&slices->plans, format);

	/* without memory: slices_take() will try again */
	return !plan || made_of[plan->role] & kinds;
}

void slices_close(struct slices *slices)
{
	unsigned int i;

	if (!slices)
		return;
	for (i = 0; i < slices->nr_cpus; i++)
		free(slices->cpus[i]);
	map_free(&slices->threads, free);
	plans_free(&slices->plans);
	free(slices->beginnings);
	free(slices->cpus);
	free(slices);
}

/* ---- threads ---- */

struct thread *slices_thread(struct slices *slices, uint32_t tid)
{
	void **slot = map_at(&slices->threads, tid);

	struct thread *thread = slot ? *slot : NULL;

	if (slot && !thread) {
		*slot = thread = calloc(1, sizeof(struct thread));
		if (thread)
			thread->asleep_since = UINT64_MAX;
	}
	return thread;
}

static bool is_of_new_thread(const struct tb_format *format)
{
	return !strcmp(format->name, "sched_wakeup_new");
}

static int take_wake(struct slices *slices, const struct plan *plan,
		     const struct tb_view *view, uint64_t ns)
{
	struct thread *thread;
	int64_t tid;
	bool has;

	tid = plan_number(view, plan->fields[0], &has);
	if (!has || !tid)
		return 0;
	thread = slices_thread(slices, (uint32_t)tid);
	if (!thread)
		return -ENOMEM;
	slices->wakeups |= plan->role == ROLE_WAKEUP;
	if (thread->woken && !slices_may_have_run(slices, thread, ns)) {
		/* the first event counts: waking comes before wakeup */
		if (plan->role == ROLE_WAKEUP && !thread->awake) {
			thread->awake = true;
			return 0;
		}
		/* a runnable thread is not woken: it has run since, and sleeps again */
		thread->unseen = true;
		thread->asleep_since = UINT64_MAX;
	}
	/* this wake-up is for a later sleep, whose beginning is not in the trace */
	if (thread->woken && thread->out && thread->woken_at >= thread->out_at)
		slices_stop_off(slices, thread, (uint32_t)tid, ns);
	if (plan->role == ROLE_WAKING && !thread->unseen)
		slices_note_asleep(slices, thread, (uint32_t)tid, ns);
	else
		thread->asleep_since = UINT64_MAX;
	thread->woken = true;
	thread->awake = plan->role == ROLE_WAKEUP;
	thread->is_new = thread->awake && is_of_new_thread(view->format);
	thread->woken_losses = slices->losses;
	thread->woken_at = ns;
	thread->waker = view->tid;
	thread->waker_cpu = view->cpu;
	thread->waker_context = view->context;
	/* now: when the woken thread runs, another thread may have the waker's number */
	if (view->task)
		memcpy(thread->waker_comm, view->task->comm, sizeof(thread->waker_comm));
	else
		thread->waker_comm[0] = 0;
	return 0;
}

/*
 * A thread leaves the CPU.  A waking before counts if no wakeup has followed: the thread was about
 * to sleep.  After a wakeup it did not go to sleep at all.
 */
static int take_out(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct thread *thread;
	bool has_state, has_tid, seen;
	int64_t tid, state;

	state = plan_number(view, plan->fields[2], &has_state);
	tid = plan_number(view, plan->fields[0], &has_tid);
	thread = has_tid ? map_get(&slices->threads, (uint32_t)tid) : NULL;
	if (thread && (thread->awake || !slices->wakeups ||
		       (has_state && !(state & 0xff))))
		thread->woken = false;
	if (thread)
		thread->unseen = false;
	/* a dead thread does not return from its last call */
	if (thread && thread->in_call && has_state && state & STATE_DEAD) {
		thread->in_call = false;
		slice_end(slices, &thread->call, ns, SLICE_UNENDED);
	}
	seen = slices_sees(slices, cpu->run.tid);
	if (slices->off && has_tid && tid && slices_sees(slices, (uint32_t)tid) &&
	    !(has_state && state & STATE_DEAD)) {
		thread = slices_thread(slices, (uint32_t)tid);
		if (!thread)
			return -ENOMEM;
		thread->out = true;
		thread->out_at = ns;
		thread->out_losses = slices->losses;
		thread->state = state;
		thread->has_state = has_state;
	}
	if (has_tid && has_state && state & STATE_DEAD)
		free(map_remove(&slices->threads, (uint32_t)tid));
	if (!cpu->running)
		return 0;
	cpu->running = false;
	/* if another thread was running, events are missing without a record of a loss */
	if (!has_tid || (uint32_t)tid != cpu->run.tid || !seen) {
		end_unknown(slices, &cpu->run);
		return 0;
	}
	cpu->run.result = state;
	cpu->run.has_result = has_state;
	slice_end(slices, &cpu->run, ns, cpu->began_before ? SLICE_UNBEGUN : SLICE_WHOLE);
	return 0;
}

static void take_in(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	bool has, off_known = false;
	struct thread *thread;
	struct slice wakeup;
	uint64_t since;
	int64_t tid;

	tid = plan_number(view, plan->fields[1], &has);
	if (!has)
		return;
	/* the kernel runs raised softirqs before a CPU becomes idle */
	if (!tid)
		slices_not_raised(slices, cpu, ns);
	else if (cpu->raised == RAISED_BY_TASK)
		cpu->raised = RAISED_UNKNOWN;
	slice_begin(&cpu->run, SLICE_RUN, view, ns);
	cpu->running = true;
	cpu->began_before = false;
	cpu->run.tid = (uint32_t)tid;
	cpu->run.prio = plan_number(view, plan->fields[3], &cpu->run.has_prio);
	thread = map_get(&slices->threads, (uint32_t)tid);
	if (thread && thread->out)
		off_known = !thread->unseen &&
			    !lost_since(slices, thread->out_losses, thread->out_at, ns);
	since = off_known ? ns : slices_off_since(slices, thread, (uint32_t)tid, ns);
	if (thread && thread->out)
		slices_end_off(slices, thread, (uint32_t)tid, view, since,
			       off_known ? SLICE_WHOLE : SLICE_LOSSY);
	if (since < ns && !(thread && thread->woken))
		slices_end_waiting(slices, (uint32_t)tid, view, since, ns);
	if (!thread)
		return;
	cpu->run.unseen = thread->unseen;
	thread->unseen = false;
	if (!thread->woken)
		return;
	thread->woken = false;
	/* a thread that is not recorded may have run since it was woken */
	cpu->run.wait_lost = slices_may_have_run(slices, thread, ns) ||
			     !slices_sees(slices, (uint32_t)tid);
	if (cpu->run.wait_lost) {
		thread->asleep_since = UINT64_MAX;
		return;
	}
	cpu->run.has_waited = true;
	cpu->run.waited = duration(thread->woken_at, ns);
	slice_begin(&wakeup, SLICE_WAKEUP, view, thread->woken_at);
	wakeup.tid = (uint32_t)tid;
	slices_note_waker(&wakeup, thread);
	slice_end(slices, &wakeup, ns, SLICE_WHOLE);
	if (slices->before && !off_known)
		slices_end_before(slices, thread, (uint32_t)tid, view, ns, SLICE_WHOLE);
}

static int take_call(struct slices *slices, const struct plan *plan,
		     const struct tb_view *view, uint64_t ns)
{
	struct thread *thread;
	int64_t id;
	bool has;

	id = plan_number(view, plan->fields[0], &has);
	thread = has ? slices_thread(slices, view->tid) : NULL;
	if (!thread)
		return has ? -ENOMEM : 0;
	thread->asleep_since = UINT64_MAX;
	if (thread->in_call)
		end_unknown(slices, &thread->call);
	slice_begin(&thread->call, SLICE_SYSCALL, view, ns);
	thread->in_call = true;
	thread->call_losses = slices->losses;
	thread->call.number = id;
	if (is_endless(slices, view->format)) {
		thread->in_call = false;
		end_unknown(slices, &thread->call);
	}
	return 1;
}

static int take_call_exit(struct slices *slices, const struct plan *plan,
			  const struct tb_view *view, const struct cpu *cpu, uint64_t ns)
{
	struct thread *thread = map_get(&slices->threads, view->tid);
	int64_t id;
	bool has;

	id = plan_number(view, plan->fields[0], &has);
	/* the thread has entered no call since it was woken; in execve() it may get another TID */
	if (thread && !thread->in_call && has && thread->asleep_since < UINT64_MAX &&
	    slices->calls_from <= thread->woken_at &&
	    slices->unruled_from[FORM_CALL] <= thread->woken_at &&
	    (!cpu->running || cpu->run.tid == view->tid)) {
		slice_begin(&thread->call, SLICE_SYSCALL, view, thread->asleep_since);
		thread->call.number = id;
		thread->call.result = plan_number(view, plan->fields[1],
						  &thread->call.has_result);
		slice_end(slices, &thread->call, ns, SLICE_UNBEGUN);
	}
	if (thread)
		thread->asleep_since = UINT64_MAX;
	if (!thread || !thread->in_call)
		return 0;
	thread->in_call = false;
	if (!has || id != thread->call.number) {
		end_unknown(slices, &thread->call);
		return 0;
	}
	thread->call.cpu = view->cpu;
	thread->call.result = plan_number(view, plan->fields[1],
				     &thread->call.has_result);
	slice_end(slices, &thread->call, ns,
		  lost_since(slices, thread->call_losses, thread->call.begin, ns) ?
		  SLICE_LOSSY : SLICE_WHOLE);
	return 1;
}

/* ---- events ---- */

void slices_end_run(struct slices *slices, struct cpu *cpu, uint64_t ns)
{
	if (cpu->running && slices_sees(slices, cpu->run.tid))
		slice_end(slices, &cpu->run, ns, SLICE_UNENDED);
	else if (cpu->running)
		end_unknown(slices, &cpu->run);
	cpu->running = false;
}

/* It is not known any more what the CPU does */
static void drop_open(struct slices *slices, struct cpu *cpu, uint64_t ns)
{
	slices_end_run(slices, cpu, ns);
	if (cpu->softirq)
		end_unknown(slices, &cpu->in_softirq);
	slices_drop_irqs(slices, cpu, 0);
	cpu->softirq = false;
	cpu->raised = RAISED_UNKNOWN;
}

/* The state of @cpu, which never moves; NULL: no memory */
static struct cpu *cpu_of(struct slices *slices, uint32_t cpu)
{
	if (tb_array_reach(&slices->cpus, &slices->nr_cpus, cpu, sizeof(*slices->cpus)))
		return NULL;
	if (!slices->cpus[cpu])
		slices->cpus[cpu] = calloc(1, sizeof(struct cpu));
	return slices->cpus[cpu];
}

int slices_begin(struct slices *slices, uint64_t ticks)
{
	const struct spans *missing = slices->missing;
	struct cpu *cpu;
	uint64_t ns;
	uint32_t i;

	if (!slices->first_runs || ticks < missing->first)
		return 0;
	slices->first_runs = false;
	ticks = missing->first;
	if (slices_take_changes(slices, ticks))
		return -ENOMEM;
	ns = tb_trace_ns(slices->trace, ticks, slices->base);
	/* the caller leaves out what was before: no event is missing since then */
	if (slices->switches_from == missing->first)
		slices_first_event(slices, ns);
	for (i = 0; i < missing->nr_cpus && i < SLICES_CPUS_MAX; i++) {
		struct tb_view view = { .cpu = i };

		if (!spans_first_thread(missing, i, ticks, &view.tid))
			continue;
		cpu = cpu_of(slices, i);
		if (!cpu)
			return -ENOMEM;
		slice_begin(&cpu->run, SLICE_RUN, &view, ns);
		cpu->running = cpu->began_before = true;
	}
	return 1;
}

const struct slice *slices_running(const struct slices *slices, unsigned int cpu)
{
	if (cpu >= slices->nr_cpus || !slices->cpus[cpu] || !slices->cpus[cpu]->running)
		return NULL;
	return &slices->cpus[cpu]->run;
}

int64_t slices_call(const struct slices *slices, uint32_t tid, uint64_t ns)
{
	const struct thread *thread = map_get(&slices->threads, tid);

	return thread && thread->in_call &&
	       !lost_since(slices, thread->call_losses, thread->call.begin, ns) ?
	       thread->call.number : -1;
}

bool slices_all_switches(const struct slices *slices, uint64_t since)
{
	return slices->unruled_from[FORM_SWITCH] <= since;
}

const struct plan *slices_plan(struct slices *slices, const struct tb_format *format)
{
	return plan_of(&slices->plans, format);
}

/* The kernel records an event with a rule, and events of chosen threads only, in its wide form */
static void note_form(struct slices *slices, const struct tb_view *view, enum form form,
		      uint64_t ns)
{
	if (!slices->before || slices->missing->rules_known)
		return;
	if (!view->compact)
		slices->unruled_from[form] = UINT64_MAX;
	else if (slices->unruled_from[form] == UINT64_MAX)
		slices->unruled_from[form] = ns;
}

int slices_take(struct slices *slices, const struct tb_view *view, uint64_t ns)
{
	const struct plan *plan;
	struct cpu *cpu;

	if (slices_begin(slices, view->ticks) < 0 || slices_take_changes(slices, view->ticks))
		return -ENOMEM;
	/* the last record of the clocks is later than the last event */
	if (ns > slices->last && view->cpu != TB_RING_DURABLE)
		slices->last = ns;
	if (view->user || view->cpu >= SLICES_CPUS_MAX)
		return 0;
	if (!slices->begun)
		slices_first_event(slices, ns);
	cpu = cpu_of(slices, view->cpu);
	if (!cpu)
		return -ENOMEM;
	/* this interrupt may bring a packet */
	if (view->context & TB_CONTEXT_HARDIRQ && cpu->softirq && cpu->in_softirq.sends_until > ns)
		cpu->in_softirq.sends_until = ns;
	if (view->kind == TB_VIEW_LOST) {
		drop_open(slices, cpu,
			  tb_trace_ns(slices->trace, view->lost.first, slices->base));
		slices->losses++;
		return 0;
	}
	if (!view->format)
		return 0;
	plan = plan_of(&slices->plans, view->format);
	if (!plan || (slices->of_threads && slices_note_chosen(slices, plan, view) < 0))
		return -ENOMEM;
	switch (plan->role) {
	case ROLE_SWITCH:
		note_form(slices, view, FORM_SWITCH, ns);
		/* a thread does not leave the CPU in an interrupt: the end is missing */
		slices_drop_irqs(slices, cpu, 0);
		if (take_out(slices, plan, view, cpu, ns))
			return -ENOMEM;
		take_in(slices, plan, view, cpu, ns);
		return 1;
	case ROLE_WAKING:
	case ROLE_WAKEUP:
		if (plan->role == ROLE_WAKING)
			note_form(slices, view, FORM_WAKING, ns);
		else if (is_of_new_thread(view->format))
			note_form(slices, view, FORM_NEW, ns);
		return take_wake(slices, plan, view, ns);
	case ROLE_IRQ:
		return slices_take_irq(slices, plan, view, cpu, ns);
	case ROLE_IRQ_EXIT:
		return slices_take_irq_exit(slices, plan, view, cpu, ns);
	case ROLE_SOFTIRQ:
	case ROLE_SOFTIRQ_EXIT:
		return slices_take_softirq(slices, plan, view, cpu, ns);
	case ROLE_SOFTIRQ_RAISE:
		note_form(slices, view, FORM_RAISE, ns);
		slices_take_raise(slices, plan, view, cpu, ns);
		return 0;
	case ROLE_SYSCALL:
		note_form(slices, view, FORM_CALL, ns);
		return take_call(slices, plan, view, ns);
	case ROLE_SYSCALL_EXIT:
		return take_call_exit(slices, plan, view, cpu, ns);
	default:
		return 0;
	}
}

void slices_finish(struct slices *slices)
{
	const struct map *threads = &slices->threads;
	bool runs_known = slices_all_run(slices);
	struct thread *thread;
	unsigned int i;
	size_t k;

	/* the chosen part of a trace may end in a gap, before the block with its record */
	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i])
			drop_open(slices, slices->cpus[i], known_until(slices, i, slices->last));
	for (k = 0; k < threads->count; k++) {
		thread = threads->entries[k].value;
		if (!thread)
			continue;
		if (thread->in_call &&
		    !lost_since(slices, thread->call_losses, thread->call.begin, slices->last))
			slice_end(slices, &thread->call, slices->last, SLICE_UNENDED);
		slices_finish_off(slices, thread, (uint32_t)threads->entries[k].key, runs_known);
	}
}
