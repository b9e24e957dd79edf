// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the ring does, one situation at a time: layout, switching, marks,
 * both policies, losses and where they are told of, sizes at the limits.
 * Whatever a context may be interrupted by is left to test_ring_explore.c, but
 * for a few situations that are better told as a story.
 */
#include <stdlib.h>
#include "ring_ktap.h"
#include "ring_model.h"

#define FIRST		TB_BLOCK_FIRST_ELEMENT

#define EXPECT(m, cond)							\
	do {								\
		if (!(cond))						\
			model_fail(m, "%s:%d: %s", __func__, __LINE__, #cond);	\
	} while (0)

/* The numbers side by side: worth seeing when they differ. */
#define EXPECT_EQ(m, a, b)						\
	do {								\
		unsigned long long a_ = (a), b_ = (b);			\
									\
		if (a_ != b_)						\
			model_fail(m, "%s:%d: %s is %llu, not %llu", __func__, __LINE__, #a, \
				   a_, b_);				\
	} while (0)

static struct tb_ring_stats stats(struct model *m)
{
	struct tb_ring_stats st;

	tb_ring_stats(&m->r, &st);
	return st;
}

static void write_many(struct model *m, u32 n, u32 count)
{
	while (count--)
		model_write(m, n);
}

/* fills the current buffer (or a new one) exactly, with simple events */
static void fill(struct model *m)
{
	u32 index = m->r.head & TB_HEAD_INDEX_MASK;

	write_many(m, 1, index == m->r.capacity ? m->r.capacity - FIRST : m->r.capacity - index);
}

static u32 used(struct model *m)
{
	return m->r.head & TB_HEAD_INDEX_MASK;
}

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

/* padding longer than an element's length can say */
static struct model *test_long_padding(void)
{
	struct model *m = model_new(2, 4096, false);

	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	return m;
}

/* a composite event is never in two blocks, whatever the sizes */
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

/* the length field has ten bits, however large the buffer is */
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

/* the event would just fit, but not with the TIME element: it opens a block */
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
	/* and here it fits with it, exactly */
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

/* ---- mark and completion ---------------------------------------------- */

static struct model *test_mark(void)
{
	struct model *m = model_new(2, 64, false);
	u32 i, seen = 0;

	m->r.mark = 44;
	for (i = FIRST; i < 43; i++)
		model_write(m, 1);
	EXPECT_EQ(m, m->notified, 0);
	EXPECT(m, !tb_ring_past_mark(&m->r));
	EXPECT(m, !tb_ring_readable(&m->r));
	model_write(m, 1);
	EXPECT_EQ(m, m->notified, 1);
	EXPECT_EQ(m, stats(m).marks, 1);
	EXPECT(m, tb_ring_past_mark(&m->r));
	EXPECT(m, tb_ring_readable(&m->r));
	for (i = 44; i < 64; i++)
		model_write(m, 1);
	EXPECT_EQ(m, m->notified, 2);	/* complete */
	EXPECT(m, !tb_ring_past_mark(&m->r));
	EXPECT(m, tb_ring_readable(&m->r));
	/* once a buffer, wherever the event that crosses it begins and ends */
	while (model_acquire(m))
		model_release(m, 0);
	for (i = 0; i < 300; i++) {
		u64 blocks = stats(m).blocks;

		model_write(m, 1 + i * 7 % 40);
		while (model_acquire(m))
			model_release(m, 0);
		if (stats(m).blocks != blocks)
			seen = 0;
		seen += used(m) >= m->r.mark;
		EXPECT_EQ(m, tb_ring_past_mark(&m->r), seen && used(m) < 64);
	}
	return m;
}

static struct model *test_mark_once(void)
{
	struct model *m = model_new(2, 64, true);
	u32 i, mark;

	for (mark = 1; mark <= 64; mark++) {
		model_reset(m);
		m->r.mark = mark;
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
	/* begun by a TIME element, just at the mark */
	for (mark = FIRST + 1; mark < 62; mark++) {
		model_reset(m);
		m->r.mark = mark;
		write_many(m, 1, mark - FIRST);
		EXPECT_EQ(m, stats(m).marks, 1);
		m->clock += 1ull << 32;
		model_write(m, 1);
		EXPECT_EQ(m, stats(m).marks, 1);
	}
	return m;
}

/* complete only when the last commit is in, in whatever order they come */
static struct model *test_completion(void)
{
	struct model *m = model_new(3, 64, false);
	struct tb_slot a, b;
	int ea, eb;

	ea = model_reserve(m, 10, &a);
	eb = model_reserve(m, 46, &b);
	EXPECT_EQ(m, used(m), 64);
	EXPECT(m, model_write(m, 56));	/* the next buffer, complete at once */
	EXPECT_EQ(m, stats(m).ready, 1);
	EXPECT(m, !model_acquire(m));	/* never out of order */
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

/* ---- policies --------------------------------------------------------- */

static struct model *test_overwrite(void)
{
	struct model *m = model_new(4, 64, true);
	u64 start;
	u32 i;

	for (i = 0; i < 10; i++)
		fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 6 * 56);
	EXPECT_EQ(m, stats(m).recorded, 10 * 56);
	EXPECT_EQ(m, stats(m).dropped, 0);
	EXPECT_EQ(m, stats(m).ready, 4);
	start = m->r.start_time;
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[0].seq, 6);
	EXPECT_EQ(m, m->last_gap.overwritten, 6 * 56);
	EXPECT_EQ(m, m->last_gap.first, start);
	EXPECT_EQ(m, m->last_gap.last, m->r.bufs[m->held[0].index].block->time_start);
	EXPECT_EQ(m, m->r.bufs[m->held[0].index].block->overwritten, 6 * 56);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.overwritten, 0);
	EXPECT_EQ(m, m->r.bufs[m->held[1].index].block->overwritten, 6 * 56);
	/* what is overwritten further on is not told of here */
	write_many(m, 1, 56 * 2);
	EXPECT_EQ(m, stats(m).overwritten, 8 * 56);
	model_release(m, 0);
	model_release(m, 0);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[0].seq, 10);
	EXPECT_EQ(m, m->last_gap.overwritten, 2 * 56);
	EXPECT_EQ(m, m->r.bufs[m->held[0].index].block->overwritten, 8 * 56);
	return m;
}

