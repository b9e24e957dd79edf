// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - the table "why": where the time of each thread went, with a row for each piece
 * of time that has one cause.
 *
 * analysis/why.c returns the pieces of a thread in order of time.  Only the pieces of one thread
 * are kept, 24 bytes each; a thread has at most as many as the trace has switches, wake-ups, and
 * beginnings and ends of interrupts.  Conditions "tid = N" and "comm = 'NAME'" choose threads
 * before the walk.
 */
#include <errno.h>
#include <stdlib.h>
#include "query.h"
#include "analysis/why.h"
#include "tool/show/causes.h"
#include "tool/show/why_threads.h"
#include "lib/array.h"

#define COLUMNS "start INTEGER, duration INTEGER, tid INTEGER, comm TEXT, depth INTEGER, " \
		"cause TEXT, path TEXT" QUERY_HIDDEN
enum { START, DURATION, TID, COMM, DEPTH, CAUSE, PATH, CGROUP, CONTAINER };

/* idxNum of best_index() */
enum { ALL_THREADS, ONE_TID, ONE_COMM };

/* @node: a leaf of the tree */
struct piece {
	uint64_t from, to;
	uint32_t node;
};

/**
 * struct cursor - a scan of the table
 * @next: index of the thread after @thread
 * @thread: the thread of the current row
 * @tid, @one: if @one: only threads with this TID
 * @comm: only threads of this name; NULL: any
 * @pieces: @count pieces of @thread, memory for @room; the current row is number @at
 * @over: there are no more rows
 * @counted: query->why_cursors has this cursor
 */
struct cursor {
	struct sqlite3_vtab_cursor base;
	struct query *query;
	size_t next;
	uint32_t thread, tid;
	bool one;
	char *comm;
	struct piece *pieces;
	size_t count, room, at;
	bool over, counted;
};

