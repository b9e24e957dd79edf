/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, inside: traces that are read while they are made.
 */
#ifndef TB_FOLLOW_H
#define TB_FOLLOW_H

#include "cursor.h"

struct tb_follow;

/* A block that has come, in memory of our own; @offset: where it was among all that came */
struct tb_held {
	struct tb_held *next;
	uint64_t offset;
	uint64_t room;
	uint64_t reserved;
	unsigned char data[];		/* 16-byte aligned, as malloc() has it */
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

bool tb_follow_ended(const struct tb_follow *follow);

/* Are there to be more blocks? */
static inline bool tb_follow_more(const struct tb_trace *trace)
{
	return trace->follow && !tb_follow_ended(trace->follow);
}

#endif /* TB_FOLLOW_H */
