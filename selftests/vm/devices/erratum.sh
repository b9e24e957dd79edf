#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# On an arm64 machine with a device tree that tells of an erratum of the counter (timer-erratum.sh),
# the trace clock reads the counter through the kernel's workaround. If this fails, times jump on
# such machines. It needs tracebuf.ko as "make torture" builds it, which counts these reads.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

module=${here%/selftests/vm/*}/build/$(uname -r)-torture/tracebuf.ko
care=/sys/module/tracebuf/parameters/clock_care
tmp=$(mktemp -d)
cd "$tmp" || exit 1

enabled()
{
	dmesg | grep 'Enabling .* workaround for HiSilicon erratum 161010101'
}

# record FILE CLOCK: the trace is complete, and its times do not go backwards
record()
{
	# shellcheck disable=SC2016
	status 0 tracebuf record -q -o "$1" --clock "$2" -e sched,timer,signal -- \
		sh -c 'for i in $(seq 100); do /bin/true; done' || return
	status 0 tracebuf verify "$1" && says exact
}

# Each event reads the clock once or more often. Counts get lost when two CPUs count at once: at
# least half must be there.
with_care()
{
	before=$(cat "$care")
	record "$1.tbuf" "$1" || return
	reads=$(($(cat "$care") - before))
	events=$(tracebuf print "$1.tbuf" | wc -l)
	echo "$reads reads with care, $events events"
	[ "$events" -gt 100 ] && [ "$((reads * 2))" -ge "$events" ]
}

# With this clock the kernel reads the counter itself.
kernels_clock()
{
	before=$(cat "$care")
	record mono.tbuf mono || return
	[ "$(cat "$care")" = "$before" ]
}

plan 5
check "the kernel reads the counter by way of a workaround" enabled
check "load" insmod "$module"
check "the default trace clock goes by way of it" with_care auto
check "the counter asked for by name goes by way of it" with_care arch
check "the kernel's clock is not counted" kernels_clock
rmmod tracebuf
cd / && rm -rf "$tmp"
finish
