// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks of user-space writers. A committed chunk is in the trace once and whole. Records that were
 * published but not committed are in the trace after a flush or a stop. Each lost record is
 * counted, with its cause. If a test fails, programs lose records, or a trace hides a loss.
 */
#include "channel.h"

/* ---- committing ------------------------------------------------------- */

TEST_DEV(channel, complete_chunks)
{
	struct tb_chunk_ref refs[3] = { { .chunk = 5 }, { .chunk = 2 }, { .chunk = 0 } };
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 3 };
	struct tb_chunk *c;
	uint32_t i;

	BEGIN();
	for (i = 0; i < 3; i++) {
		c = chunk_begin(&self->p, refs[i].chunk, 1 + i / 2, i % 2, i % 2 * FULL);
		ASSERT_NE(NULL, c);
		c->flags = TB_CLOCK_TSC | TB_CHUNK_FRESH;
		ASSERT_EQ(i == 1 ? 3 : FULL, chunk_fill(&self->p, c, i == 1 ? 3 : 1000));
		chunk_complete(c);
	}
	ASSERT_EQ(0, producer_commit(self->p.fd, &m));
	EXPECT_EQ(3, m.taken);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, refs[i].result);
		EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, refs[i].chunk));
		EXPECT_EQ(0, chunk_at(&self->p, refs[i].chunk)->published);
	}
	END();
	ASSERT_EQ(3, self->got.nr);
	for (i = 0; i < 3; i++) {
		struct tb_chunk_event *e = &self->got.piece[i].e;

		EXPECT_EQ(self->p.setup.producer, e->producer);
		EXPECT_EQ(getpid(), (pid_t)e->pid);
		EXPECT_EQ(getpid(), (pid_t)e->tid);
		EXPECT_EQ(0, e->uid);
		EXPECT_EQ(i % 2, e->chunk);
		EXPECT_EQ(TB_CLOCK_TSC | TB_CHUNK_FRESH | TB_CHUNK_LAST, e->flags);
		EXPECT_EQ(0, e->offset);
	}
	EXPECT_WHOLE(1, FULL + 3);
	EXPECT_WHOLE(2, FULL);
}

TEST_DEV(channel, every_size_and_many_laps)
{
	static const uint32_t sizes[] = { 256, 512, 1024, 2048, 4096, 8192 };
	struct producer p;
	uint64_t next;
	uint32_t i, id, causes, ids[ARRAY_SIZE(sizes)], full;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 128, 1024));
	BEGIN();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_EQ(0, producer_open(&p, "kernel", sizes[i], 2 + i));
		ASSERT_EQ(0, producer_writer(p.fd, TB_WRITER_MAX, 0, 0, 0));
		full = (sizes[i] - sizeof(struct tb_chunk)) / RECORD_BYTES;
		ids[i] = p.setup.producer;
		for (id = 0; id < 30; id++) {
			ASSERT_EQ(0, chunk_write(&p, id % (2 + i), TB_WRITER_MAX, id,
						 (uint64_t)id * full, full));
		}
		producer_close(&p);
	}
	END();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		full = (sizes[i] - sizeof(struct tb_chunk)) / RECORD_BYTES;
		EXPECT_EQ(30 * full, pieces_of(&self->got, ids[i], TB_WRITER_MAX, &next, &causes));
	}
}

/* The wrap count of a chunk has 16 bits and overflows without a loss. */
TEST_DEV(channel, laps_go_round)
{
	uint32_t id;

	BEGIN();
	for (id = 0; id < 0x10002; id++) {
		ASSERT_EQ(0, chunk_write(&self->p, 0, 1, id, id, 1));
	}
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 2), state_of(&self->p, 0));
}

TEST_DEV(channel, stale_references)
{
	struct tb_chunk *c;

	BEGIN();
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_put(&self->p, c);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_WRITING, 0), state_of(&self->p, 0));
	chunk_complete(c);
	EXPECT_EQ(0, chunk_commit(&self->p, 0));
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	/* a writer that is late by a lap and does not read the state */
	c->state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0);
	c->published = TB_PUBLISHED(RECORD_BYTES, 1);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c->state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 2);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c->state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 1) | 0x100;
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c->state = TB_CHUNK_WORD(7, 1);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	END();
	EXPECT_WHOLE(1, 1);
}

