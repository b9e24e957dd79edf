// SPDX-License-Identifier: GPL-2.0-only
/*
 * The save channel offers each block once, and a manager's wrong answer changes nothing. If a test
 * fails, a program that saves blocks by channels misses blocks, or a wrong answer loses one.
 */
#include <stddef.h>

#include "manager.h"
#include "tbtest.h"

DEVICE_FIXTURE(fifo)

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
	/* the channel would be left without its ring */
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
	/* a session is the reader as long as it is open */
	EXPECT_EQ(-EBUSY, fifo_open(fd, 0));
	close(self->fd);
	self->fd = fd;
	ch[0] = fifo_open(fd, 0);
	EXPECT_LE(0, ch[0]);
	close(ch[0]);
}

/* ---- packets ----------------------------------------------------------- */

TEST_DEV(fifo, started_is_the_first)
{
	int ch = fifo_open(self->fd, 0), other;

	ASSERT_LE(0, ch);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, record(self->fd, 0, BUFFERS));
	fire(0, 2 * PER_BLOCK);
	ASSERT_STARTED(ch);
	/* the recording runs already */
	other = fifo_open(self->fd, 1);
	ASSERT_LE(0, other);
	ASSERT_STARTED(other);
	ASSERT_TRUE(nothing(other));
	/* once for each channel */
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
		/* no second offer before the answer */
		ASSERT_TRUE(nothing(ch));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(1, st.held);
		ASSERT_TRUE(save(&m, 0, &packet)) {
			TH_LOG("%s", self->s.error);
		}
		/* data64 is exactly the durable bytes that the block needs */
		ASSERT_EQ(m.durable, packet.data64);
		ASSERT_EQ(16, answer(ch, packet));
		ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
		ASSERT_EQ(0, st.held);
		ASSERT_EQ((i + 1) * BLOCK, st.bytes);
		ASSERT_ACCOUNTING(&st);
	}
	/* three more blocks, the last not full, are offered after the stop, one by one */
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

/* Counts the records of one thread. */
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
		/* the thread exists when the block is written, and is gone when it is offered */
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
	/* a block that is flushed on demand is offered, too */
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
	/* a bad address loses nothing */
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
	/* only an answer in the channel releases the offered block */
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	bad = (struct tb_ref){ .offset = q.ring_header, .bytes = BLOCK, .ring = 0 };
	EXPECT_EQ(-EINVAL, tb_release(self->fd, &bad, 1));
	EXPECT_EQ(16, answer(ch, packet));
	/* when the channel is closed the session gets the rest */
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
	/* unsolicited: before STARTED was read, and before a block was offered */
	memset(&good, 0, sizeof(good));
	EXPECT_EQ(-EINVAL, answer(ch, good));
	ASSERT_STARTED(ch);
	EXPECT_EQ(-EINVAL, answer(ch, good));
	fire(0, 2 * PER_BLOCK);
	/* guessed right: the block is offered, but the packet was not read */
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
	/* parts of packets */
	for (i = 1; i < 48; i++) {
		if (i % 16) {
			ASSERT_EQ(-EINVAL, put(ch, &good, i % 16));
			ASSERT_EQ(-EINVAL, put(ch, bad, i));
		}
	}
	EXPECT_EQ(0, put(ch, &good, 0));
	EXPECT_EQ(-1, syscall(SYS_write, ch, (void *)8, 16));
	EXPECT_EQ(EFAULT, errno);
	/* the writer goes around the ring, and the offered block stays */
	fire(2 * PER_BLOCK, 10 * PER_BLOCK);
	ASSERT_TRUE(nothing(ch));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &now));
	EXPECT_EQ(1, now.held);
	EXPECT_EQ(st.delivered, now.delivered);
	EXPECT_EQ(st.bytes, now.bytes);
	ASSERT_ACCOUNTING(&now);
	EXPECT_EQ(0, memcmp(copy, offered(m.map, &m.q, 0, packet.data32), BLOCK));
	/* the right answer is accepted once */
	EXPECT_EQ(16, put(ch, &good, 16));
	EXPECT_EQ(-EINVAL, put(ch, &good, 16));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &now));
	EXPECT_EQ(0, now.held);
	EXPECT_EQ(st.bytes + BLOCK, now.bytes);
	/* it does not answer the next offer */
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
	/* the answers count in order, up to the first bad one */
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
	/* an answer to an offer of the closed channel */
	close(ch);
	ch = fifo_open(self->fd, 0);
	ASSERT_LE(0, ch);
	EXPECT_EQ(-EINVAL, answer(ch, late));
	ASSERT_STARTED(ch);
	EXPECT_EQ(-EINVAL, answer(ch, late));
	ASSERT_PACKET(ch, &packet, TB_FIFO_SAVE_BUFFER);
	EXPECT_EQ(late.data32, packet.data32);
	late = packet;
	/* the stop does not end the offer; until it is answered nothing starts */
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(-EBUSY, tb_start(self->fd, 0));
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, 0, 0, 0, 0));
	ASSERT_TRUE(nothing(ch));
	EXPECT_EQ(16, answer(ch, late));
	/* the second block is lost with the next start */
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

TEST_HARNESS_MAIN
