/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that the ring calls (module/ring/hooks.h), for tests in which they do nothing. */
#ifndef RING_HOOKS_H
#define RING_HOOKS_H

#include "../../../module/ring/hooks.h"

void tb_ring_notify(struct tb_cpu_ring *r)
{
	(void)r;
}

static unsigned long ring_damaged;	/* calls of tb_ring_damaged() */

void tb_ring_damaged(struct tb_cpu_ring *r)
{
	(void)r;
	ring_damaged++;
}

void tb_ring_opened(struct tb_cpu_ring *r, const struct tb_buf *b, u64 seq)
{
	(void)r;
	(void)b;
	(void)seq;
}

void tb_ring_filled(struct tb_cpu_ring *r, const struct tb_buf *b)
{
	(void)r;
	(void)b;
}

void tb_pending_commit(struct tb_cpu_ring *r, struct tb_buf *b)
{
	(void)r;
	(void)b;
}

bool tb_pending_commit_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	(void)r;
	(void)id;
	(void)payload;
	return false;
}

static inline u32 next_random(u32 *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

#endif /* RING_HOOKS_H */
