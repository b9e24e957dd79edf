#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Compare the output of "tracebuf flamegraph" with that of "tracebuf print -v --fields".

    flame_check.py WEIGHT OPTIONS PRINTED COLLAPSED PICTURE

WEIGHT: events, off-cpu, on-cpu, field=NAME.  OPTIONS: words of reverse, threads, unfinished,
kernel, user, inverted; "-": none.  The stacks of PRINTED, weighed anew, must be those of COLLAPSED.
PICTURE must be well-formed, and have each frame with its weight in its place.
"""
import re
import sys
import xml.etree.ElementTree as tree

SVG = '{http://www.w3.org/2000/svg}'
LINE = re.compile(r' *(.*)-(\d+) \[(...)\] .. (\d+)\.(\d{9}): (\S+): (.*)\n')
LOST = re.compile(r'-- CPU (\d+): LOST .* between (\d+)\.(\d{9}) and (\d+)\.(\d{9}) --\n')
FRAME = re.compile(r'\t *([0-9a-f]+) (.*)\n')


def events(name):
    """[comm, tid, ns, event, text, kernel, user, CPU] of each event, and None for a loss."""
    event = None
    for line in open(name, encoding='ascii'):
        match = LINE.fullmatch(line)
        frame = FRAME.fullmatch(line)
        if match:
            if event:
                yield event
            comm, tid, cpu, s, ns, what, text = match.groups()
            event = [comm, int(tid), int(s) * 10**9 + int(ns), what, text, [], [], cpu]
        elif frame and event:
            address, where = frame.groups()
            if where == '(user)':
                event[6].append('0x' + address)
            elif where == '[unknown]':
                event[5].append('0x' + address)
            else:
                event[5].append(re.sub(r'\+0x[0-9a-f]+', '', where, count=1))
        elif line.startswith('--'):
            if event:
                yield event
            event = None
            yield None
        elif not line.startswith('\tcounter{'):
            raise SystemExit('not understood: %r' % line)
    if event:
        yield event


def losses(name):
    """(CPU, first, last) of each loss."""
    for line in open(name, encoding='ascii'):
        match = LOST.fullmatch(line)
        if match:
            cpu, *times = map(int, match.groups())
            yield cpu, times[0] * 10**9 + times[1], times[2] * 10**9 + times[3]


def stack_of(event, options):
    comm, tid, kernel, user = event[0], event[1], event[5], event[6]
    if 'kernel' in options:
        user = []
    if 'user' in options:
        kernel = []
    if not kernel and not user:
        return None
    task = '%s-%d' % (comm, tid) if 'threads' in options else comm
    stack = [task] + user[::-1] + kernel[::-1]
    if 'reverse' in options:
        stack = stack[::-1]
    return ';'.join(frame.replace(';', ':') for frame in stack)


def weigh(name, weight, options):
    found = {}

    def add(stack, value):
        found[stack] = found.get(stack, 0) + value

    off, on, last, lost = {}, {}, 0, list(losses(name))

    def torn(begin, end, cpu=None):
        """Are events missing in that time? cpu: on that CPU only."""
        return any(first < end and begin < told and cpu in (None, one) for one, first, told in lost)

    for event in events(name):
        if event is None:
            continue
        tid, ns, what, text = event[1:5]
        last = ns
        stack = stack_of(event, options)
        if weight == 'events':
            if stack:
                add(stack, 1)
            continue
        if weight.startswith('field='):
            value = re.search(r'(?:^| )' + weight[6:] + r'=(\d+)', text)
            if stack and value:
                add(stack, int(value.group(1)))
            continue
        if what != 'sched:sched_switch':
            continue
        if tid:
            if weight == 'on-cpu' and stack and tid in on and \
                    not torn(on[tid], ns, int(event[7])):
                add(stack, ns - on[tid])
            on.pop(tid, None)
            state = re.search(r'prev_state=(\S+)', text).group(1)
            off[tid] = (stack, ns)
            if state[0] in 'XZ':
                del off[tid]
        to = int(re.search(r'next_pid=(\d+)', text).group(1))
        if to:
            if weight == 'off-cpu' and off.get(to, (None, 0))[0] and not torn(off[to][1], ns):
                add(off[to][0], ns - off[to][1])
            off.pop(to, None)
            on[to] = ns
    if 'unfinished' in options:
        for stack, ns in off.values():
            if stack and not torn(ns, last):
                add(stack, last - ns)
    return {stack: value for stack, value in found.items() if value}


def collapsed(name):
    found = {}
    for line in open(name, encoding='utf-8'):
        stack, value = line.rstrip('\n').rsplit(' ', 1)
        if stack in found:
            raise SystemExit('twice: ' + stack)
        found[stack] = int(value)
    return found


def prefixes(stacks):
    """The weight of each frame, by its path."""
    found = {(): sum(stacks.values())}
    for stack, value in stacks.items():
        path = tuple(stack.split(';'))
        for depth in range(len(path)):
            found[path[:depth + 1]] = found.get(path[:depth + 1], 0) + value
    return found


def picture(name, stacks, inverted):
    want, path, seen, ends, rows = prefixes(stacks), [], {}, {}, {}
    root = tree.parse(name).getroot()
    for group in root.iter(SVG + 'g'):
        if group.get('class') != 'f':
            continue
        depth, start = int(group.get('data-d')), int(group.get('data-a'))
        weight = int(group.get('data-w'))
        frame = group.find(SVG + 'title').text.rsplit('\n', 1)[0]
        path = path[:depth] + [frame]
        where = tuple(path[1:])
        seen[where] = weight
        # inside of its parent, beside its siblings
        if depth:
            if start < ends[where[:-1]] or start + weight > rows[where[:-1]]:
                raise SystemExit('not in its place: %s' % (where,))
            ends[where[:-1]] = start + weight
        ends[where], rows[where] = start, start + weight
        y = float(group.find(SVG + 'rect').get('y'))
        if depth and (y > above[depth - 1]) != inverted:
            raise SystemExit('not %s what it is in: %s' % ('below' if inverted else 'above', where))
        if not depth:
            above = {}
        above[depth] = y
    if seen != want:
        raise SystemExit('frames differ: %s' % (set(seen.items()) ^ set(want.items()),))
    return len(seen)


weight, options, printed, text, drawn = sys.argv[1:]
options = options.split(',')
have, want = collapsed(text), weigh(printed, weight, options)
if have != want:
    for stack in sorted(set(have) | set(want)):
        if have.get(stack) != want.get(stack):
            print('%s: %s, not %s' % (stack, have.get(stack), want.get(stack)))
    raise SystemExit(1)
print('%d stacks, %d in all, %d frames drawn' % (len(have), sum(have.values()),
                                                 picture(drawn, have, 'inverted' in options)))
