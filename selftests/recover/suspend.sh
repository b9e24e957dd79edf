#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# suspend.sh - a recording goes on when the machine suspends its devices and processors. If this
# fails, a laptop's recording ends at a suspend, or has wrong times after it. Prints KTAP.
#
#   suspend.sh [-k KERNEL]... [-o DIR]
#
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -o DIR     keep the guests' output there
#
# All files of such a guest are in its memory: 9p does not survive suspended devices.

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
letters=k:o:
# shellcheck source=selftests/recover/common.sh
. "$here/common.sh"

# add PROGRAM...: copies programs and their libraries into the guest's /bin
add()
{
	for program; do
		cp "$program" "$root/bin/" || return
		ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$root${library%/*}" && cp -L "$library" "$root$library" || return
		done || return
	done
}

# fill: puts the guest's files into $root; busybox is the shell and the tools
fill()
{
	root=$work/root
	mkdir -p "$root/bin" "$root/usr/lib" "$root/usr/lib64" || return
	ln -s usr/lib "$root/lib" && ln -s usr/lib64 "$root/lib64" &&
		ln -s ../bin "$root/usr/bin" && ln -s bin "$root/sbin" &&
		cp "$(command -v busybox)" "$root/bin/" || return
	for program in $(busybox --list); do
		[ "$program" = busybox ] || ln -s busybox "$root/bin/$program" || return
	done
	add "$tracebuf" "$tree/build/selftests/test_suspend" &&
		cp "$here/suspend_guest.sh" "$tree/selftests/vm/lib/ktap.sh" \
			"$tree/selftests/vm/lib/said.sh" "$root/"
}

# sleeps KERNEL
sleeps()
{
	guest=$work/guest-$1 log=$out/suspend-$1.log
	"$tree/scripts/vm" -k "$1" -t 600 -R "$root" \
		-a "$(modules "$1")/tracebuf.ko:/torture.ko" -o "$guest" -- \
		sh /suspend_guest.sh >"$log" 2>&1
	code=$?
	cp "$guest/dmesg" "$out/suspend-$1.dmesg"
	told "$1: recordings in a machine that suspends" $code "$log"
}

build
fill || { echo "Bail out! no root for the guest"; exit 1; }
plan 1
for k in $kernels; do
	sleeps "$k"
done
[ "$failed" = 0 ]
