#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# suspend_guest.sh - the part of suspend.sh that runs in a guest: the machine suspends as far as
# each level of the kernel's own test (pm_test) while it records. Prints KTAP.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
# shellcheck source=selftests/vm/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/vm/lib/said.sh
. /said.sh

cd /tmp || exit 1

# tests LEVEL MODULE TEST...: these tests of test_suspend pass, and each has suspended at LEVEL
tests()
{
	level=$1
	insmod "$2" || return
	shift 2
	dmesg -c >/dev/null
	code=0
	for test; do
		TRACEBUF_SLEEP=$level test_suspend -t "$test" >ran 2>&1 && ! grep SKIP ran || code=1
		cat ran
	done
	rmmod tracebuf && [ $code = 0 ] && slept "$level" $#
}

# slept LEVEL TIMES: the log has TIMES suspends or more
slept()
{
	dmesg >log
	found=$(grep -c 'suspend debug: Waiting for' log)
	off=$(grep -c 'Disabling non-boot CPUs' log)
	echo "slept $found times, processors off $off times"
	case $1 in
	processors | core) [ "$off" -ge "$2" ] || return ;;
	esac
	[ "$found" -ge "$2" ]
}

sleep_core()
{
	echo core >/sys/power/pm_test && echo mem >/sys/power/state && echo none >/sys/power/pm_test
}

# work SIGNAL: makes an event that the recording shows
work()
{
	# shellcheck disable=SC2016
	sh -c 'kill -"$0" $$' "$1"
	true
}

# exact FILE: losses are counted, and the signals are on both sides of a gap
exact()
{
	status 0 tracebuf verify "$1" && says exact && tracebuf print "$1" >text || return
	grep -n 'signal_generate: sig=1[02] \|: LOST ' text
	first=$(sed -n '/signal_generate: sig=10 /{=;q}' text)
	lost=$(sed -n '/: LOST [1-9]/{=;q}' text)
	last=$(sed -n '/signal_generate: sig=12 /{=;q}' text)
	[ "${first:-0}" -gt 0 ] && [ "${lost:-0}" -gt "$first" ] && [ "${last:-0}" -gt "$lost" ]
}

# The recorder is frozen like every process, then goes on, and its file is complete.
recorder()
{
	dmesg -c >/dev/null
	tracebuf record -q --clock tsc -o a.tbuf -e sched,timer,signal &
	recorder=$!
	until_it sh -c 'tracebuf status | grep -q running' && work USR1 && sleep_core && work USR2
	code=$?
	kill -0 $recorder && kill $recorder && wait $recorder && [ $code = 0 ] &&
		slept core 1 && exact a.tbuf
}

plan 6
for level in devices platform processors; do
	check "$level: a recording pauses and goes on" tests $level "$TRACEBUF_KO" pauses_and_goes_on
done
check "core: recordings pause and go on" tests core "$TRACEBUF_KO" pauses_and_goes_on \
	oneshot_too kernels_clock_does_not_pause
check "core: and the counter begins anew" tests core /torture.ko counter_begins_anew
insmod "$TRACEBUF_KO"
check "core: a recorder goes on" recorder
rmmod tracebuf
finish
