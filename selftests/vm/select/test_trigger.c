// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: an event freezes a circular recording, once, after the share of blocks that was asked
 * for, and the events that led to it are still there. A trigger ends with its recording or its
 * file. If a test fails, the snapshot of a rare problem does not show its cause.
 *
 * The event is the delivery of a signal to this process. Recorded are numbered events (fire()), and
 * the generation of that signal.
 */
#include "tbtest.h"

#include <sys/mman.h>

#define BUFFERS		8
#define ELEMENTS	64
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define TRIGGER		"signal:signal_deliver"
#define MARK		"trigger: signal:signal_deliver"

DEVICE_FIXTURE(trigger)

static int record_as(int fd, uint32_t mode, uint32_t elements)
{
	int ret = tb_configure(fd, mode, TB_POLICY_OVERWRITE, BUFFERS, elements);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

static int record(int fd)
{
	return record_as(fd, TB_MODE_CIRCULAR, ELEMENTS);
}

static int arm_within(int fd, const char *pattern, uint32_t post, uint32_t ms)
{
	struct tb_arm a = { .op = TB_ARM_SET, .post = post, .pattern = (uintptr_t)pattern,
			    .length = strlen(pattern), .post_ms = ms };

	return ioctl(fd, TB_IOC_ARM, &a) ? -errno : (int)a.matched;
}

static int arm(int fd, const char *pattern, uint32_t post)
{
	return arm_within(fd, pattern, post, 0);
}

static int disarm(int fd)
{
	struct tb_arm a = { .op = TB_ARM_CLEAR };

	return ioctl(fd, TB_IOC_ARM, &a) ? -errno : 0;
}

static struct tb_trigger_info info(int fd)
{
	struct tb_trigger_info i;

	memset(&i, 0xff, sizeof(i));
	if (ioctl(fd, TB_IOC_TRIGGER, &i))
		i.state = ~0u;
	return i;
}

static bool pri(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI };

	return poll(&p, 1, 0) == 1 && p.revents == POLLPRI;
}

static bool wait_pri(int fd)
{
	bool there = pri(fd);

	for (WAIT(there))
		there = pri(fd);
	return there;
}

static void delivered(int sig)
{
}

/* Causes the event. */
static void pull(void)
{
	signal(SIGUSR2, delivered);
	raise(SIGUSR2);
}

static uint64_t dropped(int fd, int cpu)
{
	struct tb_stats st;

	return tb_stats(fd, cpu, &st) ? ~0ull : st.dropped;
}

static uint64_t blocks(int fd, int cpu)
{
	struct tb_stats st;

	return tb_stats(fd, cpu, &st) ? ~0ull : st.blocks;
}

/* ---- contents of the rings -------------------------------------------- */

struct seen {
	struct stream *s;
	uint64_t first_block[2], last_block[2], blocks[2], first_time[2];
	uint32_t first, last;		/* numbers on CPU 0 */
	uint32_t numbers;
	uint32_t marks;
	struct stream_event mark;
};

static void see_block(void *ctx, const struct tb_block *b, const struct tb_gap *gap)
{
	struct seen *seen = ctx;

	if (b->cpu > 1)
		return;
	if (!seen->blocks[b->cpu]++) {
		seen->first_block[b->cpu] = b->sequence;
		seen->first_time[b->cpu] = b->time_start;
	}
	seen->last_block[b->cpu] = b->sequence;
}

static void see_event(void *ctx, const struct stream_event *e)
{
	struct seen *seen = ctx;
	uint32_t number;

	if (e->durable)
		return;
	if (e->id == TB_EV_MARK && e->length == strlen(MARK) &&
	    !memcmp(e->payload, MARK, e->length)) {
		seen->marks++;
		seen->mark = *e;
	}
	if (e->id < TB_EV_FIRST || e->cpu || !is_fired(seen->s, e, &number))
		return;
	if (!seen->numbers++)
		seen->first = number;
	seen->last = number;
}

