// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording loses no event when CPUs go offline and come back, and records no CPU that the user
 * left out (tb_config.cpus). If a test fails, events around hotplug are lost or stuck, or a CPU
 * that the user left out is recorded.
 */
#include <sys/mman.h>
#include <sys/uio.h>

#include "tbtest.h"

#define ELEMENTS	64
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)

FIXTURE(hotplug) {
	int fd;
	struct stream s;
};

FIXTURE_SETUP(hotplug)
{
	if (access("/sys/devices/system/cpu/cpu1/online", W_OK))
		SKIP(return, "no CPU that can go offline");
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	stream_init(&self->s);
}

FIXTURE_TEARDOWN(hotplug)
{
	set_online(1, true);
	tb_stop(self->fd);
	close(self->fd);
	stream_free(&self->s);
}

static int configure(int fd, uint32_t mode, uint32_t buffers, const void *mask, uint32_t bytes)
{
	struct tb_config c = { .mode = mode, .buffers = buffers, .elements = ELEMENTS,
			       .cpus = (uintptr_t)mask, .cpus_bytes = bytes };

	return ioctl(fd, TB_IOC_CONFIGURE, &c) ? -errno : 0;
}

static int only(int fd, uint32_t mode, uint32_t buffers, uint8_t cpus)
{
	return configure(fd, mode, buffers, &cpus, 1);
}

/* The fired events of each CPU. */
struct fired {
	const struct stream *s;
	uint32_t count[STREAM_CPUS];
	uint32_t last[STREAM_CPUS];
};

static void see(void *ctx, const struct stream_event *e)
{
	struct fired *f = ctx;
	uint32_t number;

	if (!is_fired(f->s, e, &number))
		return;
	f->count[e->cpu]++;
	f->last[e->cpu] = number;
}

static void follow(struct fired *f, struct stream *s)
{
	*f = (struct fired){ .s = s };
	s->event = see;
	s->ctx = f;
}

/* Fires on CPU 1, then returns to CPU 0. */
static bool fire_on_1(uint32_t first, uint32_t count)
{
	if (pin(1))
		return false;
	fire(first, count);
	return !pin(0);
}

/* Takes all complete blocks, without a flush. Returns how many, or -errno. */
static int take(int fd, struct stream *s, const char *at)
{
	struct tb_ref ref;
	int n, blocks = 0;

	while ((n = tb_acquire(fd, &ref, 1, 0)) == 1) {
		if (!stream_block(s, at + ref.offset, ref.bytes) || tb_release(fd, &ref, 1) != 1)
			return -EBADMSG;
		blocks++;
	}
	return n < 0 ? n : blocks;
}

static void see_clock(void *ctx, const struct stream_event *e)
{
	uint32_t *seen = ctx;

	*seen += e->id == TB_EV_CLOCK && !e->durable;
}

/* A recording of some CPUs has ties of the clocks, wherever the thread that makes them runs. */
TEST_DEV(hotplug, clocks_of_some_processors)
{
	uint32_t seen = 0;
	size_t bytes;
	char *at;
	int n = 0;

	ASSERT_EQ(0, only(self->fd, TB_MODE_STREAMING, 8, 2));
	self->s.event = see_clock;
	self->s.ctx = &seen;
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	for (WAIT(seen || n < 0)) {
		ASSERT_EQ(0, tb_flush(self->fd, -1));
		n = take(self->fd, &self->s, at);
	}
	EXPECT_LE(0, n);
	EXPECT_LT(0, seen);
	EXPECT_EQ(0, munmap(at, bytes));
}

/* ---- load ------------------------------------------------------------- */

/* Fires on a CPU, or elsewhere while it is offline, with interrupts in between. */
struct load {
	pthread_t thread;
	int cpu;
	bool stop;
};

static void *load_main(void *arg)
{
	struct load *l = arg;
	struct timespec us = { .tv_nsec = 1000 };
	uint32_t n = 0;

	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		pin(l->cpu);		/* fails while it is offline */
		fire(n, 20);
		n += 20;
		nanosleep(&us, NULL);
	}
	return NULL;
}

struct accounting {
	uint64_t attempted, overwritten, dropped, delivered, blocks;
};

