// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and hibernation.
 *
 * The processor's counter may stop while the machine sleeps, and may begin anew: then times in the
 * rings would go backwards.  No hook that all kernels export to modules is called right before and
 * right after that.  So recordings that use the counter pause from the first notification to the
 * last, in which all CPUs run:
 *
 *	before	No ring opens a buffer any more.  When all who did not know that are through, the
 *		current buffers are closed.  Then nothing can be recorded.  What is attempted is
 *		dropped and counted, as where there is no room.  The clock halts: it says one time
 *		until the end, so drops and threads that are told of have a time that is not wrong.
 *	after	The clock goes on, later than it was halted (tb_clock_go_on()).  Each ring is told
 *		on its own CPU: the span of its drops ends now.  The next block tells of them.  The
 *		durable buffer gets both ties of the clocks: from before, and from after.
 *
 * ktime_get_mono_fast_ns() does not go backwards: recordings that use it do not pause.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/suspend.h>

#include "events/catalog.h"
#include "machine/reserved.h"
#include "provider/list.h"
#include "provider/provider.h"
#include "provider/retention.h"
#include "provider/wake.h"
#include "recording.h"
#include "registry.h"
#include "sleep.h"

/* Written by the notifier alone, read under the lock of a provider. */
static bool tb_sleep_near;
/* the clocks when they were halted */
static struct tb_clock_sync tb_sleep_halted;

/**
 * tb_sleep_pauses() - is a recording that starts now to pause at once?
 * @p: its provider
 *
 * Context: process, under lock.
 * Return: true if so.
 */
bool tb_sleep_pauses(const struct tb_provider *p)
{
	/* at the end providers are told one after the other: this one may not have been yet */
	return p->clock.raw == TB_TICKS_HALTED || (READ_ONCE(tb_sleep_near) && p->clock.raw);
}

/* ---- before ----------------------------------------------------------- */

/* No buffer is opened from now on, but by who has not seen this yet. */
static void tb_sleep_pause(struct tb_provider *p, void *data)
{
	unsigned int cpu;

	mutex_lock(&p->lock);
	if (p->allocated && p->clock.raw)
		for_each_cpu(cpu, &p->cpus)
			WRITE_ONCE(per_cpu_ptr(p->rings, cpu)->paused, 1);
	mutex_unlock(&p->lock);
}

/* Also in oneshot mode: what is recorded afterwards must not share a block with what was before. */
static void tb_sleep_close(struct tb_provider *p, void *data)
{
	mutex_lock(&p->lock);
	if (p->allocated && p->clock.raw) {
		cpus_read_lock();
		mutex_lock(&p->read_lock);
		tb_provider_close_buffers(p);
		mutex_unlock(&p->read_lock);
		cpus_read_unlock();
	}
	mutex_unlock(&p->lock);
}

/* How it is to read the clock.  Under lock. */
static void tb_sleep_clock(struct tb_provider *p, u8 ticks)
{
	unsigned int cpu;

	mutex_lock(&p->read_lock);
	WRITE_ONCE(p->clock.raw, ticks);
	p->durable.raw_clock = ticks;
	for_each_cpu(cpu, &p->cpus)
		WRITE_ONCE(per_cpu_ptr(p->rings, cpu)->raw_clock, ticks);
	mutex_unlock(&p->read_lock);
}

static void tb_sleep_halt(struct tb_provider *p, void *data)
{
	mutex_lock(&p->lock);
	if (p->allocated && p->clock.raw)
		tb_sleep_clock(p, TB_TICKS_HALTED);
	mutex_unlock(&p->lock);
}

static void tb_sleep_begin(void)
{
	WRITE_ONCE(tb_sleep_near, true);
	tb_providers_each(tb_sleep_pause, NULL);
	/* who has not seen that rings are paused is through, and has opened what he opens */
	tb_events_synchronize();
	tb_providers_each(tb_sleep_close, NULL);
	/* later than all that is in the rings */
	tb_clock_halt();
	tb_providers_each(tb_sleep_halt, NULL);
}

/* ---- after ------------------------------------------------------------ */

