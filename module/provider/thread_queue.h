/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads on their way into the durable buffer.
 */
#ifndef TB_TRACK_H
#define TB_TRACK_H

#include <linux/atomic.h>
#include <linux/tracebuf.h>
#include <linux/types.h>

#define TB_TRACK_SLOTS	4096	/* a power of two */
#define TB_TRACK_NAMES	1024	/* likewise */
#define TB_TRACK_RENAMES	8	/* of a thread, each time the queue is emptied */

/**
 * struct tb_track_slot - what happened to one thread
 * @turn: number of the record in here, from 1; the slot is free for the
 *	record TB_TRACK_SLOTS later once the queue's head has passed it
 * @time: when
 * @thread: what
 */
struct tb_track_slot {
	u64 turn;
	u64 time;
	struct tb_thread thread;
} __aligned(64);

/**
 * struct tb_track - a bounded queue: any number of writers, one reader
 * @slots: TB_TRACK_SLOTS of them
 * @head: records taken out
 * @tail: records put in
 * @lost: records that found it full
 * @names: TB_TRACK_NAMES words, by a hash of the thread's id: how often it was renamed, see
 *	tb_track_rename()
 * @period: counts how often the queue has been emptied
 * @skipped: a name in @names was not put into the queue
 */
struct tb_track {
	struct tb_track_slot *slots;
	u64 head;
	atomic64_t tail;
	atomic64_t lost;
	u64 *names;
	u32 period;
	u32 skipped;
};

int tb_track_alloc(struct tb_track *q);
void tb_track_free(struct tb_track *q);
bool tb_track_put(struct tb_track *q, u8 raw_clock, const struct tb_thread *thread);
const struct tb_track_slot *tb_track_peek(struct tb_track *q);
void tb_track_pop(struct tb_track *q);
bool tb_track_rename(struct tb_track *q, u32 tid);
bool tb_track_begin(struct tb_track *q);
u32 tb_track_skipped(struct tb_track *q, u32 index);

/* how many there are; out of date at once */
static inline u64 tb_track_count(struct tb_track *q)
{
	return atomic64_read(&q->tail) - READ_ONCE(q->head);
}

#endif /* TB_TRACK_H */
