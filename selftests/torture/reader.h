/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reader of /dev/tracebuf that behaves as badly as it may: reads whole blocks or
 * bytes, maps and holds blocks for as long as it likes, gives them back in any order,
 * goes to sleep, goes away and is replaced.  What was delivered is kept.
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
	bool loses;		/* what is put back may be lost: overwritten */
	uint32_t cpus;
	int torture;		/* /dev/tb_torture */
	/* the user's to change: be quiet; the recording has ended, get the rest */
	bool quiet;
	bool drain;
	/* results */
	char error[256];
	uint64_t sessions, steps, deaths;
	struct delivered durable;
	struct delivered ring[STREAM_CPUS];
};

/* A thread; @arg: the reader. */
void *reader_thread(void *arg);

/* Hands everything delivered to @s in order; false: s->error. */
bool reader_check(struct reader *r, struct stream *s);
void reader_free(struct reader *r);

/* A pseudo-random number; *random is not 0. */
uint64_t random_next(uint64_t *random);

#endif /* TORTURE_READER_H */
