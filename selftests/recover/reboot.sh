#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reboot.sh - a guest records into reserved memory, and reboots twice: the next boot has the
# recording. Prints KTAP. If this fails, the recording before a reboot is lost.
#
#   reboot.sh [-k KERNEL]... [-o DIR]
#
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -o DIR     keep the guests' output there

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
letters=k:o:
# shellcheck source=selftests/recover/common.sh
. "$here/common.sh"

echo "KTAP version 1"
# reboot KERNEL HOW MEMORY WORDS: with WORDS on the kernel's command line
reboot()
{
	log=$out/reboot-$1-$2.log
	"$tree/scripts/vm" -k "$1" -m 512 -t 240 -o "$work/$2" -q '-action reboot=reset' \
		-A "memmap=1M\$0x11000000 iomem=relaxed $4" -- "$here/reboot_guest.sh" \
		"$(modules "$1")/tracebuf.ko" "$3" 0x11000000 >"$log" 2>&1
	code=$?
	echo "scripts/vm: exit status $code" >>"$log"
	# both boots that check something print this
	[ $code = 0 ] && [ "$(grep -c '^fine$' "$log")" = 2 ]
	told "$1: found again after reboots, $2" $? "$log"
}
# shellcheck disable=SC2086
for k in $kernels; do
	reboot "$k" address 0x10000000:16M "memmap=16M\$0x10000000"
	case $k in
	6.1) ;;
	*) reboot "$k" name trace 'reserve_mem=16M:4096:trace' ;;
	esac
done
echo "1..$number"
[ "$failed" = 0 ]
