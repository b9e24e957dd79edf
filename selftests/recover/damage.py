#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""damage.py - damages a recording in reserved memory.

    damage.py blocks ADDRESS:SIZEM          the middle of every second rolling block
    damage.py bytes NUMBER ADDRESS:SIZEM    so many bytes, the same ones each time
    damage.py forge ADDRESS:SIZEM           writes rolling blocks of another recording, of the
                                            smallest size, over the payload of real ones
"""

import os
import random
import struct
import sys

PAGE = 4096
MAGIC, ROLLING = 0x46554254, 2
EVENTS = 64
SMALLEST = 1024
HEAD = 128              # the header and the gap slot behind it
SIZE_LOG2, RECORDING = 6, 120


def rolling_blocks(fd, start, size):
    """Returns (address, bytes) of each."""
    blocks = []
    for at in range(start, start + size, PAGE):
        magic, _, kind, log2 = struct.unpack("<IBBB", os.pread(fd, 7, at))
        if magic == MAGIC and kind == ROLLING:
            blocks.append((at, 1 << log2))
    if not blocks:
        sys.exit("damage.py: no blocks")
    return blocks


def forge(fd, blocks):
    for at, size in blocks:
        head = bytearray(os.pread(fd, HEAD, at))
        head[SIZE_LOG2] = SMALLEST.bit_length() - 1
        head[RECORDING] ^= 1
        for inside in range(at + size // 2, at + size, SMALLEST):
            os.pwrite(fd, head, inside)
    print("%d blocks forged" % sum(size // 2 // SMALLEST for at, size in blocks))


def main():
    what, *number, memory = sys.argv[1:]
    address, mebibytes = memory.rstrip("M").split(":")
    start, size = int(address, 0), int(mebibytes) << 20
    fd = os.open("/dev/mem", os.O_RDWR)
    chance = random.Random(" ".join(number))
    if what == "bytes":
        places = [start + chance.randrange(size) for _ in range(int(number[0]))]
    else:
        blocks = rolling_blocks(fd, start, size)
        if what == "forge":
            forge(fd, blocks)
            return
        # bytes of the block's number in the heads of events; where payload is, payload changes
        places = [at + size // 2 + 16 * i + 3
                  for at, size in blocks[::2] for i in range(EVENTS)]
    for at in places:
        byte, = os.pread(fd, 1, at)
        os.pwrite(fd, bytes([byte ^ chance.randrange(1, 256)]), at)
    print("%d bytes damaged" % len(places))


main()
