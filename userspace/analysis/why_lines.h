/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every thread and every CPU did, one stretch of time after the other (why.h).
 */
#ifndef TRACEBUF_WHY_LINES_H
#define TRACEBUF_WHY_LINES_H

#include "why.h"

/* struct why_off: @waker, where no thread is known */
#define NOBODY UINT32_MAX

/* A thread on a CPU; of a CPU: @other is the thread (0: idle), of a thread: the CPU */
struct why_run {
	uint64_t begin, end;
	uint32_t other;
};

/**
 * struct why_off - a thread off the CPU
 * @wake: from when on it could run; UINT64_MAX: not known
 * @cpu: where it ran then
 * @waker: the thread that woke it, or NOBODY
 * @waker_cpu: on this CPU
 * @runnable: it could run all the time
 * @interrupt: an interrupt woke it, whatever thread was there
 */
struct why_off {
	uint64_t begin, end, wake;
	uint32_t cpu, waker, waker_cpu;
	bool runnable, interrupt;
};

/* @object: what it is about, a number for files_name(); 0: not known */
struct why_call {
	uint64_t begin, end;
	int64_t number;
	uint32_t object;
};

/* An interrupt or a softirq on a CPU, without those that interrupted it; WHY_UNKNOWN: it may have
 * been there.  @who: as in struct why_node */
struct why_irq_part {
	uint64_t begin, end;
	int64_t who;
	enum why_cause cause;
};

/* @room of @size bytes each */
struct why_list {
	void *at;
	size_t count, room;
};

/**
 * struct why_line - a thread
 * @thread: its number in struct why_lines, from 1 on
 * @before, @after: the threads that had the number @tid before and after this one; NULL: none
 * @born: ns; if there is one before, from when on the number is this thread's
 * @ended: ns, when it left a CPU for the last time; UINT64_MAX: not known
 * @quota: its cgroup has a CPU quota
 */
struct why_line {
	uint32_t thread, tid, tgid, cgroup;
	struct why_line *before, *after;
	uint64_t born, ended;
	bool quota;
	char comm[TB_COMM_LEN + 4];
	struct why_list runs, offs, calls;
};

struct why_cpu {
	struct why_list runs, irqs;
};

struct why_irq_name {
	int64_t number;
	char *name;
};

struct why_lines {
	struct why_line **threads;	/* number 1 is the first */
	size_t nr_threads, room_threads;
	uint32_t *order;		/* numbers of threads, by TID, then by time */
	struct why_cpu *cpus;
	unsigned int nr_cpus;
	struct why_irq_name *irqs;
	size_t nr_irqs;
	struct why_list slices;		/* struct why_run, @other is the number of the thread */
	struct files *files;
	bool switches, wakeups;
};

/* As why_open() */
int why_lines_read(struct why_lines *lines, struct tb_trace *trace, enum tb_timebase base,
		   const char *slice, struct tb_error *error);
void why_lines_free(struct why_lines *lines);

/* @thread: from 1 to nr_threads */
const struct why_line *why_line_of(const struct why_lines *lines, uint32_t thread);

/* The lines from which @why divides the time of threads */
const struct why_lines *why_lines(const struct why *why);

/* The index of the first of @list, elements of @size that begin with begin and end, that ends after
 * @ns */
size_t why_first(const struct why_list *list, size_t size, uint64_t ns);

#endif /* TRACEBUF_WHY_LINES_H */
