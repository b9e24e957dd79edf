/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text in a buffer that may be too small for it.  The functions count all bytes, and store those
 * that fit; so callers go on after the buffer is full.
 */
#ifndef TRACEBUF_BOUNDED_TEXT_H
#define TRACEBUF_BOUNDED_TEXT_H

#include <stddef.h>
#include <string.h>

struct tb_text {
	char  *buffer;
	size_t size;		/* room, with the NUL */
	size_t used;		/* length of the text, even if it did not fit */
};

static inline void tb_text_put(struct tb_text *text, const char *from, size_t length)
{
	if (text->used < text->size)
		memcpy(text->buffer + text->used, from,
		       length < text->size - text->used ? length : text->size - text->used);
	text->used += length;
}

__attribute__((format(printf, 2, 3)))
void tb_text_printf(struct tb_text *text, const char *format, ...);

/* Append @value with 15 to 17 digits, the fewest from which strtod() makes the same number */
void tb_text_double(struct tb_text *text, double value);

/* tb_text_put() with control characters and bytes beyond ASCII as \xNN */
void tb_text_escaped(struct tb_text *text, const char *from, size_t length);

/* Terminate what fits with a NUL; returns the length of the whole text */
int tb_text_end(const struct tb_text *text);

#endif /* TRACEBUF_BOUNDED_TEXT_H */
