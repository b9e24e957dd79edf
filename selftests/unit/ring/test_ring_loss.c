// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user can trust the counts: each lost event is counted once, in the gap before the block that
 * follows it, with a span that covers it. One situation a test: both policies, held buffers, a
 * reader that goes away, snapshots, pauses. If this fails, a trace lies about what is missing.
 */
#include "ring_test.h"

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
	/* the held block does not report what is overwritten after it */
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
	EXPECT(m, !model_write(m, 1));	/* the reader has not released it */
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
	/* later drops have a span of their own */
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

/* An event too large for the rest of the buffer closes it, so that the reader gets the buffer */
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

/* A writer that found the ring full looks again only after a release */
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
	EXPECT_EQ(m, m->r.full_seen, 2);
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
	/* the writer goes by position: it uses a released buffer when it comes round */
	model_release(m, 1);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 20 * 56);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 20 * 56);
	return m;
}

/* If the reader holds all but the current buffer, new events overwrite old ones */
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
	/* now the reader holds all buffers */
	EXPECT(m, !model_write(m, 1));
	EXPECT(m, !model_write(m, 2));
	EXPECT_EQ(m, stats(m).dropped, 2);
	/* a writer looks again only after a release, or after a block was put back */
	EXPECT_EQ(m, m->r.full_seen, 1);
	model_unacquire(m);
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, stats(m).overwritten, 56 + 1);
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, m->r.full_seen, 3);
	model_release(m, 0);
	EXPECT(m, model_write(m, 1));
	return m;
}

/* That the ring was full while it might not overwrite does not count when it may again */
static struct model *test_full_frozen(void)
{
	struct model *m = model_new(2, 64, true);

	fill(m);
	fill(m);
	m->r.overwrite_last = 1;
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, m->r.full_seen, 0);
	m->r.overwrite_last = ~0ull;
	EXPECT(m, model_write(m, 1));
	return m;
}

/* The reader holds all but the incomplete current buffer, which has room once it is complete */
static struct model *test_all_held_but_one(void)
{
	struct model *m = model_new(2, 64, true);
	struct tb_slot slot;
	int event;

	fill(m);
	EXPECT(m, model_acquire(m));
	event = model_reserve(m, 56, &slot);
	EXPECT(m, !model_write(m, 1));
	EXPECT_EQ(m, stats(m).dropped, 1);
	model_commit(m, event, &slot);
	EXPECT(m, model_write(m, 1));
	EXPECT_EQ(m, stats(m).dropped, 1);
	return m;
}

/* tb_ring_room() predicts the result of recording, and counts nothing. */
static void ask(struct model *m, u32 n, bool room)
{
	u64 dropped = stats(m).dropped, oversize = stats(m).oversize;

	EXPECT_EQ(m, tb_ring_room(&m->r, n), room);
	EXPECT_EQ(m, stats(m).dropped, dropped);
	EXPECT_EQ(m, stats(m).oversize, oversize);
	EXPECT_EQ(m, model_write(m, n), room);
}

static struct model *test_room(bool overwrite)
{
	struct model *m = model_new(2, 64, overwrite);

	ask(m, 1, true);
	ask(m, m->r.max, true);
	ask(m, m->r.max + 1, false);
	ask(m, 1, overwrite);
	EXPECT(m, model_acquire(m));
	fill(m);
	ask(m, 2, overwrite);
	EXPECT_EQ(m, tb_ring_flush(&m->r), overwrite);
	EXPECT(m, model_acquire(m));
	ask(m, 2, false);
	model_release(m, 0);
	ask(m, 2, true);
	/* these events fit into the current buffer */
	m->r.paused = 1;
	EXPECT(m, !tb_ring_room(&m->r, 2));
	m->r.paused = 0;
	m->r.overwrite_last = 1;
	ask(m, 50, true);
	ask(m, 50, false);
	m->r.overwrite_last = ~0ull;
	ask(m, 50, overwrite);
	return m;
}

static struct model *test_room_overwrite(void)
{
	return test_room(true);
}

static struct model *test_room_drop(void)
{
	return test_room(false);
}

/* Drops, an oversize event and overwriting between two blocks in one gap */
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
	EXPECT(m, !model_write(m, 1));	/* one buffer is held, the other incomplete */
	EXPECT(m, !model_write(m, 2));
	EXPECT(m, !model_write(m, 57));
	model_commit(m, ea, &a);
	EXPECT(m, model_write(m, 3));	/* overwrites the other buffer */
	EXPECT_EQ(m, stats(m).overwritten, 1);
	EXPECT_EQ(m, stats(m).dropped, 3);
	EXPECT(m, !model_write(m, 58));	/* counts for the next block */
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

