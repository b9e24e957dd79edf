#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "tracebuf query" gives the answer that the same SQL has in the exported database, reads no more of
# the trace than the conditions need, and explains a wrong question. If this fails, a user gets
# wrong numbers, or waits for minutes for one second of a large trace.
#
# Needs: TRACEBUF (the tool, with sanitizers), python3; REPORT_TRACE (report_trace.c) and
# HISTORY_TRACE (history_trace.c) for traces with a known answer; TEST_EXPORT (test_export.c) for
# longer ones, if it could be built.

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
if ! "$TRACEBUF" query -h >/dev/null 2>&1; then
	echo "1..0 # SKIP built without SQLite"
	exit 0
fi
cp "$golden/kernel.tbuf" "$golden/user.tbuf" .

# query ARGUMENT...: the rows go to the file out, messages to said
query()
{
	"$TRACEBUF" query "$@" >out 2>said
}

# as_wanted: the files out and want are equal
as_wanted()
{
	cmp out want && return
	cat -v out | sed 's/^/# /'
	return 1
}

# answers WANTED ARGUMENT...: the rows as CSV are WANTED
answers()
{
	want=$1
	shift
	query --csv --no-header "$@"
	[ "$(cat out)" = "$want" ] && ! grep -qv 'events are missing in' said && return
	echo "# $*: wanted: $want"
	sed 's/^/# /' out said
	return 1
}

# fails STATUS MESSAGE ARGUMENT...: no row, and the message, which may have several lines
fails()
{
	want=$1 message=$2
	shift 2
	query "$@"
	status=$?
	case $(cat said) in
	*"$message"*)
		[ $status = "$want" ] && [ ! -s out ] && return ;;
	esac
	echo "# $*: status $status, wanted $want: $message"
	sed 's/^/# /' out said
	return 1
}

# ---- the same answers ----

same()
{
	python3 "$here/query_check.py" "$TRACEBUF" "$@"
}

for base in mono real; do
	same kernel.tbuf $base
	result $? "kernel events: the same answers as from the database, times $base"
done
same user.tbuf
result $? "records of programs: the same answers as from the database"
query --csv kernel.tbuf "SELECT * FROM sys_enter LIMIT 1" &&
	[ "$(head -n 1 out)" = _time,_cpu,_pid,_tid,_comm,_context,id,id_name,args ] &&
	answers "sys_enter,raw_syscalls,sys_enter,6" kernel.tbuf \
		"SELECT * FROM event_types WHERE event = 'sys_enter'"
result $? "wide and compact events are in one table, with the columns of the wide form"
"$REPORT_TRACE" gap gap.tbuf && same gap.tbuf
result $? "a trace with losses: the same answers as from the database"
"$REPORT_TRACE" held held.tbuf &&
	"$TRACEBUF" query --csv held.tbuf wakeups >said && grep -q '^30000\.0,t100,100,0,.*,irq disk,' said
result $? "what ran instead is the interrupt that held an idle CPU"

# nested COUNT RUN SOFTIRQ IRQ: nested.tbuf has a wait of thread 100 behind thread 200, which runs
# COUNT times for RUN ns, then a softirq for SOFTIRQ ns, which an interrupt interrupts for IRQ ns
nested()
{
	awk -v count="$1" -v run="$2" -v softirq="$3" -v irq="$4" 'BEGIN {
		print "cpus 1\nthread 100\nthread 200\nswitch 0 1000000 0 0 200"
		print "waking 0 1001000 200 100 0 0"
		for (at = 1001000; count--; at += run + softirq + irq) {
			print "softirq 0", at + run, "200 3"
			print "irq 0", at + run + softirq / 2, "200 9"
			print "irqend 0", at + run + softirq / 2 + irq, "200 9"
			print "softirqend 0", at + run + softirq + irq, "200 3"
		}
		print "switch 0", at + run, "200 0 100\nswitch 0", at + 2 * run, "100 1 200"
		print "totals 0 0", at + 3 * run
	}' | "$HISTORY_TRACE" nested.tbuf
}

# ran_instead WHAT ARGUMENT...: of nested ARGUMENT... the task or interrupt that ran most is WHAT
ran_instead()
{
	what=$1
	shift
	nested "$@" && query --csv --no-header nested.tbuf \
		"SELECT count(*) FROM slices WHERE kind = 'irq'" && [ "$(cat out)" = "$1" ] &&
		timeout 300 "$TRACEBUF" query --csv --no-header nested.tbuf wakeups >out 2>said &&
		grep -q ",t100,100,0,.*,$what," out || { sed 's/^/# /' out; return 1; }
}

ran_instead t200 3 4000 3000 2000 && ran_instead 'softirq [A-Z_]*' 3 2000 4000 3000 &&
	ran_instead 'irq [^,]*' 3 3000 1000 5000
