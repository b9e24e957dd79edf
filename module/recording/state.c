// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a recording in the durable buffer: initialisation, clock, descriptions of events,
 * names, counters, threads; and the threads that start, change and exit afterwards.
 *
 * The buffer starts with the complete state.  When half of the buffer is in use, and that is twice
 * what the state took, the state is written again, so that provider/retention.c can recycle what
 * is older.  After records of threads were lost, all threads are written once more.
 *
 * An exiting thread is recorded while it still runs.  It goes on recording until it is switched
 * away from last of all, when it is no longer in the list of threads.  So a new state includes the
 * threads that exited last.
 *
 * Process context, under read_lock.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <linux/once.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>

#include "events/catalog.h"
#include "machine/compat.h"
#include "provider/provider.h"
#include "provider/retention.h"
#include "provider/wake.h"
#include "select/rule.h"
#include "select/select.h"
#include "recording.h"

/* after records of threads were lost all threads are told of again, but not more often */
#define TB_RESYNC_INTERVAL	HZ

/* ---- the state -------------------------------------------------------- */

static int tb_state_init(struct tb_provider *p, bool dump)
{
	static u8 load_id[sizeof_field(struct tb_init, load_id)];
	struct new_utsname *uts = init_utsname();
	struct tb_init init = {
		.abi = TB_ABI_VERSION,
		.clock = p->clock.id,
		.frequency = p->clock.frequency,
		.mode = p->config.mode,
		.policy = p->config.policy,
		.nr_cpus = nr_cpu_ids,
		.buffers = p->config.buffers,
		.elements = p->config.elements,
		.page_size = PAGE_SIZE,
		.pid_max = PID_MAX_LIMIT,
		.flags = (dump ? TB_INIT_STATE_DUMP : 0) |
			 (p->clock.fallback ? TB_INIT_CLOCK_FALLBACK : 0),
		.generation = p->generation,
	};

	get_random_once(load_id, sizeof(load_id));
	memcpy(init.load_id, load_id, sizeof(load_id));
	strscpy(init.provider, p->name, sizeof(init.provider));
	strscpy(init.release, uts->release, sizeof(init.release));
	strscpy(init.version, uts->version, sizeof(init.version));
	strscpy(init.machine, uts->machine, sizeof(init.machine));
	strscpy(init.nodename, uts->nodename, sizeof(init.nodename));
	return tb_durable_append(&p->durable, TB_EV_INIT, &init, sizeof(init), false);
}

/* called under RCU: no room can be made here */
static int tb_state_write_thread(void *ctx, const struct tb_thread *t)
{
	return tb_durable_append(ctx, TB_EV_THREAD, t, sizeof(*t), false);
}

/* Those that ended last: before the dump, for their ids may be those of others by now. */
static int tb_state_write_exits(struct tb_provider *p)
{
	u64 n = p->nr_exits > TB_EXITS ? p->nr_exits - TB_EXITS : 0;
	int err = 0;

	for (; n < p->nr_exits && !err; n++) {
		const struct tb_thread *t = &p->exits[n % TB_EXITS];

		err = tb_durable_append(&p->durable, TB_EV_THREAD, t, sizeof(*t), false);
	}
	return err;
}

/* What is not known of threads, if anything.  @last: may use the reserve. */
static int tb_state_write_threads_lost(struct tb_provider *p, bool last)
{
	struct tb_threads_lost *lost = &p->threads_lost;

	if (!p->reader)
		lost->before = p->forgotten;
	if (!lost->records && !lost->before)
		return 0;
	return tb_durable_append(&p->durable, TB_EV_THREADS_LOST, lost, sizeof(*lost), last);
}

/* All threads there are, and those that ended last. */
static int tb_state_write_threads(struct tb_provider *p, bool dump)
{
	int err = tb_state_write_exits(p);

	if (!err && dump)
		err = tb_threads_each(tb_state_write_thread, &p->durable);
	if (!err)
		err = tb_state_write_threads_lost(p, false);
	if (!err && dump)
		p->resync = false;
	p->resync_after = jiffies + TB_RESYNC_INTERVAL;
	return err;
}

