// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - records of programs as Perfetto's track events.
 *
 * Each record is a packet; a slice in one record is two.  trace_processor sorts packets by time, so
 * the end of a slice can follow its beginning at once.
 *
 * The slices on one track must be nested.  The first writer of a thread draws on the track of the
 * thread.  While it has open slices, another writer of the thread gets a track below.  A slice in
 * one record can overlap any other, so it goes to a track below that is free during the slice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "perfetto.h"
#include "tool/command/command.h"
#include "tool/show/user_writers.h"

/* Bytes for copies of texts of one event */
#define SCRATCH_BYTES	(64u << 10)
/* Annotations of an event: its arguments, and what set_notes() adds */
#define NOTES_MAX	1100

struct pf_user {
	struct pf_out *out;
	const struct tb_cursor *cursor;
	struct pf_tracks *tracks;
	struct user_writers writers;

	/* the event at hand */
	bool     failed;		/* -ENOMEM */
	Perfetto__Protos__TrackEvent event;
	Perfetto__Protos__InternedData names;
	Perfetto__Protos__EventName name, *name_list;
	Perfetto__Protos__EventCategory category, *category_list;
	uint64_t category_iid, flow;
	Perfetto__Protos__DebugAnnotation notes[NOTES_MAX], *note_list[NOTES_MAX];
	Perfetto__Protos__DebugAnnotationName args[NOTES_MAX], *arg_list[NOTES_MAX];
	char     scratch[SCRATCH_BYTES];
	size_t   used;
};

struct pf_user *pf_user_open(struct pf_tracks *tracks, const struct tb_cursor *cursor)
{
	struct pf_user *user = calloc(1, sizeof(*user));

	if (user) {
		user->out = tracks->out;
		user->tracks = tracks;
		user->cursor = cursor;
	}
	return user;
}

void pf_user_close(struct pf_user *user)
{
	if (!user)
		return;
	user_writers_free(&user->writers);
	free(user);
}

void pf_user_note(const struct pf_user *user)
{
	user_slices_note(user->writers.unmatched, user->writers.deep, user->writers.many);
}

/* ---- texts ---- */

/* Copy a text of a program as valid UTF-8; "" if there is no room */
static char *clean(struct pf_user *user, const char *text, size_t length)
{
	char *to = user->scratch + user->used;

	if (length > EXPORT_TEXT_MAX)
		length = EXPORT_TEXT_MAX;
	if (length + 1 > SCRATCH_BYTES - user->used)
		return (char *)"";
	export_clean(to, text, length);
	user->used += length + 1;
	return to;
}

static char *clean_name(struct pf_user *user, const char *name)
{
	return clean(user, name, strlen(name));
}

/* ---- an event ---- */

static void start(struct pf_user *user)
{
	perfetto__protos__track_event__init(&user->event);
	perfetto__protos__interned_data__init(&user->names);
	user->event.debug_annotations = user->note_list;
	user->names.debug_annotation_names = user->arg_list;
	user->used = 0;
}

static void finish(struct pf_user *user, Perfetto__Protos__TrackEvent__Type type,
		   uint64_t track, uint64_t ns)
{
	bool fresh = user->names.n_event_names || user->names.n_event_categories ||
		     user->names.n_debug_annotation_names;

	pf_write_track_event(user->out, PF_SEQUENCE_USER, &user->event, type, track, ns,
			     fresh ? &user->names : NULL);
}

static struct pf_known *known(struct pf_user *user, enum pf_known_kind kind,
			      uint32_t producer, uint32_t id, bool *fresh)
{
	struct pf_known *found = pf_known(user->tracks, kind, producer, id,
					  fresh);

	user->failed |= !found;
	return found;
}