static struct model *test_drop(void)
{
	struct model *m = model_new(3, 64, false);
	u64 first, last;
	u32 i;

	fill(m);
	fill(m);
	fill(m);
	first = m->clock;
	for (i = 0; i < 100; i++)
		EXPECT(m, !model_write(m, 1));
	last = m->clock;
	EXPECT_EQ(m, stats(m).dropped, 100);
	EXPECT_EQ(m, stats(m).overwritten, 0);
	EXPECT(m, model_acquire(m));
	EXPECT(m, !model_write(m, 1));	/* held is not given back */
	model_release(m, 0);
	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	for (i = 0; i < 2; i++) {
		EXPECT(m, model_acquire(m));
		EXPECT_EQ(m, m->last_gap.dropped, 0);
		model_release(m, 0);
	}
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 101);
	EXPECT(m, m->last_gap.first >= first && m->last_gap.first <= first + 1);
	EXPECT(m, m->last_gap.last >= last - 1);
	EXPECT_EQ(m, m->r.bufs[m->held[0].index].block->dropped, 101);
	/* the next ones have a span of their own */
	model_release(m, 0);
	for (i = 0; i < 3; i++)
		fill(m);
	first = m->clock;
	EXPECT(m, !model_write(m, 1));
	EXPECT(m, model_acquire(m));
	model_release(m, 0);
	fill(m);
	while (model_acquire(m))
		;
	EXPECT_EQ(m, m->last_gap.dropped, 1);
	EXPECT(m, m->last_gap.first >= first && m->last_gap.last <= m->last_gap.first + 1);
	return m;
}

/* an event too large for what is left closes the buffer; so the reader has all of it */
static struct model *test_drop_closes(void)
{
	struct model *m = model_new(2, 64, false);

	fill(m);
	EXPECT(m, model_write(m, 40));
	EXPECT(m, !model_write(m, 40));
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, stats(m).ready, 2);
	return m;
}

/* full once: not looked for again until something is given back */
static struct model *test_full_seen(void)
{
	struct model *m = model_new(2, 64, false);

