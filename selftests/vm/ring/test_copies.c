// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each copy from and to a program fails once: the program's memory ends at each byte of each
 * structure, and of all that structures point to. The call returns EFAULT and changes nothing, and
 * with the memory it works. If a test fails, a bad pointer leaves the recorder half changed.
 *
 * The kernel's fault injection can fail copies, too; this needs no special kernel, and splits
 * copies that are one for it.
 */
#include <sys/mman.h>

#include "channel.h"

#define PAGE		4096
#define ROOM		(4 * PAGE)

/* The program's memory, which ends. */
static char *begin, *end;

/* Places @from so that the last @missing of its @bytes are beyond the end. */
static void *ending(const void *from, size_t bytes, size_t missing)
{
	char *at = end - (bytes - missing);

	if (from)
		memcpy(at, from, bytes - missing);
	return at;
}

static bool make_memory(void)
{
	begin = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	end = begin + ROOM;
	return begin != MAP_FAILED && !mprotect(end, PAGE, PROT_NONE);
}

/* The state that must not change. */
struct before {
	struct tb_query query;
	struct tb_stats stats;
	uint32_t providers;
};

static bool look(int fd, struct before *b)
{
	struct tb_provider_info info;

	memset(b, 0, sizeof(*b));
	if (tb_query(fd, &b->query) || tb_stats(fd, 0, &b->stats))
		return false;
	/* other events may be recorded meanwhile */
	memset(&b->stats, 0, offsetof(struct tb_stats, ready));
	while (!tb_provider_at(fd, b->providers, &info))
		b->providers++;
	b->query.reader = 0;
	b->query.durable_used = 0;
	return true;
}

static bool same(int fd, const struct before *b)
{
	struct before now;

	return look(fd, &now) && !memcmp(&now.query, &b->query, sizeof(b->query)) &&
	       now.stats.held == b->stats.held && now.providers == b->providers;
}

/* ---- the structures themselves ------------------------------------------ */

static char text[] = "signal:signal_generate", category_text[] = "net*";
static struct tb_ref refs[8];
static struct tb_test tests[2];
static struct tb_rule rule;
static struct tb_counter counter = { .type = 1, .config = 0, .name = "clock" };
static uint32_t pids[3];
static char desc[16384];
static const char cpus[8] = { 1 };

union any {
	struct tb_query query;
	struct tb_config config;
	struct tb_start start;
	struct tb_flush flush;
	struct tb_select select;
	struct tb_event_info event;
	struct tb_stats stats;
	struct tb_batch batch;
	struct tb_attach attach;
	struct tb_provider_req provider;
	struct tb_provider_info info;
	struct tb_fifo fifo;
	struct tb_arm arm;
	struct tb_trigger_info trigger;
	struct tb_rule rule;
	struct tb_suppressed_info suppressed;
	struct tb_pids pids;
	struct tb_categories categories;
	struct tb_quota quota;
	struct tb_producer_info producer;
};

struct command {
	const char *name;
	unsigned int cmd;
	union any arg;
};

#define TEXT(text)	.pattern = (uintptr_t)(text), .length = sizeof(text) - 1

static const struct command commands[] = {
	{ "query", TB_IOC_QUERY, { } },
	{ "configure", TB_IOC_CONFIGURE, { .config = { .buffers = 7, .elements = 128 } } },
	{ "flush", TB_IOC_FLUSH, { .flush = { .cpu = -1 } } },
	{ "select", TB_IOC_SELECT, { } },
	{ "event", TB_IOC_EVENT, { .event = { .index = 1 } } },
	{ "stats", TB_IOC_STATS, { } },
	{ "acquire", TB_IOC_ACQUIRE, { .batch = { .count = 1 } } },
	{ "attach", TB_IOC_ATTACH, { .attach = { .name = "kernel" } } },
	{ "create", TB_IOC_PROVIDER, { .provider = { .op = TB_PROVIDER_CREATE, .name = "one" } } },
	{ "providers", TB_IOC_PROVIDERS, { } },
	{ "fifo", TB_IOC_FIFO, { .fifo = { .version = TB_FIFO_VERSION } } },
	{ "arm", TB_IOC_ARM, { } },
	{ "trigger", TB_IOC_TRIGGER, { } },
	{ "rule", TB_IOC_RULE, { .rule = { .index = 1, .sample = 2 } } },
	{ "suppressed", TB_IOC_SUPPRESSED, { .suppressed = { .index = 1 } } },
	{ "pids", TB_IOC_PIDS, { } },
	{ "categories", TB_IOC_CATEGORIES, { } },
	{ "quota", TB_IOC_QUOTA, { .quota = { .producers = 3 } } },
	{ "producers", TB_IOC_PRODUCERS, { } },
	{ "intake", TB_IOC_INTAKE, { } },
};

