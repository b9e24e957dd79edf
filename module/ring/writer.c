// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writers' side of the ring of one CPU: reserve, commit, note the watermark, switch to another
 * buffer and open it with a gap's marker; and the argument for the whole ring.
 *
 * Writers are the nested contexts of one CPU (task < softirq < hardirq < NMI), which call this with
 * preemption off.  One reader, on any CPU, takes complete buffers.  No I/O, no locks, no
 * allocation, no waiting.  Callers: probe/, programs/ and api.c; recording/ resets and flushes.
 */

/*
 * The ideas come from LTTng's ring buffer (sub-buffers handed over whole, reserve by an unlocked
 * compare-and-exchange, commit counters) and from the QNX tracelogger (a mark that leaves room for
 * what interrupts record while the reader is on its way); the wording is new.
 *
 * Writing
 * -------
 * A writer reads head, then the clock, then moves head by the size of its event with a
 * compare-and-exchange.  If a nested context records an event between the read and the exchange, it
 * changes head, and the exchange fails.  So the order of positions in a ring is the order of time
 * stamps, and each position belongs to one writer.  head has the low 14 bits of the buffer's
 * sequence number, so it does not repeat while a writer is interrupted.
 *
 * If the event does not fit, two steps follow, each with exactly one winner:
 *
 *   close: exchange head -> { same buffer, index = capacity }; the winner turns the rest of the
 *          buffer into padding and commits it.  A flush is this step alone.
 *   open:  claim a buffer; mark its header as invalid (tb_buf_disown()); exchange head -> { that
 *          buffer, header + gap slot + event }; the winner writes header and gap slot and commits
 *          them.
 *
 * If a writer can claim no buffer, it drops the event.  The old buffer is closed by then, so all
 * dropped events lie between two blocks, and the reader need not wait for a buffer that no writer
 * can add to.
 *
 * A buffer is complete when all its elements are committed.  The owner of each element commits it
 * once, so exactly one commit completes the buffer, and then no context writes to it any more.
 * That context fills in the end fields, sets the commit count back and makes the buffer READY.  No
 * other context changes these words meanwhile, because no writer claims a buffer that is WRITING.
 * The claim does not set the count back: a context that was interrupted in its claim would then
 * wipe out what nested contexts have committed.
 *
 * The states of a buffer
 * ----------------------
 *   FREE -> CLAIMED       claim (locked: the reader may be releasing others, and nested claims
 *                         compete)
 *   READY -> CLAIMED      claim with policy overwrite; competes with acquire
 *   CLAIMED -> CLAIMED    a claim renewed with another sequence number
 *   CLAIMED -> WRITING    by the opener, or by a nested context that leaves the buffer before the
 *                         opener has reached it
 *   WRITING -> READY      complete
 *   READY -> HELD -> FREE acquire, release; HELD -> READY: the reader went away, or took a snapshot
 *
 * If another context moves head after a writer's claim, the buffer stays CLAIMED, and the next
 * claim that finds it uses it.  A writer that notices before its claim that head has moved claims
 * nothing.  The sequence number of a claimed buffer is that of the current block plus one.  It is
 * set before head points to the buffer, so the state word and the bits in head give the full number
 * of the block that head is in.
 *
 * A writer claims the next buffer only after the current one is WRITING (tb_ring_unclaim()): so a
 * CLAIMED buffer has no contents, unless it is the current one.
 *
 * tb_ring_claim() walks on from the current buffer and takes the first that it may.  Writers fill
 * buffers in the order of the walk, so the first READY one is the oldest.  The exception: an
 * earlier walk passed by a held or incomplete buffer, and it is READY or FREE by now.  A later
 * walk uses it.  The current buffer comes last: when the reader holds all others, new events
 * replace old ones under policy overwrite.
 *
 * Reading
 * -------
 *	index = tb_ring_acquire(r)	READY -> HELD, lowest number first,
 *					never past one still being written
 *	... use r->bufs[index].block ...
 *	tb_ring_release(r, index)	HELD -> FREE
 *
 * Ordering between CPUs
 * ---------------------
 * Contexts of one CPU see each other's accesses in program order, so among writers only the
 * compiler must keep the order.  The reader may be on another CPU.  These pairs order what the two
 * sides see; they share nothing else:
 *
 *   contents  All stores into a buffer, by any context, precede the store of READY: a release
 *	(tb_ring_complete()).  The reader's acquire of that state (tb_ring_lowest()), or its fully
 *	ordered exchange to HELD, precedes its reads.  If the reader puts the buffer back, its store
 *	of READY is a release (tb_ring_unacquire()), and the next reader acquires it in the same
 *	way.
 *   room  The reader's reads precede its store of FREE: a release (tb_ring_release()).  A claim is
 *	a fully ordered exchange of the same word (tb_buf_claim()), and precedes all stores into the
 *	buffer.
 *   looking again  FREE precedes the count of releases: a release.  A writer acquires the count
 *	before a walk (tb_ring_claim()): a walk that found no buffer saw all that were FREE at the
 *	count, which it stores in full_seen.  The same holds for READY of a buffer that the reader
 *	puts back (tb_buf_put_back()) and a writer may overwrite.
 *   order of blocks  WRITING of a block precedes READY of later blocks, in program order.  After
 *	tb_ring_lowest() has acquired READY of a later block, tb_ring_find_earlier() sees WRITING or
 *	a newer state.
 *   total of overwritten  The writer: ow_started, exchange to CLAIMED (fully ordered), later and
 *	overwritten, tb_wmb(), ow_done.  The reader: ow_done, tb_rmb(), states and totals, tb_rmb(),
 *	ow_started.  If both counters are the same, the reader saw each overwriting completely or
 *	not at all.  If it read a total that an overwriting had raised, it reads the raised
 *	ow_started after the second tb_rmb().  If it read the raised ow_done, it reads the raised
 *	totals after the first tb_rmb().  The gap of a READY block after an overwritten one includes
 *	the loss: the release of READY comes after ow_done, and the reader acquires READY before it
 *	reads the totals.
 *   what no block tells  A writer lowers drop_first, tb_wmb(), counts the drop.  tb_ring_end()
 *	reads the count, tb_rmb(), drop_first: so it finds a time for the drops that it counts.  An
 *	opener moves head, tb_wmb(), resets drop_first.  tb_ring_end() reads drop_first, tb_rmb(),
 *	head: if drop_first was reset, head has moved.
 *
 * Only the ring's CPU writes head, commits and the other totals.  Other CPUs read them for
 * statistics, and to decide whether to look for blocks: any recent value suffices.
 */
