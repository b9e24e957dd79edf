// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events while they are recorded, in order of time over all CPUs.
 *
 *	tracebuf provider create mine -e sched
 *	build/user/samples/read/follow -p mine [EVENTS]     the device: starts and stops it
 *	tracebuf record -o - -e sched --flush-ms 200 | build/user/samples/read/follow - [EVENTS]
 *
 * After so many events (all, if none are named) it ends.  The loop is that of a file, but that
 * there may be nothing to show yet.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tracebuf.h"

static int fail(const char *what, int result)
{
	fprintf(stderr, "follow: %s: %s\n", what, strerror(-result));
	return 1;
}

static int show(struct tb_trace *trace, uint64_t most)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	char text[512], name[24];
	uint64_t count = 0;
	int result;

	result = tb_cursor_open(trace, &cursor);
	if (result < 0)
		return fail("no cursor", result);
	while ((result = tb_cursor_next(cursor, &view)) != 0) {
		if (result == -EAGAIN) {
			result = tb_cursor_wait(cursor, -1);
			if (result < 0 && result != -EINTR)
				break;
			continue;
		}
		if (result < 0)
			break;
		tb_view_print(trace, &view, text, sizeof(text));
		printf("%" PRIu64 ".%09" PRIu64 " %s:%s %s\n", view.ns / 1000000000,
		       view.ns % 1000000000, tb_view_system(&view),
		       tb_view_name(&view, name), text);
		if (++count == most)
			break;
	}
	if (tb_cursor_late(cursor))
		fprintf(stderr, "follow: %" PRIu64 " of %" PRIu64 " came too late to be in order\n",
			tb_cursor_late(cursor), count);
	tb_cursor_close(cursor);
	return result < 0 ? fail("reading", result) : 0;
}

static int follow_device(const char *provider, uint64_t most)
{
	struct tb_device *device;
	struct tb_trace *trace;
	struct tb_error error;
	int result;

	if (tb_device_open(NULL, TB_DEVICE_NONBLOCK, &device, &error) < 0) {
		fprintf(stderr, "follow: %s\n", error.text);
		return 1;
	}
	result = tb_device_attach(device, provider);
	if (!result)
		result = tb_device_start(device, 0);
	if (result < 0) {
		tb_device_close(device);
		return fail(provider, result);
	}
	result = tb_trace_follow_device(device, NULL, &trace, &error);
	if (result < 0) {
		fprintf(stderr, "follow: %s\n", error.text);
	} else {
		result = show(trace, most);
		tb_trace_close(trace);
	}
	tb_device_stop(device);
	tb_device_close(device);
	return result != 0;
}

static int follow_input(uint64_t most)
{
	struct tb_trace *trace;
	struct tb_error error;
	int result;

	if (tb_trace_follow_fd(STDIN_FILENO, NULL, &trace, &error) < 0) {
		fprintf(stderr, "follow: %s\n", error.text);
		return 1;
	}
	result = show(trace, most);
	if (tb_trace_fault(trace)) {
		fprintf(stderr, "follow: at byte %" PRIu64 ": %s\n",
			tb_trace_fault(trace)->offset, tb_trace_fault(trace)->text);
		result = 1;
	}
	tb_trace_close(trace);
	return result;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 3 && argc <= 4 && !strcmp(argv[1], "-p"))
		return follow_device(argv[2], argc == 4 ? strtoull(argv[3], NULL, 0) : 0);
	if (argc >= 2 && argc <= 3 && !strcmp(argv[1], "-"))
		return follow_input(argc == 3 ? strtoull(argv[2], NULL, 0) : 0);
	fprintf(stderr, "usage: follow -p PROVIDER [EVENTS]\n"
			"       follow - [EVENTS] <STREAM\n");
	return 2;
}
