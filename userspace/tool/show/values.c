// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contents of an event as values with names and types.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include "user_writers.h"
#include "values.h"

/* "name" or "name+0x1f" of the function of the kernel at this address, if the trace has it */
static void name_function(const struct tb_trace *trace, struct value *value)
{
	const char *name;
	uint64_t offset;
	char behind[20] = "";
	size_t length;

	if (tb_trace_symbol(trace, value->number, &name, &length, &offset))
		return;
	if (offset)
		snprintf(behind, sizeof(behind), "+0x%" PRIx64, offset);
	snprintf(value->text, sizeof(value->text), "%.*s%s", (int)length, name, behind);
	value->meaning = value->text;
}

/* True if a field has the name VALUE_NAME(@name); SQLite compares names without regard to case */
static bool has_name_field(const struct tb_format *format, const char *name)
{
	size_t length = strlen(name);
	const char *other;
	uint32_t i;

	for (i = 0; i < format->nr_fields; i++) {
		other = format->fields[i].name;
		if (!strncasecmp(other, name, length) && !strcasecmp(other + length, "_name"))
			return true;
	}
	return false;
}

bool value_has_names(const struct tb_format *format, const struct tb_format_field *field)
{
	switch (field->show) {
	case TB_SHOW_SYSCALL:
	case TB_SHOW_SOFTIRQ:
	case TB_SHOW_SIGNAL:
	case TB_SHOW_SIGNAL_CODE:
	case TB_SHOW_RESULT:
	case TB_SHOW_FUNCTION:
		return !has_name_field(format, field->name);
	default:
		return false;
	}
}

void value_of(const struct tb_trace *trace, const struct tb_view *view,
	      const struct tb_format_field *field, struct value *value)
{
	const char *text;
	uint32_t kind;

	value->meaning = NULL;
	value->kind = VALUE_NONE;
	switch (field->show) {
	case TB_SHOW_TEXT:
		if (tb_field_str(view, field, &text, &value->length))
			return;
		value->data = text;
		value->kind = VALUE_TEXT;
		return;
	case TB_SHOW_MASK:
	case TB_SHOW_BYTES:
		if (!tb_field_data(view, field, &value->data, &value->length))
			value->kind = field->show == TB_SHOW_MASK ? VALUE_MASK :
								    VALUE_BYTES;
		return;
	case TB_SHOW_ARRAY:
		value->view = view;
		value->field = field;
		if (tb_field_count(view, field) >= 0)
			value->kind = VALUE_ARRAY;
		return;
	}
	if (tb_field_u64(view, field, &value->number))
		return;
	switch (field->show) {
	case TB_SHOW_STATE:
		value->data = tb_task_state(value->number, value->text,
					    sizeof(value->text));
		value->length = strlen(value->data);
		value->kind = VALUE_TEXT;
		return;
	case TB_SHOW_SYSCALL:
	case TB_SHOW_SOFTIRQ:
		kind = field->show == TB_SHOW_SYSCALL ? TB_STRING_SYSCALL :
							TB_STRING_SOFTIRQ;
		if (value->number <= UINT32_MAX)
			value->meaning = tb_trace_string(trace, kind,
						(uint32_t)value->number);
		value->kind = VALUE_SIGNED;
		return;
	case TB_SHOW_SIGNAL:
		value->meaning = tb_signal_name((int64_t)value->number, value->text);
		value->kind = VALUE_SIGNED;
		return;
	case TB_SHOW_SIGNAL_CODE:
		value->meaning = tb_signal_code_name(view, (int64_t)value->number);
		value->kind = VALUE_SIGNED;
		return;
	case TB_SHOW_RESULT:
		value->meaning = tb_error_name((int64_t)-value->number);
		value->kind = VALUE_SIGNED;
		return;
	case TB_SHOW_FUNCTION:
		name_function(trace, value);
		/* fallthrough */
	case TB_SHOW_HEX:
		value->kind = VALUE_HEX;
		return;
	default:
		value->kind = field->show == TB_SHOW_SIGNED ? VALUE_SIGNED :
							      VALUE_UNSIGNED;
	}
}

/* ---- control events, which have no format ---- */

struct teller {
	void (*each)(void *context, const struct value *value);
	void *context;
};

static void pass_number(const struct teller *to, const char *name,
			enum value_kind kind, uint64_t number)
{
	struct value value = { .name = name, .kind = kind, .number = number };

	to->each(to->context, &value);
}

static void pass_unsigned(const struct teller *to, const char *name, uint64_t number)
{
	pass_number(to, name, VALUE_UNSIGNED, number);
}

static void pass_data(const struct teller *to, const char *name,
		      enum value_kind kind, const void *data, size_t length)
{
	struct value value = {
		.name = name, .kind = kind, .data = data, .length = length,
	};

	to->each(to->context, &value);
}

static void pass_text(const struct teller *to, const char *name,
		      const char *text)
{
	pass_data(to, name, VALUE_TEXT, text, strlen(text));
}

