// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of everything that the module does fails once: the call returns a clean error and
 * changes nothing, and the next attempt works. leaks.sh finds leaks when all tests are over. If a
 * test fails, a lack of memory corrupts, leaks or blocks the device.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "fault.h"
#include "tbtest.h"

/* small, so that a sweep is short: rings of 4 buffers of 4 KiB */
#define BUFFERS		4
#define ELEMENTS	256

/* two events */
#define SOME_EVENTS	"signal"

/* longer than other tests: load and start are swept allocation by allocation */
#define FAULT_TEST(name)	TEST_F_TIMEOUT(fault, name, 1200)

/* The state that must not change, and the objects of the steps. */
struct ctx {
	int fd;
	struct tb_query query;
	uint32_t flags[4096];		/* of the events */
	struct tb_stats stats;		/* of a recording */
	struct tb_ref refs[4];		/* held */
	uint32_t taken;
	void *at;
	char *image;			/* file of the module */
	size_t size;
	const char *params;
};

static struct ctx c;

FIXTURE(fault) {
	int unused;
};

/* Reads the state to compare; false on an error. */
static bool look(struct tb_query *q, uint32_t *flags, size_t nr)
{
	struct tb_event_info info;
	uint32_t i;

	if (tb_query(c.fd, q) || q->nr_events > nr)
		return false;
	/* these change without a configuration */
	q->generation = 0;
	q->reader = 0;
	for (i = 0; i < q->nr_events; i++) {
		memset(&info, 0, sizeof(info));
		info.index = i;
		if (ioctl(c.fd, TB_IOC_EVENT, &info))
			return false;
		flags[i] = info.flags;
	}
	return true;
}

static bool remember(void)
{
	return look(&c.query, c.flags, ARRAY_SIZE(c.flags));
}

static bool same(void *ctx)
{
	uint32_t flags[ARRAY_SIZE(c.flags)] = { 0 };
	struct tb_query q;

	if (!look(&q, flags, ARRAY_SIZE(flags)))
		return false;
	if (memcmp(&q, &c.query, sizeof(q))) {
		printf("# state %u was %u, %u events enabled were %u, %u buffers were %u\n",
		       q.state, c.query.state, q.nr_enabled, c.query.nr_enabled,
		       q.buffers, c.query.buffers);
		return false;
	}
	return !memcmp(flags, c.flags, q.nr_events * sizeof(*flags));
}

FIXTURE_SETUP(fault)
{
	const char *why;

	ASSERT_TRUE(fault_init(&why));
	ASSERT_EQ(0, pin(0));
	memset(&c, 0, sizeof(c));
	c.fd = tb_open(0);
	ASSERT_LE(0, c.fd);
	ASSERT_EQ(0, tb_fresh(c.fd));
	ASSERT_EQ(0, tb_configure(c.fd, 0, 0, BUFFERS, ELEMENTS));
	ASSERT_TRUE(remember());
}

FIXTURE_TEARDOWN(fault)
{
	if (c.fd >= 0) {
		tb_stop(c.fd);
		tb_fresh(c.fd);
		close(c.fd);
	}
}

/* ---- open, close ------------------------------------------------------ */

static int do_open(void *ctx)
{
	int fd = tb_open(0);

	if (fd >= 0)
		*(int *)ctx = fd;
	return fd;
}

static void undo_open(void *ctx)
{
	close(*(int *)ctx);
}

FAULT_TEST(open)
{
	static const struct fault_step step = {
		.name = "open", .op = do_open, .undo = undo_open, .same = same, .least = 1,
		.other = ENFILE,
	};
	int fd;

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, &fd));
}

/* Closes a file that is the reader and holds a block. */
static int do_close(void *ctx)
{
	return close(*(int *)ctx) ? -errno : 0;
}

static void undo_close(void *ctx)
{
	struct tb_ref ref;
	int fd = tb_open(0);

	if (fd < 0 || tb_acquire(fd, &ref, 1, 0) != 1)
		abort();
	*(int *)ctx = fd;
}

FAULT_TEST(close)
{
	static const struct fault_step step = {
		.name = "close", .op = do_close, .undo = undo_close, .same = same,
	};
	int fd;

	ASSERT_EQ(0, tb_start(c.fd, TB_START_NO_STATE));
	ASSERT_TRUE(remember());
	undo_close(&fd);
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, &fd));
	ASSERT_EQ(0, close(fd));
}

/* ---- configure -------------------------------------------------------- */

static int do_configure(void *ctx)
{
	return tb_configure(c.fd, TB_MODE_CIRCULAR, 0, BUFFERS + 1, *(uint32_t *)ctx);
}

