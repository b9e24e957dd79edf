// SPDX-License-Identifier: GPL-2.0-only
/*
 * The save/saved channel: what it tells and when, and a manager that
 * misbehaves in every way.
 *
 * The events are numbered (fire()).  Besides them the tie of the clocks is recorded every ten
 * seconds: where numbers are exact a round in which that came in between is
 * done again.
 */
#include <stddef.h>

#include "tbtest.h"

#define BUFFERS		4
#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define ROUNDS		5

DEVICE_FIXTURE(fifo)

/* ---- a manager --------------------------------------------------------- */

static int record(int fd, uint32_t policy, uint32_t buffers)
{
	int ret = tb_configure(fd, TB_MODE_STREAMING, policy, buffers, ELEMENTS);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

static int open_request(int fd, struct tb_fifo f)
{
	int ret = ioctl(fd, TB_IOC_FIFO, &f);

	return ret < 0 ? -errno : ret;
}

static int fifo_open(int fd, uint32_t cpu)
{
	return open_request(fd, (struct tb_fifo){ .cpu = cpu, .version = TB_FIFO_VERSION });
}

/* The next packet, which is to come; -errno, -ENODATA at the end. */
static int get(int ch, struct tb_packet *packet)
{
	struct pollfd p = { .fd = ch, .events = POLLIN };
	ssize_t n;

	memset(packet, 0xee, sizeof(*packet));
	if (poll(&p, 1, PATIENCE * 1000) != 1)
		return -ETIMEDOUT;
	n = read(ch, packet, sizeof(*packet));
	if (n < 0)
		return -errno;
	return n == sizeof(*packet) ? 0 : n ? -EBADMSG : -ENODATA;
}

/* There is none now. */
static bool nothing(int ch)
{
	struct tb_packet packet;
	int flags = fcntl(ch, F_GETFL);
	ssize_t n;

	if (tb_poll(ch) & POLLIN)
		return false;
	fcntl(ch, F_SETFL, flags | O_NONBLOCK);
	n = read(ch, &packet, sizeof(packet));
	n = n < 0 ? -errno : n;
	fcntl(ch, F_SETFL, flags);
	return n == -EAGAIN;
}

static int put(int ch, const void *packets, size_t bytes)
{
	ssize_t n = write(ch, packets, bytes);

	return n < 0 ? -errno : (int)n;
}

static int answer(int ch, struct tb_packet packet)
{
	packet.request = TB_FIFO_BUFFER_SAVED;
	return put(ch, &packet, sizeof(packet));
}

#define ASSERT_PACKET(ch, packet, what)						\
	do {									\
		ASSERT_EQ(0, get(ch, packet));					\
		ASSERT_EQ(what, (packet)->request);				\
		ASSERT_EQ(0, (packet)->reserved);				\
	} while (0)

#define ASSERT_STARTED(ch)							\
	do {									\
		struct tb_packet started_;					\
		struct tb_query query_;						\
										\
		ASSERT_EQ(0, tb_query(self->fd, &query_));			\
		ASSERT_PACKET(ch, &started_, TB_FIFO_STARTED);			\
		ASSERT_EQ(TB_FIFO_VERSION, started_.data32);			\
		ASSERT_EQ(query_.generation, started_.data64);			\
	} while (0)

#define ASSERT_STOPPED(ch, reason)						\
	do {									\
		struct tb_packet stopped_;					\
										\
		ASSERT_PACKET(ch, &stopped_, TB_FIFO_STOPPED);			\
		ASSERT_EQ(reason, stopped_.data32);				\
		ASSERT_EQ(-ENODATA, get(ch, &stopped_));			\
		ASSERT_EQ(POLLHUP, tb_poll(ch) & (POLLIN | POLLHUP | POLLERR));	\
	} while (0)

#define ASSERT_BOOKS(st)							\
	ASSERT_EQ((st)->attempted, (st)->delivered + (st)->overwritten +	\
				   (st)->dropped + (st)->pending)

/* The block offered, in the mapping. */
static const struct tb_block *offered(const char *map, const struct tb_query *q, uint32_t cpu,
				      uint32_t wrap)
{
	const struct tb_block *found = NULL;
	uint32_t i;

	for (i = 0; i < q->buffers; i++) {
		const struct tb_block *b = (const void *)(map + cpu * q->ring_stride +
							  q->ring_header + i * q->buffer_bytes);

		/* one of an earlier recording may have the same number */
		if (b->magic == TB_BLOCK_MAGIC && b->cpu == cpu && (uint32_t)b->sequence == wrap &&
		    (!found || b->time_start > found->time_start))
			found = b;
	}
	return found;
}

struct manager {
	int fd;
	const char *map;
	size_t bytes;
	struct tb_query q;
	uint64_t durable;	/* bytes taken */
	struct stream *s;
};

static bool manager_init(struct manager *m, int fd, struct stream *s)
{
	m->fd = fd;
	m->s = s;
	m->durable = 0;
	m->map = tb_map(fd, &m->bytes);
	return m->map != MAP_FAILED && !tb_query(fd, &m->q);
}

static void manager_exit(struct manager *m)
{
	munmap((void *)m->map, m->bytes);
}

/* What is in the durable buffer and has not been saved. */
static bool save_durable(struct manager *m)
{
	struct tb_ref ref;

	while (tb_acquire(m->fd, &ref, 1, 0) == 1) {
		if (ref.ring == TB_RING_DURABLE)
			m->durable += ref.bytes;
		if (!stream_block(m->s, m->map + ref.offset, ref.bytes) ||
		    tb_release(m->fd, &ref, 1) != 1)
			return false;
	}
	return true;
}

/* As it should be done: durable first, then the block. */
static bool save(struct manager *m, uint32_t cpu, const struct tb_packet *packet)
{
	const struct tb_block *b = offered(m->map, &m->q, cpu, packet->data32);

	return save_durable(m) && b && (b->flags & TB_BLOCK_COMPLETE) &&
	       stream_block(m->s, b, m->q.buffer_bytes);
}

struct numbers {
	struct stream *s;
	uint32_t count, next, wrong;
	uint64_t told;		/* missing before this block */
};

static void number_block(void *ctx, const struct tb_block *b, const struct tb_gap *gap)
{
	struct numbers *n = ctx;

	if (b->cpu == 0)
		n->told = gap->overwritten + gap->dropped;
}

static void number_event(void *ctx, const struct stream_event *e)
{
	struct numbers *n = ctx;
	uint32_t number;

	if (!is_fired(n->s, e, &number) || e->cpu)
		return;
	if (number != n->next + n->told)
		n->wrong++;
	n->told = 0;
	n->next = number + 1;
	n->count++;
}

static void follow(struct numbers *n, struct stream *s)
{
	stream_free(s);
	*n = (struct numbers){ .s = s };
	s->block = number_block;
	s->event = number_event;
	s->ctx = n;
}

/* ---- opening ----------------------------------------------------------- */

TEST_DEV(fifo, request_is_checked)
{
	struct tb_fifo good = { .cpu = 0, .version = TB_FIFO_VERSION }, f;
	struct tb_query q;
	size_t i;
	int ch;

	ASSERT_EQ(0, tb_query(self->fd, &q));
	for (i = 0; i < 4; i++) {
		f = good;
		f.version = (uint32_t[]){ 0, TB_FIFO_VERSION + 1, 0x10001, ~0u }[i];
		EXPECT_EQ(-EPROTONOSUPPORT, open_request(self->fd, f));
		f = good;
		f.cpu = (uint32_t[]){ q.nr_cpus, 4096, 1u << 31, ~0u }[i];
		EXPECT_EQ(-EINVAL, open_request(self->fd, f));
		f = good;
		f.flags = (uint64_t[]){ 1, 2, 1ull << 32, ~0ull }[i];
		EXPECT_EQ(-EINVAL, open_request(self->fd, f));
	}
	for (i = 0; i < sizeof(f.reserved); i++) {
		f = good;
		((char *)f.reserved)[i] = 1;
		EXPECT_EQ(-EINVAL, open_request(self->fd, f));
	}
	ch = open_request(self->fd, good);
	ASSERT_LE(0, ch);
	EXPECT_EQ(FD_CLOEXEC, fcntl(ch, F_GETFD));
	EXPECT_EQ(-1, lseek(ch, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	close(ch);
}

TEST_DEV(fifo, streaming_alone)
{
	int ch;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 0, 0));
	EXPECT_EQ(-EINVAL, fifo_open(self->fd, 0));
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 0, 0));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	/* it would be left without its ring */
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 0, 0));
	EXPECT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 8, 0));
	close(ch);
	EXPECT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 0, 0));
}

