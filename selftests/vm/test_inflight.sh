#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_inflight.sh - readers while records of threads are on their way (kernel/tb_inflight.c):
# blocks that were taken must wait for them, and are taken once all the same.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/ktap.sh
. "$here/ktap.sh"
# shellcheck source=selftests/vm/said.sh
. "$here/said.sh"
dir=${here%/selftests/vm}/build/$(uname -r)-torture
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1
params=/sys/module/tb_inflight/parameters

# Threads come and go until a reader has been told so often that a record is on its way.
threads()
{
	until=$(($(cat $params/told) + $1)) deadline=$(($(date +%s) + 300))
	echo 1 >$params/lie
	while [ "$(cat $params/told)" -lt "$until" ] && [ "$(date +%s)" -lt "$deadline" ]; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			(:)
		done
	done
	echo 0 >$params/lie
	[ "$(cat $params/told)" -ge "$until" ] || { echo "$(cat $params/told) of $until"; return 1; }
}

whole()
{
	tracebuf verify "$1" && tracebuf print "$1" | grep -c sched_switch
}

by_read()
{
	tracebuf start -m streaming -e sched -b 64 || return
	timeout 400 cat /dev/tracebuf >read.tbuf &
	threads 2000
	code=$?
	tracebuf stop
	wait $! && [ "$code" = 0 ] && whole read.tbuf
}

by_mapping()
{
	tracebuf record -q -o map.tbuf -e sched -b 64 &
	recorder=$!
	until_it recording
	threads 500
	code=$?
	kill $recorder
	wait $recorder
	[ "$code" = 0 ] && whole map.tbuf
}

recording()
{
	tracebuf status | grep -q running
}

plan 2
if [ ! -e "$dir/tb_inflight.ko" ]; then
	skip "a reader by read()" "no tb_inflight.ko: make torture"
	skip "a reader by the mapping" "no tb_inflight.ko: make torture"
	finish
fi
insmod "$TRACEBUF_KO"
insmod "$dir/tb_inflight.ko"
check "a reader by read()" by_read
check "a reader by the mapping" by_mapping
rmmod tb_inflight tracebuf
cd /
rm -rf "$tmp"
finish
