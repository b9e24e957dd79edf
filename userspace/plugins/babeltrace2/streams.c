// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the streams of a recording, and the losses in each.
 *
 * Babeltrace requires messages in order of time, and CTF shows losses between the ends of two
 * packets only.  So the iterator must know a loss's first time before it passes on any later
 * event.  A pass over the trace collects these times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"
#include "lib/array.h"

bool bs_is_shown(const struct tb_view *view)
{
	/* the cursor returns the records in chunks and patches one by one */
	return view->kind != TB_VIEW_EVENT ||
	       (view->id != TB_EV_CHUNK && view->id != TB_EV_PATCH);
}

enum bs_kind bs_kind_of(const struct tb_view *view)
{
	if (view->cpu == TB_RING_USER)
		return BS_PROGRAMS;
	return view->cpu == TB_RING_DURABLE ? BS_STATE : BS_CPU;
}

struct bs_stream *bs_stream_find(struct bs_streams *streams, enum bs_kind kind,
				 uint32_t cpu)
{
	size_t i;

	/* stream n often belongs to CPU n */
	if (kind == BS_CPU && cpu < streams->count &&
	    streams->list[cpu].kind == kind && streams->list[cpu].cpu == cpu)
		return &streams->list[cpu];
	for (i = 0; i < streams->count; i++)
		if (streams->list[i].kind == kind &&
		    (kind != BS_CPU || streams->list[i].cpu == cpu))
			return &streams->list[i];
	return NULL;
}

static struct bs_stream *add_stream(struct bs_streams *streams,
				    enum bs_kind kind, uint32_t cpu)
{
	struct bs_stream *stream;

	if (tb_array_grow(&streams->list, &streams->room, streams->count, sizeof(*stream)))
		return NULL;
	stream = &streams->list[streams->count++];
	memset(stream, 0, sizeof(*stream));
	stream->kind = kind;
	stream->cpu = kind == BS_CPU ? cpu : 0;
	stream->first = UINT64_MAX;
	return stream;
}

static int add_loss(struct bs_stream *stream, uint64_t first, uint64_t last,
		    uint64_t count)
{
	if (tb_array_grow(&stream->losses, &stream->room_losses, stream->nr_losses,
			  sizeof(*stream->losses)))
		return -ENOMEM;
	stream->losses[stream->nr_losses++] = (struct bs_loss){
		.first = first, .last = last, .count = count,
	};
	return 0;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/*
 * Add the loss that the cursor returned at @now.  A CPU's loss begins after the last event of its
 * stream.  A loss of programs may begin at any time after @start; join_losses() sorts them.
 */
static int record_loss(struct bs_stream *stream, const struct tb_trace *trace,
		       const struct tb_view *view, uint64_t now, uint64_t start)
{
	uint64_t first = tb_trace_ns(trace, view->lost.first, TB_TIME_MONOTONIC);
	uint64_t last = tb_trace_ns(trace, view->lost.last, TB_TIME_MONOTONIC);
	uint64_t count = view->lost.overwritten + view->lost.dropped;

	if (view->kind == TB_VIEW_USER_LOST) {
		/* this recording may have lost nothing; no message can express that */
		if (view->user->flags & TB_USER_AT_MOST)
			return 0;
		count = view->user->lost;
	} else if (stream->last > start) {
		start = stream->last;
	}
	if (stream->kind == BS_CPU && stream->nr_losses &&
	    stream->losses[stream->nr_losses - 1].last > start)
		start = stream->losses[stream->nr_losses - 1].last;
	first = clamp(first, start, now);
	if (first < stream->first)
		stream->first = first;
	return add_loss(stream, first, clamp(last, first, now), count);
}

static int compare_losses(const void *a, const void *b)
{
	const struct bs_loss *first = a, *second = b;

	return first->first < second->first ? -1 : first->first > second->first;
}

/* Sort and join losses that overlap: the messages of a stream must be in order of time */
static void join_losses(struct bs_stream *stream)
{
	struct bs_loss *losses = stream->losses, *before;
	size_t i, kept = 0;

	if (!stream->nr_losses)
		return;
	qsort(losses, stream->nr_losses, sizeof(*losses), compare_losses);
	for (i = 0; i < stream->nr_losses; i++) {
		before = kept ? &losses[kept - 1] : NULL;
		if (before && losses[i].first < before->last) {
			if (losses[i].last > before->last)
				before->last = losses[i].last;
			before->count += losses[i].count;
		} else {
			losses[kept++] = losses[i];
		}
	}
	stream->nr_losses = kept;
}

int bs_streams_scan(struct bs_streams *streams, struct tb_trace *trace,
		    uint64_t now, bs_event_reader next, void *context)
{
	struct bs_stream *stream;
	struct tb_cursor *cursor;
	uint64_t start = now;
	struct tb_view view;
	int result;
	size_t i;

	for (i = 0; i < streams->count; i++)
		streams->list[i].nr_losses = streams->list[i].next_loss = 0;
	if (next)
		next(context, NULL, NULL);
	result = tb_cursor_open(trace, &cursor);
	while (result >= 0 && (result = bs_read_event(next, context, cursor, &view)) > 0) {
		if (!bs_is_shown(&view))
			continue;
		if (view.ns > now)
			now = view.ns;
		else if (view.ns < now)
			streams->backwards++;
		stream = bs_stream_find(streams, bs_kind_of(&view), view.cpu);
		if (!stream)
			stream = add_stream(streams, bs_kind_of(&view),
					    view.cpu);
		result = stream ? 0 : -ENOMEM;
		if (stream && (view.kind == TB_VIEW_LOST ||
			       view.kind == TB_VIEW_USER_LOST))
			result = record_loss(stream, trace, &view, now, start);
		if (result < 0)
			break;
		if (now < stream->first)
			stream->first = now;
		stream->last = now;
	}
	if (result >= 0)
		streams->uncommitted += tb_cursor_uncommitted(cursor);
	tb_cursor_close(cursor);
	for (i = 0; i < streams->count; i++)
		if (streams->list[i].kind == BS_PROGRAMS)
			join_losses(&streams->list[i]);
	return result < 0 ? result : 0;
}

void bs_streams_reset(struct bs_streams *streams)
{
	struct bs_stream *stream;
	size_t i;

	for (i = 0; i < streams->count; i++) {
		stream = &streams->list[i];
		bt_packet_put_ref(stream->packet);
		stream->packet = NULL;
		stream->begun = stream->in_loss = false;
		stream->nr_losses = stream->next_loss = 0;
		stream->first = UINT64_MAX;
		stream->last = 0;
	}
	streams->uncommitted = streams->backwards = 0;
}

void bs_streams_free(struct bs_streams *streams)
{
	size_t i;

	bs_streams_reset(streams);
	for (i = 0; i < streams->count; i++) {
		bt_stream_put_ref(streams->list[i].stream);
		free(streams->list[i].losses);
	}
	free(streams->list);
	memset(streams, 0, sizeof(*streams));
}
