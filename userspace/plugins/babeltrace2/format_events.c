// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that a format of the kernel describes: create their classes, and set their fields.
 *
 * Stacks and counters are no fields of the format.  An event with them has another class of the
 * same name: stacks follow the fields of the payload, counters are in the specific context.
 *
 * If a payload is shorter than its format, value_events.c shows its bytes, because fields would
 * show numbers that the kernel did not record.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"

#define LABELS_MAX	1024
#define NUMBERS_MAX	(2 * TB_CALL_COMPAT)	/* of named calls and softirqs */
#define DYNAMIC (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)

/* ---- extras: counters and stacks ---- */

#define EXTRA_STACK		(1ull << 32)
#define EXTRA_USER_STACK	(1ull << 33)

static uint64_t get_extras(const struct tb_view *view)
{
	return view->counter_mask | (view->nr_stack ? EXTRA_STACK : 0) |
	       (view->nr_user_stack ? EXTRA_USER_STACK : 0);
}

/*
 * Stacks are at the end of the payload, because Babeltrace 2.0 cannot read CTF with arrays in the
 * specific context of a class.
 */
static bool add_stack_members(bt_trace_class *trace_class, bt_field_class *payload,
			      uint64_t extras)
{
	return (!(extras & EXTRA_STACK) ||
		bs_sequence_add(trace_class, payload, "callstack_kernel",
				bs_integer_class_create(trace_class, false, 64, true))) &&
	       (!(extras & EXTRA_USER_STACK) ||
		bs_sequence_add(trace_class, payload, "callstack_user",
				bs_integer_class_create(trace_class, false, 64, true)));
}

static bool set_counters_context(struct bs_model *model, const struct tb_trace *trace,
				 struct bs_class *class, uint32_t counters)
{
	bt_trace_class *trace_class = model->trace_class;
	bt_field_class *context = bt_field_class_structure_create(trace_class);
	const char *name;
	char spare[24];
	bool fine = context;
	uint32_t i;

	for (i = 0; fine && i < 32; i++) {
		if (!(counters & 1u << i))
			continue;
		name = tb_trace_string(trace, TB_STRING_COUNTER, i);
		snprintf(spare, sizeof(spare), "counter_%u", i);
		fine = bs_member_add(context, name ? name : spare,
				     bs_integer_class_create(trace_class, false, 64,
							     false));
	}
	if (fine)
		fine = !bt_event_class_set_specific_context_field_class(
				class->class, context);
	if (context)
		bt_field_class_put_ref(context);
	return fine;
}

static bool set_sequence_length(bt_field *structure, uint64_t *member, uint64_t count,
				bt_field **array)
{
	bt_field *field;

	field = bt_field_structure_borrow_member_field_by_index(structure,
								(*member)++);
	bt_field_integer_unsigned_set_value(field, count);
	*array = bt_field_structure_borrow_member_field_by_index(structure,
								 (*member)++);
	return !bt_field_array_dynamic_set_length(*array, count);
}

static bool put_addresses(bt_field *payload, uint64_t *member,
			  const uint64_t *addresses, uint32_t count)
{
	bt_field *array;
	uint32_t i;

	if (!set_sequence_length(payload, member, count, &array))
		return false;
	for (i = 0; i < count; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(array, i),
			addresses[i]);
	return true;
}

/* @member: index of the first payload member of a stack */
static bool fill_extras(const struct tb_view *view, bt_event *event,
			uint64_t member)
{
	bt_field *context = bt_event_borrow_specific_context_field(event);
	bt_field *payload = bt_event_borrow_payload_field(event);
	uint32_t number, i;
	uint64_t value;

	for (i = 0; tb_view_counter(view, i, &number, &value) > 0; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_structure_borrow_member_field_by_index(context,
				i), value);
	return (!view->nr_stack ||
		put_addresses(payload, &member, view->stack, view->nr_stack)) &&
	       (!view->nr_user_stack ||
		put_addresses(payload, &member, view->user_stack,
			      view->nr_user_stack));
}

/* ---- classes ---- */

/* Write the names of a field's numbers to @labels, and return how many there are */
static size_t collect_labels(const struct tb_trace *trace,
			     const struct tb_format *format,
			     const struct tb_format_field *field,
			     struct bs_label *labels)
{
	static const int64_t states[] = {
		0, 1, 2, 4, 8, 16, 32, 64, 128, 256,
	};
	uint32_t kind = field->show == TB_SHOW_SYSCALL ? TB_STRING_SYSCALL :
			TB_STRING_SOFTIRQ;
	size_t count = 0, i;
	const char *name;
	char spare[24];

