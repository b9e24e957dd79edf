#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# soak.sh MINUTES [SEED] - everything at once for a long time, in a guest, as root.
#
# Six lanes run side by side: reader records "kernel" in every way there is; flight has a flight
# recorder; rules changes events and rules of a running recording; writers runs programs that write;
# machine takes processors away and moves clocks; load makes events. The seed decides each lane's
# steps. Every trace is verified. At the end, memory and slab must be as they were after the
# warm-up.
#
# SOAK_OUT: the folder for the logs of failed steps (/out).

# Steps are called by name; lanes are subshells.
# shellcheck disable=SC2317,SC2030,SC2031,SC2086,SC2094
minutes=${1:?minutes} seed=${2:-1}
here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/vm/*}
# shellcheck source=selftests/vm/lib/said.sh
. "$here/said.sh"
programs=${TRACEBUF_SELFTESTS:-$tree/build/selftests}
out=${SOAK_OUT:-/out}
export LD_LIBRARY_PATH="$tree/build/user"
clocksource=/sys/devices/system/clocksource/clocksource0
lanes='reader flight rules writers machine load'
tmp=$(mktemp -d)
mkdir -p "$out" && mount -t tmpfs -o size=40% none "$tmp" && cd "$tmp" || exit 3

# Seconds since boot: no lane sets this clock.
now()
{
	sed 's/\..*//' /proc/uptime
}

# whole FILE: FILE may end early, but has no errors
whole()
{
	status 0 tracebuf verify "$1" && rm -f "$1"
}

exact()
{
	status 0 tracebuf verify "$1" && says exact && rm -f "$1"
}

# readable FILE: a killed recorder wrote FILE; the tool must not crash on it
readable()
{
	[ ! -s "$1" ] || tracebuf verify "$1" >said 2>&1
	cat said
	rm -f "$1"
	! grep -qi 'segmentation\|sanitizer' said
}

state_of()
{
	tracebuf status -p "$1" | grep -q "$2"
}

# ---- steps: $1 is a random number ------------------------------------------------

sizes()
{
	set -- "$1" $((2 + $1 % 61)) $((64 << $1 / 64 % 5))
	echo "-b $2 -B $3"
}

# shellcheck disable=SC2046
record_plain() { status 0 tracebuf record -q -o t $(sizes "$1") -e sched,signal,irq -d 0.7 && exact t; }
# shellcheck disable=SC2046
record_all() { status 0 tracebuf record -q -o t $(sizes "$1") -e all -d 0.5 && exact t; }
record_wide() { status 0 tracebuf record -q -o t -W -e sched,irq,raw_syscalls -d 0.5 && exact t; }
record_zstd() { status 0 tracebuf record -q -o t --compress zstd -e sched,signal -d 0.5 && exact t; }
record_stacks() { status 0 tracebuf record -q -o t -e 'sched_switch:stack' -d 0.5 && exact t; }
record_oneshot() { status 0 tracebuf record -q -o t -m oneshot -e sched,timer -d 0.5 && exact t; }
record_followed() { status 0 tracebuf record -q -o t --follow -e sched,task -- /bin/true && exact t; }

record_rotated()
{
	status 0 tracebuf record -q --rotate 64K --keep 3 -o t -e sched,signal -d 1 || return
	for f in t-*; do
		exact "$f" || return
	done
}

record_killed()
{
	tracebuf record -q -o t -e sched,signal &
	pid=$!
	until_it state_of kernel running
	"$programs/workload" $(($1 % 300))
	kill -KILL $pid
	wait $pid
	until_it state_of kernel stopped && readable t && status 0 tracebuf save -o t && readable t
}

stream_channels() { status 0 tracebuf record --fifo -q -e sched,signal -d 0.6 -o t && whole t; }

plain_cat()
{
	status 0 tracebuf start -e signal,irq -m streaming && "$programs/workload" $(($1 % 500)) &&
		status 0 tracebuf stop || return
	timeout 60 cat /dev/tracebuf >t && exact t
}

exported()
{
	status 0 tracebuf record -q -o t -e sched -d 0.3 &&
		status 0 tracebuf export --format perfetto -o t.pftrace t && rm -f t.pftrace && exact t
}

has_provider()
{
	tracebuf provider list | grep -q "^ *[0-9]* $1 "
}

flight_create()
{
	has_provider flight ||
		status 0 tracebuf provider create flight -m circular -b $((8 + $1 % 24)) -B 256 -e sched,signal,irq
}

flight_start()
{
	flight_create "$1" || return
	state_of flight running || status 0 tracebuf start -p flight
}

