// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acquire blocks for the reader, and release them; snapshots.
 *
 * Callers: read.c, save_channel.c and the ioctls of devices/tracebuf.c, in process context.
 * Locks: tb_provider.read_lock, which keeps the memory of the rings in place; outside it
 * cpus_read_lock, to flush rings, and before both the locks of programs/, to scrape.
 */
#include <linux/cpu.h>
#include <linux/nospec.h>

#include "recording/recording.h"
#include "session.h"

/* ---- snapshots ---------------------------------------------------------- */

/*
 * A snapshot copies the blocks of a circular recording while the recording goes on.  Blocks stay in
 * the ring when the reader acquires and releases them.  At its start, a snapshot pins the newest
 * blocks, so that the writer does not overwrite them.  It never holds more than half of a ring.
 */

/*
 * Begin a snapshot.  Flush all rings at once: buffers that writers open later are not part of the
 * snapshot.  The caller also holds cpus_read_lock.
 */
static void tb_snapshot_begin(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	tb_provider_flush_cpus(p, &p->cpus);
	/* before the counts, which get the current time: times of records must not decrease */
	tb_state_drain_queue(p);
	for_each_cpu(cpu, &p->cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		tb_ring_begin_snapshot(r);
		/* half of the blocks that a snapshot may hold */
		tb_ring_pin(r, max(r->nr / 4, 1u));
		tb_state_write_snapshot(p, cpu);
		cond_resched();
	}
	tb_durable_seal(&p->durable);
	WRITE_ONCE(p->snapshot, true);
}

/* Return true if the reader has not acquired all blocks of the snapshot yet. */
static bool tb_snapshot_is_incomplete(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		if (tb_ring_in_snapshot(per_cpu_ptr(p->rings, cpu)))
			return true;
	return false;
}

/*
 * Return true if a snapshot must not acquire the next block of @r.  It may hold half of the blocks,
 * so that the writer finds buffers to overwrite even if the reader is slow: new events matter more
 * than the copy of old ones.  After the recording has stopped, the snapshot has no limit.
 */
static bool tb_snapshot_exceeds(struct tb_provider *p, struct tb_cpu_ring *r)
{
	lockdep_assert_held(&p->read_lock);
	return READ_ONCE(p->state) == TB_STATE_RUNNING && r->held >= max(r->nr / 2, 1u) &&
	       !tb_ring_next_pinned(r);
}

/* Return true if the reader must release a block first; if it has none, acquire unpins one. */
static bool tb_snapshot_is_full(struct tb_provider *p, struct tb_cpu_ring *r)
{
	lockdep_assert_held(&p->read_lock);
	return r->held > tb_ring_pinned(r) && tb_snapshot_exceeds(p, r);
}

/* ---- blocks to acquire -------------------------------------------------- */

/* Return true if the reader may acquire blocks of the rings now. */
static bool tb_session_open_rings(struct tb_provider *p)
{
	u32 state = READ_ONCE(p->state);

	lockdep_assert_held(&p->read_lock);
	return state == TB_STATE_STOPPED ||
	       (state == TB_STATE_RUNNING &&
		(p->config.mode == TB_MODE_STREAMING || READ_ONCE(p->snapshot)));
}

/* An open buffer past the watermark counts, but not in a snapshot, which closes no buffer. */
static bool tb_ring_has_block(struct tb_provider *p, struct tb_cpu_ring *r)
{
	lockdep_assert_held(&p->read_lock);
	if (p->snapshot)
		return !tb_snapshot_is_full(p, r) && tb_ring_can_acquire(r);
	return tb_ring_readable(r);
}

/* Rings with a save channel do not count: their blocks go to the channel. */
static bool tb_rings_readable(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		if (!tb_save_channel_of(p, cpu) && tb_ring_has_block(p, per_cpu_ptr(p->rings, cpu)))
			return true;
	return false;
}

static bool tb_session_readable_locked(struct tb_session *s, struct tb_provider *p)
{
	lockdep_assert_held(&p->read_lock);
	if (!p->allocated)
		return false;
	if (p->durable.sealed &&
	    (p->reader != s || p->durable.taken < p->durable.sealed))
		return true;
	/* the snapshot is complete: wake the reader, which then gets -ENODATA */
	if (p->snapshot && p->reader == s && !tb_snapshot_is_incomplete(p))
		return true;
	return tb_session_open_rings(p) && tb_rings_readable(p);
}

/* Return true if a session can acquire a block, which may be gone before it does. */
bool tb_session_readable(struct tb_session *s, struct tb_provider *p)
{
	bool readable;

	/* keeps the memory of the rings in place */
	mutex_lock(&p->read_lock);
	readable = tb_session_readable_locked(s, p);
	mutex_unlock(&p->read_lock);
	return readable;
}

