// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - one for each event.
 *
 * The table has the columns of the event's wide form; events in the compact form are shown in them,
 * too.  A field with names for its numbers is followed by a column FIELD_name.  A database gets the
 * table at the first event.  It has the name of the event; if other events, tables or views have
 * that name, it is SYSTEM_EVENT, and if that name is taken, too, SYSTEM_EVENT_2.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include "tables.h"
#include "lib/array.h"

/* SQLite accepts so many parts of one SELECT */
#define UNION_MAX 500
/* SQLite accepts 2000 columns; query needs two hidden ones, and the number of a stored row */
#define COLUMNS_MAX 1997
#define RESERVED "sqlite_"

/**
 * struct form - a format
 * @table: number of its table, from 1; 0: not known yet
 * @columns: for each field the parameters of its value, and of the name of the value; 0: the table
 *	has no such column
 * @count: number of events
 */
struct form {
	size_t table;
	struct {
		int value, name;
	} *columns;
	uint64_t count;
};

/* @names: of tables and views */
struct db_events {
	struct tb_trace *trace;
	struct db_event_table *tables;
	size_t nr_tables, nr_forms;
	struct db_names names;
	struct form forms[];
};

void db_events_close(struct db_events *events)
{
	struct db_event_table *table;
	size_t i, k;

	if (!events)
		return;
	for (i = 0; i < events->nr_tables; i++) {
		table = &events->tables[i];
		for (k = 0; k < table->nr_columns; k++)
			free(table->columns[k].name);
		free(table->columns);
		free(table->name);
		sqlite3_finalize(table->insert);
	}
	for (i = 0; i < events->nr_forms; i++)
		free(events->forms[i].columns);
	db_names_free(&events->names);
	free(events->tables);
	free(events);
}

/* ---- names ---- */

/* Return @name as UTF-8, because names in a damaged trace can be any bytes; frees @name */
static char *clean_name(char *name)
{
	size_t length = strlen(name);
	char *clean = malloc(3 * length + 1);

	if (clean)
		clean[utf8_clean(clean, name, length)] = 0;
	free(name);
	return clean;
}

static bool is_of(const struct tb_format *a, const struct tb_format *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->system, b->system);
}

static bool is_reserved(const char *name)
{
	return !strncasecmp(name, RESERVED, strlen(RESERVED));
}

/* Take the names of the tables and views that every trace has */
static bool take_known(struct db_names *names)
{
	const struct db_table *table;
	const struct db_excerpt *excerpt;
	const struct db_view *view;

	for (table = db_tables; table->name; table++)
		if (!db_names_add(names, table->name, 0))
			return false;
	for (excerpt = db_excerpts; excerpt->name; excerpt++)
		if (!db_names_add(names, excerpt->name, 0))
			return false;
	for (view = db_views; view->name; view++)
		if (!db_names_add(names, view->name, 0))
			return false;
	return db_names_add(names, DB_EVENTS_NAME, 0) && db_names_add(names, DB_WHY_NAME, 0) &&
	       db_names_add(names, DB_USER_INDEX_NAME, 0);
}

/* True if the table can have the name of the event: nothing else wants it */
static bool is_alone(const struct db_events *events, const struct tb_format *format)
{
	const struct tb_format *other;
	unsigned int i;

	if (is_reserved(format->name) || db_names_find(&events->names, format->name))
		return false;
	for (i = 0; (other = tb_trace_format_at(events->trace, i)); i++)
		if (!strcasecmp(other->name, format->name) && !is_of(other, format))
			return false;
	return true;
}

/* SYSTEM_EVENT, not as SQLite reserves it; the caller frees the name.  NULL: ENOMEM */
static char *long_name(const struct tb_format *format)
{
	char *name;

	/* the first character is left out unless the rest is reserved */
	if (asprintf(&name, "_%s_%s", format->system, format->name) < 0)
		return NULL;
	if (!is_reserved(name + 1))
		memmove(name, name + 1, strlen(name));
	return name;
}

/* The caller frees the name; NULL: ENOMEM */
static char *table_name(struct db_events *events, const struct tb_format *format)
{
	char *name = is_alone(events, format) ? strdup(format->name) : long_name(format);

	if (name)
		name = clean_name(name);
	if (name)
		name = db_names_choose(&events->names, name);
	if (name && !db_names_add(&events->names, name, 0)) {
		free(name);
		return NULL;
	}
	return name;
}

/* The caller frees the name; NULL: ENOMEM */
static char *column_name(const struct db_names *names, const char *field)
{
	char *name = strdup(field);

	if (name)
		name = clean_name(name);
	return name ? db_names_choose(names, name) : NULL;
}

static const char *column_type(const struct tb_format_field *field)
{
	switch (field->show) {
	case TB_SHOW_TEXT:
	case TB_SHOW_STATE:
	case TB_SHOW_MASK:
	case TB_SHOW_ARRAY:
		return "TEXT";
	case TB_SHOW_BYTES:
		return "BLOB";
	default:
		return "INTEGER";
	}
}

