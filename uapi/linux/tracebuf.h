/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tracebuf - the ABI: what the memory, a trace file and /dev/tracebuf look like.
 *
 * A trace is a sequence of blocks.  The size of a block is a power of two; it starts with struct
 * tb_block (64 bytes) and holds events made of 16-byte elements.  A trace file is the concatenation
 * of the blocks that read() or the mapping handed out, durable blocks before the rolling blocks
 * that need them.  Files may be cut at block boundaries and concatenated.
 *
 * Everything is little-endian and naturally aligned.  Structures passed to ioctl are versioned by
 * their size, which is part of the command's number: they only ever grow at the end.  Unknown
 * bytes, reserved fields and unknown flags must be zero, else EINVAL (E2BIG for bytes beyond the
 * structure that the kernel knows).
 */
#ifndef _UAPI_LINUX_TRACEBUF_H
#define _UAPI_LINUX_TRACEBUF_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define TB_ABI_VERSION		1

/* ---- limits ----------------------------------------------------------- */

#define TB_ELEMENT_SIZE		16	/* bytes */
#define TB_BUFFER_ELEMENTS_MIN	64	/* elements per buffer, a power of two */
#define TB_BUFFER_ELEMENTS_MAX	65536
#define TB_BUFFERS_MIN		2	/* buffers per ring */
#define TB_BUFFERS_MAX		4096
#define TB_EVENT_ELEMENTS_MAX	1023	/* one event, its first element included */
#define TB_NAME_MAX		64	/* system, event and field names, with NUL */
#define TB_COMM_LEN		16
#define TB_PROVIDER_NAME_MAX	32	/* with NUL */
#define TB_DURABLE_KIB_MIN	64	/* limits for tb_config.durable_kib */
#define TB_DURABLE_KIB_MAX	65536

/* ---- block ------------------------------------------------------------ */

#define TB_BLOCK_MAGIC		0x46554254u	/* "TBUF" in memory */
#define TB_BLOCK_VERSION	1

enum tb_block_kind {
	TB_BLOCK_DURABLE	= 1,	/* struct tb_block, then control events */
	TB_BLOCK_ROLLING	= 2,	/* struct tb_block, gap slot, then events */
	TB_BLOCK_NOTE		= 3,	/* struct tb_block, then control events; see TB_EV_SYMBOL */
};

/* tb_block.flags */
#define TB_BLOCK_COMPLETE	0x01	/* the end fields are valid */
#define TB_BLOCK_FLUSHED	0x02	/* closed before it was full */
#define TB_BLOCK_GAP		0x04	/* the gap slot reports lost events */
#define TB_BLOCK_UNSETTLED	0x08	/* a later block reports the rest of the lost events */

/**
 * struct tb_block - the 64 bytes at the start of every buffer
 * @magic: TB_BLOCK_MAGIC
 * @version: TB_BLOCK_VERSION
 * @kind: enum tb_block_kind
 * @size_log2: the block's size in bytes, header included, is 1 << @size_log2
 * @flags: TB_BLOCK_*
 * @provider: id of the provider; "kernel" is 0
 * @cpu: the CPU whose ring this is; 0 for durable blocks
 * @tid: the thread that was running when the block was opened
 * @sequence: number of the block in its ring, or in its provider's durable buffer, from 0; unique
 *	within a recording
 * @time_start: full clock when the block was opened, <= every event in it
 * @time_end: full clock when it was complete, >= every event in it
 * @data: bytes used, header included.  The rest of a durable block is zero; in other blocks a
 *	TB_STRUCT_PAD element follows if there is room, and then old bytes
 * @events: events in the block: everything except structural elements
 * @overwritten: rolling: events of this ring that were overwritten before this block; the kernel
 *	fills it in when it hands the block over; durable: tb_gap.recording; notes: 0
 * @dropped: rolling: events of this ring dropped before this block was opened
 */
struct tb_block {
	__u32 magic;
	__u8  version;
	__u8  kind;
	__u8  size_log2;
	__u8  flags;
	__u16 provider;
	__u16 cpu;
	__u32 tid;
	__u64 sequence;
	__u64 time_start;
	__u64 time_end;
	__u32 data;
	__u32 events;
	__u64 overwritten;
	__u64 dropped;
};

#define TB_BLOCK_HEADER_ELEMENTS	4	/* sizeof(struct tb_block) / 16 */

/* ---- element ---------------------------------------------------------- */

/*
 * The first word of an event, struct tb_element.head:
 *
 *   bits  0-1   structure: enum tb_struct
 *   bits  2-15  event id
 *   bits 16-25  length of the event in elements, the first included
 *   bits 26-31  low six bits of the block's sequence number
 *
 * The writer stores it last.  Until then the first word of a composite event has TB_STRUCT_RESERVED
 * and the length, so that readers can step over it.
 */
enum tb_struct {
	TB_STRUCT_RESERVED	= 0,	/* not committed (or never written) */
	TB_STRUCT_SIMPLE	= 1,	/* the payload starts in the first element */
	TB_STRUCT_COMPOSITE	= 2,	/* see struct tb_composite */
	TB_STRUCT_PAD		= 3,	/* no events follow in this block */
};

#define TB_HEAD_STRUCT(h)	((h) & 3u)
#define TB_HEAD_ID(h)		(((h) >> 2) & 0x3fffu)
#define TB_HEAD_LENGTH(h)	(((h) >> 16) & 0x3ffu)
#define TB_HEAD_SEQ(h)		((h) >> 26)
#define TB_HEAD(type, id, len, seq) \
	((__u32)(type) | (__u32)(id) << 2 | (__u32)(len) << 16 | \
	 ((__u32)(seq) & 0x3fu) << 26)

/**
 * struct tb_element - 16 bytes, the unit of every buffer
 * @head: TB_HEAD()
 * @time: low 32 bits of the clock; the upper half is that of the last TB_EV_TIME element before
 *	this one, or of @time_start of the block
 * @payload: simple events: the payload, to which offsets of fields are relative
 */
struct tb_element {
	__u32 head;
	__u32 time;
	__u64 payload;
};

/**
 * struct tb_composite - the first element of a composite event
 * @head: structure TB_STRUCT_COMPOSITE, length >= 1
 * @time: as in struct tb_element
 * @tid: the thread that recorded it, 0 for an idle task
 * @length: bytes of payload after this element, without the zeroed tail
 * @context: TB_CONTEXT_*
 */
struct tb_composite {
	__u32 head;
	__u32 time;
	__u32 tid;
	__u16 length;
	__u16 context;
};

/* tb_composite.context */
#define TB_CONTEXT_PREEMPT_MASK	0x00ff	/* preemption depth, 255 at most */
#define TB_CONTEXT_SOFTIRQ	0x0100	/* serving a softirq */
#define TB_CONTEXT_HARDIRQ	0x0200
#define TB_CONTEXT_NMI		0x0400

/* ---- event ids -------------------------------------------------------- */

#define TB_EV_CONTROL_LAST	63	/* 0..63: control; TB_EV_EVENT describes the others */
#define TB_EV_FIRST		64	/* 64 + 2n: event n, wide; 65 + 2n: compact */

enum tb_control_event {
	/* structural: not counted as events */
	TB_EV_NONE	= 0,
	TB_EV_TIME	= 1,	/* simple; payload: the full clock */
	TB_EV_GAP	= 2,	/* struct tb_gap, first in every rolling block */
	TB_EV_STACK	= 3,	/* struct tb_stack of the event before it */
	TB_EV_COUNTERS	= 4,	/* struct tb_counters of the event before it */
	TB_EV_STRUCTURAL_LAST = 7,