#include "claim.h"
#include "hooks.h"

/*
 * Writes the constant fields of a block header, and marks the buffer as unused: blocks of an
 * earlier recording had the same sequence numbers.
 */
static void tb_buf_blank(const struct tb_cpu_ring *r, const struct tb_buf *b)
{
	struct tb_block *block = b->block;
	struct tb_gap *gap = (struct tb_gap *)((struct tb_composite *)(block + 1) + 1);

	block->magic = TB_BLOCK_MAGIC;
	block->version = TB_BLOCK_VERSION;
	block->kind = TB_BLOCK_ROLLING;
	block->size_log2 = __builtin_ctz(r->capacity * TB_ELEMENT_SIZE);
	block->provider = r->provider;
	block->cpu = r->cpu;
	block->sequence = TB_BLOCK_UNUSED;
	gap->recording = r->recording;
}

/**
 * tb_ring_reset() - empty the ring, and set all totals to zero
 * @r: the ring, with bufs, nr, capacity, provider, cpu and recording set
 * @now: current time, trace clock
 *
 * Context: any; no writer and no reader is active.
 */
void tb_ring_reset(struct tb_cpu_ring *r, u64 now)
{
	u32 i;

	for (i = 0; i < r->nr; i++) {
		struct tb_buf *b = &r->bufs[i];

		/*
		 * Thousands of blocks away from the first, so that the state changes when a writer
		 * is interrupted between reading and exchanging it.  With head it gives block -1.
		 */
		b->state = TB_BUF_WORD(TB_HEAD_SEQ_MASK / 2 - 1, TB_BUF_FREE);
		tb_local_set(&b->committed, TB_COMMITTED_NONE(r->capacity));
		b->closed = 0;
		b->events = 0;
		b->later = 0;
		b->later_open = 0;
		b->lost_from = now;
		b->gap_filled = 0;
		b->settled = 0;
		tb_buf_blank(r, b);
	}
	r->max = r->capacity - TB_BLOCK_FIRST_ELEMENT;
	if (r->max > TB_EVENT_ELEMENTS_MAX)
		r->max = TB_EVENT_ELEMENTS_MAX;
	/* the state after the last buffer was filled with block -1 */
	r->head = tb_head(0, TB_HEAD_SEQ_MASK, r->nr - 1, r->capacity);
	tb_local_set(&r->recorded, 0);
	tb_local_set(&r->overwritten, 0);
	tb_local_set(&r->dropped, 0);
	tb_local_set(&r->refused, 0);
	tb_local_set(&r->oversize, 0);
	tb_local_set(&r->marks, 0);
	tb_local_set(&r->retries, 0);
	tb_local_set(&r->ow_started, 0);
	tb_local_set(&r->ow_done, 0);
	r->drop_first = ~0ull;
	r->drop_last = 0;
	r->releases = 0;
	r->full_seen = ~0ull;
	r->overwrite_last = ~0ull;
	r->passed = 0;
	r->paused = 0;
	r->rd_bufs = r->bufs;
	r->rd_nr = r->nr;
	r->held = 0;
	r->pinned = 0;
	r->start_time = now;
	r->magic = TB_RING_IMAGE_MAGIC;
	memset(&r->rd, 0, sizeof(r->rd));
	r->rd.end = now;
	r->from = 0;
	r->to = ~0ull;
	r->kept = r->rd;
	r->delivered = 0;
	r->delivered_bytes = 0;
	r->reported = 0;
	r->left = 0;
}

