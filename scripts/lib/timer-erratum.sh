#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# timer-erratum.sh FILE - writes the device tree of scripts/vm's arm64 guests to FILE, and adds
# HiSilicon's erratum 161010101 to the counter. The kernel then uses a workaround: it reads the
# counter twice, until both values are close.

set -e

# machine and CPU as in scripts/vm; QEMU adds memory, command line and initramfs when it boots
qemu-system-aarch64 -M "virt,dumpdtb=$1" -cpu max,pauth-impdef=on -m 1024 -smp 2 -nodefaults \
	-no-user-config -display none
fdtput "$1" /timer hisilicon,erratum-161010101
