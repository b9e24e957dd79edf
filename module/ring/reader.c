// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's side of a ring: acquire complete buffers in order, release them, take snapshots, and
 * account for the events that are missing before each block.
 *
 * The top of writer.c has the algorithm and the argument for it.  While writers are active, this
 * side changes only state words, members of the reader, and HELD buffers.
 *
 * Where a function does not say otherwise, its context is the reader's: any CPU, any context, one
 * reader at a time; in the module process context under tb_provider.read_lock.  Callers: reader/,
 * recording/, provider/.
 */
#include "ring.h"

/* Return true if a buffer in state @s may be held for a snapshot and not acquired yet. */
static bool tb_ring_pins(const struct tb_cpu_ring *r, u64 s)
{
	return tb_ring_pinned(r) && TB_BUF_STATE(s) == TB_BUF_HELD;
}

/* Return the READY or pinned buffer with the lowest number that the reader may acquire; or -1. */
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
 * Return TB_BUF_WRITING if a block with a lower number than @seq is being written, TB_BUF_READY if
 * one has become READY since the first scan, else TB_BUF_FREE.
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
 * Fills in the gap slot of a block that the reader acquires: the events that are missing before it.
 * The writer that opened the block noted the dropped events.  The number of overwritten events is
 * known only now, because writers could overwrite earlier blocks until now.  Each overwritten block
 * leaves a gap in the sequence numbers, and the block after the gap tells its events.  If the total
 * of overwritten events is not complete (not @settled), mark the block as unsettled; the next one
 * tells the rest.
 */
