#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""check.py - does a trace have exactly the events that a guest recorded before it crashed?

    check.py IMAGE TRACE

IMAGE has the page in which tb_crash.c counts begun and finished events. TRACE was recovered from
it. This script decodes TRACE itself, so that it shares no mistakes with the tool.
"""

import mmap
import struct
import sys

MAGIC = struct.pack("<Q", 0x4853415243425421)
CPUS, SOURCES, WORDS = 16, 2, 12
THREAD, TIMER = 0, 1            # the sources; a CPU of a busy host may give the timer little time
MASK = (1 << 64) - 1
SIMPLE, COMPOSITE = 32, 33      # TB_EV_USER and the one after


def page(image):
    """Returns {(cpu, source): (begun, done, other)}.

    The magic number is also in the code of the module.
    """
    with open(image, "rb") as f:
        memory = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    at = memory.find(MAGIC)
    found = []
    while at >= 0:
        cpus = struct.unpack_from("<Q", memory, at + 8)[0]
        if 0 < cpus <= CPUS and at + 16 + 24 * CPUS * SOURCES <= len(memory):
            words = struct.unpack_from("<%dQ" % (3 * CPUS * SOURCES), memory, at + 16)
            counts = list(zip(words[::3], words[1::3], words[2::3]))
            if all(begun - done in (0, 1) for begun, done, _ in counts) and \
               counts[THREAD][1] > 100 and counts[TIMER][1]:
                found.append({(i // SOURCES, i % SOURCES): book
                              for i, book in enumerate(counts) if i < cpus * SOURCES})
        at = memory.find(MAGIC, at + 1)
    if len(found) != 1:
        sys.exit("check.py: %d pages of tb_crash in the image" % len(found))
    return found[0]


def events(trace):
    """Yields (CPU of the ring, id, payload) of the load's events, in the order of the file."""
    data = open(trace, "rb").read()
    at = 0
    crash = None
    while at < len(data):
        magic, version, kind, log2, flags, provider, cpu = struct.unpack_from("<IBBBBHH", data, at)
        sequence, = struct.unpack_from("<Q", data, at + 16)
        used, = struct.unpack_from("<I", data, at + 40)
        if magic != 0x46554254 or not flags & 1:
            sys.exit("check.py: no complete block at %d" % at)
        i = at + 64
        while i < at + used:
            head, = struct.unpack_from("<I", data, i)
            length = head >> 16 & 0x3ff
            ident = head >> 2 & 0x3fff
            if head >> 26 != sequence & 63:
                sys.exit("check.py: an event of another block at %d" % i)
            if head & 3 == 2:
                size, = struct.unpack_from("<H", data, i + 12)
                payload = data[i + 16:i + 16 + size]
            else:
                payload = data[i + 8:i + 16]
            if kind == 1 and ident == 16 and payload[72:104].rstrip(b"\0") == b"crash":
                crash = provider
            if kind == 2 and provider == crash and ident in (SIMPLE, COMPOSITE):
                yield cpu, ident, payload
            i += length * 16
        at += 1 << log2


def main():
    counts = page(sys.argv[1])
    seen = {key: [] for key in counts}
    for cpu, ident, payload in events(sys.argv[2]):
        words = struct.unpack("<%dQ" % (len(payload) // 8), payload)
        key = words[0] >> 56, words[0] >> 48 & 0xff
        number = words[0] & (1 << 48) - 1
        if key not in seen or key[0] != cpu:
            sys.exit("check.py: event %#x in the ring of CPU %d" % (words[0], cpu))
        wanted = number * 7 % WORDS
        if ident != (COMPOSITE if wanted else SIMPLE) or len(words) != max(wanted, 1) or \
           any(words[i] != words[0] * (2 * i + 1) & MASK for i in range(1, len(words))):
            sys.exit("check.py: CPU %d, source %d, event %d: wrong contents" % (*key, number))
        seen[key].append(number)
    for key, (begun, done, other) in sorted(counts.items()):
        numbers = seen[key]
        print("CPU %d, source %d: %d done, %d begun, %d in the trace" %
              (*key, done, begun, len(numbers)))
        if not numbers:
            # All events may be overwritten if the first event of the other source came later. One
            # begun event may have been recorded after that.
            since = seen[key[0], 1 - key[1]]
            if not since or since[0] + 1 < other:
                sys.exit("check.py: none of them")
            continue
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            odd = [b for a, b in zip(numbers, numbers[1:]) if b != a + 1]
            sys.exit("check.py: not one after the other, at %s" % odd[:5])
        if not done <= numbers[-1] + 1 <= begun:
            sys.exit("check.py: the last is %d" % numbers[-1])


main()
