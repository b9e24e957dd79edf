// SPDX-License-Identifier: GPL-2.0-only
/*
 * The durable buffer while thousands of threads come and go: it starts over, is recycled, grows,
 * and stops the recording when it is full if the user asked for that. A thread is described before
 * each rolling block that has it. No event is lost, and no recording stops, for the sake of names.
 * If a test fails, traces have threads without names, or a program that forks in a loop ruins a
 * recording.
 *
 * TRACEBUF_FULL=1 in the environment: forty times as many threads.
 */
#include <setjmp.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "forking.h"
#include "tbtest.h"

#define PID_MAX		4194304

static uint32_t forks(void)
{
	return getenv("TRACEBUF_FULL") ? 200000 : 5000;
}

FIXTURE(durable) {
	int fd;			/* on the provider "durable" */
	int kernel;
	struct tb_config config;
	struct stream s;
};

FIXTURE_SETUP(durable)
{
	struct tb_query q;
	FILE *f = fopen("/proc/sys/kernel/pid_max", "w");

	/* no id twice */
	if (f) {
		fprintf(f, "%d\n", PID_MAX);
		fclose(f);
	}
	self->kernel = tb_open(0);
	ASSERT_LE(0, self->kernel);
	ASSERT_EQ(0, tb_destroy_all(self->kernel));
	ASSERT_EQ(0, tb_fresh(self->kernel));
	self->fd = tb_open_as("durable", O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	stream_init(&self->s);
	self->s.provider = q.provider;
	memset(&self->config, 0, sizeof(self->config));
}

FIXTURE_TEARDOWN(durable)
{
	tb_stop(self->fd);
	tb_stop(self->kernel);
	close(self->fd);
	tb_destroy_all(self->kernel);
	close(self->kernel);
	stream_free(&self->s);
}

static int configure(int fd, struct tb_config *c)
{
	return ioctl(fd, TB_IOC_CONFIGURE, c) ? -errno : 0;
}

/* ---- the threads that a reader knows ----------------------------------- */

struct names {
	struct stream *s;
	char (*comm)[TB_COMM_LEN];	/* of each thread; "" if the trace has not described it */
	uint32_t threads;
	uint32_t seen;			/* events of rolling blocks */
	uint32_t unknown, misnamed;
	struct life {
		uint64_t born, ran;	/* time of its creation, and of its first switch; 0: unknown */
	} *lives;			/* of each thread */
	uint32_t last;			/* the highest id in @lives */
	uint32_t first_unknown;
};

static bool names_init(struct names *t, struct stream *s)
{
	memset(t, 0, sizeof(*t));
	t->s = s;
	t->comm = mmap(NULL, (size_t)PID_MAX * TB_COMM_LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	t->lives = mmap(NULL, (size_t)PID_MAX * sizeof(*t->lives), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return t->comm != MAP_FAILED && t->lives != MAP_FAILED;
}

static void names_exit(struct names *t)
{
	munmap(t->comm, (size_t)PID_MAX * TB_COMM_LEN);
	munmap(t->lives, (size_t)PID_MAX * sizeof(*t->lives));
}

static void take_thread(struct names *t, const struct stream_event *e)
{
	struct tb_thread thread;

	memcpy(&thread, e->payload, sizeof(thread));
	if (thread.tid >= PID_MAX)
		return;
	if (thread.flags & TB_THREAD_FORK) {
		t->lives[thread.tid].born = e->time;
		t->last = thread.tid > t->last ? thread.tid : t->last;
	}
	memcpy(t->comm[thread.tid], thread.comm, TB_COMM_LEN);
	t->threads++;
	/* a thread that named itself has that name at its end */
	if ((thread.flags & TB_THREAD_EXIT) && !strncmp(thread.comm, "kid", 3))
		t->misnamed += (uint32_t)atoi(thread.comm + 3) != thread.tid;
}

/* Notes when a thread came to a CPU for the first time. */
static void note_run(struct names *t, uint32_t tid, uint64_t time)
{
	struct life *life = tid < PID_MAX ? &t->lives[tid] : NULL;

	if (life && (!life->ran || time < life->ran))
		life->ran = time;
}

/* How many threads have run before they were created */
static uint32_t ran_before(const struct names *t)
{
	uint32_t tid, count = 0;

	for (tid = 1; tid <= t->last; tid++)
		count += t->lives[tid].ran && t->lives[tid].ran < t->lives[tid].born;
	return count;
}

static void check_named(struct names *t, uint32_t tid)
{
	t->seen++;
	if (tid < PID_MAX && t->comm[tid][0])
		return;
	if (!t->unknown++)
		t->first_unknown = tid;
}

static void take_event(void *ctx, const struct stream_event *e)
{
	struct names *t = ctx;

	if (e->id == TB_EV_THREAD)
		take_thread(t, e);
	if (e->durable)
		return;
	if (!e->simple)
		check_named(t, e->tid);
	if (stream_is(t->s, e, "sched_switch")) {
		check_named(t, stream_value(t->s, e, "prev_pid"));
		check_named(t, stream_value(t->s, e, "next_pid"));
		note_run(t, stream_value(t->s, e, "next_pid"), e->time);
	}
}

#define EXPECT_NAMES(t)							\
	do {								\
		TH_LOG("%u threads described, %u ids seen", (t)->threads, (t)->seen); \
		EXPECT_EQ(0, (t)->unknown) {				\
			TH_LOG("the first unknown thread is %u", (t)->first_unknown); \
		}							\
		EXPECT_EQ(0, (t)->misnamed);				\
		EXPECT_EQ(0, ran_before(t));				\
	} while (0)

/* ---- full ------------------------------------------------------------- */

static int log_lines(const char *what)
{
	static char log[1 << 20];
	int n = klogctl(3, log, sizeof(log) - 1), count = 0;
	char *at = log;

	if (n < 0)
		return n;
	log[n] = 0;
	while ((at = strstr(at, what))) {
		count++;
		at++;
	}
	return count;
}

#define FULL_LINE	"tracebuf: durable: durable buffer of"

/* Forks until the provider has stopped by itself. */
static bool fork_until_full(int fd)
{
	bool ok;

	if (!begin_forking(1000000))
		return false;
	for (WAIT(tb_state(fd) == TB_STATE_STOPPED))
		;
	ok = tb_state(fd) == TB_STATE_STOPPED;
	end_forking(true);
	return ok;
}

TEST_DEV(durable, full_stops_this_one_alone)
{
	struct tb_provider_info info;
	struct tb_query q;
	int lines = log_lines(FULL_LINE);
	struct names t;
	char c;

	ASSERT_TRUE(names_init(&t, &self->s));
	self->s.event = take_event;
	self->s.ctx = &t;
	ASSERT_EQ(1, tb_enable(self->kernel, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->kernel, 0));
	self->config.durable_kib = TB_DURABLE_KIB_MIN;
	self->config.flags = TB_CONFIG_DURABLE_STOP;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_REASON_NONE, q.reason);
	EXPECT_EQ(0, q.durable_lost);
	ASSERT_TRUE(fork_until_full(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_REASON_DURABLE_FULL, q.reason);
	EXPECT_LT(0, q.durable_lost);
	EXPECT_LE(q.durable_size, (TB_DURABLE_KIB_MIN + 64) * 1024);
	ASSERT_EQ(0, tb_provider_at(self->kernel, 1, &info));
	EXPECT_EQ(TB_STATE_STOPPED, info.state);
	EXPECT_EQ(TB_REASON_DURABLE_FULL, info.reason);
	EXPECT_EQ(lines + 1, log_lines(FULL_LINE));
	/* the reader gets all that was recorded until then, and the end */
	EXPECT_EQ(POLLIN, tb_poll(self->fd) & (POLLIN | POLLHUP | POLLERR));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, read(self->fd, &c, 1));
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(self->fd));
	EXPECT_LT(WORKERS, t.threads);
	/* the provider can be started again; the other one went on */
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->kernel));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_REASON_NONE, q.reason);
	EXPECT_EQ(0, q.durable_lost);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_REASON_REQUEST, q.reason);
	EXPECT_EQ(POLLIN, tb_poll(self->fd) & (POLLIN | POLLERR));
	names_exit(&t);
}

