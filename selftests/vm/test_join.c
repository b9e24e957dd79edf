// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several files that read one recording (TB_IOC_JOIN): each takes the blocks of its CPUs alone and
 * waits for these, any gives back what any has taken, and all goes back with the one they joined.
 */
#include "tbtest.h"

#define BUFFERS		8
#define ELEMENTS	64
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define ROOM		64

DEVICE_FIXTURE(join)

static int record(int fd)
{
	struct tb_config c = { .buffers = BUFFERS, .elements = ELEMENTS, .watermark = 100 };

	if (ioctl(fd, TB_IOC_CONFIGURE, &c))
		return -errno;
	if (tb_enable(fd, FIRE_EVENT) != 1)
		return -ENOENT;
	return tb_start(fd, TB_START_NO_STATE);
}

static int join_bits(int fd, int other, uint64_t cpus)
{
	struct tb_join j = { .fd = other, .cpus = (uintptr_t)&cpus, .cpus_bytes = sizeof(cpus) };

	return ioctl(fd, TB_IOC_JOIN, &j) ? -errno : 0;
}

/* A file that takes what is of CPU @cpu */
static int joined(int other, int cpu)
{
	int fd = tb_open(O_RDWR | O_NONBLOCK), err;

	if (fd < 0)
		return fd;
	err = join_bits(fd, other, 1ull << cpu);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static void fire_on(int cpu, uint32_t count)
{
	pin(cpu);
	fire(0, count);
}

/* How many of @count are not of ring @ring */
static int foreign(const struct tb_ref *refs, int count, uint32_t ring)
{
	int i, n = 0;

	for (i = 0; i < count; i++)
		n += refs[i].ring != ring;
	return n;
}

TEST_DEV(join, each_takes_its_own)
{
	struct tb_ref first[ROOM], second[ROOM], rest[ROOM];
	struct tb_stats st;
	int a, b;

	ASSERT_EQ(0, record(self->fd));
	a = joined(self->fd, 0);
	b = joined(self->fd, 1);
	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	/* durable blocks are anybody's */
	EXPECT_EQ(POLLIN, tb_poll(a));
	ASSERT_LT(0, tb_skip_durable(b));
	EXPECT_EQ(0, tb_poll(a));
	EXPECT_EQ(0, tb_poll(b));

	fire_on(1, PER_BLOCK);
	EXPECT_EQ(0, tb_poll(a));
	EXPECT_EQ(POLLIN, tb_poll(b));
	EXPECT_EQ(0, tb_acquire(a, first, ROOM, 0));
	fire_on(0, 2 * PER_BLOCK);
	EXPECT_EQ(POLLIN, tb_poll(a));
	ASSERT_EQ(2, tb_acquire(a, first, ROOM, 0));
	EXPECT_EQ(0, foreign(first, 2, 0));
	ASSERT_EQ(1, tb_acquire(b, second, ROOM, 0));
	EXPECT_EQ(0, foreign(second, 1, 1));
	EXPECT_EQ(0, tb_poll(b));
	/* any gives back what any has taken, and the reader, too */
	EXPECT_EQ(1, tb_release(self->fd, &first[1], 1));
	EXPECT_EQ(1, tb_release(b, &first[0], 1));
	EXPECT_EQ(-EINVAL, tb_release(a, first, 1));
	EXPECT_EQ(1, tb_release(a, second, 1));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(2 * PER_BLOCK, st.delivered);
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	EXPECT_EQ(PER_BLOCK, st.delivered);
	/* the reader takes whatever there is */
	fire_on(1, PER_BLOCK);
	ASSERT_EQ(1, tb_acquire(self->fd, rest, ROOM, 0));
	EXPECT_EQ(1, tb_release(self->fd, rest, 1));
	close(a);
	close(b);
}

TEST_DEV(join, flushes_its_own)
{
	struct tb_ref refs[ROOM];
	struct tb_stats st;
	int a;

	ASSERT_EQ(0, record(self->fd));
	a = joined(self->fd, 0);
	ASSERT_LT(0, a);
	ASSERT_LT(0, tb_skip_durable(a));
	fire_on(0, 1);
	fire_on(1, 1);
	ASSERT_EQ(1, tb_acquire(a, refs, ROOM, TB_ACQUIRE_FLUSH));
	EXPECT_EQ(0, foreign(refs, 1, 0));
	ASSERT_EQ(0, tb_stats(self->fd, 1, &st));
	EXPECT_EQ(0, st.ready);
	EXPECT_EQ(1, tb_release(a, refs, 1));
	close(a);
}

TEST_DEV(join, ends_for_each)
{
	struct tb_ref refs[ROOM];
	int a, b;

	ASSERT_EQ(0, record(self->fd));
	a = joined(self->fd, 0);
	b = joined(self->fd, 1);
	ASSERT_LT(0, b);
	fire_on(1, 1);
	ASSERT_EQ(0, tb_stop(self->fd));
	while (tb_skip_durable(a) > 0)
		;
	EXPECT_EQ(-ENODATA, tb_acquire(a, refs, ROOM, 0));
	EXPECT_EQ(POLLHUP, tb_poll(a));
	EXPECT_EQ(POLLIN, tb_poll(b));
	ASSERT_EQ(1, tb_acquire(b, refs, ROOM, 0));
	EXPECT_EQ(0, foreign(refs, 1, 1));
	EXPECT_EQ(1, tb_release(b, refs, 1));
	EXPECT_EQ(-ENODATA, tb_acquire(b, refs, ROOM, 0));
	close(a);
	close(b);
}

TEST_DEV(join, goes_back_with_the_reader)
{
	struct tb_ref refs[ROOM], again[ROOM];
	int reader = tb_open(O_RDWR | O_NONBLOCK), a, next, n;

	ASSERT_EQ(0, record(self->fd));
	a = joined(reader, 0);
	ASSERT_LT(0, a);
	ASSERT_LT(0, tb_skip_durable(a));
	fire_on(0, PER_BLOCK);
	ASSERT_EQ(1, tb_acquire(a, refs, ROOM, 0));
	close(reader);
	EXPECT_EQ(POLLERR | POLLHUP, tb_poll(a));
	EXPECT_EQ(-EPIPE, tb_acquire(a, again, ROOM, 0));
	EXPECT_EQ(-EPIPE, tb_release(a, refs, 1));
	/* nothing was delivered: the next has it */
	next = tb_open(O_RDWR | O_NONBLOCK);
	n = tb_acquire(next, again, ROOM, 0);
	ASSERT_LT(1, n);
	EXPECT_EQ(refs[0].ring, again[n - 1].ring);
	EXPECT_EQ(refs[0].offset, again[n - 1].offset);
	EXPECT_EQ(-EPIPE, tb_acquire(a, refs, ROOM, 0));
	EXPECT_EQ(n, tb_release(next, again, n));
	close(a);
	/* of one that has joined nothing goes back when it is closed: it is the reader's */
	a = joined(next, 0);
	ASSERT_LT(0, a);
	fire_on(0, PER_BLOCK);
	ASSERT_EQ(1, tb_acquire(a, refs, ROOM, 0));
	close(a);
	EXPECT_EQ(0, tb_acquire(next, again, ROOM, 0));
	EXPECT_EQ(1, tb_release(next, refs, 1));
	close(next);
}

TEST_DEV(join, refuses)
{
	struct tb_fifo fifo = { .version = TB_FIFO_VERSION };
	struct tb_join bad = { .fd = self->fd, .flags = 1 };
	int a = tb_open(O_RDWR | O_NONBLOCK), b = tb_open(O_RDWR | O_NONBLOCK), null, other;
	struct tb_ref refs[ROOM];
	char byte[ELEMENTS * TB_ELEMENT_SIZE];

	ASSERT_EQ(0, record(self->fd));
	null = open("/dev/null", O_RDWR);
	EXPECT_EQ(-EBADF, join_bits(a, -1, 1));
	EXPECT_EQ(-EINVAL, join_bits(a, null, 1));
	EXPECT_EQ(-EINVAL, join_bits(a, a, 1));
	EXPECT_EQ(-EINVAL, join_bits(a, self->fd, 0));
	EXPECT_EQ(-EINVAL, join_bits(a, self->fd, 1ull << 63));
	EXPECT_EQ(-1, ioctl(a, TB_IOC_JOIN, &bad));
	EXPECT_EQ(EINVAL, errno);
	other = tb_open_as("other", O_RDWR | O_NONBLOCK);
	ASSERT_LT(0, other);
	EXPECT_EQ(-EINVAL, join_bits(a, other, 1));
	/* nothing of that has made anybody the reader */
	EXPECT_EQ(0, join_bits(a, b, 1));
	EXPECT_EQ(-EBUSY, join_bits(a, b, 1));
	EXPECT_EQ(-EBUSY, join_bits(b, self->fd, 1));
	EXPECT_EQ(-EINVAL, join_bits(self->fd, a, 1));
	EXPECT_EQ(-EBUSY, tb_acquire(self->fd, refs, ROOM, 0));
	EXPECT_EQ(-EINVAL, tb_acquire(a, refs, ROOM, TB_ACQUIRE_SNAPSHOT));
	EXPECT_EQ(-1, read(a, byte, sizeof(byte)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(a, TB_IOC_FIFO, &fifo));
	EXPECT_EQ(EBUSY, errno);
	close(other);
	EXPECT_EQ(0, tb_provider(self->fd, TB_PROVIDER_DESTROY, "other"));
	close(null);
	close(a);
	close(b);
}

TEST_HARNESS_MAIN
