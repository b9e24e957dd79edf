// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation that a user-space writer causes fails once: the call returns a clean error and
 * changes nothing, and the next attempt works. If a test fails, a lack of memory leaks, or breaks
 * the channel.
 */
#include "channel.h"
#include "fault.h"

static struct producer *channel;

static bool nothing_taken(void *ctx)
{
	struct tb_producer_info info;

	return !info_at(*(int *)ctx, 0, &info) && info.taken == 0 && info.refused == 0 &&
	       info.writers == 0;
}

static int node;

static int do_setup(void *ctx)
{
	struct tb_producer_setup s = { .chunk_bytes = 8192, .chunks = 3 };

	return producer_setup(node, &s);
}

static void undo_setup(void *ctx)
{
	close(node);
	node = producer_open_node();
}

static bool not_set_up(void *ctx)
{
	return producer_target(node, "kernel") == -ENXIO;
}

TEST_F_TIMEOUT(channel, setup_without_memory, 1200)
{
	static const struct fault_step step = {
		.name = "setup", .op = do_setup, .undo = undo_setup, .same = not_set_up, .least = 4,
	};
	const char *why;

	if (!fault_init(&why))
		SKIP(return, "%s", why);
	node = producer_open_node();
	ASSERT_LE(0, node);
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, &self->fd));
	EXPECT_TRUE(fault_sweep(&step, FAULT_PAGES, &self->fd));
	close(node);
}

static int do_writer(void *ctx)
{
	return producer_writer(channel->fd, 1, 0, 0, 0);
}

static void undo_writer(void *ctx)
{
	producer_writer(channel->fd, 1, 0, 0, TB_WRITER_GONE);
}

TEST_F_TIMEOUT(channel, writer_without_memory, 1200)
{
	static const struct fault_step step = {
		.name = "writer", .op = do_writer, .undo = undo_writer, .same = nothing_taken,
		/* the tree of writers retries a failed allocation */
		.least = 1,
	};
	const char *why;

	if (!fault_init(&why))
		SKIP(return, "%s", why);
	channel = &self->p;
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, &self->fd));
}

/* The kernel takes none of these chunks: only reading the arguments allocates. */
static int do_commit(void *ctx)
{
	struct tb_chunk_ref refs[2] = { { .chunk = 0 }, { .chunk = 1 } };
	struct tb_patch patch = { .writer = 1 };
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 2,
			       .patches = (uintptr_t)&patch, .nr_patches = 1 };

	return producer_commit(channel->fd, &m);
}

/* Each attempt loses its patch, because nothing is recorded. */
static uint64_t lost;

static bool nothing_lost(void *ctx)
{
	struct tb_producer_info info;
	bool same = !info_at(*(int *)ctx, 0, &info) && info.lost == lost;

	return same && !info.refused && !info.taken;
}

static void undo_commit(void *ctx)
{
	lost++;
}

TEST_F_TIMEOUT(channel, commit_without_memory, 1200)
{
	static const struct fault_step step = {
		.name = "commit", .op = do_commit, .undo = undo_commit, .same = nothing_lost,
		.least = 2,
	};
	const char *why;

	if (!fault_init(&why))
		SKIP(return, "%s", why);
	channel = &self->p;
	ASSERT_EQ(0, do_writer(NULL));
	EXPECT_TRUE(fault_sweep(&step, FAULT_NTH, &self->fd));
}

TEST_HARNESS_MAIN