/* Forks until records of threads are lost, which stops nothing. */
static bool fork_until_lost(int fd)
{
	struct tb_query q = { };
	bool ok;

	if (!begin_forking(1000000))
		return false;
	for (WAIT(!tb_query(fd, &q) && q.durable_lost))
		;
	ok = q.durable_lost && q.state == TB_STATE_RUNNING;
	end_forking(true);
	return ok;
}

/* ---- names are lost, not events --------------------------------------- */

/*
 * A reader holds a block: the buffer grows to its limit; then names are lost, and the trace says
 * so.
 */
TEST_DEV(durable, names_are_lost_when_it_can_grow_no_more)
{
	struct tb_query q;
	struct tb_ref ref;
	struct names t;
	int other;

	self->config.mode = TB_MODE_CIRCULAR;
	self->config.durable_kib = TB_DURABLE_KIB_MIN;
	self->config.durable_max_kib = 4 * TB_DURABLE_KIB_MIN;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 1);
	other = tb_open_as("durable", O_NONBLOCK);
	ASSERT_LE(0, other);
	while (tb_acquire(other, &ref, 1, TB_ACQUIRE_SNAPSHOT) == 1 &&
	       ref.ring == TB_RING_DURABLE)
		ASSERT_EQ(1, tb_release(other, &ref, 1));
	ASSERT_NE(TB_RING_DURABLE, ref.ring);
	ASSERT_TRUE(fork_until_lost(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_REASON_NONE, q.reason);
	EXPECT_LE(4 * TB_DURABLE_KIB_MIN * 1024, q.durable_size);
	EXPECT_GE(q.durable_bytes, q.durable_size);
	close(other);
	/* all threads that exist have names all the same */
	ASSERT_EQ(0, prctl(PR_SET_NAME, "after all"));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_TRUE(names_init(&t, &self->s));
	self->s.event = take_event;
	self->s.ctx = &t;
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LT(0, stream_events(&self->s));
	EXPECT_LT(0, self->s.lost.records);
	EXPECT_STREQ("after all", t.comm[getpid()]);
	EXPECT_STREQ("kthreadd", t.comm[2]);
	names_exit(&t);
}

