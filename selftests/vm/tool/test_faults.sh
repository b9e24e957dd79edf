#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A recording survives while something around it fails, and its counts are exact afterwards: the
# disk, the memory, the clock, the reader, the processors, a machine that suspends, all under load.
# docs/faults.md has the list. If this fails, trouble elsewhere costs a recording.
#
# TRACEBUF_FAULTS: runs only tests with one of these words in their names. "." is all tests, as with
# TRACEBUF_FULL; the default is those that do not take long.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086,SC2015,SC2016
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

work=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/workload
group=/sys/fs/cgroup/faults
clocksource=/sys/devices/system/clocksource/clocksource0
tmp=$(mktemp -d)
mkdir "$tmp/mem" && mount -t tmpfs none "$tmp/mem" || exit 1
cd "$tmp/mem" || exit 1

running()
{
	tracebuf status | grep -q running
}

not_running()
{
	tracebuf status | grep -q stopped
}

# As long as a test lasts: numbered signals and system calls on CPU 0, forks on all CPUs.
begin_load()
{
	"$work" -f 20 &
	load=$!
	while :; do /bin/true; done &
	load="$load $!"
}

end_load()
{
	kill $load
	wait $load
} 2>/dev/null

# exact FILE...: whole, in order, and each loss is counted.
exact()
{
	for f; do
		status 0 tracebuf verify "$f" && says exact || return
	done
}

# Live, on each CPU: attempted = recorded + dropped, recorded = delivered + overwritten + pending.
accounting_live()
{
	tracebuf status >said || return
	cat said
	awk '/recorded/ && /pending/ { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; next }
		head && $1 ~ /^[0-9]+$/ {
			n++
			sum = $at["delivered"] + $at["overwritten"] + $at["pending"]
			if ($at["recorded"] != sum || $at["attempted"] != sum + $at["dropped"]) { print "CPU " $1 ": " sum; bad = 1 }
		}
		END { exit bad || !n }' said
}

# recording NAME COMMAND...: records everything under load while COMMAND runs; the file is exact.
recording()
{
	file=$1
	shift
	begin_load
	tracebuf record -q -o "$file" -e "${events:-sched,signal,irq,timer}" -b 64 &
	recorder=$!
	until_it running && until_it test -s "$file" && "$@"
	code=$?
	# the command has not ended the recorder
	kill -0 $recorder && kill $recorder
	ended=$?
	wait $recorder
	recorded=$?
	end_load
	[ $code = 0 ] && [ $ended = 0 ] && [ $recorded = 0 ] || {
		echo "command $code, recorder there $ended, its status $recorded"
		return 1
	}
	exact "$file"
}

# ---- the file ----------------------------------------------------------------

# A disk that can be made to fail, or to wait.
bad_disk()
{
	modprobe -q loop && modprobe -q dm-mod && modprobe -q dm-flakey && modprobe -q ext4 || return
	truncate -s 64M bad.img && loop=$(losetup -f --show bad.img) || return
	dmsetup create --noudevrules --noudevsync bad --table "0 131072 linear $loop 0" &&
		dmsetup mknodes bad && mke2fs -q -F -t ext4 -m 0 -b 4096 /dev/mapper/bad && mkdir -p bad &&
		mount -o errors=continue /dev/mapper/bad bad
}

break_disk()
{
	dmsetup suspend --noudevsync --nolockfs bad && dmsetup load bad --table "0 131072 error" && dmsetup resume --noudevrules --noudevsync bad
}

mend_disk()
{
	dmsetup suspend --noudevsync --nolockfs bad && dmsetup load bad --table "0 131072 linear $loop 0" &&
		dmsetup resume --noudevrules --noudevsync bad
}

# At most 140 of the 256 blocks of CPU 0 are not free.
ring_has_room()
{
	tracebuf status | awk '/recorded/ && /pending/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == "0" && at["held"] { used = $at["ready"] + $at["held"]; found = 1 }
		END { exit !found || used > 140 }'
}

