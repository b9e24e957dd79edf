/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of one CPU: its state, and the hot path inline.  The top of writer.c has the algorithm
 * and the argument for it.
 */
#ifndef TB_RING_RING_H
#define TB_RING_RING_H

#include "arch.h"
#include "paths.h"

/*
 * tb_cpu_ring.head, from the low bits up: elements used in the current buffer (17 bits; the
 * capacity when it is closed), number of the current buffer (12), low bits of its sequence number
 * (14), epoch: the clock above its low 32 bits (21).
 */
#define TB_HEAD_INDEX_BITS	17
#define TB_HEAD_BUFFER_BITS	12
#define TB_HEAD_SEQ_BITS	14
#define TB_HEAD_EPOCH_BITS	21
#define TB_HEAD_BUFFER_SHIFT	TB_HEAD_INDEX_BITS
#define TB_HEAD_SEQ_SHIFT	(TB_HEAD_BUFFER_SHIFT + TB_HEAD_BUFFER_BITS)
#define TB_HEAD_EPOCH_SHIFT	(TB_HEAD_SEQ_SHIFT + TB_HEAD_SEQ_BITS)
#define TB_HEAD_INDEX_MASK	((1u << TB_HEAD_INDEX_BITS) - 1)
#define TB_HEAD_BUFFER_MASK	((1u << TB_HEAD_BUFFER_BITS) - 1)
#define TB_HEAD_SEQ_MASK	((1u << TB_HEAD_SEQ_BITS) - 1)
#define TB_HEAD_EPOCH_MASK	((1u << TB_HEAD_EPOCH_BITS) - 1)

/* tb_buf.state: sequence number << 3 | one of these */
enum tb_buf_state {
	TB_BUF_FREE	= 0,	/* without a block */
	TB_BUF_CLAIMED	= 1,	/* a writer wants to switch to it */
	TB_BUF_WRITING	= 2,	/* current, or left with commits outstanding */
	TB_BUF_READY	= 3,	/* complete; the reader has not taken it */
	TB_BUF_HELD	= 4,	/* the reader has it */
};

#define TB_BUF_STATE_BITS	3
#define TB_BUF_STATE(s)		((enum tb_buf_state)((s) & 7))
#define TB_BUF_SEQ(s)		((s) >> TB_BUF_STATE_BITS)
#define TB_BUF_WORD(seq, st)	((u64)(seq) << TB_BUF_STATE_BITS | (st))

/**
 * struct tb_rd - the reader's accounts of a ring
 * @next: sequence number expected next
 * @overwritten: overwritten events that blocks have reported so far
 * @dropped: dropped events that blocks have reported so far
 * @oversize: the oversize events in @dropped
 * @end: tb_buf.lost_from of the last settled block that the reader acquired
 * @unsettled: 1 if @overwritten was read during an overwriting, plus TB_RD_PUT_BACK for each block
 *	below @next that the reader put back and has not acquired again
 */
struct tb_rd {
	u64 next;
	u64 overwritten;
	u64 dropped;
	u64 oversize;
	u64 end;
	u32 unsettled;
};

#define TB_RD_PUT_BACK	2

/* tb_buf.copied_events can count all events of a block */
#if TB_BUFFER_ELEMENTS_MAX - TB_BLOCK_FIRST_ELEMENT > 0xffff
#error
#endif

/* tb_buf.committed of a buffer of @capacity elements without commits */
#define TB_COMMITTED_NONE(capacity)	(-(u64)(capacity) << 32)

/* tb_buf.later: above the count of events */
#define TB_LATER_LAP		0x1000000000000ull

/**
 * struct tb_buf - the descriptor of a buffer
 * @block: memory of the buffer, starting with the block header
 * @committed: high half: elements committed in this lap minus the capacity, so negative until all
 *	are committed; low half: events committed
 * @closed: bytes used if the buffer was closed early, else 0; bit 0: a flush closed it
 * @events: events in the block once it is READY
 * @later: events of later blocks that were overwritten while a block was in the buffer, summed over
 *	all laps; each claim adds TB_LATER_LAP
 * @later_open: @later when the buffer was opened
 * @lost_from: later blocks tell only losses at or after this time: the time when the block was
 *	complete; if events were dropped since it was opened, the time of the first drop; if
 *	head had moved on before the block was complete, the time when it was opened
 * @state: TB_BUF_WORD; shared with the reader's CPU
 * @gap_filled: the reader put the block back, so its gap slot is filled in
 * @settled: the gap slot tells all events that are missing before the block
 * @copied_events: events in the block that a snapshot has copied and put back
 * @copied: low half of the number of that block plus one; 0: no such block
 * @rd: the reader's accounts before it acquired the block
 *
 * Writers use the members up to @lost_from often.  So @state is in another cache line: a reader
 * that polls it does not take the first line away from them.
 */
