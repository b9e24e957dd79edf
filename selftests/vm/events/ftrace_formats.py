#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
ftrace_formats.py OURS THEIRS REDUCED SYSTEM

Compares the formats of the events of SYSTEM. OURS is the output of "tracebuf list --format",
THEIRS of "grep -r --include=format '' ." in the folder events of tracefs. Fields must agree in
declaration, offset, size and sign, print formats word by word. The kernel replaces only some names
of enumerators by their values, and tracebuf all, so we may have a number for a name. REDUCED lists
events that lack fields, and the fields ("?": if the kernel has it). "*": its fields are the
arguments of the tracepoint, which is not compared. "%": its print format differs.
"""
import re
import sys

FIELD = re.compile(r"\tfield:(.*?);\toffset:(\d+);\tsize:(\d+);\tsigned:(\d);")
# names that the compiler makes up
UNIQUE = re.compile(r"(__UNIQUE_ID_\w+?_)\d+")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->\s*\w+|\w+|\S')


def parse(text):
    """Returns the fields (declaration, offset, size, sign) and the print format."""
    return FIELD.findall(text), text[text.index("print fmt: "):].strip()


def read(name):
    """Returns {(system, name): what parse() returns}."""
    texts = re.split(r"^system: ", open(name).read(), flags=re.M)[1:]
    return {re.match(r"(.*)\nname: (.*)\n", text).groups(): parse(text) for text in texts}


def read_theirs(name, system):
    """Returns {(system, name): what parse() returns} of one subsystem."""
    texts, start = {}, "./%s/" % system
    with open(name) as lines:
        for line in lines:
            if line.startswith(start):
                path, _, text = line.partition("/format:")
                texts.setdefault((system, path[len(start):]), []).append(text)
    return {event: parse("".join(text)) for event, text in texts.items()}


def same_print(kernel, ours):
    kernel, ours = (TOKEN.findall(UNIQUE.sub(r"\1", text)) for text in (kernel, ours))
    # a negative number is two words
    i = 0
    for word in kernel:
        if i >= len(ours):
            return False
        if word == ours[i]:
            i += 1
        elif re.match(r"[A-Za-z_]\w*$", word) and re.match(r"\d", ours[i]):
            i += 1
        elif re.match(r"[A-Za-z_]\w*$", word) and ours[i] == "-" and re.match(r"\d", ours[i + 1]):
            i += 2
        else:
            return False
    return i == len(ours)


def name_of(field):
    return re.sub(r"\[.*", "", field[0].split()[-1])


def compare(kernel, ours, missing):
    """Returns what is wrong, or None."""
    own = {name[1:] for name in missing if name[0] == "+"}
    missing = {name for name in missing if name[0] != "+"}
    if not own <= {name_of(f) for f in ours[0]}:
        return "is said to have a field of our own that it does not have"
    ours = [f for f in ours[0] if name_of(f) not in own], ours[1]
    if missing == {"%"}:
        return None if kernel[0] == ours[0] else "fields differ"
    if missing:
        def plain(fields):
            return [(f[0], f[2], f[3]) for f in fields if name_of(f) not in missing]
        always = {name for name in missing if name[-1] != "?"}
        missing = {name.rstrip("?") for name in missing}
        if not always <= {name_of(f) for f in kernel[0]}:
            return "is said to lack a field that the kernel does not have"
        return None if plain(kernel[0]) == plain(ours[0]) else "fields besides the missing ones differ"
    if kernel[0] != ours[0]:
        return "fields differ"
    return None if same_print(kernel[1], ours[1]) else "print formats differ"


def main():
    system = sys.argv[4]
    ours, theirs, reduced = read(sys.argv[1]), read_theirs(sys.argv[2], system), {}
    for line in open(sys.argv[3]):
        words = line.split("#")[0].split()
        if words:
            reduced[words[0]] = set(words[1:])
    count = bad = other = 0
    for event in sorted(e for e in ours if e[0] == system):
        kernel = theirs.get(event)
        if not kernel:
            print("%s:%s: tracefs has no such event" % event)
            continue
        count += 1
        if reduced.get("%s:%s" % event) == {"*"}:
            other += 1
            continue
        wrong = compare(kernel, ours[event], reduced.get("%s:%s" % event, set()))
        if wrong:
            bad += 1
            print("%s:%s: %s; the kernel's, ours:" % (event + (wrong,)))
            print(*kernel, *ours[event], sep="\n")
    print(count, "events,", other, "with their arguments only,", bad, "of the others differ")
    return bad > 0 or count == 0


sys.exit(main())