TEST_DEV(fifo, cpu_without_a_ring)
{
	uint8_t second = 2;
	struct tb_config c = { .cpus = (uintptr_t)&second, .cpus_bytes = 1 };
	int ch = fifo_open(self->fd, 0);

	ASSERT_LE(0, ch);
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	EXPECT_EQ(EBUSY, errno);
	close(ch);
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	EXPECT_EQ(-EINVAL, fifo_open(self->fd, 0));
	ch = fifo_open(self->fd, 1);
	EXPECT_LE(0, ch);
	close(ch);
}

TEST_DEV(fifo, one_channel_a_ring_one_session_a_provider)
{
	struct tb_ref ref;
	int ch[2], fd = tb_open(0);

	ASSERT_LE(0, fd);
	ch[0] = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch[0]);
	EXPECT_EQ(-EBUSY, fifo_open(self->fd, 0));
	ch[1] = fifo_open(self->fd, 1);
	ASSERT_LE(0, ch[1]);
	EXPECT_EQ(-EBUSY, fifo_open(fd, 0));
	EXPECT_EQ(-EBUSY, fifo_open(fd, 1));
	EXPECT_EQ(-EBUSY, tb_acquire(fd, &ref, 1, 0));
	close(ch[0]);
	ch[0] = fifo_open(self->fd, 0);
	EXPECT_LE(0, ch[0]);
	close(ch[0]);
	close(ch[1]);
	/* the session is the reader as long as it is open */
	EXPECT_EQ(-EBUSY, fifo_open(fd, 0));
	close(self->fd);
	self->fd = fd;
	ch[0] = fifo_open(fd, 0);
	EXPECT_LE(0, ch[0]);
	close(ch[0]);
}

/* ---- what is told ------------------------------------------------------ */

