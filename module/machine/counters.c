// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance counters that are read at events: one perf event of the kernel for each counter and
 * CPU, pinned, so that it counts all the time.
 *
 * select/rule.c makes counters in process context, under tb_counters_set.lock.  probe/pending.c
 * reads them in any context, without a lock.
 *
 * When a CPU goes offline, the kernel disables its perf events for ever.  When the CPU is back, a
 * work makes new ones, which continue the counts.  The hotplug callback cannot make them, because
 * the kernel holds a lock then that making an event may take.
 */
#include <linux/cpumask.h>
#include <linux/cpu.h>
#include <linux/hardirq.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "compat.h"
#include "contiguous.h"
#include "counters.h"

/* ---- the kernel's events ---------------------------------------------- */

/* Return true if counters of this type count on the CPU that reads them. */
static bool tb_counter_known(const struct tb_counter *c)
{
	return c->type == PERF_TYPE_HARDWARE || c->type == PERF_TYPE_SOFTWARE ||
	       c->type == PERF_TYPE_HW_CACHE || c->type == PERF_TYPE_RAW;
}

#ifdef CONFIG_PERF_EVENTS

/*
 * Makes a perf event.  Return it, counting; -ENODEV the CPU is not online; -ENOMEM; -EOPNOTSUPP the
 * CPU has no such counter, or none is free.
 */
static struct perf_event *tb_perf_make(const struct tb_counter *c, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = c->type,
		.size = sizeof(attr),
		.config = c->config,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event)) {
		int err = PTR_ERR(event);

		return ERR_PTR(err == -ENODEV || err == -ENOMEM ? err : -EOPNOTSUPP);
	}
	if (READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR) {
		perf_event_release_kernel(event);
		return ERR_PTR(-EOPNOTSUPP);
	}
	return event;
}

/* Return false if the CPU has been offline, so that the event has stopped counting. */
static bool tb_perf_alive(const struct perf_event *event)
{
	return READ_ONCE(event->state) > PERF_EVENT_STATE_OFF;
}

static u64 tb_perf_count(struct perf_event *event)
{
	return local64_read(&event->count);
}

/*
 * Reads a counter on its CPU, as perf_event_read_local() does, which is not exported.  Interrupts
 * are off, because in interrupts the kernel moves events between hardware counters.  An NMI (@nmi)
 * may interrupt such a move, so it reads only software counters, which are plain memory.  A
 * tracepoint inside the move (a timer that perf starts) may read: perf_event_read_local() makes the
 * same checks, and BPF programs call it in every tracepoint.  Return false if it did not read.
 */
static notrace bool tb_perf_read(struct perf_event *event, bool nmi, u64 *value)
{
	if (READ_ONCE(event->oncpu) != raw_smp_processor_id() ||
	    (nmi && !is_software_event(event)))
		return false;
	event->pmu->read(event);
	*value = local64_read(&event->count);
	return true;
}

#else

static struct perf_event *tb_perf_make(const struct tb_counter *c, unsigned int cpu)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static bool tb_perf_alive(const struct perf_event *event)
{
	return true;
}

static u64 tb_perf_count(struct perf_event *event)
{
	return 0;
}

static notrace bool tb_perf_read(struct perf_event *event, bool nmi, u64 *value)
{
	return false;
}

#endif

/* ---- making ----------------------------------------------------------- */

static struct tb_counter_event *tb_counter_event(struct tb_counters_set *s, u32 i,
						 unsigned int cpu)
{
	return rcu_dereference_protected(per_cpu_ptr(s->cpu, cpu)->event[i],
					 lockdep_is_held(&s->lock));
}

/* Makes counter @i on a CPU, or replaces one that the kernel has disabled. */
static int tb_counter_make(struct tb_counters_set *s, u32 i, unsigned int cpu)
{
	struct tb_counter_event *old, *e;

	lockdep_assert_held(&s->lock);
	old = tb_counter_event(s, i, cpu);
	e = kmalloc(sizeof(*e), TB_GFP);
	if (!e)
		return -ENOMEM;
	e->event = tb_perf_make(&s->counter[i], cpu);
	if (IS_ERR(e->event)) {
		int err = PTR_ERR(e->event);

		kfree(e);
		return err;
	}
	e->base = old ? old->base + tb_perf_count(old->event) : 0;
	/* filled in before it can be read: pairs with the dereference in tb_counters_read_all() */
	rcu_assign_pointer(per_cpu_ptr(s->cpu, cpu)->event[i], e);
	if (old) {
		synchronize_rcu();
		perf_event_release_kernel(old->event);
		kfree(old);
	}
	return 0;
}

