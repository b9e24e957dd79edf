// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() on /dev/tracebuf gives each byte of the recording once, up to the end: with and without
 * blocking, in whole blocks and parts, by splice(), interrupted by signals, to bad addresses. If a
 * test fails, "cat /dev/tracebuf" loses or repeats bytes, hangs, or ends early.
 */
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "sleeper.h"
#include "tbtest.h"

#define BUFFERS		8
#define ELEMENTS	256
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define DURABLE_BLOCK	16384	/* the largest */
/* numbered events that fit into a buffer */
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)

DEVICE_FIXTURE(read)

static int record(int fd)
{
	int ret = tb_configure(fd, TB_MODE_STREAMING, TB_POLICY_OVERWRITE, BUFFERS, ELEMENTS);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

static int nonblock(int fd, bool on)
{
	return fcntl(fd, F_SETFL, on ? O_NONBLOCK : 0);
}

struct counting {
	struct stream *s;
	uint32_t fired, next;
	bool order;
};

static void count_fired(void *ctx, const struct stream_event *e)
{
	struct counting *c = ctx;
	uint32_t number;

	if (!is_fired(c->s, e, &number))
		return;
	if (number != c->next)
		c->order = false;
	c->next = number + 1;
	c->fired++;
}

static void count(struct counting *c, struct stream *s)
{
	*c = (struct counting){ .s = s, .order = true };
	s->event = count_fired;
	s->ctx = c;
}

TEST_DEV(read, nothing_yet_is_EAGAIN)
{
	char byte;

	ASSERT_EQ(0, nonblock(self->fd, true));
	EXPECT_EQ(-1, read(self->fd, &byte, 1));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_DEV(read, zero_bytes_is_0)
{
	char byte;

	ASSERT_EQ(0, record(self->fd));
	EXPECT_EQ(0, read(self->fd, &byte, 0));
}

TEST_DEV(read, is_not_seekable)
{
	char byte;

	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, pread(self->fd, &byte, 1, 0));
	EXPECT_EQ(ESPIPE, errno);
}

TEST_DEV(read, durable_blocks_first_then_EAGAIN)
{
	static char buf[1 << 20];
	ssize_t n;

	ASSERT_EQ(0, record(self->fd));
	ASSERT_EQ(0, nonblock(self->fd, true));
	fire(0, 5);
	n = read(self->fd, buf, sizeof(buf));
	ASSERT_LT(0, n);
	ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
	EXPECT_EQ(1, self->s.inits);
	EXPECT_EQ(1, self->s.descs);
	EXPECT_EQ(0, stream_events(&self->s));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
	/* one more block: exactly one can be read */
	fire(5, PER_BLOCK);
	n = read(self->fd, buf, sizeof(buf));
	ASSERT_EQ(BLOCK, n);
	ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
	/* a TB_EV_TIME element, every 4.3 s, may take the place of one */
	EXPECT_GE(PER_BLOCK, stream_events(&self->s));
	EXPECT_LE(PER_BLOCK - 1, stream_events(&self->s));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_DEV(read, gives_whole_blocks)
{
	static char buf[DURABLE_BLOCK + 2 * BLOCK + 100];
	struct counting c;
	ssize_t n;

	count(&c, &self->s);
	ASSERT_EQ(0, record(self->fd));
	fire(0, 5 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	while ((n = read(self->fd, buf, sizeof(buf))) > 0) {
		/* the checker fails at a part of a block */
		ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
		ASSERT_EQ(0, n % BLOCK);
	}
	ASSERT_EQ(0, n);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(5 * PER_BLOCK, c.fired);
	EXPECT_TRUE(c.order);
}

TEST_DEV(read, small_buffer_gets_pieces)
{
	static char all[1 << 20];
	struct counting c;
	size_t at = 0;
	ssize_t n;

	count(&c, &self->s);
	ASSERT_EQ(0, record(self->fd));
	fire(0, 3 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	/* one byte, then more and more: a read never goes beyond a block */
	while ((n = read(self->fd, all + at, at < 100 ? 1 : 100 + at % 1000)) > 0) {
		at += n;
		ASSERT_LT(at, sizeof(all) - 2000);
	}
	ASSERT_EQ(0, n);
	ASSERT_STREAM(stream_blocks(&self->s, all, at), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(3 * PER_BLOCK, c.fired);
	EXPECT_TRUE(c.order);
}

TEST_DEV(read, ends_after_stop_and_again)
{
	char byte;

	ASSERT_EQ(0, record(self->fd));
	fire(0, 10);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(0, read(self->fd, &byte, 1));
	ASSERT_EQ(0, nonblock(self->fd, true));
	EXPECT_EQ(0, read(self->fd, &byte, 1));
}

/* ---- splice(), sendfile(), readv() ------------------------------------ */

/* Moves all of @fd through a pipe by @move. Returns 0 or -errno. */
static int through_pipe(int fd, ssize_t (*move)(int from, int to), char *all, size_t room,
			size_t *bytes)
{
	ssize_t n, got;
	int ends[2];

	*bytes = 0;
	if (pipe(ends))
		return -errno;
	while ((n = move(fd, ends[1])) > 0)
		for (; n > 0; n -= got, *bytes += got) {
			got = read(ends[0], all + *bytes, room - *bytes);
			if (got <= 0) {
				n = -EIO;
				break;
			}
		}
	n = n < 0 ? -errno : 0;
	close(ends[0]);
	close(ends[1]);
	return n;
}

static ssize_t by_splice(int from, int to)
{
	return splice(from, NULL, to, NULL, 1 << 20, 0);
}

/* less than a block */
static ssize_t by_small_splice(int from, int to)
{
	return splice(from, NULL, to, NULL, 1000, 0);
}

static ssize_t by_sendfile(int from, int to)
{
	return sendfile(to, from, NULL, 1 << 20);
}

static ssize_t by_readv(int from, int to)
{
	static char data[3][777];
	struct iovec parts[] = { { data[0], 777 }, { data[1], 777 }, { data[2], 777 } };
	ssize_t n = readv(from, parts, 3), i;

	for (i = 0; i < n; i += 777)
		if (write(to, data[i / 777], n - i < 777 ? n - i : 777) < 0)
			return -1;
	return n;
}

#define TEST_MOVE(name) \
TEST_DEV(read, name##_gets_everything) \
{ \
	static char all[1 << 20]; \
	struct counting c; \
	size_t bytes; \
\
	count(&c, &self->s); \
	ASSERT_EQ(0, record(self->fd)); \
	fire(0, 5 * PER_BLOCK); \
	ASSERT_EQ(0, tb_stop(self->fd)); \
	ASSERT_EQ(0, through_pipe(self->fd, name, all, sizeof(all), &bytes)); \
	ASSERT_STREAM(stream_blocks(&self->s, all, bytes), &self->s); \
	ASSERT_STREAM(stream_finish(&self->s), &self->s); \
	EXPECT_EQ(5 * PER_BLOCK, c.fired); \
	EXPECT_TRUE(c.order); \
}

TEST_MOVE(by_splice)
TEST_MOVE(by_small_splice)
TEST_MOVE(by_sendfile)
TEST_MOVE(by_readv)

TEST_DEV(read, splice_of_nothing_is_EAGAIN)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, nonblock(self->fd, true));
	EXPECT_EQ(-1, by_splice(self->fd, ends[1]));
	EXPECT_EQ(EAGAIN, errno);
	close(ends[0]);
	close(ends[1]);
}

/* ---- a thread that sleeps in read() ----------------------------------- */

/* The size of the block at @at. */
static ssize_t block_bytes(const void *at)
{
	return 1l << ((const struct tb_block *)at)->size_log2;
}

static void nothing(int sig)
{
}

TEST_DEV(read, sleeps_until_a_block_is_there)
{
	static struct sleeper r;
	int i;

	ASSERT_EQ(0, record(self->fd));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(sleeper_start(&r, self->fd));
	for (i = 0; i < PER_BLOCK; i++)
		fire(i, 1);
	ASSERT_TRUE(sleeper_done(&r));
	EXPECT_LE(BLOCK, r.n);
	EXPECT_EQ(0, r.n % BLOCK);
}

TEST_DEV(read, sleeps_until_start)
{
	static struct sleeper r;

	ASSERT_TRUE(sleeper_start(&r, self->fd));
	ASSERT_EQ(0, record(self->fd));
	ASSERT_TRUE(sleeper_done(&r));
	/* the state, and other records of the start if the thread woke up late */
	ASSERT_LE(block_bytes(r.buf), r.n);
	ASSERT_STREAM(stream_blocks(&self->s, r.buf, r.n), &self->s);
	EXPECT_EQ(1, self->s.inits);
}

TEST_DEV(read, sleeper_sees_stop)
{
	static struct sleeper r;

	ASSERT_EQ(0, record(self->fd));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(sleeper_start(&r, self->fd));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_TRUE(sleeper_done(&r));
	/* stop writes one block or several */
	EXPECT_LE(block_bytes(r.buf), r.n);
	EXPECT_EQ(0, r.n % block_bytes(r.buf));
}

TEST_DEV(read, signal_interrupts)
{
	struct sigaction act = { .sa_handler = nothing };
	static struct sleeper r;

	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ASSERT_EQ(0, record(self->fd));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(sleeper_start(&r, self->fd));
	ASSERT_EQ(0, pthread_kill(r.thread, SIGUSR1));
	ASSERT_TRUE(sleeper_done(&r));
	EXPECT_EQ(-1, r.n);
	EXPECT_EQ(EINTR, r.err);
}

TEST_DEV(read, signal_with_restart_goes_on)
{
	struct sigaction act = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	static struct sleeper r;

	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ASSERT_EQ(0, record(self->fd));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	ASSERT_TRUE(sleeper_start(&r, self->fd));
	ASSERT_EQ(0, pthread_kill(r.thread, SIGUSR1));
	ASSERT_TRUE(wait_asleep(r.tid));
	ASSERT_FALSE(r.done);
	fire(0, PER_BLOCK);
	ASSERT_TRUE(sleeper_done(&r));
	EXPECT_LE(BLOCK, r.n);
}

/* ---- bad addresses ---------------------------------------------------- */

TEST_DEV(read, bad_address_is_EFAULT_and_loses_nothing)
{
	struct counting c;

	count(&c, &self->s);
	ASSERT_EQ(0, record(self->fd));
	fire(0, 2 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(-1, syscall(SYS_read, self->fd, (void *)8, 1 << 20));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, syscall(SYS_read, self->fd, (void *)-4096l, 100));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(2 * PER_BLOCK, c.fired);
}

TEST_DEV(read, half_bad_address_gives_the_good_half)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *buf = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n, bytes;

	ASSERT_NE(MAP_FAILED, buf);
	ASSERT_EQ(0, record(self->fd));
	fire(0, PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, mprotect(buf + page, page, PROT_NONE));
	n = read(self->fd, buf, 1 << 20);
	ASSERT_LT(0, n);
	ASSERT_LE(n, page);
	ASSERT_EQ(0, mprotect(buf + page, page, PROT_READ | PROT_WRITE));
	/* the next read goes on within the block */
	bytes = block_bytes(buf);
	ASSERT_EQ(bytes - n, n < bytes ? read(self->fd, buf + n, bytes - n) : 0);
	ASSERT_STREAM(stream_blocks(&self->s, buf, bytes), &self->s);
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
}

TEST_DEV(read, rest_of_a_block_goes_back_at_close)
{
	char buf[DURABLE_BLOCK + 100];
	struct counting c;
	int fd;

	count(&c, &self->s);
	ASSERT_EQ(0, record(self->fd));
	fire(0, 2 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_LT(0, read(self->fd, buf, 100));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, buf, 100));
	EXPECT_EQ(EBUSY, errno);
	close(self->fd);
	self->fd = fd;
	ASSERT_STREAM(tb_drain(fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(2 * PER_BLOCK, c.fired);
}

TEST_HARNESS_MAIN
