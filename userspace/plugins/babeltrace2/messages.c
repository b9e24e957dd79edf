// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turn the events of a recording into messages, in order of time over all streams.
 *
 * One iterator passes on all streams of a recording, because one cursor reads them: the cursor
 * returns events in order, and learns the names of threads from the events of all CPUs.
 *
 * A packet begins with the first event that needs one, and ends after PACKET_EVENTS events.  CTF
 * shows a loss between the ends of two packets.  So the open packet ends at the loss's first time,
 * a message with the number of lost events follows, and the next packet ends at its last time.
 */
#include <errno.h>
#include <stdlib.h>
#include "source.h"

#define PACKET_EVENTS	4096
#define QUEUE_MAX	8	/* more than any step queues */

enum phase {
	PHASE_BEGIN = 0,	/* streams */
	PHASE_EVENTS,
	PHASE_LOSSES,		/* after the last event */
	PHASE_PACKETS,		/* end the open packets */
	PHASE_END,		/* streams */
	PHASE_DONE,
};

struct bs_messages {
	bt_self_component *component;
	bt_self_message_iterator *iterator;
	struct bs_model  *model;
	struct bs_streams streams;
	struct tb_cursor *cursor;
	struct tb_trace  *trace;
	bs_event_reader next;
	void      *context;
	struct tb_view view;
	bool       pending;	/* @view has an event to pass on */
	bool       finish;
	enum phase phase;
	size_t     at;		/* next stream, in phases that visit all streams */
	struct bs_stream *edge;	/* a loss of this stream begins or ends at @edge_time */
	uint64_t   edge_time;
	uint64_t   now;
	const bt_message *queue[QUEUE_MAX];
	unsigned int head, tail;
	bool       faulty;
	struct tb_error fault;
};

struct bs_messages *bs_messages_create(bt_self_component *component,
				       bt_self_message_iterator *iterator)
{
	struct bs_messages *messages = calloc(1, sizeof(*messages));

	if (messages) {
		messages->component = component;
		messages->iterator = iterator;
	}
	return messages;
}

static void clear_queue(struct bs_messages *messages)
{
	while (messages->head < messages->tail)
		bt_message_put_ref(messages->queue[messages->head++]);
	messages->head = messages->tail = 0;
}

void bs_messages_free(struct bs_messages *messages)
{
	if (!messages)
		return;
	bs_messages_rewind(messages);
	bs_streams_free(&messages->streams);
	bs_model_free(messages->model);
	free(messages);
}

static int queue_message(struct bs_messages *messages, const bt_message *message)
{
	if (!message)
		return -ENOMEM;
	messages->queue[messages->tail++] = message;
	return 0;
}

/* ---- packets ---- */

static int begin_packet(struct bs_messages *messages, struct bs_stream *stream,
			uint64_t time)
{
	stream->packet = bt_packet_create(stream->stream);
	if (!stream->packet)
		return -ENOMEM;
	if (stream->kind == BS_CPU)
		bt_field_integer_unsigned_set_value(
			bt_field_structure_borrow_member_field_by_index(
				bt_packet_borrow_context_field(stream->packet), 0),
			stream->cpu);
	stream->in_packet = 0;
	return queue_message(messages,
			     bt_message_packet_beginning_create_with_default_clock_snapshot(
			messages->iterator, stream->packet, time));
}

static int end_packet(struct bs_messages *messages, struct bs_stream *stream,
		      uint64_t time)
{
	int result;

	result = queue_message(messages,
			       bt_message_packet_end_create_with_default_clock_snapshot(
			messages->iterator, stream->packet, time));
	bt_packet_put_ref(stream->packet);
	stream->packet = NULL;
	return result;
}

/* ---- losses ---- */

static void find_edge(struct bs_messages *messages)
{
	struct bs_stream *stream;
	uint64_t time;
	size_t i;

	messages->edge = NULL;
	messages->edge_time = UINT64_MAX;
	for (i = 0; i < messages->streams.count; i++) {
		stream = &messages->streams.list[i];
		if (stream->next_loss == stream->nr_losses)
			continue;
		time = stream->in_loss ? stream->losses[stream->next_loss].last :
		       stream->losses[stream->next_loss].first;
		if (messages->edge && time >= messages->edge_time)
			continue;
		messages->edge = stream;
		messages->edge_time = time;
	}
}

