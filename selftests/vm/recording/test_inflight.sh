#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_inflight.sh - readers while records of threads are still being written (kernel/tb_inflight.c
# simulates that): chosen blocks wait for the records, and are delivered once. The tests are those
# of test_durable_long.c. If this fails, a trace has threads without names, or a block twice.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
built=${here%/selftests/vm/*}/build
module=$built/$(uname -r)-torture/tb_inflight.ko
lies=/sys/module/tb_inflight/parameters/lies

# told NAME: a test of test_durable_long passes with a number of lies, and has used them all
told()
{
	echo 1000 >"$lies"
	"${TRACEBUF_SELFTESTS:-$built/selftests}/test_durable_long" -t "$1" || return
	echo "$(cat "$lies") not told"
	[ "$(cat "$lies")" = 0 ]
}

plan 2
if [ ! -e "$module" ]; then
	skip "a reader by read()" "no tb_inflight.ko: make torture"
	skip "a reader by the mapping" "no tb_inflight.ko: make torture"
	finish
fi
insmod "$TRACEBUF_KO"
insmod "$module"
check "a reader by read()" told streaming_recycles_what_is_saved
check "a reader by the mapping" told told_before_seen
rmmod tb_inflight tracebuf
finish
