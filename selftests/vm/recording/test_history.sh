#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_history.sh - 'start --history' keeps the last events in limited memory. If this is broken,
# the memory grows beyond what was asked for, or a snapshot lacks events without saying so.
#
# A second provider records the same events into a file. The history must be a part of that.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
own_folder
folder=/run/tracebuf/history/kernel
events='sched_switch,irq_handler_*,softirq_*,raw_syscalls'
memory=1048576

# load SECONDS: system calls and switches on all CPUs
load()
{
	timeout "$1" sh -c 'while :; do
		dd if=/dev/zero bs=64 count=20000 2>/dev/null | cat >/dev/null &
		dd if=/dev/zero bs=64 count=20000 2>/dev/null | cat >/dev/null
	done'
	:
}

# watch: writes the most bytes that the files had together to the file 'most'; ends with the file
# 'watched'
watch()
{
	most=0
	while [ -e watched ]; do
		now=$(du -sk $folder 2>/dev/null | cut -f1)
		[ $((${now:-0} * 1024)) -le "$most" ] || most=$((now * 1024))
		sleep 0.05
	done
	echo "$most" >most
}

recorder()
{
	head -n 1 $folder/pid
}

# ended PROCESS FILE: the process has gone, and its pid file
ended()
{
	! [ -e "/proc/$1" ] && ! [ -e "$2" ]
}

# begin NAME: a recorder of all events into NAME-whole.tbuf, and a small history
begin()
{
	tracebuf provider create whole -e "$events" -b 1024 &&
		tracebuf record -q -p whole -o "$1-whole.tbuf" --daemon --pid-file pid &&
		tracebuf start --history 10m --memory 1M -e "$events" -b 128 -B 4096
}

end_whole()
{
	process=$(cat pid)
	kill "$process" && until_it ended "$process" pid && tracebuf provider destroy whole
}

thrown_away()
{
	: >watched
	watch &
	begin thrown || return
	first=$(recorder)
	load 6
	status 0 tracebuf status && says '^history    since 20.*events in .* MiB, recorder' || return
	status 0 tracebuf snapshot -o thrown-part.tbuf || return
	load 1
	rm watched
	until_it [ -s most ]
	# the programs of the load have ended: the last block does not get full
	sleep 1
	sh -c 'printf last_one >"/proc/$$/comm"; sleep 0.01'
	tracebuf snapshot -o thrown-later.tbuf && end_whole || return
	ls -l $folder
	cat "/proc/$first/stat"
	[ "$first" = "$(recorder)" ] && ! [ -e $folder/part-0001.tbuf ]
}

memory_kept()
{
	echo "$(cat most) bytes at most, of $memory"
	[ "$(cat most)" -le $memory ] && [ "$(cat most)" -gt $((memory / 4)) ]
}

second_refused()
{
	status 1 tracebuf start --history 1m -e sched_switch &&
		says "history of this provider: process $(recorder)"
}

stopped()
{
	process=$(recorder)
	tracebuf stop && until_it ended "$process" $folder/pid && tracebuf save -o stopped.tbuf &&
		tracebuf save -o again.tbuf && cmp stopped.tbuf again.tbuf || return
	status 0 tracebuf status && says 'the recorder has ended'
}

not_running()
{
	! tracebuf status | grep -q running
}

# The recorder is killed at any moment, also within a write: blocks that it had not written are
# still in the buffers.
killed()
{
	for i in 1 2 3; do
		begin "killed-$i" || return
		load 2 &
		sleep 1.5
		kill -KILL "$(recorder)"
		wait
		until_it not_running || return
		ls -l $folder
		tracebuf save -o "killed-$i.tbuf" && end_whole || return
	done
}

forgotten()
{
	ls $folder/part-*.tbuf && tracebuf start -e sched_switch && tracebuf stop || return
	! ls $folder/part-*.tbuf 2>/dev/null
}

# The history has files of 1 s, and keeps 4 s.
by_time()
{
	tracebuf start --history 4 -e sched_switch && sleep 9 && tracebuf snapshot -o time.tbuf &&
		tracebuf save --stop -o time-all.tbuf
}

no_memory()
{
	mkdir -p /not_memory && mount --bind /not_memory /run || return
	status 1 tracebuf start --history 1h -e sched_switch && says 'not in memory' || return
	umount /run && mount -t tmpfs -o size=16M none /run || return
	status 1 tracebuf start --history 1h --memory 17M && says 'room for only 16 MiB'
}

# part_of WHOLE HISTORY: the history is one recording with exact counts, and a part of the whole
part_of()
{
	status 0 tracebuf verify "$2" && lines 0 'recording ' said && says exact || return
	! grep -q '  open' said || return
	tracebuf print "$1" >whole.txt && tracebuf print "$2" >history.txt || return
	python3 "$here/history_check.py" whole.txt history.txt
}

up_to_now()
{
	tracebuf print thrown-later.tbuf | tail -n 2000 | grep -q last_one
}

all_killed()
{
	for i in 1 2 3; do
		part_of killed-$i-whole.tbuf killed-$i.tbuf || return
	done
}

# span FILE LEAST MOST: seconds between the first event and the last
span()
{
	tracebuf print "$1" >time.txt || return
	sed -n '1p;$p' time.txt
	sed -n 's/.* \([0-9]*\.[0-9]*\): .*/\1/p' time.txt |
		awk "NR == 1 { first = \$1 } { span = \$1 - first }
			END { exit !(span > $2 && span < $3) }"
}

plan 8 5
if in_guest; then
	insmod "$TRACEBUF_KO" || exit 1
fi
check "a small history while another recorder has all" thrown_away
check "the files never take more than --memory" memory_kept
check "a second recorder is refused" second_refused
check "stop ends the recorder; save works more than once" stopped
check "the recorder is killed" killed
check "the next start deletes the history" forgotten
check "a history by time" by_time
check "refused without memory, or without enough" no_memory
if in_guest; then
	rmmod tracebuf
fi
judge "a snapshot is one recording, and its events are part of the whole one" \
	part_of thrown-whole.tbuf thrown-part.tbuf
judge "a later snapshot, too" part_of thrown-whole.tbuf thrown-later.tbuf
judge "a snapshot has the events up to its start" up_to_now
judge "the events that a killed recorder leaves are part of the whole recording" all_killed
judge "--history limits the time" span time.tbuf 3 7
finish
