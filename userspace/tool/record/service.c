// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recorder in the background: options, priority, pid file, detaching, and messages to the service
 * manager; see service.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "service.h"
#include "tool/command/command.h"
#include "tool/command/number.h"

/* ---- options ---- */

int service_option(const struct command *command, int option, const char *value,
		   struct service *service)
{
	switch (option) {
	case OPTION_DAEMON:
		service->daemon = true;
		return 1;
	case OPTION_PID_FILE:
		service->pid_file = value;
		return 1;
	case OPTION_NICE:
		service->nice_given = true;
		if (!parse_s32(value, -20, 19, &service->nice))
			return 1;
		misused(command, "--nice: '%s' is not a number from -20 to 19", value);
		return -1;
	case OPTION_RT:
		if (!parse_u32(value, 1, 99, &service->rt))
			return 1;
		misused(command, "--rt: '%s' is not a priority from 1 to 99", value);
		return -1;
	}
	return 0;
}

/* ---- priority ---- */

#define NICE_HURRY (-20)

/*
 * The recorder has little work, but late work loses events: on a busy machine, with an ordinary
 * priority, the rings may be full before it runs.  Keep a priority that the user has chosen.  If
 * the user may not raise it, record without.  The niceness counts only within a cgroup or
 * autogroup, and real-time threads still come first.
 */
static void raise_priority(void)
{
	errno = 0;
	if (sched_getscheduler(0) == SCHED_OTHER && !getpriority(PRIO_PROCESS, 0) && !errno &&
	    setpriority(PRIO_PROCESS, 0, NICE_HURRY) < 0)
		errno = 0;
}

int service_priority(const struct service *service)
{
	struct sched_param param = { .sched_priority = (int)service->rt };

	if (service->hurry && !service->nice_given && !service->rt)
		raise_priority();
	if (service->nice_given && setpriority(PRIO_PROCESS, 0, service->nice) < 0)
		return complain("--nice %d: %s", service->nice, strerror(errno));
	if (service->rt && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) < 0)
		return complain("--rt %u: %s", service->rt, errno == EPERM ?
				"needs root, the capability CAP_SYS_NICE, or a limit (ulimit -r)" :
				strerror(errno));
	return EXIT_FINE;
}

/* ---- the pid file ---- */

/* Is the open file still the one with this name? */
static bool pid_file_named(const struct service *service)
{
	struct stat opened, named;

	return !fstat(service->pid_fd, &opened) && !stat(service->pid_file, &named) &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/*
 * The lock of the pid file says that its recorder runs; the number in it does not.  A recorder that
 * ends deletes the file, then unlocks it.  If this program opened the file before that, it locks a
 * deleted file: then it opens the name again.
 */
static int pid_file_open(struct service *service)
{
	char text[16] = "";
	ssize_t got;

	for (;;) {
		service->pid_fd = open(service->pid_file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (service->pid_fd < 0)
			return complain("%s: %s", service->pid_file, strerror(errno));
		if (flock(service->pid_fd, LOCK_EX | LOCK_NB) < 0) {
			got = read(service->pid_fd, text, sizeof(text) - 1);
			text[got > 0 ? strcspn(text, "\n") : 0] = 0;
			close(service->pid_fd);
			service->pid_fd = -1;
			return complain("%s: a recorder that runs uses this pid file: process %s",
					service->pid_file, *text ? text : "?");
		}
		if (pid_file_named(service))
			break;
		close(service->pid_fd);
	}
	if (ftruncate(service->pid_fd, 0) < 0 ||
	    dprintf(service->pid_fd, "%d\n", getpid()) < 0)
		return complain("%s: %s", service->pid_file, strerror(errno));
	return EXIT_FINE;
}

/* ---- detaching ---- */

/* In the parent: wait until the child records, or has failed; it has said why */
static int wait_for_child(pid_t child, int fd)
{
	int status;
	char byte;
	ssize_t got;

	do
		got = read(fd, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got == 1)
		return EXIT_FINE;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_WRONG;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WRONG;
}

static int detach(struct service *service)
{
	int ends[2], result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return complain("cannot detach: %s", strerror(errno));
	fflush(NULL);
	child = fork();
	if (child < 0)
		return complain("cannot fork: %s", strerror(errno));
	if (child) {
		close(ends[1]);
		result = wait_for_child(child, ends[0]);
		close(ends[0]);
		return result;
	}
	close(ends[0]);
	service->parent = ends[1];
	setsid();
	return -1;
}

int service_begin(struct service *service)
{
	int status;

	service->pid_fd = service->parent = -1;
	if (service->daemon) {
		status = detach(service);
		if (status >= 0)
			return status;
	}
	if (service->pid_file && pid_file_open(service))
		return EXIT_WRONG;
	return -1;
}

void service_ready(struct service *service)
{
	int null;

	service_notify("READY=1\nMAINPID=%d\nSTATUS=Recording", getpid());
	if (!service->daemon)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	messages_to_log();
	fflush(NULL);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	if (write(service->parent, "", 1) < 0)
		note("the command that started this recorder has ended already");
	close(service->parent);
	service->parent = -1;
}

void service_stopping(void)
{
	service_notify("STOPPING=1");
}

void service_end(struct service *service)
{
	if (service->pid_fd >= 0) {
		/*
		 * delete it before unlocking: no other recorder has the name yet; pid_file_open()
		 */
		unlink(service->pid_file);
		close(service->pid_fd);
	}
	if (service->parent >= 0)
		close(service->parent);
}

/* ---- the service manager ---- */

void service_notify(const char *text, ...)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	va_list arguments;
	char message[256];
	size_t length;
	int fd;

	length = path ? strlen(path) : 0;
	if (!length || (*path != '/' && *path != '@') || length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = 0;
	va_start(arguments, text);
	vsnprintf(message, sizeof(message), text, arguments);
	va_end(arguments);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* ignore errors: the recording goes on without a service manager */
	if (sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
		errno = 0;
	close(fd);
}
