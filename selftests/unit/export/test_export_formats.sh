#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An export has every event that print shows, in each format, or the tool reports an error and
# leaves no file. If this fails, a script computes from a table that lacks events. The tests compare
# golden outputs byte by byte and every event with print, choose events, damage traces, and fail
# writes.
#
# Needs: TRACEBUF (the tool, with sanitizers), python3, sqlite3; REPORT_TRACE (report_trace.c) and
# HISTORY_TRACE (history_trace.c) for traces of a few events; TEST_EXPORT (test_export.c) for longer
# ones, if it could be built.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/unit/tap.sh
. "$here/../tap.sh"
golden=$here/../../golden
TRACEBUF=${TRACEBUF:-tracebuf}
TEST_EXPORT=${TEST_EXPORT:-test_export}
REPORT_TRACE=${REPORT_TRACE:-report_trace}
HISTORY_TRACE=${HISTORY_TRACE:-history_trace}
begin python3 sqlite3 "$TRACEBUF" "$REPORT_TRACE" "$HISTORY_TRACE"

# fails MESSAGE ARGUMENT...: export fails with the message, and leaves no file
fails()
{
	message=$1
	shift
	ls -A . >before
	"$TRACEBUF" export "$@" >out.txt 2>said.txt
	status=$?
	ls -A . >after
	if [ $status -ne 0 ] && grep -qF -- "$message" said.txt &&
	   cmp -s before after; then
		return 0
	fi
	echo "# $*: status $status, wanted: $message"
	sed 's/^/# /' said.txt
	diff before after | sed 's/^/# /'
	return 1
}
: >before; : >after; : >out.txt; : >said.txt

# ---- golden outputs ----

for trace in kernel user; do
	for format in text csv jsonl json; do
		"$TRACEBUF" export --format $format -o - "$golden/$trace.tbuf" >have &&
			cmp have "$golden/$trace.$format"
		result $? "$trace.tbuf as $format equals the golden output"
	done
done
rm have

# ---- every event in every format ----

check()
{
	python3 "$here/export_check.py" "$TRACEBUF" "$@" >check.out 2>&1
	status=$?
	grep -v '^ok\|^TAP\|^1\.\.' check.out | sed 's/^/# /'
	sed -n 's/^ok [0-9]* - /# /p' check.out
	rm check.out
	return $status
}

check "$golden/kernel.tbuf"
result $? "kernel events are the same in all formats"
check "$golden/user.tbuf"
result $? "records of programs are the same in all formats"
"$REPORT_TRACE" gap gap.tbuf && check gap.tbuf
result $? "slices over a gap of another CPU are not certain"
"$REPORT_TRACE" killed killed.tbuf && check killed.tbuf && "$REPORT_TRACE" staggered staggered.tbuf &&
	check staggered.tbuf
result $? "nothing is drawn after the last event of a CPU in the file"
"$REPORT_TRACE" moved moved.tbuf && check moved.tbuf
result $? "a gap of one CPU does not lengthen what runs on another one"
"$REPORT_TRACE" unselected unselected.tbuf && check unselected.tbuf perfetto
result $? "no run is drawn while switches are not recorded"
"$REPORT_TRACE" deselected deselected.tbuf && check deselected.tbuf perfetto
result $? "no run is drawn from the end of a CPU until the selection changes"
"$REPORT_TRACE" fences fences.tbuf && check fences.tbuf perfetto >said.txt &&
	cat said.txt && grep -q 'open at the end: nothing' said.txt
result $? "waits for fences without an end in the trace are not drawn as open"
if command -v "$TEST_EXPORT" >/dev/null && "$TEST_EXPORT" big big.tbuf 20000; then
	check big.tbuf
	result $? "20000 events are the same in all formats"
	"$TEST_EXPORT" extras extras.tbuf && check extras.tbuf
	result $? "stacks, counters and functions are the same in all formats"
else
	skip "20000 events are the same in all formats" "no test_export"
	skip "stacks, counters and functions are the same in all formats" "no test_export"
fi

# ---- choosing ----

