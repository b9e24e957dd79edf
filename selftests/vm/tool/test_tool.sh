#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every subcommand of the tool works against the real module: it records, shows and verifies a
# workload with a known number of events, controls recordings, and explains errors. If a test fails,
# a subcommand loses events or misleads its user.

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

# numbered FILE: the output of print has all numbered events, in order.
numbered()
{
	sed -n 's/.*signal_generate:.* errno=\([0-9]*\).* comm="\{0,1\}workload.*/\1/p' "$1" >numbers
	seq 0 $((n - 1)) | cmp -s - numbers || {
		echo "$(wc -l <numbers) numbered events, not $n in order"
		return 1
	}
}

# ---- without the module -----------------------------------------------------

no_module()
{
	status 1 tracebuf "$@" && says "module is not loaded" && says modprobe && says insmod
}

# ---- record, print, verify, export -----------------------------------------

record_wide()
{
	status 0 tracebuf record -o wide.tbuf -e raw_syscalls,signal -b 64 -- "$work" $n &&
		says '^ *CPU  *attempted  *recorded  *delivered' && says '^ *all '
}

print_wide()
{
	status 0 tracebuf print --fields wide.tbuf || return
	lines $n 'workload-[0-9]+ +\[000\].*raw_syscalls:sys_enter: id=600' said &&
		lines $n 'workload-[0-9]+ +\[000\].*raw_syscalls:sys_exit: id=600.* ret=-38' said &&
		numbered said
}

# print shows events in the kernel's formats, and names system calls.
print_kernel()
{
	status 0 tracebuf print wide.tbuf || return
	lines $n 'workload-[0-9]+ +\[000\].*raw_syscalls:sys_enter: NR 600 \((0x)?[0-9a-f]+, (0x)?[0-9a-f]+, .*\)$' said &&
		lines $n 'workload-[0-9]+ +\[000\].*raw_syscalls:sys_exit: NR 600 = -38 \(ENOSYS\)$' said &&
		says "sys_exit: NR $(call_number execve) execve = 0\$" && says 'signal_generate: sig=34 (SIGRTMIN+2) errno=0 code=-1 (SI_QUEUE) comm=workload pid=[0-9]* grp=[01] res=[0-9]$' &&
		numbered said
}

print_filters()
{
	status 0 tracebuf print -e signal_generate -C 0 wide.tbuf || return
	numbered said && lines 0 raw_syscalls said || return
	status 0 tracebuf print -n 7 wide.tbuf && lines 7 '' said
}

record_compact()
{
	status 0 tracebuf record -q -o compact.tbuf -e raw_syscalls,sched_switch -b 64 -- "$work" $n &&
		lines 0 . said || return
	status 0 tracebuf print --fields compact.tbuf || return
	lines $n 'sys_enter: id=600\>' said && lines $n 'sys_exit: id=600\>.* ret=-38' said
}

verify()
{
	status 0 tracebuf verify wide.tbuf && says exact &&
		status 0 tracebuf verify -q compact.tbuf && lines 0 . said
}

export_perfetto()
{
	status 0 tracebuf export -o wide.pftrace wide.tbuf || return
	[ -s wide.pftrace ] || return
	command -v protoc >/dev/null || { echo "no protoc"; return 1; }
	protoc --decode_raw <wide.pftrace >decoded || return
	# a system call's number is field 1 of sys_enter (329) and sys_exit (330)
	awk '/^ *(329|330) \{$/ { call = 1; next } call { print } { call = 0 }' decoded >calls
	lines $((2 * n)) '^ *1: 600$' calls
}

list_of_file()
{
	status 0 tracebuf list -i wide.tbuf && says raw_syscalls:sys_enter && says signal_generate || return
	status 0 tracebuf list -v -i wide.tbuf sys_enter &&
		says 'unsigned long args.6.  *offset 8, size 48, 6 items' && says 'print: "NR %ld (' || return
	status 0 tracebuf list --format -i wide.tbuf sys_exit && says '^name: sys_exit$' &&
		lines 6 '^	field:[a-z ]* (common_)?[a-z_]+;	offset:[0-9]+;	size:[0-9];	signed:[01];$' said
}

# ---- options of record ------------------------------------------------------

for_a_while()
{
	status 0 tracebuf record -e sched -d 200ms -o while.tbuf && status 0 tracebuf verify while.tbuf
}

exit_status_of_the_command()
{
	status 7 tracebuf record -q -e irq -o status.tbuf -- sh -c 'exit 7' &&
		status 0 tracebuf verify status.tbuf
}

exit_status_in_time()
{
	status 3 tracebuf record -q -d 600 -o status.tbuf -e signal -- sh -c 'exit 3'
}

one_file()
{
	tracebuf record -q -o one.tbuf -e signal 2>record.said &
	pid=$!
	until_it running && kill -USR2 $pid && until_it grep -q "this recording has one" record.said
	code=$?
	kill $pid
	wait $pid && [ $code = 0 ] && status 0 tracebuf verify one.tbuf
}

