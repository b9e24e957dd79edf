// SPDX-License-Identifier: GPL-2.0-only
/*
 * The durable buffer: a log of blocks of control events, which the reader gets before any rolling
 * block.  The reader can acquire sealed blocks.  Sealing cuts a block to the power of two that its
 * contents need; the next block starts behind it.  A block lies within one slot of TB_DURABLE_SLOT
 * bytes, physically contiguous.  A long log starts again with the complete state
 * (tb_durable_end_state()); retention.c recycles the slots before that state.
 *
 * Callers: provider/, select/, recording/, reader/, crash/, in process context under read_lock.  A
 * reader that finds no new durable block, and acquires rolling blocks under the same lock, has all
 * records that describe them.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "durable.h"
#include "provider.h"

/* The lock of the provider that the buffer is a part of. */
static void tb_durable_assert_locked(const struct tb_durable *d)
{
	lockdep_assert_held(&container_of(d, struct tb_provider, durable)->read_lock);
}

/* ---- memory ----------------------------------------------------------- */

static void tb_durable_add_slots(struct tb_durable *d, const struct tb_mem *slots)
{
	u32 i;

	for (i = 0; i < slots->nr_chunks; i++) {
		d->slots[d->nr_slots] = slots->chunks[i];
		/* the lowest number is on top of the stack */
		memmove(d->free + 1, d->free, d->nr_free * sizeof(*d->free));
		d->free[0] = d->nr_slots++;
		d->nr_free++;
	}
	kvfree(slots->chunks);
}

/**
 * tb_durable_alloc() - allocate a durable buffer
 * @d: the buffer, all zero
 * @kib: initial size in KiB
 * @max_kib: limit of growth in KiB, at least @kib
 * @reserve_bytes: additional memory for the records that stop writes
 * @region: use reserved memory
 *
 * Context: process.
 * Return: 0 or -ENOMEM; the caller may call tb_durable_free() in either case.
 */
int tb_durable_alloc(struct tb_durable *d, u32 kib, u32 max_kib, u32 reserve_bytes, bool region)
{
	u32 count = DIV_ROUND_UP(kib * 1024, TB_DURABLE_SLOT);
	struct tb_mem slots = { .region = region };

	/* blocks may be half empty; one more, as a change of the clock's upper half seals one */
	d->reserve = DIV_ROUND_UP(reserve_bytes, TB_DURABLE_BLOCK_MAX / 2) + 1;
	d->max_slots = DIV_ROUND_UP(max_kib * 1024, TB_DURABLE_SLOT) + d->reserve;
	count += d->reserve;
	d->nr_blocks = roundup_pow_of_two(d->max_slots * (TB_DURABLE_SLOT / TB_DURABLE_BLOCK_MIN));
	d->slots = kvcalloc(d->max_slots, sizeof(*d->slots), TB_GFP);
	d->free = kvcalloc(d->max_slots, sizeof(*d->free), TB_GFP);
	d->blocks = kvcalloc(d->nr_blocks, sizeof(*d->blocks), TB_GFP);
	d->region = region;
	if (!d->slots || !d->free || !d->blocks ||
	    tb_mem_alloc(&slots, count, TB_DURABLE_SLOT, NUMA_NO_NODE, NULL))
		return -ENOMEM;
	tb_durable_add_slots(d, &slots);
	return 0;
}

/* Free the memory, if any.  Mapped pages stay until they are unmapped. */
void tb_durable_free(struct tb_durable *d)
{
	u32 i;

	for (i = 0; i < d->nr_slots; i++)
		tb_pages_free(d->slots[i], get_order(TB_DURABLE_SLOT));
	kvfree(d->slots);
	kvfree(d->free);
	kvfree(d->blocks);
	memset(d, 0, sizeof(*d));
}

static struct tb_durable_block *tb_durable_entry(const struct tb_durable *d, u64 number)
{
	return &d->blocks[number & (d->nr_blocks - 1)];
}

/* Return by how many slots to grow; 0: the buffer is at its limit or has enough free slots. */
u32 tb_durable_growth(const struct tb_durable *d)
{
	tb_durable_assert_locked(d);
	if (tb_durable_free_slots(d) > d->nr_slots / 4)
		return 0;
	return min(d->max_slots - d->nr_slots, max(d->nr_slots / 2, 4u));
}

