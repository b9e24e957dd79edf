/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of time in which events of any CPU are missing, for a file.  Whatever begins and ends in
 * such a span, on any CPU, is not certain.
 */
#ifndef TRACEBUF_SPANS_H
#define TRACEBUF_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct span {
	uint64_t first, last;
};

/* A gap of one CPU, and the time of its record in the trace.  After spans_settle(): sorted by CPU,
 * then by @reported, and @first is that of the earliest gap from there on */
struct gap_span {
	uint32_t cpu;
	uint64_t first, reported;
};

/*
 * The trace has the events of a CPU from @begin to @end, except gaps; UINT64_MAX: to the end of the
 * recording.  @any: the file has blocks or totals of the CPU
 * @tid: the thread that ran from the beginning of the recording, or from the time given to
 *	spans_of_part(), to the CPU's first event since then, at @first, in ticks, if @has_tid
 * @first_is_switch: that event is a switch
 * @open: for spans_of_part(): that event is not found yet
 */
struct cpu_span {
	uint64_t begin, end, first;
	bool any, has_tid, first_is_switch, open;
	uint32_t tid;
};

/* All zero: empty.  After spans_settle() they are sorted and do not touch each other */
struct spans {
	struct span *list;
	size_t count, room;
	struct gap_span *own;		/* set by spans_of_trace() */
	size_t nr_own, room_own;
	uint64_t lost;			/* number of missing events */
	uint64_t first;			/* ticks: the earliest first event of CPUs with has_tid, or
					 * the time given to spans_of_part() if that is later */
	bool all_cpus;			/* @cpus has all CPUs of the machine on which anything ran */
	bool rules_known;		/* spans_lacks() is certain: the recording was stopped */
	struct cpu_span *cpus;		/* set by spans_of_trace() */
	unsigned int nr_cpus;
};

/* True if the recording says at its end that rules or the choice of threads kept out events of this
 * name, as "sched:sched_switch" */
bool spans_lacks(const struct tb_trace *trace, const char *name);

/* The time, ns, from which on to the end all events of this name are recorded; UINT64_MAX: not */
uint64_t spans_recorded_from(const struct tb_trace *trace, const char *name,
			     enum tb_timebase base);

/* Find the spans of the selected recording of a file, and settle them.  0, -ENOMEM */
int spans_of_trace(struct spans *spans, const struct tb_trace *trace, enum tb_timebase base);
/*
 * The same for a caller that takes all switches from @from on, in ticks, and no events before:
 * struct cpu_span has the threads that run then.  UINT64_MAX: it does not take all switches.
 */
int spans_of_part(struct spans *spans, struct tb_trace *trace, enum tb_timebase base,
		  uint64_t from);

/*
 * True if switches are selected from change number @change of tb_trace_selection() on, or if the
 * trace has no format of them.
 */
bool spans_selects_switches(const struct tb_trace *trace, unsigned int change);

/* Add a span.  0, -ENOMEM */
int spans_add(struct spans *spans, uint64_t first, uint64_t last);
/* All spans were added; to be called before the functions below */
void spans_settle(struct spans *spans);
void spans_free(struct spans *spans);

/* Index of the first span that ends after @ns, @count if there is none */
size_t spans_from(const struct spans *spans, uint64_t ns);
/* True if [@begin, @end) overlaps a span */
bool spans_meet(const struct spans *spans, uint64_t begin, uint64_t end);
/*
 * Return the time before @ns from which on events of @cpu are missing, if the record of that gap is
 * after @ns or the trace has no more events of the CPU; else @ns.
 */
uint64_t spans_unreported(const struct spans *spans, uint32_t cpu, uint64_t ns);
/*
 * True if thread @tid (out) ran on @cpu at @ticks, since before the recording.  False if the trace
 * does not tell, or if an event at @ticks or before may have been a switch.
 */
bool spans_first_thread(const struct spans *spans, uint32_t cpu, uint64_t ticks, uint32_t *tid);
/* The part of [@begin, @end) outside of all spans */
uint64_t spans_outside(const struct spans *spans, uint64_t begin, uint64_t end);

#endif /* TRACEBUF_SPANS_H */
