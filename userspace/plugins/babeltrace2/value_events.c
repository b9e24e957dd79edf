// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that no format of the kernel describes, as lists of named values: control events, losses,
 * records of programs, and events with a payload that is shorter than its format.
 *
 * The names and types of a list are its signature.  Each signature has a class, so each set of
 * arguments in programs' records has one.  A program may use another set in each record: if there
 * are BS_SIGNATURES classes, further arguments become one text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"

#define VALUES_MAX	1100	/* an event has no more than 1024 arguments */
#define SIGNATURE_MAX	8192
#define ARGS_TEXT	8192

enum bs_type {
	VALUE_UNSIGNED = 'u',
	VALUE_SIGNED = 's',
	VALUE_HEX = 'x',
	VALUE_DOUBLE = 'd',
	VALUE_TEXT = 't',
	VALUE_BYTES = 'b',
	VALUE_ADDRESSES = 'a',
};

struct bs_value {
	const char *name;
	enum bs_type type;
	union {
		uint64_t u64;
		int64_t  s64;
		double   f64;
	} number;
	const void *data;	/* of texts, bytes and addresses */
	size_t      length;	/* in bytes; number of addresses */
};

/**
 * struct bs_values - an event as values
 * @args: index of the first argument of a record
 */
struct bs_values {
	const char *system;
	const char *name;
	char   spare[24];
	size_t count, args;
	struct bs_value list[VALUES_MAX];
	char   text[512];
	char   args_text[ARGS_TEXT];
	char   signature[SIGNATURE_MAX];
};

struct bs_values *bs_values_alloc(void)
{
	return malloc(sizeof(struct bs_values));
}

/* ---- collecting values ---- */

static struct bs_value *add_value(struct bs_values *values, const char *name,
				  enum bs_type type)
{
	struct bs_value *value;

	/* records cannot have more values; do not rely on it */
	if (values->count == VALUES_MAX)
		values->count--;
	value = &values->list[values->count++];
	memset(value, 0, sizeof(*value));
	value->name = name;
	value->type = type;
	return value;
}

static void add_number(struct bs_values *values, const char *name,
		       uint64_t number)
{
	add_value(values, name, VALUE_UNSIGNED)->number.u64 = number;
}

static void add_data(struct bs_values *values, const char *name,
		     enum bs_type type, const void *data, size_t length)
{
	struct bs_value *value = add_value(values, name, type);

	value->data = data;
	value->length = length;
}

static void add_text(struct bs_values *values, const char *name,
		     const char *text)
{
	add_data(values, name, VALUE_TEXT, text, strlen(text));
}

/* Add the names of the set bits as a text, with commas; @name_of returns the name of a bit */
static void add_bits(struct bs_values *values, const char *name, uint32_t bits,
		     const char *(*name_of)(unsigned int bit))
{
	size_t used = 0;
	unsigned int bit;

	values->text[0] = 0;
	for (bit = 0; bit < 32 && used < sizeof(values->text); bit++)
		if (bits & 1u << bit && *name_of(bit))
			used += (size_t)snprintf(values->text + used,
						 sizeof(values->text) - used,
						 "%s%s", used ? ", " : "",
						 name_of(bit));
	add_text(values, name, values->text);
}

static void add_span(struct bs_values *values, const struct tb_trace *trace,
		     const struct tb_gap *lost)
{
	add_number(values, "first", tb_trace_ns(trace, lost->first,
						TB_TIME_MONOTONIC));
	add_number(values, "last", tb_trace_ns(trace, lost->last,
					       TB_TIME_MONOTONIC));
}

