/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels of user-space writers: /dev/tracebuf_producer.
 *
 * Locks, outermost first:
 *	lock of producers	which there are, their targets and categories, what providers
 *				want of them (channels.c); inside the lock of a provider
 *	tb_channel.lock	the kernel's books of a channel: chunks, writers
 * Neither is held where user memory is touched: the program could make that take as long as it
 * likes, and readers wait for these.  What is shared with it does not fault.
 */
#ifndef TB_PRODUCER_H
#define TB_PRODUCER_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/tracebuf_producer.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "machine/contiguous.h"

struct tb_provider;

/**
 * struct tb_target - a provider that a channel writes to
 * @provider: it, with a reference; NULL: there is no such provider any more
 * @closed: nothing is taken from producers
 * @rate: bytes a second that may be written; 0: any number
 * @burst: what may be had at once, in nanoseconds at @rate
 * @paid: the time up to which what was written has been paid for, nanoseconds
 */
struct tb_target {
	struct tb_provider *provider;
	bool closed;
	u64 rate;
	u64 burst;
	u64 paid;
};

/**
 * struct tb_writer - a writer of a channel
 * @tid: its thread, in the initial pid namespace
 * @target: where its chunks go
 * @pending: TB_LOST_* to be told with its next piece
 */
struct tb_writer {
	u32 tid;
	u16 target;
	u16 pending;
};

/**
 * struct tb_chunk_account - what the kernel knows of a chunk in shared memory, and believes
 * @id: of the chunk, if any of it was taken or it is about to be
 * @writer: likewise
 * @wrap: of this lap
 * @bytes: how much of it was taken in this lap
 * @records: likewise
 */
struct tb_chunk_account {
	u32 id;
	u16 writer;
	u16 wrap;
	u16 bytes;
	u16 records;
};

/**
 * struct tb_channel - a channel
 * @node: in a list of producers, from when it is set up until its memory is freed; else empty
 * @lock: see above
 * @wait: those who poll
 * @begun: somebody sets it up, or has
 * @ready: it is set up: what is never changed afterwards can be read without a lock
 *
 * Never changed afterwards:
 * @id: number of the channel
 * @flags: TB_SETUP_*
 * @pid: process, in the initial pid namespace
 * @uid: real user id, in the initial user namespace
 * @user: whose it counts as
 * @comm: name
 * @owner: the process, with a reference
 * @mm: whose locked memory it counts as, with a reference
 * @pages: how much
 * @chunk_bytes: of a chunk
 * @nr_chunks: in shared memory
 * @page_mem: memory of @page
 * @page: what the kernel tells
 * @chunk_mem: chunks
 *
 * Under @lock:
 * @books: of each chunk
 * @order: chunks that are about to be taken
 * @writers: struct tb_writer by id
 * @nr_writers: how many
 * @taken: as in struct tb_producer_info
 * @bytes: likewise
 * @records: likewise
 * @refused: likewise
 * @lost: likewise
 * @target: where writers may write to; written also under the lock of producers
 * @nr_targets: how many
 *
 * Under the lock of producers:
 * @flush: the last flush it was asked for
 * @answered: the last one it has answered
 * @recording: as in @page
 * @overwrites: likewise
 * @closed: likewise
 * @ended: nothing comes of it any more
 * @nr_categories: how many
 * @category: their names
 * @matched: bit t: target t wants it
 *
 * @changes: as in @page; read by poll(), too
 * @seen: value of @changes that poll() has told of
 */
struct tb_channel {
	struct list_head node;
	struct mutex lock;	/* see above */
	wait_queue_head_t wait;
	int begun;
	bool ready;

	u32 id;
	u32 flags;
	u32 pid;
	u32 uid;
	kuid_t user;
	char comm[TB_COMM_LEN];
	struct pid *owner;
	struct mm_struct *mm;
	unsigned long pages;
	u32 chunk_bytes;
	u32 nr_chunks;
	struct tb_mem page_mem;
	struct tb_producer_page *page;
	struct tb_mem chunk_mem;

	struct tb_chunk_account *books;
	u16 *order;
	struct xarray writers;
	u32 nr_writers;
	u64 taken;
	u64 bytes;
	u64 records;
	u64 refused;
	u64 lost;
	struct tb_target target[TB_TARGETS_MAX];
	u32 nr_targets;

	u64 flush;
	u64 answered;
	u32 recording;
	u32 overwrites;
	u32 closed;
	bool ended;
	u32 nr_categories;
	char (*category)[TB_NAME_MAX];
	u32 matched[TB_CATEGORIES_MAX];

	u32 changes;
	u32 seen;
};

int tb_producer_init(umode_t mode, u32 per_user);
void tb_producer_exit(void);

/* channels.c: which there are */
int tb_channel_enlist(struct tb_channel *c, u32 per_user);
void tb_channel_end(struct tb_channel *c);
void tb_channel_delist(struct tb_channel *c);
int tb_channel_add_target(struct tb_channel *c, const char *name, u32 *target);
int tb_channel_add_category(struct tb_channel *c, const char *name, u32 *index);
void tb_channel_answer_flush(struct tb_channel *c, u32 flush);

/* category.c: what they are told; under the lock of producers */
int tb_category_add(struct tb_channel *c, const char *name, u32 *index);
void tb_category_match(struct tb_channel *c, u32 target);
void tb_words_update(struct tb_channel *c, u32 target);

/* chunk.c; but for the first two under tb_channel.lock */
u32 tb_chunk_commit(struct tb_channel *c, struct tb_chunk_ref *ref);
int tb_chunk_patch(struct tb_channel *c, const struct tb_patch *patch);
int tb_chunk_copied(struct tb_channel *c, const struct tb_chunk *chunk);
void tb_chunk_scrape(struct tb_channel *c, const struct tb_provider *only, bool end);
u32 tb_chunk_busy(const struct tb_channel *c);

#endif /* TB_PRODUCER_H */
