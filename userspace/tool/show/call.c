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
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "lib/bounded_text.h"

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

/* Put a text in quotes, with control characters and bytes beyond ASCII as \xNN */
static void put_quoted(struct tb_text *text, const char *from, size_t length)
{
	size_t i;

	tb_text_printf(text, "\"");
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)from[i];

		if (c == '"' || c == '\\')
			tb_text_printf(text, "\\%c", c);
		else if (c >= 0x20 && c < 0x7f)
			tb_text_printf(text, "%c", c);
		else
			tb_text_printf(text, "\\x%02x", c);
	}
	tb_text_printf(text, "\"");
}

static int compare(const void *name, const void *call)
{
	return strcmp(name, ((const struct call *)call)->name);
}

/* Put text number @index that was recorded with the call; false: there is none */
static bool put_path(struct tb_text *text, const struct tb_view *view, unsigned int index)
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
		tb_text_printf(text, "...");
	return true;
}

static void put_number(struct tb_text *text, enum call_class class, uint64_t before,
		       uint64_t value)
{
	char name[256];

	switch (class) {
	case CALL_INT:
		tb_text_printf(text, "%" PRId32, (int32_t)value);
		break;
	case CALL_UINT:
		tb_text_printf(text, "%" PRIu32, (uint32_t)value);
		break;
	case CALL_LONG:
		tb_text_printf(text, "%" PRId64, (int64_t)value);
		break;
	case CALL_ULONG:
		tb_text_printf(text, "%" PRIu64, value);
		break;
	case CALL_OCTAL:
	case CALL_CREATE:
		tb_text_printf(text, value & UINT32_MAX ? "0%" PRIo32 : "%" PRIo32,
			       (uint32_t)value);
		break;
	case CALL_PTR:
	case CALL_PATH:
	case CALL_TEXT:
	case CALL_ADDRESS:
	case CALL_POLLED:
	case CALL_READABLE:
	case CALL_WRITABLE:
	case CALL_EXCEPTED:
		if (!value)
			tb_text_printf(text, "NULL");
		else
			tb_text_printf(text, "0x%" PRIx64, value);
		break;
	case CALL_HEX:
		tb_text_printf(text, value ? "0x%" PRIx64 : "%" PRIx64, value);
		break;
	default:
		call_value(class, before, value, name, sizeof(name));
		tb_text_printf(text, "%s", name);
	}
}

/* "</etc/passwd>", if it is known what file @number is in the thread's process */
static void put_file(struct tb_text *text, const struct files *files, const struct tb_view *view,
		     uint64_t number)
{
	const char *name;

	if (!view->task || !view->task->tgid)
		return;
	name = files_plain(files_name(files, files_of_number(files, view->task->tgid, number)));
	if (name)
		tb_text_printf(text, "<%s>", name);
}

/*
 * "[3</etc/passwd> 5]": the files that poll() waits for, or those of a set of select(), by its
 * letter (module/events/calls.c); false: they were not recorded
 */
static bool put_files(struct tb_text *text, const struct files *files, const struct tb_view *view,
		      enum call_class class)
{
	char set = class == CALL_POLLED ? 0 : "rwx"[class - CALL_READABLE];
	const struct tb_format_field *field = tb_format_field(view->format, "path");
	char list[TEXT_BYTES], *number, *rest = list;
	const char *from;
	const char *between = "";
	size_t length;

	if (!field || tb_field_str(view, field, &from, &length) || !length ||
	    length >= sizeof(list))
		return false;
	memcpy(list, from, length);
	list[length] = 0;
	/* a hostile recording may have anything here */
	if (strspn(list, set ? "0123456789rwx ." : "-0123456789 .") < length)
		return false;
	tb_text_printf(text, "[");
	while ((number = strsep(&rest, " "))) {
		if (set && *number != '.' && !strchr(number, set))
			continue;
		tb_text_printf(text, "%s%.*s", between, (int)strcspn(number, "rwx"), number);
		if (files && *number >= '0' && *number <= '9')
			put_file(text, files, view, strtoul(number, NULL, 10));
		between = " ";
	}
	tb_text_printf(text, "]");
	return true;
}

static void put_args(struct tb_text *text, const struct call *call, const struct files *files,
		     const struct tb_view *view, const struct tb_format_field *field)
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
		tb_text_printf(text, i ? ", " : "");
		if (call)
			tb_text_printf(text, "%s=", call->args[i].name);
		if (!((class == CALL_PATH || class == CALL_TEXT || class == CALL_ADDRESS) &&
		      put_path(text, view, texts++)) &&
		    !(class >= CALL_POLLED && class <= CALL_EXCEPTED && value &&
		      put_files(text, files, view, class)))
			put_number(text, class, before, value);
		if (files && (class == CALL_FD || class == CALL_DFD))
			put_file(text, files, view, value);
		before = value;
	}
}

static void put_result(struct tb_text *text, const char *name, int64_t result)
{
	static const char *const addresses[] = { "mmap", "brk", "mremap", "shmat" };
	const char *error = tb_error_name((int64_t)-(uint64_t)result);
	size_t i;

	for (i = 0; result > 0 && name && i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (!strcmp(name, addresses[i])) {
			tb_text_printf(text, " = 0x%" PRIx64, result);
			return;
		}
	tb_text_printf(text, " = %" PRId64, result);
	if (error)
		tb_text_printf(text, " (%s)", error);
}

int call_print(const struct tb_trace *trace, const struct files *files, const struct tb_view *view,
	       char *buffer, size_t size)
{
	const struct tb_format_field *args, *id, *ret;
	struct tb_text text = { .buffer = buffer, .size = size };
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
	tb_text_printf(&text, "NR %" PRId64 "%s", number, name ? " " : "");
	for (letter = name; letter && *letter; letter++)
		tb_text_printf(&text, "%c", *letter > 0x20 && *letter < 0x7f ? *letter : '?');
	if (args) {
		tb_text_printf(&text, " (");
		put_args(&text, call, files, view, args);
		tb_text_printf(&text, ")");
	} else {
		put_result(&text, name, result);
	}
	return tb_text_end(&text);
}