/* Do the counts only grow, and add up? */
static bool accounting_go_on(int fd, uint32_t cpu, struct accounting *b)
{
	struct tb_stats st;
	bool ok;

	if (tb_stats(fd, cpu, &st))
		return false;
	ok = st.attempted >= b->attempted && st.overwritten >= b->overwritten &&
	     st.dropped >= b->dropped && st.delivered >= b->delivered && st.blocks >= b->blocks &&
	     st.attempted == st.delivered + st.overwritten + st.dropped + st.pending;
	if (!ok)
		printf("# cpu %u: attempted %llu after %llu, overwritten %llu, delivered %llu, blocks %llu\n",
		       cpu, (unsigned long long)st.attempted, (unsigned long long)b->attempted,
		       (unsigned long long)st.overwritten, (unsigned long long)st.delivered,
		       (unsigned long long)st.blocks);
	*b = (struct accounting){ .attempted = st.attempted, .overwritten = st.overwritten,
			     .dropped = st.dropped, .delivered = st.delivered,
			     .blocks = st.blocks };
	return ok;
}

/* CPU 1 goes offline and comes back three times, with events everywhere. */
static void under_load(struct __test_metadata *_metadata, int fd, struct stream *s,
		       uint32_t mode)
{
	struct load load[2] = { { .cpu = 0 }, { .cpu = 1 } };
	struct accounting accounting[2] = { 0 };
	struct tb_stats st;
	struct fired f;
	uint64_t before;
	const char *at;
	size_t bytes;
	int i, turn;

	follow(&f, s);
	ASSERT_EQ(0, tb_configure(fd, mode, 0, 8, ELEMENTS));
	ASSERT_LT(0, tb_enable(fd, "sched"));
	ASSERT_LT(0, tb_enable(fd, "irq"));
	ASSERT_LT(0, tb_enable(fd, "timer"));
	ASSERT_EQ(1, tb_enable(fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(fd, 0));
	at = tb_map(fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&load[i].thread, NULL, load_main, &load[i]));
	for (turn = 0; turn < 3; turn++) {
		before = accounting[1].attempted;
		for (WAIT(accounting[1].attempted > before + 1000)) {
			for (i = 0; i < 2; i++)
				ASSERT_TRUE(accounting_go_on(fd, i, &accounting[i]));
			ASSERT_LE(0, take(fd, s, at)) {
				TH_LOG("stream: %s", s->error);
			}
		}
		EXPECT_LT(before + 1000, accounting[1].attempted);
		ASSERT_TRUE(set_online(1, false));
		ASSERT_TRUE(accounting_go_on(fd, 1, &accounting[1]));
		before = accounting[1].attempted;
		/* all blocks of CPU 1 are there without a flush */
		ASSERT_LE(0, take(fd, s, at)) {
			TH_LOG("stream: %s", s->error);
		}
		ASSERT_EQ(0, tb_stats(fd, 1, &st));
		if (mode == TB_MODE_STREAMING)
			EXPECT_EQ(0, st.pending);
		EXPECT_EQ(ELEMENTS, st.fill);
		/* CPU 0 goes on, CPU 1 has no events */
		for (i = 0; i < 20; i++) {
			ASSERT_LE(0, take(fd, s, at)) {
				TH_LOG("stream: %s", s->error);
			}
			ASSERT_EQ(0, tb_flush(fd, -1));
			ASSERT_TRUE(accounting_go_on(fd, 0, &accounting[0]));
		}
		ASSERT_TRUE(accounting_go_on(fd, 1, &accounting[1]));
		EXPECT_EQ(before, accounting[1].attempted);
		ASSERT_TRUE(set_online(1, true));
	}
	for (i = 0; i < 2; i++)
		__atomic_store_n(&load[i].stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(load[i].thread, NULL));
	/* a last event on CPU 1, with nothing after it that could overwrite it */
	ASSERT_LT(0, tb_select(fd, TB_SELECT_DISABLE, "sched", 0));
	ASSERT_LT(0, tb_select(fd, TB_SELECT_DISABLE, "irq", 0));
	ASSERT_LT(0, tb_select(fd, TB_SELECT_DISABLE, "timer", 0));
	ASSERT_TRUE(fire_on_1(0xabcd, 1));
	ASSERT_EQ(0, munmap((void *)at, bytes));
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(tb_drain(fd, s), s);
	ASSERT_STREAM(stream_finish(s), s);
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(accounting_go_on(fd, i, &accounting[i]));
	EXPECT_EQ(0xabcd, f.last[1]);
	printf("# CPU 1: %llu events, %llu overwritten\n", (unsigned long long)accounting[1].attempted,
	       (unsigned long long)accounting[1].overwritten);
}

