// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - properties of the recording, threads, losses, marks, events without a
 * description, stacks and counters.
 */
#include <stdlib.h>
#include "tables.h"
#include "analysis/roles.h"
#include "tool/choose/cgroup.h"

/* Names of all kinds are looked up for numbers below this */
#define NAMES_MAX (TB_ERROR_MAX + 1u)

/* ---- the recording ---- */

static void insert_text(struct db *db, sqlite3_stmt *insert, const char *name,
			const char *text, size_t size)
{
	cell_string(db, DB_AT(insert, 1), name);
	cell_text(db, DB_AT(insert, 2), text, strnlen(text, size));
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
	cell_string(db, DB_AT(insert, 1), name);
	db_number(insert, 2, number);
	db_insert(db, insert);
}

#define INSERT_MEMBER(member) \
	insert_text(db, insert, #member, init->member, sizeof(init->member))

static void write_recording(struct db *db)
{
	static const char *const bases[] = { "monotonic", "boottime", "realtime" };
	const struct tb_init *init = tb_trace_init(db->trace);
	sqlite3_stmt *insert;

	insert = db_inserter(db, "recording");
	insert_string(db, insert, "tracebuf", tb_version());
	insert_string(db, insert, "times", bases[db->base]);
	insert_number(db, insert, "cpus", tb_trace_nr_cpus(db->trace));
	insert_number(db, insert, "chosen_threads", is_of_threads(db->trace));
	if (db->from_ns)
		insert_number(db, insert, "from", db->from_ns);
	if (db->to_ns)
		insert_number(db, insert, "to", db->to_ns);
	if (init) {
		INSERT_MEMBER(provider);
		INSERT_MEMBER(release);
		INSERT_MEMBER(version);
		INSERT_MEMBER(machine);
		INSERT_MEMBER(nodename);
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

	insert = db_inserter(db, "clock");
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

static void write_accounting(struct db *db)
{
	const struct tb_totals *totals;
	sqlite3_stmt *insert;
	unsigned int cpu;

	insert = db_inserter(db, "counts");
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

/* Kinds of names.  Those of errors and signals are not in the trace */
static const struct {
	const char *name;
	uint32_t in_trace;
} name_kinds[] = {
	{ "syscall", TB_STRING_SYSCALL }, { "softirq", TB_STRING_SOFTIRQ },
	{ "irq", TB_STRING_IRQ }, { "errno", 0 }, { "signal", 0 },
};

#define NR_NAME_KINDS (sizeof(name_kinds) / sizeof(name_kinds[0]))
enum { NAMES_ERRNO = 3 };

static const char *name_of(const struct db *db, size_t kind, uint32_t number, char spare[24])
{
	if (name_kinds[kind].in_trace)
		return tb_trace_string(db->trace, name_kinds[kind].in_trace, number);
	return kind == NAMES_ERRNO ? tb_error_name(number) : tb_signal_name(number, spare);
}

static void write_names(struct db *db)
{
	sqlite3_stmt *insert = db_inserter(db, "names");
	const char *name;
	uint32_t number;
	char spare[24];
	size_t i;

	for (i = 0; i < NR_NAME_KINDS; i++) {
		for (number = 0; number < NAMES_MAX; number++) {
			name = name_of(db, i, number, spare);
			if (!name)
				continue;
			cell_string(db, DB_AT(insert, 1), name_kinds[i].name);
			db_number(insert, 2, number);
			cell_string(db, DB_AT(insert, 3), name);
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
	char name[CGROUP_NAME_MAX];

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
		cell_string(threads->db, DB_AT(insert, 7), task->comm);
	cell_string(threads->db, DB_AT(insert, 8), cgroup_path(threads->db->trace, task->cgroup));
	cell_string(threads->db, DB_AT(insert, 9),
		    cgroup_container(threads->db->trace, task->cgroup, name));
	db_insert(threads->db, insert);
	return threads->db->error;
}

void db_write_threads(struct db *db)
{
	struct threads threads = {
		.db = db,
		.insert = db_inserter(db, "threads"),
	};

	if (threads.insert)
		tb_cursor_each_task(db->cursor, write_thread, &threads);
	sqlite3_finalize(threads.insert);
}

/* Fill the tables of db->parts & DB_KNOWN */
static void write_known(struct db *db)
{
	if (db->parts & DB_RECORDING)
		write_recording(db);
	if (db->parts & DB_CLOCK)
		write_clock(db);
	if (db->parts & DB_ACCOUNTING)
		write_accounting(db);
	if (db->parts & DB_NAMES)
		write_names(db);
}

/* ---- rows ---- */

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

/* Insert stacks and counters of the event in row @row of @table */
static void insert_extras(struct db *db, const struct tb_view *view, const char *table,
			  uint64_t row)
{
	if (!view->nr_stack && !view->nr_user_stack && !view->counter_mask)
		return;
	cell_string(db, DB_AT(db->extra, 1), table);
	db_number(db->extra, 2, row);
	if (view->nr_stack) {
		json_stack_write(db->trace, &db->json, view);
		cell_json(db, DB_AT(db->extra, 3));
	}
	if (view->nr_user_stack) {
		json_user_stack_write(db->trace, &db->json, view);
		cell_json(db, DB_AT(db->extra, 4));
	}
	if (view->counter_mask) {
		json_counters_write(db->trace, &db->json, view);
		cell_json(db, DB_AT(db->extra, 5));
	}
	db_insert(db, db->extra);
}

/* Insert a mark, or an event that the trace does not describe; return its table, or NULL */
static const char *insert_other(struct db *db, const struct tb_view *view)
{
	if (view->id == TB_EV_MARK) {
		if (!(db->parts & DB_MARKS))
			return NULL;
		db_common(db, db->mark, view);
		cell_text(db, DB_AT(db->mark, DB_COMMON_COLUMNS + 1), view->payload,
			  view->length);
		db_insert(db, db->mark);
		return "marks";
	}
	if (!(db->parts & DB_OTHER))
		return NULL;
	db_common(db, db->other, view);
	db_number(db->other, DB_COMMON_COLUMNS + 1, view->id);
	sqlite3_bind_blob64(db->other, DB_COMMON_COLUMNS + 2, view->payload,
			    view->length, SQLITE_STATIC);
	db_insert(db, db->other);
	return "other_events";
}

/* ---- all rows ---- */

static const struct {
	unsigned int part;
	const char *table;
	size_t at;		/* of the statement in struct db */
} inserts[] = {
	{ DB_LOSSES, "losses", offsetof(struct db, loss) },
	{ DB_MARKS, "marks", offsetof(struct db, mark) },
	{ DB_OTHER, "other_events", offsetof(struct db, other) },
	{ DB_EXTRAS, "extras", offsetof(struct db, extra) },
	{ DB_USER, "user_events", offsetof(struct db, user) },
	{ DB_SLICES, "slices", offsetof(struct db, slice) },
	{ DB_SLICES, "wakeups", offsetof(struct db, wakeup) },
	{ DB_SLICES, "off_cpu", offsetof(struct db, off) },
	{ DB_SLICES, "block_io", offsetof(struct db, request) },
};

#define NR_INSERTS (sizeof(inserts) / sizeof(inserts[0]))

static sqlite3_stmt **insert_at(struct db *db, size_t i)
{
	return (sqlite3_stmt **)((char *)db + inserts[i].at);
}

void db_begin(struct db *db)
{
	size_t i;

	for (i = 0; i < NR_INSERTS; i++)
		if (db->parts & inserts[i].part)
			*insert_at(db, i) = db_inserter(db, inserts[i].table);
	write_known(db);
}

void db_end(struct db *db)
{
	size_t i;

	for (i = 0; i < NR_INSERTS; i++) {
		sqlite3_finalize(*insert_at(db, i));
		*insert_at(db, i) = NULL;
	}
}

int db_take(struct db *db, const struct tb_view *view)
{
	struct db_event_table *table;

	if (view->user) {
		db_user(db, view);
	} else if (view->kind == TB_VIEW_LOST) {
		if (db->parts & DB_LOSSES)
			insert_loss(db, view);
	} else if (!view->format) {
		const char *name = insert_other(db, view);

		if (name && db->parts & DB_EXTRAS)
			insert_extras(db, view, name, (uint64_t)
				      sqlite3_last_insert_rowid(db->sqlite));
	} else {
		db_event(db, view);
		table = db_table_of(db->events, view->format);
		if (db->parts & DB_EXTRAS)
			insert_extras(db, view, table->name, table->rows);
	}
	return db->error;
}
