// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which durable records stay, and what gives way when the durable buffer is full.
 *
 * Records older than the newest complete state are recycled as soon as no rolling block is older
 * than that state.  If there is still no room, the buffer grows up to its limit.  At the limit,
 * records older than the newest state are recycled although rolling blocks may name a thread that
 * ended, or was renamed, before it.  While a reader holds the blocks even that is impossible, and
 * records of threads are lost.  The buffer tells both (struct tb_threads_lost).
 *
 * In streaming mode, what the reader has saved is recycled, too, when room is wanted.  With
 * TB_CONFIG_DURABLE_STOP nothing is recycled: when the buffer is full, recording stops.
 *
 * Process context, under read_lock.
 */
#include "machine/compat.h"
#include "provider.h"
#include "retention.h"

/* Not later than anything in the rings.  Under read_lock. */
static u64 tb_retention_oldest(struct tb_provider *p)
{
	u64 oldest = tb_clock_read(p->clock.raw);
	unsigned int cpu;
	u32 i;

	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		for (i = 0; i < r->nr; i++) {
			/* pairs with the release in tb_ring_complete() */
			u64 s = smp_load_acquire(&r->bufs[i].state);

			/* one being opened: its time may still be that of the last lap */
			if (TB_BUF_STATE(s) >= TB_BUF_WRITING)
				oldest = min(oldest, READ_ONCE(r->bufs[i].block->time_start));
		}
	}
	return oldest;
}

/*
 * The reader is done with the blocks before this one. Those given back are only counted, in
 * whatever order; but the one that read() is in the middle of has to stay what it is.
 * Under read_lock.
 */
u64 tb_retention_released(const struct tb_provider *p)
{
	return min(p->durable.released, p->durable.reading);
}

/* Recycles what is not needed any more.  Under read_lock. */
void tb_retention_recycle(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;
	u64 limit = d->first;

	if (d->state > d->first && d->state_time <= tb_retention_oldest(p))
		limit = d->state;
	if (p->reader) {
		limit = min(limit, tb_retention_released(p));
		/* saved; only when room is wanted: another reader may come */
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
 * Recycles the blocks before number @limit, whatever the rings still hold: threads that ended
 * before @time may be without a name there from now on.  The reader has got all that goes, but
 * the next one will not.  Under read_lock.
 */
void tb_retention_forget(struct tb_provider *p, u64 limit, u64 time)
{
	struct tb_durable *d = &p->durable;

	if (p->reader)
		limit = min(limit, tb_retention_released(p));
	if (limit > d->first)
		p->forgotten = max(p->forgotten, time);
	tb_durable_recycle(d, limit);
}

/* May sleep.  Under read_lock.  Returns false if nothing could be done. */
bool tb_retention_make_room(struct tb_provider *p)
{
	struct tb_durable *d = &p->durable;
	u32 had = d->nr_free;

	if (p->config.flags & TB_CONFIG_DURABLE_STOP)
		return false;
	tb_retention_recycle(p);
	if (tb_durable_growth(d))
		tb_provider_grow(p, tb_durable_growth(d));
	if (!tb_durable_free_slots(d))
		tb_retention_forget(p, d->state, d->state_time);
	return d->nr_free > had;
}

/* Under read_lock. */
static void tb_retention_stop_recording(struct tb_provider *p)
{
	if (p->state != TB_STATE_RUNNING || p->reason)
		return;
	WRITE_ONCE(p->reason, TB_REASON_DURABLE_FULL);
	pr_warn("tracebuf: %s: durable buffer of %llu KiB is full: recording stops\n",
		p->name, (u64)p->durable.nr_slots * TB_DURABLE_SLOT / 1024);
	queue_work(TB_UNBOUND_WQ, &p->stop_work);
}

/*
 * Records of threads are lost, the last of them now: all threads there are have to be told of
 * again.  Under read_lock.
 */
void tb_retention_count_lost(struct tb_provider *p, u64 count)
{
	struct tb_threads_lost *lost = &p->threads_lost;

	if (!lost->records)
		lost->first = p->track_time;
	lost->records += count;
	lost->last = tb_clock_read(p->clock.raw);
	p->durable_lost += count;
	p->resync = true;
	if (p->config.flags & TB_CONFIG_DURABLE_STOP)
		tb_retention_stop_recording(p);
}

/**
 * tb_durable_add() - add a record of something that happened
 * @p: the provider
 * @time: when
 * @id: enum tb_control_event
 * @payload: what follows the first element
 * @bytes: how much
 *
 * Context: process, under read_lock.
 * Return: 0; -ENOSPC: there was no way to make room.
 */
int tb_durable_add(struct tb_provider *p, u64 time, u32 id, const void *payload, u32 bytes)
{
	int err;

	do {
		err = tb_durable_append_at(&p->durable, time, id, payload, bytes, false);
	} while (err == -ENOSPC && tb_retention_make_room(p));
	return err;
}

/* ---- names of counters -------------------------------------------------- */

int tb_retention_add_string(void *ctx, enum tb_string_kind kind, u32 key, const char *text)
{
	struct {
		struct tb_string head;
		char text[64];
	} s = { .head = { .kind = kind, .key = key } };
	u32 len = strscpy(s.text, text, sizeof(s.text)) < 0 ? sizeof(s.text) - 1 : strlen(s.text);

	return tb_durable_append(ctx, TB_EV_STRING, &s, sizeof(s.head) + len, false);
}

int tb_retention_add_counter_names(struct tb_provider *p)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < TB_COUNTERS_MAX && !err; i++)
		if (*p->counter_names[i])
			err = tb_retention_add_string(&p->durable, TB_STRING_COUNTER, i,
						      p->counter_names[i]);
	return err;
}

/**
 * tb_durable_add_counters() - performance counters are going to be read
 * @p: the provider
 * @mask: which, of those it has
 *
 * Context: process.
 * Return: 0, -ENOSPC.
 */
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
		do {
			err = tb_retention_add_counter_names(p);
		} while (err == -ENOSPC && tb_retention_make_room(p));
		tb_durable_seal(&p->durable);
	}
	mutex_unlock(&p->read_lock);
	return err;
}