static void pass_thread(const struct teller *to, const struct tb_thread *thread)
{
	pass_unsigned(to, "tid", thread->tid);
	pass_unsigned(to, "tgid", thread->tgid);
	pass_unsigned(to, "parent", thread->parent);
	pass_unsigned(to, "uid", thread->uid);
	pass_unsigned(to, "prio", thread->prio);
	pass_number(to, "flags", VALUE_HEX, thread->flags);
	pass_data(to, "comm", VALUE_TEXT, thread->comm,
		  strnlen(thread->comm, sizeof(thread->comm)));
}

static void pass_clock(const struct teller *to, const struct tb_clock_sync *sync)
{
	pass_unsigned(to, "clock", sync->clock);
	pass_unsigned(to, "monotonic", sync->monotonic);
	pass_unsigned(to, "boottime", sync->boottime);
	pass_unsigned(to, "realtime", sync->realtime);
	pass_unsigned(to, "uncertainty", sync->uncertainty);
}

static void pass_chunk(const struct teller *to,
		       const struct tb_chunk_event *chunk, uint32_t bytes)
{
	pass_unsigned(to, "producer", chunk->producer);
	pass_unsigned(to, "pid", chunk->pid);
	pass_unsigned(to, "tid", chunk->tid);
	pass_unsigned(to, "uid", chunk->uid);
	pass_unsigned(to, "writer", chunk->writer);
	pass_unsigned(to, "chunk", chunk->chunk);
	pass_unsigned(to, "offset", chunk->offset);
	pass_unsigned(to, "bytes", bytes);
	pass_unsigned(to, "records", chunk->records);
	pass_unsigned(to, "first", chunk->first);
	pass_number(to, "flags", VALUE_HEX, chunk->flags);
	pass_number(to, "cause", VALUE_HEX, chunk->cause);
}

static void pass_patch(const struct teller *to,
		       const struct tb_patch_event *patch)
{
	pass_unsigned(to, "producer", patch->producer);
	pass_unsigned(to, "writer", patch->writer);
	pass_unsigned(to, "chunk", patch->chunk);
	pass_unsigned(to, "offset", patch->offset);
	pass_unsigned(to, "value", patch->value);
}

static void pass_control(const struct teller *to, const struct tb_view *view)
{
	uint32_t bytes = view->length;

	if (view->id == TB_EV_MARK)
		pass_data(to, "text", VALUE_TEXT, view->payload, bytes);
	else if (view->id == TB_EV_CLOCK && bytes >= sizeof(struct tb_clock_sync))
		pass_clock(to, view->payload);
	else if (view->id == TB_EV_THREAD && bytes >= sizeof(struct tb_thread))
		pass_thread(to, view->payload);
	else if (view->id == TB_EV_CHUNK && bytes >= sizeof(struct tb_chunk_event))
		pass_chunk(to, view->payload,
			   bytes - (uint32_t)sizeof(struct tb_chunk_event));
	else if (view->id == TB_EV_PATCH && bytes >= sizeof(struct tb_patch_event))
		pass_patch(to, view->payload);
	else
		pass_data(to, "payload", VALUE_BYTES, view->payload, bytes);
}

/* ---- records of programs ---- */

static void pass_double(const struct teller *to, const char *name, double real)
{
	struct value value = { .name = name, .kind = VALUE_DOUBLE, .real = real };

	to->each(to->context, &value);
}

static void pass_arg(const struct teller *to, const struct tb_user_arg *arg)
{
	switch (arg->type) {
	case TB_ARG_S64:
		pass_number(to, arg->name, VALUE_SIGNED, arg->value.u64);
		break;
	case TB_ARG_U64:
		pass_unsigned(to, arg->name, arg->value.u64);
		break;
	case TB_ARG_DOUBLE:
		pass_double(to, arg->name, arg->value.f64);
		break;
	case TB_ARG_TEXT:
		pass_text(to, arg->name, arg->text);
		break;
	default:
		pass_number(to, arg->name, VALUE_HEX, arg->value.u64);
	}
}

static void pass_user_value(const struct teller *to, const struct tb_user *user)
{
	switch (user->type) {
	case TB_REC_COUNTER:
		if (user->flags & TB_USER_DOUBLE)
			pass_double(to, "value", user->value.f64);
		else
			pass_number(to, "value", VALUE_SIGNED, user->value.u64);
		break;
	case TB_REC_SLICE:
		if (!(user->flags & TB_USER_OPEN))
			pass_unsigned(to, "duration", user->duration_ns);
		break;
	case TB_REC_SIMPLE:
		pass_unsigned(to, "value", user->value.u64);
		break;
	case TB_REC_EVENT:
		pass_data(to, "data", VALUE_BYTES, user->data, user->data_bytes);
		break;
	case TB_REC_MARK:
		pass_data(to, "text", VALUE_TEXT, user->data, user->data_bytes);
		break;
	}
}

