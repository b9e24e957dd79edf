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
#include <stdlib.h>
#include <string.h>
#include "map.h"
#include "roles.h"
#include "slices.h"
#include "spans.h"

/* Nested interrupts */
#define IRQS_MAX 8
/* Bytes of a handler's name; longer names are cut */
#define IRQ_NAME_MAX 128

/* @names: copies, because payloads of a followed trace do not last */
struct cpu {
	bool running, softirq;
	unsigned int irqs;
	struct slice run, in_softirq, irq[IRQS_MAX];
	char names[IRQS_MAX][IRQ_NAME_MAX];
};

/*
 * @awake: there was a wakeup, not only a waking; @unseen: it has run since it left the CPU, unseen;
 * @out: it has left the CPU, in state @state
 */
struct thread {
	bool in_call, woken, awake, unseen, out, has_state;
	uint64_t call_losses, woken_losses, out_losses;
	uint64_t woken_at, out_at;
	int64_t  state;
	uint32_t waker, waker_cpu;
	uint16_t waker_context;
	struct slice call;
};

/*
 * @endless: the event that ends the slice is not selected
 * @ignored: and the event itself is selected: it opens no slice
 */
struct beginning {
	bool endless, ignored;
};

struct slices {
	const struct tb_trace *trace;
	void (*each)(void *context, const struct slice *slice);
	void *context;
	uint64_t losses, last;
	enum tb_timebase base;
	const struct spans *missing;	/* NULL: losses are counted when the cursor shows them */
	uint64_t switches_since;	/* ns; not selected before; UINT64_MAX: not selected now */
	bool wakeups;			/* there are events of wakeup, not only of waking */
	bool off;			/* the caller wants SLICE_OFF */
	struct map threads;
	struct cpu **cpus;
	unsigned int nr_cpus;
	struct plans plans;
	unsigned int selection;		/* index of the next change of selected events */
	unsigned int nr_beginnings;
	struct beginning *beginnings;	/* by index of the format; NULL: all events are selected */
};

struct slices *slices_open(const struct tb_trace *trace, enum tb_timebase base,
			   void (*each)(void *context, const struct slice *slice),
			   void *context)
{
	struct slices *slices = calloc(1, sizeof(*slices));

	if (!slices)
		return NULL;
	slices->trace = trace;
	slices->base = base;
	slices->each = each;
	slices->context = context;
	return slices;
}

void slices_off(struct slices *slices)
{
	slices->off = true;
}

void slices_missing(struct slices *slices, const struct spans *missing)
{
	slices->missing = missing;
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

/* ---- slices ---- */

static void slice_begin(struct slice *slice, enum slice_kind kind,
			const struct tb_view *view, uint64_t ns)
{
	memset(slice, 0, offsetof(struct slice, event));
	slice->kind = kind;
	slice->cpu = view->cpu;
	slice->tid = view->tid;
	slice->begin = ns;
	slice->event.format = view->format;
	slice->event.payload = view->payload;
	slice->event.length = view->length;
	slice->kept = view->length && view->length <= sizeof(slice->payload);
	if (slice->kept)
		memcpy(slice->payload, view->payload, view->length);
}

/* Duration; 0 if the clock records turn time back */
static uint64_t duration(uint64_t begin, uint64_t ns)
{
	return ns > begin ? ns - begin : 0;
}

static void slice_end(struct slices *slices, struct slice *slice, uint64_t ns,
		      enum slice_doubt doubt)
{
	slice->end = ns > slice->begin ? ns : slice->begin;
	slice->doubt = doubt;
	if (slice->kept)
		slice->event.payload = slice->payload;
	slices->each(slices->context, slice);
}

/* End a slice whose end is missing: its duration is unknown */
static void end_unknown(struct slices *slices, struct slice *slice)
{
	slice_end(slices, slice, slice->begin, SLICE_UNENDED);
}

/* True if events are missing between @begin, when there were @losses losses, and now, @ns */
static bool lost_since(const struct slices *slices, uint64_t losses, uint64_t begin, uint64_t ns)
{
	return slices->missing ? spans_meet(slices->missing, begin, ns) :
				 losses != slices->losses;
}

/* True if @thread may have run since it was woken: the switch may not be recorded */
static bool may_have_run(const struct slices *slices, const struct thread *thread, uint64_t ns)
{
	return thread->woken_at < slices->switches_since ||
	       lost_since(slices, thread->woken_losses, thread->woken_at, ns);
}

static struct thread *thread_of(struct slices *slices, uint32_t tid)
{
	void **slot = map_at(&slices->threads, tid);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct thread));
	return slot ? *slot : NULL;
}

