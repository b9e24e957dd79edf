/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of the torture module and of the programs that check its events: the sources, the
 * form of their events, the ioctls of /dev/tb_torture.
 */
#ifndef TB_TORTURE_H
#define TB_TORTURE_H

#include <linux/ioctl.h>
#include <linux/tracebuf.h>
#include <linux/types.h>

/* Each source counts its events on each CPU, and never nests in itself. */
enum tt_source {
	TT_TASK,
	TT_SOFTIRQ,		/* a tasklet */
	TT_HARDIRQ,		/* an hrtimer */
	TT_IRQ_WORK,
	TT_NMI,
	TT_SOURCES
};

#define TT_ID(source, composite)	(TB_EV_USER + 2 * (source) + !!(composite))
#define TT_ID_LAST			TT_ID(TT_SOURCES - 1, 1)

/*
 * The first word of the payload (of a simple event, the only one): the event's number (32 bits),
 * source (3), CPU (7), and a hash of these (22).
 */
#define TT_WORD_BITS	42

static inline __u64 tt_mix(__u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline __u64 tt_word(__u32 cpu, enum tt_source source, __u32 seq)
{
	__u64 word = (__u64)(cpu << 3 | source) << 32 | seq;

	return tt_mix(word) << TT_WORD_BITS | word;
}

/*
 * Word @i, from 1 on, of the payload of a composite event of @bytes; @mix: tt_mix() of the first.
 */
static inline __u64 tt_pattern(__u64 mix, __u32 i, __u32 bytes)
{
	return (mix * (2 * i + 1)) ^ bytes;
}

/**
 * struct tt_run - TT_IOC_START: let all sources record, on all CPUs
 * @seed: seed of all random numbers
 * @gap_ns: mean time between two interrupts of a kind on a CPU
 * @max_event: largest payload of an event; sources now and then ask for more
 * @go_on: keep the counts of the last run, instead of starting from 0
 * @reserved: zero
 */
struct tt_run {
	__u64 seed;
	__u32 gap_ns;
	__u32 max_event;
	__u32 go_on;
	__u32 reserved;
};

/**
 * struct tt_counts - TT_IOC_COUNTS: what one source did on one CPU since the start
 * @cpu: in
 * @source: in
 * @attempted: events offered; the number of the next one
 * @recorded: of those, how many there was room for
 * @oversize: of the rest, how many were larger than any that fits
 * @flushes: how often the source closed the buffer
 */
struct tt_counts {
	__u32 cpu;
	__u32 source;
	__u64 attempted;
	__u64 recorded;
	__u64 oversize;
	__u64 flushes;
};

#define TT_PATHS_MAX	64

/** struct tt_paths - TT_IOC_PATHS: how often each enum tb_ring_path was taken so far */
struct tt_paths {
	__u64 count[TT_PATHS_MAX];
};

/* The part of the recorder's memory that TT_IOC_FLIP damages. */
enum tt_damaged {
	TT_BLOCK,		/* header and gap slot of a block */
	TT_EVENTS,		/* a whole buffer of a ring */
	TT_RING_HEADER,		/* the first page of a ring in the mapping */
	TT_DURABLE,		/* the durable buffer */
	TT_HEAD,		/* tb_cpu_ring.head */
	TT_BUF,			/* tb_buf, but for the address of its memory */
	TT_RING,		/* totals and the reader's accounting; no addresses, no sizes */
	TT_DAMAGED,
};

/**
 * struct tt_flip - TT_IOC_FLIP: flip a bit of the recorder's memory
 * @what: enum tt_damaged
 * @cpu: CPU of the ring
 * @random: selects the buffer, word and bit
 * @block: out: number of the buffer or of the durable block; for TT_RING: 0 totals, 1 start and
 *	end, 2 the reader's accounting
 * @byte: out: offset there
 * @bit: out: bit of that byte
 * @reserved: zero
 */
struct tt_flip {
	__u32 what;
	__u32 cpu;
	__u64 random;
	__u32 block;
	__u32 byte;
	__u32 bit;
	__u32 reserved;
};

#define TT_IOC_MAGIC	0xBC
#define TT_IOC_START	_IOW(TT_IOC_MAGIC, 0, struct tt_run)
#define TT_IOC_STOP	_IO(TT_IOC_MAGIC, 1)	/* on return no source is at work */
#define TT_IOC_COUNTS	_IOWR(TT_IOC_MAGIC, 2, struct tt_counts)
#define TT_IOC_PATHS	_IOR(TT_IOC_MAGIC, 3, struct tt_paths)

/* interrupt this CPU during the next system call; argument: not 0: by a source that records much */
#define TT_IOC_AIM	_IO(TT_IOC_MAGIC, 4)

#define TT_IOC_FLIP	_IOWR(TT_IOC_MAGIC, 5, struct tt_flip)

#endif /* TB_TORTURE_H */
