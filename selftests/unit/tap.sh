# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# tap.sh - TAP output for tests in shell, which source it. The caller prints the plan, and exits
# with $failed.
#
#   begin NEED...          change to a new directory; skip all tests if a command NEED is missing
#   result STATUS NAME     a test and its exit status
#   skip NAME REASON
#   has FILE NAME          a test: all lines of standard input are lines of FILE
#   add_up TRACE...        a test: conclusions from the traces add up (verify --analysis)

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
		# the script that sources this file reads it
		# shellcheck disable=SC2034
		failed=1
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

has()
{
	missing=0
	while IFS= read -r line; do
		grep -qxF -- "$line" "$1" && continue
		echo "# missing: $line"
		missing=1
	done
	result $missing "$2"
}

add_up()
{
	good=0 added=0
	for trace; do
		"$TRACEBUF" verify --analysis "$trace" >said 2>&1
		died=$(($? > 1))
		if grep -q 'analyses: .* 0 invariants violated' said; then
			added=$((added + 1))
			continue
		fi
		grep -q 'analyses: none, because the trace has no sched_switch' said && continue
		# no file, or a file without a recording
		[ $died = 0 ] && ! grep -q 'analyses:\|Sanitizer' said && continue
		echo "# $trace:"
		sed 's/^/# /' said
		good=1
	done
	[ $good = 0 ] && [ $added -gt 5 ]
	result $? "conclusions add up"
}
