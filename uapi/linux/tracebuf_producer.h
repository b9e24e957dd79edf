/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tracebuf - the ABI of user-space writers: the memory that a program shares with the kernel,
 * the ioctls of /dev/tracebuf_producer, and what chunks look like there and in a trace.
 *
 * A program that opens /dev/tracebuf_producer gets a channel.  It maps a page that the kernel
 * writes (struct tb_producer_page, read-only) and chunks that the program writes.  A chunk belongs
 * to one writer, and a writer to one thread.  The writer puts records into its chunk without a
 * system call and publishes them by storing how far they go.  The program commits complete chunks
 * in batches by ioctl.  The kernel copies them into the ring of a provider, the writer's target,
 * as TB_EV_CHUNK.  Whenever a reader flushes, a recording stops or the process ends, the kernel
 * also takes the published records of incomplete chunks.  So no published record is lost with its
 * process.
 *
 * The kernel trusts nothing in that memory: it copies a chunk, then checks the copy, and takes the
 * process from the channel.  Readers of traces must not trust the contents of chunks either.
 */
#ifndef _UAPI_LINUX_TRACEBUF_PRODUCER_H
#define _UAPI_LINUX_TRACEBUF_PRODUCER_H

#include <linux/tracebuf.h>

#define TB_PRODUCER_ABI		1

/* ---- limits ----------------------------------------------------------- */

#define TB_CHUNK_BYTES_MIN	256	/* a power of two */
#define TB_CHUNK_BYTES_MAX	8192
#define TB_CHUNKS_MIN		2
#define TB_CHUNKS_MAX		16384
#define TB_CHUNKS_BYTES_MAX	(64u << 20)	/* all of a channel */
#define TB_TARGETS_MAX		16	/* providers a channel writes to */
#define TB_CATEGORIES_MAX	512	/* of a channel */
#define TB_WRITER_NONE		0	/* no writer has this id */
#define TB_WRITER_MAX		65535
#define TB_COMMIT_MAX		1024	/* chunks, and patches, of one TB_PIOC_COMMIT */

/* ---- the page that the kernel writes ------------------------------------ */

/**
 * struct tb_producer_target - part of struct tb_producer_page: one target
 * @clock: enum tb_clock_id that writers read: the clock of the recording, or TB_CLOCK_MONO if
 *	programs cannot read that clock.  The kernel may change it after the machine has slept
 * @generation: number of recordings of the target; stored with release after @clock, @frequency and
 *	the bits of the target in @closed and @overwrites of the page
 * @frequency: ticks per second of the clock, as precisely as the kernel knows it
 */
struct tb_producer_target {
	__u32 clock;
	__u32 generation;
	__u64 frequency;
};

/**
 * struct tb_producer_page - at offset 0 of the mapping, read-only
 * @abi: TB_PRODUCER_ABI
 * @producer: id of the channel, never used twice while the module is loaded; as in TB_EV_CHUNK
 * @flush: number of flushes that readers have asked producers for; see tb_commit.flush
 * @recording: bit t: target t records
 * @overwrites: bit t: target t overwrites old blocks, so each chunk should define its names again
 * @changes: incremented after words other than @flush have changed
 * @closed: bit t: target t takes nothing from producers
 * @reserved: zero
 * @targets: targets that TB_PIOC_TARGET has set up
 * @categories: categories that TB_PIOC_CATEGORY has registered; bit t: target t records and wants
 *	this one
 *
 * Words change one by one, at any time.
 */
struct tb_producer_page {
	__u32 abi;
	__u32 producer;
	__u32 flush;
	__u32 recording;
	__u32 overwrites;
	__u32 changes;
	__u32 closed;
	__u32 reserved[9];
	struct tb_producer_target targets[TB_TARGETS_MAX];
	__u32 categories[TB_CATEGORIES_MAX];
};

#define TB_PRODUCER_PAGE_BYTES	4096	/* reserved for it; see tb_producer_setup.chunks_offset */

/* ---- chunk ------------------------------------------------------------ */

