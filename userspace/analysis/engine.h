/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The analysis, inside: what its parts share.
 *
 *   analysis.c    events come in, go to those they concern; time axis, totals
 *   tasks.c       tasks: names, CPU time, being off the CPU
 *   waits.c       wake-ups: how long, who ran instead; the worst cases of all kinds
 *   queue.c       who is waiting for which CPU
 *   handlers.c    interrupts, softirqs, system calls
 *   block.c       requests to block devices
 *   known.c       for how long it is known what all CPUs ran
 *   losses.c      what is missing
 *   spans.c       when, known ahead
 *   numbers.c     histograms
 */
#ifndef TRACEBUF_ANALYSIS_ENGINE_H
#define TRACEBUF_ANALYSIS_ENGINE_H

#include "analysis.h"
#include "map.h"
#include "roles.h"
#include "slices.h"
#include "spans.h"

#define STATE_RUNNABLE_MASK	0xff	/* none of these: it wants to go on */
#define STATE_BLOCKED		0x02

/* struct task.on: nobody's */
#define NO_CPU UINT32_MAX

/**
 * struct task - what is known of a task besides
 * @last_cpu: where it was last; NO_CPU
 * @off: it left a CPU at @off_at with @off_state; @off_losses: losses until then
 * @generation: of known.c's clock, which @it.share_ns is of
 * @queued_on: the CPU that it is waiting for since @queued_at, NO_CPU: none; @queue_next,
 *	@queue_prev: others there
 */
struct task {
	struct analysis_task it;
	uint32_t last_cpu;
	bool     off;
	uint64_t off_at, off_losses;
	int64_t  off_state;
	uint32_t queued_on;
	uint64_t queued_at;
	struct task *queue_next, *queue_prev;
	uint32_t generation;
};

/* What a CPU ran: an interrupt or a softirq, or, without @handler, a task; NULL: it was idle */
struct past {
	const struct analysis_task *task;
	const struct analysis_handler *handler;
	uint64_t begin, end;
};

/* Lists of handlers: those that are wanted, by kind, and behind them all interrupts and softirqs */
enum { HANDLERS_ALL = ANALYSIS_KINDS, HANDLER_LISTS = HANDLERS_ALL + ANALYSIS_CALLS };

/**
 * struct cpu_state - what is known of a CPU besides
 * @last: its last event
 * @current: tid of it
 * @queue: who is waiting for it; @deep_since: since when anybody is;
 *	@depth_since: since when as many are; @queue_told: until when that is known at least
 * @counted, @tracked, @known_at: see known.c: there was a switch; it is known what runs, since the
 *	clock had that value
 * @history, @past: the runs there, @past of them, the last ANALYSIS_HISTORY are kept
 */
struct cpu_state {
	struct analysis_cpu it;
	uint64_t last;
	uint64_t known_until;		/* once all events have been seen */
	uint32_t current;
	bool     has_current;
	struct task *queue;
	uint64_t deep_since, depth_since, queue_told;
	bool     counted, tracked;
	uint64_t known_at;
	struct past history[ANALYSIS_HISTORY];
	uint64_t past;
};

/* The longest of many, a heap with the shortest on top until it is asked for */
struct worst {
	struct analysis_wait *list;
	size_t count;
	bool   sorted;
};

/* @number: it came by as that one */
struct kept_gap {
	struct analysis_gap it;
	uint64_t number;
};

/* The longest, and others since they were looked for last: room for twice as many as are kept */
struct gaps {
	struct kept_gap *list;
	size_t count;
	uint64_t seen;
	bool sorted;
};

/* struct analysis_loss, and the next one whose names have the same hash */
struct loss {
	struct analysis_loss it;
	struct loss *next;
};

/* Things kept for ever, in the order in which they came; pointers to them stay good */
struct listed {
	void **list;
	size_t count;
};

/* struct analysis_handler, and the next one whose name and number have the same hash */
struct handler {
	struct analysis_handler it;
	struct handler *next;
};