	/* counted, in rolling and durable blocks */
	TB_EV_CLOCK	= 8,	/* struct tb_clock_sync */
	TB_EV_THREAD	= 9,	/* struct tb_thread */
	TB_EV_MARK	= 10,	/* text, not NUL-terminated */
	TB_EV_CHUNK	= 11,	/* struct tb_chunk_event, tracebuf_producer.h */
	TB_EV_PATCH	= 12,	/* struct tb_patch_event, tracebuf_producer.h */

	/* durable blocks only */
	TB_EV_INIT	= 16,	/* struct tb_init */
	TB_EV_EVENT	= 17,	/* struct tb_event_desc */
	TB_EV_TOTALS	= 18,	/* struct tb_totals, one per CPU, at stop and in each snapshot */
	TB_EV_STRING	= 19,	/* struct tb_string */
	TB_EV_SUPPRESSED = 20,	/* struct tb_suppressed, one per event, at stop */
	TB_EV_SELECTION	= 21,	/* struct tb_selection, at each change of the selection */
	TB_EV_THREADS_LOST = 24, /* struct tb_threads_lost, if records of threads were lost */

	/* notes only: written into the file by the program that read the recording */
	TB_EV_SYMBOL	= 22,	/* struct tb_symbol */
	TB_EV_PART	= 23,	/* struct tb_part, for each ring that has had a block */
	TB_EV_MAPPING	= 25,	/* struct tb_mapping */
	TB_EV_OPEN_FILE	= 26,	/* struct tb_open_file */

	/* rolling: writer and reader agree on their meaning */
	TB_EV_USER	= 32,
	TB_EV_USER_LAST	= 63,
};

/**
 * struct tb_gap - payload of TB_EV_GAP: the events that are missing before this block
 * @overwritten: events overwritten since the previous block handed over
 * @dropped: events dropped since then, @oversize included
 * @oversize: dropped events that were larger than the largest that fits
 * @first: start of the span of time in which the missing events were
 * @last: end of that span
 * @recording: random number of the recording, not 0, which tells blocks in memory apart; 0: not
 *	known
 *
 * It is always the first event of a rolling block, and takes 64 bytes with its first element.  If
 * no events are missing, all fields but @recording are zero, and TB_BLOCK_GAP is not set.
 */
struct tb_gap {
	__u64 overwritten;
	__u64 dropped;
	__u64 oversize;
	__u64 first;
	__u64 last;
	__u64 recording;
};

#define TB_GAP_ELEMENTS		4
#define TB_BLOCK_FIRST_ELEMENT	(TB_BLOCK_HEADER_ELEMENTS + TB_GAP_ELEMENTS)

/* ---- in memory -------------------------------------------------------- */

/*
 * The memory of a machine that has crashed has, beside the blocks, a struct tb_ring_image for each
 * ring, at a physical address that is a multiple of TB_RING_IMAGE_ALIGN.  A program that reads it
 * must check every field.
 *
 * Head moves to a block before the header of the block is written.  From shortly before that until
 * the header is complete, sequence is TB_BLOCK_OPENING_WORD() of the sequence number and of the
 * number of elements of the first event, which is not written yet.  Then magic, version, kind,
 * size_log2, provider, cpu, time_start and tb_gap.recording are valid, other fields are not, and
 * events may follow the first.
 */
#define TB_BLOCK_OPENING	0x8000000000000000ull
#define TB_BLOCK_OPENING_WORD(seq, n)	(TB_BLOCK_OPENING | (__u64)(n) << 52 | (seq))
#define TB_BLOCK_OPENING_NUMBER(word)	((word) & 0xfffffffffffffull)
#define TB_BLOCK_OPENING_ELEMENTS(word)	((__u32)((word) >> 52) & 0x7ffu)
#define TB_BLOCK_UNUSED		(~0ull)	/* tb_block.sequence: the buffer was never used */

#define TB_RING_IMAGE_MAGIC	0x474e495246554254ull	/* "TBUFRING" in memory */
#define TB_RING_IMAGE_ALIGN	512

/* tb_ring_image.head, low to high: elements used in the current block, index of its buffer in the
 * ring, low bits of its sequence number, bits of the clock
 */
#define TB_RING_IMAGE_USED(h)	((__u32)(h) & 0x1ffffu)
#define TB_RING_IMAGE_BUFFER(h)	((__u32)((h) >> 17) & 0xfffu)
#define TB_RING_IMAGE_SEQ(h)	((__u32)((h) >> 29) & 0x3fffu)

/**
 * struct tb_ring_image - the ring of a CPU in memory
 * @head: place of the next event, see TB_RING_IMAGE_USED()
 * @elements: elements of each buffer
 * @buffers: number of buffers
 * @provider: as in struct tb_block
 * @cpu: as in struct tb_block
 * @start: the clock when recording began
 * @magic: TB_RING_IMAGE_MAGIC
 * @recording: tb_gap.recording of its blocks
 * @recorded: events in complete blocks
 * @overwritten: recorded events that were overwritten
 * @dropped: events that found no room, @oversize included
 * @oversize: dropped events that were larger than the largest that fits
 */
struct tb_ring_image {
	__u64 head;
	__u64 reserved1;	/* the kernel's */
	__u32 elements;
	__u32 reserved2;	/* the kernel's */
	__u32 buffers;
	__u32 reserved3;	/* the kernel's */
	__u16 reserved4;	/* the kernel's */
	__u16 provider;
	__u32 cpu;
	__u64 reserved5[2];	/* the kernel's */
	__u64 start;
	__u64 reserved6;	/* the kernel's */
	__u64 magic;
	__u64 recording;
	__u64 reserved7[5];	/* the kernel's */
	__u64 recorded;
	__u64 overwritten;
	__u64 dropped;
	__u64 oversize;
};

enum tb_stack_kind {
	TB_STACK_KERNEL	= 1,
	TB_STACK_USER	= 2,
};

/**
 * struct tb_stack - payload of TB_EV_STACK: return addresses, innermost first
 * @kind: enum tb_stack_kind
 * @count: number of addresses
 * @ip: return addresses; the first is in the function with the tracepoint
 *
 * Stacks and counters follow their event directly, in the same block: the kernel's stack, the
 * user's stack, the counters, as far as the rule has them.
 */
struct tb_stack {
	__u32 kind;
	__u32 count;
	__u64 ip[];
};

#define TB_STACK_MAX		64	/* addresses of a stack */

/**
 * struct tb_counters - payload of TB_EV_COUNTERS: performance counters of this CPU
 * @mask: bit n: the value of counter n follows; TB_STRING_COUNTER names it
 * @reserved: zero
 * @value: values of the counters in @mask, lowest bit first; a counter only ever increases
 */
struct tb_counters {
	__u32 mask;
	__u32 reserved;
	__u64 value[];
};

#define TB_COUNTERS_MAX		8	/* counters of a provider */

enum tb_clock_id {
	TB_CLOCK_AUTO	= 0,	/* the best clock of this machine */
	TB_CLOCK_TSC	= 1,	/* x86 invariant TSC, raw cycles */
	TB_CLOCK_ARCH	= 2,	/* arm64 generic timer, raw ticks */
	TB_CLOCK_MONO	= 3,	/* ktime_get_mono_fast_ns, nanoseconds */
};

/**
 * struct tb_clock_sync - payload of TB_EV_CLOCK: the trace clock and others at the same time
 * @clock: the trace clock, read between the two halves of the others
 * @monotonic: CLOCK_MONOTONIC, ns
 * @boottime: CLOCK_BOOTTIME, ns
 * @realtime: CLOCK_REALTIME, ns
 * @uncertainty: ticks of the trace clock that the four readings took
 * @reserved: zero
 */
