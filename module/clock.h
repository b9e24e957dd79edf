/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace clock: the fastest monotonic counter that every CPU agrees on
 * and that may be read in NMI (clock.c chooses).
 */
#ifndef TB_CLOCK_H
#define TB_CLOCK_H

#include <linux/types.h>
#include <linux/ktime.h>
#include <linux/tracebuf.h>

#if defined(CONFIG_X86)
#include <asm/msr.h>
#define TB_CLOCK_RAW	TB_CLOCK_TSC
static __always_inline u64 tb_clock_raw(void)
{
	return rdtsc();
}
#elif defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#define TB_CLOCK_RAW	TB_CLOCK_ARCH
/* not a bare read of the register: that may be done before what comes before it */
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

static __always_inline u64 tb_clock_read(bool raw)
{
	return likely(raw) ? tb_clock_raw() : ktime_get_mono_fast_ns();
}

/**
 * struct tb_clock - a clock in use
 * @id: enum tb_clock_id
 * @raw: the processor's counter
 * @fallback: it was asked for, or the default, but is not usable
 * @frequency: ticks per second, as far as known
 */
struct tb_clock {
	u32 id;
	bool raw;
	bool fallback;
	u64 frequency;
};

int tb_clock_choose(u32 id, struct tb_clock *clock);
void tb_clock_sync(const struct tb_clock *clock, struct tb_clock_sync *sync);

#endif /* TB_CLOCK_H */