TEST_DEV(channel, illegal_chunks)
{
	struct tb_producer_info info;
	uint64_t next;
	uint32_t id, causes;
	struct tb_chunk *c;

	BEGIN();
	for (id = 0; id < 11; id++) {
		c = chunk_begin(&self->p, 3, 1, id, id);
		ASSERT_NE(NULL, c);
		chunk_put(&self->p, c);
		switch (id) {
		case 0:
			c->writer = 9;
			break;
		case 1:
			c->writer = 0;
			break;
		case 2:
			c->flags |= TB_CHUNK_LAST;
			break;
		case 3:
			c->cause = TB_LOST_RING;
			break;
		case 4:
			c->reserved16 = 1;
			break;
		case 5:
			c->reserved[1] = 1;
			break;
		case 6:
			c->published = TB_PUBLISHED(CHUNK - sizeof(*c) + 8, 1);
			break;
		case 7:
			c->published = TB_PUBLISHED(20, 1);
			break;
		case 8:
			c->published = TB_PUBLISHED(RECORD_BYTES, 2);
			break;
		case 9:
			c->hole = CHUNK;
			break;
		case 10:
			c->hole = 2;
			break;
		}
		chunk_complete(c);
		ASSERT_EQ(EINVAL, chunk_commit(&self->p, 3)) {
			TH_LOG("%u", id);
		}
		/* the chunk can be used again */
		ASSERT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, id + 1), state_of(&self->p, 3));
		c->reserved16 = 0;
		c->reserved[1] = 0;
	}
	EXPECT_EQ(EINVAL, chunk_commit(&self->p, CHUNKS));
	EXPECT_EQ(EINVAL, chunk_commit(&self->p, ~0u));
	EXPECT_EQ(0, chunk_write(&self->p, 3, 1, id, id, 2));
	ASSERT_EQ(0, info_at(self->fd, 0, &info));
	EXPECT_EQ(13, info.refused);
	EXPECT_EQ(1, info.taken);
	END();
	EXPECT_EQ(2, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(13, next);
	EXPECT_EQ(TB_LOST_INVALID, causes);
}

/* Each chunk of a batch has a result of its own; the call fails if it cannot write the results. */
TEST_DEV(channel, results_of_a_batch)
{
	struct tb_chunk_ref refs[4] = { { 0 }, { .chunk = 1 }, { .chunk = 2 }, { .chunk = 3 } };
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 4 };
	struct tb_chunk_ref *none;
	struct tb_chunk *c;
	uint32_t i;

	BEGIN();
	for (i = 0; i < 4; i++) {
		c = chunk_begin(&self->p, i, 1, i, i);
		chunk_put(&self->p, c);
		if (i != 1)
			chunk_complete(c);
		refs[i].result = 99;
	}
	refs[2].data = 8;
	ASSERT_EQ(0, producer_commit(self->p.fd, &m));
	EXPECT_EQ(2, m.taken);
	EXPECT_EQ(0, refs[0].result);
	EXPECT_EQ(ESTALE, refs[1].result);
	EXPECT_EQ(EINVAL, refs[2].result);
	EXPECT_EQ(0, refs[3].result);
	none = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = (struct tb_commit){ .refs = (uintptr_t)none, .nr_refs = 1 };
	EXPECT_EQ(-EFAULT, producer_commit(self->p.fd, &m));
	EXPECT_EQ(0, chunk_write(&self->p, 5, 2, 0, 0, 1));
}

