// SPDX-License-Identifier: GPL-2.0-only
/*
 * The save channel gives everything back when a manager has another version, goes away, or is too
 * slow, and serves one that waits or runs in several threads. If a test fails, a dead manager keeps
 * blocks or a provider, or losses are not counted.
 */
#include "manager.h"
#include "sleeper.h"
#include "tbtest.h"

DEVICE_FIXTURE(fifo_life)

/* ---- versions ----------------------------------------------------------- */

TEST_DEV(fifo_life, another_version_closes_it)
{
	struct tb_packet packet, wrong = { .request = TB_FIFO_STARTED };
	struct tb_query q;
	struct tb_stats st;
	struct tb_ref ref;
	int ch, other, rolling = 0;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	/* the right version, of another recording and of this one */
	wrong.data32 = TB_FIFO_VERSION;
	wrong.data64 = q.generation + 1;
	EXPECT_EQ(-EINVAL, put(ch, &wrong, 16));
	wrong.data64 = q.generation;
	EXPECT_EQ(16, put(ch, &wrong, 16));
	fire(0, 2 * PER_BLOCK);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	wrong.data32 = TB_FIFO_VERSION + 1;
	EXPECT_EQ(-EPROTO, put(ch, &wrong, 16));
	EXPECT_EQ(-EPROTO, put(ch, &wrong, 16));
	EXPECT_EQ(-EPROTO, answer(ch, packet));
	EXPECT_EQ(-1, read(ch, &packet, 16));
	EXPECT_EQ(EPROTO, errno);
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(ch));
	/* the session has all blocks again, and another channel can be opened */
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(2, st.ready);
	other = fifo_open(self->fd, 0);
	ASSERT_LE(0, other);
	ASSERT_STARTED(other);
	close(other);
	while (tb_acquire(self->fd, &ref, 1, 0) == 1) {
		rolling += ref.ring != TB_RING_DURABLE;
		ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	}
	EXPECT_EQ(2, rolling);
	close(ch);
}

/* ---- going away --------------------------------------------------------- */

TEST_DEV(fifo_life, closed_in_the_middle)
{
	struct tb_packet packet;
	struct tb_stats st;
	struct numbers n;
	uint32_t i;
	int ch;

	follow(&n, &self->s);
	ASSERT_EQ(0, record(self->fd, 0, 8));
	fire(0, 4 * PER_BLOCK);
	for (i = 0; i < 3; i++) {
		ch = fifo_open(self->fd, 0);
		ASSERT_LE(0, ch);
		ASSERT_STARTED(ch);
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		ASSERT_EQ(0, packet.data32);
		close(ch);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(0, st.held);
		ASSERT_EQ(4, st.ready);
	}
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(4 * PER_BLOCK, n.count);
	EXPECT_EQ(0, n.wrong);
}

TEST_DEV(fifo_life, session_closed_first)
{
	struct tb_packet packet;
	struct tb_query q;
	struct numbers n;
	int ch[2], fd;

	follow(&n, &self->s);
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 8, ELEMENTS));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE | TB_START_STOP_ON_CLOSE));
	ch[0] = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch[0]);
	ch[1] = fifo_open(self->fd, 1);
	ASSERT_LE(0, ch[1]);
	ASSERT_STARTED(ch[0]);
	fire(0, 3 * PER_BLOCK);
	ASSERT_PACKET(ch[0], &packet, TB_FIFO_SAVE_BUFFER);
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	ASSERT_EQ(0, tb_query(fd, &q));
	EXPECT_EQ(TB_STATE_STOPPED, q.state);
	EXPECT_EQ(0, q.reader);
	EXPECT_EQ(-EPIPE, answer(ch[0], packet));
	EXPECT_EQ(-1, read(ch[0], &packet, 16));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(-1, read(ch[1], &packet, 16));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(ch[0]));
	/* the next reader gets the offered block, and the rings */
	close(ch[0]);
	ch[0] = fifo_open(fd, 1);
	EXPECT_LE(0, ch[0]);
	close(ch[0]);
	ASSERT_STREAM(tb_drain(fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(3 * PER_BLOCK, n.count);
	EXPECT_EQ(0, n.wrong);
	close(ch[1]);
}

TEST_DEV(fifo_life, provider_removed_under_it)
{
	struct tb_provider_req r = { .op = TB_PROVIDER_CREATE, .name = "fifo-test" };
	struct tb_attach a = { .name = "fifo-test" };
	struct tb_packet packet;
	int ch, fd;

	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_PROVIDER, &r));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, TB_IOC_ATTACH, &a));
	ASSERT_EQ(0, tb_configure(fd, TB_MODE_STREAMING, 0, BUFFERS, ELEMENTS));
	ch = fifo_open(fd, 0);
	ASSERT_LE(0, ch);
	close(fd);
	r.op = TB_PROVIDER_DESTROY;
	r.id = 0;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_PROVIDER, &r));
	/* the channel keeps the provider's memory */
	EXPECT_EQ(-1, read(ch, &packet, 16));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(ch));
	close(ch);
}