/* ---- writing ---------------------------------------------------------- */

/*
 * Sets the buffer that @h is in to WRITING if it is CLAIMED, so that no later claim takes it for
 * unused.  Its opener may be an interrupted outer context: the buffer cannot complete before the
 * opener goes on, so a plain store suffices.
 */
static void tb_ring_unclaim(struct tb_cpu_ring *r, u64 h)
{
	struct tb_buf *b = &r->bufs[tb_head_buffer(h)];
	u64 s = tb_read(&b->state);

	if (TB_BUF_STATE(s) == TB_BUF_CLAIMED && TB_BUF_SEQ(s) == tb_head_seq(h, s)) {
		tb_ring_path(TB_PATH_HELP_LEAVE);
		tb_write(&b->state, TB_BUF_WORD(TB_BUF_SEQ(s), TB_BUF_WRITING));
	}
}

static void tb_lower(u64 *p, u64 to)
{
	u64 old;

	do {
		old = tb_read(p);
	} while (to < old && !tb_cmpxchg_local(p, old, to));
}

/* Closes the buffer that @h is in.  Return false if a nested context moved head first. */
static bool tb_ring_close(struct tb_cpu_ring *r, u64 h, bool flush)
{
	u32 index = tb_head_index(h), rest = r->capacity - index;
	struct tb_buf *b = &r->bufs[tb_head_buffer(h)];
	struct tb_element *pad = tb_buf_element(b, index);

	if (!tb_cmpxchg_local(&r->head, h, h + rest)) {
		tb_ring_path(TB_PATH_RETRY_CLOSE);
		return false;
	}
	tb_write(&b->closed, index * TB_ELEMENT_SIZE | flush);
	tb_write(&pad->time, 0);
	tb_write(&pad->payload, 0);
	tb_store_release(&pad->head,
			 TB_HEAD(TB_STRUCT_PAD, TB_EV_NONE,
				 rest < TB_EVENT_ELEMENTS_MAX ? rest : TB_EVENT_ELEMENTS_MAX,
				 h >> TB_HEAD_SEQ_SHIFT));
	tb_buf_commit(r, b, rest, 0);
	return true;
}

