// SPDX-License-Identifier: GPL-2.0-only
/*
 * See reader.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../vm/lib/device.h"
#include "reader.h"
#include "torture.h"

#define READER_NICE	-10
#define HELD_MAX	64
#define PIECES_MAX	(1u << 17)

/* An acquired block, and a checksum of it. */
struct held {
	struct tb_ref ref;
	uint64_t sum;
};

/* A session of the device. */
struct session {
	struct reader *r;
	uint64_t *random;
	int fd;
	const uint8_t *map;
	size_t map_bytes;
	uint32_t steps;			/* how many are left */
	bool ordered;			/* releases the oldest first */
	bool hoards;			/* releases nothing before its end */
	struct held held[HELD_MAX];	/* oldest first */
	uint32_t count;
	uint8_t *piece;			/* read(): bytes of a block that is not complete yet */
	size_t bytes;
	size_t room;			/* bytes to ask for */
	size_t durables;		/* durable blocks so far */
	uint64_t next[STREAM_CPUS];	/* 1 + the number of the last block */
	bool end;
};

uint64_t random_next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> 8;
}

static void fail(struct reader *r, const char *what, long number)
{
	if (!r->error[0])
		snprintf(r->error, sizeof(r->error), "reader: %s: %ld", what, number);
}

static void pause_us(uint32_t us)
{
	struct timespec ts = { .tv_nsec = us * 1000l };

	nanosleep(&ts, NULL);
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* ---- delivered blocks -------------------------------------------------- */

static void append(struct delivered *d, const struct tb_block *b, size_t bytes)
{
	if (d->count == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		d->block = realloc(d->block, d->room * sizeof(*d->block));
	}
	d->block[d->count] = malloc(bytes);
	if (!d->block || !d->block[d->count])
		abort();
	memcpy(d->block[d->count++], b, bytes);
}

/* Each session gets the same durable blocks, from the first on. */
static void deliver_durable(struct session *s, const struct tb_block *b, size_t bytes)
{
	struct delivered *d = &s->r->durable;

	if (s->durables == d->count)
		append(d, b, bytes);
	else if (memcmp(d->block[s->durables], b, bytes))
		fail(s->r, "this durable block was another one for an earlier reader", s->durables);
	s->durables++;
}

/* Acquired blocks are in order, whatever the reader does with them. */
static void check_order(struct session *s, const struct tb_block *b)
{
	if (b->kind != TB_BLOCK_ROLLING || b->cpu >= STREAM_CPUS)
		return;
	if (b->sequence < s->next[b->cpu])
		fail(s->r, "this block came after a later one", b->sequence);
	s->next[b->cpu] = b->sequence + 1;
}

static void deliver(struct session *s, const struct tb_block *b, size_t bytes)
{
	if (b->magic != TB_BLOCK_MAGIC || b->cpu >= STREAM_CPUS || 1ul << b->size_log2 != bytes)
		fail(s->r, "no block", b->magic);
	else if (b->kind == TB_BLOCK_DURABLE)
		deliver_durable(s, b, bytes);
	else
		append(&s->r->ring[b->cpu], b, bytes);
}

static int by_sequence(const void *a, const void *b)
{
	const struct tb_block *x = *(struct tb_block *const *)a, *y = *(struct tb_block *const *)b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static bool check_all(const struct delivered *d, struct stream *s)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (!stream_block(s, d->block[i], 1ul << d->block[i]->size_log2))
			return false;
	return true;
}

bool reader_check(struct reader *r, struct stream *s)
{
	uint32_t cpu;

	if (!check_all(&r->durable, s))
		return false;
	for (cpu = 0; cpu < STREAM_CPUS; cpu++) {
		struct delivered *d = &r->ring[cpu];

		/* released in any order; a block that was delivered twice shows, too */
		qsort(d->block, d->count, sizeof(*d->block), by_sequence);
		if (!check_all(d, s))
			return false;
	}
	return true;
}

static void delivered_free(struct delivered *d)
{
	while (d->count)
		free(d->block[--d->count]);
	free(d->block);
	memset(d, 0, sizeof(*d));
}

void reader_free(struct reader *r)
{
	uint32_t cpu;

	delivered_free(&r->durable);
	for (cpu = 0; cpu < STREAM_CPUS; cpu++)
		delivered_free(&r->ring[cpu]);
}

/* ---- by mapping ------------------------------------------------------- */

static uint64_t sum(const struct session *s, const struct tb_ref *ref)
{
	const uint64_t *word = (const void *)(s->map + ref->offset);
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < ref->bytes / 8; i++)
		sum = (sum ^ word[i]) * 0x9e3779b97f4a7c15ull + i;
	return sum;
}

static void take(struct session *s)
{
	uint64_t x = random_next(s->random);
	struct tb_ref refs[HELD_MAX];
	/* mostly one block: each call is another chance for a bad moment */
	uint32_t room = x & 3 ? 1 : 1 + (x >> 2) % 8;
	int i, n;

	if (room > HELD_MAX - s->count)
		room = HELD_MAX - s->count;
	if (!room)
		return;
	if (x >> 20 & 1)
		ioctl(s->r->torture, TT_IOC_AIM, x >> 21 & 1);
	n = tb_acquire(s->fd, refs, room, x >> 8 & 31 ? 0 : TB_ACQUIRE_FLUSH);
	if (n < 0 && n != -ENODATA)
		fail(s->r, "acquire", n);
	s->end = n == -ENODATA && !s->count;
	if (n == 0 && !(x >> 16 & 7))
		tb_poll(s->fd);
	for (i = 0; i < n; i++) {
		struct held *h = &s->held[s->count++];

		h->ref = refs[i];
		h->sum = sum(s, &refs[i]);
		check_order(s, (const void *)(s->map + refs[i].offset));
	}
}