no_such_command()
{
	status 127 tracebuf record -e irq -o none.tbuf -- ./no-such-command && says no-such-command
}

overload()
{
	status 0 tracebuf record -o lost.tbuf -e all -b 2 -B 64 -- "$work" 5000 || return
	says "lost" || return
	status 0 tracebuf verify lost.tbuf && says exact || return
	status 0 tracebuf print lost.tbuf && lines 0 nonsense said && grep -q -e '^ *--.*\(lost\|missing\|overwritten\)' said
}

through_a_pipe()
{
	tracebuf record -q -o - -e raw_syscalls -b 64 -- "$work" $n | tracebuf verify - >said 2>&1
	code=$?
	cat said
	[ $code = 0 ] && says exact
}

# ---- signals ----------------------------------------------------------------

running()
{
	tracebuf status | grep -q running
}

# ends_well SIGNAL: a recording that SIGNAL ends has a whole file, and prints its table.
ends_well()
{
	rm -f signal.tbuf
	tracebuf record -o signal.tbuf -e raw_syscalls,sched >said 2>&1 &
	pid=$!
	until_it running || return
	"$work" 1000
	until_it test -s signal.tbuf || return
	kill -"$1" $pid
	wait $pid
	echo "exit status $?"
	cat said
	says '^ *all ' && ! running && status 0 tracebuf verify signal.tbuf || return
	status 0 tracebuf print --fields signal.tbuf && lines 1000 'sys_enter: id=600' said
}

# A shell starts background jobs with SIGINT ignored: the program restores the default.
interrupt()
{
	cat >interrupt.py <<END
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
END
	rm -f int.tbuf
	python3 interrupt.py tracebuf record -o int.tbuf -e raw_syscalls >said 2>&1 &
	pid=$!
	until_it running || return
	"$work" 1000
	kill -INT $pid
	wait $pid
	echo "exit status $?"
	cat said
	says '^ *all ' && ! running && status 0 tracebuf verify int.tbuf || return
	status 0 tracebuf print --fields int.tbuf && lines 1000 'sys_enter: id=600' said
}

interrupt_with_command()
{
	python3 interrupt.py tracebuf record -o int.tbuf -e raw_syscalls -- "$work" -f 100 \
		>said 2>&1 &
	pid=$!
	until_it running || return
	until_it test -s int.tbuf || return
	kill -INT $pid
	wait $pid
	echo "exit status $?"
	cat said
	says '^ *all ' && ! running && status 0 tracebuf verify int.tbuf &&
		! pgrep workload
}

# A logout does not end a recording that nohup started.
hangup_ignored()
{
	rm -f int.tbuf
	nohup tracebuf record -o int.tbuf -e raw_syscalls >said 2>&1 &
	pid=$!
	until_it running || return
	kill -HUP $pid
	"$work" 1000
	kill -TERM $pid
	wait $pid
	echo "exit status $?"
	cat said
	status 0 tracebuf print --fields int.tbuf && lines 1000 'sys_enter: id=600' said
}

# A command ignores SIGTERM: the recording ends nevertheless, and its file is whole.
deaf_command()
{
	rm -f int.tbuf deaf
	tracebuf record -o int.tbuf -e raw_syscalls -- \
		sh -c 'trap "" TERM; : >deaf; while :; do sleep 0.1; done' >said 2>&1 &
	pid=$!
	until_it test -e deaf || return
	kill -TERM $pid
	until_it says '^ *all ' || return
	status 0 tracebuf verify -q int.tbuf && kill -0 $pid || return
	kill -TERM $pid
	wait $pid
	code=$?
	echo "exit status $code"
	[ $code = 0 ] && no_process trap
}

# record starts nothing before its FIFO has a reader, and leaves nothing behind if it ends before.
no_reader()
{
	mkfifo unread || return
	tracebuf record -o unread -e irq -- sleep 1000 &
	pid=$!
	until_it grep -q fifo_open /proc/$pid/stack || return
	! running && kill -TERM $pid && code=0
	wait $pid
	[ $? = 143 ] && [ "$code" = 0 ] && until_it no_process 'sleep 1000' && ! running
}

no_process()
{
	! pgrep -f "$1"
}

# ---- stream -----------------------------------------------------------------

# Short-lived processes, 500 numbered system calls in all
brief="for i in 1 2 3 4 5; do $work 100; done"

stream_fifo()
{
	status 0 tracebuf record --fifo -o fifo.tbuf -e raw_syscalls,signal -b 64 -- "$work" $n &&
		says '^ *all ' || return
	status 0 tracebuf verify fifo.tbuf && says exact || return
	status 0 tracebuf print --fields fifo.tbuf && lines $n 'sys_enter: id=600' said && numbered said
}

