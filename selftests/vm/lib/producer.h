/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer without a library: it calls the ioctls of /dev/tracebuf_producer and writes chunks as
 * the ABI says. And a collector of the pieces that arrive in a trace.
 *
 * Functions that return int return -errno on failure.
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
/* Sets up and maps a channel; makes @provider target 0 unless it is NULL. */
int producer_open(struct producer *p, const char *provider, uint32_t chunk_bytes,
		  uint32_t chunks);
void producer_close(struct producer *p);
int producer_target(int fd, const char *provider);		/* returns its number */
int producer_writer(int fd, uint16_t writer, uint16_t target, uint32_t tid, uint32_t flags);
int producer_category(int fd, const char *name);		/* returns its index */
int producer_commit(int fd, struct tb_commit *c);
int producer_answer(int fd, uint32_t flush);

/* ---- writing ---------------------------------------------------------- */

struct tb_chunk *chunk_at(const struct producer *p, uint32_t n);

/* Claims free chunk @n for @writer; NULL if it is not free. */
struct tb_chunk *chunk_begin(const struct producer *p, uint32_t n, uint16_t writer, uint32_t id,
			     uint64_t first);

/*
 * Publishes the next record of a chunk: TB_REC_SIMPLE of RECORD_BYTES, the writer as id, the
 * record's number as payload. False: no room.
 */
#define RECORD_BYTES	24
bool chunk_put(const struct producer *p, struct tb_chunk *c);
uint32_t chunk_fill(const struct producer *p, struct tb_chunk *c, uint32_t records); /* how many */
void chunk_complete(struct tb_chunk *c);

/* Commits one chunk. Returns 0, the chunk's result (a positive errno), or -errno of the call. */
int chunk_commit(const struct producer *p, uint32_t n);
int patch_commit(const struct producer *p, struct tb_patch patch);

/* Begins chunk @n, fills it with @records, completes and commits it. */
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
};

/* Makes @s collect pieces, in the order of the trace. */
void pieces_collect(struct pieces *p, struct stream *s);
void pieces_free(struct pieces *p);
void pieces_take(struct pieces *p, const struct stream_event *e);
/*
 * Sorts pieces as their writers wrote them. The order of the trace may differ between CPUs, because
 * TB_CLOCK_MONO is not exact enough on each machine.
 */
void pieces_sort(struct pieces *p);

/*
 * Checks that the records of a writer are whole, in order, and as chunk_put() wrote them. Returns
 * how many, or -1. *next: the number after the last one; *causes: of all pieces, ORed.
 */
int64_t pieces_of(const struct pieces *p, uint32_t producer, uint16_t writer, uint64_t *next,
		  uint32_t *causes);

#endif /* PRODUCER_H */
