// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that is late: what is recorded meanwhile waits in memory and the rings have room, up to a
 * limit, and is in the file in its order at the end.  Writes end when the test says so.
 */
#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* One write at a time, of blocks that are read when it ends */
static struct {
	bool stuck;		/* none ends but those that are waited for */
	bool busy;
	unsigned int writes;
	size_t most;		/* bytes the next one writes; 0: all */
	int result;		/* what it ends with instead; 0: nothing else */
	int fd;
	struct iovec vectors[1024];
	unsigned int count;
	off_t offset;
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
} late;
static bool no_memory;

static inline int late_init(unsigned int entries, struct io_uring *ring, unsigned int flags)
{
	(void)entries;
	(void)ring;
	(void)flags;
	return 0;
}

static inline void late_exit(struct io_uring *ring)
{
	(void)ring;
}

static inline struct io_uring_sqe *late_sqe(struct io_uring *ring)
{
	(void)ring;
	return &late.sqe;
}

static inline void late_prepare(struct io_uring_sqe *sqe, int fd, const struct iovec *vectors,
				unsigned int count, uint64_t offset)
{
	(void)sqe;
	late.fd = fd;
	late.count = count;
	late.offset = (off_t)offset;
	for (; count; count--)
		late.vectors[count - 1] = vectors[count - 1];
}

static inline int late_submit(struct io_uring *ring)
{
	(void)ring;
	if (late.busy)
		abort();
	late.busy = true;
	late.writes++;
	return 1;
}

/* It ends now */
static inline int late_wait(struct io_uring *ring, struct io_uring_cqe **cqe)
{
	ssize_t done = 0, one;
	unsigned int i;
	size_t bytes;

	(void)ring;
	if (!late.busy)
		abort();
	for (i = 0; i < late.count && !late.result; i++) {
		bytes = late.vectors[i].iov_len;
		if (late.most && bytes > late.most - (size_t)done)
			bytes = late.most - (size_t)done;
		one = pwrite(late.fd, late.vectors[i].iov_base, bytes, late.offset + done);
		if (one != (ssize_t)bytes)
			abort();
		done += one;
	}
	late.cqe.res = late.result ? late.result : (int)done;
	late.most = 0;
	late.result = 0;
	late.busy = false;
	*cqe = &late.cqe;
	return 0;
}

static inline int late_peek(struct io_uring *ring, struct io_uring_cqe **cqe)
{
	return late.stuck ? -EAGAIN : late_wait(ring, cqe);
}

static inline void late_seen(struct io_uring *ring, struct io_uring_cqe *cqe)
{
	(void)ring;
	(void)cqe;
}

/* Wherever the file is: on a device */
static inline int late_statfs(int fd, struct statfs *fs)
{
	(void)fd;
	fs->f_type = 0;
	return 0;
}

static inline void *late_alloc(size_t align, size_t bytes)
{
	return no_memory ? NULL : aligned_alloc(align, bytes);
}

#define LATE_FILE
#define io_uring_queue_init late_init
#define io_uring_queue_exit late_exit
#define io_uring_get_sqe late_sqe
#define io_uring_prep_writev late_prepare
#define io_uring_submit late_submit
#define io_uring_wait_cqe late_wait
#define io_uring_peek_cqe late_peek
#define io_uring_cqe_seen late_seen
#define fstatfs late_statfs
#define aligned_alloc late_alloc
#include "test_lib_blocks.h"

#define BLOCKS 3000u		/* of two rings, and some that are durable */
#define RING 32u		/* blocks */
#define BLOCK 4096u

static struct backlog backlog;
static unsigned char *expected;

static void begin(struct fx *fx, struct sink *sink, uint64_t limit)
{
	struct sink_way way = {
		.block_bytes = BLOCK, .direct = true, .buffered = true, .backlog = &backlog,
	};

	fill_ring(fx, BLOCKS);
	expected = malloc(ring_bytes);
	assert(expected);
	memcpy(expected, blocks_at, ring_bytes);
	ring_most = RING;
	memset(ring_held, 0, sizeof(ring_held));
	memset(&late, 0, sizeof(late));
	late.stuck = true;
	memset(&backlog, 0, sizeof(backlog));
	backlog.rings = RINGS;
	backlog.ring_blocks = RING;
	backlog.limit = limit;
	running = true;
	CHECK(!sink_open(sink, file));
	CHECK(!sink_use(sink, &way));
	assert(sink->direct && sink->direct->has_ring);
}

/* All that can be taken while no write ends */
static void take_all(struct sink *sink)
{
	while (sink_move(sink, device, 0) > 0)
		;
}

static bool held_most(unsigned int most)
{
	return ring_held[0] <= most && ring_held[1] <= most;
}

/* The rest goes into the file, all in order */
static void end(struct fx *fx, struct sink *sink)
{
	running = false;
	late.stuck = false;
	CHECK(!sink_drain(sink, device));
	CHECK(!sink_close(sink));
	CHECK_NUMBER(held, 0);
	CHECK_NUMBER(sink->rolling, BLOCKS);
	CHECK_NUMBER(sink->unwritten, 0);
	CHECK_NUMBER(backlog.bytes, 0);
	CHECK(same_file(file, expected, ring_bytes));
	free(expected);
	empty_ring(fx);
	ring_most = 0;
}

