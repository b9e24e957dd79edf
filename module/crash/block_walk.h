/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Through the events of a block that nobody vouches for: it may have been damaged, or be
 * written to at this moment.
 */
#ifndef TB_WALK_H
#define TB_WALK_H

#include <linux/types.h>
#include <linux/tracebuf.h>

/**
 * struct tb_block_walk - where in a block somebody is
 * @block: which
 * @sequence: its number
 * @at: the next element
 * @end: where the last one ends at most, in elements
 * @head: first word of the last event
 * @bytes: of its payload, not more than it has room for
 * @time: its full clock; before the first event, when the block was opened
 */
struct tb_block_walk {
	const struct tb_block *block;
	u64 sequence;
	u32 at;
	u32 end;
	u32 head;
	u32 bytes;
	u64 time;
};

const struct tb_element *tb_block_walk_next(struct tb_block_walk *w);

#endif /* TB_WALK_H */
