// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile program cannot harm others through its channel. If this fails, a program can spoil or
 * hide the records of others.
 *
 * The hostile process scribbles over the headers and data of its chunks, commits and patches at
 * random, and makes illegal calls, from several threads. Now and then it is killed, and another one
 * starts. Meanwhile the test flushes and reads. The records of a second producer and of the kernel
 * must all arrive, the frames of hostile chunks must be right, and the counts exact. Then many
 * producers write at once, and each record arrives.
 *
 * TRACEBUF_SECONDS: for how long at most (10). TRACEBUF_SEED: begins the random numbers.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "producer.h"
#include "tbtest.h"

#define CHUNK		1024
#define CHUNKS		16
#define FULL		((CHUNK - sizeof(struct tb_chunk)) / RECORD_BYTES)
#define SCRIBBLERS	2
#define CALLERS		2
#define WRITERS		8
#define CROWD		64
#define PIECES_MOST	300000		/* kept until the end: about 200 MB */
#define HOSTILE_LEAST	100		/* pieces of hostile producers that the test waits for */

static uint64_t begin_seed(void)
{
	const char *s = getenv("TRACEBUF_SEED");

	return s ? strtoull(s, NULL, 0) : 1;
}

static uint32_t seconds(void)
{
	const char *s = getenv("TRACEBUF_SECONDS");

	return s ? atoi(s) : getenv("TRACEBUF_FULL") ? 120 : 10;
}