TEST_DEV(fifo, started_is_the_first)
{
	int ch = fifo_open(self->fd, 0), other;

	ASSERT_LE(0, ch);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	fire(0, 2 * PER_BLOCK);
	ASSERT_STARTED(ch);
	/* running already */
	other = fifo_open(self->fd, 1);
	ASSERT_LE(0, other);
	ASSERT_STARTED(other);
	ASSERT_TRUE(nothing(other));
	/* once */
	close(ch);
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	close(other);
	close(ch);
}

TEST_DEV(fifo, offers_block_by_block_until_stopped)
{
	struct tb_packet packet, stopped;
	struct tb_stats st;
	struct manager m;
	struct numbers n;
	uint32_t i;
	int ch;

	follow(&n, &self->s);
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	ASSERT_TRUE(nothing(ch));
	for (i = 0; i < 20; i++) {
		fire(i * PER_BLOCK, PER_BLOCK);
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		ASSERT_EQ(i, packet.data32);
		/* one at a time */
		ASSERT_TRUE(nothing(ch));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(1, st.held);
		ASSERT_TRUE(save(&m, 0, &packet)) {
			TH_LOG("%s", self->s.error);
		}
		/* with that, all it needs has been saved: just what is told */
		ASSERT_EQ(m.durable, packet.data64);
		ASSERT_EQ(16, answer(ch, packet));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(0, st.held);
		ASSERT_EQ((i + 1) * BLOCK, st.bytes);
		ASSERT_BOOKS(&st);
	}
	/* three more, the last not full: offered after the stop, one by one */
	fire(i * PER_BLOCK, 2 * PER_BLOCK + 3);
	ASSERT_EQ(0, tb_stop(self->fd));
	for (; i < 23; i++) {
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		ASSERT_EQ(i, packet.data32);
		ASSERT_TRUE(nothing(ch));
		ASSERT_TRUE(save(&m, 0, &packet)) {
			TH_LOG("%s", self->s.error);
		}
		ASSERT_EQ(16, answer(ch, packet));
	}
	ASSERT_PACKET(ch, &stopped, TB_FIFO_STOPPED);
	EXPECT_EQ(TB_REASON_REQUEST, stopped.data32);
	EXPECT_EQ(m.durable, stopped.data64);
	EXPECT_EQ(-ENODATA, get(ch, &packet));
	EXPECT_EQ(-ENODATA, get(ch, &packet));
	EXPECT_EQ(POLLHUP, tb_poll(ch) & (POLLIN | POLLHUP | POLLERR));
	ASSERT_TRUE(save_durable(&m));
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(22 * PER_BLOCK + 3, n.count);
	EXPECT_EQ(0, n.wrong);
	manager_exit(&m);
	/* the next recording */
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_STARTED(ch);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STOPPED(ch, TB_REASON_REQUEST);
	close(ch);
}

/* The last thread that was told of as having the number we look for. */
struct sought {
	uint32_t tid;
	uint32_t found;
};

static void see_thread(void *ctx, const struct stream_event *e)
{
	struct sought *t = ctx;

	if (e->durable && e->id == TB_EV_THREAD)
		t->found += ((const struct tb_thread *)e->payload)->tid == t->tid;
}

TEST_DEV(fifo, threads_are_told_before_the_block)
{
	uint64_t durable = 0;
	struct tb_packet packet;
	struct sought t = { 0 };
	struct manager m;
	int ch, i, status;

	self->s.event = see_thread;
	self->s.ctx = &t;
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	for (i = 0; i < 5; i++) {
		/* there when the block was written, and gone when it is offered */
		t.found = 0;
		t.tid = fork();
		if (!t.tid) {
			fire(0, 1);
			_exit(0);
		}
		ASSERT_EQ((pid_t)t.tid, waitpid(t.tid, &status, 0));
		fire(0, PER_BLOCK);
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		EXPECT_LT(durable, packet.data64);
		durable = packet.data64;
		ASSERT_TRUE(save(&m, 0, &packet)) {
			TH_LOG("%s", self->s.error);
		}
		EXPECT_LT(0, t.found);
		EXPECT_EQ(m.durable, packet.data64);
		ASSERT_EQ(16, answer(ch, packet));
	}
	manager_exit(&m);
	close(ch);
}

TEST_DEV(fifo, past_the_mark_is_flushed)
{
	struct tb_packet packet;
	const struct tb_block *b;
	struct manager m;
	int ch;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, 5);
	ASSERT_TRUE(nothing(ch));
	fire(5, 6);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	b = offered(m.map, &m.q, 0, packet.data32);
	ASSERT_NE(NULL, b);
	EXPECT_TRUE(b->flags & TB_BLOCK_FLUSHED);
	EXPECT_EQ(11, b->events);
	EXPECT_EQ(16, answer(ch, packet));
	ASSERT_TRUE(nothing(ch));
	/* and what is flushed on demand */
	fire(11, 1);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, tb_flush(self->fd, 0));
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	manager_exit(&m);
	close(ch);
}

