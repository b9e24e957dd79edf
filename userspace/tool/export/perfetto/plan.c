// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - plans: how to encode events of the kernel as Perfetto's.
 *
 * If FtraceEvent (perfetto.proto) has a field with the name of the event, the event becomes that
 * message, with all fields that the message also has.  Any other event is a described one: it gets
 * a field number beyond those of FtraceEvent, and a descriptor before its first event.  An event
 * with too many fields for that becomes a generic one, in which every field has its name.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "plan.h"
#include "tool/command/number.h"
#include "tool/show/values.h"

/* Bytes of a name in an event that Perfetto does not know */
#define STEP_NAME_MAX (TB_NAME_MAX + 8)

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

/* The kind of step that writes @field of the trace as @target of a message; -1: there is none */
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
		if (target->type == PROTOBUF_C_TYPE_UINT32 && is_array(field) &&
		    field->width == 1 && field->count == 4)
			return STEP_ADDRESS;
		return export_is_number(field) ? STEP_NUMBER : -1;
	default:
		return -1;
	}
}

/* Perfetto shows the name of the function at the address in @field */
static bool is_function(const struct tb_format *format, const char *field)
{
	return (!strcmp(field, "function") &&
		(!strncmp(format->name, "workqueue_", strlen("workqueue_")) ||
		 !strcmp(format->name, "hrtimer_expire_entry"))) ||
	       (!strcmp(field, "shrink") && !strcmp(format->name, "mm_shrink_slab_start"));
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
		kind = field ? step_of(field, target) : -1;
		if (kind < 0)
			continue;
		step = add_step(plan, (enum pf_step_kind)kind, field);
		step->type = (uint8_t)target->type;
		if (kind == STEP_NUMBER && is_function(format, target->name))
			step->kind = STEP_FUNCTION;
		end_step(plan, step, pf_put_tag(plan->heads + plan->nr_heads,
			 target->id, target->type == PROTOBUF_C_TYPE_STRING ?
			 PF_BYTES : PF_VARINT));
	}
}

/* Write the name of the field that @step makes in a plain event to @name; return its length */
static size_t step_name(const struct pf_step *step, char name[STEP_NAME_MAX])
{
	const char *field = step->field->name;

	snprintf(name, STEP_NAME_MAX, step->kind == STEP_NAME ? VALUE_NAME : "%s", field);
	return strlen(name);
}

static void plan_field(struct pf_plan *plan, enum pf_step_kind kind,
		       const struct tb_format_field *field, bool described)
{
	struct pf_step *step = add_step(plan, kind, field);
	uint8_t *at = plan->heads + plan->nr_heads;
	char name[STEP_NAME_MAX];
	uint32_t value;

	step->generic = !described;
	step->type = PROTOBUF_C_TYPE_UINT64;
	if (described) {
		value = plan->nr_steps;
	} else {
		if (kind == STEP_NUMBER)
			value = field->flags & TB_FIELD_SIGNED ? PF_FIELD_INT : PF_FIELD_UINT;
		else
			value = PF_FIELD_STR;
		at = pf_put_bytes(at, PF_FIELD_NAME, name, step_name(step, name));
	}
	at = pf_put_tag(at, value, kind == STEP_NUMBER ? PF_VARINT : PF_BYTES);
	end_step(plan, step, at);
}

/* Plan a generic event, or a @described one, with all fields, and with names of numbers */
static void plan_fields(struct pf_plan *plan, const struct tb_format *format, bool described)
{
	const struct tb_format_field *field;
	uint32_t i;

	plan->field = described ? PF_EVENT_DESCRIBED + format->index : PF_EVENT_GENERIC;
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		plan_field(plan, export_is_number(field) ? STEP_NUMBER :
			   tb_field_is_text(field) ? STEP_TEXT : STEP_LISTED, field, described);
		if (value_has_names(format, field))
			plan_field(plan, STEP_NAME, field, described);
	}
}

/* ---- descriptors of events that Perfetto does not know ---- */

/* google.protobuf.DescriptorProto and FieldDescriptorProto */
enum { DESCRIPTOR_NAME = 1, DESCRIPTOR_FIELD = 2 };
enum { FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5 };
enum { LABEL_OPTIONAL = 1, TYPE_INT64 = 3, TYPE_UINT64 = 4, TYPE_STRING = 9 };

static uint8_t *put_name(uint8_t *at, uint32_t field, const char *name)
{
	size_t length = strnlen(name, STEP_NAME_MAX - 1);

	at = pf_put_varint(pf_put_tag(at, field, PF_BYTES), length);
	export_clean((char *)at, name, length);
	return at + length;
}

static uint8_t *put_field(uint8_t *at, const struct pf_step *step, uint32_t number)
{
	uint8_t body[STEP_NAME_MAX + 32], *end;
	uint32_t type = TYPE_STRING;
	char name[STEP_NAME_MAX];

	if (step->kind == STEP_NUMBER)
		type = step->field->flags & TB_FIELD_SIGNED ? TYPE_INT64 : TYPE_UINT64;
	step_name(step, name);
	end = put_name(body, FIELD_NAME, name);
	end = pf_put_varint(pf_put_tag(end, FIELD_NUMBER, PF_VARINT), number);
	end = pf_put_varint(pf_put_tag(end, FIELD_LABEL, PF_VARINT), LABEL_OPTIONAL);
	end = pf_put_varint(pf_put_tag(end, FIELD_TYPE, PF_VARINT), type);
	return pf_put_bytes(at, DESCRIPTOR_FIELD, body, (size_t)(end - body));
}

