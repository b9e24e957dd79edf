// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot of a circular recording has all events that are not overwritten, with exact counts,
 * and neither the recording nor other readers lose anything by it. If a test fails, the events
 * before a problem are missing in the snapshot, or taking one disturbs the recording.
 *
 * Events are numbered (fire()). Hardly anything else is recorded: a tie of the clocks every ten
 * seconds, and signals when a process ends.
 */
#include "sleeper.h"
#include "tbtest.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define BUFFERS		8
#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define CPUS		8
#define BATCH		16
#define PINNED		(BUFFERS / 4)	/* the newest blocks, held from the start on */
#define OLDER		(BUFFERS / 2 - PINNED)	/* other blocks, held at once at most */
#define OTHERS		10	/* events without numbers, at most */

DEVICE_FIXTURE(snapshot)

static int record(int fd, uint32_t mode)
{
	int ret = tb_configure(fd, mode, TB_POLICY_OVERWRITE, BUFFERS, ELEMENTS);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

/* ---- the contents of a snapshot ---------------------------------------- */

/* One CPU. Numbers have the low 24 bits. */
struct part {
	uint32_t count, first, last;
	uint64_t first_block, last_block;
	uint64_t blocks;
	uint32_t told, missing;	/* by gaps and by numbers, since they were last compared */
	bool unsettled;		/* the next block corrects the count */
	bool compared;		/* at least once */
};

struct taken {
	struct stream *s;
	struct part cpu[CPUS];
	uint32_t wrong;
};

static void take_block(void *ctx, const struct tb_block *b, const struct tb_gap *gap)
{
	struct taken *t = ctx;
	struct part *part = &t->cpu[b->cpu % CPUS];

	if (!part->blocks++)
		part->first_block = b->sequence;
	part->last_block = b->sequence;
	part->told += gap->overwritten + gap->dropped;
	part->unsettled = b->flags & TB_BLOCK_UNSETTLED;
}

/*
 * Counts of an unsettled block are right only in sum with the next ones. It is unknown how many
 * events are missing before the first block, so the first settled block is not compared.
 */
static bool part_tells_wrong(struct part *part)
{
	bool wrong = part->compared && (part->missing > part->told ||
					part->missing + OTHERS < part->told);

	if (part->unsettled)
		return false;
	part->compared = true;
	part->missing = 0;
	part->told = 0;
	return wrong;
}

static void take_event(void *ctx, const struct stream_event *e)
{
	struct taken *t = ctx;
	struct part *part = &t->cpu[e->cpu % CPUS];
	uint32_t number, told = part->told;

	if (e->durable || !is_fired(t->s, e, &number))
		return;
	number &= 0xffffff;
	if (part->count++)
		part->missing += number - part->last - 1;
	else
		part->first = number;
	if (part_tells_wrong(part) || (part->count > 1 && number <= part->last)) {
		printf("# cpu %u: number %u after %u, told of %u missing\n", e->cpu, number,
		       part->last, told);
		t->wrong++;
	}
	part->last = number;
}

static void follow(struct taken *t, struct stream *s)
{
	stream_free(s);
	memset(t, 0, sizeof(*t));
	t->s = s;
	s->event = take_event;
	s->block = take_block;
	s->ctx = t;
}

/* ---- taking a snapshot ------------------------------------------------- */

/* Takes at most @room blocks. Returns how many, 0 if no block is complete yet, or -errno. */
static int take_batch(int fd, const char *at, struct stream *s, struct tb_ref *refs, uint32_t room)
{
	int i, n = tb_acquire(fd, refs, room, TB_ACQUIRE_SNAPSHOT);

	for (i = 0; i < n; i++)
		if (!stream_block(s, at + refs[i].offset, refs[i].bytes))
			return -EBADMSG;
	return n;
}

/* Takes all that is left. Returns 0 or -errno. */
static int take_rest(int fd, const char *at, struct stream *s)
{
	struct tb_ref refs[BATCH];
	int n = 0;

	for (WAIT(n == -ENODATA)) {
		do {
			n = take_batch(fd, at, s, refs, BATCH);
			if (n > 0 && tb_release(fd, refs, n) != n)
				return -EBADMSG;
		} while (n > 0);
		if (n < 0)
			break;
	}
	return n == -ENODATA ? 0 : n ?: -ETIMEDOUT;
}

/* Takes a whole snapshot in a session of its own. */
static int take(struct taken *t, struct stream *s)
{
	int fd = tb_open(0), ret;
	size_t bytes;
	char *at;

	if (fd < 0)
		return fd;
	follow(t, s);
	at = tb_map(fd, &bytes);
	ret = at == MAP_FAILED ? -ENOMEM : take_rest(fd, at, s);
	if (at != MAP_FAILED)
		munmap(at, bytes);
	close(fd);
	return ret;
}

#define ASSERT_TAKEN(ret, s)						\
	do {								\
		int ret_ = (ret);					\
		if (ret_)						\
			TH_LOG("snapshot: %d, stream: %s", ret_, (s)->error);	\
		ASSERT_EQ(0, ret_);					\
		ASSERT_STREAM(stream_snapshot(s), s);			\
	} while (0)

/* Stops the recording and reads it: its counts must be exact. */
#define ASSERT_END(t)							\
	do {								\
		struct tb_stats st_;					\
		int fd_ = tb_open(0);					\
									\
		ASSERT_LE(0, fd_);					\
		ASSERT_EQ(0, tb_stop(fd_));				\
		follow(t, &self->s);					\
		ASSERT_STREAM(tb_drain(fd_, &self->s), &self->s);	\
		close(fd_);						\
		ASSERT_STREAM(stream_finish(&self->s), &self->s);	\
		EXPECT_EQ(0, (t)->wrong);				\
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st_));		\
		EXPECT_EQ(0, st_.pending);				\
		EXPECT_EQ(0, st_.held);					\
		EXPECT_EQ(st_.recorded, st_.delivered + st_.overwritten);	\
	} while (0)

