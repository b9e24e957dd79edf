// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recorded events come out of the ring complete, with their times, in blocks of the documented
 * layout, and the ring wakes the reader at the watermark. If this fails, every trace has wrong
 * events or times, or a recorder sleeps while the rings fill. Each test is one situation;
 * test_ring_explore.c covers interruptions, except for a few that are clearer as a story.
 */
#include "ring_test.h"

/* ---- one buffer ------------------------------------------------------- */

static struct model *test_simple(void)
{
	struct model *m = model_new(4, 64, true);

	EXPECT_EQ(m, stats(m).blocks, 0);
	EXPECT(m, !model_acquire(m));
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, used(m), FIRST + 1);
	EXPECT(m, !model_acquire(m));
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, stats(m).recorded, 2);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, !tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_events, 2);
	EXPECT_EQ(m, m->last_data, (FIRST + 2) * TB_ELEMENT_SIZE);
	EXPECT(m, m->last_flags & TB_BLOCK_FLUSHED);
	model_release(m, 0);
	return m;
}

/* The clock was halted, and starts again before the event is recorded. */
static struct model *test_woken(void)
{
	struct model *m = model_new(4, 64, true);

	EXPECT(m, model_write(m, 1));
	m->wakes = true;
	EXPECT(m, model_write(m, 1));
	m->wakes = false;
	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_events, 3);
	return m;
}

static struct model *test_composite(void)
{
	struct model *m = model_new(2, 64, false);

	EXPECT(m, model_write(m, 7));
	EXPECT(m, model_write(m, 1));
	EXPECT(m, model_write(m, 20));
	EXPECT_EQ(m, used(m), FIRST + 28);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_events, 3);
	return m;
}

static struct model *test_exact_fit(void)
{
	struct model *m = model_new(2, 64, false);

	EXPECT(m, model_write(m, 50));
	EXPECT(m, model_write(m, 6));
	EXPECT_EQ(m, used(m), 64);
	EXPECT_EQ(m, stats(m).ready, 1);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_data, 64 * TB_ELEMENT_SIZE);
	EXPECT_EQ(m, m->last_flags, TB_BLOCK_COMPLETE);
	EXPECT(m, !tb_ring_flush(&m->r));
	EXPECT(m, model_write(m, 56));
	EXPECT_EQ(m, stats(m).ready, 1);
	return m;
}

static struct model *test_padding(void)
{
	struct model *m = model_new(2, 64, false);

	EXPECT(m, model_write(m, 50));
	EXPECT(m, model_write(m, 7));
	EXPECT_EQ(m, used(m), FIRST + 7);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_data, (FIRST + 50) * TB_ELEMENT_SIZE);
	EXPECT_EQ(m, m->last_flags, TB_BLOCK_COMPLETE);
	return m;
}

/* Padding longer than the length field of an element can say */
static struct model *test_long_padding(void)
{
	struct model *m = model_new(2, 4096, false);

	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	return m;
}

/* A composite event never crosses the border between two blocks, whatever the sizes */
static struct model *test_never_straddles(void)
{
	struct model *m = model_new(3, 64, true);
	u32 i, seed = 1;

	for (i = 0; i < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		EXPECT(m, model_write(m, 1 + (seed >> 16) % 56));
		if (i % 3 == 0 && model_acquire(m))
			model_release(m, 0);
	}
	return m;
}

static struct model *test_oversize(void)
{
	struct model *m = model_new(2, 64, false);

	EXPECT_EQ(m, m->r.max, 56);
	EXPECT(m, !model_write(m, 57));
	EXPECT_EQ(m, stats(m).blocks, 0);
	EXPECT(m, model_write(m, 56));
	EXPECT(m, !model_write(m, 1000));
	EXPECT_EQ(m, stats(m).oversize, 2);
	EXPECT_EQ(m, stats(m).dropped, 2);
	EXPECT(m, model_write(m, 1));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.oversize, 1);
	EXPECT_EQ(m, m->last_gap.dropped, 1);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.oversize, 1);
	return m;
}