/* Frees counter @i, which no probe reads any more. */
static void tb_counter_remove(struct tb_counters_set *s, u32 i)
{
	struct tb_counter_event *e;
	unsigned int cpu;

	lockdep_assert_held(&s->lock);
	for_each_possible_cpu(cpu) {
		e = tb_counter_event(s, i, cpu);
		if (!e)
			continue;
		RCU_INIT_POINTER(per_cpu_ptr(s->cpu, cpu)->event[i], NULL);
		perf_event_release_kernel(e->event);
		kfree(e);
	}
}

/* Makes counter @i on all CPUs that have it: one CPU is enough. */
static int tb_counter_add(struct tb_counters_set *s, u32 i)
{
	int err = -EOPNOTSUPP, ret;
	unsigned int cpu;

	lockdep_assert_held(&s->lock);
	for_each_online_cpu(cpu) {
		ret = tb_counter_make(s, i, cpu);
		if (!ret) {
			err = 0;
		} else if (ret == -ENOMEM) {
			err = ret;
			break;
		}
	}
	if (err)
		tb_counter_remove(s, i);
	return err;
}

static void tb_counters_work(struct work_struct *work)
{
	struct tb_counters_set *s = container_of(work, struct tb_counters_set, work);
	struct tb_counter_event *e;
	unsigned int cpu;
	u32 i;

	/* wait until the CPU is online; then unlock, because perf takes this lock itself */
	cpus_read_lock();
	cpus_read_unlock();
	mutex_lock(&s->lock);
	for (i = 0; i < TB_COUNTERS_MAX; i++) {
		if (!s->refs[i])
			continue;
		for_each_online_cpu(cpu) {
			e = tb_counter_event(s, i, cpu);
			/* if this fails, events on the CPU are recorded without the counter */
			if (!e || !tb_perf_alive(e->event))
				tb_counter_make(s, i, cpu);
		}
	}
	mutex_unlock(&s->lock);
}

/*
 * Make the counters of a CPU that is coming online: a work does so soon after it is online.  A CPU
 * that goes offline needs no call.  Any context; not during or after tb_counters_exit().
 */
void tb_counters_online(struct tb_counters_set *s)
{
	queue_work(TB_UNBOUND_WQ, &s->work);
}

/* ---- references ------------------------------------------------------- */

static bool tb_counter_same(const struct tb_counter *a, const struct tb_counter *b)
{
	return a->type == b->type && a->config == b->config && !strcmp(a->name, b->name);
}

/* Return the number of counter @c, or a free one; TB_COUNTERS_MAX if all are in use. */
static u32 tb_counters_slot(const struct tb_counters_set *s, const struct tb_counter *c)
{
	u32 i, slot = TB_COUNTERS_MAX;

	lockdep_assert_held(&s->lock);
	for (i = 0; i < TB_COUNTERS_MAX; i++) {
		if (!s->refs[i])
			slot = min(slot, i);
		else if (tb_counter_same(&s->counter[i], c))
			return i;
	}
	return slot;
}

/* Takes a reference to counter @c and adds it to @mask, unless @mask has it. */
static int tb_counters_get_one(struct tb_counters_set *s, const struct tb_counter *c, u32 *mask)
{
	int err = 0;
	u32 i;

	lockdep_assert_held(&s->lock);
	if (c->reserved || !c->name[0] || strnlen(c->name, sizeof(c->name)) == sizeof(c->name))
		return -EINVAL;
	if (!tb_counter_known(c))
		return -EOPNOTSUPP;
	i = tb_counters_slot(s, c);
	if (i == TB_COUNTERS_MAX)
		return -ENOSPC;
	if (*mask & BIT(i))
		return 0;
	if (!s->refs[i]) {
		s->counter[i] = *c;
		err = tb_counter_add(s, i);
	}
	if (!err) {
		s->refs[i]++;
		*mask |= BIT(i);
	}
	return err;
}

static void tb_counters_drop(struct tb_counters_set *s, u32 mask)
{
	u32 i;

	lockdep_assert_held(&s->lock);
	for (i = 0; i < TB_COUNTERS_MAX; i++)
		if (mask & BIT(i) && !--s->refs[i])
			tb_counter_remove(s, i);
}

