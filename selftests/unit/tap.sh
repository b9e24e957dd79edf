# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# tap.sh - TAP output for tests in shell; sourced by them.  The caller says what its plan is, and
# exits with $failed.
#
#   result STATUS NAME     the last command's status, and what was tested
#   skip NAME REASON

count=0 failed=0

result()
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		# read by who sources this
		# shellcheck disable=SC2034
		failed=1
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
