/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of report.h, shared by the files that write sections.
 */
#ifndef TRACEBUF_SECTIONS_H
#define TRACEBUF_SECTIONS_H

#include "cgroup_names.h"
#include "report.h"

/* A report in progress, and its current section */
struct report_builder {
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

void section(struct report_builder *m, const char *id, const char *title, enum report_kind kind);
void columns(struct report_builder *m, const struct column *list, size_t count);
void number(struct report_builder *m, uint64_t value);
/* @value, or unknown */
void number_if(struct report_builder *m, bool known, uint64_t value);
void cell_mean(struct report_builder *m, const struct analysis_stat *stat);
void text(struct report_builder *m, const char *value);
void cells_stat(struct report_builder *m, const struct analysis_stat *stat,
		const struct analysis_histogram *histogram);
/* @part of @whole in millionths; unknown if @whole is 0 */
void cell_share(struct report_builder *m, uint64_t part, uint64_t whole);
/* tid and name; NULL: the idle task */
void cells_task(struct report_builder *m, const struct analysis_task *task);
__attribute__((format(printf, 2, 3)))
void remark(struct report_builder *m, const char *format, ...);

/* The name of a system call; NULL: @call is negative, or has none */
static inline const char *call_name(const struct tb_trace *trace, int64_t call)
{
	return call < 0 || call > UINT32_MAX ? NULL :
	       tb_trace_string(trace, TB_STRING_SYSCALL, (uint32_t)call);
}

/* True if the trace has the listed events, up to ANALYSIS_NEEDS; else a remark says that @what
 * needs them */
bool needs(struct report_builder *m, const char *what, ...);
/* Number of rows to show of @count; remarks if that is less */
size_t rows_of(struct report_builder *m, size_t count, const char *what);
/* Remark how many are uncertain or open */
void remark_uncertain(struct report_builder *m, const struct analysis_stat *stat, const char *what);
/* @count pointers sorted by @compare, for free(); NULL: no memory, or none */
const void **sorted(struct report_builder *m,
		    const void *(*get)(struct report_builder *m, size_t index),
		    size_t *count, int (*compare)(const void *a, const void *b));
/* Rows for each power of two */
void histogram(struct report_builder *m, const struct analysis_histogram *histogram);

/* Of a wait with struct analysis_wait.quota */
#define QUOTA_TEXT "; the task's cgroup seems to have used up its CPU quota"

/* report_findings.c */
/* "12.3 ms"; writes to @text and returns it */
const char *time_text(uint64_t ns, char text[32]);
void section_findings(struct report_builder *m, const struct report_shell *shell);
/* report_cpu.c */
void sections_cpu(struct report_builder *m);
void sections_queue(struct report_builder *m);
/* report_containers.c */
/* The name of a task's container, else of its cgroup, which may be @name; NULL: not known */
const char *task_container(const struct report_builder *m, const struct analysis_task *task,
			   char name[CGROUP_NAME_MAX]);
/* True if the path of any task's cgroup is known, and not "/" */
bool knows_containers(const struct report_builder *m);
void section_containers(struct report_builder *m);
/* report_waits.c */
void sections_latency(struct report_builder *m);
void sections_off(struct report_builder *m);
/* report_handlers.c */
void sections_handlers(struct report_builder *m);
void sections_block(struct report_builder *m);
/* report_losses.c */
void sections_losses(struct report_builder *m);
void sections_events(struct report_builder *m);

#endif /* TRACEBUF_SECTIONS_H */
