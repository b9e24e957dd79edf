// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user reads a packed trace as if it were not packed: in any order, by several threads, in
 * little memory. Readers unpack a frame when they need one of its blocks, and release it later. If
 * this fails, packed traces show other events, or take as much memory as unpacked ones.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include "lib/read/frames.h"
#include "test_lib_pack.h"

#define LOG2	14	/* blocks of 16 KiB: several pages */
#define BLOCKS	60	/* rolling blocks, a frame each */

/* ---- traces ---- */

struct packed {
	struct fx fx;
	unsigned char *file;
	size_t size;
	size_t starts[128];
	unsigned int frames;
};

/* A block with the events of 1000 ticks from @time on */
static void add_block(struct fx *fx, unsigned int cpu, uint64_t time)
{
	unsigned int i;

	fx_open(fx, cpu, time, 1, NULL);
	for (i = 0; i < 500; i++)
		fx_simple(fx, cpu, FX_SOFTIRQ, time + 1 + i, i % 7);
	fx_close(fx, cpu);
}

/* Two CPUs in turn, between durable blocks */
static void add_blocks(struct fx *fx)
{
	unsigned int i;

	fx_init(fx, LOG2, 1000);
	fx_durable_end(fx);
	for (i = 0; i < BLOCKS; i++)
		add_block(fx, i % 2, 10000 + i * 1000);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

/* Pack each block as a frame */
static void pack(struct packed *packed)
{
	struct tb_packer *packer = tb_packer_open(1);
	size_t at, bytes, content;
	const void *frame;

	assert(packer);
	packed->file = NULL;
	packed->size = packed->frames = 0;
	for (at = 0; at < packed->fx.size; at += content) {
		content = (size_t)1 << ((struct tb_block *)(packed->fx.data + at))->size_log2;
		CHECK(!tb_packer_frame(packer, packed->fx.data + at, content, &frame, &bytes));
		packed->file = realloc(packed->file, packed->size + bytes);
		assert(packed->file);
		memcpy(packed->file + packed->size, frame, bytes);
		packed->starts[packed->frames++] = packed->size;
		packed->size += bytes;
	}
	packed->starts[packed->frames] = packed->size;
	tb_packer_close(packer);
}

static void packed_free(struct packed *packed)
{
	fx_free(&packed->fx);
	free(packed->file);
}

static struct tb_trace *open_packed(const struct packed *packed)
{
	struct tb_trace *trace;
	struct tb_error error;

	if (tb_trace_open_memory(packed->file, packed->size, &trace, &error))
		printf("# %s\n", error.text);
	assert(trace);
	return trace;
}

/* The number of frames in memory; below, of pinned frames */
static unsigned int in_memory(const struct tb_trace *trace)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < trace->frames->nr_frames; i++)
		count += trace->frames->frames[i].whole;
	return count;
}

static unsigned int pinned(const struct tb_trace *trace)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < trace->frames->nr_frames; i++)
		count += trace->frames->frames[i].pins;
	return count;
}

/* The number of resident pages of the unpacked trace */
static size_t pages_in_memory(const struct tb_trace *trace)
{
	size_t pages = trace->frames->range_bytes / 4096, count = 0, i;
	unsigned char *in = malloc(pages + 1);

	assert(in && !mincore(trace->frames->range, trace->frames->range_bytes, in));
	for (i = 0; i < pages; i++)
		count += in[i] & 1;
	free(in);
	return count;
}

/* ---- tests ---- */

/* Compare all events of both traces; return how many */
static unsigned int same_events(struct tb_trace *one, struct tb_trace *two, unsigned int most)
{
	struct tb_cursor *first, *second;
	struct tb_view a, b;
	unsigned int count = 0;
	int result;

	assert(!tb_cursor_open(one, &first) && !tb_cursor_open(two, &second));
	while ((result = tb_cursor_next(first, &a)) == 1) {
		if (tb_cursor_next(second, &b) != 1)
			break;
		if (a.ticks != b.ticks || a.cpu != b.cpu || a.id != b.id || a.offset != b.offset ||
		    a.length != b.length || memcmp(a.payload, b.payload, a.length))
			break;
		count++;
		if (most && in_memory(two) > most)
			break;
	}
	CHECK_NUMBER(result, 0);
	CHECK(tb_cursor_next(second, &b) == 0);
	tb_cursor_close(first);
	tb_cursor_close(second);
	return count;
}

