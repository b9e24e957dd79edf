/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of a thread went, and why: from its waits back to what they waited for.
 *
 * why_open() collects what every thread and CPU of a recording did.  why_add() divides an interval
 * of one thread: each nanosecond gets exactly one cause, a leaf of the tree, or is unknown.  Time
 * in which the thread was blocked is divided by what the thread that woke it did meanwhile, and so
 * on.
 */
#ifndef TRACEBUF_WHY_H
#define TRACEBUF_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "completions.h"
#include "requests.h"
#include "tracebuf.h"

/*
 * Threads have numbers from 1 on, because the kernel reuses TIDs: why_thread() and why_tid()
 * translate.
 */

/* Cause of a node.  @who: WHY_RUNS, WHY_WOKEN: thread; WHY_IRQ: number for why_irq();
 * WHY_SOFTIRQ: vector, or WHY_VECTOR(); WHY_UNTIL: as WHY_IRQ, or WHY_SOFTIRQ_WHO() of that of
 * WHY_SOFTIRQ, -1: not known; WHY_REQUEST: number for why_request(); WHY_BLOCKED, WHY_SLEEPS,
 * WHY_OFF: system call, -1: none; WHY_OBJECT: number for why_object(); WHY_QUOTA: cgroup; others:
 * -1 */
enum why_cause {
	WHY_ALL,		/* the root */
	WHY_RUNS,		/* a thread is on the CPU */
	WHY_IRQ,		/* an interrupt is on the CPU */
	WHY_SOFTIRQ,
	WHY_WAITS,		/* the thread is runnable, without a CPU; below: what ran there */
	WHY_IDLE,		/* nothing ran */
	WHY_QUOTA,		/* nothing ran: the thread's cgroup has used up its CPU quota */
	WHY_BLOCKED,		/* below: what it waited for */
	WHY_NO_WORK,		/* a kernel worker in state I; below: as for WHY_BLOCKED */
	WHY_OBJECT,		/* in a call with this file or futex; below: as for WHY_BLOCKED */
	WHY_WOKEN,		/* until this thread woke it; below: what that thread did */
	WHY_UNTIL,		/* until this interrupt woke it */
	WHY_REQUEST,		/* until an interrupt completed this request to a block device */
	WHY_TIMEOUT,		/* until the call had lasted as long as the thread allowed */
	WHY_SLEEPS,		/* until a time that it asked for */
	WHY_OFF,		/* blocked, then waiting for a CPU: the wake-up is not known */
	WHY_DEEP,		/* not divided: the chain exceeds WHY_DEPTH, or the tree is full */
	WHY_UNKNOWN,
};

/* @who of WHY_UNTIL for a softirq; its own inverse */
#define WHY_SOFTIRQ_WHO(vector) (-2 - (int64_t)(vector))
/* The vector of a softirq, and the function that it calls, as a number for why_irq() */
#define WHY_VECTOR(vector, name) (((vector) & 0xff) | ((int64_t)(name) + 1) << 8)

#define WHY_DEPTH 32		/* threads in a chain */
#define WHY_LEVELS (3 * WHY_DEPTH + 4)	/* levels of nodes below the root, at most */

/**
 * struct why_node - a cause, below another one
 * @parent, @child, @next: indexes; 0: none
 * @depth: number of nodes above it; 0: the root
 * @ns: its time, with all nodes below
 * @count: number of stretches of time
 * @longest, @longest_at: ns: duration and beginning of the longest stretch
 */
struct why_node {
	enum why_cause cause;
	int64_t who;
	uint32_t parent, child, next, depth;
	uint64_t ns, count, longest, longest_at;
};

struct why;

/* Read the selected recording of @trace; times are of @base.  @slice: NULL, or a pattern, with *
 * and ?, for names of slices that programs wrote, for why_slice().  @error: out, set if damage was
 * found: the trace is read up to there.  0, -ENOMEM and other -errno */
int why_open(struct tb_trace *trace, enum tb_timebase base, const char *slice, struct why **why,
	     struct tb_error *error);
void why_close(struct why *why);

/* True if the trace has switches; wake-ups */
bool why_has_switches(const struct why *why);
bool why_has_wakeups(const struct why *why);

