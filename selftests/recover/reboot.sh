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
# reboot KERNEL HOW MEMORY WORDS: with these WORDS on the kernel's command line
reboot()
{
	log=$out/reboot-$1-$2.log
	TRACEBUF_VM_NOBUILD=1 "$tree/scripts/vm" -k "$1" -m 512 -t 240 -q '-action reboot=reset' \
		-A "memmap=1M\$0x11000000 iomem=relaxed $4" -- "$here/reboot_guest.sh" \
		"$tree/build/$(kernel_release "$1")-torture/tracebuf.ko" "$3" 0x11000000 \
		>"$log" 2>&1
	code=$?
	number=$((number + 1))
	# both boots that check something say so
	if [ $code = 0 ] && [ "$(grep -c '^fine$' "$log")" = 2 ]; then
		echo "ok $number $1: found again after reboots, $2"
	else
		failed=$((failed + 1))
		tail -n 80 "$log" | sed 's/^/# /'
		echo "# scripts/vm: exit status $code"
		echo "not ok $number $1: found again after reboots, $2"
	fi
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
[ $failed = 0 ]
