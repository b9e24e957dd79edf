// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which system calls open, copy, close and use files, or wait.
 */
#include <string.h>
#include "file_calls.h"

static const struct {
	const char *name;
	enum file_call kind;
} known_calls[] = {
	{ "poll", POLL }, { "ppoll", POLL }, { "select", POLL }, { "pselect6", POLL },
	{ "futex", FUTEX }, { "wait4", WAIT }, { "waitid", WAIT_ID }, { "semop", SEMAPHORES },
	{ "semtimedop", SEMAPHORES }, { "msgrcv", MESSAGES }, { "msgsnd", MESSAGES },
	{ "execve", EXEC }, { "execveat", EXEC }, { "open", OPENS },
	{ "creat", OPENS }, { "openat", OPENS_AT }, { "openat2", OPENS_HOW }, { "socket", SOCKET },
	{ "eventfd", EVENTFD }, { "eventfd2", EVENTFD }, { "epoll_create", EPOLL },
	{ "epoll_create1", EPOLL }, { "timerfd_create", TIMERFD }, { "signalfd4", SIGNALFD },
	{ "inotify_init", INOTIFY }, { "inotify_init1", INOTIFY }, { "memfd_create", MEMFD },
	{ "pidfd_open", PIDFD },
	/* the flags of clone3 are in memory; posix_spawn() uses it as vfork */
	{ "fork", FORK }, { "vfork", VFORK }, { "clone3", VFORK },
	{ "clone", CLONE }, { "close", CLOSES }, { "close_range", CLOSES_RANGE }, { "dup", DUP },
	{ "dup2", DUP2 }, { "dup3", DUP3 }, { "fcntl", CONTROL }, { "accept", ACCEPTS },
	{ "accept4", ACCEPTS }, { "bind", BINDS }, { "connect", CONNECTS },
	{ "read", USES }, { "pread64", USES }, { "readv", USES }, { "preadv", USES },
	{ "preadv2", USES }, { "write", USES }, { "pwrite64", USES }, { "writev", USES },
	{ "pwritev", USES }, { "pwritev2", USES }, { "fsync", USES }, { "fdatasync", USES },
	{ "syncfs", USES }, { "sync_file_range", USES }, { "flock", USES }, { "ioctl", USES },
	{ "ftruncate", USES }, { "fallocate", USES }, { "getdents64", USES }, { "lseek", USES },
	{ "fstat", USES }, { "fchmod", USES }, { "readahead", USES }, { "fadvise64", USES },
	{ "sendto", USES }, { "recvfrom", USES }, { "sendmsg", USES },
	{ "recvmsg", USES }, { "sendmmsg", USES }, { "recvmmsg", USES }, { "shutdown", USES },
	{ "epoll_wait", USES }, { "epoll_pwait", USES }, { "epoll_pwait2", USES },
	{ "io_uring_enter", USES }, { "sendfile", USES }, { "splice", USES },
	{ "fgetxattr", USES }, { "fsetxattr", USES }, { "fremovexattr", USES },
	{ "fsconfig", USES }, { "add_key", NO_PATH }, { "request_key", NO_PATH },
	{ "delete_module", NO_PATH }, { "fsopen", NO_PATH },
};

enum file_call file_call_of(struct file_calls *calls, int64_t number)
{
	const char *name;
	size_t i;

	if (number < 0 || number >= FILE_CALLS_MAX)
		return OTHER;
	if (calls->kinds[number])
		return calls->kinds[number];
	calls->kinds[number] = OTHER;
	name = tb_trace_string(calls->trace, TB_STRING_SYSCALL, (uint32_t)number);
	for (i = 0; name && i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		if (!strcmp(name, known_calls[i].name))
			calls->kinds[number] = (uint8_t)known_calls[i].kind;
	return calls->kinds[number];
}
