#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_abidiff.sh - a program that was linked with libtracebuf of the last release runs with this
# tree's: abidiff finds no incompatible change of a function, type or value. If this fails, an
# update of the library breaks installed programs.
#
# The last release is the last tag v*. abi.suppr lists the intended changes since then.

# check calls the functions.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/build}
# shellcheck source=selftests/vm/lib/ktap.sh
. "$tree/selftests/vm/lib/ktap.sh"
name="the library is compatible with the last release"
plan 1
last=$(git -C "$tree" describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
if [ -z "$last" ]; then
	skip "$name" "git knows no tag v*"
	finish
fi
command -v abidiff >/dev/null || {
	skip "$name" "abidiff is missing: run scripts/setup"
	finish
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp" "$output"' EXIT

# build TREE NAME: build the library of TREE in $tmp/NAME.out
build()
{
	env -u MAKEFLAGS make -s -C "$1/userspace" OUT="$tmp/$2.out" lib >/dev/null
}

compatible()
{
	mkdir "$tmp/last" && git -C "$tree" archive "$last" | tar -x -C "$tmp/last" &&
		build "$tmp/last" last && build "$tree" now || return
	# new functions break no program
	abidiff --suppressions "$here/abi.suppr" --no-added-syms --headers-dir1 "$tmp/last/userspace/include" --headers-dir2 "$tree/userspace/include" \
		"$tmp"/last.out/libtracebuf.so.*.* "$tmp"/now.out/libtracebuf.so.*.*
}

check "$name, $last" compatible
finish