result $? "what ran instead is what ran most, without what interrupted it"
# a softirq of the RT kernel goes on after a switch
"$HISTORY_TRACE" nested.tbuf <<'END'
cpus 1
thread 100
thread 200
thread 300
switch 0 990000 0 0 200
waking 0 1000000 200 100 0 0
softirq 0 1005000 200 3
switch 0 1010000 200 0 300
switch 0 1015000 300 0 200
softirqend 0 1020000 200 3
irq 0 1022000 200 9
irqend 0 1042000 200 9
switch 0 1043000 200 0 100
switch 0 1044000 100 1 200
totals 0 0 1050000
END
query --csv --no-header nested.tbuf wakeups && grep -q ",t100,100,0,.*,irq [^,]*," out
result $? "an interrupt after a softirq that went on after a switch interrupted the task"
ran_instead t200 20000 4000 3000 2000
result $? "an answer about a wait with 20000 interrupts"
"$REPORT_TRACE" unselected unselected.tbuf && same unselected.tbuf
result $? "a span without switches: the same answers as from the database"
"$REPORT_TRACE" deselected deselected.tbuf && same deselected.tbuf &&
	"$TRACEBUF" query --csv deselected.tbuf \
		"SELECT tid, cpu, duration FROM slices WHERE kind = 'run' AND cpu = 1" >said &&
	grep -qx '50,1,20000000' said
result $? "a change of the selection lengthens no run of a CPU that has ended before"
big=
number=${TRACEBUF_FULL:+20000}
if command -v "$TEST_EXPORT" >/dev/null && "$TEST_EXPORT" big big.tbuf "${number:-4000}"; then
	big=big.tbuf
	same big.tbuf
	result $? "many events: the same answers as from the database"
	"$TEST_EXPORT" extras extras.tbuf &&
		answers schedule,schedule+0x10 extras.tbuf \
			"SELECT function_name, location_name FROM hrtimer_start, kfree_skb" &&
		answers epoll_wait,-4,EINTR kernel.tbuf \
			"SELECT id_name, ret, ret_name FROM sys_exit WHERE ret_name IS NOT NULL" &&
		"$TEST_EXPORT" named named.tbuf && query --csv named.tbuf "SELECT * FROM named" &&
		[ "$(head -n 1 out)" = _time,_cpu,_pid,_tid,_comm,_context,function,Function_name ]
	result $? "numbers have names: of functions, system calls and errors"
else
	skip "many events: the same answers as from the database" "no test_export"
	skip "numbers have names: of functions, system calls and errors" "no test_export"
fi

# ---- cgroups ----

# threads 1000, 1003, ... are of a service, 1001, ... of a container, 1002, ... of an unknown cgroup
"$REPORT_TRACE" ended ended.tbuf 30
service=/system.slice/one.service
answers "1000,$service,
1001,/system.slice/docker-$(printf 0123456789abcdef%.0s 1 2 3 4).scope,0123456789ab
1002,," ended.tbuf "SELECT DISTINCT _tid, _cgroup, _container FROM sched_switch
		WHERE _tid BETWEEN 1000 AND 1002 ORDER BY _tid" &&
	answers "$(query --csv --no-header ended.tbuf "SELECT count(*) FROM events
		WHERE (_tid - 1000) % 3 = 0 AND _tid >= 1000"; cat out)" ended.tbuf \
		"SELECT count(*) FROM events WHERE _cgroup = '$service'"
result $? "the cgroup and the container of an event's thread"
answers "$(query --csv --no-header ended.tbuf "WITH s AS MATERIALIZED
		(SELECT _container FROM sched_switch)
		SELECT count(*) FROM s AS a JOIN s AS b ON a._container = b._container"; cat out)" \
	ended.tbuf "SELECT count(*) FROM sched_switch AS a JOIN sched_switch AS b
		ON a._container = b._container" &&
	[ "$(cat out)" -gt 100 ]
result $? "a join of containers, with an index"
# columns that a statement does not name are not read
reads()
{
	"$TRACEBUF" query -v ended.tbuf "SELECT $1 FROM sched_switch WHERE _time >= 20000000" 2>&1 >out |
		sed -n 's/.*blocks \([0-9]*\) .*/\1/p'
}
query --csv ended.tbuf "SELECT * FROM sched_switch LIMIT 0" && ! grep -q _cgroup out &&
	[ "$(reads next_pid)" -lt "$(reads _cgroup)" ] &&
	[ "$(reads next_pid)" -lt "$(reads "next_pid, _container")" ] &&
	query --schema ended.tbuf sched_switch && grep -q ', _cgroup TEXT, _container TEXT)$' out
result $? "they are hidden, and cost nothing if they are not selected"
# thread 300 is in a container, and moves to a service; an interval counts where it ends, but a
# request and a program's slice where they begin
"$REPORT_TRACE" moves moves.tbuf
ok=0
for rows in run_slices=ccs slices=ccs all_slices=ccs thread_states=ccccssss wakeups=cs \
	wakeup_latency=cs off_cpu=css block_io=c user_slices=cs why=sssssss; do
	table=${rows%=*}
	answers "${rows#*=}" moves.tbuf "SELECT group_concat(letter, '') FROM (
		SELECT CASE WHEN _container = '0123456789ab' AND _cgroup LIKE '%docker-0123%'
				THEN 'c'
			WHEN _container IS NULL AND _cgroup = '$service' THEN 's' ELSE '?'
			END AS letter
		FROM $table WHERE tid = 300 ORDER BY 1)" || ok=1
	query --csv moves.tbuf "SELECT * FROM $table" && ! grep -q _cgroup out &&
		query --schema moves.tbuf $table &&
		case $table in
		slices | all_slices)
			grep -q ', _cgroup TEXT, _container TEXT, _object TEXT)$' out ;;
		*) grep -q ', _cgroup TEXT, _container TEXT)$' out ;;
		esac || ok=1
