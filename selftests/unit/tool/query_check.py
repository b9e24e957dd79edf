#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# query_check.py - "tracebuf query" gives the answers that the same SQL has in the database that
# "tracebuf export" makes.
#
#   query_check.py TRACEBUF TRACE [TIME]
#
# TIME is mono (default), boot or real. Prints differences and how many questions had rows; the exit
# status is 1 if an answer differs.

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

tool, trace = sys.argv[1:3]
base = sys.argv[3] if len(sys.argv) > 3 else 'mono'

directory = tempfile.TemporaryDirectory()
path = os.path.join(directory.name, 'trace.sqlite')
subprocess.run([tool, 'export', '-q', '-T', base, '--format', 'sqlite', '-o', path, trace], check=True)
database = sqlite3.connect(path)


def stored(sql):
    cursor = database.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, [value.hex() if isinstance(value, bytes) else value
                             for value in row])) for row in cursor]


def asked(questions):
    """The answers to all questions: arrays of JSON, one after the other."""
    with open(os.path.join(directory.name, 'questions.sql'), 'w', encoding='utf-8') as file:
        file.write(''.join(f'{sql};\n' for sql in questions))
    done = subprocess.run([tool, 'query', '-T', base, '--json', '--file', file.name, trace],
                          capture_output=True, text=True)
    decoder, at, answers = json.JSONDecoder(), 0, []
    while at < len(done.stdout):
        answer, at = decoder.raw_decode(done.stdout, at)
        answers.append(answer)
        at += 1
    if done.returncode or len(answers) != len(questions):
        print('# ' + done.stderr.replace('\n', '\n# '))
        print(f'# exit status {done.returncode}, the last answer is to: '
              f'{questions[max(len(answers) - 1, 0)]}')
        sys.exit(1)
    return answers


# tables without an order of rows
UNORDERED = {'threads', 'events', 'thread_states'}


