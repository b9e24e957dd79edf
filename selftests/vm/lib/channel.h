/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture of tests of a channel of user-space writers: provider "kernel" as new, a channel with
 * "kernel" as target 0, and the pieces that arrive in the trace. Include it in one .c file of a
 * program.
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <sys/mman.h>
#include <sys/wait.h>

#include "producer.h"
#include "tbtest.h"

#define CHUNK	1024
#define CHUNKS	8
#define FULL	((CHUNK - sizeof(struct tb_chunk)) / RECORD_BYTES)	/* records per chunk */

FIXTURE(channel) {
	int fd;			/* on "kernel" */
	struct stream s;
	struct pieces got;
	struct producer p;
};

FIXTURE_SETUP(channel)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_destroy_all(self->fd));
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	stream_init(&self->s);
	pieces_collect(&self->got, &self->s);
	ASSERT_EQ(0, producer_open(&self->p, "kernel", CHUNK, CHUNKS));
}

FIXTURE_TEARDOWN(channel)
{
	struct tb_categories clear = { .op = TB_CATEGORY_CLEAR };
	struct tb_quota none = { 0 };

	producer_close(&self->p);
	tb_stop(self->fd);
	ioctl(self->fd, TB_IOC_CATEGORIES, &clear);
	ioctl(self->fd, TB_IOC_QUOTA, &none);
	tb_destroy_all(self->fd);
	close(self->fd);
	stream_free(&self->s);
	pieces_free(&self->got);
}

/* Start the recording and register writers 1 and 2. */
#define BEGIN()								\
	do {								\
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));	\
		ASSERT_EQ(0, producer_writer(self->p.fd, 1, 0, 0, 0));	\
		ASSERT_EQ(0, producer_writer(self->p.fd, 2, 0, 0, 0));	\
	} while (0)

/* Stop the recording and read all of it; self->got has the pieces that arrived. */
#define END()								\
	do {								\
		ASSERT_EQ(0, tb_stop(self->fd));			\
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);	\
		ASSERT_STREAM(stream_finish(&self->s), &self->s);	\
	} while (0)

/* Expect that the trace has the first @count records of @writer, and no others. */
#define EXPECT_WHOLE(writer, count)					\
	do {								\
		uint64_t next_;						\
		uint32_t causes_;					\
		EXPECT_EQ((int64_t)(count), pieces_of(&self->got,	\
			  self->p.setup.producer, writer, &next_, &causes_)); \
		EXPECT_EQ((uint64_t)(count), next_);			\
		EXPECT_EQ(0, causes_);					\
	} while (0)

static inline uint32_t state_of(const struct producer *p, uint32_t n)
{
	return __atomic_load_n(&chunk_at(p, n)->state, __ATOMIC_ACQUIRE);
}

static inline int info_at(int fd, uint32_t index, struct tb_producer_info *info)
{
	*info = (struct tb_producer_info){ .index = index };
	return ioctl(fd, TB_IOC_PRODUCERS, info) ? -errno : 0;
}

static inline int map_error(int fd, size_t bytes, int prot, int flags, off_t offset)
{
	void *at = mmap(NULL, bytes, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, bytes);
	return 0;
}

static inline int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif /* CHANNEL_H */
