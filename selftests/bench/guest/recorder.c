// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder.c - measures the processor time of a recorder while it records the system calls of a
 * load, and until it has ended:
 *
 *	recorder [-l LOADS] [-g NS] [-p PID] -n N -r READY [-e END] -o LOG [COMMAND ARGUMENT...]
 *
 * Starts COMMAND, or takes the process PID, and waits until the shell command READY succeeds. Runs
 * N getppid() in a loop on each of the last LOADS CPUs (1), one in NS nanoseconds (0: without
 * pauses), and waits until the recorder has no work left. Ends the recorder by the command END, or
 * COMMAND by SIGINT. The output of COMMAND goes to LOG.
 *
 * Prints "ns of the load|of the recorder|of its end|of kernel threads|of kernel threads during and
 * after the recorder's end". A recorder is a process and its children. Both phases last until all
 * data is on the disk and include the time of sync(), which sometimes does the work of kernel
 * threads.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KTHREADD	2
#define MAX_PID		32768	/* the limit in a guest with few CPUs */

typedef unsigned long long u64;

/* Processor time so far: of the recorder, and of each kernel thread. */
struct ran {
	u64 own;
	u64 threads[MAX_PID];
	u64 sync;
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Read the start of a file in /proc; false: the process has ended. */
static int text_of(char *text, size_t size, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	return 1;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[256], *after;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!text_of(text, sizeof(text), path))
		return 0;
	after = strrchr(text, ')');	/* a name may contain any character */
	return after ? atoi(after + 4) : 0;
}

/* The nanoseconds that the threads of a process ran. */
static u64 run_time(pid_t pid)
{
	char path[320], text[64];
	struct dirent *entry;
	u64 ns = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, entry->d_name);
		if (entry->d_name[0] != '.' && text_of(text, sizeof(text), path))
			ns += strtoull(text, NULL, 10);
	}
	if (dir)
		closedir(dir);
	return ns;
}

static void take(struct ran *ran, pid_t recorder)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t pid, parent;

	if (!dir)
		fail("recorder: /proc");
	ran->own = 0;
	memset(ran->threads, 0, sizeof(ran->threads));
	while ((entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid <= 0 || pid >= MAX_PID)
			continue;
		parent = parent_of(pid);
		if (pid == recorder || parent == recorder)
			ran->own += run_time(pid);
		else if (parent == KTHREADD)
			ran->threads[pid] = run_time(pid);
	}
	closedir(dir);
}

/* Add up the differences; kernel threads start and end meanwhile. */
static u64 kernel_between(const struct ran *from, const struct ran *to)
{
	u64 ns = to->sync - from->sync;
	int pid;

	for (pid = 0; pid < MAX_PID; pid++)
		if (to->threads[pid] > from->threads[pid])
			ns += to->threads[pid] - from->threads[pid];
	return ns;
}

/* Write all data to the disk; add the time of this process to RAN. */
static void sync_all(struct ran *ran)
{
	u64 before = run_time(getpid());

	sync();
	ran->sync += run_time(getpid()) - before;
}

/* Wait until the recorder has no work left; short wakeups do not count. */
static void settle(struct ran *ran, pid_t recorder)
{
	const struct timespec a_while = { .tv_nsec = 500000000 };
	unsigned int tries = 100;
	u64 was;

	take(ran, recorder);
	do {
		was = ran->own;
		nanosleep(&a_while, NULL);
		take(ran, recorder);
	} while (ran->own - was > 1000000 && tries--);
}

/* The load sleeps when it is so far ahead: often enough to avoid bursts, and not each time. */
#define AHEAD_NS	1000000

static void getppids(unsigned int n, u64 gap)
{
	const struct timespec a_while = { .tv_nsec = AHEAD_NS };
	const u64 start = now();
	unsigned int i;

	for (i = 0; i < n; i++) {
		/* clock_gettime() makes no system call here */
		while (gap && i % 16 == 0 && i * gap > now() - start + AHEAD_NS)
			nanosleep(&a_while, NULL);
		syscall(SYS_getppid);
	}
}

/* Run the load on the last LOADS CPUs; return the nanoseconds until the last process ended. */
static u64 load(unsigned int loads, unsigned int n, u64 gap)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), status;
	cpu_set_t set;
	u64 start;

	start = now();
	while (loads--) {
		CPU_ZERO(&set);
		CPU_SET(--cpus, &set);
		switch (fork()) {
		case -1:
			fail("recorder: fork");
		case 0:
			if (sched_setaffinity(0, sizeof(set), &set))
				fail("recorder: sched_setaffinity");
			getppids(n, gap);
			_exit(0);
		}
	}
	while (waitpid(0, &status, 0) > 0)
		if (status)
			exit(1);
	return now() - start;
}

static pid_t start(char **command, const char *log)
{
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		fail("recorder: fork");
	if (pid)
		return pid;
	/* not in this group: load() waits for its processes as a group */
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || setpgid(0, 0))
		fail(log);
	execvp(*command, command);
	fail(*command);
}

int main(int argc, char **argv)
{
	static struct ran before, settled, after;
	const char *ready = NULL, *end = NULL, *log = "/dev/null";
	const struct timespec a_while = { .tv_nsec = 50000000 };
	unsigned int loads = 1, n = 0;
	struct rusage usage;
	pid_t pid = 0;
	u64 gap = 0, took;
	int opt, status;

	while ((opt = getopt(argc, argv, "+l:g:p:n:r:e:o:")) != -1) {
		switch (opt) {
		case 'l':
			loads = atoi(optarg);
			break;
		case 'g':
			gap = strtoull(optarg, NULL, 10);
			break;
		case 'p':
			pid = atoi(optarg);
			break;
		case 'n':
			n = atoi(optarg);
			break;
		case 'r':
			ready = optarg;
			break;
		case 'e':
			end = optarg;
			break;
		case 'o':
			log = optarg;
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	if (!n || !ready || (pid ? !end : !*argv)) {
		fprintf(stderr, "usage: recorder [-l LOADS] [-g NS] [-p PID] -n N -r READY [-e END] -o LOG "
			"[COMMAND ARGUMENT...]\n");
		return 2;
	}
	if (!pid)
		pid = start(argv, log);
	while (system(ready)) {
		if (*argv && waitpid(pid, &status, WNOHANG)) {
			fprintf(stderr, "recorder: %s ended early; see %s\n", *argv, log);
			return 1;
		}
		nanosleep(&a_while, NULL);
	}
	settle(&before, pid);
	sync_all(&before);
	take(&before, pid);

	took = load(loads, n, gap);
	settle(&settled, pid);
	settled.sync = before.sync;
	sync_all(&settled);
	take(&settled, pid);
	if (end ? system(end) : kill(pid, SIGINT))
		fail("recorder: end");
	if (*argv) {
		/* the time of all its threads, and of the children that it waited for */
		if (wait4(pid, &status, 0, &usage) != pid)
			fail("recorder: wait4");
	} else {
		settle(&after, pid);
	}
	after.sync = settled.sync;
	sync_all(&after);
	take(&after, pid);
	if (*argv)
		after.own = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
			    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
	printf("%llu|%llu|%llu|%llu|%llu\n", took, settled.own - before.own, after.own - settled.own,
	       kernel_between(&before, &settled), kernel_between(&settled, &after));
	return 0;
}