/* While the reader is away names are lost, and the recording goes on. */
TEST_DEV(durable, streaming_waits_for_its_reader)
{
	static char buf[1 << 20];
	struct tb_query q;
	struct names t;
	ssize_t n;

	ASSERT_TRUE(names_init(&t, &self->s));
	self->s.event = take_event;
	self->s.ctx = &t;
	self->config.mode = TB_MODE_STREAMING;
	self->config.durable_kib = TB_DURABLE_KIB_MIN;
	self->config.durable_max_kib = 4 * TB_DURABLE_KIB_MIN;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	n = read(self->fd, buf, 16384);
	ASSERT_LT(0, n);
	ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
	ASSERT_TRUE(fork_until_lost(self->fd));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "it goes on"));
	while ((n = read(self->fd, buf, sizeof(buf))) > 0)
		ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
	ASSERT_EQ(EAGAIN, errno);
	fire(0, 1);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LT(0, self->s.lost.records);
	EXPECT_STREQ("it goes on", t.comm[getpid()]);
	names_exit(&t);
}

#define OLD	100	/* events that fit into a ring of 8 buffers */

struct old {
	struct stream *s;
	uint32_t next;
};

static void see_old(void *ctx, const struct stream_event *e)
{
	struct old *old = ctx;
	uint32_t number;

	if (e->cpu == 1 && is_fired(old->s, e, &number) && number == old->next)
		old->next++;
}

/* An idle CPU keeps its events, however many threads start, exit and are renamed. */
static void old_events_stay(struct __test_metadata *_metadata, FIXTURE_DATA(durable) *self,
			    uint32_t mode)
{
	struct old old = { .s = &self->s };
	char name[TB_COMM_LEN];
	struct tb_stats st;
	struct tb_query q;
	uint32_t n;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	self->config.mode = mode;
	self->config.buffers = 8;
	self->config.elements = 128;
	self->config.durable_kib = 128;
	self->config.durable_max_kib = 256;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, pin(1));
	fire(0, OLD);
	ASSERT_EQ(0, pin(0));
	/* processes that fork get signals, which are events: keep them off CPU 1 */
	ASSERT_TRUE(begin_forking_on(forks(), 1));
	for (n = 0; n < 100000; n++) {
		snprintf(name, sizeof(name), "name %u", n);
		ASSERT_EQ(0, prctl(PR_SET_NAME, name));
	}
	end_forking(false);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	EXPECT_EQ(TB_REASON_NONE, q.reason);
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	EXPECT_EQ(0, st.overwritten);
	EXPECT_EQ(0, st.dropped);
	ASSERT_EQ(0, tb_stop(self->fd));
	self->s.event = see_old;
	self->s.ctx = &old;
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(OLD, old.next);
}