stream_pipe()
{
	for way in "" --fifo; do
		tracebuf record -o - $way -q -e raw_syscalls -b 64 -- "$work" $n | tracebuf verify - >said 2>&1
		code=$?
		cat said
		[ $code = 0 ] && says exact || return
	done
}

# With two buffers and the policy drop, losses are counted, and the file is exact.
stream_overload()
{
	status 0 tracebuf record --fifo -o lost.tbuf -e raw_syscalls,signal -b 2 -B 64 \
		--policy drop -- "$work" 5000 && says "dropped" || return
	status 0 tracebuf verify lost.tbuf && says exact
}

# block_ends FILE: prints the offset at which each block ends
block_ends()
{
	cat >ends.py <<END
import sys
data = open(sys.argv[1], "rb").read()
at = 0
while at < len(data):
    at += 1 << data[at + 6]
    print(at)
END
	python3 ends.py "$1"
}

# These recordings are cut on the host.
stream_to_cut()
{
	tracebuf record -o - -q >cut-read.tbuf -e raw_syscalls,signal -B 512 -b 64 -- sh -c "$brief" &&
		tracebuf record --fifo -q -o cut-fifo.tbuf -e raw_syscalls,signal -B 512 -b 64 -- \
			sh -c "$brief"
}

# cut_anywhere FILE: cut between any two blocks, the file has the names of all its threads; verify
# may complain about the counts of the end only
cut_anywhere()
{
	block_ends "$1" >ends || return
	[ "$(wc -l <ends)" -gt 10 ] || { echo "$(wc -l <ends) blocks"; return 1; }
	shown=0
	while read -r end; do
		head -c "$end" "$1" >cut.tbuf
		if ! tracebuf verify cut.tbuf >said 2>&1 &&
		   grep '^tracebuf:' said | grep -qv 'events attempted\|blocks opened'; then
			cat said
			echo "cut at $end"
			return 1
		fi
		tracebuf print --fields cut.tbuf >said 2>err || { cat err; echo "cut at $end"; return 1; }
		if [ -s err ] || grep -q '^ *<\.\.\.>' said || [ "$(wc -l <said)" -lt $shown ]; then
			cat err
			grep '^ *<\.\.\.>' said | head -n 5
			echo "cut at $end"
			return 1
		fi
		shown=$(wc -l <said)
	done <ends
	lines 500 'workload-[0-9]+ .*sys_enter: id=600' said
}

# After kill -9 the file is a trace.
killed()
{
	rm -f killed.tbuf enough
	# a workload without pauses would write megabytes before this shell looks again
	tracebuf record --fifo -q -o killed.tbuf -e raw_syscalls,signal -B 256 -- \
		sh -c "until [ -e enough ]; do '$work' 100; done" &
	pid=$!
	until_it test -s killed.tbuf || return
	until_it grown killed.tbuf 60000 || return
	kill -9 $pid
	wait $pid
	: >enough
	until_it not_running || return
	# the last block may be cut
	tracebuf print --fields killed.tbuf >said 2>err
	cat err
	! grep -q '^ *<\.\.\.>' said && [ "$(grep -c 'workload-.*: id=600\>' said)" -gt 100 ] &&
		status 0 tracebuf record --fifo -q -o after.tbuf -e irq -d 200ms
}

# grown FILE BYTES: FILE has more than BYTES
grown()
{
	[ "$(stat -c %s "$1")" -gt "$2" ]
}

not_running()
{
	! tracebuf status | grep -q running
}

stream_wrong()
{
	status 1 tracebuf record --fifo -m circular -o wrong.tbuf -e irq -d 1 && says "streaming"
}

# ---- control ----------------------------------------------------------------

control()
{
	status 0 tracebuf start -e raw_syscalls,signal -b 64 || return
	status 0 tracebuf status && says running && says "events *[34] of" || return
	"$work" $n
	status 0 tracebuf flush || return
	status 0 tracebuf stop || return
	status 0 tracebuf status && says stopped || return
	status 0 tracebuf save -o save.tbuf && status 0 tracebuf verify save.tbuf || return
	status 0 tracebuf print --fields save.tbuf && lines $n 'sys_enter: id=600' said && numbered said
}

# The buffers are empty: a second save fails, and keeps the file.
save_twice()
{
	cp save.tbuf saved.tbuf
	status 1 tracebuf save -o save.tbuf && says "read before" && cmp save.tbuf saved.tbuf || return
	status 1 tracebuf save -o never.tbuf && [ ! -e never.tbuf ]
}

