// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - events of the kernel in FXT.
 *
 *   sched_switch                        context switch
 *   sched_waking                        wake-up; without it sched_wakeup; sched_wakeup_new always
 *   irq_handler_entry, softirq_entry    a slice of the CPU, to the exit
 *   sys_enter                           a slice of the thread, to sys_exit
 *   cpu_frequency, cpu_idle             a counter of the CPU
 *   all other events                    an instant of the thread
 *
 * Arguments are all fields, and "on_cpu", the CPU of the event.  Scheduling records have no names of
 * threads, because readers take those of the threads' objects.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"
#include "tool/show/frames.h"
#include "tool/show/user_writers.h"
#include "tool/show/values.h"

/* ---- arguments ---- */

static void put_field(struct fxt_events *events, const struct tb_view *view,
		      const struct tb_format_field *field, struct fxt_name *name)
{
	char listed[EXPORT_TEXT_MAX + 32];
	const char *text;
	size_t length;
	uint64_t value;

	if (export_is_number(field)) {
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

/* The name of the number in @field, if it has one; @value: room for it */
static const char *name_in(struct fxt_events *events, const struct tb_view *view,
			   const struct tb_format_field *field, struct value *value)
{
	value_of(events->trace, view, field, value);
	return value->meaning;
}

/* A stack as "innermost <- its caller <- ..." */
struct chain {
	char   text[EXPORT_TEXT_MAX + 1];
	size_t used;
};

static bool add_frame(struct chain *chain, const char *frame)
{
	if (chain->used + strlen(frame) + 4 > EXPORT_TEXT_MAX)
		return false;
	chain->used += (size_t)sprintf(chain->text + chain->used, "%s%s",
				       chain->used ? " <- " : "", frame);
	return true;
}

static void put_stack(struct fxt_events *events, const struct tb_view *view)
{
	struct chain chain = { .used = 0 };
	char frame[256];
	uint32_t i;

	for (i = 0; i < view->nr_stack; i++) {
		if (export_frame(events->trace, view->stack[i], frame, sizeof(frame)))
			snprintf(frame, sizeof(frame), "0x%" PRIx64, view->stack[i]);
		if (!add_frame(&chain, frame))
			break;
	}
	events->out->cut |= i < view->nr_stack;
	fxt_arg_text(events->out, events->plans->stack, chain.text, chain.used);
}

static void put_user_stack(struct fxt_events *events, const struct tb_view *view)
{
	struct chain chain = { .used = 0 };
	const struct frame *frames;
	unsigned int count, i;
	uint32_t index;
	bool fits = true;

	for (index = 0; index < view->nr_user_stack && fits; index++) {
		count = frames_of(events->trace, view, index, &frames, NULL);
		for (i = 0; i < count && fits; i++)
			fits = add_frame(&chain, frames[i].name);
	}
	events->out->cut |= !fits;
	fxt_arg_text(events->out, events->plans->user_stack, chain.text, chain.used);
}

uint32_t fxt_events_nr_extras(const struct tb_view *view)
{
	return (view->nr_stack > 0) + (view->nr_user_stack > 0) +
	       (uint32_t)__builtin_popcount(view->counter_mask);
}

void fxt_events_extras(struct fxt_events *events, const struct tb_view *view)
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
		fxt_arg_unsigned(events->out, fxt_events_name(events, text), value);
	}
	if (view->nr_stack)
		put_stack(events, view);
	if (view->nr_user_stack)
		put_user_stack(events, view);
}

/* Write an event with all arguments; @cpu_track: @thread is a CPU, so add the tid of the event */
static void put_event(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, struct fxt_thread *thread,
		      enum fxt_event_type type, uint64_t ns, struct fxt_name *category,
		      struct fxt_name *name, bool cpu_track)
{
	uint32_t count = plan ? view->format->nr_fields : 0, names = 0, i;
	const struct tb_format_field *fields = plan ? view->format->fields : NULL;
	char digits[EXPORT_TEXT_MAX + 1];
	struct value value;

	for (i = 0; i < count; i++)
		names += plan->names[i] && name_in(events, view, &fields[i], &value);
	fxt_event(events->threads, thread, type, ns, category, name,
		  1u + cpu_track + count + names + !plan + fxt_events_nr_extras(view));
	fxt_arg_unsigned(events->out, events->plans->cpu, view->cpu);
	if (cpu_track)
		fxt_arg_unsigned(events->out, events->plans->tid, view->tid);
	for (i = 0; i < count; i++)
		put_field(events, view, &fields[i], plan->args[i]);
	for (i = 0; i < count; i++)
		if (plan->names[i] && name_in(events, view, &fields[i], &value))
			fxt_arg_text(events->out, plan->names[i], value.meaning,
				     strlen(value.meaning));
	if (!plan)
		fxt_arg_text(events->out, events->plans->payload, digits,
			     export_bytes(view->payload, view->length, digits));
	fxt_events_extras(events, view);
	fxt_record_end(events->out, NULL);
	events->cut += events->out->cut;
}

/* ---- slices ---- */

static struct fxt_name *call_name(struct fxt_events *events, uint64_t id)
{
	struct fxt_name *spare = NULL, **at;
	const char *text;
	char full[128];

	at = id < FXT_CALLS_MAX ? &events->plans->calls[id] : &spare;
	if (*at)
		return *at;
	text = id <= UINT32_MAX ? tb_trace_string(events->trace, TB_STRING_SYSCALL,
						  (uint32_t)id) : NULL;
	if (text)
		snprintf(full, sizeof(full), "sys_%s", text);
	else
		snprintf(full, sizeof(full), "sys_%" PRId64, (int64_t)id);
	return *at = fxt_events_name(events, full);
}

