/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is it UTF-8?  Texts of traces may be any bytes; this is for all that writes them where they may
 * not, the plugin for Babeltrace as well.
 */
#ifndef TRACEBUF_UTF8_H
#define TRACEBUF_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at @text, 0: it is none */
static inline size_t utf8_size(const char *text, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *from = (const unsigned char *)text;
	size_t size = *from < 0x80 ? 1 : *from >> 5 == 6 ? 2 :
		      *from >> 4 == 14 ? 3 : *from >> 3 == 30 ? 4 : 0, i;
	uint32_t code = size > 1 ? *from & (0x7f >> size) : *from;

	if (!size || size > length)
		return 0;
	for (i = 1; i < size; i++) {
		if (from[i] >> 6 != 2)
			return 0;
		code = code << 6 | (from[i] & 0x3f);
	}
	return code < least[size] || code > 0x10ffff ||
	       (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

/* Bytes of the character at @text, 0: none, or one that a terminal would obey */
static inline size_t utf8_shown(const char *text, size_t length)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t size = utf8_size(text, length);

	return *from < 0x20 || *from == 0x7f || (size == 2 && *from == 0xc2 && from[1] < 0xa0) ?
	       0 : size;
}

#endif /* TRACEBUF_UTF8_H */
