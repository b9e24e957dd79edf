// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cursor: all events of a recording in time order.
 *
 * Each ring, the durable buffer, and each writer of a program (user_read.c) is a stream.  A stream
 * (stream.c) stands at its next event.  A heap orders the streams by time and CPU; the cursor
 * shows the event of the first one.  Within a stream the order is that of the ring, whatever the
 * times are.
 *
 * In a followed trace (follow.c) streams run dry and get events again; the cursor shows an event
 * when no earlier one can arrive.  It allocates nothing per event; the thread table grows at times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cursor.h"
#include "follow.h"

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

static void heap_up(struct tb_cursor *cursor, size_t at)
{
	struct stream **heap = cursor->heap;
	struct stream *moving = heap[at];

	while (at && earlier(moving, heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = moving;
}

void tb_cursor_queue(struct tb_cursor *cursor, struct stream *stream)
{
	if (stream->queued || stream->pending == PENDING_NONE)
		return;
	stream->queued = true;
	cursor->heap[cursor->nr_heap++] = stream;
	heap_up(cursor, cursor->nr_heap - 1);
}

/* ---- the cursor ---- */

/* True for a TB_EV_THREAD of a state dump: the cursor applies it but never shows it */
static bool is_dump(uint16_t id, const void *payload, size_t bytes)
{
	const struct tb_thread *thread = payload;

	return id == TB_EV_THREAD && bytes >= sizeof(*thread) && thread->flags & TB_THREAD_DUMP;
}

/*
 * The recorder may dump the state again.  The first dump that has a thread gives its first name; a
 * later dump replaces names lost in between, when the cursor reaches its time.
 */
static bool dumped_before(const struct tb_cursor *cursor,
			  const struct tb_walk *walk)
{
	const struct tb_thread *thread = walk->payload;

	return tb_tasks_find(&cursor->tasks, thread->tid);
}

int tb_cursor_dump(struct tb_cursor *cursor, const struct tb_block *block)
{
	struct tb_walk walk;
	int step;

	tb_walk_trace(&walk, cursor->trace, block);
	while ((step = tb_walk_next(&walk)) != 0) {
		if (step == -EAGAIN)
			continue;
		if (step < 0)
			break;
		if (is_dump(walk.id, walk.payload, walk.bytes) &&
		    !dumped_before(cursor, &walk) &&
		    tb_tasks_thread(&cursor->tasks, walk.payload, walk.bytes))
			return -ENOMEM;
	}
	return 0;
}

static int cursor_dumps(struct tb_cursor *cursor)
{
	const struct tb_ring_index *ring = &cursor->recording->durable;
	size_t i;

	for (i = 0; i < ring->nr_all; i++)
		if (tb_cursor_dump(cursor, tb_block_at(cursor->trace,
						       ring->all[i])))
			return -ENOMEM;
	return 0;
}

int tb_cursor_add_stream(struct tb_cursor *cursor, uint32_t cpu,
			 const struct tb_ring_index *ring, struct stream **out)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream || tb_array_grow(&cursor->streams, &cursor->room_streams,
				     cursor->nr_streams, sizeof(stream)) ||
	    tb_array_grow(&cursor->heap, &cursor->room_heap, cursor->nr_streams,
			  sizeof(stream))) {
		free(stream);
		return -ENOMEM;
	}
	stream->cpu = cpu;
	stream->order = cpu == TB_RING_DURABLE ? 0 : cpu == TB_RING_USER ?
			(1u << 16) + (uint32_t)cursor->nr_streams : 1 + cpu;
	stream->ring = ring;
	stream->held_end = &stream->held;
	cursor->streams[cursor->nr_streams++] = stream;
	if (out)
		*out = stream;
	return 0;
}

static int cursor_readers(struct tb_cursor *cursor)
{
	const struct tb_users *users = cursor->recording->users;
	struct stream *stream;
	size_t i;

	if (!users || !users->nr_sequences)
		return 0;
	cursor->readers = calloc(users->nr_sequences, sizeof(*cursor->readers));
	cursor->room = malloc(sizeof(*cursor->room));
	if (!cursor->readers || !cursor->room)
		return -ENOMEM;
	for (i = 0; i < users->nr_sequences; i++) {
		if (tb_cursor_add_stream(cursor, TB_RING_USER, NULL, &stream))
			return -ENOMEM;
		stream->reader = &cursor->readers[i];
	}
	return 0;
}

