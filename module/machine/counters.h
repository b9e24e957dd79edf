/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Performance counters that are read at events.
 */
#ifndef TB_MACHINE_COUNTERS_H
#define TB_MACHINE_COUNTERS_H

#include <linux/mutex.h>
#include <linux/tracebuf.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct perf_event;

/**
 * struct tb_counter_event - a counter on one CPU
 * @event: the kernel's perf event
 * @base: count of earlier perf events of this counter and CPU
 */
struct tb_counter_event {
	struct perf_event *event;
	u64 base;
};

/* the counters of one CPU, which reads them with preemption off */
struct tb_counters_cpu {
	struct tb_counter_event __rcu *event[TB_COUNTERS_MAX];
};

/**
 * struct tb_counters_set - the performance counters of a provider
 * @lock: protects all but reading the counters; taken under tb_provider.lock
 * @counter: description of each counter
 * @refs: references to each counter; 0: the number is free
 * @cpu: perf events of each CPU; NULL until the first tb_counters_get()
 * @work: makes the perf events of CPUs that have come online
 */
struct tb_counters_set {
	struct mutex lock;	/* see above */
	struct tb_counter counter[TB_COUNTERS_MAX];
	u32 refs[TB_COUNTERS_MAX];
	struct tb_counters_cpu __percpu *cpu;
	struct work_struct work;
};

void tb_counters_init(struct tb_counters_set *s);
void tb_counters_exit(struct tb_counters_set *s);
int tb_counters_get(struct tb_counters_set *s, const struct tb_counter *c, u32 n, u32 *mask,
		    u32 *bad);
void tb_counters_put(struct tb_counters_set *s, u32 mask);
void tb_counters_online(struct tb_counters_set *s);
u32 tb_counters_read(const struct tb_counters_set *s, u32 mask, u64 *values);

#endif /* TB_MACHINE_COUNTERS_H */
