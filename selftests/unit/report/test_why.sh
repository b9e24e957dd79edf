#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "tracebuf why", and the findings of "tracebuf report" and "tracebuf diff", name the cause in short
# recordings with a known history, and their commands work. If this fails, a user blames the wrong
# thread, or copies a command that shows something else.
#
# Needs: TRACEBUF (the tool, with sanitizers), python3; HISTORY_TRACE (history_trace.c) and
# REPORT_TRACE (report_trace.c) for traces.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/unit/tap.sh
. "$here/../tap.sh"
TRACEBUF=${TRACEBUF:-tracebuf}
REPORT_TRACE=${REPORT_TRACE:-report_trace}
HISTORY_TRACE=${HISTORY_TRACE:-history_trace}
begin python3 "$TRACEBUF" "$HISTORY_TRACE" "$REPORT_TRACE"

# history NAME: make NAME.tbuf of the orders on standard input
history()
{
	"$HISTORY_TRACE" "$1.tbuf" >/dev/null
}

# says TEXT COMMAND...: both, and no other exit status than 0
says()
{
	text=$1
	shift
	"$TRACEBUF" "$@" >said 2>&1 && grep -qF -- "$text" said && return
	sed 's/^/# /' said
	return 1
}

# fails TEXT COMMAND...: exit status 1, and what TEXT says
fails()
{
	text=$1
	shift
	"$TRACEBUF" "$@" >said 2>&1
	[ $? -eq 1 ] && grep -qF -- "$text" said && return
	sed 's/^/# /' said
	return 1
}

# 100 sleeps in flock() until 101 wakes it; 103 only waits; 104 is woken, and never runs
history slept <<'END'
cpus 1
thread 100
thread 101
thread 103
thread 104
switch 0 1000000000 0 0 100
enter 0 1000001000 100 73
switch 0 1000002000 100 1 101
waking 0 1100000000 101 103 0 0
wakeup 0 1100000000 101 103 0 0
waking 0 2900000000 101 100 0 0
wakeup 0 2900000000 101 100 0 0
switch 0 3000000000 101 0 103
switch 0 3000000100 103 1 100
exit 0 3000000200 100 73
waking 0 3000000300 100 104 0 0
switch 0 3100000000 100 0 101
switch 0 3100000001 101 0 100
totals 0 0 3100000001
END
says 't100-100 slept (state S: mostly for data, or a lock of another thread) for 1.90 s' \
	report --width 200 --section findings -t 100 slept.tbuf &&
	says 'tracebuf why -t 100 slept.tbuf' report --section findings -t 100 slept.tbuf &&
	says 'none of these threads waited for a CPU, was blocked or slept for long' \
		report --width 300 --section findings -t 101 slept.tbuf
result $? "findings of a thread: it slept"
says 'tracebuf why -t 100 --from 2.900000000 --to 3.050000000 -T boot slept.tbuf' report \
	--section findings --from 2.9 --to 3.05 -T boot slept.tbuf
result $? "commands of findings choose the same"
says 'meanwhile t101-101 ran on CPU 0 (100 % of the wait).' \
	report --width 200 --section findings --from 2.9 --to 3.05 slept.tbuf
result $? "a part begins with what its CPU ran then"
# the file has the events of CPU 1 from shortly before the end of the wait on
history unseen <<END
cpus 2
first 1 5
thread 100
thread 101
thread 102
thread 103
switch 0 1000000 0 0 102
waking 0 2900000000 102 100 1 0
wakeup 0 2900000000 102 100 1 0
switch 1 2980000000 101 0 103
switch 1 3000000000 103 0 100
switch 1 3100000000 100 1 0
switch 0 3100000001 102 1 0
totals 0 0 3100000001
totals 1 0 3100000001
END
says 'what its CPU did for most of that time is unknown.' \
	report --width 200 --section findings unseen.tbuf
