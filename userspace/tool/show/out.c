// SPDX-License-Identifier: GPL-2.0-only
/*
 * A buffer before a stream, and strings and numbers of JSON.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include "out.h"
#include "lib/bounded_text.h"

int out_write(struct out *out)
{
	if (!out->error && out->used &&
	    fwrite(out->buffer, 1, out->used, out->file) != out->used)
		out->error = errno ? -errno : -EIO;
	out->used = 0;
	return out->error;
}

void out_long(struct out *out, const char *data, size_t length)
{
	size_t part;

	while (length > OUT_BYTES - out->used) {
		part = OUT_BYTES - out->used;
		memcpy(out->buffer + out->used, data, part);
		out->used += part;
		data += part;
		length -= part;
		out_write(out);
	}
	memcpy(out->buffer + out->used, data, length);
	out->used += length;
}

static unsigned int digits_of(uint64_t value)
{
	unsigned int count = 1;

	for (;;) {
		if (value < 10)
			return count;
		if (value < 100)
			return count + 1;
		if (value < 1000)
			return count + 2;
		if (value < 10000)
			return count + 3;
		value /= 10000;
		count += 4;
	}
}

char *put_decimal(char *at, uint64_t value)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324"
		"25262728293031323334353637383940414243444546474849"
		"50515253545556575859606162636465666768697071727374"
		"75767778798081828384858687888990919293949596979899";
	char *end = at + digits_of(value), *to = end;

	while (value >= 100) {
		to -= 2;
		memcpy(to, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(to - 2, pairs + value * 2, 2);
	else
		to[-1] = (char)('0' + value);
	return end;
}

char *put_hex(char *at, uint64_t value)
{
	int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[value >> shift & 15];
	return at;
}

void out_signed(struct out *out, int64_t value)
{
	char *at = out_room(out, 21);

	if (value < 0)
		*at++ = '-';
	out_took(out, put_decimal(at, value < 0 ? -(uint64_t)value :
						  (uint64_t)value));
}

void out_hex(struct out *out, uint64_t value)
{
	char *at = out_room(out, 18);

	*at++ = '0';
	*at++ = 'x';
	out_took(out, put_hex(at, value));
}

void out_bytes(struct out *out, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t i;

	for (i = 0; i < length; i++) {
		out_char(out, "0123456789abcdef"[bytes[i] >> 4]);
		out_char(out, "0123456789abcdef"[bytes[i] & 15]);
	}
}

void out_mask(struct out *out, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t bits = length * 8, i, first;
	bool some = false;

	for (i = 0; i < bits; i++) {
		if (!(bytes[i / 8] >> i % 8 & 1))
			continue;
		first = i;
		while (i + 1 < bits && bytes[(i + 1) / 8] >> (i + 1) % 8 & 1)
			i++;
		if (some)
			out_char(out, ',');
		some = true;
		out_unsigned(out, first);
		if (i > first) {
			out_char(out, '-');
			out_unsigned(out, i);
		}
	}
}

/* ---- JSON ---- */

size_t utf8_clean(char *to, const char *text, size_t length)
{
	char *at = to;
	size_t i, size;

	for (i = 0; i < length; i += size ? size : 1) {
		size = text[i] ? utf8_size(text + i, length - i) : 0;
		if (size)
			memcpy(at, text + i, size);
		else
			memcpy(at, "\xef\xbf\xbd", 3);
		at += size ? size : 3;
	}
	return (size_t)(at - to);
}

/* Write the first character of @text escaped or as UTF-8; return its bytes in @text */
static size_t escape(struct out *out, const char *text, size_t length)
{
	static const char letters[] = "\b\f\n\r\t\"\\", after[] = "bfnrt\"\\";
	unsigned char c = (unsigned char)*text;
	char *at = out_room(out, 6), *letter;
	size_t size;

	letter = c ? memchr(letters, c, sizeof(letters) - 1) : NULL;
	if (letter) {
		*at++ = '\\';
		*at++ = after[letter - letters];
	} else if (c < 0x20 || c == 0x7f) {
		memcpy(at, "\\u00", 4);
		at[4] = "0123456789abcdef"[c >> 4];
		at[5] = "0123456789abcdef"[c & 15];
		at += 6;
	} else {
		size = utf8_size(text, length);
		if (size)
			memcpy(at, text, size);
		else
			memcpy(at, "\xef\xbf\xbd", 3);
		out_took(out, at + (size ? size : 3));
		return size ? size : 1;
	}
	out_took(out, at);
	return 1;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Write the text before the first byte that is_plain() refuses; return its length */
static size_t out_plain(struct out *out, const char *text, size_t length)
{
	char *at = out->buffer + out->used;
	size_t i = 0;

	if (length > OUT_BYTES - out->used) {
		while (i < length && is_plain((unsigned char)text[i]))
			i++;
		out_data(out, text, i);
		return i;
	}
	for (; i < length && is_plain((unsigned char)text[i]); i++)
		at[i] = text[i];
	out->used += i;
	return i;
}

void out_json_text(struct out *out, const char *text, size_t length)
{
	size_t i;

	out_char(out, '"');
	for (i = out_plain(out, text, length); i < length;
	     i += out_plain(out, text + i, length - i))
		i += escape(out, text + i, length - i);
	out_char(out, '"');
}

void out_json_string(struct out *out, const char *text)
{
	out_json_text(out, text, strlen(text));
}

void out_json_hex(struct out *out, uint64_t number)
{
	out_char(out, '"');
	out_hex(out, number);
	out_char(out, '"');
}

/* All integers up to this one are doubles */
#define DOUBLE_EXACT (1ull << 53)

void out_json_unsigned(struct out *out, uint64_t number)
{
	bool quoted = out->doubles && number > DOUBLE_EXACT;

	if (quoted)
		out_char(out, '"');
	out_unsigned(out, number);
	if (quoted)
		out_char(out, '"');
}

void out_json_signed(struct out *out, int64_t number)
{
	bool quoted = out->doubles && number < -(int64_t)DOUBLE_EXACT;

	if (number >= 0) {
		out_json_unsigned(out, (uint64_t)number);
		return;
	}
	if (quoted)
		out_char(out, '"');
	out_signed(out, number);
	if (quoted)
		out_char(out, '"');
}

void out_json_double(struct out *out, double value)
{
	char room[40];
	struct tb_text text = { room, sizeof(room), 0 };

	if (!isfinite(value)) {
		out_text(out, isnan(value) ? "\"NaN\"" : value > 0 ?
			 "\"Infinity\"" : "\"-Infinity\"");
		return;
	}
	tb_text_double(&text, value);
	tb_text_end(&text);
	out_text(out, room);
}
