# SPDX-License-Identifier: GPL-2.0-only
#
# system.awk - what suite system measured, as tables and as JSON.
#
#   awk -v suite=NAME -v rows=FILE -f system.awk RESULTS >TABLES.md
#
# RESULTS has a line "load|tracer|nanoseconds|events lost|bytes" for each load and tracer;
# 8 ns are an instruction. FILE gets one JSON object a line.

BEGIN {
	FS = "|"
	loads = split("getppid pingpong messaging", load, " ")
	title["getppid"] = "60,000 times getppid()"
	title["pingpong"] = "4,000 times a byte to and fro through pipes"
	title["messaging"] = "as hackbench: 20 senders, 20 receivers, 25,600 messages"
	who = "tracebuf tracebuf-fast tracebuf-default ftrace lttng perf"
	tracers = split(who, tracer, " ")
	called["tracebuf"] = "tracebuf"
	called["tracebuf-fast"] = "tracebuf, fast forms"
	called["tracebuf-default"] = "tracebuf, 16 KiB buffers, handed over at 70 %"
	called["ftrace"] = "trace-cmd"
	called["lttng"] = "LTTng"
	called["perf"] = "perf"
}

function json(who, name, value, unit)
{
	printf "{\"suite\": \"%s\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		suite, who, name, value, unit >rows
}

{
	key = $1 "|" $2
	ns[key] = $3
	split($4, count, " ")
	events[key] = count[1]
	lost[key] = count[2]
	bytes[key] = $5
}

END {
	for (k = 1; k <= loads; k++) {
		base = ns[load[k] "|none"]
		if (!base)
			exit 1
		json("nobody", load[k], sprintf("%.0f", base / 8), "instructions")
		printf "%s; untraced %.1f million instructions:\n\n", title[load[k]], base / 8e6
		print "| who | x untraced | events | lost | bytes | instructions an event |"
		print "|---|---:|---:|---:|---:|---:|"
		for (i = 1; i <= tracers; i++) {
			key = load[k] "|" tracer[i]
			name = called[tracer[i]]
			if (!(key in ns))
				continue
			each = events[key] ? (ns[key] - base) / 8 / events[key] : 0
			printf "| %s | %.2f | %d | %d | %d | %.0f |\n", name, ns[key] / base, \
				events[key], lost[key], bytes[key], each
			json(name, load[k], sprintf("%.4f", ns[key] / base), "x untraced")
			json(name, load[k] ": events", events[key], "events")
			json(name, load[k] ": lost", lost[key], "events")
			json(name, load[k] ": file", bytes[key], "bytes")
			json(name, load[k] ": an event", sprintf("%.1f", each), "instructions")
		}
		print ""
	}
}
