// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording has the events between its start and its stop, and no others; it ends with its
 * program if the program asked for that, and begins with the threads that exist. If a test fails, a
 * recording goes on after its program has died, or has events of the recording before.
 */
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "tbtest.h"

#define PER_BLOCK	((1024 - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)

DEVICE_FIXTURE(control)

struct fired {
	struct stream *s;
	uint32_t count;
};

static void see_fired(void *ctx, const struct stream_event *e)
{
	struct fired *f = ctx;
	uint32_t number;

	f->count += is_fired(f->s, e, &number);
}

TEST_DEV(control, states)
{
	EXPECT_EQ(TB_STATE_IDLE, tb_state(self->fd));
	EXPECT_EQ(-EINVAL, tb_stop(self->fd));
	EXPECT_EQ(0, tb_start(self->fd, 0));
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
	EXPECT_EQ(-EBUSY, tb_start(self->fd, 0));
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, 0, 0, 0, 0));
	EXPECT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(self->fd));
	EXPECT_EQ(-EINVAL, tb_stop(self->fd));
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, 0, 0));
	EXPECT_EQ(TB_STATE_IDLE, tb_state(self->fd));
}

TEST_DEV(control, query_tells_the_configuration)
{
	struct tb_config c = { .mode = TB_MODE_CIRCULAR, .policy = TB_POLICY_OVERWRITE,
			       .buffers = 5, .elements = 512, .watermark = 33,
			       .clock = TB_CLOCK_MONO, .durable_kib = 128, .flush_ms = 77 };
	struct tb_query q;

	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_ABI_VERSION, q.abi);
	EXPECT_EQ(TB_MODE_STREAMING, q.mode);
	EXPECT_EQ(TB_POLICY_OVERWRITE, q.policy);
	EXPECT_EQ(32, q.buffers);
	EXPECT_EQ(1024, q.elements);
	EXPECT_EQ(70, q.watermark);
	EXPECT_EQ(0, q.nr_enabled);
	EXPECT_EQ(0, q.reader);
	EXPECT_LT(50, q.nr_events);
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(c.mode, q.mode);
	EXPECT_EQ(c.policy, q.policy);
	EXPECT_EQ(c.buffers, q.buffers);
	EXPECT_EQ(c.elements, q.elements);
	EXPECT_EQ(c.watermark, q.watermark);
	EXPECT_EQ(c.clock, q.clock);
	EXPECT_EQ(c.flush_ms, q.flush_ms);
	EXPECT_EQ(1000000000, q.frequency);
	EXPECT_EQ(512 * 16, q.buffer_bytes);
	EXPECT_LE(128 * 1024, q.durable_bytes);
}

TEST_DEV(control, restart_begins_anew)
{
	struct fired f = { .s = &self->s };
	uint64_t generation = 0;
	int round;

	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	for (round = 0; round < 3; round++) {
		stream_free(&self->s);
		f.count = 0;
		self->s.event = see_fired;
		self->s.ctx = &f;
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		fire(0, 10 + round);
		ASSERT_EQ(0, tb_stop(self->fd));
		/* the second recording is never read: the next start discards it */
		if (round == 1)
			continue;
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		EXPECT_EQ(10 + round, f.count);
		EXPECT_LT(generation, self->s.init.generation);
		if (round)
			EXPECT_EQ(generation + 2, self->s.init.generation);
		generation = self->s.init.generation;
	}
}

TEST_DEV(control, nothing_is_recorded_when_stopped)
{
	struct tb_stats before, after;

	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	fire(0, 10);
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &before));
	EXPECT_EQ(0, before.attempted);
	fire(0, 10);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &before));
	EXPECT_LE(10, before.attempted);
	fire(0, 10);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &after));
	EXPECT_EQ(before.attempted, after.attempted);
}

TEST_DEV(control, configure_discards)
{
	struct tb_stats st;

	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 10);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 0, 0));
	EXPECT_EQ(0, tb_poll(self->fd));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(0, st.attempted);
	EXPECT_EQ(0, st.pending);
}

TEST_DEV(control, stop_on_close)
{
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_start(fd, TB_START_STOP_ON_CLOSE));
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
	close(fd);
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
}

TEST_DEV(control, stop_on_close_when_killed)
{
	int status, pipes[2];
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int fd = tb_open(0);

		if (tb_start(fd, TB_START_STOP_ON_CLOSE) || write(pipes[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(self->fd));
}

TEST_DEV(control, without_stop_on_close_it_goes_on)
{
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_start(fd, 0));
	close(fd);
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
}

/* Stop on close is for one recording: a stop and another start end it. */
TEST_DEV(control, stop_on_close_is_for_that_recording)
{
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_start(fd, TB_START_STOP_ON_CLOSE));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	close(fd);
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
}

/* ---- flush ------------------------------------------------------------ */

