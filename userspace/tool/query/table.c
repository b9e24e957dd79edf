// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - virtual tables, which SQLite reads row by row.
 *
 * A module without xCreate is a table of its own name, without CREATE VIRTUAL TABLE.
 */
#include <errno.h>
#include "query.h"

struct table {
	struct sqlite3_vtab base;
	struct query_table *table;
};

/**
 * struct cursor - a cursor of SQLite, which may scan a table several times
 * @filters: number of scans
 * @scan, @stored: one of both returns the rows
 * @over: there are no more rows
 */
struct cursor {
	struct sqlite3_vtab_cursor base;
	unsigned int filters;
	struct query_plan plan;
	struct query_range range;
	struct query_scan *scan;
	sqlite3_stmt *stored;
	bool over;
};

struct query_table *query_table_of(const sqlite3_vtab *base)
{
	return ((const struct table *)base)->table;
}

int query_table_connect(sqlite3 *sqlite, void *context, int count, const char *const *words,
			sqlite3_vtab **out, char **error)
{
	struct query_table *described = context;
	struct table *table;
	bool own = described->query->own;
	char *text;
	int result;

	(void)count;
	(void)words;
	(void)error;
	text = sqlite3_mprintf("CREATE TABLE x(%s)", described->columns);
	described->query->own = true;
	result = text ? sqlite3_declare_vtab(sqlite, text) : SQLITE_NOMEM;
	described->query->own = own;
	sqlite3_free(text);
	if (result)
		return result;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->table = described;
	*out = &table->base;
	return SQLITE_OK;
}

int query_table_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return query_best_index(query_table_of(base), info);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)base;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*out = &cursor->base;
	return SQLITE_OK;
}

static void end_way(struct cursor *cursor)
{
	query_scan_close(cursor->scan);
	cursor->scan = NULL;
	sqlite3_finalize(cursor->stored);
	cursor->stored = NULL;
	query_range_free(&cursor->range);
	memset(&cursor->range, 0, sizeof(cursor->range));
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	end_way((struct cursor *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int failed(struct cursor *cursor, int error)
{
	cursor->over = true;
	return error == -EINTR ? SQLITE_INTERRUPT :
	       error == -ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	struct query *query = query_table_of(base->pVtab)->query;
	int result;

	if (cursor->stored) {
		result = query_stopped ? SQLITE_INTERRUPT :
					 sqlite3_step(cursor->stored);
		cursor->over = result != SQLITE_ROW;
		return result == SQLITE_ROW || result == SQLITE_DONE ? SQLITE_OK :
								       result;
	}
	result = query_scan_next(cursor->scan);
	cursor->over = result <= 0;
	if (result >= 0 && query->db->error)
		result = query->db->error;
	return result < 0 ? failed(cursor, result) : SQLITE_OK;
}

/* True if reading the trace again is cheap */
static bool is_cheap(const struct cursor *cursor)
{
	return cursor->plan.bounds && cursor->range.seeks;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text,
		  int count, sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	struct query_table *table = query_table_of(base->pVtab);
	bool again;
	int result;

	(void)number;
	end_way(cursor);
	cursor->over = true;
	result = query_plan(table, text, count, values, &cursor->plan,
			    &cursor->range);
	if (result || cursor->range.nothing)
		return result;
	/* a subquery opens a new cursor each time: compare also with the table's last condition */
	again = cursor->filters++ || (cursor->plan.key != QUERY_NO_KEY &&
				      cursor->plan.key == table->asked);
	table->asked = cursor->plan.key;
	if (again && !is_cheap(cursor))
		result = query_store_find(table, &cursor->plan, &cursor->range,
					  count ? values[cursor->plan.key_at] : NULL,
					  &cursor->stored);
	else
		result = query_scan_open(table, &cursor->range, &cursor->scan);
	return result ? result : next_row(base);
}

static int is_over(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->over;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct db_cell cell = { .context = context };

	if (cursor->stored)
		sqlite3_result_value(context, sqlite3_column_value(cursor->stored,
								   which + 1));
	else
		query_scan_cell(cursor->scan, which, &cell);
	return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
	struct cursor *cursor = (struct cursor *)base;

	if (cursor->stored) {
		*number = sqlite3_column_int64(cursor->stored, 0);
		return SQLITE_OK;
	}
	*number = query_scan_rowid(cursor->scan);
	return *number < 0 ? failed(cursor, (int)*number) : SQLITE_OK;
}

int query_table_register(struct query_table *table)
{
	static const sqlite3_module module = {
		.iVersion = 0,
		.xConnect = query_table_connect,
		.xBestIndex = best_index,
		.xDisconnect = query_table_disconnect,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = filter,
		.xNext = next_row,
		.xEof = is_over,
		.xColumn = column,
		.xRowid = row_number,
	};

	return sqlite3_create_module_v2(table->query->db->sqlite, table->name,
					&module, table, NULL);
}
