#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every figure of "tracebuf report" and "tracebuf diff" is right, and the text says which ones are
# unknown. If this fails, a user blames the wrong thread or interrupt for a delay. Python computes
# each figure again from the events: for whole traces, parts, traces without events, and traces that
# break off or have losses.
#
# Needs: TRACEBUF (the tool, with sanitizers), python3; REPORT_TRACE (report_trace.c) and
# HISTORY_TRACE (history_trace.c) for traces; TEST_EXPORT (test_export.c) for more, if it could be
# built.

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
begin python3 "$TRACEBUF" "$REPORT_TRACE"

# figures TRACE [OPTIONS OF REPORT]: each figure follows from the events
figures()
{
	trace=$1
	shift
	# options of time are for print as well; others are for the check
	options='' others='' cut='' want=0 top=''
	while [ $# -gt 0 ]; do
		case $1 in
		--cut) cut=$1 want=1; shift; continue ;;
		--open) cut=--cut; shift; continue ;;
		--unselected) cut="$cut $1 $2" ;;
		--from | --to) options="$options $1 $2" ;;
		--top) top=$2 ;;
		*) others="$others $1 $2" ;;
		esac
		shift 2
	done
	# shellcheck disable=SC2086 # several words
	"$TRACEBUF" print -v --jsonl $options "$trace" >events.jsonl 2>said
	# the whole trace has losses that are reported after a part, and the first event of each CPU
	"$TRACEBUF" print -v --jsonl "$trace" >whole.jsonl 2>said
	# shellcheck disable=SC2086
	"$TRACEBUF" report --json $options $others ${top:+--top $top} "$trace" >made.json 2>said
	[ $? -eq $want ] || return 1
	# shellcheck disable=SC2086
	python3 "$here/report_check.py" events.jsonl made.json --trace "$trace" --whole whole.jsonl \
		$options $cut $others ${top:+--worst $top} >said || { cut -c1-400 said; return 1; }
}

# notes TRACE NOTE: the text of the report has the note
notes()
{
	"$TRACEBUF" report --width 1000 "$1" | grep -qF -- "$2"
}

# compared_part ROW: print the report's options for the part of a trace that d.json compares
compared_part()
{
	python3 -c '
import json, sys
row = json.load(open("d.json"))["sections"][1]["rows"][int(sys.argv[1])]
second = 10 ** 9
print(f"--from {row[1] // second}.{row[1] % second:09}",
      f"--to {(row[2] + 1) // second}.{(row[2] + 1) % second:09}")' "$1"
}

# differences A B [--same]: the differences follow from the reports
differences()
{
	a=$1 b=$2
	shift 2
	"$TRACEBUF" diff --json "$a" "$b" >d.json 2>/dev/null || return
	# shellcheck disable=SC2046 # two words
	"$TRACEBUF" report --json $(compared_part 0) "$a" >a.json 2>/dev/null
	# shellcheck disable=SC2046
	"$TRACEBUF" report --json $(compared_part 1) "$b" >b.json 2>/dev/null
	python3 "$here/diff_check.py" a.json b.json d.json "$@" >said || { cat said; return 1; }
	python3 "$here/diff_findings_check.py" d.json "$@" >>said || { cat said; return 1; }
}

# ---- figures ----

figures "$golden/kernel.tbuf"
result $? "figures of a trace with losses"
figures "$golden/user.tbuf"
result $? "figures of a trace of programs with missing records"
for choice in '--cpu 0' '--cpu 3' '--tid 100' '--tid 101' '--pid 100' \
	'--comm worker' '--from 1.000002' '--to 2' \
	      '--from +0.000001 --to 2.0000007'; do
	# shellcheck disable=SC2086
	figures "$golden/kernel.tbuf" $choice
	result $? "figures of a part: $choice"
done
differences "$golden/kernel.tbuf" "$golden/kernel.tbuf" --same
result $? "a trace does not differ from itself"

