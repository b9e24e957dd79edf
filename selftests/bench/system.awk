# SPDX-License-Identifier: GPL-2.0-only
#
# system.awk - writes the results of suite system as tables and as JSON.
#
#   awk -v suite=NAME -v rows=FILE -f system.awk RESULTS >TABLES.md
#
# RESULTS has a line "CPUs|load|tracer|nanoseconds|events lost|bytes|KiB of buffers" for each load
# and tracer; 8 ns are an instruction. FILE gets one JSON object a line.

BEGIN {
	FS = "|"
	loads = split("getppid pingpong messaging", load, " ")
	title["getppid"] = "60,000 times getppid()"
	title["pingpong"] = "4,000 times a byte to and fro through pipes"
	title["messaging"] = "as hackbench: 20 senders, 20 receivers, 25,600 messages"
	who = "tracebuf tracebuf-wide ftrace lttng perf " \
		"tracebuf-default ftrace-default lttng-default perf-default"
	tracers = split(who, tracer, " ")
	called["tracebuf"] = "tracebuf"
	called["tracebuf-wide"] = "tracebuf, wide forms"
	called["ftrace"] = "trace-cmd"
	called["lttng"] = "LTTng"
	called["perf"] = "perf"
	called["tracebuf-default"] = "tracebuf, without options"
	called["ftrace-default"] = "trace-cmd, without options"
	called["lttng-default"] = "LTTng, without options"
	called["perf-default"] = "perf, without options"
}

function json(who, name, value, unit)
{
	printf "{\"suite\": \"%s\", \"who\": \"%s\", \"case\": \"%s\", \"value\": %s, \"unit\": \"%s\"}\n", \
		suite, who, name, value, unit >rows
}

{
	key = $1 "|" $2 "|" $3
	seen[$1] = 1
	ns[key] = $4
	split($5, count, " ")
	events[key] = count[1]
	lost[key] = count[2]
	bytes[key] = $6
	kib[key] = $7
}

function tables(cpus,    k, i, base, key, name, where, each, suffix)
{
	where = cpus == 1 ? "one CPU" : cpus " CPUs"
	suffix = cpus == 1 ? "" : ", " where
	for (k = 1; k <= loads; k++) {
		base = ns[cpus "|" load[k] "|none"]
		if (!base)
			exit 1
		json("nobody", load[k] suffix, sprintf("%.0f", base / 8), "instructions")
		printf "%s, %s; untraced %.1f million instructions:\n\n", title[load[k]], where, base / 8e6
		print "| who | MiB of buffers | x untraced | events | lost | bytes | instructions an event |"
		print "|---|---:|---:|---:|---:|---:|---:|"
		for (i = 1; i <= tracers; i++) {
			key = cpus "|" load[k] "|" tracer[i]
			name = called[tracer[i]]
			if (!(key in ns))
				continue
			each = events[key] ? (ns[key] - base) / 8 / events[key] : 0
			printf "| %s | %s | %.2f | %d | %d | %d | %.0f |\n", name, \
				kib[key] ? sprintf("%.1f", kib[key] / 1024) : "?", \
				ns[key] / base, events[key], lost[key], bytes[key], each
			json(name, load[k] suffix, sprintf("%.4f", ns[key] / base), "x untraced")
			json(name, load[k] ": events" suffix, events[key], "events")
			json(name, load[k] ": lost" suffix, lost[key], "events")
			json(name, load[k] ": file" suffix, bytes[key], "bytes")
			if (kib[key])
				json(name, load[k] ": buffers" suffix, kib[key], "KiB")
			json(name, load[k] ": an event" suffix, sprintf("%.1f", each), "instructions")
			if (tracer[i] == "tracebuf-default" && (cpus "|" load[k] "|tracebuf") in ns)
				json(name, load[k] ": x with chosen buffers" suffix,
				     sprintf("%.4f", ns[key] / ns[cpus "|" load[k] "|tracebuf"]), "x")
		}
		print ""
	}
}

END {
	tables(1)
	if (2 in seen)
		tables(2)
}
