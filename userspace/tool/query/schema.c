// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - the tables, how they are filled, and the events that they are made of.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include "query.h"
#include "analysis/why.h"
#include "tool/command/command.h"

/* Parts that need a walk through all events */
#define DB_WALKED (DB_THREADS | DB_TYPES | DB_LOSSES | DB_MARKS | DB_OTHER | \
		   DB_EXTRAS | DB_USER)

/* ---- the events that tables are made of ---- */

/* A table needs each word, and of words between bars only one */
static const struct {
	const char *name, *events;
} made_of[] = {
	{ "run_slices", "sched_switch" },
	{ "off_cpu", "sched_switch" },
	{ "thread_states", "sched_switch" },
	{ "wakeups", "sched_switch sched_waking|sched_wakeup" },
	{ "wakeup_latency", "sched_switch sched_waking|sched_wakeup" },
	{ "irq_duration", "irq_handler_entry|local_timer_entry"
			  " irq_handler_exit|local_timer_exit" },
	{ "softirq_duration", "softirq_entry softirq_exit" },
	{ "syscall_duration", "sys_enter sys_exit" },
	{ "block_io", "block_rq_issue block_rq_complete" },
	{ DB_WHY_NAME, "sched_switch sched_waking|sched_wakeup" },
};

/* True if the event is selected at any time of the recording, or if that is not known */
static bool is_recorded(const struct query *query, const struct tb_format *format)
{
	unsigned int change;
	uint64_t ticks;

	for (change = 0; !tb_trace_selection(query->trace, change, &ticks); change++)
		if (tb_trace_selects(query->trace, change, format->id))
			return true;
	return !change;
}

static bool has_event(const struct query *query, const char *name, size_t length)
{
	const unsigned char *wanted = query->selection->wanted;
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(query->trace, i)); i++)
		if (strlen(format->name) == length && !memcmp(format->name, name, length) &&
		    (!wanted || wanted[i]) && is_recorded(query, format))
			return true;
	return false;
}

/* True if the trace has one event of "a|b|c" */
static bool has_one(const struct query *query, const char *names, size_t length)
{
	const char *end = names + length;
	size_t one;

	for (; names < end; names += one + 1) {
		one = strcspn(names, "| ");
		if (has_event(query, names, one))
			return true;
	}
	return false;
}

static void add_lacking_events(struct query *query, const char *events, char *text,
			       size_t size)
{
	size_t length, used = strlen(text);

	for (; *events; events += length + (events[length] == ' ')) {
		length = strcspn(events, " ");
		if (has_one(query, events, length) || used >= size)
			continue;
		/* name the first, which is the usual one */
		used += (size_t)snprintf(text + used, size - used, "%s%.*s",
					 used ? ", " : "",
					 (int)strcspn(events, "| "), events);
	}
}

const char *query_lacking(const struct query *query)
{
	return query->selection->wanted ? "among the chosen events (-e)" : "recorded";
}

bool query_lacks(struct query *query, const char *table, char *text, size_t size)
{
	size_t i;

	text[0] = 0;
	for (i = 0; i < sizeof(made_of) / sizeof(made_of[0]); i++)
		if (!strcmp(table, made_of[i].name))
			add_lacking_events(query, made_of[i].events, text, size);
	return text[0];
}

/* ---- filling ---- */

void query_passed(struct query *query, const struct tb_cursor *cursor)
{
	struct tb_passed passed;

	tb_cursor_passed(cursor, &passed);
	query->figures.blocks += passed.blocks;
	query->figures.events += passed.events;
	if (!query->damaged && tb_cursor_fault(cursor)) {
		query->damage = *tb_cursor_fault(cursor);
		query->damaged = true;
	}
	if (tb_cursor_uncommitted(cursor) > query->uncommitted)
		query->uncommitted = tb_cursor_uncommitted(cursor);
}

static int walk_events(struct query *query, struct tb_cursor *cursor)
{
	struct db *db = query->db;
	struct tb_view view;
	int result = 0;

	while (!db->error && (result = next_event(cursor, &view)) > 0) {
		if (query_stopped)
			return -EINTR;
		if (selection_over(query->selection, &view))
			break;
		if (is_control(&view) || !selection_wants(query->selection, &view))
			continue;
		db_take(db, &view);
		if (view.user && db->parts & DB_USER && query_note_record(query, &view))
			return -ENOMEM;
	}
	return db->error ? db->error : result < 0 ? result : 0;
}