/* values that the opener of a buffer read before it moved head */
struct tb_opening {
	u64 seq;
	u64 ts;
	u64 dropped;
	u64 drop_first;
	u64 drop_last;
	u64 later;
};

/*
 * Marks the header of @b, which is claimed for block @seq, as invalid.  Notes in it the block's
 * number, its start time @ts and the size @n of its first event.  When head has moved there, nested
 * contexts may record events behind the first one before the opener writes the header.  If the
 * machine stops in between, `recover` finds these events by the notes.
 *
 * Does nothing if a nested context has opened the buffer since the claim, and so changed the state.
 * If a nested context opens it after this check, it changes number and time, too, so the exchanges
 * fail.  The context that moves head was the last to write the notes: a nested context that wrote
 * them later has moved head itself.
 */
static void tb_buf_disown(struct tb_buf *b, u64 seq, u64 ts, u32 n)
{
	struct tb_block *block = b->block;
	u64 old = tb_read(&block->sequence), start = tb_read(&block->time_start);

	if (tb_read(&b->state) != TB_BUF_WORD(seq, TB_BUF_CLAIMED))
		return;
	tb_cmpxchg_local(&block->time_start, start, ts);
	tb_cmpxchg_local(&block->sequence, old, TB_BLOCK_OPENING_WORD(seq, n));
}

/* Writes header and gap slot of a buffer that head has just been moved to. */
static void tb_ring_open(struct tb_cpu_ring *r, struct tb_buf *b, const struct tb_opening *o)
{
	struct tb_block *block = b->block;
	struct tb_composite *slot = (struct tb_composite *)(block + 1);
	struct tb_gap *gap = (struct tb_gap *)(slot + 1);

	/* a nested context may have done so, but cannot complete the block without our commit */
	tb_write(&b->state, TB_BUF_WORD(o->seq, TB_BUF_WRITING));
	tb_write(&b->later_open, o->later);
	/*
	 * This block tells the drops so far, so reset drop_first.  The next block tells those that
	 * nested contexts counted since, which are later than our clock.
	 */
	if (o->drop_first != ~0ull) {
		tb_wmb(); /* head before that: pairs with the last tb_rmb() in tb_ring_end() */
		tb_cmpxchg_local(&r->drop_first, o->drop_first, ~0ull);
		if (tb_local_read(&r->dropped) != o->dropped) {
			tb_ring_path(TB_PATH_OPEN_DROPS);
			tb_lower(&r->drop_first, o->ts);
		}
	}

	/* tb_buf_blank() wrote the constant fields; the number still marks the others as invalid */
	block->flags = 0;
	block->tid = tb_current_tid();
	block->time_start = o->ts;
	block->time_end = 0;
	block->data = 0;
	block->events = 0;
	block->overwritten = 0;
	block->dropped = o->dropped;
	slot->time = (u32)o->ts;
	slot->tid = block->tid;
	slot->length = sizeof(*gap);
	slot->context = 0;
	gap->overwritten = 0;
	gap->dropped = 0;
	gap->oversize = 0;
	gap->first = o->drop_first == ~0ull ? 0 : o->drop_first;
	gap->last = o->drop_last;
	tb_store_release(&slot->head,
			 TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS, o->seq));
	/* its number after the rest: pairs with tb_panic_find() */
	tb_store_release(&block->sequence, o->seq);
	tb_ring_opened(r, b, o->seq);
	tb_buf_commit(r, b, TB_BLOCK_FIRST_ELEMENT, 0);
}