/* ---- tables ---- */

static bool add_column(struct db_event_table *table, struct db_names *names, char *name,
		       const char *type)
{
	const struct db_column column = { name, type };
	unsigned int i = table->nr_columns;

	if (!name || !db_names_add(names, name, i) ||
	    tb_array_reach(&table->columns, &table->nr_columns, i, sizeof(column))) {
		free(name);
		return false;
	}
	table->columns[i] = column;
	return true;
}

static bool add_common(struct db_event_table *table, struct db_names *names)
{
	static const struct db_column common[] = {
		{ "_time", "INTEGER" }, { "_cpu", "INTEGER" },
		{ "_pid", "INTEGER" }, { "_tid", "INTEGER" },
		{ "_comm", "TEXT" }, { "_context", "INTEGER" },
	};
	size_t i;

	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (!add_column(table, names, strdup(common[i].name), common[i].type))
			return false;
	/* query needs these for columns of its own */
	return db_names_add(names, DB_CGROUP_NAME, SIZE_MAX) &&
	       db_names_add(names, DB_CONTAINER_NAME, SIZE_MAX);
}

/* True if @format is the compact form of an event that has a wide form */
static bool is_compact(const struct db_events *events, const struct tb_format *format)
{
	const struct tb_format *wide = format->flags & TB_EVENT_SIMPLE ?
		tb_trace_format(events->trace, format->id ^ 1) : NULL;

	return wide && !(wide->flags & TB_EVENT_SIMPLE) && is_of(wide, format);
}

/*
 * Return the parameter of the column @field among the first @own.  If there is none, return that of
 * a new column with @type; 0 without @type, or if the table is full.  -1: no memory
 */
static int find_column(struct db_event_table *table, struct db_names *names, size_t own,
		       const char *field, const char *type)
{
	const struct db_name *name = db_names_find(names, field);

	if (name && name->index > DB_COMMON_COLUMNS && name->index < own &&
	    !strcmp(name->name, field))
		return (int)name->index + 1;
	if (!type || table->nr_columns >= COLUMNS_MAX)
		return 0;
	return add_column(table, names, column_name(names, field), type) ?
	       (int)table->nr_columns : -1;
}

/* Find the columns of a form by name; add new columns unless it is compact */
static bool add_form(struct db_events *events, struct db_event_table *table,
		     struct db_names *names, const struct tb_format *format)
{
	struct form *form = &events->forms[format->index];
	bool compact = is_compact(events, format);
	const struct tb_format_field *field;
	size_t own = table->nr_columns;
	char name[TB_NAME_MAX + 8];
	uint32_t i;

	form->columns = calloc(format->nr_fields + 1, sizeof(*form->columns));
	if (!form->columns)
		return false;
	form->table = (size_t)(table - events->tables) + 1;
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		form->columns[i].value = find_column(table, names, own, field->name,
						     compact ? NULL : column_type(field));
		if (form->columns[i].value < 0)
			return false;
		if (!form->columns[i].value || !value_has_names(format, field))
			continue;
		snprintf(name, sizeof(name), VALUE_NAME, field->name);
		form->columns[i].name = find_column(table, names, own, name,
						    compact ? NULL : "TEXT");
		if (form->columns[i].name < 0)
			return false;
	}
	return true;
}

static bool add_columns(struct db_events *events, struct db_event_table *table,
			struct db_names *names, const struct tb_format *format)
{
	const struct tb_format *other;
	unsigned int i, compact;

	if (!add_common(table, names))
		return false;
	for (compact = 0; compact < 2; compact++)
		for (i = 0; (other = tb_trace_format_at(events->trace, i)); i++)
			if (is_of(other, format) && is_compact(events, other) == compact &&
			    !add_form(events, table, names, other))
				return false;
	return true;
}

static bool describe_table(struct db_events *events, struct db_event_table *table,
			   const struct tb_format *format)
{
	struct db_names names = { .count = 0 };
	bool done;

	table->name = table_name(events, format);
	done = table->name && add_columns(events, table, &names, format);
	db_names_free(&names);
	return done;
}

static bool describe(struct db_events *events)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(events->trace, i)); i++)
		if (!events->forms[i].table &&
		    !describe_table(events, &events->tables[events->nr_tables++],
				    format))
			return false;
	return true;
}

struct db_events *db_events_open(struct tb_trace *trace)
{
	size_t count = tb_trace_formats(trace);
	struct db_events *events;

	events = calloc(1, sizeof(*events) + count * sizeof(events->forms[0]));
	if (!events)
		return NULL;
	events->trace = trace;
	events->nr_forms = count;
	events->tables = calloc(count + 1, sizeof(*events->tables));
	if (events->tables && take_known(&events->names) && describe(events))
		return events;
	db_events_close(events);
	return NULL;
}

