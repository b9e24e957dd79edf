#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reader.sh - suite reader, in the guest: what recorders take of the processors while system calls
# of a load are recorded into a file on ext4, and what they miss.
#
#   reader.sh LOADS PEERS N
#
# LOADS is the program, PEERS the folder of peers.sh; it runs N times getppid() on the last CPU, so
# 2 N events, as fast as they come: several times as many as find room in the 4 MiB of buffers for
# each CPU that everybody has. A line "recorder|ns of the load|ns of the recorder|ns of the
# kernel's own threads|events|events lost" for each goes to /out/reader.out.

set -eu

loads=$(realpath "$1") peers=$2 n=$3
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"
last=$(($(nproc) - 1))

# Nanoseconds that the threads of these processes have run
ran()
{
	for pid; do
		cat /proc/"$pid"/task/*/schedstat 2>/dev/null || true
	done | awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}

# The kernel's threads: what writes is theirs where the page cache or a loop device is in between
threads()
{
	cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) [A-Z] 2 .*/\1/p'
}

# Until these have nothing left to do: waking up for nothing is not work
settle()
{
	was=-10000000
	now=$(ran "$@")
	while [ $((now - was)) -gt 2000000 ]; do
		sleep 1
		was=$now
		now=$(ran "$@")
	done
}

# RECORDER PID...: these record; prints all but what was lost
load_under()
{
	who=$1
	shift
	sync
	own=$(ran "$@")
	# shellcheck disable=SC2046
	kernel=$(ran $(threads))
	took=$(taskset -c "$last" "$loads" getppid "$n")
	settle "$@"
	own=$(($(ran "$@") - own))
	sync
	# shellcheck disable=SC2046
	kernel=$(($(ran $(threads)) - kernel))
	printf '%s|%s|%s|%s|%s|' "$who" "$took" "$own" "$kernel" $((2 * n)) >>/out/reader.out
}

until_running()
{
	until tracebuf status | grep -q running; do
		sleep 0.1
	done
}

# NAME OPTION...
run_tracebuf()
{
	name=$1
	shift
	tracebuf record -v -b 16 -B 16384 -w 100 --clock tsc -e raw_syscalls "$@" -o t.tbuf 2>"/out/$name.log" &
	pid=$!
	until_running
	load_under "$name" "$pid"
	kill "$pid"
	wait "$pid"
	awk '$1 == "all" { print $4 + $5 }' "/out/$name.log" >>/out/reader.out
	rm t.tbuf
}

run_ftrace()
{
	peer "$root/usr/bin/trace-cmd" record -b 4096 -e raw_syscalls -o t.dat >/out/ftrace.log 2>&1 &
	pid=$!
	# one for each CPU and the first
	until [ "$(pgrep -c trace-cmd)" -gt "$(nproc)" ] && [ "$(cat /sys/kernel/tracing/tracing_on)" = 1 ]; do
		sleep 0.1
	done
	# shellcheck disable=SC2046
	load_under trace-cmd $(pgrep trace-cmd)
	kill -INT "$pid"
	wait "$pid" || true
	awk '/overrun:/ { for (i = 1; i < NF; i++) if ($i == "overrun:") lost += $(i + 1) }
	     END { print lost + 0 }' /out/ftrace.log >>/out/reader.out
	rm -f t.dat*
}

run_lttng()
{
	lttng_session "$PWD/lttng.trace" discard 256k 16
	lttng enable-event -k -s bench -c events --syscall -a
	lttng start bench
	# shellcheck disable=SC2046
	load_under lttng-consumerd $(pgrep lttng-consumerd)
	lttng stop bench
	peer "$root/usr/bin/lttng" -n list bench >/out/lttng-list.log 2>&1
	lttng destroy bench
	awk '/Discarded events/ { n += $3 } END { print n + 0 }' /out/lttng-list.log >>/out/reader.out
}

modprobe -q loop || true
modprobe -q ext4 || true
mkdir /tmp/reader
mount -t tmpfs none /tmp/reader
cd /tmp/reader
truncate -s 400M disk.img
mke2fs -q -F -t ext4 disk.img
mkdir disk
mount -o loop disk.img disk
cd disk

insmod "$TRACEBUF_KO"
# the first run of a program pays for reading it
"$loads" getppid 1000 >/dev/null
tracebuf record -q -d 1 -e raw_syscalls -o t.tbuf
run_tracebuf tracebuf
run_tracebuf tracebuf-readers --readers "$(nproc)"
run_tracebuf tracebuf-buffered --buffered
run_tracebuf tracebuf-zstd --compress zstd:1 --threads 1
run_ftrace
lttng_up
run_lttng
lttng_down