TEST_DEV(channel, of_every_structure)
{
	const struct command *c;
	struct before b;
	size_t missing;
	union any arg;
	int ret;

	ASSERT_TRUE(make_memory());
	for (c = commands; c < commands + ARRAY_SIZE(commands); c++) {
		/* a circular recording for "arm", a stream for two others, else none */
		ASSERT_EQ(0, tb_fresh(self->fd));
		ASSERT_EQ(0, tb_configure(self->fd, c->cmd == TB_IOC_ARM ? TB_MODE_CIRCULAR : 0, 0,
					  4, 64));
		if (c->cmd == TB_IOC_ARM || c->cmd == TB_IOC_ACQUIRE || c->cmd == TB_IOC_STATS)
			ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		arg = c->arg;
		if (c->cmd == TB_IOC_SELECT)
			arg.select = (struct tb_select){ .op = TB_SELECT_ENABLE, TEXT(text) };
		if (c->cmd == TB_IOC_ARM)
			arg.arm = (struct tb_arm){ .op = TB_ARM_SET, TEXT(text) };
		if (c->cmd == TB_IOC_CATEGORIES)
			arg.categories = (struct tb_categories){ .op = TB_CATEGORY_ENABLE,
								 TEXT(category_text) };
		if (c->cmd == TB_IOC_ACQUIRE)
			arg.batch.refs = (uintptr_t)refs;
		ASSERT_TRUE(look(self->fd, &b));
		for (missing = 1; missing <= _IOC_SIZE(c->cmd); missing++) {
			ASSERT_EQ(-1, ioctl(self->fd, c->cmd,
					    ending(&arg, _IOC_SIZE(c->cmd), missing))) {
				TH_LOG("%s without the last %zu bytes", c->name, missing);
			}
			ASSERT_EQ(EFAULT, errno) {
				TH_LOG("%s without the last %zu bytes: %s", c->name, missing,
				       strerror(errno));
			}
			ASSERT_TRUE(same(self->fd, &b)) {
				TH_LOG("%s without the last %zu bytes", c->name, missing);
			}
		}
		errno = 0;
		ret = ioctl(self->fd, c->cmd, ending(&arg, _IOC_SIZE(c->cmd), 0));
		ASSERT_LE(0, ret) {
			TH_LOG("%s: %s", c->name, strerror(errno));
		}
		if (c->cmd == TB_IOC_FIFO)
			close(ret);
		/* restore the state for the next command */
		close(self->fd);
		self->fd = tb_open(0);
		ASSERT_LE(0, self->fd);
		tb_stop(self->fd);
		ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &(struct tb_quota){ 0 }));
		ASSERT_EQ(0, ioctl(self->fd, TB_IOC_RULE, &(struct tb_rule){
				.index = TB_RULE_ALL }));
		ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CATEGORIES, &(struct tb_categories){
				.op = TB_CATEGORY_CLEAR }));
		ASSERT_EQ(0, tb_destroy_all(self->fd));
	}
}

/* ---- arrays that structures point to --------------------------------------- */

/* A call with an array at *@pointer, which ends too early each time. */
#define ARRAY_ENDS(what, file, cmd, arg, pointer, from, bytes)				\
	do {										\
		size_t missing_;							\
		struct before b_;							\
											\
		ASSERT_TRUE(look(self->fd, &b_));					\
		for (missing_ = 1; missing_ <= (bytes); missing_++) {			\
			*(pointer) = (uintptr_t)ending(from, bytes, missing_);		\
			ASSERT_EQ(-1, ioctl(file, cmd, arg)) {				\
				TH_LOG("%s without the last %zu bytes", what, missing_);	\
			}								\
			ASSERT_EQ(EFAULT, errno) {					\
				TH_LOG("%s without the last %zu bytes: %s", what, missing_,	\
				       strerror(errno));				\
			}								\
			ASSERT_TRUE(same(self->fd, &b_)) {				\
				TH_LOG("%s without the last %zu bytes", what, missing_);	\
			}								\
		}									\
		*(pointer) = (uintptr_t)ending(from, bytes, 0);				\
		errno = 0;								\
		ASSERT_LE(0, ioctl(file, cmd, arg)) {					\
			TH_LOG("%s: %s", what, strerror(errno));			\
		}									\
	} while (0)

