# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# tap.sh - TAP output for tests in shell; sourced by them.  The caller says what its plan is, and
# exits with $failed.
#
#   begin NEED...          in a directory of its own; all is skipped if there is no such command
#   result STATUS NAME     the last command's status, and what was tested
#   skip NAME REASON

count=0 failed=0

begin()
{
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
	cd "$dir" || exit 1
	echo "TAP version 14"
	for need; do
		command -v "$need" >/dev/null && continue
		echo "1..0 # SKIP needs $need"
		exit 0
	done
}

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
