// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a provider: rings, their headers and the durable buffer.
 *
 * Callers: recording/ and retention.c, in process context.  They hold tb_provider.read_lock, unless
 * they free a provider.  Takes tb_provider.map_lock to change what a mapping shows (mmap.c).
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "provider.h"

/* records that stop appends: the clock, lost records of threads, the totals of each ring */
#define TB_STOP_BYTES	(sizeof(struct tb_clock_sync) + TB_ELEMENT_SIZE * 2 + \
			 sizeof(struct tb_threads_lost) + TB_ELEMENT_SIZE * 2 + \
			 nr_cpu_ids * (sizeof(struct tb_totals) + TB_ELEMENT_SIZE * 2))

u32 tb_memory_percent = 50;

/* sum of tb_provider.charged */
static atomic64_t tb_memory_charged;

/**
 * tb_memory_charge() - set the number of bytes that a provider's buffers count for
 * @p: the provider
 * @bytes: bytes from now on
 * @tell: on an error, write to the log
 *
 * The caller charges before it allocates.  The page allocator would refuse too much as well, but
 * only after it has taken memory from all programs.  A reduction always succeeds.  The caller does
 * not charge reserved memory: only one provider can use it.
 *
 * Context: process, under read_lock; without it if @p has no users any more.
 * Return: 0; -ENOMEM all providers together would exceed tb_memory_percent: nothing has changed.
 */
int tb_memory_charge(struct tb_provider *p, u64 bytes, bool tell)
{
	s64 more = bytes - p->charged, all = atomic64_add_return(more, &tb_memory_charged);
	struct sysinfo memory;
	u64 limit;

	si_meminfo(&memory);
	limit = div_u64((u64)memory.totalram * memory.mem_unit, 100) * tb_memory_percent;
	if (more <= 0 || all <= limit) {
		p->charged = bytes;
		return 0;
	}
	atomic64_sub(more, &tb_memory_charged);
	if (tell)
		pr_warn("tracebuf: %s: %llu MiB are too much: all providers may use %llu MiB (memory_percent=%u), and others use %llu\n",
			p->name, bytes >> 20, limit >> 20, tb_memory_percent, (all - bytes) >> 20);
	return -ENOMEM;
}

/**
 * tb_provider_ring_stride() - distance of rings in a mapping
 * @p: the provider
 *
 * Context: process, under read_lock or map_lock.
 * Return: bytes from one ring to the next, whole pages.
 */
u64 tb_provider_ring_stride(const struct tb_provider *p)
{
	u64 bytes = (u64)p->config.buffers * tb_provider_buffer_bytes(p);

	return tb_provider_ring_header(p) + round_up(bytes, PAGE_SIZE);
}

/**
 * tb_provider_durable_offset() - offset of the durable buffer in a mapping
 * @p: the provider
 *
 * Context: process, under read_lock or map_lock.
 * Return: bytes.
 */
u64 tb_provider_durable_offset(const struct tb_provider *p)
{
	return nr_cpu_ids * tb_provider_ring_stride(p);
}

/* Clears the magic, so that a search of memory does not find a ring in freed memory. */
static void tb_free_header(struct tb_mem *header)
{
	struct tb_ring_header *h;

	if (header->chunks) {
		h = tb_mem_block(header, 0);
		h->magic = 0;
	}
	tb_mem_free(header);
}

static void tb_free_memory(struct tb_mem *mem, struct tb_mem *headers, struct tb_durable *d,
			   struct tb_buf **bufs)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (mem)
			tb_mem_free(&mem[cpu]);
		if (headers)
			tb_free_header(&headers[cpu]);
		if (bufs)
			kvfree(bufs[cpu]);
	}
	kvfree(mem);
	kvfree(headers);
	kvfree(bufs);
	tb_durable_free(d);
}

/* Return the current buffer descriptors of each CPU, to free them later; NULL: no memory. */
static struct tb_buf **tb_current_bufs(struct tb_provider *p)
{
	struct tb_buf **bufs = kvcalloc(nr_cpu_ids, sizeof(*bufs), TB_GFP);
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (bufs)
			bufs[cpu] = per_cpu_ptr(p->rings, cpu)->bufs;
	return bufs;
}

/**
 * tb_provider_allocate() - replace rings and durable buffer
 * @p: the provider, not recording; the reader holds no block
 * @c: the new configuration, checked
 * @cpus: CPUs that get a ring
 * @region: use reserved memory
 *
 * Context: process, under read_lock.
 * Return: 0; -ENOMEM; -EBUSY a program maps the memory.  On error nothing has changed.
 */
