// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_many.c - one recorder and the rings of many CPUs, with the real module/ring/: which share of
 * a core it takes to copy all blocks out, and what is lost.
 *
 * One thread writes into all rings in turn, RATE events a second into each, as so many CPUs would.
 * The other thread is the recorder: it acquires each full block, writes it to /dev/null and to
 * memory, and sleeps when there is none. The kernel's wake-ups and the disk are not part of it.
 *
 *	bench_many [CPUS]...		(16 64 192)
 *
 * Prints for each number of CPUs:
 *
 *	BENCH-MANY cpus|events a second, in thousands|recorder's share of a core in per mille|
 *		writer's share|recorded|lost
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../../unit/ring/ring_hooks.h"
#include "bench_time.h"

#define RATE		100000		/* events a second of a CPU */
#define STEP		10		/* events of a CPU at a time */
#define SECONDS		5
#define BUFFER_BYTES	(64 << 10)
#define BUFFERS		16
#define CPUS_MAX	1024

struct many {
	struct tb_cpu_ring *rings[CPUS_MAX];
	unsigned int cpus;
	int on[2];			/* cores of the writer and the recorder */
	u32 end;
	u64 wrote, read;		/* ns of CPU time */
	u64 late;			/* ns by which the writer is behind its rate at the end */
};

static struct tb_cpu_ring *new_ring(void)
{
	struct tb_cpu_ring *r = must(aligned_alloc(64, sizeof(*r)));
	char *memory = must(aligned_alloc(BUFFER_BYTES, BUFFERS * BUFFER_BYTES));
	int i;

	memset(r, 0, sizeof(*r));
	memset(memory, 0, BUFFERS * BUFFER_BYTES);
	r->bufs = must(aligned_alloc(64, BUFFERS * sizeof(*r->bufs)));
	memset(r->bufs, 0, BUFFERS * sizeof(*r->bufs));
	r->nr = BUFFERS;
	r->capacity = BUFFER_BYTES / TB_ELEMENT_SIZE;
	r->watermark = r->capacity;
	r->raw_clock = true;
	r->overwrite = true;
	for (i = 0; i < BUFFERS; i++)
		r->bufs[i].block = (struct tb_block *)(memory + i * BUFFER_BYTES);
	return r;
}

static void record(struct tb_cpu_ring *r, u64 payload)
{
	struct tb_slot slot;

	if (likely(tb_ring_reserve(r, 1, &slot))) {
		slot.element->time = slot.time;
		slot.element->payload = payload;
		tb_ring_commit(&slot, TB_HEAD(TB_STRUCT_SIMPLE, TB_EV_FIRST, 1, slot.seq));
	}
}

static void *writer_main(void *arg)
{
	struct many *many = arg;
	u64 begin, ran, step, now, steps = (u64)SECONDS * RATE / STEP;
	unsigned int cpu, i;

	pin(many->on[0]);
	ran = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	begin = nanoseconds(CLOCK_MONOTONIC);
	for (step = 0; step < steps; step++) {
		for (cpu = 0; cpu < many->cpus; cpu++)
			for (i = 0; i < STEP; i++)
				record(many->rings[cpu], step);
		/* sleeps are too long: leave the core when there is time for one */
		while ((now = nanoseconds(CLOCK_MONOTONIC)) - begin <
		       (step + 1) * STEP * (1000000000ull / RATE))
			usleep(50);
	}
	many->late = now - begin - SECONDS * 1000000000ull;
	many->wrote = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - ran;
	__atomic_store_n(&many->end, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *reader_main(void *arg)
{
	static char copy[BUFFER_BYTES];
	struct many *many = arg;
	int null = open("/dev/null", O_WRONLY), index;
	bool ended, found;
	unsigned int cpu;

	pin(many->on[1]);
	many->read = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	do {
		ended = __atomic_load_n(&many->end, __ATOMIC_ACQUIRE);
		found = false;
		for (cpu = 0; cpu < many->cpus; cpu++) {
			index = tb_ring_acquire(many->rings[cpu]);
			if (index < 0)
				continue;
			found = true;
			memcpy(copy, many->rings[cpu]->bufs[index].block, BUFFER_BYTES);
			if (write(null, copy, BUFFER_BYTES) != BUFFER_BYTES)
				abort();
			tb_ring_release(many->rings[cpu], index);
		}
		if (!found)
			usleep(1000);
	} while (!ended || found);
	many->read = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - many->read;
	close(null);
	return NULL;
}

static void run(struct many *many)
{
	u64 recorded = 0, lost = 0, time;
	pthread_t writer, reader;
	struct tb_ring_stats st;
	unsigned int i;

	for (i = 0; i < many->cpus; i++)
		tb_ring_reset(many->rings[i], tb_clock_raw());
	many->end = 0;
	if (pthread_create(&reader, NULL, reader_main, many) ||
	    pthread_create(&writer, NULL, writer_main, many)) {
		fprintf(stderr, "bench_many: no thread\n");
		exit(1);
	}
	pthread_join(writer, NULL);
	pthread_join(reader, NULL);
	time = (u64)SECONDS * 1000000000 + many->late;
	for (i = 0; i < many->cpus; i++) {
		tb_ring_stats(many->rings[i], &st);
		recorded += st.recorded;
		lost += st.overwritten + st.dropped;
	}
	printf("BENCH-MANY %u|%u|%llu|%llu|%llu|%llu\n", many->cpus, many->cpus * (RATE / 1000),
	       (unsigned long long)(many->read * 1000 / time),
	       (unsigned long long)(many->wrote * 1000 / time), (unsigned long long)recorded,
	       (unsigned long long)lost);
	if (many->late > time / 50)
		printf("BENCH-NOTE %u CPUs: the writer took %llu %% longer than it should: the rate was lower.\n",
		       many->cpus, (unsigned long long)(many->late * 100 / time));
}

int main(int argc, char **argv)
{
	static char *all[] = { "", "16", "64", "192", NULL };
	static struct many many;
	unsigned int rings = 0;
	int i;

	if (two_cpus(many.on) < 2) {
		printf("BENCH-NOTE many CPUs: needs two cores\n");
		return 0;
	}
	argv = argc > 1 ? argv : all;
	for (i = 1; argv[i]; i++) {
		many.cpus = (unsigned int)strtoul(argv[i], NULL, 10);
		if (!many.cpus || many.cpus > CPUS_MAX) {
			fprintf(stderr, "bench_many: takes numbers of CPUs from 1 to %d, not '%s'\n",
				CPUS_MAX, argv[i]);
			return 2;
		}
		for (; rings < many.cpus; rings++)
			many.rings[rings] = new_ring();
		run(&many);
	}
	return 0;
}
