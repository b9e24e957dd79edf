#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""All commands that read a trace select a part of it by the same options. If this fails, report and
print disagree about the same moment, and a user compares two different sets of events.

    test_choosing.py TOOL

If the options leave nothing, the command says so and exits with status 1; an export then leaves its
output as it was. A command shows times of the clock that -T names, and --from takes these times.
"""
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TREE, "selftests/unit/export"))
import page_read  # noqa: E402

TRACE = os.path.join(TREE, "selftests/golden/kernel.tbuf")
# command: its arguments after the options
COMMANDS = {
    "print": [TRACE], "export": ["--format", "jsonl", "-o", "-", TRACE], "report": [TRACE],
    "diff": [TRACE, TRACE], "query": [TRACE, "cpu"], "flamegraph": ["-o", "-", TRACE],
    "why": [TRACE],
}
# an option that leaves nothing: a part of the message
NOTHING = {
    "-t 4000000": "of thread 4000000", "--tid 4000000": "of thread 4000000",
    "--pid 4000000": "of process 4000000", "--comm nosuch": "named 'nosuch'",
    "--cgroup nosuch": "in a cgroup 'nosuch'", "-C 63": "of CPU 63",
    "--cpu 63": "of CPU 63", "--from +1000": "in that time", "--to -1000": "in that time",
    "-T boot --from 99999": "in that time", "--time real --to 99999": "in that time",
    "-r 9": "there is no number 9", "-e nosuch": "no event that matches 'nosuch'",
    "--events nosuch": "no event that matches 'nosuch'",
    "-t 4000000 --comm nosuch": "of thread 4000000 named 'nosuch'",
    "-e sched_switch -t 4000000": "of thread 4000000",
    "-e !nosuch": "no event that matches 'nosuch'",
    "-t 4000001,4000000": "of threads 4000000,4000001",
    "--pid 7 --pid 4000000": "of processes 7,4000000",
}
# options that a command refuses: all of the time of a thread has a cause
WITHOUT = {"why": ("-C", "--cpu", "-e", "--events")}
PARTS = ("-e", "-C", "-t", "-f", "-T", "-r", "--events", "--cpu", "--tid", "--pid", "--comm",
         "--cgroup", "--from", "--to", "--filter", "--time", "--recording")
# commands that read the whole recording: the options that they do not have, and the message
WHOLE = {
    "why": (("-e", "-C", "-f", "--events", "--cpu", "--filter"),
            "why divides all of the time of threads, on all CPUs: choose them with --tid"),
    "verify": (PARTS, "verify checks the whole recording"),
    "pack": (PARTS, "pack packs the whole recording"),
    "unpack": (PARTS, "unpack unpacks the whole recording"),
    "report": (("-f", "--filter"), "report sums all that a thread does: choose with --events"),
    "diff": (("-f", "--filter"), "diff sums all that a thread does: choose with --events"),
    "flamegraph": (("-f", "--filter"), "a flame graph sums all that a thread does"),
    "query": (("-f", "--filter"), "query takes conditions in SQL"),
    "top": (set(PARTS) - {"-e", "--events", "--cpu", "--filter"}, "top shows the whole recording"),
}

count = failed = 0


def result(fine, what, *said):
    global count, failed
    count += 1
    if not fine:
        failed += 1
        print("\n".join(f"# {line}" for text in said for line in str(text).splitlines()))
    print(f"{'ok' if fine else 'not ok'} {count} - {what}", flush=True)


def run(*words):
    return subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=60, check=False)


def options(command, choice):
    words = choice.split()
        # why needs a choice of threads
    of_threads = ("-t", "--tid", "--pid", "--comm", "--cgroup")
    if command == "why" and not any(word in of_threads for word in words):
        words += ["--comm", "*"]
    return words


def check_nothing(command, behind):
    wrong = []
    for choice, message in NOTHING.items():
        if any(word in WITHOUT.get(command, ()) for word in choice.split()):
            continue
        done = run(command, *options(command, choice), *behind)
        if done.returncode != 1 or not re.search(message, done.stderr):
            wrong.append(f"{choice}: status {done.returncode}, {done.stderr}")
    result(not wrong, f"{command}: says that the options choose nothing", *wrong)


def formats():
    said = run("export", "--format", "none", TRACE).stderr
    return re.findall(r"\w+", re.search(r"there are (.*)", said)[1].replace(" and ", " "))


def state(path):
    there = os.stat(path)
    return there.st_ino, there.st_mtime_ns, there.st_size


@functools.cache
def message_of_jsonl(*words):
    return run(*words, "--format", "jsonl", "-o", "-").stderr


def check_export(format_):
    """All formats have the message of jsonl, and leave no output, nor change one."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        for choice in NOTHING:
            words = ["export", "-q", *choice.split(), TRACE]
            done = run(*words, "--format", format_, "-o", path)
            if "built without" in done.stderr:
                result(True, f"export --format {format_} # SKIP built without it")
                return
            wanted = message_of_jsonl(*words)
            if done.returncode != 1 or done.stderr != wanted or os.listdir(folder):
                wrong.append(f"{choice}: status {done.returncode}, {done.stderr}, not {wanted}; "
                             f"files {os.listdir(folder)}")
            subprocess.run(["rm", "-rf", path], check=True)
        if format_ == "ctf":
            os.mkdir(path)
        else:
            with open(path, "w", encoding="ascii") as file:
                file.write("kept")
        before = state(path)
        broken = os.path.join(folder, "broken.tbuf")
        with open(TRACE, "rb") as file, open(broken, "wb") as out:
            out.write(file.read()[:-100])
        done = run("export", "-C", "63", "--format", format_, "-o", path, broken)
        os.unlink(broken)
        if done.returncode != 1 or state(path) != before or "no such event" not in done.stderr:
            wrong.append(f"a damaged trace: {done.returncode}, {done.stderr}")
        for choice in "-C 63", "--from +1000":
            run("export", *choice.split(), "--format", format_, "-o", path, TRACE)
            if state(path) != before or os.listdir(folder) != ["out"]:
                wrong.append(f"{choice}: {before} became {state(path)}; {os.listdir(folder)}")
    result(not wrong, f"export --format {format_}: without events no output changes", *wrong)


