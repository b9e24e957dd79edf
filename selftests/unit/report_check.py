#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
report_check.py - every figure of a report, worked out once more from the events as print has them.

    tracebuf print -v --jsonl T >events; tracebuf report --json T >report
    report_check.py events report [--cut] [--cpu N] [--tid N] [--worst N] [--diff]

Nothing of the tool is used but its list of events.  Says what differs, a line each, on standard
output; exit status 1 if anything does.
"""
import errno
import json
import sys
from collections import defaultdict

SERIES, WIDTH, HISTORY, INSTEAD, IRQS = 128, 1000000, 256, 8, 8


def read(path):
    """The events, times and losses of rings; what is told of before (no CPU) is not one"""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            event = json.loads(line)
            if event.get("type") == "recording":
                continue
            event["user"] = event["system"] == "user"
            if "cpu" in event or event["user"]:
                yield event


def bucket_last(value):
    """The last value of the bucket: the leading bit and four more"""
    if value < 32:
        return value
    shift = value.bit_length() - 5
    return ((value >> shift) + 1 << shift) - 1


def percentile(values, permyriad):
    values = sorted(values)
    rank = max(1, -(-len(values) * permyriad // 10000))
    return min(bucket_last(values[rank - 1]), values[-1])


class Stat:
    def __init__(self):
        self.values, self.uncertain, self.open = [], 0, 0

    def cells(self):
        v = self.values
        if not v:
            return [0, 0, None, None, None, None, self.uncertain, self.open]
        return [len(v), sum(v), sum(v) // len(v), max(v), percentile(v, 9900),
                percentile(v, 5000), self.uncertain, self.open]


class Axis:
    def __init__(self, begin, end):
        self.begin, self.end, self.width = begin, end, WIDTH
        while end - begin >= SERIES * self.width:
            self.width *= 2
        self.count = (end - begin) // self.width + 1

    def spread(self, spans):
        row = [0] * self.count
        for low, high in spans:
            low = max(low, self.begin)
            while low < high:
                i = min((low - self.begin) // self.width, self.count - 1)
                edge = self.begin + (i + 1) * self.width
                row[i] += min(edge, high) - low
                low = edge
        return row

    def at(self, time):
        return min(max(0, (time - self.begin) // self.width), self.count - 1)

    def times(self):
        return [self.begin + i * self.width for i in range(self.count)]


def is_runnable(state):
    return state.startswith("R")


def is_dead(state):
    return "X" in state or "Z" in state


class Task:
    def __init__(self, tid, number):
        self.tid, self.number, self.comm, self.pid = tid, number, None, 0
        self.spans, self.runs, self.preempted, self.migrations = [], 0, 0, 0
        self.wait = Stat()
        self.off = {"runnable": Stat(), "blocked": Stat(), "sleeping": Stat()}
        self.last_cpu = self.left = None
        self.dead = False


class Cpu:
    def __init__(self):
        self.busy, self.idle, self.switches, self.irq, self.softirq = [], 0, 0, 0, 0
        self.run = None             # [task or None, begin]
        self.past = []
        self.stack, self.soft = [], None
        self.last = 0


class Check:
    def __init__(self, events, options):
        self.events, self.o = events, options
        self.tasks, self.by_tid, self.cpus = [], {}, {}
        self.woken, self.wakeups, self.epoch = {}, False, 0
        self.latency, self.latency_uncertain = [], 0
        self.worst = []
        self.offs = {"runnable": [], "blocked": [], "sleeping": []}
        self.handlers = {"irq": {}, "softirq": {}, "syscalls": {}}
        self.calls, self.errors = {}, defaultdict(int)
        self.failed = defaultdict(int)
        self.requests, self.blocks = {}, {}
        times = [e["time"] for e in events]
        self.begin, self.end = (min(times), max(times)) if times else (0, 0)
        self.has = {e["system"] + ":" + e["name"] for e in events if e["type"] == "event"}
        for event in events:
            self.take(event)
        self.finish()

    # ---- who is asked for ----

    def wants(self, cpu, tid):
        return self.o.get("cpu", cpu) == cpu and self.o.get("tid", tid) == tid

    def task(self, tid):
        if not tid:
            return None
        task = self.by_tid.get(tid)
        if task is None or task.dead:
            task = self.by_tid[tid] = Task(tid, len(self.tasks))
            self.tasks.append(task)
        return task

    def cpu(self, number):
        return self.cpus.setdefault(number, Cpu())

    # ---- events ----

    def take(self, event):
        if event["user"]:
            return
        cpu = self.cpu(event["cpu"])
        if event["type"] == "lost":
            self.lose(event, cpu)
            return
        cpu.last = event["time"]
        name = event["system"] + ":" + event["name"]
        part = {"sched:sched_switch": self.switch, "sched:sched_waking": self.wake,
                "sched:sched_wakeup": self.wake, "sched:sched_wakeup_new": self.wake,
                "irq:irq_handler_entry": self.irq, "irq:irq_handler_exit": self.irq_exit,
                "irq:softirq_entry": self.soft, "irq:softirq_exit": self.soft_exit,
                "raw_syscalls:sys_enter": self.call, "raw_syscalls:sys_exit": self.call_exit,
                "block:block_rq_issue": self.issue, "block:block_rq_complete": self.complete,
                "block:block_rq_requeue": self.requeue}.get(name)
        if part:
            part(event, cpu)
        elif event["system"] == "irq_vectors" and event["name"].endswith("_entry"):
            self.irq(event, cpu)
        elif event["system"] == "irq_vectors" and event["name"].endswith("_exit"):
            self.irq_exit(event, cpu)

    def lose(self, event, cpu):
        first = event["fields"]["first"]
        if cpu.run:
            self.ran(event["cpu"], cpu, max(first, cpu.run[1]))
        self.forget(cpu)
        self.epoch += 1

    def forget(self, cpu):
        if cpu.soft:
            self.handler("softirq", cpu.soft).open += self.wants(*cpu.soft[3:])
        self.drop(cpu, 0)
        cpu.run, cpu.soft = None, None

    # ---- CPUs ----

    def ran(self, number, cpu, end):
        task, begin = cpu.run
        cpu.past.append((task, begin, end))
        if not self.wants(number, task.tid if task else 0):
            return
        if task:
            cpu.busy.append((begin, end))
            task.spans.append((begin, end))
        else:
            cpu.idle += end - begin

    def switch(self, event, cpu):
        f, now, number = event["fields"], event["time"], event["cpu"]
        prev, state = f["prev_pid"], f["prev_state"]
        following = f["next_pid"]
        cpu.switches += self.wants(number, event["tid"])
        self.drop(cpu, 0)           # nobody goes in an interrupt
        # who goes
        pending = self.woken.get(prev)
        if pending and (pending[3] or not self.wakeups or is_runnable(state)):
            del self.woken[prev]
        if prev in self.calls and is_dead(state):
            self.handler("syscalls", self.calls[prev]).open += \
                self.wants(self.calls[prev][5], prev)
            del self.calls[prev]
        if cpu.run and (cpu.run[0].tid if cpu.run[0] else 0) == prev:
            self.ran(number, cpu, now)
        left = self.task(prev)
        task = self.task(following)
        # who comes
        cpu.run = [task, now]
        wake = self.woken.pop(following, None) if following else None
        exact = wake and wake[2] == self.epoch
        if left:
            left.last_cpu, left.left = number, (now, state, self.epoch)
            left.preempted += self.wants(number, prev) and is_runnable(state)
            left.dead = is_dead(state)
            if event["tid"] == prev:
                left.comm, left.pid = event["comm"], event["pid"] or left.pid
        if task and self.wants(number, following):
            if exact:
                task.wait.values.append(now - wake[0])
                self.latency.append(now - wake[0])
                self.worst.append((task, wake, now, number, cpu))
                self.instead(cpu, self.worst)
            self.came(task, number, now, wake if exact else None)
            if wake and not exact:
                task.wait.uncertain += 1
                self.latency_uncertain += 1
        if task:
            task.last_cpu, task.left = number, None

    def came(self, task, number, now, wake):
        task.runs += 1
        task.migrations += task.last_cpu is not None and task.last_cpu != number
        if not task.left:
            return
        since, state, epoch = task.left
        kind = "runnable" if is_runnable(state) else "blocked" if "D" in state else "sleeping"
        if epoch != self.epoch:
            task.off[kind].uncertain += 1
            return
        task.off[kind].values.append(now - since)
        if kind == "runnable":
            wake = None
        self.offs[kind].append((now - since, since, task, state, task.last_cpu, number, wake))

    def instead(self, cpu, worst):
        task, wake, now, number, _ = worst[-1]
        shares, left = {}, now - wake[0]
        for who, begin, end in cpu.past[-HISTORY:]:
            span = min(end, now) - max(begin, wake[0])
            if span > 0:
                shares[who] = shares.get(who, 0) + span
                left -= span
        worst[-1] = (task, wake, now, number,
                     sorted(shares.items(), key=lambda item: -item[1]), left)

    def wake(self, event, _):
        tid, awake = event["fields"]["pid"], event["name"] != "sched_waking"
        if not tid:
            return
        self.task(tid)
        self.wakeups |= awake
        pending = self.woken.get(tid)
        if pending and pending[2] == self.epoch:
            self.woken[tid] = pending[:3] + (pending[3] or awake,) + pending[4:]
            return
        self.woken[tid] = (event["time"], event["tid"], self.epoch, awake, event["context"])

    # ---- handlers ----

    def handler(self, kind, one):
        return self.handlers[kind].setdefault((one[0], one[1]), Stat())

    def drop(self, cpu, keep):
        """Those that have ended without being seen to"""
        for one in cpu.stack[keep:]:
            if self.wants(*one[3:5]):
                self.handler("irq", one).open += 1
        del cpu.stack[keep:]

    def irq(self, event, cpu):
        if event["system"] == "irq_vectors":
            key = (event["fields"]["vector"], event["name"][:-6])
        else:
            key = (event["fields"]["irq"], event["fields"].get("name"))
        # none interrupts itself
        for i, one in enumerate(cpu.stack):
            if self.vector(event) == one[5] and one[0] == key[0] and \
               (not one[5] or one[1] == key[1]):
                self.drop(cpu, i)
                break
        if len(cpu.stack) == IRQS:
            return
        cpu.stack.append(key + (event["time"], event["cpu"], event["tid"],
                                self.vector(event)))

    @staticmethod
    def vector(event):
        return event["system"] == "irq_vectors"

    def irq_exit(self, event, cpu):
        vector = self.vector(event)
        number = event["fields"]["vector" if vector else "irq"]
        at = len(cpu.stack)
        while at and (cpu.stack[at - 1][0] != number or cpu.stack[at - 1][5] != vector or
                      vector and cpu.stack[at - 1][1] != event["name"][:-5]):
            at -= 1
        if not at:
            return
        self.drop(cpu, at)
        one = cpu.stack.pop()
        if self.wants(*one[3:5]):
            self.handler("irq", one).values.append(event["time"] - one[2])
            if not cpu.stack:
                cpu.irq += event["time"] - one[2]

    def soft(self, event, cpu):
        if cpu.soft and self.wants(*cpu.soft[3:]):
            self.handler("softirq", cpu.soft).open += 1
        f = event["fields"]
        cpu.soft = (f["vec"], f.get("vec_name"), event["time"], event["cpu"], event["tid"])

    def soft_exit(self, event, cpu):
        one, cpu.soft = cpu.soft, None
        if not one or not self.wants(*one[3:]):
            return
        if one[0] != event["fields"]["vec"]:
            self.handler("softirq", one).open += 1
            return
        self.handler("softirq", one).values.append(event["time"] - one[2])
        cpu.softirq += event["time"] - one[2]

    def call(self, event, _):
        f = event["fields"]
        tid = f.get("tid", event["tid"])
        old = self.calls.get(tid)
        if old and self.wants(old[5], tid):
            self.handler("syscalls", old).open += 1
        self.calls[tid] = (f["id"], f.get("id_name"), event["time"], self.epoch, tid,
                           event["cpu"])

    def call_exit(self, event, _):
        f, tid = event["fields"], event["tid"]
        one = self.calls.pop(tid, None)
        if not one:
            return
        if one[0] != f["id"]:
            self.handler("syscalls", one).open += self.wants(one[5], tid)
            return
        if not self.wants(event["cpu"], tid):
            return
        if one[3] == self.epoch:
            self.handler("syscalls", one).values.append(event["time"] - one[2])
        else:
            self.handler("syscalls", one).uncertain += 1
        if -4095 <= f["ret"] < 0:
            self.errors[one[:2] + (-f["ret"],)] += 1
            self.failed[one[:2]] += 1

    # ---- block devices ----

    @staticmethod
    def key(event):
        return event["fields"]["dev"], event["fields"]["sector"]

    @staticmethod
    def op(rwbs):
        if rwbs[:1] == "F" and rwbs[1:2] in ("W", "D", "R"):
            rwbs = rwbs[1:]
        return {"R": "read", "W": "write", "D": "discard", "F": "flush"}.get(rwbs[:1], "other")

    def block(self, request):
        return self.blocks.setdefault(request[:2], [Stat(), 0, 0])

    def issue(self, event, _):
        f = event["fields"]
        old = self.requests.get(self.key(event))
        if old and self.wants(*old[5:]):
            self.block(old)[0].open += 1
        self.requests[self.key(event)] = (f["dev"], self.op(f.get("rwbs", "")), event["time"],
                                          f["bytes"], self.epoch, event["cpu"], event["tid"])

    def complete(self, event, _):
        one = self.requests.pop(self.key(event), None)
        if not one or not self.wants(*one[5:]):
            return
        block = self.block(one)
        block[2] += event["fields"].get("error", 0) != 0
        if one[4] != self.epoch:
            block[0].uncertain += 1
            return
        block[1] += one[3]
        block[0].values.append(event["time"] - one[2])

    def requeue(self, event, _):
        self.requests.pop(self.key(event), None)

    # ---- the end ----

    def finish(self):
        for number, cpu in self.cpus.items():
            if cpu.run:
                end = self.end
                if self.o.get("cut"):
                    end = max(min(end, cpu.last), cpu.run[1])
                self.ran(number, cpu, end)
            self.forget(cpu)
        for one in self.calls.values():
            if one[3] == self.epoch and self.wants(one[5], one[4]):
                self.handler("syscalls", one).open += 1
        for one in self.requests.values():
            if self.wants(*one[5:]):
                self.block(one)[0].open += 1
        self.calls, self.requests = {}, {}


# ---- run queues, on their own ----

class Queues:
    """Who waits for which CPU: a span for each wait, and how many at every moment"""
    def __init__(self, check):
        self.check, self.queued = check, {}
        self.spans = defaultdict(list)       # by CPU
        self.steps = defaultdict(list)       # by CPU: (time, how many from then on)
        self.depth = defaultdict(int)
        self.known, since, current = 0, check.begin, {}
        dead = set()
        for e in check.events:
            if e["user"]:
                continue
            if e["type"] == "lost":
                first = e["fields"]["first"]
                self.forget(first)
                self.known += max(0, first - since)
                since, current = max(since, e["time"]), {}
                continue
            f, name = e["fields"], e["system"] + ":" + e["name"]
            current[e["cpu"]] = e["tid"]
            if name == "sched:sched_switch":
                prev, following = f["prev_pid"], f["next_pid"]
                self.leave(prev, e["time"], False)
                self.leave(following, e["time"], True)
                if prev and is_runnable(f["prev_state"]):
                    self.enter(prev, e["cpu"], e["time"])
                current[e["cpu"]] = following
                if is_dead(f["prev_state"]):
                    dead.add(prev)
            elif name in ("sched:sched_wakeup", "sched:sched_wakeup_new"):
                pid, cpu = f["pid"], f.get("target_cpu")
                if pid and cpu is not None and pid not in self.queued and \
                   current.get(cpu) != pid:
                    self.enter(pid, cpu, e["time"])
            elif name == "sched:sched_migrate_task":
                pid, cpu = f["pid"], f["dest_cpu"]
                if pid in self.queued and self.queued[pid][0] != cpu:
                    self.leave(pid, e["time"], True)
                    self.enter(pid, cpu, e["time"])
        until = check.end
        if check.o.get("cut"):
            until = min([until] + [cpu.last for cpu in check.cpus.values()])
        self.forget(until)
        self.known += max(0, until - since)

    def enter(self, tid, cpu, now):
        self.queued[tid] = (cpu, now)
        self.depth[cpu] += 1
        self.steps[cpu].append((now, self.depth[cpu]))

    def leave(self, tid, now, counts):
        if tid not in self.queued:
            return
        cpu, since = self.queued.pop(tid)
        if counts and now > since:
            self.spans[cpu].append((since, now))
        self.depth[cpu] -= 1
        self.steps[cpu].append((now, self.depth[cpu]))

    def forget(self, until):
        for tid in list(self.queued):
            self.leave(tid, until, True)

    def deep(self, cpu):
        """How long anybody waited"""
        total, since = 0, None
        for time, depth in self.steps[cpu]:
            if depth and since is None:
                since = time
            if not depth and since is not None:
                total += max(0, time - since)
                since = None
        return total

    def most(self, cpu, axis):
        row, before, depth = [0] * axis.count, axis.begin, 0
        for time, after in self.steps[cpu]:
            for i in range(axis.at(before), axis.at(time) + 1):
                row[i] = max(row[i], depth)
            row[axis.at(time)] = max(row[axis.at(time)], after)
            before, depth = time, after
        return row


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
        want = [list(row) for row in want]
        if not order:
            have, want = sorted(have, key=str), sorted(want, key=str)
        self.same(f"{name}: rows", len(have), len(want))
        for i, (one, other) in enumerate(zip(have, want)):
            self.same(f"{name}, row {i}", one, other)

    def needs(self, name, *events):
        """Is there what the section needs?  If not it has no rows, and says what is missing"""
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
        self.rows("summary", [[c.begin, c.end, c.end - c.begin,
                               sum(e["type"] != "lost" for e in c.events), len(c.cpus),
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
            if e["type"] == "event" and not e["user"] and e["system"] not in ("tracebuf", "unknown"):
                counts[e["system"], e["name"]] += 1
        have = defaultdict(int)
        for system, name, _, count in report["events"]["rows"]:
            have[system, name] += count
        self.same("events", dict(have), dict(counts))

    def series(self, name, columns):
        section = self.sections[name]
        self.same(f"{name}: width", section["width"], self.axis.width)
        self.rows(name, zip(self.axis.times(), *columns))

    def cpu(self, cpus):
        span, rows = self.c.end - self.c.begin, []
        for n in cpus:
            cpu = self.c.cpus[n]
            busy = sum(b - a for a, b in cpu.busy)
            idle, unknown = cpu.idle, max(0, span - busy - cpu.idle)
            if "tid" in self.c.o:
                idle = unknown = None
            rows.append([n, busy, busy * 1000000 // span if span else None, idle, unknown,
                         cpu.switches, cpu.irq, cpu.softirq])
        self.rows("cpu", rows)
        self.series("cpu-time", [self.axis.spread(self.c.cpus[n].busy) for n in cpus])

    def tasks(self):
        span, rows = self.c.end - self.c.begin, []
        ran = sorted(self.ran, key=lambda t: (-sum(b - a for a, b in t.spans), t.number))
        for t in ran:
            run, w = sum(b - a for a, b in t.spans), t.wait.values
            rows.append([t.tid, run, run * 1000000 // span if span else None, t.runs, len(w),
                         sum(w) // len(w) if w else None, max(w) if w else None, t.preempted,
                         t.migrations, sum(w), t.wait.uncertain] +
                        [sum(t.off[k].values) for k in ("runnable", "blocked", "sleeping")])
        self.rows("tasks", rows, order=False, columns=[
            "tid", "cpu", "share", "runs", "wakeups", "wait_mean", "wait_max", "preempted",
            "migrations", "wait_total", "wait_uncertain", "runnable", "blocked", "sleeping"])
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
        # equal ones may be in any order: by the title
        section = self.sections["tasks-time"]
        have = {(column["title"].rsplit("/", 1)[1], tuple(r[i] for r in section["rows"]))
                for i, column in enumerate(section["columns"]) if i}
        want = {(str(t.tid), tuple(self.axis.spread(t.spans))) for t in ran}
        self.same("tasks-time: not in the events", have - want, set())
        self.same("tasks-time: tasks", len(section["columns"]) - 1, min(20, len(ran)))

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
        rows, instead = [], []
        for i, (task, wake, now, cpu, shares, left) in enumerate(c.worst[:self.worst]):
            rows.append([i + 1, now, now - wake[0], task.tid, cpu, wake[1]])
            for who, ns in shares[:INSTEAD]:
                instead.append([i + 1, cpu, who.tid if who else 0, ns])
            others = sum(ns for _, ns in shares[INSTEAD:])
            instead += [[i + 1, cpu, None, ns] for ns in (others, left) if ns]
        self.rows("latency-worst", rows,
                  columns=["case", "time", "latency", "tid", "cpu", "waker"])
        self.rows("latency-instead", instead, order=False,
                  columns=["case", "cpu", "tid", "ran"])
        section = self.sections["latency-worst"]
        contexts = {"h": "irq", "H": "irq", "s": "softirq", "z": "nmi"}
        for row, case in zip(section["rows"], c.worst):
            letter = case[1][4][0]
            want = [contexts[letter]] if letter in contexts else ["?", "task"]
            self.same("latency-worst: where it was woken", row[-1] in want, True)

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
            rows.append([n, waiting * 1000000 // q.known if q.known else None,
                         max([d for _, d in q.steps[n]] + [0]), waiting, q.deep(n), q.known])
        self.rows("runqueue", rows)
        self.series("runqueue-time", [self.axis.spread(q.spans[n]) for n in cpus])
        self.series("runqueue-most", [q.most(n, self.axis) for n in cpus])

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
        told = set(self.c.handlers[kind])
        names = {row[0]: row[1] for row in section["rows"] if tuple(row[:2]) not in told}
        names = {**{row[0]: row[1] for row in section["rows"]}, **names}
        merged = defaultdict(Stat)
        for (number, name), stat in self.c.handlers[kind].items():
            # one-element events do not tell the name of a handler
            to = merged[number, name if name is not None else names.get(number)]
            to.values += stat.values
            to.uncertain += stat.uncertain
            to.open += stat.open
        rows = []
        for (number, name), stat in merged.items():
            # made, but for nobody who was asked for
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
        for (dev, op), (stat, size, failed) in self.c.blocks.items():
            device = f"{dev >> 20}:{dev & 0xfffff}"
            rows.append([device, op, size, failed] + stat.cells())
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
                  bool(gaps))


def main(arguments):
    options, files = {}, []
    while arguments:
        word = arguments.pop(0)
        if word == "--cut":
            options["cut"] = True
        elif word in ("--cpu", "--tid", "--worst"):
            options[word[2:]] = int(arguments.pop(0))
        else:
            files.append(word)
    with open(files[1], encoding="utf-8") as file:
        report = json.load(file)
    compare = Compare(Check(list(read(files[0])), options), report)
    compare.all()
    print(f"# {compare.checked} compared, {compare.wrong} differ")
    return compare.wrong > 0 or compare.checked < 20


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
