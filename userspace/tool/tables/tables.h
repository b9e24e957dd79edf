/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as tables.  The exporter to SQLite and "tracebuf query" share them, so that a question
 * has the same answer in both.
 *
 *   export/sqlite.c         the exporter: writes all tables into a file
 *   query/                  reads large tables from the trace at each statement
 *   db.c                    a database of SQLite
 *   cell.c                  a value for a statement, or for SQLite's request
 *   event.c                 a table for each event
 *   names.c                 names of tables and columns, each once
 *   known.c                 properties of the recording; losses, marks, threads
 *   slice.c                 slices, wake-ups, time off the CPU, requests to block devices
 *   user.c                  records of programs
 *   schema.c                tables and views that every trace has
 */
#ifndef TRACEBUF_TOOL_EXPORT_SQLITE_H
#define TRACEBUF_TOOL_EXPORT_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/hash.h"
#include "tracebuf.h"
#include "tool/command/command.h"
#include "tool/show/json_fields.h"
#include "analysis/cgroup_names.h"
#include "analysis/requests.h"
#include "analysis/slices.h"

/* The longest text that is stored, before (DB_TEXT_MAX) and after it becomes UTF-8 */
#define DB_TEXT_MAX 65536u
#define DB_CLEAN_MAX (3 * DB_TEXT_MAX)

struct db_events;

/* Tables that are filled together */
enum {
	DB_RECORDING = 0x0001,
	DB_CLOCK     = 0x0002,
	DB_ACCOUNTING     = 0x0004,
	DB_NAMES     = 0x0008,
	DB_THREADS   = 0x0010,
	DB_TYPES     = 0x0020,
	DB_LOSSES    = 0x0040,
	DB_MARKS     = 0x0080,
	DB_OTHER     = 0x0100,
	DB_EXTRAS    = 0x0200,
	DB_USER	     = 0x0400,
	DB_SLICES    = 0x0800,
	DB_EVENTS    = 0x1000,		/* the table of each event */
	DB_ALL	     = 0x1fff,
	/* parts that need no events */
	DB_KNOWN     = DB_RECORDING | DB_CLOCK | DB_ACCOUNTING | DB_NAMES,
};

/**
 * struct db - a database, and the trace that it is made from
 * @from_ns, @to_ns: the time that options select; 0: not limited
 * @parts: DB_*: parts that are written now
 * @error: -errno of the first failure; nothing is written after it
 * @json: buffer for values that become JSON
 * @written, @written_size: text that did not fit into that buffer
 * @clean: buffer for a text as UTF-8
 * @container: buffer for the name of a container, until db_insert()
 */
struct db {
	struct tb_trace *trace;
	const struct tb_cursor *cursor;
	enum tb_timebase base;
	uint64_t from_ns, to_ns;
	sqlite3 *sqlite;
	unsigned int parts;
	int error;
	char message[200];
	struct db_events *events;
	struct json_fields *fields;
	struct out json;
	char  *written;
	size_t written_size;
	char   clean[DB_CLEAN_MAX];
	char   container[CGROUP_NAME_MAX];
	sqlite3_stmt *loss, *slice, *wakeup, *off, *request, *mark, *other, *extra,
		     *user;
};

/* Open all but ->sqlite, which the caller opens; NULL: ENOMEM */
struct db *db_open(struct tb_trace *trace, enum tb_timebase base);
/* Also closes ->sqlite; return db->error */
int db_close(struct db *db);

/* Set db->error and db->message from SQLite's last error, if there was no earlier one */
void db_failed(struct db *db);

/* Run statements without results */
void db_run(struct db *db, const char *sql);
/* The same, with the format of sqlite3_mprintf() */
void db_runf(struct db *db, const char *format, ...);

/* Prepare "SELECT * FROM @table", for its columns; SQLITE_* */
int db_select_all(sqlite3 *sqlite, const char *table, sqlite3_stmt **statement);
/* Prepare an INSERT of all columns of @table; SQLITE_* */
int db_insert_all(sqlite3 *sqlite, const char *table, sqlite3_stmt **statement);
/* The same for a table of @db; NULL: it failed */
sqlite3_stmt *db_inserter(struct db *db, const char *table);

/* Run an INSERT, and clear its parameters */
void db_insert(struct db *db, sqlite3_stmt *statement);

/* ---- values ---- */

static inline void db_number(sqlite3_stmt *statement, int at, uint64_t value)
{
	sqlite3_bind_int64(statement, at, (int64_t)value);
}

/**
 * struct db_cell - the destination of a value
 * @context: the column that SQLite requests; NULL: parameter @at of @statement
 */