/* Get the interval in which something is known of @thread; false: nothing is */
bool why_limits(const struct why *why, uint32_t thread, uint64_t *from, uint64_t *to);

/* Limit [@from, @to) to the time in which @thread existed, as far as it is known; false: nothing is
 * left */
bool why_cut(const struct why *why, uint32_t thread, uint64_t *from, uint64_t *to);

/* Limit [@from, @to) to the time from the first to the last time that @thread had a name that
 * matches @pattern, with * and ?.  The name that a new thread has inherited does not count, if the
 * thread got another one.  false: nothing is left */
bool why_named(const struct why *why, uint32_t thread, const char *pattern, uint64_t *from,
	       uint64_t *to);

/* Get the interval in which something is known of any thread; false: nothing is */
bool why_span(const struct why *why, uint64_t *from, uint64_t *to);

/* Get the times from @from to @to in which @thread ran, was runnable without a CPU, and was blocked
 * off the CPU; ns */
void why_times(const struct why *why, uint32_t thread, uint64_t from, uint64_t to, uint64_t *ran,
	       uint64_t *waited, uint64_t *off);

/* Get slice number @index, in the order of ends: thread, beginning and end.  Slices within another
 * one of the same thread are left out.  false: there are fewer */
bool why_slice(const struct why *why, size_t index, uint32_t *thread, uint64_t *from,
	       uint64_t *to);

/* Get call number @index of @thread, in the order of time: number of the system call, beginning and
 * end, as far as the trace has it.  false: there are fewer */
bool why_call(const struct why *why, uint32_t thread, size_t index, int64_t *number,
	      uint64_t *from, uint64_t *to);

/* Gets a stretch of time of the node with this index.  A result other than 0 ends why_add() */
typedef int why_stretch(void *context, uint32_t node, uint64_t from, uint64_t to);

/* From now on why_add() calls @stretch for each stretch that it adds to the tree: first for a node,
 * then for those below it, in order of time and without gaps.  Stretches of the same depth do not
 * overlap within one why_add().  At the first stretch of a node its @count is 1 */
void why_watch(struct why *why, why_stretch *stretch, void *context);

/* True if nodes of this cause have nodes below them */
bool why_divides(enum why_cause cause);

/* Add what @thread did in [@from, @to) to the tree; 0, -ENOMEM, or what the function of
 * why_watch() returned */
int why_add(struct why *why, uint32_t thread, uint64_t from, uint64_t to);

/* A request to a block device */
const struct completion *why_request(const struct why *why, int64_t who);

/* Name of the disk of a request, with its number: see disk_text() */
const char *why_disk(const struct why *why, int64_t who, char text[DISK_TEXT_MAX]);

/* The quota of a cgroup, the text of TB_STRING_QUOTA, see docs/abi.md; NULL: not known */
const char *why_quota(const struct why *why, int64_t who);

/* Name of an object: "of /etc/passwd" */
const char *why_object(const struct why *why, int64_t who);

/* Empty the tree, except the root, which gets time 0 */
void why_clear(struct why *why);

/* Get the nodes of the tree; node 0 is the root.  why_sort() sorts children by time; 0, -ENOMEM */
const struct why_node *why_nodes(const struct why *why, size_t *count);
int why_sort(struct why *why);

/* Thread number @index of the known threads, by TID, then by time; and how many there are */
uint32_t why_thread(const struct why *why, size_t index);
size_t why_threads(const struct why *why);
/* Index of the first thread with this TID or a higher one */
size_t why_index(const struct why *why, uint32_t tid);
/* TID, last name ("" if unknown), process, and last cgroup (0 if unknown) of a thread; @thread 0:
 * 0 and "" */
uint32_t why_tid(const struct why *why, uint32_t thread);
const char *why_comm(const struct why *why, uint32_t thread);
uint32_t why_tgid(const struct why *why, uint32_t thread);
uint32_t why_cgroup(const struct why *why, uint32_t thread);
/* Get number and name (it may be "") of an interrupt; NULL: there is none */
const char *why_irq(const struct why *why, int64_t who, int64_t *number);

#endif /* TRACEBUF_WHY_H */