TEST_DEV(control, flush_hands_over_what_there_is)
{
	char buf[16384];
	struct tb_block *b = (void *)buf;

	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	/* nothing was recorded: no block */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
	fire(0, 3);
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	ASSERT_EQ(0, tb_flush(self->fd, 0));
	ASSERT_EQ(sizeof(buf), read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(3, b->events);
	EXPECT_EQ(TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED, b->flags);
	EXPECT_EQ((TB_BLOCK_FIRST_ELEMENT + 3 * FIRE_ELEMENTS) * 16, b->data);
	/* a second flush makes no empty blocks */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_DEV(control, flush_of_a_cpu_that_cannot_be)
{
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(-EINVAL, tb_flush(self->fd, -2));
	EXPECT_EQ(-EINVAL, tb_flush(self->fd, 4096));
	EXPECT_EQ(-EINVAL, tb_flush(self->fd, 0x7fffffff));
}

TEST_DEV(control, flush_when_idle_or_stopped_is_harmless)
{
	EXPECT_EQ(0, tb_flush(self->fd, -1));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, tb_flush(self->fd, -1));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
}

/* ---- the state dump --------------------------------------------------- */

struct dump {
	bool self, init, kthreadd, swapper, thread;
	pid_t tid;
	uint32_t count, wrong;
};

static void see_dump(void *ctx, const struct stream_event *e)
{
	struct dump *d = ctx;
	struct tb_thread t;

	if (e->id != TB_EV_THREAD || !e->durable)
		return;
	memcpy(&t, e->payload, sizeof(t));
	d->count++;
	d->wrong += !(t.flags & TB_THREAD_DUMP) || !memchr(t.comm, 0, sizeof(t.comm)) ||
		    t.prio > 140;
	if (t.tid == (uint32_t)getpid()) {
		d->self = true;
		d->wrong += t.tgid != t.tid || t.parent != (uint32_t)getppid() ||
			    t.flags & TB_THREAD_KERNEL || strcmp(t.comm, "my own name");
	} else if (t.tid == (uint32_t)d->tid) {
		d->thread = true;
		d->wrong += t.tgid != (uint32_t)getpid();
	} else if (t.tid == 1) {
		d->init = true;
		d->wrong += t.tgid != 1 || t.parent != 0 || t.flags & TB_THREAD_KERNEL ||
			    t.uid != 0;
	} else if (t.tid == 2) {
		d->kthreadd = true;
		d->wrong += !(t.flags & TB_THREAD_KERNEL) || strcmp(t.comm, "kthreadd");
	} else if (t.tid == 0) {
		d->swapper = true;
		d->wrong += !(t.flags & TB_THREAD_KERNEL);
	}
}

static pid_t other_tid;

static void *other_thread(void *arg)
{
	__atomic_store_n(&other_tid, gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

TEST_DEV(control, start_tells_the_threads)
{
	struct dump d = { 0 };
	pthread_t thread;

	ASSERT_EQ(0, prctl(PR_SET_NAME, "my own name"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, NULL));
	for (WAIT(d.tid))
		d.tid = __atomic_load_n(&other_tid, __ATOMIC_ACQUIRE);
	ASSERT_NE(0, d.tid);
	self->s.event = see_dump;
	self->s.ctx = &d;
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(TB_INIT_STATE_DUMP | TB_INIT_ALL_CPUS,
		  self->s.init.flags & (TB_INIT_STATE_DUMP | TB_INIT_ALL_CPUS));
	EXPECT_TRUE(d.self);
	EXPECT_TRUE(d.thread);
	EXPECT_TRUE(d.init);
	EXPECT_TRUE(d.kthreadd);
	EXPECT_TRUE(d.swapper);
	EXPECT_EQ(0, d.wrong);
	EXPECT_LT(10, d.count);
}

TEST_DEV(control, start_without_the_threads)
{
	struct dump d = { 0 };

	self->s.event = see_dump;
	self->s.ctx = &d;
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, self->s.init.flags & TB_INIT_STATE_DUMP);
	EXPECT_EQ(0, d.count);
}

TEST_DEV(control, a_CPU_is_left_out)
{
	uint8_t first = 1;
	struct tb_config c = { .cpus = (uintptr_t)&first, .cpus_bytes = 1 };

	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, self->s.init.flags & TB_INIT_ALL_CPUS);
}

TEST_DEV(control, init_and_clocks)
{
	struct utsname host;
	struct tb_query q;
	char release[64];
	FILE *f;

	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	EXPECT_EQ(q.clock, self->s.init.clock);
	EXPECT_EQ(q.frequency, self->s.init.frequency);
	EXPECT_EQ(q.generation, self->s.init.generation);
	EXPECT_EQ(q.nr_cpus, self->s.init.nr_cpus);
	EXPECT_EQ(q.buffers, self->s.init.buffers);
	EXPECT_EQ(q.elements, self->s.init.elements);
	EXPECT_EQ(sysconf(_SC_PAGESIZE), self->s.init.page_size);
	EXPECT_STREQ("kernel", self->s.init.provider);
	ASSERT_EQ(0, uname(&host));
	EXPECT_STREQ(host.machine, self->s.init.machine);
	f = fopen("/proc/sys/kernel/osrelease", "r");
	ASSERT_NE(NULL, f);
	ASSERT_EQ(1, fscanf(f, "%63s", release));
	fclose(f);
	EXPECT_STREQ(release, self->s.init.release);
	/* a tie at the start, and one at the stop */
	EXPECT_EQ(2, self->s.clocks);
	/* at least softirqs have names */
	EXPECT_LE(10, self->s.strings);
}

TEST_DEV(control, durable_buffer_too_small_is_ENOSPC)
{
	struct tb_config c = { .durable_kib = 64, .durable_max_kib = 64 };
	int status;
	pid_t pid;

	/* more threads than fit */
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	pid = crowd(1500);
	ASSERT_LT(0, pid);
	EXPECT_EQ(-ENOSPC, tb_start(self->fd, 0));
	EXPECT_NE(TB_STATE_RUNNING, tb_state(self->fd));
	/* without their records there is room */
	EXPECT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
}

TEST_HARNESS_MAIN
