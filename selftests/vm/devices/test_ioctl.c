// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each ioctl refuses bad input with the documented error: sizes, reserved fields, flags, values,
 * addresses, commands. If a test fails, a program built with another header does something wrong in
 * silence, or the kernel reads or writes wrong memory.
 */
#include "tbtest.h"

DEVICE_FIXTURE(ioctl)

/* a clock of another architecture */
#if defined(__aarch64__)
#define FOREIGN_CLOCK	TB_CLOCK_TSC
#else
#define FOREIGN_CLOCK	TB_CLOCK_ARCH
#endif

/* The commands that take a structure, and how to fill a legal one. */
struct command {
	const char *name;
	unsigned int cmd;
	size_t size;
	bool in;		/* the kernel reads it */
	bool out;		/* the kernel writes it */
	void (*fill)(void *arg);
	int start;		/* needs a running recording */
};

static char text[] = "sched_switch";
static struct tb_ref refs[4];

static void fill_nothing(void *arg)
{
}

static void fill_flush(void *arg)
{
	struct tb_flush *f = arg;

	f->cpu = -1;
}

static void fill_select(void *arg)
{
	struct tb_select *s = arg;

	s->op = TB_SELECT_ENABLE;
	s->pattern = (uintptr_t)text;
	s->length = strlen(text);
}

static void fill_batch(void *arg)
{
	struct tb_batch *b = arg;

	b->refs = (uintptr_t)refs;
	b->count = 1;
}

static const struct command commands[] = {
	{ "query", TB_IOC_QUERY, sizeof(struct tb_query), false, true, fill_nothing, 0 },
	{ "configure", TB_IOC_CONFIGURE, sizeof(struct tb_config), true, false, fill_nothing, 0 },
	{ "start", TB_IOC_START, sizeof(struct tb_start), true, false, fill_nothing, 0 },
	{ "flush", TB_IOC_FLUSH, sizeof(struct tb_flush), true, false, fill_flush, 1 },
	{ "select", TB_IOC_SELECT, sizeof(struct tb_select), true, true, fill_select, 0 },
	{ "event", TB_IOC_EVENT, sizeof(struct tb_event_info), true, true, fill_nothing, 0 },
	{ "stats", TB_IOC_STATS, sizeof(struct tb_stats), true, true, fill_nothing, 1 },
	{ "acquire", TB_IOC_ACQUIRE, sizeof(struct tb_batch), true, true, fill_batch, 1 },
};

#define FOR_EACH(c)	for (c = commands; c < commands + ARRAY_SIZE(commands); c++)

/* the same command for a structure of another size */
static unsigned int resized(unsigned int cmd, size_t size)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
}

static int call(int fd, const struct command *c, unsigned int cmd, void *arg)
{
	int ret;

	if (c->start)
		tb_start(fd, TB_START_NO_STATE);
	ret = ioctl(fd, cmd, arg) < 0 ? -errno : 0;
	/* as before */
	tb_stop(fd);
	return ret;
}

TEST_DEV(ioctl, good_to_begin_with)
{
	const struct command *c;
	char arg[512];

	FOR_EACH(c) {
		memset(arg, 0, sizeof(arg));
		c->fill(arg);
		ASSERT_EQ(0, call(self->fd, c, c->cmd, arg)) {
			TH_LOG("%s", c->name);
		}
		if (!strcmp(c->name, "acquire"))
			ASSERT_EQ(1, tb_release(self->fd, refs, 1));
	}
}

/* A program built with a newer header works as long as the new fields are zero. */
TEST_DEV(ioctl, longer_with_zero_tail)
{
	const struct command *c;
	char arg[512];

	FOR_EACH(c) {
		memset(arg, 0, sizeof(arg));
		c->fill(arg);
		ASSERT_EQ(0, call(self->fd, c, resized(c->cmd, c->size + 8), arg)) {
			TH_LOG("%s", c->name);
		}
		if (!strcmp(c->name, "acquire"))
			ASSERT_EQ(1, tb_release(self->fd, refs, 1));
	}
}