static void tb_ring_drop(struct tb_cpu_ring *r, u64 ts)
{
	tb_lower(&r->drop_first, ts);
	tb_raise(&r->drop_last, ts);
	tb_wmb(); /* the span before the count: pairs with the tb_rmb() in tb_ring_end() */
	tb_local_add(&r->dropped, 1);
	tb_local_add(&r->refused, 1);
	/* again: a block opened since the first time did not tell of this one */
	tb_lower(&r->drop_first, ts);
}

/*
 * Switches from the closed buffer that @h is in to another one, and reserves @n elements there, at
 * *@place.  Return 1; 0 if a nested context was first; -1 if there is no room.
 */
static int tb_ring_switch(struct tb_cpu_ring *r, u64 h, u64 ts, u32 n, u64 *place)
{
	struct tb_opening o = { .ts = ts };
	u64 next;
	int b;

	if (unlikely(tb_read(&r->paused)))
		return -1;
	/*
	 * Before the exchange.  If nested contexts drop events after these reads, the block that
	 * they open tells these drops, or the next one.
	 */
	o.dropped = tb_local_read(&r->dropped);
	o.drop_first = tb_read(&r->drop_first);
	o.drop_last = tb_read(&r->drop_last);
	tb_ring_unclaim(r, h);
	o.seq = tb_head_seq(h, tb_read(&r->bufs[tb_head_buffer(h)].state)) + 1;
	b = tb_ring_claim(r, h, o.seq);
	if (b < 0)
		return b == TB_CLAIM_AGAIN ? 0 : -1;
	/* before the exchange, too: blocks overwritten from now on are later than the new block */
	o.later = tb_buf_begin_lap(&r->bufs[b]);
	tb_buf_disown(&r->bufs[b], o.seq, ts, n);
	next = tb_head(ts >> 32, o.seq, b, TB_BLOCK_FIRST_ELEMENT + n);
	if (!tb_cmpxchg_local(&r->head, h, next)) {
		tb_ring_path(TB_PATH_RETRY_OPEN);
		return 0;
	}
	tb_ring_open(r, &r->bufs[b], &o);
	*place = next - n;
	return 1;
}

/**
 * tb_ring_reserve_slow() - reserve where moving head is not enough
 * @r: the ring of this CPU
 * @n: number of elements, >= 1
 * @h: head, read before @ts; may be out of date
 * @ts: the time, trace clock
 *
 * Puts a TIME element in front if the clock's upper half has changed, switches buffers, counts
 * dropped events.  Repeats only if a nested context recorded an event: nesting bounds that.
 *
 * Context: any, NMI included; on the ring's CPU, preemption off until the commit.
 * Return: the place of the reservation; head 0 if there was no room: the event is counted as
 * dropped.
 */
struct tb_place tb_ring_reserve_slow(struct tb_cpu_ring *r, u32 n, u64 h, u64 ts)
{
	struct tb_place none = { 0 }, place;

