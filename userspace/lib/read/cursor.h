/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: the cursor, for the files that it consists of.
 *
 *	cursor.c	merges streams and shows the next event
 *	stream.c	a ring as a stream: its blocks one after another, and their events
 *	choice.c	shows only chosen events
 *	raw.c		returns blocks and elements unchanged
 *	widen.c		shows events of the compact form in the wide form
 *	follow.c	takes blocks in while the trace is written; follow_source.c gets them
 */
#ifndef TB_CURSOR_H
#define TB_CURSOR_H

#include "user.h"

enum stream_pending {
	PENDING_NONE = 0,	/* nothing, or nothing yet */
	PENDING_EVENT,
	PENDING_LOST,		/* a gap before the block that was opened last */
	PENDING_TAIL,		/* losses after the last block */
	PENDING_USER,		/* a record of a program, or a loss of records */
};

#define STREAM_QUEUE 32

/**
 * struct stream - the cursor's place in a ring, or in what one writer has written
 * @ticks: time of what is pending
 * @order: breaks ties of @ticks
 * @queued: the stream is in the heap
 * @left: number of blocks of the ring that were not opened yet, including those of @queue
 * @queue: places of the next blocks
 * @stalled: @queue is full
 * @resume: place in the file from which cursor_look() continues
 * @held, @open: of a followed trace: blocks that have arrived, and the opened one
 * @first_seen, @end_seen: blocks with these numbers have arrived already, @end_seen excluded
 * @header: header of the block that was opened last
 * @offset: its place in the file
 * @frame: the pinned frame that has it
 * @opened: cursor->forgotten when it was opened
 * @current: the running thread
 * @from: the thread last switched from, if @switched
 */
struct stream {
	uint64_t ticks;
	uint32_t order;
	uint32_t cpu;
	enum stream_pending pending;
	bool     queued;
	bool     shut;			/* tb_cursor_choose() excludes it */
	struct tb_walk walk;
	const struct tb_ring_index *ring;
	uint64_t left;
	uint64_t queue[STREAM_QUEUE];
	uint32_t first, count;
	bool     stalled;
	uint64_t resume;
	struct tb_held *held, **held_end, *open;
	uint64_t first_seen, end_seen;
	struct tb_block header;
	uint64_t offset;
	struct tb_frame *frame;
	uint64_t opened;
	uint32_t current;
	uint32_t from;
	bool     switched;
	bool     tail_done;
	struct tb_gap lost;
	const struct tb_task *task;	/* the task of task_tid: saves a look-up */
	uint32_t task_tid;
	bool     task_known;
	struct tb_reader *reader;	/* of a writer; NULL: the stream is a ring */
};

/* The largest payload of an event that has a compact form */
#define TB_WIDEN_BYTES 128

enum cursor_way { WAY_NOT_YET = 0, WAY_EVENTS, WAY_BLOCKS, WAY_ELEMENTS };

/* What the cursor does with events of an id */
enum cursor_choice {
	CHOICE_SHOW = 0,
	CHOICE_PASS,		/* take the running thread from it, at once */
	CHOICE_LEARN,		/* learn all it tells of threads, when its time comes */
};

struct tb_cursor {
	struct tb_trace *trace;
	const struct tb_recording *recording;
	enum cursor_way way;
	bool     begun;			/* all streams stand at their first events */
	struct stream **streams;	/* of the durable buffer, rings by CPU, writers */
	size_t   nr_streams, room_streams;
	struct stream **heap;
	size_t   nr_heap, room_heap;
	struct tb_reader *readers;	/* NULL: no program has written */
	struct tb_user_room *room;
	struct tb_tasks tasks;
	unsigned char *chosen;		/* enum cursor_choice, by event id; NULL: show all */
	bool     no_tasks;		/* do not track threads */
	uint64_t until;			/* show only what is earlier */
	struct tb_passed passed;
	struct tb_line line;
	uint64_t uncommitted;
	bool     no_memory;		/* what follows is not known: -ENOMEM until a seek succeeds */
	bool     faulty;
	struct tb_error fault;
	/* by format index: field with the next thread; in simple events, with the running one */
	const struct tb_format_field **next_pid;
	const struct tb_format_field **own_tid;
	struct tb_widen **widen;	/* by format index; NULL: show the event as it is */
	size_t   nr_fields, room_next, room_own, room_widen;	/* formats in these arrays */
	unsigned char payload[TB_WIDEN_BYTES];	/* payload of the last view, if widened */
	/* range of the file read since pages were given back, its bytes; how often they were */
	uint64_t low, high, looked, forgotten;
	uint64_t leave_from, leave_to;	/* range to give back at the next call; leave_to 0: none */
	struct tb_frame *leave_frame;	/* pinned for the last view, until the next call */
	uint64_t from;		/* the time of the last seek, in ticks */
	/* raw */
	uint64_t raw_number, raw_next, raw_offset;
	struct tb_frame *raw_frame;
	struct tb_walk raw;
	/* of a followed trace: times of the last view, and the number of late ones */
	uint64_t last_ticks, last_ns;
	uint64_t late;
};

/* ---- stream.c ---- */

/* Move to the next event or loss of this stream */
void tb_stream_advance(struct tb_cursor *cursor, struct stream *stream);
/* Move to before its first block */
void tb_stream_start(struct tb_cursor *cursor, struct stream *stream);
/* Move to before the first of its blocks that may have an event at @ticks or later */
void tb_stream_seek(struct tb_cursor *cursor, struct stream *stream,
		    uint64_t ticks);
void tb_stream_claim(struct stream *stream, uint32_t tid);
bool tb_durable_flows(const struct tb_walk *walk);
void tb_cursor_damaged(struct tb_cursor *cursor, const struct tb_walk *walk,
		       uint64_t offset);
/* Note that the cursor reads these bytes of the file */
void tb_cursor_looks(struct tb_cursor *cursor, uint64_t offset, uint64_t bytes);
/* Give back memory of the file that only the last view needed */
void tb_cursor_leave(struct tb_cursor *cursor);
/* Pin the frame of the block at @offset as @pinned; false: it cannot be, and is the fault */
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
/* Take the running thread from an event that is not shown */
void tb_cursor_pass(struct tb_cursor *cursor, struct stream *stream);
/* Put a stream that has something pending into the heap */
void tb_cursor_queue(struct tb_cursor *cursor, struct stream *stream);
/* Apply the records of the state dump that are in this block */
int tb_cursor_dump(struct tb_cursor *cursor, const struct tb_block *block);

#endif /* TB_CURSOR_H */
