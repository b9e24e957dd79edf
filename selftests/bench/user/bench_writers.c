// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_writers.c - measures the cost of an event in a program: for tracebuf's writer, for
 * LTTng-UST if it is there (BENCH_LTTNG), and for a log in memory that only reads the clock and
 * stores.
 *
 * tracebuf's channel ends in this program. A commit copies the chunks into a ring of 1 MiB, as the
 * kernel does, and makes a system call: so the figures contain its cost except for the kernel's
 * checks. Each tracer overwrites, and has 1 MiB.
 *
 * Prints a line for each case:
 *
 *	BENCH who|case|minimum|median		in picoseconds per operation
 *	BENCH-NOTE text
 *
 * The minimum and the median are over chunks of CHUNK operations.  Cases take turns, REPS times.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "lib/write/arbiter.h"
#include "bench_time.h"
#ifdef BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng.h"
#endif

#ifndef PER_REP
#define PER_REP		100
#endif
#define MEMORY		(1u << 20)
#define CHUNK_BYTES	4096

struct test {
	const char *who, *name;
	void (*run)(unsigned int n);
	int threads;
};

TB_CATEGORY(wanted, "wanted");
TB_CATEGORY(unwanted, "unwanted");

static volatile uint64_t sink;
static __thread struct tb_writer *writer;
static struct tb_arbiter *arbiter;

/* ---- the other end of the channel ---- */

static struct channel {
	struct tb_endpoint endpoint;
	struct tb_producer_page page;
	unsigned char *chunks, *ring;
	size_t at;
} channel;

static int setup(struct tb_endpoint *endpoint, struct tb_producer_setup *request,
		 const struct tb_producer_page **page, void **chunks)
{
	(void)endpoint;
	channel.chunks = must(aligned_alloc(4096, (size_t)request->chunk_bytes * request->chunks));
	channel.ring = must(aligned_alloc(4096, MEMORY));
	memset(channel.chunks, 0, (size_t)request->chunk_bytes * request->chunks);
	memset(channel.ring, 0, MEMORY);
	request->features = TB_PRODUCER_DIRECT_PATCH;
	*page = &channel.page;
	*chunks = channel.chunks;
	return 0;
}

static int target(struct tb_endpoint *endpoint, struct tb_target_req *request)
{
	(void)endpoint;
	request->target = 0;
	return 0;
}

static int new_writer(struct tb_endpoint *endpoint, const struct tb_writer_req *request)
{
	(void)endpoint;
	(void)request;
	return 0;
}

static int category(struct tb_endpoint *endpoint, struct tb_category_req *request)
{
	(void)endpoint;
	request->index = !strcmp(request->name, "wanted");
	return 0;
}

/* The arbiter's gate admits one commit at a time. */
static int commit(struct tb_endpoint *endpoint, struct tb_commit *request)
{
	struct tb_chunk_ref *refs = (struct tb_chunk_ref *)(uintptr_t)request->refs;
	uint32_t i;

	(void)endpoint;
	syscall(SYS_getppid);
	for (i = 0; i < request->nr_refs; i++) {
		struct tb_chunk *chunk = (struct tb_chunk *)(channel.chunks +
						(size_t)refs[i].chunk * CHUNK_BYTES);
		uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);

		memcpy(channel.ring + channel.at, chunk, CHUNK_BYTES);
		channel.at = (channel.at + CHUNK_BYTES) % MEMORY;
		__atomic_store_n(&chunk->state,
				 TB_CHUNK_WORD(TB_CHUNK_FREE, (TB_CHUNK_WRAP(state) + 1) & 0xffff),
				 __ATOMIC_RELEASE);
		refs[i].result = 0;
	}
	return 0;
}

static uint64_t now_us(struct tb_endpoint *endpoint)
{
	(void)endpoint;
	return nanoseconds(CLOCK_MONOTONIC_COARSE) / 1000;
}

static void close_channel(struct tb_endpoint *endpoint)
{
	(void)endpoint;
	free(channel.chunks);
	free(channel.ring);
}