TEST_DEV(channel, of_texts_and_masks)
{
	struct tb_categories categories = { .op = TB_CATEGORY_ENABLE,
					    TEXT(category_text) };
	struct tb_config config = { .cpus_bytes = sizeof(cpus) };
	struct tb_select select = { .op = TB_SELECT_ENABLE, TEXT(text) };
	struct tb_arm arm = { .op = TB_ARM_SET, TEXT(text) };
	struct tb_event_info event = { .index = 1, .desc_size = sizeof(desc) };
	uint32_t bytes;

	ASSERT_TRUE(make_memory());
	ARRAY_ENDS("cpus", self->fd, TB_IOC_CONFIGURE, &config, &config.cpus, cpus, sizeof(cpus));
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 4, 64));
	ARRAY_ENDS("pattern", self->fd, TB_IOC_SELECT, &select, &select.pattern, text,
		   sizeof(text) - 1);
	ARRAY_ENDS("category", self->fd, TB_IOC_CATEGORIES, &categories, &categories.pattern,
		   category_text, sizeof(category_text) - 1);
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ARRAY_ENDS("trigger", self->fd, TB_IOC_ARM, &arm, &arm.pattern, text, sizeof(text) - 1);
	/* the size of the description, then the description */
	event.desc = (uintptr_t)desc;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_EVENT, &event));
	bytes = event.desc_size;
	ASSERT_LT(16, bytes);
	ARRAY_ENDS("description", self->fd, TB_IOC_EVENT, (event.desc_size = bytes, &event),
		   &event.desc, NULL, bytes);
}

TEST_DEV(channel, of_rules)
{
	struct tb_arm arm = { .op = TB_ARM_SET, TEXT(text), .nr_rules = 1 };
	struct tb_event_info info = { 0 };
	struct tb_pids p = { .count = ARRAY_SIZE(pids) };
	static const char pattern[16] = "test*";
	struct tb_rule r = { 0 };

	ASSERT_TRUE(make_memory());
	while (!ioctl(self->fd, TB_IOC_EVENT, &info) && strcmp(info.name, "signal_generate"))
		info.index++;
	ASSERT_EQ(0, strcmp(info.name, "signal_generate"));
	tests[0] = (struct tb_test){ .op = TB_TEST_EQ, .source = TB_TEST_TID,
				     .yes = TB_TEST_PASS, .no = 0 };
	tests[1] = (struct tb_test){ .op = TB_TEST_GLOB, .source = TB_TEST_COMM,
				     .data_bytes = 5, .yes = TB_TEST_PASS,
				     .no = TB_TEST_REJECT };
	r.index = info.index;
	r.nr_tests = ARRAY_SIZE(tests);
	r.data_bytes = sizeof(pattern);
	r.data = (uintptr_t)pattern;
	ARRAY_ENDS("tests", self->fd, TB_IOC_RULE, &r, &r.tests, tests, sizeof(tests));
	r.tests = (uintptr_t)tests;
	ARRAY_ENDS("data", self->fd, TB_IOC_RULE, &r, &r.data, pattern, sizeof(pattern));
	/* if the kernel has this counter, a clock of its own */
	r.data = (uintptr_t)pattern;
	r.nr_counters = 1;
	r.counters = (uintptr_t)&counter;
	if (!ioctl(self->fd, TB_IOC_RULE, &r))
		/* each failure sets r.bad */
		ARRAY_ENDS("counters", self->fd, TB_IOC_RULE, (r.bad = 0, &r), &r.counters,
			   &counter, sizeof(counter));
	pids[0] = getpid();
	pids[1] = 1;
	pids[2] = 2;
	ARRAY_ENDS("pids", self->fd, TB_IOC_PIDS, &p, &p.pids, pids, sizeof(pids));
	p = (struct tb_pids){ 0 };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_PIDS, &p));
	/* the rules of a trigger, and the tests of these */
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 4, 64));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	rule = (struct tb_rule){ .index = info.index, .nr_tests = 2,
				 .tests = (uintptr_t)tests, .data_bytes = sizeof(pattern),
				 .data = (uintptr_t)pattern };
	ARRAY_ENDS("rules", self->fd, TB_IOC_ARM, &arm, &arm.rules, &rule, sizeof(rule));
	arm = (struct tb_arm){ .op = TB_ARM_CLEAR };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_ARM, &arm));
	arm = (struct tb_arm){ .op = TB_ARM_SET, TEXT(text), .nr_rules = 1,
			       .rules = (uintptr_t)&rule };
	ARRAY_ENDS("tests of rules", self->fd, TB_IOC_ARM, &arm, &rule.tests, tests, sizeof(tests));
	/* other tests must not record counters */
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_RULE, &(struct tb_rule){ .index = TB_RULE_ALL }));
}

/* A reader does not get blocks without their references. */
TEST_DEV(channel, of_references)
{
	struct tb_batch b = { .count = 4 };
	struct tb_stats before, st;

	ASSERT_TRUE(make_memory());
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 8, 64));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 100);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &before));
	ARRAY_ENDS("taken", self->fd, TB_IOC_ACQUIRE, &b, &b.refs, NULL, 4 * sizeof(*refs));
	ASSERT_EQ(4, b.count);
	memcpy(refs, end - 4 * sizeof(*refs), 4 * sizeof(*refs));
	ARRAY_ENDS("given back", self->fd, TB_IOC_RELEASE, &b, &b.refs, refs, 4 * sizeof(*refs));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(before.attempted, st.attempted);
	EXPECT_EQ(0, st.held);
}

