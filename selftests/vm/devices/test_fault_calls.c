// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of calls that test_fault.c does not cover fails once: providers that come and go,
 * rules, sets of threads, triggers, categories, snapshots. The call returns a clean error and
 * changes nothing, and the next attempt works. leaks.sh finds leaks. If a test fails, a lack of
 * memory corrupts or leaks.
 */
#include <sys/mman.h>

#include "fault.h"
#include "tbtest.h"

#define FAULT_TEST(name)	TEST_F_TIMEOUT(calls, name, 1200)

static char trigger[] = "sched:sched_process_exit";
static char pattern[] = "net.*";

static int fd;			/* on "kernel" */
static struct tb_query before;
static uint32_t providers;
static uint32_t event;		/* the index of FIRE_EVENT */

FIXTURE(calls) {
	int unused;
};

static uint32_t count_providers(void)
{
	struct tb_provider_info info;
	uint32_t n = 0;

	while (!tb_provider_at(fd, n, &info))
		n++;
	return n;
}

static bool remember(void)
{
	providers = count_providers();
	return !tb_query(fd, &before);
}

static bool same(void *ctx)
{
	struct tb_query q;

	if (tb_query(fd, &q) || count_providers() != providers)
		return false;
	/* the durable buffer gets records of threads and of failures */
	q.durable_used = before.durable_used;
	q.reader = before.reader;
	return !memcmp(&q, &before, sizeof(q));
}