/* ---- contents ---------------------------------------------------------- */

TEST_DEV(snapshot, has_everything_there_is)
{
	uint32_t n = (BUFFERS - 2) * PER_BLOCK + 3;
	struct tb_query q;
	struct taken t;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, n);
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(1, self->s.inits);
	EXPECT_EQ(1, self->s.descs);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(n, t.cpu[0].count);
	EXPECT_EQ(0, t.cpu[0].first);
	EXPECT_EQ(n - 1, t.cpu[0].last);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	/* the snapshot has taken nothing away */
	ASSERT_END(&t);
	EXPECT_EQ(n, t.cpu[0].count);
}

TEST_DEV(snapshot, tells_what_was_overwritten)
{
	struct tb_stats st;
	struct taken t;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 1000);
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(999, t.cpu[0].last);
	EXPECT_LE((BUFFERS - 1) * PER_BLOCK, t.cpu[0].count);
	EXPECT_EQ(t.cpu[0].count, 1000 - t.cpu[0].first);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(st.overwritten, self->s.ring[0].overwritten);
	EXPECT_EQ(st.recorded, st.overwritten + self->s.ring[0].events);
	EXPECT_EQ(0, st.delivered);
	fire(1000, 500);
	ASSERT_END(&t);
	EXPECT_EQ(1499, t.cpu[0].last);
}

TEST_DEV(snapshot, the_next_has_all_that_was_not_overwritten)
{
	struct taken first, t, end;
	uint32_t next = 1000, round;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, next);
	ASSERT_TAKEN(take(&first, &self->s), &self->s);
	for (round = 0; round < 30; round++) {
		uint32_t more = (round % 5) * PER_BLOCK / 2;
		uint64_t blocks;

		fire(next, more);
		next += more;
		ASSERT_TAKEN(take(&t, &self->s), &self->s);
		EXPECT_EQ(0, t.wrong);
		/* no number is missing, up to now */
		EXPECT_EQ(next - 1, t.cpu[0].last);
		EXPECT_EQ(t.cpu[0].count, next - t.cpu[0].first);
		/* each new block has pushed out one block */
		blocks = t.cpu[0].last_block - first.cpu[0].last_block;
		EXPECT_EQ(first.cpu[0].first_block + blocks, t.cpu[0].first_block);
		EXPECT_EQ(BUFFERS, t.cpu[0].blocks);
		first = t;
	}
	/* without new events the next snapshot is the same */
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(first.cpu[0].first_block, t.cpu[0].first_block);
	EXPECT_EQ(first.cpu[0].last_block, t.cpu[0].last_block);
	EXPECT_EQ(first.cpu[0].count, t.cpu[0].count);
	ASSERT_END(&end);
	EXPECT_EQ(t.cpu[0].count, end.cpu[0].count);
}

