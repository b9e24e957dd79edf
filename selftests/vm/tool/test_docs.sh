#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_docs.sh - the commands in the docs work as they stand there. If this fails, a new user copies
# a command from a page, and gets an error. Each page runs in a folder of its own with a recording
# trace.tbuf. selftests/unit/docs/test_docs.py extracts the commands, and lists those that are not
# run, with reasons.
#
#   test_docs.sh [PAGE...]

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
tree=${here%/selftests/vm/*}
take="$tree/selftests/unit/docs/test_docs.py"
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1

# pkg-config and Babeltrace find the files of the build
mkdir pc include
for header in "$tree"/userspace/include/tracebuf*; do
	ln -s "$header" include/
done
cp -rs "$tree/uapi/linux" include/
cat >pc/libtracebuf.pc <<-X
	Name: libtracebuf
	Description: as it was built
	Version: 0
	Libs: -L$tree/build/user -ltracebuf
	Libs.private: -lzstd -pthread
	Cflags: -I$tmp/include
X
export PKG_CONFIG_PATH="$tmp/pc" BABELTRACE_PLUGIN_PATH="$tree/build/user/babeltrace2"

# The tutorial concludes that a thread was late because it waited, and that sh ran instead. On a
# busy host it may have waited even longer before it measured. The recording with filters has its
# waits, too. For most of the time in which flock waits for its lock,
# sh runs instead of the job; the time of the fsync is explained. For most of their time the
# requests in the container wait for its quota.
conclusion()
{
	late=$(sed -n 's/^at most \([0-9.]*\) ms late.*/\1/p' "$1" | head -n 1)
	echo "$late ms late"
	awk -v late="$late" '
	/ran_instead/ { reading = 1; next }
	reading && $2 == "python3" {
		print
		ms = $1 / 1000
		right = late > 20 && ms > late * 0.8 && ms < late * 2 && $(NF - 1) == "sh"
		exit
	}
	END { exit !right }' "$1" &&
		sed -n '/ waits for a CPU$/,/^$/p' "$1" | grep ' sh-[0-9]* runs$' &&
		awk '/^ *waits *longest_ms/ { getline; getline; print; right = $1 > 10 && $2 > 1; exit }
		     END { exit !right }' "$1" &&
		awk '/^1 system call .flock.: / { reading = 1 }
		     reading && / blocked in flock$/ { print; all = $1 }
		     reading && /of lockfile$/ { print; named = $1 }
		     reading && / python3-[0-9]* woke it$/ { print; job = $1 }
		     reading && / sh-[0-9]* runs$/ {
			print
			right = named == all && job > all * 0.9 && $1 > all / 3
			exit
		     }
		     END { exit !right }' "$1" && grep "^1 system call 'fsync': " "$1" &&
		awk '/^4 slices .request.: / { print; all = $4; reading = 1 }
		     reading && / a quota seems to be used up, 10 ms in 50 ms of .shop$/ {
			print
			right = $1 > all / 2
			exit
		     }
		     END { exit !right }' "$1"
}

# The snapshot that arm took has the signal that it waited for.
caught()
{
	for file in snapshot-*.tbuf; do
		! tracebuf print -e signal_generate "$file" | grep 'sig=11 ' || return 0
	done
	ls
	return 1
}

page()
{
	mkdir -p "${1%.md}" && cd "${1%.md}" || return
	# a Makefile for "-- make"
	printf 'all:\n\t@ls / >/dev/null\n' >Makefile
	cp "$tmp/trace.tbuf" . && python3 "$take" --script "$1" >commands &&
		timeout 300 bash commands >said 2>&1 </dev/null
	status=$?
	case $status$1 in
	0docs/tutorial.md) conclusion said || status=$? ;;
	0README.md) caught || status=$? ;;
	esac
	# the whole output is too long
	if [ "$status" = 0 ]; then
		grep -c '^+ ' said
	else
		grep -v '^+ ' said | tail -n 20
		grep '^FAILED' said
	fi
	# the next page finds nothing running
	tracebuf stop >/dev/null 2>&1
	tracebuf provider list | awk 'NR > 1 && $2 != "kernel" { print $2 }' | while read -r name; do
		tracebuf provider destroy "$name"
	done
	cd "$tmp" || return
	return "$status"
}

if [ $# = 0 ]; then
	# shellcheck disable=SC2046
	set -- $(python3 "$take" --list)
fi
plan $#
insmod "$TRACEBUF_KO" && insmod "${TRACEBUF_KO%/*}/tracebuf_events.ko" || exit 1
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || exit 1
tracebuf record -q -o trace.tbuf -- ls /usr/bin >/dev/null || exit 1
for name; do
	check "commands of $name" page "$name"
done
cd / && rm -rf "$tmp"
finish
