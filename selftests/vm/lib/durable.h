/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the durable buffer: the fixture, and the threads that a reader of the trace knows.
 *
 * TRACEBUF_FULL=1 in the environment: forty times as many threads.
 */
#ifndef DURABLE_H
#define DURABLE_H

#include <sys/mman.h>

#include "forking.h"
#include "tbtest.h"

#define PID_MAX		4194304

static uint32_t forks(void)
{
	return getenv("TRACEBUF_FULL") ? 200000 : 5000;
}

FIXTURE(durable) {
	int fd;			/* on the provider "durable" */
	int kernel;
	struct tb_config config;
	struct stream s;
};

FIXTURE_SETUP(durable)
{
	struct tb_query q;
	FILE *f = fopen("/proc/sys/kernel/pid_max", "w");

	/* no id twice */
	if (f) {
		fprintf(f, "%d\n", PID_MAX);
		fclose(f);
	}
	self->kernel = tb_open(0);
	ASSERT_LE(0, self->kernel);
	ASSERT_EQ(0, tb_destroy_all(self->kernel));
	ASSERT_EQ(0, tb_fresh(self->kernel));
	self->fd = tb_open_as("durable", O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	stream_init(&self->s);
	self->s.provider = q.provider;
	memset(&self->config, 0, sizeof(self->config));
}

FIXTURE_TEARDOWN(durable)
{
	tb_stop(self->fd);
	tb_stop(self->kernel);
	close(self->fd);
	tb_destroy_all(self->kernel);
	close(self->kernel);
	stream_free(&self->s);
}

static int configure(int fd, struct tb_config *c)
{
	return ioctl(fd, TB_IOC_CONFIGURE, c) ? -errno : 0;
}

/* ---- the threads that a reader knows ----------------------------------- */

struct names {
	struct stream *s;
	char (*comm)[TB_COMM_LEN];	/* of each thread; "" if the trace has not described it */
	uint32_t threads;
	uint32_t seen;			/* events of rolling blocks */
	uint32_t unknown, misnamed;
	struct life {
		uint64_t born, ran;	/* times of its creation and first switch; 0: unknown */
	} *lives;			/* of each thread */
	uint32_t last;			/* the highest id in @lives */
	uint32_t first_unknown;
};

static bool names_init(struct names *t, struct stream *s)
{
	memset(t, 0, sizeof(*t));
	t->s = s;
	t->comm = mmap(NULL, (size_t)PID_MAX * TB_COMM_LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	t->lives = mmap(NULL, (size_t)PID_MAX * sizeof(*t->lives), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return t->comm != MAP_FAILED && t->lives != MAP_FAILED;
}

static void names_exit(struct names *t)
{
	munmap(t->comm, (size_t)PID_MAX * TB_COMM_LEN);
	munmap(t->lives, (size_t)PID_MAX * sizeof(*t->lives));
}

static void take_thread(struct names *t, const struct stream_event *e)
{
	struct tb_thread thread;

	memcpy(&thread, e->payload, sizeof(thread));
	if (thread.tid >= PID_MAX)
		return;
	if (thread.flags & TB_THREAD_FORK) {
		t->lives[thread.tid].born = e->time;
		t->last = thread.tid > t->last ? thread.tid : t->last;
	}
	memcpy(t->comm[thread.tid], thread.comm, TB_COMM_LEN);
	t->threads++;
	/* a thread that named itself has that name at its end */
	if ((thread.flags & TB_THREAD_EXIT) && !strncmp(thread.comm, "kid", 3))
		t->misnamed += (uint32_t)atoi(thread.comm + 3) != thread.tid;
}

/* Notes when a thread came to a CPU for the first time. */
static void note_run(struct names *t, uint32_t tid, uint64_t time)
{
	struct life *life = tid < PID_MAX ? &t->lives[tid] : NULL;

	if (life && (!life->ran || time < life->ran))
		life->ran = time;
}

/* How many threads have run before they were created */
static uint32_t ran_before(const struct names *t)
{
	uint32_t tid, count = 0;

	for (tid = 1; tid <= t->last; tid++)
		count += t->lives[tid].ran && t->lives[tid].ran < t->lives[tid].born;
	return count;
}

static void check_named(struct names *t, uint32_t tid)
{
	t->seen++;
	if (tid < PID_MAX && t->comm[tid][0])
		return;
	if (!t->unknown++)
		t->first_unknown = tid;
}

static void take_event(void *ctx, const struct stream_event *e)
{
	struct names *t = ctx;

	if (e->id == TB_EV_THREAD)
		take_thread(t, e);
	if (e->durable)
		return;
	if (!e->simple)
		check_named(t, e->tid);
	if (stream_is(t->s, e, "sched_switch")) {
		check_named(t, stream_value(t->s, e, "prev_pid"));
		check_named(t, stream_value(t->s, e, "next_pid"));
		note_run(t, stream_value(t->s, e, "next_pid"), e->time);
	}
}

#define EXPECT_NAMES(t)							\
	do {								\
		TH_LOG("%u threads described, %u ids seen", (t)->threads, (t)->seen); \
		EXPECT_EQ(0, (t)->unknown) {				\
			TH_LOG("the first unknown thread is %u", (t)->first_unknown); \
		}							\
		EXPECT_EQ(0, (t)->misnamed);				\
		EXPECT_EQ(0, ran_before(t));				\
	} while (0)

#endif /* DURABLE_H */
