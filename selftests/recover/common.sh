#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# common.sh - shared by the scripts of this folder that boot guests: options, and results.
#
# A script sources it with $here set to this folder, and $letters to its options for getopts. It
# reads the options, and sets
#
#   tree      this tree
#   kernels   kernels of -k (default: 6.1 and 6.12)
#   times     -n (default: 1)
#   wanted    words behind the options: only these ways to crash
#   work      a folder of its own, which is removed at the end
#   out       -o (default: $work)
#   tracebuf  the tool
#   number    number of results so far
#   failed    number of failed ones

# variables are set here and read elsewhere
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
# set if scripts/check has built everything
nobuild=${TRACEBUF_VM_NOBUILD:-}
export TRACEBUF_VM_NOBUILD=1
number=0 failed=0

# modules KERNEL: prints the folder with tracebuf.ko and tb_crash.ko
modules()
{
	echo "$tree/build/$(kernel_release "$1")-torture"
}

# build: builds the tool, and the modules for all kernels
build()
{
	[ -z "$nobuild" ] || return 0
	unset MAKEFLAGS MAKELEVEL MFLAGS
	(
		# Other builds in this tree have to wait.
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

# is_wanted WAY: succeeds if the user asked for this way to crash
is_wanted()
{
	case $wanted in
	"  " | *" $1 "*) return 0 ;;
	esac
	return 1
}

# plan WAY...: plans a result for each kernel and wanted way
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

# told NAME CODE LOG...: prints a result; if it failed, the end of the logs. Returns CODE. With
# $TRACEBUF_RECORDINGS, a folder, recordings in $work are kept there
# (selftests/vm/lib/recordings.h).
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
