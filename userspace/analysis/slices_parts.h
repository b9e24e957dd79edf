/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of slices share: slices.c has threads and events, slices_off.c times off the CPU,
 * slices_irq.c interrupts, slices_selected.c the changes of selected events, slices_chosen.c the
 * chosen threads.
 */
#ifndef TRACEBUF_SLICES_PARTS_H
#define TRACEBUF_SLICES_PARTS_H

#include <stdlib.h>
#include <string.h>
#include "map.h"
#include "roles.h"
#include "slices.h"
#include "spans.h"

/* Nested interrupts */
#define IRQS_MAX 8
/* Bytes of a handler's name; longer names are cut */
#define IRQ_NAME_MAX 128

/* Who has raised NET_RX, which has not run yet: RAISED_BY_TASK only the current run's thread */
enum raised { RAISED_UNKNOWN, RAISED_NOT, RAISED_BY_TASK };

/*
 * @began_before: the run began before the trace
 * @names: copies, because payloads of a followed trace do not last
 */
struct cpu {
	bool running, began_before, softirq;
	enum raised raised;
	unsigned int irqs;
	struct slice run, in_softirq, irq[IRQS_MAX];
	char names[IRQS_MAX][IRQ_NAME_MAX];
};

/*
 * @awake: there was a wakeup, not only a waking; @is_new: this was the first of a new thread
 * @unseen: it has run since it left the CPU, unseen; @out: it has left the CPU, in state @state
 * @chosen: in a recording of chosen threads: it is one of them
 * @asleep_since: of a thread that was off the CPU, and in no new call, since then, when the trace
 *	began to have all events; UINT64_MAX: not known
 */
struct thread {
	bool in_call, woken, awake, is_new, unseen, out, has_state, chosen;
	uint64_t call_losses, woken_losses, out_losses;
	uint64_t woken_at, out_at, asleep_since;
	int64_t  state;
	uint32_t waker, waker_cpu;
	uint16_t waker_context;
	char waker_comm[TB_COMM_LEN + 4];
	struct slice call;
};

/*
 * @endless: the event that ends the slice is not selected
 * @ignored: and the event itself is selected: it opens no slice
 */
struct beginning {
	bool endless, ignored;
};

/* Events whose form says whether a rule may have kept out some */
enum form { FORM_SWITCH, FORM_WAKING, FORM_NEW, FORM_CALL, FORM_RAISE, FORMS };

struct slices {
	const struct tb_trace *trace;
	void (*each)(void *context, const struct slice *slice);
	void *context;
	uint64_t losses, last;
	uint64_t begin, end;		/* ns; before and after, events of a CPU are missing */
	uint64_t wakeups_from;		/* ns; the trace has all wake-ups from then on */
	uint64_t raises_from;		/* the same of raised softirqs and of interrupts */
	uint64_t calls_from;		/* the same of beginnings of calls */
	uint64_t unruled_from[FORMS];	/* ns; no rule has kept out such events since then */
	enum tb_timebase base;
	const struct spans *missing;	/* NULL: losses are counted when the cursor shows them */
	uint64_t switches_since;	/* ns; not selected before; UINT64_MAX: not selected now */
	bool wakeups;			/* there are events of wakeup, not only of waking */
	bool off, before;		/* the caller wants them: slices_off(), slices_before() */
	bool of_threads;		/* other threads than the chosen ones may run unseen */
	bool idle_chosen;
	bool begun;			/* a CPU has had an event */
	bool first_runs;		/* slices_begin() has yet to make them */
	uint64_t switches_from;		/* ticks */
	struct map threads;
	struct cpu **cpus;
	unsigned int nr_cpus;
	struct plans plans;
	unsigned int selection;		/* index of the next change of selected events */
	unsigned int nr_beginnings;
	struct beginning *beginnings;	/* by index of the format; NULL: all events are selected */
};

static inline void slice_begin(struct slice *slice, enum slice_kind kind,
			const struct tb_view *view, uint64_t ns)
{
	memset(slice, 0, offsetof(struct slice, event));
	slice->kind = kind;
	slice->cpu = view->cpu;
	slice->tid = view->tid;
	slice->begin = ns;
	slice->event.format = view->format;
	slice->event.payload = view->payload;
	slice->event.length = view->length;
	slice->kept = view->length && view->length <= sizeof(slice->payload);
	if (slice->kept)
		memcpy(slice->payload, view->payload, view->length);
}

/* Duration; 0 if the clock records turn time back */
static inline uint64_t duration(uint64_t begin, uint64_t ns)
{
	return ns > begin ? ns - begin : 0;
}

