/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_clock.h - included before everything else (-include): tracebuf's clock as on x86.
 *
 * ARCH=um is not CONFIG_X86 and has no rdtsc(): with these two module/machine/clock.h
 * takes its x86 branch, and the ring is compiled as it is for a stock kernel.  In
 * a stock kernel there is just the other clock to be put in.
 */
#ifndef BENCH_X86_CLOCK_H
#define BENCH_X86_CLOCK_H

#include <linux/types.h>
#include <linux/compiler.h>

extern unsigned long long bench_still_clock;

/* a clock that stands still and costs a load: what is left is the ring's */
static __always_inline unsigned long long bench_still_rdtsc(void)
{
	return READ_ONCE(bench_still_clock);
}

#ifdef CONFIG_UML
/* as asm/msr.h has it, which ARCH=um cannot include */
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
