// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing with writev(); see plain.h.
 *
 * The reader of a pipe may stop reading for ever.  So the recorder never blocks in write(): pipes
 * are non-blocking, sockets get MSG_DONTWAIT, and the recorder waits in poll() and checks for
 * signals.  Signals that end a recording are blocked and read from a file (signals.h): here they
 * are pending, or the caller has read them and set out->stopping.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "plain.h"

#define WAIT_MS 100
#define PATIENCE_MS 5000	/* after a signal, wait so long for a reader that does not read */

/* ---- pipes that do not block ---- */

/* Open the pipe again: O_NONBLOCK on standard output would affect other programs that share it */
int plain_stdout(void)
{
	struct stat status;
	int fd = -1;

	if (!fstat(STDOUT_FILENO, &status) && S_ISFIFO(status.st_mode))
		fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	/* not a pipe, or a pipe of another user, to which writes may block */
	if (fd < 0)
		fd = dup(STDOUT_FILENO);
	return fd < 0 ? -errno : fd;
}

/* ---- waiting for the reader ---- */

static bool stop_pending(void)
{
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP);
}

/*
 * Wait until the reader has read something.  After a signal wait at most PATIENCE_MS; a second
 * signal ends the wait.  Returns 0 or -ETIMEDOUT.
 */
static int wait_writable(const struct output_file *out)
{
	struct pollfd wait = { .fd = out->fd, .events = POLLOUT };
	unsigned int patience = PATIENCE_MS / WAIT_MS;

	while (!poll(&wait, 1, WAIT_MS)) {
		if (out->stopping && stop_pending())
			return -ETIMEDOUT;
		if ((out->stopping || stop_pending()) && !--patience)
			return -ETIMEDOUT;
	}
	return 0;
}

/* ---- writing ---- */

static ssize_t write_some(const struct output_file *out, struct iovec *vectors, unsigned int count)
{
	struct msghdr message = { .msg_iov = vectors, .msg_iovlen = count };

	if (out->socket)
		return sendmsg(out->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	return writev(out->fd, vectors, (int)count);
}

/* Remove the first @part bytes of a piece that was not written as a whole */
static void cut(const struct output_file *out, uint64_t part)
{
	off_t end;

	if (!part || !out->regular)
		return;
	end = lseek(out->fd, 0, SEEK_CUR);
	if (end >= (off_t)part &&
	    ftruncate(out->fd, end - (off_t)part) == 0)
		lseek(out->fd, end - (off_t)part, SEEK_SET);
}

/* Wait or make room if the write can be repeated; 0: repeat it; else the -errno to fail with */
static int try_again(const struct output_file *out, int failure)
{
	if (failure == -EINTR)
		return 0;
	if (failure == -EAGAIN)
		return wait_writable(out);
	return output_file_make_room(out, failure) ? 0 : failure;
}

int plain_write(struct output_file *out, struct iovec *vectors, const struct piece *pieces,
		unsigned int count, unsigned int *written)
{
	uint64_t part = 0;	/* bytes of the first piece that are written */
	unsigned int first = 0;
	ssize_t done;
	int failure;

	while (first < count) {
		done = write_some(out, vectors + first, count - first);
		if (done <= 0) {
			failure = try_again(out, done < 0 ? -errno : -ENOSPC);
			if (!failure)
				continue;
			out->failed = failure;
			cut(out, part);
			*written = first;
			for (; first < count; first++)
				out->unwritten += pieces[first].events;
			return -EIO;
		}
		while (first < count && (size_t)done >= vectors[first].iov_len) {
			done -= (ssize_t)vectors[first].iov_len;
			out->bytes += part + vectors[first].iov_len;
			out->rolling += pieces[first].rolling;
			part = 0;
			first++;
		}
		if (done) {
			vectors[first].iov_base =
				(char *)vectors[first].iov_base + done;
			vectors[first].iov_len -= (size_t)done;
			part += (uint64_t)done;
		}
	}
	*written = count;
	return 0;
}