static int walk(struct query *query)
{
	struct db *db = query->db;
	unsigned int parts = db->parts;
	struct tb_choice choice = { 0 };
	struct tb_cursor *cursor;
	unsigned char *formats;
	int result;

	formats = calloc(tb_trace_formats(query->trace) + 1, 1);
	result = formats ? tb_cursor_open(query->trace, &cursor) : -ENOMEM;
	if (result) {
		free(formats);
		return result;
	}
	if (!(parts & (DB_TYPES | DB_EXTRAS)))
		choice.formats = formats;
	if (!(parts & (DB_LOSSES | DB_USER)))
		choice.flags |= TB_CHOICE_NO_USER;
	if (!(parts & (DB_THREADS | DB_MARKS | DB_OTHER | DB_USER)) &&
	    !selection_of_threads(query->selection))
		choice.flags |= TB_CHOICE_NO_TASKS;
	result = tb_cursor_choose(cursor, &choice);
	free(formats);
	db->cursor = cursor;
	if (!result)
		result = walk_events(query, cursor);
	if (!result && parts & DB_THREADS)
		db_write_threads(db);
	if (!result && parts & DB_TYPES)
		db_events_list(db);
	query_passed(query, cursor);
	tb_cursor_close(cursor);
	return result ? result : db->error;
}

int query_fill(struct query *query)
{
	struct db *db = query->db;
	unsigned int parts = query->needed & ~query->filled;
	int result = 0;

	/* counting events for "event_types" also numbers their rows for "extras" */
	if (parts & (DB_TYPES | DB_EXTRAS))
		parts |= DB_TYPES | DB_EXTRAS;
	parts &= DB_KNOWN | DB_WALKED;
	if (!parts)
		return 0;
	query->own = true;
	db->parts = parts;
	db_run(db, "SAVEPOINT filling");
	db_begin(db);
	if (parts & DB_WALKED)
		result = walk(query);
	db_end(db);
	db_run(db, "RELEASE filling");
	query->own = false;
	query->filled |= parts;
	return result ? result : db->error;
}

/* ---- permissions of statements ---- */

static unsigned int part_of(const char *name)
{
	const struct db_table *table;

	for (table = db_tables; table->name; table++)
		if (!strcasecmp(name, table->name))
			return table->part;
	return !strcasecmp(name, DB_USER_SLICES_NAME) ? DB_USER : 0;
}

/* Note the parts that a statement reads.  It may change only temporary tables */
static int authorize(void *context, int action, const char *first,
		     const char *second, const char *database, const char *inner)
{
	struct query *query = context;

	(void)second;
	(void)inner;
	if (query->own)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_READ:
		query->needed |= part_of(first);
		return SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
	case SQLITE_PRAGMA:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_VIEW:
		return SQLITE_OK;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX:
		return database && !strcmp(database, "temp") ? SQLITE_OK :
							       SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* ---- opening ---- */

struct query_table *query_add_table(struct query *query, const char *name, char *columns,
				    size_t count, enum query_kind kind,
				    const struct db_event_table *event)
{
	struct query_table *table = &query->tables[query->nr_tables++];
	const struct tb_format *format;
	unsigned int i;

	table->query = query;
	table->name = name;
	table->columns = columns ? sqlite3_mprintf("%s" QUERY_HIDDEN, columns) : NULL;
	table->kind = kind;
	table->cpu = table->choose = -1;
	table->cgroup = (int)count;
	table->asked = QUERY_NO_KEY;
	table->formats = calloc(tb_trace_formats(query->trace) + 1, 1);
	sqlite3_free(columns);
	if (!table->columns || !table->formats)
		return NULL;
	for (i = 0; (format = tb_trace_format_at(query->trace, i)); i++)
		table->formats[i] = !event ||
				    db_table_of(query->db->events, format) == event;
	return query_table_register(table) ? NULL : table;
}

static int add_tables(struct query *query)
{
	const struct db_event_table *event;
	struct query_table *table;
	size_t i;

	query->tables = calloc(tb_trace_formats(query->trace) + query_nr_intervals() + 2,
			       sizeof(*query->tables));
	if (!query->tables || query_add_intervals(query) || query_add_user_slices(query))
		return -ENOMEM;
	table = query_add_table(query, DB_EVENTS_NAME, sqlite3_mprintf("%s", DB_EVENTS_COLUMNS),
				DB_COMMON_COLUMNS + 1, QUERY_EVENTS, NULL);
	if (!table)
		return -ENOMEM;
	table->cpu = DB_CPU;
	table->choose = DB_COMMON_COLUMNS;
	for (i = 0; (event = db_event_table(query->db->events, i)); i++) {
		table = query_add_table(query, event->name, db_event_columns(event),
					event->nr_columns, QUERY_EVENT, event);
		if (!table)
			return -ENOMEM;
		table->cpu = DB_CPU;
	}
	return query_why_register(query);
}

int query_open(struct query *query, struct tb_trace *trace, const char *file,
	       struct selection *selection)
{
	struct db *db = db_open(trace, selection->base);
	int result;

	memset(query, 0, sizeof(*query));
	query->trace = trace;
	query->file = file;
	query->db = db;
	query->selection = selection;
	query->selects = selection_asks(selection);
	query->from_ns = selection->from.given ?
			 tb_trace_ns(trace, selection->from_ticks, selection->base) : 0;
	query->to_ns = selection->to.given ?
		       tb_trace_ns(trace, selection->to_ticks, selection->base) : UINT64_MAX;
	query->rises = clock_rises(trace, selection->base);
	query->last_ns = UINT64_MAX;
	/* a guess: two elements for each event */
	query->events = tb_trace_size(trace) / (2 * TB_ELEMENT_SIZE);
	if (!db)
		return -ENOMEM;
	db->from_ns = query->from_ns;
	db->to_ns = selection->to.given ? query->to_ns : 0;
	if (sqlite3_open("", &db->sqlite)) {
		db_failed(db);
		return db->error;
	}
	db_run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		   "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536");
	db_create_tables(db, DB_KNOWN | DB_WALKED);
	db_create_views(db, false);
	result = db->error ? db->error : add_tables(query);
	sqlite3_set_authorizer(db->sqlite, authorize, query);
	return result;
}