/* The length field has ten bits, however large the buffer is */
static struct model *test_oversize_large(void)
{
	struct model *m = model_new(2, 8192, false);

	EXPECT_EQ(m, m->r.max, TB_EVENT_ELEMENTS_MAX);
	EXPECT(m, model_write(m, 1));
	EXPECT(m, !model_write(m, TB_EVENT_ELEMENTS_MAX + 1));
	EXPECT(m, model_write(m, TB_EVENT_ELEMENTS_MAX));
	EXPECT(m, !model_write(m, 4000));
	EXPECT_EQ(m, stats(m).oversize, 2);
	return m;
}

/* ---- time ------------------------------------------------------------- */

static struct model *test_time_element(void)
{
	struct model *m = model_new(2, 64, false);

	m->clock = 0x7fffffff0ull;
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, used(m), FIRST + 1);
	m->clock = 0x800000000ull;
	EXPECT(m, model_write(m, 3));
	EXPECT_EQ(m, used(m), FIRST + 5);
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, used(m), FIRST + 6);
	m->clock = 0x123456789abcdef0ull;
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, used(m), FIRST + 8);
	EXPECT_EQ(m, stats(m).recorded, 4);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_events, 4);
	return m;
}

/* The event would fit, but not with a TIME element: it opens a block */
static struct model *test_time_switch(void)
{
	struct model *m = model_new(2, 64, false);

	m->clock = 0x7fffffff0ull;
	EXPECT(m, model_write(m, 50));
	m->clock = 0x800000000ull;
	EXPECT(m, model_write(m, 6));
	EXPECT_EQ(m, used(m), FIRST + 6);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_data, (FIRST + 50) * TB_ELEMENT_SIZE);
	model_release(m, 0);
	/* here it fits exactly, with the TIME element */
	EXPECT(m, model_write(m, 44));
	m->clock = 0x900000000ull;
	EXPECT(m, model_write(m, 5));
	EXPECT_EQ(m, used(m), 64);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_events, 3);
	return m;
}

static struct model *test_time_every_event(void)
{
	struct model *m = model_new(3, 64, true);
	u32 i;

	m->step = 0x60000001ull;
	for (i = 0; i < 3000; i++) {
		EXPECT(m, model_write(m, 1 + i % 9));
		if (i % 5 == 0 && model_acquire(m))
			model_release(m, 0);
	}
	return m;
}

/* ---- watermark and completion ----------------------------------------- */

static struct model *test_mark(void)
{
	struct model *m = model_new(2, 64, false);
	u32 i, seen = 0;

	m->r.watermark = 44;
	for (i = FIRST; i < 43; i++)
		model_write(m, 1);
	EXPECT_EQ(m, m->notified, 0);
	EXPECT(m, !tb_ring_above_watermark(&m->r));
	EXPECT(m, !tb_ring_readable(&m->r));
	model_write(m, 1);
	EXPECT_EQ(m, m->notified, 1);
	EXPECT_EQ(m, stats(m).marks, 1);
	EXPECT(m, tb_ring_above_watermark(&m->r));
	EXPECT(m, tb_ring_readable(&m->r));
	for (i = 44; i < 64; i++)
		model_write(m, 1);
	EXPECT_EQ(m, m->notified, 2);	/* the block is complete */
	EXPECT(m, !tb_ring_above_watermark(&m->r));
	EXPECT(m, tb_ring_readable(&m->r));
	/* one notification a buffer, wherever the event lies that crosses the watermark */
	while (model_acquire(m))
		model_release(m, 0);
	for (i = 0; i < 300; i++) {
		u64 blocks = stats(m).blocks;

		model_write(m, 1 + i * 7 % 40);
		while (model_acquire(m))
			model_release(m, 0);
		if (stats(m).blocks != blocks)
			seen = 0;
		seen += used(m) >= m->r.watermark;
		EXPECT_EQ(m, tb_ring_above_watermark(&m->r), seen && used(m) < 64);
	}
	return m;
}

