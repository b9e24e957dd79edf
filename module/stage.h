/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of events that rules are about, and of those that are triggers.
 */
#ifndef TB_STAGE_H
#define TB_STAGE_H

#include <linux/types.h>

struct tb_probe;
struct tb_provider;
struct tb_ring;
struct tb_slot;

int tb_stage_init(struct tb_provider *p);
void tb_stage_exit(struct tb_provider *p);
int tb_stage_prepare(void);
void tb_stage_free(void);
bool tb_stage_begin(struct tb_probe *p, struct tb_ring *r, struct tb_slot *slot, u32 n);
void tb_stage_trigger_simple(struct tb_probe *p, u64 payload);

#endif /* TB_STAGE_H */