struct tb_clock_sync {
	__u64 clock;
	__u64 monotonic;
	__u64 boottime;
	__u64 realtime;
	__u32 uncertainty;
	__u32 reserved;
};

/* tb_thread.flags */
#define TB_THREAD_KERNEL	0x01	/* a kernel thread */
#define TB_THREAD_DUMP		0x02	/* existed at start */
#define TB_THREAD_FORK		0x04	/* created now */
#define TB_THREAD_NAME		0x08	/* name changed now (exec, prctl) */
#define TB_THREAD_EXIT		0x10	/* ends now */
#define TB_THREAD_SKIPPED	0x20	/* names since its last record were skipped */
#define TB_THREAD_CGROUP	0x40	/* moved to another cgroup now */

/**
 * struct tb_thread - payload of TB_EV_THREAD
 * @tid: the thread; in the initial pid namespace, as everywhere
 * @tgid: its process
 * @parent: the parent process (tgid), 0 if unknown
 * @flags: TB_THREAD_*
 * @prio: kernel priority, 0..139
 * @uid: real user id in the initial user namespace
 * @cgroup: low 32 bits of the ID (inode) of its cgroup in the unified hierarchy; 0: not known.
 *	TB_STRING_CGROUP has the path
 * @comm: the name, NUL-padded
 */
struct tb_thread {
	__u32 tid;
	__u32 tgid;
	__u32 parent;
	__u16 flags;
	__u16 prio;
	__u32 uid;
	__u32 cgroup;
	char  comm[TB_COMM_LEN];
};

/**
 * struct tb_threads_lost - payload of TB_EV_THREADS_LOST: records of threads that were lost
 * @records: records of threads that found no room since the start of the recording
 * @first: start of the span of time in which they were lost; 0: none
 * @last: end of that span
 * @before: the kernel removed older records to make room: before this time a thread may have no
 *	name, or a later one; 0: it removed none
 *
 * Times are those of the trace clock.  The last such record of a recording is valid.
 */
struct tb_threads_lost {
	__u64 records;
	__u64 first;
	__u64 last;
	__u64 before;
};

/**
 * struct tb_init - payload of TB_EV_INIT, the first event of a recording
 * @abi: TB_ABI_VERSION
 * @clock: enum tb_clock_id in use
 * @frequency: ticks per second of the trace clock, as precisely as the kernel knows it; clock
 *	records are more precise
 * @mode: enum tb_mode
 * @policy: enum tb_policy
 * @nr_cpus: number of rings
 * @buffers: buffers per ring
 * @elements: elements per buffer
 * @page_size: bytes
 * @pid_max: thread ids are below this
 * @flags: TB_INIT_*
 * @generation: number of this recording among those of its provider
 * @load_id: random, new each time the module is loaded: @load_id, provider and @generation identify
 *	a recording
 * @provider: name of the provider
 * @release: kernel release (uname -r)
 * @version: kernel version (uname -v)
 * @machine: uname -m
 * @nodename: uname -n
 */
struct tb_init {
	__u32 abi;
	__u32 clock;
	__u64 frequency;
	__u32 mode;
	__u32 policy;
	__u32 nr_cpus;
	__u32 buffers;
	__u32 elements;
	__u32 page_size;
	__u32 pid_max;
	__u32 flags;
	__u64 generation;
	__u8  load_id[16];
	char  provider[TB_PROVIDER_NAME_MAX];
	char  release[64];
	char  version[64];
	char  machine[32];
	char  nodename[64];
};

/* tb_init.flags */
#define TB_INIT_STATE_DUMP	0x01	/* records of existing threads follow */
#define TB_INIT_CLOCK_FALLBACK	0x02	/* the TSC was not usable */
#define TB_INIT_ALL_CPUS	0x04	/* no CPU was left out, or had no memory for its ring */

/* tb_field.flags */
#define TB_FIELD_SIGNED		0x01
#define TB_FIELD_STRING		0x02	/* char array, NUL-terminated or full */
#define TB_FIELD_ARRAY		0x04	/* fixed array of @count elements */
#define TB_FIELD_DATA_LOC	0x08	/* u32: length << 16 | offset, see below */
#define TB_FIELD_REL_LOC	0x10	/* same, offset from the end of the word */
#define TB_FIELD_HEX		0x20	/* better shown in hexadecimal */
#define TB_FIELD_BITS		0x40	/* @bit and @bits are valid */
#define TB_FIELD_CPUMASK	0x80
#define TB_FIELD_ONE_BIT	0x100	/* n > 0 stands for 1 << (n - 1) */
#define TB_FIELD_CONTEXT	0x200	/* the event's context, TB_CONTEXT_*, not a field */
#define TB_FIELD_COUNT		0x400	/* the number of fields "name[i]", not a field */

/**
 * struct tb_field - one field of an event, part of struct tb_event_desc
 * @offset: bytes from the start of the payload (composite: after the first element; simple:
 *	tb_element.payload)
 * @size: bytes of the whole field; 4 for DATA_LOC and REL_LOC
 * @count: elements of an array, else 0
 * @flags: TB_FIELD_*
 * @bit: TB_FIELD_BITS: first bit within the little-endian word at @offset
 * @bits: TB_FIELD_BITS: number of bits
 * @reserved: zero
 * @name: offset of the name in the description's strings
 * @type: offset of the C type there
 *
 * DATA_LOC: the offset in the word counts from 8 bytes before the payload, where the kernel's own
 * format has the trace_entry.  A word of 0 is an empty field.
 */
struct tb_field {
	__u16 offset;
	__u16 size;
	__u16 count;
	__u16 flags;
	__u8  bit;
	__u8  bits;
	__u16 reserved;
	__u16 name;
	__u16 type;
};

/* tb_event_desc.flags */
#define TB_EVENT_SIMPLE		0x01	/* compact form: simple events */
#define TB_EVENT_SYSCALL	0x02
#define TB_EVENT_SHORT		0x04	/* the payload may end before the fields do */

/*
 * Added to the number of a call of a 32-bit program.  No 64-bit call has such a number; a program
 * that makes one, which fails with ENOSYS, looks the same.
 */
#define TB_CALL_COMPAT		1024

/**
 * struct tb_event_desc - payload of TB_EV_EVENT: describes an event id
 * @id: the event id
 * @flags: TB_EVENT_*
 * @nr_fields: number of struct tb_field that follow this structure
 * @strings: bytes of NUL-terminated strings after the fields; offset 0 there
 *	is an empty string
 * @system: offset of the subsystem's name in the strings
 * @name: offset of the event's name
 * @print: offset of the kernel's print format, 0 if none
 * @context: context of simple events that have no TB_FIELD_CONTEXT: TB_CONTEXT_*
 */
struct tb_event_desc {
	__u16 id;
	__u16 flags;
	__u16 nr_fields;
	__u16 strings;
	__u16 system;
	__u16 name;
	__u16 print;
	__u16 context;
};

/* tb_string.kind */
enum tb_string_kind {
	TB_STRING_IRQ		= 1,	/* name of interrupt @key */
	TB_STRING_SYSCALL	= 2,	/* name of system call @key */
	TB_STRING_SOFTIRQ	= 3,	/* name of softirq @key */
	TB_STRING_COUNTER	= 4,	/* name of performance counter @key */
	TB_STRING_CGROUP	= 5,	/* path of the cgroup with ID @key, in notes */
	TB_STRING_QUOTA		= 6,	/* CPU quota of cgroup @key, in notes: see docs/abi.md */
	TB_STRING_CONTAINER	= 7,	/* container of cgroup @key, in notes: see docs/abi.md */
	TB_STRING_DISK		= 8,	/* name of disk @key, in notes: see docs/abi.md */
};

