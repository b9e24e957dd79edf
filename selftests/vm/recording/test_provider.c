// SPDX-License-Identifier: GPL-2.0-only
/*
 * Providers are created, found, attached to and destroyed by name, and each has configuration,
 * events, memory and a stream of its own. If a test fails, one recording disturbs another, or the
 * memory of a removed provider is lost.
 */
#include <sys/mman.h>

#include "tbtest.h"

FIXTURE(provider) {
	int fd;			/* on "kernel" */
	struct stream s;
};

FIXTURE_SETUP(provider)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_destroy_all(self->fd));
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	stream_init(&self->s);
}

FIXTURE_TEARDOWN(provider)
{
	tb_stop(self->fd);
	tb_destroy_all(self->fd);
	close(self->fd);
	stream_free(&self->s);
}

static int create(int fd, const char *name)
{
	return tb_provider(fd, TB_PROVIDER_CREATE, name);
}

static int destroy(int fd, const char *name)
{
	return tb_provider(fd, TB_PROVIDER_DESTROY, name);
}

/* ---- making and removing ---------------------------------------------- */

TEST_DEV(provider, kernel_is_always_there)
{
	struct tb_provider_info info;

	ASSERT_EQ(0, tb_provider_at(self->fd, 0, &info));
	EXPECT_STREQ("kernel", info.name);
	EXPECT_EQ(0, info.id);
	EXPECT_EQ(0, info.flags);
	EXPECT_LE(1, info.files);
	EXPECT_EQ(-ENOENT, tb_provider_at(self->fd, 1, &info));
	EXPECT_EQ(-ENOENT, tb_provider_at(self->fd, ~0u, &info));
	EXPECT_EQ(-EEXIST, create(self->fd, "kernel"));
	EXPECT_EQ(-EPERM, destroy(self->fd, "kernel"));
}

TEST_DEV(provider, create_list_destroy)
{
	struct tb_provider_info info;
	struct tb_query q;
	int id, again, fd;

	id = create(self->fd, "one");
	ASSERT_LT(0, id);
	EXPECT_EQ(-EEXIST, create(self->fd, "one"));
	ASSERT_EQ(0, tb_provider_at(self->fd, 1, &info));
	EXPECT_STREQ("one", info.name);
	EXPECT_EQ(id, info.id);
	EXPECT_EQ(TB_STATE_IDLE, info.state);
	EXPECT_EQ(TB_REASON_NONE, info.reason);
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(0, info.files);
	fd = tb_open_as("one", 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_provider_at(self->fd, 1, &info));
	EXPECT_EQ(1, info.files);
	ASSERT_EQ(0, tb_query(fd, &q));
	EXPECT_STREQ("one", q.name);
	EXPECT_EQ(id, q.provider);
	/* no memory until it is configured or started */
	EXPECT_EQ(0, q.map_bytes);
	close(fd);
	ASSERT_EQ(0, destroy(self->fd, "one"));
	EXPECT_EQ(-ENOENT, destroy(self->fd, "one"));
	EXPECT_EQ(-ENOENT, tb_provider_at(self->fd, 1, &info));
	/* the name is free again; the new id keeps traces apart */
	again = create(self->fd, "one");
	ASSERT_LT(0, again);
	EXPECT_NE(id, again);
}

TEST_DEV(provider, names)
{
	static const char *const good[] = {
		"a", "Z", "a1", "a_-.Z9", "Kernel", "kernel2", "a23456789012345678901234567890b",
	};
	static const char *const bad[] = {
		"", "1", "_a", "-a", ".a", "a b", "a/b", "a:b", "a\n", "a\x80", "\xc3\xa4", "a%s",
	};
	struct tb_provider_req r = { .op = TB_PROVIDER_CREATE };
	struct tb_attach a;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ASSERT_LT(0, create(self->fd, good[i])) {
			TH_LOG("%s", good[i]);
		}
		ASSERT_EQ(0, destroy(self->fd, good[i]));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_EQ(-EINVAL, create(self->fd, bad[i])) {
			TH_LOG("'%s'", bad[i]);
		}
	}
	/* names without an end */
	memset(r.name, 'a', sizeof(r.name));
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_PROVIDER, &r));
	EXPECT_EQ(EINVAL, errno);
	memset(&a, 0, sizeof(a));
	memset(a.name, 'a', sizeof(a.name));
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ATTACH, &a));
	EXPECT_EQ(EINVAL, errno);
}