done
result $ok "the cgroup and the container of an interval's thread, in hidden columns"
answers "$(query --csv --no-header moves.tbuf "WITH s AS MATERIALIZED
		(SELECT _container, start FROM user_slices)
		SELECT count(*) FROM s AS a JOIN s AS b ON a._container = b._container"; cat out)" \
	moves.tbuf "SELECT count(*) FROM user_slices AS a JOIN user_slices AS b
		ON a._container = b._container" &&
	[ "$(cat out)" -gt 0 ] &&
	"$TRACEBUF" query -v moves.tbuf "SELECT (SELECT count(*) FROM user_slices AS b
		WHERE b._container = a._container) FROM user_slices AS a" 2>&1 |
		grep -q 'indexes 1$'
result $? "a join of slices of programs by container, with an index"

answers "errno,2,ENOENT
errno,512,ERESTARTSYS
errno,516,ERESTART_RESTARTBLOCK
signal,2,SIGINT
signal,64,SIGRTMIN+32" user.tbuf "SELECT * FROM names WHERE kind IN ('errno', 'signal')
	AND number IN (2, 64, 512, 516) AND name != 'ENONET'" &&
	answers 0 user.tbuf "SELECT count(*) FROM names WHERE kind IN ('errno', 'signal')
		AND (number < 1 OR name IS NULL OR name = '0')"
result $? "names of errors, with those that only the kernel uses, and of signals"

# ---- what options select ----

# tables of events: the rows of a database that export makes with the same options
for options in "-C 1" "-t 100" "--pid 100" "--comm worker" "--from +1us" "--to -1ms" \
	"-t 101 --to +100ms"; do
	# shellcheck disable=SC2086 # several words
	python3 "$here/query_selected.py" "$TRACEBUF" kernel.tbuf $options
	result $? "$options: the events that export selects"
done
python3 "$here/query_selected.py" "$TRACEBUF" user.tbuf --from +20ns
result $? "records of programs: those that export selects"
# slices and waits: the rows come from the whole trace
"$REPORT_TRACE" held held.tbuf && query --csv held.tbuf wakeups &&
	grep '^30000\.0,t100,100,' out >want &&
	query --csv --no-header -t 100 held.tbuf wakeups && [ -s want ] && as_wanted
result $? "wakeups of one thread: what ran instead may be another thread"
query --csv --no-header kernel.tbuf cpu && [ -s out ] && cp out want && rm -f gone &&
	sed 's/,/ /g' want |
	while read -r comm pid rest; do
		query --csv --no-header --pid "$pid" kernel.tbuf cpu
		grep "^$comm,$pid," want >one
		cmp -s out one || { echo "# $pid: $rest"; sed 's/^/# /' out; : >gone; }
	done
[ ! -e gone ]
result $? "cpu of one process: its share is of the time of all"
answers "$(query --csv --no-header kernel.tbuf "SELECT count(*), sum(duration) FROM slices
		WHERE start < 1000002000 AND (start + duration > 1000001000 OR start >= 1000001000)"; cat out)" \
	--from 1.000001 --to 1.000002 kernel.tbuf "SELECT count(*), sum(duration) FROM slices"
result $? "a slice is shown if a part of it is in the time"
answers 1 --comm worker kernel.tbuf "SELECT count(*) FROM marks" &&
	answers 0 -t 100 kernel.tbuf "SELECT count(*) FROM marks"
result $? "marks of one thread"
fails 1 "holds no such event of a thread named 'none'" --comm none kernel.tbuf cpu &&
	fails 1 "holds no such event of process 7" --pid 7 kernel.tbuf "SELECT 1" &&
	fails 1 "holds no such event in that time (--from, --to); all its events are from " \
		--from +1000 kernel.tbuf cpu &&
	fails 1 "comm, cgroup FROM threads" --comm none kernel.tbuf cpu &&
	fails 1 "SELECT tid, pid, comm, cgroup FROM threads" -t 7 kernel.tbuf cpu &&
	fails 1 "of CPU 77 (its last CPU is 3)" -C 77 kernel.tbuf "SELECT 1" &&
	fails 2 "'x' is not a list of thread numbers, as in 12,345" -t x kernel.tbuf cpu
result $? "the tool says when nothing is selected"

# each piece of a thread's known time is in exactly one of the columns
what="states: the columns add up"
for trace in kernel waits; do
	[ $trace = kernel ] || { command -v "$TEST_EXPORT" >/dev/null && "$TEST_EXPORT" $trace $trace.tbuf 4000; } ||
		{ skip "$what: $trace" "no test_export"; continue; }
	query --json $trace.tbuf states && cp out states.json &&
		query --json $trace.tbuf "SELECT tid, sum(duration) AS ns,
			sum(duration) FILTER (WHERE state = 'running') AS running,
			sum(duration) FILTER (WHERE NOT whole AND state <> 'running') AS uncertain,
			sum(duration) FILTER (WHERE whole
				AND state IN ('T', 't', 'X', 'Z', 'P', 'I')) AS other
			FROM thread_states GROUP BY tid" &&
		python3 -c '