def questions():
    tables = [row[0] for row in database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")]
    for table in tables:
        order = ' ORDER BY ' + ', '.join(
            str(i + 1) for i in range(len(database.execute(
                f'SELECT * FROM "{table}" LIMIT 0').description))) if table in UNORDERED else ''
        yield f'SELECT * FROM "{table}"{order}'
        yield f'SELECT count(*) AS n FROM "{table}"'

    events = [row[0] for row in database.execute(
        'SELECT DISTINCT table_name FROM event_types WHERE events ORDER BY events DESC LIMIT 12')]
    if events:
        low, high = database.execute('SELECT min(_time), max(_time) FROM events').fetchone()
        span = high - low
    for table in events:
        # limits that are times of events, and others
        edges = [row[0] for row in database.execute(
            f'SELECT _time FROM "{table}" ORDER BY random() LIMIT 2')]
        edges += [low + span // 3, low + span // 2]
        for at in edges:
            to = at + span // 20
            yield f'SELECT * FROM "{table}" WHERE _time BETWEEN {at} AND {to}'
            yield f'SELECT rowid, _time, _tid, _cpu FROM "{table}" WHERE _time > {at} AND _time < {to}'
            yield f'SELECT _time, _tid, _cpu, _context FROM "{table}" WHERE _time >= {at} AND _cpu = 0'
            yield f'SELECT _time, _comm, _pid FROM "{table}" WHERE {to} >= _time AND _cpu IN (0, 1, 7)'
            yield f'SELECT _time, _tid FROM "{table}" WHERE _time = {at}'
            yield f'SELECT count(*) AS n FROM "{table}" WHERE _time < {at} OR _time > {to}'
        yield f'SELECT _time, _tid, _cpu FROM "{table}" WHERE _time > {low + span // 2}.5 LIMIT 20'
        yield f'SELECT count(*) AS n FROM "{table}" WHERE _time > {low}.25 AND _time <= {high}'
        yield f'SELECT count(*) AS n FROM "{table}" WHERE _time > 1e300 OR _time < -1e300'
        yield f"SELECT count(*) AS n FROM \"{table}\" WHERE _time > '{low}'"
        yield f'SELECT count(*) AS n FROM "{table}" WHERE _time > NULL'
        yield f"SELECT count(*) AS n FROM \"{table}\" WHERE _cpu = '1'"
        yield f'SELECT count(*) AS n FROM "{table}" WHERE _cpu = 1.0'
        yield f"SELECT count(*) AS n FROM \"{table}\" WHERE _cpu IN (1, 'x', NULL, -1, 99999)"
        yield f'SELECT count(*) AS n FROM "{table}" WHERE _cpu NOT IN (1)'
        yield f'SELECT rowid, _time FROM "{table}" WHERE _cpu = 1 ORDER BY rowid DESC LIMIT 9'
        yield f'SELECT rowid, _time FROM "{table}" WHERE rowid IN (3, 1, 2) ORDER BY 1'
        yield f'SELECT _comm, _tid, count(*) AS n FROM "{table}" GROUP BY _comm, _tid ORDER BY 1, 2'
        yield f"SELECT _cpu, count(*) AS n FROM events WHERE event = '{table}' GROUP BY _cpu ORDER BY 1"
        # joins, which query one table many times
        yield (f'SELECT a._time, b._time AS next FROM "{table}" a JOIN "{table}" b ON b._tid = a._tid'
               ' AND b.rowid = a.rowid + 1 ORDER BY a.rowid LIMIT 50')
        yield (f'SELECT s.start, count(*) AS n FROM (SELECT * FROM run_slices ORDER BY duration DESC, start'
               f' LIMIT 30) s JOIN "{table}" e ON e._cpu = s.cpu AND e._time >= s.start'
               ' AND e._time < s.finish GROUP BY s.start ORDER BY s.start')
        yield (f'SELECT s.start, e._comm, count(*) AS n FROM (SELECT * FROM run_slices ORDER BY duration DESC,'
               f' start LIMIT 9) s JOIN "{table}" e ON e._time BETWEEN s.start AND s.finish'
               ' GROUP BY s.start, e._comm ORDER BY 1, 2')
        yield (f'SELECT x.stack, x.counters, e._time FROM extras x JOIN "{table}" e ON e.rowid = x.event'
               f" WHERE x.table_name = '{table}' ORDER BY e.rowid LIMIT 50")
    if len(events) > 1:
        some = ', '.join(f"'{name}'" for name in events[:3])
        yield (f'SELECT event, count(*) AS n FROM events WHERE event IN ({some}, \'mark\', \'none\')'
               ' GROUP BY event ORDER BY 1')
        yield f'SELECT count(*) AS n FROM events WHERE _time > {low + span // 2} AND _cpu = 0'
    for kind in ('run', 'irq', 'softirq', 'syscall', 'none'):
        yield f"SELECT * FROM slices WHERE kind = '{kind}'"
        yield f"SELECT start, duration, whole FROM slices WHERE kind = '{kind}' AND cpu = 0"
        yield f"SELECT rowid, start FROM slices WHERE kind = '{kind}' ORDER BY duration DESC, rowid LIMIT 9"
    yield "SELECT kind, count(*) AS n, sum(duration) AS ns FROM slices GROUP BY kind ORDER BY 1"
    yield "SELECT kind, count(*) AS n FROM slices WHERE kind IN ('irq', 'syscall') GROUP BY 1 ORDER BY 1"
    # values of a row that is not the last one of the scan
    yield ("SELECT cpu, max(duration) AS ns, name, comm, number FROM slices WHERE kind = 'irq' GROUP BY cpu")
    yield 'SELECT kind, min(duration) AS ns, name, comm, state FROM slices GROUP BY kind'
    yield ('SELECT s.comm, t.pid, t.kernel, count(*) AS n FROM slices s JOIN threads t ON t.tid = s.tid'
           ' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3')
    yield ('SELECT w.woken, r.start, r.waited FROM wakeups w JOIN run_slices r ON r.tid = w.tid'
           ' AND r.start = w.woken + w.latency ORDER BY 1, 2 LIMIT 200')
    yield 'SELECT tid, state, sum(duration) AS ns FROM thread_states GROUP BY 1, 2 ORDER BY 1, 2'
    yield 'SELECT * FROM off_cpu WHERE start > (SELECT avg(start) FROM off_cpu) AND tid = 1'
    for name in subprocess.run([tool, 'query', '--list', '-v'], capture_output=True, text=True,
                               check=True).stdout.split(';\n\n'):
        if '\n\n' in name:
            yield name.split('\n\n', 1)[1]


def main():
    different = answered = 0
    asked_for = list(questions())
    for sql, have in zip(asked_for, asked(asked_for)):
        want = stored(sql)
        answered += bool(want)
        if want == have:
            continue
        different += 1
        print(f'# {trace}: {sql}')
        print(f'#   {len(want)} rows stored, {len(have)} answered')
        for a, b in zip(want, have):
            if a != b:
                print(f'#   stored {a}\n#   answer {b}')
                break
    print(f'# {answered} of {len(asked_for)} questions had rows, {different} had different ones')
    return bool(different) or not answered


sys.exit(main())
