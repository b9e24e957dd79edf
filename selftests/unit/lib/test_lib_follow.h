/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows a trace, for tests. No test depends on time: hold times are either practically infinite
 * or very short, and tests wait for what must appear.
 */
#ifndef TEST_LIB_FOLLOW_H
#define TEST_LIB_FOLLOW_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include "test_lib_fixture.h"
#include "lib/read/follow.h"

#define LONG_MS	 UINT32_MAX	/* longer than the uptime of the machine, too */
#define SHORT_MS 1
#define DEADLINE 60000		/* ms to wait for an event before the test fails */

static struct tb_trace *trace;
static struct tb_cursor *cursor;

static const struct tb_follow_options holding = { .hold_ms = LONG_MS };
static const struct tb_follow_options quick = { .hold_ms = SHORT_MS };

static inline void follow(int fd, const struct tb_follow_options *options)
{
	struct tb_error error = { 0 };

	if (tb_trace_follow_fd(fd, options, &trace, &error) ||
	    tb_cursor_open(trace, &cursor)) {
		printf("Bail out! %s\n", error.text);
		exit(1);
	}
}

static inline void unfollow(void)
{
	tb_cursor_close(cursor);
	tb_trace_close(trace);
}

/* Wait for the next event */
static inline int next(struct tb_view *view)
{
	uint64_t begun = tb_follow_now();
	int result;

	while ((result = tb_cursor_next(cursor, view)) == -EAGAIN)
		if (tb_cursor_wait(cursor, DEADLINE) != 1 ||
		    tb_follow_now() - begun > DEADLINE * 1000000ull)
			return -ETIMEDOUT;
	return result;
}

static inline void put(int fd, const void *data, size_t size)
{
	const unsigned char *at = data;
	ssize_t done;

	for (; size; at += done, size -= (size_t)done) {
		done = write(fd, at, size);
		assert(done > 0);
	}
}

/* Follow a file with these bytes; returns its descriptor, for close() */
static inline int follow_bytes(const void *data, size_t size,
			       const struct tb_follow_options *options)
{
	int fd = memfd_create("trace", 0);

	put(fd, data, size);
	assert(!lseek(fd, 0, SEEK_SET));
	follow(fd, options);
	return fd;
}

/* Write what the fixture has got since the last call */
static inline void put_new(int fd, struct fx *fx)
{
	static const struct fx *last;
	static size_t from;

	if (fx != last || fx->size < from)
		from = 0;
	last = fx;
	fx_durable_end(fx);
	put(fd, fx->data + from, fx->size - from);
	from = fx->size;
}

static inline void block(struct fx *fx, unsigned int cpu, uint64_t from, unsigned int count)
{
	unsigned int i;

	fx_open(fx, cpu, from, 1, NULL);
	for (i = 0; i < count; i++)
		CHECK(fx_simple(fx, cpu, FX_SOFTIRQ, from + 10 * i, i));
	fx_close(fx, cpu);
}

#endif /* TEST_LIB_FOLLOW_H */
