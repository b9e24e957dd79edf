#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# query_special.py - "tracebuf query" keeps all rows and tables of recordings that are special, also
# of hostile ones.
#
#   query_special.py TRACEBUF HISTORY_TRACE REPORT_TRACE CHECK

import json
import os
import struct
import subprocess
import sys
import tempfile

tool, history_trace, report_trace, check = sys.argv[1:]
os.chdir(tempfile.mkdtemp(dir="."))


def query(*arguments):
    """Run a query that has an answer; return it, and what it says."""
    done = subprocess.run([tool, "query", *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    assert not done.returncode, (arguments, done)
    return done.stdout, done.stderr


def rows(name, sql):
    """The only column of the answer."""
    return query("--csv", "--no-header", *name.split(), sql)[0].split()


def history(name, script):
    subprocess.run([history_trace, name], input=script, text=True, check=True)


def report(kind, *more):
    subprocess.run([report_trace, kind, kind + ".tbuf", *more], check=True)
    return kind + ".tbuf"


def description(number, system, event, fields):
    """A record that describes an event whose fields are 4 bytes each."""
    texts, places = bytearray(1), {}
    for text in [system, event, "int", *fields]:
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
    body = struct.pack("<8H", number, 0, len(fields), len(texts), places[system], places[event],
                       0, 0)
    for field in fields:
        body += struct.pack("<4H2B3H", 0, 4, 0, 0, 0, 0, 0, places[field], places["int"])
    return body + texts


def describe(name, *events):
    """Add descriptions of events to a recording: a durable block each."""
    with open(name, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        header = struct.unpack_from("<IBBBBHHIQQQII", data, at)
        if header[2] == data[5]:
            last = header
        at += 1 << header[3]
    sequence = last[8]
    for i, event in enumerate(events, 1):
        sequence += 1
        body = description(5000 + 2 * i, *event)
        body += bytes(-len(body) % 16)
        size = 1 + len(body) // 16
        element = struct.pack("<IIIHH", 2 | 17 << 2 | size << 16 | (sequence & 63) << 26,
                              last[10] & 0xffffffff, 0, len(body), 0)
        header = struct.pack("<IBBBBHHIQQQII2Q", *last[:3], 15, last[4], 0, 0, 0, sequence,
                             last[10], last[10], 64 + 16 + len(body), 1, 0, 0)
        data += (header + element + body).ljust(1 << 15, b"\0")
    with open(name, "wb") as file:
        file.write(data)


def clock():
    """A condition on the time and one that cannot narrow a scan down have the same rows."""
    name = report("clock")
    for base in "mono", "boot", "real":
        file = "-T %s %s" % (base, name)
        times = [int(time) for time in rows(file, "SELECT _time FROM events")]
        assert times != sorted(times)
        for time in times:
            for test in "<", "<=", "=", ">=", ">":
                sql = "SELECT count(*) FROM sched_switch WHERE %%s_time %s %d" % (test, time)
                have, want = (rows(file, sql % sign) for sign in ("", "+"))
                assert have == want, (base, test, time, have, want)
    # only the wall clock is set back
    with open(name, "rb") as file:
        data = bytearray(file.read())
    wall = [(0, 1000), (20, 500), (100, 900)]
    for ticks, ms in wall:
        old, new = (struct.pack("<3Q", ticks * 10**6, ns, ns + 1000)
                    for ns in (ms * 10**6, (1000 + ticks) * 10**6))
        assert data.count(old) == 1
        data = data.replace(old, new)
    with open("wall.tbuf", "wb") as file:
        file.write(data)
    for option, want in (("--from 1700000001.014", times[2:]), ("--to 1700000001.014", times[:2]),
                         ("--from 1700000001.019", times[4:]), ("--from +12ms", times[4:]),
                         ("--from -9ms", times[4:]), ("--to -8ms", times[:5])):
        have = rows("-T real %s wall.tbuf" % option, "SELECT _time FROM events")
        assert have == [str(time) for time in want], (option, have, want)


def numbers():
    """A number from another column equals each name with this value: "5", "05"."""
    history("names.tbuf", "cpus 1\narguments\nthread 5\nthread 6\nsymbol 1 05\nsymbol 2 5\n"
            "enter 0 1000 5 5\nexit 0 1100 5 5 0\nenter 0 1200 5 5\nexit 0 1300 5 5 0\n"
            "enter 0 1400 6 6\nexit 0 1500 6 6 0\ntimer 0 2000 5 7 1 0\ntimerend 0 2100 5 7 1 0\n"
            "timer 0 2200 5 7 2 0\ntimerend 0 2300 5 7 2 0\n")
    join = "SELECT count(*) FROM sys_enter AS a CROSS JOIN timer_expire_entry AS b ON %s = a.id"
    for column in "b.function_name", "+b.function_name":
        assert rows("names.tbuf", join % column) == ["4"], column
    with open("names.tbuf", "rb") as file:
        data = file.read()
    assert data.count(b"\0timer_expire_exit\0") == 1
    with open("renamed.tbuf", "wb") as file:
        file.write(data.replace(b"\0timer_expire_exit\0", b"\0" + b"05".ljust(18, b"\0")))
    for value in "CAST(5 AS INTEGER)", "CAST(5 AS REAL)", "'05'":
        sql = "SELECT count(*) FROM events WHERE event = " + value
        assert rows("renamed.tbuf", sql) == ["2"], value
    assert rows("renamed.tbuf", "SELECT count(*) FROM events WHERE event = '5'") == ["0"]
    history("why.tbuf", "cpus 1\nthread 5\nthread 6\nswitch 0 1400 5 1 6\nwaking 0 1500 6 5 0 0\n"
            "switch 0 1700 6 1 5\nswitch 0 1800 5 1 0\ntotals 0 0 2000\n")
    with open("why.tbuf", "rb") as file:
        data = file.read()
    with open("why.tbuf", "wb") as file:
        file.write(data.replace(b"t5\0", b"05\0"))
    sql = "SELECT count(*) FROM why WHERE comm = "
    want = rows("why.tbuf", sql + "'05'")
    assert want > ["0"] and rows("why.tbuf", sql + "CAST(5 AS INTEGER)") == want


def columns():
    """A table has as many columns as SQLite accepts, and equal names are found fast."""
    history("wide.tbuf", "cpus 1\nthread 5\nirq 0 1000 0 5\nirqend 0 2000 0 5\n")
    describe("wide.tbuf", *[("x", "big", ["f%d" % i] * 1000) for i in range(9)])
    assert rows("wide.tbuf", "SELECT count(*) FROM events") == ["2"]
    # again and again, so that the rows are stored with an index
    assert rows("wide.tbuf", "SELECT count(*) FROM irq_handler_entry AS e CROSS JOIN big AS a "
                "ON a.f0 = e.irq CROSS JOIN big AS b ON b.f1_2 = e.irq") == ["0"]
    names = query("--csv", "wide.tbuf", "SELECT * FROM big")[0].strip().split(",")
    assert len(names) == 1997 and names[6:9] == ["f0", "f0_2", "f0_3"], names
    assert len({name.lower() for name in names}) == len(names)


def names():
    """The table of an event replaces no other one."""
    history("names.tbuf", "cpus 1\nthread 5\nswitch 0 1400 5 1 0\nirq 0 1000 0 5\n"
            "irqend 0 2000 0 5\n")
    schema = query("--schema", "names.tbuf")[0].splitlines()
    describe("names.tbuf", ("run", "slices", ["a"]), ("sqlite", "threads", ["b"]),
             ("y", "x_threads", ["c"]), ("x", "threads", ["d"]), ("RUN", "Slices", ["e"]),
             ("user_events", "writer", ["f"]), ("sqlite", "writer", ["g"]))
    have = query("--schema", "names.tbuf")[0].splitlines()
    assert set(schema) < set(have)
    tables = {line.split(" ")[0]: line for line in have if line not in schema}
    assert len(tables) == 7 and len(have) == len(schema) + 7, have
    for name, field in (("run_slices_2", "a"), ("_sqlite_threads", "b"), ("x_threads", "c"),
                        ("x_threads_2", "d"), ("RUN_Slices_3", "e"), ("user_events_writer_2", "f")):
        assert ", %s INTEGER, " % field in tables.get(name, ""), (name, tables)
    assert rows("names.tbuf", "SELECT count(*) FROM run_slices_2") == ["0"]


def most():
    """People get the first rows and are told so, programs get all."""
    name = report("ended", "60")
    text, said = query(name, "cpu-threads")
    assert len(text.splitlines()) == 2 + 25 and "only the first 25 rows are shown" in said, said
    for form in "--csv", "--json":
        text, said = query(form, name, "cpu-threads")
        count = len(json.loads(text)) if form == "--json" else len(text.splitlines()) - 1
        assert count > 25 and "first" not in said, (form, count, said)
    text, said = query(report("crowd"), "cpu-threads")
    assert 0 < len(text.splitlines()) <= 2 + 25 and "first" not in said, said


def unselected():
    """Events that are only described were not recorded."""
    history("few.tbuf", "cpus 1\nselect 1001 irq\nirq 0 1000000 0 5\nirqend 0 2000000 0 5\n"
            "totals 0 0 3000000\n")
    for name in "cpu", "states", "wakeups", "block", "syscalls":
        done = subprocess.run([tool, "query", "few.tbuf", name], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 1 and "recorded, which the question" in done.stderr, done
    assert "disk" in query("few.tbuf", "irqs")[0]
    # selected for a part of the time
    history("later.tbuf", "cpus 1\nthread 5\nselect 1001 irq\nirq 0 1000000 0 5\n"
            "irqend 0 2000000 0 5\nselect 2000001 irq,switch\nswitch 0 2500000 0 0 5\n"
            "switch 0 2900000 5 1 0\ntotals 0 0 3000000\n")
    assert "t5" in query("later.tbuf", "cpu")[0]


globals()[check]()