void query_close(struct query *query)
{
	size_t i;

	if (query->db)
		db_close(query->db);
	for (i = 0; i < query->nr_tables; i++) {
		query_stores_free(&query->tables[i]);
		sqlite3_free(query->tables[i].columns);
		free(query->tables[i].formats);
	}
	free(query->tables);
	free(query->record_cgroups);
	spans_free(&query->missing);
	why_close(query->why);
	sqlite3_close(query->store);
}

/* ---- showing ---- */

/* The hidden columns of a table, "" if it has none */
static const char *hidden_columns(const struct query *query, const char *name)
{
	size_t i;

	for (i = 0; i < query->nr_tables; i++)
		if (!strcasecmp(query->tables[i].name, name))
			return query->tables[i].kinds & 1u << SLICE_SYSCALL ?
			       ", " DB_CGROUP_NAME ", " DB_CONTAINER_NAME ", " DB_OBJECT_NAME :
			       ", " DB_CGROUP_NAME ", " DB_CONTAINER_NAME;
	return strcasecmp(name, DB_WHY_NAME) ? "" : ", " DB_CGROUP_NAME ", " DB_CONTAINER_NAME;
}

int query_select_all(struct query *query, const char *name, sqlite3_stmt **statement)
{
	char *sql = sqlite3_mprintf("SELECT *%s FROM \"%w\"", hidden_columns(query, name), name);
	int result;

	*statement = NULL;
	result = sql ? sqlite3_prepare_v2(query->db->sqlite, sql, -1, statement, NULL) :
		       SQLITE_NOMEM;
	sqlite3_free(sql);
	return result;
}

static void each_column(struct query *query, const char *table,
			void (*each)(void *context, const char *name),
			void *context)
{
	sqlite3_stmt *statement;
	int i;

	query_select_all(query, table, &statement);
	for (i = 0; i < sqlite3_column_count(statement); i++)
		each(context, sqlite3_column_name(statement, i));
	sqlite3_finalize(statement);
}

void query_each_name(struct query *query, const char *of,
		     void (*each)(void *context, const char *name),
		     void *context)
{
	const struct db_excerpt *excerpt;
	const struct db_table *table;
	const struct db_view *view;
	size_t i;

	if (of) {
		each_column(query, of, each, context);
		return;
	}
	for (table = db_tables; table->name; table++)
		if (!(table->part & DB_SLICES))
			each(context, table->name);
	for (view = db_views; view->name; view++)
		each(context, view->name);
	for (excerpt = db_excerpts; excerpt->name; excerpt++)
		each(context, excerpt->name);
	for (i = 0; i < query->nr_tables; i++)
		if (!query->tables[i].is_view)
			each(context, query->tables[i].name);
	each(context, DB_WHY_NAME);
}

struct shown {
	struct query *query;
	const char *name;
	bool found;
};

static void show_table(void *context, const char *name)
{
	struct shown *shown = context;
	sqlite3_stmt *statement;
	const char *type;
	int i;

	if (shown->name && strcasecmp(shown->name, name))
		return;
	shown->found = true;
	printf("%s (", name);
	query_select_all(shown->query, name, &statement);
	for (i = 0; i < sqlite3_column_count(statement); i++) {
		type = sqlite3_column_decltype(statement, i);
		printf("%s%s%s%s", i ? ", " : "", sqlite3_column_name(statement, i),
		       type ? " " : "", type ? type : "");
	}
	puts(")");
	sqlite3_finalize(statement);
}

bool query_schema(struct query *query, const char *name)
{
	struct shown shown = { .query = query, .name = name };

	query_each_name(query, NULL, show_table, &shown);
	return shown.found;
}
