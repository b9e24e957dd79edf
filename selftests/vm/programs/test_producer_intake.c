// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs write exactly while a provider records their categories, into all providers that do, and
 * hold up none of them; channels without shared memory work the same. If a test fails, programs
 * write while no provider records, do not write while one does, or hold up a flush or a provider.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "channel.h"

/* ---- the page that producers read -------------------------------------- */

static int categories(int fd, uint32_t op, const char *pattern)
{
	struct tb_categories c = { .op = op, .length = strlen(pattern),
				   .pattern = (uintptr_t)pattern };

	if (!*pattern)
		c.pattern = 0;
	return ioctl(fd, TB_IOC_CATEGORIES, &c) ? -errno : 0;
}

TEST_DEV(channel, categories)
{
	const volatile uint32_t *word = self->p.page->categories;
	int ui, net, fd = self->p.fd;

	ui = producer_category(fd, "ui.paint");
	net = producer_category(fd, "net");
	EXPECT_EQ(0, ui);
	EXPECT_EQ(1, net);
	EXPECT_EQ(ui, producer_category(fd, "ui.paint"));
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, "ui.*"));
	EXPECT_EQ(0, word[ui]);
	BEGIN();
	EXPECT_EQ(1, word[ui]);
	EXPECT_EQ(0, word[net]);
	/* the last pattern that matches decides */
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, "*"));
	EXPECT_EQ(1, word[net]);
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_DISABLE, "n?t"));
	EXPECT_EQ(0, word[net]);
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, "*"));
	EXPECT_EQ(1, word[net]);
	/* categories that are added later */
	EXPECT_EQ(2, producer_category(fd, "later"));
	EXPECT_EQ(1, word[2]);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, word[ui]);
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(1, word[ui]);
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_CLEAR, ""));
	EXPECT_EQ(0, word[ui] | word[net] | word[2]);
}

TEST_DEV(channel, categories_that_are_none)
{
	static const char *const bad[] = { "", "a:b", "a,b", "*", "a?", "!a", "a b", "a\tb", "a\n" };
	char name[TB_NAME_MAX + 1];
	struct tb_category_req r;
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, producer_category(self->p.fd, bad[i])) {
			TH_LOG("%d", i);
		}
	}
	memset(&r, 0, sizeof(r));
	memset(r.name, 'a', sizeof(r.name));
	EXPECT_EQ(-1, ioctl(self->p.fd, TB_PIOC_CATEGORY, &r));
	EXPECT_EQ(0, producer_category(self->p.fd, "gr\xc3\xa0tz"));
	for (i = 1; i < TB_CATEGORIES_MAX; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		ASSERT_EQ(i, producer_category(self->p.fd, name));
	}
	EXPECT_EQ(-ENOSPC, producer_category(self->p.fd, "more"));
	EXPECT_EQ(7, producer_category(self->p.fd, "c7"));
	for (i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "c%d*", i);
		ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, name));
	}
	EXPECT_EQ(-ENOSPC, categories(self->fd, TB_CATEGORY_ENABLE, "d"));
	EXPECT_EQ(0, categories(self->fd, TB_CATEGORY_DISABLE, "c5*"));
	EXPECT_EQ(0, categories(self->fd, TB_CATEGORY_CLEAR, ""));
	EXPECT_EQ(-EINVAL, categories(self->fd, TB_CATEGORY_CLEAR, "a"));
	EXPECT_EQ(-EINVAL, categories(self->fd, TB_CATEGORY_ENABLE, ""));
	EXPECT_EQ(-EINVAL, categories(self->fd, 0, "a"));
	EXPECT_EQ(-EINVAL, categories(self->fd, 4, "a"));
	memset(name, 'a', sizeof(name));
	name[TB_NAME_MAX] = 0;
	EXPECT_EQ(-EINVAL, categories(self->fd, TB_CATEGORY_ENABLE, name));
	name[TB_NAME_MAX - 1] = 0;
	EXPECT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, name));
}

TEST_DEV(channel, words_and_poll)
{
	struct pollfd pfd = { .fd = self->p.fd, .events = POLLIN | POLLPRI };
	const volatile struct tb_producer_page *page = self->p.page;
	uint32_t changes = page->changes;
	struct tb_query q;

	EXPECT_EQ(POLLIN, tb_poll(self->p.fd));
	EXPECT_EQ(0, tb_poll(self->p.fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	/* a poll() that does not ask for it leaves it to another one */
	pfd.events = POLLPRI;
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	pfd.events = POLLIN | POLLPRI;
	ASSERT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLIN, pfd.revents);
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	EXPECT_LT(changes, page->changes);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(1, page->recording);
	EXPECT_EQ((uint32_t)q.generation, page->targets[0].generation);
	EXPECT_EQ(q.clock, page->targets[0].clock);
	EXPECT_EQ(q.frequency, page->targets[0].frequency);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, page->recording);
	ASSERT_EQ(1, poll(&pfd, 1, 0));
}

