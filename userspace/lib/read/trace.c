// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening and closing traces.  This file reads or maps the bytes; index.c finds the blocks by their
 * headers; durable.c reads the durable blocks; scan.c reads the heads of events in other blocks.
 *
 * Pages of a mapped file are given back to the kernel as reading proceeds, so that the resident
 * memory does not grow with the length of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "follow.h"

void tb_trace_set_fault(struct tb_trace *trace, const struct tb_error *fault)
{
	if (trace->faulty)
		return;
	trace->faulty = true;
	trace->fault = *fault;
}

static int trace_read(struct tb_trace *trace, uint32_t flags,
		      struct tb_error *error)
{
	int result = tb_index_build(trace, error);
	size_t i;

	for (i = 0; !result && i < trace->nr_recordings; i++)
		result = tb_durable_read(trace, &trace->recordings[i]);
	if (!result && !(flags & TB_OPEN_HEADERS))
		result = tb_scan(trace);
	for (i = 0; !result && i < trace->nr_recordings; i++)
		result = tb_durable_finish(trace, &trace->recordings[i]);
	if (result == -ENOMEM)
		tb_error_set(error, result, TB_OFFSET_NONE, "out of memory");
	trace->selected = trace->recordings;
	return result;
}

/* Replace the bytes of the trace by the range of its frames */
static int trace_unpack(struct tb_trace *trace, struct tb_error *error)
{
	struct tb_error fault;
	int result = tb_frames_open(trace->data, trace->size, trace->mapped, &trace->frames, &fault,
				    error);

	if (result < 0)
		return result;
	trace->data = tb_frames_range(trace->frames, &trace->size);
	if (fault.code)
		tb_trace_set_fault(trace, &fault);
	return 0;
}

/* On success the trace owns @mapped and @owned; on failure the caller does */
static int open_bytes(const void *data, size_t size, void *mapped, void *owned,
		      uint32_t flags, struct tb_trace **out,
		      struct tb_error *error)
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
	trace->mapped = mapped;
	trace->mapped_size = size;
	trace->owned = owned;
	result = tb_framed(data, size) ? trace_unpack(trace, error) : 0;
	if (!result)
		result = trace_read(trace, flags, error);
	if (result < 0) {
		trace->mapped = trace->owned = NULL;
		tb_trace_close(trace);
		return result;
	}
	*out = trace;
	return 0;
}

int tb_trace_open_memory(const void *data, size_t size,
			 struct tb_trace **out, struct tb_error *error)
{
	return open_bytes(data, size, NULL, NULL, 0, out, error);
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

static int open_fd(int fd, uint32_t flags, struct tb_trace **out,
		   struct tb_error *error)
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
	result = open_bytes(mapped ? mapped : data, size, mapped, data, flags,
			    out, error);
	if (result < 0) {
		if (mapped)
			munmap(mapped, size);
		free(data);
	}
	return result;
}

int tb_trace_open_fd(int fd, struct tb_trace **out, struct tb_error *error)
{
	return open_fd(fd, 0, out, error);
}

int tb_trace_open_with(const char *path, uint32_t flags, struct tb_trace **out,
		       struct tb_error *error)
{
	int fd, result;

	*out = NULL;
	if (flags & ~TB_OPEN_HEADERS)
		return tb_error_set(error, -EINVAL, TB_OFFSET_NONE,
				    "cannot be opened: unknown flags 0x%" PRIx32,
				    flags & ~TB_OPEN_HEADERS);
	if (!strcmp(path, "-"))
		return open_fd(STDIN_FILENO, flags, out, error);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tb_error_set(error, -errno, TB_OFFSET_NONE,
				    "cannot be opened: %s", strerror(errno));
	result = open_fd(fd, flags, out, error);
	close(fd);
	return result;
}

int tb_trace_open(const char *path, struct tb_trace **out,
		  struct tb_error *error)
{
	return tb_trace_open_with(path, 0, out, error);
}

/* A page fault maps present pages around it, at most those of one page table */
#define AROUND (2ull << 20)

void tb_trace_forget(const struct tb_trace *trace, uint64_t from, uint64_t to)
{
	uintptr_t start = (uintptr_t)trace->mapped, end = start + trace->size;
	uintptr_t first = (start + from) & ~(AROUND - 1);
	uintptr_t last = (start + to + AROUND - 1) & ~(AROUND - 1);

	if (!trace->mapped || trace->frames)
		return;
	if (first < start)
		first = start;
	if (last > end)
		last = end;
	if (first < last)
		madvise((void *)first, last - first, MADV_DONTNEED);
}

void tb_trace_close(struct tb_trace *trace)
{
	size_t i;

	if (!trace)
		return;
	for (i = 0; i < trace->nr_recordings; i++) {
		tb_index_free(&trace->recordings[i]);
		tb_durable_free(&trace->recordings[i]);
	}
	tb_follow_free(trace->follow);
	free(trace->recordings);
	tb_tree_free(&trace->by_init);
	tb_tree_free(&trace->by_provider);
	free(trace->turns);
	free(trace->marks.at);
	tb_frames_close(trace->frames);
	if (trace->mapped)
		munmap(trace->mapped, trace->mapped_size);
	free(trace->owned);
	free(trace);
}

/* ---- queries ---- */

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

unsigned int tb_trace_selected(const struct tb_trace *trace)
{
	return (unsigned int)(trace->selected - trace->recordings);
}

int tb_trace_next_recording(struct tb_trace *trace)
{
	size_t next = tb_trace_selected(trace) + 1;

	if (trace->follow)
		return tb_follow_next_recording(trace->follow);
	if (next == trace->nr_recordings)
		return 0;
	trace->selected = &trace->recordings[next];
	return 1;
}

const struct tb_init *tb_trace_init(const struct tb_trace *trace)
{
	return trace->selected->has_init ? &trace->selected->init : NULL;
}

unsigned int tb_trace_nr_cpus(const struct tb_trace *trace)
{
	const struct tb_recording *recording = trace->selected;
	unsigned int count = 0;

	if (recording->nr_rings)
		count = recording->rings[recording->nr_rings - 1].cpu + 1;
	/* a followed trace may not have blocks of all CPUs yet */
	if (trace->follow && recording->has_init)
		count = recording->init.nr_cpus;
	return count > recording->totals_cpus ? count : recording->totals_cpus;
}
