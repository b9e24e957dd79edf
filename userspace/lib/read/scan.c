// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One pass over the heads of all events when a trace is opened.  It collects what must be known
 * before the first event is shown: clock records in rolling blocks, and the places of the pieces
 * that programs have written.
 *
 * In a damaged block it stops exactly where the cursor stops, so that both know the same pieces.
 */
#include <errno.h>
#include "follow.h"

static int scan_event(struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_composite *composite, uint32_t id, uint32_t bytes,
		      uint64_t ticks, bool durable)
{
	switch (id) {
	case TB_EV_CLOCK:
		/* durable.c reads durable ones; if the trace clock is CLOCK_MONOTONIC it needs none */
		if (durable || bytes < sizeof(struct tb_clock_sync) ||
		    (recording->has_init &&
		     recording->init.clock == TB_CLOCK_MONO))
			return 0;
		return tb_clock_add(recording, (const void *)(composite + 1));
	/* all pieces of a writer must be known before its first record is shown */
	case TB_EV_CHUNK:
		return trace->follow ? tb_follow_chunk(trace->follow, composite, ticks) :
		       tb_users_chunk(trace, recording, composite, bytes, ticks);
	case TB_EV_PATCH:
		return trace->follow ? tb_follow_patch(trace->follow, composite, ticks) :
		       tb_users_patch(trace, recording, composite, bytes, ticks);
	}
	return 0;
}

int tb_scan_block(struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_block *block)
{
	const struct tb_element *elements = (const void *)block;
	uint32_t at = TB_BLOCK_HEADER_ELEMENTS, end, head, length, bytes;
	const struct tb_composite *composite;
	uint64_t time = block->time_start;
	struct tb_walk walk;
	int result;

	tb_walk_trace(&walk, trace, block);
	end = walk.end;
	for (; at < end; at += length) {
		head = tb_once32(&elements[at].head);
		length = TB_HEAD_LENGTH(head);
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_RESERVED) {
			if (!head && !(block->flags & TB_BLOCK_COMPLETE))
				break;
			length += !length;
			continue;
		}
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_PAD || !length ||
		    length > end - at ||
		    TB_HEAD_SEQ(head) != (block->sequence & 0x3f))
			break;
		composite = (const void *)&elements[at];
		bytes = tb_once16(&composite->length);
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_COMPOSITE &&
		    bytes > (length - 1) * TB_ELEMENT_SIZE)
			break;
		if (TB_HEAD_ID(head) > TB_EV_PATCH)
			continue;
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_SIMPLE) {
			if (TB_HEAD_ID(head) == TB_EV_TIME)
				time = elements[at].payload;
			continue;
		}
		result = scan_event(trace, recording, composite, TB_HEAD_ID(head), bytes,
				    (time & ~0xffffffffull) | composite->time,
				    block->kind == TB_BLOCK_DURABLE);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Scan the block at @offset, by @pinned; -ENOMEM */
static int scan_at(struct tb_trace *trace, struct tb_recording *recording,
		   const struct tb_block *header, uint64_t offset, struct tb_frame **pinned)
{
	struct tb_error error;
	int result;

	if (trace->frames && header->kind == TB_BLOCK_ROLLING &&
	    !tb_frames_looked_for(trace->frames, offset))
		return 0;
	result = tb_pin(trace, offset, pinned);
	if (result == -EBADMSG) {
		tb_error_set(&error, result, offset, "a damaged frame");
		tb_trace_set_fault(trace, &error);
		return 0;
	}
	return result ? result : tb_scan_block(trace, recording, tb_block_at(trace, offset));
}

static int scan_listed(struct tb_trace *trace, struct tb_recording *recording,
		       const struct tb_ring_index *ring, struct tb_frame **pinned)
{
	size_t i;

	for (i = 0; i < ring->nr_all; i++)
		if (scan_at(trace, recording, tb_header_at(trace, ring->all[i]), ring->all[i],
			    pinned))
			return -ENOMEM;
	return 0;
}

/* Blocks of a listed ring may be in the file twice: take them from the list */
static int scan_all(struct tb_trace *trace, struct tb_frame **pinned)
{
	uint64_t offset = 0, at, forgotten = 0;
	struct tb_recording *recording;
	const struct tb_ring_index *ring;
	const struct tb_block *block;
	size_t i, j;

	while (at = offset, (block = tb_index_hop(trace, &offset))) {
		recording = &trace->recordings[tb_index_recording(trace, block, at)];
		ring = tb_index_ring(recording, block);
		if (ring && !ring->listed && scan_at(trace, recording, block, at, pinned))
			return -ENOMEM;
		if (offset - forgotten >= TB_RESIDENT) {
			tb_trace_forget(trace, forgotten, offset);
			forgotten = offset;
		}
	}
	for (i = 0; i < trace->nr_recordings; i++) {
		recording = &trace->recordings[i];
		if (scan_listed(trace, recording, &recording->durable, pinned))
			return -ENOMEM;
		for (j = 0; j < recording->nr_rings; j++)
			if (scan_listed(trace, recording, &recording->rings[j], pinned))
				return -ENOMEM;
	}
	return 0;
}

int tb_scan(struct tb_trace *trace)
{
	struct tb_frame *pinned = NULL;
	int result = scan_all(trace, &pinned);

	tb_unpin(trace, &pinned);
	return result;
}
