#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""damage.py - damages what was recorded in reserved memory.

    damage.py blocks ADDRESS:SIZEM        a byte in the middle of every second rolling block
    damage.py bytes STEP ADDRESS:SIZEM    every so many bytes one
"""

import os
import struct
import sys

PAGE = 4096
MAGIC, ROLLING = 0x46554254, 2


def main():
    what, *step, memory = sys.argv[1:]
    address, mebibytes = memory.rstrip("M").split(":")
    start, size = int(address, 0), int(mebibytes) << 20
    fd = os.open("/dev/mem", os.O_RDWR)
    if what == "bytes":
        places = range(start, start + size, int(step[0]))
    else:
        blocks = []
        for at in range(start, start + size, PAGE):
            magic, _, kind, log2 = struct.unpack("<IBBB", os.pread(fd, 7, at))
            if magic == MAGIC and kind == ROLLING:
                blocks.append(at + (1 << log2 - 1))
        places = blocks[::2]
        if not places:
            sys.exit("damage.py: no blocks")
    for at in places:
        byte, = os.pread(fd, 1, at)
        os.pwrite(fd, bytes([byte ^ at % 255 + 1 & 255]), at)
    print("%d bytes damaged" % len(places))


main()