TEST_DEV(snapshot, ends_and_stays_so)
{
	struct tb_ref refs[BATCH];
	struct taken t;
	size_t bytes;
	char *at;
	int fd;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 50);
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	follow(&t, &self->s);
	at = tb_map(fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	/* events after its start are not in it */
	ASSERT_LT(0, take_batch(fd, at, &self->s, refs, 1));
	ASSERT_EQ(1, tb_release(fd, refs, 1));
	fire(50, 1);
	ASSERT_TAKEN(take_rest(fd, at, &self->s), &self->s);
	EXPECT_EQ(50, t.cpu[0].count);
	EXPECT_EQ(-ENODATA, tb_acquire(fd, refs, BATCH, TB_ACQUIRE_SNAPSHOT));
	EXPECT_EQ(-ENODATA, tb_acquire(fd, refs, BATCH, 0));
	/* a block can be released once */
	EXPECT_EQ(-EINVAL, tb_release(fd, refs, 1));
	ASSERT_EQ(0, munmap(at, bytes));
	close(fd);
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(51, t.cpu[0].count);
}

TEST_DEV(snapshot, of_nothing_is_empty)
{
	struct taken t;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(1, self->s.inits);
	EXPECT_EQ(0, t.cpu[0].count);
}

/* Holds as many blocks of ring 0 as a snapshot may, in @held. Returns how many, or -errno. */
static int hold_half(int fd, const char *at, struct stream *s, struct tb_ref *held)
{
	struct tb_ref ref;
	int n, count = 0;

	while ((n = take_batch(fd, at, s, &ref, 1)) == 1) {
		if (ref.ring == TB_RING_DURABLE && tb_release(fd, &ref, 1) != 1)
			return -EBADMSG;
		if (!ref.ring)
			held[count++] = ref;
	}
	return n ?: count;
}

/*
 * A snapshot that holds as many blocks as it may gets no more until it releases some. Then it gets
 * the newest ones, though all others were overwritten.
 */
TEST_DEV(snapshot, waits_for_what_may_be_taken)
{
	static struct sleeper sleeper;
	struct tb_ref held[BUFFERS];
	struct taken t;
	size_t bytes;
	char *at;
	int fd, end;

	for (end = 0; end < 2; end++) {
		ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
		/* the last block is past its watermark, too */
		fire(0, (BUFFERS + 1) * PER_BLOCK - 1);
		fd = tb_open(0);
		ASSERT_LE(0, fd);
		follow(&t, &self->s);
		at = tb_map(fd, &bytes);
		ASSERT_NE(MAP_FAILED, at);
		ASSERT_EQ(OLDER, hold_half(fd, at, &self->s, held));
		fire(0, PER_BLOCK - 1);
		EXPECT_EQ(0, tb_poll(fd) & POLLIN);
		ASSERT_TRUE(sleeper_start(&sleeper, fd));
		if (end)
			fire(0, 10 * BUFFERS * PER_BLOCK);
		ASSERT_EQ(OLDER, tb_release(fd, held, OLDER));
		ASSERT_TRUE(sleeper_done(&sleeper));
		EXPECT_EQ(0, sleeper.n % BLOCK);
		EXPECT_LT(0, sleeper.n);
		EXPECT_EQ(POLLIN, tb_poll(fd) & POLLIN);
		ASSERT_EQ(0, munmap(at, bytes));
		close(fd);
		ASSERT_EQ(0, tb_stop(self->fd));
	}
}

/* After a stop a snapshot may hold all blocks: no writer needs them. */
TEST_DEV(snapshot, takes_all_when_it_has_stopped)
{
	struct tb_ref held[BUFFERS];
	struct taken t;
	size_t bytes;
	char *at;
	int fd;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, BUFFERS * PER_BLOCK);
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	follow(&t, &self->s);
	at = tb_map(fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	ASSERT_EQ(OLDER, hold_half(fd, at, &self->s, held));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(POLLIN, tb_poll(fd) & (POLLIN | POLLHUP));
	ASSERT_TAKEN(take_rest(fd, at, &self->s), &self->s);
	EXPECT_LE((BUFFERS - 1) * PER_BLOCK, t.cpu[0].count);
	ASSERT_EQ(0, munmap(at, bytes));
	close(fd);
}

