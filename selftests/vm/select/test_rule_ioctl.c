// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls take every legal rule, test, counter and set of threads, and refuse each illegal value
 * with its error and its place. If a test fails, the kernel runs an illegal filter, or does not say
 * which test is wrong. Random rules are in test_rule_random.c.
 */
#include "rule_ioctl.h"

#include <sys/wait.h>

/* ---- a legal program -------------------------------------------------- */

/*
 * Tests of signal_generate: a signed number, a number in a bitmap, patterns for a text in the event
 * and for the name of the thread, the thread.
 */
enum { LESS, IN, NAME, COMM, TID, TESTS };

static void legal(const struct event *e, struct program *p)
{
	const struct tb_field *comm = desc_field(&e->d, "comm");
	int i;

	memset(p, 0, sizeof(*p));
	p->rule.index = e->info.index;
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
	/* set_rule() must not change it */
	ASSERT_EQ(0, set_rule(self->fd, &p.rule));
	EXPECT_EQ(0, memcmp(&was, &p, sizeof(p)));
	ASSERT_EQ(0, set_rule(self->fd, &p.rule));
	/* removes the rule, and then none */
	memset(&p.rule, 0, sizeof(p.rule));
	p.rule.index = e.info.index;
	EXPECT_EQ(0, set_rule(self->fd, &p.rule));
	EXPECT_EQ(0, set_rule(self->fd, &p.rule));
}

/* ---- each field wrong ------------------------------------------------- */

struct wrong {
	const char *what;
	int test;		/* index of the test; -1: the rule */
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
	RULE(reserved32, 1, EINVAL),
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
	/* operations that take something else */
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
	/* open brackets, and an escape with nothing behind it */
	TEST_AT(NAME, data_bytes, 2), TEST_AT(COMM, data_bytes, 5), TEST_AT(COMM, data_bytes, 8),
	TEST_AT(NAME, value, 1), TEST_AT(IN, value, 1), TEST_AT(COMM, value, 1),
	TEST_AT(LESS, reserved[0], 1), TEST_AT(IN, reserved[1], 0x8000),
	TEST_AT(NAME, reserved[2], 1), TEST_AT(TID, reserved[2], 1),
};

static void spoil(struct program *p, const struct wrong *w)
{
	char *in = w->test < 0 ? (char *)&p->rule : (char *)&p->tests[w->test];

	/* little-endian, like the ABI */
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

/* The error gives the place of the first illegal test. */
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

TEST_DEV(rule_ioctl, counters)
{
	struct tb_counter c[TB_COUNTERS_MAX];
	struct tb_rule r = { .counters = (uintptr_t)c };
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
	/* as many counters as possible, twice; another event has no room; after a clear it has */
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
	struct tb_rule r = { .nr_counters = 2, .counters = (uintptr_t)c,
			     .flags = TB_RULE_STACK | TB_RULE_USER_STACK };
	struct event e;

	ASSERT_EQ(0, find_event(self->fd, "signal_generate", &e));
	r.index = e.info.index;
	ASSERT_EQ(0, set_rule(self->fd, &r));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 50);
	/* another rule during the recording replaces the counters */
	r.nr_counters = 1;
	ASSERT_EQ(0, set_rule(self->fd, &r));
	fire(50, 50);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	/* each event has the kernel's stack and the sender's */
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
	/* threads that do not exist, in several places and with all flags */
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
	/* this thread is not a process */
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

TEST_HARNESS_MAIN
