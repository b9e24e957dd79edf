// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write blocks into the output file, straight from the mapping of the rings unless packed.
 *
 * The file always ends with a whole block: after a failed write it is truncated.  An existing file
 * keeps its contents until the first block is written (sink_begin()).
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
#include "cgroups.h"
#include "direct.h"
#include "mappings.h"
#include "notes.h"
#include "open_files.h"
#include "pack.h"
#include "perf_records.h"
#include "parts.h"
#include "plain.h"
#include "series.h"
#include "sink.h"
#include "tool/command/command.h"

bool sink_make_room(const struct sink *sink, int failure)
{
	return (failure == -ENOSPC || failure == -EDQUOT) && sink->way.series &&
	       series_make_room(sink->way.series, sink->name);
}

/* Open @path for @sink; "-" is standard output; EXIT_* */
static int open_file(struct sink *sink, const char *path)
{
	struct stat status;

	sink->begun = sink->made = sink->old = false;
	sink->name = strcmp(path, "-") ? path : "standard output";
	if (strcmp(path, "-")) {
		/* for the owner only: a trace shows all users' programs, and kernel addresses */
		sink->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		sink->made = sink->fd >= 0;
		if (!sink->made && errno == EEXIST) {
			sink->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
			sink->old = true;
		}
	} else {
		if (isatty(STDOUT_FILENO))
			return complain("a trace is not written to a terminal: redirect standard output, or name a file (-o)");
		sink->fd = plain_stdout();
		if (sink->fd < 0)
			errno = -sink->fd;
	}
	if (sink->fd < 0)
		return complain("%s: cannot be written: %s", sink->name,
				strerror(errno));
	if (fstat(sink->fd, &status) < 0)
		status.st_mode = 0;
	sink->regular = S_ISREG(status.st_mode);
	sink->socket = S_ISSOCK(status.st_mode);
	if (S_ISFIFO(status.st_mode) && strcmp(path, "-"))
		fcntl(sink->fd, F_SETFL, fcntl(sink->fd, F_GETFL) | O_NONBLOCK);
	return EXIT_FINE;
}

int sink_open(struct sink *sink, const char *path)
{
	memset(sink, 0, sizeof(*sink));
	return open_file(sink, path);
}

void sink_begin(struct sink *sink)
{
	if (sink->begun)
		return;
	sink->begun = true;
	if (sink->regular && sink->old && ftruncate(sink->fd, 0) < 0)
		sink->failed = -errno;
}

int sink_use(struct sink *sink, const struct sink_way *way)
{
	sink->way = *way;
	if (way->compress && !sink->pack) {
		sink->pack = pack_open(way->level, way->threads);
		if (!sink->pack)
			return complain("out of memory");
	}
	if (way->direct && !way->compress)
		sink->direct = direct_open(sink, way->block_bytes);
	return EXIT_FINE;
}

static size_t block_bytes(const struct tb_block *block)
{
	return (size_t)1 << block->size_log2;
}

static void count_unwritten(struct sink *sink, const struct tb_block *const *blocks,
			    unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (blocks[i]->kind == TB_BLOCK_ROLLING)
			sink->unwritten += blocks[i]->events;
}

static void piece_add_block(struct piece *piece, const struct tb_block *block)
{
	if (block->kind != TB_BLOCK_ROLLING)
		return;
	piece->rolling++;
	piece->events += block->events;
}

/* @done: out: how many of the blocks are in the file */
static int write_plain(struct sink *sink, const struct tb_block *const *blocks,
		       unsigned int count, unsigned int *done)
{
	struct piece pieces[SINK_BATCH] = { 0 };
	struct iovec vectors[SINK_BATCH];
	unsigned int i;

	for (i = 0; i < count; i++) {
		vectors[i].iov_base = (void *)(uintptr_t)blocks[i];
		vectors[i].iov_len = block_bytes(blocks[i]);
		piece_add_block(&pieces[i], blocks[i]);
	}
	return plain_write(sink, vectors, pieces, count, done);
}

/* Errors go into sink->failed */
static void write_frames(struct sink *sink, const struct frame *frames, unsigned int count)
{
	struct piece pieces[PACK_FRAMES] = { 0 };
	struct iovec vectors[PACK_FRAMES];
	unsigned int i, j, written;

	for (i = 0; i < count; i++) {
		for (j = 0; j < frames[i].count; j++)
			piece_add_block(&pieces[i], frames[i].blocks[j]);
		vectors[i].iov_base = (void *)(uintptr_t)frames[i].data;
		vectors[i].iov_len = frames[i].bytes;
		if (!frames[i].bytes && !sink->failed)
			sink->failed = -ENOMEM;
	}
	if (sink->failed) {
		for (i = 0; i < count; i++)
			sink->unwritten += pieces[i].events;
		return;
	}
	plain_write(sink, vectors, pieces, count, &written);
}

