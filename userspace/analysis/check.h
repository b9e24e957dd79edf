/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Invariants of the analyses, checked on any recording.
 *
 * "why" (why.h) and "report" (analysis.h) divide the time of threads and CPUs independently of each
 * other.  check_analyses() runs both and compares them: each division must add up to the time that
 * it divides, no stretch may overlap another one, and both must have the same figures.
 */
#ifndef TRACEBUF_CHECK_H
#define TRACEBUF_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"

/* An idle CPU takes less time than this to switch to a thread that waits for it */
#define CHECK_WAKE_NS 1000000ull

/**
 * struct check_found - a violated invariant, or a doubt
 * @doubt: the recording names no cause for this time, but nothing contradicts it
 * @of_cpu: @number is a CPU; else a thread
 * @tid: of a doubt about a CPU: the thread that waits for it; 0: none
 * @from, @to: ns
 * @one, @other: names of the two figures; @other is NULL if the invariant has one figure
 * @ns, @expected: the figures
 */
struct check_found {
	bool doubt, of_cpu;
	uint32_t number, tid;
	uint64_t from, to;
	const char *one, *other;
	uint64_t ns, expected;
};

typedef void check_tell(void *context, const struct check_found *found);

/**
 * struct check_counts - how many threads and CPUs were checked, and what was wrong
 * @unchecked: threads whose causes were not checked, because they have too many stretches
 * @switches: the trace has switches; else nothing was checked
 * @uncompared: "why" and "report" were not compared: the file is damaged, or its time goes back
 */
struct check_counts {
	unsigned int threads, cpus, unchecked;
	uint64_t violated, doubts;
	bool switches, uncompared;
};

/* Check the selected recording of @trace and call @tell for each violated invariant and each doubt.
 * 0, -ENOMEM and other -errno */
int check_analyses(struct tb_trace *trace, check_tell *tell, void *context,
		   struct check_counts *counts);

#endif /* TRACEBUF_CHECK_H */
