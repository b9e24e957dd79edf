/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that sleeps in read().
 */
#ifndef SLEEPER_H
#define SLEEPER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct sleeper - one read() by a thread of its own
 * @n: result of read(), valid if @done
 * @err: errno after read()
 * @buf: the bytes that were read
 */
struct sleeper {
	pthread_t thread;
	int fd;
	pid_t tid;
	ssize_t n;
	int err;
	char buf[16384] __attribute__((aligned(8)));
	bool done;
};

/* Returns true when the thread sleeps in read(), false if it does not. */
bool sleeper_start(struct sleeper *s, int fd);
/* Returns true when read() has returned, false if it does not. */
bool sleeper_done(struct sleeper *s);

#endif /* SLEEPER_H */
