// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of thread records on their way into the durable buffer.  The probes of
 * events/threads.c (writers) put records in on any CPU, in any context, without a lock.
 * recording/state.c (reader) empties it in process context under tb_provider.read_lock.
 *
 * The algorithm is D. Vyukov's bounded queue with one consumer.  A writer reads tail, then the
 * clock, then moves tail by a compare-and-exchange: so the order in the queue is the order in time,
 * as in the rings.  Then it fills in the slot that it won, and sets `turn`.  Threads come and go
 * far less often than events are recorded, so a locked instruction does no harm here.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "machine/clock.h"
#include "machine/contiguous.h"
#include "thread_queue.h"

/* The caller calls tb_thread_queue_free() also after an error. */
int tb_thread_queue_alloc(struct tb_thread_queue *q)
{
	q->slots = kvcalloc(TB_THREAD_QUEUE_SLOTS, sizeof(*q->slots), TB_GFP);
	q->names = kvcalloc(TB_THREAD_QUEUE_NAMES, sizeof(*q->names), TB_GFP);
	return q->slots && q->names ? 0 : -ENOMEM;
}

/* No writer uses the queue any more. */
void tb_thread_queue_free(struct tb_thread_queue *q)
{
	kvfree(q->slots);
	kvfree(q->names);
}

/**
 * tb_thread_queue_push() - add a record
 * @q: the queue
 * @raw_clock: clock of the record's time, enum tb_ticks
 * @thread: the record, copied
 *
 * Context: any, NMI included.
 * Return: false if the queue is full: the record is lost, and counted.
 */
notrace bool tb_thread_queue_push(struct tb_thread_queue *q, u8 raw_clock,
				  const struct tb_thread *thread)
{
	struct tb_thread_queue_slot *slot;
	s64 tail = atomic64_read(&q->tail);
	u64 time;

	do {
		/*
		 * The reader has read the slot: pairs with the release in tb_thread_queue_pop().
		 * If head is beyond @tail, @tail is out of date and the exchange fails.
		 */
		if (tail - (s64)smp_load_acquire(&q->head) >= TB_THREAD_QUEUE_SLOTS) {
			atomic64_inc(&q->lost);
			return false;
		}
		time = tb_clock_read(raw_clock);
	} while (!atomic64_try_cmpxchg(&q->tail, &tail, tail + 1));
	slot = &q->slots[tail & (TB_THREAD_QUEUE_SLOTS - 1)];
	slot->time = time;
	slot->thread = *thread;
	/* the record before its turn: pairs with the acquire in tb_thread_queue_peek() */
	smp_store_release(&slot->turn, tail + 1);
	return true;
}

/* Return the oldest record; NULL if the queue is empty, or the record is still being written. */
const struct tb_thread_queue_slot *tb_thread_queue_peek(struct tb_thread_queue *q)
{
	struct tb_thread_queue_slot *slot = &q->slots[q->head & (TB_THREAD_QUEUE_SLOTS - 1)];

	/* the turn before the record: pairs with the release in tb_thread_queue_push() */
	return smp_load_acquire(&slot->turn) == q->head + 1 ? slot : NULL;
}

/* Remove the record that tb_thread_queue_peek() returned. */
void tb_thread_queue_pop(struct tb_thread_queue *q)
{
	/* reads of the slot before it is free: pairs with the acquire in tb_thread_queue_push() */
	smp_store_release(&q->head, q->head + 1);
}

/*
 * A thread may rename itself in a loop, so the queue takes at most TB_TRACK_RENAMES names of a
 * thread in a period, and skips later ones.  When the reader empties the queue, it looks up the
 * name that such a thread has then.
 *
 * A word of tb_thread_queue.names: thread id, period, number of new names; the top bit is set if a
 * name was skipped.  Two threads with the same hash take the word from each other: then neither is
 * limited, and a skipped name of the other thread counts as a lost record.
 */
#define TB_NAMES_SKIPPED	BIT_ULL(63)
#define TB_NAMES_COUNT(w)	((u32)((w) >> 48) & 0x7fff)
#define TB_NAMES_PERIOD(w)	((u16)((w) >> 32))
#define TB_NAMES_TID(w)		((u32)(w))
#define TB_NAMES(tid, period, count) \
	((u64)(tid) | (u64)(u16)(period) << 32 | (u64)(count) << 48)

/*
 * Count a new name of a thread.  Return true if the caller must put the name into the queue; false
 * if the thread has been renamed too often since the queue was emptied last.  Any context.
 */
notrace bool tb_thread_queue_rename(struct tb_thread_queue *q, u32 tid)
{
	u64 *word = &q->names[hash_32(tid, ilog2(TB_THREAD_QUEUE_NAMES))];
	u64 was = READ_ONCE(*word), now;
	u32 period = READ_ONCE(q->period), count;

	do {
		count = 0;
		if (TB_NAMES_TID(was) == tid && TB_NAMES_PERIOD(was) == (u16)period)
			count = TB_NAMES_COUNT(was);
		/* a new word clears the note of a name skipped earlier: this name is newer */
		now = count < TB_TRACK_RENAMES ? TB_NAMES(tid, period, count + 1) :
						 was | TB_NAMES_SKIPPED;
	} while (!try_cmpxchg(word, &was, now));
	if (was & TB_NAMES_SKIPPED && TB_NAMES_TID(was) != tid)
		atomic64_inc(&q->lost);
	if (count < TB_TRACK_RENAMES)
		return true;
	/* the word before the flag: pairs with the exchange in tb_thread_queue_begin() */
	smp_store_release(&q->skipped, 1);
	return false;
}

/*
 * Begin a new period, before the queue is emptied.  Return true if names were skipped: call
 * tb_thread_queue_skipped() for each word.
 */
bool tb_thread_queue_begin(struct tb_thread_queue *q)
{
	WRITE_ONCE(q->period, q->period + 1);
	/* the flag before the words: pairs with the release in tb_thread_queue_rename() */
	return xchg(&q->skipped, 0);
}

/*
 * Clear the note in word @index that a name was skipped.  Return the id of the thread; 0 if there
 * is no note.
 */
u32 tb_thread_queue_skipped(struct tb_thread_queue *q, u32 index)
{
	u64 *word = &q->names[index], was = READ_ONCE(*word);

	if (!(was & TB_NAMES_SKIPPED) ||
	    cmpxchg(word, was, was & ~TB_NAMES_SKIPPED) != was)
		return 0;
	return TB_NAMES_TID(was);
}
