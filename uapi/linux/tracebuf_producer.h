/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tracebuf - the ABI of user-space writers: the memory that a program shares with the kernel,
 * the ioctls of /dev/tracebuf_producer, and what chunks look like there and in a trace.
 *
 * A program opens /dev/tracebuf_producer: a channel.  It maps a page that the kernel writes
 * (struct tb_producer_page, read-only) and chunks that it writes itself.  A chunk belongs to one
 * writer, which belongs to one thread; records are put into it without a system call and published
 * by storing how far they go.  Complete chunks are committed in batches by ioctl; the kernel
 * copies them into the ring of a provider, the writer's target, as TB_EV_CHUNK.  Whenever a
 * reader flushes, a recording stops or the process ends, the kernel takes what is published,
 * of chunks that are not complete, too; so nothing published is lost with its process.
 *
 * The kernel trusts nothing in that memory: it is copied, then checked; who wrote it comes from the
 * channel.  Those who read traces must not trust what is in chunks either.
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

/* ---- the page the kernel writes ---------------------------------------- */

/**
 * struct tb_producer_target - part of struct tb_producer_page: one target
 * @clock: enum tb_clock_id that writers read: the clock of the recording, or TB_CLOCK_MONO if
 *	programs cannot read that clock. The kernel may change it after the machine has slept
 * @generation: counts its recordings; stored, with release, after the rest of what is told of one
 * @frequency: ticks per second of the clock, as far as known
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
 * @flush: flushes that readers have asked producers for; see tb_commit.flush
 * @recording: bit t: target t records
 * @overwrites: bit t: it overwrites what is old, so names should be told again in each chunk
 * @changes: goes up after any of this has changed
 * @closed: bit t: target t takes nothing from producers
 * @reserved: zero
 * @targets: of those that TB_PIOC_TARGET has told of
 * @categories: of those that TB_PIOC_CATEGORY has told of; bit t: target t wants it (and records)
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

#define TB_PRODUCER_PAGE_BYTES	4096	/* room for it; see tb_producer_setup.chunks_offset */

/* ---- chunk ------------------------------------------------------------ */

/*
 * tb_chunk.state: the low byte is enum tb_chunk_state, the upper half the wrap count, which goes
 * up by one whenever the kernel makes a chunk free again.  Who changes the state does so by
 * compare-and-exchange from the wrap count he knows, so a writer that was late by a lap
 * of the chunk changes nothing.  Before the kernel makes a chunk free it sets @published and @hole
 * to zero; whoever takes it must write the rest of the header before he publishes anything.
 */
