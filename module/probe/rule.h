/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rule of an event: select/rule.c makes it, probe/pending.c applies it.
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
 * @rcu: for freeing it
 * @filter: tests; NULL: all events pass
 * @flags: TB_RULE_*
 * @sample: record one in this many events of each CPU; 0, 1: all
 * @rate: record at most this many events of all CPUs in a second; 0: no limit
 * @counters: performance counters to read, one bit each
 * @second: a second in ticks of the trace clock
 * @iterator: the tracepoint's iterator, which stacks leave out
 * @window: high half: number of the second, low half: events recorded in it
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
 * struct tb_rule_counts - counts of a probe's events on one CPU
 * @passed: events that passed all tests before the sampling
 * @kept_out: counts of events kept out, for TB_IOC_SUPPRESSED
 */
struct tb_rule_counts {
	u64 passed;
	struct tb_suppressed kept_out;
};

#endif /* TB_PROBE_RULE_H */
