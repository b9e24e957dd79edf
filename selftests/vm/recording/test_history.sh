#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_history.sh - 'start --history' keeps the last events in limited memory. If this is broken,
# the memory grows beyond what was asked for, or a snapshot lacks events without saying so.
#
# A second provider records the same events into a file. What the history has is a suffix of that.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
own_folder
folder=/run/tracebuf/history/kernel
events=sched_switch,irq_handler_*,softirq_*,raw_syscalls
memory=1048576

# load SECONDS: system calls and switches on all CPUs
load()
{
	timeout "$1" sh -c 'while :; do
		dd if=/dev/zero of=/dev/null bs=64 count=20000 2>/dev/null | cat & dd if=/dev/zero bs=64 count=20000 2>/dev/null | cat >/dev/null
	done'
	:
}

# watch: until the file 'watched' has gone, the most bytes that the files had together, to 'most'
watch()
{
	most=0
	while [ -e watched ]; do
		now=$(($(du -sk $folder 2>/dev/null | cut -f1) * 1024))
		[ "$now" -le "$most" ] || most=$now
		sleep 0.05
	done
	echo "$most" >most
}

recorder()
{
	head -n 1 $folder/pid
}

gone()
{
	! [ -e "/proc/$1" ] && ! [ -e $folder/pid ]
}

# The whole recording by a second provider; the history of the same time
begin()
{
	tracebuf provider create whole -e "$events" &&
		{ tracebuf record -q -p whole -o "$1-whole.tbuf" --daemon --pid-file "$tmp/pid" || return; } &&
		tracebuf start --history 10m --memory 1M -e "$events" -b 64 -B 4096
}

thrown_away()
{
	: >watched
	watch &
	begin thrown || return
	load 8
	status 0 tracebuf status && says '^history    since 20.*events in .* MiB, recorder' || return
	status 0 tracebuf snapshot -o thrown-part.tbuf || return
	first=$(recorder)
	ls -l $folder
	rm watched
	wait
	load 1
	tracebuf snapshot -o thrown-later.tbuf || return
	kill -TERM "$(cat "$tmp/pid")"
	until_it gone_whole
	[ "$first" = "$(recorder)" ] && ! [ -e $folder/part-0001.tbuf ]
}

gone_whole()
{
	! [ -e "$tmp/pid" ]
}

memory_kept()
{
	echo "$(cat most) bytes at most, of $memory"
	[ "$(cat most)" -le $memory ] && [ "$(cat most)" -gt $((memory / 4)) ]
}

second_refused()
{
	status 1 tracebuf start --history 1m -e sched_switch && says "history of this provider: process $(recorder)"
}

stopped()
{
	process=$(recorder)
	tracebuf stop && gone "$process" && tracebuf save -o stopped.tbuf &&
		tracebuf save -o again.tbuf && cmp stopped.tbuf again.tbuf || return
	status 0 tracebuf status && says 'the recorder has ended'
}

plan 4 4
if in_guest; then
	mkdir -p /run && mount -t tmpfs none /run && insmod "$TRACEBUF_KO" || exit 1
fi
check "a small history while another recorder has all" thrown_away
check "its files never take more than --memory" memory_kept
check "a second recorder is refused" second_refused
check "stop ends it, save gets it, more than once" stopped
cp *.tbuf /out/
finish
