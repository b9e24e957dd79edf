// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - events of the kernel in FXT.
 *
 *   sched_switch                        context switch
 *   sched_waking                        wake-up; without it sched_wakeup; sched_wakeup_new always
 *   irq_handler_entry, softirq_entry    a slice of the CPU, to the exit
 *   sys_enter                           a slice of the thread, to sys_exit
 *   cpu_frequency, cpu_idle             a counter of the CPU
 *   everything else                     an instant of the thread
 *
 * All fields go along as arguments, and "on_cpu", where it happened; only the names in scheduling
 * events do not, which are those of the threads' objects.  For each format there is a plan, made once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "export_fxt.h"

/* Bits of scheduling records */
#define SCHED_CPU_SHIFT		20
#define SCHED_STATE_SHIFT	36
#define SCHED_TYPE_SHIFT	60
#define SCHED_ARG_SHIFT		16
enum { SCHED_SWITCH = 1, SCHED_WAKEUP = 2 };
enum { STATE_RUNNING = 1, STATE_SUSPENDED = 2, STATE_BLOCKED = 3, STATE_DYING = 4, STATE_DEAD = 5 };

/* sched_switch's prev_state */
#define TASK_STOPPED	0x0c	/* and traced */
#define TASK_DEAD	0x10
#define TASK_ZOMBIE	0x20
#define TASK_SLEEPING	0xff

/* Says a thread is an idle one */
#define WEIGHT_IDLE	INT32_MIN

#define CALLS_MAX	1024
#define FIELDS_MAX	4	/* that one kind of plan asks for */

enum plan_kind {
	PLAN_INSTANT, PLAN_SWITCH, PLAN_WAKEUP, PLAN_IRQ, PLAN_IRQ_END, PLAN_SOFTIRQ,
	PLAN_SOFTIRQ_END, PLAN_CALL, PLAN_CALL_END, PLAN_COUNTER,
};

struct plan {
	enum plan_kind kind;
	struct fxt_name *category, *name;
	struct fxt_name **args;			/* names of the fields */
	const struct tb_format_field *fields[FIELDS_MAX];
	const struct tb_format_field *prev_prio, *text;	/* the format may have them */
	const struct tb_format_field *tid;	/* whose event it is */
};

/* Who runs on a CPU, as far as switches tell */
struct current {
	uint32_t tid;
	int32_t  prio;
	bool     known;
};

struct fxt_plans {
	size_t nr_plans;
	struct plan *plans;
	struct current *current;
	struct fxt_name *calls[CALLS_MAX];
	struct fxt_name *cpu, *tid, *stack, *user_stack, *payload, *text, *weight, *incoming, *outgoing,
			*state, *waker, *tracebuf, *mark, *lost, *overwritten, *dropped,
			*oversize, *first, *last;
};

/* ---- making plans ---- */

static const struct rule {
	const char *name;
	enum plan_kind kind;
	const char *fields[FIELDS_MAX];
} rules[] = {
	{ "sched_switch", PLAN_SWITCH, { "prev_pid", "next_pid", "prev_state", "next_prio" } },
	{ "sched_waking", PLAN_WAKEUP, { "pid", "prio", "target_cpu" } },
	{ "sched_wakeup", PLAN_WAKEUP, { "pid", "prio", "target_cpu" } },
	{ "sched_wakeup_new", PLAN_WAKEUP, { "pid", "prio", "target_cpu" } },
	{ "irq_handler_entry", PLAN_IRQ, { "irq" } },
	{ "irq_handler_exit", PLAN_IRQ_END, { "irq" } },
	{ "softirq_entry", PLAN_SOFTIRQ, { "vec" } },
	{ "softirq_exit", PLAN_SOFTIRQ_END, { "vec" } },
	{ "sys_enter", PLAN_CALL, { "id" } },
	{ "sys_exit", PLAN_CALL_END, { "id" } },
	{ "cpu_frequency", PLAN_COUNTER, { "cpu_id", "state" } },
	{ "cpu_idle", PLAN_COUNTER, { "cpu_id", "state" } },
};

static bool is_number(const struct tb_format_field *field)
{
	return field && field->width && !tb_field_is_text(field) &&
	       !(field->flags & (TB_FIELD_ARRAY | TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC |
				 TB_FIELD_CPUMASK));
}

