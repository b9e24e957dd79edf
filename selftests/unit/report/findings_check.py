# SPDX-License-Identifier: GPL-2.0-only
"""
findings_check.py FILE - the findings of "report" follow from its other sections by the limits of
docs/report.md. If this fails, a report blames the wrong thing, or misses a problem.

report_check.py checks the other sections against the events.  $TRACEBUF is the tool.
"""
import json
import os
import subprocess
import sys

MS = 1000000
tool = os.environ.get("TRACEBUF", "tracebuf")
said = json.loads(subprocess.run([tool, "report", "--json", "--top", "0", sys.argv[1]],
                                 stdout=subprocess.PIPE, check=False).stdout)


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
LIMITS = (lambda t: t["wait_total"] + t["runnable"], 50000), (lambda t: t["blocked"], 100000)
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
        if ns >= 10 * MS and tracked and share(ns, tracked) >= 100000:
            expected.append((ns, None, cpu["cpu"]))

found = [(f["ns"], f["tid"], f["cpu"]) for f in rows("findings")]
order = [ns if ns is not None else 1 << 64 for ns, tid, cpu in found]
problems = []
if order != sorted(order, reverse=True):
    problems.append("not the worst first: %s" % found)
if sorted(found, key=str) != sorted(expected, key=str):
    problems.append("found %s\nexpected %s" % (sorted(found, key=str), sorted(expected, key=str)))
print("\n".join(problems) or "%d findings" % len(found))
sys.exit(bool(problems))