static void add_control(struct bs_values *values, const struct tb_trace *trace,
			const struct tb_view *view)
{
	const struct tb_clock_sync *sync = view->payload;
	const struct tb_thread *thread = view->payload;
	uint32_t number, i;
	const char *name;
	uint64_t value;

	if (view->id == TB_EV_MARK) {
		add_data(values, "text", VALUE_TEXT, view->payload,
			 view->length);
	} else if (view->id == TB_EV_CLOCK && view->length >= sizeof(*sync)) {
		add_number(values, "clock", sync->clock);
		add_number(values, "monotonic", sync->monotonic);
		add_number(values, "boottime", sync->boottime);
		add_number(values, "realtime", sync->realtime);
		add_number(values, "uncertainty", sync->uncertainty);
	} else if (view->id == TB_EV_THREAD && view->length >= sizeof(*thread)) {
		add_number(values, "tid", thread->tid);
		add_number(values, "tgid", thread->tgid);
		add_number(values, "parent", thread->parent);
		add_number(values, "uid", thread->uid);
		add_number(values, "prio", thread->prio);
		add_value(values, "flags", VALUE_HEX)->number.u64 = thread->flags;
		add_data(values, "comm", VALUE_TEXT, thread->comm,
			 strnlen(thread->comm, sizeof(thread->comm)));
	} else {
		add_data(values, "payload", VALUE_BYTES, view->payload,
			 view->length);
	}
	if (view->nr_stack)
		add_data(values, "callstack_kernel", VALUE_ADDRESSES,
			 view->stack, view->nr_stack);
	if (view->nr_user_stack)
		add_data(values, "callstack_user", VALUE_ADDRESSES,
			 view->user_stack, view->nr_user_stack);
	for (i = 0; tb_view_counter(view, i, &number, &value) > 0; i++) {
		name = tb_trace_string(trace, TB_STRING_COUNTER, number);
		add_number(values, name ? name : "counter", value);
	}
}

/* ---- records of programs ---- */

static const char *get_doubt_name(unsigned int bit)
{
	switch (1u << bit) {
	case TB_USER_UNMATCHED:
		return "without a beginning";
	case TB_USER_CLAMPED:
		return "impossible time";
	case TB_USER_NO_TIME:
		return "unknown clock";
	case TB_USER_CUT:
		return "truncated";
	}
	return "";
}

static void add_arg(struct bs_values *values, const struct tb_user_arg *arg)
{
	switch (arg->type) {
	case TB_ARG_S64:
		add_value(values, arg->name, VALUE_SIGNED)->number.s64 = arg->value.s64;
		break;
	case TB_ARG_U64:
		add_number(values, arg->name, arg->value.u64);
		break;
	case TB_ARG_DOUBLE:
		add_value(values, arg->name, VALUE_DOUBLE)->number.f64 = arg->value.f64;
		break;
	case TB_ARG_TEXT:
		add_text(values, arg->name, arg->text);
		break;
	default:
		add_value(values, arg->name, VALUE_HEX)->number.u64 = arg->value.u64;
	}
}

static void add_record(struct bs_values *values, const struct tb_user *user)
{
	uint32_t i;

	values->name = tb_record_type_name(user->type);
	if (*values->name == '?') {
		snprintf(values->spare, sizeof(values->spare), "record_%u",
			 user->type);
		values->name = values->spare;
	}
	add_text(values, "category", user->category);
	if (user->type != TB_REC_MARK)
		add_text(values, "name", user->name);
	switch (user->type) {
	case TB_REC_COUNTER:
		if (user->flags & TB_USER_DOUBLE)
			add_value(values, "value", VALUE_DOUBLE)->number.f64 =
				user->value.f64;
		else
			add_value(values, "value", VALUE_SIGNED)->number.s64 =
				user->value.s64;
		break;
	case TB_REC_SLICE:
		add_number(values, "ended", !(user->flags & TB_USER_OPEN));
		add_number(values, "duration", user->flags & TB_USER_OPEN ? 0 :
			   user->duration_ns);
		break;
	case TB_REC_SIMPLE:
		add_number(values, "value", user->value.u64);
		break;
	case TB_REC_EVENT:
		add_data(values, "data", VALUE_BYTES, user->data,
			 user->data_bytes);
		break;
	case TB_REC_MARK:
		add_data(values, "text", VALUE_TEXT, user->data,
			 user->data_bytes);
		break;
	}
	if (user->flags & TB_USER_FLOW) {
		add_number(values, "flow", user->flow);
		add_number(values, "flow_end", user->flags & TB_USER_FLOW_END ?
			   1 : 0);
	}
	if (user->flags & (TB_USER_UNMATCHED | TB_USER_CLAMPED |
			   TB_USER_NO_TIME | TB_USER_CUT))
		add_bits(values, "doubts", user->flags, get_doubt_name);
	values->args = values->count;
	for (i = 0; i < user->nr_args; i++)
		add_arg(values, &user->args[i]);
}

