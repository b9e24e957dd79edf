// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A ring as a stream: its blocks one after another, and their events.
 *
 * cursor_look() finds the places of a ring's blocks from header to header of the file, a few at a
 * time.  It notes blocks of the other rings on the way, as far as their queues have room.  So one
 * pass over the headers serves all rings, except rings that lie far apart in the file.
 *
 * A simple event has no thread id.  A stream knows the thread that runs on its CPU from block
 * headers, composite events, and sched_switch.  The tracepoint precedes the switch itself, so
 * events of the old thread that follow it do not mean a switch back: only another sched_switch, or
 * a gap, can bring the thread back.
 */
#include <errno.h>
#include <inttypes.h>
#include "cursor.h"
#include "follow.h"

/* Blocks that cursor_look() notes for other rings, after it has found one that is wanted */
#define LOOK_AHEAD 64

void tb_stream_claim(struct stream *stream, uint32_t tid)
{
	if (!stream->switched || tid != stream->from)
		stream->current = tid;
}

void tb_cursor_damaged(struct tb_cursor *cursor, const struct tb_walk *walk,
		       uint64_t offset)
{
	const struct tb_block *block = walk->block;

	if (cursor->faulty)
		return;
	cursor->faulty = true;
	offset += (uint64_t)walk->index * TB_ELEMENT_SIZE;
	if (block->kind == TB_BLOCK_ROLLING)
		tb_error_set(&cursor->fault, -EBADMSG, offset,
			     "CPU %u, block %" PRIu64 ": %s", block->cpu,
			     (uint64_t)block->sequence, walk->wrong);
	else
		tb_error_set(&cursor->fault, -EBADMSG, offset,
			     "%s %" PRIu64 ": %s",
			     block->kind == TB_BLOCK_NOTE ? "note" :
			     "durable block",
			     (uint64_t)block->sequence, walk->wrong);
}

/* ---- places of blocks ---- */

/* Give the range back at the next call: until then the caller may use the last view */
static void give_back_later(struct tb_cursor *cursor, uint64_t from, uint64_t to)
{
	if (!cursor->leave_to || from < cursor->leave_from)
		cursor->leave_from = from;
	if (to > cursor->leave_to)
		cursor->leave_to = to;
}

void tb_cursor_leave(struct tb_cursor *cursor)
{
	tb_unpin(cursor->trace, &cursor->leave_frame);
	if (!cursor->leave_to)
		return;
	tb_trace_forget(cursor->trace, cursor->leave_from, cursor->leave_to);
	cursor->leave_to = 0;
}

bool tb_cursor_pin(struct tb_cursor *cursor, uint64_t offset, struct tb_frame **pinned)
{
	int result = tb_pin(cursor->trace, offset, pinned);

	if (result == -ENOMEM) {
		cursor->no_memory = true;
	} else if (result && !cursor->faulty) {
		cursor->faulty = true;
		tb_error_set(&cursor->fault, result, offset, "a damaged frame");
	}
	return !result;
}

void tb_cursor_looks(struct tb_cursor *cursor, uint64_t offset, uint64_t bytes)
{
	if (offset < cursor->low)
		cursor->low = offset;
	if (offset + bytes > cursor->high)
		cursor->high = offset + bytes;
	cursor->looked += bytes;
	if (cursor->looked < TB_RESIDENT)
		return;
	/* the current block is part of the next range; an access reads its pages again */
	give_back_later(cursor, cursor->low, cursor->high);
	cursor->forgotten++;
	cursor->looked = 0;
	cursor->low = offset;
	cursor->high = offset + bytes;
}

/* Give the block back if its pages were read again after tb_cursor_looks() gave them back */
static void forget_block(struct tb_cursor *cursor, const struct stream *stream)
{
	if (stream->header.magic && stream->opened != cursor->forgotten)
		give_back_later(cursor, stream->offset, stream->offset +
				(1ull << stream->header.size_log2));
}

static struct stream *stream_of(struct tb_cursor *cursor,
				const struct tb_block *block)
{
	const struct tb_recording *recording = cursor->recording;
	const struct tb_ring_index *ring = tb_index_cpu(recording, block->cpu);
	uint64_t offset;

	if (!ring || tb_index_known(ring, 0, &offset))
		return NULL;
	return cursor->streams[1 + (ring - recording->rings)];
}

/* Note the block at @offset if it is the next of @stream, and the queue has room */
static void stream_note(struct stream *stream, uint64_t start, uint64_t offset,
			uint64_t end)
{
	if (offset < stream->resume || stream->stalled ||
	    stream->resume < start)
		return;
	if (stream->count == STREAM_QUEUE) {
		stream->stalled = true;
		stream->resume = offset;
		return;
	}
	stream->queue[(stream->first + stream->count++) % STREAM_QUEUE] = offset;
	stream->resume = end;
}