TEST_DEV(fifo_life, dup_and_fork)
{
	struct tb_packet packet;
	struct tb_stats st;
	int ch, other, status;
	pid_t pid;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, 2 * PER_BLOCK);
	other = dup(ch);
	ASSERT_LE(0, other);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	close(ch);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(1, st.held);
	EXPECT_EQ(-EBUSY, fifo_open(self->fd, 0));
	/* a child answers, and keeps it open */
	pid = fork();
	if (!pid) {
		if (answer(other, packet) != 16 || get(other, &packet) || packet.data32 != 1)
			_exit(1);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	close(other);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* the channel ended with the child, and so did its offer */
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(1, st.ready);
	EXPECT_EQ(BLOCK, st.bytes);
	ch = fifo_open(self->fd, 0);
	EXPECT_LE(0, ch);
	close(ch);
}

/* ---- losing ------------------------------------------------------------- */

TEST_DEV(fifo_life, two_buffers_drop)
{
	struct tb_packet packet;
	uint32_t round, number, i;
	struct tb_stats st;
	struct manager m;
	struct numbers n;
	int ch;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, &self->s);
		tb_stop(self->fd);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_DROP, 2));
		ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
		ch = fifo_open(self->fd, 0);
		ASSERT_LE(0, ch);
		ASSERT_STARTED(ch);
		/* both buffers are full, and the first is not saved yet */
		fire(0, 2 * PER_BLOCK);
		number = 2 * PER_BLOCK;
		for (i = 1; i <= 10; i++) {
			ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
			ASSERT_EQ(i - 1, packet.data32);
			fire(number, i);
			number += i;
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
			ASSERT_ACCOUNTING(&st);
			ASSERT_EQ(0, st.overwritten);
			/* a tie of the clocks or a TIME element took room: repeat */
			if (st.attempted != number || st.dropped != i * (i + 1) / 2)
				break;
			ASSERT_TRUE(save(&m, 0, &packet)) {
				TH_LOG("%s", self->s.error);
			}
			ASSERT_EQ(16, answer(ch, packet));
			/* room for one block: its gap counts the lost events */
			fire(number, PER_BLOCK);
			number += PER_BLOCK;
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
			if (st.attempted != number)
				break;
			EXPECT_EQ(i * PER_BLOCK, st.delivered);
		}
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_STREAM(manager_finish(&m, ch), &self->s);
		close(ch);
		if (i > 10)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	ASSERT_ACCOUNTING(&st);
	EXPECT_EQ(55, st.dropped);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(12 * PER_BLOCK, st.delivered);
	EXPECT_EQ(12 * PER_BLOCK, n.count);
	EXPECT_EQ(55, self->s.ring[0].gap_dropped);
	EXPECT_EQ(10, self->s.ring[0].gaps);
	EXPECT_EQ(0, n.wrong);
	EXPECT_EQ(number, n.next);
}

TEST_DEV(fifo_life, two_buffers_overwrite)
{
	static char copy[BLOCK] __attribute__((aligned(8)));
	struct tb_packet packet;
	uint32_t round, laps = 50;
	struct tb_stats st;
	struct manager m;
	struct numbers n;
	int ch;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, &self->s);
		tb_stop(self->fd);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_OVERWRITE, 2));
		ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
		ch = fifo_open(self->fd, 0);
		ASSERT_LE(0, ch);
		ASSERT_STARTED(ch);
		fire(0, PER_BLOCK);
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		memcpy(copy, offered(m.map, &m.q, 0, 0), BLOCK);
		/* the writer fills the other buffer over and over */
		fire(PER_BLOCK, laps * PER_BLOCK);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_ACCOUNTING(&st);
		EXPECT_EQ(0, memcmp(copy, offered(m.map, &m.q, 0, 0), BLOCK));
		EXPECT_EQ(1, st.held);
		EXPECT_EQ(0, st.dropped);
		ASSERT_TRUE(save(&m, 0, &packet)) {
			TH_LOG("%s", self->s.error);
		}
		ASSERT_EQ(16, answer(ch, packet));
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_STREAM(manager_finish(&m, ch), &self->s);
		close(ch);
		/* repeat if a tie of the clocks or a TIME element took the place of an event */
		if (st.attempted == (laps + 1) * PER_BLOCK &&
		    ((struct tb_block *)copy)->time_start >> 32 == self->s.ring[0].last_time >> 32)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ((laps - 1) * PER_BLOCK, st.overwritten);
	EXPECT_EQ(2 * PER_BLOCK, n.count);
	EXPECT_EQ((laps + 1) * PER_BLOCK, n.next);
	EXPECT_EQ(1, self->s.ring[0].gaps);
	EXPECT_EQ(0, n.wrong);
}

TEST_DEV(fifo_life, never_answered)
{
	struct tb_packet packet;
	struct tb_stats st;
	int ch, fd;

	ASSERT_EQ(0, record(self->fd, TB_POLICY_OVERWRITE, BUFFERS));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, PER_BLOCK);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	fire(PER_BLOCK, 1000);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_TRUE(nothing(ch));
	EXPECT_EQ(0, tb_poll(ch) & POLLHUP);
	EXPECT_EQ(-EBUSY, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	ASSERT_ACCOUNTING(&st);
	EXPECT_EQ(0, st.delivered);
	EXPECT_EQ(1, st.held);
	/* the end of the session releases the offered block */
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	EXPECT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	close(ch);
}

