/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf query - the tables of tables/tables.h, read from the trace when a statement needs them.
 *
 *   cmd/query.c       the command line
 *   run.c             run statements, report their errors
 *   show.c            rows as a table, CSV, JSON
 *   named.c           the named questions
 *   schema.c          the tables, and the events that they are made of
 *   intervals.c       the tables of intervals
 *   records.c         the table "user_slices"
 *   table.c           virtual tables, which SQLite reads row by row
 *   plan.c            conditions of a statement that narrow down a scan
 *   scan.c            read the trace for one virtual table
 *   store.c           rows with an index, for repeated scans
 *   why.c             the table "why"
 *
 * Large tables - events, slices, requests - are virtual tables of SQLite, read from the trace each
 * time.  The others are filled when the first statement names them.
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
	QUERY_EVENTS,		/* the table of all events and marks */
	QUERY_SLICES,
	QUERY_WAKEUPS,
	QUERY_OFF,
	QUERY_STATES,		/* states of threads, parts of runs and times off the CPU */
	QUERY_REQUESTS,
	QUERY_USER_SLICES,
};

struct query_store;

/* Behind the columns of a table in its CREATE TABLE */
#define QUERY_HIDDEN ", " DB_CGROUP_NAME " TEXT HIDDEN, " DB_CONTAINER_NAME " TEXT HIDDEN"
/* Behind these in tables of system calls; its number among the hidden ones */
#define QUERY_OBJECT 2
#define QUERY_HIDDEN_OBJECT ", " DB_OBJECT_NAME " TEXT HIDDEN"

#define QUERY_NO_KEY (-2)
#define QUERY_MAP_MAX 16
#define QUERY_MAP_END (-1)

/* The bit of a column, as sqlite3_index_info.colUsed has it: the last bit is of all others */
static inline uint64_t query_column_bit(int column)
{
	return 1ull << (column < 63 ? column : 63);
}

/**
 * struct query_table - a table that is read from the trace
 * @columns: the columns in its CREATE TABLE
 * @formats: by index of the format: true if the table has its events
 * @time, @cpu, @choose: columns, conditions on which narrow a scan down; -1: none.  @choose: "kind"
 *	of slices, "event" of events
 * @cgroup: the first of the hidden columns: the cgroup and the container of the thread; in tables
 *	of system calls also what they use
 * @kinds: 1 << enum slice_kind of slices that it has or is made of
 * @whole: only slices that are whole
 * @is_view: tables/schema.c has it as a view
 * @map: if @is_mapped: the column of the table that it is an excerpt of, by column; QUERY_MAP_END:
 *	the end of the slice
 * @all: it also has rows that are not selected, and a last column @chosen: true if selected
 * @chosen: number of that column
 * @stores: stored rows
 * @asked: the column of the last scan's condition "column = value", or QUERY_NO_KEY
 */
struct query_table {
	struct query *query;
	const char *name;
	char *columns;
	enum query_kind kind;
	unsigned char *formats;
	int time, cpu, choose, cgroup;
	unsigned int kinds;
	bool whole, is_view, is_mapped;
	signed char map[QUERY_MAP_MAX];
	bool all;
	int chosen;
	struct query_store *stores;
	int asked;
};

/* Numbers for -v */
struct query_figures {
	uint64_t blocks, events, scans, stores;
};

