#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A command takes the options of its help, and a letter means the same in all commands. The
recorder has the commands of its package. If this fails, a command refuses an option that its help
shows, does something else than in another command, or is in no package.

The tool and scripts/lib/tool_help.py read the help each by themselves.

    test_options.py TOOL      without sanitizers; CC: the compiler
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TREE, "scripts/lib"))
import tool_help  # noqa: E402

TOOL = sys.argv[1]
CC = os.environ.get("CC", "cc").split()
# commands that take options after a word
WORDS = {"provider": [["create"]]}

# letters with one meaning under several names: which events; the number of lines, intervals or
# snapshots after which the command ends
NAMES = {"e": {"events", "on"}, "n": {"max", "rounds", "count"}}

# replaces the function of the C library: prints the options that the program passes, and exits
TELLS = r"""
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

int getopt_long(int argc, char *const *argv, const char *letters, const struct option *option,
		int *at)
{
	(void)argc, (void)argv, (void)letters, (void)at;
	for (; option->name; option++)
		printf("%d %s\n", option->val, option->name);
	exit(0);
}
"""


def table(library, words):
    """The long options that a command takes, by number."""
    said = subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True, check=False, timeout=60,
                          env={**os.environ, "LD_PRELOAD": library})
    numbers = collections.defaultdict(list)
    for line in said.stdout.splitlines():
        number, name = line.split()
        numbers[int(number)].append(name)
    return numbers


def is_one_meaning(letter, names):
    return len(names) == 1 or set(names) <= NAMES.get(letter, set())


def packaged(package):
    """The commands whose manual pages a package has."""
    with open(os.path.join(TREE, "debian", package + ".install"), encoding="utf-8") as file:
        return set(re.findall(r"man1/tracebuf-(\w+)\.1", file.read()))


def recorder_is_wrong():
    """What is wrong with the recorder's commands; "": nothing."""
    recorder = os.path.join(os.path.dirname(TOOL), "tracebuf-recorder")
    whole = {name for name, _ in tool_help.commands(TOOL)}
    some = {name for name, _ in tool_help.commands(recorder)}
    if packaged("tracebuf") != some:
        return f"tracebuf.install and the recorder differ: {packaged('tracebuf') ^ some}"
    other = packaged("tracebuf-tools") ^ (whole - some)
    if other:
        return f"tracebuf-tools.install lacks or adds: {other}"
    said = subprocess.run([recorder, "report"], stderr=subprocess.PIPE, text=True, check=False)
    if said.returncode != 2 or "the package tracebuf-tools has" not in said.stderr:
        return f"tracebuf report: exit status {said.returncode}: {said.stderr}"
    return ""


def main():
    print("TAP version 14")
    if not shutil.which(CC[0]):
        print("1..0 # SKIP needs a compiler")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        library = os.path.join(scratch, "tells.so")
        subprocess.run([*CC, "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=TELLS,
                       text=True, check=True)
        commands = [[name, *more] for name, _ in tool_help.commands(TOOL)
                    for more in WORDS.get(name, [[]])]
        letters = collections.defaultdict(lambda: collections.defaultdict(list))
        for count, words in enumerate(commands, 1):
            numbers = table(library, words)
            for number, names in numbers.items():
                if number < 0x80:
                    letters[chr(number)][names[0]].append(words[0])
            wrong = [names for names in numbers.values() if len(names) > 1]
            for names in wrong:
                print("# options with one letter or name:",
                      ", ".join("--" + name for name in names))
            told = tool_help.Help(tool_help.full(TOOL, words[0])).names()
            other = told ^ {"--" + name for names in numbers.values() for name in names}
            if other:
                print(f"# in the help or taken, not both: {', '.join(sorted(other))}")
            fine = not wrong and not other
            print(f"{'ok' if fine else 'not ok'} {count} - {' '.join(words)} takes the options of "
                  "its help")
            failed |= not fine
    for letter, names in sorted(letters.items()):
        if not is_one_meaning(letter, names):
            said = "; ".join(f"--{name} in {', '.join(where)}" for name, where in names.items())
            print(f"# -{letter} is {said}")
    fine = all(is_one_meaning(letter, names) for letter, names in letters.items())
    print(f"{'ok' if fine else 'not ok'} {len(commands) + 1} - "
          "a letter means the same in all commands")
    failed |= not fine
    wrong = recorder_is_wrong()
    if wrong:
        print("#", wrong)
    print(f"{'not ok' if wrong else 'ok'} {len(commands) + 2} - "
          "the recorder has the commands of its package")
    failed |= bool(wrong)
    print(f"1..{len(commands) + 2}")
    return failed


sys.exit(main())
