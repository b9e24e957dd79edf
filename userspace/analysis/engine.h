/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of analysis.h, shared by its files.
 *
 *   analysis.c    takes events and passes them on; time axis, totals
 *   tasks.c       tasks: names, CPU time, time off the CPU
 *   ended.c       tasks that have ended, and are not needed
 *   waits.c       wake-ups: how long, what ran instead; worst cases of all kinds
 *   queue.c       tasks that wait for each CPU
 *   handlers.c    interrupts, softirqs, system calls
 *   block.c       requests to block devices
 *   known.c       the time in which it is known what all CPUs ran
 *   losses.c      missing events
 *   spans.c       spans of time in which events are missing, known ahead
 *   numbers.c     histograms
 */
#ifndef TRACEBUF_ANALYSIS_ENGINE_H
#define TRACEBUF_ANALYSIS_ENGINE_H

#include "analysis.h"
#include "map.h"
#include "roles.h"
#include "slices.h"
#include "spans.h"

#define STATE_RUNNABLE_MASK	0xff	/* prev_state has none of these: the task is runnable */

/* ended_remove() runs only with more ended tasks than this */
#define ENDED_MIN		4096

/* struct task.last_cpu, queued_on: no CPU */
#define NO_CPU UINT32_MAX

/**
 * struct task - internal data of a task
 * @last_cpu: the CPU on which it was last, or NO_CPU
 * @off: it left a CPU at @off_at with @off_state, in system call @off_call, -1 if none is known;
 *	@off_losses: number of losses until then
 * @generation: value of known.generation that @it.share_ns is valid for
 * @queued_on: the CPU for which it has waited since @queued_at, or NO_CPU; @queue_next,
 *	@queue_prev: other tasks in that queue
 * @before_at, @before_ns: the beginning and the length of the last time of before_slept: if the
 *	task proves to have slept by its own wish, it is taken back
 * @needed: for ended.c; @moved: it came to its queue from that of another CPU
 */
struct task {
	struct analysis_task it;
	uint32_t last_cpu;
	bool     off;
	uint64_t off_at, off_losses;
	int64_t  off_state, off_call;
	uint32_t queued_on;
	uint64_t queued_at;
	uint64_t before_at, before_ns;
	struct task *queue_next, *queue_prev;
	uint32_t generation;
	bool     needed, moved;
};

/* A run on a CPU: of @handler (interrupt or softirq), else of @task, else idle */
struct run_interval {
	const struct analysis_task *task;
	const struct analysis_handler *handler;
	uint64_t begin, end;
};

/* Lists of handlers: by kind, those that count; then all interrupts and all softirqs */
enum { HANDLERS_ALL = ANALYSIS_KINDS, HANDLER_LISTS = HANDLERS_ALL + ANALYSIS_CALLS };

/**
 * struct cpu_state - internal data of a CPU
 * @last: time of its last event
 * @current: tid of that event
 * @queue: tasks that wait for it; @deep_since: when it became not empty; @depth_since: when its
 *	length changed last; @queue_changed_at: time of the last event that changed it
 * @counted, @tracked, @known_at: for known.c: it was tracked once; the running task is known, since
 *	total.known_ns had the value @known_at
 * @history, @past: the last ANALYSIS_HISTORY of @past runs
 */
struct cpu_state {
	struct analysis_cpu it;
	uint64_t last;
	uint64_t known_until;		/* set by analysis_end() */
	uint32_t current;
	bool     has_current;
	struct task *queue;
	uint64_t deep_since, depth_since, queue_changed_at;
	bool     counted, tracked;
	uint64_t known_at;
	struct run_interval history[ANALYSIS_HISTORY];
	uint64_t past;
};

/* The longest waits: a heap with the shortest on top, or sorted by analysis_worst() */
struct worst {
	struct analysis_wait *list;
	size_t count;
	bool   sorted;
};

/* @number: position in the order of appearance */
struct kept_gap {
	struct analysis_gap it;
	uint64_t number;
};

