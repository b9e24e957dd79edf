// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - records of programs in Chrome's trace event format: slices, instants and flows
 * under the thread that wrote them, counters under its process.
 *
 * The slices of a thread must be nested.  While one writer of a thread has open slices, another
 * writer of it draws on a thread of its own; so does a writer with an unknown thread.  A slice in
 * one record can overlap any other, so it is an asynchronous one.
 */
#include <errno.h>
#include <math.h>
#include "json.h"

static struct json_thread *thread_of_writer(struct json *json,
					    const struct tb_user *record)
{
	struct json_thread *thread;

	thread = json_thread(json, record->pid, JSON_WRITERS + record->writer);
	if (thread)
		thread->writer_id = record->writer_id;
	return thread;
}

/* Set the track that the writer draws on: its thread, unless another writer draws there now */
static void choose_track(struct json *json, struct user_writer *writer,
			 const struct tb_user *record)
{
	struct json_thread *thread = NULL;
	uint32_t self = record->writer + 1;

	if (user_writer_draws(writer))
		return;
	if (record->tid)
		thread = json_thread(json, record->pid, record->tid);
	if (thread && (!thread->owner || thread->owner == self ||
		       !user_writer_draws(json->writers.slots.list[thread->owner - 1])))
		thread->owner = self;
	else
		thread = thread_of_writer(json, record);
	if (thread)
		writer->track = thread->tid;
}

static void write_head(struct json *json, char phase, const struct tb_view *view,
		       uint32_t tid, uint64_t ns)
{
	const struct tb_user *record = view->user;
	bool mark = record->type == TB_REC_MARK;

	json_begin(json, phase, record->pid, tid, ns,
		   mark ? record->data : (const void *)record->name,
		   mark ? record->data_bytes : strlen(record->name));
	json_category(json, record->category_id ? record->category : "user");
}

static void write_args(struct json *json, const struct tb_view *view)
{
	out_text(json->out, ",\"args\":");
	json_fields_write(json->fields, json->out, view);
	out_char(json->out, '}');
}

/*
 * Write an arrow from, through or to the slice at this time.  Viewers join all flows of one id, so
 * an id that a program uses again after its end gets another number.
 */
static void write_flow(struct json *json, const struct tb_user *record,
		       uint32_t tid, uint64_t ns)
{
	char phase = record->flags & TB_USER_FLOW_END ? 'f' : 't';
	uint64_t number;
	void **slot;

	if (!(record->flags & TB_USER_FLOW))
		return;
	slot = map_at(&json->flows, record->flow);
	if (!slot) {
		json->error = -ENOMEM;
		return;
	}
	if (!*slot) {
		phase = 's';
		*slot = (void *)(uintptr_t)++json->nr_flows;
	}
	number = (uintptr_t)*slot;
	if (record->flags & TB_USER_FLOW_END)
		*slot = NULL;
	json_begin(json, phase, record->pid, tid, ns, "flow", 4);
	json_category(json, "flow");
	out_text(json->out, ",\"bp\":\"e\",\"id\":");
	out_unsigned(json->out, number);
	out_char(json->out, '}');
}

static void write_instant(struct json *json, const struct tb_view *view,
			  uint32_t tid, uint64_t ns)
{
	write_head(json, 'i', view, tid, ns);
	out_text(json->out, ",\"s\":\"t\"");
	write_args(json, view);
}

/* Writer and lane identify an asynchronous slice */
static void write_lane(struct json *json, const struct tb_user *record, int lane)
{
	out_text(json->out, ",\"id\":\"");
	out_unsigned(json->out, record->writer);
	out_char(json->out, '.');
	out_unsigned(json->out, (uint64_t)lane);
	out_char(json->out, '"');
}

static void write_lane_end(struct json *json, const struct user_writer *writer,
			   const struct tb_user *record, int lane, uint64_t ns)
{
	json_begin(json, 'e', record->pid, (uint32_t)writer->track, ns, record->name,
		   strlen(record->name));
	json_category(json, record->category_id ? record->category : "user");
	write_lane(json, record, lane);
	out_char(json->out, '}');
}

