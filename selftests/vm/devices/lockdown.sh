#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that is locked down for confidentiality hides its contents from root, too: the module
# refuses to open the device, and files that are open still work. If this fails, such a kernel
# leaks its contents, or a running recording breaks. There is no way back, so scripts/check runs
# this in a guest of its own.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

lockdown=/sys/kernel/security/lockdown
tmp=$(mktemp -d)
cd "$tmp" || exit 1

locked_for()
{
	echo "$1" >$lockdown && grep -q "\[$1\]" $lockdown
}

# records FILE: recording works as ever.
records()
{
	status 0 tracebuf record -o "$1" -e sched,signal -d 0.5 && status 0 tracebuf verify "$1" &&
		says exact
}

# An open file goes on while the kernel is locked down.
goes_on()
{
	rm -f go
	# it is opened before, and read afterwards
	sh -c 'exec 3</dev/tracebuf && : >open && while [ ! -e go ]; do sleep 0.1; done
		exec cat <&3' >open.tbuf &
	reader=$!
	until_it test -e open || return
	locked_for confidentiality || return
	: >go
	until_it test -s open.tbuf || return
	kill $reader
	wait $reader
	status 0 tracebuf verify open.tbuf
}

refused()
{
	status 1 tracebuf record -o no.tbuf -e sched -d 0.5 && says 'locked down\|lockdown' &&
		[ ! -s no.tbuf ]
}

refused_cat()
{
	timeout 30 cat /dev/tracebuf >said 2>&1 && return 1
	cat said
	says 'not permitted'
}

if [ ! -e $lockdown ] && ! mount -t securityfs none /sys/kernel/security 2>/dev/null ||
		[ ! -e $lockdown ]; then
	plan 1
	skip "lockdown" "this kernel has no lockdown"
	finish
fi
plan 8
# not possible later: the module is not signed
check "load" insmod "$TRACEBUF_KO"
check "not locked down: it records" records before.tbuf
check "locked down for integrity: it records" locked_for integrity
check "and is exact" records integrity.tbuf
check "start" tracebuf start -e sched -m streaming
check "locked down for confidentiality: what is open goes on" goes_on
check "nobody opens it any more" refused_cat
check "the tool says why" refused
cd / && rm -rf "$tmp"
finish
