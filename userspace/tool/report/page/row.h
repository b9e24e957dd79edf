/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the page's timeline.
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
	ROW_IRQ,		/* CPU; sub: depth of nested interrupts */
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
	ROW_UNKNOWN,		/* CPU: no events are missing, and it is not known what ran */
	ROW_KINDS,
};

/* Columns; ROW_RUN has its own instead of details and value, and the most of all kinds */
enum { COLUMN_TIME, COLUMN_NAME, COLUMN_DETAILS, COLUMN_VALUE,
       COLUMN_TID = 2, COLUMN_STATE, COLUMN_WAITED, COLUMN_WAKER, COLUMN_PRIO, ROW_COLUMNS };

/**
 * struct row - a row
 * @owner: rows of writers: the thread that they are shown with; else @id
 * @process: rows of writers and counters: the process
 * @name: string with the name of a counter
 * @count: number of items with a time
 * @open: one more item has begun: its name and details are written, its time is not
 * @until: end of the last item
 * @next: the row that was made before
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
 * struct rows - all rows
 * @strings: texts of names and details
 * @shapes: lists of names and kinds, as numbers
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
	struct column shape, values;	/* of the details that are being built */
	struct out scratch;
	bool failed;
};

struct rows *rows_open(const struct tb_trace *trace, enum tb_timebase base);
void rows_close(struct rows *rows);

/* Find or add a row; NULL: ENOMEM */
struct row *rows_at(struct rows *rows, enum row_kind kind, uint32_t id, uint32_t sub);

/* The number of a string */
uint32_t rows_string(struct rows *rows, const char *text);

/* Add an item with this time.  The caller also adds its name and details */
void row_time(struct rows *rows, struct row *row, uint64_t begin, uint64_t end,
	      unsigned int doubt);
static inline void row_name(struct row *row, uint32_t string)
{
	column_number(&row->columns[COLUMN_NAME], string);
}

/* Build details: start with the values of an event (NULL: none), add others, add all to an item */
void details_start(struct rows *rows, const struct tb_view *view);
void details_signed(struct rows *rows, const char *name, int64_t number);
void details_text(struct rows *rows, const char *name, const char *text);
void details_end(struct rows *rows, struct row *row);

/* True if memory was lacking at any time */
bool rows_failed(const struct rows *rows);

/* Write strings, shapes and rows as members of a JSON object; write the columns of all rows */
void rows_json(const struct rows *rows, struct out *out);
void rows_columns(const struct rows *rows, struct squeeze *squeeze);

#endif /* TRACEBUF_TOOL_REPORT_HTML_ROW_H */
