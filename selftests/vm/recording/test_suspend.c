// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine suspends as far as the kernel's own test (pm_test) goes. A recording that reads the
 * CPU's counter pauses, counts what it missed, and goes on; times do not go backwards, even if the
 * counter does. If a test fails, traces over a suspend have wrong times, or hide losses.
 *
 * TRACEBUF_SLEEP names a deeper level than "freezer"; selftests/recover/suspend.sh sets it. The
 * last test needs tracebuf.ko as "make torture" builds it: test_suspend_jump.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "producer.h"
#include "tbtest.h"

#define ANEW	"/sys/module/tracebuf/parameters/clock_anew"
#define N	5

DEVICE_FIXTURE(suspend)

/* The clock that programs are told to read, before and after a nap. */
static const volatile struct tb_producer_page *page;
static uint32_t told[2];

static bool can(void)
{
	return !access("/sys/power/pm_test", W_OK) && !access("/sys/power/state", W_OK);
}

/*
 * Suspends for a second: the kernel freezes all tasks, with notifications before and after. Deeper
 * levels suspend devices and CPUs, too.
 */
static bool nap(void)
{
	const char *level = getenv("TRACEBUF_SLEEP");
	bool ok;

	/* in whole seconds; five by default */
	write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	ok = write_file("/sys/power/pm_test", level ? level : "freezer") &&
	     write_file("/sys/power/state", level ? "mem" : "freeze");
	return write_file("/sys/power/pm_test", "none") && ok;
}

struct seen {
	const struct stream *s;
	uint32_t next;			/* number of a fired event */
	uint64_t last;			/* its time */
	uint64_t nap;			/* time between events N - 1 and N */
	uint64_t dropped, first, end;	/* the gap that counts drops */
	uint64_t ties;			/* of the clocks, in durable blocks */
	uint64_t tie[16];
};

static void see(void *ctx, const struct stream_event *e)
{
	struct seen *seen = ctx;
	uint32_t number;

	if (e->durable && e->id == TB_EV_CLOCK && seen->ties < 16)
		seen->tie[seen->ties++] = ((const struct tb_clock_sync *)e->payload)->clock;
	if (!is_fired(seen->s, e, &number) || number != seen->next)
		return;
	if (number == N)
		seen->nap = e->time - seen->last;
	seen->last = e->time;
	seen->next++;
}

static void see_block(void *ctx, const struct tb_block *b, const struct tb_gap *gap)
{
	struct seen *seen = ctx;

	if (b->kind != TB_BLOCK_ROLLING || !gap->dropped)
		return;
	seen->dropped += gap->dropped;
	if (!seen->first || gap->first < seen->first)
		seen->first = gap->first;
	if (gap->last > seen->end)
		seen->end = gap->last;
}

static uint64_t dropped(int fd)
{
	struct tb_stats st;
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; !tb_stats(fd, cpu, &st); cpu++)
		sum += st.dropped;
	return sum;
}

/* The CPU's counter, by its name: it may be used even if it stops in idle states. */
static uint32_t counter(int fd)
{
	struct tb_config c = { .clock = TB_CLOCK_TSC };

	return ioctl(fd, TB_IOC_CONFIGURE, &c) ? TB_CLOCK_ARCH : TB_CLOCK_TSC;
}

static void sleep_once(struct __test_metadata *_metadata, FIXTURE_DATA(suspend) *self,
		       struct seen *seen, uint32_t clock, uint32_t mode)
{
	struct tb_config c = { .mode = mode, .clock = clock, .buffers = 256, .elements = 1024 };
	long cpu;