/* Another event that is called the same has other fields */
static bool rule_fits(const struct rule *rule, const struct tb_format *format,
		      struct plan *plan)
{
	unsigned int i;

	if (strcmp(format->name, rule->name))
		return false;
	for (i = 0; i < FIELDS_MAX && rule->fields[i]; i++) {
		plan->fields[i] = tb_format_field(format, rule->fields[i]);
		if (!is_number(plan->fields[i]))
			return false;
	}
	return true;
}

static bool is_recorded(const struct tb_trace *trace, const char *name)
{
	unsigned int i;

	for (i = 0; i < tb_trace_formats(trace); i++)
		if (!strcmp(tb_trace_format_at(trace, i)->name, name))
			return true;
	return false;
}

static struct fxt_name *name_of(struct fxt_events *events, const char *text)
{
	return fxt_name(events->out, text, strlen(text));
}

static int plan_make(struct fxt_events *events, struct plan *plan,
		     const struct tb_format *format)
{
	uint32_t i;

	plan->category = name_of(events, format->system);
	plan->name = name_of(events, format->name);
	plan->args = calloc(format->nr_fields + 1u, sizeof(*plan->args));
	if (!plan->args)
		return -ENOMEM;
	for (i = 0; i < format->nr_fields; i++)
		plan->args[i] = name_of(events, format->fields[i].name);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rule_fits(&rules[i], format, plan))
			plan->kind = rules[i].kind;
	if (!strcmp(format->name, "sched_wakeup") && plan->kind == PLAN_WAKEUP &&
	    is_recorded(events->trace, "sched_waking"))
		plan->kind = PLAN_INSTANT;
	plan->prev_prio = tb_format_field(format, "prev_prio");
	if (!is_number(plan->prev_prio))
		plan->prev_prio = NULL;
	plan->text = tb_format_field(format, "name");
	if (plan->text && !tb_field_is_text(plan->text))
		plan->text = NULL;
	/* says in a one-element form whose it is */
	plan->tid = format->flags & TB_EVENT_FAST ? tb_format_field(format, "tid") : NULL;
	if (!is_number(plan->tid))
		plan->tid = NULL;
	return 0;
}

int fxt_events_open(struct fxt_events *events)
{
	unsigned int count = tb_trace_formats(events->trace), i;
	struct fxt_plans *plans = calloc(1, sizeof(*plans));
	int result = 0;

	events->plans = plans;
	if (!plans)
		return -ENOMEM;
	plans->plans = calloc(count + 1u, sizeof(*plans->plans));
	plans->current = calloc(events->threads->nr_cpus, sizeof(*plans->current));
	if (!plans->plans || !plans->current)
		return -ENOMEM;
	plans->nr_plans = count;
	for (i = 0; i < count && !result; i++)
		result = plan_make(events, &plans->plans[i],
				   tb_trace_format_at(events->trace, i));
	plans->cpu = name_of(events, "on_cpu");
	plans->tid = name_of(events, "current_tid");
	plans->stack = name_of(events, "stack");
	plans->user_stack = name_of(events, "user_stack");
	plans->payload = name_of(events, "payload");
	plans->text = name_of(events, "text");
	plans->weight = name_of(events, "weight");
	plans->incoming = name_of(events, "incoming_weight");
	plans->outgoing = name_of(events, "outgoing_weight");
	plans->state = name_of(events, "prev_state");
	plans->waker = name_of(events, "waker");
	plans->tracebuf = name_of(events, "tracebuf");
	plans->mark = name_of(events, "mark");
	plans->lost = name_of(events, "tracebuf_lost");
	plans->overwritten = name_of(events, "overwritten");
	plans->dropped = name_of(events, "dropped");
	plans->oversize = name_of(events, "oversize");
	plans->first = name_of(events, "first_ns");
	plans->last = name_of(events, "last_ns");
	return result;
}

void fxt_events_close(struct fxt_events *events)
{
	struct fxt_plans *plans = events->plans;
	size_t i;

	if (!plans)
		return;
	for (i = 0; i < plans->nr_plans; i++)
		free(plans->plans[i].args);
	free(plans->plans);
	free(plans->current);
	free(plans);
}

/* ---- arguments ---- */

