#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Unpack a packed trace by docs/abi.md alone, and compare it with the plain one.

    pack_check.py PACKED PLAIN      needs the program zstd
"""
import struct
import subprocess
import sys
import zlib

M64 = (1 << 64) - 1
TIME, TID, LENGTH, CONTEXT, EXTRA = range(5)


def slot(key):
    return (key * 0x9e3779b97f4a7c15 & M64) >> 54


class Source:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def words(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def number(self):
        number = shift = 0
        while True:
            byte, = self.take(1)
            number |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return number

    def stream(self):
        kind, = self.take(1)
        size = self.number()
        if kind == 2:
            return self.take(1) * size
        if kind == 0:
            return self.take(size)
        packed = self.take(self.number())
        data = subprocess.run(["zstd", "-dc"], input=packed, stdout=subprocess.PIPE,
                              check=True).stdout
        assert len(data) == size
        return data


class Column:
    def __init__(self, source):
        (self.bit, self.bits, self.predictor, self.argument, self.group, self.key,
         planes) = source.words("HBBBBBB")
        self.count, self.zigzag, self.planes = planes & 15, planes & 0x80, []
        self.last, self.table, self.second = 0, {}, {}

    def value(self, row, at, thread, groups):
        past = self.second.get(slot(thread), 0)
        turned = (past << 20 | past >> 44) & M64
        key = thread if self.key == 255 else row[self.key] if self.group else 0
        table, where = {
            4: lambda: (self.table, slot(thread)),
            5: lambda: (self.table, slot(row[self.argument])),
            6: lambda: (self.table, slot(thread + turned & M64)),
            7: lambda: (groups.setdefault(self.group, {}), slot(key)),
        }.get(self.predictor, lambda: ({}, 0))()
        guess = {1: lambda: self.last, 2: lambda: row[self.argument],
                 3: lambda: thread}.get(self.predictor, lambda: table.get(where, 0))()
        difference = sum(plane[at] << 8 * i for i, plane in enumerate(self.planes))
        if self.zigzag:
            difference = difference >> 1 ^ -(difference & 1)
        value = guess + difference & (1 << self.bits) - 1
        self.last = table[where] = value
        if self.predictor == 6:
            self.second[slot(thread)] = value
        if self.group and self.predictor != 7:
            groups.setdefault(self.group, {})[slot(key)] = value
        return value


class Shape:
    def __init__(self, source):
        (self.id, self.structure, columns, self.fixed, self.next, _,
         self.rows) = source.words("HBBHBBI")
        self.columns = [Column(source) for _ in range(columns)]
        self.first = {1: 1, 2: 5}.get(self.structure, 0)
        self.row = self.at = 0
        self.rest = b""

    def payload(self, row, thread, groups):
        number = 0
        for column in self.columns[self.first:]:
            row.append(column.value(row, self.row, thread, groups))
            number |= row[-1] << column.bit
        self.row += 1
        return number.to_bytes(self.fixed, "little")


class Frame:
    def __init__(self, data):
        (magic, version, self.bytes, self.content, units, _, cpus, ids, _, _, _, _, _, check,
         header_check) = struct.unpack_from("<8I5Q2I", data)
        assert magic == 0x4b504254 and version == 1
        assert zlib.crc32(data[:76]) == header_check
        assert zlib.crc32(data[80:self.bytes]) == check
        source = Source(data[80:self.bytes])
        source.take(4 * cpus + 8 * ids)
        count, = source.words("I")
        self.shapes = [Shape(source) for _ in range(count)]
        kinds, self.sizes = source.stream(), Source(source.stream())
        symbols = source.stream()
        if count >= 255:
            symbols = [low | high << 8 for low, high in zip(symbols, source.stream())]
        self.symbols = iter(symbols)
        for shape in self.shapes:
            for column in shape.columns:
                column.planes = [source.stream() for _ in range(column.count)]
            if shape.structure == 2:
                shape.rest = source.stream()
        self.raw = Source(source.stream())
        self.groups, self.predicted = {}, {}
        self.block = next((shape for shape in self.shapes if shape.structure == 8), None)
        self.tail = next((shape for shape in self.shapes if shape.structure == 9), None)
        self.plain = b"".join(self.columns() if kind else self.raw.take(self.sizes.words("I")[0])
                              for kind in kinds)
        assert len(self.plain) == self.content

    def shape(self, past):
        where = (past * 2654435761 & 0xffffffff) >> 20
        symbol = next(self.symbols) or self.predicted[where]
        self.predicted[where] = symbol
        return self.shapes[symbol - 1], (past << 10 & 0xffffffff) ^ symbol

    def event(self, shape, time, thread, sequence):
        row = [shape.columns[TIME].value([], shape.row, thread, self.groups)]
        time = time + row[TIME] & 0xffffffff
        if shape.structure == 1:
            payload = shape.payload(row, thread, self.groups)
            length, more = (shape.fixed + 8) // 16, b""
        else:
            for at in range(TID, shape.first):
                own = thread if at == TID else row[TID]
                row.append(shape.columns[at].value(row, shape.row, own, self.groups))
            thread = row[TID]
            payload = struct.pack("<IHH", thread, row[LENGTH], row[CONTEXT]) + \
                shape.payload(row, thread, self.groups)
            rest = row[LENGTH] - shape.fixed
            more = shape.rest[shape.at:shape.at + rest]
            shape.at += rest
            length = 1 + (row[LENGTH] + 15) // 16 + row[EXTRA]
        head = shape.structure | shape.id << 2 | length << 16 | (sequence & 0x3f) << 26
        if shape.next != 255:
            thread = row[shape.next] & 0xffffffff
        event = struct.pack("<II", head, time) + payload + more
        return event.ljust(length * 16, b"\0"), time, thread

    def columns(self):
        header = self.block.payload([], 0, self.groups)
        size, thread = 1 << header[6], struct.unpack_from("<I", header, 12)[0]
        sequence, time = struct.unpack_from("<QQ", header, 16)
        data, = struct.unpack_from("<I", header, 40)
        time &= 0xffffffff
        past, out = 0, header
        while len(out) < data:
            shape, past = self.shape(past)
            event, time, thread = self.event(shape, time, thread, sequence)
            out += event
        if data < size:
            out += self.tail.payload([], 0, self.groups)
        return out.ljust(size, b"\0")


def main():
    with open(sys.argv[1], "rb") as file:
        packed = file.read()
    with open(sys.argv[2], "rb") as file:
        want = file.read()
    plain = b""
    while packed:
        frame = Frame(packed)
        plain += frame.plain
        packed = packed[frame.bytes:]
    if plain == want:
        return 0
    print(f"# {sys.argv[2]}: {len(plain)} bytes, not {len(want)}, or others")
    return 1


if __name__ == "__main__":
    sys.exit(main())
