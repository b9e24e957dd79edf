/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pack the page's timeline: columns of numbers of variable length, texts by number, and all of it
 * deflated and in base64.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_PACK_H
#define TRACEBUF_TOOL_REPORT_HTML_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include "analysis/map.h"
#include "tool/show/out.h"

/* ---- columns ---- */

/**
 * struct column - a growing array of bytes
 * @failed: memory was lacking: the contents are incomplete
 */
struct column {
	unsigned char *data;
	size_t used, room;
	bool   failed;
};

void column_bytes(struct column *column, const void *data, size_t length);
/* Seven bits a byte, the lowest first; all bytes but the last have bit 7 set */
void column_number(struct column *column, uint64_t number);
/* column_number() with the sign in the lowest bit */
void column_signed(struct column *column, int64_t number);
void column_free(struct column *column);

/* ---- texts ---- */

/* Longer texts are cut off, and end with their length */
#define TEXTS_LENGTH_MAX 512u

struct text {
	size_t at, length;
};

/**
 * struct texts - texts by number; initialise with zeros
 * @known: numbers plus 1, by map_key()
 */
struct texts {
	struct column bytes;
	struct column list;		/* struct text */
	struct map    known;
};

static inline size_t texts_count(const struct texts *texts)
{
	return texts->list.used / sizeof(struct text);
}

/* Find or add a text; return its number.  Check texts_failed() at the end */
uint32_t texts_of(struct texts *texts, const void *text, size_t length);
static inline bool texts_failed(const struct texts *texts)
{
	return texts->bytes.failed || texts->list.failed;
}

const void *texts_at(const struct texts *texts, uint32_t number, size_t *length);
void texts_free(struct texts *texts);

/* ---- deflate, base64 ---- */

/**
 * struct squeeze - write data deflated (raw) and in base64
 * @kept, @nr_kept: less than three bytes that wait for base64
 * @error: -errno of the first failure
 */
struct squeeze {
	z_stream zlib;
	struct out *out;
	unsigned char kept[3];
	unsigned int nr_kept;
	int error;
};

int squeeze_start(struct squeeze *squeeze, struct out *out);
void squeeze_data(struct squeeze *squeeze, const void *data, size_t length);
/* Write the rest; return @error */
int squeeze_end(struct squeeze *squeeze);

#endif /* TRACEBUF_TOOL_REPORT_HTML_PACK_H */