/*
 * tb_chunk.state: the low byte is enum tb_chunk_state, the upper half the wrap count.  The kernel
 * increments the wrap count whenever it makes a chunk free again, and stores that state with
 * release.  Writers change the state by compare-and-exchange from the wrap count that they know, so
 * a writer that is late by a lap of the chunk changes nothing.  Before the kernel makes a chunk
 * free it sets @published and @hole to zero.  A writer that takes the chunk must write the rest of
 * the header before it publishes records.
 */
enum tb_chunk_state {
	TB_CHUNK_FREE		= 0,
	TB_CHUNK_WRITING	= 1,	/* a writer has it; set by the producer */
	TB_CHUNK_COMPLETE	= 2,	/* no records follow; set by the producer, with release */
};

#define TB_CHUNK_STATE(s)	((s) & 0xffu)
#define TB_CHUNK_WRAP(s)	((s) >> 16)
#define TB_CHUNK_WORD(state, wrap)	((__u32)(state) | (__u32)(wrap) << 16)

/* tb_chunk.published: stored with release when a record is finished */
#define TB_PUBLISHED_BYTES(p)	((p) & 0xffffu)	/* of data */
#define TB_PUBLISHED_RECORDS(p)	((p) >> 16)
#define TB_PUBLISHED(bytes, records)	((__u32)(bytes) | (__u32)(records) << 16)

/* why records before this chunk are missing: tb_chunk.cause, tb_chunk_event.cause; a mask */
#define TB_LOST_NO_CHUNK	0x0001	/* producer: no chunk was free, policy drop */
#define TB_LOST_STALL		0x0002	/* producer: no chunk became free in time */
#define TB_LOST_OVERSIZE	0x0004	/* producer: the record is larger than a chunk */
#define TB_LOST_UNBOUND		0x0008	/* producer: no room before it had a channel, or aborted */
#define TB_LOST_SIGNAL		0x0010	/* producer: a signal handler interrupted the writer */
#define TB_LOST_PRODUCER	0x00ff	/* the causes that producers may set */
#define TB_LOST_RING		0x0100	/* kernel: the ring had no room */
#define TB_LOST_QUOTA		0x0200	/* kernel: struct tb_quota forbids it */
#define TB_LOST_STOPPED		0x0400	/* kernel: the target did not record */
#define TB_LOST_INVALID		0x0800	/* kernel: the chunk was invalid */

/* tb_chunk.flags, tb_chunk_event.flags */
#define TB_CHUNK_CLOCK_MASK	0x0003	/* enum tb_clock_id of the times in it */
#define TB_CHUNK_FRESH		0x0004	/* it defines all names that its records use */
#define TB_CHUNK_FLAGS		0x0007	/* the flags that producers may set */
#define TB_CHUNK_LAST		0x0100	/* tb_chunk_event: the last piece of this chunk */
#define TB_CHUNK_SCRAPED	0x0200	/* tb_chunk_event: taken by the kernel, not committed */
#define TB_CHUNK_HOLES		0x0400	/* tb_chunk_event: has holes, TB_EV_PATCH may follow */

/**
 * struct tb_chunk - the start of a chunk in shared memory, 48 bytes; data follow
 * @state: TB_CHUNK_WORD()
 * @published: TB_PUBLISHED(): bytes and records of the data that are finished
 * @id: number of this chunk among those of its writer, from 0
 * @writer: id of the writer, 1..65535
 * @flags: TB_CHUNK_FLAGS
 * @cause: TB_LOST_PRODUCER: why records between the writer's last chunk and this one are missing
 * @hole: offset in the data of the first record with an open hole, plus 1; 0: no holes.  Until the
 *	chunk is committed a flush takes it only up to there, so the writer can fill holes in place
 *	(see TB_PRODUCER_DIRECT_PATCH).  When the recording or the process ends it takes all of the
 *	chunk.  The writer stores @hole before it publishes the record, and with release after it
 *	has filled a hole
 * @first: number of its first record among all records that this writer attempted, lost ones
 *	included, so a reader knows exactly how many are missing before it
 * @reserved: zero
 */
struct tb_chunk {
	__u32 state;
	__u32 published;
	__u32 id;
	__u16 writer;
	__u16 flags;
	__u16 cause;
	__u16 reserved16;
	__u32 hole;
	__u64 first;
	__u64 reserved[2];
};

/* ---- records ---------------------------------------------------------- */