static void tb_ring_fill_gap(struct tb_cpu_ring *r, struct tb_buf *b, u64 overwritten, u64 oversize,
			     bool settled)
{
	struct tb_block *block = b->block;
	struct tb_gap *gap = tb_buf_gap(b);
	struct tb_rd *rd = &r->rd;
	u64 first, last;

	if (b->gap_filled && rd->next > block->sequence) {
		/* put back, but later blocks were delivered: the slot stays as it is */
		tb_ring_path(TB_PATH_TELL_SAME);
		rd->overwritten += gap->overwritten;
		rd->dropped += gap->dropped;
		rd->oversize += gap->oversize;
		rd->unsettled -= TB_RD_PUT_BACK;
		return;
	}
	if (b->gap_filled && rd->next == b->rd.next && rd->unsettled == b->rd.unsettled) {
		/* put back, and the block before it is the same: the same events are missing */
		tb_ring_path(TB_PATH_TELL_AGAIN);
		overwritten = rd->overwritten + gap->overwritten;
		oversize = rd->oversize + gap->oversize;
	} else if (block->sequence == rd->next && !rd->unsettled) {
		overwritten = rd->overwritten;
		settled = true;
	} else if ((long long)(overwritten - rd->overwritten) < 0) {
		/* unsettled blocks reported more, or events of later blocks were counted first */
		overwritten = rd->overwritten;
	}
	b->gap_filled = 0;
	b->rd = *rd;
	gap->overwritten = overwritten - rd->overwritten;
	gap->dropped = block->dropped - rd->dropped;
	gap->oversize = oversize - rd->oversize;
	if (gap->oversize > gap->dropped)
		gap->oversize = gap->dropped;
	first = gap->dropped ? gap->first : 0;
	last = gap->dropped ? gap->last : 0;
	if (gap->overwritten || gap->dropped) {
		/* overwritten blocks may have reported drops, but none before rd->end */
		if (!first || (gap->overwritten && first > rd->end))
			first = rd->end;
		if (gap->overwritten && last < block->time_start)
			last = block->time_start;
		/* values that are not settled may be inconsistent */
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
	/* later blocks tell losses from this time on */
	if (settled)
		rd->end = b->lost_from;
	else
		tb_ring_path(TB_PATH_TELL_LATER);
	rd->unsettled = !settled;
	b->settled = settled;
}

/*
 * Return the number of events that were overwritten after the snapshot had put them back: the
 * snapshot has them, so they are not missing.
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
 * Scans twice.  The first scan finds the lowest READY number q.  Every buffer below q that has
 * contents became WRITING before q was opened.  The second scan starts after the first saw q READY,
 * so it sees such a buffer WRITING or in a later state.  So the reader gets all blocks in order.
 *
 * Reads the total of overwritten events between the two counters of overwritings: if no overwriting
 * was under way or began meanwhile, the total is complete.  If that fails TB_ACQUIRE_TRIES times in
 * a row (the writer was interrupted in the middle of one, or overwrites faster than the reader
 * scans), the next block tells the rest.
 *
 * A block tells the events overwritten in lower blocks.  tb_buf.later counts the events of later
 * blocks that were overwritten while the block was incomplete; the blocks after them tell these.
 * Only a block that was put back, and cannot tell the same again, may tell events of later blocks
 * that were overwritten while it was held.  The sum is right in any case.
 *
 * Context: the reader's.
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

/* Counts a buffer that writers can claim again, after its state was stored. */
static void tb_ring_count_given(struct tb_cpu_ring *r)
{
	/* FREE or READY before the count: pairs with the acquire in tb_ring_claim() */
	tb_store_release(&r->releases, r->releases + 1);
}

/* Give back a buffer of tb_ring_acquire() with delivered events. */
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
 * For a reader that goes away: the next reader gets the blocks that it held.  The caller puts back
 * the latest block first, so that the accounts return to their state before the earliest.  If the
 * reader has released later blocks, this block will tell the same again, and the accounts exclude
 * its share until then.  If a writer overwrites this block before, the next block tells its events
 * and its losses, although they are missing at an earlier place.
 *
 * A block of a snapshot stays held for the snapshot.
 *
 * Context: the reader's.
 */
void tb_ring_unacquire(struct tb_cpu_ring *r, u32 index)
{
	struct tb_buf *b = &r->bufs[index];
	const struct tb_gap *gap = tb_buf_gap(b);
	struct tb_rd *rd = &r->rd;

	b->gap_filled = 1;
	if (rd->next == b->block->sequence + 1) {
		b->gap_filled = !rd->unsettled;
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
 * A snapshot is a pass over the blocks of a ring while writers go on: the reader takes, copies and
 * puts back each block.  It holds at most half of the blocks at a time: if it held all, the writer
 * could overwrite only its newest block.  The snapshot has accounts of its own, because it tells
 * what is missing in the copy; afterwards the reader's accounts are as before.  The writer passes
 * by a held block, as always.  It may overwrite a block that was put back: the copy has that block,
 * so its events are not missing.
 *
 * Between the beginning and the first acquire a writer at full rate may go round a small ring more
 * than once.  So the newest blocks are held from the beginning on (pinned): the snapshot has the
 * newest blocks, even if the others are overwritten.
 */

/*
 * Begin to acquire blocks for a snapshot, which has those that are closed now: flush first.  No
 * block is held.
 */
void tb_ring_begin_snapshot(struct tb_cpu_ring *r)
{
	u64 h = tb_read(&r->head);
	u32 i;

	for (i = 0; i < r->rd_nr; i++)
		r->rd_bufs[i].copied = 0;
	r->kept = r->rd;
	r->from = 0;
	r->to = tb_ring_current(r, h) + (tb_head_index(h) == r->capacity);
}

/* Return the READY buffer with the highest number below @limit; or -1. */
static int tb_ring_highest(struct tb_cpu_ring *r, u64 limit, u64 *state)
{
	int best = -1;
	u32 i;

	for (i = 0; i < r->rd_nr; i++) {
		/* as in tb_ring_lowest(), pairs with tb_ring_complete() */
		u64 s = tb_load_acquire(&r->rd_bufs[i].state);

		if (TB_BUF_STATE(s) != TB_BUF_READY || TB_BUF_SEQ(s) >= limit ||
		    (best >= 0 && TB_BUF_SEQ(s) < TB_BUF_SEQ(*state)))
			continue;
		best = i;
		*state = s;
	}
	return best;
}

/*
 * Hold the newest complete blocks, at most @count, for the snapshot that has just begun.  The
 * reader acquires them later, in order, and sets tb_cpu_ring.from behind each block.  If the writer
 * has gone on since the beginning, the snapshot extends to the newest block.
 */
void tb_ring_pin(struct tb_cpu_ring *r, u32 count)
{
	u64 limit = ~0ull, s = 0;
	/* one for each block, one for each that a writer takes first, and some more */
	u32 tries = 2 * count + TB_ACQUIRE_TRIES;
	int b = 0;

	while (r->pinned < count && tries--) {
		/* most often the block before it is in the buffer before it */
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

/* Put back the oldest block that is held and not acquired yet.  Return false if there is none. */
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

/*
 * Return true if the next block is held already, so acquiring it takes no buffer from the writer.
 */
bool tb_ring_next_pinned(struct tb_cpu_ring *r)
{
	u64 s;

	return r->pinned && tb_ring_lowest(r, &s) >= 0 && TB_BUF_STATE(s) == TB_BUF_HELD;
}

/* Put back a block of a snapshot.  The reader may hold other blocks, earlier or later ones. */
void tb_ring_put_back(struct tb_cpu_ring *r, u32 index)
{
	struct tb_buf *b = &r->bufs[index];

	/* one block for each buffer: later blocks in it are not part of the snapshot */
	b->copied = b->block->sequence + 1;
	b->copied_events = b->events;
	b->gap_filled = b->settled;
	tb_buf_put_back(r, b);
}

/* Return true if the snapshot has blocks left to acquire, perhaps one still being written. */
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

/* Restore the reader's accounts from before the snapshot.  No block is held or pinned. */
void tb_ring_end_snapshot(struct tb_cpu_ring *r)
{
	r->rd = r->kept;
	r->from = 0;
	r->to = ~0ull;
}

/*
 * Return true if a flush would give the reader a buffer worth taking.  Any context; out of date at
 * once.
 */
bool tb_ring_above_watermark(struct tb_cpu_ring *r)
{
	u32 index = tb_head_index(tb_read(&r->head));

	return index >= r->watermark && index < r->capacity;
}

/* Return true if tb_ring_acquire() would find a buffer now.  Any context. */
bool tb_ring_can_acquire(struct tb_cpu_ring *r)
{
	u64 s;

	/* the reader takes a block only when all earlier ones are complete */
	return tb_ring_lowest(r, &s) >= 0 &&
	       tb_ring_find_earlier(r, TB_BUF_SEQ(s)) != TB_BUF_WRITING;
}

/*
 * Return true if the reader can take a buffer, or the current one is past the watermark.  Any
 * context.
 */
bool tb_ring_readable(struct tb_cpu_ring *r)
{
	return tb_ring_above_watermark(r) || tb_ring_can_acquire(r);
}

/**
 * tb_ring_stats() - read the totals of a ring
 * @r: any CPU's ring
 * @st: out: the totals
 *
 * While the ring's CPU records, the values are from slightly different moments, and @recorded may
 * lack a block that is just being completed, but never counts an event twice.  Else they are exact.
 *
 * Context: any.
 */
void tb_ring_stats(struct tb_cpu_ring *r, struct tb_ring_stats *st)
{
	u64 h = tb_read(&r->head);
	u32 i;

	memset(st, 0, sizeof(*st));
	/* delivered and overwritten first: both are parts of recorded */
	st->delivered = tb_read(&r->delivered);
	st->bytes = tb_read(&r->delivered_bytes);
	st->overwritten = tb_local_read(&r->overwritten);
	st->oversize = tb_local_read(&r->oversize);
	st->dropped = tb_local_read(&r->dropped);
	st->marks = tb_local_read(&r->marks);
	st->retries = tb_local_read(&r->retries);
	tb_rmb(); /* a later total contains what the earlier ones are parts of */
	st->recorded = tb_local_read(&r->recorded);
	tb_rmb(); /* pairs with tb_wmb() in tb_ring_complete() */
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
 * tb_ring_end() - read the losses after the last closed block of a ring
 * @r: any CPU's ring
 * @end: out: the losses
 *
 * Each block tells the losses before it.  A frozen or full ring has no next block.  So the recorder
 * writes these losses into the totals, at stop or for a snapshot; tools show the CPU as unknown up
 * to then.  Without an open buffer, a ring only drops events as long as head does not move.  If
 * head moves meanwhile, the ring takes events again.
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
		/* pairs with the release in tb_ring_complete(): the total includes READY blocks */
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
 * tb_ring_stuck() - check for a block that was incomplete at the last call and still is
 * @r: any CPU's ring
 *
 * Between two calls, all writers must have ended the events that they were recording.
 *
 * Context: process, one caller at a time.
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
 * Context: the reader's; no writer is active, and no block is pinned.
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
