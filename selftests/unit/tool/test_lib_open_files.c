// SPDX-License-Identifier: GPL-2.0-only
/*
 * At the start the recorder reads from /proc which files processes have open, with the names that
 * `why` shows: files, pipes, sockets of each kind. It stops after a limit of time and number, and
 * leaves out what it may not read. If this fails, `why` names a wrong file, or the recorder
 * disturbs what it records. The processes are children of the test.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "test_lib_fixture.h"
#include "tool/record/open_files.h"

static char folder[] = "/tmp/open_files-XXXXXX";

static uint64_t monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/* ---- a child ---- */

/* A child that has open what the test has open, until stop() */
static pid_t start(void)
{
	pid_t pid = fork();

	assert(pid >= 0);
	while (!pid)
		pause();
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- results ---- */

/* Call @take for each record; return how many there are */
static unsigned int each(const struct open_files *files,
			 void (*take)(const struct tb_open_file *, const char *, void *),
			 void *context)
{
	struct tb_block *block;
	unsigned int count = 0;
	struct tb_walk walk;
	char name[200];
	size_t bytes, at;
	void *data;

	assert(!open_files_notes(files, 5, 3, &data, &bytes));
	for (at = 0; at < bytes; at += 1u << block->size_log2) {
		block = (void *)((unsigned char *)data + at);
		CHECK(block->kind == TB_BLOCK_NOTE && block->provider == 3);
		tb_walk_start(&walk, block);
		while (tb_walk_next(&walk) == 1) {
			const struct tb_open_file *file = walk.payload;
			size_t length = walk.bytes - sizeof(*file);

			CHECK_NUMBER(walk.id, TB_EV_OPEN_FILE);
			CHECK(length >= 1 && length <= 127 && !file->reserved);
			memcpy(name, file + 1, length);
			name[length] = 0;
			if (take)
				take(file, name, context);
			count++;
		}
	}
	free(data);
	return count;
}

struct wanted {
	uint32_t pid, number;
	uint64_t from, until;
	uint16_t flags;
	char name[200];
};

static void take_wanted(const struct tb_open_file *file, const char *name, void *context)
{
	struct wanted *wanted = context;

	if (file->pid != wanted->pid || file->number != wanted->number)
		return;
	CHECK(!*wanted->name);
	CHECK(file->since >= wanted->from && file->since + file->span <= wanted->until);
	wanted->flags = file->flags;
	strcpy(wanted->name, name);
}

static uint64_t began, ended;

static struct open_files *read_files(const uint32_t *pids, size_t count, unsigned int left_out)
{
	struct open_files *files;

	began = monotonic_ns();
	files = open_files_start(pids, count);
	assert(files);
	CHECK_NUMBER(open_files_wait(files), left_out);
	ended = monotonic_ns();
	return files;
}

static struct wanted file_of(const struct open_files *files, pid_t pid, int number)
{
	struct wanted wanted = {
		.pid = (uint32_t)pid, .number = (uint32_t)number, .from = began, .until = ended,
	};

	each(files, take_wanted, &wanted);
	return wanted;
}

#define HAS(files, pid, number, expected) \
	do { \
		struct wanted wanted_ = file_of(files, pid, number); \
		CHECK_TEXT(wanted_.name, expected); \
	} while (0)

static const char *linked(int number)
{
	static char text[4096];
	char name[64];
	ssize_t length;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", number);
	length = readlink(name, text, sizeof(text) - 1);
	assert(length > 0);
	text[length] = 0;
	return text;
}

/* ---- tests ---- */

static void files_and_pipes(void)
{
	char path[300], tail[200] = "...", pipe_name[64];
	struct open_files *files;
	int file, deep, pipes[2], polled;
	uint32_t pid;

	snprintf(path, sizeof(path), "%s/file", folder);
	file = open(path, O_RDWR | O_CREAT, 0600);
	memset(path, 0, sizeof(path));
	snprintf(path, sizeof(path), "%s/", folder);
	memset(path + strlen(path), 'a', 200);
	strcpy(path + strlen(path) - 4, "tail");
	deep = open(path, O_RDWR | O_CREAT, 0600);
	polled = epoll_create1(0);
	assert(file >= 0 && deep >= 0 && polled >= 0 && !pipe(pipes));
	strcat(tail, path + strlen(path) - 124);
	snprintf(pipe_name, sizeof(pipe_name), "%s", linked(pipes[0]));
	CHECK(!strncmp(pipe_name, "pipe:[", 6));
	pid = (uint32_t)start();
	files = read_files(&pid, 1, 0);
	HAS(files, (pid_t)pid, file, linked(file));
	HAS(files, (pid_t)pid, deep, tail);
	HAS(files, (pid_t)pid, pipes[0], pipe_name);
	HAS(files, (pid_t)pid, pipes[1], pipe_name);
	HAS(files, (pid_t)pid, polled, "anon_inode:[eventpoll]");
	HAS(files, (pid_t)pid, 1000, "");
	open_files_free(files);
	stop((pid_t)pid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/file", folder);
	unlink(path);
	close(file);
	close(deep);
	close(polled);
	close(pipes[0]);
	close(pipes[1]);
}

/* A listener on a loopback address, its client and the accepted socket; @ports of the first two */
static void connect_pair(int family, int sockets[3], unsigned int ports[2])
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr *address = family == AF_INET ? (void *)&four : (void *)&six;
	socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);

	sockets[0] = socket(family, SOCK_STREAM, 0);
	sockets[1] = socket(family, SOCK_STREAM, 0);
	assert(!bind(sockets[0], address, size) && !listen(sockets[0], 1));
	assert(!getsockname(sockets[0], address, &size));
	ports[0] = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
	assert(!connect(sockets[1], address, size));
	sockets[2] = accept(sockets[0], NULL, NULL);
	assert(sockets[2] >= 0 && !getsockname(sockets[1], address, &size));
	ports[1] = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
}