TEST_DEV(fifo, several_packets_a_read)
{
	struct tb_packet packet[4];
	char byte[48];
	int ch, n;

	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	fire(0, 2 * PER_BLOCK);
	for (n = 0; n < 16; n++) {
		ASSERT_EQ(-1, read(ch, byte, n));
		ASSERT_EQ(EINVAL, errno);
	}
	/* a bad address, wholly or for the second packet: nothing is lost */
	ASSERT_EQ(-1, syscall(SYS_read, ch, (void *)8, 64));
	ASSERT_EQ(EFAULT, errno);
	ASSERT_EQ(32, read(ch, packet, sizeof(packet)));
	EXPECT_EQ(TB_FIFO_STARTED, packet[0].request);
	EXPECT_EQ(TB_FIFO_SAVE_BUFFER, packet[1].request);
	EXPECT_EQ(0, packet[1].data32);
	ASSERT_EQ(16, answer(ch, packet[1]));
	ASSERT_EQ(-1, syscall(SYS_read, ch, (void *)8, 64));
	ASSERT_EQ(EFAULT, errno);
	ASSERT_EQ(16, read(ch, byte, 31));
	memcpy(packet, byte, 16);
	EXPECT_EQ(TB_FIFO_SAVE_BUFFER, packet[0].request);
	EXPECT_EQ(1, packet[0].data32);
	close(ch);
}

TEST_DEV(fifo, other_rings_are_the_sessions)
{
	struct tb_packet packet;
	uint32_t seen[2] = { 0 };
	struct tb_ref ref, bad;
	struct tb_query q;
	char buf[BLOCK];
	int ch, n;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, 2 * PER_BLOCK);
	ASSERT_EQ(0, pin(1));
	fire(0, 2 * PER_BLOCK);
	ASSERT_EQ(0, pin(0));
	while ((n = tb_acquire(self->fd, &ref, 1, 0)) == 1) {
		if (ref.ring != TB_RING_DURABLE) {
			ASSERT_GT(2, ref.ring);
			seen[ref.ring]++;
		}
		ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	}
	ASSERT_EQ(0, n);
	EXPECT_EQ(0, seen[0]);
	EXPECT_EQ(2, seen[1]);
	EXPECT_EQ(0, tb_poll(self->fd));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
	/* what the channel has offered only an answer there gives back */
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	bad = (struct tb_ref){ .offset = q.ring_header, .bytes = BLOCK, .ring = 0 };
	EXPECT_EQ(-EINVAL, tb_release(self->fd, &bad, 1));
	EXPECT_EQ(16, answer(ch, packet));
	/* the rest is the session's once the channel is closed */
	close(ch);
	EXPECT_EQ(POLLIN, tb_poll(self->fd) & POLLIN);
	n = tb_acquire(self->fd, &ref, 1, 0);
	ASSERT_EQ(1, n);
	EXPECT_EQ(0, ref.ring);
	EXPECT_EQ(1, tb_release(self->fd, &ref, 1));
}

/* ---- answers that are refused ------------------------------------------- */

TEST_DEV(fifo, wrong_answers_change_nothing)
{
	struct tb_packet packet, bad[16], good;
	static char copy[BLOCK];
	struct tb_stats st, now;
	struct manager m;
	uint32_t n = 0, i;
	int ch;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	/* unsolicited: before anything was told, and before anything was offered */
	memset(&good, 0, sizeof(good));
	EXPECT_EQ(-EINVAL, answer(ch, good));
	ASSERT_STARTED(ch);
	EXPECT_EQ(-EINVAL, answer(ch, good));
	fire(0, 2 * PER_BLOCK);
	/* of an offer that is there but was not read: right by guessing */
	ASSERT_EQ(-1, syscall(SYS_read, ch, (void *)8, 16));
	ASSERT_EQ(EFAULT, errno);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	ASSERT_EQ(1, st.held);
	ASSERT_TRUE(save_durable(&m));
	good.data64 = m.durable;
	EXPECT_EQ(-EINVAL, answer(ch, good));
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	EXPECT_EQ(good.data32, packet.data32);
	EXPECT_EQ(good.data64, packet.data64);
	good = packet;
	good.request = TB_FIFO_BUFFER_SAVED;
#define BAD(field, value) (bad[n] = good, bad[n++].field = (value))
	BAD(data32, packet.data32 + 1);
	BAD(data32, packet.data32 - 1);
	BAD(data32, packet.data32 ^ 1u << 31);
	BAD(data64, packet.data64 + 1);
	BAD(data64, packet.data64 - 8);
	BAD(data64, packet.data64 | 1ull << 32);
	BAD(data64, 0);
	BAD(reserved, 1);
	BAD(reserved, 0x8000);
	BAD(request, 0);
	BAD(request, TB_FIFO_SAVE_BUFFER);
	BAD(request, TB_FIFO_STOPPED);
	BAD(request, 0x101);
	BAD(request, 0xffff);
	memcpy(copy, offered(m.map, &m.q, 0, packet.data32), BLOCK);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(-EINVAL, put(ch, &bad[i], 16)) {
			TH_LOG("packet %u", i);
		}
	}
	/* no whole packets */
	for (i = 1; i < 48; i++) {
		if (i % 16) {
			ASSERT_EQ(-EINVAL, put(ch, &good, i % 16));
			ASSERT_EQ(-EINVAL, put(ch, bad, i));
		}
	}
	EXPECT_EQ(0, put(ch, &good, 0));
	EXPECT_EQ(-1, syscall(SYS_write, ch, (void *)8, 16));
	EXPECT_EQ(EFAULT, errno);
	/* round and round: it stays where it is */
	fire(2 * PER_BLOCK, 10 * PER_BLOCK);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &now));
	EXPECT_EQ(1, now.held);
	EXPECT_EQ(st.delivered, now.delivered);
	EXPECT_EQ(st.bytes, now.bytes);
	ASSERT_BOOKS(&now);
	EXPECT_EQ(0, memcmp(copy, offered(m.map, &m.q, 0, packet.data32), BLOCK));
	/* the right one is taken, once */
	EXPECT_EQ(16, put(ch, &good, 16));
	EXPECT_EQ(-EINVAL, put(ch, &good, 16));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &now));
	EXPECT_EQ(0, now.held);
	EXPECT_EQ(st.bytes + BLOCK, now.bytes);
	/* nor is it an answer to the next */
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	EXPECT_LT(good.data32, packet.data32);
	EXPECT_EQ(-EINVAL, put(ch, &good, 16));
	EXPECT_EQ(16, answer(ch, packet));
	manager_exit(&m);
	close(ch);
}

