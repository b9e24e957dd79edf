#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_user.sh - a recording has the records of programs that use libtracebuf, in the order of time
# with the kernel's events: marks from the shell, the samples in C and Python, killed and forked
# programs, within their limits. If a test fails, a program's records are missing, misplaced, or
# recorded although no option chose them.

# Functions are called by way of check.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/vm/lib/said.sh
. "$here/../lib/said.sh"
# shellcheck source=selftests/vm/lib/ktap.sh
. "$here/../lib/ktap.sh"
tree=${here%/selftests/vm/*}
tmp=$(mktemp -d) || exit 1
cd "$tmp" || exit 1
built=${TRACEBUF_USER:-$tree/build/user}
export LD_LIBRARY_PATH="$built"

marks()
{
	tracebuf record -e user -o t -- sh -c 'tracebuf mark one && tracebuf mark "two words"' || return
	tracebuf print t >said && cat said
	grep -q 'user:-: mark one$' said && grep -q 'user:-: mark two words$' said && tracebuf verify t
}

marks_small()
{
	tracebuf start -b 64 -B 64 -e user && tracebuf mark fits || return
	if tracebuf mark $(seq 300) 2>said; then
		return 1
	fi
	grep 'too long for the buffers' said && tracebuf stop && tracebuf save -o t &&
		tracebuf print t | grep 'mark fits$'
}

threads()
{
	tracebuf record -e sched_switch,user -o t -- "$built/samples/threads" || return
	tracebuf verify t >said || { cat said; return 1; }
	# each piece is put once and done once, by any thread
	tracebuf print -e user t >said
	[ "$(grep -c 'user:queue: begin put flow=' said)" = 300 ] &&
		[ "$(grep 'user:work: begin piece flow=' said | sed 's/.*flow=//' | sort -nu | wc -l)" = 300 ] &&
		[ "$(grep -c 'user:work: instant done flow_end=' said)" = 300 ] &&
		[ "$(grep -c 'user:work: end piece' said)" = 300 ] &&
		! grep LOST said
}

# A thread's events lie where the scheduler's events say that it runs.
lined_up()
{
	tracebuf record -e sched_switch,user -o t -- "$built/samples/threads" || return
	tracebuf print t | awk '
	/ sched:sched_switch: / {
		match($0, /prev_pid=[0-9]+/)
		runs[substr($0, RSTART + 9, RLENGTH - 9)] = "no"
		match($0, /next_pid=[0-9]+/)
		runs[substr($0, RSTART + 9, RLENGTH - 9)] = "yes"
	}
	/ user:/ {
		match($0, /-[0-9]+ +\[/)
		thread = substr($0, RSTART + 1, RLENGTH - 2) + 0
		if (!(thread in runs))
			next
		n++
		if (runs[thread] == "yes")
			next
		print "thread " thread " does not run: " $0
		bad++
	}
	END {
		print n " events of threads that run"
		exit bad || n < 2000
	}'
}

python()
{
	tracebuf record -e user -o t -- python3 "$tree/samples/user/record.py" || return
	tracebuf verify t || return
	tracebuf print t >said && grep -q 'user:.*: begin ' said
}

# A writer's event lies between the system calls before and after it.
cat >between.py <<'END'
import ctypes, os
lib = ctypes.CDLL("libtracebuf.so.1")
for i in range(int(os.environ["TIMES"])):
    os.getppid()
    lib.tb_write_instant(b"between", b"here")
END

between()
{
	TIMES=$1 tracebuf record -e syscalls:getppid -e user:between -o t -b 64 -B 65536 -- \
		python3 between.py || return
	tracebuf verify t >said || { cat said; return 1; }
	tracebuf print t | awk -v times="$1" '
	!/python3-/ { next }
	/sys_enter/ { if (state != 0) exit bad = 1; state = 1 }
	/sys_exit/ { if (state != 1) exit bad = 1; state = 2 }
	/user:between: instant here/ { if (state != 2) exit bad = 1; state = 0; n++ }
	END {
		print n " events between system calls"
		if (bad)
			print "line " NR ": " $0
		exit bad || n != times
	}'
}

only_chosen()
{
	tracebuf record -e 'user:q*' -o t -- "$built/samples/threads" || return
	tracebuf print t >said
	grep -q user:queue: said && ! grep user:work: said
}

# instant NAME: writes an instant in the category "later"
instant()
{
	python3 -c "
import ctypes
ctypes.CDLL('libtracebuf.so.1').tb_write_instant(b'later', b'$1')"
}

later_chosen()
{
	tracebuf start -e task --writers default && instant before && tracebuf mark always &&
		tracebuf enable 'user:l*' &&
		instant after && tracebuf disable user && instant again && tracebuf save -s -o t || return
	tracebuf print t >said
	grep user: said
	! grep -q 'instant before' said && grep -q 'instant after' said && ! grep -q 'instant again' said &&
		grep -q 'mark always' said
}

# Nothing is taken of programs unless the user asked for them. "enable user" opens the provider; the
# next recording is closed again.
closed()
{
	tracebuf start -e task || return
	tracebuf mark nobody >said 2>&1 && return 1
	cat said
	grep -q "closed to programs: 'tracebuf enable -p kernel user'" said || return
	tracebuf status | grep '^programs *closed: .*' || return
	tracebuf enable -p kernel user && tracebuf mark somebody || return
	tracebuf status | grep '^programs *may write .* a second .* at once$' || return
	tracebuf disable user || return
	tracebuf mark nobody && return 1
	tracebuf save -s -o t && tracebuf print t | grep 'user:-: mark somebody$' || return
	# record reads all the time and allows more, then leaves the usual limit behind
	tracebuf record -b 32 -B 1024 -e user -o t -- tracebuf status >now && grep 'may write 67.1 MB a second' now &&
		tracebuf status | grep 'may write 52.4 kB a second' || return
	tracebuf start -e user && tracebuf mark somebody && tracebuf stop && tracebuf start -e task || return
	tracebuf mark nobody && return 1
	tracebuf stop
	# a provider of the user's own, with a limit and without
	tracebuf provider create app -e sched && tracebuf start -p app || return
	tracebuf mark -p app nobody && return 1
	tracebuf provider destroy app && tracebuf provider create app --writers 2M &&
		tracebuf provider show app | grep 'may write 2.1 MB a second' &&
		tracebuf start -p app && tracebuf mark -p app somebody && tracebuf stop -p app &&
		tracebuf provider destroy app
}

# A program that was there before the recording is recorded from its start on.
before_it()
{
	rm -f go
	mkfifo go
	python3 -c '
import ctypes, time
lib = ctypes.CDLL("libtracebuf.so.1")
lib.tb_write_instant(b"early", b"too early")
print("there", flush=True)
open("go").read()
lib.tb_write_enabled.restype = ctypes.c_bool
while not lib.tb_write_enabled(b"early"):
    time.sleep(0.01)
lib.tb_write_instant(b"early", b"in time")
' >there &
	pid=$!
	until_it grep -q there there || return
	tracebuf start -e 'user:early' && : >go && wait "$pid" && tracebuf save -s -o t || return
	tracebuf print t >said
	cat said
	grep -q 'instant in time$' said && ! grep 'too early' said
}

# Records over quota are missing in the file, and the recorder says how many.
over_quota()
{
	cat >flood.py <<'END'
import ctypes
lib = ctypes.CDLL("libtracebuf.so.1")
for i in range(20000):
    lib.tb_write_instant(b"flood", b"drop")
lib.tb_write_flush()
END
	tracebuf record -e user --writers 4K -o t -- python3 flood.py 2>said
	status=$?
	cat said
	[ "$status" = 0 ] || return
	kept=$(sed -n 's/.*warning: \([0-9]*\) records of programs were over quota.*/\1/p' said)
	have=$(tracebuf print t | grep -c 'instant drop')
	tracebuf verify t || return
	echo "$have in the file, $kept kept out"
	[ "$kept" -gt 0 ] && [ "$have" -gt 0 ] && [ "$have" -lt 20000 ] || return
	# some records are lost for want of a chunk; the recorder also counts names
	[ $((have + kept)) -le 20200 ] || return
	# without a limit there is no warning
	tracebuf record -e user --writers any -o t -- python3 flood.py 2>said || return
	! grep 'over quota' said || return
	tracebuf record -e user --writers lots -o t true 2>said && return 1
	grep "writers: 'lots' is not no, default, any" said
}

