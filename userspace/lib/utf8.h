/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is it UTF-8, and may it be shown?  Texts of traces may be any bytes; this is for all that writes
 * them where they may not: library, tool, and the plugin for Babeltrace.
 */
#ifndef TRACEBUF_UTF8_H
#define TRACEBUF_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at @text, which is *@character; 0: it is none */
static inline size_t utf8_read(const char *text, size_t length, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *from = (const unsigned char *)text;
	size_t size = *from < 0x80 ? 1 : *from >> 5 == 6 ? 2 :
		      *from >> 4 == 14 ? 3 : *from >> 3 == 30 ? 4 : 0, i;
	uint32_t code = size > 1 ? *from & (0x7f >> size) : *from;

	*character = code;
	if (!size || size > length)
		return 0;
	for (i = 1; i < size; i++) {
		if (from[i] >> 6 != 2)
			return 0;
		code = code << 6 | (from[i] & 0x3f);
	}
	*character = code;
	return code < least[size] || code > 0x10ffff ||
	       (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

/* Bytes of the UTF-8 character at @text, 0: it is none */
static inline size_t utf8_size(const char *text, size_t length)
{
	uint32_t character;

	return utf8_read(text, length, &character);
}

/*
 * Bytes of the character at @text, 0: none, or one that a terminal would obey, or that is not seen
 * but changes what is around it: direction, joining, lines (Unicode's Bidi_Control, U+200B..200D,
 * U+2028, U+2029, U+2060..206F, U+FEFF)
 */
static inline size_t utf8_shown(const char *text, size_t length)
{
	uint32_t c;
	size_t size = utf8_read(text, length, &c);

	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ?
	       0 : size;
}

/* In place: '?' for each byte that is not shown, but for NUL */
static inline void utf8_plain(char *text, size_t length)
{
	size_t size;

	for (; length; text += size, length -= size) {
		size = utf8_shown(text, length);
		if (size)
			continue;
		if (*text)
			*text = '?';
		size = 1;
	}
}

/* The same for a text in @size bytes, which ends there at the latest */
static inline void utf8_plain_string(char *text, size_t size)
{
	text[size - 1] = 0;
	utf8_plain(text, strlen(text));
}

#endif /* TRACEBUF_UTF8_H */