/**
 * struct tb_string - payload of TB_EV_STRING: a name for a number
 * @kind: enum tb_string_kind
 * @key: the number
 * The text follows, not NUL-terminated, to the end of the payload.
 */
struct tb_string {
	__u32 kind;
	__u32 key;
};

/* tb_totals.flags */
#define TB_TOTALS_SNAPSHOT	0x01	/* the counts of a snapshot: recording went on */
#define TB_TOTALS_OPEN		0x02	/* the ring took events after the snapshot's last block */
#define TB_TOTALS_UNCOUNTED	0x04	/* attempted, recorded, overwritten are not known */

/**
 * struct tb_totals - payload of TB_EV_TOTALS: the counts of one ring at stop
 * @cpu: the ring
 * @flags: TB_TOTALS_*
 * @attempted: events offered = @recorded + @dropped
 * @recorded: events that got into a buffer
 * @overwritten: recorded events that were overwritten before they could be handed over
 * @dropped: events that found no room, @oversize included
 * @oversize: dropped events that were larger than the largest that fits
 * @blocks: buffers opened: the last sequence number + 1
 * @time: trace clock when the counts were read; at stop no event is attempted later; 0: not known
 * @first: not later than the first dropped event that no block reports; 0: not known, or none
 * @last: not earlier than the last such event
 *
 * If a ring dropped more events than the header of its last block says, nothing is known of that
 * CPU from @first on.  Records of older versions have 56 bytes and end before @time.
 *
 * A snapshot has one of these records for each ring, before the ring's blocks.  It is valid if
 * @blocks is the sequence number of the ring's last block in the snapshot plus one (0 without a
 * block); the last such record of a CPU is the valid one.  With TB_TOTALS_OPEN the ring went on
 * recording after that block, so it dropped nothing there: all counts are zero.
 */
struct tb_totals {
	__u32 cpu;
	__u32 flags;
	__u64 attempted;
	__u64 recorded;
	__u64 overwritten;
	__u64 dropped;
	__u64 oversize;
	__u64 blocks;
	__u64 time;
	__u64 first;
	__u64 last;
};

/**
 * struct tb_suppressed - payload of TB_EV_SUPPRESSED: events that a rule kept out of the rings
 * @id: id of the event's wide form; 0: events of threads that are not recorded (struct tb_pids),
 *	and in @nested events without a rule
 * @flags: zero
 * @filtered: events that the rule's tests rejected
 * @sampled: events that were not the n-th
 * @limited: events beyond the rate
 * @vetoed: events that a handler of a module rejected
 * @nested: events that were not tested, because too many interrupted one another on this CPU
 *
 * The counts of the rings include none of them.  A record without any count says that durable
 * memory was full: further counts are not known.
 */
struct tb_suppressed {
	__u32 id;
	__u32 flags;
	__u64 filtered;
	__u64 sampled;
	__u64 limited;
	__u64 vetoed;
	__u64 nested;
};

/**
 * struct tb_selection - payload of TB_EV_SELECTION: the events that are recorded from now on
 * @first: event id of the first bit
 * @count: number of bits
 * @bits: bit i % 8 of byte i / 8: events with the id @first + i are recorded
 *
 * Described events (TB_EV_FIRST and above) without a bit are not recorded.  A change enables and
 * disables all its events at one moment, on all CPUs: just after the time of this record.  A
 * complete state repeats the record.
 */
struct tb_selection {
	__u32 first;
	__u32 count;
	__u8 bits[];
};

/**
 * struct tb_symbol - payload of TB_EV_SYMBOL: the name and addresses of a function
 * @start: first address of the function
 * @size: bytes of the function
 * The name follows, not NUL-terminated, to the end of the payload; that of a function of a module
 * ends with " [module]".
 *
 * The kernel does not write blocks of the kind TB_BLOCK_NOTE.  They belong to the last recording of
 * @provider before them in the file, and have no time: @sequence starts at 0 in each file, @cpu and
 * all times are 0.  Readers may ignore them.
 */
struct tb_symbol {
	__u64 start;
	__u64 size;
};

enum tb_mapping_kind {
	TB_MAPPING_CODE	= 1,	/* a file's code is in memory */
	TB_MAPPING_EXEC	= 2,	/* exec has removed all earlier mappings */
	TB_MAPPING_FORK	= 3,	/* a new process has the present mappings of @parent */
	TB_MAPPING_UNKNOWN = 4,	/* no mappings are known for @size ns, nor those from before */
	TB_MAPPING_FUNCTION = 5, /* @start is in this function, if code without a file is there */
};

/**
 * struct tb_mapping - payload of TB_EV_MAPPING, in notes: the address space of a process
 * @since: time of the change, CLOCK_MONOTONIC in ns; 0: before the recording
 * @start, @size: the addresses; TB_MAPPING_UNKNOWN, TB_MAPPING_FUNCTION: @size is a time in ns
 * @offset: offset in the file of the byte at @start; TB_MAPPING_FUNCTION: in the function
 * @pid: the process (tgid)
 * @parent: TB_MAPPING_FORK: parent of the process
 * @kind: TB_MAPPING_*; fields that a kind does not use are 0
 * @build_id: length of the file's build ID, which follows; 0: none, or not known
 * @path: length of the file's path, which follows the build ID; not NUL-terminated;
 *	TB_MAPPING_FUNCTION: of the function's name; 0: there were several functions
 *
 * An address belongs to the latest TB_MAPPING_CODE of its process that contains it, if that is
 * no older than the latest TB_MAPPING_EXEC of the process and the end of the latest
 * TB_MAPPING_UNKNOWN.  The file has only mappings that contain an address of the recording.
 *
 * A process may generate code (JIT) and list its functions in /tmp/perf-PID.map.  The recorder
 * reads the list at the end of each file, and writes a TB_MAPPING_FUNCTION for each recorded
 * address @start in it, and for the address before, where the call is if it is a return address.
 * It is valid from @since on, the latest TB_MAPPING_EXEC or TB_MAPPING_FORK of the process or the
 * end of the latest TB_MAPPING_UNKNOWN, for @size ns, until the list was read.  Of several for an
 * address and a time, that which ends first is right: later, other code may have been there.
 */
struct tb_mapping {
	__u64 since;
	__u64 start;
	__u64 size;
	__u64 offset;
	__u32 pid;
	__u32 parent;
	__u16 kind;
	__u16 build_id;
	__u16 path;
	__u16 reserved;
};

/* tb_open_file.flags */
#define TB_OPEN_FILE_EXEC	0x01	/* exec closes it, or may do so */

/**
 * struct tb_open_file - payload of TB_EV_OPEN_FILE, in notes: a file that a process had open
 * @since: CLOCK_MONOTONIC in ns, when the recorder began to read its name
 * @span: ns until the recorder had read it: the file was open at some time in between
 * @pid: the process (tgid)
 * @number: file descriptor in that process
 * @flags: TB_OPEN_FILE_*
 * @reserved: zero
 * The name follows, not NUL-terminated, to the end of the payload: the link in /proc/PID/fd, if it
 * is long "..." and its end; the addresses of a socket, if the recorder found them.
 *
 * The recorder reads the files of each process once, soon after the start of the recording.  The
 * events of system calls show earlier and later changes.
 */
struct tb_open_file {
	__u64 since;
	__u32 span;
	__u32 pid;
	__u32 number;
	__u16 flags;
	__u16 reserved;
};

/* tb_part.flags */
#define TB_PART_END	0x01	/* at the end of this file; else at its beginning */

