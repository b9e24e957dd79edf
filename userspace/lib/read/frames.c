// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace in frames: packed frames (lib/pack/, docs/abi.md), frames of zstd with whole blocks,
 * which older versions recorded, and plain blocks between frames.
 *
 * Opening finds the frames and the headers of their blocks.  The headers stay in memory, and so do
 * durable blocks, notes, and open blocks, which are read at any time.  Other blocks are unpacked
 * with their frame when a reader needs them.
 *
 * Each block has an address in a range as long as the unpacked trace; only unpacked parts of the
 * range use memory.  A reader pins the frame of the block that it reads.  Frames without pins are
 * dropped, the least recently used one first.
 *
 * A damaged packed frame is skipped.  Reading stops at bytes that are no block.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include "frames.h"
#include "lib/pack/pack.h"

#define ZSTD_MOST	(64ull << 20)	/* largest content of a frame; recorders write less */
#define PLAIN_MOST	(4u << 20)	/* plain blocks that form one frame */

/*
 * Limit of the memory for headers, and for blocks that stay: KEPT_FREE bytes, and for each byte of
 * the file KEPT_RATIO.  A durable block of 4 KiB with one record compresses to more than 16 bytes;
 * a hostile file could have blocks of zeros.
 */
#define KEPT_FREE	(16ull << 20)
#define KEPT_RATIO	256
#define KEPT_PAGE	4096u

static uint32_t magic_at(const unsigned char *at)
{
	uint32_t magic;

	memcpy(&magic, at, sizeof(magic));
	return magic;
}

static bool skippable(uint32_t magic)
{
	return (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

bool tb_framed(const void *data, size_t size)
{
	return size >= sizeof(uint32_t) &&
	       (magic_at(data) == ZSTD_MAGICNUMBER || skippable(magic_at(data)) ||
		tb_packed(data, size));
}

static int no_memory(struct tb_error *error)
{
	return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE, "out of memory");
}

/* ---- finding frames ---- */

/* Make @frame of the plain blocks at the start of @data; -errno with @error if the first is bad */
static int plain_at(const unsigned char *data, size_t size, struct tb_frame *frame,
		    struct tb_error *error)
{
	struct tb_block header;
	int64_t bytes;

	while (size - frame->bytes >= sizeof(uint32_t) &&
	       magic_at(data + frame->bytes) == TB_BLOCK_MAGIC && frame->bytes < PLAIN_MOST) {
		size_t room = size - frame->bytes;

		/* a block behind a frame need not be aligned */
		memcpy(&header, data + frame->bytes, room < sizeof(header) ? room : sizeof(header));
		bytes = tb_block_check(&header, room, error);
		if (bytes < 0)
			return frame->bytes ? 0 : (int)bytes;
		frame->bytes += (size_t)bytes;
	}
	frame->content = frame->bytes;
	frame->looked_for = true;
	return 0;
}

/* Make @frame of what is at the start of @data; content 0: it has no blocks.  -errno with @error,
 * whose offset is relative to @data */
static int frame_at(const unsigned char *data, size_t size, struct tb_frame *frame,
		    struct tb_error *error)
{
	struct tb_pack_frame header;
	unsigned long long content;
	int result;

	memset(frame, 0, sizeof(*frame));
	frame->from = data;
	if (size >= sizeof(uint32_t) && magic_at(data) == TB_BLOCK_MAGIC)
		return plain_at(data, size, frame, error);
	if (tb_packed(data, size)) {
		result = tb_pack_header(data, size, &header, error);
		frame->bytes = header.bytes;
		frame->content = header.content;
		frame->kind = FRAME_PACKED;
		return result;
	}
	if (!tb_framed(data, size))
		return tb_error_set(error, size < sizeof(uint32_t) ? -ENODATA : -EINVAL, 0,
				    "neither a compressed frame nor a block starts here");
	frame->bytes = ZSTD_findFrameCompressedSize(data, size);
	if (ZSTD_isError(frame->bytes))
		return tb_error_set(error, -ENODATA, 0, "cut off: a compressed frame that is not whole");
	if (skippable(magic_at(data)))
		return 0;
	content = ZSTD_getFrameContentSize(data, size);
	if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
	    content > ZSTD_MOST)
		return tb_error_set(error, -EINVAL, 0,
				    "a compressed frame that does not say how much is in it, or impossibly much");
	frame->content = (size_t)content;
	frame->kind = FRAME_ZSTD;
	frame->looked_for = true;
	return 0;
}

/* Bytes from damage at @from to the next packed frame; @size: there is none */
static size_t next_packed(const unsigned char *from, size_t size)
{
	struct tb_pack_frame header;

	if (tb_packed(from, size) && !tb_pack_header(from, size, &header, NULL))
		return header.bytes;
	return 1 + tb_pack_find(from + 1, size - 1);
}

/* Keep the error if it is the first in the file */
static void note_fault(struct tb_error *fault, const struct tb_error *error, uint64_t offset)
{
	if (fault->code && fault->offset <= offset)
		return;
	*fault = *error;
	fault->offset = offset + (error->offset == TB_OFFSET_NONE ? 0 : error->offset);
}

