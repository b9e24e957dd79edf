/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the page's timeline, and what is in them.
 */
#ifndef TRACEBUF_TOOL_REPORT_HTML_ROW_H
#define TRACEBUF_TOOL_REPORT_HTML_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include "pack.h"
#include "tracebuf.h"
#include "tool/show/values.h"

enum row_kind {
	ROW_RUN,		/* id: CPU */
	ROW_IRQ,		/* CPU; sub: interrupts in interrupts */
	ROW_SOFTIRQ,		/* CPU */
	ROW_CPU_EVENT,		/* CPU: of the idle thread */
	ROW_LOST,		/* CPU */
	ROW_CALL,		/* thread */
	ROW_EVENT,		/* thread */
	ROW_USER,		/* writer; sub: depth */
	ROW_USER_EVENT,		/* writer */
	ROW_USER_LOST,		/* writer */
	ROW_COUNTER,		/* process, sub: name */
	ROW_WHY,		/* thread; sub: depth of the cause */
	ROW_KINDS,
};

/* What has a time, a name and details; ROW_RUN is the kind with the most columns */
enum { COLUMN_TIME, COLUMN_NAME, COLUMN_DETAILS, COLUMN_VALUE,
       COLUMN_TID = 2, COLUMN_STATE, COLUMN_WAITED, COLUMN_WAKER, COLUMN_PRIO, ROW_COLUMNS };

/**
 * struct row
 * @owner: the thread that it is shown with; of writers, whose number says nothing; of a counter
 *	its process
 * @process: likewise
 * @name: of a counter: string
 * @count: items whose time is known; @open: one more has begun, its name and details are there
 * @until: end of the last
 * @next: the one made before it
 */
struct row {
	enum row_kind kind;
	uint32_t id, sub;
	uint32_t owner, process, name;
	uint64_t count, until;
	bool open;
	struct column columns[ROW_COLUMNS];
	struct row *next;
};

/**
 * struct rows - all of them
 * @shapes: numbers plus 1 of lists of names and kinds, which are in @shape_list, by text
 */
struct rows {
	const struct tb_trace *trace;
	enum tb_timebase base;
	uint64_t begin;
	bool begun;
	struct map index[ROW_KINDS];
	struct row *last;
	unsigned int count;
	struct texts strings, shapes;
	struct column shape, values;	/* of the details that are being put together */
	struct out scratch;
	bool failed;
};

struct rows *rows_open(const struct tb_trace *trace, enum tb_timebase base);
void rows_close(struct rows *rows);

/* The row, new if there was none; NULL: ENOMEM */
struct row *rows_at(struct rows *rows, enum row_kind kind, uint32_t id, uint32_t sub);

/* A string by its text */
uint32_t rows_string(struct rows *rows, const char *text);

/* The time of another item.  Name and details go with it */
void row_time(struct rows *rows, struct row *row, uint64_t begin, uint64_t end,
	      unsigned int doubt);
static inline void row_name(struct row *row, uint32_t string)
{
	column_number(&row->columns[COLUMN_NAME], string);
}

/* Details: what an event says (NULL: nothing), what else, and then all that of an item */
void details_start(struct rows *rows, const struct tb_view *view);
void details_signed(struct rows *rows, const char *name, int64_t number);
void details_text(struct rows *rows, const char *name, const char *text);
void details_end(struct rows *rows, struct row *row);

/* Has anything failed? */
bool rows_failed(const struct rows *rows);

/* {"kind":...} of all rows and the strings and shapes, as JSON without braces; then their columns */
void rows_json(const struct rows *rows, struct out *out);
void rows_columns(const struct rows *rows, struct squeeze *squeeze);

#endif /* TRACEBUF_TOOL_REPORT_HTML_ROW_H */