killed()
{
	# the program writes three events and dies without a commit
	tracebuf record -e user -o t -- python3 -c '
import ctypes, os, signal
lib = ctypes.CDLL("libtracebuf.so.1")
for name in b"a", b"b", b"c":
    lib.tb_write_instant(b"killed", name)
os.kill(os.getpid(), signal.SIGKILL)'
	tracebuf verify t || return
	tracebuf print t >said
	for n in a b c; do grep -q "user:killed: instant $n\$" said || return; done
}

forked()
{
	tracebuf record -e user -o t -- python3 -c '
import ctypes, os
lib = ctypes.CDLL("libtracebuf.so.1")
lib.tb_write_instant(b"forked", b"parent")
child = os.fork()
lib.tb_write_instant(b"forked", b"child" if not child else b"parent again")
if child:
    os.waitpid(child, 0)' || return
	tracebuf verify t || return
	tracebuf print t >said
	[ "$(grep 'user:forked' said | sed 's/.*-\([0-9]*\) \[.*instant \(.*\)/\2 \1/' | sort -u | wc -l)" = 3 ] &&
		[ "$(grep 'user:forked' said | sed 's/.*-\([0-9]*\) \[.*/\1/' | sort -u | wc -l)" = 2 ]
}

# The kernel cannot see this program's memory: a flush asks the program, and then it is killed.
cat >alone.py <<'END'
import ctypes, signal, sys
lib = ctypes.CDLL("libtracebuf.so.1")
arbiter = ctypes.c_void_p()
options = (ctypes.c_uint32 * 4)(0, 0, 1000000, 1)   # TB_ARBITER_NO_SHARED
if lib.tb_default_open(options, ctypes.byref(arbiter)):
    sys.exit("no channel")
