// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --html - records of programs: nested slices, in a row for each depth, events,
 * counters.
 *
 * Name and fields of a slice are written when it begins, its time when it ends.  A slice in one
 * record takes the first row that is free.  A loss of records ends all open slices of the writer,
 * because their own ends may be lost.
 */
#include <stdlib.h>
#include "user.h"
#include "analysis/slices.h"

/* Deeper slices are shown as events */
#define DEPTH_MAX 64

/* An open slice; @paired: a record TB_REC_END ends it; else the end of an outer slice ends it */
struct level {
	struct row *row;
	uint64_t begin;
	bool paired;
};

/**
 * struct writer - a writer of a program
 * @depth: number of open slices
 * @beyond: number of open slices that were too deep
 */
struct writer {
	unsigned int depth, beyond;
	struct level levels[DEPTH_MAX];
};

void report_users_init(struct report_users *users, struct rows *rows)
{
	users->rows = rows;
}

void report_users_free(struct report_users *users)
{
	slots_free(&users->writers, free);
}

static struct row *row_of(struct report_users *users, enum row_kind kind,
			  const struct tb_user *user, uint32_t sub)
{
	struct row *row = rows_at(users->rows, kind, user->writer, sub);

	if (row) {
		row->owner = user->tid;
		row->process = user->pid;
	}
	return row;
}

/* Add name, values and category of a record */
static void describe(struct report_users *users, const struct tb_view *view, struct row *row)
{
	const struct tb_user *user = view->user;
	struct rows *rows = users->rows;

	if (user->type == TB_REC_MARK)
		row_name(row, texts_of(&rows->strings, user->data, user->data_bytes));
	else
		row_name(row, rows_string(rows, user->name));
	details_start(rows, view);
	if (user->category_id)
		details_text(rows, "category", user->category);
	details_end(rows, row);
}

static void end_one(struct report_users *users, struct writer *writer, uint64_t ns,
		    enum slice_doubt doubt)
{
	struct level *level = &writer->levels[--writer->depth];

	row_time(users->rows, level->row, level->begin, ns, doubt);
	level->row->open = false;
}

static void end_all(struct report_users *users, struct writer *writer, uint64_t ns)
{
	while (writer->depth)
		end_one(users, writer, ns, SLICE_UNENDED);
	writer->beyond = 0;
}

static unsigned int take_event(struct report_users *users, const struct tb_view *view, uint64_t ns)
{
	struct row *row = row_of(users, ROW_USER_EVENT, view->user, 0);

	if (!row)
		return 0;
	describe(users, view, row);
	row_time(users->rows, row, ns, ns, SLICE_WHOLE);
	return 1;
}

static unsigned int take_slice(struct report_users *users, struct writer *writer,
			       const struct tb_view *view, uint64_t ns, uint64_t end)
{
	const struct tb_user *user = view->user;
	bool paired = user->type == TB_REC_BEGIN;
	bool open = paired || user->flags & TB_USER_OPEN;
	unsigned int depth = writer->depth;
	struct row *row = row_of(users, ROW_USER, user, depth);

	/* slices in one record can overlap: find a free row */
	while (row && (row->open || (row->count && row->until > ns)) && depth < DEPTH_MAX)
		row = row_of(users, ROW_USER, user, ++depth);
	if (!row)
		return 0;
	if (depth == DEPTH_MAX || writer->depth == DEPTH_MAX) {
		writer->beyond += paired;
		return take_event(users, view, ns);
	}
	describe(users, view, row);
	if (!open) {
		row_time(users->rows, row, ns, end, SLICE_WHOLE);
		return 1;
	}
	row->open = true;
	writer->levels[writer->depth++] = (struct level){
		.row = row, .begin = ns, .paired = paired,
	};
	return 1;
}

static unsigned int take_end(struct report_users *users, struct writer *writer,
			     const struct tb_view *view, uint64_t ns)
{
	unsigned int to = writer->depth;

	if (writer->beyond) {
		writer->beyond--;
		return 0;
	}
	while (to && !writer->levels[to - 1].paired)
		to--;
	if (!to)
		return take_event(users, view, ns);
	while (writer->depth > to)
		end_one(users, writer, ns, SLICE_UNENDED);
	end_one(users, writer, ns, SLICE_WHOLE);
	return 0;
}

static unsigned int take_counter(struct report_users *users, const struct tb_view *view,
				 uint64_t ns)
{
	const struct tb_user *user = view->user;
	uint32_t name = rows_string(users->rows, user->name);
	struct row *row = rows_at(users->rows, ROW_COUNTER, user->pid, name);
	double value = user->flags & TB_USER_DOUBLE ? user->value.f64 : (double)user->value.s64;

	if (!row)
		return 0;
	row->process = user->pid;
	row->name = name;
	describe(users, view, row);
	row_time(users->rows, row, ns, ns, SLICE_WHOLE);
	column_bytes(&row->columns[COLUMN_VALUE], &value, sizeof(value));
	return 1;
}

static unsigned int take_lost(struct report_users *users, struct writer *writer,
			      const struct tb_view *view, uint64_t first, uint64_t last)
{
	struct row *row = row_of(users, ROW_USER_LOST, view->user, 0);

	end_all(users, writer, first);
	if (!row)
		return 0;
	row_name(row, rows_string(users->rows, "LOST"));
	details_start(users->rows, view);
	details_end(users->rows, row);
	row_time(users->rows, row, first, last, SLICE_WHOLE);
	return 1;
}

unsigned int report_users_take(struct report_users *users, const struct tb_view *view,
			       uint64_t begin, uint64_t end)
{
	struct writer *writer = slots_get(&users->writers, view->user->writer,
					    sizeof(struct writer));

	if (!writer) {
		users->rows->failed = true;
		return 0;
	}
	if (view->kind == TB_VIEW_USER_LOST)
		return take_lost(users, writer, view, begin, end);
	switch (view->user->type) {
	case TB_REC_BEGIN:
	case TB_REC_SLICE:
		return take_slice(users, writer, view, begin, end);
	case TB_REC_END:
		return take_end(users, writer, view, begin);
	case TB_REC_COUNTER:
		return take_counter(users, view, begin);
	default:
		return take_event(users, view, begin);
	}
}

void report_users_end(struct report_users *users, uint64_t ns)
{
	struct writer *writer;
	size_t i;

	for (i = 0; i < users->writers.count; i++) {
		writer = users->writers.list[i];
		if (writer)
			end_all(users, writer, ns);
	}
}
