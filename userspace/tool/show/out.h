/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer before a stream, faster than stdio, and strings and numbers of JSON.
 */
#ifndef TRACEBUF_OUT_H
#define TRACEBUF_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "lib/utf8.h"

#define OUT_BYTES (64u << 10)
/* The most bytes that out_room() can reserve */
#define OUT_ROOM_MAX 256u

/**
 * struct out - a buffer before a stream
 * @error: -errno of the first failure; nothing is written after it
 * @doubles: the reader of the JSON has doubles for integers: out_json_signed() and
 *	out_json_unsigned() write integers that a double cannot hold as strings
 */
struct out {
	FILE  *file;
	size_t used;
	int    error;
	bool   doubles;
	char   buffer[OUT_BYTES];
};

/* Write the buffer to the stream without flushing it; return the error */
int out_write(struct out *out);
/* out_data() for data that do not fit into the buffer */
void out_long(struct out *out, const char *data, size_t length);

static inline void out_data(struct out *out, const void *data, size_t length)
{
	if (length > OUT_BYTES - out->used) {
		out_long(out, data, length);
		return;
	}
	memcpy(out->buffer + out->used, data, length);
	out->used += length;
}

/* Write the digits of a number at @at; return their end */
char *put_decimal(char *at, uint64_t value);
char *put_hex(char *at, uint64_t value);

/* Reserve @bytes (OUT_ROOM_MAX at most); the caller writes there, then calls out_took() */
static inline char *out_room(struct out *out, size_t bytes)
{
	if (OUT_BYTES - out->used < bytes)
		out_write(out);
	return out->buffer + out->used;
}

static inline void out_took(struct out *out, const char *end)
{
	out->used = (size_t)(end - out->buffer);
}

static inline void out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->used++;
}

static inline void out_text(struct out *out, const char *text)
{
	out_data(out, text, strlen(text));
}

static inline void out_unsigned(struct out *out, uint64_t value)
{
	out_took(out, put_decimal(out_room(out, 20), value));
}

void out_signed(struct out *out, int64_t value);

/* "0x1f" */
void out_hex(struct out *out, uint64_t value);

/* Two digits for each byte */
void out_bytes(struct out *out, const void *data, size_t length);

/* CPUs of a mask, as the kernel prints them: 0-3,7 */
void out_mask(struct out *out, const void *data, size_t length);

/* ---- JSON ---- */

/* Write "a string" with quotes; each byte that is not UTF-8 becomes U+FFFD */
void out_json_text(struct out *out, const char *text, size_t length);
void out_json_string(struct out *out, const char *text);

/* A number; for values that JSON has no number for: "NaN", "Infinity", "-Infinity" */
void out_json_double(struct out *out, double value);

/* "0x1f", with quotes: many readers of JSON have no numbers of 64 bits */
void out_json_hex(struct out *out, uint64_t number);
void out_json_unsigned(struct out *out, uint64_t number);
void out_json_signed(struct out *out, int64_t number);

/* Copy @text to @to, which has room for 3 * @length bytes; NUL and each byte that is not UTF-8
 * become U+FFFD.  Return the length */
size_t utf8_clean(char *to, const char *text, size_t length);

#endif /* TRACEBUF_OUT_H */