static void internet_sockets(int family, const char *host)
{
	char listens[64], client[128], server[128], datagram[64];
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	struct open_files *files;
	unsigned int ports[2], i;
	int sockets[4];
	uint32_t pid;

	connect_pair(family, sockets, ports);
	sockets[3] = socket(AF_INET, SOCK_DGRAM, 0);
	assert(!bind(sockets[3], (void *)&address, size) &&
	       !getsockname(sockets[3], (void *)&address, &size));
	snprintf(listens, sizeof(listens), "tcp %s:%u", host, ports[0]);
	snprintf(client, sizeof(client), "tcp %s:%u -> %s:%u", host, ports[1], host, ports[0]);
	snprintf(server, sizeof(server), "tcp %s:%u -> %s:%u", host, ports[0], host, ports[1]);
	snprintf(datagram, sizeof(datagram), "udp 0.0.0.0:%u", ntohs(address.sin_port));
	pid = (uint32_t)start();
	files = read_files(&pid, 1, 0);
	HAS(files, (pid_t)pid, sockets[0], listens);
	HAS(files, (pid_t)pid, sockets[1], client);
	HAS(files, (pid_t)pid, sockets[2], server);
	HAS(files, (pid_t)pid, sockets[3], datagram);
	open_files_free(files);
	stop((pid_t)pid);
	for (i = 0; i < 4; i++)
		close(sockets[i]);
}

static void sockets_of_ipv4(void)
{
	internet_sockets(AF_INET, "127.0.0.1");
}

static void sockets_of_ipv6(void)
{
	int probe = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};

	if (probe < 0 || bind(probe, (void *)&address, sizeof(address)))
		printf("# skipped: no IPv6 here\n");
	else
		internet_sockets(AF_INET6, "[::1]");
	close(probe);
}

static void unix_sockets(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct open_files *files;
	int named, pair[2];
	char name[200];
	uint32_t pid;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/x.sock", folder);
	named = socket(AF_UNIX, SOCK_STREAM, 0);
	assert(!bind(named, (void *)&address, sizeof(address)) && !listen(named, 1));
	assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	snprintf(name, sizeof(name), "unix %s", address.sun_path);
	pid = (uint32_t)start();
	files = read_files(&pid, 1, 0);
	HAS(files, (pid_t)pid, named, name);
	/* a socket without a name of its own */
	HAS(files, (pid_t)pid, pair[0], linked(pair[0]));
	open_files_free(files);
	stop((pid_t)pid);
	unlink(address.sun_path);
	close(named);
	close(pair[0]);
	close(pair[1]);
}

/* Any program can write what looks like the line of another socket into /proc/net/unix */
static void forged_names(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int forging = socket(AF_UNIX, SOCK_STREAM, 0), pair[2], length;
	struct open_files *files;
	struct stat status;
	uint32_t pid;

	assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && !fstat(pair[0], &status));
	/* an abstract name begins with NUL */
	length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			  "x\n0: 2 0 0 1 1 %llu /run/docker.sock\n",
			  (unsigned long long)status.st_ino);
	assert(!bind(forging, (void *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)));
	pid = (uint32_t)start();
	files = read_files(&pid, 1, 0);
	HAS(files, (pid_t)pid, pair[0], linked(pair[0]));
	open_files_free(files);
	stop((pid_t)pid);
	close(forging);
	close(pair[0]);
	close(pair[1]);
}

