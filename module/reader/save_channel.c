// SPDX-License-Identifier: GPL-2.0-only
/*
 * Save/saved channels: the blocks of a ring offered to a manager one at a
 * time, each to be answered before the next.
 *
 * A channel is a file of its own.  It belongs to the session that is the reader of the
 * provider, and has one ring; what is in the durable buffer, and the rings without a
 * channel, the session takes as ever.  What is to be told is worked out from the state of
 * the recording and of the channel when somebody reads; there is no queue:
 *
 *	TB_FIFO_STARTED		a recording is there that was not told of yet
 *	TB_FIFO_SAVE_BUFFER	a block of the ring was taken, and all it needs sealed in the
 *				durable buffer
 *	TB_FIFO_STOPPED		the recording has stopped and the ring is empty; or what was
 *				left of it is gone, as another was started or configured
 *
 * A block is taken when somebody reads and none is outstanding; poll() takes
 * none.  Complete blocks alone can be taken, so no writer is left inside one that is offered.
 *
 * Locks: everything here is under the provider's read_lock but @lock, which makes readers
 * take turns, so that a packet that could not be copied is not lost.
 *
 * Life: the channel's file may outlive the session's, and the other way round.  Each has
 * a pointer to the other, which whoever goes first clears, under read_lock.  The channel has
 * a reference to the provider, where those who poll it wait.
 */
#include <linux/anon_inodes.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "machine/compat.h"
#include "provider/list.h"
#include "provider/wake.h"
#include "save_channel.h"

enum tb_save_channel_phase {
	TB_CHANNEL_NEW,		/* told of no recording */
	TB_CHANNEL_STARTED,	/* told that one has started */
	TB_CHANNEL_STOPPED,	/* and that it has stopped */
};

/**
 * struct tb_save_channel - the save/saved channel of one ring
 * @lock: one read() at a time; outside all others
 * @provider: whose ring; with a reference
 * @session: whose channel; NULL when it has gone
 * @cpu: which ring
 * @error: why it is closed: -EPROTO the manager speaks another version, -EPIPE
 *	its session has gone; or 0
 * @phase: enum tb_save_channel_phase
 * @generation: the recording that was told of
 * @held: @block is the channel's
 * @told: @save has been read
 * @block: the one offered
 * @save: the packet that offers it
 */
struct tb_save_channel {
	struct mutex lock;	/* see above */
	struct tb_provider *provider;
	struct tb_session *session;
	u32 cpu;
	int error;
	enum tb_save_channel_phase phase;
	u64 generation;
	bool held;
	bool told;
	struct tb_ref block;
	struct tb_packet save;
};

/* ---- what is to be told ----------------------------------------------- */

static int tb_save_channel_packet(struct tb_packet *packet, u16 request, u32 data32, u64 data64)
{
	*packet = (struct tb_packet){ .request = request, .data32 = data32, .data64 = data64 };
	return 1;
}

/*
 * The next packet, without taking a block for it.  Returns 1; 0 if there is none now;
 * -ENODATA if there will be none before the next recording; what closed the channel.
 * Under read_lock.
 */
static int tb_save_channel_next(struct tb_save_channel *c, struct tb_packet *packet)
{
	struct tb_provider *p = c->provider;

	if (c->error)
		return c->error;
	if (c->phase == TB_CHANNEL_STARTED) {
		if (p->generation != c->generation || p->state == TB_STATE_IDLE)
			return tb_save_channel_packet(packet, TB_FIFO_STOPPED, TB_REASON_NONE, 0);
		if (c->held) {
			*packet = c->save;
			return !c->told;
		}
		if (p->state == TB_STATE_STOPPED &&
		    !tb_ring_readable(per_cpu_ptr(p->rings, c->cpu)))
			return tb_save_channel_packet(packet, TB_FIFO_STOPPED, p->reason,
						      p->durable.bytes);
		return 0;
	}
	if (p->generation != c->generation && p->state != TB_STATE_IDLE)
		return tb_save_channel_packet(packet, TB_FIFO_STARTED, TB_FIFO_VERSION,
					      p->generation);
	return c->phase == TB_CHANNEL_STOPPED ? -ENODATA : 0;
}