/* Makes a recording that a failure could lose. */
static void undo_configure(void *ctx)
{
	if (tb_configure(c.fd, 0, 0, BUFFERS, ELEMENTS) || tb_start(c.fd, TB_START_NO_STATE))
		abort();
	fire(0, 10);
	if (tb_stop(c.fd) || tb_stats(c.fd, 0, &c.stats) || c.stats.pending < 10 || !remember())
		abort();
}

static bool same_recording(void *ctx)
{
	struct tb_stats st;

	return same(ctx) && !tb_stats(c.fd, 0, &st) && !memcmp(&st, &c.stats, sizeof(st));
}

static const struct fault_step configure = {
	/* rings, headers, durable buffer: memory, and lists of it */
	.name = "configure", .op = do_configure, .undo = undo_configure, .same = same_recording,
	.least = 12,
};

FAULT_TEST(configure)
{
	uint32_t elements;

	ASSERT_EQ(1, tb_enable(c.fd, FIRE_EVENT));
	/* blocks smaller than a page, of some pages, and of many */
	for (elements = 64; elements <= 8192; elements = elements == 64 ? 1024 : elements * 8)
		EXPECT_TRUE(fault_sweep(&configure, FAULT_NTH, &elements));
}

FAULT_TEST(configure_without_pages)
{
	uint32_t elements = 1024;

	ASSERT_EQ(1, tb_enable(c.fd, FIRE_EVENT));
	EXPECT_TRUE(fault_sweep(&configure, FAULT_PAGES, &elements));
}

/* ---- select ----------------------------------------------------------- */

static int do_select(void *ctx)
{
	return tb_select(c.fd, TB_SELECT_ENABLE, ctx, TB_FORM_COMPACT);
}

static void undo_select(void *ctx)
{
	if (tb_select(c.fd, TB_SELECT_DISABLE, ctx, 0) < 0)
		abort();
}

/* Disabling allocates, too. */
static int do_deselect(void *ctx)
{
	return tb_select(c.fd, TB_SELECT_DISABLE, ctx, 0);
}

static void undo_deselect(void *ctx)
{
	if (tb_select(c.fd, TB_SELECT_ENABLE, ctx, TB_FORM_WIDE) < 0)
		abort();
}

static const struct fault_step selecting = {
	.name = "select", .op = do_select, .undo = undo_select, .same = same, .least = 2,
};

static const struct fault_step deselecting = {
	.name = "deselect", .op = do_deselect, .undo = undo_deselect, .same = same, .least = 2,
};

FAULT_TEST(select_when_idle)
{
	/* the form stays when an event is disabled */
	ASSERT_LT(0, do_select(SOME_EVENTS));
	undo_select(SOME_EVENTS);
	ASSERT_TRUE(remember());
	EXPECT_TRUE(fault_sweep(&selecting, FAULT_NTH, SOME_EVENTS));
	undo_deselect(SOME_EVENTS);
	ASSERT_TRUE(remember());
	EXPECT_TRUE(fault_sweep(&deselecting, FAULT_NTH, SOME_EVENTS));
}

FAULT_TEST(select_when_running)
{
	struct fault_step step = selecting;

	ASSERT_LT(0, do_select(SOME_EVENTS));
	undo_select(SOME_EVENTS);
	/* an event that is enabled already stays so */
	ASSERT_EQ(1, tb_enable(c.fd, "task_newtask"));
	ASSERT_EQ(0, tb_start(c.fd, TB_START_NO_STATE));
	ASSERT_TRUE(remember());
	/* attaching probes allocates, too */
	step.least = 4;
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, SOME_EVENTS));
	step.least = 1;
	EXPECT_TRUE(fault_sweep(&step, FAULT_PAGES, SOME_EVENTS));
	undo_deselect(SOME_EVENTS);
	ASSERT_TRUE(remember());
	EXPECT_TRUE(fault_sweep(&deselecting, FAULT_NTH, SOME_EVENTS));
}

/* ---- start, stop ------------------------------------------------------ */

static int do_start(void *ctx)
{
	return tb_start(c.fd, *(uint32_t *)ctx);
}

static void undo_start(void *ctx)
{
	if (tb_stop(c.fd) || tb_configure(c.fd, 0, 0, BUFFERS, ELEMENTS))
		abort();
}

/* Idle, and without anything of the failed start. */
static bool not_begun(void *ctx)
{
	struct tb_stats st;

	if (!same(ctx) || tb_stats(c.fd, 0, &st))
		return false;
	if (st.pending || tb_poll(c.fd)) {
		printf("# %llu events, poll() says %#x\n", (unsigned long long)st.pending,
		       tb_poll(c.fd));
		return false;
	}
	return true;
}

