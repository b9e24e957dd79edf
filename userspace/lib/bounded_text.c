// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text in a buffer that may be too small for it; see bounded_text.h.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "bounded_text.h"

void tb_text_printf(struct tb_text *text, const char *format, ...)
{
	bool room = text->used < text->size;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(room ? text->buffer + text->used : NULL,
			   room ? text->size - text->used : 0, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->used += (size_t)length;
}

void tb_text_double(struct tb_text *text, double value)
{
	char number[40];
	int digits = 15;

	do
		snprintf(number, sizeof(number), "%.*g", digits, value);
	while (++digits <= 17 && strtod(number, NULL) != value);
	tb_text_put(text, number, strlen(number));
}

void tb_text_escaped(struct tb_text *text, const char *from, size_t length)
{
	char escape[4] = { '\\', 'x' };
	size_t i, plain = 0;

	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)from[i];

		if (c >= 0x20 && c < 0x7f)
			continue;
		tb_text_put(text, from + plain, i - plain);
		escape[2] = "0123456789abcdef"[c >> 4];
		escape[3] = "0123456789abcdef"[c & 15];
		tb_text_put(text, escape, sizeof(escape));
		plain = i + 1;
	}
	tb_text_put(text, from + plain, length - plain);
}

int tb_text_end(const struct tb_text *text)
{
	if (text->size)
		text->buffer[text->used < text->size ? text->used : text->size - 1] = 0;
	return (int)text->used;
}