struct tb_buf {
	struct tb_block *block;
	tb_local_t committed;
	u32 closed;
	u32 events;
	u64 later;
	u64 later_open;
	u64 lost_from;

	u64 state __aligned(64);
	u8 gap_filled;
	u8 settled;
	u16 copied_events;
	u32 copied;
	struct tb_rd rd;
} __aligned(64);

/**
 * struct tb_cpu_ring - the ring of one CPU
 * @head: see above; the only word that reserving writes
 * @bufs: descriptors of @nr buffers
 * @capacity: elements of a buffer
 * @watermark: the level at which the reader is woken, elements
 * @nr: number of buffers
 * @max: largest event, elements
 * @raw_clock: enum tb_ticks
 * @overwrite: policy overwrite, else drop
 * @provider: id of the provider, for block headers
 * @cpu: number of the CPU
 * @owner: the provider, for tb_ring_notify()
 * @header: for tb_ring_opened() and tb_ring_filled()
 * @start_time: when recording began, trace clock
 * @overwrite_last: number of the last block that may overwrite another; ~0: no limit
 * @magic: TB_RING_IMAGE_MAGIC, by which a search of a memory image finds the ring.  The search
 *	needs @head: only that tells where events end, and whether an event in its place is new or
 *	of 64 blocks before
 * @recording: id of the recording, for the blocks' gap slots
 *
 * The members up to @oversize have the layout of struct tb_ring_image.  They never straddle a page,
 * because the pages of per-CPU memory may lie apart in the image.
 *
 * Only slow paths use the members below.  Totals count events.
 * @recorded: events in completed buffers, since the start
 * @overwritten: events of @recorded that were overwritten
 * @dropped: events not recorded: no room, or larger than @max
 * @oversize: events of @dropped that are larger than @max
 * @marks: how often the watermark was crossed
 * @retries: reservations repeated because a nested context recorded an event in between
 * @ow_started: overwritings begun
 * @ow_done: overwritings finished; equal to @ow_started while @overwritten can be trusted
 * @drop_first: not later than the first drop that no block tells; ~0: none
 * @drop_last: time of the last drop
 * @full_seen: the last walk that found no buffer: @releases << 1 before it; bit 0: the walk could
 *	overwrite, and found all buffers HELD
 * @passed: number plus one of the highest block, incomplete or held, that a walk passed by; 0: all
 *	such blocks are gone
 * @refused: a second count of @dropped, to detect damage (tb_ring_repair())
 * @paused: writers open no buffer, and drop events that do not fit into the current one
 * @releases: reader's: count of buffers released or put back; each may give room
 * @rd_bufs: reader's: copy of @bufs, away from @head
 * @rd_nr: reader's: copy of @nr, away from @head
 * @held: reader's: number of HELD buffers
 * @pinned: reader's: number of buffers HELD for a snapshot that has not acquired them yet
 * @rd: reader's accounts
 * @delivered: reader's: events released
 * @delivered_bytes: reader's: bytes released
 * @reported: reader's: largest number of recorded events that tb_provider_stats() has returned
 * @from: reader's: the lowest sequence number that it may acquire
 * @to: reader's: it may acquire only lower sequence numbers; ~0: no limit
 * @left: reader's: sequence number plus one of the oldest incomplete block that the last
 *	tb_ring_stuck() found; 0: none
 * @kept: reader's: its accounts before a snapshot
 */
struct tb_cpu_ring {
	u64 head;
	struct tb_buf *bufs;
	u32 capacity;
	u32 watermark;
	u32 nr;
	u32 max;
	u8 raw_clock;
	u8 overwrite;
	u16 provider;
	u32 cpu;
	void *owner;
	struct tb_ring_header *header;
	u64 start_time;
	u64 overwrite_last;
	u64 magic;
	u64 recording;

	tb_local_t recorded __aligned(64);
	tb_local_t overwritten;
	tb_local_t dropped;
	tb_local_t oversize;
	tb_local_t marks;
	tb_local_t retries;
	tb_local_t ow_started;
	tb_local_t ow_done;
	u64 drop_first;
	u64 drop_last;
	u64 full_seen;
	u64 passed;
	tb_local_t refused;
	u32 paused;

