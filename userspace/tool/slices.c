// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lasts, from the events at which it begins and ends.
 *
 * Where events of a CPU are missing, nobody knows what went on there: who ran, runs until then;
 * interrupts are forgotten.  A system call may have ended, and the same one begun again, on a
 * CPU where events are missing, so one that is open meanwhile says so.  Of who was woken before
 * it is not known any more whether it has run already.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map.h"
#include "slices.h"

/* Interrupts in interrupts */
#define IRQS_MAX 8
/* EXIT_DEAD, EXIT_ZOMBIE, in prev_state of sched_switch */
#define STATE_DEAD 0x30

enum role {
	ROLE_NONE, ROLE_SWITCH, ROLE_WAKING, ROLE_WAKEUP, ROLE_IRQ, ROLE_IRQ_EXIT,
	ROLE_SOFTIRQ, ROLE_SOFTIRQ_EXIT, ROLE_SYSCALL, ROLE_SYSCALL_EXIT,
};

/**
 * struct plan - what a format is here
 * @fields: its numbers, by role: see roles[]
 * @name: a text in it, or NULL
 * @fixed: what the interrupt is called, of events for one kind of them
 */
struct plan {
	enum role role;
	const struct tb_format_field *fields[4];
	const struct tb_format_field *name;
	const char *fixed;
	size_t fixed_length;
};

struct cpu {
	bool running, softirq;
	unsigned int irqs;
	struct slice run, in_softirq, irq[IRQS_MAX];
};

/* @awake: it has not only been told to wake up; @out: it has gone, in state @state */
struct thread {
	bool in_call, woken, awake, out, has_state;
	uint64_t call_losses, woken_losses, out_losses;
	uint64_t woken_at, out_at;
	int64_t  state;
	uint32_t waker;
	struct slice call;
};

struct slices {
	const struct tb_trace *trace;
	void (*each)(void *context, const struct slice *slice);
	void *context;
	uint64_t losses, last;
	bool wakeups;			/* there are events of them, not of waking alone */
	bool off;			/* SLICE_OFF is wanted */
	struct map threads;
	struct cpu *cpus;
	unsigned int nr_cpus;
	struct plan plans[];
};

/* ---- formats ---- */

static const struct {
	const char *system, *name;
	enum role role;
	const char *fields[4];
} roles[] = {
	{ "sched", "sched_switch", ROLE_SWITCH,
	  { "prev_pid", "next_pid", "prev_state", "next_prio" } },
	{ "sched", "sched_waking", ROLE_WAKING, { "pid" } },
	{ "sched", "sched_wakeup", ROLE_WAKEUP, { "pid" } },
	{ "sched", "sched_wakeup_new", ROLE_WAKEUP, { "pid" } },
	{ "irq", "irq_handler_entry", ROLE_IRQ, { "irq" } },
	{ "irq", "irq_handler_exit", ROLE_IRQ_EXIT, { "irq", "ret" } },
	{ "irq", "softirq_entry", ROLE_SOFTIRQ, { "vec" } },
	{ "irq", "softirq_exit", ROLE_SOFTIRQ_EXIT, { "vec" } },
	{ "raw_syscalls", "sys_enter", ROLE_SYSCALL, { "id", "tid" } },
	{ "raw_syscalls", "sys_exit", ROLE_SYSCALL_EXIT, { "id", "ret" } },
};

/* "local_timer" of irq_vectors:local_timer_entry and _exit */
static void plan_vector(struct plan *plan, const struct tb_format *format)
{
	const char *end = strrchr(format->name, '_');

	plan->fields[0] = tb_format_field(format, "vector");
	if (strcmp(format->system, "irq_vectors") || !end || !plan->fields[0])
		return;
	plan->fixed = format->name;
	plan->fixed_length = (size_t)(end - format->name);
	if (!strcmp(end, "_entry"))
		plan->role = ROLE_IRQ;
	else if (!strcmp(end, "_exit"))
		plan->role = ROLE_IRQ_EXIT;
}

