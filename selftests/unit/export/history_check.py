#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks what the tools say of recordings against what happened (history.py): KTAP.

    history_check.py [--first SEED] [--count N] [--keep FOLDER] TRACEBUF HISTORY_TRACE

query, report, diff, why, flame graphs and the exports to Perfetto, FXT and JSON must tell each
history truly. A slice or wait that a tool calls certain must have happened, to the nanosecond; an
uncertain one must be a part of one that happened. The tools must show all that the recording has,
and must agree. If this fails, a user searches for the cause of something that did not happen.
--keep saves the traces that failed.
"""
import argparse
import collections
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import export_check
import fxt_check
import history
import history_why
import pf_import

STATES = {history.RUNNING: "runnable", history.SLEEPS: "S", history.BLOCKED: "D",
          history.NO_WORK: "I"}
SOFTIRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
            "RCU")


class Wrong(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Wrong(text)


def number(text):
    return int(text) if text else None


class Judge:
    wrong = Wrong

    def __init__(self, tool, path, true):
        self.tool, self.path, self.true = tool, path, true
        self.first_runs = self.find_first_runs() if true else {}
        self.first_drawn = set()
        self.counts = collections.Counter()

    def run(self, *args):
        ran = subprocess.run([self.tool, *args], capture_output=True, check=False)
        check(not ran.returncode, f"{args[0]}: exit status {ran.returncode}: "
                                  f"{ran.stderr.decode(errors='replace')[-2000:]}")
        return ran.stdout.decode()

    def query(self, sql):
        return list(csv.DictReader(io.StringIO(self.run("query", "--csv", self.path, sql))))

    # ---- what the recording tells ----

    def find_first_runs(self):
        """Where the recording tells what ran when it began: {CPU: time}, all times the same.

        It does if it has the CPU's first event, and all switches before that."""
        true = self.true
        if true.how != "stopped":
            return {}
        firsts = {}
        for event in reversed(true.events):
            if event.kept and not any(last <= event.time for _, last, _ in true.gaps[event.cpu]):
                firsts[event.cpu] = event
        begin = min((event.time for event in firsts.values()), default=0)
        return {cpu: begin for cpu, event in firsts.items()
                if self.selected("switch", begin, event.time) and
                (event.kind != "switch" or event.time != begin)}

    def selected(self, kind, begin, end):
        times = [begin] + [since for since, _ in self.true.selections if begin < since <= end]
        return all(kind in self.true.selected(time) for time in times)

    def unbroken(self, begin, end, kinds, cpus=None):
        """The recording can lack no event of @kinds from @begin to @end."""
        true = self.true
        for cpu in true.gaps if cpus is None else cpus:
            if any(first < end and begin < last for first, last, _ in true.gaps[cpu]):
                return False
            if true.starts[cpu] > begin or true.ends[cpu] < end:
                return False
        return all(self.selected(kind, begin, end) for kind in kinds)

    def across(self, begin, end):
        """The file lacks the events of some CPU in a part of the time.

        The tools take what they see of the other CPUs for all that happened (docs/export.md)."""
        return any(start > begin or self.true.ends[cpu] < end
                   for cpu, start in self.true.starts.items())

    def both(self, begin, end):
        return begin and end and begin.kept and end.kept

    # ---- slices ----

    def inside(self, what, key, spans, begin, end, whole, several=()):
        """Check that a span in spans[key] equals the slice; if @whole is false, contains it."""
        for first, last in spans[key]:
            if (first, last) == (begin, end) or (not whole and first <= begin and end <= last):
                return
            # where events are missing, the tools may draw several slices as an uncertain one
            if several and not whole and first == begin and \
               not self.unbroken(begin, end, several):
                return
        if several and self.across(begin, end):
            return
        raise Wrong(f"{what} {key} from {begin} to {end} (whole: {whole}); true: {spans[key]}")

    def spans(self, rows):
        """(begin, end) by key; the history's limits stand for an unknown begin or end."""
        spans = collections.defaultdict(list)
        for key, begin, end in rows:
            spans[key].append((begin.time if begin else self.true.begin,
                               end.time if end else self.true.end))
        return spans

    def slices(self):
        true = self.true
        run = self.spans(((cpu, tid), begin, end) for cpu, tid, begin, end in true.runs)
        calls = self.spans(((tid, nr), begin, end) for tid, nr, begin, end in true.calls)
        irqs = self.spans(((cpu, kind, nr), begin, end)
                          for cpu, kind, nr, begin, end in true.irqs)
        there, self.runs, self.pairs = set(), [], collections.defaultdict(set)
        for row in self.query("SELECT kind, start, start + duration AS end, cpu, tid, number, "
                              "whole FROM slices"):
            begin, end, cpu, tid, nr = (number(row[name]) for name in ("start", "end", "cpu", "tid",
                                                                       "number"))
            kind, whole = row["kind"], row["whole"] == "1"
            if kind == "run":
                self.inside("run", (cpu, tid), run, begin, end, whole)
                self.runs.append((cpu, tid, begin, end, whole))
            elif kind == "syscall":
                self.inside("call", (tid, nr), calls, begin, end, whole, history.KINDS)
            else:
                self.inside(kind, (cpu, kind, nr), irqs, begin, end, whole)
            if whole:
                there.add((kind, begin, end))
            self.pairs[kind, tid if kind == "syscall" else cpu, nr].add((begin, end, whole))
            self.counts["slices"] += 1
        self.all_there(there)
        self.true_pairs = self.spans(
            [(("syscall", tid, nr), begin, end) for tid, nr, begin, end in true.calls] +
            [((kind, cpu, nr), begin, end) for cpu, kind, nr, begin, end in true.irqs])

    def all_there(self, there):
        true = self.true
        for cpu, tid, begin, end in true.runs:
            first = self.first_runs.get(cpu)
            if not begin and first and end and end.kept and \
               self.unbroken(first, end.time, ["switch"], [cpu]):
                check((cpu, tid, first, end.time, False) in self.runs,
                      f"thread {tid} on CPU {cpu} from before the recording to {end.time} is "
                      "missing")
                self.first_drawn.add((cpu, tid, first, end.time))
                self.counts["first runs"] += 1
            if self.both(begin, end) and self.unbroken(begin.time, end.time, ["switch"], [cpu]):
                check(("run", begin.time, end.time) in there,
                      f"thread {tid} on CPU {cpu} from {begin.time} to {end.time} is missing")
        for cpu, kind, nr, begin, end in true.irqs:
            if self.both(begin, end) and self.unbroken(begin.time, end.time, history.KINDS, [cpu]):
                check((kind, begin.time, end.time) in there,
                      f"{kind} {nr} on CPU {cpu} from {begin.time} to {end.time} is missing")
        for tid, nr, begin, end in true.calls:
            if self.both(begin, end) and self.unbroken(begin.time, end.time, history.KINDS):
                # a thread that has ended does not return: the end of the call is not recorded
                check(("syscall", begin.time, end.time) in there if end.kind == "exit" else
                      (begin.time, end.time, False) in self.pairs["syscall", tid, nr],
                      f"call {nr} of {tid} from {begin.time} to {end.time} is missing")

    # ---- what analyses conclude ----

    def analyses(self):
        """The analyses add up and agree: why has the times on CPUs that thread_states has."""
        # other lines of verify complain: these files have not the block numbers of a recorder
        said = subprocess.run([self.tool, "verify", "--analysis", self.path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
        lines = [line for line in said.splitlines() if line.startswith("analyses:")]
        check(lines and (" 0 invariants violated" in lines[0] or "no sched_switch" in lines[0]),
              said)
        ran = {int(row["tid"]): int(row["ns"]) for row in self.query(
            "SELECT tid, sum(duration) AS ns FROM thread_states WHERE state = 'running' "
            "GROUP BY tid")}
        for tid, ns in ran.items():
            try:
                tree = json.loads(self.run("why", "--json", "-t", str(tid), self.path))["tree"]
            except Wrong:
                check(not ns, f"thread {tid}: ran for {ns} ns, and 'why' does not know it")
                continue
            have = sum(node["ns"] for node in tree["children"]
                       if node["cause"] in ("runs", "irq", "softirq"))
            # what may have been an interrupt counts as unknown in why
            rest = sum(node["ns"] for node in tree["children"] if node["cause"] == "unknown")
            check(have <= ns <= have + rest, f"thread {tid}: states has {ns} ns on a CPU, "
                                             f"'why' {have} and {rest} that are unknown")
            self.counts["states"] += 1

    # ---- waits ----

    def waits(self):
        true = self.true
        waits = {(tid, cpu, when.time, end.time, waker): (waking, wakeup, end)
                 for tid, cpu, waking, wakeup, end, waker in true.waits
                 for when in (waking, wakeup)}
        there = set()
        for row in self.query("SELECT woken, ran, cpu, tid, waker_tid FROM wakeup_latency"):
            key = tuple(number(row[name]) for name in ("tid", "cpu", "woken", "ran"))
            check(any(key == wait[:4] for wait in waits) or self.across(key[2], key[3]),
                  f"a wait that was not: {key}")
            there.add((key[0], key[3]))
            self.counts["waits"] += 1
        for tid, cpu, waking, wakeup, end, _ in true.waits:
            if waking.kept and wakeup.kept and end.kept and \
               self.unbroken(waking.time, end.time, ["switch", "wake"]):
                check((tid, end.time) in there, f"the wait of {tid} on CPU {cpu} from "
                                                f"{waking.time} to {end.time} is missing")
        self.ready = there
        self.nr_waits = len(there)

    def may_begin(self, first, begin):
        """What was off a CPU from @first on may have a row from @begin on: no later than it must.
        Only the end of a recording tells that no rules kept out events."""
        return begin in (first, self.first) or self.true.how != "stopped" or \
            not self.unbroken(first, begin, ["switch", "wake"])

    def off_before(self, row, began):
        """Check a row without a state: the thread had left no CPU, or did when the recording lacked
        it. Its beginning may be missing, never its wake-up or its end."""
        begin, end, tid, waited = (number(row[name]) for name in ("start", "end", "tid", "waited"))
        waker, whole, ended = number(row["waker_tid"]), row["whole"] == "1", bool(row["cpu"])
        for first, woken, last, is_new in began[tid]:
            wakes = {event.time: event.tid for event in (woken, self.wakeups.get(woken)) if event}
            if not first <= begin <= end - waited or end > last or (ended and end < last) or \
               whole != (is_new and ended and woken.kept):
                continue
            if waker is None:
                # it waits all the time: it was preempted, or woken in a gap
                known = waited == end - begin and not any(begin < time for time in wakes)
            else:
                known = wakes.get(end - waited) == waker
            if known and (begin in wakes or self.may_begin(first, begin)):
                self.counts["offs before"] += 1
                return
        check(self.across(begin, end), f"not off the CPU: {row}; true: {began[tid]}")

    def offs(self):
        true = self.true
        # where the first event of a wake-up is missing, its second one starts the wait
        self.wakeups, wakings = {}, {}
        for event in true.events:
            if event.kind == "waking":
                wakings[event.args[0]] = event
            elif event.kind == "wakeup" and event.args[0] in wakings:
                self.wakeups[wakings.pop(event.args[0])] = event
        # the first event in the recording
        self.first = min((event.time for event in true.events if event.kept), default=true.begin)
        before = [(tid, new, new, end, True) for tid, new, end in true.firsts] + \
                 [(tid, None, waking, end, False) for tid, waking, end in true.first_waits] + \
                 [(tid, None, None, end, False) for tid, end in true.queued]
        began = collections.defaultdict(list)
        for tid, begin, woken, end, is_new in before + [
                (tid, begin, waking, end, False) for tid, begin, end, _, waking in true.offs]:
            began[tid].append((begin.time if begin else self.first, woken,
                               end.time if end else true.end, is_new))
        offs = self.spans(((tid, STATES[state]), begin, end)
                          for tid, begin, end, state, _ in true.offs)
        there, self.off = set(), collections.Counter()
        for row in self.query("SELECT start, start + duration AS end, tid, state, waited, cpu, "
                              "waker_tid, whole FROM off_cpu"):
            begin, end, tid = (number(row[name]) for name in ("start", "end", "tid"))
            state = "runnable" if row["state"] in ("R", "R+") else row["state"]
            if state:
                self.inside("off", (tid, state), offs, begin, end, row["whole"] == "1",
                            ["switch", "wake"])
            else:
                self.off_before(row, began)
            if row["whole"] == "1" or not state:
                there.add((tid, begin))
            if row["whole"] == "1" and state:
                self.off[tid] += end - begin
            self.counts["offs"] += 1
        for tid, begin, woken, end, _ in before + [
                (tid, begin, None, end, None) for tid, begin, end, *_ in true.offs]:
            since = begin.time if begin else self.first
            # a thread that was not woken has a row if all wake-ups are recorded, to the end
            if not begin and not woken and not self.selected("wake", since, true.end):
                continue
            if end and end.kept and end.time > since and \
               (begin.kept if begin else true.how == "stopped") and \
               self.unbroken(since, end.time, ["switch", "wake"]):
                check((tid, since) in there, f"that {tid} was off from {since} to {end.time} is "
                                             "missing")

    def states(self):
        true = self.true
        rows = [((tid, "running"), begin, end) for _, tid, begin, end in true.runs]
        for tid, begin, end, state, waking in true.offs:
            rows.append(((tid, STATES[state]), begin, waking or end))
            if state != history.RUNNING:
                rows.append(((tid, ""), begin, waking or end))
            if waking:
                rows.append(((tid, "runnable"), waking, end))
        for tid, waking, end in true.first_waits:
            rows += [((tid, ""), None, waking), ((tid, "runnable"), waking, end)]
        rows += [((tid, "runnable"), None, end) for tid, end in true.queued]
        rows += [(key, self.wakeups[begin], end) for key, begin, end in rows
                 if begin in self.wakeups]
        rows += [(key, begin, self.wakeups[end]) for key, begin, end in rows if end in self.wakeups]
        rows += [((tid, "runnable"), begin, end) for tid, begin, end in true.firsts]
        spans = self.spans(rows)
        waited, times = set(), collections.defaultdict(list)
        for row in self.query("SELECT start, start + duration AS end, tid, state, whole "
                              "FROM thread_states WHERE tid > 0"):
            begin, end, tid = (number(row[name]) for name in ("start", "end", "tid"))
            key, whole = (tid, row["state"]), row["whole"] == "1"
            if whole and row["state"] == "runnable":
                waited.add((tid, end))
                # of a wait that had begun before, the recording lacks the beginning
                whole = not any(first < begin and last == end and self.may_begin(first, begin)
                                for first, last in spans[key])
            check(row["state"] or not whole, f"a sleep that is whole: {row}")
            self.inside("state", key, spans, begin, end, whole, ["switch", "wake"])
            times[tid].append((begin, end))
            self.counts["states"] += 1
        for tid, end in self.ready:
            check((tid, end) in waited, f"{tid} is not runnable before {end}, though it was woken")
        for tid, some in times.items():
            for (_, end), (begin, _) in zip(sorted(some), sorted(some)[1:]):
                check(end <= begin or self.across(begin, end),
                      f"thread {tid} is in two states from {begin} to {end}")

    # ---- what ran instead ----

    def shares(self, cpu, begin, end):
        """How long each thread and handler was on the CPU, without what interrupted it."""
        true, shares = self.true, collections.Counter()
        inside = [(first, last, f"t{tid}" if tid else "<idle>", 0)
                  for (one, tid), spans in self.spans(
                      ((cpu, tid), a, b) for cpu, tid, a, b in true.runs).items()
                  if one == cpu for first, last in spans]
        for one, kind, nr, a, b in true.irqs:
            if one == cpu:
                inside.append((a.time, b.time if b else true.end, "irq disk" if kind == "irq" else
                               f"softirq {SOFTIRQS[nr]}", 2 if kind == "irq" else 1))
        times = sorted({begin, end} | {time for first, last, _, _ in inside
                                       for time in (first, last) if begin < time < end})
        for a, b in zip(times, times[1:]):
            shares[max((level, what) for first, last, what, level in inside
                       if first <= a and b <= last)[1]] += b - a
        return shares

    def instead(self):
        try:
            said = self.run("query", "--csv", self.path, "wakeups")
        except Wrong as why:
            check(" recorded, which the question 'wakeups' needs" in str(why), str(why))
            check(not self.nr_waits, f"{why}, but there are {self.nr_waits} waits")
            return
        for row in list(csv.DictReader(io.StringIO(said))):
            cpu, begin = number(row["cpu"]), number(row["woken"].replace(".", ""))
            end = begin + round(float(row["us"]) * 1000)
            if begin == end or not self.unbroken(begin, end, ("switch", "irq", "softirq")):
                continue
            shares = self.shares(cpu, begin, end)
            known = sum(max(0, min(end, last) - max(begin, first))
                        for one, _, first, last, _ in self.runs if one == cpu)
            open_irq = any(one == cpu and first.time < end and not self.both(first, last) and
                           (first.kept or not last or last.time > begin)
                           for one, _, _, first, last in self.true.irqs)
            if open_irq or row["ran_instead"] == "(not known)":
                continue
            # the table rounds the wait to 100 ns
            check(shares[row["ran_instead"]] >= max(shares.values()) - (end - begin - known) - 100,
                  f"in {begin} to {end} on CPU {cpu} {row['ran_instead']} ran instead; {shares}")
            self.counts["instead"] += 1

    # ---- the report ----

    def reported(self):
        """The rows of each section."""
        made = json.loads(self.run("report", "--json", self.path))
        rows = {}
        for section in made["sections"]:
            ids = [column["id"] for column in section["columns"]]
            rows[section["id"]] = [dict(zip(ids, row)) for row in section["rows"]]
        return rows

    def report(self):
        rows = self.reported()
        summary = rows["summary"][0]
        busy, idle = collections.Counter(), collections.Counter()
        for cpu, tid, begin, end, _ in self.runs:
            (busy if tid else idle)[cpu] += end - begin
        for row in rows["cpu"]:
            cpu, unknown = row["cpu"], summary["span"] - busy[row["cpu"]] - idle[row["cpu"]]
            for name, want in ("busy", busy[cpu]), ("idle", idle[cpu]), ("unknown", unknown):
                check(row[name] == want, f"report: CPU {cpu} {name}: {row[name]}, of query {want}")
            share = busy[cpu] * 10**6 // (busy[cpu] + idle[cpu]) if busy[cpu] + idle[cpu] else None
            check(row["share"] == share, f"report: CPU {cpu} share: {row['share']}, not {share}")
            self.counts["cpus"] += 1
        self.tasks(rows)
        count = sum(row["count"] for row in rows["latency"])
        check(count == self.nr_waits, f"report: {count} waits, query {self.nr_waits}")
        self.known(busy, idle)

    def task_of(self, tid, time):
        """The first of the threads that are one task of the report. If the recording lacks the last
        switch of a thread, the report takes it and the next thread with its TID for one task."""
        lives = [life for life in self.true.lives(tid) if (life.born or 0) <= time]
        at = len(lives) - 1
        while at and not (lives[at - 1].died and lives[at - 1].died.kept):
            at -= 1
        return lives[at]

    def tasks(self, rows):
        """The report has a row for each thread that ran, and no other."""
        ran, have = collections.Counter(), collections.defaultdict(list)
        for _, tid, begin, end, _ in self.runs:
            if tid:
                ran[self.task_of(tid, begin)] += end - begin
        for row in rows["tasks"]:
            have[row["tid"]].append(row["cpu"])
        for tid in self.true.threads:
            want = [ran[life] for life in set(self.task_of(tid, life.born or 0)
                                              for life in self.true.lives(tid))]
            check(len(have[tid]) <= len(want) and
                  sorted(filter(None, have[tid])) == sorted(filter(None, want)),
                  f"report: tasks {tid} ran {have[tid]}, of query {want}")
            self.counts["used again"] += len(want) > 1
        check(len(rows["tasks"]) == rows["summary"][0]["tasks"],
              f"report: {len(rows['tasks'])} tasks, in the summary {rows['summary'][0]['tasks']}")

    def whole_tasks(self):
        """If nothing is missing, each thread has exactly its own runs, waits and sleeps."""
        true, want = self.true, collections.defaultdict(collections.Counter)
        for _, tid, begin, end, _ in self.runs:
            if tid:
                want[true.life(tid, begin)]["cpu"] += end - begin
        for event in true.events:
            if event.kind == "switch" and event.args[1]:
                want[true.life(event.args[1], event.time)]["runs"] += 1
        for tid, *_, end, _ in true.waits:
            want[true.life(tid, end.time)]["wakeups"] += 1
        for tid, begin, end, state, _ in true.offs:
            if end:
                want[true.life(tid, end.time)]["blocked" if state == history.BLOCKED else "sleeping"
                                               if state else "runnable"] += end.time - begin.time
        columns = "cpu", "runs", "wakeups", "runnable", "blocked", "sleeping"
        have = sorted((row["tid"], *(row[name] for name in columns))
                      for row in self.reported().get("tasks", ()))
        want = sorted((life.tid, *(sums[name] for name in columns))
                      for life, sums in want.items() if sums["cpu"] or sums["runs"])
        check(have == want, f"report: tasks (tid, {', '.join(columns)}) {have}, not {want}")

    def known(self, busy, idle):
        """Each CPU is known at least from its first switch to its last event, between gaps."""
        true = self.true
        for cpu in true.gaps:
            edges = [(true.starts[cpu], true.ends[cpu])]
            for first, last, _ in true.gaps[cpu]:
                begin, end = edges.pop()
                edges += [(begin, first), (last, end)]
            events = [event for event in true.events if event.cpu == cpu and event.kept]
            least = 0
            for begin, end in edges:
                times = [event.time for event in events if begin <= event.time <= end]
                switches = [event.time for event in events if begin <= event.time <= end and
                            event.kind == "switch"]
                if switches and not true.selections:
                    least += times[-1] - switches[0]
            have = busy[cpu] + idle[cpu]
            check(have >= least, f"CPU {cpu}: {have} is known, and could be {least}")

    # ---- diff ----

    def diff(self, before=None):
        """CPU time for each second in which it is known what all CPUs with a switch ran.

        Return that time and {thread: how long it ran}; None: it is never known. @before: a file,
        and what this returned for it."""
        starts = {event.cpu: event.time for event in reversed(self.true.events) if event.kept}
        ends = {event.cpu: event.time for event in self.true.events if event.kept}
        if not starts or max(starts.values()) >= min(ends.values()):
            return None
        made = json.loads(self.run("diff", "--json", before[0] if before else self.path, self.path))
        sections = {section["id"]: section for section in made["sections"]}
        ids = [column["id"] for column in sections["summary"]["columns"]]
        summary = dict(zip(ids, sections["summary"]["rows"][1]))
        limits = summary["begin"], summary["end"]
        kept = [event for event in self.true.events if event.kept]
        counted = {event.cpu for event in kept
                   if event.kind == "switch" and event.time <= limits[1]} | set(self.first_runs)
        spans = {cpu: [(max(begin, limits[0]), min(end, limits[1]), tid)
                       for one, tid, begin, end, _ in self.runs if one == cpu]
                 for cpu in counted}
        for cpu, gaps in self.true.gaps.items():
            if counted and cpu not in counted:
                spans[cpu] = [(*limits, None)]
                for first, last, _ in gaps:
                    begin, end, _ = spans[cpu].pop()
                    after = [event.time for event in kept if event.cpu == cpu and
                             event.time >= last]
                    spans[cpu] += [(begin, min(end, first), None),
                                   (min(after, default=end), end, None)]
        times = sorted({time for some in spans.values() for span in some for time in span[:2]})
        known, tasks = 0, collections.Counter()
        for begin, end in zip(times, times[1:]):
            running = [[tid for first, last, tid in some if first <= begin and end <= last]
                       for some in spans.values()]
            if counted and all(running):
                known += end - begin
                for tid, *_ in running:
                    tasks[tid] += end - begin
        check(summary["known"] == known, f"diff: {summary['known']} is known, of query {known}")
        rows = {int(row[0][1:]): row[1:4] for row in sections["tasks"]["rows"]}
        truths = (before[1:] if before else (known, tasks), (known, tasks))
        for tid, (*have, change) in rows.items():
            for got, (time, times) in zip(have, truths):
                want = times[tid] * 10**9 // time
                check(abs(got - want) <= 1, f"diff: {tid} ran {got} of a second, of query {want}")
            check(change == have[1] - have[0], f"diff: {have} of {tid} differ by {change}")
            self.counts["diff"] += 1
        return known, tasks

    # ---- flame graphs ----

    def flames(self):
        """The time on and off a CPU of each thread is what query counts as certain."""
        # of a thread that ends there, there is nothing more to show
        if not any(event.kind == "switch" and event.kept and event.args[0] not in history.DEAD
                   for event in self.true.events):
            return
        times = {"on-cpu": collections.Counter(), "off-cpu": self.off}
        for _, tid, begin, end, whole in self.runs:
            if whole and tid:
                times["on-cpu"][tid] += end - begin
        for weight, want in times.items():
            seen = collections.Counter()
            for line in self.run("flamegraph", "-q", "--collapsed", "--threads", "--weight", weight,
                                 self.path).splitlines():
                stack, time = line.rsplit(" ", 1)
                seen[int(stack.split(";")[0].rsplit("-", 1)[1])] += int(time)
            check(seen == want, f"flame graph, {weight}: {dict(seen)}, of query {dict(want)}")
            self.counts[weight] += len(seen)

    # ---- exports ----

    def drawn(self, what, runs, idle=True):
        true = self.spans(((cpu, tid), begin, end) for cpu, tid, begin, end in self.true.runs)
        runs = {run for run in runs if run[3] > run[2]}
        for cpu, tid, begin, end in runs:
            self.inside(what, (cpu, tid), true, begin, end, False)
        want = {run[:4] for run in self.runs if run[4]}
        for cpu, tid, begin, end in want | {run for run in self.first_drawn if run[1]}:
            check((cpu, tid, begin, end) in runs or not (tid or idle),
                  f"{what}: thread {tid} on CPU {cpu} from {begin} to {end} is not drawn")
        self.counts[what] += len(runs)

    def drawn_pairs(self, slices, last):
        """Perfetto pairs the ends of calls and interrupts itself, with the ends that we add."""
        drawn = collections.defaultdict(set)
        for one in slices:
            if one.category in ("call", "irq", "softirq"):
                kind = "syscall" if one.category == "call" else one.category
                key, end = (kind, one.track[1], one.name), last if one.end is None else one.end
                self.inside("Perfetto", key, self.true_pairs, one.begin, end, False, history.KINDS)
                gaps = [] if kind == "syscall" else self.true.gaps[one.track[1]]
                check(not any(one.begin < first and last < end for first, last, _ in gaps),
                      f"Perfetto: {key} is drawn across a gap, from {one.begin} to {end}")
                drawn[key].add((one.begin, end))
                self.counts["Perfetto pairs"] += 1
        for key, spans in self.pairs.items():
            for begin, end, whole in spans:
                check(key[0] == "run" or not whole or (begin, end) in drawn[key],
                      f"Perfetto: {key} from {begin} to {end} is not drawn")

    def exports(self, folder):
        path = os.path.join(folder, "exported")
        self.run("export", "--format", "perfetto", "-o", path, self.path)
        drawn = pf_import.Import(path)
        last = max((event.time for event in drawn.events), default=0)
        check(not drawn.mismatched, f"Perfetto: {drawn.mismatched} switches do not fit")
        self.drawn("Perfetto", ((run["cpu"], run["tid"], run["begin"],
                                 last if run["end"] is None else run["end"])
                                for run in drawn.sched if run["tid"] < pf_import.LOST_TID))
        self.drawn_pairs(drawn.tracks.slices, last)
        self.run("export", "--format", "fxt", "-o", path, self.path)
        with open(path, "rb") as file:
            reader = fxt_check.Reader(file.read())
        reader.read()
        runs, since = [], {}
        for entry in reader.out:
            if entry[1] == "switch":
                time, _, cpu, koid, following = entry[:5]
                if cpu in since and koid <= fxt_check.LOST:
                    runs.append((cpu, fxt_check.tid_of(koid), since[cpu], time))
                since[cpu] = time
        self.drawn("FXT", runs)
        self.run("export", "--format", "json", "-T", "boot", "-o", path, self.path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.drawn("JSON", [(event["args"]["_cpu"], event["args"]["tid"], begin,
                             begin + export_check.nanoseconds(event["dur"]))
                            for event in events if event["ph"] == "X" and event["cat"] == "sched"
                            for begin in [export_check.nanoseconds(event["ts"])]], idle=False)
        os.unlink(path)

    def all(self, folder):
        self.slices()
        self.waits()
        self.offs()
        self.states()
        self.instead()
        self.report()
        self.flames()
        self.exports(folder)


# A child wakes its parent, and ends while its earlier run on CPU 0 is open: the gap that ended that
# run is reported later. All this is one task.
REAPED = """cpus 2
thread 100
thread 101
switch 1 900000 0 0 101
switch 0 1000000 0 0 100
switch 1 1900000 101 1 0
switch 1 2000000 0 0 100
ends 2100000 100
waking 1 2150000 100 101 1 0
wakeup 1 2160000 100 101 1 0
switch 1 2200000 100 32 101
gap 0 3000000 0 1 1500000 1600000
irq 0 3000000 0 1
switch 1 3500000 101 1 0
totals 0 0 4000000
totals 1 0 4000000
"""


# The run of a thread ends in a gap, which is reported when another thread has its TID.
LATE = """cpus 2
thread 100
thread 101
irq 0 1000000 100 1
irq 1 1000000 101 1
fork 2000000 101 100
wakeupnew 1 2100000 101 100 1 0
switch 1 2500000 101 0 100
switch 1 2600000 100 1 0
gap 0 3000000 0 1 1500000 1600000
irq 0 3000000 0 1
totals 0 0 4000000
totals 1 0 4000000
"""


def check_late(args, path):
    subprocess.run([args.maker, path], input=LATE.encode(), check=True)
    said = Judge(args.tool, path, None).run("why", "-t", "100", path)
    check(said.startswith("2 threads: 1.400 ms, from 0.001000 to 0.003000 s"),
          f"a late run: why says {said[:80]}")


def check_reaped(args, path):
    subprocess.run([args.maker, path], input=REAPED.encode(), check=True)
    rows = Judge(args.tool, path, None).reported()["tasks"]
    have = sorted((row["tid"], row["cpu"]) for row in rows)
    check(have == [(100, 700_000), (101, 2_300_000)], f"a reaped child: tasks {have}")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description="Hold what the tools say against what happened.")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep")
    parser.add_argument("tool")
    parser.add_argument("maker")
    args = parser.parse_args()
    counts, wrong = collections.Counter(), 0
    print("KTAP version 1\n1..1")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "history.tbuf")
        try:
            check_reaped(args, path)
            check_late(args, path)
        except Wrong as failure:
            wrong += 1
            print(f"# {failure}")
        for seed in range(args.first, args.first + args.count):
            true = history.History(seed)
            true.lose()
            subprocess.run([args.maker, path], input=true.script().encode(), check=True)
            judge = Judge(args.tool, path, true)
            try:
                judge.all(folder)
                # without the records of their beginnings, threads may have no name
                before = None if true.lost_forks else judge.diff()
                judge.analyses()
                history_why.check_part(judge)
                history_why.check_drawn(judge, folder)
                history_why.check_page(judge, folder)
                history_why.check_table(judge)
                # the same history, with nothing missing
                true.lose_nothing()
                os.rename(path, path + ".part")
                subprocess.run([args.maker, path], input=true.script().encode(), check=True)
                whole = Judge(args.tool, path, true)
                whole.slices()
                if before:
                    whole.diff((path + ".part", *before))
                whole.waits()
                whole.offs()
                whole.states()
                whole.report()
                whole.whole_tasks()
                whole.exports(folder)
                judge.counts += whole.counts
                judge.analyses()
                history_why.check_whole(judge)
                history_why.check_table(judge)
                history_why.check_drawn(judge, folder)
                history_why.check_page(judge, folder)
                history_why.check_drawn(judge, folder, *history_why.middle(true))
                history_why.check_page(judge, folder, *history_why.middle(true))
            except (Wrong, fxt_check.Wrong, ValueError) as failure:
                wrong += 1
                if wrong <= 20:
                    print(f"# seed {seed} ({true.how}): {failure}")
                if args.keep:
                    shutil.copy(path, os.path.join(args.keep, f"{seed}.tbuf"))
            counts += judge.counts
    print("# " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"{'not ' if wrong else ''}ok 1 {args.count + 1 - wrong} of {args.count + 1} histories "
          "are told as they were")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
