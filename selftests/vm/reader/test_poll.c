// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll() on /dev/tracebuf: rings are readable from the watermark on and not before, complete blocks
 * are readable, a recording ends with a hangup, and sleeping pollers are woken. If a test fails, a
 * recorder wakes too often, sleeps through data, or never ends.
 */
#include "tbtest.h"

#define BUFFERS		8
#define ELEMENTS	64
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define READABLE	(POLLIN)

DEVICE_FIXTURE(poll)

static int record(int fd, uint32_t mode, uint32_t watermark)
{
	struct tb_config c = { .mode = mode, .buffers = BUFFERS, .elements = ELEMENTS,
			       .watermark = watermark };

	if (ioctl(fd, TB_IOC_CONFIGURE, &c))
		return -errno;
	if (tb_enable(fd, FIRE_EVENT) != 1)
		return -ENOENT;
	return tb_start(fd, TB_START_NO_STATE);
}

TEST_DEV(poll, idle_is_nothing)
{
	EXPECT_EQ(0, tb_poll(self->fd));
}

TEST_DEV(poll, durable_blocks_are_readable)
{
	ASSERT_EQ(0, record(self->fd, 0, 0));
	EXPECT_EQ(READABLE, tb_poll(self->fd));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	EXPECT_EQ(0, tb_poll(self->fd));
}

/* Fires one event at a time: readable exactly from the watermark on. */
static void to_the_mark(struct __test_metadata *_metadata, int fd, uint32_t watermark)
{
	uint32_t mark = ELEMENTS * (watermark ?: 70) / 100, below = 0, above = 0;
	struct tb_stats st;
	int i;

	ASSERT_EQ(0, record(fd, TB_MODE_STREAMING, watermark));
	ASSERT_LT(0, tb_skip_durable(fd));
	for (i = 0; i < PER_BLOCK; i++) {
		ASSERT_EQ(0, tb_stats(fd, 0, &st));
		ASSERT_EQ(i ? TB_BLOCK_FIRST_ELEMENT + i * FIRE_ELEMENTS : ELEMENTS, st.fill);
		if (i && st.fill >= mark) {
			ASSERT_EQ(READABLE, tb_poll(fd));
			ASSERT_EQ(1, st.marks);
			above++;
		} else {
			ASSERT_EQ(0, tb_poll(fd));
			ASSERT_EQ(0, st.marks);
			below++;
		}
		fire(i, 1);
	}
	EXPECT_LT(0, below);
	if (mark < ELEMENTS)
		EXPECT_LT(0, above);
	/* full to the last element: complete without a later event */
	ASSERT_EQ(0, tb_stats(fd, 0, &st));
	EXPECT_EQ(1, st.ready);
	EXPECT_EQ(READABLE, tb_poll(fd));
}

TEST_DEV(poll, readable_at_70_percent)
{
	to_the_mark(_metadata, self->fd, 0);
}

TEST_DEV(poll, readable_at_50_percent)
{
	to_the_mark(_metadata, self->fd, 50);
}

TEST_DEV(poll, readable_at_100_percent)
{
	to_the_mark(_metadata, self->fd, 100);
}

