// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known workloads give the right events, in number and in contents, in wide and compact form. If a
 * test fails, a trace shows events that did not happen, or lacks events that did.
 */
#include <dirent.h>
#include <linux/io_uring.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tbtest.h"

#define BUFFERS		64
#define ELEMENTS	1024
#define N		500

DEVICE_FIXTURE(events)

static int prepare(int fd)
{
	return tb_configure(fd, TB_MODE_STREAMING, TB_POLICY_DROP, BUFFERS, ELEMENTS);
}

/* Stops and reads all; the rings are so large that nothing may be lost. */
static void finish(struct __test_metadata *_metadata, int fd, struct stream *s)
{
	int i;

	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(tb_drain(fd, s), s);
	ASSERT_STREAM(stream_finish(s), s);
	for (i = 0; i < STREAM_CPUS; i++) {
		ASSERT_EQ(0, s->ring[i].totals.dropped);
		ASSERT_EQ(0, s->ring[i].gaps);
	}
}

/* ---- system calls ----------------------------------------------------- */

struct calls {
	struct stream *s;
	uint32_t enter, exit;
	uint32_t wrong;
	uint64_t next;
	pid_t tid;
};

/* getppid() of one thread, in wide form. */
static void see_getppid(void *ctx, const struct stream_event *e)
{
	struct calls *c = ctx;

	if (e->id <= TB_EV_CONTROL_LAST || e->tid != (uint32_t)c->tid)
		return;
	if (stream_value(c->s, e, "id") != SYS_getppid)
		return;
	if (stream_is(c->s, e, "sys_enter")) {
		c->enter++;
		c->wrong += c->enter != c->exit + 1;
	} else {
		c->exit++;
		c->wrong += c->enter != c->exit || stream_value(c->s, e, "ret") != getppid();
	}
	c->wrong += e->simple || e->cpu != 0 ||
		    e->context & (TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ | TB_CONTEXT_NMI) ||
		    e->context & TB_CONTEXT_PREEMPT_MASK;
}

TEST_DEV(events, getppid_wide)
{
	struct calls c = { .s = &self->s, .tid = gettid() };
	int i;

	self->s.event = see_getppid;
	self->s.ctx = &c;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(2, tb_enable(self->fd, "raw_syscalls"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < N; i++)
		syscall(SYS_getppid);
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(N, c.enter);
	EXPECT_EQ(N, c.exit);
	EXPECT_EQ(0, c.wrong);
}

static void see_args(void *ctx, const struct stream_event *e)
{
	const struct tb_field *f;
	struct calls *c = ctx;
	uint64_t args[6];
	int i;

	if (!stream_is(c->s, e, "sys_enter") || stream_value(c->s, e, "id") != NR_NOWHERE)
		return;
	f = desc_field(c->s->desc[e->id].desc, "args");
	if (!f || f->size != sizeof(args) || f->count != 6 || !(f->flags & TB_FIELD_ARRAY)) {
		c->wrong++;
		return;
	}
	memcpy(args, e->payload + f->offset, sizeof(args));
	for (i = 0; i < 6; i++)
		c->wrong += args[i] != (c->enter | (i + 1ull) << 60);
	c->enter++;
}

TEST_DEV(events, arguments_of_a_system_call)
{
	struct calls c = { .s = &self->s };
	uint64_t i;

	self->s.event = see_args;
	self->s.ctx = &c;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(1, tb_enable(self->fd, "sys_enter"));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < N; i++)
		syscall(NR_NOWHERE, i | 1ull << 60, i | 2ull << 60, i | 3ull << 60,
			i | 4ull << 60, i | 5ull << 60, i | 6ull << 60);
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(N, c.enter);
	EXPECT_EQ(0, c.wrong);
}

static void see_compact(void *ctx, const struct stream_event *e)
{
	struct calls *c = ctx;

	if ((!stream_is(c->s, e, "sys_enter") && !stream_is(c->s, e, "sys_exit")) ||
	    stream_value(c->s, e, "id") != NR_NOWHERE)
		return;
	c->wrong += !e->simple || e->cpu != 0;
	if (stream_is(c->s, e, "sys_enter")) {
		c->enter++;
		/* the kernel does not know this call: it may have six */
		c->wrong += stream_value(c->s, e, "nr_args") != 6;
	} else {
		c->exit++;
		c->wrong += stream_value(c->s, e, "ret") != -ENOSYS || c->enter != c->exit;
	}
}

TEST_DEV(events, system_calls_compact)
{
	struct calls c = { .s = &self->s };
	int i;

	self->s.event = see_compact;
	self->s.ctx = &c;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(2, tb_select(self->fd, TB_SELECT_ENABLE, "raw_syscalls", TB_FORM_COMPACT));
	/* without switches all events are recorded in the wide form */
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_ENABLE, "sched_switch", TB_FORM_COMPACT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < N; i++)
		syscall(NR_NOWHERE);
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(N, c.enter);
	EXPECT_EQ(N, c.exit);
	EXPECT_EQ(0, c.wrong);
}

