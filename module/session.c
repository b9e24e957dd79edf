// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: waiting for blocks, taking them, giving them back.
 *
 * One session at a time is the reader of a provider: the first that reads or
 * acquires; others get EBUSY until it closes.  What a reader holds when it closes goes back
 * into the ring, for the next.  Each reader gets the durable
 * buffer from its start.
 *
 * Waking: a reader about to wait sets want_wake, then looks for blocks; a
 * writer makes a block READY, then looks at want_wake.  A full barrier on
 * either side between the two, so at least one of them sees the other.
 */
#include <linux/cpu.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fifo.h"
#include "registry.h"
#include "session.h"

/* ---- waking ----------------------------------------------------------- */

/**
 * tb_ring_notify() - a buffer got to its mark or complete
 * @r: the ring of this CPU
 *
 * Context: any, NMI and inside the scheduler included, on a CPU that is online
 * (tracepoints see to that): on one that goes away the work would never run.
 */
void tb_ring_notify(struct tb_ring *r)
{
	struct tb_provider *p = r->owner;

	smp_mb(); /* the block before the flag: pairs with tb_session_want() */
	if (READ_ONCE(p->want_wake))
		irq_work_queue(&p->wake);
}

static void tb_wake_work(struct irq_work *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, wake);

	WRITE_ONCE(p->want_wake, 0);
	wake_up_all(&p->wait);
}

/**
 * tb_session_init_wake() - the part of tb_provider_init() that is about waiting
 * @p: the provider
 *
 * Context: process.
 */
void tb_session_init_wake(struct tb_provider *p)
{
	init_irq_work(&p->wake, tb_wake_work);
}

/**
 * tb_session_wake() - something has changed: let all who wait look
 * @p: the provider
 *
 * Context: process.
 */
void tb_session_wake(struct tb_provider *p)
{
	wake_up_all(&p->wait);
}

/**
 * tb_session_want() - blocks that come from now on are to wake those who wait
 * @p: the provider
 *
 * To be called before looking for blocks, and each time anew.
 *
 * Context: any.
 */
void tb_session_want(struct tb_provider *p)
{
	WRITE_ONCE(p->want_wake, 1);
	smp_mb(); /* the flag before the blocks: pairs with tb_ring_notify() */
}

/**
 * tb_session_wait_for() - wait until there is something to do for a reader
 * @p: the provider
 * @ready: is there?
 * @arg: for @ready
 *
 * Context: process.
 * Return: 0, -ERESTARTSYS.
 */
int tb_session_wait_for(struct tb_provider *p, bool (*ready)(void *arg), void *arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	add_wait_queue(&p->wait, &wait);
	for (;;) {
		tb_session_want(p);
		/* first: a block that is there but cannot be taken yet must not hold us */
		if (signal_pending(current)) {
			err = -ERESTARTSYS;
			break;
		}
		if (ready(arg))
			break;
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	}
	remove_wait_queue(&p->wait, &wait);
	return err;
}

/* ---- the provider ----------------------------------------------------- */

/**
 * tb_session_bind() - the provider, which is this session's for good from now on
 * @s: the session
 *
 * Context: any that may spin.
 * Return: the provider.
 */
struct tb_provider *tb_session_bind(struct tb_session *s)
{
	struct tb_provider *p;

	spin_lock(&s->bind);
	s->bound = true;
	p = s->provider;
	spin_unlock(&s->bind);
	return p;
}

/**
 * tb_session_attach_to() - be for another provider than "kernel"
 * @s: the session
 * @name: of the provider
 *
 * Once, and before anything is done that binds it.  Whoever is in the middle of something
 * with the old one may go on: "kernel" does not go away.
 *
 * Context: process.
 * Return: 0, -ENOENT, -EBUSY.
 */
int tb_session_attach_to(struct tb_session *s, const char *name)
{
	struct tb_provider *p = tb_registry_open(name), *old;
	int err = 0;

	if (!p)
		return -ENOENT;
	spin_lock(&s->bind);
	old = s->provider;
	if (s->bound) {
		err = -EBUSY;
	} else {
		WRITE_ONCE(s->provider, p);
		s->bound = true;
	}
	spin_unlock(&s->bind);
	tb_registry_close(err ? p : old);
	return err;
}

/* ---- the reader ------------------------------------------------------- */

/**
 * tb_session_attach() - make a session the reader if there is none
 * @s: the session, bound
 *
 * Context: process, under read_lock.
 * Return: 0, also if it is the reader already; -EBUSY another is; -ENOSPC, -ENOMEM.
 */