# A save to a full disk leaves the rest in the buffers for another save.
save_full()
{
	status 0 tracebuf start -e raw_syscalls,signal -b 128 && "$work" $n && "$work" $n || return
	status 0 tracebuf stop || return
	mkdir -p full && mount -t tmpfs -o size=150k none full || return
	status 1 tracebuf save -o full/s.tbuf && says "no space" && says "left in the buffers"
	code=$?
	cp full/s.tbuf s.tbuf
	umount full
	# alone it is not whole, and verify says so
	[ $code = 0 ] && status 1 tracebuf verify s.tbuf && says "attempted, but" || return
	# the rest does not replace it
	cp s.tbuf first.tbuf
	status 1 tracebuf save -o first.tbuf && says "first.tbuf may have earlier events" &&
		cmp s.tbuf first.tbuf && status 0 tracebuf save -o rest.tbuf || return
	cat s.tbuf rest.tbuf >both.tbuf
	status 0 tracebuf verify both.tbuf && says exact || return
	status 0 tracebuf print --fields both.tbuf && lines $((2 * n)) 'signal_generate: sig=34' said
}

control_twice()
{
	status 0 tracebuf start -e sched || return
	tracebuf start -e sched >said 2>&1 && return 1
	cat said
	status 0 tracebuf stop || return
	tracebuf stop >said 2>&1 && return 1
	cat said
	[ -s said ]
}

flight_recorder()
{
	status 0 tracebuf start -e signal -m circular -b 4 -B 64 || return
	"$work" 2000
	# at the limit of a file's size a snapshot ends as on a full disk
	(
		ulimit -f 8
		status 1 tracebuf snapshot -o limit.tbuf && says "File too large"
	) || return
	status 0 tracebuf save -s -o flight.tbuf && status 0 tracebuf verify flight.tbuf || return
	# the last event is there, the first is not
	status 0 tracebuf print flight.tbuf && lines 1 'sig=34 \(SIGRTMIN\+2\) errno=1999 ' said &&
		lines 0 'sig=34 \(SIGRTMIN\+2\) errno=0 ' said
}

oneshot()
{
	# the first events are kept, later ones are counted
	status 0 tracebuf record -m oneshot -b 1 -B 64 -e signal -o oneshot.tbuf -- "$work" $n &&
		says " lost" || return
	status 0 tracebuf status && says "oneshot, policy drop" && says "^full *[12] of" || return
	status 0 tracebuf verify oneshot.tbuf && says exact && says "after its last block: 0 overwritten, [1-9]" || return
	status 0 tracebuf print oneshot.tbuf && lines 1 'sig=34 \(SIGRTMIN\+2\) errno=0 ' said &&
		lines 0 "sig=34 \(SIGRTMIN\+2\) errno=$((n - 1)) " said && says "LOST .* dropped" || return
	# the loss lasts until the end of the recording
	awk '/LOST .* dropped/ && $(NF - 1) > $(NF - 3) { found = 1 } END { exit !found }' said
}

ring_headers()
{
	status 0 tracebuf start -e signal -m circular -b 5 -B 64 || return
	"$work" $n
	status 0 tracebuf stop && status 0 tracebuf status --header || return
	says 'magic  *0x31676e6972666274' && says 'buffering_mode  *2 (circular)' &&
		says 'rolling_size  *1024' && says 'rolling_data_end  *1024 in ' &&
		lines "$(nproc)" '^  total_size ' said || return
	# the sizes add up, in every ring
	awk '$1 == "total_size" { total = $2 } $1 == "header_size" { sum = $2 }
	     $1 == "durable_size" { sum += $2 } $1 == "rolling_size" && total != sum + 5 * $2 { exit 1 }' said
}

snapshot()
{
	status 0 tracebuf start -e signal -m circular -b 4 -B 64 || return
	"$work" 2000
	status 0 tracebuf snapshot -o one.tbuf && running && status 0 tracebuf verify one.tbuf &&
		says "exact when the snapshot began" || return
	status 0 tracebuf print one.tbuf && lines 1 'sig=34 \(SIGRTMIN\+2\) errno=1999 ' said &&
		lines 0 'sig=34 \(SIGRTMIN\+2\) errno=0 ' said || return
	# the events stay in the rings; standard output, and names that the tool chooses
	tracebuf snapshot -o - >two.tbuf 2>said || return
	status 0 tracebuf print two.tbuf && lines 1 'sig=34 \(SIGRTMIN\+2\) errno=1999 ' said || return
	rm -f snapshot-*.tbuf
	status 0 tracebuf snapshot && status 0 tracebuf snapshot || return
	for f in snapshot-*.tbuf; do
		status 0 tracebuf verify "$f" || return
	done
	[ "$(ls snapshot-*.tbuf | wc -l)" = 2 ] || return
	status 0 tracebuf save -s -o three.tbuf && status 0 tracebuf verify three.tbuf &&
		says exact || return
	status 1 tracebuf snapshot -o four.tbuf && says stopped && says "tracebuf save" || return
	[ ! -e four.tbuf ] || return
	status 0 tracebuf start -e signal -m streaming || return
	status 1 tracebuf snapshot -o four.tbuf && says streaming && says "m circular"
	code=$?
	status 0 tracebuf stop && return $code
}