static void in_order(void)
{
	struct tb_trace *plain, *trace;
	struct packed packed;
	struct tb_error error;
	int i;

	add_blocks(&packed.fx);
	pack(&packed);
	assert(!tb_trace_open_memory(packed.fx.data, packed.fx.size, &plain, &error));
	trace = open_packed(&packed);
	CHECK_NUMBER(trace->frames->nr_frames, packed.frames);
	CHECK_NUMBER(in_memory(trace), 0);
	for (i = 0; i < 3; i++) {
		/* pinned: a frame of each CPU, and the frame of the last event; unpinned: four */
		CHECK_NUMBER(same_events(plain, trace, 7), BLOCKS * 500);
		CHECK_NUMBER(pinned(trace), 0);
		CHECK(in_memory(trace) <= 4);
		/* four blocks, and the two durable ones */
		CHECK(pages_in_memory(trace) <= 6 << (LOG2 - 12));
	}
	tb_trace_close(trace);
	tb_trace_close(plain);
	packed_free(&packed);
}

/* For a span of time only its frames are unpacked */
static void part(void)
{
	struct tb_choice choice = { .until = 10000 + 31 * 1000 };
	unsigned int count = 0, i;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct packed packed;
	struct tb_view view;

	add_blocks(&packed.fx);
	pack(&packed);
	trace = open_packed(&packed);
	assert(!tb_cursor_open(trace, &cursor));
	CHECK(!tb_cursor_choose(cursor, &choice));
	CHECK(!tb_cursor_seek(cursor, 10000 + 30 * 1000));
	while (tb_cursor_next(cursor, &view) == 1)
		count++;
	CHECK_NUMBER(count, 500);
	/* by the headers, the block before may have events of the span */
	for (i = 0; i < packed.frames; i++)
		if (i < 29 || i > 31)
			CHECK(!trace->frames->frames[i].used && !trace->frames->frames[i].whole);
	CHECK(in_memory(trace) >= 1);
	tb_cursor_close(cursor);
	CHECK_NUMBER(pinned(trace), 0);
	tb_trace_close(trace);
	packed_free(&packed);
}

/* Blocks and elements can be read in any order */
static void raw(void)
{
	struct tb_trace *plain, *trace;
	const struct tb_block *a, *b;
	struct tb_cursor *cursor;
	struct packed packed;
	struct tb_error error;
	struct tb_walk walk;
	uint64_t offset;
	size_t i, number;

	add_blocks(&packed.fx);
	pack(&packed);
	assert(!tb_trace_open_memory(packed.fx.data, packed.fx.size, &plain, &error));
	trace = open_packed(&packed);
	CHECK_NUMBER(tb_trace_blocks(trace), BLOCKS + 2);
	for (i = 0; (a = tb_trace_header(plain, i, NULL, NULL)); i++) {
		b = tb_trace_header(trace, i, &offset, NULL);
		CHECK(b && !memcmp(a, b, sizeof(*a)));
		CHECK_NUMBER(offset, (uint64_t)((const unsigned char *)a - packed.fx.data));
	}
	CHECK_NUMBER(in_memory(trace), 0);
	for (i = 0; i < 200; i++) {
		number = i * 37 % (BLOCKS + 2);
		a = tb_trace_block(plain, number, NULL, NULL);
		b = tb_trace_block(trace, number, NULL, NULL);
		CHECK(!memcmp(a, b, (size_t)1 << a->size_log2));
		CHECK(in_memory(trace) <= 8);
	}
	assert(!tb_cursor_open(trace, &cursor));
	for (i = 0; tb_cursor_next_block(cursor, &b, &offset) == 1; i++)
		CHECK(!memcmp(b, packed.fx.data + offset, (size_t)1 << b->size_log2));
	CHECK_NUMBER(i, BLOCKS + 2);
	tb_cursor_close(cursor);
	assert(!tb_cursor_open(trace, &cursor));
	for (i = 0; tb_cursor_next_element(cursor, &walk, &offset) == 1; i++)
		CHECK(!memcmp((const struct tb_element *)walk.block + walk.index,
			      packed.fx.data + offset, walk.length * TB_ELEMENT_SIZE));
	CHECK(i >= BLOCKS * 501);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	tb_trace_close(plain);
	packed_free(&packed);
}