if command -v "$TEST_EXPORT" >/dev/null; then
	for what in make extras edges user; do
		"$TEST_EXPORT" $what $what.tbuf >/dev/null && figures $what.tbuf
		result $? "figures of $what"
	done
	"$TEST_EXPORT" big big.tbuf 6000 >/dev/null && figures big.tbuf
	result $? "figures of many events"
	"$TEST_EXPORT" requests requests.tbuf 6000 40 >/dev/null && figures requests.tbuf
	result $? "figures of requests that collide, complete in parts, are requeued"
	"$TEST_EXPORT" threads threads.tbuf 300 >/dev/null && figures threads.tbuf
	result $? "figures of many threads"
	"$TEST_EXPORT" waits waits.tbuf 4000 >/dev/null && figures waits.tbuf && figures waits.tbuf --top 100
	result $? "figures of waits of all lengths, with losses"
	differences "$golden/kernel.tbuf" make.tbuf && differences make.tbuf edges.tbuf &&
		differences edges.tbuf extras.tbuf
	result $? "differences between traces"
	differences big.tbuf big.tbuf --same
	result $? "a long trace does not differ from itself"

	size=$(wc -c <big.tbuf)
	good=yes
	for part in 3 5 7 9; do
		head -c $((size * part / 10)) big.tbuf >cut.tbuf
		figures cut.tbuf --cut || good=no
	done
	[ $good = yes ] && notes cut.tbuf "The file breaks off"
	result $? "a trace that breaks off: figures up to there, and a message"
else
	skip "figures of more traces" "no $TEST_EXPORT"
fi

# value FILE SECTION COLUMN [OPTIONS OF REPORT]: print a value of the first row
value()
{
	# shellcheck disable=SC2086 # several words
	"$TRACEBUF" report --json ${4-} "$1" 2>/dev/null | python3 -c '
import json, sys
section = {s["id"]: s for s in json.load(sys.stdin)["sections"]}[sys.argv[1]]
print(section["rows"][0][[c["id"] for c in section["columns"]].index(sys.argv[2])])' "$2" "$3"
}

"$REPORT_TRACE" late late.tbuf && figures late.tbuf
result $? "figures of the latest possible times"
"$REPORT_TRACE" clock clock.tbuf && figures clock.tbuf &&
	notes clock.tbuf "time goes back before 2 events" && [ "$(value clock.tbuf offcpu-sleeping time)" = 3000000 ]
result $? "clock records that go back: no negative durations, and a message"

"$REPORT_TRACE" gap gap.tbuf && figures gap.tbuf && [ "$(value gap.tbuf latency total)" = 150000000 ] &&
	[ "$(value gap.tbuf latency uncertain)" = 1 ]
result $? "spans over a gap of another CPU are not certain"
figures gap.tbuf --to 3.7 && [ "$(value gap.tbuf latency uncertain '--to 3.7')" = 1 ] &&
	"$TRACEBUF" report --to 3.7 gap.tbuf | grep -q "the record of that is not in the chosen part"
result $? "nor if the part ends before the record of the gap"
# CPU 0 runs for 10 ms; then its ring is full, and it is unknown for 990 ms
"$REPORT_TRACE" frozen frozen.tbuf && figures frozen.tbuf && [ "$(value frozen.tbuf cpu busy)" = 10000000 ] &&
	[ "$(value frozen.tbuf cpu idle)" = 0 ] && [ "$(value frozen.tbuf cpu unknown)" = 990000000 ] &&
	[ "$(value frozen.tbuf losses lost)" = 1000 ] &&
	! "$TRACEBUF" report frozen.tbuf | grep -qi 'nothing is missing'
result $? "a CPU is not idle after the end of its ring"
# from the first event, at 0.01
[ "$(value frozen.tbuf cpu idle '--to 0.95')" = 0 ] && [ "$(value frozen.tbuf cpu unknown '--to 0.95')" = 930000000 ] &&
	[ "$(value frozen.tbuf cpu busy '--to 0.95')" = 10000000 ]
result $? "nor does its last task run on in a part that ends before the recording does"
"$REPORT_TRACE" cut quiet.tbuf && figures quiet.tbuf --cut
result $? "run queues of a file that breaks off after a CPU has been idle"
# use_of TRACE BUSY UNKNOWN: CPU 1 has these times, in ms
use_of()
{
	"$TRACEBUF" report --json "$1" | python3 -c '
import json, sys
cpus = next(s for s in json.load(sys.stdin)["sections"] if s["id"] == "cpu")
row = dict(zip([c["id"] for c in cpus["columns"]], cpus["rows"][1]))
have = [row[name] / 1e6 for name in ("busy", "unknown")]
assert have == [int(ms) for ms in sys.argv[1:]], have' "$2" "$3"
}
"$REPORT_TRACE" killed killed.tbuf && figures killed.tbuf --open && use_of killed.tbuf 20 3980 &&
	"$TRACEBUF" report killed.tbuf >said && grep -q 'what 1 CPU did after' said &&
	! grep -q 'Nothing is missing\.$' said
