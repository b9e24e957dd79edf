/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of the page: rows of slices, events and counters.
 *
 * The page gets it deflated and in base64: four bytes, the lowest first, with the length of a JSON
 * text; that text; and the columns of all rows, one after the other.
 *
 *	{"begin":"NS","end":"NS","cut":"NS","left_out":"N","items":"N","max":"N",
 *	 "runs":"1: of some CPU it is known what ran","chosen":"1: only of chosen threads",
 *	 "threads":[[tid,tgid,string,woken or -1]],
 *	 "strings":["..."],"shapes":[[string,kind,...]],
 *	 "rows":[{"kind":"call","id":TID,"sub":0,"owner":TID,"process":PID,"name":string,"count":N,
 *	          "columns":[BYTES,...]}]}
 *
 * Kinds of fields in "shapes": 0 none, 1 unsigned, 2 signed, 3 shown in hexadecimal, 4 string,
 * 5 double, 6 signed and a string for it.  Kinds of rows: run, irq, softirq, cpu_event, lost,
 * unknown of a CPU; call, event of a thread; user, user_event, user_lost of a writer; counter of a
 * process; why of a thread.  The timeline ends at "cut", before "end" only if events are left out.
 * "sub" tells rows of one kind and id apart: depths of interrupts, of causes, of programs' slices;
 * counters.
 *
 * A column has a number for each item of the row: seven bits a byte, the lowest first; the sign of
 * signed numbers is the lowest bit.  The first begin is relative to the page's "begin".  enum
 * slice_doubt: 1: events are missing in the slice, 2: its end is not in the trace, 3: its beginning
 * is not.
 *
 *	time	 signed begin - end of the previous item; (end - begin) << 2 | enum slice_doubt
 *	name	 number of a string
 *	details	 number of a shape, then its values
 *
 * Rows of kind "run" have these columns instead of details:
 *
 *	tid; string of the end state plus 1; ns waited plus 1; waker plus 1; signed prio
 *
 * Rows of kind "counter" have a last column of doubles.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_TIMELINE_H
#define TRACEBUF_TOOL_REPORT_HTML_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/show/out.h"
#include "tool/show/selection.h"
#include "tool/show/why_threads.h"

/* Default maximum of items (slices, events, values of counters): a browser can draw so many
 * fluently, and the file has a moderate size */
#define TIMELINE_ITEMS_MAX 2000000ull

struct timeline;

/**
 * timeline_open - make a timeline of the selected recording of @trace; NULL: ENOMEM
 * @selection: chooses the CPU, the threads and the clock
 */
struct timeline *timeline_open(struct tb_trace *trace, struct selection *selection,
			       uint64_t items_max);
void timeline_close(struct timeline *timeline);

/* Take the next event or loss of @cursor; 0, -ENOMEM */
int timeline_take(struct timeline *timeline, const struct tb_cursor *cursor,
		  const struct tb_view *view);

/* After all events: add rows that explain the time of @threads.  At most items_max more items;
 * 0, -E2BIG: there are more, -ENOMEM */
int timeline_why(struct timeline *timeline, const struct why_threads *threads);

/* End the timeline, with names of threads from @cursor.  @broken: the file breaks off, so end runs
 * at the last event of their CPU.  0, -ENOMEM */
int timeline_end(struct timeline *timeline, const struct tb_cursor *cursor, bool broken);

/* Number of items; number of events beyond the maximum */
uint64_t timeline_items(const struct timeline *timeline);
uint64_t timeline_left_out(const struct timeline *timeline);

/* Write it packed; 0, -errno */
int timeline_write(const struct timeline *timeline, struct out *out);

#endif /* TRACEBUF_TOOL_REPORT_HTML_TIMELINE_H */