static void set_name(struct pf_user *user, const struct tb_user *record)
{
	struct pf_known *name;
	bool fresh;

	name = known(user, PF_NAME, record->producer, record->name_id, &fresh);
	if (!name)
		return;
	user->event.name_field_case =
		PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME_IID;
	user->event.name_iid = name->number;
	if (!fresh)
		return;
	perfetto__protos__event_name__init(&user->name);
	PF_SET(&user->name, iid, name->number);
	user->name.name = clean_name(user, record->name);
	user->name_list = &user->name;
	user->names.n_event_names = 1;
	user->names.event_names = &user->name_list;
}

static void set_category(struct pf_user *user, const struct tb_user *record)
{
	struct pf_known *category;
	bool fresh;

	if (!record->category_id)
		return;
	category = known(user, PF_CATEGORY, record->producer,
			 record->category_id, &fresh);
	if (!category)
		return;
	user->category_iid = category->number;
	user->event.n_category_iids = 1;
	user->event.category_iids = &user->category_iid;
	if (!fresh)
		return;
	perfetto__protos__event_category__init(&user->category);
	PF_SET(&user->category, iid, category->number);
	user->category.name = clean_name(user, record->category);
	user->category_list = &user->category;
	user->names.n_event_categories = 1;
	user->names.event_categories = &user->category_list;
}

static void set_flow(struct pf_user *user, const struct tb_user *record)
{
	if (!(record->flags & TB_USER_FLOW))
		return;
	user->flow = record->flow;
	if (record->flags & TB_USER_FLOW_END) {
		user->event.n_terminating_flow_ids = 1;
		user->event.terminating_flow_ids = &user->flow;
	} else {
		user->event.n_flow_ids = 1;
		user->event.flow_ids = &user->flow;
	}
}

/* ---- arguments ---- */

static void arg_name(struct pf_user *user, const struct tb_user *record,
		     const struct tb_user_arg *arg,
		     Perfetto__Protos__DebugAnnotation *note)
{
	size_t count = user->names.n_debug_annotation_names;
	struct pf_known *name;
	bool fresh;

	name = known(user, PF_ARG, record->producer, arg->name_id, &fresh);
	if (!name)
		return;
	note->name_field_case =
		PERFETTO__PROTOS__DEBUG_ANNOTATION__NAME_FIELD_NAME_IID;
	note->name_iid = name->number;
	if (!fresh)
		return;
	perfetto__protos__debug_annotation_name__init(&user->args[count]);
	PF_SET(&user->args[count], iid, name->number);
	user->args[count].name = clean_name(user, arg->name);
	user->arg_list[count] = &user->args[count];
	user->names.n_debug_annotation_names++;
}

static void arg_value(struct pf_user *user, const struct tb_user_arg *arg,
		      Perfetto__Protos__DebugAnnotation *note)
{
	switch (arg->type) {
	case TB_ARG_S64:
		note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_INT_VALUE;
		note->int_value = arg->value.s64;
		break;
	case TB_ARG_DOUBLE:
		note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_DOUBLE_VALUE;
		note->double_value = arg->value.f64;
		break;
	case TB_ARG_POINTER:
		note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_POINTER_VALUE;
		note->pointer_value = arg->value.u64;
		break;
	case TB_ARG_TEXT:
		note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
		note->string_value = clean_name(user, arg->text);
		break;
	default:
		note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_UINT_VALUE;
		note->uint_value = arg->value.u64;
	}
}

static void note_data(struct pf_user *user, const struct tb_user *record)
{
	char *text = user->scratch + user->used;

	if (EXPORT_TEXT_MAX + 1 > SCRATCH_BYTES - user->used)
		return;
	user->used += export_bytes(record->data, record->data_bytes, text) + 1;
	pf_note_text(&user->event, user->notes, "data", text);
}

