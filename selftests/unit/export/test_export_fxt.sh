#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A viewer of FXT shows every event of a recording and its losses. If this fails, the viewer refuses
# the file, or shows other events than were recorded. fxt_check.py, written from the format's
# specification alone, reads the exports back, and compares each event - time, CPU, thread, name,
# fields, stack, counters - with "tracebuf print".
#
# Needs: TRACEBUF (the tool), TEST_EXPORT (test_export.c, built with the sanitizers), REPORT_TRACE
# (report_trace.c), python3.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/unit/tap.sh
. "$here/../tap.sh"
TRACEBUF=${TRACEBUF:-tracebuf}
TEST_EXPORT=${TEST_EXPORT:-test_export}
REPORT_TRACE=${REPORT_TRACE:-report_trace}
begin python3 "$TRACEBUF" "$TEST_EXPORT" "$REPORT_TRACE"
echo "1..22"

check()
{
	python3 "$here/fxt_check.py" "$@" >checked 2>&1
	status=$?
	if [ $status != 0 ] || [ $# -gt 1 ]; then
		sed 's/^/# /' checked
	fi
	return $status
}

# exported NAME: export NAME.tbuf to NAME.fxt; the exporter under the sanitizers writes the same
exported()
{
	"$TRACEBUF" export --format fxt -v "$1.tbuf" 2>said &&
		"$TEST_EXPORT" export "$1.tbuf" asan.fxt fxt && cmp "$1.fxt" asan.fxt &&
		"$TRACEBUF" print --fields -T boot "$1.tbuf" >"$1.print"
}

# ---- events of the kernel ----

"$TEST_EXPORT" make t.tbuf && exported t && check t.fxt t.print &&
	grep -qx '24 events are those of print' checked
result $? "every event as print shows it"

# with_runs OPTION...: what print shows of t.tbuf with these options.  To draw the runs of chosen
# threads, exports also have the switches and wake-ups of all others.
with_runs()
{
	{
		"$TRACEBUF" print --fields -T boot "$@" t.tbuf
		[ "$1" != -t ] ||
			"$TRACEBUF" print --fields -T boot -e 'sched_switch,sched_wak*' t.tbuf
	} | awk '!seen[$0]++'
}

ok=0
for options in "-C 1" "-t 101" "-e irq" "--from +0.000001 --to +0.000005"; do
	# shellcheck disable=SC2086
	"$TRACEBUF" export -q --format fxt -T boot $options -o chosen.fxt t.tbuf &&
		with_runs $options >chosen.print &&
		check chosen.fxt chosen.print && ! grep -qx '0 events are those of print' checked || ok=1
done
result $ok "options choose the same events as for print, and what the chosen threads run"

check t.fxt && mv checked t.lines
has t.lines "switches and wake-ups, states and idle threads" <<'END'
1002000575 wakeup cpu 1 101 weight=98 waker=2147549186 on_cpu=1
1002000590 switch cpu 1 2147549186 -> 101 state 1 incoming_weight=98 outgoing_weight=-2147483648 prev_state=R
1002002000 switch cpu 0 2147549185 -> 100 state 1 incoming_weight=120 outgoing_weight=-2147483648 prev_state=R
1002003500 switch cpu 0 100 -> 2147549185 state 1 incoming_weight=-2147483648 outgoing_weight=120 prev_state=R+
1002008090 switch cpu 1 101 -> 100 state 3 incoming_weight=120 outgoing_weight=98 prev_state=D
END

has t.lines "slices, counters and instants" <<'END'
1002000605 begin 100/101 raw_syscalls:sys_epoll_wait on_cpu=1 id=232 args=5
1002008015 end 100/101 raw_syscalls:sys_epoll_wait on_cpu=1 id=232 ret=-4 ret_name=EINTR
1002002600 begin 2147483648/2147483649 irq:IRQ (eth0!) on_cpu=0 current_tid=100 irq=11 name=eth0!
1002008030 begin 2147483648/2147483650 irq:IRQ (eth0) on_cpu=1 current_tid=101 irq=11 name=eth0
1002008045 end 2147483648/2147483650 irq:IRQ (eth0) on_cpu=1 current_tid=101 irq=11 ret=1
1002008075 end 2147483648/2147483650 irq:NET_RX on_cpu=1 current_tid=101 vec=3
1002003050 counter 2147483648/2147483650 power:cpu_frequency cpu1=2400000 [1]
1002002900 instant 100/101 tracebuf:mark on_cpu=0 text=here I am
1002003350 instant 100/100 unknown:event_500 on_cpu=0 payload=2a000000
END

# A slice that is open on the CPU ends where the gap begins
has t.lines "losses" <<'END'
1002008000 instant 2147483648/2147483650 tracebuf:tracebuf_lost on_cpu=1 overwritten=7 dropped=5 oversize=1 first_ns=1002000650 last_ns=1002006500
1002011000 end 2147483648/2147483651 irq:TIMER
3927000500 instant 2147483648/2147483651 tracebuf:tracebuf_lost on_cpu=2 overwritten=0 dropped=9 oversize=0 first_ns=1002011000 last_ns=3927000500
END

has t.lines "processes, threads, and their names as they change" <<'END'
thread 101 of 100: worker
thread 200 of 200: server, child
thread 2147483650 of 2147483648: CPU 1
thread 2147549186 of 2147549184: swapper/1
process 100: server
process 200: server, child
END

# The first words by the specification: magic; provider 1, "tracebuf"; its section; a tick is 1 ns
[ "$(od -An -v -tx8 -w8 -N48 t.fxt | tr -d ' ' | tr '\n' ' ')" = \
  "0016547846040010 0080000000110020 6675626563617274 0000000000120010 0000000000000021 000000003b9aca00 " ]
result $? "the first words"

"$TEST_EXPORT" edges b.tbuf && exported b && check b.fxt b.print && check b.fxt &&
	mv checked b.lines
result $? "ends without beginnings and beginnings without ends are exported"
has b.lines "no event is invented, and open slices end" <<'END'
1002000600 instant 100/100 raw_syscalls:sys_exit on_cpu=0 id=1 ret=-11 ret_name=EAGAIN
1002000620 end 100/100 raw_syscalls:sys_write
1002000630 instant 2147483648/2147483649 irq:softirq_exit on_cpu=0 current_tid=100 vec=5
1002000700 switch cpu 0 100 -> 101 state 3 incoming_weight=120 outgoing_weight=120 prev_state=S
1002000720 switch cpu 0 100 -> 101 state 3 incoming_weight=120 outgoing_weight=120 prev_state=D
1002000740 switch cpu 0 100 -> 101 state 2 incoming_weight=120 outgoing_weight=120 prev_state=T
1002000760 switch cpu 0 100 -> 101 state 2 incoming_weight=120 outgoing_weight=120 prev_state=t
1002000820 switch cpu 0 100 -> 101 state 1 incoming_weight=120 outgoing_weight=120 prev_state=R+
1002000840 end 100/100 raw_syscalls:sys_write
1002000840 switch cpu 0 100 -> 101 state 4 incoming_weight=120 outgoing_weight=120 prev_state=Z
1002000860 switch cpu 0 100 -> 101 state 5 incoming_weight=120 outgoing_weight=120 prev_state=X
1002001020 end 2147483648/2147483649 irq:IRQ (eth0)
1002001020 end 2147483648/2147483649 irq:TIMER on_cpu=0 current_tid=100 vec=1
1002001500 end 2147483648/2147483649 irq:TIMER
1002003500 instant 2147483648/2147483649 tracebuf:tracebuf_lost on_cpu=0 overwritten=0 dropped=3 oversize=0 first_ns=1002001500 last_ns=1002002500
1002003510 instant 2147483648/2147483649 irq:softirq_exit on_cpu=0 current_tid=100 vec=1
END

# a table of FXT has room for 255 threads
"$TEST_EXPORT" threads n.tbuf 600 && exported n && check n.fxt n.print &&
	grep -qx '2400 events are those of print' checked
result $? "more threads than the table of FXT has room for"

# ---- what a CPU runs while the trace does not tell ----

# unknown KIND: export the trace that report_trace makes for KIND; its lines to unknown.lines
unknown()
{
	"$REPORT_TRACE" "$1" u.tbuf && exported u && check u.fxt &&
		mv checked unknown.lines
}

unknown half
has unknown.lines "no thread runs while events of its CPU are missing" <<'END'
1060000000 switch cpu 0 100 -> 2147614721 state 15 outgoing_weight=120
2060000000 switch cpu 0 2147614721 -> 100 state 15 incoming_weight=120
2060000000 switch cpu 0 100 -> 200 state 1 incoming_weight=120 outgoing_weight=120 prev_state=R
thread 2147614721 of 2147614720: not recorded, CPU 0
process 2147614720: not recorded
END
unknown unselected
has unknown.lines "no thread runs while switches are not selected" <<'END'
1060000000 switch cpu 0 100 -> 2147614721 state 15 outgoing_weight=120
1060000000 switch cpu 1 300 -> 2147614722 state 15 outgoing_weight=120
2060000000 switch cpu 0 2147614721 -> 100 state 15 incoming_weight=120
END
unknown killed
has unknown.lines "no thread runs after the last event of its CPU in the file" <<'END'
30000000 switch cpu 1 50 -> 2147614722 state 15 outgoing_weight=120
END

unknown deselected
has unknown.lines "no thread runs from the end of its CPU until the selection changes" <<'END'
30000000 switch cpu 1 50 -> 2147614722 state 15 outgoing_weight=120
3000000000 switch cpu 0 400 -> 2147614721 state 15 outgoing_weight=120
END

# ---- stacks, counters, many fields ----

"$TEST_EXPORT" extras e.tbuf && exported e && check e.fxt e.print && check e.fxt &&
	mv checked e.lines
result $? "stacks, counters, and more fields than FXT has arguments"
has e.lines "stacks and counters are arguments, further fields one text" <<'END'
1002000600 switch cpu 0 100 -> 101 state 3 incoming_weight=120 outgoing_weight=120 prev_state=S cycles=1099511627776 page-faults=222 stack=schedule <- 0xffffffff81000110 <- 0xffffffffc0000010 user_stack=0x5500001000 <- 0x5500002000
1002000710 end 2147483648/2147483649 irq:NET_RX on_cpu=0 current_tid=101 vec=3 page-faults=223 stack=0xffffffff81000110
1002000900 instant 100/100 test:wide on_cpu=0 f0=1 f1=8 f2=64 f3=512 f4=4096 f5=32768 f6=262144 f7=2097152 f8=16777216 f9=134217728 f10=1073741824 f11=8589934592 f12=68719476736 more=f13=549755813888 f14=4398046511104 f15=35184372088832 f16=281474976710656 f17=2251799813685248
END

# ---- records of programs ----

"$TEST_EXPORT" user u.tbuf && exported u && check u.fxt u.print &&
	grep -qx '2 ends of slices had no beginning: left out' said && check u.fxt &&
	grep -v '^process\|^thread' checked >users
result $? "records of programs are exported"
cat >users.want <<'END'
1002000600 begin 100/101 net:request size=-5 size'=/index ?é?? #99=2748 #99'=0.5 #99''=9
1002000600 flow begin 100/101 net:flow [77]
1002000610 async begin 100/101 net:parse [4294967297]
1002000630 async end 100/101 net:parse [4294967297]
1002000620 counter 100/101 net:bytes value=-3 [7]
1002000621 counter 100/101 user:load value=0.5 [7]
1002000640 begin 100/101 user:#98
1002000640 flow end 100/101 user:flow [78]
1002000640 end 100/101 user:#98
1002000641 instant 100/101 user:size value=42
1002000642 instant 100/101 user:size data=aabbcc
1002000643 instant 100/101 user:mark text=mark?
1002000650 async begin 100/101 user:wait [4294967298]
1002000700 end 100/101 net:request
1002000710 begin 100/101 net:request
1002000720 async begin 100/101 user:wait [4294967299]
1002000780 async end 100/101 user:wait [4294967299]
1002000730 async begin 100/100 user:wait [4294967300]
1002000735 async end 100/100 user:wait [4294967300]
1002000790 async begin 100/101 net:parse [2]
1002000792 async instant 100/101 user:load [2]
1002000810 end 100/101 net:request
1002000810 async end 100/101 user:wait [4294967298]
1002000810 instant 100/101 tracebuf:tracebuf_lost records=4 cause=no chunk was free
1002000815 async end 100/101 net:parse [2]
1002000820 begin 100/101 net:request
1002000910 begin 2147483648/2147483649 irq:TIMER on_cpu=0 current_tid=101 vec=1
END
diff users users.want >diff.out
result $? "slices, counters, flows, arguments and losses"
sed 's/^/# /' diff.out

# ---- fxt_check.py finds errors ----

blind=0
sed 's/state=2400000/state=2400001/' t.print >wrong
check t.fxt wrong >/dev/null && blind=1
grep -v task_rename t.print >wrong
check t.fxt wrong >/dev/null && blind=1
head -c -8 t.fxt >wrong
check wrong >/dev/null && blind=1
# change the first thread that an event names
python3 - t.fxt <<'END'
import struct, sys
words = bytearray(open(sys.argv[1], "rb").read())
at = 8
while words[at] & 15 != 3:
    at += 8 * (struct.unpack_from("<Q", words, at)[0] >> 4 & 0xfff)
words[at + 2] += 7
open("wrong", "wb").write(words)
END
check wrong >/dev/null && blind=1
result $blind "fxt_check.py finds a wrong value, a missing event, a short file, an unknown thread"

# ---- robustness ----

"$TEST_EXPORT" damage t.tbuf 3000 fxt >out 2>&1 && "$TEST_EXPORT" damage e.tbuf 1000 fxt >>out 2>&1
result $? "damaged traces are exported as far as they go"
sed 's/^/# /' out | tail -5
"$TEST_EXPORT" damage u.tbuf 3000 fxt >out 2>&1
result $? "damaged traces of programs are exported as far as they go"
sed 's/^/# /' out | tail -5
"$TEST_EXPORT" full t.tbuf fxt 2>out && grep -q 'cannot be written: No space' out
result $? "a full disk is an error"

# ---- a long trace ----

# The exporter's memory must not grow with the trace: it gets 12 MB for a trace of 19 MB
"$TEST_EXPORT" big big.tbuf 600000 &&
	bash -c 'ulimit -d 12288; exec "$@"' sh "$TRACEBUF" export --format fxt -o big.fxt big.tbuf 2>/dev/null &&
	python3 - "$here" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import fxt_check

class Count:
    events = 0

    def append(self, entry):
        self.events += entry[-1] is not True and entry[5:6] != (fxt_check.UNKNOWN,)

with open("big.fxt", "rb") as file:
    reader = fxt_check.Reader(file.read())
reader.out = Count()
reader.read()
# there are four marks besides
sys.exit(reader.out.events != 600004)
END
result $? "600000 events: all exported, in little memory"

exit $failed
