/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer, without a library: /dev/tracebuf_producer by its ioctls, chunks written as
 * the ABI says; and what of it arrives in a trace.
 *
 * What returns int returns -errno on failure.
 */
#ifndef PRODUCER_H
#define PRODUCER_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tracebuf_producer.h>

#include "stream.h"

/* A channel, set up and mapped. */
struct producer {
	int fd;
	struct tb_producer_setup setup;
	const volatile struct tb_producer_page *page;
	char *chunks;
};

int producer_open_node(void);
int producer_setup(int fd, struct tb_producer_setup *s);
/* Sets up, maps, and has "kernel" or @provider as target 0, unless that is NULL. */
int producer_open(struct producer *p, const char *provider, uint32_t chunk_bytes,
		  uint32_t chunks);
void producer_close(struct producer *p);
int producer_target(int fd, const char *provider);		/* its number */
int producer_writer(int fd, uint16_t writer, uint16_t target, uint32_t tid, uint32_t flags);
int producer_category(int fd, const char *name);		/* its index */
int producer_commit(int fd, struct tb_commit *c);
int producer_answer(int fd, uint32_t flush);

/* ---- writing ---------------------------------------------------------- */

struct tb_chunk *chunk_at(const struct producer *p, uint32_t n);

/* Makes chunk @n, which is free, that writer's. */
struct tb_chunk *chunk_begin(const struct producer *p, uint32_t n, uint16_t writer, uint32_t id,
			     uint64_t first);

/*
 * The next record of a chunk: TB_REC_SIMPLE, RECORD_BYTES, id: the writer, payload: its number; as
 * the kernel's own count of them goes.  False: there is no room.
 */
#define RECORD_BYTES	24
bool chunk_put(const struct producer *p, struct tb_chunk *c);
uint32_t chunk_fill(const struct producer *p, struct tb_chunk *c, uint32_t records); /* done */
void chunk_complete(struct tb_chunk *c);

/* Commits one chunk: 0 or the result, a positive errno; -errno of the call. */
int chunk_commit(const struct producer *p, uint32_t n);
int patch_commit(const struct producer *p, struct tb_patch patch);

/* All of it: a chunk with @records, complete and committed. */
int chunk_write(const struct producer *p, uint32_t n, uint16_t writer, uint32_t id,
		uint64_t first, uint32_t records);

/* ---- reading ---------------------------------------------------------- */

struct piece {
	struct tb_chunk_event e;
	uint32_t bytes;		/* of data */
	uint8_t *data;
};

struct pieces {
	uint32_t nr;
	struct piece *piece;
	uint32_t nr_patches;
	struct tb_patch_event patch[16];	/* the first of them */
	uint16_t contexts;		/* of all, one or the other */
};

/* Have @s collect them; in the order of the trace. */
void pieces_collect(struct pieces *p, struct stream *s);
void pieces_free(struct pieces *p);
void pieces_take(struct pieces *p, const struct stream_event *e);
/*
 * In that in which their writers wrote them, whichever CPU they were recorded on: not every clock
 * is exact enough from one to another (TB_CLOCK_MONO).
 */
void pieces_sort(struct pieces *p);

/*
 * What arrived of a writer: are its records whole, in order, and what chunk_put() wrote?  How
 * many, or -1; *next: the number after the last one; *causes: of all pieces.
 */
int64_t pieces_of(const struct pieces *p, uint32_t producer, uint16_t writer, uint64_t *next,
		  uint32_t *causes);

#endif /* PRODUCER_H */
