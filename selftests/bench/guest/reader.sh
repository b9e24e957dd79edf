#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reader.sh - suite reader, in the guest: what recorders take of the processors while system calls
# of a load are recorded into a file on ext4, and what they miss.
#
#   reader.sh RECORDER PEERS N LOADS
#
# RECORDER is the program (recorder.c), PEERS the folder of peers.sh, if it is empty tracebuf is
# measured alone; N times getppid() on each of
# LOADS CPUs are 2 N events each, as fast as they come: several times as many as find room in the
# 4 MiB of buffers for each CPU that everybody has. A line "CPUs|recorder|what RECORDER prints|
# events|events lost|ns of the fastest load under which none is lost, or -" for each goes to
# /out/reader.out.

set -eu

recorder=$(realpath "$1") peers=$2 n=$3 cpus=$4
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"

# NAME ARGUMENT...: of the program, which prints the figures
measure()
{
	log=/out/$1.log
	shift
	rm -f "$log"
	figures=$("$recorder" -l "$cpus" -n "$n" -g "$gap" -o "$log" "$@")
}

# NAME OPTION...; this and its like set figures and lost
run_tracebuf()
{
	name=$1
	shift
	measure "$name" -r 'tracebuf status | grep -q running' \
		tracebuf record -v -b 16 -B 16384 -w 100 --clock tsc -e raw_syscalls -o t.tbuf "$@"
	lost=$(awk '$1 == "all" { print $4 + $5 }' "$log")
	rm t.tbuf
}

# NAME OPTION...
run_ftrace()
{
	name=$1
	shift
	# one process for each CPU and the first
	measure "$name" -r "[ \$(pgrep -c trace-cmd) -gt $(nproc) ] && grep -q 1 /sys/kernel/tracing/tracing_on" \
		env LD_LIBRARY_PATH="$libs" "$root/usr/bin/trace-cmd" record -b 4096 -e raw_syscalls -o t.dat "$@"
	lost=$(awk '/overrun:/ { for (i = 1; i < NF; i++) if ($i == "overrun:") lost += $(i + 1) }
		END { print lost + 0 }' "$log")
	rm t.dat
}

# NAME
run_lttng()
{
	lttng_session "$PWD/lttng.trace" discard 256k 16
	lttng enable-event -k -s bench -c events --syscall -a
	lttng start bench
	measure "$1" -p "$(pgrep -o lttng-consumerd)" -r true \
		-e "LD_LIBRARY_PATH='$libs' '$root/usr/bin/lttng' -n stop bench >/dev/null"
	peer "$root/usr/bin/lttng" -n list bench >"$log" 2>&1
	lttng destroy bench
	lost=$(awk '/Discarded events/ { n += $3 } END { print n + 0 }' "$log")
	rm -r lttng.trace
}

# FUNCTION NAME OPTION...: as fast as events come; if some are lost more slowly, until none is
bench()
{
	gap=0
	"$@"
	printf '%s|%s|%s|%s|%s|' "$(nproc)" "$2" "$figures" $((2 * n * cpus)) "$lost" >>/out/reader.out
	full=${figures%%|*} percent=100
	while [ "$lost" -gt 0 ] && [ "$percent" -gt 10 ]; do
		percent=$((percent - 10))
		gap=$((full * 100 / percent / n))
		"$@"
	done
	if [ "$lost" -gt 0 ]; then
		figures=-
	fi
	echo "${figures%%|*}" >>/out/reader.out
}

modprobe virtio_blk
modprobe -q ext4 || true
mkdir /tmp/disk
until [ -b /dev/vda ]; do
	sleep 0.1
done
mount -t ext4 /dev/vda /tmp/disk
cd /tmp/disk

insmod "$TRACEBUF_KO"
# the first run of a program pays for reading it
tracebuf record -q -d 1 -e raw_syscalls -o t.tbuf
bench run_tracebuf tracebuf
bench run_tracebuf tracebuf-buffered --buffered
bench run_tracebuf tracebuf-zstd --compress zstd:1 --threads 1
[ -n "$peers" ] || exit 0
bench run_ftrace trace-cmd
bench run_ftrace trace-cmd-plain --compression none
lttng_up
bench run_lttng lttng-consumerd
lttng_down