static uint32_t dice(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* ---- the hostile producer --------------------------------------------- */

struct hostile {
	struct producer p;
	uint64_t seed;
};

/* A value that is nearly right, an edge, or anything. */
static uint64_t nasty(uint64_t *seed)
{
	static const uint64_t edges[] = {
		0, 1, 2, 7, 8, 16, 24, 48, 976, 977, 984, 1024, 0x7fff, 0x8000, 0xffff, 0x10000,
		0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, ~0ull >> 1, ~0ull,
	};

	switch (dice(seed) % 3) {
	case 0:
		return edges[dice(seed) % ARRAY_SIZE(edges)];
	case 1:
		return dice(seed) % CHUNK & ~7u;
	}
	return (uint64_t)dice(seed) << 32 | dice(seed);
}

/* Makes a chunk look acceptable. */
static void make_plausible(struct hostile *h, struct tb_chunk *c, uint64_t *seed)
{
	uint32_t bytes = dice(seed) % (FULL + 1) * RECORD_BYTES;

	c->id = dice(seed) % 4;
	c->writer = 1 + dice(seed) % WRITERS;
	c->flags = dice(seed) & TB_CHUNK_FLAGS;
	c->cause = dice(seed) & TB_LOST_PRODUCER;
	c->reserved16 = 0;
	c->reserved[0] = 0;
	c->reserved[1] = 0;
	c->hole = dice(seed) % 3 ? 0 : 1 + dice(seed) % FULL * RECORD_BYTES;
	c->published = TB_PUBLISHED(bytes, bytes / RECORD_BYTES);
	__atomic_store_n(&c->state, (c->state & 0xffff0000) | (1 + dice(seed) % 2),
			 __ATOMIC_RELEASE);
}

static void *scribble(void *arg)
{
	struct hostile *h = arg;
	uint64_t seed = __atomic_add_fetch(&h->seed, 1000003, __ATOMIC_RELAXED);
	volatile uint8_t *data;
	struct tb_chunk *c;

	for (;;) {
		c = chunk_at(&h->p, dice(&seed) % CHUNKS);
		data = (volatile uint8_t *)c;
		switch (dice(&seed) % 12) {
		case 0:
			/* rarely the whole word: the lap is lost then, and so is the chunk */
			if (dice(&seed) % 256)
				*(volatile uint8_t *)&c->state = dice(&seed) % 4;
			else
				*(volatile uint32_t *)&c->state = nasty(&seed);
			break;
		case 1:
			*(volatile uint32_t *)&c->published = nasty(&seed) | nasty(&seed) << 16;
			break;
		case 2:
			*(volatile uint32_t *)&c->hole = nasty(&seed);
			break;
		case 3:
			*(volatile uint16_t *)&c->writer = dice(&seed);
			break;
		case 4:
			data[4 + dice(&seed) % (sizeof(*c) - 4)] = dice(&seed);
			break;
		case 5:
		case 6:
			*(volatile uint16_t *)(data + sizeof(*c) +
					       dice(&seed) % FULL * RECORD_BYTES) = nasty(&seed);
			break;
		default:
			make_plausible(h, c, &seed);
		}
	}
	return NULL;
}

static void call_commit(struct hostile *h, uint64_t *seed)
{
	struct tb_chunk_ref refs[8];
	struct tb_patch patches[4];
	struct tb_commit m = { .refs = (uintptr_t)refs, .patches = (uintptr_t)patches };
	uint32_t i;

	m.nr_refs = dice(seed) % 9;
	m.nr_patches = dice(seed) % 5;
	for (i = 0; i < m.nr_refs; i++)
		refs[i] = (struct tb_chunk_ref){
			.chunk = dice(seed) % 8 ? dice(seed) % CHUNKS : nasty(seed),
			.data = dice(seed) % 16 ? 0 : nasty(seed),
		};
	for (i = 0; i < m.nr_patches; i++)
		patches[i] = (struct tb_patch){ .writer = dice(seed) % (WRITERS + 2),
						.offset = nasty(seed), .chunk = dice(seed) };
	switch (dice(seed) % 16) {
	case 0:
		m.nr_refs = nasty(seed);
		break;
	case 1:
		m.refs = nasty(seed);
		break;
	case 2:
		m.patches = nasty(seed);
		break;
	case 3:
		m.flush = nasty(seed);
		break;
	}
	producer_commit(h->p.fd, &m);
}

static void *call(void *arg)
{
	struct hostile *h = arg;
	uint64_t seed = __atomic_add_fetch(&h->seed, 7000003, __ATOMIC_RELAXED);
	union {
		uint64_t words[16];
		struct tb_producer_setup setup;
		struct tb_target_req target;
		struct tb_category_req category;
		struct tb_writer_req writer;
		struct tb_commit commit;
	} any;
	static const unsigned int cmds[] = { TB_PIOC_SETUP, TB_PIOC_TARGET, TB_PIOC_WRITER,
					     TB_PIOC_CATEGORY, TB_PIOC_COMMIT };
	uint32_t i;

	for (;;) {
		switch (dice(&seed) % 16) {
		case 0:
			producer_writer(h->p.fd, 1 + dice(&seed) % WRITERS, 0, 0,
					dice(&seed) % 2 ? TB_WRITER_GONE : 0);
			break;
		case 1:
			for (i = 0; i < ARRAY_SIZE(any.words); i++)
				any.words[i] = dice(&seed) % 2 ? 0 : nasty(&seed);
			ioctl(h->p.fd, cmds[dice(&seed) % ARRAY_SIZE(cmds)], &any);
			break;
		case 2:
			tb_poll(h->p.fd);
			producer_target(h->p.fd, dice(&seed) % 2 ? "other" : "kernel");
			break;
		case 3:
			sched_yield();
			break;
		default:
			call_commit(h, &seed);
		}
	}
	return NULL;
}

static void unpin(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

/* Runs until it is killed. */
static void be_hostile(uint64_t seed, uint32_t *producer)
{
	struct hostile h = { .seed = seed };
	pthread_t thread;
	uint32_t i;

	/* it must not outlive the test */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unpin();
	if (producer_open(&h.p, "kernel", CHUNK, CHUNKS))
		_exit(1);
	for (i = 1; i <= WRITERS; i++)
		if (producer_writer(h.p.fd, i, 0, 0, 0))
			_exit(1);
	__atomic_store_n(producer, h.p.setup.producer, __ATOMIC_RELEASE);
	for (i = 0; i < SCRIBBLERS; i++)
		if (pthread_create(&thread, NULL, scribble, &h))
			_exit(1);
	for (i = 1; i < CALLERS; i++)
		if (pthread_create(&thread, NULL, call, &h))
			_exit(1);
	call(&h);
}

/* ---- well-behaved producers ------------------------------------------- */

/* The records that a producer has published; shared with the test. */
struct good {
	uint32_t producer;
	bool end;
	uint64_t written[WRITERS];
};

/* Uses the chunks in turn, each for the next writer; commits some, leaves others to flushes. */
static void be_good(struct good *g, uint64_t seed, uint32_t rounds, uint32_t writers)
{
	uint32_t id[WRITERS] = { 0 }, w, n, records, round;
	struct tb_chunk *c;
	struct producer p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unpin();
	if (producer_open(&p, "kernel", CHUNK, CHUNKS))
		_exit(1);
	for (w = 0; w < writers; w++)
		if (producer_writer(p.fd, w + 1, 0, 0, 0))
			_exit(1);
	g->producer = p.setup.producer;
	for (round = 0; round < rounds && !__atomic_load_n(&g->end, __ATOMIC_RELAXED); round++) {
		w = round % writers;
		n = round % CHUNKS;
		c = chunk_begin(&p, n, w + 1, id[w]++, g->written[w]);
		if (!c)
			_exit(2);
		records = 1 + dice(&seed) % FULL;
		g->written[w] += chunk_fill(&p, c, records);
		chunk_complete(c);
		/* ESTALE: a flush was first */
		if (round % CHUNKS == CHUNKS - 1)
			for (n = 0; n < CHUNKS; n++)
				if (chunk_commit(&p, n) & ~ESTALE)
					_exit(3);
		if (rounds == ~0u && dice(&seed) % 64 == 0)
			usleep(1000);
	}
	/* the end of the channel takes the rest */
	_exit(0);
}

FIXTURE(hostile) {
	int fd;
	struct stream s;
	struct pieces got;
	struct good *good;	/* an array of CROWD */
};

FIXTURE_SETUP(hostile)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_destroy_all(self->fd));
	ASSERT_EQ(0, tb_fresh(self->fd));
	stream_init(&self->s);
	self->good = mmap(NULL, CROWD * sizeof(struct good), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->good);
}