/* ---- numbered events -------------------------------------------------- */

struct numbers {
	struct stream *s;
	uint32_t next[STREAM_CPUS], count[STREAM_CPUS];
	uint32_t wrong;
	pid_t tid;
};

static void see_numbers(void *ctx, const struct stream_event *e)
{
	struct numbers *n = ctx;
	uint32_t number;

	if (!is_fired(n->s, e, &number))
		return;
	n->wrong += number != n->next[e->cpu] || e->tid != (uint32_t)n->tid ||
		    stream_value(n->s, e, "pid") != n->tid;
	n->next[e->cpu] = number + 1;
	n->count[e->cpu]++;
}

TEST_DEV(events, numbered_events_on_two_cpus)
{
	struct numbers n = { .s = &self->s, .tid = gettid() };
	int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	self->s.event = see_numbers;
	self->s.ctx = &n;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, pin(i & 1));
		fire(i / 2 * 100, 100);
	}
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(500, n.count[0]);
	EXPECT_EQ(500, n.count[1]);
	EXPECT_EQ(0, n.wrong);
}

static void see_length(void *ctx, const struct stream_event *e)
{
	struct numbers *n = ctx;
	uint32_t number;

	if (!is_fired(n->s, e, &number))
		return;
	n->count[0]++;
	n->wrong += e->length > (FIRE_ELEMENTS - 1) * 16 || e->length <= (FIRE_ELEMENTS - 2) * 16;
}

/* Other tests rely on this size. */
TEST_DEV(events, numbered_events_have_the_size_the_tests_assume)
{
	struct numbers n = { .s = &self->s };
	struct tb_stats before, after;

	self->s.event = see_length;
	self->s.ctx = &n;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	fire(0, 1);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &before));
	fire(1, 1);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &after));
	EXPECT_EQ(FIRE_ELEMENTS, after.fill - before.fill);
	EXPECT_EQ(before.recorded + 1, after.recorded);
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(2, n.count[0]);
	EXPECT_EQ(0, n.wrong);
}

/* In a ring of the smallest buffers, an event that is too large is counted. */
TEST_DEV(events, oversize_is_counted)
{
	struct tb_stats st;
	struct tb_query q;

	/* sched_process_exec has the name of the file, which may be long */
	char path[900] = "/", *const argv[] = { path, NULL };
	int status, i;
	pid_t pid;

	for (i = 1; i + 2 < (int)sizeof(path); i += 2)
		memcpy(path + i, "./", 3);
	strcpy(path + sizeof(path) - 20, "/../bin/true");
	for (i = 1; path[i]; i++)
		;
	ASSERT_EQ(0, access(path, X_OK));
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ASSERT_EQ((64 - TB_BLOCK_FIRST_ELEMENT - 1) * 16, q.max_event);
	ASSERT_EQ(1, tb_enable(self->fd, "sched_process_exec"));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		execv(path, argv);
		_exit(127);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(1, st.oversize);
	EXPECT_EQ(1, st.dropped);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(1, self->s.ring[0].totals.oversize);
}

/* ---- switches: simple and composite events agree ---------------------- */

struct switches {
	struct stream *s;
	uint32_t count, wrong;
	int64_t running[STREAM_CPUS];
	bool known[STREAM_CPUS];
	uint32_t strings_wrong;
};

static void see_switch(void *ctx, const struct stream_event *e)
{
	struct switches *w = ctx;
	const struct tb_field *f;
	int64_t prev, next;

	if (!stream_is(w->s, e, "sched_switch"))
		return;
	prev = stream_value(w->s, e, "prev_pid");
	next = stream_value(w->s, e, "next_pid");
	w->wrong += prev == next || (w->known[e->cpu] && w->running[e->cpu] != prev) ||
		    (!e->simple && e->tid != prev) ||
		    stream_value(w->s, e, "next_prio") > 140;
	w->running[e->cpu] = next;
	w->known[e->cpu] = true;
	w->count++;
	if (!e->simple) {
		f = desc_field(w->s->desc[e->id].desc, "next_comm");
		w->strings_wrong += !f || f->size != 16 || !(f->flags & TB_FIELD_STRING) ||
				    !memchr(e->payload + f->offset, 0, 16) ||
				    (!next && memcmp(e->payload + f->offset, "swapper/", 8));
	}
}

