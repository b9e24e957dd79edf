/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every test_*.c here starts from: the kernel's kselftest harness with a
 * timeout for slow guests, and the device.
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
 * Seconds.  A guest that counts instructions has no use for it: its time
 * leaps ahead whenever it waits for the disk.  Nor has one that does all there is to do.
 */
static inline int test_timeout(void)
{
	return getenv("TRACEBUF_ICOUNT") || getenv("TRACEBUF_FULL") ? 1000000 : 600;
}

#define TEST_DEV(fixture, name)	TEST_F_TIMEOUT(fixture, name, test_timeout())

/* Fails with what the checker of the stream found. */
#define ASSERT_STREAM(ok, s)						\
	do {								\
		bool ok_ = (ok);					\
		if (!ok_)						\
			TH_LOG("stream: %s", (s)->error);		\
		ASSERT_TRUE(ok_);					\
	} while (0)

/* The device as new: an fd, and the checker of a stream. */
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
