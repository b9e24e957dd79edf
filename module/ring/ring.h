/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of one CPU: its state, and the hot path inline.  The algorithm and
 * the argument for it stand at the top of writer.c.
 */
#ifndef TB_RING_H
#define TB_RING_H

#include "arch.h"
#include "paths.h"

/*
 * tb_cpu_ring.head, low to high: elements used in the current buffer (17 bits; equal to
 * the capacity when it is closed), the current buffer (12), the low bits of
 * its sequence number (14), the epoch: the clock above its low 32 bits (21).
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
	TB_BUF_FREE	= 0,	/* nothing in it that anyone needs */
	TB_BUF_CLAIMED	= 1,	/* a writer wants to switch to it */
	TB_BUF_WRITING	= 2,	/* in use, or left with commits outstanding */
	TB_BUF_READY	= 3,	/* complete, not collected */
	TB_BUF_HELD	= 4,	/* a reader has it */
};

#define TB_BUF_STATE_BITS	3
#define TB_BUF_STATE(s)		((enum tb_buf_state)((s) & 7))
#define TB_BUF_SEQ(s)		((s) >> TB_BUF_STATE_BITS)
#define TB_BUF_WORD(seq, st)	((u64)(seq) << TB_BUF_STATE_BITS | (st))

/**
 * struct tb_rd - how far the reader's books of a ring are
 * @next: sequence number expected next
 * @overwritten: overwritten events already told of
 * @dropped: dropped events already told of
 * @oversize: of those, the oversize ones
 * @end: tb_buf.lost_from of the last block handed over that was settled
 * @unsettled: 1: @overwritten was read in the middle of an overwriting; TB_RD_PUT_BACK more for
 *	each block below @next that was put back, and has not been taken again
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

/* tb_buf.copied_events has all that a block can have */
#if TB_BUFFER_ELEMENTS_MAX - TB_BLOCK_FIRST_ELEMENT > 0xffff
#error
#endif

/* tb_buf.committed of a buffer of @capacity elements, none committed */
#define TB_COMMITTED_NONE(capacity)	(-(u64)(capacity) << 32)

/* tb_buf.later: above the count of events */
#define TB_LATER_LAP		0x1000000000000ull

/**
 * struct tb_buf - what the ring keeps of one buffer, apart from its memory
 * @block: the memory, starting with its header
 * @state: TB_BUF_WORD; shared with the reader's CPU
 * @committed: high half: elements committed in this lap minus the capacity,
 *	so negative until all are; low half: events
 * @closed: bytes used when it was closed early, else 0; bit 0: by a flush
 * @events: events in it once it is READY
 * @later: events overwritten in blocks after the one in it, and in those before it;
 *	never set back; TB_LATER_LAP is added whenever it is claimed
 * @later_open: @later when it was opened
 * @lost_from: no event that the blocks after it tell of was lost before that: when it was
 *	complete; when the first event was dropped since it was opened, if one was; when
 *	it was opened, if head had moved on before it was complete
 * @told: put back after it was acquired: its gap slot is filled in
 * @settled: and tells all that is missing before it
 * @copied_events: in the block that a snapshot has put back here
 * @copied: low half of that one's number plus one; 0: there is none
 * @rd: reader's: the books as they were before this one was acquired
 *
 * Up to @lost_from it is the writers'; a reader that polls @state must not take that
 * line away from them.
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
	u8 told;
	u8 settled;
	u16 copied_events;
	u32 copied;
	struct tb_rd rd;
} __aligned(64);

/**
 * struct tb_cpu_ring - the ring of one CPU
 * @head: see above; the only word that reserving writes
 * @bufs: @nr of them
 * @capacity: elements per buffer
 * @mark: the high-water mark in elements
 * @nr: buffers
 * @max: largest event, in elements
 * @raw_clock: enum tb_ticks
 * @overwrite: policy, else drop
 * @overwrite_last: number of the last block that may overwrite another; ~0: no end to it
 * @magic: TB_RING_IMAGE_MAGIC: a memory image is searched for it
 * @recording: for the blocks' gap slots: which recording they are of
 *
 * Up to the totals it is what struct tb_ring_image says, and never straddles a page.
 *
 * The rest is for the slow paths.  Totals count events.
 * @recorded: in completed buffers, since the start
 * @overwritten: of those, overwritten
 * @dropped: not recorded: no room, or larger than @max
 * @oversize: of those, larger than @max
 * @refused: a second count of @dropped, to detect damage (tb_ring_repair())
 * @marks: times the high-water mark was crossed
 * @retries: reservations repeated because a nested context came in between
 * @ow_started: overwritings begun
 * @ow_done: overwritings finished; equal to the former when @overwritten can be trusted
 * @drop_first: not later than the first drop that no block tells of; ~0: none
 * @drop_last: time of the last drop
 * @full_seen: of the last walk that found no buffer: @releases before it, and in the lowest bit
 *	whether it could overwrite, and all were HELD
 * @passed: after a walk passed by an incomplete block: its number plus one, the highest
 *	of them; 0: none, or they are gone
 * @paused: no buffer is opened: what does not fit into the current one is dropped
 * @start_time: when recording began
 * @releases: reader's: buffers given back and put back, so room there may be
 * @rd_bufs: reader's: @bufs, away from @head
 * @rd_nr: reader's: @nr, likewise
 * @held: reader's: how many buffers are HELD
 * @pinned: reader's: of these, held for a snapshot before it acquires them
 * @left: reader's: sequence number plus one of the oldest incomplete block that the last
 *	tb_ring_stuck() found; 0: none
 * @rd: reader's books
 * @delivered: reader's: events given back
 * @delivered_bytes: reader's: bytes given back
 * @from: reader's: blocks with lower numbers are none of its business: it has had them
 * @to: reader's: nor are those from this one on; ~0: no limit
 * @kept: reader's: the books as they were before a snapshot
 * @cpu: whose ring
 * @provider: id for the block headers
 * @owner: for tb_ring_notify()
 * @header: for tb_ring_opened() and tb_ring_filled()
 */
