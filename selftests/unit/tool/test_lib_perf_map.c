// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder takes names of generated code from the list that the program itself wrote, and no
 * name where code was replaced. If this fails, a stack names a function that was not there, or a
 * user's file makes the recorder name functions of another user's program, or hang.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "test_lib_fixture.h"
#include "tool/record/perf_map.h"

#define MANY 20000

static char said[4096];

static int say(const struct perf_map_function *function, void *to)
{
	size_t used = strlen(said);

	(void)to;
	snprintf(said + used, sizeof(said) - used, "%llx@%llx %.20s\n",
		 (unsigned long long)function->address, (unsigned long long)function->offset,
		 function->name);
	return 0;
}

static const char *path_of(pid_t pid)
{
	static char path[40];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	return path;
}

static void put_map(pid_t pid, const char *text, size_t bytes)
{
	int fd;

	unlink(path_of(pid));
	fd = open(path_of(pid), O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert(fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes);
	close(fd);
}

static const uint64_t addresses[] = { 0x1000, 0x1010, 0x1020, 0x2000, 0x3000, 0x3050 };

#define NR_ADDRESSES (sizeof(addresses) / sizeof(*addresses))

static const char *read_since(pid_t pid, uint64_t since, uint64_t opened)
{
	struct perf_map_limits limits = { 64 << 20, 64 << 20, 1 << 20 };

	said[0] = 0;
	CHECK(!perf_map_read((uint32_t)pid, since, opened, addresses, NR_ADDRESSES, &limits, say,
			     NULL));
	return said;
}

static int read_within(struct perf_map_limits limits)
{
	said[0] = 0;
	return perf_map_read((uint32_t)getpid(), 0, 0, addresses, NR_ADDRESSES, &limits, say, NULL);
}

static const char *names_in(const char *text)
{
	put_map(getpid(), text, strlen(text));
	return read_since(getpid(), 0, 0);
}

static void lines(void)
{
	CHECK_TEXT(names_in("1000 20 first of all\n1800 10 none\n2f00 1000 last\n"),
		   "1000@0 first of all\n100f@f first of all\n1010@10 first of all\n"
		   "101f@1f first of all\n2fff@ff last\n3000@100 last\n304f@14f last\n"
		   "3050@150 last\n");
	CHECK_TEXT(names_in("0x1000 0x11 java's\n"),
		   "1000@0 java's\n100f@f java's\n1010@10 java's\n");
	/* 0x2000 is where a call at the end of the function returns to */
	CHECK_TEXT(names_in("1f00 100 call at the end\n"), "1fff@ff call at the end\n");
	CHECK_TEXT(names_in("2000 100 begins there\n"), "2000@0 begins there\n");
	/* the program is still writing */
	CHECK_TEXT(names_in("1000 1 whole\n3000 60 cut off"), "1000@0 whole\n");
	CHECK_TEXT(names_in("\n1000\n1000 \n1000 20\n1000 20 \n1000 0 zero\n-1000 20 minus\n"
			    "1000 -20 minus\n ffffffffffffffff ff beyond\nffffffffffffffff ff beyond\n"
			    "1000 1 right\n"), "1000@0 right\n");
	CHECK_TEXT(names_in(""), "");
}

static void replaced(void)
{
	CHECK_TEXT(names_in("1000 1000 old\n1010 8 new\n"), "1000@0 old\n100f@f old\n1010@0 \n101f@1f old\n"
		   "1020@20 old\n1fff@fff old\n");
	CHECK_TEXT(names_in("1000 1 old\n1000 1 new\n1000 1 old\n"), "1000@0 \n");
	CHECK_TEXT(names_in("1000 10 same\n1008 10 same\n"),
		   "1000@0 same\n100f@7 same\n1010@8 same\n");
}

static void hostile(void)
{
	const size_t bytes = 4 << 20;
	static const char name[] = "/tmp/test_lib_perf_map.link";
	char *text = malloc(bytes), *at = text;
	int i;

	assert(text);
	/* a name without end, then one that is right */
	memset(text, 'x', bytes);
	memcpy(text, "1000 1 long", 11);
	memcpy(text + bytes - 21, "\n2000 10 next\n1 1 end\n", 21);
	put_map(getpid(), text, bytes);
	CHECK_TEXT(read_since(getpid(), 0, 0), "1000@0 longxxxxxxxxxxxxxxxx\n2000@0 next\n");
	for (i = 0; i < MANY; i++)
		at += sprintf(at, "0 ffffffff f%d\n", i);
	put_map(getpid(), text, (size_t)(at - text));
	CHECK_TEXT(read_since(getpid(), 0, 0), "fff@0 \n1000@0 \n100f@0 \n1010@0 \n101f@0 \n1020@0 \n"
		   "1fff@0 \n2000@0 \n2fff@0 \n3000@0 \n304f@0 \n3050@0 \n");
	CHECK_NUMBER(read_within((struct perf_map_limits){ bytes, 1 << 20, MANY - 1 }), -E2BIG);
	CHECK_NUMBER(read_within((struct perf_map_limits){ bytes, MANY, MANY }), -E2BIG);
	free(text);
	/* a file of a terabyte, most of it a hole */
	put_map(getpid(), "1000 11 first\n", 14);
	assert(!truncate(path_of(getpid()), (off_t)1 << 40));
	CHECK_NUMBER(read_within((struct perf_map_limits){ 1 << 20, 1 << 20, 1 << 20 }), -E2BIG);
	CHECK_TEXT(said, "");
	unlink(path_of(getpid()));
	assert(!mkfifo(path_of(getpid()), 0644));
	CHECK_TEXT(read_since(getpid(), 0, 0), "");
	unlink(path_of(getpid()));
	put_map(getppid(), "1000 11 of another\n", 19);
	assert(!symlink(path_of(getppid()), name) && !rename(name, path_of(getpid())));
	CHECK_TEXT(read_since(getpid(), 0, 0), "");
	unlink(path_of(getpid()));
	unlink(path_of(getppid()));
	CHECK_TEXT(read_since(getpid(), 0, 0), "");
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A list that an earlier process or program with this PID left behind */
static void old(void)
{
	static const char text[] = "1000 1 left behind\n";
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	uint64_t now = now_ns();
	int status;
	pid_t pid;

	put_map(getpid(), text, strlen(text));
	CHECK_TEXT(read_since(getpid(), now, now), "1000@0 left behind\n");
	/* exec later than the file */
	CHECK_TEXT(read_since(getpid(), now + 3600000000000, 0), "");
	assert(!utimensat(AT_FDCWD, path_of(getpid()), times, 0));
	CHECK_TEXT(read_since(getpid(), 0, 0), "");
	unlink(path_of(getpid()));
	/* the process has ended */
	pid = fork();
	if (!pid)
		_exit(0);
	assert(waitpid(pid, &status, 0) == pid);
	put_map(pid, text, strlen(text));
	CHECK_TEXT(read_since(pid, 0, now), "1000@0 left behind\n");
	CHECK_TEXT(read_since(pid, 0, now + 3600000000000), "");
	unlink(path_of(pid));
	/* another user could have written it */
	if (!geteuid()) {
		put_map(pid, text, strlen(text));
		assert(!chown(path_of(pid), 1000, 1000));
		CHECK_TEXT(read_since(pid, 0, now), "");
		unlink(path_of(pid));
		put_map(getpid(), text, strlen(text));
		assert(!chown(path_of(getpid()), 1000, 1000));
		CHECK_TEXT(read_since(getpid(), 0, 0), "");
		unlink(path_of(getpid()));
	}
}

static void in_container(int ready, int done)
{
	static const char text[] = "1000 1 inside\n";
	char byte = 0;

	/* the PID here is 1, and /tmp another one */
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL))
		_exit(1);
	put_map(getpid(), text, strlen(text));
	if (write(ready, &byte, 1) != 1 || read(done, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static void container(void)
{
	int ready[2], done[2], status;
	char byte;
	pid_t pid;

	assert(!pipe(ready) && !pipe(done));
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		in_container(ready[1], done[0]);
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1) {
		printf("# no right to make a container: not tested\n");
	} else {
		CHECK_TEXT(read_since(pid, 0, 0), "1000@0 inside\n");
		assert(write(done[1], &byte, 1) == 1);
	}
	if (pid > 0)
		assert(waitpid(pid, &status, 0) == pid);
	close(ready[0]);
	close(done[0]);
	close(done[1]);
}

static const struct test tests[] = {
	{ "perf map: functions of addresses", lines },
	{ "perf map: an address in two functions has no name", replaced },
	{ "perf map: a hostile file", hostile },
	{ "perf map: a file of an earlier process, or of another user", old },
	{ "perf map: a process in a container", container },
};

TEST_MAIN(tests)
