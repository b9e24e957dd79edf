/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace clock: the fastest monotonic counter that all CPUs share and that NMIs can read.
 */
#ifndef TB_MACHINE_CLOCK_H
#define TB_MACHINE_CLOCK_H

#include <linux/types.h>
#include <linux/ktime.h>
#include <linux/tracebuf.h>

/* the build for tests can simulate a counter that restarts while the machine sleeps (clock.c) */
#ifdef TB_RING_PATHS
extern u64 tb_clock_back;
#define TB_CLOCK_BACK	READ_ONCE(tb_clock_back)
#else
#define TB_CLOCK_BACK	0
#endif

#if defined(CONFIG_X86)
#include <asm/msr.h>
#define TB_CLOCK_RAW	TB_CLOCK_TSC
static __always_inline u64 tb_clock_raw(void)
{
	return rdtsc() - TB_CLOCK_BACK;
}
#elif defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#define TB_CLOCK_RAW	TB_CLOCK_ARCH
/* not a bare read of the register: the processor may execute that before earlier instructions */
static __always_inline u64 tb_clock_raw(void)
{
	return __arch_counter_get_cntvct();
}
#else
#define TB_CLOCK_RAW	TB_CLOCK_MONO
static __always_inline u64 tb_clock_raw(void)
{
	return ktime_get_mono_fast_ns();
}
#endif

/* How to read the trace clock.  The hot path reads TB_TICKS_PLAIN inline, others out of line. */
enum tb_ticks {
	TB_TICKS_NONE		= 0,	/* ktime_get_mono_fast_ns() */
	TB_TICKS_PLAIN	= 1,	/* the processor's counter as it is */
	TB_TICKS_CARE		= 2,	/* the counter, with a workaround and a shift */
	TB_TICKS_HALTED	= 3,	/* the time of tb_clock_halt(), see recording/sleep.c */
};

u64 tb_clock_slow(u8 ticks);

/* @ticks: enum tb_ticks */
static __always_inline u64 tb_clock_read(u8 ticks)
{
	return likely(ticks == TB_TICKS_PLAIN) ? tb_clock_raw() : tb_clock_slow(ticks);
}

/**
 * struct tb_clock - the trace clock of a provider
 * @id: enum tb_clock_id
 * @raw: how to read it, enum tb_ticks
 * @fallback: the user wanted the processor's counter, but it is not usable
 * @frequency: ticks per second, as far as the kernel knows it
 */
struct tb_clock {
	u32 id;
	u8 raw;
	bool fallback;
	u64 frequency;
};

int tb_clock_choose(u32 id, struct tb_clock *clock);
void tb_clock_sync(const struct tb_clock *clock, struct tb_clock_sync *sync);
u8 tb_clock_ticks_now(void);
void tb_clock_halt(void);
void tb_clock_go_on(struct tb_clock_sync *halted);

#endif /* TB_MACHINE_CLOCK_H */
