// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules, tests, counters and sets of threads as the ioctls take them: each way of being wrong
 * with its error and its place, programs made at random, and a thousand changes of mind
 * under load, after which the books balance and nothing is left.
 *
 * RULE_RUNS= and RULE_SEED= make the random parts longer, and others.  The thousand are a
 * fifth of that unless TRACEBUF_FULL is set: under load each takes a while.
 */
#include "tbtest.h"

#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "forking.h"

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

FIXTURE(rule_ioctl) {
	int fd;
	struct stream s;
	struct stream other;
};

static int set_rule(int fd, struct tb_rule *r)
{
	return ioctl(fd, TB_IOC_RULE, r) ? -errno : 0;
}

static int no_rules(int fd)
{
	struct tb_rule r = { .index = TB_RULE_ALL };

	return set_rule(fd, &r);
}

static int set_pids(int fd, const void *pids, uint32_t count, uint32_t flags, uint32_t *bad)
{
	struct tb_pids p = { .pids = (uintptr_t)pids, .count = count, .flags = flags };
	int ret = ioctl(fd, TB_IOC_PIDS, &p) ? -errno : 0;

	if (bad)
		*bad = p.bad;
	return ret;
}

static uint64_t suppressed(int fd, uint32_t index)
{
	struct tb_suppressed_info i = { .index = index };
	const struct tb_suppressed *s = &i.suppressed;

	if (ioctl(fd, TB_IOC_SUPPRESSED, &i))
		return ~0ull;
	return s->filtered + s->sampled + s->limited + s->vetoed + s->nested;
}

FIXTURE_SETUP(rule_ioctl)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, no_rules(self->fd));
	ASSERT_EQ(0, set_pids(self->fd, NULL, 0, 0, NULL));
	ASSERT_EQ(0, pin(0));
	stream_init(&self->s);
	stream_init(&self->other);
}

FIXTURE_TEARDOWN(rule_ioctl)
{
	tb_stop(self->fd);
	no_rules(self->fd);
	set_pids(self->fd, NULL, 0, 0, NULL);
	tb_select(self->fd, TB_SELECT_DISABLE, "all", 0);
	tb_destroy_all(self->fd);
	close(self->fd);
	stream_free(&self->s);
	stream_free(&self->other);
}

/* ---- events ----------------------------------------------------------- */

struct event {
	struct tb_event_info info;
	uint32_t form;
	union {
		struct tb_event_desc d;
		char room[16384];
	};
};

static int describe(int fd, uint32_t index, bool fast, struct event *e)
{
	memset(&e->info, 0, sizeof(e->info));
	e->form = fast ? TB_FORM_FAST : TB_FORM_WIDE;
	e->info.index = index;
	e->info.flags = fast ? TB_INFO_FAST : 0;
	e->info.desc = (uintptr_t)e->room;
	e->info.desc_size = sizeof(e->room);
	return ioctl(fd, TB_IOC_EVENT, &e->info) ? -errno : 0;
}

static int find_event(int fd, const char *name, struct event *e)
{
	uint32_t index;
	int ret;

	for (index = 0; !(ret = describe(fd, index, false, e)); index++)
		if (!strcmp(e->info.name, name))
			break;
	return ret;
}

static const struct tb_field *fields(const struct event *e)
{
	return (const void *)(&e->d + 1);
}

/* ---- a program that is right ------------------------------------------ */

struct program {
	struct tb_rule rule;
	struct tb_test tests[TB_TESTS_MAX + 1];
	uint8_t data[TB_TEST_DATA_MAX + 1];
};

static void point(struct program *p)
{
	p->rule.tests = (uintptr_t)p->tests;
	p->rule.data = (uintptr_t)p->data;
}

static struct tb_test test_of(uint8_t op, const struct tb_field *f)
{
	return (struct tb_test){ .op = op, .offset = f->offset, .size = f->size,
				 .yes = TB_TEST_PASS, .no = TB_TEST_REJECT };
}

/*
 * Of signal_generate: a number that is signed, one in a bitmap, the name in the event and
 * that of the thread by patterns, the thread.
 */
enum { LESS, IN, NAME, COMM, TID, TESTS };

static void legal(const struct event *e, struct program *p)
{
	const struct tb_field *comm = desc_field(&e->d, "comm");
	int i;

	memset(p, 0, sizeof(*p));
	p->rule.index = e->info.index;
	p->rule.form = TB_FORM_WIDE;
	memcpy(p->data, "\xff\x0f*[a-z]?\\*", 11);
	p->rule.nr_tests = TESTS;
	p->rule.data_bytes = 11;
	point(p);
	p->tests[LESS] = test_of(TB_TEST_LT, desc_field(&e->d, "errno"));
	p->tests[LESS].flags = TB_TEST_SIGNED;
	p->tests[LESS].value = 10;
	p->tests[IN] = test_of(TB_TEST_IN, desc_field(&e->d, "sig"));
	p->tests[IN].data_bytes = 2;
	p->tests[NAME] = test_of(TB_TEST_GLOB, comm);
	p->tests[NAME].size = 0;
	p->tests[NAME].length = comm->size;
	p->tests[NAME].data = 2;
	p->tests[NAME].data_bytes = 9;
	p->tests[COMM] = p->tests[NAME];
	p->tests[COMM].source = TB_TEST_COMM;
	p->tests[COMM].offset = 0;
	p->tests[COMM].length = 0;
	p->tests[TID] = test_of(TB_TEST_EQ, desc_field(&e->d, "pid"));
	p->tests[TID].source = TB_TEST_TID;
	p->tests[TID].offset = 0;
	p->tests[TID].size = 0;
	for (i = 0; i + 1 < TESTS; i++)
		p->tests[i].no = 0;
}