/* Frames are copies: the caller can release all @blocks after this */
static int write_packed(struct sink *sink, const struct tb_block *const *blocks,
			unsigned int count)
{
	struct frame frames[PACK_FRAMES];
	unsigned int i, n;

	while (count && !sink->failed) {
		n = pack_blocks(sink->pack, blocks, count, frames);
		write_frames(sink, frames, n);
		for (i = 0; i < n; i++) {
			blocks += frames[i].count;
			count -= frames[i].count;
		}
	}
	count_unwritten(sink, blocks, count);
	return sink->failed ? -EIO : 0;
}

/* Does more than half of a CPU's ring wait, so that packing might make it lose events? */
static bool is_late(const struct sink *sink, const struct tb_block *const *blocks,
		    unsigned int count)
{
	unsigned int i, j, same;

	/* the file must begin with a frame: readers recognize a packed file by that */
	if (!sink->way.ring_blocks || sink->drained || !sink->bytes)
		return false;
	for (i = 0; i < count && count < SINK_BATCH; i++) {
		for (same = 0, j = i; j < count; j++)
			same += blocks[j]->kind == TB_BLOCK_ROLLING && blocks[j]->cpu == blocks[i]->cpu;
		if (same > sink->way.ring_blocks / 2)
			return true;
	}
	return count == SINK_BATCH;
}

/*
 * Write blocks directly, packed or plain, as the sink is set up.  @device: the blocks are its
 * @refs, and are released when they are written, which may be later.  @owned: the memory that has
 * the blocks, freed when they are written.
 */
static int write_blocks(struct sink *sink, const struct tb_block *const *blocks,
			unsigned int count, struct tb_device *device,
			const struct tb_ref *refs, void *owned)
{
	unsigned int i, done = 0;
	int result = -EIO;

	if (count)
		sink_begin(sink);
	while (sink->direct && direct_room(sink->direct) < count)
		direct_step(sink->direct, true);
	if (sink->failed) {
		count_unwritten(sink, blocks, count);
	} else if (sink->direct) {
		for (i = 0; i < count; i++)
			direct_add(sink->direct, blocks[i], device, refs ? &refs[i] : NULL,
				   i + 1 == count ? owned : NULL);
		if (device || owned)
			direct_step(sink->direct, false);
		else		/* the caller may change its memory after the return */
			direct_finish(sink->direct);
		return sink->failed ? -EIO : sink->refused;
	} else {
		result = sink->pack && !(device && is_late(sink, blocks, count)) ?
			 write_packed(sink, blocks, count) :
			 write_plain(sink, blocks, count, &done);
	}
	free(owned);
	/* closing the device makes blocks available again that were not released */
	if (sink->keep)
		count = done;
	if (device && count) {
		int given = tb_device_release(device, refs, count);

		if (given < 0)
			return given;
	}
	return result;
}

/* ---- notes ---- */

/* Append notes; frees @data */
static void write_notes(struct sink *sink, void *data, size_t bytes)
{
	const struct tb_block *blocks[SINK_BATCH];
	const unsigned char *at = data, *end = at + bytes;
	unsigned int count;

	sink->notes += bytes >> NOTE_LOG2;
	while (at < end) {
		for (count = 0; count < SINK_BATCH && at < end; count++) {
			blocks[count] = (const struct tb_block *)at;
			at += block_bytes(blocks[count]);
		}
		write_blocks(sink, blocks, count, NULL, NULL, at == end ? data : NULL);
	}
	if (!bytes)
		free(data);
}

/* Append the counts of all rings up to here */
static void put_parts(struct sink *sink, uint32_t flags)
{
	size_t bytes;
	void *data;

	if (parts_notes(&sink->parts, flags, sink->notes, &data, &bytes))
		note("%s: out of memory: the file lacks the counts that connect it to the files before and after it", sink->name);
	else
		write_notes(sink, data, bytes);
}

/* Notes need blocks before them, which tell readers the recording that the notes belong to */
static bool has_blocks(const struct sink *sink)
{
	return sink->bytes || (sink->direct && direct_waiting(sink->direct));
}

/* Append the counts that the rings had before this file, once the file has blocks */
static void put_beginning(struct sink *sink)
{
	if (!sink->continued || !has_blocks(sink))
		return;
	sink->continued = false;
	put_parts(sink, 0);
}

