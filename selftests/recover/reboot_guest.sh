#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reboot_guest.sh - the part of reboot.sh that runs in a guest, as root, at each boot.
#
#   reboot_guest.sh TRACEBUF.KO MEMORY COUNTER
#
# MEMORY is the module's parameter; COUNTER the physical address of a page of reserved memory that it
# does not use: how often the machine has booted stands there.  Leaves KTAP in /out.

set -u

ko=$1 memory=$2 counter=$3
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/ktap.sh
. "$here/../vm/ktap.sh"
cd /tmp || exit 1

# What comes from /dev/mem, or goes there, is at byte $1
peek()
{
	dd if=/dev/mem bs=1 skip="$(($1))" count=1 2>/dev/null | od -An -tu1 | tr -d ' '
}
poke()
{
	printf %b "$2" | dd of=/dev/mem bs=1 seek="$(($1))" conv=notrunc 2>/dev/null
}

# SysRq-b: nothing is shut down, nothing is told
reboot_now()
{
	echo b >/proc/sysrq-trigger
	sleep 100
	exit 1
}

# record PREFIX: marks with numbers, and what the scheduler does
record()
{
	tracebuf start -m circular -b 8 -B 1024 -e sched || return
	i=0
	while [ $i -lt 60 ]; do
		tracebuf mark "$1-$i" || return
		i=$((i + 1))
	done
}

# marks PREFIX FILE: all are there, in order
marks()
{
	tracebuf print "$2" | sed -n "s/.*$1-\\([0-9]*\\)\$/\\1/p" >have
	seq 0 59 | cmp - have
}

no_previous()
{
	! tracebuf provider list | grep previous
}

# read-only: it cannot be started, nor changed
read_only()
{
	tracebuf start -p previous >said 2>&1 && return 1
	tracebuf start -p previous -b 64 >said 2>&1 && return 1
	tracebuf provider list | grep 'previous.*stopped.*read-only'
}

# as long as it is there the kernel's recording is elsewhere, and does not harm it
kept_while_recording()
{
	tracebuf start -m circular -b 8 -B 1024 -e sched && sleep 1 && tracebuf stop || return
	rmmod tracebuf && insmod "$ko" "memory=$memory" && tracebuf provider list | grep previous
}

reserved()
{
	# an address, or a name
	case $memory in
	0x*) grep -i 'tracebuf$' /proc/iomem ;;
	esac
}

boot=$(peek "$counter")
case $boot in
1 | 2) ;;
*) boot=0 ;;
esac
poke "$counter" "\\0$((boot + 1))"
[ "$(peek "$counter")" = $((boot + 1)) ] || exit 3

if [ "$boot" = 0 ]; then
	insmod "$ko" "memory=$memory" && no_previous && record first || exit 3
	reboot_now
fi
if [ "$boot" = 1 ]; then
	{
		plan 10
		check "the module finds what was recorded before" insmod "$ko" "memory=$memory"
		check "the range is claimed" reserved
		check "previous cannot be written to" read_only
		check "it is kept while kernel records" kept_while_recording
		check "record -p previous" tracebuf record -p previous -o first.tbuf
		check "its books are in order" tracebuf verify first.tbuf
		check "all marks are there" marks first first.tbuf
		check "it can be dropped" tracebuf provider destroy previous
		check "then there is none" no_previous
		check "and kernel records into that memory" record second
		[ "$ktap_failed" = 0 ] && echo fine || echo failed
	} >/tmp/ktap 2>&1
	# it has to be told now: /out is of this boot
	cat /tmp/ktap
	reboot_now
fi
# Every 5003rd byte is another now
at=$((${memory%%:*})) end=$((${memory%%:*} + 16 * 1048576))
while [ $at -lt $end ]; do
	poke $at '\0377'
	at=$((at + 50021))
done
{
	echo "# after damage"
	check "the module can be loaded" insmod "$ko" "memory=$memory"
	check "what is good can be saved, or there is nothing" \
		sh -c 'tracebuf provider list | grep -q previous || exit 0
			tracebuf record -p previous -o x.tbuf && tracebuf print x.tbuf >/dev/null'
	check "the module can be unloaded" rmmod tracebuf
	check "System RAM is refused" sh -c "! insmod '$ko' memory=0x1000000:1M"
	check "no range is refused" sh -c "! insmod '$ko' memory=0x1000000 && ! insmod '$ko' memory=nobody"
	[ "$ktap_failed" = 0 ] && echo fine || echo failed
} 2>&1
