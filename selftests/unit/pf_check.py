#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds a Perfetto trace against what print shows of it, for test_export.sh.

  pf_check.py DECODED PRINT [EVENT.FIELD...]

DECODED is the output of "protoc --decode=perfetto.protos.Trace", PRINT that of "tracebuf print
-T boot --fields".  Every event must be there, of its time, CPU and thread, with all its fields
but those named, and beside it a sample with its stack and counters.
"""
import re
import sys
from print_lines import Printed, Wrong, check, equal, fields_of

STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 64: "P", 128: "I", 256: "R+"}
FIELD = re.compile(r"^(\w+): (.*)$")


def unquote(text):
    if text[:1] != '"':
        return int(text) if re.fullmatch(r"-?\d+", text) else text
    plain = re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]),
                   text[1:-1].encode("latin-1"))
    return re.sub(rb"\\(.)", rb"\1", plain).decode("utf-8", "strict")


def messages(lines):
    """Each packet as a dictionary of lists"""
    stack = [{}]
    for line in lines:
        line = line.strip()
        if line == "}":
            done = stack.pop()
            if len(stack) == 1:
                yield done[1]
            else:
                stack[-1][1].setdefault(done[0], []).append(done[1])
        elif line.endswith(" {"):
            stack.append((line[:-2], {}))
        elif line:
            name, value = FIELD.match(line).groups()
            stack[-1][1].setdefault(name, []).append(unquote(value))


def fields_in(event):
    """Name of an event, and its fields"""
    name = next(key for key in event if key not in ("timestamp", "pid"))
    message = event[name][0]
    if name != "generic":
        return name, {key: values if key == "args" else values[0]
                      for key, values in message.items()}
    fields = {}
    for field in message.get("field", []):
        value = next(values[0] for key, values in field.items() if key != "name")
        fields[field["name"][0]] = value
    return message["event_name"][0], fields


class Samples:
    """Stacks and counters by time and CPU"""

    def __init__(self):
        self.streams, self.found = {}, {}

    def take(self, packet):
        sequence = packet["trusted_packet_sequence_id"][0]
        if packet.get("sequence_flags", [0])[0] & 1:
            self.streams[sequence] = {"counters": [], "frames": {}, "stacks": {}, "maps": {}}
        stream = self.streams[sequence]
        for defaults in packet.get("trace_packet_defaults", []):
            followers = defaults["perf_sample_defaults"][0].get("followers", [])
            stream["counters"] = [follower["name"][0] for follower in followers]
        names = packet.get("interned_data", [{}])[0]
        functions = {one["iid"][0]: str(one["str"][0]) for one in names.get("function_names", [])}
        for one in names.get("mappings", []):
            stream["maps"][one["iid"][0]] = one["path_string_ids"][0]
        for one in names.get("frames", []):
            check(one["mapping_id"][0] in stream["maps"], "a frame without its mapping")
            stream["frames"][one["iid"][0]] = (one["mapping_id"][0],
                                               functions[one["function_name_id"][0]])
        for one in names.get("callstacks", []):
            stream["stacks"][one["iid"][0]] = [stream["frames"][frame]
                                               for frame in one["frame_ids"]]
        for sample in packet.get("perf_sample", []):
            frames = stream["stacks"][sample["callstack_iid"][0]] \
                if "callstack_iid" in sample else []
            values = map(str, sample.get("follower_counts", []))
            extras = dict(zip(stream["counters"], values, strict=True))
            for mapping, name in (1, "stack"), (2, "user_stack"):
                inner = [function for there, function in reversed(frames) if there == mapping]
                if inner:
                    extras[name] = " <- ".join(inner)
            key = packet["timestamp"][0], sample["cpu"][0], sample["tid"][0]
            self.found.setdefault(key, []).append(extras)


def same(name, fields, event, left_out):
    if name == "mark":
        return fields["buf"].split("|", 2)[-1] == event.text or fields["buf"] == event.text
    names = re.findall(r"(?:^| )(\w+)=", event.text)
    if not names:
        return True
    # a text may look like a field
    names = [one for one in names if one in fields or f"{name}.{one}" in left_out or
             one == "tid"]
    values = fields_of(event.text, names)
    if values is None:
        return False
    for one, value in values.items():
        if one not in fields:
            continue
        have = fields[one]
        if one == "prev_state":
            have = STATES.get(have, have)
        if isinstance(have, list):
            have = ", ".join(str(item) for item in have)
        if not equal(have, value):
            return False
    return True


def main():
    wanted, left_out = Printed(sys.argv[2]), sys.argv[3:]
    samples, count, losses, with_extras = Samples(), 0, 0, []
    with open(sys.argv[1], encoding="latin-1") as file:
        for packet in messages(file):
            if "perf_sample" in packet or "trace_packet_defaults" in packet:
                samples.take(packet)
            for bundle in packet.get("ftrace_events", []):
                for event in bundle.get("event", []):
                    name, fields = fields_in(event)
                    name = "mark" if name == "print" else name
                    if name == "tracebuf_lost":
                        losses += 1
                        continue
                    count += 1
                    cpu, tid = bundle["cpu"][0], event["pid"][0]

                    def fits(one, printed, cpu=cpu, tid=tid, fields=fields):
                        return (printed.cpu, printed.tid) == (cpu, tid) and \
                            same(one, fields, printed, left_out)

                    found = wanted.take(event["timestamp"][0], (name,), fits,
                                        f"cpu {cpu} tid {tid} {fields}")
                    if found.extras():
                        with_extras.append(((event["timestamp"][0], cpu, tid), found.extras()))
    wanted.end()
    for key, extras in with_extras:
        check(extras in samples.found.get(key, []), f"no sample at {key}: {extras}")
        samples.found[key].remove(extras)
    check(not any(samples.found.values()), "samples of no event")
    print(f"{count} events and {len(with_extras)} samples are those of print")


if __name__ == "__main__":
    try:
        main()
    except Wrong as error:
        print(f"{sys.argv[1]}: {error}")
        sys.exit(1)
