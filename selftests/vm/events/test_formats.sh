#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_formats.sh - the module describes its events as the kernel does: fields, offsets, sizes,
# signs and print formats, event by event against tracefs. If this fails, a trace has wrong values
# under the right names.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
own_folder

# list: ext4 is a module of some kernels
list()
{
	modprobe -q ext4
	insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" &&
		tracebuf list --format >ours && rmmod tracebuf_events tracebuf || return
	# one process: the kernel has more than a thousand of these files
	(cd /sys/kernel/tracing/events && grep -r --include=format '' .) >theirs || return
	{
		cat "$here/reduced_events.txt"
		sed -n 's/^+\t\(.*\)/\1 */p' "${here%/selftests/vm/*}/build/$(uname -r)/coverage.txt"
	} >reduced
	sed -n 's/^system: //p' ours | sort -u >systems
	[ -s systems ]
}

if in_guest; then
	list >said 2>&1
	echo $? >listed
fi
plan 1 "$([ ! -e systems ] || wc -l <systems)"
check "list the formats of both" sh -c 'cat said; exit "$(cat listed)"'
while read -r system; do
	judge "formats of $system" python3 "$here/ftrace_formats.py" ours theirs reduced "$system"
done <systems
finish