# With two blocks for each CPU a snapshot always has one, however often they are overwritten.
snapshot_at_full_rate()
{
	status 0 tracebuf start -e signal_generate -m circular -b 2 -B 64 || return
	"$work" 500
	"$work" 1000000000 &
	pid=$!
	code=0
	for i in 1 2; do
		status 0 tracebuf snapshot -o fast.tbuf && status 0 tracebuf verify fast.tbuf && says snapshot &&
			status 0 tracebuf print fast.tbuf && grep -q 'sig=34 (SIGRTMIN+2) errno=' said || code=1
	done
	kill $pid
	wait $pid
	status 0 tracebuf stop && return $code
}

snapshot_while_recording()
{
	rm -f snapshot-*.tbuf
	tracebuf record -o usr1.tbuf -e signal -m circular -b 4 -B 64 >said 2>&1 &
	pid=$!
	until_it running || return
	"$work" 2000
	kill -USR1 $pid
	until_it sh -c 'tracebuf verify snapshot-*.tbuf' || return
	"$work" 100
	kill $pid
	wait $pid
	cat said
	says snapshot- && status 0 tracebuf verify usr1.tbuf && says exact || return
	status 0 tracebuf print snapshot-*.tbuf && lines 1 'sig=34 \(SIGRTMIN\+2\) errno=1999 ' said
}

arm()
{
	rm -f snapshot-*.tbuf
	status 1 tracebuf arm --on signal_deliver && says stopped || return
	status 0 tracebuf start -e signal_generate -m circular -b 8 -B 64 || return
	"$work" 500
	tracebuf arm --on signal_deliver -f 'sig == 12' --post 50 -n 2 -o armed.tbuf >waited 2>&1 &
	pid=$!
	until_it grep -q armed waited || return
	for i in armed.tbuf armed.tbuf.2; do
		# a signal is delivered to a program with an escape sequence in its name; the
		# workload fills the rest of the buffers, on any CPU
		sh -c 'printf "o\033[2Jwn" >/proc/$$/comm; trap : USR2; kill -USR2 $$'
		until_it sh -c "'$work' 100; tracebuf verify $i" || return
		status 0 tracebuf print $i && grep -q 'trigger: signal:signal_deliver' said || return
	done
	wait $pid || return
	cat waited
	lines 2 'signal:signal_deliver at [0-9-]+ [0-9:.]+ on CPU [01], thread [0-9]+ [(]o[?]\[2Jwn[)]' waited &&
		lines 2 'armed.tbuf.*MB' waited || return
	# the rings are not frozen any more
	"$work" 500
	status 0 tracebuf save -s -o armed.tbuf && status 0 tracebuf verify armed.tbuf &&
		says exact
}

# Nothing comes after the event: the time ends the wait, and the snapshot counts what the rings
# refused.
arm_in_time()
{
	status 0 tracebuf start -e signal_generate -m circular -b 8 -B 64 || return
	"$work" 500
	tracebuf arm --on signal_deliver -f 'sig == 12' --post 100 --post-time 50ms -o timed.tbuf >waited 2>&1 &
	pid=$!
	until_it grep -q armed waited || return
	sh -c 'trap : USR2; kill -USR2 $$'
	wait $pid || return
	status 0 tracebuf verify timed.tbuf && says "when the snapshot began" &&
		status 0 tracebuf print timed.tbuf && grep -q 'trigger: signal:signal_deliver' said || return
	status 2 tracebuf arm --on signal_deliver --post-time 0 && says "from 0.001" || return
	tracebuf arm --on signal_deliver -f 'sig == 12' --post 0 --post-time none -o none.tbuf >waited 2>&1 &
	pid=$!
	until_it grep -q armed waited || return
	sh -c 'trap : USR2; kill -USR2 $$'
	wait $pid && status 0 tracebuf stop
}

arm_wrong()
{
	status 0 tracebuf start -e signal -m circular || return
	status 2 tracebuf arm && says "which event" &&
		status 2 tracebuf arm --on sched_switch --post 101 && says "from 0 to 100" &&
		status 2 tracebuf arm --on "sched_switch,prev_pid==1" && says "f FILTER" &&
		status 1 tracebuf arm --on shced_switch && says "did you mean" &&
		status 1 tracebuf arm --on all && says "more than 64" &&
		status 1 tracebuf arm --on suspend_resume -o no/such/file && says "no/such/file" &&
		mkdir -p folder && status 1 tracebuf arm --on suspend_resume -o folder &&
		says "folder: cannot be written" || return
	# nobody suspends this machine
	tracebuf arm --on suspend_resume >waited 2>&1 &
	pid=$!
	until_it grep -q armed waited || return
	status 1 tracebuf arm --on suspend_resume && says "another program" || return
	status 0 tracebuf stop || return
	wait $pid
	[ $? = 1 ] && cat waited && grep -q "before the event" waited
}

