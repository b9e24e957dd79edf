// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which frames of a trace are in memory: those that a reader has pinned, and the few that were used
 * last.  Several threads may read one trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "frames.h"

/* ---- headers ---- */

const struct tb_block *tb_frames_header(const struct tb_frames *frames, uint64_t offset)
{
	size_t at, hint;

	hint = atomic_load_explicit(&frames->hint, memory_order_relaxed);
	/* callers mostly ask for one block after another */
	for (at = hint; at < hint + 2 && at < frames->nr_headers; at++)
		if (frames->headers[at].offset == offset)
			break;
	if (at == hint + 2 || at >= frames->nr_headers) {
		at = 0;
		BISECT(at, frames->nr_headers, i, frames->headers[i].offset < offset);
	}
	if (at >= frames->nr_headers || frames->headers[at].offset != offset)
		return NULL;
	atomic_store_explicit(&((struct tb_frames *)frames)->hint, at, memory_order_relaxed);
	return &frames->headers[at].header;
}

/* ---- pins ---- */

/* The frame that contains @offset, which is less than the size of the trace */
static struct tb_frame *frame_of(const struct tb_frames *frames, uint64_t offset)
{
	size_t low = 0;

	/* count frames that begin at @offset or before */
	BISECT(low, frames->nr_frames, i, frames->frames[i].offset <= offset);
	return &frames->frames[low - 1];
}

uint64_t tb_frames_room(const struct tb_frames *frames, uint64_t offset)
{
	const struct tb_frame *frame = frame_of(frames, offset);

	return frame->offset + frame->content - offset;
}

bool tb_frames_looked_for(const struct tb_frames *frames, uint64_t offset)
{
	return frame_of(frames, offset)->looked_for;
}

/* Index of the first header of @frame */
static size_t first_header(const struct tb_frames *frames, const struct tb_frame *frame)
{
	size_t low = 0;

	BISECT(low, frames->nr_headers, i, frames->headers[i].offset < frame->offset);
	return low;
}

/* Find the next run of blocks of @frame that do not stay, from header @i on; false: none */
static bool next_run(const struct tb_frames *frames, const struct tb_frame *frame, size_t *i,
		     uint64_t *from, uint64_t *to)
{
	const struct header_at *header;

	*from = *to = 0;
	for (; *i < frames->nr_headers; ++*i) {
		header = &frames->headers[*i];
		if (header->offset >= frame->offset + frame->content)
			break;
		if (header->header.magic != TB_BLOCK_MAGIC || frames_keep(&header->header)) {
			if (*to)
				break;
			continue;
		}
		*from = *to ? *from : header->offset;
		*to = header->offset + (1ull << header->header.size_log2);
	}
	return *to;
}

static void fill(struct tb_frames *frames, const struct tb_frame *frame)
{
	size_t i = first_header(frames, frame);
	uint64_t from, to;

	while (next_run(frames, frame, &i, &from, &to))
		memcpy(frames->range + from, frames->unpacked + (from - frame->offset), to - from);
}

/* Free the pages that only blocks of this frame use */
static void give_up(struct tb_frames *frames, struct tb_frame *frame)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from, to;
	size_t i = first_header(frames, frame);

	while (next_run(frames, frame, &i, &from, &to)) {
		from = (from + page - 1) & ~(page - 1);
		to &= ~(page - 1);
		if (from < to)
			madvise(frames->range + from, to - from, MADV_DONTNEED);
	}
	frame->whole = false;
}

static void remove_spare(struct tb_frames *frames, unsigned int i)
{
	frames->nr_spare--;
	memmove(&frames->spare[i], &frames->spare[i + 1],
		(frames->nr_spare - i) * sizeof(frames->spare[0]));
}

static void unpin(struct tb_frames *frames, struct tb_frame *frame)
{
	if (!frame || --frame->pins)
		return;
	if (frames->nr_spare == FRAMES_SPARE) {
		give_up(frames, frames->spare[0]);
		remove_spare(frames, 0);
	}
	frames->spare[frames->nr_spare++] = frame;
}

/* Copy the headers of a frame that cannot be unpacked: all that is known of its blocks */
static void fill_headers(struct tb_frames *frames, const struct tb_frame *frame)
{
	const struct header_at *header;
	size_t i;

	for (i = first_header(frames, frame); i < frames->nr_headers; i++) {
		header = &frames->headers[i];
		if (header->offset >= frame->offset + frame->content)
			break;
		if (header->header.magic == TB_BLOCK_MAGIC && !frames_keep(&header->header))
			memcpy(frames->range + header->offset, &header->header, sizeof(header->header));
	}
}

static int pin(struct tb_frames *frames, struct tb_frame *frame)
{
	unsigned int i;
	int result = 0;

	if (frame->bad)
		return -EBADMSG;
	if (!frame->whole) {
		result = frames_unpack(frames, frame, NULL);
		frame->bad = result == -EBADMSG;
		if (frame->bad)
			fill_headers(frames, frame);
		if (result)
			return result;
		fill(frames, frame);
		frame->whole = frame->used = true;
	}
	for (i = 0; i < frames->nr_spare && frames->spare[i] != frame; i++)
		;
	if (i < frames->nr_spare)
		remove_spare(frames, i);
	frame->pins++;
	return 0;
}

int tb_frames_pin(struct tb_frames *frames, uint64_t offset, struct tb_frame **pinned)
{
	const struct tb_block *header = tb_frames_header(frames, offset);
	struct tb_frame *frame = NULL, *before = *pinned;
	int result = 0;

	if (!header || !frames_keep(header))
		frame = frame_of(frames, offset);
	if (frame == before)
		return 0;
	pthread_mutex_lock(&frames->lock);
	if (frame)
		result = pin(frames, frame);
	if (!result) {
		*pinned = frame;
		unpin(frames, before);
	}
	pthread_mutex_unlock(&frames->lock);
	return result;
}

void tb_frames_unpin(struct tb_frames *frames, struct tb_frame **pinned)
{
	if (!*pinned)
		return;
	pthread_mutex_lock(&frames->lock);
	unpin(frames, *pinned);
	pthread_mutex_unlock(&frames->lock);
	*pinned = NULL;
}

int tb_frames_show(struct tb_frames *frames, uint64_t offset)
{
	const struct tb_block *header = tb_frames_header(frames, offset);
	struct tb_frame *frame = frame_of(frames, offset);
	unsigned int i;
	int result;

	if (header && frames_keep(header))
		return 0;
	pthread_mutex_lock(&frames->lock);
	for (i = 0; i < FRAMES_SHOWN && frames->shown[i] != frame; i++)
		;
	result = i < FRAMES_SHOWN ? 0 : pin(frames, frame);
	if (!result && i == FRAMES_SHOWN) {
		unpin(frames, frames->shown[frames->next_shown]);
		frames->shown[frames->next_shown] = frame;
		frames->next_shown = (frames->next_shown + 1) % FRAMES_SHOWN;
	}
	pthread_mutex_unlock(&frames->lock);
	return result;
}
