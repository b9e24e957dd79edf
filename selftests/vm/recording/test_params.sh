#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module takes each legal parameter and refuses illegal ones with a message, and it can be
# unloaded whenever no program uses it; "insmod events=..." and "cat" are a complete use. If this
# fails, the module takes a wrong value in silence, or cannot be unloaded.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"

tmp=$(mktemp -d)
dev=/dev/tracebuf
sys=/sys/module/tracebuf

gone()
{
	[ ! -e "$sys" ] && [ ! -e $dev ]
}

load()
{
	dmesg -C
	insmod "$TRACEBUF_KO" "$@"
}

unload()
{
	rmmod tracebuf && gone
}

# good PARAMETER...: loads with these, and reads their values back.
good()
{
	load "$@" || return
	for param; do
		[ "$(cat "$sys/parameters/${param%%=*}")" = "${param#*=}" ] || {
			unload
			return 1
		}
	done
	unload
}

# bad TEXT PARAMETER...: loading fails with EINVAL, the log has TEXT, and nothing is left.
bad()
{
	text=$1
	shift
	load "$@" && {
		echo "it was loaded"
		unload
		return 1
	}
	dmesg | grep -qF "$text" || {
		echo "not in the log: $text"
		dmesg
		return 1
	}
	gone
}

# says_invalid PARAMETER...: insmod says "Invalid parameters", which is EINVAL.
says_invalid()
{
	load "$@" 2>"$tmp/says" && return 1
	cat "$tmp/says"
	grep -q 'Invalid parameters' "$tmp/says"
}

# blocks FILE: a recording that went on begins with the magic number, and has whole blocks of 16
# KiB.
blocks()
{
	[ "$(head -c 4 "$1")" = TBUF ] && [ $(($(stat -c %s "$1") % 16384)) = 0 ]
}

insmod_and_cat()
{
	load events=sched,irq || return
	timeout 300 dd if=$dev of="$tmp/trace" bs=1M count=4 iflag=fullblock 2>/dev/null &
	pid=$!
	# run programs until the file has several rolling blocks
	i=0
	while kill -0 $pid 2>/dev/null && [ $i -lt 3000 ]; do
		/bin/true
		i=$((i + 1))
		[ "$(stat -c %s "$tmp/trace" 2>/dev/null || echo 0)" -lt 600000 ] || break
	done
	kill $pid 2>/dev/null
	wait $pid
	unload || return
	blocks "$tmp/trace" && [ "$(stat -c %s "$tmp/trace")" -gt 500000 ]
}

insmod_and_head()
{
	load events=raw_syscalls || return
	head -c 100000 $dev >"$tmp/trace" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		cat /proc/self/stat >/dev/null
	done
	wait $pid
	unload || return
	[ "$(head -c 4 "$tmp/trace")" = TBUF ] && [ "$(stat -c %s "$tmp/trace")" = 100000 ]
}

no_state()
{
	load events=irq state=0 flush_ms=50 || return
	head -c 16384 $dev >"$tmp/without" || return
	unload || return
	load events=irq state=1 flush_ms=50 || return
	head -c 16384 $dev >"$tmp/with" || return
	unload || return
	# with the state: all threads; without: only those that ran
	for comm in kthreadd kdevtmpfs oom_reaper khungtaskd kcompactd0; do
		grep -qa $comm "$tmp/with" || { echo "no $comm"; return 1; }
		grep -qa $comm "$tmp/without" || return 0
	done
	echo "all of these threads ran"
	return 1
}

device_node()
{
	load || return
	stat -c '%F %a %u' $dev
	[ "$(stat -c '%F %a %u' $dev)" = 'character special file 600 0' ]
	code=$?
	unload && [ $code = 0 ]
}

in_use()
{
	load || return
	exec 3<$dev
	rmmod tracebuf 2>"$tmp/says" && return 1
	cat "$tmp/says"
	exec 3<&-
	grep -q 'in use' "$tmp/says" && unload
}

unload_while_recording()
{
	load events=all flush_ms=1 || return
	cat /proc/self/maps >/dev/null
	unload
}

again_and_again()
{
	for i in $(seq 4); do
		load events=sched,irq,raw_syscalls elements=64 buffers=$((i + 1)) || return
		cat /proc/self/stat >/dev/null
		unload || return
	done
}

load_twice()
{
	load || return
	insmod "$TRACEBUF_KO" 2>"$tmp/says" && return 1
	cat "$tmp/says"
	grep -q 'File exists' "$tmp/says" && unload
}