static int tb_state_write_once(struct tb_provider *p, bool dump)
{
	struct tb_durable *d = &p->durable;
	struct tb_clock_sync sync;
	u64 number, time;
	int err;

	tb_durable_begin_state(d, &number, &time);
	tb_clock_sync(&p->clock, &sync);
	err = tb_state_init(p, dump);
	if (!err)
		err = tb_durable_append(d, TB_EV_CLOCK, &sync, sizeof(sync), false);
	if (!err)
		err = tb_select_describe(p);
	if (!err)
		/* the stop was a change, too: what was recorded until then */
		err = tb_select_write_record(p, tb_clock_read(p->clock.raw),
					     p->moment - (p->state == TB_STATE_STOPPED));
	if (!err)
		err = tb_names_each(tb_retention_add_string, d);
	if (!err)
		err = tb_retention_add_counter_names(p);
	if (!err)
		err = tb_state_write_threads(p, dump);
	if (!err)
		tb_durable_end_state(d, number, time);
	return err;
}

/**
 * tb_state_write() - write the complete state
 * @p: the provider
 * @dump: with the threads there are; a state that takes the place of an earlier one always
 *	has them, some may have been told of there
 *
 * Context: process, under read_lock; threads are being followed.
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int tb_state_write(struct tb_provider *p, bool dump)
{
	int err;

	/* what a failed attempt has left does no harm: records may come twice */
	do {
		err = tb_state_write_once(p, dump);
	} while (err == -ENOSPC && tb_retention_make_room(p));
	return err;
}

/*
 * Is it time for a new state, while no other one waits to be used?  When half of the buffer is
 * in use, and twice what the state took; or before what is left has no room for a state any more,
 * if at least as much was written since as a state takes.
 */
static bool tb_state_is_wanted(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;
	u32 used = tb_durable_used_slots(d);

	/* a state without probes would say that nothing is recorded */
	if ((p->config.flags & TB_CONFIG_DURABLE_STOP) || !READ_ONCE(p->live) ||
	    d->state > d->first)
		return false;
	return (used > d->nr_slots / 2 && used > 2 * d->state_slots) ||
	       (tb_durable_free_slots(d) <= d->state_slots + 1 && used >= 2 * d->state_slots);
}

/* As long as the last one took: what would be left of a part of it is a waste. */
static bool tb_state_fits(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;

	if (tb_durable_free_slots(d) <= d->state_slots)
		tb_retention_make_room(p);
	return tb_durable_free_slots(d) > d->state_slots;
}

/* Writes the state again if it is time.  If it cannot be written now, the old one is there. */
static void tb_state_renew(struct tb_provider *p)
{
	if (tb_state_is_wanted(p) && tb_state_fits(p))
		tb_state_write_once(p, true);
}

/*
 * There is no room, nor any for a second state beside the first: begins with a new one in the
 * place of all there is.  Under read_lock.
 */
static bool tb_state_start_over(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;

	if ((p->config.flags & TB_CONFIG_DURABLE_STOP) || !READ_ONCE(p->live))
		return false;
	tb_durable_seal(d);
	if (p->reader && tb_retention_released(p) < d->used)
		return false;
	tb_retention_forget(p, d->used, tb_clock_read(p->clock.raw));
	return !tb_state_write_once(p, true);
}

/* Returns false if there is no room, nor will be for the next one.  Under read_lock. */
static bool tb_state_write_queued(struct tb_provider *p, u64 time, const struct tb_thread *t)
{
	int err = tb_durable_add(p, time, TB_EV_THREAD, t, sizeof(*t));

	if (err && tb_state_start_over(p))
		err = tb_durable_add(p, time, TB_EV_THREAD, t, sizeof(*t));
	return !err;
}

/*
 * Threads that were renamed too often: what they are called now.  Returns how many could not be
 * told.  Under read_lock.
 */
static u64 tb_state_write_skipped(struct tb_provider *p)
{
	struct tb_thread t;
	u64 lost = 0;
	u32 i, tid;

	for (i = 0; i < TB_TRACK_NAMES; i++) {
		tid = tb_thread_queue_skipped(&p->threads, i);
		if (tid && tb_thread_describe(tid, TB_THREAD_NAME | TB_THREAD_SKIPPED, &t) &&
		    (lost || !tb_state_write_queued(p, tb_clock_read(p->clock.raw), &t)))
			lost++;
	}
	return lost;
}