	switch (field->show) {
	case TB_SHOW_SYSCALL:
	case TB_SHOW_SOFTIRQ:
	case TB_SHOW_SIGNAL:
		for (i = 0; i < NUMBERS_MAX && count < LABELS_MAX; i++) {
			name = field->show == TB_SHOW_SIGNAL ?
			       tb_signal_name((int64_t)i, spare) :
			       tb_trace_string(trace, kind, (uint32_t)i);
			if (!name || !*name)
				continue;
			labels[count].value = (int64_t)i;
			snprintf(labels[count++].text, sizeof(labels->text),
				 "%s", name);
		}
		return count;
	case TB_SHOW_STATE:
		for (; count < sizeof(states) / sizeof(states[0]); count++) {
			labels[count].value = states[count];
			tb_task_state((uint64_t)states[count],
				      labels[count].text,
				      sizeof(labels->text));
		}
		return count;
	case TB_SHOW_SIGNED:
	case TB_SHOW_UNSIGNED:
		return bs_labels_parse(format->print, field->name, labels,
				       LABELS_MAX);
	}
	return 0;
}

static bt_field_class *create_number_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   const struct tb_format *format,
					   const struct tb_format_field *field)
{
	bool is_signed = field->flags & TB_FIELD_SIGNED;
	unsigned int bits = field->flags & TB_FIELD_BITS ? field->bits :
			    field->width * 8u;
	bt_field_class *class = NULL;
	struct bs_label *labels;
	size_t count;

	labels = malloc(LABELS_MAX * sizeof(*labels));
	if (!labels)
		return NULL;
	count = collect_labels(trace, format, field, labels);
	if (count)
		class = bs_enumeration_class_create(model->trace_class, is_signed, bits,
						    labels, count);
	else
		class = bs_integer_class_create(model->trace_class, is_signed, bits,
						field->show == TB_SHOW_HEX ||
						field->show == TB_SHOW_FUNCTION);
	free(labels);
	return class;
}

/* Show unsigned items of 8 bytes as addresses, as print.c does */
static bt_field_class *create_item_class(struct bs_model *model,
					 const struct tb_format_field *field)
{
	bool is_signed = field->flags & TB_FIELD_SIGNED;

	return bs_integer_class_create(model->trace_class, is_signed,
				       field->width * 8u,
				       field->flags & TB_FIELD_HEX ||
				       (field->width == 8 && !is_signed));
}

/* Show a field with an impossible description as bytes */
static uint8_t choose_show(const struct tb_format_field *field)
{
	if (field->show == TB_SHOW_TEXT || field->show == TB_SHOW_MASK ||
	    field->show == TB_SHOW_ARRAY || field->show == TB_SHOW_BYTES)
		return field->show;
	if (!field->width ||
	    (field->flags & TB_FIELD_BITS &&
	     (!field->bits || field->bit + field->bits > field->width * 8)))
		return TB_SHOW_BYTES;
	return field->show;
}

static bool add_field_member(struct bs_model *model, const struct tb_trace *trace,
			     const struct tb_format *format, struct bs_field *plan,
			     bt_field_class *payload)
{
	const struct tb_format_field *field = &plan->field;
	bt_trace_class *trace_class = model->trace_class;
	bt_field_class *element, *array;

	switch (field->show) {
	case TB_SHOW_TEXT:
		return bs_member_add(payload, field->name,
				     bt_field_class_string_create(trace_class));
	case TB_SHOW_MASK:
		plan->member++;
		return bs_sequence_add(trace_class, payload, field->name,
				       bs_integer_class_create(trace_class, false, 32,
							       false));
	case TB_SHOW_BYTES:
		plan->member++;
		return bs_sequence_add(trace_class, payload, field->name,
				       bs_integer_class_create(trace_class, false, 8,
							       true));
	case TB_SHOW_ARRAY:
		if (field->flags & DYNAMIC) {
			plan->member++;
			return bs_sequence_add(trace_class, payload, field->name,
					       create_item_class(model, field));
		}
		element = create_item_class(model, field);
		if (!element)
			return false;
		array = bt_field_class_array_static_create(trace_class, element,
						field->size / field->width);
		bt_field_class_put_ref(element);
		return bs_member_add(payload, field->name, array);
	default:
		return bs_member_add(payload, field->name,
				     create_number_class(model, trace, format, field));
	}
}

