/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A checker of the block stream, for the tests: it follows a trace block by block, compares each
 * block with the promises of the ABI header, and keeps counts. It is written from the header alone,
 * without libtracebuf, so that the two do not share mistakes.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/tracebuf.h>
#include <linux/tracebuf_producer.h>

#define STREAM_CPUS	64
#define STREAM_IDS	16384

/* An event as handed to stream.event. */
struct stream_event {
	uint32_t cpu;
	bool durable;
	uint16_t id;
	bool simple;
	uint64_t time;
	uint64_t block;			/* sequence number of its block */
	/* of composite events */
	uint32_t tid;
	uint16_t context;
	/* of a simple event: its 8 bytes */
	uint16_t length;
	const uint8_t *payload;
};

/* The blocks of one ring so far. */
struct stream_ring {
	uint64_t blocks;
	uint64_t last_seq;		/* valid if blocks */
	bool untold;			/* no later block has counted the missing events yet */
	bool unsettled;			/* the last block may count too few overwritten events */
	uint64_t last_time;
	uint64_t events;
	uint64_t overwritten;		/* of the last block header */
	uint64_t dropped;
	uint64_t gap_overwritten;	/* sums over the gap slots */
	uint64_t gap_dropped;
	uint64_t gap_oversize;
	uint64_t gaps;
	uint64_t recording;		/* number of the recording, from the gap slots */
	bool have_totals;
	struct tb_totals totals;
	struct tb_totals snapshot;	/* counts of the last snapshot; flags 0: none */
};

struct stream_desc {
	struct tb_event_desc *desc;	/* fields and strings follow it */
	uint32_t size;
};

struct stream {
	/* set by the user */
	void (*event)(void *ctx, const struct stream_event *e);
	void (*block)(void *ctx, const struct tb_block *b, const struct tb_gap *gap);
	void *ctx;
	uint32_t provider;		/* all blocks must have this id */
	/* results */
	char error[256];
	struct tb_threads_lost lost;
	uint64_t bytes;
	uint64_t durable_first;		/* sequence number; not 0 if earlier blocks were recycled */
	uint64_t durable_blocks;
	uint64_t recording;		/* number of the recording, not 0 */
	uint64_t durable_events;
	uint64_t inits, clocks, threads, strings, descs;
	uint64_t suppressed;		/* events that rules kept out, by TB_EV_SUPPRESSED */
	uint64_t stacks, counters;
	uint64_t selections;		/* records of TB_EV_SELECTION */
	uint8_t selected[STREAM_IDS / 8]; /* events that were selected at some time */
	uint8_t selection[STREAM_IDS / 8]; /* events that the last record selects */
	uint64_t selected_first;	/* time of the first selection that is not empty */
	struct tb_init init;
	int kept;			/* fd that gets the blocks (recordings.h); -1: none */
	struct stream_ring ring[STREAM_CPUS];
	struct stream_desc desc[STREAM_IDS];
};

void stream_init(struct stream *s);
void stream_free(struct stream *s);

/* Check one block; false and s->error if it is wrong. */
bool stream_block(struct stream *s, const void *block, size_t bytes);

/* Check any number of whole blocks. */
bool stream_blocks(struct stream *s, const void *blocks, size_t bytes);

/* Call it when a recording was read to its end: do the counts add up? */
bool stream_finish(struct stream *s);

/* Call it when a snapshot was read to its end: do its counts add up? */
bool stream_snapshot(struct stream *s);

uint64_t stream_events(const struct stream *s);

/* ---- describe.c: event descriptions ----------------------------------- */

/* NULL if the description is well-formed, otherwise an error text. */
const char *desc_check(const struct tb_event_desc *d, size_t size);
const char *desc_string(const struct tb_event_desc *d, uint16_t offset);
const struct tb_field *desc_field(const struct tb_event_desc *d, const char *name);

/* The value of an integer field; aborts if there is none of that name. */
int64_t desc_value(const struct tb_event_desc *d, const char *name, const uint8_t *payload);

/* Does the last record of the selection include event @name? */
bool stream_selects(const struct stream *s, const char *name);

/* Is @e an event of this name? */
bool stream_is(const struct stream *s, const struct stream_event *e, const char *name);
int64_t stream_value(const struct stream *s, const struct stream_event *e, const char *name);

#endif /* STREAM_H */