TEST_DEV(fifo, several_packets_a_write)
{
	struct tb_packet packet[4], first;
	struct tb_query q;
	int ch;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, 3 * PER_BLOCK);
	ASSERT_PACKET(ch, &first, TB_FIFO_SAVE_BUFFER);
	/* in order, up to the bad one */
	first.request = TB_FIFO_BUFFER_SAVED;
	packet[0] = (struct tb_packet){ .request = TB_FIFO_STARTED, .data32 = TB_FIFO_VERSION,
					.data64 = q.generation };
	packet[1] = first;
	packet[2] = first;
	packet[3] = packet[0];
	EXPECT_EQ(32, put(ch, packet, sizeof(packet)));
	EXPECT_EQ(-EINVAL, put(ch, packet + 2, 32));
	ASSERT_PACKET(ch, &first, TB_FIFO_SAVE_BUFFER);
	EXPECT_EQ(1, first.data32);
	EXPECT_EQ(16, answer(ch, first));
	close(ch);
}

TEST_DEV(fifo, late_answers)
{
	struct tb_packet packet, late;
	int ch;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, 2 * PER_BLOCK);
	ASSERT_PACKET(ch, &late, TB_FIFO_SAVE_BUFFER);
	/* to the channel that was there before */
	close(ch);
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	EXPECT_EQ(-EINVAL, answer(ch, late));
	ASSERT_STARTED(ch);
	EXPECT_EQ(-EINVAL, answer(ch, late));
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	EXPECT_EQ(late.data32, packet.data32);
	late = packet;
	/* after the stop it is not late yet; and as long as it is not there nothing begins anew */
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(-EBUSY, tb_start(self->fd, 0));
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, 0, 0, 0, 0));
	ASSERT_TRUE(nothing(ch));
	EXPECT_EQ(16, answer(ch, late));
	/* that was the first of two: the other one is lost with the next start */
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(-EINVAL, answer(ch, late));
	ASSERT_PACKET(ch, &packet, TB_FIFO_STOPPED);
	EXPECT_EQ(TB_REASON_NONE, packet.data32);
	EXPECT_EQ(0, packet.data64);
	ASSERT_STARTED(ch);
	EXPECT_EQ(-EINVAL, answer(ch, late));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STOPPED(ch, TB_REASON_REQUEST);
	EXPECT_EQ(-EINVAL, answer(ch, late));
	close(ch);
}

TEST_DEV(fifo, what_is_discarded_is_told)
{
	struct tb_packet packet;
	int ch;

	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_STARTED(ch);
	fire(0, PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, BUFFERS, ELEMENTS));
	ASSERT_PACKET(ch, &packet, TB_FIFO_STOPPED);
	EXPECT_EQ(TB_REASON_NONE, packet.data32);
	EXPECT_EQ(-ENODATA, get(ch, &packet));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_STARTED(ch);
	close(ch);
}

/* ---- versions ----------------------------------------------------------- */

TEST_DEV(fifo, another_version_closes_it)
{
	struct tb_packet packet, wrong = { .request = TB_FIFO_STARTED };
	struct tb_query q;
	struct tb_stats st;
	struct tb_ref ref;
	int ch, other, rolling = 0;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	/* the right one, of this recording */
	wrong.data32 = TB_FIFO_VERSION;
	wrong.data64 = q.generation + 1;
	EXPECT_EQ(-EINVAL, put(ch, &wrong, 16));
	wrong.data64 = q.generation;
	EXPECT_EQ(16, put(ch, &wrong, 16));
	fire(0, 2 * PER_BLOCK);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	wrong.data32 = TB_FIFO_VERSION + 1;
	EXPECT_EQ(-EPROTO, put(ch, &wrong, 16));
	EXPECT_EQ(-EPROTO, put(ch, &wrong, 16));
	EXPECT_EQ(-EPROTO, answer(ch, packet));
	EXPECT_EQ(-1, read(ch, &packet, 16));
	EXPECT_EQ(EPROTO, errno);
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(ch));
	/* all is the session's again, another channel can be opened */
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(2, st.ready);
	other = fifo_open(self->fd, 0);
	ASSERT_LE(0, other);
	ASSERT_STARTED(other);
	close(other);
	while (tb_acquire(self->fd, &ref, 1, 0) == 1) {
		rolling += ref.ring != TB_RING_DURABLE;
		ASSERT_EQ(1, tb_release(self->fd, &ref, 1));
	}
	EXPECT_EQ(2, rolling);
	close(ch);
}

