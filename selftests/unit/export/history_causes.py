# SPDX-License-Identifier: GPL-2.0-only
"""What makes threads wait in the histories of history.py, beside requests to disks.

Locks and pipes: a thread waits in a call for another thread, which may wait as well, may be
preempted, or may be woken late. Thread.holder is the thread that will wake it, if no interrupt ends
the wait before.

Quotas: a thread of a cgroup that has used up its quota can run, and its CPU is idle.

Timers: a function of a timer is an interrupt on the stack of CPU.interrupts, inside of an interrupt
or a softirq. Event.hidden: inside of an interrupt that has no events.

Packets: a thread sends to its own machine, or an interrupt gets one. The softirq NET_RX may wake
the receiver.

Files: Thread.files has the names that a recording tells of file descriptors. Event.object of a call
names its file or futex. A call to close() or open() from before the recording has taken its file
descriptor before the recorder found the others.
"""
import collections

READ, WRITE, OPEN, CLOSE, FUTEX = 0, 1, 2, 3, 202       # system calls
PIPES = {3: "pipe:[4003]", 4: "pipe:[4004]"}            # of all threads
FILES = {**PIPES, 5: "/var/log/shop"}
SHOP, DOOR, TILL, FREE = 7, 8, 9, 10    # cgroups
# TB_STRING_QUOTA: quota and period in us, and the cgroup that has it
QUOTAS = {SHOP: "10000 50000 /shop", DOOR: "10000 50000 /shop", TILL: "2500 20000 /shop/till"}
FUNCTIONS = {0: "tick_sched_timer", 1: "process_timeout", 2: "delayed_work_timer_fn"}
NAMELESS = 3            # a function that the recording does not name
TIMERS = ("timer", "hrtimer", "tasklet")
NET_RX = 3              # the softirq
HARDIRQ = 0x200         # TB_CONTEXT_HARDIRQ
RUNNING, SLEEPS = 0, 1  # prev_state

Quota = collections.namedtuple("Quota", "cgroup quota_ns period_ns")


def quota_of(cgroup):
    """The quota of a cgroup, or None."""
    if cgroup not in QUOTAS:
        return None
    quota, period, path = QUOTAS[cgroup].split()
    return Quota(path, int(quota) * 1000, int(period) * 1000)