/**
 * struct tb_part - payload of TB_EV_PART: counts of a ring where one file of a recording ends and
 *	the next begins
 * @cpu: the ring
 * @flags: TB_PART_*
 * @blocks: sequence number of the ring's next block
 * @events: events of this ring in the blocks before that, in this file and earlier ones
 * @overwritten: tb_block.overwritten of the last of these blocks
 * @dropped: tb_block.dropped of that block
 *
 * At the beginning, before the first rolling block, it counts the blocks in earlier files; at the
 * end, also those of this file.  A ring without such a record begins in this file.
 */
struct tb_part {
	__u32 cpu;
	__u32 flags;
	__u64 blocks;
	__u64 events;
	__u64 overwritten;
	__u64 dropped;
};

/* ---- modes and policies ----------------------------------------------- */

enum tb_mode {
	TB_MODE_ONESHOT		= 1,	/* each ring until it is full; read when stopped */
	TB_MODE_CIRCULAR	= 2,	/* overwrite; read when stopped, or by a snapshot */
	TB_MODE_STREAMING	= 3,	/* a reader takes blocks while recording goes on */
};

enum tb_policy {
	TB_POLICY_OVERWRITE	= 1,	/* a full ring loses its oldest events */
	TB_POLICY_DROP		= 2,	/* a full ring loses new events */
};

enum tb_state {
	TB_STATE_IDLE		= 0,	/* never started since configured */
	TB_STATE_RUNNING	= 1,
	TB_STATE_STOPPED	= 2,	/* stopped; undelivered blocks can be read */
};

/* why a recording is not running, or not whole */
enum tb_reason {
	TB_REASON_NONE		= 0,
	TB_REASON_REQUEST	= 1,	/* it was stopped by a request */
	TB_REASON_DURABLE_FULL	= 2,	/* the durable buffer is full */
	TB_REASON_HIBERNATION	= 3,	/* hibernation does not save its memory (memory=) */
	TB_REASON_DAMAGED	= 4,	/* the recorder's state is inconsistent */
};

/**
 * struct tb_ring_header - first page(s) of each ring in the mapping
 * @magic: TB_RING_MAGIC
 * @version: TB_RING_VERSION
 * @buffering_mode: enum tb_mode
 * @reserved: zero
 * @nr: number of rolling buffers
 * @current_buffer: index of the buffer that is written to now, or was last
 * @wrapped_count: low half of the sequence number of @current_buffer
 * @total_size: bytes; oneshot: @header_size + @rolling_size, else @header_size +
 *	@durable_size + @nr * @rolling_size
 * @header_size: bytes, whole pages
 * @durable_size: bytes of the provider's durable buffer; oneshot: 0
 * @rolling_size: bytes of a rolling buffer; oneshot: of all of them
 * @durable_data_end: bytes written to the durable buffer since the start
 * @records_dropped: events this ring has dropped
 * @cpu: CPU of the ring
 * @provider: id of the provider
 * @reserved64: zero
 * @rolling_data_end: for each rolling buffer, bytes in it when it was filled last
 *
 * All sizes and ends are multiples of 8.  The kernel writes the ends and @records_dropped when a
 * buffer fills or is closed, and when the recording stops.
 */
struct tb_ring_header {
	__u64 magic;
	__u16 version;
	__u8  buffering_mode;
	__u8  reserved;
	__u32 nr;
	__u32 current_buffer;
	__u32 wrapped_count;
	__u64 total_size;
	__u64 header_size;
	__u64 durable_size;
	__u64 rolling_size;
	__u64 durable_data_end;
	__u64 records_dropped;
	__u32 cpu;
	__u32 provider;
	__u64 reserved64[6];
	__u64 rolling_data_end[];
};

#define TB_RING_MAGIC		0x31676e6972666274ull	/* "tbfring1" */
#define TB_RING_VERSION		1

/* ---- ioctl ------------------------------------------------------------ */

#define TB_IOC_MAGIC		0xBB

/**
 * struct tb_query - TB_IOC_QUERY: get the configuration, the state and the layout of the mapping
 * @ring_stride: bytes from one ring to the next in the mapping; the ring of CPU n starts at n *
 *	@ring_stride
 * @ring_header: bytes before the first buffer of a ring
 * @buffer_bytes: bytes of a buffer
 * @durable_offset: offset of the durable buffer in the mapping
 * @durable_bytes: its size there, to which it may grow
 * @map_bytes: size of the whole mapping
 */
struct tb_query {
	__u32 abi;
	__u32 state;		/* enum tb_state */
	__u32 mode;
	__u32 policy;
	__u32 nr_cpus;
	__u32 buffers;
	__u32 elements;
	__u32 watermark;	/* percent */
	__u32 clock;
	__u32 nr_events;	/* known; see TB_IOC_EVENT */
	__u64 frequency;
	__u64 generation;
	__u64 ring_stride;
	__u64 ring_header;
	__u64 buffer_bytes;
	__u64 durable_offset;
	__u64 durable_bytes;
	__u64 map_bytes;
	__u32 flush_ms;
	__u32 max_event;	/* largest payload of a composite event, bytes */
	__u32 nr_enabled;	/* events enabled */
	__u32 reader;		/* 1 when a session is attached as the reader */
	__u32 reason;		/* enum tb_reason */
	__u32 provider;		/* id, as in the block headers */
	__u64 durable_used;	/* bytes of the durable buffer in use now */
	__u64 durable_size;	/* bytes of memory it has now; the mapping is empty after them */
	__u64 durable_lost;	/* records that found no room in it */
	char  name[TB_PROVIDER_NAME_MAX];
	__u32 full;		/* oneshot: number of full rings */
	__u32 nr_rings;		/* number of CPUs with a ring: see "The mapping" in docs/abi.md */
	__u32 nr_missing;	/* times that a CPU came online without memory for its ring */
	__u32 reserved32;
	__u64 reserved[2];
};

/**
 * struct tb_config - TB_IOC_CONFIGURE: set mode and sizes, while not running
 * A field of 0 stands for the default.  Undelivered blocks are discarded.
 * Errors: EBUSY running, mapped or held; EINVAL; ENOMEM (nothing changed).
 */
struct tb_config {
	__u32 mode;		/* streaming */
	__u32 policy;		/* overwrite */
	__u32 buffers;		/* per ring, 2..4096; 32 */
	__u32 elements;		/* per buffer, power of two 64..65536; 1024 */
	__u32 watermark;	/* percent, 1..100; 70 */
	__u32 clock;		/* enum tb_clock_id; auto */
	__u32 durable_kib;	/* size of the durable buffer; 1024 */
	__u32 flush_ms;		/* flush this often if a reader waits; 0: never */
	__u64 flags;		/* TB_CONFIG_* */
	__u64 cpus;		/* address of a bit mask of CPUs to record; 0: all */
	__u32 cpus_bytes;	/* its size, at most 1024 */
	__u32 durable_max_kib;	/* the durable buffer may grow to this; 0: 16 times as much */
	__u64 reserved[2];
};

/* tb_config.flags */
#define TB_CONFIG_DURABLE_STOP	0x01	/* durable buffer full: stop; else it grows */

/* tb_start.flags */
#define TB_START_NO_STATE	0x01	/* do not dump existing threads */
#define TB_START_STOP_ON_CLOSE	0x02	/* stop when this file is closed */

/**
 * struct tb_start - TB_IOC_START: begin a new recording
 * @flags: TB_START_*
 * The kernel discards an earlier recording.
 * Errors: EBUSY running or blocks held, ENOSPC durable buffer too small.
 */
struct tb_start {
	__u32 flags;
	__u32 reserved[7];
};

