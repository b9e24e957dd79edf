// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much memory a recording takes when the command line says nothing of it.
 *
 * What recording costs beside the events is waking the reader: once for each buffer.  So buffers
 * are large, and the reader comes when one is full.  What is lost is what finds no room while the
 * reader does not get to run, or waits for a slow device: so there is room for 4 MiB on each CPU,
 * as long as all of it is not more than a 64th of the machine's memory.
 *
 * Large buffers have a price, too.  Each is one physically contiguous block, which a kernel that
 * has run for long may not have; all blocks in the file have their size, so at the end each CPU
 * leaves one that is partly empty; and who follows the recording sees events when a buffer is
 * full.  128 KiB cost within 2 % of what 256 KiB and 1 MiB do.
 *
 * What waits for a file that is late is in memory beyond that (direct.c): a 16th of what is
 * available when the recording begins, or of what our control group may have.  It is taken only
 * when it is needed.  All of it is written at the end, which should not take minutes: so 1 GiB is
 * the most, unless --backlog says more.
 *
 * -b, -B and -w say what is wanted: with any of them all three are what they are for the module.
 */
#include <stdio.h>
#include <string.h>
#include "sizes.h"

#define KIB 1024ull

#define CPU_LEAST (512 * KIB)		/* unless there is no memory: what the module takes */
#define CPU_LAST (128 * KIB)		/* the last attempt */
#define BUFFER_MOST (128 * KIB)
#define BUFFER_MANY (64 * KIB)		/* with many CPUs: each leaves a block at the end */
#define BUFFER_LEAST (16 * KIB)
#define MANY_CPUS 16u
#define SHARE_ALL 64u			/* of the machine's memory */
#define SHARE_LEFT 8u			/* of what is available now */
#define BACKLOG_LEAST (16 * KIB * KIB)
#define BACKLOG_MOST (KIB * KIB * KIB)
#define BACKLOG_SHARE 16u		/* of what is available now */
#define BACKLOG_FEW 4u			/* the same, for the least */

/* ---- what there is ------------------------------------------------------ */

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

/* ---- what is wanted ----------------------------------------------------- */

struct sizes sizes_choose(const struct sizes_for *purpose)
{
	uint64_t share = purpose->total / SHARE_ALL, most = BUFFER_MOST, cpu = SIZES_CPU_MOST, buffer;
	unsigned int cpus = purpose->cpus ? purpose->cpus : 1;

	if (purpose->available && share > purpose->available / SHARE_LEFT)
		share = purpose->available / SHARE_LEFT;
	if (purpose->total)
		cpu = between(CPU_LEAST, power_below(share / cpus), SIZES_CPU_MOST);
	/* nobody is woken: the smaller they are, the less is overwritten at once */
	if (!purpose->streaming)
		most = BUFFER_LEAST;
	else if (purpose->live || cpus > MANY_CPUS)
		most = BUFFER_MANY;
	/* a file is longer than it is to be by a block at most */
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

/* The least that a control group of memory lets us have, ours or one above it; UINT64_MAX: any */
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
	/* from "0::/group" up to "0::", which in a container may have a limit, too */
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
	/* smaller pieces may be there where larger ones are not */
	if (sizes->buffer > BUFFER_LEAST) {
		sizes->buffer = between(BUFFER_LEAST, sizes->buffer / 4, BUFFER_MOST);
		return true;
	}
	sizes->cpu /= 2;
	return sizes->cpu >= CPU_LAST;
}
