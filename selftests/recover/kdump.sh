#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kdump.sh - a kernel that kdump boots recovers the recording of a crashed one, from /proc/vmcore
# and from makedumpfile's copy of it. If this fails, a crash dump of a server lacks the events
# before the crash. Prints KTAP.
#
#   kdump.sh [-k KERNEL]... [-o DIR]
#
#   -k KERNEL  one of the cache's, of Debian's (default: 6.1 and 6.12)
#   -o DIR     keep the guests' output there, and traces of failed ones

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
letters=k:o:
# shellcheck source=selftests/recover/common.sh
. "$here/common.sh"

# crash KERNEL HOW PARAMETER...
crash()
{
	kernel=$1 how=$2
	is_wanted "$2" || return 0
	name=kdump-$1-$2 guest=$work/guest disk=$work/disk
	shift 2
	truncate -s 1G "$disk" || exit 1
	# the reserved memory must suffice for a kernel with all of this system
	"$tree/scripts/vm" -k "$kernel" -m 512 -t 240 -o "$guest" -A crashkernel=192M \
		-q "-drive file=$disk,format=raw,if=virtio,cache=unsafe" -- \
		"$here/kdump_guest.sh" "$(kernel_dir "$kernel")/bzImage" "$(modules "$kernel")" "$how" "$@" \
		>"$out/$name.log" 2>&1
	told "$kernel: all is recovered in the kernel that comes after a crash, $how" $? "$out/$name.log" ||
		[ "$out" = "$work" ] || cp -r "$guest" "$out/$name"
	rm -rf "$guest" "$disk"
}

build
plan sysrq irq
for k in $kernels; do
	crash "$k" sysrq buffers=16
	crash "$k" irq buffers=64 elements=64
done
[ "$failed" = 0 ]
