// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_ring.c - measures the cost of an event in user space, with the real module/ring/writer.c:
 * alone, with a reader on another core that takes each block, and with two recording threads on two
 * rings.
 *
 * Prints a line for each case:
 *
 *	BENCH who|case|minimum|median		in picoseconds per operation
 *	BENCH-LOSS case|recorded|lost		events, in per mille of all attempted
 *
 * The minimum and the median are over chunks of CHUNK operations. Cases take turns, REPS times. A
 * chunk does not count if the reader, because other work was on its core, did not take what the
 * chunk filled.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../unit/ring/ring_hooks.h"
#include "bench_time.h"

#ifndef PER_REP
#define PER_REP		300
#endif
#define RING_BYTES	(1 << 20)
#define BUFFER_BYTES	(64 << 10)
#define BUFFERS		(RING_BYTES / BUFFER_BYTES)
#define EVENT_ID	TB_EV_FIRST
/* A chunk fills at least so many whole buffers. */
#define CHUNK_BUFFERS	(CHUNK * TB_ELEMENT_SIZE / BUFFER_BYTES)
#define NOT_COUNTED	(~0ull)

enum reader {
	READER_NONE,
	READER_RELEASES,	/* takes a block and gives it back */
	READER_COPIES,		/* also copies it, as read() would */
};

struct test {
	const char *name;
	void (*run)(struct tb_cpu_ring *r, u32 n);
	bool overwrite;
	enum reader reader;
	int writers;
};

struct writer {
	struct tb_cpu_ring *ring;
	const struct test *test;
	u64 *chunks;
	int cpu;
};

static pthread_barrier_t start_line;
static u32 reader_stop;
/* nanoseconds that the readers ran on their core, and that passed meanwhile */
static u64 reader_ran, reader_time;
static volatile u64 sink;

/* ---- what is measured ------------------------------------------------- */

/* like record_simple() of bench_tracebuf.h, without the kernel's preemption count */
static __attribute__((noinline)) void record_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	struct tb_slot slot;

	if (likely(tb_ring_reserve(r, 1, &slot))) {
		slot.element->time = slot.time;
		slot.element->payload = payload;
		tb_ring_commit(&slot, TB_HEAD(TB_STRUCT_SIMPLE, id, 1, slot.seq));
	}
}

/* like tb_record_begin() to tb_record_end(), with context 0 */
static __attribute__((noinline)) void record_4(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	struct tb_composite *c;
	struct tb_slot slot;
	u64 *q;
	int i;

	if (unlikely(!tb_ring_reserve(r, 4, &slot)))
		return;
	c = (struct tb_composite *)slot.element;
	tb_write(&c->head, TB_HEAD(TB_STRUCT_RESERVED, 0, 4, slot.seq));
	c->time = slot.time;
	c->tid = tb_current_tid();
	c->length = 48;
	c->context = 0;
	q = (u64 *)(c + 1);
	for (i = 0; i < 6; i++)
		q[i] = payload;
	tb_ring_commit(&slot, TB_HEAD(TB_STRUCT_COMPOSITE, id, 4, slot.seq));
}

static void run_clock(struct tb_cpu_ring *r, u32 n)
{
	u32 i;

	(void)r;
	for (i = 0; i < n; i++) {
		sink = tb_clock_raw();
		barrier();
	}
}

static void run_simple(struct tb_cpu_ring *r, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		record_simple(r, EVENT_ID, i);
		barrier();
	}
}

static void run_4(struct tb_cpu_ring *r, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		record_4(r, EVENT_ID, i);
		barrier();
	}
}

static const struct test tests[] = {
	{ "clock read", run_clock, true, READER_NONE, 1 },
	{ "simple event, no reader", run_simple, true, READER_NONE, 1 },
	{ "simple event, reader releases", run_simple, true, READER_RELEASES, 1 },
	{ "simple event, reader copies", run_simple, true, READER_COPIES, 1 },
	{ "simple event, reader copies, policy drop", run_simple, false, READER_COPIES, 1 },
	{ "composite of 4 elements, no reader", run_4, true, READER_NONE, 1 },
	{ "composite of 4 elements, reader copies", run_4, true, READER_COPIES, 1 },
	{ "clock read, on two cores at once", run_clock, true, READER_NONE, 2 },
	{ "simple event, two threads, two rings", run_simple, true, READER_NONE, 2 },
};

#define NR_TESTS	((int)(sizeof(tests) / sizeof(tests[0])))

/* ---- rings and threads ------------------------------------------------ */

static struct tb_cpu_ring *new_ring(void)
{
	struct tb_cpu_ring *r = must(aligned_alloc(64, sizeof(*r)));
	char *memory = must(aligned_alloc(BUFFER_BYTES, RING_BYTES));
	int i;

	memset(r, 0, sizeof(*r));
	memset(memory, 0, RING_BYTES);
	r->bufs = must(aligned_alloc(64, BUFFERS * sizeof(*r->bufs)));
	memset(r->bufs, 0, BUFFERS * sizeof(*r->bufs));
	r->nr = BUFFERS;
	r->capacity = BUFFER_BYTES / TB_ELEMENT_SIZE;
	r->watermark = r->capacity * 3 / 4;
	r->raw_clock = true;
	for (i = 0; i < BUFFERS; i++)
		r->bufs[i].block = (struct tb_block *)(memory + i * BUFFER_BYTES);
	return r;
}