/* True if the event that ends slices of @format is not selected now */
static bool is_endless(const struct slices *slices, const struct tb_format *format)
{
	return format->index < slices->nr_beginnings && slices->beginnings[format->index].endless;
}

/* True if, in addition, @format is selected: then its events open no slice */
static bool is_ignored(const struct slices *slices, const struct tb_format *format)
{
	return format->index < slices->nr_beginnings && slices->beginnings[format->index].ignored;
}

/* ---- threads ---- */

/* The time up to which the trace shows what @cpu does, at most @ns */
static uint64_t known_until(const struct slices *slices, unsigned int cpu, uint64_t ns)
{
	return slices->missing ? spans_untold(slices->missing, cpu, ns) : ns;
}

static void note_waker(struct slice *slice, const struct thread *thread)
{
	slice->number = thread->waker;
	slice->context = thread->waker_context;
	slice->waker_cpu = thread->waker_cpu;
}

/* End a sleep: the thread runs again, or the trace ends */
static void end_off(struct slices *slices, struct thread *thread, uint32_t tid,
		    const struct tb_view *view, uint64_t ns, enum slice_doubt doubt)
{
	struct slice off;

	slice_begin(&off, SLICE_OFF, view, thread->out_at);
	off.tid = tid;
	off.result = thread->state;
	off.has_result = thread->has_state;
	if (thread->woken && thread->woken_at <= ns && doubt != SLICE_LOSSY &&
	    !may_have_run(slices, thread, ns)) {
		note_waker(&off, thread);
		off.has_waited = true;
		/* it may have been woken before it had left the CPU */
		off.waited = duration(thread->woken_at > thread->out_at ?
				      thread->woken_at : thread->out_at, ns);
	}
	thread->out = false;
	slice_end(slices, &off, ns, doubt);
}

/* End a sleep without an end in the trace: at @ns, or where that event may be missing */
static void end_off_open(struct slices *slices, struct thread *thread, uint32_t tid, uint64_t ns)
{
	const struct tb_view none = { .cpu = TB_RING_USER };
	const struct spans *missing = slices->missing;
	uint64_t certain = ns;
	unsigned int i;
	size_t at;

	if (missing) {
		at = spans_from(missing, thread->out_at);
		if (at < missing->count && missing->list[at].first < certain)
			certain = missing->list[at].first;
		for (i = 0; i < missing->nr_cpus; i++)
			if (missing->cpus[i].any && missing->cpus[i].end < certain)
				certain = missing->cpus[i].end;
	} else if (lost_since(slices, thread->out_losses, thread->out_at, ns)) {
		certain = thread->out_at;
	}
	end_off(slices, thread, tid, &none, certain > thread->out_at ? certain : thread->out_at,
		SLICE_UNENDED);
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
	thread = thread_of(slices, (uint32_t)tid);
	if (!thread)
		return -ENOMEM;
	slices->wakeups |= plan->role == ROLE_WAKEUP;
	if (thread->woken && !may_have_run(slices, thread, ns)) {
		/* the first event counts: waking comes before wakeup */
		if (plan->role == ROLE_WAKEUP && !thread->awake) {
			thread->awake = true;
			return 0;
		}
		/* a runnable thread is not woken: it has run since, and sleeps again */
		thread->unseen = true;
	}
	/* this wake-up is for a later sleep, whose beginning is not in the trace */
	if (thread->woken && thread->out && thread->woken_at >= thread->out_at)
		end_off_open(slices, thread, (uint32_t)tid, ns);
	thread->woken = true;
	thread->awake = plan->role == ROLE_WAKEUP;
	thread->woken_losses = slices->losses;
	thread->woken_at = ns;
	thread->waker = view->tid;
	thread->waker_cpu = view->cpu;
	thread->waker_context = view->context;
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
	bool has_state, has_tid;
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
	if (slices->off && has_tid && tid && !(has_state && state & STATE_DEAD)) {
		thread = thread_of(slices, (uint32_t)tid);
		if (!thread)
			return -ENOMEM;
		thread->out = true;
		thread->out_at = ns;
		thread->out_losses = slices->losses;
		thread->state = state;
		thread->has_state = has_state;
	}
	if (!cpu->running)
		return 0;
	cpu->running = false;
	cpu->run.result = state;
	cpu->run.has_result = has_state;
	/* if another thread was running, events are missing without a record of a loss */
	if (has_tid && (uint32_t)tid == cpu->run.tid)
		slice_end(slices, &cpu->run, ns, SLICE_WHOLE);
	else
		end_unknown(slices, &cpu->run);
	return 0;
}

