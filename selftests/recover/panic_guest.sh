#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# panic_guest.sh - the part of panic.sh that runs in a guest, as root.
#
#   panic_guest.sh MODULES HOW
#
# MODULES: the folder with tracebuf.ko and tb_crash.ko. HOW: sysrq, irq or nmi, which end the
# machine; task, an oops of a thread; pstore, a panic in a machine that keeps its log and boots
# again, and then prints it.

set -u

modules=$1 how=$2
here=$(cd "$(dirname "$0")" && pwd -P)

# Small blocks, so that the last events are in several.
record()
{
	insmod "$modules/tracebuf.ko" "$@" events=sched,irq,timer writers='*' mode=circular elements=256 || exit 3
	for cpu in 0 1; do
		# shellcheck disable=SC2016
		taskset -c $cpu sh -c 'for i in $(seq 50); do sleep 0.001; done' || exit 3
	done
	tracebuf mark "it is about to happen"
}

case $how in
sysrq)
	record buffers=64 panic_events=200
	echo recording
	echo c >/proc/sysrq-trigger
	;;
irq)
	record buffers=64 panic_events=200
	echo recording
	insmod "$modules/tb_crash.ko" die=irq
	;;
nmi)
	record buffers=64 panic_events=200
	echo 1 >/proc/sys/kernel/unknown_nmi_panic
	echo recording
	while :; do
		tracebuf mark "until the NMI comes"
	done
	;;
task)
	echo 0 >/proc/sys/kernel/panic_on_oops
	record buffers=2048 oops_events=200
	insmod "$modules/tb_crash.ko" die=task gap_us=10000
	until dmesg | grep -q "tracebuf: kernel: end of the last events"; do
		sleep 0.1
	done
	cd /out || exit 3
	tracebuf stop && tracebuf save -o last.tbuf && tracebuf print --jsonl last.tbuf >last.jsonl &&
		dmesg >last.log && "$here/panic_check.py" last.log last.jsonl 200 0 kernel crash within &&
		echo fine
	exit
	;;
pstore)
	modprobe ramoops mem_address=0x10000000 mem_size=0x100000 record_size=0x80000 &&
		mount -t pstore none /sys/fs/pstore || exit 3
	if cat /sys/fs/pstore/dmesg-ramoops-* 2>/dev/null; then
		exit 0
	fi
	# more than elsewhere: on a busy host many events lie between the program's event and the
	# panic
	record buffers=64 panic_events=600
	echo c >/proc/sysrq-trigger
	;;
esac
exec sleep 1000