struct tb_cpu_ring {
	u64 head;
	struct tb_buf *bufs;
	u32 capacity;
	u32 mark;
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
	u64 from;
	u64 to;
	u64 left;
	struct tb_rd kept;
} __aligned(TB_RING_IMAGE_ALIGN);

/**
 * struct tb_slot - a reservation
 * @element: the first of @length elements, yours until the commit
 * @ring: where it is
 * @buf: the buffer it is in
 * @time: low half of its time stamp
 * @seq: low bits of the buffer's sequence number, for TB_HEAD()
 * @length: in elements
 * @head: for whoever reserved: the first word to be
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
 * struct tb_place - where a reservation is; two words, so it travels in registers
 * @head: as tb_cpu_ring.head, but with the index of the first element; 0: no room
 * @time: its time stamp
 */
struct tb_place {
	u64 head;
	u64 time;
};

/**
 * struct tb_ring_stats - totals of a ring, in events unless said otherwise
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
 * struct tb_ring_end - what there is behind the last closed block of a ring
 * @open: the ring has a buffer that takes events, so nothing was refused there; else
 * @counted: @recorded and @overwritten are whole: nobody is in the middle of an event
 * @blocks: number of the last closed block plus one
 * @recorded: as in struct tb_ring_stats
 * @overwritten: likewise
 * @dropped: likewise
 * @oversize: likewise
 * @first: not later than the first drop that no block tells of; 0: none
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
 * Full sequence number of the buffer that head @h is in, from the low bits
 * there and its state word, which has the same number or the next.
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

/* Does @h name a buffer and an index that the ring has?  If not, memory is damaged. */
static inline bool tb_head_legal(const struct tb_cpu_ring *r, u64 h)
{
	return tb_head_buffer(h) < r->nr && tb_head_index(h) <= r->capacity;
}

/* The buffer of head @h; buffer 0 if @h is damaged. */
static inline struct tb_buf *tb_ring_at(const struct tb_cpu_ring *r, u64 h)
{
	u32 b = tb_head_buffer(h);

	return &r->bufs[b < r->nr ? b : 0];
}

/* Number of the current block; ~0 before the first.  Any CPU, out of date at once. */
static inline u64 tb_ring_current(const struct tb_cpu_ring *r, u64 h)
{
	return tb_head_seq(h, tb_read(&tb_ring_at(r, h)->state));
}

/* Would a flush close anything?  Any CPU, out of date at once. */
static inline bool tb_ring_holds(const struct tb_cpu_ring *r)
{
	return tb_head_index(tb_read(&r->head)) != r->capacity;
}