TEST_DEV(rule_ioctl, what_is_right_is_left_alone)
{
	struct program p, was;
	struct event e;

	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	legal(&e, &p);
	p.rule.flags = TB_RULE_STACK | TB_RULE_USER_STACK;
	p.rule.sample = ~0u;
	p.rule.rate = ~0u;
	was = p;
	/* again with the same structure */
	ASSERT_EQ(0, set_rule(self->fd, &p.rule));
	EXPECT_EQ(0, memcmp(&was, &p, sizeof(p)));
	ASSERT_EQ(0, set_rule(self->fd, &p.rule));
	/* no rule at all, before and after */
	memset(&p.rule, 0, sizeof(p.rule));
	p.rule.index = e.info.index;
	p.rule.form = TB_FORM_WIDE;
	EXPECT_EQ(0, set_rule(self->fd, &p.rule));
	EXPECT_EQ(0, set_rule(self->fd, &p.rule));
}

/* ---- each field wrong ------------------------------------------------- */

struct wrong {
	const char *what;
	int test;		/* which; -1: the rule */
	size_t offset, size;
	uint64_t value;
	int err;
};

#define RULE(field, v, e) \
	{ #field " = " #v, -1, offsetof(struct tb_rule, field), \
	  sizeof(((struct tb_rule *)0)->field), v, e }
#define TEST_AT(t, field, v) \
	{ #t "." #field " = " #v, t, offsetof(struct tb_test, field), \
	  sizeof(((struct tb_test *)0)->field), v, EINVAL }

