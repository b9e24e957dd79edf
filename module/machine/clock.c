// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose the trace clock, read it together with the kernel's clocks, halt it while the machine
 * sleeps.  tb_clock_slow() runs in any context, tb_clock_sync() in any but NMI, all else in process
 * context.  Takes no lock.  Callers: ring/, provider/, probe/, select/, recording/, crash/.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#if defined(CONFIG_X86)
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

#include "clock.h"

#if defined(CONFIG_X86)
/*
 * Return true if the kernel has not found the TSC unstable.  Unless the user asked for it by name,
 * it must also have a constant rate and run in idle states, or be known as reliable.
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

/*
 * Return true if a CPU may need a workaround to read the counter.  The kernel detects an erratum
 * when the CPU comes online, so assume one for each offline CPU.
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
#if defined(CONFIG_ARM64)
	return __arch_counter_get_cntvct_stable();
#else
	return tb_clock_raw();
#endif
}

/* ticks to add to the counter, because it restarted while the machine slept */
static u64 tb_clock_shift;
/* the clocks when the trace clock was halted, and whether it is halted now */
static struct tb_clock_sync tb_clock_halted;
static bool tb_clock_stands;

#ifdef TB_RING_PATHS
u64 tb_clock_back;
EXPORT_SYMBOL_GPL(tb_clock_back);

static bool clock_anew;
module_param(clock_anew, bool, 0644);
MODULE_PARM_DESC(clock_anew, "let the counter restart whenever the machine sleeps");

static ulong clock_care;
module_param(clock_care, ulong, 0444);
MODULE_PARM_DESC(clock_care, "number of reads of the counter with a workaround or a shift");
#endif

/**
 * tb_clock_slow() - read the trace clock where it is not the processor's plain counter
 * @ticks: enum tb_ticks, not TB_TICKS_PLAIN
 *
 * Context: any, NMI included.
 * Return: the time in ticks of the trace clock.
 */
notrace u64 tb_clock_slow(u8 ticks)
{
	switch (ticks) {
	case TB_TICKS_CARE:
#ifdef TB_RING_PATHS
		/* two CPUs that count at the same time may count one read only */
		data_race(clock_care++);
#endif
		return tb_clock_raw_stable() + READ_ONCE(tb_clock_shift);
	case TB_TICKS_HALTED:
		return READ_ONCE(tb_clock_halted.clock);
	}
	return ktime_get_mono_fast_ns();
}
EXPORT_SYMBOL_GPL(tb_clock_slow);

/* Return how to read the counter while it is not halted, enum tb_ticks. */
static u8 tb_clock_running(void)
{
	return tb_clock_shift || tb_clock_erratum() ? TB_TICKS_CARE : TB_TICKS_PLAIN;
}

/* Return how to read the processor's counter now, enum tb_ticks. */
u8 tb_clock_ticks_now(void)
{
	return READ_ONCE(tb_clock_stands) ? TB_TICKS_HALTED : tb_clock_running();
}

/**
 * tb_clock_choose() - choose the trace clock
 * @id: requested clock, enum tb_clock_id
 * @clock: out: the clock
 *
 * If the processor's counter is not usable, the fast variant of CLOCK_MONOTONIC takes its place;
 * @clock and the log say so.  A counter requested by name is usable unless the kernel has found it
 * unstable; otherwise it must also be invariant.
 *
 * Context: process.
 * Return: 0; -EINVAL the architecture does not have the clock.
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
 * tb_clock_sync() - read the trace clock together with the kernel's clocks
 * @clock: the trace clock
 * @sync: out: the readings with the least uncertainty of TB_SYNC_TRIES attempts
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

/*
 * Do not read the processor's counter until tb_clock_go_on(): the machine is going to sleep, and
 * the counter may restart meanwhile.  From now on a caller that reads the clock with
 * tb_clock_ticks_now() gets the time of this call.  One caller at a time.
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
	/* no overflow: @rest has 30 bits, a frequency at most 34 */
	return seconds * frequency + div_u64(rest * frequency, NSEC_PER_SEC);
}

/**
 * tb_clock_go_on() - read the processor's counter again after the machine has slept
 * @halted: out: the clocks when the trace clock was halted
 *
 * If the counter went back, a shift makes the clock continue as if it had run while the machine
 * slept, like CLOCK_BOOTTIME.
 *
 * Context: process, after tb_clock_halt(), before providers use tb_clock_ticks_now() again.
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