def check_without():
    wrong = [f"{command} {option}" for command, list_ in WITHOUT.items() for option in list_
             if run(command, option, "1", *COMMANDS[command]).returncode != 2]
    for words in ("-C", "1"), ("--comm", "a"), ("--cgroup", "a"):
        said = run("print", *words, *words, TRACE)
        if said.returncode != 2 or f"{words[0]} is given twice" not in said.stderr:
            wrong.append(f"{words} twice: {said.returncode}, {said.stderr}")
    for command, behind in [*COMMANDS.items(), ("record", [])]:
        for option, what in ("--tid", "thread"), ("--pid", "process"):
            for value in "", "1,", ",1", "1,,2", "1 2", "a", "-1", "4294967296", "1,x":
                said = run(command, option, value, *behind)
                if said.returncode != 2 or \
                        f"'{value}' is not a list of {what} numbers, as in 12,345" not in said.stderr:
                    wrong.append(f"{command} {option} '{value}': {said.returncode}, {said.stderr}")
    result(not wrong, "options that make no sense are refused", *wrong)


def check_whole():
    """A command that has no options to select says so, wherever they are."""
    wrong = []
    for command, (list_, message) in WHOLE.items():
        for option in list_:
            glued = f"{option}=1" if option.startswith("--") else f"{option}1"
            for words in [option, "1", TRACE], [TRACE, option, "1"], [glued, TRACE], [TRACE, glued]:
                said = run(command, *words)
                if said.returncode != 2 or said.stderr.count("\n") != 2 or \
                        not said.stderr.startswith(f"tracebuf: {option}: {message}"):
                    wrong.append(f"{command} {words}: {said.returncode}, {said.stderr}")
    for words in ("verify", "-q", TRACE), ("why", "-t", "100", "--", TRACE), \
            ("top", "--batch", "--cpu", "0", "-i", TRACE, "--filter", "x"), \
            ("verify", "--q", TRACE):
        said = run(*words)
        if said.returncode == 2 and "whole" in said.stderr:
            wrong.append(f"{words}: {said.stderr}")
    said = run("verify", "--", "--pid")
    if said.returncode != 1 or "--pid: cannot be opened" not in said.stderr:
        wrong.append(f"a file --pid: {said.stderr}")
    result(not wrong, "commands that read the whole recording say so", *wrong)


def check_lists():
    """Several threads or processes: what is selected of each, together."""
    wrong = []
    events = [json.loads(line) for line in run("print", "--jsonl", TRACE).stdout.splitlines()]
    events = [one for one in events if one["type"] != "lost"]
    for option, member in ("-t", "tid"), ("--tid", "tid"), ("--pid", "pid"):
        one, two = sorted({one[member] for one in events if one[member]})[:2]
        for words in [option, f"{two},{one},{two}"], [option, f"{one}", option, f"{two}"]:
            made = [json.loads(line)
                    for line in run("print", "--jsonl", *words, TRACE).stdout.splitlines()]
            made = [event for event in made if event["type"] != "lost"]
            if made != [event for event in events if event[member] in (one, two)]:
                wrong.append(f"print {words}: {len(made)} of {len(events)}")
            count_ = run("query", "--csv", "--no-header", *words, TRACE,
                         "SELECT count(*) FROM events").stdout.strip()
            if int(count_) != sum(event["system"] not in ("user", "unknown")
                                  for event in made):
                wrong.append(f"query {words}: {count_} of {len(made)}")
    # report and why choose threads in ways of their own
    for words, wanted in (("-t", "100,101"), {100, 101}), (("--pid", "100,1"), {100, 101}):
        tasks = {one["tid"] for one in rows(report(*words), "tasks")}
        if tasks != wanted:
            wrong.append(f"report {words}: {tasks}")
        made = [run("why", "--json", words[0], number, TRACE).stdout
                for number in (words[1], "100", "101")]
        ns = [json.loads(text)["tree"]["ns"] if text else 0 for text in made]
        if ns[0] != ns[1] + ns[2] or not ns[1]:
            wrong.append(f"why {words}: {ns}")
    many = ",".join(str(number) for number in range(1, 1025))
    if run("print", "--pid", many, TRACE).returncode != 0 or \
            "more than 1024 process" not in run("print", "--pid", many + ",1025", TRACE).stderr:
        wrong.append("a list of 1024 numbers, and one more")
    result(not wrong, "-t and --pid take lists", *wrong)


