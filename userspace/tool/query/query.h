/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf query, inside: a trace as the tables of tables/tables.h, read when they are asked.
 *
 *   cmd/query.c       the command line
 *   run.c             statements, one after the other; what is wrong with them
 *   show.c            rows as a table, CSV, JSON
 *   named.c           questions that have names
 *   schema.c          what tables there are, and what they are made of
 *   table.c           tables that SQLite asks row by row
 *   plan.c            what of a question narrows down what is read
 *   scan.c            the way through the trace for one of them
 *   store.c           what is asked again and again, with an index
 *   why.c             the table of where the time of threads went
 *
 * Tables whose rows are many - events, and what lasts - are read from the trace each time; they are
 * SQLite's virtual tables.  The others are filled when a statement names them.
 */
#ifndef TRACEBUF_TOOL_QUERY_H
#define TRACEBUF_TOOL_QUERY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/show/selection.h"
#include "tool/tables/tables.h"
#include "analysis/spans.h"

enum query_kind {
	QUERY_EVENT,		/* the table of an event */
	QUERY_EVENTS,		/* all of them, and marks */
	QUERY_SLICES,
	QUERY_WAKEUPS,
	QUERY_OFF,
	QUERY_REQUESTS,
};

struct query_store;

#define QUERY_NO_KEY (-2)

/**
 * struct query_table - a table that is read from the trace
 * @columns: what is between the brackets of its CREATE TABLE
 * @formats: of which events it is, by index
 * @time, @cpu, @choose: columns that narrow it down; -1: none.  @choose: of "slices" the kind, of
 *	"events" the event
 * @all: it has what is not selected, too, and a last column @chosen that says which is
 * @chosen: number of that column
 * @stores: what has been stored of it
 * @asked: the column that had to be a value when it was asked last, or QUERY_NO_KEY
 */
struct query_table {
	struct query *query;
	const char *name;
	char *columns;
	enum query_kind kind;
	unsigned char *formats;
	int time, cpu, choose;
	bool all;
	int chosen;
	struct query_store *stores;
	int asked;
};

/* What -v tells */
struct query_figures {
	uint64_t blocks, events, scans, stores;
};

/**
 * struct query - a trace that is asked
 * @db: ->sqlite has the tables
 * @store: another database, for indexes; NULL: not needed yet
 * @selection: started; rows are of what it selects.  @selects: that is not all there is
 * @from_ns, @to_ns: of what lasts: some of it lies between these times
 * @events: how many there may be
 * @needed, @filled: DB_*: of tables that are filled at once
 * @own: what SQLite is told now is not the user's
 * @last_ns: when the last event is; UINT64_MAX: not known yet
 * @last_ticks: the same in ticks, if @last_ns is known
 * @missing: when events are missing, if @knows_missing
 * @why: what all threads did; NULL: not needed yet.  @why_cursors show pieces of its tree
 */
struct query {
	struct tb_trace *trace;
	const char *file;
	struct db *db;
	sqlite3 *store;
	struct query_table *tables;
	size_t nr_tables;
	struct selection *selection;
	bool selects;
	uint64_t from_ns, to_ns;
	uint64_t events;
	unsigned int needed, filled;
	bool own;
	uint64_t last_ns, last_ticks;
	struct spans missing;
	bool knows_missing;
	struct why *why;
	unsigned int why_cursors;
	struct query_figures figures;
	struct tb_error damage;
	bool damaged;
	uint64_t uncommitted;
};

/* Not zero once told to stop */
extern volatile sig_atomic_t query_stopped;

/* ---- the tables (schema.c) ---- */

/* For the recording that is selected, and what @selection, which is started, selects of it.  0 or
 * -errno, message in query->db->message if there is one */
int query_open(struct query *query, struct tb_trace *trace, const char *file,
	       struct selection *selection);
void query_close(struct query *query);

/* What the statement that was prepared needs is filled */
int query_fill(struct query *query);

/* query->missing is there; 0, -ENOMEM */
int query_missing(struct query *query);

