#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# system.sh - runs suite system in the guest: each load without a tracer and under each tracer,
# which records all sched, irq and system call events into a file.
#
#   system.sh LOADS PEERS [PART]
#
# LOADS is the program, PEERS the folder of peers.sh; if PEERS is empty, the suite measures only
# tracebuf. PART divides the length of the loads. Leaves in /out for each load and tracer:
# LOAD.TRACER.ns, the time; .log, the messages of the tracer; .trace, its file or (LTTng) folder;
# and TRACER.memory, the KiB of buffers of all CPUs.

set -eu

loads=$1 peers=$2 part=${3:-1}
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"
cpus=$(nproc)

# Each tracer has 4 MiB of buffers for each CPU, less than it records. tracebuf and LTTng have 16
# buffers, and pass each on when it is full. TRACER-default is a tracer without such options.

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

memory_tracebuf()
{
	sed -n 's/.*memory: .*, \([0-9.]*\) MiB in all$/\1/p' "$to.log" | awk '{ printf "%d\n", $1 * 1024 }'
}

run_ftrace()
{
	# shellcheck disable=SC2086
	peer "$root/usr/bin/trace-cmd" record $options -e sched -e irq -e raw_syscalls \
		-o "$to.trace" "$@" 2>"$to.log"
}

# ask while it records
memory_ftrace()
{
	# shellcheck disable=SC2086
	peer "$root/usr/bin/trace-cmd" record $options -e irq -o /tmp/memory.dat \
		cat /sys/kernel/tracing/buffer_total_size_kb 2>/dev/null | sed -n '/^[0-9][0-9]*$/p'
	rm -f /tmp/memory.dat
}

run_perf()
{
	# shellcheck disable=SC2086
	perf record -a $options -e 'sched:*' -e 'irq:*' -e 'raw_syscalls:*' -o "$to.trace" -- "$@" 2>"$to.log"
}

# each CPU has the same
memory_perf()
{
	# shellcheck disable=SC2086
	perf record -v -a $options -e 'irq:*' -o /tmp/memory.data true 2>&1 |
		sed -n 's/.*mmap size \([0-9]*\)B.*/\1/p' | awk -v cpus="$cpus" 'NR == 1 { print int($1 * cpus / 1024) }'
	rm -f /tmp/memory.data
}

run_lttng()
{
	lttng create bench --output="$to.trace"
	# shellcheck disable=SC2086
	lttng enable-channel -k -s bench $options events
	lttng enable-event -k -s bench -c events 'sched_*,irq_*'
	lttng enable-event -k -s bench -c events --syscall -a
	lttng start bench
	"$@"
	lttng stop bench
	peer "$root/usr/bin/lttng" -n list bench >"$to.log" 2>&1
	lttng destroy bench
}

memory_lttng()
{
	awk -v cpus="$cpus" '/[Ss]ub-?buffer size:/ { bytes = $3 } /[Ss]ub-?buffer count:/ { n = $3 }
		END { print int(bytes * n * cpus / 1024) }' "$to.log"
}

# measure TRACER LOAD N
measure()
{
	to=/out/$2.$1
	case $1 in
	*-default) options= ;;
	tracebuf) options='-b 16 -B 16384 -w 100' ;;
	tracebuf-wide) options='-b 16 -B 16384 -w 100 -W' ;;
	ftrace) options='-b 4096' ;;
	perf) options='-m 4M' ;;
	lttng) options='--discard --subbuf-size=256k --num-subbuf=16' ;;
	esac
	"run_${1%-*}" "$loads" "$2" "$3" >"$to.out"
	# the output may have other lines; the time is a number
	grep -x '[0-9]*' "$to.out" >"$to.ns"
	rm "$to.out"
}

# all_loads TRACER
all_loads()
{
	measure "$1" getppid $((60000 / part))
	measure "$1" pingpong $((4000 / part))
	measure "$1" messaging $(((64 + part - 1) / part))
	[ "$1" = none ] || "memory_${1%-*}" >"/out/$1.memory"
}

insmod "$TRACEBUF_KO"
# the first run of a program also reads it from the disk
all_loads none
all_loads none
all_loads tracebuf
all_loads tracebuf-wide
all_loads tracebuf-default
[ -n "$peers" ] || exit 0
# first, because ftrace keeps the size of its buffers
all_loads ftrace-default
all_loads ftrace
if command -v perf >/dev/null; then
	all_loads perf
	all_loads perf-default
fi
# LTTng's daemon works for a while after its start
lttng_up
sleep 20
all_loads lttng
all_loads lttng-default
lttng_down
