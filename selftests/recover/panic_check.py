#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""panic_check.py - does the kernel's log have the last events of each CPU?

    panic_check.py LOG EVENTS.jsonl WANTED CPUS PROVIDER... [within]

LOG is what the module printed of each PROVIDER. EVENTS.jsonl is the output of "tracebuf print
--jsonl" for the recording of the first one, recovered from the memory of the machine. For each of
CPUS (0,1) the lines must be its last WANTED events, all of them, in order. Events of programs are
not compared, because the log has only their size. With "within", later events may follow.
"""

import json
import re
import sys

BEGIN = re.compile(r"tracebuf: ([^ ]+): the last \d+ events")
END = re.compile(r"tracebuf: ([^ ]+): end of the last events")
LINE = re.compile(r"tracebuf: \[ *(\d+)\.(\d{6})\] CPU (\d+)(?: tid (\d+))?( nmi| irq| softirq)? (.*)")
NUMBER = re.compile(r"-?\d+$|0x[0-9a-f]+$")
SLACK = 5           # microseconds: rounding, and two readings of clocks


def printed(path, providers):
    """Returns {cpu: [(us, tid, text)]} of the first provider, in order, without stacks."""
    lines = {}
    before = -1
    inside, ended = None, set()
    for line in open(path, errors="replace"):
        match = BEGIN.search(line)
        if match:
            inside = match[1]
        match = END.search(line)
        if match and match[1] == inside:
            ended.add(inside)
            inside = None
        match = LINE.search(line)
        if not match or match[6].startswith("called by") or inside != providers[0]:
            continue
        us = int(match[1]) * 1000000 + int(match[2])
        if us < before:
            sys.exit("panic_check.py: not in order of time: " + line)
        before = us
        lines.setdefault(int(match[3]), []).append((us, match[4] and int(match[4]), match[6]))
    if ended != set(providers):
        sys.exit("panic_check.py: printed are %s" % ended)
    return lines


def recorded(path):
    """Returns {cpu: [event]}."""
    events = {}
    for line in open(path):
        event = json.loads(line)
        if event["type"] == "event" and "cpu" in event:
            events.setdefault(event["cpu"], []).append(event)
    return events


def same(said, event):
    """Returns how many values of a line are those of the event; None: it is another event."""
    us, tid, text = said
    if tid is not None and tid != event["tid"]:
        return None
    if not text.startswith("%s:%s" % (event["system"], event["name"])):
        return None
    count = 0
    for name, value in event["fields"].items():
        at = text.find(" %s=" % name)
        if at < 0:
            continue
        word = text[at + len(name) + 2:].split(" ")[0]
        if isinstance(value, int) and NUMBER.match(word):
            if int(word, 0) != value:
                return None
            count += 1
        elif isinstance(value, str) and NUMBER.match(word) is None and " " not in value:
            if word == value:
                count += 1
    return count


def compare(cpu, lines, events, wanted, within):
    if len(lines) != wanted:
        sys.exit("panic_check.py: CPU %d: %d events printed" % (cpu, len(lines)))
    lines = [line for line in lines if not line[2].startswith("program's events:")]
    starts = range(len(events) - len(lines), -1, -1) if within else [len(events) - len(lines)]
    for start in starts:
        values = 0
        first = events[start]["time"] / 1000 - lines[0][0]
        for said, event in zip(lines, events[start:]):
            count = same(said, event)
            off = abs(event["time"] / 1000 - said[0] - first)
            if count is None or off > SLACK:
                if not within:
                    sys.exit("panic_check.py: CPU %d: printed: %s\nrecorded: %s\n%d us apart"
                             % (cpu, said, event, off))
                break
            values += count
        else:
            print("CPU %d: %d events, %d values" % (cpu, len(lines), values))
            return values
    sys.exit("panic_check.py: CPU %d: what was printed was not recorded" % cpu)


def main():
    log, jsonl, wanted, cpus, *providers = sys.argv[1:]
    within = "within" in providers
    if within:
        providers.remove("within")
    lines, events = printed(log, providers), recorded(jsonl)
    if sorted(lines) != [int(cpu) for cpu in cpus.split(",")]:
        sys.exit("panic_check.py: printed are events of CPUs %s, not %s" % (sorted(lines), cpus))
    values = sum(compare(cpu, lines[cpu], events[cpu], int(wanted), within) for cpu in lines)
    # there must have been something to compare
    if values < sum(map(len, lines.values())):
        sys.exit("panic_check.py: %d values were compared" % values)


main()