# late_disk SIZE: with --backlog SIZE the disk waits while several times as much is recorded as the
# rings have
late_disk()
{
	tracebuf record --backlog "$1" -o bad/l.tbuf -e raw_syscalls,signal -b 256 -d 300 >told 2>&1 &
	recorder=$!
	until_it running && until_it test -s bad/l.tbuf
	code=$?
	dmsetup suspend --noudevsync --nolockfs bad || code=1
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$work" 2000
		[ "$1" = 0 ] || until_it ring_has_room || code=1
	done
	dmsetup resume --noudevrules --noudevsync bad || code=1
	kill $recorder
	wait $recorder || code=1
	cat told
	[ $code = 0 ] && exact bad/l.tbuf
}

disk_is_late()
{
	late_disk 64M && grep -q "writing was late" told && ! grep -q "lost\|missing\|no room" told && ! says LOST
}

# Without a backlog events are lost: the backlog makes the difference.
disk_is_late_without()
{
	late_disk 0 && ! grep -q "writing was late" told && grep -q "lost\|missing" told
}

# The disk fails during a recording: record reports it and exits with 1. The written part can be
# read, and the kernel records for the next reader.
disk_fails()
{
	begin_load
	# -d ends a recorder that does not notice, with another status
	tracebuf record $1 -o bad/f.tbuf -e sched,signal,irq -b 64 -d 300 >told 2>&1 &
	recorder=$!
	until_it running && until_it sh -c '[ $(stat -c %s bad/f.tbuf) -gt 500000 ]' && sync bad/f.tbuf
	code=$?
	break_disk || code=1
	wait $recorder
	recorded=$?
	mend_disk || code=1
	end_load
	cat told
	umount bad && mount -o errors=continue /dev/mapper/bad bad || return
	[ $code = 0 ] && [ $recorded = 1 ] || { echo "status $recorded"; return 1; }
	grep -qi 'input/output error\|could not be written\|cannot be written' told || return
	# the file is a trace, cut at worst
	tracebuf verify bad/f.tbuf >said 2>&1
	cat said
	says ' blocks .*events' || return
	rm -f bad/f.tbuf
	status 0 tracebuf record -o next.tbuf -e signal -- "$work" 200 && exact next.tbuf
}

full_tmpfs()
{
	mkdir -p full && mount -t tmpfs -o size=2m none full || return
	begin_load
	status 1 tracebuf record -o full/f.tbuf -e all -d 60 && says 'no space'
	code=$?
	end_load
	[ $code = 0 ] && status 0 tracebuf verify full/f.tbuf
	code=$?
	umount full
	return $code
}

# ---- the reader ----------------------------------------------------------------

# The reader is stopped until the rings overflow: losses are counted.
stopped_reader()
{
	begin_load
	tracebuf record -q -o slow.tbuf -e sched,signal,irq,raw_syscalls -b 4 -B 64 &
	recorder=$!
	until_it running && until_it test -s slow.tbuf && kill -STOP $recorder || return
	# more than fits
	"$work" 3000
	accounting_live
	counts=$?
	kill -CONT $recorder
	"$work" 100
	kill $recorder
	wait $recorder
	recorded=$?
	end_load
	[ $counts = 0 ] && [ $recorded = 0 ] && exact slow.tbuf
}

# Readers are killed at any time. Blocks that they had not released are there for the next reader;
# released ones are gone, and the counts say so.
killed_readers()
{
	begin_load
	for i in 1 2 3; do
		tracebuf record -q -o k$i.tbuf -e sched,signal -b 16 &
		recorder=$!
		until_it running && until_it test -s k$i.tbuf
		kill -KILL $recorder
		wait $recorder
		until_it not_running
	done 2>/dev/null
	accounting_live && status 0 tracebuf save -o rest.tbuf && accounting_live &&
		status 0 tracebuf print rest.tbuf &&
		[ -s said ]
	code=$?
	end_load
	[ $code = 0 ] && status 0 tracebuf record -q -o next.tbuf -e sched,signal -- "$work" 300 && exact next.tbuf
}

