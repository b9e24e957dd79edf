// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - the tables of intervals: slices, wake-ups, times off the CPU, requests, and the
 * views of tables/schema.c that are parts of them.
 *
 * The views are virtual tables here, because a view of SQLite has no hidden columns.
 */
#include <errno.h>
#include <stdlib.h>
#include "query.h"

#define SLICE_TABLE_KINDS (1u << SLICE_RUN | 1u << SLICE_IRQ | 1u << SLICE_SOFTIRQ | \
			   1u << SLICE_SYSCALL)

/* Tables that a database has, too */
static const struct {
	const char *name;
	enum query_kind kind;
	unsigned int kinds;
} stored[] = {
	{ "slices", QUERY_SLICES, SLICE_TABLE_KINDS },
	{ "wakeups", QUERY_WAKEUPS, 1u << SLICE_WAKEUP },
	{ "off_cpu", QUERY_OFF, 1u << SLICE_OFF },
	{ "block_io", QUERY_REQUESTS, 0 },
};

#define NR_STORED (sizeof(stored) / sizeof(stored[0]))

static size_t nr_columns(const char *columns)
{
	size_t count = 1;

	while ((columns = strchr(columns, ','))) {
		columns++;
		count++;
	}
	return count;
}

/* Add a table with these columns and the hidden ones; NULL: ENOMEM */
static struct query_table *add(struct query *query, const char *name, const char *columns,
			       enum query_kind kind, unsigned int kinds)
{
	struct query_table *table = query_add_table(query, name, sqlite3_mprintf("%s", columns),
						    nr_columns(columns), kind, NULL);

	if (!table)
		return NULL;
	table->kinds = kinds;
	if (kinds & 1u << SLICE_SYSCALL)
		table->columns = sqlite3_mprintf("%z" QUERY_HIDDEN_OBJECT, table->columns);
	return table->columns ? table : NULL;
}

static const char *columns_of(const char *name)
{
	const struct db_table *same = db_tables;

	while (strcmp(same->name, name))
		same++;
	return same->columns;
}

/* A table of all slices, selected or not: questions need what else ran on a CPU */
static int add_all_slices(struct query *query)
{
	char *columns = sqlite3_mprintf("%s, chosen INTEGER", columns_of("slices"));
	struct query_table *table = columns ? add(query, DB_ALL_SLICES_NAME, columns, QUERY_SLICES,
						  SLICE_TABLE_KINDS) : NULL;

	sqlite3_free(columns);
	if (!table)
		return -ENOMEM;
	table->choose = 0;
	table->time = 1;
	table->is_view = table->all = true;
	table->chosen = DB_SLICE_COLUMNS;
	return 0;
}

/* ---- excerpts ---- */

/* Find the column of a table with this name, and its type: up to a comma or the end */
static int find_column(const char *columns, const char *name, size_t length, const char **type)
{
	int index;

	for (index = 0; ; index++, columns += strcspn(columns, ",") + 1) {
		columns += strspn(columns, " ");
		if (!strncmp(columns, name, length) && columns[length] == ' ')
			break;
	}
	*type = columns + length + 1;
	return index;
}

/* Describe an excerpt for CREATE TABLE in @text, and get the columns of @of that it consists of */
static void map_columns(const struct db_excerpt *excerpt, const char *of, sqlite3_str *text,
			signed char map[QUERY_MAP_MAX])
{
	const char *column = excerpt->columns, *type, *as;
	size_t length, name;
	int i;

	for (i = 0; *column; i++, column += length + strspn(column + length, ", ")) {
		length = strcspn(column, ",");
		name = strcspn(column, ", ");
		map[i] = (signed char)find_column(of, column, name, &type);
		if (name < length && column[name + 1] == '+')
			map[i] = QUERY_MAP_END;
		as = column;
		if (name < length) {
			as = strstr(column, " AS ") + strlen(" AS ");
			name = (size_t)(column + length - as);
		}
		sqlite3_str_appendf(text, "%s%.*s %.*s", i ? ", " : "", (int)name, as,
				    (int)strcspn(type, ","), type);
	}
}

static int add_excerpt(struct query *query, const struct db_excerpt *excerpt)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	signed char map[QUERY_MAP_MAX];
	struct query_table *table;
	char *columns;

	map_columns(excerpt, columns_of(excerpt->of), text, map);
	columns = sqlite3_str_finish(text);
	table = columns ? add(query, excerpt->name, columns, excerpt->kind == SLICE_WAKEUP ?
			      QUERY_WAKEUPS : QUERY_SLICES, 1u << excerpt->kind) : NULL;
	sqlite3_free(columns);
	if (!table)
		return -ENOMEM;
	table->is_view = table->is_mapped = true;
	table->whole = excerpt->whole;
	memcpy(table->map, map, sizeof(map));
	return 0;
}

int query_add_intervals(struct query *query)
{
	const struct db_excerpt *excerpt;
	struct query_table *table;
	size_t i;

	for (i = 0; i < NR_STORED; i++) {
		table = add(query, stored[i].name, columns_of(stored[i].name), stored[i].kind,
			    stored[i].kinds);
		if (!table)
			return -ENOMEM;
		if (stored[i].kind == QUERY_SLICES) {
			table->choose = 0;
			table->time = 1;
		}
	}
	for (excerpt = db_excerpts; excerpt->name; excerpt++)
		if (add_excerpt(query, excerpt))
			return -ENOMEM;
	table = add(query, DB_THREAD_STATES_NAME, DB_THREAD_STATES_COLUMNS, QUERY_STATES,
		    1u << SLICE_RUN | 1u << SLICE_OFF);
	if (!table)
		return -ENOMEM;
	table->is_view = true;
	return add_all_slices(query);
}

size_t query_nr_intervals(void)
{
	const struct db_excerpt *excerpt = db_excerpts;

	while (excerpt->name)
		excerpt++;
	/* and all slices, states of threads */
	return NR_STORED + (size_t)(excerpt - db_excerpts) + 2;
}
