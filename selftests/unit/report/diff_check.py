#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Checks what diff says of two traces against the reports of both.

    tracebuf report --json A >a; tracebuf report --json B >b; tracebuf diff --json A B >d
    diff_check.py a b d [--same]

--same: A and B are the same trace, so nothing may differ.
"""
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    sections = {}
    for section in report["sections"]:
        ids = [column["id"] for column in section["columns"]]
        sections[section["id"]] = [dict(zip(ids, row)) for row in section["rows"]]
    return sections


# section: the report's section, a row's name, and its columns of count, time and maximum
KINDS = {
    "tasks": ("tasks", lambda r: r["comm"], "runs", "cpu", None, "cpu"),
    "latency": ("tasks", lambda r: r["comm"], "wakeups", "wait_total", "wait_max", "wakeups"),
    "syscalls": ("syscalls", lambda r: r["name"], "count", "total", "max", "count"),
    "irq": ("irq", lambda r: r["name"], "count", "total", "max", "count"),
    "softirq": ("softirq", lambda r: r["name"], "count", "total", "max", "count"),
    "block": ("block", lambda r: r["device"] + " " + r["op"][0].upper(), "count", "total", "max",
              "count"),
}


def gather(sections, kind):
    where, name, count, total, most, there = KINDS[kind]
    found = {}
    for row in sections[where]:
        if not row[there]:
            continue
        key = name(row)
        if key == "?":
            key = f"number {row['number']}"
        one = found.setdefault(key, [0, 0, 0, 0, 0])
        one[0] += row[count]
        one[1] += row[total]
        one[2] = max(one[2], row[most] if most else 0)
        one[3] += row.get("share") or 0
        one[4] += 1
    return found


def over(part, whole):
    """Integer division as in C: towards zero."""
    return abs(part) // whole * (1 if part >= 0 else -1)


def main(a, b, d, *flags):
    one, other, diff = load(a), load(b), load(d)
    covered = [row["covered"] for row in diff["summary"]]
    wrong = rows = 0
    for sections, row in zip((one, other), diff["summary"]):
        summary = sections["summary"][0]
        if row["known"] != summary["known"] or row["covered"] > summary["span"]:
            print(f"summary: {row} of a trace of {summary}")
            wrong += 1
    for kind in KINDS:
        sides = [gather(one, kind), gather(other, kind)]
        have = diff[kind]
        if not have:
            continue
        names = set(sides[0]) | set(sides[1])
        if {row["name"] for row in have} != names:
            print(f"{kind}: has {sorted(row['name'] for row in have)}, not {sorted(names)}")
            wrong += 1
            continue
        changes = [abs(row["change"]) for row in have]
        wrong += changes != sorted(changes, reverse=True)
        for row in have:
            values = [side.get(row["name"], [0, 0, 0, 0, 0]) for side in sides]
            rates = [v[1] * 10 ** 9 // t if t else 0 for v, t in zip(values, covered)]
            if kind == "tasks":
                # the report has shares in ppm, each rounded down
                for rate, v in zip((row["a"], row["b"]), values):
                    if not 0 <= rate - v[3] * 1000 <= v[4] * 1000:
                        print(f"{row['name']}: takes {rate} ns of each second, not {v[3]} ppm")
                        wrong += 1
                rates = [row["a"], row["b"]]
            means = [v[1] // v[0] if v[0] else None for v in values]
            both = None not in means
            want = {
                "a": rates[0], "b": rates[1], "change": rates[1] - rates[0],
                "relative": over((rates[1] - rates[0]) * 10 ** 6, rates[0]) if rates[0] else None,
                "a_mean": means[0], "b_mean": means[1],
                "mean_change": means[1] - means[0] if both else None,
                "mean_relative": over((means[1] - means[0]) * 10 ** 6, means[0])
                                 if both and means[0] else None,
                "a_count": values[0][0], "b_count": values[1][0],
                "a_max": values[0][2], "b_max": values[1][2],
            }
            rows += 1
            for column, value in want.items():
                if row[column] != value:
                    print(f"{kind}, {row['name']}: {column} is {row[column]}, not {value}")
                    wrong += 1
            if "--same" in flags and (row["change"] or row["relative"] or row["mean_change"]):
                print(f"{kind}, {row['name']}: has changed")
                wrong += 1
    print(f"# {rows} rows compared, {wrong} differ")
    return wrong > 0 or not rows


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