	fill(m);
	fill(m);
	EXPECT_EQ(m, m->r.full_seen, ~0ull);
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, m->r.full_seen, 0);
	EXPECT(m, model_acquire(m));
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, m->r.full_seen, 0);
	model_release(m, 0);
	fill(m);
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, m->r.full_seen, 1);
	EXPECT_EQ(m, stats(m).dropped, 3);
	return m;
}

static struct model *test_held_skipped(void)
{
	struct model *m = model_new(4, 64, true);
	u32 i;

	fill(m);
	fill(m);
	fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT(m, model_acquire(m));
	for (i = 0; i < 20; i++) {
		fill(m);
		model_check_held(m);
	}
	EXPECT_EQ(m, stats(m).dropped, 0);
	EXPECT_EQ(m, stats(m).held, 2);
	EXPECT_EQ(m, stats(m).overwritten, 19 * 56);
	/* the walk goes by position: what is given back is used when it comes round */
	model_release(m, 1);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 20 * 56);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 20 * 56);
	return m;
}

/* the reader has all but the current one: new wins over old */
static struct model *test_all_held(void)
{
	struct model *m = model_new(3, 64, true);

	fill(m);
	fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT(m, model_acquire(m));
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 0);
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, stats(m).overwritten, 56);
	EXPECT_EQ(m, stats(m).dropped, 0);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.overwritten, 56);
	/* now it has every one */
	EXPECT(m, !model_write(m, 1));
	EXPECT(m, !model_write(m, 2));
	EXPECT_EQ(m, stats(m).dropped, 2);
	model_release(m, 0);
	EXPECT(m, model_write(m, 1));
	return m;
}

/* drops, an oversize event and overwriting between two blocks handed over */
static struct model *test_gap_both(void)
{
	struct model *m = model_new(2, 64, true);
	struct tb_slot a;
	u64 end, time;
	int ea;

	fill(m);
	EXPECT(m, model_acquire(m));
	end = m->r.bufs[m->held[0].index].block->time_end;
	ea = model_reserve(m, 1, &a);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, !model_write(m, 1));	/* one held, one incomplete */
	EXPECT(m, !model_write(m, 2));
	EXPECT(m, !model_write(m, 57));
	model_commit(m, ea, &a);
	EXPECT(m, model_write(m, 3));	/* overwrites the one */
	EXPECT_EQ(m, stats(m).overwritten, 1);
	EXPECT_EQ(m, stats(m).dropped, 3);
	EXPECT(m, !model_write(m, 58));	/* belongs to the next block */
	time = m->r.bufs[1].block->time_start;
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[1].seq, 2);
	EXPECT_EQ(m, m->last_gap.overwritten, 1);
	EXPECT_EQ(m, m->last_gap.dropped, 3);
	EXPECT(m, m->last_gap.oversize >= 1);
	EXPECT_EQ(m, m->last_gap.first, end);
	EXPECT_EQ(m, m->last_gap.last, time);
	return m;
}

/* overwritten while an earlier block was incomplete: told where it is missing */
static struct model *test_gap_place(void)
{
	struct model *m = model_new(4, 64, true);
	struct tb_slot a;
	int ea;

	fill(m);
	EXPECT(m, model_acquire(m));
	ea = model_reserve(m, 1, &a);
	EXPECT(m, tb_ring_flush(&m->r));
	fill(m);
	fill(m);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 56);
	EXPECT(m, !model_acquire(m));
	model_commit(m, ea, &a);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[1].seq, 1);
	EXPECT_EQ(m, m->last_gap.overwritten, 0);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[2].seq, 3);
	EXPECT_EQ(m, m->last_gap.overwritten, 56);
	return m;
}

/* no gap, no flag, all zero */
static struct model *test_gap_none(void)
{
	struct model *m = model_new(3, 64, true);
	u32 i;

	for (i = 0; i < 50; i++) {
		fill(m);
		EXPECT(m, model_acquire(m));
		EXPECT(m, !(m->last_flags & TB_BLOCK_GAP));
		EXPECT_EQ(m, m->last_gap.first, 0);
		EXPECT_EQ(m, m->last_gap.last, 0);
		model_release(m, 0);
	}
	return m;
}

