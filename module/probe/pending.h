/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decide on events that have a rule, a set of threads or handlers, and on a trigger's events.
 */
#ifndef TB_PROBE_PENDING_H
#define TB_PROBE_PENDING_H

#include <linux/types.h>

#include "ring/ring.h"

struct tb_probe;
struct tb_provider;

int tb_pending_init(struct tb_provider *p);
void tb_pending_exit(struct tb_provider *p);
int tb_pending_prepare(void);
void tb_pending_free(void);
struct tb_place tb_pending_begin(struct tb_probe *p, struct tb_cpu_ring *r, u32 n);
void tb_pending_trigger_simple(struct tb_probe *p, u64 payload);

/* Return true if @place is outside the rings: its index is 0, where a block has its header. */
static inline bool tb_pending_holds(struct tb_place place)
{
	return !tb_head_index(place.head);
}

#endif /* TB_PROBE_PENDING_H */
