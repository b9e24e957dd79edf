/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider: a source of events with its own rings, durable buffer, mode
 * and policy.
 *
 * Locks, outermost first:
 *	lock		configuration, start, stop, which events are enabled
 *	cpus_read_lock	where rings of other CPUs are flushed
 *	read_lock	the reader's side of the rings, who the reader is, the durable buffer
 *	map_lock	the memory as against mappings of it; taken under the
 *			mmap lock, so nothing may fault under it - nor under
 *			read_lock, which is held around it
 * The writers' side of the rings takes none.
 */
#ifndef TB_PROVIDER_H
#define TB_PROVIDER_H

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/tracebuf.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "buffer.h"
#include "clock.h"
#include "durable.h"
#include "ring.h"

struct tb_probe;
struct tb_session;

/**
 * struct tb_provider - one provider
 * @rings: one per possible CPU; the memory of those without buffers is absent
 * @live: @rings while others may record (api.c), else NULL
 * @mem: memory of the ring of CPU n
 * @headers: header page of the ring of CPU n, part of the mapping
 * @allocated: the memory is there
 * @probes: one per known event
 * @described: of each, which forms are in the durable buffer: 1 wide, 2 fast
 * @tracking: the probes that follow threads are attached
 * @want_wake: somebody waits, see tb_ring_notify()
 */
struct tb_provider {
	struct tb_ring __percpu *rings;
	struct tb_ring __percpu *live;

	struct mutex lock;	/* see above, outermost */
	char name[32];
	u32 id;
	u32 state;
	struct tb_config config;
	struct tb_clock clock;
	u64 generation;
	struct tb_probe *probes;
	u8 *described;
	unsigned int nr_probes;
	u32 nr_enabled;
	bool tracking;
	struct delayed_work sync_work;
	struct delayed_work flush_work;

	struct mutex read_lock;	/* reader, durable buffer */
	struct tb_durable durable;
	struct tb_session *reader;
	u32 next_cpu;

	struct mutex map_lock;	/* memory, mappings */
	bool allocated;
	struct tb_mem *mem;
	struct tb_mem headers;
	u32 mappings;

	u32 want_wake;
	struct irq_work wake;
	wait_queue_head_t wait;
};

extern struct tb_provider tb_kernel_provider;

int tb_provider_init(struct tb_provider *p, const char *name, u32 id);
void tb_provider_destroy(struct tb_provider *p);

int tb_provider_configure(struct tb_provider *p, const struct tb_config *config);
int tb_provider_select(struct tb_provider *p, const char *pattern, u32 op, u32 form, u32 *matched);
int tb_provider_start(struct tb_provider *p, u32 flags, u64 *generation);
int tb_provider_stop(struct tb_provider *p, u64 generation);
int tb_provider_flush(struct tb_provider *p, int cpu);
void tb_provider_flush_cpu(struct tb_provider *p, unsigned int cpu);
void tb_provider_query(struct tb_provider *p, struct tb_query *q);
int tb_provider_stats(struct tb_provider *p, struct tb_stats *st);
/* memory.c */
int tb_provider_allocate(struct tb_provider *p, const struct tb_config *c);
void tb_provider_free(struct tb_provider *p);
int tb_provider_mmap(struct tb_provider *p, struct vm_area_struct *vma);
u64 tb_provider_ring_stride(const struct tb_provider *p);
u64 tb_provider_durable_offset(const struct tb_provider *p);

static inline u32 tb_provider_buffer_bytes(const struct tb_provider *p)
{
	return p->config.elements * TB_ELEMENT_SIZE;
}

#endif /* TB_PROVIDER_H */
