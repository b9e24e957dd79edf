// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: when an event occurs, a circular recording goes on until a share of
 * its rings has been filled with what came after, and then freezes: nothing
 * is overwritten any more, so that what led to the event can be taken in peace.
 *
 * A trigger's events are those the kernel has, recorded or not.  Each has a probe of its own,
 * the same function as the recorder's, but for rings without buffers: the way of
 * an event there leads to the stage (pending.c), and from there to here.  So there is no probe
 * that knows of triggers, and no event that is not a trigger's pays for them.
 *
 * Freezing is done by the rings: each has the number of the last block that may overwrite
 * another.  The one the event occurred on gets it at once; the others, which may be those of
 * CPUs far away, from an irq_work.  It runs again whenever that ring completes a buffer,
 * until the share is filled; then all freeze.  A CPU that records little may take long for
 * that: a timer, which the irq_work starts, freezes the rings when the time is up.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/string.h>

#include "machine/compat.h"
#include "provider/provider.h"
#include "provider/wake.h"
#include "record.h"
#include "trigger.h"
#include "trigger_source.h"

/* ---- firing ----------------------------------------------------------- */

/**
 * tb_trigger_fire() - one of its events has occurred
 * @s: which
 *
 * Context: any, NMI included; preemption off.
 */
void tb_trigger_fire(struct tb_trigger_source *s)
{
	struct tb_provider *p = s->probe.provider;
	struct tb_trigger *t = &p->trigger;
	struct tb_cpu_ring *r = this_cpu_ptr(p->rings);

	/* once, and with one winner */
	if (READ_ONCE(t->state) != TB_TRIGGER_ARMED ||
	    cmpxchg(&t->state, TB_TRIGGER_ARMED, TB_TRIGGER_FIRING) != TB_TRIGGER_ARMED)
		return;
	t->event = s->probe.event;
	t->id = s->probe.id_wide;
	t->cpu = r->cpu;
	t->tid = current->pid;
	t->time = tb_clock_read(p->clock.raw);
	t->realtime = ktime_get_real_fast_ns();
	memcpy(t->comm, current->comm, sizeof(t->comm));
	/* raised by the tracepoint, the probe's own reservation, and this one */
	tb_record_control(p, TB_EV_MARK, s->text, s->bytes, 3);
	t->sequence = tb_ring_current(r, tb_read(&r->head));
	tb_write(&r->overwrite_last, t->sequence + t->post);
	/* all of the above before the state: pairs with those who see it FIRED */
	if (cmpxchg(&t->state, TB_TRIGGER_FIRING, TB_TRIGGER_FIRED) == TB_TRIGGER_FIRING)
		irq_work_queue(&t->work);
}

/* ---- freezing --------------------------------------------------------- */

/* Has the ring of the CPU where the trigger fired recorded its share of events after that? */
static bool tb_trigger_filled(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, t->cpu);
	u64 h = tb_read(&r->head);
	u64 gone = tb_ring_current(r, h) - t->sequence;

	/* nothing more to come from a CPU that is offline */
	if (!t->post || !cpu_online(t->cpu))
		return true;
	return gone > t->post || (gone == t->post && tb_head_index(h) == r->capacity);
}

/* From now on no ring overwrites anything.  May run on several CPUs at a time. */
static bool tb_trigger_freeze(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;

	for_each_cpu(cpu, &p->cpus)
		tb_write(&per_cpu_ptr(p->rings, cpu)->overwrite_last, 0);
	return cmpxchg(&t->state, TB_TRIGGER_FIRED, TB_TRIGGER_FROZEN) == TB_TRIGGER_FIRED;
}

/* The share has not been filled in time. */
static void tb_trigger_late(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, trigger.late.work);

	/* pairs with the exchange in tb_trigger_fire() */
	if (smp_load_acquire(&p->trigger.state) == TB_TRIGGER_FIRED && tb_trigger_freeze(p))
		tb_wake_waiters(p);
}

static void tb_trigger_work(struct irq_work *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, trigger.work);
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;

	/* pairs with the exchange in tb_trigger_fire() */
	if (smp_load_acquire(&t->state) != TB_TRIGGER_FIRED)
		return;
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		/* if it has none; this may run on two CPUs at a time */
		cmpxchg(&r->overwrite_last, ~0ull,
			tb_ring_current(r, tb_read(&r->head)) + t->post);
	}
	if (!tb_trigger_filled(p)) {
		/* once: it stays pending until it runs, and then there is nothing left to do */
		if (t->post_ms)
			queue_delayed_work(TB_UNBOUND_WQ, &t->late,
					   msecs_to_jiffies(t->post_ms));
		return;
	}
	if (tb_trigger_freeze(p))
		tb_wake_waiters_irq(p);
}

/* ---- life ------------------------------------------------------------- */

/**
 * tb_trigger_init() - the part of tb_provider_init() that is about the trigger
 * @p: the provider
 *
 * Context: process.
 */
void tb_trigger_init(struct tb_provider *p)
{
	tb_irq_work_init(&p->trigger.work, tb_trigger_work);
	INIT_DELAYED_WORK(&p->trigger.late, tb_trigger_late);
}

/**
 * tb_trigger_sync() - nothing of this is running or will run
 * @p: the provider, stopped, with no session
 *
 * Context: process.
 */
void tb_trigger_sync(struct tb_provider *p)
{
	irq_work_sync(&p->trigger.work);
	cancel_delayed_work_sync(&p->trigger.late);
}
