#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""damage.py - damages what was recorded in reserved memory.

    damage.py blocks ADDRESS:SIZEM          the middle of every second rolling block
    damage.py bytes NUMBER ADDRESS:SIZEM    so many bytes, the same ones each time
"""

import os
import random
import struct
import sys

PAGE = 4096
MAGIC, ROLLING = 0x46554254, 2
EVENTS = 64


def main():
    what, *number, memory = sys.argv[1:]
    address, mebibytes = memory.rstrip("M").split(":")
    start, size = int(address, 0), int(mebibytes) << 20
    fd = os.open("/dev/mem", os.O_RDWR)
    chance = random.Random(" ".join(number))
    if what == "bytes":
        places = [start + chance.randrange(size) for _ in range(int(number[0]))]
    else:
        blocks = []
        for at in range(start, start + size, PAGE):
            magic, _, kind, log2 = struct.unpack("<IBBB", os.pread(fd, 7, at))
            if magic == MAGIC and kind == ROLLING:
                blocks.append(at + (1 << log2 - 1))
        if not blocks:
            sys.exit("damage.py: no blocks")
        # the block's number in the heads of events: what is payload there is changed, too
        places = [at + 16 * i + 3 for at in blocks[::2] for i in range(EVENTS)]
    for at in places:
        byte, = os.pread(fd, 1, at)
        os.pwrite(fd, bytes([byte ^ chance.randrange(1, 256)]), at)
    print("%d bytes damaged" % len(places))


main()