result $? "a wait in which most is unknown"
says 'without sched_switch among the chosen events (-e) little can be found' \
	report --width 200 --section findings -e raw_syscalls slept.tbuf &&
	says 'A cannot be compared: raw_syscalls are not all among the chosen events (-e)' \
		diff --width 200 -e sched_switch slept.tbuf slept.tbuf
result $? "nothing is said to be missing that was not chosen"
says '1900.000  100.0   1900.000        1.100000  waits for a CPU' \
	why -t 103 --from 1.1 --to 3 slept.tbuf &&
	says '1900.000  100.0   1900.000        1.100000    t101-101 runs' \
		why -t 103 --from 1.1 --to 3 slept.tbuf &&
	says '100.000    4.8    100.000        3.000000  waits for a CPU' \
		why -t 104 slept.tbuf &&
	says '2000.000   95.2   2000.000        1.000000    until t100-100 woke it' \
		why -t 104 slept.tbuf
result $? "why: a wait for a CPU before the first run, and without one"
# CPU 1 takes 103 from the queue of CPU 0 at 50 ms
taken="migrate 1 50000000 0 103 0 1
switch 1 50000100 0 0 103
switch 1 60000000 103 1 0
switch 0 70000000 100 1 0
totals 0 0 71000000
totals 1 0 71000000"
# 100 keeps CPU 0; the idle CPU 1 takes 103 from its queue after 40 ms
history pulled <<END
cpus 2
thread 100
thread 103
switch 0 1000000 0 0 100
switch 1 1000100 0 0 103
switch 1 2000000 103 1 0
waking 0 10000000 100 103 0 0
wakeup 0 10000100 100 103 0 0
$taken
END
says '40.000   58.0     40.000        0.010000    t100-100 runs' why -t 103 pulled.tbuf &&
	"$TRACEBUF" report --width 1000 --section findings pulled.tbuf >said &&
	grep -q 't103-103 could run and had no CPU for 40 ms, .*(40 ms at most)\.$' said &&
	grep -q '103 ran only 40 ms later .*: it was in the queue of another CPU for 40 ms' said &&
	says '1    -    -  (in the queue of another CPU)  40.00 ms  ' \
		report --section latency-instead pulled.tbuf &&
	grep -q ' <idle>  *100 ns ' said &&
	"$TRACEBUF" print -v --jsonl pulled.tbuf >events.jsonl &&
	"$TRACEBUF" report --json pulled.tbuf >made.json &&
	python3 "$here/report_check.py" events.jsonl made.json --trace pulled.tbuf >said
result $? "a wait for a busy CPU that an idle one ends"
# There is no sched_wakeup: the wake-up of 103 is over when 103 runs.  CPU 1 takes 103 after that
history preempted <<END
cpus 2
thread 100
thread 103
switch 0 1000000 0 0 103
switch 0 2000000 103 1 0
waking 0 3000000 0 103 0 0
switch 0 4000000 0 0 103
switch 0 10000000 103 0 100
$taken
END
says '40.000   58.0     40.000        0.010000    t100-100 runs' why -t 103 preempted.tbuf
result $? "a move after a wake-up of which no sched_wakeup tells"
# 103 has a quota, and 101 runs for a moment again and again: most idle times are short
{
	printf '%s\n' 'cpus 1' 'quota 7 10000000 50000000' 'thread 101' 'thread 103 7' \
		'switch 0 1000000 0 0 103' 'switch 0 2000000 103 1 0' \
		'waking 0 10000000 0 103 0 0' 'wakeup 0 10000100 0 103 0 0' \
		'switch 0 16000000 0 0 101'
	for ms in 16 17 18 19 20 21 22 23 24 25 26 27 28; do
		echo "switch 0 ${ms}100000 101 1 0"
		echo "switch 0 $((ms + 1))000000 0 0 101"
	done
	printf '%s\n' 'switch 0 29100000 101 0 103' 'switch 0 40000000 103 1 0' \
		'totals 0 0 41000000'
} | history short
"$TRACEBUF" report --width 1000 --section findings short.tbuf >said &&
	grep -q 't103-103 could run .* For at least 11.7 ms of that its CPU was idle\.$' said &&
	says '11.700   ' why -t 103 short.tbuf
