#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reader.sh - runs suite reader in the guest: recorders write the system calls of a load into a file
# on ext4; the suite measures their processor time, and the events that they lose.
#
#   reader.sh RECORDER PEERS N LOADS
#
# RECORDER is the program (recorder.c), PEERS the folder of peers.sh; if PEERS is empty, the suite
# measures only tracebuf. N getppid() on each of LOADS CPUs make 2 N events each, as fast as
# possible: several times as many as fit in the 4 MiB of buffers that each recorder has for a CPU. A
# line "CPUs|recorder|output of RECORDER|events|events lost|ns of the fastest load without loss, or
# -" for each recorder goes to /out/reader.out.

set -eu

recorder=$(realpath "$1") peers=$2 n=$3 cpus=$4
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/bench/guest/tracers.sh
. "$here/tracers.sh"

# measure NAME ARGUMENT...: run RECORDER with these arguments; set figures
measure()
{
	log=/out/$1.log
	shift
	rm -f "$log"
	figures=$("$recorder" -l "$cpus" -n "$n" -g "$gap" -o "$log" "$@")
}

# run_tracebuf NAME OPTION...: this and the next functions set figures and lost
run_tracebuf()
{
	name=$1
	shift
	measure "$name" -r 'tracebuf status | grep -q running' \
		tracebuf record -v -b 16 -B 16384 -w 100 --clock tsc -e raw_syscalls -o t.tbuf "$@"
	lost=$(awk '$1 == "CPU" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "all" { print $at["overwritten"] + $at["dropped"] }' "$log")
	rm t.tbuf
}

# run_ftrace NAME OPTION...
run_ftrace()
{
	name=$1
	shift
	# trace-cmd has one process, and one more for each CPU
	measure "$name" -r "[ \$(pgrep -c trace-cmd) -gt $(nproc) ] && grep -q 1 /sys/kernel/tracing/tracing_on" \
		env LD_LIBRARY_PATH="$libs" "$root/usr/bin/trace-cmd" record -b 4096 -e raw_syscalls -o t.dat "$@"
	lost=$(awk '/overrun:/ { for (i = 1; i < NF; i++) if ($i == "overrun:") lost += $(i + 1) }
		END { print lost + 0 }' "$log")
	rm t.dat
}

# run_lttng NAME
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

# bench FUNCTION NAME OPTION...: measure the fastest load, then slower ones until no event is lost
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
# the first run of a program also reads it from the disk
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
