// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a reader is too slow, the blocks that it holds do not change, and the trace has each loss
 * counted exactly at the right place, with both policies; counts add up at every moment. If a test
 * fails, a trace hides a loss, or blames the wrong moment.
 *
 * Events are numbered (fire()). Besides them this CPU only records a tie of the clocks every ten
 * seconds: a round with one is repeated.
 */
#include "tbtest.h"

#define BUFFERS		4
#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define ROUNDS		5

DEVICE_FIXTURE(loss)

static int record_as(int fd, uint32_t mode, uint32_t policy)
{
	int ret;

	tb_stop(fd);
	ret = tb_configure(fd, mode, policy, BUFFERS, ELEMENTS);
	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

static int record(int fd, uint32_t policy)
{
	return record_as(fd, TB_MODE_STREAMING, policy);
}

/* Compares the numbers with the gaps. */
struct gaps {
	struct stream *s;
	uint32_t next;		/* the next number, if none is missing */
	uint32_t told;		/* missing before this block */
	bool at_start;		/* no event of this block yet */
	uint32_t count, wrong;
	uint64_t end;		/* of the last block */
};

static void gap_block(void *ctx, const struct tb_block *b, const struct tb_gap *gap)
{
	struct gaps *g = ctx;

	if (b->cpu)
		return;
	g->told = gap->overwritten + gap->dropped;
	g->at_start = true;
	if (!g->told)
		return;
	/* the gap's time must be between the blocks */
	if (!gap->first || gap->first > gap->last || gap->last > b->time_end ||
	    (g->end && gap->last < g->end)) {
		printf("# gap of %u: from %llu to %llu, block %llu to %llu, before it %llu\n",
		       g->told, (unsigned long long)gap->first, (unsigned long long)gap->last,
		       (unsigned long long)b->time_start, (unsigned long long)b->time_end,
		       (unsigned long long)g->end);
		g->wrong++;
	}
	g->end = b->time_end;
}

static void gap_event(void *ctx, const struct stream_event *e)
{
	struct gaps *g = ctx;
	uint32_t number;

	if (!is_fired(g->s, e, &number) || e->cpu)
		return;
	if (number != g->next + (g->at_start ? g->told : 0)) {
		printf("# number %u after %u, told of %u missing\n", number, g->next - 1,
		       g->at_start ? g->told : 0);
		g->wrong++;
	}
	g->at_start = false;
	g->next = number + 1;
	g->count++;
}

static void follow(struct gaps *g, struct stream *s)
{
	stream_free(s);
	*g = (struct gaps){ .s = s };
	s->event = gap_event;
	s->block = gap_block;
	s->ctx = g;
}

/* Records exactly @n events and reads them. Returns NULL or an error text. */
static const char *record_exactly(int fd, struct stream *s, uint32_t mode, uint32_t policy,
				  uint32_t n, struct gaps *g, struct tb_stats *st)
{
	uint32_t round;

	for (round = 0; round < ROUNDS; round++) {
		follow(g, s);
		if (record_as(fd, mode, policy))
			return "it does not start";
		fire(0, n);
		if (tb_stats(fd, 0, st) || tb_stop(fd))
			return "it does not stop";
		if (!tb_drain(fd, s) || !stream_finish(s))
			return s->error;
		if (st->attempted == n)
			return NULL;
	}
	return "something else was recorded each time";
}

#define ASSERT_EXACTLY(mode, policy, n, g, st)						\
	do {										\
		const char *error_ = record_exactly(self->fd, &self->s, mode, policy, n, g,	\
						    st);				\
											\
		ASSERT_EQ(NULL, error_) {						\
			TH_LOG("%s", error_);						\
		}									\
		ASSERT_ACCOUNTING(st);							\
	} while (0)

#define ASSERT_ACCOUNTING(st)								\
	ASSERT_EQ((st)->attempted, (st)->delivered + (st)->overwritten + (st)->dropped +	\
				   (st)->pending);					\
	ASSERT_EQ((st)->attempted, (st)->recorded + (st)->dropped)

/* ---- overwrite -------------------------------------------------------- */

TEST_DEV(loss, overwritten_exactly)
{
	uint32_t n = 1000;
	struct tb_stats st;
	struct gaps g;

	ASSERT_EXACTLY(TB_MODE_STREAMING, TB_POLICY_OVERWRITE, n, &g, &st);
	/*
	 * 1000 = 71 blocks of 14, and 6: three whole blocks and the last are there. One more event
	 * is there if the clock's upper half moved: a TIME element took its place earlier.
	 */
	EXPECT_LE((BUFFERS - 1) * PER_BLOCK + n % PER_BLOCK, g.count);
	EXPECT_GE((BUFFERS - 1) * PER_BLOCK + n % PER_BLOCK + 1, g.count);
	EXPECT_EQ(n, g.next);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(n - g.count, self->s.ring[0].totals.overwritten);
	EXPECT_EQ(1, self->s.ring[0].gaps);
	EXPECT_EQ(st.overwritten, self->s.ring[0].totals.overwritten);
	EXPECT_EQ(0, st.dropped);
	EXPECT_EQ(0, st.retries);
	EXPECT_EQ(n / PER_BLOCK + 1, st.blocks);
	/* all of it was delivered */
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	ASSERT_ACCOUNTING(&st);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(g.count, st.delivered);
	EXPECT_EQ(BUFFERS * BLOCK, st.bytes);
}

/* The reader holds two blocks of four: they do not change whatever happens in the other two. */
TEST_DEV(loss, held_blocks_are_not_written_to)
{
	static char copy[2][BLOCK];
	struct tb_ref refs[2], ref;
	struct tb_stats st;
	uint32_t round, i;
	struct gaps g;
	const char *at;
	size_t bytes;

	for (round = 0; round < ROUNDS; round++) {
		follow(&g, &self->s);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_OVERWRITE));
		at = tb_map(self->fd, &bytes);
		ASSERT_NE(MAP_FAILED, at);
		while (tb_acquire(self->fd, &ref, 1, 0) == 1) {
			ASSERT_STREAM(stream_block(&self->s, at + ref.offset, ref.bytes), &self->s);
			ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
		}
		fire(0, 3 * PER_BLOCK);
		ASSERT_EQ(2, tb_acquire(self->fd, refs, 2, 0));
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, refs[i].ring);
			memcpy(copy[i], at + refs[i].offset, BLOCK);
			ASSERT_STREAM(stream_block(&self->s, copy[i], BLOCK), &self->s);
		}
		for (i = 0; i < 50; i++) {
			fire(3 * PER_BLOCK + i * 100, 100);
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
			ASSERT_ACCOUNTING(&st);
			ASSERT_EQ(2, st.held);
			ASSERT_EQ(0, memcmp(copy[0], at + refs[0].offset, BLOCK));
			ASSERT_EQ(0, memcmp(copy[1], at + refs[1].offset, BLOCK));
		}
		ASSERT_EQ(2, tb_release(self->fd, refs, 2));
		ASSERT_EQ(0, munmap((void *)at, bytes));
		ASSERT_EQ(0, tb_stop(self->fd));
		/* this session continues; a new one would get the durable blocks again */
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		if (st.attempted == 3 * PER_BLOCK + 5000)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(3 * PER_BLOCK + 5000, g.next);
	EXPECT_EQ(3 * PER_BLOCK + 5000 - g.count, st.overwritten);
	EXPECT_EQ(0, st.dropped);
	/* the gap is before the third block, and nowhere else */
	EXPECT_EQ(1, self->s.ring[0].gaps);
}

