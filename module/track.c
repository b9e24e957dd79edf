// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads on their way into the durable buffer: a queue that tracepoints put
 * records into on any CPU and in any context, and that process context
 * empties under the provider's read_lock.
 *
 * The algorithm is D. Vyukov's bounded queue with one consumer.  A writer reads tail, then
 * the clock, then moves tail by a compare-and-exchange: so the order in the queue is
 * the order in time, as in the rings.  What it has won it fills in and then
 * says so in `turn`.  Threads come and go a thousand times less often than
 * events are recorded: a locked instruction does no harm here.
 */
#include <linux/errno.h>
#include <linux/slab.h>

#include "buffer.h"
#include "clock.h"
#include "track.h"

/**
 * tb_track_alloc() - get memory for a queue
 * @q: the queue, all zero
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int tb_track_alloc(struct tb_track *q)
{
	q->slots = kvcalloc(TB_TRACK_SLOTS, sizeof(*q->slots), TB_GFP);
	return q->slots ? 0 : -ENOMEM;
}

/**
 * tb_track_free() - give it back
 * @q: the queue; nobody puts anything in
 *
 * Context: process.
 */
void tb_track_free(struct tb_track *q)
{
	kvfree(q->slots);
	q->slots = NULL;
}

/**
 * tb_track_put() - add a record
 * @q: the queue
 * @raw_clock: for its time
 * @thread: what is copied
 *
 * Context: any.
 * Return: false if the queue is full.
 */
notrace bool tb_track_put(struct tb_track *q, u8 raw_clock, const struct tb_thread *thread)
{
	struct tb_track_slot *slot;
	s64 tail = atomic64_read(&q->tail);
	u64 time;

	do {
		/* the slot has been read: pairs with the release in tb_track_pop() */
		if ((u64)tail - smp_load_acquire(&q->head) >= TB_TRACK_SLOTS)
			return false;
		time = tb_clock_read(raw_clock);
	} while (!atomic64_try_cmpxchg(&q->tail, &tail, tail + 1));
	slot = &q->slots[tail & (TB_TRACK_SLOTS - 1)];
	slot->time = time;
	slot->thread = *thread;
	/* the record before its turn: pairs with the acquire in tb_track_peek() */
	smp_store_release(&slot->turn, tail + 1);
	return true;
}

/**
 * tb_track_peek() - the oldest record
 * @q: the queue
 *
 * Context: one reader at a time.
 * Return: the record; NULL if there is none, or its writer is not through.
 */
const struct tb_track_slot *tb_track_peek(struct tb_track *q)
{
	struct tb_track_slot *slot = &q->slots[q->head & (TB_TRACK_SLOTS - 1)];

	/* its turn before the record: pairs with the release in tb_track_put() */
	return smp_load_acquire(&slot->turn) == q->head + 1 ? slot : NULL;
}

/**
 * tb_track_pop() - done with what tb_track_peek() returned
 * @q: the queue
 *
 * Context: as tb_track_peek().
 */
void tb_track_pop(struct tb_track *q)
{
	/* our reads before the slot is free: pairs with the acquire in tb_track_put() */
	smp_store_release(&q->head, q->head + 1);
}