static struct fxt_name *irq_name(struct fxt_events *events, const struct tb_view *view,
				 const struct fxt_plan *plan, uint64_t irq)
{
	struct fxt_irq spare = { 0 }, *at;
	const char *text = NULL;
	size_t length = 0;
	char full[96];

	at = irq < FXT_IRQS_MAX ? &events->plans->irqs[irq] : &spare;
	if (plan->text && tb_field_str(view, plan->text, &text, &length))
		text = NULL;
	if (length > sizeof(at->text))
		length = sizeof(at->text);
	if (at->name && at->length == length && !memcmp(at->text, text ? text : "", length))
		return at->name;
	memcpy(at->text, text ? text : "", length);
	at->length = length;
	if (text)
		snprintf(full, sizeof(full), "IRQ (%.*s)", (int)length, text);
	else
		snprintf(full, sizeof(full), "IRQ %" PRIu64, irq);
	return at->name = fxt_events_name(events, full);
}

static struct fxt_name *softirq_name(struct fxt_events *events, uint64_t vector)
{
	struct fxt_name *spare = NULL, **at;
	const char *text;
	char full[32];

	at = vector < FXT_SOFTIRQS_MAX ? &events->plans->softirqs[vector] : &spare;
	if (*at)
		return *at;
	text = tb_trace_string(events->trace, TB_STRING_SOFTIRQ, (uint32_t)vector);
	if (!text)
		snprintf(full, sizeof(full), "softirq %" PRIu64, vector);
	return *at = fxt_events_name(events, text ? text : full);
}

static int put_begin(struct fxt_events *events, const struct tb_view *view,
		     const struct fxt_plan *plan, struct fxt_thread *thread,
		     enum fxt_open_kind kind, uint64_t id, uint64_t ns, struct fxt_name *name)
{
	const struct fxt_open open = {
		.kind = kind, .id = id, .ns = ns, .category = plan->category, .name = name,
	};
	uint32_t before = kind == FXT_OPEN_CALL ?
			  fxt_find(&thread->opens, kind, UINT64_MAX) : 0;

	/* a thread is in one system call at a time, so the end of the previous call is missing */
	if (before)
		fxt_close_to(events->threads, thread, before - 1, ns, events->popped,
			     events->context);
	put_event(events, view, plan, thread, thread->opens.count < SLICE_DEPTH_MAX ?
		  FXT_BEGIN : FXT_INSTANT, ns, plan->category, name,
		  kind != FXT_OPEN_CALL);
	return thread->opens.count < SLICE_DEPTH_MAX ? fxt_push(&thread->opens, &open) : 0;
}

static void put_end(struct fxt_events *events, const struct tb_view *view,
		    const struct fxt_plan *plan, struct fxt_thread *thread,
		    enum fxt_open_kind kind, uint64_t id, uint64_t ns)
{
	uint32_t at = fxt_find(&thread->opens, kind, id);
	bool cpu_track = kind != FXT_OPEN_CALL;
	struct fxt_open open;

	if (!at) {	/* the slice began before the recording, or in a gap */
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
		     const struct fxt_plan *plan, uint64_t ns)
{
	struct fxt_thread *thread;
	uint64_t id;

	if (tb_field_u64(view, plan->fields[0], &id))
		return -EINVAL;
	thread = plan->kind == PLAN_CALL || plan->kind == PLAN_CALL_END ?
		 fxt_thread(events->threads, view->cpu, view->tid) :
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

/* The value has the name of the CPU: some readers would merge counters of one name */
static int put_counter(struct fxt_events *events, const struct tb_view *view,
		       const struct fxt_plan *plan, uint64_t ns)
{
	struct fxt_thread *thread;
	struct fxt_name **name;
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
	name = &events->plans->counters[cpu];
	if (!*name) {
		snprintf(text, sizeof(text), "cpu%" PRIu64, cpu);
		*name = fxt_events_name(events, text);
	}
	/* cpu_idle has an unsigned 32-bit field in which -1 means "not idle" */
	fxt_arg_signed(events->out, *name, (int32_t)state == -1 ? -1 :
		       (int64_t)state);
	fxt_record_end(events->out, &cpu);
	return 0;
}

/* ---- all of them ---- */

static int put_special(struct fxt_events *events, const struct tb_view *view,
		       const struct fxt_plan *plan, uint64_t ns)
{
	switch (plan->kind) {
	case PLAN_INSTANT:
		return -EINVAL;
	case PLAN_SWITCH:
		return fxt_events_switch(events, view, plan, ns);
	case PLAN_WAKEUP:
		return fxt_events_wakeup(events, view, plan, ns);
	case PLAN_COUNTER:
		return fxt_events_nr_extras(view) ? -EINVAL : put_counter(events, view, plan, ns);
	default:
		return put_slice(events, view, plan, ns);
	}
}

int fxt_events_write(struct fxt_events *events, const struct tb_view *view, uint64_t ns)
{
	const struct fxt_plan *plan = view->format ?
				  &events->plans->plans[view->format->index] : NULL;
	struct fxt_thread *thread;
	int result = -EINVAL;
	char spare[24];

	/* -EINVAL: the event has no record of its own, or lacks a field that it needs */
	if (plan)
		result = put_special(events, view, plan, ns);
	if (result != -EINVAL)
		return result;
	thread = fxt_thread(events->threads, view->cpu, view->tid);
	if (!thread)
		return -ENOMEM;
	put_event(events, view, plan, thread, FXT_INSTANT, ns,
		  plan ? plan->category : fxt_events_name(events, tb_view_system(view)),
		  plan ? plan->name : fxt_events_name(events, tb_view_name(view, spare)), false);
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

	/* slices of the CPU ended in the gap at the earliest */
	if (!thread || fxt_events_unknown(events, view->cpu, first))
		return -ENOMEM;
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
