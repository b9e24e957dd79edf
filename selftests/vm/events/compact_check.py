#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what two providers recorded at the same time, as text of `tracebuf print --fields`.

    compact_check.py TEXT OTHER [EVENT]

A tracepoint calls the probes of the two one after the other, so times differ, and an interrupt may
come in between. Therefore the events of interrupts, of softirqs and of tasks are compared
separately, for each CPU, in order, from when both record until one of them ends. At the beginning
and the end one of them may have a few events more. EVENT is left out.

A thread can change its name between the probes of the two providers. An interrupt, and softirqs
after it, that come between them see the new name for one provider and the old one for the other.
So names are compared in events of tasks; there, only an event of another CPU can be in between.
"""
import collections
import re
import sys

MORE = 40           # how many events more one provider may have at the start, and at the end
NAMES = 5           # how many events of tasks may have different names
NAME = re.compile(r"comm=.*? (?=\w+=)|^.*(?=-)")
LINE = re.compile(r"\s*(.+) \[(\d+)\] (\S)(\S+) +(\d+\.\d+): (.*)")


def read(path, left_out):
    """Returns, by CPU and kind of context, (time, (thread, context, event)) of each event."""
    found = collections.defaultdict(list)
    with open(path, errors="replace", encoding="utf-8") as text:
        for line in text:
            match = LINE.match(line)
            if match and match[6].split(": ")[0].split(":")[-1] != left_out:
                found[match[2], match[3]].append((float(match[5]), (match[1], match[4], match[6])))
    return found


def window(found):
    times = [event[0] for events in found.values() for event in events]
    return min(times), max(times)


def start(some, other):
    """Returns where they begin to be the same: (index, index)."""
    for both in range(2 * MORE):
        for i in range(both + 1):
            j = both - i
            if some[i:i + 10] == other[j:j + 10]:
                return i, j
    return None


def without_names(event):
    return [NAME.sub("", text) for text in event]


def main():
    left_out = sys.argv[3] if len(sys.argv) > 3 else ""
    some, other = read(sys.argv[1], left_out), read(sys.argv[2], left_out)
    (first, last), (other_first, other_last) = window(some), window(other)
    first, last = max(first, other_first), min(last, other_last)
    compared = names = 0
    for key in sorted(some.keys() | other.keys()):
        a, b = ([event for time, event in events if first <= time <= last]
                for events in (some[key], other[key]))
        at = start(a, b)
        if not at:
            sys.exit(f"CPU {key[0]}, context {key[1]}: nothing is the same: {a[:3]}, {b[:3]}")
        a, b = a[at[0]:], b[at[1]:]
        for i, (x, y) in enumerate(zip(a, b)):
            names += x != y and key[1] == "."
            if x != y and (names > NAMES or without_names(x) != without_names(y)):
                sys.exit(f"CPU {key[0]}, event {i} of {len(a)}: {x} is not {y}")
        if abs(len(a) - len(b)) > MORE:
            sys.exit(f"CPU {key[0]}, context {key[1]}: {len(a)} and {len(b)} events")
        compared += min(len(a), len(b))
    print(f"{compared} events are the same, {names} of tasks but for a name")
    return 0 if compared > 2000 else 1


if __name__ == "__main__":
    sys.exit(main())