static void put_field(struct fxt_events *events, const struct tb_view *view,
		      const struct tb_format_field *field, struct fxt_name *name)
{
	char listed[EXPORT_TEXT_MAX + 32];
	const char *text;
	size_t length;
	uint64_t value;

	if (is_number(field)) {
		if (tb_field_u64(view, field, &value))
			return;
		if (field->flags & TB_FIELD_SIGNED)
			fxt_arg_signed(events->out, name, (int64_t)value);
		else if (field->flags & TB_FIELD_HEX)
			fxt_arg_pointer(events->out, name, value);
		else
			fxt_arg_unsigned(events->out, name, value);
	} else if (tb_field_is_text(field)) {
		if (!tb_field_str(view, field, &text, &length))
			fxt_arg_text(events->out, name, text, length);
	} else {
		fxt_arg_text(events->out, name, listed,
			     export_listed(view, field, listed));
	}
}

/* "innermost <- its caller <- ...": kernel addresses by name, as far as the trace tells */
static void put_stack(struct fxt_events *events, struct fxt_name *name,
		      const uint64_t *stack, uint32_t count, bool kernel)
{
	char text[EXPORT_TEXT_MAX + 1], frame[256];
	size_t used = 0, length;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!kernel || export_frame(events->trace, stack[i], frame, sizeof(frame)))
			snprintf(frame, sizeof(frame), "0x%" PRIx64, stack[i]);
		length = strlen(frame);
		if (used + length + 4 > EXPORT_TEXT_MAX)
			break;
		used += (size_t)sprintf(text + used, "%s%s", i ? " <- " : "", frame);
	}
	events->out->cut |= i < count;
	fxt_arg_text(events->out, name, text, used);
}

static uint32_t nr_extras(const struct tb_view *view)
{
	return (view->nr_stack > 0) + (view->nr_user_stack > 0) +
	       (uint32_t)__builtin_popcount(view->counter_mask);
}

/* What was recorded with the event, not in it */
static void put_extras(struct fxt_events *events, const struct tb_view *view)
{
	const char *text;
	uint32_t number;
	uint64_t value;
	unsigned int i;
	char spare[24];

	for (i = 0; view->counter_mask && tb_view_counter(view, i, &number, &value); i++) {
		text = tb_trace_string(events->trace, TB_STRING_COUNTER, number);
		if (!text) {
			snprintf(spare, sizeof(spare), "counter %" PRIu32, number);
			text = spare;
		}
		fxt_arg_unsigned(events->out, name_of(events, text), value);
	}
	if (view->nr_stack)
		put_stack(events, events->plans->stack, view->stack, view->nr_stack, true);
	if (view->nr_user_stack)
		put_stack(events, events->plans->user_stack, view->user_stack,
			  view->nr_user_stack, false);
}

/* An event with all it has; @cpu_track: @thread stands for a CPU, so who ran is not known from it */
static void put_event(struct fxt_events *events, const struct tb_view *view,
		      const struct plan *plan, struct fxt_thread *thread,
		      enum fxt_event_type type, uint64_t ns, struct fxt_name *category,
		      struct fxt_name *name, bool cpu_track)
{
	uint32_t count = plan ? view->format->nr_fields : 0, i;
	char digits[EXPORT_TEXT_MAX + 1];

	fxt_event(events->threads, thread, type, ns, category, name,
		  1u + cpu_track + count + !plan + nr_extras(view));
	fxt_arg_unsigned(events->out, events->plans->cpu, view->cpu);
	if (cpu_track)
		fxt_arg_unsigned(events->out, events->plans->tid, view->tid);
	for (i = 0; i < count; i++)
		put_field(events, view, &view->format->fields[i], plan->args[i]);
	if (!plan)
		fxt_arg_text(events->out, events->plans->payload, digits,
			     export_bytes(view->payload, view->length, digits));
	put_extras(events, view);
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
}

/* ---- scheduling ---- */

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

/* Priority of who leaves the CPU; false: it is not known */
static bool prio_before(struct fxt_events *events, const struct tb_view *view,
			const struct plan *plan, uint32_t tid, int64_t *prio)
{
	const struct current *current = &events->plans->current[view->cpu];
	const struct tb_task *task;

	*prio = WEIGHT_IDLE;
	if (!tid)
		return true;
	if (plan->prev_prio && !tb_field_s64(view, plan->prev_prio, prio))
		return true;
	*prio = current->prio;
	if (current->known && current->tid == tid)
		return true;
	task = tb_cursor_task(events->cursor, tid);
	if (!task || !(task->flags & TB_TASK_LISTED))
		return false;
	*prio = task->prio;
	return true;
}

