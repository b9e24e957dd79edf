/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The snapshot of a circular recording.  Callers hold tb_provider.read_lock, in process context.
 */
#ifndef TB_READER_SNAPSHOT_H
#define TB_READER_SNAPSHOT_H

#include "provider/provider.h"

void tb_snapshot_begin(struct tb_provider *p);
void tb_snapshot_end(struct tb_provider *p);
bool tb_snapshot_is_incomplete(struct tb_provider *p);
bool tb_snapshot_exceeds(struct tb_provider *p, struct tb_cpu_ring *r);
bool tb_snapshot_is_full(struct tb_provider *p, struct tb_cpu_ring *r);

#endif /* TB_READER_SNAPSHOT_H */
