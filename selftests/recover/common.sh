#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# common.sh - what the scripts of this folder that boot guests have in common: options, and results.
#
# Sourced, with $here set to this folder and $letters to the options, for getopts, of whoever does so:
# reads these, and sets
#
#   tree      this tree
#   kernels   those that -k names (default: 6.1 and 6.12)
#   times     -n (default: 1)
#   wanted    words that follow the options: of several ways to crash, only these
#   work      a folder of its own, which is removed at the end
#   out       -o (default: $work)
#   tracebuf  the tool
#   number    results so far
#   failed    of these

# others set the one and read the other
# shellcheck disable=SC2034,SC2154

tree=${here%/selftests/recover}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"

kernels='' times=1 out=''
while getopts "$letters" opt; do
	case $opt in
	k) kernels="$kernels $OPTARG" ;;
	n) times=$OPTARG ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
wanted=" $* "
: "${kernels:=6.1 6.12}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: "${out:=$work}"
mkdir -p "$out" || exit 1
tracebuf=$tree/build/user/tracebuf
# set if all is built already, as by scripts/check
nobuild=${TRACEBUF_VM_NOBUILD:-}
export TRACEBUF_VM_NOBUILD=1
number=0 failed=0

# The folder with tracebuf.ko and tb_crash.ko for kernel $1
modules()
{
	echo "$tree/build/$(kernel_release "$1")-torture"
}

# The tool, and these modules for all kernels
build()
{
	[ -z "$nobuild" ] || return 0
	unset MAKEFLAGS MAKELEVEL MFLAGS
	(
		# Others may build in this tree at the same time: they wait.
		exec 8<"$tree"
		flock 8
		make -s -C "$tree/userspace" tool || exit
		for k in $kernels; do
			make -s -C "$tree" torture KDIR="$(kernel_headers "$k")" \
				RELEASE="$(kernel_release "$k")" || exit
		done
	) >"$out/build.log" 2>&1 || {
		tail -n 40 "$out/build.log"
		echo "Bail out! cannot build"
		exit 1
	}
}

# is_wanted WAY: is this way to crash to be tried?
is_wanted()
{
	case $wanted in
	"  " | *" $1 "*) return 0 ;;
	esac
	return 1
}

# plan WAY...: a result for each kernel and way that is wanted
plan()
{
	plan_each=0
	for plan_way; do
		! is_wanted "$plan_way" || plan_each=$((plan_each + times))
	done
	[ "$plan_each" -gt 0 ] || { echo "Bail out! the ways are: $*; not$wanted"; exit 2; }
	# shellcheck disable=SC2086
	set -- $kernels
	echo "KTAP version 1"
	echo "1..$(($# * plan_each))"
}

# told NAME CODE LOG...: a result; the end of the logs says why it is none.  Returns CODE. With
# $TRACEBUF_RECORDINGS, a folder, recordings in $work are kept there (selftests/vm/lib/recordings.h).
told()
{
	told_name=$1 told_code=$2
	[ -z "${TRACEBUF_RECORDINGS:-}" ] || "$tree/build/selftests/keep" "$work"
	shift 2
	number=$((number + 1))
	if [ "$told_code" = 0 ]; then
		echo "ok $number $told_name"
	else
		failed=$((failed + 1))
		cat "$@" 2>/dev/null | tail -n 80 | sed 's/^/# /'
		echo "not ok $number $told_name"
	fi
	return "$told_code"
}
