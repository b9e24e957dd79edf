// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - a row for each slice, wake-up, stretch off the CPU, and request to a block
 * device.  Columns have the order of schema.c.
 */
#include "tables.h"

static void comm_cell(struct db *db, uint32_t tid, const char *comm, const struct db_cell *cell)
{
	cell_copy_string(db, cell, !tid ? "<idle>" : *comm ? comm : NULL);
}

/* pid, tid, comm of a thread as it is known now; @which: 0 to 2 */
static void thread_cell(struct db *db, uint32_t tid, int which,
			const struct db_cell *cell)
{
	const struct tb_task *task;

	if (which == 1) {
		cell_number(cell, tid);
		return;
	}
	task = tb_cursor_task(db->cursor, tid);
	if (which == 0)
		cell_number(cell, task && task->tgid ? task->tgid : tid);
	else
		comm_cell(db, tid, task ? task->comm : "", cell);
}

const char *db_slice_kind(enum slice_kind kind)
{
	static const char *const kinds[SLICE_KINDS] = {
		[SLICE_RUN] = "run", [SLICE_IRQ] = "irq",
		[SLICE_SOFTIRQ] = "softirq", [SLICE_SYSCALL] = "syscall",
	};

	return (size_t)kind < SLICE_KINDS ? kinds[kind] : NULL;
}

static void name_cell(struct db *db, const struct slice *slice,
		      const struct db_cell *cell)
{
	uint32_t kind = slice->kind == SLICE_SOFTIRQ ? TB_STRING_SOFTIRQ :
						       TB_STRING_SYSCALL;

	/* the name of an interrupt is in memory of struct slices, which reuses it */
	if (slice->name)
		cell_copy(db, cell, slice->name, slice->name_length);
	else if ((slice->kind == SLICE_SOFTIRQ || slice->kind == SLICE_SYSCALL) &&
		 slice->number >= 0 && slice->number <= UINT32_MAX)
		cell_string(db, cell, tb_trace_string(db->trace, kind,
						      (uint32_t)slice->number));
}

/* Put the state in which the thread left the CPU into @value->text; false: not known */
static bool get_state(const struct slice *slice, struct value *value)
{
	/* it is not known how a thread left a CPU before the trace */
	if (!slice->has_result || slice->before)
		return false;
	tb_task_state((uint64_t)slice->result, value->text, sizeof(value->text));
	return true;
}

/* Find how long a thread that was off the CPU waited for it in the end; false: not known */
static bool get_waited(const struct slice *slice, uint64_t *waited)
{
	/* without a wake-up in the trace, it has waited all the time that the trace has */
	*waited = slice->has_waited ? slice->waited : slice->end - slice->begin;
	return slice->has_waited || slice->before;
}

static void state_cell(struct db *db, const struct slice *slice,
		       const struct db_cell *cell)
{
	struct value value = { .kind = VALUE_TEXT };

	if (!get_state(slice, &value))
		return;
	value.data = value.text;
	value.length = strlen(value.text);
	cell_value(db, cell, &value);
}

/* The first columns of all these tables: start, duration, cpu, pid, tid, comm */
static void head_cell(struct db *db, const struct slice *slice, int column,
		      const struct db_cell *cell)
{
	switch (column) {
	case 0:
		cell_number(cell, slice->begin);
		break;
	case 1:
		cell_number(cell, slice->end - slice->begin);
		break;
	case 2:
		if (slice->cpu != TB_RING_USER)
			cell_number(cell, slice->cpu);
		break;
	case 3: case 4: case 5:
		thread_cell(db, slice->tid, column - 3, cell);
		break;
	}
}

void db_slice_cell(struct db *db, const struct slice *slice, int column,
		   const struct db_cell *cell)
{
	switch (column) {
	case 0:
		cell_string(db, cell, db_slice_kind(slice->kind));
		break;
	case 7:
		if (slice->kind != SLICE_RUN)
			cell_number(cell, (uint64_t)slice->number);
		break;
	case 8:
		name_cell(db, slice, cell);
		break;
	case 9:
		if (slice->has_result && slice->kind != SLICE_RUN)
			cell_number(cell, (uint64_t)slice->result);
		break;
	case 10:
		if (slice->kind == SLICE_RUN)
			state_cell(db, slice, cell);
		break;
	case 11:
		if (slice->has_prio)
			cell_number(cell, (uint64_t)slice->prio);
		break;
	case 12:
		if (slice->has_waited)
			cell_number(cell, slice->waited);
		break;
	case 13:
		cell_number(cell, slice->doubt == SLICE_WHOLE);
		break;
	default:
		head_cell(db, slice, column - 1, cell);
	}
}

static void waker_cell(struct db *db, const struct slice *slice, bool comm,
		       const struct db_cell *cell)
{
	if (comm)
		comm_cell(db, (uint32_t)slice->number, slice->waker_comm, cell);
	else
		cell_number(cell, (uint64_t)slice->number);
}

void db_wakeup_cell(struct db *db, const struct slice *slice, int column,
		    const struct db_cell *cell)
{
	if (column < 6)
		head_cell(db, slice, column, cell);
	else
		waker_cell(db, slice, column > 6, cell);
}