TEST_DEV(ioctl, longer_with_something_in_the_tail_is_E2BIG)
{
	const struct command *c;
	char arg[512];

	FOR_EACH(c) {
		if (!c->in)
			continue;
		memset(arg, 0, sizeof(arg));
		c->fill(arg);
		arg[c->size + 7] = 1;
		ASSERT_EQ(-E2BIG, call(self->fd, c, resized(c->cmd, c->size + 8), arg)) {
			TH_LOG("%s", c->name);
		}
	}
}

/* Fields that this kernel does not know come back as zero. */
TEST_DEV(ioctl, longer_query_is_filled_up)
{
	unsigned char arg[512];
	size_t i;

	memset(arg, 0xaa, sizeof(arg));
	ASSERT_EQ(0, ioctl(self->fd, resized(TB_IOC_QUERY, sizeof(struct tb_query) + 8), arg));
	for (i = sizeof(struct tb_query); i < sizeof(struct tb_query) + 8; i++)
		ASSERT_EQ(0, arg[i]);
	for (; i < sizeof(arg); i++)
		ASSERT_EQ(0xaa, arg[i]);
}

/* No structure has an earlier version. */
TEST_DEV(ioctl, shorter_is_EINVAL)
{
	const struct command *c;
	unsigned char arg[512];
	size_t size, i;

	FOR_EACH(c) {
		for (size = 0; size < c->size; size++) {
			memset(arg, 0, sizeof(arg));
			c->fill(arg);
			memset(arg + size, 0xaa, sizeof(arg) - size);
			ASSERT_EQ(-1, ioctl(self->fd, resized(c->cmd, size), arg)) {
				TH_LOG("%s of %zu bytes", c->name, size);
			}
			ASSERT_EQ(EINVAL, errno);
			for (i = size; i < sizeof(arg); i++)
				ASSERT_EQ(0xaa, arg[i]);
		}
	}
}

TEST_DEV(ioctl, bad_address_is_EFAULT)
{
	const struct command *c;

	FOR_EACH(c) {
		ASSERT_EQ(-EFAULT, call(self->fd, c, c->cmd, (void *)8)) {
			TH_LOG("%s", c->name);
		}
		ASSERT_EQ(-EFAULT, call(self->fd, c, c->cmd, NULL)) {
			TH_LOG("%s NULL", c->name);
		}
		ASSERT_EQ(-EFAULT, call(self->fd, c, c->cmd, (void *)-4096l)) {
			TH_LOG("%s kernel", c->name);
		}
	}
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_RELEASE, 8));
	EXPECT_EQ(EFAULT, errno);
}

/* The kernel can read the structure, but not write it. */
TEST_DEV(ioctl, read_only_address_is_EFAULT)
{
	char *arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct command *c;

	ASSERT_NE(MAP_FAILED, arg);
	FOR_EACH(c) {
		if (!c->out)
			continue;
		ASSERT_EQ(0, mprotect(arg, 4096, PROT_READ | PROT_WRITE));
		memset(arg, 0, 512);
		c->fill(arg);
		ASSERT_EQ(0, mprotect(arg, 4096, PROT_READ));
		ASSERT_EQ(-EFAULT, call(self->fd, c, c->cmd, arg)) {
			TH_LOG("%s", c->name);
		}
	}
}

TEST_DEV(ioctl, unknown_commands_are_ENOTTY)
{
	char arg[512] = "";
	unsigned int nr;

	for (nr = _IOC_NR(TB_IOC_PIDS) + 1; nr < 256; nr++) {
		if (nr >= _IOC_NR(TB_IOC_CATEGORIES) && nr <= _IOC_NR(TB_IOC_INTAKE))
			continue;
		ASSERT_EQ(-1, ioctl(self->fd, _IOWR(TB_IOC_MAGIC, nr, struct tb_start), arg));
		ASSERT_EQ(ENOTTY, errno);
	}
	for (nr = 0; nr < 10; nr++) {
		ASSERT_EQ(-1, ioctl(self->fd, _IOWR(0xba, nr, struct tb_start), arg));
		ASSERT_EQ(ENOTTY, errno);
	}
	/* a command of terminals, as programs try it */
	ASSERT_EQ(-1, ioctl(self->fd, 0x5401, arg));
	ASSERT_EQ(ENOTTY, errno);
}

/* ---- fields ----------------------------------------------------------- */

