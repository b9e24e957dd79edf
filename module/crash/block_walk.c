// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walk through the events of a block that may be damaged, or that a writer still fills.
 *
 * Read each length once and check it before use, so that no read is outside the block.
 * Callers: panic.c and previous_boot.c, in any context, NMI included, without locks.
 */
#include <linux/compiler.h>
#include <asm/barrier.h>

#include "block_walk.h"

/* Set w->bytes and w->time.  Return true if @e, of @length elements, may be an event. */
static bool tb_block_walk_check(struct tb_block_walk *w, const struct tb_element *e, u32 length)
{
	u32 low = READ_ONCE(e->time);
	u64 time = (w->time & ~0xffffffffull) | low;

	if (TB_HEAD_STRUCT(w->head) == TB_STRUCT_SIMPLE) {
		w->bytes = length * TB_ELEMENT_SIZE - offsetof(struct tb_element, payload);
		if (TB_HEAD_ID(w->head) == TB_EV_TIME)
			time = READ_ONCE(e->payload);
	} else {
		w->bytes = READ_ONCE(((const struct tb_composite *)e)->length);
		if (w->bytes > (length - 1) * TB_ELEMENT_SIZE)
			return false;
	}
	if ((u32)time != low || time < w->time)
		return false;
	w->time = time;
	return true;
}

/*
 * Step to the next event of a block; skip events that were reserved but not committed.  Return it;
 * NULL at the end of the block, or if no event of this block follows.
 */
const struct tb_element *tb_block_walk_next(struct tb_block_walk *w)
{
	const struct tb_element *e;
	u32 length, type;

	for (;; w->at += length) {
		if (w->at >= w->end)
			return NULL;
		e = (const struct tb_element *)w->block + w->at;
		/* before the rest of the event: pairs with the release in tb_ring_commit() */
		w->head = smp_load_acquire(&e->head);
		length = TB_HEAD_LENGTH(w->head);
		type = TB_HEAD_STRUCT(w->head);
		if (TB_HEAD_SEQ(w->head) != (w->sequence & TB_HEAD_SEQ(~0u)) || !length ||
		    length > w->end - w->at || type == TB_STRUCT_PAD)
			return NULL;
		if (type != TB_STRUCT_RESERVED)
			break;
	}
	if (!tb_block_walk_check(w, e, length))
		return NULL;
	w->at += length;
	return e;
}
