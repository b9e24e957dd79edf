// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording into a file, by the library alone.
 *
 *	tracebuf start -m circular -e sched
 *	build/user/samples/read/save snap.tbuf          what the recording holds; it goes on
 *
 *	tracebuf provider create mine -e sched
 *	build/user/samples/read/save -p mine file.tbuf 5      five seconds
 *
 * The files are as those of "tracebuf record", but for names of functions, programs and cgroups.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "tracebuf.h"

static int fail(const char *what, int result)
{
	fprintf(stderr, "save: %s: %s\n", what, strerror(-result));
	return 1;
}

/* Record for @seconds */
static int record(struct tb_device *device, time_t seconds, int *file)
{
	struct itimerspec time = { .it_value.tv_sec = seconds };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int result = 0;

	if (timer < 0 || timerfd_settime(timer, 0, &time, NULL))
		result = -errno;
	if (!result)
		result = tb_device_start(device, 0);
	/* it is running already */
	if (result == -EBUSY)
		result = 0;
	if (!result)
		result = tb_device_transfer(device, timer, tb_write_fd, file);
	close(timer);
	return result;
}

/* Save what the recording holds, or record for @seconds if they are not 0 */
static int save(struct tb_device *device, time_t seconds, const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), result;

	if (file < 0)
		return -errno;
	result = seconds ? record(device, seconds, &file) :
			   tb_device_snapshot(device, tb_write_fd, &file);
	if (close(file) && !result)
		result = -errno;
	return result;
}

int main(int argc, char **argv)
{
	const char *provider = argc > 2 && !strcmp(argv[1], "-p") ? argv[2] : NULL;
	int first = provider ? 3 : 1, result = 0;
	struct tb_device *device;
	struct tb_error error;
	long seconds = 0;
	char *end = "";

	if (argc == first + 2)
		seconds = strtol(argv[first + 1], &end, 10);
	if (argc <= first || argc > first + 2 || *end || (argc == first + 2 && seconds <= 0)) {
		fprintf(stderr, "usage: save [-p PROVIDER] FILE [SECONDS]\n");
		return 2;
	}
	if (tb_device_open(NULL, TB_DEVICE_NONBLOCK, &device, &error) < 0) {
		fprintf(stderr, "save: %s\n", error.text);
		return 1;
	}
	if (provider)
		result = tb_device_attach(device, provider);
	if (!result)
		result = save(device, seconds, argv[first]);
	tb_device_close(device);
	return result < 0 ? fail(argv[first], result) : 0;
}
