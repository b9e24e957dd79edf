// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - the tables and views that every trace has; docs/query.md explains them.
 */
#include "tables.h"

const struct db_table db_tables[] = {
	{ "recording", DB_RECORDING, "name TEXT PRIMARY KEY, value", "WITHOUT ROWID" },
	{ "clock", DB_CLOCK,
	  "ticks INTEGER, monotonic INTEGER, boottime INTEGER, realtime INTEGER,"
	  " uncertainty INTEGER", "" },
	{ "counts", DB_ACCOUNTING,
	  "cpu INTEGER PRIMARY KEY, attempted INTEGER, recorded INTEGER,"
	  " overwritten INTEGER, dropped INTEGER, oversize INTEGER", "" },
	{ "threads", DB_THREADS,
	  "tid INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, uid INTEGER,"
	  " prio INTEGER, kernel INTEGER, comm TEXT, cgroup TEXT, container TEXT", "" },
	{ "names", DB_NAMES,
	  "kind TEXT, number INTEGER, name TEXT, PRIMARY KEY (kind, number)",
	  "WITHOUT ROWID" },
	{ "event_types", DB_TYPES,
	  "table_name TEXT, system TEXT, event TEXT, events INTEGER", "" },
	{ "losses", DB_LOSSES,
	  "time INTEGER, cpu INTEGER, tid INTEGER, events INTEGER,"
	  " overwritten INTEGER, dropped INTEGER, oversize INTEGER,"
	  " at_most INTEGER, cause TEXT, first INTEGER, last INTEGER", "" },
	{ "slices", DB_SLICES,
	  "kind TEXT, start INTEGER, duration INTEGER, cpu INTEGER, pid INTEGER,"
	  " tid INTEGER, comm TEXT, number INTEGER, name TEXT, result INTEGER,"
	  " state TEXT, prio INTEGER, waited INTEGER, whole INTEGER", "" },
	{ "wakeups", DB_SLICES,
	  "woken INTEGER, latency INTEGER, cpu INTEGER, pid INTEGER, tid INTEGER,"
	  " comm TEXT, waker_tid INTEGER, waker_comm TEXT", "" },
	{ "off_cpu", DB_SLICES,
	  "start INTEGER, duration INTEGER, cpu INTEGER, pid INTEGER, tid INTEGER,"
	  " comm TEXT, state TEXT, waited INTEGER, waker_tid INTEGER,"
	  " waker_comm TEXT, whole INTEGER", "" },
	{ "block_io", DB_SLICES,
	  "start INTEGER, duration INTEGER, queued INTEGER, cpu INTEGER, pid INTEGER,"
	  " tid INTEGER, comm TEXT, device TEXT, sector INTEGER, sectors INTEGER,"
	  " bytes INTEGER, kind TEXT, error INTEGER, whole INTEGER", "" },
	{ "marks", DB_MARKS, DB_COMMON ", text TEXT", "" },
	{ "other_events", DB_OTHER, DB_COMMON ", id INTEGER, payload BLOB", "" },
	{ "extras", DB_EXTRAS,
	  "table_name TEXT, event INTEGER, stack TEXT, user_stack TEXT,"
	  " counters TEXT, PRIMARY KEY (table_name, event)", "WITHOUT ROWID" },
	{ "user_events", DB_USER, DB_COMMON ","
	  " type TEXT, category TEXT, name TEXT, writer INTEGER, depth INTEGER,"
	  " value NUMERIC, duration INTEGER, flow INTEGER, flow_ends INTEGER,"
	  " text TEXT, data BLOB, args TEXT, doubt TEXT", "" },
	{ 0 }
};

/*
 * A slice of a program ends at the next end of its depth; it has no end if another one begins at
 * that depth or records are missing before.
 */
#define USER_SLICES \
	"_time AS start, CASE type WHEN 'slice' THEN duration ELSE (" \
	" SELECT CASE after.type WHEN 'end' THEN after._time - user_events._time END" \
	" FROM user_events AS after WHERE after.writer = user_events.writer" \
	" AND after.rowid > user_events.rowid AND (after.type = 'lost' OR" \
	" (after.type IN ('begin', 'end') AND after.depth <= user_events.depth))" \
	" ORDER BY after.rowid LIMIT 1) END AS duration," \
	" _pid AS pid, _tid AS tid, _comm AS comm, category, name, writer, depth," \
	" flow, args FROM user_events WHERE type IN ('begin', 'slice')"
const char db_user_slices[] = USER_SLICES;

