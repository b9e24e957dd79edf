// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose a CPU that a provider records: for programs/ and recording/, in any context without a
 * lock.  Check whether the reader holds blocks: for recording/, in process context under read_lock.
 */
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>

#include "machine/compat.h"
#include "provider.h"

/**
 * tb_provider_cpu() - choose an online CPU that the provider records
 * @p: the provider
 * @spare: never choose an isolated CPU; if not set, choose one only if there is no other
 *
 * The CPU may go offline before the caller uses it.
 *
 * Context: any.
 * Return: the CPU; nr_cpu_ids if no such CPU is online.
 */
unsigned int tb_provider_cpu(struct tb_provider *p, bool spare)
{
	unsigned int cpu, found = nr_cpu_ids;

	rcu_read_lock();
	for_each_cpu_and(cpu, &p->cpus, cpu_online_mask) {
		if (!cpu_is_isolated(cpu)) {
			found = cpu;
			break;
		}
		if (!spare && found >= nr_cpu_ids)
			found = cpu;
	}
	rcu_read_unlock();
	return found;
}

/**
 * tb_provider_reader_holds() - check whether the reader holds blocks
 * @p: the provider
 *
 * Context: process, under read_lock.
 * Return: true if the reader has acquired a block and not released it.
 */
bool tb_provider_reader_holds(struct tb_provider *p)
{
	struct tb_ring_stats st;
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	if (!p->allocated)
		return false;
	if (p->durable.taken != p->durable.released)
		return true;
	for_each_cpu(cpu, &p->cpus) {
		tb_ring_stats(per_cpu_ptr(p->rings, cpu), &st);
		if (st.held)
			return true;
	}
	return false;
}