static int put_switch(struct fxt_events *events, const struct tb_view *view,
		      const struct plan *plan, uint64_t ns)
{
	struct fxt_plans *plans = events->plans;
	struct current *current = &plans->current[view->cpu];
	uint64_t prev, next, state, prio;
	struct fxt_thread *from, *to;
	int64_t before;
	char text[24];
	bool known;

	if (tb_field_u64(view, plan->fields[0], &prev) ||
	    tb_field_u64(view, plan->fields[1], &next) ||
	    tb_field_u64(view, plan->fields[2], &state) ||
	    tb_field_u64(view, plan->fields[3], &prio))
		return -EINVAL;
	from = fxt_thread(events->threads, view->cpu, (uint32_t)prev);
	to = fxt_thread(events->threads, view->cpu, (uint32_t)next);
	if (!from || !to)
		return -ENOMEM;
	/* it will not end them itself any more */
	if (prev && state & (TASK_DEAD | TASK_ZOMBIE))
		fxt_close_to(events->threads, from, 0, ns, events->popped,
			     events->context);
	known = prio_before(events, view, plan, (uint32_t)prev, &before);
	fxt_record(events->out, FXT_SCHEDULING, (uint64_t)view->cpu << SCHED_CPU_SHIFT |
		   state_of(state) << SCHED_STATE_SHIFT |
		   (uint64_t)SCHED_SWITCH << SCHED_TYPE_SHIFT,
		   2u + known + nr_extras(view), SCHED_ARG_SHIFT);
	fxt_word(events->out, ns);
	fxt_word(events->out, from->koid);
	fxt_word(events->out, to->koid);
	fxt_arg_signed(events->out, plans->incoming, next ? (int64_t)prio : WEIGHT_IDLE);
	if (known)
		fxt_arg_signed(events->out, plans->outgoing, before);
	tb_task_state(state, text, sizeof(text));
	fxt_arg_text(events->out, plans->state, text, strlen(text));
	put_extras(events, view);
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
	*current = (struct current){ (uint32_t)next, (int32_t)prio, true };
	return 0;
}

static int put_wakeup(struct fxt_events *events, const struct tb_view *view,
		      const struct plan *plan, uint64_t ns)
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
		   (uint64_t)SCHED_WAKEUP << SCHED_TYPE_SHIFT, 3 + nr_extras(view),
		   SCHED_ARG_SHIFT);
	fxt_word(events->out, ns);
	fxt_word(events->out, thread->koid);
	fxt_arg_signed(events->out, plans->weight, (int64_t)prio);
	fxt_arg_koid(events->out, plans->waker, waker->koid);
	fxt_arg_unsigned(events->out, plans->cpu, view->cpu);
	put_extras(events, view);
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
	return 0;
}

/* ---- slices ---- */

static struct fxt_name *call_name(struct fxt_events *events, uint64_t id)
{
	struct fxt_name **at = id < CALLS_MAX ? &events->plans->calls[id] : NULL, *name;
	const char *text;
	char full[128];

	if (at && *at)
		return *at;
	text = id <= UINT32_MAX ? tb_trace_string(events->trace, TB_STRING_SYSCALL,
						  (uint32_t)id) : NULL;
	if (text)
		snprintf(full, sizeof(full), "sys_%s", text);
	else
		snprintf(full, sizeof(full), "sys_%" PRId64, (int64_t)id);
	name = name_of(events, full);
	if (at)
		*at = name;
	return name;
}

static struct fxt_name *irq_name(struct fxt_events *events, const struct tb_view *view,
				 const struct plan *plan, uint64_t irq)
{
	const char *text = NULL;
	size_t length = 0;
	char full[128];

	if (!plan->text || tb_field_str(view, plan->text, &text, &length))
		text = tb_trace_string(events->trace, TB_STRING_IRQ, (uint32_t)irq);
	else if (length > 100)
		length = 100;
	if (text)
		snprintf(full, sizeof(full), "IRQ (%.*s)", length ? (int)length : 100, text);
	else
		snprintf(full, sizeof(full), "IRQ %" PRIu64, irq);
	return name_of(events, full);
}

