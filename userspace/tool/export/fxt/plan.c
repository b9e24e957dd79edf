// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - plans for the events of the kernel in FXT; event.c lists their records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"
#include "tool/show/values.h"

static const struct rule {
	const char *name;
	enum fxt_plan_kind kind;
	const char *fields[FXT_FIELDS_MAX];
} rules[] = {
	{ "sched_switch", PLAN_SWITCH, { "prev_pid", "next_pid", "prev_state", "next_prio", "prev_prio" } },
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

/* An event with the same name but without these fields is another one */
static bool rule_fits(const struct rule *rule, const struct tb_format *format,
		      struct fxt_plan *plan)
{
	unsigned int i;

	if (strcmp(format->name, rule->name))
		return false;
	for (i = 0; i < FXT_FIELDS_MAX && rule->fields[i]; i++) {
		plan->fields[i] = export_number_field(format, rule->fields[i]);
		if (!plan->fields[i])
			return false;
	}
	return true;
}

struct fxt_name *fxt_events_name(struct fxt_events *events, const char *text)
{
	return fxt_name(events->out, text, strlen(text));
}

static int plan_make(struct fxt_events *events, struct fxt_plan *plan,
		     const struct tb_format *format)
{
	char name[TB_NAME_MAX + 8];
	uint32_t i;

	plan->category = fxt_events_name(events, format->system);
	plan->name = fxt_events_name(events, format->name);
	plan->args = calloc(2u * format->nr_fields + 1, sizeof(*plan->args));
	if (!plan->args)
		return -ENOMEM;
	plan->names = plan->args + format->nr_fields;
	for (i = 0; i < format->nr_fields; i++) {
		plan->args[i] = fxt_events_name(events, format->fields[i].name);
		/* slices have the names of system calls and softirqs */
		if (!value_has_names(format, &format->fields[i]) ||
		    format->fields[i].show == TB_SHOW_SYSCALL ||
		    format->fields[i].show == TB_SHOW_SOFTIRQ)
			continue;
		snprintf(name, sizeof(name), VALUE_NAME, format->fields[i].name);
		plan->names[i] = fxt_events_name(events, name);
	}
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rule_fits(&rules[i], format, plan))
			plan->kind = rules[i].kind;
	if (!strcmp(format->name, "sched_wakeup") && plan->kind == PLAN_WAKEUP &&
	    export_has_event(events->trace, "sched_waking", events->wanted))
		plan->kind = PLAN_INSTANT;
	plan->text = tb_format_field(format, "name");
	if (plan->text && !tb_field_is_text(plan->text))
		plan->text = NULL;
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
	plans->counters = calloc(events->threads->nr_cpus, sizeof(*plans->counters));
	if (!plans->plans || !plans->current || !plans->counters)
		return -ENOMEM;
	plans->nr_plans = count;
	for (i = 0; i < count && !result; i++)
		result = plan_make(events, &plans->plans[i],
				   tb_trace_format_at(events->trace, i));
	plans->cpu = fxt_events_name(events, "on_cpu");
	plans->tid = fxt_events_name(events, "current_tid");
	plans->stack = fxt_events_name(events, "stack");
	plans->user_stack = fxt_events_name(events, "user_stack");
	plans->payload = fxt_events_name(events, "payload");
	plans->text = fxt_events_name(events, "text");
	plans->weight = fxt_events_name(events, "weight");
	plans->incoming = fxt_events_name(events, "incoming_weight");
	plans->outgoing = fxt_events_name(events, "outgoing_weight");
	plans->state = fxt_events_name(events, "prev_state");
	plans->waker = fxt_events_name(events, "waker");
	plans->tracebuf = fxt_events_name(events, "tracebuf");
	plans->mark = fxt_events_name(events, "mark");
	plans->lost = fxt_events_name(events, "tracebuf_lost");
	plans->overwritten = fxt_events_name(events, "overwritten");
	plans->dropped = fxt_events_name(events, "dropped");
	plans->oversize = fxt_events_name(events, "oversize");
	plans->first = fxt_events_name(events, "first_ns");
	plans->last = fxt_events_name(events, "last_ns");
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
	free(plans->counters);
	free(plans);
}
