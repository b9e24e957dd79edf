// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lasts, from the events at which it begins and ends.
 *
 * Where events of a CPU are missing, nobody knows what went on there: who ran, runs until then;
 * interrupts are forgotten.  A system call may have ended, and the same one begun again, on a
 * CPU where events are missing, so one that is open meanwhile says so.  Of who was woken before
 * it is not known any more whether it has run already.
 *
 * While the event is not recorded that ends a slice, the one that begins it opens none.  A call
 * that is open when that event is disabled ends there, as far as is known.  An interrupt may still
 * end: the record of a change is written just before the change takes effect.  So interrupts that
 * are open at a change are given up at the next one only, and what begins an interrupt opens one
 * although neither it nor its end is selected any more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map.h"
#include "roles.h"
#include "slices.h"
#include "spans.h"

/* Interrupts in interrupts */
#define IRQS_MAX 8
/* Bytes of a handler's name; what is longer is cut */
#define IRQ_NAME_MAX 128

/* @names: of a recording that is read while it is made, payloads do not last */
struct cpu {
	bool running, softirq;
	unsigned int irqs;
	struct slice run, in_softirq, irq[IRQS_MAX];
	char names[IRQS_MAX][IRQ_NAME_MAX];
};

/*
 * @awake: it has not only been told to wake up; @unseen: it has run since it went; @out: it has gone, in
 * state @state
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
 * @endless: the event that would end it is not selected
 * @ignored: and the event itself is: it opens no slice
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
	const struct spans *missing;	/* NULL: what is missing is known when it is told */
	uint64_t switches_since;	/* ns; before that they are not selected; UINT64_MAX: now */
	bool wakeups;			/* there are events of them, not of waking alone */
	bool off;			/* SLICE_OFF is wanted */
	struct map threads;
	struct cpu **cpus;
	unsigned int nr_cpus;
	struct plans plans;
	unsigned int selection;		/* the next change of what is recorded */
	unsigned int nr_beginnings;
	struct beginning *beginnings;	/* by format; NULL: all ends are recorded */
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
		/* no one goes in an interrupt, and who has exited does not come back from a call */
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

	/* it is asked again when there is an event */
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

static void begin(struct slice *slice, enum slice_kind kind,
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

/* How long; by the clock records time may go back */
static uint64_t since(uint64_t begin, uint64_t ns)
{
	return ns > begin ? ns - begin : 0;
}

static void end(struct slices *slices, struct slice *slice, uint64_t ns,
		enum slice_doubt doubt)
{
	slice->end = ns > slice->begin ? ns : slice->begin;
	slice->doubt = doubt;
	if (slice->kept)
		slice->event.payload = slice->payload;
	slices->each(slices->context, slice);
}

/* It lasted at most until now; how long is unknown. */
static void end_unknown(struct slices *slices, struct slice *slice)
{
	end(slices, slice, slice->begin, SLICE_UNENDED);
}

/* Are events missing since @begin, when there had been so many @losses?  It is @ns now */
static bool lost_since(const struct slices *slices, uint64_t losses, uint64_t begin, uint64_t ns)
{
	return slices->missing ? spans_meet(slices->missing, begin, ns) :
				 losses != slices->losses;
}

/* Return true if @thread may have run since it was woken: a switch may not be recorded */
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

/* Is the event not recorded at this time that would end what begins with one of @format? */
static bool is_endless(const struct slices *slices, const struct tb_format *format)
{
	return format->index < slices->nr_beginnings && slices->beginnings[format->index].endless;
}

/* Is it recorded itself, so that it was not merely late?  Then it opens no slice */
static bool is_ignored(const struct slices *slices, const struct tb_format *format)
{
	return format->index < slices->nr_beginnings && slices->beginnings[format->index].ignored;
}

/* ---- threads ---- */

/* Return the time up to which the trace shows what @cpu does, at most @ns */
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

/* It runs again, or the trace ends */
static void end_off(struct slices *slices, struct thread *thread, uint32_t tid,
		    const struct tb_view *view, uint64_t ns, enum slice_doubt doubt)
{
	struct slice off;

	begin(&off, SLICE_OFF, view, thread->out_at);
	off.tid = tid;
	off.result = thread->state;
	off.has_result = thread->has_state;
	if (thread->woken && thread->woken_at <= ns && doubt != SLICE_LOSSY &&
	    !may_have_run(slices, thread, ns)) {
		note_waker(&off, thread);
		off.has_waited = true;
		/* told to wake up before it had gone */
		off.waited = since(thread->woken_at > thread->out_at ?
				   thread->woken_at : thread->out_at, ns);
	}
	thread->out = false;
	end(slices, &off, ns, doubt);
}

/* End a sleep of which the trace has no end: at @ns, or where the event may be missing */
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
		/* the first that wakes it counts: waking comes before wakeup */
		if (plan->role == ROLE_WAKEUP && !thread->awake) {
			thread->awake = true;
			return 0;
		}
		/* who is ready to run is not woken: it has run since, and is asleep again */
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
 * Who goes.  That it was told to wake up before counts if it is not awake yet: it was on its way
 * to sleep.  Else it had not gone to sleep at all then.
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
	/* and what has exited does not come back from its last call */
	if (thread && thread->in_call && has_state && state & STATE_DEAD) {
		thread->in_call = false;
		end(slices, &thread->call, ns, SLICE_UNENDED);
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
	/* another than the one that came: events are missing, and no loss tells of them */
	if (has_tid && (uint32_t)tid == cpu->run.tid)
		end(slices, &cpu->run, ns, SLICE_WHOLE);
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
	begin(&cpu->run, SLICE_RUN, view, ns);
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
	cpu->run.waited = since(thread->woken_at, ns);
	begin(&wakeup, SLICE_WAKEUP, view, thread->woken_at);
	wakeup.tid = (uint32_t)tid;
	note_waker(&wakeup, thread);
	end(slices, &wakeup, ns, SLICE_WHOLE);
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
	begin(&thread->call, SLICE_SYSCALL, view, ns);
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
	end(slices, &thread->call, ns,
	    lost_since(slices, thread->call_losses, thread->call.begin, ns) ?
	    SLICE_LOSSY : SLICE_WHOLE);
	return 1;
}

/* ---- interrupts ---- */

/* Is it the one that @view begins or ends? */
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

/* Where the one that @view begins or ends is, from 1; 0: it is not there */
static unsigned int find_irq(const struct cpu *cpu, const struct plan *plan,
			     const struct tb_view *view, int64_t irq)
{
	unsigned int at = cpu->irqs;

	while (at && !is_irq(&cpu->irq[at - 1], plan, view, irq))
		at--;
	return at;
}

/* All but the first @keep have ended, and that is not in the trace */
static void drop_irqs(struct slices *slices, struct cpu *cpu, unsigned int keep)
{
	while (cpu->irqs > keep)
		end_unknown(slices, &cpu->irq[--cpu->irqs]);
}

/* Those whose end is not recorded, and what is in them */
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
	/* none interrupts itself: where recording begins there may be beginnings alone */
	at = has ? find_irq(cpu, plan, view, irq) : 0;
	if (at)
		drop_irqs(slices, cpu, at - 1);
	end_irqs(slices, cpu);
	if (!has || cpu->irqs == IRQS_MAX)
		return 0;
	slice = &cpu->irq[cpu->irqs];
	begin(slice, SLICE_IRQ, view, ns);
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
	end(slices, slice, ns, SLICE_WHOLE);
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
		begin(&cpu->in_softirq, SLICE_SOFTIRQ, view, ns);
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
	end(slices, &cpu->in_softirq, ns, SLICE_WHOLE);
	return 1;
}

