/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: the arbiter of user-space writers, and the functions that its files call in
 * each other.
 *
 * Pools.  POOL_SHARED is the memory of the channel.  POOL_OWN is private memory with the same
 * layout, for startup writers, whose target is unknown yet, and for channels without shared memory.
 * A handle is a number of a chunk over both pools.
 *
 *	free stack --pop--> a writer's --queue--> batch --commit--> free stack
 *
 * A chunk returns to the free stack only after the kernel has answered its commit, although the
 * kernel may free it earlier (it takes complete chunks when a reader flushes).  So no answer can
 * concern another lap of the chunk.  A writer that has popped a chunk owns it: it fills in the
 * header before it sets TB_CHUNK_WRITING, so no thread sees an old header with that state.
 *
 * Order.  The chunks of a writer are committed in the order of their numbers: the queue is first
 * in, first out, and a writer changes from one pool to the other only when none of its chunks is
 * queued.
 *
 * Locks.  Recording takes none: the stack and the queue are words changed by compare-and-exchange.
 * A thread that finds a commit due tries the lock @commit; if it is taken its holder commits.  All
 * else takes @control before @commit.  A lock knows its holder, so a signal handler that has
 * interrupted the holder gets an error.
 */
#ifndef TB_ARBITER_H
#define TB_ARBITER_H

#include "tracebuf_record.h"

/* Every access to shared words goes through a hook: tests run the other thread there */
#ifdef TB_STEPS
extern void (*tb_step)(const volatile void *word);
#define TB_STEP(word) \
	do { \
		if (tb_step) \
			tb_step(word); \
	} while (0)
/* the nth allocation from now on, and those after it, fail; 0: none fails */
extern unsigned int tb_map_fails;
#else
#define TB_STEP(word)	do { } while (0)
#endif

#define shared_get(p) \
	(__extension__ ({ TB_STEP(p); __atomic_load_n(p, __ATOMIC_RELAXED); }))
#define shared_get_acquire(p) \
	(__extension__ ({ TB_STEP(p); __atomic_load_n(p, __ATOMIC_ACQUIRE); }))
#define shared_set(p, v) \
	do { TB_STEP(p); __atomic_store_n(p, v, __ATOMIC_RELAXED); } while (0)
#define shared_set_release(p, v) \
	do { TB_STEP(p); __atomic_store_n(p, v, __ATOMIC_RELEASE); } while (0)
#define shared_swap(p, v) \
	(__extension__ ({ TB_STEP(p); __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL); }))
#define shared_add(p, v) \
	(__extension__ ({ TB_STEP(p); __atomic_add_fetch(p, v, __ATOMIC_RELAXED); }))
