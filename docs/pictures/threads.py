#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
threads.py - draws threads.svg: a stretch of what samples/user/threads.c recorded beside the scheduler.

	tracebuf record -e sched,user -o threads.tbuf -- build/user/samples/threads
	tracebuf export threads.tbuf                                    # threads.pftrace
	docs/pictures/threads.py threads.pftrace FROM_MS LENGTH_MS >docs/pictures/threads.svg

Reads what `tracebuf export` has written, and nothing else: a lane for each CPU with
who ran on it, and below a lane for each thread of the sample: when it ran and when it waited for a CPU,
its slices, its instants, and the flows from one thread to the other.  FROM_MS is counted from the first
event of a program.
"""
import collections
import html
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../selftests/unit"))
import pf_wire

COLOURS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#e45756"]
LEFT, WIDTH, ROW = 150, 1000, 22


class Recording:
    """What of a trace is drawn; times in ns"""

    def __init__(self, packets, events):
        self.switches = []              # time, CPU, previous thread, its state, next thread, its name
        self.wakes = []                 # time, thread
        self.names = {}                 # threads that write, by tid
        self.events = []                # time, tid, kind, name, flow
        tracks, interned = {}, {}
        for event in events:
            self.kernel(event)
        for packet in packets:
            for track in packet.get("track_descriptor", []):
                for thread in track.get("thread", []):
                    tid = thread["tid"][0]
                    tracks[track["uuid"][0]] = tid
                    self.names[tid] = "".join(thread.get("thread_name", [])) or "thread"
            for data in packet.get("interned_data", []):
                for name in data.get("event_names", []):
                    interned[name["iid"][0]] = name["name"][0]
            for event in packet.get("track_event", []):
                self.program(packet["timestamp"][0], tracks, interned, event)
        self.switches.sort()
        self.wakes.sort()
        self.events.sort()

    def kernel(self, event):
        fields = event.fields
        if event.name == "sched_switch":
            self.switches.append((event.time, event.cpu, fields["prev_pid"], fields.get("prev_state", 0),
                                  fields["next_pid"], fields["next_comm"]))
        elif event.name == "sched_waking":
            self.wakes.append((event.time, fields["pid"]))

    def program(self, time, tracks, interned, event):
        tid = tracks.get(event["track_uuid"][0])
        if tid is None:
            return
        name = event.get("name", [interned.get(event.get("name_iid", [None])[0], "")])[0]
        kind = event["type"][0].replace("TYPE_", "")
        flow = event.get("flow_ids", []) + event.get("terminating_flow_ids", [])
        self.events.append((time, tid, kind, name, flow[0] if flow else None))


class Picture:
    def __init__(self, start, length):
        self.start, self.length, self.parts, self.height = start, length, [], 0

    def x(self, time):
        return LEFT + WIDTH * min(max((time - self.start) / self.length, 0), 1)

    def shows(self, begin, end):
        return end > self.start and begin < self.start + self.length

    def bar(self, begin, end, top, height, colour, text="", title=""):
        if not self.shows(begin, end):
            return
        x, width = self.x(begin), max(self.x(end) - self.x(begin), 0.6)
        self.parts.append(f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{height}" fill="{colour}">'
                          f'<title>{html.escape(title or text)}</title></rect>')
        if width > 7 * len(text) + 6 > 6:
            self.parts.append(f'<text x="{x + 4:.1f}" y="{top + height - 5}" fill="#fff">{html.escape(text)}</text>')

    def label(self, top, text):
        self.parts.append(f'<text x="{LEFT - 8}" y="{top + 15}" text-anchor="end" class="lane">{html.escape(text)}</text>')

    def write(self):
        print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {self.height + 30}" '
              'font-family="sans-serif" font-size="11">')
        print('<style>.lane{fill:#333}</style>')
        print(f'<rect width="{LEFT + WIDTH + 30}" height="{self.height + 30}" fill="#fff"/>')
        for i in range(11):
            x = LEFT + WIDTH * i / 10
            print(f'<line x1="{x}" x2="{x}" y1="0" y2="{self.height + 8}" stroke="#ddd"/>'
                  f'<text x="{x}" y="{self.height + 22}" text-anchor="middle" class="lane">'
                  f'{self.length * i / 10 / 1e6:.2f} ms</text>')
        print("\n".join(self.parts))
        print("</svg>")


def draw(trace, start, length):
    picture = Picture(start, length)
    colours = {tid: COLOURS[i % len(COLOURS)] for i, tid in enumerate(sorted(trace.names))}
    end = start + length
    top = 6

    # who ran on which CPU; and what that makes of each thread
    runs = collections.defaultdict(list)
    for cpu in sorted({switch[1] for switch in trace.switches}):
        picture.label(top, f"CPU {cpu}")
        mine = [switch for switch in trace.switches if switch[1] == cpu]
        for now, after in zip(mine, mine[1:] + [(end,)]):
            tid, name = now[4], now[5]
            if tid:
                picture.bar(now[0], after[0], top, ROW - 4, colours.get(tid, "#aaa"), f"{name} {tid}")
            runs[tid].append((now[0], after[0]))
        top += ROW
    waits = collections.defaultdict(list)
    for time, tid in trace.wakes:
        later = [begin for begin, _ in runs[tid] if begin >= time]
        if later and not any(begin <= time < stop for begin, stop in runs[tid]):
            waits[tid].append((time, min(later)))
    for time, _, tid, state, _, _ in trace.switches:
        later = [begin for begin, _ in runs[tid] if begin > time]
        if not state and later:
            waits[tid].append((time, min(later)))

    flows = collections.defaultdict(list)
    for tid in sorted(trace.names):
        top += 8
        picture.label(top, f"{trace.names[tid]} {tid}")
        for begin, stop in runs[tid]:
            picture.bar(begin, stop, top, 7, "#2f9e44", title="running")
        for begin, stop in waits[tid]:
            picture.bar(begin, stop, top, 7, "#f2c037", title="waiting for a CPU")
        top += 9
        depth, deepest, open_slices, marks = 0, 1, [], []
        for time, who, kind, name, flow in trace.events:
            if who != tid:
                continue
            if flow:
                flows[flow].append((time, top + depth * ROW + 9))
            if kind == "SLICE_BEGIN":
                open_slices.append((time, name))
                depth += 1
                if picture.shows(time, time + 1):
                    deepest = max(deepest, depth)
            elif kind == "SLICE_END" and open_slices:
                depth -= 1
                begin, name = open_slices.pop()
                picture.bar(begin, time, top + depth * ROW, ROW - 4, colours[tid], name)
            elif kind == "INSTANT" and picture.shows(time, time + 1):
                marks.append((time, top + max(depth - 1, 0) * ROW, name))
        for begin, name in open_slices:
            picture.bar(begin, end, top, ROW - 4, colours[tid], name)
        for time, y, name in marks:
            x = picture.x(time)
            picture.parts.append(f'<path d="M{x:.1f} {y - 3} l4 7 h-8z" fill="#111"><title>{html.escape(name)}</title></path>')
        top += deepest * ROW
    for points in flows.values():
        for (t0, y0), (t1, y1) in zip(points, points[1:]):
            if picture.shows(t0, t0 + 1) and picture.shows(t1, t1 + 1) and y0 != y1:
                picture.parts.append(f'<path d="M{picture.x(t0):.1f} {y0} C{picture.x(t0) + 20:.1f} {y0} '
                                     f'{picture.x(t1) - 20:.1f} {y1} {picture.x(t1):.1f} {y1}" fill="none" '
                                     'stroke="#c2255c" stroke-width="1.2"/>')
    picture.height = top
    picture.write()


def main():
    if len(sys.argv) != 4 or not all(re.fullmatch(r"[0-9.]+", a) for a in sys.argv[2:]):
        sys.exit("usage: threads.py TRACE.pftrace FROM_MS LENGTH_MS")
    packets, events, _ = pf_wire.load(sys.argv[1])
    trace = Recording(packets, events)
    if not trace.events:
        sys.exit(f"{sys.argv[1]}: no program has written anything in it")
    draw(trace, trace.events[0][0] + int(float(sys.argv[2]) * 1e6), int(float(sys.argv[3]) * 1e6))


main()
