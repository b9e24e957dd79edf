# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# ktap.sh - KTAP output for tests in shell; sourced by them.
#
#   plan N
#   check NAME COMMAND...      passes if COMMAND succeeds; its output is shown
#   refuse NAME COMMAND...     passes if COMMAND fails (and is not killed)
#   skip NAME REASON
#   finish                     exits
#
# COMMAND's output is left in $output. With $TRACEBUF_RECORDINGS, a folder, recordings that it leaves
# in the working directory are kept there.

ktap_count=0
ktap_failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

plan()
{
	echo "KTAP version 1"
	echo "1..$1"
}

ktap_result()
{
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

# A test that has no folder of its own under /tmp leaves nothing.
ktap_keep()
{
	case ${TRACEBUF_RECORDINGS:+$PWD} in
	/tmp/?*) "$TRACEBUF_SELFTESTS/keep" . ;;
	esac
}

check()
{
	ktap_name=$1
	shift
	"$@" >"$output" 2>&1
	ktap_code=$?
	ktap_keep
	ktap_result $ktap_code "$ktap_name" "exit status $ktap_code: $*"
}

refuse()
{
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
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

finish()
{
	[ "$ktap_failed" = 0 ]
	exit
}