/*
 * The data of a chunk are records, one after the other.  Each is a multiple of 8 bytes long, and in
 * one chunk.  The kernel does not look at them.
 */
enum tb_record_type {
	TB_REC_NAME	= 1,	/* defines @id as the text that follows; enum tb_name_kind */
	TB_REC_BEGIN	= 2,	/* a slice begins; @id: name */
	TB_REC_END	= 3,	/* the innermost slice of this writer ends */
	TB_REC_INSTANT	= 4,	/* @id: name */
	TB_REC_COUNTER	= 5,	/* @id: name; a value follows, s64 or double */
	TB_REC_SLICE	= 6,	/* @id: name; its ticks follow, u64: a hole, 0, until it ends */
	TB_REC_SIMPLE	= 7,	/* @id: name; a u64 follows */
	TB_REC_EVENT	= 8,	/* @id: name; any bytes follow */
	TB_REC_MARK	= 9,	/* text follows; id 0 */
};

enum tb_name_kind {
	TB_NAME_EVENT		= 1,	/* slices, instants, counters, events */
	TB_NAME_CATEGORY	= 2,
	TB_NAME_TEXT		= 3,	/* a text argument */
};

/* tb_record.flags */
#define TB_REC_DOUBLE	0x01	/* counter: the value is a double */
#define TB_REC_FLOW	0x02	/* a u64 flow id follows the start of the record */
#define TB_REC_FLOW_END	0x04	/* with TB_REC_FLOW: the flow ends here */
#define TB_REC_ARGS	0x08	/* the record ends with struct tb_arg */

/**
 * struct tb_record - the start of a record, 16 bytes
 * @bytes: size of the whole record, a multiple of 8
 * @type: enum tb_record_type
 * @flags: TB_REC_*
 * @id: id of a name; one producer never uses an id for two names
 * @time: the full clock.  TB_REC_NAME: bits 0 to 15 are the length of the text, bits 16 to 31 enum
 *	tb_name_kind, the upper half the name id of the category of events with this name, 0: none
 *
 * Then follow, in this order and depending on @type and @flags: the flow id; the value, the
 * duration, or the data or text after a u32 length and 4 bytes of zero; the arguments.
 */
struct tb_record {
	__u16 bytes;
	__u8  type;
	__u8  flags;
	__u32 id;
	__u64 time;
};

enum tb_arg_type {
	TB_ARG_S64	= 1,
	TB_ARG_U64	= 2,
	TB_ARG_DOUBLE	= 3,
	TB_ARG_POINTER	= 4,
	TB_ARG_TEXT	= 5,	/* @value is a name id, of any kind */
};

/**
 * struct tb_arg - an argument of a slice or instant
 * @name: name id
 * @type: enum tb_arg_type
 * @value: the value
 */
struct tb_arg {
	__u32 name;
	__u32 type;
	__u64 value;
};

/* ---- in the trace ------------------------------------------------------ */

/**
 * struct tb_chunk_event - payload of TB_EV_CHUNK: a chunk, or a piece of one; the records follow
 * @producer: id of the channel
 * @pid: process (tgid) of the channel
 * @tid: thread of the writer, which was a thread of @pid at TB_PIOC_WRITER; 0: unknown
 * @uid: real user id of the process, in the initial user namespace
 * @chunk: tb_chunk.id
 * @writer: tb_chunk.writer
 * @flags: TB_CHUNK_*
 * @cause: TB_LOST_*: why records before this piece are missing; 0: none are
 * @offset: offset of the piece in the data of the chunk; pieces of a chunk are in order
 * @records: number of records in the piece
 * @first: number of its first record, see tb_chunk.first
 * @reserved: zero
 */
struct tb_chunk_event {
	__u32 producer;
	__u32 pid;
	__u32 tid;
	__u32 uid;
	__u32 chunk;
	__u16 writer;
	__u16 flags;
	__u16 cause;
	__u16 offset;
	__u32 records;
	__u64 first;
	__u64 reserved;
};

/**
 * struct tb_patch_event - payload of TB_EV_PATCH: the value of a hole in an earlier chunk
 * @producer: id of the channel
 * @chunk: tb_chunk.id
 * @writer: tb_chunk.writer
 * @offset: offset of the hole, 8 bytes, in the data of the chunk; a multiple of 8
 * @flags: zero
 * @value: the value of these bytes
 */
