/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write a snapshot of a circular recording into a file.
 */
#ifndef TRACEBUF_SNAPSHOT_H
#define TRACEBUF_SNAPSHOT_H

#include "tracebuf.h"

/* Bytes for the name of stamped_name() */
#define STAMPED_NAME 64

/* Make a name "snapshot-DATE-TIME.tbuf" that no file has yet */
void stamped_name(char *name);

/* Check that a circular recording runs.  Complains, EXIT_* */
int snapshot_possible(const struct tb_query *query);

/* Write a snapshot into @output; complains, EXIT_*.  @device must not have read blocks, and cannot
 * read any afterwards. */
int take_snapshot(struct tb_device *device, const char *output);

#endif /* TRACEBUF_SNAPSHOT_H */
