// SPDX-License-Identifier: GPL-2.0-only
/*
 * read(), readv(), splice() and poll() of a session.
 *
 * Callers: devices/tracebuf.c, in process context.  Locks: tb_session.lock; under it
 * tb_provider.batch and read_lock to acquire and release.  read() copies a block without the last
 * two: the session holds the block, so its memory stays in place.
 */
#include <linux/uio.h>

#include "recording/recording.h"
#include "select/select.h"
#include "session.h"

/* Return true if read() need not wait: a block can be acquired, or the recording has stopped. */
static bool tb_session_ready(void *session)
{
	struct tb_session *s = session;
	struct tb_provider *p = s->provider;

	return tb_session_readable(s, p) || READ_ONCE(p->state) == TB_STATE_STOPPED;
}

/*
 * Acquire the next block for read().  tb_session_acquire() writes s->part under read_lock; s->part
 * has 0 bytes if there is no block.
 */
static int tb_read_next_block(struct tb_session *s)
{
	struct tb_provider *p = tb_session_bind(s);
	int n;

	mutex_lock(&p->batch);
	n = tb_session_acquire(s, &s->part, 1, 0);
	if (n > 0 && s->part.ring == TB_RING_DURABLE) {
		/* with p->batch held, no session has acquired or released a block since */
		mutex_lock(&p->read_lock);
		p->durable.reading = p->durable.taken - 1;
		mutex_unlock(&p->read_lock);
	}
	mutex_unlock(&p->batch);
	s->offset = 0;
	return n;
}

/* Release the block that read() has copied. */
static void tb_read_finish_block(struct tb_session *s)
{
	struct tb_provider *p = s->provider;

	mutex_lock(&p->batch);
	mutex_lock(&p->read_lock);
	if (tb_block_release(p, &s->part))
		tb_recording_damaged(p);
	s->part.bytes = 0;
	p->durable.reading = ~0ull;
	/* the snapshot may acquire more of this ring: wake threads that wait in poll() */
	if (p->snapshot)
		wake_up_all(&p->wait);
	mutex_unlock(&p->read_lock);
	mutex_unlock(&p->batch);
}

/*
 * Copy from the current block, or from the next one.  @first: the call has copied nothing yet;
 * @wait: wait for a block.  Return bytes; 0: the end, or the next block does not fit behind those
 * that were copied; -EAGAIN: no block now; -errno.
 */
static ssize_t tb_read_copy(struct tb_session *s, struct iov_iter *to, bool first, bool wait)
{
	ssize_t n;

	while (!s->part.bytes) {
		n = tb_read_next_block(s);
		if (n > 0)
			break;
		if (n == -ENODATA)
			return 0; /* the end */
		if (!n)
			n = wait ? tb_wake_wait(s->provider, tb_session_ready, s) : -EAGAIN;
		if (n)
			return n;
	}
	/* after whole blocks, leave a block that does not fit for the next call */
	if (!first && iov_iter_count(to) < s->part.bytes)
		return 0;
	/* no lock: no ioctl can release this block, so its memory stays in place */
	n = copy_to_iter(tb_ref_address(s->provider, &s->part) + s->offset,
			 s->part.bytes - s->offset, to);
	if (!n)
		return -EFAULT;
	s->offset += n;
	if (s->offset == s->part.bytes)
		tb_read_finish_block(s);
	return n;
}

/**
 * tb_session_read() - read(), readv(), splice()
 * @s: the session
 * @to: user memory, or pages for a pipe
 * @nonblock: O_NONBLOCK
 *
 * Copies whole blocks as long as they fit.  If @to is smaller than a block, copies a piece of it:
 * so any program that reads a stream works.
 *
 * Context: process.
 * Return: bytes; 0 the recording has stopped, and the reader has read all of it; -EAGAIN; -EBUSY
 * another session is the reader; -EFAULT; -ERESTARTSYS.
 */
ssize_t tb_session_read(struct tb_session *s, struct iov_iter *to, bool nonblock)
{
	size_t done = 0;
	ssize_t n;

	if (!iov_iter_count(to))
		return 0;
	n = tb_session_lock_read(&s->lock, nonblock);
	if (n)
		return n;
	do {
		n = tb_read_copy(s, to, !done, !done && !nonblock);
		if (n > 0)
			done += n;
	} while (n > 0 && iov_iter_count(to));
	mutex_unlock(&s->lock);
	return done ?: n;
}

/**
 * tb_session_poll() - poll()
 * @s: the session
 * @file: its file
 * @table: poll table
 *
 * Context: process.
 * Return: EPOLLIN if the session can acquire a block, also by closing a buffer past the watermark;
 * EPOLLHUP if the recording has stopped and the reader has acquired all blocks, with EPOLLERR if it
 * stopped by itself; EPOLLERR alone if another session is the reader.  A session that has armed a
 * trigger gets only EPOLLPRI, when the rings are frozen or the recording has stopped.
 */
__poll_t tb_session_poll(struct tb_session *s, struct file *file, poll_table *table)
{
	struct tb_provider *p = READ_ONCE(s->provider);
	struct tb_session *reader;
	u32 trigger;

	poll_wait(file, &p->wait, table);
	tb_wake_arm(p);
	if (READ_ONCE(p->trigger.session) == s) {
		trigger = READ_ONCE(p->trigger.state);
		return trigger == TB_TRIGGER_FROZEN || trigger == TB_TRIGGER_ENDED ? EPOLLPRI : 0;
	}
	reader = READ_ONCE(p->reader);
	if (reader && reader != s)
		return EPOLLERR;
	if (READ_ONCE(s->part.bytes) || tb_session_readable(s, p))
		return EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(p->state) != TB_STATE_STOPPED)
		return 0;
	return EPOLLHUP | (READ_ONCE(p->reason) > TB_REASON_REQUEST ? EPOLLERR : 0);
}