/* Add values, data, flags and arguments of @record as annotations */
static void set_notes(struct pf_user *user, const struct tb_user *record)
{
	Perfetto__Protos__TrackEvent *event = &user->event;
	Perfetto__Protos__DebugAnnotation *note;
	uint32_t i;

	if (record->type == TB_REC_SIMPLE)
		pf_note_number(event, user->notes, "value", record->value.u64);
	if (record->type == TB_REC_EVENT)
		note_data(user, record);
	if (record->flags & TB_USER_CLAMPED)
		pf_note_text(event, user->notes, "tracebuf", "impossible time");
	if (record->flags & TB_USER_NO_TIME)
		pf_note_text(event, user->notes, "tracebuf", "unknown clock");
	for (i = 0; i < record->nr_args && event->n_debug_annotations < NOTES_MAX; i++) {
		note = pf_note(event, user->notes, "");
		arg_name(user, record, &record->args[i], note);
		arg_value(user, &record->args[i], note);
	}
}

/* ---- tracks ---- */

static struct pf_known *process_of(struct pf_user *user, const struct tb_user *record)
{
	const struct tb_task *task = tb_cursor_task(user->cursor, record->pid);
	struct pf_known *process;

	process = pf_track_labelled(user->tracks, record->pid, task ? task->comm : "",
				    task ? task->cgroup : 0, 0);
	user->failed |= !process;
	return process;
}

/* The track of the record's thread, or of its process if the thread is unknown */
static struct pf_known *track_of(struct pf_user *user, const struct tb_user *record)
{
	struct pf_known *track = process_of(user, record);
	const struct tb_task *task;

	if (!track || !record->tid)
		return track;
	task = tb_cursor_task(user->cursor, record->tid);
	track = pf_track_thread(user->tracks, record->pid, record->tid, task ? task->comm : "");
	user->failed |= !track;
	return track;
}

/* Set the track that the writer draws on: its thread's, unless another writer draws there now */
static void choose_track(struct pf_user *user, struct user_writer *writer,
			 const struct tb_user *record)
{
	struct pf_known *track;
	uint32_t self = record->writer + 1;

	if (user_writer_draws(writer))
		return;
	track = track_of(user, record);
	if (track && record->tid &&
	    (!track->owner || track->owner == self ||
	     !user_writer_draws(user->writers.slots.list[track->owner - 1])))
		track->owner = self;
	else if (track)
		track = pf_track_named(user->tracks, PF_CHILD, 0, record->writer, track->number,
				       "writer %u", record->writer_id);
	user->failed |= !track;
	if (track)
		writer->track = track->number;
}

/* ---- records ---- */

static void write_end(struct pf_user *user, uint64_t track, uint64_t ns)
{
	start(user);
	finish(user, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END, track, ns);
}

static void write_named(struct pf_user *user, const struct tb_user *record,
			Perfetto__Protos__TrackEvent__Type type, uint64_t track,
			uint64_t ns)
{
	start(user);
	if (record->type == TB_REC_MARK) {
		user->event.name_field_case =
			PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME;
		user->event.name = clean(user, record->data, record->data_bytes);
	} else {
		set_name(user, record);
	}
	set_category(user, record);
	set_flow(user, record);
	set_notes(user, record);
	finish(user, type, track, ns);
}

static void write_instant(struct pf_user *user, const struct user_writer *writer,
			  const struct tb_user *record, uint64_t ns)
{
	write_named(user, record, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT,
		    writer->track, ns);
}

/* The track of a lane of the writer: below its thread, or below its process if that is unknown */
static uint64_t lane_track(struct pf_user *user, const struct tb_user *record, int lane)
{
	struct pf_known *track = track_of(user, record);

	if (track)
		track = pf_track_named(user->tracks, PF_LANE, record->writer, (uint32_t)lane,
				       track->number, "slices of writer %u", record->writer_id);
	user->failed |= !track;
	return track ? track->number : 0;
}

