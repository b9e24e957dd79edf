// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every event is described, and a provider records exactly the events that were enabled by name
 * before or during the recording. If a test fails, a user records other events than the chosen
 * ones, or a trace has events without descriptions.
 */
#include <pthread.h>

#include "tbtest.h"

DEVICE_FIXTURE(select)

static uint32_t nr_enabled(int fd)
{
	struct tb_query q;

	return tb_query(fd, &q) ? ~0u : q.nr_enabled;
}

static int info(int fd, uint32_t index, struct tb_event_info *i)
{
	memset(i, 0, sizeof(*i));
	i->index = index;
	return ioctl(fd, TB_IOC_EVENT, i) ? -errno : 0;
}

static int find(int fd, const char *name, struct tb_event_info *i)
{
	uint32_t index;
	int ret;

	for (index = 0; !(ret = info(fd, index, i)); index++)
		if (!strcmp(i->name, name))
			break;
	return ret;
}

/* Counts the events of these names that exist now. */
static int count(int fd, const char *system, const char *prefix)
{
	struct tb_event_info i;
	uint32_t index;
	int n = 0;

	for (index = 0; !info(fd, index, &i); index++)
		n += !(i.flags & TB_INFO_GONE) && (!system || !strcmp(i.system, system)) &&
		     !strncmp(i.name, prefix, strlen(prefix));
	return n;
}

/* ---- what there is ---------------------------------------------------- */

TEST_DEV(select, every_event_is_described)
{
	static char desc[65536];
	struct tb_event_info i;
	uint32_t index, compact = 0;
	struct tb_query q;
	struct tb_event_desc *d = (void *)desc;

	ASSERT_EQ(0, tb_query(self->fd, &q));
	for (index = 0; index < q.nr_events; index++) {
		memset(&i, 0, sizeof(i));
		i.index = index;
		i.desc = (uintptr_t)desc;
		i.desc_size = sizeof(desc);
		ASSERT_EQ(0, ioctl(self->fd, TB_IOC_EVENT, &i));
		ASSERT_EQ(TB_EV_FIRST + 2 * index, i.id);
		ASSERT_STREQ("", desc_check(d, i.desc_size) ?: "") {
			TH_LOG("%s", i.name);
		}
		ASSERT_EQ(i.id, d->id);
		ASSERT_STREQ(i.system, desc_string(d, d->system));
		ASSERT_STREQ(i.name, desc_string(d, d->name));
		ASSERT_EQ(0, i.flags & TB_INFO_ENABLED);
		compact += !!(i.flags & TB_INFO_HAS_COMPACT);
	}
	/* sched_stat_runtime has a compact form since 6.8 */
	EXPECT_LE(10, compact);
	EXPECT_EQ(-ENOENT, info(self->fd, q.nr_events, &i));
	EXPECT_EQ(-ENOENT, info(self->fd, ~0u, &i));
}

TEST_DEV(select, the_systems_are_there)
{
	static const char *const systems[] = { "sched", "irq", "raw_syscalls", "task", "timer",
					       "workqueue", "power", "signal" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(systems); i++) {
		ASSERT_LT(1, count(self->fd, systems[i], "")) {
			TH_LOG("system %zu", i);
		}
	}
}

TEST_DEV(select, room_for_the_description)
{
	struct tb_event_info i;
	char desc[4096];
	uint32_t size;

	ASSERT_EQ(0, find(self->fd, "sched_switch", &i));
	/* ask for the form that find() asked for, whichever is recorded */
	i.flags = 0;
	size = i.desc_size;
	ASSERT_LT(sizeof(struct tb_event_desc), size);
	ASSERT_GT(sizeof(desc), size);
	memset(desc, 0x55, sizeof(desc));
	i.desc = (uintptr_t)desc;
	i.desc_size = size - 1;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_EVENT, &i));
	EXPECT_EQ(size, i.desc_size);
	EXPECT_EQ(0x55, desc[0]);
	i.desc_size = size;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_EVENT, &i));
	EXPECT_STREQ("", desc_check((void *)desc, size) ?: "");
	EXPECT_EQ(0x55, desc[size]);
	i.desc = 8;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_EVENT, &i));
	EXPECT_EQ(EFAULT, errno);
}

/* ---- names ------------------------------------------------------------ */

