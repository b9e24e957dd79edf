# SPDX-License-Identifier: GPL-2.0-only
"""
idle_script.py SEED - print the script, for history_trace.c, of four seconds of an idle machine.

Four CPUs have timer ticks and otherwise sleep. Daemons and kernel threads wake up a few times a
second, run for some microseconds, and sleep again; a journal waits for its disk three times. Seeds
give other times, and the same load.
"""
import random
import sys

US, MS, S = 1000, 1000000, 1000000000
CPUS, BEGIN, END = 4, 100 * MS, 4100 * MS      # history_trace.c: below 2^32
SOFTIRQ = 0x1000            # TB_CONTEXT_SOFTIRQ
TIMER, SCHED, RCU = 1, 7, 9
SLEEPS, BLOCKED, IDLE = 1, 2, 0x80
# tid: mean time between its runs, the longest run, state in which it sleeps, its system call
THREADS = {
    10: (250 * MS, 60 * US, IDLE, None),        # kworker
    11: (40 * MS, 15 * US, IDLE, None),         # rcu
    20: (700 * MS, 300 * US, SLEEPS, 232),         # a journal of messages, in epoll_wait
    21: (900 * MS, 120 * US, SLEEPS, 7),        # in poll
    22: (1 * S, 90 * US, SLEEPS, 230),          # in clock_nanosleep
    23: (100 * MS, 40 * US, SLEEPS, 202),       # in futex
    24: (400 * MS, 200 * US, SLEEPS, 0),        # in read
}
JOURNAL, DISK, TICK = 30, 17, 24

chance = random.Random(int(sys.argv[1]))
lines = []
free = [BEGIN] * CPUS       # until then a CPU has something to do


def say(order, cpu, time, *numbers):
    lines.append((time, len(lines), " ".join(map(str, (order, cpu, time, *numbers)))))


def interrupt(cpu, time, number, vector, wakes=None):
    """An interrupt of an idle CPU with its softirq, which wakes a thread; the time of its end."""
    say("irq", cpu, time, 0, number)
    say("irqend", cpu, time + 2 * US, 0, number)
    say("softirq", cpu, time + 3 * US, 0, vector)
    if wakes:
        say("waking", cpu, time + 4 * US, 0, wakes, cpu, SOFTIRQ)
        say("wakeup", cpu, time + 4 * US, 0, wakes, cpu, SOFTIRQ)
    say("softirqend", cpu, time + 6 * US, 0, vector)
    return time + 6 * US


def run(cpu, time, tid, longest, state, call):
    """An idle CPU wakes up and runs the thread; the time at which it sleeps again."""
    # leaving a deep state of idleness takes longer
    time += chance.randint(2 * US, 60 * US) + (400 * US if chance.random() < 0.02 else 0)
    say("switch", cpu, time, 0, 0, tid)
    if call is not None:
        say("exit", cpu, time + US, tid, call)
    time += chance.randint(3 * US, longest)
    if call is not None:
        say("enter", cpu, time - US, tid, call)
    say("switch", cpu, time, tid, state, 0)
    return time


wakes = []
for tid, (pause, longest, state, call) in THREADS.items():
    time = BEGIN + chance.randint(MS, pause)
    while time < END - 10 * MS:
        wakes.append((time, tid, longest, state, call))
        time += int(pause * chance.uniform(0.5, 1.5))
for cpu in range(CPUS):
    wakes += [(time, None, 0, 0, None) for time in
              sorted(chance.randint(BEGIN, END - 10 * MS) for _ in range(20))]
wakes.append((BEGIN + chance.randint(S, 3 * S), JOURNAL, 30 * US, BLOCKED, None))
for time, tid, *how in sorted(wakes, key=lambda wake: wake[0]):
    cpu = chance.randrange(CPUS)
    time = max(time, free[cpu] + 10 * US)
    end = interrupt(cpu, time, TICK, chance.choice([TIMER, SCHED, RCU]) if not tid else TIMER, tid)
    if tid:
        end = run(cpu, end, tid, *how)
    for state in (BLOCKED, BLOCKED, SLEEPS) if tid == JOURNAL else ():
        end = interrupt(cpu, end + chance.randint(MS // 2, 6 * MS), DISK, 4, tid)
        end = run(cpu, end, tid, how[0], state, how[2])
    free[cpu] = end

print("\n".join(f"thread {tid}" for tid in [*THREADS, JOURNAL]))
print(f"select {BEGIN} switch,wake,irq,softirq,call")
print("\n".join(line for _, _, line in sorted(lines)))
print("\n".join(f"totals {cpu} 0 {END}" for cpu in range(CPUS)))
