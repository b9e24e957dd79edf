/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Create, configure, start, stop, flush, query and remove a provider; write the state into its
 * durable buffer; pause recordings while the machine sleeps.
 *
 * Callers: the rooms above, module/api.c and module/main.c, in process context.
 */
#ifndef TB_RECORDING_RECORDING_H
#define TB_RECORDING_RECORDING_H

#include "provider/provider.h"

/* configure.c */
int tb_provider_init(struct tb_provider *p, const char *name);
void tb_provider_destroy(struct tb_provider *p);
int tb_provider_configure(struct tb_provider *p, const struct tb_config *config,
			  const struct cpumask *cpus);
int tb_provider_start(struct tb_provider *p, u32 flags, u64 *generation);
int tb_provider_stop(struct tb_provider *p, u64 generation);
int tb_provider_stats(struct tb_provider *p, struct tb_stats *st);

/* recording.c */
void tb_recording_init(struct tb_provider *p);
int tb_recording_add_ring(struct tb_provider *p, unsigned int cpu);
void tb_recording_reset(struct tb_provider *p);
int tb_recording_start(struct tb_provider *p, bool dump);
void tb_recording_stop(struct tb_provider *p);
void tb_recording_damaged(struct tb_provider *p);
int tb_provider_flush(struct tb_provider *p, int cpu);
void tb_provider_close_buffers(struct tb_provider *p, const struct cpumask *cpus, bool spare);
void tb_provider_flush_cpus(struct tb_provider *p, const struct cpumask *cpus);

/* state.c */
void tb_state_drain_queue(struct tb_provider *p);
int tb_state_write(struct tb_provider *p, bool dump);
int tb_state_complete(struct tb_provider *p);
void tb_state_write_snapshot(struct tb_provider *p, unsigned int cpu);
void tb_state_write_end(struct tb_provider *p);
void tb_state_work(struct work_struct *work);

/* registry.c */
extern struct tb_provider tb_kernel_provider;
int tb_registry_init(void);
void tb_registry_exit(void);
int tb_registry_create(const char *name, u32 flags, struct tb_provider **created);
int tb_registry_destroy(const char *name, struct tb_provider *own);

/* sleep.c */
extern struct notifier_block tb_sleep_block;	/* main.c registers it */
bool tb_sleep_pauses(const struct tb_provider *p);

#endif /* TB_RECORDING_RECORDING_H */
