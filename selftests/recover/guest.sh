#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh - the part of run.sh that runs in a guest, as root, and does not come back.
#
#   guest.sh MODULES HOW PARAMETER...
#
# MODULES: the folder with tracebuf.ko and tb_crash.ko. HOW: sysrq, irq, spin, panic or none.
# PARAMETER: of tb_crash.ko.

set -u

modules=$1 how=$2
shift 2
case $how in
irq | spin | panic) set -- "$@" "die=$how" ;;
esac
# gives makedumpfile the layout of this kernel's memory
modprobe -q qemu_fw_cfg
# two providers record at the same time
insmod "$modules/tracebuf.ko" events=sched mode=circular buffers=8 &&
	insmod "$modules/tb_crash.ko" armed=0 "$@" || exit 3
echo recording
echo 1 >/sys/module/tb_crash/parameters/armed
[ "$how" != sysrq ] || {
	sleep "0.$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')"
	echo c >/proc/sysrq-trigger
}
exec sleep 1000
