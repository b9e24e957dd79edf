// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session is an open file of /dev/tracebuf.
 *
 * The first session of a provider that reads or acquires becomes its reader.  Other sessions get
 * -EBUSY until it closes.  A reader that closes, or dies, puts the blocks that it holds back into
 * the rings, for the next reader (tb_session_detach()).  Each reader gets the durable buffer from
 * the oldest complete state on, or from its start, if no block was recycled.
 *
 * Callers: devices/tracebuf.c and the rest of reader/, in process context.
 * Locks: tb_session.bind, tb_session.lock, tb_provider.read_lock.
 */
#include <linux/slab.h>

#include "recording/recording.h"
#include "select/select.h"
#include "session.h"

/* ---- the provider ----------------------------------------------------- */

/* Fix the provider of a session for good, and return it. */
struct tb_provider *tb_session_bind(struct tb_session *s)
{
	struct tb_provider *p;

	spin_lock(&s->bind);
	s->bound = true;
	p = s->provider;
	spin_unlock(&s->bind);
	return p;
}

/*
 * Select another provider than "kernel" for a session, and bind it.  Calls that use the old
 * provider may go on: "kernel" is never removed.  Return 0; -ENOENT no such provider; -EBUSY the
 * session is bound already.
 */
int tb_session_attach_to(struct tb_session *s, const char *name)
{
	struct tb_provider *p = tb_provider_get(name, TB_HOLDER_FILE), *old;
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
	tb_provider_put(err ? p : old, TB_HOLDER_FILE);
	return err;
}

/* ---- the reader ------------------------------------------------------- */

/*
 * Make a bound session the reader if the provider has none.  Return 0, also if @s is the reader
 * already; -EBUSY another session is the reader; -ENOSPC; -ENOMEM.
 */
int tb_session_attach(struct tb_session *s)
{
	struct tb_provider *p = s->provider;

	lockdep_assert_held(&p->read_lock);
	if (p->reader == s)
		return 0;
	if (p->reader)
		return -EBUSY;
	if (p->allocated) {
		int err = tb_state_complete(p);

		if (err)
			return err;
		tb_durable_rewind(&p->durable);
	}
	WRITE_ONCE(p->reader, s);
	return 0;
}

/* Put back all blocks that the reader holds, the latest first. */
static void tb_ring_unacquire_all(struct tb_provider *p, struct tb_cpu_ring *r)
{
	lockdep_assert_held(&p->read_lock);
	while (tb_ring_unpin(r))
		;
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
		if (p->snapshot)
			tb_ring_put_back(r, latest);
		else
			tb_ring_unacquire(r, latest);
		cond_resched();
	}
}

/*
 * Leave the provider without a reader, if the session is the reader.  Puts the blocks that it held,
 * or that its save channels offered, back for the next reader.
 */
static void tb_session_detach(struct tb_session *s)
{
	struct tb_provider *p = s->provider;
	unsigned int cpu;

	mutex_lock(&p->read_lock);
	if (p->reader == s) {
		tb_save_channel_close_all(s);
		if (p->allocated) {
			for_each_cpu(cpu, &p->cpus) {
				struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

				tb_ring_unacquire_all(p, r);
				/* no block is held now, even if damaged counts say so */
				r->held = 0;
				r->pinned = 0;
				if (p->snapshot)
					tb_ring_end_snapshot(r);
			}
			WRITE_ONCE(p->snapshot, false);
		}
		p->durable.released = p->durable.taken;
		p->durable.reading = ~0ull;
		WRITE_ONCE(p->reader, NULL);
	}
	mutex_unlock(&p->read_lock);
}

/* ---- life ------------------------------------------------------------- */

/* Create the session of an open file, with the provider "kernel".  Return NULL without memory. */
struct tb_session *tb_session_create(void)
{
	struct tb_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (s) {
		s->provider = tb_provider_get(tb_kernel_provider.name, TB_HOLDER_FILE);
		spin_lock_init(&s->bind);
		mutex_init(&s->lock);
	}
	return s;
}

/* Free the session of a closed file. */
void tb_session_destroy(struct tb_session *s)
{
	struct tb_provider *p = s->provider;

	if (s->stop_generation)
		tb_provider_stop(p, s->stop_generation);
	/* does nothing if this session has not armed the trigger */
	tb_trigger_disarm(p, s);
	tb_session_detach(s);
	wake_up_all(&p->wait);
	tb_provider_put(p, TB_HOLDER_FILE);
	kfree(s);
}
