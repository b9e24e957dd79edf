// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events as text: "name=value name=value".
 *
 * The writer counts what it was asked for and stores what fits, so every
 * function here may go on after the buffer is full.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "internal.h"

struct writer {
	char  *buffer;
	size_t size;		/* room, the NUL included */
	size_t used;		/* wanted so far */
};

static void put(struct writer *writer, const char *text, size_t length)
{
	if (writer->used + length < writer->size)
		memcpy(writer->buffer + writer->used, text, length);
	else if (writer->used < writer->size)
		memcpy(writer->buffer + writer->used, text,
		       writer->size - writer->used);
	writer->used += length;
}

static void put_text(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

static void put_char(struct writer *writer, char c)
{
	put(writer, &c, 1);
}

static void put_unsigned(struct writer *writer, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put(writer, digits + at, sizeof(digits) - at);
}

static void put_signed(struct writer *writer, int64_t value)
{
	if (value < 0)
		put_char(writer, '-');
	put_unsigned(writer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_hex(struct writer *writer, uint64_t value)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	put(writer, "0x", 2);
	put(writer, digits + at, sizeof(digits) - at);
}

static void put_escaped(struct writer *writer, const char *text, size_t length)
{
	char escape[4] = { '\\', 'x' };
	size_t i, plain = 0;

	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c < 0x7f)
			continue;
		put(writer, text + plain, i - plain);
		escape[2] = "0123456789abcdef"[c >> 4];
		escape[3] = "0123456789abcdef"[c & 15];
		put(writer, escape, sizeof(escape));
		plain = i + 1;
	}
	put(writer, text + plain, length - plain);
}

static void put_bytes(struct writer *writer, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t i;

	for (i = 0; i < length; i++) {
		put_char(writer, "0123456789abcdef"[bytes[i] >> 4]);
		put_char(writer, "0123456789abcdef"[bytes[i] & 15]);
	}
}

/* "34(name)", or the number alone */
static void put_named(struct writer *writer, int64_t number, const char *name)
{
	put_signed(writer, number);
	if (!name)
		return;
	put_char(writer, '(');
	put_escaped(writer, name, strlen(name));
	put_char(writer, ')');
}

/* ---- fields ---- */

static void put_array(struct writer *writer, const struct tb_view *view,
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

/* A mask of CPUs as the list the kernel prints: 0-3,7 */
static void put_mask(struct writer *writer, const void *data, size_t length)
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

static int put_data(struct writer *writer, const struct tb_view *view,
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
		put_escaped(writer, data, strnlen(data, length));
	else
		put_bytes(writer, data, length);
	return 0;
}

static int put_number(struct writer *writer, const struct tb_trace *trace,
		      const struct tb_view *view,
		      const struct tb_format_field *field)
{
	char state[24];
	uint64_t value;
	int result = tb_field_u64(view, field, &value);

	if (result < 0)
		return result;
	switch (field->show) {
	case TB_SHOW_HEX:
		put_hex(writer, value);
		break;
	case TB_SHOW_STATE:
		put_text(writer, tb_task_state(value, state, sizeof(state)));
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
	case TB_SHOW_SIGNED:
		put_signed(writer, (int64_t)value);
		break;
	default:
		put_unsigned(writer, value);
	}
	return 0;
}

static void put_field(struct writer *writer, const struct tb_trace *trace,
		      const struct tb_view *view,
		      const struct tb_format_field *field)
{
	int result;

	put_text(writer, field->name);
	put_char(writer, '=');
	switch (field->show) {
	case TB_SHOW_TEXT:
	case TB_SHOW_MASK:
	case TB_SHOW_BYTES:
		result = put_data(writer, view, field);
		break;
	case TB_SHOW_ARRAY:
		result = tb_field_count(view, field);
		if (result >= 0)
			put_array(writer, view, field);
		break;
	default:
		result = put_number(writer, trace, view, field);
	}
	if (result < 0)
		put_text(writer, "<truncated>");
}

/* ---- what is not an event of the kernel ---- */

__attribute__((format(printf, 2, 3)))
static void put_format(struct writer *writer, const char *format, ...)
{
	va_list arguments;
	char text[256];
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length > 0)
		put(writer, text, (size_t)length < sizeof(text) ?
		    (size_t)length : sizeof(text) - 1);
}

static void put_seconds(struct writer *writer, uint64_t ns)
{
	put_format(writer, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
		   ns % 1000000000);
}

static void put_lost(struct writer *writer, const struct tb_trace *trace,
		     const struct tb_gap *lost)
{
	put_format(writer, "LOST %" PRIu64 " events (%" PRIu64
		   " overwritten, %" PRIu64 " dropped",
		   (uint64_t)(lost->overwritten + lost->dropped),
		   (uint64_t)lost->overwritten, (uint64_t)lost->dropped);
	if (lost->oversize)
		put_format(writer, ", %" PRIu64 " of these too large",
			   (uint64_t)lost->oversize);
	put_text(writer, ") between ");
	put_seconds(writer, tb_trace_ns(trace, lost->first, TB_TIME_MONOTONIC));
	put_text(writer, " and ");
	put_seconds(writer, tb_trace_ns(trace, lost->last, TB_TIME_MONOTONIC));
}

static void put_control(struct writer *writer, const struct tb_view *view)
{
	const struct tb_clock_sync *sync = view->payload;
	const struct tb_thread *thread = view->payload;

	if (view->id == TB_EV_MARK) {
		put_escaped(writer, view->payload, view->length);
	} else if (view->id == TB_EV_CLOCK && view->length >= sizeof(*sync)) {
		put_format(writer, "clock=%" PRIu64 " monotonic=%" PRIu64
			   " boottime=%" PRIu64 " realtime=%" PRIu64
			   " uncertainty=%" PRIu32,
			   (uint64_t)sync->clock, (uint64_t)sync->monotonic,
			   (uint64_t)sync->boottime, (uint64_t)sync->realtime,
			   sync->uncertainty);
	} else if (view->id == TB_EV_THREAD && view->length >= sizeof(*thread)) {
		put_format(writer, "tid=%" PRIu32 " tgid=%" PRIu32
			   " parent=%" PRIu32 " uid=%" PRIu32
			   " prio=%u flags=0x%x comm=", thread->tid,
			   thread->tgid, thread->parent, thread->uid,
			   thread->prio, thread->flags);
		put_escaped(writer, thread->comm,
			    strnlen(thread->comm, sizeof(thread->comm)));
	} else {
		put_text(writer, "payload=");
		put_bytes(writer, view->payload, view->length);
	}
}

int tb_view_print(const struct tb_trace *trace, const struct tb_view *view,
		  char *buffer, size_t size)
{
	struct writer writer = { .buffer = buffer, .size = size };
	uint32_t i;

	if (view->kind == TB_VIEW_LOST) {
		put_lost(&writer, trace, &view->lost);
	} else if (!view->format) {
		put_control(&writer, view);
	} else {
		for (i = 0; i < view->format->nr_fields; i++) {
			if (i)
				put_char(&writer, ' ');
			put_field(&writer, trace, view,
				  &view->format->fields[i]);
		}
	}
	if (size)
		buffer[writer.used < size ? writer.used : size - 1] = 0;
	return (int)writer.used;
}
