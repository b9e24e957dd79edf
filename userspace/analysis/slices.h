/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lasts, from the events at which it begins and ends: who runs on a CPU, interrupts,
 * softirqs, system calls, how long who was woken waits for a CPU, and who does not run.
 */
#ifndef TRACEBUF_SLICES_H
#define TRACEBUF_SLICES_H

#include <stdbool.h>
#include "tracebuf.h"

/* No kernel has more; events of others, as a damaged trace has them, are of no CPU */
#define SLICES_CPUS_MAX 8192

/* EXIT_DEAD, EXIT_ZOMBIE, in prev_state of sched_switch */
#define STATE_DEAD 0x30

enum slice_kind {
	SLICE_RUN,		/* a thread on a CPU */
	SLICE_IRQ,
	SLICE_SOFTIRQ,
	SLICE_SYSCALL,
	SLICE_WAKEUP,		/* from when it was woken until it runs */
	SLICE_OFF,		/* a thread that has run before, until it runs again */
};

#define SLICE_KINDS (SLICE_WAKEUP + 1)

/* struct slice.doubt */
enum slice_doubt {
	SLICE_WHOLE,
	SLICE_LOSSY,		/* events are missing in between: it may be several */
	SLICE_UNENDED,		/* its end is not in the trace: until @end it lasted */
};

/**
 * struct slice - something that lasted
 * @cpu: where it ended
 * @tid: whose; of SLICE_IRQ and SLICE_SOFTIRQ the thread that was interrupted
 * @begin, @end: ns, as slices_take() was told
 * @number: interrupt, softirq, system call; SLICE_WAKEUP, SLICE_OFF with @waited: the thread that
 *	woke it
 * @result: what it returned, if @has_result; SLICE_RUN, SLICE_OFF: the state in which it went
 * @prio: SLICE_RUN: priority, if @has_prio
 * @context: SLICE_WAKEUP, SLICE_OFF with @waited: TB_CONTEXT_* of the event that woke it
 * @waker_cpu: the CPU of that event
 * @waited: SLICE_RUN, SLICE_OFF: how long from when it was woken, if @has_waited
 * @wait_lost: SLICE_RUN: it was woken before, but events are missing since: it may have run
 * 	meanwhile
 * @unseen: SLICE_RUN: it has run since it went, for it was woken twice, and no event says where
 * @depth: SLICE_IRQ: how many interrupts it is in
 * @name: SLICE_IRQ: of the interrupt or its handler, @name_length bytes; NULL: not known
 * @event: the event it began with: format, payload and length are valid, no more
 * @kept, @payload: the payload is kept here until the slice ends
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
	unsigned int depth;
	bool has_result, has_prio, has_waited, wait_lost, unseen;
	const char *name;
	size_t name_length;
	struct tb_view event;
	bool kept;
	unsigned char payload[64];
};

struct slices;

/* @each gets every slice when it ends, with @context; times are of @base; NULL: ENOMEM */
struct slices *slices_open(const struct tb_trace *trace, enum tb_timebase base,
			   void (*each)(void *context, const struct slice *slice),
			   void *context);
void slices_close(struct slices *slices);

/* SLICE_OFF, too, from now on */
void slices_off(struct slices *slices);

/* When events are missing in all of the trace: it need not be found out.  @missing stays the caller's */
struct spans;
void slices_missing(struct slices *slices, const struct spans *missing);

/* Is that event one of those that slices of @kinds, 1 << enum slice_kind, are made of? */
bool slices_wants(struct slices *slices, const struct tb_format *format,
		  unsigned int kinds);

/**
 * slices_take - the next event or loss, its time being @ns
 *
 * Return: 1 it begins or ends a slice, 0 it does not, -ENOMEM.
 */
int slices_take(struct slices *slices, const struct tb_view *view, uint64_t ns);

/* Who is on @cpu, and since when (@begin); NULL: not known */
const struct slice *slices_running(const struct slices *slices, unsigned int cpu);

/* What events of @format are; NULL: ENOMEM */
struct plan;
const struct plan *slices_plan(struct slices *slices, const struct tb_format *format);

/* The trace ends: so does what is open */
void slices_finish(struct slices *slices);

#endif /* TRACEBUF_SLICES_H */
