#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_compact.sh - a recording in compact forms shows the same events with the same fields as one
# in wide forms. If this fails, the recorder's default loses fields. Two providers record the same
# load at the same time, one in each form.
#
# When switches of threads may be missing, events are recorded in the wide form, because the compact
# one leaves out the thread.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
own_folder
events='sched_switch,sched_wak*,sched_stat_runtime,irq,raw_syscalls'

# load: threads that wait for each other, on all CPUs, and calls with 0 to 6 arguments
load()
{
	for i in 1 2 3 4 5 6 7 8; do
		seq 1 200 | sort -n | tail -n 1 >/dev/null
		: >"file.$i"
	done
	# the compact form has no room for the priority of a deadline task
	chrt -d --sched-runtime 1000000 --sched-deadline 10000000 --sched-period 10000000 0 \
		sh -c 'sleep 0.02; sleep 0.02'
}

# together NAME: records NAME-compact.tbuf and NAME-wide.tbuf while NAME runs
together()
{
	tracebuf provider create wide -e "$events" -W -b 256 && tracebuf start -p wide &&
		tracebuf start -e "$events" -b 256 || return
	"$1"
	tracebuf stop && tracebuf stop -p wide && tracebuf save -o "$1-compact.tbuf" &&
		tracebuf save -p wide -o "$1-wide.tbuf" && tracebuf provider destroy wide
}

# The compact recording lacks switches for a while, and never has all of them again.
without_switches()
{
	load
	tracebuf disable sched_switch
	load
	tracebuf enable sched_switch
	load
}

# A filter leaves out some switches.
filtered_switches()
{
	load
	tracebuf enable sched_switch -f 'next_pid == 0'
	load
}

# same NAME [EVENT]: both recordings have the same events, not counting EVENT
same()
{
	for f in wide compact; do
		tracebuf verify -q "$1-$f.tbuf" && tracebuf print --fields "$1-$f.tbuf" >"$f.txt" || return
	done
	python3 "$here/compact_check.py" wide.txt compact.txt "${2:-}"
}

smaller()
{
	compact=$(stat -c %s load-compact.tbuf) wide=$(stat -c %s load-wide.tbuf)
	echo "$compact bytes, not $wide"
	[ $((compact * 3)) -lt $((wide * 2)) ]
}

plan 3 4
if in_guest; then
	insmod "$TRACEBUF_KO" || exit 1
fi
check "record in both forms" together load
check "record while switches are not recorded for a time" together without_switches
check "record while some switches are not recorded" together filtered_switches
if in_guest; then
	rmmod tracebuf
fi
judge "compact events are the same, with all fields" same load
judge "and take less room" smaller
judge "threads are right where switches are not recorded" same without_switches sched_switch
judge "and where some of them are not" same filtered_switches sched_switch
finish