static const struct wrong wrongs[] = {
	RULE(index, 1000000, ENOENT), RULE(index, TB_RULE_ALL, EINVAL),
	RULE(index, TB_RULE_ALL - 1, ENOENT),
	RULE(form, 0, EINVAL), RULE(form, 3, EINVAL), RULE(form, ~0u, EINVAL),
	/* it has no such form */
	RULE(form, TB_FORM_FAST, EINVAL),
	RULE(flags, 4, EINVAL), RULE(flags, 0x80000000, EINVAL),
	RULE(rate, 1ull << 32, EINVAL), RULE(rate, ~0ull, EINVAL),
	RULE(tests, 0, EFAULT), RULE(tests, 8, EFAULT), RULE(tests, ~0ull, EFAULT),
	RULE(tests, 1ull << 63, EFAULT),
	RULE(nr_tests, 0, EINVAL), RULE(nr_tests, TB_TESTS_MAX + 1, EINVAL),
	RULE(nr_tests, ~0u, EINVAL),
	RULE(data_bytes, 0, EINVAL), RULE(data_bytes, TB_TEST_DATA_MAX + 1, EINVAL),
	RULE(data_bytes, ~0u, EINVAL),
	RULE(data, 0, EFAULT), RULE(data, 8, EFAULT), RULE(data, ~0ull, EFAULT),
	RULE(nr_counters, 1, EFAULT), RULE(nr_counters, TB_COUNTERS_MAX + 1, EINVAL),
	RULE(nr_counters, ~0u, EINVAL),
	RULE(bad, 1, EINVAL),
	RULE(reserved[0], 1, EINVAL), RULE(reserved[3], 1ull << 63, EINVAL),

	TEST_AT(LESS, op, 0), TEST_AT(LESS, op, 8), TEST_AT(LESS, op, 255),
	/* these take something else */
	TEST_AT(LESS, op, TB_TEST_GLOB), TEST_AT(LESS, op, TB_TEST_EMPTY),
	TEST_AT(LESS, op, TB_TEST_IN), TEST_AT(IN, op, TB_TEST_EQ),
	TEST_AT(NAME, op, TB_TEST_EMPTY),
	TEST_AT(LESS, source, TB_TEST_TID), TEST_AT(LESS, source, TB_TEST_COMM),
	TEST_AT(LESS, source, 7), TEST_AT(LESS, source, 255), TEST_AT(NAME, source, TB_TEST_COMM),
	TEST_AT(NAME, source, TB_TEST_CPU), TEST_AT(COMM, source, TB_TEST_FIELD),
	TEST_AT(TID, source, TB_TEST_FIELD), TEST_AT(TID, source, TB_TEST_COMM),
	TEST_AT(LESS, size, 0), TEST_AT(LESS, size, 3), TEST_AT(LESS, size, 8),
	TEST_AT(LESS, size, 16), TEST_AT(LESS, size, 255), TEST_AT(NAME, size, 1),
	TEST_AT(TID, size, 4), TEST_AT(COMM, size, 1),
	TEST_AT(LESS, flags, 8), TEST_AT(LESS, flags, TB_TEST_DATA_LOC),
	TEST_AT(LESS, flags, TB_TEST_SIGNED | TB_TEST_REL_LOC), TEST_AT(LESS, flags, 0x80),
	TEST_AT(NAME, flags, TB_TEST_SIGNED), TEST_AT(NAME, flags, TB_TEST_DATA_LOC),
	TEST_AT(NAME, flags, TB_TEST_REL_LOC), TEST_AT(COMM, flags, TB_TEST_DATA_LOC),
	TEST_AT(LESS, offset, 2), TEST_AT(LESS, offset, 4000), TEST_AT(LESS, offset, 65535),
	TEST_AT(LESS, offset, 65533), TEST_AT(NAME, offset, 0), TEST_AT(NAME, offset, 65535),
	TEST_AT(COMM, offset, 1), TEST_AT(TID, offset, 1),
	TEST_AT(LESS, length, 4), TEST_AT(NAME, length, 0), TEST_AT(NAME, length, 15),
	TEST_AT(NAME, length, 17), TEST_AT(NAME, length, 65535), TEST_AT(COMM, length, 16),
	TEST_AT(LESS, bit, 1), TEST_AT(LESS, bits, 1), TEST_AT(LESS, bits, 32),
	TEST_AT(LESS, bit, 255), TEST_AT(LESS, bits, 255), TEST_AT(NAME, bits, 1),
	TEST_AT(NAME, bit, 1), TEST_AT(TID, bit, 1),
	TEST_AT(LESS, yes, TESTS - 1), TEST_AT(LESS, no, TESTS - 1), TEST_AT(TID, yes, 0),
	TEST_AT(TID, no, 0), TEST_AT(COMM, yes, 1), TEST_AT(LESS, yes, 0xfffd),
	TEST_AT(NAME, no, 0x8000),
	TEST_AT(LESS, data, 1), TEST_AT(LESS, data_bytes, 1), TEST_AT(IN, data, 10),
	TEST_AT(IN, data, 65535), TEST_AT(IN, data_bytes, 0), TEST_AT(IN, data_bytes, 12),
	TEST_AT(IN, data_bytes, 65535), TEST_AT(NAME, data, 3), TEST_AT(NAME, data_bytes, 10),
	TEST_AT(NAME, data_bytes, TB_GLOB_MAX + 1),
	/* brackets that are not closed, what is to be taken literally is not there */
	TEST_AT(NAME, data_bytes, 2), TEST_AT(COMM, data_bytes, 5), TEST_AT(COMM, data_bytes, 8),
	TEST_AT(NAME, value, 1), TEST_AT(IN, value, 1), TEST_AT(COMM, value, 1),
	TEST_AT(LESS, reserved[0], 1), TEST_AT(IN, reserved[1], 0x8000),
	TEST_AT(NAME, reserved[2], 1), TEST_AT(TID, reserved[2], 1),
};

static void spoil(struct program *p, const struct wrong *w)
{
	char *in = w->test < 0 ? (char *)&p->rule : (char *)&p->tests[w->test];

	/* little-endian, as the ABI */
	memcpy(in + w->offset, &w->value, w->size);
}

TEST_DEV(rule_ioctl, each_field_wrong_in_turn)
{
	struct program p;
	struct event e;
	size_t i;

	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	for (i = 0; i < ARRAY_LEN(wrongs); i++) {
		legal(&e, &p);
		ASSERT_EQ(0, set_rule(self->fd, &p.rule));
		spoil(&p, &wrongs[i]);
		EXPECT_EQ(-wrongs[i].err, set_rule(self->fd, &p.rule)) {
			TH_LOG("%s", wrongs[i].what);
		}
		if (wrongs[i].test < 0)
			continue;
		EXPECT_EQ(wrongs[i].test, p.rule.bad) {
			TH_LOG("%s", wrongs[i].what);
		}
	}
}

/* The one that is wrong is told, wherever it is, and the first of two. */
TEST_DEV(rule_ioctl, the_place_of_what_is_wrong)
{
	struct program p;
	struct event e;
	int i, n;

	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	legal(&e, &p);
	for (i = 0; i < TB_TESTS_MAX; i++)
		p.tests[i] = p.tests[i % TESTS];
	p.tests[TB_TESTS_MAX - 1] = p.tests[TID];
	for (n = 0; n < TB_TESTS_MAX; n++)
		p.tests[n].no = TB_TEST_REJECT;
	p.rule.nr_tests = TB_TESTS_MAX;
	ASSERT_EQ(0, set_rule(self->fd, &p.rule));
	for (i = 0; i < TB_TESTS_MAX; i++) {
		p.tests[i].reserved[i % 3] = 1;
		p.tests[TB_TESTS_MAX - 1].no = 0;
		ASSERT_EQ(-EINVAL, set_rule(self->fd, &p.rule));
		ASSERT_EQ(i, p.rule.bad);
		p.rule.bad = 0;
		p.tests[i].reserved[i % 3] = 0;
		p.tests[TB_TESTS_MAX - 1].no = TB_TEST_REJECT;
	}
}

