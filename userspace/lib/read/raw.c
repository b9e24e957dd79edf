// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A cursor that returns blocks and elements unchanged, in the order of the file or of arrival.
 */
#include <errno.h>
#include "cursor.h"
#include "follow.h"

static int set_way(struct tb_cursor *cursor, enum cursor_way way)
{
	if (cursor->way == WAY_NOT_YET)
		cursor->way = way;
	return cursor->way == way ? 0 : -EINVAL;
}

/* True for blocks that were complete before the time of the last seek */
static bool too_early(const struct tb_cursor *cursor,
		      const struct tb_block *block)
{
	return block->kind == TB_BLOCK_ROLLING &&
	       block->flags & TB_BLOCK_COMPLETE &&
	       block->time_end < cursor->from;
}

static int next_block(struct tb_cursor *cursor, const struct tb_block **out)
{
	const struct tb_trace *trace = cursor->trace;
	const struct tb_block *block;
	int result;

	if (cursor->no_memory)
		return -ENOMEM;
	if (trace->follow) {
		result = tb_follow_pump_raw(trace->follow);
		cursor->no_memory = result == -ENOMEM;
		if (result < 0)
			return result;
		*out = tb_follow_raw(trace->follow, &cursor->raw_offset);
		return *out != NULL;
	}
	if (cursor->leave_to)
		tb_cursor_leave(cursor);
	do {
		if (cursor->no_memory)
			return -ENOMEM;
		block = tb_index_next(trace, cursor->recording, cursor->raw_number++,
				      &cursor->raw_next, &cursor->raw_offset);
		if (!block) {
			tb_unpin(trace, &cursor->raw_frame);
			return 0;
		}
		tb_cursor_looks(cursor, cursor->raw_offset,
				cursor->raw_next - cursor->raw_offset);
	} while (too_early(cursor, block) ||
		 !tb_cursor_pin(cursor, cursor->raw_offset, &cursor->raw_frame));
	*out = tb_block_at(trace, cursor->raw_offset);
	return 1;
}

int tb_cursor_next_block(struct tb_cursor *cursor,
			 const struct tb_block **block, uint64_t *offset)
{
	int result = set_way(cursor, WAY_BLOCKS);

	if (!result)
		result = next_block(cursor, block);
	if (result == 1 && offset)
		*offset = cursor->raw_offset;
	return result;
}

int tb_cursor_next_element(struct tb_cursor *cursor, struct tb_walk *element,
			   uint64_t *offset)
{
	struct tb_walk *walk = &cursor->raw;
	const struct tb_block *block;
	int result = set_way(cursor, WAY_ELEMENTS), step;

	if (result < 0)
		return result;
	for (;;) {
		step = walk->block ? tb_walk_next(walk) : 0;
		if (step == 1) {
			*element = *walk;
			if (offset)
				*offset = cursor->raw_offset +
					  (uint64_t)walk->index * TB_ELEMENT_SIZE;
			return 1;
		}
		if (step == -EAGAIN) {
			cursor->uncommitted++;
			continue;
		}
		if (step < 0)
			tb_cursor_damaged(cursor, walk, cursor->raw_offset);
		walk->block = NULL;
		result = next_block(cursor, &block);
		if (result != 1)
			return result;
		tb_walk_trace(walk, cursor->trace, block);
	}
}
