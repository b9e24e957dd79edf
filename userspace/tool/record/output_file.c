// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write blocks into the output file, straight from the mapping of the rings unless packed.
 *
 * The file always ends with a whole block: after a failed write it is truncated.  An existing file
 * keeps its contents until the first block is written (output_file_begin()).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "addresses.h"
#include "cgroups.h"
#include "disks.h"
#include "direct.h"
#include "mappings.h"
#include "notes.h"
#include "open_files.h"
#include "pack.h"
#include "perf_records.h"
#include "continuation.h"
#include "plain.h"
#include "rotation.h"
#include "output_file.h"
#include "tool/command/command.h"

bool output_file_make_room(const struct output_file *out, int failure)
{
	return (failure == -ENOSPC || failure == -EDQUOT) && out->options.rotation &&
	       rotation_make_room(out->options.rotation, out->name);
}

/* Open @path for @out; "-" is standard output; EXIT_* */
static int open_file(struct output_file *out, const char *path)
{
	struct stat status;

	out->begun = out->made = out->old = false;
	out->name = strcmp(path, "-") ? path : "standard output";
	if (strcmp(path, "-")) {
		/* for the owner only: a trace shows all users' programs, and kernel addresses */
		out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		out->made = out->fd >= 0;
		if (!out->made && errno == EEXIST) {
			out->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
			out->old = true;
		}
	} else {
		if (isatty(STDOUT_FILENO))
			return complain("a trace is not written to a terminal: redirect standard output, or name a file (-o)");
		out->fd = plain_stdout();
		if (out->fd < 0)
			errno = -out->fd;
	}
	if (out->fd < 0)
		return complain("%s: cannot be written: %s", out->name,
				strerror(errno));
	if (fstat(out->fd, &status) < 0)
		status.st_mode = 0;
	out->regular = S_ISREG(status.st_mode);
	out->socket = S_ISSOCK(status.st_mode);
	if (S_ISFIFO(status.st_mode) && strcmp(path, "-"))
		fcntl(out->fd, F_SETFL, fcntl(out->fd, F_GETFL) | O_NONBLOCK);
	return EXIT_FINE;
}

int output_file_open(struct output_file *out, const char *path)
{
	memset(out, 0, sizeof(*out));
	/* write() shall fail: without a reader, and at RLIMIT_FSIZE as on a full disk */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return open_file(out, path);
}

bool output_file_has_data(const struct output_file *out)
{
	struct stat status;

	return out->regular && out->old && !fstat(out->fd, &status) && status.st_size;
}

void output_file_begin(struct output_file *out)
{
	if (out->begun)
		return;
	out->begun = true;
	if (out->regular && out->old && ftruncate(out->fd, 0) < 0)
		out->failed = -errno;
}

int output_file_use(struct output_file *out, const struct output_file_options *options)
{
	out->options = *options;
	if (options->compress && !out->pack) {
		out->pack = pack_open(options->level, options->threads);
		if (!out->pack)
			return complain("out of memory");
	}
	if (options->direct && !options->compress)
		out->direct = direct_open(out, options->block_bytes);
	return EXIT_FINE;
}

static size_t block_bytes(const struct tb_block *block)
{
	return (size_t)1 << block->size_log2;
}

static void count_unwritten(struct output_file *out, const struct tb_block *const *blocks,
			    unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (blocks[i]->kind == TB_BLOCK_ROLLING)
			out->unwritten += blocks[i]->events;
}

static void piece_add_block(struct piece *piece, const struct tb_block *block)
{
	if (block->kind != TB_BLOCK_ROLLING)
		return;
	piece->rolling++;
	piece->events += block->events;
}