import json, sys
have = {row["tid"]: row for row in json.load(open("states.json"))}
want = {row["tid"]: row for row in json.load(open("out"))}
assert have and have.keys() == want.keys()
for tid, row in have.items():
    columns = [value or 0 for name, value in row.items() if name.endswith("_ms")]
    assert abs(sum(columns) * 1e6 - want[tid]["ns"]) <= 500 * len(columns), (row, want[tid])
    for name in "running", "other", "uncertain":
        assert abs((row[name + "_ms"] or 0) * 1e6 - (want[tid][name] or 0)) <= 500, (row, want[tid])
assert sys.argv[1] != "waits" or any(row["other_ms"] for row in have.values()), have' $trace
	result $? "$what: $trace"
done
query --csv user.tbuf losses && head -1 out | grep -q 'events,at_most,' &&
	answers "$(cut -d, -f3,4 out | tail -n +2)" user.tbuf "SELECT events, at_most FROM losses ORDER BY first, cpu, tid"
result $? "losses: an upper bound is marked as such"

# The report pairs requests with code of its own.  With 4000000 places most requests never end, and
# the analysis keeps the last ones only.
what="requests to block devices: the counts of the report"
for places in 40 4000000; do
	if ! command -v "$TEST_EXPORT" >/dev/null; then
		skip "$what, at $places places" "no test_export"
		continue
	fi
	"$TEST_EXPORT" requests requests.tbuf 190000 $places &&
		"$TRACEBUF" report --section block --json requests.tbuf >report.json &&
		query --json requests.tbuf "SELECT count(*) AS requests, sum(whole) AS whole, sum(duration) FILTER (WHERE whole) AS ns,
			sum(bytes) FILTER (WHERE whole) AS bytes, sum(error != 0) AS failed,
			sum(queued > 0) AS queued, count(*) FILTER (WHERE NOT whole AND NOT duration
				AND start < (SELECT max(start) FROM block_io)) AS gone FROM block_io" &&
		python3 -c '
import json, sys
block = json.load(open("report.json"))["sections"][0]
ids = [column["id"] for column in block["columns"]]
rows = [dict(zip(ids, row)) for row in block["rows"]]
said = json.load(open("out"))[0]
def all_of(*names):
    return sum(row[name] for row in rows for name in names)
print("#", said)
assert said["requests"] == all_of("count", "uncertain", "open")
assert said["whole"] == all_of("count")
if sys.argv[1] == "40":
    assert said["ns"] == all_of("total") and said["bytes"] == all_of("bytes") > 0
    assert 0 < said["failed"] <= all_of("failed") and said["queued"] > 0
else:
    # as many as the analysis keeps end with the trace
    assert 0 < said["gone"] == all_of("open") - 65536' $places
	result $? "$what, at $places places"
done
if command -v "$TEST_EXPORT" >/dev/null && "$TEST_EXPORT" requests requests.tbuf 4000 40; then
	same requests.tbuf
	result $? "requests to block devices: the same answers as from the database"
else
	skip "requests to block devices: the same answers as from the database" "no test_export"
fi
if command -v "$TEST_EXPORT" >/dev/null; then
	"$TEST_EXPORT" flush flush.tbuf &&
		answers "0,8000
4096,2000" flush.tbuf "SELECT bytes, duration FROM block_io WHERE whole ORDER BY start" &&
		"$TRACEBUF" report --section block --json flush.tbuf >report.json &&
		python3 -c '
import json
block = json.load(open("report.json"))["sections"][0]
ids = [column["id"] for column in block["columns"]]
rows = [dict(zip(ids, row)) for row in block["rows"]]
assert sum(row["count"] for row in rows) == 2 and not sum(row["open"] for row in rows), rows'
	result $? "a flush is complete, and no request for sector 0"
else
	skip "a flush is complete, and no request for sector 0" "no test_export"
fi

# ---- special recordings ----

# special CHECK WHAT
special()
{
	python3 "$here/query_special.py" "$TRACEBUF" "$HISTORY_TRACE" "$REPORT_TRACE" "$1"
	result $? "$2"
}

special clock "a clock that is set back: a condition on the time loses no row"
special numbers "a number equals all texts with this value"
special columns "an event with thousands of fields of one name has a table"
special names "the table of an event replaces no other one"
special most "an answer of 25 rows says that there are more, CSV and JSON have all"
special unselected "an answer from events that are only described says that they were not recorded"

# ---- what is read ----

# visited WHICH FILE SQL: print how many "blocks" or "events" the query visited
visited()
{
	"$TRACEBUF" query -v "$2" "$3" 2>&1 >/dev/null | sed -n "s/.*$1 \([0-9]*\).*/\1/p"
}

# less THAN WHICH FILE SQL: the query visits less than 1/THAN of all
less()
{
	all=$(visited "$2" "$3" "SELECT count(*) FROM events")
	few=$(visited "$2" "$3" "$4")
	echo "# $few of $all $2: $4"
	[ -n "$few" ] && [ -n "$all" ] && [ $((few * $1)) -lt "$all" ]
}

