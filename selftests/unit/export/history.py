#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Small machines with a known history, and recordings that lack parts of it.

History(seed) has a few CPUs and threads. At random the threads run, wait, wake each other, call the
kernel, and are interrupted; some end, and new ones begin, often with the TID of one that has ended.
life() has the thread that a TID belonged to. The lists have everything that happened, to the
nanosecond:

    runs    (cpu, tid, begin, end)              each time that a thread was on a CPU; tid 0: idle
    waits   (tid, cpu, waking, wakeup, end, waker)      from a wake-up until the thread ran
    offs    (tid, begin, end, state, waking)    from leaving a CPU until running again: not of
                                                a thread that has ended
    firsts  (tid, begin, end)                   from the wake-up of a new thread until it ran
    calls   (tid, number, begin, end)
    irqs    (cpu, kind, number, begin, end)     kind: "irq", "softirq"
    functions   (cpu, kind, number, name, begin, end)   of timers, inside of an interrupt

begin, waking, wakeup and end are Events, or None outside of the history. lose() decides which
events a recording has: some are not selected, some are lost in gaps, and the recording ends in one
of several ways. Event.kept says whether the recording has the event; gaps, starts, ends and
selections say what is missing. script() is the recording as input of history_trace.c.
"""
import random
import history_causes
import history_lives
from history_causes import HARDIRQ, RUNNING, SLEEPS, TIMERS
from history_lives import DEAD

KINDS = ("switch", "wake", "irq", "softirq", "call")
MORE = KINDS + ("request", "timer")
GROUP = {"switch": "switch", "migrate": "switch", "waking": "wake", "wakeup": "wake",
         "wakeupnew": "wake",
         "irq": "irq", "irqend": "irq",
         "softirq": "softirq", "softirqend": "softirq", "raise": "softirq",
         "enter": "call", "exit": "call",
         "insert": "request", "merge": "request", "issue": "request", "requeue": "request",
         "half": "request", "done": "request",
         **{kind + end: "timer" for kind in TIMERS for end in ("", "end")}}
SNAPSHOT, OPEN = 1, 2           # TB_TOTALS_*
PART_END = 1                    # TB_PART_*
BLOCKED, NO_WORK = 2, 0x80      # prev_state


class Event:
    def __init__(self, time, cpu, kind, tid, *args):
        self.time, self.cpu, self.kind, self.tid, self.args = time, cpu, kind, tid, args
        self.kept = True
        self.object = None
        self.hidden = False

    def order(self):
        return " ".join(map(str, (self.kind, self.cpu, self.time, self.tid, *self.args)))


class Thread:
    """born: time of its fork, None: before the history; ends: it has begun to end, which takes some
    time; died: its last switch"""

    def __init__(self, tid, cgroup, born=None):
        self.tid, self.cgroup, self.born = tid, cgroup, born
        self.ends, self.died, self.new = False, None, None
        self.out = self.call = self.waking = self.wakeup = None
        self.target = self.waker = None
        self.holder = self.what = None
        self.files = dict(history_causes.FILES)
        self.sleeping = False


class CPU:
    def __init__(self, number):
        self.number, self.current, self.since = number, 0, None
        self.queue, self.interrupts = [], []

    def context(self):
        """The bits TB_CONTEXT_* of an event on this CPU now."""
        return sum({"softirq": 0x100, "irq": HARDIRQ}.get(kind, 0)
                   for kind in {"irq" if event.hidden else event.kind
                                for event in self.interrupts})


class History(history_causes.Causes, history_lives.Lives):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events = []
        self.runs, self.waits, self.offs, self.calls, self.irqs = [], [], [], [], []
        self.functions, self.timers = [], 0
        self.moves = []         # of threads from one CPU's queue to another's: (tid, event)
        self.first_waits = []   # of threads that slept at the beginning: (tid, waking, end)
        self.queued = []        # of those that waited for a CPU then: (tid, end)
        self.last_queue = {}    # of those that wait at the end: number of the CPU, by tid
        self.firsts = []
        self.begin = self.now = 10_000_000
        self.cpus = [CPU(n) for n in range(self.random.randint(1, 4))]
        self.threads = {tid: Thread(tid, self.random.choice((0, *range(7, 11))))
                        for tid in range(100, 101 + self.random.randint(1, 7))}
        self.set_up_lives()
        self.woken = []         # wake-ups that the target's CPU has yet to do
        self.inserted = []      # requests that are not issued: (disk, kind, sector, event)
        self.requests = []      # those that are issued and not complete
        self.sector = 0
        self.set_out()
        # sometimes nothing happens for long on the last CPU
        steps = self.random.randint(20, 300)
        self.late = steps // 2 if self.random.random() < 0.3 and len(self.cpus) > 1 else 0
        for i in range(steps):
            self.step(self.random.choice(self.cpus[:-1] if i < self.late else self.cpus))
        self.now += self.random.randint(1, 100_000)
        self.end = self.now
        self.finish()

    # ---- what happens ----

    def set_out(self):
        for thread in self.threads.values():
            cpu = self.random.choice(self.cpus)
            if not cpu.current and self.random.random() < 0.7:
                cpu.current = thread.tid
            elif self.random.random() < 0.3:
                cpu.queue.append(thread)
            else:
                thread.sleeping = True
                if self.random.random() < 0.6:
                    # it sleeps in a call that began before
                    thread.call = Event(None, None, "enter", thread.tid, self.random_call())

    def random_call(self):
        return self.random.choice((0, 1, 2, 3, 4, 7, 7, 35, 128))

    def event(self, cpu, kind, *args):
        few = self.random.random() < 0.2
        self.now += self.random.randint(1, 20 if few else 200_000)
        self.events.append(Event(self.now, cpu.number, kind, cpu.current, *args))
        return self.events[-1]

    def step(self, cpu):
        what = self.random.random()
        if not cpu.interrupts and what < 0.08:
            self.random.choice((self.use_disk, self.use_disk, self.chain, self.chain, self.storm,
                                self.throttle, self.packet, self.packet))(cpu)
        elif cpu.interrupts and what < 0.5:
            self.interrupt_ends(cpu)
        elif self.woken and self.random.random() < 0.5:
            self.wakeup(*self.woken.pop(0))
        elif what < 0.65 and (cpu.current or cpu.interrupts):
            self.wake(cpu)
        elif cpu.interrupts and self.random.random() < 0.3:
            self.random.choice((self.request, self.complete))(cpu)
        elif len(cpu.interrupts) < 3 and self.random.random() < 0.1:
            self.function(cpu)
        elif what < 0.75 and len(cpu.interrupts) < 2:
            self.interrupt(cpu)
        elif not cpu.interrupts and self.random.random() < 0.1:
            self.pull(cpu)
        elif not cpu.interrupts:
            self.task(cpu)

    def pull(self, cpu):
        """Move a thread from the queue of another CPU to that of @cpu."""
        others = [other for other in self.cpus if other is not cpu and other.queue]
        if not others:
            return
        other = self.random.choice(others)
        thread = other.queue.pop(self.random.randrange(len(other.queue)))
        self.moves.append((thread.tid, self.event(cpu, "migrate", thread.tid, other.number,
                                                  cpu.number)))
        cpu.queue.append(thread)

    def task(self, cpu):
        thread = self.threads.get(cpu.current)
        what = self.random.random()
        if not thread:
            if cpu.queue:
                self.switch(cpu, RUNNING)
        elif thread.ends:
            self.go_on_ending(cpu, thread)
        elif self.random.random() < self.mortal:
            self.begin_or_end(cpu, thread)
        elif self.waiters(thread) and self.random.random() < 0.7:
            self.hold(cpu, thread)
        elif not thread.call and self.random.random() < 0.15:
            self.wait_for_thread(cpu, thread)
        elif what < 0.3:
            self.switch(cpu, self.random.choice((SLEEPS, SLEEPS, SLEEPS, BLOCKED, NO_WORK)))
        elif what < 0.5 and cpu.queue:
            self.switch(cpu, RUNNING)
        elif what < 0.7:
            self.request(cpu)
        elif thread.call:
            self.end_call(cpu, thread)
        elif what < 0.95:
            self.enter(cpu, thread, self.random_call(), self.random.choice((3, 4, 5, 6, 7)))

    def request(self, cpu):
        """Begin a request to a disk, or go on with one."""
        if self.inserted and self.random.random() < 0.2:
            # it becomes a part of another one, and a new one is at its place
            *request, _ = self.inserted.pop(0)
            self.event(cpu, "merge", *request)
            self.requests.append((*request, self.event(cpu, "issue", *request)))
            return
        if self.inserted and self.random.random() < 0.6:
            *request, begun = self.inserted.pop(0)
            self.event(cpu, "issue", *request)
            self.requests.append((*request, begun))
            return
        if self.requests and self.random.random() < 0.2:
            *request, begun = self.requests.pop(0)
            self.event(cpu, "requeue", *request)
            self.inserted.append((*request, begun))
            return
        self.sector += 8
        request = (self.random.randint(1, 2), self.random.randint(0, 1), self.sector)
        if self.random.random() < 0.7:
            self.inserted.append((*request, self.event(cpu, "insert", *request)))
        else:
            self.requests.append((*request, self.event(cpu, "issue", *request)))

    def use_disk(self, cpu):
        """A request begins while threads sleep, and when it is complete one of them is woken."""
        for _ in range(self.random.randint(1, 3)):
            self.request(cpu)
        cpu.interrupts.append(self.event(cpu, "irq", 1))
        self.complete(cpu)
        self.interrupt_ends(cpu)

    def complete(self, cpu):
        """The interrupt completes a request, of which the beginning may not be known, and may wake
        a thread. Event.made is this beginning."""
        if self.requests and self.random.random() < 0.8:
            *request, made = self.requests.pop(self.random.randrange(len(self.requests)))
        else:
            self.sector += 8
            request = (self.random.randint(1, 2), self.random.randint(0, 1), self.sector)
            made = None
        if made and request[2] % 8 == 0 and self.random.random() < 0.3:
            # only its first half; the request goes on with the rest
            self.event(cpu, "half", *request).made = made
            self.requests.append((*request[:2], request[2] + 4, made))
        else:
            self.event(cpu, "done", *request).made = made
        if self.random.random() < 0.7:
            self.wake(cpu)

    def leave(self, thread, left):
        begin = thread.call if thread.call.time else None
        self.calls.append((thread.tid, thread.call.args[0], begin, left))
        thread.call = None

    def switch(self, cpu, state, idle=False):
        thread, coming = self.threads.get(cpu.current), None
        if cpu.queue and not idle:
            coming = self.random.choice([t for t in cpu.queue if self.waiters(t)] or cpu.queue)
            cpu.queue.remove(coming)
        event = self.event(cpu, "switch", state, coming.tid if coming else 0)
        self.runs.append((cpu.number, cpu.current, cpu.since, event))
        if thread:
            thread.out = event
            thread.waking = thread.wakeup = None
            if state in DEAD:
                self.died(thread, event)
            elif state == RUNNING:
                cpu.queue.append(thread)
            else:
                thread.sleeping = True
        if coming:
            self.came(cpu, coming, event)
        cpu.current, cpu.since = coming.tid if coming else 0, event

    def came(self, cpu, thread, event):
        if thread.waking:
            self.waits.append((thread.tid, cpu.number, thread.waking, thread.wakeup, event,
                               thread.waking.tid))
        if thread.out:
            self.offs.append((thread.tid, thread.out, event, thread.out.args[0], thread.waking))
        elif thread.new:
            self.waits.append((thread.tid, cpu.number, thread.new, thread.new, event,
                               thread.new.tid))
            self.firsts.append((thread.tid, thread.new, event))
            thread.new = None
        elif thread.waking:
            self.first_waits.append((thread.tid, thread.waking, event))
        else:
            self.queued.append((thread.tid, event))
        thread.out = None

    def wake(self, cpu, thread=None):
        """@thread: one that waits for the thread on the CPU. Interrupts may wake any."""
        sleeping = [t for t in self.threads.values() if t.sleeping and not t.waking and
                    (cpu.interrupts or not t.holder)]
        if not thread and not sleeping:
            return
        context = cpu.context()
        if not thread and self.random.random() < 0.25:
            context |= HARDIRQ      # an interrupt without events, such as one of the local timer
        sleeping = [t for t in sleeping if self.waiters(t)] or sleeping
        target = cpu if thread and self.random.random() < 0.7 else self.random.choice(self.cpus)
        thread = thread or self.random.choice(sleeping)
        thread.holder = None
        thread.waking = self.event(cpu, "waking", thread.tid, target.number, context)
        if self.random.random() < 0.2:
            # it will be in the queue of another CPU than before: it does not wait there yet
            self.event(cpu, "migrate", thread.tid, self.random.choice(self.cpus).number,
                       target.number)
        if self.random.random() < 0.7:
            self.wakeup(cpu, thread, target)
        else:
            self.woken.append((target, thread, target))

    def wakeup(self, cpu, thread, target):
        """Made by @cpu, the waker's or the target's, as in the kernel; then the thread can run."""
        thread.wakeup = self.event(cpu, "wakeup", thread.tid, target.number, cpu.context())
        thread.sleeping = False
        target.queue.append(thread)

    def interrupt(self, cpu):
        if not cpu.interrupts and self.random.random() < 0.4:
            cpu.interrupts.append(self.event(cpu, "softirq", self.random.randint(0, 9)))
        elif not cpu.context() & HARDIRQ:
            cpu.interrupts.append(self.event(cpu, "irq", self.random.randint(1, 3)))

    def interrupt_ends(self, cpu):
        begun = cpu.interrupts.pop()
        if begun.kind in TIMERS:
            self.function_ends(cpu, begun)
            return
        ended = self.event(cpu, begun.kind + "end", begun.args[0])
        self.irqs.append((cpu.number, begun.kind, begun.args[0], begun, ended))

    def finish(self):
        """Add what is still going on at the end."""
        for cpu in self.cpus:
            self.last_queue |= {thread.tid: cpu.number for thread in cpu.queue}
            self.runs.append((cpu.number, cpu.current, cpu.since, None))
            self.irqs += [(cpu.number, event.kind, event.args[0], event, None)
                          for event in cpu.interrupts if event.kind not in TIMERS]
        for thread in self.threads.values():
            if thread.call:
                self.leave(thread, None)
            if thread.out:
                self.offs.append((thread.tid, thread.out, None, thread.out.args[0],
                                  thread.waking))
            elif thread.new:
                self.firsts.append((thread.tid, thread.new, None))
            elif thread.waking and all(cpu.current != thread.tid for cpu in self.cpus):
                self.first_waits.append((thread.tid, thread.waking, None))

    # ---- what a recording lacks ----

    def lose_nothing(self):
        self.gaps = {cpu.number: [] for cpu in self.cpus}
        self.starts = {cpu.number: self.begin for cpu in self.cpus}
        self.ends = {cpu.number: self.end for cpu in self.cpus}
        self.trailing, self.later, self.selections, self.how = {}, set(), [], "stopped"
        self.lost_forks = False
        for event in self.events:
            event.kept = True

    def lose(self):
        self.gaps = {cpu.number: [] for cpu in self.cpus}
        self.starts = {cpu.number: self.begin for cpu in self.cpus}
        self.ends = {cpu.number: self.end for cpu in self.cpus}
        self.trailing, self.later = {}, set()
        self.how = self.random.choice(("stopped", "stopped", "killed", "snapshot", "part"))
        self.lost_forks = self.random.random() < 0.2
        no_firsts = self.late and self.random.random() < 0.5
        self.select()
        for cpu in self.cpus:
            events = [event for event in self.events if event.cpu == cpu.number and event.kept]
            if self.how != "stopped":
                events = self.cut(cpu.number, events)
            # then what the other CPUs ran first can be missing
            if no_firsts and cpu is not self.cpus[-1]:
                self.gap(cpu.number, events, 0, (0, 1))
            for _ in range(self.random.choice((0, 0, 1, 1, 2, 3))):
                self.gap(cpu.number, events)
            self.gaps[cpu.number].sort()

    def select(self):
        """Choose selections of events: (start time, kinds) for each change."""
        self.selections = []
        if self.random.random() < 0.5:
            return
        times = [event.time for event in self.events]
        gaps = [a + 1 for a, b in zip(times, times[1:]) if b > a + 1]
        changes = sorted(self.random.sample(gaps, min(len(gaps), self.random.choice((0, 1, 2, 4)))))
        for time in [1000] + changes:
            chosen = [kind for kind in MORE if self.random.random() < 0.8]
            self.selections.append((time, chosen))
        for event in self.events:
            if GROUP[event.kind] not in self.selected(event.time):
                event.kept = False

    def selected(self, time):
        return ([MORE] + [chosen for since, chosen in self.selections if since <= time])[-1]

    def cut(self, cpu, events):
        """Remove the first and the last events of the CPU from the file."""
        if self.random.random() < 0.3 and len(events) > 4:
            first = self.random.randrange(len(events) // 2)
            for event in events[:first]:
                event.kept = False
            if first:
                self.later.add(cpu)
                self.starts[cpu] = events[first].time
            events = events[first:]
        kept = len(events)
        if self.random.random() < 0.6 and events:
            kept = self.random.randint(1, len(events))      # without any, the file has no CPU
        for event in events[kept:]:
            event.kept = False
        if self.how in ("killed", "part") or kept < len(events):
            self.ends[cpu] = events[kept - 1].time if kept else self.starts[cpu]
            self.trailing[cpu] = None
        return events[:kept]

    def gap(self, cpu, events, begin=None, more=(0, 1, 3, 10, 100)):
        if len(events) < 3:
            return
        if begin is None:
            begin = self.random.choice((0, *self.random.choices(range(len(events) - 1), k=4)))
        end = min(len(events), begin + 1 + self.random.choice(more))
        if self.how != "stopped":
            # such a recording has no totals that could tell of a gap at its end
            end = min(end, len(events) - 1)
        # neither in another gap nor beside one
        if not all(event.kept for event in events[max(0, begin - 1):end + 1]):
            return
        if begin == 0 and cpu in self.later:
            return
        before = events[begin - 1].time if begin else self.starts[cpu]
        first = self.random.randint(before, events[begin].time)
        # after the last block nothing is known until the recording stopped
        last = self.end if end == len(events) else \
            self.random.randint(events[end - 1].time, events[end].time)
        for event in events[begin:end]:
            event.kept = False
        self.gaps[cpu].append((first, last, end - begin))
        if end == len(events):
            self.trailing[cpu] = self.gaps[cpu][-1]

    # ---- as input of history_trace.c ----

    def script(self):
        lines = [f"cpus {len(self.cpus)}", "arguments"] + self.described()
        # the kernel uses compact forms only if switches are recorded from the start
        if len(self.events) % 2 and all("switch" in chosen for _, chosen in self.selections):
            lines.append("compact")
        lines += [f"first {cpu} 7" for cpu in self.later]
        if self.how == "part":
            lines += [f"part {cpu} 0" for cpu in self.later]
        # in the order of time
        lines += [line for _, line in sorted(
            [(time, f"select {time} {','.join(chosen) or '-'}") for time, chosen in self.selections]
            + self.recorded())]
        gaps = {cpu: [gap for gap in gaps if gap != self.trailing.get(cpu)]
                for cpu, gaps in self.gaps.items()}
        for event in self.events:
            if not event.kept:
                continue
            if gaps[event.cpu] and gaps[event.cpu][0][1] <= event.time:
                first, last, lost = gaps[event.cpu].pop(0)
                lines.append(f"gap {event.cpu} {event.time} {event.tid} {lost} {first} {last}")
            lines.append(event.order())
        for cpu in self.gaps:
            gap = self.trailing.get(cpu)
            if gap:
                lines.append(f"dropped {cpu} {gap[2]} {gap[0]} {gap[1]}")
            if self.how == "snapshot":
                more = cpu in self.trailing
                lines.append(f"totals {cpu} {SNAPSHOT | (OPEN if more else 0)} {self.end}")
            elif self.how == "part" and any(e.kept and e.cpu == cpu for e in self.events):
                lines.append(f"part {cpu} {PART_END}")
            elif self.how == "stopped":
                lines.append(f"totals {cpu} 0 {self.end}")
        return "\n".join(lines) + "\n"
