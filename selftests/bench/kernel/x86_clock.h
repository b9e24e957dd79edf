/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_clock.h - makes tracebuf use its clock for x86. The compiler includes it first (-include).
 *
 * ARCH=um does not set CONFIG_X86 and has no rdtsc(). With both, module/machine/clock.h takes its
 * x86 branch, and the ring compiles as for a stock kernel. In a stock kernel this header only adds
 * the clock that stands still.
 */
#ifndef BENCH_X86_CLOCK_H
#define BENCH_X86_CLOCK_H

#include <linux/types.h>
#include <linux/compiler.h>

extern unsigned long long bench_still_clock;

/* A clock that stands still and costs only a load: the rest is the ring's cost. */
static __always_inline unsigned long long bench_still_rdtsc(void)
{
	return READ_ONCE(bench_still_clock);
}

#ifdef CONFIG_UML
/* as in asm/msr.h, which ARCH=um cannot include */
#define _ASM_X86_MSR_H
static __always_inline unsigned long long rdtsc(void)
{
	u32 low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long long)high << 32 | low;
}
#else
#include <asm/msr.h>
#endif

#ifdef BENCH_STILL_CLOCK
#define rdtsc	bench_still_rdtsc
#endif

#ifdef CONFIG_UML
#define CONFIG_X86 1
#include <linux/ktime.h>
#include "machine/clock.h"
#undef CONFIG_X86
#endif

#endif /* BENCH_X86_CLOCK_H */
