// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - plans for events of the kernel as Perfetto's.
 *
 * If FtraceEvent (perfetto.proto) has a field of the event's name, the event becomes that message,
 * with those of its fields that the message has by name and kind; else it becomes a generic event
 * with all of its fields.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "export_perfetto_plan.h"

#define EVENT_MESSAGE	(&perfetto__protos__ftrace_event__descriptor)

static bool is_array(const struct tb_format_field *field)
{
	return field->width && !tb_field_is_text(field) && !export_is_number(field);
}

static struct pf_step *add_step(struct pf_plan *plan, enum pf_step_kind kind,
			     const struct tb_format_field *field)
{
	struct pf_step *step = &plan->steps[plan->nr_steps++];

	memset(step, 0, sizeof(*step));
	step->kind = (uint8_t)kind;
	step->field = field;
	step->head = plan->heads + plan->nr_heads;
	return step;
}

static void end_step(struct pf_plan *plan, struct pf_step *step, const uint8_t *end)
{
	step->head_size = (uint8_t)(end - step->head);
	plan->nr_heads += step->head_size;
}

/* A field of a message: may @field of the trace be written as @target? */
static int step_of(const struct tb_format_field *field,
		   const ProtobufCFieldDescriptor *target)
{
	switch (target->type) {
	case PROTOBUF_C_TYPE_STRING:
		return tb_field_is_text(field) ? STEP_TEXT : -1;
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		if (target->label == PROTOBUF_C_LABEL_REPEATED)
			return is_array(field) ? STEP_ITEMS : -1;
		return export_is_number(field) ? STEP_NUMBER : -1;
	default:
		return -1;
	}
}

/*
 * What the format does not have but can be told: the field that tells it.
 * "next_comm" -> "next_pid", "prio" -> "pid", "name" of an irq -> "irq".
 */
static int derived_step(const struct tb_format *format, const char *target,
			const struct tb_format_field **from)
{
	static const struct {
		const char *end, *with;
		int kind;
	} rules[] = {
		{ "comm", "pid", STEP_COMM },
		{ "prio", "pid", STEP_PRIO },
		{ "name", "irq", STEP_IRQ },
	};
	size_t length = strlen(target), start, i;
	char name[TB_NAME_MAX];

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		start = length - strlen(rules[i].end);
		if (length < strlen(rules[i].end) ||
		    strcmp(target + start, rules[i].end) ||
		    (start && target[start - 1] != '_') ||
		    start + strlen(rules[i].with) >= sizeof(name))
			continue;
		memcpy(name, target, start);
		strcpy(name + start, rules[i].with);
		*from = tb_format_field(format, name);
		if (*from && export_is_number(*from))
			return rules[i].kind;
	}
	return -1;
}

static void plan_message(struct pf_plan *plan, const struct tb_format *format,
			 const ProtobufCMessageDescriptor *message)
{
	const ProtobufCFieldDescriptor *target;
	const struct tb_format_field *field;
	struct pf_step *step;
	unsigned int i;
	int kind;

	for (i = 0; i < message->n_fields; i++) {
		target = &message->fields[i];
		field = tb_format_field(format, target->name);
		kind = field ? step_of(field, target) :
			       derived_step(format, target->name, &field);
		if (kind < 0)
			continue;
		step = add_step(plan, (enum pf_step_kind)kind, field);
		step->type = (uint8_t)target->type;
		end_step(plan, step, pf_put_tag(plan->heads + plan->nr_heads,
			 target->id, target->type == PROTOBUF_C_TYPE_STRING ?
			 PF_BYTES : PF_VARINT));
		if (kind == STEP_PRIO) {
			plan->next_pid = tb_format_field(format, "next_pid");
			plan->next_prio = tb_format_field(format, "next_prio");
		}
	}
	/* says in a one-element form whose it is */
	field = tb_format_field(format, "tid");
	if (format->flags & TB_EVENT_FAST && field && export_is_number(field))
		plan->tid = field;
}

static void plan_generic(struct pf_plan *plan, const struct tb_format *format)
{
	const struct tb_format_field *field;
	struct pf_step *step;
	uint32_t i, value;
	uint8_t *at;
	size_t name;

	plan->field = PF_EVENT_GENERIC;
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		if (export_is_number(field)) {
			step = add_step(plan, STEP_NUMBER, field);
			value = field->flags & TB_FIELD_SIGNED ? PF_FIELD_INT :
								 PF_FIELD_UINT;
		} else {
			step = add_step(plan, tb_field_is_text(field) ?
					STEP_TEXT : STEP_LISTED, field);
			value = PF_FIELD_STR;
		}
		step->generic = true;
		step->type = PROTOBUF_C_TYPE_UINT64;
		name = strnlen(field->name, TB_NAME_MAX - 1);
		at = pf_put_tag(plan->heads + plan->nr_heads, PF_FIELD_NAME,
				PF_BYTES);
		at = pf_put_varint(at, name);
		at = pf_put_data(at, field->name, name);
		at = pf_put_tag(at, value, value == PF_FIELD_STR ? PF_BYTES :
								PF_VARINT);
		end_step(plan, step, at);
	}
}

