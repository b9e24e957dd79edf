// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pause recordings during suspend and hibernation.
 *
 * The processor's counter may stop while the machine sleeps, or restart: then times in the rings
 * would go backwards.  Not all kernels export hooks right before and after that, so recordings
 * that use the counter pause from the first PM notification to the last; all CPUs run at both.
 * ktime_get_mono_fast_ns() does not go backwards: recordings that use it do not pause.
 *
 * The PM core calls the notifier, in process context.  Locks: tb_provider.lock, cpus_read_lock,
 * tb_provider.read_lock.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/suspend.h>

#include "machine/compat.h"
#include "recording.h"

/* a pause is in progress; written by the notifier alone, read under the lock of a provider */
static bool tb_sleep_near;
/* the clocks when the pause began */
static struct tb_clock_sync tb_sleep_halted;

/* Return true if a recording of @p that starts now must pause at once. */
bool tb_sleep_pauses(const struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	/* providers resume one after the other: this one may still be halted */
	return p->clock.raw == TB_TICKS_HALTED || (READ_ONCE(tb_sleep_near) && p->clock.raw);
}

/* ---- before ----------------------------------------------------------- */

/* Pause the rings.  A writer that read `paused` earlier may still open a buffer. */
static void tb_sleep_pause(struct tb_provider *p, void *data)
{
	unsigned int cpu;

	mutex_lock(&p->lock);
	/* a ring that is added is either among these, or sees tb_sleep_near */
	mutex_lock(&p->read_lock);
	if (p->allocated && p->clock.raw)
		for_each_cpu(cpu, &p->cpus)
			WRITE_ONCE(per_cpu_ptr(p->rings, cpu)->paused, 1);
	mutex_unlock(&p->read_lock);
	mutex_unlock(&p->lock);
}

/* Close buffers even in oneshot mode: no block may have events from before and after the pause. */
static void tb_sleep_close(struct tb_provider *p, void *data)
{
	mutex_lock(&p->lock);
	if (p->allocated && p->clock.raw) {
		cpus_read_lock();
		mutex_lock(&p->read_lock);
		tb_provider_close_buffers(p, &p->cpus, false);
		mutex_unlock(&p->read_lock);
		cpus_read_unlock();
	}
	mutex_unlock(&p->lock);
}

/*
 * Halt the clock.  Writers read the byte without READ_ONCE(): they use it once, and while the rings
 * are paused it does not matter which value they get.
 */
static void tb_sleep_halt(struct tb_provider *p, void *data)
{
	unsigned int cpu;

	mutex_lock(&p->lock);
	mutex_lock(&p->read_lock);
	if (p->allocated && p->clock.raw) {
		WRITE_ONCE(p->clock.raw, TB_TICKS_HALTED);
		p->durable.raw_clock = TB_TICKS_HALTED;
		for_each_cpu(cpu, &p->cpus)
			WRITE_ONCE(per_cpu_ptr(p->rings, cpu)->raw_clock, TB_TICKS_HALTED);
	}
	mutex_unlock(&p->read_lock);
	mutex_unlock(&p->lock);
}

/*
 * Once paused and closed, the rings drop and count all events, as when there is no room.  The
 * halted clock shows one time, so drops and records of threads during the pause get no wrong time.
 */
static void tb_sleep_begin(void)
{
	WRITE_ONCE(tb_sleep_near, true);
	tb_providers_each(tb_sleep_pause, NULL);
	/* wait for writers that read `paused` earlier: they have opened their buffers then */
	tb_tracepoint_synchronize();
	tb_providers_each(tb_sleep_close, NULL);
	/* halt at a time later than all events in the rings */
	tb_clock_halt();
	tb_providers_each(tb_sleep_halt, NULL);
}

/* ---- after ------------------------------------------------------------ */

/* Runs on the ring's CPU, or on any CPU if the ring's CPU is offline. */
static void tb_sleep_resume_ring(struct tb_cpu_ring *r, u8 ticks)
{
	/* first the clock: a writer on this CPU must open a buffer with the running clock */
	WRITE_ONCE(r->raw_clock, ticks);
	barrier();
	tb_ring_resume(r);
}

static void tb_sleep_resume_here(void *provider)
{
	struct tb_provider *p = provider;

	tb_sleep_resume_ring(this_cpu_ptr(p->rings), p->clock.raw);
}

/* Write clock records from before and after the pause, if the durable buffer has room. */
static void tb_sleep_sync_clock(struct tb_provider *p)
{
	struct tb_clock_sync now;

	lockdep_assert_held(&p->read_lock);
	/* as in tb_sync_in_durable() */
	tb_state_drain_queue(p);
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
		tb_channels_clock(p);
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
 * Stop a recording if hibernation does not save its memory, and discard its blocks: afterwards the
 * memory may contain blocks of another boot.  If a reader holds blocks, discard nothing; the call
 * after hibernation tries again.
 */
static void tb_sleep_discard(struct tb_provider *p)
{
	mutex_lock(&p->lock);
	if (p->allocated && p->durable.region && tb_region.claimed) {
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
	wake_up_all(&p->wait);
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
		/* not if the module was loaded during the pause: it missed the beginning */
		if (tb_sleep_near)
			tb_sleep_end();
		/* again: a reader may have held blocks, or started a recording meanwhile */
		if (action == PM_POST_HIBERNATION)
			tb_sleep_discard(&tb_kernel_provider);
		break;
	}
	return NOTIFY_OK;
}

struct notifier_block tb_sleep_block = {
	.notifier_call = tb_sleep_notify,
};
