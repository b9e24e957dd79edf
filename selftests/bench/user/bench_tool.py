#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the processor time that the tool takes for a trace of bench_read.

    make -C userspace bench-tool        a trace of 1 GB
    bench_tool.py TRACEBUF TRACE EVENTS

Prints a table: what was done, user and system time in seconds, and millions of EVENTS a second of
user time.
"""
import resource
import subprocess
import sys

FORMATS = ["perfetto", "fxt", "json", "jsonl", "text", "csv"]


def seconds(command):
    """User and system time of @command; its output goes nowhere, messages only if it fails"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def main():
    tool, trace, events = sys.argv[1], sys.argv[2], int(sys.argv[3])

    def ask(sql):
        return [tool, "query", "--csv", trace, sql]

    last = subprocess.run(ask("SELECT max(_time) FROM sched_switch"), check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()[-1]
    begin = int(last) // 2
    part = f"_time BETWEEN {begin} AND {begin + 100000}"
    questions = [
        f"SELECT count(*) FROM sched_switch WHERE {part}",
        f"SELECT count(*), max(_comm) FROM sched_switch WHERE {part}",
        "SELECT count(*) FROM softirq_entry",
        "SELECT count(*) FROM events",
        "SELECT event, count(*) FROM events GROUP BY event",
        "SELECT next_comm, count(*) FROM sched_switch GROUP BY next_comm",
        "SELECT sum(duration) FROM slices",
    ]
    jobs = [(f"export --format {name}", [tool, "export", "--format", name, "-o", "-", trace])
            for name in FORMATS]
    jobs += [(command, [tool, command, trace]) for command in ("print", "report", "why", "verify")]
    jobs += [(sql.replace(part, "_time in 100 us"), ask(sql)) for sql in questions]
    print("| command | user | system | M events/s |\n|---|---|---|---|")
    for name, command in jobs:
        user, system = seconds(command)
        print(f"| `{name}` | {user:.2f} | {system:.2f} | {events / 1e6 / max(user, 0.01):.1f} |",
              flush=True)


main()