result $? "only long idle times are a quota's"
# high waits in futex() for low, which holds the lock, and whose CPU mid takes for 80 ms
history inversion <<'END'
cpus 1
thread 100
thread 101
thread 102
switch 0 1000000000 0 0 100
waking 0 1001000000 100 101 0 0
enter 0 1002000000 100 202
switch 0 1003000000 100 1 101
waking 0 1004000000 101 102 0 0
switch 0 1005000000 101 0 102
switch 0 1085000000 102 1 101
waking 0 1089000000 101 100 0 0
switch 0 1090000000 101 0 100
exit 0 1091000000 100 202
totals 0 0 1091000000
END
says '86.000   94.5     86.000        1.003000  blocked in futex' why -t 100 inversion.tbuf &&
	says '86.000   94.5     86.000        1.003000    until t101-101 woke it' \
		why -t 100 inversion.tbuf &&
	says '80.000   87.9     80.000        1.005000        t102-102 runs' \
		why -t 100 inversion.tbuf
result $? "why: a lock whose holder lost its CPU"
# woken on an idle CPU, and 20 interrupts of 1 ms with a softirq of 0.5 ms in each come first
{
	printf '%s\n' 'cpus 1' 'thread 100' 'switch 0 1000000000 0 0 100' \
		'switch 0 1001000000 100 1 0' 'irq 0 1002000000 0 7' 'waking 0 1002100000 0 100 0 512'
	for ms in $(seq 1 20); do
		[ "$ms" = 1 ] || printf 'irq 0 %d000000 0 7\n' $((1001 + ms))
		printf 'irqend 0 %d500000 0 7\nsoftirq 0 %d500000 0 1\nsoftirqend 0 %d999999 0 1\n' \
			$((1001 + ms)) $((1001 + ms)) $((1001 + ms))
	done
	printf '%s\n' 'switch 0 1022000000 0 0 100' 'switch 0 1023000000 100 1 0' 'totals 0 0 1023000000'
} | history storm
says '19.900   86.5     19.900        1.002100  waits for a CPU' why -t 100 storm.tbuf &&
	says '10.000   43.5      0.500        1.002500    softirq TIMER' why -t 100 storm.tbuf &&
	says '9.900   43.0      0.500        1.003000    interrupt 7 disk' why -t 100 storm.tbuf
result $? "why: a storm of interrupts on an idle CPU"
# 200 may run on CPU 1, of which the file has nothing
history part <<'END'
cpus 2
thread 100
switch 0 1000000000 0 0 100
waking 0 1000001000 100 200 0 0
wakeup 0 1000001100 100 200 0 0
switch 0 1500000000 100 1 0
END
fails 'nothing is known of thread 200' why -t 200 part.tbuf
result $? "why: no wait where another CPU may run the thread"
"$TRACEBUF" why --from 3 slept.tbuf >said && [ "$(sed -n 3p said)" = \
	'     100.000         0.000         0.000  t104-104' ]
result $? "why: those that waited longest in a time"
"$TRACEBUF" why --json --from 3 slept.tbuf >said &&
	grep '^{"choices":\[{"tid":101,' said |
		grep -q '},{"tid":104,"comm":"t104","waited_ns":99999701,"ran_ns":0,' &&
	"$TRACEBUF" why --json --call futex inversion.tbuf >said && grep -q \
	'"chosen":\[{"tid":100,"comm":"t100","intervals":1,"ns":89000000}\],"tree"' said
result $? "why: JSON says which threads there are, and whose time is divided"
says '2000.000 ms, from 1.100000 to 3.100000 s' why -t 103 --from 1.1 --to 99 slept.tbuf
result $? "why: no time after the recording is unknown"
history woken <<'END'
thread 100
thread 101
waking 0 1000000000 100 101 0 0
END
fails 'in that time; the switches of all threads go from 1.000000 to 3.100000 s' \
	why -t 100 --from 9 slept.tbuf &&
	fails 'nothing is known of thread 77; ' why -t 77 slept.tbuf &&
	fails 'no sched_switch occurred' why woken.tbuf &&
	fails "'tracebuf record' without -e" why -t 5 woken.tbuf
