// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording of the previous boot: search reserved memory (machine/reserved.c) for blocks, and
 * copy their valid events into a read-only provider "previous", as a stopped recording.
 *
 * Another version may have written the memory; a crash, missing refresh or an attacker may have
 * damaged it; another user may write to it now.  So this code checks copies of blocks and uses
 * only these, checks each length before use, and ends a block at the first element that is no event
 * of the block.
 *
 * Callers: module init.  Locks: tb_provider.lock and read_lock of "previous".
 */
#include <linux/cpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "recording/recording.h"
#include "block_walk.h"
#include "panic.h"
#include "ring/hooks.h"

#define TB_PREVIOUS_STEP	1024	/* the smallest block */

/**
 * struct tb_found_block - a block in reserved memory
 * @offset: where it is in the memory, bytes
 * @block: its header, checked
 * @recording: id of its recording
 */
struct tb_found_block {
	size_t offset;
	struct tb_block block;
	u64 recording;
};

/**
 * struct tb_previous - the result of the search
 * @found: blocks; after tb_previous_choose() those of one recording, durable ones first, sorted by
 *	CPU and sequence number
 * @nr: number of blocks
 * @durable: number of durable blocks among them
 * @init: initialisation record of the recording
 * @copy: for one block, see tb_previous_load()
 */
struct tb_previous {
	struct tb_found_block *found;
	u32 nr;
	u32 durable;
	struct tb_init init;
	struct tb_block *copy;
};

/* ---- one block -------------------------------------------------------- */

static const struct tb_gap *tb_previous_find_gap(const struct tb_block *block)
{
	return (const void *)((const struct tb_composite *)(block + 1) + 1);
}

static size_t tb_previous_size(const struct tb_block *block)
{
	return 1ul << block->size_log2;
}

/* Return true for a buffer without a block: never used, or with a header written in part. */
static bool tb_previous_empty(const struct tb_block *block)
{
	return block->kind == TB_BLOCK_ROLLING && block->sequence & TB_BLOCK_OPENING;
}

/*
 * Return the id of the recording of @block, a copy; 0 if it is no block.  @at: physical address of
 * the original; @room: bytes from there to the end of the memory.
 */
static u64 tb_previous_check_block(const struct tb_block *block, phys_addr_t at, size_t room)
{
	const struct tb_composite *slot = (const void *)(block + 1);
	bool durable = block->kind == TB_BLOCK_DURABLE;
	size_t size;

	if (block->magic != TB_BLOCK_MAGIC || block->version != TB_BLOCK_VERSION ||
	    (!durable && block->kind != TB_BLOCK_ROLLING) || block->size_log2 > 20)
		return 0;
	size = tb_previous_size(block);
	/* rings align blocks to their size; durable blocks follow each other directly */
	if (size > room || at & ((durable ? TB_DURABLE_BLOCK_MIN : size) - 1))
		return 0;
	if (durable)
		return size < TB_DURABLE_BLOCK_MIN || size > TB_DURABLE_BLOCK_MAX ||
		       block->data < sizeof(*block) || block->data > size ||
		       block->data % TB_ELEMENT_SIZE ? 0 : block->overwritten;
	if (size < TB_BUFFER_ELEMENTS_MIN * TB_ELEMENT_SIZE ||
	    size > TB_BUFFER_ELEMENTS_MAX * TB_ELEMENT_SIZE)
		return 0;
	if (!tb_previous_empty(block) &&
	    (slot->head != TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS,
				   block->sequence) ||
	     slot->length != sizeof(struct tb_gap) || slot->time != (u32)block->time_start))
		return 0;
	return tb_previous_find_gap(block)->recording;
}

/*
 * Build a complete block in @to from the valid events of @from.  Return false if a complete block
 * lost events.  The end of an incomplete block, which the writer was filling, is unknown: return
 * true.
 */
