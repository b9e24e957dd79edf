// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contiguous memory: rows of equal power-of-two blocks, each physically
 * contiguous, zeroed, and mappable into user space page by page.
 *
 * The largest block (65536 elements, 1 MiB) is within what the page
 * allocator gives; blocks smaller than a page share one.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "contiguous.h"
#include "reserved.h"

/* Page by page, because gigabytes may be asked for and others want the processor, too. */
static void tb_clear(struct page *page, u32 order)
{
	u32 i;

	for (i = 0; i < 1u << order; i++) {
		clear_page(tb_page_address(page + i));
		cond_resched();
	}
}

/**
 * tb_mem_alloc() - get memory
 * @mem: what will describe it
 * @blocks: how many blocks
 * @block_bytes: bytes of each, a power of two
 * @node: memory node to take it from, or NUMA_NO_NODE
 * @what: for whom, for the log; NULL: for the calling program, which is told and whose memory
 *	it counts as: nothing for the log, which it could fill
 *
 * All or nothing.  Compound pages, so that each page can be inserted into a
 * mapping and the whole block lives until the last one is unmapped.
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM, with @what and a line in the log.
 */
int tb_mem_alloc(struct tb_mem *mem, u32 blocks, u32 block_bytes, int node, const char *what)
{
	gfp_t gfp = TB_GFP | __GFP_RETRY_MAYFAIL | (what ? 0 : __GFP_ACCOUNT);
	u32 i;

	mem->blocks = blocks;
	mem->block_bytes = block_bytes;
	mem->order = get_order(block_bytes);
	mem->chunk_bytes = PAGE_SIZE << mem->order;
	mem->nr_chunks = DIV_ROUND_UP(blocks, mem->chunk_bytes / block_bytes);
	mem->chunks = kvcalloc(mem->nr_chunks, sizeof(*mem->chunks),
			       TB_GFP | (gfp & __GFP_ACCOUNT));
	if (!mem->chunks)
		return -ENOMEM;
	if (mem->order)
		gfp |= __GFP_COMP;
	for (i = 0; i < mem->nr_chunks; i++) {
		if (fatal_signal_pending(current))
			mem->chunks[i] = NULL;
		else if (mem->region)
			mem->chunks[i] = tb_region_alloc(mem->order);
		else
			mem->chunks[i] = alloc_pages_node(node, gfp, mem->order);
		if (!mem->chunks[i]) {
			if (what)
				pr_warn("tracebuf: %s: no contiguous block of %u bytes, %u of %u were there\n",
					what, mem->chunk_bytes, i, mem->nr_chunks);
			tb_mem_free(mem);
			return -ENOMEM;
		}
	}
	/* now that all are there: what fails should cost little */
	for (i = 0; i < mem->nr_chunks; i++)
		tb_clear(mem->chunks[i], mem->order);
	return 0;
}

/**
 * tb_mem_free() - give memory back
 * @mem: from tb_mem_alloc(), or all zero
 *
 * Pages still mapped somewhere live on until they are unmapped.
 *
 * Context: process.
 */
void tb_mem_free(struct tb_mem *mem)
{
	u32 i;

	for (i = 0; mem->chunks && i < mem->nr_chunks && mem->chunks[i]; i++) {
		cond_resched();
		tb_pages_free(mem->chunks[i], mem->order);
	}
	kvfree(mem->chunks);
	memset(mem, 0, sizeof(*mem));
}

/**
 * tb_mem_block() - the address of a block
 * @mem: the row
 * @index: which
 *
 * Return: its kernel address.
 */
void *tb_mem_block(const struct tb_mem *mem, u32 index)
{
	u32 per_chunk = mem->chunk_bytes / mem->block_bytes;

	return tb_page_address(mem->chunks[index / per_chunk]) +
	       index % per_chunk * mem->block_bytes;
}

/**
 * tb_mem_bytes() - how much of a mapping the row takes
 * @mem: the row
 *
 * Return: bytes, whole pages.
 */
u64 tb_mem_bytes(const struct tb_mem *mem)
{
	return (u64)mem->nr_chunks * mem->chunk_bytes;
}

/**
 * tb_mem_page() - the page at an offset of the row
 * @mem: the row
 * @offset: bytes
 *
 * Return: the page, or NULL beyond the end.
 */
struct page *tb_mem_page(const struct tb_mem *mem, u64 offset)
{
	if (offset >= tb_mem_bytes(mem))
		return NULL;
	return mem->chunks[offset / mem->chunk_bytes] + (offset % mem->chunk_bytes >> PAGE_SHIFT);
}

/**
 * tb_mem_map() - put the row into a mapping
 * @mem: the row
 * @vma: the mapping
 * @addr: where
 *
 * Not for reserved memory: whoever pins one of these pages may use it as any other page.
 *
 * Context: process, mmap lock held for writing.
 * Return: 0 or -errno.
 */
int tb_mem_map(const struct tb_mem *mem, struct vm_area_struct *vma, unsigned long addr)
{
	u32 i, k;
	int err;

	for (i = 0; i < mem->nr_chunks; i++) {
		cond_resched();
		for (k = 0; k < 1u << mem->order; k++, addr += PAGE_SIZE) {
			err = vm_insert_page(vma, addr, mem->chunks[i] + k);
			if (err)
				return err;
		}
	}
	return 0;
}
