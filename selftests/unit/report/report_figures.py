# SPDX-License-Identifier: GPL-2.0-only
"""
The figures of a report, computed for report_check.py from the events that print lists, in the
plainest way, without regard to time and memory.
"""
import json
import struct
from bisect import bisect_right
from collections import defaultdict

SERIES, WIDTH, HISTORY, IRQS = 128, 1000000, 1024, 8


def read(path):
    """The events and losses of rings and programs, in the order of time.

    Records without a CPU are skipped, and a time that goes back counts as the one before it."""
    now = 0
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            event = json.loads(line)
            if event.get("type") == "recording":
                continue
            event["user"] = event["system"] == "user"
            if "cpu" in event or event["user"]:
                now = event["time"] = max(now, event["time"])
                yield event


def first_threads(path):
    """For each CPU, the thread of which the first block of a trace says that it ran."""
    with open(path, "rb") as file:
        data = file.read()
    at, threads = 0, {}
    while at + 64 <= len(data):
        _, _, kind, log2, _, _, cpu, tid = struct.unpack_from("<IBBBBHHI", data, at)
        if kind == 2:
            threads.setdefault(cpu, tid)
        at += 1 << log2
    return threads


def bucket_last(value):
    """The last value of the bucket, which the leading bit and four more identify."""
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
        self.stuck = 0              # in state D, until the wake-up
        self.off = {"runnable": Stat(), "blocked": Stat(), "sleeping": Stat()}
        self.last_cpu = self.left = None
        self.dead = False


class Cpu:
    def __init__(self):
        self.busy, self.idle, self.switches, self.irq, self.softirq = [], 0, 0, 0, 0
        self.run = None             # [task or None, begin]
        self.switched = False
        self.past = []
        self.tracked = []           # spans in which the running task is known
        self.ran = []               # the same, as far as its runs are reported
        self.known = 0              # their sum
        self.stack, self.soft = [], None
        self.last = 0


def intersection(spans, others):
    return [(max(a, c), min(b, d)) for a, b in spans for c, d in others if max(a, c) < min(b, d)]


class Gaps:
    """
    Spans in which events of some CPU are missing; own: (begin, time of the event LOST, CPU).
    unselected: a span in which switches are not selected
    """
    def __init__(self, losses, unselected=None):
        self.spans, self.unselected = [], unselected
        self.own = [(e["fields"]["first"], e["time"], e["cpu"]) for e in losses]
        fields = [e["fields"] for e in losses]
        spans = [(f["first"], max(f["first"], f["last"])) for f in fields]
        for first, last in sorted(spans + [unselected] * bool(unselected)):
            if self.spans and first <= self.spans[-1][1]:
                self.spans[-1][1] = max(last, self.spans[-1][1])
            else:
                self.spans.append([first, last])
        self.lasts = [last for _, last in self.spans]

    def meet(self, begin, end):
        at = bisect_right(self.lasts, begin)
        return at < len(self.spans) and self.spans[at][0] < end

    def inside(self, time):
        at = bisect_right(self.lasts, time)
        return at < len(self.spans) and self.spans[at][0] < time

    def outside(self, begin, end):
        return max(0, end - begin) - sum(max(0, min(last, end) - max(first, begin))
                                         for first, last in self.spans)