narrow="time, a CPU, columns: what is not needed is not looked at"
if [ -n "$big" ] && "$TEST_EXPORT" big big.tbuf 200000; then
	ok=0
	set -- "$("$TRACEBUF" query --csv --no-header big.tbuf "SELECT min(_time) FROM events")" \
		"$("$TRACEBUF" query --csv --no-header big.tbuf "SELECT max(_time) - min(_time) FROM events")"
	from=$(($1 + $2 / 2)) to=$(($1 + $2 / 2 + $2 / 1000))
	cpus=$("$TRACEBUF" query --csv --no-header big.tbuf "SELECT count(DISTINCT _cpu) FROM events")
	[ "$cpus" -gt 1 ] || ok=1
	less 10 events big.tbuf "SELECT count(*) FROM sched_switch WHERE _time BETWEEN $from AND $to" || ok=1
	less 8 blocks big.tbuf "SELECT next_pid FROM sched_switch WHERE _time >= $from AND _time < $to" || ok=1
	less 10 events big.tbuf "SELECT count(*) FROM events WHERE _time = $from" || ok=1
	less 1 events big.tbuf "SELECT count(*) FROM sched_switch WHERE _time < $from" || ok=1
	less 1 events big.tbuf "SELECT count(*) FROM sched_switch WHERE _time > $from" || ok=1
	less 1 blocks big.tbuf "SELECT count(*) FROM sched_switch WHERE _cpu = 1" || ok=1
	less 1 blocks big.tbuf "SELECT count(*) FROM events WHERE _cpu IN (0, 2)" || ok=1
	less 20 blocks big.tbuf "SELECT count(*) FROM events WHERE _cpu = 1 AND _time BETWEEN $from AND $to" || ok=1
	# no such time, no such CPU
	less 1000 events big.tbuf "SELECT count(*) FROM events WHERE _time > 5 AND _time < 4" || ok=1
	less 1000 events big.tbuf "SELECT count(*) FROM events WHERE _cpu = 77" || ok=1
	result $ok "$narrow"
	# one scan finds the rows, one fills the index, however many rows there are outside
	"$TRACEBUF" query -v big.tbuf "SELECT count(*) FROM (SELECT DISTINCT tid FROM slices) t
		JOIN wakeups w ON w.tid = t.tid" 2>&1 | grep -q 'scans 3, indexes 1'
	result $? "a table that a join asks for many rows is scanned twice, and gets an index"
	"$TRACEBUF" query -v big.tbuf "SELECT (SELECT count(*) FROM wakeups w WHERE w.tid = t.tid)
		FROM threads t" 2>&1 | grep -q 'scans [23], indexes 1'
	result $? "so is a table that a subquery asks for each row"
else
	skip "$narrow" "no test_export"
	skip "so is what a subquery asks for each row" "no test_export"
	skip "what is asked again and again is gone through twice, and has an index" "no test_export"
fi

# ---- formats ----

query kernel.tbuf "SELECT 'a' AS word, 1 AS number, NULL AS none, x'0aff' AS bytes, 2.5 AS real
	UNION ALL SELECT 'longer, \"x\"', -20, 'text', NULL, 1.0"
printf '%s\n' 'word         number  none  bytes  real' '-----------  ------  ----  -----  ----' \
	'a                 1        0aff    2.5' 'longer, "x"     -20  text          1.0' >want
as_wanted
result $? "rows as a table"
query kernel.tbuf "SELECT char(0x9b) || '[2J' || char(27) || char(10) || char(252) AS c"
printf 'c\n--------\n??[2J??\303\274\n' >want
as_wanted
result $? "a table has nothing that a terminal would obey"
ok=0
query --csv kernel.tbuf "SELECT 'longer, \"x\"' AS a, NULL AS b, x'0aff' AS c, 1.5 AS \"d,e\""
printf '%s\n' 'a,b,c,"d,e"' '"longer, ""x""",,0aff,1.5' | cmp - out || ok=1
query --json kernel.tbuf "SELECT 'a\"' AS a, NULL AS b, 9007199254740993 AS c, 1.0 AS d, 1e999 AS e"
python3 -c 'import json
assert json.load(open("out")) == [{"a": "a\"", "b": None, "c": 9007199254740993, "d": 1.0, "e": "Infinity"}]' || ok=1
query --json kernel.tbuf \
	"SELECT 23347.3 AS a, 0.1 + 0.2 AS b, 1234567890123456.0 AS c, 1e15 AS d" &&
	grep -qF '"a":23347.3,"b":0.30000000000000004,"c":1234567890123456.0,"d":1e+15' out || ok=1