	for (;; tb_local_add(&r->retries, 1), h = tb_read(&r->head), ts = tb_ring_clock(r)) {
		u32 index = tb_head_index(h);
		u32 room = r->capacity - index;
		u32 x = !!(((ts >> 32) ^ (h >> TB_HEAD_EPOCH_SHIFT)) & TB_HEAD_EPOCH_MASK);
		int won;

		place.time = ts;
		if (unlikely(!tb_head_legal(r, h))) {
			tb_ring_damaged(r);
			tb_ring_drop(r, ts);
			return none;
		}
		if (n > r->max) {
			tb_local_add(&r->oversize, 1);
			tb_ring_drop(r, ts);
			return none;
		}
		if (n + x <= room) {
			struct tb_buf *b = &r->bufs[tb_head_buffer(h)];
			u64 next = tb_head(ts >> 32, h >> TB_HEAD_SEQ_SHIFT, tb_head_buffer(h),
					   index + n + x);

			if (!tb_cmpxchg_local(&r->head, h, next)) {
				tb_ring_path(TB_PATH_RETRY_RESERVE);
				continue;
			}
			place.head = next - n;
			if (x) {
				struct tb_element *e = tb_buf_element(b, index);

				tb_ring_path(TB_PATH_TIME);
				tb_write(&e->time, (u32)ts);
				tb_write(&e->payload, ts);
				/* as in tb_ring_commit() */
				tb_store_release(&e->head, TB_HEAD(TB_STRUCT_SIMPLE, TB_EV_TIME, 1,
								   h >> TB_HEAD_SEQ_SHIFT));
				tb_buf_commit(r, b, 1, 0);
			}
			if (index + n + x - r->watermark < n + x)
				tb_ring_reach_watermark(r);
			return place;
		}
		if (room) {
			if (!tb_ring_close(r, h, false))
				continue;
			h += room;
		}
		won = tb_ring_switch(r, h, ts, n, &place.head);
		if (won > 0) {
			if (TB_BLOCK_FIRST_ELEMENT + n >= r->watermark)
				tb_ring_reach_watermark(r);
			return place;
		}
		if (won < 0) {
			tb_ring_drop(r, ts);
			return none;
		}
	}
}

TB_EXPORT(tb_ring_reserve_slow);

/**
 * tb_ring_simple_slow() - record a simple event where moving head is not enough
 * @r: the ring of this CPU
 * @id: event id
 * @payload: 8 bytes
 * @h: head, read before @ts; may be out of date
 * @ts: the processor's counter; 0: not read
 *
 * Context: any, NMI included; on the ring's CPU, preemption off.
 * Return: false if there was no room: the event is counted as dropped.
 */
bool tb_ring_simple_slow(struct tb_cpu_ring *r, u32 id, u64 payload, u64 h, u64 ts)
{
	struct tb_place place;
	struct tb_slot slot;

	if (unlikely(!r->nr))
		return tb_pending_commit_simple(r, id, payload);
	/* @ts is 0 if the clock was not the plain counter; it may be by now */
	if (r->raw_clock != TB_TICKS_PLAIN || !ts)
		ts = tb_ring_clock(r);
	place = tb_ring_reserve_slow(r, 1, h, ts);
	if (!place.head)
		return false;
	tb_ring_slot(r, &slot, place.head, 1, place.time);
	tb_write(&slot.element->time, slot.time);
	tb_write(&slot.element->payload, payload);
	tb_ring_commit(&slot, TB_HEAD(TB_STRUCT_SIMPLE, id, 1, slot.seq));
	return true;
}

TB_EXPORT(tb_ring_simple_slow);

/* Complete a buffer whose last commit is the event at @index, of tb_ring_simple().  Return true. */
bool tb_ring_simple_last(struct tb_cpu_ring *r, struct tb_buf *b, u32 index)
{
	tb_ring_complete(r, b);
	if (index + 1 == r->watermark)
		tb_ring_reach_watermark(r);
	return true;
}

TB_EXPORT(tb_ring_simple_last);

/**
 * tb_ring_reach_watermark() - count and report that the current buffer is past the watermark
 * @r: the ring of this CPU
 *
 * Context: any, NMI included; on the ring's CPU, preemption off.
 * Return: true, so that tb_ring_simple() can call it last.
 */
bool tb_ring_reach_watermark(struct tb_cpu_ring *r)
{
	tb_local_add(&r->marks, 1);
	tb_ring_notify(r);
	return true;
}

TB_EXPORT(tb_ring_reach_watermark);

