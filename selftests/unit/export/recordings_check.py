#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Exports the recordings that tests have left, and checks the exports: KTAP.

    recordings_check.py [--most N] [--events N] TRACEBUF FOLDER

FOLDER has a folder with recordings, *.tbuf, for each test (selftests/vm/lib/recordings.h); each
test gets one result. export_check.py judges the exports of each recording to Perfetto's format and
to JSON. "tracebuf why" must give each nanosecond of each thread one cause, and the times that
"tracebuf report" has ("verify --analysis"). The lines of "print --from" must be the last lines of
"print".
Recordings with the same contents are judged once. A recording that "tracebuf verify" finds damaged
does not have to pass. JSON is not judged where ends are missing because
the selection of events changed: export_check.py does not know of selections. In a file with several
recordings each is judged. Recordings that pass are removed; the others stay. --most: judge the
first N of each test, remove the others. --events: judge no more exports of a test after N events,
because that takes most of the time; the smallest recordings come first.
"""
import argparse
import collections
import contextlib
import glob
import hashlib
import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import export_check
import history_why

# a line of print, with its time
LINE = re.compile(rb" *.*-\d+ +\[[\d-]+\] .. (\d+\.\d+): ")


def is_damaged(tool, path):
    return subprocess.run([tool, "verify", "-q", path], capture_output=True,
                          check=False).returncode == 1


@contextlib.contextmanager
def tools(tool, path):
    """Commands that read one recording of the file each: the tool, or a script for each number."""
    said = subprocess.run([tool, "print", "-n", "1", path], capture_output=True, check=False)
    count = re.match(rb"# recording \d+ of (\d+)\n", said.stdout)
    if not count:
        yield [tool]
        return
    with tempfile.TemporaryDirectory() as folder:
        each = [os.path.join(folder, str(n)) for n in range(1, int(count[1]) + 1)]
        for number, script in enumerate(each, 1):
            with open(script, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\ncommand=$1\nshift\n'
                           f'{shlex.quote(os.path.abspath(tool))} "$command" -r {number} "$@" |\n'
                           "\tsed '1{/^# recording /d}'\n")
            os.chmod(script, 0o700)
        yield each


def lacks_ends(path):
    """The export to JSON says that ends were not selected any more."""
    with open(path, "rb") as file:
        return b'"_doubt":"its end is not in the trace"' in file.read()


def judge(tool, path):
    """The number of events, and what is wrong with the exports."""
    wrong = []
    try:
        check = export_check.Check(tool, path)
    except export_check.Failed as failure:
        return 0, [str(failure)]
    for name in "perfetto", "json":
        try:
            if name == "json" and lacks_ends(check.export(name)):
                export_check.read_back(name, check.export(name))
                continue
            # do not show what the importer draws
            with contextlib.redirect_stdout(io.StringIO()):
                getattr(check, name)()
        except export_check.Failed as failure:
            wrong.append(f"{name}: {failure}")
        except Exception as error:      # pylint: disable=broad-except
            # the export cannot be read
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return len(check.events), wrong


def explained(tool, path):
    """What is wrong with "tracebuf why" of all threads: each nanosecond must have one cause."""
    said = subprocess.run([tool, "why", "--json", "--comm", "*", path], capture_output=True,
                          check=False)
    if said.returncode not in (0, 1):
        return [f"why: exit status {said.returncode}: {said.stderr.decode(errors='replace')}"]
    try:
        # without switches or threads why says nothing
        if said.stdout:
            collections.deque(history_why.leaves(json.loads(said.stdout)["tree"]), 0)
    except ValueError as failure:
        return [f"why: {failure}"]
    return []


def analysed(tool, path):
    """What "verify --analysis" finds wrong: the times of why and of report."""
    said = subprocess.run([tool, "verify", "-q", "--analysis", path], capture_output=True,
                          check=False)
    return [f"verify --analysis: {line}" for line in said.stderr.decode(
        errors="replace").splitlines()] if said.returncode else []


def same_line(whole, part):
    """A name may be unknown after --from if only earlier events of the ring tell it."""
    if b"<...>" not in part:
        return whole == part
    pattern = re.escape(part.strip()).replace(re.escape(b"<...>"), b".*")
    return bool(re.fullmatch(pattern, whole.strip()))


def sought(tool, path):
    """What is wrong with "print --from"; the contents choose the times."""
    def lines(*options):
        return subprocess.run([tool, "print", *options, path], capture_output=True,
                              check=False).stdout.splitlines()

    everything = lines()
    times = [match[1].decode() for match in (LINE.match(line) for line in everything) if match]
    if not times:
        return []
    choose = random.Random(everything[-1])
    for time in choose.choices(times, k=5):
        end = lines("--from", time)
        wrong = [pair for pair in zip(everything[-len(end):], end) if not same_line(*pair)]
        if not end or wrong:
            return [f"print --from {time}: {len(end)} lines of {len(everything)}; {wrong[:1]}"]
    return []


def judge_test(tool, folder, seen, most, most_events):
    """The result of a test's recordings; prints what is wrong."""
    paths = sorted(glob.glob(os.path.join(folder, "*.tbuf")))
    if most is not None:
        for path in paths[most:]:
            os.unlink(path)
        paths = paths[:most]
    judged = events = failed = damaged = 0
    for path in sorted(paths, key=os.path.getsize):
        with open(path, "rb") as file:
            contents = hashlib.sha256(file.read()).digest()
        if contents in seen:
            os.unlink(path)
            continue
        wrong = []
        exports = most_events is None or events < most_events
        with tools(tool, path) as each:
            for one in each:
                if exports:
                    seen.add(contents)
                    count, found = judge(one, path)
                    events += count
                    wrong += found
                wrong += explained(one, path) + sought(one, path)
        wrong += analysed(tool, path)
        if wrong and is_damaged(tool, path):
            damaged += 1
            wrong = []
        for line in wrong:
            print(f"# {os.path.basename(path)}: {line[:2000]}")
        judged += 1
        failed += bool(wrong)
        if not wrong:
            os.unlink(path)
    return failed, len(paths), f"{judged} recordings, exports of {events} events" + (
        f"; {damaged} are damaged: their contents do not count" if damaged else "")


def main():
    parser = argparse.ArgumentParser(description="Export recordings of tests and judge that.")
    parser.add_argument("--most", type=int, help="recordings of each test; default: all")
    parser.add_argument("--events", type=int, help="events of each test in judged exports")
    parser.add_argument("tool")
    parser.add_argument("folder")
    args = parser.parse_args()
    tool, folder, most = args.tool, args.folder, args.most
    tests = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(folder, "*", "")))
    seen, any_failed = set(), False
    print(f"KTAP version 1\n1..{len(tests)}" if tests else "KTAP version 1\n1..0 # SKIP no tests")
    for number, test in enumerate(tests, 1):
        failed, left, said = judge_test(tool, test, seen, most, args.events)
        any_failed |= bool(failed)
        name = f"{number} {os.path.basename(test)}"
        if failed:
            print(f"not ok {name}: {failed} of {said}")
        elif left:
            print(f"ok {name}: {said}")
        else:
            print(f"ok {name} # SKIP it left no recording")
    return any_failed


if __name__ == "__main__":
    sys.exit(main())
