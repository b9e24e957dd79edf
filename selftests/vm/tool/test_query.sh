#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "tracebuf query" on new recordings of a workload with known events: its answers are right, and are
# those of the database that export makes. If this fails, a user gets wrong numbers.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

work=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/workload
own_folder
n=500

# answers WANTED FILE SQL: the query returns WANTED
answers()
{
	have=$(tracebuf query --csv --no-header "$2" "$3") || return
	[ "$have" = "$1" ] || { echo "$3: $have, not $1"; return 1; }
}

record()
{
	# only x86 has these events
	vectors=$(tracebuf list irq_vectors >/dev/null 2>&1 && echo irq_vectors,)
	status 0 tracebuf record -o t.tbuf -e "${vectors}sched,irq,raw_syscalls,signal,task,timer" -b 512 \
		-- "$work" "$n"
}

# The workload makes N system calls that do not exist, and N signals.
known()
{
	answers "$n,$n,workload" t.tbuf "SELECT count(*), sum(result = -38), min(comm) FROM syscall_duration
		WHERE id = 600" || return
	answers "$n,0,$((n - 1))" t.tbuf "SELECT count(*), min(errno), max(errno) FROM signal_generate
		WHERE comm = 'workload' AND sig = 34" || return
	answers "$n,38" t.tbuf "SELECT sum(1), -result FROM syscall_duration WHERE id = 600 GROUP BY result" || return
	tracebuf query t.tbuf syscall-errors >said && says "workload .* 38 .* $n"
}

# same FILE: each question has the same answer in the database
same()
{
	python3 "$here/../../unit/tool/query_check.py" tracebuf "$1"
}

# The slices of a CPU do not overlap, and a task that runs is not off the CPU.
sane()
{
	answers 0 t.tbuf "SELECT count(*) FROM (SELECT start, lag(finish) OVER (PARTITION BY cpu ORDER BY start,
		finish) AS before FROM run_slices) WHERE start < before" || return
	answers 0 t.tbuf "SELECT count(*) FROM off_cpu WHERE duration < 0 OR waited > duration" || return
	# between two slices the workload is off the CPU
	answers 0 t.tbuf "SELECT count(*) FROM (SELECT finish, lead(start) OVER (ORDER BY start) AS next, whole, tid
		FROM run_slices WHERE tid = (SELECT tid FROM threads WHERE comm = 'workload')) r
		WHERE next IS NOT NULL AND NOT EXISTS (SELECT 1 FROM off_cpu o WHERE o.tid = r.tid
			AND o.start = r.finish AND o.start + o.duration = r.next)" || return
	answers 1 t.tbuf "SELECT count(*) > 0 FROM wakeup_latency" &&
		answers 1 t.tbuf "SELECT count(*) > 0 FROM irq_duration"
}

# Sixteen writes of 64 KiB past the page cache, to a loop device.
disk()
{
	dd if=/dev/zero of=disk bs=1M count=4 status=none && loop=$(losetup -f --show disk) || return
	status 0 tracebuf record -o b.tbuf -e block,sched_switch,task -b 256 -- \
		dd if=/dev/zero of="$loop" bs=64k count=16 oflag=direct status=none
	ok=$?
	losetup -d "$loop"
	rm disk
	return $ok
}

disk_known()
{
	answers 1048576,0 b.tbuf "SELECT sum(bytes), sum(error) FROM block_io WHERE whole AND kind LIKE 'W%'
		AND device = '7:0' AND bytes" || { tracebuf query b.tbuf "SELECT * FROM block_io"; return 1; }
	tracebuf query b.tbuf block >said && says '7:0 *W' && same b.tbuf
}

# shellcheck disable=SC2015
if in_guest; then
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
	modprobe -q loop max_loop=1 2>/dev/null || [ -b /dev/loop0 ] || : >no-loop
fi
plan 2 4
check "record a workload" record
if [ ! -e no-loop ]; then
	check "record requests to a disk" disk
else
	skip "record requests to a disk" "no loop device"
fi
! in_guest || rmmod tracebuf_events tracebuf
judge "the workload's system calls and signals are in the tables" known
judge "which tasks run, and which do not" sane
judge "the same answers as from the database" same t.tbuf
if [ ! -e no-loop ]; then
	judge "requests to a disk" disk_known
else
	skip -j "requests to a disk" "no loop device"
fi
finish