enable_disable()
{
	# without these options the buffers stay as they were
	status 0 tracebuf start -e signal -m streaming -b 64 -B 1024 || return
	status 0 tracebuf enable raw_syscalls || return
	tracebuf list raw_syscalls | lines 2 '^\*' /dev/stdin || return
	"$work" 10
	status 0 tracebuf disable raw_syscalls || return
	"$work" 10
	status 0 tracebuf save -s -o enable.tbuf || return
	status 0 tracebuf print --fields enable.tbuf && lines 10 'sys_enter: id=600' said
}

plain_cat()
{
	status 0 tracebuf start -e raw_syscalls,signal -b 64 || return
	"$work" $n
	status 0 tracebuf stop || return
	# cat ends at the end of the stopped recording
	timeout 300 cat /dev/tracebuf >cat.tbuf || return
	status 0 tracebuf verify cat.tbuf && says exact || return
	status 0 tracebuf print --fields cat.tbuf && lines $n 'sys_enter: id=600' said
}

list()
{
	status 0 tracebuf list && says sched:sched_switch && says irq:softirq_raise || return
	status 0 tracebuf list 'sched:sched_sw*' && lines 1 sched_switch said || return
	status 0 tracebuf list -v sched_switch && says next_pid
}

# ---- errors -----------------------------------------------------------------

unknown_event()
{
	status 1 tracebuf record -e shced_switch -d 1 && says shced_switch && says sched:sched_switch
}

unknown_event_of_many()
{
	status 1 tracebuf record -e sched,softirq_rise -d 1 && says softirq_rise &&
		says irq:softirq_raise
}

no_folder()
{
	status 1 tracebuf record -o ./no/such/file -e irq -d 1 && says no/such/file
}

not_root()
{
	for mode in 600 666; do
		chmod $mode /dev/tracebuf
		setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
			tracebuf record -e sched -d 1 -o /dev/null >said 2>&1 && return 1
		cat said
		says 'root\|CAP_PERFMON' || return
	done
	chmod 600 /dev/tracebuf
}

busy()
{
	tracebuf record -q -o busy.tbuf -e sched &
	pid=$!
	until_it running || return
	tracebuf record -e irq -o other.tbuf -d 1 >said 2>&1 && return 1
	cat said
	kill $pid
	wait $pid
	[ -s said ] && status 0 tracebuf verify busy.tbuf
}

disk_full()
{
	mkdir -p full && mount -t tmpfs -o size=500k none full || return
	status 1 tracebuf record -o full/f.tbuf -e all -- "$work" 20000
	code=$?
	df full
	[ $code = 0 ] && says "no space" && status 0 tracebuf verify full/f.tbuf &&
		status 0 tracebuf print full/f.tbuf && [ -s said ]
	code=$?
	umount full
	return $code
}

truncated()
{
	size=$(stat -c %s wide.tbuf)
	cut=$((size - 20000))
	head -c $cut wide.tbuf >cut.tbuf
	status 1 tracebuf verify cut.tbuf && says "at byte $cut" || return
	# print shows the whole blocks
	tracebuf print cut.tbuf >said 2>err
	cat err
	[ "$(wc -l <said)" -gt 500 ] && grep -q "at byte $cut" err
}

foreign()
{
	for f in /bin/true /dev/null "$0"; do
		status 1 tracebuf verify "$f" || return
		tracebuf print "$f" >said 2>&1 && return 1
		tracebuf export -o foreign.pftrace "$f" >said 2>&1 && return 1
	done
	status 1 tracebuf print ./no-such-file && says no-such-file
}

damaged()
{
	# Make the first event of a rolling block look uncommitted. Durable blocks, of kind 1, come
	# before.
	cp wide.tbuf damaged.tbuf
	at=0
	while [ "$(od -An -tu1 -j$((at + 5)) -N1 damaged.tbuf)" -eq 1 ]; do
		at=$((at + (1 << $(od -An -tu1 -j$((at + 6)) -N1 damaged.tbuf))))
	done
	printf '\0' | dd of=damaged.tbuf bs=1 seek=$((at + 128)) conv=notrunc 2>/dev/null
	tracebuf verify damaged.tbuf >said 2>&1
	code=$?
	cat said
	[ $code = 1 ]
}

bad_options()
{
	for o in "-b 1" "-B 1000" "-w 101" "-m sideways" "--policy keep" "-d soon" "--nonsense"; do
		# shellcheck disable=SC2086
		tracebuf record $o -e irq -d 1 -o bad.tbuf >said 2>&1
		code=$?
		cat said
		if [ $code = 0 ] || [ $code -ge 126 ] || [ ! -s said ]; then
			echo "$o: exit status $code"
			return 1
		fi
	done
	tracebuf nonsense >said 2>&1 && return 1
	says nonsense
}

# ---- providers --------------------------------------------------------------