static struct model *test_mark_once(void)
{
	struct model *m = model_new(2, 64, true);
	u32 i, mark;

	for (mark = 1; mark <= 64; mark++) {
		model_reset(m);
		m->r.watermark = mark;
		for (i = 0; i < 56; i++)
			model_write(m, 1);
		EXPECT_EQ(m, stats(m).marks, 1);
		EXPECT_EQ(m, m->notified, 2);
		model_write(m, 56);
		EXPECT_EQ(m, stats(m).marks, 2);
		EXPECT_EQ(m, m->notified, 4);
		m->clock += 1ull << 32;
		model_write(m, 20);
		m->clock += 1ull << 32;
		model_write(m, 35);
		EXPECT_EQ(m, stats(m).marks, 3);
	}
	/* a TIME element begins exactly at the watermark */
	for (mark = FIRST + 1; mark < 62; mark++) {
		model_reset(m);
		m->r.watermark = mark;
		write_many(m, 1, mark - FIRST);
		EXPECT_EQ(m, stats(m).marks, 1);
		m->clock += 1ull << 32;
		model_write(m, 1);
		EXPECT_EQ(m, stats(m).marks, 1);
	}
	return m;
}

/* A block is complete with its last commit, whatever the order of commits */
static struct model *test_completion(void)
{
	struct model *m = model_new(3, 64, false);
	struct tb_slot a, b;
	int ea, eb;

	ea = model_reserve(m, 10, &a);
	eb = model_reserve(m, 46, &b);
	EXPECT_EQ(m, used(m), 64);
	EXPECT(m, model_write(m, 56));	/* in the next buffer, complete at once */
	EXPECT_EQ(m, stats(m).ready, 1);
	EXPECT(m, !model_acquire(m));	/* blocks come in order */
	model_commit(m, eb, &b);
	EXPECT(m, !model_acquire(m));
	EXPECT_EQ(m, m->notified, 3);
	model_commit(m, ea, &a);
	EXPECT_EQ(m, m->notified, 4);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_events, 2);
	EXPECT(m, model_acquire(m));
	EXPECT(m, !model_acquire(m));
	return m;
}

static struct model *test_flush(void)
{
	struct model *m = model_new(2, 64, false);
	u32 i;

	EXPECT(m, !tb_ring_flush(&m->r));
	for (i = 1; i < 56; i++) {
		EXPECT(m, model_write(m, i));
		EXPECT(m, tb_ring_flush(&m->r));
		EXPECT(m, !tb_ring_flush(&m->r));
		EXPECT(m, model_acquire(m));
		EXPECT_EQ(m, m->last_flags, TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED);
		EXPECT_EQ(m, m->last_events, 1);
		model_release(m, 0);
	}
	fill(m);
	EXPECT(m, !tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_flags, TB_BLOCK_COMPLETE);
	return m;
}

static const struct ring_test tests[] = {
	{ "simple events", test_simple },
	{ "the clock starts again in the middle of an event", test_woken },
	{ "composite events", test_composite },
	{ "exact fit", test_exact_fit },
	{ "switch with padding", test_padding },
	{ "padding longer than an element can say", test_long_padding },
	{ "composite events never straddle", test_never_straddles },
	{ "oversize events", test_oversize },
	{ "oversize events in large buffers", test_oversize_large },
	{ "TIME element", test_time_element },
	{ "TIME element and switch", test_time_switch },
	{ "TIME element before every event", test_time_every_event },
	{ "watermark", test_mark },
	{ "watermark once a buffer", test_mark_once },
	{ "completion by the last commit", test_completion },
	{ "flush", test_flush },
};

int main(void)
{
	return ring_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
