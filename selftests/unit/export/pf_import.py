#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws a Perfetto trace as Perfetto's importer does, and checks the result.

  pf_import.py TRACEBUF TRACE PERFETTO

The importer pairs events on tracks: an entry opens a slice, an exit closes the innermost slice that
fits, and a slice without an exit stays open. The result is compared with our own analysis of TRACE
("tracebuf query"):

  - Perfetto draws all that our analysis is certain of: same CPU or thread, beginning and end
  - it draws besides only what our analysis is uncertain of, and not beyond the next loss
  - slices nest only as they can in the kernel; a slice open at the end may really be open there
  - Perfetto hides no event because it is older than the first bundle of a CPU
  - each loss has a mark, and each thread with a known process has it
"""
import collections
import json
import subprocess
import sys
import pf_wire

LOST_TID = 1 << 30
DEPTH = {"call": 1, "softirq": 1, "irq": 8, "hrtimer": 4}


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


class Slice:
    __slots__ = ("track", "name", "category", "begin", "end", "depth", "event")

    def __init__(self, track, name, category, begin, depth, event):
        self.track, self.name, self.category = track, name, category
        self.begin, self.end, self.depth, self.event = begin, None, depth, event


class Tracks:
    """Slices as the importer's slice tracker makes them."""

    def __init__(self):
        self.stacks = collections.defaultdict(list)
        self.slices, self.misplaced, self.unmatched = [], 0, collections.Counter()

    def close(self, stack, time):
        """Remove slices that have ended before @time, and end slices that are open in them."""
        for at in range(len(stack) - 1, -1, -1):
            if stack[at].end is not None and time > stack[at].end:
                for inner in stack[at + 1:]:
                    if inner.end is None:
                        inner.end = stack[at].end
                        self.misplaced += 1
                del stack[at:]

    def begin(self, track, time, name, category=None, event=None):
        stack = self.stacks[track]
        self.close(stack, time)
        stack.append(Slice(track, name, category, time, len(stack), event))
        self.slices.append(stack[-1])

    def end(self, track, time, name=None, category=None):
        stack = self.stacks[track]
        self.close(stack, time)
        for at in range(len(stack) - 1, -1, -1):
            one = stack[at]
            if one.end is None and (category is None or one.category == category) and \
               (name is None or one.name == name):
                one.end = time
                if at == len(stack) - 1:
                    stack.pop()
                    while stack and stack[-1].end is not None and stack[-1].end <= time:
                        stack.pop()
                return
        self.unmatched[track[0]] += 1


