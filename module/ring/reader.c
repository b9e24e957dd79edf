// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's side of a ring: taking complete buffers out of it in order, giving
 * them back, and the books of what is missing before each.
 *
 * The algorithm and the argument for it, this side included, stand at the top of
 * writer.c.  Nothing here touches what writers change but by the state words,
 * and of a buffer's contents only what no writer touches while it is HELD.
 */
#include "ring.h"

/* Is a buffer in state @s held for a snapshot, and not acquired yet? */
static bool tb_ring_pins(const struct tb_cpu_ring *r, u64 s)
{
	return tb_ring_pinned(r) && TB_BUF_STATE(s) == TB_BUF_HELD;
}

/*
 * The READY or pinned buffer with the lowest number of those that are the reader's business, or
 * -1.
 */
static int tb_ring_lowest(struct tb_cpu_ring *r, u64 *state)
{
	u64 limit = r->to;
	int best = -1;
	u32 i;

	for (i = 0; i < r->rd_nr; i++) {
		/* pairs with the release in tb_ring_complete() */
		u64 s = tb_load_acquire(&r->rd_bufs[i].state);

		if ((TB_BUF_STATE(s) == TB_BUF_READY || tb_ring_pins(r, s)) &&
		    TB_BUF_SEQ(s) < limit && TB_BUF_SEQ(s) >= r->from) {
			best = i;
			limit = TB_BUF_SEQ(s);
			*state = s;
		}
	}
	return best;
}

/*
 * A block with a lower number than @seq that is still being written, or is
 * ready after all: its state, or TB_BUF_FREE if there is none.
 */
static enum tb_buf_state tb_ring_find_earlier(struct tb_cpu_ring *r, u64 seq)
{
	enum tb_buf_state found = TB_BUF_FREE;
	u32 i;

	for (i = 0; i < r->rd_nr; i++) {
		u64 s = tb_load_acquire(&r->rd_bufs[i].state);

		if (TB_BUF_SEQ(s) >= seq || TB_BUF_SEQ(s) < r->from)
			continue;
		if (TB_BUF_STATE(s) == TB_BUF_WRITING)
			return TB_BUF_WRITING;
		if (TB_BUF_STATE(s) == TB_BUF_READY)
			found = TB_BUF_READY;
	}
	return found;
}

static struct tb_gap *tb_buf_gap(struct tb_buf *b)
{
	return (struct tb_gap *)(tb_buf_element(b, TB_BLOCK_HEADER_ELEMENTS) + 1);
}

/*
 * Fills in what is only known when a block is handed over: what is missing
 * before it.  Overwritten events are told at a gap in the numbers; there is
 * one wherever a block was overwritten.  @settled: the total of them is whole;
 * else the block says that it is not, and the next one tells the rest.
 */
static void tb_ring_fill_gap(struct tb_cpu_ring *r, struct tb_buf *b, u64 overwritten, u64 oversize,
			     bool settled)
{
	struct tb_block *block = b->block;
	struct tb_gap *gap = tb_buf_gap(b);
	struct tb_rd *rd = &r->rd;
	u64 first, last;

	if (b->told && rd->next > block->sequence) {
		/* put back, but blocks after it were delivered: as it was */
		tb_ring_path(TB_PATH_TELL_SAME);
		rd->overwritten += gap->overwritten;
		rd->dropped += gap->dropped;
		rd->oversize += gap->oversize;
		rd->unsettled -= TB_RD_PUT_BACK;
		return;
	}
	if (b->told && rd->next == b->rd.next && rd->unsettled == b->rd.unsettled) {
		/* put back, and the same one before it: as much is missing in between */
		tb_ring_path(TB_PATH_TELL_AGAIN);
		overwritten = rd->overwritten + gap->overwritten;
		oversize = rd->oversize + gap->oversize;
	} else if (block->sequence == rd->next && !rd->unsettled) {
		overwritten = rd->overwritten;
		settled = true;
	} else if ((long long)(overwritten - rd->overwritten) < 0) {
		/* more was told when it was not settled, or what is later was counted first */
		overwritten = rd->overwritten;
	}
	b->told = 0;
	b->rd = *rd;
	gap->overwritten = overwritten - rd->overwritten;
	gap->dropped = block->dropped - rd->dropped;
	gap->oversize = oversize - rd->oversize;
	if (gap->oversize > gap->dropped)
		gap->oversize = gap->dropped;
	first = gap->dropped ? gap->first : 0;
	last = gap->dropped ? gap->last : 0;
	if (gap->overwritten || gap->dropped) {
		/* overwritten blocks may have told of drops, of none before rd->end */
		if (!first || (gap->overwritten && first > rd->end))
			first = rd->end;
		if (gap->overwritten && last < block->time_start)
			last = block->time_start;
		/* nothing that is told when it is not settled has to make sense */
		if (first > last)
			first = last;
	}
	gap->first = first;
	gap->last = last;
	block->overwritten = overwritten;
	if (gap->overwritten || gap->dropped)
		block->flags |= TB_BLOCK_GAP;
	else
		block->flags &= ~TB_BLOCK_GAP;
	if (settled)
		block->flags &= ~TB_BLOCK_UNSETTLED;
	else
		block->flags |= TB_BLOCK_UNSETTLED;
	rd->next = block->sequence + 1;
	rd->overwritten = overwritten;
	rd->dropped = block->dropped;
	rd->oversize += gap->oversize;
	/* what is told later may be missing from here on */
	if (settled)
		rd->end = b->lost_from;
	else
		tb_ring_path(TB_PATH_TELL_LATER);
	rd->unsettled = !settled;
	b->settled = settled;
}

