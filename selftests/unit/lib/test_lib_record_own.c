// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process without an arbiter of its own gets one when it records for the first time, or none if
 * there is no module. If this fails, a program records nothing, or recording changes the program:
 * its errno, its threads, its children. No device: fake_producer.h plays the kernel.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "test_lib_record.h"

/* record_cpp.cpp */
void record_by_objects(void);

static int opened, open_fails, evaluated;

static int open_ours(struct tb_endpoint **endpoint)
{
	opened++;
	*endpoint = &fake.endpoint;
	return open_fails;
}

/* Without a module and an arbiter a category is asked about once, and never again */
static void in_child_without_module(void)
{
	static struct tb_category fresh = TB_CATEGORY_INIT("fresh");

	open_fails = -ENOENT;
	tb_open_instead = open_ours;
	CHECK(tb_category_open(&fresh));
	tb_instant(tb_here(), &fresh, "nobody");
	CHECK(!tb_category_open(&fresh));
	evaluated = 0;
	tb_instant((evaluated++, tb_here()), &fresh, "nobody");
	tb_begin((evaluated++, tb_here()), &fresh, "nobody");
	tb_end((evaluated++, tb_here()), &fresh);
	CHECK_NUMBER(evaluated, 0);
	CHECK(!tb_write_enabled("by text"));
	CHECK_NUMBER(opened, 1);
	/* once there is an arbiter, the category works */
	open_fake(4096);
	CHECK(tb_category_open(&fresh));
	fake.page.categories[0] = 1;
	tb_instant(w, &fresh, "somebody");
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 1);
	close_fake();
}

/* In a child, where no code has looked for the module yet */
static void without_module(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		in_child_without_module();
		fflush(stdout);
		_exit(test_failures != 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_NUMBER(status, 0);
}

static void *thread_records(void *unused)
{
	(void)unused;
	tb_write_instant("cats", "in a thread");
	return tb_here();
}

static void own_arbiter(void)
{
	struct tb_arbiter *ours;
	pthread_t thread;
	void *theirs;
	int status;
	pid_t pid;

	fake_init(&fake);
	tb_open_instead = open_ours;
	/* without a device nothing is recorded, at little cost */
	open_fails = -ENOENT;
	opened = 0;
	CHECK(tb_writer_is_null(tb_here()));
	tb_instant(tb_here(), &work, "nowhere");
	tb_write_instant("cats", "nowhere");
	tb_write_mark("nowhere");
	CHECK(!tb_write_enabled("cats"));
	CHECK_NUMBER(opened, 1);
	CHECK_NUMBER(-tb_default_open(NULL, &ours), ENOENT);
	CHECK(!ours);
	/* a second attempt works; it fails with sizes of the caller's that do not fit */
	open_fails = 0;
	fake.page.categories[0] = 1;
	fake.fits = 512;
	CHECK_NUMBER(-tb_default_open(&(struct tb_arbiter_options){ 1024, 8, 0, 0 }, &ours),
		     EMSGSIZE);
	CHECK(!ours);
	fake.closed = 0;
	CHECK(!tb_default_open(NULL, &ours));
	CHECK_NUMBER(fake.chunk_bytes, 512);
	CHECK_NUMBER(fake.nr_chunks, 512);
	CHECK_NUMBER(fake.closed, 3);
	fake.closed = 0;
	CHECK(ours && !tb_writer_is_null(tb_here()));
	CHECK_NUMBER(-tb_default_open(&(struct tb_arbiter_options){ 0 }, NULL), EBUSY);
	tb_write_instant("cats", "one");
	CHECK(tb_write_enabled("cats"));
	tb_write_begin("cats", "two");
	tb_write_end("cats");
	tb_write_counter("cats", "three", 3);
	tb_write_counter_double(NULL, "four", 4);
	tb_write_event("", "five", "12345", 5);
	tb_write_begin_flow("cats", "six", 6);
	tb_write_instant_flow("cats", "six", 6, true);
	tb_write_mark("seven");
	CHECK(!tb_write_enabled("dogs"));
	tb_write_instant("dogs", "nobody");
	CHECK(!tb_write_flush());
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_BEGIN), 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_COUNTER), 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_EVENT), 1);
	CHECK_NUMBER(fake_count(&fake, TB_REC_MARK), 1);
	CHECK(told("six", TB_NAME_EVENT) && !told("nobody", TB_NAME_EVENT));
	/* the objects of C++ record the same */
	fake.page.categories[2] = 1;
	fake.nr_got = 0;
	record_by_objects();
	CHECK(!tb_write_flush());
	CHECK_NUMBER(fake.nr_categories, 4);
	CHECK_NUMBER(fake_count(&fake, TB_REC_BEGIN), 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_END), 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 1);
	CHECK(fake_got(&fake, TB_REC_SLICE, 0)->words[0]);
	CHECK_NUMBER(fake_got(&fake, TB_REC_BEGIN, 1)->words[0], 9);
	CHECK_NUMBER(fake_count(&fake, TB_REC_INSTANT), 2);
	CHECK_NUMBER(fake_count(&fake, TB_REC_COUNTER), 2);
	CHECK_NUMBER(only(TB_REC_EVENT)->words[1], 1 | 2ull << 32);
	CHECK_NUMBER(fake_count(&fake, TB_REC_MARK), 1);
	CHECK(told("inner", TB_NAME_EVENT) && !told("nobody", TB_NAME_EVENT));
	/* the writer of a thread ends with the thread */
	CHECK(!pthread_create(&thread, NULL, thread_records, NULL));
	CHECK(!pthread_join(thread, &theirs));
	CHECK(theirs != tb_here());
	CHECK(told("in a thread", TB_NAME_EVENT));
	CHECK(fake.writers[1].there && !fake.writers[2].there);
	CHECK(fake.writers[1].tid != fake.writers[2].tid && fake.writers[2].tid);
	/* a child opens a channel of its own */
	fflush(stdout);
	pid = fork();
	if (!pid) {
		static struct fake parents;

		parents = fake;
		fake_init(&fake);
		fake.page.categories[0] = 1;
		opened = 0;
		tb_write_instant("cats", "child");
		tb_write_flush();
		_exit(parents.closed_inherited != 1 || parents.closed || opened != 1 ||
		      fake.error || fake_count(&fake, TB_REC_INSTANT) != 1 ||
		      !told("child", TB_NAME_EVENT) ||
		      fake.writers[1].tid != (uint32_t)getpid());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	/* the parent continues */
	tb_write_instant("cats", "parent");
	CHECK(!tb_write_flush());
	CHECK(told("parent", TB_NAME_EVENT));
	CHECK(!fake.error);
	CHECK_NUMBER(opened, 7);
	CHECK(!fake.closed);
}