TEST_DEV(hotplug, streaming_under_load)
{
	under_load(_metadata, self->fd, &self->s, TB_MODE_STREAMING);
}

TEST_DEV(hotplug, circular_under_load)
{
	under_load(_metadata, self->fd, &self->s, TB_MODE_CIRCULAR);
}

/* ---- offline at configure and start ------------------------------------ */

/* A load would kill the test. */
static bool is_readable(const void *at)
{
	char to;
	struct iovec out = { &to, 1 }, in = { (void *)at, 1 };

	return process_vm_readv(getpid(), &out, 1, &in, 1, 0) == 1;
}

TEST_DEV(hotplug, offline_at_configure_and_start)
{
	struct tb_query q;
	struct fired f;
	size_t bytes;
	char *at;

	follow(&f, &self->s);
	ASSERT_TRUE(set_online(1, false));
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 4, ELEMENTS));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(1, q.nr_rings);
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	/* the mapping has a hole where the ring of CPU 1 is missing */
	EXPECT_FALSE(is_readable(at + q.ring_stride));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(0, tb_flush(self->fd, 1));
	fire(0, 3);
	/* CPU 1 gets its ring before it comes, and the mapping shows it */
	ASSERT_TRUE(set_online(1, true));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(2, q.nr_rings);
	EXPECT_TRUE(is_readable(at + q.ring_stride));
	EXPECT_EQ(1, ((struct tb_ring_header *)(at + q.ring_stride))->cpu);
	ASSERT_EQ(0, munmap(at, bytes));
	ASSERT_TRUE(fire_on_1(0, 7));
	ASSERT_TRUE(set_online(1, false));
	EXPECT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(3, f.count[0]);
	EXPECT_EQ(7, f.count[1]);
}

/* There is one buffer: going offline must not close it. */
TEST_DEV(hotplug, oneshot_goes_on)
{
	struct fired f;

	follow(&f, &self->s);
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_ONESHOT, 0, 1, ELEMENTS));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_TRUE(fire_on_1(0, 3));
	ASSERT_TRUE(set_online(1, false));
	ASSERT_TRUE(set_online(1, true));
	/* threads of CPU hotplug may have filled the rest */
	ASSERT_TRUE(fire_on_1(3, 100));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(1, self->s.ring[1].totals.blocks);
	EXPECT_LE(3, f.count[1]);
	EXPECT_LE(103, self->s.ring[1].totals.attempted);
	/* full to within an event: hotplug has not closed the buffer */
	EXPECT_LE(PER_BLOCK - 2, self->s.ring[1].totals.recorded);
}

/* ---- some CPUs only --------------------------------------------------- */

/* Does a read at @offset get SIGBUS? A child tries. */
static bool is_hole(int fd, const struct tb_query *q, uint64_t offset)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		/* a child does not inherit the mapping */
		const char *at = mmap(NULL, q->map_bytes, PROT_READ, MAP_SHARED, fd, 0);

		signal(SIGBUS, SIG_DFL);
		_exit(at == MAP_FAILED ? 2 : *(volatile const char *)(at + offset) & 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGBUS;
}