two_readers()
{
	recording two.tbuf sh -c '! tracebuf record -q -o second.tbuf -e sched -d 1 && ! head -c 1 /dev/tracebuf'
}

# Signals interrupt everything that the recorder does.
signals()
{
	storm()
	{
		for i in $(seq 300); do
			kill -WINCH $recorder
			kill -STOP $recorder
			kill -CONT $recorder
		done
	}
	recording signals.tbuf storm
}

# ---- memory ----------------------------------------------------------------

# The recorder is in a cgroup with little memory, and its neighbours want more. The file is memory
# here, too, and counts for the group.
little_memory()
{
	mkdir -p $group && echo 64M >$group/memory.max || return
	tight()
	{
		# while a killed neighbour ends, the kernel would kill the recorder as the next one
		echo $recorder >$group/cgroup.procs &&
			echo -1000 >/proc/$recorder/oom_score_adj || return
		for i in 1 2 3; do
			sh -c "echo \$\$ >$group/cgroup.procs; head -c 160M /dev/zero | tail -c 120M >/dev/null"
		done
		kill -0 $recorder && "$work" 500
	}
	events=signal recording little.tbuf tight
	code=$?
	sh -c 'echo 1 >/sys/fs/cgroup/faults/cgroup.kill' 2>/dev/null
	until_it rmdir $group
	return $code
}

# The kernel kills the recorder and its cgroup for lack of memory.
no_memory()
{
	mkdir -p $group && echo 64M >$group/memory.max && echo 1 >$group/memory.oom.group || return
	begin_load
	sh -c "echo \$\$ >$group/cgroup.procs; exec tracebuf record -q -o oom.tbuf -e signal -b 64" &
	recorder=$!
	until_it running && until_it test -s oom.tbuf
	sh -c "echo \$\$ >$group/cgroup.procs; exec tail /dev/zero" >/dev/null 2>&1
	wait $recorder
	killed=$?
	until_it not_running && accounting_live && status 0 tracebuf save -o after.tbuf && accounting_live
	code=$?
	end_load
	until_it rmdir $group
	[ $killed = 137 ] || echo "not killed: status $killed"
	[ $killed = 137 ] && [ $code = 0 ] && status 0 tracebuf record -q -o next.tbuf -e signal -- "$work" 300 &&
		exact next.tbuf
}

# Other processes want all of the memory.  The file is memory, too: a load would fill the rest.
pressure()
{
	squeeze()
	{
		free=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
		# KASAN keeps freed memory for a while
		spare=100
		grep -q ' kasan_report$' /proc/kallsyms && spare=$((free / 2))
		mkdir -p squeeze && mount -t tmpfs -o size=90% none squeeze || return
		head -c $((free - spare))M /dev/zero >squeeze/fill
		"$work" 500
		# a request for too much is refused as a whole
		! tracebuf provider create big -b 4096 -B 65536 -e sched || ! tracebuf start -p big
		code=$?
		tracebuf provider destroy big
		umount squeeze
		return $code
	}
	events=signal recording pressure.tbuf squeeze
}

# ---- clocks ----------------------------------------------------------------

set_clock()
{
	jump()
	{
		now=$(date +%s)
		for by in 3600 -7200 86400 -1; do
			date -s "@$((now + by))" >/dev/null && "$work" 100
		done
		date -s "@$((now + 1))" >/dev/null
	}
	recording jump.tbuf jump
}

change_clocksource()
{
	change()
	{
		before=$(cat $clocksource/current_clocksource)
		for source in $(cat $clocksource/available_clocksource) $before; do
			echo $source >$clocksource/current_clocksource && "$work" 100 || return
			[ "$(cat $clocksource/current_clocksource)" = $source ] || return
		done
	}
	recording clocksource.tbuf change
}

# The same with the kernel's clock as the trace clock.
change_clocksource_mono()
{
	rmmod tracebuf && insmod "$TRACEBUF_KO" clock=mono || return
	change_clocksource && set_clock
	code=$?
	rmmod tracebuf && insmod "$TRACEBUF_KO" && return $code
}