# All formats have the same events, chosen by name, CPU, thread and time
for options in "-e sched_switch" "-e user:net" "-C 1" "-t 101" \
	       "--from 1.0000018 --to 1.0000055" "--from +0.000001" "-T real --from 1700000001.0000007" \
	       "--comm server" "--pid 100" "-e sched --to +0.000002 -t 100"; do
	ok=0
	for trace in kernel user; do
		case $options$trace in
		*user:netkernel | *sched*user | *pid*user) continue ;;
		esac
		# shellcheck disable=SC2086
		"$TRACEBUF" print --jsonl $options "$golden/$trace.tbuf" >want
		status=$?
		# with no event the tool says so, exits with 1 and writes no file
		[ $status = "$([ -s want ]; echo $?)" ] || ok=1
		# shellcheck disable=SC2086
		"$TRACEBUF" export --jsonl $options -o - "$golden/$trace.tbuf" | cmp - want || ok=1
		# shellcheck disable=SC2086
		"$TRACEBUF" export -q --format csv $options -o out.csv "$golden/$trace.tbuf"
		[ $? = $status ] || ok=1
		# shellcheck disable=SC2086
		"$TRACEBUF" export -q --format sqlite $options -o out.db "$golden/$trace.tbuf"
		[ $? = $status ] || ok=1
		if [ $status != 0 ]; then
			[ ! -e out.csv ] && [ ! -e out.db ] || ok=1
			rm -f want out.csv out.db
			continue
		fi
		wanted=$(wc -l <want)
		rows=$(python3 -c 'import csv, sys
print(len(list(csv.reader(open("out.csv", newline="")))) - 1)')
		stored=$(sqlite3 out.db "SELECT (SELECT count(*) FROM events) +
			(SELECT count(*) FROM user_events) + (SELECT count(*) FROM other_events) +
			(SELECT count(*) FROM losses WHERE cpu IS NOT NULL)")
		if [ "$wanted" != "$rows" ] || [ "$wanted" != "$stored" ] ||
		   [ "$wanted" -ge "$("$TRACEBUF" print --jsonl "$golden/$trace.tbuf" | wc -l)" ]; then
			echo "# $trace: print $wanted, csv $rows, sqlite $stored"
			ok=1
		fi
		rm -f want out.csv out.db
	done
	result $ok "chosen in all formats: $options"
done

# thread 200 runs for 5 ms on CPU 0, moves in a system call, and runs for 3.5 ms on CPU 1
"$HISTORY_TRACE" runs.tbuf >/dev/null <<END
cpus 2
thread 100
thread 200
switch 0 1000000 0 0 100
enter 0 2000000 100 1
switch 0 3000000 100 0 200
enter 0 7000000 200 1
switch 0 8000000 200 0 100
switch 1 8500000 0 0 200
exit 1 9000000 200 1 5
switch 0 9500000 100 1 0
switch 1 12000000 200 1 0
totals 0 0 13000000
totals 1 0 13000000
END
ran="python3 $here/chosen_check.py $TRACEBUF"
$ran runs.tbuf 200 t200 8500000 && $ran runs.tbuf 200 t200 8500000 -t 200 &&
	$ran runs.tbuf 200 t200 8500000 --comm 't2*' && $ran runs.tbuf 200 t200 5000000 -C 0
result $? "all runs of a chosen thread are exported, and only these are called its own"
$ran runs.tbuf 200 t200 7500000 --from 0.004 &&
	$ran runs.tbuf 100 t100 1500000 --from 0.004 -t 100 &&
	$ran runs.tbuf 100 t100 3000000 --from 0.0015
result $? "a part of a trace begins with what the CPUs ran then"
"$TRACEBUF" export -q --format sqlite -C 1 -o runs.db runs.tbuf &&
	[ "$(sqlite3 runs.db 'SELECT duration, whole FROM slices WHERE kind = "syscall"')" = \
	  "2000000|1" ]
result $? "a system call that ends on a chosen CPU began on another one"
# from 3 ms, events are missing until 5 ms: nothing tells when the thread that runs then began to
"$HISTORY_TRACE" begin.tbuf >/dev/null <<END
cpus 1
thread 100
thread 200
switch 0 1000000 0 0 100
gap 0 6000000 200 3 2000000 5000000
irq 0 7000000 200 11
irqend 0 7500000 200 11
switch 0 8000000 200 0 100
switch 0 9000000 100 1 0
totals 0 0 10000000
END
$ran begin.tbuf 100 t100 1000000 --from 0.003 &&
	"$TRACEBUF" export -q --format sqlite --from 0.003 -o runs.db begin.tbuf &&
	[ "$(sqlite3 runs.db 'SELECT count(*) FROM run_slices WHERE tid = 200')" = 0 ]
result $? "a part that begins in a gap does not begin with a run"
rm -f runs.db
ok=0
"$REPORT_TRACE" chosen chosen.tbuf && $ran chosen.tbuf 100 t100 300000000 &&
	$ran chosen.tbuf 200 t200 0 || ok=1
# an interrupt shows that 100 was chosen; without it, 100 is the one thread in all switches
for interrupt in '' 'irq 0 8000000 100 11'; do
	"$HISTORY_TRACE" busy.tbuf >/dev/null <<END
chosen
cpus 1
thread 100
thread 200
thread 300
switch 0 1000000 200 0 100
switch 0 5000000 100 0 300
switch 0 6000000 200 0 100
${interrupt:-symbol 1 none}
switch 0 9000000 100 0 200
totals 0 0 10000000
END
	$ran busy.tbuf 100 t100 7000000 && $ran busy.tbuf 200 t200 0 &&
		$ran busy.tbuf 100 t100 7000000 -t 100 &&
		$ran busy.tbuf 100 t100 7000000 -e sched_switch || ok=1
done
$ran busy.tbuf 100 t100 2000000 --from 0.007 || ok=1
# after the gap, 200 need not have been on the CPU before it wakes 100
"$HISTORY_TRACE" lossy.tbuf >/dev/null <<END
chosen
cpus 1
thread 100
thread 200
switch 0 1000000 0 0 100
irq 0 1100000 100 11
irqend 0 1200000 100 11
gap 0 4000000 200 3 2500000 3500000
waking 0 4000000 200 100 0 1
switch 0 9000000 200 0 100
switch 0 9500000 100 1 0
totals 0 0 10000000
END
$ran lossy.tbuf 100 t100 2000000 && $ran lossy.tbuf 200 t200 0 || ok=1
[ $ok = 0 ]
result $? "in a recording of chosen threads nothing runs between their runs"

"$TRACEBUF" print "$golden/kernel.tbuf" --from 1.0000018 --to 1.0000055 | grep '^ ' |
	awk '{ sub(/:$/, ""); split($0, w, /\.[. ]|\[/) }
	     match($0, / 1\.[0-9]+:/) { t = substr($0, RSTART + 1, RLENGTH - 2)
		if (t < 1.0000018 || t >= 1.0000055) bad = 1; n++ }
	     END { exit bad || n < 5 }'
result $? "--from is inclusive, --to is exclusive"

# at 25 ms CPU 0 and CPU 1 are in gaps that the trace reports later
for command in print "export --format csv -o -"; do
	# shellcheck disable=SC2086
	"$TRACEBUF" $command --to 0.025 moved.tbuf >out.txt 2>said.txt &&
		grep -q 'are missing, of CPU 1 from 0.013000000 on, and of other CPUs$' said.txt &&
		"$TRACEBUF" $command --to 0.025 -C 0 moved.tbuf >out.txt 2>said.txt &&
		grep -q 'are missing, of CPU 0 from 0.020000000 on$' said.txt &&
		"$TRACEBUF" $command --to 0.0131 -C 0 moved.tbuf >out.txt 2>said.txt &&
		! grep -q 'are missing' said.txt || echo "$command" >wrong.txt
done
[ ! -e wrong.txt ]
result $? "--to in a gap: the tool says that events before that time are missing"

# ---- the name of the output ----

ok=0
mkdir named.d
for file in named.d/x.tbuf named.d/x named.d/.x ./.x .x; do
	cp "$golden/kernel.tbuf" $file
	"$TRACEBUF" export -q --format csv $file || ok=1
done
[ "$(echo named.d/.x* named.d/*.csv .x*)" = \
  "named.d/.x named.d/.x.csv named.d/x.csv .x .x.csv" ] || ok=1
rm -r named.d .x*
result $ok "the output has the name of the trace, with the ending of the format"

# ---- failures leave no file ----

cp "$golden/kernel.tbuf" t.tbuf
mkdir taken

ok=0
fails "there is no format 'nonsense'; there are perfetto, fxt, ctf, json" --format nonsense t.tbuf || ok=1
fails "taken: is a directory" --format csv -o taken t.tbuf || ok=1
fails "nowhere/x: cannot be written: No such file" --format json -o nowhere/x t.tbuf || ok=1
fails "t.tbuf: is the trace itself" --format jsonl -o t.tbuf t.tbuf || ok=1
fails "is not a file: this format needs one" --format sqlite -o /dev/null t.tbuf || ok=1
fails "not written to a pipe: name a file" --format sqlite -o - t.tbuf || ok=1
fails "no event that matches 'sched_swich'; did you mean sched:sched_switch?" \
	--format csv -e sched_swich t.tbuf || ok=1
fails "there is no number 2" --format csv -r 2 t.tbuf || ok=1
fails "'soon' is not a time" --format csv --from soon t.tbuf || ok=1
fails "not a tracebuf trace" --format json -o x.json "$golden/kernel.csv" || ok=1
result $ok "wrong options and names"

# --why names the threads whose time the track explains
ok=0
"$REPORT_TRACE" crowd crowd.tbuf || ok=1
fails "--why is for the format perfetto, not for fxt" --format fxt --why t1000 crowd.tbuf || ok=1
"$TRACEBUF" export -q -o drawn --why 't100?,101[0-5]*' crowd.tbuf 2>said.txt && ok=1
rm -f drawn
if ! grep -q 'built without' said.txt; then
	grep -qF -- "--why 101[0-5]*: nothing is known of such a thread" said.txt || ok=1
	fails "these are 20 threads; at most 16" --why 't1*' crowd.tbuf || ok=1
	fails "nothing is known of such a thread" --why t1000,1021 crowd.tbuf || ok=1
	fails "of which threads?" --why , crowd.tbuf || ok=1
	fails "nothing is known of these threads in that time" --from +3600 --why t1003 \
		crowd.tbuf || ok=1
	"$TRACEBUF" export -q -o drawn --why 't100?,t101[0-5]' crowd.tbuf &&
		[ "$(grep -ao 'why: t10[01][0-9] ' drawn | sort -u | wc -l)" = 16 ] || ok=1
	rm -f drawn
fi
result $ok "--why takes 16 threads at most, and refuses unknown ones"

# root may write everywhere except where the kernel itself refuses
fails "cannot be written" --format json -o /sys/x.json t.tbuf
result $? "a directory that cannot be written to"

ok=0
for format in json jsonl text csv perfetto fxt; do
	if [ $format = perfetto ] && ! "$TRACEBUF" export -q --format perfetto -o x t.tbuf 2>/dev/null; then
		continue
	fi
	rm -f x
	fails "No space left on device" --format $format -o /dev/full t.tbuf || ok=1
done
result $ok "a full disk is an error"

# as a disk that gets full; SIGXFSZ is ignored so that write() fails
if [ -e big.tbuf ]; then
	ok=0
	echo before >old
	for format in json jsonl text csv sqlite fxt; do
		(
			trap '' XFSZ
			ulimit -f 64
			fails "old: " -q --format $format -o old big.tbuf
		) || ok=1
		[ "$(cat old)" = before ] || ok=1
	done
	result $ok "an export that fails midway leaves the old file, and nothing else"
else
	skip "an export that fails midway leaves the old file, and nothing else" "no test_export"
fi

ln -s target link
fails "link: leads to nothing" --format csv -o link t.tbuf && echo before >target &&
	"$TRACEBUF" export -q --format csv -o link t.tbuf && [ -L link ] && cmp target "$golden/kernel.csv"
result $? "an export to a symbolic link keeps the link, and replaces its target"

# Babeltrace loads a plugin before it looks at the name in it
what="ctf: no plugin of BABELTRACE_PLUGIN_PATH or HOME is loaded"
folder=$PWD/home/.local/lib/babeltrace2/plugins
mkdir -p "$folder" more
cat >plugin.c <<END
#include <stdio.h>
__attribute__((constructor)) static void begin(void) { fclose(fopen("$PWD/loaded", "w")); }
END
if "$TRACEBUF" export --format ctf -o - t.tbuf 2>&1 | grep -q 'was built without'; then
	skip "$what" "built without it"
elif ! ${CC:-cc} -shared -fPIC -o more/babeltrace-plugin-ctf.so plugin.c 2>said.txt; then
	skip "$what" "no compiler"
else
	cp more/babeltrace-plugin-ctf.so "$folder"
	HOME=$PWD/home BABELTRACE_PLUGIN_PATH=$PWD/more \
		"$TRACEBUF" export -q --format ctf -o plugged t.tbuf 2>said.txt &&
		[ -e plugged/metadata ] && [ ! -e loaded ]
	result $? "$what"
	rm -rf plugged
fi
rm -rf plugin.c home more

# SIGTERM as soon as the temporary file or directory is there
for format in sqlite ctf; do
	what="an export of $format that a signal stops leaves nothing"
	if [ ! -e big.tbuf ]; then
		skip "$what" "no test_export"
		continue
	fi
	if "$TRACEBUF" export --format $format -o - t.tbuf 2>&1 | grep -q 'was built without'; then
		skip "$what" "built without it"
		continue
	fi
	ok=1 tries=0
	mkdir stop
	while [ $ok -ne 0 ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1))
		"$TRACEBUF" export --format $format -o stop/it big.tbuf 2>said.txt &
		pid=$!
		until ls -d stop/it* >/dev/null 2>&1 || ! kill -0 $pid 2>/dev/null; do :; done
		kill -TERM $pid 2>/dev/null
		# the export may have finished before the signal
		wait $pid || { grep -q 'stopped by a signal' said.txt && ok=0; }
		[ -z "$(ls stop)" ] || { [ $ok -ne 0 ] && [ -e stop/it ] && rm -r stop/it; } || ok=2
		[ $ok -ne 2 ] || break
	done
	result $ok "$what"
	rm -r stop
done

"$TRACEBUF" export -q --format csv -o whole.csv t.tbuf 2>said.txt && [ ! -s said.txt ] &&
	head -c 24000 t.tbuf >cut.tbuf && ! "$TRACEBUF" export --format csv -o cut.csv cut.tbuf 2>said.txt &&
	grep -q 'cut.csv holds what comes before' said.txt &&
	[ "$(wc -l <cut.csv)" -lt "$(wc -l <whole.csv)" ] && [ "$(wc -l <cut.csv)" -gt 1 ]
result $? "a trace that breaks off is exported up to there, and the tool says so"

# ---- all CPUs ----

# 100 ran on the CPU before its first event: that is known if no CPU is left out
"$HISTORY_TRACE" first.tbuf >/dev/null <<'END'
cpus 1
thread 100
thread 101
waking 0 1000000 100 101 0 0
wakeup 0 1000100 100 101 0 0
switch 0 2000000 100 1 101
switch 0 3000000 101 1 0
totals 0 0 4000000
END
"$TRACEBUF" export -q --format json -o - first.tbuf >out.json && grep -q '"tid":100' out.json &&
	"$TRACEBUF" export -q -C 0-63 --format json -o - first.tbuf | cmp - out.json
result $? "with a list of all CPUs the same is exported as without"

# ---- damaged traces ----

damaged=15
[ -z "${TRACEBUF_FULL:-}" ] || damaged=100
for trace in kernel user; do
	python3 "$here/export_check.py" --damage "$TRACEBUF" "$golden/$trace.tbuf" \
		"$damaged" 2>&1 | tee check.out | sed 's/^\([^#]\)/# \1/'
	grep -q '^# [0-9]* of [0-9]* exported' check.out && [ "$(wc -l <check.out)" -eq 1 ]
	result $? "exports of damaged copies of $trace.tbuf are valid JSON, tables and databases"
done

echo "1..$count"
exit $failed
