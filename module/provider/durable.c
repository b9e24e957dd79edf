// SPDX-License-Identifier: GPL-2.0-only
/*
 * The durable buffer: a log of blocks of control events, filled one after the
 * other, never overwritten.  A reader gets them before any rolling block.
 *
 * A block is handed out when it is full or sealed; sealing cuts it to the
 * power of two that its contents need, and the next one starts behind it.
 * Memory comes in slots of 16 KiB, or a page if that is more, each physically contiguous; a
 * block lies within one.
 * A log that has grown long starts again with the complete state of
 * things (tb_durable_begin_state()); then what came before that state can be
 * recycled as soon as nothing in the rings is older, slot by slot.
 *
 * Everything here runs in process context under the provider's read_lock, so
 * that a reader who finds nothing new here and then takes rolling blocks, all
 * under the lock, has what describes them.  What comes from other contexts
 * waits in a queue (thread_queue.c).
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "durable.h"
#include "machine/clock.h"
#include "machine/contiguous.h"

/* ---- memory ----------------------------------------------------------- */

/**
 * tb_durable_prepare() - get memory for slots
 * @count: how many
 * @region: of reserved memory
 *
 * Context: process, no lock needed.
 * Return: the slots, zeroed; NULL if not all could be had.
 */
struct page **tb_durable_prepare(u32 count, bool region)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_COMP | __GFP_NOWARN | __GFP_RETRY_MAYFAIL;
	struct page **pages = kvcalloc(count, sizeof(*pages), TB_GFP);
	u32 i;

	if (!pages)
		return NULL;
	for (i = 0; i < count; i++) {
		cond_resched();
		if (region)
			pages[i] = tb_region_alloc(get_order(TB_DURABLE_SLOT));
		else if (!fatal_signal_pending(current))
			pages[i] = alloc_pages(gfp, get_order(TB_DURABLE_SLOT));
		if (!pages[i]) {
			tb_durable_unprepare(pages, count);
			return NULL;
		}
	}
	return pages;
}

/**
 * tb_durable_unprepare() - give back what tb_durable_prepare() got
 * @pages: from there; NULL entries are passed by
 * @count: as there
 *
 * Context: process.
 */
void tb_durable_unprepare(struct page **pages, u32 count)
{
	u32 i;

	for (i = 0; pages && i < count; i++)
		if (pages[i])
			tb_pages_free(pages[i], get_order(TB_DURABLE_SLOT));
	kvfree(pages);
}

/**
 * tb_durable_alloc() - get the memory
 * @d: the buffer, all zero
 * @kib: for descriptions, threads and the like, to begin with
 * @max_kib: what it may grow to, at least @kib
 * @reserve_bytes: on top, for what is written at stop
 * @region: of reserved memory
 *
 * Context: process.
 * Return: 0 or -ENOMEM; tb_durable_free() is fine in either case.
 */
int tb_durable_alloc(struct tb_durable *d, u32 kib, u32 max_kib, u32 reserve_bytes, bool region)
{
	u32 count = DIV_ROUND_UP(kib * 1024, TB_DURABLE_SLOT);
	struct page **pages;

	/* halves: blocks are not filled to the end; one more: the clock's upper half may move */
	d->reserve = DIV_ROUND_UP(reserve_bytes, TB_DURABLE_BLOCK_MAX / 2) + 1;
	d->max_slots = DIV_ROUND_UP(max_kib * 1024, TB_DURABLE_SLOT) + d->reserve;
	count += d->reserve;
	d->nr_blocks = roundup_pow_of_two(d->max_slots * (TB_DURABLE_SLOT / TB_DURABLE_BLOCK_MIN));
	d->slots = kvcalloc(d->max_slots, sizeof(*d->slots), TB_GFP);
	d->free = kvcalloc(d->max_slots, sizeof(*d->free), TB_GFP);
	d->blocks = kvcalloc(d->nr_blocks, sizeof(*d->blocks), TB_GFP);
	d->region = region;
	pages = tb_durable_prepare(count, region);
	if (!d->slots || !d->free || !d->blocks || !pages) {
		tb_durable_unprepare(pages, count);
		return -ENOMEM;
	}
	tb_durable_grow(d, pages, count);
	kvfree(pages);
	return 0;
}

/**
 * tb_durable_free() - give the memory back
 * @d: the buffer, possibly all zero
 *
 * Pages still mapped somewhere live on until they are unmapped.
 *
 * Context: process.
 */
