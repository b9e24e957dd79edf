/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as tables: what the exporter to SQLite and "tracebuf query" share, so that the same
 * question has the same answer in both.
 *
 *   export/sqlite.c         the exporter: all of it into a file
 *   cell.c                  a value on its way into a table, or out of one that is not stored
 *   event.c                 a table for each event
 *   known.c                 what is known of the recording; losses, marks, threads
 *   slice.c                 what lasts
 *   user.c                  what programs write
 *   schema.c                tables and views that are always the same
 *   query_*.c               the same tables, read from the trace when they are asked
 */
#ifndef TRACEBUF_TOOL_EXPORT_SQLITE_H
#define TRACEBUF_TOOL_EXPORT_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/command/command.h"
#include "tool/show/json_fields.h"
#include "analysis/requests.h"
#include "analysis/slices.h"

/* The longest text that is stored, as UTF-8 and before */
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
	DB_EVENTS    = 0x1000,		/* those of events */
	DB_ALL	     = 0x1fff,
	/* those for which no event has to be looked at */
	DB_KNOWN     = DB_RECORDING | DB_CLOCK | DB_ACCOUNTING | DB_NAMES,
};

/**
 * struct db - a database, and what it is made from
 * @parts: DB_*: what is written now
 * @error: -errno of the first failure; nothing is written after it
 * @json, @written, @written_size: where values become JSON; what did not fit into its buffer
 * @clean: texts as UTF-8
 */
struct db {
	struct tb_trace *trace;
	const struct tb_cursor *cursor;
	enum tb_timebase base;
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
	sqlite3_stmt *loss, *slice, *wakeup, *off, *request, *mark, *other, *extra,
		     *user;
};

/* What is needed of it but ->sqlite; NULL: ENOMEM */
struct db *db_open(struct tb_trace *trace, enum tb_timebase base);
/* And closes ->sqlite; db->error */
int db_close(struct db *db);

/* The first failure counts: result is SQLite's, or that of the last call if it is 0 */
void db_failed(struct db *db);

/* Statements without results */
void db_run(struct db *db, const char *sql);

/* NULL: it failed */
sqlite3_stmt *db_prepare(struct db *db, const char *sql);
/* An INSERT of all columns */
sqlite3_stmt *db_inserter(struct db *db, const char *table);

/* Runs an INSERT, and lets go of its parameters */
void db_insert(struct db *db, sqlite3_stmt *statement);

/* ---- values ---- */

/*
 * Parameters from 1 on; texts and data are not copied: they must stay until db_insert().  A text
 * that is NULL is NULL.
 */
void db_text(struct db *db, sqlite3_stmt *statement, int at, const char *text,
	     size_t length);
void db_string(struct db *db, sqlite3_stmt *statement, int at, const char *text);

static inline void db_number(sqlite3_stmt *statement, int at, uint64_t value)
{
	sqlite3_bind_int64(statement, at, (int64_t)value);
}

/* What has been written to db->json, as a text; it is empty then */
void db_json(struct db *db, sqlite3_stmt *statement, int at);

/**
 * struct db_cell - where a value goes
 * @context: as the value of a column that is asked for; NULL: parameter @at of @statement
 */
struct db_cell {
	sqlite3_context *context;
	sqlite3_stmt *statement;
	int at;
};

void cell_number(const struct db_cell *cell, uint64_t number);
/* Of the trace: it stays where it is */
void cell_text(struct db *db, const struct db_cell *cell, const char *text,
	       size_t length);
/* Of the trace, or NULL */
void cell_string(struct db *db, const struct db_cell *cell, const char *text);
/* What will be written over: SQLite keeps what it was given for as long as it likes */
void cell_copy(struct db *db, const struct db_cell *cell, const char *text,
	       size_t length);
/* The same, or NULL */
void cell_copy_string(struct db *db, const struct db_cell *cell, const char *text);
void cell_json(struct db *db, const struct db_cell *cell);
/* A value as what it is: INTEGER, REAL, TEXT, BLOB */
void cell_value(struct db *db, const struct db_cell *cell,
		const struct value *value);