# ---- processors, sleep -------------------------------------------------------

unplug()
{
	out_and_in()
	{
		for i in 1 2 3 4; do
			echo 0 >/sys/devices/system/cpu/cpu1/online && "$work" 100 &&
				echo 1 >/sys/devices/system/cpu/cpu1/online && "$work" 100 || return
		done
	}
	recording unplug.tbuf out_and_in
}

# Prints how often the kernel has come back from a suspend.
slept()
{
	dmesg | grep -c 'PM: suspend exit'
}

# All processes are frozen for 5 s, wherever they are. These guests do not come back from a deeper
# suspend: they lose the transport of their root file system (9p).
freeze()
{
	to_sleep()
	{
		before=$(slept)
		echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state || return
		echo none >/sys/power/pm_test
		[ "$(slept)" -gt "$before" ] && "$work" 100
	}
	recording frozen.tbuf to_sleep
}

# ---- the module ----------------------------------------------------------------

# The module cannot be unloaded while it is in use.
unload_in_use()
{
	recording unload.tbuf sh -c 'for i in 1 2 3 4 5 6 7 8; do ! rmmod tracebuf 2>/dev/null || exit 1; done'
}

# fault NAME COMMAND...: check, if NAME is wanted
fault()
{
	for w in $wanted_faults; do
		! echo "$1" | grep -q -e "$w" || { check "$@"; return; }
	done
	skip "$1" "takes long: TRACEBUF_FULL=1"
}

wanted_faults="EIO late ENOSPC stopped second signals"
[ -z "${TRACEBUF_FULL:-}" ] || wanted_faults=.
wanted_faults=${TRACEBUF_FAULTS:-$wanted_faults}
plan 20
check "load" insmod "$TRACEBUF_KO"
if bad_disk >"$output" 2>&1; then
	fault "late: a disk that does not answer" disk_is_late
	fault "late: a disk that does not answer, without memory for what comes" disk_is_late_without
	rm -f bad/l.tbuf
	fault "EIO: a disk that fails, past the page cache" disk_fails
	fault "EIO: a disk that fails, through the page cache" disk_fails --buffered
	umount bad && dmsetup remove --noudevsync --retry bad && losetup -d "$loop"
else
	sed 's/^/# /' "$output"
	skip "late: a disk that does not answer" "no device mapper here"
	skip "late: a disk that does not answer, without memory for what comes" "no device mapper here"
	skip "EIO: a disk that fails, past the page cache" "no device mapper here"
	skip "EIO: a disk that fails, through the page cache" "no device mapper here"
fi
fault "ENOSPC: a full file system" full_tmpfs
fault "a reader that is stopped" stopped_reader
fault "readers that are killed" killed_readers
fault "a second reader" two_readers
fault "signals without end" signals
if [ -e /sys/fs/cgroup/memory.stat ] || { echo +memory >/sys/fs/cgroup/cgroup.subtree_control; } 2>/dev/null; then
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	fault "memory: a recorder with little" little_memory
	fault "memory: a recorder that is killed for want of it" no_memory
else
	skip "memory: a recorder with little" "no memory groups here"
	skip "memory: a recorder that is killed for want of it" "no memory groups here"
fi
fault "memory: all is used by others" pressure
fault "clock: the time of day jumps" set_clock
fault "clock: another clocksource" change_clocksource
fault "clock: both, with the kernel's clock as the trace's" change_clocksource_mono
fault "a processor that comes and goes" unplug
if grep -qs freeze /sys/power/state && [ -e /sys/power/pm_test ]; then
	fault "sleep: all processes are frozen" freeze
else
	skip "sleep: all processes are frozen" "this kernel has no pm_test"
fi
fault "unloading while in use" unload_in_use
check "unload" rmmod tracebuf
cd /
umount "$tmp/mem"
rm -rf "$tmp"
finish
