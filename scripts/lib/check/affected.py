# SPDX-License-Identifier: GPL-2.0-only
"""affected.py - finds the tests that a change can affect, by the changed files.

--changed runs only these tests; the default run adds those that otherwise only --full runs. A test
that several rows name runs once. The suite docs fails if a file of the tree has no row.
"""
import fnmatch
import glob
import os
import subprocess

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

# Tests that quickly find most errors anywhere in the module
MODULE = ["test_read", "test_loss", "test_modes", "test_mmap", "checkpatch", "rooms"]

# Patterns of files ("*" matches "/" too), and names as scripts/check takes them. vm/ROOM: the tests
# in that folder of selftests/vm, where each room of the module has a folder of the same name
TABLE = (
    ("*.md", ["docs"]),
    ("docs/*", ["docs", "unit library"]),
    # without the mutants, which test the tests: the default run has them
    ("module/ring/*", MODULE + ["vm/ring", "unit ring", "bench", "flips *"]),
    ("module/machine/*", MODULE + ["vm/crash", "test_suspend*", "suspend *", "* erratum",
                                   "test_mapping", "test_rules", "reboots", "* region"]),
    ("module/provider/*", MODULE + ["vm/recording", "test_header", "test_mapping", "test_secrets",
                                    "test_poll"]),
    ("module/probe/filter*", MODULE + ["unit filter", "unit mutants", "test_rule_ioctl",
                                       "test_rule_random"]),
    ("module/probe/*", MODULE + ["vm/select", "test_api", "test_driver", "test_follow"]),
    ("module/events/*", MODULE + ["vm/events", "headers", "bench"]),
    ("module/select/*", MODULE + ["vm/select", "test_api", "test_driver"]),
    ("module/programs/*", MODULE + ["vm/programs"]),
    ("module/recording/*", MODULE + ["vm/recording", "suspend *"]),
    ("module/reader/*", MODULE + ["vm/reader"]),
    ("module/crash/*", MODULE + ["vm/crash", "panics *", "reboots", "crashes *"]),
    ("module/devices/tracebuf_producer*", MODULE + ["vm/programs"]),
    ("module/devices/*", MODULE + ["vm/devices"]),
    ("module/api*", MODULE + ["test_api", "test_driver"]),
    ("module/*", MODULE + ["vm/recording", "test_select"]),
    ("uapi/*", MODULE + ["unit library", "test_ioctl", "test_producer"]),
    ("include/*", MODULE + ["test_api", "test_driver"]),
    ("samples/user/*", ["samples", "test_user"]),
    ("samples/read/*", ["samples", "unit library"]),
    ("samples/*", ["test_driver", "checkpatch"]),
    ("userspace/open/*", ["test_members"]),
    ("userspace/lib/control/helper*", ["unit library", "test_members"]),
    ("userspace/lib/write/*", ["unit library", "unit mutants", "test_user"]),
    ("userspace/lib/pack/*", ["unit library", "unit pack"]),
    ("userspace/lib/*", ["unit library", "unit formats", "unit pack"]),
    ("userspace/include/*", ["unit library", "abidiff"]),
    ("userspace/tool/recover/*", ["unit library", "crashes *", "reboots"]),
    ("userspace/tool/record/history*", ["unit library", "test_history"]),
    ("userspace/tool/record/*", ["unit library", "test_tool", "test_record_files", "test_history",
                                 "test_faults"]),
    ("userspace/analysis/*", ["unit report", "unit page", "unit history"]),
    ("userspace/tool/report/page/*", ["unit page"]),
    ("userspace/tool/export/perfetto/*", ["unit formats", "test_perfetto"]),
    ("userspace/plugins/*", ["unit library", "test_babeltrace"]),
    ("userspace/tool/export/*", ["unit formats", "unit history"]),
    ("userspace/tool/query/*", ["unit query", "unit history"]),
    ("userspace/tool/report/*", ["unit report", "unit page"]),
    # only these files need the device, so only they need a guest
    ("userspace/tool/top/source.c", ["unit library", "unit top", "test_top"]),
    ("userspace/tool/top/guard.c", ["unit top", "test_top"]),
    ("userspace/tool/top/*", ["unit library", "unit top"]),
    ("userspace/tool/cmd/top.c", ["unit library", "unit top"]),
    ("userspace/tool/cmd/pack.c", ["unit library", "unit pack"]),
    ("userspace/tool/*", ["unit library", "unit formats", "test_tool"]),
    ("userspace/*", ["unit library"]),
    ("selftests/unit/ring/*", ["unit ring*"]),
    ("selftests/unit/filter/*", ["unit filter", "unit library", "unit mutants"]),
    ("selftests/unit/lib/*writers*", ["unit library", "unit mutants"]),
    ("selftests/unit/docs/*", ["docs"]),
    ("selftests/unit/*mutants*", ["unit mutants", "unit ring mutants"]),
    ("selftests/unit/tool/*top*", ["unit top", "unit library"]),
    ("selftests/unit/tool/*pack*", ["unit pack"]),
    ("selftests/unit/tool/*", ["unit library", "unit query"]),
    ("selftests/unit/export/*", ["unit library", "unit formats", "unit history"]),
    ("selftests/unit/report/*", ["unit library", "unit report", "unit page"]),
    ("selftests/unit/*", ["unit library", "unit formats", "unit report", "unit query", "unit page"]),
    ("selftests/golden/*", ["unit formats", "unit report", "unit query", "unit pack"]),
    ("selftests/torture/*", ["torture"]),
    ("selftests/recover/reboot*", ["reboots"]),
    ("selftests/recover/panic*", ["panics *"]),
    ("selftests/recover/k*", ["kdump *"]),
    ("selftests/recover/suspend*", ["suspend *"]),
    ("selftests/recover/*", ["crashes *"]),
    ("selftests/vm/events/*", ["test_ftrace", "test_formats"]),
    ("selftests/vm/lib/loads.c", ["test_ftrace", "test_modules"]),
    ("selftests/vm/devices/lockdown.sh", ["* lockdown"]),
    ("selftests/vm/crash/region.sh", ["* region"]),
    ("selftests/vm/devices/numa.sh", ["* numa"]),
    ("selftests/vm/devices/erratum.sh", ["* erratum"]),
    ("selftests/vm/*", MODULE + ["test_tool"]),
    ("selftests/bench/*", ["bench"]),
    ("selftests/build/*", ["abidiff", "headers"]),
    ("selftests/fuzz/*", ["unit library"]),
    ("selftests/package/*", ["packages"]),
    ("selftests/times.tsv", []),
    ("scripts/bench", ["bench"]),
    ("scripts/build-module", MODULE + ["headers"]),
    ("scripts/lib/units-*", MODULE + ["headers"]),
    ("scripts/lib/*guest*", MODULE),
    ("scripts/lib/vm*", MODULE),
    ("scripts/vm", MODULE),
    ("scripts/man", ["unit library"]),
    ("scripts/completions", ["unit library"]),
    ("scripts/package", ["packages"]),
    ("scripts/*", ["docs"]),
    ("Kbuild", MODULE + ["headers"]),
    ("Makefile", MODULE + ["headers"]),
    ("debian/*", ["packages"]),
    ("packaging/*", ["packages"]),
    ("dkms.conf", ["packages"]),
    ("LICENSES/*", []),
    (".*", []),
)


