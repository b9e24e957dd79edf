/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of the page: what happened in which row, from events as they go by.
 *
 * As the page gets it, deflated and in base64: four bytes, the lowest first, with the length of a JSON
 * text; that text; and the columns of all rows, one after the other.
 *
 *	{"begin":"NS","end":"NS","cut":"NS","left_out":"N","items":"N","max":"N",
 *	 "threads":[[tid,tgid,string,woken or -1]],
 *	 "strings":["..."],"shapes":[[string,kind,...]],
 *	 "rows":[{"kind":"call","id":TID,"sub":0,"owner":TID,"process":PID,"name":string,"count":N,
 *	          "columns":[BYTES,...]}]}
 *
 * Kinds of fields in "shapes": 0 none, 1 unsigned, 2 signed, 3 shown in hexadecimal, 4 string,
 * 5 double, 6 signed and a string for it.  Kinds of rows: run, irq, softirq, cpu_event, lost of a
 * CPU; call, event of a thread; user, user_event, user_lost of a writer; counter of a process; why
 * of a thread.
 * "cut" is where the timeline ends, before "end" only if something is left out.  "sub" tells apart rows
 * of the same kind and id: depths of interrupts, of causes and of what programs write, counters.
 *
 * Columns of a row, each with a number for each of its items: seven bits a byte, the lowest first;
 * the sign of signed numbers is the lowest bit.  The first begin is relative to the page's "begin";
 * of a slice's doubt 1 is that events are missing in it, 2 that its end is not in the trace:
 *
 *	time	 signed begin - end of the one before; (end - begin) << 2 | enum slice_doubt
 *	name	 of a string
 *	details	 of a shape, then its values
 *
 * and of the kind "run", instead of details:
 *
 *	tid; string of the state in which it went, plus 1; ns waited plus 1; its waker plus 1; signed prio
 *
 * and of the kind "counter" a last one of doubles.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_TIMELINE_H
#define TRACEBUF_TOOL_REPORT_HTML_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/show/out.h"
#include "tool/show/selection.h"
#include "tool/show/why_threads.h"

/* Items (slices, events, values of counters) that there are at most, unless something else was
 * asked for: what a browser draws fluently, and what makes a file of moderate size */
#define TIMELINE_ITEMS_MAX 2000000ull

struct timeline;

/**
 * timeline_open - for the recording of @trace that is selected
 * @selection: times of its base; of its CPU and its threads alone, if it chooses some
 * Return: NULL: ENOMEM.
 */
struct timeline *timeline_open(const struct tb_trace *trace, struct selection *selection,
			       uint64_t items_max);
void timeline_close(struct timeline *timeline);

/* The next event or loss, in the order of @cursor; 0, -ENOMEM */
int timeline_take(struct timeline *timeline, const struct tb_cursor *cursor,
		  const struct tb_view *view);

/* Where the time of @threads went, as rows of their own, after all events: as many items again at
 * most as there are of events.  -E2BIG: there are more; 0, -ENOMEM */
int timeline_why(struct timeline *timeline, const struct why_threads *threads);

/* That was all; names of threads are those that @cursor knows.  @broken: the file breaks off, and nobody
 * knows what went on on a CPU after its last event.  0, -ENOMEM */
int timeline_end(struct timeline *timeline, const struct tb_cursor *cursor, bool broken);

/* Items in it; events that it has no room for */
uint64_t timeline_items(const struct timeline *timeline);
uint64_t timeline_left_out(const struct timeline *timeline);

/* Packed; 0, -errno */
int timeline_write(const struct timeline *timeline, struct out *out);

#endif /* TRACEBUF_TOOL_REPORT_HTML_TIMELINE_H */
