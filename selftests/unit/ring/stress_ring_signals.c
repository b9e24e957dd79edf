// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts at any instruction leave the ring exact. If this fails, a recording of a busy machine
 * has torn or doubled events, or its counts of losses are wrong. Here the native code of the ring
 * runs, and signal handlers are the interrupts.
 *
 * Each writer thread records into a ring of its own. Timers send it signals as fast as they can;
 * the handlers record into the same ring, and higher signals interrupt them. A reader thread for
 * each ring acquires, checks, holds, releases and puts back blocks, and pauses at random. To a
 * processor a signal handler is like an interrupt: unlocked instructions (ring_user.h of the
 * benchmark, as in the kernel) are atomic against it, while a read and a write are not.
 *
 * Each event has its source, its number in that source, and a checksum. The numbers of a source
 * only rise. At the end attempted = delivered + overwritten + dropped, and the gap slots have
 * exactly these losses.
 *
 *	stress_ring_signals [SECONDS]
 *
 * Half of the time with each policy. It ends early at an error, and runs longer until three levels
 * have nested.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "ring_hooks.h"
#include "ring_ktap.h"
#include "ring_paths.h"

#define RINGS		2
#define LEVELS		4	/* the thread, and signals that nest */
#define TIMERS		(LEVELS - 1)
#define BUFFERS		4
#define CAPACITY	64
#define ELEMENTS	6	/* the largest event */

struct source {
	u64 attempted;
	u64 recorded;
};

struct test {
	struct tb_cpu_ring r;
	struct tb_buf bufs[BUFFERS];
	char memory[BUFFERS][CAPACITY * TB_ELEMENT_SIZE] __aligned(64);
	u32 number;
	struct source source[LEVELS];	/* each written by its own level */
	u32 depth;			/* handlers that run now */
	u64 nested[LEVELS];		/* handlers that ran as the first, second, third level */
	u32 seed;

	/* words of the reader */
	u64 last[LEVELS];
	u64 delivered, overwritten, dropped, blocks, gaps, put_back;
	u32 held[BUFFERS], nr_held;
	char copy[BUFFERS][CAPACITY * TB_ELEMENT_SIZE];
	u32 reader_seed;
};

static struct test *tests;
static __thread struct test *mine;
static atomic_bool writing, reading;
static atomic_ulong paths[TB_PATHS];
static _Atomic(const char *) error;

static void fail(const char *what)
{
	const char *none = NULL;

	atomic_compare_exchange_strong(&error, &none, what);
}

void tb_ring_path(enum tb_ring_path path)
{
	atomic_fetch_add_explicit(&paths[path], 1, memory_order_relaxed);
}

/* ---- writers -------------------------------------------------------------- */

/* A payload: 48 bits @number, 4 bits @level, 12 bits of a checksum */
static u64 stamp(u32 level, u64 number)
{
	u64 v = number << 4 | level;

	return v << 12 | ((v ^ v >> 12 ^ v >> 24 ^ v >> 36) & 0xfff);
}

static void record(struct test *t, u32 level, u32 random)
{
	struct source *s = &t->source[level];
	u64 v = stamp(level, ++s->attempted);
	u32 n = random % 8 ? random / 8 % ELEMENTS + 1 : 1, i;
	struct tb_slot slot;
	struct tb_composite *c;

	if (n == 1) {
		s->recorded += tb_ring_simple(&t->r, TB_EV_FIRST + 1, v);
		return;
	}
	if (!tb_ring_reserve(&t->r, n, &slot))
		return;
	c = (struct tb_composite *)slot.element;
	tb_write(&c->head, TB_HEAD(TB_STRUCT_RESERVED, 0, n, slot.seq));
	c->time = slot.time;
	c->tid = level;
	c->length = (n - 1) * TB_ELEMENT_SIZE;
	c->context = 0;
	for (i = 0; i < 2 * (n - 1); i++)
		((u64 *)(c + 1))[i] = v + i;
	tb_ring_commit(&slot, TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_FIRST, n, slot.seq));
	s->recorded++;
}

static void handler(int signal)
{
	u32 level = 1 + signal - SIGRTMIN, random, count;
	struct test *t = mine;

	if (!t || !atomic_load_explicit(&writing, memory_order_relaxed))
		return;
	t->depth++;
	t->nested[t->depth]++;
	random = (u32)t->source[level].attempted * 2654435761u >> 12;
	/* sometimes enough events to go round the ring */
	count = random % 16 ? 1 + random % 4 : 8 * BUFFERS;
	while (count--) {
		random = random * 1103515245 + 12345;
		record(t, level, random >> 16);
	}
	if (!((random >> 16) % 16))
		tb_ring_flush(&t->r);
	t->depth--;
}