provider_create()
{
	status 0 tracebuf provider create mine.1 -m circular -b 64 -B 256 -w 50 --durable 128 \
		--durable-max 512 -c 0 -e signal,raw_syscalls || return
	status 0 tracebuf provider list && lines 1 '^ *[1-9][0-9]* mine.1 +idle +0 ' said &&
		lines 1 '^ *0 kernel ' said || return
	status 0 tracebuf provider show mine.1 && says "circular, policy overwrite, watermark 50" &&
		says "64 per CPU of 256 elements" && says "may grow to 5[0-9][0-9] KiB" &&
		says signal:signal_generate && says "^ *all " || return
	# the provider "kernel" has none of these settings
	status 0 tracebuf status && says "provider *kernel" && lines 0 "watermark 50" said
}

provider_one_each()
{
	status 0 tracebuf start -p mine.1 || return
	status 0 tracebuf status -p mine.1 && says "state *running" || return
	status 0 tracebuf status && says "state *\(idle\|stopped\)" || return
	status 0 tracebuf record -o own.tbuf -e raw_syscalls -b 64 -- "$work" 100 || return
	status 0 tracebuf save -p mine.1 -s -o mine.tbuf || return
	status 0 tracebuf print --fields own.tbuf && lines 100 'sys_enter: id=600' said || return
	status 0 tracebuf print --fields mine.tbuf && lines 100 'sys_enter: id=600' said &&
		lines 100 'signal_generate: sig=34' said || return
	# one file with two recordings
	cat own.tbuf mine.tbuf >both.tbuf
	status 0 tracebuf verify both.tbuf && lines 2 'buffers of .* elements per CPU' said
}

provider_record()
{
	status 0 tracebuf record -p mine.1 -o again.tbuf -- "$work" 100 || return
	status 0 tracebuf provider show mine.1 && says "circular" || return
	status 0 tracebuf print --fields again.tbuf && lines 100 'sys_enter: id=600' said || return
	status 0 tracebuf list -p mine.1 raw_syscalls && lines 2 '^\*' said &&
		status 0 tracebuf disable -p mine.1 raw_syscalls &&
		status 0 tracebuf list -p mine.1 raw_syscalls && lines 0 '^\*' said &&
		status 0 tracebuf enable -p mine.1 raw_syscalls &&
		status 0 tracebuf list -p mine.1 raw_syscalls && lines 2 '^\*C' said
}

# wrong STATUS TEXT COMMAND...: COMMAND fails with STATUS, and its message has TEXT.
wrong()
{
	wanted=$1 text=$2
	shift 2
	status "$wanted" "$@" && says "$text"
}

provider_wrong()
{
	new="tracebuf provider create new"
	wrong 2 "A-Z a-z 0-9" tracebuf provider create 1st &&
		wrong 2 "1 to 31" tracebuf provider create a2345678901234567890123456789012 &&
		wrong 2 "needs the name" tracebuf provider create &&
		wrong 2 "64 to 65536" $new --durable 63 &&
		wrong 2 "64 to 65536" $new --durable-max 65537 &&
		wrong 2 "at least --durable" $new --durable-max 512 &&
		wrong 2 "leave out --durable-max" $new --durable-stop --durable-max 2048 &&
		wrong 2 "from 2 to 4096" $new -b 0 && wrong 2 "from 2 to 4096" $new -b 4097 &&
		wrong 2 "power of two from 64 to 65536" $new -B 1000 &&
		wrong 2 "power of two from 64 to 65536" $new -B 131072 &&
		wrong 2 "overwrite or drop" $new --policy keep &&
		wrong 2 "streaming or oneshot" $new -m circular --policy drop &&
		wrong 2 "0-3,7" $new -c 1-0 &&
		wrong 1 "no CPU 77 here, only 0-1" $new -c 0,77 &&
		wrong 1 "softirq_raise" $new -e softirq_rise &&
		wrong 1 "4096 buffers of 1024 KiB" $new -b 4096 -B 65536 &&
		wrong 1 "existing: kernel, mine.1" tracebuf start -p new &&
		wrong 1 "existing: kernel, mine.1" tracebuf provider show new &&
		wrong 1 "existing: kernel, mine.1" tracebuf provider destroy new &&
		wrong 1 "always exists" tracebuf provider destroy kernel &&
		wrong 1 "already" tracebuf provider create mine.1 || return
	# the refused calls have left nothing
	status 0 tracebuf provider list && lines 0 new said || return
	status 0 tracebuf start -p mine.1 &&
		wrong 1 "'tracebuf stop -p mine.1' stops it" tracebuf start -p mine.1 -m oneshot &&
		status 0 tracebuf stop -p mine.1
}

provider_too_many()
{
	made=1
	until [ $made -gt 64 ] || ! tracebuf provider create many$made -b 2 -B 64 >said 2>&1; do
		made=$((made + 1))
	done
	cat said
	# two exist already
	[ $made = 63 ] && says "64 providers" || return
	while [ $((made -= 1)) -gt 0 ]; do
		tracebuf provider destroy many$made || return
	done
}

some_processes()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		: | : | : | :
	done
}

