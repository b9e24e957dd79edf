/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What system calls do with the numbers of files, and what they wait for.
 */
#ifndef TRACEBUF_FILE_CALLS_H
#define TRACEBUF_FILE_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"

#define FILE_CALLS_MAX 1024

/*
 * What a system call does with files; the first argument is a file's number from USES on.  OTHER: a
 * text among the arguments is a path; NO_PATH: it is none.
 */
enum file_call {
	NOT_LOOKED_UP = 0, OTHER, NO_PATH, POLL, FUTEX, WAIT, WAIT_ID, SEMAPHORES, MESSAGES, EXEC,
	FORK, VFORK, CLONE, CLOSES_RANGE, OPENS, OPENS_AT, OPENS_HOW, SOCKET, EVENTFD, EPOLL,
	TIMERFD, SIGNALFD, INOTIFY, MEMFD, PIDFD, USES, CLOSES, DUP, DUP2, DUP3, CONTROL, ACCEPTS,
	BINDS, CONNECTS,
};

/* All zero but @trace: nothing looked up yet */
struct file_calls {
	const struct tb_trace *trace;
	uint8_t kinds[FILE_CALLS_MAX];	/* enum file_call by the number of the call */
};

enum file_call file_call_of(struct file_calls *calls, int64_t number);

/* Does a call of this kind return a new number, if it succeeds? */
static inline bool file_call_opens(enum file_call kind)
{
	return (kind >= OPENS && kind < USES) || (kind >= DUP && kind <= DUP3) || kind == ACCEPTS;
}

#endif /* TRACEBUF_FILE_CALLS_H */
