/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which fields of an event have the address of a function or of an instruction in the kernel.  The
 * recorder looks such addresses up, and the library shows them as addresses.
 */
#ifndef TRACEBUF_FUNCTION_FIELD_H
#define TRACEBUF_FUNCTION_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Skip a text in quotes, from its first quote; @text may end within it */
static inline const char *function_field_unquote(const char *text)
{
	for (text++; *text && *text != '"'; text++)
		text += *text == '\\' && text[1];
	return text + (*text == '"');
}

/* True if the argument from @at to @end is REC->@name, with nothing but casts around it */
static inline bool function_field_is(const char *at, const char *end, const char *name)
{
	static const char casts[] = " ()*_abcdefghijklmnopqrstuvwxyz0123456789";
	size_t length = strlen(name);
	const char *field = NULL;

	for (; at < end; at++) {
		if (end - at > 5 && !strncmp(at, "REC->", 5)) {
			if (field)
				return false;
			field = at + 5;
			at += 4;
		} else if (!strchr(casts, *at) && !field) {
			return false;
		} else if (field && at >= field + length && !strchr(" )", *at)) {
			return false;
		}
	}
	return field && (size_t)(end - field) >= length && !strncmp(field, name, length);
}

/* True if argument @index behind the format shows the field @name; @text: the format's end */
static inline bool function_field_argument(const char *text, unsigned int index, const char *name)
{
	const char *start = NULL;
	int depth = 0;

	for (; ; text++) {
		if (!*text || (!depth && *text == ',')) {
			if (start && !index--)
				return function_field_is(start, text, name);
			if (!*text)
				return false;
			start = text + 1;
		} else if (*text == '"') {
			text = function_field_unquote(text) - 1;
		} else {
			depth += (*text == '(' || *text == '{') - (*text == ')' || *text == '}');
		}
	}
}

/* True if the kernel's print format shows the field @name with %ps, %pS, %pF, %pf or %pB */
static inline bool function_field_printed(const char *print, const char *name)
{
	const char *end = print, *at, *stop;
	unsigned int index = 0;

	/* the format is texts in quotes, up to the first comma */
	while (*end && *end != ',')
		end = *end == '"' ? function_field_unquote(end) : end + 1;
	for (at = print; at < end; at++) {
		if (*at != '%')
			continue;
		for (at++; at < end && strchr("-+ #0123456789.*", *at); at++)
			index += *at == '*';
		if (at >= end)
			break;
		if (*at == '%')
			continue;
		stop = at + 1;
		/* %pfw is a node of the firmware */
		if (*at == 'p' && stop < end && strchr("sSFfB", *stop) && strncmp(stop, "fw", 2) &&
		    function_field_argument(end, index, name))
			return true;
		index++;
	}
	return false;
}

/* True if the field @name of an event with this print format, which may be "", has such addresses */
static inline bool is_function_field(const char *print, const char *name)
{
	static const char *const names[] = {
		"function", "func", "shrink", "call_site", "callsite", "location",
		"ip", "parent_ip", "caller", "caller_ip",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return function_field_printed(print, name);
}

#endif /* TRACEBUF_FUNCTION_FIELD_H */
