/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of report.h, shared by the files that write sections.
 */
#ifndef TRACEBUF_SECTIONS_H
#define TRACEBUF_SECTIONS_H

#include "report.h"

/* A report in progress, and its current section */
struct making {
	struct report *report;
	struct analysis *a;
	const struct tb_trace *trace;
	unsigned int top;
	struct report_section *section;
};

struct column {
	const char *id, *title;
	enum report_type type;
	enum report_unit unit;
};

#define COLUMN_TEXT(id, title)		{ id, title, REPORT_TEXT, REPORT_PLAIN }
#define COLUMN_NUMBER(id, title, unit)	{ id, title, REPORT_NUMBER, unit }
/* Columns for cells_stat() */
#define COLUMNS_STAT \
	COLUMN_NUMBER("count", "count", REPORT_COUNT), \
	COLUMN_NUMBER("total", "total", REPORT_NS), \
	COLUMN_NUMBER("mean", "mean", REPORT_NS), \
	COLUMN_NUMBER("max", "max", REPORT_NS), \
	COLUMN_NUMBER("p99", "p99", REPORT_NS), \
	COLUMN_NUMBER("p50", "p50", REPORT_NS), \
	COLUMN_NUMBER("uncertain", "unsure", REPORT_COUNT), \
	COLUMN_NUMBER("open", "open", REPORT_COUNT)

#define COLUMNS(m, list) columns(m, list, sizeof(list) / sizeof((list)[0]))

void section(struct making *m, const char *id, const char *title, enum report_kind kind);
void columns(struct making *m, const struct column *list, size_t count);
void number(struct making *m, uint64_t value);
void text(struct making *m, const char *value);
void cells_stat(struct making *m, const struct analysis_stat *stat,
		const struct analysis_histogram *histogram);
/* @part of @whole in millionths; unknown if @whole is 0 */
void cell_share(struct making *m, uint64_t part, uint64_t whole);
/* tid and name; NULL: the idle task */
void cells_task(struct making *m, const struct analysis_task *task);
__attribute__((format(printf, 2, 3))) void remark(struct making *m, const char *format, ...);

/* True if the trace has the listed events, up to ANALYSIS_NEEDS; else a remark says that @what
 * needs them */
bool needs(struct making *m, const char *what, ...);
/* Number of rows to show of @count; remarks if that is less */
size_t rows_of(struct making *m, size_t count, const char *what);
/* Remark how many are uncertain or open */
void remark_uncertain(struct making *m, const struct analysis_stat *stat, const char *what);
/* @count pointers sorted by @compare, for free(); NULL: no memory, or none */
const void **sorted(struct making *m, const void *(*get)(struct making *m, size_t index),
		    size_t *count, int (*compare)(const void *a, const void *b));
/* Rows for each power of two */
void histogram(struct making *m, const struct analysis_histogram *histogram);

/* report_findings.c */
/* "12.3 ms"; writes to @text and returns it */
const char *time_text(uint64_t ns, char text[32]);
void section_findings(struct making *m);
/* report_cpu.c */
void sections_cpu(struct making *m);
void sections_queue(struct making *m);
/* report_containers.c */
void section_containers(struct making *m);
/* report_waits.c */
void sections_latency(struct making *m);
void sections_off(struct making *m);
/* report_handlers.c */
void sections_handlers(struct making *m);
void sections_block(struct making *m);
/* report_losses.c */
void sections_losses(struct making *m);
void sections_events(struct making *m);

#endif /* TRACEBUF_SECTIONS_H */