/* ---- going away --------------------------------------------------------- */

TEST_DEV(fifo, closed_in_the_middle)
{
	struct tb_packet packet;
	struct tb_stats st;
	struct numbers n;
	uint32_t i;
	int ch;

	follow(&n, &self->s);
	ASSERT_EQ(0, record(self->fd, 0, 8));
	fire(0, 4 * PER_BLOCK);
	for (i = 0; i < 3; i++) {
		ch = fifo_open(self->fd, 0);
		ASSERT_LE(0, ch);
		ASSERT_STARTED(ch);
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		ASSERT_EQ(0, packet.data32);
		close(ch);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(0, st.held);
		ASSERT_EQ(4, st.ready);
	}
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(4 * PER_BLOCK, n.count);
	EXPECT_EQ(0, n.wrong);
}

TEST_DEV(fifo, session_closed_first)
{
	struct tb_packet packet;
	struct tb_query q;
	struct numbers n;
	int ch[2], fd;

	follow(&n, &self->s);
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, 0, 8, ELEMENTS));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE | TB_START_STOP_ON_CLOSE));
	ch[0] = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch[0]);
	ch[1] = fifo_open(self->fd, 1);
	ASSERT_LE(0, ch[1]);
	ASSERT_STARTED(ch[0]);
	fire(0, 3 * PER_BLOCK);
	ASSERT_PACKET(ch[0], &packet, TB_FIFO_SAVE_BUFFER);
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	ASSERT_EQ(0, tb_query(fd, &q));
	EXPECT_EQ(TB_STATE_STOPPED, q.state);
	EXPECT_EQ(0, q.reader);
	EXPECT_EQ(-EPIPE, answer(ch[0], packet));
	EXPECT_EQ(-1, read(ch[0], &packet, 16));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(-1, read(ch[1], &packet, 16));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(ch[0]));
	/* what it had offered is the next reader's, and so are the rings */
	close(ch[0]);
	ch[0] = fifo_open(fd, 1);
	EXPECT_LE(0, ch[0]);
	close(ch[0]);
	ASSERT_STREAM(tb_drain(fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(3 * PER_BLOCK, n.count);
	EXPECT_EQ(0, n.wrong);
	close(ch[1]);
}

TEST_DEV(fifo, provider_removed_under_it)
{
	struct tb_provider_req r = { .op = TB_PROVIDER_CREATE, .name = "fifo-test" };
	struct tb_attach a = { .name = "fifo-test" };
	struct tb_packet packet;
	int ch, fd;

	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_PROVIDER, &r));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, TB_IOC_ATTACH, &a));
	ASSERT_EQ(0, tb_configure(fd, TB_MODE_STREAMING, 0, BUFFERS, ELEMENTS));
	ch = fifo_open(fd, 0);
	ASSERT_LE(0, ch);
	close(fd);
	r.op = TB_PROVIDER_DESTROY;
	r.id = 0;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_PROVIDER, &r));
	/* its memory goes with the channel */
	EXPECT_EQ(-1, read(ch, &packet, 16));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(POLLHUP | POLLERR, tb_poll(ch));
	close(ch);
}

TEST_DEV(fifo, dup_and_fork)
{
	struct tb_packet packet;
	struct tb_stats st;
	int ch, other, status;
	pid_t pid;

	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, 2 * PER_BLOCK);
	other = dup(ch);
	ASSERT_LE(0, other);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	close(ch);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(1, st.held);
	EXPECT_EQ(-EBUSY, fifo_open(self->fd, 0));
	/* a child answers, and keeps it open */
	pid = fork();
	if (!pid) {
		if (answer(other, packet) != 16 || get(other, &packet) || packet.data32 != 1)
			_exit(1);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	close(other);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* it went with the child, its offer with it */
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(1, st.ready);
	EXPECT_EQ(BLOCK, st.bytes);
	ch = fifo_open(self->fd, 0);
	EXPECT_LE(0, ch);
	close(ch);
}

/* ---- losing ------------------------------------------------------------- */