/* Could a block be taken?  tb_save_channel_next() has nothing.  Under read_lock. */
static bool tb_save_channel_can_take(struct tb_save_channel *c)
{
	return c->phase == TB_CHANNEL_STARTED && !c->held &&
	       tb_ring_readable(per_cpu_ptr(c->provider->rings, c->cpu));
}

/* Takes the ring's next block.  Under cpus_read_lock and read_lock. */
static bool tb_save_channel_take(struct tb_save_channel *c)
{
	struct tb_provider *p = c->provider;
	const struct tb_block *block;

	if (!tb_session_acquire_ring(p, c->cpu, &c->block))
		return false;
	block = tb_ref_address(p, &c->block);
	tb_save_channel_packet(&c->save, TB_FIFO_SAVE_BUFFER, (u32)block->sequence,
			       p->durable.bytes);
	c->held = true;
	c->told = false;
	return true;
}

/* tb_save_channel_next(), taking a block if that is what it needs. */
static int tb_save_channel_look(struct tb_save_channel *c, struct tb_packet *packet)
{
	struct tb_provider *p = c->provider;
	int n;

	cpus_read_lock();
	mutex_lock(&p->read_lock);
	n = tb_save_channel_next(c, packet);
	if (!n && tb_save_channel_can_take(c) && tb_save_channel_take(c))
		n = tb_save_channel_next(c, packet);
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	return n;
}

/* Somebody has got @packet, from tb_save_channel_next(). */
static void tb_save_channel_packet_taken(struct tb_save_channel *c, const struct tb_packet *packet)
{
	mutex_lock(&c->provider->read_lock);
	switch (packet->request) {
	case TB_FIFO_STARTED:
		c->generation = packet->data64;
		c->phase = TB_CHANNEL_STARTED;
		break;
	case TB_FIFO_SAVE_BUFFER:
		c->told = c->held;
		break;
	case TB_FIFO_STOPPED:
		c->phase = TB_CHANNEL_STOPPED;
		break;
	}
	mutex_unlock(&c->provider->read_lock);
}

/* Anything to tell, or something to take for it? */
static bool tb_save_channel_ready(void *channel)
{
	struct tb_save_channel *c = channel;
	struct tb_packet packet;
	bool ready;

	mutex_lock(&c->provider->read_lock);
	ready = tb_save_channel_next(c, &packet) || tb_save_channel_can_take(c);
	mutex_unlock(&c->provider->read_lock);
	return ready;
}

/* ---- the manager's side ------------------------------------------------ */

/* Puts back what it has.  Under read_lock. */
static void tb_save_channel_put_back(struct tb_save_channel *c)
{
	if (c->held)
		tb_block_unacquire(c->provider, &c->block, 1);
	c->held = false;
}

/* The ring is the session's again.  Under read_lock. */
static void tb_save_channel_detach(struct tb_save_channel *c)
{
	if (!c->session)
		return;
	tb_save_channel_put_back(c);
	c->session->channels[c->cpu] = NULL;
	cpumask_clear_cpu(c->cpu, &c->provider->saved);
	c->session = NULL;
}

/* The manager has answered with the version it speaks.  Under read_lock. */
static int tb_save_channel_started(struct tb_save_channel *c, const struct tb_packet *packet)
{
	if (packet->data32 != TB_FIFO_VERSION) {
		tb_save_channel_detach(c);
		c->error = -EPROTO;
		return c->error;
	}
	return c->phase == TB_CHANNEL_STARTED && packet->data64 == c->generation ? 0 : -EINVAL;
}

/* Under read_lock. */
static int tb_save_channel_saved(struct tb_save_channel *c, const struct tb_packet *packet)
{
	int err;

	if (!c->held || !c->told || packet->data32 != c->save.data32 ||
	    packet->data64 != c->save.data64)
		return -EINVAL;
	err = tb_block_release(c->provider, &c->block);
	c->held = false;
	return err;
}