/* ---- several providers ------------------------------------------------- */

TEST_DEV(channel, targets)
{
	struct pieces kernel = { 0 };
	struct stream s;
	int one, i;
	char name[16];

	one = tb_open_as("one", 0);
	ASSERT_LE(0, one);
	EXPECT_EQ(-ENOENT, producer_target(self->p.fd, "nowhere"));
	EXPECT_EQ(-ENOENT, producer_target(self->p.fd, ""));
	EXPECT_EQ(0, producer_target(self->p.fd, "kernel"));
	EXPECT_EQ(1, producer_target(self->p.fd, "one"));
	EXPECT_EQ(1, producer_target(self->p.fd, "one"));
	BEGIN();
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(3, self->p.page->recording);
	ASSERT_EQ(0, producer_writer(self->p.fd, 3, 1, 0, 0));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	EXPECT_EQ(0, chunk_write(&self->p, 1, 3, 0, 0, 3));
	chunk_fill(&self->p, chunk_begin(&self->p, 2, 1, 1, 2), 5);
	chunk_fill(&self->p, chunk_begin(&self->p, 3, 3, 1, 3), 7);
	/* a flush of "one" leaves the records for "kernel" */
	ASSERT_EQ(0, tb_flush(one, -1));
	END();
	EXPECT_EQ(2, self->p.page->recording);
	EXPECT_EQ(2, self->got.nr);
	EXPECT_WHOLE(1, 7);
	EXPECT_WHOLE(3, 0);
	kernel = self->got;
	stream_init(&s);
	s.provider = self->s.provider;
	pieces_collect(&self->got, &s);
	{
		struct tb_query q;

		ASSERT_EQ(0, tb_query(one, &q));
		s.provider = q.provider;
	}
	ASSERT_EQ(0, tb_stop(one));
	ASSERT_STREAM(tb_drain(one, &s), &s);
	EXPECT_WHOLE(3, 10);
	EXPECT_WHOLE(1, 0);
	stream_free(&s);
	pieces_free(&kernel);
	close(one);
	for (i = 2; i < TB_TARGETS_MAX; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		close(tb_open_as(name, 0));
		ASSERT_EQ(i, producer_target(self->p.fd, name));
	}
	close(tb_open_as("more", 0));
	EXPECT_EQ(-ENOSPC, producer_target(self->p.fd, "more"));
}

TEST_DEV(channel, a_target_that_is_removed)
{
	struct tb_producer_info info;
	int one = tb_open_as("one", 0);

	ASSERT_LE(0, one);
	ASSERT_EQ(1, producer_target(self->p.fd, "one"));
	ASSERT_EQ(0, producer_writer(self->p.fd, 3, 1, 0, 0));
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(2, self->p.page->recording);
	EXPECT_EQ(0, chunk_write(&self->p, 0, 3, 0, 0, 3));
	chunk_fill(&self->p, chunk_begin(&self->p, 1, 3, 1, 3), 2);
	/* a producer does not keep the provider */
	ASSERT_EQ(0, tb_provider(one, TB_PROVIDER_DESTROY, "one"));
	EXPECT_EQ(0, self->p.page->recording);
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 3, 1, 3, 3));
	EXPECT_EQ(-ENOENT, info_at(one, 0, &info));
	/* a session that has the removed provider starts it again: the channel stays without it */
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 3, 1, 3, 3));
	ASSERT_EQ(0, tb_flush(one, -1));
	close(one);
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 3, 1, 3, 3));
	/* a new provider of that name is another target */
	one = tb_open_as("one", 0);
	EXPECT_EQ(2, producer_target(self->p.fd, "one"));
	close(one);
}

/* If only some CPUs are recorded, records of programs are recorded wherever they run. */
TEST_DEV(channel, on_a_processor_that_is_not_recorded)
{
	uint8_t mask = 2;
	struct tb_config c = { .cpus = (uintptr_t)&mask, .cpus_bytes = 1 };

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	BEGIN();
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	chunk_fill(&self->p, chunk_begin(&self->p, 1, 1, 1, 2), 3);
	END();
	EXPECT_WHOLE(1, 5);
	EXPECT_EQ(0, self->s.ring[0].events);
}

#define SPIN_SECONDS	20

