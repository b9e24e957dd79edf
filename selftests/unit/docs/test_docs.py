#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The docs have no dead link, and each command in them works or says why no test runs it. If this
fails, a link leads a reader nowhere, or a new user copies a command that no test has run.

    test_docs.py                 TAP: links and anchors, command blocks
    test_docs.py --list          pages with commands to be run
    test_docs.py --script PAGE   a shell script that runs the page's commands in order, for
                                 selftests/vm/tool/test_docs.sh

A block has commands if it is fenced as "console", or if its first line begins with "$ ", "# " or
the name of a program (PROGRAMS).  If some lines begin with "$ " or "# ", only these are commands.
Comments before the block:

    <!-- not run: REASON -->     do not run it
    <!-- run: COMMAND -->        run this before it
    <!-- without: TEXT: REASON -->   do not run lines with TEXT
    <!-- file: NAME -->          the block is the contents of a file

A recording that would last until Ctrl-C, or longer than a second, lasts a second.
"""
import os
import re
import shlex
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAMS = {"tracebuf", "babeltrace2", "make", "insmod", "modprobe", "cat", "cc", "jq", "protoc", "systemctl", "apt",
            "sqlite3", "mkdir", "cp", "sed", "ls", "openssl", "mokutil", "addgroup", "adduser", "dkms", "perf",
            "trace-cmd", "lttng", "scripts", "selftests", "build", "nice", "sudo", "echo", "kill", "python3"}


def pages():
    found = []
    for folder, folders, files in os.walk(TREE):
        folders[:] = [name for name in folders if name not in (".git", "build", "out", "LICENSES")]
        found += [os.path.relpath(os.path.join(folder, name), TREE) for name in files if name.endswith(".md")]
    return sorted(found)


def read(page):
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        return file.read().split("\n")


class Block:
    def __init__(self, page, line, info, lines, notes):
        self.page, self.line, self.info, self.lines = page, line, info, lines
        self.reason = next((text for kind, text in notes if kind == "not run"), None)
        self.before = [text for kind, text in notes if kind == "run"]
        self.without = [text.partition(": ")[0] for kind, text in notes if kind == "without"]
        self.file = next((text for kind, text in notes if kind == "file"), None)

    def is_commands(self):
        if self.file or self.info not in ("", "console"):
            return False
        first = next((line for line in self.lines if line.strip()), "")
        if self.info == "console" or re.match(r"[$#] \S", first):
            return True
        word = re.match(r"([A-Za-z][\w-]*)(/[\w./-]+)?(\s|$)", first)
        if not word:
            return False
        return word.group(1) in PROGRAMS and ("/" in first.split()[0]) == (word.group(1) in ("scripts", "selftests", "build"))

    def commands(self):
        """[(line number, command)]."""
        numbered = list(enumerate(self.lines, self.line))
        if any(re.match(r"[$#] \S", line) for line in self.lines):
            numbered = [(n, line[2:]) for n, line in numbered if re.match(r"[$#] \S", line)]
        return [(n, line) for n, line in numbered if line.strip() and line.strip() != "..." and
                not line.startswith("#") and not any(text in line for text in self.without)]


def blocks(page):
    lines = read(page)
    found, notes, at, blank = [], [], 0, True
    while at < len(lines):
        line = lines[at]
        note = re.fullmatch(r"<!-- (run|not run|without|file): (.*) -->", line.strip())
        fence = re.match(r"```(\w*)$", line)
        if fence:
            end = next(n for n in range(at + 1, len(lines)) if lines[n].startswith("```"))
            found.append(Block(page, at + 2, fence.group(1), lines[at + 1:end], notes))
            at, notes = end + 1, []
        elif blank and line.startswith("    "):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            own = [text[4:] for text in lines[at:end]]
            while own and not own[-1].strip():
                own.pop()
            found.append(Block(page, at + 1, "", own, notes))
            at, notes = end, []
            blank = True
            continue
        elif note:
            notes = [*notes, note.groups()]
            at += 1
            blank = True
            continue
        else:
            if line.strip():
                notes = []
            at += 1
        blank = not line.strip()
    return found


def shortened(command):
    """The command, with a second as the duration of a recording that nothing else ends."""
    command = re.sub(r"(tracebuf (?:record|stream)\b[^|;&]*?) -d (\d+)\b", r"\1 -d 1", command)
    match = re.match(r"(tracebuf (?:record|stream))\b(.*)$", command)
    if match and " -d " not in command and " -- " not in command and "--daemon" not in command:
        command = f"{match.group(1)} -d 1{match.group(2)}"
    return command


def script(page):
    """Print a script that runs each command, all in one shell, and then names the failed ones."""
    print("failed=0")
    for block in blocks(page):
        if block.file:
            print(f"cat >{shlex.quote(block.file)} <<'END_OF_FILE'\n" + "\n".join(block.lines) + "\nEND_OF_FILE")
        if not block.is_commands() or block.reason:
            continue
        for command in block.before:
            print(command)
        for number, command in block.commands():
            where = shlex.quote(f"{page}:{number}: {command}")
            print(f"echo + {where}")
            if command.rstrip().endswith("&"):
                print(shortened(command))
            else:
                print(f"{shortened(command)}\n[ $? = 0 ] || {{ echo FAILED {where}; failed=1; }}")
    print("kill $(jobs -p) 2>/dev/null\nexit $failed")


# ---- on the host ----

def anchors(page):
    """The anchors of the headings, as GitHub forms them."""
    found, fenced = set(), False
    for line in read(page):
        if line.startswith("```"):
            fenced = not fenced
        match = not fenced and re.match(r"#+ +(.*)", line)
        if match:
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match.group(1)).strip().lower()
            name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            number = 0
            while (f"{name}-{number}" if number else name) in found:
                number += 1
            found.add(f"{name}-{number}" if number else name)
    return found


def links(page):
    """[(line number, target)]."""
    found, fenced = [], False
    for number, line in enumerate(read(page), 1):
        if line.startswith("```"):
            fenced = not fenced
        if fenced or line.startswith("    "):
            continue
        line = re.sub(r"`[^`]*`", "", line)
        found += [(number, target) for target in re.findall(r"\]\(([^)\s]+)\)", line)]
    return found


def wrong_links(page):
    wrong = []
    for number, target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        whole = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(TREE, whole)):
            wrong.append(f"{page}:{number}: {target}: there is no {whole}")
        elif anchor and whole.endswith(".md") and anchor not in anchors(whole):
            wrong.append(f"{page}:{number}: {target}: {whole} has no heading of that name")
    return wrong


def main():
    count = failed = commands = 0
    print("TAP version 14")

    def check(name, wrong):
        nonlocal count, failed
        count += 1
        for line in wrong:
            print(f"# {line}")
        print(f"{'not ok' if wrong else 'ok'} {count} - {name}")
        failed |= bool(wrong)

    # the README's table of pages names them without links
    linked = {"README.md", *re.findall(r"`(docs/[\w-]+\.md)`", "\n".join(read("README.md")))}
    for page in pages():
        check(f"links of {page}", wrong_links(page))
        linked |= {os.path.normpath(os.path.join(os.path.dirname(page), target.partition("#")[0]))
                   for _, target in links(page)}
    check("every page is linked from another", [page for page in pages() if page not in linked])
    wrong = []
    for page in pages():
        for block in blocks(page):
            if block.is_commands():
                commands += len(block.commands())
                if block.reason is not None and len(block.reason) < 10:
                    wrong.append(f"{page}:{block.line}: not run, and why is not said")
                wrong += [f"{page}:{block.line}: no line has '{text}' in it" for text in block.without
                          if not any(text in line for line in block.lines)]
            elif block.reason or block.before or block.without:
                wrong.append(f"{page}:{block.line}: a remark about running, and no commands")
    if commands < 60:
        wrong.append(f"only {commands} commands found in the docs")
    check("blocks of commands", wrong)
    print(f"1..{count}")
    return failed


if sys.argv[1:2] == ["--script"] and len(sys.argv) == 3:
    script(sys.argv[2])
elif sys.argv[1:] == ["--list"]:
    for name in pages():
        if any(block.is_commands() and not block.reason for block in blocks(name)):
            print(name)
elif len(sys.argv) == 1:
    sys.exit(main())
else:
    sys.exit(__doc__)
