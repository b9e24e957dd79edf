#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""docs.py - puts the figures of scripts/bench into the pages that show them.

    docs.py --docs       write them into README.md and docs/*.md
    docs.py --check      name pages with figures that differ from out/bench; change nothing
    docs.py --budgets    write the numbers of instructions into budgets.txt

A page has two kinds of places for figures:

    <!-- figures: NAME -->     the lines up to the next "<!-- end of figures -->" are the table NAME
                               of this program (TABLES), or for "suite SUITE" out/bench/SUITE.md
    9.5<!-- native; tracebuf; simple event -->
                               a figure of out/bench/bench.json, with as many decimals as it has now

The program leaves a figure without a measurement as it is, and names it.
"""
import glob
import json
import os
import re
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(TREE, "out", "bench")
BUDGETS = os.path.join(TREE, "selftests", "bench", "budgets.txt")
ALONE = ", one at a time"
STILL = ", without a clock"
POINTS = ("sched_switch", "softirq_raise", "sys_enter")


class Missing(Exception):
    pass


class Figures:
    def __init__(self):
        with open(os.path.join(RESULTS, "bench.json"), encoding="utf-8") as file:
            self.values = {(row["suite"], row["who"], row["case"]): float(row["value"]) for row in json.load(file)}

    def __call__(self, suite, who, case):
        try:
            return self.values[suite, who, case]
        except KeyError:
            raise Missing(f"{suite}; {who}; {case}") from None


def table(head, rows, text=False):
    lines = [head, ["---"] + ["---" if text else "---:"] * (len(head) - 1), *rows]
    return ["|" + "|".join(f" {cell} " if cell and n != 1 else cell or " " for cell in line) + "|"
            for n, line in enumerate(lines)]


def short(f):
    def row(name, who, case, *suites):
        cells = [name]
        for suite, shown, tail in (("native", "%.1f", ""), ("native", "%.1f", ALONE), ("icount", "%.0f", "")):
            cells.append(shown % f(suite, who, case + tail) if suite + tail in suites else "")
        return cells

    both, own = ("native", "native" + ALONE), ("icount",)
    return table(("", "back to back, ns", "one at a time, ns", "instructions"), (
        row("clock read", "machine", "clock read", *both, *own),
        row("**tracebuf, simple event**", "tracebuf", "simple event", *both, *own),
        row("tracebuf, simple event of another module, `tracebuf_simple()`", "tracebuf", "tracebuf_simple()", *own),
        row("tracebuf, simple event, through a tracepoint", "tracebuf", "simple event, through a tracepoint", *both,
            *own),
        row("tracebuf, composite of 4 elements", "tracebuf", "composite of 4 elements", *both, *own),
        row("relay, with a clock and interrupts off", "relay", "clock and 16 bytes, interrupts off", *both, *own),
        row("ftrace ring buffer, same clock", "ftrace", "ring buffer, 16 bytes", *both, *own),
        row("ftrace `TRACE_EVENT`", "ftrace", "TRACE_EVENT of 8 bytes, its own clock", *both, *own)))


def events(f):
    names = ("tracebuf", "tracebuf, wide form", "ftrace", "ftrace, noting names", "LTTng, discard", "LTTng, overwrite",
             "perf")
    return table(("from the tracepoint to its return", *(f"`{point}`" for point in POINTS)),
                 [[name, *("%.0f" % f("icount", name, point) for point in POINTS)] for name in names])


def system(f):
    loads = (("getppid", "loop of `getppid()`"), ("pingpong", "two processes, a byte through pipes"),
             ("messaging", "as hackbench"))
    names = [who for suite, who, case in f.values if (suite, case) == ("system", "getppid") and who != "nobody"]
    if not names:
        raise Missing("suite system")
    rows = []
    for who in names:
        lost = sum(f("system", who, load + ": lost") for load, _ in loads)
        count = lost + sum(f("system", who, load + ": events") for load, _ in loads)
        rows.append([who, *("%.2f" % f("system", who, load) for load, _ in loads),
                     "%.1f %%" % (100 * lost / count) if lost else "0"])
    return table(("", *(name for _, name in loads), "events lost"), rows)


def recorders(f):
    names = (("tracebuf", "**tracebuf**"),
             ("tracebuf-buffered", "tracebuf, through the page cache"),
             ("tracebuf-zstd", "tracebuf, zstd at level 1"), ("trace-cmd", "trace-cmd"),
             ("lttng-consumerd", "LTTng's consumer daemon"))
    rows = []
    for who, name in names:
        best = "%.2f" % f("reader", who, "offered, none lost")
        lost = f("reader", who, "lost")
        if lost:
            best += "; as fast as events come %.0f %% are lost" % lost
        rows.append([name, "%.0f" % f("reader", who, "instructions an event"),
                     "%.0f" % f("reader", who, "instructions an event with the kernel's threads"), best])
    return table(("", "instructions an event", "with the kernel's threads",
                  "million events in 10^9 instructions"), rows)


def unrecorded(f):
    cases = (("an event that is disabled: the tracepoint's nop", "disabled event, tested in memory"),
             ("`tracebuf_simple()` while nothing is recorded", "tracebuf_simple(), not recording"),
             ("`tracebuf_simple()` with an id that is not a module's", "tracebuf_simple(), not an id for modules"),
             ("`tracebuf_simple()` into a full ring that drops: looks for a buffer, counts",
              "tracebuf_simple(), ring full, dropped"))
    return table(("", "instructions"), [[name, "%.0f" % f("icount", "tracebuf", case)] for name, case in cases])


def rules(f):
    def row(name, who, peer=None, points=POINTS):
        cells = ["%.0f" % f("icount", who, point) for point in points]
        return [name, *cells, *([""] * (3 - len(cells))), "%.0f" % f("icount", peer, POINTS[0]) if peer else ""]

    return table(("", *(f"`{point}`" for point in POINTS), "ftrace, `sched_switch`"), (
        row("recorded, without a rule", "tracebuf", "ftrace"),
        row("rejected by a filter of one comparison", "tracebuf, a filter rejects", "ftrace, a filter rejects"),
        row("rejected by a longer one: `sched_switch` by two patterns of text", "tracebuf, a longer filter rejects"),
        row("not the sample (`1/N`)", "tracebuf, not the sample"),
        row("of another thread", "tracebuf, another thread is wanted"),
        row("a filter lets it pass", "tracebuf, a filter lets pass", "ftrace, a filter lets pass"),
        row("with the kernel's stack", "tracebuf, with stacks")))


def writers(f):
    cases = (("clock read", "machine", "clock read"),
             ("**tracebuf, simple event of 8 bytes**", "tracebuf", "simple event of 8 bytes"),
             ("tracebuf, composite of 48 bytes", "tracebuf", "composite of 48 bytes"),
             ("tracebuf, category that no provider records", "tracebuf", "category off"),
             ("LTTng-UST, tracepoint of 8 bytes", "lttng-ust", "tracepoint of 8 bytes"),
             ("LTTng-UST, tracepoint of 48 bytes", "lttng-ust", "tracepoint of 48 bytes"),
             ("a log in memory: the clock and 16 bytes", "log", "clock and 16 bytes"))
    return table(("", "back to back", "one at a time"),
                 [[name, *("%.1f" % f("writers", who, case + tail) for tail in ("", ALONE))]
                  for name, who, case in cases])


def marker(f):
    def row(name, case, ratio=True):
        cost = f("marker", "tracebuf", case)
        return [name, "%.0f" % cost, "%.1f" % (f("marker", "ftrace", "trace_marker, 8 bytes") / cost) if ratio else ""]

    def theirs(name):
        return [f"{name}, 8 bytes; 48 bytes",
                "; ".join("%.0f" % f("marker", "ftrace", f"{name}, {n} bytes") for n in (8, 48)), ""]

    return table(("", "instructions", "trace_marker / this"), (
        row("**tracebuf, simple event of 8 bytes**", "simple event of 8 bytes"),
        row("tracebuf, composite of 48 bytes", "composite of 48 bytes"),
        row("tracebuf, mark: a text of 8 bytes", "mark, a text of 8 bytes"),
        row("tracebuf, category that no provider records", "category off", False),
        theirs("trace_marker"), theirs("trace_marker_raw")))


def history(f):
    names = (("tracebuf", "**tracebuf**"), ("tracebuf, wide forms", "tracebuf, wide forms"),
             ("tracebuf, --history", "**tracebuf, packed** (`start --history`, `record --compress`)"),
             ("trace-cmd", "trace-cmd"), ("trace-cmd, zstd", "trace-cmd, zstd"), ("LTTng", "LTTng"),
             ("perf", "perf"), ("perf, zstd", "perf, zstd"))
    rows = []
    for who, name in names:
        cells = [name]
        for case, form in (("in memory: an event", "%.1f"), ("in memory: a MiB", "%.2f"), ("in a file: an event", "%.1f")):
            source = "tracebuf, --compress" if (who, case) == ("tracebuf, --history", "in a file: an event") else who
            shown = ("history", source, case) in f.values
            cells.append(form % f("history", source, case) if shown else "")
        rows.append(cells)
    f("history", "tracebuf", "in memory: an event")
    return table(("", "bytes an event in memory", "seconds in 1 MiB of memory", "bytes an event in a file"), rows)


def verdict(parts):
    """parts: (name, figure, format, "<=" or ">=", limit). Return a text, and "met" or "missed"."""
    shown = ", ".join((form % value + " " + name).strip() for name, value, form, _, _ in parts)
    missed = []
    for name, value, _, kind, limit in parts:
        over = limit / value - 1 if kind == ">=" else value / limit - 1
        if over > 0:
            missed.append(f"by {max(1, round(100 * over))} % {name}".strip())
    return shown, "missed " + ", ".join(missed) if missed else "met"


def budgets(f):
    def native(case, kind, limit, ways=("", ALONE)):
        names = {"": "back to back", ALONE: "one at a time", STILL: "without the clock"}
        return [(names[way], f("native", "tracebuf", case[0] + way + case[1]), "%.2f", kind, limit) for way in ways]

    def system_(load, limit):
        return [("in the wide forms", f("system", "tracebuf, wide forms", load), "%.2f", "<=", limit),
                ("in the compact forms", f("system", "tracebuf", load), "%.2f", "<=", limit)]

    asm = [f("asm", "tracebuf", f"tracebuf_simple(), 6.12: {what}") for what in ("locked", "calls", "divisions")]
    rows = (
        ("simple event <= 1.35 x clock read", *verdict(native(("simple event", ": x clock read"), "<=", 1.35))),
        ("simple event >= 3 x cheaper than the ftrace ring buffer",
         *verdict(native(("simple event", ": ftrace / this"), ">=", 3, ("", ALONE, STILL)) +
                  [("in instructions", f("icount", "tracebuf", "simple event: ftrace / this"), "%.1f", ">=", 3)])),
        ("simple event through the exported call <= 90 instructions",
         *verdict([("", f("icount", "tracebuf", "tracebuf_simple()"), "%.0f", "<=", 90)])),
        ("whole wide `sched_switch` <= 150 instructions",
         *verdict([("", f("icount", "tracebuf, wide form", "sched_switch"), "%.1f", "<=", 150)])),
        ("`getppid()` loop with system call events <= 2.0 x untraced", *verdict(system_("getppid", 2))),
        ("as hackbench, with sched and system call events <= 1.2 x", *verdict(system_("messaging", 1.2))),
        ("buffer switch <= 1 us, also when it overwrites",
         *verdict([("ns", f("native", "tracebuf", "switch to a free buffer"), "%.0f", "<=", 1000),
                   ("ns overwriting", f("native", "tracebuf", "switch, overwriting"), "%.0f", "<=", 1000)])),
        ("no locked instruction, no call, no division on the hot path",
         "%d, %d and %d" % tuple(asm) + " in %d instructions" % f("asm", "tracebuf", "tracebuf_simple(), 6.12: all"),
         "missed" if any(asm) else "met"),
        ("one cache line of ring state touched, plus the element", "two: the ring's and the buffer's",
         "missed by one line"))
    return table(("budget", "measured", ""), rows, text=True)


def writer_budgets(f):
    def ratios(case, what, form, kind, limit):
        return [(name, f("writers", "tracebuf", f"{case}{way}: {what}"), form, kind, limit)
                for name, way in (("back to back", ""), ("one at a time", ALONE))]

    rows = [("event of a program <= 1.5 x clock read, " + name, *verdict(ratios(case, "x clock read", "%.2f", "<=", 1.5)))
            for name, case in (("simple", "simple event of 8 bytes"), ("48 bytes", "composite of 48 bytes"))]
    # the table of this suite compares each event with a tracepoint of 8 bytes
    rows.append((">= 4 x cheaper than LTTng-UST, simple",
                 *verdict(ratios("simple event of 8 bytes", "LTTng-UST / this", "%.2f", ">=", 4))))
    rows.append((">= 4 x cheaper than LTTng-UST, 48 bytes", *verdict(
        [(name, f("writers", "lttng-ust", "tracepoint of 48 bytes" + way) /
          f("writers", "tracebuf", "composite of 48 bytes" + way), "%.2f", ">=", 4)
         for name, way in (("back to back", ""), ("one at a time", ALONE))])))
    return table(("budget", "measured", ""), rows, text=True)


def hot_path(f):
    """The code that suite asm printed for the newest stock kernel."""
    try:
        with open(os.path.join(RESULTS, "asm.md"), encoding="utf-8") as file:
            parts = file.read().rstrip("\n").split("\n## ")[1:]
    except FileNotFoundError:
        raise Missing("suite asm") from None
    release, _, counts, _, *code = parts[-1].split("\n")
    return [f"`tracebuf_simple()` in the module for {release}. {counts}", "", "```",
            *(line[1:] for line in code), "```"]


TABLES = {"short": short, "events": events, "system": system, "recorders": recorders, "unrecorded": unrecorded,
          "rules": rules, "history": history, "writers": writers, "marker": marker, "budgets": budgets, "writer budgets": writer_budgets,
          "hot path": hot_path}


def whole_suite(name):
    """The output of scripts/bench without its title, with headings one level lower."""
    try:
        with open(os.path.join(RESULTS, name + ".md"), encoding="utf-8") as file:
            lines = file.read().rstrip("\n").split("\n")[2:]
    except FileNotFoundError:
        raise Missing(f"suite {name}") from None
    return [re.sub(r"^## ", "### ", line) for line in lines]


def replaced(text, figures, missing):
    def block(match):
        name = match.group(2)
        try:
            lines = whole_suite(name[6:]) if name.startswith("suite ") else TABLES[name](figures)
        except Missing as what:
            missing.append(str(what))
            return match.group(0)
        return match.group(1) + "\n\n" + "\n".join(lines) + "\n\n" + match.group(4)

    def figure(match):
        try:
            value = figures(*match.group(3).split("; "))
        except (Missing, TypeError):
            missing.append(match.group(3))
            return match.group(0)
        return "%.*f%s" % (len(match.group(2) or ".") - 1, value, match.group(0)[len(match.group(1)):])

    text = re.sub(r"(<!-- figures: ([\w ]+) -->)\n(.*?)(<!-- end of figures -->)", block, text, flags=re.S)
    return re.sub(r"(\d+(\.\d+)?)<!-- (\w+; [^;>]+; [^;>]+) -->", figure, text)


def docs(check):
    figures, missing, stale = Figures(), [], 0
    for path in [os.path.join(TREE, "README.md"), *sorted(glob.glob(os.path.join(TREE, "docs", "*.md")))]:
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = replaced(old, figures, missing)
        if new == old:
            continue
        stale += 1
        print(os.path.relpath(path, TREE) + (": other figures" if check else ": written"))
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    for what in missing:
        print(f"not measured: {what}", file=sys.stderr)
    return 1 if missing or (check and stale) else 0


def set_budgets():
    figures = Figures()
    with open(BUDGETS, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for n, line in enumerate(lines):
        fields = line.split("|")
        if len(fields) == 5 and fields[3] == "=":
            try:
                lines[n] = "|".join(fields[:4] + ["%.1f" % figures(*fields[:3])])
            except Missing as what:
                print(f"not measured: {what}", file=sys.stderr)
    with open(BUDGETS, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return 0


if sys.argv[1:] == ["--docs"]:
    sys.exit(docs(False))
if sys.argv[1:] == ["--check"]:
    sys.exit(docs(True))
if sys.argv[1:] == ["--budgets"]:
    sys.exit(set_budgets())
print(__doc__, file=sys.stderr)
sys.exit(2)