/* Each of @n bytes from @at on must be zero: otherwise EINVAL. */
static void reserved(struct __test_metadata *_metadata, int fd, unsigned int cmd, void *arg,
		     void *at, size_t n)
{
	unsigned char *byte = at;
	size_t i;

	for (i = 0; i < n; i++) {
		byte[i] = 1;
		ASSERT_EQ(-1, ioctl(fd, cmd, arg)) {
			TH_LOG("command %#x, byte %zu", cmd, i);
		}
		ASSERT_EQ(EINVAL, errno);
		byte[i] = 0;
	}
}

TEST_DEV(ioctl, reserved_fields_are_EINVAL)
{
	struct tb_event_info info = { 0 };
	struct tb_batch batch = { .refs = (uintptr_t)refs, .count = 1 };
	struct tb_provider_req req = { .op = TB_PROVIDER_CREATE, .name = "one" };
	struct tb_provider_info each = { 0 };
	struct tb_attach attach = { .name = "kernel" };
	struct tb_config config = { 0 };
	struct tb_select select = { 0 };
	struct tb_flush flush = { .cpu = -1 };
	struct tb_stats stats = { 0 };
	struct tb_start start = { 0 };
	struct tb_query q;
	int fd = self->fd;

	fill_select(&select);
	config.flags = ~(uint64_t)TB_CONFIG_DURABLE_STOP;
	for (; config.flags; config.flags &= config.flags - 1) {
		struct tb_config one = { .flags = config.flags & -config.flags };

		ASSERT_EQ(-1, ioctl(fd, TB_IOC_CONFIGURE, &one));
		ASSERT_EQ(EINVAL, errno);
	}
	reserved(_metadata, fd, TB_IOC_CONFIGURE, &config, config.reserved,
		 sizeof(config.reserved));
	reserved(_metadata, fd, TB_IOC_START, &start, start.reserved, sizeof(start.reserved));
	/* all bytes but that of the one flag, and the fields that go with the flag */
	reserved(_metadata, fd, TB_IOC_FLUSH, &flush, (char *)&flush.flags + 1, 3);
	reserved(_metadata, fd, TB_IOC_FLUSH, &flush, &flush.timeout_ms, sizeof(flush.timeout_ms));
	reserved(_metadata, fd, TB_IOC_FLUSH, &flush, &flush.reserved, sizeof(flush.reserved));
	reserved(_metadata, fd, TB_IOC_SELECT, &select, select.reserved, sizeof(select.reserved));
	reserved(_metadata, fd, TB_IOC_EVENT, &info, info.reserved, sizeof(info.reserved));
	/* all bytes but that of the flags */
	reserved(_metadata, fd, TB_IOC_EVENT, &info, (char *)&info.flags + 1, 3);
	reserved(_metadata, fd, TB_IOC_STATS, &stats, &stats.flags, sizeof(stats.flags));
	reserved(_metadata, fd, TB_IOC_STATS, &stats, stats.reserved, sizeof(stats.reserved));
	reserved(_metadata, fd, TB_IOC_ACQUIRE, &batch, &batch.reserved, sizeof(batch.reserved));
	reserved(_metadata, fd, TB_IOC_RELEASE, &batch, &batch.reserved, sizeof(batch.reserved));
	reserved(_metadata, fd, TB_IOC_RELEASE, &batch, &batch.flags, sizeof(batch.flags));
	reserved(_metadata, fd, TB_IOC_ATTACH, &attach, attach.reserved, sizeof(attach.reserved));
	reserved(_metadata, fd, TB_IOC_PROVIDER, &req, req.reserved, sizeof(req.reserved));
	reserved(_metadata, fd, TB_IOC_PROVIDER, &req, &req.id, sizeof(req.id));
	reserved(_metadata, fd, TB_IOC_PROVIDERS, &each, each.reserved, sizeof(each.reserved));
	/* the refused calls changed nothing */
	ASSERT_EQ(0, tb_query(fd, &q));
	EXPECT_EQ(TB_STATE_IDLE, q.state);
	EXPECT_EQ(0, q.nr_enabled);
	EXPECT_EQ(0, q.reader);
}