static void follow(struct seen *seen, struct stream *s)
{
	stream_free(s);
	memset(seen, 0, sizeof(*seen));
	seen->s = s;
	s->event = see_event;
	s->block = see_block;
	s->ctx = seen;
}

static int snapshot(struct seen *seen, struct stream *s)
{
	int fd = tb_open(0), n = 0;
	struct tb_ref ref;
	size_t bytes;
	char *at;

	follow(seen, s);
	at = tb_map(fd, &bytes);
	if (at == MAP_FAILED)
		return -ENOMEM;
	for (WAIT(n < 0)) {
		while ((n = tb_acquire(fd, &ref, 1, TB_ACQUIRE_SNAPSHOT)) == 1) {
			if (!stream_block(s, at + ref.offset, ref.bytes))
				n = -EBADMSG;
			tb_release(fd, &ref, 1);
			if (n < 0)
				break;
		}
	}
	munmap(at, bytes);
	close(fd);
	return n == -ENODATA ? 0 : n ?: -ETIMEDOUT;
}

#define ASSERT_SNAPSHOT(seen, s)					\
	do {								\
		int ret_ = snapshot(seen, s);				\
		if (ret_)						\
			TH_LOG("snapshot: %d, stream: %s", ret_, (s)->error);	\
		ASSERT_EQ(0, ret_);					\
		ASSERT_STREAM(stream_snapshot(s), s);			\
	} while (0)

/* Stops the recording and reads it: its counts must be exact. */
#define ASSERT_END(seen)						\
	do {								\
		int fd_ = tb_open(0);					\
									\
		ASSERT_LE(0, fd_);					\
		ASSERT_EQ(0, tb_stop(fd_));				\
		follow(seen, &self->s);					\
		ASSERT_STREAM(tb_drain(fd_, &self->s), &self->s);	\
		close(fd_);						\
		ASSERT_STREAM(stream_finish(&self->s), &self->s);	\
	} while (0)

/* ---- freezing --------------------------------------------------------- */

/* The event occurs in the middle of a full ring; exactly the share of blocks follows. */
TEST_DEV(trigger, freezes_after_the_share)
{
	static const uint32_t posts[] = { 0, 12, 13, 50, 99, 100 };
	static const uint32_t follows[] = { 0, 0, 1, 4, 7, 7 };
	struct tb_trigger_info i;
	struct tb_totals end;
	struct seen seen;
	uint32_t n, p, next;
	uint64_t had;

	for (p = 0; p < 6; p++) {
		ASSERT_EQ(0, record(self->fd));
		next = 1000;
		fire(0, next);
		ASSERT_EQ(1, arm(self->fd, TRIGGER, posts[p]));
		i = info(self->fd);
		ASSERT_EQ(TB_TRIGGER_ARMED, i.state);
		EXPECT_EQ(0, i.fired);
		EXPECT_EQ(1, i.events);
		fire(next, 100);
		next += 100;
		EXPECT_FALSE(pri(self->fd));
		pull();
		i = info(self->fd);
		EXPECT_EQ(1, i.fired);
		EXPECT_EQ(0, i.cpu);
		EXPECT_EQ(syscall(SYS_gettid), i.tid);
		EXPECT_EQ(0, strcmp(i.system, "signal"));
		EXPECT_EQ(0, strcmp(i.name, "signal_deliver"));
		EXPECT_EQ(follows[p], i.post_blocks);
		EXPECT_EQ(blocks(self->fd, 0) - 1, i.sequence);
		/* event by event, until the rings are frozen */
		for (n = 0; n < 1000 && !pri(self->fd); n++)
			fire(next++, 1);
		ASSERT_TRUE(pri(self->fd));
		ASSERT_EQ(TB_TRIGGER_FROZEN, info(self->fd).state);
		if (follows[p])
			EXPECT_EQ(i.sequence + follows[p] + 1, blocks(self->fd, 0));
		/* the last block is filled to its end, and no more */
		had = dropped(self->fd, 0);
		EXPECT_GE(1, had);
		fire(next, 200);
		EXPECT_LE(had + 200 - PER_BLOCK, dropped(self->fd, 0));
		EXPECT_EQ(i.sequence + follows[p] + 1, blocks(self->fd, 0));

		ASSERT_SNAPSHOT(&seen, &self->s);
		/* the snapshot counts what was refused after it, with its span */
		end = self->s.ring[0].snapshot;
		EXPECT_EQ(TB_TOTALS_SNAPSHOT, end.flags);
		EXPECT_EQ(dropped(self->fd, 0), end.dropped);
		EXPECT_EQ(0, self->s.ring[0].dropped);
		EXPECT_LE(self->s.ring[0].last_time, end.first);
		EXPECT_LT(end.first, end.last);
		EXPECT_EQ(BUFFERS, seen.blocks[0]);
		EXPECT_EQ(i.sequence + follows[p], seen.last_block[0]);
		EXPECT_EQ(1, seen.marks);
		EXPECT_EQ(i.sequence, seen.mark.block);
		EXPECT_EQ(i.tid, seen.mark.tid);
		EXPECT_LE(i.time, seen.mark.time);
		/* the events that led to it are there */
		if (follows[p] < BUFFERS - 1)
			EXPECT_GT(1100, seen.first);

		/* after disarming the recording goes on */
		ASSERT_EQ(0, disarm(self->fd));
		EXPECT_FALSE(pri(self->fd));
		had = dropped(self->fd, 0);
		fire(5000, 100);
		EXPECT_EQ(had, dropped(self->fd, 0));
		ASSERT_END(&seen);
		EXPECT_EQ(5099, seen.last);
	}
}