/* ---- all of them ---- */

/* What goes on there is not known any more */
static void forget(struct slices *slices, struct cpu *cpu, uint64_t ns)
{
	if (cpu->running)
		end(slices, &cpu->run, ns, SLICE_UNENDED);
	if (cpu->softirq)
		end_unknown(slices, &cpu->in_softirq);
	drop_irqs(slices, cpu, 0);
	cpu->running = cpu->softirq = false;
}

/* What is known of @cpu stays where it is; NULL: no memory */
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

/* ---- what is recorded ---- */

static const enum role ends[ROLES] = {
	[ROLE_IRQ] = ROLE_IRQ_EXIT,
	[ROLE_SOFTIRQ] = ROLE_SOFTIRQ_EXIT,
	[ROLE_SYSCALL] = ROLE_SYSCALL_EXIT,
};

static bool same_text(const char *one, size_t one_length, const char *other, size_t other_length)
{
	return one_length == other_length && (!one_length || !memcmp(one, other, one_length));
}

/* Does what begins with @format of @plan end with @other? */
static bool ends_with(struct slices *slices, const struct plan *plan,
		      const struct tb_format *format, const struct tb_format *other)
{
	const struct plan *end = plan_of(&slices->plans, other);

	return end && end->role == ends[plan->role] && !strcmp(other->system, format->system) &&
	       same_text(plan->fixed, plan->fixed_length, end->fixed, end->fixed_length);
}

/* From change number @index on: is the event recorded with which ends what @format begins? */
static bool has_end(struct slices *slices, unsigned int index, const struct tb_format *format)
{
	unsigned int i, count = tb_trace_formats(slices->trace);
	const struct plan *plan = plan_of(&slices->plans, format);
	const struct tb_format *other;
	struct plan begins;

	if (!plan || !ends[plan->role])
		return true;
	begins = *plan;		/* others may move it */
	for (i = 0; i < count; i++) {
		other = tb_trace_format_at(slices->trace, i);
		if (tb_trace_selects(slices->trace, index, other->id) &&
		    ends_with(slices, &begins, format, other))
			return true;
	}
	return false;
}

/* Switches are not recorded any more from @ns on */
static void stop_running(struct slices *slices, uint64_t ns)
{
	const struct map *threads = &slices->threads;
	struct thread *thread;
	unsigned int i;
	size_t k;

	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i] && slices->cpus[i]->running) {
			slices->cpus[i]->running = false;
			end(slices, &slices->cpus[i]->run, known_until(slices, i, ns),
			    SLICE_UNENDED);
		}
	for (k = 0; k < threads->nr_slots; k++) {
		thread = threads->slots[k].value;
		if (thread && thread->out)
			end_off_open(slices, thread, (uint32_t)threads->slots[k].key, ns);
	}
}

/* Interrupts that were open at the change before, or began after it without being selected */
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

/* Calls that are open at @ns and are not going to be ended; they lasted until then */
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
		end(slices, &thread->call, ns, SLICE_UNENDED);
	}
}

/* Change number @index of what is recorded, at @ns */
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

/* Takes what of that has changed until @ticks; in a trace that is being made it may come later */
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
		forget(slices, cpu,
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
		/* who is in an interrupt does not go */
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

	/* a part may end while events are missing, before the trace tells of that */
	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i])
			forget(slices, slices->cpus[i], known_until(slices, i, slices->last));
	for (k = 0; k < threads->nr_slots; k++) {
		thread = threads->slots[k].value;
		if (thread && thread->in_call &&
		    !lost_since(slices, thread->call_losses, thread->call.begin,
				slices->last))
			end(slices, &thread->call, slices->last, SLICE_UNENDED);
		if (thread && thread->out)
			end_off_open(slices, thread, (uint32_t)threads->slots[k].key,
				     slices->last);
	}
}