void tb_durable_free(struct tb_durable *d)
{
	tb_durable_unprepare(d->slots, d->nr_slots);
	kvfree(d->free);
	kvfree(d->blocks);
	memset(d, 0, sizeof(*d));
}

static struct tb_durable_block *tb_durable_entry(const struct tb_durable *d, u64 number)
{
	return &d->blocks[number & (d->nr_blocks - 1)];
}

/**
 * tb_durable_growth() - by how many slots the buffer should grow
 * @d: the buffer
 *
 * Return: slots; 0 if it must not or need not.
 */
u32 tb_durable_growth(const struct tb_durable *d)
{
	if (tb_durable_free_slots(d) > d->nr_slots / 4)
		return 0;
	return min(d->max_slots - d->nr_slots, max(d->nr_slots / 2, 4u));
}

/* In how many slots block @number and those after it are. */
static u32 tb_durable_slots_from(const struct tb_durable *d, u64 number)
{
	u32 slot, last = d->max_slots, n = 0;

	for (; number < d->used; number++, last = slot) {
		slot = tb_durable_entry(d, number)->at / TB_DURABLE_SLOT;
		n += slot != last;
	}
	return n;
}

/**
 * tb_durable_grow() - add slots
 * @d: the buffer
 * @pages: from tb_durable_prepare(); taken over, the array is not
 * @count: how many there are
 *
 * Context: under read_lock, and map_lock if it can be mapped.
 * Return: how many were added; the others are still the caller's, set to
 * come first in @pages.
 */
u32 tb_durable_grow(struct tb_durable *d, struct page **pages, u32 count)
{
	u32 i, n = min(count, d->max_slots - d->nr_slots);

	for (i = 0; i < n; i++) {
		d->slots[d->nr_slots] = pages[i];
		/* lowest on top of the stack */
		memmove(d->free + 1, d->free, d->nr_free * sizeof(*d->free));
		d->free[0] = d->nr_slots++;
		d->nr_free++;
	}
	memmove(pages, pages + n, (count - n) * sizeof(*pages));
	return n;
}

/**
 * tb_durable_page() - the page at an offset of the buffer
 * @d: the buffer
 * @offset: of the mapping's part that shows it
 *
 * Context: under map_lock.
 * Return: the page, or NULL if there is none yet.
 */
struct page *tb_durable_page(const struct tb_durable *d, u64 offset)
{
	u64 slot = offset / TB_DURABLE_SLOT;

	if (slot >= d->nr_slots)
		return NULL;
	return d->slots[slot] + offset % TB_DURABLE_SLOT / PAGE_SIZE;
}

/* ---- writing ---------------------------------------------------------- */

/**
 * tb_durable_reset() - forget everything in it
 * @d: the buffer
 * @raw_clock: for the time stamps
 * @provider: id for the headers
 * @recording: likewise
 *
 * Context: under read_lock.
 */
void tb_durable_reset(struct tb_durable *d, u8 raw_clock, u32 provider, u64 recording)
{
	u32 i;

	d->raw_clock = raw_clock;
	d->provider = provider;
	d->recording = recording;
	d->last_time = 0;
	d->first = 0;
	d->used = 0;
	d->sealed = 0;
	d->taken = 0;
	d->released = 0;
	d->reading = ~0ull;
	d->bytes = 0;
	d->state = 0;
	d->older = 0;
	d->state_time = 0;
	d->state_slots = 0;
	d->nr_free = d->nr_slots;
	for (i = 0; i < d->nr_slots; i++)
		d->free[i] = d->nr_slots - 1 - i;
}

static struct tb_block *tb_durable_open_block(const struct tb_durable *d)
{
	return tb_durable_address(d, tb_durable_entry(d, d->used - 1)->at);
}

/*
 * Where the next block can start, and how large it can become: behind the last one, or in a
 * new slot if @bytes do not fit there.
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
 * tb_durable_append_at() - write a control event that happened before
 * @d: the buffer
 * @time: when; made later than the last one if it is not
 * @id: enum tb_control_event
 * @payload: what follows the first element
 * @bytes: how much, at most TB_DURABLE_PAYLOAD
 * @last: may use the reserve
 *
 * Context: under read_lock.
 * Return: 0, -ENOSPC if it is full, -EMSGSIZE.
 */