if sys.argv[1] == "answers" and lib.tb_arbiter_start_thread(arbiter):
    sys.exit("no thread")
lib.tb_write_instant(b"alone", b"asked for")
print("written", flush=True)
signal.pause()
END

# alone HOW: starts the program, flushes, kills it; returns the status of the flush
alone()
{
	tracebuf start -e user || return 2
	mkfifo written
	# the file must not be empty
	tracebuf mark "not alone" || return 2
	python3 alone.py "$1" >written &
	pid=$!
	read -r said <written
	echo "$said"
	tracebuf flush 2>said
	status=$?
	kill -KILL $pid
	wait $pid 2>/dev/null
	rm written
	tracebuf save -s -o t && tracebuf verify t || return 2
	cat said
	return $status
}

asked()
{
	alone answers || return
	tracebuf print t | grep 'user:alone: instant asked for$'
}

asked_in_vain()
{
	alone "does not"
	[ $? = 1 ] && grep -q 'has not answered' said && ! tracebuf print t | grep 'user:alone'
}

# A program that may not open the channel gets an error from the library, and runs on.
not_allowed()
{
	tracebuf start -e user && chmod 0600 /dev/tracebuf_producer || return
	setpriv --reuid nobody --regid nogroup --clear-groups "$built/samples/threads" 2>said
	status=$?
	cat said
	tracebuf stop
	[ "$status" = 0 ] && grep -q 'nothing can be recorded' said
}

exported()
{
	tracebuf record -e sched,user -o t -- "$built/samples/threads" &&
		tracebuf export t -o t.perfetto && grep -qa 'half way' t.perfetto
}

plan 17
insmod "$TRACEBUF_KO"
check "marks from the shell" marks
check "marks where buffers are small" marks_small
check "threads that hand work to each other" threads
check "what a thread writes lines up with its scheduling" lined_up
check "a Python program" python
times=20000
[ -z "${TRACEBUF_FULL:-}" ] || times=1000000
check "events are between the system calls they were written between" between $times
check "categories that were chosen, and no others" only_chosen
check "categories that are chosen later" later_chosen
check "nobody is recorded who was not asked for" closed
check "a program that was there before the recording" before_it
check "what is over quota is told" over_quota
check "what a killed program has written is there" killed
check "a child starts anew" forked
check "a flush asks for what the kernel cannot see" asked
check "a program that does not answer a flush" asked_in_vain
check "without the right to, a program does not record, and runs" not_allowed
check "as Perfetto shows it" exported
finish
