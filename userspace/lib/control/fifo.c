// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Save/saved channels: open one, read and write packets, and find the block that a packet offers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "lib/read/internal.h"

struct tb_channel {
	int fd;
	const unsigned char *buffers;	/* buffers of its ring, in the mapping */
	uint64_t offset;		/* their offset in the mapping */
	uint32_t nr, bytes;
	uint32_t cpu;
};

int tb_channel_open(struct tb_device *device, unsigned int cpu,
		    unsigned int flags, struct tb_channel **out)
{
	struct tb_fifo request = { .cpu = cpu, .version = TB_FIFO_VERSION };
	struct tb_channel *channel;
	struct tb_query query;
	const void *map;
	int result;

	*out = NULL;
	/* map first: the layout cannot change while it is mapped */
	result = tb_device_map(device, &map, NULL);
	if (!result)
		result = tb_device_query(device, &query);
	if (result < 0)
		return result;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	channel->fd = ioctl(tb_device_fd(device), TB_IOC_FIFO, &request);
	if (channel->fd < 0 ||
	    (flags & TB_DEVICE_NONBLOCK &&
	     fcntl(channel->fd, F_SETFL, O_NONBLOCK) < 0)) {
		result = -errno;
		tb_channel_close(channel);
		return result;
	}
	channel->cpu = cpu;
	channel->nr = query.buffers;
	channel->bytes = (uint32_t)query.buffer_bytes;
	channel->offset = cpu * query.ring_stride + query.ring_header;
	channel->buffers = (const unsigned char *)map + channel->offset;
	*out = channel;
	return 0;
}

void tb_channel_close(struct tb_channel *channel)
{
	if (!channel)
		return;
	if (channel->fd >= 0)
		close(channel->fd);
	free(channel);
}

int tb_channel_fd(const struct tb_channel *channel)
{
	return channel->fd;
}

int tb_channel_read(struct tb_channel *channel, struct tb_packet *packet)
{
	ssize_t done;

	do
		done = read(channel->fd, packet, sizeof(*packet));
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	if (done && done != (ssize_t)sizeof(*packet))
		return -EBADMSG;
	return done > 0;
}

int tb_channel_saved(struct tb_channel *channel, const struct tb_packet *offer)
{
	struct tb_packet packet = {
		.request = TB_FIFO_BUFFER_SAVED,
		.data32 = offer->data32,
		.data64 = offer->data64,
	};
	ssize_t done;

	do
		done = write(channel->fd, &packet, sizeof(packet));
	while (done < 0 && errno == EINTR);
	return done < 0 ? -errno : 0;
}

int tb_channel_block(const struct tb_channel *channel,
		     const struct tb_packet *offer, struct tb_ref *ref)
{
	const struct tb_block *block, *found = NULL;
	uint32_t i;

	for (i = 0; i < channel->nr; i++) {
		block = (const struct tb_block *)
			(channel->buffers + (uint64_t)i * channel->bytes);
		if (block->magic != TB_BLOCK_MAGIC ||
		    (uint32_t)block->sequence != offer->data32)
			continue;
		/* a block of an earlier recording may have the same number */
		if (!found || block->time_start > found->time_start)
			found = block;
	}
	if (!found || !(found->flags & TB_BLOCK_COMPLETE))
		return -EBADMSG;
	ref->offset = channel->offset +
		      (uint64_t)((const unsigned char *)found - channel->buffers);
	ref->bytes = channel->bytes;
	ref->ring = channel->cpu;
	return 0;
}