TEST_DEV(provider, operations)
{
	uint32_t op;

	for (op = 3; op; op <<= 1)
		ASSERT_EQ(-EINVAL, tb_provider(self->fd, op, "one"));
	EXPECT_EQ(-EINVAL, tb_provider(self->fd, 0, "one"));
}

TEST_DEV(provider, bad_addresses)
{
	struct tb_provider_req *r = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tb_provider_info info;

	ASSERT_NE(MAP_FAILED, r);
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_PROVIDER, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_PROVIDERS, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ATTACH, 8));
	EXPECT_EQ(EFAULT, errno);
	/* the kernel cannot return the id: it leaves no provider behind */
	r->op = TB_PROVIDER_CREATE;
	strcpy(r->name, "one");
	ASSERT_EQ(0, mprotect(r, 4096, PROT_READ));
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_PROVIDER, r));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-ENOENT, tb_provider_at(self->fd, 1, &info));
	munmap(r, 4096);
}

TEST_DEV(provider, no_more_than_TB_PROVIDERS_MAX)
{
	struct tb_provider_info info;
	char name[16];
	int i;

	for (i = 1; i < TB_PROVIDERS_MAX; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		ASSERT_LT(0, create(self->fd, name));
	}
	EXPECT_EQ(-ENOSPC, create(self->fd, "more"));
	/* an existing name is refused first */
	EXPECT_EQ(-EEXIST, create(self->fd, "p7"));
	ASSERT_EQ(0, tb_provider_at(self->fd, TB_PROVIDERS_MAX - 1, &info));
	EXPECT_STREQ(name, info.name);
	EXPECT_EQ(-ENOENT, tb_provider_at(self->fd, TB_PROVIDERS_MAX, &info));
	ASSERT_EQ(0, destroy(self->fd, "p7"));
	EXPECT_LT(0, create(self->fd, "more"));
}

TEST_DEV(provider, destroy_while_in_use)
{
	struct tb_provider_info info;
	int one, two;

	one = tb_open_as("one", 0);
	two = tb_open_as("one", 0);
	ASSERT_LE(0, one);
	ASSERT_LE(0, two);
	EXPECT_EQ(-EBUSY, destroy(self->fd, "one"));
	EXPECT_EQ(-EBUSY, destroy(one, "one"));
	/* the refused calls change nothing */
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(-EBUSY, destroy(self->fd, "one"));
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(two));
	close(two);
	/* the caller's own file does not count */
	EXPECT_EQ(-EBUSY, destroy(self->fd, "one"));
	ASSERT_EQ(0, destroy(one, "one"));
	EXPECT_EQ(-ENOENT, tb_provider_at(self->fd, 1, &info));
	/* stopped, but this file still has it */
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(one));
	ASSERT_LT(0, create(self->fd, "one"));
	two = tb_open_as("one", 0);
	ASSERT_LE(0, two);
	EXPECT_EQ(TB_STATE_IDLE, tb_state(two));
	close(one);
	close(two);
}

TEST_DEV(provider, destroyed_with_a_mapping)
{
	struct tb_ring_header *header;
	size_t bytes;
	int fd;

	fd = tb_open_as("one", 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_configure(fd, 0, 0, 4, 1024));
	header = tb_map(fd, &bytes);
	ASSERT_NE(MAP_FAILED, header);
	ASSERT_EQ(0, destroy(fd, "one"));
	close(fd);
	/* the memory stays as long as it is mapped */
	EXPECT_GE(~0ull, *(volatile uint64_t *)header);
	EXPECT_EQ(0, munmap(header, bytes));
}

/* ---- attaching -------------------------------------------------------- */

TEST_DEV(provider, attach_once)
{
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	ASSERT_LT(0, create(fd, "one"));
	ASSERT_LT(0, create(fd, "two"));
	EXPECT_EQ(-ENOENT, tb_attach(fd, "three"));
	EXPECT_EQ(-ENOENT, tb_attach(fd, ""));
	ASSERT_EQ(0, tb_attach(fd, "one"));
	EXPECT_EQ(-EBUSY, tb_attach(fd, "two"));
	EXPECT_EQ(-EBUSY, tb_attach(fd, "one"));
	EXPECT_EQ(-EBUSY, tb_attach(fd, "kernel"));
	/* failed calls hold no provider */
	EXPECT_EQ(0, destroy(self->fd, "two"));
	close(fd);
	EXPECT_EQ(0, destroy(self->fd, "one"));
}