/* A packet from the manager.  Nothing changes if it is refused. */
static int tb_save_channel_answer(struct tb_save_channel *c, const struct tb_packet *packet)
{
	struct tb_provider *p = c->provider;
	int err = -EINVAL;

	mutex_lock(&p->read_lock);
	if (c->error)
		err = c->error;
	else if (packet->reserved)
		err = -EINVAL;
	else if (packet->request == TB_FIFO_STARTED)
		err = tb_save_channel_started(c, packet);
	else if (packet->request == TB_FIFO_BUFFER_SAVED)
		err = tb_save_channel_saved(c, packet);
	mutex_unlock(&p->read_lock);
	/* there may be a block to take now, for this channel or the session */
	tb_wake_waiters(p);
	return err;
}

/* ---- file operations --------------------------------------------------- */

static int tb_save_channel_lock(struct tb_save_channel *c, bool nonblock)
{
	if (nonblock)
		return mutex_trylock(&c->lock) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(&c->lock) ? -ERESTARTSYS : 0;
}

/*
 * One packet; 0 at the end, else -errno.  Waits if @wait.
 */
static ssize_t tb_save_channel_read_one(struct tb_save_channel *c, char __user *to, bool wait)
{
	struct tb_packet packet;
	int n;

	for (;;) {
		n = tb_save_channel_look(c, &packet);
		if (n == -ENODATA)
			return 0;
		if (n)
			break;
		if (!wait)
			return -EAGAIN;
		n = tb_wake_wait(c->provider, tb_save_channel_ready, c);
		if (n)
			break;
	}
	if (n < 0)
		return n;
	if (copy_to_user(to, &packet, sizeof(packet)))
		return -EFAULT;
	tb_save_channel_packet_taken(c, &packet);
	return sizeof(packet);
}

/*
 * As many packets as there are and fit; waits for the first.  0 when the recording has
 * stopped and that was told.  -EINVAL less than a packet fits; -EAGAIN; -EPROTO and
 * -EPIPE: closed; -EFAULT; -ERESTARTSYS.
 */
static ssize_t tb_save_channel_read(struct file *file, char __user *to, size_t bytes, loff_t *pos)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct tb_save_channel *c = file->private_data;
	size_t done = 0;
	ssize_t n;

	if (bytes < sizeof(struct tb_packet))
		return -EINVAL;
	n = tb_save_channel_lock(c, nonblock);
	if (n)
		return n;
	do {
		n = tb_save_channel_read_one(c, to + done, !nonblock && !done);
		if (n > 0)
			done += n;
	} while (n > 0 && bytes - done >= sizeof(struct tb_packet));
	mutex_unlock(&c->lock);
	return done ?: n;
}

/*
 * Whole packets, in order, up to one that is refused.  -EINVAL no whole
 * packets, or the first is refused; -EPROTO it closed the channel, or that is closed for
 * this; -EPIPE closed; -EFAULT.
 */
static ssize_t tb_save_channel_write(struct file *file, const char __user *from, size_t bytes,
				     loff_t *pos)
{
	struct tb_save_channel *c = file->private_data;
	struct tb_packet packet;
	size_t done;
	int err = 0;

	if (bytes % sizeof(packet))
		return -EINVAL;
	for (done = 0; done < bytes; done += sizeof(packet)) {
		if (copy_from_user(&packet, from + done, sizeof(packet)))
			err = -EFAULT;
		else
			err = tb_save_channel_answer(c, &packet);
		if (err)
			break;
		cond_resched();
		/* a write may be 2 GiB long */
		if (signal_pending(current))
			bytes = done + sizeof(packet);
	}
	return done ?: err;
}

static __poll_t tb_save_channel_poll(struct file *file, poll_table *table)
{
	struct tb_save_channel *c = file->private_data;
	struct tb_provider *p = c->provider;
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;
	struct tb_packet packet;
	int n;

	poll_wait(file, &p->wait, table);
	tb_wake_arm(p);
	mutex_lock(&p->read_lock);
	n = tb_save_channel_next(c, &packet);
	if (n > 0 || (!n && tb_save_channel_can_take(c)))
		mask |= EPOLLIN | EPOLLRDNORM;
	else if (n == -ENODATA)
		mask |= EPOLLHUP;
	else if (n)
		mask = EPOLLHUP | EPOLLERR;
	mutex_unlock(&p->read_lock);
	return mask;
}

