// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write what a running circular recording holds into a file.
 *
 * The writers go on.  They cannot use a buffer that is held, so blocks are copied into memory a
 * few at a time and released at once; the file is written when no buffer is held any more.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "sink.h"
#include "snapshot.h"
#include "tool/command/command.h"

#define BATCH 16		/* blocks held at once */
#define MEMORY_MIN (4u << 20)	/* bytes: more than a batch of small blocks */
#define PATIENCE_MS 5000	/* for a block that is not complete */

/* ---- the copy ---- */

/**
 * struct copy - blocks on their way from the buffers to the file
 * @at: memory
 * @room: bytes there
 * @used: of these
 */
struct copy {
	unsigned char *at;
	size_t room;
	size_t used;
};

/* Room for all there can be if possible, but not for more than half of the free memory */
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

static void copy_close(struct copy *copy)
{
	munmap(copy->at, copy->room);
}

/* To the file with it; the memory is free again.  What fails is in the sink */
static void copy_write(struct copy *copy, struct sink *sink)
{
	sink_blocks(sink, copy->at, copy->used);
	copy->used = 0;
}

/* One batch; as tb_device_acquire() */
static int copy_batch(struct copy *copy, struct sink *sink,
		      struct tb_device *device)
{
	struct tb_ref refs[BATCH];
	int count, i, released;
	size_t bytes = 0;

	count = tb_device_acquire(device, refs, BATCH, TB_ACQUIRE_SNAPSHOT);
	if (count <= 0)
		return count;
	for (i = 0; i < count; i++)
		bytes += refs[i].bytes;
	if (bytes > copy->room - copy->used)
		copy_write(copy, sink);
	for (i = 0; i < count; i++) {
		memcpy(copy->at + copy->used, tb_device_block(device, &refs[i]),
		       refs[i].bytes);
		copy->used += refs[i].bytes;
	}
	released = tb_device_release(device, refs, (unsigned int)count);
	return released < 0 ? released : count;
}

/* Everything; 0 or -errno */
static int copy_all(struct copy *copy, struct sink *sink,
		    struct tb_device *device)
{
	unsigned int waited = 0;
	int count;

	while (!sink->failed) {
		count = copy_batch(copy, sink, device);
		if (count == -ENODATA)
			return 0;
		if (count < 0)
			return count;
		if (count) {
			waited = 0;
			continue;
		}
		if (waited++ == PATIENCE_MS)
			return -ETIMEDOUT;
		poll(NULL, 0, 1);
	}
	return 0;
}

/* ---- the snapshot ---- */

int snapshot_possible(const struct tb_query *query)
{
	if (query->state == TB_STATE_IDLE)
		return complain("nothing is recorded: 'tracebuf start -m circular' does that");
	if (query->state == TB_STATE_STOPPED)
		return complain("the recording has stopped: 'tracebuf save' gets what is in the buffers");
	if (query->mode != TB_MODE_CIRCULAR)
		return complain("the recording is in %s mode, a snapshot is for circular mode ('tracebuf start -m circular'): 'tracebuf save --stop' ends this one and gets what is in the buffers",
				tb_mode_name(query->mode));
	return EXIT_FINE;
}

/* Nothing was taken: because there is nothing? */
static int snapshot_empty(struct tb_device *device,
			  const struct tb_query *query, const char *name)
{
	uint64_t recorded = 0, dropped = 0;
	struct tb_stats stats;
	uint32_t cpu;

	for (cpu = 0; cpu < query->nr_cpus; cpu++) {
		if (tb_device_stats(device, cpu, &stats) < 0)
			continue;
		recorded += stats.recorded;
		dropped += stats.dropped;
	}
	if (!recorded && !dropped) {
		note("nothing has been recorded yet: no events are in %s", name);
		return EXIT_FINE;
	}
	return complain("%s has no events, although %" PRIu64 " were recorded (and %" PRIu64 " dropped): no block could be held before it was overwritten; more buffers help, or larger ones ('tracebuf start -b')",
			name, recorded, dropped);
}

static int snapshot_write(struct tb_device *device,
			  const struct tb_query *query, const char *output)
{
	struct sink sink;
	struct copy copy;
	int result;

	if (copy_open(&copy, query))
		return complain("out of memory");
	if (sink_open(&sink, output)) {
		copy_close(&copy);
		return EXIT_WRONG;
	}
	result = copy_all(&copy, &sink, device);
	copy_write(&copy, &sink);
	copy_close(&copy);
	if (sink_close(&sink))
		return EXIT_WRONG;
	if (result == -EBUSY)
		return complain("another program is reading the buffers");
	if (result == -ETIMEDOUT)
		complain("a block was not complete after %d s: it and those after it are missing in %s",
			 PATIENCE_MS / 1000, sink.name);
	else if (result < 0)
		return complain("cannot read the buffers: %s", strerror(-result));
	note("%s: %.2f MB", sink.name, (double)sink.bytes / 1e6);
	if (result >= 0 && !sink.rolling)
		return snapshot_empty(device, query, sink.name);
	return result < 0 ? EXIT_WRONG : EXIT_FINE;
}

int take_snapshot(struct tb_device *device, const char *output)
{
	struct tb_query query;
	int result;

	result = tb_device_query(device, &query);
	if (result < 0)
		return complain("cannot read the state: %s", strerror(-result));
	result = snapshot_possible(&query);
	if (result)
		return result;
	result = tb_device_map(device, NULL, NULL);
	if (result < 0)
		return complain("cannot map the buffers: %s", strerror(-result));
	return snapshot_write(device, &query, output);
}

void stamped_name(char *name)
{
	time_t now = time(NULL);
	unsigned int number;
	struct tm tm;
	size_t used;

	localtime_r(&now, &tm);
	used = strftime(name, STAMPED_NAME, "snapshot-%Y%m%d-%H%M%S", &tm);
	strcpy(name + used, ".tbuf");
	for (number = 2; !access(name, F_OK) && number < 10000; number++)
		snprintf(name + used, STAMPED_NAME - used, "-%u.tbuf", number);
}
