// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose the memory of a recording, unless the command line has -b, -B or -w.
 *
 * Each full buffer wakes the reader, which costs time, so buffers are large.  While the reader does
 * not run, or waits for a slow device, events need room: each CPU gets 4 MiB, if all CPUs together
 * take at most 1/64 of the memory.  But each buffer is physically contiguous, which the kernel may
 * not have; the last block of each CPU in the file is partly empty; and live readers see events
 * only when a buffer is full.  With 128 KiB recording costs at most 2 % more than with 1 MiB.
 */
#include <stdio.h>
#include <string.h>
#include "sizes.h"

#define KIB 1024ull

#define CPU_LEAST (512 * KIB)		/* the first attempt is not below: the module's default */
#define CPU_LAST (128 * KIB)		/* the last attempt */
#define BUFFER_MOST (128 * KIB)
#define BUFFER_MANY (64 * KIB)		/* with many CPUs, or live readers */
#define BUFFER_LEAST (16 * KIB)
#define MANY_CPUS 16u
#define SHARE_ALL 64u			/* of the machine's memory */
#define SHARE_LEFT 8u			/* of the available memory */
#define BACKLOG_LEAST (16 * KIB * KIB)
#define BACKLOG_MOST (KIB * KIB * KIB)
#define BACKLOG_SHARE 16u		/* of the available memory */
#define BACKLOG_FEW 4u			/* BACKLOG_LEAST takes at most this share */

/* ---- the machine's memory ------------------------------------------------ */

/* Bytes of a line of /proc/meminfo; 0: unknown */
static uint64_t memory(const char *what)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	uint64_t bytes = 0;
	char line[128], name[64];

	while (file && !bytes && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^:]: %llu kB", name, &kib) == 2 && !strcmp(name, what))
			bytes = kib * KIB;
	if (file)
		fclose(file);
	return bytes;
}

static uint64_t power_below(uint64_t bytes)
{
	while (bytes & (bytes - 1))
		bytes &= bytes - 1;
	return bytes;
}

static uint64_t between(uint64_t least, uint64_t value, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* ---- sizes -------------------------------------------------------------- */

struct sizes sizes_choose(const struct sizes_for *purpose)
{
	uint64_t share = purpose->total / SHARE_ALL, most = BUFFER_MOST, cpu = SIZES_CPU_MOST, buffer;
	unsigned int cpus = purpose->cpus ? purpose->cpus : 1;

	if (purpose->available && share > purpose->available / SHARE_LEFT)
		share = purpose->available / SHARE_LEFT;
	if (purpose->total)
		cpu = between(CPU_LEAST, power_below(share / cpus), SIZES_CPU_MOST);
	/* no reader is woken, and small buffers overwrite fewer events at once */
	if (!purpose->streaming)
		most = BUFFER_LEAST;
	else if (purpose->live || cpus > MANY_CPUS)
		most = BUFFER_MANY;
	/* a file may exceed its size by a block: keep that small */
	if (purpose->file_bytes && most > purpose->file_bytes / 8)
		most = power_below(purpose->file_bytes / 8);
	buffer = between(BUFFER_LEAST, cpu / 32, between(BUFFER_LEAST, most, BUFFER_MOST));
	return (struct sizes){ .cpu = cpu, .buffer = buffer };
}

struct sizes sizes_here(struct sizes_for *purpose)
{
	purpose->total = memory("MemTotal");
	purpose->available = memory("MemAvailable");
	return sizes_choose(purpose);
}

/* The lowest memory limit of this process's cgroup and its parents; UINT64_MAX: none */
static uint64_t group_memory(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[2048], name[2200], *at;
	uint64_t least = UINT64_MAX;
	unsigned long long bytes;

	*line = '\0';
	while (file && fgets(line, sizeof(line), file) && strncmp(line, "0::", 3))
		;
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	/* from "0::/group" up to "0::": in a container the root may have a limit, too */
	for (at = strncmp(line, "0::/", 4) ? NULL : line; at; at = strrchr(line, '/')) {
		*(at == line ? at + strlen(at) : at) = '\0';
		snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.max", line + 3);
		file = fopen(name, "re");
		if (file && fscanf(file, "%llu", &bytes) == 1 && bytes < least)
			least = bytes;
		if (file)
			fclose(file);
	}
	return least;
}

/* All copies are written at the end, which should not take minutes: hence BACKLOG_MOST */
uint64_t sizes_backlog(uint64_t available)
{
	uint64_t least = BACKLOG_LEAST;

	if (available && least > available / BACKLOG_FEW)
		least = available / BACKLOG_FEW;
	return between(least, available / BACKLOG_SHARE, BACKLOG_MOST);
}

uint64_t sizes_backlog_here(void)
{
	uint64_t here = memory("MemAvailable"), group = group_memory();

	return sizes_backlog(here && here < group ? here : group == UINT64_MAX ? 0 : group);
}

bool sizes_smaller(struct sizes *sizes)
{
	/* first try smaller buffers: the kernel may have smaller contiguous pieces */
	if (sizes->buffer > BUFFER_LEAST) {
		sizes->buffer = between(BUFFER_LEAST, sizes->buffer / 4, BUFFER_MOST);
		return true;
	}
	sizes->cpu /= 2;
	return sizes->cpu >= CPU_LAST;
}
