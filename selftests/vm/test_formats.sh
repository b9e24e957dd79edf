#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_formats.sh - what the module says of its events is what the kernel says: fields, offsets,
# sizes, signs and print formats, event by event against tracefs. A test for each subsystem.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/ktap.sh
. "$here/ktap.sh"
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1

# the commonest filesystem's, which some kernels have as a module
modprobe -q ext4
insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
tracebuf list --format >ours || exit 1
{
	cat "$here/reduced_events.txt"
	sed -n 's/^+\t\(.*\)/\1 */p' "${here%/selftests/vm}/build/$(uname -r)/coverage.txt"
} >reduced
systems=$(sed -n 's/^system: //p' ours | sort -u)
# shellcheck disable=SC2086
set -- $systems
plan $#
for system; do
	check "formats of $system" python3 "$here/ftrace_formats.py" ours reduced "$system"
done
rmmod tracebuf_events tracebuf
cd /
rm -rf "$tmp"
finish