static int begin_loss(struct bs_messages *messages, struct bs_stream *stream)
{
	const struct bs_loss *loss = &stream->losses[stream->next_loss];
	bt_message *message;
	int result = 0;

	/* CTF counts lost events from the end of a packet, so one must end here */
	if (!stream->packet)
		result = begin_packet(messages, stream, loss->first);
	if (!result)
		result = end_packet(messages, stream, loss->first);
	if (result)
		return result;
	message = bt_message_discarded_events_create_with_default_clock_snapshots(
			messages->iterator, stream->stream, loss->first,
			loss->last);
	if (!message)
		return -ENOMEM;
	bt_message_discarded_events_set_count(message, loss->count);
	queue_message(messages, message);
	stream->in_loss = true;
	return begin_packet(messages, stream, loss->first);
}

static int pass_edge(struct bs_messages *messages)
{
	struct bs_stream *stream = messages->edge;
	uint64_t time = messages->edge_time;
	int result;

	if (stream->in_loss) {
		result = end_packet(messages, stream, time);
		stream->in_loss = false;
		stream->next_loss++;
	} else {
		result = begin_loss(messages, stream);
	}
	if (time > messages->now)
		messages->now = time;
	find_edge(messages);
	return result;
}

/* ---- events ---- */

static int queue_event(struct bs_messages *messages, struct bs_stream *stream)
{
	const struct tb_view *view = &messages->view;
	struct bs_model *model = messages->model;
	const struct bs_class *class = NULL;
	bool plain = view->kind == TB_VIEW_EVENT && view->format, fine;
	bt_message *message;
	bt_event *event;

	if (plain) {
		class = bs_format_get_class(model, messages->trace, stream->kind,
					    view);
		if (!class)
			return -ENOMEM;
		plain = bs_format_fits(class, view);
	}
	if (!plain)
		class = bs_values_get_class(model, messages->trace, stream->kind,
					    view);
	if (!class)
		return -ENOMEM;
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(
			messages->iterator, class->class, stream->packet,
			messages->now);
	if (!message)
		return -ENOMEM;
	event = bt_message_event_borrow_event(message);
	fine = bs_context_fill(stream->kind, view, event) &&
	       (plain ? bs_format_fill(class, view, event) :
		bs_values_fill(model, event));
	queue_message(messages, message);
	return fine ? 0 : -ENOMEM;
}

static int pass_event(struct bs_messages *messages)
{
	const struct tb_view *view = &messages->view;
	struct bs_stream *stream;
	int result = 0;

	messages->pending = false;
	if (view->ns > messages->now)
		messages->now = view->ns;
	stream = bs_stream_find(&messages->streams, bs_kind_of(view), view->cpu);
	if (!stream)
		return -ESTALE;
	if (!stream->packet)
		result = begin_packet(messages, stream, messages->now);
	if (!result)
		result = queue_event(messages, stream);
	if (!result && ++stream->in_packet >= PACKET_EVENTS && !stream->in_loss)
		result = end_packet(messages, stream, messages->now);
	return result;
}

/* Queue the messages of the next event, or of a loss's beginning or end */
static int pass_event_or_edge(struct bs_messages *messages)
{
	const struct tb_error *fault;
	struct tb_view *view = &messages->view;
	int result = 1;

	while (!messages->pending &&
	       (result = bs_read_event(messages->next, messages->context,
				       messages->cursor, view)) > 0)
		messages->pending = bs_is_shown(view);
	if (result < 0)
		return result;
	if (messages->pending) {
		if (messages->edge && (messages->edge_time <= view->ns ||
				       messages->edge_time <= messages->now))
			return pass_edge(messages);
		return pass_event(messages);
	}
	fault = tb_cursor_fault(messages->cursor);
	if (fault && !messages->faulty) {
		messages->faulty = true;
		messages->fault = *fault;
	}
	messages->phase = PHASE_LOSSES;
	return 0;
}

/* ---- streams ---- */

