/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of cgroups in a trace, and of the containers that they belong to.
 */
#ifndef TRACEBUF_CGROUP_NAMES_H
#define TRACEBUF_CGROUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include "tracebuf.h"

#define CONTAINER_ID_DIGITS 64

/**
 * container_id - find the ID of a container in the path of its cgroup
 * Return: where its CONTAINER_ID_DIGITS digits begin in @path, the last if there are several; NULL:
 * the path has none.
 */
const char *container_id(const char *path);

#define CGROUP_NAME_MAX 256

/* The path of a cgroup in the trace; NULL: not known */
const char *cgroup_path(const struct tb_trace *trace, uint32_t cgroup);

/*
 * Make a short name of @path: "3f2a9c81d0b7" for a container of Docker, Podman, containerd or
 * CRI-O, with systemd or without; "ssh" for a service; else the last folder.  Returns @name.
 */
const char *cgroup_name(const char *path, char name[CGROUP_NAME_MAX]);

/*
 * The container that a cgroup of a trace belongs to: its name if the recorder found it ("web",
 * "shop/web-0/nginx" of Kubernetes), else what cgroup_name() makes of its ID; NULL: it belongs to
 * none, or its path is not known.  The result may be @name.
 */
const char *cgroup_container(const struct tb_trace *trace, uint32_t cgroup,
			     char name[CGROUP_NAME_MAX]);

/* Does @pattern, with * and ?, match the cgroup's path, its name, or the name of its container? */
bool cgroup_matches(const struct tb_trace *trace, uint32_t cgroup, const char *pattern);
/* The same, of the path alone */
bool cgroup_path_matches(const char *path, const char *pattern);

#endif /* TRACEBUF_CGROUP_NAMES_H */
