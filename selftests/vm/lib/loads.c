// SPDX-License-Identifier: GPL-2.0-only
/*
 * loads mark N        fires the signal numbered N on each CPU (device.h)
 * loads NAME...       makes events of some subsystems occur, a few hundred of each
 * loads list          prints the names
 *
 * Without a word it skips what the kernel or the machine does not have: the test looks at the
 * events that occurred.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

static void nap(long us)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- threads and processes -------------------------------------------- */

static void tasks(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_NAME, i & 1 ? "odd child" : "even child");
			if (i % 5 == 0)
				execl("/bin/true", "true", NULL);
			setpriority(0, 0, i % 20);
			_exit(i);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void ping_pong(void)
{
	int there[2], back[2], i;
	pid_t pid;
	char c;

	if (pipe(there) || pipe(back))
		return;
	pid = fork();
	if (!pid) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	for (i = 0; i < 100; i++)
		if (write(there[1], "x", 1) != 1 || read(back[0], &c, 1) != 1)
			break;
	close(there[1]);
	close(there[0]);
	close(back[0]);
	close(back[1]);
	waitpid(pid, NULL, 0);
	/* migrate between two CPUs */
	for (i = 0; i < 20; i++)
		pin(i & 1);
}

static void calls(void)
{
	int i;

	for (i = 0; i < 200; i++) {
		syscall(SYS_getppid);
		syscall(SYS_openat, AT_FDCWD, "/nowhere", O_RDONLY);
		syscall(NR_NOWHERE, 1, 2, 3, 4, 5, -1l);
	}
}

static void caught(int signal)
{
	(void)signal;
}

static void signals(void)
{
	union sigval value = { .sival_int = 7 };
	int i;

	signal(SIGUSR1, caught);
	signal(SIGUSR2, SIG_IGN);
	for (i = 0; i < 50; i++) {
		kill(getpid(), SIGUSR1);
		kill(getpid(), SIGUSR2);
		sigqueue(getpid(), SIGUSR1, value);
		kill(getppid(), 0);
	}
}

/* ---- time -------------------------------------------------------------- */

static void timers(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct itimerspec soon = { .it_value = { .tv_nsec = 1000000 } };
	struct epoll_event event;
	uint64_t count;
	int fd, i;

	signal(SIGALRM, caught);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 20; i++)
		nap(3000);
	setitimer(ITIMER_REAL, &never, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	fd = timerfd_create(CLOCK_MONOTONIC, 0);
	for (i = 0; i < 20 && fd >= 0; i++) {
		timerfd_settime(fd, 0, &soon, NULL);
		if (read(fd, &count, sizeof(count)) < 0)
			break;
	}
	close(fd);
	/* timeouts on the timer wheel */
	fd = epoll_create1(0);
	for (i = 0; i < 10; i++)
		epoll_wait(fd, &event, 1, 3);
	close(fd);
}

/* ---- files ------------------------------------------------------------- */

/* Writes files in the current folder. */
static void files(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 100 };
	static char data[65536];
	char name[32];
	int fd, i;

	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "load%d", i);
		fd = open(name, O_RDWR | O_CREAT, 0600);
		if (fd < 0)
			return;
		flock(fd, LOCK_EX);
		fcntl(fd, F_SETLK, &lock);
		fcntl(fd, F_SETLEASE, F_RDLCK);
		if (write(fd, data, sizeof(data)) < 0 || lseek(fd, 0, SEEK_SET) ||
		    read(fd, data, sizeof(data)) < 0 || ftruncate(fd, 1000))
			break;
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		fallocate(fd, 0, 0, 1 << 20);
		close(fd);
		if (!rename(name, "renamed"))
			unlink("renamed");
	}
	sync();
}

/* ---- memory ------------------------------------------------------------ */

static void memory(void)
{
	const size_t size = 1 << 20;
	int i;

	for (i = 0; i < 5; i++) {
		char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			return;
		memset(at, 1, size / 8);
		madvise(at, size, MADV_DONTNEED);
		mlock(at, 65536);
		munlock(at, 65536);
		mprotect(at, size, PROT_READ);
		munmap(at, size);
	}
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	if (fd >= 0 && write(fd, "3", 1) == 1)
		nap(1000);
	close(fd);
}

/* ---- network ----------------------------------------------------------- */

static void udp(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(to);
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0), i;
	char data[1000] = "";

	if (!bind(a, (void *)&to, sizeof(to)) && !getsockname(a, (void *)&to, &length))
		for (i = 0; i < 30; i++)
			if (sendto(b, data, sizeof(data), 0, (void *)&to, sizeof(to)) > 0)
				recv(a, data, sizeof(data), MSG_DONTWAIT);
	close(a);
	close(b);
	/* a port without a listener */
	b = socket(AF_INET, SOCK_DGRAM, 0);
	to.sin_port = htons(9);
	sendto(b, data, 10, 0, (void *)&to, sizeof(to));
	close(b);
}

