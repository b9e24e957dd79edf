// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open the device by a helper program with the capability for it (userspace/open/tracebuf-open.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "helper.h"

/* Receive the descriptor that the helper sends over @socket; -errno */
static int receive(int socket)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	const struct cmsghdr *head;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPERM;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* Start the helper: @socket is its standard input, signals have defaults, no environment */
static int start(int socket, pid_t *pid)
{
	char name[] = TB_OPEN_HELPER, *argv[] = { name, NULL }, *none[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int result;

	result = posix_spawn_file_actions_init(&files);
	if (result)
		return -result;
	result = posix_spawnattr_init(&attributes);
	if (result) {
		posix_spawn_file_actions_destroy(&files);
		return -result;
	}
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	result = posix_spawn_file_actions_adddup2(&files, socket, 0);
	if (!result)
		result = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_RDWR, 0);
	if (!result)
		result = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_RDWR, 0);
	if (!result)
		result = posix_spawn(pid, name, &files, &attributes, argv, none);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return -result;
}

int tb_helper_open(unsigned int flags)
{
	int sockets[2], result, fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	result = start(sockets[1], &pid);
	close(sockets[1]);
	fd = result ? result : receive(sockets[0]);
	close(sockets[0]);
	if (!result)
		/* ECHILD if the program ignores SIGCHLD */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (fd >= 0 && (flags & O_NONBLOCK) && fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
		result = -errno;
		close(fd);
		return result;
	}
	return fd;
}
