# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# said.sh - helpers of the tests that run commands; sourced by them.
#
#   status WANTED COMMAND...       runs COMMAND, output to said; fails unless it exits so
#   says PATTERN                   succeeds if said has PATTERN, in any case
#   lines NUMBER PATTERN FILE      succeeds if exactly NUMBER lines of FILE have PATTERN
#   until_it COMMAND...            repeats COMMAND until it succeeds; fails after five minutes
#   call_number NAME               prints the number of a system call on this processor

status()
{
	wanted=$1
	shift
	"$@" >said 2>&1
	got=$?
	cat said
	[ $got = "$wanted" ] || { echo "exit status $got, not $wanted: $*"; return 1; }
}

says()
{
	grep -qi -e "$1" said || { echo "does not say: $1"; return 1; }
}

lines()
{
	found=$(grep -c -E -e "$2" "$3")
	[ "$found" = "$1" ] || { echo "$found lines, not $1: $2"; return 1; }
}

until_it()
{
	give_up=$(($(date +%s) + 300))
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$give_up" ] || { echo "never succeeded: $*"; return 1; }
		sleep 0.1
	done
}

call_number()
{
	case $(uname -m):$1 in
	aarch64:read) echo 63 ;;
	aarch64:openat) echo 56 ;;
	aarch64:close) echo 57 ;;
	aarch64:execve) echo 221 ;;
	x86_64:read) echo 0 ;;
	x86_64:openat) echo 257 ;;
	x86_64:close) echo 3 ;;
	x86_64:execve) echo 59 ;;
	esac
}
