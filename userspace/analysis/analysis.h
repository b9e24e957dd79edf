/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace says about the machine: how tasks used the CPUs, what they waited for, how long
 * interrupts, system calls and disks took, and what is unknown because events are missing.
 *
 * The caller feeds the engine with events in order, from a file or from a recording while it is
 * made.  It may query the engine at any time:
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
 * Live: all numbers only grow, so the difference between two queries is what happened in between.
 * The run of a task that is on a CPU counts when it ends; see analysis_running().  Call
 * analysis_end() after the recording only.  Use another engine for another recording of the file.
 *
 * report.h turns the results into sections, for text, JSON and the page.
 *
 * All times are ns of the clock @base of the options (CLOCK_MONOTONIC).  Pointers are valid until
 * analysis_free(), or with options.ended until the next event, and the objects change with it.
 * No function prints; failures are -errno.  Memory is proportional to the number of tasks (see
 * options.ended), handlers, system calls, devices, CPUs and losses, not to the length of the trace.
 *
 * The engine does not guess.  Where events of a CPU are missing, it is unknown what ran there until
 * the next switch; any task that waits or sleeps at that time may have run there.  So whatever
 * lasts while events are missing counts as uncertain: it is in no time, mean, histogram or maximum.
 * The trace has the record of a loss in the block after it.  For a file (@whole) the engine reads
 * these records first; live, what begins and ends before that block arrives counts as certain.
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
 * @worst: number of worst cases that are kept of each kind (10)
 * @ended: of the tasks that have ended keep at least this many with the most time on CPUs, this
 *	many with the longest waits for a CPU, and this many that were blocked for longest;
 *	analysis_rest() has the sums of the others.  0: keep all
 * @cpu: returns true if what ends on this CPU counts; NULL: all CPUs count
 * @thread: returns true for a thread that counts, as the cursor knows it; NULL: all threads count
 * @context: the first argument of @cpu and @thread
 * @events: the caller leaves out some events, as if they had not been recorded
 * @whole: the trace is a file
 * @switches_from: of a file: the caller gives all switches from this time on, in ticks; UINT64_MAX:
 *	it leaves out some
 * @base: the clock of all times
 * @from: count only what ended at this time or later, ns; earlier events tell what ran then
 * @part_from, @part_to: limits, in ticks, of the part of a file that the caller gives, if the
 *	recording goes on beyond them: what the CPUs run at a limit is known without an event.
 *	0: the part begins, or ends, with an event
 */
struct analysis_options {
	uint32_t worst, ended;
	bool     events, whole;
	enum tb_timebase base;
	uint64_t from, switches_from;
	uint64_t part_from, part_to;
	bool   (*cpu)(void *context, uint32_t cpu);
	bool   (*thread)(void *context, const struct tb_cursor *cursor, uint32_t tid);
	void    *context;
};

/** analysis_new - create an engine for the selected recording; @options may be NULL.  Returns NULL
 *  if there is no memory. */
struct analysis *analysis_new(struct tb_trace *trace,
			      const struct analysis_options *options);
void analysis_free(struct analysis *a);

/* Query the options: does @cpu count; does the recording go on beyond the part that is given; do
 * only some threads count; were only some events given; the clock of all times */
bool analysis_wants_cpu(const struct analysis *a, uint32_t cpu);
bool analysis_is_part(const struct analysis *a);
bool analysis_of_threads(const struct analysis *a);
bool analysis_of_events(const struct analysis *a);
enum tb_timebase analysis_base(const struct analysis *a);

/**
 * analysis_event - take the next event or loss of any kind, in the order of tb_cursor_next()
 * @cursor: the cursor that @view is from, for names of threads; NULL: fewer names
 * Return: 0, -ENOMEM.
 */
int analysis_event(struct analysis *a, const struct tb_cursor *cursor,
		   const struct tb_view *view);

/* analysis_end() flags */
/* The file breaks off: nothing is known of a CPU after its last event */
#define ANALYSIS_CUT 0x01u

/** analysis_end - end the trace: what still lasts is counted until the last event.  @cursor: the
 *  one that all events are from, for names of threads; NULL: fewer names.  Return: 0, -ENOMEM. */
int analysis_end(struct analysis *a, const struct tb_cursor *cursor, unsigned int flags);

/* ---- numbers ---- */

/* Buckets of 1/16 of a power of two: a value is at most 6.25 % less than the end of its bucket */
#define ANALYSIS_SUB_BITS 4
#define ANALYSIS_BUCKETS ((64 - ANALYSIS_SUB_BITS + 1) << ANALYSIS_SUB_BITS)

