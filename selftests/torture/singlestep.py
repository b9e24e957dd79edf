#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
singlestep.py SOCKET OUTPUT - single-steps a guest while it is tortured.

Waits until the file OUTPUT, the guest's console, shows that the test has begun. Then it makes QEMU
translate one instruction at a time, so that an interrupt can come after any of them, as when QEMU
counts instructions. It sends NMIs through QEMU's monitor at SOCKET until the guest is gone.
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
    # the guest boots in seconds; if it fails to, our parent kills us
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
                    # answers must not pile up; an empty one: QEMU has ended
                    if not monitor.recv(65536):
                        return
                except socket.timeout:
                    pass
        except OSError:
            return


main()
