/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes records of programs for tests: chunks record by record, as linux/tracebuf_producer.h
 * describes them, and as the kernel puts them into a ring.
 */
#ifndef TEST_LIB_CHUNK_H
#define TEST_LIB_CHUNK_H

#include "test_lib_fixture.h"

struct fx_chunk {
	struct tb_chunk_event head;
	unsigned char data[8192];
	size_t bytes;
};

/* Begin a piece of chunk @id of @writer; @first: the number of its first record */
static inline void fx_chunk(struct fx_chunk *chunk, uint32_t producer,
			    unsigned int writer, uint32_t id, uint64_t first)
{
	memset(chunk, 0, sizeof(*chunk));
	chunk->head.producer = producer;
	chunk->head.pid = 100;
	chunk->head.tid = 100 + writer;
	chunk->head.uid = 1000;
	chunk->head.chunk = id;
	chunk->head.writer = (uint16_t)writer;
	chunk->head.flags = TB_CLOCK_TSC | TB_CHUNK_LAST;
	chunk->head.first = first;
}

/* Words after the head of a record */
#define FX_WORDS(...) \
	(const uint64_t[]){ __VA_ARGS__ }, \
	sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define FX_NO_WORDS NULL, 0

/* Add a record; return its offset in the chunk */
static inline uint32_t fx_record(struct fx_chunk *chunk, int type,
				 unsigned int flags, uint32_t id, uint64_t time,
				 const uint64_t *words, size_t count)
{
	struct tb_record record = {
		.bytes = (uint16_t)(sizeof(record) + count * 8),
		.type = (uint8_t)type, .flags = (uint8_t)flags,
		.id = id, .time = time,
	};
	size_t at = chunk->bytes;

	assert(at + record.bytes <= sizeof(chunk->data));
	memcpy(chunk->data + at, &record, sizeof(record));
	if (count)
		memcpy(chunk->data + at + sizeof(record), words, count * 8);
	chunk->bytes += record.bytes;
	chunk->head.records++;
	return chunk->head.offset + (uint32_t)at;
}

static inline void fx_name(struct fx_chunk *chunk, uint32_t id, int kind,
			   uint32_t category, const char *text)
{
	uint64_t words[32] = { 0 };
	size_t length = strlen(text);

	assert(length <= sizeof(words));
	memcpy(words, text, length);
	fx_record(chunk, TB_REC_NAME, 0, id, (uint64_t)category << 32 |
		  (uint64_t)kind << 16 | length, words, (length + 7) / 8);
}

/* The text has at most 200 bytes */
static inline void fx_mark(struct fx_chunk *chunk, uint64_t time,
			   const char *text)
{
	uint64_t words[26] = { strlen(text) };

	memcpy(words + 1, text, words[0]);
	fx_record(chunk, TB_REC_MARK, 0, 0, time, words,
		  1 + (words[0] + 7) / 8);
}

static inline uint64_t fx_arg(uint32_t name, int type)
{
	return name | (uint64_t)type << 32;
}

/* The kernel accepts the piece: put it into the ring */
static inline bool fx_take(struct fx *fx, unsigned int cpu, uint64_t time,
			   const struct fx_chunk *chunk)
{
	unsigned char payload[sizeof(chunk->head) + sizeof(chunk->data)];

	memcpy(payload, &chunk->head, sizeof(chunk->head));
	memcpy(payload + sizeof(chunk->head), chunk->data, chunk->bytes);
	return fx_composite(fx, cpu, TB_EV_CHUNK, time, chunk->head.tid, payload,
			    sizeof(chunk->head) + chunk->bytes);
}

/* Begin the next piece of the same chunk */
static inline void fx_continue(struct fx_chunk *chunk)
{
	chunk->head.offset += (uint16_t)chunk->bytes;
	chunk->head.first += chunk->head.records;
	chunk->head.records = 0;
	chunk->bytes = 0;
}

static inline bool fx_patch(struct fx *fx, unsigned int cpu, uint64_t time,
			    const struct fx_chunk *chunk, uint32_t offset,
			    uint64_t value)
{
	struct tb_patch_event patch = {
		.producer = chunk->head.producer, .chunk = chunk->head.chunk,
		.writer = chunk->head.writer, .offset = (uint16_t)offset,
		.value = value,
	};

	return fx_composite(fx, cpu, TB_EV_PATCH, time, chunk->head.tid, &patch,
			    sizeof(patch));
}

#endif /* TEST_LIB_CHUNK_H */