/* "_time", "_cpu", "_pid", "_tid", "_comm", which come first in tables of events */
#define DB_COMMON "_time INTEGER, _cpu INTEGER, _pid INTEGER, _tid INTEGER, _comm TEXT"
enum { DB_TIME, DB_CPU, DB_PID, DB_TID, DB_COMM, DB_COMMON_COLUMNS };
void db_common_cell(struct db *db, const struct tb_view *view, int column,
		    const struct db_cell *cell);
void db_common(struct db *db, sqlite3_stmt *statement, const struct tb_view *view);

/* @view's time on the clock asked for */
uint64_t db_ns(const struct db *db, uint64_t ticks, uint64_t ns);

/* ---- tables that are always the same ---- */

/**
 * struct db_table - one of them
 * @part: with what it is filled
 * @columns: what is between the brackets
 * @behind: what is behind them
 */
struct db_table {
	const char *name;
	unsigned int part;
	const char *columns, *behind;
};

struct db_view {
	const char *name, *select;
};

/* Both end with a name that is NULL */
extern const struct db_table db_tables[];
extern const struct db_view db_views[];

/* The table of all events: a view, or read from the trace */
#define DB_EVENTS_NAME "events"
#define DB_EVENTS_COLUMNS DB_COMMON ", event TEXT"

/* A table that only query has (query/why.c) */
#define DB_WHY_NAME "why"

/* Those of @parts, and the views */
void db_create_tables(struct db *db, unsigned int parts);
void db_create_views(struct db *db);

/* ---- what is known of the recording ---- */

/* Fill those of db->parts & DB_KNOWN */
void db_write_known(struct db *db);
/* As they are known where db->cursor is */
void db_write_threads(struct db *db);

void db_loss(struct db *db, const struct tb_view *view);
/* A mark, or an event that is not described; the table it goes to */
const char *db_other(struct db *db, const struct tb_view *view);
/* Stacks and counters of the event that is row @row of @table */
void db_extras(struct db *db, const struct tb_view *view, const char *table,
	       uint64_t row);

/* A record of a program, or a loss of some */
void db_user(struct db *db, const struct tb_view *view);

/* The statements that fill db->parts, and their end */
void db_begin(struct db *db);
void db_end(struct db *db);
/* Into the tables of db->parts, but for what lasts; db->error */
int db_take(struct db *db, const struct tb_view *view);

/* ---- what lasts ---- */

/* "slices" has these, and the view of all slices one more */
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
/* Into the tables */
void db_slice(void *db, const struct slice *slice);
void db_request(void *db, const struct request *request);

/* What slices.kind calls it; NULL: it is in another table */
const char *db_slice_kind(enum slice_kind kind);

/* ---- tables of events ---- */

struct db_column {
	char *name;
	const char *type;
};

/**
 * struct db_event_table - the table of an event
 * @is_made: it is in the database
 * @rows: in it
 */
struct db_event_table {
	char *name;
	struct db_column *columns;
	size_t nr_columns;
	sqlite3_stmt *insert;
	bool     is_made;
	uint64_t rows;
};

/* NULL: ENOMEM */
struct db_events *db_events_open(struct tb_trace *trace);
void db_events_close(struct db_events *events);

/* Number @index of the tables of all events that are described, from 0; NULL beyond the last */
struct db_event_table *db_event_table(const struct db_events *events, size_t index);
/* That of a format */
struct db_event_table *db_table_of(const struct db_events *events,
				   const struct tb_format *format);
void db_event_cell(struct db *db, const struct tb_view *view, int column,
		   const struct db_cell *cell);

/* An event with a format */
void db_event(struct db *db, const struct tb_view *view);

/* What tables there are */
void db_events_list(struct db *db);
/* A view of them all */
void db_events_view(struct db *db);

#endif /* TRACEBUF_TOOL_EXPORT_SQLITE_H */
