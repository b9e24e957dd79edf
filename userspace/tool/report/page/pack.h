/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the page's timeline is packed: columns of numbers of variable length, texts that are there
 * once, and all of it deflated and in base64.
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
 * struct column - bytes that grow
 * @failed: there was no memory: what is in it is worthless
 */
struct column {
	unsigned char *data;
	size_t used, room;
	bool   failed;
};

void column_bytes(struct column *column, const void *data, size_t length);
/* Seven bits a byte, the lowest first; all but the last have the eighth */
void column_number(struct column *column, uint64_t number);
/* The same with the sign in the lowest bit */
void column_signed(struct column *column, int64_t number);
void column_free(struct column *column);

/* ---- texts ---- */

/* Longer ones are cut off, and say so */
#define TEXTS_LENGTH_MAX 512u

struct text {
	size_t at, length;
};

/**
 * struct texts - texts by number; zero: none
 * @known: numbers, plus 1, by hash
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

/* The number of a text.  What fails is told by texts_failed() */
uint32_t texts_of(struct texts *texts, const void *text, size_t length);
static inline bool texts_failed(const struct texts *texts)
{
	return texts->bytes.failed || texts->list.failed;
}

const void *texts_at(const struct texts *texts, uint32_t number, size_t *length);
void texts_free(struct texts *texts);

/* ---- deflate, base64 ---- */

/**
 * struct squeeze - what goes in comes out deflated (raw) and in base64
 * @kept, @nr_kept: bytes that are not three yet
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
/* The last of it; returns @error */
int squeeze_end(struct squeeze *squeeze);

#endif /* TRACEBUF_TOOL_REPORT_HTML_PACK_H */
