#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh - tortures the recorder in guests, see torture.c. Prints KTAP: a test for each case, and
# one for each rare path of the ring, which passes if the path was taken. If this fails, recording
# loses or tears events in some contexts.
#
#   run.sh [--full] [-k KERNEL]... [-s SEED] [-o DIR]
#   run.sh --flips N [-k KERNEL]... [-s SEED] [-o DIR]
#
#   --full     all cases, on 1, 2 and 4 CPUs; else some, most on the last kernel
#   --flips N  instead: flip N bits in each kind of the recorder's memory (flips.c)
#   -k KERNEL  one of the cache's (default: 6.1 and 6.12)
#   -s SEED    seed of all random numbers (default: 1)
#   -o DIR     where the guests' output is kept
#
# The guests count instructions: only then can interrupts come between any two of them. With --full
# another guest does not count, but is single-stepped, and gets NMIs from outside as well.

set -u

here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/torture}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"

full='' flips='' kernels='' seed=1 out='' program=torture
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=yes ;;
	--flips) flips=$2 program=flips; shift ;;
	-k) kernels="$kernels $2"; shift ;;
	-s) seed=$2; shift ;;
	-o) out=$2; shift ;;
	*) echo "run.sh: unknown argument '$1'" >&2; exit 2 ;;
	esac
	shift
done
: "${kernels:=6.1 6.12}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: "${out:=$work/out}"
mkdir -p "$out" || exit 1

number=0 failed=0
# result CODE NAME
result()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $2"
	else
		failed=$((failed + 1))
		echo "not ok $number $2"
	fi
}

# ---- guests ---------------------------------------------------------------

unset MAKEFLAGS MAKELEVEL MFLAGS
build()
{
	# scripts/check has built all
	[ -z "${TRACEBUF_VM_NOBUILD:-}" ] || return 0
	# Other builds in this tree have to wait.
	exec 8<"$tree"
	flock 8
	make -s -C "$here" || return
	for k in $kernels; do
		make -s -C "$tree" torture KDIR="$(kernel_headers "$k")" \
			RELEASE="$(kernel_release "$k")" || return
	done
	exec 8<&-
}

# guest NAME KERNEL CPUS "VM-OPTION..." ARGUMENT...: its output goes to $out/NAME. With
# $TRACEBUF_RECORDINGS, a folder, the recordings are kept there (selftests/vm/lib/recordings.h).
guest()
{
	name=$1 kernel=$2 cpus=$3 options=$4
	shift 4
	# shellcheck disable=SC2086
	TRACEBUF_VM_NOBUILD=1 "$tree/scripts/vm" $options -k "$kernel" -c "$cpus" -t 3600 \
		-o "$work/$name" -- env ${TRACEBUF_RECORDINGS:+TRACEBUF_RECORDINGS=/out} \
		"$here/guest.sh" "$tree/build/$(kernel_release "$kernel")-torture" \
		"$program" -s "$seed" "$@" >"$out/$name" 2>&1
	echo "# exit $?" >>"$out/$name"
	[ -z "${TRACEBUF_RECORDINGS:-}" ] || "$tree/build/selftests/keep" "$work/$name"
	names="$names $name"
	report "$name"
}

# guest_stepped NAME KERNEL CPUS: the same, single-stepped.
guest_stepped()
{
	rm -f "$out/$1"
	"$here/singlestep.py" "$work/monitor" "$out/$1" &
	stepper=$!
	guest "$1" "$2" "$3" "-M $work/monitor" -n 6000 streaming-overwrite-64x2 streaming-drop-64x2
	kill $stepper 2>/dev/null
	wait $stepper 2>/dev/null
}

# effort KERNEL: prints options. Kernels with many checks are slow: they get less to do, and more
# time between interrupts.
effort()
{
	case $1 in
	*-kasan | *-kcsan) printf '%s' '-n 15000 -g 3000000' ;;
	*) if [ -n "$full" ]; then printf '%s' '-n 80000'; else printf '%s' '-n 40000'; fi ;;
	esac
}

