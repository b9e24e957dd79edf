#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# flips.sh - runs flips.c in a guest, which flips bits of the recorder's memory.  Prints KTAP.
#
#   flips.sh [-k KERNEL]... [-n FLIPS] [-s SEED] [-o DIR]
#
#   -k KERNEL  one of the cache's (default: 6.12)
#   -n FLIPS   number of flips in each kind of memory (default: 500)
#   -s SEED    seed of all random choices (default: 1)
#   -o DIR     keep the guests' output there

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/torture}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"

kernels='' flips=500 seed=1 out=''
while [ $# -gt 0 ]; do
	case $1 in
	-k) kernels="$kernels $2"; shift ;;
	-n) flips=$2; shift ;;
	-s) seed=$2; shift ;;
	-o) out=$2; shift ;;
	*) echo "flips.sh: unknown argument '$1'" >&2; exit 2 ;;
	esac
	shift
done
: "${kernels:=6.12}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: "${out:=$work}"
mkdir -p "$out" || exit 1

number=0 failed=0
# result CODE NAME
result()
{
	number=$((number + 1))
	[ "$1" = 0 ] || failed=$((failed + 1))
	if [ "$1" = 0 ]; then echo "ok $number $2"; else echo "not ok $number $2"; fi
}

echo "KTAP version 1"
for k in $kernels; do
	release=$(kernel_release "$k")
	if [ -z "${TRACEBUF_VM_NOBUILD:-}" ]; then
		make -s -C "$here" && make -s -C "$tree" tools &&
			make -s -C "$tree" torture KDIR="$(kernel_headers "$k")" RELEASE="$release" || exit
	fi
	TRACEBUF_VM_NOBUILD=1 "$tree/scripts/vm" -k "$k" -c 2 -t 3600 -- \
		"$here/guest.sh" "$tree/build/$release-torture" flips -s "$seed" -n "$flips" \
		>"$out/$k" 2>&1
	code=$?
	sed -n 's/^# /# /p' "$out/$k"
	while read -r line; do
		case $line in
		"ok "*) result 0 "$k: ${line#ok * }" ;;
		"not ok "*) result 1 "$k: ${line#not ok * }" ;;
		esac
	done <"$out/$k"
	# 1: some failed, and are counted
	if [ $code -gt 1 ] || [ "$(sed -n 's/^1\.\.//p' "$out/$k")" != \
				"$(grep -cE '^(not )?ok ' "$out/$k")" ]; then
		tail -n 40 "$out/$k" | sed 's/^/# /'
		code=2
	fi
	[ $code -le 1 ]
	result $? "$k: ran to its end"
done
echo "1..$number"
[ $failed = 0 ]