static bool tb_previous_copy_block(struct tb_block *to, const struct tb_block *from)
{
	u32 capacity = (1u << from->size_log2) / TB_ELEMENT_SIZE;
	bool complete = from->flags & TB_BLOCK_COMPLETE;
	struct tb_block_walk w = {
		.block = from,
		.sequence = from->sequence,
		.at = TB_BLOCK_FIRST_ELEMENT,
		.end = capacity,
		.time = from->time_start,
	};
	struct tb_element *out = (struct tb_element *)to;
	u32 used = TB_BLOCK_FIRST_ELEMENT, rest;
	const struct tb_element *e;
	u64 time = w.time;

	if (complete && from->data >= TB_BLOCK_FIRST_ELEMENT * TB_ELEMENT_SIZE &&
	    from->data / TB_ELEMENT_SIZE < capacity)
		w.end = from->data / TB_ELEMENT_SIZE;
	memcpy(to, from, used * TB_ELEMENT_SIZE);
	to->flags = TB_BLOCK_COMPLETE;
	to->events = 0;
	while ((e = tb_block_walk_next(&w))) {
		u32 length = TB_HEAD_LENGTH(e->head);

		/* the event is later than the block, so it is of another lap */
		if (complete && w.time > from->time_end) {
			w.at -= length;
			break;
		}
		memcpy(out + used, e, length * TB_ELEMENT_SIZE);
		used += length;
		to->events += TB_HEAD_ID(e->head) > TB_EV_STRUCTURAL_LAST;
		time = w.time;
	}
	to->data = used * TB_ELEMENT_SIZE;
	to->time_end = complete && from->time_end > time ? from->time_end : time;
	rest = capacity - used;
	if (rest) {
		to->flags |= TB_BLOCK_FLUSHED;
		out[used] = (struct tb_element) {
			.head = TB_HEAD(TB_STRUCT_PAD, TB_EV_NONE,
					min_t(u32, rest, TB_EVENT_ELEMENTS_MAX), to->sequence),
		};
		memset(out + used + 1, 0, (rest - 1) * TB_ELEMENT_SIZE);
	}
	return !complete || w.at == w.end;
}

/* ---- all of them ------------------------------------------------------ */