result $? "where the recorder was killed, a CPU is not busy up to the end of the file"
"$REPORT_TRACE" quiet quiet.tbuf && use_of quiet.tbuf 3990 10 &&
	"$REPORT_TRACE" open open.tbuf && use_of open.tbuf 20 3980
result $? "a CPU without further events is known until the snapshot began"
differ=0
for trace in killed open gap chosen half deselected apart waiting; do
	"$REPORT_TRACE" $trace $trace.tbuf &&
		python3 "$here/top_check.py" "$TRACEBUF" $trace.tbuf || differ=1
done
result $differ "top shows of a complete file what report says"
rm -f chosen.tbuf
"$TRACEBUF" pack -q -o packed waiting.tbuf &&
	python3 "$here/top_check.py" "$TRACEBUF" packed &&
	head -c "$(($(stat -c %s waiting.tbuf) - 3000))" waiting.tbuf >broken &&
	! "$TRACEBUF" top --batch -i broken >/dev/null 2>said && grep -q 'cut off' said &&
	python3 "$here/top_check.py" "$TRACEBUF" broken 2>/dev/null
result $? "top reads packed files, and what is there of a file that breaks off"
# shares TRACE [OPTIONS]: print tid and share in ppm of each task, in order of tid
shares()
{
	"$TRACEBUF" report --json "$@" | python3 -c '
import json, sys
tasks = next(s for s in json.load(sys.stdin)["sections"] if s["id"] == "tasks")
ids = [c["id"] for c in tasks["columns"]]
print(*sorted((row[ids.index("tid")], row[ids.index("share")]) for row in tasks["rows"]
              if row[ids.index("cpu")]))'
}
"$REPORT_TRACE" staggered one.tbuf && "$REPORT_TRACE" staggered2 other.tbuf &&
	figures one.tbuf --open &&
	[ "$(shares one.tbuf)" = '(100, 1000000) (200, 1000000)' ] &&
	[ "$(shares other.tbuf)" = '(100, 1000000) (200, 1000000)' ]
result $? "shares of a snapshot whose CPUs begin and end at different times"
"$TRACEBUF" diff --section tasks --json one.tbuf other.tbuf >d.json &&
	"$TRACEBUF" diff one.tbuf other.tbuf >said &&
	grep -q 'only the time is compared in which' said && python3 -c '
import json
rows = json.load(open("d.json"))["sections"][0]["rows"]
same = [10 ** 9, 10 ** 9, 0]
assert {row[0]: row[1:4] for row in rows} == {"t100": same, "t200": same}, rows'
result $? "two snapshots of the same load do not differ"
"$REPORT_TRACE" apart apart.tbuf && ! "$TRACEBUF" diff one.tbuf apart.tbuf >text 2>said &&
	[ ! -s text ] &&
	grep -q 'apart.tbuf: there is no time in which it has events of all CPUs' said
result $? "CPUs that have no time in common are not compared"
"$REPORT_TRACE" half half.tbuf && figures half.tbuf &&
	[ "$(shares half.tbuf)" = '(100, 600000) (200, 400000)' ]
result $? "shares of a trace that lacks half of its events"
"$REPORT_TRACE" unselected unselected.tbuf &&
	figures unselected.tbuf --unselected 1060000000-2060000000 &&
	[ "$(shares unselected.tbuf)" = \
		'(50, 500000) (100, 600000) (200, 400000) (300, 500000)' ]
result $? "shares of a trace with a span without switches"
# instead TRACE: print what ran during the longest wait, with times
instead()
{
	"$TRACEBUF" report --json "$1" | python3 -c '
import json, sys
rows = next(s for s in json.load(sys.stdin)["sections"] if s["id"] == "latency-instead")["rows"]
print(*(f"{row[3]}={row[4]}" for row in rows if row[0] == 1), sep="; ")'
}
"$REPORT_TRACE" held held.tbuf && figures held.tbuf &&
	[ "$(instead held.tbuf)" = 'irq disk=21000000; <idle>=5000000; softirq BLOCK=4000000' ]
