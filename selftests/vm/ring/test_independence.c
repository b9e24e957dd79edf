// SPDX-License-Identifier: GPL-2.0-only
/*
 * Providers are independent: one records numbers, and its reader keeps up. Meanwhile others run
 * full, start, stop and are configured, ask for too much memory, come and go, and stop for lack of
 * room. The first has all events, in order, with exact counts. If the test fails, one user's
 * recording damages another's.
 */
#include <sys/mman.h>

#include "tbtest.h"

#define ROUNDS		10	/* rounds of each of the others, at least */
#define CHUNK		500	/* events at a time */

FIXTURE(independence) {
	int kernel;
	int fd;			/* the provider that must have everything */
	struct stream s;
};

FIXTURE_SETUP(independence)
{
	struct tb_query q;

	self->kernel = tb_open(0);
	ASSERT_LE(0, self->kernel);
	ASSERT_EQ(0, tb_destroy_all(self->kernel));
	ASSERT_EQ(0, tb_fresh(self->kernel));
	self->fd = tb_open_as("one", 0);
	ASSERT_LE(0, self->fd);
	/* the reader may have to wait for a CPU that others share */
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 256, 1024));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	stream_init(&self->s);
	self->s.provider = q.provider;
}

FIXTURE_TEARDOWN(independence)
{
	tb_stop(self->fd);
	close(self->fd);
	tb_destroy_all(self->kernel);
	close(self->kernel);
	stream_free(&self->s);
}

/* ---- the provider that must have everything ---------------------------- */

struct numbers {
	struct stream *s;
	uint32_t next;
	uint32_t wrong;
};

static void see(void *ctx, const struct stream_event *e)
{
	struct numbers *n = ctx;
	uint32_t number;

	if (is_fired(n->s, e, &number))
		n->wrong += number != n->next++;
}

struct reader {
	int fd;
	struct stream *s;
	bool ok;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;

	/* waits for data until the recording is stopped */
	r->ok = tb_drain(r->fd, r->s);
	return NULL;
}

/* ---- the others ------------------------------------------------------- */

static uint32_t over;		/* the other threads must end */

struct other {
	const char *what;
	bool (*round)(int fd);	/* false: an error */
	const char *name;
	uint32_t rounds;
	bool failed;
	pthread_t thread;
};

/* Full at once: its drops must not be losses of another. */
static bool run_full(int fd)
{
	struct tb_stats st;

	if (tb_state(fd) != TB_STATE_RUNNING)
		return !tb_configure(fd, TB_MODE_STREAMING, TB_POLICY_DROP, 2, 64) &&
		       tb_enable(fd, FIRE_EVENT) == 1 && !tb_start(fd, TB_START_NO_STATE);
	return !tb_stats(fd, 0, &st) && st.attempted == st.recorded + st.dropped;
}

static bool start_and_stop(int fd)
{
	static uint32_t turn;

	turn++;
	return !tb_configure(fd, 1 + turn % 3, 0, 2 + turn % 7, 64 << turn % 5) &&
	       tb_select(fd, TB_SELECT_ENABLE, "signal", 1 + turn % 2) > 0 &&
	       !tb_start(fd, turn % 2 ? TB_START_NO_STATE : 0) &&
	       tb_select(fd, TB_SELECT_DISABLE, "signal", 0) > 0 &&
	       tb_enable(fd, "raw_syscalls") == 2 && !tb_flush(fd, -1) && !tb_stop(fd);
}

static bool ask_too_much(int fd)
{
	/* each makes a line in the kernel's log */
	usleep(10000);
	return tb_configure(fd, 0, 0, TB_BUFFERS_MAX, TB_BUFFER_ELEMENTS_MAX) == -ENOMEM;
}

