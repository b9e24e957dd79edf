// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - read the trace for one virtual table.
 *
 * A scan of events skips blocks of other CPUs, and earlier blocks by their headers.  But names of
 * threads need all earlier events of all CPUs, and the thread of a simple event needs all earlier
 * events of its CPU: these are read, not decoded.  A scan of slices or requests reads the whole
 * trace, because they can begin and end anywhere, and decodes only the events that make them.
 */
#include <errno.h>
#include <stdlib.h>
#include "query.h"
#include "analysis/files.h"
#include "analysis/roles.h"
#include "tool/command/command.h"
#include "lib/array.h"

/* @state: of QUERY_STATES; @object: what a system call uses, NULL if unknown */
struct lasting {
	union {
		struct slice slice;
		struct request request;
	};
	enum db_state state;
	const char *object;
};

/**
 * struct query_scan - a scan
 * @row: number of the current row among those of @range
 * @records: of QUERY_USER_SLICES: the rows
 * @files: what system calls use; NULL: the statement does not use the column _object
 * @queue: @count slices or requests that the last event ended; the current row is number @at
 * @all: another scan of the whole table, for the numbers of rows in it
 * @all_row: number of rows of @range that @all has passed
 */
struct query_scan {
	struct query_table *table;
	const struct query_range *range;
	struct tb_cursor *cursor;
	struct tb_view view;
	int64_t row;
	struct slices *slices;
	struct requests *requests;
	struct files *files;
	sqlite3_stmt *records;
	struct lasting *queue;
	size_t count, at, room;
	bool no_memory, finished;
	struct query_scan *all;
	int64_t all_row;
	struct query_range everything;
};

static bool is_events(const struct query_table *table)
{
	return table->kind == QUERY_EVENT || table->kind == QUERY_EVENTS;
}

/* ---- slices and requests ---- */

static struct lasting *queue_one(struct query_scan *scan)
{
	if (tb_array_grow(&scan->queue, &scan->room, scan->count, sizeof(*scan->queue))) {
		scan->no_memory = true;
		return NULL;
	}
	return &scan->queue[scan->count++];
}

static void queue_slice(struct query_scan *scan, const struct slice *slice, enum db_state state)
{
	struct lasting *one = queue_one(scan);

	if (!one)
		return;
	one->slice = *slice;
	one->state = state;
	one->object = NULL;
	if (scan->files && slice->kind == SLICE_SYSCALL)
		one->object = files_name(scan->files,
					 files_of_call(scan->files, slice->tid, slice->begin));
}

static void take_slice(void *context, const struct slice *slice)
{
	struct query_scan *scan = context;
	enum db_state state;

	if (!(scan->range->kinds & 1u << slice->kind) ||
	    (scan->table->whole && slice->doubt != SLICE_WHOLE))
		return;
	if (scan->table->kind != QUERY_STATES) {
		queue_slice(scan, slice, 0);
		return;
	}
	for (state = 0; state < DB_STATES; state++)
		if (db_has_state(slice, state))
			queue_slice(scan, slice, state);
}

static void take_request(void *context, const struct request *request)
{
	struct lasting *one = queue_one(context);

	if (one)
		one->request = *request;
}

int query_missing(struct query *query)
{
	if (!query->knows_missing &&
	    spans_of_trace(&query->missing, query->trace, query->db->base)) {
		spans_free(&query->missing);
		return -ENOMEM;
	}
	query->knows_missing = true;
	return 0;
}

/* True if -e leaves out no system call */
static bool wants_all_calls(const struct query *query)
{
	const unsigned char *wanted = query->selection->wanted;
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; wanted && (format = tb_trace_format_at(query->trace, i)); i++)
		if (format->flags & TB_EVENT_SYSCALL && !wanted[i])
			return false;
	return true;
}

/* The trace begins with its first event, even if the scan does not need this event */
static int take_first(struct query_scan *scan)
{
	const struct tb_choice choice = { .flags = TB_CHOICE_NO_USER | TB_CHOICE_NO_TASKS };
	const struct query *query = scan->table->query;
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	/* with -e, slices are made as if only these events had been recorded */
	if (query->selection->wanted)
		return 0;
	result = tb_cursor_open(query->trace, &cursor);
	if (result)
		return result;
	result = tb_cursor_choose(cursor, &choice);
	if (!result)
		do
			result = next_event(cursor, &view);
		while (result > 0 && view.cpu >= SLICES_CPUS_MAX);
	if (result > 0)
		slices_first_event(scan->slices, db_ns(query->db, view.ticks, view.ns));
	tb_cursor_close(cursor);
	/* if the trace is damaged before its first event, the scan says so */
	return result == -ENOMEM ? result : 0;
}