/* ---- acquire ------------------------------------------------------------ */

static u32 tb_acquire_durable(struct tb_provider *p, struct tb_ref *refs, u32 count)
{
	struct tb_durable_block block;
	u32 n = 0;

	lockdep_assert_held(&p->read_lock);
	while (n < count && tb_durable_take(&p->durable, &block)) {
		refs[n].ring = TB_RING_DURABLE;
		refs[n].bytes = block.bytes;
		refs[n].offset = tb_provider_durable_offset(p) + block.at;
		n++;
	}
	return n;
}

/* Acquire a block of the ring of @cpu.  If it has none, close its buffer past the watermark. */
static bool tb_acquire_from_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref)
{
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);
	int index;

	lockdep_assert_held(&p->read_lock);
	if (p->snapshot && tb_snapshot_exceeds(p, r)) {
		if (r->held > tb_ring_pinned(r))
			return false;
		tb_ring_unpin(r);
	}
	index = tb_ring_acquire(r);
	if (index < 0 && p->state == TB_STATE_RUNNING && !p->snapshot &&
	    tb_ring_above_watermark(r)) {
		tb_provider_flush_cpus(p, cpumask_of(cpu));
		index = tb_ring_acquire(r);
	}
	if (index < 0)
		return false;
	if (p->snapshot)
		r->from = r->bufs[index].block->sequence + 1;
	ref->ring = cpu;
	ref->bytes = tb_provider_buffer_bytes(p);
	ref->offset = cpu * tb_provider_ring_stride(p) + tb_provider_ring_header(p) +
		      (u64)index * ref->bytes;
	return true;
}

/* Acquire blocks of all rings in turn, starting at the ring where the last call ended. */
static u32 tb_acquire_from_rings(struct tb_provider *p, struct tb_ref *refs, u32 count)
{
	unsigned int idle = 0, cpu = p->next_cpu;
	u32 n = 0;

	lockdep_assert_held(&p->read_lock);
	while (n < count && idle < nr_cpu_ids) {
		cond_resched();
		if (cpumask_test_cpu(cpu, &p->cpus) && !tb_save_channel_of(p, cpu) &&
		    tb_acquire_from_ring(p, cpu, &refs[n])) {
			idle = 0;
			n++;
		} else {
			idle++;
		}
		cpu = cpu + 1 < nr_cpu_ids ? cpu + 1 : 0;
	}
	p->next_cpu = cpu;
	return n;
}

/*
 * Return the index of the buffer that @ref, from user space, names; -1 if it is not held.  @ring:
 * out: its ring.
 */
static int tb_ref_index(struct tb_provider *p, const struct tb_ref *ref, struct tb_cpu_ring **ring)
{
	u32 bytes = tb_provider_buffer_bytes(p), cpu, index;
	struct tb_cpu_ring *r;
	u64 at, s;

	lockdep_assert_held(&p->read_lock);
	if (ref->ring >= nr_cpu_ids)
		return -1;
	cpu = array_index_nospec(ref->ring, nr_cpu_ids);
	if (!cpumask_test_cpu(cpu, &p->cpus) || ref->bytes != bytes)
		return -1;
	at = ref->offset - cpu * tb_provider_ring_stride(p) - tb_provider_ring_header(p);
	if (at % bytes || at / bytes >= p->config.buffers)
		return -1;
	index = array_index_nospec(at / bytes, p->config.buffers);
	r = per_cpu_ptr(p->rings, cpu);
	s = READ_ONCE(r->bufs[index].state);
	if (TB_BUF_STATE(s) != TB_BUF_HELD || (tb_ring_pinned(r) && TB_BUF_SEQ(s) >= r->from))
		return -1;
	*ring = r;
	return index;
}

/* Return the memory of a block that is held.  Any context. */
void *tb_ref_address(struct tb_provider *p, const struct tb_ref *ref)
{
	u64 at;

	if (ref->ring == TB_RING_DURABLE) {
		at = ref->offset - tb_provider_durable_offset(p);
		return tb_durable_address(&p->durable, at);
	}
	at = ref->offset - ref->ring * tb_provider_ring_stride(p) - tb_provider_ring_header(p);
	return tb_mem_block(&p->memory[ref->ring].mem, at / ref->bytes);
}

/*
 * Undo acquiring the last blocks, the latest first.  The bytes of @refs become 0, because they name
 * no block any more.
 */