const struct db_view db_views[] = {
	/* all slices, selected or not */
	{ DB_ALL_SLICES_NAME, "SELECT *, 1 AS chosen FROM slices", true },
	/*
	 * A row for the beginning (step 1) and the end (-1) of each run.  "known" is the selected
	 * time so far in which the thread on every CPU with switches was known.  It needs all runs:
	 * a run that is not chosen, or that ends with another thread than it began with, has no
	 * thread.
	 */
	{ "run_edges",
	  "WITH runs AS (SELECT start, CASE WHEN whole OR duration THEN start + duration ELSE"
	  " coalesce(lead(start) OVER (PARTITION BY cpu ORDER BY start), start + duration) END"
	  " AS finish, cpu, CASE WHEN chosen AND (whole OR duration) THEN pid END AS pid,"
	  " CASE WHEN chosen AND (whole OR duration) THEN tid END AS tid, comm, duration"
	  " FROM all_slices WHERE kind = 'run')"
	  " SELECT time, step, cpu, pid, tid, comm, duration,"
	  " coalesce(sum(CASE before WHEN cpus THEN at - since END)"
	  " OVER (ORDER BY time), 0) AS known FROM ("
	  "SELECT *, lag(at) OVER w AS since, sum(step) OVER w - step AS before,"
	  " (SELECT count(DISTINCT cpu) FROM all_slices WHERE kind = 'run') AS cpus FROM ("
	  "SELECT *, min(max(time, " DB_FROM "), " DB_TO ") AS at FROM ("
	  "SELECT start AS time, 1 AS step, cpu, pid, tid, comm, duration FROM runs"
	  " UNION ALL SELECT finish, -1, cpu, pid, tid, comm, duration FROM runs))"
	  " WINDOW w AS (ORDER BY time ROWS UNBOUNDED PRECEDING))", false },
	/*
	 * A thread off the CPU sleeps and then waits for a CPU, or only waits.  Without a known
	 * wake-up an unknown part of the time was waiting.  Without a known state, the sleep began
	 * before the trace, but the wait is certain if the thread ran then, on a CPU.
	 */
	{ DB_THREAD_STATES_NAME,
	  "SELECT start, duration, tid, pid, comm, 'running' AS state, cpu, whole"
	  " FROM slices WHERE kind = 'run' AND tid"
	  " UNION ALL SELECT start, duration - coalesce(waited, 0), tid, pid, comm,"
	  " state, NULL, whole AND waited IS NOT NULL AND state IS NOT NULL FROM off_cpu"
	  " WHERE state NOT LIKE 'R%' OR (state IS NULL AND waited < duration)"
	  " UNION ALL SELECT start + duration - coalesce(waited, duration),"
	  " coalesce(waited, duration), tid, pid, comm, 'runnable', cpu, whole OR"
	  " (state IS NULL AND waited IS NOT NULL AND cpu IS NOT NULL)"
	  " FROM off_cpu WHERE state LIKE 'R%' OR waited IS NOT NULL", true },
	{ DB_USER_SLICES_NAME, "SELECT " USER_SLICES, true },
	{ 0 }
};

/* Views of latencies have only whole slices: the duration of others is unknown */
const struct db_excerpt db_excerpts[] = {
	{ "run_slices", "slices", SLICE_RUN, false,
	  "start, duration, start + duration AS finish, cpu, pid, tid, comm, prio,"
	  " state AS end_state, waited, whole" },
	{ "wakeup_latency", "wakeups", SLICE_WAKEUP, false,
	  "woken, woken + latency AS ran, latency, cpu, pid, tid, comm, waker_tid, waker_comm" },
	{ "irq_duration", "slices", SLICE_IRQ, true,
	  "start, duration, start + duration AS finish, cpu, number AS irq, name, result,"
	  " tid AS interrupted_tid" },
	{ "softirq_duration", "slices", SLICE_SOFTIRQ, true,
	  "start, duration, start + duration AS finish, cpu, number AS vec, name,"
	  " tid AS interrupted_tid" },
	{ "syscall_duration", "slices", SLICE_SYSCALL, true,
	  "start, duration, start + duration AS finish, cpu, pid, tid, comm, number AS id, name,"
	  " result" },
	{ 0 }
};

void db_create_tables(struct db *db, unsigned int parts)
{
	const struct db_table *table;

	for (table = db_tables; table->name; table++)
		if (table->part & parts)
			db_runf(db, "CREATE TABLE %s (%s) %s", table->name, table->columns,
				table->behind);
}

static void create_excerpt(struct db *db, const struct db_excerpt *excerpt)
{
	const char *kind = db_slice_kind(excerpt->kind);

	if (kind)
		db_runf(db, "CREATE VIEW %s AS SELECT %s FROM %s WHERE kind = %Q%s",
			excerpt->name, excerpt->columns, excerpt->of, kind,
			excerpt->whole ? " AND whole" : "");
	else
		db_runf(db, "CREATE VIEW %s AS SELECT %s FROM %s", excerpt->name,
			excerpt->columns, excerpt->of);
}

void db_create_views(struct db *db, bool all)
{
	const struct db_excerpt *excerpt;
	const struct db_view *view;

	db_run(db, "CREATE INDEX " DB_USER_INDEX_NAME " ON user_events (writer)");
	for (excerpt = db_excerpts; all && excerpt->name; excerpt++)
		create_excerpt(db, excerpt);
	for (view = db_views; view->name; view++)
		if (all || !view->is_table)
			db_runf(db, "CREATE VIEW %s AS %s", view->name, view->select);
}
