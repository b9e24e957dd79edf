/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Save channels: each is a file that offers the blocks of one ring, one at a time.
 * Callers: session.c, acquire.c and devices/tracebuf.c, in process context.
 */
#ifndef TB_READER_SAVE_CHANNEL_H
#define TB_READER_SAVE_CHANNEL_H

#include "session.h"

struct tb_save_channel;

int tb_save_channel_open(struct tb_session *s, u32 cpu);
void tb_save_channel_close_all(struct tb_session *s);
bool tb_save_channel_holds(struct tb_save_channel *c, const struct tb_ref *ref);

/* Return the channel of a ring, or NULL. */
static inline struct tb_save_channel *tb_save_channel_of(struct tb_provider *p, unsigned int cpu)
{
	lockdep_assert_held(&p->read_lock);
	return p->reader && p->reader->channels ? p->reader->channels[cpu] : NULL;
}

#endif /* TB_READER_SAVE_CHANNEL_H */
