/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The durable buffer: what every reader needs and must not lose.
 */
#ifndef TB_DURABLE_H
#define TB_DURABLE_H

#include <linux/tracebuf.h>
#include <linux/types.h>

#include "buffer.h"
#include "clock.h"

#define TB_DURABLE_BLOCK	16384	/* bytes of a durable block */
/* largest payload of a durable event */
#define TB_DURABLE_PAYLOAD	(TB_DURABLE_BLOCK - sizeof(struct tb_block) - TB_ELEMENT_SIZE)

/**
 * struct tb_durable - the durable buffer of a provider
 * @mem: its blocks
 * @clock: for the time stamps
 * @provider: id for the headers
 * @used: blocks begun
 * @sealed: blocks that may be handed out; the last one begun may not yet
 * @taken: blocks the reader has got
 * @released: blocks it is done with
 * @reserve: blocks kept back for what must be written at stop
 */
struct tb_durable {
	struct tb_mem mem;
	const struct tb_clock *clock;
	u32 provider;
	u32 used;
	u32 sealed;
	u32 taken;
	u32 released;
	u32 reserve;
};

int tb_durable_alloc(struct tb_durable *d, u32 kib, u32 reserve_bytes);
void tb_durable_reset(struct tb_durable *d, const struct tb_clock *clock, u32 provider);
int tb_durable_append(struct tb_durable *d, u32 id, const void *payload, u32 bytes, bool last);
void tb_durable_seal(struct tb_durable *d);

#endif /* TB_DURABLE_H */