int tb_session_attach(struct tb_session *s)
{
	struct tb_provider *p = s->provider;

	if (p->reader == s)
		return 0;
	if (p->reader)
		return -EBUSY;
	if (p->allocated) {
		int err = tb_keep_whole(p);

		if (err)
			return err;
		tb_durable_rewind(&p->durable);
	}
	WRITE_ONCE(p->reader, s);
	return 0;
}

/* Are the rings there for the taking now? */
static bool tb_session_open_rings(struct tb_provider *p, u32 flags)
{
	u32 state = READ_ONCE(p->state);

	return state == TB_STATE_STOPPED ||
	       (state == TB_STATE_RUNNING &&
		(p->config.mode == TB_MODE_STREAMING ||
		 (p->config.mode == TB_MODE_CIRCULAR && (flags & TB_ACQUIRE_SNAPSHOT))));
}

/* Those whose blocks the session gets.  Under read_lock. */
static bool tb_rings_readable(struct tb_provider *p)
{
	unsigned int cpu;

	for_each_cpu(cpu, &p->cpus)
		if (!tb_channel_of(p, cpu) && tb_ring_readable(per_cpu_ptr(p->rings, cpu)))
			return true;
	return false;
}

static bool tb_session_readable_locked(struct tb_session *s, struct tb_provider *p)
{
	if (!p->allocated)
		return false;
	if (p->durable.sealed && (p->reader != s || p->durable.taken < p->durable.sealed))
		return true;
	return tb_session_open_rings(p, 0) && tb_rings_readable(p);
}

/* Something to take?  It may be gone by the time the caller comes for it. */
static bool tb_session_readable(struct tb_session *s, struct tb_provider *p)
{
	bool readable;

	/* the rings' memory must not be replaced meanwhile */
	mutex_lock(&p->read_lock);
	readable = tb_session_readable_locked(s, p);
	mutex_unlock(&p->read_lock);
	return readable;
}

static void tb_ref_ring(struct tb_provider *p, struct tb_ref *ref, unsigned int cpu, u32 index)
{
	ref->ring = cpu;
	ref->bytes = tb_provider_buffer_bytes(p);
	ref->offset = cpu * tb_provider_ring_stride(p) + tb_provider_ring_header(p) +
		      (u64)index * ref->bytes;
}

/* Takes durable blocks.  Under read_lock. */
static u32 tb_take_durable(struct tb_provider *p, struct tb_ref *refs, u32 count)
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
static bool tb_take_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref)
{
	struct tb_ring *r = per_cpu_ptr(p->rings, cpu);
	int index = tb_ring_acquire(r);

	if (index < 0 && p->state == TB_STATE_RUNNING && tb_ring_past_mark(r)) {
		tb_provider_flush_cpu(p, cpu);
		index = tb_ring_acquire(r);
	}
	if (index < 0)
		return false;
	tb_ref_ring(p, ref, cpu, index);
	return true;
}