static const struct fault_step starting = {
	.name = "start", .op = do_start, .undo = undo_start, .same = not_begun, .least = 4,
};

FAULT_TEST(start)
{
	uint32_t flags = 0;

	ASSERT_LT(0, tb_enable(c.fd, SOME_EVENTS));
	ASSERT_TRUE(remember());
	EXPECT_TRUE(fault_sweep(&starting, FAULT_NTH, &flags));
}

FAULT_TEST(start_without_pages)
{
	struct fault_step step = starting;
	uint32_t flags = TB_START_STOP_ON_CLOSE;

	ASSERT_LT(0, tb_enable(c.fd, SOME_EVENTS));
	ASSERT_TRUE(remember());
	/* the room for descriptions is allocated in pages */
	step.least = 1;
	EXPECT_TRUE(fault_sweep(&step, FAULT_PAGES, &flags));
}

static int do_stop(void *ctx)
{
	return tb_stop(c.fd);
}

static void undo_stop(void *ctx)
{
	if (tb_start(c.fd, TB_START_NO_STATE))
		abort();
}

FAULT_TEST(stop)
{
	/* after a failure the next attempt must stop the recording */
	static const struct fault_step step = {
		.name = "stop", .op = do_stop, .undo = undo_stop, .other = ENOMEM,
	};

	ASSERT_LT(0, tb_enable(c.fd, SOME_EVENTS));
	undo_stop(NULL);
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

/* ---- mmap ------------------------------------------------------------- */

static int do_mmap(void *ctx)
{
	c.at = mmap(NULL, c.query.map_bytes, PROT_READ, MAP_SHARED, c.fd, 0);
	return c.at == MAP_FAILED ? -errno : 0;
}

static void undo_mmap(void *ctx)
{
	if (munmap(c.at, c.query.map_bytes))
		abort();
}

/* If nothing is mapped the provider can be configured. */
static bool not_mapped(void *ctx)
{
	return same(ctx) && !tb_configure(c.fd, 0, 0, BUFFERS, ELEMENTS);
}

static const struct fault_step mapping = {
	.name = "mmap", .op = do_mmap, .undo = undo_mmap, .same = not_mapped, .least = 2,
};

FAULT_TEST(mmap)
{
	EXPECT_TRUE(fault_sweep(&mapping, FAULT_NTH, NULL));
}

/* ---- reading ---------------------------------------------------------- */

/* Makes a stopped recording with some events. */
static bool recorded(void)
{
	if (tb_enable(c.fd, FIRE_EVENT) != 1 || tb_start(c.fd, TB_START_NO_STATE))
		return false;
	fire(0, 100);
	return !tb_stop(c.fd) && remember();
}

static int do_read(void *ctx)
{
	static char buf[65536];
	int n = read(c.fd, buf, sizeof(buf));

	return n < 0 ? -errno : n;
}

FAULT_TEST(read)
{
	static const struct fault_step step = {
		.name = "read", .op = do_read, .same = same,
	};

	ASSERT_TRUE(recorded());
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
}

static int do_acquire(void *ctx)
{
	/* room for many: the list of them is allocated */
	int n = tb_acquire(c.fd, c.refs, ARRAY_SIZE(c.refs), 0);

	c.taken = n < 0 ? 0 : n;
	return n;
}

static void undo_acquire(void *ctx)
{
	if (tb_release(c.fd, c.refs, c.taken) != (int)c.taken || !recorded())
		abort();
}

static int do_release(void *ctx)
{
	return tb_release(c.fd, c.refs, c.taken);
}

static void undo_release(void *ctx)
{
	if (!recorded() || do_acquire(NULL) < 1)
		abort();
}

FAULT_TEST(acquire_and_release)
{
	static const struct fault_step acquire = {
		.name = "acquire", .op = do_acquire, .undo = undo_acquire, .same = same,
		.least = 1,
	};
	static const struct fault_step release = {
		.name = "release", .op = do_release, .undo = undo_release, .same = same,
		.least = 1,
	};

	ASSERT_TRUE(recorded());
	EXPECT_TRUE(fault_sweep(&acquire, FAULT_NTH, NULL));
	ASSERT_LT(0, do_acquire(NULL));
	EXPECT_TRUE(fault_sweep(&release, FAULT_NTH, NULL));
	EXPECT_EQ((int)c.taken, do_release(NULL));
}

/* A save channel of a new session. */
struct channel {
	int fd;
	int channel;
};

static int do_channel(void *ctx)
{
	struct tb_fifo f = { .cpu = 0, .version = TB_FIFO_VERSION };
	struct channel *ch = ctx;
	int err;

	ch->fd = tb_open(0);
	ch->channel = ch->fd < 0 ? -1 : ioctl(ch->fd, TB_IOC_FIFO, &f);
	if (ch->channel >= 0)
		return 0;
	err = -errno;
	if (ch->fd >= 0)
		close(ch->fd);
	return err;
}

static void undo_channel(void *ctx)
{
	struct channel *ch = ctx;

	close(ch->channel);
	close(ch->fd);
}

FAULT_TEST(channel)
{
	static const struct fault_step step = {
		.name = "channel", .op = do_channel, .undo = undo_channel, .same = same,
		.least = 4, .other = ENFILE,
	};
	struct channel ch;

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, &ch));
}

