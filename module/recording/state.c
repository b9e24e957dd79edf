// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the state of a recording into the durable buffer: initialisation, clock, descriptions of
 * events, names, counters, threads; then the threads that start, change and exit.
 *
 * The buffer starts with the complete state.  When it fills, this writes the state again, so that
 * provider/retention.c can recycle older records.  After a loss of records of threads, it writes
 * all threads again.
 *
 * Callers: recording.c, sleep.c, reader/, select/ (through p->drain), in process context, under
 * tb_provider.read_lock; tb_state_work() takes it.
 */
#include <linux/jiffies.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/threads.h>
#include <linux/utsname.h>

#include "events/catalog.h"
#include "select/select.h"
#include "recording.h"

/* after losses of thread records, write all threads again at most once in this time */
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
			 (p->clock.fallback ? TB_INIT_CLOCK_FALLBACK : 0) |
			 (cpumask_subset(cpu_possible_mask, &p->wanted) && !p->nr_missing ?
			  TB_INIT_ALL_CPUS : 0),
		.generation = p->generation,
	};

	lockdep_assert_held(&p->read_lock);
	get_random_once(load_id, sizeof(load_id));
	memcpy(init.load_id, load_id, sizeof(load_id));
	strscpy(init.provider, p->name, sizeof(init.provider));
	strscpy(init.release, uts->release, sizeof(init.release));
	strscpy(init.version, uts->version, sizeof(init.version));
	strscpy(init.machine, uts->machine, sizeof(init.machine));
	strscpy(init.nodename, uts->nodename, sizeof(init.nodename));
	return tb_durable_append(&p->durable, TB_EV_INIT, &init, sizeof(init), false);
}

/* Write which records of threads the reader misses, if any.  @last: may use the reserve. */
static int tb_state_write_threads_lost(struct tb_provider *p, bool last)
{
	struct tb_threads_lost *lost = &p->threads_lost;

	lockdep_assert_held(&p->read_lock);
	if (!p->reader)
		lost->before = p->forgotten;
	if (!lost->records && !lost->before)
		return 0;
	return tb_durable_append(&p->durable, TB_EV_THREADS_LOST, lost, sizeof(*lost), last);
}

