#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares a Perfetto trace with the output of print, for test_export.sh.

  pf_check.py PERFETTO PRINT [EVENT.FIELD...]

PRINT is the output of "tracebuf print -T boot --fields". Each event must have its time, CPU, thread
and fields (except those named), and beside it a sample with its stack and counters. Another event
must be one that the exporter adds: a switch to the thread that is on a CPU, or the end of a slice
that is open where events are missing.
"""
import re
import sys
import pf_wire
from print_lines import Printed, Wrong, check, equal, fields_of, names_fit

STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 64: "P", 128: "I", 256: "R+"}
LOST_TID = 1 << 30
STATE_UNKNOWN = 0x8000
# the fields of an end that the exporter adds
KEYS = {"sys_exit": {"id"}, "local_timer_exit": {"vector"}, "softirq_exit": {"vec"},
        "hrtimer_expire_exit": {"hrtimer"}, "workqueue_execute_end": {"work"},
        "block_io_done": {"dev", "sector"}, "napi_gro_receive_exit": set(),
        "mm_vmscan_direct_reclaim_end": set(), "mm_vmscan_memcg_reclaim_end": set(),
        "mm_shrink_slab_end": set(), "dma_fence_wait_end": set()}


def is_added(event, seen):
    """May the exporter have added the event? @seen: CPUs with an earlier switch."""
    if event.form != "full":
        return False
    if event.name == "sched_switch":
        return event.fields["prev_pid"] >= LOST_TID or event.fields["next_pid"] >= LOST_TID or \
            event.fields["prev_state"] == STATE_UNKNOWN or \
            (event.cpu not in seen and not event.fields["prev_pid"])
    return event.name in KEYS and set(event.fields) <= KEYS[event.name]


# common_flags for print's letter of the context: interrupt, softirq, NMI in either
FLAGS = {".": (0,), "s": (0x10,), "h": (0x08,), "H": (0x18,), "z": (0x40, 0x48, 0x50, 0x58)}


class Samples:
    """Stacks and counters by time, CPU and thread."""

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
        functions = {one["iid"][0]: one["str"][0].decode() for one in names.get("function_names", [])}
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
                inner = [function for there, function in reversed(frames) if (there == 1) == (mapping == 1)]
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
    # a part of a text may look like a field
    names = [one for one in names if one in fields or f"{name}.{one}" in left_out or
             one == "tid"]
    values = fields_of(event.text, names)
    if values is None or not names_fit(fields, values):
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
    samples, count, added, with_extras, seen = Samples(), 0, 0, [], set()
    packets, events, _ = pf_wire.load(sys.argv[1])
    for packet in packets:
        if "perf_sample" in packet or "trace_packet_defaults" in packet:
            samples.take(packet)
    for event in events:
        name = "mark" if event.name == "print" else event.name
        if name == "tracebuf_lost":
            continue

        def fits(one, printed, event=event):
            return (printed.cpu, printed.tid) == (event.cpu, event.tid) and \
                ("flags" not in event.fields or
                 event.fields["flags"] in FLAGS[printed.context[0]]) and \
                same(one, event.fields, printed, left_out)

        may_be_added = is_added(event, seen)
        if event.name == "sched_switch":
            seen.add(event.cpu)
        try:
            found = wanted.take(event.time, (name,), fits,
                                f"cpu {event.cpu} tid {event.tid} {event.fields}")
        except Wrong:
            if not may_be_added:
                raise
            added += 1
            continue
        count += 1
        if found.extras():
            with_extras.append(((event.time, event.cpu, event.tid), found.extras()))
    wanted.end()
    for key, extras in with_extras:
        check(extras in samples.found.get(key, []), f"no sample at {key}: {extras}")
        samples.found[key].remove(extras)
    check(not any(samples.found.values()), "samples of no event")
    print(f"{count} events and {len(with_extras)} samples are those of print")
    print(f"{added} switches and ends are added")


if __name__ == "__main__":
    try:
        main()
    except (Wrong, pf_wire.Wrong) as error:
        print(f"{sys.argv[1]}: {error}")
        sys.exit(1)