static void open_channel(void)
{
	static const struct tb_endpoint_ops ops = {
		.setup = setup, .target = target, .writer = new_writer, .category = category,
		.commit = commit, .now_us = now_us, .close = close_channel,
		.close_inherited = close_channel,
	};
	struct tb_arbiter_options options = {
		.chunk_bytes = CHUNK_BYTES, .chunks = MEMORY / CHUNK_BYTES, .period_ms = 100,
	};

	channel.endpoint.ops = &ops;
	channel.page.abi = TB_PRODUCER_ABI;
	channel.page.overwrites = 1;
	channel.page.targets[0].generation = 1;
	/* AUTO: the arbiter chooses the best clock */
	channel.page.categories[1] = 1;
	if (tb_arbiter_create_on(&options, &channel.endpoint, &arbiter) ||
	    tb_arbiter_category(arbiter, &wanted) || tb_arbiter_category(arbiter, &unwanted)) {
		fprintf(stderr, "bench_writers: no arbiter\n");
		exit(1);
	}
}

/* ---- what is measured ---- */

#ifdef __x86_64__
#define alone()		__asm__ volatile("lfence" : : : "memory")
#else
#define alone()		__asm__ volatile("isb" : : : "memory")
#endif

/* A loop over the operation, back to back and one at a time. */
#define CASE(name, ...) \
	static void name(unsigned int n) \
	{ \
		unsigned int i; \
		for (i = 0; i < n; i++) { \
			__VA_ARGS__; \
			barrier(); \
		} \
	} \
	static void name##_alone(unsigned int n) \
	{ \
		unsigned int i; \
		for (i = 0; i < n; i++) { \
			alone(); \
			__VA_ARGS__; \
			barrier(); \
		} \
	}

static __thread struct {
	uint64_t (*at)[3];
	uint32_t next;
} log_memory;

#define LOG_ENTRIES	(1u << 15)

/* The minimum of a log: read the clock, and store to memory of this thread only. */
static inline void log_one(uint64_t value)
{
	uint64_t *entry = log_memory.at[log_memory.next++ % LOG_ENTRIES];

	entry[0] = 7;
	entry[1] = tb_clock_read(arbiter->clock);
	entry[2] = value;
}

static const uint64_t six[6] = { 1, 2, 3, 4, 5, 6 };

CASE(run_nothing, (void)0)
CASE(run_clock, sink = tb_clock_read(arbiter->clock))
CASE(run_log, log_one(i))
CASE(run_simple, tb_event(writer, &wanted, "simple", i))
CASE(run_instant, tb_instant(writer, &wanted, "instant"))
CASE(run_composite, tb_event(writer, &wanted, "composite", six, sizeof(six)))
CASE(run_slice, tb_begin(writer, &wanted, "slice"); tb_end(writer, &wanted))
CASE(run_off, tb_event(writer, &unwanted, "off", i))
#ifdef BENCH_LTTNG
CASE(run_lttng, lttng_ust_tracepoint(tb_bench, simple, i))
CASE(run_lttng_6, lttng_ust_tracepoint(tb_bench, composite, six))
CASE(run_lttng_off, lttng_ust_tracepoint(tb_bench, off, i))
#endif

