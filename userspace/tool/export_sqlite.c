// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a SQLite database, for questions.
 *
 * Everything is in one transaction without a journal: the file gets its name when it is
 * complete, so there is nothing to roll back to.
 */
#include <errno.h>
#include <stdlib.h>
#include "export_sqlite.h"
#include "slices.h"

/* Numbers whose names are looked up: system calls, softirqs, interrupts */
#define NAMES_MAX 4096u

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

void db_insert(struct db *db, sqlite3_stmt *statement)
{
	if (!db->error && sqlite3_step(statement) != SQLITE_DONE)
		db_failed(db);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

/* ---- values ---- */

void db_text(struct db *db, sqlite3_stmt *statement, int at, const char *text,
	     size_t length)
{
	size_t i;

	if (!text)
		return;
	if (length > DB_TEXT_MAX)
		length = DB_TEXT_MAX;
	for (i = 0; i < length; i++)
		if (text[i] <= 0)
			break;
	if (i == length) {
		sqlite3_bind_text(statement, at, text, (int)length,
				  SQLITE_STATIC);
		return;
	}
	length = utf8_clean(db->clean, text, length);
	sqlite3_bind_text(statement, at, db->clean, (int)length,
			  SQLITE_TRANSIENT);
}

void db_string(struct db *db, sqlite3_stmt *statement, int at, const char *text)
{
	if (text)
		db_text(db, statement, at, text, strlen(text));
}

void db_json(struct db *db, sqlite3_stmt *statement, int at)
{
	struct out *json = &db->json;

	/* nearly always all of it is in the buffer */
	if (!ftell(json->file)) {
		sqlite3_bind_text(statement, at, json->buffer, (int)json->used,
				  SQLITE_TRANSIENT);
		json->used = 0;
		return;
	}
	if (out_write(json) || fflush(json->file)) {
		db->error = -ENOMEM;
		return;
	}
	sqlite3_bind_text(statement, at, db->written, (int)ftell(json->file),
			  SQLITE_TRANSIENT);
	rewind(json->file);
}

void db_value(struct db *db, sqlite3_stmt *statement, int at,
	      const struct value *value)
{
	switch (value->kind) {
	case VALUE_NONE:
		break;
	case VALUE_SIGNED:
	case VALUE_UNSIGNED:
	case VALUE_HEX:
		db_number(statement, at, value->number);
		break;
	case VALUE_DOUBLE:
		sqlite3_bind_double(statement, at, value->real);
		break;
	case VALUE_TEXT:
		if (value->data == value->state)
			sqlite3_bind_text(statement, at, value->state,
					  (int)value->length, SQLITE_TRANSIENT);
		else
			db_text(db, statement, at, value->data, value->length);
		break;
	case VALUE_BYTES:
		sqlite3_bind_blob64(statement, at, value->data, value->length,
				    SQLITE_STATIC);
		break;
	case VALUE_MASK:
		out_mask(&db->json, value->data, value->length);
		db_json(db, statement, at);
		break;
	case VALUE_ARRAY:
		value_json(&db->json, value);
		db_json(db, statement, at);
		break;
	}
}

uint64_t db_ns(const struct db *db, uint64_t ticks, uint64_t ns)
{
	return db->base == TB_TIME_MONOTONIC ? ns :
	       tb_trace_ns(db->trace, ticks, db->base);
}

void db_common(struct db *db, sqlite3_stmt *statement, const struct tb_view *view)
{
	db_number(statement, 1, db_ns(db, view->ticks, view->ns));
	if (view->cpu != TB_RING_DURABLE && view->cpu != TB_RING_USER)
		db_number(statement, 2, view->cpu);
	db_number(statement, 3, process_of(view));
	db_number(statement, 4, view->tid);
	db_string(db, statement, 5, view->comm);
}

/* ---- slices ---- */

static const struct tb_task *bind_task(struct db *db, sqlite3_stmt *statement,
				       int at, uint32_t tid)
{
	const struct tb_task *task = tb_cursor_task(db->cursor, tid);

	db_number(statement, at, task && task->tgid ? task->tgid : tid);
	db_number(statement, at + 1, tid);
	db_string(db, statement, at + 2, tid ? task && task->comm[0] ?
		  task->comm : NULL : "<idle>");
	return task;
}

static void insert_wakeup(struct db *db, const struct slice *slice)
{
	const struct tb_task *waker;
	sqlite3_stmt *wakeup = db->wakeup;

	db_number(wakeup, 1, slice->begin);
	db_number(wakeup, 2, slice->end - slice->begin);
	db_number(wakeup, 3, slice->cpu);
	bind_task(db, wakeup, 4, slice->tid);
	db_number(wakeup, 7, (uint64_t)slice->number);
	waker = tb_cursor_task(db->cursor, (uint32_t)slice->number);
	db_string(db, wakeup, 8, !slice->number ? "<idle>" :
		  waker && waker->comm[0] ? waker->comm : NULL);
	db_insert(db, wakeup);
}

static void take_slice(void *context, const struct slice *slice)
{
	static const char *const kinds[] = { "run", "irq", "softirq", "syscall" };
	static const uint32_t names[] = {
		[SLICE_SOFTIRQ] = TB_STRING_SOFTIRQ,
		[SLICE_SYSCALL] = TB_STRING_SYSCALL,
	};
	struct db *db = context;
	sqlite3_stmt *insert = db->slice;
	char state[24];

	if (slice->kind == SLICE_WAKEUP) {
		insert_wakeup(db, slice);
		return;
	}
	db_string(db, insert, 1, kinds[slice->kind]);
	db_number(insert, 2, slice->begin);
	db_number(insert, 3, slice->end - slice->begin);
	db_number(insert, 4, slice->cpu);
	bind_task(db, insert, 5, slice->tid);
	if (slice->kind != SLICE_RUN)
		db_number(insert, 8, (uint64_t)slice->number);
	if (slice->name)
		db_text(db, insert, 9, slice->name, slice->name_length);
	else if (slice->kind >= SLICE_SOFTIRQ && slice->number >= 0 &&
		 slice->number <= UINT32_MAX)
		db_string(db, insert, 9,
			  tb_trace_string(db->trace, names[slice->kind],
					  (uint32_t)slice->number));
	if (slice->has_result && slice->kind != SLICE_RUN)
		db_number(insert, 10, (uint64_t)slice->result);
	else if (slice->has_result && slice->doubt == SLICE_WHOLE)
		db_string(db, insert, 11, tb_task_state((uint64_t)slice->result,
							state, sizeof(state)));
	if (slice->has_prio)
		db_number(insert, 12, (uint64_t)slice->prio);
	if (slice->has_waited)
		db_number(insert, 13, slice->waited);
	db_number(insert, 14, slice->doubt == SLICE_WHOLE);
	db_insert(db, insert);
}

/* ---- what is known of the recording ---- */

static void insert_text(struct db *db, sqlite3_stmt *insert, const char *name,
			const char *text, size_t size)
{
	db_string(db, insert, 1, name);
	db_text(db, insert, 2, text, strnlen(text, size));
	db_insert(db, insert);
}

static void insert_string(struct db *db, sqlite3_stmt *insert, const char *name,
			  const char *text)
{
	insert_text(db, insert, name, text, strlen(text));
}

static void insert_number(struct db *db, sqlite3_stmt *insert, const char *name,
			  uint64_t number)
{
	db_string(db, insert, 1, name);
	db_number(insert, 2, number);
	db_insert(db, insert);
}

static void write_recording(struct db *db)
{
	static const char *const bases[] = { "monotonic", "boottime", "realtime" };
	const struct tb_init *init = tb_trace_init(db->trace);
	sqlite3_stmt *insert;

	insert = db_prepare(db, "INSERT INTO recording VALUES (?,?)");
	insert_string(db, insert, "tracebuf", tb_version());
	insert_string(db, insert, "times", bases[db->base]);
	insert_number(db, insert, "cpus", tb_trace_nr_cpus(db->trace));
	if (init) {
		insert_text(db, insert, "provider", init->provider,
			    sizeof(init->provider));
		insert_text(db, insert, "release", init->release,
			    sizeof(init->release));
		insert_text(db, insert, "version", init->version,
			    sizeof(init->version));
		insert_text(db, insert, "machine", init->machine,
			    sizeof(init->machine));
		insert_text(db, insert, "nodename", init->nodename,
			    sizeof(init->nodename));
		insert_string(db, insert, "clock", tb_clock_name(init->clock));
		insert_string(db, insert, "mode", tb_mode_name(init->mode));
		insert_string(db, insert, "policy", tb_policy_name(init->policy));
		insert_number(db, insert, "frequency", init->frequency);
		insert_number(db, insert, "generation", init->generation);
	}
	sqlite3_finalize(insert);
}

static void write_clock(struct db *db)
{
	const struct tb_clock_sync *syncs;
	sqlite3_stmt *insert;
	size_t count = 0, i;

	insert = db_prepare(db, "INSERT INTO clock VALUES (?,?,?,?,?)");
	syncs = tb_trace_syncs(db->trace, &count);
	for (i = 0; syncs && i < count; i++) {
		db_number(insert, 1, syncs[i].clock);
		db_number(insert, 2, syncs[i].monotonic);
		db_number(insert, 3, syncs[i].boottime);
		db_number(insert, 4, syncs[i].realtime);
		db_number(insert, 5, syncs[i].uncertainty);
		db_insert(db, insert);
	}
	sqlite3_finalize(insert);
}

static void write_books(struct db *db)
{
	const struct tb_totals *totals;
	sqlite3_stmt *insert;
	unsigned int cpu;

	insert = db_prepare(db, "INSERT INTO books VALUES (?,?,?,?,?,?)");
	for (cpu = 0; cpu < tb_trace_nr_cpus(db->trace); cpu++) {
		totals = tb_trace_totals(db->trace, cpu);
		if (!totals)
			continue;
		db_number(insert, 1, cpu);
		db_number(insert, 2, totals->attempted);
		db_number(insert, 3, totals->recorded);
		db_number(insert, 4, totals->overwritten);
		db_number(insert, 5, totals->dropped);
		db_number(insert, 6, totals->oversize);
		db_insert(db, insert);
	}
	sqlite3_finalize(insert);
}

static void write_names(struct db *db)
{
	static const struct { uint32_t kind; const char *name; } kinds[] = {
		{ TB_STRING_SYSCALL, "syscall" },
		{ TB_STRING_SOFTIRQ, "softirq" },
		{ TB_STRING_IRQ, "irq" },
	};
	sqlite3_stmt *insert;
	const char *name;
	uint32_t number;
	size_t i;

	insert = db_prepare(db, "INSERT INTO names VALUES (?,?,?)");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (number = 0; number < NAMES_MAX; number++) {
			name = tb_trace_string(db->trace, kinds[i].kind, number);
			if (!name)
				continue;
			db_string(db, insert, 1, kinds[i].name);
			db_number(insert, 2, number);
			db_string(db, insert, 3, name);
			db_insert(db, insert);
		}
	}
	sqlite3_finalize(insert);
}