TEST_DEV(select, by_name)
{
	int fd = self->fd;

	EXPECT_EQ(count(fd, "sched", ""), tb_enable(fd, "sched"));
	EXPECT_EQ(count(fd, "sched", ""), nr_enabled(fd));
	EXPECT_EQ(1, tb_enable(fd, "sched_switch"));
	EXPECT_EQ(1, tb_enable(fd, "sched:sched_switch"));
	EXPECT_EQ(count(fd, "sched", ""), nr_enabled(fd));
	EXPECT_EQ(count(fd, NULL, "softirq_"), tb_enable(fd, "softirq_*"));
	EXPECT_EQ(count(fd, "irq", "softirq_"), tb_enable(fd, "irq:softirq_*"));
	EXPECT_EQ(2, tb_enable(fd, "sys_e?*t*r") + tb_enable(fd, "raw_sys*:sys_exi?"));
	EXPECT_EQ(count(fd, NULL, ""), tb_enable(fd, "all"));
	EXPECT_EQ(count(fd, NULL, ""), nr_enabled(fd));
	EXPECT_EQ(count(fd, NULL, ""), tb_enable(fd, "*"));
	EXPECT_EQ(count(fd, NULL, ""), tb_enable(fd, "*:*"));
	EXPECT_EQ(1, tb_select(fd, TB_SELECT_DISABLE, "sched_switch", 0));
	EXPECT_EQ(count(fd, NULL, "") - 1, nr_enabled(fd));
	EXPECT_EQ(count(fd, NULL, ""), tb_select(fd, TB_SELECT_DISABLE, "all", 0));
	EXPECT_EQ(0, nr_enabled(fd));
}

TEST_DEV(select, unknown_is_ENOENT_and_changes_nothing)
{
	static const char *const unknown[] = { "nonsense", "sched:nonsense", "nonsense:sched_switch",
					       "irq:sched_switch", "sched_switc", "Sched", "sched:",
					       ":sched_switch", "sched:sched_switch:", " sched",
					       "sched,irq", "[", "\\" };
	size_t i;

	ASSERT_EQ(1, tb_enable(self->fd, "sched_switch"));
	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		EXPECT_EQ(-ENOENT, tb_enable(self->fd, unknown[i])) {
			TH_LOG("'%s'", unknown[i]);
		}
		EXPECT_EQ(-ENOENT, tb_select(self->fd, TB_SELECT_DISABLE, unknown[i], 0));
	}
	EXPECT_EQ(1, nr_enabled(self->fd));
}

TEST_DEV(select, forms)
{
	struct tb_event_info i;
	int fd = self->fd;

	ASSERT_EQ(1, tb_select(fd, TB_SELECT_ENABLE, "sched_switch", TB_FORM_COMPACT));
	ASSERT_EQ(0, find(fd, "sched_switch", &i));
	EXPECT_EQ(TB_INFO_ENABLED | TB_INFO_COMPACT | TB_INFO_HAS_COMPACT, i.flags);
	/* the default is the form that was chosen before */
	ASSERT_EQ(1, tb_select(fd, TB_SELECT_ENABLE, "sched_switch", TB_FORM_DEFAULT));
	ASSERT_EQ(0, find(fd, "sched_switch", &i));
	EXPECT_EQ(TB_INFO_ENABLED | TB_INFO_COMPACT | TB_INFO_HAS_COMPACT, i.flags);
	ASSERT_EQ(1, tb_select(fd, TB_SELECT_ENABLE, "sched_switch", TB_FORM_WIDE));
	ASSERT_EQ(0, find(fd, "sched_switch", &i));
	EXPECT_EQ(TB_INFO_ENABLED | TB_INFO_HAS_COMPACT, i.flags);
	/* this event has no compact form */
	ASSERT_EQ(1, tb_select(fd, TB_SELECT_ENABLE, FIRE_EVENT, TB_FORM_COMPACT));
	ASSERT_EQ(0, find(fd, "signal_generate", &i));
	EXPECT_EQ(TB_INFO_ENABLED, i.flags);
}

TEST_DEV(select, bad_patterns)
{
	char text[300];
	struct tb_select s = { .op = TB_SELECT_ENABLE, .pattern = (uintptr_t)text };

	memset(text, 'a', sizeof(text));
	s.length = 0;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SELECT, &s));
	EXPECT_EQ(EINVAL, errno);
	s.length = 256;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SELECT, &s));
	EXPECT_EQ(EINVAL, errno);
	s.length = 255;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SELECT, &s));
	EXPECT_EQ(ENOENT, errno);
	/* a NUL in the pattern */
	strcpy(text, "sched");
	s.length = 6;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SELECT, &s));
	EXPECT_EQ(EINVAL, errno);
	s.length = 5;
	EXPECT_EQ(0, ioctl(self->fd, TB_IOC_SELECT, &s));
	s.pattern = 8;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_SELECT, &s));
	EXPECT_EQ(EFAULT, errno);
}

/* ---- while it runs ---------------------------------------------------- */

struct fired {
	struct stream *s;
	uint32_t first, count, calls;
};

