// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contiguous memory: rows of equal power-of-two blocks, each physically contiguous, zeroed, and
 * mappable into user space page by page.
 *
 * The page allocator can give the largest block (65536 elements, 1 MiB); blocks smaller than a page
 * share one.  Process context.  No lock: the caller serialises changes of a row.  Callers:
 * provider/, programs/, reader/, devices/.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "contiguous.h"
#include "reserved.h"

/**
 * tb_mem_alloc() - allocate a row of blocks
 * @mem: out: the row; the caller sets @mem->region and @mem->account before
 * @blocks: number of blocks
 * @block_bytes: bytes of each block, a power of two
 * @node: memory node, or NUMA_NO_NODE
 * @what: name of the memory, for a warning in the log; NULL: no warning
 *
 * Allocates compound pages, so that a block lives until its last page is unmapped.
 *
 * Context: process, may sleep.
 * Return: 0; -ENOMEM: nothing is allocated; with @what, the log has the block that failed.
 */
int tb_mem_alloc(struct tb_mem *mem, u32 blocks, u32 block_bytes, int node, const char *what)
{
	gfp_t account = mem->account ? __GFP_ACCOUNT : 0;
	gfp_t gfp = TB_GFP | __GFP_RETRY_MAYFAIL | account;
	u32 i;

	mem->block_bytes = block_bytes;
	mem->order = get_order(block_bytes);
	mem->chunk_bytes = PAGE_SIZE << mem->order;
	mem->nr_chunks = DIV_ROUND_UP(blocks, mem->chunk_bytes / block_bytes);
	mem->chunks = kvcalloc(mem->nr_chunks, sizeof(*mem->chunks), TB_GFP | account);
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
				pr_warn("tracebuf: %s: no contiguous block of %u bytes: got %u of %u\n",
					what, mem->chunk_bytes, i, mem->nr_chunks);
			tb_mem_free(mem);
			return -ENOMEM;
		}
	}
	/* only after the last allocation, so that a failed one costs little */
	for (i = 0; i < mem->nr_chunks; i++)
		tb_pages_clear(tb_page_address(mem->chunks[i]), 1ul << mem->order);
	return 0;
}

/* Free a row, possibly all zero.  Mapped pages stay until they are unmapped. */
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

/* Return the kernel address of a block; @index is less than the number allocated. */
void *tb_mem_block(const struct tb_mem *mem, u32 index)
{
	u32 per_chunk = mem->chunk_bytes / mem->block_bytes;

	return tb_page_address(mem->chunks[index / per_chunk]) +
	       index % per_chunk * mem->block_bytes;
}

/* Return the bytes of the row in a mapping, whole pages. */
u64 tb_mem_bytes(const struct tb_mem *mem)
{
	return (u64)mem->nr_chunks * mem->chunk_bytes;
}

/* Return the page at @offset, in bytes; NULL beyond the end. */
struct page *tb_mem_page(const struct tb_mem *mem, u64 offset)
{
	if (offset >= tb_mem_bytes(mem))
		return NULL;
	return mem->chunks[offset / mem->chunk_bytes] + (offset % mem->chunk_bytes >> PAGE_SHIFT);
}

/**
 * tb_mem_map() - insert all pages of the row into a mapping
 * @mem: the row; not of reserved memory, because a program can keep references to the pages
 * @vma: the mapping
 * @addr: user address of the first page
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