TEST_DEV(channel, writers)
{
	int fd = self->p.fd;

	BEGIN();
	EXPECT_EQ(-EEXIST, producer_writer(fd, 1, 0, 0, 0));
	EXPECT_EQ(-EINVAL, producer_writer(fd, 0, 0, 0, 0));
	EXPECT_EQ(-EINVAL, producer_writer(fd, 3, 0, 0, 4));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, 1, 0, 0));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, TB_TARGETS_MAX, 0, 0));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, 0xffff, 0, 0));
	EXPECT_EQ(-ESRCH, producer_writer(fd, 3, 0, 1, 0));
	EXPECT_EQ(-ESRCH, producer_writer(fd, 3, 0, 0x7fffffff, 0));
	EXPECT_EQ(-ESRCH, producer_writer(fd, 3, 0, ~0u, 0));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, 0, 0, TB_WRITER_GONE));
	/* a writer for a thread that has ended */
	EXPECT_EQ(-EINVAL, producer_writer(fd, 3, 0, gettid(), TB_WRITER_NO_THREAD));
	EXPECT_EQ(-EINVAL, producer_writer(fd, 3, 0, 0, TB_WRITER_NO_THREAD | TB_WRITER_GONE));
	EXPECT_EQ(0, producer_writer(fd, 3, 0, 0, TB_WRITER_NO_THREAD));
	EXPECT_EQ(-EEXIST, producer_writer(fd, 3, 0, 0, TB_WRITER_NO_THREAD));
	EXPECT_EQ(0, producer_writer(fd, TB_WRITER_MAX, 0, getpid(), 0));
	EXPECT_EQ(0, producer_writer(fd, 1, 0, 0, TB_WRITER_GONE));
	EXPECT_EQ(EINVAL, chunk_write(&self->p, 0, 1, 0, 0, 1));
	EXPECT_EQ(0, producer_writer(fd, 1, 0, 0, 0));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 1));
}

/* A refused chunk still reports how many of its records flushes had taken. */
TEST_DEV(channel, refused_in_part)
{
	struct tb_chunk_ref ref = { .chunk = 0 };
	struct tb_commit m = { .refs = (uintptr_t)&ref, .nr_refs = 1 };
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 2);
	/* not complete: refused without a count */
	EXPECT_EQ(0, producer_commit(self->p.fd, &m));
	EXPECT_EQ(ESTALE, ref.result);
	EXPECT_EQ(0, ref.data);
	chunk_complete(c);
	c->reserved16 = 1;
	EXPECT_EQ(0, producer_commit(self->p.fd, &m));
	EXPECT_EQ(EINVAL, ref.result);
	EXPECT_EQ(3, ref.data);
	END();
}

/* ---- published, not committed ------------------------------------------ */

TEST_DEV(channel, published_prefix_on_flush)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 4, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_WRITING, 0), state_of(&self->p, 4));
	/* no new records */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 2);
	/* a flush of one ring takes nothing from producers */
	ASSERT_EQ(0, tb_flush(self->fd, 0));
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 1);
	chunk_complete(c);
	EXPECT_EQ(0, chunk_commit(&self->p, 4));
	/* a flush takes all its records before it is complete */
	c = chunk_begin(&self->p, 4, 1, 1, 6);
	chunk_fill(&self->p, c, 1);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_complete(c);
	/* complete, but not committed: the flush frees it */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 2), state_of(&self->p, 4));
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 4));
	END();
	ASSERT_EQ(5, self->got.nr);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED, self->got.piece[0].e.flags);
	EXPECT_EQ(0, self->got.piece[0].e.offset);
	EXPECT_EQ(3, self->got.piece[0].e.records);
	EXPECT_EQ(3 * RECORD_BYTES, self->got.piece[1].e.offset);
	EXPECT_EQ(3, self->got.piece[1].e.first);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_LAST, self->got.piece[2].e.flags);
	EXPECT_EQ(5 * RECORD_BYTES, self->got.piece[2].e.offset);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_LAST | TB_CHUNK_SCRAPED, self->got.piece[4].e.flags);
	EXPECT_EQ(0, self->got.piece[4].e.records);
	EXPECT_WHOLE(1, 7);
}

TEST_DEV(channel, published_on_stop)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	c = chunk_begin(&self->p, 1, 2, 0, 0);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	/* begun without records, by a writer that is not registered */
	chunk_begin(&self->p, 2, 7, 0, 0);
	END();
	EXPECT_WHOLE(1, 3);
	EXPECT_WHOLE(2, FULL);
	EXPECT_EQ(0, self->p.page->recording);
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, 1));
}

/*
 * A flush takes records in their writer's order, wherever the chunks are in memory; chunk numbers
 * wrap.
 */
TEST_DEV(channel, scraped_in_order)
{
	struct tb_chunk *c;
	uint32_t i;

	BEGIN();
	for (i = 0; i < CHUNKS; i++) {
		c = chunk_begin(&self->p, CHUNKS - 1 - i, 1 + i % 2, i / 2 - 2, i / 2 * 5);
		chunk_fill(&self->p, c, 5);
		if (i < CHUNKS - 2)
			chunk_complete(c);
	}
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	END();
	EXPECT_EQ(CHUNKS, self->got.nr);
	EXPECT_WHOLE(1, CHUNKS / 2 * 5);
	EXPECT_WHOLE(2, CHUNKS / 2 * 5);
}

