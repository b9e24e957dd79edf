/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace says of the machine: who had the CPUs, who waited and for whom, what interrupts,
 * system calls and disks took, and what is not known because events are missing.
 *
 * The engine is fed with events one after the other, from a file or from a recording while it is
 * made, and can be asked at any time in between:
 *
 *	struct analysis *a = analysis_new(trace, NULL);
 *
 *	while (tb_cursor_next(cursor, &view) > 0)
 *		if (analysis_event(a, cursor, &view) < 0)
 *			...
 *	analysis_end(a, 0);
 *	for (i = 0; (task = analysis_task(a, i)); i++)
 *		printf("%s %" PRIu64 "\n", task->comm, task->run_ns);
 *	analysis_free(a);
 *
 * Live: all numbers only grow, so what happened between two refreshes is the difference; who is
 * on a CPU just now has not been counted yet, see analysis_running().  Do not call
 * analysis_end() before the recording is over.  Another recording of the file needs another engine.
 *
 * As a report in sections, for text, JSON and the page: report.h.
 *
 * All times are ns of the clock @base of the options (CLOCK_MONOTONIC).
 *
 * Pointers are good until analysis_free(), and
 * what they point to changes with the next event.  Nothing prints; failures are -errno.  Memory
 * goes with the number of tasks, handlers, system calls, devices, CPUs and losses, not with how long
 * the trace is.
 *
 * What is not known is not guessed.  Where events of a CPU are missing, what ran there is unknown
 * until the next switch; who was waiting or asleep at that time may have run there meanwhile,
 * wherever it was, so what lasts while events are missing is counted as uncertain and is in no time,
 * mean, histogram or maximum.  A loss is told by the block after it: of a file they are all asked for
 * ahead (@whole); live, what has begun and ended before that block came counts as if nothing had been.
 */
#ifndef TRACEBUF_ANALYSIS_H
#define TRACEBUF_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct analysis;

/**
 * struct analysis_options - zero: the default
 * @worst: how many worst cases are kept of each kind (10)
 * @one_cpu, @cpu: count only what happened (ended) on this CPU
 * @thread: returns true for a thread that is counted: what it did or had to wait for.  It gets
 *	@context and the cursor that knows the thread; NULL: all threads are counted
 * @events: the caller leaves out some of the events, as if they had not been recorded
 * @whole: the trace is a file
 * @base: the clock of all times
 * @from: count only what ended at that time or later, ns; what came before tells what ran then
 */
struct analysis_options {
	uint32_t worst;
	bool     one_cpu, events, whole;
	uint32_t cpu;
	enum tb_timebase base;
	uint64_t from;
	bool   (*thread)(void *context, const struct tb_cursor *cursor, uint32_t tid);
	void    *context;
};

/** analysis_new - before the first event of the selected recording; @options may be NULL.
 *  NULL: ENOMEM */
struct analysis *analysis_new(const struct tb_trace *trace,
			      const struct analysis_options *options);
void analysis_free(struct analysis *a);

/** analysis_wants_cpu - is @cpu asked for?  analysis_of_threads, analysis_of_events - only some?
 *  analysis_base - the clock of all times */
bool analysis_wants_cpu(const struct analysis *a, uint32_t cpu);
bool analysis_of_threads(const struct analysis *a);
bool analysis_of_events(const struct analysis *a);
enum tb_timebase analysis_base(const struct analysis *a);

/**
 * analysis_event - the next event or loss, whatever its kind, in the order of tb_cursor_next()
 * @cursor: where it comes from: knows names of threads; NULL: fewer names
 * Return: 0, -ENOMEM.
 */
int analysis_event(struct analysis *a, const struct tb_cursor *cursor,
		   const struct tb_view *view);

/* analysis_end() flags */
/* The file breaks off: of each CPU nothing is known after its last event */
#define ANALYSIS_CUT 0x01u

/** analysis_end - there are no more: what still lasts is counted until the last event.  The cursor
 *  is still open */
int analysis_end(struct analysis *a, unsigned int flags);

/* ---- numbers ---- */

/* Buckets of 1/16 of a power of two: a value is at most 6.25 % less than the end of its bucket */
#define ANALYSIS_SUB_BITS 4
#define ANALYSIS_BUCKETS ((64 - ANALYSIS_SUB_BITS + 1) << ANALYSIS_SUB_BITS)

