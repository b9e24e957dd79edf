#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reboot_guest.sh - the part of reboot.sh that runs in a guest, as root, at each boot.
#
#   reboot_guest.sh TRACEBUF.KO MEMORY COUNTER
#
# MEMORY is the module's parameter. COUNTER is the physical address, a multiple of 64 KiB, of 128
# KiB of reserved memory that the module does not use: they begin with the number of boots. Each
# boot that checks something prints "fine" or "failed".

set -u

ko=$1 memory=$2 counter=$3
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../vm/lib/ktap.sh"
# no plan() is called, which would begin with this
ktap_uptime
cd /tmp || exit 1

# peek ADDRESS: prints a byte of memory; poke ADDRESS BYTE: writes one
peek()
{
	dd if=/dev/mem bs=1 skip="$(($1))" count=1 2>/dev/null | od -An -tu1 | tr -d ' '
}
poke()
{
	printf %b "$2" | dd of=/dev/mem bs=1 seek="$(($1))" conv=notrunc 2>/dev/null
}

# SysRq-b resets the machine without a shutdown
reboot_now()
{
	echo b >/proc/sysrq-trigger
	sleep 100
	exit 1
}

# record PREFIX: records numbered marks, and the scheduler
record()
{
	tracebuf start -m circular -b 64 -B 1024 -e sched,user || return
	i=0
	while [ $i -lt 60 ]; do
		tracebuf mark "$1-$i" || return
		i=$((i + 1))
	done
}

# marks PREFIX FILE: all marks are in FILE, in order
marks()
{
	tracebuf print "$2" | sed -n "s/.*$1-\\([0-9]*\\)\$/\\1/p" >have
	seq 0 59 | cmp - have
}

no_previous()
{
	! tracebuf provider list | grep previous
}

# The previous recording cannot be started or changed.
read_only()
{
	tracebuf start -p previous >said 2>&1 && return 1
	tracebuf start -p previous -b 64 >said 2>&1 && return 1
	tracebuf provider list | grep 'previous.*stopped.*read-only'
}

# While it exists the kernel's recording uses other memory, and does not harm it.
kept_while_recording()
{
	tracebuf start -m circular -b 8 -B 1024 -e sched && sleep 1 && tracebuf stop || return
	rmmod tracebuf && insmod "$ko" "memory=$memory" && tracebuf provider list | grep previous
}

reserved()
{
	# MEMORY is an address, or a name
	case $memory in
	0x*) grep -i 'tracebuf$' /proc/iomem ;;
	esac
}

# The next boot prints the output of this one, because output that is on its way to the console is
# lost in a reset. Meanwhile it is behind the counter.
leave()
{
	{ cat; head -c 65536 /dev/zero; } | head -c 65536 |
		dd of=/dev/mem bs=65536 seek="$((counter / 65536 + 1))" iflag=fullblock \
			conv=notrunc 2>/dev/null
}
left()
{
	dd if=/dev/mem bs=65536 skip="$((counter / 65536 + 1))" count=1 2>/dev/null | tr -d '\0'
}

# MEMORY is ADDRESS:16M; the file whole has its contents before any damage
mem_save()
{
	dd if=/dev/mem of=whole bs=1M skip=$((${memory%%:*} >> 20)) count=16 2>/dev/null
}
mem_restore()
{
	dd if=whole of=/dev/mem bs=1M seek=$((${memory%%:*} >> 20)) conv=notrunc 2>/dev/null
}

# survive ARGUMENT...: after the damage the good blocks can be saved, or none are found. print may
# exit with 1, because descriptions of events may be damaged, too.
survive()
{
	found=0
	mem_restore && "$here/damage.py" "$@" "$memory" && insmod "$ko" "memory=$memory" || return
	if tracebuf provider list | grep -q previous; then
		rm -f x.tbuf
		! tracebuf record -p previous -o y.tbuf -- true && [ ! -e y.tbuf ] &&
		tracebuf record -p previous -o x.tbuf || return
		tracebuf print x.tbuf >have
		[ $? -le 1 ] || return
		found=$(wc -l <have)
	fi
	rmmod tracebuf
}

# survive_little ARGUMENT...: some events are left
survive_little()
{
	survive "$@" && [ "$found" -gt 0 ]
}

# Blocks are cut short: most events are left, and the trace says where some are missing.
survive_blocks()
{
	all=$(tracebuf print second.tbuf | wc -l)
	survive blocks || return
	# the last event before the damage may be damaged in a way that cannot be detected
	if ! tracebuf verify x.tbuf >said 2>&1; then
		cat said
		grep ': at byte' said >wrong && ! grep -vE "lies outside$|takes [0-9]+ bytes, it has|unknown kind" wrong || return
	fi
	echo "$found of $all lines"
	[ "$found" -gt $((all / 2)) ] && [ "$found" -lt "$all" ] || return
	tracebuf print x.tbuf | grep -c overwritten
}

boot=$(peek "$counter")
case $boot in
0 | 1 | 2) ;;
*) exit 3 ;;
esac
poke "$counter" "\\0$((boot + 1))"
[ "$(peek "$counter")" = $((boot + 1)) ] || exit 3

case $boot in
0)
	insmod "$ko" "memory=$memory" && no_previous && record first || exit 3
	reboot_now
	;;
1)
	{
		check "the module finds what was recorded before" insmod "$ko" "memory=$memory"
		check "the range is claimed" reserved
		check "previous cannot be written to" read_only
		check "it is kept while kernel records" kept_while_recording
		check "record -p previous" tracebuf record -p previous -o first.tbuf
		check "its counts are in order" tracebuf verify first.tbuf
		check "all marks are there" marks first first.tbuf
		check "it can be dropped" tracebuf provider destroy previous
		check "then there is none" no_previous
		check "and kernel records into that memory" record second
		[ "$ktap_failed" = 0 ] && echo fine || echo failed
	} 2>&1 | leave
	reboot_now
	;;
esac
left
{
	check "the module finds what was recorded after that" insmod "$ko" "memory=$memory"
	check "record -p previous" tracebuf record -p previous -o second.tbuf
	check "its counts are in order" tracebuf verify second.tbuf
	check "all marks are there" marks second second.tbuf
	check "none is of the recording that was dropped" \
		sh -c '! tracebuf print second.tbuf | grep -q "first-[0-9]"'
	cp second.tbuf /out
	check "the module can be unloaded" rmmod tracebuf
	case $memory in
	0x*)
		check "what is there can be kept" mem_save
		check "survive damage to every second block" survive_blocks
		echo "# $found lines are left"
		check "payload that looks like blocks is none" survive_little forge
		echo "# $found lines are left"
		for number in 10 100; do
			check "survive damage to $number bytes" survive_little bytes $number
			echo "# $found lines are left"
		done
		for number in 1000 10000 50000; do
			check "survive damage to $number bytes" survive bytes $number
			echo "# $found lines are left"
		done
		check "System RAM is refused" \
			sh -c "! insmod '$ko' memory=0x1000000:1M"
		check "no range is refused" \
			sh -c "! insmod '$ko' memory=0x1000000 && ! insmod '$ko' memory=nobody"
		;;
	*)
		check "it can be dropped" sh -c "insmod '$ko' 'memory=$memory' &&
			tracebuf provider destroy previous && rmmod tracebuf"
		;;
	esac
	[ "$ktap_failed" = 0 ] && echo fine || echo failed
} 2>&1
