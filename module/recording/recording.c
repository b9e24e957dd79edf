// SPDX-License-Identifier: GPL-2.0-only
/*
 * One recording of a provider: start, stop, flush; clock records and damage checks at intervals.
 *
 * Callers: configure.c, sleep.c, registry.c, reader/, devices/, in process context.
 * Locks: tb_provider.lock to start and stop; cpus_read_lock, then tb_provider.read_lock to flush;
 * cpus_read_lock to write a clock record on another CPU.
 */
#include <linux/cpu.h>
#include <linux/random.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>

#include "events/catalog.h"
#include "probe/probe.h"
#include "select/select.h"
#include "recording.h"

#define TB_SYNC_INTERVAL	(10 * HZ)

/* Clear old block magics, so that a search after a crash cannot mistake them for this recording. */
static void tb_recording_forget(struct tb_provider *p)
{
	u64 at;

	lockdep_assert_held(&p->read_lock);
	for (at = 0; at < (u64)p->durable.nr_slots * TB_DURABLE_SLOT; at += TB_DURABLE_BLOCK_MIN)
		((struct tb_block *)tb_durable_address(&p->durable, at))->magic = 0;
}

/* Empty a ring whose CPU does not record.  @recording: random number of the recording. */
static void tb_recording_reset_ring(struct tb_provider *p, unsigned int cpu, u64 now,
				    u64 recording)
{
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

	lockdep_assert_held(&p->read_lock);
	r->watermark = max_t(u32, p->config.elements * p->config.watermark / 100,
			     TB_BLOCK_FIRST_ELEMENT + 1);
	r->raw_clock = p->clock.raw;
	r->overwrite = p->config.policy == TB_POLICY_OVERWRITE;
	r->recording = recording;
	/* slow: touches each buffer */
	tb_ring_reset(r, now);
	r->paused = tb_sleep_pauses(p);
	tb_header_reset(p, cpu);
}

/**
 * tb_recording_add_ring() - make the ring of a CPU that has none yet
 * @p: the provider
 * @cpu: the CPU
 *
 * Context: process, under the hotplug lock and read_lock.
 * Return: 0; -EINVAL the provider does not record this CPU, or has no memory at all, or the CPU is
 * online already without a ring; -ENOMEM.
 */
int tb_recording_add_ring(struct tb_provider *p, unsigned int cpu)
{
	struct tb_cpu_ring *r;
	u32 state;
	int err;

	lockdep_assert_held(&p->read_lock);
	if (!p->allocated || !cpumask_test_cpu(cpu, &p->wanted))
		return -EINVAL;
	if (cpumask_test_cpu(cpu, &p->cpus))
		return 0;
	/* there was no memory when it came: its writers use the ring without a lock */
	if (cpu_online(cpu))
		return -EINVAL;
	err = tb_memory_add(p, cpu);
	if (err) {
		pr_warn("tracebuf: %s: CPU %u is not recorded: no memory for its ring\n", p->name,
			cpu);
		return err;
	}
	r = per_cpu_ptr(p->rings, cpu);
	tb_recording_reset_ring(p, cpu, tb_clock_read(p->clock.raw), p->durable.recording);
	/* it joins a snapshot without blocks */
	if (p->snapshot)
		tb_ring_begin_snapshot(r);
	/* the ring before its bit: irq_works and probes read the mask without a lock */
	smp_wmb();
	cpumask_set_cpu(cpu, &p->cpus);
	/*
	 * The bit before the state: a trigger that fires now either sees the bit when it freezes
	 * the rings, or is seen here.  tb_trigger_detach() thaws the rings under read_lock.
	 */
	smp_mb();
	state = READ_ONCE(p->trigger.state);
	if (state == TB_TRIGGER_FIRING || state == TB_TRIGGER_FIRED || state == TB_TRIGGER_FROZEN)
		tb_write(&r->overwrite_last, 0);
	return 0;
}

