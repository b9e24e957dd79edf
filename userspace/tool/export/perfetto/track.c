// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - tracks for records of programs, and the numbers of tracks and names.
 *
 * All are in one balanced tree, because programs choose the keys: no keys make it slow.
 */
#include <errno.h>
#include <search.h>
#include <stdarg.h>
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
	PF_SET(&process, pid, (int32_t)pid);
	if (*comm)
		process.process_name = (char *)comm;
	container = cgroup_container(tracks->trace, cgroup, name);
	if (container) {
		export_clean(text, container, strnlen(container, sizeof(text) - 1));
		process.n_process_labels = 1;
		process.process_labels = &label;
	}
	track.process = &process;
	pf_write_track(tracks->out, &track, known->number, 0, ns);
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
	PF_SET(&thread, pid, (int32_t)pid);
	PF_SET(&thread, tid, (int32_t)tid);
	if (*comm)
		thread.thread_name = (char *)comm;
	track.thread = &thread;
	pf_write_track(tracks->out, &track, known->number, 0, 0);
	return known;
}

struct pf_known *pf_track_named(struct pf_tracks *tracks, enum pf_known_kind kind, uint32_t high,
				uint32_t low, uint64_t parent, const char *format, ...)
{
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	struct pf_known *known;
	va_list arguments;
	char name[64];
	bool fresh;

	known = pf_known(tracks, kind, high, low, &fresh);
	if (!known || !fresh)
		return known;
	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	track.name = name;
	pf_write_track(tracks->out, &track, known->number, parent, 0);
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
	pf_write_track(tracks->out, &track, known->number, process, 0);
	return known;
}
