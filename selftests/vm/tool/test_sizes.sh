#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Without options record takes a bounded amount of memory, and a late reader loses nothing of a
# burst; options change memory and priority as documented. If this fails, a plain recording loses
# events on a busy machine, or takes too much memory.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

work=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/workload
tmp=$(mktemp -d)
mount -t tmpfs none "$tmp" || exit 1
cd "$tmp" || exit 1

running()
{
	tracebuf status | grep -q running
}

# begun PID: the recorder records, or has failed
begun()
{
	running || ! kill -0 "$1"
}

exact()
{
	status 0 tracebuf verify "$1" && says exact && ! says "LOST\|  open"
}

# late OPTION...: stops the recorder while more is recorded than the module's own 512 KiB
late()
{
	tracebuf record -e raw_syscalls,signal -o late.tbuf "$@" 2>late.said &
	pid=$!
	until_it begun $pid
	running || { cat late.said; return 1; }
	kill -STOP $pid
	"$work" 6000
	kill -CONT $pid
	kill $pid
	wait $pid
	code=$?
	cat late.said
	[ $code = 0 ] || { echo "exit status $code"; return 1; }
}

burst()
{
	late || return
	[ "$(stat -c %s late.tbuf)" -gt $((768 * 1024)) ] || { ls -l late.tbuf; return 1; }
	! grep -q "lost\|missing" late.said && exact late.tbuf
}

# With the module's own size events are lost: the size makes the difference.
burst_lost()
{
	late -b 32 && grep -q warning late.said && status 0 tracebuf verify late.tbuf
}

# memory_said FILE: prints CPUs, MiB for each, and MiB in all, as record says it
memory_said()
{
	sed -n 's/.*memory: \([0-9.]*\) MiB for each of \([0-9]*\) CPUs.* \([0-9.]*\) MiB in all$/\2 \1 \3/p' "$1"
}

says_memory()
{
	status 0 tracebuf record -e signal -o said.tbuf -- "$work" 10 || return
	memory_said said >memory
	read -r cpus each all <memory || return
	[ "$cpus" = "$(getconf _NPROCESSORS_CONF)" ] || { echo "$cpus CPUs"; return 1; }
	tracebuf status >shown || return
	cat shown
	# the module has the same size, and the durable buffer besides
	bytes=$(awk '$1 == "buffers" { print $2 * $6 * 16 }' shown)
	awk -v e="$each" -v b="$bytes" -v a="$all" -v c="$cpus" 'BEGIN {
		exit !(e == sprintf("%.1f", b / 1048576) && a > e * c && a < e * c + 2)
	}' || return
	grep -q "streaming.*watermark 100 %" shown || return
	status 0 tracebuf record -q -e signal -o said.tbuf -- "$work" 10 && ! says memory
}

# shellcheck disable=SC2086
told_sizes()
{
	for o in "-b 4:4 per CPU of 1024:70" "-B 128:32 per CPU of 128:70" "-w 55:32 per CPU of 1024:55" \
		"-b 6 -B 64 -w 40:6 per CPU of 64:40"; do
		sizes=${o#*:}
		status 0 tracebuf record ${o%%:*} -e signal -o told.tbuf -- "$work" 10 || return
		says memory && status 0 tracebuf status && says "buffers  *${sizes%:*}" && says "watermark ${sizes#*:} %" || return
	done
	# a new provider has the module's own sizes
	status 0 tracebuf provider create plain && status 0 tracebuf status -p plain &&
		says "32 per CPU of 1024" && says "watermark 70" && status 0 tracebuf provider destroy plain
}

# A flight recorder has as much memory, in blocks that are overwritten one by one.
flight_sizes()
{
	status 0 tracebuf start -m circular -e signal && status 0 tracebuf status || return
	says "per CPU of 1024" && ! says " 32 per CPU" || return
	tracebuf stop
	status 0 tracebuf start -m circular -b 8 -e signal && status 0 tracebuf status && says " 8 per CPU of 1024" || return
	tracebuf stop
	# without options the sizes stay
	status 0 tracebuf start -e signal && status 0 tracebuf status && says " 8 per CPU of 1024" || return
	tracebuf stop
}

# A machine of 128 MiB, as far as the tool can see
small_machine()
{
	printf 'MemTotal: 131072 kB\nMemFree: 100000 kB\nMemAvailable: 98304 kB\n' >meminfo
	# shellcheck disable=SC2016
	status 0 unshare -m sh -c 'mount --bind meminfo /proc/meminfo && exec tracebuf record -e signal -o small.tbuf -- "$1" 10' sh "$work" &&
		says "too much for this machine: it has 128 MiB, 96 MiB" && exact small.tbuf
}

# nice_of WANTED COMMAND...: the niceness of a recorder that COMMAND runs
nice_of()
{
	wanted=$1
	shift
	"$@" -q -e signal -o nice.tbuf &
	pid=$!
	until_it begun $pid
	running || return
	ps -o cls,ni -p $pid >nice.ps
	kill $pid
	wait $pid
	cat nice.ps
	grep -q "TS  *$wanted\$" nice.ps || { echo "not $wanted: $*"; return 1; }
}

priority()
{
	nice_of -20 tracebuf record && nice_of 0 tracebuf record --nice 0 && nice_of 4 nice -n 4 tracebuf record &&
		nice_of 0 tracebuf record --compress zstd && nice_of -3 tracebuf record --compress zstd --nice -3 || return
	# the command keeps its own priority
	status 0 tracebuf record -q -e signal -o nice.tbuf -- sh -c 'ps -o ni= -p $$' && says '^ *0$'
}

# Without permission for a priority record records nevertheless.
not_allowed()
{
	status 0 capsh --drop=cap_sys_nice -- -c 'tracebuf record -q -e signal -o may.tbuf -- ps -o ni=' && exact may.tbuf
}

plan 10
check "insmod" insmod "${TRACEBUF_KO:-tracebuf.ko}"
check "record: nothing of a burst is lost while the reader is late" burst
check "record: with less memory some of it is" burst_lost
check "record: how much memory it takes" says_memory
check "record: options set the sizes" told_sizes
check "start: a flight recorder of that size, unless options change it" flight_sizes
check "record: a small machine" small_machine
check "record: with a high priority, unless options change it" priority
if command -v capsh >/dev/null; then
	check "record: without permission for a priority" not_allowed
else
	skip "record: without permission for a priority" "no capsh"
fi
check "rmmod" rmmod tracebuf
finish