TEST_DEV(loss, all_held_is_dropped_even_with_overwrite)
{
	struct tb_ref refs[BUFFERS + 1];
	struct tb_stats st;
	uint32_t round;
	struct gaps g;
	int fd;

	for (round = 0; round < ROUNDS; round++) {
		follow(&g, &self->s);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_OVERWRITE));
		ASSERT_LT(0, tb_skip_durable(self->fd));
		fire(0, BUFFERS * PER_BLOCK);
		ASSERT_EQ(BUFFERS, tb_acquire(self->fd, refs, BUFFERS + 1, 0));
		fire(BUFFERS * PER_BLOCK, 777);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_ACCOUNTING(&st);
		EXPECT_EQ(BUFFERS, st.held);
		/* there is room again: the next block has the gap */
		ASSERT_EQ(1, tb_release(self->fd, refs, 1));
		fire(BUFFERS * PER_BLOCK + 777, 1);
		/* a reader that closes puts back the blocks that it held */
		fd = tb_open(0);
		ASSERT_LE(0, fd);
		close(self->fd);
		self->fd = fd;
		ASSERT_EQ(0, tb_stop(fd));
		/* the first reader has released the first block */
		g.next = PER_BLOCK;
		self->s.ring[0].last_seq = 0;
		self->s.ring[0].blocks = 1;
		self->s.ring[0].events = PER_BLOCK;
		ASSERT_STREAM(tb_drain(fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		if (st.attempted == BUFFERS * PER_BLOCK + 777)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ(777, st.dropped);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ((BUFFERS - 1) * PER_BLOCK + 1, g.count);
	EXPECT_EQ(777, self->s.ring[0].gap_dropped);
	EXPECT_EQ(0, self->s.ring[0].gap_overwritten);
}

/* ---- drop ------------------------------------------------------------- */

TEST_DEV(loss, dropped_exactly)
{
	uint32_t n = 1000, room = BUFFERS * PER_BLOCK;
	struct tb_stats st;
	struct gaps g;

	ASSERT_EXACTLY(TB_MODE_STREAMING, TB_POLICY_DROP, n, &g, &st);
	/* the oldest events are there, all of them */
	EXPECT_EQ(room, g.count);
	EXPECT_EQ(room, g.next);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(n - room, st.dropped);
	EXPECT_EQ(n - room, self->s.ring[0].totals.dropped);
	EXPECT_EQ(0, self->s.ring[0].gaps);
	EXPECT_EQ(0, st.overwritten);
	EXPECT_EQ(BUFFERS, st.blocks);
}

TEST_DEV(loss, drops_are_told_by_the_next_block)
{
	uint32_t room = BUFFERS * PER_BLOCK, round, number, i;
	struct tb_ref ref;
	struct tb_stats st;
	const char *at;
	struct gaps g;
	size_t bytes;

	for (round = 0; round < ROUNDS; round++) {
		follow(&g, &self->s);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_DROP));
		at = tb_map(self->fd, &bytes);
		ASSERT_NE(MAP_FAILED, at);
		fire(0, room);
		number = room;
		/* ten times: lose i events, then make room for one block */
		for (i = 1; i <= 10; i++) {
			fire(number, i);
			number += i;
			do {
				ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
				ASSERT_STREAM(stream_block(&self->s, at + ref.offset, ref.bytes),
					      &self->s);
				ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
			} while (ref.ring == TB_RING_DURABLE);
			fire(number, PER_BLOCK);
			number += PER_BLOCK;
		}
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_ACCOUNTING(&st);
		ASSERT_EQ(0, munmap((void *)at, bytes));
		ASSERT_EQ(0, tb_stop(self->fd));
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		if (st.attempted == number)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(number, g.next);
	EXPECT_EQ(55, st.dropped);
	EXPECT_EQ(55, self->s.ring[0].gap_dropped);
	EXPECT_EQ(10, self->s.ring[0].gaps);
	EXPECT_EQ(0, st.overwritten);
}