/* ---- waiting, and many at once ------------------------------------------ */

static void no_action(int sig)
{
}

TEST_DEV(fifo_life, sleeps_until_there_is_something)
{
	struct sigaction act = { .sa_handler = no_action };
	static struct sleeper r;
	const struct tb_packet *told = (void *)r.buf;
	struct tb_packet packet;
	int ch, i, fd;

	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	/* woken by a start */
	ASSERT_TRUE(sleeper_start(&r, ch));
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_TRUE(sleeper_done(&r));
	ASSERT_EQ(16, r.n);
	EXPECT_EQ(TB_FIFO_STARTED, told->request);
	/* woken by a block at its watermark */
	ASSERT_TRUE(sleeper_start(&r, ch));
	for (i = 0; i < PER_BLOCK; i++)
		fire(i, 1);
	ASSERT_TRUE(sleeper_done(&r));
	ASSERT_EQ(16, r.n);
	EXPECT_EQ(TB_FIFO_SAVE_BUFFER, told->request);
	packet = *told;
	/* woken by the answer, because another block is complete */
	fire(PER_BLOCK, 2 * PER_BLOCK);
	ASSERT_TRUE(sleeper_start(&r, ch));
	ASSERT_EQ(16, answer(ch, packet));
	ASSERT_TRUE(sleeper_done(&r));
	ASSERT_EQ(16, r.n);
	EXPECT_EQ(TB_FIFO_SAVE_BUFFER, told->request);
	/* woken by a signal */
	ASSERT_TRUE(sleeper_start(&r, ch));
	ASSERT_EQ(0, pthread_kill(r.thread, SIGUSR1));
	ASSERT_TRUE(sleeper_done(&r));
	EXPECT_EQ(-1, r.n);
	EXPECT_EQ(EINTR, r.err);
	/* woken by the end of the session */
	ASSERT_TRUE(sleeper_start(&r, ch));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	ASSERT_TRUE(sleeper_done(&r));
	EXPECT_EQ(-1, r.n);
	EXPECT_EQ(EPIPE, r.err);
	close(ch);
}

/* Two threads share a channel: one answers each offer, one sends wrong answers. */
struct crowd {
	int ch;
	uint32_t saved, started, stopped, refused, wrong;
	bool end;
};

static void *answers_all(void *arg)
{
	struct crowd *c = arg;
	struct tb_packet packet;
	int ret;

	pin(1);
	while (!__atomic_load_n(&c->end, __ATOMIC_ACQUIRE)) {
		struct pollfd p = { .fd = c->ch, .events = POLLIN };

		if (poll(&p, 1, 10) != 1 || !(p.revents & POLLIN))
			continue;
		ret = get(c->ch, &packet);
		if (ret == -EAGAIN)
			continue;
		if (ret)
			c->wrong++;
		else if (packet.request == TB_FIFO_SAVE_BUFFER && answer(c->ch, packet) == 16)
			c->saved++;
		else if (packet.request == TB_FIFO_STARTED)
			c->started++;
		else if (packet.request == TB_FIFO_STOPPED)
			c->stopped++;
		else
			c->wrong++;
	}
	return NULL;
}

static void *answers_nonsense(void *arg)
{
	struct tb_packet packet = { .request = TB_FIFO_BUFFER_SAVED, .data64 = 1 };
	struct crowd *c = arg;

	pin(1);
	while (!__atomic_load_n(&c->end, __ATOMIC_ACQUIRE)) {
		packet.data32++;
		if (put(c->ch, &packet, 16) == -EINVAL)
			c->refused++;
		else
			c->wrong++;
	}
	return NULL;
}

TEST_DEV(fifo_life, all_at_once)
{
	pthread_t thread[2];
	struct tb_stats st = { 0 };
	struct crowd c = { 0 };
	uint32_t i;

	c.ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, c.ch);
	ASSERT_EQ(0, fcntl(c.ch, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, answers_all, &c));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, answers_nonsense, &c));
	for (i = 0; i < 10; i++) {
		for (WAIT(!tb_configure(self->fd, TB_MODE_STREAMING, 0, BUFFERS, ELEMENTS)))
			;
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		fire(0, 500);
		ASSERT_EQ(0, tb_stop(self->fd));
		/* the manager saves all blocks that were not overwritten */
		st.pending = 1;
		for (WAIT(!st.pending))
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(0, st.pending);
		ASSERT_ACCOUNTING(&st);
		for (WAIT(__atomic_load_n(&c.stopped, __ATOMIC_RELAXED) > i))
			;
	}
	__atomic_store_n(&c.end, true, __ATOMIC_RELEASE);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	EXPECT_EQ(0, c.wrong);
	EXPECT_EQ(10, c.started);
	EXPECT_EQ(10, c.stopped);
	EXPECT_LE(10, c.saved);
	EXPECT_LT(0, c.refused);
	close(c.ch);
}

TEST_HARNESS_MAIN
