// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of tasks, softirqs and interrupts on one CPU have the right context, in an order that
 * nesting explains. If a test fails, a trace blames a task for an interrupt, or an interrupt
 * corrupts the event that it interrupted.
 *
 * With TRACEBUF_ICOUNT in the environment (scripts/vm -i) interrupts come at any instruction, also
 * while an event is recorded.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "tbtest.h"

#define FLAGS	(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ | TB_CONTEXT_NMI)

DEVICE_FIXTURE(context)

/* Makes interrupts: reads files from the disk that no program has read yet. */
static void files(DIR *dir, int n)
{
	struct dirent *d;
	struct stat st;

	while (n-- && (d = readdir(dir)))
		fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW);
}

#if defined(__aarch64__)
#define MULTIARCH	"aarch64-linux-gnu"
#else
#define MULTIARCH	"x86_64-linux-gnu"
#endif

/* Makes timers, system calls and interrupts. */
static void work(int rounds, const char *dir_name)
{
	DIR *dir = getenv("TRACEBUF_ICOUNT") ? NULL : opendir(dir_name);
	struct itimerspec every = { { 0, 200000 }, { 0, 200000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	char buf[4096];
	uint64_t n;
	int i, j, file;

	timerfd_settime(fd, 0, &every, NULL);
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < 200; j++)
			syscall(NR_NOWHERE);
		file = open("/proc/stat", O_RDONLY);
		while (read(file, buf, sizeof(buf)) > 0)
			;
		close(file);
		if (dir)
			files(dir, 5);
		if (read(fd, &n, sizeof(n)) != sizeof(n))
			abort();
	}
	close(fd);
	if (dir)
		closedir(dir);
}

struct contexts {
	struct stream *s;
	/*
	 * Set between the first and the last numbered event: probes are attached and detached one
	 * after the other, and all are there only in between.
	 */
	bool inside;
	/* the wide form has softirqs; this test does not read the context of compact events */
	bool wide;
	uint32_t calls, softirqs, irqs, timers, timers_nested, wrong;
	/* what CPU 0 has entered, and not left yet */
	bool in_softirq, in_timer, in_irq;
};

static void wrong(struct contexts *c, const struct stream_event *e, const char *what)
{
	if (c->wrong++ < 5)
		printf("# %s: event %u of cpu %u, block %llu, context %#x\n", what, e->id, e->cpu,
		       (unsigned long long)e->block, e->context);
}

/* Entry and exit of something that does not nest in itself must alternate. */
static void bracket(struct contexts *c, const struct stream_event *e, bool entry, bool *in,
		    const char *what)
{
	if (!c->inside || e->cpu)
		return;
	if (entry == *in)
		wrong(c, e, what);
	*in = entry;
}

static void see(void *ctx, const struct stream_event *e)
{
	struct contexts *c = ctx;
	uint16_t in = e->context & FLAGS;
	uint32_t number;

	if (e->simple || e->durable || e->id <= TB_EV_CONTROL_LAST)
		return;
	if (in & TB_CONTEXT_NMI)
		wrong(c, e, "nmi");
	if (is_fired(c->s, e, &number)) {
		c->inside = number == 0;
		if (in)
			wrong(c, e, "system call");
		return;
	}
	if (stream_is(c->s, e, "sys_enter") || stream_is(c->s, e, "sys_exit")) {
		c->calls++;
		if (in)
			wrong(c, e, "system call");
	} else if (stream_is(c->s, e, "softirq_entry") || stream_is(c->s, e, "softirq_exit")) {
		c->softirqs++;
		if (in != TB_CONTEXT_SOFTIRQ)
			wrong(c, e, "softirq");
		bracket(c, e, stream_is(c->s, e, "softirq_entry"), &c->in_softirq,
			"softirq in softirq");
	} else if (stream_is(c->s, e, "irq_handler_entry") ||
		   stream_is(c->s, e, "irq_handler_exit")) {
		c->irqs++;
		if (!(in & TB_CONTEXT_HARDIRQ))
			wrong(c, e, "interrupt");
		/* of the compact forms there are only exits, which the test does not see */
		if (c->wide)
			bracket(c, e, stream_is(c->s, e, "irq_handler_entry"), &c->in_irq,
				"interrupt in interrupt");
	} else if (stream_is(c->s, e, "hrtimer_expire_entry") ||
		   stream_is(c->s, e, "hrtimer_expire_exit")) {
		/* soft timers run in softirqs */
		if (!in)
			wrong(c, e, "timer");
		if (!(in & TB_CONTEXT_HARDIRQ))
			return;
		c->timers++;
		if (in & TB_CONTEXT_SOFTIRQ)
			c->timers_nested++;
		/*
		 * Not the other way round: the kernel serves softirqs for a while before the first
		 * entry and after the last exit.
		 */
		else if (c->wide && c->inside && !e->cpu && c->in_softirq)
			wrong(c, e, "timer out of the softirq it came in");
		bracket(c, e, stream_is(c->s, e, "hrtimer_expire_entry"), &c->in_timer,
			"timer in timer");
	}
}

