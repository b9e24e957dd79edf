#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Checks that a trace has the same events in every format that it is exported to.

    export_check.py TRACEBUF TRACE [FORMAT]...
    export_check.py --damage TRACEBUF TRACE TIMES

"tracebuf print --fields" is the reference for each event. jsonl, csv and sqlite must have all
events with all fields. json must have the slices and instants that Model computes again from the
events. perfetto must draw what the analysis says (pf_import.py). Prints TAP.

With --damage, damaged copies of the trace are exported: the tool must exit by itself, and the file
that it has written must be valid JSON, a table or a database.
"""

import collections
import csv
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import pf_import
import pf_wire

LINE = re.compile(r"^ *(.*?)-(\d+) \[(\d+|---|\.\.\.)\] (..) (\d+)\.(\d{9}): "
                  r"([^:]*):([^:]*): ?(.*)$")
LOST = re.compile(r"^-- (?:CPU (\d+)|writer (\d+)/(\d+) of thread (\d+)): LOST (?:up to )?(\d+) ")
MASK64 = (1 << 64) - 1


class Failed(Exception):
    """A difference from what is expected, in one sentence."""


def expect(have, want, what):
    if have != want:
        raise Failed(f"{what}: {have!r} instead of {want!r}")


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, check=False)
    # a recording may not have the event; the tool then says so
    if done.returncode and not (done.returncode == 1 and b"no such event" in done.stderr):
        raise Failed(f"{' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
    return done.stdout


class Event:
    """A line of print: an event or a loss."""

    def __init__(self, line):
        self.lost = LOST.match(line)
        if self.lost:
            cpu, _, _, tid, count = self.lost.groups()
            self.cpu = int(cpu) if cpu else None
            self.tid = int(tid) if tid else None
            self.count = int(count)
            self.text = line[line.index(": LOST") + 2:-3]
            self.name = "tracebuf:lost" if cpu else "user:lost"
            return
        match = LINE.match(line)
        if not match:
            raise Failed(f"print says {line!r}")
        comm, tid, cpu, context, seconds, ns, system, name, text = match.groups()
        self.comm, self.tid, self.context = comm, int(tid), context
        self.cpu = int(cpu) if cpu.isdigit() else None
        self.time = int(seconds) * 10**9 + int(ns)
        self.name, self.text = f"{system}:{name}", text


def escaped(text):
    """Escape a text as print does: only printable ASCII stays."""
    return re.sub(r"[^ -~]", lambda m: "".join(f"\\x{b:02x}" for b in m.group().encode()), text)


def for_doubles(value):
    """Viewers of Chrome's format read numbers as doubles: larger integers are strings there."""
    if isinstance(value, dict):
        return {key: for_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [for_doubles(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > 1 << 53 else value


def is_damaged(value):
    """Bytes that are no UTF-8 become U+FFFD in JSON, so that the text cannot be compared."""
    return "\ufffd" in json.dumps(value, ensure_ascii=False)


def shown(fields):
    """The fields of an object as print shows them."""
    parts = []
    for name, value in fields.items():
        if name.endswith("_name") and name[:-5] in fields:
            continue
        if value is None:
            value = "<truncated>"
        elif isinstance(value, list):
            value = "[" + ",".join(str(item) for item in value) + "]"
        elif isinstance(value, str):
            value = escaped(value)
        if f"{name}_name" in fields:
            value = f"{value}({fields[name + '_name']})"
        parts.append(f"{name}={value}")
    return " ".join(parts)


class Check:
    def __init__(self, tool, trace):
        self.tool, self.trace = tool, trace
        self.directory = tempfile.TemporaryDirectory()
        text = run(tool, "print", "--fields", trace).decode("latin-1")
        # skip the lines of stacks and counters
        self.events = [Event(line) for line in text.splitlines()
                       if not line.startswith("\t")]
        self.objects = [json.loads(line) for line in
                        run(tool, "export", "--jsonl", "-o", "-", trace).splitlines()]

    def export(self, kind, *options):
        path = os.path.join(self.directory.name, "out")
        run(self.tool, "export", "-q", "--format", kind, "-o", path, *options, self.trace)
        return path

    # ---- text ----

    def text(self):
        for options in (), ("--fields",):
            with open(self.export("text", *options), "rb") as file:
                expect(file.read() == run(self.tool, "print", *options, self.trace), True,
                       f"the text of print {options}")

    # ---- jsonl ----

    def jsonl(self):
        expect(run(self.tool, "print", "--jsonl", self.trace),
               run(self.tool, "export", "--jsonl", "-o", "-", self.trace), "print --jsonl")
        expect(len(self.objects), len(self.events), "objects")
        for number, (line, item) in enumerate(zip(self.events, self.objects)):
            where = f"event {number}, {line.name}"
            if line.lost:
                expect(item["type"], "lost", where)
                fields = item["fields"]
                expect(fields.get("events", fields.get("records",
                                                       fields.get("records_at_most"))),
                       line.count, where)
                expect((item.get("cpu"), item.get("tid")), (line.cpu, line.tid), where)
                continue
            expect((item["time"], item.get("cpu"), item["tid"], item.get("context", "..")),
                   (line.time, line.cpu, line.tid, line.context), where)
            # print cuts names off and replaces characters that it does not show
            if item["comm"].isascii() and item["comm"].isprintable():
                expect(item["comm"], line.comm, where)
            if item["system"] == "user":
                self.user_object(line, item, where)
                continue
            expect(f"{item['system']}:{item['name']}", line.name, where)
            expect(item["type"], "event", where)
            if line.name == "tracebuf:mark":
                expect(escaped(item["fields"]["text"]), line.text, where)
            elif not is_damaged(item["fields"]):
                expect(shown(item["fields"]), line.text, where)

    @staticmethod
    def user_object(line, item, where):
        expect(f"user:{item['category']}", line.name, where)
        text = item["type"]
        fields = dict(item["fields"])
        if item["type"] == "mark":
            if not is_damaged(item):
                expect(f"mark {escaped(fields['text'])}", line.text, where)
            return
        if item["name"]:
            text += f" {escaped(item['name'])}"
        if item["type"] == "counter":
            text += f"={number_text(fields.pop('value'))}"
        elif "duration" in fields:
            text += " duration=%d.%09d" % divmod(fields.pop("duration"), 10**9)
        elif fields.get("doubt") == "not ended":
            text += " not ended"
            del fields["doubt"]
        doubts = [f" <{fields.pop(key)}>" for key in list(fields) if key.startswith("doubt")]
        for name, value in fields.items():
            # "#2" marks the second argument of a name; an unknown name is "#" and a number
            name = re.sub(r"(.)#\d+$", r"\1", name)
            value = number_text(value) if isinstance(value, (int, float)) else escaped(value)
            text += f" {escaped(name)}={value}"
        text += "".join(doubts)
        if not is_damaged(item):
            expect(text, line.text, where)

    def span(self):
        """--from and --to at the time of every event: exact to the tick."""
        if len(self.objects) > 200:
            return
        for time in sorted({item["time"] for item in self.objects}):
            seconds = "%d.%09d" % divmod(time, 10**9)
            for option, want in (("--from", [item for item in self.objects
                                             if item["time"] >= time]),
                                 ("--to", [item for item in self.objects
                                           if item["time"] < time])):
                have = run(self.tool, "export", "--jsonl", "-o", "-", option, seconds, self.trace)
                expect(len(have.splitlines()), len(want), f"objects {option} {seconds}")

    # ---- csv ----

    def rows(self, *options):
        with open(self.export("csv", *options), newline="", encoding="ascii") as file:
            return list(csv.reader(file, strict=True))

    def csv(self):
        head, *rows = self.rows()
        expect(head, ["time", "cpu", "pid", "tid", "comm", "event", "fields"], "the header")
        expect(len(rows), len(self.events), "rows")
        for number, (row, line, item) in enumerate(zip(rows, self.events, self.objects)):
            where = f"row {number}, {line.name}"
            expect(row[0], str(item["time"]), where)
            expect(row[1:4], [str(item.get(key, "")) for key in ("cpu", "pid", "tid")], where)
            expect(row[5:], [line.name, line.text], where)
            if not line.lost and item["comm"].isascii():
                expect(row[4], escaped(item["comm"]), where)

    def csv_columns(self):
        """With -e EVENT the table has a column for each field."""
        kinds = sorted({f"{item['system']}:{item['name']}" for item in self.objects
                        if item["type"] == "event" and
                        item["system"] not in ("tracebuf", "unknown", "user")})
        for kind in kinds:
            head, *rows = self.rows("-e", kind)
            expect(head[:6] + head[-1:],
                   ["time", "cpu", "pid", "tid", "comm", "event", "text"], kind)
            expect(len(head), len(set(head)), f"{kind}: different columns")
            event = kind.split(":")[1]
            names = [re.sub(f"^{event}\\.", "", name) for name in head[6:-1]]
            rows = [row for row in rows if not row[-1]]
            items = [item for item in self.objects
                     if (item["system"], item["name"]) == tuple(kind.split(":"))]
            expect(len(rows), len(items), f"rows of {kind}")
            for row, item in zip(rows, items):
                fields = dict(zip(names, row[6:-1]))
                for name, value in item["fields"].items():
                    if isinstance(value, list):
                        value = "[" + ",".join(str(part) for part in value) + "]"
                    have = fields.pop(name)
                    if not is_damaged(value):
                        expect(have, "" if value is None else escaped(str(value)),
                               f"{kind} at {item['time']}: {name}")
                expect(set(fields.values()) - {""}, set(), f"{kind} at {item['time']}")

    # ---- sqlite ----

    def sqlite(self):
        path = self.export("sqlite")
        expect(run("sqlite3", path, "PRAGMA integrity_check").strip(), b"ok",
               "sqlite3 about the file")
        # sqlite3 must accept every view
        views = run("sqlite3", path,
                    "SELECT name FROM sqlite_schema WHERE type = 'view'").decode().split()
        for view in views:
            run("sqlite3", path, f"SELECT count(*) FROM {view}")
        database = sqlite3.connect(path)
        database.row_factory = sqlite3.Row
        self.sqlite_events(database)
        self.sqlite_users(database)
        lost = [item for item in self.objects if item["type"] == "lost"]
        have = database.execute("SELECT * FROM losses ORDER BY rowid").fetchall()
        expect([(row["time"], row["cpu"], row["events"], row["first"], row["last"])
                for row in have],
               [(item["time"], item.get("cpu"),
                 item["fields"].get("events", item["fields"].get("records")),
                 item["fields"]["first"], item["fields"]["last"]) for item in lost], "losses")
        self.sqlite_slices(database)
        database.close()

    def sqlite_events(self, database):
        tables = {}
        for row in database.execute("SELECT * FROM event_types WHERE events > 0"):
            tables[f"{row['system']}:{row['event']}"] = row["table_name"]
        items = collections.defaultdict(list)
        for item in self.objects:
            if item["type"] == "event" and item["system"] != "user":
                items[f"{item['system']}:{item['name']}"].append(item)
        kinds = {kind for kind in items if not kind.startswith(("tracebuf:", "unknown:"))}
        expect(set(tables), kinds, "tables")
        for kind in kinds:
            rows = database.execute(f'SELECT * FROM "{tables[kind]}" ORDER BY rowid').fetchall()
            expect(len(rows), len(items[kind]), f"rows of {kind}")
            for row, item in zip(rows, items[kind]):
                self.sqlite_row(row, item, f"{kind} at {item['time']}")
        marks = [row["text"] for row in database.execute("SELECT * FROM marks ORDER BY rowid")]
        expect(marks, [item["fields"]["text"] for item in items["tracebuf:mark"]], "marks")
        count = sum(len(items[kind]) for kind in kinds) + len(marks)
        expect(database.execute("SELECT count(*) FROM events").fetchone()[0], count, "events")
        extras = database.execute("SELECT * FROM extras").fetchall()
        expect(sorted((row["stack"] or "", row["counters"] or "") for row in extras),
               sorted((json.dumps(item["stack"], separators=(",", ":"))
                       if "stack" in item else "",
                       json.dumps(item["counters"], separators=(",", ":"))
                       if "counters" in item else "") for item in self.objects
                      if item.keys() & {"stack", "user_stack", "counters"}), "extras")

    @staticmethod
    def sqlite_row(row, item, where):
        expect([row["_time"], row["_cpu"], row["_pid"], row["_tid"], row["_comm"]],
               [item["time"], item["cpu"], item["pid"], item["tid"], item["comm"]], where)
        names = {name for name in row.keys() if name.endswith("_name") and name[:-5] in row.keys()}
        expect({name for name in names if row[name] is not None} - set(item["fields"]), set(),
               where)
        for name, value in item["fields"].items():
            have = row[name]
            if isinstance(have, int) and not isinstance(value, list):
                value = int(value, 0) if isinstance(value, str) else value
                have, value = have & MASK64, value & MASK64
            elif isinstance(have, bytes):
                have = have.hex()
            elif isinstance(value, list):
                have = json.loads(have)
            expect(have, value, f"{where}: {name}")

    def sqlite_users(self, database):
        rows = database.execute("SELECT * FROM user_events ORDER BY rowid").fetchall()
        items = [item for item in self.objects if item["system"] == "user"]
        expect(len(rows), len(items), "records of programs")
        for row, item in zip(rows, items):
            where = f"record at {item['time']}"
            fields = dict(item["fields"])
            expect((row["_time"], row["_tid"], row["type"]),
                   (item["time"], item["tid"], item["type"]), where)
            if item["type"] == "lost":
                continue
            for key in ("value", "duration"):
                expect(row[key], fields.pop(key, None), f"{where}: {key}")
            data = fields.pop("data", None)
            expect(row["data"] and row["data"].hex(), data, where)
            expect(row["text"], fields.pop("text", None), where)
            expect(row["flow"], fields.pop("flow", fields.pop("flow_end", None)), where)
            args = {key: value for key, value in fields.items() if not key.startswith("doubt")}
            expect(json.loads(row["args"] or "{}"), args, f"{where}: args")

    def sqlite_slices(self, database):
        model = Model(self.objects)
        for kind in ("run", "irq", "softirq", "syscall"):
            rows = database.execute(
                "SELECT start, duration, cpu, tid, number, name, result, state, waited "
                "FROM slices WHERE kind = ? AND whole ORDER BY rowid", (kind,)).fetchall()
            expect(sorted(map(repr, map(tuple, rows))),
                   sorted(map(repr, model.slices[kind])), f"slices: {kind}")
        rows = database.execute("SELECT woken, latency, cpu, tid, waker_tid FROM wakeups")
        expect(sorted(map(tuple, rows)), sorted(model.wakeups), "wakeups")

    # ---- Chrome's trace event format ----

    def json(self):
        with open(self.export("json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        model = Model(self.objects)
        by_phase = collections.defaultdict(list)
        for event in events:
            by_phase[event["ph"]].append(event)
        expect(set(by_phase) - set("MXiBECstfbe"), set(), "phases")
        named = {(event["pid"], event["tid"]) for event in by_phase["M"]
                 if event["name"] == "thread_name"}
        for event in events:
            if event["ph"] in "XiBE":
                expect((event["pid"], event["tid"]) in named, True,
                       f"a name for the thread of {event}")
        self.json_slices(by_phase["X"] + by_phase["i"], model)
        self.json_instants(by_phase["i"], model)
        self.json_users(by_phase)
        self.json_rows(by_phase["X"], by_phase)

    @staticmethod
    def json_slices(events, model):
        have = collections.defaultdict(list)
        for event in events:
            args = event.get("args", {})
            if event["cat"] in ("sched", "irq", "softirq", "syscall") and "dur" in event \
                    and "_doubt" not in args:
                have[event["cat"]].append((nanoseconds(event["ts"]), nanoseconds(event["dur"]),
                                           args["_cpu"], event["name"], args.get("ret"),
                                           args.get("end_state"), args.get("waited_ns")))
        for cat, kind in (("irq", "irq"), ("softirq", "softirq"), ("syscall", "syscall"),
                          ("sched", "run")):
            want = [(start, duration, cpu,
                     name or f"{kind} {number}",
                     result, state, waited)
                    for start, duration, cpu, tid, number, name, result, state, waited
                    in model.slices[kind] if kind != "run" or tid]
            if kind == "run":
                # compare without the name, which is the thread's
                want = [(*item[:3], None, *item[4:]) for item in want]
                have[cat] = [(*item[:3], None, *item[4:]) for item in have[cat]]
            expect(sorted(map(repr, have[cat])), sorted(map(repr, want)), f"slices: {cat}")

    def json_instants(self, events, model):
        """Each event that is in no slice is an instant."""
        systems = {item["system"] for item in self.objects} - {"user", "tracebuf"}
        have = collections.Counter(
            (nanoseconds(event["ts"]), event["cat"], event["name"]) for event in events
            if event["cat"] in systems and "_doubt" not in event["args"])
        want = collections.Counter((item["time"], item["system"], item["name"])
                                   for item in self.objects
                                   if item["type"] == "event" and item["system"] in systems
                                   and not model.is_part(item))
        expect(have - want, collections.Counter(), "instants too many")
        expect(want - have, collections.Counter(), "instants missing")
        for cat, kind in ("lost", "lost"), ("mark", "mark"):
            want = sum(item["type"] == "lost" if kind == "lost" else
                       (item["system"], item["name"]) == ("tracebuf", "mark")
                       for item in self.objects)
            expect(sum(event["cat"] == cat for event in events), want, cat)
        fields = {(item["time"], item["name"]): item["fields"] for item in self.objects}
        for event in events:
            if event["cat"] not in systems or "_doubt" in event["args"]:
                continue
            args = {key: value for key, value in event["args"].items()
                    if key not in ("_cpu", "stack", "user_stack", "counters")}
            same = fields.get((nanoseconds(event["ts"]), event["name"]))
            # with several events of one name at that time, one cannot tell which it is
            if have[nanoseconds(event["ts"]), event["cat"], event["name"]] == 1:
                expect(args, for_doubles(same), f"arguments of {event['name']}")

    def json_users(self, by_phase):
        users = [item for item in self.objects if item["system"] == "user"]
        count = collections.Counter(item["type"] for item in users)
        expect(len(by_phase["B"]), count["begin"], "slices that begin")
        self.json_overlapping(by_phase, [item for item in users if item["type"] == "slice"])
        expect(len(by_phase["C"]), count["counter"], "counters")
        for have, item in zip(by_phase["C"],
                              [item for item in users if item["type"] == "counter"]):
            expect((have["name"], have["args"]["value"], nanoseconds(have["ts"])),
                   (item["name"], item["fields"]["value"], item["time"]), "a counter")
        # an id that a program uses again after its end is another flow
        begun, want, flows = {}, collections.Counter(), 0
        for item in users:
            flow = item["fields"].get("flow", item["fields"].get("flow_end"))
            if flow is None:
                continue
            ends = "flow_end" in item["fields"]
            phase = "s" if flow not in begun else "f" if ends else "t"
            if flow not in begun:
                flows += 1
                begun[flow] = flows
            want[phase, begun[flow], item["time"]] += 1
            if ends:
                del begun[flow]
        expect(collections.Counter((phase, event["id"], nanoseconds(event["ts"]))
                                   for phase in "stf" for event in by_phase[phase]), want, "flows")

    @staticmethod
    def json_overlapping(by_phase, users):
        """Slices in one record: each has a beginning and an end of its own."""
        ends = collections.defaultdict(list)
        for event in by_phase["e"]:
            ends[event["id"]].append(nanoseconds(event["ts"]))
        have = collections.Counter()
        for event in sorted(by_phase["b"], key=lambda event: nanoseconds(event["ts"])):
            start = nanoseconds(event["ts"])
            later = [end for end in ends[event["id"]] if end >= start]
            end = min(later, default=None)
            if end is not None:
                ends[event["id"]].remove(end)
            have[event["name"], start, None if end is None or
                 "duration" not in event["args"] else end - start] += 1
        want = collections.Counter(
            (item["name"], item["time"], item["fields"].get("duration"))
            for item in users)
        expect(have, want, "slices in one record")

    def perfetto(self):
        judge = pf_import.Judge(self.tool, self.trace, self.export("perfetto"))
        try:
            for line in judge.judge():
                print(f"# {line}")
        except (pf_import.Wrong, pf_wire.Wrong) as wrong:
            raise Failed(str(wrong)) from wrong

    @staticmethod
    def json_rows(slices, by_phase):
        """On a track runs do not overlap, and each end has a beginning."""
        rows = collections.defaultdict(list)
        for event in slices:
            if event["cat"] == "sched":
                start = nanoseconds(event["ts"])
                rows[event["tid"]].append((start, start + nanoseconds(event["dur"])))
        for tid, row in rows.items():
            row.sort()
            for before, after in zip(row, row[1:]):
                expect(before[1] <= after[0], True, f"runs of track {tid} one after the other")
        depth = collections.Counter()
        for event in sorted(by_phase["B"] + by_phase["E"],
                            key=lambda event: nanoseconds(event["ts"])):
            depth[event["tid"]] += 1 if event["ph"] == "B" else -1
            expect(depth[event["tid"]] >= 0, True, f"a beginning for the end at {event['ts']}")


def number_text(value):
    if isinstance(value, float):
        return "%.17g" % value
    return str(value)


def nanoseconds(microseconds):
    return round(microseconds * 1000)


class Model:
    """Slices and waits as docs/export.md defines them, computed from objects, not from blocks."""

    WAKES = ("sched_waking", "sched_wakeup", "sched_wakeup_new")

    def __init__(self, objects):
        self.slices = collections.defaultdict(list)
        self.wakeups = []
        self.parts = set()
        self.running, self.irqs, self.softirq = {}, collections.defaultdict(list), {}
        self.calls, self.woken = {}, {}
        self.awake = set()
        self.has_wakeups = False
        # spans in which events of some CPU are missing; a loss may come late in the order
        self.missing = [(item["fields"]["first"], item["fields"]["last"]) for item in objects
                        if item["type"] == "lost" and "cpu" in item]
        for item in objects:
            if item["type"] == "lost" and "cpu" in item:
                self.lose(item["cpu"])
            elif item["type"] == "event" and item["system"] != "user":
                self.take(item)

    def is_part(self, item):
        return id(item) in self.parts

    def add(self, kind, begin, item, number, name, result, state=None, waited=None, tid=None):
        self.slices[kind].append((begin["time"], item["time"] - begin["time"], item["cpu"],
                                  begin["tid"] if tid is None else tid, number, name, result,
                                  state, waited))

    def lossy(self, begin, end):
        return any(first < end["time"] and last > begin["time"]
                   for first, last in self.missing)

    def lose(self, cpu):
        self.running.pop(cpu, None)
        self.irqs[cpu].clear()
        self.softirq.pop(cpu, None)

    def take(self, item):
        fields, cpu, name = item["fields"], item["cpu"], item["name"]
        if name == "sched_switch" and item["system"] == "sched":
            self.parts.add(id(item))
            self.switch(item, fields, cpu)
        elif name in self.WAKES and item["system"] == "sched":
            self.wake(item, fields, name)
        elif item["system"] == "raw_syscalls":
            self.call(item, fields, name)
        elif item["system"] == "irq" and name.startswith(("irq_handler_", "softirq_")) \
                and name.endswith(("_entry", "_exit")):
            self.interrupt(item, fields, cpu, name)
        elif item["system"] == "irq_vectors" and name.endswith(("_entry", "_exit")) \
                and "vector" in fields:
            self.vector(item, fields, cpu, name)

    def wake(self, item, fields, name):
        tid = fields["pid"]
        if not tid:
            return
        done = name != "sched_waking"
        self.has_wakeups |= done
        before = self.woken.get(tid)
        if before and done and tid not in self.awake and not self.lossy(before, item):
            self.awake.add(tid)
            return
        # a second wake-up before the thread has run replaces the first
        self.woken[tid] = item
        self.awake.discard(tid)
        if done:
            self.awake.add(tid)

    def switch(self, item, fields, cpu):
        tid, state = fields["prev_pid"], fields["prev_state"]
        if tid in self.awake or not self.has_wakeups or state in ("R", "R+"):
            self.woken.pop(tid, None)
        if state.startswith(("X", "Z")) and tid in self.calls:
            del self.calls[tid]
        begin = self.running.pop(cpu, None)
        if begin and begin[1] == tid:
            self.add("run", begin[0], item, None, None, None, state, begin[2], tid)
        tid, waited = fields["next_pid"], None
        woken = self.woken.pop(tid, None)
        if woken and not self.lossy(woken, item):
            waited = item["time"] - woken["time"]
            self.wakeups.append((woken["time"], waited, cpu, tid, woken["tid"]))
        self.running[cpu] = (item, tid, waited)

    def call(self, item, fields, name):
        tid = item["tid"]
        if name == "sys_enter":
            self.parts.add(id(item))
            self.calls[tid] = item
            return
        begin = self.calls.pop(tid, None)
        if not begin or begin["fields"]["id"] != fields["id"]:
            return
        self.parts.add(id(item))
        if not self.lossy(begin, item):
            self.add("syscall", begin, item, fields["id"], fields.get("id_name"),
                     fields["ret"], tid=tid)

    def interrupt(self, item, fields, cpu, name):
        if name == "softirq_entry":
            self.softirq[cpu] = item
            self.parts.add(id(item))
        elif name == "softirq_exit":
            begin = self.softirq.pop(cpu, None)
            if begin and begin["fields"]["vec"] == fields["vec"]:
                self.parts.add(id(item))
                self.add("softirq", begin, item, fields["vec"], fields.get("vec_name"), None)
        elif name == "irq_handler_entry":
            self.enter(item, cpu, ("irq", fields["irq"]))
        else:
            begin = self.leave(item, cpu, ("irq", fields["irq"]))
            if begin:
                self.add("irq", begin, item, fields["irq"], begin["fields"]["name"],
                         fields["ret"])

    def vector(self, item, fields, cpu, name):
        key = (name.rsplit("_", 1)[0], fields["vector"])
        if name.endswith("_entry"):
            self.enter(item, cpu, key)
        else:
            begin = self.leave(item, cpu, key)
            if begin:
                self.add("irq", begin, item, fields["vector"], key[0], None)

    def enter(self, item, cpu, key):
        # an interrupt cannot interrupt itself: the end of the earlier one is missing
        if key in [entry[0] for entry in self.irqs[cpu]]:
            while self.irqs[cpu].pop()[0] != key:
                pass
        if len(self.irqs[cpu]) < 8:
            self.irqs[cpu].append((key, item))
            self.parts.add(id(item))

    def leave(self, item, cpu, key):
        stack = self.irqs[cpu]
        if key not in [entry[0] for entry in stack]:
            return None
        while True:
            found, begin = stack.pop()
            if found == key:
                self.parts.add(id(item))
                return begin


FORMATS = ("text", "jsonl", "span", "csv", "csv_columns", "sqlite", "json", "perfetto")


def read_back(kind, path):
    """Raises an exception if the file at @path is not valid."""
    if kind == "json":
        with open(path, encoding="utf-8") as file:
            json.load(file)
    elif kind == "jsonl":
        with open(path, encoding="utf-8") as file:
            for line in file:
                json.loads(line)
    elif kind == "csv":
        with open(path, newline="", encoding="ascii") as file:
            rows = list(csv.reader(file, strict=True))
        expect({len(row) for row in rows}, {7}, "cells in a row")
    elif kind == "sqlite":
        database = sqlite3.connect(path)
        expect(database.execute("PRAGMA integrity_check").fetchone()[0], "ok", "the database")
        for table, in database.execute(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall():
            quoted = table.replace('"', '""')
            database.execute(f'SELECT * FROM "{quoted}"').fetchall()
        database.close()


def damage(tool, trace, times):
    with open(trace, "rb") as file:
        whole = file.read()
    generator = random.Random(int(os.environ.get("EXPORT_SEED", "1")))
    # damage bytes in use: most of a block is empty
    used = [at for at, byte in enumerate(whole) if byte]
    exported = 0
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "copy.tbuf")
        for number in range(times):
            data = bytearray(whole)
            for _ in range(1 + number % 30):
                data[generator.choice(used)] = generator.randrange(256)
            with open(copy, "wb") as file:
                file.write(data)
            for kind in "text", "json", "jsonl", "csv", "sqlite":
                path = os.path.join(directory, f"out{number}.{kind}")
                done = subprocess.run([tool, "export", "-q", "--format", kind, "-o", path, copy],
                                      capture_output=True, check=False)
                said = done.stderr.decode(errors="replace")
                if done.returncode not in (0, 1) or "Sanitizer" in said:
                    raise Failed(f"{kind} of damaged trace {number}: {done.returncode}: {said}")
                if os.path.exists(path):
                    read_back(kind, path)
                    os.unlink(path)
                    exported += 1
    print(f"# {exported} of {5 * times} exported")
    if exported < times:
        raise Failed("hardly any could be exported")


def main():
    if sys.argv[1] == "--damage":
        try:
            damage(*sys.argv[2:4], int(sys.argv[4]))
        except Failed as failure:
            print(f"# {str(failure)[:3000]}")
            return True
        return False
    tool, trace, *formats = sys.argv[1:]
    formats = formats or FORMATS
    print(f"TAP version 14\n1..{len(formats)}")
    failed = False
    check = Check(tool, trace)
    for number, name in enumerate(formats, 1):
        try:
            getattr(check, name)()
            print(f"ok {number} - {name}: {len(check.events)} events of {os.path.basename(trace)}")
        except Failed as failure:
            failed = True
            print(f"not ok {number} - {name} of {os.path.basename(trace)}")
            print(f"# {str(failure)[:2000]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
