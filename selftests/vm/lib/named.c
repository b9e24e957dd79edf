// SPDX-License-Identifier: GPL-2.0-only
/*
 * named N          calls getppid() N times, by main - serve - checkout and the inlined tiny
 * named N fork     the same in a forked child
 * named N forever  again and again, until it is killed
 *
 * Tests know the stack of each call.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

/* Calls the kernel itself: frames of libc differ between versions. */
static inline __attribute__((always_inline)) long tiny(void)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(SYS_getppid) : "rcx", "r11", "memory");
	return result;
#else
	return syscall(SYS_getppid);
#endif
}

/* checkout() calls this: the compiler gives leaf functions no frame. */
APART static void touch(void)
{
	__asm__ volatile("");
}

APART long checkout(int count)
{
	long sum = 0;

	touch();
	while (count-- > 0)
		sum += tiny();
	return sum;
}

APART long serve(int count)
{
	long sum = checkout(count);

	__asm__ volatile("" : "+r"(sum));	/* no tail call: keep serve() in the stack */
	return sum;
}

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	int count = argc > 1 ? atoi(argv[1]) : 1;

	if (argc > 2 && !strcmp(argv[2], "fork") && fork()) {
		wait(NULL);
		return 0;
	}
	do {
		serve(count);
		nanosleep(&pause, NULL);
	} while (argc > 2 && !strcmp(argv[2], "forever"));
	return 0;
}