/* Append names of kernel addresses: the addresses have a meaning only while this kernel runs */
static void put_symbols(struct sink *sink)
{
	void *notes;
	size_t bytes;
	int result;

	if (!sink->addresses)
		return;
	result = sink->failed ? -EIO :
		 addresses_notes(sink->addresses, sink->notes, &notes, &bytes);
	if (sink->failed)
		return;
	if (result == -ENODATA)
		note("warning: addresses of the kernel have no names: /proc/kallsyms hides the addresses of functions (kernel.kptr_restrict)");
	else if (result < 0)
		note("warning: addresses of the kernel have no names: cannot read the kernel's symbols: %s",
		     strerror(-result));
	if (result < 0)
		return;
	write_notes(sink, notes, bytes);
}

static void put_cgroups(struct sink *sink)
{
	size_t bytes;
	void *data;

	if (!sink->failed && sink->cgroups &&
	    !cgroups_notes(sink->cgroups, sink->notes, &data, &bytes))
		write_notes(sink, data, bytes);
}

/* Append the files that processes had open when the recording started: in its first file only */
static void put_open_files(struct sink *sink)
{
	size_t bytes;
	void *data;

	if (!sink->open_files)
		return;
	sink->files_left_out = open_files_stop(sink->open_files);
	if (!sink->failed && has_blocks(sink) &&
	    !open_files_notes(sink->open_files, sink->notes, sink->provider, &data, &bytes))
		write_notes(sink, data, bytes);
	open_files_free(sink->open_files);
	sink->open_files = NULL;
}

static void put_mappings(struct sink *sink)
{
	struct mappings *mappings = sink->mappings;
	void *notes;
	size_t bytes;
	int result = -ENOMEM;

	if (sink->failed || !addresses_user(sink->addresses))
		return;
	if (!mappings)
		mappings = mappings_open();
	if (mappings)
		result = addresses_mappings(sink->addresses, mappings, sink->notes, &notes, &bytes);
	if (mappings != sink->mappings)
		mappings_close(mappings);
	if (result < 0)
		note("warning: user stacks have addresses without names: %s", strerror(-result));
	else
		write_notes(sink, notes, bytes);
}

/* ---- blocks ---- */

/* Collect what later notes need of these blocks, before they are released */
static void collect_for_notes(struct sink *sink, const struct tb_block *const *blocks,
			      unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		sink->provider = blocks[i]->provider;
		if (!sink->other_boot) {
			addresses_block(&sink->addresses, blocks[i], !sink->no_stacks);
			cgroups_block(&sink->cgroups, blocks[i]);
		}
		if (sink->way.parts && blocks[i]->kind == TB_BLOCK_ROLLING)
			parts_block(&sink->parts, blocks[i]);
	}
}

static unsigned int count_before_rolling(const struct tb_block *const *blocks,
					 unsigned int count)
{
	unsigned int i = 0;

	while (i < count && blocks[i]->kind != TB_BLOCK_ROLLING)
		i++;
	return i;
}

/* Write blocks, and note what they have; see write_blocks().  Returns 0 or the first error */
static int take_blocks(struct sink *sink, const struct tb_block *const *blocks,
		       unsigned int count, struct tb_device *device, const struct tb_ref *refs)
{
	unsigned int first = 0;
	int result = 0, rest;

	if (sink->continued) {
		first = count_before_rolling(blocks, count);
		collect_for_notes(sink, blocks, first);
		result = write_blocks(sink, blocks, first, device, refs, NULL);
		if (first < count)
			put_beginning(sink);
	}
	collect_for_notes(sink, blocks + first, count - first);
	rest = write_blocks(sink, blocks + first, count - first, device,
			    refs ? refs + first : NULL, NULL);
	return result < 0 ? result : rest;
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
		result = take_blocks(sink, blocks, count, NULL, NULL);
	}
	return result;
}

/* How many blocks to acquire, so that the file gets hardly longer than way.most */
static unsigned int batch(const struct sink *sink)
{
	uint64_t left;

	if (!sink->way.most)
		return SINK_BATCH;
	left = sink_size(sink) < sink->way.most ?
	       (sink->way.most - sink_size(sink)) / sink->way.block_bytes : 0;
	return left < 1 ? 1 : left < SINK_BATCH ? (unsigned int)left : SINK_BATCH;
}

int sink_move(struct sink *sink, struct tb_device *device, uint32_t flags)
{
	const struct tb_block *blocks[SINK_BATCH];
	struct tb_ref refs[SINK_BATCH];
	int count, i, result;

	if (sink->direct)
		direct_step(sink->direct, false);
	if (!sink_ready(sink))
		return 0;
	count = tb_device_acquire(device, refs, batch(sink), flags);
	if (count <= 0)
		return count;
	for (i = 0; i < count; i++)
		blocks[i] = tb_device_block(device, &refs[i]);
	result = take_blocks(sink, blocks, (unsigned int)count, device, refs);
	return result < 0 ? result : count;
}

