#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads FXT strictly by its specification, for test_export_fxt.sh.

  fxt_check.py FILE          print a line for each record, or the first violation
  fxt_check.py FILE PRINT    compare the events with PRINT, the output of
                             "tracebuf print -T boot --fields"

It also checks what readers of FXT need beyond the specification: strings and threads are defined
before they are used, each thread has a kernel object, an end closes the innermost slice of its
track, idle threads are marked, and each CPU switches away from the thread it switched to.
"""
import re
import struct
import sys
from print_lines import Printed, Wrong, check, equal, fields_of, is_name, names_fit

EVENTS = ("instant", "counter", "begin", "end", "complete", "async begin", "async instant",
          "async end", "flow begin", "flow step", "flow end")
IDLE_WEIGHT = -(1 << 31)
CPUS, IDLE, LOST = 0x80000000, 0x80010000, 0x80020000   # processes of the export's own
UNKNOWN = 15                            # the thread's state if no event tells of the switch


def bits(word, low, high):
    return word >> low & (1 << (high - low + 1)) - 1


class Record:
    """The words of one record, read one after the other."""

    def __init__(self, reader, data):
        self.reader = reader
        self.words = struct.unpack(f"<{len(data) // 8}Q", data)
        self.data = data
        self.at = 1

    def word(self):
        check(self.at < len(self.words), "a record is too short")
        self.at += 1
        return self.words[self.at - 1]

    def stream(self, length):
        start, size = self.at * 8, (length + 7) // 8
        check(self.at + size <= len(self.words), "a text goes beyond its record")
        self.at += size
        text = self.data[start:start + length]
        check(not any(self.data[start + length:self.at * 8]), "padding that is not zero")
        return text.decode("utf-8", "strict")

    def string(self, ref):
        if not ref:
            return ""
        if ref & 0x8000:
            check(ref & 0x7fff <= 32000, "a text of more than 32000 bytes")
            return self.stream(ref & 0x7fff)
        check(ref in self.reader.strings, f"string {ref} is used before it is told")
        return self.reader.strings[ref]

    def arguments(self, count):
        args = {}
        for _ in range(count):
            start, head = self.at, self.word()
            kind, size = bits(head, 0, 3), bits(head, 4, 15)
            name = self.string(bits(head, 16, 31))
            high, value = bits(head, 32, 63), None
            if kind == 1:
                value = high - (high >> 31 << 32)
            elif kind == 2:
                value = high
            elif kind == 6:
                check(not high >> 16, "reserved bits of a text argument")
                value = self.string(high)
            else:
                check(kind in (3, 4, 5, 7, 8), f"argument type {kind}")
                check(not high, "reserved bits of an argument")
                word = self.word()
                value = word
                if kind == 3:
                    value = word - (word >> 63 << 64)
                    check(not -(1 << 31) <= value < 1 << 31, "64 bits for a small number")
                elif kind == 4:
                    check(word >> 32, "64 bits for a small number")
                elif kind == 5:
                    value = struct.unpack("<d", struct.pack("<Q", word))[0]
            check(self.at == start + size, "an argument's size is wrong")
            while name in args:
                name += "'"
            args[name] = value
        return args

    def end(self):
        check(self.at == len(self.words), f"a record has {len(self.words)} words, not {self.at}")


class Reader:
    def __init__(self, data):
        self.data = data
        self.strings, self.threads = {}, {}
        self.processes, self.objects = {}, {}      # koid -> names; koid -> (process, names)
        self.open, self.open_async, self.last = {}, {}, {}
        self.running = {}
        self.provider = self.section = self.clock = False
        self.losses = 0
        self.out = []                               # (time, what, ...) of each event

    def read(self):
        at = 0
        data = self.data
        check(len(data) % 8 == 0, "the file is not words")
        check(data[:8] == bytes.fromhex("1000044678541600"), "no magic")
        at = 8
        while at < len(data):
            head = struct.unpack_from("<Q", data, at)[0]
            size = bits(head, 4, 15)
            check(size, f"a record of no size at {at}")
            check(at + size * 8 <= len(data), f"the file ends inside a record at {at}")
            try:
                self.record(Record(self, data[at:at + size * 8]), head)
            except (Wrong, UnicodeDecodeError) as error:
                raise Wrong(f"at byte {at}: {error}") from error
            at += size * 8

    def record(self, record, head):
        kind = bits(head, 0, 3)
        handlers = {0: self.metadata, 1: self.initialization, 2: self.string, 3: self.thread,
                    4: self.event, 7: self.object, 8: self.scheduling}
        check(kind in handlers, f"record type {kind}")
        check(kind == 0 or self.provider and self.section, "no provider yet")
        check(kind < 2 or self.clock, "no clock yet")
        handlers[kind](record, head)
        record.end()

    def metadata(self, record, head):
        kind = bits(head, 16, 19)
        if kind == 1:
            check(not self.provider, "the provider is told of twice")
            check(not bits(head, 60, 63), "reserved bits")
            check(record.stream(bits(head, 52, 59)) == "tracebuf", "the provider's name")
            self.provider = bits(head, 20, 51)
        elif kind == 2:
            check(bits(head, 20, 51) == self.provider and not bits(head, 52, 63), "section")
            self.section = True
        else:
            check(kind == 3 and bits(head, 20, 51) == self.provider, f"metadata {kind}")
            check(not bits(head, 52, 63), "event of the provider")
            self.losses += 1

    def initialization(self, record, head):
        check(not self.clock and not bits(head, 16, 63), "initialization")
        check(record.word() == 1000000000, "a tick is not a nanosecond")
        self.clock = True

    def string(self, record, head):
        index = bits(head, 16, 30)
        check(index and not bits(head, 31, 31) and not bits(head, 47, 63), "string record")
        self.strings[index] = record.stream(bits(head, 32, 46))

    def thread(self, record, head):
        index = bits(head, 16, 23)
        check(index and not bits(head, 24, 63), "thread record")
        self.threads[index] = record.word(), record.word()

    def object(self, record, head):
        kind = bits(head, 16, 23)
        check(kind in (1, 2) and not bits(head, 44, 63), "kernel object")
        koid = record.word()
        name = record.string(bits(head, 24, 39))
        args = record.arguments(bits(head, 40, 43))
        if kind == 1:
            check(not args, "arguments of a process")
            self.processes.setdefault(koid, []).append(name)
            return
        check(list(args) == ["process"], "a thread without its process")
        check(args["process"] in self.processes, f"thread {koid} of an unknown process")
        names = self.objects[koid][1] if koid in self.objects else []
        self.objects[koid] = args["process"], names + [name]

    def known(self, koid):
        check(koid in self.objects, f"thread {koid} has no kernel object")

    def event(self, record, head):
        kind, nr_args, ref = bits(head, 16, 19), bits(head, 20, 23), bits(head, 24, 31)
        check(kind < len(EVENTS), f"event type {kind}")
        time = record.word()
        thread = self.threads.get(ref) if ref else (record.word(), record.word())
        check(thread, f"thread {ref} is used before it is told")
        self.known(thread[1])
        check(self.objects[thread[1]][0] == thread[0], f"thread {thread} of two processes")
        category = record.string(bits(head, 32, 47))
        name = record.string(bits(head, 48, 63))
        args = record.arguments(nr_args)
        last = record.word() if kind in (1, 4, 5, 6, 7, 8, 9, 10) else None
        what = EVENTS[kind]
        closing = what == "end" and not args
        if what == "complete":
            check(last >= time, "a slice that ends before it begins")
        if what in ("begin", "end"):
            self.nest(thread[1], what, time, (category, name))
        if what in ("async begin", "async end"):
            self.nest(("async", thread[0], last), what[6:], time, (category, name))
        if what == "async instant":
            check(self.open.get(("async", thread[0], last)), "outside of an asynchronous slice")
        if what == "counter":
            check(args and all(isinstance(value, (int, float)) for value in args.values()),
                  "a counter without numbers")
        self.out.append((time, what, thread, category, name, args, last, closing))

    def nest(self, track, what, time, slice_name):
        stack = self.open.setdefault(track, [])
        check(time >= self.last.get(track, 0), f"slices of {track} go back in time")
        self.last[track] = time
        if what == "begin":
            stack.append(slice_name)
            return
        check(stack, f"an end on {track}, where nothing is open")
        check(stack[-1] == slice_name, f"the end of {slice_name} on {track} ends {stack[-1]}")
        stack.pop()

    def scheduling(self, record, head):
        kind, nr_args = bits(head, 60, 63), bits(head, 16, 19)
        cpu = bits(head, 20, 35)
        check(cpu < 4096, f"CPU {cpu}")
        time = record.word()
        first = record.word()
        self.known(first)
        if kind == 2:
            check(not bits(head, 36, 59), "reserved bits of a wake-up")
            args = record.arguments(nr_args)
            check(first < CPUS and args.get("weight") != IDLE_WEIGHT, "an idle thread wakes up")
            self.out.append((time, "wakeup", cpu, first, args))
            return
        check(kind == 1 and not bits(head, 40, 59), f"scheduling record {kind}")
        second = record.word()
        self.known(second)
        args = record.arguments(nr_args)
        for koid, side in (first, "outgoing_weight"), (second, "incoming_weight"):
            check(is_idle(koid) == (args.get(side) == IDLE_WEIGHT), f"{side} of {koid}")
            check(koid <= IDLE or koid in (IDLE + 1 + cpu, LOST + 1 + cpu),
                  "what stands for another CPU's thread")
        state = bits(head, 36, 39)
        check(state in (1, 2, 3, 4, 5, UNKNOWN), "the outgoing thread's state")
        check(state != UNKNOWN or "prev_state" not in args, "a state of a switch without one")
        check(state == UNKNOWN or first <= LOST and second <= LOST, "a switch of unknown threads")
        check(self.running.get(cpu, first) == first,
              f"thread {first} goes, but CPU {cpu} runs {self.running.get(cpu)}")
        self.running[cpu] = second
        self.out.append((time, "switch", cpu, first, second, state, args))


# ---- lines ----

def listed(args):
    return "".join(f" {name}={value}" for name, value in args.items())


def lines(reader):
    for entry in reader.out:
        if entry[1] == "switch":
            time, _, cpu, prev, following, state, args = entry
            yield f"{time} switch cpu {cpu} {prev} -> {following} state {state}{listed(args)}"
        elif entry[1] == "wakeup":
            time, _, cpu, tid, args = entry
            yield f"{time} wakeup cpu {cpu} {tid}{listed(args)}"
        else:
            time, what, thread, category, name, args, last, _ = entry
            yield (f"{time} {what} {thread[0]}/{thread[1]} {category}:{name}{listed(args)}" +
                   ("" if last is None else f" [{last}]"))
    for koid, (process, names) in sorted(reader.objects.items()):
        yield f"thread {koid} of {process}: {', '.join(names)}"
    for koid, names in sorted(reader.processes.items()):
        yield f"process {koid}: {', '.join(names)}"


# ---- against print ----

# entry and exit by the field that identifies the slice
ENTRY = {"irq": "irq_handler_entry", "vec": "softirq_entry", "id": "sys_enter"}
EXIT = {"irq": "irq_handler_exit", "vec": "softirq_exit", "id": "sys_exit"}
WAKEUPS = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
STATES = {1: "R", 2: "Tt", 3: "SDIP", 4: "Z", 5: "X"}


def is_idle(koid):
    return IDLE < koid < LOST


def tid_of(koid):
    return 0 if koid > IDLE else koid


def from_fxt(reader):
    """(time, name, cpu or None, tid or None, fields) of each event of the kernel."""
    for entry in reader.out:
        time, what = entry[0], entry[1]
        if what == "switch":
            _, _, cpu, prev, following, state, args = entry
            if state == UNKNOWN:
                continue                # the exporter adds it: the trace has no such event
            fields = {"prev_pid": tid_of(prev), "next_pid": tid_of(following),
                      "prev_state": args.pop("prev_state"), "koids": (prev, following)}
            check(fields["prev_state"][0] in STATES[state], f"state {state}: {fields}")
            for side, koid in ("prev", prev), ("next", following):
                name = {"prev": "outgoing_weight", "next": "incoming_weight"}[side]
                weight = args.pop(name, None)
                if koid <= IDLE and weight is not None:
                    fields[side + "_prio"] = weight
            fields.update(args)
            yield time, "sched_switch", cpu, tid_of(prev), fields
        elif what == "wakeup":
            _, _, cpu, tid, args = entry
            waker, on_cpu, weight = args.pop("waker"), args.pop("on_cpu"), args.pop("weight")
            yield (time, "wake-up", on_cpu, tid_of(waker),
                   {"pid": tid, "prio": weight, "target_cpu": cpu, "koids": (tid,), **args})
        else:
            _, _, thread, category, name, args, last, closing = entry
            if closing or name == "tracebuf_lost":
                continue
            if what == "counter" and name in ("cpu_idle", "cpu_frequency"):
                check(list(args) == [f"cpu{last}"], f"counter {args} of CPU {last}")
                yield (time, name, None, None,
                       {"cpu_id": last, "state": args[f"cpu{last}"] & 0xffffffff})
                continue
            if "on_cpu" not in args:    # the record of a program
                continue
            cpu = args.pop("on_cpu")
            if what in ("begin", "end"):
                kind = next(field for field in ENTRY if field in args)
                name = (ENTRY if what == "begin" else EXIT)[kind]
            tid = tid_of(thread[1])
            if thread[0] == CPUS:
                tid = args.pop("current_tid")
            for part in re.split(r" (?=\w+=)", args.pop("more", "")):
                if part:
                    args[part.split("=")[0]] = part.split("=", 1)[1]
            yield time, name, cpu, tid, args


def compare(reader, path):
    wanted = Printed(path)
    have = 0
    for time, name, cpu, tid, fields in from_fxt(reader):
        have += 1
        names = WAKEUPS if name == "wake-up" else (name,)

        def fits(one, event, cpu=cpu, tid=tid, fields=fields):
            return (cpu is None or (cpu, tid) == (event.cpu, event.tid)) and \
                same(reader, one, dict(fields), event)

        wanted.take(time, names, fits, f"cpu {cpu} tid {tid} {fields}")
    wanted.end()
    check(wanted.losses == reader.losses,
          f"{reader.losses} losses, print has {wanted.losses}")
    return have


def same(reader, name, fields, event):
    text = event.text
    for extra, value in event.extras().items():
        there = str(fields.pop(extra, None))
        # the exporter cuts texts off after 4096 bytes
        if there != value and not (len(there) > 3800 and value.startswith(there)):
            return False
    koids = fields.get("koids", ())
    if name == "mark":
        return equal(fields["text"], text)
    if koids:
        found = re.findall(r"(\w+)=(.*?)(?= \w+=|$)", text)
        sides = ("prev_comm", "next_comm") if len(koids) == 2 else ("comm",)
        for field, value in found:
            if field in sides:
                koid = koids[sides.index(field)]
                if value not in reader.objects[koid][1]:
                    return False
            elif field == "prev_prio" and koids[0] > IDLE or field == "next_prio" and \
                    koids[1] > IDLE:
                continue
            elif field not in fields or not (equal(fields[field], value)):
                return False
        return True
    if name in ("cpu_idle", "cpu_frequency"):
        names = ("state", "cpu_id")
    else:
        names = tuple(key for key in fields if not is_name(key, fields))
    values = fields_of(text, names)
    return values is not None and names_fit(fields, values) and all(equal(fields[key], value)
                                      for key, value in values.items())


def main():
    with open(sys.argv[1], "rb") as file:
        reader = Reader(file.read())
    try:
        reader.read()
        if len(sys.argv) > 2:
            count = compare(reader, sys.argv[2])
            print(f"{count} events are those of print")
        else:
            for line in lines(reader):
                print(line)
    except Wrong as error:
        print(f"{sys.argv[1]}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