/**
 * struct known - the clock of known.c: it has advanced to total.known_ns at @at
 * @blind: when it stands still: events of a CPU are missing, or @unselected
 * @unselected: when switches are not recorded
 * @hidden: when a switch may have happened that is not in the trace: events of any CPU are missing,
 *	or @unselected
 * @counted, @tracked: number of CPUs
 * @generation: how often it has started anew
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
	uint64_t axis_end;		/* of the last bucket there can be */
	struct slices *slices;
	uint64_t ticks;			/* of the last event */
	bool     ending;		/* slices come because the trace ends */
	int      error;

	struct map threads;		/* tid: struct task */
	struct listed tasks;
	struct cpu_state **cpus;
	unsigned int nr_cpus;

	struct slice woken;		/* the last wake-up that came true */
	struct analysis_histogram latency;
	struct analysis_stat latency_stat;
	struct worst worst[ANALYSIS_WORSTS];

	struct map hashes[HANDLER_LISTS];
	struct listed handlers[HANDLER_LISTS];

	void    *requests;		/* tree of those that are not complete */
	size_t   nr_requests;
	struct listed blocks;
	struct analysis_histogram block_latency;

	struct spans missing;		/* when events of any CPU are */
	struct known known;
	size_t   hidden_at;		/* the queues are at, or before, that one of known.hidden */
	bool     blind;			/* in it */
	struct listed losses;
	struct map loss_hashes;
	struct gaps gaps;
	uint64_t lost[ANALYSIS_SERIES];

	uint64_t *counts;		/* by format */
	size_t   nr_counts;
};

/* Is what happened on @cpu, to thread @tid, and ends now, asked for? */
static inline bool analysis_wants(const struct analysis *a, uint32_t cpu, uint32_t tid)
{
	return a->total.end >= a->options.from &&
	       (!a->options.one_cpu || a->options.cpu == cpu) &&
	       (!a->options.thread ||
		a->options.thread(a->options.context, a->cursor, tid));
}

/* analysis.c */
struct cpu_state *cpu_of(struct analysis *a, uint32_t cpu);
/* @size bytes more, zero, at the end of the list; NULL: no memory */
void *listed_add(struct listed *listed, size_t size);
/* [from, to) of every bucket it is in */
void series_add(const struct analysis *a, uint64_t *series, uint64_t from, uint64_t to);
/* Buckets become twice as wide */
void series_fold(uint64_t *series);
void task_fold(struct task *task);
/* The bucket of that moment, which has been reached */
unsigned int series_at(const struct analysis *a, uint64_t ns);

/* numbers.c */
void histogram_add(struct analysis_histogram *histogram, uint64_t value);
void stat_add(struct analysis_stat *stat, uint64_t value);

/* tasks.c */
/* Who has that number now; NULL: no memory, or 0 */
struct task *task_of(struct analysis *a, uint32_t tid);
/* The task that had that number when it woke another one: it may have exited since */
struct task *waker_of(struct analysis *a, uint32_t tid);
void tasks_run(struct analysis *a, const struct slice *slice);
int tasks_switch(struct analysis *a, const struct tb_view *view, const struct plan *plan);
void tasks_free(struct analysis *a);

/* waits.c */
void waits_woken(struct analysis *a, const struct slice *slice);
/* Where the waker was */
enum analysis_context waits_context(const struct slice *wakeup);
void waits_worst(struct analysis *a, enum analysis_worst kind, const struct analysis_wait *wait);

/* queue.c */
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
/* 0, -ENOMEM */
int known_start(struct analysis *a);
/* Time has come to @ns; before each of the functions below */
void known_advance(struct analysis *a, uint64_t ns);
/* A task begins to run on @cpu */
void known_track(struct analysis *a, struct cpu_state *cpu);
/* A task has run on @cpu from @begin until @end */
void known_run(struct analysis *a, struct cpu_state *cpu, uint64_t begin, uint64_t end);
/* And it was @task */
void known_share(struct analysis *a, const struct cpu_state *cpu, struct task *task,
		 uint64_t run_ns);
/* After the last run */
void known_end(struct analysis *a);

/* losses.c */
int losses_take(struct analysis *a, const struct tb_view *view);
/* Are events missing between @begin, when there had been @losses, and @ns, which is now? */
bool losses_since(const struct analysis *a, uint64_t losses, uint64_t begin, uint64_t ns);

#endif /* TRACEBUF_ANALYSIS_ENGINE_H */
