// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader and a writer on different processors have no data race (ThreadSanitizer). If this fails,
 * a recorder on a machine with weakly ordered memory (arm64) saves half-written events. There are
 * two rings, each with a writer thread and a reader thread.
 *
 * Accesses to shared words are atomics with the memory order of the kernel's; contents are written
 * and read by plain accesses, as in probes and readers.  So the sanitizer sees a missing acquire,
 * release or mark as a data race; ring_mutants.txt has some that it must catch.  It does not know
 * fences: tb_rmb() and tb_wmb() order counters, which are all atomics, so leaving them out neither
 * hides nor makes a race.  test_ring_weak tests fences.
 *
 *	test_ring_threads [EVENTS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "ring_hooks.h"
#include "ring_ktap.h"

#define RINGS		2
#define BUFFERS		4
#define CAPACITY	64

struct test {
	struct tb_cpu_ring r;
	struct tb_buf bufs[BUFFERS];
	char memory[BUFFERS][CAPACITY * TB_ELEMENT_SIZE] __aligned(64);
	u32 events, seed;
	u64 recorded, lost;		/* the writer's */
	u64 delivered, overwritten, dropped, last;	/* the reader's */
	u32 held[BUFFERS], nr_held;
	const char *error;
	atomic_bool done;
};

/* relaxed: the clock must not order the threads */
u64 tb_user_clock(bool raw)
{
	static u64 now = 1000;

	(void)raw;
	return __atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);
}

u32 tb_user_tid(void)
{
	return 1;
}

void tb_ring_path(enum tb_ring_path path)
{
	(void)path;
}

static bool record(struct test *t, u64 number, u32 n)
{
	struct tb_composite *c;
	struct tb_slot slot;
	u32 i;

	if (n == 1)
		return tb_ring_simple(&t->r, TB_EV_FIRST, number);
	if (!tb_ring_reserve(&t->r, n, &slot))
		return false;
	c = (struct tb_composite *)slot.element;
	tb_write(&c->head, TB_HEAD(TB_STRUCT_RESERVED, 0, n, slot.seq));
	c->time = slot.time;
	c->tid = 1;
	c->length = (n - 1) * TB_ELEMENT_SIZE;
	c->context = 0;
	for (i = 0; i < 2 * (n - 1); i++)
		((u64 *)(c + 1))[i] = number + i;
	tb_ring_commit(&slot, TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_FIRST, n, slot.seq));
	return true;
}

static void *writer(void *arg)
{
	struct test *t = arg;
	u32 i;

	for (i = 1; i <= t->events; i++) {
		u32 random = next_random(&t->seed);

		if (record(t, i, 1 + random % 8))
			t->recorded++;
		else
			t->lost++;
		/* a flushed block: no later claim orders it after its contents */
		if (!(random / 8 % 64)) {
			tb_ring_flush(&t->r);
			sched_yield();
		}
	}
	atomic_store_explicit(&t->done, true, memory_order_relaxed);
	return NULL;
}

/* Read everything in a block by plain reads. */
static void check_block(struct test *t, const struct tb_block *block)
{
	const struct tb_element *e = (const void *)block;
	const struct tb_gap *gap = (const void *)((const struct tb_composite *)(block + 1) + 1);
	u32 i, n, k, events = 0;

	for (i = TB_BLOCK_FIRST_ELEMENT; i < block->data / TB_ELEMENT_SIZE; i += n) {
		const u64 *payload = (const u64 *)&e[i].payload;

		n = TB_HEAD_LENGTH(e[i].head);
		if (!n) {
			t->error = "an element without length";
			return;
		}
		if (n > 1)
			payload = (const u64 *)(&e[i] + 1);
		if (payload[0] <= t->last)
			t->error = "out of order";
		t->last = payload[0];
		for (k = 1; n > 1 && k < 2 * (n - 1); k++) {
			if (payload[k] != payload[0] + k)
				t->error = "not whole";
		}
		events++;
	}
	if (events != block->events)
		t->error = "the number of events is wrong";
	t->delivered += events;
	t->overwritten += gap->overwritten;
	t->dropped += gap->dropped;
}

static void give(struct test *t)
{
	u32 b = t->held[0];

	check_block(t, t->bufs[b].block);
	memmove(t->held, t->held + 1, --t->nr_held * sizeof(t->held[0]));
	tb_ring_release(&t->r, b);
}

static bool take(struct test *t)
{
	int b = tb_ring_acquire(&t->r);

	if (b < 0)
		return false;
	t->held[t->nr_held++] = b;
	return true;
}

static void *reader(void *arg)
{
	struct test *t = arg;
	struct tb_ring_stats st;
	u32 seed = 5;

	while (!atomic_load_explicit(&t->done, memory_order_relaxed)) {
		u32 random = next_random(&seed);

		if (!(random % 32)) {
			while (t->nr_held)
				tb_ring_unacquire(&t->r, t->held[--t->nr_held]);
		} else if (random % 32 == 1) {
			tb_ring_stats(&t->r, &st);
			if (st.delivered + st.overwritten > st.recorded)
				t->error = "more delivered and overwritten than recorded";
			tb_ring_readable(&t->r);
		} else if (t->nr_held < 1 + random / 32 % (BUFFERS - 1)) {
			if (!take(t))
				sched_yield();
		} else {
			give(t);
		}
	}
	return NULL;
}

static void run(bool overwrite, u32 events)
{
	struct test *tests = aligned_alloc(_Alignof(struct tb_cpu_ring), RINGS * sizeof(*tests));
	pthread_t writers[RINGS], readers[RINGS];
	const char *error = NULL;
	u32 i, k;

	if (!tests)
		exit(2);
	memset(tests, 0, RINGS * sizeof(*tests));
	for (i = 0; i < RINGS; i++) {
		struct test *t = &tests[i];

		t->events = events;
		t->seed = i;
		t->r.bufs = t->bufs;
		t->r.nr = BUFFERS;
		t->r.capacity = CAPACITY;
		t->r.watermark = CAPACITY / 2;
		t->r.overwrite = overwrite;
		t->r.raw_clock = i == 0;
		for (k = 0; k < BUFFERS; k++)
			t->bufs[k].block = (void *)t->memory[k];
		tb_ring_reset(&t->r, 1);
		if (pthread_create(&readers[i], NULL, reader, t) ||
		    pthread_create(&writers[i], NULL, writer, t))
			exit(2);
	}
	for (i = 0; i < RINGS; i++) {
		struct test *t = &tests[i];

		pthread_join(writers[i], NULL);
		pthread_join(readers[i], NULL);
		while (t->nr_held)
			give(t);
		tb_ring_flush(&t->r);
		while (take(t))
			give(t);
		t->recorded += record(t, (u64)t->events + 1, 1);
		tb_ring_flush(&t->r);
		while (take(t))
			give(t);
		if (!t->error && (t->recorded != t->delivered + t->overwritten ||
				  t->lost != t->dropped))
			t->error = "attempted is not delivered plus overwritten plus dropped";
		printf("# %llu delivered, %llu overwritten, %llu dropped\n",
		       (unsigned long long)t->delivered, (unsigned long long)t->overwritten,
		       (unsigned long long)t->dropped);
		if (t->error)
			error = t->error;
	}
	ktap_result(overwrite ? "threads, overwrite" : "threads, drop", error);
	free(tests);
}

int main(int argc, char **argv)
{
	u32 events = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;

	ktap_start(2);
	run(true, events);
	run(false, events);
	return ktap_end();
}
