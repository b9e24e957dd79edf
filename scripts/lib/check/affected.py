# SPDX-License-Identifier: GPL-2.0-only
"""affected.py - finds the tests that a change can affect, by the changed files.

--changed runs only these tests; the default run adds those that otherwise only --full runs. The
tests of a file are those of the rules in by_name() and those of all rows of TABLE that match. The
suite "tables" fails if a file of the tree has neither.
"""
import fnmatch
import glob
import os
import re

from tree import git

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

# Tests that quickly find most errors anywhere in the module
MODULE = ["test_read", "test_loss", "test_modes", "test_mmap", "checkpatch", "rooms"]

# Suites of user space that have a folder or files of their names, see by_name()
SUITES = ("ring", "filter", "report", "page", "query", "pack", "top")

# All suites that use the fixtures and the traces of selftests/unit
UNIT = ["unit library", "unit formats", "unit history", "unit report", "unit page", "unit query",
        "unit pack", "unit top"]

# Exceptions from the rules: tests, named as scripts/check takes them, and patterns of the files
# that affect them. "*" matches "/" too. vm/ROOM: the tests in that folder of selftests/vm
TABLE = (
    # the module
    (MODULE, "module/* uapi/* include/* Kbuild Makefile selftests/vm/lib/* selftests/vm/Makefile "
             "scripts/vm scripts/lib/vm* scripts/lib/*guest* scripts/build-module "
             "scripts/lib/units-*"),
    # without the mutants, which test the tests: the default run has them
    (["unit ring", "flips *"], "module/ring/*"),
    (["bench"], "module/ring/* module/events/* selftests/bench/* scripts/bench"),
    (["vm/crash", "test_suspend*", "test_mapping", "test_rules", "* erratum", "* region"],
     "module/machine/*"),
    (["vm/recording", "test_header", "test_mapping", "test_secrets", "test_poll"],
     "module/provider/*"),
    (["vm/select", "test_follow"], "module/probe/*"),
    (["test_api", "test_driver"], "module/probe/* module/select/* module/api* include/*"),
    (["headers"], "module/events/* Kbuild Makefile scripts/build-module scripts/lib/units-* "
                  "selftests/build/*"),
    (["suspend *"], "module/machine/* module/recording/* selftests/recover/suspend*"),
    (["crashes *"], "module/crash/* userspace/tool/recover/* selftests/recover/[cgh]* "
                    "selftests/recover/run.sh selftests/vm/kernel/tb_crash.c"),
    (["panics *"], "module/crash/* selftests/recover/panic* selftests/vm/kernel/tb_crash.c"),
    (["reboots"], "module/machine/* module/crash/* userspace/tool/recover/* "
                  "selftests/recover/reboot* selftests/recover/damage.py"),
    (["kdump *"], "selftests/recover/k*"),
    (["vm/programs"], "module/devices/tracebuf_producer*"),
    (["vm/recording", "test_select"], "module/main.c"),
    (["test_ioctl", "test_producer"], "uapi/*"),
    (["torture"], "selftests/torture/*"),
    (["test_api", "test_inflight"], "selftests/vm/kernel/*"),
    (["test_ftrace", "test_modules"], "selftests/vm/lib/loads.c"),

    # user space
    (["unit library"], "userspace/* uapi/* samples/read/* selftests/unit/lib/* "
                       "selftests/unit/tool/* selftests/unit/export/* selftests/unit/report/* "
                       "selftests/unit/filter/* selftests/fuzz/* docs/man/* docs/abi.md "
                       "docs/install.md scripts/man scripts/completions scripts/abi-tables "
                       "scripts/lib/tool_help.py"),
    (UNIT, "selftests/unit/lib/*.h selftests/unit/*_trace.c selftests/unit/*/test_export.c "
           "selftests/unit/tap.sh selftests/golden/*"),
    (["unit formats"], "userspace/lib/* userspace/tool/* selftests/unit/export/*"),
    (["unit pack"], "userspace/lib/*"),
    (["unit history"], "userspace/analysis/* userspace/tool/export/* userspace/tool/query/* "
                       "userspace/tool/report/* userspace/tool/flame/* selftests/unit/export/*"),
    (["unit report", "unit page"], "userspace/analysis/* userspace/tool/report/*"),
    (["unit report"], "docs/json.md userspace/tool/query/named.c userspace/tool/show/causes.c"),
    (["unit query"], "selftests/unit/tool/*"),
    (["unit filter", "unit mutants"], "module/probe/filter* selftests/unit/filter/*"),
    (["unit mutants"], "userspace/lib/write/* selftests/unit/lib/*writers* "
                       "selftests/unit/lib/chunk* selftests/unit/mutants.py "
                       "selftests/unit/test_mutants.py"),
    (["unit ring mutants"], "selftests/unit/ring/* selftests/unit/mutants.py"),
    (["abidiff"], "userspace/include/* selftests/build/*"),
    (["test_tool"], "userspace/tool/c* userspace/tool/[dfms]* userspace/tool/record/* "
                    "userspace/tool/tables/* selftests/vm/lib/*"),
    (["test_record_files", "test_faults"], "userspace/tool/record/[!h]*"),
    (["test_history"], "userspace/tool/record/*"),
    # other files of top need no device, so no guest
    (["test_top"], "userspace/tool/top/source.c userspace/tool/top/guard.c"),
    (["test_cgroups"], "userspace/*cgroup* userspace/tool/choose/container* "
                       "userspace/tool/top/containers.c"),
    (["test_members"], "userspace/open/* userspace/lib/control/helper*"),
    (["test_user"], "userspace/lib/write/* samples/user/*"),
    (["test_perfetto"], "userspace/tool/export/perfetto/*"),
    (["test_babeltrace"], "userspace/plugins/*"),
    (["samples"], "samples/user/* samples/read/*"),
    (["test_driver"], "samples/[!ru]*"),
    (["checkpatch"], "samples/* selftests/torture/* selftests/vm/kernel/*"),

    # the rest
    (["docs"], "*.md docs/* scripts/* selftests/unit/docs/*"),
    (["tables"], "scripts/check scripts/lib/check/* scripts/lib/ktap.awk selftests/unit/check/*"),
    (["packages"], "selftests/package/* scripts/package debian/* packaging/* dkms.conf"),
    ([], "selftests/times.tsv LICENSES/* .*"),
)


