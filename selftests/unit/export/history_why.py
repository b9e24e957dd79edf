# SPDX-License-Identifier: GPL-2.0-only
"""Checks what "tracebuf why" says of a recording against what happened (history.py).

The tool works on intervals. This check cuts the time at every event of the history and looks up the
cause of each piece anew: it walks from the thread to what the thread waits for at that moment.

The track in the export to Perfetto, the lane in the page of report and the table "why" of query
must say what "tracebuf why" says: check_drawn(), check_page(), check_table().
"""
import collections
import csv
import io
import json
import os
import page_read
import pf_import
from history import BLOCKED, HARDIRQ, NO_WORK
from history_causes import FUTEX, NET_RX, TIMERS, quota_of

DEPTH = 32              # WHY_DEPTH
NANOSLEEP = 35          # the system call
# events with their TB_CONTEXT_*, and which argument that is
WITH_CONTEXT = {"raise": 1, "waking": 2, "wakeup": 2, "wakeupnew": 2,
                **{kind + end: 2 for kind in TIMERS for end in ("", "end")}}
# the results of poll, rt_sigtimedwait and futex when their time is over
TIMED = {7: 0, 128: -11, FUTEX: -110}
QUOTA_NS = 1_000_000    # a CPU that is idle for less may be on its way to run the thread