void db_off_cell(struct db *db, const struct slice *slice, int column,
		 const struct db_cell *cell)
{
	uint64_t waited;

	switch (column) {
	case 6:
		state_cell(db, slice, cell);
		break;
	case 7:
		if (get_waited(slice, &waited))
			cell_number(cell, waited);
		break;
	case 8: case 9:
		if (slice->has_waited)
			waker_cell(db, slice, column > 8, cell);
		break;
	case 10:
		cell_number(cell, slice->doubt == SLICE_WHOLE &&
			    (!slice->before || slice->is_new));
		break;
	default:
		head_cell(db, slice, column, cell);
	}
}

/* ---- states of threads ---- */

bool db_has_state(const struct slice *slice, enum db_state state)
{
	struct value left = { .kind = VALUE_TEXT };
	bool known, runnable, waits;
	uint64_t waited;

	if (slice->kind == SLICE_RUN)
		return state == DB_RUNNING && slice->tid;
	known = get_state(slice, &left);
	runnable = known && left.text[0] == 'R';
	waits = get_waited(slice, &waited);
	if (state == DB_SLEEPING)
		return known ? !runnable : waits && waited < slice->end - slice->begin;
	return state == DB_RUNNABLE && (runnable || waits);
}

struct slice db_state_part(const struct slice *slice, enum db_state state)
{
	struct slice part = *slice;
	uint64_t waited;

	if (state == DB_RUNNING || !get_waited(slice, &waited))
		return part;
	if (state == DB_SLEEPING)
		part.end -= waited;
	else
		part.begin = slice->end - waited;
	return part;
}

void db_state_cell(struct db *db, const struct slice *slice, enum db_state state, int column,
		   const struct db_cell *cell)
{
	/* columns of head_cell() */
	static const int heads[] = { 0, 1, 4, 3, 5, 0, 2 };
	struct value left = { .kind = VALUE_TEXT };
	struct slice part;

	switch (column) {
	case 5:
		if (state == DB_SLEEPING)
			state_cell(db, slice, cell);
		else
			cell_string(db, cell, state == DB_RUNNING ? "running" : "runnable");
		break;
	case 7:
		cell_number(cell, slice->doubt == SLICE_WHOLE &&
			    (state != DB_SLEEPING ||
			     (slice->has_waited && get_state(slice, &left))));
		break;
	default:
		if (column == 6 && state == DB_SLEEPING)
			break;
		part = db_state_part(slice, state);
		head_cell(db, &part, heads[column], cell);
	}
}

/* ---- requests ---- */

void db_request_cell(struct db *db, const struct request *request, int column,
		     const struct db_cell *cell)
{
	switch (column) {
	case 0:
		cell_number(cell, request->issued);
		break;
	case 1:
		cell_number(cell, request->done - request->issued);
		break;
	case 2:
		if (request->has_queued)
			cell_number(cell, request->queued);
		break;
	case 3:
		cell_number(cell, request->cpu);
		break;
	case 4:
		cell_number(cell, request->task.tgid ? request->task.tgid : request->task.tid);
		break;
	case 5:
		cell_number(cell, request->task.tid);
		break;
	case 6:
		comm_cell(db, request->task.tid, request->task.comm, cell);
		break;
	case 7:
		out_unsigned(&db->json, request->device >> 20);
		out_char(&db->json, ':');
		out_unsigned(&db->json, request->device & 0xfffff);
		cell_json(db, cell);
		break;
	case 8:
		cell_number(cell, request->sector);
		break;
	case 9:
		cell_number(cell, request->sectors);
		break;
	case 10:
		cell_number(cell, request->bytes);
		break;
	case 11:
		cell_copy_string(db, cell, request->kind);
		break;
	case 12:
		if (request->whole)
			cell_number(cell, (uint64_t)request->error);
		break;
	case 13:
		cell_number(cell, request->whole);
		break;
	}
}

/* ---- inserting ---- */

static void insert_slice(struct db *db, const struct slice *slice,
			 sqlite3_stmt *insert,
			 void (*put)(struct db *db, const struct slice *slice,
				     int column, const struct db_cell *cell))
{
	struct db_cell cell = { .statement = insert };
	int i, count = sqlite3_bind_parameter_count(insert);

	for (i = 0; i < count; i++) {
		cell.at = i + 1;
		put(db, slice, i, &cell);
	}
	db_insert(db, insert);
}

void db_slice(void *context, const struct slice *slice)
{
	struct db *db = context;

	if (slice->kind == SLICE_WAKEUP)
		insert_slice(db, slice, db->wakeup, db_wakeup_cell);
	else if (slice->kind == SLICE_OFF)
		insert_slice(db, slice, db->off, db_off_cell);
	else
		insert_slice(db, slice, db->slice, db_slice_cell);
}

void db_request(void *context, const struct request *request)
{
	struct db *db = context;
	struct db_cell cell = { .statement = db->request };
	int i, count = sqlite3_bind_parameter_count(db->request);

	for (i = 0; i < count; i++) {
		cell.at = i + 1;
		db_request_cell(db, request, i, &cell);
	}
	db_insert(db, db->request);
}