query --csv kernel.tbuf "SELECT 1 AS a WHERE 0" && [ "$(cat out)" = a ] || ok=1
query --csv --no-header kernel.tbuf "SELECT 5 AS a" && [ "$(cat out)" = 5 ] || ok=1
query -H kernel.tbuf "SELECT 5 AS a" && [ "$(cat out)" = "a
5" ] || ok=1
query --json kernel.tbuf "SELECT 1 WHERE 0" && python3 -c 'import json; assert json.load(open("out")) == []' || ok=1
result $ok "rows as CSV and as JSON"
ok=0
for form in "" --csv --json; do
	# shellcheck disable=SC2086
	fails 1 "integer overflow" $form kernel.tbuf "SELECT abs(-9223372036854775808) AS a" || ok=1
	# shellcheck disable=SC2086
	fails 1 "only read" $form kernel.tbuf "SELECT load_extension('x')" || ok=1
done
query --json kernel.tbuf "SELECT 1 AS a UNION ALL SELECT abs(-9223372036854775808)"
[ $? = 1 ] && grep -q '"a"' out && ! grep -q ']' out || ok=1
result $ok "no heading above nothing when a statement fails, and no end of an array that breaks off"

# ---- sources of the question ----

ok=0
answers 3 kernel.tbuf "SELECT 1 + 2" || ok=1
echo "SELECT 4; -- and
SELECT 5;" >two.sql
answers "4
5" --file two.sql kernel.tbuf || ok=1
"$TRACEBUF" query --csv --no-header kernel.tbuf - <two.sql | cmp -s - out || ok=1
"$TRACEBUF" query --csv --no-header - "SELECT count(*) FROM sched_switch" <kernel.tbuf >piped || ok=1
answers "$(cat piped)" -i kernel.tbuf "SELECT count(*) FROM sched_switch" || ok=1
answers 7 kernel.tbuf "CREATE TEMP TABLE t AS SELECT 7 AS n; SELECT n FROM t" || ok=1
query --name cpu kernel.tbuf && cp out named && query kernel.tbuf cpu && cmp -s out named || ok=1
result $ok "from the command line, a file, standard input, by name"

"$TRACEBUF" query --list | while read -r name rest; do
	[ -n "$rest" ] || exit 1
	query user.tbuf "$name" && continue
	grep -q 'recorded, which' said || { echo "# $name"; sed 's/^/# /' said; exit 1; }
done
result $? "each named question has an answer, or says what is missing"

# shares_agree TRACE [OPTION...]: query and report have the same times of CPUs, and shares of CPUs
# and processes
shares_agree()
{
	query --json "$@" cpus && cp out cpus.json &&
		query --json "$@" cpu && cp out processes.json &&
		"$TRACEBUF" report --json "$@" >report.json && python3 -c '
import json
from collections import defaultdict
sections = {s["id"]: s for s in json.load(open("report.json"))["sections"]}

def rows(name):
    ids = [c["id"] for c in sections[name]["columns"]]
    return [dict(zip(ids, row)) for row in sections[name]["rows"]]

have = {row["cpu"]: row for row in json.load(open("cpus.json"))}
for row in rows("cpu"):
    if row["share"] is not None:
        assert abs(have[row["cpu"]]["percent"] - row["share"] / 1e4) < 0.06, (row, have)
        assert abs(have[row["cpu"]]["busy_ms"] * 1e6 - row["busy"]) <= 501, (row, have)
want = defaultdict(int)
for row in rows("tasks"):
    want[row["pid"]] += row["share"]
have = {row["pid"]: row["percent"] for row in json.load(open("processes.json"))}
assert have
for pid, percent in have.items():
    assert abs(percent - want[pid] / 1e4) < 0.06, (pid, percent, want[pid])'
}
ok=0
for kind in staggered staggered2 half killed; do
	"$REPORT_TRACE" $kind shares.tbuf && shares_agree shares.tbuf || { echo "# $kind"; ok=1; }
done
shares_agree kernel.tbuf || ok=1
result $ok "shares of CPUs and processes are those of the report"

# 100 runs from 50 to 60 ms; interrupts are from 23 to 43 ms, a softirq from 22 to 46 ms
ok=0
answers "0,5.0,38.5,2,1.0,4.0" --from 0.042 --to 0.055 held.tbuf cpus &&
	answers "0,0.0,0.0,1,1.0,4.0" --from 0.042 --to 0.048 held.tbuf cpus &&
	answers "t100,100,1,1,5.0,38.5" --from 0.042 --to 0.055 held.tbuf cpu &&
	answers "t100,100,100,1,5.0,10.0,30.0" --from 0.042 --to 0.055 held.tbuf cpu-threads || ok=1
# the report knows what ran from the first event of the time to the last one
"$REPORT_TRACE" renamed renamed.tbuf &&
	shares_agree renamed.tbuf --from 0.11 --to 0.220000001 || ok=1
"$REPORT_TRACE" chosen chosen.tbuf &&
	answers "0,50.0,,1,," --from 0.3 --to 0.36 chosen.tbuf cpus || ok=1
result $ok "times and shares of CPUs and processes are of the selected time"

# thread 300 runs, sleeps from 40 to 60 ms, waits until 70 ms, and runs until 80 ms
answers "40000000,S
60000000,runnable" --from 0.055 --to 0.065 moves.tbuf \
	"SELECT start, state FROM thread_states WHERE tid = 300 ORDER BY start" &&
	answers "60000000,runnable
70000000,running" --from 0.06 --to 0.075 moves.tbuf \
		"SELECT start, state FROM thread_states WHERE tid = 300 ORDER BY start" &&
	answers "10000000,running
40000000,S" --from 0.03 --to 0.06 moves.tbuf \
		"SELECT start, state FROM thread_states WHERE tid = 300 ORDER BY start" &&
	answers "t300,300,5.0,10.0,,,," --from 0.06 --to 0.075 moves.tbuf states
result $? "states are shown if a part of them is in the time"

# 100 sleeps from before the recording, is woken at 3 ms, and runs at 5 ms; 101 runs, and begins 102
# at 2 ms, which waits until 6 ms; 103 waits for the CPU from before the recording until 7 ms
"$HISTORY_TRACE" first.tbuf <<'END'
cpus 1
thread 100
thread 101
thread 103
irq 0 1000000 101 1
irqend 0 1100000 101 1
fork 2000000 101 102
wakeupnew 0 2000000 101 102 0 0
waking 0 3000000 101 100 0 0
wakeup 0 3000100 101 100 0 0
switch 0 5000000 101 1 100
exit 0 5100000 100 74 0
switch 0 6000000 100 1 102
switch 0 7000000 102 1 103
enter 0 7100000 103 0 0 0 0
exit 0 7200000 103 0 1
switch 0 8000000 103 1 0
totals 0 0 9000000
END
ok=0
answers "1000000,4000000,0,100,100,t100,,2000000,101,t101,0
2000000,4000000,0,102,102,t102,,4000000,101,t101,1
1000000,6000000,0,103,103,t103,,6000000,,,0" first.tbuf "SELECT * FROM off_cpu WHERE cpu = 0" || ok=1
answers "100,,1000000,2000000,0
100,runnable,3000000,2000000,1
102,runnable,2000000,4000000,1
103,runnable,1000000,6000000,1" first.tbuf "SELECT tid, state, start, duration, whole
	FROM thread_states WHERE cpu = 0 AND state = 'runnable' OR state IS NULL ORDER BY tid, start" || ok=1
answers "t103,103,1.0,6.0,,,,0.0
t102,102,1.0,4.0,,,,1.0
t100,100,1.0,2.0,,,,4.0
t101,101,4.0,,,,,3.0" first.tbuf states || ok=1
answers "4.0,t102,102,,4.0,t101,101,0.002000000" first.tbuf off-cpu || ok=1
answers "100,2000000,2000000
102,4000000,4000000" first.tbuf "SELECT tid, latency, o.waited FROM wakeup_latency AS w
	JOIN off_cpu AS o USING (tid) WHERE o.cpu = 0 ORDER BY tid" || ok=1
# the call in which 100 slept has no beginning
answers "103,0" first.tbuf "SELECT tid, number FROM slices WHERE kind = 'syscall'" || ok=1
same first.tbuf mono || ok=1
result $ok "first waits of threads: new ones, and those that were off the CPU before the recording"
# without the wake-ups it is not known how long a thread has waited
answers "" -e sched_switch first.tbuf "SELECT * FROM off_cpu WHERE cpu = 0" &&
	answers "100,2000000,2000000" -e sched_switch,sched_waking first.tbuf \
		"SELECT tid, latency, waited FROM wakeup_latency AS w JOIN off_cpu AS o USING (tid)
			WHERE o.cpu = 0" &&
	answers "103,,6000000" -t 103 first.tbuf \
		"SELECT tid, state, waited FROM off_cpu WHERE cpu = 0" &&
	answers "t100,100,,1.0,,,,1.0" --from 0.002 --to 0.004 -t 100 first.tbuf states
result $? "first waits: only of chosen events, threads and times"

ok=0
"$REPORT_TRACE" renamed renamed.tbuf || ok=1
answers "wrapper
server" renamed.tbuf "SELECT comm FROM run_slices WHERE tid = 300 ORDER BY start" || ok=1
for name in cpu cpu-threads states wakeup-threads; do
	query --json renamed.tbuf $name && grep -q '"server"' out && ! grep -q wrapper out ||
		{ echo "# $name"; ok=1; }
done
result $ok "a thread has its last name"

ok=0
query --json kernel.tbuf "SELECT sum(events) AS n, count(*) AS gaps FROM losses WHERE cpu IS NOT NULL" || ok=1
python3 -c '
import json, re
row = json.load(open("out"))[0]
said = re.search(r"kernel.tbuf: (\d+) events are missing in (\d+) gaps", open("said").read())
assert [int(n) for n in said.groups()] == [row["n"], row["gaps"]], (said, row)' || ok=1
query renamed.tbuf cpu && [ ! -s said ] || ok=1
"$REPORT_TRACE" killed killed.tbuf && query killed.tbuf cpus &&
	grep -q "what 1 CPU did after the last event is unknown" said || ok=1
result $ok "an answer from a part of the events says so first"

# ---- errors ----

ok=0
fails 1 "no such column: dur; did you mean duration?
  select comm, sum(dur) from run_slices
                   ^" kernel.tbuf "select comm, sum(dur) from run_slices" || ok=1
fails 1 "no such column: s.prev_pidd; did you mean prev_pid, prev_prio or prev_comm?
     s.prev_pidd from
     ^" kernel.tbuf "select
   s.prev_pidd from
   sched_switch s" || ok=1
fails 1 "kernel.tbuf has no event 'sched_swich' recorded, and there is no table of that name; did you mean sched_switch?
  select * from sched_swich
                ^" kernel.tbuf "select * from sched_swich" || ok=1
fails 1 "near \"form\": syntax error
  select * form sched_switch
           ^" kernel.tbuf "select * form sched_switch" || ok=1
fails 1 "no such function: nonsense
  select nonsense(1)
         ^" kernel.tbuf "select nonsense(1)" || ok=1
fails 1 "incomplete input" kernel.tbuf "select (" || ok=1
"$TRACEBUF" query --list | grep -q '^cpus  *how long each CPU was busy, which means that it ran a task,' || ok=1
fails 2 "there is no question called 'cpuu'; did you mean cpu or cpus?" kernel.tbuf cpuu || ok=1
fails 2 "no question: put SQL or a name" kernel.tbuf || ok=1
fails 2 "one question too many: 'b c'" kernel.tbuf "select 1" "b c" || ok=1
fails 2 "'soon' is not mono" -T soon kernel.tbuf cpu || ok=1
fails 1 "there is no statement" kernel.tbuf " -- nothing" || ok=1
fails 1 "nowhere.tbuf: cannot be opened: No such file" nowhere.tbuf cpu || ok=1
fails 1 "nowhere.sql: No such file" --file nowhere.sql kernel.tbuf || ok=1
fails 1 "there is no number 2" -r 2 kernel.tbuf cpu || ok=1
fails 1 "no event 'nothing' recorded" --schema kernel.tbuf nothing || ok=1
fails 1 "kernel.tbuf has no block_rq_issue, block_rq_complete recorded, which the question 'block' needs" \
	kernel.tbuf block || ok=1
fails 1 "has no sched_waking among the chosen events (-e), which the question 'wakeups' needs" \
	-e sched_switch kernel.tbuf wakeups || ok=1
result $ok "wrong questions get an error with its place"

# threads t1000 to t1019 run one after the other
ok=0
"$REPORT_TRACE" crowd crowd.tbuf || ok=1
answers "20,20" crowd.tbuf "SELECT count(DISTINCT tid), count(DISTINCT comm) FROM why" || ok=1
answers "16000000,1000000,1003,t1003,2,t1002-1002 runs,waits for a CPU > t1002-1002 runs
17000000,2000000,1003,t1003,1,t1003-1003 runs,t1003-1003 runs" crowd.tbuf \
	"SELECT * FROM why WHERE tid = 1003 LIMIT 2" || ok=1
answers "20,49000000" crowd.tbuf "SELECT count(*), sum(duration) FROM sched_switch
	JOIN why ON tid = next_pid WHERE cause LIKE comm || '%runs' AND depth = 1" || ok=1
answers "0" crowd.tbuf "SELECT count(*) FROM why WHERE tid IN (-1, 7, 4294967296, 1e300, 'x', NULL)
	OR comm IN ('none', NULL)" || ok=1
answers "1,1000000,18000000" --comm t1003 --from 0.018 --to 0.019 crowd.tbuf \
	"SELECT count(DISTINCT tid), sum(duration), min(start) FROM why" || ok=1
fails 1 "no such column: dur; did you mean duration" crowd.tbuf "SELECT dur FROM why" || ok=1
query --schema crowd.tbuf why &&
	grep -q '^why (start INTEGER, .* path TEXT, _cgroup TEXT, _container TEXT)$' out || ok=1
result $ok "the table why: all threads, some, and in a join"

query kernel.tbuf "SELECT * FROM block_io" &&
	grep -q 'has no block_rq_issue, block_rq_complete recorded, which block_io is made of' said
result $? "events that were not recorded make no row"

ok=0
cp kernel.tbuf before.tbuf
for sql in "DELETE FROM threads" "INSERT INTO sched_switch (_time) VALUES (1)" "DROP TABLE losses" \
	   "DROP VIEW run_slices" "UPDATE names SET name = 'x'" "CREATE TABLE mine (a)" \
	   "ATTACH 'other.db' AS other" "VACUUM INTO 'copy.db'"; do
	fails 1 "" kernel.tbuf "$sql" || ok=1
done
fails 1 "a trace is only read" kernel.tbuf "DELETE FROM threads" || ok=1
[ ! -e other.db ] && [ ! -e copy.db ] && cmp -s kernel.tbuf before.tbuf || ok=1
result $ok "SQL cannot change a trace"

# a trace that is cut off
ok=0
size=$(wc -c <kernel.tbuf)
head -c $((size - 100)) kernel.tbuf >cut.tbuf
query cut.tbuf "SELECT count(*) FROM events"
[ $? = 1 ] && grep -q 'cut.tbuf: ' said && grep -q 'the answer uses only these' said && [ -s out ] || ok=1
echo text >no.tbuf
fails 1 "not a tracebuf trace" no.tbuf cpu || ok=1
result $ok "damaged traces: whole blocks are queried, and damage is reported"

# ---- a terminal ----

what="CSV on a terminal has no control characters, in a file it has them"
if command -v script >/dev/null; then
	ok=1
	query --csv kernel.tbuf "SELECT char(27) || '[31mred'" && grep -q "$(printf '\033')" out &&
		script -qec "'$TRACEBUF' query --csv kernel.tbuf \"SELECT char(27) || '[31mred'\"" /dev/null \
			</dev/null >out 2>&1 && grep -q '?\[31mred' out && ! grep -q "$(printf '\033')" out && ok=0
	result $ok "$what"
else
	skip "$what" "no script(1)"
fi

# ---- signals ----

# the signal is sent after rows have come: no sleep for luck
what="a signal: the tool says that rows are missing"
ok=1
mkfifo rows
"$TRACEBUF" query --csv kernel.tbuf \
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n" >rows 2>said &
pid=$!
(head -c 100000 >/dev/null; kill -INT $pid; cat >/dev/null) <rows
wait $pid
[ $? = 1 ] && grep -q 'interrupted: not all rows were shown' said && ok=0
result $ok "$what"

echo "1..$count"
exit $failed