/* List all frames, without checking their contents; -ENOMEM */
static int find_frames(struct tb_frames *frames, size_t size, struct tb_error *fault)
{
	const unsigned char *file = frames->file;
	struct tb_error error;
	struct tb_frame frame;
	size_t at;

	for (at = 0; at < size; at += frame.bytes) {
		if (frame_at(file + at, size - at, &frame, &error)) {
			note_fault(fault, &error, at);
			frame.bytes = next_packed(file + at, size - at);
			continue;
		}
		if (!frame.content)
			continue;
		if (tb_array_grow(&frames->frames, &frames->room_frames, frames->nr_frames,
				  sizeof(frame)))
			return -ENOMEM;
		frames->frames[frames->nr_frames++] = frame;
		frames->size += frame.content;
	}
	return 0;
}

/* ---- unpacking ---- */

static int make_room(struct tb_frames *frames, size_t bytes)
{
	if (bytes <= frames->room)
		return 0;
	free(frames->unpacked);
	frames->unpacked = aligned_alloc(TB_ELEMENT_SIZE, (bytes + TB_ELEMENT_SIZE - 1) &
					 ~(size_t)(TB_ELEMENT_SIZE - 1));
	frames->room = frames->unpacked ? bytes : 0;
	return frames->unpacked ? 0 : -ENOMEM;
}

static int unpack_zstd(struct tb_frames *frames, const struct tb_frame *frame)
{
	size_t got;

	if (!frames->zstd)
		frames->zstd = ZSTD_createDCtx();
	if (!frames->zstd)
		return -ENOMEM;
	got = ZSTD_decompressDCtx(frames->zstd, frames->unpacked, frame->content, frame->from,
				  frame->bytes);
	return ZSTD_isError(got) || got != frame->content ? -EBADMSG : 0;
}

/* @columns: NULL: everything; else unpack only headers and what is not in columns, and count blocks
 * in columns */
static int unpack_packed(struct tb_frames *frames, const struct tb_frame *frame, uint32_t *columns)
{
	struct tb_pack_frame header;
	int result;

	if (!frames->unpacker)
		frames->unpacker = tb_unpacker_open();
	if (!frames->unpacker)
		return -ENOMEM;
	/* the file may have been written to since the frame was found */
	result = tb_pack_header(frame->from, frame->bytes, &header, NULL);
	if (result || header.content != frame->content || header.bytes != frame->bytes)
		return -EBADMSG;
	return columns ? tb_unpacker_headers(frames->unpacker, frame->from, &header,
					     frames->unpacked, columns) :
	       tb_unpacker_frame(frames->unpacker, frame->from, &header, frames->unpacked);
}

int frames_unpack(struct tb_frames *frames, const struct tb_frame *frame, uint32_t *columns)
{
	long page = sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)frame->from + (uintptr_t)page - 1) & ~((uintptr_t)page - 1);
	uintptr_t to = ((uintptr_t)frame->from + frame->bytes) & ~((uintptr_t)page - 1);
	int result = make_room(frames, frame->content);

	if (result)
		return result;
	switch (frame->kind) {
	case FRAME_PACKED:
		result = unpack_packed(frames, frame, columns);
		break;
	case FRAME_ZSTD:
		result = unpack_zstd(frames, frame);
		break;
	case FRAME_PLAIN:
		memcpy(frames->unpacked, frame->from, frame->content);
		break;
	}
	if (frames->mapped && from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
	return result;
}

/* ---- the index ---- */

/* Return the bytes to copy of a block; 0: it does not stay.  The range has zeros already */
static size_t bytes_to_keep(const struct tb_frames *frames, const struct tb_frame *frame,
			    const struct header_at *header)
{
	const unsigned char *block = frames->unpacked + (header->offset - frame->offset);
	size_t bytes = (size_t)1 << header->header.size_log2;

	if (!frames_keep(&header->header))
		return 0;
	while (bytes > sizeof(header->header) && !block[bytes - 1])
		bytes--;
	return bytes;
}

/* Copy the blocks that stay, of headers @first to @end - 1.  Return 0; -EBADMSG: too many bytes */
static int keep_blocks(struct tb_frames *frames, const struct tb_frame *frame, size_t first,
		       size_t end)
{
	const struct header_at *header;
	uint64_t bytes = 0;
	size_t i, used, size;

	for (i = first; i < end; i++) {
		header = &frames->headers[i];
		/* the copy takes whole pages; blocks smaller than a page share it */
		used = (bytes_to_keep(frames, frame, header) + KEPT_PAGE - 1) & ~(KEPT_PAGE - 1);
		size = 1u << header->header.size_log2;
		bytes += sizeof(*header) + (used < size ? used : size);
	}
	if (bytes > frames->may_keep)
		return -EBADMSG;
	frames->may_keep -= bytes;
	for (i = first; i < end; i++) {
		header = &frames->headers[i];
		memcpy(frames->range + header->offset,
		       frames->unpacked + (header->offset - frame->offset),
		       bytes_to_keep(frames, frame, header));
	}
	return 0;
}