static const struct tb_format *format_of(const struct tb_recording *recording, uint32_t id)
{
	uint16_t at = recording->by_id ? recording->by_id[id] : 0;

	return at ? recording->formats[at - 1] : NULL;
}

/* Look up, in formats that are new since the last call, the fields that tell the running thread */
static int cursor_fields(struct tb_cursor *cursor)
{
	const struct tb_recording *recording = cursor->recording;
	const struct tb_format *format;
	size_t i;

	for (i = cursor->nr_fields; i < recording->nr_formats; i++) {
		if (tb_array_grow(&cursor->next_pid, &cursor->room_next, i,
				  sizeof(*cursor->next_pid)) ||
		    tb_array_grow(&cursor->own_tid, &cursor->room_own, i,
				  sizeof(*cursor->own_tid)) ||
		    tb_array_grow(&cursor->widen, &cursor->room_widen, i,
				  sizeof(*cursor->widen)))
			return -ENOMEM;
		format = recording->formats[i];
		cursor->own_tid[i] = format->flags & TB_EVENT_SIMPLE &&
				     format->known == TB_KNOWN_SWITCH ? format->telling[0] : NULL;
		if (tb_widen_make(format, format_of(recording, format->id ^ 1u), &cursor->widen[i]))
			return -ENOMEM;
		cursor->next_pid[i] = format->known == TB_KNOWN_SWITCH ?
				      tb_format_field(format, "next_pid") : NULL;
		cursor->nr_fields = i + 1;
	}
	return 0;
}

/* Add streams of CPUs that have no blocks, but losses according to the totals */
static int cursor_tails(struct tb_cursor *cursor)
{
	static const struct tb_ring_index none;
	const struct tb_recording *recording = cursor->recording;
	struct tb_block block = { .kind = TB_BLOCK_ROLLING };
	struct tb_gap lost;
	uint64_t ticks;
	uint32_t cpu;
	size_t i;

	for (i = 0; i < recording->nr_totals; i++) {
		cpu = recording->totals[i].cpu;
		block.cpu = (uint16_t)cpu;
		/* a CPU may have totals of the stop and of a snapshot */
		if (recording->totals[i].flags & TB_TOTALS_SNAPSHOT &&
		    tb_trace_totals(cursor->trace, cpu))
			continue;
		if (!tb_index_ring(recording, &block) &&
		    tb_trace_tail(cursor->trace, cpu, NULL, &lost, &ticks) &&
		    tb_cursor_add_stream(cursor, cpu, &none, NULL))
			return -ENOMEM;
	}
	return 0;
}

static int cursor_prepare(struct tb_cursor *cursor)
{
	const struct tb_recording *recording = cursor->recording;
	size_t i;

	if (tb_cursor_add_stream(cursor, TB_RING_DURABLE, &recording->durable,
				 NULL))
		return -ENOMEM;
	for (i = 0; i < recording->nr_rings; i++)
		if (tb_cursor_add_stream(cursor, recording->rings[i].cpu,
					 &recording->rings[i], NULL))
			return -ENOMEM;
	if (cursor_tails(cursor) || cursor_readers(cursor) || cursor_fields(cursor))
		return -ENOMEM;
	return cursor_dumps(cursor);
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
	cursor->line.from = 1;		/* valid for no time: view_ns() looks it up */
	result = trace->follow ? tb_follow_attach(trace->follow, cursor) :
		 cursor_prepare(cursor);
	if (result < 0)
		tb_cursor_close(cursor);
	else
		*out = cursor;
	return result;
}

