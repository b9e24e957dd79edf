/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Add records to a provider's durable buffer, and make room there.
 */
#ifndef TB_PROVIDER_RETENTION_H
#define TB_PROVIDER_RETENTION_H

#include <linux/tracebuf.h>
#include <linux/types.h>

struct tb_provider;

void tb_durable_drain(struct tb_provider *p);
int tb_durable_add(struct tb_provider *p, u64 time, u32 id, const void *payload, u32 bytes);
int tb_durable_add_counters(struct tb_provider *p, u32 mask);

/* for recording/state.c, under read_lock */
void tb_retention_recycle(struct tb_provider *p);
bool tb_retention_make_room(struct tb_provider *p);
void tb_retention_forget(struct tb_provider *p, u64 limit, u64 time);
void tb_retention_count_lost(struct tb_provider *p, u64 count);
u64 tb_retention_released(const struct tb_provider *p);
int tb_retention_add_string(void *ctx, enum tb_string_kind kind, u32 key, const char *text);
int tb_retention_add_counter_names(struct tb_provider *p);

#endif /* TB_PROVIDER_RETENTION_H */
