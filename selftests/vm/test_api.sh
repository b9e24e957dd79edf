#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_api.sh - the API for other modules: kernel/tb_apitest.c, and what it leaves behind.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/ktap.sh
. "$here/ktap.sh"
dir=${here%/selftests/vm}/build/$(uname -r)-torture
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1

recorded()
{
	tracebuf save -p apitest -o api.tbuf &&
		tracebuf verify api.tbuf &&
		tracebuf print api.tbuf >said || return 1
	cat said
	[ "$(grep -c user_0 said)" = 10 ] && [ "$(grep -c user_31 said)" = 1 ]
}

# the one that was too large
dropped()
{
	tracebuf status -p apitest >said
	cat said
	tracebuf verify api.tbuf | awk '$1 ~ /^[0-9]+$/ { dropped += $5 } END { exit dropped != 1 }'
}

listed()
{
	tracebuf provider list | grep -w apitest
}

# A reader keeps what has been recorded, though the name is free.
outlives()
{
	insmod "$dir/tb_apitest.ko" || return 1
	mkfifo pipe
	tracebuf save -p apitest -o - >pipe &
	exec 3<pipe
	# a byte of it: it is open, and waits for us to read on
	dd bs=1 count=1 <&3 of=first 2>/dev/null
	rmmod tb_apitest || return 1
	listed && return 1
	cat first - <&3 >rest.tbuf
	exec 3<&-
	wait $! && tracebuf verify rest.tbuf
}

plan 7
if [ ! -e "$dir/tb_apitest.ko" ]; then
	for t in 1 2 3 4 5 6 7; do
		skip "api $t" "no tb_apitest.ko: make torture"
	done
	finish
fi
insmod "$TRACEBUF_KO"
check "a module makes a provider and records into it" insmod "$dir/tb_apitest.ko"
check "others see it" listed
check "what it recorded" recorded
check "what found no room is counted" dropped
refuse "users do not remove it" tracebuf provider destroy apitest
check "the module goes" rmmod tb_apitest
check "an open file keeps what was recorded" outlives
rmmod tracebuf
cd /
rm -rf "$tmp"
finish