int sink_put(struct sink *sink, struct tb_device *device,
	     const struct tb_ref *ref)
{
	uint64_t unwritten = sink->unwritten;
	const struct tb_block *block = tb_device_block(device, ref);
	int result = take_blocks(sink, &block, 1, NULL, NULL);

	/* a block that could not be written stays with the caller, and is not delivered */
	sink->unwritten = unwritten;
	return result;
}

int sink_drain(struct sink *sink, struct tb_device *device)
{
	struct pollfd wait = { .fd = tb_device_fd(device), .events = POLLIN };
	unsigned int idle = 0;
	int moved;

	sink->drained = true;
	for (;;) {
		moved = sink_move(sink, device, 0);
		if (moved == -ENODATA && sink->direct)
			direct_finish(sink->direct);
		if (moved == -ENODATA)
			return sink->failed ? -EIO : sink->refused;
		if (moved < 0)
			return moved;
		if (moved) {
			idle = 0;
			continue;
		}
		if (!sink_ready(sink)) {
			sink_wait(sink);
			continue;
		}
		if (++idle > 50)	/* 5 s without a block: it will not come */
			return -ETIMEDOUT;
		poll(&wait, 1, 100);
		if (wait.revents & POLLHUP)
			idle += 10;
	}
}

bool sink_ready(const struct sink *sink)
{
	return !sink->direct || direct_room(sink->direct) >= SINK_BATCH;
}

int sink_fd(const struct sink *sink)
{
	return sink->direct ? direct_fd(sink->direct) : -1;
}

void sink_wait(struct sink *sink)
{
	if (sink->direct)
		direct_step(sink->direct, true);
}

void sink_describe(const struct sink *sink)
{
	char text[256];

	if (sink->direct)
		note("%s: %s", sink->name, direct_way(sink->direct, text));
	else
		note("%s: write()%s", sink->name, !sink->pack ? "" :
		     ", packed: frames of any length, so no O_DIRECT");
}

uint64_t sink_size(const struct sink *sink)
{
	return sink->bytes + (sink->direct ? direct_waiting(sink->direct) : 0);
}

/* ---- the end of a file ---- */

/*
 * Append the notes and close the file.  @sync: wait until it is on the disk: only for the last
 * file, because the rings fill meanwhile.  Returns 0 or the first -errno
 */
static int end_file(struct sink *sink, bool sync)
{
	if (sink->fd < 0) {
		put_open_files(sink);
		return sink->failed;
	}
	if (sink->begun) {
		sink_perf_step(sink);
		put_beginning(sink);
		put_symbols(sink);
		put_mappings(sink);
		put_cgroups(sink);
	}
	put_open_files(sink);
	addresses_free(sink->addresses);
	sink->addresses = NULL;
	direct_close(sink->direct);
	sink->direct = NULL;
	/* errors of the disk appear only here if the page cache took the writes */
	if (sync && sink->begun && sink->regular && fsync(sink->fd) < 0 && !sink->failed)
		sink->failed = -errno;
	if (close(sink->fd) < 0 && !sink->failed)
		sink->failed = -errno;
	sink->fd = -1;
	sink->total += sink->bytes;
	return sink->failed;
}

int sink_next(struct sink *sink, const char *path)
{
	struct sink next = *sink;

	if (open_file(&next, path))
		return EXIT_WRONG;
	put_beginning(sink);
	put_parts(sink, TB_PART_END);
	if (end_file(sink, false)) {
		close(next.fd);
		if (next.made)
			unlink(path);
		return EXIT_FINE;	/* sink_close() says what failed */
	}
	next.addresses = NULL;
	next.open_files = NULL;
	next.files_left_out = sink->files_left_out;
	next.direct = NULL;
	next.bytes = next.notes = 0;
	next.total = sink->total;
	next.rolling = sink->rolling;
	next.continued = true;
	*sink = next;
	sink_begin(sink);
	return sink_use(sink, &next.way);
}

int sink_close(struct sink *sink)
{
	if (sink->fd >= 0 && sink->made && !sink->begun)
		unlink(sink->name);
	end_file(sink, true);
	perf_records_close(sink->perf);
	sink->perf = NULL;
	mappings_close(sink->mappings);
	sink->mappings = NULL;
	cgroups_free(sink->cgroups);
	sink->cgroups = NULL;
	parts_free(&sink->parts);
	pack_close(sink->pack);
	sink->pack = NULL;
	if (!sink->failed)
		return EXIT_FINE;
	if (sink->failed == -EPIPE)
		return complain("%s was closed by its reader", sink->name);
	if (sink->failed == -ETIMEDOUT)
		return complain("%s: its reader does not read: the recording ended after %llu bytes",
				sink->name, (unsigned long long)sink->bytes);
	return complain("%s: writing failed: %s; the recording ended there, the file is valid up to %llu bytes",
			sink->name, strerror(-sink->failed),
			(unsigned long long)sink->bytes);
}
