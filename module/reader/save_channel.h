/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Save/saved channels: a ring's blocks offered one at a time.
 */
#ifndef TB_FIFO_H
#define TB_FIFO_H

#include <linux/cpumask.h>

#include "session.h"

struct tb_save_channel;

int tb_save_channel_open(struct tb_session *s, u32 cpu);
void tb_save_channel_close_all(struct tb_session *s);
bool tb_save_channel_holds(struct tb_save_channel *c, const struct tb_ref *ref);

/* The channel of a ring, or NULL.  Under read_lock. */
static inline struct tb_save_channel *tb_save_channel_of(struct tb_provider *p, unsigned int cpu)
{
	return p->reader && p->reader->channels ? p->reader->channels[cpu] : NULL;
}

#endif /* TB_FIFO_H */
