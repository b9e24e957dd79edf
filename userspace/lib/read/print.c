// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events as text: "name=value name=value".
 */
#include <errno.h>
#include <inttypes.h>
#include "internal.h"
#include "lib/bounded_text.h"

static void put_text(struct tb_text *writer, const char *text)
{
	tb_text_put(writer, text, strlen(text));
}

static void put_char(struct tb_text *writer, char c)
{
	tb_text_put(writer, &c, 1);
}

static void put_unsigned(struct tb_text *writer, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	tb_text_put(writer, digits + at, sizeof(digits) - at);
}

static void put_signed(struct tb_text *writer, int64_t value)
{
	if (value < 0)
		put_char(writer, '-');
	put_unsigned(writer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_hex(struct tb_text *writer, uint64_t value)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	tb_text_put(writer, "0x", 2);
	tb_text_put(writer, digits + at, sizeof(digits) - at);
}

static void put_bytes(struct tb_text *writer, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t i;

	for (i = 0; i < length; i++) {
		put_char(writer, "0123456789abcdef"[bytes[i] >> 4]);
		put_char(writer, "0123456789abcdef"[bytes[i] & 15]);
	}
}

/* "34(name)", or the number alone */
static void put_named(struct tb_text *writer, int64_t number, const char *name)
{
	put_signed(writer, number);
	if (!name)
		return;
	put_char(writer, '(');
	tb_text_escaped(writer, name, strlen(name));
	put_char(writer, ')');
}

/* ---- fields ---- */

static void put_array(struct tb_text *writer, const struct tb_view *view,
		      const struct tb_format_field *field)
{
	bool hex = field->flags & TB_FIELD_HEX ||
		   (field->width == 8 && !(field->flags & TB_FIELD_SIGNED));
	int count = tb_field_count(view, field), i;
	uint64_t value;

	put_char(writer, '[');
	for (i = 0; i < count; i++) {
		if (i)
			put_char(writer, ',');
		if (tb_field_item(view, field, (unsigned int)i, &value))
			break;
		if (hex)
			put_hex(writer, value);
		else if (field->flags & TB_FIELD_SIGNED)
			put_signed(writer, (int64_t)value);
		else
			put_unsigned(writer, value);
	}
	put_char(writer, ']');
}

/* Write a mask of CPUs as the kernel prints lists: 0-3,7 */
static void put_mask(struct tb_text *writer, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t bits = length * 8, i = 0, first;
	bool some = false;

	while (i < bits) {
		if (!(bytes[i / 8] >> i % 8 & 1)) {
			i++;
			continue;
		}
		first = i;
		while (i < bits && bytes[i / 8] >> i % 8 & 1)
			i++;
		if (some)
			put_char(writer, ',');
		some = true;
		put_unsigned(writer, first);
		if (i - first > 1) {
			put_char(writer, '-');
			put_unsigned(writer, i - 1);
		}
	}
}

static int put_data(struct tb_text *writer, const struct tb_view *view,
		    const struct tb_format_field *field)
{
	const void *data;
	size_t length;
	int result = tb_field_data(view, field, &data, &length);

	if (result < 0)
		return result;
	if (field->show == TB_SHOW_MASK)
		put_mask(writer, data, length);
	else if (field->show == TB_SHOW_TEXT)
		tb_text_escaped(writer, data, strnlen(data, length));
	else
		put_bytes(writer, data, length);
	return 0;
}

/* "(name)" or "(name+0x1f)" of the function of the kernel at @address, if the trace has it */
static void put_function(struct tb_text *writer, const struct tb_trace *trace, uint64_t address)
{
	const char *name;
	uint64_t offset;
	size_t length;

	if (tb_trace_symbol(trace, address, &name, &length, &offset))
		return;
	put_char(writer, '(');
	tb_text_put(writer, name, length);
	if (offset) {
		put_char(writer, '+');
		put_hex(writer, offset);
	}
	put_char(writer, ')');
}

static int put_number(struct tb_text *writer, const struct tb_trace *trace,
		      const struct tb_view *view,
		      const struct tb_format_field *field)
{
	char spare[24];
	uint64_t value;
	int result = tb_field_u64(view, field, &value);

	if (result < 0)
		return result;
	switch (field->show) {
	case TB_SHOW_HEX:
		put_hex(writer, value);
		break;
	case TB_SHOW_FUNCTION:
		put_hex(writer, value);
		put_function(writer, trace, value);
		break;
	case TB_SHOW_RESULT:
		put_named(writer, (int64_t)value, tb_error_name((int64_t)-value));
		break;
	case TB_SHOW_STATE:
		put_text(writer, tb_task_state(value, spare, sizeof(spare)));
		break;
	case TB_SHOW_SYSCALL:
		put_named(writer, (int64_t)value, value > UINT32_MAX ? NULL :
			  tb_trace_string(trace, TB_STRING_SYSCALL,
					  (uint32_t)value));
		break;
	case TB_SHOW_SOFTIRQ:
		put_named(writer, (int64_t)value, value > UINT32_MAX ? NULL :
			  tb_trace_string(trace, TB_STRING_SOFTIRQ,
					  (uint32_t)value));
		break;
	case TB_SHOW_SIGNAL:
		put_named(writer, (int64_t)value, tb_signal_name((int64_t)value, spare));
		break;
	case TB_SHOW_SIGNAL_CODE:
		put_named(writer, (int64_t)value, tb_signal_code_name(view, (int64_t)value));
		break;
	case TB_SHOW_SIGNED:
		put_signed(writer, (int64_t)value);
		break;
	default:
		put_unsigned(writer, value);
	}
	return 0;
}

static int put_value_of(struct tb_text *writer, const struct tb_trace *trace,
			const struct tb_view *view,
			const struct tb_format_field *field)
{
	int result;

	switch (field->show) {
	case TB_SHOW_TEXT:
	case TB_SHOW_MASK:
	case TB_SHOW_BYTES:
		return put_data(writer, view, field);
	case TB_SHOW_ARRAY:
		result = tb_field_count(view, field);
		if (result >= 0)
			put_array(writer, view, field);
		return result;
	default:
		return put_number(writer, trace, view, field);
	}
}

static void put_field(struct tb_text *writer, const struct tb_trace *trace,
		      const struct tb_view *view,
		      const struct tb_format_field *field)
{
	put_text(writer, field->name);
	put_char(writer, '=');
	if (put_value_of(writer, trace, view, field) < 0)
		put_text(writer, "<truncated>");
}

int tb_field_print(const struct tb_trace *trace, const struct tb_view *view,
		   const struct tb_format_field *field, char *buffer,
		   size_t size)
{
	struct tb_text writer = { .buffer = buffer, .size = size };
	int result = put_value_of(&writer, trace, view, field);

	return result < 0 ? result : tb_text_end(&writer);
}

/* ---- losses and control events ---- */

static void put_seconds(struct tb_text *writer, uint64_t ns)
{
	tb_text_printf(writer, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
		       ns % 1000000000);
}

static void put_lost(struct tb_text *writer, const struct tb_trace *trace,
		     const struct tb_gap *lost)
{
	tb_text_printf(writer, "LOST %" PRIu64 " events (%" PRIu64
		       " overwritten, %" PRIu64 " dropped",
		       (uint64_t)(lost->overwritten + lost->dropped),
		       (uint64_t)lost->overwritten, (uint64_t)lost->dropped);
	if (lost->oversize)
		tb_text_printf(writer, ", %" PRIu64 " of these too large",
			       (uint64_t)lost->oversize);
	put_text(writer, ") between ");
	put_seconds(writer, tb_trace_ns(trace, lost->first, TB_TIME_MONOTONIC));
	put_text(writer, " and ");
	put_seconds(writer, tb_trace_ns(trace, lost->last, TB_TIME_MONOTONIC));
}

static void put_chunk(struct tb_text *writer, const struct tb_chunk_event *chunk,
		      uint32_t bytes)
{
	tb_text_printf(writer, "producer=%" PRIu32 " pid=%" PRIu32 " tid=%" PRIu32
		       " uid=%" PRIu32 " writer=%u chunk=%" PRIu32 " offset=%u bytes=%"
		       PRIu32 " records=%" PRIu32 " first=%" PRIu64
		       " flags=0x%x cause=0x%x", chunk->producer, chunk->pid,
		       chunk->tid, chunk->uid, chunk->writer, chunk->chunk,
		       chunk->offset, bytes, chunk->records, (uint64_t)chunk->first,
		       chunk->flags, chunk->cause);
}

static void put_patch(struct tb_text *writer, const struct tb_patch_event *patch)
{
	tb_text_printf(writer, "producer=%" PRIu32 " writer=%u chunk=%" PRIu32
		       " offset=%u value=%" PRIu64, patch->producer, patch->writer,
		       patch->chunk, patch->offset, (uint64_t)patch->value);
}

static void put_control(struct tb_text *writer, const struct tb_view *view)
{
	const struct tb_chunk_event *chunk = view->payload;
	const struct tb_patch_event *patch = view->payload;
	const struct tb_clock_sync *sync = view->payload;
	const struct tb_thread *thread = view->payload;

	if (view->id == TB_EV_MARK) {
		tb_text_escaped(writer, view->payload, view->length);
	} else if (view->id == TB_EV_CLOCK && view->length >= sizeof(*sync)) {
		tb_text_printf(writer, "clock=%" PRIu64 " monotonic=%" PRIu64
			       " boottime=%" PRIu64 " realtime=%" PRIu64
			       " uncertainty=%" PRIu32,
			       (uint64_t)sync->clock, (uint64_t)sync->monotonic,
			       (uint64_t)sync->boottime, (uint64_t)sync->realtime,
			       sync->uncertainty);
	} else if (view->id == TB_EV_THREAD && view->length >= sizeof(*thread)) {
		tb_text_printf(writer, "tid=%" PRIu32 " tgid=%" PRIu32
			       " parent=%" PRIu32 " uid=%" PRIu32
			       " prio=%u flags=0x%x comm=", thread->tid,
			       thread->tgid, thread->parent, thread->uid,
			       thread->prio, thread->flags);
		tb_text_escaped(writer, thread->comm,
				strnlen(thread->comm, sizeof(thread->comm)));
	} else if (view->id == TB_EV_CHUNK && view->length >= sizeof(*chunk)) {
		put_chunk(writer, chunk, view->length - (uint32_t)sizeof(*chunk));
	} else if (view->id == TB_EV_PATCH && view->length >= sizeof(*patch)) {
		put_patch(writer, patch);
	} else {
		put_text(writer, "payload=");
		put_bytes(writer, view->payload, view->length);
	}
}

/* ---- records of programs ---- */

static void put_string(struct tb_text *writer, const char *text)
{
	tb_text_escaped(writer, text, strlen(text));
}

static void put_arg(struct tb_text *writer, const struct tb_user_arg *arg)
{
	put_char(writer, ' ');
	put_string(writer, arg->name);
	put_char(writer, '=');
	switch (arg->type) {
	case TB_ARG_S64:
		put_signed(writer, arg->value.s64);
		break;
	case TB_ARG_U64:
		put_unsigned(writer, arg->value.u64);
		break;
	case TB_ARG_DOUBLE:
		tb_text_double(writer, arg->value.f64);
		break;
	case TB_ARG_TEXT:
		put_string(writer, arg->text);
		break;
	default:
		put_hex(writer, arg->value.u64);
	}
}

static void put_value(struct tb_text *writer, const struct tb_user *user)
{
	switch (user->type) {
	case TB_REC_COUNTER:
		put_char(writer, '=');
		if (user->flags & TB_USER_DOUBLE)
			tb_text_double(writer, user->value.f64);
		else
			put_signed(writer, user->value.s64);
		break;
	case TB_REC_SLICE:
		if (user->flags & TB_USER_OPEN) {
			put_text(writer, " not ended");
		} else {
			put_text(writer, " duration=");
			put_seconds(writer, user->duration_ns);
		}
		break;
	case TB_REC_SIMPLE:
		put_text(writer, " value=");
		put_unsigned(writer, user->value.u64);
		break;
	case TB_REC_EVENT:
		put_text(writer, " data=");
		put_bytes(writer, user->data, user->data_bytes);
		break;
	case TB_REC_MARK:
		put_char(writer, ' ');
		tb_text_escaped(writer, user->data, user->data_bytes);
		break;
	}
}

/* Records with wrong contents are shown, too; say what is wrong */
static void put_doubts(struct tb_text *writer, const struct tb_user *user)
{
	if (user->flags & TB_USER_UNMATCHED)
		put_text(writer, " <without a beginning>");
	if (user->flags & TB_USER_CLAMPED)
		put_text(writer, " <impossible time>");
	if (user->flags & TB_USER_NO_TIME)
		put_text(writer, " <unknown clock>");
	if (user->flags & TB_USER_CUT)
		put_text(writer, " <truncated>");
}

static void put_user(struct tb_text *writer, const struct tb_user *user)
{
	uint32_t i;

	put_text(writer, tb_record_type_name(user->type));
	if (*user->name) {
		put_char(writer, ' ');
		put_string(writer, user->name);
	}
	put_value(writer, user);
	if (user->flags & TB_USER_FLOW) {
		put_text(writer, user->flags & TB_USER_FLOW_END ? " flow_end=" :
				 " flow=");
		put_unsigned(writer, user->flow);
	}
	for (i = 0; i < user->nr_args; i++)
		put_arg(writer, &user->args[i]);
	put_doubts(writer, user);
}

static void put_user_lost(struct tb_text *writer, const struct tb_trace *trace,
			  const struct tb_view *view)
{
	const struct tb_user *user = view->user;
	const char *between = " (";
	unsigned int bit;

	put_text(writer, "LOST ");
	if (user->flags & TB_USER_AT_MOST)
		put_text(writer, "up to ");
	tb_text_printf(writer, "%" PRIu64 " records", user->lost);
	for (bit = 0; bit < 32; bit++) {
		if (!(user->cause & 1u << bit))
			continue;
		put_text(writer, between);
		put_text(writer, tb_lost_cause_name(bit));
		between = ", ";
	}
	put_text(writer, *between == ',' ? ") between " : " between ");
	put_seconds(writer, tb_trace_ns(trace, view->lost.first,
					TB_TIME_MONOTONIC));
	put_text(writer, " and ");
	put_seconds(writer, tb_trace_ns(trace, view->lost.last,
					TB_TIME_MONOTONIC));
}

int tb_view_print(const struct tb_trace *trace, const struct tb_view *view,
		  char *buffer, size_t size)
{
	struct tb_text writer = { .buffer = buffer, .size = size };
	uint32_t i;

	if (view->kind == TB_VIEW_LOST) {
		put_lost(&writer, trace, &view->lost);
	} else if (view->kind == TB_VIEW_USER) {
		put_user(&writer, view->user);
	} else if (view->kind == TB_VIEW_USER_LOST) {
		put_user_lost(&writer, trace, view);
	} else if (!view->format) {
		put_control(&writer, view);
	} else {
		for (i = 0; i < view->format->nr_fields; i++) {
			if (tb_field_is_missing(view, &view->format->fields[i]))
				continue;
			if (writer.used)
				put_char(&writer, ' ');
			put_field(&writer, trace, view,
				  &view->format->fields[i]);
		}
	}
	return tb_text_end(&writer);
}
