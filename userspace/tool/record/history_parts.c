// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contents of a history; see history.h.
 *
 * The files in their order, one after the other, are a trace.  A recorder that was killed may have
 * left part of a frame at the end of its last file: this code writes only whole frames and blocks,
 * so that readers can read on after it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "history.h"
#include "lib/pack/pack.h"
#include "plain.h"
#include "output_file.h"
#include "tool/command/command.h"

#define BLOCK_LOG2_MIN 10
#define BLOCK_LOG2_MAX 20

/* ---- frames and blocks ---- */

/* Return the bytes of the frame or block at @data, if all of it is in @size bytes; else 0.
 * @events: out: its events */
static size_t whole_piece(const unsigned char *data, size_t size, uint64_t *events)
{
	struct tb_pack_frame frame;
	struct tb_block block;

	if (!tb_pack_header(data, size, &frame, NULL)) {
		*events = frame.events;
		return frame.bytes <= size ? frame.bytes : 0;
	}
	if (size < sizeof(block))
		return 0;
	memcpy(&block, data, sizeof(block));
	if (block.magic != TB_BLOCK_MAGIC || block.size_log2 < BLOCK_LOG2_MIN ||
	    block.size_log2 > BLOCK_LOG2_MAX || (size_t)1 << block.size_log2 > size)
		return 0;
	*events = block.kind == TB_BLOCK_ROLLING ? block.events : 0;
	return (size_t)1 << block.size_log2;
}

static size_t whole_pieces(const unsigned char *data, size_t size, uint64_t *events)
{
	size_t at = 0, bytes;
	uint64_t some;

	*events = 0;
	while (at < size && (bytes = whole_piece(data + at, size - at, &some))) {
		at += bytes;
		*events += some;
	}
	return at;
}

/**
 * struct part - a copy of a file in memory
 * @data: the copy, which the caller frees
 * @whole: bytes of whole frames and blocks
 * @events: their events
 */
struct part {
	unsigned char *data;
	size_t whole;
	uint64_t events;
};

/* Copy the file: a mapping would fault if the recorder truncates the file after a failed write */
static int read_part(int fd, struct part *part)
{
	size_t size = 0, room;
	struct stat status;
	ssize_t got;

	memset(part, 0, sizeof(*part));
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	room = (size_t)status.st_size;
	part->data = malloc(room + 1);
	if (!part->data)
		return -ENOMEM;
	while (size < room) {
		got = pread(fd, part->data + size, room - size, (off_t)size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	part->whole = whole_pieces(part->data, size, &part->events);
	return 0;
}

/* ---- writing into a file ---- */

int history_write(const struct history_parts *parts, struct output_file *out)
{
	struct piece piece = { .rolling = 1 };
	struct iovec vector;
	unsigned int written;
	struct part part;
	int result = 0;
	size_t i;

	for (i = 0; i < parts->count && !result; i++) {
		result = read_part(parts->fds[i], &part);
		if (result)
			break;
		vector = (struct iovec){ .iov_base = part.data, .iov_len = part.whole };
		if (part.whole) {
			output_file_begin(out);
			result = out->failed ? -EIO :
				 plain_write(out, &vector, &piece, 1, &written);
		}
		free(part.data);
	}
	return result;
}

int history_snapshot(const struct history *history, const char *path)
{
	struct history_parts parts;
	struct output_file out;
	int result;

	if (history_flush(history))
		return EXIT_WRONG;
	result = history_open(history, true, &parts);
	if (result)
		return complain("%s: cannot be read: %s", history->folder, strerror(-result));
	if (output_file_open(&out, path)) {
		history_close(&parts);
		return EXIT_WRONG;
	}
	result = history_write(&parts, &out);
	history_close(&parts);
	if (output_file_close(&out))
		return EXIT_WRONG;
	if (result)
		return complain("%s: cannot be read: %s", history->folder, strerror(-result));
	note("%s: %.2f MB", out.name, (double)out.bytes / 1e6);
	return EXIT_FINE;
}

/* ---- totals ---- */

/* Wall-clock time of the first event, ns; 0: not known */
static uint64_t first_time(const struct part *part)
{
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	uint64_t ns = 0;

	if (!part->whole || tb_trace_open_memory(part->data, part->whole, &trace, NULL))
		return 0;
	if (!tb_cursor_open(trace, &cursor)) {
		while (!ns && next_event(cursor, &view) == 1)
			if (view.kind == TB_VIEW_EVENT)
				ns = tb_trace_ns(trace, view.ticks, TB_TIME_REALTIME);
		tb_cursor_close(cursor);
	}
	tb_trace_close(trace);
	return ns;
}

int history_add_up(const struct history_parts *parts, struct history_sum *sum)
{
	struct stat status;
	struct part part;
	int result;
	size_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < parts->count; i++) {
		result = read_part(parts->fds[i], &part);
		if (result)
			return result;
		sum->events += part.events;
		if (!fstat(parts->fds[i], &status))
			sum->bytes += (uint64_t)status.st_blocks * 512;
		if (!sum->since)
			sum->since = first_time(&part);
		free(part.data);
	}
	return 0;
}

void history_show(const struct history *history)
{
	int pid = history_recorder(history);
	struct history_parts parts;
	struct history_sum sum;
	char text[32] = "?";
	time_t since;
	struct tm tm;

	if (history_open(history, false, &parts))
		return;
	if (parts.count && !history_add_up(&parts, &sum)) {
		since = (time_t)(sum.since / 1000000000);
		if (sum.since && localtime_r(&since, &tm))
			strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
		printf("history    since %s, %" PRIu64 " event%s in %.1f MiB, ", text, sum.events,
		       plural(sum.events), (double)sum.bytes / (1 << 20));
		if (pid > 0)
			printf("recorder %d\n", pid);
		else
			printf("the recorder has ended\n");
	}
	history_close(&parts);
}