TEST_DEV(durable, threads_cost_a_flight_recorder_no_events)
{
	old_events_stay(_metadata, self, TB_MODE_CIRCULAR);
}

TEST_DEV(durable, threads_cost_a_stream_no_events)
{
	old_events_stay(_metadata, self, TB_MODE_STREAMING);
}

/* ---- long recordings -------------------------------------------------- */

TEST_DEV(durable, circular_goes_on)
{
	uint64_t recycled = 0;
	struct tb_query q;
	struct names t;
	int round;

	/* more forks than from one state to the next */
	self->config.mode = TB_MODE_CIRCULAR;
	self->config.buffers = 8;
	self->config.durable_kib = 256;
	self->config.durable_max_kib = 1024;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
	ASSERT_LT(1, tb_enable(self->fd, "task"));
	ASSERT_EQ(2, tb_enable(self->fd, "raw_syscalls"));
	/*
	 * Some rounds end after a state was written, others after one came into use. On slow
	 * kernels more forks pass before one comes into use.
	 */
	for (round = 0; round < 4 || (!recycled && round < 12); round++) {
		ASSERT_TRUE(names_init(&t, &self->s));
		self->s.event = take_event;
		self->s.ctx = &t;
		ASSERT_EQ(0, tb_start(self->fd, 0));
		ASSERT_TRUE(begin_forking(forks() / 2 + 800 * round));
		end_forking(false);
		EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_EQ(0, tb_query(self->fd, &q));
		EXPECT_EQ(TB_REASON_REQUEST, q.reason);
		EXPECT_EQ(0, q.durable_lost);
		TH_LOG("%llu of %llu KiB used", (unsigned long long)q.durable_used / 1024,
		       (unsigned long long)q.durable_size / 1024);
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		EXPECT_LT(100, t.seen);
		EXPECT_NAMES(&t);
		names_exit(&t);
		recycled += self->s.durable_first;
		stream_free(&self->s);
		self->s.provider = q.provider;
		/* the next round has a new reader */
		close(self->fd);
		self->fd = tb_open_as("durable", O_NONBLOCK);
		ASSERT_LE(0, self->fd);
	}
	/* the state was written again, and the records before it are gone */
	EXPECT_LT(0, recycled);
}

/*
 * The threads of one round fill the buffers; the smallest has no room for two states. A thread that
 * renames itself in a loop has the last name in the end.
 */
TEST_DEV(durable, small_ones_start_anew)
{
	static const uint32_t kib[] = { 64, 128, 256 };
	char name[TB_COMM_LEN];
	struct tb_query q;
	struct names t;
	uint32_t i, n;

	for (i = 0; i < sizeof(kib) / sizeof(kib[0]); i++) {
		ASSERT_TRUE(names_init(&t, &self->s));
		self->s.event = take_event;
		self->s.ctx = &t;
		self->config.mode = TB_MODE_CIRCULAR;
		self->config.buffers = 64;
		self->config.durable_kib = kib[i];
		self->config.durable_max_kib = kib[i];
		ASSERT_EQ(0, configure(self->fd, &self->config));
		ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
		ASSERT_EQ(0, tb_start(self->fd, 0));
		ASSERT_TRUE(begin_forking(4000));
		for (n = 0; n < 12000; n++) {
			snprintf(name, sizeof(name), "name %u", n);
			ASSERT_EQ(0, prctl(PR_SET_NAME, name));
		}
		end_forking(false);
		ASSERT_EQ(0, tb_query(self->fd, &q));
		EXPECT_EQ(TB_STATE_RUNNING, q.state);
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_EQ(0, tb_query(self->fd, &q));
		EXPECT_EQ(TB_REASON_REQUEST, q.reason) {
			TH_LOG("with %u KiB", kib[i]);
		}
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		EXPECT_LT(0, self->s.durable_first);
		TH_LOG("%u of %u ids unknown; %llu records lost, those older than %llu removed",
		       t.unknown, t.seen, (unsigned long long)self->s.lost.records,
		       (unsigned long long)self->s.lost.before);
		/* the trace says that it lost the unknown ones */
		EXPECT_TRUE(!t.unknown || self->s.lost.records || self->s.lost.before);
		EXPECT_EQ(0, t.misnamed);
		EXPECT_STREQ(name, t.comm[getpid()]);
		names_exit(&t);
		stream_free(&self->s);
		self->s.provider = q.provider;
		close(self->fd);
		self->fd = tb_open_as("durable", O_NONBLOCK);
		ASSERT_LE(0, self->fd);
	}
}

