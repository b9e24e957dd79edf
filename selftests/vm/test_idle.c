// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU on which next to nothing is recorded, while threads come and go by the thousand on
 * others: what is old in its ring is overwritten, and told, so that the state may be
 * renewed and the recording goes on; unless it has to stay.
 *
 * TRACEBUF_FULL=1 in the environment: forty times as many threads.
 */
#include "forking.h"
#include "tbtest.h"

#define BUFFERS		8
#define ELEMENTS	64
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define OLD		(2 * PER_BLOCK + 3)	/* events: two blocks, and one that is not full */
#define MAX_KIB		512

#define ASSERT_BOOKS(st)							\
	ASSERT_EQ((st)->attempted, (st)->delivered + (st)->overwritten +	\
				   (st)->dropped + (st)->pending)

DEVICE_FIXTURE(idle)

static uint32_t forks(void)
{
	return getenv("TRACEBUF_FULL") ? 200000 : 5000;
}

static int record(int fd, uint32_t mode, uint32_t policy)
{
	struct tb_config c = {
		.mode = mode,
		.policy = policy,
		.buffers = BUFFERS,
		.elements = ELEMENTS,
		.durable_kib = 128,
		.durable_max_kib = MAX_KIB,
	};

	if (ioctl(fd, TB_IOC_CONFIGURE, &c))
		return -errno;
	return tb_enable(fd, FIRE_EVENT) == 1 ? tb_start(fd, 0) : -ENOENT;
}

/* In each round: enough for the state to be renewed several times. */
static uint32_t forks_of_round(void)
{
	return getenv("TRACEBUF_FULL") ? 100000 : 10000;
}

/* Something old in the ring of CPU 1. */
static bool fire_old(uint32_t first)
{
	bool ok = !pin(1);

	fire(first, OLD);
	return !pin(0) && ok;
}

/* CPU 0 has events all the time. */
static bool fork_and_fire(uint32_t n)
{
	uint32_t number = 0;

	/* who forks gets signals, which are events */
	if (!begin_forking_on(n, 1))
		return false;
	while (!forking_done()) {
		fire(number, 10);
		number += 10;
		usleep(1000);
	}
	end_forking(false);
	return true;
}

/* Two rounds of what is old, with the state renewed many times after each. */
static void goes_on(struct __test_metadata *_metadata, FIXTURE_DATA(idle) *self, uint32_t mode,
		    bool offline)
{
	uint64_t before = 0;
	struct tb_stats st;
	struct tb_query q;
	int round;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record(self->fd, mode, TB_POLICY_OVERWRITE));
	for (round = 0; round < 2; round++) {
		ASSERT_TRUE(fire_old(round * OLD));
		if (offline)
			ASSERT_TRUE(set_online(1, false));
		ASSERT_TRUE(fork_and_fire(forks_of_round()));
		if (offline)
			ASSERT_TRUE(set_online(1, true));
		ASSERT_EQ(0, tb_query(self->fd, &q));
		ASSERT_EQ(TB_STATE_RUNNING, q.state);
		EXPECT_EQ(TB_REASON_NONE, q.reason);
		EXPECT_EQ(0, q.durable_lost);
		/* the tie of the clocks may be there, too */
		ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
		ASSERT_BOOKS(&st);
		EXPECT_LE(before + OLD, st.overwritten);
		EXPECT_EQ(0, st.dropped);
		TH_LOG("%llu of %llu overwritten, durable buffer of %llu KiB, %llu in use",
		       (unsigned long long)st.overwritten, (unsigned long long)st.attempted,
		       (unsigned long long)q.durable_size / 1024,
		       (unsigned long long)q.durable_used / 1024);
		before = st.overwritten;
	}
	/* the ring goes on: the next block tells */
	ASSERT_EQ(0, pin(1));
	fire(2 * OLD, PER_BLOCK);
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LE(2 * OLD, self->s.ring[1].gap_overwritten);
	EXPECT_LE(PER_BLOCK, self->s.ring[1].events);
	EXPECT_LT(0, self->s.durable_first);
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	ASSERT_BOOKS(&st);
	EXPECT_EQ(0, st.pending);
}

TEST_DEV(idle, circular_goes_on)
{
	goes_on(_metadata, self, TB_MODE_CIRCULAR, false);
}

TEST_DEV(idle, circular_goes_on_without_that_CPU)
{
	goes_on(_metadata, self, TB_MODE_CIRCULAR, true);
}

/* nobody reads */
TEST_DEV(idle, streaming_goes_on)
{
	goes_on(_metadata, self, TB_MODE_STREAMING, false);
}

/* the last thing that is known of a CPU */
TEST_DEV(idle, totals_tell_when_no_block_does)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	self->s.expires = true;
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE));
	ASSERT_TRUE(fire_old(0));
	ASSERT_TRUE(fork_and_fire(forks() / 2));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_TRUE(self->s.ring[1].have_totals);
	EXPECT_LE(OLD, self->s.ring[1].totals.overwritten);
}

/* not what a snapshot is being taken of */
TEST_DEV(idle, what_is_held_stays)
{
	struct tb_stats st;
	struct tb_ref ref = { .ring = TB_RING_DURABLE };
	int other;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE));
	ASSERT_TRUE(fire_old(0));
	other = tb_open(0);
	ASSERT_LE(0, other);
	while (ref.ring != 1) {
		ASSERT_EQ(1, tb_acquire(other, &ref, 1, TB_ACQUIRE_SNAPSHOT));
		if (ref.ring != 1)
			ASSERT_EQ(1, tb_release(other, &ref, 1));
	}
	ASSERT_TRUE(fork_and_fire(forks()));
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(self->fd));
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	ASSERT_BOOKS(&st);
	EXPECT_EQ(0, st.overwritten);
	close(other);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LE(OLD, self->s.ring[1].events);
}

/* nor what a trigger has frozen */
TEST_DEV(idle, what_is_frozen_stays)
{
	struct tb_arm arm = { .op = TB_ARM_SET, .pattern = (uintptr_t)FIRE_EVENT,
			      .length = strlen(FIRE_EVENT) };
	struct tb_stats st;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE));
	ASSERT_TRUE(fire_old(0));
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_ARM, &arm));
	ASSERT_TRUE(fork_and_fire(forks()));
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(self->fd));
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	ASSERT_BOOKS(&st);
	EXPECT_EQ(0, st.overwritten);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LE(OLD, self->s.ring[1].events);
}

/* nor what policy drop keeps */
TEST_DEV(idle, what_is_not_overwritten_stays)
{
	struct tb_stats st;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP));
	ASSERT_TRUE(fire_old(0));
	ASSERT_TRUE(fork_and_fire(forks()));
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(self->fd));
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	ASSERT_BOOKS(&st);
	EXPECT_EQ(0, st.overwritten);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LE(OLD, self->s.ring[1].events);
}

TEST_HARNESS_MAIN