struct threads {
	struct db *db;
	sqlite3_stmt *insert;
};

static int write_thread(const struct tb_task *task, void *context)
{
	struct threads *threads = context;
	sqlite3_stmt *insert = threads->insert;

	db_number(insert, 1, task->tid);
	if (task->tgid)
		db_number(insert, 2, task->tgid);
	if (task->flags & TB_TASK_LISTED) {
		db_number(insert, 3, task->parent);
		db_number(insert, 4, task->uid);
		db_number(insert, 5, task->prio);
		db_number(insert, 6, task->flags & TB_THREAD_KERNEL ? 1 : 0);
	}
	if (task->comm[0])
		db_string(threads->db, insert, 7, task->comm);
	db_insert(threads->db, insert);
	return threads->db->error;
}

/* As they are known at the end */
static void write_threads(struct db *db)
{
	struct threads threads = {
		.db = db,
		.insert = db_prepare(db, "INSERT INTO threads VALUES (?,?,?,?,?,?,?)"),
	};

	if (threads.insert)
		tb_cursor_each_task(db->cursor, write_thread, &threads);
	sqlite3_finalize(threads.insert);
}

/* ---- events ---- */

static void insert_loss(struct db *db, const struct tb_view *view)
{
	const struct tb_gap *lost = &view->lost;
	sqlite3_stmt *loss = db->loss;

	db_number(loss, 1, db_ns(db, view->ticks, view->ns));
	db_number(loss, 2, view->cpu);
	db_number(loss, 4, lost->overwritten + lost->dropped);
	db_number(loss, 5, lost->overwritten);
	db_number(loss, 6, lost->dropped);
	db_number(loss, 7, lost->oversize);
	db_number(loss, 10, tb_trace_ns(db->trace, lost->first, db->base));
	db_number(loss, 11, tb_trace_ns(db->trace, lost->last, db->base));
	db_insert(db, loss);
}

