/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of thread records on their way into the durable buffer.
 */
#ifndef TB_PROVIDER_THREAD_QUEUE_H
#define TB_PROVIDER_THREAD_QUEUE_H

#include <linux/atomic.h>
#include <linux/tracebuf.h>
#include <linux/types.h>

#define TB_THREAD_QUEUE_SLOTS	4096	/* a power of two */
#define TB_THREAD_QUEUE_NAMES	1024	/* a power of two */
#define TB_TRACK_RENAMES	8	/* names that the queue takes from a thread in a period */

/**
 * struct tb_thread_queue_slot - a record of one thread
 * @turn: number of the last complete record in the slot, from 1
 * @time: time of the record, trace clock
 * @thread: the record
 */
struct tb_thread_queue_slot {
	u64 turn;
	u64 time;
	struct tb_thread thread;
} __aligned(64);

/**
 * struct tb_thread_queue - a bounded queue: any number of writers, one reader
 * @slots: TB_THREAD_QUEUE_SLOTS of them
 * @head: number of records taken out
 * @tail: number of records put in
 * @lost: number of records that found the queue full
 * @names: TB_THREAD_QUEUE_NAMES words, by a hash of the thread id: how often the thread was
 *	renamed, see tb_thread_queue_rename()
 * @period: number of times that the reader began to empty the queue
 * @skipped: a word in @names notes a skipped name
 */
struct tb_thread_queue {
	struct tb_thread_queue_slot *slots;
	u64 head;
	atomic64_t tail;
	atomic64_t lost;
	u64 *names;
	u32 period;
	u32 skipped;
};

int tb_thread_queue_alloc(struct tb_thread_queue *q);
void tb_thread_queue_free(struct tb_thread_queue *q);
bool tb_thread_queue_push(struct tb_thread_queue *q, u8 raw_clock, const struct tb_thread *thread);
const struct tb_thread_queue_slot *tb_thread_queue_peek(struct tb_thread_queue *q);
void tb_thread_queue_pop(struct tb_thread_queue *q);
bool tb_thread_queue_rename(struct tb_thread_queue *q, u32 tid);
bool tb_thread_queue_begin(struct tb_thread_queue *q);
u32 tb_thread_queue_skipped(struct tb_thread_queue *q, u32 index);

/* Return the number of records; out of date at once. */
static inline u64 tb_thread_queue_count(struct tb_thread_queue *q)
{
	return atomic64_read(&q->tail) - READ_ONCE(q->head);
}

#endif /* TB_PROVIDER_THREAD_QUEUE_H */