FIXTURE_TEARDOWN(hostile)
{
	tb_stop(self->fd);
	tb_destroy_all(self->fd);
	close(self->fd);
	stream_free(&self->s);
	pieces_free(&self->got);
	munmap(self->good, CROWD * sizeof(struct good));
}

/* The reader's view of all producers. */
struct watch {
	struct stream *s;
	struct pieces *good;	/* of the well-behaved producer */
	uint32_t good_producer;
	uint32_t pid_max;
	uint64_t hostile;	/* pieces of hostile producers */
	uint64_t fired, fired_wrong;
	uint32_t next;
	char wrong[128];
};

static void watch_event(void *ctx, const struct stream_event *e)
{
	struct watch *w = ctx;
	struct tb_chunk_event c;
	uint32_t number;

	if (is_fired(w->s, e, &number)) {
		if (number != w->next)
			w->fired_wrong++;
		w->next = number + 1;
		w->fired++;
	}
	if (e->id != TB_EV_CHUNK)
		return;
	memcpy(&c, e->payload, sizeof(c));
	if (c.producer == w->good_producer) {
		pieces_take(w->good, e);
		return;
	}
	w->hostile++;
	if (c.uid || c.writer > WRITERS || c.records * 16 > e->length - sizeof(c) ||
	    c.offset + e->length - sizeof(c) > CHUNK - sizeof(struct tb_chunk) ||
	    c.tid < c.pid || c.tid > c.pid + SCRIBBLERS + CALLERS)
		snprintf(w->wrong, sizeof(w->wrong), "uid %u writer %u records %u offset %u pid %u tid %u",
			 c.uid, c.writer, c.records, c.offset, c.pid, c.tid);
}

/* Reads all that is there now, without waiting. */
static bool take_all(int fd, struct stream *s)
{
	static char buf[4 << 20];
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		if (!stream_blocks(s, buf, n))
			return false;
	fcntl(fd, F_SETFL, 0);
	return n == 0 || errno == EAGAIN;
}

