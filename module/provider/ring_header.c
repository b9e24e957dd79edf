// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header of each ring in the mapping: the layout of the memory behind it, and the progress of
 * the ring.  A program that has only the memory (a crash dump) reads the ring by it.
 *
 * Writers update it when they open and when they complete a buffer (ring/hooks.h), in any context,
 * without a lock.  An interrupted writer may store an older value after nested contexts, so fields
 * that all contexts write only go forward.  recording/ and memory.c call tb_header_*() in process
 * context under tb_provider.read_lock.
 */
#include "provider.h"
#include "ring/hooks.h"

/* current_buffer and wrapped_count, which writers update as one word */
#define TB_HEADER_CURRENT	offsetof(struct tb_ring_header, current_buffer)

/* Sets @word to @to if that is later; the numbers may wrap around. */
static void tb_header_forward(u64 *word, u64 to)
{
	u64 old;

	do {
		old = READ_ONCE(*word);
	} while ((s64)(to - old) > 0 && !tb_cmpxchg_local(word, old, to));
}

static void tb_header_totals(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	tb_header_forward(&r->header->records_dropped, tb_local_read(&r->dropped));
	tb_header_forward(&r->header->durable_data_end, READ_ONCE(p->durable.bytes));
}

/* Note the new current buffer. */
void tb_ring_opened(struct tb_cpu_ring *r, const struct tb_buf *b, u64 seq)
{
	BUILD_BUG_ON(TB_HEADER_CURRENT % sizeof(u64));
	BUILD_BUG_ON(offsetof(struct tb_ring_header, wrapped_count) !=
		     TB_HEADER_CURRENT + sizeof(u32));
	/* little-endian: wrapped_count, the upper half, decides which word is later */
	tb_header_forward((void *)r->header + TB_HEADER_CURRENT, seq << 32 | (b - r->bufs));
}

/* Note the size of a complete buffer, and the totals.  No writer opens it before this returns. */
void tb_ring_filled(struct tb_cpu_ring *r, const struct tb_buf *b)
{
	WRITE_ONCE(r->header->rolling_data_end[b - r->bufs], b->block->data);
	tb_header_totals(r);
}

static void tb_header_sizes(struct tb_provider *p, struct tb_ring_header *h)
{
	u64 rolling = (u64)h->nr * h->rolling_size;

	lockdep_assert_held(&p->read_lock);
	if (p->config.mode == TB_MODE_ONESHOT) {
		/* for ONESHOT the ABI counts the buffers as one, without the durable buffer */
		h->total_size = h->header_size + h->rolling_size;
		return;
	}
	WRITE_ONCE(h->durable_size, (u64)p->durable.nr_slots * TB_DURABLE_SLOT);
	WRITE_ONCE(h->total_size, h->header_size + h->durable_size + rolling);
}

/* Fill in the header of a ring whose CPU does not record, for an empty recording. */
void tb_header_reset(struct tb_provider *p, unsigned int cpu)
{
	struct tb_ring_header *h = per_cpu_ptr(p->rings, cpu)->header;
	bool oneshot = p->config.mode == TB_MODE_ONESHOT;
	u32 bytes = tb_header_bytes(p->config.buffers);

	lockdep_assert_held(&p->read_lock);
	memset(h, 0, bytes);
	h->version = TB_RING_VERSION;
	h->buffering_mode = p->config.mode;
	h->nr = p->config.buffers;
	h->header_size = bytes;
	h->rolling_size = (u64)tb_provider_buffer_bytes(p) * (oneshot ? h->nr : 1);
	h->cpu = cpu;
	h->provider = p->id;
	tb_header_sizes(p, h);
	/* the magic after all else: pairs with programs that read the mapping */
	smp_store_release(&h->magic, TB_RING_MAGIC);
}

/* Update the sizes after the durable buffer has grown. */
void tb_header_grown(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		tb_header_sizes(p, per_cpu_ptr(p->rings, cpu)->header);
}

/* Write the final totals of a recording that has ended. */
void tb_header_end(struct tb_provider *p)
{
	unsigned int cpu;

	lockdep_assert_held(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		tb_header_totals(per_cpu_ptr(p->rings, cpu));
}