static inline void slice_end(struct slices *slices, struct slice *slice, uint64_t ns,
		      enum slice_doubt doubt)
{
	slice->end = ns > slice->begin ? ns : slice->begin;
	slice->doubt = doubt;
	if (slice->kept)
		slice->event.payload = slice->payload;
	slices->each(slices->context, slice);
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* End a slice whose end is missing: its duration is unknown */
static inline void end_unknown(struct slices *slices, struct slice *slice)
{
	slice_end(slices, slice, slice->begin, SLICE_UNENDED);
}

/* True if events are missing between @begin, when there were @losses losses, and now, @ns */
static inline bool lost_since(const struct slices *slices, uint64_t losses, uint64_t begin,
			      uint64_t ns)
{
	return slices->missing ? spans_meet(slices->missing, begin, ns) :
				 losses != slices->losses;
}

/* True if the event that ends slices of @format is not selected now */
static inline bool is_endless(const struct slices *slices, const struct tb_format *format)
{
	return format->index < slices->nr_beginnings && slices->beginnings[format->index].endless;
}

/* True if, in addition, @format is selected: then its events open no slice */
static inline bool is_ignored(const struct slices *slices, const struct tb_format *format)
{
	return format->index < slices->nr_beginnings && slices->beginnings[format->index].ignored;
}

/* The time up to which the trace shows what @cpu does, at most @ns */
static inline uint64_t known_until(const struct slices *slices, unsigned int cpu, uint64_t ns)
{
	return slices->missing ? spans_unreported(slices->missing, cpu, ns) : ns;
}

/* ---- slices.c ---- */

/* The state of thread @tid; NULL: no memory */
struct thread *slices_thread(struct slices *slices, uint32_t tid);
/* It is not known what @cpu runs after @ns: end the run */
void slices_end_run(struct slices *slices, struct cpu *cpu, uint64_t ns);

/* ---- slices_off.c ---- */

/* True if @thread may have run since it was woken: the switch may not be recorded */
bool slices_may_have_run(const struct slices *slices, const struct thread *thread, uint64_t ns);
void slices_note_waker(struct slice *slice, const struct thread *thread);
/* End a time off the CPU: the thread runs again, or the trace ends */
void slices_end_off(struct slices *slices, struct thread *thread, uint32_t tid,
		    const struct tb_view *view, uint64_t ns, enum slice_doubt doubt);
/* End one without an end in the trace: at @ns, or where that event may be missing */
void slices_stop_off(struct slices *slices, struct thread *thread, uint32_t tid, uint64_t ns);
/*
 * A thread is woken that was not seen leaving a CPU since the trace has all events: it has been
 * asleep since then.  A new thread is not: its first event is a wakeup without a waking.
 */
void slices_note_asleep(struct slices *slices, struct thread *thread, uint32_t tid, uint64_t ns);
/*
 * A thread comes to a CPU that was not seen leaving one since the trace has all events: it was off
 * the CPU since the time returned; @ns: not known.  If it was not woken, it has waited since then.
 */
uint64_t slices_off_since(const struct slices *slices, const struct thread *thread, uint32_t tid,
			  uint64_t ns);
void slices_end_waiting(struct slices *slices, uint32_t tid, const struct tb_view *view,
			uint64_t since, uint64_t ns);
/* End the time off the CPU of a thread that was asleep, or woken, when the trace began */
void slices_end_before(struct slices *slices, const struct thread *thread, uint32_t tid,
		       const struct tb_view *view, uint64_t ns, enum slice_doubt doubt);
/* True if it is known what all CPUs of the machine run at the end */
bool slices_all_run(const struct slices *slices);
/* End the time off the CPU of a thread at the end of the trace; @all_run: slices_all_run() */
void slices_finish_off(struct slices *slices, struct thread *thread, uint32_t tid, bool all_run);

/* ---- slices_chosen.c ---- */

/* Learn from an event which threads were chosen: 1 it tells, 0, -ENOMEM */
int slices_note_chosen(struct slices *slices, const struct plan *plan,
		       const struct tb_view *view);

/* ---- slices_irq.c ---- */

/* Drop all but the first @keep interrupts: their ends are missing */
void slices_drop_irqs(struct slices *slices, struct cpu *cpu, unsigned int keep);
/* Drop interrupts whose end is not selected, and those nested in them */
void slices_end_irqs(struct slices *slices, struct cpu *cpu);
/* Take an event of an interrupt or a softirq; return 1 if a slice began or ended */
int slices_take_irq(struct slices *slices, const struct plan *plan, const struct tb_view *view,
		    struct cpu *cpu, uint64_t ns);
int slices_take_irq_exit(struct slices *slices, const struct plan *plan,
			 const struct tb_view *view, struct cpu *cpu, uint64_t ns);
int slices_take_softirq(struct slices *slices, const struct plan *plan,
			const struct tb_view *view, struct cpu *cpu, uint64_t ns);
void slices_take_raise(const struct slices *slices, const struct plan *plan,
		       const struct tb_view *view, struct cpu *cpu, uint64_t ns);
/* NET_RX does not wait for the CPU at @ns */
void slices_not_raised(const struct slices *slices, struct cpu *cpu, uint64_t ns);

/* ---- slices_selected.c ---- */

/* Apply changes up to @ticks; in a followed trace they may arrive later.  -ENOMEM */
int slices_take_changes(struct slices *slices, uint64_t ticks);

#endif /* TRACEBUF_SLICES_PARTS_H */
