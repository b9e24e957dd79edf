// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cursor: all events of a recording in time order.
 *
 * Every ring, and the durable buffer, is a stream that stands at its next
 * event; a heap of streams, ordered by time and CPU, says whose turn it is.
 * Within a stream the order is that of the ring, whatever the times say.
 *
 * Whose is a simple event?  A ring knows the thread that runs on its CPU: it
 * is told by the header of every block, by each composite event, and by
 * sched_switch.  The tracepoint sits a little before the switch itself, so
 * that what still comes from the old thread after it is not taken as a
 * switch back: only another sched_switch, or a gap, can bring it back.
 *
 * What one writer of a program has written is a stream, too: user_read.c goes
 * through it.
 *
 * Nothing is allocated per event; the table of threads grows now and then.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "user.h"

enum stream_pending {
	PENDING_NONE = 0,	/* the stream has ended */
	PENDING_EVENT,
	PENDING_LOST,		/* a gap before the block just opened */
	PENDING_TAIL,		/* losses after the last block */
	PENDING_USER,		/* a record of a program, or a loss of some */
};

struct stream {
	uint64_t ticks;			/* of what is pending */
	uint32_t order;			/* breaks ties */
	uint32_t cpu;
	enum stream_pending pending;
	struct tb_walk walk;
	const struct tb_ring_index *ring;
	size_t   next;			/* block after the current one */
	uint32_t current;		/* the thread that runs */
	uint32_t left;			/* the thread last switched from */
	bool     switched;
	bool     tail_done;
	uint64_t offset;		/* of the current block in the file */
	struct tb_gap lost;
	const struct tb_task *task;	/* of task_tid; saves a look-up */
	uint32_t task_tid;
	bool     task_known;
	struct tb_reader *reader;	/* of a writer; NULL: a ring */
};

struct tb_cursor {
	struct tb_trace *trace;
	const struct tb_recording *recording;
	struct stream *streams;
	size_t   nr_streams;
	struct stream **heap;
	size_t   nr_heap;
	struct tb_reader *readers;	/* NULL: no program has written */
	struct tb_user_room *room;
	struct tb_tasks tasks;
	size_t   tasks_seen;		/* tasks.used when look-ups were saved */
	struct tb_line line;
	uint64_t uncommitted;
	bool     faulty;
	struct tb_error fault;
	/* by format index: who runs next; in fast forms, who runs now */
	const struct tb_format_field **next_pid;
	const struct tb_format_field **own_tid;
};

/* ---- streams ---- */

static void stream_claim(struct stream *stream, uint32_t tid)
{
	if (!stream->switched || tid != stream->left)
		stream->current = tid;
}

static void cursor_fault(struct tb_cursor *cursor, const struct stream *stream)
{
	if (cursor->faulty)
		return;
	cursor->faulty = true;
	if (stream->cpu == TB_RING_DURABLE)
		tb_error_set(&cursor->fault, -EBADMSG, stream->offset +
			     (uint64_t)stream->walk.index * TB_ELEMENT_SIZE,
			     "durable block %" PRIu64 ": %s",
			     (uint64_t)stream->walk.block->sequence,
			     stream->walk.wrong);
	else
		tb_error_set(&cursor->fault, -EBADMSG, stream->offset +
			     (uint64_t)stream->walk.index * TB_ELEMENT_SIZE,
			     "CPU %" PRIu32 ", block %" PRIu64 ": %s",
			     stream->cpu,
			     (uint64_t)stream->walk.block->sequence,
			     stream->walk.wrong);
}

