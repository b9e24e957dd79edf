// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --html - pack the timeline: columns, texts, deflate and base64.
 */
#include <errno.h>
#include <stdlib.h>
#include "pack.h"

/* ---- columns ---- */

static bool column_room(struct column *column, size_t length)
{
	size_t room = column->room ? column->room : 32;
	unsigned char *data;

	if (column->failed)
		return false;
	if (length <= column->room - column->used)
		return true;
	while (room - column->used < length)
		room *= 2;
	data = realloc(column->data, room);
	if (!data) {
		column->failed = true;
		return false;
	}
	column->data = data;
	column->room = room;
	return true;
}

void column_bytes(struct column *column, const void *data, size_t length)
{
	if (!length || !column_room(column, length))
		return;
	memcpy(column->data + column->used, data, length);
	column->used += length;
}

void column_number(struct column *column, uint64_t number)
{
	if (!column_room(column, 10))
		return;
	for (; number > 0x7f; number >>= 7)
		column->data[column->used++] = (unsigned char)(number | 0x80);
	column->data[column->used++] = (unsigned char)number;
}

void column_signed(struct column *column, int64_t number)
{
	column_number(column, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

void column_free(struct column *column)
{
	free(column->data);
	memset(column, 0, sizeof(*column));
}

/* ---- texts ---- */

const void *texts_at(const struct texts *texts, uint32_t number, size_t *length)
{
	const struct text *text = (const struct text *)(const void *)texts->list.data + number;

	*length = text->length;
	return texts->bytes.data + text->at;
}

static uint32_t add(struct texts *texts, void **slot, const void *data, size_t length)
{
	struct text text = { .at = texts->bytes.used, .length = length };
	size_t number = texts_count(texts);

	/* allocate bytes.data even if the first text is empty */
	if (!column_room(&texts->bytes, length + 1))
		return 0;
	column_bytes(&texts->bytes, data, length);
	column_bytes(&texts->list, &text, sizeof(text));
	*slot = (void *)(number + 1);
	return (uint32_t)number;
}

uint32_t texts_of(struct texts *texts, const void *text, size_t length)
{
	char cut[TEXTS_LENGTH_MAX + 48];
	const void *there;
	uint64_t key;
	size_t size;
	void **slot;

	if (length > TEXTS_LENGTH_MAX) {
		memcpy(cut, text, TEXTS_LENGTH_MAX);
		length = TEXTS_LENGTH_MAX +
			 (size_t)snprintf(cut + TEXTS_LENGTH_MAX, sizeof(cut) - TEXTS_LENGTH_MAX,
					  "... (%zu bytes)", length);
		text = cut;
	}
	for (key = map_key(&texts->known, text, length); ; key++) {
		slot = map_at(&texts->known, key);
		if (!slot) {
			texts->list.failed = true;
			return 0;
		}
		if (!*slot)
			return add(texts, slot, text, length);
		there = texts_at(texts, (uint32_t)((size_t)*slot - 1), &size);
		if (size == length && !memcmp(there, text, length))
			return (uint32_t)((size_t)*slot - 1);
	}
}

void texts_free(struct texts *texts)
{
	column_free(&texts->bytes);
	column_free(&texts->list);
	map_free(&texts->known, NULL);
}

/* ---- deflate, base64 ---- */

static void put_base64(struct out *out, const unsigned char *three)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *at = out_room(out, 4);

	*at++ = digits[three[0] >> 2];
	*at++ = digits[(three[0] & 3) << 4 | three[1] >> 4];
	*at++ = digits[(three[1] & 15) << 2 | three[2] >> 6];
	*at++ = digits[three[2] & 63];
	out_took(out, at);
}

static void base64(struct squeeze *squeeze, const unsigned char *data, size_t length)
{
	while (length--) {
		squeeze->kept[squeeze->nr_kept++] = *data++;
		if (squeeze->nr_kept < 3)
			continue;
		put_base64(squeeze->out, squeeze->kept);
		squeeze->nr_kept = 0;
	}
}

static void base64_end(struct squeeze *squeeze)
{
	unsigned int there = squeeze->nr_kept;
	struct out *out = squeeze->out;

	if (!there)
		return;
	memset(squeeze->kept + there, 0, 3 - there);
	put_base64(out, squeeze->kept);
	memset(out->buffer + out->used - (3 - there), '=', 3 - there);
}

static void squeeze_run(struct squeeze *squeeze, int flush)
{
	unsigned char buffer[16384];
	int result;

	if (squeeze->error)
		return;
	do {
		squeeze->zlib.next_out = buffer;
		squeeze->zlib.avail_out = sizeof(buffer);
		result = deflate(&squeeze->zlib, flush);
		base64(squeeze, buffer, sizeof(buffer) - squeeze->zlib.avail_out);
	} while (result != Z_STREAM_ERROR && !squeeze->zlib.avail_out);
}

int squeeze_start(struct squeeze *squeeze, struct out *out)
{
	memset(squeeze, 0, sizeof(*squeeze));
	squeeze->out = out;
	/* negative: without a header, which DecompressionStream calls "deflate-raw" */
	if (deflateInit2(&squeeze->zlib, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		squeeze->error = -ENOMEM;
	return squeeze->error;
}

void squeeze_data(struct squeeze *squeeze, const void *data, size_t length)
{
	const unsigned char *at = data;
	uInt some;

	for (; length; at += some, length -= some) {
		some = length < 1u << 30 ? (uInt)length : 1u << 30;
		squeeze->zlib.next_in = (unsigned char *)at;
		squeeze->zlib.avail_in = some;
		squeeze_run(squeeze, Z_NO_FLUSH);
	}
}

int squeeze_end(struct squeeze *squeeze)
{
	if (squeeze->error)
		return squeeze->error;
	squeeze->zlib.next_in = NULL;
	squeeze->zlib.avail_in = 0;
	squeeze_run(squeeze, Z_FINISH);
	deflateEnd(&squeeze->zlib);
	base64_end(squeeze);
	return squeeze->error;
}