/* An event stays valid until the next call, even if its frame is released then */
static void shown_stays(void)
{
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct packed packed;
	struct tb_view view;
	unsigned int count = 0, i;

	add_blocks(&packed.fx);
	pack(&packed);
	trace = open_packed(&packed);
	assert(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1) {
		/* the cursor's stream has left this block: read more frames than stay in memory */
		for (i = 0; count % 500 == 499 && i < BLOCKS; i++)
			tb_trace_block(trace, i, NULL, NULL);
		CHECK(!memcmp(view.payload, packed.fx.data + view.offset + 8, view.length));
		count++;
	}
	CHECK_NUMBER(count, BLOCKS * 500);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	packed_free(&packed);
}

/* Opening finds clock records in the one frame that has one, whether it is in columns or not */
static void looked_for(void)
{
	struct tb_clock_sync sync = { .monotonic = 7000 };
	struct tb_block *block;
	struct tb_trace *trace;
	struct packed packed;
	size_t count;
	unsigned int odd;

	for (odd = 0; odd < 2; odd++) {
		fx_init(&packed.fx, LOG2, 1000);
		fx_durable_end(&packed.fx);
		add_block(&packed.fx, 0, 10000);
		fx_open(&packed.fx, 1, 11000, 1, NULL);
		fx_composite(&packed.fx, 1, TB_EV_CLOCK, 11001, 1, &sync, sizeof(sync));
		fx_simple(&packed.fx, 1, FX_SOFTIRQ, 11002, 1);
		fx_close(&packed.fx, 1);
		/* an event that was not committed is in no column */
		block = fx_block(&packed.fx, &packed.fx.rings[1]);
		if (odd)
			((struct tb_element *)(void *)block)[block->data / TB_ELEMENT_SIZE - 1].head &= ~3u;
		add_block(&packed.fx, 0, 12000);
		pack(&packed);
		trace = open_packed(&packed);
		CHECK(trace->frames->frames[2].looked_for);
		CHECK(!trace->frames->frames[1].looked_for && !trace->frames->frames[3].looked_for);
		CHECK(tb_trace_syncs(trace, &count) && count >= 1);
		CHECK(trace->frames->frames[2].used && !trace->frames->frames[1].used);
		tb_trace_close(trace);
		packed_free(&packed);
	}
}

/* Read a number of a stream, 7 bits a byte */
static size_t number_at(const unsigned char *frame, size_t *at)
{
	size_t number = 0;
	unsigned int shift = 0;

	for (; frame[*at] & 0x80; shift += 7)
		number |= (size_t)(frame[(*at)++] & 0x7f) << shift;
	return number | (size_t)frame[(*at)++] << shift;
}

/* The offset after the stream at @at; @size: bytes of its data */
static size_t stream_end(const unsigned char *frame, size_t at, size_t *size)
{
	unsigned char kind = frame[at++];
	size_t stored;

	*size = number_at(frame, &at);
	stored = kind == STREAM_PLAIN ? *size : kind == STREAM_SAME ? 1 : number_at(frame, &at);
	return at + stored;
}

