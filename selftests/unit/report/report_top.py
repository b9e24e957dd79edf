#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare two reports of the same trace as JSON: one of all tasks, and one with --top N.

report_top.py WHOLE SOME N

Tables of SOME must be the first rows of those of WHOLE; sums, findings and remarks must be equal.
"""
import json
import sys

WORST = 10                              # worst cases without --top


def sections(path):
    with open(path, encoding="utf-8") as file:
        return {section["id"]: section for section in json.load(file)["sections"]}


def ids(section):
    return [column["id"] for column in section["columns"]]


def compare(name, whole, some, top):
    """What is wrong with section @name of the report of some tasks"""
    full, have = whole["rows"], some["rows"]
    if "worst" in name or name.startswith("offcpu"):
        have, full = have[:WORST], full[:WORST]
    elif name == "latency-instead":
        have = [row for row in have if row[0] <= WORST]
    elif some["kind"] == "table":
        full = full[:top]
    if have != full:
        return f"rows {have[:3]} ..., not {full[:3]} ..."
    notes = [note for note in some["notes"] if " are shown" not in note]
    return notes != whole["notes"] and f"remarks {notes}, not {whole['notes']}"


def main():
    whole, some, top = sections(sys.argv[1]), sections(sys.argv[2]), int(sys.argv[3])
    wrong = [f"{name}: {fault}" for name in whole
             if (fault := compare(name, whole[name], some[name], top))]
    tasks = whole["summary"]["rows"][0][ids(whole["summary"]).index("tasks")]
    if f"{top} of {tasks} tasks are shown." not in some["tasks"]["notes"]:
        wrong.append(f"tasks: {some['tasks']['notes']}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


sys.exit(main())
