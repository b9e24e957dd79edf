#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Perfetto shows every event of a recording, with its time, CPU, thread and fields, and marks where
# events are missing. If this fails, a user searches a timeline that lacks events or has wrong ones.
# protoc, with our description of the format and without, and pf_*.py read the exports back; the
# test compares the result with "tracebuf print".
#
# Needs: TRACEBUF (the tool), TEST_EXPORT (test_export.c, built with the sanitizers), protoc,
# python3.  Perfetto's trace_processor (TRACE_PROCESSOR, or in PATH) reads an export, too, if it is
# there.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/unit/tap.sh
. "$here/../tap.sh"
TRACEBUF=${TRACEBUF:-tracebuf}
TEST_EXPORT=${TEST_EXPORT:-test_export}
proto=$(cd "$(dirname "$TEST_EXPORT")" && pwd)/perfetto	# the build writes perfetto.proto
begin protoc python3 "$TRACEBUF" "$TEST_EXPORT"
echo "1..33"

# same HAVE WANT NAME: a test: two files are equal
same()
{
	diff "$1" "$2" >diff.out
	status=$?
	sed 's/^/# /' diff.out
	result $status "$3"
}

decode()
{
	protoc --decode=perfetto.protos.Trace -I "$proto" perfetto.proto
}

# Print each packet as one line: "ftrace_events{ cpu:0 event{ timestamp:1 ...".
flat()
{
	awk '
	/^packet \{/ || /^1 \{/ { line = ""; next }
	/^\}/ { print line; next }
	{ sub(/^ +/, ""); gsub(/: /, ":"); sub(/ \{$/, "{")
	  line = line (line == "" ? "" : " ") $0 }'
}

# Print the events of an export, "CPU TIME TID NAME FIELDS", and for each bundle "bundle CPU LOST
# VALID-FROM".  Events of columns look like all others.
events()
{
	python3 "$here/pf_wire.py" events "$1" >events.out &&
		sed -E '/^bundle/! s/^(([^ ]+ ){4})[a-z]+ ?/\1/; s/ $//' events.out
}

# ---- the exporter runs ----

"$TEST_EXPORT" make t.tbuf && "$TRACEBUF" export -o t.pf t.tbuf 2>err
result $? "the tool exports a trace"
sed 's/^/# /' err | grep -v ui.perfetto.dev

"$TEST_EXPORT" export t.tbuf asan.pf && cmp t.pf asan.pf
result $? "the exporter under the sanitizers writes the same"

# Every field is in our description of the format, but those of events that the trace describes
known()
{
	python3 "$here/pf_wire.py" packets "$1" >/dev/null
}

decode <t.pf >t.txt 2>err && [ ! -s err ] && known t.pf
result $? "protoc knows every field"
flat <t.txt >t.flat
events t.pf >t.all
grep -v '^bundle' t.all >t.events

# ---- what is in it, against print ----

# print shows seconds with 9 digits; boot time, as in the export
"$TRACEBUF" print -T boot t.tbuf | awk '
	/^--/ { cpu = $3; sub(/:/, "", cpu); print cpu, "tracebuf_lost"; next }
	{
		match($0, /-[0-9]+ \[/)
		tid = substr($0, RSTART + 1, RLENGTH - 3)
		rest = substr($0, RSTART + RLENGTH)
		split(rest, word, " ")
		cpu = word[1] + 0; time = word[3]; gsub(/[.:]/, "", time)
		sub(/^0+/, "", time)
		name = word[4]; sub(/:$/, "", name); sub(/.*:/, "", name)
		if (name == "mark") name = "print"
		if (name != "thread" && name != "clock") print cpu, time, tid, name
	}' | sort >print.list
awk '$4 == "tracebuf_lost" { print $1, $4; next } { print $1, $2, $3, $4 }' \
	t.events | sort >export.all
# print has no line for what the exporter adds: pf_check.py says what that may be
comm -12 export.all print.list >export.list
[ "$(wc -l <print.list)" -gt 20 ] || echo "lines are missing" >>print.list
same export.list print.list "every event: CPU, time, thread and name as print shows them"

# as_printed NAME COUNT [EVENT.FIELD]: every stack, counter and field, but this one, of NAME.txt as
# print shows them
as_printed()
{
	"$TRACEBUF" print --fields -T boot "$1.tbuf" >"$1.print" &&
		python3 "$here/pf_check.py" "$1.pf" "$1.print" ${3+"$3"} >checked 2>&1 &&
		grep -qx "$2 are those of print" checked
	status=$?
	sed 's/^/# /' checked
	return $status
}
as_printed t '24 events and 0 samples'
result $? "every field as print shows it"
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
	"$TRACEBUF" export -q -T boot $options -o c.pf t.tbuf &&
		with_runs $options >c.print &&
		python3 "$here/pf_check.py" c.pf c.print >checked 2>&1 &&
		! grep -q '^0 events' checked || ok=1
	sed 's/^/# /' checked
done
result $ok "options choose the same events as for print, and what the chosen threads run"

has t.events "events in their wide form" <<'END'
0 1002002000 0 sched_switch prev_comm:"swapper/0" prev_pid:0 prev_prio:120 prev_state:0 next_comm:"server" next_pid:100 next_prio:120
0 1002003500 100 sched_switch prev_comm:"server" prev_pid:100 prev_prio:120 prev_state:256 next_comm:"swapper/0" next_pid:0 next_prio:120
0 1002002150 100 sys_enter id:1 args:3 args:140733193392128 args:12 args:0 args:0 args:18446744073709551615
0 1002002300 100 task_newtask pid:200 comm:"server" clone_flags:0
0 1002002450 200 task_rename pid:200 newcomm:"child"
0 1002002600 100 irq_handler_entry irq:11 name:"eth0!"
0 1002003050 100 cpu_frequency state:2400000 cpu_id:1
0 1002002900 101 print buf:"I|100|here I am"
END

has t.events "events in their compact form look like wide ones" <<'END'
1 1002000575 0 sched_waking comm:"worker" pid:101 prio:98 target_cpu:1
1 1002000590 0 sched_switch prev_comm:"swapper/1" prev_pid:0 prev_prio:120 prev_state:0 next_comm:"worker" next_pid:101 next_prio:98
1 1002000605 101 sys_enter id:232 args:5
1 1002008015 101 sys_exit id:232 ret:-4
1 1002008030 101 irq_handler_entry irq:11 name:"eth0"
1 1002008045 101 irq_handler_exit irq:11 ret:1
1 1002008060 101 softirq_entry vec:3
1 1002008075 101 softirq_exit vec:3
1 1002008090 101 sched_switch prev_comm:"worker" prev_pid:101 prev_prio:98 prev_state:2 next_comm:"server" next_pid:100 next_prio:120
1 1002008105 100 sched_switch prev_comm:"server" prev_pid:100 prev_prio:120 prev_state:1 next_comm:"swapper/1" next_pid:0 next_prio:120
END

has t.events "events that the trace describes: fields of every kind, unknown names" <<'END'
0 1002002750 100 odd loc:"loc" rel:"rel" list:"1, 2, 3" small:"-1, 2, -3" bits:42 pointer:18446612682375452280 mask:"000000000000800f" tiny:-5 blob:"dead0000000000"
0 1002003200 100 signal_deliver answer:42
0 1002003350 100 event_500 payload:"2a000000"
END

# ---- losses ----

lost='overwritten:7 dropped:5 oversize:1 first_ns:1002000650 last_ns:1002006500'
has t.events "each gap is an event that counts it" <<END
1 1002008000 101 tracebuf_lost $lost
2 1002009500 0 tracebuf_lost $lost
2 3927000500 0 tracebuf_lost overwritten:0 dropped:9 oversize:0 first_ns:1002011000 last_ns:3927000500
END

grep '^bundle' t.all | cut -d' ' -f2- | sort >bundles
cat >bundles.want <<'END'
0 whole
0 whole
0 whole
1 lost
1 whole
2 lost
2 lost
3 whole
3 whole
END
same bundles bundles.want "a bundle has one CPU, no gap inside, and a mark after a gap"

grep -o 'phase:END_OF_TRACE.*' t.flat | grep -o 'cpu_stats{[^}]*' |
	sed 's/entries:0 //; s/commit_overrun:0 //; s/read_events.*//' >counts
cat >counts.want <<'END'
cpu_stats{ cpu:0 overrun:0 dropped_events:0 
cpu_stats{ cpu:1 overrun:7 dropped_events:5 
cpu_stats{ cpu:2 overrun:7 dropped_events:14 
cpu_stats{ cpu:3 overrun:0 dropped_events:0 
END
same counts counts.want "the counts of losses at the end are those of the trace"

# ---- processes, clocks, machine ----

grep -oE 'system_info.*|clock_snapshot.*|process_tree.*' t.flat |
	sed 's/ timestamp:[0-9]* trusted_.*//; s/ first_packet.*//' |
	sed 's/\(processes\|threads\){/\n&/g' | sed 's/ $//; s/ collection.*//' >system
has system "system, clocks and threads" <<END
system_info{ utsname{ sysname:"Linux" version:"#1" release:"6.12.0-test" machine:"x86_64" } tracing_service_version:"$("$TRACEBUF" --version)" page_size:4096 num_cpus:8 }
clock_snapshot{ clocks{ clock_id:6 timestamp:1002000500 } clocks{ clock_id:3 timestamp:1000000500 } clocks{ clock_id:1 timestamp:1700000001000000000 } primary_trace_clock:BUILTIN_CLOCK_BOOTTIME }
clock_snapshot{ clocks{ clock_id:6 timestamp:4002000500 } clocks{ clock_id:3 timestamp:3000000500 } clocks{ clock_id:1 timestamp:1700000003000000000 } primary_trace_clock:BUILTIN_CLOCK_BOOTTIME }
processes{ pid:1 ppid:0 cmdline:"init" uid:1000 cmdline_is_comm:true }
processes{ pid:2 ppid:0 cmdline:"kthreadd" uid:1000 is_kthread:true cmdline_is_comm:true }
threads{ tid:101 name:"worker" tgid:100 }
processes{ pid:200 ppid:1 cmdline:"child" uid:1000 cmdline_is_comm:true }
END

# ---- without our description: the field numbers are Perfetto's ----

protoc --decode_raw <t.pf | flat >raw
{
	# TracePacket.ftrace_events=1 .cpu=1 .event=2; FtraceEvent.sched_switch=4
	grep -q '^[^{]*1{ 1:0 .*2{ 1:1002002000 2:0 4{ 1:"swapper/0" 2:0 3:120 4:0 5:"server" 6:100 7:120 } }' raw &&
	# sys_enter=329, args=2; FtraceEventBundle.generic_event_descriptors=11: field_id=1
	# event_descriptor=2 (name=1, field=2: name=1 number=3 label=4 type=5) group_name=3
	grep -q ' 2{ 1:1002002150 2:100 329{ 1:1 2:3 2:140733193392128 ' raw &&
	grep -qE ' 11\{ 1:6[0-9]{4} 2\{ 1:"signal_deliver" 2\{ 1:"answer" 3:1 4:1 5:4 \} \} 3:"other" \}' raw &&
	grep -qE ' 2\{ 1:1002003200 2:100 6[0-9]{4}\{ 1:42 \} \}' raw &&
	# compact_sched=4: times=1 states=2 pids=3 prios=4 names=5 indices=6
	grep -qF ' 4{ 1:"\254\270\345\335\003" 2:"\200\002" 3:"\000" 4:"x" 5:"swapper/0" 6:"\000" }' raw &&
	# bundle: lost_events=3
	grep -qE '1\{ 1:2 3:1 ' raw &&
	# packet: system_info=45, clock_snapshot=6, sequence=10, first=87
	grep -q '45{ 1{ 1:"Linux" 2:"#1" 3:"6.12.0-test" 4:"x86_64" } 4:"'"$("$TRACEBUF" --version)"'" 6:4096 8:8 }' raw &&
	grep -qE '6\{ 1\{ 1:6 2:1002000500 \} 1\{ 1:3 2:1000000500 \}' raw &&
	grep -q '10:1 .*87:1\|87:1 .*10:1' raw &&
	# process_tree=2: processes=1, threads=2
	grep -q '2{ 1{ 1:200 2:1 3:"child" 5:1000 9:1 } 2{ 1:200 2:"child" 3:200 } ' raw
}
result $? "field numbers and types of kernel events are Perfetto's"

# ---- what programs write ----

"$TEST_EXPORT" user u.tbuf && "$TRACEBUF" export -v -o u.pf u.tbuf 2>said &&
	grep -qx '2 ends of slices had no beginning: left out' said &&
	"$TEST_EXPORT" export u.tbuf asan.pf && cmp u.pf asan.pf &&
	decode <u.pf >u.txt 2>err && [ ! -s err ] && known u.pf
result $? "records of programs are exported, and protoc knows every field"
sed 's/^/# /' err

# In file order, without the fields that all packets have
flat <u.txt | grep track_ | sed 's/ *trusted_packet_sequence_id:[0-9]* *//
	s/ sequence_flags:[0-9]*//; s/ first_packet.*//
	s/\(timestamp:[0-9]*\)track_event/\1 track_event/' >users
cat >users.want <<'END'
track_descriptor{ uuid:1 process{ pid:100 process_name:"server" } }
track_descriptor{ uuid:2 thread{ pid:100 tid:101 thread_name:"worker" } }
timestamp:1002000600 track_event{ category_iids:4 debug_annotations{ name_iid:5 int_value:-5 } debug_annotations{ name_iid:5 string_value:"/index ?\303\251??" } debug_annotations{ name_iid:6 pointer_value:2748 } debug_annotations{ name_iid:6 double_value:0.5 } debug_annotations{ name_iid:6 uint_value:9 } type:TYPE_SLICE_BEGIN name_iid:3 track_uuid:2 flow_ids:77 } interned_data{ event_categories{ iid:4 name:"net" } event_names{ iid:3 name:"request" } debug_annotation_names{ iid:5 name:"size" } debug_annotation_names{ iid:6 name:"#99" } }
track_descriptor{ uuid:7 name:"slices of writer 1" parent_uuid:2 }
timestamp:1002000610 track_event{ category_iids:4 type:TYPE_SLICE_BEGIN name_iid:8 track_uuid:7 } interned_data{ event_names{ iid:8 name:"parse" } }
timestamp:1002000630 track_event{ type:TYPE_SLICE_END track_uuid:7 }
track_descriptor{ uuid:9 name:"bytes" parent_uuid:1 counter{ categories:"net" } }
timestamp:1002000620 track_event{ type:TYPE_COUNTER track_uuid:9 counter_value:-3 }
track_descriptor{ uuid:10 name:"load" parent_uuid:1 counter{ } }
timestamp:1002000621 track_event{ type:TYPE_COUNTER track_uuid:10 double_counter_value:0.5 }
timestamp:1002000640 track_event{ type:TYPE_INSTANT name_iid:11 track_uuid:2 terminating_flow_ids:78 } interned_data{ event_names{ iid:11 name:"#98" } }
timestamp:1002000641 track_event{ debug_annotations{ uint_value:42 name:"value" } type:TYPE_INSTANT name_iid:12 track_uuid:2 } interned_data{ event_names{ iid:12 name:"size" } }
timestamp:1002000642 track_event{ debug_annotations{ string_value:"aabbcc" name:"data" } type:TYPE_INSTANT name_iid:12 track_uuid:2 }
timestamp:1002000643 track_event{ type:TYPE_INSTANT track_uuid:2 name:"mark?" }
timestamp:1002000650 track_event{ type:TYPE_SLICE_BEGIN name_iid:13 track_uuid:7 } interned_data{ event_names{ iid:13 name:"wait" } }
timestamp:1002000700 track_event{ type:TYPE_SLICE_END track_uuid:2 }
timestamp:1002000710 track_event{ category_iids:4 type:TYPE_SLICE_BEGIN name_iid:3 track_uuid:2 }
track_descriptor{ uuid:14 name:"writer 2" parent_uuid:2 }
track_descriptor{ uuid:15 name:"slices of writer 2" parent_uuid:2 }
timestamp:1002000720 track_event{ type:TYPE_SLICE_BEGIN name_iid:13 track_uuid:15 }
timestamp:1002000780 track_event{ type:TYPE_SLICE_END track_uuid:15 }
track_descriptor{ uuid:16 name:"writer 3" parent_uuid:1 }
track_descriptor{ uuid:17 name:"slices of writer 3" parent_uuid:1 }
timestamp:1002000730 track_event{ type:TYPE_SLICE_BEGIN name_iid:13 track_uuid:17 }
timestamp:1002000735 track_event{ type:TYPE_SLICE_END track_uuid:17 }
timestamp:1002000790 track_event{ category_iids:4 type:TYPE_SLICE_BEGIN name_iid:8 track_uuid:14 }
timestamp:1002000792 track_event{ type:TYPE_INSTANT name_iid:18 track_uuid:14 } interned_data{ event_names{ iid:18 name:"load" } }
track_descriptor{ uuid:2305843009213693952 name:"Lost events" }
track_descriptor{ uuid:2305843009213693954 name:"process 100, writer 1" parent_uuid:2305843009213693952 }
timestamp:1002000710 track_event{ debug_annotations{ uint_value:4 name:"records" } debug_annotations{ string_value:"no chunk was free" name:"cause" } type:TYPE_SLICE_BEGIN track_uuid:2305843009213693954 name:"events lost" }
timestamp:1002000810 track_event{ type:TYPE_SLICE_END track_uuid:2305843009213693954 }
timestamp:1002000810 track_event{ type:TYPE_SLICE_END track_uuid:2 }
timestamp:1002000810 track_event{ type:TYPE_SLICE_END track_uuid:7 }
timestamp:1002000810 track_event{ debug_annotations{ uint_value:4 name:"records" } debug_annotations{ string_value:"no chunk was free" name:"cause" } type:TYPE_INSTANT track_uuid:2 name:"tracebuf_lost" }
timestamp:1002000815 track_event{ type:TYPE_SLICE_END track_uuid:14 }
timestamp:1002000820 track_event{ category_iids:4 type:TYPE_SLICE_BEGIN name_iid:3 track_uuid:2 }
END
same users users.want "slices, counters, flows, arguments and losses under their threads"

protoc --decode_raw <u.pf | flat >raw
{
	# packet: track_descriptor=60: uuid=1, process=3 (pid=1, name=6), thread=4 (pid, tid=2, name=5)
	grep -q '60{ 1:1 3{ 1:100 6:"server" } }' raw &&
	grep -q '60{ 1:2 4{ 1:100 2:101 5:"worker" } }' raw &&
	# name=2, parent_uuid=5, counter=8: categories=2
	grep -q '60{ 1:9 2:"bytes" 5:1 8{ 2:"net" } }' raw &&
	# track_event=11: category_iids=3, debug_annotations=4 (name_iid=1, int=4), type=9, name_iid=10,
	# track_uuid=11, flow_ids=47; interned_data=12; sequence_flags=13
	grep -q '8:1002000600 10:3 11{ 3:4 4{ 1:5 4:18446744073709551611 } 4{ 1:5 6:' raw &&
	grep -q '4{ 1:6 7:2748 } 4{ 1:6 5:0x3fe0000000000000 } 4{ 1:6 3:9 } 9:1 10:3 11:2 47:0x000000000000004d }' raw &&
	grep -q '12{ 1{ 1:4 2:"net" } 2{ 1:3 2:"request" } 3{ 1:5 2:"size" } 3{ 1:6 2:"#99" } } 13:3 87:1' raw &&
	grep -q '11{ 9:2 11:2 } 13:2' raw &&
	# counter_value=30, double_counter_value=44, terminating_flow_ids=48, name=23
	grep -q '11{ 9:4 11:9 30:18446744073709551613 }' raw &&
	grep -q '11{ 9:4 11:10 44:0x3fe0000000000000 }' raw &&
	grep -q '11{ 9:3 10:11 11:2 48:0x000000000000004e }' raw &&
	grep -q '9:3 11:2 23:"tracebuf_lost" }' raw
}
result $? "field numbers and types of records of programs are Perfetto's"

# ---- what goes with events ----

"$TEST_EXPORT" extras e.tbuf && "$TRACEBUF" export -v -o e.pf e.tbuf 2>said &&
	"$TEST_EXPORT" export e.tbuf asan.pf && cmp e.pf asan.pf &&
	decode <e.pf >e.txt 2>err && [ ! -s err ] && known e.pf
result $? "stacks and counters are exported, and protoc knows every field"
as_printed e '15 events and 4 samples' kfree_skb.reason
result $? "every stack and every counter as print shows them"
flat <e.txt | grep -v ftrace_events | grep -E 'perf_sample|block' |
	sed 's/ *first_packet.*//' >extras
sequence()
{
	grep "^timestamp.*trusted_packet_sequence_id:$1 " extras | sed 's/ trusted_packet[^ ]*//'
}
sequence 6 >five
mappings='interned_data{ mapping_paths{ iid:1 str:"kernel" } mapping_paths{ iid:2 str:"user" } mappings{ iid:1 path_string_ids:1 } mappings{ iid:2 path_string_ids:2 } }'
cat >five.want <<END
timestamp:1002000600 $mappings sequence_flags:3 trace_packet_defaults{ perf_sample_defaults{ timebase{ counter:SW_CPU_CLOCK name:"tracebuf samples" } followers{ name:"cycles" } followers{ name:"page-faults" } } }
timestamp:1002000600 interned_data{ function_names{ iid:1 str:"0x5500002000" } function_names{ iid:2 str:"0x5500001000" } function_names{ iid:3 str:"0xffffffffc0000010" } function_names{ iid:4 str:"0xffffffff81000110" } function_names{ iid:5 str:"schedule" } frames{ iid:1 function_name_id:1 mapping_id:2 rel_pc:365072228352 } frames{ iid:2 function_name_id:2 mapping_id:2 rel_pc:365072224256 } frames{ iid:3 function_name_id:3 mapping_id:1 rel_pc:18446744072635809808 } frames{ iid:4 function_name_id:4 mapping_id:1 rel_pc:18446744071578845456 } frames{ iid:5 function_name_id:5 mapping_id:1 rel_pc:18446744071578845200 } callstacks{ iid:6 frame_ids:1 frame_ids:2 frame_ids:3 frame_ids:4 frame_ids:5 } } sequence_flags:2 perf_sample{ cpu:0 pid:100 tid:100 callstack_iid:6 cpu_mode:MODE_KERNEL timebase_count:1002000600 follower_counts:1099511627776 follower_counts:222 }
END
same five five.want "a stack, outermost first, and counters, with an event"
sequence 7 | sed 's/^\(timestamp:[0-9]*\).*\(callstack_iid.*timebase_count:[0-9]*\).*/\1 \2/' |
	grep callstack_iid >six
cat >six.want <<'END'
timestamp:1002000700 callstack_iid:4 cpu_mode:MODE_KERNEL timebase_count:1002000700
timestamp:1002000720 callstack_iid:4 cpu_mode:MODE_KERNEL timebase_count:1002000720
END
same six six.want "a second event with the same stack refers to the first stack"

flat <e.txt | grep 'trusted_packet_sequence_id:4 ' |
	sed 's/^timestamp:\([0-9]*\) .*track_event{ \(.*\) } sequence_flags.*/\1 \2/' >requests
track=46116860205748723
cat >requests.want <<END
1002000800 debug_annotations{ int_value:1000 name:"sector" } debug_annotations{ int_value:8 name:"nr_sector" } debug_annotations{ int_value:4096 name:"bytes" } type:TYPE_SLICE_BEGIN track_uuid:${track}20 categories:"block" name:"WS"
1002000810 debug_annotations{ int_value:2000 name:"sector" } debug_annotations{ int_value:16 name:"nr_sector" } debug_annotations{ int_value:8192 name:"bytes" } type:TYPE_SLICE_BEGIN track_uuid:${track}21 categories:"block" name:"WS"
1002000820 debug_annotations{ int_value:0 name:"error" } type:TYPE_SLICE_END track_uuid:${track}20
1002000840 debug_annotations{ int_value:3000 name:"sector" } debug_annotations{ int_value:8 name:"nr_sector" } debug_annotations{ int_value:4096 name:"bytes" } type:TYPE_SLICE_BEGIN track_uuid:${track}20 categories:"block" name:"WS"
1002000850 debug_annotations{ int_value:-5 name:"error" } type:TYPE_SLICE_END track_uuid:${track}21
1002000860 type:TYPE_SLICE_END track_uuid:${track}20
1002000860 debug_annotations{ int_value:3000 name:"sector" } debug_annotations{ int_value:8 name:"nr_sector" } debug_annotations{ int_value:4096 name:"bytes" } type:TYPE_SLICE_BEGIN track_uuid:${track}20 categories:"block" name:"WS"
END
same requests requests.want "requests to a device: in parallel, in two parts, without an end"

protoc --decode_raw <e.pf | flat >raw
events e.pf >e.events
{
	# Perfetto's own hrtimer_start has no was_armed, and no name of the function
	grep ' hrtimer_start hrtimer:18446612682070036480 ' e.events |
		grep -q ' function:18446744071578845184 function_name:"schedule" was_armed:1' &&
	# ftrace_event: kfree_skb=367: location=1 protocol=2 skbaddr=3; its reason has no place
	grep -q '367{ 1:18446744071578845200 2:2048 3:18446612682070040576 }' raw &&
	grep -q '^1 events kfree_skb: Perfetto has no place for reason$' said &&
	# packet: perf_sample=66: cpu=1 pid=2 tid=3 callstack_iid=4 cpu_mode=5 timebase_count=6
	# follower_counts=7
	grep -q '66{ 1:0 2:100 3:100 4:6 5:1 6:1002000600 7:1099511627776 7:222 }' raw &&
	# trace_packet_defaults=59: perf_sample_defaults=12: timebase=1 (counter=4, name=10),
	# followers=4 (name=4)
	grep -q '59{ 12{ 1{ 4:1 10:"tracebuf samples" } 4{ 4:"cycles" } 4{ 4:"page-faults" } } }' raw &&
	# interned_data=12: function_names=5 frames=6 callstacks=7 mapping_paths=17 mappings=19
	grep -q '12{ 5{ 1:1 2:"0x5500002000" } 5{' raw && grep -q ' 6{ 1:5 2:5 3:1 4:18446744071578845200 } 7{ 1:6 2:1 2:2 2:3 2:4 2:5 } }' raw &&
	grep -q '12{ 17{ 1:1 2:"kernel" } 17{ 1:2 2:"user" } 19{ 1:1 7:1 } 19{ 1:2 7:2 } }' raw &&
	# track_event: categories=22
	grep -q '9:1 11:4611686020574872320 22:"block" 23:"WS" }' raw
}
result $? "field numbers and types of samples and requests are Perfetto's; no field is lost"

# ---- what Perfetto draws ----

ok=0
for trace in "make t" "user u" "extras e" "edges d" "overlap o" "waits w 3000" "requests r 2000 20"; do
	# shellcheck disable=SC2086
	set -- $trace
	# shellcheck disable=SC2086
	"$TEST_EXPORT" "$1" "$2.tbuf" ${3-} ${4-} && "$TRACEBUF" export -q -o "$2.pf" "$2.tbuf" &&
		python3 "$here/pf_import.py" "$TRACEBUF" "$2.tbuf" "$2.pf" >out 2>&1 || ok=1
	sed "s/^/# $1: /" out
done
result $ok "the importer draws what our analysis says; nothing is hidden or wrongly open"
as_printed w "2654 events and 0 samples"
result $? "wake-ups have their context: interrupt, softirq, NMI"

events o.pf >o.events
{
	# the interrupt and the running thread's call end at the gap; a sleeper's call goes on
	grep -qx '0 1002001500 101 sys_exit id:1' o.events &&
	grep -qx '0 1002001500 0 local_timer_exit' o.events &&
	grep -qx '0 1002003530 100 sys_exit id:1 ret:-11' o.events &&
	! grep -q '^0 1002001500 100 sys_exit' o.events &&
	# between the gap's limits the CPU runs the pseudo-thread "not recorded"
	grep -q '^0 1002001500 101 sched_switch .* next_comm:"not recorded"' o.events &&
	grep -q '^0 1002002500 1073741824 sched_switch .*next_pid:101' o.events &&
	# a thread that has exited does not return from its call
	grep -qx '0 1002003550 100 sys_exit id:1' o.events
}
result $? "calls and interrupts end where events are missing, and calls where the thread exits"

python3 "$here/pf_wire.py" packets o.pf >o.packets
{
	grep -q 'name:"slices of writer 1" parent_uuid:2 ' o.packets &&
	[ "$(grep -o 'type:"TYPE_SLICE_[A-Z]*"' o.packets | sort | uniq -c | tr -s ' ')" = \
	  " 5 type:\"TYPE_SLICE_BEGIN\"
 5 type:\"TYPE_SLICE_END\"" ] &&
	"$TRACEBUF" export -q --format json -o o.json o.tbuf &&
	[ "$(grep -o '"ph":"[stf]".*"id":[0-9]*' o.json | grep -o '"ph":"."\|"id":.*' | tr '\n' ' ')" = \
	  '"ph":"s" "id":1 "ph":"f" "id":1 "ph":"s" "id":2 ' ] &&
	"$TRACEBUF" export -q --format fxt -o o.fxt o.tbuf && python3 "$here/fxt_check.py" o.fxt >o.fxt.txt &&
	[ "$(grep -c 'async begin' o.fxt.txt)" = 2 ] && [ "$(grep -c 'async end' o.fxt.txt)" = 2 ]
}
result $? "overlapping slices have tracks of their own; an id used again is another flow"

"$TEST_EXPORT" damage e.tbuf 1000 >out 2>&1 && "$TEST_EXPORT" damage u.tbuf 3000 >>out 2>&1
result $? "damaged traces of programs are exported as far as they go"
sed 's/^/# /' out | tail -5

# ---- robustness ----

"$TEST_EXPORT" damage t.tbuf 3000 >out 2>&1
result $? "damaged traces are exported as far as they go"
sed 's/^/# /' out | tail -5
"$TEST_EXPORT" full t.tbuf 2>out && grep -q 'cannot be written: No space' out
result $? "a full disk is an error"

# ---- a long trace ----

# The exporter's memory must not grow with the trace: it gets 12 MB for a trace of 64 MB, and 24 MB
# for stacks that all differ.  The traces have four marks of idle threads besides.
"$TEST_EXPORT" stacks big.tbuf 300000 &&
	bash -c 'ulimit -d 16384; exec "$@"' sh "$TRACEBUF" export -o big.pf big.tbuf 2>/dev/null &&
	decode <big.pf | grep -c 'callstack_iid:' >out && [ "$(cat out)" = 300000 ]
result $? "300000 different stacks: all exported, in little memory"
"$TEST_EXPORT" big big.tbuf 2000000 &&
	bash -c 'ulimit -d 12288; exec "$@"' sh "$TRACEBUF" export -o big.pf big.tbuf 2>/dev/null &&
	decode <big.pf | awk '
	/^    cpu:/ { cpu = $2 }
	/^      (switch_next_pid|waking_pid):/ { events++ }
	/^    event \{/ { inside = 1; name = ""; whole = added = 0; next }
	/^      timestamp:/ && inside { time = $2; next }
	/^      [a-z_]+ \{/ && inside { name = $1 }
	/^        (ret|prev_state):/ && inside { whole = $2 != 32768 }
	/^        (prev_pid: 0|next_comm: "not recorded")$/ && inside { added = 1 }
	/^    \}/ && inside {
		inside = 0
		# an added end may be older; no thread of the trace follows an idle thread
		if (name ~ /^(sys_exit|sched_switch)$/ && (!whole || added))
			next
		events++
		if (time < last[cpu]) back++
		last[cpu] = time
	}
	END { print events, back + 0; exit !(events == 2000004 && !back) }' >out
result $? "two million events: all exported, in order, in little memory"
sed 's/^/# events, out of order: /' out

# These commands do not keep the 64 MB in memory, pages of the mapped file included. The compressor of
# pack takes 20 MiB. Not tested: why needs what all threads did, and queries that sort keep their
# rows.
cat >resident.py <<'END'
import os, subprocess, sys
for command in sys.argv[2:]:
    done = subprocess.Popen([sys.argv[1], *command.split()], stdout=subprocess.DEVNULL)
    status, usage = os.wait4(done.pid, 0)[1:]
    # the trace has no stacks
    if os.waitstatus_to_exitcode(status) != command.startswith("flamegraph"):
        sys.exit(f"{command}: exit status {os.waitstatus_to_exitcode(status)}")
    if usage.ru_maxrss > (48 if command.startswith("pack") else 24) << 10:
        print(f"{command}: {usage.ru_maxrss} KiB")
        sys.exit(1)
END
# the end of a file's name is a name for its format, too
set --
for format in pftrace fxt json jsonl csv; do
	set -- "$@" "export -q --format $format -o big.out big.tbuf"
done
python3 -B resident.py "$TRACEBUF" "$@" "print big.tbuf" "verify big.tbuf" "report big.tbuf" \
	"query big.tbuf syscalls" "diff big.tbuf big.tbuf" "list -i big.tbuf" \
	"flamegraph -o big.out big.tbuf" "pack -q -o big.tbz big.tbuf" \
	"unpack -q -o big.plain big.tbz" >out 2>&1
result $? "a file of 64 MB: print, verify, report and others have at most 24 MiB resident"
sed 's/^/# /' out
rm -f big.out big.tbz big.plain

# ---- Perfetto itself ----

judge=${TRACE_PROCESSOR:-$(command -v trace_processor_shell ||
			   command -v trace_processor)}
if [ -n "$judge" ]; then
	cat >query.sql <<'END'
select 'sched=' || (select count(*) from sched where ts > 0) ||
	' waking=' || (select count(*) from ftrace_event where name = 'sched_waking') ||
	' odd=' || (select count(*) from ftrace_event where name = 'odd') ||
	' lost=' || (select count(*) from ftrace_event where name = 'tracebuf_lost') ||
	' errors=' || (select count(*) from stats where severity = 'error'
		       and value > 0) as answer;
END
	"$judge" -q query.sql t.pf >out 2>err
	grep -q 'sched=5 waking=1 odd=1 lost=3 errors=0' out
	result $? "Perfetto's trace processor reads the same"
	sed 's/^/# /' out
else
	skip "Perfetto's trace processor reads the same" "no trace_processor"
fi

exit $failed