struct tb_patch_event {
	__u32 producer;
	__u32 chunk;
	__u16 writer;
	__u16 offset;
	__u32 flags;
	__u64 value;
};

/* ---- ioctl ------------------------------------------------------------ */

/* tb_producer_setup.flags */
#define TB_SETUP_NO_SHARED	0x01	/* no shared chunks: the kernel copies tb_chunk_ref.data */

/* tb_producer_setup.features */
#define TB_PRODUCER_DIRECT_PATCH 0x01	/* the kernel respects tb_chunk.hole */

/**
 * struct tb_producer_setup - TB_PIOC_SETUP: set up the channel, once, before all other calls
 * @flags: TB_SETUP_*
 * @chunk_bytes: in and out: a power of two, TB_CHUNK_BYTES_MIN..MAX; 0: 4096
 * @chunks: in and out: TB_CHUNKS_MIN..MAX; 0: 64; out: 0 with TB_SETUP_NO_SHARED
 * @features: out: TB_PRODUCER_*
 * @chunks_offset: out: offset of the chunks in the file; chunk n is at n * @chunk_bytes after it
 * @map_bytes: out: size of page and chunks together
 * @producer: out: id of the channel
 *
 * The program maps the file in two parts with MAP_SHARED, each as a whole: the page, at offset 0,
 * @chunks_offset bytes, PROT_READ; and the chunks, at @chunks_offset, the rest.
 *
 * The channel belongs to the calling process until that executes another program.  Calls of other
 * processes get EPERM, other calls before this one ENXIO.  The memory counts against the process's
 * RLIMIT_MEMLOCK (not with CAP_IPC_LOCK) and its control group.
 * Errors: EBUSY the channel is set up; EINVAL; ENOMEM, also beyond RLIMIT_MEMLOCK; EMFILE the user
 * has as many channels as the module parameter producers_per_user allows (not with CAP_SYS_ADMIN);
 * ENFILE there are TB_PRODUCERS_MAX channels.
 */
struct tb_producer_setup {
	__u32 flags;
	__u32 chunk_bytes;
	__u32 chunks;
	__u32 features;
	__u64 chunks_offset;
	__u64 map_bytes;
	__u32 producer;
	__u32 reserved32;
	__u64 reserved[2];
};

/**
 * struct tb_target_req - TB_PIOC_TARGET: make a provider a target of this channel
 * @provider: name of the provider
 * @target: out: number of the target, from 0; a second call for a provider returns the same number
 * Errors: ENOENT no such provider; ENOSPC the channel has TB_TARGETS_MAX targets, or the provider
 * as many producers as its quota allows; EMSGSIZE a chunk is larger than tb_query.max_event (if the
 * provider gets smaller buffers later, full chunks have no room: ENOBUFS).
 * A provider that is closed to producers can be a target, and may be opened later: see
 * tb_producer_page.closed.
 */
struct tb_target_req {
	char  provider[TB_PROVIDER_NAME_MAX];
	__u32 target;
	__u32 reserved32;
	__u64 reserved[2];
};

/* tb_writer_req.flags */
#define TB_WRITER_GONE		0x01	/* remove this writer */
#define TB_WRITER_NO_THREAD	0x02	/* its thread has ended: @tid must be 0; without GONE */

/**
 * struct tb_writer_req - TB_PIOC_WRITER: register a writer, before its first chunk
 * @writer: id, 1..65535
 * @target: number from TB_PIOC_TARGET
 * @tid: its thread, in the caller's pid namespace; 0: the calling thread
 * @flags: TB_WRITER_*
 * Errors: EEXIST; ENOENT no such target or, with TB_WRITER_GONE, no such writer; ESRCH the process
 * has no such thread.
 */
struct tb_writer_req {
	__u16 writer;
	__u16 target;
	__u32 tid;
	__u32 flags;
	__u32 reserved32;
	__u64 reserved[2];
};

/**
 * struct tb_category_req - TB_PIOC_CATEGORY: register a category
 * @name: 1 to 63 characters, without ':' ',' '*' '?' '!' and blanks
 * @index: out: its index in tb_producer_page.categories; a second call for a name returns the same
 * Errors: ENOSPC the channel has TB_CATEGORIES_MAX categories; EINVAL.
 */
