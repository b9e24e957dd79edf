// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walking through the events of a block that may be damaged, or is being written (block_walk.h).
 * Each length is read once, and checked before it is used, so nothing outside the block is read.
 */
#include <linux/compiler.h>
#include <asm/barrier.h>

#include "block_walk.h"

/* May event @e, of @length elements, be one?  Fills in what of @w is about it. */
static bool tb_block_walk_check(struct tb_block_walk *w, const struct tb_element *e, u32 length)
{
	u32 low = READ_ONCE(e->time);
	u64 time = (w->time & ~0xffffffffull) | low;

	if (TB_HEAD_STRUCT(w->head) == TB_STRUCT_SIMPLE) {
		w->bytes = sizeof(e->payload);
		if (length != 1)
			return false;
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

/**
 * tb_block_walk_next() - the next event of a block
 * @w: where it is
 *
 * What was begun and not committed is passed by.
 *
 * Context: any, NMI included.
 * Return: the event; NULL: what follows is none of this block, or it is at its end.
 */
const struct tb_element *tb_block_walk_next(struct tb_block_walk *w)
{
	const struct tb_element *e;
	u32 length, type;

	for (;; w->at += length) {
		if (w->at >= w->end)
			return NULL;
		e = (const struct tb_element *)w->block + w->at;
		/* the event before its first word: pairs with the release in tb_ring_commit() */
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