result $? "what ran instead is the interrupt that held an idle CPU"
"$REPORT_TRACE" waiting waiting.tbuf && figures waiting.tbuf &&
	[ "$("$TRACEBUF" query --csv waiting.tbuf \
		"SELECT start FROM slices WHERE cpu = 1 AND tid = 100 LIMIT 1" | tail -1)" = 30000000 ] &&
	[ "$(value waiting.tbuf summary known)" = 70000000 ]
result $? "what ran first on a CPU, when another one had switches before"
"$REPORT_TRACE" subset subset.tbuf && figures subset.tbuf && [ "$(value subset.tbuf latency max)" = 1000000 ] &&
	[ "$("$TRACEBUF" report --section offcpu-sleeping subset.tbuf | grep -c t300)" -eq 0 ] &&
	notes subset.tbuf "1 of 8 CPUs were recorded"
result $? "a thread that is woken twice has run in between, unseen"
"$REPORT_TRACE" gaps gaps.tbuf 200 && figures gaps.tbuf && figures gaps.tbuf --top 100
result $? "many gaps, many of equal length"

"$REPORT_TRACE" successor successor.tbuf && figures successor.tbuf &&
	[ "$(value successor.tbuf latency-worst waker_comm)" = wrapper ] &&
	[ "$(value successor.tbuf offcpu-sleeping waker_comm)" = wrapper ] &&
	"$TRACEBUF" query --csv successor.tbuf 'SELECT waker_comm FROM wakeups' | grep -qx wrapper &&
	[ "$("$TRACEBUF" query --csv successor.tbuf \
		'SELECT duration, pid, comm FROM block_io' | tail -1)" = 70000000,300,wrapper ] &&
	[ "$("$TRACEBUF" query --csv --comm wrapper successor.tbuf \
		'SELECT count(*) FROM block_io' | tail -1)" = 1 ] &&
	[ "$("$TRACEBUF" query --csv --comm heir successor.tbuf \
		'SELECT count(*) FROM block_io' | tail -1)" = 0 ] &&
	"$TRACEBUF" report --json --comm wrapper --section block successor.tbuf | grep -q '"8:0"' &&
	! "$TRACEBUF" report --json --comm heir --section block successor.tbuf | grep -q '"8:0"'
result $? "wakers and requests are of the thread that had the number then, not of a later one"

# ---- many tasks ----

# a report with rows for some tasks keeps no others; compare it with the first rows of a whole one
"$REPORT_TRACE" ended ended.tbuf 20000 &&
	"$TRACEBUF" report --json ended.tbuf >whole.json &&
	"$TRACEBUF" report --json --top 30 ended.tbuf >some.json &&
	python3 "$here/report_top.py" whole.json some.json 30
result $? "a report of some of 20,000 tasks has the same figures as one of all"

# ---- unknown things ----

"$TRACEBUF" report --from 1000 "$golden/kernel.tbuf" >text 2>said
[ $? = 1 ] && [ ! -s text ] && grep -q 'holds no such event in that time' said
result $? "options that select nothing make no report, and a message"
# only the durable block of the trace
head -c 16384 "$golden/kernel.tbuf" >durable.tbuf && "$TRACEBUF" report durable.tbuf >text &&
	grep -q 'There is no sched_switch in this trace: CPU use needs -e' text &&
	"$TRACEBUF" report --json durable.tbuf | python3 -m json.tool >/dev/null
result $? "a trace without events: the report says that nothing is known"

: >empty.tbuf
"$TRACEBUF" report empty.tbuf >text 2>said
[ $? -eq 1 ] && grep -q 'empty.tbuf' said && [ ! -s text ]
result $? "an empty file is an error"

notes "$golden/user.tbuf" "There is no sched_wakeup in this trace: latency needs -e sched:sched_wakeup." &&
	notes "$golden/user.tbuf" "There is no block_rq_issue in this trace: block I/O latency needs -e block:block_rq_issue." &&
	notes "$golden/kernel.tbuf" "Events are missing:" &&
	notes "$golden/kernel.tbuf" "A CPU is busy while it runs a task." &&
	notes "$golden/kernel.tbuf" "calls have no end in the trace"
result $? "the report names missing events, and the options that record them"
"$REPORT_TRACE" deselected deselected.tbuf &&
	notes deselected.tbuf "irq_handler_entry was recorded, and did not occur." &&
	notes deselected.tbuf "There is no irq_handler_exit in this trace: irq time needs -e"
