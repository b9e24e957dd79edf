#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh - runs the tests of the folders beside this one in a guest, as root: first the tests that
# load the module themselves, then those that expect it loaded.
#
#   run.sh [-r] [-o DIR] [TEST...]
#
#   -r  keep the recordings that tests make in DIR/recordings/TEST (recordings.h), and leave
#       the second half of tests that have one to the host, in DIR/left/TEST (ktap.sh)
#
# Each test's output, KTAP, goes to DIR/TEST.ktap (default /out) and ends with a line "# exit N".
# The results of leaks.sh, after the module was unloaded, go to DIR/leaks.ktap. Exits 1 if a test
# failed (its file says which), 3 if the module cannot be loaded or unloaded.

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
programs=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}
export TRACEBUF_SELFTESTS="$programs"
out=/out recordings=
while getopts o:r opt; do
	case $opt in
	o) out=$OPTARG ;;
	r) recordings=yes ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
: "${TRACEBUF_KO:=tracebuf.ko}"
export TRACEBUF_KO

if [ $# = 0 ]; then
	for t in "$here"/../*/test_*.sh "$here"/../*/test_*.c; do
		t=${t##*/}
		set -- "$@" "${t%.*}"
	done
fi

# script TEST: print the file of a test in shell, nothing for one in C
script()
{
	for file in "$here"/../*/"$1.sh"; do
		[ ! -e "$file" ] || echo "$file"
	done
}

status=0
loaded()
{
	[ -d /sys/module/tracebuf ]
}

# Loads also the module with the other events, if there is one (make HEADERS=core has none): tests
# must not depend on it.
load()
{
	events=${TRACEBUF_KO%/*}/tracebuf_events.ko
	loaded || insmod "$TRACEBUF_KO" || return
	[ -d /sys/module/tracebuf_events ] || [ ! -e "$events" ] || insmod "$events"
}

unload()
{
	[ ! -d /sys/module/tracebuf_events ] || rmmod tracebuf_events || return
	rmmod tracebuf
}

# run NAME COMMAND...: runs a test and keeps its output.
run()
{
	name=$1
	shift
	if [ -n "$recordings" ]; then
		# tests also record as other users
		export TRACEBUF_RECORDINGS="$out/recordings/$name"
		mkdir -p -m 1777 "$TRACEBUF_RECORDINGS"
		unset TRACEBUF_LEAVE
		if grep -qs '^[[:space:]]*judge ' "$(script "$name")"; then
			export TRACEBUF_LEAVE="$out/left/$name"
			mkdir -p "$TRACEBUF_LEAVE"
		fi
	fi
	"$@" >"$out/$name.ktap" 2>&1 </dev/null
	code=$?
	echo "# exit $code" >>"$out/$name.ktap"
	[ $code = 0 ] || status=1
	echo "$name: exit $code"
}

sh "$here/leaks.sh" begin
for t; do
	[ -n "$(script "$t")" ] || continue
	! loaded || unload || exit 3
	run "$t" sh "$(script "$t")"
done
! loaded || unload || exit 3
for t; do
	[ -z "$(script "$t")" ] || continue
	load || exit 3
	run "$t" "$programs/$t"
done
! loaded || sh "$here/leaks.sh" symbols
# The tests must not keep the module in use.
if loaded && ! unload; then
	echo "run.sh: the module cannot be unloaded after the tests" >&2
	exit 3
fi
run leaks sh "$here/leaks.sh" end
exit $status