/* Empty the rings and the durable buffer.  No writer records into them. */
void tb_recording_reset(struct tb_provider *p)
{
	u64 now = tb_clock_read(p->clock.raw);
	/* not 0, which means unknown */
	u64 recording = get_random_u64() | 1;
	unsigned int cpu;

	lockdep_assert_held(&p->lock);
	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus) {
		tb_recording_reset_ring(p, cpu, now, recording);
		cond_resched();
	}
	while (tb_thread_queue_peek(&p->threads))
		tb_thread_queue_pop(&p->threads);
	atomic64_set(&p->threads.lost, 0);
	if (p->durable.region)
		tb_recording_forget(p);
	tb_durable_reset(&p->durable, p->clock.raw, p->id, recording);
	tb_select_forget(p);
	tb_rule_reset(p);
	p->nr_exits = 0;
	p->durable_lost = 0;
	p->threads_lost = (struct tb_threads_lost){ };
	p->forgotten = 0;
	p->track_time = now;
	p->resync = false;
	p->snapshot = false;
	WRITE_ONCE(p->reason, TB_REASON_NONE);
}

/* ---- stop ------------------------------------------------------------- */

/* Detach all probes and cancel the periodic work.  On return, no writer records any more. */
static void tb_recording_detach(struct tb_provider *p)
{
	lockdep_assert_held(&p->lock);
	WRITE_ONCE(p->live, NULL);
	/*
	 * Cancel before the trigger goes: a later clock record would overwrite a block that the
	 * trigger has frozen.  The works do not take p->lock, so waiting cannot deadlock.
	 */
	cancel_delayed_work_sync(&p->sync_work);
	cancel_delayed_work_sync(&p->flush_work);
	tb_select_detach(p);
	tb_trigger_stop(p);
	if (p->tracking)
		tb_threads_detach(p);
	p->tracking = false;
	/* wait for running probes, and for writers that saw p->live set */
	tb_tracepoint_synchronize();
	irq_work_sync(&p->kick);
	cancel_work_sync(&p->durable_work);
}

/* End a recording that is running. */
void tb_recording_stop(struct tb_provider *p)
{
	bool whole = true;
	unsigned int cpu;

	lockdep_assert_held(&p->lock);
	/* programs stop writing; the last events that they have written belong to this recording */
	tb_channels_notify(p, false);
	tb_channels_scrape(p, true);
	/*
	 * Empty the queue now: the reserve for the end of the recording may be too small for it.
	 * This is also the last chance to write all threads again after a loss.
	 */
	mutex_lock(&p->read_lock);
	p->resync_after = jiffies;
	tb_state_drain_queue(p);
	mutex_unlock(&p->read_lock);
	tb_recording_detach(p);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		tb_ring_flush(r);
		/* without writers a snapshot needs no pins */
		while (tb_ring_unpin(r))
			;
		whole &= tb_ring_repair(r, p->snapshot);
	}
	if (!whole || READ_ONCE(p->reason) == TB_REASON_DAMAGED) {
		WRITE_ONCE(p->reason, TB_REASON_DAMAGED);
		pr_warn("tracebuf: %s: the recorder's memory is damaged: recording stops, and events may be missing or wrong\n",
			p->name);
	}
	tb_state_write_end(p);
	tb_header_end(p);
	/* keep a reason that is set already, for example TB_REASON_DAMAGED */
	cmpxchg(&p->reason, TB_REASON_NONE, TB_REASON_REQUEST);
	WRITE_ONCE(p->state, TB_STATE_STOPPED);
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
}

/* Stop a recording that cannot continue; p->reason says why. */
static void tb_stop_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, stop_work);

	mutex_lock(&p->lock);
	if (p->state == TB_STATE_RUNNING && p->reason)
		tb_recording_stop(p);
	mutex_unlock(&p->lock);
	wake_up_all(&p->wait);
}

/* Stop because the recorder's state is inconsistent.  Any context that may queue a work. */
void tb_recording_damaged(struct tb_provider *p)
{
	if (!cmpxchg(&p->reason, TB_REASON_NONE, TB_REASON_DAMAGED))
		queue_work(TB_UNBOUND_WQ, &p->stop_work);
}

/* ---- start ------------------------------------------------------------ */

static int tb_recording_prepare(struct tb_provider *p)
{
	int err = 0;

	lockdep_assert_held(&p->lock);
	mutex_lock(&p->read_lock);
	if (p->state == TB_STATE_RUNNING || tb_provider_reader_holds(p)) {
		err = -EBUSY;
	} else {
		p->generation++;
		tb_recording_reset(p);
		WRITE_ONCE(p->state, TB_STATE_RUNNING);
		p->starting = true;
	}
	mutex_unlock(&p->read_lock);
	return err;
}

/*
 * Attach the probes of threads before writing the state, so that it misses no thread.  Attach the
 * probes of events after it, so that their descriptions come first; not under read_lock, because
 * attaching takes the hotplug lock.
 */
