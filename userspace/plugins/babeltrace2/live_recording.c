// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording that source.tracebuf.live reads: select the events of each pass, and keep the
 * blocks that later passes need.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "live.h"
#include "lib/array.h"

#define HISTORY_BYTES	(16u << 20)	/* limit for blocks with chunks of programs */

int live_create_rings(struct live_recording *live, unsigned int nr_cpus)
{
	unsigned int i;

	live->rings = calloc(nr_cpus + 1, sizeof(*live->rings));
	if (!live->rings)
		return -ENOMEM;
	for (i = 0; i < nr_cpus; i++)
		live->rings[i].cpu = i;
	live->rings[nr_cpus].cpu = TB_RING_DURABLE;
	live->nr_rings = nr_cpus + 1;
	return 0;
}

static struct live_ring *find_ring(const struct live_recording *live, uint32_t cpu)
{
	if (cpu == TB_RING_DURABLE)
		return &live->rings[live->nr_rings - 1];
	return cpu < live->nr_rings - 1 ? &live->rings[cpu] : NULL;
}

/* ---- selecting events ---- */

static struct live_writer *get_writer(struct live_recording *live,
				      const struct tb_user *user)
{
	struct live_writer *writer;
	size_t i;

	for (i = 0; i < live->nr_writers; i++) {
		writer = &live->writers[i];
		if (writer->producer == user->producer &&
		    writer->id == user->writer_id)
			return writer;
	}
	if (tb_array_grow(&live->writers, &live->room_writers, live->nr_writers, sizeof(*writer)))
		return NULL;
	writer = &live->writers[live->nr_writers++];
	*writer = (struct live_writer){
		.producer = user->producer, .id = user->writer_id,
	};
	return writer;
}

/*
 * Compare records by time, and those of equal times by number: numbers begin anew when another
 * writer gets the same id.
 */
static bool accept_record(struct live_recording *live, const struct tb_view *view)
{
	struct live_writer *writer = get_writer(live, view->user);
	uint64_t next = view->sequence + (view->kind == TB_VIEW_USER);

	if (!writer) {
		live->no_memory = true;
		return false;
	}
	if (view->ticks > live->until || view->ticks < writer->passed_ticks ||
	    (view->ticks == writer->passed_ticks &&
	     view->sequence < writer->passed))
		return false;
	if (view->ticks > writer->newest_ticks || next > writer->newest)
		writer->newest = next;
	writer->newest_ticks = view->ticks;
	return true;
}

/* Compare events by position in the ring */
static bool accept_event(struct live_recording *live, const struct tb_view *view)
{
	struct live_ring *ring = find_ring(live, view->cpu);

	if (!ring)
		return false;
	if (!ring->started || view->sequence != ring->current.sequence) {
		ring->started = true;
		ring->current.sequence = view->sequence;
		ring->current.index = 0;
	} else {
		ring->current.index++;
	}
	if (ring->has_passed && (ring->current.sequence < ring->passed.sequence ||
				 (ring->current.sequence == ring->passed.sequence &&
				  ring->current.index <= ring->passed.index)))
		return false;
	/* all events after a waiting one wait, too */
	ring->waiting = ring->waiting || view->ticks > live->until;
	if (ring->waiting)
		return false;
	ring->newest = ring->current;
	ring->has_new = true;
	return true;
}

static bool accept_view(struct live_recording *live, const struct tb_view *view)
{
	if (!bs_is_shown(view))
		return false;
	return view->user ? accept_record(live, view) : accept_event(live, view);
}

static void begin_pass(struct live_recording *live)
{
	size_t i;

	for (i = 0; i < live->nr_rings; i++)
		live->rings[i].started = live->rings[i].waiting = false;
}

int live_read_event(void *context, struct tb_cursor *cursor, struct tb_view *view)
{
	struct live_recording *live = context;
	int result = 0;

	if (!cursor)
		begin_pass(live);
	else
		do
			result = tb_cursor_next(cursor, view);
		while (result > 0 && !accept_view(live, view));
	return result;
}

/* ---- keeping blocks ---- */