# programs_may LIMIT PARAMETER...: status shows LIMIT for programs, and it holds.
programs_may()
{
	wanted=$1
	shift
	insmod "$TRACEBUF_KO" events=irq "$@" || return
	tracebuf status | tee status.txt | grep "^programs *$wanted"
	result=$?
	cat status.txt
	[ $result != 0 ] || [ "$wanted" = closed ] || tracebuf mark here || result=1
	rmmod tracebuf
	return $result
}

# producer_mode_is MODE PARAMETER...: the node for programs has MODE.
producer_mode_is()
{
	wanted=$1
	shift
	load "$@" || return
	mode=$(stat -c %a /dev/tracebuf_producer)
	unload && [ "$mode" = "$wanted" ] && [ ! -e /dev/tracebuf_producer ] || {
		echo "mode $mode"
		return 1
	}
}

nothing_left()
{
	gone && ! grep -w tracebuf /proc/modules && ! grep -rqs tracebuf /proc/misc
}

plan 48
check "load and unload" good
check "the device node" device_node
check "events=" good events=sched
check "events= several, globs" good 'events=sched:sched_s*,irq,timer_*'
check "events= nothing" good events=
check "wide=" good wide=Y events=sched
check "mode=oneshot, one buffer" good mode=oneshot buffers=1 events=sched
check "least values" good mode=streaming policy=drop buffers=2 elements=64 watermark=1 \
	durable_kib=64 flush_ms=1 clock=mono state=N memory_percent=1 producers_per_user=1
check "most values" good mode=circular policy=overwrite buffers=4096 elements=64 watermark=100 \
	durable_kib=65536 flush_ms=3600000 clock=auto state=Y producers_per_user=1024
check "elements= most" good elements=65536 buffers=2
check "all at once" good events=irq wide=Y mode=streaming policy=drop buffers=16 elements=128 \
	watermark=50 durable_kib=128 flush_ms=100 clock=mono state=Y

check "bad: events" bad "no event matches 'nonsense'" events=sched,nonsense
check "bad: events is not an unknown symbol" says_invalid events=nonsense
check "bad: event of another system" bad "no event matches 'irq:sched_switch'" events=irq:sched_switch
check "bad: wide" bad "invalid for parameter" wide=maybe
check "bad: mode" bad "mode=sideways: not one of" mode=sideways
check "bad: mode oneshot that overwrites" bad "do not go together" mode=oneshot policy=overwrite
check "bad: policy" bad "policy=keep: not one of" policy=keep
check "bad: circular and drop" bad "do not go together: mode=circular policy=drop" \
	mode=circular policy=drop
check "bad: buffers too few" bad "buffers=1: not within 2..4096" buffers=1
check "bad: buffers too many" bad "buffers=4097: not within 2..4096" buffers=4097
check "bad: buffers negative" bad "invalid for parameter" buffers=-1
check "bad: elements too few" bad "elements=32: not within 64..65536" elements=32
check "bad: elements too many" bad "elements=131072: not within 64..65536" elements=131072
check "bad: elements" bad "elements=1000: not a power of two" elements=1000
check "bad: watermark" bad "watermark=101: not within 1..100" watermark=101
check "bad: durable_kib too small" bad "durable_kib=63: not within 64..65536" durable_kib=63
check "bad: durable_kib too large" bad "durable_kib=65537: not within 64..65536" durable_kib=65537
check "bad: flush_ms" bad "flush_ms=3600001" flush_ms=3600001
check "bad: clock" bad "clock=sundial: not one of" clock=sundial
check "writers=" programs_may "may write .* at once" 'writers=net*,db'
check "writers: none" programs_may closed
check "bad: writers" bad "': too long" "writers=$(printf 'x%.0s' $(seq 64))"
check "producer_mode=" producer_mode_is 660 producer_mode=0660
check "producer_mode: for root alone" producer_mode_is 600
check "producer_mode: nothing but reading and writing" producer_mode_is 666 producer_mode=07777
check "bad: producer_mode" bad "invalid for parameter" producer_mode=rw
check "bad: memory_percent too much" bad "memory_percent=101: not within 1..100" memory_percent=101
check "producers_per_user= any number" good producers_per_user=0
check "bad: producers_per_user too many" bad "producers_per_user=1025: not within 1..1024" \
	producers_per_user=1025
check "loaded twice" load_twice
check "insmod, then dd" insmod_and_cat
check "insmod, then head" insmod_and_head
check "state= decides on the thread records" no_state
check "in use while open" in_use
check "unloaded while recording" unload_while_recording
check "again and again" again_and_again
check "nothing is left" nothing_left
rm -rf "$tmp"
finish
