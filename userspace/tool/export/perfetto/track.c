// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - tracks for records of programs, and the numbers of tracks and names.
 *
 * All are in one balanced tree, because programs choose the keys: no keys make it slow.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include "perfetto.h"
#include "analysis/cgroup_names.h"

static int compare(const void *a, const void *b)
{
	const struct pf_known *first = a, *second = b;

	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->high != second->high)
		return first->high < second->high ? -1 : 1;
	return first->low < second->low ? -1 : first->low > second->low;
}

void pf_tracks_free(struct pf_tracks *tracks)
{
	tdestroy(tracks->tree, free);
	tracks->tree = NULL;
}

struct pf_known *pf_known(struct pf_tracks *tracks, enum pf_known_kind kind,
			  uint32_t high, uint32_t low, bool *fresh)
{
	struct pf_known wanted = { .kind = kind, .high = high, .low = low };
	struct pf_known *known, **found;

	*fresh = false;
	found = tfind(&wanted, &tracks->tree, compare);
	if (found)
		return *found;
	known = malloc(sizeof(*known));
	if (!known)
		return NULL;
	*known = wanted;
	known->number = ++tracks->number;
	if (!tsearch(known, &tracks->tree, compare)) {
		free(known);
		return NULL;
	}
	*fresh = true;
	return known;
}

static void describe_at(struct pf_tracks *tracks, Perfetto__Protos__TrackDescriptor *descriptor,
			uint64_t uuid, uint64_t parent, uint64_t ns)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	descriptor->has_uuid = 1;
	descriptor->uuid = uuid;
	descriptor->has_parent_uuid = parent != 0;
	descriptor->parent_uuid = parent;
	packet.has_timestamp = ns != 0;
	packet.timestamp = ns;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = descriptor;
	pf_write_packet(tracks->out, PF_SEQUENCE_SYSTEM, &packet);
}

static void describe(struct pf_tracks *tracks, Perfetto__Protos__TrackDescriptor *descriptor,
		     uint64_t uuid, uint64_t parent)
{
	describe_at(tracks, descriptor, uuid, parent, 0);
}

struct pf_known *pf_track_labelled(struct pf_tracks *tracks, uint32_t pid, const char *comm,
				   uint32_t cgroup, uint64_t ns)
{
	Perfetto__Protos__TrackDescriptor track =
		PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	Perfetto__Protos__ProcessDescriptor process =
		PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
	char name[CGROUP_NAME_MAX], text[CGROUP_NAME_MAX], *label = text;
	const char *container;
	struct pf_known *known;
	bool fresh;

	known = pf_known(tracks, PF_PROCESS, 0, pid, &fresh);
	if (!known || !fresh)
		return known;
	process.has_pid = 1;
	process.pid = (int32_t)pid;
	if (*comm)
		process.process_name = (char *)comm;
	container = cgroup_container(tracks->trace, cgroup, name);
	if (container) {
		export_clean(text, container, strnlen(container, sizeof(text) - 1));
		process.n_process_labels = 1;
		process.process_labels = &label;
	}
	track.process = &process;
	describe_at(tracks, &track, known->number, 0, ns);
	return known;
}

struct pf_known *pf_track_process(struct pf_tracks *tracks, uint32_t pid,
				  const char *comm)
{
	return pf_track_labelled(tracks, pid, comm, 0, 0);
}

struct pf_known *pf_track_thread(struct pf_tracks *tracks, uint32_t pid,
				 uint32_t tid, const char *comm)
{
	Perfetto__Protos__TrackDescriptor track =
		PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	Perfetto__Protos__ThreadDescriptor thread =
		PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
	struct pf_known *known;
	bool fresh;

	known = pf_known(tracks, PF_THREAD, pid, tid, &fresh);
	if (!known || !fresh)
		return known;
	thread.has_pid = 1;
	thread.pid = (int32_t)pid;
	thread.has_tid = 1;
	thread.tid = (int32_t)tid;
	if (*comm)
		thread.thread_name = (char *)comm;
	track.thread = &thread;
	describe(tracks, &track, known->number, 0);
	return known;
}

struct pf_known *pf_track_child(struct pf_tracks *tracks, uint64_t parent,
				uint32_t writer, uint32_t writer_id)
{
	Perfetto__Protos__TrackDescriptor track =
		PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	struct pf_known *known;
	char name[32];
	bool fresh;

	known = pf_known(tracks, PF_CHILD, 0, writer, &fresh);
	if (!known || !fresh)
		return known;
	snprintf(name, sizeof(name), "writer %u", writer_id);
	track.name = name;
	describe(tracks, &track, known->number, parent);
	return known;
}

/* Perfetto draws tracks with the same name and parent as one track with several rows */
struct pf_known *pf_track_lane(struct pf_tracks *tracks, uint64_t parent, uint32_t writer,
			       uint32_t writer_id, uint32_t lane)
{
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	struct pf_known *known;
	char name[40];
	bool fresh;

	known = pf_known(tracks, PF_LANE, writer, lane, &fresh);
	if (!known || !fresh)
		return known;
	snprintf(name, sizeof(name), "slices of writer %u", writer_id);
	track.name = name;
	describe(tracks, &track, known->number, parent);
	return known;
}

struct pf_known *pf_track_why(struct pf_tracks *tracks, uint64_t parent, uint32_t tid,
			      const char *comm)
{
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	struct pf_known *known;
	char name[64];
	bool fresh;

	known = pf_known(tracks, PF_WHY, 0, tid, &fresh);
	if (!known || !fresh)
		return known;
	snprintf(name, sizeof(name), "why: %s %u", comm, tid);
	track.name = name;
	describe(tracks, &track, known->number, parent);
	return known;
}

struct pf_known *pf_track_counter(struct pf_tracks *tracks, uint64_t process,
				  uint32_t producer, uint32_t name_id,
				  const char *name, const char *category)
{
	Perfetto__Protos__TrackDescriptor track =
		PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	Perfetto__Protos__CounterDescriptor counter =
		PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;
	char *categories[1] = { (char *)category };
	struct pf_known *known;
	bool fresh;

	known = pf_known(tracks, PF_COUNTER, producer, name_id, &fresh);
	if (!known || !fresh)
		return known;
	if (category) {
		counter.n_categories = 1;
		counter.categories = categories;
	}
	track.name = (char *)name;
	track.counter = &counter;
	describe(tracks, &track, known->number, process);
	return known;
}
