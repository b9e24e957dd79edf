#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What "tracebuf top --batch" says of a complete file must be what "tracebuf report" says.

    top_check.py TRACEBUF FILE

Compares the time and the longest wait of each task, and the unknown time of each CPU.
"""
import json
import subprocess
import sys

tool, path = sys.argv[1:]


def run(*words):
    done = subprocess.run([tool, *words, path], stdout=subprocess.PIPE, check=False)
    # 1: the file is damaged
    assert done.returncode in (0, 1), (words, done.returncode)
    return done.stdout


def table(view):
    """The rows of top, without the name."""
    lines = run("top", "--batch", "--all", "--view", view, "-i").decode().splitlines()
    head = next(at for at, line in enumerate(lines) if line.endswith(("COMMAND", "NOW")))
    names = [name.lstrip("*") for name in lines[head].split()]
    return [dict(zip(names, line.split())) for line in lines[head + 1:]]


def main():
    sections = {section["id"]: [dict(zip([column["id"] for column in section["columns"]], row))
                                for row in section["rows"]]
                for section in json.loads(run("report", "--json", "--top", "1000"))["sections"]
                if section["kind"] == "table"}
    span = sections["summary"][0]["span"]
    have = {row["TID"]: (row["TIME"], float(row["MAX"])) for row in table("tasks")}
    want = {str(row["tid"]): ("%.2f" % (row["cpu"] / 1e9), round((row["wait_max"] or 0) / 1e3))
            for row in sections["tasks"] if row["tid"]}
    assert {tid: row for tid, row in have.items() if tid in want} == want, (have, want)
    assert not any(float(time) for tid, (time, _) in have.items() if tid not in want), have
    have = {int(row["CPU"]): float(row["UNKN%"]) for row in table("cpus")}
    for row in sections["cpu"]:
        unknown = 100 * row["unknown"] / span
        assert abs(have[row["cpu"]] - unknown) < 0.06, (row["cpu"], have, unknown)


main()