class Import:
    def __init__(self, path):
        self.packets, self.events, self.bundles = pf_wire.load(path)
        self.tracks, self.sched, self.pending = Tracks(), [], {}
        self.mismatched, self.states = 0, {}
        self.hidden_before = max([bundle["previous_bundle_end_timestamp"][0]
                                  for bundle in self.firsts()
                                  if "previous_bundle_end_timestamp" in bundle], default=0)
        self.processes, self.parents = {}, {}
        for event in self.events:
            self.take(event)
        self.track_events()
        self.process_rows()

    def firsts(self):
        seen = set()
        for bundle in self.bundles:
            if bundle["cpu"][0] not in seen:
                seen.add(bundle["cpu"][0])
                yield bundle

    def take(self, event):
        if event.form not in ("full", "compact"):
            return
        make = getattr(self, "on_" + event.name, None)
        if make:
            make(event, event.fields)

    def on_sched_switch(self, event, fields):
        last = self.pending.get(event.cpu)
        if last:
            if last["tid"] == fields["prev_pid"]:
                last["end"] = event.time
                last["state"] = fields["prev_state"]
            else:
                self.mismatched += 1
        self.pending[event.cpu] = {"cpu": event.cpu, "tid": fields["next_pid"],
                                   "begin": event.time, "end": None, "state": None}
        self.sched.append(self.pending[event.cpu])

    def on_sys_enter(self, event, fields):
        if fields["id"] != 15:                      # the importer draws rt_sigreturn as an instant
            self.tracks.begin(("thread", event.tid), event.time, fields["id"], "call", event)

    def on_sys_exit(self, event, fields):
        self.tracks.end(("thread", event.tid), event.time, fields["id"])

    def on_irq_handler_entry(self, event, fields):
        self.tracks.begin(("irq", event.cpu), event.time, fields["irq"], "irq", event)

    def on_irq_handler_exit(self, event, _):
        self.tracks.end(("irq", event.cpu), event.time, None, "irq")

    def on_local_timer_entry(self, event, fields):
        self.tracks.begin(("irq", event.cpu), event.time, -fields["vector"], "irq", event)

    def on_local_timer_exit(self, event, _):
        self.tracks.end(("irq", event.cpu), event.time, None, "irq")

    def on_softirq_entry(self, event, fields):
        self.tracks.begin(("softirq", event.cpu), event.time, fields["vec"], "softirq", event)

    def on_softirq_exit(self, event, _):
        self.tracks.end(("softirq", event.cpu), event.time, None, "softirq")

    def on_hrtimer_expire_entry(self, event, fields):
        self.tracks.begin(("hrtimer", event.cpu), event.time, fields["hrtimer"], "hrtimer", event)

    def on_hrtimer_expire_exit(self, event, _):
        self.tracks.end(("hrtimer", event.cpu), event.time, None, "hrtimer")

    def on_workqueue_execute_start(self, event, fields):
        self.tracks.begin(("thread", event.tid), event.time, fields["function"], "workqueue", event)

    def on_workqueue_execute_end(self, event, _):
        self.tracks.end(("thread", event.tid), event.time, None, "workqueue")

    def on_dma_fence_wait_start(self, event, _):
        self.tracks.begin(("thread", event.tid), event.time, "fence", "fence", event)

    def on_dma_fence_wait_end(self, event, _):
        self.tracks.end(("thread", event.tid), event.time, None, "fence")

    def on_i2c_write(self, event, fields):
        self.tracks.begin(("thread", event.tid), event.time, fields["adapter_nr"], "i2c", event)

    def on_cma_alloc_start(self, event, _):
        self.tracks.begin(("thread", event.tid), event.time, "cma", "cma", event)

    def track_events(self):
        """Slices and instants of programs, on their tracks."""
        names, waiting = {}, []
        self.described = {}
        for packet in self.packets:
            for track in packet.get("track_descriptor", []):
                thread = track.get("thread")
                key = ("thread", thread[0]["tid"][0]) if thread else ("track", track["uuid"][0])
                self.described[track["uuid"][0]] = key, track
            sequence = packet.get("trusted_packet_sequence_id", [0])[0]
            for interned in packet.get("interned_data", []):
                for name in interned.get("event_names", []):
                    names[sequence, name["iid"][0]] = name["name"][0]
            for event in packet.get("track_event", []):
                name = event.get("name", [names.get((sequence,
                                                     event.get("name_iid", [0])[0]))])[0]
                waiting.append((packet["timestamp"][0], event, name))
        self.user = Tracks()
        self.instants = []
        for time, event, name in sorted(waiting, key=lambda one: one[0]):
            check(event["track_uuid"][0] in self.described, "an event on a track nobody told of")
            track, _ = self.described[event["track_uuid"][0]]
            kind = event["type"][0]
            if kind == "TYPE_SLICE_BEGIN":
                self.user.begin(track, time, name, None, event)
            elif kind == "TYPE_SLICE_END":
                self.user.end(track, time)
            elif kind == "TYPE_INSTANT":
                self.instants.append((time, track, name))

    def process_rows(self):
        for packet in self.packets:
            for tree in packet.get("process_tree", []):
                for thread in tree.get("threads", []):
                    self.processes[thread["tid"][0]] = thread["tgid"][0]
        for event in self.events:
            if event.name == "task_newtask" and event.form == "full":
                thread = event.fields.get("clone_flags", 0) & 0x10000
                pid = event.fields["pid"]
                self.processes.setdefault(pid, self.processes.get(event.tid) if thread else pid)

    def lost_marks(self):
        return [one for one in self.user.slices if one.name == "events lost" and
                "name" in self.described[one.track[1]][1]]


