// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running in the background; see service.h.
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
 * The recorder has little to do, but in time: among many that want the processor it gets its turn
 * when the rings have been filled.  Whoever runs it with another priority has decided on that
 * already; who may not raise it records all the same.  Real-time threads come first, as ever, and
 * in a group of tasks with a share of its own (cgroup, autogroup) it comes first within that.
 */
static void hurry(void)
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
		hurry();
	if (service->nice_given && setpriority(PRIO_PROCESS, 0, service->nice) < 0)
		return complain("--nice %d: %s", service->nice, strerror(errno));
	if (service->rt && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) < 0)
		return complain("--rt %u: %s", service->rt, errno == EPERM ?
				"needs root, the capability CAP_SYS_NICE, or a limit (ulimit -r)" :
				strerror(errno));
	return EXIT_FINE;
}

/* ---- the pid file ---- */

/* Does the name still lead to the file that is open? */
static bool pid_file_named(const struct service *service)
{
	struct stat opened, named;

	return !fstat(service->pid_fd, &opened) && !stat(service->pid_file, &named) &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/*
 * Its lock tells that its process is there, whatever the number in it.  A recorder that ends removes
 * the name and then lets go of the lock.  Whoever opened the file before that may lock a file
 * without a name: then it is opened again.
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
			return complain("%s: it is that of a recorder that runs, process %s",
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

/* The parent: until the child records, or has failed and said why */
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
		note("nobody waits for the recorder any more");
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
		/* still locked: nobody else can have taken over this name; see pid_file_open() */
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
	/* if it has gone, the recording is not to end for that */
	if (sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
		errno = 0;
	close(fd);
}