/*
 * Events that were overwritten after the snapshot had put them back: of what it takes
 * nothing is missing there.
 */
static u64 tb_ring_copied(const struct tb_cpu_ring *r)
{
	u64 events = 0;
	u32 i;

	if (r->to == ~0ull)
		return 0;
	for (i = 0; i < r->rd_nr; i++) {
		const struct tb_buf *b = &r->rd_bufs[i];

		if (b->copied && (u32)(TB_BUF_SEQ(tb_read(&b->state)) + 1) != b->copied)
			events += b->copied_events;
	}
	return events;
}

#define TB_ACQUIRE_TRIES	16

/**
 * tb_ring_acquire() - take the oldest complete buffer
 * @r: any CPU's ring
 *
 * Two scans: the first finds the lowest READY number q.  Every buffer below
 * q that holds anything was made WRITING before q was opened, so a scan that
 * starts after q was seen READY sees it so, or further on: nothing is
 * handed over out of order.
 *
 * The total of overwritten events is read between the two counters of
 * overwritings: if none was under way or began while we looked, it is whole.
 * Should that fail TB_ACQUIRE_TRIES times in a row (the writer was interrupted
 * in the middle of it, or wraps faster than we look), the next block tells the
 * rest.  What is told before a block is what was overwritten below it: blocks after it that
 * went first, while it was incomplete, are counted in its tb_buf.later and told where they
 * are missing.  Only a block that was put back, and cannot tell the same again, may tell of
 * later ones overwritten while it was held.  The sum is right in any case.
 *
 * Context: one reader at a time; any context otherwise.
 * Return: index of a buffer that is now HELD, or -1.
 */
int tb_ring_acquire(struct tb_cpu_ring *r)
{
	int tries;

	for (tries = 0; tries < 2 * TB_ACQUIRE_TRIES; tries++) {
		u64 done, s = 0, overwritten, oversize;
		enum tb_buf_state earlier;
		bool settled;
		int b;

		done = tb_local_read(&r->ow_done);
		/* the counter before the total: pairs with tb_wmb() in tb_buf_overwrite() */
		tb_rmb();
		b = tb_ring_lowest(r, &s);
		if (b < 0)
			return -1;
		earlier = tb_ring_find_earlier(r, TB_BUF_SEQ(s));
		if (earlier == TB_BUF_WRITING) {
			tb_ring_path(TB_PATH_ACQUIRE_EARLIER);
			return -1;
		}
		if (earlier == TB_BUF_READY) {
			tb_ring_path(TB_PATH_ACQUIRE_RESCAN);
			continue;
		}
		overwritten = tb_local_read(&r->overwritten) - tb_ring_copied(r) -
			      ((tb_read(&r->bufs[b].later) - tb_read(&r->bufs[b].later_open)) &
			       (TB_LATER_LAP - 1));
		oversize = tb_local_read(&r->oversize);
		/* the total before the counter: pairs with the exchange in tb_buf_overwrite() */
		tb_rmb();
		settled = tb_local_read(&r->ow_started) == done;
		if (!settled && tries < TB_ACQUIRE_TRIES) {
			tb_ring_path(TB_PATH_ACQUIRE_UNSETTLED);
			continue;
		}
		if (TB_BUF_STATE(s) == TB_BUF_HELD) {
			r->pinned--;
			tb_ring_fill_gap(r, &r->bufs[b], overwritten, oversize, settled);
			return b;
		}
		if (tb_cmpxchg(&r->bufs[b].state, s, TB_BUF_WORD(TB_BUF_SEQ(s), TB_BUF_HELD))) {
			r->held++;
			tb_ring_fill_gap(r, &r->bufs[b], overwritten, oversize, settled);
			return b;
		}
		tb_ring_path(TB_PATH_ACQUIRE_LOST);
	}
	return -1;
}

