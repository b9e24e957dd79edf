/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UTF-8: which bytes of a text are characters that may be shown.  Texts of traces may have any
 * bytes; library, tool and the plugin for Babeltrace use this where they write such texts.
 */
#ifndef TRACEBUF_UTF8_H
#define TRACEBUF_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Size of the UTF-8 character at @text, decoded to *@character; 0: it is none */
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

/* Size of the UTF-8 character at @text; 0: it is none */
static inline size_t utf8_size(const char *text, size_t length)
{
	uint32_t character;

	return utf8_read(text, length, &character);
}

/*
 * Size of the UTF-8 character at @text; 0: it is none, a terminal would interpret it, or it is
 * invisible but changes the direction, joining or lines of the text around it (Unicode's
 * Bidi_Control, U+200B..200D, U+2028, U+2029, U+2060..206F, U+FEFF)
 */
static inline size_t utf8_shown(const char *text, size_t length)
{
	uint32_t c;
	size_t size = utf8_read(text, length, &c);

	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ?
	       0 : size;
}

/* Replace each byte that may not be shown, except NUL, by '?' */
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

/* utf8_plain() for a text in a buffer of @size bytes, which gets a NUL at its end */
static inline void utf8_plain_string(char *text, size_t size)
{
	text[size - 1] = 0;
	utf8_plain(text, strlen(text));
}

#endif /* TRACEBUF_UTF8_H */