/*
 * Records were lost: tells of all threads again, once there is room for it, but not all the
 * time.  Under read_lock.
 */
static void tb_state_resync(struct tb_provider *p)
{
	if (p->state != TB_STATE_RUNNING || (p->config.flags & TB_CONFIG_DURABLE_STOP) ||
	    time_before(jiffies, p->resync_after))
		return;
	p->resync_after = jiffies + TB_RESYNC_INTERVAL;
	if (tb_state_fits(p))
		tb_state_write_threads(p, true);
	else
		tb_state_start_over(p);
}

/**
 * tb_state_drain_queue() - add what is known of threads by now
 * @p: the provider
 *
 * What is put into the queue meanwhile is for the next time.  The queue may hold more than the
 * buffer: so the state is written again on the way, too.  What
 * comes after it then happened before it was written, and is told of as if it had happened later.
 *
 * Context: process, under read_lock.
 */
void tb_state_drain_queue(struct tb_provider *p)
{
	const struct tb_thread_queue_slot *slot;
	bool skipped = tb_thread_queue_begin(&p->threads);
	u64 lost = atomic64_xchg(&p->threads.lost, 0);
	u64 n = tb_thread_queue_count(&p->threads);
	u64 used = p->durable.used;
	bool full = false;

	for (; n && (slot = tb_thread_queue_peek(&p->threads)); n--) {
		if (slot->thread.flags & TB_THREAD_EXIT)
			p->exits[p->nr_exits++ % TB_EXITS] = slot->thread;
		full = full || !tb_state_write_queued(p, slot->time, &slot->thread);
		lost += full;
		tb_thread_queue_pop(&p->threads);
		/* with each block */
		if (p->durable.used != used) {
			tb_state_renew(p);
			used = p->durable.used;
		}
		cond_resched();
	}
	if (skipped)
		lost += tb_state_write_skipped(p);
	if (lost)
		tb_retention_count_lost(p, lost);
	if (p->resync)
		tb_state_resync(p);
	p->track_time = tb_clock_read(p->clock.raw);
}

/* The books of every ring, which nobody records into any more.  Under read_lock. */
static int tb_state_write_totals(struct tb_provider *p)
{
	unsigned int cpu;
	int err = 0;

	for_each_cpu(cpu, &p->cpus) {
		struct tb_totals t = { .cpu = cpu };
		struct tb_ring_stats st;
		struct tb_ring_end end;

		tb_ring_stats(per_cpu_ptr(p->rings, cpu), &st);
		t.attempted = st.recorded + st.dropped;
		t.recorded = st.recorded;
		t.overwritten = st.overwritten;
		t.dropped = st.dropped;
		t.oversize = st.oversize;
		t.blocks = st.blocks;
		t.time = p->end_time;
		tb_ring_end(per_cpu_ptr(p->rings, cpu), &end);
		t.first = end.first;
		t.last = end.last;
		if (!err)
			err = tb_durable_append(&p->durable, TB_EV_TOTALS, &t, sizeof(t), true);
	}
	return err;
}

/**
 * tb_state_write_snapshot() - write the books of one ring for a snapshot that begins
 * @p: the provider
 * @cpu: whose ring, flushed
 *
 * The last block does not say what the ring refused after it: a frozen one refuses all.
 *
 * Context: process, under read_lock.
 */
void tb_state_write_snapshot(struct tb_provider *p, unsigned int cpu)
{
	struct tb_totals t = { .cpu = cpu, .flags = TB_TOTALS_SNAPSHOT };
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);
	struct tb_ring_end end;

	tb_ring_end(r, &end);
	/* after the books, so that the span has all that they count */
	t.time = tb_clock_read(p->clock.raw);
	t.blocks = r->to;
	if (end.open || end.blocks != r->to) {
		t.flags |= TB_TOTALS_OPEN;
	} else {
		/* such a CPU has recorded nothing, if there is one */
		if (!end.blocks && !end.dropped)
			return;
		t.dropped = end.dropped;
		t.oversize = min(end.oversize, end.dropped);
		t.first = end.first;
		/* the last drop may be on its way */
		t.last = end.first ? t.time : 0;
		if (end.counted) {
			t.recorded = end.recorded;
			t.attempted = end.recorded + end.dropped;
			t.overwritten = end.overwritten;
		} else {
			t.flags |= TB_TOTALS_UNCOUNTED;
		}
	}
	if (tb_durable_add(p, t.time, TB_EV_TOTALS, &t, sizeof(t)))
		p->durable_lost++;
}

