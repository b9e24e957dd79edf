#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""scripts/check counts every failure, and --resume keeps only what has passed. If this fails, a run
of the tests says that it passed although a test failed, or was not run.

Runs scripts/check in this process, in a tree of its own, with jobs that need no guest.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import signal
import subprocess
import sys
import tempfile
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("check", os.path.join(TREE, "scripts/check"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", LOADER))
LOADER.exec_module(check)
import affected     # noqa: E402
from jobs import Jobs   # noqa: E402
from pool import Job    # noqa: E402
from results import Results     # noqa: E402

SECONDS = 60        # a run that takes longer hangs


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Fake(check.Run):
    """A run whose guests and programs all succeed; the guests leak what @leaks says."""

    leaks = "ok 1 no leak\n"

    def ask(self, *words):
        return ""

    def call(self, command, log, env=None, errors=None):
        write(log, "ok 1 a program\n")
        return 0

    def call_guest(self, command, log, label):
        write(log, "")
        folder = os.path.dirname(log)
        for test in command[command.index("-r") + 1:]:
            write(os.path.join(folder, test + ".ktap"), "ok 1 a test\n")
        write(os.path.join(folder, "leaks.ktap"), Fake.leaks)
        return 0


class Tree:
    """A tree in a folder of its own, and the jobs that scripts/check finds there."""

    def __init__(self, repository=True):
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        self.state = os.path.join(self.folder, "build", "check.state")
        self.ran = []       # names of jobs
        self.jobs = lambda run: [self.job("a")]
        os.mkdir(os.path.join(self.folder, "build"))
        write(os.path.join(self.folder, ".gitignore"), "/build/\n")
        write(os.path.join(self.folder, "file"), "one\n")
        if repository:
            self.git("init", "-q")
            self.git("add", ".")
            self.git("commit", "-qm", "one")

    def git(self, *words):
        subprocess.run(["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a",
                        *words], check=True)

    def job(self, name, **more):
        def run():
            time.sleep(0.1)     # the other workers wait for it
            self.ran.append(name)
            return True
        job = Job(name, run)
        vars(job).update(more)
        return job

    def check(self, *words):
        """Run scripts/check; return its exit status and what it printed."""
        check.TREE, check.STATE, sys.argv = self.folder, self.state, ["check", *words]
        check.all_jobs = lambda run, args, patterns, kernels: self.jobs(run)
        self.ran.clear()
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            signal.alarm(SECONDS)
            code = check.main()
            signal.alarm(0)
        return code, said.getvalue()


def expect(what, wanted):
    """Return the lines of an error if something is not as wanted."""
    return [] if what == wanted else ["%s, wanted: %s" % (what, wanted)]


def last(said):
    return said.rstrip().split("\n")[-1]


def leaks_stay():
    """A guest that leaked runs again with --resume, and one that did not counts again."""
    tree = Tree()

    def guests(run):
        made = Jobs(run, ["6.12"])
        made.guest("6.12 test_a", "6.12", ["test_a"])
        return made.list
    tree.jobs = guests
    Fake.leaks = "not ok 1 no leak\n"
    first = tree.check()
    again = tree.check("--resume")
    Fake.leaks = "ok 1 no leak\n"
    mended = tree.check("--resume")
    kept = tree.check("--resume")
    return expect((first[0], last(first[1])), (1, "3 passed, 1 failed")) + \
        expect((again[0], last(again[1])), (1, "3 passed, 1 failed")) + \
        expect((mended[0], last(mended[1])), (0, "4 passed, 0 failed")) + \
        expect((kept[0], last(kept[1])), (0, "4 passed, 0 failed"))


def raised():
    """A job that raises an exception has failed; the others run."""
    wrong = []
    for error in OSError(28, "No space left on device"), SystemExit(1):
        def fail(error=error):
            raise error
        tree = Tree()
        tree.jobs = lambda run: [Job("boom", fail), tree.job("needy", needs=["boom"]),
                                 tree.job("other")]
        code, said = tree.check()
        wrong += expect((code, last(said), tree.ran), (1, "0 passed, 2 failed", ["other"]))
        wrong += [] if "not ok: boom: not ok boom: raised" in said else [said]
    return wrong


def state_not_saved():
    """If the state cannot be saved, the run goes on, and fails."""
    tree = Tree()
    tree.jobs = lambda run: [tree.job("a"), tree.job("b", needs=["a"])]
    tree.state = os.path.join(tree.folder, "no folder", "check.state")
    code, said = tree.check()
    return expect((code, last(said), tree.ran), (1, "0 passed, 2 failed", ["a", "b"]))


def other_tree():
    """--resume keeps a job only while the files are the same, and only if git knows that."""
    tree = Tree()
    wrong = []
    for action, again in ((lambda: None, []),
                          (lambda: write(os.path.join(tree.folder, "file"), "two\n"), ["a"]),
                          (lambda: write(os.path.join(tree.folder, "more"), "one\n"), ["a"]),
                          (lambda: tree.git("commit", "-qam", "two"), ["a"])):
        tree.check()
        action()
        tree.check("--resume")
        wrong += expect(tree.ran, again)
    tree = Tree(repository=False)
    tree.check()
    tree.check("--resume")
    return wrong + expect(tree.ran, ["a"])


def other_run():
    """--resume keeps no job of another seed, environment or group of tests, and no build."""
    tree = Tree()
    wrong = []
    for words in (), ("--soak", "1", "--seed", "2"), ("--soak", "2"), ("--full",), ("-k", "6.1"):
        tree.check("--soak", "1")
        tree.check("--resume", *words)
        wrong += expect((words, tree.ran), (words, ["a"]))
    tree.check()
    os.environ["FUZZ_SECONDS"] = "1"
    tree.check("--resume")
    del os.environ["FUZZ_SECONDS"]
    wrong += expect(tree.ran, ["a"])
    tree.check()
    tree.jobs = lambda run: [tree.job("a", tests=["a", "test_b"], needs=["b"]),
                             tree.job("b", is_build=True)]
    tree.check("--resume")
    wrong += expect(sorted(tree.ran), ["a", "b"])
    tree.check("--resume")
    return wrong + expect(tree.ran, ["b"])


def old_state():
    """A state that another version saved is no error."""
    tree = Tree()
    wrong = []
    for state in "[]", "{", '{"key": "x", "passed": {"a": {"took": 1, "suites": []}}}':
        write(tree.state, state)
        tree.check("--resume")
        wrong += expect(tree.ran, ["a"])
    return wrong


def changes():
    """--changed sees the old name of a moved file; if git fails, it runs all tests."""
    tree = Tree()
    tree.git("mv", "file", "moved")
    wrong = expect(sorted(affected.changed_files(tree.folder, "") or []), ["file", "moved"])
    tree = Tree(repository=False)
    wrong += expect(affected.names(tree.folder, ""), None)
    tree.check("--changed")
    return wrong + expect(tree.ran, ["a"])


def counts():
    """ktap.awk: passed, failed and skipped results."""
    results = Results(FOLDER, os.path.join(TREE, "scripts/lib/ktap.awk"))
    file = os.path.join(FOLDER, "x.ktap")
    wrong = []
    for text, code, wanted in (("ok 1 a\n# exit 0\n", 0, (1, 0, 0)),
                               ("ok 1 a\n# exit 0\n", 1, (1, 1, 0)),
                               ("ok 1 a\n# exit 3\n", 0, (1, 1, 0)),
                               ("not ok 1 a\n# exit 1\n", 1, (0, 1, 0)),
                               ("not ok 1 a # TODO\nok 2 b\n", 0, (1, 0, 1)),
                               ("ok 1 a # SKIP no b\n", 0, (0, 0, 1))):
        write(file, text)
        with contextlib.redirect_stdout(io.StringIO()):
            suite = results.count("a", "a", file, code)
        wrong += expect((text, code, suite.passed, suite.failed, suite.skipped),
                        (text, code, *wanted))
        wrong += expect(len(suite.skips), suite.skipped)
    return wrong


def hangs(_number, _frame):
    raise TimeoutError("scripts/check hangs")


TESTS = (leaks_stay, raised, state_not_saved, other_tree, other_run, old_state, changes, counts)


def main():
    failed = False
    print("TAP version 14\n1..%d" % len(TESTS))
    for number, test in enumerate(TESTS, 1):
        try:
            wrong = test()
        except (Exception, SystemExit) as error:    # pylint: disable=broad-exception-caught
            wrong = ["%s: %s" % (type(error).__name__, error)]
        for line in "\n".join(wrong).splitlines():
            print("# " + line)
        print("%s %d - %s" % ("not ok" if wrong else "ok", number, test.__doc__), flush=True)
        failed |= bool(wrong)
    return failed


os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
check.Run = Fake
check.set_up = lambda kernels: None
check.fcntl.flock = lambda *_: None     # runs of one process would wait for each other
signal.signal(signal.SIGALRM, hangs)
with tempfile.TemporaryDirectory() as FOLDER:
    STATUS = main()
    os.chdir("/")
sys.exit(STATUS)
