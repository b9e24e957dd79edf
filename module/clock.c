// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing the trace clock, and tying it to the clocks that people read.
 */
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>
#if defined(CONFIG_X86)
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

#include "clock.h"

#if defined(CONFIG_X86)
/*
 * Not found unstable by the kernel; and, unless somebody who must know better
 * has asked for it, of constant rate and running in idle states, too.
 */
static bool tb_clock_raw_usable(bool asked)
{
	return boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable() &&
	       (asked || boot_cpu_has(X86_FEATURE_TSC_RELIABLE) ||
		(boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
		 boot_cpu_has(X86_FEATURE_NONSTOP_TSC)));
}

static u64 tb_clock_raw_frequency(void)
{
	return (u64)tsc_khz * 1000;
}
#elif defined(CONFIG_ARM64)
static bool tb_clock_raw_usable(bool asked)
{
	return true;
}

static u64 tb_clock_raw_frequency(void)
{
	return read_sysreg(cntfrq_el0);
}
#else
static bool tb_clock_raw_usable(bool asked)
{
	return false;
}

static u64 tb_clock_raw_frequency(void)
{
	return NSEC_PER_SEC;
}
#endif

/**
 * tb_clock_choose() - find the clock to use
 * @id: enum tb_clock_id that is asked for
 * @clock: what it will be
 *
 * A counter that is not usable falls back to CLOCK_MONOTONIC's fast variant,
 * which @clock and the log say.  Asked for by name, the processor's counter is
 * taken unless the kernel has found it unstable; else it must also be
 * invariant.
 *
 * Context: process.
 * Return: 0, or -EINVAL for a clock this architecture does not have.
 */
int tb_clock_choose(u32 id, struct tb_clock *clock)
{
	bool want_raw = id != TB_CLOCK_MONO;

	if (id != TB_CLOCK_AUTO && id != TB_CLOCK_MONO && id != TB_CLOCK_RAW)
		return -EINVAL;
	clock->raw = want_raw && tb_clock_raw_usable(id == TB_CLOCK_RAW);
	clock->fallback = want_raw && !clock->raw;
	clock->id = clock->raw ? TB_CLOCK_RAW : TB_CLOCK_MONO;
	clock->frequency = clock->raw ? tb_clock_raw_frequency() : NSEC_PER_SEC;
	if (clock->fallback)
		pr_info_once("tracebuf: the processor's counter is not usable as a clock on this machine, using ktime\n");
	return 0;
}

#define TB_SYNC_TRIES	5

/**
 * tb_clock_sync() - read the trace clock together with the others
 * @clock: the trace clock
 * @sync: the readings; of TB_SYNC_TRIES attempts the tightest
 *
 * Context: any but NMI.
 */
void tb_clock_sync(const struct tb_clock *clock, struct tb_clock_sync *sync)
{
	int i;

	memset(sync, 0, sizeof(*sync));
	for (i = 0; i < TB_SYNC_TRIES; i++) {
		u64 before, after, mono, boot, real;
		unsigned long flags;

		local_irq_save(flags);
		before = tb_clock_read(clock->raw);
		mono = ktime_get_ns();
		boot = ktime_get_boottime_ns();
		real = ktime_get_real_ns();
		after = tb_clock_read(clock->raw);
		local_irq_restore(flags);
		if (i && after - before >= sync->uncertainty)
			continue;
		sync->clock = before + (after - before) / 2;
		sync->monotonic = mono;
		sync->boottime = boot;
		sync->realtime = real;
		sync->uncertainty = min_t(u64, after - before, U32_MAX);
	}
}
