// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer is killed with SIGKILL anywhere, a thousand times: the trace has all records that it
 * published, and no others. If this fails, the last records before a crash are missing or wrong.
 *
 * The victim counts its published records in a shared page, before and after each one, so their
 * number is known to within one. A seed decides where it dies: the victim kills itself at one of
 * its steps, or its parent kills it at some time.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "producer.h"
#include "tbtest.h"

#define CHUNK	512
#define CHUNKS	6
#define WRITERS	3
#define FULL	((CHUNK - sizeof(struct tb_chunk)) / RECORD_BYTES)
#define ROUNDS	1000
#define BATCH	50	/* steps at most, if the victim kills itself */
#define STEPS	60	/* steps at most, if the parent kills it: 40 KB of records */
#define MANY	5000	/* if we do: 40 KB of records */

/* A victim's own account; shared with the parent. */
struct victim {
	uint32_t producer;
	bool began;
	bool by_us;			/* the parent kills it */
	uint64_t before[WRITERS];	/* records it may have published */
	uint64_t after[WRITERS];	/* records it has published */
};

FIXTURE(kill) {
	int fd;
	struct stream s;
	struct pieces got;
	struct victim *victims;
};

FIXTURE_SETUP(kill)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_destroy_all(self->fd));
	ASSERT_EQ(0, tb_fresh(self->fd));
	stream_init(&self->s);
	self->victims = mmap(NULL, BATCH * sizeof(struct victim), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->victims);
}

FIXTURE_TEARDOWN(kill)
{
	tb_stop(self->fd);
	close(self->fd);
	stream_free(&self->s);
	pieces_free(&self->got);
	munmap(self->victims, BATCH * sizeof(struct victim));
}

static uint32_t dice(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/*
 * Counts down a step of the victim: after @left steps it kills itself, or waits for its parent to
 * do so. The limit makes a batch fit into the rings, however late the parent is.
 */
static void step(struct victim *v, uint32_t *left)
{
	if ((*left)--)
		return;
	if (!v->by_us)
		kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* Publishes one record, and counts it. */
static bool publish(struct victim *v, struct producer *p, struct tb_chunk *c, uint32_t w,
		 uint32_t *left)
{
	bool put;

	__atomic_store_n(&v->before[w], v->after[w] + 1, __ATOMIC_SEQ_CST);
	step(v, left);
	put = chunk_put(p, c);
	step(v, left);
	if (put)
		__atomic_store_n(&v->after[w], v->after[w] + 1, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&v->before[w], v->after[w], __ATOMIC_SEQ_CST);
	return put;
}

/* Writes for ever: a chunk for each writer, completed now and then, and committed later. */
static void be_victim(struct victim *v, uint64_t seed, uint32_t left)
{
	struct tb_chunk *c[WRITERS] = { 0 };
	/* for each writer, the chunks that are complete and not committed */
	uint32_t ready[WRITERS][CHUNKS], nr[WRITERS] = { 0 };
	uint32_t n[WRITERS], id[WRITERS] = { 0 }, w, free = 0, i;
	struct producer p;

	if (producer_open(&p, "kernel", CHUNK, CHUNKS))
		_exit(1);
	for (w = 0; w < WRITERS; w++)
		if (producer_writer(p.fd, w + 1, 0, 0, 0))
			_exit(1);
	v->producer = p.setup.producer;
	__atomic_store_n(&v->began, true, __ATOMIC_RELEASE);
	for (;;) {
		w = dice(&seed) % WRITERS;
		for (i = 0; !c[w] && i < CHUNKS; i++) {
			free = (free + 1) % CHUNKS;
			n[w] = free;
			c[w] = chunk_begin(&p, free, w + 1, id[w], v->after[w]);
		}
		step(v, &left);
		if (c[w]) {
			if (publish(v, &p, c[w], w, &left) && dice(&seed) % 4)
				continue;
			chunk_complete(c[w]);
			step(v, &left);
			ready[w][nr[w]++] = n[w];
			c[w] = NULL;
			id[w]++;
			if (dice(&seed) % 2)
				continue;
		}
		/* in the order in which they were written */
		for (i = 0; i < nr[w]; i++) {
			if (chunk_commit(&p, ready[w][i]))
				_exit(2);
			step(v, &left);
		}
		nr[w] = 0;
	}
}

/* Runs one victim until it is dead. */
static bool one_dies(struct victim *v, uint64_t seed)
{
	bool by_us = dice(&seed) % 4 == 0;
	uint32_t left = by_us ? MANY : dice(&seed) % STEPS;
	int status;
	pid_t pid;

	memset(v, 0, sizeof(*v));
	v->by_us = by_us;
	pid = fork();
	if (!pid)
		be_victim(v, seed, left);
	if (by_us) {
		for (WAIT(__atomic_load_n(&v->began, __ATOMIC_ACQUIRE)))
			;
		usleep(dice(&seed) % 300);
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	printf("# to be killed by %s: status %#x\n", by_us ? "us" : "itself", status);
	return false;
}

/* Does the trace have exactly what the victim published? */
static bool all_there(const struct pieces *got, const struct victim *v)
{
	uint32_t w, causes;
	uint64_t next;
	int64_t n;

	for (w = 0; w < WRITERS; w++) {
		n = pieces_of(got, v->producer, w + 1, &next, &causes);
		if (n < (int64_t)v->after[w] || n > (int64_t)v->before[w] || causes) {
			printf("# writer %u: %lld records, %llu to %llu were published, causes %#x\n",
			       w + 1, (long long)n, (unsigned long long)v->after[w],
			       (unsigned long long)v->before[w], causes);
			return false;
		}
	}
	return true;
}

TEST_DEV(kill, a_thousand_times)
{
	uint64_t seed = getenv("TRACEBUF_SEED") ? strtoull(getenv("TRACEBUF_SEED"), NULL, 0) : 1;
	uint64_t published = 0;
	uint32_t round, i, w;

	TH_LOG("seed %llu", (unsigned long long)seed);
	/* Nothing may be overwritten, because the test reads a batch after its end. */
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 512, 1024));
	for (round = 0; round < ROUNDS; round += BATCH) {
		pieces_free(&self->got);
		stream_free(&self->s);
		pieces_collect(&self->got, &self->s);
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		for (i = 0; i < BATCH; i++) {
			ASSERT_TRUE(one_dies(&self->victims[i], seed + round + i));
			for (w = 0; w < WRITERS; w++)
				published += self->victims[i].after[w];
		}
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		pieces_sort(&self->got);
		for (i = 0; i < BATCH; i++) {
			ASSERT_TRUE(all_there(&self->got, &self->victims[i])) {
				TH_LOG("seed %llu", (unsigned long long)(seed + round + i));
			}
		}
	}
	TH_LOG("%u processes, %llu records", ROUNDS, (unsigned long long)published);
	EXPECT_LT(10 * ROUNDS, published);
}

TEST_HARNESS_MAIN
