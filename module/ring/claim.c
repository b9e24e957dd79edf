// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find and claim the next buffer for a writer, overwrite a block for it if the policy allows, and
 * note the overwritten events.
 *
 * The top of writer.c has the algorithm and the argument for it.  writer.c calls this, and
 * programs/chunk.c tb_ring_room(), on the ring's CPU in any context, NMI included, with preemption
 * off and without a lock.
 */
#include "claim.h"

/*
 * Notes in buffer @b that @events of block @seq are being overwritten, if the block in @b comes
 * before @seq.  Reads the count before the state: if a nested context then uses the buffer for
 * another block, it begins a new lap, and the exchange fails.
 */
static bool tb_buf_note_overwritten(struct tb_buf *b, u64 seq, u32 events)
{
	u64 later, s;

	do {
		later = tb_read(&b->later);
		s = tb_read(&b->state);
		if (TB_BUF_SEQ(s) >= seq || TB_BUF_STATE(s) < TB_BUF_WRITING)
			return false;
	} while (!tb_cmpxchg_local(&b->later, later, later + events));
	tb_ring_path(TB_PATH_OVERWRITE_LATER);
	return true;
}

/* Begin a new lap of a claimed buffer.  Return the new value of @b->later. */
u64 tb_buf_begin_lap(struct tb_buf *b)
{
	u64 later;

	do {
		later = tb_read(&b->later);
	} while (!tb_cmpxchg_local(&b->later, later, later + TB_LATER_LAP));
	return later + TB_LATER_LAP;
}

/*
 * Notes in all blocks before block @seq that its @events are being overwritten.
 *
 * Only a block that a walk passed by, incomplete or held, outlives a later one, so most often there
 * is none.  The reader has accounted for a block that it holds, but may put it back and acquire it
 * again.
 */
static void tb_ring_note_overwritten(struct tb_cpu_ring *r, u64 seq, u32 events)
{
	u64 passed = tb_read(&r->passed);
	bool found = false;
	u32 i;

	if (!passed)
		return;
	for (i = 0; i < r->nr; i++)
		found |= tb_buf_note_overwritten(&r->bufs[i], seq, events);
	/* all passed blocks are gone; the exchange fails if a nested context passes one now */
	if (!found && seq >= passed)
		tb_cmpxchg_local(&r->passed, passed, 0);
}

static bool tb_ring_overwrites(struct tb_cpu_ring *r, u64 seq)
{
	return r->overwrite && seq <= tb_read(&r->overwrite_last);
}

/*
 * Overwrites the block in @b: changes its state from @s, which is READY, to @to, and counts its
 * @events, read after @s.  Return false if another context or the reader changed the state first.
 */
static bool tb_buf_overwrite(struct tb_cpu_ring *r, struct tb_buf *b, u64 s, u64 to, u32 events)
{
	bool won;

	/*
	 * The exchange orders ow_started before the total, tb_wmb() orders ow_done after it.  They
	 * pair with the two tb_rmb() in tb_ring_acquire(), which trusts the total only if both
	 * counters are the same.
	 */
	tb_local_add(&r->ow_started, 1);
	won = tb_cmpxchg(&b->state, s, to);
	if (won) {
		tb_ring_path(TB_PATH_OVERWRITE);
		tb_ring_note_overwritten(r, TB_BUF_SEQ(s), events);
		tb_local_add(&r->overwritten, events);
	}
	tb_wmb();
	tb_local_add(&r->ow_done, 1);
	return won;
}

/*
 * Tries to claim @b for block @seq, which follows the block that @h is in.  Sets *@held to false
 * unless the reader holds @b.
 *
 * Checks head after reading the state and before changing it.  If head moves after the check, then
 * either the state has changed, too, or @b is unused and still the next buffer.  Without the check
 * an outer context with an old @h could claim a buffer that nested contexts filled.  It would
 * overwrite their block.  If the reader has released that block already, the current buffer would
 * look as if it waited for its opener.
 */
