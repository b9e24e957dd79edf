/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the ring calls.  In the module, probe/notify.c, probe/pending.c and
 * provider/ring_header.c define them; tests and benchmarks define their own.  They run in any
 * context, NMI included.
 */
#ifndef TB_RING_HOOKS_H
#define TB_RING_HOOKS_H

#include "ring.h"

/* a buffer is past the watermark, or complete */
void tb_ring_notify(struct tb_cpu_ring *r);
/* the ring's state is inconsistent: memory is damaged */
void tb_ring_damaged(struct tb_cpu_ring *r);
/* the header of @b has been written for block @seq */
void tb_ring_opened(struct tb_cpu_ring *r, const struct tb_buf *b, u64 seq);
/* the contents of @b are complete, but it is not READY yet */
void tb_ring_filled(struct tb_cpu_ring *r, const struct tb_buf *b);
/* for a ring without buffers: the pending event in @b is complete */
void tb_pending_commit(struct tb_cpu_ring *r, struct tb_buf *b);
/* for a ring without buffers: decide on a simple event; return true if it was recorded */
bool tb_pending_commit_simple(struct tb_cpu_ring *r, u32 id, u64 payload);

#endif /* TB_RING_HOOKS_H */
