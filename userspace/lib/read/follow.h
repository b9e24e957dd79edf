/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, inside: traces that are read while they are made.
 */
#ifndef TB_FOLLOW_H
#define TB_FOLLOW_H

#include "cursor.h"

/* A block that has come, in memory of our own; @offset: where it was among all that came */
struct tb_held {
	struct tb_held *next;
	uint64_t offset;
	uint64_t room;
	uint64_t reserved;
	unsigned char data[];		/* 16-byte aligned, as malloc() has it */
};

#define TB_FOLLOW_STEPS	16		/* of the time that events are held back */
#define TB_FOLLOW_EARLY	32
#define TB_FOLLOW_READ	(2u << 20)	/* twice the largest block */

/* Up to @newest came between @first and @last (ns) */
struct arrival {
	uint64_t first, last;
	uint64_t newest;
};

/**
 * struct tb_waiting - a writer whose pieces come; the n-th is of the n-th sequence
 * @key: of its producer and id
 * @pieces: those that were not put into the sequence yet, in order
 * @times: when they came, ns
 * @numbers: how far the sequence has got
 * @stream: in which the cursor merges it
 */
struct tb_waiting {
	uint64_t key;
	struct tb_lap lap;
	struct tb_piece *pieces;
	uint64_t *times;
	size_t   nr, room, room_times;
	struct tb_numbers numbers;
	struct stream *stream;
};

struct tb_follow {
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_device *device;
	int      fd;
	bool     regular;
	uint32_t flags;
	uint64_t hold;			/* ns */
	uint64_t room;
	bool     finish;		/* what is there is all */
	bool     ended;			/* no block comes any more, of this recording */
	bool     over;			/* nor of another */
	bool     begun;			/* a block has come */
	struct tb_held *following, **following_end;	/* blocks of the next recording */
	struct tb_held *again;		/* which are to be taken in now */
	struct tb_held *spent;		/* has been shown; still looked at */
	struct tb_held *spare;
	unsigned int nr_spare;
	struct tb_held *kept;		/* notes: symbols are in them */
	uint64_t kept_bytes;		/* of them; not in @held, and no more than @room */
	struct tb_held *raw, **raw_end, *raw_open;
	uint64_t held;			/* bytes of blocks that wait */
	uint64_t offset;		/* of all that has come */
	uint64_t taking;		/* offset of the block at hand */
	const unsigned char *taken;	/* it itself */
	uint64_t newest;		/* the latest time of any block */
	uint64_t shown;			/* events up to here can be shown */
	uint64_t flushed;		/* when, ns */
	bool     flushing;
	uint64_t asked;			/* newest when the flush began */
	unsigned int events;
	struct arrival arrivals[TB_FOLLOW_STEPS + 2];
	unsigned int nr_arrivals;
	struct tb_waiting *writers;
	size_t   nr_writers, room_writers;
	uint32_t *slots;		/* by key: number of the writer + 1; a hash table */
	size_t   nr_slots;
	struct tb_hole early[TB_FOLLOW_EARLY];	/* patches that came before anything of their writers */
	unsigned int nr_early;
	uint64_t released;		/* shown when pieces were last looked at */
	unsigned char *buffer;		/* of a descriptor: not whole blocks yet */
	size_t   start, used;
};

void tb_follow_free(struct tb_follow *follow);

int tb_follow_attach(struct tb_follow *follow, struct tb_cursor *cursor);
void tb_follow_detach(struct tb_follow *follow, struct tb_cursor *cursor);

/* The next block of the stream that has come; NULL: none has */
const struct tb_block *tb_follow_block(struct tb_follow *follow,
				       struct stream *stream);

/* The next block of all */
const struct tb_block *tb_follow_raw(struct tb_follow *follow, uint64_t *offset);

/*
 * See to it that what is first in the cursor's heap can be shown, or that it is empty at the end.
 * -EAGAIN: not yet.
 */
int tb_follow_pump(struct tb_follow *follow, struct tb_cursor *cursor);

/* See to it that there is a block for tb_follow_raw(), or none at the end; -EAGAIN: not yet */
int tb_follow_pump_raw(struct tb_follow *follow);

/* Where the block is that is being taken in */
uint64_t tb_follow_offset(const struct tb_follow *follow);

/* Go on with the next recording: 1; 0 there is none yet; -EBUSY there is a cursor */
int tb_follow_next_recording(struct tb_follow *follow);

/* ---- between follow.c and follow_source.c ---- */

uint64_t tb_follow_now(void);
/* A block has come: it is copied */
int tb_follow_take(struct tb_follow *follow, const struct tb_block *block);
/* What came when the recording before this one was not over yet */
int tb_follow_take_again(struct tb_follow *follow);
/* Whatever there is from where it comes: 1, 0 nothing now, or -errno */
int tb_follow_take_in(struct tb_follow *follow);

/* ---- follow_users.c ---- */

/* A piece of what a program has written has come, or a patch */
int tb_follow_chunk(struct tb_follow *follow, const struct tb_composite *composite, uint64_t ticks);
int tb_follow_patch(struct tb_follow *follow, const struct tb_composite *composite, uint64_t ticks);
/* Those that can be shown are for the cursor from here on; @all: no other comes any more */
int tb_follow_release(struct tb_follow *follow, bool all);
/* None has come */
void tb_follow_forget(struct tb_follow *follow);

bool tb_follow_ended(const struct tb_follow *follow);

/* Are there to be more blocks? */
static inline bool tb_follow_more(const struct tb_trace *trace)
{
	return trace->follow && !tb_follow_ended(trace->follow);
}

#endif /* TB_FOLLOW_H */