/* tb_flush.flags */
#define TB_FLUSH_ASK		0x01	/* ask producers without shared memory, and wait */

/**
 * struct tb_flush - TB_IOC_FLUSH: close the buffers that hold events
 * @cpu: the ring; -1: all rings, after taking all records that producers have published
 *	(tracebuf_producer.h)
 * @flags: TB_FLUSH_*
 * @timeout_ms: TB_FLUSH_ASK: time limit; 0: 1000.  ETIMEDOUT: a producer did not answer; the rest
 *	is done
 * @reserved: zero
 */
struct tb_flush {
	__s32 cpu;
	__u32 flags;
	__u32 timeout_ms;
	__u32 reserved;
};

enum tb_select_op {
	TB_SELECT_ENABLE	= 1,
	TB_SELECT_DISABLE	= 2,
};

enum tb_form {
	TB_FORM_DEFAULT		= 0,	/* the form of the last selection, at first compact */
	TB_FORM_WIDE		= 1,
	TB_FORM_COMPACT		= 2,	/* wide for events without a compact form */
};

/**
 * struct tb_select - TB_IOC_SELECT: enable or disable events, at any time
 * @op: enum tb_select_op
 * @form: enum tb_form; zero when disabling
 * @pattern: address of the text: "system", "system:event", "event" or
 *	"all"; '*' and '?' match as in a shell
 * @length: bytes of the pattern, at most 255
 * @matched: out: number of events that it matched
 * Errors: ENOENT nothing matches, EINVAL, EBUSY an event is recorded in the other form, which it
 * keeps until it is disabled or the recording stops, ENOSPC durable buffer full.
 */
struct tb_select {
	__u32 op;
	__u32 form;
	__u64 pattern;
	__u32 length;
	__u32 matched;
	__u64 reserved[2];
};

/* ---- rules ------------------------------------------------------------ */

enum tb_test_op {
	TB_TEST_EQ	= 1,	/* the number equals @value */
	TB_TEST_LT	= 2,	/* the number is less; signed with TB_TEST_SIGNED */
	TB_TEST_LE	= 3,
	TB_TEST_BITS	= 4,	/* the number has one of the bits of @value */
	TB_TEST_IN	= 5,	/* the data, a bitmap, has the bit of this number */
	TB_TEST_GLOB	= 6,	/* the text matches the data: '*', '?', '[a-z]', '\\' */
	TB_TEST_EMPTY	= 7,	/* a cpumask or dynamic array has only zeros */
};

enum tb_test_source {
	TB_TEST_FIELD	= 0,	/* a field of the event */
	TB_TEST_TID	= 1,	/* the current thread */
	TB_TEST_TGID	= 2,	/* the process of that thread */
	TB_TEST_UID	= 3,	/* real user id of that thread */
	TB_TEST_CPU	= 4,
	TB_TEST_CONTEXT	= 5,	/* as in tb_composite.context */
	TB_TEST_COMM	= 6,	/* name of that thread, a text */
};

/* tb_test.flags */
#define TB_TEST_SIGNED		0x01
#define TB_TEST_DATA_LOC	0x02	/* the word at @offset has the place of the text */
#define TB_TEST_REL_LOC		0x04	/* the same, relative to the end of the word */

/* tb_test.yes, tb_test.no: the number of tests to skip, or: */
#define TB_TEST_PASS		0xffff
#define TB_TEST_REJECT		0xfffe

/**
 * struct tb_test - one step of the decision whether to record an event
 * @op: enum tb_test_op
 * @source: enum tb_test_source; @size, @offset, @length, @bit and @bits are 0 for all but a field
 * @size: bytes of a number: 1, 2, 4 or 8; a text: 0
 * @flags: TB_TEST_*
 * @offset: offset of the field from the start of the payload
 * @length: bytes of a text in a fixed array, else 0
 * @bit: first bit of a number in part of a word (TB_FIELD_BITS)
 * @bits: number of bits; 0: the whole word
 * @yes: the next test if this one is true; TB_TEST_PASS, TB_TEST_REJECT
 * @no: the next test if it is false, or if the event lacks the field (a dynamic one is too short)
 * @data: offset in the rule's data
 * @data_bytes: bytes of data: the pattern, without a NUL, or the bitmap
 * @reserved: zero
 * @value: number to compare with, of @size bytes, sign-extended if signed
 *
 * Tests only lead onwards, so the number of tests limits the number of steps.
 */
struct tb_test {
	__u8  op;
	__u8  source;
	__u8  size;
	__u8  flags;
	__u16 offset;
	__u16 length;
	__u8  bit;
	__u8  bits;
	__u16 yes;
	__u16 no;
	__u16 data;
	__u16 data_bytes;
	__u16 reserved[3];
	__u64 value;
};

#define TB_TESTS_MAX		64	/* tests of a rule */
#define TB_TEST_DATA_MAX	4096	/* bytes of data of a rule */
#define TB_GLOB_MAX		64	/* bytes of a pattern */
#define TB_TEXT_MAX		256	/* of a longer text only the beginning is compared */

/**
 * struct tb_counter - a performance counter that is recorded with an event
 * @type: as in struct perf_event_attr
 * @reserved: zero
 * @config: as in struct perf_event_attr
 * @name: name in the trace, with NUL
 */
struct tb_counter {
	__u32 type;
	__u32 reserved;
	__u64 config;
	char  name[32];
};

/* tb_rule.flags */
#define TB_RULE_STACK		0x01	/* record the kernel's stack with the event */
#define TB_RULE_USER_STACK	0x02	/* record the user's stack, if it can be read */

/**
 * struct tb_rule - TB_IOC_RULE: when an event is recorded, and what is recorded with it
 * @index: index of the event, as in struct tb_event_info; TB_RULE_ALL, with all else zero: remove
 *	all rules
 * @reserved32: zero
 * @flags: TB_RULE_*
 * @sample: record every n-th event that passes the tests; 0, 1: all
 * @rate: record at most this number of them in a second; 0: no limit
 * @tests: address of an array of struct tb_test; an event begins with the first
 * @nr_tests: number of tests, at most TB_TESTS_MAX; 0: all events pass
 * @data_bytes: bytes of data, at most TB_TEST_DATA_MAX
 * @data: address of the data that tests compare with
 * @counters: address of an array of struct tb_counter
 * @nr_counters: number of counters
 * @bad: out: index of the test or counter that is wrong
 *
 * Replaces the rule of that event, at any time; removes it if all but @index is zero.  An event
 * with a rule is recorded in its wide form, to which @tests refer.  Events that a rule keeps out
 * are counted (TB_IOC_SUPPRESSED).
 * Errors: ENOENT no such event; EINVAL test @bad is invalid for the event; EOPNOTSUPP this machine
 * has no counter @bad; ENOSPC more than TB_COUNTERS_MAX different counters; ENOMEM.
 */
struct tb_rule {
	__u32 index;
	__u32 reserved32;
	__u32 flags;
	__u32 sample;
	__u64 rate;
	__u64 tests;
	__u32 nr_tests;
	__u32 data_bytes;
	__u64 data;
	__u64 counters;
	__u32 nr_counters;
	__u32 bad;
	__u64 reserved[4];
};

#define TB_RULE_ALL		0xffffffffu

/**
 * struct tb_suppressed_info - TB_IOC_SUPPRESSED: get the number of events that rules kept out
 * @index: in: the event, as in struct tb_event_info; TB_RULE_ALL: events of threads that are not
 *	recorded
 * @reserved32: zero
 * @suppressed: counts since the start of the recording
 */
struct tb_suppressed_info {
	__u32 index;
	__u32 reserved32;
	struct tb_suppressed suppressed;
	__u64 reserved[2];
};