/* What a cursor has gone through, and what was wrong there, is noted */
void query_passed(struct query *query, const struct tb_cursor *cursor);

/* Show what tables there are, with @name only those; false: there is none of that name */
bool query_schema(struct query *query, const char *name);

/* Call @each for the name of every table and view, and its columns if @of is one of them or NULL */
void query_each_name(struct query *query, const char *of,
		     void (*each)(void *context, const char *name),
		     void *context);

/**
 * query_lacks - which events that table or view is made of, but the trace has not
 * @text: "block_rq_issue, block_rq_complete"
 * Return: there are some.
 */
bool query_lacks(struct query *query, const char *table, char *text, size_t size);

/* ---- statements (run.c) ---- */

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/* All statements of @sql; EXIT_* */
int query_run(struct query *query, const char *sql, enum query_format format,
	      bool header);

/* ---- rows (show.c) ---- */

struct query_rows;

struct query_rows *query_rows_open(sqlite3_stmt *statement,
				   enum query_format format, bool header);
/* The row that @statement is at */
int query_rows_add(struct query_rows *rows);
/* @complete: no rows are missing; otherwise what was written must not look whole */
void query_rows_close(struct query_rows *rows, bool complete);

/* ---- questions with names (named.c) ---- */

/**
 * struct query_named - one of them
 * @needs: tables and views it asks
 */
struct query_named {
	const char *name, *brief, *sql;
	const char *needs;
};

extern const struct query_named query_named[];

/* ---- virtual tables (table.c) ---- */

int query_table_register(struct query_table *table);

/* ---- where the time of threads went (why.c) ---- */

int query_why_register(struct query *query);

/* ---- what narrows a scan down (plan.c) ---- */

/**
 * struct query_range - what is wanted of a table
 * @from, @to: times, ns
 * @cpus: by number, NULL: all
 * @kinds: 1 << enum slice_kind
 * @formats: as query_table.formats
 * @marks: of "events"
 * @nothing: there can be no row
 * @narrows: it is not all of it
 * @names: columns are asked for that tell of threads
 * @seeks: what is asked for is the same if what is before is not read
 */
struct query_range {
	int64_t  from, to;
	unsigned char *cpus;
	unsigned int nr_cpus;
	unsigned int kinds;
	unsigned char *formats;
	bool     marks, nothing, narrows, names, seeks;
};

/**
 * struct query_plan - how a scan is narrowed down
 * @columns: used, a bit each; bit 63: that one and all behind
 * @key: column that has to be a value, QUERY_NO_KEY: none; -1: the row's number
 * @key_at: of the values: which
 * @bounds: there are two for the time
 */
struct query_plan {
	uint64_t columns;
	int key, key_at;
	bool bounds;
};

int query_best_index(const struct query_table *table, sqlite3_index_info *info);
/* What it made, with its values */
int query_plan(struct query_table *table, const char *text, int count,
	       sqlite3_value **values, struct query_plan *plan,
	       struct query_range *range);
void query_range_free(struct query_range *range);

/* ---- the way through the trace (scan.c) ---- */

struct query_scan;

/* SQLITE_*; @range stays the caller's */
int query_scan_open(struct query_table *table, const struct query_range *range,
		    struct query_scan **scan);
void query_scan_close(struct query_scan *scan);
/* 1 a row, 0 no more, or -errno (-EINTR) */
int query_scan_next(struct query_scan *scan);
void query_scan_cell(struct query_scan *scan, int column,
		     const struct db_cell *cell);
/* What it would be in the whole table; or -errno */
int64_t query_scan_rowid(struct query_scan *scan);

/* ---- stored rows (store.c) ---- */

/* A statement for those rows, whose columns are the number and then the table's; @found: out */
int query_store_find(struct query_table *table, const struct query_plan *plan,
		     const struct query_range *range, sqlite3_value *key,
		     sqlite3_stmt **found);
void query_stores_free(struct query_table *table);

#endif /* TRACEBUF_TOOL_QUERY_H */