/* ---- beside a writer --------------------------------------------------- */

/*
 * Held blocks stay while all others are overwritten many times. When they are released they are in
 * their places again, and the next reader learns how many events are missing after them.
 */
TEST_DEV(snapshot, held_blocks_stay_and_come_again)
{
	static char copy[BLOCK];
	struct tb_ref refs[OLDER], durable[BATCH];
	struct taken t, again;
	uint32_t i, round;
	struct tb_stats st = { 0 };
	size_t bytes;
	char *at;
	int fd;

	for (round = 0; round < 4; round++) {
		/*
		 * repeat if a tie of the clocks took the place of an event, and the oldest block is
		 * gone
		 */
		for (i = 0; !i || (st.overwritten && i < 10); i++) {
			ASSERT_TRUE(!i || !tb_stop(self->fd));
			ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
			fire(0, BUFFERS * PER_BLOCK);
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		}
		fd = tb_open(0);
		ASSERT_LE(0, fd);
		follow(&t, &self->s);
		at = tb_map(fd, &bytes);
		ASSERT_NE(MAP_FAILED, at);
		while (take_batch(fd, at, &self->s, durable, 1) == 1 &&
		       durable[0].ring == TB_RING_DURABLE)
			ASSERT_EQ(1, tb_release(fd, durable, 1));
		/* the first rolling block, and the others that it may hold */
		refs[0] = durable[0];
		ASSERT_EQ(0, refs[0].ring);
		ASSERT_EQ(OLDER - 1, take_batch(fd, at, &self->s, refs + 1, OLDER - 1));
		memcpy(copy, at + refs[1].offset, BLOCK);
		for (i = 0; i < 20; i++)
			fire((BUFFERS + i * 10) * PER_BLOCK, 10 * PER_BLOCK);
		EXPECT_EQ(0, memcmp(copy, at + refs[1].offset, BLOCK));
		ASSERT_EQ(0, tb_stats(fd, 0, &st));
		EXPECT_EQ(OLDER + PINNED, st.held);
		EXPECT_EQ(0, st.dropped);
		/* all at once, or one by one backwards */
		if (round & 1) {
			ASSERT_EQ(OLDER, tb_release(fd, refs, OLDER));
		} else {
			for (i = OLDER; i--;)
				ASSERT_EQ(1, tb_release(fd, refs + i, 1));
		}
		/* of the other blocks at the start only the newest are left */
		ASSERT_EQ(0, take_rest(fd, at, &self->s));
		EXPECT_EQ((OLDER + PINNED) * PER_BLOCK, t.cpu[0].count);
		EXPECT_EQ(BUFFERS * PER_BLOCK - 1, t.cpu[0].last);
		ASSERT_EQ(0, munmap(at, bytes));
		close(fd);
		ASSERT_TAKEN(take(&again, &self->s), &self->s);
		EXPECT_EQ(0, again.wrong);
		EXPECT_EQ(0, again.cpu[0].first);
		EXPECT_EQ((BUFFERS + 200) * PER_BLOCK - 1, again.cpu[0].last);
		/* now they are overwritten one by one, and the counts stay right */
		for (i = 0; i < round * 2; i++) {
			fire((BUFFERS + 200 + i) * PER_BLOCK, PER_BLOCK);
			ASSERT_TAKEN(take(&again, &self->s), &self->s);
			EXPECT_EQ(0, again.wrong);
		}
		ASSERT_END(&again);
		EXPECT_EQ((BUFFERS + 200 + i) * PER_BLOCK - 1, again.cpu[0].last);
	}
}

/*
 * The writer goes around the ring many times before the first block is taken: the snapshot has the
 * last events before its start, whole and with exact counts.
 */