TEST_DEV(ioctl, unknown_flags_are_EINVAL)
{
	struct tb_batch batch = { .refs = (uintptr_t)refs, .count = 1 };
	struct tb_start start = { 0 };
	int bit;

	for (bit = 2; bit < 32; bit++) {
		start.flags = 1u << bit;
		ASSERT_EQ(-1, ioctl(self->fd, TB_IOC_START, &start));
		ASSERT_EQ(EINVAL, errno);
	}
	for (bit = 2; bit < 32; bit++) {
		batch.flags = 1u << bit;
		ASSERT_EQ(-1, ioctl(self->fd, TB_IOC_ACQUIRE, &batch));
		ASSERT_EQ(EINVAL, errno);
	}
}

static int configure(int fd, size_t offset, uint32_t value)
{
	struct tb_config c = { 0 };

	memcpy((char *)&c + offset, &value, sizeof(value));
	return ioctl(fd, TB_IOC_CONFIGURE, &c) ? -errno : 0;
}

TEST_DEV(ioctl, configure_values)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} bad[] = {
#define BAD(field, value)	{ offsetof(struct tb_config, field), value }
		BAD(mode, 4), BAD(mode, ~0u),
		BAD(policy, 3), BAD(policy, ~0u),
		BAD(buffers, 1), BAD(buffers, 4097), BAD(buffers, ~0u), BAD(buffers, 1u << 31),
		BAD(elements, 1), BAD(elements, 32), BAD(elements, 63), BAD(elements, 65),
		BAD(elements, 1023), BAD(elements, 65535), BAD(elements, 131072),
		BAD(elements, 1u << 31), BAD(elements, ~0u),
		BAD(watermark, 101), BAD(watermark, ~0u),
		BAD(clock, 4), BAD(clock, ~0u), BAD(clock, FOREIGN_CLOCK),
		BAD(durable_kib, 63), BAD(durable_kib, 65537), BAD(durable_kib, ~0u),
		BAD(durable_max_kib, 1023), BAD(durable_max_kib, 65537), BAD(durable_max_kib, ~0u),
		BAD(cpus_bytes, 8),
		BAD(flush_ms, 3600001), BAD(flush_ms, ~0u),
	};
	struct tb_config both = { .mode = TB_MODE_CIRCULAR, .policy = TB_POLICY_DROP };
	struct tb_query before, after;
	size_t i;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 7, 128));
	ASSERT_EQ(0, tb_query(self->fd, &before));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_EQ(-EINVAL, configure(self->fd, bad[i].offset, bad[i].value)) {
			TH_LOG("offset %zu value %u", bad[i].offset, bad[i].value);
		}
	}
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_CONFIGURE, &both));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, tb_query(self->fd, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_DEV(ioctl, select_values)
{
	struct tb_select s = { 0 };
	int i;

	fill_select(&s);
	for (i = 0; i < 4; i++) {
		fill_select(&s);
		s.form = 0;
		switch (i) {
		case 0: s.op = 0; break;
		case 1: s.op = 3; break;
		case 2: s.form = 3; break;
		case 3: s.op = TB_SELECT_DISABLE; s.form = TB_FORM_WIDE; break;
		}
		EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SELECT, &s)) {
			TH_LOG("value %d", i);
		}
		EXPECT_EQ(EINVAL, errno);
	}
}

TEST_DEV(ioctl, batch_values)
{
	struct tb_batch b = { .refs = (uintptr_t)refs };
	static const uint32_t bad[] = { 0, 1025, 1u << 31, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		b.count = bad[i];
		EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ACQUIRE, &b));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_RELEASE, &b));
		EXPECT_EQ(EINVAL, errno);
	}
}

TEST_DEV(ioctl, stats_of_a_cpu_that_cannot_be)
{
	struct tb_stats st;
	struct tb_query q;

	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(0, tb_stats(self->fd, q.nr_cpus - 1, &st));
	EXPECT_EQ(-EINVAL, tb_stats(self->fd, q.nr_cpus, &st));
	EXPECT_EQ(-EINVAL, tb_stats(self->fd, ~0u, &st));
}

TEST_DEV(ioctl, write_is_refused)
{
	int fd = open("/dev/tracebuf", O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, write(fd, "x", 1));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

TEST_HARNESS_MAIN