/* ---- a reader that goes away ------------------------------------------ */

static struct model *unacquire(bool overwrite, bool meanwhile)
{
	struct model *m = model_new(4, 64, overwrite);
	struct model_gap gap[4];
	u64 seq[4];
	u32 i, n;

	for (i = 0; i < 6; i++)
		fill(m);
	EXPECT(m, !model_write(m, 57));
	if (model_acquire(m))
		model_release(m, 0);
	fill(m);
	EXPECT(m, !model_write(m, 57));
	for (n = 0; n < 3 && model_acquire(m); n++) {
		gap[n] = m->last_gap;
		seq[n] = m->held[n].seq;
	}
	if (meanwhile)
		fill(m);	/* in the only one left */
	while (m->nr_held)
		model_unacquire(m);
	EXPECT_EQ(m, stats(m).held, 0);
	EXPECT_EQ(m, n, 3);
	for (i = 0; i < n; i++) {
		EXPECT(m, model_acquire(m));
		EXPECT_EQ(m, m->held[i].seq, seq[i]);
		EXPECT(m, !memcmp(&gap[i], &m->last_gap, sizeof(gap[i])));
	}
	return m;
}

static struct model *test_unacquire_overwrite(void)
{
	return unacquire(true, false);
}

static struct model *test_unacquire_drop(void)
{
	return unacquire(false, false);
}

/* the same, though the writer overwrote what came later in the meantime */
static struct model *test_unacquire_meanwhile(void)
{
	return unacquire(true, true);
}

/* blocks put back are overwritten before the next reader comes */
static struct model *test_unacquire_overwritten(void)
{
	struct model *m = model_new(4, 64, true);
	u32 i;

	for (i = 0; i < 6; i++)
		fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT(m, model_acquire(m));
	while (m->nr_held)
		model_unacquire(m);
	EXPECT_EQ(m, stats(m).overwritten, 2 * 56);
	fill(m);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 4 * 56);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[0].seq, 4);
	EXPECT_EQ(m, m->last_gap.overwritten, 4 * 56);
	return m;
}

/* the reader gave back the later of two blocks and died */
static struct model *test_unacquire_out_of_order(void)
{
	struct model *m = model_new(4, 64, false);
	u32 i;

	fill(m);
	EXPECT(m, !model_write(m, 57));
	fill(m);
	EXPECT(m, !model_write(m, 57));
	fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT(m, model_acquire(m));
	model_release(m, 1);
	model_unacquire(m);
	for (i = 0; i < 2; i++) {
		EXPECT(m, model_acquire(m));
		EXPECT_EQ(m, m->held[0].seq, i * 2);
		EXPECT_EQ(m, m->last_gap.dropped, i);
		model_release(m, 0);
	}
	return m;
}

/* ---- sizes at the limits ---------------------------------------------- */

/* more blocks than the 14 bits of the sequence number in head can count */
static struct model *test_sequence_wrap(void)
{
	struct model *m = model_new(3, 16, true);
	u64 blocks = 3 * (TB_HEAD_SEQ_MASK + 1) + 100;
	u64 i;

	for (i = 0; i < blocks; i++) {
		EXPECT(m, model_write(m, 8));
		EXPECT_EQ(m, stats(m).blocks, i + 1);
		if (i % 7 == 0 && model_acquire(m))
			model_release(m, 0);
		m->nr_events -= m->nr_events > 1000000;
	}
	return m;
}

static struct model *extreme(u32 nr, u32 capacity, bool overwrite)
{
	struct model *m = model_new(nr, capacity, overwrite);
	u64 elements = (u64)nr * capacity * 5 / 2;
	u32 seed = nr ^ capacity, n;

	if (elements > 400000)
		elements = 400000;
	while (elements > m->r.max) {
		seed = seed * 1103515245 + 12345;
		n = seed >> 30 ? 1 + (seed >> 16) % 16 : 1 + (seed >> 8) % m->r.max;
		model_write(m, n);
		elements -= n;
		if (!(seed >> 20 & 0x1ff) && model_acquire(m))
			model_release(m, 0);
	}
	model_check_books(m, false);
	EXPECT(m, overwrite || !stats(m).overwritten);
	EXPECT(m, !overwrite || !stats(m).dropped);
	return m;
}