/* Write the threads that exited last and, with @dump, all existing threads. */
static int tb_state_write_threads(struct tb_provider *p, bool dump)
{
	u64 n = p->nr_exits > TB_EXITS ? p->nr_exits - TB_EXITS : 0;
	int err = 0;

	lockdep_assert_held(&p->read_lock);
	/*
	 * Threads that exit go on recording until the scheduler switches away from them, but the
	 * list of threads may lack them by then.  Existing threads follow, because new threads may
	 * have the same ids by now.
	 */
	for (; n < p->nr_exits && !err; n++)
		err = tb_durable_append(&p->durable, TB_EV_THREAD, &p->exits[n % TB_EXITS],
					sizeof(*p->exits), false);
	if (!err && dump)
		err = tb_threads_write(p);
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

	lockdep_assert_held(&p->read_lock);
	tb_durable_seal(d);
	number = d->used;
	time = tb_clock_read(d->raw_clock);
	tb_clock_sync(&p->clock, &sync);
	err = tb_state_init(p, dump);
	if (!err)
		err = tb_durable_append(d, TB_EV_CLOCK, &sync, sizeof(sync), false);
	if (!err)
		err = tb_select_describe(p);
	if (!err)
		/* a stop changes the selection: write the one before it */
		err = tb_select_write_record(p, tb_clock_read(p->clock.raw),
					     p->moment - (p->state == TB_STATE_STOPPED));
	if (!err)
		err = tb_names_write(p);
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
 * @dump: include the existing threads; a state that replaces an earlier one needs them, because
 *	the earlier one may have the records of some threads
 *
 * Context: process, under read_lock; threads are being followed.
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int tb_state_write(struct tb_provider *p, bool dump)
{
	int err;

	lockdep_assert_held(&p->read_lock);
	/* records of a failed attempt do no harm: readers accept a record twice */
	do {
		err = tb_state_write_once(p, dump);
	} while (err == -ENOSPC && tb_retention_make_room(p));
	return err;
}

/*
 * Return true if a new state is due and none is there yet.  It is due when half of the buffer, and
 * more than twice the size of the last state, is in use.  It is also due when the free room is just
 * enough for a state, and twice the size of the last state is in use.
 */
static bool tb_state_is_wanted(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;
	u32 used = tb_durable_used_slots(d);

	lockdep_assert_held(&p->read_lock);
	/* not without probes: that state would say that no event is recorded */
	if ((p->config.flags & TB_CONFIG_DURABLE_STOP) || !READ_ONCE(p->live) ||
	    d->state > d->first)
		return false;
	return (used > d->nr_slots / 2 && used > 2 * d->state_slots) ||
	       (tb_durable_free_slots(d) <= d->state_slots + 1 && used >= 2 * d->state_slots);
}

/* Require room for a state as large as the last; a partial one is useless. */
static bool tb_state_fits(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;

	lockdep_assert_held(&p->read_lock);
	if (tb_durable_free_slots(d) <= d->state_slots)
		tb_retention_make_room(p);
	return tb_durable_free_slots(d) > d->state_slots;
}

/* Write the state again if it is due.  If that fails, the old state remains. */
static void tb_state_renew(struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	if (tb_state_is_wanted(p) && tb_state_fits(p))
		tb_state_write_once(p, true);
}

/*
 * Replace everything in a full buffer by a new state, because it has no room for a second state.
 * Return false if the reader still needs a block, recycling is off, no probe is attached, or the
 * state does not fit.
 */
static bool tb_state_start_over(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;

	lockdep_assert_held(&p->read_lock);
	if ((p->config.flags & TB_CONFIG_DURABLE_STOP) || !READ_ONCE(p->live))
		return false;
	tb_durable_seal(d);
	if (p->reader && tb_retention_released(p) < d->used)
		return false;
	tb_retention_forget(p, d->used, tb_clock_read(p->clock.raw));
	return !tb_state_write_once(p, true);
}

/*
 * A record that is older than the latest one gets the latest one's time.  A new thread may have run
 * before that time, so it was not created then.
 */
static int tb_state_add_queued(struct tb_provider *p, u64 time, const struct tb_thread *queued)
{
	struct tb_thread t = *queued;

	lockdep_assert_held(&p->read_lock);
	if (time < p->durable.last_time)
		t.flags &= ~TB_THREAD_FORK;
	return tb_durable_add(p, time, TB_EV_THREAD, &t, sizeof(t));
}

/* Write a record from the queue.  Return false if the buffer has no room for any record. */
static bool tb_state_write_queued(struct tb_provider *p, u64 time, const struct tb_thread *t)
{
	int err;

	lockdep_assert_held(&p->read_lock);
	/*
	 * While a recording starts, the state cannot be written again.  Leave room for the
	 * descriptions of events, or a program that creates threads in a loop makes the start fail.
	 * A buffer that stops the recording when it is full does so when it is full.
	 */
	if (p->starting && !(p->config.flags & TB_CONFIG_DURABLE_STOP) &&
	    tb_durable_used_slots(&p->durable) > p->durable.max_slots / 2)
		return false;
	err = tb_state_add_queued(p, time, t);
	if (err && tb_state_start_over(p))
		err = tb_state_add_queued(p, time, t);
	return !err;
}

/* Write the current names of threads that were renamed too often.  Return how many were lost. */
static u64 tb_state_write_skipped(struct tb_provider *p)
{
	struct tb_thread t;
	u64 lost = 0;
	u32 i, tid;

	lockdep_assert_held(&p->read_lock);
	for (i = 0; i < TB_THREAD_QUEUE_NAMES; i++) {
		tid = tb_thread_queue_skipped(&p->threads, i);
		if (tid && tb_thread_describe(tid, TB_THREAD_NAME | TB_THREAD_SKIPPED, &t) &&
		    (lost || !tb_state_write_queued(p, tb_clock_read(p->clock.raw), &t)))
			lost++;
	}
	return lost;
}

/* Write all threads again after records were lost, if there is room, but not too often. */
static void tb_state_resync(struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	if (p->state != TB_STATE_RUNNING || p->starting ||
	    (p->config.flags & TB_CONFIG_DURABLE_STOP) || time_before(jiffies, p->resync_after))
		return;
	p->resync_after = jiffies + TB_RESYNC_INTERVAL;
	if (tb_state_fits(p))
		tb_state_write_threads(p, true);
	else
		tb_state_start_over(p);
}

/*
 * Move the queued records of threads into the durable buffer, but not those that arrive meanwhile.
 * The queue may hold more than the buffer, so this may write the state again in between.  Later
 * queued records are older than that state, but get a later time.
 */
void tb_state_drain_queue(struct tb_provider *p)
{
	const struct tb_thread_queue_slot *slot;
	u64 n, lost, used = p->durable.used;
	bool skipped, full = false;

	lockdep_assert_held(&p->read_lock);
	skipped = tb_thread_queue_begin(&p->threads);
	lost = atomic64_xchg(&p->threads.lost, 0);
	n = tb_thread_queue_count(&p->threads);
	for (; n && (slot = tb_thread_queue_peek(&p->threads)); n--) {
		if (slot->thread.flags & TB_THREAD_EXIT)
			p->exits[p->nr_exits++ % TB_EXITS] = slot->thread;
		full = full || !tb_state_write_queued(p, slot->time, &slot->thread);
		lost += full;
		tb_thread_queue_pop(&p->threads);
		/* once for each block */
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

static int tb_state_write_totals(struct tb_provider *p)
{
	unsigned int cpu;
	int err = 0;

	lockdep_assert_held(&p->read_lock);
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

/*
 * Write the counts of one ring, which was flushed, at the beginning of a snapshot.  The last block
 * does not count the events dropped after it; a frozen ring drops all events.
 */
void tb_state_write_snapshot(struct tb_provider *p, unsigned int cpu)
{
	struct tb_totals t = { .cpu = cpu, .flags = TB_TOTALS_SNAPSHOT };
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);
	struct tb_ring_end end;

	lockdep_assert_held(&p->read_lock);
	tb_ring_end(r, &end);
	/* read the clock after the counts, so that the span includes all counted events */
	t.time = tb_clock_read(p->clock.raw);
	t.blocks = r->to;
	if (end.open || end.blocks != r->to) {
		t.flags |= TB_TOTALS_OPEN;
	} else {
		/* the ring has recorded and dropped nothing */
		if (!end.blocks && !end.dropped)
			return;
		t.dropped = end.dropped;
		t.oversize = min(end.oversize, end.dropped);
		t.first = end.first;
		/* not end.last: a drop may be in progress */
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

/* If a record does not fit, append one without counts: it says that not all are known. */
static int tb_state_write_suppressed(struct tb_provider *p)
{
	struct tb_suppressed sum;
	/* read it once: events may be added meanwhile */
	u32 index, count = tb_events_count();
	bool lost = false;

	lockdep_assert_held(&p->read_lock);
	for (index = 0; index <= count; index++) {
		/* the last index stands for events suppressed by their thread */
		if (tb_rule_suppressed(p, index < count ? index : TB_RULE_ALL, &sum))
			continue;
		if ((sum.filtered || sum.sampled || sum.limited || sum.vetoed || sum.nested) &&
		    tb_durable_add(p, tb_clock_read(p->clock.raw), TB_EV_SUPPRESSED, &sum,
				   sizeof(sum)))
			lost = true;
	}
	if (!lost)
		return 0;
	memset(&sum, 0, sizeof(sum));
	return tb_durable_append(&p->durable, TB_EV_SUPPRESSED, &sum, sizeof(sum), true);
}

/* Ensure that a new reader gets a complete state.  The provider has no reader now. */
int tb_state_complete(struct tb_provider *p)
{
	int err;

	lockdep_assert_held(&p->read_lock);
	/* the buffer has all records that a new reader needs */
	if (!p->durable.first || p->durable.state >= p->durable.first) {
		if (p->forgotten == p->threads_lost.before)
			return 0;
		err = tb_state_write_threads_lost(p, true);
		tb_durable_seal(&p->durable);
		return err;
	}
	/* without a state all records are useless: make room for a state and the final records */
	tb_retention_forget(p, p->durable.used, tb_clock_read(p->clock.raw));
	err = tb_state_write(p, true);
	if (err == -ENOSPC) {
		/* the threads do not fit: write a state without them */
		tb_durable_recycle(&p->durable, p->durable.used);
		tb_retention_count_lost(p, 1);
		err = tb_state_write(p, false);
	}
	if (!err && p->state == TB_STATE_STOPPED) {
		err = tb_state_write_suppressed(p);
		if (!err)
			err = tb_state_write_totals(p);
	}
	tb_durable_seal(&p->durable);
	return err;
}

/* Empty the queue of threads, and keep room in the durable buffer. */
void tb_state_work(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, durable_work);

	mutex_lock(&p->read_lock);
	if (p->allocated) {
		tb_state_drain_queue(p);
		if (!(p->config.flags & TB_CONFIG_DURABLE_STOP))
			tb_retention_recycle(p);
		tb_state_renew(p);
		if (tb_durable_free_slots(&p->durable) < p->durable.nr_slots / 4)
			tb_retention_make_room(p);
		/* wake a reader that waits for rolling blocks: it must acquire these first */
		if (p->durable.taken < p->durable.sealed &&
		    tb_durable_used_slots(&p->durable) > p->durable.nr_slots / 4)
			wake_up_all(&p->wait);
	}
	mutex_unlock(&p->read_lock);
}

/* Write the final records: clock, lost threads, counts of every ring.  No writer is left. */
void tb_state_write_end(struct tb_provider *p)
{
	struct tb_clock_sync sync;

	lockdep_assert_held(&p->read_lock);
	tb_state_drain_queue(p);
	tb_clock_sync(&p->clock, &sync);
	tb_durable_append(&p->durable, TB_EV_CLOCK, &sync, sizeof(sync), true);
	p->end_time = sync.clock;
	/* cannot fail: the buffer keeps a reserve for these and for the totals */
	WARN_ON_ONCE(tb_state_write_threads_lost(p, true));
	WARN_ON_ONCE(tb_state_write_suppressed(p));
	WARN_ON_ONCE(tb_state_write_totals(p));
	tb_durable_seal(&p->durable);
}
