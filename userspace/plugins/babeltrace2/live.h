/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between the files of source.tracebuf.live.
 *
 *	live.c              the component, the iterator, reading the rings
 *	live_recording.c    the blocks of the recording, and the positions of readers in it
 */
#ifndef TB_BABELTRACE_LIVE_H
#define TB_BABELTRACE_LIVE_H

#include "source.h"

/* Position of an event in its ring: numbers of the block and of the event in the block */
struct live_position {
	uint64_t sequence;
	uint64_t index;
};

/**
 * struct live_ring - the position of the iterator in a ring
 * @waiting: this pass leaves all further events of the ring to a later pass
 * @current: position of the pass, if it has @started
 * @newest: last event that this pass passes on, if it @has_new
 * @passed: last event that an earlier pass passed on, if it @has_passed
 * @attempted: number of events that writers had begun before the last flush
 */
struct live_ring {
	uint32_t cpu;
	bool     started, waiting, has_passed, has_new;
	struct live_position current, newest, passed;
	uint64_t attempted;
};

/* struct live_writer - the position in the records of a program's writer, in order of time */
struct live_writer {
	uint32_t producer, id;
	uint64_t newest_ticks, passed_ticks;
	uint64_t newest, passed;		/* number of the next record */
};

/* struct live_block - the place of a block in the image */
struct live_block {
	size_t offset;
	size_t bytes;
	bool   chunks;		/* it contains chunks or patches of programs */
	bool   state;		/* a complete state begins in it */
};

/**
 * struct live_recording - the blocks of a provider's recording that passes still need
 * @image: contents of the blocks, without gaps, which libtracebuf reads as a file
 * @until: the image has all events up to this time in ticks
 */
struct live_recording {
	unsigned char *image;
	size_t   used, room;
	struct live_block *blocks;
	size_t   nr_blocks, room_blocks;
	struct live_ring *rings;	/* of the CPUs by number, then the durable one */
	size_t   nr_rings;
	struct live_writer *writers;
	size_t   nr_writers, room_writers;
	uint64_t until;
	bool     inactivity_sent;	/* after the last pass: no more events until @until */
	bool     no_memory;
};

int live_create_rings(struct live_recording *live, unsigned int nr_cpus);
/* Append a copy of @block.  Return: 0, -ENOMEM */
int live_add_block(struct live_recording *live, const struct tb_block *block);
/* bs_event_reader: read the next event up to @until that no earlier pass returned */
int live_read_event(void *context, struct tb_cursor *cursor, struct tb_view *view);
/*
 * After a pass over @trace, queue a message that no more events come up to @until, so that a muxer
 * can pass on events of other sources.  Return: 1: queued; 0: not needed, or done before; -ENOMEM.
 */
int live_add_inactivity(struct live_recording *live, struct bs_messages *messages,
			const struct tb_trace *trace);
/* Note that the events of the pass have been passed on, and drop blocks that are not needed */
void live_end_pass(struct live_recording *live);
void live_free(struct live_recording *live);

#endif /* TB_BABELTRACE_LIVE_H */
