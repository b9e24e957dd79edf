#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
singlestep.py SOCKET OUTPUT - single-steps a guest while it is tortured.

Waits until the guest's OUTPUT, a file, says that the test has begun; then has QEMU
translate one instruction at a time, so that interrupts can come after each of them
as they do when it counts instructions, and sends NMIs through its monitor at SOCKET
until the guest is gone.
"""
import socket
import sys
import time


def begun(output):
    try:
        with open(output, "rb") as f:
            return b"KTAP" in f.read()
    except OSError:
        return False


def main():
    path, output = sys.argv[1:]
    # it comes up in some seconds, or its output tells why not: we are ended then
    while not begun(output):
        time.sleep(0.05)
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(path)
        monitor.settimeout(0.005)
        try:
            monitor.sendall(b"singlestep on\n")
            while True:
                monitor.sendall(b"nmi\n")
                try:
                    # what it answers is of no interest, but must be taken
                    if not monitor.recv(65536):
                        return
                except socket.timeout:
                    pass
        except OSError:
            return


main()