void tb_cursor_close(struct tb_cursor *cursor)
{
	size_t i;

	if (!cursor)
		return;
	if (cursor->trace->follow)
		tb_follow_detach(cursor->trace->follow, cursor);
	tb_tasks_free(&cursor->tasks);
	tb_unpin(cursor->trace, &cursor->raw_frame);
	tb_unpin(cursor->trace, &cursor->leave_frame);
	for (i = 0; i < cursor->nr_streams; i++) {
		tb_unpin(cursor->trace, &cursor->streams[i]->frame);
		free(cursor->streams[i]);
	}
	free(cursor->streams);
	free(cursor->readers);
	free(cursor->room);
	free(cursor->heap);
	for (i = 0; i < cursor->nr_fields; i++)
		free(cursor->widen[i]);
	free(cursor->widen);
	free(cursor->next_pid);
	free(cursor->own_tid);
	free(cursor->chosen);
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
	view->compact = 0;
	view->context = walk->context;
	view->length = walk->bytes;
	view->payload = walk->payload;
	view->offset = stream->offset + (uint64_t)walk->index * TB_ELEMENT_SIZE;
	view->format = format_of(recording, walk->id);
	view->nr_stack = view->nr_user_stack = view->counter_mask = 0;
	if (tb_walk_has_extras(walk))
		tb_view_extras(walk, view);
	if (walk->structure == TB_STRUCT_COMPOSITE) {
		view->tid = walk->tid;
		tb_stream_claim(stream, walk->tid);
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
	view->structure = view->compact = 0;
	view->context = 0;
	view->length = 0;
	view->payload = NULL;
	view->format = NULL;
	view->offset = stream->offset;
	view->tid = stream->current;
	view->lost = stream->lost;
	view->nr_stack = view->nr_user_stack = view->counter_mask = 0;
}

/* Learn from the event what views of later events need */
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
			stream->from = view->tid;
			stream->switched = true;
			stream->current = (uint32_t)next;
		}
	}
	return cursor->no_tasks ? 0 : tb_tasks_learn(&cursor->tasks, view);
}

/* Fill in @view from what is pending, except times and the thread's name */
static void view_pending(struct tb_cursor *cursor, struct stream *stream,
			 struct tb_view *view)
{
	if (stream->reader) {
		tb_reader_view(stream->reader, stream->ticks, cursor->room, view);
		return;
	}
	view->cpu = stream->cpu;
	view->sequence = stream->header.sequence;
	view->user = NULL;
	if (stream->pending == PENDING_EVENT)
		view_event(cursor, stream, view);
	else
		view_lost(stream, view);
}

/* ---- steps ---- */

static uint64_t view_ns(struct tb_cursor *cursor, const struct stream *stream)
{
	uint64_t ticks = stream->ticks, ns;

	if (ticks < cursor->line.from || ticks >= cursor->line.to)
		tb_clock_line(cursor->recording, ticks, TB_TIME_MONOTONIC,
			      &cursor->line);
	ns = tb_line_ns(&cursor->line, ticks);
	if (!cursor->trace->follow)
		return ns;
	/* a new clock record may change the line: do not let time go backwards */
	if (ticks >= cursor->last_ticks && ns < cursor->last_ns)
		ns = cursor->last_ns;
	if (ticks >= cursor->last_ticks)
		cursor->last_ticks = ticks;
	else if (stream->pending != PENDING_TAIL)	/* the cursor just learned of that loss */
		cursor->late++;
	cursor->last_ns = ns;
	return ns;
}

/* Fill in @view from the first stream, and advance it.  Return: 1 show the view; 0 skip it */
static int cursor_step(struct tb_cursor *cursor, struct tb_view *view)
{
	struct stream *stream = cursor->heap[0];
	int result = 0;
	bool hidden;

	view_pending(cursor, stream, view);
	/* In a damaged block an earlier element can follow one that is later than a seek's time. */
	hidden = stream->ticks < cursor->from ||
		 (stream->pending == PENDING_EVENT &&
		  ((cursor->chosen && cursor->chosen[view->id] != CHOICE_SHOW) ||
		   (stream->cpu == TB_RING_DURABLE &&
		    is_dump(view->id, view->payload, view->length))));
	view->ticks = stream->ticks;
	if (!hidden) {
		view->ns = view_ns(cursor, stream);
		/*
		 * Before cursor_learn(): an event that renames its own thread is shown with the
		 * old name, as in the kernel.
		 */
		view_task(cursor, stream, view);
	}
	if (stream->pending == PENDING_EVENT) {
		result = cursor_learn(cursor, stream, view);
		/* after cursor_learn(): the wide form gets names from the table, it teaches none */
		if (!hidden && view->format && cursor->widen[view->format->index])
			tb_widen_view(cursor->widen[view->format->index], &cursor->tasks, view,
				      cursor->payload);
	}

	tb_stream_advance(cursor, stream);
	if (stream->pending == PENDING_NONE) {
		stream->queued = false;
		cursor->heap[0] = cursor->heap[--cursor->nr_heap];
	}
	if (cursor->nr_heap)
		heap_down(cursor, 0);
	return result < 0 ? result : !hidden;
}

/* ---- seeking ---- */

/*
 * Start all streams at the last block that may begin before @ticks, and skip events before @ticks.
 * Skip them in the order of their times: a name in a later event must replace one in an earlier
 * event.
 */
