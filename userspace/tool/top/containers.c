// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of the containers and cgroups that tasks are in.  A finished trace has them; during a
 * recording of this machine the folders of its cgroups have them.
 *
 * If a task is in an unknown cgroup, the whole tree of cgroups is read again, at most once in
 * SCAN_NS.  The files that name a container may be written only some time after its cgroup was
 * made, so a container without a name is looked up for LOOK_NS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "top.h"
#include "tool/choose/cgroup.h"
#include "tool/choose/container.h"
#include "tool/command/command.h"

#define SCAN_NS 1000000000ull
#define LOOK_NS 10000000000ull

/**
 * struct group - a cgroup that tasks are in
 * @name: of its container, else of itself
 * @since: time of the first look-up, CLOCK_MONOTONIC in ns
 * @known: @name does not change any more
 */
struct group {
	char name[CGROUP_NAME_MAX];
	uint64_t since;
	bool known;
};

/* The trace has the name: of the container, or of the cgroup without one */
static bool name_in_trace(struct group *group, const struct tb_trace *trace, uint32_t cgroup)
{
	char buffer[CGROUP_NAME_MAX];
	const char *name = cgroup_container(trace, cgroup, buffer);
	const char *path = name ? NULL : cgroup_path(trace, cgroup);

	if (path)
		name = cgroup_name(path, buffer);
	if (name)
		snprintf(group->name, sizeof(group->name), "%s", name);
	return name;
}

static int take_path(uint32_t cgroup, const char *path, const char *folder, void *context)
{
	struct group *group = map_get(context, cgroup);
	char name[CONTAINER_NAME_MAX];

	(void)folder;
	if (!group || group->known)
		return 0;
	group->known = container_name("", path, name);
	if (group->known)
		snprintf(group->name, sizeof(group->name), "%.*s", CGROUP_NAME_MAX - 1, name);
	else
		cgroup_name(path, group->name);
	group->known |= !container_id(path);
	return 0;
}

void top_containers_find(struct top_containers *containers, const struct top_source *source)
{
	uint64_t now = monotonic_ns();

	if (!source->device || !containers->missing || now - containers->scanned < SCAN_NS)
		return;
	containers->missing = false;
	containers->scanned = now;
	cgroups_each(take_path, &containers->groups);
}

const char *top_container(struct top_containers *containers, const struct top_source *source,
			  uint32_t cgroup)
{
	void **slot = cgroup ? map_at(&containers->groups, cgroup) : NULL;
	struct group *group;

	if (!slot)
		return "?";
	if (!*slot) {
		*slot = group = calloc(1, sizeof(*group));
		if (!group)
			return "?";
		group->since = monotonic_ns();
		snprintf(group->name, sizeof(group->name), "cgroup %" PRIu32, cgroup);
	}
	group = *slot;
	if (!group->known)
		group->known = name_in_trace(group, source->trace, cgroup);
	if (!group->known && monotonic_ns() - group->since < LOOK_NS)
		containers->missing = true;
	return group->name;
}

void top_containers_free(struct top_containers *containers)
{
	map_free(&containers->groups, free);
}