	u64 releases __aligned(64);
	struct tb_buf *rd_bufs;
	u32 rd_nr;
	u32 held;
	u32 pinned;
	struct tb_rd rd;
	u64 delivered;
	u64 delivered_bytes;
	u64 reported;
	u64 from;
	u64 to;
	u64 left;
	struct tb_rd kept;
} __aligned(TB_RING_IMAGE_ALIGN);

/**
 * struct tb_slot - a reservation
 * @element: the first of @length elements, which belong to the caller until the commit
 * @ring: the ring
 * @buf: descriptor of the buffer
 * @time: low half of the time stamp
 * @seq: low bits of the buffer's sequence number, for TB_HEAD()
 * @length: number of elements
 * @head: for the caller: the first word that the commit will write
 */
struct tb_slot {
	struct tb_element *element;
	struct tb_cpu_ring *ring;
	struct tb_buf *buf;
	u32 time;
	u32 seq;
	u32 length;
	u32 head;
};

/**
 * struct tb_place - place of a reservation; two words, so that registers can pass it
 * @head: as tb_cpu_ring.head, but with the index of the first element; 0: no room
 * @time: time stamp
 */
struct tb_place {
	u64 head;
	u64 time;
};

/**
 * struct tb_ring_stats - totals of a ring since the start of the recording
 * @recorded: events recorded, also those in incomplete blocks
 * @delivered: events in blocks that the reader has released
 * @overwritten: events of @recorded that were overwritten
 * @dropped: events that found no room, or were too large
 * @oversize: events of @dropped that were too large
 * @bytes: bytes of the buffers that the reader has released
 * @blocks: number of blocks opened
 * @marks: how often the watermark was crossed
 * @retries: reservations repeated because of a nested context
 * @ready: number of READY buffers now
 * @held: number of HELD buffers now
 * @fill: elements used in the current buffer; all if it is closed
 */
struct tb_ring_stats {
	u64 recorded;
	u64 delivered;
	u64 overwritten;
	u64 dropped;
	u64 oversize;
	u64 bytes;
	u64 blocks;
	u64 marks;
	u64 retries;
	u32 ready;
	u32 held;
	u32 fill;
};

/**
 * struct tb_ring_end - losses after the last closed block of a ring
 * @open: the ring has or had an open buffer, so the other members are not valid
 * @counted: @recorded and @overwritten are complete: no writer is in the middle of an event
 * @blocks: number of the last closed block plus one
 * @recorded: as in struct tb_ring_stats
 * @overwritten: as in struct tb_ring_stats
 * @dropped: as in struct tb_ring_stats
 * @oversize: as in struct tb_ring_stats
 * @first: not later than the first drop that no block tells; 0: none
 * @last: time of the last drop
 */
struct tb_ring_end {
	bool open;
	bool counted;
	u64 blocks;
	u64 recorded;
	u64 overwritten;
	u64 dropped;
	u64 oversize;
	u64 first;
	u64 last;
};

static inline u64 tb_head(u64 epoch, u64 seq, u32 buffer, u32 index)
{
	return (epoch & TB_HEAD_EPOCH_MASK) << TB_HEAD_EPOCH_SHIFT |
	       (seq & TB_HEAD_SEQ_MASK) << TB_HEAD_SEQ_SHIFT |
	       (u64)buffer << TB_HEAD_BUFFER_SHIFT | index;
}

static inline u32 tb_head_index(u64 h)
{
	return h & TB_HEAD_INDEX_MASK;
}

static inline u32 tb_head_buffer(u64 h)
{
	return h >> TB_HEAD_BUFFER_SHIFT & TB_HEAD_BUFFER_MASK;
}

/*
 * Return the full sequence number of the block that @h is in, from the low bits in @h and the state
 * word of the buffer.  That has the same number or the next, or the number of tb_ring_reset().
 */
static inline u64 tb_head_seq(u64 h, u64 state)
{
	u64 near = TB_BUF_SEQ(state);
	u32 ahead = ((u32)(h >> TB_HEAD_SEQ_SHIFT) - (u32)near) & TB_HEAD_SEQ_MASK;

	/* sign-extend the difference */
	if (ahead > TB_HEAD_SEQ_MASK / 2)
		return near + ahead - (TB_HEAD_SEQ_MASK + 1);
	return near + ahead;
}

/* Return false if the ring has no such buffer or index: memory is damaged. */
static inline bool tb_head_legal(const struct tb_cpu_ring *r, u64 h)
{
	return tb_head_buffer(h) < r->nr && tb_head_index(h) <= r->capacity;
}

