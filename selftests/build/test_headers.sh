#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_headers.sh - the module builds whatever headers of tracepoints the kernel has. It leaves out
# what does not compile, and reports that. If this fails, a user with a new kernel cannot build the
# module, or misses events without a word.
#
#	test_headers.sh [KERNEL]	(6.12)
#
# It builds against a copy of the kernel's headers (mostly links) with few headers of tracepoints,
# and adds some that no module can use.

# check calls the functions.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
tree=${here%/selftests/build}
# shellcheck source=scripts/lib/cache.sh
. "$tree/scripts/lib/cache.sh"
# shellcheck source=selftests/vm/lib/ktap.sh
. "$tree/selftests/vm/lib/ktap.sh"
kernel=${1:-6.12}
kdir=$(kernel_headers "$kernel") || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp" "$output"' EXIT
events=$tmp/common/include/trace/events

copy_headers()
{
	common=$(sed -n 's,^include \(/.*\)/Makefile$,\1,p' "$kdir/Makefile")
	cp -rs "$common" "$tmp/common" && cp -rsL "$(realpath "$kdir")" "$tmp/kdir" || return
	rm "$tmp/kdir/Makefile"
	sed "s,^include .*/Makefile,include $tmp/common/Makefile," "$kdir/Makefile" >"$tmp/kdir/Makefile"
	# skip the headers of the core, and those that other headers include
	for h in "$events"/*.h; do
		case ${h##*/} in
		sched.h | irq.h | syscalls.h | task.h | timer.h | workqueue.h | power.h | cgroup.h | \
		signal.h | skb.h | mmflags.h) continue ;;
		esac
		grep -rqsF "trace/events/${h##*/}" "$common/include/linux" "$common/include/net" \
			"$common/arch/x86/include" || rm "$h"
	done
	rm -f "$tmp"/common/arch/x86/include/asm/trace/*.h "$tmp/common/include/ras/ras_event.h"
}

# Print an event of header $1 with name $2, prototype $3, argument $4 and assignment $5.
event()
{
	cat <<END
TRACE_EVENT($2, TP_PROTO($3), TP_ARGS($4), TP_STRUCT__entry(__field(int, value)),
	TP_fast_assign(__entry->value = $5;), TP_printk("%d", __entry->value));
END
}

# Write header $1 with the text of standard input.
header()
{
	cat >"$events/$1.h" <<END
#undef TRACE_SYSTEM
#define TRACE_SYSTEM $1
#if !defined(_TRACE_$1_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_$1_H
#include <linux/tracepoint.h>
$(cat)
#endif
#include <trace/define_trace.h>
END
}

# Add headers that an unknown kernel may have.
odd_headers()
{
	event z good "int a" a "a" | header zz_fine
	echo 'this is { no C ((' >"$events/zz_garbage.h"
	{
		echo '#include "../../../fs/somewhere/private.h"'
		event z zz_type "some_type_t a" a "a"
		event z zz_kept "int a" a "a"
	} | header zz_private
	event z zz_deep "struct zz_secret *a" a "a->value" | header zz_deep
	event z zz_call "int a" a "zz_nowhere(a)" | header zz_call
	{
		echo 'int zz_not_exported(int a);'
		event z zz_link "int a" a "zz_not_exported(a)"
	} | header zz_link
	echo '#error not for you' | header zz_error
	echo 'TRACE_EVENT(zz_open, TP_PROTO(int a), TP_ARGS(a),' >"$events/zz_open.h"
	echo '#include <linux/no_such_file.h>' | header zz_include
}

build()
{
	make -s -C "$tree" guest-module KDIR="$tmp/kdir" OUT="$tmp/out" RELEASE=odd &&
		[ -e "$tmp/out/tracebuf.ko" ] && [ -e "$tmp/out/tracebuf_events.ko" ]
}

# Header $1 has $2 events; the modules capture $3 of them, $4 with only their arguments.
has()
{
	grep "	$1" "$tmp/out/coverage.txt"
	grep -qxF "$(printf '%s\ttrace/events/%s.h\t%s\t%s\t%s' "$1" "$1" "$2" "$3" "$4")" \
		"$tmp/out/coverage.txt"
}

# The report says that header $1 lost an event for the reason $2.
says()
{
	grep "^-	$1	" "$tmp/out/coverage.txt" | grep -F "$2"
}

# Does make name the event?
listed()
{
	make -C "$tree" guest-module KDIR="$tmp/kdir" OUT="$tmp/out" RELEASE=odd >"$tmp/log" 2>&1
	cat "$tmp/log"
	grep "^tracebuf: left out:" "$tmp/log" | grep -q "$1"
}

documented()
{
	"$tree/scripts/coverage" --check
}

# Other tracers must not record the recorder, and it must not call them: no object of the modules
# calls __fentry__ or _mcount.
untraced()
{
	find "$tmp/out/module" -name '*.o' >"$tmp/objects"
	grep -q /ring/claim.o "$tmp/objects" && grep -q /units/zz_fine.o "$tmp/objects" || return
	while read -r o; do
		! nm "$o" | grep -qw -e __fentry__ -e _mcount || echo "traced: $o"
	done <"$tmp/objects" >"$tmp/traced"
	cat "$tmp/traced"
	[ ! -s "$tmp/traced" ]
}

# Compile as for a big-endian processor.
big_endian()
{
	make -s -C "$tree" guest-module KDIR="$tmp/kdir" OUT="$tmp/big" RELEASE=odd HEADERS=core \
		KFLAGS="KCFLAGS=-D__BIG_ENDIAN=4321" >"$tmp/log" 2>&1 && return 1
	grep -m 1 "tracebuf needs a little-endian kernel" "$tmp/log"
}

copy_headers || exit 1
odd_headers
plan 12
check "the modules build with headers that do not compile" build
check "an event that compiles is captured" has zz_fine 1 1 0
check "... beside an event that does not" has zz_private 2 1 0
check "an event that reads a private structure keeps only its arguments" has zz_deep 1 1 1
check "... so is an event that calls an unknown function" has zz_call 1 1 1
check "... and one that calls a function that is not exported" has zz_link 1 1 1
check "the report names the private structure" says zz_deep "struct zz_secret is private"
check "the report names the function" says zz_link "zz_not_exported() is not for modules"
check "make lists the events that it leaves out" listed "zz_private:zz_type"
check "no object calls another tracer" untraced
check "the modules refuse to build for a big-endian kernel" big_endian
check "docs/coverage.md lists the captured events" documented
finish
