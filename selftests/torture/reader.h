/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reader of /dev/tracebuf that behaves as badly as it may: it reads whole blocks or bytes, maps
 * and holds blocks as long as it likes, releases them in any order, sleeps, and is closed and
 * replaced. It keeps all delivered blocks.
 */
#ifndef TORTURE_READER_H
#define TORTURE_READER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../vm/lib/stream.h"

struct delivered {
	struct tb_block **block;
	size_t count;
	size_t room;
};

struct reader {
	/* set by the user */
	uint64_t seed;
	bool loses;		/* blocks that it puts back may be overwritten */
	uint32_t cpus;
	int torture;		/* /dev/tb_torture */
	/* set by the user: rest; read the rest of a recording that has ended */
	bool quiet;
	bool drain;
	/* results */
	char error[256];
	uint64_t sessions, steps, deaths;
	struct delivered durable;
	struct delivered ring[STREAM_CPUS];
};

/* The thread of a reader; @arg: the reader. */
void *reader_thread(void *arg);

/* Gives all delivered blocks to @s in order; false: s->error. */
bool reader_check(struct reader *r, struct stream *s);
void reader_free(struct reader *r);

/* A pseudo-random number; *random is not 0. */
uint64_t random_next(uint64_t *random);

#endif /* TORTURE_READER_H */
