// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers on several threads lose no record without counting it, and have no data race
 * (ThreadSanitizer). If this fails, a busy program's trace lacks records and claims to be complete.
 *
 * The threads record as fast as they can, with too few chunks; the fake kernel accepts, refuses,
 * has no room, and flushes; writers come and go; startup writers are bound meanwhile. For each
 * writer, in every interleaving,
 *
 *	received + refused + lost == attempted, and received + missing == attempted
 *
 * where the kernel concludes "missing" from the numbers; records arrive in order.
 *
 *	stress_lib_writers [RECORDS]	of each thread, 40000
 */
#include <sched.h>
#include "fake_producer.h"

enum { THREADS = 4, LIVES = 8 };

struct thread {
	pthread_t thread;
	unsigned int index;
	uint64_t received, attempted, lost, refused;
	const char *error;
};

static struct fake fake;
static struct tb_arbiter *arbiter;
static struct thread threads[THREADS];
static unsigned int records = 40000;
static uint32_t stop, running, bound;
static bool flushing;			/* readers flush */
static struct tb_name names[] = {
	TB_NAME_INIT("a", NULL), TB_NAME_INIT("b", NULL), TB_NAME_INIT("c", NULL),
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

/* Choose an answer now and then; the caller does not hold the fake's lock */
static void on_commit(struct fake *f)
{
	static uint32_t seed;
	uint32_t random;

	pthread_mutex_lock(&f->lock);
	random = next_random(&seed);
	if (random % 5 == 0)
		f->answer = random % 2 ? ENOBUFS : EINVAL;
	pthread_mutex_unlock(&f->lock);
	sched_yield();
}

static void on_nap(struct fake *f)
{
	(void)f;
	sched_yield();
}

/* One writer's life: records of all kinds, then its counts. */
static void live(struct thread *thread, struct tb_writer *w, unsigned int count, uint32_t *seed)
{
	struct tb_slice slices[4] = { { .writer = NULL } };
	unsigned int id = tb_writer_id(w), i;
	struct tb_writer_stats stats;
	struct fake_writer accounting;
	char data[64];

	memset(data, 'x', sizeof(data));
	for (i = 0; i < count; i++) {
		uint32_t random = next_random(seed);

		switch (random % 8) {
		case 0:
			tb_slice_end(&slices[random / 8 % 4]);
			slices[random / 8 % 4] = tb_slice_begin(w, &names[random / 64 % 3], 0);
			break;
		case 1:
			tb_put_event(w, &names[1], data, random / 8 % sizeof(data));
			break;
		default:
			tb_put_simple(w, &names[random / 8 % 3], i);
			break;
		}
		if (random % 4096 == 7)
			tb_writer_flush(w);
	}
	for (i = 0; i < 4; i++)
		tb_slice_end(&slices[i]);
	/* before the reservations are bound the kernel answers nothing; afterwards everything */
	while (!__atomic_load_n(&bound, __ATOMIC_ACQUIRE))
		sched_yield();
	/* until the last record arrives: then the kernel knows what is missing before it */
	do {
		tb_writer_flush(w);
		tb_put_simple(w, &names[0], i++);
		tb_writer_flush(w);
		tb_writer_read_stats(w, &stats);
		pthread_mutex_lock(&fake.lock);
		accounting = fake.writers[id];
		pthread_mutex_unlock(&fake.lock);
	} while (accounting.next != stats.attempted);
	thread->received += accounting.received;
	if (accounting.received + accounting.missing != stats.attempted)
		thread->error = "received + missing is not attempted";
	/* a reader's flush may have taken a part of a chunk that the kernel then refused */
	if (flushing ? accounting.received + stats.refused + stats.lost < stats.attempted :
		       accounting.received + stats.refused + stats.lost != stats.attempted)
		thread->error = "received + refused + lost is not attempted";
	thread->attempted += stats.attempted;
	thread->lost += stats.lost;
	thread->refused += stats.refused;
	tb_writer_destroy(w);
}

static void *record(void *argument)
{
	struct thread *thread = argument;
	uint32_t seed = thread->index;
	unsigned int i;

	for (i = 0; i < LIVES; i++) {
		struct tb_writer *w = i || thread->index % 2 ?
			tb_writer_create(arbiter, thread->index % 2, (enum tb_full)(i % 3)) :
			tb_writer_create_startup(arbiter, thread->index);

		if (tb_writer_is_null(w)) {
			thread->error = "no writer";
			break;
		}
		live(thread, w, records / LIVES, &seed);
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Readers flush, programs flush, recordings begin anew */
static void *disturb(void *argument)
{
	uint32_t round = 0;

	(void)argument;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		round++;
		if (flushing)
			fake_scrape(&fake);
		if (round % 4 == 0)
			tb_arbiter_flush(arbiter, NULL, NULL);
		if (round % 16 == 0)
			__atomic_fetch_add(&fake.page.targets[round / 16 % 2].generation, 1,
					   __ATOMIC_RELEASE);
		if (round % 64 == 0)
			__atomic_fetch_xor(&fake.page.overwrites, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&fake.now, 500, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

static const char *run(uint32_t flags, unsigned int count, bool flushes)
{
	struct tb_arbiter_options options = { 512, 6, 1, flags };
	struct tb_arbiter_stats stats;
	const char *error = NULL;
	pthread_t disturber;
	unsigned int i;

	fake_init(&fake);
	fake.no_log = true;
	fake.on_commit = on_commit;
	fake.on_nap = on_nap;
	if (tb_arbiter_create_on(&options, &fake.endpoint, &arbiter))
		return "no arbiter";
	tb_arbiter_target(arbiter, "kernel");
	tb_arbiter_target(arbiter, "other");
	memset(threads, 0, sizeof(threads));
	running = count;
	flushing = flushes;
	stop = bound = 0;
	for (i = 0; i < count; i++) {
		threads[i].index = i;
		if (pthread_create(&threads[i].thread, NULL, record, &threads[i]))
			return "no thread";
	}
	if (pthread_create(&disturber, NULL, disturb, NULL))
		return "no thread";
	/* bind the startup writers while they record */
	for (i = 0; i < count; i += 2) {
		sched_yield();
		if (tb_arbiter_bind_reservation(arbiter, i, "other"))
			error = "a reservation could not be bound";
	}
	__atomic_store_n(&bound, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE))
		sched_yield();
	for (i = 0; i < count; i++)
		pthread_join(threads[i].thread, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(disturber, NULL);
	for (i = 0; i < count; i++) {
		printf("# %llu received, %llu refused, %llu lost of %llu\n",
		       (unsigned long long)threads[i].received,
		       (unsigned long long)threads[i].refused,
		       (unsigned long long)threads[i].lost,
		       (unsigned long long)threads[i].attempted);
		if (threads[i].error)
			error = threads[i].error;
	}
	tb_arbiter_read_stats(arbiter, &stats);
	printf("# %llu commits, %llu chunks, %llu refused, %llu patches, %llu of them lost\n",
	       (unsigned long long)stats.commits, (unsigned long long)stats.chunks,
	       (unsigned long long)stats.refused, (unsigned long long)stats.patches,
	       (unsigned long long)stats.patches_lost);
	if (stats.broken)
		error = "a chunk is out of use";
	if (tb_arbiter_try_shutdown(arbiter))
		error = "a writer is left";
	tb_arbiter_destroy(arbiter);
	if (fake.error)
		error = fake.error;
	fake_free(&fake);
	return error;
}

static int failed;

static void result(const char *name, const char *error)
{
	static int number;

	if (error)
		printf("# %s\n", error);
	printf("%sok %d %s\n", error ? "not " : "", ++number, name);
	failed |= error != NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		records = (unsigned int)strtoul(argv[1], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 14\n1..4\n");
	result("writers of two threads, shared memory", run(0, 2, false));
	result("writers of four threads, shared memory", run(0, THREADS, false));
	result("writers of four threads, readers flush", run(0, THREADS, true));
	result("writers of four threads, without shared memory",
	       run(TB_ARBITER_NO_SHARED, THREADS, false));
	return failed;
}