/* Reads the durable blocks for a late reader; another one has the rolling blocks. */
static bool drain_durable(int fd, struct stream *s)
{
	char block[16384];
	ssize_t n;

	/* no block is larger */
	while ((n = read(fd, block, sizeof(block))) > 0) {
		struct tb_block *b = (void *)block;
		ssize_t at, size = 1l << b->size_log2;

		for (at = 0; at < n; at += size) {
			b = (void *)(block + at);
			size = 1l << b->size_log2;
			if (b->kind == TB_BLOCK_DURABLE && !stream_block(s, b, size))
				return false;
		}
	}
	return n == 0;
}

/* Reads and checks blocks until the forking is over. */
static bool save_while_forking(int fd, struct stream *s)
{
	static char buf[1 << 20];
	ssize_t n;

	while (!forking_done()) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		poll(&p, 1, 100);
		n = read(fd, buf, sizeof(buf));
		if (n > 0 ? !stream_blocks(s, buf, n) : errno != EAGAIN)
			return false;
	}
	end_forking(false);
	return true;
}

/* Saved blocks make room; a later reader gets the last state. */
TEST_DEV(durable, streaming_recycles_what_is_saved)
{
	struct stream *second = calloc(1, sizeof(*second));
	struct names t, later;
	uint8_t selected;
	struct tb_query q;
	size_t i;
	int fd;

	ASSERT_NE(NULL, second);
	ASSERT_TRUE(names_init(&t, &self->s));
	self->s.event = take_event;
	self->s.ctx = &t;
	self->config.buffers = 64;
	self->config.durable_kib = 128;
	self->config.durable_max_kib = 256;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_TRUE(begin_forking(forks() / 2));
	ASSERT_STREAM(save_while_forking(self->fd, &self->s), &self->s);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	EXPECT_EQ(0, q.durable_lost);
	EXPECT_EQ(0, self->s.durable_first);
	EXPECT_NAMES(&t);
	/* the next reader */
	close(self->fd);
	fd = tb_open_as("durable", O_NONBLOCK);
	ASSERT_LE(0, fd);
	self->fd = fd;
	stream_init(second);
	ASSERT_TRUE(names_init(&later, second));
	second->provider = q.provider;
	second->event = take_event;
	second->ctx = &later;
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(drain_durable(fd, second), second);
	/* on a slow host the state may have been written once more, to make room */
	EXPECT_LE(1, second->inits);
	EXPECT_LT(0, second->durable_first);
	EXPECT_LT(10, later.threads);
	EXPECT_STREQ("kthreadd", later.comm[2]);
	EXPECT_NE(0, later.comm[getpid()][0]);
	EXPECT_TRUE(second->ring[0].have_totals);
	/* one more reader, after the stop */
	close(self->fd);
	self->fd = tb_open_as("durable", O_NONBLOCK);
	stream_free(second);
	second->provider = q.provider;
	ASSERT_STREAM(drain_durable(self->fd, second), second);
	EXPECT_LE(1, second->inits);
	EXPECT_TRUE(second->ring[0].have_totals);
	/* the selection is that of the recording, not the empty one of now */
	for (i = selected = 0; i < sizeof(second->selected); i++)
		selected |= second->selected[i];
	EXPECT_NE(0, selected);
	names_exit(&t);
	names_exit(&later);
	stream_free(second);
	free(second);
}

/* Enables events with many descriptions that hardly ever occur here; returns how many. */
static int enable_rare(int fd)
{
	static const char *const systems[] = {
		"block", "bridge", "cgroup", "compaction", "devfreq", "drm", "fib", "filelock",
		"hugetlbfs", "io_uring", "iommu", "jbd2", "mce", "migrate", "neigh", "net",
		"oom", "pwm", "qdisc", "ras", "regmap", "regulator", "rpm", "rtc", "scsi", "skb",
		"thermal", "udp", "wbt", "writeback", "xdp", "xen",
	};
	unsigned int i;
	int n, all = 0;

	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		n = tb_enable(fd, systems[i]);
		all += n > 0 ? n : 0;
	}
	return all;
}

