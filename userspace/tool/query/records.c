// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - the table "user_slices": rows that SQLite selects from the table "user_events",
 * and the cgroups of their threads.
 */
#include <errno.h>
#include <stdlib.h>
#include "query.h"
#include "lib/array.h"

int query_note_record(struct query *query, const struct tb_view *view)
{
	if (tb_array_grow(&query->record_cgroups, &query->record_room, query->nr_records,
			  sizeof(*query->record_cgroups)))
		return -ENOMEM;
	query->record_cgroups[query->nr_records++] = view->task ? view->task->cgroup : 0;
	return 0;
}

uint32_t query_record_cgroup(const struct query *query, sqlite3_int64 row)
{
	return row > 0 && (size_t)row <= query->nr_records ? query->record_cgroups[row - 1] : 0;
}

static int prepare(struct query *query, char *sql, sqlite3_stmt **statement)
{
	bool own = query->own;
	int result;

	*statement = NULL;
	query->own = true;
	result = sql ? sqlite3_prepare_v2(query->db->sqlite, sql, -1, statement, NULL) :
		       SQLITE_NOMEM;
	query->own = own;
	sqlite3_free(sql);
	return result ? -ENOMEM : 0;
}

int query_add_user_slices(struct query *query)
{
	sqlite3_str *columns = sqlite3_str_new(NULL);
	struct query_table *table;
	sqlite3_stmt *statement;
	const char *type;
	int count, i;

	if (prepare(query, sqlite3_mprintf("SELECT %s", db_user_slices), &statement)) {
		sqlite3_free(sqlite3_str_finish(columns));
		return -ENOMEM;
	}
	count = sqlite3_column_count(statement);
	for (i = 0; i < count; i++) {
		type = sqlite3_column_decltype(statement, i);
		sqlite3_str_appendf(columns, "%s%s%s%s", i ? ", " : "",
				    sqlite3_column_name(statement, i), type ? " " : "",
				    type ? type : "");
	}
	sqlite3_finalize(statement);
	table = query_add_table(query, DB_USER_SLICES_NAME, sqlite3_str_finish(columns),
				(size_t)count, QUERY_USER_SLICES, NULL);
	if (table)
		table->is_view = true;
	return table ? 0 : -ENOMEM;
}

int query_records_open(const struct query_table *table, uint64_t columns,
		       sqlite3_stmt **statement)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	int result, i;

	result = query_select_all(table->query, table->name, statement);
	sqlite3_str_appendall(sql, "SELECT record");
	/* SQLite does not calculate what is not selected here, such as the duration */
	for (i = 0; !result && i < table->cgroup; i++)
		sqlite3_str_appendf(sql, ", %s", columns & query_column_bit(i) ?
				    sqlite3_column_name(*statement, i) : "NULL");
	sqlite3_finalize(*statement);
	sqlite3_str_appendf(sql, " FROM (SELECT rowid AS record, %s) ORDER BY record",
			    db_user_slices);
	if (result) {
		sqlite3_free(sqlite3_str_finish(sql));
		*statement = NULL;
		return -ENOMEM;
	}
	return prepare(table->query, sqlite3_str_finish(sql), statement);
}
