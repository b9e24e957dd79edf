#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a Perfetto trace by our description of its format (userspace/tool/export/perfetto).

  pf_wire.py events FILE      all events, "CPU TIME TID NAME FORM FIELDS", and the bundles
  pf_wire.py packets FILE     all other packets, one a line

A message is a dictionary from names of fields to lists of values. Events come in the importer's
order. Events of columns (compact_sched) get the fields that the importer adds to them.
"""
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FORMAT = os.path.join(HERE, "..", "..", "..", "userspace", "tool", "export", "perfetto")
DESCRIBED = 65536
SIGNED = ("int32", "int64", "sint64")
TYPES = {3: "int64", 4: "uint64", 9: "string"}      # of FieldDescriptorProto


class Wrong(Exception):
    pass


class Schema:
    """Messages by full name: {number: (name, type, packed)}."""

    def __init__(self):
        self.messages, self.enums = {}, {}
        scope = []
        proto = subprocess.run(["awk", "-f", "proto.awk", "events.tab", "perfetto.proto.in"],
                               cwd=FORMAT, check=True, capture_output=True, text=True).stdout
        text = re.sub(r"//[^\n]*", "", proto)
        for token in re.finditer(
                r"(message|enum|oneof)\s+(\w+)\s*\{|\}|"
                r"(?:optional\s+|repeated\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)\s*(\[[^]]*\])?;|"
                r"(\w+)\s*=\s*(\d+)\s*;", text):
            kind, name, of_type, field, number, options, value, value_number = token.groups()
            if kind:
                scope.append((kind, name))
                full = ".".join(n for k, n in scope if k != "oneof")
                {"message": self.messages, "enum": self.enums}.get(kind, {}).setdefault(full, {})
            elif token[0] == "}":
                scope.pop()
            elif value and scope[-1][0] == "enum":
                self.enums[".".join(n for k, n in scope if k != "oneof")][int(value_number)] = value
            elif field and scope:
                full = ".".join(n for k, n in scope if k != "oneof")
                self.messages[full][int(number)] = (field, of_type, bool(options))
        for full, fields in self.messages.items():
            for number, (field, of_type, packed) in fields.items():
                fields[number] = field, self.find(full, of_type), packed

    def find(self, scope, name):
        """The full name of the type that @name means in @scope."""
        parts = scope.split(".")
        for length in range(len(parts), -1, -1):
            full = ".".join(parts[:length] + [name])
            if full in self.messages or full in self.enums:
                return full
        return name


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7


def fields_of(data):
    """(number, wire type, value) of each field."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif wire == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise Wrong(f"wire type {wire}")
        if at > end:
            raise Wrong("a field beyond the end of its message")
        yield number, wire, value


def number_of(value, of_type):
    if of_type in SIGNED:
        return value - (1 << 64) if value >> 63 else value
    return bool(value) if of_type == "bool" else value


class Reader:
    def __init__(self, path):
        self.schema = Schema()
        self.described = {}         # number: (name, {number: (name, type)}, group)
        with open(path, "rb") as file:
            self.data = file.read()

    def value(self, wire, value, of_type):
        if wire == 0:
            if of_type in self.schema.enums:
                return self.schema.enums[of_type].get(value, value)
            return number_of(value, of_type)
        if wire == 1:
            return struct.unpack("<d" if of_type == "double" else "<Q", value)[0]
        if of_type in self.schema.messages:
            return self.message(value, of_type)
        return bytes(value) if of_type == "bytes" else value.decode("utf-8", "replace")

    def message(self, data, of_type):
        known, found = self.schema.messages[of_type], {}
        for number, wire, value in fields_of(data):
            if number not in known:
                if of_type == "FtraceEvent" and number >= DESCRIBED:
                    found.setdefault("described", []).append((number, value))
                    continue
                raise Wrong(f"{of_type} has no field {number}")
            name, inner, packed = known[number]
            if packed and wire == 2:
                at = 0
                while at < len(value):
                    one, at = varint(value, at)
                    found.setdefault(name, []).append(number_of(one, inner))
                continue
            found.setdefault(name, []).append(self.value(wire, value, inner))
        return found

    def packets(self):
        for number, _, value in fields_of(memoryview(self.data)):
            if number != 1:
                raise Wrong(f"field {number} where a packet should be")
            packet = self.message(bytes(value), "TracePacket")
            for bundle in packet.get("ftrace_events", []):
                for one in bundle.get("generic_event_descriptors", []):
                    self.describe(one)
            yield packet

    def describe(self, one):
        name, fields = None, {}
        for number, _, value in fields_of(one["event_descriptor"][0]):
            if number == 1:
                name = value.decode()
            elif number == 2:
                field = {n: v for n, _, v in fields_of(value)}
                if field[3] >= 32:
                    raise Wrong(f"{name}: Perfetto takes no description with field {field[3]}")
                fields[field[3]] = field[1].decode("utf-8", "replace"), TYPES[field[5]]
        self.described[one["field_id"][0]] = name, fields, one["group_name"][0]

    def event(self, event):
        """Name, fields and form of an event in a bundle."""
        if "described" in event:
            number, data = event["described"][0]
            name, known, _ = self.described[number]
            fields = {}
            for field, wire, value in fields_of(data):
                fields[known[field][0]] = number_of(value, known[field][1]) if wire == 0 else \
                    value.decode("utf-8", "replace")
            return name, fields, "described"
        name = next(key for key in event if key not in ("timestamp", "pid"))
        message = event[name][0]
        if name == "generic":
            fields = {}
            for field in message.get("field", []):
                fields[field["name"][0]] = next(values[0] for key, values in field.items()
                                                if key != "name")
            return message["event_name"][0], fields, "generic"
        return name, {key: values if key == "args" else values[0]
                      for key, values in message.items()}, "full"


