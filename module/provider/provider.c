// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call a function on a CPU that a provider records: for programs/ and recording/, in process
 * context; takes cpus_read_lock.  Check whether the reader holds blocks: for recording/, in process
 * context under read_lock.
 */
#include <linux/cpu.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>

#include "provider.h"

/*
 * Return an online CPU that the provider records, an isolated one only if there is no other (never
 * with @spare); nr_cpu_ids if there is none.
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
 * tb_provider_call() - call a function on this CPU if the provider records it, else on another one
 * @p: the provider
 * @spare: never interrupt an isolated CPU; if not set, interrupt one only if there is no other
 * @func: the function; runs with preemption off, perhaps in an interrupt
 * @arg: argument of @func
 *
 * Calls it on another CPU by an interrupt.  A work item could wait forever for real-time threads of
 * that CPU, while the caller holds locks.
 *
 * Context: process; takes cpus_read_lock.
 * Return: false if no such CPU is online.
 */
bool tb_provider_call(struct tb_provider *p, bool spare, void (*func)(void *arg), void *arg)
{
	bool done = cpumask_test_cpu(get_cpu(), &p->cpus);
	unsigned int cpu;

	if (done)
		func(arg);
	put_cpu();
	if (done)
		return true;
	/* keeps the CPU online */
	cpus_read_lock();
	cpu = tb_provider_cpu(p, spare);
	done = cpu < nr_cpu_ids && !smp_call_function_single(cpu, func, arg, true);
	cpus_read_unlock();
	return done;
}

/* Return true if the reader has acquired a block and not released it. */
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
