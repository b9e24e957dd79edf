/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Claiming a buffer (claim.c) before writer.c opens it.
 */
#ifndef TB_RING_CLAIM_H
#define TB_RING_CLAIM_H

#include "ring.h"

#define TB_CLAIM_NONE	(-1)	/* no room */
#define TB_CLAIM_AGAIN	(-2)	/* nothing found, but head has moved: try again */

int tb_ring_claim(struct tb_cpu_ring *r, u64 h, u64 seq);
u64 tb_buf_begin_lap(struct tb_buf *b);

static inline void tb_raise(u64 *p, u64 to)
{
	u64 old;

	do {
		old = tb_read(p);
	} while (to > old && !tb_cmpxchg_local(p, old, to));
}

#endif
