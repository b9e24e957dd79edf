#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The unit tests of filters and of user-space writers catch broken code. If this fails, those tests
pass with a fault that drops a user's events, or loses a program's records.

Applies each entry of filter_mutants.txt and chunk_mutants.txt to a copy of its file, builds the
tests that compile that file and runs them until one fails.  Prints a KTAP result for each mutant:
ok and the test that caught it, or not ok.  A text that is not found exactly once fails, so that the
tables follow the code.  A mutant that its table calls equivalent is skipped, with the reason.

    test_mutants.py [-j N] DIRECTORY [NAME...]

Builds in DIRECTORY, after emptying it.  NAME: only these mutants.  CC, CXX: the compilers.  A
caught mutant is not tried again while the mutant, the sources, the tests and the compilers are the
same: the tests are deterministic (scripts/lib/known.py).
"""

import argparse
import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

import mutants as common    # noqa: E402
from mutants import CC, HERE, TREE, run    # noqa: E402
import known    # noqa: E402

CXX = os.environ.get("CXX", "c++").split()
FLAGS = ["-O1", "-w", "-D_GNU_SOURCE", "-Iuapi", "-Iselftests/unit/lib", "-Iselftests/unit/ring",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
C_PLUS_PLUS = ["-std=c++17", "-fno-exceptions", "-fno-rtti"]
# seconds of processor time: enough for a test on any machine, and a limit for endless loops
LIMIT = 60
EQUIVALENT = "equivalent: "


def is_equivalent(mutant):
    """Does the table say that the mutant behaves like the original?"""
    return (mutant.catcher or "").startswith(EQUIVALENT)


class Table:
    """One table: the files that its mutants break, and the tests that compile these files.

    @tests: path, arguments and further sources of the tests that try each mutant; @named: tests
    that try only the mutants that name them.
    """

    def __init__(self, name, folder, flags, parts, tests, named=()):
        self.mutants = common.read_table(os.path.join(HERE, name))
        self.folder, self.sources = folder, [os.path.join(folder, part + ".c") for part in parts]
        self.flags = FLAGS + flags
        self.tests = tests
        self.named = {os.path.basename(test[0]): test for test in named}
        self.key = None     # of everything that a result depends on, except the mutant
        for mutant in self.mutants:
            if mutant.catcher and not is_equivalent(mutant) and mutant.catcher not in self.named:
                raise SystemExit("%s: %s: no such test: %s" % (name, mutant.name, mutant.catcher))

    def compile(self, source, *arguments):
        """Run the compiler on one source: exit status and output."""
        if source.endswith(".c"):
            return run([*CC, *self.flags, *arguments, source], TREE)
        flags = [flag for flag in self.flags if not flag.startswith("-std=")]
        return run([*CXX, *C_PLUS_PLUS, *flags, *arguments, source], TREE)

    def all_sources(self):
        """The sources of all tests."""
        return self.sources + [source for test in [*self.tests, *self.named.values()]
                               for source in test_sources(test)]

    def make_key(self):
        """Set the key: compilers, flags, tests, and the contents of each file that they include."""
        files = set()
        for source in self.all_sources():
            status, output = self.compile(source, "-MM")
            if status:
                raise SystemExit("Bail out! the code as it is does not compile\n" + output)
            files.update(output.split(":", 1)[1].replace("\\\n", " ").split())
        parts = [known.content(__file__), known.content(common.__file__), common.version(CC),
                 common.version(CXX), repr((CC, CXX, self.flags, self.tests, self.named))]
        for file in sorted(files):
            parts += [file, known.content(os.path.join(TREE, file))]
        self.key = known.key_of(*parts)


TABLES = [
    Table("filter/filter_mutants.txt", "module/probe",
          ["-std=gnu11", "-fno-strict-aliasing", "-Imodule", "-Iselftests/unit/filter",
           "-Iselftests/unit/filter/include"],
          ["filter"], [("filter/test_filter", [], []), ("filter/test_filter_fuzz", ["100000"], [])]),
    Table("lib/chunk_mutants.txt", "userspace/lib/write",
          ["-std=c11", "-DTB_STEPS", "-pthread", "-Iuserspace", "-Iuserspace/include"],
          ["arbiter", "category", "chunk", "commit", "default", "futex_lock", "patch", "producer",
           "writer"],
          [("lib/test_lib_writers", [], []), ("lib/test_lib_writers_hostile", [], []),
           ("lib/test_lib_writers_flush", [], []), ("lib/test_lib_writers_startup", [], []),
           ("lib/test_lib_races", [], [])],
          [("lib/test_lib_record", [], ["lib/record_cpp.cpp"])]),
]


def test_sources(test):
    """The sources of a test, without the files that mutants break."""
    name, _, more = test
    return [os.path.join("selftests/unit", file) for file in (name + ".c", *more)]


def object_name(whole, source):
    """The path of the object of an unchanged source."""
    return os.path.join(whole, os.path.splitext(os.path.basename(source))[0] + ".o")


def try_mutant(table, mutant, text, where, whole):
    """(True, the test that caught it), or (False, why it was not caught)."""
    place = os.path.join(where, mutant.name)
    os.makedirs(place)
    source, broken = os.path.join(place, mutant.file), os.path.join(place, "broken.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    status, output = table.compile(source, "-iquote", os.path.join(TREE, table.folder), "-c",
                                   "-o", broken)
    if status:
        return False, "does not compile: %s" % output
    objects = [broken] + [object_name(whole, part) for part in table.sources
                          if os.path.basename(part) != mutant.file]
    tests = [table.named[mutant.catcher]] if mutant.catcher else table.tests
    for test in tests:
        name, arguments = os.path.basename(test[0]), test[1]
        program = os.path.join(place, name)
        status, output = run([*CC, *table.flags, "-o", program, *objects,
                              *(object_name(whole, part) for part in test_sources(test))], TREE)
        if status:
            return False, "does not link: %s" % output
        status, output = run(["sh", "-c", 'ulimit -t %d; exec "$@"' % LIMIT, "sh", program,
                              *arguments], place)
        if status is None:
            return False, "%s: %s" % (name, output)
        if status in (-signal.SIGKILL, -signal.SIGXCPU):
            return True, "%s: does not end" % name
        if status:
            return True, "%s: %s" % (name, common.what_failed(output))
    return False, "nothing caught it"


def judge(table, mutant, where, whole):
    """try_mutant(), unless the mutant is equivalent or was caught before."""
    with open(os.path.join(TREE, table.folder, mutant.file), encoding="utf-8") as file:
        text = file.read()
    try:
        text = mutant.apply(text)
    except ValueError as error:
        return False, "does not apply: %s" % error
    if is_equivalent(mutant):
        return True, "not tried"
    key = key_of(table, mutant)
    before = known.lookup(key)
    if before:
        return True, before.decode()
    caught, what = try_mutant(table, mutant, text, where, whole)
    if caught:
        known.keep(key, what.encode())
    shutil.rmtree(os.path.join(where, mutant.name))
    return caught, what


def key_of(table, mutant):
    """The name of the result in the cache."""
    return known.key_of(table.key, mutant.name, mutant.file, repr(mutant.catcher),
                        repr(mutant.edits))


def build_whole(pool, work, whole):
    """Compile the unchanged objects, for mutants that must be tried."""
    tables = {table: None for table, mutant in work
              if not is_equivalent(mutant) and not known.lookup(key_of(table, mutant))}
    jobs = [(table, source) for table in tables for source in table.all_sources()]
    for status, output in pool.map(lambda job: job[0].compile(
            job[1], "-c", "-o", object_name(whole, job[1])), jobs):
        if status:
            raise SystemExit("Bail out! the code as it is does not compile\n" + output)


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Do the tests catch broken code?")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 2, dest="jobs")
    parser.add_argument("directory", help="where to build")
    parser.add_argument("name", nargs="*", help="only these mutants")
    args = parser.parse_args()
    work = [(table, mutant) for table in TABLES for mutant in table.mutants
            if not args.name or mutant.name in args.name]
    if not work:
        parser.error("no such mutant")
    where = os.path.abspath(args.directory)
    whole = os.path.join(where, "whole")
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(whole)
    print("KTAP version 1\n1..%d" % len(work), flush=True)
    caught = equivalent = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(Table.make_key, {table: None for table, _ in work}))
        build_whole(pool, work, whole)
        results = pool.map(lambda job: judge(*job, where, whole), work)
        for number, ((_, mutant), (good, what)) in enumerate(zip(work, results), 1):
            skip = good and is_equivalent(mutant)
            print("# %s: %s\n# %s" % (mutant.file, mutant.why, what.replace("\n", "\n#   ")))
            print("%sok %d mutant %s%s" % ("" if good else "not ", number, mutant.name,
                                           " # SKIP " + mutant.catcher if skip else ""),
                  flush=True)
            equivalent += skip
            caught += good and not skip
    print("# %d caught, %d equivalent, of %d" % (caught, equivalent, len(work)))
    return 0 if caught + equivalent == len(work) else 1


if __name__ == "__main__":
    sys.exit(main())