static void see_fired(void *ctx, const struct stream_event *e)
{
	struct fired *f = ctx;
	uint32_t number;

	if (is_fired(f->s, e, &number)) {
		if (!f->count++)
			f->first = number;
	}
	if (stream_is(f->s, e, "sys_enter") && stream_value(f->s, e, "id") == NR_NOWHERE)
		f->calls++;
}

TEST_DEV(select, on_and_off_while_running)
{
	struct fired f = { .s = &self->s };
	int i;

	self->s.event = see_fired;
	self->s.ctx = &f;
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 10);
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	fire(10, 10);
	/* enabled already */
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	fire(20, 10);
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_DISABLE, FIRE_EVENT, 0));
	fire(30, 10);
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	fire(40, 10);
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_ENABLE, "sys_enter", TB_FORM_WIDE));
	for (i = 0; i < 10; i++)
		syscall(NR_NOWHERE);
	/* a change of the form would lose events, so the event must be disabled before */
	ASSERT_EQ(-EBUSY, tb_select(self->fd, TB_SELECT_ENABLE, "sys_enter", TB_FORM_COMPACT));
	ASSERT_EQ(-EBUSY, tb_select(self->fd, TB_SELECT_ENABLE, "raw_syscalls", TB_FORM_COMPACT));
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_ENABLE, "sys_enter", TB_FORM_WIDE));
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_ENABLE, "sys_enter", TB_FORM_DEFAULT));
	for (i = 0; i < 10; i++)
		syscall(NR_NOWHERE);
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_DISABLE, "sys_enter", 0));
	syscall(NR_NOWHERE);
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_ENABLE, "sys_enter", TB_FORM_COMPACT));
	for (i = 0; i < 10; i++)
		syscall(NR_NOWHERE);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(10, f.first);
	EXPECT_EQ(30, f.count);
	EXPECT_EQ(30, f.calls);
	EXPECT_EQ(3, self->s.descs);
}

/* System calls of a thread: each begins and ends. */
struct pairs {
	struct stream *s;
	uint32_t tid;
	bool in;
	uint32_t calls, lone_enters, lone_exits;
	uint32_t made;		/* calls, whether recorded or not */
	bool done;
};

static void see_pairs(void *ctx, const struct stream_event *e)
{
	struct pairs *p = ctx;

	if (e->durable || e->simple || e->tid != p->tid)
		return;
	if (stream_is(p->s, e, "sys_enter")) {
		p->lone_enters += p->in;
		p->in = true;
		p->calls++;
	} else if (stream_is(p->s, e, "sys_exit")) {
		p->lone_exits += !p->in;
		p->in = false;
	}
}

static void *calling(void *arg)
{
	struct pairs *p = arg;

	pin(1);
	__atomic_store_n(&p->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) {
		syscall(NR_NOWHERE);
		__atomic_fetch_add(&p->made, 1, __ATOMIC_RELAXED);
		usleep(100);
	}
	return NULL;
}

/* Waits until the thread has made some calls more, at least one of them from begin to end. */
static void wait_for_calls(struct pairs *p)
{
	uint32_t made = __atomic_load_n(&p->made, __ATOMIC_RELAXED);

	for (WAIT(__atomic_load_n(&p->made, __ATOMIC_RELAXED) - made > 4))
		;
}

#define TURNS	8

/*
 * Both events of a system call are enabled at one moment, and disabled at one. Of a call in
 * progress the trace may have one of them, of each other call it has both or none.
 */
TEST_DEV(select, at_one_moment)
{
	struct pairs p = { .s = &self->s };
	pthread_t thread;
	int i;

	self->s.event = see_pairs;
	self->s.ctx = &p;
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 256, 1024));
	ASSERT_EQ(0, pthread_create(&thread, NULL, calling, &p));
	for (WAIT(__atomic_load_n(&p.tid, __ATOMIC_ACQUIRE)))
		;
	/* with many others, so that attaching takes a while */
	ASSERT_LT(10, tb_enable(self->fd, "timer"));
	ASSERT_EQ(2, tb_select(self->fd, TB_SELECT_ENABLE, "raw_syscalls", TB_FORM_WIDE));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	for (i = 0; i < TURNS; i++) {
		wait_for_calls(&p);
		ASSERT_EQ(2, tb_select(self->fd, TB_SELECT_DISABLE, "raw_syscalls", 0));
		wait_for_calls(&p);
		ASSERT_EQ(2, tb_enable(self->fd, "raw_syscalls"));
	}
	wait_for_calls(&p);
	ASSERT_EQ(0, tb_stop(self->fd));
	__atomic_store_n(&p.done, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, self->s.ring[1].overwritten + self->s.ring[1].dropped);
	TH_LOG("%u calls, %u without an end, %u without a beginning", p.calls, p.lone_enters,
	       p.lone_exits);
	EXPECT_LT(TURNS, p.calls);
	EXPECT_GE(TURNS, p.lone_enters);
	EXPECT_GE(TURNS + 1, p.lone_exits);
	/* none, all, and each change */
	EXPECT_EQ(2 + 2 * TURNS, self->s.selections);
	EXPECT_TRUE(stream_selects(&self->s, "sys_enter"));
	EXPECT_TRUE(stream_selects(&self->s, "sys_exit"));
	EXPECT_TRUE(stream_selects(&self->s, "timer_start"));
	EXPECT_FALSE(stream_selects(&self->s, "sched_switch"));
}

