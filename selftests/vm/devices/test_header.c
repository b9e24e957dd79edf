// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header of each ring in the mapping has the documented layout in all modes; its values only
 * grow while events come from all contexts, and are exact after a stop. If a test fails, a program
 * that reads rings in the mapping or in the memory of a crashed machine takes other memory for
 * events.
 */
#include "tbtest.h"

#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)

DEVICE_FIXTURE(header)

static const uint32_t modes[] = { TB_MODE_ONESHOT, TB_MODE_CIRCULAR, TB_MODE_STREAMING };
static const uint32_t sizes[] = { 2, 5, 600 };

#define EACH(m, n)								\
	for (m = 0; m < sizeof(modes) / sizeof(*modes); m++)			\
		for (n = 0; n < sizeof(sizes) / sizeof(*sizes); n++)

/* The mapping and its layout. */
struct view {
	struct tb_query q;
	const char *at;
	size_t bytes;
};

static bool view_open(int fd, struct view *v)
{
	v->at = tb_map(fd, &v->bytes);
	return v->at != MAP_FAILED && !tb_query(fd, &v->q);
}

static void view_close(struct view *v)
{
	munmap((void *)v->at, v->bytes);
}

static const struct tb_ring_header *header_of(const struct view *v, uint32_t cpu)
{
	return (const void *)(v->at + cpu * v->q.ring_stride);
}

static const struct tb_block *block_of(const struct view *v, uint32_t cpu, uint32_t index)
{
	return (const void *)(v->at + cpu * v->q.ring_stride + v->q.ring_header +
			      index * v->q.buffer_bytes);
}

/* Both words as they are at one moment. */
static void current_of(const struct tb_ring_header *h, uint32_t *buffer, uint32_t *wrapped)
{
	uint64_t word = __atomic_load_n((const uint64_t *)&h->current_buffer, __ATOMIC_ACQUIRE);

	*buffer = (uint32_t)word;
	*wrapped = word >> 32;
}

