/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory images made by hand, and what "tracebuf recover" finds in them. */
#ifndef TEST_LIB_IMAGE_H
#define TEST_LIB_IMAGE_H

#include <stddef.h>
#include "test_lib_run.h"

#define IMAGE_BYTES	(1u << 20)
#define LOG2		10
#define ELEMENTS	(1u << (LOG2 - 4))
#define ID_A		0x1111222233334441ull
#define ID_B		0x5555666677778885ull

static unsigned char image[IMAGE_BYTES] __attribute__((aligned(4096)));
static size_t used;

/* Memory with old contents */
static inline void image_new(void)
{
	size_t i;

	for (i = 0; i < sizeof(image); i++)
		image[i] = (unsigned char)(i * 2654435761u >> 13);
	used = 4096;
}

/* Room for @bytes at a multiple of @align, not directly after the last */
static inline void *image_room(size_t bytes, size_t align)
{
	size_t at = (used + align + align - 1) / align * align;

	assert(at + bytes <= sizeof(image));
	used = at + bytes;
	return image + at;
}

static inline struct tb_gap *gap_of(struct tb_block *block)
{
	return (void *)((struct tb_composite *)(block + 1) + 1);
}

static inline void stamp(struct tb_block *block, uint64_t id)
{
	if (block->kind == TB_BLOCK_DURABLE)
		block->overwritten = id;
	else
		gap_of(block)->recording = id;
}

/* Copy the blocks of @fx to the image, the last first; return the last one's place */
static inline struct tb_block *image_put(struct fx *fx, uint64_t id)
{
	struct tb_block *block, *first = NULL, *copy;
	size_t at[64], count = 0, offset;

	for (offset = 0; offset < fx->size; offset += 1u << block->size_log2) {
		block = (void *)(fx->data + offset);
		stamp(block, id);
		assert(count < 64);
		at[count++] = offset;
	}
	while (count--) {
		block = (void *)(fx->data + at[count]);
		copy = image_room(1u << block->size_log2, 1u << block->size_log2);
		memcpy(copy, block, 1u << block->size_log2);
		if (!first)
			first = copy;
	}
	return first;
}

static inline struct tb_ring_image *image_ring(uint64_t id, uint32_t cpu, uint64_t sequence, uint32_t index,
					uint64_t recorded, uint64_t dropped)
{
	struct tb_ring_image *ring = image_room(sizeof(*ring), TB_RING_IMAGE_ALIGN);

	ring->head = (uint64_t)(sequence & 0x3fff) << 29 | (sequence & 31) << 17 | index;
	ring->elements = ELEMENTS;
	ring->buffers = 32;
	ring->provider = 0;
	ring->cpu = cpu;
	ring->start = 1000;
	ring->magic = TB_RING_IMAGE_MAGIC;
	ring->recording = id;
	ring->recorded = recorded;
	ring->overwritten = 0;
	ring->dropped = dropped;
	ring->oversize = 0;
	return ring;
}

static char trace_name[sizeof(file) + 8];

static inline int recover(const char *options)
{
	char arguments[512];

	save(image, sizeof(image));
	snprintf(trace_name, sizeof(trace_name), "%s.tbuf", file);
	unlink(trace_name);
	snprintf(arguments, sizeof(arguments), "recover %s -o %s %s", options, trace_name, file);
	return run(arguments);
}

static inline int image_main(const struct test *tests, size_t count)
{
	int result = run_main(tests, count);

	unlink(trace_name);
	return result;
}

static inline int on_trace(const char *command)
{
	char arguments[512];

	snprintf(arguments, sizeof(arguments), "%s %s", command, trace_name);
	return run(arguments);
}

/* The numbers of the softirq events that print shows: "1 2 3 " */
static inline const char *numbers(void)
{
	static char text[4096];
	char *at = output, *to = text;

	CHECK_NUMBER(on_trace("print --fields"), 0);
	while ((at = strstr(at, "vec="))) {
		at += 4;
		to += sprintf(to, "%ld ", strtol(at, NULL, 10));
		assert((size_t)(to - text) < sizeof(text) - 16);
	}
	*to = 0;
	return text;
}

static inline void begin(struct fx *fx)
{
	fx_init(fx, LOG2, 1000);
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
}

/* Two complete blocks, and the beginning of a third with the number @sequence */
static inline struct tb_block *half_written(struct fx *fx, uint64_t sequence)
{
	begin(fx);
	fx->rings[0].sequence = sequence - 2;
	fx_open(fx, 0, 2000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_simple(fx, 0, FX_SOFTIRQ, 2002, 2);
	fx_close(fx, 0);
	fx_open(fx, 0, 3000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 3001, 3);
	fx_close(fx, 0);
	fx_open(fx, 0, 4000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 4001, 4);
	fx_simple(fx, 0, FX_SOFTIRQ, 4002, 5);
	return image_put(fx, ID_A);
}

/* The only durable block, which image_put() puts last */
static inline struct tb_block *durable_block(void)
{
	struct tb_block *block = (void *)(image + used - (1u << FX_DURABLE_LOG2));

	CHECK_NUMBER(block->kind, TB_BLOCK_DURABLE);
	return block;
}

static inline struct tb_element *element(struct tb_block *block, uint32_t at)
{
	return (struct tb_element *)block + at;
}

static inline void put_simple(struct tb_block *block, uint32_t at, uint64_t sequence,
			      uint32_t time, uint32_t vec)
{
	*element(block, at) = (struct tb_element) {
		.head = TB_HEAD(TB_STRUCT_SIMPLE, FX_SOFTIRQ, 1, sequence),
		.time = time, .payload = vec,
	};
}

/* recover has found these events (numbers()), and verify accepts the trace */
#define CHECK_RECOVERED(events) do { \
	CHECK_TEXT(numbers(), events); \
	CHECK_NUMBER(on_trace("verify"), 0); \
} while (0)

#endif /* TEST_LIB_IMAGE_H */