static void take_in(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct thread *thread;
	struct slice wakeup;
	int64_t tid;
	bool has;

	tid = plan_number(view, plan->fields[1], &has);
	if (!has)
		return;
	slice_begin(&cpu->run, SLICE_RUN, view, ns);
	cpu->running = true;
	cpu->run.tid = (uint32_t)tid;
	cpu->run.prio = plan_number(view, plan->fields[3], &cpu->run.has_prio);
	thread = map_get(&slices->threads, (uint32_t)tid);
	if (thread && thread->out)
		end_off(slices, thread, (uint32_t)tid, view, ns,
			thread->unseen ||
			lost_since(slices, thread->out_losses, thread->out_at, ns) ?
			SLICE_LOSSY : SLICE_WHOLE);
	if (!thread)
		return;
	cpu->run.unseen = thread->unseen;
	thread->unseen = false;
	if (!thread->woken)
		return;
	thread->woken = false;
	cpu->run.wait_lost = may_have_run(slices, thread, ns);
	if (cpu->run.wait_lost)
		return;
	cpu->run.has_waited = true;
	cpu->run.waited = duration(thread->woken_at, ns);
	slice_begin(&wakeup, SLICE_WAKEUP, view, thread->woken_at);
	wakeup.tid = (uint32_t)tid;
	note_waker(&wakeup, thread);
	slice_end(slices, &wakeup, ns, SLICE_WHOLE);
}

