#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# panic.sh - guests panic, and the kernel's log has the last events of each CPU. Prints KTAP.
#
#   panic.sh [-k KERNEL]... [-o DIR] [WAY...]
#
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -o DIR     keep the guests' output there
#   WAY        sysrq, irq, nmi, oops, pstore (default: all)
#
# The printed events must be those that "tracebuf recover" gets from the guest's memory. If this
# fails, the log of a crash misleads, or the panic hangs.

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
letters=k:o:
# shellcheck source=selftests/recover/common.sh
. "$here/common.sh"

memory=512

# panic KERNEL HOW
panic()
{
	image=$work/$1-$2
	log=$out/panic-$1-$2.log
	providers=kernel
	[ "$2" != irq ] || providers='kernel crash'
	# shellcheck disable=SC2086
	{
		"$here/guest.py" "$2" raw "$image" $memory -- \
			"$tree/scripts/vm" -k "$1" -m $memory -t 300 -M "$image.monitor" -o "$image.out" \
			-q -no-shutdown -- "$here/panic_guest.sh" "$(modules "$1")" "$2" &&
			"$tracebuf" recover -p kernel -o "$image.tbuf" "$image" &&
			"$tracebuf" print --jsonl "$image.tbuf" >"$image.jsonl" &&
			sed '1,/^--- the guest did not end/d' "$image.out/dmesg" >"$image.console" &&
			"$here/panic_check.py" "$image.console" "$image.jsonl" 200 0,1 $providers
	} >"$log" 2>&1
	told "$1: the last events are in the log after a panic, $2" $? "$log"
	[ "$out" = "$work" ] || cp "$image.console" "$out/panic-$1-$2.console" 2>/dev/null
	rm -rf "$image" "$image".*
}

# oops KERNEL: a thread dies, and the machine goes on
oops()
{
	log=$out/panic-$1-task.log
	"$tree/scripts/vm" -k "$1" -m $memory -t 300 -o "$work/oops" -- \
		"$here/panic_guest.sh" "$(modules "$1")" task >"$log" 2>&1
	# the kernel complains about the oops: scripts/vm fails
	grep -q '^fine$' "$log"
	told "$1: the last events of a CPU are in the log after an oops" $? "$log"
}

# pstore KERNEL: the machine keeps its log over the reboot
pstore()
{
	log=$out/panic-$1-pstore.log
	"$tree/scripts/vm" -k "$1" -m $memory -t 300 -q '-action reboot=reset' \
		-A "memmap=1M\$0x10000000 pstore.kmsg_bytes=262144" -- \
		"$here/panic_guest.sh" "$(modules "$1")" pstore >"$log" 2>&1
	# the kernel complains here, too
	grep -q 'tracebuf: .* CPU 0 ' "$log" && grep -q 'tracebuf: .* CPU 1 ' "$log" &&
		grep -q "CPU .* program's events: pid" "$log" &&
		grep -q 'tracebuf: kernel: end of the last events' "$log"
	told "$1: they are in pstore after a reboot" $? "$log"
}

plan sysrq irq nmi oops pstore
for k in $kernels; do
	for how in sysrq irq nmi; do
		! is_wanted $how || panic "$k" $how
	done
	! is_wanted oops || oops "$k"
	! is_wanted pstore || pstore "$k"
done
[ "$failed" = 0 ]
