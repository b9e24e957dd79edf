#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_perfetto.sh - what Perfetto's importer draws of recordings: a whole one, one with losses, a
# snapshot that begins with a gap, one in wide forms, and one of a program. pf_import.py does what
# the importer does, and compares it with our own analysis. If this fails, a timeline shows slices
# that never were.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
root=${here%/selftests/vm/*}
own_folder
built=${TRACEBUF_USER:-$root/build/user}
export LD_LIBRARY_PATH="$built"
work=${TRACEBUF_SELFTESTS:-$root/build/selftests}/workload

# Makes events until it is killed.
busy()
{
	while :; do
		find /etc -newer /etc/passwd >/dev/null 2>&1
		gzip -1 </etc/services >busy.gz
		sleep 0.01
	done
}

# drawn NAME: the importer draws NAME.tbuf as our analysis has it
drawn()
{
	tracebuf export -q -o "$1.pftrace" "$1.tbuf" &&
		python3 "$root/selftests/unit/export/pf_import.py" tracebuf "$1.tbuf" "$1.pftrace" >said
	code=$?
	cat said
	return $code
}

whole()
{
	tracebuf record -q -d 1 -b 256 -o whole.tbuf
}

running()
{
	tracebuf status | grep -q running
}

# The recorder is stopped while more is recorded than fits.
with_losses()
{
	tracebuf record -q -b 2 -o lossy.tbuf &
	recorder=$!
	until_it running || return
	kill -STOP $recorder
	"$work" 6000
	kill -CONT $recorder
	"$work" 100
	kill $recorder
	wait $recorder
}

losses_drawn()
{
	drawn lossy && grep -q '^losses: [1-9]' said && grep -q '; [1-9][0-9]* times nobody' said
}

# Until the rings have been overwritten, so that each begins with a gap
a_snapshot()
{
	tracebuf start -m circular -b 4 || return
	until tracebuf snapshot -o snap.tbuf >/dev/null 2>&1 &&
	      tracebuf print snap.tbuf | grep -q '^-- CPU'; do
		sleep 0.2
	done
	tracebuf stop
}

snapshot_drawn()
{
	drawn snap && grep -q '^losses: [1-9]' said
}

wide_forms()
{
	tracebuf record -q -W -e sched,irq,raw_syscalls -d 0.5 -b 256 -o wide.tbuf
}

of_a_program()
{
	tracebuf record -q -b 256 -o user.tbuf -- "$built/samples/threads"
}

# A process without a record of its beginning has a row nevertheless.
without_newtask()
{
	tracebuf record -q -e sched_switch,task_newtask:1/1000 -o row.tbuf -- \
		sh -c 'ls / | cat' >/dev/null
}

plan 6 6
if in_guest; then
	insmod "$TRACEBUF_KO" || exit 1
	busy &
	busy=$!
fi
check "record it all" whole
check "record with losses" with_losses
check "take a snapshot" a_snapshot
check "record wide forms" wide_forms
check "record a program" of_a_program
check "record processes whose beginning is not recorded" without_newtask
if in_guest; then
	kill $busy
	wait 2>/dev/null
	rmmod tracebuf
fi
judge "a whole recording" drawn whole
judge "where events are missing, everything ends" losses_drawn
judge "nothing of a snapshot is hidden" snapshot_drawn
judge "wide forms" drawn wide
judge "slices of a program" drawn user
judge "processes whose beginning was not recorded" drawn row
finish