int tb_durable_append_at(struct tb_durable *d, u64 time, u32 id, const void *payload, u32 bytes,
			 bool last)
{
	u32 n = 1 + DIV_ROUND_UP(bytes, TB_ELEMENT_SIZE);
	struct tb_composite *c;
	struct tb_block *block;
	int err;

	if (bytes > TB_DURABLE_PAYLOAD)
		return -EMSGSIZE;
	time = max(time, d->last_time);
	/* the reader reconstructs the upper half from the block's start */
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

/**
 * tb_durable_append() - write a control event of now
 * @d: the buffer
 * @id: enum tb_control_event
 * @payload: what follows the first element
 * @bytes: how much, at most TB_DURABLE_PAYLOAD
 * @last: may use the reserve
 *
 * Context: under read_lock.
 * Return: as tb_durable_append_at().
 */
int tb_durable_append(struct tb_durable *d, u32 id, const void *payload, u32 bytes, bool last)
{
	return tb_durable_append_at(d, tb_clock_read(d->raw_clock), id, payload, bytes, last);
}

/**
 * tb_durable_seal() - let what is there be handed out
 * @d: the buffer
 *
 * Context: under read_lock.
 */
void tb_durable_seal(struct tb_durable *d)
{
	struct tb_durable_block *at;
	struct tb_block *block;
	u64 now;

	if (d->sealed == d->used)
		return;
	at = tb_durable_entry(d, d->used - 1);
	block = tb_durable_open_block(d);
	at->bytes = max_t(u32, roundup_pow_of_two(d->open_bytes), TB_DURABLE_BLOCK_MIN);
	now = tb_clock_read(d->raw_clock);
	block->time_end = max(now, d->last_time);
	block->size_log2 = ilog2(at->bytes);
	block->flags = TB_BLOCK_COMPLETE;
	/* for whoever keeps the headers of the rings, in any context */
	WRITE_ONCE(d->bytes, d->bytes + at->bytes);
	d->sealed = d->used;
}

/**
 * tb_durable_begin_state() - the complete state is written from here on
 * @d: the buffer
 * @number: out: of the block it starts with
 * @time: out: when that was
 *
 * Context: under read_lock.
 */
void tb_durable_begin_state(struct tb_durable *d, u64 *number, u64 *time)
{
	tb_durable_seal(d);
	*number = d->used;
	*time = tb_clock_read(d->raw_clock);
}

/**
 * tb_durable_end_state() - the complete state has been written
 * @d: the buffer
 * @number: from tb_durable_begin_state()
 * @time: likewise
 *
 * Context: under read_lock.
 */
void tb_durable_end_state(struct tb_durable *d, u64 number, u64 time)
{
	d->older = d->state;
	d->state = number;
	d->state_time = time;
	/* what was before it may have been recycled meanwhile */
	d->state_slots = tb_durable_slots_from(d, number) + 1;
}

/* ---- handing out ------------------------------------------------------ */

/**
 * tb_durable_take() - the next sealed block for the reader
 * @d: the buffer
 * @block: out: where it is
 *
 * Context: under read_lock.
 * Return: false if there is no more.
 */
bool tb_durable_take(struct tb_durable *d, struct tb_durable_block *block)
{
	if (d->taken == d->sealed)
		return false;
	*block = *tb_durable_entry(d, d->taken);
	WRITE_ONCE(d->taken, d->taken + 1);
	return true;
}

/**
 * tb_durable_whole() - is all there that a new reader needs?
 * @d: the buffer
 *
 * Context: under read_lock.
 * Return: false if a complete state must be written first.
 */
bool tb_durable_whole(const struct tb_durable *d)
{
	return !d->first || d->state >= d->first;
}

/**
 * tb_durable_rewind() - a new reader: from the oldest complete state on
 * @d: the buffer, whole
 *
 * Context: under read_lock.
 */
void tb_durable_rewind(struct tb_durable *d)
{
	if (!d->first)
		d->taken = 0;
	else
		d->taken = d->older >= d->first ? d->older : d->state;
	d->released = d->taken;
}

/**
 * tb_durable_recycle() - blocks are not needed any more
 * @d: the buffer
 * @number: those before this one
 *
 * The last block stays: the next one may start behind it, in the same slot.
 *
 * Context: under read_lock; the reader, if there is one, has released them.
 */
void tb_durable_recycle(struct tb_durable *d, u64 number)
{
	while (d->first < number && d->first + 1 < d->used) {
		u32 slot = tb_durable_entry(d, d->first)->at / TB_DURABLE_SLOT;

		if (tb_durable_entry(d, ++d->first)->at / TB_DURABLE_SLOT != slot)
			d->free[d->nr_free++] = slot;
	}
	d->taken = max(d->taken, d->first);
	d->released = max(d->released, d->first);
}
