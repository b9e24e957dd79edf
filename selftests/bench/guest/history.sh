#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# history.sh - runs suite history in the guest: each tracer records a load with pauses, first into 1
# MiB of buffers that overwrite the oldest events, then into a file.
#
#   history.sh LOADS PEERS [PART]
#
# LOADS is the program, PEERS the folder of peers.sh; if PEERS is empty, the suite measures only
# tracebuf. PART divides the length of the load. Leaves in /out: TRACER.ring, the events in the
# buffers; TRACER.kib, the size of the buffers; TRACER.disk, the file (LTTng: folder) of all events.

set -eu

loads=$1 peers=$2 part=${3:-1}
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"
log=/out/history.log
rounds=$((80 / part))

load()
{
	"$loads" paced $rounds
}

# ---- the last events, in memory ----

# ring_tracebuf NAME OPTION...: record into 1 MiB in 8 buffers, and a durable buffer of 64 KiB
ring_tracebuf()
{
	_name=$1
	shift
	tracebuf start -m circular -b 8 -B 8192 --durable 64 --durable-max 64 \
		-e sched,irq,raw_syscalls "$@"
	load
	tracebuf save --stop -o "/out/$_name.ring"
	echo 1088 >"/out/$_name.kib"
}

# The size is that of the recorder's files, which the load fills in part, without 1 MiB of buffers.
history_tracebuf()
{
	tracebuf start --history 1h --memory 64M -b 8 -B 8192 -e sched,irq,raw_syscalls
	load
	tracebuf stop
	du -sk /run/tracebuf/history/kernel | cut -f 1 >/out/tracebuf-history.kib
	tracebuf save -o /out/tracebuf-history.ring
}

ring_ftrace()
{
	peer "$root/usr/bin/trace-cmd" start -b 1024 -e sched -e irq -e raw_syscalls
	load
	peer "$root/usr/bin/trace-cmd" stop
	peer "$root/usr/bin/trace-cmd" extract -o /out/ftrace.ring
	peer "$root/usr/bin/trace-cmd" reset
	echo 1024 >/out/ftrace.kib
}

ring_perf()
{
	perf record -a --overwrite -m 1M -e 'sched:*' -e 'irq:*' -e 'raw_syscalls:*' -o /out/perf.ring -- \
		"$loads" paced $rounds
	echo 1024 >/out/perf.kib
}

# lttng_run NAME OPTION...: record the load in a session, into /out/NAME
lttng_run()
{
	lttng create bench "$1"
	shift
	lttng enable-channel -k -s bench "$@" events
	lttng enable-event -k -s bench -c events 'sched_*,irq_*'
	lttng enable-event -k -s bench -c events --syscall -a
	lttng start bench
	load
	lttng stop bench
}

ring_lttng()
{
	lttng_run --snapshot --overwrite --subbuf-size=128k --num-subbuf=8
	lttng snapshot record --session=bench /out/lttng.ring
	lttng destroy bench
	echo 1024 >/out/lttng.kib
}

# ---- all events, in a file; the buffers are large enough to lose nothing ----

disk_tracebuf()
{
	_name=$1
	shift
	tracebuf record -e sched,irq,raw_syscalls "$@" -o "/out/$_name.disk" -- "$loads" paced $rounds
}

disk_ftrace()
{
	_name=$1
	shift
	peer "$root/usr/bin/trace-cmd" record -b 16384 "$@" -e sched -e irq -e raw_syscalls \
		-o "/out/$_name.disk" "$loads" paced $rounds
}

disk_perf()
{
	_name=$1
	shift
	perf record -a -m 16M "$@" -e 'sched:*' -e 'irq:*' -e 'raw_syscalls:*' -o "/out/$_name.disk" -- \
		"$loads" paced $rounds
}

disk_lttng()
{
	lttng_run --output=/out/lttng.disk --discard --subbuf-size=1M --num-subbuf=16
	lttng destroy bench
}

# ---- all of them ----

own()
{
	ring_tracebuf tracebuf
	ring_tracebuf tracebuf-wide -W
	history_tracebuf
	disk_tracebuf tracebuf
	disk_tracebuf tracebuf-packed --compress zstd
}

others()
{
	ring_ftrace
	disk_ftrace ftrace --compression none
	disk_ftrace ftrace-zstd --compression zstd
	if command -v perf >/dev/null; then
		ring_perf
		disk_perf perf
		disk_perf perf-zstd -z
	fi
	lttng_up
	sleep 20
	ring_lttng
	disk_lttng
	lttng_down
}

insmod "$TRACEBUF_KO"
load >"$log"
own >>"$log" 2>&1
[ -z "$peers" ] || others >>"$log" 2>&1
