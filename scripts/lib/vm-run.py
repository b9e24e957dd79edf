#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""vm-run.py - runs one QEMU guest, passes on the output of its command, and checks its kernel log.

scripts/vm prepares the files and starts this program as

    vm-run.py RUNDIR DEADLINE OUTDIR -- QEMU ARGUMENTS...

The exit status is that of scripts/vm. The program removes RUNDIR at the end. OUTDIR may be empty.
The program adds the devices through which the guest reports; guest-init.c describes the frames of
the guest.
"""

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

COMPLAINT = 120     # the kernel log holds a complaint
PANIC = 121         # the guest ended before the command did
DEADLINE = 122
RUNNER = 123        # the guest or the command did not start

BOOT_LIMIT = 180    # seconds until the command starts; debug kernels are slow
OUT_LIMIT = 60      # seconds to get /out from a guest at its deadline
EXCERPTS = 4
EXCERPT_LINES = 70

COMPLAINTS = re.compile("|".join((
    r"\bWARNING:", r"\bBUG:", r"\bOops\b", r"general protection",
    r"possible recursive locking", r"possible circular", r"inconsistent lock state",
    r"possible irq lock inversion", r"-safe -> .*-unsafe lock order",
    r"Invalid wait context", r"held lock freed", r"lock held when returning",
    r"suspicious RCU usage", r"bad unlock balance", r"DEBUG_LOCKS_WARN",
    r"INFO: task .* blocked", r"hung_task:", r"rcu.*\bstall", r"rcu_.*detected stalls",
    r"KASAN:", r"KCSAN:", r"KMSAN:", r"UBSAN:", r"KFENCE:", r"ODEBUG:",
    r"kmemleak: .* new suspected", r"kmemleak: .*disabled", r"scheduling while atomic",
    r"sleeping function called from invalid context",
    r"soft lockup", r"hard LOCKUP", r"refcount_t:", r"list_(add|del) corruption",
    r"Bad page state", r"unable to handle", r"Call Trace:", r"Kernel panic")))

# The kernel itself has data races, which these tests ignore. A report counts if code of a module
# made one of the two accesses: its function is the first in a stack, except for functions that copy
# and compare for a caller.
RACE = re.compile(r"BUG: KCSAN:")
RACE_END = re.compile(r"\] ={60}")
FRAME = re.compile(r"\] \s*(\S+)\+0x[0-9a-f]+/0x[0-9a-f]+( \[\w+\])?$")
COPYING = re.compile(r"_*(mem(cpy|move|set|cmp|chr_inv)|str\w+|copy_(to|from)_user|"
                     r"(kcsan|tsan)_\w+|check_access|this_cpu\w+|list_(add|del)\w*)$")

OOM = re.compile(r"\] \S.* invoked oom-killer: ")
OOM_END = re.compile(r"\] oom-kill:constraint=| invoked oom-killer: ")
GROUP_OOM = re.compile(r"\] oom-kill:constraint=CONSTRAINT_MEMCG,.*oom_memcg=/\w")

# Lines that do not help in the stacks of a guest that hangs: registers, code, guesses.
REGISTERS = re.compile(r"\] ((R[A-Z0-9]{2}|[A-Z]S|CR2|Code|Hardware name|RIP: 0033): ?| \? )")


class Stop(Exception):
    """Ends the run with a status, and with a reason if the user should see one."""

    def __init__(self, status, reason=None):
        super().__init__(reason)
        self.status = status
        self.reason = reason


def tell(text):
    try:
        sys.stderr.write("vm: %s\n" % text)
        sys.stderr.flush()
    except OSError:
        pass


def write_all(fd, data):
    while data:
        try:
            data = data[os.write(fd, data):]
        except BlockingIOError:
            select.select([], [fd], [])
        except BrokenPipeError:
            raise Stop(128 + signal.SIGPIPE)


class Guest:
    def __init__(self, qemu, rundir, deadline, outdir):
        self.rundir = rundir
        self.deadline = deadline
        self.outdir = outdir
        self.log = bytearray()      # the kernel's log, as init reads it
        self.console = bytearray()  # the part of the log that the console shows
        self.monitor_text = bytearray()
        self.frames = bytearray()
        self.started = False
        self.status = None
        self.tar = None
        self.sent_out = False
        self.end_by = None
        self.limit_reason = ""

        socks = {}
        fds = []
        for name in "frames", "console", "monitor":
            socks[name], far = socket.socketpair()
            fds.append(far)
        self.socks = socks
        dev = []
        for name, far in zip(socks, fds):
            dev += ["-chardev", "socket,id=vm.%s,fd=%d" % (name, far.fileno())]
        dev += ["-device", "virtio-serial-pci",
                "-device", "virtserialport,chardev=vm.frames,name=tracebuf.vm",
                "-serial", "chardev:vm.console",
                "-mon", "chardev=vm.monitor,mode=readline"]
        self.errors = open(os.path.join(rundir, "qemu.err"), "w+b")
        # If this process is killed, the kernel kills QEMU too. QEMU has its own session, because
        # this process handles Ctrl-C.
        self.qemu = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", qemu[0]] + dev + qemu[1:],
            stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors,
            pass_fds=[f.fileno() for f in fds], start_new_session=True)
        for far in fds:
            far.close()
        self.set_limit(BOOT_LIMIT, Stop(RUNNER, "the command did not start within %d s" % BOOT_LIMIT))

    def set_limit(self, seconds, stop):
        self.end_by = time.monotonic() + seconds if seconds else None
        self.limit = stop
        # The alarm also interrupts a write to a slow reader of our output.
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def on_alarm(self, *_):
        raise self.limit

    def monitor(self, line):
        try:
            self.socks["monitor"].sendall(line.encode() + b"\n")
        except OSError:
            pass

    def frame(self, kind, data):
        if kind == b"1":
            write_all(1, data)
        elif kind == b"2":
            write_all(2, data)
        elif kind == b"K":
            self.log += data.replace(b"\\x09", b"\t").replace(b"\\x0a", b"\n")
        elif kind == b"T":
            self.tar_data(data)
        elif kind == b"S":
            self.started = True
            self.set_limit(self.deadline,
                           Stop(DEADLINE, "the command did not end within %g s" % self.deadline))
        elif kind == b"X":
            raise Stop(RUNNER, "the guest could not be set up: " + data.decode(errors="replace"))
        elif kind == b"D":
            self.sent_out = True
        elif kind == b"E":
            self.status = data[0]

    def tar_data(self, data):
        if not self.outdir:
            return
        if not self.tar:
            # the clock of a guest that counts instructions may be ahead or behind
            self.tar = subprocess.Popen(["tar", "-x", "--no-same-owner", "--warning=no-timestamp",
                                         "-C", self.outdir], stdin=subprocess.PIPE)
        try:
            self.tar.stdin.write(data)
        except BrokenPipeError:
            raise Stop(RUNNER, "cannot unpack what the command left in /out into " + self.outdir)

    def parse(self, data):
        buf = self.frames
        buf += data
        at = 0
        while len(buf) >= at + 4:
            size = int.from_bytes(buf[at + 1:at + 4], "little")
            if len(buf) < at + 4 + size:
                break
            self.frame(bytes(buf[at:at + 1]), bytes(buf[at + 4:at + 4 + size]))
            at += 4 + size
        del buf[:at]

    def serve(self, until=None):
        """Pass on data until the command or QEMU ends, until @until, or until all of /out came."""
        poll = select.poll()
        names = {}
        for name, sock in self.socks.items():
            poll.register(sock, select.POLLIN)
            names[sock.fileno()] = name
        # Poll the standard output only for an error: its reader has gone.
        poll.register(1, 0)
        while self.status is None and not self.sent_out:
            timeout = None
            if until is not None:
                timeout = max(0, until - time.monotonic()) * 1000
            ready = poll.poll(timeout)
            if not ready:
                return
            for fd, events in ready:
                if fd == 1:
                    if events & select.POLLERR:
                        raise Stop(128 + signal.SIGPIPE)
                    poll.unregister(1)      # a file, or a terminal that has gone
                    continue
                name = names[fd]
                try:
                    data = self.socks[name].recv(1 << 18)
                except ConnectionResetError:
                    data = b""
                if not data:
                    poll.unregister(fd)
                    del names[fd]
                    if not names:
                        return              # QEMU ended
                elif name == "frames":
                    self.parse(data)
                elif name == "console":
                    self.console += data
                else:
                    self.monitor_text += data

    def interrogate(self):
        """Make a guest that hangs log its state, if it still can."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.monitor("info registers -a")
        # SysRq by serial break: stacks of CPUs, of blocked tasks, of all tasks.
        for key in b"lwt":
            self.monitor("chardev-send-break vm.console")
            try:
                self.serve(time.monotonic() + 0.2)
                self.socks["console"].sendall(bytes([key]))
                self.serve(time.monotonic() + 0.6)
            except (OSError, Stop):
                return

    def rescue(self):
        """Ask a guest at its deadline for /out, if it still can send it."""
        try:
            self.socks["frames"].sendall(b"o")
            self.serve(time.monotonic() + OUT_LIMIT)
        except (OSError, Stop):
            pass
        if not self.sent_out and self.status is None:
            tell("what the command has left in /out did not arrive, or not all")

    def end(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.qemu.poll() is None:
            self.qemu.terminate()
            try:
                self.qemu.wait(2)
            except subprocess.TimeoutExpired:
                self.qemu.kill()
        self.qemu.wait()
        if self.tar:
            try:
                self.tar.stdin.close()
            except BrokenPipeError:
                pass
            if self.tar.wait() and self.status is not None:
                raise Stop(RUNNER, "cannot unpack what the command left in /out into " + self.outdir)

    def qemu_errors(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()


def lines_of(data):
    return bytes(data).decode(errors="replace").replace("\r", "").splitlines()


def show(title, lines):
    tell(title)
    try:
        sys.stderr.write("".join("| %s\n" % l for l in lines))
        sys.stderr.flush()
    except OSError:
        pass


def in_module(report):
    """Does a report of KCSAN name an access by code of a module?"""
    first = True
    for line in report:
        frame = FRAME.search(line)
        if not frame:
            first = True
        elif first and not COPYING.match(frame[1].split(".")[0]):
            first = False
            if frame[2]:
                return True
    return False


def drop_races(lines):
    """Return the log without reports of races in the kernel itself, and the number of reports."""
    rest = []
    dropped = 0
    at = 0
    while at < len(lines):
        end = at + 1
        if RACE.search(lines[at]):
            while end < len(lines) and not RACE_END.search(lines[end]):
                end += 1
            if not in_module(lines[at:end]):
                dropped += 1
                at = end
                continue
        rest += lines[at:end]
        at = end
    return rest, dropped


def drop_group_kills(lines):
    """Return the log without the stacks of kills for want of memory in a control group.

    A test gives a group too little memory on purpose; a kill for want of the machine's memory stays
    a complaint.
    """
    rest = []
    at = 0
    while at < len(lines):
        end = at + 1
        if OOM.search(lines[at]):
            while end < len(lines) and not OOM_END.search(lines[end]):
                end += 1
            report = lines[at:end]
            if end < len(lines) and GROUP_OOM.search(lines[end]):
                # the first stack belongs to this kill; later ones come from other reports
                stack = next((i for i, l in enumerate(report) if "] Call Trace:" in l), None)
                if stack is not None:
                    del report[stack]
            rest += report
        else:
            rest += lines[at:end]
        at = end
    return rest


def drop_kdump(lines):
    """Return the log without panics after which kdump booted another kernel in the guest.

    Only guests that crash on purpose load such a kernel. How much of the panic arrives varies.
    """
    rest = []
    panic = None
    for line in lines:
        if panic is None and "Kernel panic" in line:
            panic = len(rest)
        elif panic is not None and "] Linux version " in line:
            del rest[panic:]
            panic = None
        rest.append(line)
    return rest


def excerpts(lines):
    """Return the parts of a log around complaints: a few lines before, many after."""
    parts = []
    end = -1
    for i, line in enumerate(lines):
        # The command line may contain such words.
        if i < end or not COMPLAINTS.search(line) or "ommand line: " in line:
            continue
        if len(parts) == EXCERPTS:
            parts.append("(and more)")
            break
        end = i + EXCERPT_LINES
        for j in range(i, min(end, len(lines))):
            if "---[ end trace" in lines[j] or "</TASK>" in lines[j]:
                end = j + 1
                break
        if parts:
            parts.append("...")
        parts += lines[max(0, i - 3):end]
    return parts


def judge(guest):
    """Return the exit status of a run that ended without Stop."""
    log, console = lines_of(guest.log), lines_of(guest.console)
    if guest.status is not None:
        log, races = drop_races(drop_group_kills(drop_kdump(log)))
        if races:
            tell("%d data races in the kernel itself ignored" % races)
        bad = excerpts(log)
        if bad:
            show("the kernel complained (the command's exit status: %d):" % guest.status, bad)
            return COMPLAINT
        return guest.status
    # QEMU ended without a status from the guest.
    if not guest.started:
        show("the guest did not come up; the end of its console:", console[-30:])
        if guest.qemu_errors():
            show("QEMU says:", guest.qemu_errors().splitlines())
        return RUNNER
    for i, line in enumerate(console):
        if COMPLAINTS.search(line):
            show("the kernel panicked:", console[max(0, i - 3):][:120])
            return PANIC
    show("the guest went down under the command, with no panic on its console:",
         (excerpts(log) or log[-10:]) + ["(console:)"] + console[-10:])
    if guest.qemu_errors():
        show("QEMU says:", guest.qemu_errors().splitlines())
    return PANIC


def save_log(guest):
    with open(os.path.join(guest.outdir, "dmesg"), "wb") as f:
        f.write(guest.log)
        if guest.status is None:
            f.write(b"--- the guest did not end in order; its console:\n")
            f.write(guest.console.replace(b"\r", b""))


def user_tasks(lines):
    """Return the tasks of SysRq's list that are in a system call, without init."""
    tasks = []
    inside = False
    for line in lines:
        if "] task:" in line:
            tasks.append([])
            inside = True
        if inside:
            tasks[-1].append(line)
        inside = inside and "</TASK>" not in line
    return [line for task in tasks
            if " pid:1 " not in task[0] and any("entry_SYSCALL" in l or "el0_svc" in l for l in task)
            for line in task]


def tell_hang(guest):
    log, console = len(guest.log), len(guest.console)
    bad = excerpts(lines_of(guest.log))
    if bad:
        show("complaints in the kernel log:", bad)
    show("the end of the guest's console:", lines_of(guest.console)[-20:])
    guest.interrogate()
    cpus = [l for l in lines_of(guest.monitor_text) if l.startswith(("CPU#", "RIP=", " PC="))]
    for line in lines_of(guest.console[console:]):
        if "sysrq: Show State" in line:
            break
        if not REGISTERS.search(line):
            cpus.append(line)
    show("its CPUs:", cpus[:120])
    tasks = user_tasks(lines_of(guest.log[log:]))
    show("its processes:" if tasks else "it did not list its processes",
         [l for l in tasks if not REGISTERS.search(l)][:120])


def run(guest):
    try:
        guest.serve()
        guest.end()
        return judge(guest)
    except Stop as stop:
        if stop.reason:
            tell(stop.reason)
        if stop.status == DEADLINE:
            tell_hang(guest)
            if guest.outdir:
                guest.rescue()
                guest.end()
        elif stop.status == RUNNER and not guest.started:
            show("the end of its console:", lines_of(guest.console)[-30:])
        if stop.status in (DEADLINE, RUNNER) and guest.qemu_errors():
            show("QEMU says:", guest.qemu_errors().splitlines())
        return stop.status


def main():
    rundir, deadline, outdir, dashes, *qemu = sys.argv[1:]
    assert dashes == "--"
    guest = None

    def on_signal(number, _):
        raise Stop(128 + number)

    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, on_signal)
    try:
        try:
            guest = Guest(qemu, rundir, float(deadline), outdir)
            signal.signal(signal.SIGALRM, guest.on_alarm)
            status = run(guest)
        except OSError as err:
            tell("cannot run %s: %s" % (qemu[0], err))
            status = RUNNER
        if guest and outdir:
            save_log(guest)
    except Stop as stop:
        status = stop.status
    finally:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)
        if guest and guest.qemu.poll() is None:
            guest.qemu.kill()
            guest.qemu.wait()
        shutil.rmtree(rundir, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
