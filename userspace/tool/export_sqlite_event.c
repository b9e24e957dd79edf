// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a table for each event in a database.
 *
 * Both forms of an event, full and of one element, share its table, which has the columns of
 * both.  It is made when the first of them comes by.  It is called as the event is, unless
 * another one is called the same: then both have their systems before.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include "export_sqlite.h"

/* What SQLite takes in one SELECT */
#define UNION_MAX 500

struct column {
	char *name;
	const char *type;
};

struct table {
	char *name;
	struct column *columns;
	size_t nr_columns;
	sqlite3_stmt *insert;
};

/**
 * struct form - one format
 * @table: its number, from 1; 0: there is none yet
 * @columns: of each field: the number of its parameter
 * @count: events
 */
struct form {
	size_t table;
	int *columns;
	uint64_t count;
};

struct db_events {
	const struct tb_trace *trace;
	struct table *tables;
	size_t nr_tables, nr_forms;
	struct form forms[];
};

struct db_events *db_events_open(const struct tb_trace *trace)
{
	size_t count = tb_trace_formats(trace);
	struct db_events *events;

	events = calloc(1, sizeof(*events) + count * sizeof(events->forms[0]));
	if (!events)
		return NULL;
	events->trace = trace;
	events->nr_forms = count;
	events->tables = calloc(count + 1, sizeof(*events->tables));
	if (!events->tables) {
		free(events);
		return NULL;
	}
	return events;
}

void db_events_close(struct db_events *events)
{
	struct table *table;
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
	free(events->tables);
	free(events);
}

/* ---- names ---- */

/* A name of a trace that was damaged may be anything; it is freed, and another one returned */
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

/* Tables and views that are there anyway; SQLite keeps the names that begin with its own for
 * itself */
static bool is_taken(const struct db *db, const char *name)
{
	static const char *const views[] = {
		"events", "run_slices", "wakeup_latency", "irq_duration",
		"softirq_duration", "syscall_duration", "user_slices",
	};
	size_t i;

	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (!strcasecmp(name, views[i]))
			return true;
	return !strncasecmp(name, "sqlite_", 7) ||
	       !sqlite3_table_column_metadata(db->sqlite, NULL, name, NULL,
					      NULL, NULL, NULL, NULL, NULL);
}

/* To be freed; NULL: ENOMEM */
static char *table_name(struct db *db, const struct tb_format *format)
{
	const struct tb_format *other;
	bool alone = !is_taken(db, format->name);
	char *name = NULL;
	unsigned int i;

	for (i = 0; alone && (other = tb_trace_format_at(db->trace, i)); i++)
		alone = strcasecmp(other->name, format->name) ||
			is_of(other, format);
	if (asprintf(&name, "%s%s%s", alone ? "" : format->system,
		     alone ? "" : "_", format->name) < 0)
		return NULL;
	return clean_name(name);
}

static bool has_column(const struct table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->nr_columns; i++)
		if (!strcasecmp(table->columns[i].name, name))
			return true;
	return false;
}

/* To be freed; SQLite sees no difference between a and A */
static char *column_name(const struct table *table, const char *field)
{
	unsigned int number = 1;
	char *name = strdup(field);

	if (name)
		name = clean_name(name);
	while (name && has_column(table, name)) {
		free(name);
		if (asprintf(&name, "%s_%u", field, ++number) < 0)
			return NULL;
		name = clean_name(name);
	}
	return name;
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

static bool add_column(struct table *table, char *name, const char *type)
{
	struct column *grown;

	grown = realloc(table->columns,
			(table->nr_columns + 1) * sizeof(*grown));
	if (grown)
		table->columns = grown;
	if (!grown || !name) {
		free(name);
		return false;
	}
	grown[table->nr_columns].name = name;
	grown[table->nr_columns++].type = type;
	return true;
}

static bool add_common(struct table *table)
{
	static const struct column common[] = {
		{ "_time", "INTEGER" }, { "_cpu", "INTEGER" },
		{ "_pid", "INTEGER" }, { "_tid", "INTEGER" },
		{ "_comm", "TEXT" }, { "_context", "INTEGER" },
	};
	size_t i;

	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (!add_column(table, strdup(common[i].name), common[i].type))
			return false;
	return true;
}

/* The columns of one form; of fields that an earlier one has, too, it takes those */
static bool add_form(struct db_events *events, struct table *table,
		     const struct tb_format *format, size_t own)
{
	struct form *form = &events->forms[format->index];
	const struct tb_format_field *field;
	uint32_t i;
	size_t k;

	form->columns = calloc(format->nr_fields + 1, sizeof(*form->columns));
	if (!form->columns)
		return false;
	form->table = (size_t)(table - events->tables) + 1;
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		for (k = DB_COMMON_COLUMNS + 1; k < own; k++)
			if (!strcmp(table->columns[k].name, field->name))
				break;
		if (k >= own) {
			k = table->nr_columns;
			if (!add_column(table, column_name(table, field->name),
					column_type(field)))
				return false;
		}
		form->columns[i] = (int)k + 1;
	}
	return true;
}