enum tb_chunk_state {
	TB_CHUNK_FREE		= 0,
	TB_CHUNK_WRITING	= 1,	/* some writer's; set by the producer */
	TB_CHUNK_COMPLETE	= 2,	/* nothing will be added; set by the producer, release */
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
#define TB_LOST_STALL		0x0002	/* producer: none became free in time */
#define TB_LOST_OVERSIZE	0x0004	/* producer: larger than a chunk */
#define TB_LOST_UNBOUND		0x0008	/* producer: no room before it was bound, or aborted */
#define TB_LOST_SIGNAL		0x0010	/* producer: a signal came while it wrote */
#define TB_LOST_PRODUCER	0x00ff	/* these are the producer's to say */
#define TB_LOST_RING		0x0100	/* kernel: the ring had no room */
#define TB_LOST_QUOTA		0x0200	/* kernel: more than the producer may write */
#define TB_LOST_STOPPED		0x0400	/* kernel: the target did not record */
#define TB_LOST_INVALID		0x0800	/* kernel: the chunk was not what it has to be */

/* tb_chunk.flags, tb_chunk_event.flags */
#define TB_CHUNK_CLOCK_MASK	0x0003	/* enum tb_clock_id of the times in it */
#define TB_CHUNK_FRESH		0x0004	/* needs no name that was told in a chunk before */
#define TB_CHUNK_FLAGS		0x0007	/* these are the producer's to set */
#define TB_CHUNK_LAST		0x0100	/* tb_chunk_event: nothing of this chunk follows */
#define TB_CHUNK_SCRAPED	0x0200	/* tb_chunk_event: taken by the kernel, not committed */
#define TB_CHUNK_HOLES		0x0400	/* tb_chunk_event: it has holes, TB_EV_PATCH may follow */

/**
 * struct tb_chunk - the start of a chunk in shared memory, 48 bytes; data follow
 * @state: see above
 * @published: TB_PUBLISHED(): how much of the data is finished
 * @id: counts the chunks of this writer, from 0
 * @writer: its id, 1..65535
 * @flags: TB_CHUNK_FLAGS
 * @cause: TB_LOST_PRODUCER: why records are missing that should have been between the
 *	writer's chunk before this one and this one
 * @hole: offset in the data of the record with the first hole that is to be filled in yet, plus
 *	1; 0: no holes.
 *	A chunk that is not committed is taken up to there only, so holes
 *	in it can be filled where they are (see TB_PRODUCER_DIRECT_PATCH); when the recording
 *	or the process ends all of it is.  Stored before what is published with it, and with
 *	release when a hole was filled in
 * @first: number of its first record among all that this writer attempted, those that were lost
 *	included: how many are missing before it follows from that exactly
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
 * The data of a chunk are records, one after the other, each a multiple of 8 bytes and within one
 * chunk.  The kernel does not look at them.
 */
enum tb_record_type {
	TB_REC_NAME	= 1,	/* @id means the text that follows; kind: enum tb_name_kind */
	TB_REC_BEGIN	= 2,	/* a slice begins; @id: name */
	TB_REC_END	= 3,	/* the innermost slice of this track ends */
	TB_REC_INSTANT	= 4,	/* @id: name */
	TB_REC_COUNTER	= 5,	/* @id: name; a value follows, s64 or double */
	TB_REC_SLICE	= 6,	/* a slice; its ticks follow, u64; a hole, 0, until it ends */
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
#define TB_REC_FLOW	0x02	/* a u64 flow id is the first thing that follows */
#define TB_REC_FLOW_END	0x04	/* with it: the flow ends here */
#define TB_REC_ARGS	0x08	/* struct tb_arg are the last things that follow */

/**
 * struct tb_record - the start of a record, 16 bytes
 * @bytes: of all of it, a multiple of 8
 * @type: enum tb_record_type
 * @flags: TB_REC_*
 * @id: of a name; ids are of the whole producer, and never mean anything else later
 * @time: TB_REC_NAME: low 16 bits length of the text, then enum tb_name_kind in the next 16,
 *	then in the upper half
 *	the category (its name id) events of this name belong to, 0: none; else the full clock
 *
 * Then, in this order, as type and flags say: the flow id; what the type has (value, duration,
 * data with a u32 length and 4 bytes of zero before them, text likewise); arguments.
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
	TB_ARG_TEXT	= 5,	/* value: a name id, TB_NAME_TEXT or other */
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
 * struct tb_chunk_event - payload of TB_EV_CHUNK: a chunk, or a piece of one
 * @producer: id of the channel
 * @pid: its process (tgid), from the channel
 * @tid: the thread of the writer; one of @pid's when it was told; 0: unknown
 * @uid: real user id of the process, in the initial user namespace
 * @chunk: tb_chunk.id
 * @writer: tb_chunk.writer
 * @flags: TB_CHUNK_*
 * @cause: TB_LOST_*: why records before this piece are missing, if they are
 * @offset: of the piece in the data of the chunk; pieces of a chunk come in order
 * @records: how many it has
 * @first: number of its first record, see tb_chunk.first
 * @reserved: zero
 * The records follow.
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
 * struct tb_patch_event - payload of TB_EV_PATCH: what is in a hole, told later
 * @producer: id of the channel
 * @chunk: which chunk of the writer
 * @writer: id
 * @offset: of the 8 bytes in the data of the chunk, a multiple of 8
 * @flags: zero
 * @value: they are this
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
#define TB_SETUP_NO_SHARED	0x01	/* chunks come by copy, tb_chunk_ref.data */

/* tb_producer_setup.features */
#define TB_PRODUCER_DIRECT_PATCH 0x01	/* tb_chunk.hole is respected */

/**
 * struct tb_producer_setup - TB_PIOC_SETUP: once for a channel, before all else
 * @flags: TB_SETUP_*
 * @chunk_bytes: power of two, TB_CHUNK_BYTES_MIN..MAX; 0: 4096
 * @chunks: TB_CHUNKS_MIN..MAX; 0: 64
 * @features: out: TB_PRODUCER_*
 * @chunks_offset: out: where the chunks are in the mapping; chunk n at n * @chunk_bytes behind
 * @map_bytes: out: size of the whole mapping
 * @producer: out: id
 *
 * @chunk_bytes and @chunks are what they came to be (no chunks with TB_SETUP_NO_SHARED).  There
 * are two mappings, MAP_SHARED, each all or nothing: the page at offset 0, @chunks_offset bytes,
 * PROT_READ; the chunks at @chunks_offset, the rest.
 *
 * The channel belongs to the process that sets it up, until it executes another program: calls of
 * others get EPERM, all others before that ENXIO.
 * The memory counts against its RLIMIT_MEMLOCK (not with CAP_IPC_LOCK), and as its control group's.
 * Errors: EBUSY done already; EINVAL; ENOMEM, also beyond the limit; EMFILE the user has as many
 * channels as he may (module parameter producers_per_user, not with CAP_SYS_ADMIN); ENFILE there
 * are TB_PRODUCERS_MAX.
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
 * struct tb_target_req - TB_PIOC_TARGET: a provider this channel writes to
 * @provider: its name
 * @target: out: its number on this channel, from 0; the same if it was told before
 * Errors: ENOENT no such provider; ENOSPC TB_TARGETS_MAX, or it has as many producers as it may;
 * EMSGSIZE a chunk is larger than tb_query.max_event: with buffers that are made so small later,
 * full chunks find no room (ENOBUFS).
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
#define TB_WRITER_GONE		0x01	/* there is no such writer any more */
#define TB_WRITER_NO_THREAD	0x02	/* its thread has ended: @tid is 0, and so in its chunks */

/**
 * struct tb_writer_req - TB_PIOC_WRITER: a writer; its chunks are refused before
 * @writer: 1..65535
 * @target: see TB_PIOC_TARGET
 * @tid: the thread it belongs to, in the caller's pid namespace; 0: that of the call
 * @flags: TB_WRITER_*
 * Errors: EEXIST; ENOENT no such target or, with TB_WRITER_GONE, writer; ESRCH the process has
 * no such
 * thread (any more).
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
 * struct tb_category_req - TB_PIOC_CATEGORY: have tb_producer_page.categories say if it is wanted
 * @name: 1 to 63 characters but ':' ',' '*' '?' '!' and blanks
 * @index: out: which word; the same if it was told before
 * Errors: ENOSPC TB_CATEGORIES_MAX; EINVAL.
 */
struct tb_category_req {
	char  name[TB_NAME_MAX];
	__u32 index;
	__u32 reserved32;
	__u64 reserved[2];
};

/**
 * struct tb_chunk_ref - a chunk to be taken
 * @chunk: its number in the memory; with TB_SETUP_NO_SHARED 0
 * @result: out: 0 taken; a positive errno: EINVAL not a legal chunk, or no such writer, ESTALE
 *	not complete or of an earlier lap, ENOBUFS the ring had no room, EDQUOT quota, ENODATA
 *	the target does not record.  But for ESTALE the chunk is free again in any case.
 *	ECANCELED: not looked at, because the call failed before
 * @data: TB_SETUP_NO_SHARED: address of struct tb_chunk and its data, of the chunk's size; else 0,
 *	and out, if the chunk was not taken and is free again: how many of its records had been
 *	taken before, by a flush
 */
struct tb_chunk_ref {
	__u32 chunk;
	__s32 result;
	__u64 data;
};

/**
 * struct tb_patch - a hole that is filled in
 * @writer: whose
 * @offset: of the 8 bytes in the data of the chunk
 * @chunk: tb_chunk.id
 * @value: they are this
 */
struct tb_patch {
	__u16 writer;
	__u16 offset;
	__u32 chunk;
	__u64 value;
};

/**
 * struct tb_commit - TB_PIOC_COMMIT: chunks and patches, in this order
 * @refs: address of an array of struct tb_chunk_ref
 * @nr_refs: its length, at most TB_COMMIT_MAX
 * @nr_patches: at most TB_COMMIT_MAX
 * @patches: address of an array of struct tb_patch, of chunks that were committed
 * @flush: tb_producer_page.flush as it was when the producer began to commit all it had: that
 *	many requests are answered; 0: none
 * @flags: zero
 * @taken: out: chunks whose result is 0
 * @reserved: zero
 * Errors: EINVAL, also one of the patches is illegal (the others are recorded); E2BIG beyond
 * TB_COMMIT_MAX; EFAULT; chunks before were taken, results say which.
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
 * poll() of a channel: POLLPRI while tb_producer_page.flush is not answered, POLLIN once
 * after tb_producer_page.changes went up since the last poll() that told of it.
 */

/* ---- on /dev/tracebuf --------------------------------------------------- */

enum tb_category_op {
	TB_CATEGORY_ENABLE	= 1,
	TB_CATEGORY_DISABLE	= 2,
	TB_CATEGORY_CLEAR	= 3,	/* forget all patterns: nothing is wanted; no pattern */
};

/**
 * struct tb_categories - TB_IOC_CATEGORIES: which categories of producers this provider wants
 * @op: enum tb_category_op
 * @length: of the pattern, bytes, 1..63
 * @pattern: its address; '*' and '?' match as in a shell.  The last pattern that matches decides
 * @reserved: zero
 * Patterns stay, also for categories and producers that come later.
 * Errors: EINVAL; ENOSPC more than 64 patterns.
 */
struct tb_categories {
	__u32 op;
	__u32 length;
	__u64 pattern;
	__u64 reserved[2];
};

/**
 * struct tb_quota - TB_IOC_QUOTA: what producers may do to this provider
 * @flags: TB_QUOTA_*
 * @producers: how many channels may have it as a target; 0: TB_PRODUCERS_MAX
 * @bytes_per_second: that each of them may write; 0: any number
 * @burst_bytes: at once; 0: a second's worth
 * @ring_bytes_per_second: that all of them together may write into each ring; 0: any number
 * @ring_burst_bytes: at once; 0: a second's worth
 *
 * A new provider has TB_QUOTA_CLOSED and no other limit.  A limit counts what is recorded in the
 * ring: whole elements, with what the kernel says of a piece.
 * Errors: EINVAL, also a burst without a rate, TB_QUOTA_DEFAULT with TB_QUOTA_CLOSED or with limits
 * for rings.
 */
struct tb_quota {
	__u32 flags;
	__u32 producers;
	__u64 bytes_per_second;
	__u64 burst_bytes;
	__u64 ring_bytes_per_second;
	__u64 ring_burst_bytes;
};

#define TB_QUOTA_CLOSED		0x01	/* nothing is taken from producers */
/* the limits for rings follow their size: the bytes of a ring in ten seconds, a quarter at once */
#define TB_QUOTA_DEFAULT	0x02

/**
 * struct tb_intake_info - TB_IOC_INTAKE: what a provider takes from producers, and what it did not
 * @quota: as it was set; with TB_QUOTA_DEFAULT the limits for rings are those of its rings now
 * @producers: channels that have it as a target
 * @reserved32: zero
 * @kept_pieces: of this recording: chunks, pieces of chunks, and patches that it did not take
 *	because of the quota, or because it was closed, and that are in no other
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
 * struct tb_producer_info - TB_IOC_PRODUCERS: producers that write to this provider, one by one
 * @index: in: from 0; ENOENT past the last
 * @producer: id
 * @pid: its process
 * @uid: real user id
 * @chunks: in its memory
 * @chunk_bytes: of each
 * @busy: chunks that are not free now
 * @writers: told of and not gone
 * @categories: told of
 * @taken: pieces of chunks in the rings, all targets
 * @bytes: of records in them
 * @records: in them
 * @refused: chunks refused as illegal
 * @lost: pieces that the rings had no room for, quotas forbade, or whose target did not record
 * @comm: name of its process
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
