#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh - guests crash in several ways while they record, and "tracebuf recover" gets the recording
# from images of their memory, one of them written by makedumpfile. Prints KTAP, a test for each
# guest. If this fails, the events before a crash are lost.
#
#   run.sh [-k KERNEL]... [-n TIMES] [-o DIR] [WAY...]
#
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -n TIMES   repeat each way (default: 1); the moment differs
#   -o DIR     keep the guests' output there, and images of failed ones
#   WAY        of $ways below (default: all)

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
letters=k:n:o:
# shellcheck source=selftests/recover/common.sh
. "$here/common.sh"

memory=256
ways="sysrq-elf sysrq-kdump irq-raw irq-elf panic-elf spin-elf none-raw"
# crash KERNEL HOW FORMAT PARAMETER...: crashes a guest, and recovers its recording
crash()
{
	kernel=$1 how=$2 form=$3
	is_wanted "$2-$3" || return 0
	name=$1-$2-$3-$4-$round
	shift 3
	image=$work/$name from=$work/$name
	# makedumpfile -d 31 leaves only the kernel's own pages
	case $form in
	kdump) form=elf from=$image.dump ;;
	esac
	{
		"$here/guest.py" "$how" "$form" "$image" $memory -- \
			"$tree/scripts/vm" -k "$kernel" -m $memory -t 300 -M "$image.monitor" \
			-q '-no-shutdown -device vmcoreinfo' -- \
			"$here/guest.sh" "$(modules "$kernel")" "$how" "$@" &&
			{ [ "$from" = "$image" ] || {
				"$here/headers.py" "$image" && makedumpfile -E -d 31 "$image" "$from"
			} >/dev/null 2>&1; } &&
			"$tracebuf" recover -o "$image.tbuf" "$from" &&
			"$tracebuf" verify "$image.tbuf" &&
			"$here/check.py" "$image" "$image.tbuf"
	} >"$out/$name.log" 2>&1
	told "$name" $? "$image.output" "$out/$name.log" ||
		[ "$out" = "$work" ] || mv "$image" "$image.tbuf" "$out/" 2>/dev/null
	rm -f "$image" "$image".*
}

build
# shellcheck disable=SC2086
plan $ways
round=1
while [ "$round" -le "$times" ]; do
	for k in $kernels; do
		crash "$k" sysrq elf buffers=16
		crash "$k" sysrq kdump buffers=16
		crash "$k" irq raw buffers=16
		crash "$k" irq elf buffers=64 elements=64
		crash "$k" panic elf buffers=3 elements=1024 gap_us=100
		crash "$k" spin elf buffers=32 elements=1024 gap_us=100
		crash "$k" none raw buffers=64 elements=128 gap_us=100
	done
	round=$((round + 1))
done
[ "$failed" = 0 ]