/**
 * struct analysis_stat - how long things of one kind took
 * @count, @sum, @max: of those that are certain
 * @uncertain: number of those that began and ended while events were missing; not in @count
 * @open: number of those without an end in the trace; not in @count
 */
struct analysis_stat {
	uint64_t count, sum, max;
	uint64_t uncertain, open;
};

/** struct analysis_histogram - their distribution; see analysis_percentile() */
struct analysis_histogram {
	uint64_t count, sum, min, max;
	uint64_t buckets[ANALYSIS_BUCKETS];
};

/**
 * analysis_percentile - the value that @permyriad / 100 percent of the values do not exceed
 * (nearest rank; 9990: 99.9 %): the last value of its bucket, or the maximum if that is less.
 * 0 without values
 */
uint64_t analysis_percentile(const struct analysis_histogram *histogram,
			     unsigned int permyriad);

/** analysis_log2 - number of values in [2^@power, 2^(@power + 1)); @power 0 includes value 0 */
uint64_t analysis_log2(const struct analysis_histogram *histogram,
		       unsigned int power);

/* ---- over time ---- */

/* A series has at most this many buckets of equal width, which doubles when more are needed */
#define ANALYSIS_SERIES 128
#define ANALYSIS_SERIES_NS 1000000ull	/* first width */

/**
 * struct analysis_axis - bucket i of every series is [begin + i * width, begin + (i + 1) * width)
 * @count: number of buckets up to the last event
 */
struct analysis_axis {
	uint64_t begin, width;
	unsigned int count;
};

const struct analysis_axis *analysis_axis(const struct analysis *a);

/* ---- totals ---- */

/**
 * struct analysis_total - counts of the whole recording
 * @begin, @end: times of the first event that counts (not before options.from), and of the last
 * @events: number of events, with control events and records of programs
 * @lost, @losses: number of missing events, and of gaps, in rings
 * @user_lost, @user_losses: the same for records of programs
 * @known_ns: time in which it is known of every CPU with a switch what ran; 0: no shares are known
 * @recorded_ns: time in which events of a CPU are in the trace, mean of all CPUs
 * @shares_ns: of this time are the shares of tasks: @known_ns, or @recorded_ns if @of_threads
 * @of_threads: only events of chosen threads were recorded
 * @cut: the file breaks off
 * @open: number of CPUs with events that are not known until @end
 * @late: number of events of a followed trace shown after later ones; conclusions from them may be
 *	wrong
 * @back: number of events earlier than the event before them, by the clock records: they get the
 *	time of that event
 * @has: kinds of events that have occurred: one bit for each enum analysis_need
 * @selected: kinds of events that were recorded at some time, according to the trace; set by
 *	analysis_end()
 */
struct analysis_total {
	uint64_t begin, end, events;
	uint64_t lost, losses, user_lost, user_losses;
	uint64_t late, back;
	uint64_t known_ns, recorded_ns, shares_ns;
	uint32_t has, selected;
	bool     cut, of_threads;
	unsigned int open;
};

enum analysis_need {
	ANALYSIS_SWITCH, ANALYSIS_WAKING, ANALYSIS_WAKEUP, ANALYSIS_IRQ, ANALYSIS_IRQ_EXIT,
	ANALYSIS_SOFTIRQ, ANALYSIS_SOFTIRQ_EXIT, ANALYSIS_CALL, ANALYSIS_CALL_EXIT,
	ANALYSIS_ISSUE, ANALYSIS_COMPLETE, ANALYSIS_MIGRATE,
	ANALYSIS_NEEDS,
};

const struct analysis_total *analysis_total(const struct analysis *a);

/** analysis_has - true if there has been an event of that kind */
static inline bool analysis_has(const struct analysis *a, enum analysis_need need)
{
	return analysis_total(a)->has >> need & 1;
}

/** analysis_lacks - true if events of that kind may be missing: there has been none, and the trace
 *  does not say that they were recorded, or the user chose other events */
static inline bool analysis_lacks(const struct analysis *a, enum analysis_need need)
{
	return !analysis_has(a, need) &&
	       (analysis_of_events(a) || !(analysis_total(a)->selected >> need & 1));
}

/* ---- tasks ---- */

enum analysis_cause_kind {
	ANALYSIS_BY_THREAD, ANALYSIS_BY_IRQ, ANALYSIS_BY_SOFTIRQ, ANALYSIS_BY_IDLE,
	ANALYSIS_BY_QUOTA,		/* idle: the task's cgroup seems to lack CPU quota */
};