/* Of a buffer that can be claimed again, its state has been stored. */
static void tb_ring_count_given(struct tb_cpu_ring *r)
{
	/* FREE or READY before the count: pairs with the acquire in tb_ring_claim() */
	tb_store_release(&r->releases, r->releases + 1);
}

/**
 * tb_ring_release() - give a buffer back, its events are delivered
 * @r: its ring
 * @index: from tb_ring_acquire()
 *
 * Context: the reader's.
 */
void tb_ring_release(struct tb_cpu_ring *r, u32 index)
{
	struct tb_buf *b = &r->bufs[index];

	r->held--;
	tb_write(&r->delivered, r->delivered + b->events);
	tb_write(&r->delivered_bytes, r->delivered_bytes + r->capacity * TB_ELEMENT_SIZE);
	/* our reads before FREE: pairs with the exchange in tb_buf_claim() */
	tb_store_release(&b->state, TB_BUF_WORD(TB_BUF_SEQ(tb_read(&b->state)), TB_BUF_FREE));
	tb_ring_count_given(r);
}

static void tb_buf_put_back(struct tb_cpu_ring *r, struct tb_buf *b)
{
	r->held--;
	/* the header's end fields before READY: pairs with tb_ring_acquire() */
	tb_store_release(&b->state, TB_BUF_WORD(TB_BUF_SEQ(tb_read(&b->state)), TB_BUF_READY));
	tb_ring_count_given(r);
}

/**
 * tb_ring_unacquire() - put back a buffer as if it had not been taken
 * @r: its ring
 * @index: from tb_ring_acquire()
 *
 * For a reader that goes away: what it held is handed to the next one.  Put back the
 * latest first, so that the books end up as they were before the earliest.  If
 * later blocks have been released, this one will tell the same again; only that it did is taken
 * out of the books until it is taken again.  So, should it be overwritten, the next block tells
 * of it and of what it told, though that is not where it is missing.
 *
 * One of a snapshot stays held for it.
 *
 * Context: the reader's.
 */
void tb_ring_unacquire(struct tb_cpu_ring *r, u32 index)
{
	struct tb_buf *b = &r->bufs[index];
	const struct tb_gap *gap = tb_buf_gap(b);
	struct tb_rd *rd = &r->rd;

	b->told = 1;
	if (rd->next == b->block->sequence + 1) {
		b->told = !rd->unsettled;
		*rd = b->rd;
	} else {
		rd->overwritten -= gap->overwritten;
		rd->dropped -= gap->dropped;
		rd->oversize -= gap->oversize;
		if (rd->end > b->rd.end)
			rd->end = b->rd.end;
		rd->unsettled += TB_RD_PUT_BACK;
	}
	if (r->to != ~0ull)
		r->pinned++;
	else
		tb_buf_put_back(r, b);
}

/* ---- snapshots -------------------------------------------------------- */

/*
 * A snapshot is a pass over the blocks of a ring that goes on being written to: each
 * is taken, copied, and put back where it was.  It has books of its own, for it tells what is
 * missing in the copy; those of the ring's reader are as before when it is over.  What the
 * writer does meanwhile is what it always does: it passes by a block that is held, and overwrites
 * one that was put back, which is in the copy then, and not missing.
 *
 * Between the beginning and the first acquire a writer at full rate may get round a small ring
 * more than once.  So the newest blocks are held from the beginning on (pinned), whatever
 * happens to the others: the snapshot has what came last.
 */

static void tb_ring_forget_copied(struct tb_cpu_ring *r)
{
	u32 i;

	for (i = 0; i < r->rd_nr; i++)
		r->rd_bufs[i].copied = 0;
}

/**
 * tb_ring_begin_snapshot() - what is acquired next is for a snapshot
 * @r: any CPU's ring, nothing of it held
 *
 * The snapshot is of the blocks that are closed now: flush first.
 *
 * Context: the reader's.
 */
