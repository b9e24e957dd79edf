# SPDX-License-Identifier: GPL-2.0-only
"""How threads begin and end in the histories of history.py.

A thread that ends calls exit(), from which it does not return. Then the kernel records that it ends
(TB_THREAD_EXIT), but the thread still runs: it may wait, be preempted, and wake others, such as its
parent, which reaps it. So its TID may be free when it wakes a thread, and still be its own. It is
gone with its last switch, in the state X or Z.

A new thread begins with a record (TB_THREAD_FORK) and sched_wakeup_new, without sched_waking. It
has the files of its parent if that has called fork(). It may have the TID of a thread that is gone,
and the same name.
"""
BLOCKED = 2
DEAD = 0x10, 0x20       # EXIT_DEAD, EXIT_ZOMBIE in prev_state
FORK, EXITS = 57, (60, 231)     # system calls; exit, exit_group
THREADS_MAX = 24        # of a history


class Lives:
    """A part of History."""

    def set_up_lives(self):
        """self.everyone: all threads, those with the same TID in the order of time; self.threads
        has the last one of each TID. self.records: (time, line of script())."""
        self.everyone = list(self.threads.values())
        self.records = []
        self.mortal = self.random.choice((0, 0, 0.15, 0.4))    # how often threads begin and end

    def life(self, tid, time):
        """The thread with this TID at a time."""
        return [thread for thread in self.everyone
                if thread.tid == tid and (thread.born or 0) <= time][-1]

    def lives(self, tid):
        return [thread for thread in self.everyone if thread.tid == tid]

    def begin_or_end(self, cpu, thread):
        gone = [one.tid for one in self.threads.values() if one.died]
        others = [one for one in self.threads.values() if not one.ends and one is not thread]
        if others and self.random.random() < 0.5:
            self.begin_to_end(cpu, thread)
        elif not thread.call and len(self.everyone) < THREADS_MAX:
            self.fork(cpu, thread, gone)

    def recorded(self):
        """The records of threads that the recording has: it may lack those of beginnings."""
        return [one for one in self.records if not (self.lost_forks and
                                                    one[1].startswith("fork"))]

    def note(self, order, *args):
        self.now += self.random.randint(1, 1000)
        self.records.append((self.now, " ".join(map(str, (order, self.now, *args)))))
        return self.now

    def begin_to_end(self, cpu, thread):
        if thread.call:
            self.end_call(cpu, thread)
        if self.random.random() < 0.7:
            self.enter(cpu, thread, self.random.choice(EXITS), 0)
        self.note("ends", thread.tid, thread.cgroup)
        thread.ends = True
        for waiter in self.waiters(thread):
            waiter.holder = None

    def go_on_ending(self, cpu, thread):
        what = self.random.random()
        if what < 0.1 and cpu.queue:
            self.switch(cpu, 0)
        elif what < 0.2:
            self.switch(cpu, BLOCKED)
        elif what < 0.4:
            self.wake(cpu)
        else:
            if self.random.random() < 0.5:
                self.wake(cpu)      # its parent
            self.switch(cpu, self.random.choice(DEAD))

    def died(self, thread, event):
        """It has left the CPU for the last time."""
        thread.died, thread.out = event, None
        if thread.call:
            self.leave(thread, event)

    def fork(self, cpu, parent, gone):
        """A new thread, often with the TID of one that is @gone."""
        calls = self.random.random() < 0.7
        if calls:
            self.enter(cpu, parent, FORK, 0)
        free = max(self.threads) + 1
        tid = self.random.choice(gone) if gone and self.random.random() < 0.8 else free
        cgroup = self.random.choice((0, *range(7, 11)))
        thread = type(parent)(tid, cgroup, self.note("fork", parent.tid, tid, cgroup))
        thread.files = dict(parent.files) if calls else {}
        self.threads[tid] = thread
        self.everyone.append(thread)
        target = self.random.choice(self.cpus)
        thread.new = self.event(cpu, "wakeupnew", tid, target.number, 0)
        target.queue.append(thread)
        if calls and self.random.random() < 0.9:
            self.leave(parent, self.event(cpu, "exit", FORK, tid))
