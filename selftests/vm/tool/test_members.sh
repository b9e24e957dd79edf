#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_members.sh - permissions as the packages set them: a group may open the node and run
# tracebuf-open, and only that program has CAP_PERFMON. If this fails, members cannot record, or
# strangers can, or a program that parses files has a capability.
#
# The helper is on a file system of its own: the kernel ignores capabilities of files where the
# mount is nosuid, as a guest's /tmp is.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"

# not in /etc/passwd or /etc/group, and need not be
user=54321 group=54322
dev=/dev/tracebuf
tool=$(command -v tracebuf)
built=$(dirname "$(readlink -f "$tool")")/tracebuf-open
# where the library looks for it
files=/usr/local/libexec/tracebuf
helper=$files/tracebuf-open
work=$(mktemp -d) || exit 1

# member COMMAND...: run as a user in the group; stranger COMMAND...: as a user outside of it
member()
{
	setpriv --reuid "$user" --regid "$user" --groups "$group" "$@"
}

stranger()
{
	setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
}

# refused TEXT COMMAND...: COMMAND fails with TEXT, and leaves no trace
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

# Capabilities of files count here: otherwise the refusals below would prove nothing.
counts()
{
	member "$files/cat" /proc/self/status >said || return
	grep '^Cap\|^NoNewPrivs' said
	grep -q '^CapEff:[[:space:]]*0000004000000000$' said
}

records()
{
	member tracebuf record -q -e sched -o t.tbuf -- ls / >/dev/null &&
		tracebuf verify -q t.tbuf && tracebuf print t.tbuf >said && grep -c sched_switch said
}

# The device is one permission, perf another: the recorder writes what it can without perf.
without_perf()
{
	member tracebuf record -e syscalls:sys_enter_exit_group:ustack -o u.tbuf -- true >said 2>&1
	code=$?
	cat said
	[ "$code" = 0 ] && grep -q 'no perf events' said && tracebuf verify -q u.tbuf
}

controls()
{
	member tracebuf provider create members && member tracebuf status -p members &&
		member tracebuf provider destroy members
}

# Neither the tool, while it records, nor its command has the capability.
tool_has_none()
{
	# shellcheck disable=SC2016
	member tracebuf record -q -e sched -o c.tbuf -- \
		sh -c 'cat /proc/$PPID/status /proc/self/status' >said || return
	grep '^Name\|^Cap[IPEA]' said
	[ "$(grep -c '^CapEff:[[:space:]]*0*$' said)" = 2 ] &&
		[ "$(grep -c '^CapPrm:[[:space:]]*0*$' said)" = 2 ]
}

# has_none COMMAND...: tracebuf COMMAND has no capability, while it waits for data in a pipe
has_none()
{
	setpriv --reuid "$user" --regid "$user" --groups "$group" tracebuf "$@" >/dev/null 2>&1 3>&- &
	pid=$! tries=0
	# until setpriv has become tracebuf
	until grep -q '^Name:[[:space:]]*tracebuf$' "/proc/$pid/status" || [ $tries -ge 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	grep '^Name\|^Cap[PE]' "/proc/$pid/status" >said
	kill "$pid"
	wait "$pid"
	grep -q '^Name:[[:space:]]*tracebuf$' said && grep -q '^CapEff:[[:space:]]*0*$' said &&
		grep -q '^CapPrm:[[:space:]]*0*$' said && return
	echo "tracebuf $*:"
	cat said
	return 1
}

# Nor has any command that reads a file, which may be hostile.
readers_have_none()
{
	mkfifo pipe && exec 3<>pipe || return
	bad=0
	for command in "print pipe" "report pipe" "query pipe cpu" "verify pipe" \
		"export --format text -o - pipe" "export --format ctf -o ctf pipe" "diff t.tbuf pipe" \
		"flamegraph pipe" "why pipe" "list -i pipe"; do
		# shellcheck disable=SC2086
		has_none $command || bad=1
	done
	exec 3>&-
	rm pipe
	return $bad
}

# Arguments, environment and input of the helper change nothing: without a socket it only fails.
helper_is_deaf()
{
	member env LD_PRELOAD=/nowhere.so "$helper" --help -x </dev/null >said 2>&1
	code=$?
	cat said
	[ "$code" = 88 ] && [ ! -s said ]	# ENOTSOCK
}

# The same helper, on a mount that is nosuid.
nosuid()
{
	mount -o remount,nosuid "$files" || return
	refused "CAP_PERFMON" member tracebuf record -q -e sched -o no.tbuf -- ls /
	code=$?
	mount -o remount,suid "$files" && records && return "$code"
}

without_helper()
{
	mv "$helper" "$helper.away" || return
	refused "the kernel refuses $dev: kernel events need root or the capability CAP_PERFMON" \
		member tracebuf record -q -e sched -o no.tbuf -- ls /
	code=$?
	mv "$helper.away" "$helper" && return "$code"
}

plan 12
insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
chgrp "$group" "$dev" && chmod 0660 "$dev" || exit 1
mkdir -p "$files" && mount -t tmpfs -o mode=0755 none "$files" || exit 1
cp "$(command -v cat)" "$files" && cp "$built" "$helper" && chgrp "$group" "$helper" &&
	chmod 0750 "$helper" && setcap cap_perfmon=ep "$files/cat" &&
	setcap cap_perfmon=ep "$helper" || exit 1
chown "$user" "$work" && cd "$work" || exit 1

check "the capability of a file counts" counts
check "a member of the group records" records
check "and makes a provider, and removes it" controls
check "and user stacks, without perf events" without_perf
check "neither the tool nor its command has a capability" tool_has_none
check "nor has a command that reads a file" readers_have_none
check "the helper takes nothing from its caller" helper_is_deaf
check "without the group the mode of the node refuses" \
	refused "no permission to open $dev (mode 0660, owner 0, group $group)" \
	stranger tracebuf record -q -e sched -o no.tbuf -- ls /
check "and the mode of the helper" refused "ermission denied" stranger sh -c "$helper"
check "without the helper the kernel refuses" without_helper
check "on a file system mounted nosuid there is no capability" nosuid
# another setpriv: the one that changes the user has all capabilities until it has ended
check "nor is there under no_new_privs" \
	refused "CAP_PERFMON" \
	member setpriv --no-new-privs tracebuf record -q -e sched -o no.tbuf -- ls /
cd / && umount "$files" && rm -rf "$work"
finish
