// SPDX-License-Identifier: GPL-2.0-only
/*
 * The durable buffer during a long recording, while thousands of threads come and go: it starts
 * over and is recycled, and a thread is described before each rolling block that has it. If a test
 * fails, traces have threads without names.
 */
#include <sys/prctl.h>

#include "durable.h"

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
	for (round = 0; round < 3 || (!recycled && round < 12); round++) {
		ASSERT_TRUE(names_init(&t, &self->s));
		self->s.event = take_event;
		self->s.ctx = &t;
		ASSERT_EQ(0, tb_start(self->fd, 0));
		ASSERT_TRUE(begin_forking(forks() / 2 + 1200 * round));
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
		ASSERT_TRUE(begin_forking(2000));
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
