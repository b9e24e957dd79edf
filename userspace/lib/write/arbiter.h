/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, recording, inside: the arbiter of user-space writers and what its parts call of
 * each other.  Nothing here is installed.
 *
 * Where chunks are.  There are two pools: POOL_SHARED, the memory of the channel, and POOL_OWN,
 * the arbiter's, of the same layout: for startup writers, whose target nobody knows yet, and for
 * channels without shared memory.  A chunk is named by its handle, a number over both.
 *
 *	free stack --pop--> a writer's --queue--> batch --commit--> free stack
 *
 * A chunk is on the free stack only after the kernel has answered its commit, though the
 * kernel may have made it free before (it takes complete chunks when a reader flushes).  So
 * no answer can be meant for another lap of it, and who has popped it has it alone: he fills in
 * its header before he makes it TB_CHUNK_WRITING, so nobody ever sees a header of the lap
 * before with that state.
 *
 * Order.  The chunks of a writer are committed in the order of their numbers: the queue is
 * first in, first out, and a writer goes over from one pool to the other only when none of
 * its chunks is queued.
 *
 * Locks.  Recording takes none: the stack and the queue are words exchanged by compare-and-
 * exchange, and whoever finds a commit due tries the gate @commit and leaves it to its holder if
 * it is taken.  Everything else takes @control before @commit.  The gates know who has them,
 * so a signal handler that interrupted the holder is told.
 */
#ifndef TB_ARBITER_H
#define TB_ARBITER_H

#include "tracebuf_record.h"

/*
 * Every access to what threads share, with a hook before it: tests run the other contender
 * there.
 */
#ifdef TB_STEPS
extern void (*tb_step)(const volatile void *word);
#define TB_STEP(word) \
	do { \
		if (tb_step) \
			tb_step(word); \
	} while (0)