/**
 * struct query - a recording that is queried
 * @db: ->sqlite has the tables
 * @store: database of stored rows; NULL: not needed yet
 * @selection: started; tables have what it selects.  @selects: it selects only a part
 * @from_ns, @to_ns: slices and requests overlap this interval
 * @rises: the times of events rise with their ticks: their clock is not set back
 * @events: estimated number of events
 * @needed, @filled: DB_*: parts that the statement needs; parts that are filled
 * @own: the tool, not the user, runs SQL now: allow everything
 * @last_ns: time of the last event; UINT64_MAX: not known yet
 * @last_ticks: the same in ticks, if @last_ns is known
 * @missing: times of missing events, if @knows_missing
 * @record_cgroups: the cgroup of the thread of each record of a program, by its row in
 *	"user_events"; @nr_records, memory for @record_room
 * @why_table: the table "why", only ->query and ->columns
 * @why: the analysis of all threads; NULL: not needed yet
 * @why_cursors: number of cursors that use nodes of its tree
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
	bool rises;
	uint64_t events;
	unsigned int needed, filled;
	bool own;
	uint64_t last_ns, last_ticks;
	struct spans missing;
	bool knows_missing;
	uint32_t *record_cgroups;
	size_t nr_records, record_room;
	struct query_table why_table;
	struct why *why;
	unsigned int why_cursors;
	struct query_figures figures;
	struct tb_error damage;
	bool damaged;
	uint64_t uncommitted;
};

/* Not zero after a signal that ends the command */
extern volatile sig_atomic_t query_stopped;

/* ---- the tables (schema.c) ---- */

/* For the selected recording of @trace and @selection, which is started.  0 or -errno;
 * query->db->message may have a message */
int query_open(struct query *query, struct tb_trace *trace, const char *file,
	       struct selection *selection);
void query_close(struct query *query);

/* Add the table of @event, or another one if NULL, with @count @columns, which this frees, and the
 * hidden ones.  NULL: ENOMEM */
struct query_table *query_add_table(struct query *query, const char *name, char *columns,
				    size_t count, enum query_kind kind,
				    const struct db_event_table *event);

/* Fill the tables that the prepared statement needs */
int query_fill(struct query *query);

/* Find query->missing; 0, -ENOMEM */
int query_missing(struct query *query);

/* Add to the figures what @cursor has read, and note damage and uncommitted events */
void query_passed(struct query *query, const struct tb_cursor *cursor);

/* db_select_all() with the hidden columns, which are the last ones */
int query_select_all(struct query *query, const char *name, sqlite3_stmt **statement);

/* Show all tables, or only the one called @name; false: there is none of that name */
bool query_schema(struct query *query, const char *name);

/* Call @each for the name of every table and view, or for every column of table @of */
void query_each_name(struct query *query, const char *of,
		     void (*each)(void *context, const char *name),
		     void *context);

/**
 * query_lacks - list the events that a table or view is made of, and that the trace does not have,
 *	or that -e does not choose
 * @text: out: "block_rq_issue, block_rq_complete"
 * Return: true if there are some.
 */
bool query_lacks(struct query *query, const char *table, char *text, size_t size);
/* What they are not: "recorded", or with -e "among the chosen events (-e)" */
const char *query_lacking(const struct query *query);

/* ---- tables of intervals (intervals.c) ---- */

/* Add them; 0, -ENOMEM */
int query_add_intervals(struct query *query);
/* Their number */
size_t query_nr_intervals(void);

/* ---- the table "user_slices" (records.c) ---- */

/* Add it; 0, -ENOMEM */
int query_add_user_slices(struct query *query);
/* Note the next record that becomes a row of "user_events"; 0, -ENOMEM */
int query_note_record(struct query *query, const struct tb_view *view);
/* The cgroup of the thread of that row; 0: not known */
uint32_t query_record_cgroup(const struct query *query, sqlite3_int64 row);
/* Prepare a statement for its rows: the row in "user_events", then the columns.  Those that are not
 * in @columns are NULL.  0, -ENOMEM */
int query_records_open(const struct query_table *table, uint64_t columns,
		       sqlite3_stmt **statement);

/* ---- statements (run.c) ---- */

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/* Run all statements of @sql; show at most @most rows of each, 0: all, and say if there are more.
 * EXIT_* */
int query_run(struct query *query, const char *sql, enum query_format format,
	      bool header, unsigned int most);

/* ---- rows (show.c) ---- */

struct query_rows;

struct query_rows *query_rows_open(sqlite3_stmt *statement,
				   enum query_format format, bool header);
