// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Following: read a trace while it is written, from the device, a pipe, or a file that grows.
 *
 * Each block is copied and given back at once, so that the recorder is not held up.  The copy goes
 * to the stream of its ring; the cursor merges streams as it does for a file.  An event is shown
 * when no earlier one can arrive; follow_source.c knows when.
 *
 * At the limit of memory for waiting blocks no more blocks are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "follow.h"

#define HOLD_MS		500
#define ROOM_BYTES	(64u << 20)
#define SPARE_BYTES	(4u << 20)
#define SYNCS_MOST	512
#define EVENTS_BETWEEN	256		/* views shown before blocks are taken in again */
#define CPUS		(UINT16_MAX + 1)	/* as many as blocks can name */

bool tb_follow_ended(const struct tb_follow *follow)
{
	return follow->ended;
}

uint64_t tb_follow_offset(const struct tb_follow *follow)
{
	return follow->taking;
}

/* ---- memory of blocks ---- */

static struct tb_held *held_new(struct tb_follow *follow, const void *data,
				uint64_t bytes)
{
	struct tb_held *held = follow->spare;

	if (held && held->room >= bytes) {
		follow->spare = held->next;
		follow->nr_spare--;
	} else {
		held = malloc(sizeof(*held) + bytes);
		if (!held)
			return NULL;
		held->room = bytes;
	}
	memcpy(held->data, data, bytes);
	held->next = NULL;
	held->offset = follow->offset;
	follow->held += held->room;
	return held;
}

static void held_free(struct tb_follow *follow, struct tb_held *held)
{
	follow->held -= held->room;
	if (held->room * follow->nr_spare >= SPARE_BYTES ||
	    (follow->spare && follow->spare->room != held->room)) {
		free(held);
		return;
	}
	held->next = follow->spare;
	follow->spare = held;
	follow->nr_spare++;
}

static void free_all(struct tb_follow *follow, struct tb_held **list)
{
	struct tb_held *held;

	while ((held = *list)) {
		*list = held->next;
		held_free(follow, held);
	}
}

/* Keep a note as long as the trace, for the symbols in it; it does not wait to be shown */
static void keep_note(struct tb_follow *follow, struct tb_held *held)
{
	follow->held -= held->room;
	follow->kept_bytes += held->room;
	held->next = follow->kept;
	follow->kept = held;
}

static void free_kept(struct tb_follow *follow)
{
	follow->held += follow->kept_bytes;
	follow->kept_bytes = 0;
	free_all(follow, &follow->kept);
}

/* False, with a fault: there are too many notes already, so the symbols of this one stay unknown */
static bool note_fits(struct tb_follow *follow, const struct tb_held *held)
{
	struct tb_error error;

	if (held->room <= follow->room - follow->kept_bytes)
		return true;
	tb_error_set(&error, -EFBIG, held->offset,
		     "more than %" PRIu64 " MiB of notes in a trace that is followed: passed over",
		     follow->room >> 20);
	tb_trace_set_fault(follow->trace, &error);
	return false;
}

static void mark_spent(struct tb_follow *follow, struct tb_held *held)
{
	held->next = follow->spent;
	follow->spent = held;
}

/* ---- taking blocks ---- */

static bool is_raw(const struct tb_cursor *cursor)
{
	return cursor->way == WAY_BLOCKS || cursor->way == WAY_ELEMENTS;
}

/* Learn what must be known of a block before its events are shown */
static int learn_block(struct tb_follow *follow, const struct tb_block *block)
{
	struct tb_trace *trace = follow->trace;
	struct tb_recording *recording = trace->selected;
	size_t syncs = recording->nr_syncs, keep = SYNCS_MOST / 2;
	int result;

	/* symbols would point into the block, which does not stay */
	if (block->kind == TB_BLOCK_NOTE && is_raw(follow->cursor))
		return 0;
	recording->overwrote |= block->kind == TB_BLOCK_ROLLING && block->overwritten;
	result = block->kind == TB_BLOCK_ROLLING ?
		 tb_scan_block(trace, recording, block) :
		 tb_durable_block(trace, recording, block);
	if (result < 0 || recording->nr_syncs == syncs)
		return result;
	tb_clock_sort(recording);
	if (recording->nr_syncs >= SYNCS_MOST) {
		memmove(recording->syncs,
			recording->syncs + recording->nr_syncs - keep,
			keep * sizeof(*recording->syncs));
		recording->nr_syncs = keep;
	}
	follow->cursor->line.from = 1;		/* valid for no time: the line has changed */
	follow->cursor->line.to = 0;
	return 0;
}