/* The longest gaps, and newer ones since the last sort: room for twice as many as are kept */
struct gaps {
	struct kept_gap *list;
	size_t count;
	uint64_t seen;
	bool sorted;
};

/* struct analysis_loss, and the next one with the same hash */
struct loss {
	struct analysis_loss it;
	struct loss *next;
};

/* Items in the order of appearance; they never move, and only ended.c removes some */
struct listed {
	void **list;
	size_t count, room;
};

/* struct analysis_handler, and the next one with the same hash */
struct handler {
	struct analysis_handler it;
	struct handler *next;
};

/**
 * struct known - the clock of known.c: at time @at it shows total.known_ns
 * @blind: spans in which it stands still: events of a CPU are missing, or @unselected
 * @unselected: spans in which switches are not recorded
 * @hidden: spans in which a switch may be missing: events of any CPU are missing, or @unselected
 * @counted, @tracked: number of CPUs
 * @generation: number of restarts of the clock
 */
struct known {
	struct spans blind, unselected, hidden;
	uint64_t at;
	unsigned int counted, tracked;
	uint32_t generation;
};

struct analysis {
	const struct tb_trace *trace;
	const struct tb_cursor *cursor;
	struct analysis_options options;
	struct analysis_total total;
	struct analysis_axis axis;
	uint64_t axis_end;		/* end of the last possible bucket */
	struct slices *slices;
	uint64_t ticks;			/* of the last event */
	bool     all_calls;		/* no rule kept out system calls */
	bool     ending;		/* analysis_end() was called: slices end now */
	int      error;

	struct map threads;		/* struct task by tid */
	struct listed tasks;
	uint32_t nr_tasks;		/* with those that were removed */
	size_t   ended, ended_limit;	/* ended tasks; ended_remove() runs if there are more */
	struct map rest_of;		/* sums of removed tasks, struct task by cgroup */
	struct listed rest;
	struct cpu_state **cpus;
	unsigned int nr_cpus;

	uint64_t wakes_from;		/* ns; for a file: wake-ups are recorded since then */
	struct slice woken;		/* the last SLICE_WAKEUP */
	struct analysis_histogram latency;
	struct analysis_stat latency_stat;
	struct worst worst[ANALYSIS_WORSTS];

	struct map hashes[HANDLER_LISTS];
	struct listed handlers[HANDLER_LISTS];

	void    *requests;		/* tree of pending requests */
	size_t   nr_requests;
	struct listed blocks;
	struct analysis_histogram block_latency;

	struct spans missing;		/* spans in which events of any CPU are missing */
	struct known known;
	size_t   hidden_at;		/* index of the current or next span of known.hidden */
	bool     blind;			/* the current time is in it */
	struct listed losses;
	struct map loss_hashes;
	struct gaps gaps;
	uint64_t lost[ANALYSIS_SERIES];

	uint64_t *counts;		/* by index of the format */
	unsigned int nr_counts;
};

/* True if what ends now on @cpu, of thread @tid, counts */
static inline bool analysis_wants_thread(const struct analysis *a, uint32_t tid)
{
	return !a->options.thread || a->options.thread(a->options.context, a->cursor, tid);
}

static inline bool analysis_wants(const struct analysis *a, uint32_t cpu, uint32_t tid)
{
	return a->total.end >= a->options.from && analysis_wants_cpu(a, cpu) &&
	       analysis_wants_thread(a, tid);
}

/* analysis.c */
struct cpu_state *cpu_of(struct analysis *a, uint32_t cpu);
/* Append a zeroed item of @size bytes; NULL: no memory */
void *listed_add(struct listed *listed, size_t size);
/* Add the time [from, to) to the buckets that it overlaps */
void series_add(const struct analysis *a, uint64_t *series, uint64_t from, uint64_t to);
/* Buckets become twice as wide */
void series_fold(uint64_t *series);
void task_fold(struct task *task);
/* The bucket of @ns, which is not after the last event */
unsigned int series_at(const struct analysis *a, uint64_t ns);

/* numbers.c */
void histogram_add(struct analysis_histogram *histogram, uint64_t value);
void stat_add(struct analysis_stat *stat, uint64_t value);

