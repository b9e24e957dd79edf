/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walk through the events of a block that may be damaged, or is being written.  Any context.
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
 * @end: index of the element where the walk ends at the latest
 * @head: first word of the last event
 * @bytes: bytes of its payload, at most what its elements have room for
 * @time: its time, full trace clock; before the first event, the time when the block was opened
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
