// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers.  After an event of its trigger, a circular recording goes on until later events fill a
 * share of its rings.  Then the rings freeze: they overwrite nothing any more, so a reader can
 * acquire what led to the event at any time.
 *
 * Each event of a trigger has its own probe, with rings without buffers.  So pending.c gets the
 * event, recorded or not, and calls tb_trigger_fire().  Other events pay nothing for triggers.
 *
 * tb_trigger_fire() runs in any context, NMI included; init in process context, for recording/.  No
 * lock.
 */
#include "probe.h"
#include "trigger.h"

/* ---- firing ----------------------------------------------------------- */

/**
 * tb_trigger_fire() - fire the trigger, because one of its events has occurred
 * @s: the event
 *
 * Sets in the ring of this CPU which block is the last that may overwrite another.  An irq_work
 * does so in the other rings, so each ring keeps what led to the event.  The irq_work runs again
 * whenever the ring of this CPU completes a buffer, and freezes all rings when that has filled its
 * share.  If the time of the trigger is up before, a delayed work freezes them.
 *
 * Context: any, NMI included; preemption off.
 */
void tb_trigger_fire(struct tb_trigger_source *s)
{
	struct tb_provider *p = s->probe.provider;
	struct tb_trigger *t = &p->trigger;
	struct tb_cpu_ring *r = this_cpu_ptr(p->rings);

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
	/* own is 3: the tracepoint, the probe's reservation, and tb_record_begin() */
	tb_record_control(p, TB_EV_MARK, s->text, s->bytes, 3);
	t->sequence = tb_ring_current(r, tb_read(&r->head));
	tb_write(&r->overwrite_last, t->sequence + t->post);
	/* all members before the state: pairs with the acquires that find it FIRED */
	if (cmpxchg(&t->state, TB_TRIGGER_FIRING, TB_TRIGGER_FIRED) == TB_TRIGGER_FIRING)
		irq_work_queue(&t->work);
}

/* ---- freezing --------------------------------------------------------- */

/* Return true if the ring of the CPU where the trigger fired has filled its share since. */
static bool tb_trigger_filled(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, t->cpu);
	u64 h = tb_read(&r->head);
	u64 gone = tb_ring_current(r, h) - t->sequence;

	/* an offline CPU records nothing more */
	if (!t->post || !cpu_online(t->cpu))
		return true;
	return gone > t->post || (gone == t->post && tb_head_index(h) == r->capacity);
}

/*
 * Stops the overwriting in all rings.  May run on several CPUs at a time.
 * Return: true for the caller that changed the state.
 */
static bool tb_trigger_freeze(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;

	for_each_cpu(cpu, &p->cpus)
		tb_write(&per_cpu_ptr(p->rings, cpu)->overwrite_last, 0);
	return cmpxchg(&t->state, TB_TRIGGER_FIRED, TB_TRIGGER_FROZEN) == TB_TRIGGER_FIRED;
}

/* Freezes the rings if the time is up before the ring has filled its share. */
static void tb_trigger_late(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, trigger.late.work);

	/* pairs with the exchange in tb_trigger_fire() */
	if (smp_load_acquire(&p->trigger.state) == TB_TRIGGER_FIRED && tb_trigger_freeze(p))
		wake_up_all(&p->wait);
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

		/* set the limit once; this may run on two CPUs at a time */
		cmpxchg(&r->overwrite_last, ~0ull,
			tb_ring_current(r, tb_read(&r->head)) + t->post);
	}
	if (!tb_trigger_filled(p)) {
		/* does nothing if it is pending already; when it runs, all rings freeze */
		if (t->post_ms)
			queue_delayed_work(TB_UNBOUND_WQ, &t->late,
					   msecs_to_jiffies(t->post_ms));
		return;
	}
	if (tb_trigger_freeze(p))
		tb_wake_waiters_irq(p);
}

/* ---- life ------------------------------------------------------------- */

void tb_trigger_init(struct tb_provider *p)
{
	tb_irq_work_init(&p->trigger.work, tb_trigger_work);
	INIT_DELAYED_WORK(&p->trigger.late, tb_trigger_late);
}