/* Stacks and counters of the event that was inserted last */
static void insert_extras(struct db *db, const struct tb_view *view,
			  const char *table)
{
	if (!table || !(view->nr_stack || view->nr_user_stack ||
			view->counter_mask))
		return;
	db_string(db, db->extra, 1, table);
	db_number(db->extra, 2, (uint64_t)sqlite3_last_insert_rowid(db->sqlite));
	if (view->nr_stack) {
		json_stack_write(db->trace, &db->json, view);
		db_json(db, db->extra, 3);
	}
	if (view->nr_user_stack) {
		json_user_stack_write(&db->json, view);
		db_json(db, db->extra, 4);
	}
	if (view->counter_mask) {
		json_counters_write(db->trace, &db->json, view);
		db_json(db, db->extra, 5);
	}
	db_insert(db, db->extra);
}

static const char *insert_other(struct db *db, const struct tb_view *view)
{
	if (view->id == TB_EV_MARK) {
		db_common(db, db->mark, view);
		db_text(db, db->mark, DB_COMMON_COLUMNS + 1, view->payload,
			view->length);
		db_insert(db, db->mark);
		return "marks";
	}
	db_common(db, db->other, view);
	db_number(db->other, DB_COMMON_COLUMNS + 1, view->id);
	sqlite3_bind_blob64(db->other, DB_COMMON_COLUMNS + 2, view->payload,
			    view->length, SQLITE_STATIC);
	db_insert(db, db->other);
	return "other_events";
}