/*
 * Note the headers of a frame's blocks, and copy blocks that stay.  Return 0; 1: the frame ends
 * with something that is no block; -EBADMSG: blocks that stay have more bytes than a recording
 * needs; -ENOMEM.
 */
static int index_blocks(struct tb_frames *frames, struct tb_frame *frame, uint32_t columns)
{
	struct header_at *header;
	size_t at, room, first = frames->nr_headers;
	uint32_t rolling = 0;
	int64_t bytes = 0;
	int result;

	for (at = 0; at < frame->content; at += (size_t)bytes) {
		if (tb_array_grow(&frames->headers, &frames->room_headers, frames->nr_headers,
				  sizeof(*header)))
			return -ENOMEM;
		header = &frames->headers[frames->nr_headers++];
		memset(header, 0, sizeof(*header));
		header->offset = frame->offset + at;
		room = frame->content - at;
		memcpy(&header->header, frames->unpacked + at, room < sizeof(header->header) ?
		       room : sizeof(header->header));
		bytes = tb_block_check(&header->header, room, NULL);
		if (bytes < 0)
			break;
		rolling += header->header.kind == TB_BLOCK_ROLLING;
	}
	result = keep_blocks(frames, frame, first, frames->nr_headers - (bytes < 0));
	if (result)
		frames->nr_headers = first;
	/* the frame's list of ids does not cover events that are not in columns */
	frame->looked_for |= bytes < 0 || rolling > columns;
	return result ? result : bytes < 0;
}

static bool has_looked_for(const struct tb_frame *frame)
{
	struct tb_pack_frame header;

	if (frame->kind != FRAME_PACKED || tb_pack_header(frame->from, frame->bytes, &header, NULL))
		return true;
	return tb_pack_has(frame->from, &header, TB_EV_CLOCK) ||
	       tb_pack_has(frame->from, &header, TB_EV_CHUNK) ||
	       tb_pack_has(frame->from, &header, TB_EV_PATCH);
}

/* Index all frames without the damaged ones; -ENOMEM */
static int index_frames(struct tb_frames *frames, struct tb_error *fault)
{
	size_t i, kept = 0;
	struct tb_error error;
	int result = 0;

	frames->size = 0;
	for (i = 0; !result && i < frames->nr_frames; i++) {
		struct tb_frame frame = frames->frames[i];
		uint32_t columns = 0;

		result = frames_unpack(frames, &frame, &columns);
		frame.offset = frames->size;
		frame.looked_for |= has_looked_for(&frame);
		if (!result)
			result = index_blocks(frames, &frame, columns);
		if (result == -EBADMSG) {
			tb_error_set(&error, result, 0,
				     "a damaged frame: %zu bytes of blocks are missing",
				     frame.content);
			note_fault(fault, &error, (uint64_t)(frame.from - frames->file));
			result = 0;
			continue;
		}
		frames->size += frame.content;
		frames->frames[kept++] = frame;
	}
	frames->nr_frames = kept;
	return result < 0 ? result : 0;
}

static int open_range(struct tb_frames *frames)
{
	void *range = frames->size > SIZE_MAX / 2 ? MAP_FAILED :
		      mmap(NULL, (size_t)frames->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (range == MAP_FAILED)
		return -ENOMEM;
	frames->range = range;
	frames->range_bytes = (size_t)frames->size;
	return 0;
}

int tb_frames_open(const void *data, size_t size, bool mapped, struct tb_frames **out,
		   struct tb_error *fault, struct tb_error *error)
{
	struct tb_frames *frames = calloc(1, sizeof(*frames));
	int result = frames ? 0 : -ENOMEM;

	memset(fault, 0, sizeof(*fault));
	*out = NULL;
	if (!result) {
		pthread_mutex_init(&frames->lock, NULL);
		frames->file = data;
		frames->mapped = mapped;
		frames->may_keep = KEPT_FREE + KEPT_RATIO * (uint64_t)size;
		result = find_frames(frames, size, fault);
	}
	if (!result && frames->size)
		result = open_range(frames);
	if (!result && frames->size)
		result = index_frames(frames, fault);
	if (result) {
		result = no_memory(error);
	} else if (!frames->size) {
		result = fault->code ? fault->code : tb_error_set(fault, -ENODATA, 0, "empty");
		if (error)
			*error = *fault;
	} else {
		*out = frames;
		return 0;
	}
	tb_frames_close(frames);
	return result;
}

void tb_frames_close(struct tb_frames *frames)
{
	if (!frames)
		return;
	if (frames->range)
		munmap(frames->range, frames->range_bytes);
	tb_unpacker_close(frames->unpacker);
	ZSTD_freeDCtx(frames->zstd);
	pthread_mutex_destroy(&frames->lock);
	free(frames->unpacked);
	free(frames->headers);
	free(frames->frames);
	free(frames);
}

const unsigned char *tb_frames_range(const struct tb_frames *frames, uint64_t *size)
{
	*size = frames->size;
	return frames->range;
}
