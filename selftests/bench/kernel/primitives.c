// SPDX-License-Identifier: GPL-2.0-only
/*
 * primitives.c - measures the parts of each recorder: the clock, compare-and-exchange, calls.
 */
#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "bench.h"

static u64 word;
static volatile u64 sink;

static noinline void callee(u64 x)
{
	asm volatile("" : : "r"(x));
}

BENCH_RUN(run_empty, ;)
BENCH_RUN(run_clock, sink = bench_rdtsc())
BENCH_RUN(run_clock_alone, bench_fence(); sink = bench_rdtsc())
BENCH_RUN(run_fence, bench_fence())
BENCH_RUN(run_unlocked, u64 v = READ_ONCE(word);
	asm volatile("cmpxchgq %2, %1" : "+a"(v), "+m"(word) : "r"(v + 1) : "memory"))
BENCH_RUN(run_locked, u64 v = READ_ONCE(word);
	asm volatile("lock cmpxchgq %2, %1" : "+a"(v), "+m"(word) : "r"(v + 1) : "memory"))
BENCH_RUN(run_xadd, u64 v = 1;
	asm volatile("xaddq %0, %1" : "+r"(v), "+m"(word) : : "memory"))
BENCH_RUN(run_call, callee(i))
BENCH_RUN(run_preempt, preempt_disable_notrace(); barrier(); preempt_enable_notrace())
BENCH_RUN(run_nop, asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"))

static const struct bench_case cases[] = {
	{ "machine", "clock read", run_clock },
	{ "machine", "clock read" ALONE, run_clock_alone },
	{ "machine", "nothing" ALONE, run_fence },
	{ "machine", "empty loop", run_empty },
	{ "machine", "unlocked cmpxchg", run_unlocked },
	{ "machine", "locked cmpxchg", run_locked },
	{ "machine", "unlocked xadd", run_xadd },
	{ "machine", "function call", run_call },
	{ "machine", "preemption off and on", run_preempt },
	{ "machine", "5-byte nop", run_nop },
	{}
};

const struct bench_case *bench_primitives(void)
{
	return cases;
}