static struct fxt_name *softirq_name(struct fxt_events *events, uint64_t vector)
{
	const char *text = tb_trace_string(events->trace, TB_STRING_SOFTIRQ,
					   (uint32_t)vector);
	char full[32];

	if (text)
		return name_of(events, text);
	snprintf(full, sizeof(full), "softirq %" PRIu64, vector);
	return name_of(events, full);
}

static int put_begin(struct fxt_events *events, const struct tb_view *view,
		     const struct plan *plan, struct fxt_thread *thread,
		     enum fxt_open_kind kind, uint64_t id, uint64_t ns, struct fxt_name *name)
{
	const struct fxt_open open = {
		.kind = kind, .id = id, .ns = ns, .category = plan->category, .name = name,
	};
	uint32_t before = kind == FXT_OPEN_CALL ?
			  fxt_find(&thread->opens, kind, UINT64_MAX) : 0;

	/* its end is missing: a thread is in one system call at a time */
	if (before)
		fxt_close_to(events->threads, thread, before - 1, ns, events->popped,
			     events->context);
	put_event(events, view, plan, thread, thread->opens.count < EXPORT_DEPTH_MAX ?
		  FXT_BEGIN : FXT_INSTANT, ns, plan->category, name,
		  kind != FXT_OPEN_CALL);
	return thread->opens.count < EXPORT_DEPTH_MAX ? fxt_push(&thread->opens, &open) : 0;
}

static void put_end(struct fxt_events *events, const struct tb_view *view,
		    const struct plan *plan, struct fxt_thread *thread,
		    enum fxt_open_kind kind, uint64_t id, uint64_t ns)
{
	uint32_t at = fxt_find(&thread->opens, kind, id);
	bool cpu_track = kind != FXT_OPEN_CALL;
	struct fxt_open open;

	if (!at) {	/* it began before the recording, or in a gap */
		put_event(events, view, plan, thread, FXT_INSTANT, ns, plan->category,
			  plan->name, cpu_track);
		return;
	}
	fxt_close_to(events->threads, thread, at, ns, events->popped, events->context);
	open = thread->opens.list[--thread->opens.count];
	put_event(events, view, plan, thread, FXT_END, ns > open.ns ? ns : open.ns,
		  open.category, open.name, cpu_track);
}

static int put_slice(struct fxt_events *events, const struct tb_view *view,
		     const struct plan *plan, uint32_t tid, uint64_t ns)
{
	struct fxt_thread *thread;
	uint64_t id;

	if (tb_field_u64(view, plan->fields[0], &id))
		return -EINVAL;
	thread = plan->kind == PLAN_CALL || plan->kind == PLAN_CALL_END ?
		 fxt_thread(events->threads, view->cpu, tid) :
		 fxt_thread_cpu(events->threads, view->cpu);
	if (!thread)
		return -ENOMEM;
	switch (plan->kind) {
	case PLAN_CALL:
		return put_begin(events, view, plan, thread, FXT_OPEN_CALL, id, ns,
				 call_name(events, id));
	case PLAN_CALL_END:
		put_end(events, view, plan, thread, FXT_OPEN_CALL, UINT64_MAX, ns);
		return 0;
	case PLAN_IRQ:
		return put_begin(events, view, plan, thread, FXT_OPEN_IRQ, id, ns,
				 irq_name(events, view, plan, id));
	case PLAN_IRQ_END:
		put_end(events, view, plan, thread, FXT_OPEN_IRQ, id, ns);
		return 0;
	case PLAN_SOFTIRQ:
		return put_begin(events, view, plan, thread, FXT_OPEN_SOFTIRQ, id, ns,
				 softirq_name(events, id));
	default:
		put_end(events, view, plan, thread, FXT_OPEN_SOFTIRQ, id, ns);
		return 0;
	}
}

/* ---- counters ---- */