void tb_ring_begin_snapshot(struct tb_cpu_ring *r)
{
	u64 h = tb_read(&r->head);

	tb_ring_forget_copied(r);
	r->kept = r->rd;
	r->from = 0;
	r->to = tb_ring_current(r, h) + (tb_head_index(h) == r->capacity);
}

/* The READY buffer with the highest number below @limit, or -1. */
static int tb_ring_highest(struct tb_cpu_ring *r, u64 limit, u64 *state)
{
	int best = -1;
	u32 i;

	for (i = 0; i < r->rd_nr; i++) {
		/* as in tb_ring_lowest() */
		u64 s = tb_load_acquire(&r->rd_bufs[i].state);

		if (TB_BUF_STATE(s) != TB_BUF_READY || TB_BUF_SEQ(s) >= limit ||
		    (best >= 0 && TB_BUF_SEQ(s) < TB_BUF_SEQ(*state)))
			continue;
		best = i;
		*state = s;
	}
	return best;
}

/**
 * tb_ring_pin() - hold the newest complete blocks for the snapshot
 * @r: its ring, after tb_ring_begin_snapshot()
 * @count: how many at most
 *
 * They are acquired later, in order.  Whoever acquires sets tb_cpu_ring.from behind each block.  If
 * the writer has gone on since the beginning, the snapshot goes on as well, up to the newest.
 *
 * Context: the reader's.
 */
void tb_ring_pin(struct tb_cpu_ring *r, u32 count)
{
	u64 limit = ~0ull, s = 0;
	/* each of them, and as many again that the writer was faster to take */
	u32 tries = 2 * count + TB_ACQUIRE_TRIES;
	int b = 0;

	while (r->pinned < count && tries--) {
		/* most often the one before it is in the buffer before */
		b = b > 0 ? b - 1 : (int)r->rd_nr - 1;
		s = tb_load_acquire(&r->rd_bufs[b].state);
		if (s != TB_BUF_WORD(limit - 1, TB_BUF_READY))
			b = tb_ring_highest(r, limit, &s);
		if (b < 0)
			return;
		if (!tb_cmpxchg(&r->bufs[b].state, s, TB_BUF_WORD(TB_BUF_SEQ(s), TB_BUF_HELD)))
			continue;
		limit = TB_BUF_SEQ(s);
		if (r->to <= limit)
			r->to = limit + 1;
		r->held++;
		r->pinned++;
	}
}

/**
 * tb_ring_unpin() - let go of the oldest block that is held and has not been acquired
 * @r: its ring
 *
 * Context: the reader's.
 * Return: false if there is none.
 */
bool tb_ring_unpin(struct tb_cpu_ring *r)
{
	struct tb_buf *oldest = NULL;
	u64 seq = r->to;
	u32 i;

	if (!tb_ring_pinned(r))
		return false;
	for (i = 0; i < r->rd_nr; i++) {
		u64 s = tb_read(&r->rd_bufs[i].state);

		if (TB_BUF_STATE(s) == TB_BUF_HELD && TB_BUF_SEQ(s) >= r->from &&
		    TB_BUF_SEQ(s) < seq) {
			oldest = &r->bufs[i];
			seq = TB_BUF_SEQ(s);
		}
	}
	r->pinned--;
	if (oldest)
		tb_buf_put_back(r, oldest);
	return true;
}

/**
 * tb_ring_next_pinned() - is the block that comes next held already?
 * @r: its ring
 *
 * Context: the reader's.
 * Return: true if acquiring it takes nothing from the writer.
 */
bool tb_ring_next_pinned(struct tb_cpu_ring *r)
{
	u64 s;

	return r->pinned && tb_ring_lowest(r, &s) >= 0 && TB_BUF_STATE(s) == TB_BUF_HELD;
}

/**
 * tb_ring_put_back() - done with a block of a snapshot
 * @r: its ring
 * @index: from tb_ring_acquire(), between begin and end of a snapshot
 *
 * Others may be held, earlier or later ones.
 *
 * Context: the reader's.
 */
void tb_ring_put_back(struct tb_cpu_ring *r, u32 index)
{
	struct tb_buf *b = &r->bufs[index];

	/* one for each buffer: what comes there after it is not of the snapshot */
	b->copied = b->block->sequence + 1;
	b->copied_events = b->events;
	b->told = b->settled;
	tb_buf_put_back(r, b);
}

