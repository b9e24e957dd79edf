#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
diff_commands.py PAIRS - the command of each finding of "diff" runs, and shows the row or the thread
of the finding. Each line of PAIRS has the arguments of one diff. If this fails, a user copies a
command that is wrong.

Needs: TRACEBUF (the tool).
"""
import json
import os
import re
import shlex
import subprocess
import sys


def run(words):
    return subprocess.run([os.environ["TRACEBUF"], *words], capture_output=True, text=True,
                          errors="replace", timeout=60, check=False)


seen, wrong = set(), []
with open(sys.argv[1], encoding="utf-8") as file:
    pairs = [shlex.split(line) for line in file]
for pair in pairs:
    said = json.loads(run(["diff", "--json", "--section", "findings", *pair]).stdout)["sections"][0]
    names = [column["id"] for column in said["columns"]]
    for row in (dict(zip(names, one)) for one in said["rows"]):
        tool, command, *words = shlex.split(row["command"])
        done = run([command, *words])
        seen.add((row["section"], command))
        fine = tool == "tracebuf" and not done.returncode and done.stdout
        if command == "diff":
            fine = fine and row["name"] in done.stdout
        elif command == "why":
            fine = fine and "where the time went" in done.stdout and row["name"] in done.stdout
        if row["section"] == "latency":
            fine = fine and re.search(r" 100\.0 .*waits for a CPU\n", done.stdout)
        if not fine:
            wrong.append(f"{pair}: {row}: {done.returncode}, {done.stdout}{done.stderr}")
missing = {("summary", "report"), ("tasks", "why"), ("tasks", "diff"), ("latency", "why"),
           ("irq", "diff")} - seen
if missing:
    wrong.append(f"no such finding: {missing}, only {seen}")
print("\n".join(f"# {line}" for text in wrong for line in text.splitlines()))
sys.exit(bool(wrong))
