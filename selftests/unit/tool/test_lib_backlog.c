// SPDX-License-Identifier: GPL-2.0-only
/*
 * While a file is slow, blocks wait in memory up to a limit, the rings stay free, and the file has
 * all blocks in order at the end. If this fails, a slow disk costs events or memory without limit.
 * The test decides when writes end: it replaces io_uring.
 */
#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* One write at a time; its blocks are read when it ends */
static struct {
	bool stuck;		/* no write ends unless it is waited for */
	bool busy;
	unsigned int writes;
	size_t most;		/* bytes that the next write completes; 0: all */
	int result;		/* the error of the next write; 0: none */
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

/* End the write */
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

/* Any file is on a disk */
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

#define BLOCKS 3000u		/* of two rings, besides durable ones */
#define RING 32u		/* blocks */
#define BLOCK 4096u

static struct backlog backlog;
static unsigned char *expected;

static void begin(struct fx *fx, struct output_file *out, uint64_t limit)
{
	struct output_file_options options = {
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
	CHECK(!output_file_open(out, file));
	CHECK(!output_file_use(out, &options));
	assert(out->direct && out->direct->has_ring);
}

/* Take all blocks that can be taken while no write ends */
static void take_all(struct output_file *out)
{
	while (output_file_move(out, device, 0) > 0)
		;
}

static bool held_most(unsigned int most)
{
	return ring_held[0] <= most && ring_held[1] <= most;
}

/* Let writes end: the file gets everything in order */
static void end(struct fx *fx, struct output_file *out)
{
	running = false;
	late.stuck = false;
	CHECK(!output_file_drain(out, device));
	CHECK(!output_file_close(out));
	CHECK_NUMBER(held, 0);
	CHECK_NUMBER(out->rolling, BLOCKS);
	CHECK_NUMBER(out->unwritten, 0);
	CHECK_NUMBER(backlog.bytes, 0);
	CHECK(same_file(file, expected, ring_bytes));
	free(expected);
	empty_ring(fx);
	ring_most = 0;
}

/* No write ends, and still the rings have room */
static void rings_have_room(void)
{
	struct output_file out;
	struct fx fx;

	begin(&fx, &out, UINT32_MAX);
	while (output_file_move(&out, device, 0) > 0)
		CHECK(held_most(RING / 2));
	CHECK(taken == ring_bytes);
	CHECK_NUMBER(late.writes, 1);
	/* only blocks that the rings need back are copied */
	CHECK_NUMBER(ring_held[0] + ring_held[1], RING);
	CHECK_NUMBER(backlog.most, (BLOCKS - RING) * BLOCK);
	CHECK(!backlog.full);
	end(&fx, &out);
}

/* Without a backlog the rings fill and give nothing more: events would be lost */
static void without(void)
{
	struct output_file out;
	struct fx fx;

	begin(&fx, &out, 0);
	take_all(&out);
	CHECK(taken < ring_bytes);
	CHECK_NUMBER(ring_held[0], RING);
	CHECK_NUMBER(ring_held[1], RING);
	CHECK_NUMBER(backlog.most, 0);
	CHECK(!backlog.full);
	end(&fx, &out);
}

/* A file that keeps up takes blocks from the rings without copies */
static void in_time(void)
{
	struct output_file out;
	struct fx fx;

	begin(&fx, &out, UINT32_MAX);
	ring_most = RING / 2;
	late.stuck = false;
	take_all(&out);
	CHECK(taken == ring_bytes);
	CHECK_NUMBER(backlog.most, 0);
	end(&fx, &out);
}

/* At the limit no block is copied; the rings hold the rest until there is room */
static void within_limit(void)
{
	struct output_file out;
	struct fx fx;

	begin(&fx, &out, 100 * BLOCK + BLOCK - 1);
	take_all(&out);
	CHECK_NUMBER(backlog.most, 100 * BLOCK);
	CHECK(backlog.full);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	/* when there is room, waiting blocks are copied, the oldest first */
	backlog.limit = 200 * BLOCK;
	direct_step(out.direct, false);
	CHECK(held_most(RING / 2));
	CHECK_NUMBER(backlog.bytes, (100 + RING) * BLOCK);
	take_all(&out);
	CHECK_NUMBER(backlog.bytes, 200 * BLOCK);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	while (taken < ring_bytes) {
		output_file_wait(&out);
		CHECK(held_most(RING));
		take_all(&out);
		CHECK(backlog.bytes <= 200 * BLOCK);
	}
	CHECK_NUMBER(backlog.most, 200 * BLOCK);
	end(&fx, &out);
}

/* Without memory for copies the recorder works as without a backlog */
static void no_memory_left(void)
{
	struct output_file out;
	struct fx fx;

	begin(&fx, &out, UINT32_MAX);
	no_memory = true;
	take_all(&out);
	CHECK_NUMBER(backlog.bytes, 0);
	CHECK(backlog.full);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	CHECK(!out.failed);
	no_memory = false;
	/* all these blocks are in the write, so their memory must stay */
	take_all(&out);
	CHECK_NUMBER(ring_held[0] + ring_held[1], 2 * RING);
	output_file_wait(&out);
	take_all(&out);
	CHECK(taken == ring_bytes);
	CHECK(held_most(RING / 2));
	end(&fx, &out);
}

/* After a write that ends within a block, the next continues there */
static void short_writes(void)
{
	struct output_file out;
	struct fx fx;
	unsigned int i;

	begin(&fx, &out, 500 * BLOCK);
	for (i = 0; i < 40; i++) {
		take_all(&out);
		late.most = i * BLOCK + 1000;
		output_file_wait(&out);
	}
	end(&fx, &out);
}

/* Rings so large that no block needs a copy */
static void large_rings(struct fx *fx, struct output_file *out)
{
	begin(fx, out, UINT32_MAX);
	backlog.ring_blocks = ring_most = 2 * BLOCKS;
	take_all(out);
	CHECK(taken == ring_bytes);
	CHECK_NUMBER(backlog.most, 0);
	CHECK_NUMBER(ring_held[0] + ring_held[1], BLOCKS);
}

static void queue_grows(void)
{
	struct output_file out;
	struct fx fx;

	large_rings(&fx, &out);
	end(&fx, &out);
}

/* If a write fails, copied and uncopied blocks count as missing */
static void fail_writing(bool copied)
{
	struct output_file out;
	struct fx fx;

	if (copied) {
		begin(&fx, &out, UINT32_MAX);
		take_all(&out);
	} else {
		large_rings(&fx, &out);
	}
	late.result = -ENOSPC;
	output_file_wait(&out);
	CHECK_NUMBER(out.failed, -ENOSPC);
	CHECK_NUMBER(out.unwritten, BLOCKS * 90);
	CHECK_NUMBER(backlog.bytes, 0);
	CHECK_NUMBER(held, 0);
	CHECK_NUMBER(output_file_move(&out, device, 0), 0);
	CHECK_NUMBER(output_file_close(&out), EXIT_WRONG);
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
	{ "backlog: rings have room while no write ends", rings_have_room },
	{ "backlog: without a backlog rings fill", without },
	{ "backlog: no copies for a file that keeps up", in_time },
	{ "backlog: within its limit", within_limit },
	{ "backlog: no memory", no_memory_left },
	{ "backlog: writes that are short", short_writes },
	{ "backlog: more blocks than one write takes, without copies", queue_grows },
	{ "backlog: a write that fails", failing },
};

RUN_MAIN(tests)