static void nested(struct __test_metadata *_metadata, int fd, struct stream *s, uint32_t form,
		   const char *dir)
{
	struct contexts c = { .s = s, .wide = form == TB_FORM_WIDE };
	int i;

	s->event = see;
	s->ctx = &c;
	ASSERT_EQ(0, tb_configure(fd, TB_MODE_STREAMING, TB_POLICY_DROP, 256, 1024));
	/* without switches all events are recorded in the wide form */
	if (form == TB_FORM_COMPACT)
		ASSERT_EQ(1, tb_select(fd, TB_SELECT_ENABLE, "sched_switch", form));
	ASSERT_EQ(2, tb_select(fd, TB_SELECT_ENABLE, "raw_syscalls", form));
	ASSERT_EQ(2, tb_select(fd, TB_SELECT_ENABLE, "hrtimer_expire_*", form));
	ASSERT_LE(5, tb_select(fd, TB_SELECT_ENABLE, "irq", form));
	ASSERT_EQ(1, tb_enable(fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(fd, 0));
	fire(0, 1);
	work(30, dir);
	fire(1, 1);
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(tb_drain(fd, s), s);
	ASSERT_STREAM(stream_finish(s), s);
	for (i = 0; i < STREAM_CPUS; i++)
		ASSERT_EQ(0, s->ring[i].totals.dropped);
	EXPECT_EQ(0, c.wrong);
	if (form == TB_FORM_WIDE) {
		EXPECT_LT(2 * 30 * 200, c.calls);
		EXPECT_LT(0, c.softirqs);
		if (!getenv("TRACEBUF_ICOUNT"))
			EXPECT_LT(0, c.irqs);
	}
	EXPECT_LT(10, c.timers);
	printf("# %u system call events, %u softirq, %u irq, %u timer (%u in softirqs)\n", c.calls,
	       c.softirqs, c.irqs, c.timers, c.timers_nested);
}

TEST_DEV(context, task_softirq_irq_wide)
{
	nested(_metadata, self->fd, &self->s, TB_FORM_WIDE, "/usr/bin");
}

TEST_DEV(context, task_softirq_irq_compact)
{
	nested(_metadata, self->fd, &self->s, TB_FORM_COMPACT, "/usr/lib/" MULTIARCH);
}

/* In the smallest ring, which wraps all the time: each block is right, and so are the counts. */
static void wrapping(struct __test_metadata *_metadata, int fd, struct stream *s, uint32_t policy)
{
	struct tb_stats st;
	uint32_t retries = 0;
	int i;

	ASSERT_EQ(0, tb_configure(fd, TB_MODE_STREAMING, policy, 3, 64));
	ASSERT_LT(50, tb_select(fd, TB_SELECT_ENABLE, "all", TB_FORM_COMPACT));
	ASSERT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	work(30, "/usr/share/man/man1");
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_EQ(0, tb_stats(fd, 0, &st));
	EXPECT_EQ(st.attempted, st.delivered + st.overwritten + st.dropped + st.pending);
	EXPECT_LT(1000, policy == TB_POLICY_DROP ? st.dropped : st.overwritten);
	ASSERT_STREAM(tb_drain(fd, s), s);
	ASSERT_STREAM(stream_finish(s), s);
	EXPECT_EQ(st.pending, s->ring[0].events);
	for (i = 0; i < (int)s->init.nr_cpus; i++) {
		ASSERT_EQ(0, tb_stats(fd, i, &st));
		EXPECT_EQ(0, st.pending);
		retries += st.retries;
	}
	printf("# %u retries\n", retries);
}

TEST_DEV(context, wrapping_overwrite)
{
	wrapping(_metadata, self->fd, &self->s, TB_POLICY_OVERWRITE);
}

TEST_DEV(context, wrapping_drop)
{
	wrapping(_metadata, self->fd, &self->s, TB_POLICY_DROP);
}

/* An interrupt between the reading of head and the exchange makes the writer retry. */
TEST_DEV(context, interrupted_reservations_are_retried)
{
	bool icount = getenv("TRACEBUF_ICOUNT");
	uint64_t retries = 0;
	struct tb_stats st;
	int round;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
	ASSERT_LT(50, tb_select(self->fd, TB_SELECT_ENABLE, "all", TB_FORM_COMPACT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	/* without icount interrupts come between translated blocks only */
	for (round = 0; round < (icount ? 100 : 3) && !retries; round++) {
		work(20, "/usr/share/man/man8");
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		retries = st.retries;
	}
	if (icount)
		EXPECT_LT(0, retries);
	printf("# %llu retries after %d rounds\n", (unsigned long long)retries, round);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
}

TEST_HARNESS_MAIN
