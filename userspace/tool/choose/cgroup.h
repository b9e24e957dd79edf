/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups of the unified hierarchy: paths of existing cgroups and of cgroups in a trace, and the
 * names of containers.
 */
#ifndef TRACEBUF_CGROUP_H
#define TRACEBUF_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/cgroup_names.h"
#include "tracebuf.h"

/* True if @pattern, with * and ?, matches the path of a cgroup of this machine, its name, or the
 * name of its container */
bool cgroup_here_matches(const char *path, const char *pattern);

/**
 * cgroup_quota - get the CPU quota that a cgroup has used up at some time
 * @path: path of the cgroup
 * @text: out: "10000 50000 /shop": microseconds of CPU time in a period of microseconds, and the
 *	path of the cgroup that has this quota: the cgroup itself, or the nearest one above
 *
 * Return: true; false: the cgroup is gone, it has no quota, or never used it up.
 */
bool cgroup_quota(const char *path, char *text, size_t size);

/**
 * cgroups_each - call a function for each cgroup that exists
 * @visit: gets the @id, as in struct tb_thread, the @path in the hierarchy (the root is "/"), and
 *	the
 *	@folder with its files.  A result other than 0 ends the walk
 *
 * Return: 0; -ENOENT: the hierarchy is not mounted; or the result of @visit.
 */
int cgroups_each(int (*visit)(uint32_t id, const char *path, const char *folder, void *context),
		 void *context);

#endif /* TRACEBUF_CGROUP_H */