/**
 * tb_counters_get() - make counters, or take references to existing ones
 * @s: the set
 * @c: the counters; need not be legal, and may have a counter twice
 * @n: number of entries in @c
 * @mask: out: numbers of the counters, one bit each; s->counter[] has their names
 * @bad: out: on error, index of the wrong entry in @c
 *
 * A counter counts until its last reference is released; then another counter may get its number.
 *
 * Context: process, sleeps; must not hold cpus_read_lock().
 * Return: 0; -EINVAL; -EOPNOTSUPP no CPU has it, or it is in use; -ENOSPC more than
 * TB_COUNTERS_MAX different counters; -ENOMEM.  On error nothing has changed.
 */
int tb_counters_get(struct tb_counters_set *s, const struct tb_counter *c, u32 n, u32 *mask,
		    u32 *bad)
{
	u32 i, got = 0;
	int err = 0;

	mutex_lock(&s->lock);
	if (!s->cpu && n) {
		*bad = 0;
		s->cpu = alloc_percpu_gfp(*s->cpu, TB_GFP);
		if (!s->cpu)
			err = -ENOMEM;
	}
	for (i = 0; i < n && !err; i++) {
		*bad = i;
		err = tb_counters_get_one(s, &c[i], &got);
	}
	if (err)
		tb_counters_drop(s, got);
	else
		*mask = got;
	mutex_unlock(&s->lock);
	return err;
}

/*
 * Release references that tb_counters_get() took.  No probe uses these counters any more, and a
 * grace period has passed since.  The caller must not hold cpus_read_lock().
 */
void tb_counters_put(struct tb_counters_set *s, u32 mask)
{
	mutex_lock(&s->lock);
	tb_counters_drop(s, mask);
	mutex_unlock(&s->lock);
}

/* ---- reading ---------------------------------------------------------- */

/* set while this CPU reads counters: a probe of a tracepoint on that way must not read again */
static DEFINE_PER_CPU(u32, tb_counters_reading);

static notrace u32 tb_counters_read_all(const struct tb_counters_set *s, u32 mask, u64 *values)
{
	struct tb_counters_cpu *cpu = this_cpu_ptr(s->cpu);
	bool nmi = in_nmi();
	u32 i, got = 0;

	for (i = 0; i < TB_COUNTERS_MAX; i++) {
		struct tb_counter_event *e;

		if (!(mask & BIT(i)))
			continue;
		/* preemption is off; pairs with the assignment in tb_counter_make() */
		e = rcu_dereference_raw(cpu->event[i]);
		if (e && tb_perf_read(e->event, nmi, values)) {
			*values++ += e->base;
			got |= BIT(i);
		}
	}
	return got;
}

/**
 * tb_counters_read() - read counters of this CPU
 * @s: the set
 * @mask: counters to read, from tb_counters_get()
 * @values: out: the values, lowest number first; has room for all counters in @mask
 *
 * Turns interrupts off while it reads.
 *
 * Context: any, preemption off.  An NMI gets only software counters, and none if it interrupts a
 * read.
 * Return: counters that were read, a subset of @mask.
 */
notrace u32 tb_counters_read(const struct tb_counters_set *s, u32 mask, u64 *values)
{
	unsigned long flags;
	u32 got = 0;

	/* raw: local_irq_save() has tracepoints */
	raw_local_irq_save(flags);
	if (!this_cpu_read(tb_counters_reading)) {
		this_cpu_write(tb_counters_reading, 1);
		/* set during the read; only this CPU looks, so a compiler barrier suffices */
		barrier();
		got = tb_counters_read_all(s, mask, values);
		barrier();
		this_cpu_write(tb_counters_reading, 0);
	}
	raw_local_irq_restore(flags);
	return got;
}

/* ---- life ------------------------------------------------------------- */

void tb_counters_init(struct tb_counters_set *s)
{
	memset(s, 0, sizeof(*s));
	mutex_init(&s->lock);
	INIT_WORK(&s->work, tb_counters_work);
}

/* All references are released, and tb_counters_online() is not called any more. */
void tb_counters_exit(struct tb_counters_set *s)
{
	cancel_work_sync(&s->work);
	free_percpu(s->cpu);
}