/* The recorder checks only for standard files whether exec closes them */
static void closed_by_exec(void)
{
	int saved = dup(0), null = open("/dev/null", O_RDWR);
	struct open_files *files;
	uint32_t pid;

	assert(saved > 2 && null > 2 && dup2(null, 0) == 0);
	pid = (uint32_t)start();
	files = read_files(&pid, 1, 0);
	HAS(files, (pid_t)pid, 0, "/dev/null");
	CHECK_NUMBER(file_of(files, (pid_t)pid, 0).flags, 0);
	CHECK_NUMBER(file_of(files, (pid_t)pid, null).flags, TB_OPEN_FILE_EXEC);
	open_files_free(files);
	stop((pid_t)pid);
	assert(dup3(null, 0, O_CLOEXEC) == 0);
	pid = (uint32_t)start();
	files = read_files(&pid, 1, 0);
	CHECK_NUMBER(file_of(files, (pid_t)pid, 0).flags, TB_OPEN_FILE_EXEC);
	open_files_free(files);
	stop((pid_t)pid);
	dup2(saved, 0);
	close(saved);
	close(null);
}

static void limits(void)
{
	struct rlimit limit = { 2000, 2000 }, before;
	struct open_files *files;
	uint32_t pids[2];
	int last = 0;

	getrlimit(RLIMIT_NOFILE, &before);
	limit.rlim_max = before.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		printf("# skipped: not so many files here\n");
		return;
	}
	while (last >= 0 && last < 1500)
		last = dup(1);
	assert(last == 1500);
	pids[0] = (uint32_t)start();
	close_range(3, 1500, 0);
	/* no such process: it counts as ended, not as left out */
	pids[1] = 1u << 30;
	files = read_files(pids, 2, 0);
	CHECK_NUMBER(each(files, NULL, NULL), 1024);
	open_files_free(files);
	/* stopped at once, the reader may have read something, and leaves no thread behind */
	files = open_files_start(pids, 1);
	open_files_stop(files);
	CHECK(each(files, NULL, NULL) <= 1024);
	open_files_free(files);
	stop((pid_t)pids[0]);
	setrlimit(RLIMIT_NOFILE, &before);
}

static void take_count(const struct tb_open_file *file, const char *name, void *context)
{
	(void)name;
	*(unsigned int *)context += file->pid == (uint32_t)getpid();
}

static void all_processes(void)
{
	struct open_files *files;
	unsigned int own = 0;

	began = monotonic_ns();
	files = open_files_start(NULL, 0);
	assert(files);
	open_files_wait(files);
	/* the limit of 200 ms, and time to notice it on a busy machine */
	CHECK(monotonic_ns() - began < 2000000000ull);
	CHECK(each(files, take_count, &own) > 0);
	CHECK(own >= 3);
	open_files_free(files);
}

/* Another user's recorder does not read files of root */
static void without_permission(void)
{
	struct open_files *files;
	uint32_t pid;
	pid_t reader;
	int status;

	if (getuid()) {
		printf("# skipped: not root\n");
		return;
	}
	pid = (uint32_t)start();
	reader = fork();
	if (!reader) {
		assert(!setgid(65534) && !setuid(65534));
		files = open_files_start(&pid, 1);
		status = open_files_wait(files) == 1 && !each(files, NULL, NULL) ? 0 : 1;
		open_files_free(files);
		_exit(status);
	}
	waitpid(reader, &status, 0);
	CHECK_NUMBER(status, 0);
	stop((pid_t)pid);
}

static const struct test tests[] = {
	{ "open files: files and pipes", files_and_pipes },
	{ "open files: sockets of IPv4", sockets_of_ipv4 },
	{ "open files: sockets of IPv6", sockets_of_ipv6 },
	{ "open files: Unix sockets", unix_sockets },
	{ "open files: a name that forges that of another socket", forged_names },
	{ "open files: whether exec closes them", closed_by_exec },
	{ "open files: at most a limit for each process", limits },
	{ "open files: all processes, in time", all_processes },
	{ "open files: without permission", without_permission },
};

int main(void)
{
	int result;

	assert(mkdtemp(folder));
	result = test_main(tests, sizeof(tests) / sizeof(tests[0]));
	rmdir(folder);
	return result;
}