/* Give the frame's events a shape that does not exist; everything else of it stays right */
static void damage_events(struct packed *packed, unsigned int number)
{
	unsigned char *frame = packed->file + packed->starts[number], symbols[4] = { STREAM_SAME };
	size_t size, at, end, left;
	struct tb_pack_frame header;
	struct pack_shape shape;
	uint32_t shapes;

	memcpy(&header, frame, sizeof(header));
	at = sizeof(header) + header.cpus * 4 + header.ids * 8;
	memcpy(&shapes, frame + at, 4);
	for (at += 4; shapes--; at += sizeof(shape) + shape.columns * 8u)
		memcpy(&shape, frame + at, sizeof(shape));
	at = stream_end(frame, at, &size);
	at = stream_end(frame, at, &size);
	end = stream_end(frame, at, &size);
	assert(size > 127 && size < 16384 && end - at >= sizeof(symbols));
	symbols[1] = (unsigned char)(size | 0x80);
	symbols[2] = (unsigned char)(size >> 7);
	symbols[3] = 99;
	memcpy(frame + at, symbols, sizeof(symbols));
	left = end - at - sizeof(symbols);
	memmove(frame + at + sizeof(symbols), frame + end, packed->size - packed->starts[number] - end);
	packed->size -= left;
	header.bytes -= (uint32_t)left;
	memcpy(frame, &header, sizeof(header));
	sign(frame, header.bytes);
}

/* Damaged events behind a right checksum: the reader leaves the frame out and reports it */
static void damaged_events(void)
{
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_error error;
	struct packed packed;
	unsigned int count = 0;
	struct tb_view view;
	int result;

	add_blocks(&packed.fx);
	pack(&packed);
	damage_events(&packed, 10);
	trace = open_packed(&packed);
	CHECK(!tb_trace_fault(trace));
	CHECK_NUMBER(tb_trace_blocks(trace), BLOCKS + 2);
	assert(!tb_cursor_open(trace, &cursor));
	while ((result = tb_cursor_next(cursor, &view)) == 1)
		count++;
	CHECK_NUMBER(result, -EBADMSG);
	CHECK_NUMBER(tb_cursor_error(cursor, result, &error), -EBADMSG);
	CHECK(strstr(error.text, "damaged frame"));
	CHECK_NUMBER(count, (BLOCKS - 1) * 500);
	tb_cursor_close(cursor);
	CHECK_NUMBER(pinned(trace), 0);
	CHECK(!memcmp(tb_trace_block(trace, 10, NULL, NULL), tb_trace_header(trace, 10, NULL, NULL),
		      sizeof(struct tb_block)));
	tb_trace_close(trace);
	packed_free(&packed);
}

/* ---- several threads ---- */

static void *read_all(void *argument)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	uintptr_t sum = 0;
	uint64_t value;

	assert(!tb_cursor_open(argument, &cursor));
	while (tb_cursor_next(cursor, &view) == 1) {
		memcpy(&value, view.payload, sizeof(value));
		sum += value;
	}
	tb_cursor_close(cursor);
	return (void *)sum;
}

static void threads(void)
{
	struct tb_trace *trace;
	struct packed packed;
	pthread_t thread[4];
	uintptr_t want = 0;
	void *sum;
	int i;

	for (i = 0; i < 500; i++)
		want += (uintptr_t)i % 7 * BLOCKS;
	add_blocks(&packed.fx);
	pack(&packed);
	trace = open_packed(&packed);
	for (i = 0; i < 4; i++)
		assert(!pthread_create(&thread[i], NULL, read_all, trace));
	for (i = 0; i < 4; i++) {
		assert(!pthread_join(thread[i], &sum));
		CHECK_NUMBER((uintptr_t)sum, want);
	}
	CHECK_NUMBER(pinned(trace), 0);
	CHECK(in_memory(trace) <= 4);
	tb_trace_close(trace);
	packed_free(&packed);
}

static const struct test tests[] = {
	{ "frames are unpacked and released, and are the same each time", in_order },
	{ "for a span of time only its frames are unpacked", part },
	{ "blocks and elements in any order", raw },
	{ "an event stays valid until the next call", shown_stays },
	{ "opening unpacks only frames that the scan needs", looked_for },
	{ "damage behind a right checksum costs a frame", damaged_events },
	{ "several threads", threads },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