result $? "why: what there is instead"
# each finding of diff has a command that works; waits of 101 of 1 and 50 ms, interrupts
for wait in 1 50; do
	history wait$wait <<-END
	cpus 1
	thread 100
	thread 101
	switch 0 1000000000 0 0 100
	irq 0 1100000000 100 7
	irqend 0 $((1100000000 + wait * 4000000)) 100 7
	waking 0 1800000000 100 101 0 0
	wakeup 0 1800000000 100 101 0 0
	switch 0 $((1800000000 + wait * 1000000)) 100 0 101
	switch 0 1990000000 101 1 0
	totals 0 0 2000000000
	END
done
for made in half staggered=one staggered2=other unselected killed gap held quiet; do
	"$REPORT_TRACE" "${made%=*}" "${made#*=}.tbuf"
done
"$REPORT_TRACE" ended ended.tbuf 20000
cp half.tbuf "half's copy.tbuf"
cat >pairs <<'END'
one.tbuf half.tbuf
half.tbuf other.tbuf
half.tbuf unselected.tbuf
unselected.tbuf killed.tbuf
held.tbuf gap.tbuf
gap.tbuf held.tbuf
quiet.tbuf half.tbuf
wait1.tbuf wait50.tbuf
wait50.tbuf wait1.tbuf
-T boot --from +1ms --to -1ms wait1.tbuf wait50.tbuf
-C 0 "half's copy.tbuf" one.tbuf
-t 200,100 "half's copy.tbuf" one.tbuf
--comm t200* -r 1 half.tbuf one.tbuf
END
python3 "$here/diff_commands.py" pairs
result $? "findings of diff end with commands that work"
cp ended.tbuf "ended's copy.tbuf"
says "tracebuf report --section losses --from +1us --to -1us -e 'sched*' -C 0 -t 1000,1003 --pid 1000,1003 --comm 't*' --cgroup '*one.service' -r 1 -T boot 'ended'\\''s copy.tbuf'" \
	diff --section findings --from +1us --to -1us -e 'sched*' -t 1003 -C 0 -t 1000 \
	--pid 1003,1000 --comm 't*' --cgroup '*one.service' -r 1 -T boot \
	"ended's copy.tbuf" ended.tbuf
result $? "commands of findings of diff choose the same"
# a thread waits in fsync until an interrupt reports that its request is complete
history disk <<'END'
disk 0 sda
thread 100
switch 0 1000000 0 0 100
enter 0 2000000 100 74
switch 0 3000000 100 2 0
irq 0 9000000 0 5
done 0 9100000 0 0 1
waking 0 9200000 0 100 0 512
irqend 0 9300000 0 5
switch 0 9400000 0 0 100
exit 0 9500000 100 74
switch 0 12000000 100 1 0
END
says 'until a request (WS) to disk sda (8:0) was done' why -t 100 disk.tbuf
result $? "why has the name of the disk"
history objects <<'END'
arguments
thread 100
file 100 3 /a
file 100 4 /b
file 100 5 /c
select 1000 switch,wake,call
select 8000000 switch,wake
select 9000000 switch,wake,call
switch 0 1000000 0 0 100
enter 0 2000000 100 0 3
exit 0 3000000 100 0 1
enter 0 4000000 100 3 3
exit 0 5000000 100 3 0
enter 0 6000000 100 0 3
exit 0 7000000 100 0 -9
enter 0 7050000 100 57 0
fork 7100000 100 101
switch 0 7200000 100 0 101
enter 0 7300000 101 0 5
exit 0 7400000 101 0 1
switch 0 7500000 101 1 100
exit 0 7600000 100 57 101
enter 0 9500000 100 0 4
exit 0 9600000 100 0 1
enter 0 10000000 100 202 4096
exit 0 11000000 100 202 0
totals 0 0 12000000
END
"$TRACEBUF" query --csv --no-header objects.tbuf \
	"SELECT name, _object FROM syscall_duration" >said &&
	[ "$(tr '\n' ' ' <said)" = 'read,/a close,/a read, read,/c fork, read, futex,0x1000 ' ] &&
	"$TRACEBUF" query --csv --no-header -e sys_enter,sched_switch objects.tbuf \
		"SELECT count(_object) FROM slices" 2>/dev/null >said && [ "$(cat said)" = 0 ] &&
	"$TRACEBUF" query --csv --no-header objects.tbuf \
		"SELECT count(_object) FROM slices WHERE kind = 'run'" >said &&
	[ "$(cat said)" = 0 ]
