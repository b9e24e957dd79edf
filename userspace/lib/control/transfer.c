// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whole recordings from the device: its blocks go to a function of the caller, one after the other,
 * and are a trace file.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tracebuf.h>

#define BATCH 16		/* blocks held at once */
#define MEMORY_MIN (4u << 20)	/* bytes: more than a batch of small blocks */
#define PATIENCE_MS 5000	/* for a block that is not complete */

int tb_write_fd(void *context, const void *data, size_t bytes)
{
	const int *fd = context;
	const char *from = data;
	ssize_t written;

	while (bytes) {
		written = write(*fd, from, bytes);
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			from += written;
			bytes -= (size_t)written;
		}
	}
	return 0;
}

/* ---- snapshots ---- */

/**
 * struct copy - copies of blocks on their way from the buffers to the caller
 * @at: memory of @room bytes
 * @used: bytes of copies
 */
struct copy {
	unsigned char *at;
	size_t room;
	size_t used;
	tb_write_blocks *write;
	void *context;
};

/* Allocate room for all blocks if possible, but at most half of the free memory */
static int copy_open(struct copy *copy, const struct tb_query *query)
{
	uint64_t wanted = query->map_bytes + query->durable_bytes;
	uint64_t most = (uint64_t)sysconf(_SC_AVPHYS_PAGES) *
			(uint64_t)sysconf(_SC_PAGESIZE) / 2;
	size_t least = BATCH * (size_t)query->buffer_bytes + MEMORY_MIN;

	copy->used = 0;
	copy->room = wanted < most ? (size_t)wanted : (size_t)most;
	if (copy->room < least)
		copy->room = least;
	copy->at = mmap(NULL, copy->room, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return copy->at == MAP_FAILED ? -ENOMEM : 0;
}

static int copy_write(struct copy *copy)
{
	int result = copy->used ? copy->write(copy->context, copy->at, copy->used) : 0;

	copy->used = 0;
	return result < 0 ? result : 0;
}

/* Copy and release one batch; as tb_device_acquire() */
static int copy_batch(struct copy *copy, struct tb_device *device)
{
	struct tb_ref refs[BATCH];
	int count, i, released, result = 0;
	size_t bytes = 0;

	count = tb_device_acquire(device, refs, BATCH, TB_ACQUIRE_SNAPSHOT);
	if (count <= 0)
		return count;
	for (i = 0; i < count; i++)
		bytes += refs[i].bytes;
	if (bytes > copy->room - copy->used)
		result = copy_write(copy);
	for (i = 0; !result && i < count; i++) {
		memcpy(copy->at + copy->used, tb_device_block(device, &refs[i]), refs[i].bytes);
		copy->used += refs[i].bytes;
	}
	released = tb_device_release(device, refs, (unsigned int)count);
	if (result)
		return result;
	return released < 0 ? released : count;
}

/* Copy all blocks of the snapshot; -ENODATA is the end */
static int copy_all(struct copy *copy, struct tb_device *device)
{
	unsigned int waited = 0;
	int count;

	do {
		count = copy_batch(copy, device);
		if (count)
			waited = 0;
		else if (waited++ == PATIENCE_MS)
			return -ETIMEDOUT;
		else
			poll(NULL, 0, 1);
	} while (count >= 0);
	return count;
}

int tb_device_snapshot(struct tb_device *device, tb_write_blocks *write, void *context)
{
	struct copy copy = { .write = write, .context = context };
	struct tb_query query;
	int result, written;

	result = tb_device_query(device, &query);
	if (result < 0)
		return result;
	if (query.state != TB_STATE_RUNNING || query.mode != TB_MODE_CIRCULAR)
		return -EINVAL;
	result = tb_device_map(device, NULL, NULL);
	if (!result)
		result = copy_open(&copy, &query);
	if (result < 0)
		return result;
	result = copy_all(&copy, device);
	/* also after an error: blocks before it are good */
	written = copy_write(&copy);
	munmap(copy.at, copy.room);
	if (result != -ENODATA)
		return result;
	return written;
}

/* ---- recordings ---- */

/* Write and release the blocks that there are; as tb_device_acquire() */
static int transfer_batch(struct tb_device *device, tb_write_blocks *write, void *context)
{
	struct tb_ref refs[BATCH];
	int count, done = 0, result = 0, released;

	count = tb_device_acquire(device, refs, BATCH, 0);
	while (result >= 0 && done < count) {
		result = write(context, tb_device_block(device, &refs[done]), refs[done].bytes);
		done += result >= 0;
	}
	if (!done)
		return result < 0 ? result : count;
	/* the others stay acquired: another reader gets them when the device is closed */
	released = tb_device_release(device, refs, (unsigned int)done);
	if (result < 0)
		return result;
	return released < 0 ? released : count;
}

int tb_device_transfer(struct tb_device *device, int stop_fd, tb_write_blocks *write,
		       void *context)
{
	struct pollfd fds[] = {
		{ .fd = tb_device_fd(device), .events = POLLIN },
		{ .fd = stop_fd, .events = POLLIN },
	};
	int result = tb_device_map(device, NULL, NULL);

	while (result >= 0) {
		result = transfer_batch(device, write, context);
		if (result < 0)
			break;
		/* also while there are always blocks */
		if (poll(fds, 2, result ? 0 : -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].fd < 0 || !fds[1].revents)
			continue;
		fds[1].fd = -1;
		result = tb_device_stop(device);
		/* another program has stopped it already */
		if (result == -EINVAL)
			result = 0;
	}
	return result == -ENODATA ? 0 : result;
}