TEST_DEV(snapshot, has_the_newest_at_full_rate)
{
	uint32_t buffers, count, n;
	struct tb_ref refs[BATCH];
	struct taken t;
	size_t bytes;
	char *at;
	int fd;

	for (buffers = 2; buffers <= BUFFERS; buffers++) {
		ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE, buffers,
					  ELEMENTS));
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		n = 10 * buffers * PER_BLOCK;
		fire(0, n);
		fd = tb_open(0);
		ASSERT_LE(0, fd);
		follow(&t, &self->s);
		at = tb_map(fd, &bytes);
		ASSERT_NE(MAP_FAILED, at);
		ASSERT_EQ(1, take_batch(fd, at, &self->s, refs, 1));
		ASSERT_EQ(TB_RING_DURABLE, refs[0].ring);
		ASSERT_EQ(1, tb_release(fd, refs, 1));
		fire(n, 10 * buffers * PER_BLOCK);
		ASSERT_TAKEN(take_rest(fd, at, &self->s), &self->s);
		EXPECT_EQ(0, t.wrong);
		EXPECT_EQ(n - 1, t.cpu[0].last);
		count = t.cpu[0].last - t.cpu[0].first + 1;
		EXPECT_EQ(count, t.cpu[0].count);
		EXPECT_LE((buffers >= 4 ? buffers / 4 - 1 : 0) * PER_BLOCK, count);
		EXPECT_LT(0, count);
		ASSERT_EQ(0, munmap(at, bytes));
		close(fd);
		ASSERT_END(&t);
	}
}

TEST_DEV(snapshot, killed_in_the_middle)
{
	struct tb_ref refs[2];
	struct tb_stats st;
	struct taken t;
	int pipes[2], i;
	pid_t pid;
	char byte;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 1000);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pipe(pipes));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			int fd = tb_open(0);

			while (tb_acquire(fd, refs, 2, TB_ACQUIRE_SNAPSHOT) > 0 && refs[0].ring)
				tb_release(fd, refs, 1);
			if (write(pipes[1], "x", 1) == 1)
				pause();
			_exit(1);
		}
		ASSERT_EQ(1, read(pipes[0], &byte, 1));
		close(pipes[0]);
		close(pipes[1]);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		EXPECT_LT(0, st.held);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		EXPECT_EQ(0, st.held);
		EXPECT_EQ(0, st.delivered);
		ASSERT_TAKEN(take(&t, &self->s), &self->s);
		EXPECT_EQ(0, t.wrong);
		EXPECT_EQ(999 + i * 40, t.cpu[0].last);
		EXPECT_EQ(BUFFERS, t.cpu[0].blocks);
		fire(1000 + i * 40, 40);
	}
	ASSERT_END(&t);
	EXPECT_EQ(1119, t.cpu[0].last);
}

struct load {
	pthread_t thread;
	int cpu;
	bool stop;
	uint32_t fired;
};

static void *load(void *arg)
{
	struct load *l = arg;

	pin(l->cpu);
	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED) && l->fired < 0xf00000) {
		fire(l->fired, 100);
		l->fired += 100;
	}
	return NULL;
}

/*
 * A snapshot leaves half of the buffers to the writer, however slow it is and however much it asks
 * for.
 */
TEST_DEV(snapshot, leaves_the_writer_buffers)
{
	struct tb_ref refs[BATCH];
	struct tb_stats st;
	struct taken t;
	int held, rings, i;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 1000);
	held = tb_acquire(self->fd, refs, BATCH, TB_ACQUIRE_SNAPSHOT);
	ASSERT_LT(0, held);
	for (i = rings = 0; i < held; i++)
		rings += refs[i].ring == 0;
	EXPECT_EQ(OLDER, rings);
	fire(1000, 1000);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(0, st.dropped);
	EXPECT_EQ(BUFFERS / 2, st.held);
	ASSERT_EQ(held, tb_release(self->fd, refs, held));
	close(self->fd);
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(1999, t.cpu[0].last);
	ASSERT_END(&t);
}