def changed_files(tree, revision):
    """Return the files that differ from the revision; by default from this branch's upstream."""
    def git(*words):
        said = subprocess.run(["git", "-C", tree, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return said.stdout.decode().split("\n") if said.returncode == 0 else None
    base = git("merge-base", "HEAD", revision or "@{upstream}")
    if not base:
        if revision:
            raise SystemExit("check: no revision '%s' in this repository" % revision)
        base = ["HEAD"]
    files = git("diff", "--name-only", base[0]) or []
    files += git("ls-files", "--others", "--exclude-standard") or []
    return [file for file in files if file]


def tests_of(file):
    """Return the names of the tests for a file; None if it has no row."""
    if fnmatch.fnmatch(file, "selftests/vm/*/test_*"):
        return [os.path.splitext(os.path.basename(file))[0]]
    for pattern, tests in TABLE:
        if fnmatch.fnmatch(file, pattern):
            return [name for test in tests for name in room(test)]
    return None


def room(name):
    """Return the tests in folder vm/ROOM; for another name the name itself."""
    if not name.startswith("vm/"):
        return [name]
    found = glob.glob(os.path.join(TREE, "selftests", name, "test_*"))
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in found)


def names(tree, revision):
    """Return the names of the tests that changes since a revision can affect; None: all."""
    wanted = []
    for file in changed_files(tree, revision):
        tests = tests_of(file)
        if tests is None:
            return None
        wanted += tests
    return list(dict.fromkeys(wanted))