#define BOTH(who, name, run) \
	{ who, name, run, 1 }, { who, name ", one at a time", run##_alone, 1 }

static const struct test tests[] = {
	BOTH("machine", "clock read", run_clock),
	BOTH("machine", "nothing", run_nothing),
	BOTH("tracebuf", "simple event of 8 bytes", run_simple),
	BOTH("tracebuf", "simple: instant", run_instant),
	BOTH("tracebuf", "composite of 48 bytes", run_composite),
	BOTH("tracebuf", "slice: begin and end", run_slice),
	BOTH("tracebuf", "category off", run_off),
	BOTH("log", "clock and 16 bytes", run_log),
#ifdef BENCH_LTTNG
	BOTH("lttng-ust", "tracepoint of 8 bytes", run_lttng),
	BOTH("lttng-ust", "tracepoint of 48 bytes", run_lttng_6),
	BOTH("lttng-ust", "tracepoint off", run_lttng_off),
	{ "lttng-ust", "tracepoint of 8 bytes, two threads", run_lttng, 2 },
#endif
	{ "tracebuf", "simple event of 8 bytes, two threads", run_simple, 2 },
	{ "log", "clock and 16 bytes, two threads", run_log, 2 },
};

#define NR_TESTS	((int)(sizeof(tests) / sizeof(tests[0])))

/* ---- threads ---- */

struct thread {
	pthread_t thread;
	const struct test *test;
	uint64_t *chunks, lost;
	int cpu;
};

static pthread_barrier_t start_line;

static void *measure(void *argument)
{
	struct thread *thread = argument;
	struct tb_writer_stats stats;
	int i;

	pin(thread->cpu);
	writer = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	log_memory.at = must(calloc(LOG_ENTRIES, sizeof(*log_memory.at)));
	thread->test->run(CHUNK);	/* touch the memory, define the names */
	pthread_barrier_wait(&start_line);
	for (i = 0; i < PER_REP; i++) {
		uint64_t start = timing_clock();

		thread->test->run(CHUNK);
		thread->chunks[i] = timing_clock() - start;
	}
	tb_writer_read_stats(writer, &stats);
	thread->lost = stats.lost;
	tb_writer_destroy(writer);
	free(log_memory.at);
	return NULL;
}

static uint64_t repeat(const struct test *t, const int cpus[2], uint64_t *chunks)
{
	struct thread threads[2];
	uint64_t lost = 0;
	int i;

	pthread_barrier_init(&start_line, NULL, (unsigned int)t->threads);
	for (i = 0; i < t->threads; i++) {
		threads[i] = (struct thread){
			.test = t, .chunks = chunks + i * PER_REP, .cpu = cpus[i],
		};
		if (pthread_create(&threads[i].thread, NULL, measure, &threads[i])) {
			fprintf(stderr, "bench_writers: no thread\n");
			exit(1);
		}
	}
	for (i = 0; i < t->threads; i++) {
		pthread_join(threads[i].thread, NULL);
		lost += threads[i].lost;
	}
	pthread_barrier_destroy(&start_line);
	return lost;
}

int main(void)
{
	static uint64_t chunks[NR_TESTS][2 * REPS * PER_REP];
	static uint64_t lost[NR_TESTS];
	int cpus[2], found = two_cpus(cpus), rep, i;

	calibrate();
	open_channel();
	printf("BENCH-TSC %llu kHz\n", (unsigned long long)(rate_hz / 1000));
	for (rep = 0; rep < REPS; rep++)
		for (i = 0; i < NR_TESTS; i++)
			if (tests[i].threads <= found)
				lost[i] += repeat(&tests[i], cpus, chunks[i] +
						  rep * tests[i].threads * PER_REP);
	for (i = 0; i < NR_TESTS; i++) {
		const struct test *t = &tests[i];
		size_t n = (size_t)t->threads * REPS * PER_REP;
		uint64_t median;

		if (t->threads > found) {
			printf("BENCH-NOTE %s: needs two cores\n", t->name);
			continue;
		}
		qsort(chunks[i], n, sizeof(chunks[i][0]), compare);
		median = picoseconds(chunks[i][n / 2]);
		printf("BENCH %s|%s|%llu|%llu\n", t->who, t->name,
		       (unsigned long long)picoseconds(chunks[i][0]), (unsigned long long)median);
		if (strstr(t->name, "of 8 bytes") && !strstr(t->name, "one at a time"))
			printf("BENCH-NOTE %s, %s: %.1f million events/s (median)\n", t->who, t->name,
			       1e6 * t->threads / (double)median);
		if (lost[i])
			printf("BENCH-NOTE %s: %llu records were lost\n", t->name,
			       (unsigned long long)lost[i]);
	}
	tb_arbiter_destroy(arbiter);
	return 0;
}
