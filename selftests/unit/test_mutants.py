#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Do the unit tests of filters and of user-space writers catch code that is broken?

As test_ring_mutants.py does for the ring: applies each entry of filter_mutants.txt and
chunk_mutants.txt to a copy of its file, builds the tests that compile that file and runs them
until one fails.  A result for each in KTAP, and the share that was caught.  Those that the table
says nobody catches yet are tried as well, and fail nothing.

    test_mutants.py [-j N] DIRECTORY [NAME...]

Builds in DIRECTORY.  NAME: only these.  CC as usual.
"""

import argparse
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import test_ring_mutants as common

HERE, TREE, CC = common.HERE, common.TREE, common.CC
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
FLAGS = ["-O1", "-w", "-D_GNU_SOURCE"]


class Table:
    """One table: which files it is about, and which tests compile them."""

    def __init__(self, name, folder, flags, sources, tests):
        self.path = os.path.join(HERE, name)
        self.folder, self.sources, self.tests = folder, sources, tests
        self.flags = FLAGS + flags + SANITIZE


TABLES = [
    Table("filter_mutants.txt", "module",
          ["-std=gnu11", "-fno-strict-aliasing", "-Iuapi", "-Imodule", "-Iselftests/unit",
           "-Iselftests/unit/include"],
          ["filter"], [("test_filter", []), ("test_filter_fuzz", ["100000"])]),
    Table("chunk_mutants.txt", "userspace/lib",
          ["-std=c11", "-DTB_STEPS", "-pthread", "-Iuapi", "-Iuserspace/lib", "-Iselftests/unit"],
          ["arbiter", "category", "chunk", "commit", "default", "gate", "patch", "producer",
           "writer"],
          [("test_lib_writers", []), ("test_lib_writers_flush", []),
           ("test_lib_writers_startup", []), ("test_lib_races", [])]),
]


def build(flags, source, out):
    """One object: None, or what the compiler said."""
    status, output = common.run(CC + flags + ["-c", "-o", out, source], TREE)
    return output if status else None


def try_mutant(table, mutant, where, whole):
    """Is it caught?  (yes, by what or why not)"""
    place = os.path.join(where, mutant.name)
    os.makedirs(place)
    with open(os.path.join(TREE, table.folder, mutant.file), encoding="utf-8") as file:
        text = file.read()
    try:
        text = mutant.apply(text)
    except ValueError as error:
        return False, "does not apply: %s" % error
    source = os.path.join(place, mutant.file)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    broken = os.path.join(place, "broken.o")
    output = build(table.flags + ["-iquote", os.path.join(TREE, table.folder)], source, broken)
    if output:
        return False, "does not compile: %s" % output
    objects = [broken] + [os.path.join(whole, part + ".o") for part in table.sources
                          if part + ".c" != mutant.file]
    for name, arguments in table.tests:
        program = os.path.join(place, name)
        status, output = common.run(CC + table.flags + ["-o", program, whole + "/" + name + ".o"] +
                                    objects, TREE)
        if status:
            return False, "does not link: %s" % output
        status, output = common.run([program] + arguments, place)
        if status is None:
            return True, "%s: does not end" % name
        if status:
            return True, "%s: %s" % (name, common.what_failed(output))
    return False, "nothing caught it"


def main():
    """Runs what the command line says."""
    parser = argparse.ArgumentParser(description="Do the tests catch broken code?")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 2, dest="jobs")
    parser.add_argument("directory", help="where to build")
    parser.add_argument("name", nargs="*", help="only these mutants")
    args = parser.parse_args()
    where = os.path.abspath(args.directory)
    shutil.rmtree(where, ignore_errors=True)
    whole = os.path.join(where, "whole")
    os.makedirs(whole)
    work, builds = [], []
    for table in TABLES:
        mutants = [m for m in common.read_table(table.path)
                   if not args.name or m.name in args.name]
        work += [(table, mutant) for mutant in mutants]
        if not mutants:
            continue
        for source in [os.path.join(table.folder, part + ".c") for part in table.sources] + \
                [os.path.join("selftests/unit", name + ".c") for name, _ in table.tests]:
            out = os.path.join(whole, os.path.basename(source)[:-2] + ".o")
            builds.append((table.flags, source, out))
    print("KTAP version 1\n1..%d" % len(work), flush=True)
    failed = missed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for output in pool.map(lambda job: build(*job), builds):
            if output:
                raise SystemExit("Bail out! the code as it is does not compile\n" + output)
        results = pool.map(lambda job: try_mutant(*job, where, whole), work)
        for number, ((_, mutant), (caught, what)) in enumerate(zip(work, results), 1):
            print("# %s: %s\n# %s" % (mutant.file, mutant.why, what.replace("\n", "\n#   ")))
            nobody = mutant.catcher == "nobody"
            print("%sok %d mutant %s%s" % ("" if caught else "not ", number, mutant.name,
                                           " # TODO no test catches it" if nobody else ""),
                  flush=True)
            failed += not caught and not nobody
            missed += not caught
    print("# %d of %d caught" % (len(work) - missed, len(work)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
