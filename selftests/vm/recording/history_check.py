#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is a history a part of what another provider recorded, as text of `tracebuf print`?

    history_check.py WHOLE HISTORY

Each provider has a probe of its own. They run one after the other, so times differ, and an
interrupt may come in between. A thread may be renamed in between, so threads are compared by their
numbers. The events of each CPU are compared in order, separately for interrupts, softirqs and
tasks. Between two losses of a CPU the history has all events of the whole. In a loss as many are
missing as it says, but for events that the two providers see in a different order.
"""
import bisect
import collections
import re
import sys

MORE = 40           # events near an end that the two may see in a different order
LINE = re.compile(r"\s*.+-(\d+) \[(\d+)\] (\S)(\S+) +(\d+\.\d+): (.*)")
NAME = re.compile(r"comm=.*? (?=\w+=)")
LOST = re.compile(r"-- CPU (\d+): LOST (\d+) events")


def read(path):
    """Returns, by CPU, the runs between losses (by context: (time, event)), and the losses"""
    runs = collections.defaultdict(lambda: [collections.defaultdict(list)])
    lost = collections.defaultdict(list)
    with open(path, errors="replace", encoding="utf-8") as text:
        for line in text:
            if match := LINE.match(line):
                runs[int(match[2])][-1][match[3]].append(
                    (float(match[5]), (match[1], match[4], NAME.sub("", match[6]))))
            elif match := LOST.match(line):
                lost[int(match[1])].append(int(match[2]))
                runs[int(match[1])].append(collections.defaultdict(list))
    return runs, lost


def start(some, whole):
    """Returns the two indexes where they begin to be the same, nearest in time; the load repeats"""
    near = bisect.bisect_left(whole, (some[0][0],))
    best = None
    for i in range(min(3, len(some))):
        wanted = [event for _, event in some[i:i + 10]]
        for j in range(max(near - MORE, 0), near + MORE):
            if wanted == [event for _, event in whole[j:j + len(wanted)]]:
                apart = abs(whole[j][0] - some[i][0])
                if best is None or apart < best[0]:
                    best = apart, i, j
    return best and best[1:]


def compare(some, whole):
    """Returns the error if some is no part of whole, in order; at its ends, 3 events may differ"""
    at = start(some, whole)
    if not at:
        return f"nothing is the same: {some[:3]}" if len(some) > 3 else None
    a, b = some[at[0]:], whole[at[1]:]
    for i, ((_, x), (_, y)) in enumerate(zip(a, b)):
        if x != y and i < len(a) - 3:
            return f"event {i} of {len(a)}: {x} is not {y}"
    return None if len(b) >= len(a) - 3 else f"{len(a)} events, {len(b)} in the whole"


def ends(run):
    times = [time for events in run.values() for time, _ in events]
    return (min(times), max(times)) if times else None


def main():
    (whole, whole_lost), (runs, lost) = read(sys.argv[1]), read(sys.argv[2])
    compared = 0
    if whole_lost:
        sys.exit(f"the whole has losses: {dict(whole_lost)}")
    for cpu, parts in runs.items():
        every = whole[cpu][0]
        for run in parts:
            for kind, events in run.items():
                wrong = compare(events, every[kind])
                if wrong:
                    sys.exit(f"CPU {cpu}, context {kind}: {wrong}")
                compared += len(events)
        times = sorted(time for events in every.values() for time, _ in events)
        for before, after, told in zip(parts, parts[1:], lost[cpu]):
            # a loss at the start has no events before it
            if not ends(before) or not ends(after):
                continue
            missing = (bisect.bisect_left(times, ends(after)[0]) -
                       bisect.bisect_right(times, ends(before)[1]))
            if abs(missing - told) > MORE:
                sys.exit(f"CPU {cpu}: {missing} events are missing, {told} are said to be lost")
    print(f"{compared} events are the same; {sum(map(sum, lost.values()))} are said to be lost")
    return 0 if compared > 2000 else 1


if __name__ == "__main__":
    sys.exit(main())