/*
 * Return the earliest possible time of the losses that blocks after @block tell.  @block is
 * complete and has state word @state.  The next block tells the events dropped while @block was
 * open.  If the next block is overwritten, only their count survives, and the reader needs this
 * time.
 *
 * The order matters: time_end, drop_first, head.  If head is still in @block at the end, no later
 * block was opened before that, and none has reset drop_first.  If head has moved, every event
 * that @block does not count was dropped after it was opened.  A context that this one interrupted
 * may be dropping an event and have read the clock earlier: that drop is under way at the
 * time returned here.
 */
static u64 tb_ring_lost_from(struct tb_cpu_ring *r, const struct tb_block *block, u64 state)
{
	u64 dropped = tb_read(&r->drop_first);

	if (tb_head_seq(tb_read(&r->head), state) != TB_BUF_SEQ(state)) {
		tb_ring_path(TB_PATH_COMPLETE_OUTER);
		return block->time_start;
	}
	if (dropped > block->time_end)
		return block->time_end;
	tb_ring_path(TB_PATH_COMPLETE_DROPS);
	return dropped;
}

/**
 * tb_ring_complete() - make a buffer READY, because all of it is committed
 * @r: the ring of this CPU
 * @b: one of its buffers
 *
 * Exactly one context calls it in each lap, the last one to commit.
 *
 * Context: any, NMI included.
 */
void tb_ring_complete(struct tb_cpu_ring *r, struct tb_buf *b)
{
	struct tb_block *block = b->block;
	u64 s, committed;

	if (unlikely(!r->nr)) {
		tb_pending_commit(r, b);
		return;
	}
	s = tb_read(&b->state);
	committed = tb_local_read(&b->committed);
	/* another state or too many commits: memory is damaged */
	if (unlikely(TB_BUF_STATE(s) != TB_BUF_WRITING || committed > r->capacity ||
		     b->closed > r->capacity * TB_ELEMENT_SIZE)) {
		tb_ring_damaged(r);
		return;
	}
	b->events = committed;
	block->time_end = tb_ring_clock(r);
	b->lost_from = tb_ring_lost_from(r, block, s);
	block->data = b->closed ? b->closed & ~1u : r->capacity * TB_ELEMENT_SIZE;
	block->events = b->events;
	block->flags = TB_BLOCK_COMPLETE | (b->closed & 1 ? TB_BLOCK_FLUSHED : 0);
	tb_ring_filled(r, b);
	b->closed = 0;
	b->gap_filled = 0;
	tb_local_set(&b->committed, TB_COMMITTED_NONE(r->capacity));
	/* not counted twice: pairs with the second tb_rmb() in tb_ring_stats() */
	tb_wmb();
	tb_local_add(&r->recorded, b->events);
	/* everything in the block before READY: pairs with tb_ring_acquire() and tb_panic_find() */
	tb_store_release(&b->state, TB_BUF_WORD(TB_BUF_SEQ(s), TB_BUF_READY));
	tb_ring_notify(r);
}

TB_EXPORT(tb_ring_complete);

/*
 * Close the current buffer if it is open.  In any context on the ring's CPU, with preemption off;
 * on any CPU if the ring's CPU does not record.  Return true if it closed the buffer.
 */
bool tb_ring_flush(struct tb_cpu_ring *r)
{
	u64 h;

	do {
		h = tb_read(&r->head);
		if (tb_head_index(h) == r->capacity || !tb_head_legal(r, h))
			return false;
	} while (!tb_ring_close(r, h, true));
	return true;
}

/*
 * Allow writers of a paused ring to open buffers again.  The times of the drops during the pause
 * are unknown, so their span reaches to now.  In any context on the ring's CPU, with preemption
 * off; on any CPU if the ring's CPU does not record.
 */
void tb_ring_resume(struct tb_cpu_ring *r)
{
	if (tb_read(&r->drop_first) != ~0ull)
		tb_raise(&r->drop_last, tb_ring_clock(r));
	tb_write(&r->paused, 0);
}
