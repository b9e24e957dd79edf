/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the torture module.
 */
#ifndef TB_TORTURE_KERNEL_H
#define TB_TORTURE_KERNEL_H

#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>

#include "../torture.h"

/**
 * struct tt_accounting - one source on one CPU; written by that source alone
 * @random: state of its random numbers
 * @attempted: like the following, see struct tt_counts
 */
struct tt_accounting {
	u64 random;
	u64 attempted;
	u64 recorded;
	u64 oversize;
	u64 flushes;
};

/**
 * struct tt_cpu - the sources on one CPU
 * @active: they record; changed on that CPU only
 * @cpu: its number
 * @more: the next interrupting source records much
 * @rests: the task waits for the next hrtimer
 * @aims: state of the random numbers of tt_aim()
 */
struct tt_cpu {
	bool active;
	bool more;
	bool rests;
	unsigned int cpu;
	u64 aims;
	struct tt_accounting accounting[TT_SOURCES];
	struct tasklet_struct tasklet;
	struct hrtimer timer;
	struct irq_work work;
} ____cacheline_aligned;

DECLARE_PER_CPU(struct tt_cpu, tt_cpus);
extern struct tt_run tt_run;
extern struct tb_provider *tt_provider;

/* A pseudo-random number; @random must not be 0. */
static inline u64 tt_random(u64 *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> 8;
}

/* Returns the nanoseconds until the next interrupt of a kind. */
static inline u32 tt_gap(u32 random)
{
	return tt_run.gap_ns / 2 + random % tt_run.gap_ns;
}

/* hrtimer_init() gave way to hrtimer_setup() in 6.13; the Kbuild looks for it */
static inline void tt_timer_init(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer))
{
#ifdef TB_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = function;
#endif
}

/* source.c */
int tt_sources_init(void);
void tt_sources_exit(void);
int tt_sources_start(const struct tt_run *run);
void tt_sources_stop(void);
void tt_burst(struct tt_cpu *c, enum tt_source source);
void tt_aim(u32 from_ns, u32 to_ns, bool more);

/* nmi.c */
int tt_nmi_init(void);
void tt_nmi_exit(void);
void tt_nmi_kick(u64 random);
void tt_nmi_arm(u32 ns);

/* flip.c */
int tt_flip(struct tt_flip *flip);

#endif /* TB_TORTURE_KERNEL_H */
