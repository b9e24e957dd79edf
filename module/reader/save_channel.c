// SPDX-License-Identifier: GPL-2.0-only
/*
 * Save channels: each is a file that offers the blocks of one ring to a manager, one at a time; the
 * manager must answer before it gets the next one.  The session that is the reader opens channels,
 * and acquires the durable blocks and the blocks of the other rings, as usual.
 *
 * Lifetime: the channel's file and the session's file may be closed in any order.  Each has a
 * pointer to the other; the first to close clears both, under read_lock.
 *
 * Callers: system calls on the channel, and the rest of reader/, in process context.  Locks:
 * tb_save_channel.lock, which serialises read(); tb_provider.read_lock.
 */
#include <linux/anon_inodes.h>
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "machine/compat.h"
#include "recording/recording.h"
#include "session.h"

enum tb_save_channel_phase {
	TB_CHANNEL_NEW,		/* no recording announced */
	TB_CHANNEL_STARTED,	/* start of a recording announced */
	TB_CHANNEL_STOPPED,	/* its stop announced */
};

/**
 * struct tb_save_channel - the save channel of one ring
 * @lock: one read() at a time, so that a packet that could not be copied is not lost; outermost
 * @provider: provider of the ring, with a reference, because poll() waits there
 * @session: the session that opened the channel; NULL while the channel has no ring
 * @cpu: CPU of the ring
 * @error: -EPROTO the manager has another version of the protocol; -EPIPE the session has closed; 0
 * @phase: enum tb_save_channel_phase
 * @generation: number of the announced recording
 * @held: the channel holds @block, which it offers or will offer
 * @was_read: the manager has read @save
 * @block: the offered block
 * @save: the packet that offers @block
 */
struct tb_save_channel {
	struct mutex lock;	/* read() */
	struct tb_provider *provider;
	struct tb_session *session;
	u32 cpu;
	int error;
	enum tb_save_channel_phase phase;
	u64 generation;
	bool held;
	bool was_read;
	struct tb_ref block;
	struct tb_packet save;
};

/* ---- packets to the manager ------------------------------------------- */

static int tb_save_channel_packet(struct tb_packet *packet, u16 request, u32 data32, u64 data64)
{
	*packet = (struct tb_packet){ .request = request, .data32 = data32, .data64 = data64 };
	return 1;
}

/*
 * There is no queue: derive the next packet from the state of the recording and of the channel.
 *
 *	TB_FIFO_STARTED		there is a recording that the channel has not announced
 *	TB_FIFO_SAVE_BUFFER	the channel holds a block; its durable blocks are sealed
 *	TB_FIFO_STOPPED		the recording has stopped and the ring is empty; or a new start
 *				or configuration discarded the rest
 *
 * Do not acquire a block.  Return 1; 0 if there is no packet now; -ENODATA if there will be none
 * before the next recording; c->error if the channel is closed.
 */