/**
 * struct analysis_stat - how long something took
 * @count, @sum, @max: of those that are known exactly
 * @uncertain: began and ended, but events are missing in between: in none of the above
 * @open: began, but no end was seen: likewise
 */
struct analysis_stat {
	uint64_t count, sum, max;
	uint64_t uncertain, open;
};

/** struct analysis_histogram - and how they are distributed; see analysis_percentile() */
struct analysis_histogram {
	uint64_t count, sum, min, max;
	uint64_t buckets[ANALYSIS_BUCKETS];
};

/**
 * analysis_percentile - the value that @permyriad / 100 percent of them do not exceed (nearest
 * rank; 9990: 99.9 %): the last value of its bucket, or the maximum if that is less.  None: 0
 */
uint64_t analysis_percentile(const struct analysis_histogram *histogram,
			     unsigned int permyriad);

/** analysis_log2 - how many values are in [2^@power, 2^(@power + 1)); of power 0 also 0 */
uint64_t analysis_log2(const struct analysis_histogram *histogram,
		       unsigned int power);

/* ---- over time ---- */

/* A series has at most so many buckets of equal width, which doubles when they do not suffice */
#define ANALYSIS_SERIES 128
#define ANALYSIS_SERIES_NS 1000000ull	/* width at first */

/**
 * struct analysis_axis - bucket i of every series is [begin + i * width, begin + (i + 1) * width)
 * @count: buckets that time has reached
 */
struct analysis_axis {
	uint64_t begin, width;
	unsigned int count;
};

const struct analysis_axis *analysis_axis(const struct analysis *a);

/* ---- all of it ---- */

/**
 * struct analysis_total
 * @begin, @end: times of the first event, not before options.from, and of the last one
 * @events: how many, control events and records of programs included, losses not
 * @lost, @losses: events that are missing, in how many gaps (of rings)
 * @user_lost, @user_losses: records of programs, likewise
 * @known_ns: how long it is known of every CPU with a switch what ran; 0: nothing is known of shares
 * @told_ns: how long events of a CPU are there, mean of all CPUs
 * @cut: the file breaks off
 * @open: number of CPUs whose events are not known until @end
 * @late: events that were shown after later ones, of a trace that is followed; what they say
 * 	may be wrong
 * @back: events whose time, by the clock records, is before that of the event before them: they
 *	count as of that time
 * @has: what can be known, by the events that there have been: a bit for each enum analysis_need
 */
struct analysis_total {
	uint64_t begin, end, events;
	uint64_t lost, losses, user_lost, user_losses;
	uint64_t late, back;
	uint64_t known_ns, told_ns;
	uint32_t has;
	bool     cut;
	unsigned int open;
};

enum analysis_need {
	ANALYSIS_SWITCH, ANALYSIS_WAKING, ANALYSIS_WAKEUP, ANALYSIS_IRQ, ANALYSIS_IRQ_EXIT,
	ANALYSIS_SOFTIRQ, ANALYSIS_SOFTIRQ_EXIT, ANALYSIS_CALL, ANALYSIS_CALL_EXIT,
	ANALYSIS_ISSUE, ANALYSIS_COMPLETE, ANALYSIS_MIGRATE,
	ANALYSIS_NEEDS,
};

const struct analysis_total *analysis_total(const struct analysis *a);

/** analysis_has - has there been an event of that kind? */
static inline bool analysis_has(const struct analysis *a, enum analysis_need need)
{
	return analysis_total(a)->has >> need & 1;
}

/* ---- tasks ---- */

/**
 * struct analysis_task - a thread; one whose number was used again after its death is another one
 * @tgid: its process, 0 if unknown
 * @comm: its last name; "<...>" if unknown
 * @index: number of the task
 * @ended: it has exited
 * @share_ns: how long it was on CPUs in total.known_ns; after analysis_end() with @whole
 * @run_ns, @runs: how long it was on CPUs, and how often (runs whose beginning was seen)
 * @preempted: of those, how many ended while it wanted to go on
 * @migrations: how often it went on on another CPU than the one it was on last
 * @wait: from when it was woken until it ran; @wait.uncertain: it was not known any more then
 * @runnable, @blocked, @sleeping: off the CPU: wanting to go on; in state D; in any other
 * @series: @run_ns over time, ANALYSIS_SERIES of them; NULL: it ran in one bucket at most, @bucket,
 *	for @bucket_ns.  Ask analysis_task_series()
 */
