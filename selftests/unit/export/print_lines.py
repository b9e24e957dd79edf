# SPDX-License-Identifier: GPL-2.0-only
"""Reads the output of "tracebuf print --fields", for the checks of Perfetto and FXT."""
import re


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


LINE = re.compile(r"^ *(.*)-(\d+) \[(\d+)\] (..) (\d+)\.(\d{9}): ([^:]+):([^:]+): ?(.*)$")


def mask_of(text):
    value = 0
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        for bit in range(int(low), int(high or low) + 1):
            value |= 1 << bit
    return value


def equal(have, want):
    """Is the exported value the one that print shows?"""
    if isinstance(have, str):
        if have == want:
            return True
        if want[:1] == "[" and want[-1:] == "]":
            numbers, others = have.split(", ") if have else [], want[1:-1].split(",")
            return len(numbers) == len(others) and \
                all(equal(int(number, 0), other) for number, other in zip(numbers, others))
        plain = re.sub(r"\\x[0-9a-f]{2}", "?", want)
        return (re.sub(r"[^ -~]", "?", have) == plain or
                bool(re.fullmatch(r"[0-9a-f]+", have) and re.fullmatch(r"[\d,-]*", want) and
                     int(have, 16) == mask_of(want)))
    try:
        return (have - int(want.split("(")[0], 0)) % (1 << 64) == 0
    except ValueError:
        return False


def fields_of(text, names):
    """Split "a=1 b=two words" at the names that the event has."""
    pattern = "".join(rf"(?:^| ){re.escape(name)}=(.*?)" for name in names)
    found = re.fullmatch(pattern, text)
    return dict(zip(names, found.groups())) if found else None


def is_name(key, fields):
    """Is the field @key the name of the number in another field?"""
    return key.endswith("_name") and key[:-5] in fields


def names_fit(fields, values):
    """Are the names of numbers those that print shows: "value(name)"?"""
    return all(values[key[:-5]].endswith(f"({name})") for key, name in fields.items()
               if is_name(key, fields) and key[:-5] in values)


class Event:
    """An event as print shows it; add() takes the lines after it, which begin with a tab."""

    def __init__(self, cpu, tid, text, context=".."):
        self.cpu, self.tid, self.text, self.context = cpu, tid, text, context
        self.counters, self.stack, self.user_stack = {}, [], []

    def add(self, line):
        counters = re.fullmatch(r"\tcounter\{(.*)\}", line)
        if counters:
            self.counters = dict(pair.rsplit("=", 1) for pair in counters[1].split(", "))
            return
        address, name = line.split(None, 1)
        if name == "(user)":
            self.user_stack.append(f"0x{address}")
        elif name == "[unknown]":
            self.stack.append(f"0x{address}")
        else:
            self.stack.append(re.sub(r"\+0x[0-9a-f]+( |$)", r"\1", name))

    def extras(self):
        found = dict(self.counters)
        if self.stack:
            found["stack"] = " <- ".join(self.stack)
        if self.user_stack:
            found["user_stack"] = " <- ".join(self.user_stack)
        return found


class Printed:
    """All events of the kernel, by time and name."""

    def __init__(self, path):
        self.events, self.losses = {}, 0
        last = Event(0, 0, "")
        with open(path, encoding="latin-1") as file:
            for line in file:
                line = line.rstrip("\n")
                self.losses += line.startswith(("-- CPU", "-- writer"))
                if line.startswith("\t"):
                    last.add(line)
                    continue
                found = LINE.match(line)
                if not found or found[7] == "user":
                    continue
                last = Event(int(found[3]), int(found[2]), found[9], found[4])
                key = int(found[5] + found[6]), found[8]
                self.events.setdefault(key, []).append(last)

    def take(self, time, names, fits, what):
        """Remove and return the event of that time, with one of the names, that fits."""
        for name in names:
            for event in self.events.get((time, name), []):
                if fits(name, event):
                    self.events[time, name].remove(event)
                    return event
        there = [event.text for name in names for event in self.events.get((time, name), [])]
        raise Wrong(f"print does not have {time} {names[0]} {what}, but {there}")

    def end(self):
        left = [key for key, events in self.events.items() for _ in events]
        check(not left, f"{len(left)} events of print are missing, the first: {left[:1]}")
