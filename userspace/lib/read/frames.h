/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: a trace in frames.
 *
 *	frames.c	finds the frames and the headers of their blocks, and unpacks frames
 *	frames_pin.c	decides which frames are in memory
 */
#ifndef TB_FRAMES_H
#define TB_FRAMES_H

#include <pthread.h>
#include "internal.h"

#define FRAMES_SHOWN	4	/* frames that tb_frames_show() keeps in memory */
#define FRAMES_SPARE	4	/* frames without pins that stay in memory */

struct tb_unpacker;
struct ZSTD_DCtx_s;

enum frame_kind { FRAME_PLAIN, FRAME_ZSTD, FRAME_PACKED };

/**
 * struct tb_frame - a frame, or several plain blocks
 * @offset: place in the unpacked trace
 * @content: size when unpacked
 * @from: the packed bytes, @bytes of them
 * @looked_for: its rolling blocks may have events that scan.c looks for
 * @whole: it is unpacked in memory
 * @bad: it cannot be unpacked
 * @used: it has been in memory
 * @pins: number of pins
 */
struct tb_frame {
	uint64_t offset;
	size_t   content;
	const unsigned char *from;
	size_t   bytes;
	enum frame_kind kind;
	bool     looked_for, whole, bad, used;
	unsigned int pins;
};

/* The header of a block, or the bytes where one should be */
struct header_at {
	uint64_t offset;
	struct tb_block header;
};

struct tb_frames {
	const unsigned char *file;
	bool     mapped;		/* @file is a mapping: its pages may be given back */
	struct tb_frame *frames;
	size_t   nr_frames, room_frames;
	struct header_at *headers;	/* constant once the trace is open */
	size_t   nr_headers, room_headers;
	_Atomic size_t hint;		/* the header found last */
	unsigned char *range;
	size_t   range_bytes;
	uint64_t size;
	uint64_t may_keep;		/* limit of the bytes in blocks that stay in memory */
	pthread_mutex_t lock;		/* protects all below, and the state of frames */
	struct ZSTD_DCtx_s *zstd;
	struct tb_unpacker *unpacker;
	unsigned char *unpacked;	/* room for a frame */
	size_t   room;
	struct tb_frame *shown[FRAMES_SHOWN];
	unsigned int next_shown;
	/* frames in memory without pins, the one that was used last at the end */
	struct tb_frame *spare[FRAMES_SPARE];
	unsigned int nr_spare;
};

/* True for blocks that stay in memory, because they are read at any time */
static inline bool frames_keep(const struct tb_block *header)
{
	return header->kind != TB_BLOCK_ROLLING || !(header->flags & TB_BLOCK_COMPLETE);
}

/* Unpack the frame to frames->unpacked.  With @columns, only headers and what is not in columns of
 * a packed frame; out: number of blocks in columns.  -EBADMSG, -ENOMEM */
int frames_unpack(struct tb_frames *frames, const struct tb_frame *frame, uint32_t *columns);

#endif /* TB_FRAMES_H */