static int cursor_begin(struct tb_cursor *cursor, uint64_t ticks)
{
	struct stream *stream;
	struct tb_view view;
	int result = 0;
	size_t i;

	cursor->begun = true;
	cursor->nr_heap = 0;
	for (i = 0; i < cursor->nr_streams; i++) {
		stream = cursor->streams[i];
		stream->queued = false;
		tb_stream_start(cursor, stream);
		stream->pending = PENDING_NONE;
		if (stream->shut)
			continue;
		if (stream->reader)
			tb_reader_start(stream->reader, cursor->trace,
					cursor->recording,
					&cursor->recording->users->sequences[
						stream->reader - cursor->readers]);
		else if (ticks && stream->cpu != TB_RING_DURABLE)
			tb_stream_seek(cursor, stream, ticks);
		tb_stream_advance(cursor, stream);
		tb_cursor_queue(cursor, stream);
	}
	while (!result && cursor->nr_heap && cursor->heap[0]->ticks < ticks) {
		result = cursor_step(cursor, &view);
		tb_cursor_leave(cursor);
	}
	return result;
}

int tb_cursor_seek(struct tb_cursor *cursor, uint64_t ticks)
{
	int result;

	if (cursor->trace->follow)
		return -ESPIPE;
	cursor->no_memory = false;
	cursor->raw_number = cursor->raw_next = 0;
	cursor->raw.block = NULL;
	cursor->from = ticks;
	if (cursor->way == WAY_BLOCKS || cursor->way == WAY_ELEMENTS)
		return 0;
	tb_tasks_free(&cursor->tasks);
	result = cursor_dumps(cursor);
	if (!result)
		result = cursor_begin(cursor, ticks);
	if (result)
		cursor->no_memory = true;
	return cursor->no_memory ? -ENOMEM : 0;
}

/* The first fault in what the cursor has read; NULL: none */
static const struct tb_error *cursor_wrong(const struct tb_cursor *cursor)
{
	const struct tb_trace *trace = cursor->trace;

	if (cursor->faulty)
		return &cursor->fault;
	if (trace->follow)
		return trace->follow->broken ? tb_trace_fault(trace) : NULL;
	/* only the last recording of a file can break off */
	return tb_trace_selected(trace) + 1 == tb_trace_recordings(trace) ?
	       tb_trace_fault(trace) : NULL;
}

/* Return 0 if the cursor has read everything, else -EBADMSG */
static int cursor_end(const struct tb_cursor *cursor)
{
	return cursor_wrong(cursor) ? -EBADMSG : 0;
}

int tb_cursor_error(const struct tb_cursor *cursor, int result, struct tb_error *error)
{
	const struct tb_error *wrong = result == -EBADMSG ? cursor_wrong(cursor) : NULL;

	if (wrong)
		*error = *wrong;
	else if (result < 0)
		tb_error_set(error, result, TB_OFFSET_NONE, "%s", strerror(-result));
	else
		*error = (struct tb_error){ .code = 0, .offset = TB_OFFSET_NONE };
	return result;
}

int tb_cursor_next(struct tb_cursor *cursor, struct tb_view *view)
{
	int result = 0;

	tb_cursor_leave(cursor);
	if (cursor->way != WAY_EVENTS) {
		if (cursor->way != WAY_NOT_YET)
			return -EINVAL;
		cursor->way = WAY_EVENTS;
		if (!cursor->begun)
			result = cursor_begin(cursor, 0);
	}
	while (!result) {
		if (cursor->no_memory)
			return -ENOMEM;
		if (cursor->trace->follow) {
			result = tb_follow_pump(cursor->trace->follow, cursor);
			if (!result)
				result = cursor_fields(cursor);
			if (result < 0)
				break;
		}
		if (!cursor->nr_heap)
			return cursor_end(cursor);
		result = cursor_step(cursor, view);
		/* the caller does not get skipped events, so their memory can go */
		if (!result)
			tb_cursor_leave(cursor);
	}
	if (result == -ENOMEM)
		cursor->no_memory = true;
	return result;
}

const struct tb_error *tb_cursor_fault(const struct tb_cursor *cursor)
{
	return cursor->faulty ? &cursor->fault : NULL;
}

uint64_t tb_cursor_late(const struct tb_cursor *cursor)
{
	return cursor->late;
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
	return tb_tasks_each(&cursor->tasks, each, context);
}
