// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer's way to the next buffer of a ring: which one is claimed, what is
 * overwritten for that, and who is told of it.
 *
 * The algorithm and the argument for it, this part included, stand at the top of
 * writer.c.
 */
#include "claim.h"

/*
 * Notes in the block that is in @b, if it comes before block @seq, that @events of that are
 * being overwritten.  The count is read before the state: should a nested context use the
 * buffer for another block after we looked, it has begun a new lap, and the exchange fails.
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

/**
 * tb_buf_begin_lap() - begin a new lap of a buffer
 * @b: it, claimed
 *
 * Context: as tb_ring_claim().
 * Return: what its count of later blocks that are overwritten is now.
 */
u64 tb_buf_begin_lap(struct tb_buf *b)
{
	u64 later;

	do {
		later = tb_read(&b->later);
	} while (!tb_cmpxchg_local(&b->later, later, later + TB_LATER_LAP));
	return later + TB_LATER_LAP;
}

/*
 * Block @seq with its @events is being overwritten: notes them in the blocks before it.
 *
 * Only a block that was passed by, incomplete or held, outlives a later one, so most
 * often there is nothing to do.  Of a block the reader holds the books are closed, but it may
 * be put back and taken once more.
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
	/* all that were passed by are gone, unless a nested context does so now */
	if (!found && seq >= passed)
		tb_cmpxchg_local(&r->passed, passed, 0);
}

/* May block @seq overwrite another? */
static bool tb_ring_overwrites(struct tb_cpu_ring *r, u64 seq)
{
	return r->overwrite && seq <= tb_read(&r->overwrite_last);
}

/*
 * Takes the block in @b away, whose state @s is READY: that becomes @to, and its @events, read
 * after @s, are overwritten.  False if somebody else changed the state first.
 */
static bool tb_buf_overwrite(struct tb_cpu_ring *r, struct tb_buf *b, u64 s, u64 to, u32 events)
{
	bool won;

	/*
	 * Started before (the exchange orders it), done after (tb_wmb()): pair
	 * with the two tb_rmb() in tb_ring_acquire(), which trusts the total only
	 * between.
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
 * Tries to claim @b, for block number @seq that follows the one @h is in.  @held stays true if the
 * reader has it.
 *
 * Head is looked at after the state, and before that is changed.  Should it move
 * after we looked, either the state has changed with it or @b is not in use and still
 * the next to go.  An outer context whose @h was out of date by then could claim
 * what nested contexts filled: overwrite it, or, if it was read and given back
 * already, make the current buffer look as if it waited for its opener.
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
		/* now: once it is claimed, a nested context may fill and complete it */
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
	 * Fully ordered: after the reader's last access, pairs with the release in
	 * tb_ring_release(); before the next block's first, pairs with the smp_rmb() in
	 * tb_panic_print_one().
	 */
	won = overwrite ? tb_buf_overwrite(r, b, s, claimed, events) :
			  tb_cmpxchg(&b->state, s, claimed);
	if (!won)
		tb_ring_path(TB_PATH_CLAIM_RACED);
	return won;
}

/**
 * tb_ring_claim() - find the buffer that follows the current one, and claim it
 * @r: the ring of this CPU
 * @h: head, in the current buffer
 * @seq: number of the block that is to come
 *
 * One round at most; a buffer that changes under our eyes is looked at a second time (the reader
 * let go of it, or took it) and then passed by.
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

	/* full the last time, and nothing given back or put back since: no need to look */
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
	/* an incomplete one can be overwritten when it is complete, whatever the reader does */
	if (!overwrites || held)
		tb_write(&r->full_seen, seen);
	return TB_CLAIM_NONE;
}

/**
 * tb_ring_room() - would an event find room?
 * @r: the ring of this CPU
 * @n: elements, >= 1
 *
 * For who can wait: nothing is claimed and nothing counted.  Interrupts may take the room.
 *
 * Context: on the ring's CPU, preemption off.
 * Return: false if not, or if it would just fit and a TIME element may be needed before it.
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
