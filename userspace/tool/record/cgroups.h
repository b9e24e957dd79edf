/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths for the cgroups in records of threads, which have only numbers: looked up while the cgroup
 * exists, written behind the blocks (TB_STRING_CGROUP in notes).
 */
#ifndef TRACEBUF_CGROUPS_H
#define TRACEBUF_CGROUPS_H

#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct cgroups;

/* Look at the records of threads in this block; made when there are any.  Without memory a cgroup
 * has no path */
void cgroups_block(struct cgroups **cgroups, const struct tb_block *block);

/* A cgroup was made, with that path */
void cgroups_name(struct cgroups **cgroups, uint32_t id, const char *path);

/**
 * cgroups_notes - the paths of the cgroups in the blocks since the last call
 * @first, @data, @bytes: as of addresses_notes()
 *
 * Return: 0 or -ENOMEM.
 */
int cgroups_notes(struct cgroups *cgroups, uint64_t first, void **data, size_t *bytes);

void cgroups_free(struct cgroups *cgroups);

#endif /* TRACEBUF_CGROUPS_H */