flight_snapshot() { flight_start "$1" && status 0 tracebuf snapshot -p flight -o t && whole t; }

flight_killed()
{
	flight_start "$1" || return
	tracebuf snapshot -p flight -o t &
	pid=$!
	kill -KILL $pid
	wait $pid
	rm -f t
}

flight_armed()
{
	flight_start "$1" || return
	timeout -s INT 20 tracebuf arm -p flight --on sched_process_exit --post $(($1 % 60)) -o t >said 2>&1
	code=$?
	cat said
	[ $code = 0 ] && whole t
}

flight_save() { flight_start "$1" && status 0 tracebuf save -p flight --stop -o t && exact t; }

flight_destroy()
{
	flight_start "$1" && status 0 tracebuf provider destroy flight
}

rules_begin()
{
	has_provider rules ||
		status 0 tracebuf provider create rules -b 16 -B 256 -e sched || return
	state_of rules running || status 0 tracebuf start -p rules
}

rules_enable() { rules_begin && status 0 tracebuf enable -p rules irq,timer,signal; }
rules_disable() { rules_begin && status 0 tracebuf disable -p rules timer,irq; }
rules_filter() { rules_begin && status 0 tracebuf enable -p rules -e sched_switch -f "prev_prio < $(($1 % 140)) && next_comm ~ \"*[a-k]*\""; }
rules_sample() { rules_begin && status 0 tracebuf enable -p rules "sched_waking:1/$((1 + $1 % 9)):stack"; }
rules_rate() { rules_begin && status 0 tracebuf enable -p rules "sched_switch:rate=$((1 + $1 % 999))"; }
rules_status() { rules_begin && status 0 tracebuf status -p rules --events; }
rules_flush() { rules_begin && status 0 tracebuf flush -p rules; }
rules_save() { rules_begin && status 0 tracebuf save -p rules --stop -o t && exact t; }
rules_destroy() { rules_begin && status 0 tracebuf provider destroy rules; }

writers_record()
{
	has_provider writers || status 0 tracebuf provider create writers -b 64 -e user || return
	status 0 tracebuf record -q -p writers -o t -- "$tree/build/user/samples/threads" && exact t
}

writers_mark() { tracebuf mark "step $1" >said 2>&1; code=$?; cat said; [ $code -le 1 ]; }

writers_killed()
{
	"$tree/build/user/samples/threads" &
	pid=$!
	sleep 0.0$(($1 % 10))
	kill -KILL $pid
	wait $pid
	:
}

writers_destroy()
{
	! has_provider writers || status 0 tracebuf provider destroy writers
}

machine_unplug()
{
	echo 0 >/sys/devices/system/cpu/cpu1/online && sleep 0.$(($1 % 5)) && echo 1 >/sys/devices/system/cpu/cpu1/online
}

machine_clock() { date -s "@$(($(date +%s) + $1 % 7200 - 3600))" >/dev/null; }

machine_clocksource()
{
	for source in $(cat $clocksource/available_clocksource) "$(cat $clocksource/current_clocksource)"; do
		echo "$source" >$clocksource/current_clocksource || return
	done
}

machine_pressure() { head -c $((20 + $1 % 60))M /dev/zero | tail -c 70M >/dev/null; }
machine_rest() { sleep 0.$(($1 % 10)); }

load_numbered() { "$programs/workload" $(($1 % 2000)); }
load_some() { "$programs/loads" "$("$programs/loads" list | tr ' ' '\n' | sed -n "$((1 + $1 % 8))p")" >said 2>&1; :; }
load_forks() { for _ in 1 2 3 4 5 6 7 8; do /bin/true; done; }
load_files() { dd if=/dev/zero of=load bs=64k count=$(($1 % 100)) 2>/dev/null && rm -f load; }

# ---- lanes ------------------------------------------------------------------------

steps_of()
{
	sed -n "s/^\\(${1}_[a-z]*\\)().*/\\1/p" "$here/soak.sh"
	case $1 in
	reader) echo record_plain record_all record_wide record_zstd record_stacks record_oneshot record_followed \
		record_rotated record_killed stream_channels plain_cat exported ;;
	esac
}

# plan LANE NUMBER: prints steps, each with a random number; they depend on the seed alone
plan()
{
	steps_of "$1" | tr '\n' ' ' | awk -v seed="$seed" -v lane="$2" '{
		# our own generator: awks differ in rand()
		x = (seed * 7919 + lane * 104729) % 2147483647 + 1
		for (i = 0; i < 30000; i++) {
			x = x * 16807 % 2147483647
			step = $(1 + int(x / 8) % NF)
			x = x * 16807 % 2147483647
			print step, x % 100000
		}
	}'
}

