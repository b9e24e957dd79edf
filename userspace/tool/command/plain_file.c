// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open a file with a name that another user may have chosen; see plain_file.h.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "plain_file.h"

static bool is_plain(int fd)
{
	struct statfs where;
	struct stat status;

	/* /proc/kmsg is a regular file, too */
	return !fstat(fd, &status) && S_ISREG(status.st_mode) && !fstatfs(fd, &where) &&
	       where.f_type != PROC_SUPER_MAGIC && where.f_type != SYSFS_MAGIC &&
	       where.f_type != DEBUGFS_MAGIC && where.f_type != TRACEFS_MAGIC;
}

int plain_file_open(int at, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	int path_fd, fd = -1;
	char name[32];

	/* O_PATH: check the file before opening it, without a race for its name */
	path_fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
	if (path_fd < 0)
		return -1;
	if (is_plain(path_fd)) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	close(path_fd);
	return fd;
}
