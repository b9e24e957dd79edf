// SPDX-License-Identifier: GPL-2.0-only
/*
 * named N          calls getppid() N times, by main - serve - checkout and the inlined tiny
 * named N fork     the same in a forked child
 * named N forever  again and again, until it is killed
 * named N generated  once, by code that it generates and lists in /tmp/perf-PID.map: outer - inner
 *
 * Tests know the stack of each call.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

#ifdef __x86_64__
#define OUTER 128			/* its offset; inner() is at the start */

/* Call getppid() once, by inner(), which outer() calls.  Return false on an error. */
APART static bool generate(void)
{
	static const unsigned char inner[] = {
		0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp, %rbp */
		0xb8, SYS_getppid, 0, 0, 0,	/* mov $SYS_getppid, %eax */
		0x0f, 0x05, 0x5d, 0xc3,		/* syscall; pop %rbp; ret */
	}, outer[] = {
		0x55, 0x48, 0x89, 0xe5,
		0xe8, 0x77, 0xff, 0xff, 0xff,	/* call inner: 128 + 9 bytes back */
		0x5d, 0xc3,
	};
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[40];
	FILE *map;

	if (code == MAP_FAILED)
		return false;
	memcpy(code, inner, sizeof(inner));
	memcpy(code + OUTER, outer, sizeof(outer));
	((void (*)(void))(code + OUTER))();
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	if (!map)
		return false;
	fprintf(map, "%lx %zx inner of a.js:1\n", (long)code, sizeof(inner));
	fprintf(map, "%lx %zx outer of a.js:9\n", (long)code + OUTER, sizeof(outer));
	return !fclose(map);
}
#else
static bool generate(void)
{
	return false;
}
#endif

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	int count = argc > 1 ? atoi(argv[1]) : 1;

	if (argc > 2 && !strcmp(argv[2], "fork") && fork()) {
		wait(NULL);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "generated"))
		return !generate();
	do {
		serve(count);
		nanosleep(&pause, NULL);
	} while (argc > 2 && !strcmp(argv[2], "forever"));
	return 0;
}
