/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as what it says, before it looks like anything: sections with columns and rows. 
 * Text, JSON and the page are made from this, so they cannot say different things.
 *
 *	struct report *report = report_make(a, trace, "trace.tbuf", 0);
 *
 *	for (i = 0; i < report->nr_sections; i++)
 *		... report->sections[i]->id, ->columns, ->cells ...
 *	report_free(report);
 *
 * As JSON ("tracebuf report --json", and which the page embeds: report_json()):
 *
 *	{"tracebuf_report":1,"title":"trace.tbuf","begin":NS,"end":NS,
 *	 "sections":[{"id":"cpu","title":"...","kind":"table","notes":["..."],
 *	   "columns":[{"id":"busy","title":"busy","type":"number","unit":"ns"},...],
 *	   "rows":[[0,123,...],...]},...]}
 *
 * A row is an array with a value for each column: a number or a string as the column's type
 * says, null: not known.  Numbers are integers, exact: read them as 64 bits if it matters.
 *
 * Kinds: a "histogram" has columns "from" and "to" (a bucket [from, to)) before "count"; a "series"
 * has the column "time" (when the bucket begins), and one more for each thing that is shown
 * over time. Its buckets are all as wide, see "width".  A section without rows still has its
 * notes, which say why.
 */
#ifndef TRACEBUF_REPORT_H
#define TRACEBUF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis.h"

enum report_kind { REPORT_TABLE, REPORT_HISTOGRAM, REPORT_SERIES };
enum report_type { REPORT_NUMBER, REPORT_TEXT };

/* In JSON: "", "ns", "time" (ns, a moment), "bytes", "ppm" (millionths of the whole), "count", "micro"
 * (millionths) */
enum report_unit {
	REPORT_PLAIN, REPORT_NS, REPORT_TIME, REPORT_BYTES, REPORT_PPM, REPORT_COUNT,
	REPORT_MICRO,
};

struct report_column {
	char *id, *title;
	enum report_type type;
	enum report_unit unit;
};

/* @text: of columns of texts, NULL: not known */
struct report_cell {
	bool    known;
	int64_t number;
	char   *text;
};

/**
 * struct report_section
 * @id: as with --section: "cpu", "latency-worst"
 * @notes: what it does not know, and why
 * @width: REPORT_SERIES: ns of a bucket
 * @sentences: a table whose columns "finding" and "command" say it all
 * @cells: of row r and column c: @cells[r * @nr_columns + c]
 */
struct report_section {
	const char *id, *title;
	enum report_kind kind;
	uint64_t width;
	bool     sentences;
	char   **notes;
	size_t   nr_notes;
	struct report_column *columns;
	size_t   nr_columns;
	struct report_cell *cells;
	size_t   nr_cells, nr_rows;
};

/**
 * struct report
 * @title: of the file
 * @begin, @end: of what is reported
 * @failed: there was no memory for some of it: only while it is made
 */
struct report {
	char    *title;
	uint64_t begin, end;
	struct report_section **sections;
	size_t   nr_sections;
	bool     failed;
};

/**
 * report_make - what @a says, after analysis_end()
 * @title: what it is called
 * @top: rows of tables that have one for each task, call ...; 0: all
 * Return: NULL: ENOMEM.
 */
struct report *report_make(struct analysis *a, const struct tb_trace *trace,
			   const char *title, unsigned int top);
void report_free(struct report *report);

/** report_find - the section @id, NULL */
const struct report_section *report_find(const struct report *report, const char *id);

/* "ns", "time", ...; "table", ...: as JSON has them */
const char *report_unit_name(enum report_unit unit);
const char *report_kind_name(enum report_kind kind);

/* ---- making one ---- */

/* What fails is kept in @failed; sections and what is in them are then worthless */
struct report *report_new(const char *title);
struct report_section *report_section(struct report *report, const char *id,
				      const char *title, enum report_kind kind);
__attribute__((format(printf, 3, 4)))
void report_note(struct report *report, struct report_section *section,
		 const char *text, ...);
void report_column(struct report *report, struct report_section *section, const char *id,
		   const char *title, enum report_type type, enum report_unit unit);
/* The cells of a row, from left to right; a row is whole when it has one for each column */
void report_number(struct report *report, struct report_section *section, uint64_t number);
void report_signed(struct report *report, struct report_section *section, int64_t number);
void report_text(struct report *report, struct report_section *section, const char *text);
void report_unknown(struct report *report, struct report_section *section);

#endif /* TRACEBUF_REPORT_H */