static void plan_make(struct plan *plan, const struct tb_format *format)
{
	size_t i, k;

	plan_vector(plan, format);
	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(format->name, roles[i].name) ||
		    strcmp(format->system, roles[i].system))
			continue;
		for (k = 0; k < 4 && roles[i].fields[k]; k++)
			plan->fields[k] = tb_format_field(format,
							  roles[i].fields[k]);
		if (!plan->fields[0] ||
		    (roles[i].role == ROLE_SWITCH && !plan->fields[1]))
			return;
		plan->role = roles[i].role;
		plan->name = tb_format_field(format, "name");
	}
}

struct slices *slices_open(const struct tb_trace *trace,
			   void (*each)(void *context, const struct slice *slice),
			   void *context)
{
	unsigned int count = tb_trace_formats(trace), i;
	struct slices *slices;

	slices = calloc(1, sizeof(*slices) + count * sizeof(slices->plans[0]));
	if (!slices)
		return NULL;
	slices->trace = trace;
	slices->each = each;
	slices->context = context;
	slices->nr_cpus = tb_trace_nr_cpus(trace);
	slices->cpus = calloc(slices->nr_cpus + 1, sizeof(*slices->cpus));
	if (!slices->cpus) {
		free(slices);
		return NULL;
	}
	for (i = 0; i < count; i++)
		plan_make(&slices->plans[i], tb_trace_format_at(trace, i));
	return slices;
}

void slices_off(struct slices *slices)
{
	slices->off = true;
}

bool slices_wants(const struct slices *slices, const struct tb_format *format,
		  unsigned int kinds)
{
	static const unsigned int made_of[] = {
		/* who has exited does not come back from its last call */
		[ROLE_SWITCH] = 1 << SLICE_RUN | 1 << SLICE_WAKEUP |
				1 << SLICE_OFF | 1 << SLICE_SYSCALL,
		[ROLE_WAKING] = 1 << SLICE_RUN | 1 << SLICE_WAKEUP | 1 << SLICE_OFF,
		[ROLE_WAKEUP] = 1 << SLICE_RUN | 1 << SLICE_WAKEUP | 1 << SLICE_OFF,
		[ROLE_IRQ] = 1 << SLICE_IRQ,
		[ROLE_IRQ_EXIT] = 1 << SLICE_IRQ,
		[ROLE_SOFTIRQ] = 1 << SLICE_SOFTIRQ,
		[ROLE_SOFTIRQ_EXIT] = 1 << SLICE_SOFTIRQ,
		[ROLE_SYSCALL] = 1 << SLICE_SYSCALL,
		[ROLE_SYSCALL_EXIT] = 1 << SLICE_SYSCALL,
	};

	return made_of[slices->plans[format->index].role] & kinds;
}

void slices_close(struct slices *slices)
{
	if (!slices)
		return;
	map_free(&slices->threads, free);
	free(slices->cpus);
	free(slices);
}

/* ---- slices ---- */

static int64_t number(const struct tb_view *view,
		      const struct tb_format_field *field, bool *has)
{
	uint64_t value = 0;

	*has = field && !tb_field_u64(view, field, &value);
	return (int64_t)value;
}

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
}

static void end(struct slices *slices, struct slice *slice, uint64_t ns,
		enum slice_doubt doubt)
{
	slice->end = ns > slice->begin ? ns : slice->begin;
	slice->doubt = doubt;
	slices->each(slices->context, slice);
}

/* It did not last longer than until now, and nobody knows whether as long */
static void end_unknown(struct slices *slices, struct slice *slice)
{
	end(slices, slice, slice->begin, SLICE_UNENDED);
}

static struct thread *thread_of(struct slices *slices, uint32_t tid)
{
	void **slot = map_at(&slices->threads, tid);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct thread));
	return slot ? *slot : NULL;
}

/* ---- threads ---- */