/* A real-time thread has @cpu for itself, until it is killed, or for SPIN_SECONDS. */
static pid_t spin(int cpu)
{
	struct sched_param rt = { .sched_priority = 50 };
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		time_t end = time(NULL) + SPIN_SECONDS;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pin(cpu) || sched_setscheduler(0, SCHED_FIFO, &rt) || write(ready[1], "", 1) != 1)
			_exit(1);
		while (time(NULL) < end)
			;
		_exit(0);
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

/* A commit does not wait for a CPU on which no other thread gets to run. */
TEST_DEV(channel, does_not_wait_for_threads_of_another_processor)
{
	static const char limit[] = "/proc/sys/kernel/sched_rt_runtime_us";
	uint8_t mask = 2;
	struct tb_config c = { .cpus = (uintptr_t)&mask, .cpus_bytes = 1 };
	pid_t pid;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	BEGIN();
	ASSERT_TRUE(write_file(limit, "-1"));
	/* since 6.12 the fair server lets others run, too */
	write_file("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0");
	pid = spin(1);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	/* the real-time thread still runs */
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	write_file("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000");
	/* some kernels refuse this now; no other test here has real-time threads */
	write_file(limit, "950000");
	END();
	EXPECT_WHOLE(1, 2);
}

/* ---- memory that is not shared ------------------------------------------- */

struct copied {
	struct tb_chunk head;
	char data[CHUNK - sizeof(struct tb_chunk)];
};

static void copied_fill(struct copied *c, uint32_t id, uint32_t records)
{
	struct producer p = { .chunks = (char *)c, .setup.chunk_bytes = CHUNK };

	memset(c, 0, sizeof(*c));
	chunk_fill(&p, chunk_begin(&p, 0, 1, id, 0), records);
	chunk_complete(&c->head);
}

static int open_copying(struct tb_producer_setup *s)
{
	int fd = producer_open_node();

	*s = (struct tb_producer_setup){ .flags = TB_SETUP_NO_SHARED, .chunk_bytes = CHUNK };
	if (producer_setup(fd, s) || producer_target(fd, "kernel") ||
	    producer_writer(fd, 1, 0, 0, 0))
		return -1;
	return fd;
}

TEST_DEV(channel, chunks_by_copy)
{
	static struct copied c[4];
	struct tb_chunk_ref refs[4];
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 4 };
	struct tb_producer_setup s;
	uint64_t next;
	uint32_t i, causes;
	char *edge;
	int fd;

	BEGIN();
	fd = open_copying(&s);
	ASSERT_LE(0, fd);
	EXPECT_EQ(s.chunks_offset, s.map_bytes);
	EXPECT_EQ(0, map_error(fd, s.chunks_offset, PROT_READ, MAP_SHARED, 0));
	for (i = 0; i < 4; i++) {
		copied_fill(&c[i], i, 3);
		c[i].head.first = i * 3;
		copied_fill(&c[i], i, 0);
		c[i].head.first = i * 3;
		c[i].head.state = 1;
		chunk_fill(&(struct producer){ .setup.chunk_bytes = CHUNK }, &c[i].head, 3);
		c[i].head.state = TB_CHUNK_COMPLETE;
		refs[i] = (struct tb_chunk_ref){ .data = (uintptr_t)&c[i] };
	}
	c[1].head.state = TB_CHUNK_WRITING;
	c[2].head.published = TB_PUBLISHED(CHUNK, 3);
	ASSERT_EQ(0, producer_commit(fd, &m));
	EXPECT_EQ(2, m.taken);
	EXPECT_EQ(0, refs[0].result);
	EXPECT_EQ(ESTALE, refs[1].result);
	EXPECT_EQ(EINVAL, refs[2].result);
	EXPECT_EQ(0, refs[3].result);
	/* no memory, a chunk number that does not exist, and an unmapped address */
	refs[0].data = 0;
	refs[1] = (struct tb_chunk_ref){ .chunk = 1, .data = (uintptr_t)&c[0] };
	refs[2] = (struct tb_chunk_ref){ .data = 8 };
	EXPECT_EQ(-EFAULT, producer_commit(fd, &m));
	EXPECT_EQ(EINVAL, refs[0].result);
	EXPECT_EQ(EINVAL, refs[1].result);
	EXPECT_EQ(ECANCELED, refs[3].result);
	/* the data end at an unmapped page */
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 4096, 4096);
	memcpy(edge + 4096 - 64, &c[0], 64);
	refs[0] = (struct tb_chunk_ref){ .data = (uintptr_t)edge + 4096 - 64 };
	m.nr_refs = 1;
	EXPECT_EQ(-EFAULT, producer_commit(fd, &m));
	close(fd);
	END();
	EXPECT_EQ(6, pieces_of(&self->got, s.producer, 1, &next, &causes));
	EXPECT_EQ(12, next);
	EXPECT_EQ(TB_LOST_INVALID, causes);
}