/* A flush takes nothing of a writer behind records that it must leave. */
TEST_DEV(channel, scraped_no_further_than_what_is_left)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	c->hole = 1 * RECORD_BYTES + 1;
	chunk_fill(&self->p, c, 2);
	chunk_complete(c);
	c = chunk_begin(&self->p, 1, 1, 1, 2);
	chunk_fill(&self->p, c, 3);
	chunk_complete(c);
	/* this does not delay another writer */
	c = chunk_begin(&self->p, 2, 2, 0, 0);
	chunk_fill(&self->p, c, 1);
	chunk_complete(c);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 0));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, 2));
	/* the writer fills the hole */
	__atomic_store_n(&chunk_at(&self->p, 0)->hole, 0, __ATOMIC_RELEASE);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, 0));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, 1));
	END();
	EXPECT_WHOLE(1, 5);
	EXPECT_WHOLE(2, 1);
}

/* A chunk without room at the stop is lost, and the next piece of the writer gives the cause. */
TEST_DEV(channel, a_loss_at_the_end_is_told)
{
	struct tb_chunk *c;
	uint32_t causes;
	uint64_t next;

	/* a full chunk is larger than a buffer */
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 4, 64));
	BEGIN();
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 1));
	c = chunk_begin(&self->p, 1, 1, 1, 1);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	c = chunk_begin(&self->p, 2, 1, 2, 1 + FULL);
	chunk_fill(&self->p, c, 1);
	chunk_complete(c);
	/* a flush takes nothing behind the chunk that has no room */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 2));
	END();
	EXPECT_EQ(2, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(FULL + 2, next);
	EXPECT_EQ(TB_LOST_RING, causes);
}

TEST_DEV(channel, acquire_flush_and_snapshot)
{
	struct tb_ref refs[64];
	struct tb_chunk *c;
	size_t bytes;
	char *map;
	int n, i;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 4, 1024));
	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	map = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, map);
	while ((n = tb_acquire(self->fd, refs, 64, TB_ACQUIRE_SNAPSHOT)) >= 0) {
		for (i = 0; i < n; i++) {
			ASSERT_STREAM(stream_block(&self->s, map + refs[i].offset, refs[i].bytes),
				      &self->s);
		}
		ASSERT_EQ(n, n ? tb_release(self->fd, refs, n) : 0);
	}
	EXPECT_EQ(-ENODATA, n);
	EXPECT_WHOLE(1, 3);
	munmap(map, bytes);
	close(self->fd);
	self->fd = tb_open(0);
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	chunk_fill(&self->p, c, 2);
	ASSERT_LT(0, tb_acquire(self->fd, refs, 64, TB_ACQUIRE_FLUSH));
	EXPECT_EQ(1, self->got.nr);
	ASSERT_EQ(0, tb_stop(self->fd));
}

TEST_DEV(channel, holes)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 2);
	/* record 2 has a hole */
	c->hole = 2 * RECORD_BYTES + 1;
	chunk_fill(&self->p, c, 3);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	/* the writer fills it; the next hole is in record 4 */
	__atomic_store_n(&c->hole, 4 * RECORD_BYTES + 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_complete(c);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 0));
	EXPECT_EQ(0, chunk_commit(&self->p, 0));
	EXPECT_EQ(0, c->hole);
	/* the stop takes records in spite of holes */
	c = chunk_begin(&self->p, 0, 1, 1, 5);
	c->hole = 1;
	chunk_fill(&self->p, c, 2);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	END();
	ASSERT_EQ(4, self->got.nr);
	EXPECT_EQ(2, self->got.piece[0].e.records);
	EXPECT_EQ(2, self->got.piece[1].e.records);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED, self->got.piece[1].e.flags);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_LAST | TB_CHUNK_HOLES, self->got.piece[2].e.flags);
	EXPECT_EQ(1, self->got.piece[2].e.records);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED | TB_CHUNK_HOLES, self->got.piece[3].e.flags);
	EXPECT_WHOLE(1, 7);
}

