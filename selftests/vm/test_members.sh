#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_members.sh - who may record as the packages set it up: the node open to a group, and the tool with
# CAP_PERFMON as a capability of its file. Both are needed, and each is refused by its name without the other.
#
# The tool is copied to a file system of its own: a capability of a file counts nowhere that is mounted nosuid, as a
# guest's /tmp is.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/ktap.sh
. "$here/ktap.sh"

# not in /etc/passwd or /etc/group, and need not be
user=54321 group=54322
dev=/dev/tracebuf
files=$(mktemp -d) || exit 1
work=$(mktemp -d) || exit 1

# member COMMAND..., stranger COMMAND...: a user in the group, and one who is not, in a folder of their own
member()
{
	setpriv --reuid "$user" --regid "$user" --groups "$group" "$@"
}

stranger()
{
	setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
}

# refused TEXT COMMAND...: it fails, says TEXT, and leaves no trace
refused()
{
	text=$1
	shift
	if "$@" >said 2>&1; then
		echo "it was let in"
		return 1
	fi
	cat said
	grep -qF "$text" said && [ ! -e no.tbuf ]
}

# Else what is refused below would be refused for nothing.
counts()
{
	stranger "$files/cat" /proc/self/status >said || return
	grep '^Cap\|^NoNewPrivs' said
	grep -q '^CapEff:[[:space:]]*0000004000000000$' said
}

records()
{
	member "$files/tracebuf" record -q -e sched -o t.tbuf -- ls / >/dev/null && tracebuf verify -q t.tbuf &&
		tracebuf print t.tbuf >said && grep -c sched_switch said
}

controls()
{
	member "$files/tracebuf" provider create members && member "$files/tracebuf" status -p members &&
		member "$files/tracebuf" provider destroy members
}

# The same file, and the same node
nosuid()
{
	mount -o remount,nosuid "$files" || return
	refused "CAP_PERFMON" member "$files/tracebuf" record -q -e sched -o no.tbuf -- ls /
	code=$?
	mount -o remount,suid "$files" && records && return "$code"
}

plan 8
insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
chgrp "$group" "$dev" && chmod 0660 "$dev" || exit 1
mount -t tmpfs -o mode=0755 none "$files" || exit 1
cp "$(command -v cat)" "$(command -v tracebuf)" "$files" && cp "$files/tracebuf" "$files/plain" &&
	setcap cap_perfmon=ep "$files/cat" && setcap cap_perfmon=ep "$files/tracebuf" || exit 1
chown "$user" "$work" && cd "$work" || exit 1

check "the capability of the file counts" counts
check "a member of the group records with the capability" records
check "and makes a provider, and removes it" controls
check "without the group the mode of the node refuses" \
	refused "no permission to open $dev (mode 0660, owner 0, group $group)" \
	stranger "$files/tracebuf" record -q -e sched -o no.tbuf -- ls /
check "without the capability the kernel refuses" \
	refused "the kernel refuses $dev: kernel events need root or the capability CAP_PERFMON" \
	member "$files/plain" record -q -e sched -o no.tbuf -- ls /
check "on a file system mounted nosuid there is no capability" nosuid
# a setpriv of its own: the one that changes the user has all capabilities until it is gone
check "nor is there under no_new_privs" \
	refused "CAP_PERFMON" member setpriv --no-new-privs "$files/tracebuf" record -q -e sched -o no.tbuf -- ls /
check "with neither the mode of the node refuses" \
	refused "no permission to open $dev" stranger "$files/plain" record -q -e sched -o no.tbuf -- ls /
cd / && umount "$files" && rm -rf "$files" "$work"
finish
