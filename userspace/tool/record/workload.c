// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command under 'tracebuf record'; see workload.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workload.h"

static void run_child(char **argv, int gate, int answer)
{
	sigset_t none;
	char byte;
	int code;

	/* end of file instead of a byte: the recorder has ended */
	if (read(gate, &byte, 1) != 1)
		_exit(125);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	code = errno;
	if (write(answer, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(code == ENOENT ? 127 : 126);
}

int workload_prepare(struct workload *workload, char **argv)
{
	int gate[2], answer[2], result;

	memset(workload, 0, sizeof(*workload));
	/* a parent may have left SIGCHLD ignored: then waitpid() would get no status */
	signal(SIGCHLD, SIG_DFL);
	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(answer, O_CLOEXEC) < 0) {
		result = -errno;
		close(gate[0]);
		close(gate[1]);
		return result;
	}
	workload->pid = fork();
	if (!workload->pid) {
		close(gate[1]);
		close(answer[0]);
		run_child(argv, gate[0], answer[1]);
	}
	result = workload->pid < 0 ? -errno : 0;
	close(gate[0]);
	close(answer[1]);
	workload->gate = gate[1];
	workload->answer = answer[0];
	if (result < 0) {
		close(gate[1]);
		close(answer[0]);
		workload->pid = 0;
	}
	return result;
}

int workload_go(struct workload *workload)
{
	int code = 0;
	ssize_t got;

	if (write(workload->gate, "", 1) != 1)
		return -EPIPE;
	close(workload->gate);
	workload->gate = -1;
	do
		got = read(workload->answer, &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(code) ? -code : 0;
}

bool workload_ended(struct workload *workload)
{
	if (workload->pid && !workload->ended &&
	    waitpid(workload->pid, &workload->status, WNOHANG) == workload->pid)
		workload->ended = true;
	return workload->ended;
}

/* Has another signal asked to end?  @wait: first wait for a signal, which may be SIGCHLD */
static bool asked_to_end(int signals, bool wait)
{
	struct pollfd poll_fd = { .fd = signals, .events = POLLIN };
	struct signalfd_siginfo info;
	bool asked = false;

	(void)poll(&poll_fd, 1, wait ? -1 : 0);
	while (read(signals, &info, sizeof(info)) == sizeof(info))
		asked |= info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ||
			info.ssi_signo == SIGHUP;
	return asked;
}

void workload_end(struct workload *workload, int signals)
{
	if (!workload->pid)
		return;
	if (workload->gate >= 0)
		close(workload->gate);
	close(workload->answer);
	if (workload_ended(workload))
		return;
	/* discard earlier signals: only new ones kill the child */
	if (signals >= 0)
		asked_to_end(signals, false);
	kill(workload->pid, SIGTERM);
	/* a stopped child receives SIGTERM only after SIGCONT */
	kill(workload->pid, SIGCONT);
	while (signals >= 0 && !workload_ended(workload))
		if (asked_to_end(signals, true))
			kill(workload->pid, SIGKILL);
	if (workload->ended)
		return;
	while (waitpid(workload->pid, &workload->status, 0) < 0)
		if (errno != EINTR)
			return;
	workload->ended = true;
}

int workload_status(const struct workload *workload)
{
	if (!workload->ended)
		return 0;
	if (WIFEXITED(workload->status))
		return WEXITSTATUS(workload->status);
	return WIFSIGNALED(workload->status) ?
	       128 + WTERMSIG(workload->status) : 0;
}