/* Before a hole the kernel trusts the sizes in the records: wrong ones do no harm. */
TEST_DEV(channel, holes_behind_nonsense)
{
	struct tb_record *r;
	struct tb_chunk *c;
	uint16_t bytes[] = { 0, 8, 20, 1000, 0xfff8, 32 };
	uint32_t i;

	BEGIN();
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		c = chunk_begin(&self->p, 0, 1, i, 0);
		chunk_fill(&self->p, c, 3);
		r = (void *)(c + 1);
		r->bytes = bytes[i];
		c->hole = 2 * RECORD_BYTES + 1;
		ASSERT_EQ(0, tb_flush(self->fd, -1));
		EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_WRITING, i), state_of(&self->p, 0));
		r->bytes = RECORD_BYTES;
		c->writer = 77;
		chunk_complete(c);
		EXPECT_EQ(EINVAL, chunk_commit(&self->p, 0));
	}
	END();
	EXPECT_WHOLE(1, 0);
}

TEST_DEV(channel, patches)
{
	struct tb_patch good = { .writer = 1, .chunk = 7, .offset = 16, .value = 0x1122334455667788 };
	struct tb_patch bad[] = {
		{ .writer = 3 }, { .writer = 0 }, { .writer = 1, .offset = 4 },
		{ .writer = 1, .offset = CHUNK - sizeof(struct tb_chunk) }, { .writer = 1, .offset = 0xfff8 },
	};
	struct tb_patch two[3] = { good, bad[0], good };
	struct tb_commit m = { .patches = (uintptr_t)two, .nr_patches = 3 };
	size_t i;

	BEGIN();
	ASSERT_EQ(0, chunk_write(&self->p, 0, 1, 7, 0, 2));
	EXPECT_EQ(0, patch_commit(&self->p, good));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, patch_commit(&self->p, bad[i])) {
			TH_LOG("%zu", i);
		}
	}
	/* the other patches are recorded */
	EXPECT_EQ(-EINVAL, producer_commit(self->p.fd, &m));
	good.offset = CHUNK - sizeof(struct tb_chunk) - 8;
	EXPECT_EQ(0, patch_commit(&self->p, good));
	END();
	ASSERT_EQ(4, self->got.nr_patches);
	EXPECT_EQ(self->p.setup.producer, self->got.patch[0].producer);
	EXPECT_EQ(7, self->got.patch[0].chunk);
	EXPECT_EQ(1, self->got.patch[0].writer);
	EXPECT_EQ(16, self->got.patch[0].offset);
	EXPECT_EQ(0x1122334455667788, self->got.patch[0].value);
}

/* ---- losses ----------------------------------------------------------- */

TEST_DEV(channel, the_producers_own_causes)
{
	struct tb_chunk *c;
	uint64_t next;
	uint32_t causes;

	BEGIN();
	ASSERT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	c = chunk_begin(&self->p, 0, 1, 1, 7);
	c->cause = TB_LOST_STALL | TB_LOST_OVERSIZE;
	chunk_fill(&self->p, c, 1);
	/* the causes are in the first piece only */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 1);
	chunk_complete(c);
	EXPECT_EQ(0, chunk_commit(&self->p, 0));
	END();
	ASSERT_EQ(3, self->got.nr);
	EXPECT_EQ(TB_LOST_STALL | TB_LOST_OVERSIZE, self->got.piece[1].e.cause);
	EXPECT_EQ(0, self->got.piece[2].e.cause);
	EXPECT_EQ(4, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(9, next);
}

/*
 * A full ring loses whole chunks, and tb_stats() counts each attempt. When a reader makes room,
 * chunks get in again.
 */