static int take(struct db *db, struct slices *slices, const struct tb_view *view)
{
	uint64_t lost_ns = 0;
	int result;

	if (view->user) {
		db_user(db, view);
		return db->error;
	}
	if (view->kind == TB_VIEW_LOST)
		lost_ns = tb_trace_ns(db->trace, view->lost.first, db->base);
	result = slices_take(slices, view, db_ns(db, view->ticks, view->ns),
			     lost_ns);
	if (result < 0)
		return result;
	if (view->kind == TB_VIEW_LOST)
		insert_loss(db, view);
	else
		insert_extras(db, view, view->format ? db_event(db, view) :
						       insert_other(db, view));
	return db->error;
}

/* ---- the whole ---- */

static void prepare(struct db *db)
{
	db_run(db, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
		   "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
		   "PRAGMA cache_size = -65536; BEGIN");
	db_run(db, db_tables);
	db->loss = db_prepare(db, "INSERT INTO losses VALUES (?,?,?,?,?,?,?,?,?,?,?)");
	db->slice = db_prepare(db, "INSERT INTO slices VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	db->wakeup = db_prepare(db, "INSERT INTO wakeups VALUES (?,?,?,?,?,?,?,?)");
	db->mark = db_prepare(db, "INSERT INTO marks VALUES (?,?,?,?,?,?)");
	db->other = db_prepare(db, "INSERT INTO other_events VALUES (?,?,?,?,?,?,?)");
	db->extra = db_prepare(db, "INSERT INTO extras VALUES (?,?,?,?,?)");
	db->user = db_prepare(db, "INSERT INTO user_events VALUES "
				  "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	write_recording(db);
	write_clock(db);
	write_books(db);
	write_names(db);
}

static void finish(struct db *db)
{
	write_threads(db);
	db_run(db, db_views);
	db_events_list(db);
	db_run(db, "COMMIT");
}

static int run(struct db *db, const struct tb_export_options *options)
{
	struct tb_cursor *cursor;
	struct slices *slices;
	struct tb_view view;
	int result;

	result = tb_cursor_open(db->trace, &cursor);
	if (result)
		return result;
	db->cursor = cursor;
	slices = slices_open(db->trace, take_slice, db);
	if (slices) {
		prepare(db);
		while (!db->error &&
		       (result = tb_export_next(options, cursor, &view)) > 0) {
			result = take(db, slices, &view);
			if (result)
				break;
		}
		if (!result && !db->error) {
			slices_finish(slices);
			finish(db);
		}
	} else {
		result = -ENOMEM;
	}
	slices_close(slices);
	tb_cursor_close(cursor);
	return db->error ? db->error : result;
}

static int open_and_run(struct db *db, const struct tb_export_options *options)
{
	sqlite3_stmt *const *statements[] = {
		&db->loss, &db->slice, &db->wakeup, &db->mark, &db->other,
		&db->extra, &db->user,
	};
	int result;
	size_t i;

	if (sqlite3_open_v2(options->path, &db->sqlite, SQLITE_OPEN_READWRITE |
			    SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) {
		db_failed(db);
		result = db->error;
	} else {
		result = run(db, options);
	}
	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		sqlite3_finalize(*statements[i]);
	db_events_close(db->events);
	db->events = NULL;
	if (sqlite3_close(db->sqlite) && !result) {
		db_failed(db);
		result = db->error;
	}
	return result;
}

int tb_export_sqlite(struct tb_trace *trace, FILE *out,
		     const struct tb_export_options *options)
{
	struct db *db = calloc(1, sizeof(*db));
	int result = -ENOMEM;

	(void)out;
	if (!db)
		return result;
	db->trace = trace;
	db->base = options->base;
	db->events = db_events_open(trace);
	db->fields = json_fields_open(trace, options->base);
	db->json.file = open_memstream(&db->written, &db->written_size);
	if (db->events && db->fields && db->json.file)
		result = open_and_run(db, options);
	if (db->message[0])
		snprintf(options->error, options->error_size, "%s", db->message);
	db_events_close(db->events);
	json_fields_close(db->fields);
	if (db->json.file)
		fclose(db->json.file);
	free(db->written);
	free(db);
	return result;
}
