// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acquire blocks for the reader, and release them.
 *
 * Callers: read.c, save_channel.c and the ioctls of devices/tracebuf.c, in process context.
 * Everything here runs under tb_provider.read_lock, which keeps the memory of the rings in place.
 */
#include <linux/cpu.h>
#include <linux/log2.h>
#include <linux/nospec.h>

#include "provider/wake.h"
#include "recording/recording.h"
#include "save_channel.h"
#include "session.h"
#include "snapshot.h"

/* ---- what there is to acquire ------------------------------------------- */

/* Whose blocks it takes, if it reads.  Under read_lock. */
static const struct cpumask *tb_session_cpus(struct tb_session *s, struct tb_provider *p)
{
	return s->joined ? s->cpus : &p->cpus;
}

/* Are the rings there for the taking now? */
static bool tb_session_open_rings(struct tb_provider *p)
{
	u32 state = READ_ONCE(p->state);

	return state == TB_STATE_STOPPED ||
	       (state == TB_STATE_RUNNING &&
		(p->config.mode == TB_MODE_STREAMING || READ_ONCE(p->snapshot)));
}

/* A snapshot closes no buffer: that one is past its mark gives it nothing. */
static bool tb_ring_has_block(struct tb_provider *p, struct tb_cpu_ring *r)
{
	if (p->snapshot)
		return !tb_snapshot_is_full(p, r) && tb_ring_can_acquire(r);
	return tb_ring_readable(r);
}

/* Those whose blocks the session gets.  Under read_lock. */
static bool tb_rings_readable(struct tb_provider *p, const struct cpumask *cpus)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, &p->cpus, cpus)
		if (!tb_save_channel_of(p, cpu) && tb_ring_has_block(p, per_cpu_ptr(p->rings, cpu)))
			return true;
	return false;
}

static bool tb_session_readable_locked(struct tb_session *s, struct tb_provider *p)
{
	if (!p->allocated)
		return false;
	if (p->durable.sealed &&
	    (!tb_session_reads_from(s, p) || p->durable.taken < p->durable.sealed))
		return true;
	/* acquire says that it is over, to whoever waits for more */
	if (p->snapshot && tb_session_reads_from(s, p) && !tb_snapshot_is_incomplete(p))
		return true;
	return tb_session_open_rings(p) && tb_rings_readable(p, tb_session_cpus(s, p));
}

/**
 * tb_session_readable() - is there something to take?
 * @s: the session
 * @p: its provider
 *
 * Context: process.
 * Return: true if so; it may be gone by the time the caller comes for it.
 */
bool tb_session_readable(struct tb_session *s, struct tb_provider *p)
{
	bool readable;

	/* the rings' memory must not be replaced meanwhile */
	mutex_lock(&p->read_lock);
	readable = tb_session_readable_locked(s, p);
	mutex_unlock(&p->read_lock);
	return readable;
}

/* ---- taking ------------------------------------------------------------- */

static void tb_ref_ring(struct tb_provider *p, struct tb_ref *ref, unsigned int cpu, u32 index)
{
	ref->ring = cpu;
	ref->bytes = tb_provider_buffer_bytes(p);
	ref->offset = cpu * tb_provider_ring_stride(p) + tb_provider_ring_header(p) +
		      (u64)index * ref->bytes;
}

/* Takes durable blocks.  Under read_lock. */
static u32 tb_acquire_durable(struct tb_provider *p, struct tb_ref *refs, u32 count)
{
	struct tb_durable_block block;
	u32 n = 0;

	while (n < count && tb_durable_take(&p->durable, &block)) {
		refs[n].ring = TB_RING_DURABLE;
		refs[n].bytes = block.bytes;
		refs[n].offset = tb_provider_durable_offset(p) + block.at;
		n++;
	}
	return n;
}

/*
 * One block of the ring of @cpu, closing the current one first if the
 * reader would want it.
 */
