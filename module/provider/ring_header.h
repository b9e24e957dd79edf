/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The header of each ring in the mapping, struct tb_ring_header.
 */
#ifndef TB_PROVIDER_RING_HEADER_H
#define TB_PROVIDER_RING_HEADER_H

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/tracebuf.h>

struct tb_provider;

void tb_header_reset(struct tb_provider *p, unsigned int cpu);
void tb_header_grown(struct tb_provider *p);
void tb_header_end(struct tb_provider *p);

/* Return the bytes of the header: it is contiguous, so a power of two of pages. */
static inline u32 tb_header_bytes(u32 buffers)
{
	struct tb_ring_header *h;

	return PAGE_SIZE << get_order(struct_size(h, rolling_data_end, buffers));
}

#endif /* TB_PROVIDER_RING_HEADER_H */