static void pin(u32 i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(i % (u32)sysconf(_SC_NPROCESSORS_ONLN), &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *writer(void *arg)
{
	struct test *t = arg;
	timer_t timers[TIMERS];
	u32 i;

	pin(t->number);
	mine = t;
	for (i = 0; i < TIMERS; i++) {
		/* no period is a multiple of another, so that they meet in all ways */
		struct itimerspec often = {
			.it_interval.tv_nsec = 11000 + 7300 * i,
			.it_value.tv_nsec = 10000,
		};
		struct sigevent ev = {
			.sigev_notify = SIGEV_THREAD_ID,
			.sigev_signo = SIGRTMIN + i,
		};

		ev._sigev_un._tid = syscall(SYS_gettid);
		if (timer_create(CLOCK_MONOTONIC, &ev, &timers[i]) ||
		    timer_settime(timers[i], 0, &often, NULL)) {
			fail("no timer");
			return NULL;
		}
	}
	while (atomic_load_explicit(&writing, memory_order_relaxed)) {
		u32 random = next_random(&t->seed);

		record(t, 0, random);
		if (!(random % 512))
			tb_ring_flush(&t->r);
	}
	for (i = 0; i < TIMERS; i++)
		timer_delete(timers[i]);
	mine = NULL;
	return NULL;
}

/* ---- the reader ----------------------------------------------------------- */

static void check_block(struct test *t, const struct tb_block *block)
{
	const struct tb_element *e = (const void *)block;
	const struct tb_gap *gap = (const void *)((const struct tb_composite *)(block + 1) + 1);
	u32 events = 0, i, n, k;
	u32 last = (u32)block->time_start;

	if (block->magic != TB_BLOCK_MAGIC || !(block->flags & TB_BLOCK_COMPLETE) ||
	    block->cpu != t->number || block->data > CAPACITY * TB_ELEMENT_SIZE) {
		fail("a header is wrong");
		return;
	}
	t->overwritten += gap->overwritten;
	t->dropped += gap->dropped;
	t->gaps += gap->overwritten || gap->dropped;
	for (i = TB_BLOCK_FIRST_ELEMENT; i < block->data / TB_ELEMENT_SIZE; i += n) {
		const u64 *payload = (const u64 *)&e[i].payload;
		u64 v, number;
		u32 level;

		n = TB_HEAD_LENGTH(e[i].head);
		if (TB_HEAD_SEQ(e[i].head) != (block->sequence & 0x3f) || !n ||
		    i + n > block->data / TB_ELEMENT_SIZE) {
			fail("a first word is wrong");
			return;
		}
		if ((int)(e[i].time - last) < 0)
			fail("time goes back");
		last = e[i].time;
		if (TB_HEAD_ID(e[i].head) == TB_EV_TIME)
			continue;
		if (n > 1)
			payload = (const u64 *)(&e[i] + 1);
		v = payload[0];
		level = v >> 12 & 0xf;
		number = v >> 16;
		if (level >= LEVELS || v != stamp(level, number)) {
			fail("an event is not what was recorded");
			return;
		}
		for (k = 1; n > 1 && k < 2 * (n - 1); k++) {
			if (payload[k] != v + k)
				fail("an event is not whole");
		}
		if (number <= t->last[level])
			fail("the events of one source are out of order");
		t->last[level] = number;
		events++;
	}
	if (events != block->events)
		fail("the number of events in a block is wrong");
}

/* Acquire a block; its events count when it is released */
static bool take(struct test *t)
{
	int b = tb_ring_acquire(&t->r);

	if (b < 0)
		return false;
	memcpy(t->copy[b], t->r.bufs[b].block, sizeof(t->copy[b]));
	t->held[t->nr_held++] = b;
	return true;
}

/* Release the oldest held block */
static void give(struct test *t)
{
	u32 b = t->held[0];

	if (memcmp(t->copy[b], t->r.bufs[b].block, sizeof(t->copy[b])))
		fail("a held block was written to");
	check_block(t, t->r.bufs[b].block);
	t->delivered += t->r.bufs[b].block->events;
	t->blocks++;
	memmove(t->held, t->held + 1, --t->nr_held * sizeof(t->held[0]));
	tb_ring_release(&t->r, b);
}

static void *reader(void *arg)
{
	struct test *t = arg;
	struct tb_ring_stats st;

	/* on the processor next to the writer's, so that both run at the same time */
	pin(t->number + 1);
	while (atomic_load_explicit(&reading, memory_order_relaxed)) {
		u32 random = next_random(&t->reader_seed), i;

		switch (random % 16) {
		case 0:
			t->put_back += t->nr_held;
			while (t->nr_held)
				tb_ring_unacquire(&t->r, t->held[--t->nr_held]);
			break;
		case 1:
			for (i = random / 16 % 2000; i; i--)
				atomic_signal_fence(memory_order_seq_cst);
			break;
		case 2:
			tb_ring_stats(&t->r, &st);
			if (st.delivered + st.overwritten > st.recorded)
				fail("more delivered and overwritten than recorded");
			break;
		case 3:
			if (!(random / 16 % 64))
				usleep(random / 1024 % 1000);
			break;
		case 4:
		case 5:
		case 6:
			while (t->nr_held < BUFFERS && take(t))
				;
			break;
		case 7:
		case 8:
			while (t->nr_held)
				give(t);
			break;
		default:
			if (t->nr_held < 1 + random / 16 % 2)
				take(t);
			else
				give(t);
		}
	}
	return NULL;
}

/* ---- a run ---------------------------------------------------------------- */

static void set_up(struct test *t, u32 number, bool overwrite)
{
	u32 i;

	memset(t, 0, sizeof(*t));
	t->number = number;
	t->seed = 1 + number;
	t->reader_seed = 77 + number;
	t->r.bufs = t->bufs;
	t->r.nr = BUFFERS;
	t->r.capacity = CAPACITY;
	t->r.watermark = CAPACITY * 7 / 10;
	t->r.overwrite = overwrite;
	t->r.raw_clock = true;
	t->r.cpu = number;
	for (i = 0; i < BUFFERS; i++)
		t->bufs[i].block = (void *)t->memory[i];
	tb_ring_reset(&t->r, tb_clock_read(true));
}

/* After the run: check the counts */
static void check_accounting(struct test *t)
{
	u64 attempted = 0, recorded = 0;
	struct tb_ring_stats st;
	u32 i;

	while (t->nr_held)
		give(t);
	tb_ring_flush(&t->r);
	while (take(t))
		give(t);
	/* the block of one more event reports the last losses */
	record(t, 0, 0);
	tb_ring_flush(&t->r);
	while (take(t))
		give(t);
	for (i = 0; i < LEVELS; i++) {
		attempted += t->source[i].attempted;
		recorded += t->source[i].recorded;
	}
	tb_ring_stats(&t->r, &st);
	if (st.recorded != recorded || st.delivered != t->delivered ||
	    attempted != st.delivered + st.overwritten + st.dropped)
		fail("attempted is not delivered plus overwritten plus dropped");
	if (st.overwritten != t->overwritten || st.dropped != t->dropped)
		fail("gap slots do not tell of what was lost");
	if (st.ready || st.held)
		fail("blocks are left over");
	printf("# ring %u: %llu events", t->number, (unsigned long long)attempted);
	for (i = 0; i < LEVELS; i++)
		printf("%s %llu", i ? "," : ":", (unsigned long long)t->source[i].attempted);
	printf(" by level; handlers");
	for (i = 1; i < LEVELS; i++)
		printf("%s %llu at depth %u", i > 1 ? "," : "", (unsigned long long)t->nested[i], i);
	printf("; %llu repetitions\n# ring %u: %llu delivered in %llu blocks, %llu with a gap, %llu"
	       " put back; %llu overwritten, %llu dropped\n",
	       (unsigned long long)st.retries, t->number, (unsigned long long)st.delivered,
	       (unsigned long long)t->blocks, (unsigned long long)t->gaps,
	       (unsigned long long)t->put_back, (unsigned long long)st.overwritten,
	       (unsigned long long)st.dropped);
}

static void run(bool overwrite, double seconds)
{
	struct timespec now, slice = { .tv_nsec = 20000000 };
	pthread_t writers[RINGS], readers[RINGS];
	u64 deep = 0;
	double end;
	u32 i;

	error = NULL;
	writing = true;
	reading = true;
	for (i = 0; i < RINGS; i++)
		set_up(&tests[i], i, overwrite);
	for (i = 0; i < RINGS; i++) {
		if (pthread_create(&writers[i], NULL, writer, &tests[i]) ||
		    pthread_create(&readers[i], NULL, reader, &tests[i])) {
			printf("Bail out! no threads\n");
			exit(1);
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + now.tv_nsec / 1e9 + seconds;
	/* a busy machine delivers few signals: run longer, until three levels have nested */
	while (!error && (now.tv_sec + now.tv_nsec / 1e9 < end ||
			  (!deep && now.tv_sec + now.tv_nsec / 1e9 < end + 60))) {
		nanosleep(&slice, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		for (i = 0, deep = 0; i < RINGS; i++)
			deep += __atomic_load_n(&tests[i].nested[LEVELS - 1], __ATOMIC_RELAXED);
	}
	writing = false;
	for (i = 0; i < RINGS; i++)
		pthread_join(writers[i], NULL);
	reading = false;
	for (i = 0; i < RINGS; i++) {
		pthread_join(readers[i], NULL);
		check_accounting(&tests[i]);
	}
	ktap_result(overwrite ? "signals, overwrite" : "signals, drop", error);
	ktap_result(overwrite ? "signals, overwrite: three deep" : "signals, drop: three deep",
		    deep || error ? NULL : "no signal came within two others");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	int i, k;

	tests = aligned_alloc(_Alignof(struct tb_cpu_ring), RINGS * sizeof(*tests));
	if (!tests)
		return 2;
	for (i = 0; i < TIMERS; i++) {
		/* only higher signals interrupt a signal */
		sigemptyset(&sa.sa_mask);
		for (k = 0; k <= i; k++)
			sigaddset(&sa.sa_mask, SIGRTMIN + k);
		sigaction(SIGRTMIN + i, &sa, NULL);
	}
	ktap_start(4);
	run(true, seconds / 2);
	run(false, seconds / 2);
	printf("# paths:");
	for (i = 0; i < TB_PATHS; i++)
		printf("%s %s %lu", i ? "," : "", ring_path_names[i], paths[i]);
	printf("\n");
	return ktap_end();
}