/* tasks.c */
/* The task with number @tid now; NULL: no memory, or @tid is 0 */
struct task *task_of(struct analysis *a, uint32_t tid);
void tasks_run(struct analysis *a, const struct slice *slice);
int tasks_switch(struct analysis *a, const struct tb_view *view, const struct plan *plan);
/* A thread was off the CPU: if the trace lacks one end of that, tasks_switch() does not see it */
void tasks_off(struct analysis *a, const struct slice *slice);
/* A thread has left a call in which it was before the trace */
void tasks_call_before(struct analysis *a, const struct slice *slice);
void tasks_free(struct analysis *a);

/* ended.c */
/* Remove the ended tasks that are not needed.  0, -ENOMEM */
int ended_remove(struct analysis *a);

/* waits.c */
void waits_woken(struct analysis *a, const struct slice *slice);
/* Set the members of @wait about the waker */
void waits_note_waker(struct analysis_wait *wait, const struct slice *wakeup);
/* @task waited for a CPU: find what ran there from @since on, when it came to the CPU's queue */
void waits_for_cpu(struct analysis *a, struct task *task, const struct analysis_wait *wait,
		   uint64_t since);
/* Add to @list the cause that ended @wait after @ns; the task has @waited ns of such waits
 * altogether */
void waits_ended_by(struct analysis *a, const struct analysis_wait *wait, uint64_t ns,
		    uint64_t waited, struct analysis_cause **list);
void waits_worst(struct analysis *a, enum analysis_worst kind, const struct analysis_wait *wait);

/* queue.c */
/* Return the time, ns, since which @task waits for @cpu.  0: since its wait began; UINT64_MAX: it
 * does not wait for this CPU, or that is not known */
static inline uint64_t queued_since(const struct analysis *a, const struct task *task,
				    uint32_t cpu)
{
	/* without sched_wakeup, tasks that were woken are in no queue */
	if (task->queued_on == NO_CPU && !analysis_has(a, ANALYSIS_WAKEUP))
		return 0;
	return task->queued_on != cpu ? UINT64_MAX : task->moved ? task->queued_at : 0;
}

int queue_take(struct analysis *a, const struct tb_view *view, const struct plan *plan);
void queue_switch(struct analysis *a, struct task *prev, struct task *next, bool runnable,
		  uint32_t cpu, uint64_t ns);
/* Events of @cpu are missing from @since on */
void queue_lost(struct analysis *a, struct cpu_state *cpu, uint64_t since);
void queue_end(struct analysis *a);

/* handlers.c */
void handlers_slice(struct analysis *a, const struct slice *slice);
void handlers_free(struct analysis *a);

/* block.c */
int block_take(struct analysis *a, const struct tb_view *view, const struct plan *plan);
void block_end(struct analysis *a);

/* known.c */
/* Call after a->missing was set.  0, -ENOMEM */
int known_start(struct analysis *a);
/* Advance the clock to @ns; call it before each of the functions below */
void known_advance(struct analysis *a, uint64_t ns);
/* A task begins to run on @cpu */
void known_track(struct analysis *a, struct cpu_state *cpu);
/* A run on @cpu from @begin to @end has ended */
void known_run(struct analysis *a, struct cpu_state *cpu, uint64_t begin, uint64_t end);
/* Add that run, of @run_ns, to the share of @task */
void known_share(struct analysis *a, const struct cpu_state *cpu, struct task *task,
		 uint64_t run_ns);
/* Add @share_ns to the share of @task */
void known_add(const struct analysis *a, struct task *task, uint64_t share_ns);
/* Call after the last run */
void known_end(struct analysis *a);

/* losses.c */
int losses_take(struct analysis *a, const struct tb_view *view);
/* True if events are missing between @begin, when there were @losses losses, and now, @ns */
bool losses_since(const struct analysis *a, uint64_t losses, uint64_t begin, uint64_t ns);

#endif /* TRACEBUF_ANALYSIS_ENGINE_H */