def changed_files(tree, revision):
    """Return the files that differ from the revision; by default from this branch's upstream. None:
    git fails."""
    base = git(tree, "merge-base", "HEAD", revision or "@{upstream}")
    if not base:
        if revision:
            raise SystemExit("check: git finds no revision '%s' here" % revision)
        base = b"HEAD"
    # a file that moved counts by its old name, too
    said = [git(tree, "diff", "--name-only", "--no-renames", base.decode().strip()),
            git(tree, "ls-files", "--others", "--exclude-standard")]
    return None if None in said else [file for file in b"".join(said).decode().split("\n") if file]


def by_name(file):
    """Return the tests that share a name with the file.

    module/ROOM/...                     the tests in selftests/vm/ROOM
    selftests/vm/ROOM/test_NAME.*       this test
    selftests/vm/ROOM/NAME.sh           the guest "KERNEL NAME"
    selftests/vm/ROOM/...               the tests of this room, which use the file
    userspace/..., selftests/unit/...   the suites "unit WORD" for each WORD of the path
    """
    words = re.split("[/_.]", file)
    if fnmatch.fnmatch(file, "module/*/*"):
        return ["vm/" + words[1]]
    match = re.match(r"selftests/vm/(\w+)/(\w+)\.(\w+)$", file)
    if match and match[1] not in ("lib", "kernel"):
        if match[2].startswith("test_"):
            return [match[2]]
        return ["* " + match[2]] if match[3] == "sh" else ["vm/" + match[1]]
    if file.startswith(("userspace/", "selftests/unit/")):
        return ["unit " + word for word in SUITES if word in words]
    return []


def tests_of(file):
    """Return the names of the tests for a file; None if neither a rule nor a row has it."""
    rows = [tests for tests, patterns in TABLE
            if any(fnmatch.fnmatch(file, pattern) for pattern in patterns.split())]
    named = by_name(file)
    if not named and not rows:
        return None
    return [name for test in sum(rows, named) for name in room(test)]


def room(name):
    """Return the tests in folder vm/ROOM; for another name the name itself."""
    if not name.startswith("vm/"):
        return [name]
    found = glob.glob(os.path.join(TREE, "selftests", name, "test_*"))
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in found)


def names(tree, revision):
    """Return the names of the tests that changes since a revision can affect; None: all."""
    wanted = []
    files = changed_files(tree, revision)
    if files is None:
        return None
    for file in files:
        tests = tests_of(file)
        if tests is None:
            return None
        wanted += tests
    return list(dict.fromkeys(wanted))
