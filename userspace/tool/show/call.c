// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls with their arguments as text; see call.h.
 *
 * Names of arguments come from a table by name of the call (module/events/calls.tab).  Recordings
 * of older modules have six arguments of each call, and no text.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"

#define ARGS_MAX 6
#define TEXT_BYTES 256		/* the module records no more of a text, its NUL included */

struct call {
	const char *name;
	struct { const char *name; uint8_t class; } args[ARGS_MAX];
};

/* made from module/events/calls.tab, sorted by name */
static const struct call calls[] = {
#include "calls.inc"
};

struct text {
	char  *buffer;
	size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *text, const char *format, ...)
{
	bool room = text->used < text->size;
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(room ? text->buffer + text->used : NULL,
			   room ? text->size - text->used : 0, format, list);
	va_end(list);
	text->used += length > 0 ? (size_t)length : 0;
}

/* Put a text in quotes, with control characters and bytes beyond ASCII as \xNN */
static void put_quoted(struct text *text, const char *from, size_t length)
{
	size_t i;

	put(text, "\"");
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)from[i];

		if (c == '"' || c == '\\')
			put(text, "\\%c", c);
		else if (c >= 0x20 && c < 0x7f)
			put(text, "%c", c);
		else
			put(text, "\\x%02x", c);
	}
	put(text, "\"");
}

static int compare(const void *name, const void *call)
{
	return strcmp(name, ((const struct call *)call)->name);
}

/* Put text number @index that was recorded with the call; false: there is none */
static bool put_path(struct text *text, const struct tb_view *view, unsigned int index)
{
	const struct tb_format_field *field = tb_format_field(view->format,
							      index ? "path2" : "path");
	const char *from;
	const void *data;
	size_t length, bytes;

	if (index > 1 || !field || tb_field_str(view, field, &from, &length) ||
	    tb_field_data(view, field, &data, &bytes) || !bytes)
		return false;
	put_quoted(text, from, length);
	if (length == bytes)
		put(text, "...");
	return true;
}

static void put_number(struct text *text, enum call_class class, uint64_t value)
{
	char name[256];

	switch (class) {
	case CALL_INT:
		put(text, "%" PRId32, (int32_t)value);
		break;
	case CALL_UINT:
		put(text, "%" PRIu32, (uint32_t)value);
		break;
	case CALL_LONG:
		put(text, "%" PRId64, (int64_t)value);
		break;
	case CALL_ULONG:
		put(text, "%" PRIu64, value);
		break;
	case CALL_OCTAL:
	case CALL_CREATE:
		put(text, value & UINT32_MAX ? "0%" PRIo32 : "%" PRIo32, (uint32_t)value);
		break;
	case CALL_PTR:
	case CALL_PATH:
	case CALL_TEXT:
		if (!value)
			put(text, "NULL");
		else
			put(text, "0x%" PRIx64, value);
		break;
	case CALL_HEX:
		put(text, value ? "0x%" PRIx64 : "%" PRIx64, value);
		break;
	default:
		call_value(class, value, name, sizeof(name));
		put(text, "%s", name);
	}
}

static void put_args(struct text *text, const struct call *call, const struct tb_view *view,
		     const struct tb_format_field *field)
{
	unsigned int i, texts = 0, count = (unsigned int)tb_field_count(view, field);
	uint64_t value, before = 0;

	for (i = 0; i < count && i < ARGS_MAX && (!call || call->args[i].name); i++) {
		enum call_class class = call ? call->args[i].class : CALL_HEX;

		if (tb_field_item(view, field, i, &value))
			break;
		/* the kernel ignores the mode unless the flags before it can create a file */
		if (class == CALL_CREATE && !(before & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))))
			break;
		before = value;
		put(text, i ? ", " : "");
		if (call)
			put(text, "%s=", call->args[i].name);
		if ((class == CALL_PATH || class == CALL_TEXT) && put_path(text, view, texts++))
			continue;
		put_number(text, class, value);
	}
}

static void put_result(struct text *text, const char *name, int64_t result)
{
	static const char *const addresses[] = { "mmap", "brk", "mremap", "shmat" };
	const char *error = result < 0 && result > -4096 ? strerrorname_np((int)-result) : NULL;
	size_t i;

	for (i = 0; result > 0 && name && i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (!strcmp(name, addresses[i])) {
			put(text, " = 0x%" PRIx64, result);
			return;
		}
	put(text, " = %" PRId64, result);
	if (error)
		put(text, " (%s)", error);
}

int call_print(const struct tb_trace *trace, const struct tb_view *view, char *buffer, size_t size)
{
	const struct tb_format_field *args, *id, *ret;
	struct text text = { .buffer = buffer, .size = size };
	const struct call *call = NULL;
	const char *name, *letter;
	int64_t number, result;

	if (view->kind != TB_VIEW_EVENT || !view->format ||
	    !(view->format->flags & TB_EVENT_SYSCALL))
		return -ENOTSUP;
	id = tb_format_field(view->format, "id");
	args = tb_format_field(view->format, "args");
	ret = tb_format_field(view->format, "ret");
	if (!id || tb_field_s64(view, id, &number) ||
	    (args ? tb_field_count(view, args) < 0 : !ret || tb_field_s64(view, ret, &result)))
		return -ENOTSUP;
	name = number < 0 || number > UINT32_MAX ? NULL :
	       tb_trace_string(trace, TB_STRING_SYSCALL, (uint32_t)number);
	if (name)
		call = bsearch(name, calls, sizeof(calls) / sizeof(calls[0]), sizeof(calls[0]),
			       compare);
	put(&text, "NR %" PRId64 "%s", number, name ? " " : "");
	for (letter = name; letter && *letter; letter++)
		put(&text, "%c", *letter > 0x20 && *letter < 0x7f ? *letter : '?');
	if (args) {
		put(&text, " (");
		put_args(&text, call, view, args);
		put(&text, ")");
	} else {
		put_result(&text, name, result);
	}
	if (size)
		buffer[text.used < size ? text.used : size - 1] = 0;
	return (int)text.used;
}