static int tb_recording_attach(struct tb_provider *p, bool dump)
{
	int err;

	lockdep_assert_held(&p->lock);
	err = tb_threads_attach(p);
	if (err)
		return err;
	p->tracking = true;
	mutex_lock(&p->read_lock);
	err = tb_state_write(p, dump);
	tb_durable_seal(&p->durable);
	mutex_unlock(&p->read_lock);
	if (!err)
		err = tb_select_attach(p);
	if (!err)
		/* the reset of the rings before their address: pairs with tb_provider_live() */
		smp_store_release(&p->live, p->rings);
	return err;
}

/*
 * Make the provider idle after a failed start.  If a reader already holds blocks of the new
 * recording, the recording remains as a stopped one.
 */
static void tb_recording_abandon(struct tb_provider *p)
{
	lockdep_assert_held(&p->lock);
	tb_recording_stop(p);
	mutex_lock(&p->read_lock);
	if (!tb_provider_reader_holds(p)) {
		tb_recording_reset(p);
		WRITE_ONCE(p->state, TB_STATE_IDLE);
	}
	mutex_unlock(&p->read_lock);
}

/*
 * Begin a new recording.  @dump: write the existing threads into the durable buffer.  Return 0;
 * -EBUSY running, or the reader holds blocks; -ENOMEM; -ENOSPC.
 */
int tb_recording_start(struct tb_provider *p, bool dump)
{
	int err;

	lockdep_assert_held(&p->lock);
	err = tb_recording_prepare(p);
	if (err)
		return err;
	err = tb_recording_attach(p, dump);
	mutex_lock(&p->read_lock);
	p->starting = false;
	mutex_unlock(&p->read_lock);
	if (err) {
		tb_recording_abandon(p);
		return err;
	}
	tb_channels_notify(p, true);
	queue_delayed_work(TB_UNBOUND_WQ, &p->sync_work, TB_SYNC_INTERVAL);
	if (p->config.flush_ms)
		queue_delayed_work(TB_UNBOUND_WQ, &p->flush_work,
				   msecs_to_jiffies(p->config.flush_ms));
	return 0;
}

/* ---- flush ------------------------------------------------------------ */

/**
 * struct tb_flush_call - which rings to flush
 * @p: the provider
 * @spare: skip isolated CPUs
 */
struct tb_flush_call {
	struct tb_provider *p;
	bool spare;
};

/*
 * Return true if the ring of @cpu has an open buffer.  A needless interrupt would wake an idle CPU
 * or disturb an isolated one.
 */
static bool tb_flush_wanted(int cpu, void *arg)
{
	const struct tb_flush_call *call = arg;
	bool wanted;

	rcu_read_lock();
	wanted = !call->spare || !cpu_is_isolated(cpu);
	rcu_read_unlock();
	return wanted && tb_ring_holds(per_cpu_ptr(call->p->rings, cpu));
}

static void tb_flush_here(void *arg)
{
	const struct tb_flush_call *call = arg;

	tb_ring_flush(this_cpu_ptr(call->p->rings));
}

/**
 * tb_provider_close_buffers() - close the current buffers of some CPUs' rings, in any mode
 * @p: the provider, with memory
 * @cpus: the CPUs; those without a ring have no open buffer
 * @spare: skip isolated CPUs
 *
 * Interrupts, in one batch, only CPUs with an open buffer.
 *
 * Context: process, under read_lock and cpus_read_lock, which modules cannot assert.  They let only
 * one task flush the ring of an offline CPU.
 */
void tb_provider_close_buffers(struct tb_provider *p, const struct cpumask *cpus, bool spare)
{
	struct tb_flush_call call = { .p = p, .spare = spare };
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	on_each_cpu_cond_mask(tb_flush_wanted, tb_flush_here, &call, true, cpus);
	for_each_cpu(cpu, cpus)
		if (!cpu_online(cpu) && tb_flush_wanted(cpu, &call))
			tb_ring_flush(per_cpu_ptr(p->rings, cpu));
}

/*
 * Make the current buffers of some CPUs available to the reader, see tb_provider_close_buffers().
 * Does nothing in oneshot mode: the reader waits for the end anyway, and closing a buffer wastes
 * its free room.
 */