static void tcp(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	socklen_t length = sizeof(to);
	int listener = socket(AF_INET6, SOCK_STREAM, 0), out, in, i;
	char data[4000] = "";

	if (bind(listener, (void *)&to, sizeof(to)) || listen(listener, 5) ||
	    getsockname(listener, (void *)&to, &length))
		goto out;
	for (i = 0; i < 5; i++) {
		out = socket(AF_INET6, SOCK_STREAM, 0);
		if (!connect(out, (void *)&to, sizeof(to))) {
			in = accept(listener, NULL, NULL);
			if (send(out, data, sizeof(data), MSG_NOSIGNAL) > 0)
				while (recv(in, data, sizeof(data), MSG_DONTWAIT) > 0)
					;
			close(in);
		}
		close(out);
	}
	/* a refused connection */
	to.sin6_port = htons(9);
	out = socket(AF_INET6, SOCK_STREAM, 0);
	if (connect(out, (void *)&to, sizeof(to)))
		nap(1000);
	close(out);
out:
	close(listener);
}

/* ---- others ------------------------------------------------------------ */

static void printk(void)
{
	int fd = open("/dev/kmsg", O_WRONLY), i;

	for (i = 0; i < 5; i++)
		if (write(fd, "<7>loads: a message\n", 20) < 0)
			break;
	close(fd);
}

static void randomness(void)
{
	char data[256];
	int fd, i;

	for (i = 0; i < 10; i++)
		if (getrandom(data, sizeof(data), 0) < 0)
			return;
	fd = open("/dev/urandom", O_RDWR);
	if (write(fd, data, sizeof(data)) > 0)
		nap(100);
	close(fd);
}

static void cgroups(void)
{
	const char *name = "/sys/fs/cgroup/loads";
	char path[64];
	int fd;

	if (mkdir(name, 0700))
		return;
	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	if (!fork()) {
		fd = open(path, O_WRONLY);
		if (write(fd, "0", 1) == 1)
			nap(1000);
		_exit(0);
	}
	wait(NULL);
	rmdir(name);
}

static void oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY), i;

	for (i = 0; i < 5; i++)
		if (pwrite(fd, i & 1 ? "0" : "7", 1, 0) < 0)
			break;
	close(fd);
}

static void compact(void)
{
	int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);

	if (write(fd, "1", 1) == 1)
		nap(1000);
	close(fd);
}

/* Loads a module that nothing needs and that has no tracepoints. */
static void modules(void)
{
	if (system("modprobe -q dummy numdummies=0 && rmmod dummy"))
		return;
}

/* Requests that do nothing, and one that waits for a timer */
static void uring(void)
{
	struct __kernel_timespec soon = { .tv_nsec = 1000000 };
	struct io_uring_params p = { 0 };
	struct io_uring_sqe *sqes;
	uint32_t *ring, *tail, mask, i;
	int fd = syscall(SYS_io_uring_setup, 8, &p);

	if (fd < 0)
		return;
	ring = mmap(NULL, p.sq_off.array + 8 * sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, 8 * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqes == MAP_FAILED)
		goto out;
	tail = &ring[p.sq_off.tail / 4];
	mask = ring[p.sq_off.ring_mask / 4];
	for (i = 0; i < 20; i++) {
		struct io_uring_sqe *sqe = &sqes[*tail & mask];

		memset(sqe, 0, sizeof(*sqe));
		sqe->opcode = i & 3 ? IORING_OP_NOP : IORING_OP_TIMEOUT;
		if (!(i & 3)) {
			sqe->addr = (uintptr_t)&soon;
			sqe->len = 1;
		}
		sqe->user_data = i;
		ring[p.sq_off.array / 4 + (*tail & mask)] = *tail & mask;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			break;
	}
out:
	close(fd);
}

static void idle(void)
{
	int i;

	for (i = 0; i < 10; i++)
		nap(10000);
}

static const struct load {
	const char *name;
	void (*run)(void);
} loads[] = {
	{ "tasks", tasks }, { "ping_pong", ping_pong }, { "calls", calls },
	{ "signals", signals }, { "timers", timers }, { "files", files },
	{ "memory", memory }, { "drop_caches", drop_caches }, { "udp", udp },
	{ "tcp", tcp }, { "printk", printk }, { "random", randomness },
	{ "cgroups", cgroups }, { "oom", oom }, { "compact", compact },
	{ "modules", modules }, { "uring", uring }, { "idle", idle },
};

static int run(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (!strcmp(name, loads[i].name)) {
			loads[i].run();
			return 0;
		}
	}
	fprintf(stderr, "loads: there is no load '%s'\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	if (argc == 3 && !strcmp(argv[1], "mark")) {
		for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++) {
			pin(i);
			fire(atoi(argv[2]), 1);
		}
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (i = 0; i < (int)(sizeof(loads) / sizeof(loads[0])); i++)
			puts(loads[i].name);
		return 0;
	}
	for (i = 1; i < argc && !status; i++)
		status = run(argv[i]);
	return status;
}
