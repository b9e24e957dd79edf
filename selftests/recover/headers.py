#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""headers.py - lets makedumpfile read QEMU's images.

    headers.py IMAGE

QEMU 7.2 puts program headers behind section headers, and gives the ELF header a size of 8 bytes.
makedumpfile 1.7 looks for program headers right behind its 64 bytes.
"""

import struct
import sys

EHDR, PHDR = 64, 56


def main():
    with open(sys.argv[1], "r+b") as image:
        head = bytearray(image.read(EHDR))
        at, = struct.unpack_from("<Q", head, 32)
        count, = struct.unpack_from("<H", head, 56)
        image.seek(at)
        programs = image.read(PHDR * count)
        struct.pack_into("<QQ", head, 32, EHDR, 0)
        struct.pack_into("<HHHHHH", head, 52, EHDR, PHDR, count, 0, 0, 0)
        image.seek(0)
        image.write(head + programs)


main()
