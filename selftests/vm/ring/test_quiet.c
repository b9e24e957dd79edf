// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle CPUs are left alone: flushes and snapshots send no interrupts to CPUs with a closed buffer,
 * and the recorder's own work does not interrupt isolated CPUs (isolcpus=, nohz_full=). If a test
 * fails, recording disturbs real-time threads.
 *
 * The kernel's count of function calls shows this. Other causes raise it, too, so each test makes
 * hundreds of calls. Tests of isolated CPUs need a guest that has one, see scripts/check.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tbtest.h"

#define TIMES	300
#define ROUNDS	5

DEVICE_FIXTURE(quiet)

/* Returns the number of function-call interrupts since boot, on all CPUs; -1: unknown. */
static long calls(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	long sum = -1, n;
	char line[4096];
	char *at;
	int used;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strcasestr(line, "function call interrupts"))
			continue;
		at = strchr(line, ':') + 1;
		for (sum = 0; sscanf(at, "%ld%n", &n, &used) == 1; at += used)
			sum += n;
	}
	if (f)
		fclose(f);
	return sum;
}

static bool alone(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) < 2 || calls() < 0;
}

static int record(int fd, uint32_t mode)
{
	int err = tb_configure(fd, mode, 0, 4, 64);

	if (!err)
		err = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return err ?: tb_start(fd, TB_START_NO_STATE);
}

TEST_DEV(quiet, flush)
{
	long before;
	int i;

	if (alone())
		SKIP(return, "one CPU, or no count of calls");
	ASSERT_EQ(0, record(self->fd, TB_MODE_STREAMING));
	before = calls();
	for (i = 0; i < TIMES; i++)
		ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_GT(TIMES / 2, calls() - before);
	TH_LOG("%ld calls in %d flushes", calls() - before, TIMES);
}

/* A buffer that a flush has closed needs no second flush. */
TEST_DEV(quiet, flush_of_what_was_flushed)
{
	struct tb_stats st;
	long before;
	int i;

	if (alone())
		SKIP(return, "one CPU, or no count of calls");
	ASSERT_EQ(0, record(self->fd, TB_MODE_STREAMING));
	ASSERT_EQ(0, pin(1));
	fire(0, 3);
	ASSERT_EQ(0, pin(0));
	fire(3, 3);
	before = calls();
	for (i = 0; i < TIMES; i++)
		ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_GT(TIMES / 2, calls() - before);
	/* the first flush did close both */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, tb_stats(self->fd, i, &st));
		EXPECT_EQ(1, st.ready);
	}
}

TEST_DEV(quiet, acquire_with_flush)
{
	struct tb_ref ref;
	long before;
	int i, n;

	if (alone())
		SKIP(return, "one CPU, or no count of calls");
	ASSERT_EQ(0, record(self->fd, TB_MODE_STREAMING));
	before = calls();
	for (i = 0; i < TIMES; i++) {
		n = tb_acquire(self->fd, &ref, 1, TB_ACQUIRE_FLUSH);
		ASSERT_LE(0, n);
		if (n)
			ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	}
	EXPECT_GT(TIMES / 2, calls() - before);
}

TEST_DEV(quiet, snapshot)
{
	struct tb_ref ref;
	int i, n, other;
	long before;

	if (alone())
		SKIP(return, "one CPU, or no count of calls");
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	before = calls();
	for (i = 0; i < TIMES; i++) {
		other = tb_open(0);
		ASSERT_LE(0, other);
		while ((n = tb_acquire(other, &ref, 1, TB_ACQUIRE_SNAPSHOT)) == 1)
			ASSERT_EQ(1, tb_release(other, &ref, 1));
		EXPECT_EQ(-ENODATA, n);
		close(other);
	}
	EXPECT_GT(TIMES / 2, calls() - before);
}

/* ---- isolated --------------------------------------------------------- */

/* Returns the first isolated CPU, or -1. */
static int isolated(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/isolated", "r");
	int cpu = -1;

	if (f && fscanf(f, "%d", &cpu) != 1)
		cpu = -1;
	if (f)
		fclose(f);
	/* CPUs 0 and 1 are busy with everything else */
	return cpu > 1 && cpu < 8 ? cpu : -1;
}

static int fire_on(int cpu, uint32_t first)
{
	int err = pin(cpu);

	fire(first, 1);
	return err ?: pin(0);
}

static uint64_t ready(int fd, int cpu)
{
	struct tb_stats st;

	return tb_stats(fd, cpu, &st) ? ~0ull : st.ready;
}

/* The timer flushes the buffers of other CPUs, but not of an isolated one. */
TEST_DEV(quiet, timer_leaves_isolated_ones)
{
	struct tb_config c = { .mode = TB_MODE_STREAMING, .buffers = 16, .elements = 64,
			       .flush_ms = 1 };
	int cpu = isolated();
	struct tb_ref ref;
	uint32_t i;

	if (cpu < 0)
		SKIP(return, "no isolated CPU");
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	/* there must be a reader */
	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, TB_ACQUIRE_FLUSH));
	ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	ASSERT_EQ(0, fire_on(cpu, 0));
	for (i = 1; i <= ROUNDS; i++) {
		ASSERT_EQ(0, fire_on(1, i));
		for (WAIT(ready(self->fd, 1) >= i))
			;
		ASSERT_LE(i, ready(self->fd, 1));
	}
	EXPECT_EQ(0, ready(self->fd, cpu));
	/* a flush on request reaches it */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(1, ready(self->fd, cpu));
}

static void see_clock(void *ctx, const struct stream_event *e)
{
	uint32_t *seen = ctx;

	seen[e->durable] += e->id == TB_EV_CLOCK;
}

/* A recording of an isolated CPU gets its ties of the clocks from another CPU. */
TEST_DEV(quiet, clocks_of_isolated_ones)
{
	int n = 0, cpu = isolated();
	uint32_t seen[2] = { 0 };
	struct tb_ref ref;
	size_t bytes;
	uint8_t mask;
	char *at;

	if (cpu < 0)
		SKIP(return, "no isolated CPU");
	mask = 1 << cpu;
	{
		struct tb_config c = { .mode = TB_MODE_STREAMING, .cpus = (uintptr_t)&mask,
				       .cpus_bytes = 1 };

		ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	}
	self->s.event = see_clock;
	self->s.ctx = seen;
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	/* the first tie is that of the start */
	for (WAIT(seen[true] > 1 || n < 0)) {
		n = tb_acquire(self->fd, &ref, 1, TB_ACQUIRE_FLUSH);
		if (n == 1) {
			ASSERT_STREAM(stream_block(&self->s, at + ref.offset, ref.bytes),
				      &self->s);
			ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
		}
	}
	EXPECT_LE(0, n);
	EXPECT_LT(1, seen[true]);
	EXPECT_EQ(0, seen[false]);
	EXPECT_EQ(0, munmap(at, bytes));
}

TEST_HARNESS_MAIN