void tb_block_unacquire(struct tb_provider *p, struct tb_ref *refs, u32 count)
{
	lockdep_assert_held(&p->read_lock);
	while (count--) {
		struct tb_ref ref = refs[count];
		struct tb_cpu_ring *r;
		int index;

		refs[count].bytes = 0;
		if (ref.ring == TB_RING_DURABLE) {
			WRITE_ONCE(p->durable.taken, p->durable.taken - 1);
			continue;
		}
		index = tb_ref_index(p, &ref, &r);
		if (index < 0)
			continue;
		if (p->snapshot)
			r->from = r->bufs[index].block->sequence;
		tb_ring_unacquire(r, index);
	}
}

/* Count the leading blocks that end before the oldest queued thread record. */
static u32 tb_blocks_without_pending_threads(struct tb_provider *p, const struct tb_ref *refs,
					     u32 count)
{
	const struct tb_thread_queue_slot *next;
	u32 n;

	lockdep_assert_held(&p->read_lock);
	next = tb_thread_queue_peek(&p->threads);
	if (!next)
		return tb_thread_queue_count(&p->threads) ? 0 : count;
	for (n = 0; n < count; n++) {
		const struct tb_block *block = tb_ref_address(p, &refs[n]);

		if (next->time <= block->time_end)
			break;
	}
	return n;
}

/*
 * Acquire the next block of one ring of a provider that runs or has stopped.  Seal the durable
 * blocks that it refers to, so that the session can acquire them.  The caller also holds
 * cpus_read_lock.  Return false if the ring has no block now.
 */
bool tb_session_acquire_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref)
{
	lockdep_assert_held(&p->read_lock);
	if (!tb_acquire_from_ring(p, cpu, ref))
		return false;
	tb_state_drain_queue(p);
	if (!tb_blocks_without_pending_threads(p, ref, 1)) {
		tb_block_unacquire(p, ref, 1);
		return false;
	}
	tb_durable_seal(&p->durable);
	return true;
}

/*
 * Acquire durable blocks, then rolling ones.  Records that an event refers to are in the durable
 * buffer (select/select.c appends them under read_lock) or in the queue of threads before a writer
 * records the event.  So check both again after choosing rolling blocks, and leave rolling blocks
 * that may refer to new records for the next call.  Seal the open durable block only if a rolling
 * block goes with it: a durable block for each new thread would waste memory.
 */
static u32 tb_session_acquire_locked(struct tb_provider *p, struct tb_ref *refs, u32 count,
				     u32 flags)
{
	u32 durable, ready, n;
	bool open;

	lockdep_assert_held(&p->read_lock);
	open = tb_session_open_rings(p);
	tb_state_drain_queue(p);
	if ((flags & TB_ACQUIRE_FLUSH) || (open && tb_rings_readable(p)))
		tb_durable_seal(&p->durable);
	durable = tb_acquire_durable(p, refs, count);
	n = durable;
	if (n == count || !open)
		return n;
	n += tb_acquire_from_rings(p, refs + n, count - n);
	ready = durable;
	if (p->durable.used == p->durable.sealed)
		ready += tb_blocks_without_pending_threads(p, refs + durable, n - durable);
	if (ready == n)
		return n;
	tb_block_unacquire(p, refs + ready, n - ready);
	if (ready > durable)
		return ready;
	tb_state_drain_queue(p);
	tb_durable_seal(&p->durable);
	n = durable + tb_acquire_durable(p, refs + durable, count - durable);
	return n;
}

/**
 * tb_session_acquire() - acquire blocks, durable ones first
 * @s: the reader, or a session that becomes the reader
 * @refs: out: the blocks; a block that the call has put back again has 0 bytes
 * @count: limit of the number of blocks
 * @flags: TB_ACQUIRE_*
 *
 * TB_ACQUIRE_FLUSH closes the buffer of each ring once, at the start: events that the call causes
 * stay for the next call.  The first TB_ACQUIRE_SNAPSHOT on a running circular recording begins a
 * snapshot, and this session acquires blocks of the snapshot from then on.
 *
 * Context: process, under batch.
 * Return: number of blocks; -EBUSY another session is the reader; -ENODATA the reader has acquired
 * all blocks of a stopped recording or a snapshot; -ENOSPC; -ENOMEM.
 */
