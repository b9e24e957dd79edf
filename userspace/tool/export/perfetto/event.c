// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - encode one event of the trace as one Perfetto event.
 *
 * The plan of the format (plan.c) has a step for each field that is written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "plan.h"
#include "tool/show/values.h"

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

/* Write the head of the step, @number, and @length bytes of data */
static void put_value(struct writer *to, const struct pf_step *step, uint64_t number,
		      const char *data, size_t length)
{
	if (!room_for(to, step->head_size + 3u * PF_VARINT_MAX + length))
		return;
	if (step->generic) {
		to->at = pf_put_tag(to->at, PF_GENERIC_FIELD, PF_BYTES);
		to->at = pf_put_varint(to->at, step->head_size +
					       pf_varint_size(number) + length);
	}
	to->at = pf_put_data(to->at, step->head, step->head_size);
	to->at = pf_put_varint(to->at, number);
	to->at = pf_put_data(to->at, data, length);
}

static void put_number(struct writer *to, const struct pf_step *step,
		       uint64_t value)
{
	/* cut @value to the type of the field; on the wire 32-bit numbers are sign-extended */
	if (step->type == PROTOBUF_C_TYPE_INT32)
		value = (uint64_t)(int64_t)(int32_t)value;
	else if (step->type == PROTOBUF_C_TYPE_UINT32)
		value = (uint32_t)value;
	put_value(to, step, value, "", 0);
}

static void put_text(struct writer *to, const struct pf_step *step,
		     const char *text, size_t length)
{
	if (length > EXPORT_TEXT_MAX) {
		length = EXPORT_TEXT_MAX;
		to->cut = true;
	}
	put_value(to, step, length, text, length);
}

static void put_items(struct writer *to, const struct pf_step *step,
		      const struct tb_view *view)
{
	int count = tb_field_count(view, step->field), i;
	uint64_t value;

	for (i = 0; i < count; i++)
		if (!tb_field_item(view, step->field, (unsigned int)i, &value))
			put_number(to, step, value);
}

/* Write the name of a function, once; Perfetto looks it up by the address */
static void write_symbol(struct pf_plans *plans, uint64_t address)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__InternedData names = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__InternedString symbol, *list = &symbol;
	char text[128];
	bool fresh;

	if (!address || !pf_known(&plans->symbols, PF_SYMBOL, (uint32_t)(address >> 32),
				  (uint32_t)address, &fresh) || !fresh ||
	    export_frame(plans->trace, address + 1, text, sizeof(text)))
		return;
	pf_string(&symbol, address, text);
	names.n_kernel_symbols = 1;
	names.kernel_symbols = &list;
	packet.interned_data = &names;
	pf_write_packet(plans->out, PF_SEQUENCE_EVENTS, &packet);
}

static void put_step(struct writer *to, const struct pf_step *step,
		     struct pf_plans *plans, const struct tb_view *view)
{
	char listed[EXPORT_TEXT_MAX + 32];
	struct value named;
	uint64_t value = 0;
	const void *data;
	const char *text;
	uint32_t four;
	size_t length;

	switch (step->kind) {
	case STEP_TEXT:
		if (!tb_field_str(view, step->field, &text, &length))
			put_text(to, step, text, length);
		return;
	case STEP_NAME:
		value_of(plans->trace, view, step->field, &named);
		if (named.meaning)
			put_text(to, step, named.meaning, strlen(named.meaning));
		return;
	case STEP_ITEMS:
		put_items(to, step, view);
		return;
	case STEP_LISTED:
		put_text(to, step, listed,
			 export_listed(view, step->field, listed));
		return;
	case STEP_ADDRESS:
		if (!tb_field_data(view, step->field, &data, &length) && length >= sizeof(four)) {
			memcpy(&four, data, sizeof(four));
			put_number(to, step, four);
		}
		return;
	}
	if (tb_field_u64(view, step->field, &value))
		return;
	switch (step->kind) {
	case STEP_FUNCTION:
		write_symbol(plans, value);
		/* fallthrough */
	case STEP_NUMBER:
		put_number(to, step, value);
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
	to->at = pf_put_bytes(to->at, PF_GENERIC_NAME, name, strnlen(name, EXPORT_TEXT_MAX));
}

/* Write the bytes of an event that the trace does not describe */
static void put_payload(struct writer *to, const struct tb_view *view)
{
	static const char name[] = "payload";
	uint8_t head[2 + sizeof(name) + 1], *at;
	struct pf_step step = { .generic = true, .head = head };
	char digits[EXPORT_TEXT_MAX + 1];

	at = pf_put_bytes(head, PF_FIELD_NAME, name, strlen(name));
	at = pf_put_tag(at, PF_FIELD_STR, PF_BYTES);
	step.head_size = (uint8_t)(at - head);
	put_text(to, &step, digits, export_bytes(view->payload, view->length, digits));
}

bool pf_plan_is_known(const struct pf_plans *plans, unsigned int index)
{
	return plans->plans[index].field < PF_EVENT_DESCRIBED &&
	       plans->plans[index].field != PF_EVENT_GENERIC;
}

void pf_encode(struct pf_plans *plans, const struct tb_view *view, bool plain,
	       struct pf_event *event)
{
	struct pf_plan *plan = NULL;
	struct writer to;
	char spare[24];
	uint32_t i;

	if (view->format)
		plan = &plans->plans[view->format->index + (plain ? plans->nr_plans : 0)];
	to = writer_start(event, plan ? plan->field : PF_EVENT_GENERIC, view->tid);
	if (event->field == PF_EVENT_GENERIC)
		put_name(&to, tb_view_name(view, spare));
	if (event->field >= PF_EVENT_DESCRIBED && !plan->described)
		pf_plan_tell(plans, plan, view->cpu);
	for (i = 0; plan && i < plan->nr_steps; i++)
		put_step(&to, &plan->steps[i], plans, view);
	if (!plan)
		put_payload(&to, view);
	writer_end(&to, event);
	if (plan)
		plan->events++;
}

/*
 * Perfetto shows "I|process|text" as an instant of the thread, and "B|...", "E|...", "C|..." as
 * slices and counters.  Any other text gets "I|process|" before it.
 */
void pf_encode_mark(const struct tb_view *view, struct pf_event *event)
{
	struct writer to = writer_start(event, PF_EVENT_PRINT, view->tid);
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
	to.at = pf_put_bytes(to.at, PF_PRINT_BUF, wrapped, used);
	writer_end(&to, event);
}

static void put_named(struct writer *to, const char *name, uint64_t value)
{
	size_t length = strlen(name);

	to->at = pf_put_tag(to->at, PF_GENERIC_FIELD, PF_BYTES);
	to->at = pf_put_varint(to->at, length + 3 + pf_varint_size(value));
	to->at = pf_put_bytes(to->at, PF_FIELD_NAME, name, length);
	to->at = pf_put_tag(to->at, PF_FIELD_UINT, PF_VARINT);
	to->at = pf_put_varint(to->at, value);
}

void pf_encode_lost(const struct tb_view *view, uint64_t first, uint64_t last,
		    struct pf_event *event)
{
	struct writer to = writer_start(event, PF_EVENT_GENERIC, view->tid);

	put_name(&to, "tracebuf_lost");
	put_named(&to, "overwritten", view->lost.overwritten);
	put_named(&to, "dropped", view->lost.dropped);
	put_named(&to, "oversize", view->lost.oversize);
	put_named(&to, "first_ns", first);
	put_named(&to, "last_ns", last);
	writer_end(&to, event);
}