void tb_provider_flush_cpus(struct tb_provider *p, const struct cpumask *cpus)
{
	lockdep_assert_held(&p->read_lock);
	if (p->config.mode != TB_MODE_ONESHOT)
		tb_provider_close_buffers(p, cpus, false);
}

/*
 * Make the current buffer of a CPU available to the reader; with -1 those of all CPUs, and what
 * programs have published.  Return 0; -EINVAL the provider does not record @cpu.
 */
int tb_provider_flush(struct tb_provider *p, int cpu)
{
	int err = 0;

	if (cpu == -1)
		tb_channels_scrape(p, false);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	if (cpu < -1 || (cpu >= 0 && (cpu >= nr_cpu_ids || !cpumask_test_cpu(cpu, &p->wanted))))
		err = -EINVAL;
	else if (p->allocated)
		tb_provider_flush_cpus(p, cpu < 0 ? &p->cpus : cpumask_of(cpu));
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return err;
}

/* ---- periodic work ---------------------------------------------------- */

/*
 * Flush at intervals.  Skip isolated CPUs: no session asked for this flush.  The reader gets their
 * buffers at the watermark, or after an explicit flush.
 */
static void tb_flush_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, flush_work.work);

	if (READ_ONCE(p->reader)) {
		tb_channels_scrape(p, false);
		cpus_read_lock();
		mutex_lock(&p->read_lock);
		if (p->allocated && p->config.mode != TB_MODE_ONESHOT)
			tb_provider_close_buffers(p, &p->cpus, true);
		mutex_unlock(&p->read_lock);
		cpus_read_unlock();
	}
	queue_delayed_work(TB_UNBOUND_WQ, &p->flush_work, msecs_to_jiffies(p->config.flush_ms));
}

static void tb_record_sync(void *arg)
{
	struct tb_provider *p = arg;
	struct tb_clock_sync sync;

	tb_clock_sync(&p->clock, &sync);
	tb_record_control(p, TB_EV_CLOCK, &sync, sizeof(sync), 2);
}

/* Write a clock record into the durable buffer, unless it never recycles: it would fill up. */
static void tb_sync_in_durable(struct tb_provider *p)
{
	struct tb_clock_sync sync;

	if (p->config.flags & TB_CONFIG_DURABLE_STOP)
		return;
	mutex_lock(&p->read_lock);
	/* first the queued records of threads: after a newer record they would get its time */
	tb_state_drain_queue(p);
	tb_clock_sync(&p->clock, &sync);
	tb_durable_add(p, sync.clock, TB_EV_CLOCK, &sync, sizeof(sync));
	mutex_unlock(&p->read_lock);
}

/*
 * Stop the recording if a block that was incomplete at the last check still is.  A writer keeps
 * preemption off while it records an event.  So if a grace period has passed between the checks,
 * all writers of the first check are done, and no writer will complete the block.
 */
static void tb_look_for_damage(struct tb_provider *p)
{
	bool through = poll_state_synchronize_rcu(p->looked), stuck = false;
	unsigned int cpu;

	mutex_lock(&p->read_lock);
	if (through) {
		p->looked = get_state_synchronize_rcu();
		for_each_cpu(cpu, &p->cpus)
			stuck |= tb_ring_stuck(per_cpu_ptr(p->rings, cpu));
	}
	mutex_unlock(&p->read_lock);
	if (stuck)
		tb_recording_damaged(p);
}

/* Record the clocks at intervals, because they drift; check for damage. */
static void tb_sync_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, sync_work.work);

	if (!tb_provider_call(p, true, tb_record_sync, p))
		tb_sync_in_durable(p);
	tb_look_for_damage(p);
	queue_work(TB_UNBOUND_WQ, &p->durable_work);
	queue_delayed_work(TB_UNBOUND_WQ, &p->sync_work, TB_SYNC_INTERVAL);
}

static void tb_kick_work(struct irq_work *work)
{
	/* unbound, because this CPU may be isolated */
	queue_work(TB_UNBOUND_WQ, &container_of(work, struct tb_provider, kick)->durable_work);
}

/* ---- life ------------------------------------------------------------- */

void tb_recording_init(struct tb_provider *p)
{
	INIT_DELAYED_WORK(&p->sync_work, tb_sync_work);
	INIT_DELAYED_WORK(&p->flush_work, tb_flush_work);
	INIT_WORK(&p->stop_work, tb_stop_work);
	INIT_WORK(&p->durable_work, tb_state_work);
	tb_irq_work_init(&p->kick, tb_kick_work);
}
