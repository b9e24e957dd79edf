/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of a thread went, and why: from its waits back to what they waited for.
 *
 * why_open() collects what every thread and CPU of a recording did.  why_add() then divides an
 * interval of one thread: each nanosecond of it gets exactly one cause, a leaf of the tree, or is
 * unknown.  The time in which the thread was blocked belongs to the thread that woke it: what that
 * one did meanwhile is below, and so on.
 */
#ifndef TRACEBUF_WHY_H
#define TRACEBUF_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

/*
 * Threads have numbers from 1 on, as the kernel gives the TID of one that ended to another one:
 * why_thread() and why_tid() translate.
 */

/* What a node of the tree is.  @who: WHY_RUNS, WHY_WOKEN: thread; WHY_IRQ: number for why_irq();
 * WHY_SOFTIRQ: vector; WHY_UNTIL: as WHY_IRQ, or WHY_SOFTIRQ_WHO(vector), -1: not known;
 * WHY_BLOCKED, WHY_SLEEPS, WHY_OFF: system call, -1: none; WHY_OBJECT: number for why_object() */
enum why_cause {
	WHY_ALL,		/* the root */
	WHY_RUNS,		/* a thread is on the CPU */
	WHY_IRQ,		/* an interrupt is on the CPU */
	WHY_SOFTIRQ,
	WHY_WAITS,		/* the thread could run and has no CPU; below: what was on the CPU */
	WHY_IDLE,		/* nothing was */
	WHY_QUOTA,		/* nothing was, as its cgroup has used up its CPU quota */
	WHY_BLOCKED,		/* below: what it waited for */
	WHY_OBJECT,		/* in a call about this file or futex; below: as of WHY_BLOCKED */
	WHY_WOKEN,		/* until this thread woke it; below: what that thread did */
	WHY_UNTIL,		/* until this interrupt woke it */
	WHY_SLEEPS,		/* until a time that it asked for */
	WHY_OFF,		/* blocked, and waited for a CPU then: no wake-up is known */
	WHY_DEEP,		/* the chain of threads is longer than WHY_DEPTH */
	WHY_UNKNOWN,
};

/* Of WHY_UNTIL: a softirq.  Its vector again: the same once more */
#define WHY_SOFTIRQ_WHO(vector) (-2 - (int64_t)(vector))

#define WHY_DEPTH 32		/* threads that wait for each other */
#define WHY_LEVELS (3 * WHY_DEPTH + 4)	/* of nodes below the root, at most */

/**
 * struct why_node - a cause, below another one
 * @parent, @child, @next: indexes; 0: none
 * @depth: how many nodes are above it; 0: the root
 * @ns: how long, with all that is below
 * @count: stretches of time
 * @longest, @longest_at: ns; of these the longest one, and when it began
 */
struct why_node {
	enum why_cause cause;
	int64_t who;
	uint32_t parent, child, next, depth;
	uint64_t ns, count, longest, longest_at;
};

struct why;

/* Read the selected recording of @trace; times are of @base.  @slice: NULL, or the name, with * and
 * ?, of slices that programs wrote, for why_slice().  @error: out, valid if damage was found: the
 * trace is known up to there.  0, -ENOMEM and other -errno */
int why_open(struct tb_trace *trace, enum tb_timebase base, const char *slice, struct why **why,
	     struct tb_error *error);
void why_close(struct why *why);

/* Are there switches, and wake-ups? */
bool why_has_switches(const struct why *why);
bool why_has_wakeups(const struct why *why);

/* From when to when something is known of @thread; false: never */
bool why_limits(const struct why *why, uint32_t thread, uint64_t *from, uint64_t *to);

/* Cut [@from, @to) to the time in which @thread had its TID, as far as the recording tells of the
 * thread before it and the one after it; false: nothing is left */
bool why_cut(const struct why *why, uint32_t thread, uint64_t *from, uint64_t *to);

/* How long @thread ran, could run and had no CPU, and was off the CPU otherwise; ns */
void why_times(const struct why *why, uint32_t thread, uint64_t *ran, uint64_t *waited,
	       uint64_t *off);

/* Slice number @index, in order of their ends: its thread, and when it began and ended.  One in
 * another one of this thread is not among them.  false: there are not so many */
bool why_slice(const struct why *why, size_t index, uint32_t *thread, uint64_t *from,
	       uint64_t *to);

/* A stretch of time of the node with this index.  A result that is not 0 ends why_add() */
typedef int why_stretch(void *context, uint32_t node, uint64_t from, uint64_t to);

/* From now on why_add() calls @stretch for each stretch that it adds to the tree: for a node first,
 * then for those below it, in order of time and without a gap.  Stretches of the same depth do not
 * overlap within one why_add().  At the first stretch of a node its @count is 1 */
void why_watch(struct why *why, why_stretch *stretch, void *context);

/* Does a node of this cause have nodes below it? */
bool why_divides(enum why_cause cause);

/* Add what @thread did in [@from, @to) to the tree; 0, -ENOMEM, or what the function of
 * why_watch() returned */
int why_add(struct why *why, uint32_t thread, uint64_t from, uint64_t to);

/* "of /etc/passwd" */
const char *why_object(const struct why *why, int64_t who);

/* Forget the tree: only the root is left, and it has no time */
void why_clear(struct why *why);

/* The tree: node 0 is the root.  Children are sorted by time after why_sort(), which returns 0 or
 * -ENOMEM */
const struct why_node *why_nodes(const struct why *why, size_t *count);
int why_sort(struct why *why);

/* The threads of which something is known, in order of their TIDs; of one TID by time */
uint32_t why_thread(const struct why *why, size_t index);
size_t why_threads(const struct why *why);
/* The index of the first thread with this TID, or with a higher one */
size_t why_index(const struct why *why, uint32_t tid);
/* Of a thread, or 0: the TID; the name that it had last, "" if none is known; its process; the
 * cgroup that it was in last, 0 if none is known */
uint32_t why_tid(const struct why *why, uint32_t thread);
const char *why_comm(const struct why *why, uint32_t thread);
uint32_t why_tgid(const struct why *why, uint32_t thread);
uint32_t why_cgroup(const struct why *why, uint32_t thread);
/* The number and the name, which may be "", of an interrupt; NULL: it is none */
const char *why_irq(const struct why *why, int64_t who, int64_t *number);

#endif /* TRACEBUF_WHY_H */