struct analysis_task {
	uint32_t tid, tgid;
	uint32_t index;
	char     comm[TB_COMM_LEN + 4];
	bool     ended;
	uint64_t run_ns, share_ns, runs, preempted, migrations;
	struct analysis_stat wait, runnable, blocked, sleeping;
	uint64_t *series, bucket_ns;
	unsigned int bucket;
};

/** analysis_task_series - how long @task was on CPUs in bucket number @bucket; ns */
uint64_t analysis_task_series(const struct analysis_task *task, unsigned int bucket);

/** analysis_task - number @index, in the order in which they came by; NULL beyond the last.
 *  There is none for the idle ones, tid 0 */
const struct analysis_task *analysis_task(const struct analysis *a,
					  unsigned int index);

/** analysis_task_of - who has number @tid now; NULL */
const struct analysis_task *analysis_task_of(const struct analysis *a,
					     uint32_t tid);

/* ---- CPUs ---- */

/**
 * struct analysis_cpu - what became of its time; the rest of begin .. end is unknown
 * @seen: there were events of it
 * @busy_ns, @idle_ns: tasks, and the idle one
 * @tracked_ns: how long no switch is missing: busy_ns is a part of it
 * @switches: of tasks
 * @irq_ns, @softirq_ns: of either: in interrupts, and in softirqs (with what interrupted them)
 * @depth: tasks that are waiting for it now, as far as is known
 * @depth_max: most of them at once
 * @known_ns: how long @depth was known; told by analysis_end().  With @whole without the time in which
 *	events of any CPU are missing: who is waiting may be running there
 * @waiting_ns: sum of the time, of that, that tasks were waiting: divided by @known_ns the mean depth
 * @deep_ns: how long one waited at least
 * @busy, @waiting, @deepest: over time: @busy_ns, @waiting_ns, most that waited at once
 */
struct analysis_cpu {
	bool     seen;
	uint64_t busy_ns, idle_ns, tracked_ns, switches;
	uint64_t irq_ns, softirq_ns;
	uint32_t depth, depth_max;
	uint64_t known_ns, waiting_ns, deep_ns;
	uint64_t busy[ANALYSIS_SERIES], waiting[ANALYSIS_SERIES];
	uint32_t deepest[ANALYSIS_SERIES];
};

unsigned int analysis_nr_cpus(const struct analysis *a);
const struct analysis_cpu *analysis_cpu(const struct analysis *a, unsigned int cpu);

/**
 * analysis_running - who is on @cpu
 * @since: out: from when on; until now it is not in run_ns, busy_ns, idle_ns
 * Return: 1; 0: not known.
 */
int analysis_running(const struct analysis *a, unsigned int cpu, uint32_t *tid,
		     uint64_t *since);

/* ---- waiting ---- */

/** analysis_latency - of all tasks, from wake-up to running */
const struct analysis_histogram *analysis_latency(const struct analysis *a);
/** analysis_latency_stat - those that are not known exactly as well */
const struct analysis_stat *analysis_latency_stat(const struct analysis *a);

/* How many runs, interrupts and softirqs are looked back at for what ran instead, and are kept */
#define ANALYSIS_HISTORY 1024
#define ANALYSIS_INSTEAD 8

/* struct analysis_wait.context: where the waker was */
enum analysis_context {
	ANALYSIS_FROM_TASK, ANALYSIS_FROM_SOFTIRQ, ANALYSIS_FROM_IRQ, ANALYSIS_FROM_NMI,
};

/**
 * struct analysis_wait - somebody waited
 * @task: who; @begin, @end: from when until when
 * @cpu: where it went on; @before: where it was before (of being off the CPU)
 * @state: of being off the CPU: prev_state of sched_switch
 * @woken: whether it is known when and by whom, which are:
 * @woken_at, @waker: NULL: an idle CPU; @context: if it was in an interrupt, that has nothing
 * 	to do with @waker
 *
 * Of a wake-up (@begin is @woken_at):
 * @instead, @nr_instead: what that CPU ran meanwhile, and how long, longest first: an interrupt or
 *	a softirq if there is a handler, else a task without what interrupted it; NULL: it was idle
 * @others_ns: those for which there is no room in there
 * @unknown_ns: the rest
 */
struct analysis_wait {
	const struct analysis_task *task;
	uint64_t begin, end;
	uint32_t cpu, before;
	int64_t  state;
	bool     woken;
	uint64_t woken_at;
	const struct analysis_task *waker;
	enum analysis_context context;
	unsigned int nr_instead;
	struct {
		const struct analysis_task *task;
		const struct analysis_handler *handler;
		uint64_t ns;
	} instead[ANALYSIS_INSTEAD];
	uint64_t others_ns, unknown_ns;
};