TEST_DEV(channel, a_ring_without_room)
{
	uint32_t id, lost = 0, causes;
	struct tb_producer_info info;
	struct tb_stats st;
	uint64_t next;
	struct tb_chunk *c;
	int ret;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 2, 256));
	EXPECT_EQ(0, self->p.page->overwrites);
	BEGIN();
	for (id = 0; lost < 3; id++) {
		c = chunk_begin(&self->p, 0, 1, id, id * FULL);
		ASSERT_NE(NULL, c);
		/* the writer's own cause is passed on, too */
		c->cause = lost ? TB_LOST_NO_CHUNK : 0;
		chunk_fill(&self->p, c, FULL);
		chunk_complete(c);
		ret = chunk_commit(&self->p, 0);
		ASSERT_TRUE(ret == 0 || ret == ENOBUFS);
		lost += ret == ENOBUFS;
		ASSERT_LT(id, 100);
	}
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, id), state_of(&self->p, 0));
	/* not committed: a flush leaves it in place, and it is not lost */
	c = chunk_begin(&self->p, 1, 1, id, id * FULL);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 1));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(3, st.dropped);
	EXPECT_EQ(id, st.attempted);
	ASSERT_EQ(0, info_at(self->fd, 0, &info));
	EXPECT_EQ(3, info.lost);
	EXPECT_EQ(id - 3, info.taken);
	/* a reader makes room */
	{
		size_t room = 1 << 20;
		char *buf = malloc(room);
		ssize_t n;

		fcntl(self->fd, F_SETFL, O_NONBLOCK);
		while ((n = read(self->fd, buf, room)) > 0) {
			ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
		}
		free(buf);
		fcntl(self->fd, F_SETFL, 0);
	}
	EXPECT_EQ(0, chunk_commit(&self->p, 1));
	END();
	EXPECT_EQ((id - 3 + 1) * FULL, pieces_of(&self->got, self->p.setup.producer, 1, &next,
						 &causes));
	EXPECT_EQ((id + 1) * FULL, next);
	EXPECT_EQ(TB_LOST_RING | TB_LOST_NO_CHUNK, causes);
	/* a chunk that waits for room is not lost, however often a flush finds none */
	EXPECT_EQ(3, self->s.ring[0].totals.dropped);
}

/* A chunk larger than the ring's buffers is lost; the next one that fits gets in. */
TEST_DEV(channel, larger_than_a_buffer)
{
	struct tb_stats st;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
	BEGIN();
	EXPECT_EQ(ENOBUFS, chunk_write(&self->p, 0, 1, 0, 0, FULL));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 1, FULL, 3));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(1, st.oversize);
	END();
}

/* A target with buffers smaller than the chunks is refused; the largest chunk that fits gets in. */
TEST_DEV(channel, larger_than_a_buffer_can_be)
{
	struct producer p;
	struct tb_query q;
	uint64_t next;
	uint32_t causes, full;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ASSERT_LT(512, q.max_event);
	EXPECT_EQ(-EMSGSIZE, producer_open(&p, "kernel", 1024, 4));
	BEGIN();
	EXPECT_EQ(-EMSGSIZE, producer_open(&p, "kernel", 8192, 4));
	ASSERT_EQ(0, producer_open(&p, "kernel", 512, 4));
	ASSERT_EQ(0, producer_writer(p.fd, 1, 0, 0, 0));
	full = (512 - sizeof(struct tb_chunk)) / RECORD_BYTES;
	EXPECT_EQ(0, chunk_write(&p, 0, 1, 0, 0, full));
	producer_close(&p);
	/* a channel keeps a target that it had before */
	EXPECT_EQ(0, producer_target(self->p.fd, "kernel"));
	END();
	EXPECT_EQ(full, pieces_of(&self->got, p.setup.producer, 1, &next, &causes));
}

TEST_DEV(channel, stopped)
{
	uint32_t causes;
	uint64_t next;

	ASSERT_EQ(0, producer_writer(self->p.fd, 1, 0, 0, 0));
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 1, 0, 0, 2));
	EXPECT_EQ(0, patch_commit(&self->p, (struct tb_patch){ .writer = 1 }));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 1, 2, 2));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 1, 2, 4, 2));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(2, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(4, next);
	EXPECT_EQ(TB_LOST_STOPPED, causes);
	EXPECT_EQ(0, self->got.nr_patches);
}

TEST_DEV(channel, quota)
{
	struct tb_quota q = { .bytes_per_second = 10000, .burst_bytes = 5000 };
	uint32_t id = 0, taken, causes;
	uint64_t next;
	struct tb_chunk *c;
	int ret;

	BEGIN();
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	for (taken = 0; !(ret = chunk_write(&self->p, 0, 1, id, id * FULL, FULL)); id++) {
		ASSERT_GT(50, ++taken);
	}
	EXPECT_EQ(EDQUOT, ret);
	/* the burst of 5000 bytes, and more in a slow guest */
	EXPECT_LE(5, taken);
	/* a flush does not get around the quota, and loses nothing */
	id++;
	c = chunk_begin(&self->p, 1, 1, id, id * FULL);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	q.bytes_per_second = 1;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	while (!chunk_write(&self->p, 0, 2, 0, 0, FULL))
		;
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 1));
	q = (struct tb_quota){ 0 };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(0, chunk_commit(&self->p, 1));
	END();
	EXPECT_LT(0, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(TB_LOST_QUOTA, causes);
}

