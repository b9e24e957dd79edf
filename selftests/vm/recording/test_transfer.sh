#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_transfer.sh - a program writes whole recordings by the library alone (samples/read/save.c).
# If this is broken, its file lacks blocks, or a failed write loses what another reader could get.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
own_folder
tree=${here%/selftests/vm/*}
save=${TRACEBUF_USER:-$tree/build/user}/samples/read/save

load()
{
	for _ in 1 2 3 4 5 6 7 8; do
		ls /usr/bin | cat >/dev/null
	done
}

# whole FILE: its counts are exact, and it has switches
whole()
{
	tracebuf verify "$1" >said || { cat said; return 1; }
	! grep -q '>=' said && tracebuf print -e sched_switch "$1" | grep -q next_pid
}

for_seconds()
{
	tracebuf provider create mine -e sched || return
	"$save" -p mine t.tbuf 2 &
	load
	wait $! && whole t.tbuf
}

# The file is slower than the recording, so there are always blocks: the timer must end the program
# nevertheless.
while_busy()
{
	tracebuf provider create busy -e raw_syscalls -b 64 -B 256 || return
	for _ in 1 2; do
		dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
		dd="${dd:-} $!"
	done
	{ timeout 40 "$save" -p busy /dev/stdout 1; echo $? >code; } | python3 -S -c '
import os, time
while data := os.read(0, 65536):
    os.write(1, data)
    time.sleep(0.15)' >busy.tbuf
	code=$(cat code)
	# shellcheck disable=SC2086
	kill $dd
	tracebuf provider destroy busy && tracebuf verify -q busy.tbuf && return "$code"
}

# Blocks that could not be written are there for the next reader.
full_disk()
{
	tracebuf start -p mine && load && tracebuf flush -p mine || return
	! "$save" -p mine /dev/full 1 2>said && grep -q 'No space left' said &&
		tracebuf stop -p mine &&
		tracebuf save -p mine -o rest.tbuf && whole rest.tbuf &&
		tracebuf provider destroy mine
}

snapshot()
{
	tracebuf start -m circular -e sched && load && "$save" snap.tbuf &&
		tracebuf verify snap.tbuf && tracebuf status | grep -q running &&
		tracebuf print -e sched_switch snap.tbuf | grep -q next_pid &&
		tracebuf stop
}

# Without a running recording there is no snapshot.
stopped()
{
	! "$save" none.tbuf 2>said && grep -q 'Invalid argument' said
}

# Zero seconds would mean: without an end.
no_seconds()
{
	for seconds in 0 -1 abc 5x ''; do
		timeout 10 "$save" none.tbuf "$seconds" 2>said
		[ $? = 2 ] && grep -q usage said && [ ! -e none.tbuf ] || return
	done
}

plan 6
insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko"
check "a recording of some seconds" for_seconds
check "a recording that always has blocks" while_busy
check "a full disk" full_disk
check "a snapshot of a running recording" snapshot
check "wrong numbers of seconds" no_seconds
check "no recording is running" stopped
rmmod tracebuf_events tracebuf
finish
