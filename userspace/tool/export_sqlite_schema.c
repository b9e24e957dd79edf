// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - tables and views of a database that are always the same.  docs/export.md
 * explains them.
 */
#include "export_sqlite.h"

const char db_tables[] =
	"CREATE TABLE recording (name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE clock ("
	"  ticks INTEGER, monotonic INTEGER, boottime INTEGER, realtime INTEGER,"
	"  uncertainty INTEGER);"
	"CREATE TABLE books ("
	"  cpu INTEGER PRIMARY KEY, attempted INTEGER, recorded INTEGER,"
	"  overwritten INTEGER, dropped INTEGER, oversize INTEGER);"
	"CREATE TABLE threads ("
	"  tid INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, uid INTEGER,"
	"  prio INTEGER, kernel INTEGER, comm TEXT);"
	"CREATE TABLE names ("
	"  kind TEXT, number INTEGER, name TEXT, PRIMARY KEY (kind, number)"
	") WITHOUT ROWID;"
	"CREATE TABLE event_types ("
	"  table_name TEXT, system TEXT, event TEXT, fast INTEGER, events INTEGER);"
	"CREATE TABLE losses ("
	"  time INTEGER, cpu INTEGER, tid INTEGER, events INTEGER,"
	"  overwritten INTEGER, dropped INTEGER, oversize INTEGER,"
	"  at_most INTEGER, cause TEXT, first INTEGER, last INTEGER);"
	"CREATE TABLE slices ("
	"  kind TEXT, start INTEGER, duration INTEGER, cpu INTEGER, pid INTEGER,"
	"  tid INTEGER, comm TEXT, number INTEGER, name TEXT, result INTEGER,"
	"  state TEXT, prio INTEGER, waited INTEGER, whole INTEGER);"
	"CREATE TABLE wakeups ("
	"  woken INTEGER, latency INTEGER, cpu INTEGER, pid INTEGER, tid INTEGER,"
	"  comm TEXT, waker_tid INTEGER, waker_comm TEXT);"
	"CREATE TABLE marks (" DB_COMMON ", text TEXT);"
	"CREATE TABLE other_events (" DB_COMMON ", id INTEGER, payload BLOB);"
	"CREATE TABLE extras ("
	"  table_name TEXT, event INTEGER, stack TEXT, user_stack TEXT,"
	"  counters TEXT, PRIMARY KEY (table_name, event)) WITHOUT ROWID;"
	"CREATE TABLE user_events (" DB_COMMON ","
	"  type TEXT, category TEXT, name TEXT, writer INTEGER, depth INTEGER,"
	"  value NUMERIC, duration INTEGER, flow INTEGER, flow_ends INTEGER,"
	"  text TEXT, data BLOB, args TEXT, doubt TEXT);";

/*
 * Latencies are of slices that are whole: of others nobody knows how long they were.  A
 * slice of a program ends with the next end of its depth; where it is begun again or
 * records are missing before, with none.
 */
const char db_views[] =
	"CREATE INDEX user_events_writer ON user_events (writer);"
	"CREATE VIEW run_slices AS SELECT start, duration, start + duration AS finish,"
	"  cpu, pid, tid, comm, prio, state AS end_state, waited, whole"
	"  FROM slices WHERE kind = 'run';"
	"CREATE VIEW wakeup_latency AS SELECT woken, woken + latency AS ran, latency,"
	"  cpu, pid, tid, comm, waker_tid, waker_comm FROM wakeups;"
	"CREATE VIEW irq_duration AS SELECT start, duration, start + duration AS finish,"
	"  cpu, number AS irq, name, result, tid AS interrupted_tid"
	"  FROM slices WHERE kind = 'irq' AND whole;"
	"CREATE VIEW softirq_duration AS SELECT start, duration, start + duration AS finish,"
	"  cpu, number AS vec, name, tid AS interrupted_tid"
	"  FROM slices WHERE kind = 'softirq' AND whole;"
	"CREATE VIEW syscall_duration AS SELECT start, duration, start + duration AS finish,"
	"  cpu, pid, tid, comm, number AS id, name, result"
	"  FROM slices WHERE kind = 'syscall' AND whole;"
	"CREATE VIEW user_slices AS"
	"  SELECT _time AS start, CASE type WHEN 'slice' THEN duration ELSE ("
	"    SELECT CASE after.type WHEN 'end' THEN after._time - user_events._time END"
	"    FROM user_events AS after WHERE after.writer = user_events.writer"
	"    AND after.rowid > user_events.rowid AND (after.type = 'lost' OR"
	"      (after.type IN ('begin', 'end') AND after.depth <= user_events.depth))"
	"    ORDER BY after.rowid LIMIT 1) END AS duration,"
	"  _pid AS pid, _tid AS tid, _comm AS comm, category, name, writer, depth,"
	"  flow, args FROM user_events WHERE type IN ('begin', 'slice');";