TEST_DEV(snapshot, while_all_CPUs_record)
{
	static struct load loads[CPUS];
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), i, round;
	uint32_t seen[CPUS] = { 0 }, latest[CPUS] = { 0 };
	struct taken t;

	if (cpus > CPUS)
		cpus = CPUS;
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	for (i = 0; i < cpus; i++) {
		loads[i].cpu = i;
		ASSERT_EQ(0, pthread_create(&loads[i].thread, NULL, load, &loads[i]));
	}
	for (round = 0; round < 100; round++) {
		ASSERT_TAKEN(take(&t, &self->s), &self->s);
		EXPECT_EQ(0, t.wrong);
		for (i = 0; i < cpus; i++) {
			if (!t.cpu[i].count)
				continue;
			/*
			 * The writer may overwrite blocks before the snapshot reaches them, so a
			 * snapshot may end earlier than the one before.
			 */
			if (!seen[i])
				seen[i] = t.cpu[i].last;
			latest[i] = t.cpu[i].last;
		}
	}
	/* the recording has gone on */
	for (i = 0; i < cpus; i++)
		EXPECT_LT(seen[i], latest[i]);
	for (i = 0; i < cpus; i++) {
		__atomic_store_n(&loads[i].stop, true, __ATOMIC_RELAXED);
		ASSERT_EQ(0, pthread_join(loads[i].thread, NULL));
	}
	ASSERT_END(&t);
	for (i = 0; i < cpus; i++) {
		struct tb_stats st;

		EXPECT_LT(0, seen[i]);
		EXPECT_EQ(loads[i].fired - 1, t.cpu[i].last);
		ASSERT_EQ(0, tb_stats(self->fd, i, &st));
		EXPECT_EQ(0, st.dropped);
		EXPECT_LE(loads[i].fired, st.attempted);
	}
}

/* ---- the session ------------------------------------------------------ */

TEST_DEV(snapshot, one_at_a_time)
{
	struct tb_ref ref;
	struct taken t;
	int fd;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 10);
	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, TB_ACQUIRE_SNAPSHOT));
	EXPECT_EQ(-EBUSY, take(&t, &self->s));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(10, t.cpu[0].count);
}

TEST_DEV(snapshot, goes_on_when_the_recording_stops)
{
	struct tb_ref ref;
	struct taken t;
	size_t bytes;
	char *at;
	int fd;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 40);
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	follow(&t, &self->s);
	at = tb_map(fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	ASSERT_EQ(1, take_batch(fd, at, &self->s, &ref, 1));
	fire(40, 40);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(1, tb_release(fd, &ref, 1));
	ASSERT_TAKEN(take_rest(fd, at, &self->s), &self->s);
	EXPECT_EQ(40, t.cpu[0].count);
	ASSERT_EQ(0, munmap(at, bytes));
	close(fd);
	/* all of it is there for the next reader */
	follow(&t, &self->s);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(80, t.cpu[0].count);
}

TEST_DEV(snapshot, is_over_with_its_recording)
{
	struct taken t;
	size_t bytes;
	char *at;

	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	fire(0, 40);
	follow(&t, &self->s);
	ASSERT_TAKEN(take_rest(self->fd, at, &self->s), &self->s);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(100, 20);
	/* the same session takes another snapshot */
	follow(&t, &self->s);
	ASSERT_TAKEN(take_rest(self->fd, at, &self->s), &self->s);
	EXPECT_EQ(20, t.cpu[0].count);
	EXPECT_EQ(100, t.cpu[0].first);
	ASSERT_EQ(0, munmap(at, bytes));
}

TEST_DEV(snapshot, means_nothing_when_streaming_or_stopped)
{
	struct tb_stats st;
	struct taken t;
	size_t bytes;
	char *at;

	ASSERT_EQ(0, record(self->fd, TB_MODE_STREAMING));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	fire(0, 2 * PER_BLOCK);
	follow(&t, &self->s);
	/* more may come: no end */
	struct tb_ref refs[BATCH];
	int n;

	while ((n = take_batch(self->fd, at, &self->s, refs, BATCH)) > 0)
		ASSERT_EQ(n, tb_release(self->fd, refs, n));
	EXPECT_EQ(0, n);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(2 * PER_BLOCK, st.delivered);
	ASSERT_EQ(0, munmap(at, bytes));
	close(self->fd);

	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, record(self->fd, TB_MODE_CIRCULAR));
	fire(0, 2 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_TAKEN(take(&t, &self->s), &self->s);
	EXPECT_EQ(2 * PER_BLOCK, t.cpu[0].count);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(2 * PER_BLOCK, st.delivered);
}

TEST_HARNESS_MAIN
