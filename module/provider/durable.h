/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The durable buffer: the records that every reader needs, and that no event may overwrite.
 */
#ifndef TB_PROVIDER_DURABLE_H
#define TB_PROVIDER_DURABLE_H

#include <linux/tracebuf.h>

#include "machine/contiguous.h"
#include "machine/reserved.h"

#define TB_DURABLE_BLOCK_MIN	4096	/* bytes of the smallest block */
#define TB_DURABLE_BLOCK_MAX	16384	/* bytes of the largest block */
/* bytes of one contiguous allocation; whole pages, because programs map it */
#define TB_DURABLE_SLOT		max_t(u32, TB_DURABLE_BLOCK_MAX, PAGE_SIZE)
/* largest payload of a durable event */
#define TB_DURABLE_PAYLOAD	(TB_DURABLE_BLOCK_MAX - sizeof(struct tb_block) - TB_ELEMENT_SIZE)

/**
 * struct tb_durable_block - place of a block
 * @at: offset in the buffer, bytes
 * @bytes: its size; while it is being filled, the largest possible size
 */
struct tb_durable_block {
	u32 at;
	u32 bytes;
};

/**
 * struct tb_durable - the durable buffer of a provider
 * @slots: memory, TB_DURABLE_SLOT bytes each
 * @nr_slots: number of @slots
 * @max_slots: limit of @nr_slots
 * @free: numbers of slots without blocks, a stack
 * @nr_free: number of entries in @free
 * @reserve: slots that only the records written at stop may use
 * @region: the slots are in reserved memory (machine/reserved.c)
 * @blocks: places of the existing blocks, by number modulo @nr_blocks
 * @nr_blocks: size of @blocks, a power of two
 * @raw_clock: clock of the time stamps, enum tb_ticks
 * @provider: id of the provider, for block headers
 * @recording: id of the recording, for block headers, see tb_gap.recording
 * @last_time: time of the latest event, trace clock
 * @open_start: start time of the block being filled, trace clock
 * @open_bytes: bytes used in the block being filled, header included
 * @open_events: events in the block being filled
 * @first: number of the oldest existing block
 * @used: blocks begun
 * @sealed: blocks that the reader may acquire: all but perhaps the last one begun
 * @taken: blocks that the reader has acquired
 * @released: blocks that the reader has released
 * @reading: number of the block of which read() has copied a part; ~0: none
 * @bytes: bytes of all blocks ever sealed
 * @state: number of the block that the newest complete state starts with; less than @first
 *	if that block has been recycled
 * @older: as @state, for the previous state; the rings may still need that
 * @state_time: start time of @state, trace clock
 * @state_slots: upper bound of the slots that @state takes
 *
 * A new recording clears the members after @recording.
 *
 * The module never reads the blocks' memory back: something else may have changed reserved memory
 * by mistake, and hibernation may have lost it.
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
void tb_durable_end_state(struct tb_durable *d, u64 number, u64 time);

bool tb_durable_take(struct tb_durable *d, struct tb_durable_block *block);
void tb_durable_rewind(struct tb_durable *d);
void tb_durable_recycle(struct tb_durable *d, u64 number);

u32 tb_durable_growth(const struct tb_durable *d);
void tb_durable_grow(struct tb_durable *d, const struct tb_mem *slots);
struct page *tb_durable_page(const struct tb_durable *d, u64 offset);

/* bytes that the buffer takes in a mapping */
static inline u64 tb_durable_extent(const struct tb_durable *d)
{
	return (u64)d->max_slots * TB_DURABLE_SLOT;
}

static inline u32 tb_durable_used_slots(const struct tb_durable *d)
{
	return d->nr_slots - d->nr_free;
}

/* Return the number of free slots besides the reserve. */
static inline u32 tb_durable_free_slots(const struct tb_durable *d)
{
	return d->nr_free > d->reserve ? d->nr_free - d->reserve : 0;
}

static inline void *tb_durable_address(const struct tb_durable *d, u64 offset)
{
	return tb_page_address(d->slots[offset / TB_DURABLE_SLOT]) + offset % TB_DURABLE_SLOT;
}

#endif /* TB_PROVIDER_DURABLE_H */
