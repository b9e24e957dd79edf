/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report: sections with columns and rows, without a layout.  Text, JSON and the page are made
 * from it, so they cannot differ.
 *
 *	struct report *report = report_make(a, trace, "trace.tbuf", &shell, 0);
 *
 *	for (i = 0; i < report->nr_sections; i++)
 *		... report->sections[i]->id, ->columns, ->cells ...
 *	report_free(report);
 *
 * As JSON ("tracebuf report --json", and embedded in the page: report_json()):
 *
 *	{"tracebuf_report":1,"title":"trace.tbuf","clock":"mono","begin":NS,"end":NS,
 *	 "sections":[{"id":"cpu","title":"...","kind":"table","notes":["..."],
 *	   "columns":[{"id":"busy","title":"busy","type":"number","unit":"ns"},...],
 *	   "rows":[[0,123,...],...]},...]}
 *
 * A row is an array with a value for each column: a number or a string, as the column's type says,
 * or null if it is not known.  Numbers are integers of 64 bits.
 *
 * Kinds: a "histogram" has the columns "from" and "to" (a bucket [from, to)), then "count".  A
 * "series" has the column "time" (beginning of the bucket), then one for each thing that it shows;
 * all buckets have the same "width".  A section without rows has notes that say why.
 */
#ifndef TRACEBUF_REPORT_H
#define TRACEBUF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis.h"

/* Number of the busiest tasks that have a series, if @top of report_make() does not limit it */
#define REPORT_SERIES_TASKS 20

enum report_kind { REPORT_TABLE, REPORT_HISTOGRAM, REPORT_SERIES };
enum report_type { REPORT_NUMBER, REPORT_TEXT };

/* In JSON: "", "ns", "time" (ns, a point in time), "bytes", "ppm" (millionths of the whole),
 * "count", "micro" (millionths) */
enum report_unit {
	REPORT_PLAIN, REPORT_NS, REPORT_TIME, REPORT_BYTES, REPORT_PPM, REPORT_COUNT,
	REPORT_MICRO,
};

struct report_column {
	char *id, *title;
	enum report_type type;
	enum report_unit unit;
};

/* @text: in columns of texts; NULL: not known */
struct report_cell {
	bool    known;
	int64_t number;
	char   *text;
};

/**
 * struct report_section - a section
 * @id: as for --section: "cpu", "latency-worst"
 * @notes: what is not known, and why
 * @width: of REPORT_SERIES: ns of a bucket
 * @sentences: the columns "finding" and "command" are complete sentences and commands
 * @cells: the cell in row r and column c is @cells[r * @nr_columns + c]
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
 * struct report - a report
 * @title: name of the file
 * @base: the clock of all times
 * @begin, @end: times of the first and of the last event; 0 in a comparison of traces
 * @failed: an allocation has failed; only while the report is made
 */
struct report {
	char    *title;
	enum tb_timebase base;
	uint64_t begin, end;
	struct report_section **sections;
	size_t   nr_sections;
	bool     failed;
};

/** report_ended - analysis_options.ended for report_make() with @top */
uint32_t report_ended(unsigned int top);

/**
 * struct report_shell - what the commands in findings say of the trace, as a shell reads it
 * @file: options for the recording and the clock, then the file
 * @times: options for the chosen time, with a space after them; "": all
 */
struct report_shell {
	const char *file, *times;
};

/**
 * report_make - make a report of @a, after analysis_end()
 * @title: name of the file
 * @shell: used only during the call
 * @top: number of rows of tables of tasks, calls and so on; 0: all
 * Return: for report_free(); NULL: no memory.
 */
struct report *report_make(struct analysis *a, const struct tb_trace *trace,
			   const char *title, const struct report_shell *shell,
			   unsigned int top);
void report_free(struct report *report);

/** report_find - section @id, or NULL */
const struct report_section *report_find(const struct report *report, const char *id);

/* Names in JSON: "ns", "time", ...; "table", ... */
const char *report_unit_name(enum report_unit unit);
const char *report_kind_name(enum report_kind kind);

/* ---- making a report ---- */

/* Failures set @failed; the report is unusable then */
struct report *report_new(const char *title);
struct report_section *report_section(struct report *report, const char *id,
				      const char *title, enum report_kind kind);
__attribute__((format(printf, 3, 4)))
void report_note(struct report *report, struct report_section *section,
		 const char *text, ...);
void report_column(struct report *report, struct report_section *section, const char *id,
		   const char *title, enum report_type type, enum report_unit unit);
/* Add the cells of a row, from left to right; a row has one cell for each column */
void report_number(struct report *report, struct report_section *section, uint64_t number);
void report_signed(struct report *report, struct report_section *section, int64_t number);
void report_text(struct report *report, struct report_section *section, const char *text);
void report_unknown(struct report *report, struct report_section *section);

#endif /* TRACEBUF_REPORT_H */
