/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contiguous memory: rows of equal power-of-two blocks.
 */
#ifndef TB_MACHINE_CONTIGUOUS_H
#define TB_MACHINE_CONTIGUOUS_H

#include <linux/mm_types.h>
#include <linux/types.h>

/* For allocations that may fail: the caller handles the error, so the log needs no stack. */
#define TB_GFP	(GFP_KERNEL | __GFP_NOWARN)

/**
 * struct tb_mem - a row of blocks, each physically contiguous
 * @chunks: allocations: each is one block, or a page with several blocks
 * @nr_chunks: number of @chunks
 * @chunk_bytes: bytes of a chunk, at least a page
 * @order: order of a chunk
 * @block_bytes: bytes of a block, a power of two
 * @region: allocate from reserved memory (reserved.c); the caller sets it before tb_mem_alloc()
 * @account: charge the memory to the calling program; the caller sets it before tb_mem_alloc()
 */
struct tb_mem {
	struct page **chunks;
	u32 nr_chunks;
	u32 chunk_bytes;
	u32 order;
	u32 block_bytes;
	bool region;
	bool account;
};

int tb_mem_alloc(struct tb_mem *mem, u32 blocks, u32 block_bytes, int node, const char *what);
void tb_mem_free(struct tb_mem *mem);
void *tb_mem_block(const struct tb_mem *mem, u32 index);
u64 tb_mem_bytes(const struct tb_mem *mem);
struct page *tb_mem_page(const struct tb_mem *mem, u64 offset);
int tb_mem_map(const struct tb_mem *mem, struct vm_area_struct *vma, unsigned long addr);

#endif /* TB_MACHINE_CONTIGUOUS_H */
