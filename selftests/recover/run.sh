#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh - lets guests crash in several ways while they record, and recovers what they recorded
# from images of their memory: KTAP, a test for each guest.
#
#   run.sh [-k KERNEL]... [-n TIMES] [-o DIR]
#
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -n TIMES   each way so often (default: 1); the moment is another each time
#   -o DIR     where what a guest said is kept, and the image of one that failed

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/recover}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"

kernels='' times=1 out=''
while getopts k:n:o: opt; do
	case $opt in
	k) kernels="$kernels $OPTARG" ;;
	n) times=$OPTARG ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
: "${kernels:=6.1 6.12}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: "${out:=$work}"
mkdir -p "$out" || exit 1
tracebuf=$tree/build/user/tracebuf

unset MAKEFLAGS MAKELEVEL MFLAGS
(
	# Others may build in this tree at the same time: they wait.
	exec 8<"$tree"
	flock 8
	make -s -C "$tree/userspace" tool || exit
	for k in $kernels; do
		make -s -C "$tree" torture KDIR="$(kernel_headers "$k")" \
			RELEASE="$(kernel_release "$k")" || exit
	done
) >"$out/build.log" 2>&1 || {
	tail -n 40 "$out/build.log"
	echo "Bail out! cannot build"
	exit 1
}

number=0 failed=0 memory=256
# crash KERNEL HOW FORMAT PARAMETER...: a guest, and what can be recovered of it
crash()
{
	kernel=$1 how=$2 form=$3
	name=$1-$2-$3-$4-$round
	shift 3
	image=$work/$name
	{
		"$here/guest.py" "$how" "$form" "$image" $memory -- \
			env TRACEBUF_VM_NOBUILD=1 "$tree/scripts/vm" -k "$kernel" -m $memory -t 300 \
			-M "$image.monitor" -q -no-shutdown -- "$here/guest.sh" \
			"$tree/build/$(kernel_release "$kernel")-torture" "$how" "$@" &&
			"$tracebuf" recover -o "$image.tbuf" "$image" &&
			"$tracebuf" verify "$image.tbuf" &&
			"$here/check.py" "$image" "$image.tbuf"
	} >"$out/$name.log" 2>&1
	code=$?
	number=$((number + 1))
	if [ $code = 0 ]; then
		echo "ok $number $name"
	else
		failed=$((failed + 1))
		{ cat "$image.output"; cat "$out/$name.log"; } 2>/dev/null | tail -n 60 | sed 's/^/# /'
		[ "$out" = "$work" ] || mv "$image" "$image.tbuf" "$out/" 2>/dev/null
		echo "not ok $number $name"
	fi
	rm -f "$image" "$image".*
}

echo "KTAP version 1"
# shellcheck disable=SC2086
set -- $kernels
echo "1..$(($# * times * 6))"
round=1
while [ "$round" -le "$times" ]; do
	for k in $kernels; do
		crash "$k" sysrq elf buffers=16
		crash "$k" irq raw buffers=16
		crash "$k" irq elf buffers=64 elements=64
		crash "$k" panic elf buffers=3 elements=1024 gap_us=100
		crash "$k" spin elf buffers=32 elements=1024 gap_us=100
		crash "$k" none raw buffers=64 elements=128 gap_us=100
	done
	round=$((round + 1))
done
[ $failed = 0 ]