/* Return the number of slots that contain block @number and later blocks. */
static u32 tb_durable_slots_from(const struct tb_durable *d, u64 number)
{
	u32 slot, last = d->max_slots, n = 0;

	for (; number < d->used; number++, last = slot) {
		slot = tb_durable_entry(d, number)->at / TB_DURABLE_SLOT;
		n += slot != last;
	}
	return n;
}

/*
 * Add slots, at most tb_durable_growth().  The buffer takes over the memory of @slots, blocks of
 * TB_DURABLE_SLOT bytes.
 */
void tb_durable_grow(struct tb_durable *d, const struct tb_mem *slots)
{
	tb_durable_assert_locked(d);
	lockdep_assert_held(&container_of(d, struct tb_provider, durable)->map_lock);
	tb_durable_add_slots(d, slots);
}

/* Return the page at @offset of the buffer; NULL if it has not grown that far. */
struct page *tb_durable_page(const struct tb_durable *d, u64 offset)
{
	u64 slot = offset / TB_DURABLE_SLOT;

	lockdep_assert_held(&container_of(d, struct tb_provider, durable)->map_lock);
	if (slot >= d->nr_slots)
		return NULL;
	return d->slots[slot] + offset % TB_DURABLE_SLOT / PAGE_SIZE;
}

/* ---- writing ---------------------------------------------------------- */

/* Empty the buffer for a new recording. */
void tb_durable_reset(struct tb_durable *d, u8 raw_clock, u32 provider, u64 recording)
{
	u32 i;

	tb_durable_assert_locked(d);
	d->raw_clock = raw_clock;
	d->provider = provider;
	d->recording = recording;
	memset_after(d, 0, recording);
	d->reading = ~0ull;
	d->nr_free = d->nr_slots;
	for (i = 0; i < d->nr_slots; i++)
		d->free[i] = d->nr_slots - 1 - i;
}

static struct tb_block *tb_durable_open_block(const struct tb_durable *d)
{
	return tb_durable_address(d, tb_durable_entry(d, d->used - 1)->at);
}

/*
 * Finds the place and the largest size of the next block: behind the last block, or in a new slot
 * if @bytes do not fit there.  Uses the reserve only with @last.
 */
static int tb_durable_room(struct tb_durable *d, u32 bytes, bool last, struct tb_durable_block *at)
{
	u32 end;

	if (d->used - d->first == d->nr_blocks)
		return -ENOSPC;
	if (d->used > d->first) {
		*at = *tb_durable_entry(d, d->used - 1);
		end = at->at + at->bytes;
		if (end % TB_DURABLE_SLOT) {
			at->at = end;
			at->bytes = rounddown_pow_of_two(TB_DURABLE_SLOT - end % TB_DURABLE_SLOT);
			at->bytes = min_t(u32, at->bytes, TB_DURABLE_BLOCK_MAX);
			if (bytes <= at->bytes)
				return 0;
		}
	}
	if (d->nr_free <= (last ? 0 : d->reserve))
		return -ENOSPC;
	at->at = d->free[--d->nr_free] * TB_DURABLE_SLOT;
	at->bytes = TB_DURABLE_BLOCK_MAX;
	return 0;
}

static int tb_durable_begin(struct tb_durable *d, u64 time, u32 bytes, bool last)
{
	struct tb_durable_block at;
	struct tb_block *block;
	int err = tb_durable_room(d, sizeof(*block) + bytes, last, &at);

	if (err)
		return err;
	*tb_durable_entry(d, d->used) = at;
	block = tb_durable_address(d, at.at);
	memset(block, 0, at.bytes);
	block->magic = TB_BLOCK_MAGIC;
	block->version = TB_BLOCK_VERSION;
	block->kind = TB_BLOCK_DURABLE;
	block->size_log2 = ilog2(at.bytes);
	block->provider = d->provider;
	block->tid = current->pid;
	block->sequence = d->used++;
	block->time_start = time;
	block->data = sizeof(*block);
	block->overwritten = d->recording;
	d->open_start = time;
	d->open_bytes = sizeof(*block);
	d->open_events = 0;
	return 0;
}

/**
 * tb_durable_append_at() - write a control event with a given time
 * @d: the buffer
 * @time: trace clock; an earlier time than that of the latest record is raised to it
 * @id: enum tb_control_event
 * @payload: the payload, after the first element
 * @bytes: size of @payload, at most TB_DURABLE_PAYLOAD
 * @last: the record may use the reserve
 *
 * Context: process, under read_lock.
 * Return: 0; -ENOSPC the buffer is full; -EMSGSIZE.
 */