/* Takes blocks of all rings in turn, going on where it left off. */
static u32 tb_take_rings(struct tb_provider *p, struct tb_ref *refs, u32 count)
{
	unsigned int idle = 0, cpu = p->next_cpu;
	u32 n = 0;

	while (n < count && idle < nr_cpu_ids) {
		cond_resched();
		if (cpumask_test_cpu(cpu, &p->cpus) && !tb_channel_of(p, cpu) &&
		    tb_take_ring(p, cpu, &refs[n])) {
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

/* The buffer that @ref, from user space, stands for if it is held, or -1. */
static int tb_ref_index(struct tb_provider *p, const struct tb_ref *ref)
{
	u32 bytes = tb_provider_buffer_bytes(p);
	struct tb_ring *r;
	u64 at;

	if (ref->ring >= nr_cpu_ids || !cpumask_test_cpu(ref->ring, &p->cpus) ||
	    ref->bytes != bytes)
		return -1;
	at = ref->offset - ref->ring * tb_provider_ring_stride(p) - tb_provider_ring_header(p);
	if (at % bytes || at / bytes >= p->config.buffers)
		return -1;
	r = per_cpu_ptr(p->rings, ref->ring);
	if (TB_BUF_STATE(READ_ONCE(r->bufs[at / bytes].state)) != TB_BUF_HELD)
		return -1;
	return at / bytes;
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
 * tb_put_back() - put blocks back as if they had not been taken, the latest first
 * @p: the provider
 * @refs: the blocks, those taken last
 * @count: how many
 *
 * Context: process, under read_lock.
 */
void tb_put_back(struct tb_provider *p, const struct tb_ref *refs, u32 count)
{
	int index;

	while (count--) {
		if (refs[count].ring == TB_RING_DURABLE) {
			WRITE_ONCE(p->durable.taken, p->durable.taken - 1);
			continue;
		}
		index = tb_ref_index(p, &refs[count]);
		if (index >= 0)
			tb_ring_unacquire(per_cpu_ptr(p->rings, refs[count].ring), index);
	}
}

/* Is anything of threads still to be told that happened before these blocks were complete? */
static bool tb_untold(struct tb_provider *p, const struct tb_ref *refs, u32 count)
{
	const struct tb_track_slot *next = tb_track_peek(&p->track);
	u64 end = 0;

	if (!next)
		return tb_track_count(&p->track);
	while (count--) {
		const struct tb_block *block = tb_ref_address(p, &refs[count]);

		end = max(end, block->time_end);
	}
	return next->time <= end;
}

/**
 * tb_session_take_ring() - take the next block of one ring, and seal all that it needs
 * @p: the provider, running or stopped
 * @cpu: which ring
 * @ref: out: the block
 *
 * What it needs is in durable blocks that can be taken, as with tb_session_acquire().
 *
 * Context: process, under cpus_read_lock and read_lock.
 * Return: false if there is none now.
 */
bool tb_session_take_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref)
{
	if (!tb_take_ring(p, cpu, ref))
		return false;
	tb_keep_track(p);
	if (tb_untold(p, ref, 1)) {
		tb_put_back(p, ref, 1);
		return false;
	}
	tb_durable_seal(&p->durable);
	return true;
}

/*
 * Durable blocks, then rolling ones.  What an event refers to was appended to the
 * durable buffer under read_lock (select.c), or put into the queue of threads, before it was
 * recorded.  So both are looked at once more when the rolling blocks have been
 * chosen; if there is anything these may need, they must wait for the next time.
 * The durable block that is being filled is not handed out unless there is a rolling one
 * to go with it: a block for every thread that comes would be a waste.
 * Under read_lock.
 */
static u32 tb_session_take(struct tb_provider *p, struct tb_ref *refs, u32 count, u32 flags)
{
	bool open = tb_session_open_rings(p, flags);
	bool told = tb_keep_track(p);
	u32 durable, n;

	if ((flags & TB_ACQUIRE_FLUSH) || (open && tb_rings_readable(p)))
		tb_durable_seal(&p->durable);
	durable = tb_take_durable(p, refs, count);
	n = durable;
	if (n == count || !told || !open)
		return n;
	n += tb_take_rings(p, refs + n, count - n);
	if (n > durable && (p->durable.used > p->durable.sealed ||
			    tb_untold(p, refs + durable, n - durable))) {
		tb_put_back(p, refs + durable, n - durable);
		tb_keep_track(p);
		tb_durable_seal(&p->durable);
		n = durable + tb_take_durable(p, refs + durable, count - durable);
	}
	return n;
}

/**
 * tb_session_acquire() - take blocks
 * @s: the session, the reader or to become it
 * @refs: where to put them
 * @count: how many at most
 * @flags: TB_ACQUIRE_*
 *
 * Durable blocks first.  TB_ACQUIRE_FLUSH closes the buffer of each ring once, at the
 * start: what it causes to be recorded itself is for the next time.
 *
 * Context: process.
 * Return: how many; -EBUSY another is the reader; -ENODATA stopped and
 * nothing left.
 */
int tb_session_acquire(struct tb_session *s, struct tb_ref *refs, u32 count, u32 flags)
{
	struct tb_provider *p = tb_session_bind(s);
	unsigned int cpu;
	u32 n = 0;
	int err;

	cpus_read_lock();
	mutex_lock(&p->read_lock);
	err = tb_session_attach(s);
	if (!err && p->allocated) {
		if ((flags & TB_ACQUIRE_FLUSH) && p->state == TB_STATE_RUNNING &&
		    tb_session_open_rings(p, flags))
			for_each_cpu(cpu, &p->cpus)
				tb_provider_flush_cpu(p, cpu);
		n = tb_session_take(p, refs, count, flags);
		if (!n && p->state == TB_STATE_STOPPED)
			err = -ENODATA;
	}
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return err ?: n;
}

/* Can @ref, from user space, stand for a durable block? */
static bool tb_ref_durable(struct tb_provider *p, const struct tb_ref *ref)
{
	u64 at = ref->offset - tb_provider_durable_offset(p);

	return is_power_of_2(ref->bytes) && ref->bytes >= TB_DURABLE_BLOCK_MIN &&
	       ref->bytes <= TB_DURABLE_SLOT && at % TB_DURABLE_BLOCK_MIN == 0 &&
	       at < tb_durable_extent(&p->durable);
}

/**
 * tb_give_back() - give one block back
 * @p: the provider
 * @ref: the block
 *
 * Context: process, under read_lock.
 * Return: 0, -EINVAL if it is not held.
 */
int tb_give_back(struct tb_provider *p, const struct tb_ref *ref)
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
	tb_ring_release(per_cpu_ptr(p->rings, ref->ring), index);
	return 0;
}

/*
 * Is @ref the block that read() is in the middle of, or that a channel has offered?  Of
 * durable blocks only the number counts.  Under read_lock.
 */
static bool tb_is_part(struct tb_session *s, const struct tb_ref *ref)
{
	struct tb_durable *d = &s->provider->durable;

	if (ref->ring < nr_cpu_ids &&
	    tb_channel_holds(tb_channel_of(s->provider, ref->ring), ref))
		return true;
	if (!s->part.bytes || ref->ring != s->part.ring)
		return false;
	if (ref->ring == TB_RING_DURABLE)
		return d->taken - d->released <= 1;
	return ref->offset == s->part.offset;
}

/**
 * tb_session_release() - give blocks back
 * @s: the reader
 * @refs: from tb_session_acquire(), in any order
 * @count: how many
 * @done: out: how many were given back
 *
 * Context: process.
 * Return: 0, -EINVAL at the first that is not held, -EBUSY not the reader.
 */
int tb_session_release(struct tb_session *s, const struct tb_ref *refs, u32 count, u32 *done)
{
	struct tb_provider *p = s->provider;
	int err = 0;

	*done = 0;
	mutex_lock(&p->read_lock);
	if (p->reader != s)
		err = p->reader ? -EBUSY : -EINVAL;
	while (!err && *done < count) {
		err = p->allocated && !tb_is_part(s, &refs[*done]) ?
		      tb_give_back(p, &refs[*done]) : -EINVAL;
		if (!err)
			(*done)++;
	}
	mutex_unlock(&p->read_lock);
	return err;
}

/**
 * tb_session_unacquire() - put blocks back as if they had not been taken
 * @s: the reader
 * @refs: what the last tb_session_acquire() returned, all of it
 * @count: how many
 *
 * Context: process, under batch since that call: so nothing was taken or
 * given back in between.
 */
void tb_session_unacquire(struct tb_session *s, const struct tb_ref *refs, u32 count)
{
	struct tb_provider *p = s->provider;

	mutex_lock(&p->read_lock);
	if (p->reader == s)
		tb_put_back(p, refs, count);
	mutex_unlock(&p->read_lock);
}

/* ---- read ------------------------------------------------------------- */

/* Something to take, or nothing more to come? */
static bool tb_session_ready(void *session)
{
	struct tb_session *s = session;
	struct tb_provider *p = s->provider;

	return tb_session_readable(s, p) || READ_ONCE(p->state) == TB_STATE_STOPPED;
}

/* Takes the next block for read(): its reference is written under read_lock. */
static int tb_take_part(struct tb_session *s)
{
	int n;

	mutex_lock(&s->batch);
	n = tb_session_acquire(s, &s->part, 1, 0);
	mutex_unlock(&s->batch);
	s->offset = 0;
	return n;
}

/* read() is through with its block. */
static void tb_finish_part(struct tb_session *s)
{
	struct tb_provider *p = s->provider;

	mutex_lock(&s->batch);
	mutex_lock(&p->read_lock);
	WARN_ON_ONCE(tb_give_back(p, &s->part));
	s->part.bytes = 0;
	mutex_unlock(&p->read_lock);
	mutex_unlock(&s->batch);
}

/* Copies from the block we are in the middle of.  Returns bytes or -EFAULT. */
static ssize_t tb_read_part(struct tb_session *s, char __user *to, size_t bytes)
{
	struct tb_provider *p = s->provider;
	size_t n = min_t(size_t, bytes, s->part.bytes - s->offset);

	/* held, and no ioctl can give it back: its memory stays where it is */
	n -= copy_to_user(to, tb_ref_address(p, &s->part) + s->offset, n);
	if (!n)
		return -EFAULT;
	s->offset += n;
	if (s->offset == s->part.bytes)
		tb_finish_part(s);
	return n;
}

/**
 * tb_session_read() - read()
 * @s: the session
 * @to: user memory
 * @bytes: its size
 * @nonblock: O_NONBLOCK
 *
 * Whole blocks as long as they fit.  A buffer smaller than a block gets it
 * in pieces, so that any program that reads a stream works.
 *
 * Context: process.
 * Return: bytes; 0 when stopped and everything was read; -EAGAIN, -EBUSY,
 * -EFAULT, -ERESTARTSYS.
 */
ssize_t tb_session_read(struct tb_session *s, char __user *to, size_t bytes, bool nonblock)
{
	size_t done = 0;
	ssize_t n;

	if (!bytes)
		return 0;
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	while (done < bytes) {
		if (!s->part.bytes) {
			n = tb_take_part(s);
			if (n <= 0) {
				if (done)
					break;
				if (n == 0 && nonblock)
					n = -EAGAIN;
				else if (n == 0)
					n = tb_session_wait_for(s->provider, tb_session_ready, s);
				else if (n == -ENODATA)
					goto out; /* the end */
				if (!n)
					continue;
				mutex_unlock(&s->lock);
				return n;
			}
		}
		/* no piece of a block after whole ones: it waits for the next call */
		if (done && bytes - done < s->part.bytes)
			break;
		n = tb_read_part(s, to + done, bytes - done);
		if (n < 0) {
			if (!done) {
				mutex_unlock(&s->lock);
				return n;
			}
			break;
		}
		done += n;
	}
out:
	mutex_unlock(&s->lock);
	return done;
}

/**
 * tb_session_poll() - poll()
 * @s: the session
 * @file: its file
 * @table: poll's
 *
 * Context: process.
 * Return: EPOLLIN when there is a block to take or one past the high-water
 * mark; EPOLLHUP when stopped and everything was taken, with EPOLLERR if it
 * stopped by itself; EPOLLERR alone when another session is the reader.
 */
__poll_t tb_session_poll(struct tb_session *s, struct file *file, poll_table *table)
{
	struct tb_provider *p = READ_ONCE(s->provider);
	struct tb_session *reader;

	poll_wait(file, &p->wait, table);
	tb_session_want(p);
	reader = READ_ONCE(p->reader);
	if (reader && reader != s)
		return EPOLLERR;
	if (READ_ONCE(s->part.bytes) || tb_session_readable(s, p))
		return EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(p->state) != TB_STATE_STOPPED)
		return 0;
	return EPOLLHUP | (READ_ONCE(p->reason) == TB_REASON_DURABLE_FULL ? EPOLLERR : 0);
}

/* ---- life ------------------------------------------------------------- */

/**
 * tb_session_create() - for an open file; for "kernel" at first
 *
 * Context: process.
 * Return: the session or NULL.
 */
struct tb_session *tb_session_create(void)
{
	struct tb_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (s) {
		s->provider = tb_registry_open(tb_kernel_provider.name);
		spin_lock_init(&s->bind);
		mutex_init(&s->lock);
		mutex_init(&s->batch);
	}
	return s;
}

/* Puts back what the reader held, the latest first. */
static void tb_session_put_back(struct tb_ring *r)
{
	for (;;) {
		int latest = -1;
		u64 seq = 0;
		u32 i;

		for (i = 0; i < r->nr; i++) {
			u64 st = READ_ONCE(r->bufs[i].state);

			if (TB_BUF_STATE(st) == TB_BUF_HELD && TB_BUF_SEQ(st) >= seq) {
				latest = i;
				seq = TB_BUF_SEQ(st);
			}
		}
		if (latest < 0)
			return;
		tb_ring_unacquire(r, latest);
		cond_resched();
	}
}

/**
 * tb_session_destroy() - the file is closed for good
 * @s: the session
 *
 * Context: process.
 */
void tb_session_destroy(struct tb_session *s)
{
	struct tb_provider *p = s->provider;
	unsigned int cpu;

	if (s->stop_generation)
		tb_provider_stop(p, s->stop_generation);
	mutex_lock(&p->read_lock);
	if (p->reader == s) {
		tb_channel_orphan(s);
		if (p->allocated) {
			for_each_cpu(cpu, &p->cpus)
				tb_session_put_back(per_cpu_ptr(p->rings, cpu));
		}
		p->durable.released = p->durable.taken;
		WRITE_ONCE(p->reader, NULL);
	}
	mutex_unlock(&p->read_lock);
	tb_session_wake(p);
	tb_registry_close(p);
	kfree(s);
}
