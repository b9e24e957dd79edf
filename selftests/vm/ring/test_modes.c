// SPDX-License-Identifier: GPL-2.0-only
/*
 * A oneshot ring records until it is full, counts later events, and gives its blocks to readers
 * only at the end. If a test fails, the beginning of a boot or a benchmark is lost, or losses are
 * not counted. Tests of the other modes are in test_loss.c and others.
 *
 * Events are numbered (fire()). The kernel also records a tie of the clocks: a round in which
 * anything else was recorded on this CPU is repeated.
 */
#include "tbtest.h"

#define ELEMENTS	64
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define ROUNDS		5

DEVICE_FIXTURE(modes)

static int oneshot(int fd, uint32_t buffers)
{
	int ret = tb_configure(fd, TB_MODE_ONESHOT, 0, buffers, ELEMENTS);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

/* Numbers from 0 on without a gap, on CPU 0. */
struct numbers {
	const struct stream *s;
	uint32_t next, wrong, threads;
};

static void see(void *ctx, const struct stream_event *e)
{
	struct numbers *n = ctx;
	uint32_t number;

	n->threads += !e->durable && e->id == TB_EV_THREAD;
	if (is_fired(n->s, e, &number))
		n->wrong += e->cpu != 0 || number != n->next++;
}

static void follow(struct numbers *n, struct stream *s)
{
	stream_free(s);
	*n = (struct numbers){ .s = s };
	s->event = see;
	s->ctx = n;
}

static void exact(struct __test_metadata *_metadata, int fd, struct stream *s, uint32_t buffers,
		  uint32_t count)
{
	uint32_t room = buffers * PER_BLOCK, kept = count < room ? count : room, round;
	struct tb_stats st, end;
	struct tb_query q, after;
	struct numbers n;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, s);
		ASSERT_EQ(0, oneshot(fd, buffers));
		fire(0, count);
		ASSERT_EQ(0, tb_stats(fd, 0, &st));
		ASSERT_EQ(0, tb_query(fd, &q));
		/* nothing more is recorded, and everything is counted */
		fire(count, 10);
		ASSERT_EQ(0, tb_stats(fd, 0, &end));
		ASSERT_EQ(0, tb_stop(fd));
		ASSERT_EQ(0, tb_query(fd, &after));
		ASSERT_STREAM(tb_drain(fd, s), s);
		ASSERT_STREAM(stream_finish(s), s);
		if (st.attempted == count && end.attempted == count + 10)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ(TB_MODE_ONESHOT, s->init.mode);
	EXPECT_EQ(TB_POLICY_DROP, s->init.policy);
	EXPECT_EQ(kept, st.recorded);
	EXPECT_EQ(count - kept, st.dropped);
	EXPECT_EQ(kept, st.pending);
	EXPECT_EQ(0, n.wrong);
	if (count < room)
		return;
	EXPECT_EQ(room, n.next);
	EXPECT_EQ(buffers, st.ready);
	EXPECT_EQ(1, q.full);
	EXPECT_LE(1, after.full);
	EXPECT_EQ(count - room + 10, end.dropped);
	EXPECT_EQ(room, end.recorded);
	EXPECT_EQ(count - room + 10, s->ring[0].totals.dropped);
	EXPECT_EQ(count + 10, s->ring[0].totals.attempted);
	EXPECT_EQ(0, s->ring[0].totals.overwritten);
	EXPECT_EQ(buffers, s->ring[0].totals.blocks);
	EXPECT_EQ(0, s->ring[0].gaps);
}

TEST_DEV(modes, oneshot_of_one_buffer)
{
	exact(_metadata, self->fd, &self->s, 1, 500);
}

TEST_DEV(modes, oneshot_of_several)
{
	exact(_metadata, self->fd, &self->s, 2, 500);
	exact(_metadata, self->fd, &self->s, 33, 1000);
}

/* Full to the last element, without a loss. */
TEST_DEV(modes, oneshot_just_full)
{
	exact(_metadata, self->fd, &self->s, 1, PER_BLOCK);
	exact(_metadata, self->fd, &self->s, 3, 3 * PER_BLOCK);
}

TEST_DEV(modes, oneshot_not_full)
{
	struct tb_query q;
	uint32_t round;
	struct numbers n;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, &self->s);
		ASSERT_EQ(0, oneshot(self->fd, 1));
		fire(0, PER_BLOCK - 1);
		ASSERT_EQ(0, tb_query(self->fd, &q));
		EXPECT_EQ(0, q.full);
		ASSERT_EQ(0, tb_stop(self->fd));
		/* the stop has closed the buffer, which is not full */
		ASSERT_EQ(0, tb_query(self->fd, &q));
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		if (self->s.ring[0].totals.attempted == PER_BLOCK - 1)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ(0, q.full);
	EXPECT_EQ(PER_BLOCK - 1, n.next);
	EXPECT_EQ(0, self->s.ring[0].totals.dropped);
}

