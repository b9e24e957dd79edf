/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every thread and every CPU did: lists of stretches of time (why.h).
 */
#ifndef TRACEBUF_WHY_LINES_H
#define TRACEBUF_WHY_LINES_H

#include "completions.h"
#include "why.h"

/* struct why_off.waker: no thread is known */
#define NOBODY UINT32_MAX
/* struct why_line.queue */
#define NO_QUEUE UINT32_MAX

/* A run: in the list of a CPU, @other is the thread (0: idle); in that of a thread, the CPU */
struct why_run {
	uint64_t begin, end;
	uint32_t other;
};

/**
 * struct why_off - time of a thread off the CPU
 * @wake: time from which on it was runnable; UINT64_MAX: not known
 * @cpu: the CPU on which it ran next, or for which it waits at the end
 * @waker: the thread that woke it, or NOBODY
 * @waker_cpu: the CPU of the waker
 * @runnable: it was runnable all the time
 * @no_work: a kernel thread that waits for work (state I)
 * @deep: in state D: not the sleep of a call that waits for a time
 * @before: it had begun before the trace has all events; @open: its end is not in the trace
 * @interrupt: an interrupt woke it, not the thread @waker
 * @context: TB_CONTEXT_* in which it was woken, without the preemption depth
 */
struct why_off {
	uint64_t begin, end, wake;
	uint32_t cpu, waker, waker_cpu;
	uint16_t context;
	bool runnable, no_work, deep, before, open, interrupt;
};

/* The time in @off from which on the thread was runnable */
static inline uint64_t why_off_wake(const struct why_off *off)
{
	uint64_t wake = off->wake < off->end ? off->wake : off->end;

	return off->runnable || wake < off->begin ? off->begin : wake;
}

/* A system call; @object: its file or futex, a number for files_name(); 0: not known.  @result: 1
 * if it is not known, or beyond the limits of the type */
struct why_call {
	uint64_t begin, end;
	int64_t number;
	uint32_t object;
	int32_t result;
};

/* An interrupt or softirq on a CPU, without what interrupted it; WHY_UNKNOWN: it may have run.
 * @who: as in struct why_node; @sends_ns: so long, from @begin on, struct slice.sends_until is not
 * over */
struct why_irq_part {
	uint64_t begin, end;
	int64_t who;
	enum why_cause cause;
	uint32_t sends_ns;
};

/* A name of a thread, from this time on */
struct why_name {
	uint64_t from;
	char comm[TB_COMM_LEN + 4];
};

/* A growing array */
struct why_list {
	void *at;
	size_t count, room;
};

/**
 * struct why_line - a thread
 * @thread: its number in struct why_lines, from 1 on
 * @before, @after: the threads with the TID @tid before and after this one; NULL: none
 * @born: time from which on the TID is this thread's, ns; 0: not known
 * @ended: when it left a CPU for the last time, ns; UINT64_MAX: not known
 * @names: struct why_name.  A name that the thread has inherited, and changed, is not in it: exec
 *	changes the name of a child
 * @queues: struct why_run: at @end the thread was moved from the queue of CPU @other; @begin is 0
 * @queue: the CPU in whose queue it is, or on which it ran last, since @queue_at; NO_QUEUE: not
 *	known
 * @waking: the thread is being woken, and in no queue yet
 * @inherited: the only name is such a name
 * @quota: a cgroup with the CPU quota of its cgroup, if that was used up at some time; 0: none
 */
struct why_line {
	uint32_t thread, tid, tgid, cgroup;
	struct why_line *before, *after;
	uint64_t born, ended, queue_at;
	uint32_t quota, queue;
	bool inherited, waking;
	char comm[TB_COMM_LEN + 4];
	struct why_list runs, offs, calls, names, queues;
};

/* @running: thread of the last run that began */
struct why_cpu {
	struct why_list runs, irqs;
	uint32_t running;
};

struct why_irq_name {
	int64_t number;
	char *name;
};

struct why_lines {
	struct why_line **threads;	/* index 0 is number 1 */
	size_t nr_threads, room_threads;
	uint32_t *order;		/* numbers of threads, by TID, then by time */
	struct why_cpu *cpus;
	unsigned int nr_cpus;
	struct why_irq_name *irqs;
	size_t nr_irqs;
	struct why_list slices;		/* struct why_run, @other is the number of the thread */
	struct why_list quotas;		/* uint32_t: cgroups with different quotas */
	struct files *files;
	struct completions *completions;
	bool switches, wakeups;
};

/* Read a recording, as why_open() */
int why_lines_read(struct why_lines *lines, struct tb_trace *trace, enum tb_timebase base,
		   const char *slice, struct tb_error *error);
void why_lines_free(struct why_lines *lines);

/* The thread with number @thread, from 1 to nr_threads */
const struct why_line *why_line_of(const struct why_lines *lines, uint32_t thread);

/* The lines from which @why divides the time of threads */
const struct why_lines *why_lines(const struct why *why);

/* Add an element of @size bytes to @list; NULL: no memory */
void *why_list_add(struct why_list *list, size_t size);

/* Index of the first element of @list that ends after @ns; elements have @size bytes and begin with
 * begin and end */
size_t why_first(const struct why_list *list, size_t size, uint64_t ns);

#endif /* TRACEBUF_WHY_LINES_H */