static bool describe_table(struct db *db, struct table *table,
			   const struct tb_format *format)
{
	const struct tb_format *other;
	unsigned int i;

	table->name = table_name(db, format);
	if (!table->name || !add_common(table))
		return false;
	for (i = 0; (other = tb_trace_format_at(db->trace, i)); i++)
		if (is_of(other, format) &&
		    !add_form(db->events, table, other, table->nr_columns))
			return false;
	return true;
}

static void create_table(struct db *db, struct table *table)
{
	sqlite3_str *create = sqlite3_str_new(db->sqlite);
	sqlite3_str *insert = sqlite3_str_new(db->sqlite);
	char *create_text, *insert_text;
	size_t i;

	sqlite3_str_appendf(create, "CREATE TABLE \"%w\" (", table->name);
	sqlite3_str_appendf(insert, "INSERT INTO \"%w\" VALUES (", table->name);
	for (i = 0; i < table->nr_columns; i++) {
		sqlite3_str_appendf(create, "%s\"%w\" %s", i ? ", " : "",
				    table->columns[i].name,
				    table->columns[i].type);
		sqlite3_str_appendall(insert, i ? ",?" : "?");
	}
	sqlite3_str_appendall(create, ")");
	sqlite3_str_appendall(insert, ")");
	create_text = sqlite3_str_finish(create);
	insert_text = sqlite3_str_finish(insert);
	if (create_text && insert_text) {
		db_run(db, create_text);
		table->insert = db_prepare(db, insert_text);
	} else {
		db->error = -ENOMEM;
	}
	sqlite3_free(create_text);
	sqlite3_free(insert_text);
}

/* The table of a form, which is made for the first; NULL: it failed */
static struct table *table_of(struct db *db, const struct tb_format *format)
{
	struct db_events *events = db->events;
	struct form *form = &events->forms[format->index];
	struct table *table;

	if (form->table)
		return &events->tables[form->table - 1];
	table = &events->tables[events->nr_tables++];
	if (!describe_table(db, table, format)) {
		db->error = -ENOMEM;
		return NULL;
	}
	create_table(db, table);
	return db->error ? NULL : table;
}

/* ---- events ---- */

const char *db_event(struct db *db, const struct tb_view *view)
{
	const struct tb_format *format = view->format;
	struct table *table = table_of(db, format);
	struct form *form = &db->events->forms[format->index];
	struct value value;
	uint32_t i;

	if (!table)
		return NULL;
	db_common(db, table->insert, view);
	db_number(table->insert, DB_COMMON_COLUMNS + 1, view->context);
	for (i = 0; i < format->nr_fields; i++) {
		value_of(db->trace, view, &format->fields[i], &value);
		db_value(db, table->insert, form->columns[i], &value);
	}
	db_insert(db, table->insert);
	form->count++;
	return table->name;
}

static void list_types(struct db *db)
{
	const struct db_events *events = db->events;
	const struct tb_format *format;
	const struct form *form;
	sqlite3_stmt *insert;
	unsigned int i;

	insert = db_prepare(db, "INSERT INTO event_types VALUES (?,?,?,?,?)");
	for (i = 0; (format = tb_trace_format_at(db->trace, i)) && !db->error;
	     i++) {
		form = &events->forms[i];
		if (form->table)
			db_string(db, insert, 1,
				  events->tables[form->table - 1].name);
		db_string(db, insert, 2, format->system);
		db_string(db, insert, 3, format->name);
		db_number(insert, 4, format->flags & TB_EVENT_FAST ? 1 : 0);
		db_number(insert, 5, form->count);
		db_insert(db, insert);
	}
	sqlite3_finalize(insert);
}

void db_events_list(struct db *db)
{
	const struct db_events *events = db->events;
	sqlite3_str *view = sqlite3_str_new(db->sqlite);
	char *text;
	size_t i;

	list_types(db);
	sqlite3_str_appendall(view, "CREATE VIEW events AS "
		"SELECT _time, _cpu, _pid, _tid, _comm, 'mark' AS event FROM marks");
	for (i = 0; i < events->nr_tables && i < UNION_MAX - 1; i++)
		sqlite3_str_appendf(view,
			" UNION ALL SELECT _time, _cpu, _pid, _tid, _comm, %Q FROM \"%w\"",
			events->tables[i].name, events->tables[i].name);
	text = sqlite3_str_finish(view);
	/* half of them would not be what it is called */
	if (text && events->nr_tables < UNION_MAX - 1)
		db_run(db, text);
	sqlite3_free(text);
}