/* A slice in one record */
static void write_slice(struct pf_user *user, struct user_writer *writer,
			const struct tb_user *record, uint64_t ns,
			uint64_t end_ns)
{
	bool open = record->flags & TB_USER_OPEN;
	uint64_t track;
	int lane;

	lane = user_writer_lane(&user->writers, writer, ns, open ? USER_LANE_OPEN : end_ns);
	if (lane == -1) {
		write_instant(user, writer, record, ns);
		return;
	}
	user->failed |= lane < 0;
	track = lane < 0 ? 0 : lane_track(user, record, lane);
	if (user->failed)
		return;
	write_named(user, record, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, track,
		    ns);
	if (!open)
		write_end(user, track, end_ns);
}

static void write_begin(struct pf_user *user, struct user_writer *writer,
			const struct tb_user *record, uint64_t ns)
{
	if (user_writer_open(&user->writers, writer))
		write_named(user, record, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
			    writer->track, ns);
	else
		write_instant(user, writer, record, ns);
}

/* End all open slices of the writer */
static void write_ends(struct pf_user *user, struct user_writer *writer,
		       const struct tb_user *record, uint64_t ns)
{
	uint32_t count = user_writer_lost(writer);
	int lane = -1;

	for (; count; count--)
		write_end(user, writer->track, ns);
	while ((lane = user_writer_lane_open(writer, (uint32_t)(lane + 1), ns)) >= 0)
		write_end(user, lane_track(user, record, lane), ns);
}

static void write_counter(struct pf_user *user, const struct tb_user *record,
			  uint64_t ns)
{
	struct pf_known *process = process_of(user, record), *counter;

	user->used = 0;
	counter = process ? pf_track_counter(user->tracks, process->number,
			record->producer, record->name_id,
			clean_name(user, record->name), record->category_id ?
			clean_name(user, record->category) : NULL) : NULL;
	user->failed |= !counter;
	if (!counter)
		return;
	start(user);
	if (record->flags & TB_USER_DOUBLE) {
		user->event.counter_value_field_case =
			PERFETTO__PROTOS__TRACK_EVENT__COUNTER_VALUE_FIELD_DOUBLE_COUNTER_VALUE;
		user->event.double_counter_value = record->value.f64;
	} else {
		user->event.counter_value_field_case =
			PERFETTO__PROTOS__TRACK_EVENT__COUNTER_VALUE_FIELD_COUNTER_VALUE;
		user->event.counter_value = record->value.s64;
	}
	finish(user, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER, counter->number, ns);
}

static void write_lost(struct pf_user *user, struct user_writer *writer,
		       const struct tb_user *record, uint64_t ns)
{
	char causes[512];

	lost_causes(record->cause, causes, sizeof(causes));
	write_ends(user, writer, record, ns);
	start(user);
	user->event.name_field_case =
		PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME;
	user->event.name = (char *)"tracebuf_lost";
	pf_note_number(&user->event, user->notes, record->flags & TB_USER_AT_MOST ?
		       "records at most" : "records", record->lost);
	pf_note_text(&user->event, user->notes, "cause", causes);
	finish(user, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT, writer->track, ns);
}

int pf_user_write(struct pf_user *user, const struct tb_view *view,
		  uint64_t ns, uint64_t end_ns)
{
	const struct tb_user *record = view->user;
	struct user_writer *writer = user_writer_of(&user->writers, record);

	if (!writer)
		return -ENOMEM;
	choose_track(user, writer, record);
	if (user->failed)
		return -ENOMEM;
	if (view->kind == TB_VIEW_USER_LOST) {
		write_lost(user, writer, record, ns);
		return user->failed ? -ENOMEM : 0;
	}
	switch (record->type) {
	case TB_REC_BEGIN:
		write_begin(user, writer, record, ns);
		break;
	case TB_REC_SLICE:
		write_slice(user, writer, record, ns, end_ns);
		break;
	case TB_REC_END:
		if (user_writer_end(&user->writers, writer))
			write_end(user, writer->track, ns);
		break;
	case TB_REC_COUNTER:
		write_counter(user, record, ns);
		break;
	default:
		write_instant(user, writer, record, ns);
	}
	return user->failed ? -ENOMEM : 0;
}