static int tb_previous_order(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int tb_previous_compare_blocks(const void *a, const void *b)
{
	const struct tb_found_block *x = a, *y = b;

	return tb_previous_order(x->recording, y->recording) ?:
	       tb_previous_order(x->block.kind, y->block.kind) ?:
	       tb_previous_order(x->block.cpu, y->block.cpu) ?:
	       tb_previous_order(x->block.sequence, y->block.sequence) ?:
	       tb_previous_order(x->offset, y->offset);
}

/* Find all blocks.  Skip what looks like a block inside a block: it is payload of an event. */
static int tb_previous_search(struct tb_previous *v)
{
	size_t bytes = tb_region.pages << PAGE_SHIFT, at, step;
	/* the header and the gap slot of a block */
	struct tb_element first[TB_BLOCK_FIRST_ELEMENT];
	const struct tb_block *block = (const void *)first;
	u64 recording;
	u32 room = 0;
	int pass;

	/* pass 0 counts the blocks, pass 1 stores them */
	for (pass = 0; pass < 2; pass++) {
		for (at = 0; at < bytes; at += step) {
			cond_resched();
			step = TB_PREVIOUS_STEP;
			memcpy(first, tb_region.address + at, sizeof(first));
			barrier(); /* do not read the memory again instead of the copy */
			recording = tb_previous_check_block(block, PFN_PHYS(tb_region.pfn) + at,
							    bytes - at);
			if (!recording)
				continue;
			step = tb_previous_size(block);
			if (tb_previous_empty(block))
				continue;
			if (!pass)
				room++;
			else if (v->nr < room)
				v->found[v->nr++] = (struct tb_found_block) { at, *block,
									      recording };
		}
		if (!room)
			break;
		if (!pass)
			v->found = kvcalloc(room, sizeof(*v->found), TB_GFP);
		if (!v->found)
			return -ENOMEM;
	}
	sort(v->found, v->nr, sizeof(*v->found), tb_previous_compare_blocks, NULL);
	return 0;
}

/*
 * Keep the recording with the most blocks, and drop duplicates.  The memory has several recordings
 * only if it was damaged or moved.
 */
static void tb_previous_choose(struct tb_previous *v)
{
	u32 i, from = 0, best = 0, most = 0, kept = 0;

	for (i = 1; i <= v->nr; i++) {
		if (i < v->nr && v->found[i].recording == v->found[from].recording)
			continue;
		if (i - from > most) {
			most = i - from;
			best = from;
		}
		from = i;
	}
	for (i = best; i < best + most; i++) {
		const struct tb_block *block = &v->found[i].block;
		const struct tb_block *last = kept ? &v->found[kept - 1].block : NULL;

		if (last && last->kind == block->kind && last->cpu == block->cpu &&
		    last->sequence == block->sequence)
			continue;
		v->found[kept++] = v->found[i];
		v->durable += block->kind == TB_BLOCK_DURABLE;
	}
	v->nr = kept;
}

/*
 * Copy a whole block.  Return the copy, which stays valid until the next call; NULL if the memory
 * has another block now.
 */
static const struct tb_block *tb_previous_load(const struct tb_previous *v, u32 index)
{
	const struct tb_found_block *f = &v->found[index];
	size_t size = tb_previous_size(&f->block);

	memcpy(v->copy, tb_region.address + f->offset, size);
	*v->copy = f->block;
	barrier(); /* do not read the memory again instead of the copy */
	return tb_previous_check_block(v->copy, PFN_PHYS(tb_region.pfn) + f->offset,
				       size) == f->recording ? v->copy : NULL;
}

static bool tb_previous_init_good(const struct tb_init *init)
{
	return init->abi == TB_ABI_VERSION && init->frequency &&
	       init->clock >= TB_CLOCK_TSC && init->clock <= TB_CLOCK_MONO;
}

/*
 * Return the index of the first durable block to use, which begins with a state: the last state, or
 * an earlier one if no block is missing between the two.  If blocks are missing after the last
 * state, only names are lost.  Return v->durable if there is no state.  Sets v->init.
 */
static u32 tb_previous_durable(struct tb_previous *v)
{
	u32 i, first = v->durable;

	for (i = v->durable; i--; ) {
		const struct tb_block *block = tb_previous_load(v, i);
		const struct tb_composite *c = (const void *)(block + 1);
		struct tb_init init;

		if (!block || (first < v->durable &&
			       v->found[i + 1].block.sequence != block->sequence + 1))
			break;
		if (TB_HEAD_ID(c->head) != TB_EV_INIT || c->length < sizeof(init) ||
		    block->data < sizeof(*block) + sizeof(*c) + sizeof(init))
			continue;
		memcpy(&init, c + 1, sizeof(init));
		if (!tb_previous_init_good(&init))
			continue;
		first = i;
		v->init = init;
	}
	return first;
}

/* ---- the provider ----------------------------------------------------- */

static bool tb_previous_fits(const struct tb_previous *v, const struct tb_block *block)
{
	return block->kind == TB_BLOCK_ROLLING && block->cpu < nr_cpu_ids &&
	       cpu_possible(block->cpu) &&
	       tb_previous_size(block) == v->init.elements * TB_ELEMENT_SIZE;
}

/* Configure the provider with the size that the found blocks need. */
static int tb_previous_configure(struct tb_provider *p, const struct tb_previous *v)
{
	struct tb_config c = {
		.mode = TB_MODE_CIRCULAR,
		.elements = v->init.elements,
		.clock = TB_CLOCK_AUTO,
	};
	struct cpumask *cpus;
	u32 i, count = 0, cpu = U32_MAX;
	u64 durable = 0;
	int err;

	cpus = kzalloc(sizeof(*cpus), GFP_KERNEL);
	if (!cpus)
		return -ENOMEM;
	for (i = 0; i < v->nr; i++) {
		const struct tb_block *block = &v->found[i].block;

		if (block->kind == TB_BLOCK_DURABLE)
			durable += tb_previous_size(block);
		if (!tb_previous_fits(v, block))
			continue;
		count = block->cpu == cpu ? count + 1 : 1;
		cpu = block->cpu;
		cpumask_set_cpu(cpu, cpus);
		c.buffers = max(c.buffers, count);
	}
	c.buffers = clamp_t(u32, c.buffers, TB_BUFFERS_MIN, TB_BUFFERS_MAX);
	/* twice the size: new durable blocks are at least half full */
	c.durable_kib = clamp_t(u64, durable * 2 / 1024, TB_DURABLE_KIB_MIN, TB_DURABLE_KIB_MAX);
	err = cpumask_empty(cpus) ? -ENODATA : tb_provider_configure(p, &c, cpus);
	kfree(cpus);
	return err;
}

/* Write the events of the durable blocks into the durable buffer. */
static void tb_previous_keep(struct tb_provider *p, const struct tb_previous *v, u32 first)
{
	const struct tb_element *e;
	u32 i;

	lockdep_assert_held(&p->read_lock);
	for (i = first; i < v->durable; i++) {
		const struct tb_block *block = tb_previous_load(v, i);
		struct tb_block_walk w;

		if (!block)
			break;
		w = (struct tb_block_walk){
			.block = block,
			.sequence = block->sequence,
			.at = TB_BLOCK_HEADER_ELEMENTS,
			.end = block->data / TB_ELEMENT_SIZE,
			.time = block->time_start,
		};
		while ((e = tb_block_walk_next(&w))) {
			const struct tb_composite *c = (const void *)e;

			if (TB_HEAD_STRUCT(e->head) == TB_STRUCT_COMPOSITE &&
			    tb_durable_append_at(&p->durable, w.time, TB_HEAD_ID(e->head), c + 1,
						 c->length, true))
				return;
		}
		cond_resched();
	}
	tb_durable_seal(&p->durable);
}

/*
 * Append a block to a ring.  @whole: the block before it lost no events.  Return true if this block
 * lost none.  The caller holds read_lock.
 */
static bool tb_previous_put(struct tb_cpu_ring *r, u32 index, const struct tb_block *from,
			    bool whole)
{
	const struct tb_buf *last = index ? &r->bufs[index - 1] : NULL;
	u64 next = last ? last->block->sequence + 1 : 0;
	u64 dropped = last ? last->block->dropped : 0;
	struct tb_buf *b = &r->bufs[index];
	struct tb_gap *gap;
	bool all = tb_previous_copy_block(b->block, from);

	b->events = b->block->events;
	b->block->provider = r->provider;
	gap = (struct tb_gap *)tb_previous_find_gap(b->block);
	/* the number of lost events is unknown: write 1 */
	gap->overwritten = b->block->sequence != next || !whole;
	gap->dropped = from->dropped - min(from->dropped, dropped);
	gap->oversize = 0;
	gap->first = last ? last->block->time_start : 0;
	gap->last = b->block->time_start;
	/* the gap slot is filled in, see tb_ring_fill_gap() */
	b->gap_filled = 1;
	b->settled = 1;
	memset(&b->rd, 0, sizeof(b->rd));
	b->rd.next = next;
	tb_local_add(&r->recorded, b->events + gap->overwritten);
	tb_local_add(&r->overwritten, gap->overwritten);
	tb_local_set(&r->dropped, b->block->dropped);
	r->head = tb_head(0, b->block->sequence, index, r->capacity);
	/* pairs with tb_ring_acquire() */
	smp_store_release(&b->state, TB_BUF_WORD(b->block->sequence, TB_BUF_READY));
	tb_ring_opened(r, b, b->block->sequence);
	tb_ring_filled(r, b);
	return all;
}

static void tb_previous_fill(struct tb_provider *p, const struct tb_previous *v, u32 first)
{
	const struct tb_block *block, *last = NULL;
	struct tb_cpu_ring *r;
	bool whole = true;
	u32 i, index = 0;

	mutex_lock(&p->lock);
	cpus_read_lock();
	mutex_lock(&p->read_lock);
	p->clock.id = v->init.clock;
	p->clock.frequency = v->init.frequency;
	/* the same id as in the gap slots of the blocks */
	p->durable.recording = v->found[0].recording;
	tb_previous_keep(p, v, first);
	for (i = v->durable; i < v->nr; i++) {
		block = tb_previous_load(v, i);
		if (!block || !tb_previous_fits(v, block))
			continue;
		/* the CPU may be offline now */
		if (tb_recording_add_ring(p, block->cpu))
			continue;
		index = last && last->cpu == block->cpu ? index + 1 : 0;
		r = per_cpu_ptr(p->rings, block->cpu);
		/*
		 * Drop the block if the ring has no buffer left.  If time goes backwards, one of
		 * two blocks is damaged: drop the second.
		 */
		if (index == r->nr ||
		    (index && block->time_start < r->bufs[index - 1].block->time_start)) {
			index--;
			continue;
		}
		if (!index) {
			r->start_time = block->time_start;
			r->rd.end = block->time_start;
			whole = true;
		}
		whole = tb_previous_put(r, index, block, whole);
		last = &v->found[i].block;
		cond_resched();
	}
	p->generation = v->init.generation;
	WRITE_ONCE(p->reason, TB_REASON_REQUEST);
	WRITE_ONCE(p->state, TB_STATE_STOPPED);
	p->flags |= TB_PROVIDER_PREVIOUS;
	mutex_unlock(&p->read_lock);
	cpus_read_unlock();
	mutex_unlock(&p->lock);
}

static int tb_previous_make(const struct tb_previous *v, u32 first)
{
	struct tb_provider *p;
	int err = tb_registry_create("previous", 0, &p);

	if (err)
		return err;
	err = tb_previous_configure(p, v);
	if (!err) {
		tb_previous_fill(p, v, first);
		pr_info("tracebuf: previous: %u blocks of '%*pE', recorded before this boot; nothing is written to reserved memory until 'previous' is removed\n",
			v->nr, (int)strnlen(v->init.provider, sizeof(v->init.provider)),
			v->init.provider);
		/* drop the creator's reference; the list keeps its own */
		tb_provider_put(p, TB_HOLDER_NONE);
		return 0;
	}
	tracebuf_destroy(p);
	return err;
}

/*
 * Find the recording of the previous boot in reserved memory, which no provider uses yet.  If there
 * is one, "previous" gets a copy, and no other recording uses the memory until "previous" is
 * removed.  Without an initialisation record blocks are useless: discard them.
 */
int tb_previous_init(void)
{
	struct tb_previous v = { };
	int err = tb_previous_search(&v);
	u32 first;

	if (!err && v.nr) {
		v.copy = kvmalloc(TB_BUFFER_ELEMENTS_MAX * TB_ELEMENT_SIZE, TB_GFP);
		err = v.copy ? 0 : -ENOMEM;
	}
	if (!err && v.nr) {
		tb_previous_choose(&v);
		first = tb_previous_durable(&v);
		err = first < v.durable ? tb_previous_make(&v, first) : -ENODATA;
		/* before the first call of tb_region_usable() */
		if (!err)
			tb_region.held = true;
		if (err == -ENODATA || err == -EINVAL) {
			pr_warn("tracebuf: reserved memory has %u blocks that cannot be read: new recordings will overwrite them\n",
				v.nr);
			tb_region_drop();
			err = 0;
		}
	}
	kvfree(v.copy);
	kvfree(v.found);
	return err;
}