TEST_DEV(channel, closed_to_producers)
{
	struct tb_quota q = { .flags = TB_QUOTA_CLOSED };
	struct producer other;

	BEGIN();
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(0, self->p.page->recording);
	EXPECT_EQ(EDQUOT, chunk_write(&self->p, 0, 1, 0, 0, 2));
	EXPECT_EQ(1, self->p.page->closed);
	/* the module notifies a channel that is set up now when the provider opens */
	ASSERT_EQ(0, producer_open(&other, "kernel", 0, 0));
	EXPECT_EQ(1, other.page->closed);
	EXPECT_EQ(0, other.page->recording);
	q.flags = 0;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(0, other.page->closed);
	EXPECT_EQ(1, other.page->recording);
	producer_close(&other);
	/* the limit is one channel, which exists already */
	q = (struct tb_quota){ .producers = 1 };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(1, self->p.page->recording);
	EXPECT_EQ(0, producer_target(self->p.fd, "kernel"));
	EXPECT_EQ(-ENOSPC, producer_open(&other, "kernel", 0, 0));
	q.producers = 2;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	ASSERT_EQ(0, producer_open(&other, "kernel", 0, 0));
	producer_close(&other);
	ASSERT_EQ(0, producer_open(&other, "kernel", 0, 0));
	producer_close(&other);
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 1, 2, 2));
	q = (struct tb_quota){ .flags = 4 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .flags = TB_QUOTA_CLOSED | TB_QUOTA_DEFAULT };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .flags = TB_QUOTA_DEFAULT, .ring_bytes_per_second = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .ring_burst_bytes = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .producers = TB_PRODUCERS_MAX + 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .burst_bytes = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(EINVAL, errno);
}

static int intake_of(int fd, struct tb_intake_info *info)
{
	return ioctl(fd, TB_IOC_INTAKE, info) ? -errno : 0;
}

/* A new provider takes nothing from programs until it is opened, and counts what it refused. */
TEST_DEV(channel, a_new_provider_is_closed)
{
	struct tb_intake_info info;
	struct tb_quota any = { 0 };
	struct producer p;
	int fd = tb_open(0);

	ASSERT_LE(0, tb_provider(fd, TB_PROVIDER_CREATE, "new"));
	ASSERT_EQ(0, tb_attach(fd, "new"));
	ASSERT_EQ(0, intake_of(fd, &info));
	EXPECT_EQ(TB_QUOTA_CLOSED, info.quota.flags);
	EXPECT_EQ(0, info.producers);
	ASSERT_EQ(0, producer_open(&p, "new", CHUNK, CHUNKS));
	ASSERT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	EXPECT_EQ(1, p.page->closed);
	EXPECT_EQ(0, p.page->recording);
	ASSERT_EQ(0, producer_writer(p.fd, 1, 0, 0, 0));
	EXPECT_EQ(EDQUOT, chunk_write(&p, 0, 1, 0, 0, 3));
	EXPECT_EQ(EDQUOT, chunk_write(&p, 0, 1, 1, 3, 2));
	EXPECT_EQ(0, patch_commit(&p, (struct tb_patch){ .writer = 1 }));
	ASSERT_EQ(0, intake_of(fd, &info));
	EXPECT_EQ(1, info.producers);
	EXPECT_EQ(3, info.kept_pieces);
	EXPECT_EQ(5, info.kept_records);
	EXPECT_EQ(5 * RECORD_BYTES, info.kept_bytes);
	ASSERT_EQ(0, ioctl(fd, TB_IOC_QUOTA, &any));
	EXPECT_EQ(0, p.page->closed);
	EXPECT_EQ(1, p.page->recording);
	EXPECT_EQ(0, chunk_write(&p, 0, 1, 2, 5, 2));
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_EQ(0, intake_of(fd, &info));
	EXPECT_EQ(5, info.kept_records);
	/* the next recording counts from 0 */
	ASSERT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	ASSERT_EQ(0, intake_of(fd, &info));
	EXPECT_EQ(0, info.kept_pieces + info.kept_records + info.kept_bytes);
	ASSERT_EQ(0, tb_stop(fd));
	producer_close(&p);
	close(fd);
}

