#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_babeltrace.sh - Babeltrace 2 reads a recording while it is made, through the plugin's
# source.tracebuf.live: all events, in order, to the end; and its errors. If this fails, Babeltrace
# shows less than was recorded, or something else.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
tree=${here%/selftests/vm/*}
built=${TRACEBUF_USER:-$tree/build/user}
plugin=$built/babeltrace2
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1
export LD_LIBRARY_PATH="$built"

live()
{
	# the test waits for single lines; a timeout is a failure
	timeout 100 stdbuf -oL babeltrace2 --plugin-path "$plugin" --clock-seconds -c source.tracebuf.live "$@"
}

has_lines()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# busy [SECONDS]: makes events until the file "enough" is there, with pauses
busy()
{
	while [ ! -e enough ]; do
		ls / >/dev/null
		sleep "${1:-0}"
	done
}

# counts NAME PROVIDER: prints a count over all CPUs
counts()
{
	tracebuf status -p "${2:-kernel}" | awk -v name="$1" '
		$1 == "CPU" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "all" { print $at[name] }'
}

in_order()
{
	awk -F '[].[]' '{
		if ($2 < second || ($2 == second && $3 < part)) exit bad = 1
		second = $2; part = $3
	}
	END { if (bad) print "line " NR ": " $0; exit bad }' "$1"
}

# Events arrive while they are recorded. In the end all have arrived, in order.
all_of_it()
{
	rm -f enough
	tracebuf start -e 'sched,raw_syscalls,irq' -b 1024 || return
	live >out 2>err &
	reader=$!
	# the reader must keep up, on a slow machine as well
	busy 0.05 &
	until_it has_lines out 3000 || { cat err; wc -l out; touch enough; tracebuf stop; return 1; }
	kill -0 "$reader" || { cat err; return 1; }
	touch enough
	tracebuf stop
	wait "$reader" || { cat err; return 1; }
	tracebuf status
	grep -c 'cpu_id = ' out
	in_order out &&
		[ "$(grep 'cpu_id = ' out | grep -vc tracebuf:lost)" = "$(counts delivered)" ] &&
		[ "$(counts delivered)" = "$(counts recorded)" ] &&
		grep -q 'sched:sched_switch.*comm = "ls"' out
}

lost()
{
	[ "$(counts overwritten own)" -gt 100 ]
}

# With small buffers that are overwritten, events and messages say how many are missing.
losses()
{
	rm -f enough
	tracebuf provider create own || return
	tracebuf start -p own -e 'sched,raw_syscalls' -b 2 -B 64 || return
	busy &
	until_it lost || { tracebuf status -p own; touch enough; tracebuf stop -p own; return 1; }
	live --params 'provider="own"' >out 2>err &
	reader=$!
	until_it has_lines out 200
	touch enough
	tracebuf stop -p own
	wait "$reader" || { cat err; return 1; }
	tracebuf status -p own
	told=$(sed -n 's/.*tracebuf:lost.*overwritten = \([0-9]*\), dropped = \([0-9]*\),.*/\1 \2/p' out |
		awk '{ sum += $1 + $2 } END { print sum + 0 }')
	said=$(sed -n 's/.*WARNING.*discarded \([0-9]*\) event.*/\1/p' err |
		awk '{ sum += $1 } END { print sum + 0 }')
	echo "missing: $told in events, $said in messages, counts: $(counts overwritten own) + $(counts dropped own)"
	in_order out && [ "$told" -gt 0 ] && [ "$told" = "$said" ] &&
		[ "$told" = $(($(counts overwritten own) + $(counts dropped own))) ] &&
		[ "$(grep 'cpu_id = ' out | grep -vc tracebuf:lost)" = "$(counts delivered own)" ]
}

has_records()
{
	[ "$(grep -c 'user:begin.*name = "put"' out)" -ge "$1" ]
}

# Records of programs arrive once each, over several reads of the rings, without doubts.
programs()
{
	tracebuf start -e user -b 64 || return
	live >out 2>err &
	reader=$!
	for times in 1 2 3; do
		"$built/samples/threads" || return
		# these have arrived before the next are written
		until_it has_records $((times * 300)) || { cat err; wc -l out; tracebuf stop; return 1; }
	done
	tracebuf stop
	wait "$reader" || { cat err; return 1; }
	grep -c 'user:' out
	in_order out &&
		[ "$(grep -c 'user:begin.*name = "put"' out)" = 900 ] &&
		[ "$(grep -c 'user:instant.*name = "done"' out)" = 900 ] &&
		[ "$(grep -c 'user:end.*name = "piece"' out)" = 900 ] &&
		! grep -e 'user:lost' -e doubts out
}

plain_words()
{
	live --params "$1" >out 2>err && return 1
	cat err
	grep -q "$2" err
}

# The plugin recognizes a file by itself.
files()
{
	tracebuf record -e sched -d 1 -o t.tbuf || return
	babeltrace2 --plugin-path "$plugin" t.tbuf >out || return
	tracebuf export --format ctf -o ctf t.tbuf && babeltrace2 ctf >said || return
	[ "$(grep -c sched: out)" = "$(tracebuf print t.tbuf | wc -l)" ] && cmp out said
}

if ! command -v babeltrace2 >/dev/null; then
	plan 1
	skip "Babeltrace 2" "babeltrace2 is not installed (scripts/setup does)"
	finish
fi
if [ ! -e "$plugin/babeltrace-plugin-tracebuf.so" ]; then
	plan 1
	skip "Babeltrace 2" "the plugin was not built: libbabeltrace2-dev is not installed"
	finish
fi
plan 7
insmod "$TRACEBUF_KO"
check "nothing recorded yet: it says so" plain_words 'device="/dev/tracebuf"' 'has recorded nothing yet'
check "no such provider: it says so" plain_words 'provider="nobody"' "there is no provider 'nobody'"
check "no such device: it says so" plain_words 'device="/dev/nothing"' '/dev/nothing'
check "all events, in order, while they are recorded" all_of_it
check "what was overwritten, of a provider by name" losses
check "what programs write" programs
check "files, and CTF of them" files
finish