int tb_session_acquire(struct tb_session *s, struct tb_ref *refs, u32 count, u32 flags)
{
	struct tb_provider *p = tb_session_bind(s);
	u32 n = 0;
	int err;

	lockdep_assert_held(&p->batch);
	/* take the records that programs have published, before taking the locks that follow */
	if ((flags & (TB_ACQUIRE_FLUSH | TB_ACQUIRE_SNAPSHOT)) && !READ_ONCE(p->snapshot))
		tb_channels_scrape(p, false);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	err = tb_session_attach(s);
	if (!err && p->allocated) {
		if ((flags & TB_ACQUIRE_SNAPSHOT) && !p->snapshot &&
		    p->state == TB_STATE_RUNNING && p->config.mode == TB_MODE_CIRCULAR)
			tb_snapshot_begin(p);
		else if ((flags & TB_ACQUIRE_FLUSH) && p->state == TB_STATE_RUNNING &&
			 !p->snapshot && tb_session_open_rings(p))
			tb_provider_flush_cpus(p, &p->cpus);
		n = tb_session_acquire_locked(p, refs, count, flags);
		if (!n && (p->snapshot ? !tb_snapshot_is_incomplete(p) :
			   p->state == TB_STATE_STOPPED))
			err = -ENODATA;
	}
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return err ?: n;
}

/* ---- release ------------------------------------------------------------ */

/* Return true if @ref, from user space, may name a durable block. */
static bool tb_ref_durable(struct tb_provider *p, const struct tb_ref *ref)
{
	u64 at = ref->offset - tb_provider_durable_offset(p);

	lockdep_assert_held(&p->read_lock);
	return is_power_of_2(ref->bytes) && ref->bytes >= TB_DURABLE_BLOCK_MIN &&
	       ref->bytes <= TB_DURABLE_BLOCK_MAX && at % TB_DURABLE_BLOCK_MIN == 0 &&
	       at < tb_durable_extent(&p->durable);
}

/* Release one block.  Return 0; -EINVAL the reader does not hold it. */
int tb_block_release(struct tb_provider *p, const struct tb_ref *ref)
{
	struct tb_cpu_ring *r;
	int index;

	lockdep_assert_held(&p->read_lock);
	if (ref->ring == TB_RING_DURABLE) {
		if (p->durable.released >= p->durable.taken || !tb_ref_durable(p, ref))
			return -EINVAL;
		p->durable.released++;
		return 0;
	}
	index = tb_ref_index(p, ref, &r);
	if (index < 0)
		return -EINVAL;
	if (p->snapshot)
		tb_ring_put_back(r, index);
	else
		tb_ring_release(r, index);
	return 0;
}

/*
 * Return true if read() has copied a part of the block @ref, or a save channel offers it.  Releases
 * only count durable blocks, so while read() copies one of them, the last one must stay.
 */
static bool tb_block_is_being_read(struct tb_provider *p, const struct tb_ref *ref)
{
	const struct tb_ref *part = &p->reader->part;
	u32 cpu;

	lockdep_assert_held(&p->read_lock);
	if (ref->ring < nr_cpu_ids) {
		cpu = array_index_nospec(ref->ring, nr_cpu_ids);
		if (tb_save_channel_holds(tb_save_channel_of(p, cpu), ref))
			return true;
	}
	if (!part->bytes || ref->ring != part->ring)
		return false;
	if (ref->ring == TB_RING_DURABLE)
		return p->durable.taken - p->durable.released <= 1;
	return ref->offset == part->offset;
}

/**
 * tb_session_release() - release blocks as delivered; blocks of a snapshot stay in the ring
 * @s: the reader
 * @refs: from tb_session_acquire(), in any order
 * @count: number of blocks
 * @done: out: number of released blocks
 *
 * Context: process, under batch.
 * Return: 0; -EINVAL refs[done] is not held, or there is no reader; -EBUSY another session is the
 * reader.
 */
int tb_session_release(struct tb_session *s, const struct tb_ref *refs, u32 count, u32 *done)
{
	struct tb_provider *p = s->provider;
	int err = 0;

	lockdep_assert_held(&p->batch);
	*done = 0;
	mutex_lock(&p->read_lock);
	if (p->reader != s)
		err = p->reader ? -EBUSY : -EINVAL;
	while (!err && *done < count) {
		err = p->allocated && !tb_block_is_being_read(p, &refs[*done]) ?
		      tb_block_release(p, &refs[*done]) : -EINVAL;
		if (!err)
			(*done)++;
	}
	/* the snapshot may acquire more blocks of these rings now */
	if (*done && p->snapshot)
		wake_up_all(&p->wait);
	mutex_unlock(&p->read_lock);
	return err;
}

/*
 * Undo the last tb_session_acquire(), which returned @refs.  The caller has held batch since, so
 * that no session has acquired or released a block in between.
 */
void tb_session_unacquire(struct tb_session *s, struct tb_ref *refs, u32 count)
{
	struct tb_provider *p = s->provider;

	lockdep_assert_held(&p->batch);
	mutex_lock(&p->read_lock);
	if (p->reader == s)
		tb_block_unacquire(p, refs, count);
	wake_up_all(&p->wait);
	mutex_unlock(&p->read_lock);
}