static int tb_save_channel_release(struct inode *inode, struct file *file)
{
	struct tb_save_channel *c = file->private_data;
	struct tb_provider *p = c->provider;

	mutex_lock(&p->read_lock);
	tb_save_channel_detach(c);
	mutex_unlock(&p->read_lock);
	tb_wake_waiters(p);
	tb_provider_put(p, TB_HOLDER_NONE);
	kfree(c);
	return 0;
}

static const struct file_operations tb_save_channel_fops = {
	.owner = THIS_MODULE,
	.read = tb_save_channel_read,
	.write = tb_save_channel_write,
	.poll = tb_save_channel_poll,
	.release = tb_save_channel_release,
	.llseek = TB_NO_LLSEEK,
};

/* ---- opening, and what others ask --------------------------------------- */

/* Makes @c the channel of its ring.  Under read_lock. */
static int tb_save_channel_attach(struct tb_save_channel *c, struct tb_session *s)
{
	struct tb_provider *p = c->provider;
	int err;

	if (p->config.mode != TB_MODE_STREAMING || !cpumask_test_cpu(c->cpu, &p->cpus))
		return -EINVAL;
	err = tb_session_attach(s);
	if (err)
		return err;
	if (!s->channels)
		s->channels = kcalloc(nr_cpu_ids, sizeof(*s->channels), GFP_KERNEL);
	if (!s->channels)
		return -ENOMEM;
	if (s->channels[c->cpu])
		return -EBUSY;
	s->channels[c->cpu] = c;
	cpumask_set_cpu(c->cpu, &c->provider->saved);
	c->session = s;
	return 0;
}

/**
 * tb_save_channel_open() - TB_IOC_FIFO
 * @s: the session, the reader or to become it
 * @cpu: which ring
 *
 * Context: process.
 * Return: a file descriptor; -EINVAL not in streaming mode, or no such ring; -EBUSY it has
 * a channel, or another session is the reader; -ENOMEM, -ENOSPC, -EMFILE, -ENFILE.
 */
int tb_save_channel_open(struct tb_session *s, u32 cpu)
{
	struct tb_provider *p = tb_session_bind(s);
	struct tb_save_channel *c;
	int err;

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	mutex_init(&c->lock);
	c->provider = p;
	c->cpu = array_index_nospec(cpu, nr_cpu_ids);
	kref_get(&p->ref);
	/* none of this ring's blocks is on its way to user space, or from there */
	mutex_lock(&p->batch);
	mutex_lock(&p->read_lock);
	err = tb_save_channel_attach(c, s);
	mutex_unlock(&p->read_lock);
	mutex_unlock(&p->batch);
	if (!err) {
		err = anon_inode_getfd("[tracebuf]", &tb_save_channel_fops, c, O_RDWR | O_CLOEXEC);
		/* from here on it is the file's: another thread may have closed it */
		if (err >= 0)
			return err;
	}
	mutex_lock(&p->read_lock);
	tb_save_channel_detach(c);
	mutex_unlock(&p->read_lock);
	tb_wake_waiters(p);
	tb_provider_put(p, TB_HOLDER_NONE);
	kfree(c);
	return err;
}

/**
 * tb_save_channel_close_all() - the session goes: its channels are closed
 * @s: the session
 *
 * Context: process, under read_lock.
 */
void tb_save_channel_close_all(struct tb_session *s)
{
	struct tb_save_channel *c;
	unsigned int cpu;

	for (cpu = 0; s->channels && cpu < nr_cpu_ids; cpu++) {
		c = s->channels[cpu];
		if (!c)
			continue;
		tb_save_channel_detach(c);
		c->error = -EPIPE;
	}
	kfree(s->channels);
	s->channels = NULL;
}

/**
 * tb_save_channel_holds() - is this the block that a channel has offered?
 * @c: the channel of the block's ring, or NULL
 * @ref: the block
 *
 * Context: process, under read_lock.
 * Return: true if so: only an answer there gives it back.
 */
bool tb_save_channel_holds(struct tb_save_channel *c, const struct tb_ref *ref)
{
	return c && c->held && c->block.offset == ref->offset;
}
