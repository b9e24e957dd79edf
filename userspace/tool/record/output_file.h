/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of a recording: blocks and notes go into a file, pipe or socket.
 */
#ifndef TRACEBUF_OUTPUT_FILE_H
#define TRACEBUF_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pack.h"
#include "continuation.h"
#include "tracebuf.h"

#define OUTPUT_FILE_BATCH 256

struct cgroups;
struct disks;
struct mappings;
struct open_files;
struct perf_records;
struct rotation;

/**
 * struct backlog - copies of blocks that wait for a slow file, so that rings go on (direct.h)
 * @rings: number of rings
 * @ring_blocks: blocks of each ring
 * @limit: bytes that all copies may take; 0: make no copies
 * @bytes: bytes of the copies now
 * @most: highest value of @bytes so far
 * @full: a copy failed, for the limit or for lack of memory
 */
struct backlog {
	unsigned int rings;
	unsigned int ring_blocks;
	uint64_t limit;
	uint64_t bytes;
	uint64_t most;
	bool full;
};

/**
 * struct output_file_options - how the blocks get into the file
 * @direct: write while the reader goes on, past the page cache if possible (direct.h)
 * @buffered: with @direct: use the page cache
 * @rotated: the recording may have several files
 * @compress: pack with zstd, at @level (0: the default), by @threads
 * @ring_blocks: blocks of a CPU's ring: blocks are not packed while more than half of a ring waits;
 *	0: always pack
 * @block_bytes: size of a ring's blocks
 * @most: bytes that a file should have at most; 0: no limit
 * @backlog: limits and counts the copies of blocks that wait; NULL: no copies
 * @rotation: its oldest file is deleted when the disk is full; or NULL
 */
struct output_file_options {
	bool     direct;
	bool     buffered;
	bool     rotated;
	bool     compress;
	int      level;
	unsigned int threads;
	unsigned int ring_blocks;
	size_t   block_bytes;
	uint64_t most;
	struct backlog *backlog;
	struct rotation *rotation;
};

/**
 * struct output_file - an output file
 * @fd: the file; -1: closed
 * @name: for messages
 * @regular: a regular file, which can be truncated
 * @socket: a socket
 * @made: this program created the file
 * @old: the file existed before
 * @begun: writing has begun, and the old contents are gone
 * @stopping: a signal has ended the recording: do not wait long for the reader of a pipe
 * @drained: the recording has stopped, so no events are lost while blocks wait
 * @keep: do not release blocks that could not be written: another reader can get them
 * @bytes: bytes of the whole blocks and frames written to this file
 * @total: bytes of the files before this one
 * @rolling: rolling blocks written
 * @unwritten: events of acquired blocks that could not be written
 * @no_stacks: the blocks have no stacks
 * @other_boot: collect no @addresses, @cgroups and @disks: the blocks are of another boot
 * @addresses: addresses in stacks and events of this file, or NULL
 * @perf: reports new cgroups and mappings, or NULL
 * @cgroups: cgroups of the recorded threads, or NULL
 * @disks: names of the machine's disks, or NULL
 * @mappings: mappings of all processes during the recording; NULL: read them at its end
 * @open_files: files that processes had open at the start of the recording, or NULL
 * @files_left_out: how many processes @open_files could not read
 * @provider: provider of the blocks
 * @options: options of output_file_use()
 * @direct: writer of direct.h, or NULL: use writev()
 * @pack: compressor, or NULL
 * @continuation: counts of each ring over all files
 * @continued: the notes that connect this file to the one before it are still to be written
 * @notes: blocks of notes in this file
 * @failed: -errno of the first failure, or 0
 * @refused: -errno of the first failed release of blocks, or 0
 */
struct output_file {
	int         fd;
	const char *name;
	bool        regular, socket;
	bool        made, old, begun, stopping, drained, keep;
	uint64_t    bytes;
	uint64_t    total;
	uint64_t    rolling;
	uint64_t    unwritten;
	bool        no_stacks, other_boot;
	struct addresses *addresses;
	struct perf_records *perf;
	struct mappings *mappings;
	struct cgroups *cgroups;
	struct disks *disks;
	struct open_files *open_files;
	unsigned int files_left_out;
	uint16_t    provider;
	struct output_file_options options;
	struct direct *direct;
	struct pack *pack;
	struct continuation continuation;
	bool        continued;
	uint64_t    notes;
	int         failed;
	int         refused;
};

/* Open @path ("-": standard output); the file keeps its contents until output_file_begin();
 * EXIT_* */
int output_file_open(struct output_file *out, const char *path);
/* Did the file have data when it was opened?  Before output_file_begin() */
bool output_file_has_data(const struct output_file *out);
/* Collect the names of cgroups, with @mappings also mappings for user stacks, from now on; call
 * this before the recording starts.  After -errno only what exists at its end gets names */
int output_file_perf_open(struct output_file *out, bool mappings);
/* Process the records that perf has written since the last call */
void output_file_perf_step(struct output_file *out);
/* Discard the old contents of the file, at the first call */
void output_file_begin(struct output_file *out);
/* Set how to write, once, before anything is written; EXIT_* */
int output_file_use(struct output_file *out, const struct output_file_options *options);
/* End the file and go on in @path.  The caller then needs a new reader, which gets the durable
 * blocks again.  If @path cannot be opened: complains, EXIT_WRONG, and the old file goes on */
int output_file_next(struct output_file *out, const char *path);
/* After a write failed with -errno @failure: if the disk is full, delete the oldest file of the
 * rotation.  Returns true if the write can be tried again */
bool output_file_make_room(const struct output_file *out, int failure);
/* Append the notes and close the file; delete a new file if nothing was written.  Complains about
 * the first failure of a write; EXIT_* */
int output_file_close(struct output_file *out);
/* Acquire up to OUTPUT_FILE_BATCH blocks, write and release them.  Returns how many; 0: none now,
 * or no room; -ENODATA: the recording has ended and all blocks are acquired; -EIO: a write failed;
 * other -errno */
int output_file_move(struct output_file *out, struct tb_device *device, uint32_t flags);
/* Write one block, which the caller releases; -EIO: a write failed */
int output_file_put(struct output_file *out, struct tb_device *device,
		    const struct tb_ref *ref);
/* Can output_file_move() acquire blocks?  If not, poll output_file_fd(), or call
 * output_file_wait() */
bool output_file_ready(const struct output_file *out);
/* File for poll(): POLLIN when a write has finished, and output_file_move() goes on; -1: no write
 * runs */
int output_file_fd(const struct output_file *out);
/* Wait until a write has finished */
void output_file_wait(struct output_file *out);
void output_file_describe(const struct output_file *out);
/* Bytes in the file, and on the way to it */
uint64_t output_file_size(const struct output_file *out);
/* Move all blocks of a recording that has stopped; 0, -ETIMEDOUT, other -errno */
int output_file_drain(struct output_file *out, struct tb_device *device);
/* Write adjacent blocks in memory; 0, -EIO: a write failed */
int output_file_blocks(struct output_file *out, const void *data, size_t bytes);

#endif /* TRACEBUF_OUTPUT_FILE_H */