static int take_wake(struct slices *slices, const struct plan *plan,
		     const struct tb_view *view, uint64_t ns)
{
	struct thread *thread;
	int64_t tid;
	bool has;

	tid = number(view, plan->fields[0], &has);
	if (!has || !tid)
		return 0;
	thread = thread_of(slices, (uint32_t)tid);
	if (!thread)
		return -ENOMEM;
	slices->wakeups |= plan->role == ROLE_WAKEUP;
	/* the first that wakes it counts: waking comes before wakeup */
	if (thread->woken && thread->woken_losses == slices->losses) {
		thread->awake |= plan->role == ROLE_WAKEUP;
		return 0;
	}
	thread->woken = true;
	thread->awake = plan->role == ROLE_WAKEUP;
	thread->woken_losses = slices->losses;
	thread->woken_at = ns;
	thread->waker = view->tid;
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

	state = number(view, plan->fields[2], &has_state);
	tid = number(view, plan->fields[0], &has_tid);
	thread = has_tid ? map_get(&slices->threads, (uint32_t)tid) : NULL;
	if (thread && (thread->awake || !slices->wakeups ||
		       (has_state && !(state & 0xff))))
		thread->woken = false;
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
	/* another than the one that came: events are missing that nobody tells of */
	end(slices, &cpu->run, ns, has_tid && (uint32_t)tid == cpu->run.tid ?
	    SLICE_WHOLE : SLICE_UNENDED);
	return 0;
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
	if (thread->woken && thread->woken_losses == slices->losses &&
	    doubt == SLICE_WHOLE) {
		off.number = thread->waker;
		off.has_waited = true;
		/* told to wake up before it had gone */
		off.waited = ns - (thread->woken_at > thread->out_at ?
				   thread->woken_at : thread->out_at);
	}
	thread->out = false;
	end(slices, &off, ns, doubt);
}

static void take_in(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct thread *thread;
	struct slice wakeup;
	int64_t tid;
	bool has;

	tid = number(view, plan->fields[1], &has);
	if (!has)
		return;
	begin(&cpu->run, SLICE_RUN, view, ns);
	cpu->running = true;
	cpu->run.tid = (uint32_t)tid;
	cpu->run.prio = number(view, plan->fields[3], &cpu->run.has_prio);
	thread = map_get(&slices->threads, (uint32_t)tid);
	if (thread && thread->out)
		end_off(slices, thread, (uint32_t)tid, view, ns,
			thread->out_losses == slices->losses ? SLICE_WHOLE :
			SLICE_LOSSY);
	if (!thread || !thread->woken)
		return;
	thread->woken = false;
	if (thread->woken_losses != slices->losses)
		return;
	cpu->run.has_waited = true;
	cpu->run.waited = ns - thread->woken_at;
	begin(&wakeup, SLICE_WAKEUP, view, thread->woken_at);
	wakeup.tid = (uint32_t)tid;
	wakeup.number = thread->waker;
	end(slices, &wakeup, ns, SLICE_WHOLE);
}

static int take_call(struct slices *slices, const struct plan *plan,
		     const struct tb_view *view, uint64_t ns)
{
	uint32_t tid = view->tid;
	struct thread *thread;
	int64_t id, told;
	bool has;

	/* says in its one-element form whose it is */
	told = number(view, plan->fields[1], &has);
	if (has)
		tid = (uint32_t)told;
	id = number(view, plan->fields[0], &has);
	thread = has ? thread_of(slices, tid) : NULL;
	if (!thread)
		return has ? -ENOMEM : 0;
	if (thread->in_call)
		end_unknown(slices, &thread->call);
	begin(&thread->call, SLICE_SYSCALL, view, ns);
	thread->in_call = true;
	thread->call_losses = slices->losses;
	thread->call.tid = tid;
	thread->call.number = id;
	return 1;
}