class Causes:
    """A part of History."""

    # ---- locks and pipes ----

    def waiters(self, thread):
        return [one for one in self.threads.values() if one.holder is thread and one.sleeping and
                not one.waking]

    def wait_for_thread(self, cpu, thread):
        """The thread waits for a lock or for data of another one, which does not wait for it."""
        awake = cpu.queue or [one for one in self.threads.values()
                              if not one.sleeping or one.holder]
        awake = [one for one in awake if not one.ends]
        if not awake:
            return
        end = holder = self.random.choice(awake)
        while end is not thread and end.holder:
            end = end.holder
        if end is thread:
            return
        thread.what = self.random.choice(((FUTEX, 0x7f0000001000), (FUTEX, 0x7f0000001040),
                                          (READ, 3), (READ, 4)))
        self.enter(cpu, thread, *thread.what)
        self.switch(cpu, SLEEPS)
        thread.holder = holder

    def chain(self, cpu):
        """Threads of a CPU wait for each other."""
        for _ in range(self.random.randint(3, 14)):
            thread = self.threads.get(cpu.current)
            if not (thread or cpu.queue) or (thread and thread.ends):
                break
            if not thread:
                self.switch(cpu, RUNNING)
            elif self.random.random() < 0.1:
                self.storm(cpu)
            elif thread.call or self.waiters(thread):
                self.hold(cpu, thread)
            else:
                self.wait_for_thread(cpu, thread)

    def hold(self, cpu, thread):
        """Others wait for the thread, which may make them wait longer."""
        what = self.random.random()
        if thread.call:
            self.end_call(cpu, thread)
        elif what < 0.2 and cpu.queue:
            self.switch(cpu, RUNNING)
        elif what < 0.5:
            self.wait_for_thread(cpu, thread)
        else:
            self.wake_waiter(cpu, thread)

    def wake_waiter(self, cpu, thread):
        """The thread gives what one of the others waits for."""
        waiter = self.random.choice(self.waiters(thread))
        call, where = waiter.what
        self.enter(cpu, thread, WRITE if call == READ else FUTEX, where)
        self.wake(cpu, waiter)
        if self.random.random() < 0.9:
            self.leave(thread, self.event(cpu, "exit", thread.call.args[0], 1))

    # ---- calls and files ----

    def enter(self, cpu, thread, number, argument):
        thread.call = self.event(cpu, "enter", number, argument)
        if number == FUTEX:
            thread.call.object = f"at {argument:#x}"
        elif number in (READ, WRITE, CLOSE) and argument in thread.files:
            thread.call.object = f"of {thread.files[argument]}"
        if number == CLOSE:
            thread.files.pop(argument, None)

    def end_call(self, cpu, thread):
        number = thread.call.args[0]
        results = (1, -110) if number == FUTEX else (0, 0, 5, -11) if thread.call.time else (0, -11)
        left = self.event(cpu, "exit", number, self.random.choice(results))
        if number == OPEN and left.args[1] >= 0:
            thread.files.pop(left.args[1], None)    # another file, whose name is not recorded
        self.leave(thread, left)

    # ---- quotas ----

    def throttle(self, cpu):
        """The CPU is idle for a time, though a thread could run."""
        if cpu.current:
            self.switch(cpu, RUNNING, idle=True)
        for _ in range(self.random.randint(0, 2)):
            self.now += self.random.choice((0, 300_000, 900_000))
            self.storm(cpu)
        self.now += self.random.choice((100_000, 900_000, 2_000_000))

    # ---- packets ----

    def packet(self, cpu):
        for _ in range(self.random.choice((0, 1, 1, 1, 2))):
            if self.random.random() < 0.2:
                cpu.interrupts.append(self.event(cpu, "irq", 2))
                self.event(cpu, "raise", NET_RX, HARDIRQ)
                self.interrupt_ends(cpu)
            elif cpu.current:
                self.event(cpu, "raise", self.random.choice((NET_RX, NET_RX, NET_RX, 2)), 0)
        if cpu.current and self.random.random() < 0.1:
            self.switch(cpu, RUNNING)
        cpu.interrupts.append(self.event(cpu, "softirq", NET_RX))
        if self.random.random() < 0.2:
            cpu.interrupts.append(self.event(cpu, "irq", 2))
            self.interrupt_ends(cpu)
        self.wake(cpu)
        self.interrupt_ends(cpu)

    # ---- timers ----

    def storm(self, cpu):
        """Interrupts and softirqs with functions of timers, one after the other."""
        for _ in range(self.random.randint(1, 4)):
            self.interrupt(cpu)
            for _ in range(self.random.randint(0, 2)):
                self.function(cpu)
                if self.random.random() < 0.3:
                    self.wake(cpu)
                self.interrupt_ends(cpu)
            self.interrupt_ends(cpu)

    def function(self, cpu):
        """The function of a timer begins."""
        hard = cpu.context() & HARDIRQ
        hidden = not hard and (not cpu.interrupts or self.random.random() < 0.2)
        kind = "hrtimer" if hard or hidden else self.random.choice(TIMERS)
        self.timers += 1
        begun = self.event(cpu, kind, self.timers, self.random.choice((*FUNCTIONS, NAMELESS)),
                           cpu.context() | (HARDIRQ if hidden else 0))
        begun.hidden = hidden
        cpu.interrupts.append(begun)

    def function_ends(self, cpu, begun):
        ended = self.event(cpu, begun.kind + "end", begun.args[0], 0, begun.args[2])
        around = [event for event in cpu.interrupts if event.kind not in TIMERS]
        hidden = any(event.hidden for event in (begun, *cpu.interrupts))
        if around and not hidden and begun.args[1] in FUNCTIONS:
            around = around[-1]
            self.functions.append((cpu.number, around.kind, around.args[0],
                                   FUNCTIONS[begun.args[1]], begun, ended))

    # ---- as input of history_trace.c ----

    def described(self):
        lines = [f"quota {cgroup} {text}" for cgroup, text in QUOTAS.items()]
        old = [thread for thread in self.everyone if not thread.born]
        lines += [f"thread {thread.tid} {thread.cgroup}" for thread in old]
        lines += [f"symbol {number} {name}" for number, name in FUNCTIONS.items()]
        return lines + [f"file {thread.tid} {number} {name}" for thread in old
                        for number, name in FILES.items()]