/* Events of the durable buffer that belong to the flow of time */
static bool durable_flows(const struct tb_walk *walk)
{
	switch (walk->id) {
	case TB_EV_INIT:
	case TB_EV_EVENT:
	case TB_EV_TOTALS:
	case TB_EV_STRING:
	case TB_EV_SUPPRESSED:
		return false;
	case TB_EV_THREAD:
		return walk->bytes >= sizeof(struct tb_thread) &&
		       !(((const struct tb_thread *)walk->payload)->flags &
			 TB_THREAD_DUMP);
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

/* What the totals know beyond the last block */
static bool stream_tail(struct tb_cursor *cursor, struct stream *stream)
{
	const struct tb_totals *totals;
	const struct tb_block *last;

	if (stream->tail_done || stream->cpu == TB_RING_DURABLE)
		return false;
	stream->tail_done = true;
	totals = tb_trace_totals(cursor->trace, stream->cpu);
	if (!totals || !stream->ring->count)
		return false;
	last = tb_block_at(cursor->trace,
			   stream->ring->blocks[stream->ring->count - 1]);
	memset(&stream->lost, 0, sizeof(stream->lost));
	if (totals->overwritten > last->overwritten)
		stream->lost.overwritten = totals->overwritten - last->overwritten;
	if (totals->dropped > last->dropped)
		stream->lost.dropped = totals->dropped - last->dropped;
	if (!stream->lost.overwritten && !stream->lost.dropped)
		return false;
	stream->lost.first = last->time_start;
	stream->lost.last = last->time_end;
	stream->ticks = last->time_end;
	return true;
}

static bool stream_open_block(struct tb_cursor *cursor, struct stream *stream)
{
	const struct tb_block *block;
	uint32_t index;

	if (stream->next >= stream->ring->count)
		return false;
	index = stream->ring->blocks[stream->next++];
	block = tb_block_at(cursor->trace, index);
	stream->offset = cursor->trace->blocks[index].offset;
	tb_walk_start(&stream->walk, block);
	stream_claim(stream, block->tid);
	return true;
}

/* Move to the next thing this stream has to tell */
static void stream_advance(struct tb_cursor *cursor, struct stream *stream)
{
	struct tb_walk *walk = &stream->walk;

	if (stream->reader) {
		stream->pending = tb_reader_next(stream->reader, &stream->ticks) ?
				  PENDING_USER : PENDING_NONE;
		return;
	}
	for (;;) {
		int step = walk->block ? tb_walk_next(walk) : 0;

		if (step == 1) {
			stream->ticks = walk->ticks;
			if (walk->id > TB_EV_STRUCTURAL_LAST) {
				if (stream->cpu == TB_RING_DURABLE &&
				    !durable_flows(walk))
					continue;
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
				cursor_fault(cursor, stream);
			if (stream_open_block(cursor, stream))
				continue;
			stream->pending = stream_tail(cursor, stream) ?
					  PENDING_TAIL : PENDING_NONE;
			return;
		}
	}
}

/* ---- heap ---- */

static bool earlier(const struct stream *a, const struct stream *b)
{
	return a->ticks < b->ticks ||
	       (a->ticks == b->ticks && a->order < b->order);
}

static void heap_down(struct tb_cursor *cursor, size_t at)
{
	struct stream **heap = cursor->heap;
	struct stream *moving = heap[at];
	size_t child;

	while ((child = 2 * at + 1) < cursor->nr_heap) {
		if (child + 1 < cursor->nr_heap &&
		    earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

/* ---- the cursor ---- */

/*
 * The state may be dumped again while a recording goes on. What a thread was called at first
 * is in the first dump it is in; its changes are told of when they happen.
 */
static bool dumped_before(const struct tb_cursor *cursor,
			  const struct tb_walk *walk)
{
	const struct tb_thread *thread = walk->payload;

	return walk->bytes >= sizeof(*thread) &&
	       tb_tasks_find(&cursor->tasks, thread->tid);
}

static int cursor_dump(struct tb_cursor *cursor)
{
	const struct tb_ring_index *ring = &cursor->recording->durable;
	struct tb_walk walk;
	size_t i;
	int step;

	for (i = 0; i < ring->count; i++) {
		tb_walk_start(&walk, tb_block_at(cursor->trace, ring->blocks[i]));
		while ((step = tb_walk_next(&walk)) != 0) {
			if (step != 1) {
				if (step == -EAGAIN)
					continue;
				break;
			}
			if (walk.id == TB_EV_THREAD && !durable_flows(&walk) &&
			    !dumped_before(cursor, &walk) &&
			    tb_tasks_thread(&cursor->tasks, walk.payload,
					    walk.bytes))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Streams from number @first on are those of writers */
static int cursor_readers(struct tb_cursor *cursor, size_t first)
{
	const struct tb_recording *recording = cursor->recording;
	const struct tb_users *users = recording->users;
	size_t i;

	if (!users || !users->nr_sequences)
		return 0;
	cursor->readers = calloc(users->nr_sequences, sizeof(*cursor->readers));
	cursor->room = malloc(sizeof(*cursor->room));
	if (!cursor->readers || !cursor->room)
		return -ENOMEM;
	for (i = 0; i < users->nr_sequences; i++) {
		tb_reader_start(&cursor->readers[i], cursor->trace, recording,
				&users->sequences[i]);
		cursor->streams[first + i].reader = &cursor->readers[i];
		cursor->streams[first + i].cpu = TB_RING_USER;
	}
	return 0;
}

static int cursor_prepare(struct tb_cursor *cursor)
{
	const struct tb_recording *recording = cursor->recording;
	size_t nr_rings = recording->nr_rings + 1;
	struct stream *stream;
	size_t i;

	cursor->nr_streams = nr_rings;
	if (recording->users)
		cursor->nr_streams += recording->users->nr_sequences;
	cursor->streams = calloc(cursor->nr_streams, sizeof(*cursor->streams));
	cursor->heap = calloc(cursor->nr_streams, sizeof(*cursor->heap));
	cursor->next_pid = calloc(recording->nr_formats + 1,
				  sizeof(*cursor->next_pid));
	cursor->own_tid = calloc(recording->nr_formats + 1,
				 sizeof(*cursor->own_tid));
	if (!cursor->streams || !cursor->heap || !cursor->next_pid ||
	    !cursor->own_tid || cursor_dump(cursor) ||
	    cursor_readers(cursor, nr_rings))
		return -ENOMEM;
	for (i = 0; i < recording->nr_formats; i++) {
		if (recording->formats[i]->flags & TB_EVENT_FAST)
			cursor->own_tid[i] =
				tb_format_field(recording->formats[i], "tid");
		if (recording->formats[i]->known == TB_KNOWN_SWITCH)
			cursor->next_pid[i] =
				tb_format_field(recording->formats[i], "next_pid");
	}
	for (i = 0; i < cursor->nr_streams; i++) {
		stream = &cursor->streams[i];
		if (i < nr_rings) {
			stream->ring = i ? &recording->rings[i - 1] :
				       &recording->durable;
			stream->cpu = i ? stream->ring->cpu : TB_RING_DURABLE;
		}
		stream->order = (uint32_t)i;
		stream_advance(cursor, stream);
		if (stream->pending != PENDING_NONE)
			cursor->heap[cursor->nr_heap++] = stream;
	}
	for (i = cursor->nr_heap / 2; i-- > 0; )
		heap_down(cursor, i);
	return 0;
}

int tb_cursor_open(struct tb_trace *trace, struct tb_cursor **out)
{
	struct tb_cursor *cursor;
	int result;

	*out = NULL;
	cursor = calloc(1, sizeof(*cursor));
	if (!cursor)
		return -ENOMEM;
	cursor->trace = trace;
	cursor->recording = trace->selected;
	cursor->line.from = 1;		/* fits no time: looked up at once */
	result = cursor_prepare(cursor);
	if (result < 0)
		tb_cursor_close(cursor);
	else
		*out = cursor;
	return result;
}

void tb_cursor_close(struct tb_cursor *cursor)
{
	if (!cursor)
		return;
	tb_tasks_free(&cursor->tasks);
	free(cursor->streams);
	free(cursor->readers);
	free(cursor->room);
	free(cursor->heap);
	free(cursor->next_pid);
	free(cursor->own_tid);
	free(cursor);
}

static void view_task(struct tb_cursor *cursor, struct stream *stream,
		      struct tb_view *view)
{
	if (view->tid == 0) {
		view->task = NULL;
		view->comm = "<idle>";
		return;
	}
	if (!stream->task_known || stream->task_tid != view->tid ||
	    !stream->task) {
		stream->task = tb_tasks_find(&cursor->tasks, view->tid);
		stream->task_tid = view->tid;
		stream->task_known = true;
	}
	view->task = stream->task;
	view->comm = view->task && view->task->comm[0] ? view->task->comm :
		     "<...>";
}

static void view_event(struct tb_cursor *cursor, struct stream *stream,
		       struct tb_view *view)
{
	const struct tb_walk *walk = &stream->walk;
	const struct tb_recording *recording = cursor->recording;

	view->kind = TB_VIEW_EVENT;
	view->id = walk->id;
	view->structure = walk->structure;
	view->context = walk->context;
	view->length = walk->bytes;
	view->payload = walk->payload;
	view->offset = stream->offset + (uint64_t)walk->index * TB_ELEMENT_SIZE;
	view->format = recording->by_id && recording->by_id[walk->id] ?
		       recording->formats[recording->by_id[walk->id] - 1] : NULL;
	view->nr_stack = view->nr_user_stack = view->counter_mask = 0;
	if (tb_walk_has_extras(walk))
		tb_view_extras(walk, view);
	if (walk->structure == TB_STRUCT_COMPOSITE) {
		view->tid = walk->tid;
		stream_claim(stream, walk->tid);
	} else {
		const struct tb_format_field *field = view->format ?
			cursor->own_tid[view->format->index] : NULL;
		uint64_t tid;

		if (field && !tb_field_u64(view, field, &tid))
			stream->current = (uint32_t)tid;
		view->tid = stream->current;
	}
}

static void view_lost(struct stream *stream, struct tb_view *view)
{
	view->kind = TB_VIEW_LOST;
	view->id = TB_EV_GAP;
	view->structure = 0;
	view->context = 0;
	view->length = 0;
	view->payload = NULL;
	view->format = NULL;
	view->offset = stream->offset;
	view->tid = stream->current;
	view->lost = stream->lost;
	view->nr_stack = view->nr_user_stack = view->counter_mask = 0;
}

/* Take from the event what later ones are shown with */
static int cursor_learn(struct tb_cursor *cursor, struct stream *stream,
			const struct tb_view *view)
{
	const struct tb_format_field *field;
	uint64_t next;

	if (view->id == TB_EV_THREAD)
		return tb_tasks_thread(&cursor->tasks, view->payload,
				       view->length);
	if (!view->format || view->format->known == TB_KNOWN_NONE)
		return 0;
	if (view->format->known == TB_KNOWN_SWITCH) {
		field = cursor->next_pid[view->format->index];
		if (field && !tb_field_u64(view, field, &next)) {
			stream->left = view->tid;
			stream->switched = true;
			stream->current = (uint32_t)next;
		}
	}
	return tb_tasks_learn(&cursor->tasks, view);
}

int tb_cursor_next(struct tb_cursor *cursor, struct tb_view *view)
{
	struct stream *stream;
	int result = 0;

	if (!cursor->nr_heap)
		return 0;
	stream = cursor->heap[0];
	if (stream->reader) {
		tb_reader_view(stream->reader, stream->ticks, cursor->room, view);
	} else {
		view->cpu = stream->cpu;
		view->sequence = stream->walk.block->sequence;
		view->user = NULL;
	}
	view->ticks = stream->ticks;
	if (view->ticks < cursor->line.from || view->ticks >= cursor->line.to)
		tb_clock_line(cursor->recording, view->ticks,
			      TB_TIME_MONOTONIC, &cursor->line);
	view->ns = tb_line_ns(&cursor->line, view->ticks);
	if (stream->pending == PENDING_EVENT)
		view_event(cursor, stream, view);
	else if (stream->pending != PENDING_USER)
		view_lost(stream, view);
	/*
	 * A new task's event names it; the names of the event's own thread
	 * are those before it, as in the kernel.
	 */
	view_task(cursor, stream, view);
	if (stream->pending == PENDING_EVENT)
		result = cursor_learn(cursor, stream, view);

	stream_advance(cursor, stream);
	if (stream->pending == PENDING_NONE) {
		cursor->heap[0] = cursor->heap[--cursor->nr_heap];
		if (!cursor->nr_heap)
			return result < 0 ? result : 1;
	}
	heap_down(cursor, 0);
	return result < 0 ? result : 1;
}

const struct tb_error *tb_cursor_fault(const struct tb_cursor *cursor)
{
	return cursor->faulty ? &cursor->fault : NULL;
}

uint64_t tb_cursor_uncommitted(const struct tb_cursor *cursor)
{
	return cursor->uncommitted;
}

const struct tb_task *tb_cursor_task(const struct tb_cursor *cursor,
				     uint32_t tid)
{
	return tb_tasks_find(&cursor->tasks, tid);
}

int tb_cursor_each_task(const struct tb_cursor *cursor,
			int (*each)(const struct tb_task *task, void *context),
			void *context)
{
	size_t i;
	int result;

	for (i = 0; i < cursor->tasks.nr_slots; i++) {
		if (!cursor->tasks.slots[i])
			continue;
		result = each(cursor->tasks.slots[i], context);
		if (result)
			return result;
	}
	return 0;
}