/* @done: out: how many of the blocks are in the file */
static int write_plain(struct output_file *out, const struct tb_block *const *blocks,
		       unsigned int count, unsigned int *done)
{
	struct piece pieces[OUTPUT_FILE_BATCH] = { 0 };
	struct iovec vectors[OUTPUT_FILE_BATCH];
	unsigned int i;

	for (i = 0; i < count; i++) {
		vectors[i].iov_base = (void *)(uintptr_t)blocks[i];
		vectors[i].iov_len = block_bytes(blocks[i]);
		piece_add_block(&pieces[i], blocks[i]);
	}
	return plain_write(out, vectors, pieces, count, done);
}

/* Errors go into out->failed */
static void write_frames(struct output_file *out, const struct frame *frames, unsigned int count)
{
	struct piece pieces[PACK_FRAMES] = { 0 };
	struct iovec vectors[PACK_FRAMES];
	unsigned int i, j, written;

	for (i = 0; i < count; i++) {
		for (j = 0; j < frames[i].count; j++)
			piece_add_block(&pieces[i], frames[i].blocks[j]);
		vectors[i].iov_base = (void *)(uintptr_t)frames[i].data;
		vectors[i].iov_len = frames[i].bytes;
		if (!frames[i].bytes && !out->failed)
			out->failed = -ENOMEM;
	}
	if (out->failed) {
		for (i = 0; i < count; i++)
			out->unwritten += pieces[i].events;
		return;
	}
	plain_write(out, vectors, pieces, count, &written);
}

/* Frames are copies: the caller can release all @blocks after this */
static int write_packed(struct output_file *out, const struct tb_block *const *blocks,
			unsigned int count)
{
	struct frame frames[PACK_FRAMES];
	unsigned int i, n;

	while (count && !out->failed) {
		n = pack_blocks(out->pack, blocks, count, frames);
		write_frames(out, frames, n);
		for (i = 0; i < n; i++) {
			blocks += frames[i].count;
			count -= frames[i].count;
		}
	}
	count_unwritten(out, blocks, count);
	return out->failed ? -EIO : 0;
}

/* Does more than half of a CPU's ring wait, so that packing might make it lose events? */
static bool is_late(const struct output_file *out, const struct tb_block *const *blocks,
		    unsigned int count)
{
	unsigned int i, j, same;

	/* the file must begin with a frame: readers recognize a packed file by that */
	if (!out->options.ring_blocks || out->drained || !out->bytes)
		return false;
	for (i = 0; i < count && count < OUTPUT_FILE_BATCH; i++) {
		for (same = 0, j = i; j < count; j++)
			same += blocks[j]->kind == TB_BLOCK_ROLLING &&
				blocks[j]->cpu == blocks[i]->cpu;
		if (same > out->options.ring_blocks / 2)
			return true;
	}
	return count == OUTPUT_FILE_BATCH;
}

/*
 * Write blocks directly, packed or plain, as the options say.  @device: the blocks are its
 * @refs, and are released when they are written, which may be later.  @owned: the memory that has
 * the blocks, freed when they are written.
 */