static int begin_stream(struct bs_messages *messages, struct bs_stream *stream)
{
	if (stream->begun)
		return 0;
	stream->begun = true;
	if (!stream->stream)
		stream->stream = bs_model_create_stream(messages->model, stream->kind,
							stream->cpu);
	return stream->stream ?
	       queue_message(messages, bt_message_stream_beginning_create(
				messages->iterator, stream->stream)) : -ENOMEM;
}

/* Queue a message of the next stream, in phases that visit all streams */
static int pass_stream(struct bs_messages *messages)
{
	struct bs_stream *stream;

	if (messages->at == messages->streams.count) {
		messages->at = 0;
		messages->phase++;
		return 0;
	}
	stream = &messages->streams.list[messages->at++];
	switch (messages->phase) {
	case PHASE_BEGIN:
		return begin_stream(messages, stream);
	case PHASE_PACKETS:
		return stream->packet ?
		       end_packet(messages, stream, messages->now) : 0;
	default:
		return queue_message(messages, bt_message_stream_end_create(
				messages->iterator, stream->stream));
	}
}

/* ---- the whole ---- */

int bs_messages_load(struct bs_messages *messages, struct tb_trace *trace,
		     bs_event_reader next, void *context)
{
	int result;

	messages->trace = trace;
	messages->next = next;
	messages->context = context;
	result = bs_streams_scan(&messages->streams, trace, messages->now,
				 next, context);
	if (result < 0)
		return result;
	if (!messages->model)
		messages->model = bs_model_create(messages->component, trace,
						  messages->streams.uncommitted);
	if (!messages->model)
		return -ENOMEM;
	find_edge(messages);
	messages->phase = PHASE_BEGIN;
	messages->at = 0;
	if (next)
		next(context, NULL, NULL);
	return tb_cursor_open(trace, &messages->cursor);
}

void bs_messages_unload(struct bs_messages *messages)
{
	tb_cursor_close(messages->cursor);
	messages->cursor = NULL;
	messages->trace = NULL;
	messages->pending = false;
}

int bs_messages_add_inactivity(struct bs_messages *messages, uint64_t ns)
{
	if (ns > messages->now)
		messages->now = ns;
	return queue_message(messages, bt_message_message_iterator_inactivity_create(
			messages->iterator, messages->model->clock_class, messages->now));
}

void bs_messages_finish(struct bs_messages *messages)
{
	messages->finish = true;
}

/* Keep classes and streams: the next pass has the same ones */
void bs_messages_rewind(struct bs_messages *messages)
{
	clear_queue(messages);
	bs_messages_unload(messages);
	bs_streams_reset(&messages->streams);
	messages->edge = NULL;
	messages->now = 0;
	messages->finish = false;
	messages->faulty = false;
	messages->phase = PHASE_BEGIN;
}

static int take_step(struct bs_messages *messages)
{
	switch (messages->phase) {
	case PHASE_BEGIN:
	case PHASE_PACKETS:
	case PHASE_END:
		return pass_stream(messages);
	case PHASE_EVENTS:
		return pass_event_or_edge(messages);
	default:
		if (messages->edge)
			return pass_edge(messages);
		messages->phase = messages->finish ? PHASE_PACKETS : PHASE_LOSSES;
		messages->at = 0;
		return 0;
	}
}

static bool is_done(const struct bs_messages *messages)
{
	return messages->phase == PHASE_DONE ||
	       (messages->phase == PHASE_LOSSES && !messages->edge &&
		!messages->finish);
}

int bs_messages_next(struct bs_messages *messages,
		     bt_message_array_const array, uint64_t capacity,
		     uint64_t *count)
{
	uint64_t used = 0;
	int result = 0;

	while (used < capacity && !result) {
		if (messages->head < messages->tail) {
			array[used++] = messages->queue[messages->head++];
			continue;
		}
		messages->head = messages->tail = 0;
		if (is_done(messages))
			break;
		result = take_step(messages);
	}
	if (result < 0) {
		while (used)
			bt_message_put_ref(array[--used]);
		return result;
	}
	*count = used;
	return used ? 1 : 0;
}

const struct tb_error *bs_messages_result(const struct bs_messages *messages,
					  struct bs_port *port)
{
	port->uncommitted = messages->streams.uncommitted;
	port->backwards = messages->streams.backwards;
	port->faulty = messages->faulty;
	port->fault = messages->fault;
	return messages->faulty ? &messages->fault : NULL;
}
