#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# With memory= the buffers lie in the reserved memory that it names, and the module refuses any
# other memory. If this fails, the recording is lost in a crash, or the module writes over memory of
# others. It runs in a guest of its own, booted with memmap=16M$0x10000000 (scripts/check).
# selftests/recover/reboot.sh tests the reboots.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
programs=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

tmp=$(mktemp -d)
cd "$tmp" || exit 1

# refused MEMORY PATTERN: the module is not loaded, and the log has PATTERN
refused()
{
	dmesg -C
	if insmod "$TRACEBUF_KO" "memory=$1"; then
		rmmod tracebuf
		echo "memory=$1 was taken"
		return 1
	fi
	dmesg | tee said | grep "$2"
}

# ranges NAME: prints each range of /proc/iomem with that name as ADDRESS:SIZE, in whole pages
ranges()
{
	sed -n "s/^\\([0-9a-f]*\\)-\\([0-9a-f]*\\) : $1\$/\\1 \\2/p" /proc/iomem |
		while read -r first last; do
			first=$(((0x$first + 4095) / 4096 * 4096))
			last=$(((0x$last + 1) / 4096 * 4096))
			[ $last -le $first ] || printf '0x%x:%d\n' $first $((last - first))
		done
}

# Memory of the firmware looks like memory that the kernel was told to leave alone.
firmware_refused()
{
	ranges Reserved | grep -v '^0x10000000:' >list
	ranges 'ACPI.*' >>list
	cat list
	[ -s list ] || return
	# memory without struct page is refused as well
	while read -r range; do
		refused "$range" 'memory=.*\(firmware\|struct page\)' || return
	done <list
	grep -c . list
}

two_users()
{
	insmod "$TRACEBUF_KO" memory=0x10000000:8M && grep 'tracebuf$' /proc/iomem &&
		! dd if=/dev/mem of=/dev/null bs=4096 skip=65536 count=1 2>said
	result=$?
	cat said
	rmmod tracebuf
	return $result
}

# loads_late STATUS [LEVEL]: the kernel is locked down after it has looked for the signature, and
# before it copies the parameters
loads_late()
{
	dmesg -C
	wanted=$1
	shift
	status "$wanted" "$programs/load_locked" "$TRACEBUF_KO" memory=0x10000000:8M "$@"
}

# Without lockdown the late parameter is accepted: the lockdown makes the difference.
taken_late()
{
	loads_late 0 && grep '10000000-107fffff : tracebuf$' /proc/iomem
	result=$?
	rmmod tracebuf
	return $result
}

refused_locked_down()
{
	loads_late 1 integrity && says 'operation not permitted' || return
	dmesg | tee said
	says 'lockdown: .*unsafe module parameters is restricted' || return
	! grep tracebuf /proc/modules && ! grep tracebuf /proc/iomem
}

on_disk()
{
	modprobe -q loop
	modprobe -q ext4
	truncate -s 64M disk.img && mke2fs -q -F -t ext4 -m 0 -b 4096 disk.img && mkdir -p disk &&
		mount -o loop disk.img disk
}

# The disk must not read from reserved memory: the recorder copies instead.
recorded_on_disk()
{
	# shellcheck disable=SC2016
	status 0 tracebuf record -v -o disk/a.tbuf -b 8 -e sched,signal "$@" -- \
		sh -c 'for i in $(seq 200); do /bin/true; done' || return
	status 0 tracebuf verify disk/a.tbuf
}

# The kernel's hibernation test: notifiers run and all processes are frozen.
record_ended_by_hibernation()
{
	timeout 60 tracebuf record -o hibernated.tbuf -e sched >said 2>&1 &
	for _ in $(seq 100); do
		tracebuf status | grep -q 'a reader is attached' && break
		sleep 0.2
	done
	echo freezer >/sys/power/pm_test && echo disk >/sys/power/state &&
		echo none >/sys/power/pm_test || return
	wait $!
	result=$?
	cat said
	[ $result = 1 ] && says 'the machine was about to hibernate' || return
	status 0 tracebuf verify hibernated.tbuf
	status 0 tracebuf status && says 'stopped: reserved memory is not saved in hibernation'
}

if ! grep -q '^10000000-10ffffff : Reserved' /proc/iomem; then
	plan 1
	skip "reserved memory" "this guest was not booted with memmap=16M\$0x10000000"
	finish
fi
plan 13
check "what the firmware keeps is refused" firmware_refused
check "the first MiB is refused" refused 0x10000:64K 'memory=.*\(firmware\|RAM\)'
check "memory in use is refused" refused 0x1000000:1M 'uses it as RAM'
check "a part of it in use is refused" refused 0xff00000:2M 'uses it as RAM'
check "the range is claimed, for everybody else" two_users
check "load" insmod "$TRACEBUF_KO" memory=0x10000000:16M
check "programs read it, and get no page of it" "$programs/test_region"
check "a disk" on_disk
check "record onto it" recorded_on_disk
check "and by copying" recorded_on_disk --buffered
check "record is ended by hibernation" record_ended_by_hibernation
rmmod tracebuf
umount disk 2>/dev/null
# the last tests: there is no way back, and an unsigned module is not loaded afterwards
lockdown=/sys/kernel/security/lockdown
[ -e $lockdown ] || mount -t securityfs none /sys/kernel/security 2>/dev/null
if [ -e $lockdown ]; then
	check "loaded with a late parameter" taken_late
	check "a kernel that is locked down takes no address" refused_locked_down
else
	skip "loaded with a late parameter" "this kernel has no lockdown"
	skip "a kernel that is locked down takes no address" "this kernel has no lockdown"
fi
cd / && rm -rf "$tmp"
finish