/* tb_pids.flags */
#define TB_PIDS_EXCLUDE		0x01	/* record all but these */
#define TB_PIDS_PROCESS		0x02	/* processes: all their threads, also later ones */
#define TB_PIDS_CHILDREN	0x04	/* also the processes that they create from now on */

/**
 * struct tb_pids - TB_IOC_PIDS: choose the threads to record
 * @pids: address of an array of __u32, thread ids in the caller's pid namespace
 * @count: number of thread ids, at most TB_PIDS_MAX; 0, without flags: record all threads
 * @flags: TB_PIDS_*
 * @bad: out: index of a thread that does not exist
 *
 * An event is recorded if the current thread is chosen.  An event about another thread (a switch to
 * it, its wake-up) is also recorded if that thread is chosen.
 * Errors: ESRCH thread @bad does not exist; EINVAL; ENOMEM.
 */
struct tb_pids {
	__u64 pids;
	__u32 count;
	__u32 flags;
	__u32 bad;
	__u32 reserved32;
	__u64 reserved[2];
};

#define TB_PIDS_MAX		1024

/* tb_event_info.flags */
#define TB_INFO_ENABLED		0x01
#define TB_INFO_COMPACT		0x02	/* recorded in its compact form */
#define TB_INFO_HAS_COMPACT	0x04
#define TB_INFO_ABSENT		0x08	/* the kernel has no such tracepoint now */
#define TB_INFO_GONE		0x10	/* the module with the tracepoint was unloaded */
#define TB_INFO_FLAGS		0x1f

/**
 * struct tb_event_info - TB_IOC_EVENT: get an event
 * @index: in: 0 .. tb_query.nr_events - 1, else ENOENT
 * @flags: in: TB_INFO_COMPACT: @desc is for the compact form, if there is one; else for the wide
 *	form; out: TB_INFO_*
 * @desc: in: address for the struct tb_event_desc with fields and strings, or 0
 * @desc_size: in: bytes of room at @desc; out: bytes needed (the kernel writes nothing if the room
 *	is too small)
 */
struct tb_event_info {
	__u32 index;
	__u32 flags;
	__u32 id;
	__u32 desc_size;
	__u64 desc;
	char  system[TB_NAME_MAX];
	char  name[TB_NAME_MAX];
	__u64 reserved[2];
};

/**
 * struct tb_stats - TB_IOC_STATS: get the present counts of one ring
 * attempted = delivered + overwritten + dropped + pending at every moment.
 */
struct tb_stats {
	__u32 cpu;		/* in */
	__u32 flags;		/* zero */
	__u64 attempted;	/* events offered */
	__u64 recorded;		/* attempted - dropped */
	__u64 delivered;	/* handed over and released, or read */
	__u64 overwritten;
	__u64 dropped;		/* oversize included */
	__u64 oversize;
	__u64 pending;		/* in buffers, not yet delivered */
	__u64 bytes;		/* of delivered blocks */
	__u64 blocks;		/* opened blocks */
	__u64 marks;		/* number of times that the watermark was crossed */
	__u64 retries;		/* reservations that an interrupting event made retry */
	__u32 ready;		/* blocks that a reader could take now */
	__u32 held;		/* blocks that a reader has taken */
	__u32 fill;		/* elements used in the current buffer */
	__u32 reserved32;
	__u64 reserved[4];
};

/* tb_ref.ring of a durable block */
#define TB_RING_DURABLE		0xffffffffu

/**
 * struct tb_ref - a block that was handed over
 * @offset: offset in the mapping
 * @bytes: size of the block
 * @ring: CPU, or TB_RING_DURABLE
 */
struct tb_ref {
	__u64 offset;
	__u32 bytes;
	__u32 ring;
};

/**
 * struct tb_batch - TB_IOC_ACQUIRE and TB_IOC_RELEASE: take blocks, and give them back
 * @refs: address of an array of struct tb_ref
 * @count: in: acquire: room in the array, 1..1024; release: number of blocks; out: number of blocks
 *	that were taken or given back
 * @flags: acquire: TB_ACQUIRE_*
 * Acquire never blocks: @count is 0 if there are no blocks.
 * Errors: EBUSY another session is the reader; EINVAL a block is not held (the @count blocks before
 * it are released); ENODATA stopped and drained, or the end of a snapshot.
 *
 * Release durable blocks in the order in which they were acquired: the module only counts them, and
 * may overwrite that number of the oldest.  Other blocks have no such order.
 */
struct tb_batch {
	__u64 refs;
	__u32 count;
	__u32 flags;
	__u64 reserved;
};

#define TB_ACQUIRE_FLUSH	0x01	/* first close buffers that hold events */
#define TB_ACQUIRE_SNAPSHOT	0x02	/* take a snapshot */

/*
 * A snapshot is a copy of the blocks in the rings of a circular recording that goes on.  It begins
 * with the first TB_ACQUIRE_SNAPSHOT of a session, which flushes all rings.  This and all further
 * acquires return, beside durable blocks, the blocks that were in the rings then and have not been
 * overwritten since.  ENODATA is the end; count 0: a block is not complete yet, or half of a ring's
 * buffers are held and must be released first.
 *
 * Released blocks stay in the ring.  Release them soon: writers skip a buffer that is held, so new
 * events overwrite other blocks, which the snapshot may not have taken yet.  The newest quarter of
 * each ring's blocks is held from the beginning, so a snapshot has these blocks even if writers are
 * fast.  A durable block has the counts of each ring at the beginning (struct tb_totals).
 *
 * A session takes one snapshot; another session can take the same blocks.  In other modes, and
 * after a stop, the kernel ignores the flag.
 */

#define TB_PROVIDERS_MAX	64

/**
 * struct tb_attach - TB_IOC_ATTACH: use this file for a provider from now on
 * @name: name of the provider; a file that was just opened is for "kernel"
 * Errors: ENOENT; EBUSY this file is bound to its provider: it was attached, has read, mapped,
 * started, armed, acquired or released, or has a save channel.
 */
struct tb_attach {
	char  name[TB_PROVIDER_NAME_MAX];
	__u64 reserved[2];
};

enum tb_provider_op {
	TB_PROVIDER_CREATE	= 1,
	TB_PROVIDER_DESTROY	= 2,	/* stops it, and discards its recording */
};

/**
 * struct tb_provider_req - TB_IOC_PROVIDER: create or destroy a provider
 * @op: enum tb_provider_op
 * @id: out: id of the provider
 * @name: 1 to 31 of A-Z a-z 0-9 _ - ., the first a letter
 * Errors: EINVAL illegal name; EEXIST; ENOENT; EPERM "kernel"; EBUSY in use by another
 * file or by a module; ENOSPC TB_PROVIDERS_MAX; ENOMEM.
 */
struct tb_provider_req {
	__u32 op;
	__u32 id;
	char  name[TB_PROVIDER_NAME_MAX];
	__u64 reserved[2];
};

/* tb_provider_info.flags */
#define TB_PROVIDER_MODULE	0x01	/* belongs to a kernel module */
#define TB_PROVIDER_PREVIOUS	0x02	/* a recording found in reserved memory at load */

/**
 * struct tb_provider_info - TB_IOC_PROVIDERS: get a provider
 * @index: in: 0 is "kernel"; ENOENT past the last
 */
struct tb_provider_info {
	__u32 index;
	__u32 id;
	__u32 state;		/* enum tb_state */
	__u32 reason;		/* enum tb_reason */
	__u32 flags;
	__u32 files;		/* number of open files of this provider */
	char  name[TB_PROVIDER_NAME_MAX];
	__u64 reserved[2];
};

