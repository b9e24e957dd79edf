/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of containers, as Kubernetes, Docker and Podman know them.
 */
#ifndef TRACEBUF_CONTAINER_H
#define TRACEBUF_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/cgroup_names.h"

#define CONTAINER_NAME_MAX 512

/**
 * container_name - find the name of the container that the cgroup is of, on this machine
 * @root: "": this machine's files; a folder: a copy of them
 * @path: of the cgroup
 * @name: out: "namespace/pod/container" of Kubernetes, else "container"
 *
 * Return: false: it is of no container, no file names it, or the caller may not read that file.
 */
bool container_name(const char *root, const char *path, char name[CONTAINER_NAME_MAX]);

#endif /* TRACEBUF_CONTAINER_H */