/* A limit of rings holds for all channels together, and for each ring by itself. */
TEST_DEV(channel, quota_of_rings)
{
	struct tb_quota q = { .ring_bytes_per_second = 1, .ring_burst_bytes = 4200 };
	uint32_t id = 0, causes, lost;
	struct tb_intake_info info;
	struct producer other;
	uint64_t next;
	int ret;

	ASSERT_EQ(0, producer_open(&other, "kernel", CHUNK, CHUNKS));
	BEGIN();
	ASSERT_EQ(0, producer_writer(other.fd, 1, 0, 0, 0));
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	for (; !(ret = chunk_write(&self->p, 0, 1, id, id * FULL, FULL)); id++)
		ASSERT_GT(50, id);
	EXPECT_EQ(EDQUOT, ret);
	/* each takes 1024 bytes of the ring; the fifth passes because some of the 4200 are left */
	EXPECT_EQ(5, id);
	EXPECT_EQ(EDQUOT, chunk_write(&other, 0, 1, 0, 0, FULL));
	EXPECT_EQ(EDQUOT, chunk_write(&other, 0, 1, 1, FULL, 1));
	lost = 2 * FULL + 1;
	ASSERT_EQ(0, intake_of(self->fd, &info));
	EXPECT_EQ(1, info.quota.ring_bytes_per_second);
	EXPECT_EQ(3, info.kept_pieces);
	EXPECT_EQ(lost, info.kept_records);
	EXPECT_EQ(lost * RECORD_BYTES, info.kept_bytes);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		/* another CPU's ring has a limit of its own */
		ASSERT_EQ(0, pin(1));
		EXPECT_EQ(0, chunk_write(&other, 0, 1, 2, FULL + 1, 1));
		ASSERT_EQ(0, pin(0));
	}
	/* the next piece says what is missing before it */
	q = (struct tb_quota){ 0 };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, id + 1, (id + 1) * FULL, FULL));
	END();
	EXPECT_EQ((int64_t)(id + 1) * FULL,
		  pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ((id + 2) * FULL, next);
	EXPECT_EQ(TB_LOST_QUOTA, causes);
	producer_close(&other);
}

static uint32_t evidence;

static void count_fired(void *ctx, const struct stream_event *e)
{
	uint32_t number;

	evidence += is_fired(ctx, e, &number);
}

/*
 * The default quota is for what a ring keeps. A channel tries to write ten times the ring: never
 * more gets in than the limits allow, and the kernel's earlier events stay if that leaves them
 * room.
 */
TEST_DEV(channel, default_quota_keeps_what_was_recorded)
{
	const uint64_t ring = 16 * 64 * 1024;
	struct tb_quota q = { .flags = TB_QUOTA_DEFAULT };
	uint64_t bytes = 0, bound, begun, now;
	struct tb_intake_info info;
	struct timespec t;
	uint32_t id, taken = 0;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 64, 1024));
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	ASSERT_EQ(0, intake_of(self->fd, &info));
	EXPECT_EQ(ring / 10, info.quota.ring_bytes_per_second);
	EXPECT_EQ(ring / 4, info.quota.ring_burst_bytes);
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	BEGIN();
	fire(0, 100);
	clock_gettime(CLOCK_MONOTONIC, &t);
	begun = t.tv_sec * 1000ull + t.tv_nsec / 1000000;
	for (id = 0; id < 10 * ring / CHUNK; id++)
		taken += !chunk_write(&self->p, 0, 1, id, id * FULL, FULL);
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000ull + t.tv_nsec / 1000000;
	/* each piece with its headers, in whole elements; the bound allows one chunk more */
	bytes = taken * (16ull + sizeof(struct tb_chunk_event) + (FULL * RECORD_BYTES + 15) / 16 * 16);
	bound = ring / 4 + ring / 10 * (now - begun + 1) / 1000 + CHUNK + 64;
	EXPECT_LE(bytes, bound);
	ASSERT_EQ(0, intake_of(self->fd, &info));
	EXPECT_EQ((uint64_t)(id - taken) * FULL, info.kept_records);
	self->s.event = count_fired;
	self->s.ctx = &self->s;
	END();
	/* a very slow guest lets too much in to say anything */
	if (bound < ring * 3 / 4)
		EXPECT_EQ(100, evidence);
}

TEST_HARNESS_MAIN