/* Without later events the rings freeze when the time is up. */
TEST_DEV(trigger, freezes_in_time)
{
	struct tb_trigger_info i;
	struct seen seen;
	uint32_t round;

	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, record(self->fd));
		fire(0, 1000);
		ASSERT_EQ(1, arm_within(self->fd, TRIGGER, 100, 1 + 20 * round));
		pull();
		ASSERT_TRUE(wait_pri(self->fd));
		i = info(self->fd);
		EXPECT_EQ(TB_TRIGGER_FROZEN, i.state);
		EXPECT_EQ(1, i.fired);
		/* that opened no block, and none is overwritten any more */
		EXPECT_EQ(i.sequence + 1, blocks(self->fd, 0));
		fire(1000, 200);
		EXPECT_LT(0, dropped(self->fd, 0));
		ASSERT_SNAPSHOT(&seen, &self->s);
		EXPECT_EQ(1, seen.marks);
		EXPECT_EQ(i.sequence, seen.last_block[0]);
		EXPECT_EQ(BUFFERS, seen.blocks[0]);
		ASSERT_EQ(0, disarm(self->fd));
		ASSERT_END(&seen);
	}
	/* disarming ends the timer, and the share may be filled before the time is up */
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, record(self->fd));
		ASSERT_EQ(1, arm_within(self->fd, TRIGGER, 50, 86400000));
		pull();
		EXPECT_EQ(TB_TRIGGER_FIRED, info(self->fd).state);
		if (round == 1) {
			fire(0, 2 * BUFFERS * PER_BLOCK);
			ASSERT_TRUE(wait_pri(self->fd));
			EXPECT_EQ(TB_TRIGGER_FROZEN, info(self->fd).state);
		}
		if (round < 2)
			ASSERT_EQ(0, disarm(self->fd));
		ASSERT_END(&seen);
		if (round == 2)
			ASSERT_EQ(0, disarm(self->fd));
	}
}

TEST_DEV(trigger, fires_once)
{
	struct tb_trigger_info first, i;
	struct seen seen;

	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 100));
	pull();
	first = info(self->fd);
	EXPECT_EQ(TB_TRIGGER_FIRED, first.state);
	pull();
	pull();
	i = info(self->fd);
	EXPECT_EQ(0, memcmp(&first, &i, sizeof(i)));
	ASSERT_END(&seen);
	EXPECT_EQ(1, seen.marks);
}

