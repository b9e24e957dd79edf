// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - one event of the trace as one Perfetto event.
 *
 * For each format there is a plan, made once: a row of steps, each of which
 * puts one field on the wire.  If FtraceEvent (perfetto.proto) has a field of
 * the event's name, the event becomes that message, with those of its fields
 * that the message has by name and kind; else it becomes a generic event with
 * all of its fields.
 *
 * The one-element forms leave out what can be had from elsewhere.  A message
 * that has `X_comm' (or `comm') next to `X_pid' (`pid') gets the name from the
 * table of threads, the same for `prio'; an interrupt gets the name of its
 * handler from the trace's strings.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "export_perfetto.h"

#define EVENT_MESSAGE	(&perfetto__protos__ftrace_event__descriptor)

/* Numbers of fields, as in perfetto.proto */
enum {
	EVENT_PRINT = 3,
	EVENT_GENERIC = 327,
	GENERIC_NAME = 1,
	GENERIC_FIELD = 2,
	FIELD_NAME = 1,
	FIELD_STR = 3,
	FIELD_INT = 4,
	FIELD_UINT = 5,
	PRINT_BUF = 2,
};

enum step_kind {
	STEP_NUMBER,
	STEP_ITEMS,		/* an array as a repeated number */
	STEP_TEXT,
	STEP_LISTED,		/* an array, or bytes, as text */
	STEP_COMM,		/* the name of the thread in @field */
	STEP_PRIO,		/* its priority */
	STEP_IRQ,		/* the name of the interrupt in @field */
};

/*
 * @head is what stands before the value: its tag, in a generic event with the
 * field's name before.
 */
struct step {
	uint8_t  kind;
	uint8_t  type;		/* ProtobufCType of numbers */
	uint8_t  head_size;
	bool     generic;
	const uint8_t *head;
	const struct tb_format_field *field;
};

struct plan {
	uint32_t field;		/* in FtraceEvent */
	uint32_t nr_steps;
	struct step *steps;
	uint8_t *heads;		/* of all steps */
	size_t   nr_heads;	/* bytes of them */
	const struct tb_format_field *tid;	/* whose event it is */
	const struct tb_format_field *next_pid, *next_prio;
	const struct tb_format *format;
	uint32_t nr_lost;	/* fields that the message has no place for */
	uint64_t events;
};

struct pf_plans {
	const struct tb_trace *trace;
	size_t nr_plans;
	struct plan plans[];
};

/* ---- making plans ---- */

static bool is_array(const struct tb_format_field *field)
{
	return field->width && !tb_field_is_text(field) && !export_is_number(field);
}

static struct step *add_step(struct plan *plan, enum step_kind kind,
			     const struct tb_format_field *field)
{
	struct step *step = &plan->steps[plan->nr_steps++];

	memset(step, 0, sizeof(*step));
	step->kind = (uint8_t)kind;
	step->field = field;
	step->head = plan->heads + plan->nr_heads;
	return step;
}

static void end_step(struct plan *plan, struct step *step, const uint8_t *end)
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

static void plan_message(struct plan *plan, const struct tb_format *format,
			 const ProtobufCMessageDescriptor *message)
{
	const ProtobufCFieldDescriptor *target;
	const struct tb_format_field *field;
	struct step *step;
	unsigned int i;
	int kind;

	for (i = 0; i < message->n_fields; i++) {
		target = &message->fields[i];
		field = tb_format_field(format, target->name);
		kind = field ? step_of(field, target) :
			       derived_step(format, target->name, &field);
		if (kind < 0)
			continue;
		step = add_step(plan, (enum step_kind)kind, field);
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

static void plan_generic(struct plan *plan, const struct tb_format *format)
{
	const struct tb_format_field *field;
	struct step *step;
	uint32_t i, value;
	uint8_t *at;
	size_t name;

	plan->field = EVENT_GENERIC;
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		if (export_is_number(field)) {
			step = add_step(plan, STEP_NUMBER, field);
			value = field->flags & TB_FIELD_SIGNED ? FIELD_INT :
								 FIELD_UINT;
		} else {
			step = add_step(plan, tb_field_is_text(field) ?
					STEP_TEXT : STEP_LISTED, field);
			value = FIELD_STR;
		}
		step->generic = true;
		step->type = PROTOBUF_C_TYPE_UINT64;
		name = strnlen(field->name, TB_NAME_MAX - 1);
		at = pf_put_tag(plan->heads + plan->nr_heads, FIELD_NAME,
				PF_BYTES);
		at = pf_put_varint(at, name);
		at = pf_put_data(at, field->name, name);
		at = pf_put_tag(at, value, value == FIELD_STR ? PF_BYTES :
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
	    field->id == EVENT_PRINT || field->id == EVENT_GENERIC)
		return NULL;
	return field;
}

/* A field of the format that no step writes */
static bool is_lost(const struct plan *plan, const struct tb_format_field *field)
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

static bool plan_make(struct plan *plan, const struct tb_format *format)
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
	const struct plan *plan;
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

/* ---- writing by plan ---- */

struct writer {
	uint8_t *at, *end;
	bool cut;
};

static bool room_for(struct writer *to, size_t size)
{
	if ((size_t)(to->end - to->at) >= size)
		return true;
	to->cut = true;
	return false;
}

static void put_number(struct writer *to, const struct step *step,
		       uint64_t value)
{
	/* as the reader's type is; 32-bit ones are extended on the wire */
	if (step->type == PROTOBUF_C_TYPE_INT32)
		value = (uint64_t)(int64_t)(int32_t)value;
	else if (step->type == PROTOBUF_C_TYPE_UINT32)
		value = (uint32_t)value;
	if (!room_for(to, step->head_size + 3u * PF_VARINT_MAX))
		return;
	if (step->generic) {
		to->at = pf_put_tag(to->at, GENERIC_FIELD, PF_BYTES);
		to->at = pf_put_varint(to->at, step->head_size +
					       pf_varint_size(value));
	}
	to->at = pf_put_data(to->at, step->head, step->head_size);
	to->at = pf_put_varint(to->at, value);
}

static void put_text(struct writer *to, const struct step *step,
		     const char *text, size_t length)
{
	if (length > EXPORT_TEXT_MAX) {
		length = EXPORT_TEXT_MAX;
		to->cut = true;
	}
	if (!room_for(to, step->head_size + 3u * PF_VARINT_MAX + length))
		return;
	if (step->generic) {
		to->at = pf_put_tag(to->at, GENERIC_FIELD, PF_BYTES);
		to->at = pf_put_varint(to->at, step->head_size +
					       pf_varint_size(length) + length);
	}
	to->at = pf_put_data(to->at, step->head, step->head_size);
	to->at = pf_put_varint(to->at, length);
	to->at = pf_put_data(to->at, text, length);
}

static void put_items(struct writer *to, const struct step *step,
		      const struct tb_view *view)
{
	int count = tb_field_count(view, step->field), i;
	uint64_t value;

	for (i = 0; i < count; i++)
		if (!tb_field_item(view, step->field, (unsigned int)i, &value))
			put_number(to, step, value);
}

static void put_comm(struct writer *to, const struct step *step,
		     const struct tb_cursor *cursor, const struct tb_view *view,
		     uint32_t tid)
{
	const struct tb_task *task;
	char idle[24];
	int length;

	if (!tid) {
		length = snprintf(idle, sizeof(idle), "swapper/%" PRIu32,
				  view->cpu);
		put_text(to, step, idle, (size_t)length);
		return;
	}
	task = tb_cursor_task(cursor, tid);
	if (task && task->comm[0])
		put_text(to, step, task->comm, strlen(task->comm));
}

static void put_prio(struct writer *to, const struct step *step,
		     const struct tb_cursor *cursor,
		     const struct pf_current *current, uint32_t tid)
{
	const struct tb_task *task;

	if (current->known && current->tid == tid) {
		put_number(to, step, (uint64_t)(int64_t)current->prio);
		return;
	}
	task = tid ? tb_cursor_task(cursor, tid) : NULL;
	if (!tid)
		put_number(to, step, 120);
	else if (task && task->flags & TB_TASK_LISTED)
		put_number(to, step, task->prio);
}

static void put_step(struct writer *to, const struct step *step,
		     const struct pf_plans *plans,
		     const struct tb_cursor *cursor, const struct tb_view *view,
		     const struct pf_current *current)
{
	char listed[EXPORT_TEXT_MAX + 32];
	uint64_t value = 0;
	const char *text;
	size_t length;

	switch (step->kind) {
	case STEP_TEXT:
		if (!tb_field_str(view, step->field, &text, &length))
			put_text(to, step, text, length);
		return;
	case STEP_ITEMS:
		put_items(to, step, view);
		return;
	case STEP_LISTED:
		put_text(to, step, listed,
			 export_listed(view, step->field, listed));
		return;
	}
	if (tb_field_u64(view, step->field, &value))
		return;
	switch (step->kind) {
	case STEP_NUMBER:
		put_number(to, step, value);
		break;
	case STEP_COMM:
		put_comm(to, step, cursor, view, (uint32_t)value);
		break;
	case STEP_PRIO:
		put_prio(to, step, cursor, current, (uint32_t)value);
		break;
	case STEP_IRQ:
		text = tb_trace_string(plans->trace, TB_STRING_IRQ,
				       (uint32_t)value);
		if (text)
			put_text(to, step, text, strlen(text));
		break;
	}
}

static struct writer writer_start(struct pf_event *event, uint32_t field,
				  uint32_t tid)
{
	struct writer to = { event->body, event->body + PF_BODY_MAX, false };

	event->field = field;
	event->tid = tid;
	return to;
}

static void writer_end(const struct writer *to, struct pf_event *event)
{
	event->size = (size_t)(to->at - event->body);
	event->cut = to->cut;
}

static void put_name(struct writer *to, const char *name)
{
	size_t length = strnlen(name, EXPORT_TEXT_MAX);

	to->at = pf_put_tag(to->at, GENERIC_NAME, PF_BYTES);
	to->at = pf_put_varint(to->at, length);
	to->at = pf_put_data(to->at, name, length);
}

/* All that is known of an event that the trace does not describe */
static void put_payload(struct writer *to, const struct tb_view *view)
{
	static const char name[] = "payload";
	uint8_t head[2 + sizeof(name) + 1], *at;
	struct step step = { .generic = true, .head = head };
	char digits[EXPORT_TEXT_MAX + 1];

	at = pf_put_tag(head, FIELD_NAME, PF_BYTES);
	at = pf_put_varint(at, strlen(name));
	at = pf_put_data(at, name, strlen(name));
	at = pf_put_tag(at, FIELD_STR, PF_BYTES);
	step.head_size = (uint8_t)(at - head);
	put_text(to, &step, digits, export_bytes(view->payload, view->length, digits));
}

void pf_encode(struct pf_plans *plans, const struct tb_cursor *cursor,
	       const struct tb_view *view, struct pf_current *current,
	       struct pf_event *event)
{
	struct plan *plan = view->format ? &plans->plans[view->format->index] : NULL;
	struct writer to = writer_start(event, plan ? plan->field :
					EVENT_GENERIC, view->tid);
	uint64_t tid, prio;
	char spare[24];
	uint32_t i;

	if (event->field == EVENT_GENERIC)
		put_name(&to, tb_view_name(view, spare));
	for (i = 0; plan && i < plan->nr_steps; i++)
		put_step(&to, &plan->steps[i], plans, cursor, view, current);
	if (!plan)
		put_payload(&to, view);
	writer_end(&to, event);
	if (!plan)
		return;
	plan->events++;
	if (plan->tid && !tb_field_u64(view, plan->tid, &tid))
		event->tid = (uint32_t)tid;
	if (plan->next_pid && plan->next_prio) {
		current->known = !tb_field_u64(view, plan->next_pid, &tid) &&
				 !tb_field_u64(view, plan->next_prio, &prio);
		if (current->known) {
			current->tid = (uint32_t)tid;
			current->prio = (int32_t)prio;
		}
	}
}

/*
 * Perfetto shows what looks like "I|process|text" as an instant of the thread,
 * and "B|", "E|", "C|" as slices and counters; any other text is wrapped up
 * as an instant.
 */
void pf_encode_mark(const struct tb_view *view, struct pf_event *event)
{
	struct writer to = writer_start(event, EVENT_PRINT, view->tid);
	size_t length = strnlen(view->payload, view->length), used = 0;
	const char *text = view->payload;
	char wrapped[EXPORT_TEXT_MAX + 32];
	uint32_t process = view->task && view->task->tgid ? view->task->tgid :
							    view->tid;

	if (length > EXPORT_TEXT_MAX) {
		length = EXPORT_TEXT_MAX;
		to.cut = true;
	}
	if (length < 2 || !strchr("BECISFGHN", text[0]) || text[1] != '|')
		used = (size_t)snprintf(wrapped, sizeof(wrapped),
					"I|%" PRIu32 "|", process);
	memcpy(wrapped + used, text, length);
	used += length;
	to.at = pf_put_tag(to.at, PRINT_BUF, PF_BYTES);
	to.at = pf_put_varint(to.at, used);
	to.at = pf_put_data(to.at, wrapped, used);
	writer_end(&to, event);
}

static void put_named(struct writer *to, const char *name, uint64_t value)
{
	size_t length = strlen(name);

	to->at = pf_put_tag(to->at, GENERIC_FIELD, PF_BYTES);
	to->at = pf_put_varint(to->at, length + 3 + pf_varint_size(value));
	to->at = pf_put_tag(to->at, FIELD_NAME, PF_BYTES);
	to->at = pf_put_varint(to->at, length);
	to->at = pf_put_data(to->at, name, length);
	to->at = pf_put_tag(to->at, FIELD_UINT, PF_VARINT);
	to->at = pf_put_varint(to->at, value);
}

void pf_encode_lost(const struct tb_view *view, uint64_t first, uint64_t last,
		    struct pf_event *event)
{
	struct writer to = writer_start(event, EVENT_GENERIC, view->tid);

	put_name(&to, "tracebuf_lost");
	put_named(&to, "overwritten", view->lost.overwritten);
	put_named(&to, "dropped", view->lost.dropped);
	put_named(&to, "oversize", view->lost.oversize);
	put_named(&to, "first_ns", first);
	put_named(&to, "last_ns", last);
	writer_end(&to, event);
}