/* A reader that knows counters by their names alone must not take those of all CPUs for one */
static int put_counter(struct fxt_events *events, const struct tb_view *view,
		       const struct plan *plan, uint64_t ns)
{
	struct fxt_thread *thread;
	uint64_t cpu, state;
	char text[24];

	if (tb_field_u64(view, plan->fields[0], &cpu) ||
	    tb_field_u64(view, plan->fields[1], &state) ||
	    cpu >= events->threads->nr_cpus)
		return -EINVAL;
	thread = fxt_thread_cpu(events->threads, (uint32_t)cpu);
	if (!thread)
		return -ENOMEM;
	fxt_event(events->threads, thread, FXT_COUNTER, ns, plan->category, plan->name, 1);
	snprintf(text, sizeof(text), "cpu%" PRIu64, cpu);
	/* no idle state at all is -1 */
	fxt_arg_signed(events->out, name_of(events, text), (int32_t)state == -1 ? -1 :
		       (int64_t)state);
	fxt_record_end(events->out, &cpu);
	return 0;
}

/* ---- all of them ---- */

static int put_special(struct fxt_events *events, const struct tb_view *view,
		       const struct plan *plan, uint32_t tid, uint64_t ns)
{
	switch (plan->kind) {
	case PLAN_INSTANT:
		return -EINVAL;
	case PLAN_SWITCH:
		return put_switch(events, view, plan, ns);
	case PLAN_WAKEUP:
		return put_wakeup(events, view, plan, ns);
	case PLAN_COUNTER:
		return nr_extras(view) ? -EINVAL : put_counter(events, view, plan, ns);
	default:
		return put_slice(events, view, plan, tid, ns);
	}
}

int fxt_events_write(struct fxt_events *events, const struct tb_view *view, uint64_t ns)
{
	const struct plan *plan = view->format ?
				  &events->plans->plans[view->format->index] : NULL;
	struct fxt_thread *thread;
	uint32_t tid = view->tid;
	int result = -EINVAL;
	uint64_t value;
	char spare[24];

	if (plan && plan->tid && !tb_field_u64(view, plan->tid, &value))
		tid = (uint32_t)value;
	/* -EINVAL: not what such an event should be */
	if (plan)
		result = put_special(events, view, plan, tid, ns);
	if (result != -EINVAL)
		return result;
	thread = fxt_thread(events->threads, view->cpu, tid);
	if (!thread)
		return -ENOMEM;
	put_event(events, view, plan, thread, FXT_INSTANT, ns,
		  plan ? plan->category : name_of(events, tb_view_system(view)),
		  plan ? plan->name : name_of(events, tb_view_name(view, spare)), false);
	return 0;
}

int fxt_events_mark(struct fxt_events *events, const struct tb_view *view, uint64_t ns)
{
	struct fxt_plans *plans = events->plans;
	struct fxt_thread *thread;
	uint32_t cpu = view->cpu == TB_RING_DURABLE ? 0 : view->cpu;

	thread = fxt_thread(events->threads, cpu, view->tid);
	if (!thread)
		return -ENOMEM;
	fxt_event(events->threads, thread, FXT_INSTANT, ns, plans->tracebuf, plans->mark, 2);
	fxt_arg_unsigned(events->out, plans->cpu, cpu);
	fxt_arg_text(events->out, plans->text, view->payload,
		     strnlen(view->payload, view->length));
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
	return 0;
}

int fxt_events_lost(struct fxt_events *events, const struct tb_view *view, uint64_t ns,
		    uint64_t first, uint64_t last)
{
	struct fxt_plans *plans = events->plans;
	struct fxt_thread *thread = fxt_thread_cpu(events->threads, view->cpu);

	if (!thread)
		return -ENOMEM;
	/* nobody knows when they ended; not before the gap */
	fxt_close_to(events->threads, thread, 0, first, NULL, NULL);
	plans->current[view->cpu].known = false;
	fxt_lost_mark(events->out);
	fxt_event(events->threads, thread, FXT_INSTANT, ns, plans->tracebuf, plans->lost, 6);
	fxt_arg_unsigned(events->out, plans->cpu, view->cpu);
	fxt_arg_unsigned(events->out, plans->overwritten, view->lost.overwritten);
	fxt_arg_unsigned(events->out, plans->dropped, view->lost.dropped);
	fxt_arg_unsigned(events->out, plans->oversize, view->lost.oversize);
	fxt_arg_unsigned(events->out, plans->first, first);
	fxt_arg_unsigned(events->out, plans->last, last);
	fxt_record_end(events->out, NULL);
	return 0;
}