struct analysis_handler;

/**
 * struct analysis_cause - what caused a part of the waits of a task
 * @handler: the interrupt or softirq; NULL: any
 * @comm: the name that the thread had in the last of these waits
 * @tid, @index: of the thread; @tid 0: there were several of this name; @index UINT32_MAX: it is
 *	not known
 * @ns: time; up to @doubt of it may belong to causes for which there was no room.  0: unused
 */
struct analysis_cause {
	enum analysis_cause_kind kind;
	const struct analysis_handler *handler;
	char     comm[TB_COMM_LEN + 4];
	uint32_t tid, index;
	uint64_t ns, doubt;
};

/* Number of causes of each kind of waits of a task */
#define ANALYSIS_CAUSES 6

/**
 * struct analysis_task - a thread; after it has exited, another thread with its tid is another task
 * @tgid: its process, 0 if unknown
 * @comm: its last name; "<...>" if unknown
 * @cgroup: the cgroup that it was in last; 0: unknown
 * @index: number of the task, with those that are not kept
 * @tasks: 1; of analysis_rest(): number of tasks that ran
 * @ended: it has exited
 * @share_ns: its time on CPUs within total.shares_ns; valid after analysis_end() with @whole
 * @run_ns, @runs: time on CPUs, and number of runs, of which the beginning is in the trace
 * @preempted: number of runs that ended while it was runnable
 * @migrations: number of runs on another CPU than the run before
 * @wait: from wake-up to running; @wait.uncertain: it may have run in between
 * @runnable, @blocked, @sleeping: off the CPU: runnable; in state D; in any other state
 * @stuck: @blocked, but only until the task was woken, if that is known
 * @waiting: the same of @sleeping, without sleeps by the task's own wish (nanosleep)
 * @stuck_in, @waiting_in: the system calls of the longest of @stuck and @waiting; -1: not known
 * @before_waited, @before_slept: off the CPU from the beginning of the trace, or the end of a gap,
 *	on; ns: ready, without a wake-up; in an unknown state, but not by the task's own wish
 * @last_waited, @last_stuck, @last_slept: off the CPU until the end of the trace; ns: ready; in
 *	state D; in another state, but not by the task's own wish.  @last_in: in this system call;
 *	-1: not known
 * @instead: ANALYSIS_CAUSES of @wait and @runnable: what ran meanwhile on the CPU for which the
 *	task waited, while that is known
 * @stuck_by, @waiting_by: the same of @stuck and @waiting: who ended them, without
 *	ANALYSIS_BY_IDLE.  All three lack the first waits, of 1 ms altogether; NULL: none
 * @series: @run_ns over time, ANALYSIS_SERIES buckets; NULL: it ran in one bucket at most, in
 *	@bucket, for @bucket_ns.  Ask analysis_task_series()
 */
struct analysis_task {
	uint32_t tid, tgid, cgroup;
	uint32_t index;
	char     comm[TB_COMM_LEN + 4];
	bool     ended;
	uint64_t tasks;
	uint64_t run_ns, share_ns, runs, preempted, migrations;
	struct analysis_stat wait, runnable, blocked, sleeping, stuck, waiting;
	uint64_t before_waited, before_slept, last_waited, last_stuck, last_slept;
	int64_t  stuck_in, waiting_in, last_in;
	struct analysis_cause *instead, *stuck_by, *waiting_by;
	uint64_t *series, bucket_ns;
	unsigned int bucket;
};

/** analysis_task_series - how long @task was on CPUs in bucket number @bucket; ns */
uint64_t analysis_task_series(const struct analysis_task *task, unsigned int bucket);

/** analysis_task - number @index of the kept tasks, in the order of appearance; NULL: there are
 *  fewer.  The idle tasks, tid 0, are not among them. */
const struct analysis_task *analysis_task(const struct analysis *a,
					  unsigned int index);

/** analysis_rest - sums over the ended tasks of one cgroup that were not kept (options.ended), in
 *  any order; NULL beyond the last.  Valid: @cgroup, @tasks, and the times and counts without
 *  @series, @bucket and @bucket_ns. */
const struct analysis_task *analysis_rest(const struct analysis *a, unsigned int index);

/** analysis_ran - false if the task was only woken, or woke others */
static inline bool analysis_ran(const struct analysis_task *task)
{
	return task->run_ns || task->runs;
}

/** analysis_waited - how long it waited for a CPU, after wake-ups and after preemption; ns */
static inline uint64_t analysis_waited(const struct analysis_task *task)
{
	return task->wait.sum + task->runnable.sum;
}