/* The size of the structure is part of the command. */
TEST_DEV(rule_ioctl, other_sizes)
{
	struct {
		struct program p;
		uint64_t more[2];
	} a;
	struct {
		struct tb_rule rule;
		uint64_t more[2];
	} r = { 0 };
	struct event e;

	memset(&a, 0, sizeof(a));
	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	legal(&e, &a.p);
	r.rule = a.p.rule;
	EXPECT_EQ(-1, ioctl(self->fd, _IOC(_IOC_READ | _IOC_WRITE, TB_IOC_MAGIC, 16,
					   sizeof(r.rule) - 8), &r));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IOC(_IOC_READ | _IOC_WRITE, TB_IOC_MAGIC, 16, 0), &r));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, ioctl(self->fd, _IOC(_IOC_READ | _IOC_WRITE, TB_IOC_MAGIC, 16, sizeof(r)),
			   &r));
	r.more[1] = 1;
	EXPECT_EQ(-1, ioctl(self->fd, _IOC(_IOC_READ | _IOC_WRITE, TB_IOC_MAGIC, 16, sizeof(r)),
			    &r));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_RULE, (void *)8));
	EXPECT_EQ(EFAULT, errno);
}

TEST_DEV(rule_ioctl, suppressed_takes_nothing_else)
{
	struct tb_suppressed_info zero = { .index = TB_RULE_ALL }, i;
	size_t at;

	for (at = sizeof(i.index); at < sizeof(i); at++) {
		i = zero;
		((char *)&i)[at] = 1;
		EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SUPPRESSED, &i)) {
			TH_LOG("byte %zu", at);
		}
		EXPECT_EQ(EINVAL, errno);
	}
	i = zero;
	EXPECT_EQ(0, ioctl(self->fd, TB_IOC_SUPPRESSED, &i));
	EXPECT_EQ(0, memcmp(&zero, &i, sizeof(i)));
	i.index = 1000000;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SUPPRESSED, &i));
	EXPECT_EQ(ENOENT, errno);
}

/* ---- counters --------------------------------------------------------- */

static struct tb_counter software(uint32_t n)
{
	struct tb_counter c = { .type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_CONTEXT_SWITCHES };

	snprintf(c.name, sizeof(c.name), "switches %u", n);
	return c;
}

TEST_DEV(rule_ioctl, counters)
{
	struct tb_counter c[TB_COUNTERS_MAX];
	struct tb_rule r = { .form = TB_FORM_WIDE, .counters = (uintptr_t)c };
	static const struct {
		size_t offset;
		uint8_t value;
		int err;
	} wrong[] = {
		{ offsetof(struct tb_counter, type), PERF_TYPE_TRACEPOINT, EOPNOTSUPP },
		{ offsetof(struct tb_counter, type), PERF_TYPE_BREAKPOINT, EOPNOTSUPP },
		{ offsetof(struct tb_counter, type), 100, EOPNOTSUPP },
		{ offsetof(struct tb_counter, config), 200, EOPNOTSUPP },
		{ offsetof(struct tb_counter, reserved), 1, EINVAL },
		{ offsetof(struct tb_counter, reserved) + 3, 1, EINVAL },
		{ offsetof(struct tb_counter, name), 0, EINVAL },
	};
	uint32_t i, n, second;
	struct event e;

	ASSERT_EQ(0, find_event(self->fd, "signal_deliver", &e));
	second = e.info.index;
	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	r.index = e.info.index;
	for (i = 0; i < TB_COUNTERS_MAX; i++)
		c[i] = software(i);
	for (n = 1; n <= TB_COUNTERS_MAX; n++) {
		for (i = 0; i < ARRAY_LEN(wrong); i++) {
			((uint8_t *)&c[n - 1])[wrong[i].offset] = wrong[i].value;
			r.nr_counters = n;
			r.bad = 0;
			ASSERT_EQ(-wrong[i].err, set_rule(self->fd, &r)) {
				TH_LOG("%u of %u", i, n);
			}
			ASSERT_EQ(n - 1, r.bad);
			c[n - 1] = software(n - 1);
		}
	}
	memset(c[2].name, 'x', sizeof(c[2].name));
	r.bad = 0;
	ASSERT_EQ(-EINVAL, set_rule(self->fd, &r));
	ASSERT_EQ(2, r.bad);
	c[2] = software(2);
	/* all there can be, twice over; one more for another event; then it can have them */
	r.bad = 0;
	ASSERT_EQ(0, set_rule(self->fd, &r));
	ASSERT_EQ(0, set_rule(self->fd, &r));
	ASSERT_EQ(0, r.bad);
	c[3] = software(100);
	r.index = second;
	ASSERT_EQ(-ENOSPC, set_rule(self->fd, &r));
	ASSERT_EQ(3, r.bad);
	r.bad = 0;
	r.nr_counters = 3;
	ASSERT_EQ(0, set_rule(self->fd, &r));
	ASSERT_EQ(0, no_rules(self->fd));
	r.nr_counters = TB_COUNTERS_MAX;
	ASSERT_EQ(0, set_rule(self->fd, &r));
}