static void *thread_opens(void *arg)
{
	struct tb_endpoint *endpoint;

	pthread_cancel(pthread_self());
	errno = 77;
	if (!tb_producer_open(&endpoint)) {
		endpoint->ops->nap(endpoint, 1);
		endpoint->ops->close(endpoint);
	}
	*(int *)arg = errno;
	pthread_testcancel();
	return NULL;
}

/* Opening the channel, or failing to, is no cancellation point and leaves errno. */
static void disturbs_nobody(void)
{
	pthread_t thread;
	void *result;
	int seen = 0;

	tb_open_instead = NULL;
	CHECK(!pthread_create(&thread, NULL, thread_opens, &seen));
	CHECK(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_NUMBER(seen, 77);
	tb_open_instead = open_ours;
}

static void *thread_forks(void *unused)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 100; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
	return unused;
}

/* A thread that records forks while a thread that does not record forks: no record is lost. */
static void forks_at_once(void)
{
	struct tb_writer_stats before, after;
	pthread_t thread;
	int i, status;
	pid_t pid;

	tb_writer_read_stats(tb_here(), &before);
	CHECK(!pthread_create(&thread, NULL, thread_forks, NULL));
	for (i = 0; i < 100; i++) {
		tb_write_mark("before");
		pid = fork();
		if (!pid)
			_exit(0);
		CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
	CHECK(!pthread_join(thread, NULL));
	tb_write_mark("after");
	CHECK(!tb_write_flush());
	tb_writer_read_stats(tb_here(), &after);
	CHECK_NUMBER(after.lost - before.lost, 0);
	CHECK_NUMBER(after.attempted - before.attempted, 101);
}

static const struct test tests[] = {
	/* first: it needs a process without an arbiter */
	{ "without a module a category is asked about once", without_module },
	{ "the process's own arbiter: no device, threads, fork", own_arbiter },
	{ "errno and threads that are cancelled", disturbs_nobody },
	{ "threads that fork at the same time", forks_at_once },
};

TEST_MAIN(tests)
