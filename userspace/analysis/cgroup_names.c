// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of cgroups; see cgroup_names.h.
 *
 *   /system.slice/docker-ID.scope                                    Docker, systemd
 *   /docker/ID, /kubepods/burstable/podUID/ID                        without systemd
 *   /kubepods.slice/.../cri-containerd-ID.scope, .../crio-ID.scope   Kubernetes
 *   /machine.slice/libpod-ID.scope[/container]                       Podman
 *   /system.slice/ssh.service                                        systemd
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "cgroup_names.h"

#define ID_SHOWN 12		/* digits of a container's ID that container tools show */

/* The ID that ends the name of this folder: "docker-ID.scope", "ID"; NULL: none */
static const char *id_of_folder(const char *folder, size_t length)
{
	const char *id = folder + length;

	while (id > folder && id[-1] != '-')
		id--;
	return strspn(id, "0123456789abcdef") >= CONTAINER_ID_DIGITS ? id : NULL;
}

const char *container_id(const char *path)
{
	const char *id = NULL, *found;
	size_t length;

	for (; *path; path += length) {
		path += *path == '/';
		length = strcspn(path, "/");
		found = id_of_folder(path, length);
		id = found ? found : id;
	}
	return id;
}

const char *cgroup_path(const struct tb_trace *trace, uint32_t cgroup)
{
	return cgroup ? tb_trace_string(trace, TB_STRING_CGROUP, cgroup) : NULL;
}

static size_t length_without(const char *folder, size_t length, const char *ending)
{
	size_t bytes = strlen(ending);

	return length > bytes && !memcmp(folder + length - bytes, ending, bytes) ?
	       length - bytes : length;
}

const char *cgroup_name(const char *path, char name[CGROUP_NAME_MAX])
{
	const char *folder = path, *last = path, *id = container_id(path);
	size_t length = 0;

	while (*folder) {
		folder += *folder == '/';
		length = strcspn(folder, "/");
		if (!length)
			break;
		last = folder;
		folder += length;
	}
	if (id) {
		snprintf(name, CGROUP_NAME_MAX, "%.*s", ID_SHOWN, id);
		return name;
	}
	length = strcspn(last, "/");
	if (last == path && !length)
		length = strlen(last);		/* "/", the root cgroup */
	length = length_without(last, length, ".service");
	length = length_without(last, length, ".scope");
	length = length_without(last, length, ".slice");
	snprintf(name, CGROUP_NAME_MAX, "%.*s", (int)length, last);
	return name;
}

const char *cgroup_container(const struct tb_trace *trace, uint32_t cgroup,
			     char name[CGROUP_NAME_MAX])
{
	const char *path = cgroup_path(trace, cgroup);
	const char *known = cgroup ? tb_trace_string(trace, TB_STRING_CONTAINER, cgroup) : NULL;

	if (known)
		return known;
	return path && container_id(path) ? cgroup_name(path, name) : NULL;
}

bool cgroup_path_matches(const char *path, const char *pattern)
{
	char name[CGROUP_NAME_MAX];

	return !fnmatch(pattern, path, 0) || !fnmatch(pattern, cgroup_name(path, name), 0);
}

bool cgroup_matches(const struct tb_trace *trace, uint32_t cgroup, const char *pattern)
{
	const char *path = cgroup_path(trace, cgroup);
	char name[CGROUP_NAME_MAX];
	const char *container = cgroup_container(trace, cgroup, name);

	return (path && cgroup_path_matches(path, pattern)) ||
	       (container && !fnmatch(pattern, container, 0));
}