/* The message an event is, NULL if it is a generic one */
static const ProtobufCFieldDescriptor *message_of(const struct tb_format *format)
{
	const ProtobufCFieldDescriptor *field;

	field = protobuf_c_message_descriptor_get_field_by_name(EVENT_MESSAGE,
								format->name);
	if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE ||
	    field->id == PF_EVENT_PRINT || field->id == PF_EVENT_GENERIC)
		return NULL;
	return field;
}

/* A field of the format that no step writes */
static bool is_lost(const struct pf_plan *plan, const struct tb_format_field *field)
{
	uint32_t i;

	for (i = 0; i < plan->nr_steps; i++)
		if (plan->steps[i].field == field && plan->steps[i].kind <= STEP_LISTED)
			return false;
	return field != plan->tid;
}

/* Of these Perfetto makes no more than of any other: better a generic one with all fields */
static bool is_only_listed(const char *name)
{
	static const char *const names[] = {
		"hrtimer_start", "hrtimer_cancel", "timer_start", "timer_cancel",
		"timer_expire_entry", "timer_expire_exit", "workqueue_activate_work",
		"workqueue_queue_work", "mm_vmscan_kswapd_wake", "mm_vmscan_kswapd_sleep",
		"sched_process_wait", "sched_process_hang", "sched_pi_setprio",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool plan_make(struct pf_plan *plan, const struct tb_format *format)
{
	const ProtobufCFieldDescriptor *field = message_of(format);
	const ProtobufCMessageDescriptor *message = NULL;
	size_t room = format->nr_fields;
	uint32_t i;

	if (field) {
		message = field->descriptor;
		room = message->n_fields;
	}
	plan->steps = calloc(room + 1, sizeof(*plan->steps));
	plan->heads = malloc(room * (TB_NAME_MAX + 8) + 1);
	if (!plan->steps || !plan->heads)
		return false;
	if (field) {
		plan->field = field->id;
		plan_message(plan, format, message);
		for (i = 0; i < format->nr_fields; i++)
			plan->nr_lost += is_lost(plan, &format->fields[i]);
		/* another event that is called the same */
		if ((!plan->nr_steps && format->nr_fields) ||
		    (plan->nr_lost && is_only_listed(format->name)))
			field = NULL;
	}
	if (!field) {
		free(plan->steps);
		free(plan->heads);
		memset(plan, 0, sizeof(*plan));
		plan->steps = calloc(format->nr_fields + 1u,
				     sizeof(*plan->steps));
		plan->heads = malloc(format->nr_fields *
				     (TB_NAME_MAX + 8ul) + 1);
		if (!plan->steps || !plan->heads)
			return false;
		plan_generic(plan, format);
	}
	plan->format = format;
	return true;
}

void pf_plans_say(const struct pf_plans *plans)
{
	const struct pf_plan *plan;
	uint32_t field;
	size_t i;

	for (i = 0; i < plans->nr_plans; i++) {
		plan = &plans->plans[i];
		if (!plan->events || !plan->nr_lost)
			continue;
		fprintf(stderr, "%" PRIu64 " events %s: Perfetto has no place for",
			plan->events, plan->format->name);
		for (field = 0; field < plan->format->nr_fields; field++)
			if (is_lost(plan, &plan->format->fields[field]))
				fprintf(stderr, " %s", plan->format->fields[field].name);
		fputc('\n', stderr);
	}
}

void pf_plans_free(struct pf_plans *plans)
{
	size_t i;

	for (i = 0; plans && i < plans->nr_plans; i++) {
		free(plans->plans[i].steps);
		free(plans->plans[i].heads);
	}
	free(plans);
}

struct pf_plans *pf_plans_make(const struct tb_trace *trace)
{
	unsigned int count = tb_trace_formats(trace), i;
	struct pf_plans *plans;

	plans = calloc(1, sizeof(*plans) + count * sizeof(plans->plans[0]));
	if (!plans)
		return NULL;
	plans->trace = trace;
	plans->nr_plans = count;
	for (i = 0; i < count; i++) {
		if (!plan_make(&plans->plans[i], tb_trace_format_at(trace, i))) {
			pf_plans_free(plans);
			return NULL;
		}
	}
	return plans;
}