struct tb_category_req {
	char  name[TB_NAME_MAX];
	__u32 index;
	__u32 reserved32;
	__u64 reserved[2];
};

/**
 * struct tb_chunk_ref - a chunk that the kernel shall take
 * @chunk: index of the chunk in the shared memory; 0 with TB_SETUP_NO_SHARED
 * @result: out: 0: taken; a positive errno: EINVAL invalid chunk, or no such writer; ESTALE the
 *	chunk is not complete, or of an earlier lap; ENOBUFS the ring had no room; EDQUOT quota;
 *	ENODATA the target does not record; ECANCELED not looked at, because the call failed before.
 *	The chunk is free then, except after ESTALE, ECANCELED, and EINVAL for a wrong @chunk or
 *	@data
 * @data: TB_SETUP_NO_SHARED: address of struct tb_chunk and its data, of the chunk's size; else in:
 *	0, out: if the chunk was not taken but is free, number of its records that a flush had taken
 */
struct tb_chunk_ref {
	__u32 chunk;
	__s32 result;
	__u64 data;
};

/**
 * struct tb_patch - the value of a hole in a committed chunk
 * @writer: tb_chunk.writer
 * @offset: offset of the hole, 8 bytes, in the data of the chunk
 * @chunk: tb_chunk.id
 * @value: the value of these bytes
 */
struct tb_patch {
	__u16 writer;
	__u16 offset;
	__u32 chunk;
	__u64 value;
};

/**
 * struct tb_commit - TB_PIOC_COMMIT: commit chunks, then patches
 * @refs: address of an array of struct tb_chunk_ref
 * @nr_refs: its length, at most TB_COMMIT_MAX
 * @nr_patches: length of @patches, at most TB_COMMIT_MAX
 * @patches: address of an array of struct tb_patch, for chunks that were committed earlier
 * @flush: tb_producer_page.flush from before the producer began to commit all its chunks: answers
 *	this many requests; 0: answers none
 * @flags: zero
 * @taken: out: number of chunks with result 0
 * @reserved: zero
 * Errors: EINVAL, also if a patch is invalid (the kernel records the others); E2BIG beyond
 * TB_COMMIT_MAX; EFAULT; ENOMEM.  If the kernel could read the arrays, the results say which chunks
 * it has taken; else, and after E2BIG, it has taken none and written no results.
 */
struct tb_commit {
	__u64 refs;
	__u32 nr_refs;
	__u32 nr_patches;
	__u64 patches;
	__u32 flush;
	__u32 flags;
	__u32 taken;
	__u32 reserved32;
	__u64 reserved[2];
};

#define TB_PIOC_SETUP		_IOWR(TB_IOC_MAGIC, 64, struct tb_producer_setup)
#define TB_PIOC_TARGET		_IOWR(TB_IOC_MAGIC, 65, struct tb_target_req)
#define TB_PIOC_WRITER		_IOW(TB_IOC_MAGIC, 66, struct tb_writer_req)
#define TB_PIOC_CATEGORY	_IOWR(TB_IOC_MAGIC, 67, struct tb_category_req)
#define TB_PIOC_COMMIT		_IOWR(TB_IOC_MAGIC, 68, struct tb_commit)

/*
 * poll() of a channel: POLLPRI while the producer has not answered tb_producer_page.flush; POLLIN
 * once if tb_producer_page.changes has increased since the last poll() that returned POLLIN.
 */

/* ---- on /dev/tracebuf --------------------------------------------------- */

enum tb_category_op {
	TB_CATEGORY_ENABLE	= 1,
	TB_CATEGORY_DISABLE	= 2,
	TB_CATEGORY_CLEAR	= 3,	/* forget all patterns, so no category is wanted */
};

/**
 * struct tb_categories - TB_IOC_CATEGORIES: choose the categories of producers to record
 * @op: enum tb_category_op
 * @length: bytes of the pattern, 1..63; TB_CATEGORY_CLEAR has no pattern
 * @pattern: address of the pattern; '*' and '?' match as in a shell
 * @reserved: zero
 * The last pattern that matches a category decides, also for later categories and producers.
 * Errors: EINVAL; ENOSPC more than 64 patterns.
 */