result $? "the report does not ask for events that did not occur"
"$REPORT_TRACE" silent silent.tbuf &&
	! notes silent.tbuf "waits need -e" &&
	"$TRACEBUF" report --width 1000 -e sched_switch silent.tbuf | grep -q "waits need -e" &&
	"$TRACEBUF" diff --width 1000 silent.tbuf silent.tbuf >text 2>said &&
	grep -q "B cannot be compared: irq_handler_entry,irq_handler_exit were recorded, and" text &&
	grep -q "B cannot be compared: record it with -e softirq_entry" text
result $? "nor does diff, nor the table of tasks"

"$TRACEBUF" diff "$golden/kernel.tbuf" "$golden/user.tbuf" >text 2>said &&
	grep -q 'B cannot be compared: record it with -e raw_syscalls' text
result $? "diff names what cannot be compared"

# ---- findings ----

if command -v "$HISTORY_TRACE" >/dev/null; then
	good=yes
	for seed in 1 2 3; do
		python3 "$here/idle_script.py" $seed | "$HISTORY_TRACE" idle$seed.tbuf >/dev/null &&
			figures idle$seed.tbuf || good=no
		"$TRACEBUF" report --json --section findings idle$seed.tbuf >r.json
		"$TRACEBUF" diff --json --section findings idle1.tbuf idle$seed.tbuf >d.json
		python3 -c '
import json
for name, nothing in ("r", "Nothing in what was examined:"), ("d", "Nothing: no time differs"):
    section = json.load(open(name + ".json"))["sections"][0]
    assert not section["rows"] and section["notes"][0].startswith(nothing), section' 2>said ||
			{ good=no; sed 's/^/# /' said; }
	done
	"$TRACEBUF" diff -e sched_waking idle1.tbuf idle2.tbuf 2>said |
		grep -q 'Nothing was compared: ' || good=no
	[ $good = yes ]
	result $? "an idle machine: nothing stands out, and nothing changes from one recording to another"
else
	skip "an idle machine" "no $HISTORY_TRACE"
fi