/* ---- writers ---------------------------------------------------------------- */

TEST_DEV(channel, of_writers)
{
	struct tb_target_req target = { .provider = "kernel" };
	struct tb_writer_req writer = { .writer = 9 };
	struct tb_category_req category = { .name = "c" };
	struct tb_commit commit = { 0 };
	const struct { unsigned int cmd; void *arg; } calls[] = {
		{ TB_PIOC_TARGET, &target }, { TB_PIOC_WRITER, &writer },
		{ TB_PIOC_CATEGORY, &category }, { TB_PIOC_COMMIT, &commit },
	};
	size_t i, missing;

	ASSERT_TRUE(make_memory());
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		for (missing = 1; missing <= _IOC_SIZE(calls[i].cmd); missing++) {
			ASSERT_EQ(-1, ioctl(self->p.fd, calls[i].cmd,
					    ending(calls[i].arg, _IOC_SIZE(calls[i].cmd), missing)));
			ASSERT_EQ(EFAULT, errno);
		}
		ASSERT_EQ(0, ioctl(self->p.fd, calls[i].cmd,
				   ending(calls[i].arg, _IOC_SIZE(calls[i].cmd), 0)));
	}
}

TEST_DEV(channel, of_chunks_and_patches)
{
	struct tb_chunk_ref chunk_refs[2] = { { .chunk = 0 }, { .chunk = 1 } };
	struct tb_patch patches[2] = { { .writer = 1 }, { .writer = 1 } };
	struct tb_producer_info before, info;
	struct tb_commit c = { .nr_refs = 2 };

	ASSERT_TRUE(make_memory());
	ASSERT_EQ(0, producer_writer(self->p.fd, 1, 0, 0, 0));
	ASSERT_EQ(0, info_at(self->fd, 0, &before));
	ARRAY_ENDS("chunks", self->p.fd, TB_PIOC_COMMIT, &c, &c.refs, chunk_refs,
		   sizeof(chunk_refs));
	c = (struct tb_commit){ .nr_patches = 2 };
	ARRAY_ENDS("patches", self->p.fd, TB_PIOC_COMMIT, &c, &c.patches, patches, sizeof(patches));
	ASSERT_EQ(0, info_at(self->fd, 0, &info));
	EXPECT_EQ(before.taken, info.taken);
}

/* Chunks that are copied, from memory that ends within one. */
TEST_DEV(channel, of_chunks_by_copy)
{
	struct tb_producer_setup setup = { .flags = TB_SETUP_NO_SHARED, .chunk_bytes = CHUNK };
	struct { struct tb_chunk head; char data[3 * RECORD_BYTES]; } chunk = { 0 };
	struct tb_chunk_ref ref = { 0 };
	struct tb_commit c = { .nr_refs = 1, .refs = (uintptr_t)&ref };
	size_t missing;
	int fd = producer_open_node();

	ASSERT_TRUE(make_memory());
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, producer_setup(fd, &setup));
	ASSERT_EQ(0, producer_target(fd, "kernel"));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, producer_writer(fd, 1, 0, 0, 0));
	chunk.head.writer = 1;
	chunk.head.published = TB_PUBLISHED(sizeof(chunk.data), 3);
	for (missing = 1; missing <= sizeof(chunk); missing++) {
		ref.data = (uintptr_t)ending(&chunk, sizeof(chunk), missing);
		ASSERT_EQ(-1, ioctl(fd, TB_PIOC_COMMIT, &c));
		ASSERT_EQ(EFAULT, errno);
		ASSERT_EQ(0, c.taken);
	}
	close(fd);
	END();
}

/* ---- read ----------------------------------------------------------------- */

/* Data that do not fit come with the next read(). */
TEST_DEV(channel, of_what_is_read)
{
	size_t got = 0, missing = 1;
	static char all[1 << 20];
	ssize_t n;

	ASSERT_TRUE(make_memory());
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 16, 64));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 100);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(-1, read(self->fd, end, PAGE));
	EXPECT_EQ(EFAULT, errno);
	/* there is room for @missing bytes, and the program asks for more */
	while ((n = read(self->fd, end - missing, missing + 100)) > 0) {
		ASSERT_LE(n, (ssize_t)missing);
		memcpy(all + got, end - missing, n);
		got += n;
		missing = missing * 7 % 1021 + 1;
	}
	ASSERT_EQ(0, n);
	ASSERT_STREAM(stream_blocks(&self->s, all, got), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(100, self->s.ring[0].events);
}

TEST_HARNESS_MAIN