/* Find or add the block's stream; NULL: no memory */
static struct stream *stream_of(struct tb_follow *follow, const struct tb_block *block)
{
	struct stream **slot = &follow->by_cpu[block->cpu];

	/* tb_follow_attach() has added the first one */
	if (block->kind == TB_BLOCK_DURABLE)
		return follow->cursor->streams[0];
	if (!*slot && tb_cursor_add_stream(follow->cursor, block->cpu, NULL, slot))
		return NULL;
	return *slot;
}

/* True if the block has arrived before: parts of a recording, one after another, repeat some */
static bool is_repeated(struct stream *stream, const struct tb_block *block)
{
	uint64_t number = block->sequence;

	if (number >= stream->first_seen && number < stream->end_seen)
		return true;
	if (number != stream->end_seen)
		stream->first_seen = number;
	stream->end_seen = number + 1;
	return false;
}

static void deliver_raw(struct tb_follow *follow, struct tb_held *held)
{
	*follow->raw_end = held;
	follow->raw_end = &held->next;
}

static int deliver_block(struct tb_follow *follow, struct stream *stream, struct tb_held *held)
{
	const struct tb_block *block = (const void *)held->data;
	struct tb_cursor *cursor = follow->cursor;

	if (block->kind == TB_BLOCK_DURABLE && tb_cursor_dump(cursor, block))
		return -ENOMEM;
	*stream->held_end = held;
	stream->held_end = &held->next;
	if (!stream->queued) {
		tb_stream_advance(cursor, stream);
		tb_cursor_queue(cursor, stream);
	}
	return 0;
}

static void note_arrival(struct tb_follow *follow)
{
	unsigned int count = follow->nr_arrivals;
	uint64_t time = tb_follow_now();
	struct arrival *last;

	if (!count || (count < TB_FOLLOW_STEPS + 2 && time - follow->arrivals[count - 1].first >
				follow->hold / TB_FOLLOW_STEPS)) {
		follow->nr_arrivals = ++count;
		follow->arrivals[count - 1].first = time;
	}
	last = &follow->arrivals[count - 1];
	last->last = time;
	last->newest = follow->newest;
}

/* 1: the block is of this recording; 0: of another provider, skip it; -EAGAIN: of the next one */
static int belongs(struct tb_follow *follow, const struct tb_held *held)
{
	const struct tb_block *block = (const void *)held->data;
	struct tb_recording *recording = follow->trace->recordings;
	struct tb_error error;

	if (follow->following)
		return -EAGAIN;
	if (!follow->begun)
		recording->provider = block->provider;
	if (block->provider != recording->provider) {
		tb_error_set(&error, -EINVAL, held->offset,
			     "a block of provider %u in a trace of provider %u that is followed: passed over",
			     block->provider, recording->provider);
		tb_trace_set_fault(follow->trace, &error);
		return 0;
	}
	if (!tb_index_belongs(follow->trace, recording, block, !follow->begun))
		return -EAGAIN;
	follow->begun = true;
	return 1;
}

/* Takes over @held, even on failure */
static int accept_block(struct tb_follow *follow, struct tb_held *held)
{
	const struct tb_block *block = (const void *)held->data;
	bool raw = is_raw(follow->cursor), note = block->kind == TB_BLOCK_NOTE && !raw;
	struct stream *stream = NULL;
	int result = belongs(follow, held);

	if (!result) {
		held_free(follow, held);
		return 0;
	}
	if (result == -EAGAIN) {
		*follow->following_end = held;
		follow->following_end = &held->next;
		follow->ended = true;
		return 0;
	}
	if (!raw && !note)
		stream = stream_of(follow, block);
	if (note ? !note_fits(follow, held) : stream && is_repeated(stream, block)) {
		held_free(follow, held);
		return 0;
	}
	follow->taking = held->offset;
	follow->taken = held->data;
	if (block->flags & TB_BLOCK_COMPLETE && block->time_end > follow->newest)
		follow->newest = block->time_end;
	note_arrival(follow);
	if (note) {
		/* before: even if memory runs out there, some symbols may point into the block */
		keep_note(follow, held);
		return learn_block(follow, block);
	}
	result = raw || stream ? learn_block(follow, block) : -ENOMEM;
	if (!result && raw)
		deliver_raw(follow, held);
	else if (!result)
		result = deliver_block(follow, stream, held);
	if (result < 0)
		held_free(follow, held);
	return result;
}

