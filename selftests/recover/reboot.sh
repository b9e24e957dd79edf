#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reboot.sh - a guest that records into reserved memory and reboots, twice, keeping its memory: KTAP.
#
#   reboot.sh [-k KERNEL]... [-o DIR]
#
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -o DIR     where what the guests said is kept

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/recover}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"

kernels='' out=''
while getopts k:o: opt; do
	case $opt in
	k) kernels="$kernels $OPTARG" ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
: "${kernels:=6.1 6.12}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: "${out:=$work}"
mkdir -p "$out" || exit 1

number=0 failed=0
echo "KTAP version 1"
# shellcheck disable=SC2086
for k in $kernels; do
	log=$out/reboot-$k.log
	TRACEBUF_VM_NOBUILD=1 "$tree/scripts/vm" -k "$k" -m 512 -t 240 -q '-action reboot=reset' \
		-A 'memmap=17M$0x10000000 iomem=relaxed' -- "$here/reboot_guest.sh" \
		"$tree/build/$(kernel_release "$k")-torture/tracebuf.ko" 0x10000000:16M 0x11000000 \
		>"$log" 2>&1
	# each boot says "fine"
	number=$((number + 1))
	if [ "$(grep -c '^fine$' "$log")" = 2 ]; then
		echo "ok $number $k: found again after a reboot, and after damage"
	else
		failed=$((failed + 1))
		sed 's/^/# /' "$log" | tail -n 80
		echo "not ok $number $k: found again after a reboot, and after damage"
	fi
done
echo "1..$number"
[ $failed = 0 ]