static bool set_payload_class(struct bs_model *model, const struct tb_trace *trace,
			      const struct tb_format *format, struct bs_class *class)
{
	bt_field_class *payload;
	struct bs_field *plan;
	uint32_t i, end, member = 0;
	bool fine;

	payload = bt_field_class_structure_create(model->trace_class);
	class->fields = calloc(format->nr_fields + 1, sizeof(*class->fields));
	fine = payload && class->fields;
	for (i = 0; fine && i < format->nr_fields; i++) {
		plan = &class->fields[i];
		plan->field = format->fields[i];
		plan->field.show = choose_show(&plan->field);
		plan->member = member;
		fine = add_field_member(model, trace, format, plan, payload);
		member = plan->member + 1;
		end = plan->field.offset + (uint32_t)plan->field.size;
		if (end > class->needed)
			class->needed = end;
		class->nr_fields++;
	}
	class->stacks = member;
	fine = fine && add_stack_members(model->trace_class, payload, class->extras) &&
	       !bt_event_class_set_payload_field_class(class->class, payload);
	if (payload)
		bt_field_class_put_ref(payload);
	return fine;
}

struct bs_class *bs_class_create(struct bs_model *model, enum bs_kind kind,
				 const char *system, const char *name)
{
	struct bs_class *class = calloc(1, sizeof(*class));
	char text[2 * TB_NAME_MAX + 2], *at;

	if (!class)
		return NULL;
	snprintf(text, sizeof(text), "%s:%s", system, name);
	for (at = text; *at; at++)
		if (*at < 0x20 || *at > 0x7e || *at == '"' || *at == '\\')
			*at = '_';
	class->kind = kind;
	class->class = bt_event_class_create(model->stream_classes[kind]);
	if (!class->class || bt_event_class_set_name(class->class, text)) {
		bt_event_class_put_ref(class->class);
		free(class);
		return NULL;
	}
	return class;
}

void bs_class_free(void *node)
{
	struct bs_class *class = node;

	bt_event_class_put_ref(class->class);
	free(class->signature);
	free(class->fields);
	free(class);
}

static int compare_classes(const void *a, const void *b)
{
	const struct bs_class *one = a, *other = b;

	if (one->signature && other->signature)
		return strcmp(one->signature, other->signature);
	if (one->signature || other->signature)
		return one->signature ? 1 : -1;
	if (one->id != other->id)
		return one->id < other->id ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return one->extras == other->extras ? 0 : one->extras < other->extras ? -1 : 1;
}

struct bs_class *bs_class_find(const struct bs_model *model, const struct bs_class *like)
{
	void *node = tfind(like, &model->classes, compare_classes);

	return node ? *(struct bs_class **)node : NULL;
}

struct bs_class *bs_class_keep(struct bs_model *model, struct bs_class *class, bool complete)
{
	if (complete && tsearch(class, &model->classes, compare_classes))
		return class;
	bs_class_free(class);
	return NULL;
}

static struct bs_class *create_format_class(struct bs_model *model,
					    const struct tb_trace *trace,
					    enum bs_kind kind,
					    const struct tb_format *format,
					    uint64_t extras)
{
	struct bs_class *class;

	class = bs_class_create(model, kind, format->system, format->name);
	if (!class)
		return NULL;
	class->id = format->id;
	class->extras = extras;
	return bs_class_keep(model, class, (!(uint32_t)extras ||
			     set_counters_context(model, trace, class, (uint32_t)extras)) &&
			     set_payload_class(model, trace, format, class));
}

const struct bs_class *bs_format_get_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   enum bs_kind kind,
					   const struct tb_view *view)
{
	struct bs_class *class = model->by_format[view->id];
	struct bs_class like = { .id = view->id, .kind = kind, .extras = get_extras(view) };

	if (class && class->kind == kind && class->extras == like.extras)
		return class;
	class = bs_class_find(model, &like);
	if (!class)
		class = create_format_class(model, trace, kind, view->format, like.extras);
	model->by_format[view->id] = class;
	return class;
}

/* ---- filling in ---- */

