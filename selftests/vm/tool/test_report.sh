#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_report.sh - report over recordings of known work: the thread that made another one wait, and
# how many interrupts, calls and requests there were, by numbers that do not depend on the speed of
# the guest. A checker computes each figure a second time, with and without losses. If this fails,
# report misleads its user.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
tree=${here%/selftests/vm/*}
checker=$tree/selftests/unit/report/report_check.py
own_folder
# room for all events, even if the recorder does not run until the end: the counts are of whole
# recordings
buffers=512

# ask TRACE PYTHON...: each expression holds; section(ID): its rows, by column
ask()
{
	tracebuf report --top 1000 --json "$1" >report.json || return
	shift
	python3 -S - "$@" <<'END'
import json, sys
report = json.load(open("report.json"))
def section(name):
    one = next(s for s in report["sections"] if s["id"] == name)
    ids = [c["id"] for c in one["columns"]]
    return [dict(zip(ids, row)) for row in one["rows"]]
def notes(name):
    return " ".join(next(s for s in report["sections"] if s["id"] == name)["notes"])
wrong = [text for text in sys.argv[1:] if not eval(f"({text})")]
for text in wrong:
    print("does not hold:", text)
    for one in report["sections"]:
        if f'section("{one["id"]}")' in text:
            print(one["id"], *section(one["id"])[:12], sep="\n  ")
sys.exit(bool(wrong))
END
}

# figures TRACE: computes each figure from the events, and compares
figures()
{
	tracebuf print -v --jsonl "$1" >events.jsonl && tracebuf report --json "$1" >figures.json ||
		return
	# without switches nothing tells what ran first
	grep -q '"name":"sched_switch"' events.jsonl && first="--trace $1" || first=--cut
	# shellcheck disable=SC2086 # two words
	python3 "$checker" events.jsonl figures.json $first
}

# A hog that always runs on CPU 0, and a victim that waits for it.
cat >hog <<'END'
#!/bin/sh
while :; do :; done
END
cat >victim.py <<'END'
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"victim", 0, 0, 0)
os.sched_setaffinity(0, {0})
os.nice(10)
# on a slow host some are over before the victim has gone to sleep
for i in range(10):
    time.sleep(0.02)
# at once, because it gets little of the CPU
os._exit(0)
END
chmod +x hog

pinned()
{
	taskset -c 0 ./hog &
	hog=$!
	tracebuf record -b "$buffers" -e sched_switch,sched_waking,sched_wakeup,sched_migrate_task -o pinned -- python3 -S victim.py
	status=$?
	kill "$hog"
	wait "$hog" 2>/dev/null
	return $status
}

pinned_asked()
{
	ask pinned 'any(r["comm"] == "hog" and r["cpu"] > 0 for r in section("tasks"))' \
	    'next(r["wakeups"] + r["wait_uncertain"] for r in section("tasks")
			if r["comm"] == "victim") >= 5' \
	    '[r for r in section("latency-worst") if r["comm"] == "victim" and r["cpu"] == 0 and
		any(i["case"] == r["case"] and i["comm"] == "hog" and 2 * i["ran"] > r["latency"]
		    for i in section("latency-instead"))]' \
	    'next(r for r in section("runqueue") if r["cpu"] == 0)["waiting"] > 0' \
	    '[r["known"] == r["span"] for r in section("summary")] == [True]' &&
	tracebuf report pinned >text && grep -q 'hog' text
}

# At least as many timers as the program waits for.
timers()
{
	tracebuf record -b "$buffers" -e irq,local_timer_entry,local_timer_exit,sched_switch -o timers -- python3 -S -c '
import time
for i in range(150):
    time.sleep(0.0005)'
}

timers_asked()
{
	ask timers 'sum(r["count"] for r in section("irq") if r["name"] == "local_timer") > 100' \
	    'section("irq")[0]["total"] >= section("irq")[-1]["total"]' \
	    'any(r["name"] == "TIMER" and r["count"] > 0 for r in section("softirq"))' \
	    'sum(r["irq"] for r in section("cpu")) > 0'
}

failing()
{
	tracebuf record -b "$buffers" -e raw_syscalls -o calls -- python3 -S -c '
import os
for i in range(321):
    try:
        os.rmdir("/there/is/no/such/thing")
    except FileNotFoundError:
        pass
for i in range(123):
    try:
        os.close(1000)
    except OSError:
        pass
for i in range(77):
    os.getppid()'
}

failing_asked()
{
	ask calls 'any(r["name"] == "rmdir" and r["error"] == "ENOENT" and r["count"] == 321
		       for r in section("syscall-errors"))' \
	    'any(r["name"] == "close" and r["error"] == "EBADF" and r["count"] >= 123
		       for r in section("syscall-errors"))' \
	    'any(r["name"] == "rmdir" and r["failed"] == 321 and r["count"] == 321
		       for r in section("syscalls"))' \
	    'any(r["name"] == "getppid" and r["failed"] == 0 and r["count"] >= 77
		       for r in section("syscalls"))' \
	    'not section("cpu") and "-e sched:sched_switch" in notes("cpu")' \
	    'not section("latency") and "-e sched:sched_wakeup" in notes("latency")'
}

wide()
{
	tracebuf record -b "$buffers" --wide -e sched_switch,sched_waking,sched_wakeup,raw_syscalls,irq -o wide -- \
		python3 -S -c '
import os
for i in range(500):
    os.getppid()'
}

wide_asked()
{
	ask wide 'any(r["name"] == "getppid" and r["count"] >= 500 for r in section("syscalls"))' \
	    'any(r["comm"] == "python3" and r["cpu"] > 0 for r in section("tasks"))'
}

# 64 blocks past the page cache, one after the other: 64 requests of 64 KiB to the loop device
disk()
{
	truncate -s 16M image && device=$(losetup -f --show image) || return
	tracebuf record -b "$buffers" -e block -o disk -- \
		dd if=/dev/zero of="$device" bs=64k count=64 oflag=direct
	status=$?
	printf '%d:%d\n' "0x$(stat -c %t "$device")" "0x$(stat -c %T "$device")" >number
	losetup -d "$device"
	rm image
	return $status
}

disk_asked()
{
	# the recorder found the name of the disk
	ask disk 'any(r["device"].startswith("loop") and
		      r["device"].endswith(" ('"$(cat number)"')") and
		      r["op"] == "write" and r["count"] == 64 and
		      r["bytes"] == 64 * 65536 and not r["failed"] for r in section("block"))' \
	    'sum(r["count"] for r in section("block-histogram")) ==
		  sum(r["count"] for r in section("block"))'
}

# More events than the buffers hold, and no reader: the rest is lost, and times that span the loss
# do not count.
lossy()
{
	tracebuf start -m circular -b 4 -e sched,irq,raw_syscalls || return
	"$tree/build/selftests/workload" 20000 && python3 -S -c 'import time; time.sleep(0.05)'
	tracebuf save --stop -o lossy
}

lossy_asked()
{
	ask lossy 'section("losses") and sum(r["lost"] for r in section("losses")) ==
		   section("summary")[0]["lost"] > 0' \
	    '"unsure" in notes("losses")'
}

different()
{
	tracebuf record -b "$buffers" -e raw_syscalls -o a -- python3 -S -c 'import os; [os.getppid() for i in range(100)]' &&
	tracebuf record -b "$buffers" -e raw_syscalls -o b -- python3 -S -c 'import os; [os.getppid() for i in range(5000)]'
}

different_asked()
{
	tracebuf diff --json a b >report.json || return
	python3 - <<'END'
import json, sys
report = json.load(open("report.json"))
calls = next(s for s in report["sections"] if s["id"] == "syscalls")
ids = [c["id"] for c in calls["columns"]]
row = next(dict(zip(ids, r)) for r in calls["rows"] if r[0] == "getppid")
print(row)
sys.exit(not (100 <= row["a_count"] < 5000 <= row["b_count"]))
END
}

# A file with two recordings gives two reports.
together()
{
	cat a b >two && tracebuf report two >text && grep -q '^# recording 2 of 2' text &&
		tracebuf report --json a | tail -n +2 >one &&
		tracebuf report --json -r 1 two | tail -n +2 | cmp - one &&
		! tracebuf diff two a 2>said && grep -q 'choose one with --recording' said
}

plan 7 14
if in_guest; then
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
	modprobe loop 2>/dev/null || [ -e /dev/loop-control ] || : >no-loop
fi
check "record a thread that waits for a CPU" pinned
check "record timers" timers
check "record calls that fail" failing
check "record events in their wide form" wide
if [ ! -e no-loop ]; then
	check "record requests to a disk" disk
else
	skip "record requests to a disk" "no loop devices"
fi
check "record with losses" lossy
check "record twice" different
judge "which thread waits for a CPU, and for which other" pinned_asked
judge "figures of it" figures pinned
judge "as many timers as there were" timers_asked
judge "figures of them" figures timers
judge "as many calls that failed as there were, and why" failing_asked
judge "figures of them" figures calls
judge "events in their wide form" wide_asked
judge "figures of them" figures wide
if [ ! -e no-loop ]; then
	judge "as many requests to a disk as there were" disk_asked
	judge "figures of them" figures disk
else
	skip -j "as many requests to a disk as there were" "no loop devices"
	skip -j "figures of them" "no loop devices"
fi
judge "a recording with losses" lossy_asked
judge "figures of it" figures lossy
judge "what differs between two recordings" different_asked
judge "two recordings in a file" together
finish