TEST_F_TIMEOUT(hostile, others_do_not_notice, test_timeout() + seconds())
{
	uint64_t seed = begin_seed(), until, next;
	struct watch w = { .s = &self->s, .good = &self->got };
	uint32_t causes, i, number = 0, kills = 0, *producer;
	pid_t good, hostile = 0;
	int status;

	TH_LOG("seed %llu, %u s", (unsigned long long)seed, seconds());
	producer = &self->good[1].producer;
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 256, 4096));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	close(tb_open_as("other", 0));
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	memset(self->good, 0, 2 * sizeof(struct good));
	good = fork();
	if (!good)
		be_good(&self->good[0], seed, ~0u, WRITERS);
	for (WAIT(__atomic_load_n(&self->good[0].producer, __ATOMIC_ACQUIRE)))
		;
	w.good_producer = self->good[0].producer;
	self->s.event = watch_event;
	self->s.ctx = &w;
	until = now_ms() + seconds() * 1000ull;
	/* on a slow kernel longer, until enough of theirs has arrived */
	while ((now_ms() < until || w.hostile <= HOSTILE_LEAST) && self->got.nr < PIECES_MOST) {
		if (!hostile) {
			*producer = 0;
			hostile = fork();
			if (!hostile)
				be_hostile(dice(&seed), producer);
			for (WAIT(__atomic_load_n(producer, __ATOMIC_ACQUIRE)))
				;
		}
		fire(number, 10);
		number += 10;
		ASSERT_EQ(0, tb_flush(self->fd, -1));
		ASSERT_STREAM(take_all(self->fd, &self->s), &self->s);
		usleep(dice(&seed) % 2000);
		if (dice(&seed) % 16 == 0) {
			kill(hostile, SIGKILL);
			ASSERT_EQ(hostile, waitpid(hostile, &status, 0));
			ASSERT_TRUE(WIFSIGNALED(status));
			hostile = 0;
			kills++;
		}
	}
	if (hostile) {
		kill(hostile, SIGKILL);
		waitpid(hostile, NULL, 0);
	}
	__atomic_store_n(&self->good[0].end, true, __ATOMIC_RELAXED);
	ASSERT_EQ(good, waitpid(good, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	pieces_sort(&self->got);
	EXPECT_STREQ("", w.wrong);
	EXPECT_EQ(number, w.fired);
	EXPECT_EQ(0, w.fired_wrong);
	for (i = 0; i < WRITERS; i++) {
		EXPECT_EQ((int64_t)self->good[0].written[i],
			  pieces_of(&self->got, w.good_producer, i + 1, &next, &causes));
		EXPECT_EQ(self->good[0].written[i], next);
		EXPECT_EQ(0, causes);
	}
	TH_LOG("%u killed, %llu pieces of theirs, %u of the other's, %u kernel events", kills,
	       (unsigned long long)w.hostile, self->got.nr, number);
	EXPECT_LT(HOSTILE_LEAST, w.hostile);
	EXPECT_LT(100, self->got.nr);
}

/* Checks what arrives from CROWD producers; @whole: nothing may be missing. */
static void crowd_of(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) *self,
		     uint32_t policy, uint32_t buffers, uint32_t rounds, bool whole)
{
	uint64_t next, received = 0, attempted = 0;
	uint32_t i, w, causes;
	pid_t pid[CROWD];
	int status;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, policy, buffers, 1024));
	pieces_collect(&self->got, &self->s);
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	for (i = 0; i < CROWD; i++) {
		memset(&self->good[i], 0, sizeof(self->good[i]));
		pid[i] = fork();
		if (!pid[i])
			be_good(&self->good[i], i, rounds, 2);
	}
	for (i = 0; i < CROWD; i++) {
		ASSERT_EQ(0, tb_flush(self->fd, -1));
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		ASSERT_EQ(0, status);
	}
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	pieces_sort(&self->got);
	for (i = 0; i < CROWD; i++)
		for (w = 0; w < 2; w++) {
			int64_t n = pieces_of(&self->got, self->good[i].producer, w + 1, &next,
					      &causes);

			ASSERT_LE(0, n);
			ASSERT_LE(next, self->good[i].written[w]);
			ASSERT_LE(n, next);
			if (whole) {
				ASSERT_EQ(self->good[i].written[w], n);
				ASSERT_EQ(0, causes);
			}
			received += n;
			attempted += self->good[i].written[w];
		}
	TH_LOG("%u producers: %llu of %llu records", CROWD, (unsigned long long)received,
	       (unsigned long long)attempted);
	ASSERT_LT(0, received);
}

TEST_DEV(hostile, many_at_once)
{
	crowd_of(_metadata, self, TB_POLICY_DROP, 2048, 8 * CHUNKS, true);
}

TEST_HARNESS_MAIN