/* SQLite tests each row again */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sqlite3_index_constraint *constraint = info->aConstraint;
	bool unusable = false;
	int i, chosen = -1;

	(void)base;
	for (i = 0; i < info->nConstraint; i++) {
		if (constraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    (constraint[i].iColumn != TID && constraint[i].iColumn != COMM) ||
		    strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			continue;
		unusable |= !constraint[i].usable;
		if (constraint[i].usable && (chosen < 0 || constraint[i].iColumn == TID))
			chosen = i;
	}
	info->idxNum = chosen < 0 ? ALL_THREADS :
		       constraint[chosen].iColumn == TID ? ONE_TID : ONE_COMM;
	if (chosen >= 0)
		info->aConstraintUsage[chosen].argvIndex = 1;
	/* in a join, let SQLite read the other table first: it has the threads for a condition */
	info->estimatedCost = chosen >= 0 ? 1e5 : unusable ? 1e12 : 1e8;
	info->estimatedRows = chosen >= 0 ? 10000 : 10000000;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	cursor->query = query_table_of(base)->query;
	*out = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->query->why_cursors -= cursor->counted;
	sqlite3_free(cursor->comm);
	free(cursor->pieces);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* ---- the pieces of a thread ---- */

static int take_stretch(void *context, uint32_t node, uint64_t from, uint64_t to)
{
	struct cursor *cursor = context;
	size_t count;

	if (query_stopped)
		return -EINTR;
	if (why_divides(why_nodes(cursor->query->why, &count)[node].cause))
		return 0;
	if (tb_array_grow(&cursor->pieces, &cursor->room, cursor->count, sizeof(*cursor->pieces)))
		return -ENOMEM;
	cursor->pieces[cursor->count++] = (struct piece){ .from = from, .to = to, .node = node };
	return 0;
}

static int read_thread(struct cursor *cursor)
{
	const struct query *query = cursor->query;
	struct why *why = query->why;
	uint64_t from, to;
	int result;

	cursor->at = cursor->count = 0;
	if (!why_limits(why, cursor->thread, &from, &to) ||
	    !why_threads_wanted(query->selection, why, cursor->thread, &from, &to))
		return 0;
	from = from > query->from_ns ? from : query->from_ns;
	to = to < query->to_ns ? to : query->to_ns;
	/* clear the tree if no other cursor uses its nodes */
	if (cursor->query->why_cursors == 1)
		why_clear(why);
	why_watch(why, take_stretch, cursor);
	result = why_add(why, cursor->thread, from, to);
	why_watch(why, NULL, NULL);
	return result;
}

/* Read the pieces of the next thread that has any */
static int next_thread(struct cursor *cursor)
{
	const struct why *why = cursor->query->why;
	int result = 0;

	cursor->count = 0;
	while (!result && !cursor->count && cursor->next < why_threads(why)) {
		cursor->thread = why_thread(why, cursor->next++);
		if (cursor->one && why_tid(why, cursor->thread) != cursor->tid)
			break;
		if (!cursor->comm || !strcmp(cursor->comm, why_comm(why, cursor->thread)))
			result = read_thread(cursor);
	}
	cursor->over = result || !cursor->count;
	return result == -EINTR ? SQLITE_INTERRUPT : result ? SQLITE_NOMEM : SQLITE_OK;
}

static int open_why(struct query *query)
{
	struct tb_error error = { .offset = TB_OFFSET_NONE };
	int result;

	if (query->why)
		return SQLITE_OK;
	query->figures.scans++;
	result = why_open(query->trace, query->db->base, NULL, &query->why, &error);
	if (error.text[0] && !query->damaged) {
		query->damage = error;
		query->damaged = true;
	}
	return !result ? SQLITE_OK : result == -ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* Choose threads by the value of a condition; if no row can fulfil it, set cursor->over */
static int choose(struct cursor *cursor, int how, sqlite3_value *value)
{
	double tid;

	if (sqlite3_value_type(value) == SQLITE_NULL) {
		cursor->over = true;
		return SQLITE_OK;
	}
	if (how == ONE_COMM) {
		/* a number equals names with other digits, as "05" */
		if (query_is_number(value))
			return SQLITE_OK;
		cursor->comm = sqlite3_mprintf("%s", sqlite3_value_text(value));
		return cursor->comm ? SQLITE_OK : SQLITE_NOMEM;
	}
	tid = sqlite3_value_double(value);
	cursor->tid = tid >= 0 && tid <= UINT32_MAX ? (uint32_t)tid : 0;
	cursor->one = true;
	cursor->over = cursor->tid != tid;
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int how, const char *text, int count,
		  sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	int result = open_why(cursor->query);

	(void)text;
	if (result)
		return result;
	cursor->query->why_cursors += !cursor->counted;
	cursor->counted = true;
	sqlite3_free(cursor->comm);
	cursor->comm = NULL;
	cursor->one = false;
	cursor->next = 0;
	cursor->over = false;
	if (count)
		result = choose(cursor, how, values[0]);
	if (result)
		return result;
	if (cursor->one)
		cursor->next = why_index(cursor->query->why, cursor->tid);
	return cursor->over ? SQLITE_OK : next_thread(cursor);
}

/* ---- rows ---- */

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	if (query_stopped)
		return SQLITE_INTERRUPT;
	if (++cursor->at < cursor->count)
		return SQLITE_OK;
	return next_thread(cursor);
}

static int is_over(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->over;
}

/* "blocked in read > until holder-133 woke it > holder-133 runs" */
static void append_path(sqlite3_str *path, const struct why *why, uint32_t index)
{
	size_t count;
	const struct why_node *node = &why_nodes(why, &count)[index];
	char text[256];

	if (node->depth > 1) {
		append_path(path, why, node->parent);
		sqlite3_str_appendall(path, " > ");
	}
	sqlite3_str_appendall(path, cause_text(why, node, text, sizeof(text)));
}

static int path_cell(struct db *db, const struct db_cell *cell, const struct why *why,
		     uint32_t index)
{
	sqlite3_str *path = sqlite3_str_new(NULL);
	char *text;

	append_path(path, why, index);
	text = sqlite3_str_finish(path);
	if (!text)
		return SQLITE_NOMEM;
	cell_copy_string(db, cell, text);
	sqlite3_free(text);
	return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct why *why = cursor->query->why;
	const struct piece *piece = &cursor->pieces[cursor->at];
	const struct db_cell cell = { .context = context };
	struct db *db = cursor->query->db;
	const struct why_node *node;
	const char *comm;
	char text[256];
	size_t count;

	node = &why_nodes(why, &count)[piece->node];
	switch (which) {
	case START:
		cell_number(&cell, piece->from);
		break;
	case DURATION:
		cell_number(&cell, piece->to - piece->from);
		break;
	case TID:
		cell_number(&cell, why_tid(why, cursor->thread));
		break;
	case COMM:
		comm = why_comm(why, cursor->thread);
		cell_copy_string(db, &cell, comm[0] ? comm : NULL);
		break;
	case DEPTH:
		cell_number(&cell, node->depth);
		break;
	case CAUSE:
		cell_copy_string(db, &cell, cause_text(why, node, text, sizeof(text)));
		break;
	case CGROUP:
	case CONTAINER:
		db_cgroup_cell(db, why_cgroup(why, cursor->thread), which == CONTAINER, &cell);
		break;
	case PATH:
		return path_cell(db, &cell, why, piece->node);
	}
	return SQLITE_OK;
}

/* The number of a row does not depend on conditions */
static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
	struct cursor *cursor = (struct cursor *)base;

	*number = (sqlite3_int64)((uint64_t)(cursor->next - 1) << 32 | cursor->at);
	return SQLITE_OK;
}

int query_why_register(struct query *query)
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

	query->why_table.query = query;
	query->why_table.columns = COLUMNS;
	return sqlite3_create_module_v2(query->db->sqlite, DB_WHY_NAME, &module,
					&query->why_table, NULL);
}