/* A frozen ring fills its free buffers first. */
TEST_DEV(trigger, fills_what_is_free_first)
{
	struct seen seen;

	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 0));
	pull();
	ASSERT_TRUE(wait_pri(self->fd));
	fire(0, 4 * PER_BLOCK);
	EXPECT_EQ(0, dropped(self->fd, 0));
	fire(4 * PER_BLOCK, 1000);
	EXPECT_LT(0, dropped(self->fd, 0));
	ASSERT_SNAPSHOT(&seen, &self->s);
	EXPECT_EQ(0, seen.first);
	EXPECT_EQ(0, seen.first_block[0]);
	EXPECT_EQ(BUFFERS, seen.blocks[0]);
	ASSERT_EQ(0, disarm(self->fd));
	ASSERT_END(&seen);
}

struct load {
	pthread_t thread;
	bool stop;
	uint32_t fired;
};

static void *load(void *arg)
{
	struct load *l = arg;

	pin(1);
	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		fire(l->fired, 10);
		__atomic_fetch_add(&l->fired, 10, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Waits until @l has fired @more events. */
static bool wait_fired(struct load *l, uint32_t more)
{
	uint32_t wanted = __atomic_load_n(&l->fired, __ATOMIC_RELAXED) + more, now = 0;

	for (WAIT(now >= wanted))
		now = __atomic_load_n(&l->fired, __ATOMIC_RELAXED);
	return now >= wanted;
}

/* Another CPU records much more meanwhile: it must not overwrite what led to the event. */
TEST_DEV(trigger, holds_the_other_rings_too)
{
	static struct load l;
	struct tb_trigger_info i;
	struct seen seen;
	uint64_t last, had;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record_as(self->fd, TB_MODE_CIRCULAR, 1024));
	ASSERT_EQ(0, pthread_create(&l.thread, NULL, load, &l));
	ASSERT_TRUE(wait_fired(&l, 4000));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 50));
	pull();
	i = info(self->fd);
	EXPECT_EQ(0, i.cpu);
	EXPECT_EQ(TB_TRIGGER_FIRED, i.state);
	/* more than fits into the ring */
	ASSERT_TRUE(wait_fired(&l, 4000));
	EXPECT_EQ(TB_TRIGGER_FIRED, info(self->fd).state);
	fire(0, 2000);
	ASSERT_TRUE(wait_pri(self->fd));
	ASSERT_SNAPSHOT(&seen, &self->s);
	EXPECT_EQ(BUFFERS, seen.blocks[1]);
	EXPECT_GT(i.time, seen.first_time[1]);
	/* it counts what it cannot record */
	last = seen.last_block[1];
	had = dropped(self->fd, 1);
	ASSERT_TRUE(wait_fired(&l, 1000));
	EXPECT_LE(had + 900, dropped(self->fd, 1));
	ASSERT_SNAPSHOT(&seen, &self->s);
	EXPECT_EQ(last, seen.last_block[1]);
	ASSERT_EQ(0, disarm(self->fd));
	ASSERT_TRUE(wait_fired(&l, 1000));
	__atomic_store_n(&l.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(l.thread, NULL));
	EXPECT_LT(last + 1, blocks(self->fd, 1));
	ASSERT_END(&seen);
}

/* ---- the end of a trigger --------------------------------------------- */

TEST_DEV(trigger, disarmed_in_time)
{
	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 0));
	ASSERT_EQ(0, disarm(self->fd));
	pull();
	EXPECT_EQ(TB_TRIGGER_NONE, info(self->fd).state);
	EXPECT_FALSE(pri(self->fd));
	fire(0, 1000);
	EXPECT_EQ(0, dropped(self->fd, 0));
	/* it can be armed again */
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 0));
	pull();
	EXPECT_TRUE(wait_pri(self->fd));
}

