/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The base of each test_*.c: the kernel's kselftest harness with a timeout for slow guests, and the
 * device.
 */
#ifndef TBTEST_H
#define TBTEST_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <kselftest_harness.h>

#include "device.h"

/*
 * Seconds. Guests that count instructions (TRACEBUF_ICOUNT) get no useful limit, because their time
 * leaps ahead whenever they wait for the disk; nor do the long runs of TRACEBUF_FULL.
 */
static inline int test_timeout(void)
{
	return getenv("TRACEBUF_ICOUNT") || getenv("TRACEBUF_FULL") ? 1000000 : 600;
}

#define TEST_DEV(fixture, name)	TEST_F_TIMEOUT(fixture, name, test_timeout())

/* Fails with the error of the stream checker. */
#define ASSERT_STREAM(ok, s)						\
	do {								\
		bool ok_ = (ok);					\
		if (!ok_)						\
			TH_LOG("stream: %s", (s)->error);		\
		ASSERT_TRUE(ok_);					\
	} while (0)

/* A fixture with the device as new: an fd on "kernel", and a stream checker. */
#define DEVICE_FIXTURE(fixture)						\
	FIXTURE(fixture) {						\
		int fd;							\
		struct stream s;					\
	};								\
	FIXTURE_SETUP(fixture)						\
	{								\
		self->fd = tb_open(0);					\
		ASSERT_LE(0, self->fd);					\
		ASSERT_EQ(0, tb_fresh(self->fd));			\
		ASSERT_EQ(0, pin(0));					\
		stream_init(&self->s);					\
	}								\
	FIXTURE_TEARDOWN(fixture)					\
	{								\
		tb_stop(self->fd);					\
		close(self->fd);					\
		stream_free(&self->s);					\
	}

#endif /* TBTEST_H */
