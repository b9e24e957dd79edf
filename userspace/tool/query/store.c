// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - stored rows, for repeated scans, as in a join.
 *
 * The first scan with a condition "column = value" reads the trace.  The second one stores the used
 * columns of all rows in a database in a temporary file, with an index of that column and the time.
 */
#include <errno.h>
#include <stdlib.h>
#include "query.h"

/**
 * struct query_store - stored rows of a table
 * @number: of its table, "kN", in query->store
 * @columns: stored columns, a bit each
 * @key: the column that has an index; -1: the rowid; QUERY_NO_KEY: none
 * @integer: the type of column @key is INTEGER
 */
struct query_store {
	struct query_store *next;
	unsigned int number;
	uint64_t columns;
	int key;
	bool integer;
};

static bool is_used(uint64_t columns, int column)
{
	return columns & query_column_bit(column);
}

static int run(struct query *query, char *sql)
{
	int result = sql ? sqlite3_exec(query->store, sql, NULL, NULL, NULL) :
			   SQLITE_NOMEM;

	sqlite3_free(sql);
	return result;
}

static int open_store(struct query *query)
{
	int result;

	if (query->store)
		return SQLITE_OK;
	result = sqlite3_open("", &query->store);
	if (!result)
		result = sqlite3_exec(query->store, "PRAGMA journal_mode = OFF;"
				      "PRAGMA synchronous = OFF;"
				      "PRAGMA locking_mode = EXCLUSIVE;"
				      "PRAGMA cache_size = -65536;",
				      NULL, NULL, NULL);
	if (result) {
		sqlite3_close(query->store);
		query->store = NULL;
	}
	return result;
}

/* ---- filling ---- */

static int create(struct query_table *table, struct query_store *store,
		  sqlite3_stmt **insert)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_stmt *statement;
	int result = query_select_all(table->query, table->name, &statement), i;
	const char *type = NULL;
	char name[16];

	if (!result && store->key >= 0)
		type = sqlite3_column_decltype(statement, store->key);
	store->integer = type && !strcmp(type, "INTEGER");
	snprintf(name, sizeof(name), "k%u", store->number);
	sqlite3_str_appendf(text, "CREATE TABLE %s (n INTEGER PRIMARY KEY", name);
	/* declare the same types, so that values compare in the same way */
	for (i = 0; i < sqlite3_column_count(statement); i++)
		sqlite3_str_appendf(text, ", c%d %s", i,
				    !is_used(store->columns, i) ||
				    !sqlite3_column_decltype(statement, i) ? "" :
				    sqlite3_column_decltype(statement, i));
	sqlite3_finalize(statement);
	sqlite3_str_appendall(text, ")");
	if (result) {
		sqlite3_free(sqlite3_str_finish(text));
		return result;
	}
	result = run(table->query, sqlite3_str_finish(text));
	return result ? result : db_insert_all(table->query->store, name, insert);
}

static int copy_rows(struct query_scan *scan, const struct query_store *store,
		     sqlite3_stmt *insert)
{
	struct db_cell cell = { .statement = insert };
	int count = sqlite3_bind_parameter_count(insert) - 1, result, i;

	while ((result = query_scan_next(scan)) > 0) {
		sqlite3_bind_int64(insert, 1, query_scan_rowid(scan));
		for (i = 0; i < count; i++) {
			cell.at = i + 2;
			if (is_used(store->columns, i))
				query_scan_cell(scan, i, &cell);
		}
		if (sqlite3_step(insert) != SQLITE_DONE)
			return sqlite3_reset(insert);
		sqlite3_reset(insert);
		sqlite3_clear_bindings(insert);
	}
	return !result ? SQLITE_OK : result == -EINTR ? SQLITE_INTERRUPT :
				     SQLITE_NOMEM;
}