int tb_provider_allocate(struct tb_provider *p, const struct tb_config *c,
			 const struct cpumask *cpus, bool region)
{
	struct tb_mem *mem = kvcalloc(nr_cpu_ids, sizeof(*mem), TB_GFP);
	struct tb_mem *headers = kvcalloc(nr_cpu_ids, sizeof(*headers), TB_GFP);
	struct tb_buf **bufs = kvcalloc(nr_cpu_ids, sizeof(*bufs), TB_GFP);
	struct tb_buf **old = tb_current_bufs(p);
	struct tb_durable durable = { };
	unsigned int cpu, i;
	char what[64];
	int err = -ENOMEM;

	lockdep_assert_held(&p->read_lock);
	/* avoid a useless allocation; the check under map_lock below decides */
	if (READ_ONCE(p->mappings)) {
		err = -EBUSY;
		goto fail;
	}
	if (!mem || !headers || !bufs || !old)
		goto fail;
	if (tb_durable_alloc(&durable, c->durable_kib, c->durable_max_kib, TB_STOP_BYTES, region)) {
		pr_warn("tracebuf: %s: no %smemory for a durable buffer of %u KiB\n", p->name,
			region ? "reserved " : "", c->durable_kib);
		goto fail;
	}
	/* offline CPUs, too: a CPU that comes online then records at once */
	for_each_cpu(cpu, cpus) {
		snprintf(what, sizeof(what), "ring of CPU %u%s", cpu,
			 region ? ", reserved memory" : "");
		mem[cpu].region = region;
		if (tb_mem_alloc(&headers[cpu], 1, tb_header_bytes(c->buffers), cpu_to_node(cpu),
				 what) ||
		    tb_mem_alloc(&mem[cpu], c->buffers, c->elements * TB_ELEMENT_SIZE,
				 cpu_to_node(cpu), what))
			goto fail;
		bufs[cpu] = kvzalloc_node(array_size(c->buffers, sizeof(**bufs)), TB_GFP,
					  cpu_to_node(cpu));
		if (!bufs[cpu])
			goto fail;
		for (i = 0; i < c->buffers; i++)
			bufs[cpu][i].block = tb_mem_block(&mem[cpu], i);
	}

	mutex_lock(&p->map_lock);
	if (p->mappings) {
		mutex_unlock(&p->map_lock);
		err = -EBUSY;
		goto fail;
	}
	swap(p->mem, mem);
	swap(p->headers, headers);
	swap(p->durable, durable);
	for_each_possible_cpu(cpu) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);

		/* nr == 0: events of this CPU find no room, and nothing counts them */
		memset(r, 0, sizeof(*r));
		if (!bufs[cpu])
			continue;
		r->bufs = bufs[cpu];
		r->nr = c->buffers;
		r->rd_bufs = r->bufs;
		r->rd_nr = r->nr;
		r->capacity = c->elements;
		r->cpu = cpu;
		r->provider = p->id;
		r->owner = p;
		r->header = tb_mem_block(&p->headers[cpu], 0);
	}
	swap(bufs, old);
	kvfree(old);
	p->config = *c;
	cpumask_copy(&p->cpus, cpus);
	p->allocated = true;
	mutex_unlock(&p->map_lock);
	tb_free_memory(mem, headers, &durable, bufs);
	return 0;

fail:
	kvfree(old);
	tb_free_memory(mem, headers, &durable, bufs);
	return err;
}

/**
 * tb_provider_free() - free rings and durable buffer
 * @p: the provider, stopped, without sessions and mappings
 *
 * Context: process.
 */
void tb_provider_free(struct tb_provider *p)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(p->rings, cpu)->bufs);
	tb_free_memory(p->mem, p->headers, &p->durable, NULL);
}

/**
 * tb_provider_grow() - add memory to the durable buffer
 * @p: the provider
 * @slots: number of slots to add, at most tb_durable_growth()
 *
 * Context: process, under read_lock.
 * Return: 0; -ENOMEM: nothing has changed.
 */
int tb_provider_grow(struct tb_provider *p, u32 slots)
{
	u64 charged = p->charged, bytes = p->durable.region ? 0 : (u64)slots * TB_DURABLE_SLOT;
	struct page **pages;

	lockdep_assert_held(&p->read_lock);
	if (tb_memory_charge(p, charged + bytes, false))
		return -ENOMEM;
	pages = tb_durable_prepare(slots, p->durable.region);
	if (!pages) {
		tb_memory_charge(p, charged, false);
		return -ENOMEM;
	}
	mutex_lock(&p->map_lock);
	tb_durable_grow(&p->durable, pages, slots);
	mutex_unlock(&p->map_lock);
	kvfree(pages);
	tb_header_grown(p);
	return 0;
}
