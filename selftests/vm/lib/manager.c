// SPDX-License-Identifier: GPL-2.0-only
/* A manager of save channels, see manager.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "manager.h"

int record(int fd, uint32_t policy, uint32_t buffers)
{
	int ret = tb_configure(fd, TB_MODE_STREAMING, policy, buffers, ELEMENTS);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

int open_request(int fd, struct tb_fifo f)
{
	int ret = ioctl(fd, TB_IOC_FIFO, &f);

	return ret < 0 ? -errno : ret;
}

int fifo_open(int fd, uint32_t cpu)
{
	return open_request(fd, (struct tb_fifo){ .cpu = cpu, .version = TB_FIFO_VERSION });
}

int get(int ch, struct tb_packet *packet)
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

bool nothing(int ch)
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

int put(int ch, const void *packets, size_t bytes)
{
	ssize_t n = write(ch, packets, bytes);

	return n < 0 ? -errno : (int)n;
}

int answer(int ch, struct tb_packet packet)
{
	packet.request = TB_FIFO_BUFFER_SAVED;
	return put(ch, &packet, sizeof(packet));
}

const struct tb_block *offered(const char *map, const struct tb_query *q, uint32_t cpu,
			       uint32_t wrap)
{
	const struct tb_block *found = NULL;
	uint32_t i;

	for (i = 0; i < q->buffers; i++) {
		const struct tb_block *b = (const void *)(map + cpu * q->ring_stride +
							  q->ring_header + i * q->buffer_bytes);

		/* a block of an earlier recording may have the same number */
		if (b->magic == TB_BLOCK_MAGIC && b->cpu == cpu && (uint32_t)b->sequence == wrap &&
		    (!found || b->time_start > found->time_start))
			found = b;
	}
	return found;
}

bool manager_init(struct manager *m, int fd, struct stream *s)
{
	m->fd = fd;
	m->s = s;
	m->durable = 0;
	m->map = tb_map(fd, &m->bytes);
	return m->map != MAP_FAILED && !tb_query(fd, &m->q);
}

void manager_exit(struct manager *m)
{
	munmap((void *)m->map, m->bytes);
}

bool save_durable(struct manager *m)
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

bool save(struct manager *m, uint32_t cpu, const struct tb_packet *packet)
{
	const struct tb_block *b = offered(m->map, &m->q, cpu, packet->data32);

	return save_durable(m) && b && (b->flags & TB_BLOCK_COMPLETE) &&
	       stream_block(m->s, b, m->q.buffer_bytes);
}

bool manager_finish(struct manager *m, int ch)
{
	struct tb_packet packet;
	bool ok = true;

	while (ok && !get(ch, &packet) && packet.request == TB_FIFO_SAVE_BUFFER)
		ok = save(m, 0, &packet) && answer(ch, packet) == 16;
	ok = ok && packet.request == TB_FIFO_STOPPED && save_durable(m) && stream_finish(m->s);
	manager_exit(m);
	return ok;
}

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

void follow(struct numbers *n, struct stream *s)
{
	stream_free(s);
	*n = (struct numbers){ .s = s };
	s->block = number_block;
	s->event = number_event;
	s->ctx = n;
}