/** analysis_all_waited, analysis_all_stuck, analysis_all_slept - how long the task waited for a
 *  CPU, was in state D, slept in another state; with times of which the trace has only one end; ns
 */
static inline uint64_t analysis_all_waited(const struct analysis_task *task)
{
	return analysis_waited(task) + task->before_waited + task->last_waited;
}

static inline uint64_t analysis_all_stuck(const struct analysis_task *task)
{
	return task->stuck.sum + task->last_stuck;
}

static inline uint64_t analysis_all_slept(const struct analysis_task *task)
{
	return task->waiting.sum + task->before_slept + task->last_slept;
}

/** analysis_task_of - the task that has number @tid now, or NULL */
const struct analysis_task *analysis_task_of(const struct analysis *a,
					     uint32_t tid);

/* ---- CPUs ---- */

/**
 * struct analysis_cpu - the use of a CPU's time; the rest of begin .. end is unknown
 * @seen: there were events of it, or it is known what it ran from the beginning on
 * @busy_ns, @idle_ns: time of tasks, and of the idle task
 * @tracked_ns: time in which no switch is missing: busy_ns is a part of it
 * @switches: number of switches
 * @irq_ns, @softirq_ns: time in interrupts, and in softirqs (with what interrupted them); also in
 *	@busy_ns or @idle_ns
 * @depth: number of tasks that are known to wait for it now
 * @depth_max: largest @depth so far
 * @known_ns: time in which @depth was known; set by analysis_end().  With @whole it excludes the
 *	time in which events of any CPU are missing: a task that waits may run then
 * @waiting_ns: time that tasks waited in @known_ns, summed: divided by @known_ns the mean depth
 * @deep_ns: time in which at least one task waited
 * @busy, @known, @waiting, @deepest: over time: @busy_ns, @busy_ns + @idle_ns (of all threads),
 *	@waiting_ns, largest @depth
 * @depth_known: over time: @known_ns
 */
struct analysis_cpu {
	bool     seen;
	uint64_t busy_ns, idle_ns, tracked_ns, switches;
	uint64_t irq_ns, softirq_ns;
	uint32_t depth, depth_max;
	uint64_t known_ns, waiting_ns, deep_ns;
	uint64_t busy[ANALYSIS_SERIES], known[ANALYSIS_SERIES], waiting[ANALYSIS_SERIES];
	uint64_t depth_known[ANALYSIS_SERIES];
	uint32_t deepest[ANALYSIS_SERIES];
};

unsigned int analysis_nr_cpus(const struct analysis *a);
const struct analysis_cpu *analysis_cpu(const struct analysis *a, unsigned int cpu);

/**
 * analysis_running - get the task on @cpu
 * @tid, @since: out: the task, and the time from which on it runs; this run is not yet in run_ns,
 *	busy_ns, idle_ns
 * Return: 1; 0: not known.
 */
int analysis_running(const struct analysis *a, unsigned int cpu, uint32_t *tid,
		     uint64_t *since);

/* ---- waiting ---- */

/** analysis_latency - histogram of all tasks, from wake-up to running */
const struct analysis_histogram *analysis_latency(const struct analysis *a);
/** analysis_latency_stat - the same with the number of uncertain ones */
const struct analysis_stat *analysis_latency_stat(const struct analysis *a);

/* Number of past runs, interrupts and softirqs that are searched for what ran instead, and kept */
#define ANALYSIS_HISTORY 1024
#define ANALYSIS_INSTEAD 8

/* struct analysis_wait.context: what the waker's CPU was in */
enum analysis_context {
	ANALYSIS_FROM_TASK, ANALYSIS_FROM_SOFTIRQ, ANALYSIS_FROM_IRQ, ANALYSIS_FROM_NMI,
};

/**
 * struct analysis_wait - a wait of a task
 * @task: the task; @begin, @end: when it waited
 * @cpu: the CPU on which it ran afterwards; @before: the one on which it ran before (off the CPU)
 * @state: off the CPU: prev_state of sched_switch
 * @call: off the CPU: the system call in which it left its CPU, -1 if none is known
 * @woken: the following are known, up to @context:
 * @woken_at: when it was woken
 * @waker, @comm: number and name of the thread on the waker's CPU; 0: it was idle
 * @context: if it is not ANALYSIS_FROM_TASK, an interrupt or softirq woke it, not @waker
 *
 * The following are for wake-ups (@begin is @woken_at):
 * @instead, @nr_instead: what @cpu ran meanwhile, since @moved_at, and for how long, longest first:
 *	an interrupt or softirq if @handler is set, else a task without what interrupted it; both
 *	NULL: it was idle
 * @others_ns: time of others, for which @instead has no room
 * @unknown_ns: the rest
 * @moved_at: when @task was moved to the queue of @cpu from that of another CPU; 0: it was not
 * @quota: while it was idle, @task's cgroup seems to have used up its CPU quota
 */
