# SPDX-License-Identifier: GPL-2.0-only
#
# history.awk - writes the results of suite history as tables and as JSON.
#
#   awk -v suite=NAME -v rows=FILE -f history.awk RESULTS >TABLES.md
#
# RESULTS has lines "ring|TRACER|events|FIRST LAST|KiB of buffers" (times in seconds) and
# "disk|TRACER|events|bytes". FILE gets one JSON object a line.

BEGIN {
	FS = "|"
	who = "tracebuf tracebuf-wide tracebuf-history tracebuf-packed ftrace ftrace-zstd lttng perf perf-zstd"
	tracers = split(who, tracer, " ")
	called["tracebuf"] = "tracebuf"
	called["tracebuf-wide"] = "tracebuf, wide forms"
	called["tracebuf-history"] = "tracebuf, --history"
	called["tracebuf-packed"] = "tracebuf, --compress"
	called["ftrace"] = "trace-cmd"
	called["ftrace-zstd"] = "trace-cmd, zstd"
	called["lttng"] = "LTTng"
	called["perf"] = "perf"
	called["perf-zstd"] = "perf, zstd"
}

function json(name, what, value, unit)
{
	printf "{\"suite\": \"%s\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		suite, name, what, value, unit >rows
}

$1 == "ring" {
	split($4, time, " ")
	events[$1, $2] = $3
	seconds[$2] = time[2] - time[1]
	bytes[$1, $2] = $5 * 1024
}

$1 == "disk" {
	events[$1, $2] = $3
	bytes[$1, $2] = $4
}

END {
	if (!(("ring", "tracebuf") in events) || !(("disk", "tracebuf") in events))
		exit 1
	print "A load with pauses, all sched, irq and system call events. In memory:\n"
	print "| who | KiB of buffers | events in them | bytes an event | seconds a MiB |"
	print "|---|---:|---:|---:|---:|"
	for (i = 1; i <= tracers; i++) {
		t = tracer[i]
		if (!events["ring", t])
			continue
		each = bytes["ring", t] / events["ring", t]
		far = seconds[t] / bytes["ring", t] * 1048576
		printf "| %s | %d | %d | %.1f | %.2f |\n", called[t], bytes["ring", t] / 1024, \
			events["ring", t], each, far
		json(called[t], "in memory: an event", sprintf("%.2f", each), "bytes")
		json(called[t], "in memory: a MiB", sprintf("%.3f", far), "seconds")
	}
	print "\nIn a file that has all events:\n"
	print "| who | events | bytes | bytes an event |"
	print "|---|---:|---:|---:|"
	for (i = 1; i <= tracers; i++) {
		t = tracer[i]
		if (!events["disk", t])
			continue
		each = bytes["disk", t] / events["disk", t]
		printf "| %s | %d | %d | %.1f |\n", called[t], events["disk", t], bytes["disk", t], each
		json(called[t], "in a file: an event", sprintf("%.2f", each), "bytes")
	}
}
