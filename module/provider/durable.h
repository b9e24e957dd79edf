/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The durable buffer: what every reader needs and must not lose.
 */
#ifndef TB_DURABLE_H
#define TB_DURABLE_H

#include <linux/mm.h>
#include <linux/tracebuf.h>
#include <linux/types.h>

#include "machine/reserved.h"

#define TB_DURABLE_BLOCK_MIN	4096	/* bytes of the smallest block */
#define TB_DURABLE_BLOCK_MAX	16384	/* and of the largest */
/* bytes of memory handled as one, contiguous; whole pages, for it is mapped */
#define TB_DURABLE_SLOT		max_t(u32, TB_DURABLE_BLOCK_MAX, PAGE_SIZE)
/* largest payload of a durable event */
#define TB_DURABLE_PAYLOAD	(TB_DURABLE_BLOCK_MAX - sizeof(struct tb_block) - TB_ELEMENT_SIZE)

/**
 * struct tb_durable_block - where a block is
 * @at: offset in the buffer
 * @bytes: its size; while it is open, the most it can become
 */
struct tb_durable_block {
	u32 at;
	u32 bytes;
};

/**
 * struct tb_durable - the durable buffer of a provider
 * @slots: memory, TB_DURABLE_SLOT bytes each
 * @nr_slots: how many there are
 * @max_slots: how many there may be
 * @free: numbers of slots without blocks, a stack
 * @nr_free: how many
 * @reserve: slots kept back for what must be written at stop
 * @region: slots are of reserved memory (machine/reserved.c)
 * @blocks: of the blocks there are, by number modulo @nr_blocks
 * @nr_blocks: room there, a power of two
 * @raw_clock: for the time stamps, enum tb_ticks
 * @provider: id for the headers
 * @recording: likewise, see tb_gap.recording
 * @last_time: of the latest event
 * @open_start: when the block that is being filled was begun
 * @open_bytes: used there, header included
 * @open_events: events there
 * @first: number of the oldest block there is
 * @used: blocks begun
 * @sealed: blocks that may be handed out; the last one begun may not yet
 * @taken: blocks the reader has got
 * @released: blocks it is done with
 * @reading: number of the block that read() is in the middle of; ~0: none
 * @bytes: of sealed blocks, all there ever were
 * @state: number of the block that the newest complete state starts with; below @first
 *	if that has been recycled since
 * @older: likewise of the complete state before that; the rings may still need it
 * @state_time: when @state was begun
 * @state_slots: slots it took, at most
 *
 * What is in the blocks' memory is never read back: reserved memory may have another owner, who
 * ought not to be, or have been lost in hibernation.
 *
 * Numbers of blocks only grow: first <= released <= taken <= sealed <= used.
 */
struct tb_durable {
	struct page **slots;
	u32 nr_slots;
	u32 max_slots;
	u32 *free;
	u32 nr_free;
	u32 reserve;
	bool region;
	struct tb_durable_block *blocks;
	u32 nr_blocks;
	u32 provider;
	u8 raw_clock;
	u64 recording;
	u64 last_time;
	u64 open_start;
	u32 open_bytes;
	u32 open_events;
	u64 first;
	u64 used;
	u64 sealed;
	u64 taken;
	u64 released;
	u64 reading;
	u64 bytes;
	u64 state;
	u64 older;
	u64 state_time;
	u32 state_slots;
};

int tb_durable_alloc(struct tb_durable *d, u32 kib, u32 max_kib, u32 reserve_bytes, bool region);
void tb_durable_free(struct tb_durable *d);
void tb_durable_reset(struct tb_durable *d, u8 raw_clock, u32 provider, u64 recording);

int tb_durable_append(struct tb_durable *d, u32 id, const void *payload, u32 bytes, bool last);
int tb_durable_append_at(struct tb_durable *d, u64 time, u32 id, const void *payload, u32 bytes,
			 bool last);
void tb_durable_seal(struct tb_durable *d);
void tb_durable_begin_state(struct tb_durable *d, u64 *number, u64 *time);
void tb_durable_end_state(struct tb_durable *d, u64 number, u64 time);

bool tb_durable_take(struct tb_durable *d, struct tb_durable_block *block);
bool tb_durable_whole(const struct tb_durable *d);
void tb_durable_rewind(struct tb_durable *d);
void tb_durable_recycle(struct tb_durable *d, u64 number);

u32 tb_durable_growth(const struct tb_durable *d);
struct page **tb_durable_prepare(u32 count, bool region);
u32 tb_durable_grow(struct tb_durable *d, struct page **pages, u32 count);
void tb_durable_unprepare(struct page **pages, u32 count);
struct page *tb_durable_page(const struct tb_durable *d, u64 offset);

/* what a mapping shows of it, bytes */
static inline u64 tb_durable_extent(const struct tb_durable *d)
{
	return (u64)d->max_slots * TB_DURABLE_SLOT;
}

static inline u32 tb_durable_used_slots(const struct tb_durable *d)
{
	return d->nr_slots - d->nr_free;
}

/* without what is kept back for the end */
static inline u32 tb_durable_free_slots(const struct tb_durable *d)
{
	return d->nr_free > d->reserve ? d->nr_free - d->reserve : 0;
}

static inline void *tb_durable_address(const struct tb_durable *d, u64 offset)
{
	return tb_page_address(d->slots[offset / TB_DURABLE_SLOT]) + offset % TB_DURABLE_SLOT;
}

#endif /* TB_DURABLE_H */
