# SPDX-License-Identifier: GPL-2.0-only
"""affected.py - which tests a change can affect, by the files that it touches.

--changed runs these alone, and the default run adds those that are otherwise for --full. What
several rows name is run once. The suite docs wants a row for each file of the tree.
"""
import fnmatch
import os
import subprocess

# Tests of the module that find most of what can go wrong anywhere in it, in little time
MODULE = ["test_read", "test_loss", "test_modes", "test_mmap", "checkpatch", "rooms"]

# Files (a pattern matches "/" as well), and names as scripts/check takes them
TABLE = (
    ("*.md", ["docs"]),
    ("docs/*", ["docs", "unit library"]),
    # not the mutants, which test the tests: the default run has them
    ("module/ring/*", MODULE + ["unit ring", "test_context", "bench", "flips *"]),
    ("module/probe/filter*", MODULE + ["unit filter", "unit mutants", "test_rule_ioctl",
                                 "test_rule_random"]),
    ("module/select/rule*", MODULE + ["test_rules", "test_rule_ioctl"]),
    ("module/probe/pending*", MODULE + ["test_rules", "test_rule_ioctl"]),
    ("module/probe/thread_set*", MODULE + ["test_rules", "test_follow"]),
    ("module/probe/trigger*", MODULE + ["test_trigger", "test_snapshot"]),
    ("module/select/arm.*", MODULE + ["test_trigger", "test_snapshot"]),
    ("module/provider/durable*", MODULE + ["test_durable"]),
    ("module/recording/state*", MODULE + ["test_durable"]),
    ("module/provider/retention*", MODULE + ["test_durable"]),
    ("module/provider/thread_queue*", MODULE + ["test_durable", "test_inflight"]),
    ("module/select/select*", MODULE + ["test_select", "test_events", "test_modules"]),
    ("module/devices/tracebuf_producer*", MODULE + ["test_producer*", "test_user"]),
    ("module/programs/*", MODULE + ["test_producer*", "test_user"]),
    ("module/reader/save_channel*", MODULE + ["test_fifo", "test_fifo_life"]),
    ("module/reader/acquire*", MODULE + ["test_snapshot", "test_fifo", "test_ioctl"]),
    ("module/reader/session*", MODULE + ["test_poll", "test_ioctl"]),
    ("module/reader/read*", MODULE + ["test_read", "test_poll"]),
    ("module/reader/snapshot*", MODULE + ["test_snapshot"]),
    ("module/provider/wake*", MODULE + ["test_poll", "test_ioctl"]),
    ("module/devices/tracebuf.*", MODULE + ["test_ioctl", "test_control", "test_capable"]),
    ("module/provider/m*", MODULE + ["test_mapping", "test_header", "test_secrets"]),
    ("module/machine/contiguous*", MODULE + ["test_mapping", "test_secrets"]),
    ("module/machine/reserved*", MODULE + ["test_mapping", "reboots", "* region"]),
    ("module/machine/clock*", MODULE + ["test_suspend*", "suspend *", "* erratum"]),
    ("module/recording/sleep*", MODULE + ["test_suspend*", "suspend *"]),
    ("module/machine/counters*", MODULE + ["test_rules"]),
    ("module/machine/stack*", MODULE + ["test_rules"]),
    ("module/crash/previous_boot*", MODULE + ["reboots"]),
    ("module/crash/panic*", MODULE + ["panics *"]),
    ("module/crash/block_walk*", MODULE + ["panics *", "reboots", "crashes *"]),
    ("module/events/module_*", MODULE + ["test_api", "test_driver"]),
    ("module/select/handler*", MODULE + ["test_api", "test_driver"]),
    ("module/probe/veto*", MODULE + ["test_api", "test_driver"]),
    ("module/api*", MODULE + ["test_api", "test_driver"]),
    ("module/events/fast.c", MODULE + ["test_events", "test_formats", "bench"]),
    ("module/events/*", MODULE + ["test_events", "test_formats", "test_ftrace", "test_system",
                                   "headers"]),
    ("module/main.c", MODULE + ["test_params"]),
    ("module/*", MODULE + ["test_provider", "test_select", "test_snapshot", "test_hotplug"]),
    ("uapi/*", MODULE + ["unit library", "test_ioctl", "test_producer"]),
    ("include/*", MODULE + ["test_api", "test_driver"]),
    ("samples/user/*", ["samples", "test_user"]),
    ("samples/read/*", ["samples", "unit library"]),
    ("samples/*", ["test_driver", "checkpatch"]),
    ("userspace/open/*", ["test_members"]),
    ("userspace/lib/control/helper*", ["unit library", "test_members"]),
    ("userspace/lib/write/*", ["unit library", "unit mutants", "test_user"]),
    ("userspace/lib/*", ["unit library", "unit formats"]),
    ("userspace/include/*", ["unit library", "abidiff"]),
    ("userspace/tool/recover/*", ["unit library", "crashes *", "reboots"]),
    ("userspace/tool/record/*", ["unit library", "test_tool", "test_record_files", "test_faults"]),
    ("userspace/analysis/*", ["unit report", "unit page", "unit history"]),
    ("userspace/tool/report/page/*", ["unit page"]),
    ("userspace/tool/export/perfetto/*", ["unit formats", "test_perfetto"]),
    ("userspace/plugins/*", ["unit library", "test_babeltrace"]),
    ("userspace/tool/export/*", ["unit formats", "unit history"]),
    ("userspace/tool/query/*", ["unit query", "unit history"]),
    ("userspace/tool/report/*", ["unit report", "unit page"]),
    # in a guest only what knows of the device
    ("userspace/tool/top/source.c", ["unit library", "unit top", "test_top"]),
    ("userspace/tool/top/guard.c", ["unit top", "test_top"]),
    ("userspace/tool/top/*", ["unit library", "unit top"]),
    ("userspace/tool/cmd/top.c", ["unit library", "unit top"]),
    ("userspace/tool/*", ["unit library", "unit formats", "test_tool"]),
    ("userspace/*", ["unit library"]),
    ("selftests/unit/*ring*", ["unit ring*"]),
    ("selftests/unit/*filter*", ["unit filter", "unit library", "unit mutants"]),
    ("selftests/unit/*writers*", ["unit library", "unit mutants"]),
    ("selftests/unit/test_docs.py", ["docs"]),
    ("selftests/unit/*mutants*", ["unit mutants", "unit ring mutants"]),
    ("selftests/unit/*top*", ["unit top", "unit library"]),
    ("selftests/unit/test_page*", ["unit page"]),
    ("selftests/unit/page_trace.c", ["unit page"]),
    ("selftests/unit/*", ["unit library", "unit formats", "unit report", "unit query", "unit page"]),
    ("selftests/golden/*", ["unit formats", "unit report", "unit query"]),
    ("selftests/torture/*", ["torture"]),
    ("selftests/recover/reboot*", ["reboots"]),
    ("selftests/recover/panic*", ["panics *"]),
    ("selftests/recover/k*", ["kdump *"]),
    ("selftests/recover/suspend*", ["suspend *"]),
    ("selftests/recover/*", ["crashes *"]),
    ("selftests/vm/ftrace*", ["test_ftrace", "test_formats"]),
    ("selftests/vm/loads.c", ["test_ftrace", "test_modules"]),
    ("selftests/vm/lockdown.sh", ["* lockdown"]),
    ("selftests/vm/region.sh", ["* region"]),
    ("selftests/vm/numa.sh", ["* numa"]),
    ("selftests/vm/erratum.sh", ["* erratum"]),
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
    """Files that differ from the revision; without one, from the branch this one follows."""
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
    """Names of the tests that a file belongs to; None if no row has it."""
    if fnmatch.fnmatch(file, "selftests/vm/test_*"):
        return [os.path.splitext(os.path.basename(file))[0]]
    for pattern, tests in TABLE:
        if fnmatch.fnmatch(file, pattern):
            return tests
    return None


def names(tree, revision):
    """Names of the tests that the changes since a revision can affect; None: all of them."""
    wanted = []
    for file in changed_files(tree, revision):
        tests = tests_of(file)
        if tests is None:
            return None
        wanted += tests
    return list(dict.fromkeys(wanted))