static void collect_values(struct bs_values *values, const struct tb_trace *trace,
			   const struct tb_view *view)
{
	const struct tb_gap *lost = &view->lost;

	values->count = 0;
	values->args = VALUES_MAX;
	values->system = tb_view_system(view);
	values->name = view->kind == TB_VIEW_USER ? "" :
		       tb_view_name(view, values->spare);
	switch (view->kind) {
	case TB_VIEW_LOST:
		add_number(values, "overwritten", lost->overwritten);
		add_number(values, "dropped", lost->dropped);
		add_number(values, "oversize", lost->oversize);
		add_span(values, trace, lost);
		break;
	case TB_VIEW_USER_LOST:
		add_number(values, "records", view->user->lost);
		add_number(values, "at_most",
			   view->user->flags & TB_USER_AT_MOST ? 1 : 0);
		add_bits(values, "cause", view->user->cause, tb_lost_cause_name);
		add_span(values, trace, lost);
		break;
	case TB_VIEW_USER:
		add_record(values, view->user);
		break;
	default:
		add_control(values, trace, view);
	}
}

/* Replace the arguments by one text such as "size=512 path=/index" */
static void join_args(struct bs_values *values)
{
	size_t used = 0, i;

	values->args_text[0] = 0;
	for (i = values->args; i < values->count && used < ARGS_TEXT; i++) {
		const struct bs_value *value = &values->list[i];
		char *at = values->args_text + used;
		size_t room = ARGS_TEXT - used;

		used += (size_t)snprintf(at, room, "%s%s=", used ? " " : "",
					 value->name);
		if (used >= ARGS_TEXT)
			break;
		at = values->args_text + used;
		room = ARGS_TEXT - used;
		if (value->type == VALUE_TEXT)
			used += (size_t)snprintf(at, room, "%s",
						 (const char *)value->data);
		else if (value->type == VALUE_DOUBLE)
			used += (size_t)snprintf(at, room, "%.17g",
						 value->number.f64);
		else
			used += (size_t)snprintf(at, room,
				value->type == VALUE_SIGNED ? "%lld" :
				value->type == VALUE_HEX ? "0x%llx" : "%llu",
				(unsigned long long)value->number.u64);
	}
	values->count = values->args;
	values->args = VALUES_MAX;
	add_text(values, "args", values->args_text);
}

/* ---- classes ---- */

/* Each name has its length before it: it may contain anything.  False: the signature is too long */
static bool write_signature(struct bs_values *values, enum bs_kind kind)
{
	char *text = values->signature;
	size_t used, i;

	used = (size_t)snprintf(text, SIGNATURE_MAX, "%d %zu:%s:%s", (int)kind,
				strlen(values->system), values->system, values->name);
	for (i = 0; i < values->count && used < SIGNATURE_MAX; i++)
		used += (size_t)snprintf(text + used, SIGNATURE_MAX - used,
					 "%c%c%zu:%s",
					 i == values->args ? '(' : ' ',
					 (char)values->list[i].type,
					 strlen(values->list[i].name), values->list[i].name);
	return used < SIGNATURE_MAX;
}

static struct bs_class *find_class(struct bs_model *model)
{
	struct bs_class like = { .signature = model->values->signature };

	return bs_class_find(model, &like);
}