/* Number of blocks held for a snapshot that the reader has not acquired.  For the reader. */
static inline u32 tb_ring_pinned(const struct tb_cpu_ring *r)
{
	return r->to == ~0ull ? 0 : r->pinned;
}

void tb_ring_reset(struct tb_cpu_ring *r, u64 now);
struct tb_place tb_ring_reserve_slow(struct tb_cpu_ring *r, u32 n, u64 h, u64 ts);
bool tb_ring_simple_slow(struct tb_cpu_ring *r, u32 id, u64 payload, u64 h, u64 ts);
bool tb_ring_simple_last(struct tb_cpu_ring *r, struct tb_buf *b, u32 index);
bool tb_ring_mark(struct tb_cpu_ring *r);
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
bool tb_ring_above_mark(struct tb_cpu_ring *r);
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
 * @n: elements, >= 1
 * @s: the reservation
 *
 * Context: any, NMI included; on the ring's CPU, preemption off until the
 * commit.
 * Return: false if there was no room; it is counted.
 */
static __always_inline bool tb_ring_reserve(struct tb_cpu_ring *r, u32 n, struct tb_slot *s)
{
	u64 h = tb_read(&r->head);
	/*
	 * Before the exchange: whatever nested records in between makes the
	 * exchange fail, so the order in the buffer is the order in time.
	 */
	u64 ts = tb_ring_clock(r);
	u32 index = h & TB_HEAD_INDEX_MASK;

	/* the bounds of index and buffer only matter if memory is damaged */
	if (unlikely(n > TB_EVENT_ELEMENTS_MAX ||
		     (((ts << (TB_HEAD_EPOCH_SHIFT - 32)) ^ h) >> TB_HEAD_EPOCH_SHIFT) ||
		     index + n > r->capacity || tb_head_buffer(h) >= r->nr ||
		     !tb_cmpxchg_local(&r->head, h, h + n))) {
		struct tb_place p = { 0 };

		/* a ring without buffers is for events that go elsewhere, and soon */
		if (likely(r->nr))
			p = tb_ring_reserve_slow(r, n, h, ts);
		if (!p.head)
			return false;
		tb_ring_slot(r, s, p.head, n, p.time);
		return true;
	}
	tb_ring_slot(r, s, h, n, ts);
	if (unlikely(index + n - r->mark < n))
		tb_ring_mark(r);
	return true;
}

/*
 * Adds to the commits of a buffer.  Plain program order on this CPU makes every write to the
 * buffer, by whichever context, come before the READY that the last commit
 * leads to (tb_ring_complete(), which pairs with tb_ring_acquire()).
 */
static __always_inline void tb_buf_commit(struct tb_cpu_ring *r, struct tb_buf *b, u32 elements,
					  u32 events)
{
	if (unlikely(!tb_local_add_negative(&b->committed, (u64)elements << 32 | events)))
		tb_ring_complete(r, b);
}

/**
 * tb_ring_commit() - make a reserved event part of the trace
 * @s: from tb_ring_reserve(), its elements filled but for the first word
 * @head: that word, TB_HEAD()
 *
 * Context: that of the reservation.  Every reservation must be committed.
 */
static __always_inline void tb_ring_commit(struct tb_slot *s, u32 head)
{
	/*
	 * Last, so that a view of the memory alone never takes a half-written
	 * event for a whole one.  Pairs with the load of the head by whoever
	 * looks at a buffer that is not complete: tb_block_walk_next().
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
 * What tb_ring_reserve() and tb_ring_commit() do, for the commonest event.  What
 * is called out of line is called last, so that the way past it saves no
 * registers.
 *
 * Context: any, NMI included; on the ring's CPU, preemption off.
 * Return: false if there was no room; it is counted.
 */
static __always_inline bool tb_ring_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	u64 h = tb_read(&r->head);
	u32 index = h & TB_HEAD_INDEX_MASK;
	struct tb_element *e;
	struct tb_buf *b;
	u64 ts;

	/* the order of these is that of tb_ring_reserve(), and for its reasons */
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
	if (unlikely(index + 1 == r->mark))
		return tb_ring_mark(r);
	return true;
}

#endif /* TB_RING_H */
