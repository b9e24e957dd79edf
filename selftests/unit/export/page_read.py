# SPDX-License-Identifier: GPL-2.0-only
"""Reads the data in a page of "tracebuf report --html", as timeline.h of the tool describes it."""
import base64
import json
import re
import zlib


def numbers(data):
    """Numbers of seven bits a byte, the lowest first."""
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            yield number
            number = shift = 0


def part(text, name):
    found = re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', text, re.S)
    if not found:
        raise ValueError(f"the page has no {name}")
    return found.group(1)


class Page:
    """report: its JSON; rows: (kind, id, sub) -> [(begin, end, name), ...]"""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.report = json.loads(part(text, "report-data"))
        data = zlib.decompress(base64.b64decode(part(text, "timeline-data").strip()), -15)
        at = 4 + int.from_bytes(data[:4], "little")
        packed = json.loads(data[4:at])
        self.begin, self.rows = int(packed["begin"]), {}
        for row in packed["rows"]:
            columns = []
            for length in row["columns"]:
                columns.append(data[at:at + length])
                at += length
            self.rows[row["kind"], row["id"], row["sub"]] = self.items(
                columns, packed["strings"], row["count"])
        self.threads = {tid: packed["strings"][name] for tid, _, name, *_ in packed["threads"]}

    def items(self, columns, strings, count):
        times, last, found = numbers(columns[0]), self.begin, []
        for name in numbers(columns[1]):
            signed = next(times)
            begin = last + (signed >> 1 ^ -(signed & 1))
            last = begin + (next(times) >> 2)
            found.append((begin, last, strings[name]))
        if len(found) != count or next(times, None) is not None:
            raise ValueError(f"{len(found)} items, not {count}")
        return found