TEST_DEV(fifo, two_buffers_drop)
{
	struct tb_packet packet;
	uint32_t round, number, i;
	struct tb_stats st;
	struct manager m;
	struct numbers n;
	int ch;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, &self->s);
		tb_stop(self->fd);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_DROP, 2));
		ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
		ch = fifo_open(self->fd, 0);
		ASSERT_LE(0, ch);
		ASSERT_STARTED(ch);
		/* both are full, the first is not saved yet */
		fire(0, 2 * PER_BLOCK);
		number = 2 * PER_BLOCK;
		for (i = 1; i <= 10; i++) {
			ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
			ASSERT_EQ(i - 1, packet.data32);
			fire(number, i);
			number += i;
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
			ASSERT_BOOKS(&st);
			ASSERT_EQ(0, st.overwritten);
			/* a tie of the clocks, or a TIME element */
			if (st.attempted != number || st.dropped != i * (i + 1) / 2)
				break;
			ASSERT_TRUE(save(&m, 0, &packet)) {
				TH_LOG("%s", self->s.error);
			}
			ASSERT_EQ(16, answer(ch, packet));
			/* room for one: it tells of those that were lost */
			fire(number, PER_BLOCK);
			number += PER_BLOCK;
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
			if (st.attempted != number)
				break;
			EXPECT_EQ(i * PER_BLOCK, st.delivered);
		}
		ASSERT_EQ(0, tb_stop(self->fd));
		while (!get(ch, &packet) && packet.request == TB_FIFO_SAVE_BUFFER) {
			ASSERT_TRUE(save(&m, 0, &packet)) {
				TH_LOG("%s", self->s.error);
			}
			ASSERT_EQ(16, answer(ch, packet));
		}
		ASSERT_EQ(TB_FIFO_STOPPED, packet.request);
		ASSERT_TRUE(save_durable(&m));
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		manager_exit(&m);
		close(ch);
		if (i > 10)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	ASSERT_BOOKS(&st);
	EXPECT_EQ(55, st.dropped);
	EXPECT_EQ(0, st.pending);
	EXPECT_EQ(12 * PER_BLOCK, st.delivered);
	EXPECT_EQ(12 * PER_BLOCK, n.count);
	EXPECT_EQ(55, self->s.ring[0].gap_dropped);
	EXPECT_EQ(10, self->s.ring[0].gaps);
	EXPECT_EQ(0, n.wrong);
	EXPECT_EQ(number, n.next);
}

TEST_DEV(fifo, two_buffers_overwrite)
{
	static char copy[BLOCK];
	struct tb_packet packet;
	uint32_t round, laps = 50;
	struct tb_stats st;
	struct manager m;
	struct numbers n;
	int ch;

	for (round = 0; round < ROUNDS; round++) {
		follow(&n, &self->s);
		tb_stop(self->fd);
		ASSERT_EQ(0, record(self->fd, TB_POLICY_OVERWRITE, 2));
		ASSERT_TRUE(manager_init(&m, self->fd, &self->s));
		ch = fifo_open(self->fd, 0);
		ASSERT_LE(0, ch);
		ASSERT_STARTED(ch);
		fire(0, PER_BLOCK);
		ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
		memcpy(copy, offered(m.map, &m.q, 0, 0), BLOCK);
		/* the other one, over and over */
		fire(PER_BLOCK, laps * PER_BLOCK);
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_BOOKS(&st);
		EXPECT_EQ(0, memcmp(copy, offered(m.map, &m.q, 0, 0), BLOCK));
		EXPECT_EQ(1, st.held);
		EXPECT_EQ(0, st.dropped);
		ASSERT_TRUE(save(&m, 0, &packet)) {
			TH_LOG("%s", self->s.error);
		}
		ASSERT_EQ(16, answer(ch, packet));
		ASSERT_EQ(0, tb_stop(self->fd));
		while (!get(ch, &packet) && packet.request == TB_FIFO_SAVE_BUFFER) {
			ASSERT_TRUE(save(&m, 0, &packet)) {
				TH_LOG("%s", self->s.error);
			}
			ASSERT_EQ(16, answer(ch, packet));
		}
		ASSERT_EQ(TB_FIFO_STOPPED, packet.request);
		ASSERT_TRUE(save_durable(&m));
		ASSERT_STREAM(stream_finish(&self->s), &self->s);
		manager_exit(&m);
		close(ch);
		if (st.attempted == (laps + 1) * PER_BLOCK)
			break;
	}
	ASSERT_GT(ROUNDS, round);
	EXPECT_EQ((laps - 1) * PER_BLOCK, st.overwritten);
	EXPECT_EQ(2 * PER_BLOCK, n.count);
	EXPECT_EQ((laps + 1) * PER_BLOCK, n.next);
	EXPECT_EQ(1, self->s.ring[0].gaps);
	EXPECT_EQ(0, n.wrong);
}