static void *reader_main(void *arg)
{
	static char copy[BUFFER_BYTES];
	struct writer *w = arg;
	u64 ran, start;
	int index;

	pin(w->cpu);
	pthread_barrier_wait(&start_line);
	start = nanoseconds(CLOCK_MONOTONIC_RAW);
	ran = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	while (!__atomic_load_n(&reader_stop, __ATOMIC_ACQUIRE)) {
		index = tb_ring_acquire(w->ring);
		if (index < 0)
			continue;
		if (w->test->reader == READER_COPIES) {
			memcpy(copy, w->ring->bufs[index].block, BUFFER_BYTES);
			sink = copy[BUFFER_BYTES - 1];
		}
		tb_ring_release(w->ring, index);
	}
	reader_ran += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - ran;
	reader_time += nanoseconds(CLOCK_MONOTONIC_RAW) - start;
	return NULL;
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	int i;

	pin(w->cpu);
	pthread_barrier_wait(&start_line);
	for (i = 0; i < PER_REP; i++) {
		u64 taken = tb_read(&w->ring->releases), start = timing_clock();

		w->test->run(w->ring, CHUNK);
		w->chunks[i] = timing_clock() - start;
		taken = tb_read(&w->ring->releases) - taken;
		if (w->test->reader != READER_NONE && taken < CHUNK_BUFFERS)
			w->chunks[i] = NOT_COUNTED;
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*fn)(void *), struct writer *w)
{
	if (pthread_create(thread, NULL, fn, w)) {
		fprintf(stderr, "bench_ring: no thread\n");
		exit(1);
	}
}

/* Run one repetition of a test; write PER_REP chunk times for each writer to @chunks. */
static void repeat(const struct test *t, struct tb_cpu_ring *rings[2], const int cpus[2],
		   u64 *chunks, struct tb_ring_stats *st)
{
	struct writer w[2], reader = { rings[0], t, NULL, cpus[1] };
	pthread_t threads[2], reading;
	int i;

	pthread_barrier_init(&start_line, NULL, t->writers + (t->reader != READER_NONE));
	reader_stop = 0;
	for (i = 0; i < t->writers; i++) {
		rings[i]->overwrite = t->overwrite;
		tb_ring_reset(rings[i], tb_clock_raw());
		w[i] = (struct writer){ rings[i], t, chunks + i * PER_REP, cpus[i] };
		start(&threads[i], writer_main, &w[i]);
	}
	if (t->reader != READER_NONE)
		start(&reading, reader_main, &reader);
	for (i = 0; i < t->writers; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&reader_stop, 1, __ATOMIC_RELEASE);
	if (t->reader != READER_NONE)
		pthread_join(reading, NULL);
	pthread_barrier_destroy(&start_line);
	tb_ring_stats(rings[0], st);
}

int main(void)
{
	static u64 chunks[NR_TESTS][2 * REPS * PER_REP];
	static u64 recorded[NR_TESTS], lost[NR_TESTS];
	struct tb_cpu_ring *rings[2] = { new_ring(), new_ring() };
	int cpus[2], found = two_cpus(cpus), rep, i;

	calibrate();
	printf("BENCH-TSC %llu kHz\n", (unsigned long long)(rate_hz / 1000));
	for (rep = 0; rep < REPS; rep++) {
		for (i = 0; i < NR_TESTS; i++) {
			const struct test *t = &tests[i];
			struct tb_ring_stats st;

			/* on one core the two threads would only take turns */
			if (found < 2 && (t->reader != READER_NONE || t->writers > 1))
				continue;
			repeat(t, rings, cpus, chunks[i] + rep * t->writers * PER_REP, &st);
			recorded[i] += st.recorded;
			lost[i] += st.dropped + st.overwritten;
		}
	}
	if (reader_time)
		printf("BENCH-NOTE The reader was running %llu %% of the time; what was lost during the rest is for want of a free core.\n",
		       (unsigned long long)(reader_ran * 100 / reader_time));
	for (i = 0; i < NR_TESTS; i++) {
		const struct test *t = &tests[i];
		size_t n = (size_t)t->writers * REPS * PER_REP;
		u64 all = (u64)REPS * PER_REP * CHUNK;

		if (found < 2 && (t->reader != READER_NONE || t->writers > 1)) {
			printf("BENCH-NOTE %s: needs two cores\n", t->name);
			continue;
		}
		qsort(chunks[i], n, sizeof(u64), compare);
		while (n && chunks[i][n - 1] == NOT_COUNTED)
			n--;
		if (!n) {
			printf("BENCH-NOTE %s: the reader never kept up\n", t->name);
			continue;
		}
		printf("BENCH %s|%s|%llu|%llu\n", t->run == run_clock ? "machine" : "tracebuf",
		       t->name, (unsigned long long)picoseconds(chunks[i][0]),
		       (unsigned long long)picoseconds(chunks[i][n / 2]));
		if (t->reader != READER_NONE)
			printf("BENCH-LOSS %s|%llu|%llu\n", t->name, (unsigned long long)recorded[i],
			       (unsigned long long)(lost[i] * 1000 / all));
	}
	return 0;
}
