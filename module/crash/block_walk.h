/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walk through the events of a block that may be damaged, or that a writer still fills.  Any
 * context.
 */
#ifndef TB_CRASH_BLOCK_WALK_H
#define TB_CRASH_BLOCK_WALK_H

#include <linux/types.h>
#include <linux/tracebuf.h>

/**
 * struct tb_block_walk - a position in a block
 * @block: the block
 * @sequence: its sequence number
 * @at: index of the next element
 * @end: index after the last element of the walk, which may end earlier
 * @head: first word of the last event
 * @bytes: bytes of the last event's payload, not beyond its elements
 * @time: time of the last event, trace clock; before the first, when a writer opened the block
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

#endif /* TB_CRASH_BLOCK_WALK_H */
