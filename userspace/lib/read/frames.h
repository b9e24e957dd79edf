/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, inside: a trace in frames, as its parts know it.
 *
 *	frames.c	finds the frames and the headers of their blocks, and unpacks frames
 *	frames_pin.c	which of them are in memory
 */
#ifndef TB_FRAMES_H
#define TB_FRAMES_H

#include <pthread.h>
#include "internal.h"

#define FRAMES_SHOWN	4	/* blocks of tb_frames_show() that stay in memory */

struct tb_unpacker;
struct ZSTD_DCtx_s;

enum frame_kind { FRAME_PLAIN, FRAME_ZSTD, FRAME_PACKED };

/**
 * struct tb_frame - a frame, or plain blocks one after the other
 * @offset: in the unpacked trace
 * @content: bytes when unpacked
 * @from: where it is, @bytes of it
 * @looked_for: its rolling blocks may have what a scan looks for
 * @whole: it is in memory
 * @bad: it cannot be unpacked
 * @pins: how often it was pinned
 * @used: when the last pin went
 */
struct tb_frame {
	uint64_t offset;
	size_t   content;
	const unsigned char *from;
	size_t   bytes;
	enum frame_kind kind;
	bool     looked_for, whole, bad;
	unsigned int pins;
	uint64_t used;
};

/* A block, or what stands where one should */
struct header_at {
	uint64_t offset;
	struct tb_block header;
};

struct tb_frames {
	const unsigned char *file;
	bool     mapped;		/* its pages come back */
	struct tb_frame *frames;
	size_t   nr_frames, room_frames;
	struct header_at *headers;	/* do not change once the trace is open */
	size_t   nr_headers, room_headers;
	_Atomic size_t hint;		/* the header found last */
	unsigned char *range;
	size_t   range_bytes;
	uint64_t size;
	pthread_mutex_t lock;		/* all below, and of frames what changes */
	struct ZSTD_DCtx_s *zstd;
	struct tb_unpacker *unpacker;
	unsigned char *unpacked;	/* a frame */
	size_t   room;
	struct tb_frame *shown[FRAMES_SHOWN];
	unsigned int next_shown;
	unsigned int spare;		/* frames in memory without pins */
	uint64_t time;
};

/* Blocks that are read at any time stay in memory */
static inline bool frames_keep(const struct tb_block *header)
{
	return header->kind != TB_BLOCK_ROLLING || !(header->flags & TB_BLOCK_COMPLETE);
}

/* Unpack the frame to frames->unpacked; of a packed one with @columns only what is not in columns,
 * and headers; out: how many blocks are in columns.  -EBADMSG, -ENOMEM */
int frames_unpack(struct tb_frames *frames, const struct tb_frame *frame, uint32_t *columns);

#endif /* TB_FRAMES_H */