TEST_DEV(rule_ioctl, stacks_and_counters_follow_their_events)
{
	struct tb_counter c[2] = { software(0), software(1) };
	struct tb_rule r = { .form = TB_FORM_WIDE, .nr_counters = 2, .counters = (uintptr_t)c,
			     .flags = TB_RULE_STACK | TB_RULE_USER_STACK };
	struct event e;

	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	r.index = e.info.index;
	ASSERT_EQ(0, set_rule(self->fd, &r));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 50);
	/* another rule while it runs: counters go, and come */
	r.nr_counters = 1;
	ASSERT_EQ(0, set_rule(self->fd, &r));
	fire(50, 50);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	/* of each the kernel's, and that of the user who sends a signal */
	EXPECT_LE(200, self->s.stacks);
	EXPECT_LE(100, self->s.counters);
}

/* ---- sets of threads -------------------------------------------------- */

TEST_DEV(rule_ioctl, sets_of_threads)
{
	static uint32_t ids[TB_PIDS_MAX + 1];
	uint32_t me = getpid(), bad, i;
	struct tb_pids p;
	size_t at;

	for (i = 0; i <= TB_PIDS_MAX; i++)
		ids[i] = me;
	EXPECT_EQ(-EINVAL, set_pids(self->fd, ids, TB_PIDS_MAX + 1, 0, NULL));
	EXPECT_EQ(-EINVAL, set_pids(self->fd, ids, ~0u, 0, NULL));
	EXPECT_EQ(-EINVAL, set_pids(self->fd, ids, 1, 8, NULL));
	EXPECT_EQ(-EINVAL, set_pids(self->fd, NULL, 0, TB_PIDS_EXCLUDE, NULL));
	EXPECT_EQ(-EFAULT, set_pids(self->fd, NULL, 1, 0, NULL));
	EXPECT_EQ(-EFAULT, set_pids(self->fd, (void *)~7ull, TB_PIDS_MAX, 0, NULL));
	for (at = offsetof(struct tb_pids, bad); at < sizeof(p); at++) {
		memset(&p, 0, sizeof(p));
		((char *)&p)[at] = 1;
		EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_PIDS, &p)) {
			TH_LOG("byte %zu", at);
		}
		EXPECT_EQ(EINVAL, errno);
	}
	/* who is not there, in all places and of all sizes */
	for (i = 0; i < 8; i++) {
		static const uint32_t none[] = { 0, ~0u, 0x80000000, 1u << 22, 0x7fffffff };
		uint32_t where = i * i * 20;

		ids[where] = none[i % 5];
		EXPECT_EQ(-ESRCH, set_pids(self->fd, ids, TB_PIDS_MAX, i & 7, &bad));
		EXPECT_EQ(where, bad);
		ids[where] = me;
	}
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(0, set_pids(self->fd, ids, i & 1 ? TB_PIDS_MAX : 1, i, &bad));
		EXPECT_EQ(0, bad);
	}
	EXPECT_EQ(0, set_pids(self->fd, NULL, 0, 0, NULL));
}

static void *thread(void *arg)
{
	*(uint32_t *)arg = syscall(SYS_gettid);
	fire(1000, 10);
	/* asked for as a process it is none */
	pause();
	return NULL;
}

TEST_DEV(rule_ioctl, a_thread_is_no_process)
{
	uint32_t tid = 0, bad = 7;
	pthread_t other;

	ASSERT_EQ(0, pthread_create(&other, NULL, thread, &tid));
	for (WAIT(__atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
		;
	EXPECT_EQ(-ESRCH, set_pids(self->fd, &tid, 1, TB_PIDS_PROCESS, &bad));
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, set_pids(self->fd, &tid, 1, 0, NULL));
	pthread_cancel(other);
	pthread_join(other, NULL);
}

TEST_DEV(rule_ioctl, whose_events)
{
	uint32_t me = getpid(), i;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(0, set_pids(self->fd, &me, 1, i ? TB_PIDS_EXCLUDE | TB_PIDS_CHILDREN :
				      TB_PIDS_CHILDREN, NULL));
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		fire(0, 30);
		pid = fork();
		if (!pid) {
			fire(100, 20);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		ASSERT_EQ(0, tb_stop(self->fd));
		stream_free(&self->s);
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		EXPECT_EQ(suppressed(self->fd, TB_RULE_ALL), self->s.suppressed);
		EXPECT_LE(50, i ? self->s.suppressed : stream_events(&self->s));
		ASSERT_EQ(0, tb_fresh(self->fd));
	}
}

/* ---- programs made at random ------------------------------------------ */

static uint64_t random_state;

static uint32_t rnd(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 32) % below;
}

