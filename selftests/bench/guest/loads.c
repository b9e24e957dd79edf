// SPDX-License-Identifier: GPL-2.0-only
/*
 * loads.c - loads for a whole system under a tracer:
 *
 *	loads getppid N		N system calls that do next to nothing
 *	loads pingpong N	two threads pass a byte to and fro through pipes, N times
 *	loads messaging N	20 senders write N messages of 100 bytes to each of 20
 *				receivers through socket pairs, as hackbench does
 *	loads paced N		the same, but each sender sleeps 100 ms after a message
 *				to each receiver
 *
 * Prints the nanoseconds of the load, without the work of a tracer before and after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PEERS	20
#define BYTES	100

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void send_all(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		fail("loads: write");
}

static void receive_all(int fd, void *data, size_t size)
{
	char *to = data;
	ssize_t n;

	for (; size; to += n, size -= n) {
		n = read(fd, to, size);
		if (n <= 0)
			fail("loads: read");
	}
}

static pid_t fork_or_fail(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("loads: fork");
	return pid;
}

/* Each process holds a copy of the gate; all start when its last writer closes it. */
static int gate[2], ready[2];

static void await_gate(void)
{
	char c = 0;

	send_all(ready[1], &c, 1);
	close(gate[1]);
	if (read(gate[0], &c, 1))
		fail("loads: gate");
}

static void open_gate(unsigned int waiting)
{
	char c;

	while (waiting--)
		receive_all(ready[0], &c, 1);
	close(gate[1]);
}

static void getppids(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void pingpong(unsigned int n)
{
	int there[2], back[2];
	char c = 0;

	if (pipe(there) || pipe(back))
		fail("loads: pipe");
	if (!fork_or_fail()) {
		while (n--) {
			receive_all(there[0], &c, 1);
			send_all(back[1], &c, 1);
		}
		_exit(0);
	}
	while (n--) {
		send_all(there[1], &c, 1);
		receive_all(back[0], &c, 1);
	}
}

static int pairs[PEERS][2];
static useconds_t pause_us;		/* of a sender after each round of messages */

static void messaging_start(unsigned int n)
{
	char data[BYTES] = { 0 };
	unsigned int i, left;

	for (i = 0; i < PEERS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			fail("loads: socketpair");
		if (fork_or_fail())
			continue;
		await_gate();
		for (left = PEERS * n; left; left--)
			receive_all(pairs[i][0], data, sizeof(data));
		_exit(0);
	}
	for (i = 0; i < PEERS; i++) {
		if (fork_or_fail())
			continue;
		await_gate();
		for (left = n; left; left--) {
			for (i = 0; i < PEERS; i++)
				send_all(pairs[i][1], data, sizeof(data));
			if (pause_us)
				usleep(pause_us);
		}
		_exit(0);
	}
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 3 ? atoi(argv[2]) : 0;
	long long start;
	int status;

	if (!n) {
		fprintf(stderr, "usage: loads getppid|pingpong|messaging|paced N\n");
		return 2;
	}
	if (pipe(gate) || pipe(ready))
		fail("loads: pipe");
	if (!strcmp(argv[1], "paced"))
		pause_us = 100000;
	if (pause_us || !strcmp(argv[1], "messaging")) {
		messaging_start(n);
		start = now();
		open_gate(2 * PEERS);
	} else {
		start = now();
		if (!strcmp(argv[1], "pingpong"))
			pingpong(n);
		else
			getppids(n);
	}
	while (wait(&status) > 0)
		if (status)
			return 1;
	printf("%lld\n", now() - start);
	return 0;
}