class Truth:
    """What a recording with all events of a history tells. @made: the beginnings of requests.

    Threads are those of the history, because a TID may be that of several."""

    def __init__(self, history, made=True):
        self.made = made
        self.first = min(event.time for event in history.events)
        self.last = max(event.time for event in history.events)
        span = lambda begin, end: (begin.time if begin else self.first,
                                   end.time if end else self.last)
        at = lambda tid, event: history.life(tid, event.time if event else 0) if tid else None
        self.life = history.life
        self.lives = history.lives
        self.quotas = {thread: quota_of(thread.cgroup) for thread in history.everyone}
        self.runs, self.on_cpu, self.offs, self.calls, self.irqs = (
            collections.defaultdict(list) for _ in range(5))
        self.moves = collections.defaultdict(list)
        for tid, event in history.moves:
            self.moves[at(tid, event)].append((event.time, event.args[1]))
        with_events = {event.cpu for event in history.events}
        for cpu, tid, begin, end in history.runs:
            # the first events of a CPU tell what ran before
            if cpu in with_events:
                self.runs[at(tid, begin)].append((*span(begin, end), cpu))
                self.on_cpu[cpu].append((*span(begin, end), tid))
        queue = lambda tid, end: end.cpu if end else history.last_queue.get(tid)
        for tid, begin, end, state, waking in history.offs:
            self.offs[at(tid, begin)].append((*span(begin, end), queue(tid, end), state, waking))
        # a new thread waits from the beginning
        for tid, begin, end in history.firsts:
            if end or len(with_events) == len(history.cpus):
                self.offs[at(tid, begin)].append((*span(begin, end), queue(tid, end), 0, None))
        for tid, waking, end in history.first_waits:
            # without an end, a thread that woke itself up may run on a CPU without events
            if not end and len(with_events) < len(history.cpus):
                continue
            # it was asleep from the beginning
            self.offs[at(tid, None)].append((*span(None, end), queue(tid, end), 1, waking))
        for tid, end in history.queued:
            self.offs[at(tid, None)].append((*span(None, end), end.cpu, 0, None))
        for tid, number, begin, end in history.calls:
            # only its end tells of a call that began before
            if begin or end:
                result = end.args[1] if end and end.kind == "exit" else None
                self.calls[at(tid, begin)].append((*span(begin, end), number, result,
                                                   begin.object if begin else None))
        self.borders = set()    # events at which another interrupt or function has the CPU
        for cpu, kind, number, begin, end in history.irqs:
            name = "disk" if kind == "irq" else None
            self.irqs[cpu].append((*span(begin, end), (kind, number, name) if end else
                                   ("unknown",)))
            self.borders |= {begin, end}
        for cpu, kind, number, name, begin, end in history.functions:
            self.irqs[cpu].append((*span(begin, end), (kind, number, f"disk: {name}" if
                                                       kind == "irq" else name)))
            self.borders |= {begin, end}
        self.times = sorted({event.time for event in history.events})
        self.events = collections.defaultdict(list)
        for event in history.events:
            self.events[event.cpu].append(event)

    @staticmethod
    def at(spans, time):
        """The span with the latest beginning of those that contain the time."""
        return max((span for span in spans if span[0] <= time < span[1]), default=None,
                   key=lambda span: span[0])

    def limits(self, life):
        spans = self.runs[life] + self.offs[life]
        spans = [span for span in spans if span[0] < span[1]]
        return (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None

    def interrupted(self, cpu, time, cause):
        irq = self.at(self.irqs[cpu], time)
        return irq[2] if irq else cause

    def path(self, life, time, depth=0):
        """The causes, from the thread's own state to the last one."""
        run, off = self.at(self.runs[life], time), self.at(self.offs[life], time)
        if run:
            return (self.interrupted(run[2], time, ("runs", life.tid)),)
        if not off:
            return (("unknown",),)
        begin, back, cpu, state, waking = off
        if not state or (waking and waking.time <= time):
            return (("waits",), self.instead(life, cpu, time, waking.time if state else begin,
                                             back))
        _, left, call, result, what = self.at(self.calls[life], begin) or (None,) * 5
        if not waking:
            return (("off", call),)
        no_work = state == NO_WORK and call is None
        blocked = (("no_work",) if no_work else ("blocked", call),)
        if what:
            blocked += (("object", what),)
        if waking.args[2] and call == NANOSLEEP:
            return (("sleeps", call),)
        if waking.args[2] and not self.sends(waking):
            until = self.until(waking, None if no_work else time)
            if call in TIMED and result == TIMED[call] and state != BLOCKED and \
                    self.until(waking, waking.time)[0] != "request" and \
                    not any(back <= later[0] < left and later[3] for later in self.offs[life]):
                return (*blocked, ("timeout",))
            return (*blocked, until)
        head = *blocked, ("woken", waking.tid)
        if depth == DEPTH:
            return (*head, ("deep",))
        # the waker may have begun later, and before that another thread had its TID
        return (*head, *self.path(self.life(waking.tid, waking.time), time, depth + 1))

    def sends(self, waking):
        """Only the interrupted thread gave packets to the softirq NET_RX that woke the other one."""
        before = iter([event for event in reversed(self.events[waking.cpu])
                       if event.time < waking.time])
        if waking.args[2] & HARDIRQ or not waking.tid:
            return False
        for event in before:
            if event.kind == "softirq":
                break
            if event.kind in ("irq", "irqend") or (
                    event.kind in WITH_CONTEXT and event.args[WITH_CONTEXT[event.kind]] & HARDIRQ):
                return False
        if event.kind != "softirq" or event.args[0] != NET_RX:
            return False
        sent, runs = False, True
        for event in before:
            if event.kind == "raise" and event.args[0] == NET_RX:
                if event.args[1] or not runs:
                    return False
                sent = True
            elif event.kind == "softirq" and event.args[0] == NET_RX:
                return sent
            elif event.kind == "switch":
                if not event.args[1]:
                    return sent     # an idle CPU has no softirq that waits
                runs = False
        return False

    def until(self, waking, time):
        """The interrupt that woke a thread, or the request that it had just completed, if that was
        made before @time."""
        irq = self.interrupted(waking.cpu, waking.time, ("unknown",))
        if (irq[0] == "irq") != bool(waking.args[2] & HARDIRQ):
            return "until", ("unknown",)    # an interrupt without events
        for event in reversed(self.events[waking.cpu]):
            if event.time > waking.time or irq[0] == "unknown":
                continue
            if event.kind in ("half", "done"):
                if time is None or self.made and event.made and event.made.time > time:
                    break
                return "request", f"8:{event.args[0]}", ("R", "WS")[event.args[1]]
            if event in self.borders:
                break
        return "until", irq

    def instead(self, life, cpu, time, begin, end):
        """What was on the CPU while the thread waited for it, from @begin to @end."""
        for moved, left in self.moves[life]:
            if begin <= moved <= time:
                begin = moved
            elif time < moved < end:
                cpu, end = left, moved
        if cpu is None:
            return ("unknown",)
        run = self.at(self.on_cpu[cpu], time)
        return self.interrupted(cpu, time, ("unknown",) if not run else
                                ("runs", run[2]) if run[2] else
                                self.idle(life, max(begin, run[0]), min(end, run[1])))

    def idle(self, life, begin, end):
        """Why the CPU that a thread waits for is idle from @begin to @end."""
        quota = self.quotas[life]
        return ("quota", *quota) if quota and end - begin >= QUOTA_NS else ("idle",)

    def causes(self, life, begin, end):
        found = collections.Counter()
        times = [begin] + [time for time in self.times if begin < time < end] + [end]
        for first, last in zip(times, times[1:]):
            found[self.path(life, first)] += last - first
        return found

    def in_lives(self, tid, begin, end):
        """The causes of all threads with the TID."""
        found = collections.Counter()
        for life in self.lives(tid):
            found += self.causes(life, max(begin, life.born or begin),
                                 min(end, life.died.time if life.died else end))
        return found


def name(node):
    """A node of the tool's tree in the form that Truth uses."""
    cause = node["cause"]
    irq = ("irq", node["irq"], node["name"]) if "irq" in node else \
        ("softirq", node["softirq"], node.get("name")) if "softirq" in node else ("unknown",)
    if cause in ("irq", "softirq"):
        return irq
    if cause == "interrupt":
        return ("until", irq)
    if cause == "object":
        return (cause, node["text"])
    if cause == "quota":
        return (cause, node["cgroup"], node["quota_ns"], node["period_ns"])
    if cause == "request":
        return (cause, node["device"], node["kind"])
    if cause in ("blocked", "sleeps", "off"):
        return (cause, node.get("call"))
    return (cause, node["tid"]) if "tid" in node else (cause,)


def leaves(node, above=()):
    """(path, ns) of each leaf; checks that a node has the sum of its children's time."""
    if not node["children"]:
        yield above, node["ns"]
        return
    below = sum(child["ns"] for child in node["children"])
    if below != node["ns"]:
        raise ValueError(f"{node['text']}: {node['ns']} ns, and below {below}")
    for child in node["children"]:
        yield from leaves(child, (*above, name(child)))


def asked(judge, tid, *more):
    """What the tool says of the threads with a TID: ns by path, limits, and how many it knows."""
    made = json.loads(judge.run("why", "--json", "-t", str(tid), *more, judge.path))
    tree, count = made["tree"], made["threads"]
    time = made["to_ns"] - made["from_ns"]
    if not 1 <= count <= len(judge.true.lives(tid)) or tree["ns"] > time or \
            (count == 1 and tree["ns"] < time):
        raise ValueError(f"{count} threads {tid}: {tree['ns']} ns from {made['from_ns']} to "
                         f"{made['to_ns']}")
    found = collections.Counter()
    for path, ns in leaves(tree):
        found[path] += ns
    return found, made["from_ns"], made["to_ns"], count


def check_calls(judge, truth, tid):
    """With --call the causes are those during the thread's calls."""
    spans = [(life, begin, end) for life in truth.lives(tid)
             for begin, end, *_ in truth.calls[life] if begin < end]
    want = collections.Counter()
    for life, begin, end in spans:
        want += truth.causes(life, begin, end)
    if not spans:
        return
    made = json.loads(judge.run("why", "--json", "--call", "*", "-t", str(tid), judge.path))
    found = collections.Counter()
    for path, ns in leaves(made["tree"]):
        found[path] += ns
    if made["calls"] != len(spans) or found != want:
        raise ValueError(f"thread {tid}: {made['calls']} of {len(spans)} calls, "
                         f"{sorted((found - want).items(), key=str)} instead of "
                         f"{sorted((want - found).items(), key=str)}")
    judge.counts["calls"] += len(spans)


def kinds(path):
    """What main() counts: kinds of causes that histories are to have."""
    woken = [at for at, node in enumerate(path) if node[0] == "woken"]
    waits = len(path) > 1 and path[-2][0] == "waits"
    chain = woken and all(path[at - 1][0] == "object" for at in woken)
    if path[-1][0] == "quota":
        yield "quotas"
    if waits and path[-1][0] in ("irq", "softirq"):
        yield "instead an interrupt" if path[-1][2] in (None, "disk") else "instead a timer"
    if waits and chain and path[-1][0] == "runs":
        yield "inversions"
    if chain and len(woken) > 1:
        yield "chains"


def check_whole(judge):
    """If the recording lacks nothing, all causes are right to the nanosecond."""
    truth = Truth(judge.true)
    for tid in judge.true.threads:
        limits, want = {}, collections.Counter()
        for life in truth.lives(tid):
            limits[life] = truth.limits(life)
            if limits[life]:
                want += truth.causes(life, *limits[life])
        limits = [some for some in limits.values() if some]
        if not limits:
            continue
        found, begin, end, count = asked(judge, tid)
        if (begin, end, count) != (limits[0][0], limits[-1][1], len(limits)):
            raise ValueError(f"{count} threads {tid}: from {begin} to {end}, not {limits}")
        judge.counts["used again in why"] += count > 1
        if found != want:
            raise ValueError(f"thread {tid}: {sorted((found - want).items(), key=str)} instead "
                             f"of {sorted((want - found).items(), key=str)}")
        judge.counts["causes"] += len(found)
        judge.counts.update(what for path in found for what in kinds(path))
        check_calls(judge, truth, tid)


def kind(path):
    """What the thread itself did."""
    what = path[0][0]
    return "on a CPU" if what in ("runs", "irq", "softirq") else \
        "blocked" if what in ("sleeps", "no_work") else what


def claimed(causes, what):
    """How long the thread itself waited for each request, or used each object."""
    sums = collections.Counter()
    for path, ns in causes.items():
        own = [node for node in path[:3] if node[0] == what]
        if own and path[0][0] in ("blocked", "no_work") and \
                all(node[0] in ("object", what) for node in path[1:path.index(own[0])]):
            sums[own[0]] += ns
    return sums


def functions_of(causes):
    """How long functions of timers interrupted the thread itself."""
    sums = collections.Counter()
    for path, ns in causes.items():
        if path[0][0] in ("irq", "softirq") and path[0][2] not in (None, "disk"):
            sums[path[0]] += ns
    return sums


def check_claimed(tid, have, want):
    for node, ns in have.items():
        if ns > want[node]:
            raise ValueError(f"thread {tid}: {node} for {ns} ns, and it was {want[node]} ns")


def check_part(judge):
    """If the recording lacks something, the tool claims no more of anything than there was."""
    # the recording may lack the beginning of a request: then the whole wait is for it
    true, truth = judge.true, Truth(judge.true, False)
    if not any(event.kind == "switch" and event.kept for event in true.events):
        return
    for tid in true.threads:
        try:
            found, begin, end, _ = asked(judge, tid)
        except judge.wrong:
            continue            # the recording tells nothing of it
        if judge.across(begin, end):
            continue
        want, have = collections.Counter(), collections.Counter()
        causes = truth.in_lives(tid, begin, end)
        for path, ns in causes.items():
            want[kind(path)] += ns
        for path, ns in found.items():
            have[kind(path)] += ns
        # where the first event of a wake-up is missing, its second one ends the sleep
        woken = [event for event in true.events if event.kind in ("waking", "wakeup") and
                 event.args[0] == tid]
        want["blocked"] += sum(after.time - event.time for event, after in zip(woken, woken[1:])
                               if after.kind == "wakeup")
        if all(event.kept for event in woken if event.kind == "waking"):
            check_claimed(tid, claimed(found, "request"), claimed(causes, "request"))
            check_claimed(tid, claimed(found, "object"), claimed(causes, "object"))
        check_claimed(tid, functions_of(found), functions_of(causes))
        for what, ns in have.items():
            # not even the whole history tells why a thread did not run before its first run
            if what not in ("unknown", "off") and ns > want[what] + want["unknown"] + want["off"]:
                raise ValueError(f"thread {tid} from {begin} to {end}: {what} for {ns} ns, "
                                 f"and it was {want}")
        judge.counts["causes of a part"] += len(have)


# ---- the track in the export to Perfetto ----

def nodes_of(node, above=()):
    """(path of texts, ns, count) of all nodes below the root"""
    for child in node["children"]:
        path = (*above, child["text"])
        yield path, child["ns"], child["count"]
        yield from nodes_of(child, path)


def totals(tree):
    """ns and count by path of texts; threads with the same TID have the same texts."""
    times, numbers = collections.Counter(), collections.Counter()
    for path, ns, count in nodes_of(tree):
        times[path] += ns
        numbers[path] += count
    return times, numbers


def slices_of(drawn, track):
    """(path, begin, end, children) of each slice of a track, in the order of their beginnings."""
    open_slices, found = [], []
    for one in drawn.user.slices:
        if one.track != track:
            continue
        if one.end is None:
            raise ValueError(f"'{one.name}' from {one.begin} is never ended")
        del open_slices[one.depth:]
        if len(open_slices) != one.depth:
            raise ValueError(f"'{one.name}' from {one.begin} has depth {one.depth}")
        path = (*(open_slices[-1][0] if open_slices else ()), one.name)
        found.append((path, one.begin, one.end, []))
        if open_slices:
            open_slices[-1][3].append((one.begin, one.end))
        open_slices.append(found[-1])
    return found


def check_filled(what, begin, end, spans):
    """Check that spans fill the time from @begin to @end without gaps and overlaps."""
    for first, last in spans:
        if first != begin or last <= first:
            raise ValueError(f"{what}: a slice from {first} to {last}, expected from {begin}")
        begin = last
    if begin != end:
        raise ValueError(f"{what}: the slices end at {begin}, not at {end}")


def check_lives(judge, what, tid, made, spans):
    """Check that spans fill the time of all threads with a TID without overlaps, and that none is
    of two threads. Threads with the same TID have time in between that is of none."""
    holes = sum(a[1] != b[0] for a, b in zip(spans, spans[1:]))
    if made["threads"] == 1:
        check_filled(what, made["from_ns"], made["to_ns"], spans)
    elif any(a[1] > b[0] for a, b in zip(spans, spans[1:])) or holes >= made["threads"] or \
            (spans[0][0], spans[-1][1]) != (made["from_ns"], made["to_ns"]):
        raise ValueError(f"{what}: from {made['from_ns']} to {made['to_ns']}: {spans}")
    for begin, end in spans:
        for life in judge.true.lives(tid):
            if (not judge.true.lost_forks and begin < (life.born or 0) < end) or \
                    (life.died and life.died.kept and begin < life.died.time < end):
                raise ValueError(f"{what}: from {begin} to {end}, and another thread has the TID")
    check_gone(judge, what, tid, spans)


def check_gone(judge, what, tid, spans):
    """If the tools know the last run of a thread, nothing is said of its TID until its next one."""
    lives = judge.true.lives(tid)
    lasts = {end for _, one, _, end, whole in judge.runs if one == tid and whole}
    for life, following in zip(lives, (*lives[1:], None)):
        if not (life.died and life.died.kept and life.died.time in lasts):
            continue
        until = following.born if following else judge.true.end
        for begin, end in spans:
            if life.died.time <= begin < until:
                raise ValueError(f"{what}: from {begin} to {end}, after its end at "
                                 f"{life.died.time}")


def check_slices(judge, slices, made, tid):
    """Check slices (path, begin, end, children) of a thread against "tracebuf why"."""
    check_lives(judge, f"thread {tid}", tid, made,
                [(begin, end) for path, begin, end, _ in slices if len(path) == 1])
    sums, counts = collections.Counter(), collections.Counter()
    for path, begin, end, below in slices:
        if below:
            check_filled(f"thread {tid}: {path}", begin, end, below)
        sums[path] += end - begin
        counts[path] += 1
    times, numbers = totals(made["tree"])
    for have, want in (sums, times), (counts, numbers):
        if have != want:
            raise ValueError(f"thread {tid}: drawn {sorted(have.items() - want.items())}, "
                             f"'tracebuf why' has {sorted(want.items() - have.items())}")
    judge.counts["slices of causes"] += len(slices)


def middle(history):
    """Options that leave out the first and the last quarter of the time."""
    times = [event.time for event in history.events]
    quarter = (max(times) - min(times)) // 4
    return "--from", f"+{quarter / 1e9:.9f}", "--to", f"+{3 * quarter / 1e9:.9f}"


def explained(judge, base, *more):
    """What "tracebuf why" says of all threads that it knows, by TID, 16 threads at a time."""
    known = {}
    for tid in judge.true.threads:
        try:
            said = judge.run("why", "--json", "-T", base, "-t", str(tid), *more, judge.path)
        except judge.wrong:
            continue            # the recording tells nothing of it
        known[tid] = json.loads(said)
    some, count = {}, 0
    for tid, made in known.items():
        if count + made["threads"] > 16:
            yield some
            some, count = {}, 0
        some[tid] = made
        count += made["threads"]
    if some:
        yield some


def check_drawn(judge, folder, *more):
    """Check the tracks of all threads; @more: options of the interval."""
    path = os.path.join(folder, "causes")
    for some in explained(judge, "boot", *more):
        judge.run("export", "-q", "--format", "perfetto", *more, "-o", path, "--why",
                  ",".join(str(tid) for tid in some), judge.path)
        drawn = pf_import.Import(path)
        os.unlink(path)
        if drawn.user.misplaced or drawn.user.unmatched:
            raise ValueError(f"{drawn.user.misplaced} slices end in others, "
                             f"{drawn.user.unmatched} ends have no slice")
        tracks = {}
        for key, told in drawn.described.values():
            if told.get("name", [""])[0].startswith("why: "):
                above = drawn.described[told["parent_uuid"][0]][1]
                tid = int(told["name"][0].rsplit(" ", 1)[1])
                if above["process"][0]["pid"][0] != drawn.processes.get(tid, tid):
                    raise ValueError(f"the track of thread {tid} is below another process: {above}")
                tracks[tid] = key
        if sorted(tracks) != sorted(some):
            raise ValueError(f"threads {list(some)} were asked for, {sorted(tracks)} have a track")
        for tid, track in tracks.items():
            check_slices(judge, slices_of(drawn, track), some[tid], tid)


# ---- the page of report ----

def slices_in(page, tid):
    """(path, begin, end, children) of each slice in the lane of a thread."""
    above, found = [], []
    for depth in range(len(page.rows)):
        row, at = [], 0
        for begin, end, text in page.rows.get(("why", tid, depth), ()):
            while at < len(above) and above[at][2] <= begin:
                at += 1
            if depth and at == len(above):
                raise ValueError(f"thread {tid}: '{text}' from {begin} lies in no other cause")
            if depth:
                above[at][3].append((begin, end))
            row.append(((*(above[at][0] if depth else ()), text), begin, end, []))
        found += row
        above = row
    return found


def summed(tree):
    """ns by the texts of leaves; interrupts and requests, which the tables word differently, are one
    entry."""
    sums = collections.Counter()
    todo = [tree]
    while todo:
        node = todo.pop()
        todo += node["children"]
        if not node["children"]:
            sums["" if node["cause"] in ("interrupt", "request", "timeout") else
                 node["text"]] += node["ns"]
    return sums


def check_unknown(page):
    """The lanes of CPUs show as lost or unknown exactly the time that the report does not know."""
    tables = {one["id"]: [dict(zip([column["id"] for column in one["columns"]], row))
                          for row in one["rows"]] for one in page.report["sections"]}
    for figures in tables["cpu"]:
        spans = sorted((begin, end) for kind in ("lost", "unknown")
                       for begin, end, _ in page.rows.get((kind, figures["cpu"], 0), ()))
        if any(a[1] > b[0] for a, b in zip(spans, spans[1:])):
            raise ValueError(f"page: unknown times of CPU {figures['cpu']} overlap: {spans}")
        # the page may begin with a loss, before the first event
        drawn = sum(end - max(begin, tables["summary"][0]["begin"]) for begin, end in spans
                    if end > tables["summary"][0]["begin"])
        if figures["unknown"] is not None and drawn != figures["unknown"]:
            raise ValueError(f"page: CPU {figures['cpu']} is unknown for {drawn} ns, in the table "
                             f"for {figures['unknown']}: {spans}")


def check_page(judge, folder, *more):
    """Check the lanes of all threads, and the table of the causes."""
    path = os.path.join(folder, "page.html")
    for some in explained(judge, "mono", *more):
        judge.run("report", "--html", path, *more, "--why", ",".join(map(str, some)), judge.path)
        page = page_read.Page(path)
        os.unlink(path)
        for cpu in judge.true.later:
            begin = (page.begin, judge.true.starts[cpu], "UNKNOWN")
            if not more and begin[0] < begin[1] and begin not in page.rows.get(("lost", cpu, 0), ()):
                raise ValueError(f"CPU {cpu} is not unknown until {begin[1]}")
        drawn = {tid for kind, tid, _ in page.rows if kind == "why"}
        if drawn != set(some) or not drawn <= set(page.threads):
            raise ValueError(f"threads {list(some)} were asked for, {sorted(drawn)} have a lane")
        check_unknown(page)
        section = next(one for one in page.report["sections"] if one["id"] == "why")
        names = [column["id"] for column in section["columns"]]
        table = [dict(zip(names, row)) for row in section["rows"]]
        for tid, made in some.items():
            check_slices(judge, slices_in(page, tid), made, tid)
            sums = collections.Counter()
            for row in table:
                if row["tid"] == tid:
                    text = row["cause"]
                    sums["" if ", for a thread that " in text else text] += row["total"]
            if sums != summed(made["tree"]):
                raise ValueError(f"thread {tid}: the table has {sums}, "
                                 f"'tracebuf why' {summed(made['tree'])}")


# ---- the table of query ----

def rows_of(judge, where=""):
    """The rows as (tid, start, duration, depth, cause, path), in their order."""
    text = judge.run("query", "--csv", "-T", "boot", judge.path, "SELECT tid, start, duration, "
                     f"depth, cause, path FROM why {where}")
    return [(int(tid), int(start), int(duration), int(depth), cause, path)
            for tid, start, duration, depth, cause, path in list(csv.reader(io.StringIO(text)))[1:]]


def check_table(judge):
    """Check the rows of all threads, and rows that a condition chooses."""
    rows = rows_of(judge)
    threads = {row[0] for row in rows}
    some = sorted(threads)[:2]
    have = rows_of(judge, f"WHERE tid = {some[0]} OR comm = 't{some[-1]}' ORDER BY tid, start") \
        if some else []
    if have != [row for row in rows if row[0] in some]:
        raise ValueError(f"table why: other rows of one of the threads {some}")
    # two cursors on the table at a time
    text = judge.run("query", "--csv", judge.path, "SELECT a.tid, a.path, b.tid, b.path FROM why "
                     "AS a JOIN why AS b ON b.start = a.start ORDER BY a.rowid, b.rowid")
    pairs = [row for row in csv.reader(io.StringIO(text))][1:]
    if pairs != [[str(a[0]), a[5], str(b[0]), b[5]] for a in rows for b in rows if a[1] == b[1]]:
        raise ValueError("table why: a join of it with itself has other rows")
    known = 0
    for tid in threads:
        mine = [row for row in rows if row[0] == tid]
        named = [] if judge.true.lost_forks else [f"WHERE comm = 't{tid}'"]
        for where in f"WHERE tid = {tid}", f"WHERE tid = {tid} OR tid = {tid}.0", *named:
            if rows_of(judge, where) != mine:
                raise ValueError(f"table why: other rows {where}")
        made = json.loads(judge.run("why", "--json", "-T", "boot", "-t", str(tid), judge.path))
        check_lives(judge, f"table why, thread {tid}", tid, made,
                    [(start, start + duration) for _, start, duration, *_ in mine])
        known += made["threads"]
        sums = collections.Counter()
        for _, _, duration, depth, cause, path in mine:
            if path.split(" > ")[-1] != cause or path.count(" > ") + 1 != depth:
                raise ValueError(f"table why: {cause} of depth {depth}: {path}")
            sums[path] += duration
        nodes = {" > ".join(path): ns for path, ns in totals(made["tree"])[0].items()}
        inner = {path.rsplit(" > ", 1)[0] for path in nodes if " > " in path}
        want = {path: ns for path, ns in nodes.items() if path not in inner}
        if dict(sums) != want:
            raise ValueError(f"table why, thread {tid}: {sorted(sums.items() - want.items())}, "
                             f"'tracebuf why' has {sorted(want.items() - sums.items())}")
        judge.counts["rows of why"] += len(mine)
    try:
        said = json.loads(judge.run("why", "--json", "--comm", "*", judge.path))["threads"]
    except judge.wrong:
        said = 0                # the recording tells nothing of any thread
    if said != known and not judge.true.lost_forks:     # some have no name
        raise ValueError(f"table why has {known} threads, 'tracebuf why' {said}")
