// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - where the time of threads went, as 'tracebuf why' shows it.
 *
 * Each thread has a track below its process.  analysis/why.c calls take_stretch() for each stretch
 * of time, for a cause before the causes below it.  Each stretch is a slice within the slice of the
 * cause above.  A name is written once for each node of the tree.
 */
#include <errno.h>
#include "perfetto.h"
#include "analysis/why.h"
#include "tool/show/causes.h"
#include "tool/show/why_threads.h"

/**
 * struct writer - the track of the thread at hand
 * @names: nodes of the trees of earlier threads: names have other numbers than theirs
 * @ends: ends of the open slices, the outermost first
 */
struct writer {
	struct pf_out *out;
	const struct why *why;
	const volatile sig_atomic_t *stop;
	uint64_t track, names;
	uint64_t ends[WHY_LEVELS];
	unsigned int open;
};

/* End the innermost slices until @depth are open */
static void end_slices(struct writer *writer, unsigned int depth)
{
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;

	while (writer->open > depth)
		pf_write_track_event(writer->out, PF_SEQUENCE_WHY, &event,
				     PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END,
				     writer->track, writer->ends[--writer->open], NULL);
}

static void begin_slice(struct writer *writer, const struct why_node *node, uint32_t index,
			uint64_t ns)
{
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	Perfetto__Protos__InternedData names = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__EventName name = PERFETTO__PROTOS__EVENT_NAME__INIT, *list = &name;
	char text[256], clean[256];
	const char *said;

	event.name_field_case = PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME_IID;
	event.name_iid = writer->names + index;
	if (node->count == 1) {
		said = cause_text(writer->why, node, text, sizeof(text));
		export_clean(clean, said, strlen(said));
		PF_SET(&name, iid, writer->names + index);
		name.name = clean;
		names.n_event_names = 1;
		names.event_names = &list;
	}
	pf_write_track_event(writer->out, PF_SEQUENCE_WHY, &event,
			     PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, writer->track,
			     ns, node->count == 1 ? &names : NULL);
}

static int take_stretch(void *context, uint32_t index, uint64_t from, uint64_t to)
{
	struct writer *writer = context;
	size_t count;
	const struct why_node *node = &why_nodes(writer->why, &count)[index];

	if (writer->stop && *writer->stop)
		return -EINTR;
	if (!node->depth)
		return 0;
	end_slices(writer, node->depth - 1);
	begin_slice(writer, node, index, from);
	writer->ends[writer->open++] = to;
	return writer->out->error;
}

/* A track below the process; if that is unknown, below a process with the number of the thread */
static struct pf_known *find_track(struct pf_tracks *tracks, const struct why *why, uint32_t thread)
{
	uint32_t tid = why_tid(why, thread);
	uint32_t pid = why_tgid(why, thread) ? why_tgid(why, thread) : tid;
	size_t i = why_index(why, pid);
	uint32_t leader = i < why_threads(why) ? why_thread(why, i) : 0;
	const char *process = why_tid(why, leader) == pid ? why_comm(why, leader) : "";
	const char *comm = why_comm(why, thread);
	char name[TB_COMM_LEN + 4], above_name[TB_COMM_LEN + 4];
	struct pf_known *above;

	export_clean(above_name, process, strlen(process));
	export_clean(name, comm, strlen(comm));
	above = pf_track_process(tracks, pid, above_name);
	return above ? pf_track_named(tracks, PF_WHY, 0, tid, above->number, "why: %s %u",
				      name[0] ? name : "<...>", tid) : NULL;
}

int pf_why_write(struct pf_tracks *tracks, const struct why_threads *threads,
		 const volatile sig_atomic_t *stop)
{
	struct writer writer = { .out = tracks->out, .why = threads->why, .stop = stop };
	struct pf_known *track;
	unsigned int i;
	int result = 0;
	size_t count;

	why_watch(threads->why, take_stretch, &writer);
	for (i = 0; !result && i < threads->count; i++) {
		track = find_track(tracks, threads->why, threads->list[i].thread);
		if (!track) {
			result = -ENOMEM;
			break;
		}
		writer.track = track->number;
		/* each thread has a tree with all of its room, as in why */
		why_nodes(threads->why, &count);
		writer.names += count;
		why_clear(threads->why);
		result = why_add(threads->why, threads->list[i].thread, threads->list[i].from,
				 threads->list[i].to);
		if (!result)
			end_slices(&writer, 0);
	}
	why_watch(threads->why, NULL, NULL);
	return result;
}
