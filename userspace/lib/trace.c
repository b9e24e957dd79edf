// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a trace: get the bytes, find the blocks, sort them into recordings
 * and rings.  Only block headers are touched here; durable.c then reads what
 * the durable blocks say, and scan.c passes over the heads of events in the
 * others.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "internal.h"

static void trace_fault(struct tb_trace *trace, const struct tb_error *fault,
			uint64_t base)
{
	if (trace->faulty)
		return;
	trace->faulty = true;
	trace->fault = *fault;
	if (trace->fault.offset != TB_OFFSET_NONE)
		trace->fault.offset += base;
}

/* ---- recordings ---- */

static struct tb_recording *recording_new(struct tb_trace *trace,
					  uint16_t provider)
{
	struct tb_recording *grown;

	grown = realloc(trace->recordings,
			(trace->nr_recordings + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	trace->recordings = grown;
	grown += trace->nr_recordings++;
	memset(grown, 0, sizeof(*grown));
	grown->provider = provider;
	return grown;
}

/* The first event of a durable block if that is a TB_EV_INIT, else NULL */
static const struct tb_init *block_init(const struct tb_block *block,
					size_t *size)
{
	struct tb_walk walk;

	if (block->kind != TB_BLOCK_DURABLE)
		return NULL;
	tb_walk_start(&walk, block);
	if (tb_walk_next(&walk) != 1 || walk.id != TB_EV_INIT ||
	    walk.structure != TB_STRUCT_COMPOSITE ||
	    walk.bytes < offsetof(struct tb_init, provider))
		return NULL;
	*size = walk.bytes;
	return walk.payload;
}

static void recording_set_init(struct tb_recording *recording,
			       const struct tb_init *init, size_t size)
{
	struct tb_init *own = &recording->init;

	memset(own, 0, sizeof(*own));
	memcpy(own, init, size < sizeof(*own) ? size : sizeof(*own));
	own->provider[sizeof(own->provider) - 1] = 0;
	own->release[sizeof(own->release) - 1] = 0;
	own->version[sizeof(own->version) - 1] = 0;
	own->machine[sizeof(own->machine) - 1] = 0;
	own->nodename[sizeof(own->nodename) - 1] = 0;
	recording->has_init = true;
}

static bool same_recording(const struct tb_recording *recording,
			   const struct tb_init *init)
{
	return recording->has_init &&
	       recording->init.generation == init->generation &&
	       !memcmp(recording->init.load_id, init->load_id,
		       sizeof(init->load_id));
}

/* Which recording is this block of?  Its index, or -ENOMEM. */
static long block_recording(struct tb_trace *trace,
			    const struct tb_block *block)
{
	const struct tb_init *init;
	struct tb_recording *recording;
	long latest = -1;
	size_t size, i;

	init = block_init(block, &size);
	for (i = 0; i < trace->nr_recordings; i++) {
		recording = &trace->recordings[i];
		if (recording->provider != block->provider)
			continue;
		if (init && same_recording(recording, init))
			return (long)i;
		latest = (long)i;
	}
	if (!init && latest >= 0)
		return latest;
	recording = recording_new(trace, block->provider);
	if (!recording)
		return -ENOMEM;
	if (init)
		recording_set_init(recording, init, size);
	return (long)trace->nr_recordings - 1;
}

static struct tb_ring_index *recording_ring(struct tb_recording *recording,
					    uint32_t cpu)
{
	struct tb_ring_index *rings = recording->rings;
	size_t at = recording->nr_rings;

	while (at && rings[at - 1].cpu > cpu)
		at--;
	if (at && rings[at - 1].cpu == cpu)
		return &rings[at - 1];
	rings = realloc(rings, (recording->nr_rings + 1) * sizeof(*rings));
	if (!rings)
		return NULL;
	recording->rings = rings;
	memmove(rings + at + 1, rings + at,
		(recording->nr_rings - at) * sizeof(*rings));
	recording->nr_rings++;
	memset(rings + at, 0, sizeof(*rings));
	rings[at].cpu = cpu;
	return &rings[at];
}

static int add_block(struct tb_trace *trace, uint64_t offset)
{
	const struct tb_block *block = (const void *)(trace->data + offset);
	struct tb_recording *recording;
	struct tb_ring_index *ring;
	long number;

	number = block_recording(trace, block);
	if (number < 0)
		return (int)number;
	recording = &trace->recordings[number];
	recording->used = true;
	ring = block->kind == TB_BLOCK_DURABLE ? &recording->durable :
	       block->kind == TB_BLOCK_NOTE ? &recording->notes :
	       recording_ring(recording, block->cpu);
	if (!ring)
		return -ENOMEM;
	if (tb_array_grow(&trace->blocks, &trace->room_blocks,
			  trace->nr_blocks, sizeof(*trace->blocks)) ||
	    tb_array_grow(&ring->blocks, &ring->room, ring->count,
			  sizeof(*ring->blocks)))
		return -ENOMEM;
	trace->blocks[trace->nr_blocks].offset = offset;
	trace->blocks[trace->nr_blocks].recording = (uint32_t)number;
	if (ring->count &&
	    tb_block_at(trace, ring->blocks[ring->count - 1])->sequence >=
	    block->sequence)
		ring->disordered = true;
	ring->blocks[ring->count++] = (uint32_t)trace->nr_blocks++;
	return 0;
}

/* ---- a ring whose pieces were put together in another order ---- */

static int compare_blocks(const void *a, const void *b, void *context)
{
	const struct tb_trace *trace = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t first = tb_block_at(trace, i)->sequence;
	uint64_t second = tb_block_at(trace, j)->sequence;

	if (first != second)
		return first < second ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Sort, and leave out what is there twice (files may be concatenated) */
static void ring_sort(struct tb_trace *trace, struct tb_ring_index *ring)
{
	const struct tb_block *before, *block;
	size_t i, kept = 0;

	if (!ring->disordered)
		return;
	qsort_r(ring->blocks, ring->count, sizeof(*ring->blocks),
		compare_blocks, trace);
	for (i = 0; i < ring->count; i++) {
		block = tb_block_at(trace, ring->blocks[i]);
		if (kept) {
			before = tb_block_at(trace, ring->blocks[kept - 1]);
			if (before->sequence == block->sequence &&
			    before->time_start == block->time_start)
				continue;
		}
		ring->blocks[kept++] = ring->blocks[i];
	}
	ring->count = kept;
}

/* ---- indexing ---- */

static int trace_index(struct tb_trace *trace, struct tb_error *error)
{
	struct tb_error fault;
	uint64_t offset = 0;
	size_t i, j;
	int64_t size;
	int result;

	if (!trace->size)
		return tb_error_set(error, -ENODATA, 0, "empty");
	while (offset < trace->size) {
		size = tb_block_check(trace->data + offset,
				      trace->size - offset, &fault);
		if (size < 0 && !offset) {
			if (size == -EINVAL && fault.offset == 0)
				return tb_error_set(error, -EINVAL, 0,
					"not a tracebuf trace: no block at its start");
			if (error)
				*error = fault;
			return (int)size;
		}
		if (size < 0) {
			trace_fault(trace, &fault, offset);
			break;
		}
		result = add_block(trace, offset);
		if (result < 0)
			return tb_error_set(error, result, offset,
					    "out of memory");
		offset += (uint64_t)size;
	}
	for (i = 0; i < trace->nr_recordings; i++) {
		struct tb_recording *recording = &trace->recordings[i];

		ring_sort(trace, &recording->durable);
		for (j = 0; j < recording->nr_rings; j++)
			ring_sort(trace, &recording->rings[j]);
		result = tb_durable_read(trace, recording);
		if (result < 0)
			return tb_error_set(error, result, TB_OFFSET_NONE,
					    "out of memory");
	}
	trace->selected = trace->recordings;
	return 0;
}

/* The bytes become those that are compressed in them; what is damaged there is behind them all */
static int trace_unpack(struct tb_trace *trace, struct tb_error *error)
{
	struct tb_unpacked unpacked;
	int result = tb_unpack(trace->data, trace->size, &unpacked, error);

	if (result < 0)
		return result;
	trace->data = trace->mapped = unpacked.data;
	trace->size = unpacked.size;
	trace->mapped_size = unpacked.room;
	if (unpacked.faulty)
		trace_fault(trace, &unpacked.fault, 0);
	return 0;
}

int tb_trace_open_memory(const void *data, size_t size,
			 struct tb_trace **out, struct tb_error *error)
{
	struct tb_trace *trace;
	int result;

	*out = NULL;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE,
				    "out of memory");
	trace->data = data;
	trace->size = size;
	result = tb_compressed(data, size) ? trace_unpack(trace, error) : 0;
	if (!result)
		result = trace_index(trace, error);
	if (result < 0)
		tb_trace_close(trace);
	else
		*out = trace;
	return result;
}

/* ---- getting the bytes ---- */

static int read_all(int fd, void **data, size_t *size)
{
	size_t room = 1 << 20, used = 0;
	unsigned char *bytes = NULL, *grown;
	ssize_t got;

	for (;;) {
		if (!bytes || used == room) {
			if (bytes)
				room *= 2;
			grown = realloc(bytes, room);
			if (!grown) {
				free(bytes);
				return -ENOMEM;
			}
			bytes = grown;
		}
		got = read(fd, bytes + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int result = -errno;

			free(bytes);
			return result;
		}
		if (!got)
			break;
		used += (size_t)got;
	}
	*data = bytes;
	*size = used;
	return 0;
}

int tb_trace_open_fd(int fd, struct tb_trace **out, struct tb_error *error)
{
	void *data = NULL, *mapped = NULL;
	struct stat status;
	size_t size = 0;
	int result;

	*out = NULL;
	if (fstat(fd, &status) < 0)
		return tb_error_set(error, -errno, TB_OFFSET_NONE,
				    "cannot be examined: %s", strerror(errno));
	if (S_ISDIR(status.st_mode))
		return tb_error_set(error, -EISDIR, TB_OFFSET_NONE,
				    "is a directory");
	if (S_ISREG(status.st_mode) && status.st_size > 0) {
		size = (size_t)status.st_size;
		mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (mapped == MAP_FAILED)
			mapped = NULL;
		else
			madvise(mapped, size, MADV_SEQUENTIAL);
	}
	if (!mapped) {
		result = read_all(fd, &data, &size);
		if (result < 0)
			return tb_error_set(error, result, TB_OFFSET_NONE,
					    "cannot be read: %s",
					    strerror(-result));
	}
	result = tb_trace_open_memory(mapped ? mapped : data, size, out, error);
	if (result < 0 || (*out)->mapped) {	/* or it was compressed */
		if (mapped)
			munmap(mapped, size);
		free(data);
		return result;
	}
	(*out)->mapped = mapped;
	(*out)->mapped_size = size;
	(*out)->owned = data;
	return 0;
}

int tb_trace_open(const char *path, struct tb_trace **out,
		  struct tb_error *error)
{
	int fd, result;

	*out = NULL;
	if (!strcmp(path, "-"))
		return tb_trace_open_fd(STDIN_FILENO, out, error);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tb_error_set(error, -errno, TB_OFFSET_NONE,
				    "cannot be opened: %s", strerror(errno));
	result = tb_trace_open_fd(fd, out, error);
	close(fd);
	return result;
}

void tb_trace_close(struct tb_trace *trace)
{
	size_t i, j;

	if (!trace)
		return;
	for (i = 0; i < trace->nr_recordings; i++) {
		struct tb_recording *recording = &trace->recordings[i];

		for (j = 0; j < recording->nr_rings; j++)
			free(recording->rings[j].blocks);
		free(recording->rings);
		free(recording->durable.blocks);
		free(recording->notes.blocks);
		tb_durable_free(recording);
	}
	free(trace->recordings);
	free(trace->blocks);
	if (trace->mapped)
		munmap(trace->mapped, trace->mapped_size);
	free(trace->owned);
	free(trace);
}

/* ---- what there is ---- */

const struct tb_error *tb_trace_fault(const struct tb_trace *trace)
{
	return trace->faulty ? &trace->fault : NULL;
}

uint64_t tb_trace_size(const struct tb_trace *trace)
{
	return trace->size;
}

unsigned int tb_trace_recordings(const struct tb_trace *trace)
{
	return (unsigned int)trace->nr_recordings;
}

int tb_trace_select(struct tb_trace *trace, unsigned int index)
{
	if (index >= trace->nr_recordings)
		return -ERANGE;
	trace->selected = &trace->recordings[index];
	return 0;
}

const struct tb_init *tb_trace_init(const struct tb_trace *trace)
{
	return trace->selected->has_init ? &trace->selected->init : NULL;
}

unsigned int tb_trace_nr_cpus(const struct tb_trace *trace)
{
	const struct tb_recording *recording = trace->selected;
	unsigned int count = 0;
	size_t i;

	if (recording->nr_rings)
		count = recording->rings[recording->nr_rings - 1].cpu + 1;
	for (i = 0; i < recording->nr_totals; i++)
		if (recording->totals[i].cpu >= count)
			count = recording->totals[i].cpu + 1;
	return count;
}

size_t tb_trace_blocks(const struct tb_trace *trace)
{
	return trace->nr_blocks;
}

const struct tb_block *tb_trace_block(const struct tb_trace *trace,
				      size_t index, uint64_t *offset,
				      unsigned int *recording)
{
	if (index >= trace->nr_blocks)
		return NULL;
	if (offset)
		*offset = trace->blocks[index].offset;
	if (recording)
		*recording = trace->blocks[index].recording;
	return tb_block_at(trace, index);
}
