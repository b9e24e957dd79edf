/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices: everything that lasts, from the events at which it begins and ends: runs of threads,
 * interrupts, softirqs, system calls, waits of woken threads for a CPU, and sleeps.
 */
#ifndef TRACEBUF_SLICES_H
#define TRACEBUF_SLICES_H

#include <stdbool.h>
#include "tracebuf.h"

/* No kernel has more CPUs; events of higher CPUs, in a damaged trace, are ignored */
#define SLICES_CPUS_MAX 8192

/* TASK_UNINTERRUPTIBLE, shown as D, in prev_state of sched_switch */
#define STATE_BLOCKED 0x02
/* EXIT_DEAD, EXIT_ZOMBIE */
#define STATE_DEAD 0x30
/* TASK_REPORT_IDLE, shown as I: a kernel thread that waits for work */
#define STATE_IDLE 0x80

/* An idle CPU needs less time to run a thread, if the CPU quota of its cgroup is not used up; ns */
#define QUOTA_NS 1000000

enum slice_kind {
	SLICE_RUN,		/* a thread on a CPU */
	SLICE_IRQ,
	SLICE_SOFTIRQ,
	SLICE_SYSCALL,
	SLICE_WAKEUP,		/* from wake-up to running */
	SLICE_OFF,		/* a thread off the CPU, after a run, until it runs again */
};

#define SLICE_KINDS (SLICE_WAKEUP + 1)

/* struct slice.doubt */
enum slice_doubt {
	SLICE_WHOLE,
	SLICE_LOSSY,		/* events are missing in between: it may be several slices */
	SLICE_UNENDED,		/* its end is not in the trace: it lasted until @end at least */
	SLICE_UNBEGUN,		/* a run that had begun before @begin, and before the trace */
};

/**
 * struct slice - something that lasted
 * @cpu: CPU on which it ended
 * @tid: its thread; of SLICE_IRQ and SLICE_SOFTIRQ the interrupted thread
 * @begin, @end: ns, as given to slices_take()
 * @number: of an interrupt, softirq or system call; of SLICE_WAKEUP, and of SLICE_OFF with @waited:
 *	the thread that woke it
 * @result: the result, if @has_result; of SLICE_OFF, and SLICE_RUN with its end: the thread's state
 *	after the run
 * @prio: of SLICE_RUN: priority, if @has_prio
 * @context: of SLICE_WAKEUP, and of SLICE_OFF with @waited: TB_CONTEXT_* of the event that woke it
 * @waker_cpu: the CPU of that event
 * @waker_comm: the name that the thread had then, "" if unknown
 * @waited: of SLICE_RUN and SLICE_OFF: time from wake-up to running, if @has_waited
 * @wait_lost: of SLICE_RUN: it was woken before, but events are missing since: it may have run
 *	meanwhile
 * @unseen: of SLICE_RUN: it has run in between, as it was woken twice, and no event says where
 * @before: of SLICE_OFF: see slices_before()
 * @is_new: of SLICE_OFF with @before: the thread began to exist with this wait
 * @depth: of SLICE_IRQ: number of interrupts around it
 * @sends_until: of SLICE_SOFTIRQ: NET_RX, and until then, ns, all that it received is from the
 *	interrupted thread, which sends to its own machine; 0: not.  With slices_before()
 * @name: of SLICE_IRQ: name of the interrupt or its handler, @name_length bytes; NULL: unknown
 * @event: the event it began with; only format, payload and length are valid
 * @kept, @payload: copy of that payload
 */
struct slice {
	enum slice_kind kind;
	enum slice_doubt doubt;
	uint32_t cpu;
	uint32_t tid;
	uint64_t begin, end;
	int64_t number, result, prio;
	uint64_t waited;
	uint16_t context;
	uint32_t waker_cpu;
	char waker_comm[TB_COMM_LEN + 4];
	unsigned int depth;
	uint64_t sends_until;
	bool has_result, has_prio, has_waited, wait_lost, unseen, before, is_new;
	const char *name;
	size_t name_length;
	struct tb_view event;
	bool kept;
	unsigned char payload[64];
};

