// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make room in the durable buffer.  Recycle records older than the newest complete state once all
 * rolling blocks are newer.  In streaming mode, also recycle blocks that the reader has released,
 * if free slots get few.  Then grow the buffer, up to its limit.  At the limit, recycle all records
 * older than the state, although rolling blocks may name a thread that ended or was renamed before.
 * While the reader holds these records, records of threads are lost.  struct tb_threads_lost
 * reports both.  With TB_CONFIG_DURABLE_STOP recycle nothing: a full buffer stops the recording.
 *
 * Callers: select/ and recording/, in process context under read_lock; tb_durable_add_counters()
 * takes it.
 */
#include "machine/compat.h"
#include "provider.h"

/* Return a time that is not later than any event in the rings. */
static u64 tb_retention_oldest(struct tb_provider *p)
{
	u64 oldest = tb_clock_read(p->clock.raw);
	unsigned int cpu;
	u32 i;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		for (i = 0; i < r->nr; i++) {
			/* pairs with the release in tb_ring_complete() */
			u64 s = smp_load_acquire(&r->bufs[i].state);

			/* while a writer opens a buffer, it may have the time of its last lap */
			if (TB_BUF_STATE(s) >= TB_BUF_WRITING)
				oldest = min(oldest, READ_ONCE(r->bufs[i].block->time_start));
		}
	}
	return oldest;
}

/*
 * Return the number of the first durable block that the reader may still use.  @released only
 * counts blocks, in whatever order the reader released them.  So it may be beyond the block of
 * which read() has copied a part.
 */
u64 tb_retention_released(const struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	return min(p->durable.released, p->durable.reading);
}

/* Recycles the blocks that neither the rings nor the reader need. */
void tb_retention_recycle(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;
	u64 limit = d->first;

	lockdep_assert_held(&p->read_lock);
	if (d->state > d->first && d->state_time <= tb_retention_oldest(p))
		limit = d->state;
	if (p->reader) {
		limit = min(limit, tb_retention_released(p));
		/* the reader has these blocks; keep them for the next reader if there is room */
		if (p->config.mode == TB_MODE_STREAMING &&
		    tb_durable_free_slots(d) < d->nr_slots / 4) {
			limit = tb_retention_released(p);
			if (limit > d->first)
				p->forgotten = tb_clock_read(p->clock.raw);
		}
	}
	tb_durable_recycle(d, limit);
}

/*
 * Recycles the blocks before number @limit even if the rings need them.  The present reader has all
 * recycled blocks.  The next reader may find rolling blocks with threads that ended before @time,
 * and not know their names.
 */
void tb_retention_forget(struct tb_provider *p, u64 limit, u64 time)
{
	struct tb_durable *d = &p->durable;

	lockdep_assert_held(&p->read_lock);
	if (p->reader)
		limit = min(limit, tb_retention_released(p));
	if (limit > d->first)
		p->forgotten = max(p->forgotten, time);
	tb_durable_recycle(d, limit);
}

/* Makes room in the durable buffer; may sleep.  Return false if no slot became free. */
bool tb_retention_make_room(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;
	u32 had = d->nr_free;

	lockdep_assert_held(&p->read_lock);
	if (p->config.flags & TB_CONFIG_DURABLE_STOP)
		return false;
	tb_retention_recycle(p);
	if (tb_durable_growth(d))
		tb_provider_grow(p, tb_durable_growth(d));
	if (!tb_durable_free_slots(d))
		tb_retention_forget(p, d->state, d->state_time);
	return d->nr_free > had;
}

static void tb_retention_stop_recording(struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	if (p->state != TB_STATE_RUNNING || p->reason)
		return;
	WRITE_ONCE(p->reason, TB_REASON_DURABLE_FULL);
	pr_warn("tracebuf: %s: durable buffer of %llu KiB is full: recording stops\n",
		p->name, (u64)p->durable.nr_slots * TB_DURABLE_SLOT / 1024);
	queue_work(TB_UNBOUND_WQ, &p->stop_work);
}

/* Counts lost records of threads, the last one lost now.  state.c writes all threads again. */
void tb_retention_count_lost(struct tb_provider *p, u64 count)
{
	struct tb_threads_lost *lost = &p->threads_lost;

	lockdep_assert_held(&p->read_lock);
	if (!lost->records)
		lost->first = p->track_time;
	lost->records += count;
	lost->last = tb_clock_read(p->clock.raw);
	p->durable_lost += count;
	p->resync = true;
	if (p->config.flags & TB_CONFIG_DURABLE_STOP)
		tb_retention_stop_recording(p);
}

/*
 * Move queued records of threads into the durable buffer.  The caller does so before it adds newer
 * records: a record added after a newer one gets the newer time.  While a recording starts, the
 * queue waits until state.c has written the state.
 */
void tb_durable_drain(struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	if (!p->starting)
		p->drain(p);
}

/* Write a control event as tb_durable_append_at() does, and make room for it; may sleep. */
int tb_durable_add(struct tb_provider *p, u64 time, u32 id, const void *payload, u32 bytes)
{
	int err;

	lockdep_assert_held(&p->read_lock);
	do {
		err = tb_durable_append_at(&p->durable, time, id, payload, bytes, false);
	} while (err == -ENOSPC && tb_retention_make_room(p));
	return err;
}

/* ---- names of counters -------------------------------------------------- */

int tb_retention_add_string(struct tb_provider *p, enum tb_string_kind kind, u32 key,
			    const char *text)
{
	struct {
		struct tb_string head;
		char text[64];
	} s = { .head = { .kind = kind, .key = key } };
	u32 len = strscpy(s.text, text, sizeof(s.text)) < 0 ? sizeof(s.text) - 1 : strlen(s.text);

	lockdep_assert_held(&p->read_lock);
	return tb_durable_append(&p->durable, TB_EV_STRING, &s, sizeof(s.head) + len, false);
}

int tb_retention_add_counter_names(struct tb_provider *p)
{
	unsigned int i;
	int err = 0;

	lockdep_assert_held(&p->read_lock);
	for (i = 0; i < TB_COUNTERS_MAX && !err; i++)
		if (*p->counter_names[i])
			err = tb_retention_add_string(p, TB_STRING_COUNTER, i, p->counter_names[i]);
	return err;
}

/* Write the names of the performance counters in @mask, before events have their values. */
int tb_durable_add_counters(struct tb_provider *p, u32 mask)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&p->read_lock);
	for (i = 0; i < TB_COUNTERS_MAX; i++)
		if (mask & BIT(i))
			strscpy(p->counter_names[i], p->counters.counter[i].name,
				sizeof(p->counter_names[i]));
	if (p->state == TB_STATE_RUNNING) {
		tb_durable_drain(p);
		do {
			err = tb_retention_add_counter_names(p);
		} while (err == -ENOSPC && tb_retention_make_room(p));
		tb_durable_seal(&p->durable);
	}
	mutex_unlock(&p->read_lock);
	return err;
}
