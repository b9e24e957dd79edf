// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing the trace clock, and tying it to the clocks that people read.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
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

static bool tb_clock_erratum(void)
{
	return false;
}

static __always_inline u64 tb_clock_raw_stable(void)
{
	return tb_clock_raw();
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

/*
 * Does a read of the counter need a workaround on some CPU?  Of one that has not been online yet
 * the kernel need not know: it is taken for one that does.
 */
static bool tb_clock_erratum(void)
{
#if IS_ENABLED(CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND)
	const struct arch_timer_erratum_workaround *wa;
	unsigned int cpu;

	for_each_present_cpu(cpu) {
		wa = per_cpu(timer_unstable_counter_workaround, cpu);
		if (!cpu_online(cpu) || (wa && wa->read_cntvct_el0))
			return true;
	}
#endif
	return false;
}

static __always_inline u64 tb_clock_raw_stable(void)
{
	return __arch_counter_get_cntvct_stable();
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

static bool tb_clock_erratum(void)
{
	return false;
}

static __always_inline u64 tb_clock_raw_stable(void)
{
	return tb_clock_raw();
}
#endif

/* what is added to the counter, which began anew when the machine slept */
static u64 tb_clock_shift;
/* when it was halted, and that it is */
static struct tb_clock_sync tb_clock_halted;
static bool tb_clock_stands;

#ifdef TB_RING_PATHS
u64 tb_clock_back;
EXPORT_SYMBOL_GPL(tb_clock_back);

static bool clock_anew;
module_param(clock_anew, bool, 0644);
MODULE_PARM_DESC(clock_anew, "the counter begins anew when the machine sleeps");

static ulong clock_care;
module_param(clock_care, ulong, 0444);
MODULE_PARM_DESC(clock_care, "reads of the counter by way of a workaround, or with a shift");
#endif

/**
 * tb_clock_slow() - the trace clock where it is not just the processor's counter
 * @ticks: enum tb_ticks
 *
 * Context: any, NMI included.
 * Return: its time.
 */
notrace u64 tb_clock_slow(u8 ticks)
{
	switch (ticks) {
	case TB_TICKS_CARE:
#ifdef TB_RING_PATHS
		/* CPUs that count at once may lose one */
		data_race(clock_care++);
#endif
		return tb_clock_raw_stable() + READ_ONCE(tb_clock_shift);
	case TB_TICKS_HALTED:
		return READ_ONCE(tb_clock_halted.clock);
	}
	return ktime_get_mono_fast_ns();
}
EXPORT_SYMBOL_GPL(tb_clock_slow);

/* How the counter is read while it is not halted. */
static u8 tb_clock_running(void)
{
	return tb_clock_shift || tb_clock_erratum() ? TB_TICKS_CARE : TB_TICKS_PLAIN;
}

/**
 * tb_clock_ticks_now() - how the processor's counter is to be read now
 *
 * Context: process.
 * Return: enum tb_ticks.
 */
u8 tb_clock_ticks_now(void)
{
	return READ_ONCE(tb_clock_stands) ? TB_TICKS_HALTED : tb_clock_running();
}

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
	clock->raw = want_raw && tb_clock_raw_usable(id == TB_CLOCK_RAW) ? tb_clock_ticks_now() :
		     TB_TICKS_NONE;
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

	if (clock->raw == TB_TICKS_HALTED) {
		*sync = tb_clock_halted;
		return;
	}
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

/**
 * tb_clock_halt() - the processor's counter is not read until tb_clock_go_on()
 *
 * The machine is going to sleep, and the counter may begin anew meanwhile.  Who reads it by
 * way of tb_clock_ticks_now() from now on gets the time of now.
 *
 * Context: process, one at a time.
 */
void tb_clock_halt(void)
{
	const struct tb_clock clock = { .raw = tb_clock_running() };

	tb_clock_sync(&clock, &tb_clock_halted);
	WRITE_ONCE(tb_clock_stands, true);
}

static u64 tb_clock_ticks_of(u64 ns)
{
	u64 seconds, frequency = tb_clock_raw_frequency();
	u32 rest;

	seconds = div_u64_rem(ns, NSEC_PER_SEC, &rest);
	/* the rest has 30 bits, a frequency not more than 34 */
	return seconds * frequency + div_u64(rest * frequency, NSEC_PER_SEC);
}

/**
 * tb_clock_go_on() - the machine is awake again
 * @halted: out: the clocks as they were when this one was halted
 *
 * If the counter went back, it goes on as if it had run all the time, as CLOCK_BOOTTIME has.
 *
 * Context: process, after tb_clock_halt(); providers have not been told yet.
 */
void tb_clock_go_on(struct tb_clock_sync *halted)
{
	u64 now;

	*halted = tb_clock_halted;
#ifdef TB_RING_PATHS
	if (clock_anew)
		WRITE_ONCE(tb_clock_back, tb_clock_back + tb_clock_raw());
#endif
	now = tb_clock_read(tb_clock_running());
	if (now <= halted->clock) {
		u64 slept = ktime_get_boottime_ns() - halted->boottime;

		WRITE_ONCE(tb_clock_shift, tb_clock_shift + halted->clock - now +
			   tb_clock_ticks_of(slept) + 1);
		pr_info("tracebuf: the processor's counter went back while the machine slept\n");
	}
	WRITE_ONCE(tb_clock_stands, false);
}