int tb_follow_take(struct tb_follow *follow, const struct tb_block *block)
{
	uint64_t bytes = 1ull << block->size_log2;
	struct tb_held *held = held_new(follow, block, bytes);

	if (!held)
		return -ENOMEM;
	follow->offset += bytes;
	return accept_block(follow, held);
}

/* Take the blocks that arrived while the recording before this one was still being shown */
int tb_follow_take_again(struct tb_follow *follow)
{
	struct tb_held *held;
	int result = 0, failed = 0;

	while ((held = follow->again)) {
		follow->again = held->next;
		held->next = NULL;
		result = failed ? 0 : accept_block(follow, held);
		if (failed)
			held_free(follow, held);
		failed = failed ? failed : result;
	}
	return failed < 0 ? failed : 1;
}

/* ---- for the cursor ---- */

const struct tb_block *tb_follow_block(struct tb_follow *follow,
				       struct stream *stream)
{
	struct tb_held *held = stream->held;

	if (stream->open) {
		mark_spent(follow, stream->open);
		stream->open = NULL;
	}
	if (!held)
		return NULL;
	stream->held = held->next;
	if (!stream->held)
		stream->held_end = &stream->held;
	stream->open = held;
	stream->offset = held->offset;
	return (const void *)held->data;
}

/* At the end, let streams show losses after their last blocks, and losses of CPUs without blocks */
static int show_tails(struct tb_follow *follow, struct tb_cursor *cursor)
{
	const struct tb_recording *recording = follow->trace->selected;
	uint32_t cpu;
	size_t i;

	for (i = 0; i < recording->nr_totals; i++) {
		cpu = recording->totals[i].cpu;
		if (cpu < CPUS && !follow->by_cpu[cpu] &&
		    tb_cursor_add_stream(cursor, cpu, NULL, &follow->by_cpu[cpu]))
			return -ENOMEM;
	}
	for (i = 0; i < cursor->nr_streams; i++) {
		if (cursor->streams[i]->queued)
			continue;
		tb_stream_advance(cursor, cursor->streams[i]);
		tb_cursor_queue(cursor, cursor->streams[i]);
	}
	return 0;
}

/* Take more blocks, and release records of programs that can be shown now */
static int take_in(struct tb_follow *follow)
{
	int result = tb_follow_take_in(follow), released = 0;

	if (result >= 0 && (follow->shown != follow->released || follow->ended ||
			    tb_follow_is_full(follow)))
		released = tb_follow_release(follow, follow->ended);
	follow->released = follow->shown;
	return released ? released : result;
}

int tb_follow_pump(struct tb_follow *follow, struct tb_cursor *cursor)
{
	bool ended = follow->ended;
	int result;

	if (follow->spent)
		free_all(follow, &follow->spent);
	if (!ended && ++follow->events % EVENTS_BETWEEN == 0 &&
	    !tb_follow_is_full(follow)) {
		result = take_in(follow);
		if (result < 0)
			return result;
	}
	while (!follow->ended &&
	       (!cursor->nr_heap || cursor->heap[0]->ticks > follow->shown)) {
		result = take_in(follow);
		if (result <= 0)
			return result < 0 ? result : -EAGAIN;
	}
	return follow->ended && (!ended || !cursor->nr_heap) ? show_tails(follow, cursor) : 0;
}

int tb_follow_pump_raw(struct tb_follow *follow)
{
	int result;

	while (!follow->raw && !follow->ended) {
		result = tb_follow_take_in(follow);
		if (result <= 0)
			return result < 0 ? result : -EAGAIN;
	}
	return 0;
}

const struct tb_block *tb_follow_raw(struct tb_follow *follow, uint64_t *offset)
{
	struct tb_held *held = follow->raw;

	if (follow->raw_open) {
		held_free(follow, follow->raw_open);
		follow->raw_open = NULL;
	}
	if (!held)
		return NULL;
	follow->raw = held->next;
	if (!follow->raw)
		follow->raw_end = &follow->raw;
	follow->raw_open = held;
	*offset = held->offset;
	return (const void *)held->data;
}

int tb_follow_attach(struct tb_follow *follow, struct tb_cursor *cursor)
{
	if (follow->cursor)
		return -EBUSY;
	follow->by_cpu = calloc(CPUS, sizeof(*follow->by_cpu));
	if (!follow->by_cpu)
		return -ENOMEM;
	if (tb_cursor_add_stream(cursor, TB_RING_DURABLE, NULL, NULL)) {
		free(follow->by_cpu);
		return -ENOMEM;
	}
	follow->cursor = cursor;
	return 0;
}

