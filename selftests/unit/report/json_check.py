# SPDX-License-Identifier: GPL-2.0-only
"""
json_check.py TOOL TRACE... - docs/json.md names the members that commands print as JSON, with types
and nulls, and names no others. If this fails, a script looks for a member that does not exist.
"""
import json
import os
import re
import subprocess
import sys

TOOL, TRACES = sys.argv[1], sys.argv[2:]
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/json.md")
KINDS = {"text": str, "array": list, "object": dict}
MADE = "`report`, `diff`"
# by part of the page, table and member: (type, null); values; units of a report's columns
named, printed, units = {}, {}, {}


def read_page():
    part, tables, statistics = None, [], {}
    for line in open(PAGE, encoding="utf-8"):
        if line.startswith("## "):
            part, tables = line[3:].strip(), [""]
        elif line.startswith("### "):
            tables = re.findall(r"`(.*?)`", line) or [line[4:].strip()]
        cells = [cell.strip() for cell in line.split("|")]
        if part and len(cells) == 6:
            members, types = re.findall(r"`(.*?)`", cells[1]), cells[2].split(", ")
            rows = {name: (types[i % len(types)], cells[4]) for i, name in enumerate(members)}
            statistics.update(rows if tables == ["Statistics"] else {})
            rows = statistics if "(#statistics)" in cells[1] else rows
            named.update({(part, table, name): row for table in tables if table != "Statistics"
                          for name, row in rows.items()})


def note(part, table, members):
    for name, value in members.items():
        printed.setdefault((part, table, name), []).append(value)


def run(*words):
    """All that the command prints."""
    said = subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout.decode().lstrip()
    while said:
        made, end = json.JSONDecoder().raw_decode(said)
        said = said[end:].lstrip()
        yield made


def note_report(command, *words):
    for made in run(command, "--json", *words):
        note(MADE, "", made)
        for section in made["sections"]:
            table = f"Sections of `{command}`", section["id"]
            note(MADE, "Members of a section", section)
            names = [re.sub(r"^(cpu|task)\d+$", r"\1N", one["id"]) for one in section["columns"]]
            for name, column in zip(names, section["columns"]):
                note(MADE, "Members of a column", column)
                units[(*table, name)] = column["unit"] or column["type"]
            for row in section["rows"]:
                note(*table, dict(zip(names, row)))


read_page()
for trace in TRACES:
    note_report("report", trace)
    note_report("report", "--section", "why", "--why", "*", trace)
    note_report("diff", trace, trace)
    for words in ("--comm", "*"), ("--slice", "*"), ("--call", "*"):
        for made in run("why", "--json", *words, trace):
            note("`tracebuf why`", "", made)
            for one in made["chosen"]:
                note("`tracebuf why`", "chosen", one)
            assert sum(one["ns"] for one in made["chosen"]) == made["tree"]["ns"], (trace, words)
            nodes = [made["tree"]]
            for node in nodes:
                note("`tracebuf why`", "Members of a node", node)
                nodes += node["children"]
    for made in run("why", "--json", trace):
        note("`tracebuf why`", "", made)
        for one in made["choices"]:
            note("`tracebuf why`", "choices", one)
    for question in {table for part, table, _ in named if part == "`query`"}:
        for row in next(run("query", "--json", trace, question), []):
            note("`query`", question, row)
    for line in run("print", "--jsonl", trace):
        note("`jsonl`", "", line)
        note("`jsonl`", "Fields of a loss", line["fields"] if line["type"] == "lost" else {})
wrong = [f"{key} is printed, and not in the page" for key in printed.keys() - named.keys()]
wrong += [f"{key} is in the page, and not printed" for key in named.keys() - printed.keys()]
for key in named.keys() & printed.keys():
    kind, null = named[key]
    bad = [value for value in printed[key] if not (
        null if value is None else isinstance(value, KINDS.get(kind, (int, float))))]
    if bad or units.get(key, kind) != kind:
        wrong.append(f"{key} is {bad[:1]}, {units.get(key, '')}, and in the page {named[key]}")
sys.exit("\n".join(sorted(wrong)) or 0)
