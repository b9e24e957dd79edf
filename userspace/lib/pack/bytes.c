// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes of a frame: streams, each compressed by itself, and the checksum.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include "column.h"

bool bytes_room(struct bytes *bytes, size_t more)
{
	size_t room = bytes->room;
	unsigned char *grown;

	if (bytes->used + more <= room)
		return true;
	room = (bytes->used + more) * 3 / 2 + 256;
	grown = realloc(bytes->at, room);
	if (!grown)
		return false;
	bytes->at = grown;
	bytes->room = room;
	return true;
}

bool bytes_add(struct bytes *bytes, const void *from, size_t size)
{
	if (!bytes_room(bytes, size))
		return false;
	if (size)
		memcpy(bytes->at + bytes->used, from, size);
	bytes->used += size;
	return true;
}

#define CRC_LONG 4096	/* from this size on, the large table saves more time than it takes */

/* Eight bytes at a time; @small: the remainders of 0 to 15.  Returns the number of bytes left */
static size_t crc_long(uint32_t *crc, const unsigned char *at, size_t size, const uint32_t *small)
{
	uint32_t table[8][256], low, high, i, j;

	for (i = 0; i < 256; i++) {
		table[0][i] = i >> 4 ^ small[i & 15];
		table[0][i] = table[0][i] >> 4 ^ small[table[0][i] & 15];
	}
	for (j = 1; j < 8; j++)
		for (i = 0; i < 256; i++)
			table[j][i] = table[j - 1][i] >> 8 ^ table[0][table[j - 1][i] & 0xff];
	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&low, at, 4);
		memcpy(&high, at + 4, 4);
		low ^= *crc;
		*crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
		       table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^
		       table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
		       table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
	}
	return size;
}

uint32_t pack_crc(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *at = data, *end = at + size;
	uint32_t table[16], i, bit;

	/* four bits at a time, with a table that is quick to make */
	for (i = 0; i < 16; i++) {
		table[i] = i;
		for (bit = 0; bit < 4; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	crc = ~crc;
	if (size >= CRC_LONG)
		at = end - crc_long(&crc, at, size, table);
	while (at < end) {
		crc ^= *at++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

/* ---- streams ---- */

#define SMALL 24	/* zstd adds about half as much */

/* Seven bits per byte, the lowest first */
static bool put_number(struct bytes *frame, size_t number)
{
	unsigned char bytes[10];
	unsigned int count = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (unsigned char)(number | 0x80);
	bytes[count++] = (unsigned char)number;
	return bytes_add(frame, bytes, count);
}

static bool put_head(struct bytes *frame, uint8_t kind, size_t size)
{
	return bytes_add(frame, &kind, 1) && put_number(frame, size);
}

bool stream_put(struct bytes *frame, struct bytes *room, ZSTD_CCtx *zstd,
		const unsigned char *data, size_t size)
{
	size_t packed;

	if (size && (size == 1 || !memcmp(data, data + 1, size - 1)))
		return put_head(frame, STREAM_SAME, size) && bytes_add(frame, data, 1);
	if (size > SMALL) {
		room->used = 0;
		if (!bytes_room(room, ZSTD_compressBound(size)))
			return false;
		packed = ZSTD_compress2(zstd, room->at, room->room, data, size);
		if (!ZSTD_isError(packed) && packed < size)
			return put_head(frame, STREAM_ZSTD, size) && put_number(frame, packed) &&
			       bytes_add(frame, room->at, packed);
	}
	return put_head(frame, STREAM_PLAIN, size) && bytes_add(frame, data, size);
}

int source_take(struct source *source, void *to, size_t size)
{
	if ((size_t)(source->end - source->at) < size)
		return -EBADMSG;
	memcpy(to, source->at, size);
	source->at += size;
	return 0;
}

/* Allocate memory that source_free() frees */
static void *source_memory(struct source *source, size_t size)
{
	void *memory;

	if (tb_array_grow(&source->own, &source->room_own, source->nr_own, sizeof(*source->own)))
		return NULL;
	memory = malloc(size);
	if (memory)
		source->own[source->nr_own++] = memory;
	return memory;
}

static int take_number(struct source *source, uint32_t *number)
{
	unsigned int shift = 0;
	unsigned char byte;

	*number = 0;
	do {
		if (shift > 28 || source_take(source, &byte, 1))
			return -EBADMSG;
		*number |= (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return 0;
}

/* Get a stream as it is in the frame, of @packed_out bytes; returns its kind */
static int stream_raw(struct source *source, size_t most, struct stream *stream, uint32_t *packed_out)
{
	uint32_t size, packed = 1;
	uint8_t kind;

	if (source_take(source, &kind, 1) || take_number(source, &size) || size > most)
		return -EBADMSG;
	if (kind == STREAM_PLAIN)
		packed = size;
	else if (kind == STREAM_ZSTD ? take_number(source, &packed) : kind != STREAM_SAME)
		return -EBADMSG;
	if (packed > (size_t)(source->end - source->at))
		return -EBADMSG;
	stream->at = source->at;
	stream->size = size;
	stream->step = kind != STREAM_SAME;
	source->at += packed;
	*packed_out = packed;
	return kind;
}

int stream_skip(struct source *source, size_t most, struct stream *stream)
{
	uint32_t packed;
	int kind = stream_raw(source, most, stream, &packed);

	return kind < 0 ? kind : 0;
}

int stream_get(struct source *source, size_t most, struct stream *stream)
{
	unsigned char *memory;
	uint32_t packed;
	int kind = stream_raw(source, most, stream, &packed);

	if (kind != STREAM_ZSTD)
		return kind < 0 ? kind : 0;
	if (stream->size > source->budget)
		return -EBADMSG;
	source->budget -= stream->size;
	memory = source_memory(source, stream->size ? stream->size : 1);
	if (!memory)
		return -ENOMEM;
	if (ZSTD_decompressDCtx(source->zstd, memory, stream->size, stream->at, packed) !=
	    stream->size)
		return -EBADMSG;
	stream->at = memory;
	return 0;
}

void source_free(struct source *source)
{
	while (source->nr_own)
		free(source->own[--source->nr_own]);
	free(source->own);
	source->own = NULL;
	source->room_own = 0;
}
