#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
diff_findings_check.py DIFF.json [--same] - the findings of "diff" follow from its tables by the
limits of docs/report.md. If this fails, diff calls noise a change, or misses a change.

diff_check.py checks the tables against reports.  --same: there may be no finding except about
missing events.
"""
import json
import re
import sys

MS = 10 ** 6
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
sections, titles = {}, {}
with open(sys.argv[1], encoding="utf-8") as file:
    said = json.load(file)
for section in said["sections"]:
    ids = [column["id"] for column in section["columns"]]
    sections[section["id"]] = [dict(zip(ids, row)) for row in section["rows"]]
    titles[section["id"]] = section
if "findings" not in sections:
    sys.exit()
assert said["sections"][0]["id"] == "findings"


def more(a, b, tenths):
    return a * 10 >= b * tenths or b * 10 >= a * tenths


def changed(name, row):
    """The size of the change, or None."""
    if row["change"] is None:
        return None
    rate = abs(row["change"])
    if name in ("irq", "softirq") and len(chosen) == 1:
        return None
    if name in ("tasks", "irq", "softirq"):
        least, tenths = (50 * MS, 15) if name == "tasks" else (20 * MS, 20)
        return rate if rate >= least and more(row["a"], row["b"], tenths) else None
    if name == "latency":
        differs = abs(row["a_max"] - row["b_max"])
        there = row["a_count"] and row["b_count"]
        return differs if there and differs >= 10 * MS and more(row["a_max"], row["b_max"], 40) \
            else None
    there = row["a_count"] >= 10 and row["b_count"] >= 10
    return rate if there and rate >= 10 * MS and more(row["a_mean"], row["b_mean"], 30) else None


# sides that are recordings of chosen threads
chosen = re.findall(r"([AB]) has only chosen threads", "\n".join(titles["summary"]["notes"]))
expected, hidden = [(None, "summary", side) for side in chosen], {}
for row in sections["summary"]:
    if row["lost"]:
        expected.append((None, "summary", row["trace"]))
for name in ("tasks", "latency", "syscalls", "irq", "softirq", "block"):
    found = [(changed(name, row), name, row["name"]) for row in sections[name]]
    found = [one for one in found if one[0] is not None]
    expected += sorted(found, key=lambda one: (-one[0], one[2]))[:3]
    sides = [note[0] for note in titles[name]["notes"] if " cannot be compared: " in note]
    if len(sides) == 1:
        hidden.setdefault(sides[0], []).append(titles[name]["title"])
expected += [(None, "summary", side) for side in hidden]
have = [(row["ns"], row["section"], row["name"]) for row in sections["findings"]]
order = [ns if ns is not None else 1 << 64 for ns, _, _ in have]
problems = []
if order != sorted(order, reverse=True):
    problems.append(f"not the worst first: {have}")
if sorted(have, key=str) != sorted(expected, key=str):
    problems.append(f"found {sorted(have, key=str)}, expected {sorted(expected, key=str)}")
if not have and not any(note.startswith("Nothing: ") for note in titles["findings"]["notes"]):
    problems.append("no finding, and no note that says so")
if "--same" in sys.argv and any(ns is not None for ns, _, _ in have):
    problems.append(f"the same trace, and findings: {have}")
for side, names in hidden.items():
    if not any(row["finding"].startswith(side + " hides") and "; ".join(names) in row["finding"]
               for row in sections["findings"]):
        problems.append(f"no finding that {side} hides {names}")
if any(row["name"] not in row["finding"] for row in sections["findings"]):
    problems.append("a sentence does not have the name of what it is about")
for finding in sections["findings"]:
    match = re.search(r"(?:altogether|waits take) (\S+) (\w+) (more|less) of each second[,.]",
                      finding["finding"])
    if bool(match) != (finding["section"] in ("latency", "syscalls", "block")):
        problems.append(f"the effect is missing, or out of place: {finding['finding']}")
    if match:
        effect = float(match[1]) * UNITS[match[2]] * (1 if match[3] == "more" else -1)
        row, = [row for row in sections[finding["section"]] if row["name"] == finding["name"]]
        if abs(effect - row["change"]) > 0.006 * abs(row["change"]):
            problems.append(f"the change is {row['change']} ns: {finding['finding']}")
print("\n".join(problems) or f"# {len(have)} findings of a comparison")
sys.exit(bool(problems))
