// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a slice for each loss.
 *
 * Perfetto counts losses in its statistics, where few users look.  So below a track "Lost events"
 * each CPU and writer with losses has a track, with a slice for each gap that tells numbers and
 * causes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "perfetto.h"
#include "tool/command/command.h"
#include "tool/show/user_writers.h"

#define UUID_LOSS	(1ull << 61)
#define NOTES_MAX	4

struct track {
	bool described;
	uint64_t until;		/* end of the last slice: slices must not overlap */
};

static void describe(struct pf_losses *losses, uint64_t uuid, uint64_t parent, const char *name)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;

	track.has_uuid = 1;
	track.uuid = uuid;
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	track.name = (char *)name;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = &track;
	pf_write_packet(losses->out, PF_SEQUENCE_SYSTEM, &packet);
}

static void describe_track(struct pf_losses *losses, uint64_t uuid, const struct tb_view *view)
{
	char name[96];

	if (!losses->begun)
		describe(losses, UUID_LOSS, 0, "Lost events");
	losses->begun = true;
	if (view->user)
		snprintf(name, sizeof(name), "process %" PRIu32 ", writer %" PRIu32,
			 view->user->pid, view->user->writer_id);
	else
		snprintf(name, sizeof(name), "CPU %" PRIu32, view->cpu);
	describe(losses, uuid, UUID_LOSS, name);
}

static void write_event(struct pf_losses *losses, Perfetto__Protos__TrackEvent *event,
			uint64_t uuid, uint64_t ns)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	event->has_type = 1;
	event->has_track_uuid = 1;
	event->track_uuid = uuid;
	packet.has_timestamp = 1;
	packet.timestamp = ns;
	packet.has_sequence_flags = 1;
	packet.sequence_flags = losses->out->begun[PF_SEQUENCE_LOSS] ? 2 : 3;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = event;
	pf_write_packet(losses->out, PF_SEQUENCE_LOSS, &packet);
}

static void note_number(Perfetto__Protos__TrackEvent *event,
			Perfetto__Protos__DebugAnnotation *notes, const char *name,
			uint64_t value)
{
	Perfetto__Protos__DebugAnnotation *note = &notes[event->n_debug_annotations];

	perfetto__protos__debug_annotation__init(note);
	note->name_field_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__NAME_FIELD_NAME;
	note->name = (char *)name;
	note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_UINT_VALUE;
	note->uint_value = value;
	event->debug_annotations[event->n_debug_annotations++] = note;
}

static void write_begin(struct pf_losses *losses, const struct tb_view *view, uint64_t uuid,
			uint64_t ns)
{
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	Perfetto__Protos__DebugAnnotation notes[NOTES_MAX], *list[NOTES_MAX];
	char causes[512];

	event.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	event.name_field_case = PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME;
	event.name = (char *)"events lost";
	event.debug_annotations = list;
	if (!view->user) {
		note_number(&event, notes, "overwritten", view->lost.overwritten);
		note_number(&event, notes, "dropped", view->lost.dropped);
		note_number(&event, notes, "oversize", view->lost.oversize);
	} else {
		note_number(&event, notes, view->user->flags & TB_USER_AT_MOST ?
			    "records at most" : "records", view->user->lost);
		lost_causes(view->user->cause, causes, sizeof(causes));
		note_number(&event, notes, "cause", 0);
		list[1]->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
		list[1]->string_value = causes;
	}
	write_event(losses, &event, uuid, ns);
}

int pf_loss_write(struct pf_losses *losses, const struct tb_view *view, uint64_t first,
		  uint64_t last)
{
	Perfetto__Protos__TrackEvent end = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	uint32_t number = view->user ? view->user->writer * 2 + 1 : view->cpu * 2;
	uint64_t uuid = UUID_LOSS + 1 + number;
	struct track *track = slots_get(&losses->tracks, number, sizeof(*track));

	if (!track)
		return -ENOMEM;
	if (!track->described)
		describe_track(losses, uuid, view);
	track->described = true;
	if (first < track->until)
		first = track->until;
	if (last < first)
		last = first;
	track->until = last;
	write_begin(losses, view, uuid, first);
	end.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	write_event(losses, &end, uuid, last);
	return losses->out->error;
}

void pf_losses_free(struct pf_losses *losses)
{
	slots_free(&losses->tracks, free);
}