class Check:
    def __init__(self, events, options, gaps):
        self.events, self.o, self.gaps = events, options, gaps
        self.tasks, self.by_tid, self.cpus = [], {}, {}
        self.woken, self.wakeups, self.unseen = {}, False, set()
        self.moved = {}             # by thread: (time, CPU) of its last move between queues
        self.latency, self.latency_uncertain = [], 0
        self.worst = []
        self.offs = {"runnable": [], "blocked": [], "sleeping": []}
        self.handlers = {"irq": {}, "softirq": {}, "syscalls": {}}
        self.calls, self.errors = {}, defaultdict(int)
        self.failed = defaultdict(int)
        self.requests, self.left, self.blocks = {}, {}, {}
        times = [e["time"] for e in events]
        self.begin, self.end = (min(times), max(times)) if times else (0, 0)
        self.begin, self.end = options.get("from", self.begin), options.get("to", self.end)
        self.has = {e["system"] + ":" + e["name"] for e in events if e["type"] == "event"}
        hidden = gaps.unselected
        if not options.get("cut"):
            self.start(hidden)
        for event in events:
            if hidden and event["time"] > hidden[0]:
                for number, cpu in self.cpus.items():
                    self.lose(number, cpu, hidden[0])
                hidden = None
            self.take(event)
        self.finish()

    # ---- selection ----

    def wants(self, cpu, tid):
        return self.o.get("cpu", cpu) == cpu and ("tids" not in self.o or tid in self.o["tids"])

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

    def start(self, hidden):
        """The first block of a CPU tells what ran since the recording or the part began.

        It does not after a gap, nor if switches were not selected before it, nor if it is not in
        the part. A trace without an end (option cut) does not say whether rules kept switches
        out."""
        firsts = {cpu: event for cpu, event in self.o["firsts"].items() if event["type"] != "lost"}
        begin = self.o.get("from") or \
            max(self.begin, min((event["time"] for event in firsts.values()), default=0))
        for number, event in firsts.items():
            if begin <= event["time"] and (event["time"] <= self.end or "to" in self.o) and \
               (event["time"] > begin or event["name"] != "sched_switch") and \
               not (hidden and event["time"] > hidden[0]):
                cpu = self.cpu(number)
                cpu.run, cpu.switched = [self.task(self.o["threads"][number]), begin], True
                self.has.add("sched:sched_switch")

    def take(self, event):
        if event["user"]:
            return
        cpu = self.cpu(event["cpu"])
        if event["type"] == "lost":
            self.lose(event["cpu"], cpu, event["fields"]["first"])
            self.forget(cpu)
            return
        cpu.last = event["time"]
        name = event["system"] + ":" + event["name"]
        part = {"sched:sched_switch": self.switch, "sched:sched_waking": self.wake,
                "sched:sched_wakeup": self.wake, "sched:sched_wakeup_new": self.wake,
                "sched:sched_migrate_task": self.move,
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

    def lose(self, number, cpu, first):
        """From first on no switch of the CPU is recorded."""
        self.track(cpu, first)
        if cpu.run:
            self.ran(number, cpu, max(first, cpu.run[1]))
        cpu.run = None

    def forget(self, cpu):
        if cpu.soft:
            self.handler("softirq", cpu.soft).open += self.wants(*cpu.soft[3:])
        self.drop(cpu, 0)
        cpu.run, cpu.soft = None, None

    # ---- CPUs ----

    def track(self, cpu, end):
        if cpu.run and end > cpu.run[1]:
            cpu.tracked.append((cpu.run[1], end))

    def all_tracked(self):
        """The spans in which it is known of every selected CPU what ran."""
        wanted = [cpu for number, cpu in self.cpus.items() if self.o.get("cpu", number) == number]
        if not any(cpu.switched for cpu in wanted):
            return []
        spans = [(self.begin, self.end)]
        for first, told, cpu in self.gaps.own:
            if self.o.get("cpu", cpu) == cpu:
                spans = intersection(spans, [(0, first), (told, max(told, self.end))])
        for cpu in wanted:
            # a CPU without a switch is idle or has one task, and does not count
            if cpu.switched:
                spans = intersection(spans, cpu.tracked)
        return spans

    def ran(self, number, cpu, end):
        task, begin = cpu.run
        cpu.past.append((task, begin, end))
        cpu.known += end - begin
        cpu.ran.append((begin, end))
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
        cpu.switched = True
        self.track(cpu, now)
        self.drop(cpu, 0)           # no thread leaves a CPU within an interrupt
        # the thread that leaves
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
        # the thread that comes
        cpu.run = [task, now]
        wake = self.woken.pop(following, None) if following else None
        exact = wake and not self.gaps.meet(wake[0], now)
        moved = self.moved.pop(following, None)
        self.unseen.discard(prev)
        if left:
            left.last_cpu, left.left = number, (now, state)
            left.preempted += self.wants(number, prev) and is_runnable(state)
            left.dead = is_dead(state)
            if event["tid"] == prev:
                left.comm, left.pid = event["comm"], event["pid"] or left.pid
        if task and self.wants(number, following):
            if exact:
                # it may have been woken before it had left the CPU
                ready = (max(wake[0], task.left[0] if task.left else 0),) + wake[1:]
                task.wait.values.append(now - ready[0])
                self.latency.append(now - ready[0])
                # the time in the queue of another CPU
                away = max(moved[0] - ready[0], 0) if moved and moved[1] == number else 0
                self.worst.append((task, ready, now, number, away))
                self.instead(cpu, self.worst)
            self.came(task, number, now, wake if exact else None)
            if wake and not exact:
                task.wait.uncertain += 1
                self.latency_uncertain += 1
        if task:
            task.last_cpu, task.left = number, None
            self.unseen.discard(following)

    def came(self, task, number, now, wake):
        task.runs += 1
        task.migrations += task.last_cpu is not None and task.last_cpu != number
        if not task.left:
            return
        since, state = task.left
        kind = "runnable" if is_runnable(state) else "blocked" if "D" in state else "sleeping"
        if task.tid in self.unseen or self.gaps.meet(since, now):
            task.off[kind].uncertain += 1
            return
        task.off[kind].values.append(now - since)
        if kind == "blocked":
            task.stuck += max(wake[0], since) - since if wake else now - since
        if kind == "runnable":
            wake = None
        self.offs[kind].append((now - since, since, task, state, task.last_cpu, number, wake))

    def instead(self, cpu, worst):
        """How long the CPU ran each task or handler; at each moment the one that began last."""
        task, wake, now, number, away = worst[-1]
        since = wake[0] + away
        ran = [(max(begin, since), min(end, now), begin, what)
               for what, begin, end in cpu.past[-HISTORY:] if begin < now and end > since]
        shares, left = {what: 0 for _, _, _, what in ran}, now - since
        moments = sorted({time for low, high, _, _ in ran for time in (low, high)})
        for low, high in zip(moments, moments[1:]):
            inside = [one for one in ran if one[0] <= low and one[1] >= high]
            if inside:
                # of those that began together, the first to end
                last = max(begin for _, _, begin, _ in inside)
                what = next(what for _, _, begin, what in inside if begin == last)
                shares[what] += high - low
                left -= high - low
        shares = {what: ns for what, ns in shares.items() if ns}
        worst[-1] = (task, wake, now, number,
                     sorted(shares.items(), key=lambda item: -item[1]), left, away)

    def move(self, event, _):
        f = event["fields"]
        pending = self.woken.get(f["pid"])
        # before the wake-up is complete, the thread is in no queue
        if pending and pending[3] and f["orig_cpu"] != f["dest_cpu"]:
            self.moved[f["pid"]] = (event["time"], f["dest_cpu"])

    def wake(self, event, _):
        tid, awake = event["fields"]["pid"], event["name"] != "sched_waking"
        if not tid:
            return
        self.task(tid)
        self.wakeups |= awake
        pending = self.woken.get(tid)
        if pending and not self.gaps.meet(pending[0], event["time"]):
            if awake and not pending[3]:
                self.woken[tid] = pending[:3] + (True,) + pending[4:]
                return
            # a thread that is woken twice must have run in between, unseen
            self.unseen.add(tid)
        self.woken[tid] = (event["time"], event["tid"], None, awake, event["context"])

    # ---- handlers ----

    def handler(self, kind, one):
        return self.handlers[kind].setdefault((one[0], one[1]), Stat())

    def drop(self, cpu, keep):
        """Remove interrupts without an end."""
        for one in cpu.stack[keep:]:
            if self.wants(*one[3:5]):
                self.handler("irq", one).open += 1
        del cpu.stack[keep:]

    def irq(self, event, cpu):
        if event["system"] == "irq_vectors":
            key = (event["fields"]["vector"], event["name"][:-6])
        else:
            key = (event["fields"]["irq"], event["fields"].get("name"))
        # an interrupt does not interrupt itself
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
        cpu.past.append((("irq", *one[:2]), one[2], event["time"]))
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
        if one and one[0] == event["fields"]["vec"]:
            cpu.past.append((("softirq", *one[:2]), one[2], event["time"]))
        if not one or not self.wants(*one[3:]):
            return
        if one[0] != event["fields"]["vec"]:
            self.handler("softirq", one).open += 1
            return
        self.handler("softirq", one).values.append(event["time"] - one[2])
        cpu.softirq += event["time"] - one[2]

    def call(self, event, _):
        f = event["fields"]
        tid = event["tid"]
        old = self.calls.get(tid)
        if old and self.wants(old[5], tid):
            self.handler("syscalls", old).open += 1
        self.calls[tid] = (f["id"], f.get("id_name"), event["time"], None, tid,
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
        if not self.gaps.meet(one[2], event["time"]):
            self.handler("syscalls", one).values.append(event["time"] - one[2])
        else:
            self.handler("syscalls", one).uncertain += 1
        if -4095 <= f["ret"] < 0:
            self.errors[one[:2] + (-f["ret"],)] += 1
            self.failed[one[:2]] += 1

    # ---- block devices ----

    @staticmethod
    def key(event):
        # a request without a place, such as a flush, has sector 0 at its issue, -1 at completion
        f = event["fields"]
        nowhere = not f["sector"] and f.get("nr_sector") == 0
        return f["dev"], 2**64 - 1 if nowhere else f["sector"]

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
                                          f["bytes"], bool(old), event["cpu"], event["tid"])
        self.left[self.key(event)] = f.get("nr_sector", 0)

    def complete(self, event, _):
        one = self.requests.pop(self.key(event), None)
        if not one:
            return
        # completed in parts: it ends with the last part, or with one that failed
        f = event["fields"]
        left = self.left.pop(self.key(event)) - f.get("nr_sector", 0)
        if left > 0 and f.get("nr_sector") and not f.get("error"):
            rest = f["dev"], f["sector"] + f["nr_sector"]
            old = self.requests.get(rest)
            if old and self.wants(*old[5:]):
                self.block(old)[0].open += 1
            self.requests[rest] = (*one[:4], one[4] or bool(old), *one[5:])
            self.left[rest] = left
            return
        if not self.wants(*one[5:]):
            return
        block = self.block(one)
        block[2] += event["fields"].get("error", 0) != 0
        # of two requests that are pending at a place, the completion does not tell which it ends
        if one[4] or self.gaps.meet(one[2], event["time"]):
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
                self.track(cpu, end)
                self.ran(number, cpu, end)
            self.forget(cpu)
        for one in self.calls.values():
            if not self.gaps.meet(one[2], self.end) and self.wants(one[5], one[4]):
                self.handler("syscalls", one).open += 1
        for one in self.requests.values():
            if self.wants(*one[5:]):
                self.block(one)[0].open += 1
        self.calls, self.requests = {}, {}


# ---- run queues, on their own ----

class Queues:
    """The threads that wait for each CPU: a span for each wait, and their number at every time."""
    def __init__(self, check):
        self.check, self.queued = check, {}
        self.spans = defaultdict(list)       # by CPU
        self.steps = defaultdict(list)       # by CPU: (time, number of waiting threads)
        self.depth = defaultdict(int)
        self.told = defaultdict(int)         # by CPU: time until which its queue is known
        self.ahead, current = list(check.gaps.spans), {}
        for e in check.events:
            if e["user"]:
                continue
            now = e["time"]
            self.reach(now)
            blind = check.gaps.inside(now)
            if e["type"] == "lost":
                current.pop(e["cpu"], None)
                continue
            f, name = e["fields"], e["system"] + ":" + e["name"]
            current[e["cpu"]] = e["tid"]
            if blind:
                if name == "sched:sched_switch":
                    current[e["cpu"]] = f["next_pid"]
            elif name == "sched:sched_switch":
                prev, following = f["prev_pid"], f["next_pid"]
                self.leave(prev, e["time"], False)
                self.leave(following, e["time"], True)
                if prev and is_runnable(f["prev_state"]):
                    self.enter(prev, e["cpu"], e["time"])
                current[e["cpu"]] = following
            elif name in ("sched:sched_wakeup", "sched:sched_wakeup_new"):
                pid, cpu = f["pid"], f.get("target_cpu")
                if pid and cpu is not None and cpu <= max(check.cpus) and \
                   pid not in self.queued and current.get(cpu) != pid:
                    self.enter(pid, cpu, e["time"])
            elif name == "sched:sched_migrate_task":
                pid, cpu = f["pid"], f["dest_cpu"]
                if pid in self.queued and self.queued[pid][0] != cpu and cpu <= max(check.cpus):
                    self.leave(pid, e["time"], True)
                    self.enter(pid, cpu, e["time"])
        self.reach(check.end)
        until = {n: check.end for n in check.cpus}
        if check.o.get("cut"):
            until = {n: max(cpu.last, self.told[n]) for n, cpu in check.cpus.items()}
        for tid, (cpu, _) in list(self.queued.items()):
            self.leave(tid, until.get(cpu, check.end), True)
        self.until = until
        self.known = {n: check.gaps.outside(check.begin, until[n]) for n in until}

    def known_over(self, cpu, axis):
        """For each bucket: how long the queue is known."""
        return [self.check.gaps.outside(max(time, self.check.begin),
                                        min(time + axis.width, self.until[cpu]))
                for time in axis.times()]

    def enter(self, tid, cpu, now):
        self.queued[tid] = (cpu, now)
        self.told[cpu] = max(self.told[cpu], now)
        self.depth[cpu] += 1
        self.steps[cpu].append((now, self.depth[cpu]))

    def leave(self, tid, now, counts):
        if tid not in self.queued:
            return
        cpu, since = self.queued.pop(tid)
        self.told[cpu] = max(self.told[cpu], now)
        if counts and now > since:
            self.spans[cpu].append((since, now))
        self.depth[cpu] -= 1
        self.steps[cpu].append((now, self.depth[cpu]))

    def reach(self, now):
        """Where events are missing, no thread is known to wait."""
        while self.ahead and self.ahead[0][0] < now:
            self.forget(self.ahead.pop(0)[0])

    def forget(self, until):
        for tid in list(self.queued):
            self.leave(tid, until, True)

    def deep(self, cpu):
        """How long at least one thread waited."""
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