/* A slice in one record */
static void write_slice(struct json *json, struct user_writer *writer,
			const struct tb_view *view, uint64_t ns, uint64_t end_ns)
{
	const struct tb_user *record = view->user;
	bool open = record->flags & TB_USER_OPEN;
	int lane;

	lane = user_writer_lane(&json->writers, writer, ns, open ? USER_LANE_OPEN : end_ns);
	if (lane < -1) {
		json->error = lane;
		return;
	}
	if (lane < 0) {
		write_instant(json, view, (uint32_t)writer->track, ns);
		return;
	}
	write_head(json, 'b', view, (uint32_t)writer->track, ns);
	write_lane(json, record, lane);
	write_args(json, view);
	if (!open)
		write_lane_end(json, writer, record, lane, end_ns);
}

static void write_begin(struct json *json, struct user_writer *writer,
			const struct tb_view *view, uint64_t ns)
{
	uint32_t tid = (uint32_t)writer->track;

	if (!user_writer_open(&json->writers, writer)) {
		write_instant(json, view, tid, ns);
		return;
	}
	write_head(json, 'B', view, tid, ns);
	write_args(json, view);
}

static void write_end(struct json *json, const struct user_writer *writer, uint32_t pid,
		      uint64_t ns)
{
	json_begin(json, 'E', pid, (uint32_t)writer->track, ns, "", 0);
	out_char(json->out, '}');
}

/* End all open slices of the writer */
static void write_ends(struct json *json, struct user_writer *writer,
		       const struct tb_user *record, uint64_t ns)
{
	uint32_t count = user_writer_lost(writer);
	int lane = -1;

	for (; count; count--)
		write_end(json, writer, record->pid, ns);
	while ((lane = user_writer_lane_open(writer, (uint32_t)(lane + 1), ns)) >= 0)
		write_lane_end(json, writer, record, lane, ns);
}

static void write_counter(struct json *json, const struct tb_view *view,
			  uint64_t ns)
{
	const struct tb_user *record = view->user;

	if (record->flags & TB_USER_DOUBLE && !isfinite(record->value.f64)) {
		json->no_numbers++;
		return;
	}
	write_head(json, 'C', view, record->tid, ns);
	out_text(json->out, ",\"args\":{\"value\":");
	if (record->flags & TB_USER_DOUBLE)
		out_json_double(json->out, record->value.f64);
	else
		out_signed(json->out, record->value.s64);
	out_text(json->out, "}}");
}

static void write_lost(struct json *json, struct user_writer *writer,
		       const struct tb_view *view, uint64_t ns)
{
	const struct tb_user *record = view->user;
	char name[48];

	write_ends(json, writer, record, ns);
	snprintf(name, sizeof(name), "LOST %s%llu records",
		 record->flags & TB_USER_AT_MOST ? "up to " : "",
		 (unsigned long long)record->lost);
	json_begin(json, 'i', record->pid, (uint32_t)writer->track, ns, name,
		   strlen(name));
	json_category(json, "lost");
	out_text(json->out, ",\"s\":\"t\",\"cname\":\"terrible\"");
	write_args(json, view);
}

void json_user(struct json *json, const struct tb_view *view, uint64_t ns,
	       uint64_t end_ns)
{
	const struct tb_user *record = view->user;
	struct user_writer *writer = user_writer_of(&json->writers, record);

	if (!writer) {
		json->error = -ENOMEM;
		return;
	}
	choose_track(json, writer, record);
	if (json->error)
		return;
	if (view->kind == TB_VIEW_USER_LOST) {
		write_lost(json, writer, view, ns);
		return;
	}
	switch (record->type) {
	case TB_REC_BEGIN:
		write_begin(json, writer, view, ns);
		break;
	case TB_REC_SLICE:
		write_slice(json, writer, view, ns, end_ns);
		break;
	case TB_REC_END:
		if (user_writer_end(&json->writers, writer))
			write_end(json, writer, record->pid, ns);
		break;
	case TB_REC_COUNTER:
		write_counter(json, view, ns);
		break;
	default:
		write_instant(json, view, (uint32_t)writer->track, ns);
	}
	write_flow(json, record, (uint32_t)writer->track, ns);
}
