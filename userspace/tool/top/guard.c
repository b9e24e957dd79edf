// SPDX-License-Identifier: GPL-2.0-only
/*
 * A provider and the modes of a terminal outlive a program that dies.  So a child process, the
 * guard, waits for the end of this one, which closes a pipe, and cleans up.  It also does so after
 * an orderly end, so that there is only one way.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "top.h"
#include "tool/command/command.h"
/* last: these define macros with common names */
#include <curses.h>
#include <term.h>

#define TRIES 100			/* of 50 ms: files of the other process may close later */

/* The bytes that restore() writes; terminals need about 50 */
static struct {
	char bytes[512];
	size_t size;
} sequence;

static int put_byte(int c)
{
	if (sequence.size == sizeof(sequence.bytes))
		return EOF;
	sequence.bytes[sequence.size++] = (char)c;
	return c;
}

/*
 * Restore the modes of the terminal, and begin a new line.  The shell may write its prompt at the
 * same time: one write() for all bytes keeps the prompt out of escape sequences.
 */
static void restore(const struct termios *before)
{
	int error;

	tcsetattr(STDOUT_FILENO, TCSANOW, before);
	if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
		return;
	if (exit_attribute_mode)
		tputs(exit_attribute_mode, 1, put_byte);
	if (exit_ca_mode)
		tputs(exit_ca_mode, 1, put_byte);
	if (cursor_normal)
		tputs(cursor_normal, 1, put_byte);
	put_byte('\r');
	put_byte('\n');
	while (write(STDOUT_FILENO, sequence.bytes, sequence.size) < 0 && errno == EINTR)
		;
}

static int destroy(const char *provider)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct tb_device *device;
	int result, tries;

	result = tb_device_open(NULL, 0, &device, NULL);
	if (result < 0)
		return result;
	for (tries = 0; tries < TRIES; tries++) {
		result = tb_device_destroy(device, provider);
		if (result != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	tb_device_close(device);
	return result == -ENOENT ? 0 : result;
}

/* The guard.  @before: modes of the terminal; NULL: there is none */
static int keep_watch(int pipe, const char *provider, const struct termios *before)
{
	bool there = false, screen = false;
	char said;
	ssize_t got;

	while ((got = read(pipe, &said, 1)) == 1 || (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		there |= said == 'p';
		screen = said == 's' || (screen && said != 'e');
	}
	if (screen && before)
		restore(before);
	return there && destroy(provider) ? EXIT_WRONG : EXIT_FINE;
}

int top_guard_start(struct top_guard *guard, const char *provider)
{
	struct termios before;
	bool terminal;
	int ends[2];

	/* before fork(): the parent may change the modes before the child runs */
	terminal = !tcgetattr(STDOUT_FILENO, &before);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	guard->pid = fork();
	if (guard->pid < 0) {
		close(ends[0]);
		close(ends[1]);
		guard->pid = 0;
		return -errno;
	}
	if (!guard->pid) {
		/* get no signals of keys, nor when the terminal is closed */
		setsid();
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		close(ends[1]);
		_exit(keep_watch(ends[0], provider, terminal ? &before : NULL));
	}
	close(ends[0]);
	guard->pipe = ends[1];
	return 0;
}

static void notify(struct top_guard *guard, char what)
{
	if (guard->pid && write(guard->pipe, &what, 1) != 1)
		note("the process that cleans up has ended: %s", strerror(errno));
}

void top_guard_provider(struct top_guard *guard)
{
	notify(guard, 'p');
}

void top_guard_screen(struct top_guard *guard, bool on)
{
	notify(guard, on ? 's' : 'e');
}

int top_guard_end(struct top_guard *guard)
{
	int status = 0;

	if (!guard->pid)
		return EXIT_FINE;
	close(guard->pipe);
	while (waitpid(guard->pid, &status, 0) < 0 && errno == EINTR)
		;
	guard->pid = 0;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? EXIT_FINE : EXIT_WRONG;
}
