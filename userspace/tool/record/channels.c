// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manager of save/saved channels: it opens a channel for every ring, and writes the blocks that
 * the channels offer into an output file.
 *
 * Before each offered block it writes the new durable blocks, which have everything that the block
 * needs.  So the file can be read up to any place where it breaks off.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "record.h"
#include "output_file.h"
#include "tool/command/command.h"

#define READY_MAX 64

struct channels {
	struct tb_device *device;
	struct tb_channel **list;
	unsigned int nr;	/* of channels */
	unsigned int going;	/* channels that have not reported the stop yet */
	int poll;		/* epoll file of these */
};

static int open_failed(unsigned int cpu, int result)
{
	switch (-result) {
	case EBUSY:
		return complain("CPU %u: another program reads its blocks already", cpu);
	case EPROTONOSUPPORT:
		return complain("the module does not speak version %d of the save/saved protocol: install module and tools of the same release",
				TB_FIFO_VERSION);
	case ENOTTY:
		return complain("the module has no save/saved channels: leave out --fifo, or load a newer module");
	}
	return complain("CPU %u: no save/saved channel: %s", cpu, strerror(-result));
}

static int watch(struct channels *channels, struct tb_channel *channel)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = channel };

	return epoll_ctl(channels->poll, EPOLL_CTL_ADD, tb_channel_fd(channel),
			 &event) < 0 ? -errno : 0;
}

struct channels *channels_open(struct tb_device *device,
			       const struct tb_query *query)
{
	struct channels *channels = calloc(1, sizeof(*channels));
	struct tb_channel **next;
	unsigned int cpu;
	int result;

	if (channels) {
		channels->poll = epoll_create1(EPOLL_CLOEXEC);
		channels->device = device;
		channels->list = calloc(query->nr_cpus, sizeof(*channels->list));
	}
	if (!channels || channels->poll < 0 || !channels->list) {
		complain("out of memory or descriptors");
		goto fail;
	}
	if (query->mode != TB_MODE_STREAMING) {
		complain("save/saved channels (--fifo) need streaming mode: leave out -m %s",
			 tb_mode_name(query->mode));
		goto fail;
	}
	for (cpu = 0; cpu < query->nr_cpus; cpu++) {
		next = &channels->list[channels->nr];
		result = tb_channel_open(device, cpu, TB_DEVICE_NONBLOCK, next);
		if (result == -EINVAL)
			continue;	/* no CPU has this number */
		if (!result) {
			channels->nr++;
			result = watch(channels, *next);
		}
		if (result < 0) {
			open_failed(cpu, result);
			goto fail;
		}
	}
	channels->going = channels->nr;
	return channels;
fail:
	channels_close(channels);
	return NULL;
}

void channels_close(struct channels *channels)
{
	unsigned int i;

	if (!channels)
		return;
	for (i = 0; i < channels->nr; i++)
		tb_channel_close(channels->list[i]);
	if (channels->poll >= 0)
		close(channels->poll);
	free(channels->list);
	free(channels);
}

int channels_fd(const struct channels *channels)
{
	return channels->poll;
}

static int save(struct channels *channels, struct tb_channel *channel,
		const struct tb_packet *offer, struct output_file *out)
{
	struct tb_ref ref;
	int result;

	do
		result = output_file_move(out, channels->device, 0);
	while (result == OUTPUT_FILE_BATCH);
	if (result < 0 && result != -ENODATA)
		return result;
	result = tb_channel_block(channel, offer, &ref);
	if (!result)
		result = output_file_put(out, channels->device, &ref);
	/* do not confirm a block that is not in the file: it is not delivered */
	if (!result)
		result = tb_channel_saved(channel, offer);
	return result < 0 ? result : 1;
}

/* Process a packet of a channel; the number of blocks saved, or -errno */
static int serve(struct channels *channels, struct tb_channel *channel,
		 struct output_file *out)
{
	struct tb_packet packet;
	int result = tb_channel_read(channel, &packet);

	if (result == -EAGAIN)
		return 0;
	if (result < 0)
		return result;
	if (result && packet.request == TB_FIFO_SAVE_BUFFER)
		return save(channels, channel, &packet, out);
	if (result && packet.request == TB_FIFO_STARTED) {
		if (packet.data32 == TB_FIFO_VERSION)
			return 0;
		complain("the module speaks version %u of the save/saved protocol, this program version %d: install module and tools of the same release",
			 packet.data32, TB_FIFO_VERSION);
		return -EPROTO;
	}
	/* the recording has stopped, and the channel is at its end */
	epoll_ctl(channels->poll, EPOLL_CTL_DEL, tb_channel_fd(channel), NULL);
	channels->going--;
	return 0;
}

int channels_move(struct channels *channels, struct output_file *out)
{
	struct epoll_event ready[READY_MAX];
	int count, i, result, saved = 0;

	if (!channels->going)
		return -ENODATA;
	count = epoll_wait(channels->poll, ready, READY_MAX, 0);
	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < count; i++) {
		result = serve(channels, ready[i].data.ptr, out);
		if (result < 0)
			return result;
		saved += result;
	}
	/* packets without a block: return 1, so that the caller does not wait */
	return saved || !count ? saved : 1;
}

int channels_drain(struct channels *channels, struct output_file *out)
{
	struct pollfd wait = { .fd = channels->poll, .events = POLLIN };
	int moved;

	for (;;) {
		moved = channels_move(channels, out);
		if (moved == -ENODATA)
			break;
		if (moved < 0)
			return moved;
		if (!moved && !poll(&wait, 1, 5000))
			return -ETIMEDOUT;	/* 5 s without a packet: none will come */
	}
	/* the last durable blocks */
	return output_file_drain(out, channels->device);
}