static int take_call(struct slices *slices, const struct plan *plan,
		     const struct tb_view *view, uint64_t ns)
{
	struct thread *thread;
	int64_t id;
	bool has;

	id = plan_number(view, plan->fields[0], &has);
	thread = has ? thread_of(slices, view->tid) : NULL;
	if (!thread)
		return has ? -ENOMEM : 0;
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
			  const struct tb_view *view, uint64_t ns)
{
	struct thread *thread = map_get(&slices->threads, view->tid);
	int64_t id;
	bool has;

	id = plan_number(view, plan->fields[0], &has);
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

/* ---- interrupts ---- */

/* True if @slice is the interrupt that @view begins or ends */
static bool is_irq(const struct slice *slice, const struct plan *plan,
		   const struct tb_view *view, int64_t irq)
{
	if (slice->number != irq ||
	    strcmp(slice->event.format->system, view->format->system))
		return false;
	return !plan->fixed || (slice->name_length == plan->fixed_length &&
				!memcmp(slice->name, plan->fixed,
					plan->fixed_length));
}

/* Position of that interrupt on the CPU, from 1; 0: it is not open */
static unsigned int find_irq(const struct cpu *cpu, const struct plan *plan,
			     const struct tb_view *view, int64_t irq)
{
	unsigned int at = cpu->irqs;

	while (at && !is_irq(&cpu->irq[at - 1], plan, view, irq))
		at--;
	return at;
}

/* Drop all but the first @keep interrupts: their ends are missing */
static void drop_irqs(struct slices *slices, struct cpu *cpu, unsigned int keep)
{
	while (cpu->irqs > keep)
		end_unknown(slices, &cpu->irq[--cpu->irqs]);
}

/* Drop interrupts whose end is not selected, and those nested in them */
static void end_irqs(struct slices *slices, struct cpu *cpu)
{
	unsigned int at;

	for (at = 0; at < cpu->irqs; at++)
		if (is_endless(slices, cpu->irq[at].event.format))
			drop_irqs(slices, cpu, at);
}

static int take_irq(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct slice *slice;
	unsigned int at;
	int64_t irq;
	bool has;

	irq = plan_number(view, plan->fields[0], &has);
	/* an interrupt does not interrupt itself: its end is missing */
	at = has ? find_irq(cpu, plan, view, irq) : 0;
	if (at)
		drop_irqs(slices, cpu, at - 1);
	end_irqs(slices, cpu);
	if (!has || cpu->irqs == IRQS_MAX)
		return 0;
	slice = &cpu->irq[cpu->irqs];
	slice_begin(slice, SLICE_IRQ, view, ns);
	slice->number = irq;
	if (plan->fixed) {
		slice->name = plan->fixed;
		slice->name_length = plan->fixed_length;
	} else if (plan->name) {
		tb_field_str(view, plan->name, &slice->name, &slice->name_length);
	}
	if (slice->name && slice->name_length > IRQ_NAME_MAX)
		slice->name_length = IRQ_NAME_MAX;
	if (slice->name)
		slice->name = memcpy(cpu->names[cpu->irqs], slice->name, slice->name_length);
	slice->depth = cpu->irqs++;
	if (is_ignored(slices, view->format))
		drop_irqs(slices, cpu, slice->depth);
	return 1;
}

static int take_irq_exit(struct slices *slices, const struct plan *plan,
			 const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct slice *slice;
	unsigned int at;
	int64_t irq;
	bool has;

	irq = plan_number(view, plan->fields[0], &has);
	at = has ? find_irq(cpu, plan, view, irq) : 0;
	if (!at)
		return 0;
	drop_irqs(slices, cpu, at);
	slice = &cpu->irq[--cpu->irqs];
	slice->result = plan_number(view, plan->fields[1], &slice->has_result);
	slice_end(slices, slice, ns, SLICE_WHOLE);
	return 1;
}

static int take_softirq(struct slices *slices, const struct plan *plan,
			const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	int64_t vector;
	bool has;

	vector = plan_number(view, plan->fields[0], &has);
	if (!has)
		return 0;
	if (plan->role == ROLE_SOFTIRQ) {
		if (cpu->softirq)
			end_unknown(slices, &cpu->in_softirq);
		slice_begin(&cpu->in_softirq, SLICE_SOFTIRQ, view, ns);
		cpu->in_softirq.number = vector;
		cpu->softirq = !is_ignored(slices, view->format);
		if (!cpu->softirq)
			end_unknown(slices, &cpu->in_softirq);
		return 1;
	}
	if (!cpu->softirq)
		return 0;
	cpu->softirq = false;
	if (cpu->in_softirq.number != vector) {
		end_unknown(slices, &cpu->in_softirq);
		return 0;
	}
	slice_end(slices, &cpu->in_softirq, ns, SLICE_WHOLE);
	return 1;
}

/* ---- events ---- */

/* It is not known any more what the CPU does */
static void drop_open(struct slices *slices, struct cpu *cpu, uint64_t ns)
{
	if (cpu->running)
		slice_end(slices, &cpu->run, ns, SLICE_UNENDED);
	if (cpu->softirq)
		end_unknown(slices, &cpu->in_softirq);
	drop_irqs(slices, cpu, 0);
	cpu->running = cpu->softirq = false;
}

/* The state of @cpu, which never moves; NULL: no memory */
static struct cpu *cpu_of(struct slices *slices, uint32_t cpu)
{
	struct cpu **grown;

	if (cpu >= slices->nr_cpus) {
		grown = realloc(slices->cpus, (cpu + 1) * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + slices->nr_cpus, 0,
		       (cpu + 1 - slices->nr_cpus) * sizeof(*grown));
		slices->cpus = grown;
		slices->nr_cpus = cpu + 1;
	}
	if (!slices->cpus[cpu])
		slices->cpus[cpu] = calloc(1, sizeof(struct cpu));
	return slices->cpus[cpu];
}

const struct slice *slices_running(const struct slices *slices, unsigned int cpu)
{
	if (cpu >= slices->nr_cpus || !slices->cpus[cpu] || !slices->cpus[cpu]->running)
		return NULL;
	return &slices->cpus[cpu]->run;
}

const struct plan *slices_plan(struct slices *slices, const struct tb_format *format)
{
	return plan_of(&slices->plans, format);
}

/* ---- selected events ---- */

static const enum role ends[ROLES] = {
	[ROLE_IRQ] = ROLE_IRQ_EXIT,
	[ROLE_SOFTIRQ] = ROLE_SOFTIRQ_EXIT,
	[ROLE_SYSCALL] = ROLE_SYSCALL_EXIT,
};

static bool same_text(const char *one, size_t one_length, const char *other, size_t other_length)
{
	return one_length == other_length && (!one_length || !memcmp(one, other, one_length));
}

/* True if @other ends slices that @format, with @plan, begins */
static bool ends_with(struct slices *slices, const struct plan *plan,
		      const struct tb_format *format, const struct tb_format *other)
{
	const struct plan *end = plan_of(&slices->plans, other);

	return end && end->role == ends[plan->role] && !strcmp(other->system, format->system) &&
	       same_text(plan->fixed, plan->fixed_length, end->fixed, end->fixed_length);
}

/* True if an event that ends slices of @format is selected from change number @index on */
static bool has_end(struct slices *slices, unsigned int index, const struct tb_format *format)
{
	unsigned int i, count = tb_trace_formats(slices->trace);
	const struct plan *plan = plan_of(&slices->plans, format);
	const struct tb_format *other;
	struct plan begins;

	if (!plan || !ends[plan->role])
		return true;
	begins = *plan;		/* a copy: plan_of() may move it */
	for (i = 0; i < count; i++) {
		other = tb_trace_format_at(slices->trace, i);
		if (tb_trace_selects(slices->trace, index, other->id) &&
		    ends_with(slices, &begins, format, other))
			return true;
	}
	return false;
}

/* Switches are not selected from @ns on: end runs and sleeps */
static void stop_running(struct slices *slices, uint64_t ns)
{
	const struct map *threads = &slices->threads;
	struct thread *thread;
	unsigned int i;
	size_t k;

	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i] && slices->cpus[i]->running) {
			slices->cpus[i]->running = false;
			slice_end(slices, &slices->cpus[i]->run, known_until(slices, i, ns),
				  SLICE_UNENDED);
		}
	for (k = 0; k < threads->nr_slots; k++) {
		thread = threads->slots[k].value;
		if (thread && thread->out)
			end_off_open(slices, thread, (uint32_t)threads->slots[k].key, ns);
	}
}