/* Drops in a block that the reader took; the block that reports them is overwritten */
static struct model *test_gap_open(void)
{
	struct model *m = model_new(3, 64, true);
	u64 first, end;
	u32 i;

	write_many(m, 1, 5);
	first = m->clock;
	EXPECT(m, !model_write(m, 57));
	fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 0);
	EXPECT(m, m->r.bufs[0].block->time_end > first + 10);
	model_release(m, 0);
	for (i = 0; i < 4; i++)
		fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[0].seq, 2);
	EXPECT_EQ(m, m->last_gap.overwritten, 56);
	EXPECT_EQ(m, m->last_gap.dropped, 1);
	EXPECT(m, m->last_gap.first >= first && m->last_gap.first <= first + 1);
	/* the next gap begins where this block was complete */
	end = m->r.bufs[m->held[0].index].block->time_end;
	model_release(m, 0);
	for (i = 0; i < 4; i++)
		fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 0);
	EXPECT_EQ(m, m->last_gap.first, end);
	return m;
}

/* Blocks overwritten while an earlier block was incomplete are reported where they are missing */
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

/* Without a loss the gap slot is zero, and the block has no flag */
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
		fill(m);	/* the only buffer that is not held */
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

/* The reader puts blocks back after the writer has overwritten later ones */
static struct model *test_unacquire_meanwhile(void)
{
	return unacquire(true, true);
}

/* Blocks that were put back are overwritten before the next reader comes */
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

/* The same for a block with a gap, while the block after it is overwritten */
static struct model *test_unacquire_told(void)
{
	struct model *m = model_new(4, 64, true);
	u32 i;

	for (i = 0; i < 6; i++)
		fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.overwritten, 2 * 56);
	fill(m);
	EXPECT_EQ(m, stats(m).overwritten, 3 * 56);
	model_unacquire(m);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[0].seq, 2);
	EXPECT_EQ(m, m->last_gap.overwritten, 2 * 56);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->held[1].seq, 4);
	EXPECT_EQ(m, m->last_gap.overwritten, 56);
	return m;
}

/* A block reports the same drops again, although more were counted meanwhile */
static struct model *test_unacquire_oversize(void)
{
	struct model *m = model_new(2, 64, false);

	fill(m);
	fill(m);
	EXPECT(m, !model_write(m, 57));
	EXPECT(m, !model_write(m, 8));
	EXPECT(m, model_acquire(m));
	model_release(m, 0);
	fill(m);
	EXPECT(m, model_acquire(m));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 2);
	EXPECT_EQ(m, m->last_gap.oversize, 1);
	EXPECT(m, !model_write(m, 57));
	model_unacquire(m);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 2);
	EXPECT_EQ(m, m->last_gap.oversize, 1);
	return m;
}

/* The reader released the later of two blocks and died */
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

/* The next block of a snapshot is block @seq, with @overwritten events missing before it. */
static int snapshot_next(struct model *m, u64 seq, u64 overwritten)
{
	int index = tb_ring_acquire(&m->r);
	const struct tb_block *block;
	const struct tb_gap *gap;

	EXPECT(m, index >= 0);
	block = m->r.bufs[index].block;
	gap = (const void *)((const struct tb_element *)block + TB_BLOCK_HEADER_ELEMENTS + 1);
	EXPECT_EQ(m, block->sequence, seq);
	EXPECT_EQ(m, gap->overwritten, overwritten);
	m->r.from = seq + 1;
	return index;
}

/* A block that the snapshot has is not missing in it, even if it is overwritten meanwhile. */
static struct model *test_snapshot_lapped(void)
{
	struct model *m = model_new(8, 64, true);
	int index[4], round;
	u32 i;