struct db_event_table *db_event_table(const struct db_events *events, size_t index)
{
	return index < events->nr_tables ? &events->tables[index] : NULL;
}

struct db_event_table *db_table_of(const struct db_events *events,
				   const struct tb_format *format)
{
	return &events->tables[events->forms[format->index].table - 1];
}

char *db_event_columns(const struct db_event_table *table)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	size_t i;

	for (i = 0; i < table->nr_columns; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", table->columns[i].name,
				    table->columns[i].type);
	return sqlite3_str_finish(text);
}

static void make_table(struct db *db, struct db_event_table *table)
{
	char *columns = db_event_columns(table);

	if (columns)
		db_runf(db, "CREATE TABLE \"%w\" (%s)", table->name, columns);
	else
		db->error = -ENOMEM;
	sqlite3_free(columns);
	table->insert = db_inserter(db, table->name);
}

/* ---- events ---- */

void db_event_cell(struct db *db, const struct tb_view *view, int column,
		   const struct db_cell *cell)
{
	const struct tb_format *format = view->format;
	const struct form *form = &db->events->forms[format->index];
	struct value value;
	uint32_t i;

	if (column < DB_COMMON_COLUMNS) {
		db_common_cell(db, view, column, cell);
		return;
	}
	if (column == DB_COMMON_COLUMNS) {
		cell_number(cell, view->context);
		return;
	}
	for (i = 0; i < format->nr_fields; i++)
		if (form->columns[i].value == column + 1 || form->columns[i].name == column + 1) {
			value_of(db->trace, view, &format->fields[i], &value);
			if (form->columns[i].value == column + 1)
				cell_value(db, cell, &value);
			else
				cell_meaning(db, cell, &value);
			return;
		}
}

static void insert_event(struct db *db, struct db_event_table *table,
			 const struct form *form, const struct tb_view *view)
{
	const struct tb_format *format = view->format;
	struct db_cell cell = { .statement = table->insert };
	struct value value;
	uint32_t i;

	db_common(db, table->insert, view);
	db_number(table->insert, DB_COMMON_COLUMNS + 1, view->context);
	for (i = 0; i < format->nr_fields; i++) {
		cell.at = form->columns[i].value;
		if (!cell.at)
			continue;
		value_of(db->trace, view, &format->fields[i], &value);
		cell_value(db, &cell, &value);
		cell.at = form->columns[i].name;
		if (cell.at)
			cell_meaning(db, &cell, &value);
	}
	db_insert(db, table->insert);
}

void db_event(struct db *db, const struct tb_view *view)
{
	struct db_event_table *table = db_table_of(db->events, view->format);
	struct form *form = &db->events->forms[view->format->index];

	if (!table->is_made && db->parts & DB_EVENTS)
		make_table(db, table);
	table->is_made = true;
	table->rows++;
	form->count++;
	if (!db->error && db->parts & DB_EVENTS)
		insert_event(db, table, form, view);
}

void db_events_list(struct db *db)
{
	const struct db_events *events = db->events;
	const struct db_event_table *table;
	const struct tb_format *format;
	sqlite3_stmt *insert;
	unsigned int i;

	insert = db_inserter(db, "event_types");
	for (i = 0; (format = tb_trace_format_at(db->trace, i)) && !db->error;
	     i++) {
		/* the wide form is listed */
		if (!events->forms[i].count && is_compact(events, format))
			continue;
		table = db_table_of(events, format);
		if (table->is_made)
			cell_string(db, DB_AT(insert, 1), table->name);
		cell_string(db, DB_AT(insert, 2), format->system);
		cell_string(db, DB_AT(insert, 3), format->name);
		db_number(insert, 4, events->forms[i].count);
		db_insert(db, insert);
	}
	sqlite3_finalize(insert);
}

void db_events_view(struct db *db)
{
	const struct db_events *events = db->events;
	sqlite3_str *view = sqlite3_str_new(db->sqlite);
	size_t i, parts = 1;
	char *text;

	sqlite3_str_appendall(view, "CREATE VIEW " DB_EVENTS_NAME " AS "
		"SELECT _time, _cpu, _pid, _tid, _comm, 'mark' AS event FROM marks");
	for (i = 0; i < events->nr_tables && parts < UNION_MAX; i++) {
		if (!events->tables[i].is_made)
			continue;
		parts++;
		sqlite3_str_appendf(view,
			" UNION ALL SELECT _time, _cpu, _pid, _tid, _comm, %Q FROM \"%w\"",
			events->tables[i].name, events->tables[i].name);
	}
	text = sqlite3_str_finish(view);
	/* rather no view than one without all events */
	if (!text && !db->error)
		db->error = -ENOMEM;
	else if (text && parts < UNION_MAX)
		db_run(db, text);
	sqlite3_free(text);
}