/* Checks the fields that do not change during a recording, but for the durable buffer's size. */
static int check_layout(const struct view *v, uint32_t cpu)
{
	const struct tb_ring_header *h = header_of(v, cpu);
	uint64_t rolling = (uint64_t)v->q.buffers * v->q.buffer_bytes;
	bool oneshot = v->q.mode == TB_MODE_ONESHOT;
	int wrong = 0, i;

#define WANT(a, b)								\
	do {									\
		uint64_t a_ = (a), b_ = (b);					\
		if (a_ != b_) {							\
			printf("# cpu %u: %s is %llu, not %llu, %s\n", cpu, #a,	\
			       (unsigned long long)a_, (unsigned long long)b_, #b);	\
			wrong++;						\
		}								\
	} while (0)
	WANT(h->magic, TB_RING_MAGIC);
	WANT(h->version, TB_RING_VERSION);
	WANT(h->buffering_mode, v->q.mode);
	WANT(h->reserved, 0);
	WANT(h->nr, v->q.buffers);
	WANT(h->cpu, cpu);
	WANT(h->provider, v->q.provider);
	WANT(h->header_size, v->q.ring_header);
	WANT(h->header_size % 4096, 0);
	WANT(h->header_size >= sizeof(*h) + 8ull * h->nr, 1);
	WANT(h->rolling_size, oneshot ? rolling : v->q.buffer_bytes);
	WANT(h->durable_size, oneshot ? 0 : v->q.durable_size);
	if (oneshot)
		WANT(h->total_size, h->header_size + h->rolling_size);
	else
		WANT(h->total_size, h->header_size + h->durable_size + h->nr * h->rolling_size);
	WANT(h->total_size % 8, 0);
	WANT(h->rolling_size % 8, 0);
	WANT(h->durable_size % 8, 0);
	for (i = 0; i < 6; i++)
		WANT(h->reserved64[i], 0);
	return wrong;
}

/* Checks the header of a stopped recording against the blocks and the counts. */
static int check_end(int fd, const struct view *v, uint32_t cpu)
{
	const struct tb_ring_header *h = header_of(v, cpu);
	uint32_t buffer, wrapped, i;
	struct tb_stats st;
	int wrong = 0;

	if (tb_stats(fd, cpu, &st))
		return 1;
	current_of(h, &buffer, &wrapped);
	WANT(wrapped, st.blocks ? (uint32_t)(st.blocks - 1) : 0);
	WANT(buffer < h->nr, 1);
	if (st.blocks) {
		WANT(block_of(v, cpu, buffer)->magic, TB_BLOCK_MAGIC);
		WANT(block_of(v, cpu, buffer)->sequence, st.blocks - 1);
	}
	WANT(h->records_dropped, st.dropped);
	WANT(h->durable_data_end % 8, 0);
	for (i = 0; i < h->nr && !wrong; i++) {
		const struct tb_block *b = block_of(v, cpu, i);
		/* memory is zeroed when it is allocated, not when a recording starts */
		bool used = b->magic == TB_BLOCK_MAGIC && b->sequence < st.blocks &&
			    (st.blocks > h->nr || i < st.blocks);

		WANT(h->rolling_data_end[i], used ? b->data : 0);
		WANT(h->rolling_data_end[i] % 8, 0);
		if (used)
			WANT(b->flags & TB_BLOCK_COMPLETE, TB_BLOCK_COMPLETE);
	}
	return wrong;
}

/* Returns the bytes of all durable blocks, or -errno. */
static int64_t durable_bytes(int fd)
{
	struct tb_ref ref;
	int64_t bytes = 0;
	int n;

	while ((n = tb_acquire(fd, &ref, 1, 0)) == 1) {
		if (ref.ring != TB_RING_DURABLE)
			break;
		bytes += ref.bytes;
		n = tb_release(fd, &ref, 1);
		if (n != 1)
			return n < 0 ? n : -EIO;
	}
	return n == 1 || n == -ENODATA ? bytes : n;
}

/* ---- tests ------------------------------------------------------------ */

TEST_DEV(header, layout)
{
	struct view v;
	size_t m, n;
	uint32_t cpu;

	EACH(m, n) {
		ASSERT_EQ(0, tb_configure(self->fd, modes[m], 0, sizes[n], ELEMENTS));
		ASSERT_TRUE(view_open(self->fd, &v));
		EXPECT_EQ(v.q.ring_header > 4096, sizes[n] > (4096 - 128) / 8);
		for (cpu = 0; cpu < v.q.nr_cpus; cpu++) {
			const struct tb_ring_header *h = header_of(&v, cpu);

			EXPECT_EQ(0, check_layout(&v, cpu));
			EXPECT_EQ(0, h->current_buffer);
			EXPECT_EQ(0, h->wrapped_count);
			EXPECT_EQ(0, h->durable_data_end);
			EXPECT_EQ(0, h->records_dropped);
			EXPECT_EQ(0, h->rolling_data_end[0]);
			EXPECT_EQ(0, h->rolling_data_end[sizes[n] - 1]);
		}
		view_close(&v);
	}
}

TEST_DEV(header, most_buffers)
{
	struct view v;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, TB_BUFFERS_MAX, ELEMENTS));
	ASSERT_TRUE(view_open(self->fd, &v));
	EXPECT_EQ(65536, v.q.ring_header);
	EXPECT_EQ(0, check_layout(&v, 0));
	view_close(&v);
}

