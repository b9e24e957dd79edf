# SPDX-License-Identifier: GPL-2.0-only
"""
Mutants: deliberately broken variants of a source file, one in each entry of a table.

test_ring_mutants.py and test_mutants.py use this module to read tables, apply a mutant to the text
of its file, and run compilers and tests. ring_mutants.txt describes the form of a table.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, "scripts", "lib"))
sys.dont_write_bytecode = True

CC = os.environ.get("CC", "cc").split()
# seconds: long enough for any test that must catch a mutant
TIMEOUT = 240


class Mutant:
    """One entry of a table: a file and the replacements in it."""

    def __init__(self, name, file, why):
        self.name, self.file, self.why, self.catcher = name, file, why, None
        self.edits = []

    def apply(self, text):
        """The broken text; ValueError if a replacement does not fit."""
        for old, new in self.edits:
            old, new = "\n".join(old), "\n".join(new)
            if text.count(old) != 1:
                raise ValueError("found %d times: %s" % (text.count(old), old))
            text = text.replace(old, new)
        return text


def read_table(path):
    """The mutants of a table, in its order."""
    mutants, minus = [], False
    with open(path, encoding="utf-8") as table:
        for line in table:
            line = line.rstrip("\n")
            if line.startswith("= "):
                mutants.append(Mutant(*re.match(r"= (\S+): (\S+): (.*)", line).groups()))
            elif line.startswith("@ "):
                mutants[-1].catcher = line[2:]
            elif line.startswith("-"):
                if not minus:
                    mutants[-1].edits.append(([], []))
                mutants[-1].edits[-1][0].append(line[1:])
            elif line.startswith("+"):
                mutants[-1].edits[-1][1].append(line[1:])
            elif line and not line.startswith("#"):
                raise SystemExit("%s: unknown line: %s" % (path, line))
            minus = line.startswith("-")
    return mutants


def run(command, cwd):
    """Exit status and output; status None after the timeout."""
    try:
        done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, "does not end"


def what_failed(output):
    """The line of the output that names the failure."""
    found = re.search(r"(?:^# ([^\n]*)\n)?not ok (?:\d+ )?([^\n]*)", output, re.M)
    if found:
        return "%s: %s" % (found.group(2), found.group(1))
    found = re.search(r"(WARNING: ThreadSanitizer: [^\n(]*).*?#0 ([^\n]*)", output, re.S)
    if found:
        return "%s in %s" % (found.group(1), re.sub(r"\S*/", "", found.group(2)))
    return "a crash"


def version(compiler):
    """The compiler's description of itself."""
    status, output = run(compiler + ["-v"], TREE)
    if status:
        raise SystemExit("Bail out! no compiler\n" + output)
    return output
