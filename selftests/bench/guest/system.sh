#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# system.sh - suite system, in the guest: loads, each untraced and under every tracer,
# which records all sched, irq and system call events into a file.
#
#   system.sh LOADS PEERS
#
# LOADS is the program, PEERS the folder of peers.sh. What it leaves in /out, for each
# load and tracer: LOAD.TRACER.ns, the time; .log, what the tracer said; .trace, what
# it wrote, a file or (LTTng) a folder.

set -eu

loads=$1 peers=$2
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"

# Everybody has 4 MiB of buffers, less than is recorded; tracebuf and LTTng have 16, handed
# over when they are full.

run_none()
{
	"$@"
}

run_tracebuf()
{
	# shellcheck disable=SC2086
	tracebuf record $options --clock tsc -e sched,irq,raw_syscalls \
		-o "$to.trace" -- "$@" 2>"$to.log"
}

run_ftrace()
{
	peer "$root/usr/bin/trace-cmd" record -b 4096 -e sched -e irq -e raw_syscalls \
		-o "$to.trace" "$@" 2>"$to.log"
}

run_perf()
{
	perf record -a -m 4M -e 'sched:*' -e 'irq:*' -e 'raw_syscalls:*' -o "$to.trace" -- "$@" 2>"$to.log"
}

run_lttng()
{
	lttng_session "$to.trace" discard 256k 16
	lttng enable-event -k -s bench -c events 'sched_*,irq_*'
	lttng enable-event -k -s bench -c events --syscall -a
	lttng start bench
	"$@"
	lttng stop bench
	peer "$root/usr/bin/lttng" -n list bench >"$to.log" 2>&1
	lttng destroy bench
}

# TRACER LOAD N
measure()
{
	to=/out/$2.$1
	options='-b 16 -B 16384 -w 100'
	case $1 in
	tracebuf-fast) options="$options -F" ;;
	tracebuf-default) options='-b 256' ;;
	esac
	"run_${1%-*}" "$loads" "$2" "$3" >"$to.out"
	# of what is there the time is the line that is a number
	grep -x '[0-9]*' "$to.out" >"$to.ns"
	rm "$to.out"
}

# under TRACER: all loads
all_loads()
{
	measure "$1" getppid 60000
	measure "$1" pingpong 4000
	measure "$1" messaging 64
}

insmod "$TRACEBUF_KO"
# the first run of a program pays for reading it
all_loads none
all_loads none
all_loads tracebuf
all_loads tracebuf-fast
all_loads tracebuf-default
all_loads ftrace
if command -v perf >/dev/null; then
	all_loads perf
fi
# its daemon is busy with itself for a while
lttng_up
sleep 20
all_loads lttng
lttng_down