FIXTURE_SETUP(calls)
{
	struct tb_event_info info = { 0 };
	const char *why;

	ASSERT_TRUE(fault_init(&why));
	ASSERT_EQ(0, pin(0));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_destroy_all(fd));
	ASSERT_EQ(0, tb_fresh(fd));
	while (!ioctl(fd, TB_IOC_EVENT, &info) && strcmp(info.name, "signal_generate"))
		info.index++;
	event = info.index;
	ASSERT_EQ(0, tb_configure(fd, TB_MODE_CIRCULAR, 0, 4, 256));
	ASSERT_EQ(1, tb_enable(fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	ASSERT_TRUE(remember());
}

FIXTURE_TEARDOWN(calls)
{
	tb_stop(fd);
	tb_destroy_all(fd);
	tb_fresh(fd);
	close(fd);
}

/* ---- providers ------------------------------------------------------------ */

static int do_create(void *ctx)
{
	return tb_provider(fd, TB_PROVIDER_CREATE, "one");
}

static void undo_create(void *ctx)
{
	if (tb_provider(fd, TB_PROVIDER_DESTROY, "one"))
		abort();
}

FAULT_TEST(create)
{
	static const struct fault_step step = {
		/* if one allocation fails other memory mostly does; not so without any pages */
		.name = "create", .op = do_create, .undo = undo_create, .same = same, .least = 1,
	};

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
	EXPECT_TRUE(fault_sweep(&step, FAULT_PAGES, NULL));
}

/* Destroying frees memory and needs none. */
static int do_destroy(void *ctx)
{
	return tb_provider(fd, TB_PROVIDER_DESTROY, "one");
}

static void undo_destroy(void *ctx)
{
	if (do_create(NULL) < 0)
		abort();
}

FAULT_TEST(destroy)
{
	static const struct fault_step step = {
		.name = "destroy", .op = do_destroy, .undo = undo_destroy, .same = same,
	};

	undo_destroy(NULL);
	ASSERT_TRUE(remember());
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

/* ---- rules ---------------------------------------------------------------- */

static int put_rule(const struct tb_rule *rule)
{
	struct tb_rule r = *rule;

	return ioctl(fd, TB_IOC_RULE, &r) ? -errno : 0;
}

static int do_rule(void *ctx)
{
	static const struct tb_test test = { .op = TB_TEST_GLOB, .source = TB_TEST_COMM,
					     .data_bytes = 4, .yes = TB_TEST_PASS,
					     .no = TB_TEST_REJECT };
	struct tb_rule r = { .index = event, .sample = 3, .rate = 1000,
			     .flags = TB_RULE_STACK, .nr_tests = 1, .tests = (uintptr_t)&test,
			     .data = (uintptr_t)"test", .data_bytes = 4 };

	return put_rule(&r);
}

static void undo_rule(void *ctx)
{
	if (put_rule(&(struct tb_rule){ .index = TB_RULE_ALL }))
		abort();
}

/* A refused rule keeps no event out. */
static bool no_rule(void *ctx)
{
	struct tb_suppressed_info s = { .index = event };

	fire(0, 2);
	return same(ctx) && (ioctl(fd, TB_IOC_SUPPRESSED, &s) || !s.suppressed.filtered);
}

FAULT_TEST(rules)
{
	static const struct fault_step step = {
		.name = "rule", .op = do_rule, .undo = undo_rule, .same = no_rule, .least = 2,
	};

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

static int do_pids(void *ctx)
{
	uint32_t pids[2] = { getpid(), getppid() };
	struct tb_pids p = { .pids = (uintptr_t)pids, .count = 2,
			     .flags = TB_PIDS_PROCESS | TB_PIDS_CHILDREN };

	return ioctl(fd, TB_IOC_PIDS, &p) ? -errno : 0;
}

static void undo_pids(void *ctx)
{
	if (ioctl(fd, TB_IOC_PIDS, &(struct tb_pids){ 0 }))
		abort();
}

FAULT_TEST(sets_of_threads)
{
	static const struct fault_step step = {
		.name = "pids", .op = do_pids, .undo = undo_pids, .same = same, .least = 2,
	};

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

/* ---- triggers, categories, snapshots ---------------------------------------- */

static int do_arm(void *ctx)
{
	struct tb_test test = { .op = TB_TEST_EQ, .source = TB_TEST_TID, .value = 1,
				.yes = TB_TEST_PASS, .no = TB_TEST_REJECT };
	struct tb_rule rule = { .index = event, .nr_tests = 1,
				.tests = (uintptr_t)&test };
	struct tb_arm a = { .op = TB_ARM_SET, .post = 50, .pattern = (uintptr_t)FIRE_EVENT,
			    .length = strlen(FIRE_EVENT), .nr_rules = 1,
			    .rules = (uintptr_t)&rule };

	return ioctl(fd, TB_IOC_ARM, &a) ? -errno : 0;
}

static void undo_arm(void *ctx)
{
	if (ioctl(fd, TB_IOC_ARM, &(struct tb_arm){ .op = TB_ARM_CLEAR }))
		abort();
}

static bool not_armed(void *ctx)
{
	struct tb_trigger_info i;

	return same(ctx) && !ioctl(fd, TB_IOC_TRIGGER, &i) && i.state == TB_TRIGGER_NONE;
}

/* An event that is not recorded: its probe is for the trigger alone. */
static int do_arm_other(void *ctx)
{
	struct tb_arm a = { .op = TB_ARM_SET, .pattern = (uintptr_t)trigger,
			    .length = sizeof(trigger) - 1 };

	return ioctl(fd, TB_IOC_ARM, &a) ? -errno : 0;
}

FAULT_TEST(triggers)
{
	struct fault_step step = {
		.name = "arm with a rule", .op = do_arm, .undo = undo_arm, .same = not_armed,
		.least = 4,
	};

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
	step.name = "arm";
	step.op = do_arm_other;
	step.least = 2;
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

static int do_category(void *ctx)
{
	struct tb_categories c = { .op = TB_CATEGORY_ENABLE, .pattern = (uintptr_t)pattern,
				   .length = sizeof(pattern) - 1 };

	return ioctl(fd, TB_IOC_CATEGORIES, &c) ? -errno : 0;
}

static void undo_category(void *ctx)
{
	if (ioctl(fd, TB_IOC_CATEGORIES, &(struct tb_categories){ .op = TB_CATEGORY_CLEAR }))
		abort();
}

FAULT_TEST(categories)
{
	static const struct fault_step step = {
		.name = "categories", .op = do_category, .undo = undo_category, .same = same,
		.least = 1,
	};

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

/* Each snapshot has a session of its own. */
static int do_snapshot(void *ctx)
{
	struct tb_ref refs[8];
	int own = tb_open(0), n;

	if (own < 0)
		return own;
	do {
		n = tb_acquire(own, refs, ARRAY_SIZE(refs), TB_ACQUIRE_SNAPSHOT);
		if (n > 0 && tb_release(own, refs, n) != n)
			n = -ENOMEM;
	} while (n > 0);
	close(own);
	return n == -ENODATA ? 0 : n;
}

/* The recording goes on, and the failed snapshot holds nothing. */
static bool going_on(void *ctx)
{
	struct tb_stats st;

	fire(0, 3);
	return same(ctx) && !tb_stats(fd, 0, &st) && !st.held &&
	       st.attempted == st.delivered + st.overwritten + st.dropped + st.pending;
}

FAULT_TEST(snapshots)
{
	static const struct fault_step step = {
		.name = "snapshot", .op = do_snapshot, .same = going_on, .least = 2,
		.other = ENFILE,
	};

	fire(0, 200);
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

int main(int argc, char **argv)
{
	const char *why;

	if (!fault_init(&why)) {
		printf("KTAP version 1\n1..1\nok 1 fault_calls # SKIP %s\n", why);
		return 0;
	}
	return test_harness_run(argc, argv);
}
