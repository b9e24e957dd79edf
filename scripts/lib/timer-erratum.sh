#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# timer-erratum.sh FILE - write to FILE the device tree of scripts/vm's arm64 guests, and add that
# the counter has HiSilicon's erratum 161010101.
#
# The kernel then reads the counter by way of a workaround: twice, until both values are close.

set -e

# machine and CPU as in scripts/vm; QEMU adds memory, command line and initramfs when it boots
qemu-system-aarch64 -M "virt,dumpdtb=$1" -cpu max,pauth-impdef=on -m 1024 -smp 2 -nodefaults \
	-no-user-config -display none
fdtput "$1" /timer hisilicon,erratum-161010101
