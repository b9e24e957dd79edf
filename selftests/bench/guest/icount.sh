#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# icount.sh - suite icount, in the guest: loads tb_bench.ko time and again, with tracers
# in the states that its parts want.
#
#   icount.sh MODULE PEERS
#
# MODULE is tb_bench.ko, PEERS the folder of peers.sh,
# The lines that the module prints go to /out/icount.out.

set -eu

module=$1 peers=$2
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"

# A command that measures.
bench_command()
{
	echo insmod "$module" icount=1 per_rep=2 reps=1 "$@"
}

results()
{
	dmesg | sed -n 's/^.*\(BENCH.*\)/\1/p' >>/out/icount.out
}

# PARAMETER...: measure.
bench()
{
	dmesg --clear
	insmod "$module" icount=1 per_rep=2 reps=1 "$@" || {
		dmesg | tail >&2
		echo "icount.sh: error: $*" >&2
		exit 1
	}
	rmmod tb_bench
	results
}

probes()
{
	bench parts=probes "who=\"$1\""
}

events='sched_switch,softirq_raise,sys_enter'
tracefs=/sys/kernel/tracing

insmod "$TRACEBUF_KO"

bench parts=primitives,tracebuf,ftrace,relay \
	set_clock_at=0x"$(sed -n 's/ T ring_buffer_set_clock$//p' /proc/kallsyms)"

# start ARGUMENT...: without a reader, and with the clock that every machine
# with a TSC to rely on has: this one's does not say that it is invariant.
start()
{
	tracebuf start --clock tsc -b 16 -B 4096 --no-state "$@"
}

start -m circular
bench parts=recording
tracebuf stop
bench parts=stopped
start -m streaming --policy drop
bench parts=full
tracebuf stop

start -m circular -e "$events"
probes tracebuf
tracebuf stop
start -m circular -e "$events" -F
probes 'tracebuf, fast form'
tracebuf stop

for record in 0 1; do
	echo $record >"$tracefs/options/record-cmd"
	for e in sched/sched_switch irq/softirq_raise raw_syscalls/sys_enter; do
		echo 1 >"$tracefs/events/$e/enable"
	done
	if [ $record = 0 ]; then
		probes 'ftrace'
	else
		probes 'ftrace, noting names'
	fi
	echo 0 >"$tracefs/events/enable"
done

# Buffers that take all of a run: it need not write meanwhile.
if command -v perf >/dev/null; then
	probes=$(bench_command parts=probes who=perf)
	dmesg --clear
	# shellcheck disable=SC2086
	perf record -q -a -m 16M -e sched:sched_switch,irq:softirq_raise,raw_syscalls:sys_enter \
		-o /tmp/perf.data -- $probes >&2
	rmmod tb_bench
	results
fi

lttng_up
for mode in discard overwrite; do
	lttng_session /tmp/lttng-$mode $mode 1M 16
	lttng enable-event -k -s bench -c events sched_switch,irq_softirq_raise
	lttng enable-event -k -s bench -c events --syscall -a
	lttng start bench
	probes "LTTng, $mode"
	lttng stop bench
	lttng destroy bench
done
lttng_down
rmmod tracebuf