TEST_DEV(trigger, closing_thaws)
{
	uint64_t had;
	int fd;

	ASSERT_EQ(0, record(self->fd));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, arm(fd, TRIGGER, 0));
	EXPECT_EQ(-EBUSY, arm(self->fd, TRIGGER, 0));
	EXPECT_EQ(-EINVAL, disarm(self->fd));
	fire(0, 1000);
	pull();
	ASSERT_TRUE(wait_pri(fd));
	EXPECT_FALSE(pri(self->fd));
	fire(1000, 500);
	had = dropped(self->fd, 0);
	EXPECT_LT(0, had);
	close(fd);
	fire(1500, 500);
	EXPECT_EQ(had, dropped(self->fd, 0));
	EXPECT_EQ(TB_TRIGGER_NONE, info(self->fd).state);
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 0));
}

TEST_DEV(trigger, ends_with_the_recording)
{
	struct seen seen;
	int fd;

	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(1, arm(fd, TRIGGER, 50));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_TRUE(pri(fd));
	EXPECT_EQ(TB_TRIGGER_ENDED, info(fd).state);
	EXPECT_EQ(0, info(fd).fired);
	pull();
	EXPECT_EQ(0, info(fd).fired);
	/* the trigger still belongs to fd */
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(-EBUSY, arm(self->fd, TRIGGER, 50));
	ASSERT_EQ(0, disarm(fd));
	ASSERT_EQ(1, arm(fd, TRIGGER, 0));
	fire(0, 500);
	pull();
	ASSERT_TRUE(wait_pri(fd));
	fire(500, 500);
	ASSERT_END(&seen);
	EXPECT_TRUE(pri(fd));
	EXPECT_EQ(TB_TRIGGER_ENDED, info(fd).state);
	EXPECT_EQ(1, info(fd).fired);
	EXPECT_EQ(1, seen.marks);
	/* the next recording is not frozen */
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 1000);
	EXPECT_EQ(0, dropped(self->fd, 0));
	close(fd);
}

/* Triggers are armed, fire, freeze and are disarmed at any moment, under load. */
TEST_DEV(trigger, comes_and_goes_under_load)
{
	static struct load l;
	struct seen seen;
	int fd, n;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(0, pthread_create(&l.thread, NULL, load, &l));
	for (n = 0; n < (getenv("TRACEBUF_FULL") ? 30 : 12); n++) {
		fd = tb_open(0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(5, arm(fd, "raw_syscalls,signal,task:task_rename", n * 3));
		if (n % 3 == 1)
			fire(0, n * 20);
		if (n % 3 == 2) {
			do {
				fire(0, 100);
			} while (!pri(fd));
			ASSERT_SNAPSHOT(&seen, &self->s);
		}
		if (n % 2)
			ASSERT_EQ(0, disarm(fd));
		close(fd);
	}
	__atomic_store_n(&l.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(l.thread, NULL));
	ASSERT_END(&seen);
}

TEST_DEV(trigger, on_a_CPU_that_goes_away)
{
	struct seen seen;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 50));
	ASSERT_EQ(0, pin(1));
	pull();
	ASSERT_EQ(0, pin(0));
	EXPECT_EQ(1, info(self->fd).cpu);
	EXPECT_FALSE(pri(self->fd));
	ASSERT_TRUE(set_online(1, false));
	EXPECT_TRUE(wait_pri(self->fd));
	ASSERT_TRUE(set_online(1, true));
	EXPECT_EQ(TB_TRIGGER_FROZEN, info(self->fd).state);
	ASSERT_SNAPSHOT(&seen, &self->s);
	EXPECT_EQ(1, seen.marks);
}

/* ---- others ----------------------------------------------------------- */

TEST_DEV(trigger, not_on_a_CPU_that_is_not_recorded)
{
	uint64_t mask = 2;
	struct tb_config c = { .mode = TB_MODE_CIRCULAR, .buffers = BUFFERS, .elements = ELEMENTS,
			       .cpus = (uintptr_t)&mask, .cpus_bytes = sizeof(mask) };

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 0));
	pull();
	EXPECT_EQ(TB_TRIGGER_ARMED, info(self->fd).state);
	ASSERT_EQ(0, pin(1));
	pull();
	ASSERT_EQ(0, pin(0));
	EXPECT_TRUE(wait_pri(self->fd));
	EXPECT_EQ(1, info(self->fd).cpu);
}