class Event:
    __slots__ = ("cpu", "time", "tid", "name", "fields", "form", "bundle")

    def __init__(self, *values):
        self.cpu, self.time, self.tid, self.name, self.fields, self.form, self.bundle = values


def columns(compact, cpu, bundle):
    """The events of columns, without the fields that the importer adds."""
    names = compact.get("intern_table", [])
    time = 0
    for step, state, pid, prio, comm in zip(*(compact.get("switch_" + name, []) for name in
                                              ("timestamp", "prev_state", "next_pid", "next_prio",
                                               "next_comm_index")), strict=True):
        time += step
        yield Event(cpu, time, None, "sched_switch",
                    {"prev_state": state, "next_comm": names[comm], "next_pid": pid,
                     "next_prio": prio}, "compact", bundle)
    time = 0
    for step, pid, target, prio, comm, flags in \
            zip(*(compact.get("waking_" + name, []) for name in
                  ("timestamp", "pid", "target_cpu", "prio", "comm_index", "common_flags")),
                strict=True):
        time += step
        yield Event(cpu, time, None, "sched_waking",
                    {"comm": names[comm], "pid": pid, "prio": prio, "target_cpu": target,
                     "flags": flags}, "compact", bundle)


def add_current(event, last):
    """Add the thread that leaves the CPU, or that wakes, as the importer does."""
    if event.form == "compact":
        if event.cpu not in last:
            raise Wrong(f"the first switch of CPU {event.cpu} is in a column: Perfetto skips it")
        tid, comm, prio = last[event.cpu]
        event.tid = tid
        if event.name == "sched_switch":
            event.fields = {"prev_comm": comm, "prev_pid": tid, "prev_prio": prio, **event.fields}
    if event.name == "sched_switch" and event.form in ("full", "compact"):
        last[event.cpu] = (event.fields["next_pid"], event.fields.get("next_comm", ""),
                           event.fields.get("next_prio", 0))


def load(path):
    """(all packets without events, all events in the importer's order, the bundles)."""
    reader, packets, events, bundles = Reader(path), [], [], []
    for packet in reader.packets():
        if "ftrace_events" not in packet:
            packets.append(packet)
            continue
        if "interned_data" in packet:
            packets.append(packet)
        for bundle in packet["ftrace_events"]:
            cpu = bundle["cpu"][0]
            bundles.append(bundle)
            for compact in bundle.get("compact_sched", []):
                events.extend(columns(compact, cpu, bundle))
            for event in bundle.get("event", []):
                name, fields, form = reader.event(event)
                events.append(Event(cpu, event["timestamp"][0], event["pid"][0], name, fields,
                                    form, bundle))
    events.sort(key=lambda event: event.time)
    last = {}
    for event in events:
        add_current(event, last)
    return packets, events, bundles


def text_of(value):
    if isinstance(value, dict):
        return "{ " + " ".join(f"{name}{'' if isinstance(one, dict) else ':'}{text_of(one)}"
                               for name, ones in value.items() for one in ones) + " }"
    if isinstance(value, (bytes, str)):
        value = value.decode("latin-1") if isinstance(value, bytes) else value
        return '"' + re.sub(r"[^ -~]", "?", value) + '"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def main():
    packets, events, bundles = load(sys.argv[2])
    if sys.argv[1] == "packets":
        for packet in packets:
            print(text_of(packet))
        return
    for event in events:
        fields = " ".join(f"{name}:{text_of(one)}" for name, values in event.fields.items()
                          for one in (values if isinstance(values, list) else [values]))
        print(event.cpu, event.time, event.tid, event.name, event.form, fields)
    for bundle in bundles:
        print("bundle", bundle["cpu"][0], "lost" if bundle.get("lost_events", [False])[0]
              else "whole", *bundle.get("previous_bundle_end_timestamp", []))


if __name__ == "__main__":
    main()