# counting KERNEL CPUS: prints the option for counting instructions.
counting()
{
	case $1-$2 in
	# 6.1 does not boot with several CPUs then
	6.1-[!1]) ;;
	*) echo -i ;;
	esac
}

# report NAME: the results of a guest become ours.
report()
{
	name=$1
	sed -n 's/^# /# /p' "$out/$name" | grep -vE '^# (path|exit) '
	while read -r line; do
		case $line in
		"ok "*) result 0 "$name: ${line#ok * }" ;;
		"not ok "*) result 1 "$name: ${line#not ok * }" ;;
		esac
	done <"$out/$name"
	planned=$(sed -n 's/^1\.\.//p' "$out/$name")
	ran=$(grep -cE '^(not )?ok ' "$out/$name")
	code=$(sed -n 's/^# exit //p' "$out/$name")
	# 1: cases failed, which are reported above
	if [ "${planned:-none}" != "$ran" ] || [ "$code" -gt 1 ]; then
		tail -n 40 "$out/$name" | sed 's/^/# /'
		code=2
	fi
	[ "$code" -le 1 ]
	result $? "$name: ran to its end"
}

# ---- the run --------------------------------------------------------------

echo "KTAP version 1"
echo "# seed $seed"
if ! build >"$out/build" 2>&1; then
	sed 's/^/# /' "$out/build"
	result 1 "build"
	echo "1..$number"
	exit 1
fi
names=''
if [ -n "$flips" ]; then
	for k in $kernels; do
		guest "$k-flips" "$k" 2 '' -n "$flips"
	done
	echo "1..$number"
	[ $failed = 0 ]
	exit
fi
short="streaming-overwrite-64x2 streaming-overwrite-64x32-hotplug streaming-drop-64x2
	streaming-drop-64x2-restarts circular-64x32"
for k in $kernels; do
	last=$k
done
for k in $kernels; do
	if [ -n "$full" ]; then
		for c in 1 2 4; do
			# shellcheck disable=SC2046
			guest "$k-$c" "$k" "$c" "$(counting "$k" "$c")" $(effort "$k")
		done
		guest_stepped "$k-stepped" "$k" 2
	elif [ "$k" = "$last" ]; then
		# shellcheck disable=SC2046,SC2086
		guest "$k-2" "$k" 2 "$(counting "$k" 2)" $(effort "$k") $short
	else
		# shellcheck disable=SC2046
		guest "$k-1" "$k" 1 "$(counting "$k" 1)" $(effort "$k") streaming-overwrite-64x2
	fi
done

# The sums over all guests.
for name in $names; do
	sed -n 's/^# path //p' "$out/$name"
done | awk '{ n[$1] += $2; if (!($1 in at)) { at[$1] = ++i; path[i] = $1 } }
	END { for (j = 1; j <= i; j++) print path[j], n[path[j]] }' >"$work/paths"
while read -r path count; do
	echo "# path $path: $count times"
	case $full$path in
	# For these three another CPU must act within the few instructions for which one is
	# interrupted (release a block, complete one, look for one sixteen times). Guests run one
	# CPU at a time, and switch some ten thousand times in a run, so a run need not take these
	# paths. The explorer of selftests/unit takes them all.
	*claim-renew | *acquire-rescan | *tell-later) continue ;;
	# a reader would have to release the later of two blocks and die: this one does not
	*tell-same) continue ;;
	# too seldom for a short run: a block must begin before and continue after one moment in 4.3
	# seconds, and a fast host may be done earlier
	help-leave | claim-raced | open-drops | acquire-lost | acquire-earlier | time) continue ;;
	esac
	[ "$count" -gt 0 ]
	result $? "path taken: $path"
done <"$work/paths"
[ -s "$work/paths" ]
result $? "paths were counted"
echo "1..$number"
[ "$failed" = 0 ]