/* if *p is *old, set it to v and return true; else load *p to *old */
#define shared_cas(p, old, v) \
	(__extension__ ({ \
		TB_STEP(p); \
		__atomic_compare_exchange_n(p, old, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
	}))

/* ---- channel (producer.c) ------------------------------------------------ */

struct tb_endpoint;

/* tb_endpoint_ops.wait */
#define TB_WAIT_FLUSH	0x01
#define TB_WAIT_CHANGE	0x02

/**
 * struct tb_endpoint_ops - operations of a channel
 * @setup: TB_PIOC_SETUP, and map; @chunks out: NULL without shared memory
 * @target, @writer, @category, @commit: the ioctl of that name; 0 or -errno
 * @wait: wait for a flush request or a change; TB_WAIT_*, 0 after @timeout_ms, -errno
 * @now_us: read a clock for periods, which may be coarse
 * @nap: sleep
 * @close: close the channel and unmap its memory
 * @close_inherited: close it in a child process, which does not have the mappings
 */
struct tb_endpoint_ops {
	int (*setup)(struct tb_endpoint *endpoint, struct tb_producer_setup *setup,
		     const struct tb_producer_page **page, void **chunks);
	int (*target)(struct tb_endpoint *endpoint, struct tb_target_req *request);
	int (*writer)(struct tb_endpoint *endpoint, const struct tb_writer_req *request);
	int (*category)(struct tb_endpoint *endpoint, struct tb_category_req *request);
	int (*commit)(struct tb_endpoint *endpoint, struct tb_commit *commit);
	int (*wait)(struct tb_endpoint *endpoint, int timeout_ms);
	uint64_t (*now_us)(struct tb_endpoint *endpoint);
	void (*nap)(struct tb_endpoint *endpoint, uint64_t us);
	void (*close)(struct tb_endpoint *endpoint);
	void (*close_inherited)(struct tb_endpoint *endpoint);
};

struct tb_endpoint {
	const struct tb_endpoint_ops *ops;
};

/* Open /dev/tracebuf_producer */
int tb_producer_open(struct tb_endpoint **endpoint);
#ifdef TB_STEPS
/* if not NULL, called instead */
extern int (*tb_open_instead)(struct tb_endpoint **endpoint);
#endif

/* ---- lock (futex_lock.c): it knows its holder ------------------------------ */

struct tb_futex_lock {
	uint32_t word;
};

/* false: a signal handler has interrupted its thread, which holds the lock */
bool tb_futex_lock_acquire(struct tb_futex_lock *lock);
bool tb_futex_lock_try(struct tb_futex_lock *lock);
void tb_futex_lock_release(struct tb_futex_lock *lock);

/* Allocate zeroed memory; NULL: none.  Signals: yes. */
void *tb_map(size_t bytes);
void tb_unmap(void *memory, size_t bytes);

/* ---- pools --------------------------------------------------------------- */

enum { POOL_SHARED, POOL_OWN, POOLS };

#define HANDLE(pool, index)	((uint32_t)(pool) << 16 | (index))
#define HANDLE_POOL(handle)	((handle) >> 16)
#define HANDLE_INDEX(handle)	((handle) & 0xffffu)
#define HANDLE_NONE		UINT32_MAX

/**
 * struct tb_chunk_note - private data of the arbiter about a chunk
 * @owner: OWNER() of writer and serial number until the kernel answers, then 0
 * @next: handle + 1 of the next chunk on the free stack or in the queue
 * The other members are for POOL_OWN, and protected by the lock @commit:
 * @taken_bytes, @taken_records: already sent by scraping
 * @shift: bytes by which make_ready() has moved the contents down, over what was scraped
 */
struct tb_chunk_note {
	uint64_t owner;
	uint32_t next;
	uint32_t taken_bytes;
	uint32_t taken_records;
	uint32_t shift;
};

/* not 0, because a writer's id is not 0; serial numbers wrap around */
#define OWNER(writer, serial)	((uint64_t)(writer) << 32 | (uint32_t)(serial))
#define OWNER_WRITER(owner)	((uint32_t)((owner) >> 32))
#define OWNER_SERIAL(owner)	((uint32_t)(owner))

/**
 * struct tb_pool - chunks
 * @chunks: their memory; NULL: the pool does not exist yet
 * @notes: one for each chunk
 * @count: number of chunks
 * @free: top of the free stack: index + 1, 0 if it is empty.  The upper half counts changes, so
 *	that a compare-and-exchange fails if the top was popped and pushed again meanwhile
 */
struct tb_pool {
	unsigned char *chunks;
	struct tb_chunk_note *notes;
	uint32_t count;
	uint64_t free;
};

/* ---- writer ---------------------------------------------------------------- */

#define SENT_NOTES 64

/* A chunk of POOL_OWN that the kernel has received under another number, or in pieces */
struct sent_note {
	uint32_t serial;
	uint32_t id;
	uint32_t shift;
};

/* how a writer knows its target */
enum {
	TARGET_KNOWN,		/* from its creation */
	TARGET_RESERVED,	/* from a reservation; its chunks are in POOL_OWN */
	TARGET_MOVED,		/* from a reservation; its chunks are in pool_bound() */
};

/**
 * struct writer - all data of a writer
 * @pub: what the inline functions use
 * @arbiter: NULL: the null writer
 * @handle: handle of pub.chunk
 * @state: state word of pub.chunk
 * @id: 1..65535
 * @serial: number of the next chunk
 * @first: number of the first record of the current chunk; without a chunk, of the next record
 * @cause: TB_LOST_* for the next chunk
 * @nested: records that signal handlers could not record, not yet in @first
 * @lost: all lost records, without @nested
 * @full: enum tb_full
 * @gave_up: with TB_FULL_STALL_THEN_DROP: it got no chunk since it stalled in vain
 * @source: TARGET_*
 * @reservation: index in tb_arbiter.reservations
 * @target: with TARGET_KNOWN and TARGET_MOVED
 * @recording: generation of the target's recording that has the names
 * @holes: records in the current chunk without a duration
 * @tid: its thread
 * @queued: complete chunks that the kernel has not answered
 * @retell: names may have been lost with a chunk
 * @forked: it belongs to the parent process
 * The other members are protected by the lock @commit:
 * @kernel_knows: TB_PIOC_WRITER was called
 * @leaving: destroyed; freed when its last chunk is answered, and its losses are reported
 * @next_ended: in the list tb_arbiter.ended
 * @next_sent: for POOL_OWN: serial number of the next chunk to send
 * @extra: for POOL_OWN: number of scraped pieces; the kernel's chunk numbers are higher by this
 * @refused: records in refused chunks
 * @sent: by serial number % SENT_NOTES
 */
struct writer {
	struct tb_writer pub;
	struct tb_arbiter *arbiter;
	uint32_t handle;
	uint32_t state;
	uint32_t id;
	uint32_t serial;
	uint32_t cause;
	uint64_t first;
	uint64_t nested;
	uint64_t lost;
	uint32_t full;
	uint32_t gave_up;
	uint32_t source;
	uint32_t reservation;
	uint32_t target;
	uint32_t recording;
	uint32_t holes;
	uint32_t tid;
	uint32_t queued;
	uint32_t retell;
	uint32_t forked;

	uint32_t kernel_knows;
	uint32_t leaving;
	struct writer *next_ended;
	uint32_t next_sent;
	uint32_t extra;
	uint64_t refused;
	struct sent_note sent[SENT_NOTES];
};

/* ---- arbiter ---------------------------------------------------------------- */

enum { RESERVATION_UNUSED, RESERVATION_OPEN, RESERVATION_NAMED, RESERVATION_BOUND,
       RESERVATION_ABORTED };

/**
 * struct reservation - a target that is set later
 * @state: RESERVATION_*; NAMED: the provider is known, the arbiter is not bound
 * @number: the caller's number
 * @target: with RESERVATION_BOUND
 */
struct reservation {
	uint32_t state;
	uint32_t number;
	uint32_t target;
	char     provider[TB_PROVIDER_NAME_MAX];
};

/* A value for a hole */
struct patch {
	uint32_t next;		/* index + 1, on the free stack or in the queue */
	uint32_t handle;
	uint64_t owner;
	uint64_t value;
	uint32_t offset;
	uint32_t listed;	/* it is in tb_arbiter.list */
};

struct flush_wait {
	struct flush_wait *next;
	void (*done)(void *data);
	void *data;
};

#define PATCHES		512	/* waiting at the same time */
#define REFS		256	/* chunks in one commit */
#define WRITERS		65536

/**
 * struct tb_arbiter_stats - counts of an arbiter
 * @commits: calls of the kernel
 * @chunks: chunks, or pieces of them, that the kernel took
 * @refused: chunks that it did not take
 * @broken: chunks that are no longer used because their state is impossible
 * @patches: holes whose values the kernel got as patches
 * @patches_lost: values that were dropped because there was no room for them
 * @aborted: chunks dropped with an aborted reservation, or because the kernel refused the writer
 */
struct tb_arbiter_stats {
	uint64_t commits;
	uint64_t chunks;
	uint64_t refused;
	uint64_t broken;
	uint64_t patches;
	uint64_t patches_lost;
	uint64_t aborted;
};

/**
 * struct tb_arbiter - an arbiter
 * @bound: there is a channel; an acquire of 1 sees all that belongs to it
 * @forked: it belongs to the parent process
 * @revision: rises when a reservation was decided
 * @life: number of writers; LIFE_SHUTDOWN: no new ones
 * @queue: complete chunks, newest first: handle + 1
 * @patch_queue, @patch_free: patches, as @queue and tb_pool.free
 * @uncommitted: number of complete chunks of pool_bound()
 * @last_commit: time in us
 * @batch: complete chunks in the order in which they were queued, @nr_batch (lock @commit)
 * @seen, @seen_bound: states of reservations, and @bound, at the start of the commit (@commit)
 * @pending: patches to apply or to send, @nr_pending (@commit)
 * @refs, @list: arguments of the kernel; @sending: index of each ref in @batch; @sent_records:
 *	number of records of each ref, which the chunk has no more when the kernel has answered
 * @stage: room for a piece of a chunk
 * @ended: destroyed writers that had no free chunk to report their losses, @nr_ended (@commit)
 * @serving: @thread runs; @stopping: it must end
 */
struct tb_arbiter {
	struct tb_endpoint *endpoint;
	const struct tb_producer_page *page;
	uint32_t bound;
	uint32_t forked;
	uint32_t ever_unbound;
	uint32_t no_shared;
	uint32_t direct_patch;
	uint32_t chunk_bytes;
	uint32_t nr_chunks;
	uint32_t clock;
	uint32_t revision;
	uint32_t life;
	uint32_t period_ms;
	uint64_t last_commit;
	uint32_t uncommitted;
	uint32_t queue;
	uint64_t patch_free;
	uint32_t patch_queue;
	struct tb_pool pools[POOLS];

	struct tb_futex_lock control;
	struct tb_futex_lock commit;
	uint32_t *batch;
	uint32_t nr_batch;
	uint32_t seen[TB_TARGETS_MAX], seen_bound;
	uint32_t pending[PATCHES];
	uint32_t nr_pending;
	struct patch patches[PATCHES];
	struct tb_chunk *stage;
	struct writer *ended;
	uint32_t nr_ended;
	struct tb_chunk_ref refs[REFS];
	uint32_t sending[REFS];
	uint32_t sent_records[REFS];
	struct tb_patch list[PATCHES];

	struct writer **writers;
	uint32_t ids[WRITERS / 32];
	uint32_t next_id;
	struct reservation reservations[TB_TARGETS_MAX];
	struct tb_category *categories;
	struct flush_wait *waiting;
	struct tb_arbiter_stats stats;

	struct tb_arbiter *next;
	unsigned long thread;
	uint32_t serving, stopping;
};

#define LIFE_SHUTDOWN	0x80000000u

static inline struct writer *writer_of(const struct tb_writer *pub)
{
	return (struct writer *)(uintptr_t)pub;
}

static inline struct tb_pool *pool_of(struct tb_arbiter *arbiter, uint32_t handle)
{
	return &arbiter->pools[HANDLE_POOL(handle)];
}

static inline struct tb_chunk_note *note_of(struct tb_arbiter *arbiter, uint32_t handle)
{
	return &pool_of(arbiter, handle)->notes[HANDLE_INDEX(handle)];
}

static inline struct tb_chunk *chunk_of(struct tb_arbiter *arbiter, uint32_t handle)
{
	return (struct tb_chunk *)(pool_of(arbiter, handle)->chunks +
				   (size_t)HANDLE_INDEX(handle) * arbiter->chunk_bytes);
}

/* pool of writers with a known target */
static inline unsigned int pool_bound(const struct tb_arbiter *arbiter)
{
	return arbiter->no_shared ? POOL_OWN : POOL_SHARED;
}

static inline uint32_t chunk_room(const struct tb_arbiter *arbiter)
{
	return arbiter->chunk_bytes - (uint32_t)sizeof(struct tb_chunk);
}

/* the duration of a slice: 0 is a hole */
static inline uint64_t *slice_value(struct tb_record *record)
{
	return (uint64_t *)(record + 1) + (record->flags & TB_REC_FLOW ? 1 : 0);
}

/* arbiter.c */
int tb_arbiter_create_on(const struct tb_arbiter_options *options,
			 struct tb_endpoint *endpoint, struct tb_arbiter **arbiter);
int tb_arbiter_bind_to(struct tb_arbiter *arbiter, struct tb_endpoint *endpoint);
int tb_arbiter_reserve(struct tb_arbiter *arbiter, uint32_t number);
void tb_arbiters_fork(int where);
enum { FORK_PREPARE, FORK_PARENT, FORK_CHILD };

/* chunk.c: pools, claiming and completing */
int tb_pool_make(struct tb_arbiter *arbiter, unsigned int pool, void *chunks, uint32_t count);
void tb_pool_push(struct tb_arbiter *arbiter, uint32_t handle);
uint32_t tb_chunk_claim(struct tb_arbiter *arbiter, unsigned int pool,
			const struct tb_chunk *header, uint64_t owner, uint32_t *state);
void tb_chunk_free(struct tb_arbiter *arbiter, uint32_t handle);
void tb_chunk_rehole(struct tb_chunk *chunk, uint32_t from);
/* 0, or TB_LOST_*; stalls only if it may @wait */
uint32_t tb_writer_acquire(struct writer *writer, bool wait);
void tb_writer_complete(struct writer *writer);
void tb_writer_tell_lost(struct writer *writer);

/* commit.c; the caller of the first three holds the lock @commit, or has not shared the writer yet
 */
int tb_commit_all(struct tb_arbiter *arbiter, uint32_t flush, bool scrape);
int tb_commit_register(struct tb_arbiter *arbiter, struct writer *writer);
void tb_commit_gone(struct tb_arbiter *arbiter, struct writer *writer);
/* Free a destroyed writer as soon as its chunks are answered and its losses reported */
void tb_commit_leave(struct tb_arbiter *arbiter, struct writer *writer);
void tb_commit_if_due(struct tb_arbiter *arbiter);
bool tb_commit_try(struct tb_arbiter *arbiter);

/* writer.c */
struct tb_writer *tb_writer_null(void);

/* patch.c; the caller of the last three holds the lock @commit */
void tb_patches_make(struct tb_arbiter *arbiter);
void tb_patch_add(struct tb_arbiter *arbiter, const struct patch *patch);
void tb_patches_apply(struct tb_arbiter *arbiter);
uint32_t tb_patches_list(struct tb_arbiter *arbiter, struct tb_patch *list);
void tb_patches_sent(struct tb_arbiter *arbiter);

/* category.c */
uint32_t tb_name_id(struct tb_name *name);
int tb_category_attach(struct tb_arbiter *arbiter, struct tb_category *category);
void tb_categories_link(struct tb_arbiter *arbiter);
void tb_categories_drop(struct tb_arbiter *arbiter);
struct tb_category *tb_category_intern(const char *text);
/* True if the kernel has not been asked about the category */
bool tb_category_is_unknown(const struct tb_category *category);
/* Close its gate while there is no arbiter */
void tb_category_close(struct tb_category *category);
/* Open these gates: there is an arbiter */
void tb_categories_open(void);
/* The name with this text for one record: interned if there is room; else @own, which the writer
 * records with each use */
struct tb_name *tb_text_name(const char *text, enum tb_name_kind kind,
			     struct tb_category *category, struct tb_name *own);

/* ---- what only the library and its tests call ---- */

/** tb_arbiter_commit - commit all complete chunks.  Errors: those of TB_PIOC_COMMIT; -EDEADLK a
 *  signal handler has interrupted a commit. */
int tb_arbiter_commit(struct tb_arbiter *arbiter);

/** tb_arbiter_flush_wanted - number of the last flush that a reader asked for; 0: none.
 *  Signals: yes. */
uint32_t tb_arbiter_flush_wanted(const struct tb_arbiter *arbiter);

/** tb_arbiter_read_stats - get its counts */
void tb_arbiter_read_stats(const struct tb_arbiter *arbiter, struct tb_arbiter_stats *stats);

#endif /* TB_ARBITER_H */