TEST_DEV(hotplug, only_these_are_recorded)
{
	struct tb_stats st;
	struct tb_query q;
	struct fired f;
	uint32_t cpu;
	uint64_t at;

	for (cpu = 0; cpu < 2; cpu++) {
		stream_free(&self->s);
		follow(&f, &self->s);
		ASSERT_EQ(0, only(self->fd, 0, 4, 1 << cpu));
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		ASSERT_EQ(0, tb_query(self->fd, &q));
		fire(0, 20);
		ASSERT_TRUE(fire_on_1(0, 30));
		/* the other CPU is not recorded, not counted, and not in the mapping */
		ASSERT_EQ(0, tb_stats(self->fd, !cpu, &st));
		EXPECT_EQ(0, st.attempted);
		EXPECT_EQ(0, st.dropped);
		EXPECT_EQ(0, st.blocks);
		EXPECT_EQ(-EINVAL, tb_flush(self->fd, !cpu));
		EXPECT_EQ(0, tb_flush(self->fd, cpu));
		EXPECT_EQ(0, tb_flush(self->fd, -1));
		at = !cpu * q.ring_stride;
		EXPECT_TRUE(is_hole(self->fd, &q, at));
		EXPECT_TRUE(is_hole(self->fd, &q, at + q.ring_header));
		EXPECT_TRUE(is_hole(self->fd, &q, at + q.ring_stride - 1));
		at = cpu * q.ring_stride;
		EXPECT_FALSE(is_hole(self->fd, &q, at));
		EXPECT_FALSE(is_hole(self->fd, &q, at + q.ring_header));
		EXPECT_FALSE(is_hole(self->fd, &q, q.durable_offset));
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		EXPECT_EQ(0, f.count[!cpu]);
		EXPECT_EQ(cpu ? 30 : 20, f.count[cpu]);
		EXPECT_TRUE(self->s.ring[cpu].have_totals);
		EXPECT_FALSE(self->s.ring[!cpu].have_totals);
		EXPECT_EQ(0, self->s.ring[!cpu].blocks);
	}
}

TEST_DEV(hotplug, with_a_set)
{
	struct fired f;
	uint32_t set;

	/* the CPU that goes offline is recorded, or is not */
	for (set = 1; set <= 2; set++) {
		stream_free(&self->s);
		follow(&f, &self->s);
		ASSERT_EQ(0, only(self->fd, 0, 8, set));
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		fire(0, 5);
		ASSERT_TRUE(fire_on_1(0, 6));
		ASSERT_TRUE(set_online(1, false));
		EXPECT_EQ(0, tb_flush(self->fd, -1));
		EXPECT_EQ(set == 2 ? 0 : -EINVAL, tb_flush(self->fd, 1));
		fire(0, 5);
		ASSERT_TRUE(set_online(1, true));
		ASSERT_TRUE(fire_on_1(0, 6));
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		EXPECT_EQ(set == 1 ? 10 : 0, f.count[0]);
		EXPECT_EQ(set == 2 ? 12 : 0, f.count[1]);
	}
	/* a CPU that is offline can be chosen */
	ASSERT_TRUE(set_online(1, false));
	stream_free(&self->s);
	follow(&f, &self->s);
	ASSERT_EQ(0, only(self->fd, 0, 8, 2));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_TRUE(set_online(1, true));
	ASSERT_TRUE(fire_on_1(0, 9));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(9, f.count[1]);
}

TEST_DEV(hotplug, bad_sets)
{
	uint8_t mask[1025] = { 0 };
	struct tb_query before, after;

	ASSERT_EQ(0, only(self->fd, 0, 4, 1));
	ASSERT_EQ(0, tb_query(self->fd, &before));
	/* no CPU */
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, mask, 1));
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, mask, 1024));
	/* a mask or a size that is missing or too large */
	mask[0] = 1;
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, mask, 0));
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, NULL, 1));
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, mask, 1025));
	EXPECT_EQ(-EFAULT, configure(self->fd, 0, 8, (void *)8, 1));
	/* CPUs that do not exist */
	mask[1023] = 0x80;
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, mask, 1024));
	mask[1023] = 0;
	mask[before.nr_cpus / 8] |= 1 << before.nr_cpus % 8;
	EXPECT_EQ(-EINVAL, configure(self->fd, 0, 8, mask, before.nr_cpus / 8 + 1));
	ASSERT_EQ(0, tb_query(self->fd, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
	/* a longer mask than needed is fine; no mask means all CPUs */
	memset(mask, 0, sizeof(mask));
	mask[0] = 1;
	EXPECT_EQ(0, configure(self->fd, 0, 8, mask, 1024));
	EXPECT_EQ(0, configure(self->fd, 0, 8, NULL, 0));
}

TEST_HARNESS_MAIN
