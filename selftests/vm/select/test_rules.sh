#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Rules of the tool keep out exactly the events that the user named: filters, chosen threads and
# processes, system calls by name, excluded events, sampling and rates; stacks and counters come
# with the right events. If this fails, a rule keeps out events that its user wanted, or does not
# say so.

# Functions are called by way of check.
# shellcheck disable=SC2317,SC2086
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"

work=${TRACEBUF_SELFTESTS:-${here%/selftests/vm/*}/build/selftests}/workload
own_folder
n=500
# name=value, whatever the print format of the event
fields=''
tracebuf print -h | grep -q -e --fields && fields=--fields

# between LEAST MOST PATTERN FILE: so many lines of FILE have PATTERN
between()
{
	found=$(grep -c -E -e "$3" "$4")
	if [ "$found" -lt "$1" ] || [ "$found" -gt "$2" ]; then
		echo "$found lines, not $1 to $2: $3"
		return 1
	fi
}

running()
{
	tracebuf status "$@" | grep -q running
}

# text FILE: prints FILE into the file text; the trace has no errors
text()
{
	tracebuf verify -q "$1" || return
	tracebuf print $fields "$1" >text
}

# ---- filters ----------------------------------------------------------------

# numbers FILE: prints the numbers of the workload's signals
numbers()
{
	tracebuf print $fields -e signal_generate "$1" |
		sed -n 's/.*signal_generate:.* errno=\(-\{0,1\}[0-9]*\).* comm="\{0,1\}workload.*/\1/p'
}

# start_part FILTER CONDITION: record what FILTER lets through, with one more provider.  same_as
# selects the same numbers by CONDITION, in awk.
start_part()
{
	parts=$((parts + 1))
	echo "$2" >condition.$parts
	status 0 tracebuf provider create part$parts -b 32 &&
		status 0 tracebuf start -p part$parts -e signal_generate -f "$1"
}

# same_as PART: the provider has the numbers of the file all for which its condition is true
same_as()
{
	status 0 tracebuf stop -p part$1 || return
	# a filter may let nothing through
	rm -f part.tbuf
	tracebuf save -p part$1 -o part.tbuf >said 2>&1
	[ -e part.tbuf ] && tracebuf verify part.tbuf || return
	awk "{ errno = \$1 } $(cat condition.$1)" all >wanted
	numbers part.tbuf >got
	echo "$(wc -l <got) of $(wc -l <all): $(cat condition.$1)"
	cmp wanted got
}

filters_as_afterwards()
{
	all_filters
	code=$?
	for part in whole $(seq -f part%g $parts); do
		[ $code = 0 ] || tracebuf stop -p $part
		tracebuf provider destroy $part
	done
	return $code
}

all_filters()
{
	parts=0
	status 0 tracebuf provider create whole -b 64 &&
		status 0 tracebuf start -p whole -e signal_generate || return
	start_part 'errno < 100' 'errno < 100' &&
		start_part 'errno >= 100 && errno < 200 || errno == 300' \
			'errno >= 100 && errno < 200 || errno == 300' &&
		start_part '!(errno & 1) && sig == 34' 'errno % 2 == 0' &&
		start_part 'comm ~ "work*" && COMM == "workload" && errno > 0x1ea' 'errno > 490' &&
		start_part 'errno == -1 || comm !~ "[a-w]*"' '0' &&
		start_part 'errno != -1 && (cpu == 0 && context == task || errno < 0)' '1' &&
		start_part '!errno || errno >= 499' 'errno == 0 || errno >= 499' || return
	"$work" $n
	status 0 tracebuf stop -p whole && status 0 tracebuf save -p whole -o whole.tbuf &&
		tracebuf verify whole.tbuf || return
	numbers whole.tbuf >all
	lines $n '' all || return
	for part in $(seq $parts); do
		same_as $part || return
	done
}

kept_out_is_told()
{
	status 0 tracebuf record -o told.tbuf -e signal_generate -f 'errno < 10 && comm == "workload"' \
		-- "$work" $n && says "not recorded, as asked for: .* by filters" || return
	status 0 tracebuf verify told.tbuf && says exact &&
		says "not recorded, as asked for: signal:signal_generate: .* by filters" || return
	status 0 tracebuf status && says "kept out .* by filters" || return
	numbers told.tbuf >got
	seq 0 9 | cmp - got
}

# The filter of one recording is not in effect in the next.
nothing_lingers()
{
	status 0 tracebuf record -q -o one.tbuf -e signal_generate -f 'errno < 0' -- "$work" $n &&
		status 0 tracebuf record -q -o two.tbuf -e signal_generate -- "$work" $n || return
	numbers one.tbuf >got
	lines 0 '' got || return
	numbers two.tbuf >got
	lines $n '' got
}

# During a recording: a filter, another one, none.
enable_with_filter()
{
	status 0 tracebuf start -e task -m streaming -b 64 || return
	for filter in 'errno < 10' 'errno >= 490'; do
		status 0 tracebuf enable signal_generate -f "comm == 'workload' && $filter" || return
		"$work" $n
	done
	status 0 tracebuf disable signal_generate || return
	"$work" $n
	status 0 tracebuf enable signal_generate || return
	"$work" 20
	status 0 tracebuf stop && status 0 tracebuf save -o enabled.tbuf &&
		status 0 tracebuf verify enabled.tbuf || return
	numbers enabled.tbuf >got
	{ seq 0 9; seq 490 499; seq 0 19; } | cmp - got
}

wrong_filters()
{
	status 1 tracebuf record -e sched_switch -f 'prev_pri < 100' -d 1 &&
		says "column 1: .*has no field 'prev_pri'; did you mean prev_prio" || return
	status 1 tracebuf record -e sched_switch -f 'prev_prio < "x"' -d 1 && says "column 13" || return
	status 1 tracebuf record -e 'sched_*' -f 'prev_prio < 100' -d 1 && says "has no field 'prev_prio'" || return
	status 1 tracebuf record -e sched_switch -f 'prev_prio <' -d 1 && says "value is missing" || return
	# the refused commands changed nothing
	status 0 tracebuf enable sched_switch || return
	status 0 tracebuf disable all && status 0 tracebuf enable sched_switch || return
	status 1 tracebuf enable signal_generate -f 'nothing == 1' || return
	# counts of the recording before stay, too; enabled events are lines that end with the name
	status 0 tracebuf status --events && ! says 'signal_generate$' &&
		says 'sched_switch$' || return
	# a filter after several events is for all of them
	status 1 tracebuf enable sched_switch signal_generate -f 'sig == 5' &&
		says "sched:sched_switch has no field 'sig'" || return
	status 1 tracebuf start -e signal_generate --pid 999999 && says "no process 999999" &&
		status 0 tracebuf status --events && ! says 'signal_generate$' || return
	status 2 tracebuf disable '!user:x' || return
	# a typo costs no recording that has stopped
	status 0 tracebuf start -m circular -e signal_generate && "$work" 5 &&
		status 0 tracebuf stop || return
	status 1 tracebuf start -m streaming -e signal_genarate || return
	status 1 tracebuf record -e signal_genarate -d 1 || return
	status 0 tracebuf save -o kept.tbuf && numbers kept.tbuf >got && lines 5 '' got || return
	status 0 tracebuf disable all
}

# ---- threads and processes ----------------------------------------------------

# Another process makes the same events meanwhile.
noise()
{
	"$work" -f 50 &
	noise=$!
}

quiet()
{
	kill $noise
	wait $noise 2>/dev/null
	true
}

# only_before_exec NAME: threads called tracebuf in the file text became NAME later: none is the
# recorder
only_before_exec()
{
	sed -n 's/^ *tracebuf-\([0-9]*\) .*/\1/p' text | sort -u >before
	sed -n "s/^ *$1-\\([0-9]*\\) .*/\\1/p" text | sort -u >after
	comm -23 before after | grep . && return 1
	return 0
}

follow()
{
	noise
	status 0 tracebuf record -o follow.tbuf -e raw_syscalls,task --follow -b 64 -- \
		sh -c "'$work' 100; '$work' 100 & wait"
	code=$?
	quiet
	[ $code = 0 ] && says "of other threads" || return
	text follow.tbuf && lines 200 'sys_enter: id=600' text && only_before_exec sh || return
	status 0 tracebuf verify follow.tbuf && says "of other threads"
}

# Starts a shell that waits for a command, and then for permission to end; its pid is in $pid.
waiting_shell()
{
	rm -f gate leave
	mkfifo gate leave
	sh -c "read line <gate; eval \"\$line\"; read line <leave" &
	pid=$!
}

# record_pid OPTION...: records a process, and with --children its child; leaves the events in the
# file text
record_pid()
{
	waiting_shell
	tracebuf record -q -o pid.tbuf -e raw_syscalls -b 64 "$@" --pid $pid >said 2>&1 &
	recorder=$!
	until_it running || return
	echo "kill -0 \$\$; '$work' 100" >gate
	# waits until the command is done
	echo >leave
	wait $pid
	kill $recorder
	wait $recorder
	cat said
	text pid.tbuf || return
	grep -q 'sys_enter: ' text || { echo "nothing was recorded"; return 1; }
}

process_alone()
{
	record_pid || return
	lines 0 'sys_(enter|exit): id=600\>' text && grep -q -e "-$pid " text
}

process_and_children()
{
	record_pid --children || return
	lines 100 'sys_enter: id=600' text && grep -q -e "-$pid " text
}

# On a busy machine half a second may be too short for the thread to do anything.
heard()
{
	status 0 tracebuf record -q -o tid.tbuf -e raw_syscalls -b 64 --tid $noise -d 500ms &&
		text tid.tbuf && grep -q 'sys_enter: id=600' text
}

thread()
{
	noise
	until_it heard
	code=$?
	quiet
	[ $code = 0 ] && lines 0 'sys_(enter|exit)' "$(grep -v -e "-$noise " text >rest; echo rest)"
}

without_a_process()
{
	noise
	status 0 tracebuf record -q -o without.tbuf -e raw_syscalls -b 64 --exclude-pid $noise -- "$work" 100
	code=$?
	quiet
	[ $code = 0 ] || return
	text without.tbuf && lines 100 'sys_enter: id=600' text
}

without_itself()
{
	status 0 tracebuf record -q -o with.tbuf -e raw_syscalls,sched_switch -- "$work" 100 || return
	text with.tbuf && grep -q 'tracebuf-[0-9]* .*sys_exit' text || return
	status 0 tracebuf record -q -o without.tbuf -e raw_syscalls --exclude-self -- "$work" 100 || return
	text without.tbuf && lines 100 'sys_enter: id=600' text && only_before_exec workload
}

no_such_process()
{
	status 1 tracebuf record -e irq --pid 4000000 -d 1 && says "no process 4000000" || return
	status 2 tracebuf record -e irq --pid 1 --tid 2 -d 1 && says "exclude each other" || return
	status 2 tracebuf record -e irq --follow -d 1 && says "command"
}

# ---- events -------------------------------------------------------------------

system_calls()
{
	read=$(call_number read) openat=$(call_number openat) close=$(call_number close)
	status 0 tracebuf record -q -o calls.tbuf -e syscalls:openat,close -b 64 --follow -- cat /etc/passwd || return
	text calls.tbuf || return
	grep -q "sys_enter: id=$openat\\>" text && grep -q "sys_exit: id=$close\\>" text &&
		lines 0 'sys_(enter|exit): ' "$(grep -v -E "id=($openat|$close)\\>" text >rest; echo rest)" || return
	# patterns and forms
	status 0 tracebuf record -q -o calls.tbuf -e 'syscalls:sys_enter_*at*,close:wide' --follow -- cat /etc/passwd || return
	text calls.tbuf && grep -q "sys_enter: id=$openat\\>" text && lines 0 "sys_exit: id=$openat\\>" text || return
	status 0 tracebuf record -q -o calls.tbuf -e 'raw_syscalls,!syscalls:read,openat' --follow -- cat /etc/passwd || return
	text calls.tbuf && lines 0 ": id=($read|$openat)\\>" text && grep -q ": id=$close\\>" text || return
	status 1 tracebuf record -e syscalls:close -f 'id > 0' -e syscalls:dup3 -d 1 &&
		says "choose all system calls with one -e" || return
	status 2 tracebuf record -e syscalls:opneat -d 1 && says "did you mean openat"
}

left_out()
{
	status 0 tracebuf start -e 'sched:*,!sched_switch,!sched_wak*' && status 0 tracebuf status --events || return
	says sched:sched_migrate_task && ! says sched:sched_switch && ! says sched:sched_waking || return
	status 0 tracebuf stop && status 0 tracebuf start -e '!sched,!raw_syscalls' &&
		status 0 tracebuf status --events && says irq: && ! says ' sched:' && ! says raw_syscalls: || return
	status 0 tracebuf stop
}

sampling()
{
	status 0 tracebuf record -o sample.tbuf -e signal_generate:1/10 -f 'comm == "workload"' -- "$work" $n &&
		says "by sampling" || return
	numbers sample.tbuf >got
	lines 50 '' got || return
	# one in ten, evenly
	awk 'NR > 1 && $1 != last + 10 { exit 1 } { last = $1 }' got
}

rate()
{
	begin=$(date +%s)
	status 0 tracebuf record -o rate.tbuf -e signal_generate:20/s -- "$work" 5000 &&
		says "beyond the rate" || return
	took=$(($(date +%s) - begin + 2))
	numbers rate.tbuf >got
	between 20 $((20 * took)) '' got
}

# ---- stacks and counters ------------------------------------------------------

stacks()
{
	status 0 tracebuf record -q -o stack.tbuf -e sched_switch:stack,signal_generate:stack:ustack -b 64 \
		-- "$work" 50 || return
	status 0 tracebuf verify stack.tbuf && says "^notes"
}

stacks_shown()
{
	text stack.tbuf || return
	# every switch comes from the scheduler
	switches=$(grep -c 'sched:sched_switch:' text)
	between "$switches" $((switches * 64)) '^	 *[0-9a-f]{16} .*\+0x' text &&
		grep -q '^	ffff.* \(__\)\{0,1\}schedule+0x' text || return
	# nearly all addresses have names
	unknown=$(grep -c '^	ffff.*\[unknown\]' text)
	known=$(grep -c '^	ffff.*+0x' text)
	echo "$known addresses with names, $unknown without"
	[ $((unknown * 20)) -le "$known" ] || return
	grep -A 64 'signal_generate:.*workload' text | grep -Eq '\((user|/[^)]*)\)$'
}

stacks_elsewhere()
{
	status 0 tracebuf start -m circular -e sched_switch:stack -b 16 || return
	"$work" 100
	status 0 tracebuf snapshot -o snap.tbuf && status 0 tracebuf save -s -o saved.tbuf || return
	tracebuf record -q -o - -e sched_switch:stack -d 200ms | cat >piped.tbuf
}

# Snapshots, saved files and pipes have the symbols, too.
stacks_elsewhere_shown()
{
	for f in snap.tbuf saved.tbuf piped.tbuf; do
		text $f && grep -q '^	ffff.*schedule+0x' text || return
	done
}

counters()
{
	status 0 tracebuf record -q -o count.tbuf -e signal_generate:counters=page-faults+context-switches \
		-- "$work" 50 || return
	text count.tbuf && between 50 100 '^	counter\{page-faults=[0-9]+, context-switches=[0-9]+\}$' text || return
	status 2 tracebuf record -e irq:counters=cycels -d 1 && says "did you mean cycles"
}

# A guest without hardware counters.
no_counter()
{
	status 1 tracebuf record -e sched_switch:counters=page-faults+cycles -d 1 &&
		says "no counter 'cycles'" || return
	status 0 tracebuf status && says "events *0 of"
}

# ---- triggers ---------------------------------------------------------------

trigger()
{
	status 0 tracebuf start -e signal_generate -m circular -b 8 -B 64 || return
	tracebuf arm --on signal_generate -f 'errno == 277 && comm == "workload"' --post 30 -o armed.tbuf >waited 2>&1 &
	pid=$!
	until_it grep -q armed waited || return
	"$work" 200
	[ ! -e armed.tbuf ] || { echo "too early"; return 1; }
	"$work" 400
	until_it tracebuf verify armed.tbuf || return
	wait $pid || { cat waited; return 1; }
	status 0 tracebuf stop || return
	text armed.tbuf || return
	# the mark and the event are of the same moment
	grep -B 1 -A 1 'trigger: signal:signal_generate' text | grep -q 'errno=277'
}

# ---- illegal programs ----------------------------------------------------------

malformed()
{
	cat >malformed.py <<'END'
import ctypes, errno, fcntl, os, struct, sys

def command(direction, number, size):
    return direction << 30 | size << 16 | 0xBB << 8 | number

RULE, EVENT = command(3, 16, 96), command(3, 6, 168)
device = os.open("/dev/tracebuf", os.O_RDWR)
index = 0
while True:
    info = bytearray(struct.pack("<I164x", index))
    fcntl.ioctl(device, EVENT, info)
    if info[88:152].split(b"\0")[0] == b"signal_generate":
        break
    index += 1

PASS, REJECT = 0xffff, 0xfffe

def test(op=1, source=1, size=0, flags=0, offset=0, length=0, bit=0, bits=0, yes=PASS, no=REJECT,
         data=0, data_bytes=0, value=0):
    return struct.pack("<BBBBHHBBHHHH6xQ", op, source, size, flags, offset, length, bit, bits,
                       yes, no, data, data_bytes, value)

def rule(tests, data=b"", word=0, flags=0, count=None, reserved=0):
    held = ctypes.create_string_buffer(b"".join(tests), 32 * len(tests) + 1)
    more = ctypes.create_string_buffer(data, len(data) + 1)
    whole = bytearray(struct.pack("<IIIIQQIIQQII32x", index, word, flags, 0, 0, ctypes.addressof(held),
                                  len(tests) if count is None else count, len(data),
                                  ctypes.addressof(more), 0, 0, 0))
    whole[64] = reserved
    try:
        fcntl.ioctl(device, RULE, whole)
        return 0
    except OSError as error:
        return error.errno

wrong = {
    "an unknown operation": [test(op=99)],
    "no operation": [test(op=0)],
    "an unknown source": [test(source=77)],
    "an unknown flag": [test(flags=0x80)],
    "a jump out of the program": [test(yes=0), test(yes=1)],
    "a jump beyond the end": [test(yes=5000)],
    "a number of 3 bytes": [test(source=0, size=3)],
    "a number that is not in the event": [test(source=0, size=8, offset=60000)],
    "a text that is not in the event": [test(op=6, source=0, offset=60000, length=16)],
    "bits beyond the word": [test(source=0, size=4, bit=30, bits=9)],
    "a set without data": [test(op=5)],
    "too many tests": [test(yes=0)] * 64 + [test()],
}
failed = 0
for name, tests in wrong.items():
    result = rule(tests)
    if result != errno.EINVAL:
        print(name, "gives", errno.errorcode.get(result, result))
        failed = 1
for name, arguments in {
    "a pattern beyond the data": dict(tests=[test(op=6, source=6, data=2, data_bytes=4)], data=b"abc"),
    "a pattern that does not end": dict(tests=[test(op=6, source=6, data=0, data_bytes=2)], data=b"[a"),
    "a reserved word": dict(tests=[test()], word=1),
    "an unknown flag of a rule": dict(tests=[test()], flags=0x100),
    "a reserved byte": dict(tests=[test()], reserved=1),
}.items():
    result = rule(**arguments)
    if result != errno.EINVAL:
        print(name, "gives", errno.errorcode.get(result, result))
        failed = 1
if rule([test()]) or rule([], count=0):
    print("a legal rule is refused")
    failed = 1
sys.exit(failed)
END
	python3 malformed.py
}

plan 24 2
check "load" insmod "$TRACEBUF_KO"
check "filters let through what filtering afterwards would" filters_as_afterwards
check "filter: events that it keeps out are counted" kept_out_is_told
check "filter: not in effect in the next recording" nothing_lingers
check "filter: set and cleared while recording" enable_with_filter
check "filter: errors are explained, and change nothing" wrong_filters
check "threads: a command and its processes" follow
check "threads: a process" process_alone
check "threads: a process and its children" process_and_children
check "threads: a thread" thread
check "threads: all but a process" without_a_process
check "threads: all but the recorder" without_itself
check "threads: errors are explained" no_such_process
check "system calls by name" system_calls
check "events left out" left_out
check "sampling" sampling
check "a rate" rate
check "record stacks" stacks
check "record stacks in snapshots, saved files and pipes" stacks_elsewhere
check "counters" counters
# PMUs of x86 and of arm64
if [ -n "$(find /sys/bus/event_source/devices/ -name cpu -o -name "armv8*")" ]; then
	skip "a counter that is not there" "this processor counts"
else
	check "a counter that is not there" no_counter
fi
check "a trigger with a filter" trigger
check "illegal programs are refused" malformed
check "unload" rmmod tracebuf
leave stack.tbuf snap.tbuf saved.tbuf piped.tbuf
judge "stacks with symbols" stacks_shown
judge "stacks in snapshots, saved files and pipes" stacks_elsewhere_shown
finish