struct db_cell {
	sqlite3_context *context;
	sqlite3_stmt *statement;
	int at;
};

/* Parameter @parameter, from 1, of @insert */
#define DB_AT(insert, parameter) \
	(&(struct db_cell){ .statement = (insert), .at = (parameter) })

void cell_number(const struct db_cell *cell, uint64_t number);
/* A text that stays in memory as long as the trace; for a statement, until db_insert() */
void cell_text(struct db *db, const struct db_cell *cell, const char *text,
	       size_t length);
/* cell_text() of a string; NULL stays NULL */
void cell_string(struct db *db, const struct db_cell *cell, const char *text);
/* A text that will be overwritten: SQLite may keep a requested value, so it gets a copy */
void cell_copy(struct db *db, const struct db_cell *cell, const char *text,
	       size_t length);
/* cell_copy() of a string; NULL stays NULL */
void cell_copy_string(struct db *db, const struct db_cell *cell, const char *text);
/* The contents of db->json as text; empties it */
void cell_json(struct db *db, const struct db_cell *cell);
/* A value of another statement */
void cell_stored(const struct db_cell *cell, sqlite3_value *value);
/* A value as INTEGER, REAL, TEXT or BLOB */
void cell_value(struct db *db, const struct db_cell *cell,
		const struct value *value);
/* The name that a number stands for */
void cell_meaning(struct db *db, const struct db_cell *cell, const struct value *value);

/* The first columns of tables of events */
#define DB_COMMON "_time INTEGER, _cpu INTEGER, _pid INTEGER, _tid INTEGER, _comm TEXT"
enum { DB_TIME, DB_CPU, DB_PID, DB_TID, DB_COMM, DB_COMMON_COLUMNS };
void db_common_cell(struct db *db, const struct tb_view *view, int column,
		    const struct db_cell *cell);
void db_common(struct db *db, sqlite3_stmt *statement, const struct tb_view *view);
/* Hidden columns of events and intervals, which only query has; no field has such a name */
#define DB_CGROUP_NAME "_cgroup"
#define DB_CONTAINER_NAME "_container"
#define DB_OBJECT_NAME "_object"
/* The path of a cgroup, or the name of the container that it belongs to */
void db_cgroup_cell(struct db *db, uint32_t cgroup, bool container, const struct db_cell *cell);

/* Convert a time to the clock db->base; @ns is the monotonic time of @ticks */
uint64_t db_ns(const struct db *db, uint64_t ticks, uint64_t ns);

/* ---- tables that every trace has ---- */

/**
 * struct db_table - a table
 * @part: DB_*: the part that it belongs to
 * @columns: the columns in its CREATE TABLE
 * @behind: the text behind the columns
 */
struct db_table {
	const char *name;
	unsigned int part;
	const char *columns, *behind;
};

/**
 * struct db_view - a view
 * @is_table: "tracebuf query" has a virtual table instead
 */
struct db_view {
	const char *name, *select;
	bool is_table;
};

/**
 * struct db_excerpt - a view with rows of one kind of a table; "tracebuf query" has a virtual table
 *	instead
 * @of: the table, "slices" or "wakeups"
 * @kind: the kind of its slices
 * @whole: only slices that are whole
 * @columns: a column each: the name in the table, NAME AS NEW_NAME, or START + DURATION AS NEW_NAME
 *	for the end of the slice
 */
struct db_excerpt {
	const char *name, *of;
	enum slice_kind kind;
	bool whole;
	const char *columns;
};

/* All end with a name that is NULL */
extern const struct db_table db_tables[];
extern const struct db_view db_views[];
extern const struct db_excerpt db_excerpts[];

/* The table of all events: a view in a database, a virtual table in query */
#define DB_EVENTS_NAME "events"
#define DB_EVENTS_COLUMNS DB_COMMON ", event TEXT"

/* A table that only query has (query/why.c) */
#define DB_WHY_NAME "why"

/* The view of slices of programs; its SELECT without the first word */
#define DB_USER_SLICES_NAME "user_slices"
extern const char db_user_slices[];
/* The index of the table that it reads */
#define DB_USER_INDEX_NAME "user_events_writer"

/* Where the selected time begins and ends, as an expression of SQL */
#define DB_FROM "ifnull((SELECT value FROM recording WHERE name = 'from'), 0)"
#define DB_TO "ifnull((SELECT value FROM recording WHERE name = 'to'), 9223372036854775807)"

/* Create the tables of @parts */
void db_create_tables(struct db *db, unsigned int parts);
/* Create the views; @all: also those that are tables in "tracebuf query" */
void db_create_views(struct db *db, bool all);