static uint64_t seed_of_this_run(void)
{
	const char *text = getenv("RULE_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) * 1000003;

	return seed ?: 1;
}

static uint32_t runs(void)
{
	return getenv("RULE_RUNS") ? strtoul(getenv("RULE_RUNS"), NULL, 0) : 3000;
}

static void random_number(const struct event *e, struct tb_test *t)
{
	const struct tb_field *f = &fields(e)[rnd(e->d.nr_fields)];
	static const uint8_t sizes[] = { 1, 2, 4, 8 };

	t->source = TB_TEST_TID + rnd(TB_TEST_COMM - TB_TEST_TID);
	if (rnd(4) == 0 || f->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
		return;
	t->source = TB_TEST_FIELD;
	t->offset = f->offset;
	t->size = f->size;
	if (f->flags & TB_FIELD_BITS) {
		t->bit = f->bit;
		t->bits = f->bits;
		return;
	}
	do {
		t->size = sizes[rnd(4)];
	} while (t->size > f->size);
	t->offset += rnd(f->size - t->size + 1);
}

/* Of a text, or what can be empty; false: this event has none, or not by chance. */
static bool random_extent(const struct event *e, struct tb_test *t)
{
	const struct tb_field *f = &fields(e)[rnd(e->d.nr_fields)];

	if (t->op == TB_TEST_GLOB && rnd(3) == 0) {
		t->source = TB_TEST_COMM;
		return true;
	}
	t->offset = f->offset;
	if (f->flags & TB_FIELD_DATA_LOC)
		t->flags = TB_TEST_DATA_LOC;
	else if (f->flags & TB_FIELD_REL_LOC)
		t->flags = TB_TEST_REL_LOC;
	else
		t->length = f->size;
	if (t->op == TB_TEST_EMPTY)
		return t->flags;
	return f->flags & TB_FIELD_STRING;
}

static uint16_t random_jump(uint32_t i, uint32_t nr)
{
	if (i + 1 < nr && rnd(3))
		return rnd(nr - i - 1);
	return rnd(2) ? TB_TEST_PASS : TB_TEST_REJECT;
}

static void random_test(const struct event *e, struct program *p, uint32_t i)
{
	static const char *const globs[] = { "", "*", "*a*", "?*[!a-z]", "test_*", "\\*", "[]]",
					     "*[a-f0-9]*[!x]?", "***********************b" };
	struct tb_test *t = &p->tests[i];
	const char *glob = globs[rnd(ARRAY_LEN(globs))];
	uint32_t n, left = TB_TEST_DATA_MAX - p->rule.data_bytes;

	do {
		memset(t, 0, sizeof(*t));
		t->op = TB_TEST_EQ + rnd(TB_TEST_EMPTY);
		if (t->op < TB_TEST_GLOB)
			random_number(e, t);
	} while (t->op >= TB_TEST_GLOB && !random_extent(e, t));
	t->yes = random_jump(i, p->rule.nr_tests);
	t->no = random_jump(i, p->rule.nr_tests);
	if (t->op < TB_TEST_IN)
		t->value = rnd(2) ? rnd(200) : (uint64_t)rnd(~0u) << rnd(33);
	if (t->op < TB_TEST_GLOB && rnd(2))
		t->flags |= TB_TEST_SIGNED;
	if (t->op != TB_TEST_IN && t->op != TB_TEST_GLOB)
		return;
	n = t->op == TB_TEST_IN ? 1 + rnd(40) : strlen(glob);
	if (n > left) {
		t->op = TB_TEST_EQ;
		t->source = TB_TEST_CPU;
		t->offset = 0;
		t->size = 0;
		t->bit = 0;
		t->bits = 0;
		t->length = 0;
		t->flags = 0;
		return;
	}
	t->data = p->rule.data_bytes;
	t->data_bytes = n;
	for (; p->rule.data_bytes < t->data + n; p->rule.data_bytes++)
		p->data[p->rule.data_bytes] = t->op == TB_TEST_IN ? rnd(256) :
					      (uint8_t)glob[p->rule.data_bytes - t->data];
}

static void random_program(const struct event *e, struct program *p)
{
	uint32_t i;

	memset(p, 0, sizeof(*p));
	p->rule.index = e->info.index;
	p->rule.form = e->form;
	p->rule.nr_tests = 1 + rnd(rnd(4) ? 6 : TB_TESTS_MAX);
	if (rnd(4) == 0)
		p->rule.flags = rnd(4);
	if (rnd(4) == 0)
		p->rule.sample = rnd(5);
	if (rnd(4) == 0)
		p->rule.rate = rnd(2) ? 1 + rnd(100) : 0xffffffff;
	for (i = 0; i < p->rule.nr_tests; i++)
		random_test(e, p, i);
	point(p);
}

/* Anything in a test or in the data may become something else. */
static void random_damage(struct program *p)
{
	uint32_t i, n = 1 + rnd(3);

	for (i = 0; i < n; i++) {
		uint8_t *at = (uint8_t *)&p->tests[rnd(p->rule.nr_tests)] + rnd(sizeof(*p->tests));

		if (p->rule.data_bytes && rnd(5) == 0)
			at = &p->data[rnd(p->rule.data_bytes)];
		*at ^= rnd(2) ? rnd(256) : 1u << rnd(8);
	}
	if (rnd(20) == 0)
		p->rule.nr_tests = rnd(TB_TESTS_MAX + 3);
	if (rnd(20) == 0)
		p->rule.data_bytes = rnd(TB_TEST_DATA_MAX + 3);
}

struct count {
	uint64_t events;
};

static void see(void *ctx, const struct stream_event *e)
{
	((struct count *)ctx)->events += e->id >= TB_EV_FIRST;
}

/* Another provider records all of it: what is missing here was kept out, and is counted. */
TEST_DEV(rule_ioctl, random_programs)
{
	uint32_t accepted = 0, refused = 0, i, n = runs();
	uint64_t seed = seed_of_this_run();
	struct count all = { 0 }, some = { 0 };
	struct tb_query q;
	struct program p;
	struct event e;
	int whole, ret;

	TH_LOG("seed %#llx, %u programs", (unsigned long long)seed, n);
	random_state = seed;
	whole = tb_open_as("whole", 0);
	ASSERT_LE(0, whole);
	ASSERT_EQ(0, tb_query(whole, &q));
	self->other.provider = q.provider;
	self->other.event = see;
	self->other.ctx = &all;
	self->s.event = see;
	self->s.ctx = &some;
	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 64, 4096));
	ASSERT_EQ(0, tb_configure(whole, TB_MODE_STREAMING, TB_POLICY_DROP, 64, 4096));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(1, tb_enable(whole, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, tb_start(whole, TB_START_NO_STATE));
	for (i = 0; i < n; i++) {
		bool damaged = rnd(2);

		random_program(&e, &p);
		if (damaged)
			random_damage(&p);
		ret = set_rule(self->fd, &p.rule);
		if (!ret) {
			accepted++;
			fire(rnd(200), 1 + rnd(3));
			continue;
		}
		refused++;
		ASSERT_TRUE(damaged) {
			TH_LOG("program %u: %d, test %u", i, ret, p.rule.bad);
		}
		ASSERT_EQ(-EINVAL, ret);
		ASSERT_GE(p.rule.nr_tests, p.rule.bad);
	}
	ASSERT_EQ(0, tb_stop(whole));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_LT(n / 3, accepted);
	EXPECT_LT(n / 10, refused);
	ASSERT_STREAM(tb_drain(whole, &self->other), &self->other);
	ASSERT_STREAM(stream_finish(&self->other), &self->other);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	close(whole);
	TH_LOG("%u accepted, %u refused; of %llu events %llu recorded, %llu kept out", accepted,
	       refused, (unsigned long long)all.events, (unsigned long long)some.events,
	       (unsigned long long)self->s.suppressed);
	EXPECT_LE(accepted, all.events);
	EXPECT_LT(0, some.events);
	EXPECT_LT(0, self->s.suppressed);
	EXPECT_EQ(all.events, some.events + self->s.suppressed);
}

/* Those of other events, too: nothing is recorded, so any number of them is checked soon. */
TEST_DEV(rule_ioctl, random_programs_for_all_events)
{
	uint64_t seed = seed_of_this_run();
	struct tb_query q;
	struct program p;
	struct event e;
	uint32_t i;
	int ret;

	TH_LOG("seed %#llx", (unsigned long long)seed);
	random_state = seed;
	ASSERT_EQ(0, tb_query(self->fd, &q));
	for (i = 0; i < runs(); i++) {
		bool damaged = rnd(2);

		ASSERT_EQ(0, describe(self->fd, rnd(q.nr_events), rnd(2), &e));
		if (e.form == TB_FORM_FAST && !(e.info.flags & TB_INFO_HAS_FAST))
			e.form = TB_FORM_WIDE;
		if (e.info.flags & TB_INFO_GONE || !e.d.nr_fields)
			continue;
		random_program(&e, &p);
		if (damaged)
			random_damage(&p);
		ret = set_rule(self->fd, &p.rule);
		ASSERT_TRUE(!ret || (damaged && ret == -EINVAL)) {
			TH_LOG("%s, program %u: %d, test %u", e.info.name, i, ret, p.rule.bad);
		}
	}
}

/* ---- a thousand changes of mind --------------------------------------- */

/* The last takes a minute each time in a guest whose CPUs are busy: not in short runs */
static const char *const patterns[] = {
	"sched", "sched_switch", "sched_wakeup", "raw_syscalls", "sys_enter", "signal", "irq",
	"timer", "task", "workqueue", "power", "all",
};

#define CHILDREN	2

static uint32_t nr_patterns(void)
{
	return ARRAY_LEN(patterns) - !getenv("TRACEBUF_FULL");
}

static const char *pattern(void)
{
	return patterns[rnd(nr_patterns())];
}

static int change(int fd, uint32_t nr_events, struct event *e, struct program *p)
{
	static const uint32_t flags[] = { 0, TB_PIDS_EXCLUDE, TB_PIDS_PROCESS,
					  TB_PIDS_CHILDREN | TB_PIDS_PROCESS, TB_PIDS_CHILDREN,
					  TB_PIDS_EXCLUDE | TB_PIDS_PROCESS };
	struct tb_counter c[2] = { software(rnd(4)), software(rnd(4)) };
	uint32_t me = getpid();
	int ret;

	switch (rnd(8)) {
	case 0:
	case 1:
		ret = tb_select(fd, TB_SELECT_ENABLE, pattern(), TB_FORM_DEFAULT + rnd(3));
		return ret < 0 ? ret : 0;
	case 2:
		ret = tb_select(fd, TB_SELECT_DISABLE, pattern(), 0);
		return ret < 0 ? ret : 0;
	case 3:
		return rnd(2) ? set_pids(fd, NULL, 0, 0, NULL) :
				set_pids(fd, &me, 1, flags[rnd(ARRAY_LEN(flags))], NULL);
	case 4:
		return rnd(10) ? tb_flush(fd, -1) : no_rules(fd);
	default:
		ret = describe(fd, rnd(nr_events), rnd(2), e);
		if (e->form == TB_FORM_FAST && !(e->info.flags & TB_INFO_HAS_FAST))
			e->form = TB_FORM_WIDE;
		if (ret || e->info.flags & TB_INFO_GONE || !e->d.nr_fields)
			return ret;
		random_program(e, p);
		if (rnd(8) == 0) {
			p->rule.counters = (uintptr_t)c;
			p->rule.nr_counters = 1 + rnd(2);
		}
		return set_rule(fd, &p->rule);
	}
}

/* Numbers and calls, until it is killed. */
static pid_t work(int cpu)
{
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	/* a test that runs out of time must not leave its load to the next */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	for (i = 0;; i++) {
		fire(i % 1000, 5);
		syscall(NR_NOWHERE);
		if (i % 64 == 0)
			usleep(100);
	}
}

TEST_DEV(rule_ioctl, a_thousand_changes_under_load)
{
	uint64_t seed = seed_of_this_run();
	static struct program p;
	static struct event e;
	uint32_t changes = getenv("TRACEBUF_FULL") ? 1000 : 200;
	pid_t children[CHILDREN];
	struct tb_stats st;
	struct tb_query q;
	uint32_t i, cpu;
	int ret;

	TH_LOG("seed %#llx", (unsigned long long)seed);
	random_state = seed;
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_OVERWRITE, 8, 256));
	for (i = 0; i < CHILDREN; i++) {
		children[i] = work(i);
		ASSERT_LT(0, children[i]);
	}
	ASSERT_TRUE(begin_forking(1000000));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < changes; i++) {
		ret = change(self->fd, q.nr_events, &e, &p);
		ASSERT_EQ(0, ret) {
			TH_LOG("change %u", i);
		}
		/* a new recording now and then: with the rules that there are */
		if (i % 100 == 99) {
			ASSERT_EQ(0, tb_stop(self->fd));
			ASSERT_EQ(0, tb_start(self->fd, 0));
		}
	}
	ASSERT_EQ(0, tb_stop(self->fd));
	for (cpu = 0; !tb_stats(self->fd, cpu, &st); cpu++)
		EXPECT_EQ(st.attempted,
			  st.delivered + st.overwritten + st.dropped + st.pending);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);

	/* all of it taken away while it runs: nothing more comes */
	for (i = 0; i < nr_patterns(); i++)
		ASSERT_LE(0, tb_enable(self->fd, patterns[i]));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_LT(0, tb_select(self->fd, TB_SELECT_DISABLE, "all", 0));
	ASSERT_EQ(0, no_rules(self->fd));
	ASSERT_EQ(0, set_pids(self->fd, NULL, 0, 0, NULL));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(0, q.nr_enabled);
	for (i = 0; i < q.nr_events; i++) {
		ASSERT_EQ(0, describe(self->fd, i, false, &e));
		EXPECT_EQ(0, e.info.flags & TB_INFO_ENABLED);
	}
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	usleep(100000);
	for (i = 0; i < q.nr_events; i++)
		EXPECT_EQ(0, suppressed(self->fd, i));
	EXPECT_EQ(0, suppressed(self->fd, TB_RULE_ALL));
	ASSERT_EQ(0, tb_stop(self->fd));
	end_forking(true);
	for (i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	stream_free(&self->s);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, self->s.descs);
}

TEST_HARNESS_MAIN
