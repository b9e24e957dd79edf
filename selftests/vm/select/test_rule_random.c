// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random rules, legal and nearly legal: only illegal ones are refused, and each event that a rule
 * keeps out is counted. Random changes of selection, rules and threads under load: counts add up,
 * and nothing is left. If a test fails, a filter loses events in silence.
 *
 * RULE_RUNS= and RULE_SEED= set the number and the seed. The changes are 6, or a thousand with
 * TRACEBUF_FULL: under load each waits for several grace periods.
 */
#include "rule_ioctl.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "forking.h"

/* ---- random programs --------------------------------------------------- */

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
	uint64_t seed = text ? strtoull(text, NULL, 0) : 36;

	return seed ?: 1;
}

static uint32_t runs(void)
{
	return getenv("RULE_RUNS") ? strtoul(getenv("RULE_RUNS"), NULL, 0) : 1500;
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

/* Fills in a text, or a field that can be empty; false: the chosen field is neither. */
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

/* Changes some bytes of the tests or the data. */
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

/* A second provider records all events: the first counts those that its rules kept out. */
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

/* Rules for all events: nothing is recorded, so many of them are checked soon. */
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

		ASSERT_EQ(0, describe(self->fd, rnd(q.nr_events), &e));
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

/* ---- random changes ---------------------------------------------------- */

/* The last takes a minute in a guest with busy CPUs: only in long runs. */
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
		/* an event that is recorded keeps its form */
		return ret < 0 && ret != -EBUSY ? ret : 0;
	case 2:
		ret = tb_select(fd, TB_SELECT_DISABLE, pattern(), 0);
		return ret < 0 ? ret : 0;
	case 3:
		return rnd(2) ? set_pids(fd, NULL, 0, 0, NULL) :
				set_pids(fd, &me, 1, flags[rnd(ARRAY_LEN(flags))], NULL);
	case 4:
		return rnd(10) ? tb_flush(fd, -1) : no_rules(fd);
	default:
		ret = describe(fd, rnd(nr_events), e);
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

/* Makes numbered events and system calls until it is killed. */
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
	uint32_t changes = getenv("TRACEBUF_FULL") ? 1000 : 6;
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
	/* with forks on both CPUs, each change takes ten seconds */
	ASSERT_TRUE(begin_forking_on(1000000, getenv("TRACEBUF_FULL") ? 2 : 1));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < changes; i++) {
		ret = change(self->fd, q.nr_events, &e, &p);
		ASSERT_EQ(0, ret) {
			TH_LOG("change %u", i);
		}
		/* now and then a new recording with the same rules */
		if (i % 5 == 4) {
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

	/* remove everything during a recording: nothing is recorded any more */
	for (i = 0; i < nr_patterns(); i++)
		ASSERT_LE(0, tb_enable(self->fd, patterns[i]));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_LT(0, tb_select(self->fd, TB_SELECT_DISABLE, "all", 0));
	ASSERT_EQ(0, no_rules(self->fd));
	ASSERT_EQ(0, set_pids(self->fd, NULL, 0, 0, NULL));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	usleep(100000);
	/* querying each event takes minutes beside the load */
	end_forking(true);
	for (i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(0, q.nr_enabled);
	for (i = 0; i < q.nr_events; i++) {
		ASSERT_EQ(0, describe(self->fd, i, &e));
		EXPECT_EQ(0, e.info.flags & TB_INFO_ENABLED);
		EXPECT_EQ(0, suppressed(self->fd, i));
	}
	EXPECT_EQ(0, suppressed(self->fd, TB_RULE_ALL));
	ASSERT_EQ(0, tb_stop(self->fd));
	stream_free(&self->s);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, self->s.descs);
}

TEST_HARNESS_MAIN