class Judge:
    def __init__(self, tool, trace, exported):
        self.tool, self.trace = tool, trace
        self.drawn = Import(exported)
        self.said = []

    def rows(self, sql):
        done = subprocess.run([self.tool, "query", "--json", "-T", "boot", self.trace, sql],
                              capture_output=True, check=False)
        check(not done.returncode, done.stderr.decode(errors="replace"))
        return json.loads(done.stdout.decode("utf-8", "replace"))

    def slices(self):
        """(kind, begin, end, cpu, tid, number, whole) of our own analysis."""
        vectors = {row["event"].rpartition("_")[0] for row in
                   self.rows("SELECT event FROM event_types WHERE system = 'irq_vectors'")}
        for row in self.rows("SELECT kind, start, duration, cpu, tid, number, name, whole "
                             "FROM slices"):
            number = row["number"]
            if row["kind"] == "irq" and row["name"] in vectors:
                if row["name"] != "local_timer":
                    continue                # Perfetto knows no other vector
                number = -number
            yield (row["kind"], row["start"], row["start"] + row["duration"], row["cpu"],
                   row["tid"], number, row["whole"])

    def judge(self):
        self.hidden()
        self.order()
        self.pairs()
        self.runs()
        self.open_at_end()
        self.losses()
        self.process_rows()
        return self.said

    def say(self, text):
        self.said.append(text)

    def hidden(self):
        before = [event for event in self.drawn.events if event.time < self.drawn.hidden_before]
        check(not before, f"{len(before)} of {len(self.drawn.events)} events are before the first "
                          "bundle of the last CPU: Perfetto shows nothing of them")
        self.say(f"hidden by the first bundles: 0 of {len(self.drawn.events)} events")

    def order(self):
        check(not self.drawn.mismatched, f"{self.drawn.mismatched} switches from another thread "
                                         "than the one that came")
        for tracks, what in (self.drawn.tracks, "events"), (self.drawn.user, "programs"):
            check(not tracks.misplaced, f"{tracks.misplaced} slices of {what} end with one that "
                                        "they are in")
            check(what == "events" or not tracks.unmatched,
                  f"ends of {what} without a beginning: {dict(tracks.unmatched)}")
        deepest = collections.Counter()
        for one in self.drawn.tracks.slices:
            inside = one.depth + 1
            if one.category in DEPTH:
                deepest[one.category] = max(deepest[one.category], inside)
                check(inside <= DEPTH[one.category], f"a {one.category} at {one.begin} on "
                                                     f"{one.track} at depth {one.depth}")
        self.say("deepest: " + ", ".join(f"{name} {depth}" for name, depth in
                                         sorted(deepest.items())))

    def key(self, one):
        return one.track[0] if one.track[0] != "thread" else "syscall", one.track[1], one.name

    def pairs(self):
        drawn = collections.defaultdict(set)
        for one in self.drawn.tracks.slices:
            if one.category in ("call", "irq", "softirq"):
                drawn[self.key(one)].add((one.begin, one.end))
        counts, certain, durations = collections.Counter(), set(), collections.Counter()
        begun = set()
        for kind, begin, end, cpu, tid, number, whole in self.slices():
            if kind == "run" or (kind == "syscall" and number == 15):
                continue
            key = kind, tid if kind == "syscall" else cpu, number
            if not whole:
                begun.add((key, begin))
                continue
            there = sorted(one for one in drawn[key] if one[0] == begin)
            check((begin, end) in there, f"{kind} {number} of CPU {cpu} thread {tid} from "
                                         f"{begin} to {end} is drawn as {there}")
            counts[kind] += 1
            durations[kind] += end - begin
            certain.add((key, begin, end))
        besides = collections.Counter()
        for key, ones in drawn.items():
            for begin, end in ones:
                if (key, begin, end) in certain:
                    continue
                besides[key[0]] += 1
                check(end is None or end == begin or self.lossy or key[0] == "syscall" or
                      (key, begin) in begun,
                      f"{key} from {begin} to {end} is drawn, but our analysis does not have it")
        for kind in sorted(counts):
            self.say(f"{kind}: {counts[kind]} as our analysis has them, {durations[kind]} ns; "
                     f"{besides[kind]} uncertain ones")

    @property
    def lossy(self):
        return bool(self.drawn.lost_marks())

    def has_event(self, cpu, tid, time):
        return self.rows(f"SELECT count(*) AS n FROM events WHERE _cpu = {cpu} AND _tid = {tid} "
                         f"AND _time = {time}")[0]["n"] > 0

    def runs(self):
        drawn = {(one["cpu"], one["tid"], one["begin"], one["end"]) for one in self.drawn.sched}
        whole = 0
        last = self.rows("SELECT max(start + duration) AS last FROM slices")[0]["last"]
        longest = collections.defaultdict(int)
        for cpu, tid, begin, end in drawn:
            longest[cpu, tid, begin] = last if end is None else end
        for kind, begin, end, cpu, tid, _, is_whole in self.slices():
            # an uncertain run ends at an unknown time, but not later than our analysis says
            if kind == "run" and not is_whole and end > begin:
                # if the counts of a block were not complete, the gap may begin in the block
                drawn_end = longest[cpu, tid, begin]
                check(drawn_end <= end or self.has_event(cpu, tid, drawn_end),
                      f"thread {tid} on CPU {cpu} from {begin} is drawn until "
                      f"{drawn_end}, but is not known after {end}")
            if kind == "run" and is_whole:
                check((cpu, tid, begin, end) in drawn, f"thread {tid} on CPU {cpu} from {begin} to "
                                                       f"{end} is not drawn so")
                whole += 1
        nobody = [one for one in self.drawn.sched if one["tid"] >= LOST_TID]
        self.say(f"run: {whole} as our analysis has them of {len(drawn)}; "
                 f"{len(nobody)} times nobody knows who was on a CPU")

    def open_at_end(self):
        """A call open at the end must be the last slice of its thread, and the thread be alive."""
        last, left = {}, collections.Counter()
        for one in self.drawn.tracks.slices:
            last[one.track] = max(last.get(one.track, 0), one.begin)
        for one in self.drawn.tracks.slices:
            if one.end is None:
                left[one.category] += 1
                check(one.begin == last[one.track] or one.track[0] != "thread" or
                      one.category != "call",
                      f"{one.category} {one.name} on {one.track} from {one.begin} is never ended, "
                      f"though something began later")
        exited = {event.fields["prev_pid"]: event.time for event in self.drawn.events
                  if event.name == "sched_switch" and event.fields.get("prev_state", 0) & 0x30 and
                  event.fields.get("prev_state", 0) < 0x8000}
        for one in self.drawn.tracks.slices:
            check(one.end is not None or one.track[0] != "thread" or
                  exited.get(one.track[1], 0) < one.begin,
                  f"{one.category} {one.name} of thread {one.track[1]}, which has exited, lasts to "
                  "the end")
        self.say("open at the end: " + (", ".join(f"{name} {count}" for name, count in
                                                  sorted(left.items())) or "nothing"))

    def losses(self):
        text = subprocess.run([self.tool, "print", self.trace], capture_output=True, check=True)
        told = sum(line.startswith((b"-- CPU", b"-- writer")) for line in text.stdout.splitlines())
        marks = len(self.drawn.lost_marks())
        check(marks == told, f"{marks} marks of {told} losses")
        self.say(f"losses: {told}, each with its mark")

    def process_rows(self):
        without = set()
        known = {}
        for row in self.rows("SELECT tid, pid FROM threads WHERE pid > 0"):
            known[row["tid"]] = row["pid"]
        for tid, pid in known.items():
            if tid and pid and self.drawn.processes.get(tid) is None:
                without.add(tid)
        check(not without, f"{len(without)} threads have no process: {sorted(without)[:5]}")
        self.say(f"threads: {len(known)}, each with its process")


def main():
    judge = Judge(*sys.argv[1:4])
    try:
        for line in judge.judge():
            print(line)
    except Wrong as error:
        print(f"{sys.argv[3]}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
