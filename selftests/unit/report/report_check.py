#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Checks every figure of a report against figures computed from the events that print lists.

    tracebuf print -v --jsonl T >events; tracebuf report --json T >report
    report_check.py events report [--trace trace --whole all-events] [--cut] [--cpu N]
                    [--tid N | --pid N | --comm NAME] [--worst N]
                    [--unselected FROM-TO] [--from TIME] [--to TIME]

--unselected: switches are not recorded in that time, in ns.

Uses nothing of the tool but its list of events.  Prints a line for each difference; the exit status
is 1 if there is one.
"""
import errno
import json
import re
import sys
from collections import defaultdict
from decimal import Decimal

# leave no compiled files beside the tests
sys.dont_write_bytecode = True
from report_figures import Axis, Check, Gaps, Queues, Stat, first_threads, percentile, read

INSTEAD = 8
MOST = 2 ** 63 - 1      # the largest number in a report


def shares(values, known):
    return [value * 1000000 // whole if whole else None for value, whole in zip(values, known)]


def if_known(values, known):
    return [value if told else None for value, told in zip(values, known)]


# ---- comparing ----

class Compare:
    def __init__(self, check, report):
        self.c, self.wrong, self.checked = check, 0, 0
        self.sections = {s["id"]: s for s in report["sections"]}
        self.axis = Axis(check.begin, check.end)
        self.worst = check.o.get("worst", 10)

    def same(self, what, have, want):
        self.checked += 1
        if have == want:
            return
        self.wrong += 1
        print(f"{what}: the report has {have}, the events say {want}")

    def rows(self, name, want, order=True, columns=None):
        section = self.sections[name]
        ids = [c["id"] for c in section["columns"]]
        have = [[row[ids.index(c)] for c in columns or ids] for row in section["rows"]]
        for row in section["rows"]:
            if len(row) != len(ids):
                self.same(f"{name}: cells of a row", len(row), len(ids))
        want = [[min(cell, MOST) if isinstance(cell, int) else cell for cell in row] for row in want]
        if not order:
            have, want = sorted(have, key=str), sorted(want, key=str)
        self.same(f"{name}: rows", len(have), len(want))
        for i, (one, other) in enumerate(zip(have, want)):
            self.same(f"{name}, row {i}", one, other)

    def needs(self, name, *events):
        """Does the trace have the events that the section needs? If not, it names them."""
        missing = [e for e in events if e not in self.c.has]
        if not missing:
            return True
        self.same(f"{name}: rows", self.sections[name]["rows"], [])
        notes = " ".join(self.sections[name]["notes"])
        for event in missing:
            self.same(f"{name}: says that it needs {event}", f"-e {event}" in notes, True)
        return False

    def all(self):
        c, report = self.c, self.sections
        losses = [e for e in c.events if e["type"] == "lost" and not e["user"]]
        self.ran = [t for t in c.tasks if t.spans and sum(b - a for a, b in t.spans) or t.runs]
        cpus = [n for n in sorted(c.cpus) if c.o.get("cpu", n) == n]
        self.shares()
        self.rows("summary", [[c.begin, c.end, c.end - c.begin, self.known,
                               sum(e["type"] != "lost" and self.wants(e) for e in c.events),
                               len(c.cpus),
                               len(self.ran), len(losses),
                               sum(e["fields"]["events"] for e in losses)]])
        if self.needs("cpu", "sched:sched_switch"):
            self.cpu(cpus)
            self.tasks()
        self.waits()
        self.queues(cpus)
        self.handlers()
        self.blocks()
        self.losses()
        counts = defaultdict(int)
        for e in c.events:
            if e["type"] == "event" and not e["user"] and self.wants(e) and \
                    e["system"] not in ("tracebuf", "unknown"):
                counts[e["system"], e["name"]] += 1
        have = defaultdict(int)
        for system, name, count in report["events"]["rows"]:
            have[system, name] += count
        self.same("events", dict(have), dict(counts))

    def wants(self, event):
        return self.c.wants(event.get("cpu"), event["tid"])

    def shares(self):
        """The time in which it is known of every CPU what ran, and each task's share of it."""
        spans = self.c.all_tracked()
        self.known = sum(b - a for a, b in spans)
        self.share = {}
        for t in self.c.tasks:
            self.share[t] = sum(max(0, min(b, d) - max(a, c)) for a, b in spans for c, d in t.spans)
        told = self.sections["summary"]["rows"][0][3]
        # in a damaged file a CPU is unknown after its last event
        if self.c.o.get("cut") and not told:
            self.known = 0

    def series(self, name, columns):
        section = self.sections[name]
        self.same(f"{name}: width", section["width"], self.axis.width)
        self.rows(name, zip(self.axis.times(), *columns))

    def unless_lacking(self, ns, system):
        """A time of interrupts; None instead of 0 if their events were not recorded."""
        exits = {"irq:irq_handler_entry", "irq:irq_handler_exit"} if system == "irq" else \
            {"irq:softirq_entry", "irq:softirq_exit"}
        return ns if ns or exits <= self.c.has else None

    def cpu(self, cpus):
        span, rows = self.c.end - self.c.begin, []
        for n in cpus:
            cpu = self.c.cpus[n]
            busy = sum(b - a for a, b in cpu.busy)
            idle, unknown = cpu.idle, max(0, span - busy - cpu.idle)
            if "tids" in self.c.o:
                idle = unknown = None
            share = busy * 1000000 // cpu.known if cpu.known else None
            rows.append([n, busy, share, idle, unknown,
                         cpu.switches, self.unless_lacking(cpu.irq, "irq"),
                         self.unless_lacking(cpu.softirq, "softirq")])
        self.rows("cpu", rows)
        self.ran_at = {n: self.axis.spread(self.c.cpus[n].ran) for n in cpus}
        self.series("cpu-time", [shares(self.axis.spread(self.c.cpus[n].busy), self.ran_at[n])
                                 for n in cpus])

    def tasks(self):
        rows = []
        ran = sorted(self.ran, key=lambda t: (-sum(b - a for a, b in t.spans), t.number))
        for t in ran:
            run, w = sum(b - a for a, b in t.spans), t.wait.values
            share = self.share[t] * 1000000 // self.known if self.known else None
            rows.append([t.tid, run, share, t.runs, len(w),
                         sum(w) // len(w) if w else None, max(w) if w else None, t.preempted,
                         t.migrations, sum(w), t.wait.uncertain] +
                        [sum(t.off[k].values) for k in ("runnable", "blocked", "sleeping")] +
                        [t.stuck])
        self.rows("tasks", rows, order=False, columns=[
            "tid", "cpu", "share", "runs", "wakeups", "wait_mean", "wait_max", "preempted",
            "migrations", "wait_total", "wait_uncertain", "runnable", "blocked", "sleeping",
            "stuck"])
        section = self.sections["tasks"]
        ids = [c["id"] for c in section["columns"]]
        runs = [row[ids.index("cpu")] for row in section["rows"]]
        self.same("tasks: order", runs, sorted(runs, reverse=True))
        names = {t.tid: t for t in ran if t.comm and t.comm[0] != "<"}
        again = len({t.tid for t in ran}) != len(ran)
        for row in section["rows"]:
            t = names.get(row[0])
            if t and not again:
                self.same(f"tasks: name of {t.tid}", row[ids.index("comm")], t.comm)
                self.same(f"tasks: process of {t.tid}", row[ids.index("pid")], t.pid)
        # equal tasks may come in any order: compare them by their titles
        section = self.sections["tasks-time"]
        have = {(column["title"].rsplit("/", 1)[1], tuple(r[i] for r in section["rows"]))
                for i, column in enumerate(section["columns"]) if i}
        known = [max(column) for column in zip(*self.ran_at.values())]
        all_known = [all(column) for column in zip(*self.ran_at.values())]
        # a task that did not run may have run on a CPU of which nothing is known
        known_for = lambda ns: [most if ran or least else 0
                                for ran, least, most in zip(ns, all_known, known)]
        want = {(str(t.tid), tuple(shares(ns, known_for(ns))))
                for t in ran for ns in [self.axis.spread(t.spans)]}
        self.same("tasks-time: not in the events", have - want, set())
        self.same("tasks-time: tasks", max(0, len(section["columns"]) - 1), min(20, len(ran)))

    def waits(self):
        c = self.c
        woken = {"sched:sched_waking", "sched:sched_wakeup"} & c.has
        if "sched:sched_switch" not in c.has or not woken:
            for name in ("latency", "latency-histogram", "latency-worst", "latency-instead"):
                self.needs(name, *({"sched:sched_switch"} if woken else
                                   {"sched:sched_switch", "sched:sched_wakeup"}))
        else:
            self.latency()
        if self.needs("offcpu-sleeping", "sched:sched_switch"):
            for kind, rows in c.offs.items():
                rows.sort(key=lambda r: (-r[0], r[1]))
                want = [[r[1], r[0], r[2].tid, r[3], r[4], r[5], r[6][1] if r[6] else None,
                         r[6][0] if r[6] else None] for r in rows[:self.worst]]
                self.rows("offcpu-" + kind, want, columns=[
                    "from", "time", "tid", "state", "before", "cpu", "waker", "woken_at"])

    def latency(self):
        c, v = self.c, self.c.latency
        self.rows("latency", [[len(v), sum(v) // len(v) if v else None] +
                              [percentile(v, p) if v else None for p in (5000, 9000, 9900, 9990)] +
                              [max(v) if v else None, sum(v), c.latency_uncertain]]
                  if v or c.latency_uncertain else [])
        self.histogram("latency-histogram", v)
        c.worst.sort(key=lambda r: (r[1][0] - r[2], r[1][0]))
        rows, instead, handlers = [], [], []
        for i, (task, wake, now, cpu, shares, left, away) in enumerate(c.worst[:self.worst]):
            rows.append([i + 1, now, now - wake[0], task.tid, cpu, wake[1]])
            if away:
                instead.append([i + 1, None, None, away])
            for what, ns in shares[:INSTEAD]:
                if isinstance(what, tuple):
                    instead.append([i + 1, cpu, None, ns])
                    handlers.append([i + 1, f"{what[0]} {what[2]}", ns] if what[2] else None)
                else:
                    instead.append([i + 1, cpu, what.tid if what else 0, ns])
            others = sum(ns for _, ns in shares[INSTEAD:])
            instead += [[i + 1, cpu, None, ns] for ns in (others, left) if ns]
        self.rows("latency-worst", rows,
                  columns=["case", "time", "latency", "tid", "cpu", "waker"])
        self.rows("latency-instead", instead, order=False,
                  columns=["case", "cpu", "tid", "ran"])
        have = [[case, what, ns] for case, _, _, what, ns, _ in
                self.sections["latency-instead"]["rows"]
                if what.startswith(("irq ", "softirq "))]
        self.same("latency-instead: interrupts", sorted(have), sorted(handlers))
        section = self.sections["latency-worst"]
        contexts = {"h": "irq", "H": "irq", "s": "softirq", "z": "nmi"}
        for row, case in zip(section["rows"], c.worst):
            letter = case[1][4][0]
            self.same("latency-worst: where it was woken", row[-1],
                      contexts.get(letter, "task"))

    def histogram(self, name, values):
        rows = []
        if values:
            powers = [max(0, v.bit_length() - 1) for v in values]
            rows = [[2 ** p if p else 0, 2 ** (p + 1), powers.count(p)]
                    for p in range(min(powers), max(powers) + 1)]
        self.rows(name, rows)

    def queues(self, cpus):
        if not self.needs("runqueue", "sched:sched_switch", "sched:sched_wakeup"):
            return
        q = Queues(self.c)
        rows = []
        for n in cpus:
            waiting = sum(b - a for a, b in q.spans[n])
            rows.append([n, waiting * 1000000 // q.known[n] if q.known[n] else None,
                         max([d for _, d in q.steps[n]] + [0]), waiting, q.deep(n), q.known[n]])
            most = max([d for _, d in q.steps[n]] + [0])
            self.same(f"runqueue: mean of CPU {n}", waiting <= most * q.known[n], True)
        self.rows("runqueue", rows)
        known = {n: q.known_over(n, self.axis) for n in cpus}
        self.series("runqueue-time", [shares(self.axis.spread(q.spans[n]), known[n])
                                      for n in cpus])
        self.series("runqueue-most", [if_known(q.most(n, self.axis), known[n]) for n in cpus])

    def handlers(self):
        for kind, events in (("irq", ["irq:irq_handler_entry", "irq:irq_handler_exit"]),
                             ("softirq", ["irq:softirq_entry", "irq:softirq_exit"]),
                             ("syscalls", ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"])):
            vectors = {"irq_vectors"} & {e.split(":")[0] for e in self.c.has}
            if kind == "irq" and vectors:
                self.same("irq: rows", len(self.sections[kind]["rows"]) > 0, True)
            elif not self.needs(kind, *events):
                continue
            self.handler(kind)
        if "raw_syscalls:sys_exit" in self.c.has and "raw_syscalls:sys_enter" in self.c.has:
            rows = [[number, code, count] for (number, _, code), count in self.c.errors.items()]
            self.rows("syscall-errors", rows, order=False, columns=["number", "errno", "count"])
            for row in self.sections["syscall-errors"]["rows"]:
                if row[2] in errno.errorcode:
                    self.same(f"syscall-errors: {row[3]}", getattr(errno, row[3], 0), row[2])

    def handler(self, kind):
        section = self.sections[kind]
        ids = [c["id"] for c in section["columns"]]
        rows = []
        for (number, name), stat in self.c.handlers[kind].items():
            # handlers of tasks that were not selected
            if not stat.values and not stat.uncertain and not stat.open:
                continue
            row = [number, name]
            if kind == "syscalls":
                row.append(sum(n for key, n in self.c.failed.items() if key[0] == number))
            rows.append(row + stat.cells())
        self.rows(kind, rows, order=False)
        total = [row[ids.index("total")] for row in section["rows"]]
        self.same(f"{kind}: order", total, sorted(total, reverse=True))

    def blocks(self):
        if not self.needs("block", "block:block_rq_issue", "block:block_rq_complete"):
            return
        rows, values = [], []
        # the events do not have the names of disks
        named = {re.sub(r".* \((.*)\)$", r"\1", row[0]): row[0]
                 for row in self.sections["block"]["rows"]}
        for (dev, op), (stat, size, failed) in self.c.blocks.items():
            device = f"{dev >> 20}:{dev & 0xfffff}"
            rows.append([named.get(device, device), op, size, failed] + stat.cells())
            values += stat.values
        self.rows("block", rows, order=False)
        self.histogram("block-histogram", values)

    def losses(self):
        per, gaps, lost = {}, [], [0] * self.axis.count
        for e in self.c.events:
            if e["type"] != "lost":
                continue
            f = e["fields"]
            count = f["records"] if e["user"] else f["events"]
            key = f"pid {e['pid']}, producer {f['producer']} writer {f['writer']}" \
                if e["user"] else f"CPU {e['cpu']}"
            first, last = f["first"], max(f["first"], f["last"])
            gaps.append([key, first, last, last - first, count])
            lost[self.axis.at(last)] += count
            row = per.setdefault(key, [key, 0, 0, None if e["user"] else 0,
                                       None if e["user"] else 0, 0, 0, first, last])
            row[1] += 1
            row[2] += count
            if not e["user"]:
                row[3] += f["overwritten"]
                row[4] += f["dropped"]
            row[5] += last - first
            row[6] = max(row[6], last - first)
            row[7], row[8] = min(row[7], first), max(row[8], last)
        self.rows("losses", per.values())
        gaps.sort(key=lambda g: (-g[3], g[1]))
        self.rows("losses-longest", gaps[:self.worst], order=False)
        self.rows("losses-time", zip(self.axis.times(), lost) if gaps else [])
        self.same("losses: are told", "unsure" in " ".join(self.sections["losses"]["notes"]),
                  bool(gaps) or not self.c.gaps.unselected and
                  self.c.gaps.meet(self.c.begin, self.c.end))


def main(arguments):
    options, files, whole, unselected, threads, times = {}, [], None, None, None, {}
    while arguments:
        word = arguments.pop(0)
        if word == "--whole":
            whole = arguments.pop(0)
        elif word == "--trace":
            options["threads"] = first_threads(arguments.pop(0))
        elif word == "--unselected":
            unselected = tuple(int(ns) for ns in arguments.pop(0).split("-"))
        elif word == "--cut":
            options["cut"] = True
        elif word in ("--cpu", "--worst"):
            options[word[2:]] = int(arguments.pop(0))
        elif word in ("--tid", "--pid", "--comm"):
            threads = word[2:], arguments.pop(0)
        elif word in ("--from", "--to"):
            times[word] = arguments.pop(0)
        else:
            files.append(word)
    with open(files[1], encoding="utf-8") as file:
        report = json.load(file)
    # names and processes of the whole trace: they do not change in traces that this is used for
    if threads:
        options["tids"] = {e["tid"] for e in read(files[0])
                           if str(e.get(threads[0])) == threads[1]}
    whole = list(read(whole or files[0]))
    losses = [e for e in whole if e["type"] == "lost" and not e["user"]]
    part = list(read(files[0]))
    # a part that begins later has a thread in each event
    later = "cpu" in (part or [{}])[0] and part[0] != whole[0]
    for word, text in times.items():
        ns = round(Decimal(text) * 10 ** 9) + (whole[0]["time"] if text[0] == "+" else 0)
        if whole[0]["time"] < ns <= whole[-1]["time"]:
            options[word[2:]] = ns
    options["firsts"] = {}
    for event in whole:
        if "cpu" in event and (not later or event["time"] >= options["from"]):
            options["firsts"].setdefault(event["cpu"], event)
    if later:
        options["threads"] = {cpu: event.get("tid") for cpu, event in options["firsts"].items()}
    gaps = Gaps(losses, unselected)
    compare = Compare(Check(part, options, gaps), report)
    compare.all()
    print(f"# {compare.checked} compared, {compare.wrong} differ")
    return compare.wrong > 0 or compare.checked < 20


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