/* Look through the file for blocks of @wanted, from its place on */
static void cursor_look(struct tb_cursor *cursor, struct stream *wanted)
{
	const struct tb_trace *trace = cursor->trace;
	uint64_t start = wanted->resume, next = start, offset;
	size_t nr_rings = cursor->recording->nr_rings + 1, i;
	uint32_t number = (uint32_t)(cursor->recording - trace->recordings);
	const struct tb_block *block;
	unsigned int ahead = 0;
	struct stream *stream;

	for (i = 1; i < nr_rings; i++)
		cursor->streams[i]->stalled = false;
	while (!wanted->stalled && (!wanted->count || ahead++ < LOOK_AHEAD) &&
	       (offset = next, block = tb_index_hop(trace, &next))) {
		if (block->kind != TB_BLOCK_ROLLING ||
		    tb_index_recording(trace, block, offset) != number)
			continue;
		stream = stream_of(cursor, block);
		if (stream)
			stream_note(stream, start, offset, next);
		/* reading the header maps the pages around it */
		tb_cursor_looks(cursor, offset, next - offset);
	}
	/* all streams that did not stall have noted their blocks up to here */
	for (i = 1; i < nr_rings; i++) {
		stream = cursor->streams[i];
		if (!stream->stalled && stream->resume >= start &&
		    stream->resume < next)
			stream->resume = next;
	}
}

/* Header of the next block of the ring; NULL: none */
static const struct tb_block *next_header(struct tb_cursor *cursor,
					 struct stream *stream)
{
	if (!stream->left)
		return NULL;
	if (!tb_index_known(stream->ring, stream->ring->count - stream->left, &stream->offset)) {
		if (!stream->count)
			cursor_look(cursor, stream);
		if (!stream->count) {		/* the file has changed */
			stream->left = 0;
			return NULL;
		}
		stream->offset = stream->queue[stream->first];
		stream->first = (stream->first + 1) % STREAM_QUEUE;
		stream->count--;
	}
	stream->left--;
	return tb_header_at(cursor->trace, stream->offset);
}

/* Unpin the stream's frame; at the next call if it may have the payload of the last view */
static void leave_frame(struct tb_cursor *cursor, struct stream *stream)
{
	if (cursor->leave_frame) {
		tb_unpin(cursor->trace, &stream->frame);
	} else {
		cursor->leave_frame = stream->frame;
		stream->frame = NULL;
	}
}

/* The next block of the ring that is chosen and can be read; NULL: none */
static const struct tb_block *next_block(struct tb_cursor *cursor, struct stream *stream)
{
	const struct tb_block *header;
	struct tb_frame *frame = NULL;

	while ((header = next_header(cursor, stream))) {
		if (cursor->chosen && header->kind == TB_BLOCK_ROLLING &&
		    header->time_start >= cursor->until) {
			stream->left = 0;
			stream->tail_done = true;
			break;
		}
		if (!tb_cursor_pin(cursor, stream->offset, &frame))
			continue;
		leave_frame(cursor, stream);
		stream->frame = frame;
		return tb_block_at(cursor->trace, stream->offset);
	}
	leave_frame(cursor, stream);
	return NULL;
}

static bool stream_open_block(struct tb_cursor *cursor, struct stream *stream)
{
	const struct tb_block *block;
	struct tb_block header;

	forget_block(cursor, stream);
	block = cursor->trace->follow ?
		tb_follow_block(cursor->trace->follow, stream) :
		next_block(cursor, stream);
	if (!block)
		return false;
	tb_header_once(&header, block);
	/* the file may have been written to since the block was found */
	if (!tb_header_fits(&header))
		return false;
	stream->header = header;
	cursor->passed.blocks++;
	tb_cursor_looks(cursor, stream->offset, 1ull << header.size_log2);
	stream->opened = cursor->forgotten;
	tb_walk_trace(&stream->walk, cursor->trace, block);
	tb_stream_claim(stream, header.tid);
	return true;
}

void tb_stream_start(struct tb_cursor *cursor, struct stream *stream)
{
	tb_unpin(cursor->trace, &stream->frame);
	stream->walk.block = NULL;
	stream->header.magic = 0;
	stream->first = stream->count = 0;
	stream->switched = stream->tail_done = false;
	stream->current = 0;
	stream->task_known = false;
	if (!stream->ring)
		return;
	stream->left = stream->ring->count;
	stream->resume = stream->ring->first;
}

