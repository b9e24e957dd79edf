#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_api.sh - the API for other modules: what kernel/tb_apitest.c records arrives as it was given.
# If this fails, drivers record wrong values, or crash when they are unloaded.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
dir=${here%/selftests/vm/*}/build/$(uname -r)-torture
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1
params=/sys/module/tb_apitest/parameters
# name=value, whatever the print format of the event
fields=''
tracebuf print -h | grep -q -e --fields && fields=--fields

recorded()
{
	tracebuf save -p apitest -o api.tbuf &&
		tracebuf verify api.tbuf &&
		tracebuf print api.tbuf >said || return 1
	cat said
	[ "$(grep -c 'user_0:' said)" = 10 ] && [ "$(grep -c 'user_1:' said)" = 1 ] &&
		[ "$(grep -c user_31 said)" = 1 ]
}

# events that were too large
dropped()
{
	tracebuf status -p apitest >said
	cat said
	tracebuf verify api.tbuf | awk '$1 ~ /^[0-9]+$/ { dropped += $5 } END { exit dropped != 2 }'
}

# ---- events of its own ------------------------------------------------------

# fired FILE NUMBER...: records into FILE the events of these numbers
fired()
{
	file=$1
	shift
	tracebuf start -e apitest --no-state || return 1
	for i; do
		echo "$i" >$params/fire || return 1
	done
	tracebuf save -s -o "$file" && tracebuf verify "$file" &&
		tracebuf print $fields "$file" >said || return 1
	cat said
}

# has TEXT...: each TEXT is in the output
has()
{
	for text; do
		grep -q -F -e "$text" said || { echo "not there: $text"; return 1; }
	done
}

values()
{
	fired values.tbuf 6 || return 1
	has 'a=255 b=-128 c=65535 d=-32768 e=4294967295 f=-2147483648 g=18446744073709551615' \
		'h=-9223372036854775808' 'j=0x1234 k=abcde l=[1,-2,3] m=[1,2,3,4] n=-1 o=7 p=6' \
		'apitest:outer: number=6 text=outer words=[1,65535] rest=too' \
		'apitest:inner: number=6' 'apitest:simple: a=255 b=-128 c=-32768 number=6' \
		'apitest:word: number=6'
}

# An event that is recorded while another is filled in is behind it, because it began later.
order()
{
	[ "$(grep -o -E -e 'apitest:(outer|inner|simple):' said | tr -d '\n')" = \
		apitest:outer:apitest:inner:apitest:simple: ]
}

# Events have the context of the thread, not that of the recorder.
context()
{
	cat said
	# the inner event is within one that has preemption off, where the kernel counts that
	inner=.2
	grep -q Y $params/counts_preemption || inner=..
	awk -v pid=$$ -v inner=$inner '/apitest:(types|outer|inner):/ {
		n++
		bad += $1 !~ "-" pid "$"
		bad += $3 != ($5 ~ /inner/ ? inner : "..")
	}
	END { exit n != 3 || bad }' said
}

formatted()
{
	grep -a -q 'number=%u of \\"%s\\"", REC->number, "test"' values.tbuf
}

# an event that is too large for any ring
too_large()
{
	tracebuf verify values.tbuf | awk '$1 ~ /^[0-9]+$/ { n += $5 } END { exit n != 1 }'
}

# The handler lets even numbers pass, and is not called for events that it records itself.
handled()
{
	echo 0 >$params/seen
	fired handled.tbuf 1 2 3 4 || return 1
	[ "$(cat $params/seen)" = 4 ] || return 1
	has 'apitest:word: number=2' 'apitest:word: number=4' 'apitest:word: number=1000003' \
		'apitest:word: number=1000009' 'apitest:nested: number=3' || return 1
	[ "$(grep -c apitest:word said)" = 6 ] || return 1
	tracebuf verify handled.tbuf | grep 'apitest:word: 2 by a module'
}

# A stop waits for an event that is being filled in, because its ring may go afterwards.
waited_for()
{
	tracebuf start -e apitest --no-state || return 1
	held=N
	for try in 1 2 3 4 5; do
		echo 2000 >$params/hold || return 1
		# read does not fork: a new process might go to the CPU that is busy with the event
		n=0
		until [ "$held" = Y ] || [ $n = 20000 ]; do
			read -r held <$params/held
			n=$((n + 1))
		done
		[ "$held" = N ] || break
	done
	[ "$held" = Y ] || { echo "no event, $try times"; tracebuf stop; return 1; }
	tracebuf stop && [ "$(cat $params/held)" = N ] || return 1
	tracebuf save -o held.tbuf && tracebuf verify held.tbuf &&
		tracebuf print $fields held.tbuf >said || return 1
	cat said
	has 'apitest:outer: number=2000'
}

listed()
{
	tracebuf provider list | grep -w apitest
}

# A reader keeps the recording, although the provider and its name are gone.
outlives()
{
	insmod "$dir/tb_apitest.ko" || return 1
	mkfifo pipe
	tracebuf save -p apitest -o - >pipe &
	exec 3<pipe
	# after a byte the file is open, and waits for the rest to be read
	dd bs=1 count=1 <&3 of=first 2>/dev/null
	rmmod tb_apitest || return 1
	listed && return 1
	cat first - <&3 >rest.tbuf
	exec 3<&-
	wait $! && tracebuf verify rest.tbuf
}

plan 14
if [ ! -e "$dir/tb_apitest.ko" ]; then
	for t in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
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
check "events of its own have the values given" values
check "what nests is in order" order
check "they have thread and context" context
check "how they are shown is described" formatted
check "what is too large is counted" too_large
check "a handler keeps events out" handled
check "stopping waits for one that is being filled in" waited_for
check "the module goes" rmmod tb_apitest
check "an open file keeps what was recorded" outlives
rmmod tracebuf
cd /
rm -rf "$tmp"
finish