/* Full, flushed and padded blocks, one lap and several. */
TEST_DEV(header, exact_at_stop)
{
	uint32_t cpu, i, laps;
	struct view v;
	size_t m, n;

	EACH(m, n) {
		ASSERT_EQ(0, tb_configure(self->fd, modes[m], 0, sizes[n], ELEMENTS));
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		/* a mapping outlives recordings; nothing of one may be in the next */
		ASSERT_TRUE(view_open(self->fd, &v));
		for (laps = 3; laps > 0; laps--) {
			ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
			for (i = 0; i < 6; i++) {
				fire(0, laps * sizes[n] * PER_BLOCK / 6 + i);
				ASSERT_EQ(0, tb_flush(self->fd, -1));
			}
			fire(0, 3);
			ASSERT_EQ(0, tb_stop(self->fd));
			ASSERT_EQ(0, tb_query(self->fd, &v.q));
			for (cpu = 0; cpu < v.q.nr_cpus; cpu++) {
				EXPECT_EQ(0, check_layout(&v, cpu));
				EXPECT_EQ(0, check_end(self->fd, &v, cpu)) {
					TH_LOG("mode %u, %u buffers, %u laps", modes[m], sizes[n],
					       laps);
				}
			}
			EXPECT_LT(0, header_of(&v, 0)->wrapped_count);
			if (modes[m] == TB_MODE_ONESHOT)
				EXPECT_LE(header_of(&v, 0)->wrapped_count, sizes[n] - 1);
			if (modes[m] == TB_MODE_ONESHOT && laps > 1)
				EXPECT_LT(0, header_of(&v, 0)->records_dropped);
		}
		EXPECT_EQ(durable_bytes(self->fd), header_of(&v, 0)->durable_data_end);
		view_close(&v);
		/* closing releases what the session holds */
		close(self->fd);
		self->fd = tb_open(0);
		ASSERT_LE(0, self->fd);
	}
}

/* ---- while it runs ---------------------------------------------------- */

struct load {
	pthread_t thread;
	int cpu;
	bool stop;
};

/* Makes signals, system calls, threads and switches; interrupts come by themselves. */
static void *load_main(void *arg)
{
	struct load *l = arg;
	struct timespec us = { .tv_nsec = 1000 };
	pid_t pid;

	pin(l->cpu);
	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		fire(0, 50);
		nanosleep(&us, NULL);
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return NULL;
}

/* The values of a header when it was last read. */
struct seen {
	uint32_t wrapped;
	uint64_t dropped, durable;
};

static int check_live(int fd, const struct view *v, uint32_t cpu, struct seen *seen)
{
	const struct tb_ring_header *h = header_of(v, cpu);
	uint64_t dropped = __atomic_load_n(&h->records_dropped, __ATOMIC_ACQUIRE);
	uint64_t durable = __atomic_load_n(&h->durable_data_end, __ATOMIC_ACQUIRE);
	uint32_t buffer, wrapped, i;
	struct tb_stats st;
	int wrong = 0;

	current_of(h, &buffer, &wrapped);
	WANT(buffer < h->nr, 1);
	WANT((int32_t)(wrapped - seen->wrapped) >= 0, 1);
	WANT(dropped >= seen->dropped, 1);
	WANT(durable >= seen->durable, 1);
	if (tb_stats(fd, cpu, &st))
		wrong++;
	/* the counts were read later, so they are not smaller */
	WANT(wrapped == 0 || wrapped < st.blocks, 1);
	WANT(dropped <= st.dropped, 1);
	for (i = 0; i < h->nr; i++) {
		uint64_t end = __atomic_load_n(&h->rolling_data_end[i], __ATOMIC_ACQUIRE);

		WANT(end % 8, 0);
		WANT(end <= v->q.buffer_bytes, 1);
		WANT(!end || end >= TB_BLOCK_FIRST_ELEMENT * TB_ELEMENT_SIZE, 1);
	}
	*seen = (struct seen){ .wrapped = wrapped, .dropped = dropped, .durable = durable };
	return wrong;
}