struct answerer {
	int fd;
	const volatile struct tb_producer_page *page;
	bool answers;
	int events;
	uint32_t flush;
};

/* Waits for a request to flush, commits a chunk, and answers. */
static void *answer_thread(void *arg)
{
	static struct copied c;
	struct answerer *a = arg;
	struct pollfd pfd = { .fd = a->fd, .events = POLLPRI };
	struct tb_chunk_ref ref = { .data = (uintptr_t)&c };
	struct tb_commit m = { .refs = (uintptr_t)&ref, .nr_refs = 1 };

	if (poll(&pfd, 1, PATIENCE * 1000) != 1)
		return NULL;
	a->events = pfd.revents;
	a->flush = a->page->flush;
	if (!a->answers)
		return NULL;
	copied_fill(&c, 0, 3);
	m.flush = a->flush;
	producer_commit(a->fd, &m);
	return NULL;
}

TEST_DEV(channel, flush_asks)
{
	struct tb_flush f = { .cpu = -1, .flags = TB_FLUSH_ASK, .timeout_ms = PATIENCE * 1000 };
	struct answerer a = { .answers = true };
	struct tb_producer_setup s;
	pthread_t thread;
	uint64_t next;
	uint32_t causes;

	BEGIN();
	/* no channel needs to be asked */
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(0, self->p.page->flush);
	a.fd = open_copying(&s);
	ASSERT_LE(0, a.fd);
	a.page = mmap(NULL, s.chunks_offset, PROT_READ, MAP_SHARED, a.fd, 0);
	ASSERT_NE(MAP_FAILED, a.page);
	ASSERT_EQ(0, pthread_create(&thread, NULL, answer_thread, &a));
	EXPECT_EQ(0, ioctl(self->fd, TB_IOC_FLUSH, &f));
	pthread_join(thread, NULL);
	EXPECT_EQ(POLLPRI, a.events);
	EXPECT_NE(0, a.flush);
	/* a program that does not answer */
	a.answers = false;
	ASSERT_EQ(0, pthread_create(&thread, NULL, answer_thread, &a));
	f.timeout_ms = 200;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(ETIMEDOUT, errno);
	pthread_join(thread, NULL);
	/* neither a wrong number nor that of the last flush is an answer */
	EXPECT_EQ(0, producer_answer(a.fd, a.page->flush + 1));
	EXPECT_EQ(0, producer_answer(a.fd, a.page->flush - 1));
	{
		struct pollfd pfd = { .fd = a.fd, .events = POLLPRI };

		EXPECT_EQ(1, poll(&pfd, 1, 0));
		EXPECT_EQ(0, producer_answer(a.fd, a.page->flush));
		EXPECT_EQ(0, poll(&pfd, 1, 0));
	}
	munmap((void *)a.page, s.chunks_offset);
	close(a.fd);
	END();
	EXPECT_EQ(3, pieces_of(&self->got, s.producer, 1, &next, &causes));
	f.cpu = 0;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(EINVAL, errno);
	f = (struct tb_flush){ .cpu = -1, .timeout_ms = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(EINVAL, errno);
}

/* A flush does not wait for a program that ends. */
TEST_DEV(channel, flush_asks_one_that_goes)
{
	struct tb_flush f = { .cpu = -1, .flags = TB_FLUSH_ASK, .timeout_ms = PATIENCE * 1000 };
	struct tb_producer_setup s;
	struct answerer a = { 0 };
	int pipes[2];
	char byte;
	pid_t pid;

	BEGIN();
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		struct pollfd pfd = { .events = POLLPRI };

		pfd.fd = open_copying(&s);
		if (pfd.fd < 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		poll(&pfd, 1, PATIENCE * 1000);
		_exit(pfd.revents & POLLPRI ? 0 : 2);
	}
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	EXPECT_EQ(0, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(0, wait_for(pid));
	/* a caller that waits for an answer can be killed */
	a.fd = open_copying(&s);
	pid = fork();
	if (!pid) {
		ioctl(self->fd, TB_IOC_FLUSH, &f);
		_exit(0);
	}
	for (WAIT(tb_poll(a.fd) & POLLPRI)) {
		struct pollfd pfd = { .fd = a.fd, .events = POLLPRI };

		if (poll(&pfd, 1, 0) == 1)
			break;
	}
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	close(a.fd);
}

TEST_HARNESS_MAIN
