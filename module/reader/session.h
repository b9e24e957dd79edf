/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: an open file of /dev/tracebuf, and the reader's side of a provider, with its save
 * channels.
 * Callers: devices/tracebuf.c and reader/, in process context.
 */
#ifndef TB_READER_SESSION_H
#define TB_READER_SESSION_H

#include <linux/fs.h>
#include <linux/poll.h>

#include "provider/provider.h"

struct tb_save_channel;

/**
 * struct tb_session - an open file
 * @provider: its provider
 * @bind: protects @provider until @bound
 * @bound: @provider will not change any more
 * @lock: one read() at a time
 * @part: the block that read() is copying, bytes 0 if none; changed under read_lock; an ioctl
 *	cannot release it
 * @offset: bytes of @part that read() has copied
 * @stop_generation: number of the recording that stops when the file is closed, or 0
 * @channels: save channels by CPU, NULL before the first; only the reader has any; protected by
 *	read_lock
 */
struct tb_session {
	struct tb_provider *provider;
	spinlock_t bind;	/* provider, bound; innermost */
	bool bound;
	struct mutex lock;	/* read() */
	struct tb_ref part;
	u32 offset;
	u64 stop_generation;
	struct tb_save_channel **channels;
};

struct tb_session *tb_session_create(void);
void tb_session_destroy(struct tb_session *s);
struct tb_provider *tb_session_bind(struct tb_session *s);
int tb_session_attach_to(struct tb_session *s, const char *name);
int tb_session_attach(struct tb_session *s);

/* Lock against other threads in read().  @nonblock: do not wait for one that waits there. */
static inline int tb_session_lock_read(struct mutex *lock, bool nonblock)
{
	if (nonblock)
		return mutex_trylock(lock) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(lock) ? -ERESTARTSYS : 0;
}

/* read.c */
ssize_t tb_session_read(struct tb_session *s, struct iov_iter *to, bool nonblock);
__poll_t tb_session_poll(struct tb_session *s, struct file *file, poll_table *table);

/* acquire.c; only reader/ calls tb_session_acquire_ring() and the functions after it */
bool tb_session_readable(struct tb_session *s, struct tb_provider *p);
int tb_session_acquire(struct tb_session *s, struct tb_ref *refs, u32 count, u32 flags);
int tb_session_release(struct tb_session *s, const struct tb_ref *refs, u32 count, u32 *done);
void tb_session_unacquire(struct tb_session *s, struct tb_ref *refs, u32 count);
bool tb_session_acquire_ring(struct tb_provider *p, unsigned int cpu, struct tb_ref *ref);
void *tb_ref_address(struct tb_provider *p, const struct tb_ref *ref);
void tb_block_unacquire(struct tb_provider *p, struct tb_ref *refs, u32 count);
int tb_block_release(struct tb_provider *p, const struct tb_ref *ref);

/* save_channel.c */
int tb_save_channel_open(struct tb_session *s, u32 cpu);
void tb_save_channel_close_all(struct tb_session *s);
bool tb_save_channel_holds(struct tb_save_channel *c, const struct tb_ref *ref);

/* Return the save channel of a ring, or NULL. */
static inline struct tb_save_channel *tb_save_channel_of(struct tb_provider *p, unsigned int cpu)
{
	lockdep_assert_held(&p->read_lock);
	return p->reader && p->reader->channels ? p->reader->channels[cpu] : NULL;
}

#endif /* TB_READER_SESSION_H */