/* the nth allocation from now on fails, and those after it; 0: none */
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
/* was *p *old?  Then it is v; else *old is what it was */
#define shared_cas(p, old, v) \
	(__extension__ ({ \
		TB_STEP(p); \
		__atomic_compare_exchange_n(p, old, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
	}))

/* ---- the channel's end (producer.c) -------------------------------------- */

struct tb_endpoint;

/* tb_endpoint_ops.wait */
#define TB_WAIT_FLUSH	0x01
#define TB_WAIT_CHANGE	0x02

/**
 * struct tb_endpoint_ops - what an arbiter needs of a channel
 * @setup: TB_PIOC_SETUP and the mapping; @chunks out: NULL without shared memory
 * @target, @writer, @category, @commit: the ioctl of that name; 0 or -errno
 * @wait: until a flush is wanted or something changed; TB_WAIT_*, 0 after @timeout_ms, -errno
 * @now_us: a clock for periods, which may be coarse
 * @nap: sleep
 * @close: give up the channel and its memory
 * @close_inherited: likewise in a child, which has not got the memory
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

/* /dev/tracebuf_producer */
int tb_producer_open(struct tb_endpoint **endpoint);
#ifdef TB_STEPS
/* or this, if it is there */
extern int (*tb_open_instead)(struct tb_endpoint **endpoint);
#endif

/* ---- gate (gate.c): a lock that knows who has it ------------------------- */

struct tb_gate {
	uint32_t word;
};

/* false: the calling thread has it already, a signal handler interrupted it */
bool tb_gate_enter(struct tb_gate *gate);
bool tb_gate_try(struct tb_gate *gate);
void tb_gate_leave(struct tb_gate *gate);

/* Zeroed memory that a signal handler may ask for; NULL */
void *tb_map(size_t bytes);
void tb_unmap(void *memory, size_t bytes);

/* ---- pools --------------------------------------------------------------- */

enum { POOL_SHARED, POOL_OWN, POOLS };

#define HANDLE(pool, index)	((uint32_t)(pool) << 16 | (index))
#define HANDLE_POOL(handle)	((handle) >> 16)
#define HANDLE_INDEX(handle)	((handle) & 0xffffu)
#define HANDLE_NONE		UINT32_MAX

/**
 * struct tb_chunk_note - what the arbiter keeps of a chunk, out of the memory that is shared
 * @owner: OWNER() of writer and serial number until the chunk is answered, then 0
 * @next: handle + 1 of the next one, on the free stack or in the queue
 * The rest is of POOL_OWN, and the commit gate's:
 * @taken_bytes, @taken_records: scraped already
 * @shift: what is in it has been moved down by this, over what was scraped
 */
struct tb_chunk_note {
	uint64_t owner;
	uint32_t next;
	uint32_t taken_bytes;
	uint32_t taken_records;
	uint32_t shift;
};

/* a writer's id is not 0, so neither is this; serial numbers wrap around */
#define OWNER(writer, serial)	((uint64_t)(writer) << 32 | (uint32_t)(serial))
#define OWNER_WRITER(owner)	((uint32_t)((owner) >> 32))
#define OWNER_SERIAL(owner)	((uint32_t)(owner))

/**
 * struct tb_pool - chunks
 * @chunks: they; NULL: the pool is not there yet
 * @notes: one for each
 * @count: of them
 * @free: the top of the free stack: index + 1, 0 if it is empty; the upper half counts changes,
 *	so that a top that was taken and put back meanwhile is told from one that stayed
 */
struct tb_pool {
	unsigned char *chunks;
	struct tb_chunk_note *notes;
	uint32_t count;
	uint64_t free;
};

/* ---- writer ---------------------------------------------------------------- */

#define SENT_NOTES 64

/* A chunk of POOL_OWN that the kernel has got under another number, or in pieces */
struct sent_note {
	uint32_t serial;
	uint32_t id;
	uint32_t shift;
};

/* where its records go */
enum {
	TARGET_KNOWN,		/* told at its creation */
	TARGET_RESERVED,	/* that of a reservation, and its chunks are in POOL_OWN */
	TARGET_MOVED,		/* that of a reservation, and its chunks are where others' are */
};

/**
 * struct writer - all of a writer
 * @pub: what recording needs
 * @arbiter: NULL: the null writer
 * @handle: of pub.chunk
 * @state: its state word
 * @id: 1..65535
 * @serial: number of the next chunk
 * @first: number of the first record of the current chunk, or of the next record if there is none
 * @cause: TB_LOST_* for the next chunk
 * @nested: records that signal handlers could not record, not in @first yet
 * @lost: in all, without @nested
 * @full: enum tb_full
 * @gave_up: of TB_FULL_STALL_THEN_DROP: no chunk since it stalled in vain
 * @source: TARGET_*
 * @reservation: index in the arbiter's
 * @target: of TARGET_KNOWN and TARGET_MOVED
 * @recording: generation of the target's recording that names were told to
 * @holes: records in the current chunk whose duration is not filled in
 * @tid: its thread
 * @queued: chunks that are complete and not answered
 * @retell: names may have been lost with a chunk
 * @forked: belongs to another process
 * What follows is the commit gate's:
 * @told_kernel: TB_PIOC_WRITER was done
 * @leaving: destroyed, goes when its last chunk is answered
 * @next_sent: of POOL_OWN: serial of the chunk that is next to go
 * @extra: of POOL_OWN: pieces scraped so far; the kernel's number of a chunk is higher by this
 * @refused: records in chunks that were refused
 * @sent: by serial % SENT_NOTES
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

	uint32_t told_kernel;
	uint32_t leaving;
	uint32_t next_sent;
	uint32_t extra;
	uint64_t refused;
	struct sent_note sent[SENT_NOTES];
};

/* ---- arbiter ---------------------------------------------------------------- */

enum { RESERVATION_UNUSED, RESERVATION_OPEN, RESERVATION_NAMED, RESERVATION_BOUND,
       RESERVATION_ABORTED };

/**
 * struct reservation - targets to be told of later
 * @state: RESERVATION_*; NAMED: the provider is known, the channel is not there
 * @number: the caller's
 * @target: of RESERVATION_BOUND
 */
struct reservation {
	uint32_t state;
	uint32_t number;
	uint32_t target;
	char     provider[TB_PROVIDER_NAME_MAX];
};

/* A hole that is filled in, on its way */
struct patch {
	uint32_t next;		/* index + 1, on the free stack or in the queue */
	uint32_t handle;
	uint64_t owner;
	uint64_t value;
	uint32_t offset;
	uint32_t listed;	/* in the list of the commit that is being made */
};

struct flush_wait {
	struct flush_wait *next;
	void (*done)(void *data);
	void *data;
};

#define PATCHES		512	/* on their way at once */
#define REFS		256	/* chunks in one commit */
#define WRITERS		65536

/**
 * struct tb_arbiter_stats - what an arbiter did so far
 * @commits: calls of the kernel that committed
 * @chunks: chunks, and pieces of them, that the kernel took
 * @refused: those it did not take
 * @broken: chunks that are out of use because their state is not what it can be
 * @patches: holes that were filled in by telling the kernel
 * @patches_lost: holes that stay, because there was no room to remember what is in them
 * @aborted: chunks that went with an aborted reservation
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
 * struct tb_arbiter
 * @bound: there is a channel; all of it can be used by who has seen this (acquire)
 * @forked: it is the parent's
 * @revision: goes up when a startup writer's prospects changed
 * @life: writers; LIFE_SHUTDOWN: no new ones
 * @queue: complete chunks, newest first, handle + 1
 * @patch_queue, @patch_free: likewise, as tb_pool.free
 * @uncommitted: complete chunks of the pool that bound writers use
 * @last_commit: us
 * @batch: the commit gate's: complete chunks in the order in which they were queued, @nr_batch
 * @seen, @seen_bound: the commit gate's: states of reservations and @bound when the commit began
 * @pending: the commit gate's: patches to be applied or told, @nr_pending
 * @refs, @list: what is given to the kernel; @sending: where refs are in @batch; @sent_records:
 *	how many records the chunks have, which is not there any more when they are answered
 * @stage: room for a piece of a chunk
 * @serving: the thread @thread is there; @stopping: it is to end
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

	struct tb_gate control;
	struct tb_gate commit;
	uint32_t *batch;
	uint32_t nr_batch;
	uint32_t seen[TB_TARGETS_MAX], seen_bound;
	uint32_t pending[PATCHES];
	uint32_t nr_pending;
	struct patch patches[PATCHES];
	struct tb_chunk *stage;
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

/* the pool of writers whose target is known */
static inline unsigned int pool_bound(const struct tb_arbiter *arbiter)
{
	return arbiter->no_shared ? POOL_OWN : POOL_SHARED;
}

static inline uint32_t chunk_room(const struct tb_arbiter *arbiter)
{
	return arbiter->chunk_bytes - (uint32_t)sizeof(struct tb_chunk);
}

/* the value of a slice, which is what a hole is in */
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
/* 0, or TB_LOST_*; does not stall unless it may @wait */
uint32_t tb_writer_acquire(struct writer *writer, bool wait);
void tb_writer_complete(struct writer *writer);
void tb_writer_tell_lost(struct writer *writer);

/* commit.c; the gate is to be held for the first two */
int tb_commit_all(struct tb_arbiter *arbiter, uint32_t flush, bool scrape);
int tb_commit_register(struct tb_arbiter *arbiter, struct writer *writer);
void tb_commit_gone(struct tb_arbiter *arbiter, struct writer *writer);
void tb_commit_if_due(struct tb_arbiter *arbiter);
bool tb_commit_try(struct tb_arbiter *arbiter);

/* writer.c */
struct tb_writer *tb_writer_null(void);

/* patch.c; the gate is to be held for the last three */
void tb_patches_make(struct tb_arbiter *arbiter);
void tb_patch_add(struct tb_arbiter *arbiter, const struct patch *patch);
void tb_patches_apply(struct tb_arbiter *arbiter);
uint32_t tb_patches_list(struct tb_arbiter *arbiter, struct tb_patch *list);
void tb_patches_told(struct tb_arbiter *arbiter);

/* category.c */
uint32_t tb_name_id(struct tb_name *name);
int tb_category_attach(struct tb_arbiter *arbiter, struct tb_category *category);
void tb_categories_link(struct tb_arbiter *arbiter);
void tb_categories_drop(struct tb_arbiter *arbiter);
struct tb_category *tb_category_intern(const char *text);
/* Has nobody asked the kernel about it? */
bool tb_category_is_unknown(const struct tb_category *category);
/* Nobody can want it until there is an arbiter */
void tb_category_close(struct tb_category *category);
/* There is one */
void tb_categories_open(void);
/* The name with this text for one record: interned if there is room, else @own, which is told
 * before that record */
struct tb_name *tb_text_name(const char *text, enum tb_name_kind kind,
			     struct tb_category *category, struct tb_name *own);

/* ---- what only the library and its tests call ---- */

/** tb_arbiter_commit - commit all complete chunks.  Errors: those of TB_PIOC_COMMIT;
 *  -EDEADLK by a signal handler that interrupted a commit. */
int tb_arbiter_commit(struct tb_arbiter *arbiter);

/** tb_arbiter_flush_wanted - number of the last flush that a reader asked for; 0: none.
 *  Signals: yes. */
uint32_t tb_arbiter_flush_wanted(const struct tb_arbiter *arbiter);

/** tb_arbiter_read_stats - what it did so far */
void tb_arbiter_read_stats(const struct tb_arbiter *arbiter, struct tb_arbiter_stats *stats);

#endif /* TB_ARBITER_H */
