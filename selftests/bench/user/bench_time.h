/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_time.h - common functions of benchmarks in user space, which time chunks of CHUNK
 * operations in REPS rounds over all cases.
 */
#ifndef BENCH_TIME_H
#define BENCH_TIME_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK		10000
#ifndef REPS
#define REPS		7
#endif

#define barrier()	__asm__ volatile("" : : : "memory")

static uint64_t rate_hz;

static inline uint64_t nanoseconds(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The clock for chunks; it waits until the operations before it are done. */
static inline uint64_t timing_clock(void)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(ticks) : : "memory");
	return ticks;
#else
	return nanoseconds(CLOCK_MONOTONIC_RAW);
#endif
}

static inline void calibrate(void)
{
	uint64_t t0 = nanoseconds(CLOCK_MONOTONIC_RAW), c0 = timing_clock(), t1;

	do {
		t1 = nanoseconds(CLOCK_MONOTONIC_RAW);
	} while (t1 - t0 < 200000000);
	rate_hz = (uint64_t)((double)(timing_clock() - c0) * 1e9 / (double)(t1 - t0));
}

static inline uint64_t picoseconds(uint64_t cycles)
{
	return (uint64_t)((double)cycles * 1e12 / (double)rate_hz / CHUNK);
}

static inline void *must(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "bench: out of memory\n");
	exit(1);
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fprintf(stderr, "bench: could not stay on CPU %d\n", cpu);
}

/* Find up to two CPUs that the process may use; return their number. */
static inline int two_cpus(int cpus[2])
{
	int found = 0, cpu;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[found++] = cpu;
	return found;
}

static inline int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#endif /* BENCH_TIME_H */