/* End interrupts that were open at the last change, or began after it without being selected */
static void end_interrupts(struct slices *slices)
{
	unsigned int i;
	struct cpu *cpu;

	for (i = 0; i < slices->nr_cpus; i++) {
		cpu = slices->cpus[i];
		if (!cpu)
			continue;
		end_irqs(slices, cpu);
		if (cpu->softirq && is_endless(slices, cpu->in_softirq.event.format)) {
			cpu->softirq = false;
			end_unknown(slices, &cpu->in_softirq);
		}
	}
}

/* End calls that are open at @ns if their end is not selected any more */
static void end_calls(struct slices *slices, uint64_t ns)
{
	const struct map *threads = &slices->threads;
	struct thread *thread;
	size_t k;

	for (k = 0; k < threads->nr_slots; k++) {
		thread = threads->slots[k].value;
		if (!thread || !thread->in_call || !is_endless(slices, thread->call.event.format))
			continue;
		thread->in_call = false;
		slice_end(slices, &thread->call, ns, SLICE_UNENDED);
	}
}

/* Apply change number @index of selected events, at @ns */
static int take_change(struct slices *slices, unsigned int index, uint64_t ns)
{
	unsigned int i, count = tb_trace_formats(slices->trace);
	const struct tb_format *format;
	const struct plan *plan;
	struct beginning *grown;
	bool switches = false;

	end_interrupts(slices);
	grown = realloc(slices->beginnings, (count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	slices->beginnings = grown;
	slices->nr_beginnings = count;
	memset(grown, 0, count * sizeof(*grown));
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(slices->trace, i);
		plan = plan_of(&slices->plans, format);
		if (!plan)
			return -ENOMEM;
		switches |= plan->role == ROLE_SWITCH &&
			    tb_trace_selects(slices->trace, index, format->id);
		if (format->index >= count)
			continue;
		grown[format->index].endless = !has_end(slices, index, format);
		grown[format->index].ignored = grown[format->index].endless &&
					       tb_trace_selects(slices->trace, index, format->id);
	}
	end_calls(slices, ns);
	if (!switches) {
		stop_running(slices, ns);
		slices->switches_since = UINT64_MAX;
	} else if (slices->switches_since == UINT64_MAX) {
		slices->switches_since = ns;
	}
	return 0;
}

/* Apply changes up to @ticks; in a followed trace they may arrive later */
static int take_changes(struct slices *slices, uint64_t ticks)
{
	uint64_t from;

	while (!tb_trace_selection(slices->trace, slices->selection, &from) && from <= ticks)
		if (take_change(slices, slices->selection++,
				tb_trace_ns(slices->trace, from, slices->base)))
			return -ENOMEM;
	return 0;
}

int slices_take(struct slices *slices, const struct tb_view *view, uint64_t ns)
{
	const struct plan *plan;
	struct cpu *cpu;

	if (take_changes(slices, view->ticks))
		return -ENOMEM;
	if (ns > slices->last)
		slices->last = ns;
	if (view->user || view->cpu >= SLICES_CPUS_MAX)
		return 0;
	cpu = cpu_of(slices, view->cpu);
	if (!cpu)
		return -ENOMEM;
	if (view->kind == TB_VIEW_LOST) {
		drop_open(slices, cpu,
			  tb_trace_ns(slices->trace, view->lost.first, slices->base));
		slices->losses++;
		return 0;
	}
	if (!view->format)
		return 0;
	plan = plan_of(&slices->plans, view->format);
	if (!plan)
		return -ENOMEM;
	switch (plan->role) {
	case ROLE_SWITCH:
		/* a thread does not leave the CPU in an interrupt: the end is missing */
		drop_irqs(slices, cpu, 0);
		if (take_out(slices, plan, view, cpu, ns))
			return -ENOMEM;
		take_in(slices, plan, view, cpu, ns);
		return 1;
	case ROLE_WAKING:
	case ROLE_WAKEUP:
		return take_wake(slices, plan, view, ns);
	case ROLE_IRQ:
		return take_irq(slices, plan, view, cpu, ns);
	case ROLE_IRQ_EXIT:
		return take_irq_exit(slices, plan, view, cpu, ns);
	case ROLE_SOFTIRQ:
	case ROLE_SOFTIRQ_EXIT:
		return take_softirq(slices, plan, view, cpu, ns);
	case ROLE_SYSCALL:
		return take_call(slices, plan, view, ns);
	case ROLE_SYSCALL_EXIT:
		return take_call_exit(slices, plan, view, ns);
	default:
		return 0;
	}
}

void slices_finish(struct slices *slices)
{
	const struct map *threads = &slices->threads;
	struct thread *thread;
	unsigned int i;
	size_t k;

	/* the chosen part of a trace may end in a gap, before the block with its record */
	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i])
			drop_open(slices, slices->cpus[i], known_until(slices, i, slices->last));
	for (k = 0; k < threads->nr_slots; k++) {
		thread = threads->slots[k].value;
		if (thread && thread->in_call &&
		    !lost_since(slices, thread->call_losses, thread->call.begin,
				slices->last))
			slice_end(slices, &thread->call, slices->last, SLICE_UNENDED);
		if (thread && thread->out)
			end_off_open(slices, thread, (uint32_t)threads->slots[k].key,
				     slices->last);
	}
}