/**
 * struct tb_fifo - TB_IOC_FIFO: open the save channel of one ring
 * @cpu: CPU of the ring
 * @version: TB_FIFO_VERSION; EPROTONOSUPPORT for another
 * @flags: zero
 * The result is a file descriptor, close-on-exec.  read() returns whole packets from the kernel,
 * write() takes whole packets from the manager, the program that saves the blocks.  While the
 * channel is open, only the manager gets the blocks of this ring.  Errors: EINVAL not in streaming
 * mode; EBUSY the ring has a channel, or another session is the reader.
 *
 * The kernel offers a block with SAVE_BUFFER as soon as the durable buffer has all records that the
 * block needs.  The manager gives it back with BUFFER_SAVED and the same data; then the kernel
 * offers the next one.  A wrong, late, repeated or unsolicited answer gets EINVAL and changes
 * nothing.  The manager may answer STARTED with STARTED and its own version; if that is another
 * version the kernel closes the channel, EPROTO.  Closing the channel or its session (EPIPE)
 * returns the offered block to the ring.
 */
struct tb_fifo {
	__u32 cpu;
	__u32 version;
	__u64 flags;
	__u64 reserved[2];
};

#define TB_FIFO_VERSION		1

enum tb_fifo_request {
	/* to the manager */
	TB_FIFO_STARTED		= 1,	/* data32: version, data64: generation; the first */
	TB_FIFO_SAVE_BUFFER	= 2,	/* data32: wrap count, data64: durable data end */
	TB_FIFO_STOPPED		= 3,	/* data32: enum tb_reason, data64: durable data end */
	/* from the manager; it may also answer TB_FIFO_STARTED with the version it speaks */
	TB_FIFO_BUFFER_SAVED	= 0x100, /* data of the TB_FIFO_SAVE_BUFFER that it answers */
};

/** struct tb_packet - a message in the channel */
struct tb_packet {
	__u16 request;
	__u16 reserved;		/* zero */
	__u32 data32;
	__u64 data64;
};

enum tb_arm_op {
	TB_ARM_SET		= 1,
	TB_ARM_CLEAR		= 2,	/* @post, @pattern and @length are zero */
};

/**
 * struct tb_arm - TB_IOC_ARM: let an event freeze a circular recording
 * @op: enum tb_arm_op
 * @post: percent, 0..100
 * @pattern: address of the text: patterns as in struct tb_select, separated by commas; events that
 *	are not recorded can be triggers, too
 * @length: bytes of the text, at most 255
 * @matched: out: number of events that it matched, at most 64
 * @rules: address of an array of struct tb_rule, with only tests of the wide form, or 0; an event
 *	without a rule always fires the trigger
 * @nr_rules: number of rules, at most 64
 * @bad: out: index of the wrong rule, if a rule is the cause of EINVAL
 * @post_ms: freeze at most this number of milliseconds after the event; 0: no such limit
 * @reserved: zero
 *
 * When one of the events occurs for the first time on a recorded CPU, that CPU records a TB_EV_MARK
 * "trigger: system:event".  From then on each ring may overwrite @post percent of its blocks, but
 * never the block with the mark.  When the ring of that CPU has done so, or after @post_ms, all
 * rings are frozen: they drop and count events for which they would overwrite a block.  Then poll()
 * on this file returns POLLPRI, as it does after a stop of the recording; TB_IOC_TRIGGER has the
 * reason.  Rings overwrite again after TB_ARM_CLEAR, and when this file is closed.
 * Errors: EINVAL no circular recording is running, or (clear) this file has not armed; EBUSY
 * already armed; ENOENT a pattern matches nothing; E2BIG more than 64 events; ENOMEM.
 */
struct tb_arm {
	__u32 op;
	__u32 post;
	__u64 pattern;
	__u32 length;
	__u32 matched;
	__u64 rules;
	__u32 nr_rules;
	__u32 bad;
	__u32 post_ms;
	__u32 reserved;
};

enum tb_trigger_state {
	TB_TRIGGER_NONE		= 0,
	TB_TRIGGER_ARMED	= 1,
	TB_TRIGGER_FIRED	= 2,	/* the event has occurred; recording goes on */
	TB_TRIGGER_FROZEN	= 3,
	TB_TRIGGER_ENDED	= 4,	/* the recording was stopped before it was disarmed */
};

/**
 * struct tb_trigger_info - TB_IOC_TRIGGER: get the state of the trigger
 * @state: enum tb_trigger_state
 * @fired: 1: an event has occurred; @cpu and the fields after it describe it
 * @events: number of events that can fire the trigger
 * @post_blocks: number of blocks that each ring may overwrite after the event
 * @cpu: CPU on which the event occurred
 * @tid: thread in which it occurred
 * @id: id of the event's wide form
 * @time: time of the event, trace clock
 * @realtime: CLOCK_REALTIME of the event, ns
 * @sequence: sequence number of the block with the mark
 * @comm: name of the thread
 * @system: system of the event
 * @name: name of the event
 */
struct tb_trigger_info {
	__u32 state;
	__u32 fired;
	__u32 events;
	__u32 post_blocks;
	__u32 cpu;
	__u32 tid;
	__u32 id;
	__u32 reserved32;
	__u64 time;
	__u64 realtime;
	__u64 sequence;
	char  comm[TB_COMM_LEN];
	char  system[TB_NAME_MAX];
	char  name[TB_NAME_MAX];
	__u64 reserved[4];
};

#define TB_IOC_QUERY		_IOR(TB_IOC_MAGIC, 0, struct tb_query)
#define TB_IOC_CONFIGURE	_IOW(TB_IOC_MAGIC, 1, struct tb_config)
#define TB_IOC_START		_IOW(TB_IOC_MAGIC, 2, struct tb_start)
#define TB_IOC_STOP		_IO(TB_IOC_MAGIC, 3)
#define TB_IOC_FLUSH		_IOW(TB_IOC_MAGIC, 4, struct tb_flush)
#define TB_IOC_SELECT		_IOWR(TB_IOC_MAGIC, 5, struct tb_select)
#define TB_IOC_EVENT		_IOWR(TB_IOC_MAGIC, 6, struct tb_event_info)
#define TB_IOC_STATS		_IOWR(TB_IOC_MAGIC, 7, struct tb_stats)
#define TB_IOC_ACQUIRE		_IOWR(TB_IOC_MAGIC, 8, struct tb_batch)
#define TB_IOC_RELEASE		_IOWR(TB_IOC_MAGIC, 9, struct tb_batch)
#define TB_IOC_ATTACH		_IOW(TB_IOC_MAGIC, 10, struct tb_attach)
#define TB_IOC_PROVIDER		_IOWR(TB_IOC_MAGIC, 11, struct tb_provider_req)
#define TB_IOC_PROVIDERS	_IOWR(TB_IOC_MAGIC, 12, struct tb_provider_info)
#define TB_IOC_FIFO		_IOW(TB_IOC_MAGIC, 13, struct tb_fifo)
#define TB_IOC_ARM		_IOWR(TB_IOC_MAGIC, 14, struct tb_arm)
#define TB_IOC_TRIGGER		_IOR(TB_IOC_MAGIC, 15, struct tb_trigger_info)
#define TB_IOC_RULE		_IOWR(TB_IOC_MAGIC, 16, struct tb_rule)
#define TB_IOC_SUPPRESSED	_IOWR(TB_IOC_MAGIC, 17, struct tb_suppressed_info)
#define TB_IOC_PIDS		_IOWR(TB_IOC_MAGIC, 18, struct tb_pids)

#endif /* _UAPI_LINUX_TRACEBUF_H */
