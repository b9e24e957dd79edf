// SPDX-License-Identifier: GPL-2.0-only
/* Processes that fork children by the thousand, see forking.h. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "forking.h"

/* Shared with the processes that fork. */
struct forking {
	uint32_t left;		/* to be forked */
	bool end;
};

static struct forking *forking;
static pid_t workers[WORKERS];

/* The child of a vfork(): makes a few system calls and exits. */
static void child(bool named)
{
	char name[16];

	if (named) {
		snprintf(name, sizeof(name), "kid%d", (int)syscall(SYS_gettid));
		syscall(SYS_prctl, PR_SET_NAME, name);
	}
	syscall(NR_NOWHERE, 0);
	_exit(0);
}

static void work(struct forking *f)
{
	uint32_t n;
	pid_t pid;

	while (!__atomic_load_n(&f->end, __ATOMIC_RELAXED)) {
		n = __atomic_fetch_sub(&f->left, 1, __ATOMIC_RELAXED);
		if (!n || n > UINT32_MAX / 2)
			break;
		pid = vfork();
		if (!pid)
			child(n % 16 == 0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	_exit(0);
}

bool begin_forking_on(uint32_t n, int cpus)
{
	int i;

	forking = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (forking == MAP_FAILED)
		return false;
	forking->left = n;
	for (i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] < 0)
			return false;
		if (!workers[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pin(i % cpus);
			work(forking);
		}
	}
	return true;
}

bool begin_forking(uint32_t n)
{
	return begin_forking_on(n, sysconf(_SC_NPROCESSORS_ONLN));
}

bool forking_done(void)
{
	uint32_t left = __atomic_load_n(&forking->left, __ATOMIC_RELAXED);

	return !left || left > UINT32_MAX / 2;
}

void end_forking(bool now)
{
	int i;

	if (now)
		__atomic_store_n(&forking->end, true, __ATOMIC_RELAXED);
	for (i = 0; i < WORKERS; i++)
		waitpid(workers[i], NULL, 0);
	munmap(forking, 4096);
}
