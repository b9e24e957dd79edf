# SPDX-License-Identifier: GPL-2.0-only
"""pool.py - runs jobs in parallel, in the order of their needs and lengths.

A job starts when a worker is free and all jobs that it needs have succeeded. Of several such jobs,
the one with the longest way to the end of the run (its own seconds and those of the jobs that wait
for it) starts first, so that no long job runs alone at the end.
"""
import threading
import time
import traceback


class Job:
    """One piece of work.

    name     unique; other jobs use it in their needs
    run      a function without arguments; returns True if jobs that need this one may start
    needs    names of jobs that must succeed before; the pool ignores names that are not in the run
    seconds  expected length
    tests    other names by which a user can choose it
    full     the default run leaves it out
    is_build the default run has it if another job needs it
    """

    def __init__(self, name, run, needs=(), seconds=30):
        self.name, self.run, self.needs, self.seconds = name, run, list(needs), seconds
        self.tests = [name]
        self.full = self.is_build = False
        self.took = None        # seconds, when it has run
        self.ok = None          # None: not run
        self.error = ""         # what an exception said
        self.leaks = None       # of a guest that looks for leaks: (label, file with the results)


class Pool:
    """Runs jobs with a number of workers."""

    def __init__(self, jobs, workers, done=lambda job: None):
        """done(job) is called, by one worker at a time, for each job that has run."""
        self.jobs = {job.name: job for job in jobs}
        assert len(self.jobs) == len(jobs), "two jobs have the same name"
        for job in jobs:
            job.needs = [name for name in job.needs if name in self.jobs]
        # a job that passed in an earlier run does not run again
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
        """Return jobs that cannot start any more, because one that they need failed."""
        return [name for name in self.waiting
                if any(self.jobs[need].ok is False for need in self.jobs[name].needs)]

    def take(self):
        """Return the next job to run; None when there will be none."""
        with self.state:
            while True:
                for name in self.hopeless():
                    self.waiting.discard(name)
                    self.jobs[name].ok = False
                ready = self.ready()
                if ready:
                    # of equal ways, the last name: each run then has the same order
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
            except BaseException:   # SystemExit, too, would end only this thread
                job.error = traceback.format_exc()
            job.took = time.monotonic() - began
            with self.state:
                job.ok = bool(ok)
                self.running.discard(job.name)
                try:
                    self.done(job)
                except Exception:
                    job.error += traceback.format_exc()
                self.state.notify_all()

    def run(self):
        """Run all jobs. Afterwards a job that could not start has .ok False and .took None, and one
        that raised an exception, or for which done() did, has .error."""
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
