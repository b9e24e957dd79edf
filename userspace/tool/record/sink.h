/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks go into a file.
 */
#ifndef TRACEBUF_SINK_H
#define TRACEBUF_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pack.h"
#include "parts.h"
#include "tracebuf.h"

#define SINK_BATCH 256

struct cgroups;
struct mappings;
struct open_files;
struct perf_records;
struct series;

/**
 * struct backlog - copies of blocks that wait for a late file, so that the rings need not (direct.h)
 * @rings: those that there may be
 * @ring_blocks: blocks that each of them has
 * @limit: bytes of copies at most; 0: none are made
 * @bytes: of the copies that there are now
 * @most: of those that there were at once
 * @full: there was no room for more
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
 * struct sink_way - how the blocks get into the file
 * @direct: while the reader goes on, past the page cache if possible (direct.h)
 * @buffered: not past it
 * @parts: there will be several files
 * @compress: pack, by zstd of this @level (0: the usual one), by @threads
 * @ring_blocks: of a CPU: when more than half of them wait, blocks are written as they are; 0: never
 * @block_bytes: size of a ring's blocks
 * @most: bytes that a file should not have more of; 0: any number
 * @backlog: what may wait for it beyond the rings, or NULL: nothing
 * @series: when the disk is full, delete the oldest file of it; or NULL
 */
struct sink_way {
	bool     direct;
	bool     buffered;
	bool     parts;
	bool     compress;
	int      level;
	unsigned int threads;
	unsigned int ring_blocks;
	size_t   block_bytes;
	uint64_t most;
	struct backlog *backlog;
	struct series *series;
};

/**
 * struct sink - where the blocks go
 * @fd: the file
 * @name: for messages
 * @regular: it can be truncated to whole blocks
 * @socket: it is a socket
 * @made: it was not there before
 * @old: it was, with whatever is in it
 * @begun: that is gone, what is written comes
 * @stopping: a signal has ended the recording: do not wait long for a reader
 * @drained: nothing is recorded any more, so nothing is lost while blocks wait
 * @keep: what could not be written stays with the device, for another try
 * @bytes: written, whole blocks
 * @total: bytes of the files before this one
 * @rolling: of the blocks written, those with events of a CPU
 * @unwritten: events taken from the buffers that could not be written
 * @no_stacks: there are none in the blocks, which is not looked for
 * @other_boot: what they name is not of this boot
 * @addresses: addresses of the stacks in them, or NULL
 * @perf: what tells of new cgroups and mappings, or NULL
 * @cgroups: those that their threads are in, or NULL
 * @mappings: what they are in, collected meanwhile; NULL: what processes have at the end
 * @open_files: what processes had open at the start of the recording, or NULL
 * @files_left_out: processes of which that is not known
 * @provider: of the blocks
 * @way: how
 * @direct: what writes, or NULL: write()
 * @pack: what compresses, or NULL
 * @parts: the counts of all files
 * @continued: there is a file before this one, which is still to be said
 * @notes: blocks of notes in this file
 * @failed: -errno of the first failure, 0
 * @refused: -errno of giving blocks back, 0
 */
struct sink {
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
	struct open_files *open_files;
	unsigned int files_left_out;
	uint16_t    provider;
	struct sink_way way;
	struct direct *direct;
	struct pack *pack;
	struct parts parts;
	bool        continued;
	uint64_t    notes;
	int         failed;
	int         refused;
};

/* "-" is standard output; what is in a file stays until something is written; EXIT_* */
int sink_open(struct sink *sink, const char *path);
/* Collect what names cgroups that begin and end meanwhile, and with @mappings the addresses of user stacks;
 * before the recording starts.  -errno: only what exists at its end has a name */
int sink_perf_open(struct sink *sink, bool mappings);
/* Take what perf has reported */
void sink_perf_step(struct sink *sink);
/* There will be something to write; what was in the file goes */
void sink_begin(struct sink *sink);
/* How, if not with write(); once, before anything is written */
int sink_use(struct sink *sink, const struct sink_way *way);
/* End the file and go on in another one.  The reader must be another one from here on, which
 * gets the durable blocks anew.  If the next cannot be opened this one goes on: complains */
int sink_next(struct sink *sink, const char *path);
/* After a write failed with @failure, -errno: was there a file to delete, so that it can be tried
 * again? */
bool sink_make_room(const struct sink *sink, int failure);
/* Names for the addresses of stacks go behind the blocks; a file that was made for nothing
 * goes; complains about what failed
 * earlier or now; EXIT_* */
int sink_close(struct sink *sink);
/* Take what there is, SINK_BATCH at most, write it, give it back.  Returns how many blocks, 0
 * when there is nothing now, -ENODATA drained, -EIO the sink failed, others */
int sink_move(struct sink *sink, struct tb_device *device, uint32_t flags);
/* Write one block that somebody else gives back; -EIO the sink failed */
int sink_put(struct sink *sink, struct tb_device *device,
	     const struct tb_ref *ref);
/* Is there room for what sink_move() takes?  If not, sink_fd() tells when there is */
bool sink_ready(const struct sink *sink);
/* For poll(): POLLIN when sink_move() has something to finish; -1: never */
int sink_fd(const struct sink *sink);
/* Until there is more room */
void sink_wait(struct sink *sink);
/* How it is written, as a message */
void sink_describe(const struct sink *sink);
/* Bytes that the file has or will have of what was moved */
uint64_t sink_size(const struct sink *sink);
/* Until it is drained (the recording has stopped) */
int sink_drain(struct sink *sink, struct tb_device *device);
/* Blocks in memory, one after the other; 0, -EIO the sink failed */
int sink_blocks(struct sink *sink, const void *data, size_t bytes);

#endif /* TRACEBUF_SINK_H */