/**
 * tb_ring_in_snapshot() - is there anything of the snapshot still to be acquired?
 * @r: its ring
 *
 * Context: the reader's.
 * Return: true if so; it may be that it has to be waited for.
 */
bool tb_ring_in_snapshot(struct tb_cpu_ring *r)
{
	u32 i;

	if (r->pinned)
		return true;
	for (i = 0; i < r->rd_nr; i++) {
		u64 s = tb_load_acquire(&r->rd_bufs[i].state);

		if (TB_BUF_SEQ(s) >= r->from && TB_BUF_SEQ(s) < r->to &&
		    (TB_BUF_STATE(s) == TB_BUF_WRITING || TB_BUF_STATE(s) == TB_BUF_READY))
			return true;
	}
	return false;
}

/**
 * tb_ring_end_snapshot() - the reader goes on as if there had been no snapshot
 * @r: the ring, nothing of it held, or pinned
 *
 * Context: the reader's.
 */
void tb_ring_end_snapshot(struct tb_cpu_ring *r)
{
	r->rd = r->kept;
	r->from = 0;
	r->to = ~0ull;
}

/**
 * tb_ring_above_mark() - is the current buffer past the high-water mark?
 * @r: any CPU's ring
 *
 * Context: any; the answer may be out of date at once.
 * Return: true if a flush would give the reader a buffer worth taking.
 */
bool tb_ring_above_mark(struct tb_cpu_ring *r)
{
	u32 index = tb_head_index(tb_read(&r->head));

	return index >= r->mark && index < r->capacity;
}

/**
 * tb_ring_can_acquire() - is there a buffer that can be taken?
 * @r: any CPU's ring
 *
 * Context: any.
 * Return: true if so.
 */
bool tb_ring_can_acquire(struct tb_cpu_ring *r)
{
	u64 s;

	/* one that waits for an earlier one is for when that is complete */
	return tb_ring_lowest(r, &s) >= 0 &&
	       tb_ring_find_earlier(r, TB_BUF_SEQ(s)) != TB_BUF_WRITING;
}

/**
 * tb_ring_readable() - is there anything a reader should come for?
 * @r: any CPU's ring
 *
 * Context: any.
 * Return: true if a buffer can be taken, or the current one is past the mark.
 */
bool tb_ring_readable(struct tb_cpu_ring *r)
{
	return tb_ring_above_mark(r) || tb_ring_can_acquire(r);
}

/**
 * tb_ring_stats() - the totals of a ring
 * @r: any CPU's ring
 * @st: filled in
 *
 * While the ring's CPU records, the figures are those of slightly different
 * moments; once quiet they are exact.
 *
 * Context: any.
 */
void tb_ring_stats(struct tb_cpu_ring *r, struct tb_ring_stats *st)
{
	u64 h = tb_read(&r->head);
	u32 i;

	memset(st, 0, sizeof(*st));
	/* delivered and overwritten first: both are parts of what is recorded */
	st->delivered = tb_read(&r->delivered);
	st->bytes = tb_read(&r->delivered_bytes);
	st->overwritten = tb_local_read(&r->overwritten);
	st->oversize = tb_local_read(&r->oversize);
	st->dropped = tb_local_read(&r->dropped);
	st->marks = tb_local_read(&r->marks);
	st->retries = tb_local_read(&r->retries);
	tb_rmb(); /* a later total contains what the earlier ones are parts of */
	st->recorded = tb_local_read(&r->recorded);
	for (i = 0; i < r->nr; i++) {
		u64 s = tb_load_acquire(&r->bufs[i].state);

		st->ready += TB_BUF_STATE(s) == TB_BUF_READY;
		st->held += TB_BUF_STATE(s) == TB_BUF_HELD;
		st->recorded += (u32)tb_local_read(&r->bufs[i].committed);
	}
	st->fill = tb_head_index(h);
	st->blocks = tb_ring_current(r, h) + 1;
}

/**
 * tb_ring_end() - what there is behind the last closed block of a ring
 * @r: any CPU's ring
 * @end: filled in
 *
 * A ring without an open buffer has told of everything but of what it drops; as long as head does
 * not move, that is all that happens.  If head moved while we looked, the ring takes events.
 *
 * Context: any.
 */