static int open_lasting(struct query_scan *scan)
{
	struct query_table *table = scan->table;

	if (query_missing(table->query))
		return -ENOMEM;
	if (table->kind == QUERY_REQUESTS) {
		scan->requests = requests_open(table->query->trace, take_request,
					       scan);
		if (!scan->requests)
			return -ENOMEM;
		requests_missing(scan->requests, &table->query->missing);
		return 0;
	}
	scan->slices = slices_open(table->query->trace, table->query->db->base, take_slice, scan);
	if (!scan->slices || slices_find_chosen(scan->slices, table->query->trace))
		return -ENOMEM;
	slices_missing(scan->slices, &table->query->missing);
	slices_switches_from(scan->slices, table->query->selection->wanted ? UINT64_MAX : 0);
	if (table->kinds & 1u << SLICE_OFF) {
		slices_off(scan->slices);
		selection_before(table->query->selection, table->query->trace, scan->slices);
		if (take_first(scan))
			return -ENOMEM;
	}
	if (scan->range->objects && wants_all_calls(table->query)) {
		scan->files = files_open(table->query->trace);
		if (!scan->files)
			return -ENOMEM;
	}
	return 0;
}

static bool wants_format(const struct query_scan *scan,
			 const struct tb_format *format)
{
	const struct selection *selection = scan->table->query->selection;

	if (is_events(scan->table))
		return scan->range->formats[format->index];
	/* with -e, slices are made as if only these events had been recorded */
	if (selection->wanted && !selection->wanted[format->index])
		return false;
	if (scan->requests)
		return requests_wants(format);
	return slices_wants(scan->slices, format, scan->range->kinds);
}

/* ---- the cursor ---- */

static uint64_t ticks_of(const struct query *query, int64_t ns)
{
	return ns <= 0 ? 0 : ticks_at_rising(query->trace, query->db->base,
							   (uint64_t)ns);
}

static int choose(struct query_scan *scan)
{
	const struct query_range *range = scan->range;
	struct query *query = scan->table->query;
	unsigned int count = tb_trace_formats(query->trace), i;
	struct tb_choice choice = { .flags = TB_CHOICE_NO_USER };
	unsigned char *formats = calloc(count + 1, 1);
	const struct selection *selection = query->selection;
	bool events = is_events(scan->table);
	uint64_t from;
	int result;

	if (!formats)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		formats[i] = wants_format(scan, tb_trace_format_at(query->trace, i));
	choice.formats = formats;
	if (!range->marks && !scan->files)
		choice.flags |= TB_CHOICE_NO_CONTROL;
	if (!range->names)
		choice.flags |= TB_CHOICE_NO_TASKS;
	if (events && !range->names) {
		choice.cpus = range->cpus;
		choice.nr_cpus = range->nr_cpus;
	}
	if (events && query->rises && range->to < INT64_MAX)
		choice.until = ticks_of(query, range->to + 1) + 1;
	if (events && selection->to.given &&
	    (!choice.until || selection->to_ticks < choice.until))
		choice.until = selection->to_ticks;
	result = tb_cursor_choose(scan->cursor, &choice);
	free(formats);
	from = query->rises ? ticks_of(query, range->from) : 0;
	if (from < selection->from_ticks)
		from = selection->from_ticks;
	if (!result && range->seeks && from)
		result = tb_cursor_seek(scan->cursor, from);
	return result;
}

static int scan_start(struct query_scan *scan)
{
	int result;

	if (scan->table->kind == QUERY_USER_SLICES)
		return query_records_open(scan->table, scan->range->columns, &scan->records);
	result = is_events(scan->table) ? 0 : open_lasting(scan);
	if (!result)
		result = tb_cursor_open(scan->table->query->trace, &scan->cursor);
	return result ? result : choose(scan);
}

int query_scan_open(struct query_table *table, const struct query_range *range,
		    struct query_scan **out)
{
	struct query_scan *scan = calloc(1, sizeof(*scan));
	int result = -ENOMEM;

	if (scan) {
		scan->table = table;
		scan->range = range;
		table->query->figures.scans++;
		result = scan_start(scan);
	}
	if (result < 0) {
		query_scan_close(scan);
		return SQLITE_NOMEM;
	}
	*out = scan;
	return SQLITE_OK;
}

void query_scan_close(struct query_scan *scan)
{
	if (!scan)
		return;
	query_scan_close(scan->all);
	query_range_free(&scan->everything);
	if (scan->cursor)
		query_passed(scan->table->query, scan->cursor);
	slices_close(scan->slices);
	requests_close(scan->requests);
	files_close(scan->files);
	sqlite3_finalize(scan->records);
	tb_cursor_close(scan->cursor);
	free(scan->queue);
	free(scan);
}

