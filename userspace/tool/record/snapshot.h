/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot of a circular recording, into a file.
 */
#ifndef TRACEBUF_SNAPSHOT_H
#define TRACEBUF_SNAPSHOT_H

#include "tracebuf.h"

/* Room for a name of a file that carries the time */
#define STAMPED_NAME 64

/* "snapshot-DATE-TIME.tbuf", one that does not exist yet */
void stamped_name(char *name);

/* Is there anything to take a snapshot of?  Complains, EXIT_* */
int snapshot_possible(const struct tb_query *query);

/* What a circular recording holds goes to a file; complains, EXIT_*.  The device must not
 * have been used for reading, and is of no use for that afterwards. */
int take_snapshot(struct tb_device *device, const char *output);

#endif /* TRACEBUF_SNAPSHOT_H */
