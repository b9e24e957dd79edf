// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a provider: rings, their headers and the durable buffer.
 *
 * Callers: recording/ and retention.c, in process context.  They hold tb_provider.read_lock, unless
 * they allocate or free.  Takes tb_provider.map_lock to change what a mapping shows (mmap.c).
 */
#include <linux/math64.h>
#include <linux/slab.h>

#include "provider.h"

/*
 * Records that stop appends: the clock, lost records of threads, one that says that counts of
 * suppressed events were lost, the totals of each ring
 */
#define TB_STOP_BYTES	(sizeof(struct tb_clock_sync) + TB_ELEMENT_SIZE * 2 + \
			 sizeof(struct tb_threads_lost) + TB_ELEMENT_SIZE * 2 + \
			 sizeof(struct tb_suppressed) + TB_ELEMENT_SIZE * 2 + \
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
 * Context: process, under read_lock; to free @p (@bytes 0) no lock.
 * Return: 0; -ENOMEM all providers together would exceed tb_memory_percent: nothing has changed.
 */
int tb_memory_charge(struct tb_provider *p, u64 bytes, bool tell)
{
	s64 more = bytes - p->charged, all;
	struct sysinfo memory;
	u64 limit;

	if (bytes)
		lockdep_assert_held(&p->read_lock);
	all = atomic64_add_return(more, &tb_memory_charged);
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

static void tb_ring_memory_free(struct tb_ring_memory *m)
{
	struct tb_ring_header *h;

	tb_mem_free(&m->mem);
	/* so that a search of memory does not find a ring in freed memory */
	if (m->header.chunks) {
		h = tb_mem_block(&m->header, 0);
		h->magic = 0;
	}
	tb_mem_free(&m->header);
	kvfree(m->bufs);
}

/* Free what tb_memory_alloc() or tb_memory_swap() left in @m; all zero is allowed. */
void tb_memory_free(struct tb_memory *m)
{
	unsigned int cpu;

	for (cpu = 0; m->rings && cpu < nr_cpu_ids; cpu++)
		tb_ring_memory_free(&m->rings[cpu]);
	kvfree(m->rings);
	tb_durable_free(&m->durable);
}

static int tb_ring_memory_alloc(struct tb_ring_memory *m, const struct tb_config *c,
				unsigned int cpu, bool region)
{
	int node = cpu_to_node(cpu);
	char what[64];
	u32 i;

	snprintf(what, sizeof(what), "ring of CPU %u%s", cpu, region ? ", reserved memory" : "");
	m->mem.region = region;
	if (tb_mem_alloc(&m->header, 1, tb_header_bytes(c->buffers), node, what) ||
	    tb_mem_alloc(&m->mem, c->buffers, c->elements * TB_ELEMENT_SIZE, node, what))
		return -ENOMEM;
	m->bufs = kvzalloc_node(array_size(c->buffers, sizeof(*m->bufs)), TB_GFP, node);
	if (!m->bufs)
		return -ENOMEM;
	for (i = 0; i < c->buffers; i++)
		m->bufs[i].block = tb_mem_block(&m->mem, i);
	return 0;
}

/**
 * tb_memory_alloc() - allocate rings and a durable buffer
 * @m: out: the memory; the caller frees it, also after an error
 * @name: name of the provider, for the log
 * @c: the configuration, checked
 * @cpus: CPUs that get a ring
 * @region: use reserved memory
 *
 * Context: process; slow, because it clears the memory.
 * Return: 0; -ENOMEM.
 */
int tb_memory_alloc(struct tb_memory *m, const char *name, const struct tb_config *c,
		    const struct cpumask *cpus, bool region)
{
	unsigned int cpu;

	m->rings = kvcalloc(nr_cpu_ids, sizeof(*m->rings), TB_GFP);
	if (!m->rings)
		return -ENOMEM;
	if (tb_durable_alloc(&m->durable, c->durable_kib, c->durable_max_kib, TB_STOP_BYTES,
			     region)) {
		pr_warn("tracebuf: %s: no %smemory for a durable buffer of %u KiB\n", name,
			region ? "reserved " : "", c->durable_kib);
		return -ENOMEM;
	}
	for_each_cpu(cpu, cpus)
		if (tb_ring_memory_alloc(&m->rings[cpu], c, cpu, region))
			return -ENOMEM;
	return 0;
}

static void tb_ring_use(struct tb_provider *p, unsigned int cpu)
{
	struct tb_cpu_ring *r = per_cpu_ptr(p->rings, cpu);
	struct tb_ring_memory *m = &p->memory[cpu];

	lockdep_assert_held(&p->read_lock);
	/* nr == 0: events of this CPU find no room, and nothing counts them */
	memset(r, 0, sizeof(*r));
	if (!m->bufs)
		return;
	r->bufs = m->bufs;
	r->nr = p->config.buffers;
	r->rd_bufs = r->bufs;
	r->rd_nr = r->nr;
	r->capacity = p->config.elements;
	r->cpu = cpu;
	r->provider = p->id;
	r->owner = p;
	r->header = tb_mem_block(&m->header, 0);
}

/* Allocate the ring of a CPU that has none and is not online.  An error changes nothing. */
int tb_memory_add(struct tb_provider *p, unsigned int cpu)
{
	u64 charged = p->charged, bytes = p->durable.region ? 0 : tb_memory_ring_bytes(&p->config);
	struct tb_ring_memory m = { };

	lockdep_assert_held(&p->read_lock);
	/* as a configuration: do not take memory from the whole system */
	if (bytes >= (u64)max(si_mem_available(), 0L) << PAGE_SHIFT)
		return -ENOMEM;
	if (tb_memory_charge(p, charged + bytes, true))
		return -ENOMEM;
	if (tb_ring_memory_alloc(&m, &p->config, cpu, p->durable.region)) {
		tb_ring_memory_free(&m);
		tb_memory_charge(p, charged, false);
		return -ENOMEM;
	}
	mutex_lock(&p->map_lock);
	p->memory[cpu] = m;
	tb_ring_use(p, cpu);
	mutex_unlock(&p->map_lock);
	return 0;
}

/**
 * tb_memory_swap() - replace rings and durable buffer
 * @p: the provider, not recording; the reader holds no block
 * @m: in: from tb_memory_alloc(); out: the former memory, to free
 * @c: the configuration of @m
 * @cpus: CPUs that have a ring in @m
 *
 * Context: process, under read_lock.
 * Return: 0; -EBUSY a program maps the memory: nothing has changed.
 */
int tb_memory_swap(struct tb_provider *p, struct tb_memory *m, const struct tb_config *c,
		   const struct cpumask *cpus)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	mutex_lock(&p->map_lock);
	if (p->mappings) {
		mutex_unlock(&p->map_lock);
		return -EBUSY;
	}
	swap(p->memory, m->rings);
	swap(p->durable, m->durable);
	p->config = *c;
	for_each_possible_cpu(cpu)
		tb_ring_use(p, cpu);
	cpumask_copy(&p->cpus, cpus);
	p->allocated = true;
	mutex_unlock(&p->map_lock);
	return 0;
}

/* Add slots, at most tb_durable_growth(), to the durable buffer.  An error changes nothing. */
int tb_provider_grow(struct tb_provider *p, u32 slots)
{
	u64 charged = p->charged, bytes = p->durable.region ? 0 : (u64)slots * TB_DURABLE_SLOT;
	struct tb_mem mem = { .region = p->durable.region };

	lockdep_assert_held(&p->read_lock);
	if (tb_memory_charge(p, charged + bytes, false))
		return -ENOMEM;
	if (tb_mem_alloc(&mem, slots, TB_DURABLE_SLOT, NUMA_NO_NODE, NULL)) {
		tb_memory_charge(p, charged, false);
		return -ENOMEM;
	}
	mutex_lock(&p->map_lock);
	tb_durable_grow(&p->durable, &mem);
	mutex_unlock(&p->map_lock);
	tb_header_grown(p);
	return 0;
}