static int fill(struct query_table *table, struct query_store *store,
		sqlite3_stmt *insert)
{
	struct query_range range;
	struct query_plan plan;
	struct query_scan *scan = NULL;
	char text[32];
	int result;

	snprintf(text, sizeof(text), ",%llx", (unsigned long long)store->columns);
	result = query_plan(table, text, 0, NULL, &plan, &range);
	if (!result)
		result = query_scan_open(table, &range, &scan);
	if (!result)
		result = copy_rows(scan, store, insert);
	query_scan_close(scan);
	query_range_free(&range);
	return result;
}

static int make(struct query_table *table, struct query_store *store)
{
	struct query *query = table->query;
	sqlite3_stmt *insert = NULL;
	int result = open_store(query);

	if (!result)
		result = sqlite3_exec(query->store, "BEGIN", NULL, NULL, NULL);
	if (result)
		return result;
	result = create(table, store, &insert);
	if (!result)
		result = fill(table, store, insert);
	sqlite3_finalize(insert);
	if (!result && store->key >= 0)
		result = run(query, sqlite3_mprintf("CREATE INDEX i%u ON k%u (c%d, c%d)",
						    store->number, store->number,
						    store->key, table->time));
	/* without a journal there is no rollback: the caller does not use an incomplete table */
	sqlite3_exec(query->store, "COMMIT", NULL, NULL, NULL);
	return result;
}

/* ---- finding ---- */

static int store_for(struct query_table *table, uint64_t columns, int key,
		     struct query_store **found)
{
	struct query_store *store;
	int result;

	for (store = table->stores; store; store = store->next)
		if (store->key == key && !(columns & ~store->columns))
			break;
	if (!store) {
		store = calloc(1, sizeof(*store));
		if (!store)
			return SQLITE_NOMEM;
		store->number = (unsigned int)++table->query->figures.stores;
		store->columns = columns;
		store->key = key;
		result = make(table, store);
		if (result) {
			free(store);
			return result;
		}
		store->next = table->stores;
		table->stores = store;
	}
	*found = store;
	return SQLITE_OK;
}

/*
 * True if an index can find all rows with the value @key.  SQLite compares a column that is not
 * INTEGER as numbers if @key is from an INTEGER column: 5 equals "05".
 */
static bool finds_key(const struct query_store *store, const struct query_plan *plan,
		      sqlite3_value *key)
{
	return plan->key == -1 ||
	       (plan->key >= 0 && (store->integer || !query_is_number(key)));
}

int query_store_find(struct query_table *table, const struct query_plan *plan,
		     const struct query_range *range, sqlite3_value *key,
		     sqlite3_stmt **found)
{
	bool times = range->from > INT64_MIN || range->to < INT64_MAX;
	int column = plan->key != QUERY_NO_KEY ? plan->key : times ? table->time : QUERY_NO_KEY;
	uint64_t columns = plan->columns;
	struct query_store *store;
	char *sql, test[64] = "1";
	bool finds;
	int result;

	if (column >= 0)
		columns |= query_column_bit(column);
	columns |= 1ull << table->time;
	result = store_for(table, columns, column, &store);
	if (result)
		return result;
	/* SQLite tests each row again */
	finds = finds_key(store, plan, key);
	if (finds && plan->key >= 0)
		snprintf(test, sizeof(test), "c%d = ?1", plan->key);
	else if (finds)
		snprintf(test, sizeof(test), "n = ?1");
	sql = times ? sqlite3_mprintf("SELECT * FROM k%u WHERE %s AND c%d >= ?2 AND c%d <= ?3 ORDER BY n",
				      store->number, test, table->time, table->time) :
		      sqlite3_mprintf("SELECT * FROM k%u WHERE %s ORDER BY n",
				      store->number, test);
	if (!sql)
		return SQLITE_NOMEM;
	result = sqlite3_prepare_v2(table->query->store, sql, -1, found, NULL);
	sqlite3_free(sql);
	if (!result && finds)
		sqlite3_bind_value(*found, 1, key);
	if (!result && times) {
		sqlite3_bind_int64(*found, 2, range->from);
		sqlite3_bind_int64(*found, 3, range->to);
	}
	return result;
}

void query_stores_free(struct query_table *table)
{
	struct query_store *store;

	while ((store = table->stores)) {
		table->stores = store->next;
		free(store);
	}
}
