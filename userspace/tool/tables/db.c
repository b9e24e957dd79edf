// SPDX-License-Identifier: GPL-2.0-only
/*
 * A database of SQLite: open, run, insert, close.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include "tables.h"

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

void db_runf(struct db *db, const char *format, ...)
{
	va_list arguments;
	char *sql;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	if (sql)
		db_run(db, sql);
	else if (!db->error)
		db->error = -ENOMEM;
	sqlite3_free(sql);
}

/* Prepare @sql, which may be NULL (no memory), and free it */
static int prepare(sqlite3 *sqlite, char *sql, sqlite3_stmt **statement)
{
	int result = SQLITE_NOMEM;

	*statement = NULL;
	if (sql)
		result = sqlite3_prepare_v3(sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, statement,
					    NULL);
	sqlite3_free(sql);
	return result;
}

int db_select_all(sqlite3 *sqlite, const char *table, sqlite3_stmt **statement)
{
	return prepare(sqlite, sqlite3_mprintf("SELECT * FROM \"%w\"", table), statement);
}

int db_insert_all(sqlite3 *sqlite, const char *table, sqlite3_stmt **statement)
{
	sqlite3_str *text = sqlite3_str_new(sqlite);
	sqlite3_stmt *columns;
	int result = db_select_all(sqlite, table, &columns);
	int i, count = sqlite3_column_count(columns);

	sqlite3_finalize(columns);
	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (?", table);
	for (i = 1; i < count; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, ")");
	if (result) {
		*statement = NULL;
		sqlite3_free(sqlite3_str_finish(text));
		return result;
	}
	return prepare(sqlite, sqlite3_str_finish(text), statement);
}

sqlite3_stmt *db_inserter(struct db *db, const char *table)
{
	sqlite3_stmt *insert = NULL;
	int result = db->error ? SQLITE_OK : db_insert_all(db->sqlite, table, &insert);

	if (result == SQLITE_NOMEM)
		db->error = -ENOMEM;
	else if (result)
		db_failed(db);
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