struct analysis_wait {
	const struct analysis_task *task;
	uint64_t begin, end;
	uint32_t cpu, before;
	int64_t  state, call;
	bool     woken;
	uint64_t woken_at;
	uint32_t waker;
	char     comm[TB_COMM_LEN + 4];
	enum analysis_context context;
	unsigned int nr_instead;
	struct {
		const struct analysis_task *task;
		const struct analysis_handler *handler;
		uint64_t ns;
	} instead[ANALYSIS_INSTEAD];
	uint64_t others_ns, unknown_ns, moved_at;
	bool     quota;
};

enum analysis_worst {
	ANALYSIS_WORST_WAKEUP,		/* from wake-up to running */
	ANALYSIS_WORST_RUNNABLE,	/* off the CPU while runnable: another task ran */
	ANALYSIS_WORST_BLOCKED,		/* off the CPU in state D */
	ANALYSIS_WORST_SLEEPING,	/* off the CPU in any other state */
	ANALYSIS_WORSTS,
};

/** analysis_worst - wait number @index of that kind, longest first; NULL beyond the last */
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
 * @number: number of the interrupt, softirq or system call
 * @name: "?" if unknown; of an interrupt, the name of its handler
 * @stat: how long it took, with what interrupted it and, for system calls, with sleeps
 * @histogram: distribution of @stat
 * @failed: number of calls that returned an error, including uncertain ones
 * @errors, @nr_errors: these errors, in the order of appearance
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

/** analysis_handler - handler number @index of that kind, in the order of appearance, or NULL */
const struct analysis_handler *analysis_handler(const struct analysis *a,
						enum analysis_kind kind,
						unsigned int index);

/* ---- block devices ---- */

/**
 * struct analysis_block - requests of one kind to one device, from issue to completion
 * @dev: number of the device as in the kernel: major << 20 | minor
 * @op: 'R' read, 'W' write, 'D' discard, 'F' flush, 'N' anything else
 * @bytes: bytes of the requests in @stat.count
 * @failed: number of requests that completed with an error
 */
struct analysis_block {
	uint32_t dev;
	char     op;
	uint64_t bytes, failed;
	struct analysis_stat stat;
	struct analysis_histogram histogram;
};

const struct analysis_block *analysis_block(const struct analysis *a, unsigned int index);

/** analysis_block_latency - histogram of all requests */
const struct analysis_histogram *analysis_block_latency(const struct analysis *a);

/* ---- losses ---- */

/**
 * struct analysis_loss - what is missing of a ring, or of a writer of a program
 * @user: of a program: @cpu is undefined
 * @producer, @writer, @pid: of a program
 * @count, @events: number of gaps, and of events (or records) missing in them
 * @overwritten, @dropped: of a ring: @events is their sum
 * @span_ns, @longest_ns: duration of the gaps, sum and maximum
 * @first, @last: beginning of the first gap, end of the last one
 */
struct analysis_loss {
	bool     user;
	uint32_t cpu, producer, writer, pid;
	uint64_t count, events, overwritten, dropped;
	uint64_t span_ns, longest_ns, first, last;
};

/** analysis_loss - loss number @index, in the order of appearance; NULL beyond the last */
const struct analysis_loss *analysis_loss(const struct analysis *a, unsigned int index);

/** struct analysis_gap - one of the longest gaps */
struct analysis_gap {
	const struct analysis_loss *of;
	uint64_t first, last, events;
};

/** analysis_gap - gap number @index, longest first; NULL beyond the last */
const struct analysis_gap *analysis_gap(struct analysis *a, unsigned int index);

/** analysis_lost_later - with @whole: true if events are missing between begin and end.  The block
 *  that says so need not be among the events that the caller chose. */
bool analysis_lost_later(const struct analysis *a);

/** analysis_lost - missing events over time, ANALYSIS_SERIES buckets: each gap counts in the bucket
 *  in which it ends */
const uint64_t *analysis_lost(const struct analysis *a);

/* ---- events ---- */

/** analysis_count - number of events of format number @index (tb_trace_format_at()) */
uint64_t analysis_count(const struct analysis *a, unsigned int index);

#endif /* TRACEBUF_ANALYSIS_H */
