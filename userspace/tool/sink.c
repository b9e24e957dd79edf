// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks from the mapping into a file, without a copy in between.
 *
 * Whatever happens, the file ends with a whole block: what a failed write
 * has left of one is cut off again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "addresses.h"

int sink_open(struct sink *sink, const char *path)
{
	struct stat status;

	memset(sink, 0, sizeof(*sink));
	sink->name = strcmp(path, "-") ? path : "standard output";
	if (strcmp(path, "-")) {
		sink->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				0666);
	} else {
		if (isatty(STDOUT_FILENO))
			return complain("a trace is not written to a terminal: redirect standard output, or name a file (-o)");
		sink->fd = dup(STDOUT_FILENO);
	}
	if (sink->fd < 0)
		return complain("%s: cannot be written: %s", sink->name,
				strerror(errno));
	sink->regular = !fstat(sink->fd, &status) && S_ISREG(status.st_mode);
	return EXIT_FINE;
}

/* Forget @part bytes of a block that did not make it as a whole */
static void sink_cut(struct sink *sink, uint64_t part)
{
	off_t end;

	if (!part || !sink->regular)
		return;
	end = lseek(sink->fd, 0, SEEK_CUR);
	if (end >= (off_t)part &&
	    ftruncate(sink->fd, end - (off_t)part) == 0)
		lseek(sink->fd, end - (off_t)part, SEEK_SET);
}

static size_t block_bytes(const struct tb_block *block)
{
	return (size_t)1 << block->size_log2;
}

/* Blocks that were taken and are not in the file */
static void sink_missed(struct sink *sink, const struct tb_block *const *blocks,
			unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (blocks[i]->kind == TB_BLOCK_ROLLING)
			sink->unwritten += blocks[i]->events;
}

static int sink_write(struct sink *sink, const struct tb_block *const *blocks,
		      unsigned int count)
{
	struct iovec vectors[SINK_BATCH];
	unsigned int i, first = 0;
	uint64_t part = 0;	/* of block first, already written */
	ssize_t done;

	if (sink->failed) {
		sink_missed(sink, blocks, count);
		return -EIO;
	}
	for (i = 0; i < count; i++) {
		if (!sink->no_stacks)
			addresses_block(&sink->addresses, blocks[i]);
		vectors[i].iov_base = (void *)(uintptr_t)blocks[i];
		vectors[i].iov_len = block_bytes(blocks[i]);
	}
	while (first < count) {
		done = writev(sink->fd, vectors + first, (int)(count - first));
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			struct pollfd wait = { .fd = sink->fd,
					       .events = POLLOUT };

			poll(&wait, 1, -1);
			continue;
		}
		if (done <= 0) {
			sink->failed = done < 0 ? -errno : -ENOSPC;
			sink_cut(sink, part);
			sink_missed(sink, blocks + first, count - first);
			return -EIO;
		}
		while (first < count && (size_t)done >= vectors[first].iov_len) {
			done -= (ssize_t)vectors[first].iov_len;
			sink->bytes += block_bytes(blocks[first]);
			sink->rolling += blocks[first]->kind == TB_BLOCK_ROLLING;
			part = 0;
			first++;
		}
		if (done) {
			vectors[first].iov_base =
				(char *)vectors[first].iov_base + done;
			vectors[first].iov_len -= (size_t)done;
			part += (uint64_t)done;
		}
	}
	return 0;
}

int sink_blocks(struct sink *sink, const void *data, size_t bytes)
{
	const unsigned char *at = data, *end = at + bytes;
	const struct tb_block *blocks[SINK_BATCH];
	unsigned int count;
	int result = 0;

	while (at < end) {
		for (count = 0; count < SINK_BATCH && at < end; count++) {
			blocks[count] = (const struct tb_block *)at;
			at += block_bytes(blocks[count]);
		}
		result = sink_write(sink, blocks, count);
	}
	return result;
}

/* The addresses in this recording's stacks mean something as long as this kernel runs */
static void put_symbols(struct sink *sink)
{
	void *notes;
	size_t bytes;
	int result;

	if (!sink->addresses)
		return;
	result = sink->failed ? -EIO :
		 addresses_notes(sink->addresses, &notes, &bytes);
	addresses_free(sink->addresses);
	sink->addresses = NULL;
	if (sink->failed)
		return;
	if (result == -ENODATA)
		note("warning: the stacks have addresses only: /proc/kallsyms does not show any (kernel.kptr_restrict)");
	else if (result < 0)
		note("warning: the stacks have addresses only: no symbols: %s",
		     strerror(-result));
	if (result < 0)
		return;
	sink_blocks(sink, notes, bytes);
	free(notes);
}

int sink_close(struct sink *sink)
{
	put_symbols(sink);
	if (sink->fd >= 0 && close(sink->fd) < 0 && !sink->failed)
		sink->failed = -errno;
	sink->fd = -1;
	if (!sink->failed)
		return EXIT_FINE;
	if (sink->failed == -EPIPE)
		return complain("%s was closed by its reader", sink->name);
	return complain("%s: writing failed: %s; the recording ended there, the file is valid up to %llu bytes",
			sink->name, strerror(-sink->failed),
			(unsigned long long)sink->bytes);
}

int sink_move(struct sink *sink, struct tb_device *device, uint32_t flags)
{
	const struct tb_block *blocks[SINK_BATCH];
	struct tb_ref refs[SINK_BATCH];
	int count, i, result, released;

	count = tb_device_acquire(device, refs, SINK_BATCH, flags);
	if (count <= 0)
		return count;
	for (i = 0; i < count; i++)
		blocks[i] = tb_device_block(device, &refs[i]);
	result = sink_write(sink, blocks, (unsigned int)count);
	released = tb_device_release(device, refs, (unsigned int)count);
	if (released < 0)
		return released;
	return result < 0 ? result : count;
}

int sink_put(struct sink *sink, struct tb_device *device,
	     const struct tb_ref *ref)
{
	uint64_t unwritten = sink->unwritten;
	const struct tb_block *block = tb_device_block(device, ref);
	int result = sink_write(sink, &block, 1);

	/* it was not delivered, and stays with who has it */
	sink->unwritten = unwritten;
	return result;
}

int sink_drain(struct sink *sink, struct tb_device *device)
{
	struct pollfd wait = { .fd = tb_device_fd(device), .events = POLLIN };
	unsigned int idle = 0;
	int moved;

	for (;;) {
		moved = sink_move(sink, device, 0);
		if (moved == -ENODATA)
			return 0;
		if (moved < 0)
			return moved;
		if (moved) {
			idle = 0;
			continue;
		}
		if (++idle > 50)	/* 5 s without a block: it never comes */
			return -ETIMEDOUT;
		poll(&wait, 1, 100);
		if (wait.revents & POLLHUP)
			idle += 10;
	}
}
