// SPDX-License-Identifier: GPL-2.0-only
/* Recordings that a test keeps for the host; see recordings.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "recordings.h"

int recording_new(void)
{
	const char *folder = getenv("TRACEBUF_RECORDINGS");
	char path[4096];
	int i, fd;

	if (!folder)
		return -1;
	for (i = 0; i < RECORDINGS_MAX; i++) {
		snprintf(path, sizeof(path), "%s/%03d.tbuf", folder, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST) {
			perror(path);
			exit(1);
		}
	}
	return -1;
}

void recording_write(int fd, const void *data, size_t bytes)
{
	const char *at = data;
	ssize_t n;

	while (bytes) {
		n = write(fd, at, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			perror("a recording cannot be kept");
			exit(1);
		}
		at += n;
		bytes -= n;
	}
}