struct slices;

/*
 * @each gets every slice when it ends, with @context; times are of @base.  In a recording of chosen
 * threads, runs of other threads, and of idle CPUs, have an unknown end.  NULL: no memory
 */
struct slices *slices_open(const struct tb_trace *trace, enum tb_timebase base,
			   void (*each)(void *context, const struct slice *slice),
			   void *context);
void slices_close(struct slices *slices);

/* Make SLICE_OFF, too, from now on */
void slices_off(struct slices *slices);

/*
 * Also make slices that began before the trace, or before the end of a gap.  Later events show
 * them: a thread that is woken, and has left no CPU since then, has slept (SLICE_OFF without a
 * state); the next call that it leaves is the one in which it slept (SLICE_SYSCALL); a thread that
 * comes to a CPU without a wake-up has waited for it (SLICE_OFF in state 0).  Of a thread that may
 * have run unseen, only the wait after its wake-up is made.  The caller called slices_missing()
 * before.
 */
void slices_before(struct slices *slices);
/* After slices_before(): slices_take() does not get all wake-ups that the trace has */
void slices_not_all_wakeups(struct slices *slices);
/* The trace has an event at @ns, ns, and none before.  Without this call, slices_take() gets it */
void slices_first_event(struct slices *slices, uint64_t ns);

/* Use the spans of a file in which events are missing.  The caller frees @missing afterwards */
struct spans;
void slices_missing(struct slices *slices, const struct spans *missing);

/*
 * Make the runs that had begun before the recording, or before the events that slices_take() gets:
 * it gets all switches from @ticks on.  UINT64_MAX: not all.  slices_missing() was called before.
 */
void slices_switches_from(struct slices *slices, uint64_t ticks);

/*
 * In a recording of chosen threads, find out from all events of the file, selected or not, which
 * threads they are.  Without this call, the events so far tell.  0, -ENOMEM
 */
int slices_find_chosen(struct slices *slices, struct tb_trace *trace);

/* True if slices of @kinds, 1 << enum slice_kind, are made of events of this format */
bool slices_wants(struct slices *slices, const struct tb_format *format,
		  unsigned int kinds);

/**
 * slices_take - take the next event or loss; @ns: its time
 *
 * Return: 1 it begins or ends a slice, 0 it does not, -ENOMEM.
 */
int slices_take(struct slices *slices, const struct tb_view *view, uint64_t ns);

/*
 * Begin these runs, the first time that @ticks is in the recording; slices_take() does it, too.
 * They begin with the recording, or at the time of slices_switches_from() if that is later.
 * 1: begun now; 0, -ENOMEM
 */
int slices_begin(struct slices *slices, uint64_t ticks);

/* Return false if thread @tid may have run without an event, because it is not known to be one of
 * the recording's chosen threads.  @tid 0: the idle threads */
bool slices_sees(const struct slices *slices, uint32_t tid);
/* True if threads that are not recorded may run while a CPU looks idle */
static inline bool slices_hides_threads(const struct slices *slices)
{
	return !slices_sees(slices, 0);
}

/* The current run on @cpu, since @begin; NULL: not known */
const struct slice *slices_running(const struct slices *slices, unsigned int cpu);

/* The interrupt or softirq that @cpu runs, the innermost one; NULL: none is known */
const struct slice *slices_interrupt(const struct slices *slices, unsigned int cpu);

/* Number of the system call that thread @tid is in at @ns, after the last event; -1: not known */
int64_t slices_call(const struct slices *slices, uint32_t tid, uint64_t ns);

/* The plan of @format; NULL: no memory */
struct plan;
const struct plan *slices_plan(struct slices *slices, const struct tb_format *format);

/* After slices_before(): true if no rule has kept out switches from @since, ns, on */
bool slices_all_switches(const struct slices *slices, uint64_t since);

/* End the trace, and all open slices */
void slices_finish(struct slices *slices);

#endif /* TRACEBUF_SLICES_H */
