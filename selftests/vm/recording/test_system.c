// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device keeps its module loaded, asks for permission, takes limited memory, and works while
 * CPUs go offline. If a test fails, unprivileged users can trace the machine, or a recording takes
 * the memory of everything else.
 */
#include <grp.h>
#include <linux/capability.h>
#include <sys/klog.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "tbtest.h"

#define NOBODY	65534

DEVICE_FIXTURE(system)

/* ---- permissions ------------------------------------------------------ */

/* Returns the error of open() in a child that runs as nobody with @caps. */
static int open_as_nobody(uint64_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setgid(NOBODY) ||
		    setuid(NOBODY) || syscall(SYS_capset, &head, data))
			_exit(255);
		_exit(open("/dev/tracebuf", O_RDONLY) < 0 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_DEV(system, permissions)
{
	struct stat st;

	ASSERT_EQ(0, stat("/dev/tracebuf", &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(EACCES, open_as_nobody(0));
	EXPECT_EQ(EACCES, open_as_nobody(1ull << CAP_PERFMON));
	/* a node that all may open is not enough */
	ASSERT_EQ(0, chmod("/dev/tracebuf", 0666));
	EXPECT_EQ(EPERM, open_as_nobody(0));
	EXPECT_EQ(EPERM, open_as_nobody(1ull << CAP_SYS_PTRACE));
	EXPECT_EQ(0, open_as_nobody(1ull << CAP_PERFMON));
	EXPECT_EQ(0, open_as_nobody(1ull << CAP_SYS_ADMIN));
	ASSERT_EQ(0, chmod("/dev/tracebuf", 0600));
}

/* ---- the module ------------------------------------------------------- */

TEST_DEV(system, module_stays_while_open)
{
	size_t bytes;
	void *at;

	EXPECT_EQ(-1, syscall(SYS_delete_module, "tracebuf", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	/* nor while mapped */
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	close(self->fd);
	EXPECT_EQ(-1, syscall(SYS_delete_module, "tracebuf", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, munmap(at, bytes));
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
}

/* ---- memory ----------------------------------------------------------- */

/* Does one line of the kernel log have all of these? */
static bool logged(const char *a, const char *b, const char *c)
{
	static char log[1 << 20];
	int n = klogctl(3, log, sizeof(log) - 1);
	char *line, *end;

	if (n < 0)
		return false;
	log[n] = 0;
	for (line = log; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (strstr(line, a) && strstr(line, b) && strstr(line, c)) {
			printf("# %s\n", line);
			return true;
		}
	}
	return false;
}

TEST_DEV(system, memory_that_cannot_be_had_is_ENOMEM)
{
	struct tb_query before, after;
	long kib, left = 0;

	kib = available_kib();
	/* 4096 buffers of a MiB for each CPU: more than a guest has */
	if (kib > 4l << 20)
		SKIP(return, "a machine with that much memory");
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 8, 128));
	ASSERT_EQ(0, tb_query(self->fd, &before));
	EXPECT_EQ(-ENOMEM, tb_configure(self->fd, 0, 0, 4096, 65536));
	EXPECT_TRUE(logged("tracebuf: kernel: no memory for ", "with 4096 buffers of 1048576 bytes",
			   "are available"));
	/* no memory is lost, and nothing has changed */
	for (WAIT(left > kib - 64 * 1024))
		left = available_kib();
	EXPECT_LT(kib - 64 * 1024, left);
	ASSERT_EQ(0, tb_query(self->fd, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
	/* the device still works */
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 100);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LE(100, self->s.ring[0].events);
}

/* Returns how many buffers of a MiB, for each CPU, take @percent of the memory. */
static uint32_t buffers_of(int percent)
{
	long pages = sysconf(_SC_PHYS_PAGES) / 100 * percent;

	return pages / ((1 << 20) / sysconf(_SC_PAGESIZE)) / sysconf(_SC_NPROCESSORS_CONF);
}

/* All recordings together leave half of the memory to others. */
TEST_DEV(system, memory_of_all_is_limited)
{
	uint32_t buffers = buffers_of(30);
	int other = tb_open_as("other", 0);

	ASSERT_LE(0, other);
	ASSERT_LT(2, buffers);
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, buffers, 65536));
	EXPECT_EQ(-ENOMEM, tb_configure(other, 0, 0, buffers, 65536));
	EXPECT_TRUE(logged("tracebuf: other: ", " MiB are too much: all providers may use ",
			   "memory_percent=50"));
	/* memory that is given back can be used again */
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 8, 128));
	EXPECT_EQ(0, tb_configure(other, 0, 0, buffers, 65536));
	close(other);
	EXPECT_EQ(0, tb_destroy_all(self->fd));
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, buffers, 65536));
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 8, 128));
}

/* ---- processors ------------------------------------------------------- */

struct fired {
	struct stream *s;
	uint32_t count[STREAM_CPUS];
};

static void see_fired(void *ctx, const struct stream_event *e)
{
	struct fired *f = ctx;
	uint32_t number;

	if (is_fired(f->s, e, &number))
		f->count[e->cpu]++;
}

TEST_DEV(system, cpu_goes_and_comes_back)
{
	struct fired f = { .s = &self->s };
	struct tb_ref ref;
	const char *at;
	size_t bytes;
	int n;

	if (sysconf(_SC_NPROCESSORS_CONF) < 2)
		SKIP(return, "one CPU");
	self->s.event = see_fired;
	self->s.ctx = &f;
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	ASSERT_EQ(0, pin(1));
	fire(0, 20);
	ASSERT_EQ(0, pin(0));
	ASSERT_TRUE(set_online(1, false));
	/* the events of CPU 1 are there without a flush */
	while ((n = tb_acquire(self->fd, &ref, 1, 0)) == 1) {
		ASSERT_STREAM(stream_block(&self->s, at + ref.offset, ref.bytes), &self->s);
		ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	}
	EXPECT_EQ(0, n);
	EXPECT_EQ(20, f.count[1]);
	/* everything works while it is offline */
	EXPECT_EQ(0, tb_flush(self->fd, 1));
	EXPECT_EQ(0, tb_flush(self->fd, -1));
	fire(0, 5);
	EXPECT_EQ(1, tb_enable(self->fd, "sched_switch"));
	EXPECT_EQ(1, tb_select(self->fd, TB_SELECT_DISABLE, "sched_switch", 0));
	/* it comes back, and its ring goes on */
	ASSERT_TRUE(set_online(1, true));
	ASSERT_EQ(0, pin(1));
	fire(20, 30);
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, munmap((void *)at, bytes));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(50, f.count[1]);
	EXPECT_EQ(5, f.count[0]);
}

TEST_DEV(system, stop_and_start_while_a_cpu_is_away)
{
	struct fired f = { .s = &self->s };

	if (sysconf(_SC_NPROCESSORS_CONF) < 2)
		SKIP(return, "one CPU");
	self->s.event = see_fired;
	self->s.ctx = &f;
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, pin(1));
	fire(0, 20);
	ASSERT_EQ(0, pin(0));
	ASSERT_TRUE(set_online(1, false));
	EXPECT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, 8, 256));
	EXPECT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_TRUE(set_online(1, true));
	ASSERT_EQ(0, pin(1));
	fire(0, 7);
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(7, f.count[1]);
}

TEST_HARNESS_MAIN
