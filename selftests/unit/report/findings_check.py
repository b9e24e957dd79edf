# SPDX-License-Identifier: GPL-2.0-only
"""
findings_check.py FILE - the findings of "report" follow from its other sections by the limits of
docs/report.md. If this fails, a report blames the wrong thing, or misses a problem.

'tracebuf why', which divides waits in another way, has to find at least as much time for the cause
that a finding names.

report_check.py checks the other sections against the events.  $TRACEBUF is the tool.
"""
import json
import os
import re
import subprocess
import sys

MS = 1000000
tool = os.environ.get("TRACEBUF", "tracebuf")


def output(*words):
    done = subprocess.run([tool, *words, sys.argv[1]], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


said = output("report", "--json", "--top", "0")


def rows(name):
    for section in said["sections"]:
        if section["id"] == name:
            ids = [column["id"] for column in section["columns"]]
            return [dict(zip(ids, row)) for row in section["rows"]]
    return []


def share(part, whole):
    return int(part / whole * 1e6) if whole else 0


def most(list_, value):
    """The three highest."""
    return sorted((value(row), row["tid"]) for row in list_)[::-1][:3]


summary = rows("summary")[0] if rows("summary") else None
if not summary or not summary["events"]:
    assert not rows("findings")
    sys.exit()
span = summary["end"] - summary["begin"]
tasks = rows("tasks")
for t in tasks:
    # times on and off CPUs do not overlap, unless the thread is on several CPUs, in a made-up trace
    whole = sum(t[name] for name in ("cpu", "wait_total", "runnable", "stuck"))
    cut = sum(t[name] for name in ("cut_wait", "cut_stuck", "cut_slept"))
    assert whole > span or whole + cut <= span, \
        "task %d has %d + %d ns of %d" % (t["tid"], whole, cut, span)
expected = []
if summary["lost"]:
    expected.append((None, None, None))
elif summary["known"] and share(summary["known"], span) < 900000:
    expected.append((None, None, None))
median = rows("latency")[0]["p50"] if rows("latency") else None
for wait in rows("latency-worst")[:3]:
    if wait["latency"] < 10 * MS and (wait["latency"] < MS or wait["latency"] // 50 < median):
        break
    expected.append((wait["latency"], wait["tid"], wait["cpu"]))
LIMITS = ((lambda t: t["wait_total"] + t["runnable"] + t["cut_wait"], 50000),
          (lambda t: t["stuck"] + t["cut_stuck"], 100000))
for value, least in LIMITS:
    long = [t for t in tasks if value(t) >= 10 * MS and share(value(t), span) >= least]
    expected += [(ns, tid, None) for ns, tid in most(long, value)]
for block in rows("block"):
    if block["count"] and block["p99"] >= 50 * MS:
        expected.append((block["max"], None, None))
queues = {queue["cpu"]: queue for queue in rows("runqueue")}
for cpu in rows("cpu"):
    tracked = cpu["busy"] / cpu["share"] * 1e6 if cpu["share"] else 0
    queue = queues.get(cpu["cpu"], {"waiting": 0, "known": 0})
    if cpu["share"] and cpu["share"] >= 900000 and queue["waiting"] >= 10 * MS and \
            share(queue["waiting"], queue["known"]) >= 500000:
        expected.append((queue["waiting"], None, cpu["cpu"]))
    for ns in cpu["irq"], cpu["softirq"]:
        if ns and ns >= 10 * MS and tracked and share(ns, tracked) >= 100000:
            expected.append((ns, None, cpu["cpu"]))

found = [(f["ns"], f["tid"], f["cpu"]) for f in rows("findings")]
order = [ns if ns is not None else 1 << 64 for ns, tid, cpu in found]
problems = []
if order != sorted(order, reverse=True):
    problems.append("not the worst first: %s" % found)
if sorted(found, key=str) != sorted(expected, key=str):
    problems.append("found %s\nexpected %s" % (sorted(found, key=str), sorted(expected, key=str)))


def time_of(text):
    """The ns of a time in a finding."""
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def is_called(node, who):
    """Does a finding call the cause of this node @who?"""
    if who.startswith("its CPU was idle"):
        return node["cause"] == ("quota" if "quota" in who else "idle")
    if who.startswith("threads named "):
        return node.get("comm") == who[14:]
    if who in ("interrupts", "softirqs"):
        return node["cause"] in (who[:-1], "request", "timeout")
    if who.startswith("interrupt "):
        return "irq" in node and node["name"] == who[10:]
    if who.startswith("softirq "):
        return "softirq" in node and node["text"].split()[1].rstrip(":") == who[8:]
    return "tid" in node and re.sub(".*-", "", who) == str(node["tid"])


def time_in(node, who):
    """How long the cause @who lasted, among the direct causes of the thread's waits."""
    if is_called(node, who):
        return node["ns"]
    if node["cause"] in ("all", "waits", "blocked", "sleeps", "object", "no work"):
        return sum(time_in(child, who) for child in node["children"])
    return 0


causes = 0
for f in rows("findings"):
    match = re.search(r" For at least (\S+ \S+) of that (it waited until )?"
                      r"(.*?)( had the CPU| woke it)?\.$", f["finding"])
    if not match:
        continue
    parts = [output("why", "--json", "-t", str(f["tid"]))["tree"]]
    if not match[2]:
        parts = [node for node in parts[0]["children"] if node["cause"] == "waits"]
    known = sum(time_in(part, match[3]) for part in parts)
    causes += 1
    if time_of(match[1]) > known:
        problems.append("why knows only %d ns of: %s" % (known, f["finding"]))
print("\n".join(problems) or "%d findings, %d causes" % (len(found), causes))
sys.exit(bool(problems))
