// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals that end a command; see signals.h.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "command.h"
#include "signals.h"

bool signal_ignored(int number)
{
	struct sigaction old;

	return !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN;
}

int signals_open(const int *numbers, size_t count)
{
	sigset_t set;
	size_t i;
	int fd;

	sigemptyset(&set);
	for (i = 0; i < count; i++)
		if (numbers[i] != SIGHUP || !signal_ignored(SIGHUP))
			sigaddset(&set, numbers[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int signals_hold(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	int fd = signals_open(numbers, sizeof(numbers) / sizeof(numbers[0]));

	if (fd < 0)
		return complain("signals: %s", strerror(-fd));
	close(fd);
	return EXIT_FINE;
}
