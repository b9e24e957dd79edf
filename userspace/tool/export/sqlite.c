// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a SQLite database, for queries.
 *
 * All writes are one transaction without a journal: the file gets its name when it is complete, so
 * no transaction is ever rolled back.
 */
#include <errno.h>
#include <stdlib.h>
#include "export.h"
#include "tool/show/selection.h"
#include "tool/tables/tables.h"
#include "analysis/spans.h"

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
	db_create_views(db, true);
	db_events_list(db);
	db_events_view(db);
	db_run(db, "COMMIT");
}

/* What the slices and requests of an export are written to */
struct target {
	struct db *db;
	const struct tb_export_options *options;
};

static void take_slice(void *context, const struct slice *slice)
{
	struct target *target = context;

	/* calls that began before the trace have no row */
	if (slice->kind == SLICE_SYSCALL && slice->doubt == SLICE_UNBEGUN)
		return;
	if (selection_wants_slice(target->options->selection, target->db->cursor, slice->cpu,
				  slice->tid))
		db_slice(target->db, slice);
}

static void take_request(void *context, const struct request *request)
{
	struct target *target = context;

	if (selection_wants_cpu(target->options->selection, request->cpu) &&
	    selection_wants_task(target->options->selection, &request->task))
		db_request(target->db, request);
}

static int take(struct db *db, const struct tb_export_options *options, struct slices *slices,
		struct requests *requests, const struct tb_view *view)
{
	uint64_t ns = db_ns(db, view->ticks, view->ns);
	int result;

	if (!view->user) {
		result = slices_take(slices, view, ns);
		if (result >= 0)
			result = requests_take(requests, view, ns);
		if (result < 0)
			return result;
	}
	return *options->selected ? db_take(db, view) : 0;
}

static int walk(struct db *db, const struct tb_export_options *options,
		struct tb_cursor *cursor, struct slices *slices,
		struct requests *requests)
{
	struct tb_view view;
	int result = 0;

	while (!db->error &&
	       (result = tb_export_next(options, cursor, &view)) > 0) {
		result = take(db, options, slices, requests, &view);
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
	struct target target = { db, options };
	struct tb_cursor *cursor;
	struct requests *requests;
	struct spans missing = { 0 };
	struct slices *slices;
	int result;

	result = tb_cursor_open(db->trace, &cursor);
	if (result)
		return result;
	db->cursor = cursor;
	slices = slices_open(db->trace, db->base, take_slice, &target);
	requests = requests_open(db->trace, take_request, &target);
	result = slices && requests ? slices_find_chosen(slices, db->trace) : -ENOMEM;
	if (!result)
		result = spans_of_part(&missing, db->trace, db->base, options->switches_from);
	if (!result) {
		slices_missing(slices, &missing);
		slices_switches_from(slices, options->switches_from);
		requests_missing(requests, &missing);
		slices_off(slices);
		selection_before(options->selection, db->trace, slices);
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