/* Return the buffer that @h is in; buffer 0 if @h is damaged. */
static inline struct tb_buf *tb_ring_at(const struct tb_cpu_ring *r, u64 h)
{
	u32 b = tb_head_buffer(h);

	return &r->bufs[b < r->nr ? b : 0];
}

/* Return the number of the current block; ~0 before the first.  Any CPU, out of date at once. */
static inline u64 tb_ring_current(const struct tb_cpu_ring *r, u64 h)
{
	return tb_head_seq(h, tb_read(&tb_ring_at(r, h)->state));
}

/* Return true if a flush would close a buffer.  Any CPU, out of date at once. */
static inline bool tb_ring_holds(const struct tb_cpu_ring *r)
{
	return tb_head_index(tb_read(&r->head)) != r->capacity;
}

/* Return the number of blocks held for a snapshot and not acquired yet.  For the reader. */
static inline u32 tb_ring_pinned(const struct tb_cpu_ring *r)
{
	return r->to == ~0ull ? 0 : r->pinned;
}

void tb_ring_reset(struct tb_cpu_ring *r, u64 now);
struct tb_place tb_ring_reserve_slow(struct tb_cpu_ring *r, u32 n, u64 h, u64 ts);
bool tb_ring_simple_slow(struct tb_cpu_ring *r, u32 id, u64 payload, u64 h, u64 ts);
bool tb_ring_simple_last(struct tb_cpu_ring *r, struct tb_buf *b, u32 index);
bool tb_ring_reach_watermark(struct tb_cpu_ring *r);
void tb_ring_complete(struct tb_cpu_ring *r, struct tb_buf *b);
bool tb_ring_room(struct tb_cpu_ring *r, u32 n);
bool tb_ring_flush(struct tb_cpu_ring *r);
void tb_ring_resume(struct tb_cpu_ring *r);

int tb_ring_acquire(struct tb_cpu_ring *r);
void tb_ring_release(struct tb_cpu_ring *r, u32 index);
void tb_ring_unacquire(struct tb_cpu_ring *r, u32 index);
void tb_ring_begin_snapshot(struct tb_cpu_ring *r);
void tb_ring_pin(struct tb_cpu_ring *r, u32 count);
bool tb_ring_unpin(struct tb_cpu_ring *r);
bool tb_ring_next_pinned(struct tb_cpu_ring *r);
void tb_ring_put_back(struct tb_cpu_ring *r, u32 index);
bool tb_ring_in_snapshot(struct tb_cpu_ring *r);
void tb_ring_end_snapshot(struct tb_cpu_ring *r);
bool tb_ring_can_acquire(struct tb_cpu_ring *r);
bool tb_ring_readable(struct tb_cpu_ring *r);
bool tb_ring_above_watermark(struct tb_cpu_ring *r);
void tb_ring_stats(struct tb_cpu_ring *r, struct tb_ring_stats *st);
void tb_ring_end(struct tb_cpu_ring *r, struct tb_ring_end *end);
bool tb_ring_stuck(struct tb_cpu_ring *r);
bool tb_ring_repair(struct tb_cpu_ring *r, bool snapshot);

static __always_inline u64 tb_ring_clock(const struct tb_cpu_ring *r)
{
	return tb_clock_read(r->raw_clock);
}

static __always_inline struct tb_element *tb_buf_element(struct tb_buf *b, u32 index)
{
	return (struct tb_element *)b->block + index;
}

static __always_inline void tb_ring_slot(struct tb_cpu_ring *r, struct tb_slot *s, u64 head, u32 n,
					 u64 ts)
{
	s->ring = r;
	s->buf = &r->bufs[head >> TB_HEAD_BUFFER_SHIFT & TB_HEAD_BUFFER_MASK];
	s->element = tb_buf_element(s->buf, head & TB_HEAD_INDEX_MASK);
	s->time = (u32)ts;
	s->seq = (u32)(head >> TB_HEAD_SEQ_SHIFT);
	s->length = n;
}

/**
 * tb_ring_reserve() - reserve an event of @n elements
 * @r: the ring of this CPU
 * @n: number of elements, >= 1
 * @s: out: the reservation
 *
 * Context: any, NMI included; on the ring's CPU, preemption off until the commit.
 * Return: false if there was no room: the event is counted as dropped.
 */
