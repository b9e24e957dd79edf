// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that sleeps in read(), see sleeper.h.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "sleeper.h"

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	s->n = read(s->fd, s->buf, sizeof(s->buf));
	s->err = errno;
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

bool sleeper_start(struct sleeper *s, int fd)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	if (pthread_create(&s->thread, NULL, sleeper_main, s))
		return false;
	for (WAIT(__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE)))
		;
	return s->tid && wait_asleep(s->tid) && !s->done;
}

bool sleeper_done(struct sleeper *s)
{
	bool done = false;

	for (WAIT(done))
		done = __atomic_load_n(&s->done, __ATOMIC_ACQUIRE);
	if (done)
		pthread_join(s->thread, NULL);
	return done;
}
