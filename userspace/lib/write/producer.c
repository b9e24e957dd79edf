// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A channel to the kernel: /dev/tracebuf_producer as the operations of struct tb_endpoint.
 *
 * The page that the kernel writes is mapped read-only, apart from the chunks.
 *
 * A program may record between a system call and its look at errno, and in signal handlers: so
 * these functions keep errno.  They are no cancellation points either, because a thread that is
 * cancelled in the library would never leave its gates.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "arbiter.h"

#ifdef TB_STEPS
int (*tb_open_instead)(struct tb_endpoint **endpoint);
#endif

struct producer {
	struct tb_endpoint endpoint;
	int    fd;
	void  *page, *chunks;
	size_t page_bytes, chunks_bytes;
};

static struct producer *producer_of(struct tb_endpoint *endpoint)
{
	return (struct producer *)endpoint;
}

static int producer_ioctl(struct tb_endpoint *endpoint, unsigned long command, void *argument)
{
	int result, saved = errno;

	do
		result = ioctl(producer_of(endpoint)->fd, command, argument);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		result = -errno;
	errno = saved;
	return result;
}

static void close_file(int fd)
{
	int state, saved = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	close(fd);
	pthread_setcancelstate(state, NULL);
	errno = saved;
}

static int open_file(const char *path)
{
	int result, state, saved = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	result = open(path, O_RDWR | O_CLOEXEC);
	if (result < 0)
		result = -errno;
	pthread_setcancelstate(state, NULL);
	errno = saved;
	return result;
}

static int map(int fd, size_t bytes, int protection, uint64_t offset, void **memory)
{
	int result, saved = errno;

	*memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)offset);
	if (*memory != MAP_FAILED)
		return 0;
	*memory = NULL;
	result = -errno;
	errno = saved;
	return result;
}

static int setup(struct tb_endpoint *endpoint, struct tb_producer_setup *request,
		 const struct tb_producer_page **page, void **chunks)
{
	struct producer *producer = producer_of(endpoint);
	size_t wanted = (size_t)request->chunk_bytes * request->chunks;
	int result = producer_ioctl(endpoint, TB_PIOC_SETUP, request);

	if (result < 0)
		return result;
	producer->page_bytes = TB_PRODUCER_PAGE_BYTES;
	result = map(producer->fd, producer->page_bytes, PROT_READ, 0, &producer->page);
	if (result < 0)
		return result;
	*page = producer->page;
	if ((*page)->abi != TB_PRODUCER_ABI)
		return -EPROTO;
	if (request->flags & TB_SETUP_NO_SHARED)
		return 0;
	if (request->map_bytes < request->chunks_offset ||
	    request->map_bytes - request->chunks_offset < wanted)
		return -EPROTO;
	producer->chunks_bytes = wanted;
	result = map(producer->fd, wanted, PROT_READ | PROT_WRITE, request->chunks_offset,
		     &producer->chunks);
	*chunks = producer->chunks;
	return result;
}

static int target(struct tb_endpoint *endpoint, struct tb_target_req *request)
{
	return producer_ioctl(endpoint, TB_PIOC_TARGET, request);
}

static int writer(struct tb_endpoint *endpoint, const struct tb_writer_req *request)
{
	struct tb_writer_req own = *request;

	return producer_ioctl(endpoint, TB_PIOC_WRITER, &own);
}

static int category(struct tb_endpoint *endpoint, struct tb_category_req *request)
{
	return producer_ioctl(endpoint, TB_PIOC_CATEGORY, request);
}

static int commit(struct tb_endpoint *endpoint, struct tb_commit *request)
{
	return producer_ioctl(endpoint, TB_PIOC_COMMIT, request);
}

static int wait(struct tb_endpoint *endpoint, int timeout_ms)
{
	struct pollfd poll_fd = {
		.fd = producer_of(endpoint)->fd, .events = POLLIN | POLLPRI,
	};
	int state, saved = errno, result;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	result = poll(&poll_fd, 1, timeout_ms);
	pthread_setcancelstate(state, NULL);
	if (result <= 0) {
		result = !result || errno == EINTR ? 0 : -errno;
		errno = saved;
		return result;
	}
	if (poll_fd.revents & (POLLERR | POLLNVAL))
		return -EIO;
	return (poll_fd.revents & POLLPRI ? TB_WAIT_FLUSH : 0) |
	       (poll_fd.revents & POLLIN ? TB_WAIT_CHANGE : 0);
}

static uint64_t now_us(struct tb_endpoint *endpoint)
{
	struct timespec time;

	(void)endpoint;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000;
}

static void nap(struct tb_endpoint *endpoint, uint64_t us)
{
	struct timespec time = {
		.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000,
	};
	int state, saved = errno;

	(void)endpoint;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (nanosleep(&time, &time) && errno == EINTR)
		;
	pthread_setcancelstate(state, NULL);
	errno = saved;
}

/* Without munmap(): a child does not inherit the mappings, and may use their addresses */
static void close_inherited(struct tb_endpoint *endpoint)
{
	struct producer *producer = producer_of(endpoint);

	close_file(producer->fd);
	tb_unmap(producer, sizeof(*producer));
}

static void close_producer(struct tb_endpoint *endpoint)
{
	struct producer *producer = producer_of(endpoint);

	tb_unmap(producer->page, producer->page_bytes);
	tb_unmap(producer->chunks, producer->chunks_bytes);
	close_inherited(endpoint);
}

int tb_producer_open(struct tb_endpoint **out)
{
	static const struct tb_endpoint_ops ops = {
		.setup = setup,
		.target = target,
		.writer = writer,
		.category = category,
		.commit = commit,
		.wait = wait,
		.now_us = now_us,
		.nap = nap,
		.close = close_producer,
		.close_inherited = close_inherited,
	};
	struct producer *producer;
	int result;

	*out = NULL;
#ifdef TB_STEPS
	if (tb_open_instead)
		return tb_open_instead(out);
#endif
	producer = tb_map(sizeof(*producer));
	if (!producer)
		return -ENOMEM;
	producer->endpoint.ops = &ops;
	producer->fd = open_file(TB_PRODUCER_PATH);
	if (producer->fd < 0) {
		result = producer->fd;
		tb_unmap(producer, sizeof(*producer));
		return result;
	}
	*out = &producer->endpoint;
	return 0;
}
