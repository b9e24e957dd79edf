/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of time in which events are missing, whatever the CPU, of a recording that is read as a
 * whole: so that what began and ended meanwhile elsewhere is not taken for certain.
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

/* A gap of one CPU, and when the trace tells of it; once settled: by CPU, then by @told, and @first
 * is that of the earliest gap from there on */
struct told_span {
	uint32_t cpu;
	uint64_t first, told;
};

/*
 * The events of a CPU are known from @begin to @end, but for gaps; UINT64_MAX: to the end of the
 * recording.  @any: the file has blocks or totals of the CPU
 */
struct cpu_span {
	uint64_t begin, end;
	bool any;
};

/* All zero: empty.  Once settled they are in order, and none touches another one */
struct spans {
	struct span *list;
	size_t count;
	struct told_span *own;		/* of spans_of_trace() */
	size_t nr_own;
	uint64_t lost;			/* events that are missing in them */
	struct cpu_span *cpus;		/* of spans_of_trace() */
	unsigned int nr_cpus;
};

/* When events are missing in all of the recording of a file that is selected; settled.  0, -ENOMEM */
int spans_of_trace(struct spans *spans, const struct tb_trace *trace, enum tb_timebase base);

/*
 * Return true if switches are recorded from change number @change of tb_trace_selection() on, or if
 * the trace has no format of them.
 */
bool spans_selects_switches(const struct tb_trace *trace, unsigned int change);

/* 0, -ENOMEM */
int spans_add(struct spans *spans, uint64_t first, uint64_t last);
/* There are no more; nothing of what follows before that */
void spans_settle(struct spans *spans);
void spans_free(struct spans *spans);

/* The first that ends after @ns, @count if there is none */
size_t spans_from(const struct spans *spans, uint64_t ns);
/* Is anything of what began at @begin and ended at @end in one of them? */
bool spans_meet(const struct spans *spans, uint64_t begin, uint64_t end);
/*
 * Return @ns, or the time before it from which on events of @cpu are missing: the trace tells of the
 * gap after @ns, or has no more events of the CPU.
 */
uint64_t spans_untold(const struct spans *spans, uint32_t cpu, uint64_t ns);
/* How much of [@begin, @end) is in none of them */
uint64_t spans_outside(const struct spans *spans, uint64_t begin, uint64_t end);

#endif /* TRACEBUF_SPANS_H */
