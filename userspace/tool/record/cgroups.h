/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths of cgroups: records of threads have only cgroup IDs.  Look the paths up while the cgroups
 * exist, and write them behind the blocks (TB_STRING_CGROUP in notes).
 */
#ifndef TRACEBUF_CGROUPS_H
#define TRACEBUF_CGROUPS_H

#include <stdint.h>
#include "notes.h"
#include "tracebuf.h"

struct cgroups;

/* Collect the cgroup IDs of threads in this block.  The first durable block allocates *@cgroups.
 * Without memory a cgroup gets no path */
void cgroups_block(struct cgroups **cgroups, const struct tb_block *block);

/* Set the path of a new cgroup */
void cgroups_name(struct cgroups **cgroups, uint32_t id, const char *path);

/* Append the paths of all cgroups in blocks since the last call.  0, -ENOMEM */
int cgroups_notes(struct cgroups *cgroups, struct notes *notes);

void cgroups_free(struct cgroups *cgroups);

#endif /* TRACEBUF_CGROUPS_H */