/*
 * Changes the selection all the time: a reader that keeps up must never meet an event without its
 * description.
 */
static void *selecting(void *arg)
{
	bool *done = arg;
	uint32_t i;
	int fd = tb_open(0);

	pin(1);
	for (i = 0; i < 15; i++) {
		tb_select(fd, TB_SELECT_DISABLE, "raw_syscalls", 0);
		tb_select(fd, TB_SELECT_ENABLE, "raw_syscalls", i & 1 ? TB_FORM_COMPACT : TB_FORM_WIDE);
		tb_enable(fd, i & 2 ? "sched" : "timer");
		syscall(NR_NOWHERE);
		tb_select(fd, TB_SELECT_DISABLE, i & 2 ? "timer" : "sched", 0);
		tb_flush(fd, -1);
	}
	close(fd);
	__atomic_store_n(done, true, __ATOMIC_RELEASE);
	return NULL;
}

TEST_DEV(select, descriptions_come_before_use)
{
	static char buf[1 << 20];
	bool done = false;
	pthread_t thread;
	ssize_t n;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 16, 64));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, pthread_create(&thread, NULL, selecting, &done));
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		n = read(self->fd, buf, sizeof(buf));
		if (n < 0) {
			ASSERT_EQ(EAGAIN, errno);
		} else {
			ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
		}
	}
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_LT(20, self->s.descs);
}

TEST_DEV(select, no_room_to_describe_is_ENOSPC)
{
	struct tb_config c = { .durable_kib = 64, .flags = TB_CONFIG_DURABLE_STOP };
	struct tb_query before, after;
	pid_t pid = crowd(600);

	/* the threads take most of the 64 KiB */
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &before));
	EXPECT_EQ(-ENOSPC, tb_enable(self->fd, "all"));
	ASSERT_EQ(0, tb_query(self->fd, &after));
	EXPECT_EQ(before.nr_enabled, after.nr_enabled);
	EXPECT_EQ(TB_STATE_RUNNING, after.state);
	ASSERT_EQ(0, tb_stop(self->fd));
	/* not earlier: records of so many exits would fill the buffer, and stop the recording */
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
}

/* ---- queries meanwhile ------------------------------------------------ */

struct asking {
	int fd;
	bool begun, busy, end;
	uint32_t answers;		/* to queries that began and ended during the start */
};

static void *ask(void *arg)
{
	struct asking *a = arg;
	struct tb_event_info i;
	struct tb_query q;
	struct tb_intake_info intake;
	struct tb_trigger_info trigger;

	while (!__atomic_load_n(&a->end, __ATOMIC_ACQUIRE)) {
		bool busy = __atomic_load_n(&a->busy, __ATOMIC_ACQUIRE);
		bool ok = !tb_query(a->fd, &q) && !info(a->fd, 0, &i) &&
			  !ioctl(a->fd, TB_IOC_INTAKE, &intake) &&
			  !ioctl(a->fd, TB_IOC_TRIGGER, &trigger);

		a->answers += ok && busy && __atomic_load_n(&a->busy, __ATOMIC_ACQUIRE);
		__atomic_store_n(&a->begun, true, __ATOMIC_RELEASE);
		/* lets the start have a lock that both want */
		usleep(100);
	}
	return NULL;
}

/* Queries do not wait for a start, which attaches a probe for each event. */
TEST_DEV(select, questions_do_not_wait)
{
	struct asking a = { .fd = self->fd };
	pthread_t thread;
	int err;

	ASSERT_LT(50, tb_enable(self->fd, "all"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, ask, &a));
	while (!__atomic_load_n(&a.begun, __ATOMIC_ACQUIRE))
		usleep(1000);
	__atomic_store_n(&a.busy, true, __ATOMIC_RELEASE);
	err = tb_start(self->fd, 0);
	__atomic_store_n(&a.busy, false, __ATOMIC_RELEASE);
	__atomic_store_n(&a.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, err);
	EXPECT_EQ(0, tb_stop(self->fd));
	TH_LOG("%u answers", a.answers);
	/* more than just before the start and just after it */
	EXPECT_LT(5, a.answers);
}

TEST_HARNESS_MAIN
