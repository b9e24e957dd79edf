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
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;

	track.name = (char *)name;
	pf_write_track(losses->out, &track, uuid, parent, 0);
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

static void write_begin(struct pf_losses *losses, const struct tb_view *view, uint64_t uuid,
			uint64_t ns)
{
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	Perfetto__Protos__DebugAnnotation notes[NOTES_MAX], *list[NOTES_MAX];
	char causes[512];

	event.name_field_case = PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME;
	event.name = (char *)"events lost";
	event.debug_annotations = list;
	if (!view->user) {
		pf_note_number(&event, notes, "overwritten", view->lost.overwritten);
		pf_note_number(&event, notes, "dropped", view->lost.dropped);
		pf_note_number(&event, notes, "oversize", view->lost.oversize);
	} else {
		pf_note_number(&event, notes, view->user->flags & TB_USER_AT_MOST ?
			       "records at most" : "records", view->user->lost);
		lost_causes(view->user->cause, causes, sizeof(causes));
		pf_note_text(&event, notes, "cause", causes);
	}
	pf_write_track_event(losses->out, PF_SEQUENCE_LOSS, &event,
			     PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, uuid, ns, NULL);
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
	pf_write_track_event(losses->out, PF_SEQUENCE_LOSS, &end,
			     PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END, uuid, last, NULL);
	return losses->out->error;
}

void pf_losses_free(struct pf_losses *losses)
{
	slots_free(&losses->tracks, free);
}
