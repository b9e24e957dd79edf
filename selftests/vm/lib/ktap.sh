# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# ktap.sh - KTAP output for tests in shell; sourced by them.
#
#   own_folder                 makes a new folder the working directory; sets $tmp
#   plan N [M]                 N results of check, refuse and skip, M of judge and skip -j
#   check NAME COMMAND...      passes if COMMAND succeeds; its output is shown
#   refuse NAME COMMAND...     passes if COMMAND fails (and is not killed)
#   judge NAME COMMAND...      as check, where COMMAND needs no kernel, only the files in $tmp
#   skip [-j] NAME REASON      -j: a result of judge is skipped
#   finish                     exits; removes $tmp
#   in_guest                   succeeds where the first half of the test runs
#   leave FILE...              the second half needs only these (default: all that is in $tmp)
#
# COMMAND's output is in $output. If $TRACEBUF_RECORDINGS names a folder, the recordings that
# COMMAND leaves in the working directory are copied to it.
#
# A test that calls judge has two halves. A guest is 10 to 20 times slower than the host, so
# scripts/check runs the first half in the guest and the second on the host:
#
#   TRACEBUF_LEAVE=FOLDER      runs check, refuse, skip; finish copies the files of $tmp to FOLDER
#   TRACEBUF_JUDGE=FOLDER      runs judge, on these files; own_folder changes to FOLDER
#
# Without either both halves run.

ktap_count=0
ktap_failed=0
tmp=
ktap_leave=.
output=$(mktemp)
trap 'rm -f "$output"' EXIT

leave()
{
	ktap_leave=$*
}

in_guest()
{
	[ -z "${TRACEBUF_JUDGE:-}" ]
}

own_folder()
{
	tmp=${TRACEBUF_JUDGE:-$(mktemp -d)} && cd "$tmp" || exit 1
}

plan()
{
	ktap_first=$1 ktap_second=${2:-0}
	in_guest || ktap_first=0
	[ -z "${TRACEBUF_LEAVE:-}" ] || ktap_second=0
	ktap_uptime
	echo "KTAP version 1"
	echo "1..$((ktap_first + ktap_second))"
}

# Sets ktap_now, by which ktap_result shows how long a check took.
ktap_uptime()
{
	read -r ktap_now _ </proc/uptime
	ktap_now=${ktap_now%.*}
}

ktap_result()
{
	ktap_then=$ktap_now
	ktap_uptime
	[ $((ktap_now - ktap_then)) -lt 2 ] || echo "# $((ktap_now - ktap_then)) s:"
	ktap_count=$((ktap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $ktap_count $2"
	else
		ktap_failed=$((ktap_failed + 1))
		sed 's/^/# /' "$output"
		echo "# $3"
		echo "not ok $ktap_count $2"
	fi
}

# Copies new recordings from the working directory, if that is below /tmp.
ktap_keep()
{
	case ${TRACEBUF_RECORDINGS:+$PWD} in
	/tmp/?*) "$TRACEBUF_SELFTESTS/keep" . ;;
	esac
}

ktap_run()
{
	ktap_name=$1
	shift
	"$@" >"$output" 2>&1
	ktap_code=$?
	ktap_keep
	ktap_result $ktap_code "$ktap_name" "exit status $ktap_code: $*"
}

check()
{
	! in_guest || ktap_run "$@"
}

judge()
{
	[ -n "${TRACEBUF_LEAVE:-}" ] || ktap_run "$@"
}

refuse()
{
	in_guest || return 0
	ktap_name=$1
	shift
	"$@" >"$output" 2>&1
	ktap_code=$?
	ktap_keep
	[ $ktap_code -gt 0 ] && [ $ktap_code -lt 126 ]
	ktap_result $? "$ktap_name" "exit status $ktap_code: $*"
}

skip()
{
	if [ "$1" = -j ]; then
		shift
		[ -z "${TRACEBUF_LEAVE:-}" ] || return 0
	else
		in_guest || return 0
	fi
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

finish()
{
	if [ -n "$tmp" ]; then
		# shellcheck disable=SC2086
		[ -z "${TRACEBUF_LEAVE:-}" ] || (cd "$tmp" && cp -r $ktap_leave "$TRACEBUF_LEAVE") ||
			ktap_failed=1
		cd /
		! in_guest || rm -rf "$tmp"
	fi
	[ "$ktap_failed" = 0 ]
	exit
}
