/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exporter to SQLite - what its parts share.
 *
 *   export_sqlite.c         the walk; what is known of the recording, slices, losses
 *   export_sqlite_event.c   a table for each event
 *   export_sqlite_user.c    what programs write
 *   export_sqlite_schema.c  tables and views that are always the same
 */
#ifndef TRACEBUF_TOOL_EXPORT_SQLITE_H
#define TRACEBUF_TOOL_EXPORT_SQLITE_H

#include <sqlite3.h>
#include "export.h"
#include "json_fields.h"

/* The longest text that is stored, as UTF-8 and before */
#define DB_TEXT_MAX 65536u
#define DB_CLEAN_MAX (3 * DB_TEXT_MAX)

struct db_events;

/**
 * struct db - the database as it is being written
 * @error: -errno of the first failure; nothing is written after it
 * @json, @written, @written_size: where values become JSON; what did not fit into its buffer
 * @clean: texts as UTF-8
 */
struct db {
	struct tb_trace *trace;
	const struct tb_cursor *cursor;
	enum tb_timebase base;
	sqlite3 *sqlite;
	int error;
	char message[200];
	struct db_events *events;
	struct json_fields *fields;
	struct out json;
	char  *written;
	size_t written_size;
	char   clean[DB_CLEAN_MAX];
	sqlite3_stmt *loss, *slice, *wakeup, *mark, *other, *extra, *user;
};

/* The first failure counts: result is SQLite's, or that of the last call if it is 0 */
void db_failed(struct db *db);

/* Statements without results */
void db_run(struct db *db, const char *sql);

/* NULL: it failed */
sqlite3_stmt *db_prepare(struct db *db, const char *sql);

/* Parameters from 1 on, not copied: they must stay until db_insert(); a text that is NULL is
 * NULL */
void db_text(struct db *db, sqlite3_stmt *statement, int at, const char *text,
	     size_t length);
void db_string(struct db *db, sqlite3_stmt *statement, int at, const char *text);

static inline void db_number(sqlite3_stmt *statement, int at, uint64_t value)
{
	sqlite3_bind_int64(statement, at, (int64_t)value);
}

/* A value as what it is: INTEGER, REAL, TEXT, BLOB */
void db_value(struct db *db, sqlite3_stmt *statement, int at,
	      const struct value *value);

/* What has been written to db->json, as a text; it is empty then */
void db_json(struct db *db, sqlite3_stmt *statement, int at);

/* Runs an INSERT, and lets go of its parameters */
void db_insert(struct db *db, sqlite3_stmt *statement);

/* "_time", "_cpu", "_pid", "_tid", "_comm", which come first in tables of events */
#define DB_COMMON "_time INTEGER, _cpu INTEGER, _pid INTEGER, _tid INTEGER, _comm TEXT"
#define DB_COMMON_COLUMNS 5
void db_common(struct db *db, sqlite3_stmt *statement, const struct tb_view *view);

/* @view's time on the clock asked for */
uint64_t db_ns(const struct db *db, uint64_t ticks, uint64_t ns);

/* ---- the parts ---- */

/* NULL: ENOMEM */
struct db_events *db_events_open(const struct tb_trace *trace);
void db_events_close(struct db_events *events);

/* An event with a format; the name of its table */
const char *db_event(struct db *db, const struct tb_view *view);

/* What tables there are, and a view of them all */
void db_events_list(struct db *db);

/* A record of a program, or a loss of some */
void db_user(struct db *db, const struct tb_view *view);

/* Tables that are always the same, before; views, behind */
extern const char db_tables[], db_views[];

#endif /* TRACEBUF_TOOL_EXPORT_SQLITE_H */