/* On the ring's CPU, or if that is offline. */
static void tb_sleep_resume_ring(struct tb_cpu_ring *r, u8 ticks)
{
	/* on this CPU contexts see the clock go on before buffers are opened */
	WRITE_ONCE(r->raw_clock, ticks);
	barrier();
	tb_ring_resume(r);
}

static void tb_sleep_resume_here(void *provider)
{
	struct tb_provider *p = provider;

	tb_sleep_resume_ring(this_cpu_ptr(p->rings), p->clock.raw);
}

/* What ties the clocks together before and after.  Without room for it, less is known. */
static void tb_sleep_sync_clock(struct tb_provider *p)
{
	struct tb_clock_sync now;

	tb_clock_sync(&p->clock, &now);
	if (!tb_durable_add(p, tb_sleep_halted.clock, TB_EV_CLOCK, &tb_sleep_halted,
			    sizeof(tb_sleep_halted)))
		tb_durable_add(p, now.clock, TB_EV_CLOCK, &now, sizeof(now));
	tb_durable_seal(&p->durable);
}

static void tb_sleep_resume(struct tb_provider *p, void *data)
{
	unsigned int cpu;

	mutex_lock(&p->lock);
	if (p->allocated && p->clock.raw) {
		cpus_read_lock();
		mutex_lock(&p->read_lock);
		WRITE_ONCE(p->clock.raw, tb_clock_ticks_now());
		p->durable.raw_clock = p->clock.raw;
		on_each_cpu_mask(&p->cpus, tb_sleep_resume_here, p, true);
		for_each_cpu(cpu, &p->cpus)
			if (!cpu_online(cpu))
				tb_sleep_resume_ring(per_cpu_ptr(p->rings, cpu), p->clock.raw);
		if (p->state == TB_STATE_RUNNING)
			tb_sleep_sync_clock(p);
		mutex_unlock(&p->read_lock);
		cpus_read_unlock();
	}
	mutex_unlock(&p->lock);
}

static void tb_sleep_end(void)
{
	tb_clock_go_on(&tb_sleep_halted);
	WRITE_ONCE(tb_sleep_near, false);
	tb_providers_each(tb_sleep_resume, NULL);
}

/* ---- reserved memory -------------------------------------------------- */

/*
 * Stops a recording whose memory hibernation does not save, and discards what was not read: later
 * the memory may contain blocks of another boot.  Blocks that a reader holds stay valid until it
 * releases them; the call after hibernation discards the rest.
 */
static void tb_sleep_discard(struct tb_provider *p)
{
	mutex_lock(&p->lock);
	if (p->allocated && p->durable.region && !tb_region_hibernates()) {
		if (p->state == TB_STATE_RUNNING) {
			pr_warn("tracebuf: %s: recording stops: reserved memory is not saved in hibernation\n",
				p->name);
			WRITE_ONCE(p->reason, TB_REASON_HIBERNATION);
			tb_recording_stop(p);
		}
		mutex_lock(&p->read_lock);
		if (p->state == TB_STATE_STOPPED && !tb_provider_reader_holds(p)) {
			tb_recording_reset(p);
			WRITE_ONCE(p->reason, TB_REASON_HIBERNATION);
		}
		mutex_unlock(&p->read_lock);
	}
	mutex_unlock(&p->lock);
	tb_wake_waiters(p);
}

/* ---- life ------------------------------------------------------------- */

static int tb_sleep_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	switch (action) {
	case PM_HIBERNATION_PREPARE:
		tb_sleep_discard(&tb_kernel_provider);
		fallthrough;
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		if (!tb_sleep_near)
			tb_sleep_begin();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		/* a module that was loaded in between was not told of the beginning */
		if (tb_sleep_near)
			tb_sleep_end();
		/* if blocks were held before, or a recording was started since */
		if (action == PM_POST_HIBERNATION)
			tb_sleep_discard(&tb_kernel_provider);
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block tb_sleep_block = {
	.notifier_call = tb_sleep_notify,
};

/**
 * tb_sleep_init() - be told when the machine goes to sleep
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int tb_sleep_init(void)
{
	return register_pm_notifier(&tb_sleep_block);
}

/**
 * tb_sleep_exit() - undo tb_sleep_init()
 *
 * Context: module exit.
 */
void tb_sleep_exit(void)
{
	unregister_pm_notifier(&tb_sleep_block);
}
