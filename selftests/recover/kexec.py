#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""kexec.py - loads the kernel that takes over when this one crashes: "kexec -p -s".

    kexec.py KERNEL INITRD COMMAND-LINE

One system call does this. Debian's kexec-tools would install start scripts, which a machine that
runs tests must not have, and Xen's libraries.
"""

import ctypes
import os
import sys

SYS_KEXEC_FILE_LOAD = 320       # x86-64
KEXEC_FILE_ON_CRASH = 2


def main():
    kernel, initrd, words = sys.argv[1:]
    words = words.encode() + b"\0"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(SYS_KEXEC_FILE_LOAD),
                    ctypes.c_int(os.open(kernel, os.O_RDONLY)),
                    ctypes.c_int(os.open(initrd, os.O_RDONLY)),
                    ctypes.c_ulong(len(words)), ctypes.c_char_p(words),
                    ctypes.c_ulong(KEXEC_FILE_ON_CRASH)):
        sys.exit("kexec.py: kexec_file_load: " + os.strerror(ctypes.get_errno()))


main()
