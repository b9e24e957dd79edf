/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of disks: events of requests have only the numbers of devices.  If a recording may have
 * such events, read the names when it begins and when a file ends, and write them behind the
 * blocks (TB_STRING_DISK in notes).
 */
#ifndef TRACEBUF_DISKS_H
#define TRACEBUF_DISKS_H

#include "notes.h"
#include "tracebuf.h"

struct disks;

/* If this block describes events of requests, allocate *@disks, and read the names.  Without memory
 * a disk gets no name */
void disks_block(struct disks **disks, const struct tb_block *block);

/* Append the names, also those of new disks; @disks NULL: none.  0, -ENOMEM */
int disks_notes(struct disks *disks, struct notes *notes);

void disks_free(struct disks *disks);

#endif /* TRACEBUF_DISKS_H */