static bool come_and_go(int fd)
{
	int own = tb_open_as("fleeting", 0);
	bool ok;

	if (own < 0)
		return false;
	ok = tb_enable(own, FIRE_EVENT) == 1 && !tb_start(own, 0) &&
	     !tb_provider(own, TB_PROVIDER_DESTROY, "fleeting");
	close(own);
	return ok;
}

static void fork_once(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* Threads come and go until there is no room to describe them; and again. */
static bool stop_for_room(int fd)
{
	struct tb_config c = { .durable_kib = TB_DURABLE_KIB_MIN,
			       .flags = TB_CONFIG_DURABLE_STOP };
	struct tb_query q;
	int i;

	if (ioctl(fd, TB_IOC_CONFIGURE, &c) || tb_start(fd, TB_START_NO_STATE))
		return false;
	while (tb_state(fd) == TB_STATE_RUNNING) {
		for (i = 0; i < 50; i++)
			fork_once();
		if (__atomic_load_n(&over, __ATOMIC_RELAXED))
			return true;
	}
	return !tb_query(fd, &q) && q.reason == TB_REASON_DURABLE_FULL;
}

static void *other(void *arg)
{
	struct other *o = arg;
	int fd = tb_open_as(o->name, 0);

	o->failed = fd < 0;
	while (!o->failed && !__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		o->failed = !o->round(fd);
		__atomic_fetch_add(&o->rounds, 1, __ATOMIC_RELAXED);
		/* none of them may have the CPUs for itself */
		sched_yield();
	}
	tb_stop(fd);
	close(fd);
	return NULL;
}

TEST_DEV(independence, one_has_everything_whatever_the_others_do)
{
	struct other others[] = {
		{ .what = "runs full", .round = run_full, .name = "b" },
		{ .what = "is started and stopped", .round = start_and_stop, .name = "c" },
		{ .what = "asks for too much memory", .round = ask_too_much, .name = "d" },
		{ .what = "comes and goes", .round = come_and_go, .name = "e" },
		{ .what = "stops for want of room", .round = stop_for_room, .name = "f" },
	};
	struct numbers numbers = { .s = &self->s };
	struct reader reader = { .fd = self->fd, .s = &self->s };
	struct waiting patience = { 0 };
	struct tb_stats st, sum = { 0 };
	uint32_t fired = 0;
	pthread_t thread;
	struct tb_query q;
	bool all = false;
	size_t i;

	self->s.event = see;
	self->s.ctx = &numbers;
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_all, &reader));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_EQ(0, pthread_create(&others[i].thread, NULL, other, &others[i]));
	/* numbers in order need one CPU */
	ASSERT_EQ(0, pin(0));
	while (!all && waiting(&patience)) {
		fire(fired, CHUNK);
		fired += CHUNK;
		all = fired >= ROUNDS * CHUNK;
		for (i = 0; i < ARRAY_SIZE(others); i++)
			all &= __atomic_load_n(&others[i].rounds, __ATOMIC_RELAXED) >=
			       (others[i].round == stop_for_room ? 1 : ROUNDS);
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		pthread_join(others[i].thread, NULL);
		TH_LOG("one that %s: %u times", others[i].what, others[i].rounds);
		EXPECT_FALSE(others[i].failed);
	}
	EXPECT_TRUE(all);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	EXPECT_EQ(0, q.durable_lost);
	ASSERT_EQ(0, tb_stop(self->fd));
	pthread_join(thread, NULL);
	ASSERT_STREAM(reader.ok, &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(fired, numbers.next);
	EXPECT_EQ(0, numbers.wrong);
	for (i = 0; i < q.nr_cpus; i++) {
		ASSERT_EQ(0, tb_stats(self->fd, i, &st));
		EXPECT_EQ(st.attempted, st.delivered);
		EXPECT_EQ(0, st.overwritten + st.dropped + st.pending);
		sum.delivered += st.delivered;
	}
	EXPECT_EQ(sum.delivered, stream_events(&self->s));
	TH_LOG("%u numbers", fired);
}

TEST_HARNESS_MAIN