void tb_follow_detach(struct tb_follow *follow, struct tb_cursor *cursor)
{
	size_t i;

	if (follow->cursor != cursor)
		return;
	follow->cursor = NULL;
	for (i = 0; i < cursor->nr_streams; i++) {
		free_all(follow, &cursor->streams[i]->held);
		if (cursor->streams[i]->open)
			held_free(follow, cursor->streams[i]->open);
	}
	free_all(follow, &follow->spent);
	free_all(follow, &follow->raw);
	follow->raw_end = &follow->raw;
	if (follow->raw_open)
		held_free(follow, follow->raw_open);
	follow->raw_open = NULL;
	free(follow->by_cpu);
	tb_follow_forget(follow);
}

void tb_cursor_finish(struct tb_cursor *cursor)
{
	if (cursor->trace->follow)
		cursor->trace->follow->finish = true;
}

/* ---- opening ---- */

static int follow_new(const struct tb_follow_options *options,
		      struct tb_trace **out, struct tb_error *error)
{
	struct tb_follow *follow = calloc(1, sizeof(*follow));
	struct tb_trace *trace = calloc(1, sizeof(*trace));

	if (trace)
		trace->recordings = calloc(1, sizeof(*trace->recordings));
	if (!follow || !trace || !trace->recordings) {
		free(follow);
		tb_trace_close(trace);
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE,
				    "out of memory");
	}
	follow->trace = trace;
	follow->fd = -1;
	follow->flags = options ? options->flags : 0;
	follow->hold = (options && options->hold_ms ? options->hold_ms : HOLD_MS) *
		       1000000ull;
	/* the first flush is due at once, even right after boot */
	follow->flushed = tb_follow_now() - follow->hold;
	follow->room = options && options->room ? options->room : ROOM_BYTES;
	follow->raw_end = &follow->raw;
	follow->following_end = &follow->following;
	trace->follow = follow;
	trace->nr_recordings = 1;
	trace->selected = trace->recordings;
	*out = trace;
	return 0;
}

void tb_follow_free(struct tb_follow *follow)
{
	if (!follow)
		return;
	free_kept(follow);
	free_all(follow, &follow->following);
	free_all(follow, &follow->again);
	while (follow->spare) {
		struct tb_held *held = follow->spare;

		follow->spare = held->next;
		free(held);
	}
	free(follow->buffer);
	free(follow);
}

int tb_trace_follow_fd(int fd, const struct tb_follow_options *options,
		       struct tb_trace **out, struct tb_error *error)
{
	struct tb_follow *follow;
	struct stat status;
	int result;

	*out = NULL;
	if (options && options->flags & ~TB_FOLLOW_GROWS)
		return tb_error_set(error, -EINVAL, TB_OFFSET_NONE,
				    "cannot be followed: unknown flags 0x%" PRIx32,
				    options->flags);
	if (fstat(fd, &status) < 0)
		return tb_error_set(error, -errno, TB_OFFSET_NONE,
				    "cannot be examined: %s", strerror(errno));
	result = follow_new(options, out, error);
	if (result < 0)
		return result;
	follow = (*out)->follow;
	follow->fd = fd;
	follow->regular = S_ISREG(status.st_mode);
	follow->buffer = malloc(TB_FOLLOW_READ);
	if (follow->buffer)
		return 0;
	tb_trace_close(*out);
	*out = NULL;
	return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE, "out of memory");
}

int tb_trace_follow_device(struct tb_device *device,
			   const struct tb_follow_options *options,
			   struct tb_trace **out, struct tb_error *error)
{
	int result = tb_device_map(device, NULL, NULL);

	*out = NULL;
	if (result < 0)
		return tb_error_set(error, result, TB_OFFSET_NONE,
				    "its buffers cannot be mapped: %s",
				    strerror(-result));
	if (options && options->flags)
		return tb_error_set(error, -EINVAL, TB_OFFSET_NONE,
				    "cannot be followed: flags 0x%" PRIx32 " are for files",
				    options->flags);
	result = follow_new(options, out, error);
	if (!result)
		(*out)->follow->device = device;
	return result;
}

int tb_follow_next_recording(struct tb_follow *follow)
{
	struct tb_recording *recording = follow->trace->recordings;

	if (follow->cursor)
		return -EBUSY;
	if (!follow->following)
		return 0;
	tb_durable_free(recording);
	memset(recording, 0, sizeof(*recording));
	free_kept(follow);
	follow->again = follow->following;
	follow->following = NULL;
	follow->following_end = &follow->following;
	follow->begun = follow->ended = follow->flushing = false;
	follow->shown = follow->newest = 0;
	follow->nr_arrivals = 0;
	return 1;
}
