/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel of user-space writers: an open file of /dev/tracebuf_producer.  Process context.
 * Locks, outermost first: tb_provider.lock; tb_channels_lock (channels.c), for the list of
 * channels, their targets and categories; tb_channel.lock, for chunks and writers.
 * Do not touch user memory under them: a program can delay that forever, and readers wait for the
 * locks.  Memory shared with the program does not fault.
 */
#ifndef TB_PROGRAMS_CHANNEL_H
#define TB_PROGRAMS_CHANNEL_H

#include <linux/list.h>
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
 * @provider: the provider, with a reference; NULL after the provider was removed
 * @closed: the provider accepts no chunks
 * @rate: quota, bytes per second; 0: unlimited
 * @burst: the bytes that writers may write at once, as the nanoseconds that they take at @rate
 * @paid: time up to which the quota is used up, nanoseconds; see tb_quota_allows_target()
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
 * @tid: its thread, in the initial pid namespace; 0: none
 * @target: number of the target of its chunks
 * @pending: TB_LOST_*: causes of losses that its next piece reports
 */
struct tb_writer {
	u32 tid;
	u16 target;
	u16 pending;
};

/**
 * struct tb_chunk_account - the kernel's trusted data about a chunk in shared memory
 * @id: id of the chunk; valid during a scrape, or if @bytes is not 0
 * @writer: id of its writer; valid if @id is valid
 * @wrap: number of this lap, in the state word of the chunk
 * @bytes: bytes taken in this lap
 * @records: records taken in this lap
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
 * @node: in a list of channels.c, from setup until the memory is freed; else empty
 * @lock: see above
 * @wait: poll() waits here
 * @begun: a task sets up the channel, or has set it up
 * @ready: setup is complete: constant fields can be read without a lock
 *
 * Constant after setup:
 * @id: number of the channel
 * @flags: TB_SETUP_*
 * @pid: process, in the initial pid namespace
 * @uid: real user id, in the initial user namespace
 * @user: user that the channel is charged to
 * @comm: name of the process
 * @owner: the process, with a reference
 * @mm: address space that @pages are charged to, with a reference
 * @pages: locked pages
 * @chunk_bytes: size of a chunk
 * @nr_chunks: chunks in shared memory
 * @page_mem: memory of @page
 * @page: page that the program reads
 * @chunk_mem: memory of the chunks
 *
 * Protected by @lock:
 * @accounting: accounts of the chunks
 * @order: chunks to take in a scrape, in this order
 * @writers: struct tb_writer by id
 * @nr_writers: number of writers
 * @taken: see struct tb_producer_info
 * @bytes: see struct tb_producer_info
 * @records: see struct tb_producer_info
 * @refused: see struct tb_producer_info
 * @lost: see struct tb_producer_info
 * @target: targets of the writers; only @paid changes without tb_channels_lock
 * @nr_targets: number of targets
 *
 * Protected by tb_channels_lock:
 * @flush: number of the last flush that the kernel asked for
 * @answered: number of the last flush that the program answered
 * @recording: see @page
 * @overwrites: see @page
 * @closed: see @page
 * @ended: tb_channel_end() has taken the last chunks
 * @nr_categories: number of categories
 * @category: their names
 * @matched: for each category, a mask of the targets that want it
 *
 * @changes: see @page; also read by poll()
 * @seen: the last @changes that poll() has reported
 */
struct tb_channel {
	struct list_head node;
	struct mutex lock;	/* chunks, writers */
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

	struct tb_chunk_account *accounting;
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
	unsigned long recording;
	unsigned long overwrites;
	unsigned long closed;
	bool ended;
	u32 nr_categories;
	char (*category)[TB_NAME_MAX];
	u32 matched[TB_CATEGORIES_MAX];

	u32 changes;
	u32 seen;
};

/* channels.c */
extern struct mutex tb_channels_lock;
int tb_channel_enlist(struct tb_channel *c, u32 per_user);
void tb_channel_end(struct tb_channel *c);
void tb_channel_delist(struct tb_channel *c);
int tb_channel_add_target(struct tb_channel *c, const char *name, u32 *target);
void tb_channel_answer_flush(struct tb_channel *c, u32 flush);

/* category.c; under tb_channels_lock */
int tb_category_add(struct tb_channel *c, const char *name, u32 *index);
void tb_category_match(struct tb_channel *c, u32 target);
void tb_words_update(struct tb_channel *c, u32 target);

/* chunk.c; the last two under tb_channel.lock */
void tb_chunk_commit(struct tb_channel *c, struct tb_chunk_ref *ref);
int tb_chunk_patch(struct tb_channel *c, const struct tb_patch *patch);
int tb_chunk_copied(struct tb_channel *c, const struct tb_chunk *chunk);
void tb_chunk_scrape(struct tb_channel *c, const struct tb_provider *only, bool end);
u32 tb_chunk_busy(const struct tb_channel *c);

#endif /* TB_PROGRAMS_CHANNEL_H */