/* Before the stop no reader gets a block, and a flush closes none. */
TEST_DEV(modes, oneshot_is_read_when_stopped)
{
	struct tb_ref refs[8];
	uint32_t round, flags;
	struct tb_stats st;
	struct numbers n;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, &self->s);
		ASSERT_EQ(0, oneshot(self->fd, 2));
		ASSERT_LT(0, tb_skip_durable(self->fd));
		fire(0, 3);
		for (flags = 0; flags < 4; flags++)
			EXPECT_EQ(0, tb_acquire(self->fd, refs, 8, flags));
		EXPECT_EQ(0, tb_flush(self->fd, -1));
		fire(3, 3);
		EXPECT_EQ(0, tb_flush(self->fd, 0));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		EXPECT_EQ(1, st.blocks);
		EXPECT_EQ(0, st.ready);
		fire(6, 2 * PER_BLOCK);
		for (flags = 0; flags < 4; flags++)
			EXPECT_EQ(0, tb_acquire(self->fd, refs, 8, flags));
		EXPECT_EQ(0, tb_poll(self->fd));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		EXPECT_EQ(2, st.ready);
		EXPECT_EQ(0, st.held);
		ASSERT_EQ(0, tb_stop(self->fd));
		EXPECT_EQ(POLLIN, tb_poll(self->fd) & POLLIN);
		/* another reader gets everything */
		close(self->fd);
		self->fd = tb_open(0);
		ASSERT_LE(0, self->fd);
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		if (st.attempted == 6 + 2 * PER_BLOCK)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ(2 * PER_BLOCK, n.next);
	EXPECT_EQ(0, n.wrong);
	EXPECT_EQ(6, st.dropped);
}

/* Forking takes no room from events. */
TEST_DEV(modes, oneshot_has_no_threads_in_the_ring)
{
	struct numbers n;
	int i;

	follow(&n, &self->s);
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_ONESHOT, 0, 8, ELEMENTS));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		ASSERT_LT(0, pid);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	/* each starts and exits */
	EXPECT_LE(6, self->s.threads);
	EXPECT_EQ(0, n.threads);
}

TEST_DEV(modes, oneshot_under_load)
{
	uint64_t dropped = 0, last[2] = { 0 };
	struct tb_query q = { 0 };
	struct tb_stats st;
	uint32_t cpu;
	pid_t pid;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_ONESHOT, 0, 3, ELEMENTS));
	ASSERT_LT(0, tb_enable(self->fd, "all"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (WAIT(q.full == q.nr_cpus && dropped > 1000)) {
		pid = fork();
		if (!pid)
			_exit(0);
		ASSERT_LT(0, pid);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		ASSERT_EQ(0, tb_query(self->fd, &q));
		dropped = 0;
		for (cpu = 0; cpu < q.nr_cpus && cpu < 2; cpu++) {
			ASSERT_EQ(0, tb_stats(self->fd, cpu, &st));
			EXPECT_EQ(st.attempted, st.recorded + st.dropped);
			EXPECT_LE(last[cpu], st.dropped);
			last[cpu] = st.dropped;
			dropped += st.dropped;
		}
	}
	EXPECT_EQ(q.nr_cpus, q.full);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	for (cpu = 0; cpu < q.nr_cpus; cpu++) {
		EXPECT_EQ(3, self->s.ring[cpu].totals.blocks);
		EXPECT_EQ(self->s.ring[cpu].events, self->s.ring[cpu].totals.recorded);
	}
}

TEST_DEV(modes, what_does_not_go_together)
{
	EXPECT_EQ(-EINVAL, tb_configure(self->fd, TB_MODE_ONESHOT, TB_POLICY_OVERWRITE, 2, 64));
	EXPECT_EQ(-EINVAL, tb_configure(self->fd, TB_MODE_CIRCULAR, TB_POLICY_DROP, 2, 64));
	EXPECT_EQ(-EINVAL, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 1, 64));
	EXPECT_EQ(-EINVAL, tb_configure(self->fd, TB_MODE_STREAMING, 0, 1, 64));
	EXPECT_EQ(-EINVAL, tb_configure(self->fd, TB_MODE_ONESHOT, 0, 4097, 64));
	EXPECT_EQ(-EINVAL, tb_configure(self->fd, 4, 0, 2, 64));
	EXPECT_EQ(0, tb_configure(self->fd, TB_MODE_ONESHOT, TB_POLICY_DROP, 1, 64));
}

TEST_HARNESS_MAIN
