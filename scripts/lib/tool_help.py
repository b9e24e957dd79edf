# SPDX-License-Identifier: GPL-2.0-only
"""tool_help.py - parses the help texts of the tool.

Only "tracebuf COMMAND -h" explains options. The tool reads its options from it; man pages and
completions come from it.

    commands(tool)          [(name, brief)]
    full(tool, name)        the text of --help-all, or of -h if the tool has no longer text
    Help(text)              usage: lines; before, after: paragraphs; options: [Option];
                            names(): all long options
"""
import re
import subprocess
import textwrap

# "  -e, --events LIST     what", "      --follow   what", "  -h, --help"; also "  PATTERN      what"
OPTION = re.compile(r"^ {2,6}(?:(?P<short>-[A-Za-z0-9])(?:, ?)?)?(?P<long>--[a-z][a-z0-9-]*)?"
                    r"(?P<value>(?:[ =]| ?\[=?)[^ ]+(?: [^ ]+)*?)?(?:  +(?P<what>\S.*)| (?P<tight>[a-z(].*))?$")
OPERAND = re.compile(r"^  (?P<value>[A-Z]+(?:\.\.\.)?)  +(?P<what>\S.*)$")


def said(tool, *words):
    """Run the tool; return its standard output and error."""
    run = subprocess.run([tool, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         stdin=subprocess.DEVNULL, timeout=60, check=False)
    return run.stdout


def commands(tool):
    found = []
    for line in said(tool, "-h").splitlines():
        match = re.match(r"  ([a-z][a-z0-9-]*) +([^-\s].*)$", line)
        if match and match.group(1) != "tracebuf":
            found.append(match.groups())
    return found


def full(tool, name):
    text = said(tool, name, "-h")
    return said(tool, name, "--help-all") if "--help-all" in text else text


class Option:
    """An option or an operand; what: the lines that explain it."""

    def __init__(self, short, long, value, what):
        self.short, self.long, self.value = short or "", long or "", (value or "").strip()
        self.what = [what] if what else []


class Help:
    def __init__(self, text):
        lines = text.rstrip("\n").split("\n")
        self.usage, self.options, self.before, self.after = [], [], [], []
        while lines and lines[0].strip():
            line = lines.pop(0)
            if line.startswith("usage: ") or line.startswith("       tracebuf"):
                self.usage.append(line.removeprefix("usage: ").strip())
            else:
                self.usage[-1] += " " + line.strip()
        current, paragraph = None, []
        for line in [*lines, ""]:
            match = line.startswith("  ") and (self._option(line) or OPERAND.match(line))
            if match:
                self._end(paragraph)
                paragraph = []
                group = match.groupdict()
                current = Option(group.get("short"), group.get("long"), group["value"],
                                 group.get("what") or group.get("tight"))
                self.options.append(current)
            elif current and re.match(r" {8,}\S", line):
                current.what.append(line)
            elif line.strip():
                current = None
                paragraph.append(line)
            else:
                self._end(paragraph)
                paragraph = []
        for option in self.options:
            rest = textwrap.dedent("\n".join(option.what[1:])).split("\n") if option.what[1:] else []
            option.what = option.what[:1] + rest

    def names(self):
        return {option.long for option in self.options if option.long}

    @staticmethod
    def _option(line):
        match = OPTION.match(line)
        return match if match and (match["short"] or match["long"]) else None

    def _end(self, paragraph):
        if paragraph:
            (self.after if self.options else self.before).append(paragraph)