good=yes
for trace in "$golden/kernel.tbuf" "$golden/user.tbuf" ./*.tbuf; do
	[ -s "$trace" ] || continue
	python3 "$here/findings_check.py" "$trace" >said 2>&1 && continue
	good=no
	echo "# $trace:"
	sed 's/^/# /' said
done
[ $good = yes ]
result $? "findings follow from the tables"

good=yes
finds() {
	"$TRACEBUF" report --section findings --width 1000 "$1" | grep -qF "$2" && return
	good=no
	echo "# no finding in $1: $2"
}
"$REPORT_TRACE" causes causes.tbuf
finds causes.tbuf "t100-100 could run and had no CPU for 400 ms, 50 % of the time, 400 ms after 20 \
wake-ups (20 ms at most). For at least 239 ms of that t200-200 had the CPU."
finds causes.tbuf "295 ms, 37 % of the time, 20 times, 15 ms at most. For at least 295 ms of \
that it waited until t200-200 woke it."
finds held.tbuf "For at least 21 ms of that interrupt disk had the CPU."
python3 "$here/findings_check.py" causes.tbuf >said 2>&1 && grep -q '2 causes' said || good=no
[ $good = yes ]
result $? "findings name what had the CPU, and who woke a task"

good=yes
: >all
"$REPORT_TRACE" chosen chosen.tbuf
"$REPORT_TRACE" renamed renamed.tbuf
for pair in 'one half' 'half other' 'half unselected' 'unselected killed' \
	'held gap' 'gap held' 'make edges' 'waits big' \
	    'quiet half' 'half chosen' 'chosen half' 'held chosen' 'chosen renamed'; do
	a=${pair% *}.tbuf b=${pair#* }.tbuf
	[ -s "$a" ] && [ -s "$b" ] || continue
	"$TRACEBUF" diff --json "$a" "$b" >d.json 2>/dev/null &&
		python3 "$here/diff_findings_check.py" d.json >>all 2>&1 && continue
	good=no
	sed "s/^/# $pair: /" all
done
[ $good = yes ] && "$TRACEBUF" diff half.tbuf one.tbuf |
	grep -q 't200 runs 2.5 times as long: 400 ms -> 1.00 s'
result $? "findings of diff follow from its tables"

# difference A B SIDE LINE: diff says that SIDE hides something, and no change of a task but LINE
difference()
{
	"$TRACEBUF" diff --json "$1" "$2" >d.json 2>/dev/null && python3 -c '
import json, sys
side, line = sys.argv[1:]
findings, summary, tasks = json.load(open("d.json"))["sections"][:3]
said = [row[3] for row in findings["rows"] if row[1] == "tasks" or "chosen" in row[3]]
hides = side + " has only chosen threads: it hides what has changed of others."
assert said == [hides] + [line] * bool(line), said
assert [note for note in summary["notes"] if "chosen" in note] == [
    f"{side} has only chosen threads: their CPU time is for each covered second."]
rates = {row[0]: row[1:5] for row in tasks["rows"]}
at = "AB".index(side)
assert rates.pop("t100")[at] == 600000000, tasks
for name, row in rates.items():
    assert row[not at] > 0 and row[at] is row[2] is row[3] is None, (name, row)
assert rates' "$3" "$4" 2>said && return
	echo "# $1 $2:"
	sed 's/^/# /' said
	return 1
}
difference half.tbuf chosen.tbuf B "" && difference chosen.tbuf half.tbuf A "" &&
	difference renamed.tbuf chosen.tbuf B "New: t100 uses 60 % of a CPU." &&
	difference chosen.tbuf renamed.tbuf A "Gone: t100 used 60 % of a CPU." &&
	"$TRACEBUF" diff --json --section irq held.tbuf chosen.tbuf |
		grep -q '"disk",420000000,2000000,'
result $? "diff does not miss in a recording of chosen threads what it hides"

# ---- verify --analysis ----

# shellcheck disable=SC2046
add_up "$golden/kernel.tbuf" "$golden/user.tbuf" $(find . -name '*.tbuf' ! -name big.tbuf)
if [ -s big.tbuf ]; then
	# its threads are on four CPUs at a time, which the report adds up
	"$TRACEBUF" verify --analysis -q big.tbuf >text 2>said
	[ $? -eq 1 ] && [ ! -s text ] &&
		grep -q "big.tbuf: thread 100, from .* running by 'why': [0-9]* ns, by 'report': " said
	result $? "verify reports conclusions that do not add up"
fi

# ---- a CPU quota ----

# says TEXT FILE: the lines of the file, joined, have the text
says()
{
	tr -s '\n ' ' ' <"$2" | grep -qF -- "$1"
}

"$REPORT_TRACE" quota quota.tbuf && figures quota.tbuf && "$TRACEBUF" report quota.tbuf >said &&
	says 't300-300 ran only 40 ms later' said &&
	says 'CPU 0 was idle meanwhile (100 % of the wait)' said &&
	says "; the task's cgroup seems to have used up its CPU quota." said &&
	"$TRACEBUF" why -t 300 quota.tbuf >said &&
	says '40.000 46.0 40.000 0.020000 the CPU is idle: a quota seems to be used up,' said &&
	says 'used up, 10 ms in 50 ms of /shop' said &&
	[ "$("$TRACEBUF" why --comm 't[34]00' --top 0 quota.tbuf | grep -c ' a quota ')" = 2 ] &&
	"$TRACEBUF" why -t 400 --from 0.083 quota.tbuf >said && ! says ' a quota ' said &&
	"$TRACEBUF" report -t 400 --from 0.083 quota.tbuf >said && ! says 'CPU quota' said &&
	says 'CPU 0 was idle meanwhile' said
result $? "report and why say that a CPU is idle because of a quota"

# ---- containers of tasks ----

# containers FILE TASK...: the column of these tasks in the section "tasks", a line each
containers()
{
	"$TRACEBUF" report --section tasks --json "$1" | python3 -c '
import json, sys
tasks = json.load(sys.stdin)["sections"][0]
ids = [column["id"] for column in tasks["columns"]]
for row in tasks["rows"]:
    row = dict(zip(ids, row))
    if str(row["tid"]) in sys.argv[1:]:
        print(row["tid"], row.get("container", "no column"))' "$@" | sort -u
}

# threads 1000 and 300 (at last) are of a service, 1001 of a container, 1002 of an unknown cgroup
"$REPORT_TRACE" ended few.tbuf 30 && "$REPORT_TRACE" moves moves.tbuf &&
	[ "$(containers few.tbuf 1000 1001 1002 | tr '\n' ' ')" = \
		'1000 one 1001 0123456789ab 1002 None ' ] &&
	[ "$(containers moves.tbuf 300)" = '300 one' ] &&
	[ "$(containers quota.tbuf 300)" = '300 till' ] &&
	"$TRACEBUF" report --section tasks moves.tbuf >said && says ' max wait container ' said &&
	"$TRACEBUF" report --section tasks half.tbuf >said && ! grep -q container said &&
	[ "$(containers half.tbuf 100)" = '100 no column' ]
result $? "tasks have their container, if the recording knows one"

# ---- what is missing ----

"$TRACEBUF" report gap.tbuf >said &&
	says 'in 1 gap: what happened there is unknown, and in no figure below; the' said &&
	says 'the longest, 3.20 s, is on CPU 0 from 0.600000000 on.' said &&
	"$TRACEBUF" report quota.tbuf >said &&
	says 'Not examined, because no such events were recorded or chosen: interrupts' said &&
	says '(irq_handler_entry), softirqs (softirq_entry), requests to disks (block_rq_' said &&
	"$TRACEBUF" report -t 300 quota.tbuf >said &&
	says 'were recorded or chosen: requests to disks (block_rq_issue).' said &&
	"$TRACEBUF" report -e sched_switch quota.tbuf >said &&
	says 'or chosen: waits for a CPU after a wake-up (sched_wakeup), interrupts' said &&
	"$TRACEBUF" report "$golden/kernel.tbuf" >said &&
	says 'were recorded or chosen: requests to disks (block_rq_issue).' said
result $? "the findings say what is missing and what was not examined"

# ---- a part that only one of two traces has ----

"$TRACEBUF" diff -t 999 half.tbuf quota.tbuf >said 2>errors
[ $? = 1 ] && grep -q '^tracebuf: half.tbuf holds no such event' errors &&
	grep -q '^tracebuf: quota.tbuf holds no such event' errors &&
	"$TRACEBUF" diff -t 200 quota.tbuf half.tbuf >said 2>errors &&
	[ "$(grep -c 'holds no such event' errors)" = 1 ] &&
	says 'New: t200 uses 40 % of a CPU.' said
result $? "diff of a part that only one trace has"

# the first element of a block of CPU 0
cp half.tbuf damaged.tbuf && printf xxxx |
	dd of=damaged.tbuf bs=1 seek=16448 conv=notrunc 2>errors
"$TRACEBUF" diff damaged.tbuf damaged.tbuf >said 2>errors
[ $? = 1 ] && grep -q 'damaged.tbuf: at byte 16448' errors && says 'CPU time by task' said
result $? "diff of damaged traces"

# ---- JSON ----

if command -v "$HISTORY_TRACE" >/dev/null && command -v "$TEST_EXPORT" >/dev/null &&
	"$TRACEBUF" query -h >/dev/null 2>&1; then
	# a thread waits in fsync until an interrupt reports that its request is complete
	printf '%s\n' arguments 'thread 100' 'disk 0 sda' 'file 100 3 m/x' \
		'switch 0 1000000 0 0 100' 'enter 0 2000000 100 74 3' \
		'switch 0 3000000 100 2 0' 'irq 0 9000000 0 5' 'done 0 9100000 0 0 1' \
		'waking 0 9200000 0 100 0 512' 'irqend 0 9300000 0 5' 'switch 0 9400000 0 0 100' \
		'exit 0 9500000 100 74' 'switch 0 12000000 100 1 0' | "$HISTORY_TRACE" disk.tbuf &&
		"$REPORT_TRACE" ended few.tbuf 300 && "$TEST_EXPORT" requests requests.tbuf 2000 40 &&
		"$TEST_EXPORT" threads threads.tbuf 300 >/dev/null &&
		python3 "$here/json_check.py" "$TRACEBUF" "$golden/kernel.tbuf" "$golden/user.tbuf" \
			disk.tbuf few.tbuf held.tbuf half.tbuf gap.tbuf requests.tbuf extras.tbuf \
			threads.tbuf quota.tbuf >said 2>&1
	status=$?
	[ $status = 0 ] || sed 's/^/# /' said
	result $status "docs/json.md names all members of JSON, and no others"
else
	skip "docs/json.md names all members of JSON, and no others" "no $TEST_EXPORT, or no SQLite"
fi

# ---- text ----

good=yes
for trace in "$golden/kernel.tbuf" "$golden/user.tbuf" ./*.tbuf; do
	[ -s "$trace" ] || continue
	"$TRACEBUF" report "$trace" 2>/dev/null | awk 'length > 80 && !/^      tracebuf / { print; bad = 1 } END { exit bad }' || good=no
	"$TRACEBUF" diff "$trace" "$golden/kernel.tbuf" 2>/dev/null |
		awk 'length > 80 && !/^      tracebuf / { print; bad = 1 } END { exit bad }' || good=no
done
[ $good = yes ]
result $? "no line of the text is longer than 80"

"$TRACEBUF" report --width 200 --section syscalls --top 2 "$golden/kernel.tbuf" >text
[ "$(sed -n 1p text)" = "System calls [syscalls]" ] && [ "$(grep -c ' ns' text)" -eq 2 ] &&
	grep -q '2 of [0-9]* calls are shown' text
result $? "one section, with as many rows as asked for"

"$TRACEBUF" report --top 1 --json "$golden/kernel.tbuf" | python3 -c '
import json, sys
sections = {s["id"]: s for s in json.load(sys.stdin)["sections"]}
sys.exit(len(sections["syscalls"]["rows"]) != 1 or len(sections["latency-worst"]["rows"]) != 1)'
result $? "as many rows as asked for in JSON"

for trace in "$golden/kernel.tbuf" ./*.tbuf; do
	"$TRACEBUF" report --width 1000 --section latency-histogram "$trace" 2>/dev/null
done >text
python3 -c '
import re
bars, checked = [], 0
for line in [*open("text"), ""]:
    bar = re.match(r"  .* \.\. \S+ \S+ +(\d+)  (#*)$", line)
    if bar:
        bars.append((int(bar[1]), len(bar[2])))
        continue
    most, longest = max(bars, default=(0, 0))
    for count, length in bars:
        assert bool(count) == bool(length), (count, length)
        assert not count or abs(length - longest * count / most) < 2, (count, length, most, longest)
        checked += most / 4 < count < most / 2
    bars = []
assert checked' 2>said || { sed 's/^/# /' said; false; }
result $? "bars of a histogram have the length of their counts, at any width"

# ---- errors ----

# wrong STATUS MESSAGE ARGUMENT...: the command exits with STATUS and MESSAGE, and prints nothing
wrong()
{
	want=$1 message=$2
	shift 2
	"$TRACEBUF" "$@" >text 2>said
	[ $? -eq "$want" ] && grep -qF -- "$message" said && [ ! -s text ] && return
	echo "# $*: wanted: $message"
	sed 's/^/# /' said
	return 1
}

"$TRACEBUF" report --section summary --section events "$golden/kernel.tbuf" >text
[ "$(grep -c '\[.*\]$' text)" = 2 ]
result $? "sections that the user chooses"

wrong 2 "there is no section 'latenzy'; did you mean latency?" report --section latenzy "$golden/kernel.tbuf" &&
	wrong 2 "there is no command 'rec'; did you mean record or recover?" rec &&
	wrong 2 "there is no command 'ls'; did you mean list?" ls &&
	wrong 2 "there is no command 'convert'; did you mean export?" convert &&
	wrong 2 "'x' is not a number of rows" report --top x "$golden/kernel.tbuf" &&
	wrong 2 "'7' is not a width" report --width 7 "$golden/kernel.tbuf" &&
	wrong 2 "one file at a time" report "$golden/kernel.tbuf" "$golden/user.tbuf" &&
	wrong 1 "there is no number 3" report -r 3 "$golden/kernel.tbuf" &&
	wrong 2 "two files are compared, not 1" diff "$golden/kernel.tbuf" &&
	wrong 1 "nothing.tbuf" diff "$golden/kernel.tbuf" nothing.tbuf
result $? "wrong command lines"

if [ -w /dev/full ]; then
	"$TRACEBUF" report "$golden/kernel.tbuf" >/dev/full 2>said
	[ $? -eq 1 ] && grep -q 'standard output could not be written' said
	result $? "a full disk is an error"
else
	skip "a full disk is told" "no /dev/full"
fi

echo "1..$count"
exit $failed