void tb_ring_end(struct tb_cpu_ring *r, struct tb_ring_end *end)
{
	u64 h = tb_read(&r->head), first;
	u32 i;

	memset(end, 0, sizeof(*end));
	end->open = true;
	if (tb_head_index(h) != r->capacity)
		return;
	end->blocks = tb_ring_current(r, h) + 1;
	end->counted = true;
	for (i = 0; i < r->nr; i++)
		/* pairs with the release in tb_ring_complete(): the total has what is READY */
		if (TB_BUF_STATE(tb_load_acquire(&r->bufs[i].state)) == TB_BUF_WRITING)
			end->counted = false;
	end->recorded = tb_local_read(&r->recorded);
	end->overwritten = tb_local_read(&r->overwritten);
	end->oversize = tb_local_read(&r->oversize);
	end->dropped = tb_local_read(&r->dropped);
	tb_rmb(); /* the span after the counts: it has what they have */
	first = tb_read(&r->drop_first);
	end->first = first == ~0ull ? 0 : first;
	end->last = first == ~0ull ? 0 : tb_read(&r->drop_last);
	tb_rmb(); /* and head last */
	end->open = tb_read(&r->head) != h;
}

/* ---- damage ----------------------------------------------------------- */

/**
 * tb_ring_stuck() - is a block incomplete that was incomplete at the last call?
 * @r: any CPU's ring
 *
 * Between two calls, all writers must have ended the events that they were recording.
 *
 * Context: process, one at a time.
 * Return: true: no writer will complete the block, so the ring's state is damaged.
 */
bool tb_ring_stuck(struct tb_cpu_ring *r)
{
	u64 h = tb_read(&r->head), seq = tb_ring_current(r, h), left = 0, before = r->left;
	u32 i;

	/* the current block counts if it is closed */
	seq += tb_head_index(h) == r->capacity;
	for (i = 0; i < r->nr; i++) {
		u64 s = tb_load_acquire(&r->bufs[i].state);

		if (TB_BUF_STATE(s) == TB_BUF_WRITING && TB_BUF_SEQ(s) < seq &&
		    (!left || TB_BUF_SEQ(s) < left))
			left = TB_BUF_SEQ(s) + 1;
	}
	r->left = left;
	return left && left == before;
}

/**
 * tb_ring_repair() - check the accounting of a ring that has stopped, and make it readable
 * @r: any CPU's ring, flushed
 * @snapshot: a snapshot is being read
 *
 * Afterwards all complete blocks can be acquired.  Incomplete blocks are freed, since no writer
 * will complete them.  Wrong totals stay as they are.
 *
 * Context: process, no writer; under the reader's lock; no block is pinned.
 * Return: false if the ring's state was damaged.
 */
bool tb_ring_repair(struct tb_cpu_ring *r, bool snapshot)
{
	u64 events = 0, newest = 0;
	u32 held = 0, i;
	bool whole = true;

	for (i = 0; i < r->nr; i++) {
		struct tb_buf *b = &r->bufs[i];
		u64 s = tb_read(&b->state);

		switch (TB_BUF_STATE(s)) {
		case TB_BUF_READY:
		case TB_BUF_HELD:
			events += b->events;
			held += TB_BUF_STATE(s) == TB_BUF_HELD;
			if (newest < TB_BUF_SEQ(s) + 1)
				newest = TB_BUF_SEQ(s) + 1;
			break;
		case TB_BUF_FREE:
		case TB_BUF_CLAIMED:
			break;
		default:
			tb_write(&b->state, TB_BUF_WORD(TB_BUF_SEQ(s), TB_BUF_FREE));
			whole = false;
		}
		if (tb_local_read(&b->committed) != TB_COMMITTED_NONE(r->capacity))
			whole = false;
	}
	if (!tb_head_legal(r, r->head) || tb_head_index(r->head) != r->capacity) {
		tb_write(&r->head, tb_head(0, newest - 1, 0, r->capacity));
		whole = false;
	}
	if (tb_local_read(&r->ow_started) != tb_local_read(&r->ow_done)) {
		tb_local_set(&r->ow_started, tb_local_read(&r->ow_done));
		whole = false;
	}
	if (!snapshot && (r->from || r->to != ~0ull)) {
		r->from = 0;
		r->to = ~0ull;
		whole = false;
	}
	r->held = held;
	r->pinned = 0;
	events += r->delivered + tb_local_read(&r->overwritten);
	return whole && tb_local_read(&r->recorded) == events &&
	       tb_local_read(&r->dropped) == tb_local_read(&r->refused) &&
	       tb_local_read(&r->dropped) >= tb_local_read(&r->oversize);
}