static int tb_save_channel_next(struct tb_save_channel *c, struct tb_packet *packet)
{
	struct tb_provider *p = c->provider;

	lockdep_assert_held(&p->read_lock);
	if (c->error)
		return c->error;
	if (c->phase == TB_CHANNEL_STARTED) {
		if (p->generation != c->generation || p->state == TB_STATE_IDLE)
			return tb_save_channel_packet(packet, TB_FIFO_STOPPED, TB_REASON_NONE, 0);
		if (c->held) {
			*packet = c->save;
			return !c->was_read;
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

/* After tb_save_channel_next() has returned 0: return true if a block can be acquired. */
static bool tb_save_channel_can_take(struct tb_save_channel *c)
{
	lockdep_assert_held(&c->provider->read_lock);
	return c->phase == TB_CHANNEL_STARTED && !c->held &&
	       tb_ring_readable(per_cpu_ptr(c->provider->rings, c->cpu));
}

/* Acquire the ring's next block.  The caller holds cpus_read_lock and read_lock. */
static bool tb_save_channel_take(struct tb_save_channel *c)
{
	struct tb_provider *p = c->provider;
	const struct tb_block *block;

	lockdep_assert_held(&p->read_lock);
	if (!tb_session_acquire_ring(p, c->cpu, &c->block))
		return false;
	block = tb_ref_address(p, &c->block);
	tb_save_channel_packet(&c->save, TB_FIFO_SAVE_BUFFER, (u32)block->sequence,
			       p->durable.bytes);
	c->held = true;
	c->was_read = false;
	return true;
}

/* Derive the next packet; acquire a block if none is outstanding.  For read(), not for poll(). */
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

/* Update the state after the manager has read @packet. */
static void tb_save_channel_packet_taken(struct tb_save_channel *c, const struct tb_packet *packet)
{
	mutex_lock(&c->provider->read_lock);
	switch (packet->request) {
	case TB_FIFO_STARTED:
		c->generation = packet->data64;
		c->phase = TB_CHANNEL_STARTED;
		break;
	case TB_FIFO_SAVE_BUFFER:
		c->was_read = c->held;
		break;
	case TB_FIFO_STOPPED:
		c->phase = TB_CHANNEL_STOPPED;
		break;
	}
	mutex_unlock(&c->provider->read_lock);
}

/* Return true if read() need not wait. */
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

/* Return the ring to the session, with the offered block. */
static void tb_save_channel_detach(struct tb_save_channel *c)
{
	lockdep_assert_held(&c->provider->read_lock);
	if (!c->session)
		return;
	if (c->held)
		tb_block_unacquire(c->provider, &c->block, 1);
	c->held = false;
	c->session->channels[c->cpu] = NULL;
	cpumask_clear_cpu(c->cpu, &c->provider->saved);
	c->session = NULL;
}

/* Handle TB_FIFO_STARTED, the manager's answer with its version of the protocol. */
static int tb_save_channel_started(struct tb_save_channel *c, const struct tb_packet *packet)
{
	lockdep_assert_held(&c->provider->read_lock);
	if (packet->data32 != TB_FIFO_VERSION) {
		tb_save_channel_detach(c);
		c->error = -EPROTO;
		return c->error;
	}
	return c->phase == TB_CHANNEL_STARTED && packet->data64 == c->generation ? 0 : -EINVAL;
}

/* Handle TB_FIFO_BUFFER_SAVED, which must repeat both values of the offer. */
static int tb_save_channel_saved(struct tb_save_channel *c, const struct tb_packet *packet)
{
	int err;

	lockdep_assert_held(&c->provider->read_lock);
	if (!c->held || !c->was_read || packet->data32 != c->save.data32 ||
	    packet->data64 != c->save.data64)
		return -EINVAL;
	err = tb_block_release(c->provider, &c->block);
	c->held = false;
	return err;
}

/* Handle a packet from the manager.  A wrong packet changes nothing; a wrong version closes. */
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
	/* this channel or the session may be able to acquire a block now */
	wake_up_all(&p->wait);
	return err;
}

/* ---- file operations --------------------------------------------------- */

/* Read one packet.  Return its size, 0 at the end, or -errno.  @wait: wait for a packet. */
static ssize_t tb_save_channel_read_one(struct tb_save_channel *c, char __user *to, bool wait)
{
	struct tb_packet packet;
	int n;

	while (!(n = tb_save_channel_look(c, &packet))) {
		n = wait ? tb_wake_wait(c->provider, tb_save_channel_ready, c) : -EAGAIN;
		if (n)
			break;
	}
	if (n < 0)
		return n == -ENODATA ? 0 : n;
	if (copy_to_user(to, &packet, sizeof(packet)))
		return -EFAULT;
	tb_save_channel_packet_taken(c, &packet);
	return sizeof(packet);
}

/*
 * Wait for a packet, then read all packets that are available and fit.  Return bytes; 0 after
 * TB_FIFO_STOPPED; -EINVAL no packet fits; -EPROTO or -EPIPE closed; -EAGAIN; -EFAULT;
 * -ERESTARTSYS.
 */
static ssize_t tb_save_channel_read(struct file *file, char __user *to, size_t bytes, loff_t *pos)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct tb_save_channel *c = file->private_data;
	size_t done = 0;
	ssize_t n;

	if (bytes < sizeof(struct tb_packet))
		return -EINVAL;
	n = tb_session_lock_read(&c->lock, nonblock);
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
 * Handle whole packets, in order, up to a wrong one.  Return bytes; -EINVAL @bytes is not a number
 * of whole packets, or the first is wrong; -EPROTO a wrong version has closed the channel; -EPIPE
 * the session has closed; -EFAULT.
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

static void tb_save_channel_free(struct tb_save_channel *c)
{
	struct tb_provider *p = c->provider;

	mutex_lock(&p->read_lock);
	tb_save_channel_detach(c);
	mutex_unlock(&p->read_lock);
	wake_up_all(&p->wait);
	tb_provider_put(p, TB_HOLDER_NONE);
	kfree(c);
}

static int tb_save_channel_release(struct inode *inode, struct file *file)
{
	tb_save_channel_free(file->private_data);
	return 0;
}

static const struct file_operations tb_save_channel_fops = {
	.owner = THIS_MODULE,
	.read = tb_save_channel_read,
	.write = tb_save_channel_write,
	.poll = tb_save_channel_poll,
	.release = tb_save_channel_release,
};

/* ---- open, and queries of other files ----------------------------------- */

/* Make @c the channel of its ring. */
static int tb_save_channel_attach(struct tb_save_channel *c, struct tb_session *s)
{
	struct tb_provider *p = c->provider;
	int err;

	lockdep_assert_held(&p->read_lock);
	if (p->config.mode != TB_MODE_STREAMING)
		return -EINVAL;
	err = tb_session_attach(s);
	/* also for a CPU that was never online: its blocks must go to the channel from the start */
	if (!err)
		err = tb_recording_add_ring(p, c->cpu);
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

/*
 * TB_IOC_FIFO: @s is the reader, or becomes the reader.  Return a file descriptor; -EINVAL not in
 * streaming mode, or no such ring; -EBUSY the ring has a channel, or another session is the reader;
 * -ENOMEM; -ENOSPC; -EMFILE; -ENFILE.
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
	/* wait until no ioctl passes blocks of this ring to or from user space */
	mutex_lock(&p->batch);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	err = tb_save_channel_attach(c, s);
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	mutex_unlock(&p->batch);
	if (!err) {
		err = anon_inode_getfd("[tracebuf]", &tb_save_channel_fops, c, O_RDWR | O_CLOEXEC);
		/* now the file owns the channel: another thread may have closed it already */
		if (err >= 0)
			return err;
	}
	tb_save_channel_free(c);
	return err;
}

/* Close all channels of the session that is the reader. */
void tb_save_channel_close_all(struct tb_session *s)
{
	struct tb_save_channel *c;
	unsigned int cpu;

	lockdep_assert_held(&s->provider->read_lock);
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

/*
 * Return true if @c, the channel of the block's ring or NULL, offers the block.  Then only the
 * manager's answer releases it.
 */
bool tb_save_channel_holds(struct tb_save_channel *c, const struct tb_ref *ref)
{
	if (!c)
		return false;
	lockdep_assert_held(&c->provider->read_lock);
	return c->held && c->block.offset == ref->offset;
}
