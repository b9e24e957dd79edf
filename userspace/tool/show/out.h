/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text on its way into a file, fast: what the formats that are text write with.
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
/* What out_room() can ask for at once */
#define OUT_ROOM_MAX 256u

/**
 * struct out - a buffer before a stream
 * @error: -errno of the first failure; nothing is written after it
 * @doubles: who reads the JSON has no integers but doubles: out_json_signed() and
 *	out_json_unsigned() write what these do not hold exactly as a string
 */
struct out {
	FILE  *file;
	size_t used;
	int    error;
	bool   doubles;
	char   buffer[OUT_BYTES];
};

/* What is in the buffer goes to the stream, which is not flushed; the error */
int out_write(struct out *out);
/* What does not fit into the buffer */
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

/* Digits of a number, at @at; where they end */
char *put_decimal(char *at, uint64_t value);
char *put_hex(char *at, uint64_t value);

/* Room for @bytes (OUT_ROOM_MAX at most); out_took() says where what was put there ends */
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

/* "a string", with its quotes; what is no UTF-8 is U+FFFD, a byte each */
void out_json_text(struct out *out, const char *text, size_t length);
void out_json_string(struct out *out, const char *text);

/* A number, or the string JSON has none for: "NaN", "Infinity" */
void out_json_double(struct out *out, double value);

/* "0x1f": many readers of JSON have no numbers of 64 bits */
void out_json_hex(struct out *out, uint64_t number);
void out_json_unsigned(struct out *out, uint64_t number);
void out_json_signed(struct out *out, int64_t number);

/* @text as UTF-8 without NUL at @to, which has room for three times as much: a U+FFFD for each
 * byte that is none; how long that is */
size_t utf8_clean(char *to, const char *text, size_t length);

#endif /* TRACEBUF_OUT_H */