result $? "query: what a system call uses"
files()
{
	"$TRACEBUF" print --files -e sys_enter "$@" objects.tbuf |
		sed -n 's/.*sys_enter: NR [0-9]* //p'
}

files >said
[ "$(cut -d, -f1 said | tr '\n' ' ')" = "$(echo 'read (fd=3</a> close (fd=3</a>) read (fd=3' \
	'fork () read (fd=5</c> read (fd=4 futex (uaddr=0x1000 ')" ] &&
	[ "$(files --from 0.0035 -n 1)" = 'close (fd=3</a>)' ]
result $? "print: the files behind the numbers in system calls"
# 100 is blocked in fsync, 101 after its call: in none
history blocked <<'END'
thread 100
thread 101
switch 0 1000000 0 0 100
enter 0 2000000 100 74
switch 0 3000000 100 2 101
enter 0 4000000 101 0
exit 0 5000000 101 0
switch 0 6000000 101 2 0
waking 0 80000000 0 101 0 0
switch 0 81000000 0 0 101
waking 0 89000000 101 100 0 0
switch 0 90000000 101 1 100
exit 0 91000000 100 74
totals 0 0 92000000
END
"$TRACEBUF" report --json --section offcpu-blocked blocked.tbuf >said &&
	grep -q ',100,"t100","D","fsync",' said && grep -q ',101,"t101","D",null,' said &&
	"$TRACEBUF" report --section findings blocked.tbuf | tr -s '\n ' ' ' >said &&
	grep -q 't100-100 was blocked [^*]*, 1 time, 86 ms at most (in fsync)\.' said &&
	grep -q 't101-101 was blocked [^*]*, 1 time, 74 ms at most\.' said
result $? "report: the system call in which a task was blocked"

# to the end 100 is blocked in fsync, and 103, woken, has no CPU; 102 has slept from the beginning
history hang <<'END'
cpus 2
thread 100
thread 101
thread 102
thread 103
switch 0 1000000 0 0 100
switch 1 1000000 0 0 101
enter 0 2000000 100 74
switch 0 3000000 100 2 0
waking 1 14000000 101 103 1 0
wakeup 1 14000100 101 103 1 0
waking 1 62000000 101 102 0 0
wakeup 1 62000100 101 102 0 0
switch 0 63000000 0 0 102
switch 0 65000000 102 1 0
enter 1 93000000 101 0
exit 1 94000000 101 0
totals 0 0 100000000
totals 1 0 100000000
END
# stands_out PATTERN FILE OPTION...: a finding of report matches
stands_out()
{
	pattern=$1
	shift
	"$TRACEBUF" report --section findings "$@" | tr -s '\n ' ' ' >said && grep -q "$pattern" said
}

stands_out 't100-100 was blocked [^*]* for 91 ms, 98 % of the time, 91 ms of it at the end (in fsync)\.' \
	hang.tbuf &&
	grep -q 't103-103 could run [^*]* for 80 ms, 86 % of the time, 80 ms of it at the end\.' said &&
	stands_out 't103-103 could run' -t 103 hang.tbuf &&
	stands_out 't102-102 slept [^*]*, 61 ms of it in an unknown state that had begun before' \
		-t 102 hang.tbuf
