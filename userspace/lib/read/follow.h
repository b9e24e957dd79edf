/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: traces that are read while they are written.
 */
#ifndef TB_FOLLOW_H
#define TB_FOLLOW_H

#include "cursor.h"

/* A copy of a block that has arrived; @offset: its place among all bytes that have arrived */
struct tb_held {
	struct tb_held *next;
	uint64_t offset;
	uint64_t room;
	uint64_t reserved;
	unsigned char data[];		/* 16-byte aligned, as malloc() has it */
};

#define TB_FOLLOW_STEPS	16		/* parts of the time for which events are held back */
#define TB_FOLLOW_EARLY	32
#define TB_FOLLOW_READ	(2u << 20)	/* twice the largest block */

/* Blocks with events up to @newest arrived between @first and @last (ns) */
struct arrival {
	uint64_t first, last;
	uint64_t newest;
};

/**
 * struct tb_waiting - a writer of a program; number n has the n-th sequence
 * @key: producer and id
 * @previous: number + 1 of the last writer that had this id before, 0: none
 * @from: ticks of its first piece; what the kernel took earlier is of a previous writer
 * @pieces: those that are not in the sequence yet; @unsorted: as they arrived
 * @holes: patches that are not in the sequence yet, @nr_holes, as they arrived
 * @patches: how many patches have arrived
 * @numbers: last record of the sequence
 * @stream: stream by which the cursor reads the sequence
 */
struct tb_waiting {
	uint64_t key;
	uint32_t previous;
	bool     unsorted;
	uint64_t from;
	struct tb_lap lap;
	struct tb_piece *pieces;
	size_t   nr, room;
	struct tb_hole *holes;
	size_t   nr_holes, room_holes, patches;
	struct tb_numbers numbers;
	struct stream *stream;
};

struct tb_follow {
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct stream **by_cpu;		/* of the cursor; NULL: no block of that CPU has arrived */
	struct tb_device *device;
	int      fd;
	bool     regular;
	uint32_t flags;
	uint64_t hold;			/* ns */
	uint64_t room;
	bool     finish;		/* do not wait for more */
	bool     ended;			/* no more blocks of this recording */
	bool     over;			/* no more blocks at all */
	bool     broken;		/* because what follows is no block */
	bool     begun;			/* a block has arrived */
	struct tb_held *following, **following_end;	/* blocks of the next recording */
	struct tb_held *again;		/* the same, after that recording was selected */
	struct tb_held *spent;		/* shown, but the last view may point into them */
	struct tb_held *spare;
	unsigned int nr_spare;
	struct tb_held *kept;		/* notes, which have symbols */
	uint64_t kept_bytes;		/* their size; not in @held, at most @room */
	struct tb_held *raw, **raw_end, *raw_open;
	uint64_t held;			/* bytes of blocks that wait */
	uint64_t pieces;		/* bytes of pieces of programs' records that are kept */
	uint64_t offset;		/* bytes that have arrived */
	uint64_t taking;		/* offset of the block that is being taken */
	const unsigned char *taken;	/* that block */
	uint64_t newest;		/* latest time of any block */
	uint64_t shown;			/* events up to here can be shown */
	uint64_t flushed;		/* time of the last flush, ns */
	bool     flushing;
	uint64_t asked;			/* @newest when the flush began */
	unsigned int events;		/* calls of tb_follow_pump() */
	struct arrival arrivals[TB_FOLLOW_STEPS + 2];
	unsigned int nr_arrivals;
	struct tb_waiting *writers;
	size_t   nr_writers, room_writers;
	uint32_t *slots;		/* by key: number of the writer + 1; a hash table */
	size_t   nr_slots;
	struct tb_secret secret;
	struct tb_hole early[TB_FOLLOW_EARLY];	/* patches that preceded their writer's pieces */
	unsigned int nr_early;
	uint64_t released;		/* @shown when pieces were last released */
	unsigned char *buffer;		/* bytes read from @fd, not yet whole blocks */
	size_t   start, used;
};

/* True at the limit of memory: no more is read until something was shown */
static inline bool tb_follow_is_full(const struct tb_follow *follow)
{
	return follow->held + follow->pieces >= follow->room;
}

void tb_follow_free(struct tb_follow *follow);

int tb_follow_attach(struct tb_follow *follow, struct tb_cursor *cursor);
void tb_follow_detach(struct tb_follow *follow, struct tb_cursor *cursor);

/* The next block that has arrived for the stream; NULL: none */
const struct tb_block *tb_follow_block(struct tb_follow *follow,
				       struct stream *stream);

/* The next block of any ring; valid until the next call */
const struct tb_block *tb_follow_raw(struct tb_follow *follow, uint64_t *offset);

/*
 * Take blocks until the first event of the cursor's heap can be shown, or the heap is empty at the
 * end.  -EAGAIN: not yet.
 */
int tb_follow_pump(struct tb_follow *follow, struct tb_cursor *cursor);

/* Take blocks until there is one for tb_follow_raw(), or none at the end; -EAGAIN: not yet */
int tb_follow_pump_raw(struct tb_follow *follow);

/* Offset of the block that is being taken */
uint64_t tb_follow_offset(const struct tb_follow *follow);

/* Select the next recording: 1; 0 there is none yet; -EBUSY there is a cursor */
int tb_follow_next_recording(struct tb_follow *follow);

/* ---- between follow.c and follow_source.c ---- */

uint64_t tb_follow_now(void);
/* Take a block; it is copied */
int tb_follow_take(struct tb_follow *follow, const struct tb_block *block);
/* Take the blocks that arrived while the recording before this one was still being shown */
int tb_follow_take_again(struct tb_follow *follow);
/* Take what the device or descriptor has now: 1, 0 nothing now, or -errno */
int tb_follow_take_in(struct tb_follow *follow);

/* ---- follow_users.c ---- */

/* Take a piece or a patch of a program's records */
int tb_follow_chunk(struct tb_follow *follow, const struct tb_composite *composite, uint64_t ticks);
int tb_follow_patch(struct tb_follow *follow, const struct tb_composite *composite, uint64_t ticks);
/* Let the cursor show pieces that can be shown now, and free those that it has shown; @all: no more
 * will arrive.  1: there are some to show; 0; -ENOMEM */
int tb_follow_release(struct tb_follow *follow, bool all);
/* Free all pieces and writers */
void tb_follow_forget(struct tb_follow *follow);

bool tb_follow_ended(const struct tb_follow *follow);

/* True if more blocks of the recording may arrive */
static inline bool tb_follow_more(const struct tb_trace *trace)
{
	return trace->follow && !tb_follow_ended(trace->follow);
}

#endif /* TB_FOLLOW_H */
