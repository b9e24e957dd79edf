#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
ftrace_compare.py CPUS FTRACE OURS REDUCED [preemptible]

Compares what ftrace and tracebuf recorded at the same time: the same events, in the same order?
Of each of CPUS (words in one argument), FTRACE.N is what tracefs shows (per_cpu/cpuN/trace); OURS
is the output of "tracebuf print" of all CPUs. The events between the marks (signals numbered 1
and 2) are compared one by one: the thread, whether in an interrupt, how deep preemption was off,
and the text. The text of events in REDUCED, which lack fields or are shown by their fields, is not
compared.

A tracepoint calls one after the other. The events of an interrupt in between stand before the
tracepoint's event in one trace, and behind it in the other. So if two
events are out of order, one is of an interrupt and the other of the code that it interrupted. With
"preemptible", another thread may also come in between, and so may the scheduler, which disables
preemption.

A value that other CPUs change (a reference count) may differ between the two: one word of the text
may differ in one of RARE events of a kind.

Prints as its last line: "N events SYSTEM=n..., M out of order, L read another time (LIVE below), R
rarely, times differ by up to T us".
"""
import re
import sys

FTRACE = re.compile(r" *(.*)-(\d+) +\[(\d+)\] (\S+) +(\d+)\.(\d+): (\w+): ?(.*)$")
OURS = re.compile(r" *(.*)-(\d+) \[(\d+)\] (..) (\d+)\.(\d+): (\w+):(\w+): (.*)$")
MARK = re.compile(r"sig=34 errno=([12]) ")
# "tracebuf print" adds names to the numbers of signals and their codes
SIGNAL_NAME = re.compile(r"^(sig=-?\d+)(?: \([A-Z0-9+]+\))?( errno=-?\d+ code=-?\d+)(?: \(\w+\))? ")
# how many levels of interrupts may interrupt one another; b: softirqs disabled, no interrupt
DEPTH = {".": 0, "b": 0, "s": 1, "h": 2, "H": 2, "Z": 3, "z": 3}
# An event is missing if so many others come before it. Those of deeper interrupts do not count,
# because any number of them may come in between. As many events before and after the marks may be
# on either side of them.
AHEAD = 4000
# Our compact events have no names: a thread has its new name from the tracepoint task_rename on.
# The kernel changes it right after that; an interrupt in between still has the old one.
RENAME = re.compile(r"pid=(\d+) oldcomm=(.*) newcomm=(.*) oom_score_adj=")
RENAME_NS = 10**6
RARE = 50
# By event, the part of the text that is not compared; the last line says how often it differs. A
# value that a probe does not get as an argument, such as jiffies, may have changed between the two.
# Other values are not in the trace at all.
FPU = re.compile(r"(?<=xfeatures: ).*")
LIVE = {
    # a thread on another CPU may have waited for a dead one in between
    "sched_switch": re.compile(r"(?<=prev_state=)[ZX]\b"),
    "timer_start": re.compile(r"(?<=timeout=)-?\d+"),
    "timer_expire_entry": re.compile(r"(?<=now=)\d+"),
    # without a gateway, whatever was in memory
    "fib_table_lookup": re.compile(r"(?<=gw )\S+"),
    # the print format contains the time of printing
    "writeback_sb_inodes_requeue": re.compile(r"(?<=age=)\d+"),
    "writeback_single_inode_start": re.compile(r"(?<=age=)\d+"),
    "writeback_single_inode": re.compile(r"(?<=age=)\d+"),
    # a hash of an address: the kernel does not export its own, so ours differs
    "rss_stat": re.compile(r"(?<=mm_id=)\d+"),
    # not set without OSXSAVE, which guests lack: whatever was in memory
    "x86_fpu_before_save": FPU,
    "x86_fpu_after_save": FPU,
    "x86_fpu_before_restore": FPU,
    "x86_fpu_after_restore": FPU,
    "x86_fpu_regs_activated": FPU,
    "x86_fpu_regs_deactivated": FPU,
    "x86_fpu_init_state": FPU,
    "x86_fpu_dropped": FPU,
    "x86_fpu_copy_src": FPU,
    "x86_fpu_copy_dst": FPU,
    "x86_fpu_xstate_check_failed": FPU,
    # not set for a protocol without it: whatever was in memory
    "neigh_create": re.compile(r"(?<=primary_key6 )\S+"),
    # an init function of a module: its memory may be reused before the address is looked up
    "initcall_start": re.compile(r"(?<=func=)\S+"),
    "initcall_finish": re.compile(r"(?<=func=)\S+"),
    # a pointer to text that is not in the trace; the ipi events are arm64's
    "rcu_utilization": re.compile(r".+"),
    "ipi_raise": re.compile(r"(?<= \().+(?=\))"),
    "ipi_entry": re.compile(r"(?<=\().+(?=\))"),
    "ipi_exit": re.compile(r"(?<=\().+(?=\))"),
    "wbt_step": re.compile(r"(?<=\d: ).*(?=: step)"),
}
# our sys_enter reads paths before it has space in the ring, so a fault then is recorded before it
OWN_FAULT = "ip=strncpy_from_user"
HIDDEN = re.compile(r"\b[0-9a-f]{16}\b")


class Event:
    __slots__ = "name", "text", "tid", "depth", "off", "ns", "system", "used"

    def __init__(self, name, text, tid, depth, off, ns, system):
        self.name, self.text, self.tid, self.off = name, text, tid, off
        self.depth, self.ns, self.system = depth, ns, system
        self.used = False

    def __str__(self):
        return "%d.%06d %s%s-%s %s: %s" % (self.ns // 10**9, self.ns % 10**9 // 1000, "-sh!"[self.depth],
                                           self.off, self.tid, self.name, self.text)


def escape(text):
    return re.sub(r"[^ -~]", lambda m: "\\x%02x" % ord(m.group()), text)


def read_ftrace(name):
    events = []
    for line in open(name, encoding="latin-1", newline="\n"):
        line = line.rstrip("\n")
        match = FTRACE.match(line)
        if match:
            _, tid, _, flags, s, us, event, text = match.groups()
            events.append(Event(event, escape(text), tid, DEPTH[flags[2]], flags[3],
                                int(s) * 10**9 + int(us) * 1000, None))
        elif line.startswith("#"):
            continue
        elif "LOST" in line:
            sys.exit("ftrace has lost events: " + line)
        elif events and line:
            # a text of several lines
            events[-1].text += "\\x0a" + escape(line)
    return events


def read_ours(name):
    """Returns events by CPU."""
    events = {}
    for line in open(name, encoding="latin-1", newline="\n"):
        match = OURS.match(line)
        if match:
            _, tid, on, context, s, ns, system, event, text = match.groups()
            ns = int(s) * 10**9 + int(ns)
            if system == "signal":
                text = SIGNAL_NAME.sub(r"\1\2 ", text)
            if system != "tracebuf":
                events.setdefault(int(on), []).append(
                    Event(event, text, tid, DEPTH[context[0]], context[1], ns, system))
            rename = event == "task_rename" and RENAME.match(text)
            if rename:
                renames.setdefault(rename[1], []).append((ns, rename[2], rename[3]))
        elif "LOST" in line:
            sys.exit("events have been lost: " + line)
    return events


def marks(events, whose):
    at = {}
    for i, event in enumerate(events):
        match = event.name == "signal_generate" and MARK.match(event.text)
        if match:
            at[match.group(1)] = i
    if len(at) != 2:
        sys.exit("%s: no marks among %d events" % (whose, len(events)))
    return at["1"], at["2"]


def plain(text):
    """Removes what the kernel and tracebuf write differently."""
    # only tracebuf names system calls and errors; only ftrace shows functions with size and module
    text = re.sub(r"^NR (-?\d+) \w+ ", r"NR \1 ", text)
    text = re.sub(r"^(NR .* = -\d+) \(E\w+\)$", r"\1", text)
    # tracebuf names arguments, and shows no more than the call has; test_calls compares those
    text = re.sub(r"^(NR -?\d+) \(.*\)$", r"\1", text)
    # a call that returns an address
    text = re.sub(r"^(NR -?\d+ = )0x([0-9a-f]+)$", lambda m: m[1] + str(int(m[2], 16)), text)
    text = re.sub(r"(\+0x[0-9a-f]+)/0x[0-9a-f]+", r"\1", text)
    text = re.sub(r" \[\w+\]", "", text)
    # %#x of 0
    text = re.sub(r"\b0x0\b", "0", text)
    return text.rstrip()


pointers = {}


def same_text(system, event, kernel, ours):
    """Says whether the texts are the same.

    The kernel shows a pointer as a number that is always the same for it. Each subsystem has its
    own numbers, because kmem computes the address of a page from what print formats cannot know.
    """
    kernel, ours = plain(kernel), plain(ours)
    if kernel == ours:
        return True
    if event in LIVE:
        kernel, ours = LIVE[event].sub("*", kernel), LIVE[event].sub("*", ours)
        if kernel == ours:
            return True
    hidden = HIDDEN.findall(kernel)
    pattern = r"(0x[0-9a-f]+|\(nil\)|[0-9a-f]{16})".join(re.escape(t) for t in HIDDEN.split(kernel))
    match = hidden and re.fullmatch(pattern, ours)
    return bool(match) and all(have == want or (have[0] in "0(" and
                                                pointers.setdefault((system, want), have) == have)
                               for want, have in zip(hidden, match.groups()))


def same_place(a, b):
    return a.name == b.name and a.tid == b.tid and a.depth == b.depth and a.off == b.off


renames = {}


def in_rename(a, b):
    """Says whether the texts are the same except for a name that is just being changed: the kernel
    copies the new one over the old one byte by byte."""
    return a.depth > 0 and any(abs(b.ns - ns) < RENAME_NS and
                               any(a.text.replace(f"comm={new[:k]}{old[k:]}", "comm=" + new) ==
                                   b.text for k in range(len(new) + 1))
                               for ns, old, new in renames.get(b.tid, ()))


def same(a, b, reduced):
    return same_place(a, b) and \
        (a.text == b.text or "%s:%s" % (b.system, b.name) in reduced or
         same_text(b.system, a.name, a.text, b.text) or in_rename(a, b))


def but_for_one(a, b):
    """Says whether they are the same except for one word or number of the text."""
    words, others = (re.findall(r"\w+|\W+", plain(e.text)) for e in (a, b))
    return same_place(a, b) and len(words) == len(others) and sum(v != w for v, w in zip(words, others)) == 1


def find(want, ours, at, fits, preemptible):
    """Finds the event in OURS, from AT on, that fits.

    Returns it, or None; whether others are before it; and those of them that may not be there.
    """
    passed, late = [], False
    for i in range(at, len(ours)):
        have = ours[i]
        if have.used:
            continue
        if fits(want, have):
            return have, late, [
                e for e in passed if e.depth == want.depth and
                not (e.name == "page_fault_kernel" and OWN_FAULT in e.text) and
                not (preemptible and want.off == "." and (e.tid != want.tid or e.off != "."))]
        late = True
        # deeper interrupts may have any number of events: a softirq frees what RCU has kept
        if have.depth <= want.depth:
            passed.append(have)
        if len(passed) == AHEAD:
            break
    return None, False, []


def compare(theirs, ours, reduced, preemptible):
    first, last = marks(theirs, "ftrace")
    begin, end = marks(ours, "tracebuf")
    # an interrupt at the mark may be on the other side of it in the other trace
    at, swapped, live, late = max(0, begin - AHEAD), 0, 0, 0
    systems, exact, rare = {}, {}, {}
    for i in range(first, last + 1):
        want = theirs[i]
        while at < len(ours) and (ours[at].used or (at < begin and not same(want, ours[at], reduced))):
            at += 1
        have, late_one, wrong = find(want, ours, at, lambda a, b: same(a, b, reduced), preemptible)
        if have and not wrong:
            exact[want.name] = exact.get(want.name, 0) + 1
        else:
            other, late_one, before = find(want, ours, at, but_for_one, preemptible)
            if not other or before:
                print("ftrace has", want, "; we have:", *ours[at:at + 5], sep="\n  ")
                print("before it:", *theirs[max(0, i - 3):i], sep="\n  ")
                if wrong:
                    print("and further on, behind events of the same thread:", have, sep="\n  ")
                return 1
            have = other
            rare.setdefault(want.name, []).append((want, have))
        swapped += late_one
        live += want.name in LIVE and \
            LIVE[want.name].findall(want.text) != LIVE[want.name].findall(have.text)
        have.used = True
        late = max(late, abs(have.ns - want.ns))
        if i not in (first, last):
            systems[have.system] = systems.get(have.system, 0) + 1
    more = [e for e in ours[begin:end + 1] if not e.used and
            # not one of an interrupt at a mark, which ftrace has on the other side of it
            not any(same(t, e, reduced) for t in theirs[max(0, first - AHEAD):first] + theirs[last + 1:last + AHEAD])]
    often = [pair for name, pairs in rare.items() if len(pairs) * RARE > exact.get(name, 0) for pair in pairs]
    if often:
        print("too often not the same: ftrace has, and we have",
              *[e for pair in often[:3] for e in pair], sep="\n  ")
        return 1
    if more:
        print(len(more), "events are not in ftrace:", *more[:5], sep="\n  ")
        return 1
    print("%d events %s, %d out of order, %d read another time, %d rarely, times differ by up to %d us" %
          (sum(systems.values()), " ".join("%s=%d" % s for s in sorted(systems.items())), swapped, live,
           sum(len(pairs) for pairs in rare.values()), late // 1000))
    return 0


def main():
    reduced, preemptible = set(), sys.argv[5:] == ["preemptible"]
    for line in open(sys.argv[4]):
        words = line.split("#")[0].split()
        # fields that only the module has are not in the text
        if len(words) == 1 or any(word[0] != "+" for word in words[1:]):
            reduced |= set(words[:1])
    ours = read_ours(sys.argv[3])
    for cpu in sys.argv[1].split():
        # the numbers for pointers are the same only within one CPU
        pointers.clear()
        if compare(read_ftrace("%s.%s" % (sys.argv[2], cpu)), ours.get(int(cpu), []), reduced,
                   preemptible):
            print("that was on CPU", cpu)
            return 1
    return 0


sys.exit(main())