static int take_call_exit(struct slices *slices, const struct plan *plan,
			  const struct tb_view *view, uint64_t ns)
{
	struct thread *thread = map_get(&slices->threads, view->tid);
	int64_t id;
	bool has;

	id = number(view, plan->fields[0], &has);
	if (!thread || !thread->in_call)
		return 0;
	thread->in_call = false;
	if (!has || id != thread->call.number) {
		end_unknown(slices, &thread->call);
		return 0;
	}
	thread->call.cpu = view->cpu;
	thread->call.result = number(view, plan->fields[1],
				     &thread->call.has_result);
	end(slices, &thread->call, ns,
	    thread->call_losses == slices->losses ? SLICE_WHOLE : SLICE_LOSSY);
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

static int take_irq(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	unsigned int at = cpu->irqs;
	struct slice *slice;
	int64_t irq;
	bool has;

	irq = number(view, plan->fields[0], &has);
	if (!has)
		return 0;
	/* none interrupts itself: the end of the one before is missing */
	while (at && !is_irq(&cpu->irq[at - 1], plan, view, irq))
		at--;
	while (at && cpu->irqs >= at)
		end_unknown(slices, &cpu->irq[--cpu->irqs]);
	if (cpu->irqs == IRQS_MAX)
		return 0;
	slice = &cpu->irq[cpu->irqs];
	begin(slice, SLICE_IRQ, view, ns);
	slice->number = irq;
	if (plan->fixed) {
		slice->name = plan->fixed;
		slice->name_length = plan->fixed_length;
	} else if (!plan->name || tb_field_str(view, plan->name, &slice->name,
					       &slice->name_length)) {
		slice->name = tb_trace_string(slices->trace, TB_STRING_IRQ,
					      (uint32_t)slice->number);
		slice->name_length = slice->name ? strlen(slice->name) : 0;
	}
	cpu->irqs++;
	return 1;
}

static int take_irq_exit(struct slices *slices, const struct plan *plan,
			 const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	unsigned int at = cpu->irqs;
	struct slice *slice;
	int64_t irq;
	bool has;

	irq = number(view, plan->fields[0], &has);
	while (at && !is_irq(&cpu->irq[at - 1], plan, view, irq))
		at--;
	if (!has || !at)
		return 0;
	while (cpu->irqs > at)
		end_unknown(slices, &cpu->irq[--cpu->irqs]);
	slice = &cpu->irq[--cpu->irqs];
	slice->result = number(view, plan->fields[1], &slice->has_result);
	end(slices, slice, ns, SLICE_WHOLE);
	return 1;
}

static int take_softirq(struct slices *slices, const struct plan *plan,
			const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	int64_t vector;
	bool has;

	vector = number(view, plan->fields[0], &has);
	if (!has)
		return 0;
	if (plan->role == ROLE_SOFTIRQ) {
		if (cpu->softirq)
			end_unknown(slices, &cpu->in_softirq);
		begin(&cpu->in_softirq, SLICE_SOFTIRQ, view, ns);
		cpu->in_softirq.number = vector;
		cpu->softirq = true;
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
	while (cpu->irqs)
		end_unknown(slices, &cpu->irq[--cpu->irqs]);
	cpu->running = cpu->softirq = false;
}

int slices_take(struct slices *slices, const struct tb_view *view, uint64_t ns,
		uint64_t lost_ns)
{
	const struct plan *plan;
	struct cpu *cpu;

	if (ns > slices->last)
		slices->last = ns;
	if (view->user || view->cpu >= slices->nr_cpus)
		return 0;
	cpu = &slices->cpus[view->cpu];
	if (view->kind == TB_VIEW_LOST) {
		forget(slices, cpu, lost_ns);
		slices->losses++;
		return 0;
	}
	if (!view->format)
		return 0;
	plan = &slices->plans[view->format->index];
	switch (plan->role) {
	case ROLE_SWITCH:
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
	const struct tb_view none = { .cpu = TB_RING_USER };
	struct thread *thread;
	unsigned int i;
	size_t k;

	for (i = 0; i < slices->nr_cpus; i++)
		forget(slices, &slices->cpus[i], slices->last);
	for (k = 0; k < threads->nr_slots; k++) {
		thread = threads->slots[k].value;
		if (thread && thread->in_call &&
		    thread->call_losses == slices->losses)
			end(slices, &thread->call, slices->last, SLICE_UNENDED);
		if (thread && thread->out)
			end_off(slices, thread, (uint32_t)threads->slots[k].key,
				&none, slices->last, SLICE_UNENDED);
	}
}
