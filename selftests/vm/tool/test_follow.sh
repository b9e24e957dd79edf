#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_follow.sh - reading a recording while it is made, with samples/read/follow: from the device
# and from a pipe, on all CPUs, in order, to the end; with losses. If this fails, a live view lacks
# events, or shows them out of order.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
tree=${here%/selftests/vm/*}
follow=${TRACEBUF_USER:-$tree/build/user}/samples/read/follow
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1

# in_order N: times do not go back, no event came too late, and there are N lines or more
in_order()
{
	[ ! -s errors ] || { cat errors; return 1; }
	awk -v least="$1" '
	!match($1, /^[0-9]+\.[0-9]+$/) { print "line " NR ": " $0; bad = 1; exit }
	# losses at the end are known only then
	/ tracebuf:lost / { next }
	{
		split($1, now, ".")
		if (now[1] < last[1] || (now[1] == last[1] && now[2] < last[2])) {
			print "line " NR " is before the one before it: " $0
			bad = 1
			exit
		}
		last[1] = now[1]
		last[2] = now[2]
	}
	END {
		print NR " lines"
		exit bad || NR < least
	}' said
}

# Makes events on all CPUs.
busy()
{
	while :; do
		for cpu in $(seq 0 $(($(nproc) - 1))); do
			taskset -c "$cpu" true
		done
	done
}

with_load()
{
	busy &
	load=$!
	"$@"
	with_load_status=$?
	kill "$load"
	wait "$load" 2>/dev/null
	return $with_load_status
}

provider()
{
	tracebuf provider create follow "$@" || return
}

gone()
{
	tracebuf stop -p follow >/dev/null 2>&1
	tracebuf provider destroy follow
}

# Reads a number of events from a recording that goes on.
device()
{
	provider -m streaming -e sched,irq || return
	with_load "$follow" -p follow 20000 >said 2>errors
	status=$?
	gone
	[ $status = 0 ] && [ "$(wc -l <said)" = 20000 ] && in_order 20000
}

# Reads until another process stops the recording: all events arrive, or count as lost.
device_stopped()
{
	provider -m streaming -b 64 -e sched_switch || return
	"$follow" -p follow >said 2>errors &
	pid=$!
	busy &
	load=$!
	tries=0
	while [ "$(wc -l <said)" -lt 500 ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || break
		sleep 0.1
	done
	kill $load
	wait $load 2>/dev/null
	tracebuf stop -p follow
	wait $pid
	status=$?
	tracebuf provider show follow >counts
	gone
	[ $status = 0 ] && in_order 500 || return
	# recorded = shown + lost
	recorded=$(awk '$1 == "CPU" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "all" { print $at["recorded"] }' counts)
	lost=$(awk '/ tracebuf:lost / { n += $4 } END { print n + 0 }' said)
	shown=$(grep -c ' sched:sched_switch ' said)
	echo "recorded $recorded, shown $shown, lost $lost"
	[ "$recorded" = $((shown + lost)) ]
}

# The same events as print shows of the file that is written at the same time
pipe()
{
	# shellcheck disable=SC2016
	with_load sh -c 'tracebuf record -o - -d 3 --flush-ms 100 -b 64 -e sched_switch,irq | tee whole |
		'"$follow"' - >said 2>errors' || return
	in_order 1000 || return
	tracebuf verify whole || return
	grep -c ' sched:sched_switch ' said >one
	tracebuf print --fields whole | grep -c ' sched:sched_switch: ' >two
	cat one two
	cmp one two
}

# With far too few buffers losses are shown where they were.
losses()
{
	provider -m streaming -b 2 -B 64 -e sched,irq,raw_syscalls || return
	with_load "$follow" -p follow 3000 >said 2>errors
	status=$?
	gone
	cat errors
	[ $status = 0 ] && grep -q ' tracebuf:lost LOST [1-9]' said
}

busy_reader()
{
	provider -m streaming -e sched_switch || return
	"$follow" -p follow >/dev/null 2>&1 &
	pid=$!
	tries=0
	until tracebuf provider show follow | grep -q 'a reader is attached'; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || break
		sleep 0.1
	done
	"$follow" -p follow 1 >said 2>&1
	status=$?
	tracebuf stop -p follow
	wait $pid
	gone
	cat said
	[ $status = 1 ] && grep -q 'busy' said
}

insmod "$TRACEBUF_KO"
plan 5
check "from the device while it is recorded, in order over all CPUs" device
check "from the device until it is stopped: all events arrive, or count as lost" device_stopped
check "from a pipe: the events of the file" pipe
check "losses are shown" losses
check "a second reader is refused" busy_reader
finish