static bool add_value_member(struct bs_model *model, const struct bs_value *value,
			     bt_field_class *structure)
{
	bt_trace_class *trace_class = model->trace_class;

	switch (value->type) {
	case VALUE_TEXT:
		return bs_member_add(structure, value->name,
				     bt_field_class_string_create(trace_class));
	case VALUE_DOUBLE:
		return bs_member_add(structure, value->name,
			bt_field_class_real_double_precision_create(trace_class));
	case VALUE_BYTES:
	case VALUE_ADDRESSES:
		return bs_sequence_add(trace_class, structure, value->name,
				       bs_integer_class_create(trace_class, false,
					value->type == VALUE_BYTES ? 8 : 64,
					true));
	default:
		return bs_member_add(structure, value->name,
				     bs_integer_class_create(trace_class,
					value->type == VALUE_SIGNED, 64,
					value->type == VALUE_HEX));
	}
}

static bool set_payload_class(struct bs_model *model, struct bs_class *class)
{
	const struct bs_values *values = model->values;
	bt_field_class *payload, *args = NULL;
	bool fine;
	size_t i;

	payload = bt_field_class_structure_create(model->trace_class);
	fine = payload;
	for (i = 0; fine && i < values->count; i++) {
		if (i == values->args) {
			args = bt_field_class_structure_create(model->trace_class);
			fine = args;
		}
		fine = fine && add_value_member(model, &values->list[i],
						args ? args : payload);
	}
	if (fine && args)
		fine = bs_member_add(payload, "args", args);
	else if (args)
		bt_field_class_put_ref(args);
	if (fine)
		fine = !bt_event_class_set_payload_field_class(class->class,
							       payload);
	if (payload)
		bt_field_class_put_ref(payload);
	return fine;
}

const struct bs_class *bs_values_get_class(struct bs_model *model,
					   const struct tb_trace *trace,
					   enum bs_kind kind,
					   const struct tb_view *view)
{
	struct bs_values *values = model->values;
	struct bs_class *class;
	bool short_enough;

	collect_values(values, trace, view);
	short_enough = write_signature(values, kind);
	class = short_enough ? find_class(model) : NULL;
	if (class)
		return class;
	if (values->args < values->count &&
	    (!short_enough || model->signatures >= BS_SIGNATURES)) {
		join_args(values);
		write_signature(values, kind);
		class = find_class(model);
		if (class)
			return class;
	}
	class = bs_class_create(model, kind, values->system, values->name);
	if (!class)
		return NULL;
	class->signature = strdup(values->signature);
	class = bs_class_keep(model, class, class->signature && set_payload_class(model, class));
	model->signatures += class != NULL;
	return class;
}

/* ---- filling in ---- */

static bool put_items(const struct bs_value *value, bt_field *array)
{
	const unsigned char *bytes = value->data;
	const uint64_t *words = value->data;
	size_t i;

	if (bt_field_array_dynamic_set_length(array, value->length))
		return false;
	for (i = 0; i < value->length; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(array, i),
			value->type == VALUE_BYTES ? bytes[i] : words[i]);
	return true;
}

static bool put_value(const struct bs_value *value, bt_field *structure,
		      uint64_t *member)
{
	bt_field *field;

	field = bt_field_structure_borrow_member_field_by_index(structure,
								(*member)++);
	switch (value->type) {
	case VALUE_TEXT:
		return bs_text_set(field, value->data, value->length);
	case VALUE_DOUBLE:
		bt_field_real_double_precision_set_value(field,
							 value->number.f64);
		return true;
	case VALUE_SIGNED:
		bt_field_integer_signed_set_value(field, value->number.s64);
		return true;
	case VALUE_BYTES:
	case VALUE_ADDRESSES:
		bt_field_integer_unsigned_set_value(field, value->length);
		return put_items(value,
			bt_field_structure_borrow_member_field_by_index(
				structure, (*member)++));
	default:
		bt_field_integer_unsigned_set_value(field, value->number.u64);
		return true;
	}
}

bool bs_values_fill(struct bs_model *model, bt_event *event)
{
	bt_field *structure = bt_event_borrow_payload_field(event);
	const struct bs_values *values = model->values;
	uint64_t member = 0;
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (i == values->args) {
			structure = bt_field_structure_borrow_member_field_by_index(
					structure, member);
			member = 0;
		}
		if (!put_value(&values->list[i], structure, &member))
			return false;
	}
	return true;
}