/* Calls that query, and change nothing. */
static int do_tell(void *ctx)
{
	static char desc[65536];
	struct tb_event_info info = {
		.desc = (uintptr_t)desc, .desc_size = sizeof(desc),
	};
	struct tb_query q;
	struct tb_stats st;
	int ret = ioctl(c.fd, TB_IOC_EVENT, &info) ? -errno : 0;

	ret = ret ?: tb_query(c.fd, &q);
	ret = ret ?: tb_stats(c.fd, 0, &st);
	ret = ret ?: tb_flush(c.fd, -1);
	return ret ?: tb_poll(c.fd);
}

FAULT_TEST(tell)
{
	struct fault_step step = {
		.name = "event, query, stats, flush, poll", .op = do_tell, .same = same,
	};

	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, NULL));
	/* if one allocation fails other memory does; not so without any pages */
	step.least = 1;
	EXPECT_TRUE(fault_sweep(&step, FAULT_PAGES, NULL));
}

/* ---- the module ------------------------------------------------------- */

static bool there(void)
{
	struct stat st;

	return !stat("/sys/module/tracebuf", &st) || !stat("/dev/tracebuf", &st);
}

static int do_load(void *ctx)
{
	return syscall(SYS_init_module, c.image, c.size, c.params) ? -errno : 0;
}

static void undo_load(void *ctx)
{
	if (syscall(SYS_delete_module, "tracebuf", O_NONBLOCK))
		abort();
}

static bool not_there(void *ctx)
{
	return !there();
}

static int do_unload(void *ctx)
{
	return syscall(SYS_delete_module, "tracebuf", O_NONBLOCK) ? -errno : 0;
}

static void undo_unload(void *ctx)
{
	if (there() || do_load(NULL))
		abort();
}

/* Loaded, and it works. */
static bool still_there(void *ctx)
{
	int fd = tb_open(0), ret = fd < 0 ? fd : tb_fresh(fd);

	close(fd);
	return !ret;
}

/* Reads the module's file: loading it from memory needs no reading, which may fail. */
static bool read_image(void)
{
	const char *path = getenv("TRACEBUF_KO");
	struct stat st;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || fstat(fd, &st))
		return false;
	c.size = st.st_size;
	c.image = malloc(c.size);
	if (!c.image || read(fd, c.image, c.size) != (ssize_t)c.size)
		return false;
	close(fd);
	return true;
}

FAULT_TEST(load_and_unload)
{
	static const struct fault_step load = {
		.name = "load", .op = do_load, .undo = undo_load, .same = not_there, .least = 20,
		.slow = true,
	};
	static const struct fault_step unload = {
		.name = "unload", .op = do_unload, .undo = undo_unload, .same = still_there,
	};

	/* waits for other CPUs must be short, because the sweep loads a thousand times */
	ASSERT_TRUE(write_file("/sys/kernel/rcu_expedited", "1"));
	ASSERT_TRUE(read_image());
	c.params = "events=signal wide=1 buffers=2 elements=64 durable_kib=64 state=0";
	ASSERT_EQ(0, tb_fresh(c.fd));
	close(c.fd);
	c.fd = -1;
	undo_load(NULL);
	EXPECT_TRUE(fault_sweep(&load, FAULT_NTH, NULL));
	ASSERT_EQ(0, do_load(NULL));
	EXPECT_TRUE(fault_sweep(&unload, FAULT_NTH, NULL));
	/* leave the module as the other tests expect it */
	undo_load(NULL);
	c.params = "";
	ASSERT_EQ(0, do_load(NULL));
	ASSERT_TRUE(write_file("/sys/kernel/rcu_expedited", "0"));
}

int main(int argc, char **argv)
{
	const char *why;

	if (!fault_init(&why)) {
		printf("KTAP version 1\n1..1\nok 1 fault # SKIP %s\n", why);
		return 0;
	}
	return test_harness_run(argc, argv);
}
