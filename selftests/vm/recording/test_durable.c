// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limits of the durable buffer while thousands of threads come and go: it grows, loses names
 * when it can grow no more, and stops the recording when it is full if the user asked for that. No
 * event is lost for the sake of names. If a test fails, a program that forks in a loop ruins a
 * recording. test_durable_long.c has what happens within the limits.
 */
#include <setjmp.h>
#include <sys/klog.h>
#include <sys/prctl.h>

#include "durable.h"

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
	ASSERT_TRUE(begin_forking_on(forks() / 2, 1));
	for (n = 0; n < 30000; n++) {
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
	ASSERT_TRUE(begin_forking(3000));
	end_forking(false);
	ASSERT_EQ(0, tb_query(self->fd, &after));
	EXPECT_EQ(TB_STATE_RUNNING, after.state);
	EXPECT_LT(before.durable_size + 3000 * 128, after.durable_size);
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
	EXPECT_LT(2 * 3000, t.threads);
	EXPECT_EQ(0, self->s.durable_first);
	EXPECT_NAMES(&t);
	ASSERT_EQ(0, munmap(map, bytes));
	names_exit(&t);
}

/* ---- start ------------------------------------------------------------ */

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

TEST_HARNESS_MAIN
