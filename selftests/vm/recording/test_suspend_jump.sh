#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_suspend_jump.sh - the CPU's counter starts anew while the machine sleeps, as
# module/machine/clock.c of the build for tests simulates it. The test itself is in test_suspend.c.
# If it fails, times go backwards after a suspend.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
built=${here%/selftests/vm/*}/build
module=$built/$(uname -r)-torture/tracebuf.ko

# The test ran, and was not skipped.
jumps()
{
	"${TRACEBUF_SELFTESTS:-$built/selftests}/test_suspend" -t counter_begins_anew >"$output.ran" 2>&1
	code=$?
	cat "$output.ran"
	[ "$code" = 0 ] && ! grep -q SKIP "$output.ran"
	code=$?
	rm "$output.ran"
	return "$code"
}

plan 1
if [ ! -e "$module" ]; then
	skip "the counter begins anew" "no tracebuf.ko with clock_anew: make torture"
elif [ ! -e /sys/power/pm_test ]; then
	skip "the counter begins anew" "this kernel has no pm_test"
else
	insmod "$module"
	check "the counter begins anew" jumps
	rmmod tracebuf
fi
finish