/* Set @kept->state and @kept->chunks from the elements of @block */
static void inspect_block(const struct tb_block *block, struct live_block *kept)
{
	struct tb_walk walk;
	int step;

	tb_walk_start(&walk, block);
	while ((step = tb_walk_next(&walk)) == 1 || step == -EAGAIN) {
		if (step != 1)
			continue;
		kept->state = kept->state || walk.id == TB_EV_INIT;
		kept->chunks = kept->chunks || walk.id == TB_EV_CHUNK ||
			       walk.id == TB_EV_PATCH;
	}
}

int live_add_block(struct live_recording *live, const struct tb_block *block)
{
	size_t bytes = (size_t)1 << block->size_log2, room;
	void *grown;

	if (live->used + bytes > live->room) {
		room = 2 * (live->used + bytes);
		grown = realloc(live->image, room);
		if (!grown)
			return -ENOMEM;
		live->image = grown;
		live->room = room;
	}
	if (tb_array_grow(&live->blocks, &live->room_blocks, live->nr_blocks,
			  sizeof(*live->blocks)))
		return -ENOMEM;
	memcpy(live->image + live->used, block, bytes);
	live->blocks[live->nr_blocks] = (struct live_block){
		.offset = live->used, .bytes = bytes,
	};
	inspect_block((const void *)(live->image + live->used),
		      &live->blocks[live->nr_blocks++]);
	live->used += bytes;
	return 0;
}

/* Return the first block of the last state but one: libtracebuf needs no earlier durable blocks */
static size_t find_first_state_block(const struct live_recording *live)
{
	size_t i, states = 0;

	for (i = live->nr_blocks; i-- > 0;)
		if (live->blocks[i].state && ++states == 2)
			return i;
	return 0;
}

/* Return the first block from which on blocks with chunks fit into HISTORY_BYTES */
static size_t find_first_chunk_block(const struct live_recording *live)
{
	size_t i, bytes = 0;

	for (i = live->nr_blocks; i-- > 0;) {
		bytes += live->blocks[i].chunks ? live->blocks[i].bytes : 0;
		if (bytes > HISTORY_BYTES)
			return i + 1;
	}
	return 0;
}

static bool is_needed(const struct live_recording *live, size_t number, size_t state,
		      size_t chunks)
{
	const struct live_block *kept = &live->blocks[number];
	const struct tb_block *block = (const void *)(live->image + kept->offset);
	bool durable = block->kind != TB_BLOCK_ROLLING;
	const struct live_ring *ring;

	ring = find_ring(live, durable ? TB_RING_DURABLE : block->cpu);
	if (!ring || !ring->has_passed || block->sequence >= ring->passed.sequence)
		return true;
	return durable ? number >= state : kept->chunks && number >= chunks;
}

static void drop_blocks(struct live_recording *live)
{
	size_t state = find_first_state_block(live), chunks = find_first_chunk_block(live);
	size_t i, blocks = 0, used = 0;

	for (i = 0; i < live->nr_blocks; i++) {
		struct live_block *block = &live->blocks[i];

		if (!is_needed(live, i, state, chunks))
			continue;
		memmove(live->image + used, live->image + block->offset,
			block->bytes);
		block->offset = used;
		used += block->bytes;
		live->blocks[blocks++] = *block;
	}
	live->nr_blocks = blocks;
	live->used = used;
}

int live_add_inactivity(struct live_recording *live, struct bs_messages *messages,
			const struct tb_trace *trace)
{
	int result;

	/* after the last pass, the stream end messages follow */
	if (live->inactivity_sent || live->until == UINT64_MAX)
		return 0;
	live->inactivity_sent = true;
	result = bs_messages_add_inactivity(messages, tb_trace_ns(trace, live->until,
								  TB_TIME_MONOTONIC));
	return result < 0 ? result : 1;
}

void live_end_pass(struct live_recording *live)
{
	struct live_ring *ring;
	size_t i;

	live->inactivity_sent = false;
	for (i = 0; i < live->nr_rings; i++) {
		ring = &live->rings[i];
		if (!ring->has_new)
			continue;
		ring->has_passed = true;
		ring->passed = ring->newest;
		ring->has_new = false;
	}
	for (i = 0; i < live->nr_writers; i++) {
		live->writers[i].passed = live->writers[i].newest;
		live->writers[i].passed_ticks = live->writers[i].newest_ticks;
	}
	drop_blocks(live);
}

void live_free(struct live_recording *live)
{
	free(live->image);
	free(live->blocks);
	free(live->rings);
	free(live->writers);
	memset(live, 0, sizeof(*live));
}
