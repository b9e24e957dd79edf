#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_inflight.sh - readers while records of threads are on their way (kernel/tb_inflight.c):
# blocks that were taken must wait for them, and are taken once all the same.  Who reads, and
# whether all threads were told of, is test_durable's.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
built=${here%/selftests/vm/*}/build
module=$built/$(uname -r)-torture/tb_inflight.ko
lies=/sys/module/tb_inflight/parameters/lies

# NAME: one of test_durable's tests, with so many lies, which have come to their end
told()
{
	echo 1000 >"$lies"
	"${TRACEBUF_SELFTESTS:-$built/selftests}/test_durable" -t "$1" || return
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