int tb_durable_append_at(struct tb_durable *d, u64 time, u32 id, const void *payload, u32 bytes,
			 bool last)
{
	u32 n = 1 + DIV_ROUND_UP(bytes, TB_ELEMENT_SIZE);
	struct tb_composite *c;
	struct tb_block *block;
	int err;

	tb_durable_assert_locked(d);
	if (bytes > TB_DURABLE_PAYLOAD)
		return -EMSGSIZE;
	time = max(time, d->last_time);
	/* events have only the clock's lower half; readers take the upper half from the block */
	if (d->used > d->sealed &&
	    (d->open_bytes + n * TB_ELEMENT_SIZE > tb_durable_entry(d, d->used - 1)->bytes ||
	     time >> 32 != d->open_start >> 32))
		tb_durable_seal(d);
	if (d->used == d->sealed) {
		err = tb_durable_begin(d, time, n * TB_ELEMENT_SIZE, last);
		if (err)
			return err;
	}
	block = tb_durable_open_block(d);
	c = (void *)block + d->open_bytes;
	c->time = (u32)time;
	c->tid = current->pid;
	c->length = bytes;
	c->context = 0;
	memcpy(c + 1, payload, bytes);
	c->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, n, d->used - 1);
	d->open_bytes += n * TB_ELEMENT_SIZE;
	block->data = d->open_bytes;
	block->events = ++d->open_events;
	d->last_time = time;
	return 0;
}

/* Write a control event with the current time, see tb_durable_append_at(). */
int tb_durable_append(struct tb_durable *d, u32 id, const void *payload, u32 bytes, bool last)
{
	tb_durable_assert_locked(d);
	return tb_durable_append_at(d, tb_clock_read(d->raw_clock), id, payload, bytes, last);
}

/* End the current block, so that the reader can take it. */
void tb_durable_seal(struct tb_durable *d)
{
	struct tb_durable_block *at;
	struct tb_block *block;
	u64 now;

	tb_durable_assert_locked(d);
	if (d->sealed == d->used)
		return;
	at = tb_durable_entry(d, d->used - 1);
	block = tb_durable_open_block(d);
	at->bytes = max_t(u32, roundup_pow_of_two(d->open_bytes), TB_DURABLE_BLOCK_MIN);
	now = tb_clock_read(d->raw_clock);
	block->time_end = max(now, d->last_time);
	block->size_log2 = ilog2(at->bytes);
	block->flags = TB_BLOCK_COMPLETE;
	/* tb_header_totals() reads it in any context */
	WRITE_ONCE(d->bytes, d->bytes + at->bytes);
	d->sealed = d->used;
}

/* The complete state has been written: it starts with block @number, at @time. */
void tb_durable_end_state(struct tb_durable *d, u64 number, u64 time)
{
	tb_durable_assert_locked(d);
	d->older = d->state;
	d->state = number;
	d->state_time = time;
	/* not the growth of the used slots: the recorder may have recycled older slots meanwhile */
	d->state_slots = tb_durable_slots_from(d, number) + 1;
}

/* ---- reading ---------------------------------------------------------- */

/* Acquire the next sealed block for the reader.  Return false if the reader has all of them. */
bool tb_durable_take(struct tb_durable *d, struct tb_durable_block *block)
{
	tb_durable_assert_locked(d);
	if (d->taken == d->sealed)
		return false;
	*block = *tb_durable_entry(d, d->taken);
	WRITE_ONCE(d->taken, d->taken + 1);
	return true;
}

/* Let a new reader start at the oldest complete state; the buffer has that, or all blocks. */
void tb_durable_rewind(struct tb_durable *d)
{
	tb_durable_assert_locked(d);
	if (!d->first)
		d->taken = 0;
	else
		d->taken = d->older >= d->first ? d->older : d->state;
	d->released = d->taken;
}

/*
 * Discard the blocks before block @number, and free their slots.  If there is a reader, it has
 * released these blocks.  The last block stays: the next one may start behind it, in the same slot.
 */
void tb_durable_recycle(struct tb_durable *d, u64 number)
{
	tb_durable_assert_locked(d);
	while (d->first < number && d->first + 1 < d->used) {
		u32 slot = tb_durable_entry(d, d->first)->at / TB_DURABLE_SLOT;

		if (tb_durable_entry(d, ++d->first)->at / TB_DURABLE_SLOT != slot)
			d->free[d->nr_free++] = slot;
	}
	d->taken = max(d->taken, d->first);
	d->released = max(d->released, d->first);
}
