#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""large_traces.py - writes traces that are slow for readers that search each record from the start:

    large_traces.py totals FILE N          totals of CPU N-1 .. 0, at stop and in a snapshot
    large_traces.py suppressed FILE N      N records of suppressed events, of all ids in turn
    large_traces.py selections FILE N      N changes of the selection, latest first
    large_traces.py recordings FILE N      N recordings of one provider
    large_traces.py providers FILE N       N recordings of one provider, then N blocks of another
    large_traces.py apart FILE N           N recordings that begin and end one after another
    large_traces.py notes FILE N           a recording with N MiB of notes
"""

import struct
import sys

DURABLE, ROLLING, NOTE = 1, 2, 3
CLOCK, INIT, EVENT, TOTALS, SUPPRESSED, SELECTION, SYMBOL = 8, 16, 17, 18, 20, 21, 22


def composite(ident, payload, time=0, sequence=0, tid=0):
    """An event: one element, then the payload in whole elements."""
    elements = 1 + (len(payload) + 15) // 16
    head = 2 | ident << 2 | elements << 16 | (sequence & 0x3f) << 26
    event = struct.pack("<IIIHH", head, time, tid, len(payload), 0) + payload
    return event + bytes(-len(event) % 16)


class Writer:
    """Writes blocks one after another."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.sequences = {}

    def block(self, kind, body, log2=12, provider=0, cpu=0, time=0, events=0):
        """Write a block; @body(sequence) returns its elements."""
        key = (provider, kind, cpu)
        sequence = self.sequences.get(key, 0)
        self.sequences[key] = sequence + 1
        data = body(sequence)
        size = 1 << log2
        used = 64 + len(data)
        assert used <= size
        flags = 1 | (2 if used < size else 0)
        head = struct.pack("<4sBBBBHHIQQQIIQQ", b"TBUF", 1, kind, log2, flags, provider, cpu, 0,
                           sequence, time, time + 1000, used, events, 0, 0)
        if used < size:
            rest = (size - used) // 16
            data += struct.pack("<IIQ", 3 | min(rest, 1023) << 16 | (sequence & 0x3f) << 26, 0, 0)
        self.file.write((head + data).ljust(size, b"\0"))

    def records(self, records, kind=DURABLE, provider=0, log2=14):
        """Write as many blocks as the records (id, payload, time) need."""
        while records:
            count = used = 0
            for ident, payload, _ in records:
                used += 16 + (len(payload) + 15) // 16 * 16
                if used > (1 << log2) - 64:
                    break
                count += 1
            batch, records = records[:count], records[count:]
            self.block(kind, lambda sequence, b=batch: b"".join(
                composite(ident, payload, time, sequence) for ident, payload, time in b),
                log2, provider, events=len(batch))

    def rolling(self, provider=0, cpu=0, time=0):
        self.block(ROLLING, lambda sequence: composite(2, bytes(48), time, sequence),
                   10, provider, cpu, time)


def init(generation, provider=0):
    text = struct.pack("<IIQIIIIIIIIQ16s32s", 1, 3, 10**9, 3, 1, 2, 32, 64, 4096, 1 << 22, 0,
                       generation, b"load%d" % provider, b"kernel")
    return (INIT, text.ljust(328, b"\0"), 0)


def totals(writer, count):
    records = [init(1)]
    for flags in (0, 1):
        for cpu in reversed(range(count)):
            records.append((TOTALS, struct.pack("<IIQQQQQQQQQ", cpu, flags, 1, 0, 0, 1, 0, 0, 5, 1,
                                                1), 0))
    writer.records(records)


def suppressed(writer, count):
    writer.records([init(1)] + [(SUPPRESSED, struct.pack("<II5Q", i % 16384, 0, 1, 1, 1, 1, 1), 0)
                                for i in range(count)])


def selections(writer, count):
    writer.records([init(1)] + [(SELECTION, struct.pack("<II", 64 + i % 2, 1) + b"\1",
                                 1000 + count - i) for i in range(count)])


def recordings(writer, count):
    for i in range(count):
        writer.records([init(i + 1)], log2=12)


def providers(writer, count):
    writer.records([init(1, 1)], provider=1, log2=12)
    recordings(writer, count)
    for i in range(count):
        writer.rolling(1, 0, 10 * i)


def apart(writer, count):
    for time in range(2):
        for i in range(count):
            writer.records([init(i + 1, i)], provider=i % 65536, log2=12)
            writer.rolling(i % 65536, 0, 10 * time)


def notes(writer, count):
    writer.records([init(1)], log2=12)
    writer.rolling()
    symbol = struct.pack("<QQ", 0x1000, 16) + b"name_of_a_function".ljust(32, b"\0")
    for i in range(count):
        writer.block(NOTE, lambda sequence: composite(SYMBOL, symbol, 0, sequence), 20, 0, 0)


def main():
    kinds = {"totals": totals, "suppressed": suppressed, "selections": selections,
             "recordings": recordings, "providers": providers, "apart": apart, "notes": notes}
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__.strip())
    kinds[sys.argv[1]](Writer(sys.argv[2]), int(sys.argv[3]))


if __name__ == "__main__":
    main()