	for (i = 0; i < 9; i++)
		fill(m);
	tb_ring_begin_snapshot(&m->r);
	for (i = 0; i < 4; i++)
		index[i] = snapshot_next(m, 1 + i, i ? 0 : 56);
	for (i = 0; i < 4; i++)
		tb_ring_put_back(&m->r, index[i]);
	/* overwrites 1 and 2 */
	fill(m);
	fill(m);
	index[0] = snapshot_next(m, 5, 0);
	/* overwrites 3, 4, 6 and 7; 5 is held */
	for (i = 0; i < 4; i++)
		fill(m);
	index[1] = snapshot_next(m, 8, 2 * 56);
	EXPECT_EQ(m, tb_ring_acquire(&m->r), -1);
	tb_ring_put_back(&m->r, index[0]);
	tb_ring_put_back(&m->r, index[1]);
	EXPECT(m, !tb_ring_in_snapshot(&m->r));
	tb_ring_end_snapshot(&m->r);
	/* for the next snapshot all of these are missing, and again for the one after it */
	for (round = 0; round < 2; round++) {
		tb_ring_begin_snapshot(&m->r);
		index[0] = snapshot_next(m, 5, 5 * 56);
		index[1] = snapshot_next(m, 8, 2 * 56);
		tb_ring_put_back(&m->r, index[0]);
		tb_ring_put_back(&m->r, index[1]);
		tb_ring_end_snapshot(&m->r);
	}
	return m;
}

/* A block that the snapshot does not have is missing in it, whatever else was put back. */
static struct model *test_snapshot_passed(void)
{
	struct model *m = model_new(8, 64, true);
	int index[4];
	u32 i;

	for (i = 0; i < 9; i++)
		fill(m);
	tb_ring_begin_snapshot(&m->r);
	for (i = 0; i < 4; i++)
		index[i] = snapshot_next(m, 1 + i, i ? 0 : 56);
	tb_ring_put_back(&m->r, index[0]);
	tb_ring_put_back(&m->r, index[1]);
	/* overwrites 1, 2 and 5; 3 and 4 are held */
	for (i = 0; i < 3; i++)
		fill(m);
	tb_ring_put_back(&m->r, index[2]);
	index[0] = snapshot_next(m, 6, 56);
	tb_ring_put_back(&m->r, index[3]);
	tb_ring_put_back(&m->r, index[0]);
	tb_ring_end_snapshot(&m->r);
	return m;
}

/* While the ring is paused no buffer is opened; all attempts count, with the span of the pause. */
static struct model *test_paused(void)
{
	struct model *m = model_new(4, 64, true);
	u64 from, to;
	u32 i;

	write_many(m, 1, 10);
	m->r.paused = 1;
	/* the current buffer still takes events, until it is closed */
	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	from = m->clock;
	for (i = 0; i < 5; i++)
		EXPECT(m, !model_write(m, 1));
	m->clock += 1000;
	to = m->clock;
	tb_ring_resume(&m->r);
	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 0);
	model_release(m, 0);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 5);
	EXPECT(m, m->last_gap.first >= from && m->last_gap.first <= from + 1);
	EXPECT(m, m->last_gap.last >= to);
	model_release(m, 0);
	return m;
}

/* A pause without attempts leaves no gap. */
static struct model *test_paused_quiet(void)
{
	struct model *m = model_new(4, 64, true);

	write_many(m, 1, 10);
	m->r.paused = 1;
	EXPECT(m, tb_ring_flush(&m->r));
	m->clock += 1000;
	tb_ring_resume(&m->r);
	EXPECT(m, model_write(m, 1));
	EXPECT(m, tb_ring_flush(&m->r));
	EXPECT(m, model_acquire(m));
	model_release(m, 0);
	EXPECT(m, model_acquire(m));
	EXPECT_EQ(m, m->last_gap.dropped, 0);
	EXPECT_EQ(m, m->last_gap.last, 0);
	model_release(m, 0);
	return m;
}

/* A snapshot holds the newest blocks from its beginning; the reader gets them last, in order. */
static struct model *test_snapshot_pinned(void)
{
	struct model *m = model_new(8, 64, true);
	int index[2], round;
	u64 state;
	u32 i;

