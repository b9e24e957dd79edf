#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# icount.sh - runs suite icount in the guest: loads tb_bench.ko for each of its parts, with the
# tracers in the state that the part needs.
#
#   icount.sh MODULE [PEERS]
#
# MODULE is tb_bench.ko, PEERS the folder of peers.sh. Without PEERS the suite measures only
# tracebuf and the kernel's own tracers. The lines of the module go to /out/icount.out.

set -eu

module=$1 peers=${2:-}
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"

# Print the command that measures.
bench_command()
{
	echo insmod "$module" icount=1 per_rep=2 reps=1 "$@"
}

results()
{
	dmesg | sed -n 's/^.*\(BENCH.*\)/\1/p' >>/out/icount.out
}

# bench PARAMETER...: measure
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

# start ARGUMENT...: start tracebuf without a reader. Say --clock tsc, which other machines choose
# by themselves: this guest does not say that its TSC is invariant.
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
start -m circular -e "$events" -W
probes 'tracebuf, wide form'
tracebuf stop

# rules SWITCH SOFTIRQ CALL WHO: measure with these filters
rules()
{
	start -m circular -e sched_switch -f "$1" -e softirq_raise -f "$2" \
		-e raw_syscalls:sys_enter -f "$3"
	probes "$4"
	tracebuf stop
}

rules 'prev_pid > 4000000' 'vec > 4000' 'id > 4000' 'tracebuf, a filter rejects'
rules 'prev_pid < 4000000' 'vec < 4000' 'id < 4000' 'tracebuf, a filter lets pass'
rules 'prev_comm ~ "x*y" || next_comm ~ "x*y"' 'vec > 4000 || vec == 70 || vec == 71' \
	'id > 4000 || args[0] == 70 || args[1] == 71' 'tracebuf, a longer filter rejects'
start -m circular -e sched_switch:1/1000000 -e softirq_raise:1/1000000 \
	-e raw_syscalls:sys_enter:1/1000000
probes 'tracebuf, not the sample'
tracebuf stop
start -m circular -e "$events" --tid 1
probes 'tracebuf, another thread is wanted'
tracebuf stop
start -m circular -e sched_switch:stack -e softirq_raise:stack -e raw_syscalls:sys_enter:stack
probes 'tracebuf, with stacks'
tracebuf stop

# filtered EVENT FILTER EVENT FILTER EVENT FILTER WHO: measure ftrace with these filters
filtered()
{
	who=$7
	while [ $# -gt 1 ]; do
		echo "$2" >"$tracefs/events/$1/filter"
		echo 1 >"$tracefs/events/$1/enable"
		shift 2
	done
	probes "$who"
	echo 0 >"$tracefs/events/enable"
	for e in sched/sched_switch irq/softirq_raise raw_syscalls/sys_enter; do
		echo 0 >"$tracefs/events/$e/filter"
	done
}

echo 0 >"$tracefs/options/record-cmd"
filtered sched/sched_switch 'prev_pid > 4000000' irq/softirq_raise 'vec > 4000' \
	raw_syscalls/sys_enter 'id > 4000' 'ftrace, a filter rejects'
filtered sched/sched_switch 'prev_pid < 4000000' irq/softirq_raise 'vec < 4000' \
	raw_syscalls/sys_enter 'id < 4000' 'ftrace, a filter lets pass'

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

if [ -z "$peers" ]; then
	rmmod tracebuf
	exit
fi

# The buffers take a whole run, so perf need not write meanwhile.
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
