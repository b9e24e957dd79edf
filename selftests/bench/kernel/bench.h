/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - the parts of the benchmark in the kernel, and how they measure.
 *
 * A case is a function that does an operation n times. All cases of all tracers are in one module
 * and take turns, so other work of the machine affects all of them.
 */
#ifndef BENCH_H
#define BENCH_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct bench_case - an operation to measure
 * @who: tracer; NULL: the module parameter "who"
 * @name: operation
 * @run: does the operation @n times
 * @prepare: runs before each chunk, not timed; may be NULL
 * @ops: operations in a chunk, 0 for the usual number
 */
struct bench_case {
	const char *who;
	const char *name;
	void (*run)(u32 n);
	void (*prepare)(void);
	u32 ops;
};

/* Each returns an array that ends with a case without a name, or NULL if it could not set up. */
const struct bench_case *bench_primitives(void);
const struct bench_case *bench_tracebuf(void);
void bench_tracebuf_end(void);
const struct bench_case *bench_ftrace(void);
void bench_ftrace_end(void);
const struct bench_case *bench_relay(void);
void bench_relay_end(void);

/* these need tracebuf.ko or other tracers: only in a guest */
const struct bench_case *bench_recording(void);
const struct bench_case *bench_full(void);
const struct bench_case *bench_stopped(void);
void bench_exported_end(void);
const struct bench_case *bench_probes(void);

/* The clock of each tracer here: like the kernel's rdtsc(). */
static __always_inline u64 bench_rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

/* The clock for timing: no access moves across. */
static __always_inline u64 bench_time(void)
{
	u32 lo, hi;

	asm volatile("lfence; rdtsc; lfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (u64)hi << 32 | lo;
}

/* suffixes of the names of cases */
#define ALONE	", one at a time"
#define STILL	", without a clock"

/* Let each operation start only when all before it are done. */
static __always_inline void bench_fence(void)
{
	asm volatile("lfence" : : : "memory");
}

#define BENCH_RUN(fn, ...)						\
	static noinline void fn(u32 n)					\
	{								\
		u32 i;							\
									\
		for (i = 0; i < n; i++) {				\
			__VA_ARGS__;					\
			barrier();					\
		}							\
	}

#endif /* BENCH_H */