provider_full()
{
	status 0 tracebuf provider create full --durable 64 --durable-stop -e signal -b 2 -B 64 &&
		status 0 tracebuf start -p full --no-state || return
	status 0 tracebuf provider show full
	for i in $(seq 200); do
		tracebuf status -p full >said || return
		! grep -q 'stopped: durable buffer full' said || break
		some_processes
	done
	cat said
	says "state *stopped: durable buffer full" && says "[1-9][0-9]* records lost" || return
	status 0 tracebuf provider list && lines 1 'full +stopped +0 +durable buffer full' said &&
		status 0 tracebuf save -p full -o full.tbuf && says "durable buffer of .* is full" || return
	# a recorder of a full provider ends with an error
	tracebuf record -p full -e signal -o full.tbuf >said 2>&1 &
	pid=$!
	for i in $(seq 200); do
		kill -0 $pid 2>/dev/null || break
		some_processes
	done
	wait $pid
	[ $? = 1 ] && says "stopped by itself: the durable buffer of .* is full" &&
		status 0 tracebuf provider destroy full
}

provider_destroy()
{
	tracebuf record -p mine.1 -q -o busy.tbuf >record.said 2>&1 &
	pid=$!
	is_running() { tracebuf status -p mine.1 | grep -q running; }
	until_it is_running && wrong 1 "uses provider" tracebuf provider destroy mine.1
	code=$?
	kill $pid
	wait $pid
	[ $code = 0 ] && status 0 tracebuf provider destroy mine.1 &&
		status 0 tracebuf provider list && lines 0 mine said
}

# test_top.sh tests the terminal; this test checks that top shows a recording of the device.
top_in_a_terminal()
{
	TERM=xterm script -qec 'tracebuf top -n 2 --delay 300ms' /dev/null </dev/null >said 2>&1
	code=$?
	cat -v said | tail -n 3
	[ $code = 0 ] && says COMMAND
}

unload()
{
	rmmod tracebuf
}

plan 67 2
check "no module: status" no_module status
check "no module: record" no_module record -d 1
check "no module: list" no_module list
check "load" insmod "$TRACEBUF_KO"
check "list" list
check "record a known workload" record_wide
check "print has exactly its events" print_wide
check "print: the kernel's formats" print_kernel
check "print: filters" print_filters
check "record and print compact forms" record_compact
check "verify" verify
check "export to Perfetto has exactly its events" export_perfetto
check "list of a file" list_of_file
check "record: duration" for_a_while
check "record: exit status of the command" exit_status_of_the_command
check "record: exit status of the command, with a duration" exit_status_in_time
check "record: SIGUSR2 when there is one file" one_file
check "record: no such command" no_such_command
check "record: overload is told and exact" overload
check "record: through a pipe" through_a_pipe
check "record: SIGTERM" ends_well TERM
check "record: SIGHUP" ends_well HUP
check "record: Ctrl-C" interrupt
check "record: Ctrl-C with a command" interrupt_with_command
check "record: SIGHUP under nohup" hangup_ignored
check "record: a command that does not end" deaf_command
check "record: ended while nobody reads its FIFO" no_reader
check "stream: through channels" stream_fifo
check "stream: through a pipe" stream_pipe
check "stream: overload is told and exact" stream_overload
check "stream: recordings to be cut" stream_to_cut
check "stream: kill -9" killed
check "stream: what is wrong is said" stream_wrong
check "start, status, flush, stop, save" control
check "save twice" save_twice
check "save to a full disk, and then elsewhere" save_full
check "start and stop twice" control_twice
check "flight recorder" flight_recorder
check "oneshot" oneshot
check "headers of the rings" ring_headers
check "snapshot" snapshot
check "snapshot of two blocks at full rate" snapshot_at_full_rate
check "record: SIGUSR1 takes a snapshot" snapshot_while_recording
check "arm takes a snapshot when an event occurs" arm
check "arm --post-time: or when the time is up" arm_in_time
check "arm: what is wrong is said" arm_wrong
check "enable and disable" enable_disable
check "cat of the device" plain_cat
check "unknown event" unknown_event
check "unknown event among others" unknown_event_of_many
check "no such folder" no_folder
check "not root" not_root
check "another recorder" busy
check "disk full" disk_full
check "truncated file" truncated
check "foreign file" foreign
check "damaged file" damaged
check "bad options" bad_options
check "provider: create, list, show" provider_create
check "provider: independent of the kernel's" provider_one_each
check "provider: record as it is set up, enable, disable" provider_record
check "provider: what is wrong is said" provider_wrong
check "provider: too many" provider_too_many
check "provider: durable buffer full" provider_full
check "provider: destroy" provider_destroy
check "top in a terminal" top_in_a_terminal
check "unload" unload
leave cut-read.tbuf cut-fifo.tbuf
judge "stream: cut anywhere" cut_anywhere cut-read.tbuf
judge "stream: cut anywhere, through channels" cut_anywhere cut-fifo.tbuf
finish