/* Returns how often this thread has gone to sleep. */
static long sleeps(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void switches(struct __test_metadata *_metadata, int fd, struct stream *s, uint32_t form)
{
	struct switches w = { .s = s };
	long before;

	s->event = see_switch;
	s->ctx = &w;
	ASSERT_EQ(0, prepare(fd));
	ASSERT_EQ(1, tb_select(fd, TB_SELECT_ENABLE, "sched_switch", form));
	ASSERT_EQ(0, tb_start(fd, 0));
	before = sleeps();
	/* waiting makes the switches */
	for (WAIT(sleeps() - before >= 100))
		;
	finish(_metadata, fd, s);
	EXPECT_LE(100, w.count);
	EXPECT_EQ(0, w.wrong);
	EXPECT_EQ(0, w.strings_wrong);
}

TEST_DEV(events, switches_follow_one_another_wide)
{
	switches(_metadata, self->fd, &self->s, TB_FORM_WIDE);
}

TEST_DEV(events, switches_follow_one_another_compact)
{
	switches(_metadata, self->fd, &self->s, TB_FORM_COMPACT);
}

/* ---- threads that come and go ----------------------------------------- */

struct life {
	struct stream *s;
	uint32_t tid;
	uint32_t fork, name, exit, wrong;
};

static void see_life(void *ctx, const struct stream_event *e)
{
	struct life *l = ctx;
	struct tb_thread t;

	if (e->id != TB_EV_THREAD)
		return;
	memcpy(&t, e->payload, sizeof(t));
	if (t.tid != l->tid)
		return;
	l->wrong += t.parent != (uint32_t)getpid() || t.tgid != l->tid ||
		    t.flags & TB_THREAD_KERNEL;
	switch (t.flags) {
	case TB_THREAD_FORK:
		l->wrong += l->fork || l->name || l->exit;
		l->fork++;
		break;
	case TB_THREAD_NAME:
		l->wrong += !l->fork || l->exit || strncmp(t.comm, "new name", 16);
		l->name++;
		break;
	case TB_THREAD_EXIT:
		l->wrong += !l->name || strncmp(t.comm, "new name", 16);
		l->exit++;
		break;
	default:
		l->wrong++;
	}
}

TEST_DEV(events, threads_are_followed)
{
	struct life l = { .s = &self->s };
	pid_t pid;

	self->s.event = see_life;
	self->s.ctx = &l;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		prctl(PR_SET_NAME, "new name");
		_exit(0);
	}
	l.tid = pid;
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(1, l.fork);
	EXPECT_EQ(1, l.name);
	EXPECT_EQ(1, l.exit);
	EXPECT_EQ(0, l.wrong);
}

/* The thread that io_uring makes to poll for requests: it is no child of fork() or clone(). */
static void see_worker(void *ctx, const struct stream_event *e)
{
	struct life *l = ctx;
	struct tb_thread t;

	if (e->id != TB_EV_THREAD)
		return;
	memcpy(&t, e->payload, sizeof(t));
	if (t.tgid != (uint32_t)getpid())
		return;
	if (t.flags == TB_THREAD_FORK) {
		l->fork++;
		l->tid = t.tid;
	} else if (t.flags == TB_THREAD_NAME) {
		l->wrong += !l->fork || t.tid != l->tid || strncmp(t.comm, "iou-sqp", 7);
		l->name++;
	}
}

/* Does a thread of this process have a name that begins so? */
static bool has_thread(const char *name)
{
	DIR *threads = opendir("/proc/self/task");
	char path[300], comm[32];
	struct dirent *thread;
	bool found = false;
	FILE *file;

	while (threads && !found && (thread = readdir(threads))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", thread->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		found = fgets(comm, sizeof(comm), file) && !strncmp(comm, name, strlen(name));
		fclose(file);
	}
	if (threads)
		closedir(threads);
	return found;
}

TEST_DEV(events, threads_of_the_kernel_for_a_program)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SQPOLL };
	struct life l = { .s = &self->s };
	int ring;

	self->s.event = see_worker;
	self->s.ctx = &l;
	ASSERT_EQ(0, prepare(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ring = syscall(__NR_io_uring_setup, 4, &params);
	if (ring < 0)
		SKIP(return, "io_uring_setup: %s", strerror(errno));
	for (WAIT(has_thread("iou-sqp")))
		;
	close(ring);
	finish(_metadata, self->fd, &self->s);
	EXPECT_EQ(1, l.fork);
	EXPECT_EQ(1, l.name);
	EXPECT_EQ(0, l.wrong);
}

/* ---- everything at once ----------------------------------------------- */

TEST_DEV(events, all_events_under_load_are_well_formed)
{
	/* the reader on one CPU, work on the other */
	int status, fd = self->fd;
	pid_t pid;

	ASSERT_EQ(0, tb_configure(fd, 0, TB_POLICY_OVERWRITE, 64, 1024));
	ASSERT_LT(50, tb_select(fd, TB_SELECT_ENABLE, "all", TB_FORM_WIDE));
	ASSERT_EQ(0, tb_start(fd, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		char buf[256];
		int i, in;

		close(fd);
		pin(1);
		for (i = 0; i < 30; i++) {
			in = open("/proc/self/status", O_RDONLY);
			while (read(in, buf, sizeof(buf)) > 0)
				;
			close(in);
			if (!fork())
				_exit(0);
			wait(NULL);
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		static char buf[1 << 20];
		ssize_t n = read(fd, buf, sizeof(buf));

		ASSERT_LT(0, n);
		ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
	}
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(tb_drain(fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LT(1000, stream_events(&self->s));
}

TEST_HARNESS_MAIN
