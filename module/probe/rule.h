/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rule of an event, as probe/pending.c applies it.
 */
#ifndef TB_PROBE_RULE_H
#define TB_PROBE_RULE_H

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/tracebuf.h>

#include "machine/stack.h"

struct tb_filter;

/**
 * struct tb_rule_active - a rule as probe/pending.c applies it
 * @rcu: to free it
 * @filter: tests, or NULL: all pass
 * @flags: TB_RULE_*
 * @sample: one in so many; 0, 1: all
 * @rate: so many a second; 0: no limit
 * @second: ticks of the trace clock
 * @counters: those to be read, bits
 * @iterator: a function stacks are not to begin with
 * @window: high half: which second, low half: how many in it so far
 */
struct tb_rule_active {
	struct rcu_head rcu;
	struct tb_filter *filter;
	u32 flags;
	u32 sample;
	u32 rate;
	u32 counters;
	u64 second;
	struct tb_stack_iterator iterator;
	atomic64_t window;
};

/**
 * struct tb_rule_counts - what became of events with a rule, on one CPU
 * @passed: passed all but the sampling
 * @kept_out: for TB_IOC_SUPPRESSED
 */
struct tb_rule_counts {
	u64 passed;
	struct tb_suppressed kept_out;
};

#endif /* TB_PROBE_RULE_H */