void tb_stream_seek(struct tb_cursor *cursor, struct stream *stream,
		    uint64_t ticks)
{
	const struct tb_block *block;
	uint64_t number, resume;

	tb_stream_start(cursor, stream);
	resume = tb_index_seek(cursor->trace, stream->ring, ticks, &number);
	if (stream->ring->count) {
		stream->resume = resume;
		stream->left = stream->ring->count - number;
	}
	/*
	 * Step by headers from there, at most from one mark to the next.  The last block that
	 * begins before @ticks is wanted, unless it was complete before.
	 */
	while (stream->left) {
		struct stream before = *stream;
		uint64_t offset;

		block = next_header(cursor, stream);
		if (!block)
			break;
		if (block->time_start >= ticks ||
		    !(block->flags & TB_BLOCK_COMPLETE) ||
		    block->time_end >= ticks) {
			/* put it back: the cursor opens it next */
			stream->left = before.left;
			if (!tb_index_known(stream->ring, 0, &offset)) {
				stream->first = (stream->first + STREAM_QUEUE - 1) %
						STREAM_QUEUE;
				stream->count++;
			}
			break;
		}
		stream->header = *block;
	}
}

/* ---- contents of blocks ---- */

/* True for events of the durable buffer that the cursor shows */
bool tb_durable_flows(const struct tb_walk *walk)
{
	switch (walk->id) {
	case TB_EV_INIT:
	case TB_EV_EVENT:
	case TB_EV_TOTALS:
	case TB_EV_STRING:
	case TB_EV_SUPPRESSED:
	case TB_EV_SELECTION:
	case TB_EV_THREADS_LOST:
		return false;
	case TB_EV_THREAD:
		return walk->bytes >= sizeof(struct tb_thread);
	}
	return true;
}

static bool stream_gap(struct stream *stream)
{
	const struct tb_gap *gap = stream->walk.payload;

	if (stream->walk.bytes < sizeof(*gap) ||
	    (!gap->overwritten && !gap->dropped))
		return false;
	stream->lost = *gap;
	stream->switched = false;
	stream->current = stream->walk.block->tid;
	return true;
}

/* Make the losses after the last block pending, if the totals have any */
static bool stream_tail(struct tb_cursor *cursor, struct stream *stream)
{
	const struct tb_block *last = &stream->header;

	if (stream->tail_done || stream->cpu == TB_RING_DURABLE)
		return false;
	stream->tail_done = true;
		/*
		 * The running thread is unknown: assume the one that opened the block, as for other
		 * losses.  After a seek, which reads no blocks, no other one is known.
		 */
	stream->current = last->magic ? last->tid : 0;
	return tb_trace_tail(cursor->trace, stream->cpu,
			     last->magic ? last : NULL, &stream->lost,
			     &stream->ticks) &&
	       !(cursor->chosen && stream->lost.first >= cursor->until);
}

/* End the stream: all that follows is too late */
static void stream_end(struct tb_cursor *cursor, struct stream *stream)
{
	leave_frame(cursor, stream);
	stream->walk.block = NULL;
	stream->left = 0;
	stream->tail_done = true;
	stream->pending = PENDING_NONE;
}

void tb_stream_advance(struct tb_cursor *cursor, struct stream *stream)
{
	struct tb_walk *walk = &stream->walk;

	if (stream->reader) {
		stream->pending = tb_reader_next(stream->reader, &stream->ticks) &&
				  !(cursor->chosen &&
				    tb_reader_since(stream->reader, stream->ticks) >=
				    cursor->until) ? PENDING_USER : PENDING_NONE;
		return;
	}
	for (;;) {
		int step = walk->block ? tb_walk_next(walk) : 0;

		if (step == 1) {
			stream->ticks = walk->ticks;
			if (walk->id > TB_EV_STRUCTURAL_LAST) {
				if (stream->cpu == TB_RING_DURABLE &&
				    !tb_durable_flows(walk))
					continue;
				cursor->passed.events++;
				if (cursor->chosen) {
					if (walk->ticks >= cursor->until) {
						stream_end(cursor, stream);
						return;
					}
					if (cursor->chosen[walk->id] == CHOICE_PASS) {
						tb_cursor_pass(cursor, stream);
						continue;
					}
				}
				stream->pending = PENDING_EVENT;
				return;
			}
			if (walk->id == TB_EV_GAP && stream_gap(stream)) {
				stream->pending = PENDING_LOST;
				return;
			}
		} else if (step == -EAGAIN) {
			cursor->uncommitted++;
		} else {
			if (step < 0)
				tb_cursor_damaged(cursor, walk, stream->offset);
			if (stream_open_block(cursor, stream))
				continue;
			walk->block = NULL;
			stream->pending = tb_follow_more(cursor->trace) ||
					  !stream_tail(cursor, stream) ?
					  PENDING_NONE : PENDING_TAIL;
			return;
		}
	}
}