static bool tb_buf_claim(struct tb_cpu_ring *r, struct tb_buf *b, u64 h, u64 seq, bool *held)
{
	u64 s = tb_read(&b->state);
	u64 claimed = TB_BUF_WORD(seq, TB_BUF_CLAIMED);
	bool overwrite = false, won;
	u32 events = 0;

	*held = *held && TB_BUF_STATE(s) == TB_BUF_HELD;
	switch (TB_BUF_STATE(s)) {
	case TB_BUF_CLAIMED:
		if (s == claimed) {
			tb_ring_path(TB_PATH_HELP_CLAIM);
			return true;
		}
		tb_ring_path(TB_PATH_CLAIM_RENEW);
		break;
	case TB_BUF_FREE:
		break;
	case TB_BUF_READY:
		if (!tb_ring_overwrites(r, seq))
			return false;
		/* before the claim: after it, a nested context may fill and complete the buffer */
		events = tb_read(&b->events);
		overwrite = true;
		break;
	case TB_BUF_HELD:
		tb_ring_path(TB_PATH_CLAIM_PASS_HELD);
		tb_raise(&r->passed, TB_BUF_SEQ(s) + 1);
		return false;
	default:
		tb_ring_path(TB_PATH_CLAIM_PASS_WRITING);
		tb_raise(&r->passed, TB_BUF_SEQ(s) + 1);
		return false;
	}
	if (tb_read(&r->head) != h) {
		tb_ring_path(TB_PATH_CLAIM_STALE);
		return false;
	}
	/*
	 * Fully ordered: after the reader's last access (pairs with the release in
	 * tb_ring_release()), and before the first store of the next block (pairs with the
	 * smp_rmb() in tb_panic_print_one()).
	 */
	won = overwrite ? tb_buf_overwrite(r, b, s, claimed, events) :
			  tb_cmpxchg(&b->state, s, claimed);
	if (!won)
		tb_ring_path(TB_PATH_CLAIM_RACED);
	return won;
}

/**
 * tb_ring_claim() - find the next buffer after the current one, and claim it
 * @r: the ring of this CPU
 * @h: head, in the current buffer
 * @seq: number of the new block
 *
 * Walks once around the ring at most.  Tries each buffer twice, because the reader may release or
 * take it at the same time.
 *
 * Context: any, NMI included; on the ring's CPU, preemption off.
 * Return: index of the buffer, TB_CLAIM_NONE or TB_CLAIM_AGAIN.
 */
int tb_ring_claim(struct tb_cpu_ring *r, u64 h, u64 seq)
{
	bool overwrites = tb_ring_overwrites(r, seq), held = true;
	u64 seen = tb_load_acquire(&r->releases) << 1 | overwrites;
	u32 b = tb_head_buffer(h);
	u32 i = 0;

	/* the last walk found no buffer, and the reader has released none since: skip the walk */
	if (tb_read(&r->full_seen) == seen) {
		tb_ring_path(TB_PATH_CLAIM_FULL);
		i = r->nr;
	}
	for (; i < r->nr; i++) {
		struct tb_buf *buf;

		b = b + 1 == r->nr ? 0 : b + 1;
		buf = &r->bufs[b];
		if (tb_buf_claim(r, buf, h, seq, &held) || tb_buf_claim(r, buf, h, seq, &held))
			return b;
	}
	if (tb_read(&r->head) != h) {
		tb_ring_path(TB_PATH_CLAIM_AGAIN);
		return TB_CLAIM_AGAIN;
	}
	tb_ring_path(TB_PATH_CLAIM_NONE);
	/* an incomplete block may complete, and then be overwritten without a release */
	if (!overwrites || held)
		tb_write(&r->full_seen, seen);
	return TB_CLAIM_NONE;
}

/**
 * tb_ring_room() - check whether an event would find room
 * @r: the ring of this CPU
 * @n: number of elements, >= 1
 *
 * For callers that can wait: claims and counts nothing.  An interrupt may take the room.
 *
 * Context: on the ring's CPU, preemption off.
 * Return: false if there may be no room for the event and a TIME element before it.
 */
bool tb_ring_room(struct tb_cpu_ring *r, u32 n)
{
	u64 h = tb_read(&r->head);
	bool overwrites;
	u32 i;

	if (n > r->max || tb_read(&r->paused))
		return false;
	if (n < r->capacity - tb_head_index(h))
		return true;
	h = tb_ring_current(r, h);
	overwrites = tb_ring_overwrites(r, h + 1);
	for (i = 0; i < r->nr; i++) {
		u64 state = TB_BUF_STATE(tb_read(&r->bufs[i].state));

		if (state == TB_BUF_FREE || (overwrites && state == TB_BUF_READY))
			return true;
	}
	return false;
}
