// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A cursor that shows only chosen events.
 *
 * It does not read rings of other CPUs.  Of the chosen rings it must read all heads, because events
 * tell which thread runs.  An event that is neither shown nor tells of threads is skipped in its
 * stream, without going through the heap.
 */
#include <errno.h>
#include <stdlib.h>
#include "cursor.h"

void tb_cursor_pass(struct tb_cursor *cursor, struct stream *stream)
{
	const struct tb_recording *recording = cursor->recording;
	const struct tb_walk *walk = &stream->walk;
	const struct tb_format_field *field;
	uint16_t at = recording->by_id ? recording->by_id[walk->id] : 0;
	struct tb_view view;
	uint32_t tid;
	uint64_t number;

	view.payload = walk->payload;
	view.length = walk->bytes;
	if (walk->structure == TB_STRUCT_COMPOSITE) {
		tb_stream_claim(stream, walk->tid);
	} else {
		field = at ? cursor->own_tid[at - 1] : NULL;
		if (field && !tb_field_u64(&view, field, &number))
			stream->current = (uint32_t)number;
	}
	tid = walk->structure == TB_STRUCT_COMPOSITE ? walk->tid : stream->current;
	field = at ? cursor->next_pid[at - 1] : NULL;
	if (field && !tb_field_u64(&view, field, &number)) {
		stream->from = tid;
		stream->switched = true;
		stream->current = (uint32_t)number;
	}
}

/* True if events that are shown need names of threads from other records */
static bool shows_names(const struct tb_cursor *cursor, const struct tb_choice *choice)
{
	const struct tb_format *wide;
	size_t i;

	for (i = 0; i < cursor->nr_fields; i++) {
		if (!cursor->widen[i] || !tb_widen_names(cursor->widen[i]))
			continue;
		wide = tb_widen_format(cursor->widen[i]);
		if (!choice->formats || choice->formats[wide->index])
			return true;
	}
	return false;
}

static void choose_ids(struct tb_cursor *cursor, const struct tb_choice *choice)
{
	const struct tb_recording *recording = cursor->recording;
	bool control = !(choice->flags & TB_CHOICE_NO_CONTROL);
	const struct tb_format *format;
	unsigned int id, at;
	bool learns;

	for (id = 0; id < TB_EVENT_IDS; id++) {
		at = recording->by_id ? recording->by_id[id] : 0;
		format = at ? recording->formats[at - 1] : NULL;
		/* an event in its compact form is chosen by its wide format */
		if (format && cursor->widen[at - 1])
			at = tb_widen_format(cursor->widen[at - 1])->index + 1;
		learns = format ? format->known != TB_KNOWN_NONE :
				  id == TB_EV_THREAD;
		if (format ? !choice->formats || choice->formats[at - 1] : control)
			cursor->chosen[id] = CHOICE_SHOW;
		else
			cursor->chosen[id] = learns && !cursor->no_tasks ?
					     CHOICE_LEARN : CHOICE_PASS;
	}
}

int tb_cursor_choose(struct tb_cursor *cursor, const struct tb_choice *choice)
{
	struct stream *stream;
	size_t i;

	if (cursor->trace->follow)
		return -ESPIPE;
	if (cursor->begun || cursor->way != WAY_NOT_YET)
		return -EBUSY;
	if (!cursor->chosen)
		cursor->chosen = malloc(TB_EVENT_IDS);
	if (!cursor->chosen)
		return -ENOMEM;
	cursor->no_tasks = choice->flags & TB_CHOICE_NO_TASKS && !shows_names(cursor, choice);
	cursor->until = choice->until ? choice->until : UINT64_MAX;
	choose_ids(cursor, choice);
	for (i = 0; i < cursor->nr_streams; i++) {
		stream = cursor->streams[i];
		if (stream->reader)
			stream->shut = choice->flags & TB_CHOICE_NO_USER;
		else if (stream->cpu != TB_RING_DURABLE)
			stream->shut = choice->cpus &&
				       (stream->cpu >= choice->nr_cpus ||
					!choice->cpus[stream->cpu]);
	}
	return 0;
}

void tb_cursor_passed(const struct tb_cursor *cursor, struct tb_passed *passed)
{
	*passed = cursor->passed;
}
