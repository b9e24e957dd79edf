#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# query_selected.py - with the same options "tracebuf query" has the rows of events that the
# database of "tracebuf export" has.
#
#   query_selected.py TRACEBUF TRACE OPTION...
#
# Slices are not compared: an exporter makes them from the selected events, query from all.

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

tool, trace, *options = sys.argv[1:]
# besides a table for each event
TABLES = ["event_types", "marks", "extras", "losses", "user_events", "other_events"]


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace.sqlite")
        subprocess.run([tool, "export", "-q", "--format", "sqlite", "-o", path, *options, trace],
                       check=True)
        database = sqlite3.connect(path)
    tables = [row[0] for row in database.execute(
        "SELECT table_name FROM event_types WHERE events ORDER BY 1")]
    different = rows = 0
    for name in TABLES + [f'"{table}"' for table in tables]:
        if name == "event_types":
            sql = "SELECT * FROM event_types WHERE events"
        elif name in TABLES:
            sql = f"SELECT * FROM {name}"
        else:
            sql = f"SELECT rowid AS row_number, * FROM {name}"
        cursor = database.execute(sql)
        names = [column[0] for column in cursor.description]
        want = [dict(zip(names, [value.hex() if isinstance(value, bytes) else value
                                 for value in row])) for row in cursor]
        done = subprocess.run([tool, "query", "--json", *options, trace, sql],
                              capture_output=True, text=True)
        have = json.loads(done.stdout) if not done.returncode else done.stderr
        rows += len(want)
        if want != have:
            different += 1
            print(f"# {name} {options}: stored {want[:2]}\n# answered {have[:2]}")
    count = database.execute("SELECT count(*) FROM events").fetchone()[0]
    done = subprocess.run([tool, "query", "--csv", "--no-header", *options, trace,
                           "SELECT count(*) FROM events"], capture_output=True, text=True)
    if done.stdout != f"{count}\n":
        different += 1
        print(f"# events: {count} stored, {done.stdout.strip()} answered")
    print(f"# {rows} rows, {different} tables differ")
    return different > 0 or not rows


sys.exit(main())
