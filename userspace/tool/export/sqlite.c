// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a SQLite database, for questions.
 *
 * Everything is in one transaction without a journal: the file gets its name when it is
 * complete, so there is nothing to roll back to.
 */
#include <errno.h>
#include <stdlib.h>
#include "tool/tables/tables.h"
#include "analysis/spans.h"

/* ---- SQLite ---- */

void db_failed(struct db *db)
{
	int result = sqlite3_errcode(db->sqlite);

	if (db->error)
		return;
	db->error = result == SQLITE_FULL ? -ENOSPC :
		    result == SQLITE_NOMEM ? -ENOMEM : -EIO;
	snprintf(db->message, sizeof(db->message), "%s",
		 sqlite3_errmsg(db->sqlite));
}

void db_run(struct db *db, const char *sql)
{
	if (!db->error && sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL))
		db_failed(db);
}

sqlite3_stmt *db_prepare(struct db *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!db->error &&
	    sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &statement, NULL))
		db_failed(db);
	return statement;
}

sqlite3_stmt *db_inserter(struct db *db, const char *table)
{
	sqlite3_str *text = sqlite3_str_new(db->sqlite);
	sqlite3_stmt *columns, *insert = NULL;
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	int i, count;

	columns = sql ? db_prepare(db, sql) : NULL;
	count = sqlite3_column_count(columns);
	sqlite3_finalize(columns);
	sqlite3_free(sql);
	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (?", table);
	for (i = 1; i < count; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, ")");
	sql = sqlite3_str_finish(text);
	if (sql)
		insert = db_prepare(db, sql);
	else
		db->error = -ENOMEM;
	sqlite3_free(sql);
	return insert;
}

void db_insert(struct db *db, sqlite3_stmt *statement)
{
	if (!db->error && sqlite3_step(statement) != SQLITE_DONE)
		db_failed(db);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

struct db *db_open(struct tb_trace *trace, enum tb_timebase base)
{
	struct db *db = calloc(1, sizeof(*db));

	if (!db)
		return NULL;
	db->trace = trace;
	db->base = base;
	db->parts = DB_ALL;
	db->events = db_events_open(trace);
	db->fields = json_fields_open(trace, base);
	db->json.file = open_memstream(&db->written, &db->written_size);
	if (db->events && db->fields && db->json.file)
		return db;
	db_close(db);
	return NULL;
}

int db_close(struct db *db)
{
	int result;

	db_end(db);
	db_events_close(db->events);
	if (sqlite3_close(db->sqlite))
		db_failed(db);
	result = db->error;
	json_fields_close(db->fields);
	if (db->json.file)
		fclose(db->json.file);
	free(db->written);
	free(db);
	return result;
}

/* ---- the whole ---- */

static void prepare(struct db *db)
{
	db_run(db, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
		   "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
		   "PRAGMA cache_size = -65536; BEGIN");
	db_create_tables(db, DB_ALL);
	db_begin(db);
}

static void finish(struct db *db)
{
	db_write_threads(db);
	db_create_views(db);
	db_events_list(db);
	db_events_view(db);
	db_run(db, "COMMIT");
}

static int take(struct db *db, struct slices *slices, struct requests *requests,
		const struct tb_view *view)
{
	uint64_t ns = db_ns(db, view->ticks, view->ns), lost_ns = 0;
	int result;

	if (!view->user) {
		if (view->kind == TB_VIEW_LOST)
			lost_ns = tb_trace_ns(db->trace, view->lost.first,
					      db->base);
		result = slices_take(slices, view, ns, lost_ns);
		if (result >= 0)
			result = requests_take(requests, view, ns);
		if (result < 0)
			return result;
	}
	return db_take(db, view);
}

static int walk(struct db *db, const struct tb_export_options *options,
		struct tb_cursor *cursor, struct slices *slices,
		struct requests *requests)
{
	struct tb_view view;
	int result = 0;

	while (!db->error &&
	       (result = tb_export_next(options, cursor, &view)) > 0) {
		result = take(db, slices, requests, &view);
		if (result)
			break;
	}
	if (!result && !db->error) {
		slices_finish(slices);
		requests_finish(requests);
		finish(db);
	}
	return db->error ? db->error : result;
}

static int run(struct db *db, const struct tb_export_options *options)
{
	struct tb_cursor *cursor;
	struct requests *requests;
	struct spans missing = { 0 };
	struct slices *slices;
	int result;

	result = tb_cursor_open(db->trace, &cursor);
	if (result)
		return result;
	db->cursor = cursor;
	slices = slices_open(db->trace, db_slice, db);
	requests = requests_open(db->trace, db_request, db);
	result = slices && requests ? spans_of_trace(&missing, db->trace, db->base) : -ENOMEM;
	if (!result) {
		slices_missing(slices, &missing);
		requests_missing(requests, &missing);
		slices_off(slices);
		prepare(db);
		result = walk(db, options, cursor, slices, requests);
	}
	requests_close(requests);
	slices_close(slices);
	spans_free(&missing);
	tb_cursor_close(cursor);
	return result;
}

int tb_export_sqlite(struct tb_trace *trace, FILE *out,
		     const struct tb_export_options *options)
{
	struct db *db = db_open(trace, options->base);
	int result, closed;

	(void)out;
	if (!db)
		return -ENOMEM;
	if (sqlite3_open_v2(options->path, &db->sqlite, SQLITE_OPEN_READWRITE |
			    SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) {
		db_failed(db);
		result = db->error;
	} else {
		result = run(db, options);
	}
	if (db->message[0])
		snprintf(options->error, options->error_size, "%s", db->message);
	closed = db_close(db);
	return result ? result : closed;
}