void pf_plan_tell(struct pf_plans *plans, struct pf_plan *plan, uint32_t cpu)
{
	Perfetto__Protos__FtraceEventBundle bundle =
		PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__INIT;
	Perfetto__Protos__FtraceEventBundle__GenericEventDescriptor event =
		PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__GENERIC_EVENT_DESCRIPTOR__INIT;
	Perfetto__Protos__FtraceEventBundle__GenericEventDescriptor *list = &event;
	uint8_t body[(PF_DESCRIBED_FIELDS + 1) * (STEP_NAME_MAX + 40)], *at;
	char group[TB_NAME_MAX];
	size_t length;
	uint32_t i;

	plan->described = true;
	at = put_name(body, DESCRIPTOR_NAME, plan->format->name);
	for (i = 0; i < plan->nr_steps; i++)
		at = put_field(at, &plan->steps[i], i + 1);
	length = strnlen(plan->format->system, sizeof(group) - 1);
	export_clean(group, plan->format->system, length);
	event.has_field_id = event.has_event_descriptor = 1;
	event.field_id = (int32_t)plan->field;
	event.event_descriptor.data = body;
	event.event_descriptor.len = (size_t)(at - body);
	event.group_name = group;
	PF_SET(&bundle, cpu, cpu);
	bundle.n_generic_event_descriptors = 1;
	bundle.generic_event_descriptors = &list;
	pf_write_bundle(plans->out, &bundle, NULL, 0);
}

/* The field of FtraceEvent for events of @format; NULL: there is none */
static const ProtobufCFieldDescriptor *message_of(const struct tb_format *format)
{
	const ProtobufCFieldDescriptor *field;

	field = protobuf_c_message_descriptor_get_field_by_name(PF_EVENT_MESSAGE,
								format->name);
	if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE ||
	    field->id == PF_EVENT_PRINT || field->id == PF_EVENT_GENERIC)
		return NULL;
	return field;
}

/* True if no step of @plan writes @field */
static bool is_lost(const struct pf_plan *plan, const struct tb_format_field *field)
{
	uint32_t i;

	for (i = 0; i < plan->nr_steps; i++)
		if (plan->steps[i].field == field)
			return false;
	return true;
}

/*
 * Perfetto would draw these as slices without an end: only Android has the event that ends
 * cma_alloc_start, and a transfer of i2c has several beginnings and one end.
 */
static bool stays_open(const char *name)
{
	return !strcmp(name, "cma_alloc_start") || !strncmp(name, "i2c_", 4);
}

/* Perfetto only lists these events, so a plain one with all fields shows more */
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

static bool plan_room(struct pf_plan *plan, size_t room)
{
	free(plan->steps);
	free(plan->heads);
	memset(plan, 0, sizeof(*plan));
	plan->steps = calloc(room + 1, sizeof(*plan->steps));
	plan->heads = malloc(room * (STEP_NAME_MAX + 8) + 1);
	return plan->steps && plan->heads;
}

static bool plan_plain(struct pf_plan *plan, const struct tb_format *format)
{
	uint32_t steps = format->nr_fields, i;

	for (i = 0; i < format->nr_fields; i++)
		steps += value_has_names(format, &format->fields[i]);
	if (!plan_room(plan, steps))
		return false;
	plan_fields(plan, format, steps < PF_DESCRIBED_FIELDS &&
				  format->index < PF_DESCRIBED_MAX);
	plan->format = format;
	return true;
}

static bool plan_make(struct pf_plan *plan, const struct tb_format *format)
{
	const ProtobufCFieldDescriptor *field = message_of(format);
	uint32_t i;

	if (!field || stays_open(format->name) || is_only_listed(format->name))
		return plan_plain(plan, format);
	if (!plan_room(plan, field->descriptor ?
		       ((const ProtobufCMessageDescriptor *)field->descriptor)->n_fields : 0))
		return false;
	plan->field = field->id;
	plan_message(plan, format, field->descriptor);
	for (i = 0; i < format->nr_fields; i++)
		plan->nr_lost += is_lost(plan, &format->fields[i]);
	/* without a common field it is another event with the same name */
	if (!plan->nr_steps && format->nr_fields)
		return plan_plain(plan, format);
	plan->format = format;
	return true;
}

void pf_plans_note(const struct pf_plans *plans)
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

	if (!plans)
		return;
	for (i = 0; i < 2 * plans->nr_plans; i++) {
		free(plans->plans[i].steps);
		free(plans->plans[i].heads);
	}
	pf_tracks_free(&plans->symbols);
	free(plans);
}

struct pf_plans *pf_plans_make(const struct tb_trace *trace, struct pf_out *out)
{
	unsigned int count = tb_trace_formats(trace), i;
	struct pf_plans *plans;

	plans = calloc(1, sizeof(*plans) + 2ul * count * sizeof(plans->plans[0]));
	if (!plans)
		return NULL;
	plans->trace = trace;
	plans->out = out;
	plans->nr_plans = count;
	for (i = 0; i < count; i++) {
		if (!plan_make(&plans->plans[i], tb_trace_format_at(trace, i)) ||
		    !plan_plain(&plans->plans[count + i], tb_trace_format_at(trace, i))) {
			pf_plans_free(plans);
			return NULL;
		}
	}
	return plans;
}