struct tb_categories {
	__u32 op;
	__u32 length;
	__u64 pattern;
	__u64 reserved[2];
};

/**
 * struct tb_quota - TB_IOC_QUOTA: set the limits for producers of this provider
 * @flags: TB_QUOTA_*
 * @producers: number of channels that may have it as a target; 0: TB_PRODUCERS_MAX
 * @bytes_per_second: bytes that each channel may write in a second; 0: any number
 * @burst_bytes: bytes that each channel may write at once; 0: those of a second
 * @ring_bytes_per_second: bytes that all channels together may write into a ring in a second; 0:
 *	any number
 * @ring_burst_bytes: bytes that they may write into a ring at once; 0: those of a second
 *
 * A new provider has TB_QUOTA_CLOSED and no other limit.  A limit counts the elements of a piece in
 * the ring, struct tb_chunk_event included.
 * Errors: EINVAL, also for a burst without a rate, and for TB_QUOTA_DEFAULT with TB_QUOTA_CLOSED or
 * with limits for rings.
 */
struct tb_quota {
	__u32 flags;
	__u32 producers;
	__u64 bytes_per_second;
	__u64 burst_bytes;
	__u64 ring_bytes_per_second;
	__u64 ring_burst_bytes;
};

#define TB_QUOTA_CLOSED		0x01	/* take nothing from producers */
/* limits for rings depend on their size: the bytes of a ring in ten seconds, a quarter at once */
#define TB_QUOTA_DEFAULT	0x02

/**
 * struct tb_intake_info - TB_IOC_INTAKE: get the limits for producers, and the records they refused
 * @quota: the quota; with TB_QUOTA_DEFAULT, limits for rings are those of the present rings
 * @producers: number of channels that have the provider as a target
 * @reserved32: zero
 * @kept_pieces: chunks, pieces of chunks and patches that the provider did not take in this
 *	recording, because of the quota or because it was closed
 * @kept_records: records in them
 * @kept_bytes: bytes of these records
 * @reserved: zero
 */
struct tb_intake_info {
	struct tb_quota quota;
	__u32 producers;
	__u32 reserved32;
	__u64 kept_pieces;
	__u64 kept_records;
	__u64 kept_bytes;
	__u64 reserved[4];
};

#define TB_PRODUCERS_MAX	1024	/* channels that are set up */

/**
 * struct tb_producer_info - TB_IOC_PRODUCERS: get one of the producers that write to this provider
 * @index: in: number of the producer, from 0; ENOENT past the last
 * @producer: id of the channel
 * @pid: process of the channel
 * @uid: real user id of the process
 * @chunks: number of chunks in shared memory
 * @chunk_bytes: size of a chunk
 * @busy: number of chunks that are not free now
 * @writers: number of registered writers
 * @categories: number of registered categories
 * @taken: pieces of chunks that rings of all targets have taken
 * @bytes: bytes of the records in them
 * @records: number of the records in them
 * @refused: number of invalid chunks
 * @lost: pieces that were lost: the ring had no room, the quota forbade them, or the target did not
 *	record
 * @comm: name of the process
 */
struct tb_producer_info {
	__u32 index;
	__u32 producer;
	__u32 pid;
	__u32 uid;
	__u32 chunks;
	__u32 chunk_bytes;
	__u32 busy;
	__u32 writers;
	__u32 categories;
	__u32 reserved32;
	__u64 taken;
	__u64 bytes;
	__u64 records;
	__u64 refused;
	__u64 lost;
	char  comm[TB_COMM_LEN];
	__u64 reserved[2];
};

#define TB_IOC_CATEGORIES	_IOW(TB_IOC_MAGIC, 32, struct tb_categories)
#define TB_IOC_QUOTA		_IOW(TB_IOC_MAGIC, 33, struct tb_quota)
#define TB_IOC_PRODUCERS	_IOWR(TB_IOC_MAGIC, 34, struct tb_producer_info)
#define TB_IOC_INTAKE		_IOR(TB_IOC_MAGIC, 35, struct tb_intake_info)

#endif /* _UAPI_LINUX_TRACEBUF_PRODUCER_H */
