/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - what is measured, and how, in the kernel.
 *
 * A case is a function that does an operation n times.  All cases of all
 * parties are in one module and take turns, so that whatever the machine is
 * doing besides hits all of them.
 */
#ifndef BENCH_H
#define BENCH_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct bench_case - something to measure
 * @who: whose
 * @name: what
 * @run: does it @n times
 * @prepare: before each chunk, not timed; may be NULL
 * @ops: operations in a chunk, 0 for the usual
 *
 * @who is NULL for what module parameter "who" says.
 */
struct bench_case {
	const char *who;
	const char *name;
	void (*run)(u32 n);
	void (*prepare)(void);
	u32 ops;
};

/* parts: end with a case without a name; NULL if a part could not be set up */
const struct bench_case *bench_primitives(void);
const struct bench_case *bench_tracebuf(void);
void bench_tracebuf_end(void);
const struct bench_case *bench_ftrace(void);
void bench_ftrace_end(void);
const struct bench_case *bench_relay(void);
void bench_relay_end(void);

/* with tracebuf.ko and other tracers: in a guest alone */
const struct bench_case *bench_recording(void);
const struct bench_case *bench_full(void);
const struct bench_case *bench_stopped(void);
void bench_exported_end(void);
const struct bench_case *bench_probes(void);

/* The clock that every party gets: as the kernel's rdtsc(). */
static __always_inline u64 bench_rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

/* The same for timing: nothing moves across. */
static __always_inline u64 bench_time(void)
{
	u32 lo, hi;

	asm volatile("lfence; rdtsc; lfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (u64)hi << 32 | lo;
}

/* what is added to the names of cases */
#define ALONE	", one at a time"
#define STILL	", without a clock"

/* One operation at a time: each starts when all before it is done. */
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
