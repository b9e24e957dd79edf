#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Of chosen threads and times, each export has the runs that a trace is known to have.

chosen_check.py TOOL TRACE TID NAME NS OPTION...: thread TID, NAME, ran for NS, in SQLite, JSON,
Perfetto and FXT.
"""
import json
import os
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import fxt_check    # noqa: E402
import pf_wire      # noqa: E402


def of_sqlite(path, tid, _):
    return sqlite3.connect(path).execute(
        "SELECT ifnull(sum(duration), 0) FROM run_slices WHERE tid = ?", [tid]).fetchone()[0]


def of_json(path, _, comm):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return round(1000 * sum(one["dur"] for one in events
                            if one["ph"] == "X" and one.get("cat") == "sched" and
                            one["name"] == comm))


def between(switches, tid):
    """switches: CPU, ns and next thread, in the order of the file"""
    total, current = 0, {}
    for cpu, time, thread in switches:
        begun, before = current.get(cpu, (time, None))
        total += time - begun if before == tid else 0
        current[cpu] = time, thread
    return total


def of_perfetto(path, tid, _):
    return between(((event.cpu, event.time, event.fields["next_pid"])
                    for event in pf_wire.load(path)[1] if event.name == "sched_switch"), tid)


def of_fxt(path, tid, _):
    with open(path, "rb") as file:
        reader = fxt_check.Reader(file.read())
    reader.read()
    return between(((one[2], one[0], one[4]) for one in reader.out if one[1] == "switch"), tid)


def main():
    tool, trace, tid, comm, wanted, *options = sys.argv[1:]
    wrong = 0
    for name, read in (("sqlite", of_sqlite), ("json", of_json), ("perfetto", of_perfetto),
                       ("fxt", of_fxt)):
        path = "chosen." + name
        if os.path.exists(path):
            os.remove(path)
        subprocess.run([tool, "export", "-q", "--format", name, "-o", path, *options, trace],
                       check=True)
        have = read(path, int(tid), comm)
        os.remove(path)
        if have != int(wanted):
            print(f"# {name} {' '.join(options)}: {have} ns, not {wanted}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
