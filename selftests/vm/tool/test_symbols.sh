#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_symbols.sh - user stacks show the names of functions, inlined ones too: of programs that ran
# before the recording, ended during it, or were forked. A file other than the one that ran gives
# no names. Functions of the kernel in events have names, too. If this breaks, a user optimizes a
# function that never ran, or has to look addresses up.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
own_folder
# each process has its program and its libraries at other addresses
! in_guest || echo 2 >/proc/sys/kernel/randomize_va_space
events=syscalls:sys_enter_getppid:ustack
named=$TRACEBUF_SELFTESTS/named

record()
{
	"$named" 2 forever & old=$!
	# shellcheck disable=SC2016
	tracebuf record -q -e "$events" -o record.tbuf -- sh -c '
		"$1" 3; "$1" 3 fork; cp "$1" gone; ./gone 3; rm gone; sleep 0.1' sh "$named"
	code=$?
	kill "$old"
	[ $code = 0 ] && tracebuf verify record.tbuf
}

# No recorder collects mappings here: snapshot reads them from /proc at its end.
flight()
{
	tracebuf start -m circular -e "$events" || return
	"$named" 2 forever & old=$!
	sleep 0.2
	tracebuf snapshot -o flight.tbuf
	code=$?
	kill "$old"
	tracebuf stop
	[ $code = 0 ] && tracebuf verify flight.tbuf
}

# The program has ended when the recorder reads what it listed.
generating()
{
	tracebuf record -q -e "$events" -o jit.tbuf -- "$named" 1 generated
	code=$?
	rm -f /tmp/perf-*.map
	[ $code = 0 ] && tracebuf verify jit.tbuf
}

# Without stacks
timers()
{
	# a terminal passes on what is written to it in a work item
	tracebuf record -q -e timer,workqueue -o timers.tbuf -- \
		script -qec 'echo; sleep 0.3' /dev/null </dev/null
}

functions()
{
	tracebuf print -e hrtimer_expire_entry timers.tbuf >said || return
	head -n 3 said
	grep -q 'function=hrtimer_wakeup ' said && ! grep -q 'function=0x' said || return
	tracebuf print -e workqueue timers.tbuf >said || return
	head -n 3 said
	grep -q 'function=flush_to_ldisc' said && ! grep -q 'function=0x' said
}

# all FILE COMM: each stack of COMM is the known one
all()
{
	tracebuf flamegraph -q --collapsed --user --comm "$2" "$1" >said
	cat said
	[ "$(grep -c . said)" = 1 ] &&
		grep -Eq "^$2;([^;]*;)*main;serve;checkout;tiny [0-9]*\$" said
}

ended()
{
	tracebuf print --comm named record.tbuf >said
	head said
	grep -q 'tiny (inlined)' said && grep -q 'checkout+0x[0-9a-f]* (.*/named)' said &&
		all record.tbuf named
}

gone()
{
	tracebuf print --comm gone record.tbuf >said 2>remarks
	cat said remarks
	cp said said.gone
	grep -q 'gone+0x[0-9a-f]* (.*/gone)' said && grep -q 'no such file here' remarks
}

# A file is found by its build ID, wherever it is.
debug_dir()
{
	id=$(readelf -n "$named" | sed -n 's/.*Build ID: //p')
	mkdir -p "dir/.build-id/${id%"${id#??}"}" &&
		cp "$named" "dir/.build-id/${id%"${id#??}"}/${id#??}" || return
	tracebuf flamegraph -q --debug-dir dir --collapsed --user --comm gone record.tbuf >said
	cat said
	grep -q 'main;serve;checkout;tiny 3$' said
}

# A file of another build gives no names.
other_build()
{
	path=$(sed -n 's/.*gone+0x[0-9a-f]* (\(.*\))/\1/p' said.gone | head -n 1)
	mkdir -p "other${path%/*}" && cp /bin/true "other$path" || return
	tracebuf print --debug-dir other --comm gone record.tbuf >said 2>remarks
	cat remarks
	grep -q 'gone+0x' said && ! grep -q ' main+' said && grep -q 'of another build' remarks
}

generated()
{
	tracebuf flamegraph -q --collapsed --user --comm named jit.tbuf >said
	cat said
	grep -q 'main;generate;outer of a.js:9;inner of a.js:1 1$' said || return
	tracebuf print --comm named jit.tbuf >said
	cat said
	grep -q 'inner of a.js:1+0xb (' said && grep -q 'outer of a.js:9+0x9 (' said
}

every_form()
{
	tracebuf export -q --format jsonl -o all.jsonl record.tbuf &&
		tracebuf export -q --format fxt -o all.fxt record.tbuf &&
		tracebuf export -q --format perfetto -o all.pftrace record.tbuf &&
		tracebuf export -q --format sqlite -o all.sqlite record.tbuf || return
	grep -q '"user_stack":\["tiny","checkout+0x[0-9a-f]*","serve+0x' all.jsonl &&
		grep -aq 'tiny <- checkout <- serve' all.fxt && grep -aq checkout all.pftrace &&
		sqlite3 all.sqlite "SELECT user_stack FROM extras" | grep -q checkout
}

plan 4 8
if in_guest; then
	insmod "$TRACEBUF_KO" || exit 1
fi
check "record" record
check "a flight recorder" flight
check "record timers" timers
check "a program that generates code" generating
! in_guest || rmmod tracebuf
judge "programs that have ended, forked, or ran before" ended
judge "programs of a flight recorder" all flight.tbuf named
judge "a program without its file has offsets" gone
judge "a file by its build ID" debug_dir
judge "a file of another build gives no names" other_build
judge "functions that a program generated" generated
judge "every export" every_form
judge "functions of timers and work" functions
finish