bool bs_format_fits(const struct bs_class *class, const struct tb_view *view)
{
	const void *data;
	size_t length;
	uint32_t i;

	/* put_field() shows missing fields as 0 or as an empty text */
	if (view->format && view->format->flags & TB_EVENT_SHORT)
		return true;
	if (view->length < class->needed)
		return false;
	for (i = 0; i < class->nr_fields; i++)
		if (class->fields[i].field.flags & DYNAMIC &&
		    tb_field_data(view, &class->fields[i].field, &data, &length))
			return false;
	return true;
}

static void put_integer(bt_field *field, bool is_signed, uint64_t value)
{
	if (is_signed)
		bt_field_integer_signed_set_value(field, (int64_t)value);
	else
		bt_field_integer_unsigned_set_value(field, value);
}

static bool put_array(const struct tb_view *view, const struct bs_field *plan,
		      bt_field *payload)
{
	const struct tb_format_field *field = &plan->field;
	bool is_signed = field->flags & TB_FIELD_SIGNED;
	int count = tb_field_count(view, field), i;
	uint64_t value, member = plan->member - 1;
	bt_field *array;

	if (count < 0)
		count = 0;
	/* Babeltrace requires a value for each element; missing ones get 0 */
	if (!(field->flags & DYNAMIC))
		count = field->count;
	if (!(field->flags & DYNAMIC))
		array = bt_field_structure_borrow_member_field_by_index(payload,
								plan->member);
	else if (!set_sequence_length(payload, &member, (uint64_t)count, &array))
		return false;
	for (i = 0; i < count; i++) {
		if (tb_field_item(view, field, (unsigned int)i, &value))
			value = 0;
		put_integer(bt_field_array_borrow_element_field_by_index(array,
						(uint64_t)i),
			    is_signed, value);
	}
	return true;
}

static bool put_bytes(const unsigned char *data, size_t length,
		      uint64_t member, bt_field *payload)
{
	bt_field *array;
	size_t i;

	if (!set_sequence_length(payload, &member, length, &array))
		return false;
	for (i = 0; i < length; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(array, i),
			data[i]);
	return true;
}

/* Set an array to the numbers of the CPUs in a mask */
static bool put_mask(const unsigned char *data, size_t length, uint64_t member,
		     bt_field *payload)
{
	size_t bits = length * 8, i;
	uint64_t count = 0;
	bt_field *array;

	for (i = 0; i < bits; i++)
		count += data[i / 8] >> i % 8 & 1;
	if (!set_sequence_length(payload, &member, count, &array))
		return false;
	for (i = bits; i-- > 0;)
		if (data[i / 8] >> i % 8 & 1)
			bt_field_integer_unsigned_set_value(
				bt_field_array_borrow_element_field_by_index(
					array, --count), i);
	return true;
}

static bool put_field(const struct tb_view *view, const struct bs_field *plan,
		      bt_field *payload)
{
	const struct tb_format_field *field = &plan->field;
	const void *data = "";
	uint64_t value;
	size_t length;

	switch (field->show) {
	case TB_SHOW_ARRAY:
		return put_array(view, plan, payload);
	case TB_SHOW_TEXT:
	case TB_SHOW_MASK:
	case TB_SHOW_BYTES:
		if (tb_field_data(view, field, &data, &length))
			length = 0;
		if (field->show == TB_SHOW_MASK)
			return put_mask(data, length, plan->member - 1, payload);
		if (field->show == TB_SHOW_BYTES)
			return put_bytes(data, length, plan->member - 1, payload);
		return bs_text_set(
			bt_field_structure_borrow_member_field_by_index(payload,
				plan->member), data, strnlen(data, length));
	}
	if (tb_field_u64(view, field, &value))
		value = 0;
	put_integer(bt_field_structure_borrow_member_field_by_index(payload,
							plan->member),
		    field->flags & TB_FIELD_SIGNED, value);
	return true;
}

bool bs_format_fill(const struct bs_class *class, const struct tb_view *view,
		    bt_event *event)
{
	bt_field *payload = bt_event_borrow_payload_field(event);
	uint32_t i;

	if (class->extras && !fill_extras(view, event, class->stacks))
		return false;
	for (i = 0; i < class->nr_fields; i++)
		if (!put_field(view, &class->fields[i], payload))
			return false;
	return true;
}
