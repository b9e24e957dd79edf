#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory of a CPU's ring is on the CPU's node, also the descriptors of its buffers. If this
# fails, recording is slower on large machines. It needs a guest with CPU 0 on node 0 and CPU 1 on
# node 1 (scripts/check).

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"

many=16

# free_of NODE: prints its free memory in KiB
free_of()
{
	awk '/ MemFree:/ { print $4 }' "/sys/devices/system/node/node$1/meminfo"
}

# take N: creates providers for CPU 1 with N small buffers each, on CPU 0; sets took0 and took1, the
# KiB taken from the nodes. A first provider fills the caches of the allocator.
take()
{
	for n in warm $(seq "$many"); do
		[ "$n" != 1 ] || { had0=$(free_of 0) had1=$(free_of 1); }
		taskset -c 0 tracebuf provider create "n$n" -c 1 -b "$1" -B 64 --durable 64 || return
		[ "$n" != warm ] || tracebuf provider destroy nwarm || return
	done
	took0=$((had0 - $(free_of 0))) took1=$((had1 - $(free_of 1)))
	for n in $(seq "$many"); do
		tracebuf provider destroy "n$n" || return
	done
	echo "$many x $1 buffers: $took0 KiB of node 0, $took1 KiB of node 1"
}

# A buffer of 1 KiB has a descriptor of 128 bytes or more: 4096 buffers have 4 MiB, and half a MiB
# of descriptors. The kernel's own memory varies by less than half of the buffers.
on_its_node()
{
	take 4 && base0=$took0 base1=$took1 && take 4096 || return
	[ $((took1 - base1)) -gt $((many * 2048)) ] && [ $((took0 - base0)) -lt $((many * 256)) ]
}

plan 2
insmod "$TRACEBUF_KO"
if [ "$(cat /sys/devices/system/node/node1/cpulist 2>/dev/null)" = 1 ]; then
	check "buffers and their descriptors are on the node of their CPU" on_its_node
else
	skip "buffers and their descriptors are on the node of their CPU" "CPU 1 is not on a node of its own"
fi
check "unload" rmmod tracebuf
finish