static struct model *test_extremes(void)
{
	static const struct {
		u32 nr, capacity;
	} size[] = {
		{ 2, 64 }, { 2, 65536 }, { 3, 64 }, { 64, 64 }, { 4096, 64 }, { 5, 16384 },
		{ 8, 65536 },
	};
	struct model *m = NULL;
	u32 i;

	for (i = 0; i < 2 * sizeof(size) / sizeof(size[0]); i++) {
		if (m) {
			model_drain(m);
			model_check_books(m, true);
			if (m->error)
				return m;
			model_free(m);
		}
		m = extreme(size[i / 2].nr, size[i / 2].capacity, i & 1);
	}
	return m;
}

/* the highest buffer and element numbers fit in head, with every bit set around them */
static struct model *test_head_fields(void)
{
	struct model *m = model_new(4096, 64, true);
	u32 i;

	m->clock = ~0ull - (1ull << 36);
	for (i = 0; i < 4096 * 2 + 10; i++)
		EXPECT(m, model_write(m, 56));
	EXPECT_EQ(m, m->r.head >> TB_HEAD_BUFFER_SHIFT & TB_HEAD_BUFFER_MASK, 9);
	return m;
}

/* attempted = delivered + overwritten + dropped + pending, after every step */
static struct model *identity(bool overwrite)
{
	struct model *m = model_new(4, 64, overwrite);
	struct tb_ring_stats st;
	u32 i, seed = 7;

	for (i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		switch (seed >> 28) {
		case 0:
			if (m->nr_held < 4)
				model_acquire(m);
			break;
		case 1:
			if (m->nr_held)
				model_release(m, (seed >> 16 & 0xff) % m->nr_held);
			break;
		case 2:
			if (!(seed >> 16 & 7))
				tb_ring_flush(&m->r);
			break;
		case 3:
			m->clock += seed & 0xffffffff;
			break;
		default:
			model_write(m, 1 + (seed >> 16 & 0xff) % 58);
		}
		model_check_books(m, false);
		st = stats(m);
		EXPECT_EQ(m, st.recorded + st.dropped, m->nr_events);
	}
	return m;
}

static struct model *test_identity_overwrite(void)
{
	return identity(true);
}

static struct model *test_identity_drop(void)
{
	return identity(false);
}

static const struct {
	const char *name;
	struct model *(*run)(void);
} tests[] = {
	{ "simple events", test_simple },
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
	{ "high-water mark", test_mark },
	{ "high-water mark once a buffer", test_mark_once },
	{ "completion by the last commit", test_completion },
	{ "flush", test_flush },
	{ "overwrite", test_overwrite },
	{ "drop", test_drop },
	{ "drop closes the buffer", test_drop_closes },
	{ "drop remembers that the ring is full", test_full_seen },
	{ "held buffers are skipped", test_held_skipped },
	{ "all buffers held", test_all_held },
	{ "gap with overwritten and dropped events", test_gap_both },
	{ "gap after a block that was completed late", test_gap_place },
	{ "no gap", test_gap_none },
	{ "reader gone, overwrite", test_unacquire_overwrite },
	{ "reader gone, drop", test_unacquire_drop },
	{ "reader gone, later blocks overwritten", test_unacquire_meanwhile },
	{ "reader gone, its blocks overwritten", test_unacquire_overwritten },
	{ "reader gone, later block given back", test_unacquire_out_of_order },
	{ "sequence numbers beyond 14 bits", test_sequence_wrap },
	{ "smallest and largest rings", test_extremes },
	{ "fields of head at their limits", test_head_fields },
	{ "identity at every step, overwrite", test_identity_overwrite },
	{ "identity at every step, drop", test_identity_drop },
};

int main(void)
{
	u32 i;

	ktap_start(sizeof(tests) / sizeof(tests[0]));
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct model *m = tests[i].run();

		model_check_books(m, false);
		model_drain(m);
		model_check_books(m, true);
		ktap_result(tests[i].name, m->error);
		model_free(m);
	}
	return ktap_end();
}