/* ---- the recording ---- */

/* Write the threads as db->cursor knows them now */
void db_write_threads(struct db *db);

/* Write a record of a program, or a loss of records */
void db_user(struct db *db, const struct tb_view *view);

/* Prepare the statements that fill db->parts, and fill db->parts & DB_KNOWN; finalize them */
void db_begin(struct db *db);
void db_end(struct db *db);
/* Write @view into the tables of db->parts, except slices and requests; return db->error */
int db_take(struct db *db, const struct tb_view *view);

/* ---- slices and requests ---- */

/* Number of columns of "slices"; the view of all slices has one more */
#define DB_SLICE_COLUMNS 14
#define DB_ALL_SLICES_NAME "all_slices"
void db_slice_cell(struct db *db, const struct slice *slice, int column,
		   const struct db_cell *cell);
void db_wakeup_cell(struct db *db, const struct slice *slice, int column,
		    const struct db_cell *cell);
void db_off_cell(struct db *db, const struct slice *slice, int column,
		 const struct db_cell *cell);
void db_request_cell(struct db *db, const struct request *request, int column,
		     const struct db_cell *cell);

/* The states of a thread in a slice: in a run the first, off the CPU one or both of the others */
enum db_state { DB_RUNNING, DB_SLEEPING, DB_RUNNABLE, DB_STATES };
#define DB_THREAD_STATES_NAME "thread_states"
#define DB_THREAD_STATES_COLUMNS "start INTEGER, duration INTEGER, tid INTEGER, pid INTEGER," \
	" comm TEXT, state TEXT, cpu INTEGER, whole INTEGER"
/* True if the thread was in @state in a part of the slice; that part; a cell of that row */
bool db_has_state(const struct slice *slice, enum db_state state);
struct slice db_state_part(const struct slice *slice, enum db_state state);
void db_state_cell(struct db *db, const struct slice *slice, enum db_state state, int column,
		   const struct db_cell *cell);
/* Insert into the tables */
void db_slice(void *db, const struct slice *slice);
void db_request(void *db, const struct request *request);

/* The value of slices.kind; NULL: slices of this kind are in another table */
const char *db_slice_kind(enum slice_kind kind);

/* ---- names ---- */

/**
 * struct db_name - a name
 * @index: what db_names_add() got
 * @number: the last number that db_names_choose() put behind it
 */
struct db_name {
	const char *name;
	size_t index;
	unsigned int number;
};

/* Names that are taken, @count in @room slots; all zero at first */
struct db_names {
	struct db_name *slots;
	size_t count, room;
	struct tb_secret secret;
};

/* Add a name that is not taken, and that the caller keeps; false: ENOMEM */
bool db_names_add(struct db_names *names, const char *name, size_t index);
/* Find a name without regard to case; NULL: it is not taken */
struct db_name *db_names_find(const struct db_names *names, const char *name);
/* Return @name, or if it is taken NAME_2, NAME_3 ..., whichever is free; frees @name.  NULL:
 * ENOMEM */
char *db_names_choose(const struct db_names *names, char *name);
void db_names_free(struct db_names *names);

/* ---- tables of events ---- */

struct db_column {
	char *name;
	const char *type;
};

/**
 * struct db_event_table - the table of an event
 * @is_made: the event has occurred; with DB_EVENTS the database has the table
 * @rows: number of rows so far
 */
struct db_event_table {
	char *name;
	struct db_column *columns;
	unsigned int nr_columns;
	sqlite3_stmt *insert;
	bool     is_made;
	uint64_t rows;
};

/* NULL: ENOMEM */
struct db_events *db_events_open(struct tb_trace *trace);
void db_events_close(struct db_events *events);

/* Table number @index, from 0, of the described events; NULL: there are no more */
struct db_event_table *db_event_table(const struct db_events *events, size_t index);
/* The table of a format */
struct db_event_table *db_table_of(const struct db_events *events,
				   const struct tb_format *format);
/* The columns in its CREATE TABLE, for sqlite3_free(); NULL: ENOMEM */
char *db_event_columns(const struct db_event_table *table);
void db_event_cell(struct db *db, const struct tb_view *view, int column,
		   const struct db_cell *cell);

/* Write an event with a format */
void db_event(struct db *db, const struct tb_view *view);

/* Fill "event_types" */
void db_events_list(struct db *db);
/* Create the view of all events */
void db_events_view(struct db *db);

#endif /* TRACEBUF_TOOL_EXPORT_SQLITE_H */