/* Add the current row of @statement */
int query_rows_add(struct query_rows *rows);
/* @complete: no rows are missing; otherwise the output must not look complete */
void query_rows_close(struct query_rows *rows, bool complete);

/* ---- questions with names (named.c) ---- */

/**
 * struct query_named - a named question
 * @needs: the table or view that query_lacks() checks; "": none
 * @most: number of rows that a table for people has; 0: all.  Programs get all
 */
struct query_named {
	const char *name, *brief, *sql;
	const char *needs;
	unsigned int most;
};

extern const struct query_named query_named[];

/* ---- virtual tables (table.c) ---- */

int query_table_register(struct query_table *table);

/* For struct sqlite3_module; @context of xConnect is the struct query_table */
int query_table_connect(sqlite3 *sqlite, void *context, int count, const char *const *words,
			sqlite3_vtab **out, char **error);
int query_table_disconnect(sqlite3_vtab *base);
struct query_table *query_table_of(const sqlite3_vtab *base);

/* ---- the table "why" (why.c) ---- */

int query_why_register(struct query *query);

/* ---- narrowing scans down (plan.c) ---- */

/* True if @value is INTEGER or REAL.  SQLite may then compare a TEXT column as numbers */
static inline bool query_is_number(sqlite3_value *value)
{
	int type = sqlite3_value_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/**
 * struct query_range - the wanted part of a table
 * @from, @to: first and last time, ns
 * @cpus: by number: true if wanted
 * @columns: used columns, as in struct query_plan
 * @kinds: 1 << enum slice_kind
 * @formats: as query_table.formats
 * @marks: "events": also marks
 * @nothing: no row can fulfil the conditions
 * @narrows: it is less than the whole table
 * @names: columns with pid or name of threads, or the next one, are used
 * @objects: the column with what system calls use is used
 * @seeks: the scan may skip the events before @from, because no used column depends on them, and
 *	no later event has an earlier time
 */
struct query_range {
	int64_t  from, to;
	uint64_t columns;
	unsigned char *cpus;
	unsigned int nr_cpus;
	unsigned int kinds;
	unsigned char *formats;
	bool     marks, nothing, narrows, names, objects, seeks;
};

/**
 * struct query_plan - a plan for a scan
 * @columns: used columns, a bit each; bit 63: column 63 and all after it
 * @key: the column of a condition "column = value"; -1: the rowid; QUERY_NO_KEY: none
 * @key_at: index of that value
 * @bounds: conditions limit the time in both directions
 */
struct query_plan {
	uint64_t columns;
	int key, key_at;
	bool bounds;
};

int query_best_index(const struct query_table *table, sqlite3_index_info *info);
/* Read the plan @text of query_best_index(), with the values of its conditions */
int query_plan(struct query_table *table, const char *text, int count,
	       sqlite3_value **values, struct query_plan *plan,
	       struct query_range *range);
void query_range_free(struct query_range *range);

/* ---- scans (scan.c) ---- */

struct query_scan;

/* SQLITE_*; the caller keeps @range until query_scan_close() */
int query_scan_open(struct query_table *table, const struct query_range *range,
		    struct query_scan **scan);
void query_scan_close(struct query_scan *scan);
/* 1: a row; 0: no more rows; -errno (-EINTR) */
int query_scan_next(struct query_scan *scan);
void query_scan_cell(struct query_scan *scan, int column,
		     const struct db_cell *cell);
/* The number that the row has in the whole table, or -errno */
int64_t query_scan_rowid(struct query_scan *scan);

/* ---- stored rows (store.c) ---- */

/* Prepare @found, a statement for stored rows; its columns: the rowid, then those of the table */
int query_store_find(struct query_table *table, const struct query_plan *plan,
		     const struct query_range *range, sqlite3_value *key,
		     sqlite3_stmt **found);
void query_stores_free(struct query_table *table);

#endif /* TRACEBUF_TOOL_QUERY_H */