TEST_DEV(poll, past_the_mark_a_block_can_be_taken)
{
	char buf[ELEMENTS * TB_ELEMENT_SIZE];
	struct tb_block *b = (void *)buf;

	ASSERT_EQ(0, record(self->fd, TB_MODE_STREAMING, 50));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	fire(0, 8);
	ASSERT_EQ(READABLE, tb_poll(self->fd));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(sizeof(buf), read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(8, b->events);
	EXPECT_EQ(TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED, b->flags);
	EXPECT_EQ(0, tb_poll(self->fd));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_DEV(poll, flush_makes_readable)
{
	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	fire(0, 1);
	ASSERT_EQ(0, tb_poll(self->fd));
	ASSERT_EQ(0, tb_flush(self->fd, 1));
	ASSERT_EQ(0, tb_poll(self->fd));
	ASSERT_EQ(0, tb_flush(self->fd, 0));
	EXPECT_EQ(READABLE, tb_poll(self->fd));
}

TEST_DEV(poll, circular_is_not_readable_before_stop)
{
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	fire(0, 5 * PER_BLOCK);
	EXPECT_EQ(0, tb_poll(self->fd));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(READABLE, tb_poll(self->fd));
}

TEST_DEV(poll, hangs_up_when_stopped_and_drained)
{
	ASSERT_EQ(0, record(self->fd, 0, 0));
	fire(0, 3 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(READABLE, tb_poll(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(POLLHUP, tb_poll(self->fd));
	/* a new recording is readable again */
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(READABLE, tb_poll(self->fd));
}

TEST_DEV(poll, is_an_error_for_a_second_reader)
{
	struct tb_ref ref;
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
	EXPECT_EQ(POLLERR, tb_poll(fd));
	close(self->fd);
	self->fd = fd;
	EXPECT_EQ(READABLE, tb_poll(fd));
}

/* ---- a thread that sleeps in poll() ----------------------------------- */

struct poller {
	pthread_t thread;
	int fd;
	pid_t tid;
	int revents;
	uint64_t attempted;	/* on CPU 0, when it was woken */
	bool done;
};

static void *poller_main(void *arg)
{
	struct poller *p = arg;
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	struct tb_stats st;

	__atomic_store_n(&p->tid, gettid(), __ATOMIC_RELEASE);
	p->revents = poll(&pfd, 1, -1) == 1 ? pfd.revents : -1;
	tb_stats(p->fd, 0, &st);
	p->attempted = st.attempted;
	__atomic_store_n(&p->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The poller may be asleep on return, or woken already. */
static bool poller_begin(struct poller *p, int fd)
{
	*p = (struct poller){ .fd = fd };
	if (pthread_create(&p->thread, NULL, poller_main, p))
		return false;
	for (WAIT(__atomic_load_n(&p->tid, __ATOMIC_ACQUIRE)))
		;
	return p->tid;
}

static bool poller_start(struct poller *p, int fd)
{
	return poller_begin(p, fd) && wait_asleep(p->tid) && !p->done;
}

static int poller_result(struct poller *p)
{
	bool done = false;

	for (WAIT(done))
		done = __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
	if (!done)
		return -ETIMEDOUT;
	pthread_join(p->thread, NULL);
	return p->revents;
}

/* Several times: each poll() asks anew to be woken. */
TEST_DEV(poll, sleeper_is_woken_at_the_mark)
{
	int i, round, late = 0;
	struct tb_stats st;
	struct poller p;
	char buf[16384];

	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	for (round = 0; round < 5; round++) {
		ASSERT_TRUE(poller_start(&p, self->fd));
		/* to the watermark and no further */
		for (i = 0; i < PER_BLOCK && !tb_poll(self->fd); i++)
			fire(i, 1);
		ASSERT_GT(PER_BLOCK, i);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(READABLE, poller_result(&p));
		/* woken by the watermark, or by the tie of the clocks every ten seconds? */
		late += p.attempted > st.attempted;
		ASSERT_LT(0, read(self->fd, buf, sizeof(buf)));
		ASSERT_EQ(0, tb_poll(self->fd));
	}
	EXPECT_GT(3, late);
}

TEST_DEV(poll, sleeper_is_woken_from_another_cpu)
{
	struct poller p;
	int i;

	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(poller_start(&p, self->fd));
	ASSERT_EQ(0, pin(1));
	for (i = 0; i < PER_BLOCK; i++)
		fire(i, 1);
	EXPECT_EQ(READABLE, poller_result(&p));
}

TEST_DEV(poll, sleeper_is_woken_by_a_flush)
{
	struct poller p;

	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	fire(0, 1);
	ASSERT_TRUE(poller_start(&p, self->fd));
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(READABLE, poller_result(&p));
}

TEST_DEV(poll, sleeper_is_woken_by_start)
{
	struct poller p;

	ASSERT_TRUE(poller_start(&p, self->fd));
	ASSERT_EQ(0, record(self->fd, 0, 0));
	EXPECT_EQ(READABLE, poller_result(&p));
}

TEST_DEV(poll, sleeper_is_woken_by_stop)
{
	struct poller p;

	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(poller_start(&p, self->fd));
	ASSERT_EQ(0, tb_stop(self->fd));
	/* stop writes the totals */
	EXPECT_EQ(READABLE, poller_result(&p));
}

TEST_DEV(poll, sleeper_is_woken_by_an_enabling)
{
	struct poller p;

	ASSERT_EQ(0, record(self->fd, 0, 0));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(poller_start(&p, self->fd));
	/* the description of the event is in a durable block */
	ASSERT_EQ(1, tb_enable(self->fd, "signal:signal_deliver"));
	EXPECT_EQ(READABLE, poller_result(&p));
}

TEST_DEV(poll, flush_ms_wakes_by_itself)
{
	struct tb_config c = { .flush_ms = 20 };
	struct tb_ref ref;
	struct poller p;

	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	/* before the first event, so that no block of a ring is flushed among them */
	ASSERT_LT(0, tb_skip_durable(self->fd));
	/* the record of the new thread may wake the poller at once */
	ASSERT_TRUE(poller_begin(&p, self->fd));
	fire(0, 1);
	EXPECT_EQ(READABLE, poller_result(&p));
	/* the record of the poller's thread comes first */
	do {
		ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
		EXPECT_EQ(1, tb_release(self->fd, &ref, 1));
	} while (ref.ring == TB_RING_DURABLE);
	EXPECT_EQ(0, ref.ring);
}

TEST_HARNESS_MAIN