/* ---- row by row ---- */

static int64_t view_ns(const struct query_scan *scan)
{
	return (int64_t)db_ns(scan->table->query->db, scan->view.ticks,
			      scan->view.ns);
}

/* Find the time of the last event: slices and requests without an end last until then */
static int find_last(struct query *query)
{
	uint64_t ticks = ticks_near_end(query->trace);
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	query->last_ns = 0;
	result = tb_cursor_open(query->trace, &cursor);
	if (!result && ticks)
		result = tb_cursor_seek(cursor, ticks);
	while (!result && (result = next_event(cursor, &view)) > 0) {
		if (!view.user && !is_control(&view)) {
			query->last_ns = db_ns(query->db, view.ticks, view.ns);
			query->last_ticks = view.ticks;
		}
		result = 0;
	}
	if (cursor)
		query_passed(query, cursor);
	tb_cursor_close(cursor);
	return result;
}

static int finish(struct query_scan *scan)
{
	struct query *query = scan->table->query;
	struct tb_view nothing = { .cpu = TB_RING_USER };
	int result;

	if (query->last_ns == UINT64_MAX) {
		result = find_last(query);
		if (result < 0)
			return result;
	}
	nothing.ticks = query->last_ticks;
	if (scan->slices) {
		slices_take(scan->slices, &nothing, query->last_ns);
		slices_finish(scan->slices);
	} else {
		requests_take(scan->requests, &nothing, query->last_ns);
		requests_finish(scan->requests);
	}
	scan->finished = true;
	return 0;
}

static int next_view(struct query_scan *scan)
{
	return query_stopped ? -EINTR : next_event(scan->cursor, &scan->view);
}

static int take_lasting(struct query_scan *scan)
{
	const struct tb_view *view = &scan->view;
	uint64_t ns = (uint64_t)view_ns(scan);
	int result;

	if (scan->requests)
		return requests_take(scan->requests, view, ns);
	result = scan->files && view->cpu == TB_RING_DURABLE ? 0 :
		 slices_take(scan->slices, view, ns);
	/* after slices_take(), which asks for the object of a call that ends here */
	return scan->files && result >= 0 ? files_take(scan->files, view, ns) : result;
}

static int next_lasting(struct query_scan *scan)
{
	int result;

	if (++scan->at < scan->count)
		return 1;
	scan->at = scan->count = 0;
	while (!scan->count) {
		if (scan->finished)
			return 0;
		result = next_view(scan);
		if (!result)
			result = finish(scan);
		else if (result > 0)
			result = take_lasting(scan);
		if (result < 0 || scan->no_memory)
			return result < 0 ? result : -ENOMEM;
	}
	return 1;
}

/* True if the current event is within @range */
static bool within(const struct query_scan *scan, const struct query_range *range)
{
	const struct tb_view *view = &scan->view;
	int64_t ns = view_ns(scan);
	unsigned int i;

	if (view->kind != TB_VIEW_EVENT || ns < range->from || ns > range->to)
		return false;
	if (!view->format ? view->id != TB_EV_MARK || !range->marks :
			    !range->formats[view->format->index])
		return false;
	if (view->cpu < range->nr_cpus)
		return range->cpus[view->cpu];
	/* an event of no CPU fulfils no condition on the CPU */
	for (i = 0; i < range->nr_cpus; i++)
		if (!range->cpus[i])
			return false;
	return true;
}

static bool within_lasting(const struct query_scan *scan,
			   const struct query_range *range)
{
	return scan->table->kind != QUERY_SLICES ||
	       range->kinds & 1u << scan->queue[scan->at].slice.kind;
}

static bool overlaps(const struct query *query, uint64_t begin, uint64_t end)
{
	return begin < query->to_ns && (end > query->from_ns || begin >= query->from_ns);
}

/* True if the options of the command line select the current row */
static bool is_selected(const struct query_scan *scan)
{
	const struct query *query = scan->table->query;
	struct selection *selection = query->selection;
	const struct lasting *one;
	struct slice slice;

	if (!query->selects)
		return true;
	if (is_events(scan->table))
		return !selection_over(selection, &scan->view) &&
		       selection_wants(selection, &scan->view);
	one = &scan->queue[scan->at];
	if (scan->requests)
		return overlaps(query, one->request.issued, one->request.done) &&
		       selection_wants_cpu(selection, one->request.cpu) &&
		       selection_wants_task(selection, &one->request.task);
	slice = scan->table->kind == QUERY_STATES ? db_state_part(&one->slice, one->state) :
						    one->slice;
	return overlaps(query, slice.begin, slice.end) &&
	       selection_wants_slice(selection, scan->cursor, slice.cpu, slice.tid);
}