def report(*words):
    return json.loads(run("report", "--json", *words, TRACE).stdout)


def rows(made, name):
    section = next(one for one in made["sections"] if one["id"] == name)
    names = [column["id"] for column in section["columns"]]
    return [dict(zip(names, row)) for row in section["rows"]]


def printed(base):
    """The times that print shows."""
    said = run("print", "--jsonl", "-T", base, TRACE).stdout
    return [json.loads(line)["time"] for line in said.splitlines()]


def check_clock():
    """report -T shows the times of print -T, and --from takes them."""
    wrong = []
    mono = report()
    for base in "boot", "real":
        made = report("-T", base)
        times = printed(base)
        if made["clock"] != base or mono["clock"] != "mono":
            wrong.append(f"{base}: the clock is {made['clock']}, without -T {mono['clock']}")
        for words in ("diff", TRACE), ("why", "--comm", "*"):
            clock = json.loads(run(*words, "--json", "-T", base, TRACE).stdout)["clock"]
            if clock != base:
                wrong.append(f"{words[0]} -T {base}: the clock is {clock}")
        if made["begin"] != times[0] or made["begin"] == mono["begin"]:
            wrong.append(f"{base}: begins at {made['begin']}, print at {times[0]}")
        waits = [one["time"] for one in rows(made, "latency-worst")]
        if not waits or not set(waits) <= set(times):
            wrong.append(f"{base}: waits end at {waits}, not at times of events")
        middle = (made["begin"] + made["end"]) // 2
        part = report("-T", base, "--from", f"{middle // 10**9}.{middle % 10**9:09}")
        if not middle <= part["begin"] <= part["end"] == made["end"]:
            wrong.append(f"{base}: from {middle}: {part['begin']} to {part['end']} "
                         f"of {made['end']}")
    result(not wrong, "report -T: times of that clock, and --from takes them", *wrong)


def check_events():
    """With -e a report has these events alone, and slices in query come from them alone."""
    wrong = []
    whole = {(one["system"], one["name"]): one["count"] for one in rows(report(), "events")}
    made = report("-e", "irq,irq_vectors")
    part = {(one["system"], one["name"]): one["count"] for one in rows(made, "events")}
    if part != {key: count_ for key, count_ in whole.items() if key[0] in ("irq", "irq_vectors")}:
        wrong.append(f"events {part} of {whole}")
    for words, left_out in (("irq,sched,!sched_switch", lambda system, name: system not in
                             ("irq", "sched") or name == "sched_switch"),
                            ("!sched,^irq", lambda system, name: system in ("sched", "irq"))):
        part = {(one["system"], one["name"]): one["count"]
                for one in rows(report("-e", words), "events")}
        if part != {key: count_ for key, count_ in whole.items() if not left_out(*key)}:
            wrong.append(f"-e {words}: events {part} of {whole}")
    handlers = [[(one["number"], one["total"]) for one in rows(of, "irq")]
                for of in (made, report())]
    if rows(made, "cpu") or not handlers[0] or handlers[0] != handlers[1]:
        wrong.append(f"sections {rows(made, 'cpu')}, {handlers}")
    notes = next(one["notes"] for one in made["sections"] if one["id"] == "cpu")
    if "No sched_switch is among the chosen events (-e)." not in notes:
        wrong.append(f"notes {notes}")
    said = run("query", "-e", "irq", "--csv", "--no-header", TRACE,
               "SELECT DISTINCT kind FROM slices ORDER BY 1;"
               "SELECT count(*) FROM sched_switch").stdout.split()
    if said != ["irq", "softirq", "0"]:
        wrong.append(f"query {said}")
    result(not wrong, "report, query -e: as if only these events had been recorded", *wrong)


def check_page():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        done = run("report", "--html", path, "-e", "irq", TRACE)
        if "built without the page" in done.stderr:
            result(True, "report --html -e # SKIP built without the page")
            return
        kinds = {kind for kind, _, _ in page_read.Page(path).rows}
    result(kinds == {"irq", "softirq", "event", "cpu_event", "lost"},
           "report --html -e: a timeline of these events",
           kinds, done.stderr)


def main():
    print("TAP version 14")
    for command, behind in COMMANDS.items():
        check_nothing(command, behind)
    for format_ in formats():
        check_export(format_)
    check_without()
    check_lists()
    check_whole()
    check_clock()
    check_events()
    check_page()
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