static int write_blocks(struct output_file *out, const struct tb_block *const *blocks,
			unsigned int count, struct tb_device *device,
			const struct tb_ref *refs, void *owned)
{
	unsigned int i, done = 0;
	int result = -EIO;

	if (count)
		output_file_begin(out);
	while (out->direct && direct_room(out->direct) < count)
		direct_step(out->direct, true);
	if (out->failed) {
		count_unwritten(out, blocks, count);
	} else if (out->direct) {
		for (i = 0; i < count; i++)
			direct_add(out->direct, blocks[i], device, refs ? &refs[i] : NULL,
				   i + 1 == count ? owned : NULL);
		if (device || owned)
			direct_step(out->direct, false);
		else		/* the caller may change its memory after the return */
			direct_finish(out->direct);
		return out->failed ? -EIO : out->refused;
	} else {
		result = out->pack && !(device && is_late(out, blocks, count)) ?
			 write_packed(out, blocks, count) :
			 write_plain(out, blocks, count, &done);
	}
	free(owned);
	/* closing the device makes blocks available again that were not released */
	if (out->keep)
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
static void write_notes(struct output_file *out, void *data, size_t bytes)
{
	const struct tb_block *blocks[OUTPUT_FILE_BATCH];
	const unsigned char *at = data, *end = at + bytes;
	unsigned int count;

	out->notes += bytes >> NOTE_LOG2;
	while (at < end) {
		for (count = 0; count < OUTPUT_FILE_BATCH && at < end; count++) {
			blocks[count] = (const struct tb_block *)at;
			at += block_bytes(blocks[count]);
		}
		write_blocks(out, blocks, count, NULL, NULL, at == end ? data : NULL);
	}
	if (!bytes)
		free(data);
}

/* Append the counts of all rings up to here */
static void put_parts(struct output_file *out, uint32_t flags)
{
	size_t bytes;
	void *data;

	if (continuation_notes(&out->continuation, flags, out->notes, &data, &bytes))
		note("%s: out of memory: the file lacks the counts that connect it to the files before and after it", out->name);
	else
		write_notes(out, data, bytes);
}

/* Notes need blocks before them, which tell readers the recording that the notes belong to */
static bool has_blocks(const struct output_file *out)
{
	return out->bytes || (out->direct && direct_waiting(out->direct));
}

/* Append the counts that the rings had before this file, once the file has blocks */
static void put_beginning(struct output_file *out)
{
	if (!out->continued || !has_blocks(out))
		return;
	out->continued = false;
	put_parts(out, 0);
}

/* Append names of kernel addresses: the addresses have a meaning only while this kernel runs */
static void put_symbols(struct output_file *out)
{
	void *notes;
	size_t bytes;
	int result;

	if (!out->addresses)
		return;
	result = out->failed ? -EIO :
		 addresses_notes(out->addresses, out->notes, &notes, &bytes);
	if (out->failed)
		return;
	if (result == -ENODATA)
		note("warning: addresses of the kernel have no names: /proc/kallsyms hides the addresses of functions (kernel.kptr_restrict)");
	else if (result < 0)
		note("warning: addresses of the kernel have no names: cannot read the kernel's symbols: %s",
		     strerror(-result));
	if (result < 0)
		return;
	write_notes(out, notes, bytes);
}

/* Append the names of cgroups and disks */
static void put_names(struct output_file *out)
{
	struct notes notes = { .first = out->notes, .provider = out->provider };

	if (out->failed)
		return;
	if (!cgroups_notes(out->cgroups, &notes) && !disks_notes(out->disks, &notes) &&
	    notes.data)
		write_notes(out, notes.data, notes_bytes(&notes));
	else
		free(notes.data);
}

/* Append the files that processes had open when the recording started: in its first file only */
static void put_open_files(struct output_file *out)
{
	size_t bytes;
	void *data;

	if (!out->open_files)
		return;
	out->files_left_out = open_files_stop(out->open_files);
	if (!out->failed && has_blocks(out) &&
	    !open_files_notes(out->open_files, out->notes, out->provider, &data, &bytes))
		write_notes(out, data, bytes);
	open_files_free(out->open_files);
	out->open_files = NULL;
}

static void put_mappings(struct output_file *out)
{
	struct mappings *mappings = out->mappings;
	void *notes;
	size_t bytes;
	int result = -ENOMEM;

	if (out->failed || !addresses_user(out->addresses))
		return;
	if (!mappings)
		mappings = mappings_open();
	if (mappings)
		result = addresses_mappings(out->addresses, mappings, out->notes, &notes, &bytes);
	if (mappings != out->mappings)
		mappings_close(mappings);
	if (result < 0)
		note("warning: user stacks have addresses without names: %s", strerror(-result));
	else
		write_notes(out, notes, bytes);
}

/* ---- blocks ---- */

/* Collect what later notes need of these blocks, before they are released */
static void collect_for_notes(struct output_file *out, const struct tb_block *const *blocks,
			      unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		out->provider = blocks[i]->provider;
		if (!out->other_boot) {
			addresses_block(&out->addresses, blocks[i], !out->no_stacks);
			cgroups_block(&out->cgroups, blocks[i]);
			disks_block(&out->disks, blocks[i]);
		}
		if (out->options.rotated && blocks[i]->kind == TB_BLOCK_ROLLING)
			continuation_block(&out->continuation, blocks[i]);
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
static int take_blocks(struct output_file *out, const struct tb_block *const *blocks,
		       unsigned int count, struct tb_device *device, const struct tb_ref *refs)
{
	unsigned int first = 0;
	int result = 0, rest;

	if (out->continued) {
		first = count_before_rolling(blocks, count);
		collect_for_notes(out, blocks, first);
		result = write_blocks(out, blocks, first, device, refs, NULL);
		if (first < count)
			put_beginning(out);
	}
	collect_for_notes(out, blocks + first, count - first);
	rest = write_blocks(out, blocks + first, count - first, device,
			    refs ? refs + first : NULL, NULL);
	return result < 0 ? result : rest;
}

int output_file_blocks(struct output_file *out, const void *data, size_t bytes)
{
	const unsigned char *at = data, *end = at + bytes;
	const struct tb_block *blocks[OUTPUT_FILE_BATCH];
	unsigned int count;
	int result = 0;

	while (at < end) {
		for (count = 0; count < OUTPUT_FILE_BATCH && at < end; count++) {
			blocks[count] = (const struct tb_block *)at;
			at += block_bytes(blocks[count]);
		}
		result = take_blocks(out, blocks, count, NULL, NULL);
	}
	return result;
}

/* How many blocks to acquire, so that the file gets hardly longer than options.most */
static unsigned int batch(const struct output_file *out)
{
	uint64_t left;

	if (!out->options.most)
		return OUTPUT_FILE_BATCH;
	left = output_file_size(out) < out->options.most ?
	       (out->options.most - output_file_size(out)) / out->options.block_bytes : 0;
	return left < 1 ? 1 : left < OUTPUT_FILE_BATCH ? (unsigned int)left : OUTPUT_FILE_BATCH;
}

int output_file_move(struct output_file *out, struct tb_device *device, uint32_t flags)
{
	const struct tb_block *blocks[OUTPUT_FILE_BATCH];
	struct tb_ref refs[OUTPUT_FILE_BATCH];
	int count, i, result;

	if (out->direct)
		direct_step(out->direct, false);
	if (!output_file_ready(out))
		return 0;
	count = tb_device_acquire(device, refs, batch(out), flags);
	if (count <= 0)
		return count;
	for (i = 0; i < count; i++)
		blocks[i] = tb_device_block(device, &refs[i]);
	result = take_blocks(out, blocks, (unsigned int)count, device, refs);
	return result < 0 ? result : count;
}

int output_file_put(struct output_file *out, struct tb_device *device,
		    const struct tb_ref *ref)
{
	uint64_t unwritten = out->unwritten;
	const struct tb_block *block = tb_device_block(device, ref);
	int result = take_blocks(out, &block, 1, NULL, NULL);

	/* a block that could not be written stays with the caller, and is not delivered */
	out->unwritten = unwritten;
	return result;
}

int output_file_drain(struct output_file *out, struct tb_device *device)
{
	struct pollfd wait = { .fd = tb_device_fd(device), .events = POLLIN };
	unsigned int idle = 0;
	int moved;

	out->drained = true;
	for (;;) {
		moved = output_file_move(out, device, 0);
		if (moved == -ENODATA && out->direct)
			direct_finish(out->direct);
		if (moved == -ENODATA)
			return out->failed ? -EIO : out->refused;
		if (moved < 0)
			return moved;
		if (moved) {
			idle = 0;
			continue;
		}
		if (!output_file_ready(out)) {
			output_file_wait(out);
			continue;
		}
		if (++idle > 50)	/* 5 s without a block: it will not come */
			return -ETIMEDOUT;
		poll(&wait, 1, 100);
		if (wait.revents & POLLHUP)
			idle += 10;
	}
}

bool output_file_ready(const struct output_file *out)
{
	return !out->direct || direct_room(out->direct) >= OUTPUT_FILE_BATCH;
}

int output_file_fd(const struct output_file *out)
{
	return out->direct ? direct_fd(out->direct) : -1;
}

void output_file_wait(struct output_file *out)
{
	if (out->direct)
		direct_step(out->direct, true);
}

void output_file_describe(const struct output_file *out)
{
	char text[256];

	if (out->direct)
		note("%s: %s", out->name, direct_way(out->direct, text));
	else
		note("%s: write()%s", out->name, !out->pack ? "" :
		     ", packed: frames of any length, so no O_DIRECT");
}

uint64_t output_file_size(const struct output_file *out)
{
	return out->bytes + (out->direct ? direct_waiting(out->direct) : 0);
}

/* ---- the end of a file ---- */

/*
 * Append the notes and close the file.  @sync: wait until it is on the disk: only for the last
 * file, because the rings fill meanwhile.  Returns 0 or the first -errno
 */
static int end_file(struct output_file *out, bool sync)
{
	if (out->fd < 0) {
		put_open_files(out);
		return out->failed;
	}
	if (out->begun) {
		output_file_perf_step(out);
		put_beginning(out);
		put_symbols(out);
		put_mappings(out);
		put_names(out);
	}
	put_open_files(out);
	addresses_free(out->addresses);
	out->addresses = NULL;
	direct_close(out->direct);
	out->direct = NULL;
	/* errors of the disk appear only here if the page cache took the writes */
	if (sync && out->begun && out->regular && fsync(out->fd) < 0 && !out->failed)
		out->failed = -errno;
	if (close(out->fd) < 0 && !out->failed)
		out->failed = -errno;
	out->fd = -1;
	out->total += out->bytes;
	return out->failed;
}

int output_file_next(struct output_file *out, const char *path)
{
	struct output_file next = *out;

	if (open_file(&next, path))
		return EXIT_WRONG;
	put_beginning(out);
	put_parts(out, TB_PART_END);
	if (end_file(out, false)) {
		close(next.fd);
		if (next.made)
			unlink(path);
		return EXIT_FINE;	/* output_file_close() says what failed */
	}
	next.addresses = NULL;
	next.open_files = NULL;
	next.files_left_out = out->files_left_out;
	next.direct = NULL;
	next.bytes = next.notes = 0;
	next.total = out->total;
	next.rolling = out->rolling;
	next.continued = true;
	*out = next;
	output_file_begin(out);
	return output_file_use(out, &next.options);
}

int output_file_close(struct output_file *out)
{
	if (out->fd >= 0 && out->made && !out->begun)
		unlink(out->name);
	end_file(out, true);
	perf_records_close(out->perf);
	out->perf = NULL;
	mappings_close(out->mappings);
	out->mappings = NULL;
	cgroups_free(out->cgroups);
	out->cgroups = NULL;
	disks_free(out->disks);
	out->disks = NULL;
	continuation_free(&out->continuation);
	pack_close(out->pack);
	out->pack = NULL;
	if (!out->failed)
		return EXIT_FINE;
	if (out->failed == -EPIPE)
		return complain("%s was closed by its reader", out->name);
	if (out->failed == -ETIMEDOUT)
		return complain("%s: its reader does not read: the recording ended after %llu bytes",
				out->name, (unsigned long long)out->bytes);
	return complain("%s: writing failed: %s; the recording ended there, the file is valid up to %llu bytes",
			out->name, strerror(-out->failed),
			(unsigned long long)out->bytes);
}