/* Releases held block @i. */
static void give(struct session *s, uint32_t i)
{
	struct held h = s->held[i];

	if (sum(s, &h.ref) != h.sum)
		fail(s->r, "a block was written to while it was held, at", h.ref.offset);
	deliver(s, (const void *)(s->map + h.ref.offset), h.ref.bytes);
	if (tb_release(s->fd, &h.ref, 1) != 1)
		fail(s->r, "release", errno);
	s->count--;
	memmove(&s->held[i], &s->held[i + 1], (s->count - i) * sizeof(h));
}

static void give_some(struct session *s, uint32_t n)
{
	/* durable blocks come first and are the same for all: release them in order */
	while (n-- && s->count)
		give(s, s->ordered || s->held[0].ref.ring == TB_RING_DURABLE ?
			0 : random_next(s->random) % s->count);
}

static void map_step(struct session *s)
{
	uint64_t x = random_next(s->random);

	take(s);
	if (is_set(&s->r->drain) || s->count == HELD_MAX)
		give_some(s, s->count);
	else if (!s->hoards)
		give_some(s, x & 3 ? s->count : (x >> 2) % (s->count + 1));
}

/* ---- by read() -------------------------------------------------------- */

static void read_blocks(struct session *s)
{
	size_t at = 0, bytes;

	while (s->bytes - at >= sizeof(struct tb_block)) {
		const struct tb_block *b = (const void *)(s->piece + at);

		bytes = 1ul << (b->size_log2 & 31);
		if (b->magic != TB_BLOCK_MAGIC) {
			fail(s->r, "read: no block", b->magic);
			break;
		}
		if (s->bytes - at < bytes)
			break;
		check_order(s, b);
		deliver(s, b, bytes);
		at += bytes;
	}
	s->bytes -= at;
	memmove(s->piece, s->piece + at, s->bytes);
}

static void read_step(struct session *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	ssize_t n = read(s->fd, s->piece + s->bytes, s->room);

	if (n > 0) {
		s->bytes += n;
		read_blocks(s);
	} else if (n == 0) {
		s->end = true;
		if (s->bytes)
			fail(s->r, "the end in the middle of a block, after", s->bytes);
	} else if (errno == EAGAIN) {
		poll(&p, 1, 10);
	} else {
		fail(s->r, "read", errno);
	}
}

/* ---- sessions --------------------------------------------------------- */

/* Moves to any CPU, the one that records the blocks or another. */
static void wander(struct session *s)
{
	/* fails if the CPU is offline: stay then */
	pin(random_next(s->random) % s->r->cpus);
}

static bool session_open(struct session *s, struct reader *r, uint64_t *random)
{
	static const size_t rooms[] = { 100, 1024, 4096, 16384, 65536 };
	uint64_t x = random_next(random);

	memset(s, 0, sizeof(*s));
	s->r = r;
	s->random = random;
	s->map = MAP_FAILED;
	s->steps = x & 1 ? (x >> 8) % 30 : (x >> 8) % 300;
	s->ordered = x & 2;
	s->hoards = !(x & 0x1c);
	s->room = rooms[(x >> 24) % (sizeof(rooms) / sizeof(rooms[0]))];
	s->fd = tb_open(O_NONBLOCK);
	if (s->fd < 0) {
		fail(r, "open", s->fd);
		return false;
	}
	if (x & 0x60)
		s->map = tb_map(s->fd, &s->map_bytes);
	else
		s->piece = malloc(PIECES_MAX);
	if (x & 0x60 ? s->map == MAP_FAILED : !s->piece) {
		fail(r, "no memory", errno);
		return false;
	}
	r->sessions++;
	return true;
}

static void session_close(struct session *s)
{
	bool dies = s->count || s->bytes;

	/*
	 * If a reader has released later blocks than those with which it dies, and these are then
	 * overwritten, their gaps are lost with them. Such a stream cannot be checked block by
	 * block.
	 */
	if (s->count && s->r->loses && !s->ordered) {
		give_some(s, s->count);
		dies = false;
	}
	s->r->deaths += dies;
	if (s->map != MAP_FAILED)
		munmap((void *)s->map, s->map_bytes);
	free(s->piece);
	if (s->fd >= 0)
		close(s->fd);
}

static void session_run(struct session *s)
{
	while (!s->end && !s->r->error[0] && (s->steps || is_set(&s->r->drain))) {
		uint64_t x = random_next(s->random);

		if (is_set(&s->r->quiet) && !is_set(&s->r->drain)) {
			pause_us(10000);
			continue;
		}
		s->r->steps++;
		if (s->steps)
			s->steps--;
		if (!(x & 0x3f))
			wander(s);
		if (!(x & 0xff00))
			pause_us((x >> 16) % 3000);
		else if (!(x & 0xf0000))
			sched_yield();
		if (s->map != MAP_FAILED)
			map_step(s);
		else
			read_step(s);
	}
}

void *reader_thread(void *arg)
{
	struct reader *r = arg;
	uint64_t random = r->seed | 1;
	struct session s;
	bool end = false;

	/* this thread only: otherwise the module's tasks leave it little time */
	if (setpriority(PRIO_PROCESS, 0, READER_NICE))
		fail(r, "setpriority", errno);
	while (!end && !r->error[0]) {
		if (session_open(&s, r, &random))
			session_run(&s);
		end = s.end;
		session_close(&s);
	}
	return NULL;
}