enum analysis_worst {
	ANALYSIS_WORST_WAKEUP,		/* from wake-up to running */
	ANALYSIS_WORST_RUNNABLE,	/* off the CPU, but wanting to go on: it had to make way */
	ANALYSIS_WORST_BLOCKED,		/* off the CPU in state D */
	ANALYSIS_WORST_SLEEPING,	/* in any other state */
	ANALYSIS_WORSTS,
};

/** analysis_worst - case number @index of that kind, the longest first; NULL beyond the last */
const struct analysis_wait *analysis_worst(struct analysis *a, enum analysis_worst kind,
					   unsigned int index);

/* ---- handlers and system calls ---- */

struct analysis_error {
	int64_t  code;		/* errno */
	uint64_t count;
};

enum analysis_kind { ANALYSIS_IRQS, ANALYSIS_SOFTIRQS, ANALYSIS_CALLS, ANALYSIS_KINDS };

/**
 * struct analysis_handler - an interrupt, a softirq or a system call
 * @number: of it
 * @name: "?" if unknown; of an interrupt that of its handler
 * @stat: how long; what interrupted it is in there, and of system calls what they slept
 * @histogram: of @stat
 * @failed: calls that returned an error (those of @stat.uncertain, too)
 * @errors, @nr_errors: which, in the order in which they came by
 */
struct analysis_handler {
	enum analysis_kind kind;
	int64_t number;
	char   *name;
	struct analysis_stat stat;
	struct analysis_histogram histogram;
	uint64_t failed;
	struct analysis_error *errors;
	unsigned int nr_errors;
};

/** analysis_handler - number @index, in the order in which they came by; NULL beyond the last */
const struct analysis_handler *analysis_handler(const struct analysis *a,
						enum analysis_kind kind,
						unsigned int index);

/* ---- block devices ---- */

/**
 * struct analysis_block - requests of one kind to one device, from issue to completion
 * @dev: as the kernel has it: major << 20 | minor
 * @op: 'R' read, 'W' write, 'D' discard, 'F' flush, 'N' anything else
 * @bytes: of those in @stat
 * @failed: that completed with an error
 */
struct analysis_block {
	uint32_t dev;
	char     op;
	uint64_t bytes, failed;
	struct analysis_stat stat;
	struct analysis_histogram histogram;
};

const struct analysis_block *analysis_block(const struct analysis *a, unsigned int index);

/** analysis_block_latency - of all of them */
const struct analysis_histogram *analysis_block_latency(const struct analysis *a);

/* ---- losses ---- */

/**
 * struct analysis_loss - what is missing of a ring, or of a writer of a program
 * @user: of a program: @cpu is meaningless
 * @producer, @writer, @pid: of a program
 * @count, @events: gaps, and events (records) missing in them
 * @overwritten, @dropped: of a ring: @events is their sum
 * @span_ns, @longest_ns: time that gaps took, sum and most
 * @first, @last: from when until when there were any
 */
struct analysis_loss {
	bool     user;
	uint32_t cpu, producer, writer, pid;
	uint64_t count, events, overwritten, dropped;
	uint64_t span_ns, longest_ns, first, last;
};

/** analysis_loss - number @index, in the order in which they came by; NULL beyond the last */
const struct analysis_loss *analysis_loss(const struct analysis *a, unsigned int index);

/**
 * struct analysis_gap - one of the longest
 */
struct analysis_gap {
	const struct analysis_loss *of;
	uint64_t first, last, events;
};

/** analysis_gap - number @index, longest first; NULL beyond the last */
const struct analysis_gap *analysis_gap(struct analysis *a, unsigned int index);

/** analysis_lost_later - are events missing from begin to end? (with @whole) That is told by a block that
 *  need not be among those that have been chosen */
bool analysis_lost_later(const struct analysis *a);

/** analysis_lost - events missing over time, ANALYSIS_SERIES of them: each gap in the bucket in
 *  which it ends */
const uint64_t *analysis_lost(const struct analysis *a);

/* ---- events ---- */

/** analysis_count - how many there were of format number @index (tb_trace_format_at()) */
uint64_t analysis_count(const struct analysis *a, unsigned int index);

#endif /* TRACEBUF_ANALYSIS_H */