TEST_DEV(provider, attach_before_anything_that_binds)
{
	struct tb_stats st;
	struct tb_ref ref;
	struct tb_query q;
	size_t bytes;
	void *map;
	char c;
	int fd, i;

	ASSERT_LT(0, create(self->fd, "one"));
	for (i = 0; i < 5; i++) {
		fd = tb_open(O_NONBLOCK);
		ASSERT_LE(0, fd);
		/* querying and configuring do not bind */
		EXPECT_EQ(0, tb_query(fd, &q));
		EXPECT_EQ(0, tb_stats(fd, 0, &st));
		EXPECT_EQ(0, tb_configure(fd, 0, 0, 0, 0));
		EXPECT_EQ(0, tb_flush(fd, -1));
		EXPECT_LE(0, tb_poll(fd));
		switch (i) {
		case 0:
			EXPECT_EQ(-1, read(fd, &c, 1));
			break;
		case 1:
			EXPECT_EQ(0, tb_acquire(fd, &ref, 1, 0));
			break;
		case 2:
			EXPECT_EQ(0, tb_start(fd, TB_START_STOP_ON_CLOSE));
			break;
		case 3:
			map = tb_map(fd, &bytes);
			EXPECT_NE(MAP_FAILED, map);
			EXPECT_EQ(0, munmap(map, bytes));
			break;
		case 4:
			EXPECT_EQ(0, tb_attach(fd, "one"));
			break;
		}
		EXPECT_EQ(-EBUSY, tb_attach(fd, "one")) {
			TH_LOG("case %d", i);
		}
		close(fd);
	}
}

/* ---- independence ----------------------------------------------------- */

struct counted {
	struct stream *s;
	uint32_t fired, calls;
};

static void count(void *ctx, const struct stream_event *e)
{
	struct counted *c = ctx;
	uint32_t number;

	c->fired += is_fired(c->s, e, &number);
	if (stream_is(c->s, e, "sys_enter"))
		c->calls += stream_value(c->s, e, "id") == NR_NOWHERE;
}

/* Reads the recording of @fd's provider to its end. */
static bool collect(int fd, struct counted *c)
{
	struct tb_query q;

	memset(c, 0, sizeof(*c));
	c->s = calloc(1, sizeof(*c->s));
	stream_init(c->s);
	c->s->event = count;
	c->s->ctx = c;
	if (tb_query(fd, &q))
		return false;
	c->s->provider = q.provider;
	return tb_drain(fd, c->s) && stream_finish(c->s);
}

TEST_DEV(provider, configuration_is_its_own)
{
	struct tb_query mine, kernel;
	int fd = tb_open_as("one", 0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_configure(fd, TB_MODE_CIRCULAR, 0, 5, 256));
	ASSERT_EQ(2, tb_enable(fd, "raw_syscalls"));
	ASSERT_EQ(0, tb_query(fd, &mine));
	ASSERT_EQ(0, tb_query(self->fd, &kernel));
	EXPECT_EQ(TB_MODE_CIRCULAR, mine.mode);
	EXPECT_EQ(5, mine.buffers);
	EXPECT_EQ(2, mine.nr_enabled);
	EXPECT_EQ(TB_MODE_STREAMING, kernel.mode);
	EXPECT_EQ(32, kernel.buffers);
	EXPECT_EQ(0, kernel.nr_enabled);
	ASSERT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	EXPECT_EQ(TB_STATE_IDLE, tb_state(self->fd));
	EXPECT_EQ(-EBUSY, tb_configure(fd, 0, 0, 0, 0));
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, 0, 0));
	close(fd);
}

/* Three providers record one tracepoint, each in its own way. */
TEST_DEV(provider, one_tracepoint_for_three)
{
	static const struct {
		const char *name;
		uint32_t mode, policy, form;
	} way[] = {
		{ "one", TB_MODE_STREAMING, TB_POLICY_DROP, TB_FORM_WIDE },
		{ "two", TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE, TB_FORM_COMPACT },
		{ "three", TB_MODE_ONESHOT, TB_POLICY_DROP, TB_FORM_WIDE },
	};
	struct counted c;
	int fd[3], i;

	for (i = 0; i < 3; i++) {
		fd[i] = tb_open_as(way[i].name, 0);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, tb_configure(fd[i], way[i].mode, way[i].policy, 64, 1024));
		ASSERT_EQ(1, tb_select(fd[i], TB_SELECT_ENABLE, "sys_enter", way[i].form));
		ASSERT_EQ(1, tb_enable(fd[i], FIRE_EVENT));
	}
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, tb_start(fd[i], TB_START_NO_STATE));
	for (i = 0; i < 100; i++)
		syscall(NR_NOWHERE, i);
	/* when one stops, or disables the event, the others go on */
	ASSERT_EQ(0, tb_stop(fd[0]));
	ASSERT_EQ(1, tb_select(fd[2], TB_SELECT_DISABLE, "sys_enter", 0));
	for (i = 0; i < 100; i++)
		syscall(NR_NOWHERE, i);
	fire(0, 10);
	ASSERT_EQ(0, tb_stop(fd[1]));
	ASSERT_EQ(0, tb_stop(fd[2]));
	for (i = 0; i < 3; i++) {
		bool ok = collect(fd[i], &c);

		ASSERT_STREAM(ok, c.s);
		EXPECT_EQ(i == 1 ? 200 : 100, c.calls) {
			TH_LOG("%s", way[i].name);
		}
		EXPECT_EQ(i == 0 ? 0 : 10, c.fired);
		EXPECT_STREQ(way[i].name, c.s->init.provider);
		EXPECT_EQ(way[i].mode, c.s->init.mode);
		stream_free(c.s);
		free(c.s);
		close(fd[i]);
	}
}