static __always_inline bool tb_ring_reserve(struct tb_cpu_ring *r, u32 n, struct tb_slot *s)
{
	u64 h = tb_read(&r->head);
	/*
	 * Before the exchange: an event of a nested context in between makes the
	 * exchange fail, so the order in the buffer is the order in time.
	 */
	u64 ts = tb_ring_clock(r);
	u32 index = h & TB_HEAD_INDEX_MASK;

	/* the buffer's number is out of bounds without buffers, or if memory is damaged */
	if (unlikely(n > TB_EVENT_ELEMENTS_MAX ||
		     (((ts << (TB_HEAD_EPOCH_SHIFT - 32)) ^ h) >> TB_HEAD_EPOCH_SHIFT) ||
		     index + n > r->capacity || tb_head_buffer(h) >= r->nr ||
		     !tb_cmpxchg_local(&r->head, h, h + n))) {
		struct tb_place p = { 0 };

		/* without buffers the caller takes the event elsewhere (probe/pending.c) at once */
		if (likely(r->nr))
			p = tb_ring_reserve_slow(r, n, h, ts);
		if (!p.head)
			return false;
		tb_ring_slot(r, s, p.head, n, p.time);
		return true;
	}
	tb_ring_slot(r, s, h, n, ts);
	if (unlikely(index + n - r->watermark < n))
		tb_ring_reach_watermark(r);
	return true;
}

/*
 * Adds to the commits of a buffer.  The last commit makes the buffer READY (tb_ring_complete()).
 * Program order on this CPU puts every write to the buffer, by any context, before that store.
 */
static __always_inline void tb_buf_commit(struct tb_cpu_ring *r, struct tb_buf *b, u32 elements,
					  u32 events)
{
	if (unlikely(!tb_local_add_negative(&b->committed, (u64)elements << 32 | events)))
		tb_ring_complete(r, b);
}

/**
 * tb_ring_commit() - make a reserved event part of the trace
 * @s: from tb_ring_reserve(), its elements filled in except for the first word
 * @head: the first word, TB_HEAD()
 *
 * The caller must commit every reservation.
 *
 * Context: that of the reservation.
 */
static __always_inline void tb_ring_commit(struct tb_slot *s, u32 head)
{
	/*
	 * Last, so that a search of memory never takes a half-written event for a whole one.
	 * Pairs with the load in tb_block_walk_next(), which reads incomplete buffers.
	 */
	tb_store_release(&s->element->head, head);
	tb_buf_commit(s->ring, s->buf, s->length, 1);
}

/**
 * tb_ring_simple() - reserve, fill and commit a simple event
 * @r: the ring of this CPU
 * @id: event id
 * @payload: 8 bytes
 *
 * Does what tb_ring_reserve() and tb_ring_commit() do, for the most common event.  All calls out of
 * line are tail calls, so that the fast path saves no registers.
 *
 * Context: any, NMI included; on the ring's CPU, preemption off.
 * Return: false if there was no room: the event is counted as dropped.
 */
static __always_inline bool tb_ring_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	u64 h = tb_read(&r->head);
	u32 index = h & TB_HEAD_INDEX_MASK;
	struct tb_element *e;
	struct tb_buf *b;
	u64 ts;

	/* head, clock, exchange: in the order of tb_ring_reserve() */
	if (unlikely(r->raw_clock != TB_TICKS_PLAIN))
		return tb_ring_simple_slow(r, id, payload, h, 0);
	ts = tb_clock_read(true);
	if (unlikely((((ts << (TB_HEAD_EPOCH_SHIFT - 32)) ^ h) >> TB_HEAD_EPOCH_SHIFT) ||
		     index >= r->capacity || tb_head_buffer(h) >= r->nr ||
		     !tb_cmpxchg_local(&r->head, h, h + 1)))
		return tb_ring_simple_slow(r, id, payload, h, ts);
	b = &r->bufs[tb_head_buffer(h)];
	e = tb_buf_element(b, index);
	tb_write(&e->time, (u32)ts);
	tb_write(&e->payload, payload);
	/* as in tb_ring_commit() */
	tb_store_release(&e->head, TB_HEAD(TB_STRUCT_SIMPLE, id, 1, h >> TB_HEAD_SEQ_SHIFT));
	if (unlikely(!tb_local_add_negative(&b->committed, 1ull << 32 | 1)))
		return tb_ring_simple_last(r, b, index);
	if (unlikely(index + 1 == r->watermark))
		return tb_ring_reach_watermark(r);
	return true;
}

#endif /* TB_RING_RING_H */
