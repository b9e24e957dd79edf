# SPDX-License-Identifier: GPL-2.0-only
"""pool.py - runs jobs side by side, by their needs and their lengths.

A job is a command with a name. It starts when all the jobs that it needs have succeeded, and a
worker is free. Of the jobs that could start, the one with the longest way to the end of the run
(its own length and that of what waits for it) starts first: so no long job is left for the end.
"""
import threading
import time


class Job:
    """One piece of work.

    name     what others call it in their needs; unique
    run      called with no argument; returns True if jobs that need this one may start
    needs    names of jobs that must succeed before; names that are not in the run do not count
    seconds  how long it takes, as far as that is known
    tests    other names by which one may ask for it
    full     the default run leaves it out
    is_build the default run has it if another job needs it
    """

    def __init__(self, name, run, needs=(), seconds=30):
        self.name, self.run, self.needs, self.seconds = name, run, list(needs), seconds
        self.tests = [name]
        self.full = self.is_build = False
        self.took = None        # seconds, when it has run
        self.ok = None          # None: not run


class Pool:
    """Runs jobs with a number of workers."""

    def __init__(self, jobs, workers, done=lambda job: None):
        """done(job) is called, by one worker at a time, for each job that has run."""
        self.jobs = {job.name: job for job in jobs}
        assert len(self.jobs) == len(jobs), "two jobs have the same name"
        for job in jobs:
            job.needs = [name for name in job.needs if name in self.jobs]
        # one that is known to be fine already is not run again
        self.waiting = {name for name, job in self.jobs.items() if not job.ok}
        self.running = set()
        self.workers = workers
        self.done = done
        self.state = threading.Condition()
        self.ways = {}
        for job in jobs:
            self.way(job)

    def way(self, job):
        """Seconds from the start of the job to the end of the last one that waits for it."""
        if job.name not in self.ways:
            self.ways[job.name] = job.seconds + max(
                (self.way(other) for other in self.jobs.values() if job.name in other.needs),
                default=0)
        return self.ways[job.name]

    def ready(self):
        return [name for name in self.waiting
                if all(self.jobs[need].ok for need in self.jobs[name].needs)]

    def hopeless(self):
        """Jobs that cannot start any more: one that they need has failed."""
        return [name for name in self.waiting
                if any(self.jobs[need].ok is False for need in self.jobs[name].needs)]

    def take(self):
        """The next job to run; None when there will be none."""
        with self.state:
            while True:
                for name in self.hopeless():
                    self.waiting.discard(name)
                    self.jobs[name].ok = False
                ready = self.ready()
                if ready:
                    # by name where the ways are of the same length: each run has the same order
                    name = max(ready, key=lambda each: (self.ways[each], each))
                    self.waiting.discard(name)
                    self.running.add(name)
                    return self.jobs[name]
                if not self.running:
                    self.state.notify_all()
                    return None
                self.state.wait()

    def work(self):
        while True:
            job = self.take()
            if not job:
                return
            began = time.monotonic()
            ok = False
            try:
                ok = job.run()
            finally:
                job.took = time.monotonic() - began
                with self.state:
                    job.ok = bool(ok)
                    self.running.discard(job.name)
                    self.done(job)
                    self.state.notify_all()

    def run(self):
        """Run all jobs. Those that could not start have .ok False and .took None afterwards."""
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