static void under_load(struct __test_metadata *_metadata, int fd, struct stream *s, uint32_t mode,
		       uint32_t policy, uint32_t buffers)
{
	struct load load[2] = { { .cpu = 0 }, { .cpu = 1 } };
	uint32_t cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1, cpu, rounds;
	struct seen seen[2] = { 0 };
	struct view v;
	int wrong = 0;

	stream_free(s);
	ASSERT_EQ(0, tb_configure(fd, mode, policy, buffers, ELEMENTS));
	ASSERT_LT(0, tb_enable(fd, "sched"));
	ASSERT_LT(0, tb_enable(fd, "timer"));
	ASSERT_LT(0, tb_enable(fd, "irq"));
	ASSERT_LT(0, tb_enable(fd, "raw_syscalls"));
	ASSERT_EQ(1, tb_enable(fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(fd, 0));
	ASSERT_TRUE(view_open(fd, &v));
	for (cpu = 0; cpu < cpus; cpu++)
		ASSERT_EQ(0, pthread_create(&load[cpu].thread, NULL, load_main, &load[cpu]));
	/* until both rings have gone round three times or are full, and for 300 rounds */
	for (rounds = 0; rounds < 20000 && !wrong; rounds++) {
		bool enough = true;

		for (cpu = 0; cpu < cpus; cpu++) {
			wrong += check_live(fd, &v, cpu, &seen[cpu]);
			enough &= seen[cpu].wrapped >= 3 * buffers ||
				  (policy == TB_POLICY_DROP && seen[cpu].wrapped == buffers - 1);
		}
		if (rounds % 16 == 0)
			ASSERT_EQ(0, tb_flush(fd, -1));
		if (enough && rounds > 300)
			break;
	}
	EXPECT_EQ(0, wrong);
	for (cpu = 0; cpu < cpus; cpu++)
		__atomic_store_n(&load[cpu].stop, true, __ATOMIC_RELEASE);
	for (cpu = 0; cpu < cpus; cpu++)
		ASSERT_EQ(0, pthread_join(load[cpu].thread, NULL));
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_EQ(0, tb_query(fd, &v.q));
	for (cpu = 0; cpu < v.q.nr_cpus; cpu++) {
		EXPECT_EQ(0, check_layout(&v, cpu));
		EXPECT_EQ(0, check_end(fd, &v, cpu));
	}
	for (cpu = 0; cpu < cpus; cpu++)
		EXPECT_LE(buffers - 1, seen[cpu].wrapped);
	ASSERT_STREAM(tb_drain(fd, s), s);
	ASSERT_STREAM(stream_finish(s), s);
	view_close(&v);
}

TEST_DEV(header, goes_forward_overwriting)
{
	under_load(_metadata, self->fd, &self->s, TB_MODE_STREAMING, TB_POLICY_OVERWRITE, 2);
}

TEST_DEV(header, goes_forward_dropping)
{
	under_load(_metadata, self->fd, &self->s, TB_MODE_STREAMING, TB_POLICY_DROP, 5);
}

TEST_DEV(header, goes_forward_circular)
{
	under_load(_metadata, self->fd, &self->s, TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE, 5);
}

TEST_DEV(header, goes_forward_oneshot)
{
	under_load(_metadata, self->fd, &self->s, TB_MODE_ONESHOT, TB_POLICY_DROP, 600);
}

/* The durable buffer grows while it is mapped, and the header follows. */
TEST_DEV(header, durable_grows)
{
	struct tb_config c = { .buffers = 2, .elements = ELEMENTS, .durable_kib = 128 };
	uint64_t before;
	struct view v;
	pid_t pid;

	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	ASSERT_TRUE(view_open(self->fd, &v));
	before = header_of(&v, 0)->durable_size;
	EXPECT_EQ(v.q.durable_size, before);
	pid = crowd(1500);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, tb_start(self->fd, 0));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &v.q));
	EXPECT_LT(before, header_of(&v, 0)->durable_size);
	EXPECT_LT(128 * 1024, header_of(&v, 0)->durable_data_end);
	EXPECT_EQ(0, check_layout(&v, 0));
	EXPECT_EQ(0, check_layout(&v, v.q.nr_cpus - 1));
	view_close(&v);
}

TEST_HARNESS_MAIN