# lane NAME NUMBER UNTIL: continues the plan of a lane until that time
lane()
{
	mkdir -p "$1" && cd "$1" || return
	[ -e plan ] || { plan "$1" "$2" >plan && echo 0 >taken; }
	count=$(cat taken)
	tail -n +$((count + 1)) plan >rest
	while [ "$(now)" -lt "$3" ] && read -r step number; do
		"$step" "$number" >log 2>&1 </dev/null
		code=$?
		count=$((count + 1))
		if [ $code != 0 ]; then
			{
				echo "$1, step $count: $step $number: status $code"
				tail -n 15 log
			} >>"$out/soak.failed"
		fi
	done <rest
	echo "$count" >taken
}

# run UNTIL: runs all lanes
run()
{
	pids='' n=0
	for l in $lanes; do
		n=$((n + 1))
		lane "$l" $n "$1" &
		pids="$pids $!"
	done
	for p in $pids; do
		wait "$p"
	done
}

# Removes all that the steps made: only the memory of the loaded module remains.
settle()
{
	tracebuf stop >/dev/null 2>&1
	for p in flight rules writers; do
		tracebuf provider destroy $p >/dev/null 2>&1
	done
	tracebuf start -m streaming -b 32 -B 1024 -e signal >/dev/null && tracebuf stop >/dev/null
	tracebuf disable all >/dev/null
	echo 1 >/sys/devices/system/cpu/cpu1/online
	find "$tmp" -type f ! -name plan ! -name taken -delete
	sync
	echo 3 >/proc/sys/vm/drop_caches
	# RCU and work queues need time to free memory
	for _ in 1 2 3; do
		echo 1 >/proc/sys/vm/compact_memory
		sleep 1
		echo 3 >/proc/sys/vm/drop_caches
	done
}

# Prints available memory and slab, then each slab cache with its objects in use, in bytes.
measure()
{
	awk '/^MemAvailable/ { print "available", $2 * 1024 } /^SUnreclaim/ { print "slab", $2 * 1024 }' /proc/meminfo
	awk 'NR > 2 { print $1, $2 * $4 }' /proc/slabinfo
}

result()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $2"
	else
		failed=$((failed + 1))
		echo "not ok $number $2"
	fi
}

# ---- the run ------------------------------------------------------------------------

echo "KTAP version 1"
echo "1..4"
echo "# seed $seed, $minutes minutes"
number=0 failed=0
sh "$here/leaks.sh" begin
insmod "$TRACEBUF_KO" || exit 3
# Each step runs once or more often, so that the kernel's caches are as large as they get.
warm=60
[ "$minutes" -gt 2 ] || warm=20
run $(($(now) + warm))
settle
measure >"$out/soak.before"
run $(($(now) + minutes * 60))
settle
measure >"$out/soak.after"
for l in $lanes; do
	echo "# $l: $(cat "$l/taken") steps"
done
if [ -s "$out/soak.failed" ]; then
	sed 's/^/# /' "$out/soak.failed" | head -n 60
	result 1 "every step did what it is for"
else
	result 0 "every step did what it is for"
fi
awk 'NR == FNR { before[$1] = $2; next }
	$1 == "available" || $1 == "slab" { printf "# %s: %d KiB, was %d KiB\n", $1, $2 / 1024, before[$1] / 1024 }
	$1 != "available" && $1 != "slab" && $2 - before[$1] > 131072 {
		printf "# %s: %d KiB more\n", $1, ($2 - before[$1]) / 1024 }' "$out/soak.before" "$out/soak.after"
# A provider has 1 to 17 MiB, and lanes make and remove dozens a minute; a trace file is as large.
# The kernel's own memory varies by 4 MiB on such a machine (per-CPU lists, page tables, the 9p
# client). This limit finds one provider lost a minute.
awk 'NR == FNR { before[$1] = $2; next }
	$1 == "available" { exit before[$1] - $2 > 12 * 1048576 }' "$out/soak.before" "$out/soak.after"
result $? "memory is what it was"
# Partly used slabs of the kernel's own caches stay for a while. kmemleak, on kernels that have it,
# finds smaller leaks.
awk 'NR == FNR { before[$1] = $2; next }
	$1 == "slab" { exit $2 - before[$1] > 3 * 1048576 }' "$out/soak.before" "$out/soak.after"
result $? "slab is what it was"
cd / && umount "$tmp" && rmdir "$tmp"
sh "$here/leaks.sh" symbols
rmmod tracebuf
result $? "the module can be unloaded"
sh "$here/leaks.sh" end >"$out/leaks.ktap"
[ $failed = 0 ]