result $? "report: what lasts to the end of the recording, or from its beginning on"
stands_out 't100-100 was blocked [^*]* for 47 ms, 98 % of the time, 47 ms of it at the end' \
	--from 0.002 --to 0.050 hang.tbuf &&
	stands_out 'Not examined: threads that did not run, and were not woken, in the chosen time' \
		--from 0.020 --to 0.050 hang.tbuf && ! grep -q 't10[03]' said
result $? "report: and what lasts to the end of the chosen time"
# 100 is woken once, and waits 1 s; 103 may run on a CPU of which the file has nothing
history once <<'END'
cpus 1
thread 100
thread 101
switch 0 1000000000 0 0 101
waking 0 1500000000 101 100 0 0
wakeup 0 1500000000 101 100 0 0
switch 0 2500000000 101 0 100
switch 0 3000000000 100 1 101
switch 0 4000000000 101 1 0
totals 0 0 4000000000
END
history unrecorded <<'END'
thread 103
switch 0 1000000000 0 0 103
switch 0 1100000000 103 2 0
switch 0 1200000000 0 0 104
switch 0 4000000000 104 1 0
totals 0 0 4000000000
END
stands_out 't100-100 could run and had no CPU for 1.00 s, 33 % of the time, 1.00 s after 1 wake-up' \
	once.tbuf && python3 "$here/findings_check.py" once.tbuf >said 2>&1 &&
	stands_out 'Nothing in what was examined' unrecorded.tbuf &&
	stands_out 't101-101 could run' -e '!sched_wak*' once.tbuf && ! grep -q t100-100.could said &&
	stands_out 't100-100 was blocked' -C 0 hang.tbuf
result $? "report: no wait counts twice, nor where another CPU may have run the thread"
history moved <<'END'
cpus 2
thread 101
thread 103
switch 1 1000000 0 0 101
waking 1 14000000 101 103 1 0
wakeup 1 14000100 101 103 1 0
migrate 0 66000000 0 103 1 0
exit 1 94000000 101 0
totals 0 0 100000000
totals 1 0 100000000
END
# 100 was woken on CPU 0, and is preempted on CPU 1 after a gap that has its move
history regained <<'END'
cpus 2
thread 100
thread 101
thread 102
thread 103
switch 1 900000000 0 0 102
switch 0 1000000000 0 0 101
waking 0 1100000000 101 100 0 0
wakeup 0 1100000000 101 100 0 0
gap 0 1600000000 101 5 1300000000 1500000000
irq 0 1600000000 101 1
irqend 0 1600001000 101 1
gap 1 1600000000 100 5 1300000000 1500000000
irq 1 1600000000 100 1
irqend 1 1600001000 100 1
switch 0 1900000000 101 0 103
switch 1 2000000000 100 0 102
switch 1 3500000000 102 0 104
totals 0 0 3500000000
totals 1 0 3500000000
END
says '80.000        0.014000    t101-101 runs' why -t 103 hang.tbuf &&
	says '52.000        0.014000    t101-101 runs' why -t 103 moved.tbuf &&
	grep -q '28.000        0.066000    the CPU is idle' said &&
	says '1500.000        2.000000    not known' why -t 100 regained.tbuf
result $? "why: who has the CPU for which a thread waits to the end, also after it was moved"
# figures ROWS SECTION FROM TO: the rows of that section
figures()
{
	rows=$1
	"$TRACEBUF" report --json --section "$2" hang.tbuf --from "$3" --to "$4" >said &&
		grep -qF "\"rows\":[$rows]" said && return
	sed 's/^/# /' said
	return 1
}

figures '[0,2000000,50000,38000000,0,2,null,null],[1,40000000,1000000,0,0,0,null,null]' \
	cpu 0.045 0.085 &&
	figures '[20000000,50000000,30000000,30000000,0,2,1,0,0]' summary 0.020 0.050 &&
	"$TRACEBUF" diff --from 0.020 --to 0.090 hang.tbuf hang.tbuf >said && ! grep -q New said
result $? "report: shares are of the whole chosen time, even if no event lies in it"

add_up ./*.tbuf

echo "1..$count"
exit $failed