/* No write ends: the rings have room nevertheless, whatever comes */
static void rings_have_room(void)
{
	struct sink sink;
	struct fx fx;

	begin(&fx, &sink, UINT32_MAX);
	while (sink_move(&sink, device, 0) > 0)
		CHECK(held_most(RING / 2));
	CHECK(taken == ring_bytes);
	CHECK_NUMBER(late.writes, 1);
	/* no more copies than that takes */
	CHECK_NUMBER(ring_held[0] + ring_held[1], RING);
	CHECK_NUMBER(backlog.most, (BLOCKS - RING) * BLOCK);
	CHECK(!backlog.full);
	end(&fx, &sink);
}

/* What it is for: the rings fill and have nothing more to give, which means that events are lost */
static void without(void)
{
	struct sink sink;
	struct fx fx;

	begin(&fx, &sink, 0);
	take_all(&sink);
	CHECK(taken < ring_bytes);
	CHECK_NUMBER(ring_held[0], RING);
	CHECK_NUMBER(ring_held[1], RING);
	CHECK_NUMBER(backlog.most, 0);
	CHECK(!backlog.full);
	end(&fx, &sink);
}

/* A file that is in time takes what the rings have as it is */
static void in_time(void)
{
	struct sink sink;
	struct fx fx;

	begin(&fx, &sink, UINT32_MAX);
	ring_most = RING / 2;
	late.stuck = false;
	take_all(&sink);
	CHECK(taken == ring_bytes);
	CHECK_NUMBER(backlog.most, 0);
	end(&fx, &sink);
}

/* Not a byte more than the limit; the rings hold what comes then, until there is room */
static void within_limit(void)
{
	struct sink sink;
	struct fx fx;

	begin(&fx, &sink, 100 * BLOCK + BLOCK - 1);
	take_all(&sink);
	CHECK_NUMBER(backlog.most, 100 * BLOCK);
	CHECK(backlog.full);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	/* what waited is copied, the oldest first, when there is room for it */
	backlog.limit = 200 * BLOCK;
	direct_step(sink.direct, false);
	CHECK(held_most(RING / 2));
	CHECK_NUMBER(backlog.bytes, (100 + RING) * BLOCK);
	take_all(&sink);
	CHECK_NUMBER(backlog.bytes, 200 * BLOCK);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	while (taken < ring_bytes) {
		sink_wait(&sink);
		CHECK(held_most(RING));
		take_all(&sink);
		CHECK(backlog.bytes <= 200 * BLOCK);
	}
	CHECK_NUMBER(backlog.most, 200 * BLOCK);
	end(&fx, &sink);
}

/* Without memory it is as it would be without copies */
static void no_memory_left(void)
{
	struct sink sink;
	struct fx fx;

	begin(&fx, &sink, UINT32_MAX);
	no_memory = true;
	take_all(&sink);
	CHECK_NUMBER(backlog.bytes, 0);
	CHECK(backlog.full);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	CHECK(!sink.failed);
	no_memory = false;
	/* all of it is on its way by now, and its memory is not to be changed */
	take_all(&sink);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	sink_wait(&sink);
	take_all(&sink);
	CHECK(taken == ring_bytes);
	CHECK(held_most(RING / 2));
	end(&fx, &sink);
}

/* A write that ends within a block: its rest is written from where it was */
static void short_writes(void)
{
	struct sink sink;
	struct fx fx;
	unsigned int i;

	begin(&fx, &sink, 500 * BLOCK);
	for (i = 0; i < 40; i++) {
		take_all(&sink);
		late.most = i * BLOCK + 1000;
		sink_wait(&sink);
	}
	end(&fx, &sink);
}

/* Many blocks that need no copies */
static void large_rings(struct fx *fx, struct sink *sink)
{
	begin(fx, sink, UINT32_MAX);
	backlog.ring_blocks = ring_most = 2 * BLOCKS;
	take_all(sink);
	CHECK(taken == ring_bytes);
	CHECK_NUMBER(backlog.most, 0);
	CHECK_NUMBER(ring_held[0] + ring_held[1], BLOCKS);
}

static void queue_grows(void)
{
	struct sink sink;
	struct fx fx;

	large_rings(&fx, &sink);
	end(&fx, &sink);
}

/* What is copied and not written is told, as is what is not copied */
static void fail_writing(bool copied)
{
	struct sink sink;
	struct fx fx;

	if (copied) {
		begin(&fx, &sink, UINT32_MAX);
		take_all(&sink);
	} else {
		large_rings(&fx, &sink);
	}
	late.result = -ENOSPC;
	sink_wait(&sink);
	CHECK_NUMBER(sink.failed, -ENOSPC);
	CHECK_NUMBER(sink.unwritten, BLOCKS * 90);
	CHECK_NUMBER(backlog.bytes, 0);
	CHECK_NUMBER(held, 0);
	CHECK_NUMBER(sink_move(&sink, device, 0), 0);
	CHECK_NUMBER(sink_close(&sink), EXIT_WRONG);
	CHECK_NUMBER(file_size(file), 0);
	free(expected);
	empty_ring(&fx);
	ring_most = 0;
}

static void failing(void)
{
	fail_writing(true);
	fail_writing(false);
}

static const struct test tests[] = {
	{ "backlog: rings have room while a write does not end", rings_have_room },
	{ "backlog: without one they fill", without },
	{ "backlog: none for a file that is in time", in_time },
	{ "backlog: within its limit", within_limit },
	{ "backlog: no memory", no_memory_left },
	{ "backlog: writes that are short", short_writes },
	{ "backlog: more blocks than a write has, and no copies", queue_grows },
	{ "backlog: a write that fails", failing },
};

RUN_MAIN(tests)