/* Enables all events but those that forking makes often; returns how many. */
static int enable_most(int fd)
{
	static const char *const busy[] = {
		"exceptions", "irq", "irq_vectors", "kmem", "maple_tree", "mmap", "percpu",
		"preemptirq", "raw_syscalls", "rcu", "sched", "signal", "syscalls", "task", "timer",
		"tlb", "vmalloc", "workqueue", "page_isolation", "pagemap", "rseq", "csd", "ipi",
	};
	unsigned int i;
	int n = tb_enable(fd, "all");

	for (i = 0; n > 0 && i < sizeof(busy) / sizeof(busy[0]); i++) {
		int off = tb_select(fd, TB_SELECT_DISABLE, busy[i], 0);

		n -= off > 0 ? off : 0;
	}
	return n;
}

/* A state may be much larger than the one before it. */
TEST_DEV(durable, a_state_that_has_grown)
{
	static char buf[1 << 20];
	struct tb_query q;
	uint64_t state;
	ssize_t n;

	/* how large is a state with most events? */
	self->config.buffers = 64;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_LT(0, enable_most(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_LT(0, tb_select(self->fd, TB_SELECT_DISABLE, "all", 0));
	close(self->fd);
	self->fd = tb_open_as("durable", O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	/* the old state is still in the buffer when the new one must be written */
	state = q.durable_used;
	self->config.durable_kib = state / 1024 * 9 / 4;
	self->config.durable_max_kib = 3 * self->config.durable_kib;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, "sched_process_fork"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	for (WAIT(q.durable_used > state / 4)) {
		ASSERT_TRUE(begin_forking(50));
		ASSERT_STREAM(save_while_forking(self->fd, &self->s), &self->s);
		ASSERT_EQ(0, tb_query(self->fd, &q));
	}
	ASSERT_LT(0, enable_most(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	TH_LOG("%llu of %llu KiB used", (unsigned long long)q.durable_used / 1024,
	       (unsigned long long)q.durable_size / 1024);
	/* the recorder looks every ten seconds; the reader has saved all records by then */
	for (WAIT(self->s.inits > 1)) {
		n = read(self->fd, buf, sizeof(buf));
		if (n > 0)
			ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
		else
			ASSERT_EQ(EAGAIN, errno);
	}
	if (self->s.inits < 2)
		SKIP(return, "all records were recycled before a state was needed");
	/* without a reader a state is written as often as needed */
	close(self->fd);
	self->fd = tb_open_as("durable", O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(begin_forking(forks()));
	end_forking(false);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	TH_LOG("%llu of %llu KiB used", (unsigned long long)q.durable_used / 1024,
	       (unsigned long long)q.durable_size / 1024);
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	EXPECT_EQ(0, q.durable_lost);
}

/* read() has returned a part of a block: releasing later blocks does not free it. */
TEST_DEV(durable, half_read_stays)
{
	static char data[16384] __attribute__((aligned(8)));
	struct tb_block *block = (void *)data;
	struct tb_ref ref;
	ssize_t size;

	self->config.buffers = 64;
	self->config.durable_kib = 256;
	self->config.durable_max_kib = 512;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, "sched_process_fork"));
	TH_LOG("%d events more", enable_rare(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(100, read(self->fd, data, 100));
	ASSERT_EQ(TB_BLOCK_DURABLE, block->kind);
	size = 1l << block->size_log2;
	ASSERT_GE(sizeof(data), size);
	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
	ASSERT_EQ(TB_RING_DURABLE, ref.ring);
	ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	ASSERT_TRUE(fork_until_lost(self->fd));
	ASSERT_EQ(size - 100, read(self->fd, data + 100, size - 100));
	ASSERT_STREAM(stream_block(&self->s, data, size), &self->s);
	EXPECT_EQ(1, self->s.inits);
}

/* ---- growth ----------------------------------------------------------- */

static sigjmp_buf beyond;

static void on_bus(int signal)
{
	siglongjmp(beyond, 1);
}

TEST_DEV(durable, growth_shows_in_a_mapping)
{
	struct tb_query before, after;
	struct tb_ref ref;
	size_t bytes;
	uint8_t *map;
	struct names t;
	int n;

	ASSERT_TRUE(names_init(&t, &self->s));
	self->s.event = take_event;
	self->s.ctx = &t;
	/* one old event keeps all durable blocks */
	self->config.mode = TB_MODE_CIRCULAR;
	self->config.durable_kib = TB_DURABLE_KIB_MIN;
	self->config.durable_max_kib = 8192;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &before));
	map = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(before.map_bytes, bytes);
	EXPECT_LT(before.durable_size, before.durable_bytes);
	/* there is no memory beyond the size yet */
	signal(SIGBUS, on_bus);
	if (!sigsetjmp(beyond, 1)) {
		n = map[before.durable_offset + before.durable_size];
		EXPECT_TRUE(false) {
			TH_LOG("beyond the end there is %d", n);
		}
	}
	fire(0, 1);
	ASSERT_TRUE(begin_forking(5000));
	end_forking(false);
	ASSERT_EQ(0, tb_query(self->fd, &after));
	EXPECT_EQ(TB_STATE_RUNNING, after.state);
	EXPECT_LT(before.durable_size + 5000 * 128, after.durable_size);
	EXPECT_GE(after.durable_bytes, after.durable_size);
	EXPECT_EQ(before.map_bytes, after.map_bytes);
	EXPECT_EQ(0, after.durable_lost);
	ASSERT_EQ(0, tb_stop(self->fd));
	while ((n = tb_acquire(self->fd, &ref, 1, 0)) == 1) {
		ASSERT_STREAM(stream_block(&self->s, map + ref.offset, ref.bytes), &self->s);
		ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	}
	EXPECT_EQ(-ENODATA, n);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	/* each thread has started and ended */
	EXPECT_LT(2 * 5000, t.threads);
	EXPECT_EQ(0, self->s.durable_first);
	EXPECT_NAMES(&t);
	ASSERT_EQ(0, munmap(map, bytes));
	names_exit(&t);
}

/* ---- order ------------------------------------------------------------ */

/* Attaching many events takes long: records of threads leave room for their descriptions. */
TEST_DEV(durable, starts_while_threads_come_and_go)
{
	/* attaching all while both CPUs fork may take an emulated guest a minute */
	bool full = getenv("TRACEBUF_FULL");
	int i, starts = full ? 3 : 1;

	self->config.mode = TB_MODE_STREAMING;
	self->config.durable_kib = 256;
	self->config.durable_max_kib = 256;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	/* events that forking does not cause */
	ASSERT_LT(0, tb_enable(self->fd, "ext4"));
	ASSERT_LE(0, tb_enable(self->fd, "xen"));
	ASSERT_TRUE(begin_forking_on(UINT32_MAX / 4, full ? 2 : 1));
	for (i = 0; i < starts; i++) {
		EXPECT_EQ(0, tb_start(self->fd, 0));
		EXPECT_EQ(0, tb_stop(self->fd));
	}
	end_forking(true);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	EXPECT_LT(0, self->s.descs);
}

/* Each thread in a rolling block is described before that block. */
TEST_DEV(durable, told_before_seen)
{
	struct tb_ref ref;
	size_t bytes;
	uint8_t *map;
	struct names t;
	bool ended = false;
	int n;

	ASSERT_TRUE(names_init(&t, &self->s));
	self->s.event = take_event;
	self->s.ctx = &t;
	/* small blocks, so that many are complete just when a thread forks; none is overwritten */
	self->config.policy = TB_POLICY_DROP;
	self->config.buffers = TB_BUFFERS_MAX;
	self->config.elements = TB_BUFFER_ELEMENTS_MIN;
	ASSERT_EQ(0, configure(self->fd, &self->config));
	ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
	ASSERT_EQ(2, tb_enable(self->fd, "raw_syscalls"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	map = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_TRUE(begin_forking(forks() / 2));
	for (;;) {
		n = tb_acquire(self->fd, &ref, 1, 0);
		if (n == -ENODATA)
			break;
		ASSERT_LE(0, n);
		if (n) {
			ASSERT_STREAM(stream_block(&self->s, map + ref.offset, ref.bytes),
				      &self->s);
			ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
		}
		if (!ended && forking_done()) {
			ended = true;
			end_forking(false);
			ASSERT_EQ(0, tb_stop(self->fd));
		}
	}
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_NAMES(&t);
	EXPECT_LT(forks(), t.threads);
	ASSERT_EQ(0, munmap(map, bytes));
	names_exit(&t);
}

TEST_HARNESS_MAIN
