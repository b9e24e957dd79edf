// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all rooms ask a provider: one of its CPUs, whether its blocks are held.
 */
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>

#include "machine/compat.h"
#include "provider.h"

/**
 * tb_provider_cpu() - a CPU whose events are recorded, to do something there
 * @p: the provider
 * @spare: not one that is isolated; else one of these only if there is no other
 *
 * It may be offline by the time of use.
 *
 * Context: any.
 * Return: the CPU; nr_cpu_ids if there is none online.
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
 * tb_provider_reader_holds() - does the reader hold anything?
 * @p: the provider
 *
 * Context: process, under read_lock.
 * Return: true if so.
 */
bool tb_provider_reader_holds(struct tb_provider *p)
{
	struct tb_ring_stats st;
	unsigned int cpu;

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