/* ---- circular --------------------------------------------------------- */

TEST_DEV(loss, circular_keeps_the_latest)
{
	uint32_t n = 5000;
	struct tb_stats st;
	struct gaps g;

	ASSERT_EXACTLY(TB_MODE_CIRCULAR, 0, n, &g, &st);
	EXPECT_EQ(n, g.next);
	/* one more if the clock's upper half moved: a TIME element took its place earlier */
	EXPECT_LE((BUFFERS - 1) * PER_BLOCK + n % PER_BLOCK, g.count);
	EXPECT_GE((BUFFERS - 1) * PER_BLOCK + n % PER_BLOCK + 1, g.count);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(TB_MODE_CIRCULAR, self->s.init.mode);
}

/* ---- a slow reader beside a fast writer ------------------------------- */

struct firing {
	pthread_t thread;
	uint32_t n;
	bool done;
};

static void *firing_main(void *arg)
{
	struct firing *f = arg;

	pin(1);
	fire(0, f->n);
	__atomic_store_n(&f->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void see_cpu1(void *ctx, const struct stream_event *e)
{
	struct gaps *g = ctx;
	uint32_t number;

	if (is_fired(g->s, e, &number))
		g->count++;
}

static void slow_reader(struct __test_metadata *_metadata, int fd, struct stream *s,
			uint32_t policy)
{
	struct firing f = { .n = 20000 };
	struct tb_ref refs[3];
	struct tb_stats st;
	size_t bytes, last = 0;
	const char *at;
	struct gaps g;
	int n, i;

	follow(&g, s);
	s->event = see_cpu1;
	s->block = NULL;
	ASSERT_EQ(0, record(fd, policy));
	at = tb_map(fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	ASSERT_EQ(0, pthread_create(&f.thread, NULL, firing_main, &f));
	while (!__atomic_load_n(&f.done, __ATOMIC_ACQUIRE)) {
		n = tb_acquire(fd, refs, 1 + last++ % 3, 0);
		ASSERT_LE(0, n);
		for (i = 0; i < n; i++)
			ASSERT_STREAM(stream_block(s, at + refs[i].offset, refs[i].bytes), s);
		if (n)
			ASSERT_EQ(n, tb_release(fd, refs, n));
		ASSERT_EQ(0, tb_stats(fd, 1, &st));
		ASSERT_ACCOUNTING(&st);
	}
	ASSERT_EQ(0, pthread_join(f.thread, NULL));
	ASSERT_EQ(0, munmap((void *)at, bytes));
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(tb_drain(fd, s), s);
	ASSERT_STREAM(stream_finish(s), s);
	ASSERT_EQ(0, tb_stats(fd, 1, &st));
	ASSERT_ACCOUNTING(&st);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(st.delivered, s->ring[1].events);
	EXPECT_EQ(st.overwritten, s->ring[1].gap_overwritten);
	EXPECT_LE(f.n, st.attempted);
	EXPECT_LE(f.n, g.count + st.overwritten + st.dropped);
	printf("# %u events: %u seen, %llu overwritten, %llu dropped\n", f.n, g.count,
	       (unsigned long long)st.overwritten, (unsigned long long)st.dropped);
}

TEST_DEV(loss, slow_reader_overwrite)
{
	slow_reader(_metadata, self->fd, &self->s, TB_POLICY_OVERWRITE);
}

TEST_DEV(loss, slow_reader_drop)
{
	slow_reader(_metadata, self->fd, &self->s, TB_POLICY_DROP);
}

TEST_HARNESS_MAIN