	*seen = (struct seen){ .s = &self->s };
	self->s.event = see;
	self->s.block = see_block;
	self->s.ctx = seen;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_LT(0, tb_enable(self->fd, "timer"));
	ASSERT_LT(0, tb_enable(self->fd, "sched"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	fire(0, N);
	told[0] = page ? page->targets[0].clock : 0;
	ASSERT_TRUE(nap());
	told[1] = page ? page->targets[0].clock : 0;
	/* an event on each CPU opens a block, which counts the drops before it */
	for (cpu = sysconf(_SC_NPROCESSORS_ONLN); cpu--; )
		ASSERT_EQ(0, pin(cpu));
	fire(N, N);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	/* the checker requires that times do not go backwards, and that counts add up */
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(2 * N, seen->next);
}

static void paused(struct __test_metadata *_metadata, const struct seen *seen, int fd)
{
	unsigned int i;

	TH_LOG("%llu dropped, told of %llu; %llu ties", (unsigned long long)dropped(fd),
	       (unsigned long long)seen->dropped, (unsigned long long)seen->ties);
	/* timers and kernel threads make events for a second */
	EXPECT_LT(0, seen->dropped);
	EXPECT_EQ(dropped(fd), seen->dropped);
	/* ties at the start, before the nap, after it, and at the end; the gap spans the nap */
	ASSERT_EQ(4, seen->ties);
	for (i = 1; i < seen->ties; i++)
		EXPECT_LT(seen->tie[i - 1], seen->tie[i]);
	EXPECT_LE(seen->first, seen->tie[1]);
	EXPECT_GE(seen->first, seen->tie[0]);
	EXPECT_GT(seen->end, seen->tie[1]);
	EXPECT_LE(seen->end, seen->tie[2]);
}

TEST_DEV(suspend, pauses_and_goes_on)
{
	struct seen seen;

	if (!can())
		SKIP(return, "this kernel has no pm_test");
	sleep_once(_metadata, self, &seen, counter(self->fd), TB_MODE_STREAMING);
	if (self->s.init.clock == TB_CLOCK_MONO)
		SKIP(return, "no counter that can be used as a clock");
	paused(_metadata, &seen, self->fd);
}

TEST_DEV(suspend, oneshot_too)
{
	struct seen seen;

	if (!can())
		SKIP(return, "this kernel has no pm_test");
	sleep_once(_metadata, self, &seen, counter(self->fd), TB_MODE_ONESHOT);
	if (self->s.init.clock == TB_CLOCK_MONO)
		SKIP(return, "no counter that can be used as a clock");
	paused(_metadata, &seen, self->fd);
}

TEST_DEV(suspend, kernels_clock_does_not_pause)
{
	struct seen seen;

	if (!can())
		SKIP(return, "this kernel has no pm_test");
	sleep_once(_metadata, self, &seen, TB_CLOCK_MONO, TB_MODE_STREAMING);
	EXPECT_EQ(0, dropped(self->fd));
}

/* Twice: the corrections of the counter add up. */
TEST_DEV(suspend, counter_begins_anew)
{
	struct producer p;
	struct seen seen;
	int i;

	if (!can())
		SKIP(return, "this kernel has no pm_test");
	if (access(ANEW, W_OK))
		SKIP(return, "no clock_anew: make torture, test_suspend_jump.sh");
	ASSERT_EQ(0, producer_open(&p, "kernel", 4096, 4));
	page = p.page;
	for (i = 0; i < 2; i++) {
		stream_free(&self->s);
		stream_init(&self->s);
		ASSERT_TRUE(write_file(ANEW, "1"));
		sleep_once(_metadata, self, &seen, counter(self->fd), TB_MODE_STREAMING);
		ASSERT_NE(TB_CLOCK_MONO, self->s.init.clock);
		/* programs cannot read a counter that has started anew */
		EXPECT_EQ(i ? TB_CLOCK_MONO : self->s.init.clock, told[0]);
		EXPECT_EQ(TB_CLOCK_MONO, told[1]);
		paused(_metadata, &seen, self->fd);
		/* about as long as the nap: between half a second and half an hour */
		EXPECT_LT(self->s.init.frequency / 2, seen.nap);
		EXPECT_GT(self->s.init.frequency * 1800, seen.nap);
	}
	page = NULL;
	producer_close(&p);
}

TEST_HARNESS_MAIN