/* What rules kept out. */
static void tb_state_write_suppressed(struct tb_provider *p)
{
	struct tb_suppressed sum;
	/* once: there may be more from one moment to the next */
	u32 index, count = tb_events_count();

	for (index = 0; index <= count; index++) {
		/* what is kept out by the thread comes last */
		if (tb_rule_suppressed(p, index < count ? index : TB_RULE_ALL, &sum))
			continue;
		if ((sum.filtered || sum.sampled || sum.limited || sum.vetoed || sum.nested) &&
		    tb_durable_add(p, tb_clock_read(p->clock.raw), TB_EV_SUPPRESSED, &sum,
				   sizeof(sum)))
			p->durable_lost++;
	}
}

/**
 * tb_state_complete() - see to it that a new reader gets a complete state
 * @p: the provider, without a reader
 *
 * Context: process, under read_lock.
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int tb_state_complete(struct tb_provider *p)
{
	int err;

	if (tb_durable_whole(&p->durable)) {
		if (p->forgotten == p->threads_lost.before)
			return 0;
		err = tb_state_write_threads_lost(p, true);
		tb_durable_seal(&p->durable);
		return err;
	}
	/* nobody has use for what is left: room for a state, and for the end of it all */
	tb_retention_forget(p, p->durable.used, tb_clock_read(p->clock.raw));
	err = tb_state_write(p, true);
	if (err == -ENOSPC) {
		/* more threads than there is room for */
		tb_durable_recycle(&p->durable, p->durable.used);
		tb_retention_count_lost(p, 1);
		err = tb_state_write(p, false);
	}
	if (!err && p->state == TB_STATE_STOPPED) {
		tb_state_write_suppressed(p);
		err = tb_state_write_totals(p);
	}
	tb_durable_seal(&p->durable);
	return err;
}

/**
 * tb_state_work() - empty the queue of threads, see to it that there is room
 * @work: a provider's durable_work
 *
 * Context: process.
 */
void tb_state_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, durable_work);

	mutex_lock(&p->read_lock);
	if (p->allocated) {
		tb_state_drain_queue(p);
		if (!(p->config.flags & TB_CONFIG_DURABLE_STOP))
			tb_retention_recycle(p);
		tb_state_renew(p);
		if (!(p->config.flags & TB_CONFIG_DURABLE_STOP) &&
		    tb_durable_free_slots(&p->durable) < p->durable.nr_slots / 4)
			tb_retention_make_room(p);
		/* a reader that waits for blocks of the rings is to take these first */
		if (p->durable.taken < p->durable.sealed &&
		    tb_durable_used_slots(&p->durable) > p->durable.nr_slots / 4)
			tb_wake_waiters(p);
	}
	mutex_unlock(&p->read_lock);
}

/**
 * tb_state_write_end() - write what ends a recording: the clock, and the books of every ring
 * @p: the provider, nobody records
 *
 * Context: process, under read_lock.
 */
void tb_state_write_end(struct tb_provider *p)
{
	struct tb_clock_sync sync;

	tb_state_drain_queue(p);
	tb_clock_sync(&p->clock, &sync);
	tb_durable_append(&p->durable, TB_EV_CLOCK, &sync, sizeof(sync), true);
	p->end_time = sync.clock;
	/* there is a reserve for these, too */
	WARN_ON_ONCE(tb_state_write_threads_lost(p, true));
	tb_state_write_suppressed(p);
	/* there is a reserve for these */
	WARN_ON_ONCE(tb_state_write_totals(p));
	tb_durable_seal(&p->durable);
}
