# SPDX-License-Identifier: GPL-2.0-only
"""results.py - counts, shows and keeps the results of a run's suites, and writes a report."""
import json
import os
import re
import shutil
import subprocess
import threading
import time

from tree import git


class Suite:
    """The counted results of one suite of tests."""

    def __init__(self, name, passed, failed, skipped, details="", skips=()):
        self.name, self.passed, self.failed, self.skipped = name, passed, failed, skipped
        self.details, self.skips = details, list(skips)


class Results:
    """The results of all suites of a run; their files are in build/check."""

    def __init__(self, folder, ktap_awk, quiet=False):
        self.folder, self.ktap_awk = folder, ktap_awk
        self.suites = []
        self.by_job = {}        # job: names of its suites
        self.kept = {}          # suite: folder with the files that explain its failure
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.quiet = quiet

    def add(self, job, suite, evidence=None):
        """Count a suite of a job; @evidence is the folder that explains a failure."""
        with self.lock:
            self.suites.append(suite)
            self.by_job.setdefault(job, []).append(suite)
            if suite.failed and evidence:
                self.kept[suite.name] = evidence
            self.show(suite)

    def show(self, suite):
        line = "%-32s %4d passed" % (suite.name, suite.passed)
        if suite.failed:
            line += ", %d failed" % suite.failed
        if suite.skipped:
            line += ", %d skipped" % suite.skipped
        print("%s  (%d s)" % (line, time.monotonic() - self.began), flush=True)
        if suite.details:
            print(suite.details, end="", flush=True)

    def count(self, job, name, file, code=0, evidence=None):
        """Count the KTAP in a file; return the suite."""
        if not os.path.exists(file):
            open(file, "w").close()
        said = subprocess.run(["awk", "-v", "suite=" + name, "-v", "code=%d" % code, "-f",
                               self.ktap_awk, file], stdout=subprocess.PIPE, check=True)
        first, _, details = said.stdout.decode(errors="replace").partition("\n")
        passed, failed, skipped = map(int, first.split())
        with open(file, errors="replace") as text:
            skips = re.findall(r"^\s*(?:not )?ok\s+\d*\s*-?\s*(.*?)\s*# (?:SKIP|TODO)\s*(.*)$",
                               text.read(), re.M)
        suite = Suite(name, passed, failed, skipped, details, skips)
        self.add(job, suite, evidence or os.path.dirname(file))
        return suite

    def totals(self):
        return tuple(sum(getattr(suite, what) for suite in self.suites)
                     for what in ("passed", "failed", "skipped"))

    def keep_failures(self):
        """Link the folders that explain failures in one folder; return it, or None."""
        if not self.kept:
            return None
        folder = os.path.join(self.folder, "failed")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name, evidence in self.kept.items():
            link = os.path.join(folder, re.sub(r"[^A-Za-z0-9._-]+", "-", name))
            if os.path.realpath(evidence) != os.path.realpath(self.folder):
                os.symlink(os.path.relpath(evidence, folder), link)
                continue
            os.makedirs(link, exist_ok=True)
            for suite in self.suites:
                if suite.name == name:
                    with open(os.path.join(link, "failed.txt"), "w") as text:
                        text.write(suite.details)
        return folder

    def write_report(self, path, tree, kernels, seconds):
        """Write the report of a run as Markdown."""
        passed, failed, skipped = self.totals()
        commit = (git(tree, "log", "-1", "--format=%h %s") or b"").decode().strip()
        rows = {}
        for suite in self.suites:
            kernel, _, rest = suite.name.partition(": ")
            group = kernel if rest and kernel in kernels else "host and others"
            sums = rows.setdefault(group, [0, 0, 0])
            for i, count in enumerate((suite.passed, suite.failed, suite.skipped)):
                sums[i] += count
        with open(path, "w") as out:
            out.write("# What was tested\n\n")
            out.write("Commit %s; kernels %s; %d minutes.\n" % (
                commit or "unknown", ", ".join(kernels), seconds / 60))
            out.write("%d passed, %d failed, %d skipped.\n\n" % (passed, failed, skipped))
            out.write("| where | passed | failed | skipped |\n|---|---:|---:|---:|\n")
            for group, sums in rows.items():
                out.write("| %s | %d | %d | %d |\n" % (group, *sums))
            out.write("\n## Failed\n\n")
            bad = [suite for suite in self.suites if suite.failed]
            for suite in bad:
                for line in suite.details.splitlines():
                    if "not ok: " in line:
                        out.write("* %s\n" % line.split("not ok: ", 1)[1])
            out.write("" if bad else "Nothing.\n")
            out.write("\n## Skipped\n\n")
            for suite in self.suites:
                for what, why in suite.skips:
                    out.write("* %s: %s: %s\n" % (suite.name, what, why))


def write_times(path, jobs, tests):
    """Write the seconds of each job, and of each test in a guest (name: seconds), slowest first.

    Leave out guests that several tests share: these seconds decide which tests share one.
    """
    times = {job.name: job.took for job in jobs
             if job.took is not None and not re.search(r" and \d+ more$", job.name)}
    times.update(tests)
    with open(path, "w") as out:
        for name in sorted(times, key=lambda name: (-round(times[name]), name)):
            out.write("%s\t%d\n" % (name, round(times[name])))


def read_times(path):
    """Return what write_times() wrote, {job: seconds}. A line that begins with # is a comment."""
    times = {}
    if os.path.exists(path):
        with open(path) as text:
            for line in text:
                name, _, seconds = line.rstrip("\n").partition("\t")
                if seconds and not name.startswith("#"):
                    times[name] = int(seconds)
    return times


def leaks_of(job):
    """Return the results of a guest that looked for leaks, [("ok" or "not ok", what)]."""
    if job.took is None or not job.leaks:
        return []
    try:
        with open(job.leaks[1], errors="replace") as text:
            lines = re.findall(r"^(not ok|ok) \d+ (.*)$", text.read(), re.M)
    except OSError:
        lines = []
    return lines or [("not ok", "leaks.sh said nothing: " + job.leaks[1])]


def save_state(path, key, results, jobs):
    """Keep the jobs that passed, for scripts/check --resume; but no builds, for make sees itself
    what it has to do."""
    passed = {}
    for job in jobs:
        suites = results.by_job.get(job.name, [])
        if job.ok and job.took is not None and not job.is_build and \
                not any(suite.failed for suite in suites) and \
                not any(verdict == "not ok" for verdict, _ in leaks_of(job)):
            passed[job.name] = {"took": job.took, "tests": job.tests,
                                "suites": [vars(suite) for suite in suites]}
    with open(path + ".new", "w") as out:
        json.dump({"key": key, "passed": passed}, out)
    os.replace(path + ".new", path)


def load_state(path, key, results, jobs):
    """Count the jobs that save_state() kept with this key, and that have the same tests."""
    try:
        with open(path) as text:
            state = json.load(text)
    except (OSError, ValueError):
        return
    if not isinstance(state, dict) or state.get("key") != key:
        return
    for job in jobs:
        kept = state["passed"].get(job.name)
        if kept and kept["tests"] == job.tests:
            job.ok, job.took = True, kept["took"]
            for suite in kept["suites"]:
                results.add(job.name, Suite(**suite))
