/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, inside: a cursor, as its parts know it.
 *
 *	cursor.c   merges streams, and shows what is next
 *	stream.c   a ring as a stream: its blocks one after the other, and what is in them
 *	choice.c   events that are not wanted
 *	raw.c      blocks and elements as they are
 *	widen.c    events in their compact form
 *	follow.c   taking blocks in while the trace is being made; follow_source.c: where they come from
 */
#ifndef TB_CURSOR_H
#define TB_CURSOR_H

#include "user.h"

enum stream_pending {
	PENDING_NONE = 0,	/* there is nothing more, or not yet */
	PENDING_EVENT,
	PENDING_LOST,		/* a gap before the block just opened */
	PENDING_TAIL,		/* losses after the last block */
	PENDING_USER,		/* a record of a program, or a loss of some */
};

#define STREAM_QUEUE 32

/**
 * struct stream - a ring, or what a writer has written, as the cursor goes through it
 * @ticks: of what is pending
 * @order: breaks ties
 * @queued: it is in the heap
 * @left: blocks of the ring that were not opened yet, those of @queue included
 * @queue: where the next ones are
 * @resume: from here on the file has to be looked through for more of them
 * @held, @open: followed: blocks that have come, and the one at hand
 * @header: of the block that was opened last
 * @offset: of it in the file
 * @frame: that has it, pinned
 * @opened: how often what was looked at had been given back then
 * @current: the thread that runs
 * @from: the thread last switched from, if @switched
 */
struct stream {
	uint64_t ticks;
	uint32_t order;
	uint32_t cpu;
	enum stream_pending pending;
	bool     queued;
	bool     shut;			/* nothing of it is wanted (tb_cursor_choose()) */
	struct tb_walk walk;
	const struct tb_ring_index *ring;
	uint64_t left;
	uint64_t queue[STREAM_QUEUE];
	uint32_t first, count;
	bool     stalled;
	uint64_t resume;
	struct tb_held *held, **held_end, *open;
	struct tb_block header;
	uint64_t offset;
	struct tb_frame *frame;
	uint64_t opened;
	uint32_t current;
	uint32_t from;
	bool     switched;
	bool     tail_done;
	struct tb_gap lost;
	const struct tb_task *task;	/* of task_tid; saves a look-up */
	uint32_t task_tid;
	bool     task_known;
	struct tb_reader *reader;	/* of a writer; NULL: a ring */
};

/* The largest payload of an event that has a compact form */
#define TB_WIDEN_BYTES 128

enum cursor_way { WAY_NOT_YET = 0, WAY_EVENTS, WAY_BLOCKS, WAY_ELEMENTS };

/* What becomes of events of an id */
enum cursor_choice {
	CHOICE_SHOW = 0,
	CHOICE_PASS,		/* only who runs is taken from it */
	CHOICE_LEARN,		/* and what it tells of threads, when it is its turn */
};

struct tb_cursor {
	struct tb_trace *trace;
	const struct tb_recording *recording;
	enum cursor_way way;
	bool     begun;			/* the streams stand at their first events */
	struct stream **streams;	/* the durable one, rings by CPU, writers */
	size_t   nr_streams, room_streams;
	struct stream **heap;
	size_t   nr_heap, room_heap;
	struct tb_reader *readers;	/* NULL: no program has written */
	struct tb_user_room *room;
	struct tb_tasks tasks;
	unsigned char *chosen;		/* enum cursor_choice, by event id; NULL: all are shown */
	bool     no_tasks;		/* threads are not followed */
	uint64_t until;			/* all that is wanted is earlier */
	struct tb_passed passed;
	struct tb_line line;
	uint64_t uncommitted;
	bool     faulty;
	struct tb_error fault;
	/* by format index: who runs next; in simple events, who runs now */
	const struct tb_format_field **next_pid;
	const struct tb_format_field **own_tid;
	struct tb_widen **widen;	/* NULL: events of this format are shown as they are */
	size_t   nr_fields, room_next, room_own, room_widen;	/* formats they are known of */
	unsigned char payload[TB_WIDEN_BYTES];	/* of what was shown last */
	/* what of the file was looked at since it was last given back */
	uint64_t low, high, looked, forgotten;
	uint64_t leave_from, leave_to;	/* to be given back now; 0: nothing */
	struct tb_frame *leave_frame;	/* pinned for what was shown, until the next call */
	uint64_t from;		/* the time of the last seek, in ticks */
	/* raw */
	uint64_t raw_number, raw_next, raw_offset;
	struct tb_frame *raw_frame;
	struct tb_walk raw;
	/* followed: what has been shown */
	uint64_t last_ticks, last_ns;
	uint64_t late;
};

/* ---- stream.c ---- */

/* Move to the next thing this stream has to tell */
void tb_stream_advance(struct tb_cursor *cursor, struct stream *stream);
/* Before its first block */
void tb_stream_start(struct tb_cursor *cursor, struct stream *stream);
/* Before the first of its blocks that may have something of @ticks or later */
void tb_stream_seek(struct tb_cursor *cursor, struct stream *stream,
		    uint64_t ticks);
void tb_stream_claim(struct stream *stream, uint32_t tid);
bool tb_durable_flows(const struct tb_walk *walk);
void tb_cursor_damaged(struct tb_cursor *cursor, const struct tb_walk *walk,
		       uint64_t offset);
/* That much of the file is being looked at */
void tb_cursor_looks(struct tb_cursor *cursor, uint64_t offset, uint64_t bytes);
/* What was shown before is not looked at any more */
void tb_cursor_leave(struct tb_cursor *cursor);
/* Have the block at @offset in memory, by @pinned; false: it cannot be, which is noted */
bool tb_cursor_pin(struct tb_cursor *cursor, uint64_t offset, struct tb_frame **pinned);

/* ---- widen.c ---- */

struct tb_widen;

int tb_widen_make(const struct tb_format *compact, const struct tb_format *wide,
		  struct tb_widen **out);
const struct tb_format *tb_widen_format(const struct tb_widen *widen);
bool tb_widen_names(const struct tb_widen *widen);
void tb_widen_view(const struct tb_widen *widen, const struct tb_tasks *tasks,
		   struct tb_view *view, unsigned char *payload);

/* ---- cursor.c ---- */

int tb_cursor_add_stream(struct tb_cursor *cursor, uint32_t cpu,
			 const struct tb_ring_index *ring,
			 struct stream **stream);
/* Who runs, from an event that is not shown */
void tb_cursor_pass(struct tb_cursor *cursor, struct stream *stream);
/* It has something again */
void tb_cursor_queue(struct tb_cursor *cursor, struct stream *stream);
/* The state dump, as far as it is in this block */
int tb_cursor_dump(struct tb_cursor *cursor, const struct tb_block *block);

#endif /* TB_CURSOR_H */
