// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - the named questions; docs/query.md shows their answers.
 *
 * They use only tables and views that a database of 'tracebuf export' also has.
 */
#include "query.h"

/* The last name of a thread, as in a report */
#define LAST_NAME(from) \
	"coalesce((SELECT comm FROM threads AS t WHERE t.tid = " from ".tid), max(comm)) AS comm"

/* The selected part of a slice from @start to @end; an empty one if all of it is outside */
#define SELECTED_PART(start, end) \
	"max(min(" end ", " DB_TO ")\n" \
	"               - max(" start ", " DB_FROM "), 0)"

/* A share of the time in which it is known what CPUs ran; NULL: only chosen threads are known */
#define KNOWN_SHARE(share) \
	"CASE (SELECT value FROM recording WHERE name = 'chosen_threads')\n" \
	"       WHEN 0 THEN " share " END AS percent"

/* Format ns as seconds, exactly, as --from accepts them */
#define SECONDS(column) \
	"printf('%d.%09d', " column " / 1000000000, " column " % 1000000000) AS " column

const struct query_named query_named[] = {
	{ "cpu", "CPU time by process; percent of one CPU while it is known what all CPUs ran",
	  "WITH edges AS MATERIALIZED (\n"
	  "  SELECT *, " SELECTED_PART("time - duration", "time") " AS ns\n"
	  "    FROM run_edges)\n"
	  "SELECT coalesce((SELECT comm FROM threads WHERE threads.tid = edges.pid), max(comm)) AS comm,\n"
	  "       pid, count(DISTINCT tid) AS threads, sum(step > 0) AS runs,\n"
	  "       round(sum(CASE WHEN step < 0 THEN ns END) / 1e6, 3) AS ms,\n"
	  "       "
	  KNOWN_SHARE("round(-100.0 * total(step * known) / (SELECT max(known) FROM edges), 1)")
	  "\n"
	  "  FROM edges WHERE tid GROUP BY pid\n"
	  " ORDER BY sum(CASE WHEN step < 0 THEN ns END) DESC, pid",
	  "run_slices", 25 },
	{ "cpu-threads", "CPU time by thread, and how long they waited for it",
	  "WITH runs AS (\n"
	  "  SELECT *, " SELECTED_PART("start", "finish") " AS ns\n"
	  "    FROM run_slices WHERE tid)\n"
	  "SELECT " LAST_NAME("runs") ",\n       pid, tid, count(*) AS runs,\n"
	  "       round(sum(ns) / 1e6, 3) AS ms, round(max(duration) / 1e6, 3) AS longest_ms,\n"
	  "       round(sum(waited) / 1e6, 3) AS waited_ms\n"
	  "  FROM runs GROUP BY pid, tid ORDER BY sum(ns) DESC, tid",
	  "run_slices", 25 },
	{ "cpus", "how long each CPU was busy, which means that it ran a task, and how long in interrupts",
	  "WITH runs AS (\n"
	  "  SELECT cpu, start, CASE WHEN whole OR duration THEN start + duration ELSE\n"
	  "         ifnull(lead(start) OVER (PARTITION BY cpu ORDER BY start), start + duration)\n"
	  "         END AS finish\n"
	  "    FROM all_slices WHERE kind = 'run'),\n"
	  "known AS MATERIALIZED (\n"
	  "  SELECT cpu, sum(" SELECTED_PART("start", "finish") ") AS ns\n"
	  "    FROM runs GROUP BY cpu),\n"
	  "parts AS (\n"
	  "  SELECT cpu, kind, tid, " SELECTED_PART("start", "start + duration") " AS ns\n"
	  "    FROM slices WHERE kind IN ('run', 'irq', 'softirq'))\n"
	  "SELECT cpu,\n"
	  "       round(sum(CASE kind WHEN 'run' THEN ns * (tid != 0) END) / 1e6, 3) AS busy_ms,\n"
	  "       "
	  KNOWN_SHARE("round(100.0 * sum(CASE kind WHEN 'run' THEN ns * (tid != 0) END) /\n"
		      "             (SELECT ns FROM known WHERE known.cpu = parts.cpu), 1)") ",\n"
	  "       sum(kind = 'run') AS runs,\n"
	  "       round(sum(CASE kind WHEN 'irq' THEN ns END) / 1e6, 3) AS irq_ms,\n"
	  "       round(sum(CASE kind WHEN 'softirq' THEN ns END) / 1e6, 3) AS softirq_ms\n"
	  "  FROM parts GROUP BY cpu ORDER BY cpu",
	  "run_slices", 0 },
	{ "states", "where the time of each thread went",
	  "WITH parts AS (\n"
	  "  SELECT *, " SELECTED_PART("start", "start + duration") " AS ns\n"
	  "    FROM thread_states)\n"
	  "SELECT " LAST_NAME("parts") ", tid,\n"
	  "       round(sum(CASE WHEN state = 'running' THEN ns END)\n"
	  "             / 1e6, 3) AS running_ms,\n"
	  "       round(sum(CASE WHEN whole AND state = 'runnable' THEN ns END)\n"
	  "             / 1e6, 3) AS runnable_ms,\n"
	  "       round(sum(CASE WHEN whole AND state LIKE 'S%' THEN ns END)\n"
	  "             / 1e6, 3) AS sleeping_ms,\n"
	  "       round(sum(CASE WHEN whole AND state LIKE 'D%' THEN ns END)\n"
	  "             / 1e6, 3) AS uninterruptible_ms,\n"
	  "       round(sum(CASE WHEN whole AND state NOT IN ('running', 'runnable')\n"
	  "                       AND state NOT LIKE 'S%' AND state NOT LIKE 'D%'\n"
	  "                      THEN ns END)\n"
	  "             / 1e6, 3) AS other_ms,\n"
	  "       round(sum(CASE WHEN NOT whole AND state IS NOT 'running' THEN ns END)\n"
	  "             / 1e6, 3) AS uncertain_ms\n"
	  "  FROM parts GROUP BY tid\n"
	  " ORDER BY runnable_ms DESC, tid",
	  "thread_states", 25 },
	{ "wakeups", "the 20 worst wake-ups, their wakers, and the task that the CPU ran most meanwhile",
	  "WITH worst AS MATERIALIZED (\n"
	  "  SELECT * FROM wakeup_latency ORDER BY latency DESC, woken, tid LIMIT 20),\n"
	  "ran AS MATERIALIZED (\n"
	  "  SELECT w.woken, w.tid, s.kind, CASE s.kind WHEN 'run' THEN s.tid END AS other,\n"
	  "         max(s.start, w.woken) AS since, min(s.start + s.duration, w.ran) AS until,\n"
	  "         CASE s.kind WHEN 'run' THEN s.comm ELSE s.kind || ' ' || ifnull(s.name, '?') END AS what,\n"
	  "         row_number() OVER (\n"
	  "           ORDER BY s.start, s.start + s.duration DESC, s.kind != 'run') AS n\n"
	  "    FROM worst AS w JOIN all_slices AS s\n"
	  "      ON s.cpu = w.cpu AND s.start < w.ran AND s.start + s.duration > w.woken\n"
	  "   WHERE s.kind IN ('run', 'irq', 'softirq') AND s.duration),\n"
	  "-- an interrupt of depth 1 interrupted a task\n"
	  "edges AS (\n"
	  "  SELECT woken, tid, n, since AS at, 1 AS step FROM ran WHERE kind != 'run'\n"
	  "   UNION ALL SELECT woken, tid, n, until, -1 FROM ran WHERE kind != 'run'),\n"
	  "depths AS MATERIALIZED (\n"
	  "  SELECT woken, tid, n, step, sum(step) OVER (\n"
	  "           PARTITION BY woken, tid ORDER BY at, step, n) AS depth\n"
	  "    FROM edges),\n"
	  "-- the last that began before, with a depth of one less, is what it interrupted\n"
	  "parents AS (\n"
	  "  SELECT n, is_child, max(CASE WHEN NOT is_child THEN n END) OVER (\n"
	  "           PARTITION BY woken, tid, depth ORDER BY n) AS parent\n"
	  "    FROM (SELECT woken, tid, n, 0 AS depth, 0 AS is_child FROM ran WHERE kind = 'run'\n"
	  "           UNION ALL SELECT woken, tid, n, depth, 0 FROM depths WHERE step = 1\n"
	  "           UNION ALL SELECT woken, tid, n, depth - 1, 1 FROM depths WHERE step = 1)),\n"
	  "parts AS (\n"
	  "  SELECT n, until - since AS ns FROM ran\n"
	  "   UNION ALL SELECT r.n, i.since - i.until\n"
	  "    FROM parents AS p JOIN ran AS i USING (n) JOIN ran AS r ON r.n = p.parent\n"
	  "   WHERE p.is_child AND i.until <= r.until),\n"
	  "meanwhile AS MATERIALIZED (\n"
	  "  SELECT r.woken, r.tid, r.what, sum(p.ns) AS ns\n"
	  "    FROM parts AS p JOIN ran AS r USING (n)\n"
	  "   GROUP BY r.woken, r.tid, r.other, r.what)\n"
	  "SELECT round(latency / 1e3, 1) AS us, comm, tid, cpu, waker_comm, waker_tid, (\n"
	  "         SELECT what FROM (\n"
	  "           SELECT m.what, m.ns FROM meanwhile AS m\n"
	  "            WHERE m.woken = worst.woken AND m.tid = worst.tid\n"
	  "            UNION ALL SELECT '(not known)', worst.latency - total(m.ns)\n"
	  "             FROM meanwhile AS m\n"
	  "            WHERE m.woken = worst.woken AND m.tid = worst.tid)\n"
	  "          ORDER BY ns DESC, what LIMIT 1) AS ran_instead,\n"
	  "       " SECONDS("woken") "\n"
	  "  FROM worst ORDER BY latency DESC, worst.woken, tid",
	  "wakeup_latency", 0 },
	{ "wakeup-threads", "latency of wake-ups by thread",
	  "SELECT " LAST_NAME("wakeup_latency") ",\n       tid, count(*) AS wakeups, round(avg(latency) / 1e3, 1) AS mean_us,\n"
	  "       round(max(latency) / 1e3, 1) AS worst_us\n"
	  "  FROM wakeup_latency GROUP BY tid ORDER BY max(latency) DESC, tid",
	  "wakeup_latency", 25 },
	{ "off-cpu", "the longest stretches off the CPU, and the wakers",
	  "SELECT round(duration / 1e6, 3) AS ms, comm, tid, state, round(waited / 1e6, 3) AS waited_ms,\n"
	  "       waker_comm, waker_tid, " SECONDS("start") "\n"
	  "  FROM off_cpu WHERE whole ORDER BY duration DESC, off_cpu.start, tid",
	  "off_cpu", 25 },
	{ "irqs", "interrupts by handler",
	  "SELECT irq, name, count(*) AS count, round(sum(duration) / 1e3, 1) AS us,\n"
	  "       round(avg(duration) / 1e3, 2) AS mean_us, round(max(duration) / 1e3, 2) AS longest_us\n"
	  "  FROM irq_duration GROUP BY irq, name ORDER BY sum(duration) DESC, irq, name",
	  "irq_duration", 0 },
	{ "softirqs", "softirqs by kind",
	  "SELECT vec, name, count(*) AS count, round(sum(duration) / 1e3, 1) AS us,\n"
	  "       round(avg(duration) / 1e3, 2) AS mean_us, round(max(duration) / 1e3, 2) AS longest_us\n"
	  "  FROM softirq_duration GROUP BY vec, name ORDER BY sum(duration) DESC, vec",
	  "softirq_duration", 0 },
	{ "syscalls", "system calls by time, with how many failed",
	  "SELECT name, id, count(*) AS count, round(sum(duration) / 1e6, 3) AS ms,\n"
	  "       round(avg(duration) / 1e3, 1) AS mean_us, round(max(duration) / 1e3, 1) AS longest_us,\n"
	  "       sum(result BETWEEN -4095 AND -1) AS failed\n"
	  "  FROM syscall_duration GROUP BY id, name ORDER BY sum(duration) DESC, id",
	  "syscall_duration", 0 },
	{ "syscall-errors", "system calls that failed, by process and error",
	  "SELECT comm, pid, name, -result AS errno, count(*) AS count\n"
	  "  FROM syscall_duration WHERE result BETWEEN -4095 AND -1\n"
	  " GROUP BY comm, pid, name, result ORDER BY count(*) DESC, pid, name, result",
	  "syscall_duration", 50 },
	{ "slow-syscalls", "the longest system calls",
	  "SELECT round(duration / 1e6, 3) AS ms, comm, tid, name, result,\n"
	  "       " SECONDS("start") "\n"
	  "  FROM syscall_duration ORDER BY duration DESC, syscall_duration.start, tid",
	  "syscall_duration", 25 },
	{ "block", "requests to block devices, by device and kind",
	  "SELECT device, kind, count(*) AS requests, sum(bytes) AS bytes,\n"
	  "       round(avg(duration) / 1e3, 1) AS mean_us, round(max(duration) / 1e3, 1) AS longest_us,\n"
	  "       round(avg(queued) / 1e3, 1) AS queued_us, sum(error != 0) AS failed\n"
	  "  FROM block_io WHERE whole GROUP BY device, kind ORDER BY sum(duration) DESC, device, kind",
	  "block_io", 0 },
	{ "slow-block", "the longest requests to block devices",
	  "SELECT round(duration / 1e3, 1) AS us, device, kind, sector, bytes, error, comm, tid,\n"
	  "       " SECONDS("start") "\n"
	  "  FROM block_io WHERE whole ORDER BY duration DESC, block_io.start, sector",
	  "block_io", 25 },
	{ "events", "number of each event",
	  "SELECT system, event, sum(events) AS count FROM event_types\n"
	  " GROUP BY system, event HAVING sum(events) ORDER BY sum(events) DESC, system, event",
	  "", 0 },
	{ "event-threads", "number of events by thread",
	  "SELECT _comm AS comm, _tid AS tid, count(*) AS events FROM events\n"
	  " GROUP BY _comm, _tid ORDER BY count(*) DESC, _tid, _comm",
	  "", 25 },
	{ "losses", "where events are missing",
	  "SELECT cpu, tid, events, at_most, overwritten, dropped, oversize, cause, first,\n"
	  "       round((last - first) / 1e6, 3) AS ms FROM losses ORDER BY first, cpu, tid",
	  "", 0 },
	{ "user-slices", "slices of programs by category and name",
	  "SELECT category, name, count(*) AS count, sum(duration IS NULL) AS unended,\n"
	  "       round(sum(duration) / 1e6, 3) AS ms, round(max(duration) / 1e6, 3) AS longest_ms\n"
	  "  FROM user_slices GROUP BY category, name ORDER BY sum(duration) DESC, category, name",
	  "", 0 },
	{ 0 }
};