static void pass_user(const struct teller *to, const struct tb_user *user)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} doubts[] = {
		{ TB_USER_OPEN, "not ended" },
		{ TB_USER_UNMATCHED, "without a beginning" },
		{ TB_USER_CLAMPED, "impossible time" },
		{ TB_USER_NO_TIME, "unknown clock" },
		{ TB_USER_CUT, "truncated" },
	};
	uint32_t i;

	pass_user_value(to, user);
	if (user->flags & TB_USER_FLOW)
		pass_unsigned(to, user->flags & TB_USER_FLOW_END ? "flow_end" : "flow",
			      user->flow);
	for (i = 0; i < user->nr_args; i++)
		pass_arg(to, &user->args[i]);
	for (i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++)
		if (user->flags & doubts[i].flag)
			pass_text(to, "doubt", doubts[i].text);
}

/* ---- losses ---- */

static void pass_span(const struct teller *to, const struct tb_trace *trace,
		      enum tb_timebase base, const struct tb_gap *lost)
{
	pass_unsigned(to, "first", tb_trace_ns(trace, lost->first, base));
	pass_unsigned(to, "last", tb_trace_ns(trace, lost->last, base));
}

static void pass_lost(const struct teller *to, const struct tb_trace *trace,
		      enum tb_timebase base, const struct tb_gap *lost)
{
	pass_unsigned(to, "events", lost->overwritten + lost->dropped);
	pass_unsigned(to, "overwritten", lost->overwritten);
	pass_unsigned(to, "dropped", lost->dropped);
	pass_unsigned(to, "oversize", lost->oversize);
	pass_span(to, trace, base, lost);
}

static void pass_user_lost(const struct teller *to, const struct tb_trace *trace,
			   enum tb_timebase base, const struct tb_view *view)
{
	const struct tb_user *user = view->user;
	char causes[512];

	pass_unsigned(to, user->flags & TB_USER_AT_MOST ? "records_at_most" : "records",
		      user->lost);
	lost_causes(user->cause, causes, sizeof(causes));
	if (*causes)
		pass_text(to, "cause", causes);
	pass_unsigned(to, "producer", user->producer);
	pass_unsigned(to, "writer", user->writer_id);
	pass_span(to, trace, base, &view->lost);
}

/* ---- any event ---- */

void values_each(const struct tb_trace *trace, const struct tb_view *view,
		 enum tb_timebase base,
		 void (*each)(void *context, const struct value *value),
		 void *context)
{
	struct teller to = { .each = each, .context = context };
	struct value value;
	uint32_t i;

	if (view->kind == TB_VIEW_LOST) {
		pass_lost(&to, trace, base, &view->lost);
	} else if (view->kind == TB_VIEW_USER_LOST) {
		pass_user_lost(&to, trace, base, view);
	} else if (view->kind == TB_VIEW_USER) {
		pass_user(&to, view->user);
	} else if (!view->format) {
		pass_control(&to, view);
	} else {
		for (i = 0; i < view->format->nr_fields; i++) {
			value.name = view->format->fields[i].name;
			value_of(trace, view, &view->format->fields[i], &value);
			each(context, &value);
		}
	}
}

static void array_json(struct out *out, const struct value *value)
{
	const struct tb_format_field *field = value->field;
	bool hex = field->flags & TB_FIELD_HEX ||
		   (field->width == 8 && !(field->flags & TB_FIELD_SIGNED));
	int count = tb_field_count(value->view, field), i;
	uint64_t number;

	out_char(out, '[');
	for (i = 0; i < count; i++) {
		if (tb_field_item(value->view, field, (unsigned int)i, &number))
			break;
		if (i)
			out_char(out, ',');
		if (hex)
			out_json_hex(out, number);
		else if (field->flags & TB_FIELD_SIGNED)
			out_json_signed(out, (int64_t)number);
		else
			out_json_unsigned(out, number);
	}
	out_char(out, ']');
}

void value_json(struct out *out, const struct value *value)
{
	switch (value->kind) {
	case VALUE_NONE:
		out_text(out, "null");
		return;
	case VALUE_SIGNED:
		out_json_signed(out, (int64_t)value->number);
		return;
	case VALUE_UNSIGNED:
		out_json_unsigned(out, value->number);
		return;
	case VALUE_DOUBLE:
		out_json_double(out, value->real);
		return;
	case VALUE_TEXT:
		out_json_text(out, value->data, value->length);
		return;
	case VALUE_ARRAY:
		array_json(out, value);
		return;
	case VALUE_HEX:
		out_json_hex(out, value->number);
		return;
	case VALUE_MASK:
		out_char(out, '"');
		out_mask(out, value->data, value->length);
		out_char(out, '"');
		return;
	case VALUE_BYTES:
		out_char(out, '"');
		out_bytes(out, value->data, value->length);
		out_char(out, '"');
		return;
	}
}

const char *event_name(const struct tb_view *view, char spare[24])
{
	if (view->kind == TB_VIEW_USER)
		return view->user->type == TB_REC_MARK ? "mark" : view->user->name;
	return tb_view_name(view, spare);
}
