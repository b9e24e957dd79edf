/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.tracebuf.live: what its parts agree on.
 *
 *	live.c          the component, the iterator, emptying the rings
 *	live_recording.c    what has been passed on, what waits, what is kept
 */
#ifndef TB_BABELTRACE_LIVE_H
#define TB_BABELTRACE_LIVE_H

#include "source.h"

/* An event's place in its ring: number of the block, and of the event in it */
struct live_position {
	uint64_t sequence;
	uint64_t index;
};

/**
 * struct live_ring - how far a ring's events have been passed on
 * @at: where the pass is, if it has @started
 * @seen: last one wanted in this pass, if there is @news
 * @done: last one passed on before, if there is @some
 * @waits: what follows in this pass is for another time
 * @attempted: events that had been begun when the rings were flushed
 */
struct live_ring {
	uint32_t cpu;
	bool     started, waiting, has_passed, has_new;
	struct live_position current, newest, passed;
	uint64_t attempted;
};

/* struct live_writer - likewise of a program's writer, whose records have times in order */
struct live_writer {
	uint32_t producer, id;
	uint64_t newest_ticks, passed_ticks;
	uint64_t newest, passed;		/* number of the record after it */
};

/* struct live_block - a block that is kept: where it is in the image */
struct live_block {
	size_t offset;
	size_t bytes;
	bool   chunks;		/* it has programs' */
	bool   state;		/* a complete state begins in it */
};

/**
 * struct live_recording - what is kept of a provider's recording
 * @image: the blocks, one after the other
 * @until: ticks up to which everything has come
 */
struct live_recording {
	unsigned char *image;
	size_t   used, room;
	struct live_block *blocks;
	size_t   nr_blocks, room_blocks;
	struct live_ring *rings;	/* those of CPUs, by number, then the durable one */
	size_t   nr_rings;
	struct live_writer *writers;
	size_t   nr_writers, room_writers;
	uint64_t until;
	bool     inactivity_sent;	/* no more events come up to @until: a message said so */
	bool     no_memory;
};

int live_create_rings(struct live_recording *live, unsigned int nr_cpus);
/* One more block, copied; 0, -ENOMEM */
int live_add_block(struct live_recording *live, const struct tb_block *block);
/* bs_event_reader: what has not been passed on, and whose time it is */
int live_read_event(void *context, struct tb_cursor *cursor, struct tb_view *view);
/* All that was wanted has been passed on, of @trace: 1 and a message that says up to when, so that
 * whoever merges this with something else can go on; 0 it has been told; -ENOMEM */
int live_add_inactivity(struct live_recording *live, struct bs_messages *messages,
			const struct tb_trace *trace);
/* All that was wanted has been passed on: forget what is not needed any more */
void live_end_pass(struct live_recording *live);
void live_free(struct live_recording *live);

#endif /* TB_BABELTRACE_LIVE_H */