static bool is_within(const struct query_scan *scan, const struct query_range *range)
{
	return is_events(scan->table) ? within(scan, range) :
					within_lasting(scan, range);
}

static int next_record(struct query_scan *scan)
{
	int result = query_stopped ? SQLITE_INTERRUPT : sqlite3_step(scan->records);

	return result == SQLITE_ROW ? 1 : result == SQLITE_DONE ? 0 :
	       result == SQLITE_INTERRUPT ? -EINTR : -ENOMEM;
}

int query_scan_next(struct query_scan *scan)
{
	int result;

	if (scan->range->nothing)
		return 0;
	if (scan->records)
		return next_record(scan);
	do
		result = is_events(scan->table) ? next_view(scan) :
						  next_lasting(scan);
	while (result > 0 && !(is_within(scan, scan->range) &&
			       (scan->table->all || is_selected(scan))));
	scan->row++;
	return result;
}

static void event_cell(struct query_scan *scan, int column,
		       const struct db_cell *cell)
{
	struct db *db = scan->table->query->db;
	const struct tb_view *view = &scan->view;

	if (scan->table->kind == QUERY_EVENT)
		db_event_cell(db, view, column, cell);
	else if (column < DB_COMMON_COLUMNS)
		db_common_cell(db, view, column, cell);
	else
		cell_string(db, cell, view->format ?
			    db_table_of(db->events, view->format)->name : "mark");
}

/* The cgroup of the current row's thread, at the time that docs/query.md says; 0: unknown */
static uint32_t cgroup_of(const struct query_scan *scan)
{
	const struct lasting *one = &scan->queue[scan->at];
	const struct tb_task *task;

	if (scan->records)
		return query_record_cgroup(scan->table->query,
					   sqlite3_column_int64(scan->records, 0));
	if (scan->requests)
		return one->request.task.cgroup;
	task = is_events(scan->table) ? scan->view.task :
					tb_cursor_task(scan->cursor, one->slice.tid);
	return task ? task->cgroup : 0;
}

void query_scan_cell(struct query_scan *scan, int column,
		     const struct db_cell *cell)
{
	struct db *db = scan->table->query->db;
	const struct query_table *table = scan->table;
	const struct lasting *one = &scan->queue[scan->at];

	db->cursor = scan->cursor;
	if (column == table->cgroup + QUERY_OBJECT) {
		cell_copy_string(db, cell, files_plain(one->object));
		return;
	}
	if (column >= table->cgroup) {
		db_cgroup_cell(db, cgroup_of(scan), column > table->cgroup, cell);
		return;
	}
	if (table->is_mapped)
		column = table->map[column];
	if (column == QUERY_MAP_END) {
		cell_number(cell, one->slice.end);
		return;
	}
	switch (table->kind) {
	case QUERY_SLICES:
		if (table->all && column == table->chosen)
			cell_number(cell, is_selected(scan));
		else
			db_slice_cell(db, &one->slice, column, cell);
		break;
	case QUERY_WAKEUPS:
		db_wakeup_cell(db, &one->slice, column, cell);
		break;
	case QUERY_OFF:
		db_off_cell(db, &one->slice, column, cell);
		break;
	case QUERY_USER_SLICES:
		cell_stored(cell, sqlite3_column_value(scan->records, column + 1));
		break;
	case QUERY_STATES:
		db_state_cell(db, &one->slice, one->state, column, cell);
		break;
	case QUERY_REQUESTS:
		db_request_cell(db, &one->request, column, cell);
		break;
	default:
		event_cell(scan, column, cell);
	}
}

int64_t query_scan_rowid(struct query_scan *scan)
{
	int result;

	if (scan->records)
		return sqlite3_column_int64(scan->records, 0);
	if (!scan->range->narrows)
		return scan->row;
	if (!scan->all) {
		struct query_plan plan;

		if (query_plan(scan->table, ",0", 0, NULL, &plan,
			       &scan->everything) ||
		    query_scan_open(scan->table, &scan->everything, &scan->all))
			return -ENOMEM;
	}
	while (scan->all_row < scan->row) {
		result = query_scan_next(scan->all);
		if (result <= 0)
			return result < 0 ? result : -EIO;
		if (is_within(scan->all, scan->range))
			scan->all_row++;
	}
	return scan->all->row;
}
