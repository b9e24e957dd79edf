#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""guest.py - lets a guest crash, and keeps an image of its memory.

    guest.py HOW FORMAT IMAGE MEBIBYTES -- VM-COMMAND...

VM-COMMAND is scripts/vm with a monitor at IMAGE.monitor and -no-shutdown. HOW is as in guest.sh.
With spin and none this script stops the guest at a random moment; with nmi it sends an NMI then.
Otherwise it waits until the guest has stopped by itself, or hangs: a kernel that has panicked may
fail to turn the machine off. FORMAT: elf or raw. Exits 0 when there is an image.
"""

import os
import random
import socket
import subprocess
import sys
import time

DEADLINE = 280
OUTSIDE = "spin", "none", "nmi"     # these guests do not stop by themselves


class Monitor:
    def __init__(self, path, until):
        self.until = until
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(path)
                break
            except OSError:
                self.socket.close()
                self.wait()
        self.text()

    def wait(self):
        if time.monotonic() > self.until:
            sys.exit("guest.py: no result within %d s" % DEADLINE)
        time.sleep(0.05)

    def text(self):
        """Returns the monitor's output up to its prompt."""
        said = b""
        self.socket.settimeout(max(1, self.until - time.monotonic()))
        while not said.endswith(b"(qemu) "):
            more = self.socket.recv(65536)
            if not more:
                break
            said += more
        return said.decode(errors="replace")

    def ask(self, line):
        self.socket.sendall(line.encode() + b"\n")
        return self.text()


def main():
    how, form, image, mebibytes, dashes, *vm = sys.argv[1:]
    assert dashes == "--"
    until = time.monotonic() + DEADLINE
    with open(image + ".output", "wb") as output:
        guest = subprocess.Popen(vm, stdout=output, stderr=subprocess.STDOUT)
    try:
        monitor = Monitor(image + ".monitor", until)
        while b"recording" not in open(image + ".output", "rb").read():
            if guest.poll() is not None:
                sys.exit("guest.py: the guest ended before it recorded")
            # the guest may die before it has said so
            if how not in OUTSIDE and "paused" in monitor.ask("info status"):
                break
            monitor.wait()
        if how in OUTSIDE:
            # the moment must be a random one
            time.sleep(1.5 + random.random())
            monitor.ask("nmi" if how == "nmi" else "stop")
        while "paused" not in monitor.ask("info status"):
            if time.monotonic() > monitor.until:
                print("guest.py: the guest hangs after its end:", monitor.ask("info registers -a"))
            monitor.wait()
        if form == "elf":
            said = monitor.ask("dump-guest-memory " + image)
        else:
            said = monitor.ask('pmemsave 0 %d "%s"' % (int(mebibytes) << 20, image))
        if not os.path.exists(image) or "rror" in said:
            sys.exit("guest.py: no image: " + said)
        monitor.socket.sendall(b"quit\n")
        guest.wait(30)
    finally:
        if guest.poll() is None:
            guest.terminate()
            guest.wait()


main()