static bool tb_acquire_from_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref)
{
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);
	int index;

	if (p->snapshot && tb_snapshot_exceeds(p, r)) {
		if (r->held > tb_ring_pinned(r))
			return false;
		tb_ring_unpin(r);
	}
	index = tb_ring_acquire(r);
	if (index < 0 && p->state == TB_STATE_RUNNING && !p->snapshot && tb_ring_above_mark(r)) {
		tb_provider_flush_cpu(p, cpu);
		index = tb_ring_acquire(r);
	}
	if (index < 0)
		return false;
	if (p->snapshot)
		r->from = r->bufs[index].block->sequence + 1;
	tb_ref_ring(p, ref, cpu, index);
	return true;
}

/* Takes blocks of the rings of @cpus in turn, going on where somebody left off. */
static u32 tb_acquire_from_rings(struct tb_provider *p, struct tb_ref *refs, u32 count,
				 const struct cpumask *cpus)
{
	unsigned int idle = 0, cpu = p->next_cpu;
	u32 n = 0;

	while (n < count && idle < nr_cpu_ids) {
		cond_resched();
		if (cpumask_test_cpu(cpu, cpus) && cpumask_test_cpu(cpu, &p->cpus) &&
		    !tb_save_channel_of(p, cpu) && tb_acquire_from_ring(p, cpu, &refs[n])) {
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

/* The buffer that @ref, from user space, stands for if the reader has it, or -1. */
static int tb_ref_index(struct tb_provider *p, const struct tb_ref *ref)
{
	u32 bytes = tb_provider_buffer_bytes(p), cpu, index;
	struct tb_cpu_ring *r;
	u64 at, s;

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
	return index;
}

/* The ring of @ref, from user space, of which tb_ref_index() has found the buffer. */
static struct tb_cpu_ring *tb_ref_owner(struct tb_provider *p, const struct tb_ref *ref)
{
	return per_cpu_ptr(p->rings, array_index_nospec(ref->ring, nr_cpu_ids));
}

/**
 * tb_ref_address() - where a block is
 * @p: the provider
 * @ref: the block, held
 *
 * Context: any.
 * Return: its memory.
 */
void *tb_ref_address(struct tb_provider *p, const struct tb_ref *ref)
{
	u64 at;

	if (ref->ring == TB_RING_DURABLE) {
		at = ref->offset - tb_provider_durable_offset(p);
		return tb_durable_address(&p->durable, at);
	}
	at = ref->offset - ref->ring * tb_provider_ring_stride(p) - tb_provider_ring_header(p);
	return tb_mem_block(&p->mem[ref->ring], at / ref->bytes);
}

/**
 * tb_block_unacquire() - put blocks back as if they had not been taken, the latest first
 * @p: the provider
 * @refs: the blocks, those taken last; of no bytes then, for they stand for nothing any more
 * @count: how many
 *
 * Context: process, under read_lock.
 */
void tb_block_unacquire(struct tb_provider *p, struct tb_ref *refs, u32 count)
{
	while (count--) {
		struct tb_ref ref = refs[count];
		struct tb_cpu_ring *r;
		int index;

		refs[count].bytes = 0;
		if (ref.ring == TB_RING_DURABLE) {
			WRITE_ONCE(p->durable.taken, p->durable.taken - 1);
			continue;
		}
		index = tb_ref_index(p, &ref);
		if (index < 0)
			continue;
		r = tb_ref_owner(p, &ref);
		if (p->snapshot)
			r->from = r->bufs[index].block->sequence;
		tb_ring_unacquire(r, index);
	}
}

/* How many of these blocks, from the first, need nothing of threads that is still to be told? */
static u32 tb_blocks_without_pending_threads(struct tb_provider *p, const struct tb_ref *refs,
					     u32 count)
{
	const struct tb_thread_queue_slot *next = tb_thread_queue_peek(&p->threads);
	u32 n;

	if (!next)
		return tb_thread_queue_count(&p->threads) ? 0 : count;
	for (n = 0; n < count; n++) {
		const struct tb_block *block = tb_ref_address(p, &refs[n]);

		if (next->time <= block->time_end)
			break;
	}
	return n;
}

/**
 * tb_session_acquire_ring() - take the next block of one ring, and seal all that it needs
 * @p: the provider, running or stopped
 * @cpu: which ring
 * @ref: out: the block
 *
 * What it needs is in durable blocks that can be taken, as with tb_session_acquire().
 *
 * Context: process, under cpus_read_lock and read_lock.
 * Return: false if there is none now.
 */
bool tb_session_acquire_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref)
{
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
 * Durable blocks, then rolling ones.  What an event refers to was appended to the
 * durable buffer under read_lock (select/select.c), or put into the queue of threads, before it was
 * recorded.  So both are looked at once more when the rolling blocks have been
 * chosen; those that may need what is found there must wait for the next time.
 * The durable block that is being filled is not handed out unless there is a rolling one
 * to go with it: a block for every thread that comes would be a waste.
 * Under read_lock.
 */
static u32 tb_session_acquire_locked(struct tb_provider *p, struct tb_ref *refs, u32 count,
				     u32 flags, const struct cpumask *cpus)
{
	bool open = tb_session_open_rings(p);
	u32 durable, ready, n;

	tb_state_drain_queue(p);
	if ((flags & TB_ACQUIRE_FLUSH) || (open && tb_rings_readable(p, cpus)))
		tb_durable_seal(&p->durable);
	durable = tb_acquire_durable(p, refs, count);
	n = durable;
	if (n == count || !open)
		return n;
	n += tb_acquire_from_rings(p, refs + n, count - n, cpus);
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
 * tb_session_acquire() - take blocks
 * @s: the session, the reader or to become it, or one that has joined it
 * @refs: where to put them; one that was taken and put back again has no bytes
 * @count: how many at most
 * @flags: TB_ACQUIRE_*
 *
 * Durable blocks first.  TB_ACQUIRE_FLUSH closes the buffer of each ring once, at the
 * start: what it causes to be recorded itself is for the next time.  With the first
 * TB_ACQUIRE_SNAPSHOT on a circular recording that is running a snapshot begins, and what this
 * session acquires from then on is of it.
 *
 * Context: process.
 * Return: how many; -EBUSY another is the reader; -EPIPE the one it has joined is not the reader
 * any more; -EINVAL a snapshot in such a one; -ENODATA stopped, or a snapshot, and nothing left.
 */
int tb_session_acquire(struct tb_session *s, struct tb_ref *refs, u32 count, u32 flags)
{
	struct tb_provider *p = tb_session_bind(s);
	const struct cpumask *cpus;
	u32 n = 0;
	int err;

	/* if it is to flush, or begin a snapshot: not under the locks that follow */
	if ((flags & (TB_ACQUIRE_FLUSH | TB_ACQUIRE_SNAPSHOT)) && !READ_ONCE(p->snapshot))
		tb_channels_scrape(p, false);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	cpus = tb_session_cpus(s, p);
	if (!s->joined)
		err = tb_session_attach(s);
	else if (flags & TB_ACQUIRE_SNAPSHOT)
		err = -EINVAL;
	else
		err = tb_session_reads_from(s, p) ? 0 : -EPIPE;
	if (!err && p->allocated) {
		if ((flags & TB_ACQUIRE_SNAPSHOT) && !p->snapshot &&
		    p->state == TB_STATE_RUNNING && p->config.mode == TB_MODE_CIRCULAR)
			tb_snapshot_begin(p);
		else if ((flags & TB_ACQUIRE_FLUSH) && p->state == TB_STATE_RUNNING &&
			 !p->snapshot && tb_session_open_rings(p))
			tb_provider_flush_cpus(p, cpus);
		n = tb_session_acquire_locked(p, refs, count, flags, cpus);
		if (!n && (p->snapshot ? !tb_snapshot_is_incomplete(p) :
			   p->state == TB_STATE_STOPPED))
			err = -ENODATA;
	}
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return err ?: n;
}

/* ---- giving back -------------------------------------------------------- */

/* Can @ref, from user space, stand for a durable block? */
static bool tb_ref_durable(struct tb_provider *p, const struct tb_ref *ref)
{
	u64 at = ref->offset - tb_provider_durable_offset(p);

	return is_power_of_2(ref->bytes) && ref->bytes >= TB_DURABLE_BLOCK_MIN &&
	       ref->bytes <= TB_DURABLE_BLOCK_MAX && at % TB_DURABLE_BLOCK_MIN == 0 &&
	       at < tb_durable_extent(&p->durable);
}

/**
 * tb_block_release() - give one block back
 * @p: the provider
 * @ref: the block
 *
 * Context: process, under read_lock.
 * Return: 0, -EINVAL if it is not held.
 */
int tb_block_release(struct tb_provider *p, const struct tb_ref *ref)
{
	int index;

	if (ref->ring == TB_RING_DURABLE) {
		if (p->durable.released >= p->durable.taken || !tb_ref_durable(p, ref))
			return -EINVAL;
		p->durable.released++;
		return 0;
	}
	index = tb_ref_index(p, ref);
	if (index < 0)
		return -EINVAL;
	if (p->snapshot)
		tb_ring_put_back(tb_ref_owner(p, ref), index);
	else
		tb_ring_release(tb_ref_owner(p, ref), index);
	return 0;
}

/*
 * Is @ref the block that read() is in the middle of, or that a channel has offered?  Of
 * durable blocks only the number counts.  Under read_lock.
 */
static bool tb_block_is_being_read(struct tb_provider *p, const struct tb_ref *ref)
{
	const struct tb_ref *part = &p->reader->part;
	u32 cpu;

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
 * tb_session_release() - give blocks back: delivered; those of a snapshot stay in the ring
 * @s: the reader, or one that has joined it
 * @refs: from tb_session_acquire(), in any order
 * @count: how many
 * @done: out: how many were given back
 *
 * Context: process.
 * Return: 0, -EINVAL at the first that is not held, -EBUSY not the reader, -EPIPE it had joined
 * one that is not the reader any more.
 */
int tb_session_release(struct tb_session *s, const struct tb_ref *refs, u32 count, u32 *done)
{
	struct tb_provider *p = s->provider;
	int err = 0;

	*done = 0;
	mutex_lock(&p->read_lock);
	if (!tb_session_reads_from(s, p))
		err = s->joined ? -EPIPE : p->reader ? -EBUSY : -EINVAL;
	while (!err && *done < count) {
		err = p->allocated && !tb_block_is_being_read(p, &refs[*done]) ?
		      tb_block_release(p, &refs[*done]) : -EINVAL;
		if (!err)
			(*done)++;
	}
	/* the snapshot may take more of this ring now */
	if (*done && p->snapshot)
		tb_wake_waiters(p);
	mutex_unlock(&p->read_lock);
	return err;
}

/**
 * tb_session_unacquire() - put blocks back as if they had not been taken
 * @s: the reader, or one that has joined it
 * @refs: what the last tb_session_acquire() returned, all of it
 * @count: how many
 *
 * Context: process, under the provider's batch since that call: so nothing was taken or
 * given back in between.
 */
void tb_session_unacquire(struct tb_session *s, struct tb_ref *refs, u32 count)
{
	struct tb_provider *p = s->provider;

	mutex_lock(&p->read_lock);
	if (tb_session_reads_from(s, p))
		tb_block_unacquire(p, refs, count);
	tb_wake_waiters(p);
	mutex_unlock(&p->read_lock);
}