TEST_DEV(fifo, never_answered)
{
	struct tb_packet packet;
	struct tb_stats st;
	int ch, fd;

	ASSERT_EQ(0, record(self->fd, TB_POLICY_OVERWRITE, BUFFERS));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	ASSERT_STARTED(ch);
	fire(0, PER_BLOCK);
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	fire(PER_BLOCK, 1000);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_TRUE(nothing(ch));
	EXPECT_EQ(0, tb_poll(ch) & POLLHUP);
	EXPECT_EQ(-EBUSY, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	ASSERT_BOOKS(&st);
	EXPECT_EQ(0, st.delivered);
	EXPECT_EQ(1, st.held);
	/* its end is the end of that */
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	EXPECT_EQ(0, tb_start(fd, TB_START_NO_STATE));
	close(ch);
}

/* ---- waiting, and many at once ------------------------------------------ */

struct reader {
	pthread_t thread;
	int ch;
	pid_t tid;
	ssize_t n;
	int err;
	struct tb_packet packet;
	bool done;
};

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	__atomic_store_n(&r->tid, gettid(), __ATOMIC_RELEASE);
	r->n = read(r->ch, &r->packet, sizeof(r->packet));
	r->err = errno;
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool reader_start(struct reader *r, int ch)
{
	memset(r, 0, sizeof(*r));
	r->ch = ch;
	if (pthread_create(&r->thread, NULL, reader_main, r))
		return false;
	for (WAIT(__atomic_load_n(&r->tid, __ATOMIC_ACQUIRE)))
		;
	return r->tid && wait_asleep(r->tid) && !r->done;
}

static bool reader_done(struct reader *r)
{
	bool done = false;

	for (WAIT(done))
		done = __atomic_load_n(&r->done, __ATOMIC_ACQUIRE);
	if (done)
		pthread_join(r->thread, NULL);
	return done;
}

static void no_action(int sig)
{
}

TEST_DEV(fifo, sleeps_until_there_is_something)
{
	struct sigaction act = { .sa_handler = no_action };
	static struct reader r;
	struct tb_packet packet;
	int ch, i, fd;

	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	/* a start */
	ASSERT_TRUE(reader_start(&r, ch));
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	ASSERT_TRUE(reader_done(&r));
	ASSERT_EQ(16, r.n);
	EXPECT_EQ(TB_FIFO_STARTED, r.packet.request);
	/* a block, event by event: the mark */
	ASSERT_TRUE(reader_start(&r, ch));
	for (i = 0; i < PER_BLOCK; i++)
		fire(i, 1);
	ASSERT_TRUE(reader_done(&r));
	ASSERT_EQ(16, r.n);
	EXPECT_EQ(TB_FIFO_SAVE_BUFFER, r.packet.request);
	packet = r.packet;
	/* the answer, when there is another */
	fire(PER_BLOCK, 2 * PER_BLOCK);
	ASSERT_TRUE(reader_start(&r, ch));
	ASSERT_EQ(16, answer(ch, packet));
	ASSERT_TRUE(reader_done(&r));
	ASSERT_EQ(16, r.n);
	EXPECT_EQ(TB_FIFO_SAVE_BUFFER, r.packet.request);
	/* a signal */
	ASSERT_TRUE(reader_start(&r, ch));
	ASSERT_EQ(0, pthread_kill(r.thread, SIGUSR1));
	ASSERT_TRUE(reader_done(&r));
	EXPECT_EQ(-1, r.n);
	EXPECT_EQ(EINTR, r.err);
	/* the end of the session */
	ASSERT_TRUE(reader_start(&r, ch));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	ASSERT_TRUE(reader_done(&r));
	EXPECT_EQ(-1, r.n);
	EXPECT_EQ(EPIPE, r.err);
	close(ch);
}

/* Two threads on one channel: one answers whatever comes, one what does not come. */
struct crowd {
	int ch;
	uint32_t saved, started, stopped, refused, wrong;
	bool end;
};

static void *answers_all(void *arg)
{
	struct crowd *c = arg;
	struct tb_packet packet;
	int ret;

	pin(1);
	while (!__atomic_load_n(&c->end, __ATOMIC_ACQUIRE)) {
		struct pollfd p = { .fd = c->ch, .events = POLLIN };

		if (poll(&p, 1, 10) != 1 || !(p.revents & POLLIN))
			continue;
		ret = get(c->ch, &packet);
		if (ret == -EAGAIN)
			continue;
		if (ret)
			c->wrong++;
		else if (packet.request == TB_FIFO_SAVE_BUFFER && answer(c->ch, packet) == 16)
			c->saved++;
		else if (packet.request == TB_FIFO_STARTED)
			c->started++;
		else if (packet.request == TB_FIFO_STOPPED)
			c->stopped++;
		else
			c->wrong++;
	}
	return NULL;
}

static void *answers_nonsense(void *arg)
{
	struct tb_packet packet = { .request = TB_FIFO_BUFFER_SAVED, .data64 = 1 };
	struct crowd *c = arg;

	pin(1);
	while (!__atomic_load_n(&c->end, __ATOMIC_ACQUIRE)) {
		packet.data32++;
		if (put(c->ch, &packet, 16) == -EINVAL)
			c->refused++;
		else
			c->wrong++;
	}
	return NULL;
}

TEST_DEV(fifo, all_at_once)
{
	pthread_t thread[2];
	struct tb_stats st = { 0 };
	struct crowd c = { 0 };
	uint32_t i;

	c.ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, c.ch);
	ASSERT_EQ(0, fcntl(c.ch, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, answers_all, &c));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, answers_nonsense, &c));
	for (i = 0; i < 10; i++) {
		for (WAIT(!tb_configure(self->fd, TB_MODE_STREAMING, 0, BUFFERS, ELEMENTS)))
			;
		ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
		fire(0, 500);
		ASSERT_EQ(0, tb_stop(self->fd));
		/* all that was not overwritten comes to be saved */
		st.pending = 1;
		for (WAIT(!st.pending))
			ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(0, st.pending);
		ASSERT_BOOKS(&st);
		for (WAIT(__atomic_load_n(&c.stopped, __ATOMIC_RELAXED) > i))
			;
	}
	__atomic_store_n(&c.end, true, __ATOMIC_RELEASE);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	EXPECT_EQ(0, c.wrong);
	EXPECT_EQ(10, c.started);
	EXPECT_EQ(10, c.stopped);
	EXPECT_LE(10, c.saved);
	EXPECT_LT(0, c.refused);
	close(c.ch);
}

TEST_HARNESS_MAIN