TEST_DEV(provider, ids_tell_concatenated_streams_apart)
{
	static char buf[4 << 20];
	struct stream *s[2];
	struct counted c[2] = { 0 };
	size_t bytes = 0, at;
	struct tb_query q;
	int fd[2], i;
	ssize_t n;

	for (i = 0; i < 2; i++) {
		fd[i] = tb_open_as(i ? "two" : "one", 0);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(1, tb_enable(fd[i], FIRE_EVENT));
		ASSERT_EQ(0, tb_start(fd[i], TB_START_NO_STATE));
		ASSERT_EQ(0, tb_query(fd[i], &q));
		s[i] = calloc(1, sizeof(*s[i]));
		ASSERT_NE(NULL, s[i]);
		stream_init(s[i]);
		s[i]->provider = q.provider;
		s[i]->event = count;
		s[i]->ctx = &c[i];
		c[i].s = s[i];
		fire(0, 20);
	}
	EXPECT_NE(s[0]->provider, s[1]->provider);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, tb_stop(fd[i]));
		while ((n = read(fd[i], buf + bytes, sizeof(buf) - bytes)) > 0)
			bytes += n;
		ASSERT_EQ(0, n);
		close(fd[i]);
	}
	for (at = 0; at < bytes; ) {
		struct tb_block *b = (void *)(buf + at);

		i = b->provider == s[1]->provider;
		ASSERT_STREAM(stream_block(s[i], b, 1ul << b->size_log2), s[i]);
		at += 1ul << b->size_log2;
	}
	for (i = 0; i < 2; i++) {
		ASSERT_STREAM(stream_finish(s[i]), s[i]);
		EXPECT_EQ(i ? 20 : 40, c[i].fired);
		stream_free(s[i]);
		free(s[i]);
	}
}

TEST_DEV(provider, stop_on_close_is_for_its_own)
{
	int one = tb_open_as("one", 0), two = tb_open_as("two", 0), look;

	ASSERT_LE(0, one);
	ASSERT_LE(0, two);
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_start(one, TB_START_STOP_ON_CLOSE));
	ASSERT_EQ(0, tb_start(two, TB_START_STOP_ON_CLOSE));
	close(one);
	look = tb_open_as("one", 0);
	ASSERT_LE(0, look);
	EXPECT_EQ(TB_STATE_STOPPED, tb_state(look));
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(two));
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
	close(two);
	close(look);
	EXPECT_EQ(TB_STATE_RUNNING, tb_state(self->fd));
}

/* ---- memory ----------------------------------------------------------- */

TEST_DEV(provider, memory_comes_back)
{
	long before = 0, after = 0;
	int i, fd;

	for (i = 0; i < 60; i++) {
		/* the first rounds fill caches */
		if (i == 10)
			before = available_kib();
		fd = tb_open_as("one", 0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, tb_configure(fd, 0, 0, 64, 4096));
		ASSERT_EQ(1, tb_enable(fd, FIRE_EVENT));
		ASSERT_EQ(0, tb_start(fd, i % 2 ? TB_START_NO_STATE : 0));
		fire(0, 10);
		if (i % 3)
			ASSERT_EQ(0, tb_stop(fd));
		ASSERT_EQ(0, destroy(fd, "one"));
		close(fd);
	}
	/* lost memory would be 50 times 4 MiB for each CPU */
	for (WAIT(after > before - 64 * 1024))
		after = available_kib();
	EXPECT_LT(before - 64 * 1024, after);
}

TEST_HARNESS_MAIN