TEST_DEV(trigger, each_provider_has_its_own)
{
	struct tb_provider_req r = { .op = TB_PROVIDER_CREATE, .name = "trigger-test" };
	struct tb_attach a = { .name = "trigger-test" };
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_PROVIDER, &r));
	ASSERT_EQ(0, ioctl(fd, TB_IOC_ATTACH, &a));
	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(0, record(fd));
	ASSERT_EQ(1, arm(self->fd, TRIGGER, 0));
	ASSERT_EQ(1, arm(fd, "task:task_rename", 0));
	fire(0, 1000);
	pull();
	EXPECT_TRUE(wait_pri(self->fd));
	EXPECT_FALSE(pri(fd));
	fire(1000, 200);
	EXPECT_LT(0, dropped(self->fd, 0));
	EXPECT_EQ(0, dropped(fd, 0));
	ASSERT_EQ(0, disarm(fd));
	ASSERT_EQ(1, arm(fd, TRIGGER, 0));
	pull();
	EXPECT_TRUE(wait_pri(fd));
	/* an armed and frozen provider can be destroyed */
	r = (struct tb_provider_req){ .op = TB_PROVIDER_DESTROY, .name = "trigger-test" };
	EXPECT_EQ(0, ioctl(fd, TB_IOC_PROVIDER, &r));
	EXPECT_EQ(TB_TRIGGER_ENDED, info(fd).state);
	close(fd);
}

TEST_DEV(trigger, takes_nothing_that_is_wrong)
{
	struct tb_arm a = { .op = TB_ARM_SET, .pattern = (uintptr_t)TRIGGER,
			    .length = strlen(TRIGGER) };

	EXPECT_EQ(-EINVAL, arm(self->fd, TRIGGER, 50));
	ASSERT_EQ(0, record_as(self->fd, TB_MODE_STREAMING, ELEMENTS));
	EXPECT_EQ(-EINVAL, arm(self->fd, TRIGGER, 50));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, record(self->fd));
	EXPECT_EQ(-EINVAL, arm(self->fd, TRIGGER, 101));
	EXPECT_EQ(-EINVAL, arm(self->fd, "", 50));
	EXPECT_EQ(-EINVAL, arm(self->fd, TRIGGER ",", 50));
	EXPECT_EQ(-EINVAL, arm(self->fd, "," TRIGGER, 50));
	EXPECT_EQ(-ENOENT, arm(self->fd, "no_such_event", 50));
	EXPECT_EQ(-ENOENT, arm(self->fd, TRIGGER ",no_such_event", 50));
	EXPECT_EQ(-E2BIG, arm(self->fd, "all", 50));
	a.op = 3;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ARM, &a));
	EXPECT_EQ(EINVAL, errno);
	/* clearing takes no other fields */
	a.op = TB_ARM_CLEAR;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ARM, &a));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-EINVAL, disarm(self->fd));
	a.op = TB_ARM_SET;
	a.bad = 1;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ARM, &a));
	EXPECT_EQ(EINVAL, errno);
	a.bad = 0;
	a.reserved = 1;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ARM, &a));
	EXPECT_EQ(EINVAL, errno);
	a.reserved = 0;
	a.pattern = 1;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ARM, &a));
	EXPECT_EQ(EFAULT, errno);
	a.pattern = (uintptr_t)TRIGGER;
	a.length = 256;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ARM, &a));
	EXPECT_EQ(EINVAL, errno);
	/* the refused calls have left nothing */
	EXPECT_EQ(TB_TRIGGER_NONE, info(self->fd).state);
	/* an event counts once, however often it is named */
	EXPECT_EQ(3, arm(self->fd, TRIGGER ",signal,signal_deliver,task:task_rename", 50));
}

TEST_HARNESS_MAIN