	for (i = 0; i < 9; i++)
		fill(m);
	tb_ring_begin_snapshot(&m->r);
	tb_ring_pin(&m->r, 2);
	EXPECT_EQ(m, m->r.pinned, 2);
	EXPECT_EQ(m, m->r.held, 2);
	EXPECT(m, !tb_ring_next_pinned(&m->r));
	/* the writer goes round several times: 7 and 8 stay, 9 is closed */
	for (i = 0; i < 20; i++)
		fill(m);
	EXPECT(m, tb_ring_next_pinned(&m->r) && tb_ring_in_snapshot(&m->r));
	index[0] = snapshot_next(m, 7, 7 * 56);
	EXPECT_EQ(m, m->r.pinned, 1);
	/* the reader puts 7 back: it is still held, with the same gap */
	m->r.from = 7;
	tb_ring_unacquire(&m->r, index[0]);
	EXPECT_EQ(m, m->r.pinned, 2);
	for (i = 0; i < 20; i++)
		fill(m);
	index[0] = snapshot_next(m, 7, 7 * 56);
	index[1] = snapshot_next(m, 8, 0);
	EXPECT_EQ(m, tb_ring_acquire(&m->r), -1);
	EXPECT_EQ(m, m->r.pinned, 0);
	EXPECT_EQ(m, m->r.held, 2);
	tb_ring_put_back(&m->r, index[0]);
	tb_ring_put_back(&m->r, index[1]);
	EXPECT(m, !tb_ring_in_snapshot(&m->r));
	tb_ring_end_snapshot(&m->r);
	/* blocks that the reader does not take are released, the oldest first */
	for (round = 0; round < 2; round++) {
		tb_ring_begin_snapshot(&m->r);
		tb_ring_pin(&m->r, 3);
		EXPECT(m, tb_ring_unpin(&m->r));
		EXPECT_EQ(m, m->r.pinned, 2);
		for (i = 0; i < 8; i++) {
			state = m->r.bufs[i].state;
			EXPECT(m, TB_BUF_STATE(state) != TB_BUF_HELD ||
			       TB_BUF_SEQ(state) + 2 >= m->r.to);
		}
		EXPECT(m, tb_ring_unpin(&m->r) && tb_ring_unpin(&m->r));
		EXPECT(m, !tb_ring_unpin(&m->r));
		EXPECT_EQ(m, m->r.held, 0);
		tb_ring_end_snapshot(&m->r);
	}
	return m;
}

/* The end of a ring that refuses events has their span; a ring that goes on has no end. */
static struct model *test_end(void)
{
	struct model *m = model_new(4, 64, false);
	struct tb_ring_end end;
	u32 i;

	tb_ring_end(&m->r, &end);
	EXPECT(m, !end.open && end.counted);
	EXPECT_EQ(m, end.blocks, 0);
	for (i = 0; i < 3; i++)
		fill(m);
	EXPECT(m, model_write(m, 1));
	tb_ring_end(&m->r, &end);
	EXPECT(m, end.open);
	EXPECT(m, model_write(m, 55));
	tb_ring_end(&m->r, &end);
	EXPECT(m, !end.open && end.counted && !end.first && !end.last);
	EXPECT_EQ(m, end.blocks, 4);
	EXPECT_EQ(m, end.dropped, 0);
	for (i = 0; i < 3; i++)
		EXPECT(m, !model_write(m, 1));
	tb_ring_end(&m->r, &end);
	EXPECT(m, !end.open && end.counted);
	EXPECT_EQ(m, end.dropped, 3);
	EXPECT(m, end.first >= m->r.bufs[3].block->time_end && end.last > end.first);
	EXPECT_EQ(m, end.recorded, (u64)tb_local_read(&m->r.recorded));
	return m;
}

static const struct ring_test tests[] = {
	{ "overwrite", test_overwrite },
	{ "drop", test_drop },
	{ "drop closes the buffer", test_drop_closes },
	{ "drop remembers that the ring is full", test_full_seen },
	{ "held buffers are skipped", test_held_skipped },
	{ "all buffers held", test_all_held },
	{ "all held but one that is incomplete", test_all_held_but_one },
	{ "full while frozen", test_full_frozen },
	{ "room, overwrite", test_room_overwrite },
	{ "room, drop", test_room_drop },
	{ "gap with overwritten and dropped events", test_gap_both },
	{ "gap with events dropped in the block before", test_gap_open },
	{ "gap after a block that was completed late", test_gap_place },
	{ "no gap", test_gap_none },
	{ "reader gone, overwrite", test_unacquire_overwrite },
	{ "reader gone, drop", test_unacquire_drop },
	{ "reader gone, later blocks overwritten", test_unacquire_meanwhile },
	{ "reader gone, its blocks overwritten", test_unacquire_overwritten },
	{ "reader gone, a block with a gap", test_unacquire_told },
	{ "reader gone, a block with drops", test_unacquire_oversize },
	{ "reader gone, later block released", test_unacquire_out_of_order },
	{ "a snapshot that the writer laps", test_snapshot_lapped },
	{ "a snapshot that lacks a block", test_snapshot_passed },
	{ "paused", test_paused },
	{ "paused, without attempts", test_paused_quiet },
	{ "a snapshot that holds the newest blocks", test_snapshot_pinned },
	{ "the end of a ring", test_end },
};

int main(void)
{
	return ring_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
